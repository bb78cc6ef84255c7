// SPDX-License-Identifier: GPL-2.0
/* 6.7: "SUNRPC: change the back-channel queue to lwq" */
#include <linux/sunrpc/svc.h>

#if !defined(CONFIG_SUNRPC_BACKCHANNEL)
/* There are no callbacks, so the module needs neither form. */
#elif defined(PRESENT_FORM)
static inline struct lwq *probe_bc_list(struct svc_serv *serv)
{
	return &serv->sv_cb_list;
}
#else
static inline wait_queue_head_t *probe_bc_list(struct svc_serv *serv)
{
	return &serv->sv_cb_waitq;
}
#endif
