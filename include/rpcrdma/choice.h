/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The choice between Sends and RDMA Read for the item of a Call.
 */
#ifndef RPCRDMA_CHOICE_H
#define RPCRDMA_CHOICE_H

#include <linux/types.h>
#include <rpcrdma/rtx.h>

/* Bytes: no item is larger, since no WRITE is */
#define RPCRDMA_CHOICE_MOST		1048576u
/* Bytes of an item that may go by Sends however short the way is (RTX-95) */
#define RPCRDMA_CHOICE_PLACED		131072u
#define RPCRDMA_CHOICE_CONTINUED	65536u	/* without targets */
/* Microseconds of a round trip from which on nothing else counts */
#define RPCRDMA_CHOICE_FAR		200u

/**
 * struct rpcrdma_choice_costs - what Sends and RDMA Reads cost, nanoseconds
 * @cc_more: each transmission beyond the first
 * @cc_copy: a page of data that the server has to copy, for want of targets
 * @cc_saved: work that Sends save on both sides together
 * @cc_wake: the second time that the server's thread wakes up
 * @cc_register: registration and invalidation of the item's memory
 *
 * Instructions are nanoseconds: one for the other, on present machines.
 */
struct rpcrdma_choice_costs {
	u32		cc_more;
	u32		cc_copy;
	u32		cc_saved;
	u32		cc_wake;
	u32		cc_register;
};

/**
 * struct rpcrdma_choice - what the choice depends on
 * @ch_rtt: round trip, microseconds; 0: not known
 * @ch_fixed: bytes: an administrator has chosen; 0: nobody has
 * @ch_send: bytes of the largest transmission: what we can Send, and RBSIZ
 * @ch_segs: segments that we can gather for a Send, at most
 * @ch_peer: what the peer has announced; all zero: nothing
 * @ch_costs: what either way costs, as a rule &rpcrdma_choice_costs
 */
struct rpcrdma_choice {
	u32					ch_rtt;
	u32					ch_fixed;
	u32					ch_send;
	u32					ch_segs;
	const struct rpcrdma2_rtx		*ch_peer;
	const struct rpcrdma_choice_costs	*ch_costs;
};

extern const struct rpcrdma_choice_costs rpcrdma_choice_costs;

u32 rpcrdma_choice_limit(const struct rpcrdma_choice *choice);

#endif /* RPCRDMA_CHOICE_H */
