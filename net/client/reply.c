// SPDX-License-Identifier: GPL-2.0
/*
 * Client: received messages. Replies are decoded, matched, fenced and placed, and their
 * RPCs are completed. Other messages go to negotiate.c, backchannel.c or error.c.
 *
 * This file owns a message from its arrival until it is given back, and an RPC while it
 * is pinned. It never registers memory, and never sends an RPC: sunrpc does that for an
 * RPC that must be sent again.
 *
 * Operation
 *
 * xprt_rdma_reply_receive() is called for every message, in the completion queue's
 * workqueue. The decoder has checked all bounds before any field is used. The RPC of a
 * Reply is found by its XID. Its rpc_rqst is pinned from then until the RPC is
 * completed, so sunrpc cannot release it in between.
 *
 * First the Reply is checked, and the result is stored in the slot. Then the server's
 * access to the RPC's memory is ended, by the server's Send With Invalidate or by a
 * local invalidation, whose completion handler continues. Only then is data placed and
 * the RPC completed (invariant I2). A malformed Reply is handled in the same way, and
 * ends the RPC with an error (G-12): its memory must be fenced, too.
 *
 * After an error of version 2, another form of the Call may succeed. Then the RPC is not
 * completed after the fence, but is sent again. sunrpc does that for an RPC whose
 * connect cookie is out of date, so the cookie is set to an old value
 * (xprt_rdma_reply_resend()).
 *
 * The message is held until its inline part has been copied. If the connection breaks
 * before the fence is complete, the rpc_rqst is only unpinned. sunrpc sends the RPC
 * again on the next connection.
 *
 * A Reply that came as a group is handled like any other. The Call has said how many
 * Receives it may take. If a group is never complete, its RPC ends as after a malformed
 * Reply, but there is no message (rr_msg is NULL).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Shortens the head. If the pages contain an item, the head ends where the item begins.
 * The upper layer had to estimate the length of the head, and it may be too long.
 */
static void xprt_rdma_reply_trim_head(struct rpc_rqst *rqst, u32 len)
{
	if (rqst->rq_rcv_buf.head[0].iov_len <= len)
		return;
	rqst->rq_rcv_buf.head[0].iov_len = len;
	rqst->rq_private_buf.head[0].iov_len = len;
}

/* Copies to @buf from a body in several pieces. If this were inlined, it would take
 * registers from xprt_rdma_reply_place().
 */
static noinline int
xprt_rdma_reply_place_pieces(const struct rpcrdma_msg_in *msg, u32 from,
			     struct xdr_buf *buf, u32 to, u32 len)
{
	struct rpcrdma_msg_piece piece;

	for (rpcrdma_msg_piece_first(msg, from, len, &piece); piece.mp_len;
	     rpcrdma_msg_piece_next(&piece)) {
		if (write_bytes_to_xdr_buf(buf, to, piece.mp_data,
					   piece.mp_len))
			return -EIO;
		to += piece.mp_len;
	}
	return 0;
}

/* Copies @len bytes of the body, beginning at offset @from, to offset @to of @buf. */
static int xprt_rdma_reply_place_rest(const struct rpcrdma_msg_in *msg,
				      u32 from, struct xdr_buf *buf, u32 to,
				      u32 len)
{
	if (unlikely(!rpcrdma_msg_is_flat(msg)))
		return xprt_rdma_reply_place_pieces(msg, from, buf, to, len);
	return write_bytes_to_xdr_buf(buf, to, rpcrdma_msg_body(msg) + from,
				      len);
}

/**
 * xprt_rdma_reply_place - copy the inline part of a Reply to the RPC's buffer
 * @xr: transport
 * @req: slot, with the Reply in rr_msg, and with the result of checking it in
 *	rr_reply_*
 *
 * The Reply fills head, pages and tail without a gap. An item that came by RDMA is
 * already in the pages. The inline part continues behind the item and its roundup,
 * whether the server has sent the roundup or not (RFC 8166 3.4.6.2).
 *
 * Context: any.
 * Return: length of the Reply in bytes; or %-EIO if it does not fit.
 */
