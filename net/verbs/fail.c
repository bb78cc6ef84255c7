// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: variables (knobs) by which tests make the module fail, and their files in
 * debugfs. Without CONFIG_FAULT_INJECTION, Kbuild does not build this file. Knobs take effect in
 * other files, which call the functions of fail.h.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <rpcrdma/fail.h>
#include <rpcrdma/wire.h>

struct rpcrdma_fail rpcrdma_fail = {
	.fa_reads	= RPCRDMA_MAX_CHUNKS - 1,
	.fa_writes	= RPCRDMA_MAX_CHUNKS,
	.fa_segs	= RPCRDMA_MAX_SEGS,
	.fa_code	= RPCRDMA2_ERR_SYSTEM,
};

#define RPCRDMA_FAIL_KEEP_MAX	256u

/* Pages to which rpcrdma_fail_keep() has taken references, and hashes of their contents at that
 * time
 */
static DEFINE_MUTEX(rpcrdma_fail_kept_lock);
static struct page *rpcrdma_fail_kept[RPCRDMA_FAIL_KEEP_MAX];
static u32 rpcrdma_fail_kept_hash[RPCRDMA_FAIL_KEEP_MAX];
static u32 rpcrdma_fail_nkept;

static u32 rpcrdma_fail_hash(const struct page *page)
{
	return jhash(page_address(page), PAGE_SIZE, 0);
}

/**
 * rpcrdma_fail_keep - take a reference to a page, as a file system or a socket might
 * @data: data in the page
 *
 * The reference is dropped when a test reads the file server_kept, or when the module is
 * unloaded. Nothing happens if fa_keep references, or %RPCRDMA_FAIL_KEEP_MAX, are held already.
 *
 * Context: process; sleeps.
 */
void rpcrdma_fail_keep(const void *data)
{
	struct page *page = virt_to_page(data);
	u32 i;

	mutex_lock(&rpcrdma_fail_kept_lock);
	i = rpcrdma_fail_nkept;
	if (i < min(READ_ONCE(rpcrdma_fail.fa_keep), RPCRDMA_FAIL_KEEP_MAX)) {
		get_page(page);
		rpcrdma_fail_kept[i] = page;
		rpcrdma_fail_kept_hash[i] = rpcrdma_fail_hash(page);
		rpcrdma_fail_nkept++;
	}
	mutex_unlock(&rpcrdma_fail_kept_lock);
}

/* Clears fa_keep, so that rpcrdma_fail_keep() takes no further references. Drops those that it has
 * taken, and sets *@kept to their number. Returns how many of the pages have changed since the
 * references were taken.
 */
static u32 rpcrdma_fail_release_kept(u32 *kept)
{
	u32 i, changed = 0;

	mutex_lock(&rpcrdma_fail_kept_lock);
	rpcrdma_fail.fa_keep = 0;
	for (i = 0; i < rpcrdma_fail_nkept; i++) {
		changed += rpcrdma_fail_hash(rpcrdma_fail_kept[i]) !=
			   rpcrdma_fail_kept_hash[i];
		put_page(rpcrdma_fail_kept[i]);
	}
	*kept = rpcrdma_fail_nkept;
	rpcrdma_fail_nkept = 0;
	mutex_unlock(&rpcrdma_fail_kept_lock);
	return changed;
}

/* Reading the file server_kept releases the pages. */
static int rpcrdma_fail_kept_show(struct seq_file *seq, void *unused)
{
	u32 kept, changed = rpcrdma_fail_release_kept(&kept);

	seq_printf(seq, "kept %u\nchanged %u\n", kept, changed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_fail_kept);

/* Knobs that lower the limits of a device, or let siw probe like other devices */
static void rpcrdma_fail_device_files(struct dentry *dir)
{
	struct rpcrdma_fail *fail = &rpcrdma_fail;

	debugfs_create_u32("device_max_mr_pages", 0600, dir,
			   &fail->fa_mr_pages);
	debugfs_create_u32("device_max_qp_wr", 0600, dir, &fail->fa_qp_wr);
	debugfs_create_bool("device_probe_reads", 0600, dir,
			    &fail->fa_probe_reads);
}

/* Knobs that limit the room that the client provides for a result or a Reply; or make a local
 * invalidation fail, lose its completion, or start late
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

/* Knobs that make the server accept fewer chunks or segments, answer with errors, or hold
 * references to pages of Calls
 */
static void rpcrdma_fail_server_files(struct dentry *dir)
{
	struct rpcrdma_fail *fail = &rpcrdma_fail;

	debugfs_create_u32("server_max_reads", 0600, dir, &fail->fa_reads);
	debugfs_create_u32("server_max_writes", 0600, dir, &fail->fa_writes);
	debugfs_create_u32("server_max_segs", 0600, dir, &fail->fa_segs);
	debugfs_create_atomic_t("server_fail_system", 0600, dir,
				&fail->fa_calls);
	debugfs_create_u32("server_fail_code", 0600, dir, &fail->fa_code);
	debugfs_create_u32("server_keep", 0600, dir, &fail->fa_keep);
	debugfs_create_file("server_kept", 0400, dir, NULL,
			    &rpcrdma_fail_kept_fops);
}

/**
 * rpcrdma_fail_create_files - create a file for each knob, and the file server_kept
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
 * rpcrdma_fail_remove_files - drop the references that rpcrdma_fail_keep() has taken
 *
 * The files have been removed already, with their directory.
 *
 * Context: module unload, or failed load.
 */
void rpcrdma_fail_remove_files(void)
{
	u32 kept;

	rpcrdma_fail_release_kept(&kept);
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
