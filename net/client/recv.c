// SPDX-License-Identifier: GPL-2.0
/*
 * Client: how many Receives a connection has for Replies.
 *
 * This file decides how many there are, and never which. Posting them and giving them
 * back is done by verbs/recv.c; how large they are is said by negotiate.c.
 *
 * The Receives for a Reply are posted before the Call is sent (RFC 8166 3.3.1): one,
 * since a Reply is one Send (RPCRDMA_MSG_RECVS). What is counted here is Receives, not
 * Calls. A connection begins with few; whenever more Replies are awaited than ever
 * before, there are twice as many. Most connections never need them all. What they pin
 * has a bound, and no more credits are asked for than fit.
 *
 * A Reply that comes as a group takes several. All beyond the first come from a number of
 * spare ones, which are made when a Call first wants some.
 */
#include "xprt_rdma.h"

/**
 * xprt_rdma_recv_limit - bound what a new connection's Receives pin
 * @xr: transport whose connection has its queues, and whose version is open
 *
 * If there may not be as many Receives as the sizes say, fewer credits are asked for.
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
 * xprt_rdma_recv_expect - have Receives for Replies
 * @xr: transport whose version is settled
 * @replies: Receives that those to all Calls in flight may take
 * @gfp: how to allocate
 *
 * Context: process; sleeps. Send lock held, so nobody closes the connection.
 * Return: 0; or %-ENOBUFS if memory is too short.
 */
int xprt_rdma_recv_expect(struct xprt_rdma *xr, u32 replies, gfp_t gfp)
{
	struct rpcrdma_recv_pool *pool = &xr->xr_conn.cn_recvs;
	u32 size = xprt_rdma_negotiate_recv_size(xr);
	u32 want = max(replies, 2 * xprt_rdma_recv_expected(xr));

	/* There is room for more, but that is for spare ones. */
	want = min(want, max(replies, xprt_rdma_recv_most(xr)));
	want = min(want + xprt_rdma_recv_others(xr),
		   rpcrdma_recv_pool_room(pool, size));
	rpcrdma_recv_pool_grow_gfp(pool, want, size, gfp);
	replies = min(replies, xprt_rdma_recv_most(xr));
	return xprt_rdma_recv_expected(xr) < replies ? -ENOBUFS : 0;
}

/**
 * xprt_rdma_recv_make_spare - have Receives for Replies that take several
 * @xr: transport whose version is settled
 *
 * All of them are made at once, or memory is short and there are none (RTX-98).
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
