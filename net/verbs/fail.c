// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: the faults and limits of fail.h, and their files in debugfs. Without
 * CONFIG_FAULT_INJECTION, Kbuild does not build this file. Faults and limits take effect in other
 * files.
 */
#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <rpcrdma/fail.h>

struct rpcrdma_fail rpcrdma_fail = {
	.fa_device_probe_reads	= FAULT_ATTR_INITIALIZER,
	.fa_server_fail		= FAULT_ATTR_INITIALIZER,
	.fa_server_keep		= FAULT_ATTR_INITIALIZER,
	.fa_client_fail_inv	= FAULT_ATTR_INITIALIZER,
	.fa_client_lose_fence	= FAULT_ATTR_INITIALIZER,
	.fa_client_hold_fence	= FAULT_ATTR_INITIALIZER,
	.fa_device_max_mr_pages	= U32_MAX,
	.fa_device_max_qp_wr	= U32_MAX,
	.fa_server_max_reads	= U32_MAX,
	.fa_server_max_writes	= U32_MAX,
	.fa_server_max_segs	= U32_MAX,
	.fa_server_fail_code	= U32_MAX,
	.fa_client_shrink_reply	= U32_MAX,
};

/* Pages to which rpcrdma_fail_keep() has taken references, and hashes of their contents at that
 * time. A hash is written before its page.
 */
static struct page *rpcrdma_fail_kept[256];
static u32 rpcrdma_fail_kept_hash[ARRAY_SIZE(rpcrdma_fail_kept)];
static atomic_t rpcrdma_fail_nkept;

static u32 rpcrdma_fail_hash(const struct page *page)
{
	return jhash(page_address(page), PAGE_SIZE, 0);
}

/**
 * rpcrdma_fail_keep - take a reference to a page, as a file system or a socket might
 * @data: data in the page
 *
 * The reference is dropped when a test reads the file server_kept, or when the module is
 * unloaded. Nothing happens if references to as many pages as fit the table were taken since then.
 *
 * Context: any.
 */
void rpcrdma_fail_keep(const void *data)
{
	u32 i = atomic_inc_return(&rpcrdma_fail_nkept) - 1;
	struct page *page = virt_to_page(data);

	if (i >= ARRAY_SIZE(rpcrdma_fail_kept))
		return;
	get_page(page);
	rpcrdma_fail_kept_hash[i] = rpcrdma_fail_hash(page);
	/* Pairs with rpcrdma_fail_release_kept() */
	smp_store_release(&rpcrdma_fail_kept[i], page);
}

/* Drops the references, and sets *@kept to their number. Returns how many of the pages have changed
 * since the references were taken.
 */
static u32 rpcrdma_fail_release_kept(u32 *kept)
{
	u32 i, changed = 0;
	struct page *page;

	*kept = 0;
	for (i = 0; i < ARRAY_SIZE(rpcrdma_fail_kept); i++) {
		page = xchg(&rpcrdma_fail_kept[i], NULL);
		if (!page)
			continue;
		changed += rpcrdma_fail_hash(page) != rpcrdma_fail_kept_hash[i];
		put_page(page);
		++*kept;
	}
	return changed;
}

/* Reading the file server_kept ends the fault server_keep, and releases the pages. */
static int rpcrdma_fail_kept_show(struct seq_file *seq, void *unused)
{
	u32 kept, changed;

	rpcrdma_fail.fa_server_keep.probability = 0;
	changed = rpcrdma_fail_release_kept(&kept);
	atomic_set(&rpcrdma_fail_nkept, 0);
	seq_printf(seq, "kept %u\nchanged %u\n", kept, changed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_fail_kept);

#define rpcrdma_fail_create_fault(dir, name)	\
	fault_create_debugfs_attr(#name, dir, &rpcrdma_fail.fa_##name)
#define rpcrdma_fail_create_limit(dir, name)	\
	debugfs_create_u32(#name, 0600, dir, &rpcrdma_fail.fa_##name)

/**
 * rpcrdma_fail_create_files - create a directory for each fault, a file for each limit, and the
 *	file server_kept
 * @dir: directory of the module in debugfs; the files are removed with it
 *
 * Context: module load.
 */
void rpcrdma_fail_create_files(struct dentry *dir)
{
	rpcrdma_fail_create_fault(dir, device_probe_reads);
	rpcrdma_fail_create_fault(dir, server_fail);
	rpcrdma_fail_create_fault(dir, server_keep);
	rpcrdma_fail_create_fault(dir, client_fail_inv);
	rpcrdma_fail_create_fault(dir, client_lose_fence);
	rpcrdma_fail_create_fault(dir, client_hold_fence);
	rpcrdma_fail_create_limit(dir, device_max_mr_pages);
	rpcrdma_fail_create_limit(dir, device_max_qp_wr);
	rpcrdma_fail_create_limit(dir, server_max_reads);
	rpcrdma_fail_create_limit(dir, server_max_writes);
	rpcrdma_fail_create_limit(dir, server_max_segs);
	rpcrdma_fail_create_limit(dir, server_fail_code);
	rpcrdma_fail_create_limit(dir, client_shrink_reply);
	debugfs_create_file("server_kept", 0400, dir, NULL,
			    &rpcrdma_fail_kept_fops);
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
