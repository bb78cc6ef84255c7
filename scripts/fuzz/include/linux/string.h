/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name: the C library's has what the pure rooms use. */
#include <string.h>
