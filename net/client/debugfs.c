// SPDX-License-Identifier: GPL-2.0
/*
 * Client: /sys/kernel/debug/rpcrdma/client/<address>:<port>-<number>, a file for each
 * transport. The file exists as long as the transport, even while there is no connection,
 * because it also shows why a connection ended. So a new connection may be set up while the
 * file is read: see rpcrdma_debugfs_conn().
 *
 * This code changes nothing, and never takes the send lock (XPRT_LOCKED).
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <rpcrdma/debugfs.h>

#include "xprt_rdma.h"

static void xprt_rdma_debugfs_credits(struct seq_file *seq,
				      struct xprt_rdma *xr)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;
	struct rpcrdma_window window;
	unsigned long cong;

	spin_lock(&xprt->transport_lock);
	window = xr->xr_window;
	cong = xprt->cong;
	spin_unlock(&xprt->transport_lock);

	seq_printf(seq, "credits_requested %u\n", window.wn_requested);
	seq_printf(seq, "credits_granted %u\n", window.wn_granted);
	seq_printf(seq, "credits_in_flight %lu\n", cong >> RPC_CWNDSHIFT);
	seq_printf(seq, "credits_owed %u\n", window.wn_owed);
	seq_printf(seq, "credits_more %u\n", window.wn_more);
	seq_printf(seq, "callback_credits %u\n",
		   READ_ONCE(xr->xr_bc_enabled) ? XPRT_RDMA_BC_REQUESTS : 0);
}

static void xprt_rdma_debugfs_paths(struct seq_file *seq, struct xprt_rdma *xr)
{
	const struct xprt_rdma_paths *th = &xr->xr_paths;

	/* Before the first attempt to connect, np_dst is empty, and "(einval)" is shown. */
	seq_printf(seq, "destination %pISpc\n", &xr->xr_path.np_dst);
	seq_printf(seq, "number %u\n", READ_ONCE(th->th_number));
	seq_printf(seq, "path %u\n", READ_ONCE(th->th_path));
	seq_printf(seq, "paths %u\n", READ_ONCE(th->th_count));
}

static int xprt_rdma_debugfs_show(struct seq_file *seq, void *unused)
{
	struct xprt_rdma *xr = seq->private;
	const struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;
	const struct rpc_xprt *xprt = &xr->xr_xprt;

	seq_printf(seq, "peer %pISpc\n", &xprt->addr);
	/* Before the first connection, xr_srcaddr is empty, and "(einval)" is shown. */
	seq_printf(seq, "source %pISpc\n", &xr->xr_srcaddr);
	xprt_rdma_debugfs_paths(seq, xr);
	seq_printf(seq, "netns %u\n", xprt->xprt_net->ns.inum);
	seq_printf(seq, "device %s\n", xr->xr_device);
	rpcrdma_debugfs_conn(seq, READ_ONCE(xr->xr_vers), &xr->xr_conn);
	seq_printf(seq, "v1_only %u\n", READ_ONCE(xr->xr_v1_only));
	seq_printf(seq, "round_trip_us %u\n",
		   (u32)ktime_to_us(READ_ONCE(xr->xr_conn.cn_rtt)));
	seq_printf(seq, "write_max %u\n", READ_ONCE(xr->xr_write_max));
	xprt_rdma_debugfs_credits(seq, xr);
	seq_printf(seq, "slots %u\n", READ_ONCE(xr->xr_nreqs));
	seq_printf(seq, "send_queue_free %d\n", atomic_read(&sq->sq_free));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(xprt_rdma_debugfs);

/**
 * xprt_rdma_debugfs_create - create the debugfs file of a transport
 * @xr: transport whose address is set
 *
 * Context: process; sleeps.
 */
void xprt_rdma_debugfs_create(struct xprt_rdma *xr)
{
	char peer[INET6_ADDRSTRLEN + sizeof("[]:65535")];

	snprintf(peer, sizeof(peer), "%pISpc", &xr->xr_xprt.addr);
	xr->xr_debugfs = rpcrdma_debugfs_add(RPCRDMA_DEBUGFS_CLIENT, peer, xr,
					     &xprt_rdma_debugfs_fops);
}

/**
 * xprt_rdma_debugfs_destroy - remove the debugfs file of a transport
 * @xr: transport
 *
 * Context: process; sleeps until all readers have finished.
 */
void xprt_rdma_debugfs_destroy(struct xprt_rdma *xr)
{
	debugfs_remove(xr->xr_debugfs);
}
