/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: how many the peer has granted, and how many of these are in use.
 * Each direction has a window of its own (rfc5666bis 8.2.1).
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
 *	Replies still have not come. Each of these Calls still uses its first credit.
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

void rpcrdma_window_reset(struct rpcrdma_window *win, u32 requested);
bool rpcrdma_window_grant(struct rpcrdma_window *win, u32 credit);
bool rpcrdma_window_grant_error(struct rpcrdma_window *win, u32 credit);
void rpcrdma_window_owe(struct rpcrdma_window *win);
bool rpcrdma_window_repay(struct rpcrdma_window *win);
u32 rpcrdma_window_more(const struct rpcrdma_window *win, u32 in_flight);
bool rpcrdma_window_take_more(struct rpcrdma_window *win, u32 in_flight,
			      u32 more);
bool rpcrdma_window_give_more(struct rpcrdma_window *win, u32 more);
u32 rpcrdma_window_room(const struct rpcrdma_window *win, u32 in_flight);

#endif /* RPCRDMA_CREDIT_H */
