/* SPDX-License-Identifier: GPL-2.0 */
/* Strings in tracepoints. */
#ifndef RPCRDMA_TRACE_STR_H
#define RPCRDMA_TRACE_STR_H

#include <linux/string.h>

/* Copies @src to the member @item, which __string() has declared with the same @src. This replaces
 * __assign_str(), whose parameters changed in Linux 6.10. @src may be NULL. It may also differ from
 * the string that __string() measured, because another task may change the pointer.
 */
#define rpcrdma_assign_str(item, src) do {				\
	const char *rpcrdma_src_ = (src);				\
	strscpy(__get_str(item), rpcrdma_src_ ? rpcrdma_src_ : "(null)", \
		__get_dynamic_array_len(item));				\
} while (0)

#endif /* RPCRDMA_TRACE_STR_H */
