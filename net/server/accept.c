// SPDX-License-Identifier: GPL-2.0
/*
 * A new connection of the server: from the connect request until it belongs to
 * sunrpc. This file computes the queue depths of the connection, and has the tables
 * through which sunrpc and the verbs layer call the rest of the server. It never sees a
 * message.
 *
 * Operation
 *
 * Unless svc_rdma_connect_request() refuses a connect request, it creates a connection, which
 * is a struct svc_xprt to sunrpc. The connection takes over the CM id that came with the
 * request and waits in the listener's queue. XPT_CONN makes a thread call
 * svc_rdma_accept(), which creates the queue pair, posts Receives and accepts the
 * request. From then on the connection belongs to sunrpc.
 *
 * A connection can be lost at any time, in any context. server/close.c then closes it. It needs no
 * thread, because all threads may be busy, and the removal of a device waits until its last
 * connection is closed (invariant I21). If the connection was waiting to be accepted, a thread
 * finds it in the queue later, and drops it.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/svc_xprt.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/debugfs.h>

#include "svc_rdma.h"
#include "trace.h"

/* Maximum number of RDMA Reads in flight; more would not make a connection faster */
#define SVC_RDMA_ORD_MAX	32u

/* Maximum number of credits of a connection */
unsigned int svc_rdma_max_requests = 128;
/* Number of bytes in the largest inline message of version 1, in either direction */
unsigned int svc_rdma_max_req_size = 4096;
/**
 * svc_rdma_discard - drop the reference to a listener or connection that sunrpc does not know
 * @xprt: listener or connection
 *
 * svc_xprt_free() drops a reference to this module. But nobody took one for @xprt, so this
 * function takes one first.
 *
 * Context: process or CM event.
 */
void svc_rdma_discard(struct svc_xprt *xprt)
{
	__module_get(THIS_MODULE);
	svc_xprt_put(xprt);
}

static void svc_rdma_pending_add(struct svc_rdma_listener *sl,
				 struct svc_rdma_xprt *sx)
{
	spin_lock(&sl->sl_lock);
	list_add_tail(&sx->sx_pending, &sl->sl_pending);
	sl->sl_npending++;
	set_bit(XPT_CONN, &sl->sl_xprt.xpt_flags);
	spin_unlock(&sl->sl_lock);
}

static struct svc_rdma_xprt *
svc_rdma_pending_take_first(struct svc_rdma_listener *sl)
{
	struct svc_rdma_xprt *sx;

	spin_lock(&sl->sl_lock);
	sx = list_first_entry_or_null(&sl->sl_pending, struct svc_rdma_xprt,
				      sx_pending);
	if (sx) {
		list_del(&sx->sx_pending);
		sl->sl_npending--;
	}
	if (list_empty(&sl->sl_pending))
		clear_bit(XPT_CONN, &sl->sl_xprt.xpt_flags);
	spin_unlock(&sl->sl_lock);
	return sx;
}

/**
 * svc_rdma_pending_discard - discard the connections that wait to be accepted
 * @sl: listener that gets no new connections any more
 *
 * Context: process.
 */
void svc_rdma_pending_discard(struct svc_rdma_listener *sl)
{
	struct svc_rdma_xprt *sx;

	while ((sx = svc_rdma_pending_take_first(sl)))
		svc_rdma_discard(&sx->sx_xprt);
}

static void svc_rdma_conn_lost(struct rpcrdma_conn *conn)
{
	struct svc_rdma_xprt *sx = container_of(conn, struct svc_rdma_xprt,
						sx_conn);

	rpcrdma_count(server_disconnects);
	trace_svc_rdma_lost(sx, conn->cn_error);
	svc_rdma_close_begin(sx);
}

static const struct rpcrdma_conn_ops svc_rdma_conn_ops = {
	.softirq	= true,
	.receive	= svc_rdma_receive,
	.lost		= svc_rdma_conn_lost,
	.waiting	= svc_rdma_conn_waiting,
};

/**
 * svc_rdma_kill_temp_xprt - xpo_kill_temp_xprt: sunrpc is about to close @xprt
 * @xprt: listener or connection
 *
 * Nothing needs to be done before @xprt is closed.
 *
 * Context: any.
 */
