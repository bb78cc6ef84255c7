// SPDX-License-Identifier: GPL-2.0
/*
 * Server: what people can see of its connections, one line each in
 * /sys/kernel/debug/rpcrdma/servers.
 */
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <rpcrdma/module.h>
#include <rpcrdma/svc_rdma.h>

static DEFINE_SPINLOCK(svc_rdma_show_lock);	/* the list */
static LIST_HEAD(svc_rdma_show_list);

/**
 * svc_rdma_show_add - a connection can be seen
 * @sx: connection that was accepted
 *
 * Context: process.
 */
void svc_rdma_show_add(struct svc_rdma_xprt *sx)
{
	spin_lock(&svc_rdma_show_lock);
	list_add_tail(&sx->sx_shown, &svc_rdma_show_list);
	spin_unlock(&svc_rdma_show_lock);
}

/**
 * svc_rdma_show_del - a connection is about to go
 * @sx: connection, shown or not
 *
 * Context: process.
 */
void svc_rdma_show_del(struct svc_rdma_xprt *sx)
{
	spin_lock(&svc_rdma_show_lock);
	list_del_init(&sx->sx_shown);
	spin_unlock(&svc_rdma_show_lock);
}

/* Nothing is locked but the list: numbers may be about to change. */
static void svc_rdma_show_one(struct seq_file *seq, struct svc_rdma_xprt *sx)
{
	u32 vers = READ_ONCE(sx->sx_vers);

	seq_printf(seq, "peer=%s %s", sx->sx_xprt.xpt_remotebuf,
		   svc_rdma_is_down(sx) ? "lost" : "connected");
	if (vers)
		rpcrdma_debugfs_limits(seq, vers, &sx->sx_conn.cn_limits);
	seq_printf(seq, " credits=%u/%u receives=%u\n",
		   READ_ONCE(sx->sx_credits), sx->sx_sizes.sz_requests,
		   READ_ONCE(sx->sx_conn.cn_nrecvs));
}

/**
 * svc_rdma_show - a line for each connection
 * @seq: where to
 *
 * Context: process.
 */
void svc_rdma_show(struct seq_file *seq)
{
	struct svc_rdma_xprt *sx;

	spin_lock(&svc_rdma_show_lock);
	list_for_each_entry(sx, &svc_rdma_show_list, sx_shown)
		svc_rdma_show_one(seq, sx);
	spin_unlock(&svc_rdma_show_lock);
}
