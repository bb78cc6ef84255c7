// SPDX-License-Identifier: GPL-2.0
/*
 * The keepalive: notices that the other end of a connection is dead, on either
 * side. It knows verbs, and nothing about RPC.
 *
 * Operation
 *
 * A reliable connection with nothing to send says nothing, and what was sent
 * and acknowledged before the peer died is waited for in vain. So a connection
 * that has heard nothing for keepalive_time seconds posts a probe, an RDMA
 * operation of no bytes. It names no memory of the peer, needs no Receive and
 * no credit there, and no software answers it: a server whose threads are all
 * stuck in slow storage is alive, and is not disturbed. If it does not
 * complete, and nothing else comes, for keepalive_timeout seconds, then the
 * connection has failed like any other. The client connects again and sends
 * its Calls again, the server frees what the client held.
 *
 * What completes has to depend on the peer. On InfiniBand and RoCE an RDMA
 * Write does: the peer's adapter acknowledges it. On iWARP a Write is done when
 * it has been handed to TCP, so there the probe is an RDMA Read, whose response
 * must come. A client may make one if its server allows it: it asks for that
 * when it connects. Where it may not, the RPC timeout has to do.
 *
 * There is one entry in the send queue for a probe (%RPCRDMA_PROBE_WRS), and
 * one probe at a time, so that a full queue does not stop it.
 *
 * A peer can be alive and still keep what was posted to it from ever completing:
 * it has no Receive and asks for endless retries, it does not let itself be read,
 * it holds a TCP window at zero. Whatever arrives from it meanwhile, that keeps
 * memory. So the same work looks at what the owner has posted (ops->waiting()),
 * and if the device has completed none of it for progress_timeout seconds, the
 * connection has failed, too. This depends neither on the fabric nor on probes.
 */
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/keepalive.h>
#include <rpcrdma/param.h>

#include "trace.h"

unsigned int rpcrdma_keepalive_time = 10;
rpcrdma_param_range(keepalive_time, rpcrdma_keepalive_time, 0,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(keepalive_time,
		 "Both sides: seconds of silence before the peer is probed, 0: never");
unsigned int rpcrdma_keepalive_timeout = 10;
rpcrdma_param_range(keepalive_timeout, rpcrdma_keepalive_timeout, 1,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(keepalive_timeout,
		 "Both sides: seconds in which a probe has to succeed");

unsigned int rpcrdma_progress_timeout = 20;
rpcrdma_param_range(progress_timeout, rpcrdma_progress_timeout, 0,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(progress_timeout,
		 "Server: seconds in which something of what was posted has to complete, 0: for ever");

/* How much longer an answer may take when it is overdue */
#define RPCRDMA_KEEPALIVE_GRACE	HZ

static struct rpcrdma_conn *rpcrdma_keepalive_conn(struct rpcrdma_keepalive *al)
{
	return container_of(al, struct rpcrdma_conn, cn_keepalive);
}

static void rpcrdma_keepalive_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma_keepalive *al =
		container_of(wc->wr_cqe, struct rpcrdma_keepalive, al_cqe);
	struct rpcrdma_conn *conn = rpcrdma_keepalive_conn(al);
	struct rpcrdma_cid cid = { .ci_queue = conn->cn_cq->res.id };

	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma_keepalive_heard(al);
		rpcrdma_rtt_probed(&conn->cn_rtt,
				   ktime_us_delta(ktime_get(), al->al_sent));
		/* pairs with rpcrdma_keepalive_work(), which looks at both */
		smp_store_release(&al->al_busy, false);
		return;
	}
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		rpcrdma_conn_fail(conn, -ECONNRESET);
		return;
	}
	/* The adapter was quicker than we to give up */
	rpcrdma_count(keepalive_failures);
	trace_rpcrdma_probe_err(conn, &cid, wc);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
}

/* Returns 0, or a negative errno and the connection is down. */
static int rpcrdma_keepalive_probe(struct rpcrdma_conn *conn)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	struct ib_sge nothing = { .lkey = conn->cn_pd->local_dma_lkey };
	struct ib_rdma_wr probe = {
		.wr.wr_cqe	= &al->al_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (conn->cn_caps.dc_iwarp) {
		/* A Read has exactly one SGE there, if only for no bytes */
		probe.wr.opcode = IB_WR_RDMA_READ;
		probe.wr.sg_list = &nothing;
		probe.wr.num_sge = 1;
	}
	rpcrdma_count(keepalive_probes);
	trace_rpcrdma_probe(conn, jiffies - READ_ONCE(al->al_heard));
	al->al_probed = jiffies;
	al->al_overdue = false;
	WRITE_ONCE(al->al_busy, true);
	al->al_sent = ktime_get();
	return rpcrdma_conn_post(conn, &probe.wr);
}

/* A probe may be stuck behind data: what arrives counts as well, and so does what
 * completes while the device has something that was posted before the probe. On
 * iWARP that shows no more than that TCP has room, which soon ends if the peer is
 * dead.
 */
static unsigned long rpcrdma_keepalive_deadline(struct rpcrdma_conn *conn)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	unsigned long posted, moved, since;

	since = rpcrdma_keepalive_later(READ_ONCE(al->al_heard), al->al_probed);
	if (conn->cn_ops->waiting &&
	    conn->cn_ops->waiting(conn, &posted, &moved) &&
	    !time_after(posted, al->al_probed))
		since = rpcrdma_keepalive_later(since, moved);
	return since + al->al_wait;
}

