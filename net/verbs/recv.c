// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers, which stay DMA-mapped from one message to the next, and the pool of a connection's
 * Receives. This file creates, posts and frees the Receives. The connection's owner, that is,
 * client or server, decides how many there are, and how large. The functions for buffers, which
 * Sends use, too, know neither the purpose nor the owner of a buffer.
 *
 * Operation
 *
 * A Receive is posted, and the device fills it. ops->receive() hands it to the owner as
 * a message. The owner gives the message back (msg.h), and its Receives are posted again.
 *
 * No Receive is smaller than the inline threshold that the peer was told or may assume
 * (RFC 8166 3.3.2; version-two 4.2.1). The device uses Receives in the order in which
 * they were posted. So an owner must not announce larger Receives to the peer as long as the
 * pool has smaller ones.
 *
 * The number of Receives may grow. It may also shrink, but a posted Receive cannot be taken back.
 * So a Receive is taken out of the pool when it is given back, instead of being posted again, and
 * is freed later (rpcrdma_recv_pool_shrink()).
 *
 * Each call of ib_post_recv() rings a doorbell. So Receives that were given back are
 * collected and posted in batches, see rpcrdma_size_recv_batch(). A connection therefore has
 * more Receives than it promises to the peer by credits, see rpcrdma_size_recvs(): the
 * posted Receives, together with those that the owner holds, are never fewer than promised
 * (RFC 8166 3.3.1).
 *
 * Receives pin most of a connection's memory. So a pool counts the bytes that it has
 * pinned, and has a limit for them (rpcrdma_recv_pool_limit()). Before an owner grants more
 * credits, it calls rpcrdma_recv_pool_room(), and promises no more Receives than this function
 * returns. A server may promise fewer, because its connections share a budget (server/budget.c).
 *
 * Receives may have target segments (rtx.h). The buffer of such a Receive is part of a block of
 * pages (rp_order): the end of the first page, and all the other pages, which are
 * the target segments. If the peer places data in target segments, the owner can hand these pages
 * to other code without a copy. That code may keep a page for longer than the owner keeps the
 * message. So before the owner gives back a Receive whose pages it has handed out, it calls
 * rpcrdma_recv_renew(), which checks whether anybody else has a reference to the block. If so, the
 * Receive gets a new block, and the old one is freed with its last reference. If there is no
 * memory for a new block, the Receive must not be posted again (rpcrdma_recv_drop()). So no page
 * that somebody still reads is overwritten (invariant I34).
 *
 * A pool has its own lock (rp_lock) and gate (rp_gate, which allows posting). So posting Receives
 * and posting Sends never wait for each other. The gates of both queues are shut before the queues
 * are drained (invariant I1 in Documentation/locking.rst).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>

#include "trace.h"

static void rpcrdma_buf_free(struct rpcrdma_buf *buf)
{
	if (buf->bf_block)
		put_page(buf->bf_block);
	else
		kfree(buf->bf_data);
	buf->bf_block = NULL;
	buf->bf_data = NULL;
}

/**
 * rpcrdma_buf_init - allocate a buffer and map it
 * @buf: buffer to set up
 * @device: device that will access it
 * @size: size in bytes; if @order is not 0, at most that of the block
 * @order: if not 0, the buffer is the last bytes of a block of 2^@order pages. If 0, it comes from
 *	a slab or, if it is too large for that, from the smallest block that has room for it
 * @dir: DMA direction
 * @gfp: allocation flags
 *
 * The memory is zeroed, so that no stale kernel data can be sent from it (RFC 8166 8.1). The pages
 * of a block are adjacent, so one SGE describes the buffer. They form one compound page, so one
 * reference count shows whether anybody holds any of the pages.
 *
 * A server executes a Call in the buffer in which it was received. So a file system may take
 * references to the pages of the buffer for a while. References to pages of a slab do no harm: some
 * kernels count and drop them as usual, others ignore them. But for more than
 * KMALLOC_MAX_CACHE_SIZE bytes, kmalloc() returns pages that belong to no slab. On some kernels,
 * the reference count of these pages is 0; lib/iov_iter.c raises it, and put_page() does not lower
 * it again. So a buffer of more than KMALLOC_MAX_CACHE_SIZE bytes is a block.
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: 0; %-ENOMEM; %-EIO if mapping failed.
 */
