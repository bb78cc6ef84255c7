/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of verbs/conn_state.c and verbs/send.c that only verbs/conn.c and unit tests use. Their
 * other functions are declared in rpcrdma/conn.h and rpcrdma/send.h.
 */
#ifndef RPCRDMA_CONN_STATE_H
#define RPCRDMA_CONN_STATE_H

#include <rpcrdma/conn.h>

/* verbs/conn_state.c */
bool rpcrdma_conn_rise_up(struct rpcrdma_conn *conn);

/* verbs/send.c */
bool rpcrdma_conn_shut_gate(struct rpcrdma_conn *conn);

/* verbs/conn.c, for unit tests */
#if IS_ENABLED(CONFIG_KUNIT)
int rpcrdma_conn_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event);
#endif

#endif /* RPCRDMA_CONN_STATE_H */
