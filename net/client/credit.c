// SPDX-License-Identifier: GPL-2.0
/*
 * Client: credits, and what sunrpc keeps of them. The twin of server/credit.c.
 *
 * This file owns the window (xr_window, xr_owed), and is the only one that writes
 * what sunrpc has of it. It never sends, and never ends an RPC or a connection.
 *
 * The contract with sunrpc
 *
 * Credits are sunrpc's congestion control, of which the transport operations name
 * xprt_reserve_xprt_cong() and xprt_release_xprt_cong(). All but the cookies is under
 * transport_lock. The cookie of a connection changes with the send lock held.
 *
 *	xprt->cwnd		what the server grants, less what is owed, in units
 *				of RPC_CWNDSCALE. sunrpc changes it in
 *				xprt_adjust_cwnd() only, which is never called
 *	xprt->cong		credits used by RPCs that sunrpc has, in that unit
 *	rqst->rq_cong		this RPC has one of them
 *	xprt->connect_cookie	the number of the connection; what was sent on another
 *				one is lost
 *	rqst->rq_connect_cookie	the connection that the RPC was sent on, or none: then
 *				sunrpc sends it again
 *
 * An RPC takes its credit in xprt_request_get_cong(): called by sunrpc when it looks
 * for an RPC that may send, and by xprt_rdma_credit_take(). It gives it back in
 * xprt_release_rqst_cong(), which does nothing if there is none, and else wakes the
 * next one that waits. When an RPC ends, sunrpc calls xprt_rdma_credit_release(), which
 * decides; so a credit is used until then, though the Reply has come before.
 *
 * sunrpc sets rq_connect_cookie before an RPC is sent, and after; and looks at it,
 * under queue_lock, when the RPC begins to wait for its Reply. It adds one to
 * connect_cookie before it closes a connection that is idle or was given up.
 *
 * A Call that is a group has credits beyond its first, of which sunrpc knows nothing:
 * what it is told of the grant is less as long as they are in use. It may have Receives
 * beyond the first, too. Both are taken at once before anything of the Call is posted
 * (I38), and come back, or stay, with the first credit.
 *
 * A callback has no credit. sunrpc would have its Reply wait for one all the same, so
 * xprt_rdma_bc_fill() sets its rq_cong: that is the one exception.
 */
#include "trace.h"
#include "xprt_rdma.h"

/* Tell sunrpc what the window allows. */
static void xprt_rdma_credit_set_locked(struct xprt_rdma *xr)
{
	lockdep_assert_held(&xr->xr_xprt.transport_lock);

	xr->xr_xprt.cwnd = rpcrdma_window_room(&xr->xr_window, 0) <<
			   RPC_CWNDSHIFT;
}

/**
 * xprt_rdma_credit_begin - a connection begins
 * @xr: transport whose connection has its sizes
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_credit_begin(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	spin_lock(&xprt->transport_lock);
	rpcrdma_window_reset(&xr->xr_window, xr->xr_sizes.cz_requests);
	xprt_rdma_credit_set_locked(xr);
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprt_rdma_credit_reset_locked - no RPC has a credit any more
 * @xr: transport whose connection has no queues any more
 *
 * Credits belong to a connection: RPCs that are going to be sent again must
 * take theirs anew, one by one at first (RFC 8166 3.3.3; invariant I16).
 *
 * Context: process. Send lock, reserve_lock and transport_lock held.
 */
void xprt_rdma_credit_reset_locked(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;

	lockdep_assert_held(&xprt->reserve_lock);
	lockdep_assert_held(&xprt->transport_lock);

	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		req->rr_slot.rq_cong = 0;
		memset(&req->rr_extra, 0, sizeof(req->rr_extra));
	}
	xr->xr_spare_free = 0;
	xprt->cong = 0;
	rpcrdma_window_reset(&xr->xr_window, xr->xr_window.wn_requested);
	xprt_rdma_credit_set_locked(xr);
}

