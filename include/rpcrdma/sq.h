/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slots of a send queue, and the line of waiters for slots. A slot stands for one entry of
 * the queue. It is taken before a work request is posted, and released when the work request
 * is known to have completed. The entries for the keepalive's probe and for the drain marker
 * (%RPCRDMA_SQ_EXTRA) are not slots.
 */
#ifndef RPCRDMA_SQ_H
#define RPCRDMA_SQ_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>

/**
 * struct rpcrdma_sq - the slots of a send queue; a slot stands for one entry of the queue
 * @sq_free: number of free slots
 * @sq_nwaiting: number of waiters in the line; written under @sq_lock, read without a lock
 * @sq_closed: no waiter can join the line any more, and rpcrdma_sq_try() fails; written under
 *	@sq_lock, read without a lock
 * @sq_size: total number of slots; set when the queue pair is created, read without a lock
 * @sq_lock: protects the line; innermost lock, never taken in a hard interrupt
 * @sq_waiters: the line, in order of arrival
 *
 * As long as the line is empty, slots are taken and released without the lock.
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
 * struct rpcrdma_sq_waiter - a waiter for slots
 * @wt_list: link in the line; empty if the waiter is not in the line
 * @wt_slots: number of slots that it needs, at most sq_size
 * @wt_leave: number of slots that must still be free after it has taken its slots
 * @wt_ready: called by rpcrdma_sq_serve() when the waiter has got its slots and has left
 *	the line. Waiters get their slots in the order of the line. wt_ready() is
 *	called in that order only if the owner serialises rpcrdma_sq_serve().
 */
struct rpcrdma_sq_waiter {
	struct list_head	wt_list;
	u32			wt_slots;
	u32			wt_leave;
	void			(*wt_ready)(struct rpcrdma_sq_waiter *waiter);
};

/* If at least @leave units would remain, takes @count units from @free and returns true. The
 * function does not subtract the units first and add them again if too few are left: in
 * between, another task could see the low number and begin to wait, and no task would wake it.
 */
static inline bool rpcrdma_take(atomic_t *free, u32 count, u32 leave)
{
	int seen = atomic_read(free);

	do {
		if (seen < (int)(count + leave))
			return false;
	} while (!atomic_try_cmpxchg(free, &seen, seen - (int)count));
	return true;
}

static inline bool rpcrdma_sq_is_closed(const struct rpcrdma_sq *sq)
{
	return READ_ONCE(sq->sq_closed);
}

/* Takes slots if at least @leave slots then remain free, even if others wait in the line. Returns
 * false if it takes none.
 */
static inline bool rpcrdma_sq_overtake(struct rpcrdma_sq *sq, u32 slots,
				       u32 leave)
{
	return rpcrdma_take(&sq->sq_free, slots, leave);
}

/* Takes slots if the line is empty, the send queue is not closed, and at least @leave slots then
 * remain free. Returns false if it takes none.
 */
static inline bool rpcrdma_sq_try(struct rpcrdma_sq *sq, u32 slots, u32 leave)
{
	return !READ_ONCE(sq->sq_nwaiting) && !rpcrdma_sq_is_closed(sq) &&
	       rpcrdma_sq_overtake(sq, slots, leave);
}

/* Releases slots. Returns true if the line is not empty; the caller must then make sure that
 * rpcrdma_sq_serve() is called. Implies a full barrier.
 */
static inline bool rpcrdma_sq_release(struct rpcrdma_sq *sq, u32 slots)
{
	atomic_add(slots, &sq->sq_free);
	/* Pairs with rpcrdma_sq_join(). If a waiter joins at the same time, either the read
	 * below sees it, or rpcrdma_sq_join() sees the slots that were released.
	 */
	smp_mb__after_atomic();
	return READ_ONCE(sq->sq_nwaiting);
}

/* Number of slots in use. The value may be out of date when this returns. */
static inline u32 rpcrdma_sq_used(const struct rpcrdma_sq *sq)
{
	return READ_ONCE(sq->sq_size) - atomic_read(&sq->sq_free);
}

void rpcrdma_sq_init(struct rpcrdma_sq *sq);
void rpcrdma_sq_open(struct rpcrdma_sq *sq, u32 size);
void rpcrdma_sq_join(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter);
void rpcrdma_sq_serve(struct rpcrdma_sq *sq);
void rpcrdma_sq_close(struct rpcrdma_sq *sq);

#endif /* RPCRDMA_SQ_H */
