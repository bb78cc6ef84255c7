// SPDX-License-Identifier: GPL-2.0
/*
 * Client: Sends. A Call is posted as one chain of work requests, with one doorbell:
 * first the registrations, then the Send, or the Sends of a group.
 *
 * This file owns the Sends of a connection, and decides which of them wait in the line
 * for send queue entries (verbs/sq.c). It never looks at the messages, and never
 * decides whether an RPC is sent.
 *
 * Operation
 *
 * The whole inline message, with its transport header, is copied into the buffer of a
 * Send (verbs/send.c). So the Send does not use the RPC's memory. There is one exception:
 * Sends of a group may gather data from pages of the RPC (pages.c).
 *
 * Each Send of a group has an entry of its own on the busy list, because each Send is
 * signaled, or returned by a later completion, separately. All Sends of a group are posted
 * in one call, under one lock, so nothing comes between them (RTX-40).
 *
 * Only one Send in %RPCRDMA_SEND_BATCH is signaled. The send queue completes in order,
 * so the completion of that Send also returns all Sends before it, with the send queue
 * entries of their chains. With siw, the buffer of a large Send may be reused only
 * after that Send's own completion, so a large Send is always signaled
 * (dc_unsignaled_max).
 *
 * A Call is posted only if the send queue has enough entries for its chain and for the
 * later invalidation of its regions. Otherwise the Call is parked: it waits in the line
 * behind earlier Calls, and is posted when enough entries have been released. sunrpc
 * treats a parked Call as sent. If sunrpc were told to wait for buffer space instead, it
 * could send nothing at all, not even the answers to callbacks. Without those the server
 * may answer none of the RPCs that hold the entries (rfc5666bis 8.2.1).
 */
#include <linux/slab.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Upper bound on the send queue entries that one RPC takes: one for its Send, and two
 * for each region that its two chunks can have, to register and to invalidate it
 */
#define XPRT_RDMA_SLOTS_MAX	(1 + 2 * (2 * RPCRDMA_CLIENT_SEGS + 1))

/* Size in bytes of a Send's buffer if there is no memory for a larger one */
#define XPRT_RDMA_SEND_SMALL	4096u

/* Number of entries that Calls leave free for answers to callbacks, which must not wait
 * (version-two 5.3.3). It is smaller if the queue is too short to leave that many beside
 * the largest RPC.
 */
static u32 xprt_rdma_send_answers(const struct xprt_rdma *xr)
{
	u32 size = xr->xr_conn.cn_sq.sq_size;

	return min(size - min(size, XPRT_RDMA_SLOTS_MAX),
		   xr->xr_sizes.cz_bc_requests);
}

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

static bool xprt_rdma_send_is_ready(const struct xprt_rdma_send *send)
{
	return send->sn_wanted >=
	       xprt_rdma_send_xr(send)->xr_conn.cn_limits.lm_inline_send;
}

/* Sends that are ready come first on xr_send_free: see xprt_rdma_send_put(). */
static bool xprt_rdma_send_next_is_ready(struct xprt_rdma *xr)
{
	struct xprt_rdma_send *next;

	lockdep_assert_held(&xr->xr_send_lock);

	next = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	return next && xprt_rdma_send_is_ready(next);
}

/* Decides whether a Send is signaled. One in a batch is. So is a Send after which too
 * few entries for the largest RPC are left, or no Send is ready: the next RPC may have
 * to wait, and only a completion can wake it (I33). So is a large Send on a device where
 * a later completion does not tell that its buffer may be reused. And so is a Send whose
 * RPC may have to wait for it (I39).
 */
static bool xprt_rdma_send_signal(struct xprt_rdma *xr,
				  const struct xprt_rdma_send *send)
{
	if (++xr->xr_unsignaled < RPCRDMA_SEND_BATCH && !send->sn_gathers &&
	    rpcrdma_send_len(&send->sn_send) <=
	    xr->xr_conn.cn_caps.dc_unsignaled_max &&
	    xprt_rdma_send_free_slots(xr) >=
	    (int)(XPRT_RDMA_SLOTS_MAX + xr->xr_answers) &&
	    xprt_rdma_send_next_is_ready(xr))
		return false;
	xr->xr_unsignaled = 0;
	rpcrdma_count(client_sends_signaled);
	return true;
}

