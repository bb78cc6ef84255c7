/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Putting together what arrives in several transmissions.
 */
#ifndef RPCRDMA_GATHER_H
#define RPCRDMA_GATHER_H

#include <linux/workqueue.h>
#include <rpcrdma/group.h>

struct rpcrdma_conn;
struct rpcrdma_recv;

/* A group that takes longer than this ends the connection (RTX-85) */
#define RPCRDMA_GATHER_TIMEOUT	(30 * HZ)

/**
 * struct rpcrdma_gather - the group that a connection receives, and its Receives
 * @ga_group: the group, in numbers
 * @ga_limits: what we take
 * @ga_first: the first Receive that is held; NULL: none is
 * @ga_last: the last one
 * @ga_begun: jiffies when the first transmission of a group arrived that has not ended; 0:
 *	there is none. Read by @ga_work
 * @ga_work: closes the connection if a group does not end
 *
 * Receives complete one after the other, and only their completions touch this. So it
 * has no lock.
 */
struct rpcrdma_gather {
	struct rpcrdma_group		ga_group;
	struct rpcrdma_group_limits	ga_limits;
	struct rpcrdma_recv		*ga_first;
	struct rpcrdma_recv		*ga_last;
	unsigned long			ga_begun;
	struct delayed_work		ga_work;
};

void rpcrdma_gather_init(struct rpcrdma_conn *conn);
void rpcrdma_gather_start(struct rpcrdma_conn *conn,
			  const struct rpcrdma2_rtx *ours, u32 replies);
void rpcrdma_gather_stop(struct rpcrdma_conn *conn);
void rpcrdma_gather_end(struct rpcrdma_conn *conn);

#endif /* RPCRDMA_GATHER_H */
