/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Receives of a connection.
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
 * enum rpcrdma_recv_state - who uses a Receive, and who frees it
 * @RPCRDMA_RECV_OURS: only the device or the pool uses it, and the pool frees it
 * @RPCRDMA_RECV_HELD: the owner of the connection uses the message in it, or verbs/gather.c
 *	holds it. If the Receive is given back before the connection is closed, the pool frees it
 *	later
 * @RPCRDMA_RECV_ORPHAN: the connection was closed while the owner used the message; the owner
 *	frees the Receive
 */
enum rpcrdma_recv_state {
	RPCRDMA_RECV_OURS,
	RPCRDMA_RECV_HELD,
	RPCRDMA_RECV_ORPHAN,
};

/**
 * struct rpcrdma_msg_in - a received message; see msg.h
 * @mi_list: link for the owner, from ops->receive() until the message is given back
 * @mi_next: another kind of link, which an owner may use instead
 * @mi_more: next Receive of the same message, or NULL
 * @mi_body: address of the body in this Receive; valid once the header has been decoded
 * @mi_here: number of bytes of the body in this Receive; valid as soon as @mi_body is
 * @mi_data: in a transmission of a group, number of bytes of placed data in this Receive,
 *	which begin at its first target segment (rtx.h); not used in any other message
 * @mi_more_recvs: number of further Receives after the first
 * @mi_more_len: number of bytes received in the further Receives
 * @mi_more_body: number of bytes of the body in the further Receives
 * @mi_group: the message came as a group, see rpcrdma_msg_is_group()
 * @mi_invalidated: the message came by Send With Invalidate. If a message came in several
 *	transmissions (rtx.h), only the last may invalidate a handle (RTX-73).
 * @mi_inv_rkey: handle that the peer invalidated, if @mi_invalidated
 * @mi_verdict: verdict on a group whose header is valid: %RPCRDMA_OK, or what is wrong with its
 *	length or with its data
 *
 * Embedded in each Receive. The structure in the first Receive represents the message.
 * In a further Receive of the message only @mi_more, @mi_body, @mi_here and @mi_data are
 * used.
 */
struct rpcrdma_msg_in {
	union {
		struct list_head	mi_list;
		struct llist_node	mi_next;
	};
	struct rpcrdma_recv	*mi_more;
	void			*mi_body;
	u32			mi_here;
	u32			mi_data;
	u32			mi_more_recvs;
	u32			mi_more_len;
	u32			mi_more_body;
	bool			mi_group;
	bool			mi_invalidated;
	u32			mi_inv_rkey;
	enum rpcrdma_verdict	mi_verdict;
};

/**
 * struct rpcrdma_recv - one Receive
 * @rv_cqe: completion, by which the handler finds the Receive
 * @rv_cid: completion ID
 * @rv_conn: connection that the Receive belongs to
 * @rv_buf: the buffer; only its first @rv_len bytes may be read
 * @rv_len: number of bytes received
 * @rv_state: an enum rpcrdma_recv_state
 * @rv_wr: the work request
 * @rv_sge: its only SGE
 * @rv_free: link in one of two lists of the pool: Receives that wait to be posted (rp_waiting), or
 *	Receives that were taken out of use (rp_spare)
 * @rv_all: link in the pool's list of all Receives
 * @rv_msg: describes the message, if this is its first Receive; otherwise only the part of the
 *	message that is in this Receive
 *
 * The device owns a posted Receive. The connection's owner (client or server) owns the Receive
 * from ops->receive() to rpcrdma_msg_put() or rpcrdma_msg_drop(). If the Receive contains a
 * transmission of a group (rtx.h), verbs/gather.c owns it until the group is complete or broken. In
 * all other cases the pool owns it.
 */
struct rpcrdma_recv {
	struct ib_cqe		rv_cqe;
	struct rpcrdma_cid	rv_cid;
	struct rpcrdma_conn	*rv_conn;
	struct rpcrdma_buf	rv_buf;
	u32			rv_len;
	atomic_t		rv_state;
	struct ib_recv_wr	rv_wr;
	struct ib_sge		rv_sge;
	struct llist_node	rv_free;
	struct list_head	rv_all;
	struct rpcrdma_msg_in	rv_msg;
};