/* Decides whether a Send is signaled, just before it is posted. */
static void xprt_rdma_send_ready(struct xprt_rdma *xr,
				 struct xprt_rdma_send *send,
				 const struct xprt_rdma_req *req)
{
	send->sn_send.sd_wr.send_flags =
		xprt_rdma_send_signal(xr, send) ? IB_SEND_SIGNALED : 0;
	xprt_rdma_pages_sent(send);
	trace_xprt_rdma_send(send, req);
}

/* Posts a Send, and with it all Sends of its group, behind the registrations of its RPC.
 * The caller has reserved the entries. Even after an error the device may have part of
 * the chain, so the Sends stay on the busy list until the queues have been destroyed.
 */
static int xprt_rdma_send_post_locked(struct xprt_rdma_send *send,
				      struct xprt_rdma_req *req,
				      const struct ib_send_wr *first)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	u32 count = 1 + send->sn_send.sd_nmore;
	struct rpcrdma_send *more;
	int rc;

	lockdep_assert_held(&xr->xr_send_lock);

	rpcrdma_send_chain(&send->sn_send);
	xprt_rdma_send_ready(xr, send, req);
	list_for_each_entry(more, &send->sn_send.sd_more, sd_list)
		xprt_rdma_send_ready(xr, xprt_rdma_send_from(more), req);
	list_add_tail(&send->sn_send.sd_list, &xr->xr_send_busy);
	rpcrdma_send_part(&send->sn_send, &xr->xr_send_busy);
	rc = rpcrdma_conn_post(&xr->xr_conn, first);
	if (unlikely(rc))
		return -ENOTCONN;
	rpcrdma_count_add(client_sends, count);
	return 0;
}

/* Returns false if the RPC has been given up in the meantime: it has no credit any
 * more. If it is given up from now on, its Call is sent all the same, and its credit is
 * then owed (I18).
 */
static bool xprt_rdma_send_claim(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	req->rr_sent = req->rr_slot.rq_cong;
	spin_unlock(&xr->xr_xprt.transport_lock);
	return req->rr_sent;
}

/* Number of entries that a Call takes: for its chain, and for the later invalidation
 * of each of its regions. In a group, each Send releases its own entry.
 */
static u32 xprt_rdma_send_slots(const struct xprt_rdma_send *send)
{
	return 2 * send->sn_send.sd_slots - 1 + send->sn_send.sd_nmore;
}

/* Tells whether the Call of a Send ever fits the send queue. A device's queue may be too
 * short for a Call with many regions.
 */
static bool xprt_rdma_send_can_fit(const struct xprt_rdma_send *send)
{
	const struct xprt_rdma *xr = xprt_rdma_send_xr(send);

	return xprt_rdma_send_slots(send) + xr->xr_answers <=
	       xr->xr_conn.cn_sq.sq_size;
}

/* Reserves the entries for a Send. A Call does not overtake parked Calls, and leaves
 * entries for answers to callbacks.
 */
static bool xprt_rdma_send_has_room(const struct xprt_rdma_send *send,
				    const struct xprt_rdma_req *req)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;

	if (!req)
		return rpcrdma_sq_overtake(sq, 1, 0);
	return rpcrdma_sq_try(sq, xprt_rdma_send_slots(send), xr->xr_answers);
}

/* Posts a parked Call, which now has its entries. If its RPC was given up, the Call is
 * left to xprt_rdma_send_forget(). If posting fails, the connection is closed, and
 * that ends the other parked Calls.
 */
