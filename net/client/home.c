// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the return of a transport to its first path.
 *
 * When the first path of a transport has failed, the transport uses another one (paths.c). This
 * file finds out when the first path works again, and closes the connection then. The next one
 * will be made by the first path. This file makes no connection that sunrpc uses.
 *
 * Operation
 *
 * While the transport is away from its first path, a work item probes that path every 30 seconds
 * (%RPCRDMA_PATH_AGAIN): it makes a connection that carries no message, and closes it at once. The
 * path works only if the server has accepted this connection. To give up a connection that works
 * for one that may not would stop all RPCs for as long as an attempt to connect takes.
 *
 * A Reply that has not come when the connection is closed is lost, and its Call is sent again from
 * another address. A server of NFSv3 or 4.0 may not recognise it then, and execute it twice. So
 * the work item first takes the send lock, so that no further Call is sent, and waits until all
 * Replies have come. Nobody waits for the Replies to RPCs that were given up, and these are not
 * sent again. If the Replies take too long, the transport stays away, and the work item tries again
 * later: each time later than before, because an attempt stops the RPCs of the connection.
 *
 * A probe may take long. Meanwhile the connection may break, and the next one may be made by the
 * first path, or by another line of the table. So the work item looks again when it has the lock.
 */
#include <linux/sched/mm.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "trace.h"
#include "xprt_rdma.h"

/* How long to wait for the send lock, and how long to hold it until all Replies have come, in
 * steps of XPRT_RDMA_HOME_STEP milliseconds
 */
#define XPRT_RDMA_HOME_STEP	10u
#define XPRT_RDMA_HOME_LOCK	100u
#define XPRT_RDMA_HOME_DRAIN	200u

/* No Receive is posted, so no message arrives. */
static void xprt_rdma_home_receive(struct rpcrdma_conn *conn,
				   struct rpcrdma_msg_in *msg)
{
	rpcrdma_msg_put(msg);
}

/* The work item notices that it has no connection. */
static void xprt_rdma_home_lost(struct rpcrdma_conn *conn)
{
}

static const struct rpcrdma_conn_ops xprt_rdma_home_ops = {
	.receive	= xprt_rdma_home_receive,
	.lost		= xprt_rdma_home_lost,
};

static int xprt_rdma_home_connect(struct rpcrdma_conn *conn, struct net *net,
				  const struct rpcrdma_conn_path *path)
{
	const struct rpcrdma_conn_queues queues = {
		.qz_sq = 1, .qz_rq = 1, .qz_send_sges = 1,
	};
	const struct rpcrdma_cm_private ours = {
		.cp_send_size	= xprt_rdma_max_inline_write,
		.cp_recv_size	= xprt_rdma_max_inline_read,
		.cp_remote_inv	= rpcrdma_remote_inv,
	};
	int rc;

	rc = rpcrdma_conn_resolve(conn, net, path, XPRT_RDMA_RESOLVE_TIMEOUT);
	if (!rc)
		rc = rpcrdma_conn_create_qp(conn, &queues);
	if (!rc)
		rc = rpcrdma_conn_connect(conn, &ours,
					  XPRT_RDMA_CONNECT_TIMEOUT);
	return rc;
}

static int xprt_rdma_home_probe(struct xprt_rdma *xr,
				const struct rpcrdma_conn_path *path)
{
	struct rpcrdma_conn *conn;
	int rc;

	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return -ENOMEM;
	rpcrdma_conn_init(conn, &xprt_rdma_home_ops);
	rc = xprt_rdma_home_connect(conn, xr->xr_xprt.xprt_net, path);
	rpcrdma_conn_close(conn);
	kfree(conn);
	return rc;
}

/* Takes the send lock. A task that waits for the lock gets it from the one that releases it, so
 * this may not succeed under a load. Sleeping until the lock is free is no choice, because sunrpc
 * does not always wake those who wait for the bit.
 */
static bool xprt_rdma_home_lock(struct rpc_xprt *xprt)
{
	u32 tries;

	for (tries = 0; tries < XPRT_RDMA_HOME_LOCK; tries++) {
		if (!test_and_set_bit_lock(XPRT_LOCKED, &xprt->state))
			return true;
		msleep(XPRT_RDMA_HOME_STEP);
	}
	return false;
}

/* If the connection is to be closed, this also passes the lock on to the work that does so. */
static void xprt_rdma_home_unlock(struct rpc_xprt *xprt)
{
	spin_lock(&xprt->transport_lock);
	xprt->ops->release_xprt(xprt, NULL);
	spin_unlock(&xprt->transport_lock);
	wake_up_bit(&xprt->state, XPRT_LOCKED);
}

