// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the rpc_xprt itself. Setup, connecting, closing, statistics.
 *
 * Operation
 *
 * sunrpc guards a transport with its send lock. It is held by the task that
 * sends, by the worker that connects, and by whoever closes; so connections
 * come and go one at a time, and xr_conn can be a part of the transport that is
 * set up anew for every attempt.
 *
 * Closing drains the queue pair first, and destroys it. From then on nothing can
 * reach the memory of an RPC, nothing completes any more, and regions, Sends and
 * Receives are freed. RPCs without a Reply stay with sunrpc, which sends them
 * again.
 *
 * A connection that breaks by itself tells xprt_rdma_lost(); sunrpc then calls
 * close when it has the lock.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/trace_xprt.h>
#include <rpcrdma/xprt_rdma.h>

unsigned int xprt_rdma_slot_table_entries = XPRT_RDMA_DEF_SLOTS;
unsigned int xprt_rdma_max_inline_read = XPRT_RDMA_DEF_INLINE;
unsigned int xprt_rdma_max_inline_write = XPRT_RDMA_DEF_INLINE;

/* Connecting sleeps: for a minute and more if a server does not answer. Everybody
 * else's RPCs are sent from sunrpc's queue for that, which has only one thread when
 * there is no memory for others.
 */
static struct workqueue_struct *xprt_rdma_connect_wq;

#define XPRT_RDMA_BIND_TIMEOUT		(60 * HZ)
#define XPRT_RDMA_REESTABLISH_MIN	(5 * HZ)
#define XPRT_RDMA_IDLE_TIMEOUT		(5 * 60 * HZ)
#define XPRT_RDMA_RESOLVE_TIMEOUT	(5 * HZ)
#define XPRT_RDMA_CONNECT_TIMEOUT	(15 * HZ)

/* Local ports to try in one attempt */
#define XPRT_RDMA_PORTS			8

static const struct rpc_timeout xprt_rdma_default_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/* sunrpc closes the transport as soon as it gets hold of the send lock. While
 * the connect worker is busy it notices for itself.
 */
static void xprt_rdma_lost(struct rpcrdma_conn *conn)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);

	smp_mb();	/* pairs with xprt_rdma_connected() */
	if (xprt_connected(&xr->xr_xprt))
		xprt_force_disconnect(&xr->xr_xprt);
}

static const struct rpcrdma_conn_ops xprt_rdma_conn_ops = {
	.receive	= xprt_rdma_reply_receive,
	.lost		= xprt_rdma_lost,
};

static int xprt_rdma_size_queues(struct xprt_rdma *xr)
{
	return rpcrdma_size_client(&xr->xr_conn.cn_caps, xr->xr_xprt.max_reqs,
				   XPRT_RDMA_BC_REQUESTS,
				   XPRT_RDMA_MAX_PAYLOAD, PAGE_SIZE,
				   &xr->xr_sizes);
}

static int xprt_rdma_create_queues(struct xprt_rdma *xr,
				   const struct rpcrdma_cm_private *ours)
{
	struct rpcrdma_client_sizes *sizes = &xr->xr_sizes;
	struct rpcrdma_conn *conn = &xr->xr_conn;
	struct rpcrdma_conn_queues queues = { .cq_send_sges = 1 };
	u32 pages;
	int rc;

	rc = xprt_rdma_size_queues(xr);
	if (rc) {
		pr_warn_once("rpcrdma: %s cannot register memory as NFS/RDMA needs it\n",
			     dev_name(&rpcrdma_conn_device(conn)->dev));
		return rc;
	}
	conn->cn_ours = *ours;
	for (;;) {
		/* The sizes include the entries that the connection adds. */
		queues.cq_sq = sizes->cz_sq_depth - RPCRDMA_SQ_EXTRA;
		queues.cq_rq = sizes->cz_rq_depth - RPCRDMA_DRAIN_WRS;
		rc = rpcrdma_conn_create_qp(conn, &queues);
		if (rc != -ENOMEM && rc != -EINVAL)
			break;
		/* Half of it, as long as that is of any use */
		conn->cn_caps.dc_max_qp_wr = sizes->cz_sq_depth / 2;
		if (xprt_rdma_size_queues(xr))
			break;
	}
	pages = RPCRDMA_CLIENT_SEGS * sizes->cz_mr_pages - 1;
	xr->xr_xprt.max_payload = min_t(u64, XPRT_RDMA_MAX_PAYLOAD,
					(u64)pages << PAGE_SHIFT);
	if (!rc)
		rc = xprt_rdma_sends_create(xr);
	if (!rc)
		rc = rpcrdma_recvs_grow_gfp(conn, XPRT_RDMA_FIRST_RECVS,
					    xprt_rdma_negotiate_recv_size(xr),
					    XPRT_RDMA_GFP_CONNECT);
	return rc;
}

