// SPDX-License-Identifier: GPL-2.0
/*
 * This file manages the pages that contain Replies, and the pages that RDMA Reads fill or that
 * Calls are copied to. The place where a thread keeps the pages of a Reply differs between
 * kernels: see svc_rdma_array.h. Only that header and this file access rq_pages, rq_respages and
 * rq_next_page.
 *
 * When a thread is done with a request, sunrpc releases the pages in
 * [rq_respages, rq_next_page). So this file moves the pages that the thread can use again out of
 * this range. Usually there is one such page, which has the head of the Reply. To allocate another
 * page instead would take much CPU time, because many kernels clear each page that they allocate.
 *
 * RDMA Reads do not use the thread's pages at all. A Call owns the pages that its chunks
 * are read into, from their allocation until the Call is freed. So the pages need not move
 * between arrays, and they can be allocated in larger contiguous pieces. Then there are
 * fewer mappings, fewer SGEs and fewer work requests. Afterwards the pieces are kept for other
 * Calls (server/reclaim.c).
 *
 * The target segments of a Receive (rtx.h) are whole pages. So data that a client has placed there
 * normally need not be copied. The Call then owns only an array of pointers to these pages, and
 * the message owns the pages.
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

/* Set if the running kernel does not keep a thread's pages in the way that this module was built
 * for
 */
static bool svc_rdma_pages_unfit;

/**
 * svc_rdma_pages_fit - can the server be used on this kernel?
 *
 * The answer is "yes" until svc_rdma_pages_begin() has found that a thread's arrays do not match
 * what the module is built for.
 *
 * Context: any.
 * Return: false if the server cannot be used.
 */
bool svc_rdma_pages_fit(void)
{
	return likely(!READ_ONCE(svc_rdma_pages_unfit));
}

/**
 * svc_rdma_pages_begin - prepare a thread's pages for a new request
 * @rqstp: thread
 *
 * Afterwards the Reply has no pages. So sunrpc has none to release, unless the request is
 * executed and its Reply is encoded.
 *
 * Context: process.
 * Return: 0; or %-ENOEXEC if the arrays of the thread do not match what the module is
 *	built for. Then nothing was touched, and the caller fails the connection.
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

/* Can the next Reply be written to a page? It cannot if other code holds a reference to the page,
 * or if the page is on an LRU list: a page from a page cache (splice) may be on such a list even
 * after the cache has dropped it. Nor can it if the page is part of a compound page: that has one
 * reference count for all of its pages, so the count says nothing about a single page.
 */
static bool svc_rdma_page_is_private(struct page *page)
{
	return page && page_count(page) == 1 && !PageCompound(page) &&
	       !PageLRU(page);
}

