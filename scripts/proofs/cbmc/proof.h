/* SPDX-License-Identifier: GPL-2.0 */
/* What the proofs share. CBMC gives any value to a variable that is not initialised, and to the result of a function
 * whose name begins with nondet_.
 */
#ifndef PROOF_H
#define PROOF_H

#include <rpcrdma/wire.h>

#include "../../fuzz/fuzz.h"

/* What the functions under proof move in their arrays, and whether to higher addresses */
#ifndef PROOF_MOVED
#define PROOF_MOVED	struct rpcrdma_chunk
#define PROOF_MOVED_UP	true
#endif

u8 nondet_u8(void);
u32 nondet_u32(void);

/* A bool that is not initialised could have other values than 0 and 1. */
static inline bool any_bool(void)
{
	return nondet_u8() & 1;
}

#define ASSUME(expr)	__CPROVER_assume(expr)
#define PROVE(expr)	__CPROVER_assert(expr, #expr)

/* Moves the elements of an array by one. CBMC's own function would move bytes, which takes hours. */
void *memmove(void *to, const void *from, size_t size)
{
	const PROOF_MOVED *source = from;
	PROOF_MOVED *target = to;
	size_t i, n = size / sizeof(*source);

	PROVE(PROOF_MOVED_UP ? target == source + 1 : source == target + 1);
	for (i = 0; i < n; i++) {
		if (PROOF_MOVED_UP)
			target[n - 1 - i] = source[n - 1 - i];
		else
			target[i] = source[i];
	}
	return to;
}

/* A received message of at most SIZE bytes. It ends where its object ends, so that CBMC finds each access beyond it. */
struct proof_msg {
	u8		pm_bytes[SIZE];
	const u8	*pm_data;
	u32		pm_len;
};

static inline void proof_msg_any(struct proof_msg *msg)
{
	msg->pm_len = nondet_u32();
	ASSUME(msg->pm_len <= SIZE);
	msg->pm_data = msg->pm_bytes + SIZE - msg->pm_len;
}

/* Prove that the segments of a chunk, which may be any chunk of the lists, are in the message, and that their number
 * and the sum of their lengths are what the chunk says.
 */
static inline void proof_lists(const struct rpcrdma_lists *lists)
{
	const struct rpcrdma_chunk *chunk = &lists->ls_call;
	u32 n = 0, i = nondet_u32();
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	u64 length = 0;

	PROVE(lists->ls_nreads + !!lists->ls_call.ck_nsegs <= RPCRDMA_MAX_CHUNKS);
	PROVE(lists->ls_nwrites <= RPCRDMA_MAX_CHUNKS);
	PROVE(lists->ls_has_reply || !lists->ls_reply.ck_nsegs);
	if (i < lists->ls_nreads) {
		chunk = &lists->ls_read[i];
		PROVE(chunk->ck_nsegs && chunk->ck_position > (i ? chunk[-1].ck_position : 0));
	} else if (any_bool() && i < lists->ls_nwrites) {
		chunk = &lists->ls_write[i];
	} else if (any_bool()) {
		chunk = &lists->ls_reply;
	}
	PROVE(chunk->ck_nsegs <= RPCRDMA_MAX_SEGS);
	rpcrdma_chunk_first(lists, chunk, &iter);
	for (; rpcrdma_chunk_next(&iter, &seg); n++)
		length += seg.rs_length;
	PROVE(n == chunk->ck_nsegs && length == chunk->ck_length);
}

#endif
