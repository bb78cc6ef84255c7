// SPDX-License-Identifier: GPL-2.0
/*
 * The Send context: one Send of the server with the RDMA Writes in front of it. This
 * file makes, posts and completes Send contexts, and releases what they hold. It never
 * looks into the message, which is encoded in server/sendto.c (Replies and errors),
 * server/negotiate.c (CONNPROP) or server/backchannel.c (callbacks).
 *
 * A Send context has one buffer that stays mapped. A version 2 client may announce that
 * it can receive larger messages than the buffers of the contexts hold. An idle context
 * then gets a larger buffer when it is taken, if there is memory for one. A context that is
 * in use keeps its buffer.
 *
 * Sends are signaled. On some devices, so are short RDMA Writes (dc_signal_max). Work requests of a
 * reliable connection complete in order, so when the Send at the end of a chain has completed,
 * the RDMA Writes have completed, too. The Send's completion handler frees the mappings, the
 * pages and the slots. The handler may sleep. If the context has no RDMA Writes, it holds no pages,
 * and the completion may be handled late (verbs/send_cq.c). In most cases the handler takes no
 * lock: it adds the context to sp_done, and the next task that needs a context moves all of sp_done
 * to the idle pool.
 *
 * A Reply that finds too few send queue slots waits in line for them. Its thread does not wait: the
 * context holds all that is needed to send the Reply. The context also holds the Call's message, so
 * the number of Receives limits the number of waiting Replies. The task that releases enough slots
 * posts the Reply.
 *
 * svc_rdma_msg_put_blocks() gives messages back that other files have taken. Before a message is
 * given back, buffers of its Receives that other code still uses are replaced
 * (svc_rdma_msg_renew()).
 *
 * If posting fails, the device may have got part of the chain. The connection is down then,
 * and the context is not freed before the queues are destroyed (I10). The same is true of a
 * context that is still in line when the connection ends.
 *
 * This file also finds out for how long the posted RDMA Reads of a connection, or its posted Sends,
 * have made no progress. The keepalive (verbs/keepalive.c) asks for this (svc_rdma_conn_waiting()),
 * and ends the connection if it lasts too long. RDMA Reads and Sends are judged separately, because
 * one kind may complete while the other does not.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/fail.h>

#include "svc_rdma.h"
#include "trace.h"

/* Limits of the idle pool: number of contexts, and number of bytes in their buffers. A context that
 * is given back when either limit has been reached is freed, unless the pool has fewer contexts
 * than the client has credits. For the second limit, all idle contexts are assumed to have buffers
 * of the same size as this context.
 */
#define SVC_RDMA_IDLE_SENDS	32u
#define SVC_RDMA_IDLE_BYTES	(32u * SVC_RDMA_V2_REQ_SIZE)

static void svc_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc);
static void svc_rdma_send_wc_written(struct ib_cq *cq, struct ib_wc *wc);

/* Returns the number of bytes that the buffer of a context takes; 0 if it has none. */
static long svc_rdma_send_pins(const struct svc_rdma_send *send)
{
	return rpcrdma_buf_pins(send->ss_send.sd_buf.bf_size, 0);
}

/* Give a context its buffer, or replace the buffer by a larger one. The buffer should be as large
 * as the largest Send that the client accepts. But it is allocated in one piece, so memory may be
 * too fragmented. In version 2 a smaller buffer is enough: if a Reply does not fit, an error tells
 * the client to send the Call again with a Reply chunk (G-23). So the kernel need not try hard to
 * find a larger piece, and if there is none, the context keeps the smaller one for its lifetime.
 */
static int svc_rdma_send_create_buf(struct svc_rdma_send *send, gfp_t gfp)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	u32 size = READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send);
	u32 had = send->ss_send.sd_buf.bf_size;
	long pinned = svc_rdma_send_pins(send);
	gfp_t easily = gfp | __GFP_NOWARN | __GFP_NORETRY;
	u32 least = size;
	int rc = -ENOMEM;

	if (rpcrdma_vers_can_retry(READ_ONCE(sx->sx_vers)))
		least = min(size, SVC_RDMA_V2_REQ_SIZE);
	if (had < size && least < size)
		rc = rpcrdma_send_alloc(&send->ss_send, size, size, easily);
	if (rc && had < least)
		rc = rpcrdma_send_alloc(&send->ss_send, least, least,
					gfp | __GFP_NOWARN);
	if (gfpflags_allow_blocking(gfp))
		send->ss_wanted = size;
	svc_rdma_budget_sends(sx, svc_rdma_send_pins(send) - pinned);
	return rc;
}

