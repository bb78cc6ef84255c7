/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a server thread (struct svc_rqst) keeps the pages of its Replies. There are three forms of
 * these page arrays, depending on the kernel. include/compat/Kbuild finds out the form from the
 * declarations in the kernel's header, and not from the kernel's version, because distributions
 * backport changes.
 *
 * - Fixed (Linux 6.1 to 6.15): struct svc_rqst has one array, rq_pages, for Calls and Replies. The
 *   transport points rq_respages at the first entry that a Reply may use, and sunrpc
 *   refills every NULL entry. Until the transport has set rq_respages, the pointer is NULL, or
 *   still has its value from the thread's previous request.
 * - Shared (Linux 6.16 to 7.0, RPCRDMA_ALLOCATED_PAGES: "sunrpc: Replace the rq_pages array with
 *   dynamically-allocated memory"): as in the fixed form, but the array is allocated, with room for
 *   rq_maxpages pages.
 * - Separate (from Linux 7.1 on, RPCRDMA_SEPARATE_REPLY_PAGES: "sunrpc: allocate a separate Reply
 *   page array"): rq_respages is an array of its own, with room for rq_maxpages
 *   pages, and the transport must not change the pointer. sunrpc refills the
 *   entries before rq_next_page.
 *
 * In all forms, sunrpc releases the pages in [rq_respages, rq_next_page) when the thread is done
 * with a request. Before sunrpc calls the transport, sunrpc sets rq_page_end to the address behind
 * the last entry that a Reply may use.
 *
 * If Kbuild chose the wrong form, the server would release pages that are in use. So before any
 * other function of this file, svc_rdma_array_fits() is called. It checks whether rq_page_end, as
 * the running kernel has set it, is right for the form.
 *
 * This file includes no declaration of struct svc_rqst: unit tests supply one
 * for each form.
 */
#ifndef RPCRDMA_SVC_RDMA_ARRAY_H
#define RPCRDMA_SVC_RDMA_ARRAY_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Maximum number of entries that sunrpc fills in each array. A NULL entry follows them. */
static inline unsigned long
svc_rdma_array_entries(const struct svc_rqst *rqstp)
{
#ifdef RPCRDMA_ALLOCATED_PAGES
	return rqstp->rq_maxpages;
#else
	return ARRAY_SIZE(rqstp->rq_pages) - 1;
#endif
}

/* Does rq_page_end point into rq_pages? Then Calls and Replies share one array. */
static inline bool svc_rdma_array_is_one(const struct svc_rqst *rqstp)
{
	unsigned long first = (unsigned long)&rqstp->rq_pages[0];
	unsigned long end = (unsigned long)rqstp->rq_page_end;

	return end > first &&
	       end <= first + svc_rdma_array_entries(rqstp) * sizeof(void *);
}

/**
 * svc_rdma_array_fits - does the running kernel use the form that Kbuild chose?
 * @rqstp: thread that is to take a Call
 *
 * Context: any.
 * Return: false if the thread's arrays must not be touched.
 */
static inline bool svc_rdma_array_fits(const struct svc_rqst *rqstp)
{
#ifdef RPCRDMA_SEPARATE_REPLY_PAGES
	return rqstp->rq_respages && !svc_rdma_array_is_one(rqstp) &&
	       rqstp->rq_page_end == rqstp->rq_respages +
				     svc_rdma_array_entries(rqstp);
#else
	return svc_rdma_array_is_one(rqstp);
#endif
}

/**
 * svc_rdma_array_begin - begin a Reply that has no pages yet
 * @rqstp: thread that is to take a Call
 *
 * Context: any.
 */
static inline void svc_rdma_array_begin(struct svc_rqst *rqstp)
{
#ifndef RPCRDMA_SEPARATE_REPLY_PAGES
	rqstp->rq_respages = rqstp->rq_pages;
#endif
	rqstp->rq_next_page = rqstp->rq_respages;
}

/**
 * svc_rdma_array_used - how many pages does a Reply occupy?
 * @rqstp: thread with a finished Reply
 *
 * Context: any.
 * Return: number of pages.
 */
static inline u32 svc_rdma_array_used(const struct svc_rqst *rqstp)
{
	return rqstp->rq_next_page - rqstp->rq_respages;
}

/**
 * svc_rdma_array_extend - let a Reply occupy all pages that have data of it
 * @rqstp: thread with a finished Reply
 * @end: address behind the last entry whose page has data of the Reply
 *
 * Upper layers may leave rq_next_page too low. Then sunrpc lets the next Reply use pages
 * that still have data of this one.
 *
 * Context: any.
 */
static inline void svc_rdma_array_extend(struct svc_rqst *rqstp,
					 struct page **end)
{
	if (end > rqstp->rq_next_page && end <= rqstp->rq_page_end)
		rqstp->rq_next_page = end;
}

/**
 * svc_rdma_array_take - take the pages of a Reply away from its thread
 * @rqstp: thread with a finished Reply
 * @keep_head: let the first page stay with the thread
 * @pages: room for svc_rdma_array_used() entries, some of which may become NULL
 *
 * Context: any.
 * Return: entries used in @pages.
 */
static inline u32 svc_rdma_array_take(struct svc_rqst *rqstp, bool keep_head,
				      struct page **pages)
{
	struct page **reply = rqstp->rq_respages;
	u32 i, used = svc_rdma_array_used(rqstp);

	if (used && keep_head) {
		used--;
		swap(reply[0], reply[used]);
	}
	for (i = 0; i < used; i++) {
		pages[i] = reply[i];
		reply[i] = NULL;
	}
	rqstp->rq_next_page = reply;
#ifdef RPCRDMA_SEPARATE_REPLY_PAGES
	/* sunrpc refills the entries before rq_next_page. */
	rqstp->rq_next_page += used;
#endif
	return used;
}

/**
 * svc_rdma_array_keep - let a thread use the pages of a sent Reply again
 * @rqstp: thread whose Reply was copied
 * @reusable: called with each entry of the Reply, a page or NULL; returns whether the
 *	thread can use the page again
 *
 * sunrpc releases and replaces the pages that cannot be used again.
 *
 * Context: any.
 */
static __always_inline void
svc_rdma_array_keep(struct svc_rqst *rqstp, bool (*reusable)(struct page *))
{
	u32 i, used = svc_rdma_array_used(rqstp), lost = 0;
	struct page **reply = rqstp->rq_respages;

	for (i = 0; i < used; i++) {
		if (reusable(reply[i]))
			continue;
		swap(reply[i], reply[lost]);
		lost++;
	}
	rqstp->rq_next_page = reply + lost;
}

#endif /* RPCRDMA_SVC_RDMA_ARRAY_H */
