// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks of one connection. This file decides which callback may be sent now, and finds the
 * callback that an answer belongs to. It encodes nothing and posts nothing. It calls sunrpc only
 * to find and complete an RPC, to let an RPC wait or try again, or to mark a backchannel as
 * disconnected.
 *
 * Each NFS client on a connection has a backchannel of its own, a struct rpc_xprt
 * (server/backchannel.c). All backchannels of a connection share, under bw_lock:
 *
 * - The window: the credits for callbacks. They are independent of the credits for the
 *   client's Calls. The client grants them to the connection, and not to a backchannel.
 *   Until its first grant there is one credit (rfc5666bis 8.2.1).
 * - The Receives for the answers. The first one is added when the first backchannel is made. More
 *   are added when a credit is free for a callback, but no Receive is free for its answer
 *   (server/credit.c).
 * - The line of backchannels that wait for a credit or a Receive. A credit that becomes free
 *   goes to the first backchannel in the line. That backchannel keeps its place until
 *   svc_rdma_callback_begin() permits a callback or refuses it (with an error other than
 *   -EAGAIN), until the RPC of the waiting callback has ended, or until the connection is closed.
 *   Other backchannels join at the end.
 * - The callbacks without an answer. An answer is matched by its XID alone.
 *
 * If the client takes too long, the upper layer ends the RPC of a callback without an answer: the
 * callback is *given up*. The client does not know that. So the callback still uses a credit,
 * and Receives at both ends, until it is answered (invariant I18). The connection owns a callback
 * that was given up; every other callback is owned by its RPC. When all credits are in use by
 * callbacks that were given up, no callback can be sent any more, and the next attempt closes the
 * connection.
 *
 * Ownership (invariant I22): a backchannel holds a reference to its connection. The
 * connection holds no reference to a backchannel. It has a list of them, which
 * svc_rdma_way_join() and svc_rdma_way_leave() maintain, and uses a backchannel only under
 * bw_lock.
 */
#include <linux/slab.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/xprt.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

/**
 * svc_rdma_backward_init - prepare the backward direction of a new connection
 * @bw: backward direction
 *
 * Context: any.
 */
void svc_rdma_backward_init(struct svc_rdma_backward *bw)
{
	spin_lock_init(&bw->bw_lock);
	INIT_LIST_HEAD(&bw->bw_ways);
	INIT_LIST_HEAD(&bw->bw_line);
	INIT_LIST_HEAD(&bw->bw_sent);
	bw->bw_nawaited = 0;
	bw->bw_answers = 0;
	bw->bw_peak = 0;
	bw->bw_short = false;
	bw->bw_growing = false;
	bw->bw_refused = 0;
	bw->bw_closed = false;
	rpcrdma_window_reset(&bw->bw_window, 1);
}

/* Returns the number of unanswered callbacks. Each of them uses a credit and a Receive. */
static u32 svc_rdma_backward_used(const struct svc_rdma_backward *bw)
{
	return bw->bw_nawaited + bw->bw_window.wn_owed;
}

static bool svc_rdma_backward_has_credit(const struct svc_rdma_backward *bw)
{
	return rpcrdma_window_room(&bw->bw_window, bw->bw_nawaited);
}

static bool svc_rdma_backward_has_receive(const struct svc_rdma_backward *bw)
{
	return svc_rdma_backward_used(bw) < bw->bw_answers;
}

static bool svc_rdma_backward_has_room(const struct svc_rdma_backward *bw)
{
	return svc_rdma_backward_has_credit(bw) &&
	       svc_rdma_backward_has_receive(bw);
}

/* Has an attempt to add Receives failed within the last second? */
static bool svc_rdma_backward_is_refused(const struct svc_rdma_backward *bw)
{
	return bw->bw_refused && time_before(jiffies, bw->bw_refused + HZ);
}

/* Are all credits in use by callbacks whose RPCs were given up? */
static bool svc_rdma_backward_is_stuck(const struct svc_rdma_backward *bw)
{
	return !rpcrdma_window_room(&bw->bw_window, 0);
}

/* Should the first backchannel in the line try again to send its callback? It should if the
 * callback can be sent, or can ask for more Receives. It should also try again if callbacks that
 * were given up have all credits: the callback then fails, and does not wait for ever.
 */
static bool svc_rdma_backward_may_proceed(const struct svc_rdma_backward *bw)
{
	if (svc_rdma_backward_is_stuck(bw))
		return true;
	return svc_rdma_backward_has_credit(bw) &&
	       (svc_rdma_backward_has_receive(bw) ||
		(!bw->bw_short && !bw->bw_growing));
}