/**
 * svc_rdma_send_free - free a Send context
 * @send: context that is in no list, and holds no message, pages, RDMA Writes or slots
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_free(struct svc_rdma_send *send)
{
	svc_rdma_budget_sends(svc_rdma_send_sx(send), -svc_rdma_send_pins(send));
	rpcrdma_buf_exit(&send->ss_send.sd_buf);
	kvfree(send->ss_pages);
	kfree(send);
}

/* Creates a context and adds it to po_sending. */
static struct svc_rdma_send *svc_rdma_send_create(struct svc_rdma_xprt *sx,
						  gfp_t gfp)
{
	struct rpcrdma_conn *conn = &sx->sx_conn;
	struct ib_device *device = rpcrdma_conn_device(conn);
	struct svc_rdma_send *send;

	send = kzalloc_node(sizeof(*send), gfp, ibdev_to_node(device));
	if (!send)
		return NULL;
	rpcrdma_send_init(&send->ss_send, conn, svc_rdma_send_wc_done);
	if (svc_rdma_send_create_buf(send, gfp)) {
		kfree(send);
		return NULL;
	}

	send->ss_write_cqe.done = svc_rdma_send_wc_written;
	send->ss_send.sd_wr.send_flags = IB_SEND_SIGNALED;
	svc_rdma_chain_init(&send->ss_writes);
	spin_lock(&sx->sx_lock);
	list_add_tail(&send->ss_list, &sx->sx_posted.po_sending);
	spin_unlock(&sx->sx_lock);
	return send;
}

/* Replaces each buffer of a message that is a block of pages (struct rpcrdma_buf) and that other
 * code still uses; see rpcrdma_recv_renew(). A Receive with target segments (rtx.h) has a block,
 * and so has a Receive that is too large for a slab. After an error, no Reply may be posted. This
 * sleeps. The caller has entered the connection (svc_rdma_enter()).
 *
 * If possible, a Call is executed where it was received, and the pages with its data are handed to
 * the code that executes it. Other code may use some pages for longer: a socket that has not sent
 * them yet, or a file system that took a reference. So before a Reply is posted, its thread checks
 * the Receives of the Call. If other code has a reference to a block, the Receive gets a new block,
 * and the old one is freed with its last reference (invariant I34). If a Reply waits for send queue
 * slots, another task posts it later, usually a completion handler. In the meantime no upper layer
 * can get a page, because only the Call's thread hands pages out. So the task that posts the Reply
 * does not check the Receives again, and allocates nothing (svc_rdma_msg_put_renewed()).
 *
 * If no new block can be allocated, the connection fails, as it does if there is no memory for
 * the Reply itself. The Receive is not posted again, and no Reply grants a credit for it.
 */
static int svc_rdma_msg_renew(struct svc_rdma_xprt *sx,
			      struct rpcrdma_msg_in *msg)
{
	if (likely(READ_ONCE(sx->sx_back) != SVC_RDMA_BACK_RENEW))
		return 0;
	if (rpcrdma_fails(server_keep))
		rpcrdma_fail_keep(rpcrdma_msg_body(msg));
	return rpcrdma_msg_renew(msg);
}

/**
 * svc_rdma_msg_put_blocks - give back a message whose Receives may have blocks of pages
 * @sx: connection of the message; sx_back is not %SVC_RDMA_BACK_PLAIN
 * @msg: message
 *
 * Context: process; sleeps if a block has to be replaced. The caller has entered the connection; or
 *	it closes the connection, and then this function does not sleep.
 */
void svc_rdma_msg_put_blocks(struct svc_rdma_xprt *sx,
			     struct rpcrdma_msg_in *msg)
{
	int rc = 0;

	if (READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_RENEW)
		rc = rpcrdma_msg_renew(msg);
	if (rc)
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	if (rc || READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_DROP)
		rpcrdma_msg_drop(msg);
	else
		rpcrdma_msg_put(msg);
}

static void svc_rdma_send_put_msg(struct svc_rdma_send *send)
{
	if (!send->ss_msg)
		return;
	svc_rdma_msg_put_renewed(svc_rdma_send_sx(send), send->ss_msg);
	send->ss_msg = NULL;
}