static void xprt_rdma_reset_window(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	spin_lock(&xprt->transport_lock);
	rpcrdma_window_reset(&xr->xr_window, xr->xr_sizes.cz_requests);
	xprt_rdma_set_cwnd(xr);
	spin_unlock(&xprt->transport_lock);
}

/* Making and ending connections: pages may be waiting to be cleaned through this
 * very transport. If it is swapped over, nobody may be able to free memory before,
 * and the kernel's reserve is there for that.
 */
static unsigned int xprt_rdma_memalloc_save(struct xprt_rdma *xr)
{
	unsigned int flags = PF_MEMALLOC_NOIO;

	if (atomic_read(&xr->xr_xprt.swapper))
		flags |= PF_MEMALLOC;
	return memalloc_flags_save(flags);
}

/* Before sunrpc hears of a connection, it has what one RPC at a time takes: who
 * cleans pages, or swaps, gets through with it (I33).
 */
static int xprt_rdma_reserve(struct xprt_rdma *xr)
{
	int rc;

	rc = xprt_rdma_send_expect(xr, XPRT_RDMA_FIRST_CALLS,
				   XPRT_RDMA_GFP_CONNECT);
	if (!rc)
		rc = xprt_rdma_sends_reserve(xr);
	if (!rc)
		rc = xprt_rdma_frwr_reserve(xr);
	return rc;
}

static int xprt_rdma_open(struct xprt_rdma *xr)
{
	struct rpcrdma_cm_private ours = {
		.cp_send_size	= xprt_rdma_max_inline_write,
		.cp_recv_size	= xprt_rdma_negotiate_size(xr,
							   xprt_rdma_max_inline_read),
		.cp_remote_inv	= rpcrdma_remote_inv,
	};
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_conn *conn = &xr->xr_conn;
	unsigned long timeout;
	int rc;

	rpcrdma_conn_init(conn, &xprt_rdma_conn_ops);
	xprt_rdma_negotiate_init(xr);
	rc = rpcrdma_conn_resolve(conn, xprt->xprt_net, NULL,
				  (struct sockaddr *)&xprt->addr,
				  XPRT_RDMA_RESOLVE_TIMEOUT);
	if (rc)
		return rc;
	strscpy(xr->xr_device, dev_name(&rpcrdma_conn_device(conn)->dev));
	rc = xprt_rdma_create_queues(xr, &ours);
	if (rc)
		return rc;

	xprt_rdma_reset_window(xr);
	timeout = min_t(unsigned long, READ_ONCE(xprt->connect_timeout),
			XPRT_RDMA_CONNECT_TIMEOUT);
	rc = rpcrdma_conn_connect(conn, &ours, timeout);
	if (rc)
		return rc;
	memcpy(&xr->xr_srcaddr, &conn->cn_id->route.addr.src_addr,
	       sizeof(xr->xr_srcaddr));
	/* What is needed to ask for the version may be too small afterwards. */
	rc = xprt_rdma_sends_reserve(xr);
	if (!rc)
		rc = xprt_rdma_negotiate(xr);
	if (rc)
		return rc;
	return xprt_rdma_reserve(xr);
}

