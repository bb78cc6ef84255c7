/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The choice of how the item of a Call (its DDP-eligible data) travels: by Sends (rtx.h) or by RDMA
 * Read.
 */
#ifndef RPCRDMA_CHOICE_H
#define RPCRDMA_CHOICE_H

#include <linux/types.h>
#include <rpcrdma/rtx.h>

/* Maximum length of an item in bytes: that of the largest WRITE */
#define RPCRDMA_CHOICE_MOST		1048576u
/* Sends save work even if the round trip is short. For this reason alone, an item of up to this
 * many bytes may go by Sends. %RPCRDMA_CHOICE_PLACED is for a peer with target segments (rtx.h).
 * %RPCRDMA_CHOICE_CONTINUED is smaller, because a peer without target segments has to copy the item
 * (RTX-95, T-40).
 */
#define RPCRDMA_CHOICE_PLACED		131072u
#define RPCRDMA_CHOICE_CONTINUED	16384u	/* without targets */
/* If the round trip takes this many microseconds or more, costs are not compared: items of any
 * length that the peer accepts go by Sends, unless an administrator has set a limit (ch_fixed).
 */
#define RPCRDMA_CHOICE_FAR		200u

/**
 * struct rpcrdma_choice_costs - costs of Sends and RDMA Reads in nanoseconds
 * @cc_more: cost of each transmission beyond the first
 * @cc_copy: cost of copying 4096 bytes of data at both ends; counted if Sends cannot put the item
 *	in target segments (rtx.h)
 * @cc_saved: cost of the work that Sends save, on both sides together
 * @cc_wake: cost of waking the server's thread a second time, after the RDMA Read
 * @cc_register: cost of registering and invalidating the item's memory
 *
 * One instruction counts as one nanosecond, which is about right for present machines.
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
 * @ch_rtt: round trip in microseconds; 0 if it is not known
 * @ch_fixed: length in bytes up to which items go by Sends, as set by an administrator; 0 if
 *	it is to be computed
 * @ch_send: maximum length of a transmission in bytes
 * @ch_segs: maximum number of target segments (rtx.h) that a Send can fill; %U32_MAX if
 *	nothing limits it
 * @ch_peer: the peer's property RTX; all zero if the peer has not announced it
 * @ch_costs: costs of Sends and RDMA Reads, normally &rpcrdma_choice_costs
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
