/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many credits a responder should grant, and what it has promised: the credits that it grants,
 * and those that the requester may still assume it has. See core/grant.c.
 */
#ifndef RPCRDMA_GRANT_H
#define RPCRDMA_GRANT_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct rpcrdma_need - how many credits a requester uses, which does not say how many it needs
 * @nd_since: time in nanoseconds when the present round trip began
 * @nd_rtt: the shortest round trip that was measured, in nanoseconds; 0 if there is none
 * @nd_answered: number of Receives whose messages had been answered when the present round trip
 *	began
 *
 * The caller serialises.
 */
struct rpcrdma_need {
	u64		nd_since;
	u32		nd_rtt;
	u32		nd_answered;
};

/**
 * struct rpcrdma_grant - the credits of one direction of a connection, at the responder
 * @gn_told: number of credits that messages grant from now on
 * @gn_bound: maximum number of credits that the requester may assume it has. There must be a
 *	Receive for each of them. Credits are being taken back while this exceeds @gn_told
 * @gn_arrived: number of credits that Calls have taken since the last message that granted
 *	@gn_bound was posted
 */
struct rpcrdma_grant {
	u32		gn_told;
	u32		gn_bound;
	u64		gn_arrived;
};

void rpcrdma_need_begin(struct rpcrdma_need *need, u64 now);
void rpcrdma_need_sent(struct rpcrdma_need *need, u64 time);
void rpcrdma_need_heard(struct rpcrdma_need *need, u64 now, u32 answered);
u32 rpcrdma_need_used(struct rpcrdma_need *need, u64 now, u32 taken,
		      u32 answered, u32 told);
u32 rpcrdma_need_grows(u32 used, u32 told);
void rpcrdma_grant_raise(struct rpcrdma_grant *grant, u32 credits);
bool rpcrdma_grant_lower(struct rpcrdma_grant *grant, u32 credits);
bool rpcrdma_grant_arrived(struct rpcrdma_grant *grant, u32 credits);

#endif /* RPCRDMA_GRANT_H */
