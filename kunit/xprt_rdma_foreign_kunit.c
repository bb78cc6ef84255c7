// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/client/foreign.c: registering functions for the memory of GPUs, and finding
 * pages of GPUs (client/frwr.c). Mapping is tested with a mount (scripts/tests/groups/gpu.sh).
 */

#include <kunit/test.h>
#include <linux/gfp.h>
#include "../net/client/nvfs.h"
#include "../net/client/xprt_rdma.h"

#define XPRT_RDMA_KUNIT_PAGES	3u

/* The page that the registered functions report as memory of a GPU */
static struct page *xprt_rdma_foreign_page;

static bool xprt_rdma_foreign_is_page(struct page *page)
{
	return page == xprt_rdma_foreign_page;
}

static int xprt_rdma_foreign_no_map(struct device *device, struct scatterlist
				    *sg, int nents, enum dma_data_direction dir,
				    unsigned long attrs)
{
	return NVFS_MAP_NOT_GPU;
}

static int xprt_rdma_foreign_no_unmap(struct device *device,
				      struct scatterlist *sg, int nents,
				      enum dma_data_direction dir)
{
	return 0;
}

static const struct nvfs_dma_rw_ops xprt_rdma_foreign_functions = {
	.nv_features = NVFS_FEATURE_MAP | NVFS_FEATURE_IS_GPU,
	.nv_dma_map_sg_attrs = xprt_rdma_foreign_no_map,
	.nv_dma_unmap_sg = xprt_rdma_foreign_no_unmap,
	.nv_is_gpu_page = xprt_rdma_foreign_is_page,
};

/* Functions are refused if one of them or its feature flag is missing, or if functions are
 * registered already.
 * Covers: G-44
 */
static void xprt_rdma_foreign_registers(struct kunit *test)
{
	struct nvfs_dma_rw_ops good = xprt_rdma_foreign_functions, bad;
	u32 turn;

	KUNIT_EXPECT_EQ(test, rpcrdma_register_nvfs_dma_ops(NULL), -EOPNOTSUPP);
	for (turn = 0; turn < 5; turn++) {
		bad = good;
		switch (turn) {
		case 0:
			bad.nv_features = NVFS_FEATURE_BLOCK | NVFS_FEATURE_MAP;
			break;
		case 1:
			bad.nv_features = NVFS_FEATURE_IS_GPU;
			break;
		case 2:
			bad.nv_dma_map_sg_attrs = NULL;
			break;
		case 3:
			bad.nv_dma_unmap_sg = NULL;
			break;
		case 4:
			bad.nv_is_gpu_page = NULL;
			break;
		}
		KUNIT_EXPECT_EQ(test, rpcrdma_register_nvfs_dma_ops(&bad),
				-EOPNOTSUPP);
	}
	for (turn = 0; turn < 2; turn++) {
		KUNIT_EXPECT_EQ(test, rpcrdma_register_nvfs_dma_ops(&good), 0);
		bad = good;
		KUNIT_EXPECT_EQ(test, rpcrdma_register_nvfs_dma_ops(&bad),
				-EBUSY);
		rpcrdma_unregister_nvfs_dma_ops();
		/* Harmless if nothing is registered */
		rpcrdma_unregister_nvfs_dma_ops();
	}
}

/* While functions are registered, a page of a GPU is found if and only if bytes of the xdr_buf's
 * page list are in it.
 */
static void xprt_rdma_foreign_finds(struct kunit *test)
{
	struct nvfs_dma_rw_ops ops = xprt_rdma_foreign_functions;
	struct page *pages[XPRT_RDMA_KUNIT_PAGES];
	struct xdr_buf xdr = { .pages = pages };
	u32 i, base, len;

	for (i = 0; i < XPRT_RDMA_KUNIT_PAGES; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
	}
	KUNIT_EXPECT_EQ(test, rpcrdma_register_nvfs_dma_ops(&ops), 0);
	for (i = 0; i < XPRT_RDMA_KUNIT_PAGES; i++) {
		xprt_rdma_foreign_page = pages[i];
		for (base = 0; base < 2 * PAGE_SIZE; base += PAGE_SIZE / 2) {
			for (len = 1; base + len <=
			     3 * PAGE_SIZE; len += PAGE_SIZE / 2) {
				xdr.page_base = base;
				xdr.page_len = len;
				KUNIT_EXPECT_EQ(test,
						xprt_rdma_frwr_is_foreign(&xdr),
						base < (i + 1) * PAGE_SIZE &&
						base + len > i * PAGE_SIZE);
			}
		}
		xdr.page_len = 0;
		xdr.page_base = 0;
		KUNIT_EXPECT_FALSE(test, xprt_rdma_frwr_is_foreign(&xdr));
	}
	rpcrdma_unregister_nvfs_dma_ops();
	xdr.page_len = 3 * PAGE_SIZE;
	KUNIT_EXPECT_FALSE(test, xprt_rdma_frwr_is_foreign(&xdr));
	for (i = 0; i < XPRT_RDMA_KUNIT_PAGES; i++)
		__free_page(pages[i]);
}

static struct kunit_case xprt_rdma_foreign_cases[] = {
	KUNIT_CASE(xprt_rdma_foreign_registers),
	KUNIT_CASE(xprt_rdma_foreign_finds),
	{}
};

static struct kunit_suite xprt_rdma_foreign_suite = {
	.name = "xprt_rdma_foreign",
	.test_cases = xprt_rdma_foreign_cases,
};

kunit_test_suite(xprt_rdma_foreign_suite);
