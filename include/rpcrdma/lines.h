/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cache lines: makes the compiler check that members of a structure that different processors
 * write are in different cache lines.
 */
#ifndef RPCRDMA_LINES_H
#define RPCRDMA_LINES_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/stddef.h>

/* The members of @type up to @last, and those from @first on, share no cache line. Structures
 * must be aligned to a cache line, and are if one of their members is. Without SMP nothing is
 * checked.
 */
#define rpcrdma_lines_apart(type, last, first)				\
	static_assert(!IS_ENABLED(CONFIG_SMP) ||			\
		      (__alignof__(type) >= SMP_CACHE_BYTES &&		\
		       offsetofend(type, last) <=			\
		       round_down(offsetof(type, first), SMP_CACHE_BYTES)))

#endif /* RPCRDMA_LINES_H */
