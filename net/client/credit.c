// SPDX-License-Identifier: GPL-2.0
/*
 * Client: credits, and sunrpc's variables for them. The server's counterpart is
 * server/credit.c.
 *
 * This file owns the window (xr_window, xr_owed). In this module, only this file and its inline
 * functions in xprt_rdma.h write sunrpc's variables for credits, except for callbacks (see the
 * last paragraph). The file never sends, and never ends an RPC or a connection.
 *
 * The contract with sunrpc
 *
 * Credits use sunrpc's congestion control: the transport operations are
 * xprt_reserve_xprt_cong() and xprt_release_xprt_cong(). The following are sunrpc's variables.
 * transport_lock protects them, except the two cookies. connect_cookie changes only while
 * sunrpc's send lock (XPRT_LOCKED) is held.
 *
 *	xprt->cwnd		credits granted, minus the first credits of Calls whose
 *				RPCs were given up (wn_owed: the RPC ended before the Reply
 *				came), minus all credits that Calls use beyond their first
 *				(wn_more), but at least 0; in units of RPC_CWNDSCALE. 0
 *				while xprt_rdma_credit_drain() waits for Replies. Once
 *				the transport exists, sunrpc changes cwnd only in
 *				xprt_adjust_cwnd(), which nobody calls for this transport
 *	xprt->cong		credits used by sunrpc's RPCs, one for each, in the same unit
 *	rqst->rq_cong		1 if this RPC has a credit
 *	xprt->connect_cookie	number of the connection. A Call that was sent on an earlier
 *				connection gets no Reply any more
 *	rqst->rq_connect_cookie	number of the connection on which the RPC was sent. If it
 *				differs from connect_cookie, sunrpc sends the RPC again
 *
 * xprt_rdma_send_request() calls sunrpc's xprt_request_get_cong(), which gives an RPC its
 * credit. xprt_release_rqst_cong() takes the credit back and wakes the next RPC that waits
 * for one. It does nothing if the RPC has no credit. When an RPC ends, sunrpc calls
 * xprt_rdma_credit_release(), which decides what becomes of the credit. So an RPC keeps its
 * credit until it ends, even if its Reply came earlier. There are two exceptions. If the connection
 * ends, all RPCs lose their credits (xprt_rdma_credit_reset_locked()). And
 * xprt_rdma_credit_give_back() returns the credit of an RPC that is sent again after an error, and
 * xprt_rdma_credit_yield() that of an RPC that could not be sent for lack of memory.
 *
 * sunrpc sets rq_connect_cookie when the RPC gets its slot, when it waits for a connection,
 * and when it has been sent. When the RPC begins to wait for its Reply, sunrpc compares the
 * two cookies, under queue_lock. sunrpc adds one to connect_cookie before its work item
 * xprt_autoclose() closes a connection, for example because the connection is idle, or because
 * xprt_force_disconnect() was called.
 *
 * A Call that is a group (group.c) may have credits beyond its first. sunrpc does not know of
 * these credits, so cwnd is lowered as long as they are in use. The Call may also have
 * Receives beyond the first. These credits and Receives are taken together before any part
 * of the Call is posted (I38). In general, they are returned together with the first credit, or
 * stay in use with it if the RPC is given up. But if the group cannot be built, or does not
 * fit the send queue, they are returned before the first credit. And when the Reply has come, the
 * Receives are free for other Calls at once, even if the RPC has not ended yet (RTX-101).
 *
 * A callback takes no credit, but sunrpc would make its Reply wait for one. So
 * xprt_rdma_bc_fill(), in backchannel.c, sets rq_cong of a callback to 1.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/sched.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Time in jiffies after which a Call for which there was no memory is tried again, even if no other
 * RPC has ended
 */
#define XPRT_RDMA_AGAIN		(HZ / 4)

/* Tells sunrpc how many Calls the window allows at the same time. */
static void xprt_rdma_credit_set_locked(struct xprt_rdma *xr)
{
	u32 room = xr->xr_shut ? 0 : rpcrdma_window_room(&xr->xr_window, 0);

	lockdep_assert_held(&xr->xr_xprt.transport_lock);

	xr->xr_xprt.cwnd = room << RPC_CWNDSHIFT;
}