VISIBLE_IF_KUNIT int xprt_rdma_reply_place(struct xprt_rdma *xr,
					   struct xprt_rdma_req *req)
{
	struct xdr_buf buf = req->rr_slot.rq_rcv_buf;
	const struct rpcrdma_msg_in *msg = req->rr_msg;
	u32 len = rpcrdma_msg_body_len(msg);
	u32 head = min_t(u32, buf.head[0].iov_len, len);
	u32 rest = len - head;
	u32 item = xdr_align_size(req->rr_reply_written);

	buf.len = buf.head[0].iov_len + buf.page_len + buf.tail[0].iov_len;
	if (head + item + rest > xdr_align_size(buf.len))
		return -EIO;
	rpcrdma_msg_copy(msg, 0, buf.head[0].iov_base, head);
	if (rest &&
	    xprt_rdma_reply_place_rest(msg, head, &buf, head + item, rest))
		return -EIO;
	if (item)
		xprt_rdma_reply_trim_head(&req->rr_slot, head);

	xr->xr_stats.cs_fixup += rest;
	xr->xr_stats.cs_bytes_in += req->rr_reply_written;
	return head + item + rest;
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_reply_place);

static int xprt_rdma_reply_place_copy(struct xprt_rdma_req *req)
{
	struct xdr_buf buf = req->rr_slot.rq_rcv_buf;

	buf.len = buf.head[0].iov_len + buf.page_len + buf.tail[0].iov_len;
	return xprt_rdma_bounce_drain(&req->rr_reply_copy, &buf,
				      req->rr_reply_written) ?:
	       (int)req->rr_reply_written;
}

static int xprt_rdma_reply_finish(struct xprt_rdma *xr,
				  struct xprt_rdma_req *req)
{
	if (req->rr_reply_status)
		return req->rr_reply_status;
	if (rpcrdma_msg_body_len(req->rr_msg))
		return xprt_rdma_reply_place(xr, req);
	/* The whole Reply is in the Reply chunk, that is, in rq_rcv_buf. */
	xr->xr_stats.cs_bytes_in += req->rr_reply_written;
	if (unlikely(req->rr_reply_copy.pages))
		return xprt_rdma_reply_place_copy(req);
	return req->rr_reply_written;
}

static void xprt_rdma_reply_put(struct rpcrdma_msg_in *msg)
{
	if (likely(msg))
		rpcrdma_msg_put(msg);
}

/* Makes sunrpc send an RPC again with the same XID. The error has returned the RPC's
 * credit, so the RPC takes a new one like any other Call (G-16).
 *
 * The task may not be asleep yet. Then it will still record that the RPC was sent, and
 * overwrite the cookie. So xprt_rdma_reply_wait() sets the cookie once more.
 */
