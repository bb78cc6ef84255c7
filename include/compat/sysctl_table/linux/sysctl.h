/* SPDX-License-Identifier: GPL-2.0 */
/* In older kernels, handlers of sysctls get a table that is not const. */
#ifndef RPCRDMA_COMPAT_SYSCTL_TABLE_H
#define RPCRDMA_COMPAT_SYSCTL_TABLE_H

#include_next <linux/sysctl.h>

#define rpcrdma_ctl_table	struct ctl_table

#endif /* RPCRDMA_COMPAT_SYSCTL_TABLE_H */
