// SPDX-License-Identifier: GPL-2.0
/*
 * Client: sending a Call. xprt_rdma_send_call() shows all steps in their order. Its caller
 * xprt_rdma_send_request() also handles a Call that was sent before.
 *
 * This file decides what is done, and calls functions of other files to do it. It owns no
 * memory, no lock and no list. It never touches the device or the bytes of a message.
 *
 * Operation
 *
 * sunrpc serialises xprt_rdma_send_request() with the transport's send lock. If a Call
 * cannot be sent, this file gives back the resources that were taken for it. If the
 * connection is broken, these resources are freed with the connection instead. These are the
 * steps of sending a Call:
 *
 *	Receive		for the Reply, before the Call is sent (RFC 8166 3.3.1)
 *	Send		with a buffer for the message
 *	plan		what is inline, in one Send or several (a group: rtx.h), and what
 *			goes by RDMA
 *	register	map the memory that the server accesses, and prepare its registration
 *	write		the transport header into the Send, and after it a copy of the inline parts
 *	post		registrations and Send, with one doorbell
 *
 * After that the client waits for the server. reply.c handles the answer. If none comes in
 * time, sunrpc calls xprt_rdma_timer().
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <rpcrdma/xmit.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Makes sure that there is a Receive for one more Reply. Returns 0; or -ENOBUFS if there is none,
 * and no memory to create one. But if all existing Receives are for Replies to RPCs that were given
 * up (ended without a Reply), these Replies may never come. So this function then returns -ENOTCONN
 * instead of -ENOBUFS, and a new connection is made, which has Receives of its own.
 */
static int xprt_rdma_send_prepare_reply(struct xprt_rdma *xr)
{
	u32 expected = xprt_rdma_recv_expected(xr), replies, owed;
	struct rpc_xprt *xprt = &xr->xr_xprt;
	int rc;

	if (expected >= xr->xr_sizes.cz_requests)
		return 0;
	/* This Call is in cong already. */
	spin_lock(&xprt->transport_lock);
	replies = (xprt->cong >> RPC_CWNDSHIFT) + xr->xr_window.wn_owed;
	spin_unlock(&xprt->transport_lock);
	if (likely(replies <= expected))
		return 0;
	rc = xprt_rdma_recv_expect(xr, replies, XPRT_RDMA_GFP);
	owed = READ_ONCE(xr->xr_window.wn_owed);
	return rc && owed >= expected ? -ENOTCONN : rc;
}

/* Returns whether the Call may be a group: both ends support groups (RTX-32), no error has ended
 * the use of groups on this connection (xr_no_rtx), and the server has not answered an earlier
 * Call of this RPC with an error (RTX-88).
 */
static bool xprt_rdma_may_be_group(const struct xprt_rdma *xr,
				   const struct xprt_rdma_req *req)
{
	return xr->xr_rtx.xp_flags && xr->xr_conn.cn_rtx.xp_call_max &&
	       !READ_ONCE(xr->xr_no_rtx) && !req->rr_retry.ry_base;
}

/* Takes all steps of sending one Call, in their order. Returns 0 or a negative errno, see
 * xprt_rdma_send_request().
 */
static int xprt_rdma_send_call(struct xprt_rdma *xr, struct rpc_rqst *rqst)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	struct xprt_rdma_send *send;
	int rc;

	rc = xprt_rdma_send_prepare_reply(xr);
	if (rc)
		return rc;
	send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP);
	if (!send) {
		xr->xr_stats.cs_empty_sends++;
		return -ENOBUFS;
	}

	if (xprt_rdma_may_be_group(xr, req))
		rc = xprt_rdma_group_plan(xr, req, send);
	else
		rc = xprt_rdma_marshal_plan(xr, req, send, NULL);
	if (!rc)
		rc = xprt_rdma_marshal_register(xr, req);
	if (!rc && req->rr_plan.pl_call == RPCRDMA_CALL_GROUP)
		rc = xprt_rdma_group_write(xr, req, send);
	else if (!rc)
		rc = xprt_rdma_marshal_write(xr, req, send);
	if (rc < 0)
		goto out_unmap;
	trace_xprt_rdma_marshal(rqst, &req->rr_plan, rc);
	rc = xprt_rdma_send_post(send, rc, req);
	if (likely(!rc) || rc == -ENOTCONN)
		return rc;

out_unmap:
	xr->xr_stats.cs_failed_marshals++;
	trace_xprt_rdma_marshal_err(rqst, rc);
	xprt_rdma_frwr_unmap_unposted(xr, req);
	xprt_rdma_send_put(send);
	xprt_rdma_credit_drop_extra(xr, req);
	return rc;
}

/* Was the Call sent less than the RPC's timeout ago, so that the server may still reply in
 * time? sunrpc's timer of an RPC keeps running while a new connection is made, and may expire
 * as soon as the Call has been sent on the new connection. If that connection were then closed
 * as well, the same could happen again and again, and all other RPCs would have to be sent again
 * each time.
 */
static bool xprt_rdma_send_is_fresh(const struct rpc_rqst *rqst)
{
	return ktime_ms_delta(ktime_get(), rqst->rq_xtime) <
	       jiffies_to_msecs(rqst->rq_timeout);
}

/**
 * xprt_rdma_send_is_awaited - can an RPC that was sent on this connection keep waiting?
 * @xr: transport
 * @rqst: the RPC
 *
 * Context: process. Send lock held.
 * Return: true if the Reply or an error has just come, or the Reply may still come in time.
 */
