// SPDX-License-Identifier: GPL-2.0
/* The choice of a completion vector */

#include <linux/types.h>

#include <rpcrdma/spread.h>

#include "fuzz.h"

#define FUZZ_CVS	16u

/* Returns the number of connections in the group of a vector. */
static u64 fuzz_spread_conns(const struct rpcrdma_cv *cvs, u32 count, u32 v)
{
	u64 conns = 0;
	u32 i;

	for (i = 0; i < count; i++)
		if (cvs[i].cv_group == cvs[v].cv_group)
			conns += cvs[i].cv_conns;
	return conns;
}

/* Target spread: connections begin and end on vectors of any groups. A new connection gets an
 * unwanted vector only if there is no other. It gets a vector of the group with the fewest
 * connections, and in that group one of those with the fewest.
 */
void fuzz_spread(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 count = 1 + fuzz_u8(&in) % FUZZ_CVS, next = fuzz_num(&in);
	struct rpcrdma_cv cvs[FUZZ_CVS] = { };
	bool wanted = false;
	u32 i, v;

	for (i = 0; i < count; i++) {
		cvs[i].cv_group = fuzz_u8(&in) % 4 - 1;
		cvs[i].cv_conns = fuzz_num(&in) >> 8;
		wanted |= cvs[i].cv_group != RPCRDMA_CV_UNWANTED;
	}
	while (in.fi_left) {
		i = fuzz_u8(&in) % (2 * FUZZ_CVS);
		if (i < count)
			cvs[i].cv_conns -= !!cvs[i].cv_conns;
		v = rpcrdma_spread_choose(cvs, count, next);
		CHECK(v < count);
		CHECK(!wanted || cvs[v].cv_group != RPCRDMA_CV_UNWANTED);
		for (i = 0; i < count; i++) {
			if (wanted && cvs[i].cv_group == RPCRDMA_CV_UNWANTED)
				continue;
			if (cvs[i].cv_group == cvs[v].cv_group)
				CHECK(cvs[i].cv_conns >= cvs[v].cv_conns);
			else
				CHECK(fuzz_spread_conns(cvs, count, i) >=
				      fuzz_spread_conns(cvs, count, v));
		}
		cvs[v].cv_conns++;
		next = v + 1;
	}
}
