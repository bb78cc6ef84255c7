// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of svc_rdma_array.h: one array, which is in struct svc_rqst (Linux 6.1 to 6.15).
 */

#include <linux/types.h>

/* Remove the macros of Kbuild, which describe the kernel for which this file is built */
#undef RPCRDMA_ALLOCATED_PAGES
#undef RPCRDMA_SEPARATE_REPLY_PAGES

#define ARRAY_KUNIT_SEPARATE	0
#define ARRAY_KUNIT_SUITE	"svc_rdma_array_fixed"
#define ARRAY_KUNIT_ENTRIES	8

struct svc_rqst {
	struct page	*rq_pages[ARRAY_KUNIT_ENTRIES + 1];
	struct page	**rq_respages;
	struct page	**rq_next_page;
	struct page	**rq_page_end;
};

static void array_kunit_init(struct svc_rqst *rqstp, struct page **calls)
{
}

#include "svc_rdma_array_contract.h"
