// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles: the limits of real adapters
 *
 * Each number is what the adapter's driver in drivers/infiniband/hw of Linux 7.3 reports. Comments
 * name the constants of the driver. Where the driver asks the firmware, the number is what
 * ibv_devinfo shows for the adapter that the comment names.
 *
 * Of these adapters, only those of cxgb4, irdma, qedr and erdma can speak iWARP, as hca_sim does.
 * On the others, a ULP sees another fabric than here, with the same limits.
 */
#include <linux/sizes.h>
#include <linux/string.h>
#include "hca.h"

static const struct hca_profile hca_profiles[] = {
	/*
	 * mlx5 (ConnectX-4 and later). The send queue has 1 << log_max_qp_sz (15) blocks of 64
	 * bytes (MLX5_SEND_WQE_BB). mlx5_ib_calc_max_qp_wr() counts requests of 256 bytes. Of the
	 * 1024 bytes of max_wqe_sz_sq, SGEs may use 512, of which 32 are headers
	 * (MLX5_MAX_SGE_RD), and inline data those after sq_overhead(). max_wqe_sz_rq is 512. A
	 * region's list has 1 << log_max_klm_list_size entries. max_sgl_rd is 3
	 * (max_sgl_for_optimized_performance). The driver has no common local key: the core gets
	 * one for each protection domain.
	 */
	{ .name = "mlx5", .qp_wr = 8192, .sq_bytes = SZ_2M, .send_sge = 30,
	  .recv_sge = 32, .read_sge = 30, .inline_max = 888,
	  .cqe = (1 << 22) - 1, .mr_pages = 65536, .mr = 1 << 24,
	  .page_sizes = ~0xfffull, .ird = 16, .ord = 16, .sgl_rd = 3,
	  .gaps = true, .roce = true },
	/*
	 * mlx4 (ConnectX-3). 33 of 16384 requests are spare (MLX4_IB_SQ_MAX_SPARE). The driver has
	 * MLX4_MAX_SGE_RD and MLX4_MAX_FAST_REG_PAGES. It has no inline data for the kernel
	 * (set_kernel_sq_size()).
	 */
	{ .name = "mlx4", .qp_wr = 16351, .send_sge = 32, .recv_sge = 32,
	  .read_sge = 30, .cqe = (1 << 22) - 1, .mr_pages = 511, .mr = 524032,
	  .page_sizes = 0xfffffe00, .ird = 16, .ord = 128, .lkey = true,
	  .roce = true },
	/*
	 * irdma (E810): IRDMA_MAX_QP_WRS(8), IRDMA_MAX_WQ_FRAGMENT_COUNT, IRDMA_MAX_SGE_RD,
	 * IRDMA_MAX_INLINE_DATA_SIZE, IRDMA_MAX_CQ_SIZE, IRDMA_MAX_PAGES_PER_FMR,
	 * ICRDMA_MAX_IRD_SIZE, ICRDMA_MAX_ORD_SIZE
	 */
	{ .name = "irdma", .qp_wr = 4063, .send_sge = 13, .recv_sge = 13,
	  .read_sge = 13, .inline_max = 101, .cqe = 1048574,
	  .mr_pages = 262144, .mr = 4194301,
	  .page_sizes = SZ_4K | SZ_2M | SZ_1G, .ird = 127, .ord = 255,
	  .lkey = true },
	/*
	 * cxgb4 (T5). t4_max_rq_size is 8192 less one entry for the status, and one spare. A
	 * request has 320 bytes (T4_SQ_NUM_BYTES), 40 of which are headers. T4_MAX_RECV_SGE is 4,
	 * t4_max_cq_depth is 65520 - 2. Regions have 1024 bytes of page addresses
	 * (T4_MAX_FR_DSGL), and an RDMA Read has one SGE. c4iw_max_read_depth is 32,
	 * T4_PAGESIZE_MASK is 0xffff000.
	 */
	{ .name = "cxgb4", .qp_wr = 8190, .send_sge = 17, .recv_sge = 4,
	  .read_sge = 1, .inline_max = 280, .cqe = 65518, .mr_pages = 128,
	  .mr = 32768, .page_sizes = 0xffff000, .ird = 32, .ord = 32,
	  .lkey = true },
	/*
	 * bnxt_re (BCM57608, which has requests of variable size): BNXT_VAR_MAX_WQE - 1,
	 * BNXT_VAR_MAX_SGE of 16 bytes, MAX_PBL_LVL_1_PGS, BNXT_RE_MAX_MRW_COUNT_256K,
	 * BNXT_RE_PAGE_SIZE_SUPPORTED, BNXT_QPLIB_MAX_OUT_RD_ATOM. Older ones have 6 SGEs
	 * (BNXT_STATIC_MAX_SGE).
	 */
	{ .name = "bnxt_re", .qp_wr = 4351, .send_sge = 13, .recv_sge = 13,
	  .read_sge = 13, .inline_max = 208, .cqe = (1 << 23) - 1,
	  .mr_pages = 512, .mr = 1 << 18, .page_sizes = 0x7ffff000, .ird = 126,
	  .ord = 126, .lkey = true, .roce = true },
	/*
	 * qedr (FastLinQ 41000): QED_RDMA_MAX_WQE, RDMA_MAX_SGE_PER_SQ_WQE,
	 * ROCE_REQ_MAX_INLINE_DATA_SIZE, QEDR_MAX_CQES, RDMA_MAX_TIDS - 1, and an eighth of that
	 * for the pages of a region. QED_RDMA_PAGE_SIZE_CAPS is 0xfffff000. A page of
	 * RDMA_RING_PAGE_SIZE has room for 51 RDMA Reads, of which the driver reports 32.
	 */
	{ .name = "qedr", .qp_wr = 32767, .send_sge = 4, .recv_sge = 4,
	  .read_sge = 4, .inline_max = 256, .cqe = 8388480, .mr_pages = 16383,
	  .mr = 131070, .page_sizes = 0xfffff000, .ird = 32, .ord = 32,
	  .lkey = true, .roce = true },
	/*
	 * hns (HIP09): HNS_ROCE_FRMR_MAX_PA, HNS_ROCE_V2_PAGE_SIZE_SUPPORTED. The others come from
	 * the firmware. They were the defaults of Linux 6.0 and older: HNS_ROCE_V2_MAX_WQE_NUM,
	 * ..._MAX_SQ_SGE_NUM, ..._MAX_CQE_NUM, ..._MAX_MTPT_NUM, ..._MAX_QP_INIT_RDMA,
	 * HNS_ROCE_V3_MAX_SQ_INLINE. The driver reports IB_DEVICE_MEM_MGT_EXTENSIONS, but
	 * hns_roce_op_code has no IB_WR_LOCAL_INV.
	 */
	{ .name = "hns", .qp_wr = 32768, .send_sge = 64, .recv_sge = 64,
	  .read_sge = 64, .inline_max = 1024, .cqe = 1 << 22, .mr_pages = 512,
	  .mr = 1 << 20, .page_sizes = 0xffff000, .ird = 128, .ord = 128,
	  .no_inv = true, .roce = true,
	  .driver = RDMA_DRIVER_HNS },
	/*
	 * erdma (Elastic RDMA): ERDMA_MAX_SEND_WR, ERDMA_MAX_SEND_SGE, ERDMA_MAX_RECV_SGE,
	 * ERDMA_MAX_SGE_RD, ERDMA_MAX_INLINE, ERDMA_MAX_FRMR_PA, ERDMA_PAGE_SIZE_SUPPORT,
	 * ERDMA_MAX_IRD, ERDMA_MAX_ORD. The firmware's limits of completion queues and regions are
	 * not documented. These are guesses.
	 */
	{ .name = "erdma", .qp_wr = 8192, .send_sge = 6, .recv_sge = 1,
	  .read_sge = 1, .inline_max = 96, .cqe = 1 << 20, .mr_pages = 512,
	  .mr = 1 << 17, .page_sizes = 0x7ffff000, .ird = 128, .ord = 128,
	  .lkey = true },
	/*
	 * mana (Azure): mana_eth_query_adapter_caps(), PAGE_SZ_BM, MANA_IB_MAX_MR. max_cqe is
	 * max_qp_wr. The driver has no fast registration. (It has no RC queue pairs for the kernel,
	 * either, but a ULP can only find out by trying.)
	 */
	{ .name = "mana", .qp_wr = 2048, .send_sge = 30, .recv_sge = 15,
	  .read_sge = 15, .cqe = 2048, .mr = 0xffffff,
	  .page_sizes = SZ_4M - SZ_4K, .roce = true },
};

/**
 * hca_profile_find - find a profile
 * @name: its name
 *
 * Context: any
 * Return: the profile, or NULL
 */
const struct hca_profile *hca_profile_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hca_profiles); i++)
		if (!strcmp(name, hca_profiles[i].name))
			return &hca_profiles[i];
	return NULL;
}
