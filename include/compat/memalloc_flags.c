// SPDX-License-Identifier: GPL-2.0
/* 6.10 or before: "mm: introduce memalloc_flags_{save,restore}" */
#include <linux/sched/mm.h>

#ifdef PRESENT_FORM
static inline unsigned int probe_memalloc_flags(void)
{
	return memalloc_flags_save(PF_MEMALLOC);
}
#else
static inline unsigned int probe_memalloc_flags(void)
{
	return memalloc_noreclaim_save();
}
#endif
