// SPDX-License-Identifier: GPL-2.0
/* 6.7: "mm: shrinker: add infrastructure for dynamically allocating shrinker" */
#include <linux/shrinker.h>

#ifdef PRESENT_FORM
static inline struct shrinker *probe_shrinker(void)
{
	return shrinker_alloc(0, "");
}
#else
static inline int probe_shrinker(struct shrinker *shrinker)
{
	return register_shrinker(shrinker, "%s", "");
}
#endif
