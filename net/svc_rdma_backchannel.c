// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks: NFSv4.1 and later servers call their clients on the connection
 * that the client opened (RFC 8167). To sunrpc this looks like a client
 * transport, a struct rpc_xprt without a connection of its own: it sends
 * through the svc_xprt it was made for, and is never connected again. When that
 * connection goes, its RPCs end with -ENOTCONN, and the upper layer tries anew
 * on another one (BC-11).
 *
 * Backward credits have nothing to do with forward ones (BC-02): there is a
 * window per direction, and this one is enforced by sunrpc's congestion window,
 * which is one request until the client's first grant (BC-05). Receives for the
 * replies are posted when the backchannel is set up, as many as there can be
 * callbacks in flight (BC-08).
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

/**
 * struct svc_rdma_bc - the backward direction of a connection
 * @bc_xprt: the sunrpc end
 * @bc_window: what the client grants; under bc_xprt.transport_lock
 */
struct svc_rdma_bc {
	struct rpc_xprt		bc_xprt;
	struct rpcrdma_window	bc_window;
};

static const struct rpc_timeout svc_rdma_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct svc_rdma_bc *svc_rdma_bc_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_bc, bc_xprt);
}

static void svc_rdma_bc_grant(struct rpc_xprt *xprt, u32 credit)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);

	spin_lock(&xprt->transport_lock);
	rpcrdma_window_grant(&bc->bc_window, credit);
	xprt->cwnd = bc->bc_window.wn_granted << RPC_CWNDSHIFT;
	spin_unlock(&xprt->transport_lock);
}

/**
 * svc_rdma_bc_reply - match a backward Reply with its callback
 * @sx: connection
 * @hdr: decoded header
 * @msg: the RPC message behind it, @hdr->hd_msg_len bytes
 *
 * Context: process.
 * Return: %false if nobody waits for it, or it is larger than what was prepared
 *	for it (BC-25): it is to be dropped.
 */
bool svc_rdma_bc_reply(struct svc_rdma_xprt *sx, const struct rpcrdma_hdr *hdr,
		       const void *msg)
{
	struct rpc_xprt *xprt = READ_ONCE(sx->sx_xprt.xpt_bc_xprt);
	struct rpc_rqst *rqst;
	struct kvec *to;

	if (!xprt || xprt->prot != XPRT_TRANSPORT_BC_RDMA)
		return false;

	/* All under one lock: a client may send its Reply twice, and the second
	 * must not touch what the first has completed.
	 */
	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(hdr->hd_rpc_xid));
	if (!rqst)
		goto out_drop;
	to = &rqst->rq_rcv_buf.head[0];
	if (hdr->hd_msg_len > to->iov_len)
		goto out_drop;

	memcpy(&rqst->rq_private_buf, &rqst->rq_rcv_buf,
	       sizeof(rqst->rq_private_buf));
	memcpy(to->iov_base, msg, hdr->hd_msg_len);
	xprt_complete_rqst(rqst->rq_task, hdr->hd_msg_len);
	spin_unlock(&xprt->queue_lock);

	svc_rdma_bc_grant(xprt, hdr->hd_credit);
	return true;

out_drop:
	spin_unlock(&xprt->queue_lock);
	return false;
}

/**
 * svc_rdma_bc_fail - end a callback that gets no Reply
 * @sx: connection
 * @xid: its XID
 *
 * Forward traffic is not looked at: it has XIDs of its own (V2-BC-09).
 *
 * Context: process.
 * Return: %false if nobody waits for it.
 */
bool svc_rdma_bc_fail(struct svc_rdma_xprt *sx, u32 xid)
{
	struct rpc_xprt *xprt = READ_ONCE(sx->sx_xprt.xpt_bc_xprt);
	struct rpc_rqst *rqst;

	if (!xprt || xprt->prot != XPRT_TRANSPORT_BC_RDMA)
		return false;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (rqst) {
		rqst->rq_task->tk_status = -EIO;
		xprt_complete_rqst(rqst->rq_task, 0);
	}
	spin_unlock(&xprt->queue_lock);
	return rqst;
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
	int len;

	len = rpcrdma_encode_call(READ_ONCE(send->ss_sx->sx_vers),
				  send->ss_buf.bf_data, send->ss_buf.bf_size,
				  &out);
	if (len < 0)
		return len;
	if (msg->len > send->ss_buf.bf_size - len)
		return -EMSGSIZE;
	if (read_bytes_from_xdr_buf(msg, 0, send->ss_buf.bf_data + len,
				    msg->len))
		return -EIO;
	return len + msg->len;
}

/* A client of version 2 may say that it takes no callbacks (V2-PRP-17). */
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

/* Context: rpciod, with the transport's write lock. */
static int svc_rdma_bc_send_request(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt->bc_xprt);
	struct svc_rdma_send *send;
	int len;

	if (svc_xprt_is_dead(&sx->sx_xprt) || svc_rdma_is_down(sx) ||
	    !svc_rdma_bc_allowed(sx))
		return svc_rdma_bc_lost(xprt);
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

	rqst->rq_xtime = ktime_get();
	if (svc_rdma_send_post(send, len))
		return svc_rdma_bc_lost(xprt);
	rpcrdma_count(server_bc_calls);
	return 0;

out_put:
	svc_rdma_send_put(send);
	return len;
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
	xprt->cwnd = RPC_CWNDSCALE;
	spin_unlock(&xprt->transport_lock);
}

static void svc_rdma_bc_free_addresses(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
}

static void svc_rdma_bc_destroy(struct rpc_xprt *xprt)
{
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
	.release_request	= xprt_release_rqst_cong,
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
	/* Both ways a callback has to fit a Receive (BC-16) */
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
	struct rpc_xprt *xprt;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!svc_rdma_bc_allowed(sx)) {
		rpcrdma_count(server_bc_unwanted);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	if (svc_rdma_credits_backward(sx, requests))
		goto out_module;
	xprt = xprt_alloc(args->net, sizeof(struct svc_rdma_bc), requests,
			  requests);
	if (!xprt)
		goto out_module;
	if (svc_rdma_bc_set_addresses(xprt, args))
		goto out_free;

	rpcrdma_window_reset(&svc_rdma_bc_of(xprt)->bc_window, requests);
	svc_rdma_bc_setup_xprt(xprt, sx);

	/* One reference for the caller, one that svc_xprt_free() drops */
	xprt_get(xprt);
	xprt->bc_xprt = args->bc_xprt;
	args->bc_xprt->xpt_bc_xprt = xprt;
	return xprt;

out_free:
	svc_rdma_bc_free_addresses(xprt);
	xprt_free(xprt);
out_module:
	module_put(THIS_MODULE);
	return ERR_PTR(-ENOMEM);
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
 * Return: 0 or %-EEXIST.
 */
int svc_rdma_bc_init(void)
{
	return xprt_register_transport(&svc_rdma_bc_class);
}

/**
 * svc_rdma_bc_exit - undo svc_rdma_bc_init()
 *
 * Context: process; module exit.
 */
void svc_rdma_bc_exit(void)
{
	xprt_unregister_transport(&svc_rdma_bc_class);
}
