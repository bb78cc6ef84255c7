// SPDX-License-Identifier: GPL-2.0
/*
 * The sysctls: /proc/sys/sunrpc/rdma_* for the client, /proc/sys/sunrpc/svc_rdma/ for the
 * server. rdma_keepalive_* are for both. Most changes apply only to transports and connections
 * that are made afterwards. Settings that the in-tree module also has have the same names as
 * there.
 */
#include <linux/sysctl.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/keepalive.h>
#include <rpcrdma/props.h>

#include "../client/xprt_rdma.h"
#include "../server/svc_rdma.h"
#include "module.h"

static const unsigned int rpcrdma_inline_min = RPCRDMA_INLINE_MIN;
static const unsigned int rpcrdma_inline_max = RPCRDMA_INLINE_MAX;
static const unsigned int rpcrdma_vers_min = RPCRDMA_VERS_1;
static const unsigned int rpcrdma_vers_max = RPCRDMA_VERS_2;
static const unsigned int rpcrdma_off;
static const unsigned int rpcrdma_on = 1;
static const unsigned int rpcrdma_rtx_max = XPRT_RDMA_RTX_MAX;
static const unsigned int rpcrdma_slots_min = XPRT_RDMA_MIN_SLOTS;
static const unsigned int rpcrdma_slots_max = XPRT_RDMA_MAX_SLOTS;
static const unsigned int rpcrdma_req_size_min = SVC_RDMA_REQ_SIZE_MIN;
static const unsigned int rpcrdma_requests_min = SVC_RDMA_REQUESTS_MIN;
static const unsigned int rpcrdma_requests_max = SVC_RDMA_REQUESTS_MAX;
static const unsigned int rpcrdma_bc_requests_min = 1;
static const unsigned int rpcrdma_keepalive_off;
static const unsigned int rpcrdma_keepalive_min = 1;
static const unsigned int rpcrdma_keepalive_max = RPCRDMA_KEEPALIVE_MAX;
static const unsigned int rpcrdma_bc_requests_max = SVC_RDMA_BC_REQUESTS_MAX;

#define RPCRDMA_SYSCTL(name, var, min, max) {				\
	.procname	= name,						\
	.data		= &(var),					\
	.maxlen		= sizeof(unsigned int),				\
	.mode		= 0644,						\
	.proc_handler	= proc_douintvec_minmax,			\
	.extra1		= (void *)&(min),				\
	.extra2		= (void *)&(max),				\
}

/* Value of each counter when its sysctl was last written */
static u64 rpcrdma_stat_base[RPCRDMA_CNT_MAX];

/* Shows a counter as a server statistic, under the name that the in-tree module uses. Writing
 * any value resets the statistic to 0, as there. The counter itself is not changed.
 */
