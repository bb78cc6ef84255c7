// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks: NFSv4.1 and later servers call their clients on the connection
 * that the client opened (RFC 8167). To sunrpc this looks like a client
 * transport, a struct rpc_xprt without a connection of its own: it sends
 * through the svc_xprt it was made for, and is never connected again. When that
 * connection goes, its RPCs end with -ENOTCONN, and the upper layer tries anew
 * on another one (rfc5666bis 8.3.2).
 *
 * Backward credits have nothing to do with forward ones (rfc5666bis 8.2.1): there is a
 * window per direction, and this one is enforced by sunrpc's congestion window,
 * which is one request until the client's first grant (G-15). Receives for the
 * replies are posted when the backchannel is set up, as many as there can be
 * callbacks in flight (rfc5666bis 8.2.2.2).
 *
 * The upper layer gives a callback up when the client takes too long. The client
 * does not know that, and the callback goes on using its credit, and its
 * Receives at either end, until its Reply comes after all (invariant I18). So
 * all callbacks that were sent are on record until they are answered. When a
 * callback is to be sent and those that were given up have all the credits, only
 * a new connection gets it through, and this one is closed.
 *
 * All NFS clients on a connection share one rpc_xprt, which sunrpc finds in
 * xpt_bc_xprt. But it does not expect two of them to ask at the same time: a
 * client that finds it while the first one's rpc_create() has not come to its
 * end puts it into a second switch, and the lists of both run into each other.
 * So it is shown when its switch can be found: when it is first used, or by a work
 * (invariant I22). Who has asked meanwhile gets one of its own, but also the
 * switch of the first one, and so sends through that.
 *
 * To make one does not fail because the connection is dead already: nfsd would
 * look at what the loss of the connection has freed.
 *
 * Sending happens in rpciod, which must not wait for this client: without a
 * buffer or a send queue slot the RPC is told to try again. The message is
 * copied into a Send context, as with an inline Reply, so a retransmission
 * never meets the buffers of an earlier try.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/svc_rdma.h>
#include <rpcrdma/trace_svc.h>
#include <rpcrdma/xmit.h>

/**
 * struct svc_rdma_bc_sent - a callback on record
 * @bs_xid: its XID
 * @bs_given_up: nobody waits for the Reply any more
 * @bs_failed: it was answered with an error and has not ended yet
 */
struct svc_rdma_bc_sent {
	u32	bs_xid;
	bool	bs_given_up;
	bool	bs_failed;
};

/**
 * struct svc_rdma_bc - the backward direction of a connection
 * @bc_xprt: the sunrpc end
 * @bc_shown: sunrpc has been told of it, and owns the one that svc_xprt_free()
 *	drops; else it has a reference to its svc_xprt
 * @bc_show: tells it; with a reference to it, and one to its svc_xprt
 * @bc_window: what the client grants
 * @bc_nsent: entries used in @bc_sent
 * @bc_nfailed: of these, those that failed
 * @bc_sent: callbacks sent and not answered, @bc_window.wn_requested at most;
 *	and those that failed, no more than there are slots, which is as many
 *
 * Under bc_xprt.transport_lock, all behind @bc_show.
 */
struct svc_rdma_bc {
	struct rpc_xprt		bc_xprt;
	bool			bc_shown;
	struct delayed_work	bc_show;
	struct rpcrdma_window	bc_window;
	u32			bc_nsent;
	u32			bc_nfailed;
	struct svc_rdma_bc_sent	bc_sent[];
};

static struct workqueue_struct *svc_rdma_bc_wq;

static const struct rpc_timeout svc_rdma_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct svc_rdma_bc *svc_rdma_bc_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_bc, bc_xprt);
}

/* Leaves one credit even if those that were given up have all: sunrpc would wait
 * for good. svc_rdma_bc_await() does not let it be used.
 */
static void svc_rdma_bc_set_cwnd(struct svc_rdma_bc *bc)
{
	u32 room = max(rpcrdma_window_room(&bc->bc_window, 0), 1u);

	lockdep_assert_held(&bc->bc_xprt.transport_lock);
	bc->bc_xprt.cwnd = room << RPC_CWNDSHIFT;
}

