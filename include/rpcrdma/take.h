/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take several units from a counter in one step.
 */
#ifndef RPCRDMA_TAKE_H
#define RPCRDMA_TAKE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* If at least @leave units would remain, takes @count units from @free and returns true. The
 * function does not subtract the units first and add them again if too few are left: in
 * between, another task could see the low number and begin to wait, and no task would wake it.
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
