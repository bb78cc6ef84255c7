// SPDX-License-Identifier: GPL-2.0
/*
 * Client: fences. An RPC's memory is taken back from the server before anybody
 * reads it.
 *
 * This file decides when a region goes from its RPC back to the pool of frwr.c. It
 * never completes an RPC: what comes after the fence is the caller's.
 *
 * Operation
 *
 * A region comes back when the server has invalidated it (Send With
 * Invalidate), or by a local invalidation, or with the connection. Only then
 * are its pages unmapped: an RPC is completed with rr_mrs empty, never before
 * (invariant I2; RFC 8166 4.4.1, 8.1). When invalidation cannot be posted or is
 * flushed, the connection is down; its queue pair is in the error state and
 * the regions are destroyed by whoever closes the connection, which the RPC
 * waits for.
 *
 * The send queue entry for invalidating a region was reserved when the RPC was
 * sent, and is released with the region. So invalidation never has to wait
 * (invariant I4).
 */
#include <linux/sched.h>
#include <linux/wait.h>
#include <rpcrdma/fail.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Unmaps a region that the server can no longer reach, and pools it. */
static inline void xprt_rdma_frwr_mr_put(struct xprt_rdma_mr *mr)
{
	struct xprt_rdma *xr = mr->mr_xprt;

	xprt_rdma_frwr_mr_unmap(mr);
	spin_lock(&xr->xr_mr_lock);
	list_move(&mr->mr_list, &xr->xr_mr_free);
	spin_unlock(&xr->xr_mr_lock);
}

/**
 * xprt_rdma_frwr_remote_inv - the server has invalidated a handle
 * @xr: transport
 * @req: RPC whose Reply came by Send With Invalidate; pinned
 * @handle: the handle
 *
 * Context: completion.
 * Return: true; or false if the handle is none of this RPC's: then the peer
 *	has taken away what it had no right to, and the connection must go
 *	(RFC 8797 4.1).
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
		xprt_rdma_sq_release(xr, 1);
		return true;
	}
	return false;
}

static u32 xprt_rdma_frwr_inv_handle(const struct xprt_rdma_mr *mr)
{
	if (rpcrdma_fail_inv())
		return 0;
	return mr->mr_seg.rs_handle;
}

/**
 * xprt_rdma_frwr_local_inv - invalidate what is left of an RPC's regions
 * @xr: transport
 * @req: RPC with at least one region, pinned or abandoned
 * @done: completion handler; finds the RPC by rr_inv_cqe
 *
 * The send queue works in order, so the completion of the last request is the
 * completion of all. The lock keeps the regions from being destroyed, with
 * their connection, while an abandoned RPC's chain is being built.
 *
 * Of a connection that breaks, a provider may lose completions, or have one twice
 * (siw does either). So @done begins with xprt_rdma_frwr_fence_ends(), and
 * closing calls it for what is left.
 *
 * Context: any that may take a lock; does not sleep.
 * Return: 0 and @done is called, once; or a negative errno, the connection is
 *	down, and closing it disposes of the regions.
 */
int xprt_rdma_frwr_local_inv(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_send_wr *first = NULL;
	struct xprt_rdma_mr *mr;
	int rc = -ENOTCONN;
	u32 n = 0;

	req->rr_inv_cqe.done = done;
	spin_lock(&xr->xr_mr_lock);
	list_for_each_entry(mr, &req->rr_mrs, mr_list) {
		memset(&mr->mr_inv, 0, sizeof(mr->mr_inv));
		mr->mr_inv.opcode = IB_WR_LOCAL_INV;
		mr->mr_inv.ex.invalidate_rkey = xprt_rdma_frwr_inv_handle(mr);
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
		atomic_set(&req->rr_fencing, 1);
		rc = rpcrdma_conn_post(&xr->xr_conn, first);
		/* A provider may have posted all of it, and then failed */
		if (unlikely(rc) && !atomic_xchg(&req->rr_fencing, 0))
			rc = 0;
	}
	xr->xr_stats.cs_local_inv++;
	spin_unlock(&xr->xr_mr_lock);
	rpcrdma_count_add(client_mrs_local_inv, n);
	return rc;
}