/* From here on sunrpc finds it (I22). The caller has a reference to either. */
static void svc_rdma_bc_show(struct rpc_xprt *xprt)
{
	struct svc_xprt *svc = xprt->bc_xprt;

	/* svc_xprt_free() drops this one */
	xprt_get(xprt);
	if (cmpxchg(&svc->xpt_bc_xprt, NULL, xprt)) {
		xprt_put(xprt);
		return;
	}
	svc_rdma_bc_of(xprt)->bc_shown = true;
	svc_xprt_put(svc);
}

/* Without a callback to send, it is shown here: unshown, it would keep the
 * connection, and that it. If nobody else has it, its rpc_create() has failed.
 */
static void svc_rdma_bc_show_work(struct work_struct *work)
{
	struct svc_rdma_bc *bc = container_of(to_delayed_work(work),
					      struct svc_rdma_bc, bc_show);
	struct rpc_xprt *xprt = &bc->bc_xprt;
	struct svc_xprt *svc = xprt->bc_xprt;

	if (READ_ONCE(svc->xpt_bc_xps)) {
		svc_rdma_bc_show(xprt);
	} else if (kref_read(&xprt->kref) > 1) {
		queue_delayed_work(svc_rdma_bc_wq, &bc->bc_show, 1);
		return;
	}
	xprt_put(xprt);
	svc_xprt_put(svc);
}

/* The first transport of a connection goes into a switch of its own. It takes
 * a moment until that can be found.
 */
static void svc_rdma_bc_join(struct svc_rdma_xprt *sx, struct rpc_xprt *xprt)
{
	while (cmpxchg(&sx->sx_bc, NULL, xprt)) {
		if (READ_ONCE(sx->sx_xprt.xpt_bc_xps))
			return;
		usleep_range(100, 1000);
	}
	/* Who shows it before the work does drops its reference */
	svc_xprt_get(&sx->sx_xprt);
	xprt_get(xprt);
	queue_delayed_work(svc_rdma_bc_wq, &svc_rdma_bc_of(xprt)->bc_show, 1);
}

static struct svc_rdma_bc_sent *svc_rdma_bc_find(struct svc_rdma_bc *bc,
						 u32 xid)
{
	u32 i;

	lockdep_assert_held(&bc->bc_xprt.transport_lock);
	for (i = 0; i < bc->bc_nsent; i++)
		if (bc->bc_sent[i].bs_xid == xid)
			return &bc->bc_sent[i];
	return NULL;
}

/* A callback is about to be sent. Returns false if it must not be: it was sent
 * before, or callbacks that were given up have all credits.
 */
static bool svc_rdma_bc_await(struct svc_rdma_bc *bc, u32 xid)
{
	bool good;

	spin_lock(&bc->bc_xprt.transport_lock);
	good = rpcrdma_window_room(&bc->bc_window, 0) &&
	       bc->bc_nsent - bc->bc_nfailed < bc->bc_window.wn_requested &&
	       !svc_rdma_bc_find(bc, xid);
	if (good)
		bc->bc_sent[bc->bc_nsent++] = (struct svc_rdma_bc_sent){
			.bs_xid = xid,
		};
	spin_unlock(&bc->bc_xprt.transport_lock);
	return good;
}

static void svc_rdma_bc_forget(struct svc_rdma_bc *bc,
			       struct svc_rdma_bc_sent *sent)
{
	lockdep_assert_held(&bc->bc_xprt.transport_lock);
	bc->bc_nfailed -= sent->bs_failed;
	*sent = bc->bc_sent[--bc->bc_nsent];
}

/* A callback was answered, with a Reply or an error: that returns its credit, and
 * a Reply, @hdr, brings a grant. Returns 0; -ENOENT if there is no such callback;
 * or -ETIMEDOUT if nobody waits for the answer any more.
 *
 * A task that is not asleep yet forgets the status of a callback that @failed,
 * and would send it again. It stays on record until it ends (I17).
 */
