// SPDX-License-Identifier: GPL-2.0
/*
 * The keepalive: this file finds out whether the other end of a connection is dead, for client and
 * server. It knows verbs, and nothing about RPC.
 *
 * Operation
 *
 * A reliable connection that has nothing to send does not notice when the peer dies. A
 * requester would wait for the answer to a Call that was sent and acknowledged before, until
 * the RPC times out. So if nothing has shown that the peer is alive (al_heard) for
 * keepalive_time seconds, a probe is posted: an RDMA operation of no bytes. The probe names no
 * memory of the peer and needs no Receive and no credit. The peer's device answers the probe,
 * and the peer's RPC layer has no part in that. So a server whose threads all wait for slow
 * storage counts as alive, and is not disturbed. If the probe fails, or if it does not complete and
 * nothing else shows for keepalive_timeout seconds that the peer is alive, the connection fails
 * (rpcrdma_conn_fail()). The client then connects again and sends its Calls again; the server
 * frees what it held for the client.
 *
 * The completion of the probe must depend on the peer. On InfiniBand and RoCE the peer's
 * adapter acknowledges an RDMA Write. On iWARP an RDMA Write completes when it has been
 * passed to TCP, so the probe there is an RDMA Read, which needs a response. On iWARP, a client
 * asks for permission to read when it connects. If the server does not grant it, the
 * client does not probe, and may not notice a dead server before an RPC times out. On siw, an RDMA
 * Read of no bytes may break the connection (compat.rst, Faults of kernels), so the probe is an
 * RDMA Write as on InfiniBand. It only makes TCP send something: if the host of the peer is up
 * but has no such connection, TCP ends it at once; and if the peer does not answer at all, when TCP
 * gives up retransmitting, after about 15 minutes. So the completion of such a probe is no sign of
 * life.
 *
 * The send queue has one entry that only the probe uses (%RPCRDMA_PROBE_WRS), and at most one
 * probe is outstanding. So a probe can be posted even if all other entries are in use.
 *
 * A live peer can still prevent posted work requests from completing: it may have no
 * Receive and ask for endless retries, not respond to RDMA Reads, or keep its TCP window at
 * zero. The work requests then hold memory, even if messages arrive from the peer. So the
 * work item that probes also asks the owner whether its work requests complete
 * (ops->waiting()). The owner may judge different kinds of them separately. If one kind has made no
 * progress for progress_timeout seconds, the connection fails. This check works on every fabric,
 * and without probes. Only the server has an ops->waiting(), so a client's work requests are not
 * checked.
 */
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/keepalive.h>
#include <rpcrdma/param.h>

#include "trace.h"

/* Maximum of the module parameters below, which are in seconds. Only the server uses
 * progress_timeout.
 */
#define RPCRDMA_KEEPALIVE_MAX	3600u

static unsigned int rpcrdma_keepalive_time = 10;
rpcrdma_param_range(keepalive_time, rpcrdma_keepalive_time, 0,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(keepalive_time,
		 "Both sides: seconds of silence before the peer is probed, 0: never");

static unsigned int rpcrdma_keepalive_timeout = 10;
rpcrdma_param_range(keepalive_timeout, rpcrdma_keepalive_timeout, 1,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(keepalive_timeout,
		 "Both sides: seconds in which a probe has to succeed");

static unsigned int rpcrdma_progress_timeout = 20;
rpcrdma_param_range(progress_timeout, rpcrdma_progress_timeout, 0,
		    RPCRDMA_KEEPALIVE_MAX);
MODULE_PARM_DESC(progress_timeout,
		 "Server: seconds in which something of what was posted has to complete, 0: for ever");

/* Does a probe complete only when the peer has answered it? */
static bool rpcrdma_keepalive_is_answered(const struct rpcrdma_conn *conn)
{
	return !conn->cn_caps.dc_iwarp || conn->cn_caps.dc_probe_reads;
}

static void rpcrdma_keepalive_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma_conn *conn = container_of(wc->wr_cqe,
						 struct rpcrdma_conn,
						 cn_keepalive.al_cqe);
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;

	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma_send_cq_seen(&conn->cn_send_cq);
		if (rpcrdma_keepalive_is_answered(conn))
			rpcrdma_keepalive_heard(al);
		/* Pairs with rpcrdma_keepalive_check_peer(), which reads
		 * al_busy and then al_heard.
		 */
		smp_store_release(&al->al_busy, false);
		return;
	}
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		rpcrdma_conn_fail(conn, -ECONNRESET);
		return;
	}
	/* The usual reason: our adapter has given up retrying before keepalive_timeout passed. */
	rpcrdma_count(keepalive_failures);
	trace_rpcrdma_probe_err(conn, &al->al_cid, wc);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
}

/* Posts a probe: an RDMA Write without SGEs; or an RDMA Read, which must have exactly one SGE
 * even if it reads no bytes. Returns 0; or a negative errno, and the connection is down.
 */
static int rpcrdma_keepalive_probe(struct rpcrdma_conn *conn)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	struct ib_sge nothing = { .lkey = conn->cn_pd->local_dma_lkey };
	struct ib_rdma_wr probe = {
		.wr.wr_cqe	= &al->al_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (conn->cn_caps.dc_probe_reads) {
		probe.wr.opcode = IB_WR_RDMA_READ;
		probe.wr.sg_list = &nothing;
		probe.wr.num_sge = 1;
	}
	rpcrdma_count(keepalive_probes);
	trace_rpcrdma_probe(conn, jiffies - READ_ONCE(al->al_heard));
	al->al_probed = jiffies;
	al->al_grace = 0;
	/* Set this now: the probe may complete while cn_cq is being freed, so its handler must not
	 * use cn_cq.
	 */
	al->al_cid.ci_queue = conn->cn_cq->res.id;
	WRITE_ONCE(al->al_busy, true);
	return rpcrdma_conn_post_awaited(conn, &probe.wr);
}

