/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A budget: memory that the clients of a server share (G-39 in Documentation/decisions.rst). What a
 * client may hold depends on what is free: this is the dynamic threshold by which switches divide
 * their buffers among queues (Choudhury and Hahne, 1998). A client may hold as much as is free. So
 * one busy client gets half of the budget, N busy clients get a part of N + 1 each, and the last
 * part is free for the next one.
 */
#ifndef RPCRDMA_BUDGET_H
#define RPCRDMA_BUDGET_H

#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct rpcrdma_budget - memory that several clients share, in bytes
 * @bg_limit: the size of the budget
 * @bg_held: what all clients hold
 * @bg_calls: what connections need for one Call each, without those that hold memory for a Call
 *	now. A connection gets this memory in any case, so it is not free for other purposes; but
 *	such connections must not block more than half of the budget
 */
struct rpcrdma_budget {
	u64	bg_limit;
	u64	bg_held;
	u64	bg_calls;
};

/**
 * rpcrdma_budget_room - how much more may a client hold?
 * @budget: budget
 * @held: number of bytes that the client holds
 *
 * What it takes also lessens what is free. So it may take half of the difference between the two,
 * or has to give back half of it.
 *
 * Context: any; the caller serialises.
 * Return: number of bytes; if negative, the client should give so many bytes back.
 */
static inline s64 rpcrdma_budget_room(const struct rpcrdma_budget *budget,
				      u64 held)
{
	u64 calls = min(budget->bg_calls, budget->bg_limit / 2);

	return (s64)(budget->bg_limit - calls - budget->bg_held - held) / 2;
}

#endif /* RPCRDMA_BUDGET_H */
