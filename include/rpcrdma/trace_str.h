/* SPDX-License-Identifier: GPL-2.0 */
/* Strings in tracepoints. */
#ifndef RPCRDMA_TRACE_STR_H
#define RPCRDMA_TRACE_STR_H

#include <linux/string.h>

/* Copies the string @src to the member @item, which __string() has declared. @src must be the
 * expression that __string() was given. It may be NULL. Its value may have changed since __string()
 * measured the string, because another task may change the pointer. This macro replaces
 * __assign_str(), whose parameters changed in Linux 6.10.
 */
#define rpcrdma_assign_str(item, src) do {				\
	const char *rpcrdma_src_ = (src);				\
	strscpy(__get_str(item), rpcrdma_src_ ? rpcrdma_src_ : "(null)", \
		__get_dynamic_array_len(item));				\
} while (0)

#endif /* RPCRDMA_TRACE_STR_H */
