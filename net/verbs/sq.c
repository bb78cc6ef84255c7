// SPDX-License-Identifier: GPL-2.0
/*
 * The free slots of a connection's send queue, and the line of waiters for slots (sq.h). This
 * file posts nothing, and knows nothing about the work requests.
 *
 * Operation
 *
 * Each work request takes a slot, except the keepalive's probe and the drain marker of
 * ib_drain_qp(). The slot is reserved before the request is posted, and released when the request
 * is known to have completed. A chain of requests takes all its slots in one step.
 *
 * A task never sleeps to wait for slots, because the peer determines how long that takes. If
 * too few slots are free, the caller puts a waiter into the line and goes on with other work,
 * tries again later, or gives up. Released slots go only to the first waiter in the line, so
 * short chains cannot starve a long one. There is one exception: client messages that are not
 * Calls, such as answers to callbacks, must not wait, so they take slots by rpcrdma_sq_overtake().
 *
 * Work that has its slots is posted without waiting for anything else. So at a server, the line
 * moves as long as the device completes requests (invariant I9). A client's Call also reserves the
 * slots for the invalidations of its regions. They are held until the regions are invalidated,
 * normally when the Reply has come. So a client's line may also have to wait for Replies.
 *
 * The task that releases slots serves the line: as long as there are enough slots for the
 * first waiter, it gives the waiter its slots, removes it from the line, and calls its
 * wt_ready(). The line's lock is not held during this call. An owner that may cancel a waiter
 * calls rpcrdma_sq_serve() and rpcrdma_sq_leave() under one lock of its own, so that each waiter
 * is either in the line or has been served.
 *
 * As long as the line is empty, taking and releasing slots needs no lock. A release
 * first adds the slots and then looks for waiters. Joining first adds the waiter and
 * then looks for slots. So no waiter is missed.
 */
#include <kunit/visibility.h>
#include <rpcrdma/conn.h>

#include "trace.h"

/**
 * rpcrdma_sq_init - set up a send queue without slots
 * @sq: send queue of a new connection, zeroed
 *
 * Context: any.
 */
void rpcrdma_sq_init(struct rpcrdma_sq *sq)
{
	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_waiters);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_init);

/**
 * rpcrdma_sq_open - set the number of slots of a send queue that now exists
 * @sq: send queue without reserved slots; it may have been closed already
 * @size: number of slots
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

/* If enough slots are free for the first waiter, takes them and removes the waiter from the
 * line. Returns the waiter, or NULL.
 */
static struct rpcrdma_sq_waiter *rpcrdma_sq_next(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter;

	spin_lock_bh(&sq->sq_lock);
	waiter = list_first_entry_or_null(&sq->sq_waiters,
					  struct rpcrdma_sq_waiter, wt_list);
	if (waiter &&
	    rpcrdma_sq_overtake(sq, waiter->wt_slots, waiter->wt_leave))
		rpcrdma_sq_remove_locked(sq, waiter);
	else
		waiter = NULL;
	spin_unlock_bh(&sq->sq_lock);
	return waiter;
}

/**
 * rpcrdma_sq_serve - hand slots to waiters
 * @sq: send queue
 *
 * This returns when the line is empty or too few slots are left for its first waiter.
 * wt_ready() may release slots, which are handed out before this returns. But wt_ready() must
 * not call rpcrdma_sq_serve() or rpcrdma_sq_join().
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
 * @waiter: waiter; must stay valid until wt_ready(), rpcrdma_sq_leave() or
 *	rpcrdma_sq_close() is called
 *
 * wt_ready() is called when the waiter has got its slots, possibly before this returns.
 * It is not called if the send queue is closed or the waiter leaves before that.
 *
 * Context: like rpcrdma_sq_serve(), which it calls.
 */
void rpcrdma_sq_join(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter)
{
	spin_lock_bh(&sq->sq_lock);
	if (!sq->sq_closed) {
		list_add_tail(&waiter->wt_list, &sq->sq_waiters);
		WRITE_ONCE(sq->sq_nwaiting, sq->sq_nwaiting + 1);
	}
	spin_unlock_bh(&sq->sq_lock);
	/* Slots may have been released before the waiter was in the line. So look for
	 * slots once more. Pairs with rpcrdma_sq_release().
	 */
	smp_mb();
	rpcrdma_sq_serve(sq);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_join);

/**
 * rpcrdma_sq_leave - remove a waiter from the line
 * @sq: send queue
 * @waiter: waiter; need not be in the line
 *
 * The caller then calls rpcrdma_sq_serve(), because the next waiter may need fewer
 * slots. wt_ready() is not called after this, unless another task is serving the line
 * at the same time.
 *
 * Context: process or completion workqueue; does not sleep.
 */
void rpcrdma_sq_leave(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter)
{
	spin_lock_bh(&sq->sq_lock);
	if (!list_empty(&waiter->wt_list))
		rpcrdma_sq_remove_locked(sq, waiter);
	spin_unlock_bh(&sq->sq_lock);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_leave);

/**
 * rpcrdma_sq_close - stop handing out slots, and empty the line
 * @sq: send queue
 *
 * Tasks that already have slots may still post, until the gate in verbs/conn_state.c is shut.
 *
 * Context: process, completion workqueue, softirq or CM event; does not sleep.
 */
void rpcrdma_sq_close(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter, *next;

	spin_lock_bh(&sq->sq_lock);
	WRITE_ONCE(sq->sq_closed, true);
	list_for_each_entry_safe(waiter, next, &sq->sq_waiters, wt_list)
		rpcrdma_sq_remove_locked(sq, waiter);
	spin_unlock_bh(&sq->sq_lock);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_close);
