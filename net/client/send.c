// SPDX-License-Identifier: GPL-2.0
/*
 * Client: Sends. One RPC is one chain of work requests and one doorbell: the
 * registrations, then the Send, or the Sends of a group.
 *
 * This file owns the Sends of a connection, and says what waits in the line for the
 * entries of its send queue (verbs/sq.c). It never looks at what it sends, and never
 * decides whether an RPC is sent.
 *
 * Operation
 *
 * The whole inline message, transport header included, is copied into the buffer of
 * a Send (verbs/send.c), so the Send needs nothing of the RPC's.
 *
 * Each Send of a group is on the busy list for itself, since each is signaled, or given
 * back by a later one, for itself. They are posted in one go, under one lock, so nothing
 * comes between them (RTX-40).
 *
 * Only one Send in %RPCRDMA_SEND_BATCH asks for a completion. The send queue
 * completes in order, so that one gives back all Sends before it too, with the
 * send queue entries of their chains. siw is done with a large one only if that
 * one is signaled itself (dc_unsignaled_max).
 *
 * Entries are counted: an RPC is posted only if there is room for its chain
 * and for invalidating its regions later. If there is not, its Call is ready all
 * the same: it is parked in the line, others behind it, and is posted when enough
 * entries have come back. sunrpc takes it for sent. Were sunrpc told to
 * wait for buffer space instead, nothing at all could be sent, not even the
 * answers to callbacks, without which the server may answer none of the RPCs that
 * have the entries (rfc5666bis 8.2.1).
 */
#include <linux/slab.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Entries one RPC can take: its Send, and registering and invalidating all the
 * regions that its two chunks can name
 */
#define XPRT_RDMA_SLOTS_MAX	(1 + 2 * (2 * RPCRDMA_CLIENT_SEGS + 1))

/* Bytes of a Send's buffer when there is no memory for a larger one */
#define XPRT_RDMA_SEND_SMALL	4096u

/* Entries that Calls leave free for answers to callbacks, which must not wait
 * (version-two 5.3.3). Fewer in a queue so short that the largest RPC would not
 * fit
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

/* Those that are ready come first: see xprt_rdma_send_put(). */
static bool xprt_rdma_send_next_is_ready(struct xprt_rdma *xr)
{
	struct xprt_rdma_send *next;

	lockdep_assert_held(&xr->xr_send_lock);

	next = list_first_entry_or_null(&xr->xr_send_free,
					struct xprt_rdma_send, sn_send.sd_list);
	return next && xprt_rdma_send_is_ready(next);
}

/* If fewer entries are left than an RPC may need, or no Send is ready, the next
 * RPC might have to wait, and only a completion can wake it: ask for one now
 * instead of once in a batch (I33). A large Send asks for its own where a later
 * completion does not say that its buffer may be used again.
 */
static bool xprt_rdma_send_signal(struct xprt_rdma *xr, u32 len)
{
	if (++xr->xr_unsignaled < RPCRDMA_SEND_BATCH &&
	    len <= xr->xr_conn.cn_caps.dc_unsignaled_max &&
	    xprt_rdma_send_free_slots(xr) >=
	    (int)(XPRT_RDMA_SLOTS_MAX + xr->xr_answers) &&
	    xprt_rdma_send_next_is_ready(xr))
		return false;
	xr->xr_unsignaled = 0;
	rpcrdma_count(client_sends_signaled);
	return true;
}

/* It is about to be posted. */
static void xprt_rdma_send_ready(struct xprt_rdma *xr,
				 struct xprt_rdma_send *send,
				 const struct xprt_rdma_req *req)
{
	send->sn_send.sd_wr.send_flags =
		xprt_rdma_send_signal(xr, rpcrdma_send_len(&send->sn_send)) ?
			IB_SEND_SIGNALED : 0;
	trace_xprt_rdma_send(send, req);
}

/* Posts a Send behind the registrations of its RPC, and with it all of its group; its
 * entries are reserved. Even after an error the device may have part of the chain, so
 * they stay on the busy list until the queues are gone.
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

/* An RPC that has been given up in the meantime has no credit any more. One that
 * is given up from now on is sent all the same, and owes it (I18).
 */
static bool xprt_rdma_send_claim(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req)
{
	spin_lock(&xr->xr_xprt.transport_lock);
	req->rr_sent = req->rr_slot.rq_cong;
	spin_unlock(&xr->xr_xprt.transport_lock);
	return req->rr_sent;
}

/* Entries that a Call takes: its chain, and the invalidations that follow. Of a group,
 * each Send gives back its own.
 */
