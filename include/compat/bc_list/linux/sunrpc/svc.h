/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In older kernels, the queue of callbacks (sv_cb_list) is a list with a lock. The threads of the
 * NFS client that execute callbacks sleep in sv_cb_waitq, and take the first callback of the list.
 */
#ifndef RPCRDMA_COMPAT_BC_LIST_H
#define RPCRDMA_COMPAT_BC_LIST_H

#include_next <linux/sunrpc/svc.h>

/**
 * lwq_enqueue - queue a callback, and wake a thread that executes it
 * @entry: rq_bc_list of the callback
 * @queue: sv_cb_list of a service
 *
 * Context: process or softirq.
 */
static inline void lwq_enqueue(struct list_head *entry,
			       struct list_head *queue)
{
	struct svc_serv *serv = container_of(queue, struct svc_serv,
					     sv_cb_list);

	spin_lock_bh(&serv->sv_cb_lock);
	list_add_tail(entry, queue);
	wake_up(&serv->sv_cb_waitq);
	spin_unlock_bh(&serv->sv_cb_lock);
}

/* Does nothing, because lwq_enqueue() has already woken a thread. This is a macro, because Linux
 * 6.6 has a function of this name.
 */
#define svc_pool_wake_idle_thread(pool)	((void)(pool))

#endif /* RPCRDMA_COMPAT_BC_LIST_H */
