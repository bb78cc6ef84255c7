// SPDX-License-Identifier: GPL-2.0
/*
 * The sysctls: /proc/sys/sunrpc/rdma_* for the client, /proc/sys/sunrpc/svc_rdma/ for the
 * server. These are the settings that the in-tree module has, and the table of paths, which each
 * network namespace has. All other settings are module parameters. Changes apply only to
 * transports and connections that are made afterwards.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/props.h>

#include "../client/xprt_rdma.h"
#include "../server/svc_rdma.h"
#include "module.h"

/* Type of the table that a handler gets. For kernels in which the table is not const, a shim in
 * include/compat defines this macro.
 */
#ifndef rpcrdma_ctl_table
#define rpcrdma_ctl_table	const struct ctl_table
#endif

#define RPCRDMA_SYSCTL(name, var, min, max) {				\
	.procname	= name,						\
	.data		= &(var),					\
	.maxlen		= sizeof(unsigned int),				\
	.mode		= 0644,						\
	.proc_handler	= proc_douintvec_minmax,			\
	.extra1		= (void *)&(const unsigned int) { min },	\
	.extra2		= (void *)&(const unsigned int) { max },	\
}

/* Value of a counter when its sysctl was last written; 0 if it never was, or there is no sysctl */
static u64 rpcrdma_stat_base[RPCRDMA_CNT_MAX];

/* Shows a counter of the server under the name that the in-tree module has for it. Writing any
 * value resets the shown value to 0, as in the in-tree module. The counter itself does not change.
 */
static int rpcrdma_sysctl_stat(rpcrdma_ctl_table *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	u64 *base = table->data;
	/* Read the base before the counter. Otherwise another task could set the base to
	 * a later count in between, and the difference would be negative.
	 */
	u64 begin = READ_ONCE(*base);
	u64 now = rpcrdma_counter_read(base - rpcrdma_stat_base);
	unsigned long value = now - begin;
	rpcrdma_ctl_table shown = {
		.procname	= table->procname,
		.data		= &value,
		.maxlen		= sizeof(value),
		.mode		= table->mode,
	};

	if (write) {
		WRITE_ONCE(*base, now);
		return 0;
	}
	return proc_doulongvec_minmax(&shown, 0, buffer, lenp, ppos);
}

#define RPCRDMA_SYSCTL_STAT(name, counter) {				\
	.procname	= name,						\
	.data		= &rpcrdma_stat_base[RPCRDMA_CNT_##counter],	\
	.maxlen		= sizeof(u64),					\
	.mode		= 0644,						\
	.proc_handler	= rpcrdma_sysctl_stat,				\
}

/* Only kernels before Linux 6.6 see the empty entry, which ends a table there. */
#define RPCRDMA_SYSCTL_END	{ }
#define RPCRDMA_SYSCTLS(table)	(ARRAY_SIZE(table) - 1)

static const struct ctl_table rpcrdma_sysctl_client[] = {
	RPCRDMA_SYSCTL("rdma_slot_table_entries", xprt_rdma_slot_table_entries,
		       XPRT_RDMA_MIN_SLOTS, XPRT_RDMA_MAX_SLOTS),
	RPCRDMA_SYSCTL("rdma_max_inline_read", xprt_rdma_max_inline_read,
		       RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX),
	RPCRDMA_SYSCTL("rdma_max_inline_write", xprt_rdma_max_inline_write,
		       RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX),
	RPCRDMA_SYSCTL_END
};

static const struct ctl_table rpcrdma_sysctl_server[] = {
	RPCRDMA_SYSCTL("max_requests", svc_rdma_max_requests,
		       SVC_RDMA_REQUESTS_MIN, SVC_RDMA_REQUESTS_MAX),
	RPCRDMA_SYSCTL("max_req_size", svc_rdma_max_req_size,
		       SVC_RDMA_REQ_SIZE_MIN, RPCRDMA_INLINE_MAX),
	RPCRDMA_SYSCTL_STAT("rdma_stat_recv", server_receives),
	RPCRDMA_SYSCTL_STAT("rdma_stat_read", server_rdma_read_wrs),
	RPCRDMA_SYSCTL_STAT("rdma_stat_write", server_rdma_write_wrs),
	RPCRDMA_SYSCTL_STAT("rdma_stat_sq_starve", server_sq_waits),
	RPCRDMA_SYSCTL_END
};

