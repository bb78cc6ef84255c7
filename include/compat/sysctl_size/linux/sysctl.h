/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels are not told the number of entries of a table: an empty entry marks its end. */
#ifndef RPCRDMA_COMPAT_SYSCTL_SIZE_H
#define RPCRDMA_COMPAT_SYSCTL_SIZE_H

#include_next <linux/sysctl.h>

#define register_sysctl_sz(path, table, size)	register_sysctl(path, table)

#endif /* RPCRDMA_COMPAT_SYSCTL_SIZE_H */
