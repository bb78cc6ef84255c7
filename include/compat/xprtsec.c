// SPDX-License-Identifier: GPL-2.0
/* 6.5: "SUNRPC: Plumb an API for setting transport layer security" */
#include <linux/sunrpc/xprt.h>

#ifdef PRESENT_FORM
static inline void *probe_xprtsec(struct xprt_create *args)
{
	return &args->xprtsec;
}
#else
static inline void *probe_xprtsec(struct xprt_create *args)
{
	return &args->servername;
}
#endif
