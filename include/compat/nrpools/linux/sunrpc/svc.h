/* SPDX-License-Identifier: GPL-2.0 */
/* In older kernels, the number of a service's pools is a member of struct svc_serv. */
#ifndef RPCRDMA_COMPAT_NRPOOLS_H
#define RPCRDMA_COMPAT_NRPOOLS_H

#include_next <linux/sunrpc/svc.h>

static inline unsigned int svc_serv_nrpools(const struct svc_serv *serv)
{
	return serv->sv_nrpools;
}

#endif /* RPCRDMA_COMPAT_NRPOOLS_H */