static void svc_rdma_backward_wake_locked(struct svc_rdma_backward *bw)
{
	struct svc_rdma_way *first;

	lockdep_assert_held(&bw->bw_lock);
	first = list_first_entry_or_null(&bw->bw_line, struct svc_rdma_way,
					 wy_line);
	if (first && svc_rdma_backward_may_proceed(bw))
		xprt_write_space(first->wy_xprt);
}

static void svc_rdma_way_wait_locked(struct svc_rdma_backward *bw,
				     struct svc_rdma_callback *cb)
{
	struct svc_rdma_way *way = cb->cb_way;

	lockdep_assert_held(&bw->bw_lock);
	if (list_empty(&way->wy_line))
		list_add_tail(&way->wy_line, &bw->bw_line);
	way->wy_first = cb;
	xprt_wait_for_buffer_space(way->wy_xprt);
}

static void svc_rdma_way_proceed_locked(struct svc_rdma_backward *bw,
					struct svc_rdma_way *way)
{
	lockdep_assert_held(&bw->bw_lock);
	list_del_init(&way->wy_line);
	way->wy_first = NULL;
	xprt_write_space(way->wy_xprt);
}

/**
 * svc_rdma_way_join - add an NFS client's backchannel
 * @sx: connection; the backchannel has a reference to it
 * @way: new backchannel; @wy_xprt is connected
 * @requests: callbacks that may be in flight on the connection
 *
 * If the connection is closed already, @wy_xprt is marked as not connected.
 *
 * Context: process.
 */
void svc_rdma_way_join(struct svc_rdma_xprt *sx, struct svc_rdma_way *way,
		       u32 requests)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;

	INIT_LIST_HEAD(&way->wy_line);
	way->wy_first = NULL;
	spin_lock(&bw->bw_lock);
	/* All backchannels of a connection pass the same number, so this changes nothing for the
	 * others.
	 */
	bw->bw_window.wn_requested = requests;
	list_add_tail(&way->wy_list, &bw->bw_ways);
	if (bw->bw_closed)
		xprt_clear_connected(way->wy_xprt);
	spin_unlock(&bw->bw_lock);
}

/**
 * svc_rdma_way_leave - remove an NFS client's backchannel
 * @sx: connection
 * @way: backchannel that no RPC uses any more
 *
 * Context: process.
 */
void svc_rdma_way_leave(struct svc_rdma_xprt *sx, struct svc_rdma_way *way)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;

	spin_lock(&bw->bw_lock);
	list_del(&way->wy_list);
	list_del_init(&way->wy_line);
	svc_rdma_backward_wake_locked(bw);
	spin_unlock(&bw->bw_lock);
}

/**
 * svc_rdma_backward_claim - begin to add Receives for the answers to callbacks
 * @sx: connection
 *
 * The number of callbacks with a Receive for the answer is doubled, but never exceeds wn_requested
 * of bw_window. Only one thread at a time adds Receives for answers. The others need not wait for
 * it.
 *
 * Context: process.
 * Return: number of callbacks that should have Receives for their answers, and then the caller adds
 *	the Receives and calls svc_rdma_backward_provide(); or 0, if nothing is to be done or
 *	another thread does it.
 */
u32 svc_rdma_backward_claim(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	u32 answers = 0;

	spin_lock(&bw->bw_lock);
	if (bw->bw_short) {
		WRITE_ONCE(bw->bw_short, false);
		bw->bw_growing = true;
		answers = min(2 * bw->bw_answers, bw->bw_window.wn_requested);
	}
	spin_unlock(&bw->bw_lock);
	return answers;
}

/**
 * svc_rdma_backward_provide - Receives for answers have been added, or cannot be added
 * @sx: connection
 * @answers: number of callbacks for whose answers there are Receives now. If it is not larger than
 *	before, callbacks use the existing Receives, and more are asked for later
 *
 * Context: process; the caller holds sx_grow.
 */
void svc_rdma_backward_provide(struct svc_rdma_xprt *sx, u32 answers)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;

	spin_lock(&bw->bw_lock);
	if (answers > bw->bw_answers)
		bw->bw_answers = answers;
	else
		bw->bw_refused = jiffies | 1;
	bw->bw_growing = false;
	svc_rdma_backward_wake_locked(bw);
	spin_unlock(&bw->bw_lock);
}

