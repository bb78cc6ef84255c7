// SPDX-License-Identifier: GPL-2.0
/*
 * This file finds out for how long the posted RDMA Reads of a connection, or its posted Sends, have
 * made no progress. The keepalive (verbs/keepalive.c) asks this file, and ends the connection if
 * this lasts too long. RDMA Reads and Sends are judged separately, because one kind may complete
 * while the other does not.
 *
 * This file only records and compares times. It never ends a connection, and posts nothing.
 */
#include "svc_rdma.h"

/**
 * svc_rdma_posted_init - set up the lists of posted work
 * @posted: posted work of a new connection
 *
 * Context: any.
 */
void svc_rdma_posted_init(struct svc_rdma_posted *posted)
{
	INIT_LIST_HEAD(&posted->po_reading);
	INIT_LIST_HEAD(&posted->po_sending);
	posted->po_read = jiffies;
	posted->po_sent = jiffies;
}

/* Find the first Call in po_reading that does not wait for slots. In most cases, its RDMA Reads
 * were posted before those of all other Calls.
 */
static const struct svc_rdma_call *
svc_rdma_read_first(struct svc_rdma_xprt *sx)
{
	const struct svc_rdma_call *call;

	lockdep_assert_held(&sx->sx_lock);
	list_for_each_entry(call, &sx->sx_posted.po_reading, sc_list)
		if (call->sc_slots)
			return call;
	return NULL;
}

/**
 * svc_rdma_progress_sent - record that a Send has completed
 * @sx: connection
 * @send: its context
 *
 * Outstanding RDMA Reads may have been delayed by Sends that were posted before them. So if those
 * of the first Call (svc_rdma_read_first()) were not posted before @send, the completion of @send
 * counts as progress of RDMA Reads.
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_progress_sent(struct svc_rdma_xprt *sx,
			    const struct svc_rdma_send *send)
{
	const struct svc_rdma_call *call;

	WRITE_ONCE(sx->sx_posted.po_sent, jiffies);
	/* RDMA Reads that are posted after this check have not been waiting for this Send. */
	if (list_empty(&sx->sx_posted.po_reading))
		return;
	spin_lock(&sx->sx_lock);
	call = svc_rdma_read_first(sx);
	if (call && !time_before(call->sc_posted, send->ss_posted))
		sx->sx_posted.po_read = jiffies;
	spin_unlock(&sx->sx_lock);
}

/* Sets @first to the time at which the oldest Send that has not completed was posted. Sends that
 * wait for slots do not count. Returns false, and does not change @first, if there is no such Send.
 */
static bool svc_rdma_send_first(struct svc_rdma_xprt *sx, unsigned long *first)
{
	const struct svc_rdma_send *send;
	unsigned long posted;
	bool found = false;

	lockdep_assert_held(&sx->sx_lock);
	list_for_each_entry(send, &sx->sx_posted.po_sending, ss_list) {
		/* Pairs with svc_rdma_send_set_slots() */
		if (!smp_load_acquire(&send->ss_send.sd_slots))
			continue;
		posted = READ_ONCE(send->ss_posted);
		if (!found || time_before(posted, *first))
			*first = posted;
		found = true;
	}
	return found;
}

/**
 * svc_rdma_conn_waiting - ops->waiting: since when has posted work made no progress?
 * @conn: connection
 * @posted: OUT: jiffies when the oldest RDMA Read or Send that has not completed was posted
 * @since: OUT: jiffies of the last progress (po_read, po_sent), or of the posting of the oldest
 *	work if that is later. This is computed separately for RDMA Reads and for Sends, if both
 *	are outstanding. @since is then the earlier of the two times
 *
 * Work that waits for slots does not count as posted. The oldest RDMA Reads are those of the Call
 * that svc_rdma_read_first() returns.
 *
 * Context: process.
 * Return: %false if no RDMA Read and no Send is outstanding.
 */
bool svc_rdma_conn_waiting(struct rpcrdma_conn *conn, unsigned long *posted,
			   unsigned long *since)
{
	struct svc_rdma_xprt *sx = container_of(conn, struct svc_rdma_xprt,
						sx_conn);
	struct svc_rdma_posted *po = &sx->sx_posted;
	const struct svc_rdma_call *call;
	unsigned long first = jiffies;
	unsigned long oldest = first;
	unsigned long moved;
	bool waiting;

	spin_lock(&sx->sx_lock);
	waiting = svc_rdma_send_first(sx, &first);
	if (waiting)
		oldest = rpcrdma_keepalive_later(first, READ_ONCE(po->po_sent));
	call = svc_rdma_read_first(sx);
	if (call) {
		waiting = true;
		if (time_before(call->sc_posted, first))
			first = call->sc_posted;
		moved = rpcrdma_keepalive_later(call->sc_posted, po->po_read);
		if (time_before(moved, oldest))
			oldest = moved;
	}
	spin_unlock(&sx->sx_lock);
	*posted = first;
	*since = oldest;
	return waiting;
}