/**
 * xprt_rdma_credit_begin - reset the window for a new connection
 * @xr: transport whose connection has been sized (xr_sizes)
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
 * xprt_rdma_credit_reset_locked - take the credits back from all RPCs
 * @xr: transport whose connection no longer has queues
 *
 * Credits belong to a connection. RPCs that are sent again on the next connection must take
 * new credits, and at first only one is available (RFC 8166 3.3.3; invariant I16).
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
	xr->xr_shut = false;
	xprt->cong = 0;
	rpcrdma_window_reset(&xr->xr_window, xr->xr_window.wn_requested);
	xprt_rdma_credit_set_locked(xr);
}

/**
 * xprt_rdma_credit_grant - apply the server's grant
 * @xr: transport
 * @credit: credit value as received; may be any number
 * @error: true if the message is an error. Its grant is ignored until a message that is not an
 *	error has brought a grant on this connection (G-15).
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
 * xprt_rdma_credit_check - close the connection if no Call could ever be sent on it
 * @xr: transport
 *
 * If RPCs that ended without a Reply still use all credits, no Call can be sent. Their Replies may
 * never come, and no timer would detect that. So close the connection; sunrpc then makes a new
 * one. Credits that Calls use beyond their first (wn_more) may belong to an RPC that was not given
 * up, and become free when that RPC ends (RTX-81). So if wn_more is not 0, the connection is closed
 * only if no other RPC has a credit.
 *
 * Context: any. To be called when an RPC has ended or has returned its credits, or the grant was
 *	lowered without a Reply. transport_lock not held.
 */
void xprt_rdma_credit_check(struct xprt_rdma *xr)
{
	if (unlikely(!rpcrdma_window_room(&xr->xr_window, 0) &&
		     (!READ_ONCE(xr->xr_window.wn_more) ||
		      !READ_ONCE(xr->xr_xprt.cong))))
		xprt_force_disconnect(&xr->xr_xprt);
}

/**
 * xprt_rdma_credit_wanted - how many credits to ask for
 * @xr: transport
 *
 * A server of version 1 may take the first number that it sees for all that the client will ever
 * need.
 *
 * Context: any. The result may be out of date.
 * Return: in version 2, the number of credits that could be used now: by Calls in flight, and by
 *	those that wait to be sent; in version 1, the largest number.
 */
u32 xprt_rdma_credit_wanted(const struct xprt_rdma *xr)
{
	u32 most = xr->xr_window.wn_requested;

	if (!rpcrdma_vers_asks_for_need(READ_ONCE(xr->xr_vers)))
		return most;
	/* The Call that is being sent is in cong and in the queue. */
	return min_t(u64, most, (xr->xr_xprt.cong >> RPC_CWNDSHIFT) +
				xr->xr_window.wn_more + xr->xr_window.wn_owed +
				atomic_long_read(&xr->xr_xprt.xmit_queuelen) - 1);
}

/**
 * xprt_rdma_credit_see_extra - report the numbers of credits and Receives beyond the first that
 *	a Call may take if it is a group (rtx.h)
 * @xr: transport
 * @rtx: OUT: px_more and px_spare are the numbers of credits and spare Receives that the Call could
 *	take now
 *
 * While the send lock is held, these numbers shrink only if the grant shrinks.
 *
 * Context: process. Send lock held; the Call has its first credit.
 */
void xprt_rdma_credit_see_extra(struct xprt_rdma *xr,
				struct rpcrdma_plan_rtx *rtx)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	rtx->px_more = rpcrdma_window_more(&xr->xr_window,
					   xr->xr_xprt.cong >> RPC_CWNDSHIFT);
	rtx->px_spare = xr->xr_spare_free;
	spin_unlock(&xr->xr_xprt.transport_lock);
}

/**
 * xprt_rdma_credit_take_extra - take credits and Receives beyond the first for a Call that is
 *	a group (rtx.h)
 * @xr: transport
 * @req: the Call; it has its first credit, and no other
 * @extra: numbers of credits and spare Receives to take
 *
 * Context: process. Send lock held.
 * Return: true if the Call has all of them; false if it has none of them (RTX-78).
 */