/* Frees all that a connection had, in whatever stage it is. Send lock held. */
static void xprt_rdma_teardown(struct xprt_rdma *xr)
{
	rpcrdma_conn_drain(&xr->xr_conn);
	rpcrdma_conn_destroy_queues(&xr->xr_conn);
	xprt_rdma_req_end_fences(xr);
	xprt_rdma_req_reset_all(xr);
	xprt_rdma_bc_reset(xr);
	xprt_rdma_frwr_destroy_all(xr);
	xprt_rdma_sends_destroy(xr);
	rpcrdma_conn_close(&xr->xr_conn);
}

/* A local port that is in use says nothing about the server. The CM does not
 * choose the same one twice in a row.
 */
static int xprt_rdma_open_port(struct xprt_rdma *xr)
{
	int tries, rc;

	for (tries = 1; ; tries++) {
		rc = xprt_rdma_open(xr);
		if (rc != -EADDRINUSE)
			return rc;
		rpcrdma_count(client_ports_in_use);
		trace_xprt_rdma_port_in_use(xr, tries);
		if (tries == XPRT_RDMA_PORTS)
			return rc;
		xprt_rdma_teardown(xr);
	}
}

/* A server that could not stand version 2 gets a second chance at once. When
 * it takes no connection of version 1 either, it was not for the version. What
 * is known from a connection before stays known (G-20), after it has been found
 * twice of a server that did speak version 2.
 */
static int xprt_rdma_open_any(struct xprt_rdma *xr)
{
	bool known;
	int rc;

	if (xr->xr_v2_spoken && xr->xr_v1_only) {
		xr->xr_v2_spoken = false;
		xr->xr_v1_only = false;
	}
	known = xr->xr_v1_only;
	rc = xprt_rdma_open_port(xr);
	if (rc && !known && xr->xr_v1_only) {
		xprt_rdma_teardown(xr);
		rc = xprt_rdma_open_port(xr);
	}
	if (rc && !known)
		xr->xr_v1_only = false;
	return rc;
}

/* sunrpc tries again after some errors, and fails RPCs, of hard mounts too,
 * after all others. A device that is missing now may be back in a moment.
 */
static int xprt_rdma_connect_status(int rc)
{
	switch (rc) {
	case 0:
		return -EAGAIN;
	case -ECONNREFUSED:
	case -ENETUNREACH:
	case -EOPNOTSUPP:
	case -ETIMEDOUT:
	case -ENOTCONN:
		return rc;
	case -EADDRINUSE:
	case -EADDRNOTAVAIL:
		/* Some port will be free again; the CM has none, or TCP. */
		return -EADDRINUSE;
	case -ENOMEM:
	case -ENOBUFS:
		return -ENOTCONN;
	default:
		return -EHOSTUNREACH;
	}
}

static void xprt_rdma_connected(struct xprt_rdma *xr)
{
	const struct rpcrdma_limits *limits = &xr->xr_conn.cn_limits;
	struct rpc_xprt *xprt = &xr->xr_xprt;

	pr_debug("rpcrdma: server %pISpc: version %u, inline %u out and %u in, %u credits, BRS %u, ours %u\n",
		 &xprt->addr, xr->xr_vers, limits->lm_inline_send,
		 limits->lm_inline_recv, xr->xr_window.wn_granted,
		 limits->lm_brs, limits->lm_our_brs);
	rpcrdma_count(client_connects);
	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	/* Lost in between: xprt_rdma_lost() may have looked too early. It
	 * raises the state, and then looks.
	 */
	smp_mb__after_atomic();
	if (!rpcrdma_conn_is_up(&xr->xr_conn))
		xprt_force_disconnect(xprt);
}