int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, unsigned int order,
		     enum dma_data_direction dir, gfp_t gfp)
{
	int node = ibdev_to_node(device);

	if (!order && rpcrdma_buf_needs_block(size))
		order = get_order(size);
	buf->bf_device = NULL;
	buf->bf_block = NULL;
	buf->bf_size = size;
	buf->bf_dir = dir;
	if (order) {
		gfp |= __GFP_COMP | __GFP_ZERO;
		buf->bf_block = alloc_pages_node(node, gfp, order);
		if (!buf->bf_block)
			return -ENOMEM;
		buf->bf_data = page_address(buf->bf_block) +
			       (PAGE_SIZE << order) - size;
	} else {
		buf->bf_data = kzalloc_node(size, gfp, node);
		if (!buf->bf_data)
			return -ENOMEM;
	}
	buf->bf_addr = ib_dma_map_single(device, buf->bf_data, size, dir);
	if (ib_dma_mapping_error(device, buf->bf_addr)) {
		rpcrdma_buf_free(buf);
		return -EIO;
	}
	buf->bf_device = device;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_buf_init);

/* Unmaps a buffer that the device can no longer access, and keeps its contents. Received data has
 * already been synchronised for the CPU, and may have been decrypted in place since. So unmapping
 * must neither overwrite the data from a bounce buffer, nor invalidate the CPU's cache.
 */
static void rpcrdma_buf_unmap(struct rpcrdma_buf *buf)
{
	if (buf->bf_device && !ib_uses_virt_dma(buf->bf_device))
		dma_unmap_single_attrs(buf->bf_device->dma_device, buf->bf_addr,
				       buf->bf_size, buf->bf_dir,
				       DMA_ATTR_SKIP_CPU_SYNC);
	buf->bf_device = NULL;
}

/**
 * rpcrdma_buf_exit - unmap a buffer and free it
 * @buf: buffer that was set up, or a zeroed one
 *
 * Context: any, once the device can no longer access the buffer.
 */
void rpcrdma_buf_exit(struct rpcrdma_buf *buf)
{
	rpcrdma_buf_unmap(buf);
	rpcrdma_buf_free(buf);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_buf_exit);

static struct rpcrdma_conn *
rpcrdma_recv_pool_conn(struct rpcrdma_recv_pool *pool)
{
	return container_of(pool, struct rpcrdma_conn, cn_recvs);
}

/**
 * rpcrdma_recv_pool_init - initialise a pool without Receives
 * @pool: pool of a connection, zeroed
 *
 * Context: any.
 */
void rpcrdma_recv_pool_init(struct rpcrdma_recv_pool *pool)
{
	spin_lock_init(&pool->rp_lock);
	INIT_LIST_HEAD(&pool->rp_all);
}

/**
 * rpcrdma_recv_pool_limit - set how much memory the Receives may pin
 * @pool: pool that is open
 * @size: number of bytes in the largest Receive that the connection may ever have. A Receive
 *	with target segments (rtx.h) counts with the size of its whole block.
 *
 * The limit is the memory of a full receive queue of such Receives. Before this function is
 * called, no Receive can be created.
 *
 * Context: process. The caller serialises with rpcrdma_recv_pool_grow_gfp().
 */
void rpcrdma_recv_pool_limit(struct rpcrdma_recv_pool *pool, u32 size)
{
	pool->rp_bytes_max = (u64)pool->rp_max * rpcrdma_buf_pins(size, 0);
}

/**
 * rpcrdma_recv_pool_room - compute how many Receives a pool can have
 * @pool: pool with a limit
 * @size: size in bytes of each additional Receive
 *
 * Context: process. The caller serialises with rpcrdma_recv_pool_grow_gfp().
 * Return: number of Receives, including the existing ones.
 */
