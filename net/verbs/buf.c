// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: memory that stays DMA-mapped from one message to the next. This file knows
 * neither the purpose nor the owner of a buffer.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <rpcrdma/buf.h>

static void rpcrdma_buf_free(struct rpcrdma_buf *buf)
{
	if (buf->bf_block)
		put_page(buf->bf_block);
	else
		kfree(buf->bf_data);
	buf->bf_block = NULL;
	buf->bf_data = NULL;
}

/**
 * rpcrdma_buf_init - allocate a buffer and map it
 * @buf: buffer to set up
 * @device: device that will access it
 * @size: size in bytes; if @order is not 0, at most that of the block
 * @order: if not 0, the buffer is the last bytes of a block of 2^@order pages. If 0, it comes from
 *	a slab or, if it is too large for that, from the smallest block that has room for it
 * @dir: DMA direction
 * @gfp: allocation flags
 *
 * The memory is zeroed, so that no stale kernel data can be sent from it (RFC 8166 8.1). The pages
 * of a block are adjacent, so one SGE describes the buffer. They form one compound page, so one
 * reference count shows whether anybody holds any of the pages.
 *
 * A server executes a Call in the buffer in which it was received. So a file system may take
 * references to the pages of the buffer for a while. References to pages of a slab do no harm: some
 * kernels count and drop them as usual, others ignore them. But for more than
 * KMALLOC_MAX_CACHE_SIZE bytes, kmalloc() returns pages that belong to no slab. On some kernels,
 * the reference count of these pages is 0; lib/iov_iter.c raises it, and put_page() does not lower
 * it again. So a buffer of more than KMALLOC_MAX_CACHE_SIZE bytes is a block.
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: 0; %-ENOMEM; %-EIO if mapping failed.
 */
int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, unsigned int order,
		     enum dma_data_direction dir, gfp_t gfp)
{
	int node = ibdev_to_node(device);

	if (!order && rpcrdma_buf_needs_block(size))
		order = get_order(size);
	buf->bf_device = NULL;
	buf->bf_block = NULL;
	buf->bf_size = size;
	buf->bf_dir = dir;
	if (order) {
		gfp |= __GFP_COMP | __GFP_ZERO;
		buf->bf_block = alloc_pages_node(node, gfp, order);
		if (!buf->bf_block)
			return -ENOMEM;
		buf->bf_data = page_address(buf->bf_block) +
			       (PAGE_SIZE << order) - size;
	} else {
		buf->bf_data = kzalloc_node(size, gfp, node);
		if (!buf->bf_data)
			return -ENOMEM;
	}
	buf->bf_addr = ib_dma_map_single(device, buf->bf_data, size, dir);
	if (ib_dma_mapping_error(device, buf->bf_addr)) {
		rpcrdma_buf_free(buf);
		return -EIO;
	}
	buf->bf_device = device;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_buf_init);

/**
 * rpcrdma_buf_unmap - unmap a buffer, and keep its contents
 * @buf: buffer that was set up, or a zeroed one
 *
 * Received data has already been synchronised for the CPU, and may have been decrypted in
 * place since. So unmapping must neither overwrite the data from a bounce buffer, nor invalidate
 * the CPU's cache.
 *
 * Context: any, once the device can no longer access the buffer.
 */
void rpcrdma_buf_unmap(struct rpcrdma_buf *buf)
{
	if (buf->bf_device && !ib_uses_virt_dma(buf->bf_device))
		dma_unmap_single_attrs(buf->bf_device->dma_device, buf->bf_addr,
				       buf->bf_size, buf->bf_dir,
				       DMA_ATTR_SKIP_CPU_SYNC);
	buf->bf_device = NULL;
}

/**
 * rpcrdma_buf_exit - unmap a buffer and free it
 * @buf: buffer that was set up, or a zeroed one
 *
 * Context: any, once the device can no longer access the buffer.
 */
void rpcrdma_buf_exit(struct rpcrdma_buf *buf)
{
	rpcrdma_buf_unmap(buf);
	rpcrdma_buf_free(buf);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_buf_exit);