static int svc_rdma_bc_answered(struct svc_rdma_bc *bc, u32 xid,
				const struct rpcrdma_hdr *hdr, bool failed)
{
	struct svc_rdma_bc_sent *sent;
	int rc = -ENOENT;

	spin_lock(&bc->bc_xprt.transport_lock);
	sent = svc_rdma_bc_find(bc, xid);
	if (!sent || sent->bs_failed)
		goto out_unlock;
	rc = sent->bs_given_up ? -ETIMEDOUT : 0;
	if (rc) {
		rpcrdma_count(server_bc_late_replies);
		rpcrdma_window_repay(&bc->bc_window);
	}
	if (!rc && failed) {
		sent->bs_failed = true;
		bc->bc_nfailed++;
	} else {
		svc_rdma_bc_forget(bc, sent);
	}
	if (hdr)
		rpcrdma_window_grant(&bc->bc_window, hdr->hd_credit);
	svc_rdma_bc_set_cwnd(bc);
out_unlock:
	spin_unlock(&bc->bc_xprt.transport_lock);
	return rc;
}

static bool svc_rdma_bc_has_failed(struct svc_rdma_bc *bc, u32 xid)
{
	struct svc_rdma_bc_sent *sent;
	bool failed;

	spin_lock(&bc->bc_xprt.transport_lock);
	sent = svc_rdma_bc_find(bc, xid);
	failed = sent && sent->bs_failed;
	spin_unlock(&bc->bc_xprt.transport_lock);
	return failed;
}

/* A callback ends: what becomes of its credit? With the transport_lock. */
static void svc_rdma_bc_release_request(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct svc_rdma_bc *bc = svc_rdma_bc_of(rqst->rq_xprt);
	struct svc_rdma_bc_sent *sent;

	sent = svc_rdma_bc_find(bc, be32_to_cpu(rqst->rq_xid));
	if (sent && sent->bs_failed) {
		svc_rdma_bc_forget(bc, sent);
	} else if (sent) {
		rpcrdma_count(server_bc_given_up);
		trace_svc_rdma_bc_given_up(svc_rdma_xprt_of(rqst->rq_xprt->bc_xprt),
					   sent->bs_xid, task->tk_status);
		sent->bs_given_up = true;
		rpcrdma_window_owe(&bc->bc_window);
		svc_rdma_bc_set_cwnd(bc);
	}
	xprt_release_rqst_cong(task);
}

/* A callback fails. With the queue_lock. */
static void svc_rdma_bc_end(struct rpc_rqst *rqst)
{
	rqst->rq_task->tk_status = -EIO;
	xprt_complete_rqst(rqst->rq_task, 0);
}

/**
 * svc_rdma_bc_reply - match a backward Reply with its callback
 * @sx: connection
 * @hdr: decoded header
 * @msg: the RPC message behind it, @hdr->hd_msg_len bytes
 *
 * Context: process.
 * Return: %false if nobody waits for it, or it is larger than what was prepared
 *	for it (rfc5666bis 8.3.5): it is to be dropped. In the latter case the callback
 *	has failed.
 */
bool svc_rdma_bc_reply(struct svc_rdma_xprt *sx, const struct rpcrdma_hdr *hdr,
		       const void *msg)
{
	struct rpc_xprt *xprt = READ_ONCE(sx->sx_xprt.xpt_bc_xprt);
	struct rpc_rqst *rqst;
	int rc = -ENOENT;
	struct kvec *to;
	bool too_long;

	if (!xprt || xprt->prot != XPRT_TRANSPORT_BC_RDMA)
		goto out_trace;

	/* All under one lock: a client may send its Reply twice, and the second
	 * must not touch what the first has completed.
	 */
	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(hdr->hd_rpc_xid));
	too_long = rqst && hdr->hd_msg_len > rqst->rq_rcv_buf.head[0].iov_len;
	/* Before the callback is completed: the next one needs the credit. */
	rc = svc_rdma_bc_answered(svc_rdma_bc_of(xprt), hdr->hd_rpc_xid, hdr,
				  too_long);
	if (!rc && !rqst)
		rc = -ENOENT;
	if (rc)
		goto out_drop;
	/* There will be no other Reply (rfc5666bis 8.3.5) */
	if (too_long) {
		svc_rdma_bc_end(rqst);
		rc = -EMSGSIZE;
		goto out_drop;
	}

	to = &rqst->rq_rcv_buf.head[0];
	memcpy(&rqst->rq_private_buf, &rqst->rq_rcv_buf,
	       sizeof(rqst->rq_private_buf));
	memcpy(to->iov_base, msg, hdr->hd_msg_len);
	xprt_complete_rqst(rqst->rq_task, hdr->hd_msg_len);
	spin_unlock(&xprt->queue_lock);
	trace_svc_rdma_bc_reply(sx, hdr->hd_rpc_xid, hdr->hd_msg_len);
	return true;

