// SPDX-License-Identifier: GPL-2.0
/*
 * Slots: what must be reserved before work requests are posted. A connection
 * has a stock of send queue slots, and on fabrics that need memory regions for
 * RDMA Read a stock of those.
 *
 * Who finds too few free slots waits in line. Slots that come free go to the
 * head of the line only, so a long chain is not starved by short ones. Nobody
 * waits for ever: a closed stock sends all waiters home, a fatal signal ends
 * the wait, and so does %SVC_RDMA_SQ_PATIENCE, after which the device is
 * regarded as stuck. A reservation that could never be met fails at once.
 *
 * A thread that needs both kinds takes memory regions first. Holders of send
 * queue slots wait for nothing, so the line always moves (invariant I9).
 */
#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/svc_rdma.h>
#include <rpcrdma/trace_svc.h>

/* Jiffies in which a device completes something, or never will */
#define SVC_RDMA_SQ_PATIENCE	(30 * HZ)

struct svc_rdma_sq_waiter {
	struct list_head	wt_list;
	struct completion	wt_done;
	u32			wt_slots;
	int			wt_result;
};

/**
 * svc_rdma_sq_init - set up an empty stock of slots
 * @sq: stock
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
 * svc_rdma_sq_set_size - fill a stock
 * @sq: stock nobody has reserved from; it may have been closed already
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

/* Nobody may overtake: with a line there is nothing to be had. */
static bool svc_rdma_sq_grab_locked(struct svc_rdma_sq *sq, u32 slots)
{
	lockdep_assert_held(&sq->sq_lock);

	if (!list_empty(&sq->sq_waiters) || sq->sq_free < slots)
		return false;
	sq->sq_free -= slots;
	return true;
}

static void svc_rdma_sq_serve_locked(struct svc_rdma_sq *sq)
{
	struct svc_rdma_sq_waiter *waiter;

	lockdep_assert_held(&sq->sq_lock);

	while (!list_empty(&sq->sq_waiters)) {
		waiter = list_first_entry(&sq->sq_waiters,
					  struct svc_rdma_sq_waiter, wt_list);
		if (!sq->sq_closed && sq->sq_free < waiter->wt_slots)
			return;

		list_del_init(&waiter->wt_list);
		waiter->wt_result = sq->sq_closed ? -ENOTCONN : 0;
		if (!waiter->wt_result)
			sq->sq_free -= waiter->wt_slots;
		complete(&waiter->wt_done);
	}
}

/**
 * svc_rdma_sq_extend - have more slots in a stock
 * @sq: stock
 * @slots: how many more
 *
 * Context: any. The caller serialises.
 */
void svc_rdma_sq_extend(struct svc_rdma_sq *sq, u32 slots)
{
	unsigned long flags;

	spin_lock_irqsave(&sq->sq_lock, flags);
	WRITE_ONCE(sq->sq_size, sq->sq_size + slots);
	sq->sq_free += slots;
	svc_rdma_sq_serve_locked(sq);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
}

static int svc_rdma_sq_wait(struct svc_rdma_sq *sq,
			    struct svc_rdma_sq_waiter *waiter)
{
	unsigned long flags;
	long left;

	rpcrdma_count(server_sq_waits);
	left = wait_for_completion_killable_timeout(&waiter->wt_done,
						    SVC_RDMA_SQ_PATIENCE);
	if (left > 0)
		return waiter->wt_result;

	spin_lock_irqsave(&sq->sq_lock, flags);
	if (!list_empty(&waiter->wt_list)) {
		list_del_init(&waiter->wt_list);
		waiter->wt_result = left ? -ERESTARTSYS : -ETIMEDOUT;
		svc_rdma_sq_serve_locked(sq);
	}
	spin_unlock_irqrestore(&sq->sq_lock, flags);
	return waiter->wt_result;
}

/**
 * svc_rdma_sq_reserve - take slots, waiting for them if need be
 * @sq: stock
 * @slots: how many
 *
 * Context: process; sleeps, but not for ever.
 * Return: 0; %-EMSGSIZE if there are not that many in all; %-ENOTCONN if the
 *	stock is or gets closed; %-ETIMEDOUT; %-ERESTARTSYS.
 */
int svc_rdma_sq_reserve(struct svc_rdma_sq *sq, u32 slots)
{
	struct svc_rdma_sq_waiter waiter;
	unsigned long flags;
	int rc = 0;

	might_sleep();

	spin_lock_irqsave(&sq->sq_lock, flags);
	if (sq->sq_closed) {
		rc = -ENOTCONN;
	} else if (slots > sq->sq_size) {
		rc = -EMSGSIZE;
	} else if (!svc_rdma_sq_grab_locked(sq, slots)) {
		init_completion(&waiter.wt_done);
		waiter.wt_slots = slots;
		list_add_tail(&waiter.wt_list, &sq->sq_waiters);
		rc = -EINPROGRESS;
	}
	spin_unlock_irqrestore(&sq->sq_lock, flags);

	if (rc == -EINPROGRESS) {
		rc = svc_rdma_sq_wait(sq, &waiter);
		trace_svc_rdma_sq_wait(sq, slots, rc);
	}
	return rc;
}

/**
 * svc_rdma_sq_try - take slots if they are to be had now
 * @sq: stock
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
 * svc_rdma_sq_release - give slots back
 * @sq: stock
 * @slots: how many; 0 is fine
 *
 * Context: any.
 */
void svc_rdma_sq_release(struct svc_rdma_sq *sq, u32 slots)
{
	unsigned long flags;

	if (!slots)
		return;
	spin_lock_irqsave(&sq->sq_lock, flags);
	sq->sq_free += slots;
	svc_rdma_sq_serve_locked(sq);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
}

/**
 * svc_rdma_sq_close - hand out nothing from now on, and end all waiting
 * @sq: stock
 *
 * Context: any.
 */
void svc_rdma_sq_close(struct svc_rdma_sq *sq)
{
	unsigned long flags;

	spin_lock_irqsave(&sq->sq_lock, flags);
	sq->sq_closed = true;
	svc_rdma_sq_serve_locked(sq);
	spin_unlock_irqrestore(&sq->sq_lock, flags);
}

/**
 * svc_rdma_sq_is_crowded - does somebody wait?
 * @sq: stock
 *
 * Context: any; a snapshot.
 * Return: %true if there is a line.
 */
bool svc_rdma_sq_is_crowded(struct svc_rdma_sq *sq)
{
	return !list_empty_careful(&sq->sq_waiters);
}
