// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions for RDMA Reads, on devices that need or prefer them (dc_read_mrs). This
 * file creates the regions of a connection when they are needed, and counts how many there are
 * and how many are free. The regions themselves are in the queue pair's pool, from which rdma_rw
 * of the RDMA core takes them. This file does not know what is read.
 *
 * No thread waits for regions: a Call that finds too few waits in server/queue.c until other
 * Calls return theirs. All regions of a chain of RDMA Reads are reserved at once, and before its
 * send queue slots (invariant I9).
 */
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/mr_pool.h>

#include "svc_rdma.h"

/* Reserve @count regions, without a lock. Returns false, and reserves none, if fewer are free, or
 * if rpcrdma_sq_close() was called because the connection ends.
 */
static bool svc_rdma_mrs_try(struct svc_rdma_xprt *sx, u32 count)
{
	return !rpcrdma_sq_is_closed(&sx->sx_conn.cn_sq) &&
	       rpcrdma_take(&sx->sx_mrs.ms_free, count, 0);
}

/* Add one region. A new connection has no regions, and gets them only when it needs them, because
 * most connections never need many. The region joins the pool of the queue pair (rdma_mrs),
 * from which rdma_rw takes regions, and is destroyed with the queue pair. It is first created
 * in a separate pool, because ib_mr_pool_init() destroys all regions of the pool if it fails.
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
	/* The region is in the pool before it is counted as free. The pool's lock makes it
	 * visible to any task that takes a region.
	 */
	atomic_inc(&mrs->ms_free);
	return 0;
}

/* Try to add *@count regions, up to the maximum (sz_read_mrs). Afterwards the connection may
 * still have fewer than *@count regions in all. On iWARP that is an error. On other devices,
 * rdma_rw of newer kernels can work without regions, so *@count is lowered to the number of
 * regions. (With older kernels, building the chain then fails, and the connection is closed.)
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
 * @count: number of regions; may be 0
 *
 * Context: process or completion workqueue. The caller holds no spinlock, because this may
 *	take sx_lock and call sunrpc: see svc_rdma_pull_next().
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
 * @contexts: maximum number of rdma_rw contexts in the chain
 * @reserved: OUT: number of regions reserved; unchanged if dc_read_mrs is not set, and on
 *	error
 * @short_of: OUT: after %-EAGAIN, number of regions that have to be free
 *
 * On iWARP, the response to an RDMA Read carries a tag of the memory that it fills. So this memory
 * must be in a region. Other devices may prefer regions for large RDMA Reads. All regions are
 * reserved at once: Calls that hold some regions while they wait for more could deadlock.
 *
 * If too few are free, this tries to add as many regions as the chain needs, up to the
 * maximum. If the connection has fewer than the chain needs even then, this fails on iWARP. On
 * other devices this reserves only as many regions as exist, because rdma_rw can also work
 * without regions.
 *
 * Context: process; sleeps.
 * Return: 0; %-EMSGSIZE if @contexts exceeds the maximum; %-ENOTCONN if the connection is down,
 *	and too few regions are free or the send queue is closed; on iWARP, the error of
 *	ib_mr_pool_init() if fewer regions exist than the chain needs; or %-EAGAIN if as many
 *	regions exist as this tries to reserve, but too few are free or the send queue is closed.
 *	After %-EAGAIN the caller has to try again when *@short_of regions are free.
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
