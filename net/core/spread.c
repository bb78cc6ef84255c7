// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of a completion vector for a new connection. The Receives of a connection are
 * normally handled by the processor that handles the interrupt of its vector. At a server, sunrpc
 * then normally wakes a thread of the pool to which this processor belongs. So the choice decides
 * which part of a machine works for a connection.
 *
 * Vectors whose processors are in the same NUMA node are a group. Connections are divided equally
 * among the groups, however many vectors a group has, because a server with a pool of threads for
 * each node normally has equally many threads in all pools. In a group, connections are divided
 * equally among the vectors.
 *
 * Some vectors may be marked as unwanted. They are chosen only if no other vectors exist. This file
 * does not know why a vector is unwanted, or where its interrupt is handled: see verbs/vector.c.
 *
 * See G-43.
 */

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/spread.h>

/* Returns the rank of a vector: the vector with the lowest rank is the best. The numbers of
 * connections (of the group, and of the vector) fit into their parts of the rank, because they are
 * far below 2^31.
 */
static u64 rpcrdma_spread_rank(const struct rpcrdma_cv *cvs, u32 count, u32 v)
{
	u64 unwanted = cvs[v].cv_group == RPCRDMA_CV_UNWANTED, conns = 0;
	u32 i;

	for (i = 0; i < count; i++)
		if (cvs[i].cv_group == cvs[v].cv_group)
			conns += cvs[i].cv_conns;
	return unwanted << 63 | conns << 32 | cvs[v].cv_conns;
}

/**
 * rpcrdma_spread_choose - choose the completion vector of a new connection
 * @cvs: vectors of the device
 * @count: number of vectors, at least 1
 * @first: index at which the search begins. It goes on with index 0 after the last vector. Of
 *	equally good vectors, the one that is found first is chosen.
 *
 * Context: any; the caller serialises.
 * Return: the index of a vector: in the group with the fewest connections, the one with the
 *	fewest. If all vectors are unwanted, the choice is among all of them.
 */
u32 rpcrdma_spread_choose(const struct rpcrdma_cv *cvs, u32 count, u32 first)
{
	u64 rank, least = U64_MAX;
	u32 i, v, best = 0;

	for (i = 0; i < count; i++) {
		v = (first % count + i) % count;
		rank = rpcrdma_spread_rank(cvs, count, v);
		if (rank < least) {
			least = rank;
			best = v;
		}
	}
	return best;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_spread_choose);
