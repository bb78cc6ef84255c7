/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_LINUX_LIMITS_H
#define FUZZ_LINUX_LIMITS_H

/* The C library includes the user-space header of this name */
#include_next <linux/limits.h>

#define U32_MAX		0xffffffffu
#define U64_MAX		0xffffffffffffffffull

#endif
