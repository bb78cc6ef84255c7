// SPDX-License-Identifier: GPL-2.0
/*
 * The debugfs files of the server's connections. A connection has a file
 * /sys/kernel/debug/rpcrdma/server/<address>:<port>-<number> from when it is accepted until it
 * is closed. Reading the file has a side effect: completions of the send queue that have not been
 * handled yet are normally handled, and the Send contexts that have completed become idle or are
 * freed.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <rpcrdma/debugfs.h>

#include "svc_rdma.h"

static void svc_rdma_debugfs_stock(struct seq_file *seq, const char *name,
				   u32 size, u32 free)
{
	seq_printf(seq, "%s %u\n", name, size);
	seq_printf(seq, "%s_free %u\n", name, free);
}

static void svc_rdma_debugfs_stats(struct seq_file *seq,
				   struct svc_rdma_xprt *sx)
{
	struct svc_rdma_stats *st = &sx->sx_stats;
	u64 sent;

	spin_lock(&sx->sx_lock);
	sent = st->vs_sent;
	spin_unlock(&sx->sx_lock);

	seq_printf(seq, "received %llu\n", READ_ONCE(st->vs_received));
	seq_printf(seq, "sent %llu\n", sent);
	seq_printf(seq, "refused %lld\n", atomic64_read(&st->vs_refused));
	seq_printf(seq, "dropped %lld\n", atomic64_read(&st->vs_dropped));
	seq_printf(seq, "rdma_read_bytes %lld\n",
		   atomic64_read(&st->vs_read_bytes));
	seq_printf(seq, "rdma_write_bytes %lld\n",
		   atomic64_read(&st->vs_write_bytes));
}

static int svc_rdma_debugfs_show(struct seq_file *seq, void *unused)
{
	struct svc_rdma_xprt *sx = seq->private;
	const struct svc_rdma_credits *credits = &sx->sx_credit;

	/* Otherwise the slots of Sends that have completed, but whose completions are still
	 * in the queue, would be shown as used.
	 */
	rpcrdma_send_cq_poll(&sx->sx_conn);
	seq_printf(seq, "peer %s\n", sx->sx_xprt.xpt_remotebuf);
	seq_printf(seq, "local %pISpc\n", &sx->sx_xprt.xpt_local);
	seq_printf(seq, "netns %u\n", sx->sx_netns);
	seq_printf(seq, "device %s\n",
		   dev_name(&rpcrdma_conn_device(&sx->sx_conn)->dev));
	rpcrdma_debugfs_conn(seq, READ_ONCE(sx->sx_vers), &sx->sx_conn);
	seq_printf(seq, "credits_max %u\n", sx->sx_sizes.sz_requests);
	seq_printf(seq, "credits_granted %u\n",
		   svc_rdma_credits_told(sx));
	seq_printf(seq, "credits_owed %u\n",
		   READ_ONCE(credits->cd_grant.gn_bound));
	seq_printf(seq, "callback_receives %u\n",
		   READ_ONCE(credits->cd_bc_recvs));
	seq_printf(seq, "idle_sends %u\n", svc_rdma_send_collect(sx));
	seq_printf(seq, "memory_held %llu\n",
		   READ_ONCE(sx->sx_account.ac_held));
	svc_rdma_debugfs_stock(seq, "send_queue", READ_ONCE(sx->sx_conn.cn_sq.sq_size),
			       atomic_read(&sx->sx_conn.cn_sq.sq_free));
	svc_rdma_debugfs_stock(seq, "regions", READ_ONCE(sx->sx_mrs.ms_size),
			       atomic_read(&sx->sx_mrs.ms_free));
	svc_rdma_debugfs_stats(seq, sx);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_debugfs);

/**
 * svc_rdma_debugfs_create - create the debugfs file of a connection
 * @sx: accepted connection
 *
 * Context: process; sleeps.
 */
void svc_rdma_debugfs_create(struct svc_rdma_xprt *sx)
{
	sx->sx_debugfs = rpcrdma_debugfs_add(RPCRDMA_DEBUGFS_SERVER,
					     sx->sx_xprt.xpt_remotebuf, sx,
					     &svc_rdma_debugfs_fops);
}

/**
 * svc_rdma_debugfs_destroy - remove the debugfs file of a connection
 * @sx: connection that is being closed; it may have no file
 *
 * Context: process; sleeps until readers have left.
 */
void svc_rdma_debugfs_destroy(struct svc_rdma_xprt *sx)
{
	debugfs_remove(sx->sx_debugfs);
	sx->sx_debugfs = NULL;
}

static int svc_rdma_memory_show(struct seq_file *seq, void *unused)
{
	svc_rdma_budget_show(seq);
	seq_printf(seq, "stock %lu\n", svc_rdma_stock_size() << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_memory);

static struct dentry *svc_rdma_memory_debugfs;

/**
 * svc_rdma_debugfs_init - create the file that shows the memory of the server
 *
 * Context: process; module init.
 */
void svc_rdma_debugfs_init(void)
{
	svc_rdma_memory_debugfs =
		rpcrdma_debugfs_add_file("server_memory", &svc_rdma_memory_fops);
}

/**
 * svc_rdma_debugfs_exit - remove this file
 *
 * Context: process; module exit.
 */
void svc_rdma_debugfs_exit(void)
{
	debugfs_remove(svc_rdma_memory_debugfs);
}
