// SPDX-License-Identifier: GPL-2.0
/*
 * The send completion queue: a completion queue for the send queue of one connection, whose
 * completions may be handled late. This file does not know what the work requests are for.
 *
 * Operation
 *
 * When a Send has completed, its buffer and its slots become free, and in most cases nothing
 * else has to be done. Handling each completion at once would cost an interrupt and a run of a
 * work item. So the device is asked for an event only while somebody awaits a completion. Without
 * an event, completions stay in the queue until the keepalive or the owner handles them. The owner
 * does so when it handles the next message. A client also does so when it finds too few slots or
 * Sends; a server, before it frees idle Sends, and before it shows the slots in debugfs. While
 * somebody awaits the completion of a certain work request, a server thread that takes a message
 * leaves all completions to the work item (cq_work): their handlers unmap and free pages, which
 * would delay the message.
 *
 * These are the times when somebody awaits a completion:
 *
 * - from rpcrdma_send_cq_await() or rpcrdma_send_cq_await_posted() to rpcrdma_send_cq_seen():
 *   the owner holds pages or an RPC until a certain work request has completed, or the
 *   keepalive waits for its probe;
 * - while a waiter is in line for slots;
 * - while the owner waits for any completion (ops->awaits());
 * - while the connection is down: rpcrdma_conn_drain() waits until the queues are empty;
 * - until the owner first calls rpcrdma_send_cq_relax(): up to then, every completion counts as
 *   awaited.
 *
 * When the second or the third of these times begins, rpcrdma_send_cq_watch() is called. For the
 * fourth, rpcrdma_conn_drain() calls it.
 *
 * An event reports only the next completion, which may belong to another work request. So
 * after an event, the work (cq_work) handles all completions, and asks for another event if
 * somebody still awaits a completion. The queue cannot overflow: it has an entry for each
 * slot, and a slot is released only when its completion, or a later one, is handled.
 *
 * cq_mutex makes sure that completions are handled one after the other, in the order of the queue.
 * This is necessary for two reasons. A Send context is freed after the completion of its Send, so
 * the completions of the RDMA Writes posted before the Send must be handled first. And when the
 * drain marker (the last work request of ib_drain_qp()) is handled, no earlier completion may
 * still be in a handler. If rpcrdma_send_cq_poll() finds the mutex locked, it returns at once, and
 * the completions are handled later. An owner may hold the mutex while it handles a message
 * (rpcrdma_send_cq_enter()). Then all its completion handlers run one after the other, as they
 * would with a single completion queue.
 *
 * The work never waits for cq_mutex. If another task holds it, that task queues the work again
 * when it releases the mutex (cq_again). A client often begins to await a completion while it
 * handles a message, and then it holds the mutex. A worker that started at once could do nothing.
 *
 * After rpcrdma_conn_drain(), only the work handles completions. It may run until
 * rpcrdma_send_cq_destroy() returns. Nothing else can handle completions any more, for these
 * reasons. All messages were handled before the drain marker of the receive queue. The keepalive
 * was stopped. A server has removed the connection from debugfs and from the list of
 * server/reclaim.c, and no thread uses the connection any more (svc_rdma_inside()). A client
 * sends only while it holds the send lock, and the task that drains holds this lock.
 */
#include <linux/workqueue.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>

/* Maximum number of completions that one call of ib_process_cq_direct() handles */
#define RPCRDMA_SEND_CQ_BUDGET	256

static struct workqueue_struct *rpcrdma_send_cq_wq;

/* Must the next completion be handled at once? */
static bool rpcrdma_send_cq_is_awaited(struct rpcrdma_conn *conn)
{
	const struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	return !READ_ONCE(cq->cq_lazy) || atomic_read(&cq->cq_awaited) ||
	       READ_ONCE(conn->cn_sq.sq_nwaiting) ||
	       rpcrdma_conn_is_down(conn) ||
	       (conn->cn_ops->awaits && conn->cn_ops->awaits(conn));
}

