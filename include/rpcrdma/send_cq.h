/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A separate completion queue for the send queue of a connection. Its completions may be
 * handled late, which saves interrupts.
 */
#ifndef RPCRDMA_SEND_CQ_H
#define RPCRDMA_SEND_CQ_H

#include <linux/atomic.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma_conn;

/**
 * struct rpcrdma_send_cq - the completion queue of a connection's send queue
 * @sc_cq: the completion queue; NULL if the send queue uses that of the receive queue
 * @sc_work: handles completions after an event of @sc_cq; disabled before @sc_cq is destroyed
 * @sc_lazy: completions that nobody awaits may be handled late; read anywhere
 * @sc_awaited: number of posted work requests whose completion must be handled at once
 */
struct rpcrdma_send_cq {
	struct ib_cq		*sc_cq;
	struct work_struct	sc_work;
	bool			sc_lazy;
	atomic_t		sc_awaited;
};

int rpcrdma_send_cq_init(void);
void rpcrdma_send_cq_exit(void);
int rpcrdma_send_cq_create(struct rpcrdma_conn *conn, u32 entries);
void rpcrdma_send_cq_destroy(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_relax(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_poll(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_watch(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_await(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_seen(struct rpcrdma_conn *conn);

#endif /* RPCRDMA_SEND_CQ_H */