static void xprt_rdma_reply_resend(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_msg_in *msg = req->rr_msg;

	rpcrdma_count(client_resends);
	xprt_rdma_reply_put(msg);

	xprt_rdma_credit_give_back(rqst->rq_task);

	spin_lock(&xprt->queue_lock);
	req->rr_resend = true;
	/* The task that sends the RPC again sees rr_resend set, and the credit
	 * returned.
	 */
	xprt_rdma_credit_unsent(rqst);
	req->rr_msg = NULL;
	/* Clear rr_replied last: xprt_rdma_send_is_awaited() must find either that or
	 * rr_resend set.
	 */
	smp_store_release(&req->rr_replied, false);
	rpc_wake_up_queued_task(&xprt->pending, rqst->rq_task);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Ends an RPC whose Reply was an error with -EIO. A task that is not asleep yet would lose
 * this status. It would find a Reply of no bytes, and NFSv4 closes the connection for
 * that. So such a task is not completed here, and xprt_rdma_reply_wait() calls this again.
 * If the task does not get there, rr_doomed prevents that the RPC is sent again (G-12).
 * queue_lock held.
 */
static void xprt_rdma_reply_doom(struct rpc_xprt *xprt, struct rpc_task *task)
{
	xprt_rdma_req_from(task->tk_rqstp)->rr_doomed = true;
	if (!RPC_IS_QUEUED(task) || task->tk_waitqueue != &xprt->pending)
		return;
	task->tk_status = -EIO;
	xprt_complete_rqst(task, 0);
}

/**
 * xprt_rdma_reply_wait - make an RPC that was sent wait for its Reply
 * @task: the RPC
 *
 * The Reply may have come before this, and may have been an error.
 *
 * Context: process; queue_lock held.
 */
void xprt_rdma_reply_wait(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	lockdep_assert_held(&xprt->queue_lock);

	/* sunrpc reads the cookie after this function has returned. */
	if (unlikely(req->rr_resend))
		xprt_rdma_credit_unsent(rqst);
	xprt_wait_for_reply_request_def(task);
	if (unlikely(req->rr_doomed))
		xprt_rdma_reply_doom(xprt, task);
}

/* Completes an RPC whose memory the server can no longer access. */
static void xprt_rdma_reply_complete(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_msg_in *msg = req->rr_msg;
	int copied;

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));	/* I2 */
	WARN_ON_ONCE(xprt_rdma_pages_are_sent(req));	/* I39 */

	if (unlikely(req->rr_reply_status == -EAGAIN)) {
		trace_xprt_rdma_reply(req);
		xprt_rdma_reply_resend(xr, req);
		return;
	}
	xprt_rdma_useful(xr);
	copied = xprt_rdma_reply_finish(xr, req);
	if (copied < 0) {
		rpcrdma_count(client_bad_replies);
		xr->xr_stats.cs_bad_replies++;
	}
	trace_xprt_rdma_reply(req);

	/* Give back the message before the RPC is completed: sunrpc may send the next
	 * Call at once, and there must be a Receive for its Reply (RFC 8166 3.3.1).
	 */
	xprt_rdma_reply_put(msg);
	xprt_rdma_credit_drop_recvs(xr, req);

	spin_lock(&xprt->queue_lock);
	if (likely(copied >= 0))
		xprt_complete_rqst(rqst->rq_task, copied);
	else
		xprt_rdma_reply_doom(xprt, rqst->rq_task);
	req->rr_msg = NULL;
	/* Clear rr_replied last: xprt_rdma_send_is_awaited() must find either that set,
	 * or the RPC completed.
	 */
	smp_store_release(&req->rr_replied, false);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Unpins an RPC whose connection broke during the fence. sunrpc sends it again. */
static void xprt_rdma_reply_forsake(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	xprt_rdma_reply_put(req->rr_msg);
	req->rr_msg = NULL;
	WRITE_ONCE(req->rr_replied, false);
	spin_lock(&xprt->queue_lock);
	xprt_unpin_rqst(&req->rr_slot);
	spin_unlock(&xprt->queue_lock);
}

/* Goes on with a Reply when the device no longer uses the RPC's pages. */
static void xprt_rdma_reply_continue(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req, bool completed)
{
	if (likely(completed))
		xprt_rdma_reply_complete(xr, req);
	else
		xprt_rdma_reply_forsake(xr, req);
}

/* The server can no longer access the memory of the RPC. Its Sends may still read it. */
static void xprt_rdma_reply_fenced(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req)
{
	req->rr_continue = xprt_rdma_reply_continue;
	if (!xprt_rdma_pages_wait(req))
		xprt_rdma_reply_complete(xr, req);
}

static void xprt_rdma_reply_wc_fenced(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_req *req = container_of(wc->wr_cqe,
						 struct xprt_rdma_req,
						 rr_inv_cqe);
	struct xprt_rdma *xr = xprt_rdma_from(req->rr_slot.rq_xprt);

	if (unlikely(!xprt_rdma_frwr_fence_ends(req)))
		return;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		xprt_rdma_frwr_release(xr, req);
		xprt_rdma_reply_fenced(xr, req);
		return;
	}
	xprt_rdma_frwr_fence_fails(xr, req, wc);
	xprt_rdma_reply_forsake(xr, req);
}

static void xprt_rdma_reply_bad_inv(struct xprt_rdma *xr,
				    const struct rpcrdma_msg_in *msg)
{
	rpcrdma_count(client_bad_invalidations);
	trace_xprt_rdma_bad_invalidation(xr, rpcrdma_msg_inv_rkey(msg));
	rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
}

