/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels have a function for each allocation flag of a task, and none for several flags. */
#ifndef RPCRDMA_COMPAT_MEMALLOC_FLAGS_H
#define RPCRDMA_COMPAT_MEMALLOC_FLAGS_H

#include_next <linux/sched/mm.h>

/**
 * memalloc_flags_save - set allocation flags of the current task
 * @flags: PF_MEMALLOC*
 *
 * Context: process.
 * Return: value for memalloc_flags_restore().
 */
static inline unsigned int memalloc_flags_save(unsigned int flags)
{
	unsigned int added = flags & ~current->flags;

	current->flags |= added;
	return added;
}

/**
 * memalloc_flags_restore - clear the flags that memalloc_flags_save() has set
 * @added: value that memalloc_flags_save() returned
 *
 * Context: process.
 */
static inline void memalloc_flags_restore(unsigned int added)
{
	current->flags &= ~added;
}

#endif /* RPCRDMA_COMPAT_MEMALLOC_FLAGS_H */
