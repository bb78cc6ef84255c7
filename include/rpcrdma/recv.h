/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool of Receives: what a connection can receive messages with.
 */
#ifndef RPCRDMA_RECV_H
#define RPCRDMA_RECV_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/buf.h>
#include <rpcrdma/cid.h>
#include <rpcrdma/wire.h>

struct rpcrdma_conn;
struct rpcrdma_recv;

/**
 * enum rpcrdma_recv_state - who frees a Receive
 * @RPCRDMA_RECV_OURS: its pool
 * @RPCRDMA_RECV_HELD: likewise, but the owner still looks at it
 * @RPCRDMA_RECV_ORPHAN: the owner: the connection has gone
 */
enum rpcrdma_recv_state {
	RPCRDMA_RECV_OURS,
	RPCRDMA_RECV_HELD,
	RPCRDMA_RECV_ORPHAN,
};

/**
 * struct rpcrdma_msg_in - a received message; see msg.h
 * @mi_list: for the owner, from ops->receive() until rpcrdma_msg_put()
 * @mi_more: the Receive behind this one in the same message, or NULL
 * @mi_body: where the body begins in this Receive, once the header was read
 * @mi_here: bytes of body in this Receive, likewise
 * @mi_data: of a transmission of a group: bytes of data in this Receive, from its first
 *	target on; of any other message: nobody looks
 * @mi_more_recvs: Receives behind the first
 * @mi_more_len: bytes received in these
 * @mi_more_body: bytes of body in these
 * @mi_group: it came as a group, see rpcrdma_msg_is_group()
 * @mi_verdict: of a group: see rpcrdma_msg_verdict()
 *
 * Part of each Receive. The message is that of its first Receive; those of the others
 * only link them and say where their parts of body and data are, and everything else in
 * them is as in a message of one Receive: 0.
 */
struct rpcrdma_msg_in {
	struct list_head	mi_list;
	struct rpcrdma_recv	*mi_more;
	void			*mi_body;
	u32			mi_here;
	u32			mi_data;
	u32			mi_more_recvs;
	u32			mi_more_len;
	u32			mi_more_body;
	bool			mi_group;
	enum rpcrdma_verdict	mi_verdict;
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
 * @rv_free: link in the pool's list of Receives that wait to be posted
 * @rv_all: link in the pool's list of all Receives
 * @rv_msg: the message that it holds, or part of one
 *
 * Owned by the device while posted, by whoever ops->receive() gave the message to
 * until rpcrdma_msg_put(), else by the pool.
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
	struct rpcrdma_msg_in	rv_msg;
};

/**
 * struct rpcrdma_recv_pool - the Receives of a connection
 * @rp_lock: posting, and @rp_gate
 * @rp_gate: posting is allowed; under @rp_lock
 * @rp_waiting: Receives that wait to be posted; emptied under @rp_lock only
 * @rp_nwaiting: how many
 * @rp_nheld: Receives that the owner has not given back yet
 * @rp_all: all Receives (rv_all)
 * @rp_count: how many there are; read anywhere
 * @rp_max: how many there can be: what the receive queue holds
 * @rp_batch: so many that wait are posted at once; read anywhere
 * @rp_order: binary logarithm of the pages of each Receive made from now on, which is
 *	a block; 0: it is none
 * @rp_bytes: bytes of memory that they pin; read anywhere
 * @rp_bytes_max: how many they may pin, see rpcrdma_recv_pool_limit()
 *
 * What follows @rp_nheld is written by rpcrdma_recv_pool_blocks() and
 * rpcrdma_recv_pool_grow_gfp(), whose callers serialise, and by what begins and ends the
 * pool.
 *
 * The device has those that neither wait nor are held. They are on no list but
 * @rp_all: a list would cost each message an operation, and nobody would look at it.
 */
struct rpcrdma_recv_pool {
	spinlock_t		rp_lock;	/* gate, posting */
	bool			rp_gate;
	struct llist_head	rp_waiting;
	atomic_t		rp_nwaiting;
	atomic_t		rp_nheld;

	struct list_head	rp_all;
	u32			rp_count;
	u32			rp_max;
	u32			rp_batch;
	unsigned int		rp_order;
	u64			rp_bytes;
	u64			rp_bytes_max;
};

/* How many the owner has in hand */
static inline u32 rpcrdma_recv_pool_held(const struct rpcrdma_recv_pool *pool)
{
	return atomic_read(&pool->rp_nheld);
}

/* How many the device has. The counts are read one after the other, so this is
 * exact only at rest.
 */
static inline u32 rpcrdma_recv_pool_posted(const struct rpcrdma_recv_pool *pool)
{
	u32 others = atomic_read(&pool->rp_nwaiting) +
		     rpcrdma_recv_pool_held(pool);
	u32 count = READ_ONCE(pool->rp_count);

	return count > others ? count - others : 0;
}

void rpcrdma_recv_pool_init(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_open(struct rpcrdma_recv_pool *pool, u32 max);
void rpcrdma_recv_pool_limit(struct rpcrdma_recv_pool *pool, u32 size);
u32 rpcrdma_recv_pool_room(const struct rpcrdma_recv_pool *pool, u32 size);
void rpcrdma_recv_pool_blocks(struct rpcrdma_recv_pool *pool,
			      unsigned int order);
void rpcrdma_recv_pool_shut(struct rpcrdma_recv_pool *pool);
int rpcrdma_recv_pool_grow_gfp(struct rpcrdma_recv_pool *pool, u32 count,
			       u32 size, gfp_t gfp);

/* Likewise, where waiting a little does no harm */
static inline int rpcrdma_recv_pool_grow(struct rpcrdma_recv_pool *pool,
					 u32 count, u32 size)
{
	return rpcrdma_recv_pool_grow_gfp(pool, count, size, GFP_KERNEL |
					  __GFP_NORETRY | __GFP_NOWARN);
}

int rpcrdma_recv_pool_post(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_orphan(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_destroy(struct rpcrdma_recv_pool *pool);
int rpcrdma_recv_renew(struct rpcrdma_recv *recv);
void rpcrdma_recv_put(struct rpcrdma_recv *recv);
void rpcrdma_recv_drop(struct rpcrdma_recv *recv);

#endif /* RPCRDMA_RECV_H */
