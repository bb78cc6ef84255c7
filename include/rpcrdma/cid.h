/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion IDs: the names that trace events give to Receives, Sends and memory regions when
 * these are posted and when they complete. The memory regions that a server uses for RDMA Reads
 * have no completion IDs.
 */
#ifndef RPCRDMA_CID_H
#define RPCRDMA_CID_H

#include <linux/types.h>

/**
 * struct rpcrdma_cid - names a Receive, a Send or a memory region
 * @ci_queue: resource number of the connection's completion queue cn_cq, as shown by "rdma
 *	resource show cq"; unique within a device
 * @ci_number: number of the object within its connection, counted from 1; 0 is the
 *	keepalive's probe
 *
 * rpcrdma_conn_cid() assigns the ID of a Receive, a Send or a region when the object is created.
 * The ID does not change when the object is posted again.
 */
struct rpcrdma_cid {
	u32	ci_queue;
	int	ci_number;
};

#endif /* RPCRDMA_CID_H */
