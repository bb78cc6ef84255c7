/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits. A requester has a window: how many the peer has granted, and how many of these are in
 * use. A responder knows how many it should grant, and what it has promised: the credits that it
 * grants, and those that the requester may still assume it has. Each direction has a window of its
 * own (rfc5666bis 8.2.1). See core/credit.c.
 */
#ifndef RPCRDMA_CREDIT_H
#define RPCRDMA_CREDIT_H

#include <linux/types.h>

/**
 * struct rpcrdma_window - a requester's credits in one direction
 * @wn_requested: number of credits requested, which is the number of Replies that can be
 *	received at the same time
 * @wn_granted: number of credits granted at present, 1 to @wn_requested
 * @wn_owed: number of Calls whose RPCs were given up (ended before the Reply came) and whose
 *	Replies still have not come. The peer does not know that an RPC was given up, and may still
 *	execute the Call. So each of these Calls still uses its first credit, until its Reply
 *	arrives or the connection ends (RFC 8166 3.3.1).
 * @wn_more: number of credits that Calls use beyond one credit each. Only a Call that is a
 *	group (rtx.h) uses more than one. Calls whose RPCs were given up are included.
 * @wn_opened: a message that is not an error has brought a grant on this connection
 */
struct rpcrdma_window {
	u32		wn_requested;
	u32		wn_granted;
	u32		wn_owed;
	u32		wn_more;
	bool		wn_opened;
};

/**
 * struct rpcrdma_need - how many credits a requester uses, which does not say how many it needs
 * @nd_since: time in nanoseconds when the present round trip began. The owner sets it when the
 *	connection is accepted, and when its first answer is posted
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
 * @gn_granted: number of credits that messages grant from now on
 * @gn_bound: maximum number of credits that the requester may assume it has. There must be a
 *	Receive for each of them. Credits are being taken back while this exceeds @gn_granted
 * @gn_arrived: number of credits that Calls have taken since the last message that granted
 *	@gn_bound was posted
 */
struct rpcrdma_grant {
	u32		gn_granted;
	u32		gn_bound;
	u64		gn_arrived;
};

void rpcrdma_window_reset(struct rpcrdma_window *win, u32 requested);
bool rpcrdma_window_grant(struct rpcrdma_window *win, u32 credit);
bool rpcrdma_window_grant_error(struct rpcrdma_window *win, u32 credit);
bool rpcrdma_window_repay(struct rpcrdma_window *win);
u32 rpcrdma_window_more(const struct rpcrdma_window *win, u32 in_flight);
bool rpcrdma_window_take_more(struct rpcrdma_window *win, u32 in_flight,
			      u32 more);
bool rpcrdma_window_give_more(struct rpcrdma_window *win, u32 more);
u32 rpcrdma_window_room(const struct rpcrdma_window *win, u32 in_flight);
void rpcrdma_need_sent(struct rpcrdma_need *need, u64 time);
void rpcrdma_need_heard(struct rpcrdma_need *need, u64 now, u32 answered);
u32 rpcrdma_need_used(struct rpcrdma_need *need, u64 now, u32 taken,
		      u32 answered, u32 told);
u32 rpcrdma_need_grows(u32 used, u32 told);
void rpcrdma_grant_raise(struct rpcrdma_grant *grant, u32 credits);
bool rpcrdma_grant_lower(struct rpcrdma_grant *grant, u32 credits);
bool rpcrdma_grant_arrived(struct rpcrdma_grant *grant, u32 credits);

#endif /* RPCRDMA_CREDIT_H */
