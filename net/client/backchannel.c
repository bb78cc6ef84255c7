// SPDX-License-Identifier: GPL-2.0
/*
 * Client: callbacks (RFC 8167; rfc5666bis 8). The client is the responder here: it
 * receives Calls and sends Replies on the connection of the forward direction.
 *
 * Operation
 *
 * A connection that sunrpc uses has %XPRT_RDMA_BC_REQUESTS more Receives than forward traffic
 * needs, whether callbacks are used or not. So the Receives for callbacks exist before the
 * client grants credits for them (rfc5666bis 8.2.2.1), and callbacks take no Receives from the
 * forward direction (rfc5666bis 8.2.1).
 *
 * A callback slot is an xprt_rdma_req with a buffer for the callback and its Reply. While
 * callbacks are used, there are %XPRT_RDMA_BC_SLOTS of them. So no memory is allocated when a
 * callback comes: it may become free only after messages that come later are handled. If a slot is
 * free, the callback is copied to it at once, and its Receive is given back. Otherwise the callback
 * stays in its Receive until a slot is free. The other messages still have enough Receives, because
 * there is one for each callback credit. If more callbacks wait than the client has granted
 * credits, the server has exceeded them, and the connection is closed (G-25).
 *
 * Callbacks wait only while all slots are busy, so a slot will be returned. Those that wait are
 * dropped with the connection, before its Receives are freed (xprt_rdma_bc_reset()). bc_pa_lock is
 * held while a callback is copied out of its Receive.
 */
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Number of callbacks that the callback service has at one time, those that it executes included.
 * Normally it has one thread.
 */
#define XPRT_RDMA_BC_SLOTS	4u

/**
 * xprt_rdma_bc_setup - begin to accept callbacks
 * @xprt: transport
 * @reqs: number of callbacks that the upper layer wants to process at once; ignored
 *
 * This creates the callback slots. Each has a buffer with one half for the Call and one for the
 * Reply. The NFS session limits both to xprt_rdma_bc_maxpayload() bytes, which is less than a half.
 * Each connection has Receives for callbacks, whether this function is called or not.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_bc_setup(struct rpc_xprt *xprt, unsigned int reqs)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req;

	/* Tasks that run this loop at the same time may create more slots than are needed. That
	 * does no harm.
	 */
	while (READ_ONCE(xprt->bc_alloc_count) < XPRT_RDMA_BC_SLOTS) {
		req = xprt_rdma_req_create(2 * XPRT_RDMA_BC_SIZE, GFP_KERNEL);
		if (!req)
			return -ENOMEM;
		spin_lock(&xprt->bc_pa_lock);
		xprt->bc_alloc_count++;
		list_add(&req->rr_free, &xr->xr_bc_free);
		spin_unlock(&xprt->bc_pa_lock);
	}
	spin_lock(&xprt->bc_pa_lock);
	xr->xr_bc_enabled = true;
	spin_unlock(&xprt->bc_pa_lock);
	return 0;
}

/**
 * xprt_rdma_bc_maxpayload - return the size of the largest callback message
 * @xprt: connected transport
 *
 * A callback must fit inline into our Receive, and its Reply into a Receive of the server
 * (rfc5666bis 8.3.3). One result applies to both messages. So it is the lower of the inline
 * thresholds of the two directions, but at least %RPCRDMA_INLINE_MIN and at most
 * %XPRT_RDMA_BC_SIZE, minus the length of the transport header. The upper layer announces the
 * result when it creates a session.
 *
 * Context: process.
 * Return: size of the RPC message in bytes.
 */
size_t xprt_rdma_bc_maxpayload(struct rpc_xprt *xprt)
{
	const struct rpcrdma_limits *limits =
		&xprt_rdma_from(xprt)->xr_conn.cn_limits;
	u32 max = min(limits->lm_inline_send, limits->lm_inline_recv);

	max = clamp(max, RPCRDMA_INLINE_MIN, XPRT_RDMA_BC_SIZE);
	return max - RPCRDMA1_HDR_MIN - limits->lm_hdr_extra;
}

/**
 * xprt_rdma_bc_num_slots - return how many callbacks the server may have in flight
 * @xprt: transport
 *
 * Context: any.
 * Return: the number of callbacks.
 */
