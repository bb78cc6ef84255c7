/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_LINUX_KERNEL_H
#define FUZZ_LINUX_KERNEL_H

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif
