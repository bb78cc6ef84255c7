/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests and the fuzzer (scripts/fuzz) let the decoder of version 2 accept */
#ifndef RPCRDMA_KUNIT_ACCEPT_H
#define RPCRDMA_KUNIT_ACCEPT_H

#include <rpcrdma/wire.h>

/* What a server accepts until the version is settled. The decoder counts the Position Zero chunk as
 * one of RPCRDMA_MAX_CHUNKS, but ac_reads does not include this chunk, and is lower by one (G-23,
 * G-32).
 */
static const struct rpcrdma2_accept rpcrdma2_accept_forward = {
	.ac_vers_low	= RPCRDMA_VERS_1,
	.ac_vers_high	= RPCRDMA_VERS_2,
	.ac_reads	= RPCRDMA_MAX_CHUNKS - 1,
	.ac_writes	= RPCRDMA_MAX_CHUNKS,
	.ac_segs	= RPCRDMA_MAX_SEGS,
};

#endif /* RPCRDMA_KUNIT_ACCEPT_H */
