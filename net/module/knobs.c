// SPDX-License-Identifier: GPL-2.0
/* Module: what tests can break in the client and the server, by debugfs. */
#include <linux/debugfs.h>
#include <rpcrdma/svc_rdma.h>
#include <rpcrdma/xprt_rdma.h>

#include "module.h"

/* For tests: expect less of the server than it will send; fail to invalidate,
 * have that not told, or not even try yet
 */
static void rpcrdma_knobs_client(struct dentry *dir)
{
	debugfs_create_u32("client_shrink_write", 0600, dir,
			   &xprt_rdma_shrink_write);
	debugfs_create_u32("client_shrink_reply", 0600, dir,
			   &xprt_rdma_shrink_reply);
	debugfs_create_atomic_t("client_fail_inv", 0600, dir,
				&xprt_rdma_fail_inv);
	debugfs_create_atomic_t("client_lose_fence", 0600, dir,
				&xprt_rdma_lose_fence);
	debugfs_create_bool("client_hold_fence", 0600, dir,
			    &xprt_rdma_hold_fence);
}

/* For tests: make the server less than it is */
static void rpcrdma_knobs_server(struct dentry *dir)
{
	debugfs_create_u32("server_max_reads", 0600, dir,
			   &svc_rdma_max_reads);
	debugfs_create_u32("server_max_writes", 0600, dir,
			   &svc_rdma_max_writes);
	debugfs_create_u32("server_max_segs", 0600, dir,
			   &svc_rdma_max_segs);
	debugfs_create_atomic_t("server_fail_system", 0600, dir,
				&svc_rdma_fail_system);
	debugfs_create_u32("server_fail_code", 0600, dir,
			   &svc_rdma_fail_code);
}

/**
 * rpcrdma_knobs_init - create the files by which tests break things
 * @dir: what rpcrdma_debugfs_init() returned; the files go with it
 *
 * Context: module load.
 */
void rpcrdma_knobs_init(struct dentry *dir)
{
	rpcrdma_knobs_server(dir);
	rpcrdma_knobs_client(dir);
}
