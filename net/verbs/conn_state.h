/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of verbs/conn_state.c. Outside that file, only verbs/conn.c and unit tests use them.
 * The other functions of verbs/conn_state.c are declared in rpcrdma/conn.h.
 */
#ifndef RPCRDMA_CONN_STATE_H
#define RPCRDMA_CONN_STATE_H

#include <rpcrdma/conn.h>

bool rpcrdma_conn_rise_up(struct rpcrdma_conn *conn);
bool rpcrdma_conn_shut_gate(struct rpcrdma_conn *conn);

/* verbs/conn.c, for unit tests */
#if IS_ENABLED(CONFIG_KUNIT)
int rpcrdma_conn_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event);
#endif

#endif /* RPCRDMA_CONN_STATE_H */
