// SPDX-License-Identifier: GPL-2.0
/*
 * Client: RPC slots and their buffers.
 *
 * This file owns slots while sunrpc has none of them, and their memory. It never
 * sends anything: it has others undo what an RPC that ends has left.
 *
 * Operation
 *
 * One slot is made with the transport, any other when it is first needed, and then
 * kept; there are never more than xprt->max_reqs. Its Call and Reply buffer is kept
 * as well and only grows, so an RPC in the steady state allocates nothing.
 *
 * The buffer is ordinary memory that no device knows, except while a Long
 * Message has it registered. A Send carries a copy of what goes inline, so a
 * slot can be given to the next RPC without asking whether the last Send is
 * finished. What has to be finished is access by the server: slots are free
 * only with rr_mrs empty (invariant I3).
 */
#include <linux/slab.h>
#include <linux/sunrpc/sched.h>

#include "trace.h"
#include "xprt_rdma.h"

/**
 * xprt_rdma_req_create - make a slot
 * @gfp: how to allocate
 *
 * Context: process; may sleep if @gfp says so.
 * Return: the slot, or NULL.
 */
struct xprt_rdma_req *xprt_rdma_req_create(gfp_t gfp)
{
	struct xprt_rdma_req *req = kzalloc(sizeof(*req), gfp);

	if (!req)
		return NULL;
	INIT_LIST_HEAD(&req->rr_free);
	INIT_LIST_HEAD(&req->rr_all);
	INIT_LIST_HEAD(&req->rr_mrs);
	init_completion(&req->rr_fenced);
	req->rr_read.of_out.co_segs = req->rr_read.of_segs;
	req->rr_write.of_out.co_segs = req->rr_write.of_segs;
	return req;
}

/* A slot for Calls, with a buffer that most of them fit into */
static struct xprt_rdma_req *xprt_rdma_req_make(gfp_t gfp)
{
	struct xprt_rdma_req *req = xprt_rdma_req_create(gfp);

	if (!req)
		return NULL;
	req->rr_buf = kmalloc(XPRT_RDMA_BUF_SIZE, gfp);
	if (req->rr_buf) {
		req->rr_buf_size = XPRT_RDMA_BUF_SIZE;
		return req;
	}
	xprt_rdma_req_destroy(req);
	return NULL;
}

/**
 * xprt_rdma_req_reserve - make the first slot
 * @xr: transport that nobody uses yet
 *
 * With it one RPC at a time gets through when there is no memory for more.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_req_reserve(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req = xprt_rdma_req_make(GFP_KERNEL);

	if (!req)
		return -ENOMEM;
	list_add(&req->rr_all, &xr->xr_req_all);
	list_add(&req->rr_free, &xr->xr_req_free);
	xr->xr_nreqs = 1;
	return 0;
}

/**
 * xprt_rdma_req_destroy - free a slot
 * @req: slot nobody uses; it has no registered memory
 *
 * Context: any.
 */
void xprt_rdma_req_destroy(struct xprt_rdma_req *req)
{
	xprt_rdma_bounce_put(&req->rr_call_copy);
	xprt_rdma_bounce_put(&req->rr_reply_copy);
	kfree(req->rr_buf);
	kfree(req);
}

/**
 * xprt_rdma_req_destroy_all - free all slots of a transport
 * @xr: transport that is going away
 *
 * Context: process; sunrpc uses no slot any more.
 */
void xprt_rdma_req_destroy_all(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req, *next;

	list_for_each_entry_safe(req, next, &xr->xr_req_all, rr_all) {
		list_del(&req->rr_all);
		xprt_rdma_req_destroy(req);
	}
	INIT_LIST_HEAD(&xr->xr_req_free);
	xr->xr_nreqs = 0;
}

static struct xprt_rdma_req *xprt_rdma_req_fencing(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req, *found = NULL;

	spin_lock(&xr->xr_xprt.reserve_lock);
	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		if (!atomic_read(&req->rr_fencing))
			continue;
		found = req;
		break;
	}
	spin_unlock(&xr->xr_xprt.reserve_lock);
	return found;
}

/**
 * xprt_rdma_req_end_fences - end the fences that have not completed
 * @xr: transport whose connection has no queues any more
 *
 * Otherwise their RPCs would wait for ever. (siw forgets what is queued behind a
 * request that failed, if the connection is closed before the peer has heard.)
 *
 * Context: process; sleeps. Send lock held.
 */
void xprt_rdma_req_end_fences(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req;

	/* It is pinned, or waits for this: it stays. */
	while ((req = xprt_rdma_req_fencing(xr)))
		xprt_rdma_frwr_fence_lost(req);
}

