// SPDX-License-Identifier: GPL-2.0
/*
 * Client: received messages. A Reply is decoded and matched with its RPC, which is then fenced (see
 * below) and completed. Other messages go to negotiate.c, backchannel.c or error.c, or are dropped.
 *
 * This file owns a message from its arrival until it gives the message back or passes it to
 * another file, and an RPC while its rpc_rqst is pinned. It never registers memory, and never
 * sends an RPC: if an RPC must be sent again, sunrpc does that.
 *
 * Operation
 *
 * xprt_rdma_reply_receive() is called for each complete message, in the workqueue of the completion
 * queue for Receives. While a message is handled, no completion of the send queue is handled
 * (rpcrdma_send_cq_enter()), so a message and the completion of a fence are never handled at
 * the same time. The decoder checks all bounds before any field is used. The RPC of a Reply is
 * found by the XID. Its rpc_rqst is pinned from then until this file has completed the RPC, or has
 * left it to sunrpc to send the RPC again. So sunrpc cannot release the rpc_rqst in between.
 *
 * First the Reply is checked, and the result is stored in the slot. Then the RPC is fenced
 * (fence.c): the server's access to the RPC's memory is ended, by the server's Send With
 * Invalidate or by a local invalidation. If there is a local invalidation, its completion handler
 * goes on with the Reply. The inline part is copied, and the RPC completed, only after the fence
 * (invariant I2), and when no Send reads the RPC's pages any more (I39). After a malformed Reply,
 * the RPC is fenced in the same way, and then ends with an error (G-12).
 *
 * After an error of version 2, another form of the Call may succeed. In that case the RPC is
 * not completed after the fence, but is sent again. sunrpc sends an RPC again if its
 * rq_connect_cookie differs from the transport's connect_cookie, so xprt_rdma_reply_resend()
 * sets rq_connect_cookie to an old value.
 *
 * The message is held until its inline part has been copied. If the connection breaks
 * before the RPC can be completed, the message is given back and the rpc_rqst is unpinned.
 * sunrpc sends the RPC again on the next connection.
 *
 * A Reply that came as a group (rtx.h) is handled like any other Reply, and is malformed if it
 * took more Receives than its Call has offered. If such a Reply is never complete, its RPC ends
 * as after a malformed Reply, but there is no message (rr_msg is NULL).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Sets the lengths of head and pages in @buf. If the head gets longer, it takes the memory of the
 * tail. sunrpc takes buflen for the room in the buffer, and moves data within it, so buflen must be
 * the sum of all parts.
 */
static void xprt_rdma_reply_resize_buf(struct xdr_buf *buf, u32 head, u32 pages)
{
	if (head > buf->head[0].iov_len)
		buf->tail[0].iov_len = 0;
	buf->head[0].iov_len = head;
	buf->page_len = pages;
	buf->buflen = head + pages + buf->tail[0].iov_len;
}

static void xprt_rdma_reply_resize(struct rpc_rqst *rqst, u32 head, u32 pages)
{
	xprt_rdma_reply_resize_buf(&rqst->rq_rcv_buf, head, pages);
	xprt_rdma_reply_resize_buf(&rqst->rq_private_buf, head, pages);
}

/* Like xprt_rdma_reply_place_rest(), for a body in several pieces. It is not inlined, so that
 * the common case in xprt_rdma_reply_place_inline() has more registers.
 */
static noinline int
xprt_rdma_reply_place_pieces(const struct rpcrdma_msg_in *msg,
			     struct xdr_buf *buf, u32 from, u32 len)
{
	struct rpcrdma_msg_piece piece;

	for (rpcrdma_msg_piece_first(msg, from, len, &piece); piece.mp_len;
	     rpcrdma_msg_piece_next(&piece)) {
		if (write_bytes_to_xdr_buf(buf, from, piece.mp_data,
					   piece.mp_len))
			return -EIO;
		from += piece.mp_len;
	}
	return 0;
}

/* Copies @len bytes of the body, beginning at offset @from, to the same offset of @buf. */
static int xprt_rdma_reply_place_rest(const struct rpcrdma_msg_in *msg,
				      struct xdr_buf *buf, u32 from, u32 len)
{
	if (unlikely(!rpcrdma_msg_is_flat(msg)))
		return xprt_rdma_reply_place_pieces(msg, buf, from, len);
	return write_bytes_to_xdr_buf(buf, from, rpcrdma_msg_body(msg) + from,
				      len);
}

