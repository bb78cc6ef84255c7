// SPDX-License-Identifier: GPL-2.0
/* 6.10: "workqueue: Implement disable/enable for (delayed) work items" */
#include <linux/workqueue.h>

#ifdef PRESENT_FORM
static inline bool probe_disable_work(struct delayed_work *dwork)
{
	return disable_delayed_work_sync(dwork);
}
#else
static inline int probe_disable_work(void)
{
	return WORK_STRUCT_PENDING_BIT;
}
#endif
