// SPDX-License-Identifier: GPL-2.0
/*
 * What there is to do for threads: messages that have arrived, Calls whose RDMA Reads
 * are complete, and Calls whose RDMA Reads may begin. This file owns these three
 * queues, the budget of bytes that a client may have pulled, and XPT_DATA. It never
 * looks into a message, and posts nothing.
 *
 * XPT_DATA says that a queue has an entry. It is set and cleared under the lock
 * of the queues, and cleared by the thread that takes the last entry rather
 * than by the next one, which would be woken for nothing (invariant I11).
 *
 * What a client has pulled takes memory before anybody knows who it is. So not
 * everything is pulled at once: a Call waits in qu_waiting until the bytes of those
 * before it, on their way or not yet taken by a thread, leave it room. That is one
 * Call for a client that is not known yet, %SVC_RDMA_PULL_BYTES for others. A Call
 * also waits there for memory regions. Who makes room has sunrpc find a thread.
 */
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

/* Bytes of Calls that a client has pulled and that no thread has taken yet */
#define SVC_RDMA_PULL_BYTES	(16u << 20)

/**
 * svc_rdma_queue_init - set up empty queues
 * @queue: queues of a new connection
 *
 * Context: any.
 */
void svc_rdma_queue_init(struct svc_rdma_queue *queue)
{
	INIT_LIST_HEAD(&queue->qu_received);
	INIT_LIST_HEAD(&queue->qu_complete);
	INIT_LIST_HEAD(&queue->qu_waiting);
	queue->qu_pulled = 0;
}

/* May the first of the waiting Calls be pulled? */
static bool svc_rdma_pull_fits(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	const struct svc_rdma_call *call;
	u32 most = svc_rdma_is_known(sx) ? SVC_RDMA_PULL_BYTES : 0;

	lockdep_assert_held(&sx->sx_lock);
	call = list_first_entry_or_null(&queue->qu_waiting,
					struct svc_rdma_call, sc_list);
	return call && atomic_read(&sx->sx_mrs.ms_free) >= (int)call->sc_mrs &&
	       (!queue->qu_pulled ||
		(u64)queue->qu_pulled + call->sc_stream_len <= most);
}

/* Take the first of the waiting Calls, where svc_rdma_pull_fits(). */
static struct svc_rdma_call *svc_rdma_pull_take(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_call *call;

	lockdep_assert_held(&sx->sx_lock);
	call = list_first_entry(&queue->qu_waiting, struct svc_rdma_call,
				sc_list);
	list_del(&call->sc_list);
	call->sc_pull = call->sc_stream_len;
	queue->qu_pulled += call->sc_pull;
	return call;
}

/* Messages that arrive before the connection is finally accepted wait: until
 * then XPT_BUSY keeps threads away.
 */
static void svc_rdma_queue(struct svc_rdma_xprt *sx, struct list_head *entry,
			   struct list_head *queue)
{
	spin_lock(&sx->sx_lock);
	list_add_tail(entry, queue);
	set_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
	spin_unlock(&sx->sx_lock);
	svc_rdma_enqueue(sx);
}

/**
 * svc_rdma_receive - a message arrived
 * @conn: connection
 * @msg: the message
 *
 * Context: completion workqueue.
 */
void svc_rdma_receive(struct rpcrdma_conn *conn, struct rpcrdma_msg_in *msg)
{
	struct svc_rdma_xprt *sx = container_of(conn, struct svc_rdma_xprt,
						sx_conn);

	rpcrdma_count(server_receives);
	trace_svc_rdma_receive(sx, msg);
	svc_rdma_queue(sx, &msg->mi_list, &sx->sx_queue.qu_received);
}

/**
 * svc_rdma_call_complete - a Call's RDMA Reads succeeded
 * @call: Call; changes hands
 *
 * Context: completion workqueue.
 */
void svc_rdma_call_complete(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	svc_rdma_queue(sx, &call->sc_list, &sx->sx_queue.qu_complete);
}