static void xprt_rdma_send_unpark_locked(struct rpcrdma_sq_waiter *waiter)
{
	struct xprt_rdma_send *send = container_of(waiter,
						   struct xprt_rdma_send,
						   sn_send.sd_wait);
	struct xprt_rdma_req *req = send->sn_req;
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct ib_send_wr *first;
	u32 regs;

	lockdep_assert_held(&xr->xr_send_lock);

	if (!xprt_rdma_send_claim(xr, req)) {
		/* rpcrdma_sq_serve(), which called this, gives them to the next. */
		rpcrdma_sq_release(&xr->xr_conn.cn_sq, waiter->wt_slots);
		return;
	}
	first = xprt_rdma_frwr_chain(req, &send->sn_send.sd_wr, &regs);
	xprt_rdma_send_post_locked(send, req, first);
	/* A task that gives up the RPC from now on fences it. The invalidations are
	 * then posted behind the chain. Pairs with xprt_rdma_req_free_buf().
	 */
	smp_store_release(&req->rr_parked, NULL);
}

static void xprt_rdma_send_park_locked(struct xprt_rdma_send *send,
				       struct xprt_rdma_req *req)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);

	lockdep_assert_held(&xr->xr_send_lock);

	trace_xprt_rdma_no_sends(xr, xprt_rdma_send_free_slots(xr));
	xr->xr_stats.cs_empty_sends++;
	send->sn_req = req;
	req->rr_parked = send;
	send->sn_send.sd_wait.wt_slots = xprt_rdma_send_slots(send);
	rpcrdma_sq_join(&xr->xr_conn.cn_sq, &send->sn_send.sd_wait);
}

/* A Send may have become free. Wakes sunrpc if it waits for one. The caller has
 * executed a full barrier, which pairs with the one in xprt_rdma_send_wait().
 */
static void xprt_rdma_send_wake(struct xprt_rdma *xr)
{
	if (test_bit(XPRT_WRITE_SPACE, &xr->xr_xprt.state))
		xprt_write_space(&xr->xr_xprt);
}

/**
 * xprt_rdma_sq_release - release send queue entries
 * @xr: transport
 * @slots: number of entries
 *
 * Posts parked Calls that now fit. Implies a full barrier.
 *
 * Context: process or completion.
 */
void xprt_rdma_sq_release(struct xprt_rdma *xr, u32 slots)
{
	struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;

	if (unlikely(rpcrdma_sq_release(sq, slots))) {
		spin_lock(&xr->xr_send_lock);
		rpcrdma_sq_serve(sq);
		spin_unlock(&xr->xr_send_lock);
	}
}

/* Moves @send, and all Sends that were posted before it, from the busy list to the free
 * list. Sets @gathers to the RPC whose pages they have had, or to NULL. Returns the number
 * of send queue entries of their chains.
 */
static u32 xprt_rdma_send_retire(struct xprt_rdma *xr,
				 struct xprt_rdma_send *send,
				 struct xprt_rdma_req **gathers)
{
	struct xprt_rdma_send *pos, *next;
	u32 slots = 0;

	spin_lock(&xr->xr_send_lock);
	/* No other Send before this one has an RPC that waits: it was signaled. */
	*gathers = send->sn_gathers;
	send->sn_gathers = NULL;
	list_for_each_entry_safe(pos, next, &xr->xr_send_busy, sn_send.sd_list) {
		slots += pos->sn_send.sd_slots;
		trace_xprt_rdma_send_done(&pos->sn_send.sd_cid, IB_WC_SUCCESS);
		xprt_rdma_pages_unmap(pos);
		list_move(&pos->sn_send.sd_list, &xr->xr_send_free);
		if (pos == send)
			break;
	}
	spin_unlock(&xr->xr_send_lock);
	return slots;
}

/* After an error each Send has a completion of its own, and none of them releases
 * anything: the Sends are freed with the connection.
 */
