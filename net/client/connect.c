// SPDX-License-Identifier: GPL-2.0
/*
 * Client: connecting, reconnecting, closing.
 *
 * This file decides when the transport's connection begins and ends, and in which
 * order all that hangs from it is made and freed. It never sends or receives an
 * RPC, and what an RPC has on the connection is freed by the file that made it.
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
#include <linux/sched/mm.h>
#include <linux/sunrpc/sched.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Connecting may sleep for more than a minute if a server does not answer.
 * sunrpc's own queue also sends all RPCs, and has a single thread when memory
 * is short. So connecting has a queue of its own.
 */
static struct workqueue_struct *xprt_rdma_connect_wq;

#define XPRT_RDMA_RESOLVE_TIMEOUT	(5 * HZ)
#define XPRT_RDMA_CONNECT_TIMEOUT	(15 * HZ)

/* Local ports to try in one attempt */
#define XPRT_RDMA_PORTS			8

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
	.group_ended	= xprt_rdma_reply_lost,
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
	struct rpcrdma_conn_queues queues = { .qz_send_sges = 1 };
	u32 pages, spare;
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
		queues.qz_sq = sizes->cz_sq_depth - RPCRDMA_SQ_EXTRA;
		spare = rpcrdma_size_client_spare(&conn->cn_caps, sizes);
		queues.qz_rq = sizes->cz_rq_depth + spare - RPCRDMA_DRAIN_WRS;
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
	xr->xr_spare_max = spare;
	if (!rc)
		rc = xprt_rdma_recv_limit(xr);
	if (!rc)
		rc = xprt_rdma_sends_create(xr);
	if (!rc)
		rc = rpcrdma_recv_pool_grow_gfp(&conn->cn_recvs,
						XPRT_RDMA_FIRST_RECVS,
						xprt_rdma_negotiate_recv_size(xr),
						XPRT_RDMA_GFP_CONNECT);
	return rc;
}

/* For making and ending connections. Pages may be waiting to be cleaned through
 * this very transport. If it is swapped over, no memory may come free before it
 * is connected, and the kernel's reserve is there for that.
 */
static unsigned int xprt_rdma_memalloc_save(struct xprt_rdma *xr)
{
	unsigned int flags = PF_MEMALLOC_NOIO;

	if (atomic_read(&xr->xr_xprt.swapper))
		flags |= PF_MEMALLOC;
	return memalloc_flags_save(flags);
}

/* Before sunrpc hears of a connection, the connection has what one RPC at a
 * time takes. That is enough to clean pages or to swap (I33).
 */
static int xprt_rdma_reserve(struct xprt_rdma *xr)
{
	int rc;

	rc = xprt_rdma_recv_expect(xr, XPRT_RDMA_FIRST_CALLS * RPCRDMA_MSG_RECVS,
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
	memset_startat(xr, 0, xr_sizes);
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

	xprt_rdma_credit_begin(xr);
	timeout = min_t(unsigned long, READ_ONCE(xprt->connect_timeout),
			XPRT_RDMA_CONNECT_TIMEOUT);
	rc = rpcrdma_conn_connect(conn, &ours, timeout);
	if (rc)
		return rc;
	memcpy(&xr->xr_srcaddr, &conn->cn_id->route.addr.src_addr,
	       sizeof(xr->xr_srcaddr));
	/* What sufficed to ask for the version may be too small afterwards. */
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

/* A server that failed with version 2 is tried with version 1 at once. If that
 * fails too, the version was not the reason. What an earlier connection has
 * shown stays known (G-20); for a server that once spoke version 2, it must
 * have been found twice.
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

/* sunrpc tries again after some errors. After all others it fails RPCs, even
 * those of hard mounts. A device that is missing now may be back in a moment.
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
	xprt_rdma_credit_next_cookie(xr);
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
		/* A task woken with this error may close the connection it
		 * used. That must not be the next connection.
		 */
		xprt_rdma_credit_next_cookie(xr);
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

/**
 * xprt_rdma_connect - have the connect worker make a connection
 * @xprt: transport
 * @task: RPC that waits for it, and holds the send lock
 *
 * Context: process. The send lock passes to the worker.
 */
void xprt_rdma_connect(struct rpc_xprt *xprt, struct rpc_task *task)
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
		/* It sent ERR_VERS and nothing else (version-two 7.2) */
		if (xr->xr_fell_back && !xr->xr_window.wn_opened)
			xr->xr_v1_only = true;
		rpcrdma_count(client_disconnects);
	}
	flags = xprt_rdma_memalloc_save(xr);
	xprt_rdma_teardown(xr);
	memalloc_flags_restore(flags);
	xprt_rdma_credit_next_cookie(xr);
	xprt_disconnect_done(xprt);
}

/**
 * xprt_rdma_inject_disconnect - break the connection, for sunrpc's own tests
 * @xprt: transport
 *
 * Context: process.
 */
void xprt_rdma_inject_disconnect(struct rpc_xprt *xprt)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	if (xprt_connected(xprt))
		rpcrdma_conn_fail(&xr->xr_conn, -ECONNABORTED);
}

/**
 * xprt_rdma_set_connect_timeout - have shorter times for connecting
 * @xprt: transport
 * @connect_timeout: jiffies that one attempt may take
 * @reconnect_timeout: jiffies between two attempts, at most
 *
 * What is there and shorter stays.
 *
 * Context: process.
 */
void xprt_rdma_set_connect_timeout(struct rpc_xprt *xprt,
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

/**
 * xprt_rdma_connect_init - no connection yet
 * @xr: transport that nobody uses yet
 *
 * Context: process.
 */
void xprt_rdma_connect_init(struct xprt_rdma *xr)
{
	rpcrdma_conn_init(&xr->xr_conn, &xprt_rdma_conn_ops);
	INIT_DELAYED_WORK(&xr->xr_connect_work, xprt_rdma_connect_work);
}

/**
 * xprt_rdma_connect_exit - no connection any more
 * @xr: transport that is going away
 *
 * Context: process; sleeps. No RPC is left, and no attempt to connect is under way.
 */
void xprt_rdma_connect_exit(struct xprt_rdma *xr)
{
	cancel_delayed_work_sync(&xr->xr_connect_work);
	xprt_rdma_teardown(xr);
}

/**
 * xprt_rdma_connect_start - have the queue on which transports connect
 *
 * Context: module load.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_connect_start(void)
{
	xprt_rdma_connect_wq = alloc_workqueue("rpcrdma_connect",
					       WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	return xprt_rdma_connect_wq ? 0 : -ENOMEM;
}

/**
 * xprt_rdma_connect_stop - destroy that queue
 *
 * Context: module unload, or failed load. No transport is left.
 */
void xprt_rdma_connect_stop(void)
{
	destroy_workqueue(xprt_rdma_connect_wq);
}
