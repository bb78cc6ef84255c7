/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers that stay DMA-mapped for the life of a connection, and the Receives
 * made of them.
 */
#ifndef RPCRDMA_BUF_H
#define RPCRDMA_BUF_H

#include <linux/llist.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/cid.h>

struct rpcrdma_conn;

/**
 * struct rpcrdma_buf - one mapped buffer
 * @bf_data: kernel address
 * @bf_device: device it is mapped for; NULL: not mapped
 * @bf_addr: DMA address, while mapped
 * @bf_size: bytes
 * @bf_dir: DMA direction
 */
struct rpcrdma_buf {
	void			*bf_data;
	struct ib_device	*bf_device;
	u64			bf_addr;
	u32			bf_size;
	enum dma_data_direction	bf_dir;
};

int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, enum dma_data_direction dir, gfp_t gfp);
void rpcrdma_buf_exit(struct rpcrdma_buf *buf);

/* The device is about to read the first @len bytes. */
static inline void rpcrdma_buf_sync_for_device(struct rpcrdma_buf *buf, u32 len)
{
	ib_dma_sync_single_for_device(buf->bf_device, buf->bf_addr, len,
				      buf->bf_dir);
}

/* The device has written the first @len bytes. */
static inline void rpcrdma_buf_sync_for_cpu(struct rpcrdma_buf *buf, u32 len)
{
	ib_dma_sync_single_for_cpu(buf->bf_device, buf->bf_addr, len,
				   buf->bf_dir);
}

/**
 * enum rpcrdma_recv_state - who frees a Receive
 * @RPCRDMA_RECV_OURS: its connection
 * @RPCRDMA_RECV_HELD: likewise, but the owner still looks at it
 * @RPCRDMA_RECV_ORPHAN: the owner: the connection has gone
 */
enum rpcrdma_recv_state {
	RPCRDMA_RECV_OURS,
	RPCRDMA_RECV_HELD,
	RPCRDMA_RECV_ORPHAN,
};

/**
 * struct rpcrdma_recv - one Receive
 * @rv_cqe: completion, finds the Receive
 * @rv_cid: its completion ID
 * @rv_conn: connection it belongs to
 * @rv_buf: the buffer; only its first @rv_len bytes may be looked at
 * @rv_len: bytes received
 * @rv_inv_rkey: handle the peer invalidated, if @rv_invalidated
 * @rv_state: an enum rpcrdma_recv_state
 * @rv_invalidated: the message came by Send With Invalidate
 * @rv_wr: the work request
 * @rv_sge: its only SGE
 * @rv_free: link in the connection's list of Receives waiting to be posted
 * @rv_all: link in the connection's list of all Receives
 * @rv_list: for the owner, from ops->receive() until rpcrdma_recv_put()
 *
 * Owned by the device while posted, by whoever ops->receive() gave it to
 * until rpcrdma_recv_put(), else by the connection.
 */
struct rpcrdma_recv {
	struct ib_cqe		rv_cqe;
	struct rpcrdma_cid	rv_cid;
	struct rpcrdma_conn	*rv_conn;
	struct rpcrdma_buf	rv_buf;
	u32			rv_len;
	u32			rv_inv_rkey;
	atomic_t		rv_state;
	bool			rv_invalidated;
	struct ib_recv_wr	rv_wr;
	struct ib_sge		rv_sge;
	struct llist_node	rv_free;
	struct list_head	rv_all;
	struct list_head	rv_list;
};

int rpcrdma_recvs_grow_gfp(struct rpcrdma_conn *conn, u32 count, u32 size,
			   gfp_t gfp);

/* Likewise, where to wait a little does no harm */
static inline int rpcrdma_recvs_grow(struct rpcrdma_conn *conn, u32 count,
				     u32 size)
{
	return rpcrdma_recvs_grow_gfp(conn, count, size, GFP_KERNEL |
				      __GFP_NORETRY | __GFP_NOWARN);
}

void rpcrdma_recvs_destroy(struct rpcrdma_conn *conn);
int rpcrdma_recvs_post(struct rpcrdma_conn *conn);
void rpcrdma_recv_put(struct rpcrdma_recv *recv);
void rpcrdma_recvs_orphan(struct rpcrdma_conn *conn);
void rpcrdma_recv_drop(struct rpcrdma_recv *recv);

#endif /* RPCRDMA_BUF_H */