/**
 * svc_rdma_send_drop_more - free all Sends of a group except the first
 * @send: first Send of a group that was not posted; or a single Send, for which nothing happens
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_drop_more(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	struct svc_rdma_send *more, *next;
	LIST_HEAD(list);

	rpcrdma_send_part(&send->ss_send, &list);
	list_for_each_entry_safe(more, next, &list, ss_send.sd_list) {
		spin_lock(&sx->sx_lock);
		list_del(&more->ss_list);
		spin_unlock(&sx->sx_lock);
		svc_rdma_send_free(more);
	}
}

/**
 * svc_rdma_send_reset - release what a Send context holds
 * @send: context that is not, or no longer, posted
 *
 * This releases the message, the pages, the RDMA Writes and the slots. If @send is the first Send
 * of a group that was not posted, this also frees the other Sends of the group. The context keeps
 * its buffer.
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_reset(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	u32 i;

	svc_rdma_send_put_msg(send);
	svc_rdma_send_drop_more(send);
	svc_rdma_chain_destroy(sx, &send->ss_writes);
	for (i = 0; i < send->ss_npages; i++)
		if (send->ss_pages[i])
			put_page(send->ss_pages[i]);
	send->ss_npages = 0;
	send->ss_send.sd_wr.opcode = IB_WR_SEND;
	send->ss_grants = false;
	svc_rdma_slots_release(sx, send->ss_send.sd_slots);
	WRITE_ONCE(send->ss_send.sd_slots, 0);
}

/* Makes a context idle. If there are enough idle contexts, it goes to @surplus instead, and the
 * caller frees it when it has released sx_lock.
 */
static void svc_rdma_send_put_locked(struct svc_rdma_send *send,
				     struct list_head *surplus)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	struct svc_rdma_send_pool *pool = &sx->sx_sends;

	lockdep_assert_held(&sx->sx_lock);
	if (pool->sp_nidle >= svc_rdma_credits_granted(sx) &&
	    (pool->sp_nidle >= SVC_RDMA_IDLE_SENDS ||
	     pool->sp_nidle * send->ss_send.sd_buf.bf_size >=
	     SVC_RDMA_IDLE_BYTES)) {
		list_move(&send->ss_list, surplus);
		return;
	}
	list_move(&send->ss_list, &pool->sp_idle);
	pool->sp_nidle++;
}

/* Moves the contexts in sp_done to the idle pool, or to @surplus. */
static void svc_rdma_send_collect_locked(struct svc_rdma_xprt *sx,
					 struct list_head *surplus)
{
	struct llist_head *done = &sx->sx_sends.sp_done;
	struct svc_rdma_send *send, *next;

	lockdep_assert_held(&sx->sx_lock);
	if (llist_empty(done))
		return;
	WRITE_ONCE(sx->sx_sends.sp_ndone, 0);
	llist_for_each_entry_safe(send, next, llist_del_all(done), ss_done) {
		WRITE_ONCE(sx->sx_stats.vs_sent, sx->sx_stats.vs_sent + 1);
		svc_rdma_send_put_locked(send, surplus);
	}
}

static void svc_rdma_send_free_list(struct list_head *list)
{
	struct svc_rdma_send *send, *next;

	list_for_each_entry_safe(send, next, list, ss_list)
		svc_rdma_send_free(send);
}

/**
 * svc_rdma_send_get - get a Send context
 * @sx: accepted connection
 * @gfp: flags for allocating a context if none is idle, or a larger buffer for an idle context
 *
 * Context: process; sleeps if @gfp allows it.
 * Return: a context, or NULL.
 */
struct svc_rdma_send *svc_rdma_send_get(struct svc_rdma_xprt *sx, gfp_t gfp)
{
	struct svc_rdma_send_pool *pool = &sx->sx_sends;
	struct svc_rdma_send *send;
	LIST_HEAD(surplus);

	spin_lock(&sx->sx_lock);
	svc_rdma_send_collect_locked(sx, &surplus);
	send = list_first_entry_or_null(&pool->sp_idle, struct svc_rdma_send,
					ss_list);
	if (send) {
		list_move_tail(&send->ss_list, &sx->sx_posted.po_sending);
		pool->sp_nidle--;
		pool->sp_least = min(pool->sp_least, pool->sp_nidle);
	}
	spin_unlock(&sx->sx_lock);
	svc_rdma_send_free_list(&surplus);
	if (!send)
		send = svc_rdma_send_create(sx, gfp);
	else if (unlikely(send->ss_wanted <
			  READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send)))
		svc_rdma_send_create_buf(send, gfp);
	return send;
}