bool xprt_rdma_credit_take_extra(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req,
				 const struct xprt_rdma_extra *extra)
{
	bool taken;

	spin_lock(&xr->xr_xprt.transport_lock);
	taken = extra->ex_recvs <= xr->xr_spare_free &&
		rpcrdma_window_take_more(&xr->xr_window,
					 xr->xr_xprt.cong >> RPC_CWNDSHIFT,
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

	if (likely(!extra->ex_credits && !extra->ex_recvs))
		return;
	xr->xr_spare_free += extra->ex_recvs;
	if (rpcrdma_window_give_more(&xr->xr_window, extra->ex_credits))
		xprt_rdma_credit_set_locked(xr);
	memset(extra, 0, sizeof(*extra));
}

/**
 * xprt_rdma_credit_drop_extra - give back a Call's credits and Receives beyond the first,
 *	because the Call is not sent now
 * @xr: transport
 * @req: the Call; no part of it was posted, and it keeps its first credit
 *
 * This wakes no RPC that waits for a credit. sunrpc does that later, when the Call returns its
 * first credit.
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
 * xprt_rdma_credit_drop_recvs - let other Calls have a Call's Receives beyond the first
 * @xr: transport
 * @req: the Call; its Reply, or an error, has come, and the Receives filled by that message
 *	have been released
 *
 * The RPC keeps its credits until it ends.
 *
 * Context: completion; the rpc_rqst is pinned.
 */
void xprt_rdma_credit_drop_recvs(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	if (likely(!req->rr_extra.ex_recvs))
		return;
	spin_lock(&xr->xr_xprt.transport_lock);
	xr->xr_spare_free += req->rr_extra.ex_recvs;
	req->rr_extra.ex_recvs = 0;
	spin_unlock(&xr->xr_xprt.transport_lock);
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_credit_drop_recvs);

/**
 * xprt_rdma_release_xprt - release the send lock
 * @xprt: transport
 * @task: RPC that has sent, or has not
 *
 * Context: process; transport_lock held.
 */
void xprt_rdma_release_xprt(struct rpc_xprt *xprt, struct rpc_task *task)
{
	xprt_release_xprt_cong(xprt, task);
	xprt_rdma_unlocked(xprt);
}

/* Returns the first credit of an RPC, if it has one. sunrpc then takes the send lock for the next
 * RPC that waits for it, or releases it at once.
 */
static void xprt_rdma_credit_return_locked(struct rpc_task *task)
{
	struct rpc_xprt *xprt = task->tk_rqstp->rq_xprt;

	lockdep_assert_held(&xprt->transport_lock);

	xprt_release_rqst_cong(task);
	xprt_rdma_unlocked(xprt);
	if (unlikely(xprt_rdma_from(xprt)->xr_shut) && !xprt->cong)
		wake_up_all(&xprt_rdma_from(xprt)->xr_waitq);
}

static void xprt_rdma_credit_give_back_locked(struct rpc_task *task)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(task->tk_rqstp);

	xprt_rdma_credit_drop_extra_locked(xprt_rdma_from(task->tk_rqstp->rq_xprt),
					   &req->rr_extra);
	xprt_rdma_credit_return_locked(task);
}

/**
 * xprt_rdma_credit_give_back - give back the credits of an RPC that is not in flight, and its
 *	Receives beyond the first
 * @task: the RPC; sunrpc will send it later
 *
 * Context: process or completion.
 */
void xprt_rdma_credit_give_back(struct rpc_task *task)
{
	struct rpc_xprt *xprt = task->tk_rqstp->rq_xprt;

	spin_lock(&xprt->transport_lock);
	xprt_rdma_credit_give_back_locked(task);
	spin_unlock(&xprt->transport_lock);
	xprt_rdma_credit_check(xprt_rdma_from(xprt));
}