static void xprt_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_send *send = xprt_rdma_send_from(rpcrdma_send_of(wc));
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct xprt_rdma_req *gathers;
	u32 slots;

	if (likely(wc->status == IB_WC_SUCCESS)) {
		slots = xprt_rdma_send_retire(xr, send, &gathers);
		xprt_rdma_sq_release(xr, slots);
		xprt_rdma_send_wake(xr);
		if (unlikely(gathers))
			xprt_rdma_pages_done(xr, gathers, true);
		return;
	}
	trace_xprt_rdma_send_done(&send->sn_send.sd_cid, wc->status);
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_xprt_rdma_send_err(xr, &send->sn_send.sd_cid, wc);
	rpcrdma_conn_fail(&xr->xr_conn, -ECONNRESET);
}

/**
 * xprt_rdma_sends_create - make a connection's Sends
 * @xr: transport whose connection has queues and sizes
 *
 * A Send gets its buffer when it is first used, so an idle connection has few buffers.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_sends_create(struct xprt_rdma *xr)
{
	u32 n = xr->xr_sizes.cz_requests + xr->xr_sizes.cz_bc_requests +
		2 * RPCRDMA_SEND_BATCH;
	u32 i;

	xr->xr_sends = kvcalloc(n, sizeof(*xr->xr_sends),
				XPRT_RDMA_GFP_CONNECT);
	if (!xr->xr_sends)
		return -ENOMEM;
	xr->xr_nsends = n;
	xr->xr_answers = xprt_rdma_send_answers(xr);
	for (i = 0; i < n; i++) {
		struct xprt_rdma_send *send = &xr->xr_sends[i];

		rpcrdma_send_init(&send->sn_send, &xr->xr_conn,
				  xprt_rdma_send_wc_done);
		send->sn_send.sd_wait.wt_leave = xr->xr_answers;
		send->sn_send.sd_wait.wt_ready = xprt_rdma_send_unpark_locked;
		list_add_tail(&send->sn_send.sd_list, &xr->xr_send_free);
	}
	return 0;
}

/**
 * xprt_rdma_sends_destroy - free a connection's Sends
 * @xr: transport whose connection no longer has queues
 *
 * Context: process.
 */
void xprt_rdma_sends_destroy(struct xprt_rdma *xr)
{
	u32 i;

	for (i = 0; i < xr->xr_nsends; i++) {
		rpcrdma_send_exit(&xr->xr_sends[i].sn_send);
		kfree(xr->xr_sends[i].sn_sges);
	}
	kvfree(xr->xr_sends);
	xr->xr_sends = NULL;
	xr->xr_nsends = 0;
	INIT_LIST_HEAD(&xr->xr_send_free);
	INIT_LIST_HEAD(&xr->xr_send_busy);
}

/* Gives a Send the buffer that the connection's limits call for. Reclaim may need this
 * very transport to clean pages. So if there is no memory for a large buffer, the Send
 * keeps the one it has, or gets a small one, and more data goes by RDMA.
 */
static int xprt_rdma_send_prepare(struct xprt_rdma_send *send, gfp_t gfp)
{
	struct rpcrdma_send *base = &send->sn_send;
	/* A buffer that was made before the version was known may be too small. */
	u32 size = base->sd_conn->cn_limits.lm_inline_send;
	u32 least = base->sd_buf.bf_data ? size : XPRT_RDMA_SEND_SMALL;

	if (rpcrdma_send_alloc(base, size, least, gfp) && !base->sd_buf.bf_data)
		return -ENOBUFS;
	send->sn_wanted = size;
	return 0;
}

/* Makes the next Send ready before it is needed. If that fails, the Send before it is
 * signaled (I33).
 */
static void xprt_rdma_send_look_ahead(struct xprt_rdma *xr, gfp_t gfp)
{
	struct xprt_rdma_send *next;

	spin_lock(&xr->xr_send_lock);
	next = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	if (next)
		list_del_init(&next->sn_send.sd_list);
	spin_unlock(&xr->xr_send_lock);
	if (!next)
		return;
	if (!xprt_rdma_send_is_ready(next))
		xprt_rdma_send_prepare(next, gfp);
	xprt_rdma_send_put(next);
}

