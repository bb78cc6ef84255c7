/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name, as much of it as the pure rooms use. */
#ifndef FUZZ_LINUX_MATH64_H
#define FUZZ_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

#endif
