/* SPDX-License-Identifier: GPL-2.0 */
/* Until 6.11, this header had another name. */
#ifndef RPCRDMA_COMPAT_UNALIGNED_H
#define RPCRDMA_COMPAT_UNALIGNED_H

#include <asm/unaligned.h>

#endif /* RPCRDMA_COMPAT_UNALIGNED_H */
