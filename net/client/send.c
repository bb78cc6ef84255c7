// SPDX-License-Identifier: GPL-2.0
/*
 * Client: Sends. A Call is posted as one chain of work requests: first the registrations, then the
 * Send, or the Sends of a group (group.c).
 *
 * This file owns the Sends of a connection, and the entries of its send queue. It never reads the
 * messages, and builds only those that refuse a message of the server (xprt_rdma_reply_refuse()).
 *
 * Operation
 *
 * The whole inline message, with its transport header, is copied into the buffer of a Send
 * (verbs/send.c), or into the buffers of the Sends of a group. So Sends do not use the RPC's
 * memory. There is one exception: Sends of a group may also gather data from pages of the RPC
 * (pages.c).
 *
 * A posted Send is on the busy list (xr_send_busy) until it is known to have completed. All
 * Sends of a group are posted in one call, under xr_lock, so that no other message comes
 * between them (RTX-40). After that, each of them is on the busy list by itself, since any of
 * them may be signaled.
 *
 * At least one Send in %RPCRDMA_SEND_BATCH is signaled, see xprt_rdma_send_ready(). The send queue
 * completes in order. So the completion of that Send also returns all Sends that were posted before
 * it, and releases the send queue entries of their chains. With siw, the buffer of a large Send may
 * be reused only after that Send's own completion. So with siw, a large Send is always signaled
 * (dc_unsignaled_max).
 *
 * A completion is normally handled when the next message arrives (verbs/send_cq.c). If Sends or
 * entries are few, the completions that are in the queue are handled before the next message is
 * sent.
 *
 * A Call is posted only if the send queue has enough free entries for its chain, for the later
 * invalidation of its regions, and for answers to callbacks (xr_answers). Otherwise it waits until
 * another RPC has ended, as for a credit (xprt_rdma_credit_yield()). If sunrpc were told to wait
 * for buffer space instead, it would send nothing at all, not even Replies to callbacks. Without
 * these Replies, the server may be unable to answer the RPCs that hold the entries (rfc5666bis
 * 8.2.1). A Call that would not even fit an empty queue fails with %-EMSGSIZE.
 */
#include <linux/slab.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Upper bound on the send queue entries that one RPC with one Send takes: one for the Send, and
 * two for each region, to register and to invalidate it. An RPC has at most two chunks, and
 * a region for each of their segments. The bound allows for one more region.
 */
#define XPRT_RDMA_SLOTS_MAX	(1 + 2 * (2 * RPCRDMA_CLIENT_SEGS + 1))

/* Size in bytes of a Send's buffer if there is no memory for a larger one */
#define XPRT_RDMA_SEND_SMALL	4096u

static struct xprt_rdma *xprt_rdma_send_xr(const struct xprt_rdma_send *send)
{
	return container_of(send->sn_send.sd_conn, struct xprt_rdma, xr_conn);
}

static struct xprt_rdma_send *xprt_rdma_send_from(struct rpcrdma_send *send)
{
	return container_of(send, struct xprt_rdma_send, sn_send);
}

static int xprt_rdma_send_free_slots(const struct xprt_rdma *xr)
{
	return atomic_read(&xr->xr_conn.cn_sq.sq_free);
}

/* Are at least @slots send queue entries free? If not, handles the completions that are in the
 * completion queue, and looks again.
 */
static bool xprt_rdma_send_look_for_slots(struct xprt_rdma *xr, u32 slots)
{
	if (likely(xprt_rdma_send_free_slots(xr) >= (int)slots))
		return true;
	rpcrdma_send_cq_poll(&xr->xr_conn);
	return xprt_rdma_send_free_slots(xr) >= (int)slots;
}

/* A Send is ready if its buffer has been prepared for messages of lm_inline_send bytes. If there
 * was no memory for that size, the buffer is smaller (xprt_rdma_send_prepare()).
 */
static bool xprt_rdma_send_is_ready(const struct xprt_rdma_send *send)
{
	return send->sn_wanted >=
	       xprt_rdma_send_xr(send)->xr_conn.cn_limits.lm_inline_send;
}

