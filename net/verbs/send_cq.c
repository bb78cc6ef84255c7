// SPDX-License-Identifier: GPL-2.0
/*
 * The send completion queue: a completion queue for the send queue of one connection, whose
 * completions may be handled late. It knows nothing about what the work requests carry.
 *
 * Operation
 *
 * When the Send of a Reply completes, nothing follows from it but that its buffer and its
 * slots are free. An interrupt, a work item and two context switches for that cost more than
 * the handler does. So this queue asks the device for an event only if somebody awaits a
 * completion. Otherwise completions stay in the queue until the next message arrives from
 * the peer (rpcrdma_send_cq_poll()), which costs no event.
 *
 * Somebody awaits a completion
 *
 * - if the owner says so for a work request, since pages or a Call are held until then
 *   (rpcrdma_send_cq_await());
 * - if somebody waits in line for slots (rpcrdma_send_cq_watch());
 * - if the connection is down, because the owner waits until the queues are empty;
 * - always, until the owner calls rpcrdma_send_cq_relax().
 *
 * An event is for the next completion only, and that may be of another work request. So
 * after an event, the work handles all completions, and asks for another event as long as
 * anybody awaits a completion. The queue never overflows: slots are released only when
 * completions are handled.
 *
 * The work and rpcrdma_send_cq_poll() may handle completions at the same time. So handlers
 * must not depend on the order of completions of different work requests. After the queues
 * were drained no handler runs: the drain waits for the marker of the receive queue, too,
 * which comes after all messages, and the keepalive was stopped before.
 */
#include <linux/workqueue.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>

/* Completions that are handled before others get a turn */
#define RPCRDMA_SEND_CQ_BUDGET	256

static struct workqueue_struct *rpcrdma_send_cq_wq;

static struct rpcrdma_conn *rpcrdma_send_cq_conn(struct rpcrdma_send_cq *sc)
{
	return container_of(sc, struct rpcrdma_conn, cn_send_cq);
}

/* Must the next completion be handled at once? */
static bool rpcrdma_send_cq_is_awaited(const struct rpcrdma_conn *conn)
{
	const struct rpcrdma_send_cq *sc = &conn->cn_send_cq;

	return !READ_ONCE(sc->sc_lazy) || atomic_read(&sc->sc_awaited) ||
	       READ_ONCE(conn->cn_sq.sq_nwaiting) ||
	       READ_ONCE(conn->cn_state) == RPCRDMA_CONN_DOWN;
}

static void rpcrdma_send_cq_work(struct work_struct *work)
{
	struct rpcrdma_send_cq *sc = container_of(work, struct rpcrdma_send_cq,
						  sc_work);
	struct rpcrdma_conn *conn = rpcrdma_send_cq_conn(sc);
	int done;

	done = ib_process_cq_direct(sc->sc_cq, RPCRDMA_SEND_CQ_BUDGET);
	if (done >= RPCRDMA_SEND_CQ_BUDGET ||
	    (rpcrdma_send_cq_is_awaited(conn) &&
	     ib_req_notify_cq(sc->sc_cq, IB_CQ_NEXT_COMP |
			      IB_CQ_REPORT_MISSED_EVENTS) > 0))
		queue_work(rpcrdma_send_cq_wq, &sc->sc_work);
}

static void rpcrdma_send_cq_event(struct ib_cq *cq, void *context)
{
	struct rpcrdma_conn *conn = context;

	rpcrdma_count(server_send_events);
	queue_work(rpcrdma_send_cq_wq, &conn->cn_send_cq.sc_work);
}

/**
 * rpcrdma_send_cq_create - give the send queue a completion queue of its own
 * @conn: connection with a completion queue, and without a queue pair
 * @entries: number of completions that it can hold
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
	struct rpcrdma_send_cq *sc = &conn->cn_send_cq;
	struct ib_cq *cq;

	INIT_WORK(&sc->sc_work, rpcrdma_send_cq_work);
	sc->sc_lazy = false;
	atomic_set(&sc->sc_awaited, 0);
	cq = ib_create_cq(rpcrdma_conn_device(conn), rpcrdma_send_cq_event,
			  NULL, conn, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	sc->sc_cq = cq;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

/**
 * rpcrdma_send_cq_destroy - destroy the completion queue
 * @conn: connection without a queue pair; it may have no such completion queue
 *
 * When this returns, no completion handler of the send queue runs or will run.
 *
 * Context: process; sleeps.
 */
void rpcrdma_send_cq_destroy(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *sc = &conn->cn_send_cq;

	if (!sc->sc_cq)
		return;
	/* An event that comes later finds the work disabled. */
	disable_work_sync(&sc->sc_work);
	ib_destroy_cq(sc->sc_cq);
	sc->sc_cq = NULL;
}

/**
 * rpcrdma_send_cq_relax - allow late handling of completions from now on
 * @conn: connection
 *
 * The owner then calls rpcrdma_send_cq_poll() for each message that arrives.
 *
 * Context: any.
 */
void rpcrdma_send_cq_relax(struct rpcrdma_conn *conn)
{
	if (unlikely(!READ_ONCE(conn->cn_send_cq.sc_lazy)))
		WRITE_ONCE(conn->cn_send_cq.sc_lazy, true);
}

/**
 * rpcrdma_send_cq_poll - handle the completions that are there
 * @conn: connection with queues that are not drained
 *
 * This does nothing if completions are not handled late.
 *
 * Context: process or completion workqueue; the caller holds no lock.
 */
void rpcrdma_send_cq_poll(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *sc = &conn->cn_send_cq;

	if (sc->sc_cq && READ_ONCE(sc->sc_lazy))
		ib_process_cq_direct(sc->sc_cq, RPCRDMA_SEND_CQ_BUDGET);
}

/**
 * rpcrdma_send_cq_watch - have completions handled at once that are not awaited otherwise
 * @conn: connection; somebody has just begun to wait in line for slots, or the connection
 *	is down
 *
 * Completions that are there are handled soon, and the others when they come, as long as
 * that is so.
 *
 * Context: any.
 */
void rpcrdma_send_cq_watch(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *sc = &conn->cn_send_cq;

	/* A work that is running now is queued again, and sees why it was. */
	if (sc->sc_cq)
		queue_work(rpcrdma_send_cq_wq, &sc->sc_work);
}

/**
 * rpcrdma_send_cq_await - have the completion of a work request handled at once
 * @conn: connection; the work request is about to be posted
 *
 * The completion handler calls rpcrdma_send_cq_seen(), but not after an error.
 *
 * Context: process or completion workqueue; does not sleep.
 */
void rpcrdma_send_cq_await(struct rpcrdma_conn *conn)
{
	struct rpcrdma_send_cq *sc = &conn->cn_send_cq;

	if (!sc->sc_cq)
		return;
	/* Counted before the device is asked: if an earlier completion uses up the event,
	 * the work sees the count and asks again.
	 */
	atomic_inc(&sc->sc_awaited);
	smp_mb__after_atomic();
	ib_req_notify_cq(sc->sc_cq, IB_CQ_NEXT_COMP);
}

/**
 * rpcrdma_send_cq_seen - a completion that was awaited is being handled
 * @conn: connection
 *
 * Context: completion workqueue or process.
 */
void rpcrdma_send_cq_seen(struct rpcrdma_conn *conn)
{
	if (conn->cn_send_cq.sc_cq)
		atomic_dec(&conn->cn_send_cq.sc_awaited);
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