/* A message that is not the Reply to a known RPC must not invalidate a handle. If it does,
 * the connection fails (RFC 8797 4.1; G-22).
 */
static void xprt_rdma_reply_check_stray(struct xprt_rdma *xr,
					const struct rpcrdma_msg_in *msg)
{
	if (unlikely(rpcrdma_msg_invalidated(msg)))
		xprt_rdma_reply_bad_inv(xr, msg);
}

/* Ends the server's access to the RPC's memory, and completes the RPC now or later. @msg
 * is NULL if the Reply was lost. Returns false if the connection is down, and the caller
 * must unpin the RPC.
 */
static bool xprt_rdma_reply_fence(struct xprt_rdma *xr,
				  struct xprt_rdma_req *req,
				  const struct rpcrdma_msg_in *msg)
{
	if (likely(msg) && rpcrdma_msg_invalidated(msg) &&
	    !xprt_rdma_frwr_remote_inv(xr, req, rpcrdma_msg_inv_rkey(msg))) {
		xprt_rdma_reply_bad_inv(xr, msg);
		return false;
	}
	if (list_empty(&req->rr_mrs)) {
		xprt_rdma_reply_fenced(xr, req);
		return true;
	}
	return !xprt_rdma_frwr_local_inv(xr, req, xprt_rdma_reply_wc_fenced);
}

/* Compares the chunks that the Reply returns with those that were offered. Sets
 * rr_reply_written.
 */
static enum rpcrdma_verdict
xprt_rdma_reply_judge(struct xprt_rdma_req *req, const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_chunk_out *offer = &req->rr_write.of_out;
	bool write = req->rr_plan.pl_reply == RPCRDMA_REPLY_WRITE;
	bool reply = req->rr_plan.pl_reply == RPCRDMA_REPLY_LONG;
	enum rpcrdma_verdict verdict;
	u32 written = 0, reply_len = 0;

	verdict = rpcrdma_lists_check_reply(hdr, offer, write,
					    reply ? offer : NULL, &written,
					    &reply_len);
	if (verdict != RPCRDMA_OK)
		return verdict;
	if (hdr->hd_proc == RPCRDMA1_NOMSG)
		written = reply_len;
	req->rr_reply_written = written;
	return RPCRDMA_OK;
}

/* Closes the connection if a Reply has taken more Receives than its Call has offered, because
 * it took Receives of other RPCs. It does not matter whether the Reply is valid (RTX-51).
 */
static bool xprt_rdma_reply_is_excess(struct xprt_rdma *xr,
				      const struct xprt_rdma_req *req,
				      u32 count)
{
	if (likely(count <= req->rr_plan.pl_replies))
		return false;
	rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
	return true;
}

/* A Reply may be a group only if its Call was a group. It may have as many transmissions as
 * the Call has offered Receives (RTX-37).
 */
static enum rpcrdma_verdict
xprt_rdma_reply_judge_group(struct xprt_rdma *xr,
			    const struct xprt_rdma_req *req,
			    enum rpcrdma_verdict verdict)
{
	rpcrdma_count(client_group_replies);
	if (xprt_rdma_reply_is_excess(xr, req, rpcrdma_msg_recvs(req->rr_msg)))
		return RPCRDMA_BIG_GROUP;
	if (verdict == RPCRDMA_OK &&
	    req->rr_plan.pl_call != RPCRDMA_CALL_GROUP)
		return RPCRDMA_BAD_GROUP;
	return verdict;
}

