/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_LINUX_COMPILER_H
#define FUZZ_LINUX_COMPILER_H

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))

#endif
