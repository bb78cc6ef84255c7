// SPDX-License-Identifier: GPL-2.0
/*
 * Client: connecting, reconnecting, closing.
 *
 * This file begins and ends the connection of a transport, and decides in which order the
 * resources of the connection are created and freed. It never sends or receives an RPC. The
 * resources that an RPC has on the connection are freed by functions of the files that
 * created them.
 *
 * Operation
 *
 * sunrpc protects a transport with its send lock (XPRT_LOCKED). This lock is held by a task that
 * sends an RPC, by the connect worker, and by whoever closes the connection. So only one of them
 * runs at a time. The connection (xr_conn) is a member of the transport, and is set up anew for
 * each attempt to connect.
 *
 * Closing first drains and destroys the queue pair. From then on the server cannot
 * access the memory of an RPC, and no completion handler runs. Then regions, Sends and
 * Receives are freed. RPCs without a Reply stay with sunrpc, which normally sends them again on
 * the next connection.
 *
 * When a connection breaks, xprt_rdma_lost() is called. If sunrpc has been told of the
 * connection, this function asks sunrpc to close it, and sunrpc calls xprt_rdma_close() when
 * it has the send lock.
 */
#include <linux/sched/mm.h>
#include <linux/sunrpc/sched.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Workqueue for connecting. The work may sleep for more than a minute if a server does
 * not answer. sunrpc's own workqueue (xprtiod) is not used for this: it also runs tasks that send
 * RPCs on other transports, and has only one thread when memory is short.
 */
struct workqueue_struct *xprt_rdma_connect_wq;

/* Time in jiffies after which a run of the connect worker tries no further path. The time is
 * limited, because sunrpc has to wait for the worker before it can destroy the transport.
 */
#define XPRT_RDMA_PATHS_TIME		\
	(XPRT_RDMA_RESOLVE_TIMEOUT + XPRT_RDMA_CONNECT_TIMEOUT)

/* Number of local ports to try in one attempt */
#define XPRT_RDMA_PORTS			8

/* Asks sunrpc to close the connection. sunrpc does so when it has the send lock. If the
 * connect worker has not called xprt_set_connected() yet, nothing is done here: the worker
 * will notice that the connection is down. The cmpxchg() in rpcrdma_conn_fail() is the barrier.
 */
static void xprt_rdma_lost(struct rpcrdma_conn *conn)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);

	if (xprt_connected(&xr->xr_xprt))
		xprt_force_disconnect(&xr->xr_xprt);
}

static const struct rpcrdma_conn_ops xprt_rdma_conn_ops = {
	.receive	= xprt_rdma_reply_receive,
	.lost		= xprt_rdma_lost,
	.awaits		= xprt_rdma_send_awaits,
};

