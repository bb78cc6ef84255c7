/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a responder has promised: the credits that it grants, and those that the requester may
 * still assume it has. core/grant.c explains how credits are taken back.
 */
#ifndef RPCRDMA_GRANT_H
#define RPCRDMA_GRANT_H

#include <linux/types.h>

/**
 * struct rpcrdma_grant - the credits of one direction of a connection, at the responder
 * @gn_told: number of credits that the next message will grant
 * @gn_bound: maximum number of credits that the requester may assume it has. There must be a
 *	Receive for each of them.
 * @gn_lowering: credits are being taken back: @gn_told is smaller than @gn_bound, and the
 *	requester may not know it yet
 * @gn_age: age (0 or 1) of the messages that are begun now. It changes each time the responder
 *	begins to take credits back. So messages of the other age were begun before the last such
 *	change, and may still grant the old number.
 * @gn_open: for each age, number of messages that were begun (rpcrdma_grant_open()) and are
 *	neither posted nor dropped yet
 * @gn_arrived: used while @gn_lowering is set: number of credits of the Calls that have arrived
 *	since it was set and all messages of the other age were posted or dropped
 */
struct rpcrdma_grant {
	u32		gn_told;
	u32		gn_bound;
	bool		gn_lowering;
	u8		gn_age;
	u32		gn_open[2];
	u64		gn_arrived;
};

void rpcrdma_grant_init(struct rpcrdma_grant *grant, u32 credits);
void rpcrdma_grant_raise(struct rpcrdma_grant *grant, u32 credits);
bool rpcrdma_grant_lower(struct rpcrdma_grant *grant, u32 credits);
u8 rpcrdma_grant_open(struct rpcrdma_grant *grant);
void rpcrdma_grant_close(struct rpcrdma_grant *grant, u8 age);
bool rpcrdma_grant_arrived(struct rpcrdma_grant *grant, u32 credits);

#endif /* RPCRDMA_GRANT_H */
