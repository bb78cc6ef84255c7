/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface by which a module that manages the memory of GPUs maps this memory for the
 * transport: GPUDirect Storage (client/foreign.c). When the other module, such as nvidia-fs, is
 * loaded, it looks up the two functions of this file by their names. So rpcrdma.ko must be loaded
 * first, and cannot be unloaded while the other module holds a reference to it.
 *
 * The names, the order of the members, and the values of the bits and results must not change,
 * because modules that use them were compiled without this file.
 */
#ifndef RPCRDMA_NVFS_H
#define RPCRDMA_NVFS_H

#include <linux/bits.h>
#include <linux/dma-direction.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct device;
struct page;
struct request;
struct request_queue;
struct scatterlist;
struct xprt_rdma_mr;

/* Bits of nv_features. Each of the first four says that the functions in its comment may be used.
 */
#define NVFS_FEATURE_BLOCK	BIT_ULL(0)	/* nv_blk_rq_map_sg */
#define NVFS_FEATURE_MAP	BIT_ULL(1)	/* nv_dma_map_sg_attrs, nv_dma_unmap_sg */
#define NVFS_FEATURE_IS_GPU	BIT_ULL(2)	/* nv_is_gpu_page */
#define NVFS_FEATURE_PRIORITY	BIT_ULL(3)	/* nv_gpu_index, nv_device_priority */
/* An addition of rpcrdma.ko, for its tests: the functions can also map for providers without DMA
 * (siw, rxe). These have no struct device, so the functions get NULL instead. The addresses that
 * they set are kernel virtual addresses.
 */
#define NVFS_FEATURE_NO_DMA	BIT_ULL(63)

/* Negative results of nv_dma_map_sg_attrs */
#define NVFS_MAP_ERROR		(-1)	/* pages of a GPU that cannot be mapped */
#define NVFS_MAP_NOT_GPU	(-2)	/* ordinary pages */

/**
 * struct nvfs_dma_rw_ops - functions that map the memory of GPUs
 * @nv_features: which functions may be used, %NVFS_FEATURE_*
 * @nv_blk_rq_map_sg: for block devices; not used here
 * @nv_dma_map_sg_attrs: map pages for a device. Returns the number of entries of the scatterlist
 *	that are mapped, or %NVFS_MAP_*
 * @nv_dma_unmap_sg: unmap the pages; @nents is the number that @nv_dma_map_sg_attrs was given
 * @nv_is_gpu_page: does the page stand for memory of a GPU?
 * @nv_gpu_index: not used here
 * @nv_device_priority: not used here
 *
 * The functions may be called while spinlocks are held, so they must not sleep.
 */
struct nvfs_dma_rw_ops {
	unsigned long long	nv_features;
	int			(*nv_blk_rq_map_sg)(struct request_queue *queue,
						    struct request *request,
						    struct scatterlist *sg);
	int			(*nv_dma_map_sg_attrs)(struct device *device,
						       struct scatterlist *sg,
						       int nents,
						       enum dma_data_direction dir,
						       unsigned long attrs);
	int			(*nv_dma_unmap_sg)(struct device *device,
						   struct scatterlist *sg,
						   int nents,
						   enum dma_data_direction dir);
	bool			(*nv_is_gpu_page)(struct page *page);
	unsigned int		(*nv_gpu_index)(struct page *page);
	unsigned int		(*nv_device_priority)(struct device *device,
						      unsigned int gpu);
};

int rpcrdma_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops);
void rpcrdma_unregister_nvfs_dma_ops(void);

/* client/foreign.c. These functions do not exist in a build without CONFIG_RPCRDMA_GPU. */
DECLARE_STATIC_KEY_FALSE(xprt_rdma_foreign_on);
int xprt_rdma_foreign_init(void);
void xprt_rdma_foreign_exit(void);
bool xprt_rdma_foreign_knows(struct page **pages, u32 n);
int xprt_rdma_foreign_map(struct xprt_rdma_mr *mr, int n);
void xprt_rdma_foreign_unmap(struct xprt_rdma_mr *mr);

/* Has another module registered functions? */
static inline bool xprt_rdma_foreign_is_on(void)
{
	return IS_ENABLED(CONFIG_RPCRDMA_GPU) &&
	       static_branch_unlikely(&xprt_rdma_foreign_on);
}

#endif /* RPCRDMA_NVFS_H */
