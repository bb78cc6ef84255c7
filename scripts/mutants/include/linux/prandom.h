/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. The generator differs from the kernel's, but it,
 * too, gives the same numbers in each run.
 */
#ifndef MUTANTS_LINUX_PRANDOM_H
#define MUTANTS_LINUX_PRANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64	state;
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	rnd->state = seed * 2 + 1;
}

/* Knuth's multiplier; the upper half of the state is random enough */
static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	rnd->state = rnd->state * 6364136223846793005ull + 1442695040888963407ull;
	return rnd->state >> 32;
}

#endif