/**
 * xprt_rdma_send_get_gfp - take a Send with a buffer of lm_inline_send bytes,
 *	or of a page if there is no memory for more
 * @xr: transport with a live connection
 * @sendp: set to the Send, for xprt_rdma_send_post() or xprt_rdma_send_put()
 * @gfp: allocation flags
 *
 * Context: process; may sleep.
 * Return: 0; %-EAGAIN if the caller has to wait until a Send is returned; %-ENOBUFS if
 *	there is no memory, and no Send is posted.
 */
int xprt_rdma_send_get_gfp(struct xprt_rdma *xr, struct xprt_rdma_send **sendp,
			   gfp_t gfp)
{
	struct xprt_rdma_send *send;
	bool ahead, busy;
	int rc = 0;

	spin_lock(&xr->xr_send_lock);
	send = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	if (send)
		list_del_init(&send->sn_send.sd_list);
	ahead = xprt_rdma_send_next_is_ready(xr);
	busy = !list_empty(&xr->xr_send_busy);
	spin_unlock(&xr->xr_send_lock);
	if (!send)
		return -EAGAIN;

	if (unlikely(!xprt_rdma_send_is_ready(send)))
		rc = xprt_rdma_send_prepare(send, gfp);
	if (rc) {
		xprt_rdma_send_put(send);
		return busy ? -EAGAIN : rc;
	}
	if (unlikely(!ahead))
		xprt_rdma_send_look_ahead(xr, gfp);
	*sendp = send;
	return 0;
}

/**
 * xprt_rdma_sends_reserve - make two Sends ready
 * @xr: transport with a new connection
 *
 * From then on a Send is always ready, or becomes free when a posted one completes
 * (invariant I33).
 *
 * Context: process; sleeps. Send lock held.
 * Return: 0 or %-ENOBUFS.
 */
int xprt_rdma_sends_reserve(struct xprt_rdma *xr)
{
	struct xprt_rdma_send *send;
	bool ready;
	int rc;

	rc = xprt_rdma_send_get_gfp(xr, &send, XPRT_RDMA_GFP_CONNECT);
	if (rc)
		return -ENOBUFS;
	spin_lock(&xr->xr_send_lock);
	ready = xprt_rdma_send_next_is_ready(xr);
	spin_unlock(&xr->xr_send_lock);
	xprt_rdma_send_put(send);
	return ready ? 0 : -ENOBUFS;
}

/* Lets go of the pages of an RPC that a Send was to gather. */
static void xprt_rdma_send_drop_pages(struct xprt_rdma_send *send)
{
	xprt_rdma_pages_unmap(send);
	send->sn_gathers = NULL;
}

/* Those of a group but the first. They are ready: they were to have a message. */
static void xprt_rdma_send_part_locked(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct rpcrdma_send *more, *next;

	lockdep_assert_held(&xr->xr_send_lock);

	list_for_each_entry_safe(more, next, &send->sn_send.sd_more, sd_list) {
		xprt_rdma_send_drop_pages(xprt_rdma_send_from(more));
		list_move(&more->sd_list, &xr->xr_send_free);
	}
	send->sn_send.sd_nmore = 0;
	xprt_rdma_send_drop_pages(send);
}

/**
 * xprt_rdma_send_put - give back a Send that was not posted, or a group
 * @send: Send, or the first of a group
 *
 * A Send that is not ready goes behind those that are ready. Ready Sends may have
 * been returned while there was no memory for this one, and must not be hidden behind
 * it (I33).
 *
 * Wakes sunrpc if it waits for a Send.
 *
 * Context: any that may take a lock.
 */
void xprt_rdma_send_put(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	bool ready = xprt_rdma_send_is_ready(send);

	spin_lock(&xr->xr_send_lock);
	xprt_rdma_send_part_locked(send);
	if (ready)
		list_add(&send->sn_send.sd_list, &xr->xr_send_free);
	else
		list_add_tail(&send->sn_send.sd_list, &xr->xr_send_free);
	spin_unlock(&xr->xr_send_lock);
	if (!ready)
		return;
	smp_mb();	/* pairs with xprt_rdma_send_wait() */
	xprt_rdma_send_wake(xr);
}

