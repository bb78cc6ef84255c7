// SPDX-License-Identifier: GPL-2.0
/*
 * Work for threads: messages that have arrived, Calls whose RDMA Reads are complete, and Calls that
 * wait until their RDMA Reads may begin. This file owns the queues of these three kinds of work,
 * and XPT_DATA. It never looks into a message. It posts nothing itself, but work that waits in line
 * may be posted when slots are given back (svc_rdma_slots_release()).
 *
 * XPT_DATA is set while a thread would find work in the queues. (It may be out of date for a
 * while: see invariant I11 in Documentation/locking.rst.) Whoever adds work sets XPT_DATA
 * afterwards. The thread that takes the last entry clears it, so that no other thread is woken for
 * nothing, and then looks for work once more. svc_rdma_queue_wake() may also be called to wake a
 * thread for work that is in no queue, such as adding Receives for callbacks.
 *
 * Most work consists of messages, which need no lock. Completion handlers, which often run in
 * softirq, add messages to qu_received. sunrpc lets one thread at a time take work of a connection
 * (XPT_BUSY). If qu_taken is empty, this thread moves to it all messages in qu_received, in the
 * order of their arrival.
 *
 * "To pull" a Call is to fetch its chunks by RDMA Read. A pulled Call takes memory before its
 * credentials are checked, so this memory is limited (server/budget.c). A Call that may not be
 * pulled yet, or finds another one waiting, waits in qu_waiting. There it also waits for memory
 * regions. A connection may always pull one Call. So a Call never waits for other connections: when
 * a Call of this connection is freed, or regions become free, svc_rdma_pull_next() makes sure that
 * a thread takes the first Call in qu_waiting if this Call can be pulled now.
 *
 * This file also tells sunrpc whether the send queue has room. The slots of the send queue, and
 * the line for them, are in verbs/send.c; memory regions are counted in server/rw.c. If there
 * are too few slots for a Reply, or for the RDMA Reads of a Call, the Reply or the Call waits in
 * the line, and its thread continues with other work. As long as the line is not empty, sunrpc
 * is told that there is no room for another Call. If posted RDMA Reads or Sends make no progress
 * for progress_timeout seconds, the connection fails, unless this parameter is 0: see
 * verbs/keepalive.c. Replies and Calls that are still in line are freed with the connection.
 */
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

/* While a client that is not known yet (svc_rdma_is_known()) uses this number of send queue slots
 * or more, sunrpc is told that there is no room for another of its Calls.
 */
#define SVC_RDMA_UNKNOWN_SLOTS	8u

/* Returns the first Call in qu_waiting if it can be pulled now. If @take is true, removes it from
 * the list, and counts its pages.
 */
static struct svc_rdma_call *svc_rdma_pull_first(struct svc_rdma_xprt *sx,
						 bool take)
{
	struct svc_rdma_call *call;

	lockdep_assert_held(&sx->sx_lock);
	call = list_first_entry_or_null(&sx->sx_queue.qu_waiting,
					struct svc_rdma_call, sc_list);
	if (!call || atomic_read(&sx->sx_mrs_free) < (int)call->sc_mrs ||
	    !svc_rdma_budget_pull(call, take))
		return NULL;
	if (take)
		list_del(&call->sc_list);
	return call;
}

/**
 * svc_rdma_queue_wake - wake a thread
 * @sx: connection. Before this call, the caller has added work, has found that the first Call in
 *	qu_waiting can be pulled, or has set something in @sx that svc_rdma_recvfrom() checks after
 *	svc_rdma_dequeue(), such as bw_short
 *
 * No thread takes work before the connection is accepted, because sunrpc keeps XPT_BUSY set until
 * then.
 *
 * Context: process, completion workqueue or softirq.
 */
void svc_rdma_queue_wake(struct svc_rdma_xprt *sx)
{
	/* Order the change before XPT_DATA. Pairs with svc_rdma_dequeue(). */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
	svc_rdma_enqueue(sx);
}

/**
 * svc_rdma_receive - ops->receive: a message has arrived
 * @conn: connection
 * @msg: message
 *
 * Context: softirq or completion workqueue.
 */
void svc_rdma_receive(struct rpcrdma_conn *conn, struct rpcrdma_msg_in *msg)
{
	struct svc_rdma_xprt *sx = container_of(conn, struct svc_rdma_xprt,
						sx_conn);

	rpcrdma_count(server_receives);
	trace_svc_rdma_receive(sx, rpcrdma_msg_cid(msg), rpcrdma_msg_len(msg));
	llist_add(&msg->mi_next, &sx->sx_queue.qu_received);
	svc_rdma_queue_wake(sx);
}

