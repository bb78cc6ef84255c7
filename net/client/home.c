// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the return of a transport to its first path (see struct xprt_rdma_paths).
 *
 * When the first path of a transport has failed, the transport connects by another path (paths.c).
 * This file finds out when the first path works again, and then asks sunrpc to close the
 * connection. The next attempt to connect begins with the first path. This file makes no connection
 * that sunrpc uses.
 *
 * Operation
 *
 * While the transport uses another path, a work item normally probes the first path every 30
 * seconds (%RPCRDMA_PATH_AGAIN): it makes a connection that carries no message, and closes this
 * connection at once. The first path works if the server accepts the connection. Without such a
 * probe, the transport would have to close a connection that works, only to try the first path. If
 * the first path still failed, all RPCs would have to wait until the attempt to connect ended.
 *
 * If the connection were closed before a Reply came, the Call would be sent again by the first
 * path, usually from another address. An NFSv3 or NFSv4.0 server may not recognise such a Call, and
 * may execute it twice. So the work item first takes sunrpc's send lock (XPRT_LOCKED), so that no
 * further Call is sent, and waits until all Replies have come. It does not wait for Replies to RPCs
 * that were given up, because these RPCs are not sent again. If the lock or the Replies take too
 * long, the transport keeps its path, and the work item tries again later. The time until the next
 * attempt is then doubled, up to 8 minutes, because each attempt delays the RPCs of the connection.
 *
 * During a probe, the transport's own connection may break. The transport may then connect by its
 * first path, or by a path of another line of the table. So when the work item has the send lock,
 * it checks whether the transport has begun to connect again.
 */
#include <linux/sched/mm.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include "trace.h"
#include "xprt_rdma.h"

/* XPRT_RDMA_HOME_STEP is in milliseconds. The other two values are numbers of such steps: how long
 * to wait for the send lock, and how long to hold it while waiting for all Replies.
 */
#define XPRT_RDMA_HOME_STEP	10u
#define XPRT_RDMA_HOME_LOCK	100u
#define XPRT_RDMA_HOME_DRAIN	200u

/* Never called: a probe posts no Receive. */
static void xprt_rdma_home_receive(struct rpcrdma_conn *conn,
				   struct rpcrdma_msg_in *msg)
{
	rpcrdma_msg_put(msg);
}

/* Does nothing: the functions that open the connection return an error if they fail, and an open
 * connection is closed at once.
 */
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

/* Tries to take the send lock. This may fail under load, because sunrpc passes the lock directly to
 * the next task that waits for it. The function polls, because sunrpc does not always wake a thread
 * that sleeps until the bit XPRT_LOCKED is clear.
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

/* Releases the send lock. If xprt_force_disconnect() was called, release_xprt() passes the lock to
 * sunrpc's work item that closes the connection.
 */
static void xprt_rdma_home_unlock(struct rpc_xprt *xprt)
{
	spin_lock(&xprt->transport_lock);
	xprt->ops->release_xprt(xprt, NULL);
	spin_unlock(&xprt->transport_lock);
	wake_up_bit(&xprt->state, XPRT_LOCKED);
}

/* Is the connection up, and is nobody waiting for the send lock to close it? */
static bool xprt_rdma_home_is_up(struct rpc_xprt *xprt)
{
	return xprt_connected(xprt) &&
	       !test_bit(XPRT_CLOSE_WAIT, &xprt->state);
}

/* Waits until no RPC has a credit. After that, no RPC waits for a Reply. Returns 0; -EBUSY if this
 * takes too long; or -ENOTCONN if the connection ends.
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

/* Waits for Replies, and then asks sunrpc to close the connection. The caller has the send lock. */
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

/* Closes the connection, so that the next one is made by the first path. Returns 0; -EBUSY if the
 * caller has to try again later; or -ENOTCONN if the connection that was to be closed has ended
 * already.
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

/* Probes the first path. If it works, makes the transport return to it. Returns true if the caller
 * has to try again later.
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
	/* The CM allocates memory under locks that any transport needs to connect. Write-back
	 * may depend on such a transport, so these allocations must not wait for write-back.
	 */
	flags = memalloc_noio_save();
	if (xprt_rdma_home_try(xr, &probe))
		xprt_rdma_home_again(xr);
	memalloc_noio_restore(flags);
}

/**
 * xprt_rdma_home_init - initialise the work item that returns to the first path
 * @xr: new transport
 *
 * Context: process.
 */
void xprt_rdma_home_init(struct xprt_rdma *xr)
{
	INIT_DELAYED_WORK(&xr->xr_home_work, xprt_rdma_home_work);
}

/**
 * xprt_rdma_home_start - begin to probe the first path from time to time
 * @xr: transport that has just connected
 *
 * This does nothing if the transport has connected by its first path.
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
 * xprt_rdma_home_exit - end the attempts to return to the first path
 * @xr: transport that is destroyed
 *
 * Context: process; sleeps.
 */
void xprt_rdma_home_exit(struct xprt_rdma *xr)
{
	cancel_delayed_work_sync(&xr->xr_home_work);
}