/* There was no memory to enlarge this Send's buffer. It goes to the end of the list, so that
 * the next group tries other Sends first.
 */
static void xprt_rdma_send_put_last(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);

	spin_lock(&xr->xr_send_lock);
	list_add_tail(&send->sn_send.sd_list, &xr->xr_send_free);
	spin_unlock(&xr->xr_send_lock);
}

/**
 * xprt_rdma_send_fits - report whether a group would be posted at once
 * @xr: transport, send lock held
 * @plan: plan of the Call
 *
 * A Call whose group would have to wait for entries takes base form. Only an answer to a
 * callback can take entries before the group is posted. Then the group waits like any
 * Call.
 *
 * Context: any.
 * Return: true if there are entries for the Sends of the group, and for the regions that
 *	its RPC may have.
 */
bool xprt_rdma_send_fits(struct xprt_rdma *xr, const struct rpcrdma_plan *plan)
{
	struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;
	u32 slots = plan->pl_count + xr->xr_answers;

	if (plan->pl_reply == RPCRDMA_REPLY_WRITE ||
	    plan->pl_reply == RPCRDMA_REPLY_LONG)
		slots += XPRT_RDMA_SLOTS_MAX;
	return !READ_ONCE(sq->sq_nwaiting) &&
	       xprt_rdma_send_free_slots(xr) >= (int)slots;
}

/**
 * xprt_rdma_send_grow - see that a Send can carry a transmission of a group
 * @send: Send that is not posted
 * @plan: plan of the Call
 *
 * A larger buffer is kept: what was needed once is needed again. There is no other reason
 * for a buffer larger than lm_inline_send.
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0; or %-ENOBUFS, and the Send has the buffer that it had.
 */
int xprt_rdma_send_grow(struct xprt_rdma_send *send,
			const struct rpcrdma_plan *plan)
{
	u32 size = plan->pl_buf;

	if (plan->pl_gathered && xprt_rdma_pages_alloc(send))
		return -ENOBUFS;
	if (likely(send->sn_send.sd_buf.bf_size >= size))
		return 0;
	return rpcrdma_send_alloc(&send->sn_send, size, size, XPRT_RDMA_GFP) ?
	       -ENOBUFS : 0;
}

/**
 * xprt_rdma_send_get_more - take the other Sends of a group
 * @first: first Send of the group
 * @plan: plan of the Call
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0; or a negative errno of xprt_rdma_send_get() or xprt_rdma_send_grow(). After
 *	an error @first has some of the Sends or none of them, and they are returned with it.
 */
int xprt_rdma_send_get_more(struct xprt_rdma_send *first,
			    const struct rpcrdma_plan *plan)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(first);
	u32 count = plan->pl_count - 1;
	struct xprt_rdma_send *send;
	int rc;

	while (count--) {
		rc = xprt_rdma_send_get(xr, &send);
		if (rc)
			return rc;
		rc = xprt_rdma_send_grow(send, plan);
		if (rc) {
			xprt_rdma_send_put_last(send);
			return rc;
		}
		send->sn_send.sd_slots = 1;
		rpcrdma_send_add(&first->sn_send, &send->sn_send);
	}
	return 0;
}

/**
 * xprt_rdma_send_put_more - return the other Sends of a group
 * @first: first Send of the group; the caller keeps it, as a Send without a group
 *
 * Context: any that may take a lock.
 */
void xprt_rdma_send_put_more(struct xprt_rdma_send *first)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(first);

	spin_lock(&xr->xr_send_lock);
	xprt_rdma_send_part_locked(first);
	spin_unlock(&xr->xr_send_lock);
}

