// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the memory of GPUs. A module like nvidia-fs (GPUDirect Storage) represents it by pages
 * that the CPU must not access (foreign pages, see plan.h), and registers functions that know these
 * pages and map them (nvfs.h).
 *
 * This file is built unless make is given CONFIG_RPCRDMA_GPU=n. It never copies anything. frwr.c
 * finds and maps foreign pages of the other kind, PCI peer-to-peer memory.
 *
 * Operation
 *
 * Whenever a region is mapped, the registered functions are called first, and map the region if the
 * pages belong to that module. The region then holds a reference to the functions until it is
 * unmapped. rpcrdma_unregister_nvfs_dma_ops() waits until no region holds a reference. The wait
 * ends, because a region is unmapped when its RPC has been fenced, when its Call could not be
 * posted, or when its connection is closed, and none of these waits for that function.
 *
 * As long as no functions are registered, a static key skips all this, and the count of references
 * is dead. So nobody gets a reference, not even code that found the key set just before it was
 * cleared.
 *
 * After the functions have been unregistered, nothing shows that a page stands for memory of a GPU.
 * So rr_foreign records that the functions have mapped pages of an RPC. If such an RPC has to be
 * sent again, and no functions map its pages, it fails.
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/percpu-refcount.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "nvfs.h"
#include "xprt_rdma.h"

/* Features that this file needs to recognise foreign pages and to map them */
#define XPRT_RDMA_FOREIGN_FEATURES	(NVFS_FEATURE_MAP | NVFS_FEATURE_IS_GPU)

DEFINE_STATIC_KEY_FALSE(xprt_rdma_foreign_on);
/* The registered functions. A caller must hold a reference (xprt_rdma_foreign_users). Whoever sets
 * this from NULL, or is about to clear it, is the only one to change the other two.
 */
static const struct nvfs_dma_rw_ops *xprt_rdma_foreign_ops;
/* References to xprt_rdma_foreign_ops, held by regions that the functions have mapped, and by calls
 * in progress. This percpu_ref is dead while no functions are registered.
 */
static struct percpu_ref xprt_rdma_foreign_users;
static DECLARE_WAIT_QUEUE_HEAD(xprt_rdma_foreign_unused);

static void xprt_rdma_foreign_release(struct percpu_ref *users)
{
	wake_up_all(&xprt_rdma_foreign_unused);
}

/**
 * xprt_rdma_foreign_init - prepare for functions to be registered
 *
 * Context: module load.
 * Return: 0 or %-ENOMEM.
 */
int xprt_rdma_foreign_init(void)
{
	return percpu_ref_init(&xprt_rdma_foreign_users,
			       xprt_rdma_foreign_release,
			       PERCPU_REF_INIT_DEAD, GFP_KERNEL);
}

/**
 * xprt_rdma_foreign_exit - undo xprt_rdma_foreign_init()
 *
 * Context: module unload, or failed load. No functions are registered, because a module that has
 * registered functions holds a reference to this module.
 */
void xprt_rdma_foreign_exit(void)
{
	percpu_ref_exit(&xprt_rdma_foreign_users);
}

/**
 * rpcrdma_register_nvfs_dma_ops - register functions that map the memory of GPUs
 * @ops: the functions; must stay valid until they have been unregistered
 *
 * Context: process; sleeps. The caller must hold a reference to this module.
 * Return: 0; %-EOPNOTSUPP if @ops is NULL, or lacks a function or a bit of nv_features that this
 *	module needs; %-EBUSY if functions are registered already. After an error, the caller must
 *	not unregister.
 */
int rpcrdma_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops)
{
	if (!ops || ~ops->nv_features & XPRT_RDMA_FOREIGN_FEATURES ||
	    !ops->nv_dma_map_sg_attrs || !ops->nv_dma_unmap_sg ||
	    !ops->nv_is_gpu_page)
		return -EOPNOTSUPP;
	if (cmpxchg(&xprt_rdma_foreign_ops, NULL, ops))
		return -EBUSY;
	/* A task that gets a reference, in a read-side critical section of RCU, then sees @ops. */
	synchronize_rcu();
	percpu_ref_reinit(&xprt_rdma_foreign_users);
	static_branch_enable(&xprt_rdma_foreign_on);
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma_register_nvfs_dma_ops);