/* Is the first free Send ready? Ready Sends come first on xr_send_free (xprt_rdma_send_put()). */
static bool xprt_rdma_send_next_is_ready(struct xprt_rdma *xr)
{
	struct xprt_rdma_send *next;

	lockdep_assert_held(&xr->xr_lock);

	next = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	return next && xprt_rdma_send_is_ready(next);
}

/* Last step before a Send is posted: decides whether the Send is signaled. If the Send is the last
 * of a group whose Sends read the pages of an RPC, also records that Sends read these pages. The
 * Send is signaled if one of these is true:
 *
 *	the last %RPCRDMA_SEND_BATCH - 1 Sends were unsignaled
 *	it is not for a Call (@req is NULL): the next Call may have to wait for the entry
 *		that this Send takes
 *	an RPC may have to wait for its completion (sn_gathers; I2)
 *	it is longer than dc_unsignaled_max: on this device, the completion of a later
 *		Send does not show that its buffer may be reused
 *	too few send queue entries are left for the largest RPC, or no other Send is
 *		ready: the next RPC may need what this Send has (I33)
 */
static void xprt_rdma_send_ready(struct xprt_rdma *xr,
				 struct xprt_rdma_send *send,
				 const struct xprt_rdma_req *req)
{
	send->sn_send.sd_wr.send_flags = 0;
	if (++xr->xr_unsignaled >= RPCRDMA_SEND_BATCH || !req ||
	    send->sn_gathers ||
	    rpcrdma_send_len(&send->sn_send) >
	    xr->xr_conn.cn_caps.dc_unsignaled_max ||
	    xprt_rdma_send_free_slots(xr) <
	    (int)(XPRT_RDMA_SLOTS_MAX + xr->xr_answers) ||
	    !xprt_rdma_send_next_is_ready(xr)) {
		xr->xr_unsignaled = 0;
		send->sn_send.sd_wr.send_flags = IB_SEND_SIGNALED;
		rpcrdma_count(client_sends_signaled);
	}
	if (send->sn_gathers)
		atomic_or(XPRT_RDMA_HOLD_SENDS, &send->sn_gathers->rr_holds);
	trace_xprt_rdma_send(send, req);
}

/* Handles the completion of a Send: moves this Send, and all Sends that were posted before it, from
 * the busy list to the free list, and releases the send queue entries of these Sends and of their
 * registrations. If a Send fails, the Sends that were posted after it normally complete with
 * errors, too, even if they are unsignaled. A failed Send releases nothing: the Sends and their
 * entries are freed with the connection.
 */
static void xprt_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_send *send = xprt_rdma_send_from(rpcrdma_send_of(wc));
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct xprt_rdma_send *pos, *next;
	struct xprt_rdma_req *gathers;
	u32 slots = 0;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		trace_xprt_rdma_send_done(&send->sn_send.sd_cid, wc->status);
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_xprt_rdma_send_err(xr, &send->sn_send.sd_cid, wc);
		rpcrdma_conn_fail(&xr->xr_conn, -ECONNRESET);
		return;
	}
	spin_lock(&xr->xr_lock);
	/* No earlier Send on the busy list has sn_gathers set. A Send with sn_gathers is
	 * signaled, so its own completion has already moved it to the free list.
	 */
	gathers = send->sn_gathers;
	send->sn_gathers = NULL;
	list_for_each_entry_safe(pos, next, &xr->xr_send_busy, sn_send.sd_list) {
		slots += pos->sn_send.sd_slots;
		trace_xprt_rdma_send_done(&pos->sn_send.sd_cid, IB_WC_SUCCESS);
		xprt_rdma_pages_unmap(pos);
		list_move(&pos->sn_send.sd_list, &xr->xr_send_free);
		if (pos == send)
			break;
	}
	spin_unlock(&xr->xr_lock);
	atomic_add(slots, &xr->xr_conn.cn_sq.sq_free);
	if (unlikely(gathers)) {
		if (gathers->rr_msg)
			rpcrdma_send_cq_seen(&xr->xr_conn.cn_send_cq);
		xprt_rdma_reply_release(xr, gathers, XPRT_RDMA_HOLD_SENDS);
	}
}