/* Frees the credits that a given-up RPC with this XID still uses. Returns false if there is no
 * such RPC, for example because the server has sent the Reply twice, and the first Reply has
 * already freed the credits.
 */
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
 * xprt_rdma_credit_release - release the credit of an RPC that ends
 * @task: RPC with a slot; it can no longer be found by its XID
 *
 * If the Reply has come, or the Call was never posted, the next Call can use the credit.
 * Otherwise the server may still be processing the Call, so the credit stays in use until the
 * Reply comes or the connection ends (wn_owed; RFC 8166 3.3.1).
 *
 * Context: process; transport_lock held.
 */
void xprt_rdma_credit_release(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma *xr = xprt_rdma_from(rqst->rq_xprt);
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	struct xprt_rdma_owed *owed;

	lockdep_assert_held(&rqst->rq_xprt->transport_lock);

	/* A callback never had a credit: see xprt_rdma_bc_fill(). */
	if (bc_prealloc(rqst)) {
		rqst->rq_cong = 0;
		return;
	}
	/* A Reply that comes after this is late. xprt_rdma_credit_late_reply() then returns the
	 * credit.
	 */
	if (rqst->rq_cong &&
	    xprt_rdma_hold_drop(req, XPRT_RDMA_HOLD_REPLY)) {
		rpcrdma_count(client_given_up);
		trace_xprt_rdma_given_up(rqst, task->tk_status);
		/* xr_owed has a free entry for the Call, since it has max_reqs entries, and never
		 * more than max_reqs credits are in use. The Call's credits and Receives beyond
		 * the first stay in use as well (RTX-100).
		 */
		owed = &xr->xr_owed[xr->xr_window.wn_owed];
		owed->ow_xid = be32_to_cpu(rqst->rq_xid);
		owed->ow_extra = req->rr_extra;
		memset(&req->rr_extra, 0, sizeof(req->rr_extra));
		xr->xr_window.wn_owed++;
		xprt_rdma_credit_set_locked(xr);
	}
	xprt_rdma_credit_give_back_locked(task);
}

/* Wakes the next RPC that waits for a credit. sunrpc exports no function that does only this, but
 * wakes such an RPC when another one returns its credit. So this function takes a credit for a
 * dummy request, and returns it.
 */
static void xprt_rdma_credit_wake_sender(struct rpc_xprt *xprt)
{
	struct rpc_rqst nobody = { .rq_xprt = xprt, .rq_cong = 1 };
	struct rpc_task task = { .tk_rqstp = &nobody };

	lockdep_assert_held(&xprt->transport_lock);

	xprt->cong += RPC_CWNDSCALE;
	xprt_rdma_credit_return_locked(&task);
}

/**
 * xprt_rdma_credit_drain - send no more Calls, and wait until all Replies have come
 * @xr: transport
 * @cookie: connect_cookie of the connection
 *
 * Replies to RPCs that were given up are not waited for, because these RPCs are not sent again.
 *
 * Context: process; sleeps for at most a second.
 * Return: 0, and no Call is sent on this connection any more, so the caller closes it; %-EBUSY if a
 *	Reply has not come, and Calls are sent again; %-ENOTCONN if the connection has ended.
 */
int xprt_rdma_credit_drain(struct xprt_rdma *xr, unsigned int cookie)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	int rc = -ENOTCONN;

	spin_lock(&xprt->transport_lock);
	xr->xr_shut = xprt_connected(xprt) && xprt->connect_cookie == cookie;
	xprt_rdma_credit_set_locked(xr);
	spin_unlock(&xprt->transport_lock);
	wait_event_timeout(xr->xr_waitq,
			   !READ_ONCE(xr->xr_shut) || !READ_ONCE(xprt->cong),
			   HZ);
	spin_lock(&xprt->transport_lock);
	if (xr->xr_shut) {
		rc = xprt->cong ? -EBUSY : 0;
		xr->xr_shut = !rc;
		xprt_rdma_credit_set_locked(xr);
		if (rc)
			xprt_rdma_credit_wake_sender(xprt);
	}
	spin_unlock(&xprt->transport_lock);
	return rc;
}