unsigned int xprt_rdma_bc_num_slots(struct rpc_xprt *xprt)
{
	return XPRT_RDMA_BC_REQUESTS;
}

/**
 * xprt_rdma_bc_destroy - stop accepting callbacks
 * @xprt: transport
 * @reqs: ignored
 *
 * The callback service may be freed after this, because no callback is queued to it any
 * more. A callback that still waits for a slot is dropped when one is free. Idle slots are
 * freed. Busy slots are returned later by xprt_rdma_bc_free_rqst(), and are freed by the next call
 * of this function; the last call is that of xprt_rdma_destroy().
 *
 * Context: process.
 */
void xprt_rdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req, *next;
	LIST_HEAD(idle);

	spin_lock(&xprt->bc_pa_lock);
	xr->xr_bc_enabled = false;
	list_splice_init(&xr->xr_bc_free, &idle);
	list_for_each_entry(req, &idle, rr_free)
		xprt->bc_alloc_count--;
	spin_unlock(&xprt->bc_pa_lock);

	list_for_each_entry_safe(req, next, &idle, rr_free)
		xprt_rdma_req_destroy(req);
}

static void xprt_rdma_bc_drop(struct xprt_rdma *xr, struct rpcrdma_msg_in *msg)
{
	struct rpcrdma_hdr hdr;

	/* The header was decoded before and was valid. */
	xprt_rdma_reply_decode(xr, msg, &hdr);
	rpcrdma_count(client_bc_dropped);
	trace_xprt_rdma_bc_drop(&hdr, 0);
}

/**
 * xprt_rdma_bc_reset - drop the callbacks that wait for a slot
 * @xr: transport whose connection no longer has queues, but still has its Receives
 *
 * The Receives that contain these callbacks are freed with the connection. The server can
 * send the callbacks again on the next connection.
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_bc_reset(struct xprt_rdma *xr)
{
	struct rpcrdma_msg_in *msg;

	spin_lock(&xr->xr_xprt.bc_pa_lock);
	list_for_each_entry(msg, &xr->xr_bc_waiting, mi_list)
		xprt_rdma_bc_drop(xr, msg);
	INIT_LIST_HEAD(&xr->xr_bc_waiting);
	xr->xr_bc_nwaiting = 0;
	spin_unlock(&xr->xr_xprt.bc_pa_lock);
}

/* Fills in the rpc_rqst of a slot. The Call is in the first half of the slot's buffer, and
 * the Reply goes to the second half.
 */
static void xprt_rdma_bc_fill(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			      const struct rpcrdma_msg_in *msg)
{
	struct rpc_rqst *rqst = &req->rr_slot;
	struct xdr_buf *rcv = &rqst->rq_rcv_buf;
	u32 len = rpcrdma_msg_body_len(msg);

	rpcrdma_msg_copy(msg, 0, req->rr_buf, len);
	memset(rqst, 0, sizeof(*rqst));
	rqst->rq_xprt = &xr->xr_xprt;
	memcpy(&rqst->rq_xid, req->rr_buf, sizeof(rqst->rq_xid));
	/* The Reply takes no credit. But sunrpc is told that the Reply already has one.
	 * Otherwise sunrpc would make the Reply wait for a credit behind Calls, and the
	 * server may not be able to answer those Calls before it has this Reply
	 * (rfc5666bis 8.2.1).
	 */
	rqst->rq_cong = 1;
	req->rr_bc_cookie = READ_ONCE(xr->xr_xprt.connect_cookie);
	__set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	xdr_buf_init(&rqst->rq_snd_buf, req->rr_buf + XPRT_RDMA_BC_SIZE,
		     XPRT_RDMA_BC_SIZE);
	xdr_buf_init(rcv, req->rr_buf, len);
	rcv->len = len;
	rqst->rq_private_buf.len = len;
}

/* Gives the callbacks that have waited longest the slots that are free, and queues them for the
 * callback service. The messages stay valid while bc_pa_lock is held, because xprt_rdma_bc_reset()
 * takes this lock before the Receives are freed.
 */