u32 rpcrdma_recv_pool_room(const struct rpcrdma_recv_pool *pool, u32 size)
{
	u32 pins = rpcrdma_buf_pins(size, pool->rp_order);
	u32 more = rpcrdma_size_recvs_fit(pool->rp_bytes, pool->rp_bytes_max,
					  pins);

	return pool->rp_count + min(more, pool->rp_max - pool->rp_count);
}

/**
 * rpcrdma_recv_pool_shut - stop posting Receives
 * @pool: pool in any state
 *
 * When this returns, no task is posting a Receive or will post one (invariant I1).
 *
 * Context: process; does not sleep.
 */
void rpcrdma_recv_pool_shut(struct rpcrdma_recv_pool *pool)
{
	spin_lock_bh(&pool->rp_lock);
	pool->rp_gate = false;
	spin_unlock_bh(&pool->rp_lock);
}

static void rpcrdma_recv_queue(struct rpcrdma_recv_pool *pool,
			       struct rpcrdma_recv *recv)
{
	llist_add(&recv->rv_free, &pool->rp_waiting);
	atomic_inc(&pool->rp_nwaiting);
}

/* A flushed Receive only shows that the connection is down, so no error event is traced for it. */
static void rpcrdma_recv_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma_recv *recv = container_of(wc->wr_cqe,
						 struct rpcrdma_recv, rv_cqe);
	struct rpcrdma_conn *conn = recv->rv_conn;
	struct rpcrdma_msg_in *msg = &recv->rv_msg;

	trace_rpcrdma_recv_done(&recv->rv_cid, wc);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_rpcrdma_recv_err(conn, &recv->rv_cid, wc);
		rpcrdma_recv_queue(&conn->cn_recvs, recv);
		rpcrdma_conn_flushed(conn);
		return;
	}

	rpcrdma_keepalive_heard(&conn->cn_keepalive);
	WRITE_ONCE(conn->cn_recvs.rp_arrived, conn->cn_recvs.rp_arrived + 1);
	atomic_inc(&conn->cn_recvs.rp_nheld);
	atomic_set(&recv->rv_state, RPCRDMA_RECV_HELD);
	recv->rv_len = wc->byte_len;
	msg->mi_invalidated = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	msg->mi_inv_rkey = msg->mi_invalidated ? wc->ex.invalidate_rkey : 0;
	rpcrdma_buf_sync_for_cpu(&recv->rv_buf, recv->rv_len);
	/* Pairs with rpcrdma_gather_start() */
	smp_load_acquire(&conn->cn_receive)(conn, msg);
}

static void rpcrdma_recv_destroy(struct rpcrdma_recv *recv)
{
	rpcrdma_buf_exit(&recv->rv_buf);
	kfree(recv);
}

static int rpcrdma_recv_create(struct rpcrdma_recv_pool *pool, u32 size,
			       gfp_t gfp)
{
	struct rpcrdma_conn *conn = rpcrdma_recv_pool_conn(pool);
	struct ib_device *device = rpcrdma_conn_device(conn);
	u32 pins = rpcrdma_buf_pins(size, pool->rp_order);
	struct rpcrdma_recv *recv;
	int rc;

	if (!rpcrdma_size_recvs_fit(pool->rp_bytes, pool->rp_bytes_max, pins))
		return -ENOBUFS;
	recv = kzalloc_node(sizeof(*recv), gfp, ibdev_to_node(device));
	if (!recv)
		return -ENOMEM;
	rc = rpcrdma_buf_init(&recv->rv_buf, device, size, pool->rp_order,
			      DMA_FROM_DEVICE, gfp);
	if (rc) {
		kfree(recv);
		return rc;
	}

	recv->rv_conn = conn;
	recv->rv_cid = rpcrdma_conn_cid(conn);
	recv->rv_cqe.done = rpcrdma_recv_wc_done;
	recv->rv_sge.addr = recv->rv_buf.bf_addr;
	recv->rv_sge.length = size;
	recv->rv_sge.lkey = conn->cn_pd->local_dma_lkey;
	recv->rv_wr.wr_cqe = &recv->rv_cqe;
	recv->rv_wr.sg_list = &recv->rv_sge;
	recv->rv_wr.num_sge = 1;
	INIT_LIST_HEAD(&recv->rv_msg.mi_list);
	list_add_tail(&recv->rv_all, &pool->rp_all);
	WRITE_ONCE(pool->rp_count, pool->rp_count + 1);
	WRITE_ONCE(pool->rp_bytes, pool->rp_bytes + pins);
	rpcrdma_recv_queue(pool, recv);
	return 0;
}

