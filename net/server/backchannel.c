// SPDX-License-Identifier: GPL-2.0
/*
 * The backchannel to an NFS client: in NFSv4.1 and later, a server calls its clients on the
 * connections that the clients opened (RFC 8167). To sunrpc a backchannel is a client
 * transport, a struct rpc_xprt. It has no connection of its own: it sends through the
 * connection (svc_xprt) that it was made for, and never reconnects. When that connection
 * ends, the RPCs of the backchannel fail with -ENOTCONN, and the upper layer may try again
 * on another connection (rfc5666bis 8.3.2).
 *
 * Each NFS client's rpc_clnt owns a backchannel of its own. rpc_create() gets it from
 * svc_rdma_bc_setup(), and svc_rdma_bc_destroy() ends it after the last RPC has released it. Until
 * then, it holds a reference to its svc_xprt. The connection holds no reference to a backchannel,
 * so there is no cycle: it has a list of them, which it uses only under bw_lock.
 *
 * sunrpc also has a way for all rpc_clnts of a connection to share one rpc_xprt, kept in
 * xpt_bc_xprt, and one rpc_xprt_switch, kept in xpt_bc_xps. This is not used here, because no lock
 * protects the two pointers. The transport's setup function would set xpt_bc_xprt, and rpc_create()
 * sets xpt_bc_xps later. In between, another rpc_create() would find the rpc_xprt but no switch,
 * and add the rpc_xprt to a second switch. rpc_create() sets xpt_bc_xps of the svc_xprt to which
 * the member bc_xprt of the rpc_xprt points. This module leaves bc_xprt NULL, so xpt_bc_xps is not
 * set.
 *
 * Operation
 *
 * All backchannels of a connection share, under bw_lock:
 *
 * - The window: the credits for callbacks. They are independent of the credits for the
 *   client's Calls. The client grants them to the connection, and not to a backchannel.
 *   Until its first grant there is one credit (rfc5666bis 8.2.1).
 * - The Receives for the answers (cd_bc_recvs). There is one for each callback in flight
 *   (rfc5666bis 8.2.2.2). Most connections never have two callbacks in flight. So only one Receive
 *   is posted when the first backchannel is made, and a thread of the server adds more when a
 *   callback has a credit but no Receive (bw_short).
 * - The callbacks that are sent and not answered. An answer is matched by its XID alone.
 *
 * A callback that gets no credit or no Receive waits in sunrpc's queue of its backchannel
 * (XPRT_WRITE_SPACE), and is woken when there may be room. Backchannels are woken in the order of
 * bw_clients. One that has sent a callback goes to the end of this list, so all get their turn.
 *
 * A callback is sent only once. If the client takes too long, or the session ends, the upper layer
 * ends the RPC of a callback without an answer: the callback is *given up*. The client does not
 * know that. So the credit and the Receive stay in use until one more answer than callbacks in
 * flight arrives (wn_owed, invariant I18). This is a mere number: an answer with an unknown XID
 * returns a credit if one is owed. A client that abuses this receives more callbacks than it has
 * Receives for, and loses only its own connection. The connection is not closed at once when a
 * callback is given up: the client may only be slow, or nfsd has made a new rpc_clnt because the
 * client added a connection to its session; and other NFS clients may use the connection. But when
 * a callback times out while all credits are owed, no callback can be sent any more, and the
 * connection is closed.
 *
 * A backchannel is made even if the connection is already lost, and its first RPC then
 * fails. If rpc_create() failed instead, nfsd's error path would use its struct
 * nfsd4_conn. nfsd frees this structure when a connection is lost, so it may be freed already.
 *
 * What if two events come at the same time?
 *
 * - A backchannel is destroyed, and the connection is lost: both take bw_lock. Either
 *   svc_rdma_bc_close_all() finds the backchannel in the list, and then it is not freed before the
 *   lock is released; or it has left the list.
 * - A backchannel is made, and the connection is lost: if it enters the list too late for
 *   svc_rdma_bc_close_all(), its first RPC finds that the connection is down or dead.
 * - A callback is sent, and the connection is closed: bw_lock decides whether svc_rdma_bc_begin()
 *   finds its transport disconnected. If it does not, the RPC sleeps and is woken, or finds that
 *   the transport is not connected when it is about to sleep. I24 and I1 prevent posting after the
 *   close.
 * - A Reply comes, and the RPC is given up: bw_lock decides which is first. After the Reply, the
 *   credit is free, and if the RPC is ending, sunrpc does not find it, and the Reply is dropped.
 *   After giving up, the Reply finds no callback, but returns the credit. So does a second Reply,
 *   if a credit is owed.
 *
 * rpciod sends the callbacks, and must not wait for the client. So if there is no Send context or
 * no send queue slot, sunrpc is told to send the RPC later. Like an inline Reply, the message is
 * copied into the buffer of a Send context.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/xmit.h>

#include "svc_rdma.h"
#include "trace.h"

/**
 * struct svc_rdma_bc - a backchannel: the way to one NFS client
 * @bc_xprt: the client transport of sunrpc
 * @bc_sx: connection that the backchannel sends through; a reference to its svc_xprt is
 *	held
 * @bc_list: link in bw_clients, under bw_lock
 * @bc_addr: the client's address, for RPC_DISPLAY_ADDR
 * @bc_port: the client's port, for RPC_DISPLAY_PORT
 */
