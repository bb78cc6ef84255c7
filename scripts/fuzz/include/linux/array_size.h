/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name, as much of it as the pure rooms use. */
#ifndef FUZZ_LINUX_ARRAY_SIZE_H
#define FUZZ_LINUX_ARRAY_SIZE_H

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif
