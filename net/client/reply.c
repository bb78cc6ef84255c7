// SPDX-License-Identifier: GPL-2.0
/*
 * Client: received messages. A Reply is decoded and matched with its RPC, which is then fenced and
 * completed (complete.c). Other messages go to negotiate.c or backchannel.c, are answered with an
 * error (send.c), or are dropped.
 *
 * This file owns a message from its arrival until it gives the message back or passes it to
 * another file, or to the RPC (rr_msg). It never registers memory, and never sends an RPC: if an
 * RPC must be sent again, sunrpc does that.
 *
 * Operation
 *
 * xprt_rdma_reply_receive() is called for each complete message, in the workqueue of the completion
 * queue for Receives. While a message is handled, no completion of the send queue is handled
 * (rpcrdma_send_cq_enter()). The decoder checks all bounds before any field is used. The RPC of a
 * Reply is found by the XID, and its rpc_rqst is pinned.
 *
 * First the Reply is checked, and the result is stored in the slot. Then the RPC is fenced. After a
 * malformed Reply, it is fenced in the same way, and then ends with an error (G-12).
 *
 * A Reply that came as a group (rtx.h) is handled like any other Reply, and is malformed if it
 * took more Receives than its Call has offered.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>

#include "trace.h"
#include "xprt_rdma.h"

static void xprt_rdma_reply_bad_inv(struct xprt_rdma *xr,
				    const struct rpcrdma_msg_in *msg)
{
	rpcrdma_count(client_bad_invalidations);
	trace_xprt_rdma_bad_invalidation(xr, msg->mi_inv_rkey);
	rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
}

/* Called for a message that is not the Reply to a known RPC. Such a message must not
 * invalidate a handle. If it does, the connection is closed (RFC 8797 4.1; G-22).
 */
static void xprt_rdma_reply_check_stray(struct xprt_rdma *xr,
					const struct rpcrdma_msg_in *msg)
{
	if (unlikely(msg->mi_invalidated))
		xprt_rdma_reply_bad_inv(xr, msg);
}

/* Compares the chunks that the Reply returns with those that were offered. If they agree, sets
 * rr_reply_written to the number of bytes that the server has written.
 */
static enum rpcrdma_verdict
xprt_rdma_reply_check(struct xprt_rdma_req *req, const struct rpcrdma_hdr *hdr)
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

/* Returns the verdict on a Reply that is a group (rtx.h). A Reply may be a group only if its Call
 * was a group, and may have at most as many transmissions as the Call has offered Receives (RTX-37,
 * RTX-66). If it has more, it may have filled Receives that other RPCs need. So this closes the
 * connection, whether the Reply is valid or not (RTX-50).
 */
static enum rpcrdma_verdict
xprt_rdma_reply_check_group(struct xprt_rdma *xr,
			    const struct xprt_rdma_req *req,
			    enum rpcrdma_verdict verdict)
{
	if (rpcrdma_msg_recvs(req->rr_msg) > req->rr_plan.pl_replies) {
		rpcrdma_conn_fail(&xr->xr_conn, -EPROTO);
		return RPCRDMA_BIG_GROUP;
	}
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
		verdict = xprt_rdma_reply_check_group(xr, req, verdict);
	if (verdict == RPCRDMA_OK)
		verdict = xprt_rdma_reply_check(req, hdr);
	if (verdict != RPCRDMA_OK) {
		trace_xprt_rdma_bad_reply(hdr, verdict);
		req->rr_reply_status = -EPROTO;
	}
}

/**
 * xprt_rdma_reply_awaited - claim an RPC for a Reply
 * @xr: transport
 * @req: slot of an RPC with the XID of the Reply
 * @msg: the message
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
	bool awaited = xprt_rdma_hold_drop(req, XPRT_RDMA_HOLD_REPLY);

	if (unlikely(!awaited)) {
		/* The Call may just be being posted, under xr_lock. */
		spin_lock(&xr->xr_lock);
		awaited = xprt_rdma_hold_drop(req, XPRT_RDMA_HOLD_REPLY);
		spin_unlock(&xr->xr_lock);
	}
	if (!awaited)
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
		 * a group returns them even if it is not valid (RTX-50).
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
	/* xprt_lookup_rqst() has computed rq_rtt. */
	if (unlikely(req->rr_slot.rq_rtt < xr->xr_conn.cn_rtt))
		xprt_rdma_negotiate_rtt(xr, req->rr_slot.rq_rtt);
	/* A connection begins with one credit. The first grant that changes this must come with a
	 * valid Reply, or with the answer to our CONNPROP (negotiate.c). After that, an error of
	 * version 1 may change the grant, too (G-15).
	 */
	if (rpcrdma_is_grant(xr->xr_vers, hdr, verdict) &&
	    unlikely(!xr->xr_window.wn_opened ||
		     xr->xr_window.wn_granted != hdr->hd_credit))
		xprt_rdma_credit_grant(xr, hdr->hd_credit,
				       hdr->hd_proc == RPCRDMA1_ERROR);
	xprt_rdma_reply_assess(xr, req, hdr, verdict);
	if (unlikely(!xprt_rdma_reply_fence(xr, req)))
		xprt_rdma_reply_bad_inv(xr, msg);
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
	 * F_RESPONSE that comes now has only a grant (G-17).
	 */
	if (verdict == RPCRDMA_BACKWARD_CALL)
		xprt_rdma_negotiate_apply(xr, hdr);
	else if (verdict == RPCRDMA_OK)
		xprt_rdma_negotiate_confirm(xr, hdr);
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
	case RPCRDMA_DISCARD_SHORT:
	case RPCRDMA_DISCARD_DONE:
	case RPCRDMA_DISCARD_ERROR:
		rpcrdma_count(client_bad_messages);
		trace_xprt_rdma_discard(&hdr, verdict);
		goto out_stray;
	case RPCRDMA_BACKWARD_CALL:
		if (rpcrdma_is_connprop(xr->xr_vers, &hdr))
			break;
		xprt_rdma_reply_check_stray(xr, msg);
		xprt_rdma_bc_receive(xr, msg, &hdr);
		return;
	case RPCRDMA_BAD_VERS:
		rpcrdma_count(client_bad_messages);
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