struct svc_rdma_bc {
	struct rpc_xprt		bc_xprt;
	struct svc_rdma_xprt	*bc_sx;
	struct list_head	bc_list;
	char			bc_addr[INET6_ADDRSTRLEN];
	char			bc_port[sizeof("65535")];
};

/**
 * struct svc_rdma_callback - the buffer of a callback's RPC
 * @cb_list: link in bw_sent from just before the callback is posted until it is answered or given
 *	up; otherwise empty
 * @cb_bc: backchannel that sent the callback
 * @cb_xid: XID of the callback
 * @cb_sent: the callback was sent, and is never sent again
 * @cb_data: the Call, and room for the Reply
 *
 * bw_lock protects all members except @cb_data, which belongs to the RPC.
 */
struct svc_rdma_callback {
	struct list_head	cb_list;
	struct svc_rdma_bc	*cb_bc;
	u32			cb_xid;
	bool			cb_sent;
	u8			cb_data[] __aligned(8);
};

static struct svc_rdma_bc *svc_rdma_bc_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_bc, bc_xprt);
}

static struct svc_rdma_callback *svc_rdma_bc_callback(struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct svc_rdma_callback, cb_data);
}

/* Returns how many callbacks have a credit, and a Receive for the answer. */
static u32 svc_rdma_bc_room_locked(struct svc_rdma_xprt *sx)
{
	const struct svc_rdma_backward *bw = &sx->sx_backward;

	lockdep_assert_held(&bw->bw_lock);
	return min(rpcrdma_window_room(&bw->bw_window, bw->bw_nawaited),
		   READ_ONCE(sx->sx_credit.cd_bc_recvs) -
		   svc_rdma_backward_used(bw));
}

/* Wake as many backchannels as there are credits and Receives. A backchannel that is woken sends a
 * callback, waits again, or has none any more; in each case this function is called again. If there
 * are credits but no Receives for others that wait, make a thread add Receives. Do not wake these:
 * a callback that has to wait again is behind all others of its backchannel.
 */
static void svc_rdma_bc_wake_locked(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	u32 room = svc_rdma_bc_room_locked(sx);
	bool more = rpcrdma_window_room(&bw->bw_window, bw->bw_nawaited) > room;
	struct svc_rdma_bc *bc;

	list_for_each_entry(bc, &bw->bw_clients, bc_list) {
		if (room) {
			if (xprt_write_space(&bc->bc_xprt))
				room--;
		} else if (more &&
			   test_bit(XPRT_WRITE_SPACE, &bc->bc_xprt.state)) {
			WRITE_ONCE(bw->bw_short, true);
			svc_rdma_queue_wake(sx);
			return;
		}
	}
}

/* Get permission to send a callback. If 0 is returned, the callback has a credit and is in bw_sent.
 * It is posted afterwards, because the answer may arrive at once, and must find it in bw_sent.
 */