static u32 xprt_rdma_send_slots(const struct xprt_rdma_send *send)
{
	return 2 * send->sn_send.sd_slots - 1 + send->sn_send.sd_nmore;
}

/* A device may have a send queue that no Call with so many regions fits. */
static bool xprt_rdma_send_can_fit(const struct xprt_rdma_send *send)
{
	const struct xprt_rdma *xr = xprt_rdma_send_xr(send);

	return xprt_rdma_send_slots(send) + xr->xr_answers <=
	       xr->xr_conn.cn_sq.sq_size;
}

/* Reserves what a Send takes. A Call does not overtake those that wait, and
 * leaves entries for answers to callbacks.
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

/* A parked Call has its entries, and is posted. If it was given up, it is left to
 * xprt_rdma_send_forget(). An error closes the connection, which ends all others.
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
		/* Whoever serves the line hands them to the next. */
		rpcrdma_sq_release(&xr->xr_conn.cn_sq, waiter->wt_slots);
		return;
	}
	first = xprt_rdma_frwr_chain(req, &send->sn_send.sd_wr, &regs);
	xprt_rdma_send_post_locked(send, req, first);
	/* Whoever gives the RPC up from now on fences it, behind the chain. Pairs
	 * with xprt_rdma_req_free_buf().
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

/* A Send has become free. Wake sunrpc if it waits for one. The caller has executed a
 * full barrier, which pairs with the one in xprt_rdma_send_wait().
 */
static void xprt_rdma_send_wake(struct xprt_rdma *xr)
{
	if (test_bit(XPRT_WRITE_SPACE, &xr->xr_xprt.state))
		xprt_write_space(&xr->xr_xprt);
}

/**
 * xprt_rdma_sq_release - give send queue entries back
 * @xr: transport
 * @slots: how many
 *
 * Context: process or completion. Posts parked Calls that now fit. It is a full
 * barrier.
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

/* Takes @send, and all that were posted before it, off the busy list. */
static u32 xprt_rdma_send_retire(struct xprt_rdma *xr,
				 struct xprt_rdma_send *send)
{
	struct xprt_rdma_send *pos, *next;
	u32 slots = 0;

	spin_lock(&xr->xr_send_lock);
	list_for_each_entry_safe(pos, next, &xr->xr_send_busy, sn_send.sd_list) {
		slots += pos->sn_send.sd_slots;
		trace_xprt_rdma_send_done(&pos->sn_send.sd_cid, IB_WC_SUCCESS);
		list_move(&pos->sn_send.sd_list, &xr->xr_send_free);
		if (pos == send)
			break;
	}
	spin_unlock(&xr->xr_send_lock);
	return slots;
}

/* After an error each Send completes for itself; draining sorts them out. */
static void xprt_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_send *send = xprt_rdma_send_from(rpcrdma_send_of(wc));
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);

	if (likely(wc->status == IB_WC_SUCCESS)) {
		xprt_rdma_sq_release(xr, xprt_rdma_send_retire(xr, send));
		xprt_rdma_send_wake(xr);
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
 * Their buffers are made when they are first used: an idle connection has few.
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
 * @xr: transport whose connection has no queues any more
 *
 * Context: process.
 */
void xprt_rdma_sends_destroy(struct xprt_rdma *xr)
{
	u32 i;

	for (i = 0; i < xr->xr_nsends; i++)
		rpcrdma_send_exit(&xr->xr_sends[i].sn_send);
	kvfree(xr->xr_sends);
	xr->xr_sends = NULL;
	xr->xr_nsends = 0;
	INIT_LIST_HEAD(&xr->xr_send_free);
	INIT_LIST_HEAD(&xr->xr_send_busy);
}

/* Reclaim may need this very transport to clean pages. If there is no large
 * piece of memory, a small buffer has to do, and more goes by RDMA; or the
 * buffer that the Send already has.
 */
static int xprt_rdma_send_prepare(struct xprt_rdma_send *send, gfp_t gfp)
{
	struct rpcrdma_send *base = &send->sn_send;
	/* Made before the version was known, the buffer is too small. */
	u32 size = base->sd_conn->cn_limits.lm_inline_send;
	u32 least = base->sd_buf.bf_data ? size : XPRT_RDMA_SEND_SMALL;

	if (rpcrdma_send_alloc(base, size, least, gfp) && !base->sd_buf.bf_data)
		return -ENOBUFS;
	send->sn_wanted = size;
	return 0;
}

/* Makes the next Send ready before it is needed. If that fails, the Send before
 * it asks for a completion (I33).
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
 * @gfp: how to allocate
 *
 * Context: process; may sleep.
 * Return: 0; %-EAGAIN if all that are ready, or can be, are in use; %-ENOBUFS if
 *	memory is short.
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
 * xprt_rdma_sends_reserve - have two Sends ready
 * @xr: transport whose version is settled
 *
 * From then on there is always one that is ready, or will be when the device is
 * done with another one (invariant I33).
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

/* Those of a group but the first. They are ready: they were to have a message. */
static void xprt_rdma_send_part_locked(struct xprt_rdma_send *send)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(send);
	struct rpcrdma_send *more, *next;

	lockdep_assert_held(&xr->xr_send_lock);

	list_for_each_entry_safe(more, next, &send->sn_send.sd_more, sd_list)
		list_move(&more->sd_list, &xr->xr_send_free);
	send->sn_send.sd_nmore = 0;
}

