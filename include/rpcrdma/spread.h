/* SPDX-License-Identifier: GPL-2.0 */
/* Divides connections among the completion vectors (interrupts) of a device. */
#ifndef RPCRDMA_SPREAD_H
#define RPCRDMA_SPREAD_H

#include <linux/types.h>

/* cv_group of a vector that is not to be chosen */
#define RPCRDMA_CV_UNWANTED	(-1)

/**
 * struct rpcrdma_cv - a completion vector
 * @cv_conns: number of connections whose completion queues use the vector
 * @cv_cpu: processor that handles the vector's interrupt, as far as known (verbs/vector.c).
 *	rpcrdma_spread_choose() does not read it
 * @cv_group: number of the group of vectors to which this one belongs, or %RPCRDMA_CV_UNWANTED.
 *	Connections are divided equally among these groups (core/spread.c)
 */
struct rpcrdma_cv {
	u32	cv_conns;
	int	cv_cpu;
	int	cv_group;
};

u32 rpcrdma_spread_choose(const struct rpcrdma_cv *cvs, u32 count, u32 first);

#endif /* RPCRDMA_SPREAD_H */
