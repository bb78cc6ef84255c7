// SPDX-License-Identifier: GPL-2.0
/*
 * The backchannel to an NFS client: in NFSv4.1 and later, a server calls its clients on the
 * connections that the clients opened (RFC 8167). To sunrpc a backchannel is a client
 * transport, a struct rpc_xprt. It has no connection of its own: it sends through the
 * connection (svc_xprt) that it was made for, and never reconnects. When that connection
 * ends, the RPCs of the backchannel fail with -ENOTCONN, and the upper layer may try again
 * on another connection (rfc5666bis 8.3.2). This file is the interface to sunrpc.
 * server/callback.c has what all backchannels of a connection share: the credits, and the
 * matching of answers with callbacks.
 *
 * Each NFS client's rpc_clnt owns a backchannel of its own (invariant I22). rpc_create()
 * gets it from svc_rdma_bc_setup(), and svc_rdma_bc_destroy() ends it after the last RPC
 * has released it. sunrpc also has a way for all rpc_clnts of a connection to share one
 * rpc_xprt, kept in xpt_bc_xprt, and one rpc_xprt_switch, kept in xpt_bc_xps. This is not
 * used here, because no lock protects the two pointers. The transport's setup function would
 * set xpt_bc_xprt, and rpc_create() sets xpt_bc_xps later. In between, another rpc_create()
 * would find the rpc_xprt but no switch, and add the rpc_xprt to a second switch. rpc_create()
 * sets xpt_bc_xps of the svc_xprt to which the member bc_xprt of the rpc_xprt points. This
 * module leaves bc_xprt NULL, so xpt_bc_xps is not set.
 *
 * A Receive for a reply is posted when the first backchannel of a connection is made. Most
 * connections never have two callbacks in flight. More Receives are posted when a callback needs
 * them: there is one for each callback in flight (rfc5666bis 8.2.2.2).
 *
 * A backchannel is made even if the connection is already lost, and its first RPC then
 * fails. If rpc_create() failed instead, nfsd's error path would use its struct
 * nfsd4_conn. nfsd frees this structure when a connection is lost, so it may be freed already.
 *
 * rpciod sends the callbacks, and must not wait for the client. So if there is no Send context or
 * no send queue slot, sunrpc is told to send the RPC later. Like an inline Reply, the message is
 * copied into the buffer of a Send context. So a retransmission never touches the buffer of an
 * earlier attempt.
 */
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
 * struct svc_rdma_bc - a backchannel, as sunrpc sees it
 * @bc_xprt: the client transport of sunrpc
 * @bc_sx: connection that the backchannel sends through; a reference to its svc_xprt is
 *	held
 * @bc_way: the part of the backchannel that server/callback.c uses
 */
struct svc_rdma_bc {
	struct rpc_xprt		bc_xprt;
	struct svc_rdma_xprt	*bc_sx;
	struct svc_rdma_way	bc_way;
};

static struct xprt_class svc_rdma_bc_class;

static const struct rpc_timeout svc_rdma_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct svc_rdma_bc *svc_rdma_bc_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_bc, bc_xprt);
}

static struct svc_rdma_callback *svc_rdma_bc_callback(struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct svc_rdma_callback, cb_data);
}

/* The number of callbacks that may be in flight on a connection */
static u32 svc_rdma_bc_requests(const struct svc_rdma_xprt *sx)
{
	return max(sx->sx_sizes.sz_bc_requests, 1u);
}

