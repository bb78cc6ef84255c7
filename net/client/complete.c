// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the end of an RPC. First the RPC is fenced: a fence ends the server's access to the
 * memory of an RPC, before the upper layer gets that memory back. If the Reply has come, its inline
 * part is copied to the RPC's buffer, and the RPC is completed.
 *
 * This file decides when a region whose registration was posted goes from its RPC back to the
 * pool of frwr.c. It never decodes a Reply, and never decides whether it is valid: reply.c does. It
 * posts nothing but local invalidations.
 *
 * Operation
 *
 * An RPC is completed when its Reply has come, and neither the server nor the device uses its
 * memory any more (invariant I2; RFC 8166 4.4.1, 8.1). What it waits for is in rr_holds. Whoever
 * clears the last bit completes the RPC: the handler of the Reply (reply.c), of the last local
 * invalidation, or of the last Send that reads the RPC's pages (send.c). These handlers run one
 * after the other. Until then, the RPC keeps the message with its Reply (rr_msg), and its rpc_rqst
 * is pinned, so that sunrpc cannot release it.
 *
 * A region whose registration was posted returns to the pool when the server has invalidated
 * it (Send With Invalidate) or when a local invalidation has completed. Otherwise it is
 * destroyed with the connection. Its pages are unmapped just before it returns to the pool or
 * is destroyed, never earlier. The send queue entry for invalidating a region was reserved when
 * the RPC was sent, and is released together with the region. So an invalidation never waits for
 * an entry (I4).
 *
 * If an invalidation cannot be posted or fails, the connection is declared broken. The task that
 * closes a connection destroys the queue pair, which ends the server's access, and then the
 * regions. It takes away the message of an RPC that could not be completed, and unpins the
 * rpc_rqst. Only after that, the RPC ends, or sunrpc sends it again on the next connection.
 *
 * After some errors of version 2, another form of the Call may succeed. In that case the RPC is not
 * completed, but is sent again. sunrpc sends an RPC again if its rq_connect_cookie differs from the
 * transport's connect_cookie, so xprt_rdma_reply_resend() sets rq_connect_cookie to an old value.
 */
#include <kunit/visibility.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/sunrpc/xdr.h>
#include <linux/wait.h>
#include <rpcrdma/fail.h>

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
	/* Does the Call offer foreign pages (plan.h) in a Write chunk? */
	bool foreign = buf.page_len &&
		       !rpcrdma_plan_touches_reply(&req->rr_plan) &&
		       (req->rr_foreign || xprt_rdma_frwr_is_foreign(&buf));

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

/* Completes an RPC, or makes sunrpc send it again. Neither the server nor the device uses its
 * memory any more.
 */
static void xprt_rdma_reply_complete(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
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
	if (req->rr_reply_status) {
		copied = req->rr_reply_status;
	} else if (rpcrdma_msg_body_len(req->rr_msg)) {
		copied = xprt_rdma_reply_place(xr, req);
	} else {
		/* The server has written the whole Reply to the Reply chunk, whose memory is
		 * rq_rcv_buf.
		 */
		xr->xr_stats.cs_bytes_in += req->rr_reply_written;
		copied = req->rr_reply_written;
	}
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

/* Unmaps a region that the server can no longer access, and returns it to the pool. */
static inline void xprt_rdma_frwr_mr_put(struct xprt_rdma_mr *mr)
{
	struct xprt_rdma *xr = mr->mr_xprt;

	xprt_rdma_frwr_mr_unmap(mr);
	spin_lock(&xr->xr_lock);
	list_move(&mr->mr_list, &xr->xr_mr_free);
	spin_unlock(&xr->xr_lock);
}

/* Takes back the region that the server has invalidated. Returns false if the handle does not
 * belong to this RPC.
 */
static bool xprt_rdma_frwr_remote_inv(struct xprt_rdma *xr,
				      struct xprt_rdma_req *req, u32 handle)
{
	struct xprt_rdma_mr *mr;

	list_for_each_entry(mr, &req->rr_mrs, mr_list) {
		if (mr->mr_seg.rs_handle != handle)
			continue;
		trace_xprt_rdma_mr_remote_inv(mr, req);
		rpcrdma_count(client_mrs_remote_inv);
		xprt_rdma_frwr_mr_put(mr);
		atomic_inc(&xr->xr_conn.cn_sq.sq_free);
		return true;
	}
	return false;
}

/* Called when the last local invalidation of an RPC has completed. All others have completed, too.
 *
 * After an error, the RPC does not continue before the connection is closed. The failed work
 * request is for the first region on rr_mrs, because xprt_rdma_frwr_local_inv() puts the work
 * request for each further region in front of it. The region still exists, since regions are
 * destroyed only after the queues.
 */
static void xprt_rdma_frwr_wc_fenced(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_req *req = container_of(wc->wr_cqe,
						 struct xprt_rdma_req,
						 rr_inv_cqe);
	struct xprt_rdma *xr = xprt_rdma_from(req->rr_slot.rq_xprt);
	struct xprt_rdma_mr *mr, *next;
	u32 n = 0;

	if (!(atomic_read(&req->rr_holds) & XPRT_RDMA_HOLD_FENCE))
		return;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		mr = list_first_entry(&req->rr_mrs, struct xprt_rdma_mr,
				      mr_list);
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_xprt_rdma_mr_err(xr, &mr->mr_cid, wc);
		rpcrdma_conn_fail(&xr->xr_conn, -ECONNRESET);
		return;
	}
	rpcrdma_send_cq_seen(&xr->xr_conn.cn_send_cq);
	list_for_each_entry_safe(mr, next, &req->rr_mrs, mr_list) {
		xprt_rdma_frwr_mr_put(mr);
		n++;
	}
	atomic_add(n, &xr->xr_conn.cn_sq.sq_free);
	xprt_rdma_reply_release(xr, req, XPRT_RDMA_HOLD_FENCE);
}

