/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels find the end of a table by an empty entry, which must follow the last one. */
#ifndef RPCRDMA_COMPAT_SYSCTL_SIZE_H
#define RPCRDMA_COMPAT_SYSCTL_SIZE_H

#include_next <linux/sysctl.h>

#define register_sysctl_sz(path, table, size)	register_sysctl(path, table)

#endif /* RPCRDMA_COMPAT_SYSCTL_SIZE_H */
