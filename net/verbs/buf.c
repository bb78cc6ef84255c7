// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer room: memory that stays DMA-mapped as long as a connection lives,
 * and the Receives made of it.
 *
 * Operation
 *
 * No Receive of a connection is smaller than the inline threshold that the peer
 * was told, or may assume (RFC 8166 3.3.2; version-two 4.2.1). They are used in the order
 * they were posted, so who tells the peer more has none left that is smaller.
 * Their number may grow, it never shrinks. A Receive is posted, filled by the
 * device, handed to the owner through ops->receive(), given back with
 * rpcrdma_recv_put(), and posted again.
 *
 * Posting costs a doorbell, so Receives given back are collected and posted
 * some at a time, see rpcrdma_size_recv_batch(). That is why a connection has
 * more of them than it promises, see rpcrdma_size_recvs(): those
 * that are posted plus those the owner holds are never fewer than the promise
 * (RFC 8166 3.3.1).
 */
#include <linux/slab.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/trace_verbs.h>

/**
 * rpcrdma_buf_init - allocate a buffer and map it
 * @buf: buffer to set up
 * @device: device that will access it
 * @size: bytes
 * @dir: who writes it
 * @gfp: how to allocate
 *
 * The memory is zeroed: whatever is sent from it that nobody wrote is zero
 * (RFC 8166 8.1).
 *
 * Context: process; may sleep if @gfp says so.
 * Return: 0; %-ENOMEM; %-EIO if mapping failed.
 */
int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, enum dma_data_direction dir, gfp_t gfp)
{
	buf->bf_device = NULL;
	buf->bf_size = size;
	buf->bf_dir = dir;
	buf->bf_data = kzalloc_node(size, gfp, ibdev_to_node(device));
	if (!buf->bf_data)
		return -ENOMEM;
	buf->bf_addr = ib_dma_map_single(device, buf->bf_data, size, dir);
	if (ib_dma_mapping_error(device, buf->bf_addr)) {
		kfree(buf->bf_data);
		buf->bf_data = NULL;
		return -EIO;
	}
	buf->bf_device = device;
	return 0;
}

/* What has arrived was handed to the CPU then, and may have been changed since, by
 * decryption in place: the rest of a bounce buffer or cache must not come on top.
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
 * @buf: buffer that rpcrdma_buf_init() set up, or a zeroed one
 *
 * Context: any, once the device can no longer access the buffer.
 */
void rpcrdma_buf_exit(struct rpcrdma_buf *buf)
{
	rpcrdma_buf_unmap(buf);
	kfree(buf->bf_data);
	buf->bf_data = NULL;
}

static void rpcrdma_recv_wait(struct rpcrdma_recv *recv)
{
	struct rpcrdma_conn *conn = recv->rv_conn;

	llist_add(&recv->rv_free, &conn->cn_recv_free);
	atomic_inc(&conn->cn_recv_nfree);
}

/* A flushed Receive says only that the connection is gone. */
static void rpcrdma_recv_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma_recv *recv = container_of(wc->wr_cqe,
						 struct rpcrdma_recv, rv_cqe);
	struct rpcrdma_conn *conn = recv->rv_conn;

	trace_rpcrdma_recv_done(&recv->rv_cid, wc);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_rpcrdma_recv_err(conn, &recv->rv_cid, wc);
		rpcrdma_recv_wait(recv);
		rpcrdma_conn_fail(conn, -ECONNRESET);
		return;
	}

	rpcrdma_alive_heard(&conn->cn_alive);
	atomic_inc(&conn->cn_recv_nheld);
	atomic_set(&recv->rv_state, RPCRDMA_RECV_HELD);
	recv->rv_len = wc->byte_len;
	recv->rv_invalidated = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	recv->rv_inv_rkey = recv->rv_invalidated ? wc->ex.invalidate_rkey : 0;
	rpcrdma_buf_sync_for_cpu(&recv->rv_buf, recv->rv_len);
	conn->cn_ops->receive(conn, recv);
}

static void rpcrdma_recv_destroy(struct rpcrdma_recv *recv)
{
	rpcrdma_buf_exit(&recv->rv_buf);
	kfree(recv);
}

static int rpcrdma_recv_create(struct rpcrdma_conn *conn, u32 size, gfp_t gfp)
{
	struct ib_device *device = rpcrdma_conn_device(conn);
	struct rpcrdma_recv *recv;
	int rc;

	recv = kzalloc_node(sizeof(*recv), gfp, ibdev_to_node(device));
	if (!recv)
		return -ENOMEM;
	rc = rpcrdma_buf_init(&recv->rv_buf, device, size, DMA_FROM_DEVICE,
			      gfp);
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
	INIT_LIST_HEAD(&recv->rv_list);
	list_add_tail(&recv->rv_all, &conn->cn_recvs);
	WRITE_ONCE(conn->cn_nrecvs, conn->cn_nrecvs + 1);
	rpcrdma_recv_wait(recv);
	return 0;
}

/**
 * rpcrdma_recvs_grow_gfp - have more Receives
 * @conn: connection with a queue pair
 * @count: how many there shall be in all, at most what its receive queue holds;
 *	if there are as many, nothing happens
 * @size: bytes of each new one
 * @gfp: how to allocate
 *
 * The new ones are posted with all others that wait.
 *
 * Context: process; sleeps. The caller serialises, also against
 *	rpcrdma_recvs_destroy().
 * Return: 0; %-ENOMEM or %-EIO, and there may be some more than before; or what
 *	rpcrdma_recvs_post() returns, and the connection is down.
 */