void svc_rdma_kill_temp_xprt(struct svc_xprt *xprt)
{
}

static const struct svc_xprt_ops svc_rdma_conn_svc_ops = {
	.xpo_recvfrom		= svc_rdma_recvfrom,
	.xpo_sendto		= svc_rdma_sendto,
	.xpo_result_payload	= svc_rdma_result_payload,
	.xpo_release_ctxt	= svc_rdma_release_ctxt,
	.xpo_detach		= svc_rdma_detach,
	.xpo_free		= svc_rdma_free,
	.xpo_has_wspace		= svc_rdma_has_wspace,
	.xpo_kill_temp_xprt	= svc_rdma_kill_temp_xprt,
	SVC_RDMA_COMPAT_OPS
};

static struct svc_rdma_xprt *
svc_rdma_conn_create(struct svc_rdma_listener *sl, struct rdma_cm_id *id,
		     const struct rdma_conn_param *param)
{
	struct sockaddr *peer = (struct sockaddr *)&id->route.addr.dst_addr;
	struct sockaddr *local = (struct sockaddr *)&id->route.addr.src_addr;
	struct svc_rdma_xprt *sx;

	sx = kzalloc_node(sizeof(*sx), GFP_KERNEL, ibdev_to_node(id->device));
	if (!sx)
		return NULL;
	if (svc_rdma_close_init_xprt(sx)) {
		kfree(sx);
		return NULL;
	}

	svc_xprt_init(sl->sl_xprt.xpt_net, sl->sl_xprt.xpt_class,
		      &sx->sx_xprt, sl->sl_xprt.xpt_server);
	sx->sx_xprt.xpt_ops = &svc_rdma_conn_svc_ops;
	set_bit(XPT_CONG_CTRL, &sx->sx_xprt.xpt_flags);
	spin_lock_init(&sx->sx_lock);
	mutex_init(&sx->sx_grow);
	rpcrdma_grant_raise(&sx->sx_credit.cd_grant, 1);
	sx->sx_credit.cd_notice = get_random_u32();
	INIT_LIST_HEAD(&sx->sx_queue.qu_complete);
	INIT_LIST_HEAD(&sx->sx_queue.qu_waiting);
	INIT_LIST_HEAD(&sx->sx_sends.sp_idle);
	INIT_LIST_HEAD(&sx->sx_posted.po_reading);
	INIT_LIST_HEAD(&sx->sx_posted.po_sending);
	sx->sx_posted.po_read = jiffies;
	sx->sx_posted.po_sent = jiffies;
	INIT_LIST_HEAD(&sx->sx_reclaim);
	spin_lock_init(&sx->sx_backward.bw_lock);
	INIT_LIST_HEAD(&sx->sx_backward.bw_clients);
	INIT_LIST_HEAD(&sx->sx_backward.bw_sent);
	rpcrdma_window_reset(&sx->sx_backward.bw_window, 1);
	svc_xprt_set_local(&sx->sx_xprt, local, svc_addr_len(local));
	svc_xprt_set_remote(&sx->sx_xprt, peer, svc_addr_len(peer));
	/* nfsd's duplicate reply cache compares the client's address and port. It must recognise a
	 * retransmission on a new connection, which has another port. So hide the port.
	 */
	rpc_set_port((struct sockaddr *)&sx->sx_xprt.xpt_remote, 0);
	sx->sx_netns = sl->sl_xprt.xpt_net->ns.inum;

	rpcrdma_conn_init(&sx->sx_conn, &svc_rdma_conn_ops);
	rpcrdma_conn_adopt(&sx->sx_conn, id, param);
	return sx;
}

/**
 * svc_rdma_connect_request - a client wants to connect
 * @sl: listener
 * @id: CM id of the new connection
 * @param: what the client asks for
 *
 * Context: CM event.
 * Return: 0; or a negative errno, and then the CM core rejects the request and
 *	destroys @id.
 */
