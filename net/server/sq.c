// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue slots: each work request takes one, which is reserved before it is
 * posted. This file counts them and has the line for them. It never posts by itself,
 * and knows nothing of what is posted; memory regions are counted in server/mrs.c.
 *
 * No thread waits for slots: how long that takes is up to the peer. What finds too
 * few free ones, a Reply or the RDMA Reads of a Call, is put in line, and its
 * thread goes on with something else. Slots that come free go to the head of the
 * line only, so a long chain is not starved by short ones, and whoever releases
 * them posts what they were given to. Holders of slots wait for nothing, so the
 * line moves as long as the device completes something (invariant I9). If it does
 * not, the connection fails, see verbs/keepalive.c; a closed send queue serves nobody,
 * and what was in line is freed with the connection.
 *
 * As long as there is a line, sunrpc is told that there is no room for another Call.
 */
#include <linux/list.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

/* Send queue slots in use by a client that is not known yet */
#define SVC_RDMA_UNKNOWN_SLOTS	8u

/**
 * svc_rdma_sq_init - set up a send queue without slots
 * @sq: send queue
 *
 * Context: any.
 */
void svc_rdma_sq_init(struct svc_rdma_sq *sq)
{
	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_waiters);
	sq->sq_size = 0;
	sq->sq_free = 0;
	sq->sq_closed = false;
}

/**
 * svc_rdma_sq_set_size - fill a send queue
 * @sq: send queue nobody has reserved from; it may have been closed already
 * @size: slots
 *
 * Context: process.
 */
void svc_rdma_sq_set_size(struct svc_rdma_sq *sq, u32 size)
{
	unsigned long flags;

	spin_lock_irqsave(&sq->sq_lock, flags);
	sq->sq_size = size;
	sq->sq_free = size;
	spin_unlock_irqrestore(&sq->sq_lock, flags);
}

/* Nobody may overtake: if there is a line, no slot is free. */
static bool svc_rdma_sq_grab_locked(struct svc_rdma_sq *sq, u32 slots)
{
	lockdep_assert_held(&sq->sq_lock);

	if (!list_empty(&sq->sq_waiters) || sq->sq_free < slots)
		return false;
	sq->sq_free -= slots;
	return true;
}

/* Moves those that have got their slots to @served. */
static void svc_rdma_sq_serve_locked(struct svc_rdma_sq *sq,
				     struct list_head *served)
{
	struct svc_rdma_sq_waiter *waiter;

	lockdep_assert_held(&sq->sq_lock);

	while (!list_empty(&sq->sq_waiters)) {
		waiter = list_first_entry(&sq->sq_waiters,
					  struct svc_rdma_sq_waiter, wt_list);
		if (sq->sq_free < waiter->wt_slots)
			return;
		sq->sq_free -= waiter->wt_slots;
		list_move_tail(&waiter->wt_list, served);
	}
}

static void svc_rdma_sq_call(struct svc_rdma_sq *sq, struct list_head *served)
{
	struct svc_rdma_sq_waiter *waiter;

	while (!list_empty(served)) {
		waiter = list_first_entry(served, struct svc_rdma_sq_waiter,
					  wt_list);
		list_del_init(&waiter->wt_list);
		trace_svc_rdma_sq_wait(sq, waiter->wt_slots, 0);
		waiter->wt_ready(waiter);
	}
}

/**
 * svc_rdma_sq_join - wait in line for slots
 * @sq: send queue
 * @waiter: what waits; no more slots than there are in all. It changes hands
 *
 * When the slots are there, and that may be before this returns, wt_ready() is
 * called, by whoever released them. It is never called if the send queue is closed
 * before.
 *
 * Context: process or completion workqueue; does not sleep. wt_ready() must not
 *	sleep either, and may be called in the middle of svc_rdma_slots_release().
 */
void svc_rdma_sq_join(struct svc_rdma_sq *sq, struct svc_rdma_sq_waiter *waiter)
{
	unsigned long flags;
	LIST_HEAD(served);

	rpcrdma_count(server_sq_waits);
	spin_lock_irqsave(&sq->sq_lock, flags);
	if (!sq->sq_closed) {
		list_add_tail(&waiter->wt_list, &sq->sq_waiters);
		svc_rdma_sq_serve_locked(sq, &served);
	}
	spin_unlock_irqrestore(&sq->sq_lock, flags);
	svc_rdma_sq_call(sq, &served);
}

/**
 * svc_rdma_sq_try - take slots if they are to be had now
 * @sq: send queue
 * @slots: how many
 *
 * Context: any.
 * Return: %true if the slots are the caller's.
 */
bool svc_rdma_sq_try(struct svc_rdma_sq *sq, u32 slots)
{
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&sq->sq_lock, flags);
	taken = !sq->sq_closed && svc_rdma_sq_grab_locked(sq, slots);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
	return taken;
}

/**
 * svc_rdma_sq_close - hand out nothing from now on, and end the line
 * @sq: send queue
 *
 * Context: any.
 */
void svc_rdma_sq_close(struct svc_rdma_sq *sq)
{
	struct svc_rdma_sq_waiter *waiter, *next;
	unsigned long flags;

	spin_lock_irqsave(&sq->sq_lock, flags);
	sq->sq_closed = true;
	list_for_each_entry_safe(waiter, next, &sq->sq_waiters, wt_list)
		list_del_init(&waiter->wt_list);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
}

/* A snapshot: is there no line, and are fewer than @most slots in use? */
static bool svc_rdma_sq_has_room(struct svc_rdma_sq *sq, u32 most)
{
	return list_empty_careful(&sq->sq_waiters) &&
	       READ_ONCE(sq->sq_size) - READ_ONCE(sq->sq_free) < most;
}

/**
 * svc_rdma_has_wspace - xpo_has_wspace: may another Call be given to a thread?
 * @xprt: connection
 *
 * Not as long as a Reply waits for room in the send queue; and a client that is not
 * known yet gets few Replies at a time.
 *
 * Context: any.
 * Return: 0 if not; svc_rdma_slots_release() then tells sunrpc when it may.
 */
int svc_rdma_has_wspace(struct svc_xprt *xprt)
{
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt);
	u32 most = svc_rdma_is_known(sx) ? U32_MAX : SVC_RDMA_UNKNOWN_SLOTS;

	if (likely(svc_rdma_sq_has_room(&sx->sx_sq, most)))
		return 1;
	WRITE_ONCE(sx->sx_refused, true);
	/* Pairs with svc_rdma_slots_release(): one sees what the other does. */
	smp_mb();
	return svc_rdma_sq_has_room(&sx->sx_sq, most);
}

static void svc_rdma_sq_release(struct svc_rdma_sq *sq, u32 slots)
{
	unsigned long flags;
	LIST_HEAD(served);

	spin_lock_irqsave(&sq->sq_lock, flags);
	sq->sq_free += slots;
	svc_rdma_sq_serve_locked(sq, &served);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
	svc_rdma_sq_call(sq, &served);
}

/**
 * svc_rdma_slots_release - give send queue slots back
 * @sx: connection
 * @slots: how many; 0 is fine
 *
 * Context: process or completion workqueue, no lock held: what they are given to is
 *	posted at once.
 */
void svc_rdma_slots_release(struct svc_rdma_xprt *sx, u32 slots)
{
	if (!slots)
		return;
	svc_rdma_sq_release(&sx->sx_sq, slots);
	/* Pairs with svc_rdma_has_wspace() */
	smp_mb();
	if (unlikely(READ_ONCE(sx->sx_refused))) {
		WRITE_ONCE(sx->sx_refused, false);
		svc_rdma_enqueue(sx);
	}
}
