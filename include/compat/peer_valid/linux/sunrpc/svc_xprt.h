/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nfsd of older kernels does not report that a client has used a valid file handle. So each client
 * counts as known (svc_rdma_is_known()) as soon as its connection is accepted, when sunrpc sets
 * XPT_TEMP.
 */
#ifndef RPCRDMA_COMPAT_PEER_VALID_H
#define RPCRDMA_COMPAT_PEER_VALID_H

#include_next <linux/sunrpc/svc_xprt.h>

#define XPT_PEER_VALID	XPT_TEMP

#endif /* RPCRDMA_COMPAT_PEER_VALID_H */