static void xprt_rdma_credit_again_work(struct work_struct *work)
{
	struct xprt_rdma *xr = container_of(to_delayed_work(work),
					    struct xprt_rdma, xr_again_work);
	struct rpc_xprt *xprt = &xr->xr_xprt;

	spin_lock(&xprt->transport_lock);
	xprt_rdma_credit_wake_sender(xprt);
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprt_rdma_credit_step_back - let a request that needs no credit be sent before the Calls
 * @xprt: transport; the Call that was to be sent has no credit any more
 *
 * sunrpc puts a request that needs no credit, such as the Reply to a callback, before the Calls
 * that wait for one, but not before a Call that has one. The Call may have had its credit when
 * such a Reply was queued, and lacks memory now. Calls keep their order.
 *
 * Context: process; send lock and queue_lock held.
 * Return: true if the first request in the queue needs no credit.
 */
VISIBLE_IF_KUNIT bool xprt_rdma_credit_step_back(struct rpc_xprt *xprt)
{
	struct rpc_rqst *rqst;

	lockdep_assert_held(&xprt->queue_lock);

	list_for_each_entry(rqst, &xprt->xmit_queue, rq_xmit) {
		if (rqst->rq_cong) {
			list_move(&rqst->rq_xmit, &xprt->xmit_queue);
			return true;
		}
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_credit_step_back);

/**
 * xprt_rdma_credit_yield - give back the credits of a Call for which there is no memory
 * @task: the RPC; sunrpc will send it later
 *
 * sunrpc waits as for a credit: until another RPC ends, which may also return memory, or until
 * %XPRT_RDMA_AGAIN has passed. Meanwhile, Replies to callbacks can be sent: the server may need one
 * before it can answer the other RPCs (rfc5666bis 8.2.1).
 *
 * Context: process; send lock held.
 * Return: %-EBADSLT.
 */
int xprt_rdma_credit_yield(struct rpc_task *task)
{
	struct rpc_xprt *xprt = task->tk_rqstp->rq_xprt;

	spin_lock(&xprt->queue_lock);
	spin_lock(&xprt->transport_lock);
	xprt_rdma_credit_give_back_locked(task);
	/* sunrpc clears this bit, and wakes the next RPC, when a credit is returned. Just before it
	 * queues a request that needs no credit, it clears the bit as well; if such a request is in
	 * the queue already, the bit must not be set.
	 */
	if (!xprt_rdma_credit_step_back(xprt))
		set_bit(XPRT_CWND_WAIT, &xprt->state);
	spin_unlock(&xprt->transport_lock);
	spin_unlock(&xprt->queue_lock);
	xprt_rdma_credit_check(xprt_rdma_from(xprt));
	queue_delayed_work(xprtiod_workqueue,
			   &xprt_rdma_from(xprt)->xr_again_work,
			   XPRT_RDMA_AGAIN);
	return -EBADSLT;
}

/**
 * xprt_rdma_credit_init - initialise the credits of a new transport
 * @xr: transport that nobody uses yet
 *
 * Context: process.
 */
void xprt_rdma_credit_init(struct xprt_rdma *xr)
{
	rpcrdma_window_reset(&xr->xr_window, 1);
	INIT_DELAYED_WORK(&xr->xr_again_work, xprt_rdma_credit_again_work);
}

/**
 * xprt_rdma_credit_late_reply - handle a Reply that no RPC waits for
 * @xr: transport
 * @xid: XID of the Reply
 *
 * If the Reply belongs to an RPC that was given up, this frees the RPC's credits, and wakes an
 * RPC that waits for a credit (I18). But sunrpc may be giving up the RPC at this moment:
 * sunrpc no longer finds the RPC by its XID, but the RPC still has its slot and its credit. In
 * that case this only records that the RPC no longer waits (rr_holds), and
 * xprt_rdma_credit_release() then returns the credit.
 *
 * Context: completion queue's workqueue.
 * Return: true if the Reply belongs to an RPC that was or is being given up, or is being encoded
 *	anew; the Call is then sent again.
 */
bool xprt_rdma_credit_late_reply(struct xprt_rdma *xr, u32 xid)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;
	bool late = true;

	spin_lock(&xprt->reserve_lock);
	spin_lock(&xprt->transport_lock);
	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		if (be32_to_cpu(req->rr_slot.rq_xid) == xid &&
		    xprt_rdma_hold_drop(req, XPRT_RDMA_HOLD_REPLY))
			goto out_unlock;
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