static void rpcrdma_send_cq_work(struct work_struct *work)
{
	struct rpcrdma_conn *conn = container_of(work, struct rpcrdma_conn,
						 cn_send_cq.cq_work);
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;
	int done;

	if (!mutex_trylock(&cq->cq_mutex)) {
		rpcrdma_send_cq_watch(conn);
		return;
	}
	done = ib_process_cq_direct(cq->cq_ib, RPCRDMA_SEND_CQ_BUDGET);
	rpcrdma_send_cq_leave(conn);
	if (done >= RPCRDMA_SEND_CQ_BUDGET ||
	    (rpcrdma_send_cq_is_awaited(conn) &&
	     ib_req_notify_cq(cq->cq_ib, IB_CQ_NEXT_COMP |
			      IB_CQ_REPORT_MISSED_EVENTS) > 0))
		rpcrdma_send_cq_watch(conn);
}

static void rpcrdma_send_cq_event(struct ib_cq *cq, void *context)
{
	rpcrdma_count(send_events);
	rpcrdma_send_cq_watch(context);
}

/**
 * rpcrdma_send_cq_create - create the completion queue of the send queue
 * @conn: connection that has the completion queue cn_cq, but no queue pair yet
 * @entries: number of completions that the new queue can hold
 *
 * Until rpcrdma_send_cq_relax() is called, completions are handled at once.
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno.
 */
int rpcrdma_send_cq_create(struct rpcrdma_conn *conn, u32 entries)
{
	struct ib_cq_init_attr attr = {
		.cqe		= entries,
		.comp_vector	= conn->cn_cq->comp_vector,
	};
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;
	struct ib_cq *ib;

	mutex_init(&cq->cq_mutex);
	INIT_WORK(&cq->cq_work, rpcrdma_send_cq_work);
	cq->cq_lazy = false;
	cq->cq_again = false;
	atomic_set(&cq->cq_awaited, 0);
	ib = ib_create_cq(rpcrdma_conn_device(conn), rpcrdma_send_cq_event,
			  NULL, conn, &attr);
	if (IS_ERR(ib))
		return PTR_ERR(ib);
	cq->cq_ib = ib;
	ib_req_notify_cq(ib, IB_CQ_NEXT_COMP);
	return 0;
}

/**
 * rpcrdma_send_cq_destroy - destroy the completion queue of the send queue
 * @conn: connection without a queue pair, and with or without this completion queue
 *
 * When this returns, no completion handler of the send queue runs or will run.
 *
 * Context: process; sleeps.
 */
void rpcrdma_send_cq_destroy(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	if (!cq->cq_ib)
		return;
	/* An event that comes after this cannot queue the work. */
	disable_work_sync(&cq->cq_work);
	WRITE_ONCE(cq->cq_lazy, false);
	ib_destroy_cq(cq->cq_ib);
	cq->cq_ib = NULL;
}

/**
 * rpcrdma_send_cq_relax - allow late handling of completions from now on
 * @conn: connection
 *
 * The owner must call rpcrdma_send_cq_poll() or rpcrdma_send_cq_enter() for each message that
 * it handles afterwards, unless rpcrdma_send_cq_has_awaited() returns true.
 *
 * Context: any.
 */
void rpcrdma_send_cq_relax(struct rpcrdma_conn *conn)
{
	if (unlikely(!READ_ONCE(conn->cn_send_cq.cq_lazy)))
		WRITE_ONCE(conn->cn_send_cq.cq_lazy, true);
}

/**
 * rpcrdma_send_cq_poll - handle the completions that are in the queue
 * @conn: connection whose queues are not drained
 *
 * This does nothing before rpcrdma_send_cq_relax(): until then, cq_work handles each completion at
 * once. It also does nothing while another task holds cq_mutex.
 *
 * Context: process or completion workqueue; the caller holds no lock that completion handlers
 *	take. It may hold a client's send lock.
 */
void rpcrdma_send_cq_poll(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	if (!READ_ONCE(cq->cq_lazy) || !mutex_trylock(&cq->cq_mutex))
		return;
	ib_process_cq_direct(cq->cq_ib, RPCRDMA_SEND_CQ_BUDGET);
	rpcrdma_send_cq_leave(conn);
}

/**
 * rpcrdma_send_cq_enter - begin to handle a message
 * @conn: connection
 *
 * After rpcrdma_send_cq_relax(), this handles the completions that are in the queue. Until the
 * caller calls rpcrdma_send_cq_leave(), nobody else handles completions of the send queue.
 *
 * Context: completion workqueue; sleeps.
 */
