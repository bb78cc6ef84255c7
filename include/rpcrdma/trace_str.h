/* SPDX-License-Identifier: GPL-2.0 */
/* Strings in tracepoints. */
#ifndef RPCRDMA_TRACE_STR_H
#define RPCRDMA_TRACE_STR_H

#include <linux/string.h>

/* Copies a string to a member that __string() has declared, with the same @src. The kernel's
 * __assign_str() had another parameter before Linux 6.10. @src may be NULL, and another task may
 * exchange it for another string meanwhile.
 */
#define rpcrdma_assign_str(item, src) do {				\
	const char *rpcrdma_src_ = (src);				\
	strscpy(__get_str(item), rpcrdma_src_ ? rpcrdma_src_ : "(null)", \
		__get_dynamic_array_len(item));				\
} while (0)

#endif /* RPCRDMA_TRACE_STR_H */
