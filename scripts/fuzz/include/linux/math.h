/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name, as much of it as the pure rooms use. */
#ifndef FUZZ_LINUX_MATH_H
#define FUZZ_LINUX_MATH_H

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#endif
