/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disabled work items, for kernels that can only cancel them.
 *
 * A work item that is waiting for its turn has WORK_STRUCT_PENDING_BIT set, and nobody can
 * queue it a second time. So if a work item is in no queue but has this bit, it can never be
 * queued. Such an item must not be passed to functions that cancel it, nor to mod_delayed_work():
 * they would wait for ever for the bit to be cleared. INIT_WORK() makes the item usable again.
 *
 * The member func of a disabled item is NULL, so that the item can be recognised.
 */
#ifndef RPCRDMA_COMPAT_DISABLE_WORK_H
#define RPCRDMA_COMPAT_DISABLE_WORK_H

#include_next <linux/workqueue.h>

/* Sets WORK_STRUCT_PENDING_BIT. Returns false if somebody else has just queued the item. */
static inline bool rpcrdma_compat_claim_work(struct work_struct *work)
{
	return !test_and_set_bit(WORK_STRUCT_PENDING_BIT,
				 work_data_bits(work));
}

/* Called after rpcrdma_compat_claim_work() has set the bit. The item may have been queued and
 * started after it was cancelled and before the bit was set. So wait until it has ended.
 */
static inline void rpcrdma_compat_bury_work(struct work_struct *work)
{
	flush_work(work);
	work->func = NULL;
}

/**
 * disable_work_sync - cancel a work item, wait if it runs, and keep it from being queued again
 * @work: initialised work item, on which no other task calls this function
 *
 * Context: process; sleeps.
 * Return: true if the item was waiting for its turn.
 */
static inline bool disable_work_sync(struct work_struct *work)
{
	bool waited = false;

	if (!work->func)
		return false;
	do {
		waited |= cancel_work_sync(work);
	} while (!rpcrdma_compat_claim_work(work));
	rpcrdma_compat_bury_work(work);
	return waited;
}

/**
 * disable_delayed_work_sync - the same for a delayed work item
 * @dwork: initialised work item, on which no other task calls this function
 *
 * Context: process; sleeps.
 * Return: true if the item was waiting for its time or its turn.
 */
static inline bool disable_delayed_work_sync(struct delayed_work *dwork)
{
	bool waited = false;

	if (!dwork->work.func)
		return false;
	do {
		waited |= cancel_delayed_work_sync(dwork);
	} while (!rpcrdma_compat_claim_work(&dwork->work));
	rpcrdma_compat_bury_work(&dwork->work);
	return waited;
}

#endif /* RPCRDMA_COMPAT_DISABLE_WORK_H */
