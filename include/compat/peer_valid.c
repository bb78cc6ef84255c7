// SPDX-License-Identifier: GPL-2.0
/* 6.12 or before: svc_xprt_set_valid() */
#include <linux/sunrpc/svc_xprt.h>

#ifdef PRESENT_FORM
static inline int probe_peer_valid(void)
{
	return XPT_PEER_VALID;
}
#else
static inline int probe_peer_valid(void)
{
	return XPT_TEMP;
}
#endif