static void xprt_rdma_reply_assess(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict)
{
	req->rr_reply_written = 0;
	req->rr_reply_status = 0;

	if (verdict == RPCRDMA_OK && hdr->hd_proc == RPCRDMA1_ERROR) {
		rpcrdma_count(client_error_replies);
		trace_xprt_rdma_error_reply(hdr, hdr->hd_err);
		req->rr_reply_status = -EREMOTEIO;
		if (rpcrdma_vers_can_retry(hdr->hd_vers) &&
		    xprt_rdma_marshal_retry(xr, req, hdr))
			req->rr_reply_status = -EAGAIN;
		return;
	}
	if (rpcrdma_msg_is_group(req->rr_msg))
		verdict = xprt_rdma_reply_judge_group(xr, req, verdict);
	if (verdict == RPCRDMA_OK)
		verdict = xprt_rdma_reply_judge(req, hdr);
	if (verdict != RPCRDMA_OK) {
		trace_xprt_rdma_bad_reply(hdr, verdict);
		req->rr_reply_status = -EPROTO;
	}
}

/* Takes over the grant of a message. Only a valid Reply opens the window. An error may
 * change the grant after that (G-15).
 */
static void xprt_rdma_reply_credit(struct xprt_rdma *xr,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict)
{
	if (!rpcrdma_is_grant(xr->xr_vers, hdr, verdict))
		return;
	if (likely(xr->xr_window.wn_opened &&
		   xr->xr_window.wn_granted == hdr->hd_credit))
		return;
	xprt_rdma_credit_grant(xr, hdr->hd_credit,
			       hdr->hd_proc == RPCRDMA1_ERROR);
}

/**
 * xprt_rdma_reply_awaited - claim an RPC for a Reply
 * @xr: transport
 * @req: slot of an RPC with the XID of the Reply
 * @msg: the message; NULL if the Reply was lost
 *
 * A second Reply may come before the fence of the first is complete (invariant I7).
 *
 * Context: completion; queue_lock held.
 * Return: false if the RPC was not sent on this connection, or if a first Reply is already
 *	being handled.
 */
VISIBLE_IF_KUNIT bool xprt_rdma_reply_awaited(struct xprt_rdma *xr,
					      struct xprt_rdma_req *req,
					      struct rpcrdma_msg_in *msg)
{
	bool awaited;

	spin_lock(&xr->xr_send_lock);
	awaited = req->rr_sent;
	req->rr_sent = false;
	if (awaited) {
		req->rr_msg = msg;
		req->rr_replied = true;
	}
	spin_unlock(&xr->xr_send_lock);
	return awaited;
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_reply_awaited);

static struct xprt_rdma_req *xprt_rdma_reply_match(struct xprt_rdma *xr,
						   u32 xid,
						   struct rpcrdma_msg_in *msg)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req = NULL;
	struct rpc_rqst *rqst;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (rqst &&
	    xprt_rdma_reply_awaited(xr, xprt_rdma_req_from(rqst), msg)) {
		req = xprt_rdma_req_from(rqst);
		xprt_pin_rqst(rqst);
	}
	spin_unlock(&xprt->queue_lock);
	return req;
}

static void xprt_rdma_reply_handle(struct xprt_rdma *xr,
				   struct rpcrdma_msg_in *msg,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict)
{
	struct xprt_rdma_req *req;
	bool late = false;

	req = xprt_rdma_reply_match(xr, hdr->hd_xid, msg);
	if (!req) {
		rpcrdma_count(client_unknown_xids);
		trace_xprt_rdma_unknown_xid(hdr, verdict);
		/* A group returns its credits even if its contents are wrong. */
		if (verdict == RPCRDMA_OK || rpcrdma_msg_is_group(msg))
			late = xprt_rdma_credit_late_reply(xr, hdr->hd_xid);
		/* A late Reply may invalidate a handle: the server may not know yet
		 * that the RPC was given up.
		 */
		if (!late)
			xprt_rdma_reply_check_stray(xr, msg);
		rpcrdma_msg_put(msg);
		return;
	}
	if (unlikely(xprt_rdma_rtt_is_news(xr, &req->rr_slot)))
		xprt_rdma_rtt_heard(xr, req->rr_slot.rq_rtt);
	xprt_rdma_reply_credit(xr, hdr, verdict);
	xprt_rdma_reply_assess(xr, req, hdr, verdict);
	if (!xprt_rdma_reply_fence(xr, req, msg))
		xprt_rdma_reply_forsake(xr, req);
}

