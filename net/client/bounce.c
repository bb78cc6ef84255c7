// SPDX-License-Identifier: GPL-2.0
/*
 * Client: copies of Long Calls and Long Replies that would have too many segments.
 *
 * This file allocates, fills and frees the copies. It never decides that a copy is
 * needed, and knows nothing about RPCs and connections.
 *
 * The head, pages and tail of an xdr_buf are not contiguous. So on most devices, a Long Call or
 * a Long Reply takes at least one region for each of the three that has data, and each region is a
 * segment of the chunk. A server may report that it accepts fewer segments (error SEGMENTS,
 * version-two 5.3.3). Then the RPC is sent again with chunks that describe a copy of the message.
 * The copy is a list of whole pages, which takes as few regions as possible, usually one. Copying
 * is slow, but rarely necessary.
 *
 * Operation
 *
 * The copy belongs to the slot. A Call is copied to the pages before they are mapped. A
 * Reply is copied from the pages after the server's access to them has ended (fence.c). The
 * pages are freed when the Call is planned again, or together with the buffers of the RPC. By
 * then the RPC has no regions: they were invalidated, or destroyed with the connection, or
 * unmapped because the Call was not posted.
 */
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>

#include "xprt_rdma.h"

/**
 * xprt_rdma_bounce_put - free a copy
 * @copy: buffer from xprt_rdma_bounce_get(), or a zeroed one
 *
 * Context: process. The device no longer uses the pages of @copy.
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
 * xprt_rdma_bounce_get - allocate pages for the copy of a message
 * @copy: zeroed buffer
 * @len: length of the message in bytes
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
 * xprt_rdma_bounce_fill - copy a Call to the allocated pages
 * @copy: buffer to copy to; it has the same length as @from
 * @from: the Call
 *
 * Context: any.
 * Return: 0; or %-EIO if @from is shorter than @copy.
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
 * xprt_rdma_bounce_drain - copy a Reply to the RPC's buffer
 * @copy: buffer whose first @len bytes the server has written
 * @to: the RPC's buffer; head, pages and tail are filled without a gap
 * @len: number of bytes
 *
 * Context: any.
 * Return: 0; or %-EIO if the Reply does not fit.
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