/**
 * svc_rdma_send_put - give back a Send context
 * @send: context that is not posted; all that it holds is released
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_put(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	LIST_HEAD(surplus);

	svc_rdma_send_reset(send);
	spin_lock(&sx->sx_lock);
	svc_rdma_send_put_locked(send, &surplus);
	spin_unlock(&sx->sx_lock);
	svc_rdma_send_free_list(&surplus);
}

/**
 * svc_rdma_send_collect - move the contexts in sp_done to the idle pool
 * @sx: connection
 *
 * Contexts for which the pool has no room are freed.
 *
 * Context: process or completion workqueue.
 * Return: number of idle contexts.
 */
u32 svc_rdma_send_collect(struct svc_rdma_xprt *sx)
{
	LIST_HEAD(surplus);
	u32 idle;

	spin_lock(&sx->sx_lock);
	svc_rdma_send_collect_locked(sx, &surplus);
	idle = sx->sx_sends.sp_nidle;
	spin_unlock(&sx->sx_lock);
	svc_rdma_send_free_list(&surplus);
	return idle;
}

/**
 * svc_rdma_send_unneeded - how many idle contexts have not been needed for some time?
 * @sx: connection
 *
 * Context: process.
 * Return: number of idle contexts that no Send has needed since this was called last.
 */
u32 svc_rdma_send_unneeded(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_send_pool *pool = &sx->sx_sends;
	LIST_HEAD(surplus);
	u32 least;

	spin_lock(&sx->sx_lock);
	svc_rdma_send_collect_locked(sx, &surplus);
	least = pool->sp_least;
	pool->sp_least = pool->sp_nidle;
	spin_unlock(&sx->sx_lock);
	svc_rdma_send_free_list(&surplus);
	return least;
}

/**
 * svc_rdma_send_trim - free idle contexts
 * @sx: connection in the list of server/reclaim.c
 * @most: maximum number of contexts to take from the idle pool and free
 *
 * Contexts in sp_done for which the pool has no room are freed as well, but not counted.
 *
 * Context: process; must not allocate, because memory may be short.
 * Return: number of contexts that were taken from the idle pool and freed.
 */
u32 svc_rdma_send_trim(struct svc_rdma_xprt *sx, u32 most)
{
	struct svc_rdma_send_pool *pool = &sx->sx_sends;
	LIST_HEAD(list);
	u32 count = 0;

	spin_lock(&sx->sx_lock);
	svc_rdma_send_collect_locked(sx, &list);
	while (count < most && pool->sp_nidle) {
		list_move(pool->sp_idle.prev, &list);
		pool->sp_nidle--;
		count++;
	}
	pool->sp_least = min(pool->sp_least, pool->sp_nidle);
	spin_unlock(&sx->sx_lock);

	svc_rdma_send_free_list(&list);
	return count;
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

/* Records that a Send has completed. Outstanding RDMA Reads may have been delayed by Sends that
 * were posted before them. So if those of the first Call (svc_rdma_read_first()) were not posted
 * before @send, the completion of @send counts as progress of RDMA Reads.
 */
static void svc_rdma_progress_sent(struct svc_rdma_xprt *sx,
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
	const struct svc_rdma_send *send;
	unsigned long first = jiffies;
	unsigned long oldest = first;
	unsigned long moved;
	bool waiting = false;

	spin_lock(&sx->sx_lock);
	list_for_each_entry(send, &po->po_sending, ss_list) {
		/* Pairs with svc_rdma_send_set_slots() */
		if (!smp_load_acquire(&send->ss_send.sd_slots))
			continue;
		if (!waiting || time_before(READ_ONCE(send->ss_posted), first))
			first = READ_ONCE(send->ss_posted);
		waiting = true;
	}
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

/* Fails the connection because a Send, or an RDMA Write in front of it, has failed. The context is
 * not freed before the queues are destroyed (I10).
 */
static void svc_rdma_send_fail(struct svc_rdma_send *send,
			       const struct ib_wc *wc)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);

	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_svc_rdma_send_err(sx, &send->ss_send.sd_cid, wc);
	rpcrdma_conn_fail(&sx->sx_conn, -ECONNRESET);
}

