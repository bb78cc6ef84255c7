// SPDX-License-Identifier: GPL-2.0
/* 6.11: "sysctl: treewide: constify the ctl_table argument of proc_handlers" */
#include <linux/sysctl.h>

#ifdef PRESENT_FORM
static inline proc_handler *
probe_sysctl_table(int (*handler)(const struct ctl_table *, int, void *,
				  size_t *, loff_t *))
{
	return handler;
}
#else
static inline proc_handler *
probe_sysctl_table(int (*handler)(struct ctl_table *, int, void *, size_t *,
				  loff_t *))
{
	return handler;
}
#endif
