/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion IDs: trace events name by them what is posted and what completes.
 */
#ifndef RPCRDMA_CID_H
#define RPCRDMA_CID_H

#include <linux/types.h>

/**
 * struct rpcrdma_cid - names a Receive, a Send or a memory region
 * @ci_queue: resource number of the completion queue, as "rdma resource show cq"
 *	has it; unique within a device
 * @ci_number: number of the object within its connection, from 1 on; 0 is the
 *	keepalive's probe
 *
 * Given once, by rpcrdma_conn_cid(), when the object is made, so that using it costs
 * nothing but the trace event.
 */
struct rpcrdma_cid {
	u32	ci_queue;
	int	ci_number;
};

#endif /* RPCRDMA_CID_H */