/* Sets how many Receives rpcrdma_recv_put() takes out of the pool, instead of posting them again.
 * When this returns, each Receive that was taken out before is on rp_spare, because
 * rpcrdma_recv_take_out() puts it there under the same lock.
 */
static void rpcrdma_recv_pool_set_excess(struct rpcrdma_recv_pool *pool,
					 u32 excess)
{
	spin_lock_bh(&pool->rp_lock);
	WRITE_ONCE(pool->rp_excess, excess);
	spin_unlock_bh(&pool->rp_lock);
}

/* If the pool has too many Receives, takes @recv out of it. Returns whether it did. */
static bool rpcrdma_recv_take_out(struct rpcrdma_recv_pool *pool,
				  struct rpcrdma_recv *recv)
{
	bool out;

	spin_lock_bh(&pool->rp_lock);
	out = pool->rp_excess;
	if (out) {
		WRITE_ONCE(pool->rp_excess, pool->rp_excess - 1);
		llist_add(&recv->rv_free, &pool->rp_spare);
	}
	spin_unlock_bh(&pool->rp_lock);
	return out;
}

/* Stops taking Receives out of a pool, and frees those that were taken out. */
static void rpcrdma_recv_pool_reap(struct rpcrdma_recv_pool *pool)
{
	struct rpcrdma_recv *recv, *next;
	struct page *block;
	u32 pins;

	rpcrdma_recv_pool_set_excess(pool, 0);
	llist_for_each_entry_safe(recv, next, llist_del_all(&pool->rp_spare),
				  rv_free) {
		block = recv->rv_buf.bf_block;
		pins = block ? page_size(block) : recv->rv_buf.bf_size;
		list_del(&recv->rv_all);
		WRITE_ONCE(pool->rp_count, pool->rp_count - 1);
		WRITE_ONCE(pool->rp_bytes, pool->rp_bytes - pins);
		rpcrdma_recv_destroy(recv);
	}
}

/**
 * rpcrdma_recv_pool_shrink - take Receives out of a pool
 * @pool: pool of a connection with a queue pair
 * @count: number of Receives that the pool should have; enough for all credits that the peer may
 *	still believe it has
 *
 * The pool gets smaller as the owner gives Receives back. This function frees those that were taken
 * out since the last call.
 *
 * Context: process. The caller serialises this with rpcrdma_recv_pool_grow_gfp().
 * Return: an error of rpcrdma_recv_pool_post(), and the connection is down; or 0.
 */
int rpcrdma_recv_pool_shrink(struct rpcrdma_recv_pool *pool, u32 count)
{
	int rc;

	rpcrdma_recv_pool_reap(pool);
	if (pool->rp_count <= count)
		return 0;
	/* A smaller pool has smaller batches: fewer Receives may wait to be posted (I6). */
	WRITE_ONCE(pool->rp_batch, rpcrdma_size_recv_batch(count));
	rc = rpcrdma_recv_pool_post(pool);
	rpcrdma_recv_pool_set_excess(pool, pool->rp_count - count);
	return rc;
}

