// SPDX-License-Identifier: GPL-2.0
/*
 * Client: what a server sends. Replies are decoded, matched, fenced and placed, and
 * their RPCs woken; what is no Reply goes to negotiate.c, backchannel.c or error.c.
 *
 * This file owns a message from its arrival until it is given back, and an RPC as long
 * as it is pinned. It never registers memory, and never sends an RPC: one that is to
 * be sent again is left to sunrpc.
 *
 * Operation
 *
 * xprt_rdma_reply_receive() runs for every message, in the completion queue's
 * workqueue. The decoder has bounded everything before a field is used. A
 * Reply is matched by its XID, and the rpc_rqst is pinned from then until it
 * is completed, so sunrpc cannot release it while we look at it.
 *
 * What the Reply says is judged first and remembered in the slot. Then the
 * server's access to the RPC's memory is ended: by the server's own Send With
 * Invalidate, or by local invalidation, whose completion carries on. Only then
 * is data placed and the RPC completed (invariant I2). A Reply that makes no
 * sense is treated in the same way, with an error to end the RPC (G-12): the
 * memory has to be fenced all the more.
 *
 * An error of version 2 may leave something to be done better: then the RPC is
 * not completed but sent again, after the fence like everything else. sunrpc
 * does that of its own accord for an RPC whose connect cookie is out of date,
 * so it is made to be (xprt_rdma_reply_resend()).
 *
 * The message is held until its inline part has been copied. If the connection
 * breaks before the fence is up, the rpc_rqst is unpinned and nothing else: it
 * will be sent again on the next connection.
 *
 * A Reply that came as a group is a message like any other; the Call said how many
 * Receives it may take. If a group never gets whole, its RPC ends as with a Reply that
 * makes no sense, but there is no message (rr_msg is NULL).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>

#include "trace.h"
#include "xprt_rdma.h"

/* With an item in the pages, the head ends where the item begins. The upper
 * layer had to guess that place; it may have guessed too far.
 */
static void xprt_rdma_reply_trim_head(struct rpc_rqst *rqst, u32 len)
{
	if (rqst->rq_rcv_buf.head[0].iov_len <= len)
		return;
	rqst->rq_rcv_buf.head[0].iov_len = len;
	rqst->rq_private_buf.head[0].iov_len = len;
}

/* Not inline: it would take registers from xprt_rdma_reply_place() */
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

/* Copies @len bytes of the body, from @from on, to byte @to of @buf. */
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
 * xprt_rdma_reply_place - put the inline part where the upper layer looks for it
 * @xr: transport
 * @req: slot, with the Reply in rr_msg, and what was found out about it in
 *	rr_reply_*
 *
 * The stream is head, pages, tail without a gap. An item that came by RDMA is in
 * the pages already; the stream continues behind it and its roundup, which does
 * not have to have come (RFC 8166 3.4.6.2).
 *
 * Context: any.
 * Return: bytes of the stream; %-EIO if there is no room for them.
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

/* Sends an RPC again with the same XID. Its credit came back with the error; it
 * takes one like any other Call (G-16).
 *
 * The task may not be asleep yet: it has yet to note that the RPC was sent, and
 * would overwrite the cookie. xprt_rdma_reply_wait() sets it once more, at the
 * latest moment.
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
	/* Whoever sends it again finds this set, and the credit released. */
	xprt_rdma_credit_unsent(rqst);
	/* Not earlier: xprt_rdma_send_is_awaited() has to find one of the two
	 * set.
	 */
	smp_store_release(&req->rr_msg, NULL);
	rpc_wake_up_queued_task(&xprt->pending, rqst->rq_task);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* An RPC whose Reply was an error ends with -EIO. A task that is not asleep yet
 * would forget this status; it would find a Reply of no bytes, and for that
 * NFSv4 closes the connection. So it is left alone, and xprt_rdma_reply_wait()
 * comes back here. Should it not get so far, rr_doomed keeps it from being sent
 * again (G-12). queue_lock held.
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
 * xprt_rdma_reply_wait - an RPC that was sent waits for its Reply
 * @task: the RPC
 *
 * The Reply may have been an error, and have come before.
 *
 * Context: process; queue_lock held.
 */
void xprt_rdma_reply_wait(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	lockdep_assert_held(&xprt->queue_lock);

	/* sunrpc looks at the cookie next. */
	if (unlikely(req->rr_resend))
		xprt_rdma_credit_unsent(rqst);
	xprt_wait_for_reply_request_def(task);
	if (unlikely(req->rr_doomed))
		xprt_rdma_reply_doom(xprt, task);
}

/* The RPC's memory is ours again: finish it. */
static void xprt_rdma_reply_complete(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_msg_in *msg = req->rr_msg;
	int copied;

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));	/* I2 */

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

	/* First the message: sunrpc may send the next Call at once, and that
	 * one's Reply must find a Receive posted (RFC 8166 3.3.1).
	 */
	xprt_rdma_reply_put(msg);

	spin_lock(&xprt->queue_lock);
	if (likely(copied >= 0))
		xprt_complete_rqst(rqst->rq_task, copied);
	else
		xprt_rdma_reply_doom(xprt, rqst->rq_task);
	/* Not earlier: xprt_rdma_send_is_awaited() must find either this, or
	 * that the RPC was completed.
	 */
	smp_store_release(&req->rr_msg, NULL);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* The connection broke under the fence: leave the RPC to be sent again. */
