// SPDX-License-Identifier: GPL-2.0
/*
 * Client, stage 5: Replies. Decode, match, fence, place, wake.
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
 * The Receive is held until its inline part has been copied. If the connection
 * breaks before the fence is up, the rpc_rqst is unpinned and nothing else: it
 * will be sent again on the next connection.
 */
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/trace_xprt.h>
#include <rpcrdma/xprt_rdma.h>

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

/* Puts the inline part of the Reply where the upper layer looks for it. The
 * stream is head, pages, tail without a gap. An item that came by RDMA is in
 * the pages already; the stream continues behind it and its roundup.
 */
static int xprt_rdma_reply_place(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	struct xdr_buf buf = req->rr_slot.rq_rcv_buf;
	u8 *from = req->rr_recv->rv_buf.bf_data + req->rr_reply_off;
	u32 head = min_t(u32, buf.head[0].iov_len, req->rr_reply_len);
	u32 rest = req->rr_reply_len - head;
	u32 item = xdr_align_size(req->rr_reply_written);

	buf.len = buf.head[0].iov_len + buf.page_len + buf.tail[0].iov_len;
	if (head + item + rest > xdr_align_size(buf.len))
		return -EIO;
	memcpy(buf.head[0].iov_base, from, head);
	if (rest && write_bytes_to_xdr_buf(&buf, head + item, from + head,
					   rest))
		return -EIO;
	if (item)
		xprt_rdma_reply_trim_head(&req->rr_slot, head);

	xr->xr_stats.st_fixup += rest;
	xr->xr_stats.st_bytes_in += req->rr_reply_written;
	return head + item + rest;
}

static int xprt_rdma_reply_finish(struct xprt_rdma *xr,
				  struct xprt_rdma_req *req)
{
	if (req->rr_reply_status)
		return req->rr_reply_status;
	if (req->rr_reply_off)
		return xprt_rdma_reply_place(xr, req);
	/* The whole Reply is in the Reply chunk, that is, in rq_rcv_buf. */
	xr->xr_stats.st_bytes_in += req->rr_reply_written;
	return req->rr_reply_written;
}

/* The RPC's memory is ours again: finish it. */
static void xprt_rdma_reply_complete(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_recv *recv = req->rr_recv;
	int copied;

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));	/* I2 */

	copied = xprt_rdma_reply_finish(xr, req);
	if (copied < 0) {
		rpcrdma_count(client_bad_replies);
		xr->xr_stats.st_bad_replies++;
		/* A task that is not asleep yet forgets this status and would
		 * send the Call again: rr_doomed stops that (G-12).
		 */
		req->rr_doomed = true;
		rqst->rq_task->tk_status = -EIO;
		copied = 0;
	}
	trace_xprt_rdma_reply(req);

	/* First the Receive: sunrpc may send the next Call at once, and that
	 * one's Reply must find it posted (V1-CRD-10).
	 */
	req->rr_recv = NULL;
	rpcrdma_recv_put(recv);

	spin_lock(&xprt->queue_lock);
	xprt_complete_rqst(rqst->rq_task, copied);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
}

/* The connection broke under the fence: leave the RPC to be sent again. */
static void xprt_rdma_reply_forsake(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	rpcrdma_recv_put(req->rr_recv);
	req->rr_recv = NULL;
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

	if (likely(wc->status == IB_WC_SUCCESS)) {
		xprt_rdma_frwr_release(xr, req);
		xprt_rdma_reply_complete(xr, req);
		return;
	}
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_xprt_rdma_mr_err(xr, wc);
	rpcrdma_conn_fail(&xr->xr_conn, -ECONNRESET);
	xprt_rdma_reply_forsake(xr, req);
}

