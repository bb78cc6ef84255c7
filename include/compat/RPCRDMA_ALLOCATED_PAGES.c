// SPDX-License-Identifier: GPL-2.0
/* 6.16: "sunrpc: Replace the rq_pages array with dynamically-allocated memory" */
#include <linux/sunrpc/svc.h>

#ifdef PRESENT_FORM
static inline unsigned long probe_allocated_pages(struct svc_rqst *rqstp)
{
	return rqstp->rq_maxpages;
}
#else
static inline struct page **probe_allocated_pages(struct svc_rqst *rqstp)
{
	return &rqstp->rq_pages[RPCSVC_MAXPAGES];
}
#endif