static int svc_rdma_bc_begin(struct svc_rdma_bc *bc, struct rpc_rqst *rqst)
{
	struct svc_rdma_callback *cb = svc_rdma_bc_callback(rqst);
	struct svc_rdma_backward *bw = &bc->bc_sx->sx_backward;
	int rc = 0;

	spin_lock(&bw->bw_lock);
	if (!xprt_connected(&bc->bc_xprt)) {
		rc = -ENOTCONN;
	} else if (cb->cb_sent) {
		/* The callback has failed, but the RPC's task has overwritten the status -EIO of
		 * svc_rdma_bc_complete(). It must not be sent again (I17).
		 */
		rc = -EIO;
	} else if (!svc_rdma_bc_room_locked(bc->bc_sx)) {
		rc = -EAGAIN;
		xprt_wait_for_buffer_space(&bc->bc_xprt);
		if (rpcrdma_window_room(&bw->bw_window, bw->bw_nawaited))
			WRITE_ONCE(bw->bw_short, true);
	} else {
		cb->cb_bc = bc;
		cb->cb_xid = be32_to_cpu(rqst->rq_xid);
		cb->cb_sent = true;
		list_add_tail(&cb->cb_list, &bw->bw_sent);
		bw->bw_nawaited++;
		list_move_tail(&bc->bc_list, &bw->bw_clients);
	}
	spin_unlock(&bw->bw_lock);
	/* rpciod does not wait for Receives: a thread of the server adds them. */
	if (rc == -EAGAIN && READ_ONCE(bw->bw_short))
		svc_rdma_queue_wake(bc->bc_sx);
	return rc;
}

static int svc_rdma_bc_encode(struct svc_rdma_send *send, struct rpc_rqst *rqst)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	const struct rpcrdma_call_out out = {
		.ko_xid		= be32_to_cpu(rqst->rq_xid),
		.ko_credit	= sx->sx_sizes.sz_bc_requests,
		.ko_proc	= RPCRDMA1_MSG,
	};
	const struct xdr_buf *msg = &rqst->rq_snd_buf;
	u32 size;
	int len;

	/* After the buffer was allocated, the client may have announced a smaller limit. */
	size = min(send->ss_send.sd_buf.bf_size,
		   READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send));
	len = rpcrdma_encode_call(READ_ONCE(sx->sx_vers),
				  send->ss_send.sd_buf.bf_data, size, &out);
	if (len < 0)
		return len;
	if (msg->len > size - len)
		return -EMSGSIZE;
	if (read_bytes_from_xdr_buf(msg, 0, send->ss_send.sd_buf.bf_data + len,
				    msg->len))
		return -EIO;
	return len + msg->len;
}

/* Encode a callback and take a send queue slot for it. This comes before svc_rdma_bc_begin(),
 * which takes a credit, so a callback that gets a credit can be posted at once.
 */
static int svc_rdma_bc_prepare(struct svc_rdma_send *send,
			       struct rpc_rqst *rqst)
{
	struct rpcrdma_conn *conn = &svc_rdma_send_sx(send)->sx_conn;
	int len = svc_rdma_bc_encode(send, rqst);

	if (len < 0)
		return len;
	if (!rpcrdma_sq_try(&conn->cn_sq, 1, 0)) {
		/* Sends that have completed hold slots until their completions are handled. So make
		 * cq_work handle these completions now (verbs/send_cq.c).
		 */
		rpcrdma_send_cq_watch(conn);
		return -ENOBUFS;
	}
	svc_rdma_send_set_slots(send, 1);
	send->ss_send.sd_wait.wt_slots = 1;
	rpcrdma_send_prepare(&send->ss_send, len);
	return 0;
}

/* A client of version 2 may announce that it accepts no callbacks, by the property BRS
 * (version-two 4.2.2).
 */
static bool svc_rdma_bc_allowed(const struct svc_rdma_xprt *sx)
{
	return READ_ONCE(sx->sx_conn.cn_limits.lm_brs) != RPCRDMA2_BRS_NONE;
}

static int svc_rdma_bc_send(struct rpc_rqst *rqst)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(rqst->rq_xprt);
	struct svc_rdma_xprt *sx = bc->bc_sx;
	struct svc_rdma_send *send;
	int rc;

	CLASS(svc_rdma_inside, inside)(sx);
	if (!inside || svc_xprt_is_dead(&sx->sx_xprt) || svc_rdma_is_down(sx) ||
	    !svc_rdma_bc_allowed(sx))
		return -ENOTCONN;
	send = svc_rdma_send_get(sx, GFP_NOWAIT);
	if (!send)
		return -ENOBUFS;
	rc = svc_rdma_bc_prepare(send, rqst);
	if (!rc)
		rc = svc_rdma_bc_begin(bc, rqst);
	if (rc) {
		trace_svc_rdma_bc_call(sx, be32_to_cpu(rqst->rq_xid), rc);
		svc_rdma_send_put(send);
		return rc;
	}

	rqst->rq_xtime = ktime_get();
	trace_svc_rdma_bc_call(sx, be32_to_cpu(rqst->rq_xid),
			       rpcrdma_send_len(&send->ss_send));
	if (svc_rdma_send_post(send))
		return -ENOTCONN;
	rpcrdma_count(server_bc_calls);
	return 0;
}

