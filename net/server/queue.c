// SPDX-License-Identifier: GPL-2.0
/*
 * Work for threads: messages that have arrived, Calls whose RDMA Reads are complete, and
 * Calls that wait until their RDMA Reads may begin. This file owns these three queues, the
 * limit on the bytes that are pulled on a connection, and XPT_DATA. It never looks into a
 * message, and posts nothing.
 *
 * XPT_DATA is set while a thread would find work in the queues. It is set and cleared under
 * sx_lock, when the queues change, and when bytes or memory regions become free for a waiting
 * Call. The thread that takes the last entry clears XPT_DATA, so that no other thread is woken
 * for nothing (invariant I11).
 *
 * "To pull" a Call is to fetch its chunks by RDMA Read. Pulled Calls take memory before the
 * server knows who the client is, so their bytes are limited. The bytes of a Call count from
 * the permission to pull it until a thread takes the complete Call. If the limit would be
 * exceeded, or another Call waits already, a Call waits in qu_waiting. The limit is one Call
 * for a client that is not known yet (svc_rdma_is_known()), and %SVC_RDMA_PULL_BYTES for
 * others. A Call also waits in qu_waiting for memory regions. When bytes or regions become
 * free, svc_rdma_pull_next() or svc_rdma_dequeue() sees to it that sunrpc finds a thread for
 * the first Call in qu_waiting.
 */
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

/* Maximum number of bytes of the Calls on a known client's connection that are being pulled, or
 * are complete and not yet taken by a thread. One Call alone may have more.
 */
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

/* May the first of the waiting Calls be pulled now? */
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

/* Take the first of the waiting Calls; svc_rdma_pull_fits() has returned true. */
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

/* Add work, and wake a thread. No thread takes the work before the connection is accepted,
 * because sunrpc keeps XPT_BUSY set until then.
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
 * svc_rdma_receive - ops->receive: a message has arrived
 * @conn: connection
 * @msg: message
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
	if (likely(svc_rdma_is_known(sx)))
		rpcrdma_send_cq_relax(conn);
	rpcrdma_send_cq_poll(conn);
}

/**
 * svc_rdma_call_complete - queue a Call whose RDMA Reads have succeeded
 * @call: Call; the queue owns it from now on
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_call_complete(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	svc_rdma_queue(sx, &call->sc_list, &sx->sx_queue.qu_complete);
}

/* Take the first complete Call. Its bytes do not count any more, so the next waiting Call
 * may fit now: svc_rdma_dequeue() checks that before it clears XPT_DATA (I11).
 */
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
 * @call: OUT: a Call that is complete; or one whose RDMA Reads are to be posted now, and
 *	then sc_pull is not 0; or NULL
 * @msg: OUT: if *@call is NULL, a message, or NULL if there is no work
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
 * svc_rdma_pull_begin - ask for permission to pull a Call
 * @call: decoded Call whose chunks are valid and hold at least one byte. If it has to
 *	wait, qu_waiting owns it afterwards
 *
 * Context: process.
 * Return: %true if the Call may be pulled now.
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
 * svc_rdma_pull_next - wake a thread if the next waiting Call can be pulled
 * @sx: connection on which bytes or memory regions have become free
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_pull_next(struct svc_rdma_xprt *sx)
{
	bool fits;

	/* Order the release of bytes or regions before the check of qu_waiting. */
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
 * svc_rdma_pull_again - let a Call wait for memory regions
 * @call: Call that svc_rdma_pull_begin() or svc_rdma_dequeue() has permitted to pull. It
 *	becomes the first entry of qu_waiting, which owns it afterwards
 * @mrs: number of regions that have to be free before the Call is pulled
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
	/* The regions may have become free meanwhile. */
	svc_rdma_pull_next(sx);
}

/**
 * svc_rdma_pull_end - stop counting the bytes of a Call
 * @call: Call that is about to be freed; its bytes may or may not be counted
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