/* Returns false if the connection has to go because of @recv. */
static bool xprt_rdma_reply_fence(struct xprt_rdma *xr,
				  struct xprt_rdma_req *req,
				  const struct rpcrdma_recv *recv)
{
	if (recv->rv_invalidated &&
	    !xprt_rdma_frwr_remote_inv(xr, req, recv->rv_inv_rkey)) {
		rpcrdma_count(client_bad_invalidations);
		trace_xprt_rdma_bad_invalidation(xr, recv->rv_inv_rkey);
		rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
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
	if (hdr->hd_proc == RPCRDMA1_NOMSG) {
		req->rr_reply_off = 0;
		req->rr_reply_len = 0;
		req->rr_reply_written = reply_len;
	} else {
		req->rr_reply_off = hdr->hd_length;
		req->rr_reply_len = hdr->hd_msg_len;
		req->rr_reply_written = written;
	}
	return RPCRDMA_OK;
}

static void xprt_rdma_reply_assess(struct xprt_rdma_req *req,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict)
{
	req->rr_reply_off = 0;
	req->rr_reply_len = 0;
	req->rr_reply_written = 0;
	req->rr_reply_status = 0;

	if (verdict == RPCRDMA_OK && hdr->hd_proc == RPCRDMA1_ERROR) {
		rpcrdma_count(client_error_replies);
		trace_xprt_rdma_error_reply(hdr, hdr->hd_err);
		req->rr_reply_status = -EREMOTEIO;
		return;
	}
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
	struct rpc_xprt *xprt = &xr->xr_xprt;
	bool changed;

	if (verdict != RPCRDMA_OK)
		return;
	if (likely(xr->xr_window.wn_opened &&
		   xr->xr_window.wn_granted == hdr->hd_credit))
		return;

	spin_lock(&xprt->transport_lock);
	if (hdr->hd_proc == RPCRDMA1_ERROR)
		changed = rpcrdma_window_grant_error(&xr->xr_window,
						     hdr->hd_credit);
	else
		changed = rpcrdma_window_grant(&xr->xr_window, hdr->hd_credit);
	if (changed)
		xprt_rdma_set_cwnd(xr);
	spin_unlock(&xprt->transport_lock);
}

/* An RPC that was queued, but not sent on this connection, can have no Reply;
 * and a second Reply may overtake the fence of the first (invariant I7).
 */
static bool xprt_rdma_reply_awaited(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req)
{
	bool awaited;

	spin_lock(&xr->xr_send_lock);
	awaited = req->rr_sent;
	req->rr_sent = false;
	spin_unlock(&xr->xr_send_lock);
	return awaited;
}

static struct xprt_rdma_req *xprt_rdma_reply_match(struct xprt_rdma *xr,
						   u32 xid)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req = NULL;
	struct rpc_rqst *rqst;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (rqst && xprt_rdma_reply_awaited(xr, xprt_rdma_req_from(rqst))) {
		req = xprt_rdma_req_from(rqst);
		xprt_pin_rqst(rqst);
	}
	spin_unlock(&xprt->queue_lock);
	return req;
}

static void xprt_rdma_reply_handle(struct xprt_rdma *xr,
				   struct rpcrdma_recv *recv,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict)
{
	struct xprt_rdma_req *req;

	req = xprt_rdma_reply_match(xr, hdr->hd_xid);
	if (!req) {
		rpcrdma_count(client_unknown_xids);
		trace_xprt_rdma_unknown_xid(hdr, verdict);
		if (verdict == RPCRDMA_OK)
			xprt_rdma_req_late_reply(xr, hdr->hd_xid);
		rpcrdma_recv_put(recv);
		return;
	}
	req->rr_recv = recv;
	xprt_rdma_reply_credit(xr, hdr, verdict);
	xprt_rdma_reply_assess(req, hdr, verdict);
	if (!xprt_rdma_reply_fence(xr, req, recv))
		xprt_rdma_reply_forsake(xr, req);
}

/**
 * xprt_rdma_reply_receive - a message has arrived
 * @conn: connection
 * @recv: the message; given back when it is dealt with
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_receive(struct rpcrdma_conn *conn,
			     struct rpcrdma_recv *recv)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);
	enum rpcrdma_verdict verdict;
	struct rpcrdma_hdr hdr;

	rpcrdma_count(client_receives);
	/* The peer is alive: the next reconnect need not be delayed. */
	if (xr->xr_xprt.reestablish_timeout)
		xr->xr_xprt.reestablish_timeout = 0;

	verdict = rpcrdma1_decode_reply(recv->rv_buf.bf_data, recv->rv_len,
					&hdr);
	trace_xprt_rdma_receive(&hdr, verdict);
	switch (verdict) {
	case RPCRDMA_DISCARD_SHORT:
	case RPCRDMA_DISCARD_DONE:
	case RPCRDMA_DISCARD_ERROR:
		rpcrdma_count(client_short_messages);
		trace_xprt_rdma_discard(&hdr, verdict);
		rpcrdma_recv_put(recv);
		break;
	case RPCRDMA_BACKWARD_CALL:
		xprt_rdma_bc_receive(xr, recv, &hdr);
		break;
	case RPCRDMA_BAD_VERS:
		rpcrdma_count(client_bad_versions);
		fallthrough;
	default:
		xprt_rdma_reply_handle(xr, recv, &hdr, verdict);
		break;
	}
}