/**
 * svc_rdma_pages_hold - move the pages that RDMA Writes read from a thread to the Send context
 * @send: context with the Reply and its RDMA Writes
 * @rqstp: thread with the Reply
 *
 * The context holds the pages until the Send has completed (I15). The first page, which has the
 * head, stays with the thread if nobody else uses it and no RDMA Write reads it. If there are no
 * RDMA Writes, the thread keeps all pages that it can use again. sunrpc replaces the others.
 *
 * rq_next_page alone does not tell how many pages a Reply has. If the data of a READ begin inside a
 * page, nfsd of 7.3 may count one page too few (compat.rst, Faults of kernels). Nor does the
 * encoder of an xdr_stream count the pages that a Reply takes besides its head. So all pages to
 * which rq_res refers are counted, too, and rq_next_page is moved behind them.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_pages_hold(struct svc_rdma_send *send, struct svc_rqst *rqstp)
{
	const struct xdr_buf *xdr = &rqstp->rq_res;
	u32 npages = DIV_ROUND_UP(xdr->page_base + xdr->page_len, PAGE_SIZE);
	struct page *head;
	bool keep;
	u32 used;

	if (list_empty(&send->ss_writes.sh_rws)) {
		svc_rdma_array_keep(rqstp, svc_rdma_page_is_private);
		return 0;
	}
	svc_rdma_array_extend(rqstp, xdr->pages + npages);
	used = svc_rdma_array_used(rqstp);
	if (send->ss_maxpages < used) {
		kvfree(send->ss_pages);
		send->ss_maxpages = 0;
		send->ss_pages = kvmalloc_array(used, sizeof(*send->ss_pages),
						GFP_KERNEL);
		if (!send->ss_pages)
			return -ENOMEM;
		send->ss_maxpages = used;
	}
	head = rqstp->rq_respages[0];
	keep = svc_rdma_page_is_private(head) &&
	       !svc_rdma_chain_has_page(&send->ss_writes, head);
	send->ss_npages = svc_rdma_array_take(rqstp, keep, send->ss_pages);
	return 0;
}

/* Allocates the array sc_pages for pages that hold @nbytes. Returns the number of entries of
 * the array, or 0 if memory is short. There are entries for the whole Call and one more,
 * even if @nbytes is less: upper layers may read them all, see svc_rdma_pages_alloc().
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
 * svc_rdma_pages_alloc - get pages for RDMA Reads to fill, or to copy a Call to
 * @call: Call without pages
 * @nbytes: number of bytes that the pages must hold, not 0
 *
 * Some upper layers read beyond @nbytes: they expect the bytes of a Call's tail in the page array,
 * although these may be elsewhere, or read one page too many. What they get from there must be
 * zeroes, and never old contents of memory (RFC 8166 8.1). So the part of the last page behind
 * @nbytes is cleared. The remaining entries of the array point to the zero page, and no RDMA Read
 * uses them.
 *
 * Context: process; sleeps.
 * Return: 0; or %-ENOMEM. The pages that were allocated before the failure are released when @call
 *	is freed.
 */
int svc_rdma_pages_alloc(struct svc_rdma_call *call, u32 nbytes)
{
	u32 count = DIV_ROUND_UP(nbytes, PAGE_SIZE);
	u32 entries = svc_rdma_pages_array(call, nbytes);
	gfp_t gfp = GFP_KERNEL | __GFP_COMP | __GFP_NORETRY | __GFP_NOWARN;
	unsigned int order = SVC_RDMA_PIECE_ORDER;
	struct page *page;
	u32 i;

	if (!entries)
		return -ENOMEM;
	/* The memory of a Call that is pulled is counted already. */
	if (!call->sc_counted)
		svc_rdma_budget_count(call, count << PAGE_SHIFT);

	call->sc_npages = svc_rdma_stock_take(call->sc_pages, count);
	while (call->sc_npages < count) {
		order = min_t(unsigned int, order,
			      ilog2(count - call->sc_npages));
		page = alloc_pages(order ? gfp : GFP_KERNEL, order);
		if (!page && !order)
			return -ENOMEM;
		if (!page) {
			order = 0;
			continue;
		}
		rpcrdma_count_add(server_pages_allocated, 1u << order);
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
 * svc_rdma_pages_share - let sc_pages point to the pages in which a Call's data has arrived
 * @call: Call without pages, whose message has data in target segments (rtx.h), but not more bytes
 *	of data than the Call has
 *
 * The message still owns the pages. rpcrdma_msg_data_pages() clears the bytes behind the data in
 * the last page. The remaining entries of the array point to the zero page, as in
 * svc_rdma_pages_alloc().
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_pages_share(struct svc_rdma_call *call)
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
 * svc_rdma_pages_free - release the pages of a Call
 * @call: Call whose RDMA Reads have ended, or that had none
 *
 * An upper layer that still uses a page holds a reference of its own.
 *
 * Context: process or completion workqueue; may sleep.
 */
void svc_rdma_pages_free(struct svc_rdma_call *call)
{
	svc_rdma_stock_put(call->sc_pages, call->sc_npages);
	kvfree(call->sc_pages);
	call->sc_pages = NULL;
	call->sc_npages = 0;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_pages_free);

/**
 * svc_rdma_pages_write - copy into the pages of a Call
 * @call: Call whose RDMA Reads have ended, or that had none
 * @pos: where to begin, in bytes from the start of its pages
 * @from: bytes to copy; NULL to write zeroes
 * @len: number of bytes, all within the pages
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
