// SPDX-License-Identifier: GPL-2.0
/*
 * Progress: does the work that a connection has posted complete? The keepalive asks
 * (verbs/keepalive.c), and ends a connection that makes no progress. RDMA Reads and
 * Sends are judged separately, because one kind may complete while the other does not.
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

/* Find the Call whose RDMA Reads were posted first. Calls that wait for slots are skipped. */
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
 * If all outstanding RDMA Reads were posted after the Send, this is progress for them, too.
 *
 * Context: under sx_lock.
 */
void svc_rdma_progress_sent(struct svc_rdma_xprt *sx,
			    const struct svc_rdma_send *send)
{
	const struct svc_rdma_call *call = svc_rdma_read_first(sx);

	sx->sx_posted.po_sent = jiffies;
	if (call && !time_before(call->sc_posted, send->ss_posted))
		sx->sx_posted.po_read = jiffies;
}

/**
 * svc_rdma_conn_waiting - ops->waiting: does posted work complete?
 * @conn: connection
 * @posted: OUT: jiffies when the oldest work that has not completed was posted
 * @since: OUT: jiffies of the last completion, or of the posting of the oldest work if that is
 *	later. This is computed separately for RDMA Reads and for Sends, and the earlier of
 *	the two times is returned: one kind may complete while the other does not
 *
 * Work that waits for slots does not count as posted.
 *
 * Context: process.
 * Return: %false if nothing is posted.
 */
bool svc_rdma_conn_waiting(struct rpcrdma_conn *conn, unsigned long *posted,
			   unsigned long *since)
{
	struct svc_rdma_xprt *sx = container_of(conn, struct svc_rdma_xprt,
						sx_conn);
	struct svc_rdma_posted *po = &sx->sx_posted;
	const struct svc_rdma_send *send;
	const struct svc_rdma_call *call;
	unsigned long first = jiffies;
	unsigned long oldest = first;
	bool waiting = false;
	unsigned long moved;

	spin_lock(&sx->sx_lock);
	list_for_each_entry(send, &po->po_sending, ss_send.sd_list) {
		if (!send->ss_send.sd_slots)
			continue;
		waiting = true;
		first = send->ss_posted;
		oldest = rpcrdma_keepalive_later(send->ss_posted, po->po_sent);
		break;
	}
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
