// SPDX-License-Identifier: GPL-2.0
/*
 * This file tells sunrpc whether the send queue has room. The slots of the send queue, and the
 * line for them, are in verbs/sq.c; memory regions are counted in server/rw.c.
 *
 * If there are too few slots for a Reply, or for the RDMA Reads of a Call, the Reply or the Call
 * waits in the line, and its thread continues with other work. As long as the line is not empty,
 * sunrpc is told that there is no room for another Call.
 *
 * If posted RDMA Reads or Sends make no progress for progress_timeout seconds, the connection
 * fails, unless this parameter is 0: see verbs/keepalive.c. Replies and Calls that are still in
 * line are freed with the connection.
 */
#include <rpcrdma/counters.h>

#include "svc_rdma.h"

/* While a client that is not known yet (svc_rdma_is_known()) uses this number of send queue slots
 * or more, sunrpc is told that there is no room for another of its Calls.
 */
#define SVC_RDMA_UNKNOWN_SLOTS	8u

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
	WRITE_ONCE(sx->sx_refused, true);
	/* Order sx_refused before the second look at the slots. Pairs with
	 * svc_rdma_slots_release(): at least one side sees the other's change.
	 */
	smp_mb();
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
	 * contains the barrier.
	 */
	if (unlikely(READ_ONCE(sx->sx_refused))) {
		WRITE_ONCE(sx->sx_refused, false);
		svc_rdma_enqueue(sx);
	}
}