/**
 * svc_rdma_backward_review - lower the number of Receives for answers to what was needed lately
 * @sx: connection; it may have no backchannel
 *
 * Credits that were granted to a client are taken back slowly (core/grant.c). But these Receives
 * were promised to nobody, so the caller may take them out of the pool at once.
 *
 * Context: process; the caller holds sx_grow.
 * Return: number of callbacks for whose answers the caller must keep Receives in the pool.
 */
u32 svc_rdma_backward_review(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	u32 answers;

	spin_lock(&bw->bw_lock);
	answers = min(bw->bw_answers, max(bw->bw_peak, 1u));
	bw->bw_answers = answers;
	bw->bw_peak = svc_rdma_backward_used(bw);
	spin_unlock(&bw->bw_lock);
	return answers;
}

/**
 * svc_rdma_backward_close - end the callbacks of a connection
 * @sx: connection that is being closed; this may be called twice
 *
 * Unanswered callbacks, and those that wait for a credit or a Receive, fail with -ENOTCONN.
 * The RPCs of callbacks that were given up have ended already; these callbacks are freed.
 *
 * Context: process.
 */
void svc_rdma_backward_close(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_callback *cb, *next;
	struct svc_rdma_way *way;

	spin_lock(&bw->bw_lock);
	bw->bw_closed = true;
	bw->bw_nawaited = 0;
	list_for_each_entry_safe(cb, next, &bw->bw_sent, cb_list) {
		list_del_init(&cb->cb_list);
		if (!cb->cb_way)
			kfree(cb);
	}
	list_for_each_entry(way, &bw->bw_ways, wy_list) {
		list_del_init(&way->wy_line);
		way->wy_first = NULL;
		xprt_disconnect_done(way->wy_xprt);
	}
	spin_unlock(&bw->bw_lock);
}

static struct svc_rdma_callback *
svc_rdma_callback_find_locked(struct svc_rdma_backward *bw, u32 xid)
{
	struct svc_rdma_callback *cb;

	lockdep_assert_held(&bw->bw_lock);
	list_for_each_entry(cb, &bw->bw_sent, cb_list)
		if (cb->cb_xid == xid)
			return cb;
	return NULL;
}

static int svc_rdma_callback_check_locked(struct svc_rdma_backward *bw,
					  const struct svc_rdma_callback *cb)
{
	lockdep_assert_held(&bw->bw_lock);
	if (bw->bw_closed)
		return -ENOTCONN;
	/* This callback has failed already, and must not be sent again (I17). sunrpc tries to
	 * send it because the RPC's task has overwritten the status -EIO, see
	 * svc_rdma_callback_fail_rqst().
	 */
	if (cb->cb_failed)
		return -EIO;
	if (!list_empty(&cb->cb_list) || svc_rdma_backward_is_stuck(bw))
		return -ETIMEDOUT;
	/* Each backchannel chooses its own XIDs, so two may choose the same. */
	if (svc_rdma_callback_find_locked(bw, cb->cb_xid))
		return -ENOBUFS;
	if (!list_empty(&bw->bw_line) &&
	    !list_is_first(&cb->cb_way->wy_line, &bw->bw_line))
		return -EAGAIN;
	if (svc_rdma_backward_has_room(bw))
		return 0;
	if (!svc_rdma_backward_has_credit(bw))
		return -EAGAIN;
	if (svc_rdma_backward_is_refused(bw))
		return -ENOBUFS;
	if (!bw->bw_growing)
		WRITE_ONCE(bw->bw_short, true);
	return -EAGAIN;
}

/**
 * svc_rdma_callback_begin - get permission to send a callback
 * @sx: connection
 * @way: backchannel of the NFS client; the caller has its send lock
 * @cb: callback
 * @xid: its XID
 *
 * If 0 is returned, the callback has a credit and is in bw_sent. The caller posts it
 * afterwards, because the answer may arrive at once, and must find it in bw_sent.
 *
 * Context: process.
 * Return: 0;
 *	%-EAGAIN if no credit or no Receive is free, or other backchannels are ahead in the line:
 *	@way is then in the line, and sunrpc tries again when its turn comes. If
 *	svc_rdma_backward_is_short() is then true, the caller wakes a thread that adds Receives;
 *	%-ENOBUFS if another unanswered callback has the same XID, or if a Receive is missing
 *	and could not be added: sunrpc tries later;
 *	%-ENOTCONN if the connection is being closed;
 *	%-EIO if the callback has failed (cb_failed);
 *	%-ETIMEDOUT if only a new connection helps, because the callback was already sent on
 *	this one and is not answered, or all credits are in use by callbacks that were given up.
 */
