/* SPDX-License-Identifier: GPL-2.0 */
/* sunrpc of older kernels has no TLS, so no transport can require TLS. Its users cannot choose
 * timeouts when they create a transport.
 */
#ifndef RPCRDMA_COMPAT_XPRTSEC_H
#define RPCRDMA_COMPAT_XPRTSEC_H

#include_next <linux/sunrpc/xprt.h>

#define RPC_XPRTSEC_NONE		0
#define xprt_rdma_xprtsec(args)		((args) ? RPC_XPRTSEC_NONE : 0)
#define xprt_rdma_connect_wanted(args)	((args) ? ULONG_MAX : 0)
#define xprt_rdma_reconnect_wanted(args) ((args) ? ULONG_MAX : 0)

#endif /* RPCRDMA_COMPAT_XPRTSEC_H */
