/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices. rpcrdma_device_query() reports what an ib_device can do, and takes known faults of
 * particular devices into account. The other functions delay the removal of a device while it
 * has connections, or while a CM id on it is being destroyed.
 */
#ifndef RPCRDMA_DEVICE_H
#define RPCRDMA_DEVICE_H

#include <rpcrdma/size.h>

struct ib_device;
struct rdma_cm_id;
struct rpcrdma_conn;

void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps);
int rpcrdma_device_join(struct rpcrdma_conn *conn);
void rpcrdma_device_leave(struct rpcrdma_conn *conn);
void rpcrdma_device_destroy_id(struct rdma_cm_id *id);
int rpcrdma_device_init(void);
void rpcrdma_device_exit(void);

#endif /* RPCRDMA_DEVICE_H */