int svc_rdma_callback_begin(struct svc_rdma_xprt *sx, struct svc_rdma_way *way,
			    struct svc_rdma_callback *cb, u32 xid)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	int rc;

	spin_lock(&bw->bw_lock);
	cb->cb_way = way;
	cb->cb_xid = xid;
	rc = svc_rdma_callback_check_locked(bw, cb);
	if (rc == -EAGAIN) {
		svc_rdma_way_wait_locked(bw, cb);
		goto out_unlock;
	}
	if (!rc) {
		list_add_tail(&cb->cb_list, &bw->bw_sent);
		bw->bw_nawaited++;
		bw->bw_peak = max(bw->bw_peak, svc_rdma_backward_used(bw));
	}
	svc_rdma_way_proceed_locked(bw, way);
	svc_rdma_backward_wake_locked(bw);
out_unlock:
	spin_unlock(&bw->bw_lock);
	return rc;
}

/**
 * svc_rdma_callback_end - the RPC of a callback has ended
 * @sx: connection
 * @way: backchannel of the NFS client
 * @cb: callback, sent or not
 * @status: status of the RPC
 *
 * A callback that was sent and is not answered is given up. It is freed when it is
 * answered or when the connection is closed. Any other callback is freed now.
 *
 * Context: process.
 */
void svc_rdma_callback_end(struct svc_rdma_xprt *sx, struct svc_rdma_way *way,
			   struct svc_rdma_callback *cb, int status)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	u32 xid = cb->cb_xid;
	bool given_up;

	spin_lock(&bw->bw_lock);
	given_up = !list_empty(&cb->cb_list);
	if (given_up) {
		cb->cb_way = NULL;
		bw->bw_nawaited--;
		rpcrdma_window_owe(&bw->bw_window);
	}
	/* If the RPC was waiting for a credit or a Receive, the backchannel loses its place in
	 * bw_line: its next callback joins the end of the line.
	 */
	if (way->wy_first == cb)
		svc_rdma_way_proceed_locked(bw, way);
	svc_rdma_backward_wake_locked(bw);
	spin_unlock(&bw->bw_lock);

	if (!given_up) {
		kfree(cb);
		return;
	}
	rpcrdma_count(server_bc_given_up);
	trace_svc_rdma_bc_given_up(sx, xid, status);
}

/* Match an answer with its callback, and free the callback's credit. Returns NULL, with the
 * reason in *@rc, if no RPC waits for the answer.
 */
static struct svc_rdma_callback *
svc_rdma_callback_take_locked(struct svc_rdma_backward *bw, u32 xid, int *rc)
{
	struct svc_rdma_callback *cb;

	lockdep_assert_held(&bw->bw_lock);

	cb = svc_rdma_callback_find_locked(bw, xid);
	*rc = -ENOENT;
	if (!cb)
		return NULL;
	list_del_init(&cb->cb_list);
	if (cb->cb_way) {
		bw->bw_nawaited--;
		*rc = 0;
		return cb;
	}
	rpcrdma_count(server_bc_late_replies);
	rpcrdma_window_repay(&bw->bw_window);
	kfree(cb);
	*rc = -ETIMEDOUT;
	return NULL;
}

/* End the RPC with -EIO, because no other answer will come (rfc5666bis 8.3.5). If the RPC's task is
 * not asleep yet, the task overwrites tk_status and tries to send the callback again. cb_failed
 * makes that attempt fail (I17). The caller holds queue_lock.
 */
static void svc_rdma_callback_fail_rqst(struct svc_rdma_callback *cb,
					struct rpc_rqst *rqst)
{
	cb->cb_failed = true;
	rqst->rq_task->tk_status = -EIO;
	xprt_complete_rqst(rqst->rq_task, 0);
}

/* Give back the message with the answer. This is done before the RPC ends: when it has ended, the
 * next callback may be sent at once, and there must be a Receive for its answer (RFC 8166 3.3.1;
 * invariant I13). Pages of an answer are never handed to an upper layer, so svc_rdma_msg_renew()
 * is not necessary.
 */
static void svc_rdma_callback_put_msg(struct svc_rdma_call *call)
{
	if (!call || !call->sc_msg)
		return;
	svc_rdma_msg_put_renewed(call->sc_sx, call->sc_msg);
	call->sc_msg = NULL;
}

