/* SPDX-License-Identifier: GPL-2.0 */
/* Before Linux 6.12, the name of this header was asm/unaligned.h. */
#ifndef RPCRDMA_COMPAT_UNALIGNED_H
#define RPCRDMA_COMPAT_UNALIGNED_H

#include <asm/unaligned.h>

#endif /* RPCRDMA_COMPAT_UNALIGNED_H */
