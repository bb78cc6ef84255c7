// SPDX-License-Identifier: GPL-2.0
/* 6.6: "sysctl: Add size to register_sysctl" */
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#ifdef PRESENT_FORM
static inline void *probe_sysctl_size(struct ctl_table *table)
{
	register_net_sysctl_sz(&init_net, "", table, 1);
	return register_sysctl_sz("", table, 1);
}
#else
static inline void *probe_sysctl_size(void)
{
	return register_sysctl;
}
#endif