/* Context: rpciod, with the send lock of the backchannel. */
static int svc_rdma_bc_send_request(struct rpc_rqst *rqst)
{
	int rc = svc_rdma_bc_send(rqst);

	/* Otherwise sunrpc would retry until somebody closes the transport. */
	if (rc == -ENOTCONN)
		xprt_disconnect_done(rqst->rq_xprt);
	return rpcrdma_xmit_status(rqst, rc);
}

/* Give back the message with the answer. This is done before the RPC ends: when it has ended, the
 * next callback may be sent at once, and there must be a Receive for its answer (RFC 8166 3.3.1;
 * invariant I13). Pages of an answer are never handed to an upper layer, so svc_rdma_msg_renew()
 * is not necessary.
 */
static void svc_rdma_bc_put_msg(struct svc_rdma_call *reply)
{
	if (!reply || !reply->sc_msg)
		return;
	svc_rdma_msg_put_renewed(reply->sc_sx, reply->sc_msg);
	reply->sc_msg = NULL;
}

/* Complete the RPC of a callback with its Reply, or with -EIO if @reply is NULL or too long: no
 * other answer will come (rfc5666bis 8.3.5). The RPC may be ending at the same time, so its
 * rpc_rqst must not be used without a lookup by XID. If sunrpc does not find the RPC any more, the
 * answer is dropped. Returns 0 or the reason why the Reply was not used.
 */
static int svc_rdma_bc_complete(const struct svc_rdma_callback *cb,
				struct svc_rdma_call *reply)
{
	u32 len = reply ? rpcrdma_msg_body_len(reply->sc_msg) : 0;
	struct rpc_xprt *xprt = &cb->cb_bc->bc_xprt;
	struct rpc_rqst *rqst;
	int rc = -ENOENT;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(cb->cb_xid));
	if (!rqst)
		goto out_unlock;
	rc = len > rqst->rq_rcv_buf.head[0].iov_len ? -EMSGSIZE : 0;
	if (reply && !rc) {
		rqst->rq_private_buf = rqst->rq_rcv_buf;
		rpcrdma_msg_copy(reply->sc_msg, 0,
				 rqst->rq_rcv_buf.head[0].iov_base, len);
	} else {
		rqst->rq_task->tk_status = -EIO;
		len = 0;
	}
	svc_rdma_bc_put_msg(reply);
	xprt_complete_rqst(rqst->rq_task, len);
out_unlock:
	spin_unlock(&xprt->queue_lock);
	return rc;
}

/**
 * svc_rdma_bc_answer - end the callback that a message answers
 * @sx: connection
 * @xid: XID of the callback. It is compared only with XIDs of callbacks: the XIDs of the client's
 *	Calls are independent of them (version-two 5.3.3)
 * @reply: decoded message with the Reply. If the Reply matches a callback, the message is given
 *	back before the RPC of the callback ends. NULL if the callback gets no usable Reply; the
 *	caller has then given back the message already
 *
 * The credit of the callback is free again, and a Reply may grant more. All is done under bw_lock:
 * a client may send its Reply twice, and the second Reply must not touch the RPC that the first has
 * completed.
 *
 * Context: process; the caller has entered the connection.
 * Return: %false if the answer was not used: no RPC waits for it, or the Reply is larger than the
 *	buffer of the RPC (rfc5666bis 8.3.5), and then the callback has failed.
 */
bool svc_rdma_bc_answer(struct svc_rdma_xprt *sx, u32 xid,
			struct svc_rdma_call *reply)
{
	u32 len = reply ? rpcrdma_msg_body_len(reply->sc_msg) : 0;
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_callback *cb;
	int rc = -ENOENT;

