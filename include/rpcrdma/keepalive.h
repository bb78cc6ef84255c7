/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Noticing a dead peer: what a connection carries for it.
 */
#ifndef RPCRDMA_KEEPALIVE_H
#define RPCRDMA_KEEPALIVE_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma_conn;

/* Seconds; both sides, connections made from now on */
#define RPCRDMA_KEEPALIVE_MAX	3600u
extern unsigned int rpcrdma_keepalive_time;
extern unsigned int rpcrdma_keepalive_timeout;
extern unsigned int rpcrdma_progress_timeout;

/**
 * struct rpcrdma_keepalive - watch over one connection
 * @al_work: looks after the peer; disabled before the queues are drained
 * @al_cqe: completion of a probe
 * @al_idle: jiffies of silence before a probe is sent; 0: nobody watches
 * @al_wait: jiffies in which the probe has to complete
 * @al_limit: jiffies in which something of what was posted has to; 0: nobody
 *	watches
 * @al_heard: jiffies when the peer showed that it lives, at the latest; any
 *	context
 * @al_probed: jiffies when the latest probe was posted; @al_work only
 * @al_sent: the same by a finer clock; read by its completion
 * @al_overdue: its time is up, and it was given a little more; @al_work only
 * @al_stalled: likewise the time of what was posted; @al_work only
 * @al_started: @al_work was scheduled, if there is something to watch; under the
 *	id's handler lock
 * @al_busy: a probe is with the device: set by @al_work, cleared by its
 *	completion
 */
struct rpcrdma_keepalive {
	struct delayed_work	al_work;
	struct ib_cqe		al_cqe;
	unsigned long		al_idle;
	unsigned long		al_wait;
	unsigned long		al_limit;
	unsigned long		al_heard;
	unsigned long		al_probed;
	ktime_t			al_sent;
	bool			al_overdue;
	bool			al_stalled;
	bool			al_started;
	bool			al_busy;
};

/* The later one of two times in jiffies */
static inline unsigned long rpcrdma_keepalive_later(unsigned long a,
						    unsigned long b)
{
	return time_after(a, b) ? a : b;
}

/* Something has arrived that only a living peer can have caused. */
static inline void rpcrdma_keepalive_heard(struct rpcrdma_keepalive *al)
{
	unsigned long now = jiffies;

	/* Do not take the cache line from other CPUs without need */
	if (READ_ONCE(al->al_heard) != now)
		WRITE_ONCE(al->al_heard, now);
}

void rpcrdma_keepalive_init(struct rpcrdma_conn *conn);
void rpcrdma_keepalive_start(struct rpcrdma_conn *conn);
void rpcrdma_keepalive_stop(struct rpcrdma_conn *conn);

#endif /* RPCRDMA_KEEPALIVE_H */