out_drop:
	spin_unlock(&xprt->queue_lock);
out_trace:
	trace_svc_rdma_bc_drop(sx, hdr->hd_rpc_xid, rc);
	return false;
}

/**
 * svc_rdma_bc_fail - end a callback that gets no Reply
 * @sx: connection
 * @xid: its XID
 *
 * Its credit is free again. Forward traffic is not looked at: it has XIDs of
 * its own (version-two 5.3.3).
 *
 * Context: process.
 * Return: %false if nobody waits for it.
 */
bool svc_rdma_bc_fail(struct svc_rdma_xprt *sx, u32 xid)
{
	struct rpc_xprt *xprt = READ_ONCE(sx->sx_xprt.xpt_bc_xprt);
	struct rpc_rqst *rqst;
	int rc = -ENOENT;

	if (!xprt || xprt->prot != XPRT_TRANSPORT_BC_RDMA)
		goto out_trace;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	rc = svc_rdma_bc_answered(svc_rdma_bc_of(xprt), xid, NULL, true);
	if (!rc && !rqst)
		rc = -ENOENT;
	if (!rc)
		svc_rdma_bc_end(rqst);
	spin_unlock(&xprt->queue_lock);
	if (!rc) {
		trace_svc_rdma_bc_error(sx, xid, -EIO);
		return true;
	}

out_trace:
	trace_svc_rdma_bc_drop(sx, xid, rc);
	return false;
}

static int svc_rdma_bc_encode(struct svc_rdma_bc *bc,
			      struct svc_rdma_send *send, struct rpc_rqst *rqst)
{
	const struct rpcrdma_call_out out = {
		.ko_xid		= be32_to_cpu(rqst->rq_xid),
		.ko_credit	= bc->bc_window.wn_requested,
		.ko_proc	= RPCRDMA1_MSG,
	};
	const struct xdr_buf *msg = &rqst->rq_snd_buf;
	struct svc_rdma_xprt *sx = send->ss_sx;
	u32 size;
	int len;

	/* The buffer may be older than what the client has announced */
	size = min(send->ss_buf.bf_size,
		   READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send));
	len = rpcrdma_encode_call(READ_ONCE(sx->sx_vers), send->ss_buf.bf_data,
				  size, &out);
	if (len < 0)
		return len;
	if (msg->len > size - len)
		return -EMSGSIZE;
	if (read_bytes_from_xdr_buf(msg, 0, send->ss_buf.bf_data + len,
				    msg->len))
		return -EIO;
	return len + msg->len;
}

/* A client of version 2 may say that it takes no callbacks (version-two 4.2.2). */
static bool svc_rdma_bc_allowed(const struct svc_rdma_xprt *sx)
{
	return READ_ONCE(sx->sx_conn.cn_limits.lm_brs) != RPCRDMA2_BRS_NONE;
}

/* sunrpc must not believe any longer that there is a connection, or it tries
 * again without end until somebody closes it.
 */
static int svc_rdma_bc_lost(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
	return -ENOTCONN;
}

/* Only a new connection helps. A callback that cannot be sent must not wait for
 * a client that does not answer.
 */
static int svc_rdma_bc_give_up(struct svc_rdma_xprt *sx, struct rpc_xprt *xprt)
{
	rpcrdma_count(server_bc_stuck);
	trace_svc_rdma_bc_stuck(sx, -ETIMEDOUT);
	rpcrdma_conn_fail(&sx->sx_conn, -ETIMEDOUT);
	return svc_rdma_bc_lost(xprt);
}

