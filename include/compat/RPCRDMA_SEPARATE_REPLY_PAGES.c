// SPDX-License-Identifier: GPL-2.0
/* 7.1: "sunrpc: allocate a separate Reply page array" */
#include <linux/sunrpc/svc.h>

#ifdef PRESENT_FORM
static inline unsigned long probe_separate_reply_pages(struct svc_rqst *rqstp)
{
	return rqstp->rq_pages_nfree;
}
#else
static inline struct page **probe_separate_reply_pages(struct svc_rqst *rqstp)
{
	return rqstp->rq_respages;
}
#endif