static int svc_rdma_bc_encode(struct svc_rdma_send *send, struct rpc_rqst *rqst)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	const struct rpcrdma_call_out out = {
		.ko_xid		= be32_to_cpu(rqst->rq_xid),
		.ko_credit	= svc_rdma_bc_requests(sx),
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

/* A client of version 2 may announce that it accepts no callbacks, by the property BRS
 * (version-two 4.2.2).
 */
static bool svc_rdma_bc_allowed(const struct svc_rdma_xprt *sx)
{
	return READ_ONCE(sx->sx_conn.cn_limits.lm_brs) != RPCRDMA2_BRS_NONE;
}

/* Tell sunrpc that there is no connection. Otherwise sunrpc would retry until
 * somebody closes the transport.
 */
static int svc_rdma_bc_lost(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
	return -ENOTCONN;
}

/* Close the connection because a callback cannot be sent on it: the callback was already sent
 * and not answered, or all credits are in use by callbacks whose RPCs have ended without an
 * answer. A callback must not wait for a client that does not answer. On a new connection all
 * credits are free.
 */
static int svc_rdma_bc_give_up(struct svc_rdma_xprt *sx, struct rpc_xprt *xprt)
{
	/* Several RPCs may fail the connection at the same time. Count only the first. */
	if (rpcrdma_conn_fail(&sx->sx_conn, -ETIMEDOUT)) {
		rpcrdma_count(server_bc_stuck);
		trace_svc_rdma_bc_stuck(sx, -ETIMEDOUT);
	}
	return svc_rdma_bc_lost(xprt);
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

static int svc_rdma_bc_begin(struct svc_rdma_bc *bc, struct rpc_rqst *rqst)
{
	int rc = svc_rdma_callback_begin(bc->bc_sx, &bc->bc_way,
					 svc_rdma_bc_callback(rqst),
					 be32_to_cpu(rqst->rq_xid));

	if (rc == -ETIMEDOUT)
		return svc_rdma_bc_give_up(bc->bc_sx, &bc->bc_xprt);
	if (rc == -ENOTCONN)
		return svc_rdma_bc_lost(&bc->bc_xprt);
	/* rpciod does not wait for Receives: a thread of the server adds them. */
	if (rc == -EAGAIN && svc_rdma_backward_is_short(bc->bc_sx))
		svc_rdma_queue_wake(bc->bc_sx);
	return rc;
}

static int svc_rdma_bc_send(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);
	struct svc_rdma_xprt *sx = bc->bc_sx;
	struct svc_rdma_send *send;
	int rc;

	CLASS(svc_rdma_inside, inside)(sx);
	if (!inside || svc_xprt_is_dead(&sx->sx_xprt) || svc_rdma_is_down(sx) ||
	    !svc_rdma_bc_allowed(sx))
		return svc_rdma_bc_lost(xprt);
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
		return svc_rdma_bc_lost(xprt);
	rpcrdma_count(server_bc_calls);
	return 0;
}

/* Context: rpciod, with the send lock of the backchannel. */
static int svc_rdma_bc_send_request(struct rpc_rqst *rqst)
{
	return rpcrdma_xmit_status(rqst, svc_rdma_bc_send(rqst));
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
 * any more: xprt_lookup_rqst() in svc_rdma_callback_complete() no longer finds the RPC.
 */
static void svc_rdma_bc_buf_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct svc_rdma_bc *bc = svc_rdma_bc_of(rqst->rq_xprt);

	svc_rdma_callback_end(bc->bc_sx, &bc->bc_way,
			      svc_rdma_bc_callback(rqst), task->tk_status);
	rqst->rq_buffer = NULL;
	rqst->rq_rbuffer = NULL;
}

/* sunrpc closes this backchannel. The connection, and its other backchannels, stay. */
static void svc_rdma_bc_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
}

static void svc_rdma_bc_free_addresses(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
}

static void svc_rdma_bc_destroy(struct rpc_xprt *xprt)
{
	struct svc_rdma_bc *bc = svc_rdma_bc_of(xprt);

	svc_rdma_way_leave(bc->bc_sx, &bc->bc_way);
	svc_xprt_put(&bc->bc_sx->sx_xprt);
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
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
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
	xprt->xprt_class = &svc_rdma_bc_class;
	xprt->ops = &svc_rdma_bc_ops;
	xprt->timeout = &svc_rdma_bc_timeout;
	/* A callback must fit into one Receive of the client, and its Reply into one of ours
	 * (rfc5666bis 8.3.3).
	 */
	xprt->max_payload = min(limits->lm_inline_send, limits->lm_inline_recv) -
			    RPCRDMA1_HDR_MIN - limits->lm_hdr_extra;
	xprt->bind_timeout = 0;
	xprt->reestablish_timeout = 0;
	xprt->idle_timeout = 0;
	xprt->resvport = 0;
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
}

/* Make a backchannel. The caller has called svc_rdma_credits_backward(). */
static struct rpc_xprt *svc_rdma_bc_create(struct svc_rdma_xprt *sx,
					   const struct xprt_create *args)
{
	u32 requests = svc_rdma_bc_requests(sx);
	struct svc_rdma_bc *bc;
	struct rpc_xprt *xprt;

	xprt = xprt_alloc(args->net, sizeof(*bc), requests, requests);
	if (!xprt)
		return NULL;
	if (svc_rdma_bc_set_addresses(xprt, args)) {
		svc_rdma_bc_free_addresses(xprt);
		xprt_free(xprt);
		return NULL;
	}
	svc_rdma_bc_setup_xprt(xprt, sx);

	bc = svc_rdma_bc_of(xprt);
	bc->bc_way.wy_xprt = xprt;
	bc->bc_sx = sx;
	svc_xprt_get(&sx->sx_xprt);
	svc_rdma_way_join(sx, &bc->bc_way, requests);
	return xprt;
}

static struct rpc_xprt *svc_rdma_bc_setup(struct xprt_create *args)
{
	struct svc_rdma_xprt *sx;
	struct rpc_xprt *xprt;
	int rc;

	/* A transport that is added to a switch through sysfs has no bc_xprt */
	if (!args->bc_xprt)
		return ERR_PTR(-EINVAL);
	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	sx = svc_rdma_xprt_of(args->bc_xprt);
	if (!svc_rdma_bc_allowed(sx)) {
		rpcrdma_count(server_bc_unwanted);
		trace_svc_rdma_bc_unwanted(sx, -EOPNOTSUPP);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-ENODEV);
	rc = svc_rdma_credits_backward(sx);
	if (rc)
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

static struct xprt_class svc_rdma_bc_class = {
	.list	= LIST_HEAD_INIT(svc_rdma_bc_class.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= svc_rdma_bc_setup,
	.netid	= { "" },
};

/**
 * svc_rdma_bc_init - register the transport class of backchannels
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
