/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The choice whether the item of a Call goes by Sends or by RDMA Read.
 */
#ifndef RPCRDMA_CHOICE_H
#define RPCRDMA_CHOICE_H

#include <linux/types.h>
#include <rpcrdma/rtx.h>

/* Maximum length of an item in bytes, since no WRITE is longer */
#define RPCRDMA_CHOICE_MOST		1048576u
/* Maximum length in bytes of an item that may go by Sends even if the round trip is very
 * short (RTX-95)
 */
#define RPCRDMA_CHOICE_PLACED		131072u
#define RPCRDMA_CHOICE_CONTINUED	65536u	/* without targets */
/* Round trip in microseconds from which on no other cost matters */
#define RPCRDMA_CHOICE_FAR		200u

/**
 * struct rpcrdma_choice_costs - costs of Sends and RDMA Reads in nanoseconds
 * @cc_more: cost of each transmission beyond the first
 * @cc_copy: cost of a page of data that the server has to copy because it has no targets
 * @cc_saved: work that Sends save, on both sides together
 * @cc_wake: cost of the second time that the server's thread wakes up
 * @cc_register: cost of registration and invalidation of the item's memory
 *
 * Instructions are converted to nanoseconds one to one, which is right for present machines.
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
 * @ch_fixed: size in bytes that an administrator has chosen; 0 if nobody has chosen one
 * @ch_send: maximum length of a transmission in bytes: the smaller of our largest Send and
 *	the peer's RBSIZ
 * @ch_segs: maximum number of segments that we can gather for a Send
 * @ch_peer: what the peer has announced; all zero if it has announced nothing
 * @ch_costs: costs of both ways, normally &rpcrdma_choice_costs
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
