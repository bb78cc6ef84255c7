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
 */
#include <rpcrdma/alive.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/module.h>
#include <rpcrdma/trace_verbs.h>

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

/* How much longer an answer may take when it is overdue */
#define RPCRDMA_ALIVE_GRACE	HZ

static struct rpcrdma_conn *rpcrdma_alive_conn(struct rpcrdma_alive *al)
{
	return container_of(al, struct rpcrdma_conn, cn_alive);
}

static void rpcrdma_alive_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma_alive *al = container_of(wc->wr_cqe,
						struct rpcrdma_alive, al_cqe);
	struct rpcrdma_conn *conn = rpcrdma_alive_conn(al);

	if (likely(wc->status == IB_WC_SUCCESS)) {
		rpcrdma_alive_heard(al);
		/* pairs with rpcrdma_alive_work(), which looks at both */
		smp_store_release(&al->al_busy, false);
		return;
	}
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		rpcrdma_conn_fail(conn, -ECONNRESET);
		return;
	}
	/* The adapter was quicker than we to give up */
	rpcrdma_count(keepalive_failures);
	trace_rpcrdma_probe_err(conn, wc);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
}

/* Returns 0, or a negative errno and the connection is down. */
static int rpcrdma_alive_probe(struct rpcrdma_conn *conn)
{
	struct rpcrdma_alive *al = &conn->cn_alive;
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
	return rpcrdma_conn_post(conn, &probe.wr);
}

static unsigned long rpcrdma_alive_deadline(const struct rpcrdma_alive *al)
{
	unsigned long heard = READ_ONCE(al->al_heard);

	/* A probe may be stuck behind data: what arrives counts as well */
	return (time_after(heard, al->al_probed) ? heard : al->al_probed) +
	       al->al_wait;
}

static void rpcrdma_alive_work(struct work_struct *work)
{
	struct rpcrdma_alive *al = container_of(to_delayed_work(work),
						struct rpcrdma_alive, al_work);
	struct rpcrdma_conn *conn = rpcrdma_alive_conn(al);
	unsigned long next, now = jiffies;

	if (!rpcrdma_conn_is_up(conn))
		return;

	/* When it is done, al_heard says when: pairs with the completion */
	if (smp_load_acquire(&al->al_busy)) {
		next = rpcrdma_alive_deadline(al);
		if (time_after_eq(now, next) && !al->al_overdue) {
			/* This machine may have stood still itself, and what
			 * came meanwhile be on its way to al_heard.
			 */
			al->al_overdue = true;
			next = now + RPCRDMA_ALIVE_GRACE;
		} else if (time_after_eq(now, next)) {
			rpcrdma_count(keepalive_failures);
			trace_rpcrdma_peer_dead(conn, -ETIMEDOUT);
			rpcrdma_conn_fail(conn, -ETIMEDOUT);
			return;
		}
	} else {
		next = READ_ONCE(al->al_heard) + al->al_idle;
		if (time_after_eq(now, next)) {
			if (rpcrdma_alive_probe(conn))
				return;
			/* Most probes are done long before they have to be */
			next = now + min(al->al_idle, al->al_wait);
		}
	}
	schedule_delayed_work(&al->al_work, next - now);
}

/**
 * rpcrdma_alive_init - prepare for watching a connection
 * @conn: connection that is being initialised
 *
 * Context: any.
 */
void rpcrdma_alive_init(struct rpcrdma_conn *conn)
{
	struct rpcrdma_alive *al = &conn->cn_alive;

	INIT_DELAYED_WORK(&al->al_work, rpcrdma_alive_work);
	al->al_cqe.done = rpcrdma_alive_wc_done;
}

/**
 * rpcrdma_alive_start - begin to watch a connection
 * @conn: connection that has just come up
 *
 * Nothing happens if keepalive_time is 0, or if the peer cannot be probed.
 *
 * Context: CM event. rpcrdma_alive_stop() may have come before: then this does
 * nothing.
 */
void rpcrdma_alive_start(struct rpcrdma_conn *conn)
{
	unsigned int wait = READ_ONCE(rpcrdma_keepalive_timeout);
	unsigned int idle = READ_ONCE(rpcrdma_keepalive_time);
	struct rpcrdma_alive *al = &conn->cn_alive;

	if (!idle || (conn->cn_caps.dc_iwarp && !conn->cn_ord))
		return;
	al->al_idle = idle * HZ;
	al->al_wait = wait * HZ;
	rpcrdma_alive_heard(al);
	schedule_delayed_work(&al->al_work, al->al_idle);
}

/**
 * rpcrdma_alive_stop - watch a connection no longer
 * @conn: connection in any state
 *
 * On return no probe will be posted. One that was completes by being flushed,
 * when the queues are drained.
 *
 * Context: process; sleeps.
 */
void rpcrdma_alive_stop(struct rpcrdma_conn *conn)
{
	disable_delayed_work_sync(&conn->cn_alive.al_work);
}