/**
 * rpcrdma_unregister_nvfs_dma_ops - unregister the functions, and wait until they are not used
 *
 * The regions that were mapped with the functions are unmapped first. This may take as long as the
 * server takes to answer their RPCs, or until their connections are closed. If an RPC whose pages
 * were mapped with the functions must be sent again while no functions are registered, it fails.
 * But if an RPC with pages of the caller is sent for the first time then, these pages are taken for
 * ordinary pages. So the caller has to make sure that no such I/O is pending or begins later.
 *
 * Nothing happens if no functions are registered.
 *
 * Context: process; sleeps. Only the module that has registered the functions may call this, one
 *	task at a time, and not one of the functions.
 */
void rpcrdma_unregister_nvfs_dma_ops(void)
{
	if (!xprt_rdma_foreign_ops)
		return;
	static_branch_disable(&xprt_rdma_foreign_on);
	percpu_ref_kill(&xprt_rdma_foreign_users);
	wait_event_idle(xprt_rdma_foreign_unused,
			percpu_ref_is_zero(&xprt_rdma_foreign_users));
	/* Pairs with cmpxchg() in rpcrdma_register_nvfs_dma_ops(). */
	smp_store_release(&xprt_rdma_foreign_ops, NULL);
}
EXPORT_SYMBOL_GPL(rpcrdma_unregister_nvfs_dma_ops);

/**
 * xprt_rdma_foreign_knows - do some pages stand for the memory of a GPU?
 * @pages: array of pages
 * @n: number of pages
 *
 * Context: any.
 * Return: true if at least one of them does.
 */
bool xprt_rdma_foreign_knows(struct page **pages, u32 n)
{
	bool found = false;
	u32 i;

	if (!percpu_ref_tryget_live(&xprt_rdma_foreign_users))
		return false;
	for (i = 0; i < n && !found; i++)
		found = xprt_rdma_foreign_ops->nv_is_gpu_page(pages[i]);
	percpu_ref_put(&xprt_rdma_foreign_users);
	return found;
}

/* Lets the registered functions map a region. Returns one of the values that nv_dma_map_sg_attrs()
 * may return (nvfs.h).
 */
static int xprt_rdma_foreign_ask(struct xprt_rdma_mr *mr, int n)
{
	const struct nvfs_dma_rw_ops *ops = xprt_rdma_foreign_ops;
	struct ib_device *device = mr->mr_ib->device;
	struct scatterlist *sg;
	int i;

	if (!ib_uses_virt_dma(device) || ops->nv_features & NVFS_FEATURE_NO_DMA)
		return ops->nv_dma_map_sg_attrs(device->dma_device,
						mr->mr_pages.sgl, n, mr->mr_dir,
						DMA_ATTR_NO_WARN);
	/* The provider has no struct device for DMA, but nv_dma_map_sg_attrs() would use one. So
	 * do not call it. If a page belongs to a GPU, the region cannot be mapped; otherwise, it is
	 * mapped as usual.
	 */
	for_each_sg(mr->mr_pages.sgl, sg, n, i)
		if (ops->nv_is_gpu_page(sg_page(sg)))
			return NVFS_MAP_ERROR;
	return NVFS_MAP_NOT_GPU;
}

/**
 * xprt_rdma_foreign_map - let the registered functions map a region, if they know its pages
 * @mr: region with pages and direction
 * @n: number of entries in the region's scatterlist
 *
 * Context: process.
 * Return: number of mapped entries; 0 if the pages are to be mapped as usual; %-EIO if the
 *	functions know the pages, but cannot map them.
 */
int xprt_rdma_foreign_map(struct xprt_rdma_mr *mr, int n)
{
	int nents;

	if (!percpu_ref_tryget_live(&xprt_rdma_foreign_users))
		return 0;
	nents = xprt_rdma_foreign_ask(mr, n);
	if (nents > 0) {
		/* The reference is dropped when the region is unmapped. */
		mr->mr_foreign = true;
		rpcrdma_count(client_mrs_foreign);
		return nents;
	}
	percpu_ref_put(&xprt_rdma_foreign_users);
	return nents == NVFS_MAP_NOT_GPU ? 0 : xprt_rdma_foreign_error();
}

/**
 * xprt_rdma_foreign_unmap - unmap a region that was mapped by xprt_rdma_foreign_map()
 * @mr: region
 *
 * Context: any.
 */
void xprt_rdma_foreign_unmap(struct xprt_rdma_mr *mr)
{
	xprt_rdma_foreign_ops->nv_dma_unmap_sg(mr->mr_ib->device->dma_device,
					       mr->mr_pages.sgl, mr->mr_nents,
					       mr->mr_dir);
	mr->mr_foreign = false;
	percpu_ref_put(&xprt_rdma_foreign_users);
}