/**
 * xprt_rdma_credit_grant - the server grants so many credits
 * @xr: transport
 * @credit: as received, any value
 * @error: by an error, which does not open the window (G-15)
 *
 * Context: completion.
 */
void xprt_rdma_credit_grant(struct xprt_rdma *xr, u32 credit, bool error)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	bool changed;

	spin_lock(&xprt->transport_lock);
	if (error)
		changed = rpcrdma_window_grant_error(&xr->xr_window, credit);
	else
		changed = rpcrdma_window_grant(&xr->xr_window, credit);
	if (changed)
		xprt_rdma_credit_set_locked(xr);
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprt_rdma_credit_add_spare - there are Receives for Replies that take several
 * @xr: transport
 * @recvs: how many more; they are posted
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_credit_add_spare(struct xprt_rdma *xr, u32 recvs)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	xr->xr_spare_free += recvs;
	spin_unlock(&xr->xr_xprt.transport_lock);
}

/* Calls that have a credit, and somebody who waits for them */
static u32 xprt_rdma_credit_calls_locked(const struct xprt_rdma *xr)
{
	return xr->xr_xprt.cong >> RPC_CWNDSHIFT;
}

/**
 * xprt_rdma_credit_see_extra - what may a Call have that is a group?
 * @xr: transport
 * @most: OUT: credits and Receives that there are now
 *
 * Only a grant that shrinks makes it less, while the send lock is held.
 *
 * Context: process. Send lock held; the Call has its first credit.
 */
void xprt_rdma_credit_see_extra(struct xprt_rdma *xr,
				struct xprt_rdma_extra *most)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	most->ex_credits =
		rpcrdma_window_more(&xr->xr_window,
				    xprt_rdma_credit_calls_locked(xr));
	most->ex_recvs = xr->xr_spare_free;
	spin_unlock(&xr->xr_xprt.transport_lock);
}

/**
 * xprt_rdma_credit_take_extra - take credits and Receives for a group
 * @xr: transport
 * @req: the Call; it has its first credit, and none beyond
 * @extra: what it wants
 *
 * Context: process. Send lock held.
 * Return: true if it has all of it; false if it has nothing (RTX-78).
 */
bool xprt_rdma_credit_take_extra(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req,
				 const struct xprt_rdma_extra *extra)
{
	bool taken;

	spin_lock(&xr->xr_xprt.transport_lock);
	taken = extra->ex_recvs <= xr->xr_spare_free &&
		rpcrdma_window_take_more(&xr->xr_window,
					 xprt_rdma_credit_calls_locked(xr),
					 extra->ex_credits);
	if (taken) {
		req->rr_extra = *extra;
		xr->xr_spare_free -= extra->ex_recvs;
		xprt_rdma_credit_set_locked(xr);
	}
	spin_unlock(&xr->xr_xprt.transport_lock);
	return taken;
}

static void xprt_rdma_credit_drop_extra_locked(struct xprt_rdma *xr,
					       struct xprt_rdma_extra *extra)
{
	lockdep_assert_held(&xr->xr_xprt.transport_lock);

	xr->xr_spare_free += extra->ex_recvs;
	if (rpcrdma_window_give_more(&xr->xr_window, extra->ex_credits))
		xprt_rdma_credit_set_locked(xr);
	memset(extra, 0, sizeof(*extra));
}

/**
 * xprt_rdma_credit_drop_extra - a Call is no group after all
 * @xr: transport
 * @req: the Call, of which nothing was posted; it keeps its first credit
 *
 * Nobody has to be woken: whoever holds the send lock sends on.
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_credit_drop_extra(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	xprt_rdma_credit_drop_extra_locked(xr, &req->rr_extra);
	spin_unlock(&xr->xr_xprt.transport_lock);
}

/**
 * xprt_rdma_credit_give_back - an RPC is not in flight any more
 * @task: RPC that is to be sent again
 *
 * Context: process or completion.
 */
