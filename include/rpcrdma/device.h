/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device room: what an ib_device can do, in the words of size.h, with the
 * quirks of known devices already applied.
 */
#ifndef RPCRDMA_DEVICE_H
#define RPCRDMA_DEVICE_H

#include <rpcrdma/size.h>

struct ib_device;

extern u32 rpcrdma_device_max_mr_pages;
extern u32 rpcrdma_device_max_qp_wr;
void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps);

#endif /* RPCRDMA_DEVICE_H */