/* Does the Call in this slot offer foreign pages (plan.h) in a Write chunk? */
static bool xprt_rdma_reply_is_foreign(const struct xprt_rdma_req *req)
{
	const struct xdr_buf *rcv = &req->rr_slot.rq_rcv_buf;

	return rcv->page_len && !rpcrdma_plan_touches_reply(&req->rr_plan) &&
	       (req->rr_foreign || xprt_rdma_foreign_has(rcv));
}

/* Copies the inline part of a Reply whose item came by RDMA, and is in the pages. The item must
 * follow the head without a gap, but the upper layer could only estimate the length of the head,
 * whose verifier may be shorter or longer than before. In the Replies that Linux decodes, only
 * roundup follows an item, and sunrpc does not need the roundup. So all inline bytes belong to the
 * head, which may extend to the end of the slot's buffer.
 */
static int xprt_rdma_reply_place_head(struct xprt_rdma_req *req, u32 item)
{
	const struct xdr_buf *buf = &req->rr_slot.rq_rcv_buf;
	const struct rpcrdma_msg_in *msg = req->rr_msg;
	u32 len = round_down(rpcrdma_msg_body_len(msg), XDR_UNIT);
	void *head = buf->head[0].iov_base;

	if (len > req->rr_buf + req->rr_buf_size - head ||
	    item > xdr_align_size(buf->page_len))
		return -EIO;
	rpcrdma_msg_copy(msg, 0, head, len);
	xprt_rdma_reply_resize(&req->rr_slot, len, buf->page_len);
	return len + item;
}

/* Copies a Reply that is inline as a whole. */
static int xprt_rdma_reply_place_inline(struct xprt_rdma *xr,
					struct xprt_rdma_req *req)
{
	struct xdr_buf buf = req->rr_slot.rq_rcv_buf;
	const struct rpcrdma_msg_in *msg = req->rr_msg;
	u32 len = rpcrdma_msg_body_len(msg);
	u32 head = min_t(u32, buf.head[0].iov_len, len);
	bool foreign = xprt_rdma_reply_is_foreign(req);

	buf.len = buf.head[0].iov_len + buf.page_len + buf.tail[0].iov_len;
	if (len > xdr_align_size(buf.len))
		return -EIO;
	if (unlikely(foreign && len > head))
		return xprt_rdma_foreign_error();
	rpcrdma_msg_copy(msg, 0, buf.head[0].iov_base, head);
	if (len > head &&
	    xprt_rdma_reply_place_rest(msg, &buf, head, len - head))
		return -EIO;
	/* The server may have sent a short item inline, for which the head has room. If the
	 * upper layer saw foreign pages, it would move the item to them.
	 */
	if (unlikely(foreign))
		xprt_rdma_reply_resize(&req->rr_slot, buf.head[0].iov_len, 0);
	xr->xr_stats.cs_fixup += len - head;
	return len;
}

/**
 * xprt_rdma_reply_place - copy the inline part of a Reply to the RPC's buffer
 * @xr: transport
 * @req: slot; rr_msg is the Reply, and rr_reply_written was set when the Reply was checked
 *
 * The Reply fills head, pages and tail without a gap. An item that came by RDMA is already in
 * the pages, and counts with its roundup, whether the server has written the roundup or not
 * (RFC 8166 3.4.6.2).
 *
 * Context: any.
 * Return: length of the Reply in bytes; or %-EIO if it does not fit, or if bytes would be copied
 *	to foreign pages.
 */
VISIBLE_IF_KUNIT int xprt_rdma_reply_place(struct xprt_rdma *xr,
					   struct xprt_rdma_req *req)
{
	u32 item = xdr_align_size(req->rr_reply_written);