	spin_lock(&bw->bw_lock);
	list_for_each_entry(cb, &bw->bw_sent, cb_list)
		if (cb->cb_xid == xid)
			break;
	if (!list_entry_is_head(cb, &bw->bw_sent, cb_list)) {
		list_del_init(&cb->cb_list);
		bw->bw_nawaited--;
		rc = 0;
	} else if (rpcrdma_window_repay(&bw->bw_window)) {
		rc = -ETIMEDOUT;
	}
	if (rc != -ENOENT) {
		if (reply)
			rpcrdma_window_grant(&bw->bw_window,
					     reply->sc_hdr.hd_credit);
		if (!rc)
			rc = svc_rdma_bc_complete(cb, reply);
		svc_rdma_bc_put_msg(reply);
		svc_rdma_bc_wake_locked(sx);
	}
	spin_unlock(&bw->bw_lock);

	if (rc)
		trace_svc_rdma_bc_drop(sx, xid, rc);
	else if (reply)
		trace_svc_rdma_bc_reply(sx, xid, len);
	else
		trace_svc_rdma_bc_error(sx, xid, -EIO);
	return !rc;
}

/**
 * svc_rdma_bc_grow - add Receives for the answers to callbacks
 * @sx: connection; bw_short was true
 *
 * If memory is short, callbacks use only the existing Receives. Those that wait are then woken by
 * the next answer.
 *
 * Context: process; sleeps.
 */
void svc_rdma_bc_grow(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;

	WRITE_ONCE(bw->bw_short, false);
	if (svc_rdma_credits_backward(sx) <= 0)
		return;
	spin_lock(&bw->bw_lock);
	svc_rdma_bc_wake_locked(sx);
	spin_unlock(&bw->bw_lock);
}

/**
 * svc_rdma_bc_close_all - end the callbacks of a connection
 * @sx: connection that is being closed; this may be called twice
 *
 * All callbacks, whether they are sent or wait, fail with -ENOTCONN.
 *
 * Context: process.
 */
void svc_rdma_bc_close_all(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_bc *bc;

	spin_lock(&bw->bw_lock);
	list_for_each_entry(bc, &bw->bw_clients, bc_list)
		xprt_disconnect_done(&bc->bc_xprt);
	spin_unlock(&bw->bw_lock);
}

static int svc_rdma_bc_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct svc_rdma_callback *cb;

	/* One allocation has room for the Call and, behind it, for the Reply */
	cb = kzalloc(struct_size(cb, cb_data,
				 rqst->rq_callsize + rqst->rq_rcvsize),
		     rpc_task_gfp_mask());
	if (!cb)
		return -ENOMEM;
	INIT_LIST_HEAD(&cb->cb_list);
	rqst->rq_buffer = cb->cb_data;
	rqst->rq_rbuffer = rqst->rq_buffer + rqst->rq_callsize;
	return 0;
}

/* sunrpc calls this without a lock to free the buffers of an RPC. No Reply can be copied into them
 * any more: svc_rdma_bc_complete() no longer finds the RPC. nfsd may have changed tk_status, but
 * not tk_rpc_status.
 */
static void svc_rdma_bc_buf_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct svc_rdma_callback *cb = svc_rdma_bc_callback(rqst);
	struct svc_rdma_xprt *sx = svc_rdma_bc_of(rqst->rq_xprt)->bc_sx;
	struct svc_rdma_backward *bw = &sx->sx_backward;
	bool given_up, stuck;

	spin_lock(&bw->bw_lock);
	given_up = !list_empty(&cb->cb_list) && xprt_connected(rqst->rq_xprt);
	if (!list_empty(&cb->cb_list)) {
		list_del(&cb->cb_list);
		bw->bw_nawaited--;
		bw->bw_window.wn_owed++;
	}
	/* If no RPC of this backchannel waits any more, the next wake-up must go to another one. */
	if (!cb->cb_sent)
		xprt_write_space(rqst->rq_xprt);
	stuck = task->tk_rpc_status == -ETIMEDOUT &&
		!rpcrdma_window_room(&bw->bw_window, 0);
	svc_rdma_bc_wake_locked(sx);
	spin_unlock(&bw->bw_lock);

	if (given_up) {
		rpcrdma_count(server_bc_given_up);
		trace_svc_rdma_bc_given_up(sx, cb->cb_xid, task->tk_rpc_status);
	}
	if (stuck && rpcrdma_conn_fail(&sx->sx_conn, -ETIMEDOUT))
		trace_svc_rdma_bc_stuck(sx, -ETIMEDOUT);
	kfree(cb);
	rqst->rq_buffer = NULL;
	rqst->rq_rbuffer = NULL;
}

