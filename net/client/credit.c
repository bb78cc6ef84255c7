// SPDX-License-Identifier: GPL-2.0
/*
 * Client: credits.
 */
#include <rpcrdma/trace_xprt.h>
#include <rpcrdma/xprt_rdma.h>

/* There is room: each of them has a credit. */
static void xprt_rdma_req_owe(struct xprt_rdma *xr, u32 xid)
{
	xr->xr_owed[xr->xr_window.wn_owed] = xid;
	rpcrdma_window_owe(&xr->xr_window);
}

/* Each XID once: a server may send a Reply twice (V1-ERR-19). */
static bool xprt_rdma_req_repay(struct xprt_rdma *xr, u32 xid)
{
	u32 i, n = xr->xr_window.wn_owed;

	for (i = 0; i < n; i++) {
		if (xr->xr_owed[i] != xid)
			continue;
		xr->xr_owed[i] = xr->xr_owed[n - 1];
		return rpcrdma_window_repay(&xr->xr_window);
	}
	return false;
}

/**
 * xprt_rdma_req_release - an RPC ends: what becomes of its credit
 * @task: RPC with a slot; nothing can find it by its XID any more
 *
 * Usually it is free for the next Call. If the Reply has not come, the server
 * is still at work, and holds it (V1-CRD-06).
 *
 * Context: process; transport_lock held.
 */
void xprt_rdma_req_release(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma *xr = xprt_rdma_from(rqst->rq_xprt);

	lockdep_assert_held(&rqst->rq_xprt->transport_lock);

	/* See xprt_rdma_bc_fill(): it never had one. */
	if (bc_prealloc(rqst)) {
		rqst->rq_cong = 0;
		return;
	}
	if (rqst->rq_cong && xprt_rdma_req_from(rqst)->rr_sent) {
		rpcrdma_count(client_given_up);
		trace_xprt_rdma_given_up(rqst, task->tk_status);
		xprt_rdma_req_owe(xr, be32_to_cpu(rqst->rq_xid));
		xprt_rdma_set_cwnd(xr);
		/* A Reply from now on is a late one, and repays. */
		xprt_rdma_req_from(rqst)->rr_sent = false;
	}
	xprt_release_rqst_cong(task);
}

/* sunrpc lets the next RPC send when one ends that has a credit. So nobody takes
 * the one that is free now, and gives it back.
 */
static void xprt_rdma_req_wake_sender(struct rpc_xprt *xprt)
{
	struct rpc_rqst nobody = { .rq_xprt = xprt, .rq_cong = 1 };
	struct rpc_task task = { .tk_rqstp = &nobody };

	lockdep_assert_held(&xprt->transport_lock);

	xprt->cong += RPC_CWNDSCALE;
	xprt_release_rqst_cong(&task);
}

/**
 * xprt_rdma_req_late_reply - a Reply has come that no RPC waits for
 * @xr: transport
 * @xid: its XID
 *
 * It returns the credit of an RPC that was given up, and whoever waits for one is
 * woken (I18). Or the RPC is just being given up: then it is still in its slot,
 * has its credit, and wakes somebody when it gives that back.
 *
 * Context: process.
 * Return: true if such an RPC was waiting for a Reply.
 */
bool xprt_rdma_req_late_reply(struct xprt_rdma *xr, u32 xid)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;
	bool late = true;

	spin_lock(&xprt->reserve_lock);
	spin_lock(&xprt->transport_lock);
	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		if (req->rr_sent && be32_to_cpu(req->rr_slot.rq_xid) == xid) {
			req->rr_sent = false;
			goto out_unlock;
		}
	}
	late = xprt_rdma_req_repay(xr, xid);
	if (late) {
		rpcrdma_count(client_late_replies);
		xprt_rdma_set_cwnd(xr);
		xprt_rdma_req_wake_sender(xprt);
	}
out_unlock:
	spin_unlock(&xprt->transport_lock);
	spin_unlock(&xprt->reserve_lock);
	return late;
}
