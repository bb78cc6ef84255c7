// SPDX-License-Identifier: GPL-2.0
/*
 * Client: copies of messages that have too many pieces.
 *
 * This file makes, fills and frees them. It never decides that one is needed, and
 * knows neither RPC nor connection.
 *
 * Head, pages and tail of an xdr_buf are no neighbours, so a Long Call or Reply
 * takes a region, and with it a segment, for each of them. A server may say that
 * it wants fewer (SEGMENTS, version-two 5.3.3). The message then goes through whole
 * pages, which one region covers. This is as rare as it is slow.
 *
 * Operation
 *
 * The copy belongs to the slot. A Call is copied into it before it is mapped,
 * a Reply out of it after its regions have been fenced. It is freed when the
 * next Call is built, or with the buffers of the RPC, both of which come after
 * fencing.
 */
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>

#include "xprt_rdma.h"

/**
 * xprt_rdma_bounce_put - free a copy
 * @copy: buffer of xprt_rdma_bounce_get(), or one that has nothing
 *
 * Context: process. No device has its pages any more.
 */
void xprt_rdma_bounce_put(struct xdr_buf *copy)
{
	unsigned int i, n = DIV_ROUND_UP(copy->page_len, PAGE_SIZE);

	if (likely(!copy->pages))
		return;
	for (i = 0; i < n && copy->pages[i]; i++)
		__free_page(copy->pages[i]);
	kvfree(copy->pages);
	memset(copy, 0, sizeof(*copy));
}

/**
 * xprt_rdma_bounce_get - have pages for a message
 * @copy: buffer that has nothing
 * @len: bytes
 *
 * Context: process; may sleep.
 * Return: 0 or %-ENOBUFS.
 */
int xprt_rdma_bounce_get(struct xdr_buf *copy, u32 len)
{
	unsigned int i, n = DIV_ROUND_UP(len, PAGE_SIZE);

	copy->pages = kvcalloc(n, sizeof(*copy->pages), XPRT_RDMA_GFP);
	if (!copy->pages)
		return -ENOBUFS;
	copy->page_len = len;
	for (i = 0; i < n; i++) {
		copy->pages[i] = alloc_page(XPRT_RDMA_GFP | __GFP_ZERO);
		if (!copy->pages[i]) {
			xprt_rdma_bounce_put(copy);
			return -ENOBUFS;
		}
	}
	return 0;
}

/**
 * xprt_rdma_bounce_fill - copy a Call
 * @copy: buffer as long as @from
 * @from: the Call
 *
 * Context: any.
 * Return: 0 or %-EIO.
 */
int xprt_rdma_bounce_fill(const struct xdr_buf *copy,
			  const struct xdr_buf *from)
{
	unsigned int off, n;

	for (off = 0; off < copy->page_len; off += n) {
		void *at = page_address(copy->pages[off / PAGE_SIZE]);

		n = min_t(unsigned int, copy->page_len - off, PAGE_SIZE);
		if (read_bytes_from_xdr_buf(from, off, at, n))
			return -EIO;
	}
	return 0;
}

/**
 * xprt_rdma_bounce_drain - copy a Reply to where it is looked for
 * @copy: buffer whose first @len bytes the server has written
 * @to: the Reply's buffer; head, pages and tail without a gap
 * @len: bytes
 *
 * Context: any.
 * Return: 0; or %-EIO if it does not fit.
 */
int xprt_rdma_bounce_drain(const struct xdr_buf *copy, struct xdr_buf *to,
			   u32 len)
{
	unsigned int off, n;

	for (off = 0; off < len; off += n) {
		void *at = page_address(copy->pages[off / PAGE_SIZE]);

		n = min_t(unsigned int, len - off, PAGE_SIZE);
		if (write_bytes_to_xdr_buf(to, off, at, n))
			return -EIO;
	}
	return 0;
}