/**
 * xprt_rdma_req_reset_all - no RPC has been sent on the next connection
 * @xr: transport whose connection has no queues any more
 *
 * What was sent, or parked, is going to be sent again (invariants I7, I31), and
 * takes a credit anew (I16).
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_req_reset_all(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;

	spin_lock(&xprt->reserve_lock);
	spin_lock(&xr->xr_send_lock);
	spin_lock(&xprt->transport_lock);
	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		req->rr_sent = false;
		req->rr_parked = NULL;
	}
	rpcrdma_sq_close(&xr->xr_conn.cn_sq);
	xprt_rdma_credit_reset_locked(xr);
	spin_unlock(&xprt->transport_lock);
	spin_unlock(&xr->xr_send_lock);
	spin_unlock(&xprt->reserve_lock);
}

static struct xprt_rdma_req *xprt_rdma_req_pop(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req;

	req = list_first_entry_or_null(&xr->xr_req_free, struct xprt_rdma_req,
				       rr_free);
	if (req)
		list_del_init(&req->rr_free);
	return req;
}

/* Drops and retakes reserve_lock, because allocating may sleep. */
static struct xprt_rdma_req *xprt_rdma_req_grow(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;

	xr->xr_nreqs++;
	spin_unlock(&xprt->reserve_lock);
	req = xprt_rdma_req_make(rpc_task_gfp_mask());
	spin_lock(&xprt->reserve_lock);
	if (req)
		list_add(&req->rr_all, &xr->xr_req_all);
	else
		xr->xr_nreqs--;
	return req;
}

/**
 * xprt_rdma_req_alloc_slot - find a slot for an RPC
 * @xprt: transport
 * @task: RPC; its tk_rqstp or tk_status is set
 *
 * tk_status becomes 0; %-EAGAIN when the task was put on the backlog; or
 * %-ENOMEM, and sunrpc asks again later.
 *
 * Context: process; may sleep.
 */
void xprt_rdma_req_alloc_slot(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req;

	spin_lock(&xprt->reserve_lock);
	req = xprt_rdma_req_pop(xr);
	if (!req && xr->xr_nreqs < xprt->max_reqs) {
		req = xprt_rdma_req_grow(xr);
		if (!req) {
			trace_xprt_rdma_no_slot(xr, -ENOMEM);
			task->tk_status = -ENOMEM;
			goto out_unlock;
		}
	}
	if (!req) {
		/* The lock keeps a slot from being freed between the look
		 * at the pool and joining the queue that it is offered to.
		 */
		xprt_add_backlog(xprt, task);
		task->tk_status = -EAGAIN;
		goto out_unlock;
	}
	task->tk_rqstp = &req->rr_slot;
	task->tk_status = 0;
	xprt->stat.max_slots = max_t(unsigned int, xprt->stat.max_slots,
				     xr->xr_nreqs);
out_unlock:
	spin_unlock(&xprt->reserve_lock);
}

/**
 * xprt_rdma_req_free_slot - take a slot back, or pass it to the next in line
 * @xprt: transport
 * @rqst: slot
 *
 * Context: process.
 */
void xprt_rdma_req_free_slot(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));	/* I3 */
	req->rr_sent = false;
	req->rr_doomed = false;
	req->rr_resend = false;
	memset(&req->rr_retry, 0, sizeof(req->rr_retry));

	spin_lock(&xprt->reserve_lock);
	if (!xprt_wake_up_backlog(xprt, rqst)) {
		memset(rqst, 0, sizeof(*rqst));
		list_add(&req->rr_free, &xr->xr_req_free);
	}
	spin_unlock(&xprt->reserve_lock);

	/* All credits are with RPCs that were given up. Should no Reply come
	 * to them, nobody would notice: start over.
	 */
	if (unlikely(xprt_rdma_credit_is_stuck(xr)))
		xprt_force_disconnect(xprt);
}

/**
 * xprt_rdma_req_alloc_buf - provide an RPC's Call and Reply buffers
 * @task: RPC with a slot; rq_callsize and rq_rcvsize say how much, in bytes
 *
 * Context: process; may sleep.
 * Return: 0, or %-ENOMEM and sunrpc asks again later.
 */
int xprt_rdma_req_alloc_buf(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	struct xprt_rdma *xr = xprt_rdma_from(rqst->rq_xprt);
	size_t size = rqst->rq_callsize + rqst->rq_rcvsize;
	void *buf;

	if (size > req->rr_buf_size) {
		size = roundup_pow_of_two(size);
		buf = kmalloc(size, rpc_task_gfp_mask());
		if (!buf) {
			trace_xprt_rdma_no_slot(xr, -ENOMEM);
			return -ENOMEM;
		}
		atomic_long_add(size - req->rr_buf_size,
				&xr->xr_stats.cs_hardway);
		kfree(req->rr_buf);
		req->rr_buf = buf;
		req->rr_buf_size = size;
	}
	rqst->rq_buffer = req->rr_buf;
	rqst->rq_rbuffer = req->rr_buf + rqst->rq_callsize;
	return 0;
}

/**
 * xprt_rdma_req_free_buf - the RPC needs its buffers no longer
 * @task: RPC; it ended with a Reply, with an error, or by a signal
 *
 * An RPC that ends without a Reply may have left memory registered: it is
 * taken away from the server here, before sunrpc and its callers get the
 * pages back (RFC 8166 4.4.1).
 *
 * Context: process; sleeps if there is something to take away.
 */
void xprt_rdma_req_free_buf(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	/* Pairs with xprt_rdma_send_unpark_locked() */
	if (unlikely(smp_load_acquire(&req->rr_parked)))
		xprt_rdma_send_forget(xprt_rdma_from(rqst->rq_xprt), req);
	if (unlikely(!list_empty(&req->rr_mrs)))
		xprt_rdma_frwr_fence(xprt_rdma_from(rqst->rq_xprt), req);
	xprt_rdma_bounce_put(&req->rr_call_copy);
	xprt_rdma_bounce_put(&req->rr_reply_copy);
}