/**
 * rpcrdma_recv_pool_grow_gfp - create Receives
 * @pool: pool of a connection with a queue pair
 * @count: number of Receives that the pool should have; bounded by the receive queue. If
 *	the pool already has that many, none is created.
 * @size: size in bytes of each new Receive
 * @gfp: allocation flags
 *
 * The new Receives are posted together with all others that wait. If the pool is still shrinking
 * because of an earlier rpcrdma_recv_pool_shrink(), it stops, and the next such call goes on.
 *
 * Context: process; sleeps. The caller serialises the calls of this function, also with
 *	rpcrdma_recv_pool_destroy().
 * Return: 0; an error of rpcrdma_recv_pool_post(), and then the connection is down; or one of
 *	three errors after which some of the Receives may exist: %-ENOMEM; %-EIO if mapping
 *	failed; %-ENOBUFS if the pool would exceed its limit of pinned memory.
 */
int rpcrdma_recv_pool_grow_gfp(struct rpcrdma_recv_pool *pool, u32 count,
			       u32 size, gfp_t gfp)
{
	int rc = 0;

	rpcrdma_recv_pool_reap(pool);
	count = min(count, pool->rp_max);
	while (!rc && pool->rp_count < count)
		rc = rpcrdma_recv_create(pool, size, gfp);
	if (rc)
		trace_rpcrdma_no_recvs(rpcrdma_recv_pool_conn(pool), rc);
	WRITE_ONCE(pool->rp_batch, rpcrdma_size_recv_batch(pool->rp_count));
	return rpcrdma_recv_pool_post(pool) ?: rc;
}

/**
 * rpcrdma_recv_pool_post - post every Receive that waits
 * @pool: pool of a connection with a queue pair
 *
 * When this returns 0, all Receives that waited before the call are posted, by this task or by
 * another.
 *
 * Context: process, completion workqueue or softirq; does not sleep.
 * Return: 0; or a negative errno, and the connection is down. Receives that could not be
 *	posted are freed with the pool.
 */
int rpcrdma_recv_pool_post(struct rpcrdma_recv_pool *pool)
{
	struct rpcrdma_conn *conn = rpcrdma_recv_pool_conn(pool);
	struct ib_recv_wr *first = NULL;
	const struct ib_recv_wr *bad;
	struct rpcrdma_recv *recv;
	struct llist_node *node;
	int count = 0;
	int rc = 0;

	/* The list is emptied under the lock, because an empty list must mean that all
	 * earlier Receives are posted. Without the lock, another task could empty the list and be
	 * preempted before it posts the Receives.
	 */
	spin_lock_bh(&pool->rp_lock);
	node = llist_del_all(&pool->rp_waiting);
	llist_for_each_entry(recv, node, rv_free) {
		if (pool->rp_gate)
			trace_rpcrdma_recv_post(recv);
		recv->rv_wr.next = first;
		first = &recv->rv_wr;
		count++;
	}
	if (first)
		rc = pool->rp_gate ?
		     ib_post_recv(conn->cn_id->qp, first, &bad) : -ENOTCONN;
	atomic_sub(count, &pool->rp_nwaiting);
	spin_unlock_bh(&pool->rp_lock);
	if (rc) {
		trace_rpcrdma_post_err(conn, rc);
		rpcrdma_conn_fail(conn, rc);
	}
	return rc;
}

/**
 * rpcrdma_recv_renew - replace the block of a Receive if other code still uses one of its pages
 * @recv: Receive that came through ops->receive(), of a connection that is not being
 *	closed
 *
 * After this, the owner must not hand out pages of the Receive any more.
 *
 * Context: process; sleeps if the block has to be replaced.
 * Return: 0, and then rpcrdma_recv_put() may follow; or a negative errno, and then only
 *	rpcrdma_recv_drop() may follow.
 */