/* Of each network namespace: registration of a table with the sysctl rdma_paths, whose data is the
 * namespace
 */
static unsigned int rpcrdma_sysctl_net_id;

/* rdma_paths, the table of paths (admin.rst, Several paths). A write changes only the lines
 * whose server (or "default") occurs in it. The offset of the write is ignored.
 */
static int rpcrdma_sysctl_paths(rpcrdma_ctl_table *table, int write,
				void *buffer, size_t *lenp, loff_t *ppos)
{
	struct net *net = table->data;
	int rc = 0;

	if (write)
		rc = xprt_rdma_paths_write(net, buffer, *lenp);
	else
		*lenp = xprt_rdma_paths_read(net, buffer, *lenp, *ppos);
	*ppos += *lenp;
	return rc;
}

static int __net_init rpcrdma_sysctl_net_init(struct net *net)
{
	struct ctl_table_header **header = net_generic(net, rpcrdma_sysctl_net_id);
	const struct ctl_table table[] = {
		{
			.procname	= "rdma_paths",
			.data		= net,
			.mode		= 0644,
			.proc_handler	= rpcrdma_sysctl_paths,
		},
		RPCRDMA_SYSCTL_END
	};
	void *copy = kmemdup(table, sizeof(table), GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	*header = register_net_sysctl_sz(net, "sunrpc", copy,
					 RPCRDMA_SYSCTLS(table));
	if (*header)
		return 0;
	kfree(copy);
	return -ENOMEM;
}

static void __net_exit rpcrdma_sysctl_net_exit(struct net *net)
{
	struct ctl_table_header **header = net_generic(net, rpcrdma_sysctl_net_id);
	const struct ctl_table *copy = (*header)->ctl_table_arg;

	unregister_net_sysctl_table(*header);
	kfree(copy);
}

static struct pernet_operations rpcrdma_sysctl_net_ops = {
	.init	= rpcrdma_sysctl_net_init,
	.exit	= rpcrdma_sysctl_net_exit,
	.id	= &rpcrdma_sysctl_net_id,
	.size	= sizeof(struct ctl_table_header *),
};

static struct ctl_table_header *rpcrdma_sysctl_client_header;
static struct ctl_table_header *rpcrdma_sysctl_server_header;

/**
 * rpcrdma_sysctl_init - register the module's sysctls
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int rpcrdma_sysctl_init(void)
{
	int rc = -ENOMEM;

	/* In some kernels, such as 6.12, register_sysctl_sz() and register_net_sysctl_sz() take a
	 * table that is not const. But they do not modify the tables of this file, so the cast is
	 * safe.
	 */
	rpcrdma_sysctl_client_header =
		register_sysctl_sz("sunrpc", (void *)rpcrdma_sysctl_client,
				   RPCRDMA_SYSCTLS(rpcrdma_sysctl_client));
	if (!rpcrdma_sysctl_client_header)
		return -ENOMEM;

	rpcrdma_sysctl_server_header =
		register_sysctl_sz("sunrpc/svc_rdma",
				   (void *)rpcrdma_sysctl_server,
				   RPCRDMA_SYSCTLS(rpcrdma_sysctl_server));
	if (!rpcrdma_sysctl_server_header)
		goto out_client;

	rc = register_pernet_subsys(&rpcrdma_sysctl_net_ops);
	if (rc)
		goto out_server;
	return 0;

out_server:
	unregister_sysctl_table(rpcrdma_sysctl_server_header);
out_client:
	unregister_sysctl_table(rpcrdma_sysctl_client_header);
	return rc;
}

/**
 * rpcrdma_sysctl_exit - unregister the module's sysctls
 *
 * Context: module unload.
 */
void rpcrdma_sysctl_exit(void)
{
	unregister_pernet_subsys(&rpcrdma_sysctl_net_ops);
	unregister_sysctl_table(rpcrdma_sysctl_server_header);
	unregister_sysctl_table(rpcrdma_sysctl_client_header);
}
