// SPDX-License-Identifier: GPL-2.0
/*
 * Client: RPC slots and their buffers, and the number of Receives for Replies.
 *
 * This file owns the memory of the slots for Calls, and each slot while sunrpc does not use the
 * slot. Slots for callbacks belong to backchannel.c. This file never sends anything. An RPC that
 * ends may still have regions, or pages that are being sent. This file then calls functions of
 * other files to release them.
 *
 * Operation
 *
 * Two slots are created with the transport. Other slots are created when they are first
 * needed, and are then kept. There are never more than xprt->max_reqs slots. The Call and
 * Reply buffer of a slot is kept as well, and only grows. So most RPCs allocate no slot and no
 * buffer.
 *
 * The device uses the buffer only if it is registered for a Long Call or a Long Reply. A
 * Send has a copy of the inline message. So a slot can be given to the next RPC even if the
 * Send of its last RPC has not completed. But the server's access to the memory of the last
 * RPC must have ended, and Sends that gather data from its pages must have completed (I2).
 *
 * The Receives for a Reply are posted before the Call is sent (RFC 8166 3.3.1). Unless a Reply is
 * a group (rtx.h), it takes one Receive. When more Replies are expected than
 * there are Receives, the number of Receives is at least doubled, but not above the maximum. Most
 * connections never need the maximum. The memory for the Receives is limited, and the client
 * requests no more credits than it can have Receives for. For the Receives of a Reply beyond the
 * first, there are spare Receives, which are created when a Call first needs some.
 */
#include <linux/slab.h>
#include <linux/sunrpc/sched.h>

#include "trace.h"
#include "xprt_rdma.h"

/**
 * xprt_rdma_req_create - create a slot
 * @size: size of its buffer in bytes
 * @gfp: allocation flags
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: the slot, or NULL.
 */
struct xprt_rdma_req *xprt_rdma_req_create(size_t size, gfp_t gfp)
{
	struct xprt_rdma_req *req = kzalloc(sizeof(*req), gfp);

	if (!req)
		return NULL;
	INIT_LIST_HEAD(&req->rr_free);
	INIT_LIST_HEAD(&req->rr_all);
	INIT_LIST_HEAD(&req->rr_mrs);
	req->rr_read.of_out.co_segs = req->rr_read.of_segs;
	req->rr_write.of_out.co_segs = req->rr_write.of_segs;
	req->rr_buf_size = size;
	req->rr_buf = kmalloc(size, gfp);
	req->rr_pad = kzalloc(L1_CACHE_BYTES, gfp);
	if (req->rr_buf && req->rr_pad)
		return req;
	xprt_rdma_req_destroy(req);
	return NULL;
}

/**
 * xprt_rdma_req_reserve - create the first slots
 * @xr: transport that nobody uses yet
 *
 * With these slots, RPCs can be sent even if there is no memory for more slots. There are as many
 * as with TCP: while one WRITE waits until the server has recalled a delegation, the DELEGRETURN
 * needs another slot.
 *
 * Context: process; sleeps.
 * Return: 0; or %-ENOMEM, and xprt_rdma_req_destroy_all() frees the slots.
 */
int xprt_rdma_req_reserve(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req;

	while (xr->xr_nreqs < RPC_MIN_SLOT_TABLE) {
		req = xprt_rdma_req_create(XPRT_RDMA_BUF_SIZE, GFP_KERNEL);
		if (!req)
			return -ENOMEM;
		list_add(&req->rr_all, &xr->xr_req_all);
		list_add(&req->rr_free, &xr->xr_req_free);
		xr->xr_nreqs++;
	}
	return 0;
}

/**
 * xprt_rdma_req_destroy - free a slot
 * @req: slot that is not in use, and has no registered memory
 *
 * Context: process or completion workqueue.
 */
void xprt_rdma_req_destroy(struct xprt_rdma_req *req)
{
	kfree(req->rr_pad);
	kfree(req->rr_buf);
	kfree(req);
}

/**
 * xprt_rdma_req_destroy_all - free all slots of a transport
 * @xr: transport that is being destroyed
 *
 * Context: process; sunrpc no longer uses any slot.
 */