void rpcrdma_send_cq_enter(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	mutex_lock(&cq->cq_mutex);
	if (likely(READ_ONCE(cq->cq_lazy)))
		ib_process_cq_direct(cq->cq_ib, RPCRDMA_SEND_CQ_BUDGET);
}

/**
 * rpcrdma_send_cq_leave - the message has been handled
 * @conn: connection whose cq_mutex the caller holds
 *
 * Context: process or completion workqueue: the task that has locked the mutex, normally by
 *	rpcrdma_send_cq_enter().
 */
void rpcrdma_send_cq_leave(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	mutex_unlock(&cq->cq_mutex);
	/* See rpcrdma_send_cq_watch() */
	smp_mb();
	if (unlikely(READ_ONCE(cq->cq_again)) && xchg(&cq->cq_again, false))
		queue_work(rpcrdma_send_cq_wq, &cq->cq_work);
}

/**
 * rpcrdma_send_cq_watch - have completions handled, because somebody awaits them
 * @conn: connection
 *
 * Call this when a waiter has joined the line for slots, when a caller that does not wait in line
 * has found no slot, when ops->awaits() has begun to return true, when the completion of a posted
 * work request is now awaited, or when the connection is being drained.
 *
 * cq_work handles the completions that are in the queue. It handles further ones as soon as
 * they come, for as long as somebody awaits a completion (see the top of this file). If cq_mutex is
 * held, its holder queues cq_work when it releases the mutex.
 *
 * Context: any. @conn has, or has had, this completion queue: the caller makes sure that no new
 *	connection is made in the same memory meanwhile.
 */
void rpcrdma_send_cq_watch(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	/* A full barrier. The task that queues cq_work may answer several callers of this
	 * function at once: cq_work sees what each of them has changed before. And either this sees
	 * that the mutex is free, or rpcrdma_send_cq_leave() sees cq_again.
	 */
	xchg(&cq->cq_again, true);
	if (!mutex_is_locked(&cq->cq_mutex) && xchg(&cq->cq_again, false))
		queue_work(rpcrdma_send_cq_wq, &cq->cq_work);
}

/**
 * rpcrdma_send_cq_await - have the completion of a work request handled at once
 * @conn: connection whose gate is open; the work request is about to be posted
 *
 * The completion handler calls rpcrdma_send_cq_seen(). It need not do so after an error,
 * because the connection is down then, and all completions are handled at once. Only
 * rpcrdma_conn_post_awaited() calls this function. As long as the caller is in the read-side
 * critical section of RCU in which it found the gate open, the completion queue exists.
 *
 * Context: process or completion workqueue; does not sleep. In a read-side critical section of
 *	RCU.
 */
void rpcrdma_send_cq_await(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *cq = &conn->cn_send_cq;

	/* Raise the count before asking for the event. If the completion of an earlier work
	 * request causes the event, cq_work sees the count and asks for another event.
	 */
	atomic_inc(&cq->cq_awaited);
	/* Pairs with cq_mutex, which cq_work takes after the event. */
	smp_mb__after_atomic();
	ib_req_notify_cq(cq->cq_ib, IB_CQ_NEXT_COMP);
}

/**
 * rpcrdma_send_cq_await_posted - have the completion of a posted work request handled at once
 * @conn: connection whose queues exist, or have existed; the work request has been posted, and
 *	its completion may be in the queue already
 *
 * The completion handler calls rpcrdma_send_cq_seen(), possibly before this function has raised
 * the count.
 *
 * Context: any.
 */
void rpcrdma_send_cq_await_posted(struct rpcrdma_conn *conn)
{
	atomic_inc(&conn->cn_send_cq.cq_awaited);
	rpcrdma_send_cq_watch(conn);
}

/**
 * rpcrdma_send_cq_init - create the workqueue that handles completions
 *
 * Context: process; module load.
 * Return: 0 or %-ENOMEM.
 */
int rpcrdma_send_cq_init(void)
{
	rpcrdma_send_cq_wq = alloc_workqueue("rpcrdma_sent", WQ_UNBOUND |
					     WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return rpcrdma_send_cq_wq ? 0 : -ENOMEM;
}

/**
 * rpcrdma_send_cq_exit - undo rpcrdma_send_cq_init()
 *
 * Context: process; module unload, or failed load. No connection is left.
 */
void rpcrdma_send_cq_exit(void)
{
	destroy_workqueue(rpcrdma_send_cq_wq);
}