static void xprt_rdma_bc_start_locked(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct svc_serv *serv = xprt->bc_serv;
	struct rpcrdma_msg_in *msg;
	struct xprt_rdma_req *req;

	lockdep_assert_held(&xprt->bc_pa_lock);
	while (!list_empty(&xr->xr_bc_waiting) &&
	       !list_empty(&xr->xr_bc_free)) {
		msg = list_first_entry(&xr->xr_bc_waiting,
				       struct rpcrdma_msg_in, mi_list);
		list_del_init(&msg->mi_list);
		xr->xr_bc_nwaiting--;
		/* A queued Call holds a reference to the transport. If the transport is being
		 * destroyed, xprt_get() fails.
		 */
		if (!xr->xr_bc_enabled || !serv || !xprt_get(xprt)) {
			xprt_rdma_bc_drop(xr, msg);
			rpcrdma_msg_put(msg);
			continue;
		}
		req = list_first_entry(&xr->xr_bc_free, struct xprt_rdma_req,
				       rr_free);
		list_del_init(&req->rr_free);
		xprt_rdma_bc_fill(xr, req, msg);
		rpcrdma_msg_put(msg);
		lwq_enqueue(&req->rr_slot.rq_bc_list, &serv->sv_cb_list);
		svc_pool_wake_idle_thread(&serv->sv_pools[0]);
	}
}

/**
 * xprt_rdma_bc_free_rqst - give back the slot of a callback that has ended
 * @rqst: slot
 *
 * Context: process.
 */
void xprt_rdma_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct xprt_rdma *xr = xprt_rdma_from(rqst->rq_xprt);

	spin_lock(&xr->xr_xprt.bc_pa_lock);
	list_add(&xprt_rdma_req_from(rqst)->rr_free, &xr->xr_bc_free);
	xprt_rdma_bc_start_locked(xr);
	spin_unlock(&xr->xr_xprt.bc_pa_lock);
	xprt_put(&xr->xr_xprt);
}

/**
 * xprt_rdma_bc_receive - handle a callback that the client has received
 * @xr: transport
 * @msg: the message. It is given back now; or, if it has to wait for a slot, when it gets one. If
 *	the connection ends first, it is dropped
 * @hdr: transport header of the message
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_bc_receive(struct xprt_rdma *xr, struct rpcrdma_msg_in *msg,
			  const struct rpcrdma_hdr *hdr)
{
	/* In version 1, ERR_CHUNK is sent instead of this error. */
	static const struct rpcrdma2_error too_large = {
		.er_code = RPCRDMA2_ERR_SYSTEM,
	};
	struct rpc_xprt *xprt = &xr->xr_xprt;
	bool room;

	if (!READ_ONCE(xr->xr_bc_enabled)) {
		xprt_rdma_bc_drop(xr, msg);
		goto out_put;
	}
	/* Refuse a callback that has chunks (G-24), is longer than the part of the slot's buffer
	 * for a Call, or has different XIDs in its transport header and its RPC message. It is a
	 * Call, so it must be answered (RFC 8167 5.3). In version 2, it can only be too long:
	 * xprt_rdma_reply_sort_v2() has already refused the others.
	 */
	if (!rpcrdma_lists_empty(&hdr->hd_lists) ||
	    hdr->hd_rpc_xid != hdr->hd_xid ||
	    rpcrdma_msg_body_len(msg) > XPRT_RDMA_BC_SIZE) {
		trace_xprt_rdma_bc_refuse(hdr, 0);
		xprt_rdma_reply_refuse(xr, hdr, &too_large);
		goto out_put;
	}

	rpcrdma_count(client_bc_calls);
	trace_xprt_rdma_bc_call(hdr, 0);
	spin_lock(&xprt->bc_pa_lock);
	room = xr->xr_bc_nwaiting < XPRT_RDMA_BC_REQUESTS;
	if (room) {
		list_add_tail(&msg->mi_list, &xr->xr_bc_waiting);
		xr->xr_bc_nwaiting++;
		xprt_rdma_bc_start_locked(xr);
	}
	spin_unlock(&xprt->bc_pa_lock);
	if (room)
		return;
	rpcrdma_count(client_bc_dropped);
	trace_xprt_rdma_bc_overrun(xr, hdr->hd_credit);
	/* The server can send its callbacks again on the next connection. */
	rpcrdma_conn_fail(&xr->xr_conn, -EOVERFLOW);