void xprt_rdma_req_destroy_all(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req, *next;

	list_for_each_entry_safe(req, next, &xr->xr_req_all, rr_all)
		xprt_rdma_req_destroy(req);
}

/**
 * xprt_rdma_req_reset_all - take away from all RPCs what belongs to a connection
 * @xr: transport whose connection no longer has queues, regions, or pages that Sends read
 *
 * RPCs that were not completed lose the Reply that may have come, and are sent again by sunrpc
 * (invariant I7). Each of them then takes a new credit (I16). Tasks that wait in
 * xprt_rdma_frwr_fence() continue.
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_req_reset_all(struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct xprt_rdma_req *req;

	spin_lock(&xprt->reserve_lock);
	spin_lock(&xprt->transport_lock);
	xprt_rdma_credit_reset_locked(xr);
	spin_unlock(&xprt->transport_lock);
	list_for_each_entry(req, &xr->xr_req_all, rr_all) {
		atomic_set_release(&req->rr_holds, 0);
		if (req->rr_msg) {
			rpcrdma_msg_put(req->rr_msg);
			spin_lock(&xprt->queue_lock);
			req->rr_msg = NULL;
			xprt_unpin_rqst(&req->rr_slot);
			spin_unlock(&xprt->queue_lock);
		}
	}
	spin_unlock(&xprt->reserve_lock);
	wake_up_all(&xr->xr_waitq);
}

/**
 * xprt_rdma_req_alloc_slot - find a slot for an RPC
 * @xprt: transport
 * @task: RPC; its tk_status is set, and also its tk_rqstp if there is a slot
 *
 * tk_status becomes 0; %-EAGAIN if the task was put on the backlog; or %-ENOMEM if there is
 * no memory for a new slot, and sunrpc then calls this function again later.
 *
 * Context: process; may sleep.
 */
