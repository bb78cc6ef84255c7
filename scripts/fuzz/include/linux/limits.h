/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name, as much of it as the pure rooms use. */
#ifndef FUZZ_LINUX_LIMITS_H
#define FUZZ_LINUX_LIMITS_H

/* The C library includes the user-space header of this name */
#include_next <linux/limits.h>

#define U32_MAX		0xffffffffu
#define U64_MAX		0xffffffffffffffffull

#endif