	if (!item)
		return xprt_rdma_reply_place_inline(xr, req);
	xr->xr_stats.cs_bytes_in += req->rr_reply_written;
	return xprt_rdma_reply_place_head(req, item);
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
	/* The server has written the whole Reply to the Reply chunk. The memory of the
	 * chunk is rq_rcv_buf itself, or rr_reply_copy, from which the Reply must be
	 * copied to rq_rcv_buf.
	 */
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

/* Makes sunrpc send an RPC again with the same XID. The server's error has returned the RPC's
 * credit, so the RPC takes a new one before it is sent again (G-16).
 *
 * If the RPC's task is not asleep yet, sunrpc may not have recorded yet that the RPC was sent.
 * When sunrpc records that, it overwrites rq_connect_cookie. So xprt_rdma_reply_wait() sets
 * rq_connect_cookie to the old value once more.
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
	req->rr_msg = NULL;
	/* At any time, xprt_rdma_send_is_awaited() must find that the RPC waits, or that
	 * rr_resend is set. So rr_resend is set before the wait ends.
	 */
	xprt_rdma_wait_end(req);
	/* A task that reads this cookie sends the RPC again. So the cookie is set last: the task
	 * then also sees that the credit was returned, and that the RPC does not wait.
	 */
	xprt_rdma_credit_unsent(rqst);
	rpc_wake_up_queued_task(&xprt->pending, rqst->rq_task);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Ends an RPC with -EIO because its Reply was an error or was malformed. If the RPC's task is
 * not asleep yet, the status would be lost: the task would find a Reply of no bytes, and NFSv4
 * would close the connection. So in that case this function only sets rr_doomed.
 * xprt_rdma_reply_wait() calls it again when the task goes to sleep. If the task tries to send
 * the RPC again instead, rr_doomed prevents that (G-12; I17). Context: queue_lock held.
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
 * The Reply may have come before this function is called, and may have been an error.
 *
 * Context: process; queue_lock held.
 */
void xprt_rdma_reply_wait(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	lockdep_assert_held(&xprt->queue_lock);

	/* sunrpc compares rq_connect_cookie with the transport's cookie after this function
	 * has returned. If they differ, it wakes the task, which sends the RPC again.
	 */
	if (unlikely(req->rr_resend))
		xprt_rdma_credit_unsent(rqst);
	xprt_wait_for_reply_request_def(task);
	if (unlikely(req->rr_doomed))
		xprt_rdma_reply_doom(xprt, task);
}

/* Completes an RPC, or makes sunrpc send it again. Called when neither the server nor the
 * device uses the memory of the RPC any more.
 */
static void xprt_rdma_reply_complete(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_msg_in *msg = req->rr_msg;
	int copied;

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));	/* fenced (I2) */
	WARN_ON_ONCE(xprt_rdma_pages_are_sent(req));	/* not in use (I39) */

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
	/* The wait ends last: at any time, xprt_rdma_send_is_awaited() must find that the RPC
	 * waits, or that it is completed, or that rr_doomed is set.
	 */
	xprt_rdma_wait_end(req);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Gives back the Reply and unpins the RPC, because the connection broke before the RPC could be
 * completed. sunrpc sends the RPC again on the next connection.
 */
static void xprt_rdma_reply_forsake(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	xprt_rdma_reply_put(req->rr_msg);
	req->rr_msg = NULL;
	xprt_rdma_wait_end(req);
	spin_lock(&xprt->queue_lock);
	xprt_unpin_rqst(&req->rr_slot);
	spin_unlock(&xprt->queue_lock);
}

/* The rr_continue of an RPC whose Reply has come: called when Sends no longer read the pages
 * of the RPC. @completed is false if the connection has ended.
 */
static void xprt_rdma_reply_continue(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req, bool completed)
{
	if (likely(completed))
		xprt_rdma_reply_complete(xr, req);
	else
		xprt_rdma_reply_forsake(xr, req);
}

/* Called when the server can no longer access the memory of the RPC. Completes the RPC, unless
 * Sends still read its pages. In that case xprt_rdma_reply_continue() is called when the Sends
 * have completed or the connection has ended.
 */