void xprt_rdma_req_alloc_slot(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req;

	spin_lock(&xprt->reserve_lock);
	req = list_first_entry_or_null(&xr->xr_req_free, struct xprt_rdma_req,
				       rr_free);
	if (req) {
		list_del_init(&req->rr_free);
	} else if (xr->xr_nreqs < xprt->max_reqs) {
		/* Creating a slot may sleep. */
		xr->xr_nreqs++;
		spin_unlock(&xprt->reserve_lock);
		req = xprt_rdma_req_create(XPRT_RDMA_BUF_SIZE, rpc_task_gfp_mask());
		spin_lock(&xprt->reserve_lock);
		if (!req) {
			xr->xr_nreqs--;
			trace_xprt_rdma_no_slot(xr, -ENOMEM);
			task->tk_status = -ENOMEM;
			goto out_unlock;
		}
		list_add(&req->rr_all, &xr->xr_req_all);
	} else {
		/* reserve_lock has been held since xr_req_free was found empty. So no slot
		 * can become free before the task is on the backlog.
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
 * xprt_rdma_req_free_slot - take a slot back, or give it to the next task on the backlog
 * @xprt: transport
 * @rqst: slot
 *
 * Context: process.
 */
void xprt_rdma_req_free_slot(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	WARN_ON_ONCE(!list_empty(&req->rr_mrs));
	WARN_ON_ONCE(atomic_read(&req->rr_holds));
	req->rr_failed = false;
	req->rr_foreign = false;
	req->rr_resend = false;
	memset(&req->rr_retry, 0, sizeof(req->rr_retry));

	spin_lock(&xprt->reserve_lock);
	if (!xprt_wake_up_backlog(xprt, rqst)) {
		memset(rqst, 0, sizeof(*rqst));
		list_add(&req->rr_free, &xr->xr_req_free);
	}
	spin_unlock(&xprt->reserve_lock);

	xprt_rdma_credit_check(xr);
}

/**
 * xprt_rdma_req_alloc_buf - provide an RPC's Call and Reply buffers
 * @task: RPC with a slot; rq_callsize and rq_rcvsize are the sizes in bytes
 *
 * Context: process; may sleep.
 * Return: 0; or %-ENOMEM, and sunrpc calls this again later.
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
 * xprt_rdma_req_free_buf - release an RPC's buffers
 * @task: RPC that ended with a Reply, with an error, or by a signal
 *
 * An RPC that ends without a Reply may still have registered memory. This function ends the
 * server's access to that memory before sunrpc and its callers get the memory back (RFC 8166
 * 4.4.1). If Sends still read the RPC's pages, this waits until the Sends have completed. If the
 * connection is lost, the function waits instead until the connection has been closed.
 *
 * Context: process; sleeps if the RPC has registered memory, or pages that are sent.
 */
void xprt_rdma_req_free_buf(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);

	if (unlikely(!list_empty(&req->rr_mrs) || atomic_read(&req->rr_holds)))
		xprt_rdma_frwr_fence(xprt_rdma_from(rqst->rq_xprt), req);
}

/**
 * xprt_rdma_recv_limit - limit the memory that a new connection's Receives take
 * @xr: transport whose connection has queues; before xprt_rdma_negotiate()
 *
 * If the limit does not allow cz_recvs Receives, fewer credits are requested.
 *
 * Context: process. Send lock held.
 * Return: 0; or %-ENOBUFS if there is no room for a single Reply.
 */
int xprt_rdma_recv_limit(struct xprt_rdma *xr)
{
	struct rpcrdma_recv_pool *pool = &xr->xr_conn.cn_recvs;
	u32 size = xprt_rdma_negotiate_recv_size(xr);
	u32 others = xprt_rdma_recv_others(xr);
	u32 room;

	rpcrdma_recv_pool_limit(pool, size);
	room = rpcrdma_recv_pool_room(pool, size);
	if (room <= others)
		return -ENOBUFS;
	xr->xr_sizes.cz_recvs = min(xr->xr_sizes.cz_recvs, room);
	xr->xr_sizes.cz_requests = xr->xr_sizes.cz_recvs - others;
	return 0;
}

/**
 * xprt_rdma_recv_expect - create Receives for Replies
 * @xr: transport whose version is settled
 * @replies: number of Receives that the Replies to all Calls in flight may take, without
 *	spare Receives
 * @gfp: allocation flags
 *
 * Context: process; sleeps. Send lock held, so nobody closes the connection.
 * Return: 0; or %-ENOBUFS if there is not enough memory.
 */
int xprt_rdma_recv_expect(struct xprt_rdma *xr, u32 replies, gfp_t gfp)
{
	struct rpcrdma_recv_pool *pool = &xr->xr_conn.cn_recvs;
	u32 size = xprt_rdma_negotiate_recv_size(xr);
	u32 want = max(replies, 2 * xprt_rdma_recv_expected(xr));

	/* Leave room in the pool for the spare Receives. */
	want = min(want, max(replies, xr->xr_sizes.cz_requests));
	want = min(want + xprt_rdma_recv_others(xr),
		   rpcrdma_recv_pool_room(pool, size));
	rpcrdma_recv_pool_grow_gfp(pool, want, size, gfp);
	replies = min(replies, xr->xr_sizes.cz_requests);
	return xprt_rdma_recv_expected(xr) < replies ? -ENOBUFS : 0;
}

/**
 * xprt_rdma_recv_make_spare - add spare Receives, for Replies that are groups
 * @xr: transport whose version is settled
 *
 * The function adds all xr_spare_max Receives at once, if they do not exist yet. If that
 * fails, xr_spare stays 0, and the Call is not sent as a group (RTX-98).
 *
 * Context: process; sleeps. Send lock held.
 */
void xprt_rdma_recv_make_spare(struct xprt_rdma *xr)
{
	struct rpcrdma_recv_pool *pool = &xr->xr_conn.cn_recvs;
	u32 want = pool->rp_count + xr->xr_spare_max;

	if (xr->xr_spare || !xr->xr_spare_max)
		return;
	if (rpcrdma_recv_pool_grow_gfp(pool, want,
				       xprt_rdma_negotiate_recv_size(xr),
				       XPRT_RDMA_GFP) ||
	    pool->rp_count != want)
		return;
	xr->xr_spare = xr->xr_spare_max;
	spin_lock(&xr->xr_xprt.transport_lock);
	xr->xr_spare_free += xr->xr_spare;
	spin_unlock(&xr->xr_xprt.transport_lock);
}
