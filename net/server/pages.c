// SPDX-License-Identifier: GPL-2.0
/*
 * Pages: those a Reply was built in, and those that RDMA Reads fill. Where a
 * thread keeps the first kind differs between kernels: see svc_rdma_array.h,
 * which with this file is all that touches rq_pages, rq_respages and
 * rq_next_page.
 *
 * sunrpc releases what lies in [rq_respages, rq_next_page) when the thread is
 * done with a request. So what a thread can use again is moved behind that.
 * Mostly this is the page with the Reply's head: to replace it is the larger part
 * of what a Reply costs its thread, since many kernels clear each page that they
 * allocate.
 *
 * RDMA Reads do not use the thread's pages at all. A Call owns the pages its
 * chunks are pulled into from the first Read until it is freed, so that they
 * move between no arrays, and they can be had in larger contiguous pieces:
 * fewer mappings, fewer SGEs, fewer work requests. What a client has placed in whole pages
 * of Receives is used there, and the Call owns nothing but the array.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "svc_rdma_array.h"

/* The largest pages that the page allocator caches per CPU */
#define SVC_RDMA_SINK_ORDER	PAGE_ALLOC_COSTLY_ORDER

/* The running kernel keeps its pages in another way than its headers say. */
static bool svc_rdma_pages_unfit;

/**
 * svc_rdma_pages_fit - can the server be used on this kernel?
 *
 * It shows only when the first thread comes for a Call.
 *
 * Context: any.
 * Return: false once a thread's arrays were not what the module is built for.
 */
bool svc_rdma_pages_fit(void)
{
	return likely(!READ_ONCE(svc_rdma_pages_unfit));
}

/**
 * svc_rdma_pages_begin - prepare a thread's pages for a new request
 * @rqstp: thread
 *
 * Whatever becomes of the request, the thread now owns no Reply pages that
 * sunrpc would have to release.
 *
 * Context: process.
 * Return: 0; %-ENOEXEC if the thread's arrays are not what the module is built
 *	for, and then nothing was touched: the caller drops the connection.
 */
int svc_rdma_pages_begin(struct svc_rqst *rqstp)
{
	if (unlikely(!svc_rdma_array_fits(rqstp))) {
		WRITE_ONCE(svc_rdma_pages_unfit, true);
		rpcrdma_count(server_wrong_kernel);
		pr_err_once("rpcrdma: the server is off: this kernel's page arrays are not those of the headers it was built with\n");
		return -ENOEXEC;
	}
	svc_rdma_array_begin(rqstp);
	return 0;
}

/**
 * svc_rdma_pages_used - how many pages does a Reply occupy?
 * @rqstp: thread with a finished Reply
 *
 * Context: process.
 * Return: number of pages.
 */
u32 svc_rdma_pages_used(const struct svc_rqst *rqstp)
{
	return svc_rdma_array_used(rqstp);
}

/* The next Reply must not write to pages that were spliced in from a page
 * cache, even if the cache has dropped them since, nor to pages that somebody
 * else still reads.
 */
static bool svc_rdma_page_is_private(struct page *page)
{
	return page && page_count(page) == 1 && !PageCompound(page) &&
	       !PageLRU(page);
}

/**
 * svc_rdma_pages_take - take the pages of a Reply away from its thread
 * @rqstp: thread with a finished Reply
 * @chain: RDMA Writes that read from them
 * @pages: room for svc_rdma_pages_used() entries, some of which may become NULL
 *
 * The caller releases them when the device has read them. The first page, which
 * has the head, stays with the thread if only the results behind it are read.
 *
 * Context: process.
 * Return: entries used in @pages.
 */
u32 svc_rdma_pages_take(struct svc_rqst *rqstp,
			const struct svc_rdma_chain *chain, struct page **pages)
{
	struct page *head = rqstp->rq_respages[0];
	bool keep;

	keep = svc_rdma_page_is_private(head) &&
	       !svc_rdma_chain_has_page(chain, head);
	return svc_rdma_array_take(rqstp, keep, pages);
}

/**
 * svc_rdma_pages_keep - let a thread use the pages of a sent Reply again
 * @rqstp: thread with a Reply that was copied
 *
 * Those that cannot be used again are left to sunrpc, which replaces them.
 *
 * Context: process.
 */
void svc_rdma_pages_keep(struct svc_rqst *rqstp)
{
	svc_rdma_array_keep(rqstp, svc_rdma_page_is_private);
}

static struct page *svc_rdma_page_alloc(unsigned int *order)
{
	struct page *page;

