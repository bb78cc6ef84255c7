// SPDX-License-Identifier: GPL-2.0
/* Module: event counters, and the debugfs directory that shows them. */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/module.h>
#include <rpcrdma/svc_rdma.h>
#include <rpcrdma/xprt_rdma.h>

DEFINE_PER_CPU(struct rpcrdma_counts, rpcrdma_counts);
EXPORT_PER_CPU_SYMBOL_GPL(rpcrdma_counts);	/* for unit tests */

static const char * const rpcrdma_counter_names[RPCRDMA_CNT_MAX] = {
#define X(name) \
	[RPCRDMA_CNT_##name] = #name,
	RPCRDMA_COUNTERS(X)
#undef X
};

static struct dentry *rpcrdma_debugfs_dir;

/**
 * rpcrdma_counter_read - sum of a counter over all CPUs
 * @which: counter
 *
 * Context: any.
 * Return: number of events since the module was loaded.
 */
u64 rpcrdma_counter_read(enum rpcrdma_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(rpcrdma_counts, cpu).ct_value[which];
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_counter_read);

/**
 * rpcrdma_debugfs_limits - show what holds on a connection
 * @seq: where to, in the middle of a line
 * @vers: its version
 * @limits: its limits; they may be about to change
 *
 * Context: any.
 */
void rpcrdma_debugfs_limits(struct seq_file *seq, u32 vers,
			    const struct rpcrdma_limits *limits)
{
	seq_printf(seq, " vers=%u inline_send=%u inline_recv=%u", vers,
		   limits->lm_inline_send, limits->lm_inline_recv);
	seq_printf(seq, " brs=%u peer_spoke=%d remote_inv=%d", limits->lm_brs,
		   limits->lm_peer_spoke, limits->lm_remote_inv);
}

static int rpcrdma_debugfs_counters_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < RPCRDMA_CNT_MAX; i++)
		seq_printf(seq, "%s %llu\n", rpcrdma_counter_names[i],
			   rpcrdma_counter_read(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_debugfs_counters);

static int rpcrdma_debugfs_servers_show(struct seq_file *seq, void *unused)
{
	svc_rdma_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_debugfs_servers);

static int rpcrdma_debugfs_clients_show(struct seq_file *seq, void *unused)
{
	xprt_rdma_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_debugfs_clients);

/* For tests: expect less of the server than it will send */
static void rpcrdma_debugfs_client(void)
{
	debugfs_create_file("clients", 0444, rpcrdma_debugfs_dir, NULL,
			    &rpcrdma_debugfs_clients_fops);
	debugfs_create_u32("client_shrink_write", 0600, rpcrdma_debugfs_dir,
			   &xprt_rdma_shrink_write);
	debugfs_create_u32("client_shrink_reply", 0600, rpcrdma_debugfs_dir,
			   &xprt_rdma_shrink_reply);
}

/* For tests: make the server less than it is */
static void rpcrdma_debugfs_server(void)
{
	debugfs_create_file("servers", 0444, rpcrdma_debugfs_dir, NULL,
			    &rpcrdma_debugfs_servers_fops);
	debugfs_create_u32("server_max_reads", 0600, rpcrdma_debugfs_dir,
			   &svc_rdma_max_reads);
	debugfs_create_u32("server_max_writes", 0600, rpcrdma_debugfs_dir,
			   &svc_rdma_max_writes);
	debugfs_create_u32("server_max_segs", 0600, rpcrdma_debugfs_dir,
			   &svc_rdma_max_segs);
	debugfs_create_atomic_t("server_fail_system", 0600, rpcrdma_debugfs_dir,
				&svc_rdma_fail_system);
}

/**
 * rpcrdma_debugfs_init - create /sys/kernel/debug/rpcrdma
 *
 * Without debugfs the module works the same, it only shows less.
 *
 * Context: module load.
 */
void rpcrdma_debugfs_init(void)
{
	rpcrdma_debugfs_dir = debugfs_create_dir("rpcrdma", NULL);
	debugfs_create_file("counters", 0444, rpcrdma_debugfs_dir, NULL,
			    &rpcrdma_debugfs_counters_fops);
	rpcrdma_debugfs_server();
	rpcrdma_debugfs_client();
}

/**
 * rpcrdma_debugfs_exit - remove /sys/kernel/debug/rpcrdma
 *
 * Context: module unload, or failed load.
 */
void rpcrdma_debugfs_exit(void)
{
	debugfs_remove_recursive(rpcrdma_debugfs_dir);
}