VISIBLE_IF_KUNIT bool xprt_rdma_send_is_awaited(struct xprt_rdma *xr,
						struct rpc_rqst *rqst)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	bool over, waits;

	/* Replies are matched, and RPCs completed, under queue_lock. */
	spin_lock(&xr->xr_xprt.queue_lock);
	/* Has the Reply just completed the RPC? Or has an error or a malformed Reply come, after
	 * which sunrpc will send this RPC again (rr_resend) or end it (rr_failed)?
	 */
	over = req->rr_resend || req->rr_failed ||
	       !test_bit(RPC_TASK_NEED_RECV, &rqst->rq_task->tk_runstate);
	/* An RPC whose Reply is still being handled counts as waiting: its regions may have to be
	 * invalidated.
	 */
	waits = atomic_read(&req->rr_holds) || req->rr_msg;
	spin_unlock(&xr->xr_xprt.queue_lock);
	return over || (waits && xprt_rdma_send_is_fresh(rqst));
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_send_is_awaited);

/**
 * xprt_rdma_send_request - send a Call, or the Reply to a callback
 * @rqst: request with the message in rq_snd_buf
 *
 * The count of credits is right only if each Call that is sent on a connection gets one
 * Reply. So this function closes the connection, and sunrpc makes a new one, before a Call that
 * got no answer is sent again, and after a Call was sent for which sunrpc expects no Reply
 * (version-two 8.2).
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0; %-ENOTCONN, and sunrpc reconnects; %-EBADSLT, and the RPC waits for a credit, for
 *	memory, or for room in the send queue; %-ENOBUFS, and sunrpc tries the Reply to a callback
 *	again after a delay; %-EMSGSIZE, %-EINVAL or %-EIO, and the RPC fails.
 */
int xprt_rdma_send_request(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	int rc;

	if (!xprt_connected(xprt))
		return -ENOTCONN;
	if (bc_prealloc(rqst)) {
		rc = xprt_rdma_bc_send_reply(rqst);
		if (rc == -ENOTCONN)
			goto out_replace;
		return rpcrdma_xmit_status(rqst, rc);
	}
	/* The Reply was an error or was malformed, and the RPC must fail. But the task was not
	 * asleep when the Reply came, so the status was lost (I17; xprt_rdma_reply_fail()).
	 */
	if (xprt_rdma_req_from(rqst)->rr_failed)
		return rpcrdma_xmit_status(rqst, -EIO);
	/* Pairs with smp_store_release() in xprt_rdma_credit_unsent() */
	if (smp_load_acquire(&rqst->rq_connect_cookie) ==
	    xprt->connect_cookie) {
		/* The Call was already sent on this connection. If its Reply or an error has
		 * just come, or the Reply may still come in time, nothing is sent. Otherwise
		 * the Call can be sent again only on a new connection.
		 */
		if (xprt_rdma_send_is_awaited(xr, rqst))
			return 0;
		goto out_replace;
	}
	/* The server may have answered an earlier Call of this RPC with an error. In that
	 * case xprt_rdma_reply_resend() has first returned the RPC's credit and then changed
	 * rq_connect_cookie. So take a credit only after rq_connect_cookie was read. If no credit
	 * is free, sunrpc wakes the RPC when one is free.
	 *
	 * In that case sunrpc also makes all other requests wait, unless the first one in the queue
	 * needs no credit. sunrpc does not hold queue_lock when it looks. Without this lock, it
	 * might overlook the Reply to a callback that is just being queued, and make it wait for a
	 * credit that the server returns only after it has this Reply (rfc5666bis 8.2.1).
	 */
	spin_lock(&xprt->queue_lock);
	rc = xprt_request_get_cong(xprt, rqst) ? 0 : -EBADSLT;
	spin_unlock(&xprt->queue_lock);
	if (rc)
		return rc;

	rqst->rq_xtime = ktime_get();
	xprt_rdma_req_from(rqst)->rr_resend = false;
	rc = xprt_rdma_send_call(xr, rqst);
	if (rc == -ENOTCONN)
		goto out_replace;
	if (rc == -ENOBUFS)
		rc = xprt_rdma_credit_yield(rqst->rq_task);
	if (rc)
		return rpcrdma_xmit_status(rqst, rc);

	rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
	if (!rpc_reply_expected(rqst->rq_task))
		goto out_replace;
	return 0;

out_replace:
	xprt_rdma_close(xprt);
	return -ENOTCONN;
}

/**
 * xprt_rdma_timer - handle an RPC that got no answer in time
 * @xprt: transport
 * @task: the RPC
 *
 * If the Call was sent on this connection at least the RPC's timeout ago, this closes the
 * connection, because the Call can be sent again only on a new one (version-two 8.2). The keepalive
 * does not detect this case if it is off, or if the server is stuck but its device still answers.
 *
 * But an RPC of NFSv4 is sent again only after its connection has ended (RFC 8881 2.9.2). It may
 * take longer than its timeout, as a COPY or a COMMIT does. So as long as the keepalive shows that
 * the server's device is alive, such an RPC waits, and the other RPCs need not be sent again.
 *
 * Context: process.
 */
void xprt_rdma_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	const struct rpcrdma_conn *conn = &xprt_rdma_from(xprt)->xr_conn;

	if ((task->tk_flags & RPC_TASK_NO_RETRANS_TIMEOUT) &&
	    rpcrdma_keepalive_notices(conn))
		return;
	if (task->tk_rqstp->rq_connect_cookie != xprt->connect_cookie ||
	    xprt_rdma_send_is_fresh(task->tk_rqstp))
		return;
	trace_xprt_rdma_timeout(task->tk_rqstp, task->tk_status);
	xprt_force_disconnect(xprt);
}
