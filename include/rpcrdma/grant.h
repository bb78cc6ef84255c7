/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a responder has promised: the credits that it grants, and those that the requester may
 * still believe to have.
 */
#ifndef RPCRDMA_GRANT_H
#define RPCRDMA_GRANT_H

#include <linux/types.h>

/**
 * struct rpcrdma_grant - the credits of one direction of a connection, at the responder
 * @gn_told: number of credits that messages grant which are made from now on
 * @gn_bound: maximum number of credits that the requester may believe to have. Receives for so many
 *	Calls have to exist
 * @gn_lowering: credits are being taken back: @gn_told is smaller than @gn_bound, and it is not
 *	certain yet that the requester knows
 * @gn_age: age of the messages that are made now, 0 or 1
 * @gn_open: for either age, number of messages that are being made and may say what @gn_told was
 *	at that age
 * @gn_arrived: if @gn_lowering, number of credits of the Calls that have arrived since all messages
 *	of the other age were posted
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