	if (*order) {
		page = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_NORETRY |
				   __GFP_NOWARN, *order);
		if (page)
			return page;
		*order = 0;
	}
	return alloc_page(GFP_KERNEL);
}

/* The array of a Call whose pages hold @nbytes, and how many entries it has: see
 * svc_rdma_pages_alloc()
 */
static u32 svc_rdma_pages_array(struct svc_rdma_call *call, u32 nbytes)
{
	u32 entries = DIV_ROUND_UP(max(nbytes, call->sc_stream_len),
				   PAGE_SIZE) + 1;

	call->sc_pages = kvmalloc_array(entries, sizeof(*call->sc_pages),
					GFP_KERNEL);
	return call->sc_pages ? entries : 0;
}

/**
 * svc_rdma_pages_alloc - get pages for RDMA Reads to fill
 * @call: Call without such pages
 * @nbytes: bytes to hold, not 0
 *
 * Some upper layers look for the bytes of a Call's tail, or for one page more
 * than there is, in the page array. What they find there is zeroes, and never
 * what somebody else left in memory (RFC 8166 8.1): the rest of the last page is
 * cleared, and the array goes on with the zero page, which RDMA Reads do not
 * reach.
 *
 * Context: process; sleeps.
 * Return: 0; %-ENOMEM, and svc_rdma_pages_free() cleans up.
 */
int svc_rdma_pages_alloc(struct svc_rdma_call *call, u32 nbytes)
{
	u32 count = DIV_ROUND_UP(nbytes, PAGE_SIZE);
	u32 entries = svc_rdma_pages_array(call, nbytes);
	unsigned int order = SVC_RDMA_SINK_ORDER;
	struct page *page;
	u32 i;

	if (!entries)
		return -ENOMEM;

	while (call->sc_npages < count) {
		order = min_t(unsigned int, order,
			      ilog2(count - call->sc_npages));
		page = svc_rdma_page_alloc(&order);
		if (!page)
			return -ENOMEM;
		for (i = 0; i < 1u << order; i++)
			call->sc_pages[call->sc_npages++] = page + i;
	}

	if (offset_in_page(nbytes))
		memzero_page(call->sc_pages[count - 1], offset_in_page(nbytes),
			     PAGE_SIZE - offset_in_page(nbytes));
	for (i = count; i < entries; i++)
		call->sc_pages[i] = ZERO_PAGE(0);
	return 0;
}

/**
 * svc_rdma_pages_lend - use the pages that a Call's data has arrived in
 * @call: Call without pages, whose message has data; it is not longer than the Call
 *
 * They stay the message's. What is behind the data is zeroes, and what follows in the
 * array is the zero page, as in svc_rdma_pages_alloc().
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_pages_lend(struct svc_rdma_call *call)
{
	u32 i = rpcrdma_msg_data_npages(call->sc_msg);
	u32 entries = svc_rdma_pages_array(call, i << PAGE_SHIFT);

	if (!entries)
		return -ENOMEM;
	rpcrdma_msg_data_pages(call->sc_msg, call->sc_pages);
	for (; i < entries; i++)
		call->sc_pages[i] = ZERO_PAGE(0);
	return 0;
}

/**
 * svc_rdma_pages_free - give up the pages of a Call
 * @call: Call; its RDMA Reads are over
 *
 * Upper layers that still use some of the pages hold references.
 *
 * Context: any, may sleep.
 */
void svc_rdma_pages_free(struct svc_rdma_call *call)
{
	struct page *page;
	u32 i = 0;

	while (i < call->sc_npages) {
		page = call->sc_pages[i];
		i += 1u << compound_order(page);
		put_page(page);
	}
	kvfree(call->sc_pages);
	call->sc_pages = NULL;
	call->sc_npages = 0;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_pages_free);

/**
 * svc_rdma_pages_write - copy into the pages of a Call
 * @call: Call whose RDMA Reads are over
 * @pos: where to begin, in bytes from the start of its pages
 * @from: what to copy; NULL: zeroes
 * @len: bytes, all within the pages
 *
 * Context: any.
 */
void svc_rdma_pages_write(const struct svc_rdma_call *call, u32 pos,
			  const void *from, u32 len)
{
	u32 base, part;
	void *to;

	while (len) {
		base = offset_in_page(pos);
		part = min_t(u32, len, PAGE_SIZE - base);
		to = page_address(call->sc_pages[pos >> PAGE_SHIFT]) + base;
		if (from) {
			memcpy(to, from, part);
			from += part;
		} else {
			memset(to, 0, part);
		}
		pos += part;
		len -= part;
	}
}
