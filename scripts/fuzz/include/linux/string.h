/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name. The C library's header declares all that the pure rooms use. */
#include <string.h>