/* Take a Call that is complete, or one that may be pulled now. Returns NULL if there is none. */
static struct svc_rdma_call *svc_rdma_take_read(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_call *call;

	/* An entry that is added after this check is not lost: see svc_rdma_dequeue(). */
	if (likely(list_empty(&queue->qu_complete) &&
		   list_empty(&queue->qu_waiting)))
		return NULL;
	spin_lock(&sx->sx_lock);
	call = list_first_entry_or_null(&queue->qu_complete,
					struct svc_rdma_call, sc_list);
	if (call)
		list_del(&call->sc_list);
	else
		call = svc_rdma_pull_first(sx, true);
	spin_unlock(&sx->sx_lock);
	return call;
}

/* Take the message that has arrived first. Returns NULL if there is none. */
static struct rpcrdma_msg_in *svc_rdma_take_received(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_stats *stats = &sx->sx_stats;
	struct rpcrdma_msg_in *msg;

	if (!queue->qu_taken) {
		queue->qu_taken = llist_del_all(&queue->qu_received);
		queue->qu_taken = llist_reverse_order(queue->qu_taken);
	}
	if (!queue->qu_taken)
		return NULL;
	msg = llist_entry(queue->qu_taken, struct rpcrdma_msg_in, mi_next);
	queue->qu_taken = msg->mi_next.next;
	WRITE_ONCE(stats->vs_received,
		   stats->vs_received + rpcrdma_msg_recvs(msg));
	return msg;
}

/* Can the first Call in qu_waiting be pulled now? */
static bool svc_rdma_can_pull(struct svc_rdma_xprt *sx)
{
	bool can;

	if (likely(list_empty(&sx->sx_queue.qu_waiting)))
		return false;
	spin_lock(&sx->sx_lock);
	can = svc_rdma_pull_first(sx, false);
	spin_unlock(&sx->sx_lock);
	return can;
}

static bool svc_rdma_queue_has_work(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;

	return queue->qu_taken || !llist_empty(&queue->qu_received) ||
	       !list_empty(&queue->qu_complete) || svc_rdma_can_pull(sx);
}

/**
 * svc_rdma_dequeue - take the next piece of work
 * @sx: connection
 * @call: OUT: a Call that is complete; or one whose RDMA Reads are to be posted now, and
 *	then sc_pages is NULL; or NULL
 * @msg: OUT: if *@call is NULL, a message, or NULL if there is no work
 *
 * Context: process; the caller holds XPT_BUSY.
 */
void svc_rdma_dequeue(struct svc_rdma_xprt *sx, struct svc_rdma_call **call,
		      struct rpcrdma_msg_in **msg)
{
	*call = svc_rdma_take_read(sx);
	*msg = *call ? NULL : svc_rdma_take_received(sx);

	/* Clear XPT_DATA if no work is left. If work is added after the first check, either the
	 * second check finds it, or svc_rdma_queue_wake() sets XPT_DATA after it was cleared.
	 */
	if (svc_rdma_queue_has_work(sx))
		return;
	clear_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
	/* Pairs with svc_rdma_queue_wake() */
	smp_mb__after_atomic();
	if (unlikely(svc_rdma_queue_has_work(sx)))
		set_bit(XPT_DATA, &sx->sx_xprt.xpt_flags);
}

/**
 * svc_rdma_queue_drop - drop the messages that no thread has taken
 * @sx: connection whose queue pair was destroyed, so that nothing arrives
 *
 * Context: process. Nobody else uses the queues.
 */
void svc_rdma_queue_drop(struct svc_rdma_xprt *sx)
{
	struct rpcrdma_msg_in *msg;

	while ((msg = svc_rdma_take_received(sx)))
		rpcrdma_msg_drop(msg);
}

/**
 * svc_rdma_pull_begin - ask for permission to pull a Call, that is, to read its chunks by RDMA
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
	smp_mb();	/* before the look at the regions; pairs with svc_rdma_pull_next() */
	first = first && svc_rdma_pull_first(sx, true);
	spin_unlock(&sx->sx_lock);
	if (!first)
		rpcrdma_count(server_pull_waits);
	return first;
}