int svc_rdma_connect_request(struct svc_rdma_listener *sl,
			     struct rdma_cm_id *id,
			     const struct rdma_conn_param *param)
{
	struct sockaddr *peer = (struct sockaddr *)&id->route.addr.dst_addr;
	struct svc_rdma_xprt *sx = NULL;
	int rc = -ENOMEM;

	if (!svc_rdma_family_is_ip(peer))
		rc = -EAFNOSUPPORT;
	else if (READ_ONCE(sl->sl_npending) >= SVC_RDMA_BACKLOG)
		rc = -EBUSY;
	else
		sx = svc_rdma_conn_create(sl, id, param);
	if (!sx) {
		rpcrdma_count(server_accept_errors);
		trace_svc_rdma_request_err(peer, rc);
		return rc;
	}
	svc_rdma_pending_add(sl, sx);
	svc_xprt_enqueue(&sl->sl_xprt);
	return 0;
}

/* The maximum number of work requests that a device reports is often valid only for work
 * requests of one SGE. With more SGEs, the device refuses a send queue of that length
 * (mlx5), and does not tell which length it would accept. So as long as the error may have this
 * cause, try again with half the number of credits, on which the queue depths depend. Give up if
 * half the number is less than SVC_RDMA_REQUESTS_MIN.
 */
static int svc_rdma_conn_create_queues(struct svc_rdma_xprt *sx)
{
	const struct rpcrdma_device_caps *caps = &sx->sx_conn.cn_caps;
	struct svc_serv *serv = sx->sx_xprt.xpt_server;
	struct rpcrdma_server_sizes *sizes = &sx->sx_sizes;
	u32 requests = READ_ONCE(svc_rdma_max_requests);
	int rc;

	sx->sx_max_mesg = serv->sv_max_mesg;
	svc_rdma_rw_set_limits(sx);
	for (;;) {
		rc = rpcrdma_size_server(caps, requests, SVC_RDMA_BC_REQUESTS,
					 serv->sv_max_payload, PAGE_SIZE,
					 sizes);
		if (!rc)
			rc = rpcrdma_conn_create_qp(&sx->sx_conn, sizes->sz_sq_depth -
						    RPCRDMA_SQ_EXTRA,
						    sizes->sz_rq_depth -
						    RPCRDMA_DRAIN_WRS,
						    sizes->sz_send_sges);
		requests = sizes->sz_requests / 2;
		if ((rc != -ENOMEM && rc != -EINVAL) ||
		    requests < SVC_RDMA_REQUESTS_MIN)
			break;
	}
	if (!rc)
		rc = svc_rdma_rw_check(sx);
	return rc;
}

/* Create the connection's queues, post Receives, and accept the connect request. */
static int svc_rdma_conn_accept(struct svc_rdma_xprt *sx)
{
	struct rpcrdma_conn *conn = &sx->sx_conn;
	u32 size = READ_ONCE(svc_rdma_max_req_size);
	const struct rpcrdma_cm_private ours = {
		.cp_send_size	= size,
		.cp_recv_size	= size,
		.cp_remote_inv	= rpcrdma_remote_inv && conn->cn_caps.dc_frwr,
	};
	u32 ord;
	int rc;

	/* If the client allows no RDMA Read, its first Call with a Read chunk
	 * would fail. So refuse the client now (G-38).
	 */
	if (!conn->cn_peer_ord)
		return -EPROTO;

	rc = svc_rdma_budget_join(sx);
	if (!rc)
		rc = svc_rdma_conn_create_queues(sx);
	if (!rc)
		rc = svc_rdma_negotiate_begin(sx, size);
	if (rc)
		return rc;

	sx->sx_credit.cd_need.nd_since = ktime_get_ns();
	ord = min3(conn->cn_peer_ord, sx->sx_sizes.sz_ord, SVC_RDMA_ORD_MAX);
	rc = rpcrdma_conn_accept(conn, &ours, ord);
	if (!rc)
		trace_svc_rdma_accept(sx, ord);
	return rc;
}

/* A connection has a debugfs file /sys/kernel/debug/rpcrdma/server/<address>:<port>-<number> from
 * when it is accepted until it is closed. Reading the file has a side effect: completions of the
 * send queue that have not been handled yet are normally handled, and the Send contexts that have
 * completed become idle or are freed.
 */