static void xprt_rdma_connect_work(struct work_struct *work)
{
	struct xprt_rdma *xr = container_of(work, struct xprt_rdma,
					    xr_connect_work.work);
	struct rpc_xprt *xprt = &xr->xr_xprt;
	unsigned int flags = xprt_rdma_memalloc_save(xr);
	int rc;

	xprt_clear_connected(xprt);
	rc = xprt_rdma_open_any(xr);
	trace_xprt_rdma_connect(xr, rc);
	xr->xr_no_memory = rc == -ENOMEM || rc == -ENOBUFS;
	if (rc) {
		rpcrdma_count(client_connect_errors);
		xprt_rdma_teardown(xr);
		/* Who is told of the error may want the connection closed
		 * that it has met. It must not be the next one.
		 */
		xprt->connect_cookie++;
	} else {
		xprt_rdma_connected(xr);
	}
	/* Once the lock is free, somebody else may connect, and would be told
	 * of this error as well.
	 */
	xprt_wake_pending_tasks(xprt, xprt_rdma_connect_status(rc));
	xprt_clear_connecting(xprt);
	xprt_unlock_connect(xprt, xr);
	memalloc_flags_restore(flags);
}

static void xprt_rdma_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	unsigned long delay = 0;

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, xr));
	/* The first attempt, and the first after a useful conversation, are
	 * immediate; the rest keep their distance.
	 */
	if (xr->xr_conn.cn_error) {
		delay = xprt_reconnect_delay(xprt);
		xprt_reconnect_backoff(xprt, XPRT_RDMA_REESTABLISH_MIN);
	}
	queue_delayed_work(xprt_rdma_connect_wq, &xr->xr_connect_work, delay);
}

/**
 * xprt_rdma_close - end the connection, if there is one
 * @xprt: transport
 *
 * Context: process; sleeps. Send lock held.
 */
void xprt_rdma_close(struct rpc_xprt *xprt)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	unsigned int flags;

	/* sunrpc may close twice. */
	if (xr->xr_conn.cn_id) {
		trace_xprt_rdma_close(xr, xr->xr_conn.cn_error);
		/* It said ERR_VERS, and that was all it ever did (V2-NEG-09) */
		if (xr->xr_fell_back && !xr->xr_window.wn_opened)
			xr->xr_v1_only = true;
		rpcrdma_count(client_disconnects);
	}
	flags = xprt_rdma_memalloc_save(xr);
	xprt_rdma_teardown(xr);
	memalloc_flags_restore(flags);
	++xprt->connect_cookie;
	xprt_disconnect_done(xprt);
}

static void xprt_rdma_inject_disconnect(struct rpc_xprt *xprt)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	if (xprt_connected(xprt))
		rpcrdma_conn_fail(&xr->xr_conn, -ECONNABORTED);
}

/* An RPC got no answer in time. The keepalive may be off, or the peer alive and
 * stuck; and a retransmission needs a new connection anyway (V1-CRD-24).
 */
static void xprt_rdma_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	if (task->tk_rqstp->rq_connect_cookie != xprt->connect_cookie ||
	    xprt_rdma_send_is_fresh(task->tk_rqstp))
		return;
	trace_xprt_rdma_timeout(task->tk_rqstp, task->tk_status);
	xprt_force_disconnect(xprt);
}

static void xprt_rdma_set_connect_timeout(struct rpc_xprt *xprt,
					  unsigned long connect_timeout,
					  unsigned long reconnect_timeout)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	spin_lock(&xprt->transport_lock);
	if (connect_timeout < xprt->connect_timeout) {
		unsigned long initval = max_t(unsigned long, connect_timeout,
					      2 * XPRT_RDMA_REESTABLISH_MIN);

		xr->xr_timeout = *xprt->timeout;
		xr->xr_timeout.to_initval = initval;
		xr->xr_timeout.to_maxval = initval;
		xprt->timeout = &xr->xr_timeout;
		xprt->connect_timeout = connect_timeout;
	}
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
	spin_unlock(&xprt->transport_lock);
}