/**
 * xprt_rdma_send_post - post a Send, or a group, behind its RPC's registrations
 * @send: Send with its message in the buffer; or the first Send of a group, whose other
 *	Sends are prepared
 * @len: number of bytes of the message in this Send
 * @req: RPC whose Call this is, and whose regions are registered; or NULL
 *
 * xr_send_lock is held over posting. So the busy list has the order of the send queue
 * (invariant I8), and a Reply that comes too early finds that its RPC was not sent (I7).
 * One more send queue entry is reserved for the invalidation of each region (I4).
 *
 * Context: any that may take a lock; does not sleep.
 * Return: 0 if the Send was posted, or if it is the Call of @req and was parked;
 *	%-EAGAIN if @req is NULL and the send queue has no room, and the caller still
 *	owns the Send; %-EMSGSIZE if the send queue is too short for the Call of @req,
 *	and the caller still owns the Send; or %-ENOTCONN if the connection is down,
 *	and closing it frees the Send and the regions.
 */
int xprt_rdma_send_post(struct xprt_rdma_send *send, u32 len,
			struct xprt_rdma_req *req)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct ib_send_wr *first = &send->sn_send.sd_wr;
	int rc = -EAGAIN;
	u32 regs = 0;

	if (req)
		first = xprt_rdma_frwr_chain(req, first, &regs);
	send->sn_send.sd_slots = 1 + regs;
	if (unlikely(regs && !xprt_rdma_send_can_fit(send)))
		return -EMSGSIZE;
	rpcrdma_send_prepare(&send->sn_send, len);

	spin_lock(&xr->xr_send_lock);
	if (likely(xprt_rdma_send_has_room(send, req))) {
		if (req)
			req->rr_sent = true;
		rc = xprt_rdma_send_post_locked(send, req, first);
	} else if (req) {
		xprt_rdma_send_park_locked(send, req);
		rc = 0;
	}
	spin_unlock(&xr->xr_send_lock);
	return rc;
}

/**
 * xprt_rdma_send_forget - give up a parked Call
 * @xr: transport
 * @req: RPC that was given up, and no longer has a credit
 *
 * The server never learned of the Call's regions. This does nothing if the Call was
 * posted or the connection was closed in the meantime. While rr_parked is set (under
 * xr_send_lock), neither has happened, and the send queue exists.
 *
 * Context: process.
 */
void xprt_rdma_send_forget(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;
	struct xprt_rdma_send *send;

	spin_lock(&xr->xr_send_lock);
	send = req->rr_parked;
	req->rr_parked = NULL;
	if (send) {
		rpcrdma_sq_leave(sq, &send->sn_send.sd_wait);
		xprt_rdma_send_part_locked(send);
		list_add(&send->sn_send.sd_list, &xr->xr_send_free);
		/* The next parked Call may need fewer entries. */
		rpcrdma_sq_serve(sq);
	}
	spin_unlock(&xr->xr_send_lock);
	if (!send)
		return;
	xprt_rdma_frwr_unmap_unposted(xr, req);
	smp_mb();	/* pairs with xprt_rdma_send_wait() */
	xprt_rdma_send_wake(xr);
}

/**
 * xprt_rdma_send_wait - make sunrpc wait for a Send
 * @xr: transport without a Send that is ready
 *
 * sunrpc sends again when xprt_write_space() is called. A Send that was returned before
 * sunrpc began to wait has woken nobody. So this looks for one once more.
 *
 * Context: process. Send lock held.
 * Return: %-EAGAIN.
 */
int xprt_rdma_send_wait(struct xprt_rdma *xr)
{
	bool room;

	trace_xprt_rdma_no_sends(xr, xprt_rdma_send_free_slots(xr));
	xr->xr_stats.cs_empty_sends++;
	xprt_wait_for_buffer_space(&xr->xr_xprt);
	smp_mb__after_atomic();	/* pairs with xprt_rdma_send_wake() */

	spin_lock(&xr->xr_send_lock);
	room = xprt_rdma_send_next_is_ready(xr) ||
	       list_empty(&xr->xr_send_busy);
	spin_unlock(&xr->xr_send_lock);
	if (room)
		xprt_write_space(&xr->xr_xprt);
	return -EAGAIN;
}
