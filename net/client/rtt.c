// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the round trip of its connection, and the choice that follows from it: which items
 * of Calls go by Sends.
 *
 * This file passes times to the estimate of core/rtt.c. The connection itself measures two
 * other times: that of connecting (verbs/conn.c), and that of its probes
 * (verbs/keepalive.c). This file owns xr_write_max.
 *
 * Operation
 *
 * sunrpc records the time when a Call was sent. When it looks up the Reply, it computes how
 * long that is ago. So the time of each Reply is known, and the estimate tells which Replies
 * are of interest. This is one comparison (xprt_rdma_rtt_is_news()), which is hardly ever
 * true after the first Replies of a connection. CONNPROP is the first message that is
 * answered.
 *
 * The first writer is the connect worker, before anything is sent. All later writers are
 * completion handlers of one queue, which run one after the other.
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
 * xprt_rdma_rtt_choose - compute which items go by Sends
 * @xr: transport; its round trip or the limits of the server have just changed
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
 * xprt_rdma_rtt_heard - use the time of an answer of the server
 * @xr: transport
 * @rtt: time that the answer took
 *
 * Context: completion queue's workqueue.
 */
void xprt_rdma_rtt_heard(struct xprt_rdma *xr, ktime_t rtt)
{
	rpcrdma_rtt_heard(&xr->xr_conn.cn_rtt, ktime_to_us(rtt));
	xprt_rdma_rtt_choose(xr);
}
