// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a connection, the error that ended it, and the gate (cn_gate), which says whether
 * work requests may be posted to its send queue.
 *
 * Operation
 *
 * The state only rises: NEW, OPENING, UP. Code that finds a connection broken calls
 * rpcrdma_conn_fail(). Only the first such call keeps its error and calls ops->lost(). A connection
 * that has an error is down, in whatever state it was (invariant I5). The gate is
 * shut before the queues are drained. From then on, only the drain marker is posted to the send
 * queue. (The marker is the work request that ib_drain_qp() posts, and whose completion it waits
 * for.) If another work request were posted behind the marker, it could complete after its memory
 * was freed (invariant I1 in Documentation/locking.rst).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <rpcrdma/conn.h>

#include "conn_state.h"
#include "trace.h"

/**
 * rpcrdma_conn_fail - declare a connection broken
 * @conn: connection
 * @error: negative errno; becomes cn_error if the connection is not down yet
 *
 * If the connection is not down yet, this calls ops->lost(), and wakes a task that waits for a step
 * of opening. Otherwise this does nothing (invariant I5). It tears nothing down.
 *
 * Context: process, completion workqueue, softirq or CM event; does not sleep.
 * Return: true if the connection was not down before, and @error is now its cn_error.
 */
bool rpcrdma_conn_fail(struct rpcrdma_conn *conn, int error)
{
	if (cmpxchg(&conn->cn_error, 0, error))
		return false;
	trace_rpcrdma_conn_lost(conn, error);
	complete(&conn->cn_step);
	conn->cn_ops->lost(conn);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_conn_fail);

/**
 * rpcrdma_conn_flushed - a Receive was flushed or has failed
 * @conn: connection
 *
 * The queue pair does not work any more, so this fails the connection. The exception is a
 * connection that this end opens (cn_dials) and that is not up yet: the CM puts the queue pair into
 * the error state before it reports that the peer has refused the connection. So there the failure
 * is left to the next event of the CM, which has the reason, or to the timeout of
 * rpcrdma_conn_wait().
 *
 * Context: completion workqueue or softirq; does not sleep.
 */
void rpcrdma_conn_flushed(struct rpcrdma_conn *conn)
{
	WRITE_ONCE(conn->cn_flushed, true);
	/* Pairs with rpcrdma_conn_rise_up(): at least one side sees the other's change. */
	smp_mb();
	if (conn->cn_dials &&
	    READ_ONCE(conn->cn_state) == RPCRDMA_CONN_OPENING)
		return;
	rpcrdma_conn_fail(conn, -ECONNRESET);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_conn_flushed);

/**
 * rpcrdma_conn_rise_up - a connection is established
 * @conn: connection
 *
 * If rpcrdma_conn_flushed() was called earlier, this fails the connection.
 *
 * Context: CM event.
 * Return: true if the connection has become %RPCRDMA_CONN_UP and is not down.
 */
bool rpcrdma_conn_rise_up(struct rpcrdma_conn *conn)
{
	if (conn->cn_state == RPCRDMA_CONN_UP || rpcrdma_conn_is_down(conn))
		return false;
	WRITE_ONCE(conn->cn_state, RPCRDMA_CONN_UP);
	/* Pairs with rpcrdma_conn_flushed() */
	smp_mb();
	if (likely(!READ_ONCE(conn->cn_flushed)))
		return true;
	rpcrdma_conn_fail(conn, -ECONNRESET);
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_conn_rise_up);

/**
 * rpcrdma_conn_step - report that a step of opening a connection is done
 * @conn: connection
 *
 * A task in rpcrdma_conn_wait() continues. If there is none, the next rpcrdma_conn_wait() returns
 * at once.
 *
 * Context: any.
 */
void rpcrdma_conn_step(struct rpcrdma_conn *conn)
{
	complete(&conn->cn_step);
}

/**
 * rpcrdma_conn_wait - wait for a step of opening a connection
 * @conn: connection
 * @timeout: jiffies that the step may take
 * @error: negative errno with which the connection fails if the step takes longer
 *
 * The code that completes the step calls rpcrdma_conn_step().
 *
 * Context: process; sleeps.
 * Return: 0; or the error that ended the connection, which may be @error.
 */
int rpcrdma_conn_wait(struct rpcrdma_conn *conn, unsigned long timeout,
		      int error)
{
	if (!wait_for_completion_timeout(&conn->cn_step, timeout))
		rpcrdma_conn_fail(conn, error);
	return READ_ONCE(conn->cn_error);
}

/* Posts a list of work requests, if the gate is open. */
static int rpcrdma_conn_post_list(struct rpcrdma_conn *conn,
				  const struct ib_send_wr *first, bool awaited)
{
	const struct ib_send_wr *bad;

	if (!READ_ONCE(conn->cn_gate))
		return -ENOTCONN;
	if (awaited)
		rpcrdma_send_cq_await(conn);
	return ib_post_send(conn->cn_id->qp, first, &bad);
}

/* A task checks the gate and posts in one read-side critical section of RCU, so
 * rpcrdma_conn_shut_gate() can wait for it. In most cases no lock is needed, because the driver
 * serialises the tasks that post to a queue. But if the device may mix the lists of two tasks
 * (dc_splits_lists), cn_post_lock makes the tasks post one after the other (invariant I37).
 */
static int rpcrdma_conn_post_first(struct rpcrdma_conn *conn,
				   const struct ib_send_wr *first, bool awaited)
{
	int rc;

	rcu_read_lock();
	if (likely(!conn->cn_caps.dc_splits_lists)) {
		rc = rpcrdma_conn_post_list(conn, first, awaited);
	} else {
		spin_lock(&conn->cn_post_lock);
		rc = rpcrdma_conn_post_list(conn, first, awaited);
		spin_unlock(&conn->cn_post_lock);
	}
	rcu_read_unlock();
	if (unlikely(rc)) {
		trace_rpcrdma_post_err(conn, rc);
		rpcrdma_conn_fail(conn, rc);
	}
	return rc;
}

/**
 * rpcrdma_conn_post - post send queue work requests
 * @conn: connection
 * @first: first request of a chain; the caller has reserved slots for all of it
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: 0; or a negative errno, and the connection is down. After an error, part of
 *	the chain may have been posted, and is executed or flushed. The rest never completes.
 */
int rpcrdma_conn_post(struct rpcrdma_conn *conn, const struct ib_send_wr *first)
{
	return rpcrdma_conn_post_first(conn, first, false);
}

/**
 * rpcrdma_conn_post_awaited - post work requests whose completion must be handled at once
 * @conn: connection
 * @first: first request of a chain, like that of rpcrdma_conn_post()
 *
 * If the chain succeeds, one of its completion handlers must call rpcrdma_send_cq_seen() once.
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: as rpcrdma_conn_post().
 */
int rpcrdma_conn_post_awaited(struct rpcrdma_conn *conn,
			      const struct ib_send_wr *first)
{
	return rpcrdma_conn_post_first(conn, first, true);
}

/**
 * rpcrdma_conn_shut_gate - refuse send queue work requests from now on
 * @conn: connection in any state
 *
 * When this returns, no task that found the gate open is still posting. So a drain marker that is
 * posted afterwards is behind all other requests (invariant I1).
 *
 * Context: process; sleeps. Calls for the same connection must not overlap.
 * Return: true if the gate was open.
 */
bool rpcrdma_conn_shut_gate(struct rpcrdma_conn *conn)
{
	if (!conn->cn_gate)
		return false;
	WRITE_ONCE(conn->cn_gate, false);
	synchronize_rcu();
	return true;
}
