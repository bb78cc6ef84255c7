/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of a send queue, and the line of those that wait for some.
 */
#ifndef RPCRDMA_SQ_H
#define RPCRDMA_SQ_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rpcrdma/take.h>

/**
 * struct rpcrdma_sq - the slots of a send queue: each work request takes one
 * @sq_free: slots nobody holds
 * @sq_nwaiting: waiters in the line; written under @sq_lock, read anywhere
 * @sq_closed: nothing is handed out any more; likewise
 * @sq_size: slots in total; set with the queue pair, read anywhere
 * @sq_lock: the line. Innermost; never from an interrupt
 * @sq_waiters: the line, in order of arrival
 *
 * Slots are taken and released without the lock as long as there is no line.
 */
struct rpcrdma_sq {
	atomic_t		sq_free;
	u32			sq_nwaiting;
	bool			sq_closed;
	u32			sq_size;
	spinlock_t		sq_lock;	/* the line */
	struct list_head	sq_waiters;
};

/**
 * struct rpcrdma_sq_waiter - something that waits for slots
 * @wt_list: link in the line; empty if it does not wait
 * @wt_slots: how many it wants; no more than there are in all
 * @wt_leave: how many have to remain
 * @wt_ready: it has them, and waits no longer. Called in the order of the line by
 *	rpcrdma_sq_serve(), under the locks that its caller holds.
 */
struct rpcrdma_sq_waiter {
	struct list_head	wt_list;
	u32			wt_slots;
	u32			wt_leave;
	void			(*wt_ready)(struct rpcrdma_sq_waiter *waiter);
};

static inline bool rpcrdma_sq_is_closed(const struct rpcrdma_sq *sq)
{
	return READ_ONCE(sq->sq_closed);
}

/* Takes slots ahead of those that wait, if at least @leave remain. */
static inline bool rpcrdma_sq_overtake(struct rpcrdma_sq *sq, u32 slots,
				       u32 leave)
{
	return rpcrdma_take(&sq->sq_free, slots, leave);
}

/* Takes slots if nobody waits, and at least @leave remain. */
static inline bool rpcrdma_sq_try(struct rpcrdma_sq *sq, u32 slots, u32 leave)
{
	return !READ_ONCE(sq->sq_nwaiting) && !rpcrdma_sq_is_closed(sq) &&
	       rpcrdma_sq_overtake(sq, slots, leave);
}

/* Gives slots back. Returns whether somebody waits: then the caller calls
 * rpcrdma_sq_serve(), or knows who will. It is a full barrier.
 */
static inline bool rpcrdma_sq_release(struct rpcrdma_sq *sq, u32 slots)
{
	atomic_add(slots, &sq->sq_free);
	/* Pairs with rpcrdma_sq_join(): one sees what the other does. */
	smp_mb__after_atomic();
	return READ_ONCE(sq->sq_nwaiting);
}

/* A snapshot */
static inline u32 rpcrdma_sq_used(const struct rpcrdma_sq *sq)
{
	return READ_ONCE(sq->sq_size) - atomic_read(&sq->sq_free);
}

void rpcrdma_sq_init(struct rpcrdma_sq *sq);
void rpcrdma_sq_open(struct rpcrdma_sq *sq, u32 size);
void rpcrdma_sq_join(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter);
void rpcrdma_sq_leave(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter);
void rpcrdma_sq_serve(struct rpcrdma_sq *sq);
void rpcrdma_sq_close(struct rpcrdma_sq *sq);

#endif /* RPCRDMA_SQ_H */