/* An RDMA Write of more than dc_signal_max bytes is not signaled, so it has a completion only if it
 * fails. The Send behind it is then flushed. If an RDMA Write has succeeded, nothing is done here:
 * the completion handler of the Send does everything.
 */
static void svc_rdma_send_wc_written(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc_rdma_send *send = container_of(wc->wr_cqe,
						  struct svc_rdma_send,
						  ss_write_cqe);

	if (wc->status != IB_WC_SUCCESS)
		svc_rdma_send_fail(send, wc);
}

static void svc_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc_rdma_send *send = container_of(rpcrdma_send_of(wc),
						  struct svc_rdma_send, ss_send);
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	struct svc_rdma_send_pool *pool = &sx->sx_sends;
	u32 done;

	trace_svc_rdma_send_done(sx, &send->ss_send.sd_cid, wc->status);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		svc_rdma_send_fail(send, wc);
		return;
	}

	/* A completion that nobody awaits (see svc_rdma_send_post()) may have been in the queue for
	 * a long time. So it does not show that the peer is alive now.
	 */
	if (!list_empty(&send->ss_writes.sh_rws)) {
		rpcrdma_send_cq_seen(&sx->sx_conn.cn_send_cq);
		/* On iWARP, the message may only have been passed to TCP */
		if (!sx->sx_conn.cn_caps.dc_iwarp)
			rpcrdma_keepalive_heard(&sx->sx_conn.cn_keepalive);
	}
	/* On iWARP, the completion only shows that the Send has left. */
	if (unlikely(send->ss_at)) {
		if (!sx->sx_conn.cn_caps.dc_iwarp)
			rpcrdma_need_sent(&sx->sx_credit.cd_need,
					  ktime_get_ns() - send->ss_at);
		send->ss_at = 0;
	}
	svc_rdma_progress_sent(sx, send);
	/* This releases the slots. From then on, the context does not count as posted. */
	svc_rdma_send_reset(send);
	llist_add(&send->ss_done, &pool->sp_done);
	/* The next task that needs a context empties sp_done, but that may take a long time. So do
	 * not leave too many contexts there.
	 */
	done = READ_ONCE(pool->sp_ndone) + 1;
	WRITE_ONCE(pool->sp_ndone, done);
	if (unlikely(done > SVC_RDMA_IDLE_SENDS))
		svc_rdma_send_collect(sx);
}

static void svc_rdma_send_prepare_write(struct svc_rdma_send *send,
					struct ib_send_wr *wr)
{
	u32 most = svc_rdma_send_sx(send)->sx_conn.cn_caps.dc_signal_max;
	u32 len = 0;
	int i;

	wr->wr_cqe = &send->ss_write_cqe;
	if (!most)
		return;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (len <= most)
		wr->send_flags |= IB_SEND_SIGNALED;
}

/* Separates the other Sends of a group from @send, because each of them has its own completion. */
static void svc_rdma_send_part_more(struct svc_rdma_send *send)
{
	struct svc_rdma_send *more, *next;
	LIST_HEAD(list);

	rpcrdma_count_add(server_sends, send->ss_send.sd_nmore);
	rpcrdma_send_part(&send->ss_send, &list);
	list_for_each_entry_safe(more, next, &list, ss_send.sd_list) {
		list_del_init(&more->ss_send.sd_list);
		svc_rdma_send_set_slots(more, 1);
		trace_svc_rdma_send(more);
	}
}

/* Write the present grant into a message that is about to be posted, if it has changed since the
 * message was made. All messages that may still be posted with an older grant are being posted in a
 * read-side critical section of RCU, so the server knows when there is none (cd_posted).
 */
static void svc_rdma_send_grant(struct svc_rdma_send *send)
{
	u32 credits = svc_rdma_credits_granted(svc_rdma_send_sx(send));
	struct rpcrdma_send *more;

	if (rpcrdma_send_set_credit(&send->ss_send, credits))
		list_for_each_entry(more, &send->ss_send.sd_more, sd_list)
			rpcrdma_send_set_credit(more, credits);
}

/**
 * svc_rdma_send_post - post a Send or a group of Sends, and the RDMA Writes before it
 * @send: context whose message is prepared, and which has got the slots that sd_wait asks
 *	for. The caller does not own it any more, even after an error
 *
 * The message of the Call, if the context still holds it, is given back first (invariant
 * I13).
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: 0; or a negative errno, and then the connection is down.
 */