/**
 * xprt_rdma_send_put - give back a Send that was not posted, or a group
 * @send: Send, or the first of a group
 *
 * One that is not ready goes behind those that are: others may have come back
 * while there was no memory for this one, and must not wait behind it (I33).
 *
 * Context: any that may take a lock. Wakes who waits for one.
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

/**
 * xprt_rdma_send_fits - would a group be posted at once?
 * @xr: transport, send lock held
 * @plan: plan of its Call
 *
 * One that has to wait for entries takes base form. Only an answer to a callback can take
 * some before it is posted: then it waits like any Call.
 *
 * Context: any.
 * Return: true if there are entries for its Sends, and for the regions that it may have.
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
 * xprt_rdma_send_grow - see that a Send's buffer is large enough
 * @send: Send that is not posted
 * @size: bytes that it has to have
 *
 * It is kept: what was needed once is needed again. There is no other reason for a buffer
 * larger than lm_inline_send.
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0; or %-ENOBUFS, and the Send has the buffer that it had.
 */
int xprt_rdma_send_grow(struct xprt_rdma_send *send, u32 size)
{
	if (likely(send->sn_send.sd_buf.bf_size >= size))
		return 0;
	return rpcrdma_send_alloc(&send->sn_send, size, size, XPRT_RDMA_GFP) ?
	       -ENOBUFS : 0;
}

/**
 * xprt_rdma_send_get_more - take the other Sends of a group
 * @first: its first Send
 * @count: how many more
 * @size: bytes that each has to have
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0; or a negative errno of xprt_rdma_send_get() or xprt_rdma_send_grow(), and
 *	@first has some or none of them, which go back with it.
 */
int xprt_rdma_send_get_more(struct xprt_rdma_send *first, u32 count, u32 size)
{
	struct xprt_rdma *xr = xprt_rdma_send_xr(first);
	struct xprt_rdma_send *send;
	int rc;

	while (count--) {
		rc = xprt_rdma_send_get(xr, &send);
		if (rc)
			return rc;
		rc = xprt_rdma_send_grow(send, size);
		if (rc) {
			xprt_rdma_send_put(send);
			return rc;
		}
		send->sn_send.sd_slots = 1;
		rpcrdma_send_add(&first->sn_send, &send->sn_send);
	}
	return 0;
}

/**
 * xprt_rdma_send_put_more - a group becomes a Send like any other
 * @first: its first Send, which stays with the caller
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
 * @send: Send with its message in place; or the first of a group, of which the others
 *	are prepared
 * @len: bytes of message, in this Send
 * @req: RPC whose regions to register, or NULL
 *
 * The lock covers posting too, so that the busy list has the order of the
 * send queue (invariant I8), and so that a Reply that comes too early finds an
 * RPC that was not sent (I7). An entry for the invalidation of each region is
 * reserved with it (I4).
 *
 * Context: any that may take a lock; does not sleep.
 * Return: 0 and the device owns the Send, or will when there is room for the Call
 *	of @req; %-EAGAIN if it is for no RPC and there is no room, or %-EMSGSIZE if
 *	the send queue is too short for the Call, and the caller still has the Send;
 *	or %-ENOTCONN, the connection is down, and closing it disposes of Send and
 *	regions.
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
 * xprt_rdma_send_forget - an RPC ends whose Call is parked
 * @xr: transport
 * @req: RPC that was given up, and has no credit any more
 *
 * Nobody has been told of its regions. If its Call was posted after all, or the
 * connection was closed, this does nothing. As long as rr_parked is set, under
 * xr_send_lock, neither has happened, and there is a send queue.
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
		/* The next in line may need fewer entries. */
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
 * xprt_rdma_send_wait - have sunrpc wait for a Send
 * @xr: transport without a Send that is ready
 *
 * sunrpc sends again when xprt_write_space() is called. A Send that came back
 * before it began to wait has woken nobody: look once more.
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
