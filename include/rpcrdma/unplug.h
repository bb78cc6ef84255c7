/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The unplug room: a device goes only after the last connection on it.
 */
#ifndef RPCRDMA_UNPLUG_H
#define RPCRDMA_UNPLUG_H

struct rdma_cm_id;
struct rpcrdma_conn;

int rpcrdma_unplug_join(struct rpcrdma_conn *conn);
void rpcrdma_unplug_leave(struct rpcrdma_conn *conn);
void rpcrdma_unplug_destroy_id(struct rdma_cm_id *id);
int rpcrdma_unplug_init(void);
void rpcrdma_unplug_exit(void);

#endif /* RPCRDMA_UNPLUG_H */
