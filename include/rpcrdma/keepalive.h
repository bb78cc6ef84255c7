/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keepalive: the part of a connection that detects a dead peer.
 */
#ifndef RPCRDMA_KEEPALIVE_H
#define RPCRDMA_KEEPALIVE_H

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/cid.h>

struct rpcrdma_conn;

/* Extra time in jiffies for something that is overdue, see rpcrdma_keepalive_is_over() */
#define RPCRDMA_KEEPALIVE_GRACE	HZ

/**
 * struct rpcrdma_keepalive - the keepalive of one connection
 * @al_work: work that checks the peer; disabled before the queues are drained
 * @al_cqe: completion of a probe
 * @al_cid: completion ID of the probe; written by @al_work before the probe is posted
 * @al_idle: jiffies of silence before a probe is sent; 0 if the peer is never probed
 * @al_wait: jiffies in which the probe must complete; rpcrdma_keepalive_check_peer() says
 *	what extends this time
 * @al_limit: jiffies in which at least one of the owner's posted work requests of each kind must
 *	complete, see ops->waiting(); 0 if this is not checked
 * @al_heard: time in jiffies when the peer last showed that it is alive; read and written in any
 *	context, without a lock
 * @al_probed: time in jiffies when the latest probe was posted; used by @al_work only
 * @al_grace: if the probe has not completed within @al_wait, the time in jiffies until which
 *	@al_work still waits for it (%RPCRDMA_KEEPALIVE_GRACE); otherwise 0; used by @al_work only
 * @al_work_grace: the same for the owner's work requests, if one kind of them has made no
 *	progress for @al_limit; used by @al_work only
 * @al_started: rpcrdma_keepalive_start() was called; under the handler lock of the CM id
 * @al_busy: a probe is posted; set by @al_work, cleared when the probe completes successfully
 */
struct rpcrdma_keepalive {
	struct delayed_work	al_work;
	struct ib_cqe		al_cqe;
	struct rpcrdma_cid	al_cid;
	unsigned long		al_idle;
	unsigned long		al_wait;
	unsigned long		al_limit;
	unsigned long		al_heard;
	unsigned long		al_probed;
	unsigned long		al_grace;
	unsigned long		al_work_grace;
	bool			al_started;
	bool			al_busy;
};

/* The later one of two times in jiffies */
static inline unsigned long rpcrdma_keepalive_later(unsigned long a,
						    unsigned long b)
{
	return time_after(a, b) ? a : b;
}

/* Returns true if an answer or a completion that was due at the time *@next is too late. The
 * cause may be this machine: after a suspend, it may not have processed the answer yet. So when
 * this function first finds that *@next has passed, it sets *@grace to a time
 * %RPCRDMA_KEEPALIVE_GRACE later, and returns false until then. *@grace is 0 while nothing is
 * overdue. If this returns false, *@next is the time of the next check.
 */
static inline bool rpcrdma_keepalive_is_over(unsigned long now,
					     unsigned long *next,
					     unsigned long *grace)
{
	if (time_before(now, *next)) {
		*grace = 0;
		return false;
	}
	if (!*grace)
		*grace = now + RPCRDMA_KEEPALIVE_GRACE ?: 1;
	*next = *grace;
	return !time_before(now, *grace);
}

/* Called when something has happened that only a living peer can have caused, such as the arrival
 * of a message; and when the keepalive starts.
 */
static inline void rpcrdma_keepalive_heard(struct rpcrdma_keepalive *al)
{
	unsigned long now = jiffies;

	/* Write only if the value changes, so that the cache line can stay shared. */
	if (READ_ONCE(al->al_heard) != now)
		WRITE_ONCE(al->al_heard, now);
}

void rpcrdma_keepalive_init(struct rpcrdma_conn *conn);
void rpcrdma_keepalive_start(struct rpcrdma_conn *conn);
void rpcrdma_keepalive_stop(struct rpcrdma_conn *conn);
bool rpcrdma_keepalive_notices(const struct rpcrdma_conn *conn);

#endif /* RPCRDMA_KEEPALIVE_H */