/**
 * xprt_rdma_sends_create - create a connection's Sends
 * @xr: transport whose connection has queues and sizes
 *
 * A Send gets its buffer shortly before its first use, so a connection that sends little has
 * few buffers.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_sends_create(struct xprt_rdma *xr)
{
	u32 n = xr->xr_sizes.cz_requests + xr->xr_sizes.cz_bc_requests +
		2 * RPCRDMA_SEND_BATCH;
	u32 slots = xr->xr_conn.cn_sq.sq_size;
	u32 i;

	xr->xr_sends = kvcalloc(n, sizeof(*xr->xr_sends),
				XPRT_RDMA_GFP_CONNECT);
	if (!xr->xr_sends)
		return -ENOMEM;
	xr->xr_nsends = n;
	/* Answers to callbacks (Replies and errors) must not wait (version-two 5.3.3). But if the
	 * queue is short, it must have room for the largest RPC.
	 */
	xr->xr_answers = min(slots - min(slots, XPRT_RDMA_SLOTS_MAX),
			     xr->xr_sizes.cz_bc_requests);
	for (i = 0; i < n; i++) {
		struct xprt_rdma_send *send = &xr->xr_sends[i];

		rpcrdma_send_init(&send->sn_send, &xr->xr_conn,
				  xprt_rdma_send_wc_done);
		list_add_tail(&send->sn_send.sd_list, &xr->xr_send_free);
	}
	return 0;
}

/**
 * xprt_rdma_sends_destroy - free a connection's Sends, and unmap the pages of RPCs that they read
 * @xr: transport whose connection has no queues
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_sends_destroy(struct xprt_rdma *xr)
{
	u32 i;

	for (i = 0; i < xr->xr_nsends; i++) {
		xprt_rdma_pages_unmap(&xr->xr_sends[i]);
		rpcrdma_buf_exit(&xr->xr_sends[i].sn_send.sd_buf);
		kfree(xr->xr_sends[i].sn_pages);
	}
	kvfree(xr->xr_sends);
	xr->xr_sends = NULL;
	xr->xr_nsends = 0;
	INIT_LIST_HEAD(&xr->xr_send_free);
	INIT_LIST_HEAD(&xr->xr_send_busy);
}

/* Makes a Send ready: gives it a buffer of lm_inline_send bytes. If there is no memory for
 * such a buffer, the Send keeps its present buffer, or gets a small one, and Calls that do not
 * fit that buffer go by RDMA. So dirty pages can still be written, which frees memory. Returns
 * -ENOBUFS if the Send has no buffer, and there is no memory even for a small one.
 */
static int xprt_rdma_send_prepare(struct xprt_rdma_send *send, gfp_t gfp)
{
	struct rpcrdma_send *base = &send->sn_send;
	/* If the Send has a buffer, lm_inline_send has risen since the Send was prepared. */
	u32 size = base->sd_conn->cn_limits.lm_inline_send;
	u32 least = base->sd_buf.bf_data ? size : XPRT_RDMA_SEND_SMALL;

	if (rpcrdma_send_alloc(base, size, least, gfp) && !base->sd_buf.bf_data)
		return -ENOBUFS;
	send->sn_wanted = size;
	return 0;
}

/* Takes the first Send from the free list, and sets @ahead to whether the next Send is ready.
 * Returns NULL if there is none.
 */
static struct xprt_rdma_send *xprt_rdma_send_take(struct xprt_rdma *xr,
						  bool *ahead)
{
	struct xprt_rdma_send *send;

	spin_lock(&xr->xr_lock);
	send = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	if (send)
		list_del_init(&send->sn_send.sd_list);
	*ahead = xprt_rdma_send_next_is_ready(xr);
	spin_unlock(&xr->xr_lock);
	return send;
}

/**
 * xprt_rdma_send_get - take a Send with a buffer of at least lm_inline_send bytes, or with
 *	a smaller one if there is no memory for that
 * @xr: transport with a live connection
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: the Send, for xprt_rdma_send_post() or xprt_rdma_send_put(); or NULL if no Send is free,
 *	or if there is no memory for its buffer.
 */
struct xprt_rdma_send *xprt_rdma_send_get(struct xprt_rdma *xr, gfp_t gfp)
{
	struct xprt_rdma_send *send, *next;
	bool ahead;

