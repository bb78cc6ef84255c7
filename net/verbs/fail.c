// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: the knobs for tests, and their files in debugfs. Without
 * CONFIG_FAULT_INJECTION, Kbuild does not build this file. It does not know what a knob
 * affects: other files read the knobs by the functions of fail.h.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <rpcrdma/fail.h>
#include <rpcrdma/wire.h>

struct rpcrdma_fail rpcrdma_fail = {
	.fa_reads	= RPCRDMA_MAX_CHUNKS - 1,
	.fa_writes	= RPCRDMA_MAX_CHUNKS,
	.fa_segs	= RPCRDMA_MAX_SEGS,
	.fa_code	= RPCRDMA2_ERR_SYSTEM,
};

/* Knobs that lower the limits of a device */
static void rpcrdma_fail_device_files(struct dentry *dir)
{
	struct rpcrdma_fail *fail = &rpcrdma_fail;

	debugfs_create_u32("device_max_mr_pages", 0600, dir,
			   &fail->fa_mr_pages);
	debugfs_create_u32("device_max_qp_wr", 0600, dir, &fail->fa_qp_wr);
}

/* Knobs that make the client expect less of the server than the server sends, or make a
 * local invalidation fail, lose its completion, or start late
 */
static void rpcrdma_fail_client_files(struct dentry *dir)
{
	struct rpcrdma_fail *fail = &rpcrdma_fail;

	debugfs_create_u32("client_shrink_write", 0600, dir,
			   &fail->fa_write_len);
	debugfs_create_u32("client_shrink_reply", 0600, dir,
			   &fail->fa_reply_len);
	debugfs_create_atomic_t("client_fail_inv", 0600, dir, &fail->fa_inv);
	debugfs_create_atomic_t("client_lose_fence", 0600, dir,
				&fail->fa_fence);
	debugfs_create_bool("client_hold_fence", 0600, dir,
			    &fail->fa_hold_fence);
}

/* Knobs that make the server accept less, or answer with errors */
static void rpcrdma_fail_server_files(struct dentry *dir)
{
	struct rpcrdma_fail *fail = &rpcrdma_fail;

	debugfs_create_u32("server_max_reads", 0600, dir, &fail->fa_reads);
	debugfs_create_u32("server_max_writes", 0600, dir, &fail->fa_writes);
	debugfs_create_u32("server_max_segs", 0600, dir, &fail->fa_segs);
	debugfs_create_atomic_t("server_fail_system", 0600, dir,
				&fail->fa_calls);
	debugfs_create_u32("server_fail_code", 0600, dir, &fail->fa_code);
}

/**
 * rpcrdma_fail_create_files - create a file for each knob
 * @dir: directory of the module in debugfs; the files are removed with it
 *
 * Context: module load.
 */
void rpcrdma_fail_create_files(struct dentry *dir)
{
	rpcrdma_fail_device_files(dir);
	rpcrdma_fail_server_files(dir);
	rpcrdma_fail_client_files(dir);
}

/**
 * rpcrdma_fail_wait - wait until fa_hold_fence is cleared
 *
 * Context: process; sleeps.
 */
void rpcrdma_fail_wait(void)
{
	while (READ_ONCE(rpcrdma_fail.fa_hold_fence))
		msleep(20);
}
