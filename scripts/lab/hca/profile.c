// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles: the limits of real adapters
 *
 * Each number is what the adapter's driver in drivers/infiniband/hw of Linux 7.3 reports. Where the
 * driver asks the firmware, the number is usual for the adapter that the comment names.
 */
#include <linux/string.h>
#include "hca.h"

static const struct hca_profile hca_profiles[] = {
	/*
	 * mlx5 (ConnectX-4 and later). A send request has 512 bytes, of which 32 are headers
	 * (MLX5_MAX_SGE_RD). A region's list has 1 << log_max_klm_list_size entries. The driver
	 * has no common local key: the core gets one for each protection domain.
	 */
	{ .name = "mlx5", .qp_wr = 32768, .send_sge = 30, .recv_sge = 32,
	  .read_sge = 30, .inline_max = 464, .cqe = (1 << 22) - 1,
	  .mr_pages = 65536, .mr = 1 << 24, .ird = 16, .ord = 16, .sgl_rd = 32,
	  .gaps = true },
	/*
	 * mlx4 (ConnectX-3). 33 requests of the queue are spare (MLX4_IB_SQ_MAX_SPARE), and
	 * MLX4_MAX_FAST_REG_PAGES is 511.
	 */
	{ .name = "mlx4", .qp_wr = 16351, .send_sge = 32, .recv_sge = 32,
	  .read_sge = 30, .inline_max = 464, .cqe = (1 << 22) - 1,
	  .mr_pages = 511, .mr = 1 << 19, .ird = 16, .ord = 128, .lkey = true },
	/* irdma (E810): IRDMA_MAX_QP_WRS(8), IRDMA_MAX_WQ_FRAGMENT_COUNT, ICRDMA_MAX_IRD_SIZE */
	{ .name = "irdma", .qp_wr = 4063, .send_sge = 13, .recv_sge = 13,
	  .read_sge = 13, .inline_max = 101, .cqe = 1048574,
	  .mr_pages = 262144, .mr = 1 << 21, .ird = 127, .ord = 255,
	  .lkey = true },
	/*
	 * cxgb4 (T5). A request has 320 bytes, 40 of which are headers. Regions have 1024 bytes
	 * of page addresses (T4_MAX_FR_DSGL), and an RDMA Read has one SGE.
	 */
	{ .name = "cxgb4", .qp_wr = 8190, .send_sge = 17, .recv_sge = 4,
	  .read_sge = 1, .inline_max = 280, .cqe = 65518, .mr_pages = 128,
	  .mr = 32768, .ird = 32, .ord = 32, .lkey = true },
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
