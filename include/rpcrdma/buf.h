/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers that stay DMA-mapped for the life of a connection.
 */
#ifndef RPCRDMA_BUF_H
#define RPCRDMA_BUF_H

#include <rdma/ib_verbs.h>

/**
 * struct rpcrdma_buf - one mapped buffer
 * @bf_data: kernel address
 * @bf_device: device that the buffer is mapped for, or NULL if it is not mapped
 * @bf_addr: DMA address while the buffer is mapped
 * @bf_size: size in bytes
 * @bf_dir: DMA direction
 */
struct rpcrdma_buf {
	void			*bf_data;
	struct ib_device	*bf_device;
	u64			bf_addr;
	u32			bf_size;
	enum dma_data_direction	bf_dir;
};

int rpcrdma_buf_init(struct rpcrdma_buf *buf, struct ib_device *device,
		     u32 size, enum dma_data_direction dir, gfp_t gfp);
void rpcrdma_buf_unmap(struct rpcrdma_buf *buf);
void rpcrdma_buf_exit(struct rpcrdma_buf *buf);

/* Call before the device reads the first @len bytes. */
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