static int svc_rdma_bc_send(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt->bc_xprt);
	struct svc_rdma_send *send;
	int len;

	svc_rdma_inside();
	if (unlikely(!READ_ONCE(sx->sx_xprt.xpt_bc_xprt)))
		svc_rdma_bc_show(xprt);
	if (svc_xprt_is_dead(&sx->sx_xprt) || svc_rdma_is_down(sx) ||
	    !svc_rdma_bc_allowed(sx))
		return svc_rdma_bc_lost(xprt);
	/* Had its answer, though sunrpc may have missed the status (I17). */
	if (svc_rdma_bc_has_failed(svc_rdma_bc_of(xprt),
				   be32_to_cpu(rqst->rq_xid)))
		return -EIO;
	if (!xprt_request_get_cong(xprt, rqst))
		return -EBADSLT;
	send = svc_rdma_send_get(sx, GFP_NOWAIT);
	if (!send)
		return -ENOBUFS;

	len = svc_rdma_bc_encode(svc_rdma_bc_of(xprt), send, rqst);
	if (len < 0)
		goto out_put;
	if (!svc_rdma_sq_try(&sx->sx_sq, 1)) {
		len = -ENOBUFS;
		goto out_put;
	}
	send->ss_slots = 1;
	send->ss_wait.wt_slots = 1;
	send->ss_sge.length = len;
	if (!svc_rdma_bc_await(svc_rdma_bc_of(xprt), be32_to_cpu(rqst->rq_xid))) {
		len = svc_rdma_bc_give_up(sx, xprt);
		goto out_put;
	}

	rqst->rq_xtime = ktime_get();
	trace_svc_rdma_bc_call(sx, be32_to_cpu(rqst->rq_xid), len);
	if (svc_rdma_send_post(send))
		return svc_rdma_bc_lost(xprt);
	rpcrdma_count(server_bc_calls);
	return 0;

out_put:
	trace_svc_rdma_bc_call(sx, be32_to_cpu(rqst->rq_xid), len);
	svc_rdma_send_put(send);
	return len;
}

/* Context: rpciod, with the transport's write lock. */
static int svc_rdma_bc_send_request(struct rpc_rqst *rqst)
{
	return rpcrdma_xmit_status(rqst, svc_rdma_bc_send(rqst));
}

static int svc_rdma_bc_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	/* One piece of memory, Call first */
	rqst->rq_buffer = kzalloc(rqst->rq_callsize + rqst->rq_rcvsize,
				  rpc_task_gfp_mask());
	if (!rqst->rq_buffer)
		return -ENOMEM;
	rqst->rq_rbuffer = rqst->rq_buffer + rqst->rq_callsize;
	return 0;
}

static void svc_rdma_bc_buf_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	kfree(rqst->rq_buffer);
	rqst->rq_buffer = NULL;
	rqst->rq_rbuffer = NULL;
}

/* Called by sunrpc when the connection dies. */
static void svc_rdma_bc_close(struct rpc_xprt *xprt)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);

	xprt_disconnect_done(xprt);
	spin_lock(&xprt->transport_lock);
	rpcrdma_window_reset(&bc->bc_window, bc->bc_window.wn_requested);
	bc->bc_nsent = 0;
	bc->bc_nfailed = 0;
	svc_rdma_bc_set_cwnd(bc);
	spin_unlock(&xprt->transport_lock);
}

static void svc_rdma_bc_free_addresses(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
}

static void svc_rdma_bc_destroy(struct rpc_xprt *xprt)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);
	struct svc_xprt *svc = xprt->bc_xprt;

	/* sunrpc may destroy what others have a reference to (no memory for the
	 * name of the server).
	 */
	if (cancel_delayed_work_sync(&bc->bc_show))
		svc_xprt_put(svc);
	if (!bc->bc_shown) {
		/* If this is the first, its rpc_create() has failed. */
		cmpxchg(&svc_rdma_xprt_of(svc)->sx_bc, xprt, NULL);
		svc_xprt_put(svc);
	}
	svc_rdma_bc_free_addresses(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void svc_rdma_bc_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	seq_printf(seq, "\txprt:\trdma backchannel %lu %lu %lu\n",
		   xprt->stat.sends, xprt->stat.recvs, xprt->stat.bad_xids);
}

static const struct rpc_xprt_ops svc_rdma_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.release_request	= svc_rdma_bc_release_request,
	.buf_alloc		= svc_rdma_bc_buf_alloc,
	.buf_free		= svc_rdma_bc_buf_free,
	.send_request		= svc_rdma_bc_send_request,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= svc_rdma_bc_close,
	.destroy		= svc_rdma_bc_destroy,
	.print_stats		= svc_rdma_bc_print_stats,
};

