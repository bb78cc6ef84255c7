/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cache lines: checks at compile time that certain members of a structure are in different cache
 * lines, because different processors write them.
 */
#ifndef RPCRDMA_LINES_H
#define RPCRDMA_LINES_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/stddef.h>

/* Asserts that the members of @type up to @last share no cache line with the members from @first
 * on. @type must be aligned to a cache line; this is so if one of its members is. Without SMP
 * nothing is checked.
 */
#define rpcrdma_lines_apart(type, last, first)				\
	static_assert(!IS_ENABLED(CONFIG_SMP) ||			\
		      (__alignof__(type) >= SMP_CACHE_BYTES &&		\
		       offsetofend(type, last) <=			\
		       round_down(offsetof(type, first), SMP_CACHE_BYTES)))

#endif /* RPCRDMA_LINES_H */