static void xprt_rdma_free_strings(struct rpc_xprt *xprt)
{
	int i;

	for (i = 0; i < RPC_DISPLAY_MAX; i++) {
		switch (i) {
		case RPC_DISPLAY_PROTO:
		case RPC_DISPLAY_NETID:
			continue;	/* constants */
		default:
			kfree(xprt->address_strings[i]);
		}
	}
}

static void xprt_rdma_format_port(struct rpc_xprt *xprt, u16 port)
{
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
	xprt->address_strings[RPC_DISPLAY_PORT] =
		kasprintf(GFP_KERNEL, "%u", port);
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] =
		kasprintf(GFP_KERNEL, "%4hx", port);
}

static int xprt_rdma_format_addr(struct rpc_xprt *xprt)
{
	struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	char buf[INET6_ADDRSTRLEN + IPV6_SCOPE_ID_LEN];
	struct sockaddr_in *sin = (struct sockaddr_in *)sap;
	char *hex;

	switch (sap->sa_family) {
	case AF_INET:
		xprt->address_strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA;
		hex = kasprintf(GFP_KERNEL, "%08x",
				ntohl(sin->sin_addr.s_addr));
		break;
	case AF_INET6:
		xprt->address_strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA6;
		hex = kasprintf(GFP_KERNEL, "%pi6",
				&((struct sockaddr_in6 *)sap)->sin6_addr);
		break;
	default:
		return -EAFNOSUPPORT;
	}
	rpc_ntop(sap, buf, sizeof(buf));
	xprt->address_strings[RPC_DISPLAY_ADDR] = kstrdup(buf, GFP_KERNEL);
	xprt->address_strings[RPC_DISPLAY_HEX_ADDR] = hex;
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt_rdma_format_port(xprt, rpc_get_port(sap));
	if (!hex || !xprt->address_strings[RPC_DISPLAY_ADDR] ||
	    !xprt->address_strings[RPC_DISPLAY_PORT] ||
	    !xprt->address_strings[RPC_DISPLAY_HEX_PORT])
		return -ENOMEM;
	return 0;
}

static void xprt_rdma_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	xprt_rdma_format_port(xprt, port);
}

static int xprt_rdma_get_srcaddr(struct rpc_xprt *xprt, char *buf,
				 size_t buflen)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	if (xr->xr_srcaddr.ss_family == AF_UNSPEC)
		return -ENOTCONN;
	return rpc_ntop((struct sockaddr *)&xr->xr_srcaddr, buf, buflen);
}

static unsigned short xprt_rdma_get_srcport(struct rpc_xprt *xprt)
{
	return rpc_get_port((struct sockaddr *)
			    &xprt_rdma_from(xprt)->xr_srcaddr);
}

/* The columns, dead ones included, are those that nfsiostat and mountstats
 * have always parsed.
 */
static void xprt_rdma_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	const struct xprt_rdma_stats *st = &xprt_rdma_from(xprt)->xr_stats;
	long idle = 0;

	if (xprt_connected(xprt))
		idle = (long)(jiffies - xprt->last_used) / HZ;
	seq_printf(seq,
		   "\txprt:\trdma %u %lu %lu %lu %ld %lu %lu %lu %llu %llu ",
		   xprt_rdma_get_srcport(xprt), xprt->stat.bind_count,
		   xprt->stat.connect_count, xprt->stat.connect_time / HZ,
		   idle, xprt->stat.sends, xprt->stat.recvs,
		   xprt->stat.bad_xids, xprt->stat.req_u, xprt->stat.bklog_u);
	seq_printf(seq, "%lu %lu %lu %llu %llu %llu %llu %lu %lu %lu %lu ",
		   st->st_read_chunks, st->st_write_chunks,
		   st->st_reply_chunks, st->st_bytes_out, st->st_bytes_in,
		   st->st_pullup, st->st_fixup,
		   (unsigned long)atomic_long_read(&st->st_hardway),
		   st->st_failed_marshals, st->st_bad_replies,
		   st->st_nomsg_calls);
	seq_printf(seq, "%lu %lu %lu %lu %lu %lu\n",
		   st->st_recycled, 0UL, st->st_allocated, st->st_local_inv,
		   st->st_empty_sends, 0UL);
}

