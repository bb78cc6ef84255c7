/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The completion queue of the send queue of a connection. Its completions may be handled late,
 * which saves interrupts.
 */
#ifndef RPCRDMA_SEND_CQ_H
#define RPCRDMA_SEND_CQ_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma_conn;

/**
 * struct rpcrdma_send_cq - the completion queue of a connection's send queue
 * @cq_ib: the completion queue; NULL if the connection has no queues
 * @cq_mutex: held while completions are handled; at the client, also while a message is handled
 * @cq_work: handles completions after an event of @cq_ib or a call of rpcrdma_send_cq_watch();
 *	disabled before @cq_ib is destroyed
 * @cq_again: whoever releases @cq_mutex has to queue @cq_work
 * @cq_lazy: completions that nobody awaits may be handled late; read without a lock
 * @cq_awaited: number of posted work requests whose completion must be handled at once; may be
 *	negative for a moment, see rpcrdma_send_cq_await_posted()
 */
struct rpcrdma_send_cq {
	struct ib_cq		*cq_ib;
	struct mutex		cq_mutex;	/* one handler at a time */
	struct work_struct	cq_work;
	bool			cq_again;
	bool			cq_lazy;
	atomic_t		cq_awaited;
};

/* Returns whether somebody awaits the completion of a certain work request (cq_awaited). If so,
 * cq_work runs when that completion comes, and handles all completions in the queue.
 */
static inline bool rpcrdma_send_cq_has_awaited(struct rpcrdma_send_cq *cq)
{
	return atomic_read(&cq->cq_awaited) > 0;
}

/**
 * rpcrdma_send_cq_seen - a completion that is awaited is being handled
 * @cq: completion queue of the connection
 *
 * Context: completion workqueue or process.
 */
static inline void rpcrdma_send_cq_seen(struct rpcrdma_send_cq *cq)
{
	atomic_dec(&cq->cq_awaited);
}

int rpcrdma_send_cq_init(void);
void rpcrdma_send_cq_exit(void);
int rpcrdma_send_cq_create(struct rpcrdma_conn *conn, u32 entries);
void rpcrdma_send_cq_destroy(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_relax(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_poll(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_enter(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_leave(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_watch(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_await(struct rpcrdma_conn *conn);
void rpcrdma_send_cq_await_posted(struct rpcrdma_conn *conn);

#endif /* RPCRDMA_SEND_CQ_H */