static void xprt_rdma_reply_fenced(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req)
{
	req->rr_continue = xprt_rdma_reply_continue;
	if (!xprt_rdma_pages_wait(xr, req))
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

/* Called for a message that is not the Reply to a known RPC. Such a message must not
 * invalidate a handle. If it does, the connection is closed (RFC 8797 4.1; G-22).
 */
static void xprt_rdma_reply_check_stray(struct xprt_rdma *xr,
					const struct rpcrdma_msg_in *msg)
{
	if (unlikely(rpcrdma_msg_invalidated(msg)))
		xprt_rdma_reply_bad_inv(xr, msg);
}

/* Ends the server's access to the RPC's memory, and completes the RPC now or later. @msg is
 * NULL if the Reply was a group (rtx.h) that was never complete. Returns false if the connection
 * is down, or is being closed because @msg has invalidated a wrong handle. The caller must then
 * call xprt_rdma_reply_forsake().
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

/* Compares the chunks that the Reply returns with those that were offered. If they agree, sets
 * rr_reply_written to the number of bytes that the server has written.
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

/* Returns whether a Reply came in more Sends (@count) than its Call has offered Receives. If so,
 * the Reply may have filled Receives that other RPCs need. So this closes the connection, whether
 * the Reply is valid or not (RTX-51).
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

/* Returns the verdict on a Reply that is a group (rtx.h). A Reply may be a group only if its Call
 * was a group, and may have at most as many transmissions as the Call has offered Receives
 * (RTX-37, RTX-66).
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

/* Applies the grant of a message. A connection begins with one credit. The first grant that
 * changes this must come with a valid Reply, or with the answer to our CONNPROP (negotiate.c).
 * After that, an error of version 1 may change the grant, too (G-15).
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
 * @msg: the message; NULL if the Reply is a group (rtx.h) that was never complete
 *
 * A server may send a second Reply while the first Reply is still being handled. For the
 * second one, this function returns false (invariant I7).
 *
 * Context: completion; queue_lock held.
 * Return: false if the Call was not sent on this connection, if a Reply to it has already come,
 *	or if sunrpc has given up the RPC; otherwise true.
 */
VISIBLE_IF_KUNIT bool xprt_rdma_reply_awaited(struct xprt_rdma *xr,
					      struct xprt_rdma_req *req,
					      struct rpcrdma_msg_in *msg)
{
	u32 wait = xprt_rdma_wait_reply(req);

	if (unlikely(wait == XPRT_RDMA_WAIT_POSTING)) {
		/* The Call is being posted under xr_send_lock. When the lock is free, posting has
		 * ended, and the Reply matches, unless sunrpc has given up the RPC.
		 */
		spin_lock(&xr->xr_send_lock);
		wait = xprt_rdma_wait_reply(req);
		spin_unlock(&xr->xr_send_lock);
	}
	if (wait != XPRT_RDMA_WAIT_SENT)
		return false;
	req->rr_msg = msg;
	return true;
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
		/* sunrpc may have ended the RPC without a Reply (given it up). In that case
		 * this Reply returns the credits of its Call, if it is valid. A Reply that is
		 * a group returns them even if it is not valid (RTX-51).
		 */
		if (verdict == RPCRDMA_OK || rpcrdma_msg_is_group(msg))
			late = xprt_rdma_credit_late_reply(xr, hdr->hd_xid);
		/* The server does not know that an RPC was given up. So its Reply to that RPC is
		 * allowed to invalidate a handle.
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
 * xprt_rdma_reply_lost - handle a Reply that came as a group (rtx.h) and was never complete
 * @conn: connection
 * @end: description of the group
 *
 * The RPC ends with an error, and returns its credits and Receives as after any Reply
 * (RTX-51).
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_lost(struct rpcrdma_conn *conn,
			  const struct rpcrdma_group_end *end)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);
	struct xprt_rdma_req *req;

	rpcrdma_send_cq_enter(conn);
	req = xprt_rdma_reply_match(xr, end->ge_xid, NULL);
	if (!req) {
		xprt_rdma_credit_late_reply(xr, end->ge_xid);
		goto out_leave;
	}
	xprt_rdma_reply_is_excess(xr, req, end->ge_count);
	req->rr_reply_written = 0;
	req->rr_reply_status = -EPROTO;
	if (!xprt_rdma_reply_fence(xr, req, NULL))
		xprt_rdma_reply_forsake(xr, req);
out_leave:
	rpcrdma_send_cq_leave(conn);
}

/* Handles a message of version 2 that is not a response to an RPC: either a CONNPROP (see
 * negotiate.c), or a message that must be answered with an error. Returns false if the message is a
 * response to an RPC.
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
	/* The version is settled, so our CONNPROP has been answered. A CONNPROP with
	 * F_RESPONSE that comes now answers nothing, and its XID belongs to no RPC (G-17).
	 */
	if (verdict == RPCRDMA_BACKWARD_CALL)
		xprt_rdma_negotiate_hear(xr, hdr);
	else
		rpcrdma_count(client_unknown_xids);
	trace_xprt_rdma_connprop(hdr, verdict);
	return true;
}

/* Finds out what kind of message @msg is. Calls the function that handles it and gives it back.
 * Messages that are dropped, and those that xprt_rdma_reply_sort_v2() has handled, are given back
 * here.
 */
static void xprt_rdma_reply_dispatch(struct xprt_rdma *xr,
				     struct rpcrdma_msg_in *msg)
{
	enum rpcrdma_verdict verdict;
	struct rpcrdma_hdr hdr;

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
		/* The message has another version than the connection. So it is not known
		 * whether it is a response, or which end has chosen its XID. The message is
		 * dropped.
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

/**
 * xprt_rdma_reply_receive - handle a message that has arrived
 * @conn: connection
 * @msg: the message, which is given back when it has been handled; a callback may keep it until
 *	a slot is free
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_receive(struct rpcrdma_conn *conn,
			     struct rpcrdma_msg_in *msg)
{
	rpcrdma_count(client_receives);
	rpcrdma_send_cq_enter(conn);
	xprt_rdma_reply_dispatch(container_of(conn, struct xprt_rdma, xr_conn),
				 msg);
	rpcrdma_send_cq_leave(conn);
}