/**
 * xprt_rdma_reply_lost - handle a group that began as a Reply and was never complete
 * @conn: connection
 * @end: which group has ended
 *
 * The Reply counts as received for its credits and Receives (RTX-51).
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_lost(struct rpcrdma_conn *conn,
			  const struct rpcrdma_group_end *end)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);
	struct xprt_rdma_req *req;

	req = xprt_rdma_reply_match(xr, end->ge_xid, NULL);
	if (!req) {
		xprt_rdma_credit_late_reply(xr, end->ge_xid);
		return;
	}
	xprt_rdma_reply_is_excess(xr, req, end->ge_count);
	req->rr_reply_written = 0;
	req->rr_reply_status = -EPROTO;
	if (!xprt_rdma_reply_fence(xr, req, NULL))
		xprt_rdma_reply_forsake(xr, req);
}

/* Handles messages of version 2 that need no RPC: properties, and messages that must be
 * refused. Returns false if the message is a response to an RPC.
 */
static bool xprt_rdma_reply_sort_v2(struct xprt_rdma *xr,
				    const struct rpcrdma_hdr *hdr,
				    enum rpcrdma_verdict verdict)
{
	struct rpcrdma2_error error;

	if (rpcrdma2_refusal(hdr, verdict, &rpcrdma2_accept_backward,
			     &error)) {
		xprt_rdma_reply_refuse(xr, hdr, &error);
		return true;
	}
	if (hdr->hd_proc != RPCRDMA2_CONNPROP)
		return false;
	/* A CONNPROP with F_RESPONSE answers nothing at this time: its XID belongs to
	 * no RPC (G-17).
	 */
	if (verdict == RPCRDMA_BACKWARD_CALL)
		xprt_rdma_negotiate_hear(xr, hdr);
	else
		rpcrdma_count(client_unknown_xids);
	trace_xprt_rdma_connprop(hdr, verdict);
	return true;
}

/**
 * xprt_rdma_reply_receive - handle a message that has arrived
 * @conn: connection
 * @msg: the message, which is given back when it has been handled
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_receive(struct rpcrdma_conn *conn,
			     struct rpcrdma_msg_in *msg)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);
	enum rpcrdma_verdict verdict;
	struct rpcrdma_hdr hdr;

	rpcrdma_count(client_receives);
	if (unlikely(!READ_ONCE(xr->xr_vers))) {
		xprt_rdma_reply_check_stray(xr, msg);
		xprt_rdma_negotiate_receive(xr, msg);
		return;
	}

	verdict = xprt_rdma_reply_decode(xr, msg, &hdr);
	trace_xprt_rdma_receive(rpcrdma_msg_cid(msg), &hdr, verdict);
	switch (verdict) {
	case RPCRDMA_OK:
		break;
	case RPCRDMA_DISCARD_SHORT:
	case RPCRDMA_DISCARD_DONE:
	case RPCRDMA_DISCARD_ERROR:
		rpcrdma_count(client_short_messages);
		trace_xprt_rdma_discard(&hdr, verdict);
		goto out_stray;
	case RPCRDMA_BACKWARD_CALL:
		if (rpcrdma_is_connprop(xr->xr_vers, &hdr))
			break;
		xprt_rdma_reply_check_stray(xr, msg);
		xprt_rdma_bc_receive(xr, msg, &hdr);
		return;
	case RPCRDMA_BAD_VERS:
		rpcrdma_count(client_bad_versions);
		if (!rpcrdma_vers_marks_responses(xr->xr_vers))
			break;
		/* In an unknown version, F_RESPONSE cannot be read. So nobody knows
		 * which side has chosen the XID.
		 */
		trace_xprt_rdma_discard(&hdr, verdict);
		goto out_stray;
	default:
		break;
	}
	if (rpcrdma_vers_marks_responses(xr->xr_vers) &&
	    xprt_rdma_reply_sort_v2(xr, &hdr, verdict))
		goto out_stray;
	xprt_rdma_reply_handle(xr, msg, &hdr, verdict);
	return;

out_stray:
	xprt_rdma_reply_check_stray(xr, msg);
	rpcrdma_msg_put(msg);
}
