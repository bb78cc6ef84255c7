/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name by that of the C library. */
#include <stddef.h>
