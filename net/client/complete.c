// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the end of an RPC whose Reply has come: copies the inline part of the Reply to the RPC's
 * buffer, and completes the RPC.
 *
 * This file never decodes a Reply, and never decides whether it is valid: reply.c does. It posts
 * nothing.
 *
 * Operation
 *
 * An RPC is completed when its Reply has come, and neither the server nor the device uses its
 * memory any more. What it waits for is in rr_holds. Whoever clears the last bit completes the RPC:
 * the handler of the Reply (reply.c), of the last local invalidation (fence.c), or of the last Send
 * that reads the RPC's pages (send.c). These handlers run one after the other. Until then, the
 * RPC keeps the message with its Reply (rr_msg), and its rpc_rqst is pinned, so that sunrpc cannot
 * release it.
 *
 * After some errors of version 2, another form of the Call may succeed. In that case the RPC is not
 * completed, but is sent again. sunrpc sends an RPC again if its rq_connect_cookie differs from the
 * transport's connect_cookie, so xprt_rdma_reply_resend() sets rq_connect_cookie to an old value.
 *
 * If the connection ends first, the task that closes it takes the message away and unpins the
 * rpc_rqst. sunrpc sends the RPC again on the next connection.
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
	       (req->rr_foreign || xprt_rdma_frwr_is_foreign(rcv));
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

static int xprt_rdma_reply_finish(struct xprt_rdma *xr,
				  struct xprt_rdma_req *req)
{
	if (req->rr_reply_status)
		return req->rr_reply_status;
	if (rpcrdma_msg_body_len(req->rr_msg))
		return xprt_rdma_reply_place(xr, req);
	/* The server has written the whole Reply to the Reply chunk, whose memory is
	 * rq_rcv_buf.
	 */
	xr->xr_stats.cs_bytes_in += req->rr_reply_written;
	return req->rr_reply_written;
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

	rpcrdma_count(client_resends);
	rpcrdma_msg_put(req->rr_msg);

	xprt_rdma_credit_give_back(rqst->rq_task);

	spin_lock(&xprt->queue_lock);
	req->rr_resend = true;
	req->rr_msg = NULL;
	/* A task that reads this cookie sends the RPC again. So the cookie is set last: the task
	 * then also sees that the credit was returned.
	 */
	xprt_rdma_credit_unsent(rqst);
	rpc_wake_up_queued_task(&xprt->pending, rqst->rq_task);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* Ends an RPC with -EIO because its Reply was an error or was malformed. If the RPC's task is
 * not asleep yet, the status would be lost: the task would find a Reply of no bytes, and NFSv4
 * would close the connection. So in that case this function only sets rr_failed.
 * xprt_rdma_reply_wait() calls it again when the task goes to sleep. If the task tries to send
 * the RPC again instead, rr_failed prevents that (G-12; I17). Context: queue_lock held.
 */
static void xprt_rdma_reply_fail(struct rpc_xprt *xprt, struct rpc_task *task)
{
	xprt_rdma_req_from(task->tk_rqstp)->rr_failed = true;
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
	if (unlikely(req->rr_failed))
		xprt_rdma_reply_fail(xprt, task);
}

/**
 * xprt_rdma_reply_complete - complete an RPC, or make sunrpc send it again
 * @xr: transport
 * @req: RPC with its Reply, pinned. Neither the server nor the device uses its memory any more
 *
 * Context: completion.
 */
void xprt_rdma_reply_complete(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	int copied;

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));
	WARN_ON_ONCE(atomic_read(&req->rr_holds));

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
	rpcrdma_msg_put(req->rr_msg);
	xprt_rdma_credit_drop_recvs(xr, req);

	spin_lock(&xprt->queue_lock);
	req->rr_msg = NULL;
	if (likely(copied >= 0))
		xprt_complete_rqst(rqst->rq_task, copied);
	else
		xprt_rdma_reply_fail(xprt, rqst->rq_task);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/**
 * xprt_rdma_reply_release - clear a bit of rr_holds, and let the RPC go on if it was the last
 * @xr: transport
 * @req: RPC
 * @hold: %XPRT_RDMA_HOLD_FENCE or %XPRT_RDMA_HOLD_SENDS; its completion has come
 *
 * The handlers of a client's completions and messages run one after the other (cq_mutex). So the
 * Reply does not come at the same time. If the bit is clear already, because the provider reports a
 * completion twice, this does nothing.
 *
 * Context: completion.
 */
void xprt_rdma_reply_release(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     int hold)
{
	if (!xprt_rdma_hold_drop(req, hold))
		return;
	if (req->rr_msg) {
		if (!atomic_read(&req->rr_holds))
			xprt_rdma_reply_complete(xr, req);
	/* atomic_fetch_andnot() was a full barrier. */
	} else if (waitqueue_active(&xr->xr_waitq)) {
		wake_up_all(&xr->xr_waitq);
	}
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_reply_release);

/**
 * xprt_rdma_reply_abort - take away the Reply of an RPC that could not be completed
 * @xr: transport whose connection no longer has queues
 * @req: RPC with its Reply, pinned; it has no regions, and no Send reads its pages
 *
 * sunrpc sends the RPC again on the next connection.
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_reply_abort(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	rpcrdma_msg_put(req->rr_msg);
	spin_lock(&xprt->queue_lock);
	req->rr_msg = NULL;
	xprt_unpin_rqst(&req->rr_slot);
	spin_unlock(&xprt->queue_lock);
}
