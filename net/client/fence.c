// SPDX-License-Identifier: GPL-2.0
/*
 * Client: fences. A fence ends the server's access to the memory of an RPC, before the upper
 * layer gets that memory back.
 *
 * This file decides when a region whose registration was posted goes from its RPC back to the
 * pool of frwr.c.
 *
 * Operation
 *
 * A region whose registration was posted returns to the pool when the server has invalidated
 * it (Send With Invalidate) or when a local invalidation has completed. Otherwise it is
 * destroyed with the connection. Its pages are unmapped just before it returns to the pool or
 * is destroyed, never earlier. An RPC is completed only when it has no regions (invariant I2; RFC
 * 8166 4.4.1, 8.1). If an invalidation cannot be posted or fails, the
 * connection is declared broken. The task that closes the connection destroys the queue pair, which
 * ends the server's access, and then the regions. The RPC ends or is sent again only after that.
 *
 * The send queue entry for invalidating a region was reserved when the RPC was sent,
 * and is released together with the region. So an invalidation never waits for an entry
 * (invariant I4).
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <rpcrdma/fail.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Unmaps a region that the server can no longer access, and returns it to the pool. */
static inline void xprt_rdma_frwr_mr_put(struct xprt_rdma_mr *mr)
{
	struct xprt_rdma *xr = mr->mr_xprt;

	xprt_rdma_frwr_mr_unmap(mr);
	spin_lock(&xr->xr_mr_lock);
	list_move(&mr->mr_list, &xr->xr_mr_free);
	spin_unlock(&xr->xr_mr_lock);
}

/**
 * xprt_rdma_frwr_remote_inv - take back a region that the server has invalidated
 * @xr: transport
 * @req: RPC whose Reply came by Send With Invalidate; pinned
 * @handle: handle that the server has invalidated
 *
 * Context: completion.
 * Return: true if the region has been returned to the pool; false if the handle does not
 *	belong to this RPC. In that case the server was not allowed to invalidate it, and
 *	the connection must be closed (RFC 8797 4.1).
 */
bool xprt_rdma_frwr_remote_inv(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			       u32 handle)
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
	rpcrdma_send_cq_seen(&xr->xr_conn);
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

/**
 * xprt_rdma_frwr_local_inv - invalidate the regions that an RPC still has
 * @xr: transport
 * @req: RPC that is pinned, or that ends without a Reply. It has regions, unless closing the
 *	connection has just removed them
 *
 * One chain of work requests has an invalidation for each region. The send queue works in order,
 * so the completion of the last invalidation shows that all of them have completed. xr_mr_lock
 * prevents xprt_rdma_frwr_destroy_all() from destroying the regions while the chain is being
 * built, so %XPRT_RDMA_HOLD_FENCE is set before xprt_rdma_req_reset_all() clears it.
 *
 * Context: process or completion; does not sleep.
 */
void xprt_rdma_frwr_local_inv(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	struct ib_send_wr *first = NULL;
	struct xprt_rdma_mr *mr;
	u32 n = 0;

	req->rr_inv_cqe.done = rpcrdma_fails(client_lose_fence) ?
			       xprt_rdma_frwr_wc_lost :
			       xprt_rdma_frwr_wc_fenced;
	spin_lock(&xr->xr_mr_lock);
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
	spin_unlock(&xr->xr_mr_lock);
	rpcrdma_count_add(client_mrs_local_inv, n);
}

static bool xprt_rdma_frwr_is_released(struct xprt_rdma *xr,
				       struct xprt_rdma_req *req)
{
	if (!atomic_read_acquire(&req->rr_holds))
		return true;
	/* While a task waits, xprt_rdma_send_awaits() returns true. */
	rpcrdma_send_cq_watch(&xr->xr_conn);
	return false;
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