int rpcrdma_recv_renew(struct rpcrdma_recv *recv)
{
	struct rpcrdma_buf other, *buf = &recv->rv_buf;
	int rc;

	if (likely(!rpcrdma_buf_is_shared(buf)))
		return 0;
	/* It is better to lose the connection than to kill a process for memory. */
	rc = rpcrdma_buf_init(&other, buf->bf_device, buf->bf_size,
			      compound_order(buf->bf_block), buf->bf_dir,
			      GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (rc)
		return rc;
	rpcrdma_count(receives_renewed);
	/* The old block keeps its content, and is freed with its last reference. */
	rpcrdma_buf_exit(buf);
	*buf = other;
	recv->rv_sge.addr = buf->bf_addr;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_recv_renew);

/**
 * rpcrdma_recv_put - give a Receive back
 * @recv: Receive that contains a message or a part of one; no other code uses a page of it, see
 *	rpcrdma_recv_renew()
 *
 * From now on a new message may overwrite its buffer. The Receive waits to be posted again. If a
 * whole batch of Receives (rp_batch) waits now, this function posts all that wait (invariant I6).
 * If the pool has too many Receives, this one is not posted again (rpcrdma_recv_pool_shrink()).
 *
 * Context: process, completion workqueue or softirq; does not sleep.
 */
void rpcrdma_recv_put(struct rpcrdma_recv *recv)
{
	struct rpcrdma_recv_pool *pool = &recv->rv_conn->cn_recvs;

	rpcrdma_buf_sync_for_device(&recv->rv_buf, recv->rv_buf.bf_size);
	atomic_set(&recv->rv_state, RPCRDMA_RECV_OURS);
	atomic_dec(&pool->rp_nheld);
	if (unlikely(READ_ONCE(pool->rp_excess)) &&
	    rpcrdma_recv_take_out(pool, recv))
		return;
	rpcrdma_recv_queue(pool, recv);
	/* rp_batch is read after llist_add(), which is a full barrier. If
	 * rpcrdma_recv_pool_shrink() lowers rp_batch at the same time, either this read sees
	 * the new value, or rpcrdma_recv_pool_shrink() posts this Receive.
	 */
	if (atomic_read(&pool->rp_nwaiting) >= READ_ONCE(pool->rp_batch))
		rpcrdma_recv_pool_post(pool);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_recv_put);

/**
 * rpcrdma_recv_pool_orphan - give up the Receives that the connection's owner still uses
 * @pool: pool of a connection without queues
 *
 * These Receives are unmapped and no longer belong to the pool. The owner gives them back
 * with rpcrdma_recv_drop() at any later time. All other Receives are freed.
 *
 * Context: process. No task calls rpcrdma_recv_put() any more.
 */
void rpcrdma_recv_pool_orphan(struct rpcrdma_recv_pool *pool)
{
	struct rpcrdma_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &pool->rp_all, rv_all) {
		rpcrdma_buf_unmap(&recv->rv_buf);
		list_del_init(&recv->rv_all);
		if (atomic_xchg(&recv->rv_state, RPCRDMA_RECV_ORPHAN) !=
		    RPCRDMA_RECV_HELD)
			rpcrdma_recv_destroy(recv);
	}
}

/**
 * rpcrdma_recv_pool_destroy - free all Receives
 * @pool: pool of a connection that was drained, or never had a Receive posted
 *
 * Context: process. The owner no longer holds any Receive of the pool.
 */
void rpcrdma_recv_pool_destroy(struct rpcrdma_recv_pool *pool)
{
	struct rpcrdma_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &pool->rp_all, rv_all)
		rpcrdma_recv_destroy(recv);
	memset_startat(pool, 0, rp_waiting);
	INIT_LIST_HEAD(&pool->rp_all);
}

/**
 * rpcrdma_recv_drop - give back a Receive that must not be posted again
 * @recv: Receive that contains a message or a part of one, of a connection that is down
 *
 * The Receive is freed here if rpcrdma_recv_pool_orphan() has left it to the owner, and with
 * the pool otherwise.
 *
 * Context: any.
 */
void rpcrdma_recv_drop(struct rpcrdma_recv *recv)
{
	if (atomic_xchg(&recv->rv_state, RPCRDMA_RECV_OURS) ==
	    RPCRDMA_RECV_ORPHAN)
		rpcrdma_recv_destroy(recv);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_recv_drop);