	send = xprt_rdma_send_take(xr, &ahead);
	if (unlikely(!ahead)) {
		/* Some Sends may have completed, but their completions were not handled yet. */
		rpcrdma_send_cq_poll(&xr->xr_conn);
		if (!send)
			send = xprt_rdma_send_take(xr, &ahead);
	}
	if (!send)
		goto out_none;

	if (unlikely(!xprt_rdma_send_is_ready(send)) &&
	    xprt_rdma_send_prepare(send, gfp)) {
		xprt_rdma_send_put(send);
		goto out_none;
	}
	if (unlikely(!ahead)) {
		/* Make the next Send ready before it is needed. If that fails, this Send will be
		 * signaled, and can be used again when it has completed (I33).
		 */
		next = xprt_rdma_send_take(xr, &ahead);
		if (next) {
			if (!xprt_rdma_send_is_ready(next))
				xprt_rdma_send_prepare(next, gfp);
			xprt_rdma_send_put(next);
		}
	}
	return send;

out_none:
	trace_xprt_rdma_no_sends(xr, xprt_rdma_send_free_slots(xr));
	return NULL;
}

/**
 * xprt_rdma_sends_reserve - make two Sends ready (xprt_rdma_send_is_ready())
 * @xr: transport with a new connection
 *
 * From then on, a Send with a buffer is always free, or becomes free when a posted Send completes
 * (invariant I33).
 *
 * Context: process; sleeps. Send lock held.
 * Return: 0 or %-ENOBUFS.
 */
int xprt_rdma_sends_reserve(struct xprt_rdma *xr)
{
	struct xprt_rdma_send *send;
	bool ready;

	send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP_CONNECT);
	if (!send)
		return -ENOBUFS;
	spin_lock(&xr->xr_lock);
	ready = xprt_rdma_send_next_is_ready(xr);
	spin_unlock(&xr->xr_lock);
	xprt_rdma_send_put(send);
	return ready ? 0 : -ENOBUFS;
}

/* Moves all Sends of an unposted group except the first to the free list. xprt_rdma_send_get()
 * has given them buffers, so they go to the front of the list, where ready Sends are. Also unmaps
 * the pages that the Sends were to gather from, those of @send included, and forgets their RPC.
 */
static void xprt_rdma_send_part_locked(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct xprt_rdma_send *more, *next;

	lockdep_assert_held(&xr->xr_lock);

	list_for_each_entry_safe(more, next, &send->sn_send.sd_more,
				 sn_send.sd_list) {
		xprt_rdma_pages_unmap(more);
		more->sn_gathers = NULL;
		list_move(&more->sn_send.sd_list, &xr->xr_send_free);
	}
	send->sn_send.sd_nmore = 0;
	xprt_rdma_pages_unmap(send);
	send->sn_gathers = NULL;
}

/**
 * xprt_rdma_send_put - give back an unposted Send, or all Sends of an unposted group (rtx.h)
 * @send: Send, or the first Send of the group
 *
 * A Send that is not ready (xprt_rdma_send_is_ready()) goes to the end of the free list: ready
 * Sends may have been returned while this Send could not get a buffer, and must be found at the
 * front of the list (I33).
 *
 * Context: process or completion workqueue; does not sleep.
 */
void xprt_rdma_send_put(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	bool ready = xprt_rdma_send_is_ready(send);

	spin_lock(&xr->xr_lock);
	xprt_rdma_send_part_locked(send);
	if (ready)
		list_add(&send->sn_send.sd_list, &xr->xr_send_free);
	else
		list_add_tail(&send->sn_send.sd_list, &xr->xr_send_free);
	spin_unlock(&xr->xr_lock);
}

/**
 * xprt_rdma_send_fits - report whether a Call that is a group (rtx.h) can be posted at once
 * @xr: transport, send lock held
 * @plan: plan of the Call
 *
 * If the group would have to wait for send queue entries, the caller sends the Call in base
 * form (not as a group). If this function returns true, no other Call is sent before the group,
 * because the caller holds the send lock. But errors that the client sends may take entries before
 * the group is posted. If they leave too few, the group waits for entries like any Call.
 *
 * Context: process; the caller holds no spinlock.
 * Return: true if there are enough entries for the Sends of the group and for the regions that its
 *	RPC may have.
 */
