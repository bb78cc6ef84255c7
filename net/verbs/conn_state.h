/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to net/verbs: what verbs/conn_state.c offers to verbs/conn.c only. See
 * rpcrdma/conn.h for the rest.
 */
#ifndef RPCRDMA_CONN_STATE_H
#define RPCRDMA_CONN_STATE_H

#include <rpcrdma/conn.h>

bool rpcrdma_conn_rise(struct rpcrdma_conn *conn, enum rpcrdma_conn_state state,
		       int error);
bool rpcrdma_conn_shut_gate(struct rpcrdma_conn *conn);

#endif /* RPCRDMA_CONN_STATE_H */