int rpcrdma_recvs_grow_gfp(struct rpcrdma_conn *conn, u32 count, u32 size,
			   gfp_t gfp)
{
	int rc = 0;

	count = min(count, conn->cn_recv_max);
	while (!rc && conn->cn_nrecvs < count)
		rc = rpcrdma_recv_create(conn, size, gfp);
	if (rc)
		trace_rpcrdma_no_recvs(conn, rc);
	return rpcrdma_recvs_post(conn) ?: rc;
}

/**
 * rpcrdma_recvs_destroy - free a connection's Receives
 * @conn: connection that was drained, or never had a Receive posted
 *
 * Context: process. The owner holds no Receive any more.
 */
void rpcrdma_recvs_destroy(struct rpcrdma_conn *conn)
{
	struct rpcrdma_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &conn->cn_recvs, rv_all)
		rpcrdma_recv_destroy(recv);
	INIT_LIST_HEAD(&conn->cn_recvs);
	conn->cn_nrecvs = 0;
	conn->cn_recv_max = 0;
	init_llist_head(&conn->cn_recv_free);
	atomic_set(&conn->cn_recv_nfree, 0);
}

/**
 * rpcrdma_recvs_post - post every Receive that waits
 * @conn: connection with a queue pair
 *
 * When it returns, all that waited before are posted, if by somebody else.
 *
 * Context: any that may take a lock; does not sleep.
 * Return: 0; or a negative errno, and the connection is down. Receives that
 *	could not be posted stay where rpcrdma_recvs_destroy() finds them.
 */
int rpcrdma_recvs_post(struct rpcrdma_conn *conn)
{
	struct ib_recv_wr *first = NULL;
	const struct ib_recv_wr *bad;
	struct rpcrdma_recv *recv;
	struct llist_node *node;
	unsigned long flags;
	int count = 0;
	int rc = 0;

	/* Who finds none has to know that those that waited are posted by now:
	 * somebody else may have taken them, and be interrupted.
	 */
	spin_lock_irqsave(&conn->cn_post_lock, flags);
	node = llist_del_all(&conn->cn_recv_free);
	llist_for_each_entry(recv, node, rv_free) {
		recv->rv_wr.next = first;
		first = &recv->rv_wr;
		count++;
		if (conn->cn_gate)
			trace_rpcrdma_recv_post(recv);
	}
	if (first)
		rc = conn->cn_gate ?
		     ib_post_recv(conn->cn_id->qp, first, &bad) : -ENOTCONN;
	atomic_sub(count, &conn->cn_recv_nfree);
	spin_unlock_irqrestore(&conn->cn_post_lock, flags);
	if (rc) {
		trace_rpcrdma_post_err(conn, rc);
		rpcrdma_conn_fail(conn, rc);
	}
	return rc;
}

/**
 * rpcrdma_recv_put - give a Receive back
 * @recv: Receive that came through ops->receive()
 *
 * Its buffer may be overwritten by the next message from now on. Fewer than a
 * batch wait unposted (invariant I6).
 *
 * Context: any that may take a lock; does not sleep.
 */
void rpcrdma_recv_put(struct rpcrdma_recv *recv)
{
	struct rpcrdma_conn *conn = recv->rv_conn;
	u32 batch = rpcrdma_size_recv_batch(READ_ONCE(conn->cn_nrecvs));

	rpcrdma_buf_sync_for_device(&recv->rv_buf, recv->rv_buf.bf_size);
	atomic_set(&recv->rv_state, RPCRDMA_RECV_OURS);
	atomic_dec(&conn->cn_recv_nheld);
	rpcrdma_recv_wait(recv);
	if (atomic_read(&conn->cn_recv_nfree) >= batch)
		rpcrdma_recvs_post(conn);
}

/**
 * rpcrdma_recvs_orphan - let go of the Receives that the owner holds
 * @conn: connection without queues
 *
 * They are unmapped, and no longer the connection's. The owner gives them back
 * with rpcrdma_recv_drop(), whenever he likes.
 *
 * Context: process. From before this on, nobody calls rpcrdma_recv_put().
 */
void rpcrdma_recvs_orphan(struct rpcrdma_conn *conn)
{
	struct rpcrdma_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &conn->cn_recvs, rv_all) {
		rpcrdma_buf_unmap(&recv->rv_buf);
		list_del_init(&recv->rv_all);
		if (atomic_xchg(&recv->rv_state, RPCRDMA_RECV_ORPHAN) !=
		    RPCRDMA_RECV_HELD)
			rpcrdma_recv_destroy(recv);
	}
}

/**
 * rpcrdma_recv_drop - give a Receive back to a connection that is being closed
 * @recv: Receive that came through ops->receive()
 *
 * It is not posted again. If its connection has let go of it, it is freed.
 *
 * Context: any.
 */
void rpcrdma_recv_drop(struct rpcrdma_recv *recv)
{
	if (atomic_xchg(&recv->rv_state, RPCRDMA_RECV_OURS) ==
	    RPCRDMA_RECV_ORPHAN)
		rpcrdma_recv_destroy(recv);
}
