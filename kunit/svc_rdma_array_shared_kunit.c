// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of svc_rdma_array.h: one array, which is allocated (Linux 6.16 to 7.0).
 */

#include <linux/types.h>

/* Replace the macros of Kbuild, which describe the kernel for which this file is built */
#undef RPCRDMA_ALLOCATED_PAGES
#undef RPCRDMA_SEPARATE_REPLY_PAGES
#define RPCRDMA_ALLOCATED_PAGES

#define ARRAY_KUNIT_SEPARATE	0
#define ARRAY_KUNIT_SUITE	"svc_rdma_array_shared"
#define ARRAY_KUNIT_ENTRIES	8

struct svc_rqst {
	unsigned long	rq_maxpages;
	struct page	**rq_pages;
	struct page	**rq_respages;
	struct page	**rq_next_page;
	struct page	**rq_page_end;
};

static void array_kunit_init(struct svc_rqst *rqstp, struct page **calls)
{
	rqstp->rq_maxpages = ARRAY_KUNIT_ENTRIES;
	rqstp->rq_pages = calls;
}

#include "svc_rdma_array_contract.h"
