/* SPDX-License-Identifier: GPL-2.0 */
/* In older kernels, each service has the number of its pools. */
#ifndef RPCRDMA_COMPAT_NRPOOLS_H
#define RPCRDMA_COMPAT_NRPOOLS_H

#include_next <linux/sunrpc/svc.h>

static inline unsigned int svc_serv_nrpools(const struct svc_serv *serv)
{
	return serv->sv_nrpools;
}

#endif /* RPCRDMA_COMPAT_NRPOOLS_H */
