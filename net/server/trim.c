// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a connection can give back although its client is silent: the buffers of Send
 * contexts that nobody uses (server/send.c). A busy connection keeps up to 32 of them. Posted
 * Receives are not among this memory, because no verb takes them back (G-39).
 *
 * - svc_rdma_trim_work() runs every %SVC_RDMA_TRIM_TIME, or later if the processor is idle then. It
 *   frees the contexts that no Send has needed since its last run, except %SVC_RDMA_TRIM_KEEP of
 *   each connection. So while a client is silent, the second run leaves its connection no more idle
 *   contexts than these. The work also brings the account of each connection up to date
 *   (svc_rdma_budget_recount()).
 * - If the machine is short of memory, the shrinker frees idle contexts at once. It also leaves
 *   %SVC_RDMA_TRIM_KEEP of each connection, because callbacks, which do not wait for memory, may
 *   need them then.
 *
 * This file has the list of all accepted connections. A connection stays in the list until
 * svc_rdma_conn_end() begins to close it. As long as the mutex of the list is held, no connection
 * in the list is closed. The shrinker only tries to take the mutex, because the holder may be
 * waiting for memory.
 */
#include <linux/mutex.h>
#include <linux/shrinker.h>
#include <linux/workqueue.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"

/* Minimum time in jiffies between two runs of svc_rdma_trim_work() */
#define SVC_RDMA_TRIM_TIME	(10 * HZ)
/* Number of idle Send contexts that this file leaves to each connection */
#define SVC_RDMA_TRIM_KEEP	2u

/* Protects svc_rdma_trim_list, and sx_trim of all connections. Other locks, such as
 * sx_lock, are taken inside it.
 */
static DEFINE_MUTEX(svc_rdma_trim_mutex);
static LIST_HEAD(svc_rdma_trim_list);
static struct shrinker *svc_rdma_shrinker;

static void svc_rdma_trim_work(struct work_struct *work);
static DECLARE_DEFERRABLE_WORK(svc_rdma_trim_dwork, svc_rdma_trim_work);

/* Queues svc_rdma_trim_work(), unless it is queued already. Called when a connection joins the
 * list, and by the work itself as long as the list has connections.
 */
static void svc_rdma_trim_later(void)
{
	lockdep_assert_held(&svc_rdma_trim_mutex);
	schedule_delayed_work(&svc_rdma_trim_dwork, SVC_RDMA_TRIM_TIME);
}

static void svc_rdma_trim_work(struct work_struct *work)
{
	struct svc_rdma_xprt *sx;
	u32 unneeded, freed = 0;

	mutex_lock(&svc_rdma_trim_mutex);
	list_for_each_entry(sx, &svc_rdma_trim_list, sx_trim) {
		/* The completions of the last Sends may not have been handled yet. */
		rpcrdma_send_cq_poll(&sx->sx_conn);
		unneeded = svc_rdma_send_unneeded(sx);
		if (unneeded > SVC_RDMA_TRIM_KEEP)
			freed += svc_rdma_send_trim(sx, unneeded -
						    SVC_RDMA_TRIM_KEEP);
		svc_rdma_budget_recount(sx);
	}
	if (!list_empty(&svc_rdma_trim_list))
		svc_rdma_trim_later();
	mutex_unlock(&svc_rdma_trim_mutex);
	rpcrdma_count_add(server_sends_trimmed, freed);
}

/* Returns how many idle Send contexts of a connection may be freed. */
static u32 svc_rdma_trim_count(struct svc_rdma_xprt *sx)
{
	u32 idle = svc_rdma_send_collect(sx);

	return idle - min(idle, SVC_RDMA_TRIM_KEEP);
}

/* Returns the number of idle Send contexts that can be freed: SHRINK_EMPTY if there are none, and 0
 * if the mutex is held. The kernel takes the number as an estimate.
 */
static unsigned long svc_rdma_shrink_count(struct shrinker *shrinker,
					   struct shrink_control *sc)
{
	struct svc_rdma_xprt *sx;
	unsigned long count = 0;

	if (!mutex_trylock(&svc_rdma_trim_mutex))
		return 0;
	list_for_each_entry(sx, &svc_rdma_trim_list, sx_trim)
		count += svc_rdma_trim_count(sx);
	mutex_unlock(&svc_rdma_trim_mutex);
	return count ?: SHRINK_EMPTY;
}

static unsigned long svc_rdma_shrink_scan(struct shrinker *shrinker,
					  struct shrink_control *sc)
{
	unsigned long freed = 0;
	struct svc_rdma_xprt *sx;

	if (!mutex_trylock(&svc_rdma_trim_mutex))
		return SHRINK_STOP;
	list_for_each_entry(sx, &svc_rdma_trim_list, sx_trim) {
		if (freed >= sc->nr_to_scan)
			break;
		freed += svc_rdma_send_trim(sx, min_t(unsigned long,
						      svc_rdma_trim_count(sx),
						      sc->nr_to_scan - freed));
	}
	/* Next time, begin with another connection. */
	if (freed)
		list_rotate_left(&svc_rdma_trim_list);
	mutex_unlock(&svc_rdma_trim_mutex);
	rpcrdma_count_add(server_sends_trimmed, freed);
	return freed;
}

/**
 * svc_rdma_trim_join - begin to look after the idle Sends of a connection
 * @sx: connection that has been accepted
 *
 * Context: process; sleeps; the caller has entered the connection (svc_rdma_enter()). If the
 *	connection has been lost already, svc_rdma_conn_end() waits until the caller has left it,
 *	and only then calls svc_rdma_trim_leave().
 */
void svc_rdma_trim_join(struct svc_rdma_xprt *sx)
{
	mutex_lock(&svc_rdma_trim_mutex);
	list_add_tail(&sx->sx_trim, &svc_rdma_trim_list);
	svc_rdma_trim_later();
	mutex_unlock(&svc_rdma_trim_mutex);
}

/**
 * svc_rdma_trim_leave - stop looking after the idle Sends of a connection
 * @sx: connection that is being closed; it may never have been accepted
 *
 * Context: process; sleeps.
 */
void svc_rdma_trim_leave(struct svc_rdma_xprt *sx)
{
	mutex_lock(&svc_rdma_trim_mutex);
	list_del_init(&sx->sx_trim);
	mutex_unlock(&svc_rdma_trim_mutex);
}

/**
 * svc_rdma_trim_init - register the shrinker
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_trim_init(void)
{
	svc_rdma_shrinker = shrinker_alloc(0, "rpcrdma-sends");
	if (!svc_rdma_shrinker)
		return -ENOMEM;
	svc_rdma_shrinker->count_objects = svc_rdma_shrink_count;
	svc_rdma_shrinker->scan_objects = svc_rdma_shrink_scan;
	svc_rdma_shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(svc_rdma_shrinker);
	return 0;
}

/**
 * svc_rdma_trim_exit - undo svc_rdma_trim_init()
 *
 * Context: process; no connection is left.
 */
void svc_rdma_trim_exit(void)
{
	cancel_delayed_work_sync(&svc_rdma_trim_dwork);
	shrinker_free(svc_rdma_shrinker);
}