/**
 * xprt_rdma_frwr_fence_ends - the last local invalidation has completed
 * @req: RPC, found by rr_inv_cqe
 *
 * Context: completion, or closing.
 * Return: true; or false if that has been dealt with, and nothing is left to do.
 */
bool xprt_rdma_frwr_fence_ends(struct xprt_rdma_req *req)
{
	if (rpcrdma_fail_fence())
		return false;
	return atomic_xchg(&req->rr_fencing, 0);
}

/**
 * xprt_rdma_frwr_fence_fails - the last local invalidation completed with an error
 * @xr: transport
 * @req: RPC, found by rr_inv_cqe
 * @wc: the completion, which has told xprt_rdma_frwr_fence_ends()
 *
 * The request is that of the first region. Draining may destroy it only when it has
 * completed.
 *
 * Context: completion, or closing. The connection goes.
 */
void xprt_rdma_frwr_fence_fails(struct xprt_rdma *xr, struct xprt_rdma_req *req,
				const struct ib_wc *wc)
{
	struct xprt_rdma_mr *mr;

	mr = list_first_entry_or_null(&req->rr_mrs, struct xprt_rdma_mr,
				      mr_list);
	if (mr && wc->status != IB_WC_WR_FLUSH_ERR)
		trace_xprt_rdma_mr_err(xr, &mr->mr_cid, wc);
	rpcrdma_conn_fail(&xr->xr_conn, -ECONNRESET);
}

/**
 * xprt_rdma_frwr_fence_lost - a completion that did not come
 * @req: RPC with rr_fencing set, whose connection has no queues any more
 *
 * Context: process.
 */
void xprt_rdma_frwr_fence_lost(struct xprt_rdma_req *req)
{
	struct ib_wc wc = {
		.wr_cqe = &req->rr_inv_cqe,
		.status = IB_WC_WR_FLUSH_ERR,
	};

	rpcrdma_count(client_lost_fences);
	req->rr_inv_cqe.done(NULL, &wc);
}

/**
 * xprt_rdma_frwr_release - pool the regions of an RPC after invalidation
 * @xr: transport
 * @req: RPC whose local invalidation has completed successfully
 *
 * Context: completion.
 */
void xprt_rdma_frwr_release(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	struct xprt_rdma_mr *mr, *next;
	u32 n = 0;

	list_for_each_entry_safe(mr, next, &req->rr_mrs, mr_list) {
		xprt_rdma_frwr_mr_put(mr);
		n++;
	}
	xprt_rdma_sq_release(xr, n);
}

static void xprt_rdma_frwr_wc_fenced(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_req *req = container_of(wc->wr_cqe,
						 struct xprt_rdma_req,
						 rr_inv_cqe);
	struct xprt_rdma *xr = xprt_rdma_from(req->rr_slot.rq_xprt);

	if (!xprt_rdma_frwr_fence_ends(req))
		return;
	if (wc->status == IB_WC_SUCCESS)
		xprt_rdma_frwr_release(xr, req);
	else
		xprt_rdma_frwr_fence_fails(xr, req, wc);
	complete(&req->rr_fenced);
}

static bool xprt_rdma_frwr_is_fenced(struct xprt_rdma *xr,
				     struct xprt_rdma_req *req)
{
	bool fenced;

	spin_lock(&xr->xr_mr_lock);
	fenced = list_empty(&req->rr_mrs);
	spin_unlock(&xr->xr_mr_lock);
	return fenced;
}

/**
 * xprt_rdma_frwr_fence - take an abandoned RPC's memory away from the server
 * @xr: transport
 * @req: RPC that ends without a Reply: a signal, a timeout
 *
 * If the connection is lost meanwhile, its closing does the job, and this
 * waits for that. Closing never waits for an RPC, so the wait ends.
 *
 * Context: process; sleeps. The caller does not hold the send lock.
 */
void xprt_rdma_frwr_fence(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	rpcrdma_fail_hold_fence();
	reinit_completion(&req->rr_fenced);
	if (rpcrdma_conn_is_up(&xr->xr_conn) &&
	    !xprt_rdma_frwr_local_inv(xr, req, xprt_rdma_frwr_wc_fenced))
		wait_for_completion(&req->rr_fenced);
	wait_event(xr->xr_teardown, xprt_rdma_frwr_is_fenced(xr, req));
}
