// SPDX-License-Identifier: GPL-2.0
/*
 * Client: what people can see of its transports, one line each in
 * /sys/kernel/debug/rpcrdma/clients.
 */
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <rpcrdma/module.h>
#include <rpcrdma/xprt_rdma.h>

static DEFINE_SPINLOCK(xprt_rdma_show_lock);	/* the list */
static LIST_HEAD(xprt_rdma_show_list);

/**
 * xprt_rdma_show_add - a transport can be seen
 * @xr: transport whose addresses are formatted
 *
 * Context: process.
 */
void xprt_rdma_show_add(struct xprt_rdma *xr)
{
	spin_lock(&xprt_rdma_show_lock);
	list_add_tail(&xr->xr_shown, &xprt_rdma_show_list);
	spin_unlock(&xprt_rdma_show_lock);
}

/**
 * xprt_rdma_show_del - a transport is about to go
 * @xr: transport, shown or not
 *
 * Context: process.
 */
void xprt_rdma_show_del(struct xprt_rdma *xr)
{
	spin_lock(&xprt_rdma_show_lock);
	list_del_init(&xr->xr_shown);
	spin_unlock(&xprt_rdma_show_lock);
}

/* Nothing is locked but the list: numbers may be those of a connection that is
 * just being made.
 */
static void xprt_rdma_show_one(struct seq_file *seq, struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	bool connected = xprt_connected(xprt);

	seq_printf(seq, "peer=%pISpc %s", (const void *)&xprt->addr,
		   connected ? "connected" : "idle");
	if (connected) {
		rpcrdma_debugfs_limits(seq, xr->xr_vers,
				       &xr->xr_conn.cn_limits);
		seq_printf(seq, " credits=%u/%u", xr->xr_window.wn_granted,
			   xr->xr_window.wn_requested);
	}
	if (xr->xr_v1_only)
		seq_puts(seq, " v1_only");
	seq_putc(seq, '\n');
}

/**
 * xprt_rdma_show - a line for each transport
 * @seq: where to
 *
 * Context: process.
 */
void xprt_rdma_show(struct seq_file *seq)
{
	struct xprt_rdma *xr;

	spin_lock(&xprt_rdma_show_lock);
	list_for_each_entry(xr, &xprt_rdma_show_list, xr_shown)
		xprt_rdma_show_one(seq, xr);
	spin_unlock(&xprt_rdma_show_lock);
}
