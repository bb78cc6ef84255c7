// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a connection, and the error that ended it.
 *
 * Operation
 *
 * The state only rises: NEW, OPENING, UP. Code that finds a connection broken calls
 * rpcrdma_conn_fail(). Only the first such call keeps its error and calls ops->lost(). A connection
 * that has an error is down, in whatever state it was (invariant I5).
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