static int svc_rdma_bc_set_addresses(struct rpc_xprt *xprt,
				     const struct xprt_create *args)
{
	struct sockaddr *sa = (struct sockaddr *)&xprt->addr;

	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	xprt->address_strings[RPC_DISPLAY_ADDR] = kasprintf(GFP_KERNEL, "%pISc",
							    sa);
	xprt->address_strings[RPC_DISPLAY_PORT] = kasprintf(GFP_KERNEL, "%u",
							    rpc_get_port(sa));
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] = "rdma";
	return xprt->address_strings[RPC_DISPLAY_ADDR] &&
	       xprt->address_strings[RPC_DISPLAY_PORT] ? 0 : -ENOMEM;
}

static void svc_rdma_bc_setup_xprt(struct rpc_xprt *xprt,
				   const struct svc_rdma_xprt *sx)
{
	const struct rpcrdma_limits *limits = &sx->sx_conn.cn_limits;

	xprt->prot = XPRT_TRANSPORT_BC_RDMA;
	xprt->ops = &svc_rdma_bc_ops;
	xprt->timeout = &svc_rdma_bc_timeout;
	/* Both ways a callback has to fit a Receive (rfc5666bis 8.3.3) */
	xprt->max_payload = min(limits->lm_inline_send, limits->lm_inline_recv) -
			    RPCRDMA1_HDR_MIN - limits->lm_hdr_extra;
	xprt->bind_timeout = 0;
	xprt->reestablish_timeout = 0;
	xprt->idle_timeout = 0;
	xprt->resvport = 0;
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
}

static struct rpc_xprt *svc_rdma_bc_setup(struct xprt_create *args)
{
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(args->bc_xprt);
	u32 requests = max(sx->sx_sizes.sz_bc_requests, 1u);
	struct svc_rdma_bc *bc;
	struct rpc_xprt *xprt;
	int rc;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!svc_rdma_bc_allowed(sx)) {
		rpcrdma_count(server_bc_unwanted);
		trace_svc_rdma_bc_unwanted(sx, -EOPNOTSUPP);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	rc = svc_rdma_credits_backward(sx, requests);
	if (rc)
		goto out_module;
	rc = -ENOMEM;
	xprt = xprt_alloc(args->net, struct_size(bc, bc_sent, 2 * requests),
			  requests, requests);
	if (!xprt)
		goto out_module;
	rc = svc_rdma_bc_set_addresses(xprt, args);
	if (rc)
		goto out_free;

	bc = svc_rdma_bc_of(xprt);
	rpcrdma_window_reset(&bc->bc_window, requests);
	INIT_DELAYED_WORK(&bc->bc_show, svc_rdma_bc_show_work);
	svc_rdma_bc_setup_xprt(xprt, sx);

	xprt->bc_xprt = args->bc_xprt;
	svc_xprt_get(args->bc_xprt);
	svc_rdma_bc_join(sx, xprt);
	return xprt;

out_free:
	svc_rdma_bc_free_addresses(xprt);
	xprt_free(xprt);
out_module:
	trace_svc_rdma_bc_unwanted(sx, rc);
	module_put(THIS_MODULE);
	return ERR_PTR(rc);
}

static struct xprt_class svc_rdma_bc_class = {
	.list	= LIST_HEAD_INIT(svc_rdma_bc_class.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= svc_rdma_bc_setup,
	.netid	= { "" },
};

/**
 * svc_rdma_bc_init - make callbacks available
 *
 * Context: process; module init.
 * Return: 0, %-ENOMEM or %-EEXIST.
 */
int svc_rdma_bc_init(void)
{
	int rc;

	svc_rdma_bc_wq = alloc_workqueue("svc_rdma_bc", WQ_UNBOUND, 0);
	if (!svc_rdma_bc_wq)
		return -ENOMEM;
	rc = xprt_register_transport(&svc_rdma_bc_class);
	if (rc)
		destroy_workqueue(svc_rdma_bc_wq);
	return rc;
}

/**
 * svc_rdma_bc_exit - undo svc_rdma_bc_init()
 *
 * Context: process; module exit.
 */
void svc_rdma_bc_exit(void)
{
	xprt_unregister_transport(&svc_rdma_bc_class);
	/* A work may have dropped the last reference, and be about to return. */
	destroy_workqueue(svc_rdma_bc_wq);
}
