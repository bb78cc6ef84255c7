/* SPDX-License-Identifier: GPL-2.0 */
/* Module parameters. Each one is defined next to the variable that it sets. */
#ifndef RPCRDMA_PARAM_H
#define RPCRDMA_PARAM_H

#include <linux/moduleparam.h>

/* rpcrdma_param_range(name, var, min, max) - define a module parameter of type unsigned
 * int. A value out of range is refused, both at run time and when the module is loaded.
 */
#define rpcrdma_param_range(name, var, min, max)			\
	static int var##_set(const char *val,				\
			     const struct kernel_param *kp)		\
	{								\
		return param_set_uint_minmax(val, kp, min, max);	\
	}								\
	static const struct kernel_param_ops var##_ops = {		\
		.set	= var##_set,					\
		.get	= param_get_uint,				\
	};								\
	module_param_cb(name, &var##_ops, &(var), 0644)

#endif /* RPCRDMA_PARAM_H */