static int xprt_rdma_create_queues(struct xprt_rdma *xr)
{
	struct rpcrdma_client_sizes *sizes = &xr->xr_sizes;
	struct rpcrdma_conn *conn = &xr->xr_conn;
	int rc = 0, error;
	u32 spare, sges;

	sges = xprt_rdma_pages_begin(xr);
	for (;;) {
		error = rpcrdma_size_client(&conn->cn_caps, xr->xr_xprt.max_reqs,
					    XPRT_RDMA_BC_REQUESTS, XPRT_RDMA_MAX_PAYLOAD,
					    PAGE_SIZE, sizes);
		if (error && !rc)
			pr_warn_once("rpcrdma: %s cannot register memory as NFS/RDMA needs it\n",
				     dev_name(&rpcrdma_conn_device(conn)->dev));
		if (error)
			return rc ?: error;
		/* cz_sq_depth and cz_rq_depth include entries for draining, and cz_sq_depth also
		 * one for the keepalive's probe. These entries are subtracted here, because
		 * rpcrdma_conn_create_qp() adds them itself.
		 */
		spare = rpcrdma_size_client_spare(&conn->cn_caps, sizes);
		rc = rpcrdma_conn_create_qp(conn, sizes->cz_sq_depth -
					    RPCRDMA_SQ_EXTRA,
					    sizes->cz_rq_depth + spare -
					    RPCRDMA_DRAIN_WRS, sges);
		if (rc != -ENOMEM && rc != -EINVAL)
			break;
		/* The queue pair may be too large for the device, or memory may be short. Try again
		 * with a send queue of at most half the length, unless that would be too short.
		 */
		conn->cn_caps.dc_max_qp_wr = sizes->cz_sq_depth / 2;
	}
	xr->xr_xprt.max_payload =
		min_t(u64, XPRT_RDMA_MAX_PAYLOAD,
		      rpcrdma_size_client_payload(sizes->cz_mr_pages,
						  PAGE_SIZE));
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

/* Sets the allocation flags for connecting and closing. Dirty pages may have to be written
 * through this transport, so allocations must not wait for I/O. If the transport is used for
 * swap, there may be no free memory until it is connected. So these allocations may then use
 * the kernel's memory reserve.
 */
static unsigned int xprt_rdma_memalloc_save(struct xprt_rdma *xr)
{
	unsigned int flags = PF_MEMALLOC_NOIO;

	if (atomic_read(&xr->xr_xprt.swapper))
		flags |= PF_MEMALLOC;
	return memalloc_flags_save(flags);
}

static int xprt_rdma_open(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_conn *conn = &xr->xr_conn;
	unsigned long timeout;
	int rc;

	/* The server may have broken a group (rtx.h), and would do so again. */
	if (conn->cn_error == -EPROTO)
		xr->xr_rtx_broken = true;
	rpcrdma_conn_init(conn, &xprt_rdma_conn_ops);
	conn->cn_ours.cp_send_size = xprt_rdma_max_inline_write;
	conn->cn_ours.cp_recv_size =
		xprt_rdma_negotiate_size(xr, xprt_rdma_max_inline_read);
	conn->cn_ours.cp_remote_inv = rpcrdma_remote_inv;
	memset_startat(xr, 0, xr_sizes);
	xprt_rdma_negotiate_init(xr);
	rc = rpcrdma_conn_resolve(conn, xprt->xprt_net, &xr->xr_path,
				  XPRT_RDMA_RESOLVE_TIMEOUT);
	if (rc)
		return rc;
	strscpy(xr->xr_device, dev_name(&rpcrdma_conn_device(conn)->dev),
		sizeof(xr->xr_device));
	rc = xprt_rdma_create_queues(xr);
	if (rc)
		return rc;

	xprt_rdma_credit_begin(xr);
	timeout = min_t(unsigned long, READ_ONCE(xprt->connect_timeout),
			XPRT_RDMA_CONNECT_TIMEOUT);
	rc = rpcrdma_conn_connect(conn, &conn->cn_ours, timeout);
	if (rc)
		return rc;
	memcpy(&xr->xr_srcaddr, &conn->cn_id->route.addr.src_addr,
	       sizeof(xr->xr_srcaddr));
	/* The first Sends have buffers that are large enough for the negotiation, but may be too
	 * small for the limits that are negotiated.
	 */
	rc = xprt_rdma_sends_reserve(xr);
	if (!rc)
		rc = xprt_rdma_negotiate(xr);
	/* With what follows, RPCs can be sent one at a time, so that dirty pages can be written,
	 * and pages swapped, when memory is short (I33).
	 */
	if (!rc)
		rc = xprt_rdma_recv_expect(xr, XPRT_RDMA_FIRST_CALLS,
					   XPRT_RDMA_GFP_CONNECT);
	if (!rc)
		rc = xprt_rdma_sends_reserve(xr);
	if (!rc)
		rc = xprt_rdma_frwr_reserve(xr);
	return rc;
}

/* Frees all resources of a connection, whatever state the connection is in. Send lock held. */
static void xprt_rdma_teardown(struct xprt_rdma *xr)
{
	rpcrdma_conn_drain(&xr->xr_conn);
	rpcrdma_conn_destroy_queues(&xr->xr_conn);
	xprt_rdma_sends_destroy(xr);
	xprt_rdma_frwr_destroy_all(xr);
	xprt_rdma_req_reset_all(xr);
	xprt_rdma_bc_reset(xr);
	rpcrdma_conn_close(&xr->xr_conn);
}

/* Connects with version 2 if that is allowed. If the negotiation fails and sets xr_v1_only,
 * connects with version 1 at once. If version 1 fails as well, the version was not the reason,
 * and xr_v1_only is cleared. If xr_v1_only was set before the call, only version 1 is tried,
 * and xr_v1_only stays set (G-20). There is one exception: if the server has spoken version 2
 * on an earlier connection (xr_v2_spoken), it may only have been too slow last time, so
 * version 2 is tried once more.
 *
 * If the local port is in use, tries again at once: the CM then chooses another port, since it does
 * not choose the same port twice in a row.
 */
static int xprt_rdma_open_any(struct xprt_rdma *xr)
{
	bool known, v1;
	int tries = 0;
	int rc;

	if (xr->xr_v2_spoken && xr->xr_v1_only) {
		xr->xr_v2_spoken = false;
		xr->xr_v1_only = false;
	}
	known = xr->xr_v1_only;
	for (;;) {
		v1 = xr->xr_v1_only;
		rc = xprt_rdma_open(xr);
		if (rc == -EADDRINUSE) {
			trace_xprt_rdma_port_in_use(xr, ++tries);
			if (tries == XPRT_RDMA_PORTS)
				break;
		} else if (!rc || v1 || !xr->xr_v1_only) {
			break;
		}
		xprt_rdma_teardown(xr);
	}
	if (rc && !known)
		xr->xr_v1_only = false;
	return rc;
}

/* May sunrpc end RPCs of hard mounts after this error? See xprt_rdma_connect_status(). */
static bool xprt_rdma_ends_rpcs(int rc)
{
	return rc == -EOPNOTSUPP || rc == -ENETUNREACH;
}

/* Connects by one of the transport's paths. If a path fails, the next one is tried at once, until
 * each path has been tried once, or XPRT_RDMA_PATHS_TIME has passed. So an RPC seldom waits for
 * sunrpc's delay between two attempts while another path may work. If memory or local ports are
 * short, which is no fault of a path, no further path is tried.
 *
 * An error after which sunrpc ends RPCs is returned only if each path has failed with such an
 * error. A path that was not tried, or has failed with another error, may work later.
 */
static int xprt_rdma_open_path(struct xprt_rdma *xr)
{
	unsigned long end = jiffies + XPRT_RDMA_PATHS_TIME;
	int rc, error = -ENETUNREACH;
	bool other;
	u32 left;

	xprt_rdma_paths_begin(xr);
	left = xr->xr_paths.th_count;
	for (;;) {
		rc = xprt_rdma_paths_choose(xr);
		if (!rc)
			rc = xprt_rdma_open_any(xr);
		other = xprt_rdma_paths_tried(xr, rc);
		if (!rc)
			return 0;
		if (xprt_rdma_ends_rpcs(error))
			error = rc;
		if (!other || !--left)
			return error;
		if (time_after(jiffies, end))
			return xprt_rdma_ends_rpcs(error) ? -ETIMEDOUT : error;
		xprt_rdma_teardown(xr);
	}
}

/* Translates the result of connecting into a status after which sunrpc tries again. After most
 * other errors, sunrpc would end RPCs, even those of hard mounts. But the cause of such an error
 * may be temporary: for example, a device that is missing may soon be back. There are two
 * exceptions: sunrpc ends RPCs after -EOPNOTSUPP (the device cannot be used), and those of some
 * mounts after -ENETUNREACH. An RPC with RPC_TASK_SOFTCONN must not wait for a connection, and
 * sunrpc also ends it after some of the errors after which it tries other RPCs again.
 */
static int xprt_rdma_connect_status(int rc)
{
	switch (rc) {
	case 0:
		return -EAGAIN;
	case -EADDRINUSE:
	case -ECONNREFUSED:
	case -ENETUNREACH:
	case -EOPNOTSUPP:
	case -ETIMEDOUT:
	case -ENOTCONN:
		return rc;
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
		 limits->lm_brs, RPCRDMA2_OUR_BRS);
	rpcrdma_count(client_connects);
	rpcrdma_send_cq_relax(&xr->xr_conn);
	xprt_rdma_credit_next_cookie(xr);
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	xprt_rdma_paths_connected(xr);
	/* If the connection was lost just now, xprt_rdma_lost() may have run before
	 * xprt_set_connected(), and so have done nothing. The state of the connection is
	 * changed before xprt_rdma_lost() is called. So check the state here. Pairs with
	 * cmpxchg() in rpcrdma_conn_fail().
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
	rc = xprt_rdma_open_path(xr);
	trace_xprt_rdma_connect(xr, rc);
	xr->xr_no_memory = rc == -ENOMEM || rc == -ENOBUFS;
	if (rc) {
		rpcrdma_count(client_connect_errors);
		xprt_rdma_teardown(xr);
		/* A task that is woken with this error may ask sunrpc to close the
		 * connection whose cookie is the task's rq_connect_cookie. So the next
		 * connection must have another cookie, or the task could have it closed.
		 */
		xprt_rdma_credit_next_cookie(xr);
	} else {
		xprt_rdma_connected(xr);
	}
	/* Wake the tasks before the send lock is released. As soon as it is released,
	 * other tasks may wait for the next attempt to connect, and these must not be
	 * woken with this error.
	 */
	xprt_wake_pending_tasks(xprt, xprt_rdma_connect_status(rc));
	xprt_clear_connecting(xprt);
	xprt_unlock_connect(xprt, xr);
	memalloc_flags_restore(flags);
}