/* Checks that the peer is alive. Returns false if the connection is down. Otherwise *@next is
 * set to the time of the next check.
 */
static bool rpcrdma_keepalive_check_peer(struct rpcrdma_conn *conn,
					 unsigned long now, unsigned long *next)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	unsigned long posted, moved, since;

	/* If al_busy is clear, al_heard is up to date. Pairs with
	 * rpcrdma_keepalive_wc_done().
	 */
	if (smp_load_acquire(&al->al_busy)) {
		/* Even if the peer is alive, the probe may be stuck behind data in the send queue.
		 * So each sign of life (al_heard) extends the time in which the probe must
		 * complete. If work requests posted before the probe are outstanding, their
		 * progress (@moved) extends it, too. On iWARP a completion only shows that TCP had
		 * room for data. But if the peer is dead, TCP soon has no room, and completions
		 * end.
		 */
		since = rpcrdma_keepalive_later(READ_ONCE(al->al_heard),
						al->al_probed);
		if (conn->cn_ops->waiting &&
		    conn->cn_ops->waiting(conn, &posted, &moved) &&
		    !time_after(posted, al->al_probed))
			since = rpcrdma_keepalive_later(since, moved);
		*next = since + al->al_wait;
		if (!rpcrdma_keepalive_is_over(now, next, &al->al_grace))
			return true;
		rpcrdma_count(keepalive_failures);
		trace_rpcrdma_peer_dead(conn, -ETIMEDOUT);
		rpcrdma_conn_fail(conn, -ETIMEDOUT);
		return false;
	}
	*next = READ_ONCE(al->al_heard) + al->al_idle;
	if (time_before(now, *next))
		return true;
	/* By the next check, the probe has normally completed and has set al_heard. */
	*next = now + min(al->al_idle, al->al_wait);
	return !rpcrdma_keepalive_probe(conn);
}

/* Checks that the owner's work requests complete. If they do not, fails the connection and
 * returns false. Otherwise *@next is set to the time of the next check.
 */
static bool rpcrdma_keepalive_check_work(struct rpcrdma_conn *conn,
					 unsigned long now, unsigned long *next)
{
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	unsigned long posted, since;

	if (!conn->cn_ops->waiting(conn, &posted, &since))
		since = now;
	*next = since + al->al_limit;
	if (!rpcrdma_keepalive_is_over(now, next, &al->al_work_grace))
		return true;
	rpcrdma_count(progress_failures);
	trace_rpcrdma_no_progress(conn, -ETIMEDOUT);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
	return false;
}

static void rpcrdma_keepalive_work(struct work_struct *work)
{
	struct rpcrdma_conn *conn = container_of(to_delayed_work(work),
						 struct rpcrdma_conn,
						 cn_keepalive.al_work);
	struct rpcrdma_keepalive *al = &conn->cn_keepalive;
	unsigned long next, other, now = jiffies;

	/* Check a connection that is not up yet, too: at the end that accepts, the CM may
	 * not have reported yet that the connection is established.
	 */
	if (rpcrdma_conn_is_down(conn))
		return;
	/* Handle the completions that are in the queue. Otherwise ops->waiting() would report
	 * their work requests as outstanding.
	 */
	rpcrdma_send_cq_poll(conn);
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
 * rpcrdma_keepalive_init - initialise the keepalive of a connection
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
 * @conn: connection that has just come up, or was accepted. An accepted connection may
 *	never come up, because a client can omit the message that completes the
 *	handshake.
 *
 * This has no effect if it was called before, or if rpcrdma_keepalive_stop() was called. The
 * peer is not probed if keepalive_time is 0, or if the probe is an RDMA Read and the peer allows
 * none.
 * The progress of work requests is not checked if progress_timeout is 0, or if the owner has
 * no ops->waiting().
 *
 * Context: CM event, or process with the id's handler lock.
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
	if (!conn->cn_caps.dc_probe_reads || conn->cn_ord)
		WRITE_ONCE(al->al_idle, idle * HZ);
	al->al_wait = wait * HZ;
	if (conn->cn_ops->waiting)
		al->al_limit = limit * HZ;
	rpcrdma_keepalive_heard(al);
	if (al->al_idle || al->al_limit)
		schedule_delayed_work(&al->al_work,
				      min_not_zero(al->al_idle, al->al_limit));
}

/**
 * rpcrdma_keepalive_stop - stop watching a connection
 * @conn: connection in any state
 *
 * When this returns, no further probe will be posted, and the work item does not run any more. So
 * rpcrdma_conn_drain() calls this before it drains the queues. A probe that is still outstanding
 * completes or is flushed then. It took no slot: the send queue has an additional entry for it
 * (RPCRDMA_SQ_EXTRA in size.h).
 *
 * Context: process; sleeps.
 */
void rpcrdma_keepalive_stop(struct rpcrdma_conn *conn)
{
	disable_delayed_work_sync(&conn->cn_keepalive.al_work);
}

/**
 * rpcrdma_keepalive_notices - would the keepalive notice soon that the peer is dead?
 * @conn: connection
 *
 * Context: any.
 * Return: true if the peer is probed, and has to answer the probes.
 */
bool rpcrdma_keepalive_notices(const struct rpcrdma_conn *conn)
{
	return READ_ONCE(conn->cn_keepalive.al_idle) &&
	       rpcrdma_keepalive_is_answered(conn);
}