/* A Call was pulled: if it is as long as that, the next one can be (I11). */
static struct svc_rdma_call *svc_rdma_take_pulled(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_call *call;

	lockdep_assert_held(&sx->sx_lock);
	call = list_first_entry(&queue->qu_complete, struct svc_rdma_call,
				sc_list);
	list_del(&call->sc_list);
	queue->qu_pulled -= call->sc_pull;
	call->sc_pull = 0;
	return call;
}

/**
 * svc_rdma_dequeue - take the next piece of work
 * @sx: connection
 * @call: OUT: a Call that is complete, or whose RDMA Reads are to be posted now: then
 *	it counts in qu_pulled (sc_pull); or NULL
 * @msg: OUT: a message, if there is no such Call; or NULL
 *
 * Context: process.
 */
void svc_rdma_dequeue(struct svc_rdma_xprt *sx, struct svc_rdma_call **call,
		      struct rpcrdma_msg_in **msg)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;

	*call = NULL;
	*msg = NULL;

	spin_lock(&sx->sx_lock);
	if (!list_empty(&queue->qu_complete)) {
		*call = svc_rdma_take_pulled(sx);
	} else if (svc_rdma_pull_fits(sx)) {
		*call = svc_rdma_pull_take(sx);
	} else {
		*msg = list_first_entry_or_null(&queue->qu_received,
						struct rpcrdma_msg_in, mi_list);
		if (*msg) {
			list_del(&(*msg)->mi_list);
			sx->sx_stats.vs_received += rpcrdma_msg_recvs(*msg);
		}
	}
	if (list_empty(&queue->qu_complete) && list_empty(&queue->qu_received) &&
	    !svc_rdma_pull_fits(sx))
		clear_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
	spin_unlock(&sx->sx_lock);
}

/**
 * svc_rdma_pull_begin - a Call is to be pulled
 * @call: decoded Call whose chunks are sound and hold at least one byte; if it has
 *	to wait, it changes hands
 *
 * Context: process.
 * Return: %true if it may be pulled now.
 */
bool svc_rdma_pull_begin(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_queue *queue = &sx->sx_queue;
	bool first;

	spin_lock(&sx->sx_lock);
	first = list_empty(&queue->qu_waiting);
	list_add_tail(&call->sc_list, &queue->qu_waiting);
	first = first && svc_rdma_pull_fits(sx);
	if (first)
		svc_rdma_pull_take(sx);
	spin_unlock(&sx->sx_lock);
	if (!first)
		rpcrdma_count(server_pull_waits);
	return first;
}

/**
 * svc_rdma_pull_next - there is more room: can another Call be pulled?
 * @sx: connection
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_pull_next(struct svc_rdma_xprt *sx)
{
	bool fits;

	/* Make the room visible before looking who waits */
	smp_mb();
	if (likely(list_empty(&sx->sx_queue.qu_waiting)))
		return;
	spin_lock(&sx->sx_lock);
	fits = svc_rdma_pull_fits(sx);
	if (fits)
		set_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
	spin_unlock(&sx->sx_lock);
	if (fits)
		svc_rdma_enqueue(sx);
}

/**
 * svc_rdma_pull_again - a Call has found too few regions
 * @call: Call with svc_rdma_pull_begin() or from svc_rdma_dequeue(); it changes hands,
 *	and waits where it was, before all others
 * @mrs: how many have to be free
 *
 * Context: process.
 */
void svc_rdma_pull_again(struct svc_rdma_call *call, u32 mrs)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	rpcrdma_count(server_pull_waits);
	call->sc_mrs = mrs;
	spin_lock(&sx->sx_lock);
	sx->sx_queue.qu_pulled -= call->sc_pull;
	call->sc_pull = 0;
	list_add(&call->sc_list, &sx->sx_queue.qu_waiting);
	spin_unlock(&sx->sx_lock);
	/* They may have come back meanwhile. */
	svc_rdma_pull_next(sx);
}

/**
 * svc_rdma_pull_end - what was pulled of a Call is no longer counted
 * @call: Call that ends before it was taken by a thread as complete
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_pull_end(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	if (likely(!call->sc_pull))
		return;
	spin_lock(&sx->sx_lock);
	sx->sx_queue.qu_pulled -= call->sc_pull;
	call->sc_pull = 0;
	spin_unlock(&sx->sx_lock);
	svc_rdma_pull_next(sx);
}
