// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer room: memory that stays DMA-mapped as long as a connection lives.
 * It knows neither the purpose nor the owner of a buffer.
 */
#include <linux/slab.h>
#include <rpcrdma/buf.h>

/**
 * rpcrdma_buf_init - allocate a buffer and map it
 * @buf: buffer to set up
 * @device: device that will access it
 * @size: size in bytes
 * @dir: DMA direction
 * @gfp: allocation flags
 *
 * The memory is zeroed, so that no stale kernel data can be sent from it (RFC 8166 8.1).
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: 0; %-ENOMEM; %-EIO if mapping failed.
 */
int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, enum dma_data_direction dir, gfp_t gfp)
{
	buf->bf_device = NULL;
	buf->bf_size = size;
	buf->bf_dir = dir;
	buf->bf_data = kzalloc_node(size, gfp, ibdev_to_node(device));
	if (!buf->bf_data)
		return -ENOMEM;
	buf->bf_addr = ib_dma_map_single(device, buf->bf_data, size, dir);
	if (ib_dma_mapping_error(device, buf->bf_addr)) {
		kfree(buf->bf_data);
		buf->bf_data = NULL;
		return -EIO;
	}
	buf->bf_device = device;
	return 0;
}

/**
 * rpcrdma_buf_unmap - unmap a buffer, and keep its contents
 * @buf: buffer that rpcrdma_buf_init() set up, or a zeroed one
 *
 * Received data has already been synchronised for the CPU, and may have been decrypted in
 * place since. So unmapping must not copy a bounce buffer over it, or invalidate the
 * cache.
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
 * @buf: buffer that rpcrdma_buf_init() set up, or a zeroed one
 *
 * Context: any, once the device can no longer access the buffer.
 */
void rpcrdma_buf_exit(struct rpcrdma_buf *buf)
{
	rpcrdma_buf_unmap(buf);
	kfree(buf->bf_data);
	buf->bf_data = NULL;
}
