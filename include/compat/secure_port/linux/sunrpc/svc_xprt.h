/* SPDX-License-Identifier: GPL-2.0 */
/* For each Call, sunrpc of older kernels asks the transport whether the client's port is
 * privileged. RDMA has no privileged ports. The answer is always yes: otherwise an export with the
 * option "secure" would refuse every client that uses RDMA.
 */
#ifndef RPCRDMA_COMPAT_SECURE_PORT_H
#define RPCRDMA_COMPAT_SECURE_PORT_H

#include_next <linux/sunrpc/svc_xprt.h>

static inline void rpcrdma_compat_secure_port(struct svc_rqst *rqstp)
{
	set_bit(RQ_SECURE, &rqstp->rq_flags);
}

#define SVC_RDMA_COMPAT_OPS	.xpo_secure_port = rpcrdma_compat_secure_port,

#endif /* RPCRDMA_COMPAT_SECURE_PORT_H */