static int svc_rdma_debugfs_show(struct seq_file *seq, void *unused)
{
	struct svc_rdma_xprt *sx = seq->private;
	const struct svc_rdma_credits *credits = &sx->sx_credit;
	const struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;
	struct svc_rdma_stats *st = &sx->sx_stats;

	/* Otherwise the slots of Sends that have completed, but whose completions are still
	 * in the queue, would be shown as used.
	 */
	rpcrdma_send_cq_poll(&sx->sx_conn);
	seq_printf(seq, "peer %s\n", sx->sx_xprt.xpt_remotebuf);
	seq_printf(seq, "local %pISpc\n", &sx->sx_xprt.xpt_local);
	seq_printf(seq, "netns %u\n", sx->sx_netns);
	seq_printf(seq, "device %s\n",
		   dev_name(&rpcrdma_conn_device(&sx->sx_conn)->dev));
	rpcrdma_debugfs_conn(seq, READ_ONCE(sx->sx_vers), &sx->sx_conn);
	seq_printf(seq, "credits_max %u\n", sx->sx_sizes.sz_requests);
	seq_printf(seq, "credits_granted %u\n",
		   svc_rdma_credits_granted(sx));
	seq_printf(seq, "credits_owed %u\n",
		   READ_ONCE(credits->cd_grant.gn_bound));
	seq_printf(seq, "callback_receives %u\n",
		   READ_ONCE(credits->cd_bc_recvs));
	seq_printf(seq, "idle_sends %u\n", svc_rdma_send_collect(sx));
	seq_printf(seq, "memory_held %llu\n",
		   READ_ONCE(sx->sx_account.au_held));
	seq_printf(seq, "send_queue %u\n", READ_ONCE(sq->sq_size));
	seq_printf(seq, "send_queue_free %u\n", atomic_read(&sq->sq_free));
	seq_printf(seq, "regions %u\n", READ_ONCE(sx->sx_nmrs));
	seq_printf(seq, "regions_free %u\n", atomic_read(&sx->sx_mrs_free));
	seq_printf(seq, "received %llu\n", READ_ONCE(st->vs_received));
	seq_printf(seq, "sent %llu\n", READ_ONCE(st->vs_sent));
	seq_printf(seq, "refused %lld\n", atomic64_read(&st->vs_refused));
	seq_printf(seq, "dropped %lld\n", atomic64_read(&st->vs_dropped));
	seq_printf(seq, "rdma_read_bytes %lld\n",
		   atomic64_read(&st->vs_read_bytes));
	seq_printf(seq, "rdma_write_bytes %lld\n",
		   atomic64_read(&st->vs_write_bytes));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_debugfs);

/**
 * svc_rdma_accept - xpo_accept: make the next waiting connection usable
 * @xprt: listener
 *
 * Context: process; sleeps.
 * Return: the connection, which belongs to sunrpc from now on; NULL if no connection waits, or the
 *	one that was next could not be accepted.
 */
struct svc_xprt *svc_rdma_accept(struct svc_xprt *xprt)
{
	struct svc_rdma_listener *sl = container_of(xprt,
						    struct svc_rdma_listener,
						    sl_xprt);
	struct svc_rdma_xprt *sx;
	int rc;

	sx = svc_rdma_pending_take_first(sl);
	if (!sx)
		return NULL;
	CLASS(svc_rdma_inside, inside)(sx);
	/* It may have been lost. */
	if (!inside)
		goto out_discard;

	rc = svc_rdma_pages_fit() ? svc_rdma_conn_accept(sx) : -ENOEXEC;
	if (rc) {
		rpcrdma_count(server_accept_errors);
		trace_svc_rdma_accept_err(sx, rc);
		rdma_reject(sx->sx_conn.cn_id, NULL, 0,
			    IB_CM_REJ_CONSUMER_DEFINED);
		goto out_discard;
	}
	rpcrdma_count(server_accepts);
	sx->sx_debugfs = rpcrdma_debugfs_add(RPCRDMA_DEBUGFS_SERVER,
					     sx->sx_xprt.xpt_remotebuf, sx,
					     &svc_rdma_debugfs_fops);
	svc_rdma_reclaim_join(sx);
	return &sx->sx_xprt;

out_discard:
	svc_rdma_discard(&sx->sx_xprt);
	return NULL;
}