bool xprt_rdma_send_fits(struct xprt_rdma *xr, const struct rpcrdma_plan *plan)
{
	u32 slots = plan->pl_count + xr->xr_answers;

	if (plan->pl_reply == RPCRDMA_REPLY_WRITE ||
	    plan->pl_reply == RPCRDMA_REPLY_LONG)
		slots += XPRT_RDMA_SLOTS_MAX;
	return xprt_rdma_send_look_for_slots(xr, slots);
}

/**
 * xprt_rdma_send_grow - make sure that a Send can carry a transmission of a group (rtx.h)
 * @send: Send that is not posted
 * @plan: plan of the Call
 *
 * If the Send gets a larger buffer, it keeps that buffer. Only groups need buffers of more
 * than lm_inline_send bytes.
 *
 * Context: process; may sleep. Send lock held.
 * Return: true; or false if there is no memory, and the buffer of the Send has not changed.
 */
bool xprt_rdma_send_grow(struct xprt_rdma_send *send,
			 const struct rpcrdma_plan *plan)
{
	u32 size = plan->pl_buf;

	if (plan->pl_gathered && !xprt_rdma_pages_alloc(send))
		return false;
	return likely(send->sn_send.sd_buf.bf_size >= size) ||
	       !rpcrdma_send_alloc(&send->sn_send, size, size, XPRT_RDMA_GFP);
}

/**
 * xprt_rdma_send_get_more - take the other Sends of a group (rtx.h)
 * @first: first Send of the group
 * @plan: plan of the Call
 *
 * Context: process; may sleep. Send lock held.
 * Return: true if there are enough Sends, and each can carry a transmission of the group. If not,
 *	the Sends that were taken stay linked to @first, and xprt_rdma_send_put_more() or
 *	xprt_rdma_send_put() returns them.
 */
bool xprt_rdma_send_get_more(struct xprt_rdma_send *first,
			     const struct rpcrdma_plan *plan)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(first);
	struct xprt_rdma_send *send;
	u32 i;

	for (i = 1; i < plan->pl_count; i++) {
		send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP);
		if (!send)
			return false;
		send->sn_send.sd_slots = 1;
		rpcrdma_send_add(&first->sn_send, &send->sn_send);
		if (!xprt_rdma_send_grow(send, plan))
			return false;
	}
	return true;
}

/**
 * xprt_rdma_send_put_more - give back all Sends of a group (rtx.h) except the first
 * @first: first Send of the group, which the caller keeps
 *
 * Context: process; does not sleep.
 */
void xprt_rdma_send_put_more(struct xprt_rdma_send *first)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(first);

	spin_lock(&xr->xr_lock);
	xprt_rdma_send_part_locked(first);
	spin_unlock(&xr->xr_lock);
}

/**
 * xprt_rdma_send_post - post a Send, or all Sends of a group (rtx.h), after the registrations
 *	of its RPC
 * @send: Send with its message in the buffer; or the first Send of a group, whose other
 *	Sends are prepared
 * @len: number of bytes of the message in the buffer of this Send
 * @req: RPC whose Call this is; if it has regions, their registrations are posted in front of
 *	the Send. NULL if the message is not a Call
 *
 * xr_lock is held over posting. So the busy list has the order of the send queue, and the
 * completion of a Send can release all Sends before it. And a Reply with the XID of this Call can
 * match the RPC only after the Call was posted (I7). For each region, one more send queue entry is
 * reserved, for the later invalidation (I4).
 *
 * Context: process or completion workqueue; does not sleep. The caller holds no spinlock, see
 *	rpcrdma_send_cq_poll().
 * Return: 0 if the Send was posted. %-ENOBUFS if the send queue has no room now, or %-EMSGSIZE if
 *	it is too short for the Call of @req: the caller then still owns the Send. %-ENOTCONN if
 *	the connection is down: closing it frees the Send and the regions.
 */
