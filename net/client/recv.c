// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the number of Receives that a connection has for Replies.
 *
 * This file decides how many Receives there are. verbs/recv.c posts them and takes them
 * back. negotiate.c decides their size.
 *
 * The Receives for a Reply are posted before the Call is sent (RFC 8166 3.3.1). Unless a Reply
 * is a group, it takes one Receive (RPCRDMA_MSG_RECVS). This file counts Receives, not Calls.
 * A connection begins with a few Receives, which connect.c creates. When more Replies are expected
 * than there are Receives, the number of Receives is at least doubled, but not above the maximum.
 * Most connections never need the maximum. The memory for the Receives is limited, and the client
 * requests no more credits than it can have Receives for.
 *
 * A Reply that comes as a group (group.c) may take several Receives. For those beyond the
 * first, there are spare Receives, which are created when a Call first needs some.
 */
#include "xprt_rdma.h"

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
	xr->xr_sizes.cz_requests = (xr->xr_sizes.cz_recvs - others) /
				   RPCRDMA_MSG_RECVS;
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
	want = min(want, max(replies, xprt_rdma_recv_most(xr)));
	want = min(want + xprt_rdma_recv_others(xr),
		   rpcrdma_recv_pool_room(pool, size));
	rpcrdma_recv_pool_grow_gfp(pool, want, size, gfp);
	replies = min(replies, xprt_rdma_recv_most(xr));
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
	xprt_rdma_credit_add_spare(xr, xr->xr_spare);
}