int svc_rdma_send_post(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	struct ib_send_wr *first, *wr;
	int rc;

	svc_rdma_send_put_msg(send);
	rpcrdma_count(server_sends);
	if (rpcrdma_send_last(&send->ss_send)->sd_wr.opcode == IB_WR_SEND_WITH_INV)
		rpcrdma_count(server_sends_inv);

	first = svc_rdma_chain_wrs(sx, &send->ss_writes, NULL,
				   &send->ss_send.sd_wr);
	for (wr = first; wr != &send->ss_send.sd_wr; wr = wr->next)
		svc_rdma_send_prepare_write(send, wr);

	if (unlikely(!READ_ONCE(sx->sx_account.au_known)))
		send->ss_at = ktime_get_ns();
	rcu_read_lock();
	if (send->ss_grants)
		svc_rdma_send_grant(send);
	rpcrdma_send_chain(&send->ss_send);
	svc_rdma_send_set_slots(send, send->ss_send.sd_wait.wt_slots -
				      send->ss_send.sd_nmore);
	trace_svc_rdma_send(send);
	if (unlikely(send->ss_send.sd_nmore))
		svc_rdma_send_part_more(send);
	/* If there are RDMA Writes, the completion must be handled at once: until then, the context
	 * holds the pages of the Reply.
	 */
	rc = first != &send->ss_send.sd_wr ?
	     rpcrdma_conn_post_awaited(&sx->sx_conn, first) :
	     rpcrdma_conn_post(&sx->sx_conn, first);
	rcu_read_unlock();
	return rc;
}

static void svc_rdma_send_ready(struct rpcrdma_sq_waiter *waiter)
{
	svc_rdma_send_post(container_of(waiter, struct svc_rdma_send,
					ss_send.sd_wait));
}

/**
 * svc_rdma_send_submit - post a message that grants credits, or let it wait for slots
 * @send: context with the message in its buffer, and the RDMA Writes before it
 * @call: Call that it answers, whose message moves to @send; or NULL
 * @len: bytes to send
 *
 * Context: process; sleeps.
 * Return: 0, and then the caller does not own @send any more; or a negative errno, and then
 *	the caller still owns @send, and @call its message: %-EMSGSIZE if the chain takes
 *	more slots than the send queue has, or another errno if memory is short.
 */
int svc_rdma_send_submit(struct svc_rdma_send *send, struct svc_rdma_call *call,
			 u32 len)
{
	struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;
	u32 slots = send->ss_writes.sh_wrs + 1 + send->ss_send.sd_nmore;
	int rc;

	if (slots > sq->sq_size)
		return -EMSGSIZE;
	if (likely(call)) {
		/* This may sleep, so it is done here, before slots are taken. A holder of slots
		 * must not wait (I9), and svc_rdma_send_ready() must not sleep.
		 */
		rc = svc_rdma_msg_renew(sx, call->sc_msg);
		if (unlikely(rc))
			return rc;
		send->ss_msg = call->sc_msg;
		call->sc_msg = NULL;
	}
	rpcrdma_send_prepare(&send->ss_send, len);
	send->ss_grants = true;
	send->ss_send.sd_wait.wt_slots = slots;
	if (likely(rpcrdma_sq_try(sq, slots, 0))) {
		/* If posting fails, the connection is down, and the caller has
		 * nothing left to do.
		 */
		svc_rdma_send_post(send);
		return 0;
	}
	send->ss_send.sd_wait.wt_ready = svc_rdma_send_ready;
	svc_rdma_slots_wait(sx, &send->ss_send.sd_wait);
	return 0;
}

/**
 * svc_rdma_send_control - send an error or a CONNPROP
 * @send: context that holds nothing but the answer in its buffer. The caller does not own
 *	it any more, even after an error
 * @call: message that is answered, or NULL
 * @len: bytes to send; or a negative errno, if the answer could not be encoded
 *
 * Send With Invalidate is only for Replies (RFC 8797 4.1; G-22), and is never used here.
 *
 * Context: like svc_rdma_send_submit().
 * Return: 0 or a negative errno.
 */
int svc_rdma_send_control(struct svc_rdma_send *send,
			  struct svc_rdma_call *call, int len)
{
	int rc;

	rc = len < 0 ? len : svc_rdma_send_submit(send, call, len);
	if (rc)
		svc_rdma_send_put(send);
	return rc;
}