int xprt_rdma_send_post(struct xprt_rdma_send *send, u32 len,
			struct xprt_rdma_req *req)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct ib_send_wr *first = &send->sn_send.sd_wr;
	struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;
	u32 regs = 0, slots, leave = 0;
	struct rpcrdma_send *more;
	struct xprt_rdma_mr *mr;
	int rc;

	if (req) {
		list_for_each_entry(mr, &req->rr_mrs, mr_list) {
			mr->mr_reg.wr.next = first;
			first = &mr->mr_reg.wr;
			regs++;
		}
		leave = xr->xr_answers;
	}
	send->sn_send.sd_slots = 1 + regs;
	/* One entry for each Send, and two for each region: the second is for its invalidation. */
	slots = 1 + 2 * regs + send->sn_send.sd_nmore;
	if (unlikely(regs && slots + leave > sq->sq_size))
		return -EMSGSIZE;
	rpcrdma_send_prepare(&send->sn_send, len);
	xprt_rdma_send_look_for_slots(xr, slots + xr->xr_answers);

	if (unlikely(!rpcrdma_take(&sq->sq_free, slots, leave))) {
		trace_xprt_rdma_no_sends(xr, xprt_rdma_send_free_slots(xr));
		xr->xr_stats.cs_empty_sends++;
		return -ENOBUFS;
	}
	spin_lock(&xr->xr_lock);
	xprt_rdma_send_ready(xr, send, req);
	list_for_each_entry(more, &send->sn_send.sd_more, sd_list)
		xprt_rdma_send_ready(xr, xprt_rdma_send_from(more), req);
	rpcrdma_send_chain(&send->sn_send);
	list_add_tail(&send->sn_send.sd_list, &xr->xr_send_busy);
	rpcrdma_send_part(&send->sn_send, &xr->xr_send_busy);
	/* Even if posting fails, the device may have got a part of the chain. So after a failure,
	 * the Sends stay on the busy list until the queues have been destroyed.
	 */
	rc = rpcrdma_conn_post(&xr->xr_conn, first);
	if (req)
		atomic_or(XPRT_RDMA_HOLD_REPLY, &req->rr_holds);
	spin_unlock(&xr->xr_lock);
	return unlikely(rc) ? -ENOTCONN : 0;
}

/**
 * xprt_rdma_reply_refuse - answer a message with an error
 * @xr: transport
 * @hdr: header of the message: a backward Call or, in version 2, another message that is not
 *	valid and has F_RESPONSE clear (version-two 5.3.3; G-12)
 * @error: the error as in version 2; version 1 sends ERR_CHUNK instead
 *
 * The caller has decided to refuse the message. (If a callback is accepted, but its Reply is too
 * long to be sent, backchannel.c sends the error.) No answer is sent if no Send or no send queue
 * entry is free, or if there is no memory for the Send's buffer. If the message was a callback, it
 * then times out at the server.
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_refuse(struct xprt_rdma *xr,
			    const struct rpcrdma_hdr *hdr,
			    const struct rpcrdma2_error *error)
{
	struct xprt_rdma_send *send;
	int len;

	rpcrdma_count(client_bad_messages);
	if (rpcrdma_vers_has_codes(xr->xr_vers))
		trace_xprt_rdma_refuse(hdr, error->er_code);
	send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP);
	if (!send)
		return;
	len = rpcrdma_encode_error(xr->xr_vers, send->sn_send.sd_buf.bf_data,
				   send->sn_send.sd_buf.bf_size, hdr,
				   XPRT_RDMA_BC_REQUESTS, error);
	if (len < 0 || xprt_rdma_send_post(send, len, NULL) == -ENOBUFS)
		xprt_rdma_send_put(send);
}

/**
 * xprt_rdma_send_awaits - ops->awaits(): does a task wait for the memory of a given-up RPC?
 * @conn: connection
 *
 * Context: the work of verbs/send_cq.c.
 * Return: true if completions must be handled at once.
 */
bool xprt_rdma_send_awaits(struct rpcrdma_conn *conn)
{
	struct xprt_rdma *xr = container_of(conn, struct xprt_rdma, xr_conn);

	/* The task calls rpcrdma_send_cq_watch() when it waits. */
	return waitqueue_active(&xr->xr_waitq);
}
