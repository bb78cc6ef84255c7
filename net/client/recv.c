// SPDX-License-Identifier: GPL-2.0
/*
 * Client: how many Receives a connection has for Replies.
 *
 * This file decides how many there are, and never which. Posting them and giving them
 * back is done by verbs/buf.c; how large they are is said by negotiate.c.
 *
 * The Receive for a Reply is posted before the Call is sent (RFC 8166 3.3.1). A
 * connection begins with few; whenever more Calls are in flight than ever
 * before, there are twice as many. Most connections never need them all.
 */
#include <rpcrdma/xprt_rdma.h>

/**
 * xprt_rdma_recv_expect - have Receives for the Replies to some Calls
 * @xr: transport whose version is settled
 * @calls: how many may be in flight
 * @gfp: how to allocate
 *
 * Context: process; sleeps. Send lock held, so nobody closes the connection.
 * Return: 0; or %-ENOBUFS if memory is too short.
 */
int xprt_rdma_recv_expect(struct xprt_rdma *xr, u32 calls, gfp_t gfp)
{
	u32 want = max(calls, 2 * xprt_rdma_recv_expected(xr));

	rpcrdma_recvs_grow_gfp(&xr->xr_conn,
			       want + xprt_rdma_recv_others(xr),
			       xprt_rdma_negotiate_recv_size(xr), gfp);
	calls = min(calls, xr->xr_sizes.cz_requests);
	return xprt_rdma_recv_expected(xr) < calls ? -ENOBUFS : 0;
}