static void xprt_rdma_reply_forsake(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	xprt_rdma_reply_put(req->rr_msg);
	req->rr_msg = NULL;
	spin_lock(&xprt->queue_lock);
	xprt_unpin_rqst(&req->rr_slot);
	spin_unlock(&xprt->queue_lock);
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
		xprt_rdma_reply_complete(xr, req);
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

/* A message that is no RPC's Reply has nothing to invalidate (RFC 8797 4.1;
 * G-22).
 */
static void xprt_rdma_reply_check_stray(struct xprt_rdma *xr,
					const struct rpcrdma_msg_in *msg)
{
	if (unlikely(rpcrdma_msg_invalidated(msg)))
		xprt_rdma_reply_bad_inv(xr, msg);
}

/* @msg is NULL if it was lost. Returns false if it makes it necessary to close the
 * connection.
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
		xprt_rdma_reply_complete(xr, req);
		return true;
	}
	return !xprt_rdma_frwr_local_inv(xr, req, xprt_rdma_reply_wc_fenced);
}

/* Compares what came back with what was offered; fills in rr_reply_*. */
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

/* A Reply may be a group if its Call was one, of as many transmissions as the Call has
 * Receives for. If it has more, others were meant to have these (RTX-37, RTX-51).
 */
static enum rpcrdma_verdict
xprt_rdma_reply_judge_group(struct xprt_rdma *xr,
			    const struct xprt_rdma_req *req)
{
	rpcrdma_count(client_group_replies);
	if (rpcrdma_msg_recvs(req->rr_msg) > req->rr_plan.pl_replies) {
		rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
		return RPCRDMA_BIG_GROUP;
	}
	return req->rr_plan.pl_call == RPCRDMA_CALL_GROUP ?
	       RPCRDMA_OK : RPCRDMA_BAD_GROUP;
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
	if (rpcrdma_msg_is_group(req->rr_msg) && verdict == RPCRDMA_OK)
		verdict = xprt_rdma_reply_judge_group(xr, req);
	if (verdict == RPCRDMA_OK)
		verdict = xprt_rdma_reply_judge(req, hdr);
	if (verdict != RPCRDMA_OK) {
		trace_xprt_rdma_bad_reply(hdr, verdict);
		req->rr_reply_status = -EPROTO;
	}
}

/* Only a sound Reply opens the window; an error may move it (G-15). */
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

/* An RPC that was queued, but not sent on this connection, can have no Reply;
 * and a second Reply may overtake the fence of the first (invariant I7).
 */
static bool xprt_rdma_reply_awaited(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req,
				    struct rpcrdma_msg_in *msg)
{
	bool awaited;

	spin_lock(&xr->xr_send_lock);
	awaited = req->rr_sent;
	req->rr_sent = false;
	if (awaited)
		req->rr_msg = msg;
	spin_unlock(&xr->xr_send_lock);
	return awaited;
}

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
		/* A group had all of its credits, whatever it said. */
		if (verdict == RPCRDMA_OK || rpcrdma_msg_is_group(msg))
			late = xprt_rdma_credit_late_reply(xr, hdr->hd_xid);
		/* The server may not know yet that its RPC was given up */
		if (!late)
			xprt_rdma_reply_check_stray(xr, msg);
		rpcrdma_msg_put(msg);
		return;
	}
	xprt_rdma_reply_credit(xr, hdr, verdict);
	xprt_rdma_reply_assess(xr, req, hdr, verdict);
	if (!xprt_rdma_reply_fence(xr, req, msg))
		xprt_rdma_reply_forsake(xr, req);
}

/**
 * xprt_rdma_reply_lost - a Reply has begun to come, and never will be whole
 * @conn: connection
 * @end: which one
 *
 * For credits and Receives it has come (RTX-51).
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
	req->rr_reply_written = 0;
	req->rr_reply_status = -EPROTO;
	if (!xprt_rdma_reply_fence(xr, req, NULL))
		xprt_rdma_reply_forsake(xr, req);
}

/* What is left after Calls and what is too short: Replies, errors, properties,
 * and what makes no sense. Returns false if the message is a response.
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
	/* F_RESPONSE, but nobody has asked: its XID belongs to no RPC (G-17) */
	if (verdict == RPCRDMA_BACKWARD_CALL)
		xprt_rdma_negotiate_hear(xr, hdr);
	else
		rpcrdma_count(client_unknown_xids);
	trace_xprt_rdma_connprop(hdr, verdict);
	return true;
}

/**
 * xprt_rdma_reply_receive - a message has arrived
 * @conn: connection
 * @msg: the message; given back when it is dealt with
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
		/* Without the mark nothing tells whose XID it is. */
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
