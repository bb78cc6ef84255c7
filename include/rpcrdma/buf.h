/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers that stay DMA-mapped from one message to the next.
 */
#ifndef RPCRDMA_BUF_H
#define RPCRDMA_BUF_H

#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

/**
 * struct rpcrdma_buf - one mapped buffer
 * @bf_data: kernel address
 * @bf_block: block of pages (one compound page), whose last @bf_size bytes are the buffer;
 *	NULL if the buffer comes from a slab
 * @bf_device: device that the buffer is mapped for, or NULL if it is not mapped
 * @bf_addr: DMA address while the buffer is mapped
 * @bf_size: size in bytes
 * @bf_dir: DMA direction
 */
struct rpcrdma_buf {
	void			*bf_data;
	struct page		*bf_block;
	struct ib_device	*bf_device;
	u64			bf_addr;
	u32			bf_size;
	enum dma_data_direction	bf_dir;
};

int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, unsigned int order,
		     enum dma_data_direction dir, gfp_t gfp);
void rpcrdma_buf_exit(struct rpcrdma_buf *buf);

/* Returns whether a buffer of @size bytes is too large for a slab, so that rpcrdma_buf_init() makes
 * a block of pages.
 */
static inline bool rpcrdma_buf_needs_block(u32 size)
{
	return size > KMALLOC_MAX_CACHE_SIZE;
}

/* Returns the number of bytes of memory that a buffer of @size bytes pins. Bytes that a slab
 * adds to @size are not counted. @order is the argument of rpcrdma_buf_init().
 */
static inline u32 rpcrdma_buf_pins(u32 size, unsigned int order)
{
	if (!order && rpcrdma_buf_needs_block(size))
		order = get_order(size);
	return order ? PAGE_SIZE << order : size;
}

/* Returns whether anybody except the owner has a reference to a page of the buffer. If not, no
 * upper layer can get a reference before the owner hands out a page. The memory management may take
 * a reference to any page for a moment; the function then returns true, although no upper layer
 * uses the page. References to pages of a slab do no harm (see rpcrdma_buf_init()), so this
 * function returns false for a buffer from a slab.
 */
static inline bool rpcrdma_buf_is_shared(const struct rpcrdma_buf *buf)
{
	return buf->bf_block && page_count(buf->bf_block) > 1;
}

/* Returns the address of the first target segment (rtx.h) in the buffer of a Receive with target
 * segments. Such a buffer begins inside the first page of its block; its first segment is the
 * second page.
 */
static inline void *rpcrdma_buf_targets(const struct rpcrdma_buf *buf)
{
	return PTR_ALIGN(buf->bf_data + 1, PAGE_SIZE);
}

/* Call before the device reads or writes the first @len bytes. */
static inline void rpcrdma_buf_sync_for_device(struct rpcrdma_buf *buf, u32 len)
{
	ib_dma_sync_single_for_device(buf->bf_device, buf->bf_addr, len,
				      buf->bf_dir);
}

/* Call after the device has written the first @len bytes. */
static inline void rpcrdma_buf_sync_for_cpu(struct rpcrdma_buf *buf, u32 len)
{
	ib_dma_sync_single_for_cpu(buf->bf_device, buf->bf_addr, len,
				   buf->bf_dir);
}

#endif /* RPCRDMA_BUF_H */
