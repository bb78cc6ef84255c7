// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue room: how many slots the send queue of a connection has left, and the
 * line of those that wait for some. It never posts, and knows nothing of what is
 * posted.
 *
 * Operation
 *
 * Each work request takes a slot, which is reserved before it is posted and released
 * when it has completed. What needs several takes them in one go.
 *
 * Nobody sleeps for slots: how long that takes is up to the peer. What finds too few
 * joins the line, and its thread goes on with something else. Slots that come free go
 * to the head of the line only, so a long chain is not starved by short ones. Holders
 * of slots wait for nothing, so the line moves as long as the device completes
 * something (invariant I9).
 *
 * Whoever releases slots serves the line, and so posts what they were given to. One
 * waiter after the other is taken out of the line with its slots, and told. That is
 * not done under the lock of the line but under those of the owner, or none: an owner
 * whose waiters may be given up while they wait serves, and has them leave, under one
 * lock, and then knows at any time whether one waits or was told.
 *
 * As long as nobody waits, a slot costs no lock: only the line has one. A release
 * first counts the slots and then looks for a line; joining first lengthens the line
 * and then looks for slots.
 */
#include <kunit/visibility.h>
#include <rpcrdma/conn.h>

#include "trace.h"

/**
 * rpcrdma_sq_init - set up a send queue without slots
 * @sq: that of a new connection
 *
 * Context: any.
 */
void rpcrdma_sq_init(struct rpcrdma_sq *sq)
{
	atomic_set(&sq->sq_free, 0);
	sq->sq_nwaiting = 0;
	sq->sq_closed = false;
	sq->sq_size = 0;
	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_waiters);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_init);

/**
 * rpcrdma_sq_open - there is a queue pair to post to
 * @sq: send queue nobody has reserved from; it may have been closed already
 * @size: slots
 *
 * Context: process.
 */
void rpcrdma_sq_open(struct rpcrdma_sq *sq, u32 size)
{
	WRITE_ONCE(sq->sq_size, size);
	atomic_set(&sq->sq_free, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_open);

static void rpcrdma_sq_remove_locked(struct rpcrdma_sq *sq,
				     struct rpcrdma_sq_waiter *waiter)
{
	lockdep_assert_held(&sq->sq_lock);

	list_del_init(&waiter->wt_list);
	WRITE_ONCE(sq->sq_nwaiting, sq->sq_nwaiting - 1);
}

/* Takes the first out of the line, if there are slots for it. */
static struct rpcrdma_sq_waiter *rpcrdma_sq_next(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter;

	spin_lock(&sq->sq_lock);
	waiter = list_first_entry_or_null(&sq->sq_waiters,
					  struct rpcrdma_sq_waiter, wt_list);
	if (waiter &&
	    rpcrdma_sq_overtake(sq, waiter->wt_slots, waiter->wt_leave))
		rpcrdma_sq_remove_locked(sq, waiter);
	else
		waiter = NULL;
	spin_unlock(&sq->sq_lock);
	return waiter;
}

/**
 * rpcrdma_sq_serve - hand slots to those that wait
 * @sq: send queue
 *
 * It ends when the line does, or the slots. wt_ready() may release slots, which are
 * handed out before this returns; it must not serve or join itself.
 *
 * Context: process or completion workqueue; does not sleep, and neither does
 *	wt_ready(). The caller may hold locks of its own.
 */
void rpcrdma_sq_serve(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter;

	while ((waiter = rpcrdma_sq_next(sq))) {
		trace_rpcrdma_sq_wait(sq, waiter->wt_slots);
		waiter->wt_ready(waiter);
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_serve);

/**
 * rpcrdma_sq_join - wait in line for slots
 * @sq: send queue
 * @waiter: what waits; it changes hands
 *
 * When the slots are there, and that may be before this returns, wt_ready() is
 * called. It is never called if the send queue is closed before, or the waiter leaves.
 *
 * Context: like rpcrdma_sq_serve(), which it calls.
 */
void rpcrdma_sq_join(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter)
{
	spin_lock(&sq->sq_lock);
	if (!sq->sq_closed) {
		list_add_tail(&waiter->wt_list, &sq->sq_waiters);
		WRITE_ONCE(sq->sq_nwaiting, sq->sq_nwaiting + 1);
	}
	spin_unlock(&sq->sq_lock);
	/* Slots that came back before have woken nobody: look once more. Pairs with
	 * rpcrdma_sq_release().
	 */
	smp_mb();
	rpcrdma_sq_serve(sq);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_join);

/**
 * rpcrdma_sq_leave - wait no longer
 * @sq: send queue
 * @waiter: what may be in the line, or not
 *
 * The next in line may need fewer slots: the caller calls rpcrdma_sq_serve(). If
 * nobody serves the line meanwhile, wt_ready() is not called after this.
 *
 * Context: process or completion workqueue; does not sleep.
 */
void rpcrdma_sq_leave(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter)
{
	spin_lock(&sq->sq_lock);
	if (!list_empty(&waiter->wt_list))
		rpcrdma_sq_remove_locked(sq, waiter);
	spin_unlock(&sq->sq_lock);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_leave);

/**
 * rpcrdma_sq_close - hand out nothing from now on, and end the line
 * @sq: send queue
 *
 * Who has taken slots a moment ago may still post: see the gate in
 * verbs/conn_state.c.
 *
 * Context: process, completion workqueue or CM event; does not sleep.
 */
void rpcrdma_sq_close(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter, *next;

	spin_lock(&sq->sq_lock);
	WRITE_ONCE(sq->sq_closed, true);
	list_for_each_entry_safe(waiter, next, &sq->sq_waiters, wt_list)
		rpcrdma_sq_remove_locked(sq, waiter);
	spin_unlock(&sq->sq_lock);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_close);