static int rpcrdma_sysctl_stat(const struct ctl_table *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	u64 *base = table->data;
	/* Read the base first: another task may write it in between, and the
	 * difference must not be negative.
	 */
	u64 begin = READ_ONCE(*base);
	u64 now = rpcrdma_counter_read(base - rpcrdma_stat_base);
	unsigned long value = now - begin;
	const struct ctl_table shown = {
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

static const struct ctl_table rpcrdma_sysctl_client[] = {
	RPCRDMA_SYSCTL("rdma_slot_table_entries", xprt_rdma_slot_table_entries,
		       rpcrdma_slots_min, rpcrdma_slots_max),
	RPCRDMA_SYSCTL("rdma_max_inline_read", xprt_rdma_max_inline_read,
		       rpcrdma_inline_min, rpcrdma_inline_max),
	RPCRDMA_SYSCTL("rdma_max_inline_write", xprt_rdma_max_inline_write,
		       rpcrdma_inline_min, rpcrdma_inline_max),
	RPCRDMA_SYSCTL("rdma_version", xprt_rdma_client_version,
		       rpcrdma_vers_min, rpcrdma_vers_max),
	RPCRDMA_SYSCTL("rdma_v2_inline", xprt_rdma_v2_inline,
		       rpcrdma_inline_min, rpcrdma_inline_max),
	RPCRDMA_SYSCTL("rdma_rtx", xprt_rdma_rtx, rpcrdma_off, rpcrdma_on),
	RPCRDMA_SYSCTL("rdma_rtx_long_max", xprt_rdma_rtx_long_max,
		       rpcrdma_off, rpcrdma_rtx_max),
	RPCRDMA_SYSCTL("rdma_rtx_write_max", xprt_rdma_rtx_write_max,
		       rpcrdma_off, rpcrdma_rtx_max),
	RPCRDMA_SYSCTL("rdma_rtx_gather", xprt_rdma_rtx_gather,
		       rpcrdma_off, rpcrdma_rtx_max),
	/* The next two settings apply to client and server. */
	RPCRDMA_SYSCTL("rdma_keepalive_time", rpcrdma_keepalive_time,
		       rpcrdma_keepalive_off, rpcrdma_keepalive_max),
	RPCRDMA_SYSCTL("rdma_keepalive_timeout", rpcrdma_keepalive_timeout,
		       rpcrdma_keepalive_min, rpcrdma_keepalive_max),
};

static const struct ctl_table rpcrdma_sysctl_server[] = {
	RPCRDMA_SYSCTL("max_requests", svc_rdma_max_requests,
		       rpcrdma_requests_min, rpcrdma_requests_max),
	RPCRDMA_SYSCTL("max_req_size", svc_rdma_max_req_size,
		       rpcrdma_req_size_min, rpcrdma_inline_max),
	RPCRDMA_SYSCTL("version", svc_rdma_server_version,
		       rpcrdma_vers_min, rpcrdma_vers_max),
	RPCRDMA_SYSCTL("v2_max_req_size", svc_rdma_v2_max_req_size,
		       rpcrdma_inline_min, rpcrdma_inline_max),
	RPCRDMA_SYSCTL("max_bc_requests", svc_rdma_max_bc_requests,
		       rpcrdma_bc_requests_min, rpcrdma_bc_requests_max),
	RPCRDMA_SYSCTL_STAT("rdma_stat_recv", server_receives),
	RPCRDMA_SYSCTL_STAT("rdma_stat_read", server_rdma_read_wrs),
	RPCRDMA_SYSCTL_STAT("rdma_stat_write", server_rdma_write_wrs),
	RPCRDMA_SYSCTL_STAT("rdma_stat_sq_starve", server_sq_waits),
};

static struct ctl_table_header *rpcrdma_sysctl_client_header;
static struct ctl_table_header *rpcrdma_sysctl_server_header;

/**
 * rpcrdma_sysctl_init - register the module's sysctls
 *
 * Context: module load.
 * Return: 0 or %-ENOMEM.
 */
int rpcrdma_sysctl_init(void)
{
	/* register_sysctl_sz() of Linux 6.12 takes a table without const, but does
	 * not modify it.
	 */
	rpcrdma_sysctl_client_header =
		register_sysctl_sz("sunrpc", (void *)rpcrdma_sysctl_client,
				   ARRAY_SIZE(rpcrdma_sysctl_client));
	if (!rpcrdma_sysctl_client_header)
		return -ENOMEM;

	rpcrdma_sysctl_server_header =
		register_sysctl_sz("sunrpc/svc_rdma",
				   (void *)rpcrdma_sysctl_server,
				   ARRAY_SIZE(rpcrdma_sysctl_server));
	if (!rpcrdma_sysctl_server_header) {
		unregister_sysctl_table(rpcrdma_sysctl_client_header);
		return -ENOMEM;
	}
	return 0;
}

/**
 * rpcrdma_sysctl_exit - unregister the module's sysctls
 *
 * Context: module unload.
 */
void rpcrdma_sysctl_exit(void)
{
	unregister_sysctl_table(rpcrdma_sysctl_server_header);
	unregister_sysctl_table(rpcrdma_sysctl_client_header);
}
