/* SPDX-License-Identifier: GPL-2.0 */
/* In older kernels, the user of a shrinker allocates struct shrinker. */
#ifndef RPCRDMA_COMPAT_SHRINKER_H
#define RPCRDMA_COMPAT_SHRINKER_H

#include_next <linux/shrinker.h>

#include <linux/container_of.h>
#include <linux/slab.h>

/**
 * struct rpcrdma_shrinker - a shrinker that was made by shrinker_alloc()
 * @sr_shrinker: the shrinker
 * @sr_name: its name in debugfs
 */
struct rpcrdma_shrinker {
	struct shrinker	sr_shrinker;
	const char	*sr_name;
};

/**
 * shrinker_alloc - make a shrinker that is not registered
 * @flags: SHRINKER_*
 * @name: its name in debugfs, not a format string; must be valid until shrinker_register() returns
 *
 * Context: process; sleeps.
 * Return: the shrinker, or NULL.
 */
static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct rpcrdma_shrinker *sr = kzalloc(sizeof(*sr), GFP_KERNEL);

	if (!sr)
		return NULL;
	sr->sr_shrinker.flags = flags;
	sr->sr_name = name;
	return &sr->sr_shrinker;
}

/**
 * shrinker_register - let the kernel call a shrinker
 * @shrinker: shrinker whose functions are set
 *
 * If there is no memory for this, the module prints a warning, and the kernel never calls the
 * shrinker.
 *
 * Context: process; sleeps.
 */
static inline void shrinker_register(struct shrinker *shrinker)
{
	struct rpcrdma_shrinker *sr = container_of(shrinker,
						   struct rpcrdma_shrinker,
						   sr_shrinker);

	if (register_shrinker(shrinker, "%s", sr->sr_name))
		pr_warn("rpcrdma: no memory for the shrinker %s\n", sr->sr_name);
}

/**
 * shrinker_free - free a shrinker
 * @shrinker: shrinker, registered or not; it is not called any more afterwards
 *
 * Context: process; sleeps.
 */
static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(container_of(shrinker, struct rpcrdma_shrinker, sr_shrinker));
}

#endif /* RPCRDMA_COMPAT_SHRINKER_H */