out_put:
	rpcrdma_msg_put(msg);
}

static const struct rpcrdma_lists xprt_rdma_bc_no_lists;

static int xprt_rdma_bc_encode(struct xprt_rdma *xr,
			       const struct rpc_rqst *rqst,
			       struct xprt_rdma_send *send)
{
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	struct rpcrdma_reply_out reply = {
		.ro_xid		= be32_to_cpu(rqst->rq_xid),
		.ro_credit	= XPRT_RDMA_BC_REQUESTS,
		.ro_proc	= RPCRDMA1_MSG,
		.ro_lists	= &xprt_rdma_bc_no_lists,
	};
	u32 size = min(send->sn_send.sd_buf.bf_size,
		       xr->xr_conn.cn_limits.lm_inline_send);
	int len;

	len = rpcrdma_encode_reply(xr->xr_vers, send->sn_send.sd_buf.bf_data,
				   size, &reply);
	if (len < 0)
		return len;
	if (len + snd->len > size)
		return -EMSGSIZE;
	if (read_bytes_from_xdr_buf(snd, 0, send->sn_send.sd_buf.bf_data + len,
				    snd->len))
		return -EIO;
	return len + snd->len;
}

/* Encodes an error (version-two 5.3.3) instead of a Reply that is longer than the server can
 * receive. The Reply may be too long if the limits of this connection are lower than those of
 * the connection on which the session was created.
 */
static int xprt_rdma_bc_encode_too_long(struct xprt_rdma *xr,
					const struct rpc_rqst *rqst,
					struct xprt_rdma_send *send)
{
	const struct rpcrdma_hdr hdr = {
		.hd_xid		= be32_to_cpu(rqst->rq_xid),
		.hd_vers	= xr->xr_vers,
	};
	const struct rpcrdma2_error error = {
		.er_code	= RPCRDMA2_ERR_REPLY_RESOURCE,
		.er_arg		= { rqst->rq_snd_buf.len },
	};

	trace_xprt_rdma_bc_reply(rqst, -EMSGSIZE);
	return rpcrdma_encode_error(xr->xr_vers, send->sn_send.sd_buf.bf_data,
				    send->sn_send.sd_buf.bf_size, &hdr,
				    XPRT_RDMA_BC_REQUESTS, &error);
}

/**
 * xprt_rdma_bc_send_reply - send the Reply to a callback
 * @rqst: callback slot with the Reply in rq_snd_buf
 *
 * The Reply to a callback takes no forward credit.
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0 if the Reply was posted, if an error message was posted instead, or if the Reply was
 *	dropped because the callback came on an earlier connection; %-ENOTCONN, after which the
 *	caller closes the connection; or %-ENOBUFS, %-EMSGSIZE or %-EIO, see
 *	xprt_rdma_send_request().
 */
int xprt_rdma_bc_send_reply(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_send *send;
	int rc;

	/* If the callback came on an earlier connection, the server has no Receive for its
	 * Reply on the present one. So drop the Reply.
	 */
	if (xprt_rdma_req_from(rqst)->rr_bc_cookie != xprt->connect_cookie) {
		trace_xprt_rdma_bc_reply(rqst, -ESTALE);
		rpcrdma_count(client_bc_dropped);
		return 0;
	}
	send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP);
	if (!send)
		return -ENOBUFS;
	rc = xprt_rdma_bc_encode(xr, rqst, send);
	if (rc == -EMSGSIZE)
		rc = xprt_rdma_bc_encode_too_long(xr, rqst, send);
	if (rc >= 0)
		rc = xprt_rdma_send_post(send, rc, NULL);
	trace_xprt_rdma_bc_reply(rqst, rc);
	if (!rc) {
		xprt_rdma_useful(xr);
		rpcrdma_count(client_bc_replies);
	/* If the connection is down, closing it frees the Send. */
	} else if (rc != -ENOTCONN) {
		xprt_rdma_send_put(send);
	}
	return rc;
}