/**
 * struct rpcrdma_recv_pool - the Receives of a connection
 * @rp_lock: protects @rp_gate, and is held over posting
 * @rp_gate: posting is allowed; under @rp_lock
 * @rp_waiting: Receives that wait to be posted; emptied only under @rp_lock
 * @rp_nwaiting: number of Receives that wait to be posted
 * @rp_arrived: number of Receives that were ever filled; only the completion handler writes it
 * @rp_nheld: number of Receives that were filled and have not been given back yet, whether the
 *	owner or verbs/gather.c holds them
 * @rp_excess: number of Receives that the pool still has to lose. While it is not 0, a Receive
 *	that is given back is taken out of the pool instead of being posted again; changed under
 *	@rp_lock
 * @rp_spare: Receives that were taken out, until rpcrdma_recv_pool_shrink() or
 *	rpcrdma_recv_pool_grow_gfp() frees them
 * @rp_all: all Receives, linked by rv_all
 * @rp_count: number of all Receives; read without a lock
 * @rp_max: maximum number of Receives, limited by the receive queue
 * @rp_batch: number of waiting Receives that are posted together; read without a lock
 * @rp_order: if not 0, the buffer of each new Receive is in a block of 2^@rp_order pages (buf.h),
 *	and consists of the end of the first page and of all other pages. If 0, buffers may have
 *	any size, see rpcrdma_buf_init(). The owner of the connection sets it.
 * @rp_bytes: number of bytes of memory that the buffers of all Receives take; read without a lock
 * @rp_bytes_max: maximum of @rp_bytes, see rpcrdma_recv_pool_limit()
 *
 * The members after @rp_spare are written by rpcrdma_recv_pool_limit(),
 * rpcrdma_recv_pool_grow_gfp() and rpcrdma_recv_pool_shrink(). The callers of these functions
 * serialise their calls. The functions that set up the pool, orphan its Receives or destroy it
 * write these members, too.
 *
 * While the connection is up, all Receives that are neither waiting, nor held, nor on @rp_spare
 * are posted. There is no list of posted Receives: it would cost an operation for each message, and
 * nothing would use it.
 */
struct rpcrdma_recv_pool {
	spinlock_t		rp_lock;	/* gate, posting */
	bool			rp_gate;
	struct llist_head	rp_waiting;
	atomic_t		rp_nwaiting;
	u32			rp_arrived;
	atomic_t		rp_nheld;
	u32			rp_excess;
	struct llist_head	rp_spare;

	struct list_head	rp_all;
	u32			rp_count;
	u32			rp_max;
	u32			rp_batch;
	unsigned int		rp_order;
	u64			rp_bytes;
	u64			rp_bytes_max;
};

void rpcrdma_recv_pool_init(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_limit(struct rpcrdma_recv_pool *pool, u32 size);
u32 rpcrdma_recv_pool_room(const struct rpcrdma_recv_pool *pool, u32 size);
void rpcrdma_recv_pool_shut(struct rpcrdma_recv_pool *pool);
int rpcrdma_recv_pool_grow_gfp(struct rpcrdma_recv_pool *pool, u32 count,
			       u32 size, gfp_t gfp);

/* Like rpcrdma_recv_pool_grow_gfp(), for callers that may wait for memory */
static inline int rpcrdma_recv_pool_grow(struct rpcrdma_recv_pool *pool,
					 u32 count, u32 size)
{
	return rpcrdma_recv_pool_grow_gfp(pool, count, size, GFP_KERNEL |
					  __GFP_NORETRY | __GFP_NOWARN);
}

int rpcrdma_recv_pool_shrink(struct rpcrdma_recv_pool *pool, u32 count);
int rpcrdma_recv_pool_post(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_orphan(struct rpcrdma_recv_pool *pool);
void rpcrdma_recv_pool_destroy(struct rpcrdma_recv_pool *pool);
int rpcrdma_recv_renew(struct rpcrdma_recv *recv);
void rpcrdma_recv_put(struct rpcrdma_recv *recv);
void rpcrdma_recv_drop(struct rpcrdma_recv *recv);

#endif /* RPCRDMA_RECV_H */
