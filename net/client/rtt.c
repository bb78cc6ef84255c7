// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the round-trip time of the connection, and a choice that depends on it: the maximum
 * length of a Call's item (DDP-eligible data) that goes by Sends and not by RDMA Read.
 *
 * core/rtt.c makes the estimate. This file tells it how long answers take, verbs/conn.c how long
 * connecting takes, and verbs/keepalive.c how long its probes take. This file owns xr_write_max.
 *
 * Operation
 *
 * xprt_rdma_send_request() records when a Call is sent (rq_xtime). When sunrpc looks up the
 * RPC of a Reply, it computes the time that has passed (rq_rtt). So the time that each Reply
 * took is known. xprt_rdma_rtt_is_news() compares this time with a limit (rt_ask), to find out
 * whether it may change the estimate. After the first Replies of a connection, few Replies change
 * it. The time that the answer to our CONNPROP (the client's first message in version 2) took is
 * always reported to core/rtt.c.
 *
 * The connect worker writes the estimate first, before any message is sent. All later writers
 * hold the lock of the send completion queue (rpcrdma_send_cq_enter()).
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
 * xprt_rdma_rtt_choose - compute the maximum length of items that go by Sends (xr_write_max)
 * @xr: transport; its estimate of the round trip, or the properties that the server has
 *	announced, may have changed
 *
 * Context: completion queue's workqueue; cq_mutex held.
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
 * xprt_rdma_rtt_heard - update the estimate with the time that an answer took
 * @xr: transport
 * @rtt: time from sending the message until its answer came
 *
 * Context: completion queue's workqueue; cq_mutex held.
 */
void xprt_rdma_rtt_heard(struct xprt_rdma *xr, ktime_t rtt)
{
	rpcrdma_rtt_heard(&xr->xr_conn.cn_rtt, ktime_to_us(rtt));
	xprt_rdma_rtt_choose(xr);
}