/* Is the connection up, and has nobody asked to close it? Whoever asks waits for the send lock. */
static bool xprt_rdma_home_is_up(struct rpc_xprt *xprt)
{
	return xprt_connected(xprt) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xprt->state);
}

/* Waits until no RPC has a credit, that is, waits for a Reply. Returns -EBUSY if that takes too
 * long, and -ENOTCONN if the connection ends.
 */
static int xprt_rdma_home_drain(struct rpc_xprt *xprt)
{
	u32 tries;

	for (tries = 0; tries < XPRT_RDMA_HOME_DRAIN; tries++) {
		if (!xprt_rdma_home_is_up(xprt))
			return -ENOTCONN;
		if (!READ_ONCE(xprt->cong))
			return 0;
		msleep(XPRT_RDMA_HOME_STEP);
	}
	return -EBUSY;
}

/* Closes the connection when no Reply is awaited. The caller has the send lock. */
static int xprt_rdma_home_close(struct xprt_rdma *xr,
				const struct xprt_rdma_probe *probe)
{
	int rc;

	if (!xprt_rdma_paths_is_probed(xr, probe))
		return -ENOTCONN;
	rc = xprt_rdma_home_drain(&xr->xr_xprt);
	if (rc)
		return rc;
	rpcrdma_count(client_path_returns);
	xprt_force_disconnect(&xr->xr_xprt);
	return 0;
}

/* Returns 0 if the connection is being closed; -EBUSY if the caller has to try again; -ENOTCONN if
 * the connection that was away has ended.
 */
static int xprt_rdma_home_move(struct xprt_rdma *xr,
			       const struct xprt_rdma_probe *probe)
{
	int rc;

	if (!xprt_rdma_home_lock(&xr->xr_xprt))
		return -EBUSY;
	rc = xprt_rdma_home_close(xr, probe);
	xprt_rdma_home_unlock(&xr->xr_xprt);
	trace_xprt_rdma_path_return(xr, rc);
	return rc;
}

/* Probes the first path, and returns to it if it works. Returns true if that has to be tried
 * again.
 */
static bool xprt_rdma_home_try(struct xprt_rdma *xr,
			       const struct xprt_rdma_probe *probe)
{
	int rc = probe->pb_error ?: xprt_rdma_home_probe(xr, &probe->pb_path);

	xprt_rdma_paths_probed(xr, probe, rc);
	if (rc)
		return true;
	rc = xprt_rdma_home_move(xr, probe);
	if (rc != -EBUSY)
		return false;
	WRITE_ONCE(xr->xr_home_failed, xr->xr_home_failed + 1);
	return true;
}

static void xprt_rdma_home_again(struct xprt_rdma *xr)
{
	u32 failed = READ_ONCE(xr->xr_home_failed);

	schedule_delayed_work(&xr->xr_home_work,
			      rpcrdma_path_again(failed) * HZ);
}

static void xprt_rdma_home_work(struct work_struct *work)
{
	struct xprt_rdma *xr = container_of(to_delayed_work(work),
					    struct xprt_rdma, xr_home_work);
	struct xprt_rdma_probe probe;
	unsigned int flags;

	if (!xprt_connected(&xr->xr_xprt) || !xprt_rdma_paths_probe(xr, &probe))
		return;
	/* The CM allocates under locks that a connecting transport needs. So do not wait for
	 * write-back, which may wait for that transport.
	 */
	flags = memalloc_noio_save();
	if (xprt_rdma_home_try(xr, &probe))
		xprt_rdma_home_again(xr);
	memalloc_noio_restore(flags);
}

/**
 * xprt_rdma_home_init - initialise the return of a new transport
 * @xr: transport
 *
 * Context: process.
 */
void xprt_rdma_home_init(struct xprt_rdma *xr)
{
	INIT_DELAYED_WORK(&xr->xr_home_work, xprt_rdma_home_work);
}

/**
 * xprt_rdma_home_start - look from time to time whether a transport can return
 * @xr: transport that has just connected
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_home_start(struct xprt_rdma *xr)
{
	if (!xprt_rdma_paths_is_away(xr))
		return;
	cancel_delayed_work(&xr->xr_home_work);
	WRITE_ONCE(xr->xr_home_failed, 0);
	xprt_rdma_home_again(xr);
}

/**
 * xprt_rdma_home_exit - end the attempts to return
 * @xr: transport that is destroyed
 *
 * Context: process; sleeps.
 */
void xprt_rdma_home_exit(struct xprt_rdma *xr)
{
	cancel_delayed_work_sync(&xr->xr_home_work);
}
