// SPDX-License-Identifier: GPL-2.0
/* 6.4: sunrpc of older kernels calls xpo_secure_port of each transport */
#include <linux/sunrpc/svc_xprt.h>

#ifdef PRESENT_FORM
static inline void *probe_secure_port(struct svc_xprt_ops *ops)
{
	return &ops->xpo_handshake;
}
#else
static inline void *probe_secure_port(struct svc_xprt_ops *ops)
{
	return &ops->xpo_secure_port;
}
#endif