/* sunrpc has who sends over such a transport use the kernel's reserve, and so do
 * connecting and closing. What connections are made with is there already.
 */
static int xprt_rdma_enable_swap(struct rpc_xprt *xprt)
{
	atomic_inc(&xprt->swapper);
	return 0;
}

/* One that was added meanwhile has not been told of the beginning. */
static void xprt_rdma_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec_if_positive(&xprt->swapper);
}

static void xprt_rdma_free(struct xprt_rdma *xr)
{
	xprt_rdma_req_destroy_all(xr);
	xprt_rdma_free_strings(&xr->xr_xprt);
	kvfree(xr->xr_owed);
	kfree(xr->xr_pad);
	xprt_free(&xr->xr_xprt);
	module_put(THIS_MODULE);
}

/* No RPC is left and none will come; sunrpc has waited for the send lock, so no
 * connect attempt is under way either.
 */
static void xprt_rdma_destroy(struct rpc_xprt *xprt)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	xprt_rdma_debugfs_destroy(xr);
	cancel_delayed_work_sync(&xr->xr_connect_work);
	xprt_rdma_teardown(xr);
	xprt_rdma_bc_exit(xr);
	xprt_rdma_free(xr);
}

static const struct rpc_xprt_ops xprt_rdma_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_rdma_req_alloc_slot,
	.free_slot		= xprt_rdma_req_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= xprt_rdma_set_port,
	.connect		= xprt_rdma_connect,
	.get_srcaddr		= xprt_rdma_get_srcaddr,
	.get_srcport		= xprt_rdma_get_srcport,
	.buf_alloc		= xprt_rdma_req_alloc_buf,
	.buf_free		= xprt_rdma_req_free_buf,
	.send_request		= xprt_rdma_send_request,
	.wait_for_reply_request	= xprt_rdma_reply_wait,
	.timer			= xprt_rdma_timer,
	.release_request	= xprt_rdma_req_release,
	.close			= xprt_rdma_close,
	.destroy		= xprt_rdma_destroy,
	.set_connect_timeout	= xprt_rdma_set_connect_timeout,
	.print_stats		= xprt_rdma_print_stats,
	.enable_swap		= xprt_rdma_enable_swap,
	.disable_swap		= xprt_rdma_disable_swap,
	.inject_disconnect	= xprt_rdma_inject_disconnect,
#ifdef CONFIG_SUNRPC_BACKCHANNEL
	.bc_setup		= xprt_rdma_bc_setup,
	.bc_maxpayload		= xprt_rdma_bc_maxpayload,
	.bc_num_slots		= xprt_rdma_bc_num_slots,
	.bc_free_rqst		= xprt_rdma_bc_free_rqst,
	.bc_destroy		= xprt_rdma_bc_destroy,
#endif
};

static struct xprt_class xprt_rdma_class;

static void xprt_rdma_init_lists(struct xprt_rdma *xr)
{
	rpcrdma_conn_init(&xr->xr_conn, &xprt_rdma_conn_ops);
	INIT_DELAYED_WORK(&xr->xr_connect_work, xprt_rdma_connect_work);
	INIT_LIST_HEAD(&xr->xr_req_free);
	INIT_LIST_HEAD(&xr->xr_req_all);
	rpcrdma_window_reset(&xr->xr_window, 1);
	spin_lock_init(&xr->xr_mr_lock);
	INIT_LIST_HEAD(&xr->xr_mr_free);
	INIT_LIST_HEAD(&xr->xr_mr_all);
	spin_lock_init(&xr->xr_send_lock);
	INIT_LIST_HEAD(&xr->xr_send_free);
	INIT_LIST_HEAD(&xr->xr_send_busy);
	INIT_LIST_HEAD(&xr->xr_send_parked);
	INIT_LIST_HEAD(&xr->xr_bc_free);
	INIT_LIST_HEAD(&xr->xr_bc_waiting);
	init_waitqueue_head(&xr->xr_teardown);
}