static void svc_rdma_bc_destroy(struct rpc_xprt *xprt)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);
	struct svc_rdma_backward *bw = &bc->bc_sx->sx_backward;

	spin_lock(&bw->bw_lock);
	list_del(&bc->bc_list);
	spin_unlock(&bw->bw_lock);
	svc_xprt_put(&bc->bc_sx->sx_xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

/* sunrpc calls xprt_disconnect_done() to close this backchannel. The connection, and its other
 * backchannels, stay.
 */
static const struct rpc_xprt_ops svc_rdma_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.buf_alloc		= svc_rdma_bc_buf_alloc,
	.buf_free		= svc_rdma_bc_buf_free,
	.send_request		= svc_rdma_bc_send_request,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= xprt_disconnect_done,
	.destroy		= svc_rdma_bc_destroy,
};

static const struct rpc_timeout svc_rdma_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/* Make a backchannel. There is a Receive for the answer to its first callback. */
static struct rpc_xprt *svc_rdma_bc_create(struct svc_rdma_xprt *sx,
					   const struct xprt_create *args)
{
	const struct rpcrdma_limits *limits = &sx->sx_conn.cn_limits;
	u32 requests = sx->sx_sizes.sz_bc_requests;
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_bc *bc;
	struct rpc_xprt *xprt;

	xprt = xprt_alloc(args->net, sizeof(*bc), requests, requests);
	if (!xprt)
		return NULL;
	bc = svc_rdma_bc_of(xprt);
	bc->bc_sx = sx;
	svc_xprt_get(&sx->sx_xprt);

	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	snprintf(bc->bc_addr, sizeof(bc->bc_addr), "%pISc", args->dstaddr);
	snprintf(bc->bc_port, sizeof(bc->bc_port), "%u",
		 rpc_get_port(args->dstaddr));
	xprt->address_strings[RPC_DISPLAY_ADDR] = bc->bc_addr;
	xprt->address_strings[RPC_DISPLAY_PORT] = bc->bc_port;
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] = "rdma";

	xprt->prot = XPRT_TRANSPORT_BC_RDMA;
	xprt->xprt_class = &svc_rdma_bc_class;
	xprt->ops = &svc_rdma_bc_ops;
	xprt->timeout = &svc_rdma_bc_timeout;
	/* A callback must fit into one Receive of the client, and its Reply into one of ours
	 * (rfc5666bis 8.3.3).
	 */
	xprt->max_payload = min(limits->lm_inline_send, limits->lm_inline_recv) -
			    RPCRDMA1_HDR_MIN - limits->lm_hdr_extra;
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);

	spin_lock(&bw->bw_lock);
	bw->bw_window.wn_requested = requests;
	list_add_tail(&bc->bc_list, &bw->bw_clients);
	spin_unlock(&bw->bw_lock);
	return xprt;
}

static struct rpc_xprt *svc_rdma_bc_setup(struct xprt_create *args)
{
	struct svc_rdma_xprt *sx;
	struct rpc_xprt *xprt;
	int rc = 0;

	/* A transport that is added to a switch through sysfs has no bc_xprt */
	if (!args->bc_xprt)
		return ERR_PTR(-EINVAL);
	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	sx = svc_rdma_xprt_of(args->bc_xprt);
	if (!svc_rdma_bc_allowed(sx)) {
		trace_svc_rdma_bc_unwanted(sx, -EOPNOTSUPP);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	if (!READ_ONCE(sx->sx_credit.cd_bc_recvs))
		rc = svc_rdma_credits_backward(sx);
	if (rc < 0)
		goto out_module;
	rc = -ENOMEM;
	xprt = svc_rdma_bc_create(sx, args);
	if (xprt)
		return xprt;

out_module:
	trace_svc_rdma_bc_unwanted(sx, rc);
	module_put(THIS_MODULE);
	return ERR_PTR(rc);
}

struct xprt_class svc_rdma_bc_class = {
	.list	= LIST_HEAD_INIT(svc_rdma_bc_class.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= svc_rdma_bc_setup,
	.netid	= { "" },
};