/* This machine may have stood still itself, and an answer may still be on its
 * way through it. So an overdue answer gets a little more time, once. Returns
 * true if that is over, too; otherwise @next is when to look again.
 */
static bool rpcrdma_keepalive_is_over(unsigned long now, unsigned long *next,
				      bool *overdue)
{
	if (time_before(now, *next)) {
		*overdue = false;
		return false;
	}
	if (*overdue)
		return true;
	*overdue = true;
	*next = now + RPCRDMA_KEEPALIVE_GRACE;
	return false;
}

/* Is the peer there? Returns %false if the connection is down, or @next is when to
 * ask again.
 */
static bool rpcrdma_keepalive_check_peer(struct rpcrdma_conn *conn,
					 unsigned long now, unsigned long *next)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;

	/* When it is done, al_heard says when: pairs with the completion */
	if (smp_load_acquire(&al->al_busy)) {
		*next = rpcrdma_keepalive_deadline(conn);
		if (!rpcrdma_keepalive_is_over(now, next, &al->al_overdue))
			return true;
		rpcrdma_count(keepalive_failures);
		trace_rpcrdma_peer_dead(conn, -ETIMEDOUT);
		rpcrdma_conn_fail(conn, -ETIMEDOUT);
		return false;
	}
	*next = READ_ONCE(al->al_heard) + al->al_idle;
	if (time_before(now, *next))
		return true;
	/* Most probes are done long before they have to be */
	*next = now + min(al->al_idle, al->al_wait);
	return !rpcrdma_keepalive_probe(conn);
}

/* Does what was posted complete? Likewise. */
static bool rpcrdma_keepalive_check_work(struct rpcrdma_conn *conn,
					 unsigned long now, unsigned long *next)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	unsigned long posted, since;

	if (!conn->cn_ops->waiting(conn, &posted, &since))
		since = now;
	*next = since + al->al_limit;
	if (!rpcrdma_keepalive_is_over(now, next, &al->al_stalled))
		return true;
	rpcrdma_count(progress_failures);
	trace_rpcrdma_no_progress(conn, -ETIMEDOUT);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
	return false;
}

static void rpcrdma_keepalive_work(struct work_struct *work)
{
	struct rpcrdma_keepalive *al =
		container_of(to_delayed_work(work), struct rpcrdma_keepalive,
			     al_work);
	struct rpcrdma_conn *conn = rpcrdma_keepalive_conn(al);
	unsigned long next, other, now = jiffies;

	/* The end that accepts is not up before it has heard that it is. */
	if (READ_ONCE(conn->cn_state) == RPCRDMA_CONN_DOWN)
		return;
	next = now + MAX_JIFFY_OFFSET;
	if (al->al_idle && !rpcrdma_keepalive_check_peer(conn, now, &next))
		return;
	if (al->al_limit) {
		if (!rpcrdma_keepalive_check_work(conn, now, &other))
			return;
		if (time_before(other, next))
			next = other;
	}
	schedule_delayed_work(&al->al_work, next - now);
}

/**
 * rpcrdma_keepalive_init - prepare for watching a connection
 * @conn: connection that is being initialised
 *
 * Context: any.
 */
void rpcrdma_keepalive_init(struct rpcrdma_conn *conn)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;

	INIT_DELAYED_WORK(&al->al_work, rpcrdma_keepalive_work);
	al->al_cqe.done = rpcrdma_keepalive_wc_done;
}

/**
 * rpcrdma_keepalive_start - begin to watch a connection
 * @conn: connection that has just come up, or was accepted. One that was
 *	accepted may never come up: its client can leave that message out
 *
 * Nothing happens the second time. The peer is not probed if keepalive_time is
 * 0, or if it cannot be; work is not looked at if progress_timeout is 0, or if
 * the owner does not say what it waits for.
 *
 * Context: CM event, or process with the id's handler lock.
 * rpcrdma_keepalive_stop() may have come before: then this does nothing.
 */
void rpcrdma_keepalive_start(struct rpcrdma_conn *conn)
{
	unsigned int limit = READ_ONCE(rpcrdma_progress_timeout);
	unsigned int wait = READ_ONCE(rpcrdma_keepalive_timeout);
	unsigned int idle = READ_ONCE(rpcrdma_keepalive_time);
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;

	if (al->al_started)
		return;
	al->al_started = true;
	if (!conn->cn_caps.dc_iwarp || conn->cn_ord)
		al->al_idle = idle * HZ;
	al->al_wait = wait * HZ;
	if (conn->cn_ops->waiting)
		al->al_limit = limit * HZ;
	rpcrdma_keepalive_heard(al);
	if (al->al_idle || al->al_limit)
		schedule_delayed_work(&al->al_work,
				      min_not_zero(al->al_idle, al->al_limit));
}

/**
 * rpcrdma_keepalive_stop - watch a connection no longer
 * @conn: connection in any state
 *
 * On return no probe will be posted. One that was completes by being flushed,
 * when the queues are drained.
 *
 * Context: process; sleeps.
 */
void rpcrdma_keepalive_stop(struct rpcrdma_conn *conn)
{
	disable_delayed_work_sync(&conn->cn_keepalive.al_work);
}
