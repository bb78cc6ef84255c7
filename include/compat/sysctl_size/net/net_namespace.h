/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels take no size for the table of a network namespace either: see ../linux/sysctl.h. */
#ifndef RPCRDMA_COMPAT_SYSCTL_SIZE_NET_H
#define RPCRDMA_COMPAT_SYSCTL_SIZE_NET_H

#include_next <net/net_namespace.h>

#define register_net_sysctl_sz(net, path, table, size) \
	register_net_sysctl(net, path, table)

#endif /* RPCRDMA_COMPAT_SYSCTL_SIZE_NET_H */
