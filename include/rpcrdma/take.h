/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Taking several at once of what is counted.
 */
#ifndef RPCRDMA_TAKE_H
#define RPCRDMA_TAKE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* Takes @count of what is @free, if at least @leave remain. It never takes some and
 * puts them back: for that moment somebody else would find too few, and wait with
 * nobody to wake it.
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