void xprt_rdma_credit_give_back(struct rpc_task *task)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(task->tk_rqstp);
	struct rpc_xprt *xprt = task->tk_rqstp->rq_xprt;

	spin_lock(&xprt->transport_lock);
	xprt_rdma_credit_drop_extra_locked(xprt_rdma_from(xprt),
					   &req->rr_extra);
	xprt_release_rqst_cong(task);
	spin_unlock(&xprt->transport_lock);
}

/* There is room: each of them has a credit. Those beyond stay with it (RTX-100). */
static void xprt_rdma_credit_owe(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	struct xprt_rdma_owed *owed = &xr->xr_owed[xr->xr_window.wn_owed];

	owed->ow_xid = be32_to_cpu(req->rr_slot.rq_xid);
	owed->ow_extra = req->rr_extra;
	memset(&req->rr_extra, 0, sizeof(req->rr_extra));
	rpcrdma_window_owe(&xr->xr_window);
}

/* Each XID once: a server may send a Reply twice (RFC 8166 4.2.1). */
static bool xprt_rdma_credit_repay(struct xprt_rdma *xr, u32 xid)
{
	u32 i, n = xr->xr_window.wn_owed;

	for (i = 0; i < n; i++) {
		if (xr->xr_owed[i].ow_xid != xid)
			continue;
		xprt_rdma_credit_drop_extra_locked(xr,
						   &xr->xr_owed[i].ow_extra);
		xr->xr_owed[i] = xr->xr_owed[n - 1];
		return rpcrdma_window_repay(&xr->xr_window);
	}
	return false;
}

/**
 * xprt_rdma_credit_release - an RPC ends: what becomes of its credit
 * @task: RPC with a slot; nothing can find it by its XID any more
 *
 * Usually it is free for the next Call. If the Reply has not come, the server
 * is still at work, and holds it (RFC 8166 3.3.1).
 *
 * Context: process; transport_lock held.
 */
void xprt_rdma_credit_release(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma *xr = xprt_rdma_from(rqst->rq_xprt);
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	lockdep_assert_held(&rqst->rq_xprt->transport_lock);

	/* See xprt_rdma_bc_fill(): it never had one. */
	if (bc_prealloc(rqst)) {
		rqst->rq_cong = 0;
		return;
	}
	if (rqst->rq_cong && req->rr_sent) {
		rpcrdma_count(client_given_up);
		trace_xprt_rdma_given_up(rqst, task->tk_status);
		xprt_rdma_credit_owe(xr, req);
		xprt_rdma_credit_set_locked(xr);
		/* A Reply from now on is a late one, and repays. */
		req->rr_sent = false;
	}
	xprt_rdma_credit_drop_extra_locked(xr, &req->rr_extra);
	xprt_release_rqst_cong(task);
}

/* sunrpc lets the next RPC send when an RPC that has a credit ends. So take the
 * credit that is free now in the name of no RPC, and give it back.
 */
static void xprt_rdma_credit_wake_sender(struct rpc_xprt *xprt)
{
	struct rpc_rqst nobody = { .rq_xprt = xprt, .rq_cong = 1 };
	struct rpc_task task = { .tk_rqstp = &nobody };

	lockdep_assert_held(&xprt->transport_lock);

	xprt->cong += RPC_CWNDSCALE;
	xprt_release_rqst_cong(&task);
}

/**
 * xprt_rdma_credit_late_reply - a Reply has come that no RPC waits for
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
bool xprt_rdma_credit_late_reply(struct xprt_rdma *xr, u32 xid)
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
	late = xprt_rdma_credit_repay(xr, xid);
	if (late) {
		rpcrdma_count(client_late_replies);
		xprt_rdma_credit_set_locked(xr);
		xprt_rdma_credit_wake_sender(xprt);
	}
out_unlock:
	spin_unlock(&xprt->transport_lock);
	spin_unlock(&xprt->reserve_lock);
	return late;
}
