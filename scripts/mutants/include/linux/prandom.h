/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name: chance of another kind, but the same in every run. */
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

/* Knuth's multiplier; the upper half is the random one */
static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	rnd->state = rnd->state * 6364136223846793005ull + 1442695040888963407ull;
	return rnd->state >> 32;
}

#endif
