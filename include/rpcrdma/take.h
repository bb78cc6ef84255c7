/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take several units from a counter in one step.
 */
#ifndef RPCRDMA_TAKE_H
#define RPCRDMA_TAKE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* Takes @count units from @free, if at least @leave remain afterwards. It never takes
 * units that it then puts back: in between another task could find too few and wait,
 * and nobody would wake it.
 */
static inline bool rpcrdma_take(atomic_t *free, u32 count, u32 leave)
{
	int seen = atomic_read(free);

	do {
		if (seen < (int)(count + leave))
			return false;
	} while (!atomic_try_cmpxchg(free, &seen, seen - (int)count));
	return true;
}

#endif /* RPCRDMA_TAKE_H */