/**
 * svc_rdma_pull_next - wake a thread if the next waiting Call can be pulled
 * @sx: connection that has freed pages of a Call or memory regions
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_pull_next(struct svc_rdma_xprt *sx)
{
	/* Order the release of pages or regions before the check of qu_waiting. */
	smp_mb();
	if (svc_rdma_can_pull(sx))
		svc_rdma_queue_wake(sx);
}

/**
 * svc_rdma_pull_again - let a Call wait for memory regions
 * @call: Call that may be pulled, according to svc_rdma_pull_begin() or svc_rdma_dequeue(). It
 *	becomes the first entry of qu_waiting, which owns it afterwards, and is pulled when sc_mrs
 *	regions are free
 *
 * Context: process.
 */
void svc_rdma_pull_again(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	rpcrdma_count(server_pull_waits);
	svc_rdma_budget_count(call, 0);
	spin_lock(&sx->sx_lock);
	list_add(&call->sc_list, &sx->sx_queue.qu_waiting);
	spin_unlock(&sx->sx_lock);
	/* The regions may have become free meanwhile. */
	svc_rdma_pull_next(sx);
}

static bool svc_rdma_has_slots(const struct svc_rdma_xprt *sx)
{
	const struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;
	u32 most = svc_rdma_is_known(sx) ? U32_MAX : SVC_RDMA_UNKNOWN_SLOTS;

	return !READ_ONCE(sq->sq_nwaiting) && rpcrdma_sq_used(sq) < most;
}

/**
 * svc_rdma_has_wspace - xpo_has_wspace: may another Call be given to a thread?
 * @xprt: connection
 *
 * There is no room while anything waits in line for slots, or while a client that is not known
 * yet uses %SVC_RDMA_UNKNOWN_SLOTS slots or more.
 *
 * Context: any.
 * Return: 0 if there is no room, and then svc_rdma_slots_release() tells sunrpc to ask again later;
 *	otherwise 1.
 */
int svc_rdma_has_wspace(struct svc_xprt *xprt)
{
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt);

	if (likely(svc_rdma_has_slots(sx)))
		return 1;
	/* A full barrier, behind XPT_DATA and before the second look at the slots. Pairs with
	 * svc_rdma_slots_release() and svc_rdma_slots_wait().
	 */
	xchg(&sx->sx_refused, true);
	return svc_rdma_has_slots(sx);
}

/**
 * svc_rdma_slots_wait - wait in line for send queue slots
 * @sx: connection
 * @waiter: waiter; the line owns it until wt_ready() is called, see rpcrdma_sq_join()
 *
 * Context: process or completion workqueue; does not sleep. The caller holds no spinlock,
 *	because wt_ready() posts work requests.
 */
void svc_rdma_slots_wait(struct svc_rdma_xprt *sx,
			 struct rpcrdma_sq_waiter *waiter)
{
	struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;

	if (!rpcrdma_sq_is_closed(sq))
		rpcrdma_count(server_sq_waits);
	rpcrdma_sq_join(sq, waiter);
	rpcrdma_send_cq_watch(&sx->sx_conn);
	/* The waiter may have left the line again. If svc_rdma_has_wspace() has seen it there,
	 * nobody else would tell sunrpc. rpcrdma_send_cq_watch() was a full barrier.
	 */
	svc_rdma_enqueue(sx);
}

/**
 * svc_rdma_slots_release - give send queue slots back
 * @sx: connection
 * @slots: number of slots; may be 0
 *
 * Context: process or completion workqueue. The caller holds no spinlock, because the work
 *	requests of a waiter that gets the slots are posted at once.
 */
void svc_rdma_slots_release(struct svc_rdma_xprt *sx, u32 slots)
{
	struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;

	if (!slots)
		return;
	if (unlikely(rpcrdma_sq_release(sq, slots))) {
		rpcrdma_sq_serve(sq);
		/* rpcrdma_sq_serve() may have emptied the line. Order that before the
		 * check of sx_refused.
		 */
		smp_mb();
	}
	/* Pairs with svc_rdma_has_wspace(). If the line was empty, rpcrdma_sq_release()
	 * contains the barrier. sunrpc looks for work behind xchg(), also a full barrier: so if
	 * svc_rdma_has_wspace() has set sx_refused just now, sunrpc sees why.
	 */
	if (unlikely(READ_ONCE(sx->sx_refused)) && xchg(&sx->sx_refused, false))
		svc_rdma_enqueue(sx);
}
