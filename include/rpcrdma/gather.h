/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gathering: assembles messages that arrive in several transmissions (groups, see rtx.h).
 */
#ifndef RPCRDMA_GATHER_H
#define RPCRDMA_GATHER_H

#include <linux/workqueue.h>
#include <rpcrdma/group.h>

struct rpcrdma_conn;
struct rpcrdma_recv;

/* A group (rtx.h) must be complete within this time in jiffies after its first transmission has
 * arrived. Otherwise the connection is closed (RTX-85).
 */
#define RPCRDMA_GATHER_TIMEOUT	(30 * HZ)

/**
 * struct rpcrdma_gather - the group (rtx.h) that a connection is receiving, and its Receives
 * @ga_group: state of the group
 * @ga_limits: limits of the groups that we accept
 * @ga_first: first Receive of the group, or NULL if no Receive is held
 * @ga_last: latest Receive of the group
 * @ga_begun: time in jiffies when the first transmission of the open group arrived; 0 if no
 *	group is open. Read by @ga_work.
 * @ga_work: closes the connection if a group is not complete in time
 *
 * rpcrdma_gather_start() sets @ga_limits before the first group is accepted. As long as the
 * connection has queues, only the completion handler of Receives changes @ga_group, @ga_first,
 * @ga_last and @ga_begun, and this handler runs for one completion at a time. So the structure
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
