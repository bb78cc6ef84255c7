// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions for RDMA Reads, on fabrics that need them: counts those that a
 * connection has and those that are free, and makes more. The core takes the regions
 * themselves from the pool of the queue pair (rdma_rw). This file knows nothing of
 * what is read.
 *
 * Nobody waits in here: a Call that finds too few waits in server/queue.c until those
 * of others come back. Chains of RDMA Reads get their regions in one go, before send
 * queue slots (invariant I9).
 */
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/mr_pool.h>

#include "svc_rdma.h"

/* Regions are handed out as long as slots are: without a lock, and nothing once the
 * send queue is closed. The line for them is in server/queue.c, where a Call also
 * waits for bytes.
 */
static bool svc_rdma_mrs_try(struct svc_rdma_xprt *sx, u32 count)
{
	return !rpcrdma_sq_is_closed(&sx->sx_conn.cn_sq) &&
	       rpcrdma_take(&sx->sx_mrs.ms_free, count, 0);
}

/* Most connections never need many regions, so there is none to begin with. Each
 * joins the pool that the core takes them from, and ends with the queue pair. It is
 * made in a pool of its own: ib_mr_pool_init() destroys all in the pool if it fails.
 */
static int svc_rdma_mrs_add(struct svc_rdma_xprt *sx)
{
	struct ib_qp *qp = sx->sx_conn.cn_id->qp;
	struct svc_rdma_mrs *mrs = &sx->sx_mrs;
	LIST_HEAD(fresh);
	int rc;

	rc = ib_mr_pool_init(qp, &fresh, 1, IB_MR_TYPE_MEM_REG,
			     sx->sx_rw.rl_pages, 0);
	if (rc)
		return rc;

	ib_mr_pool_put(qp, &qp->rdma_mrs, ib_mr_pool_get(qp, &fresh));

	WRITE_ONCE(mrs->ms_size, mrs->ms_size + 1);
	/* Whoever takes it finds it: the lock of the core's pool sees to that. */
	atomic_inc(&mrs->ms_free);
	return 0;
}

/* Tries to have *@count regions more, up to the maximum. Fewer than *@count in all
 * is an error on iWARP. Elsewhere the core does without where there is none, and
 * *@count becomes what there is.
 */
static int svc_rdma_mrs_grow(struct svc_rdma_xprt *sx, u32 *count)
{
	u32 room, i;
	int rc = 0;

	mutex_lock(&sx->sx_grow);
	room = sx->sx_sizes.sz_read_mrs - sx->sx_mrs.ms_size;
	for (i = 0; !rc && i < min(*count, room); i++)
		rc = svc_rdma_mrs_add(sx);
	if (!sx->sx_conn.cn_caps.dc_iwarp)
		*count = min(*count, sx->sx_mrs.ms_size);
	if (sx->sx_mrs.ms_size >= *count)
		rc = 0;
	mutex_unlock(&sx->sx_grow);
	return rc;
}

/**
 * svc_rdma_mrs_release - give regions back
 * @sx: connection
 * @count: how many; 0 is fine
 *
 * Context: process or completion workqueue, no lock held: a Call that waits for them
 *	is given to a thread.
 */
void svc_rdma_mrs_release(struct svc_rdma_xprt *sx, u32 count)
{
	if (!count)
		return;
	atomic_add(count, &sx->sx_mrs.ms_free);
	svc_rdma_pull_next(sx);
}

/**
 * svc_rdma_mrs_reserve - reserve memory regions for a chain of RDMA Reads
 * @sx: connection
 * @contexts: contexts the chain will have at most
 * @reserved: OUT: how many regions the caller has now; untouched if none are needed,
 *	and on error
 * @short_of: OUT: how many regions have to be free, after %-EAGAIN
 *
 * iWARP names the sink of an RDMA Read by a tag that the peer writes to: it
 * takes a region each. Other devices prefer that for large Reads. All are reserved at
 * once: a Call that holds some while it waits for more could deadlock. If there are
 * too few, as many as are wanted are made, while there may be more; if that fails,
 * those there are have to do, if they are enough and come back.
 *
 * Context: process; sleeps.
 * Return: 0; %-ENOTCONN; %-EAGAIN if others have them, and the caller tries again when
 *	they have come back; %-EMSGSIZE if there can never be so many; or what
 *	making a region has returned, and there are too few.
 */
int svc_rdma_mrs_reserve(struct svc_rdma_xprt *sx, u64 contexts, u32 *reserved,
			 u32 *short_of)
{
	u32 count = contexts;
	int rc;

	if (!sx->sx_conn.cn_caps.dc_read_mrs)
		return 0;
	if (contexts > sx->sx_sizes.sz_read_mrs)
		return -EMSGSIZE;
	if (unlikely(!svc_rdma_mrs_try(sx, count))) {
		if (svc_rdma_is_down(sx))
			return -ENOTCONN;
		rc = svc_rdma_mrs_grow(sx, &count);
		if (rc)
			return rc;
		if (!svc_rdma_mrs_try(sx, count)) {
			*short_of = count;
			return -EAGAIN;
		}
	}
	*reserved = count;
	return 0;
}