/**
 * xprt_rdma_connect - queue the work that connects
 * @xprt: transport
 * @task: RPC that waits for the connection, and holds the send lock
 *
 * Context: process. The send lock passes to the worker.
 */
void xprt_rdma_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	unsigned long delay = 0;

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, xr));
	/* Before the transport's first attempt to connect, cn_error is 0, and there is no
	 * delay. If the last connection was of use, xprt_rdma_useful() has set sunrpc's
	 * delay to 0.
	 */
	if (xr->xr_conn.cn_error) {
		/* If the server's address was not resolved, this host has no device or no network
		 * for it, or nobody has answered for it. Longer and longer delays would spare
		 * nobody then. With the shortest delay, the transport connects soon after the
		 * device or the address has come back.
		 */
		if (!xr->xr_conn.cn_caps.dc_max_qp_wr)
			xprt->reestablish_timeout =
				min_t(unsigned long, xprt->reestablish_timeout,
				      XPRT_RDMA_REESTABLISH_MIN);
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
	int error = xr->xr_conn.cn_error;
	unsigned int flags;

	/* sunrpc may call this again when the connection is closed already. */
	if (xr->xr_conn.cn_id) {
		trace_xprt_rdma_close(xr, error);
		/* The path has not failed if this end or the peer closes the connection in an
		 * orderly way.
		 */
		if (error != -ECONNABORTED && error != -ESHUTDOWN)
			xprt_rdma_paths_tried(xr, error);
		/* If the server refused version 2, and the connection ended before a
		 * Reply of version 1 came, do not try version 2 next time (version-two
		 * 7.2; G-20), unless the server has spoken version 2 before (see
		 * xprt_rdma_open_any()).
		 */
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
 * xprt_rdma_inject_disconnect - break the connection, for sunrpc's fault injection
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
 * xprt_rdma_set_connect_timeout - shorten the timeouts for connecting
 * @xprt: transport
 * @connect_timeout: maximum duration of one attempt in jiffies
 * @reconnect_timeout: maximum delay between two attempts in jiffies
 *
 * A timeout that is not longer than the new value is left alone. If @connect_timeout takes
 * effect, the RPC timeout (xprt->timeout) is set to the same value, but to at least 10 seconds.
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
 * xprt_rdma_connect_init - initialise the connection of a new transport
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
 * xprt_rdma_connect_exit - free the connection of a transport that is destroyed
 * @xr: transport
 *
 * Context: process; sleeps. No RPC is left, and no attempt to connect is in progress.
 */
void xprt_rdma_connect_exit(struct xprt_rdma *xr)
{
	cancel_delayed_work_sync(&xr->xr_connect_work);
	cancel_delayed_work_sync(&xr->xr_home_work);
	xprt_rdma_teardown(xr);
}