static void xprt_rdma_init_xprt(struct rpc_xprt *xprt,
				const struct xprt_create *args)
{
	xprt->timeout = &xprt_rdma_default_timeout;
	xprt->connect_timeout = xprt->timeout->to_initval;
	xprt->max_reconnect_timeout = xprt->timeout->to_maxval;
	xprt->bind_timeout = XPRT_RDMA_BIND_TIMEOUT;
	xprt->reestablish_timeout = XPRT_RDMA_REESTABLISH_MIN;
	xprt->idle_timeout = XPRT_RDMA_IDLE_TIMEOUT;
	xprt->resvport = 0;
	xprt->ops = &xprt_rdma_ops;
	xprt->max_payload = XPRT_RDMA_MAX_PAYLOAD;
	/* Side protocols such as NLM and MNT go by this one (ULB-11). */
	xprt->prot = IPPROTO_TCP;
	xprt->xprt_class = &xprt_rdma_class;
	xprt->addrlen = args->addrlen;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);
}

static struct rpc_xprt *xprt_rdma_setup(struct xprt_create *args)
{
	struct rpc_xprt *xprt;
	struct xprt_rdma *xr;
	int rc = -ENOMEM;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	/* NFS refuses xprtsec= for a mount itself, but tries RDMA first when a
	 * server that is mounted with TLS refers it to another one. What was to
	 * be encrypted must not go in the clear: it then tries TCP with TLS.
	 */
	if (args->xprtsec.policy != RPC_XPRTSEC_NONE) {
		trace_xprt_rdma_no_tls(args);
		return ERR_PTR(-EPROTONOSUPPORT);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-EIO);

	xprt = xprt_alloc(args->net, sizeof(struct xprt_rdma), 0,
			  xprt_rdma_slot_table_entries);
	if (!xprt)
		goto out_put_module;
	xr = xprt_rdma_from(xprt);
	xprt_rdma_init_lists(xr);
	xprt_rdma_init_xprt(xprt, args);

	xr->xr_pad = kzalloc(XDR_UNIT, GFP_KERNEL);
	/* There are never more requests than slots, nor credits than that. */
	xr->xr_owed = kvmalloc_array(xprt->max_reqs, sizeof(*xr->xr_owed),
				     GFP_KERNEL);
	if (xr->xr_pad && xr->xr_owed)
		rc = xprt_rdma_req_reserve(xr);
	if (!rc)
		rc = xprt_rdma_format_addr(xprt);
	if (rc) {
		xprt_rdma_free(xr);
		return ERR_PTR(rc);
	}
	xprt_rdma_debugfs_create(xr);
	return xprt;

out_put_module:
	module_put(THIS_MODULE);
	return ERR_PTR(rc);
}

static struct xprt_class xprt_rdma_class = {
	.list	= LIST_HEAD_INIT(xprt_rdma_class.list),
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= xprt_rdma_setup,
	.netid	= { "rdma", "rdma6", "" },
};

/**
 * xprt_rdma_init - offer the client transport to sunrpc
 *
 * Context: module load.
 * Return: 0; %-ENOMEM; %-EEXIST if another module provides it.
 */
int xprt_rdma_init(void)
{
	int rc;

	xprt_rdma_connect_wq = alloc_workqueue("rpcrdma_connect",
					       WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!xprt_rdma_connect_wq)
		return -ENOMEM;
	rc = xprt_register_transport(&xprt_rdma_class);
	if (rc)
		destroy_workqueue(xprt_rdma_connect_wq);
	return rc;
}

/**
 * xprt_rdma_exit - withdraw the client transport
 *
 * Context: module unload, or failed load.
 */
void xprt_rdma_exit(void)
{
	xprt_unregister_transport(&xprt_rdma_class);
	destroy_workqueue(xprt_rdma_connect_wq);
}