static void svc_rdma_callback_copy(struct rpc_rqst *rqst,
				   struct svc_rdma_call *call)
{
	u32 len = rpcrdma_msg_body_len(call->sc_msg);

	memcpy(&rqst->rq_private_buf, &rqst->rq_rcv_buf,
	       sizeof(rqst->rq_private_buf));
	rpcrdma_msg_copy(call->sc_msg, 0, rqst->rq_rcv_buf.head[0].iov_base,
			 len);
	svc_rdma_callback_put_msg(call);
	xprt_complete_rqst(rqst->rq_task, len);
}

/* Complete the RPC of a callback with its Reply, or with an error if @reply is NULL or too
 * long. The RPC may be ending at the same time, so its rpc_rqst must not be used without a lookup
 * by XID. If sunrpc does not find the RPC any more, the answer is dropped.
 */
static int svc_rdma_callback_complete(struct svc_rdma_callback *cb,
				      struct svc_rdma_call *reply)
{
	struct rpc_xprt *xprt = cb->cb_way->wy_xprt;
	struct rpc_rqst *rqst;
	bool too_long;
	int rc = 0;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(cb->cb_xid));
	too_long = rqst && reply && rpcrdma_msg_body_len(reply->sc_msg) >
				    rqst->rq_rcv_buf.head[0].iov_len;
	if (!rqst)
		rc = -ENOENT;
	else if (too_long)
		rc = -EMSGSIZE;
	if (rqst && (too_long || !reply)) {
		svc_rdma_callback_put_msg(reply);
		svc_rdma_callback_fail_rqst(cb, rqst);
	} else if (rqst) {
		svc_rdma_callback_copy(rqst, reply);
	}
	spin_unlock(&xprt->queue_lock);
	return rc;
}

/* Match an answer with its callback, apply the credits that the answer grants, and then complete
 * the RPC, all under bw_lock: a client may send its Reply twice, and the second Reply must not
 * touch the RPC that the first has completed.
 */
static int svc_rdma_callback_answer(struct svc_rdma_xprt *sx, u32 xid,
				    struct svc_rdma_call *reply)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_callback *cb;
	int rc;

	spin_lock(&bw->bw_lock);
	cb = svc_rdma_callback_take_locked(bw, xid, &rc);
	if (reply && rc != -ENOENT)
		rpcrdma_window_grant(&bw->bw_window, reply->sc_hdr.hd_credit);
	if (cb)
		rc = svc_rdma_callback_complete(cb, reply);
	/* The next callback that is sent may need the Receive of this answer. */
	if (cb || rc == -ETIMEDOUT)
		svc_rdma_callback_put_msg(reply);
	svc_rdma_backward_wake_locked(bw);
	spin_unlock(&bw->bw_lock);
	if (rc)
		trace_svc_rdma_bc_drop(sx, xid, rc);
	return rc;
}

/**
 * svc_rdma_callback_reply - match the Reply to a callback with the callback
 * @call: decoded message with the Reply. If the Reply matches a callback, the message is given back
 *	before the RPC of the callback ends
 *
 * The credit of the callback is free again, and the Reply may grant more.
 *
 * Context: process.
 * Return: %false if the Reply was not used: no RPC waits for it, or it is larger than the buffer
 *	of the RPC (rfc5666bis 8.3.5), and then the callback has failed.
 */
bool svc_rdma_callback_reply(struct svc_rdma_call *call)
{
	u32 len = rpcrdma_msg_body_len(call->sc_msg);
	u32 xid = call->sc_hdr.hd_rpc_xid;

	if (svc_rdma_callback_answer(call->sc_sx, xid, call))
		return false;
	trace_svc_rdma_bc_reply(call->sc_sx, xid, len);
	return true;
}

/**
 * svc_rdma_callback_fail - end a callback that gets no usable Reply
 * @sx: connection
 * @xid: XID of the callback
 *
 * The caller has already given back the message that ends the callback, because another
 * callback may be sent as soon as this one has ended: see svc_rdma_callback_put_msg().
 *
 * The credit of the callback is free again. @xid is compared only with XIDs of callbacks: the XIDs
 * of the client's Calls are independent of them (version-two 5.3.3).
 *
 * Context: process.
 * Return: %false if no RPC waits for an answer with that XID.
 */
bool svc_rdma_callback_fail(struct svc_rdma_xprt *sx, u32 xid)
{
	if (svc_rdma_callback_answer(sx, xid, NULL))
		return false;
	trace_svc_rdma_bc_error(sx, xid, -EIO);
	return true;
}
