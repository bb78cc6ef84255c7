// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the round trip of its connection, and what follows from it: which items
 * of Calls go by Sends.
 *
 * This file has the times that the estimate of core/rtt.c is made of, but for
 * those that the connection takes itself: of connecting (verbs/conn.c), and of
 * its probes (verbs/keepalive.c). It owns xr_write_max.
 *
 * Operation
 *
 * sunrpc notes when a Call was sent, and, when its Reply is looked up, how long
 * that is ago. So the time is there for each Reply, and the estimate says which
 * of them is of interest: one comparison, which after the first Replies of a
 * connection hardly ever holds (xprt_rdma_rtt_is_news()). CONNPROP is the first
 * message that is answered.
 *
 * All writers but the first are completion handlers of one queue, which run one
 * after the other. The first is connecting, before anything is sent.
 */
#include <rpcrdma/choice.h>
#include <rpcrdma/param.h>

#include "xprt_rdma.h"

unsigned int xprt_rdma_rtx_write_max;
rpcrdma_param_range(rdma_rtx_write_max, xprt_rdma_rtx_write_max, 0,
		    XPRT_RDMA_RTX_MAX);
MODULE_PARM_DESC(rdma_rtx_write_max,
		 "Client: bytes of the largest data item that is sent in Sends, 0: by the round trip");

/**
 * xprt_rdma_rtt_choose - work out which items go by Sends
 * @xr: transport; its round trip, or what the server takes, has just changed
 *
 * Context: completion queue's workqueue.
 */
void xprt_rdma_rtt_choose(struct xprt_rdma *xr)
{
	const struct rpcrdma_conn *conn = &xr->xr_conn;
	u32 send = xprt_rdma_placing_send(xr);
	const struct rpcrdma_choice choice = {
		.ch_rtt		= conn->cn_rtt.rt_us,
		.ch_fixed	= READ_ONCE(xprt_rdma_rtx_write_max),
		.ch_send	= send ?: conn->cn_limits.lm_inline_send,
		.ch_segs	= U32_MAX,
		.ch_peer	= &conn->cn_rtx,
		.ch_costs	= &rpcrdma_choice_costs,
	};

	WRITE_ONCE(xr->xr_write_max, rpcrdma_choice_limit(&choice));
}

/**
 * xprt_rdma_rtt_heard - the server has answered
 * @xr: transport
 * @rtt: how long that took
 *
 * Context: completion queue's workqueue.
 */
void xprt_rdma_rtt_heard(struct xprt_rdma *xr, ktime_t rtt)
{
	rpcrdma_rtt_heard(&xr->xr_conn.cn_rtt, ktime_to_us(rtt));
	xprt_rdma_rtt_choose(xr);
}
