/* SPDX-License-Identifier: GPL-2.0 */
/* The completion vector of each connection, see verbs/vector.c. */
#ifndef RPCRDMA_VECTOR_H
#define RPCRDMA_VECTOR_H

#include <linux/nodemask.h>
#include <linux/smp.h>
#include <rpcrdma/conn.h>

struct rpcrdma_vectors *rpcrdma_vectors_create(struct ib_device *device);
void rpcrdma_vector_take(struct rpcrdma_conn *conn, const nodemask_t *nodes);
void rpcrdma_vector_give(struct rpcrdma_conn *conn);
void rpcrdma_vector_learn(struct rpcrdma_conn *conn, int cpu);

/**
 * rpcrdma_vector_seen - remember which processor handles the Receives of a connection
 * @conn: connection, one of whose Receives is being handled
 *
 * Context: completion handler of a Receive.
 */
static inline void rpcrdma_vector_seen(struct rpcrdma_conn *conn)
{
	int cpu = raw_smp_processor_id();

	if (unlikely(READ_ONCE(conn->cn_cpu) != cpu))
		rpcrdma_vector_learn(conn, cpu);
}

#endif /* RPCRDMA_VECTOR_H */