/* Stands in for a completion that the device has lost (client_lose_fence, see fail.h) */
static void xprt_rdma_frwr_wc_lost(struct ib_cq *cq, struct ib_wc *wc)
{
}

/* Invalidates the regions that an RPC still has. It has some, unless closing the connection has
 * just removed them.
 *
 * One chain of work requests has an invalidation for each region. The send queue works in order,
 * so the completion of the last invalidation shows that all of them have completed. xr_lock
 * prevents xprt_rdma_frwr_destroy_all() from destroying the regions while the chain is being
 * built, so %XPRT_RDMA_HOLD_FENCE is set before xprt_rdma_req_reset_all() clears it.
 *
 * Context: process or completion; does not sleep.
 */
static void xprt_rdma_frwr_local_inv(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	struct ib_send_wr *first = NULL;
	struct xprt_rdma_mr *mr;
	u32 n = 0;

	req->rr_inv_cqe.done = rpcrdma_fails(client_lose_fence) ?
			       xprt_rdma_frwr_wc_lost :
			       xprt_rdma_frwr_wc_fenced;
	spin_lock(&xr->xr_lock);
	list_for_each_entry(mr, &req->rr_mrs, mr_list) {
		memset(&mr->mr_inv, 0, sizeof(mr->mr_inv));
		mr->mr_inv.opcode = IB_WR_LOCAL_INV;
		if (!rpcrdma_fails(client_fail_inv))
			mr->mr_inv.ex.invalidate_rkey = mr->mr_seg.rs_handle;
		mr->mr_inv.next = first;
		if (first) {
			mr->mr_inv.wr_cqe = &mr->mr_cqe;
		} else {
			mr->mr_inv.wr_cqe = &req->rr_inv_cqe;
			mr->mr_inv.send_flags = IB_SEND_SIGNALED;
		}
		first = &mr->mr_inv;
		trace_xprt_rdma_mr_local_inv(mr, req);
		n++;
	}
	trace_xprt_rdma_fence(&req->rr_slot, n);
	if (first) {
		atomic_or(XPRT_RDMA_HOLD_FENCE, &req->rr_holds);
		rpcrdma_conn_post_awaited(&xr->xr_conn, first);
	}
	xr->xr_stats.cs_local_inv++;
	spin_unlock(&xr->xr_lock);
	rpcrdma_count_add(client_mrs_local_inv, n);
}

/**
 * xprt_rdma_reply_fence - end the server's access to an RPC's memory; complete the RPC now or later
 * @xr: transport
 * @req: RPC with its Reply, pinned
 *
 * If the connection breaks meanwhile, xprt_rdma_req_reset_all() takes the Reply away.
 *
 * Context: completion.
 * Return: false if the Reply has invalidated a handle that does not belong to this RPC. The server
 *	was not allowed to do that, and the connection must be closed (RFC 8797 4.1).
 */
bool xprt_rdma_reply_fence(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	const struct rpcrdma_msg_in *msg = req->rr_msg;
	int holds;

	if (msg->mi_invalidated &&
	    !xprt_rdma_frwr_remote_inv(xr, req, msg->mi_inv_rkey))
		return false;
	if (!list_empty(&req->rr_mrs))
		xprt_rdma_frwr_local_inv(xr, req);
	holds = atomic_read(&req->rr_holds);
	if (likely(!holds))
		xprt_rdma_reply_complete(xr, req);
	else if (holds & XPRT_RDMA_HOLD_SENDS)
		rpcrdma_send_cq_await_posted(&xr->xr_conn);
	return true;
}

static bool xprt_rdma_frwr_is_released(struct xprt_rdma *xr,
				       struct xprt_rdma_req *req)
{
	spinlock_t *lock = &xr->xr_xprt.reserve_lock;
	bool released;

	/* xprt_rdma_req_reset_all() clears rr_holds under this lock, and only then is a new
	 * connection made in the same memory. So xr_conn still is the connection of the RPC.
	 */
	spin_lock(lock);
	released = !atomic_read_acquire(&req->rr_holds);
	/* While a task waits, xprt_rdma_send_awaits() returns true. */
	if (!released)
		rpcrdma_send_cq_watch(&xr->xr_conn);
	spin_unlock(lock);
	return released;
}

/**
 * xprt_rdma_frwr_fence - wait until nobody uses the memory of an RPC that was given up
 * @xr: transport
 * @req: RPC that was given up: it ends without a Reply, after a signal or a timeout
 *
 * This ends the server's access to the RPC's regions, and waits for Sends that read its pages. If
 * the connection is lost meanwhile, it waits until xprt_rdma_req_reset_all() has cleared rr_holds.
 * The task that closes the connection never waits for an RPC, so this wait ends.
 *
 * Context: process; sleeps. The caller does not hold the send lock.
 */
void xprt_rdma_frwr_fence(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	while (rpcrdma_fails(client_hold_fence))
		msleep(20);
	if (!list_empty(&req->rr_mrs))
		xprt_rdma_frwr_local_inv(xr, req);
	wait_event(xr->xr_waitq, xprt_rdma_frwr_is_released(xr, req));
}
