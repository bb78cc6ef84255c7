// SPDX-License-Identifier: GPL-2.0
/* Checks of decoded chunk lists, for all versions of the protocol. */

#include <stdlib.h>

#include "fuzz.h"

/* Check that a chunk has the number of segments and bytes that it claims to have. */
static void fuzz_chunk_walk(const struct rpcrdma_lists *lists,
			    const struct rpcrdma_chunk *chunk)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	u64 length = 0;
	u32 n = 0;

	CHECK(chunk->ck_nsegs <= RPCRDMA_MAX_SEGS);
	rpcrdma_chunk_first(lists, chunk, &iter);
	while (rpcrdma_chunk_next(&iter, &seg)) {
		length += seg.rs_length;
		n++;
	}
	CHECK(n == chunk->ck_nsegs);
	CHECK(length == chunk->ck_length);
}

void fuzz_lists_walk(const struct rpcrdma_lists *lists)
{
	u32 i;

	CHECK(lists->ls_nreads + !!lists->ls_call.ck_nsegs <=
	      RPCRDMA_MAX_CHUNKS);
	CHECK(lists->ls_nwrites <= RPCRDMA_MAX_CHUNKS);
	CHECK(!lists->ls_call.ck_position);
	fuzz_chunk_walk(lists, &lists->ls_call);
	for (i = 0; i < lists->ls_nreads; i++) {
		CHECK(lists->ls_read[i].ck_nsegs);
		CHECK(lists->ls_read[i].ck_position >
		      (i ? lists->ls_read[i - 1].ck_position : 0));
		fuzz_chunk_walk(lists, &lists->ls_read[i]);
	}
	for (i = 0; i < lists->ls_nwrites; i++)
		fuzz_chunk_walk(lists, &lists->ls_write[i]);
	CHECK(lists->ls_has_reply || !lists->ls_reply.ck_nsegs);
	fuzz_chunk_walk(lists, &lists->ls_reply);
}

/* Walk the Read chunks of lists whose buffer was overwritten after decoding. The walk may return
 * any segments, but not more than were decoded.
 */
void fuzz_lists_walk_spoilt(const struct rpcrdma_lists *lists)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	u32 i, n;

	for (i = 0; i < lists->ls_nreads; i++) {
		rpcrdma_chunk_first(lists, &lists->ls_read[i], &iter);
		for (n = 0; rpcrdma_chunk_next(&iter, &seg); n++)
			CHECK(n < lists->ls_read[i].ck_nsegs);
	}
}

static void fuzz_chunk_same(const struct rpcrdma_lists *a,
			    const struct rpcrdma_chunk *ca,
			    const struct rpcrdma_lists *b,
			    const struct rpcrdma_chunk *cb)
{
	struct rpcrdma_segment sa, sb;
	struct rpcrdma_seg_iter ia, ib;

	CHECK(ca->ck_position == cb->ck_position);
	CHECK(ca->ck_length == cb->ck_length);
	CHECK(ca->ck_nsegs == cb->ck_nsegs);
	rpcrdma_chunk_first(a, ca, &ia);
	rpcrdma_chunk_first(b, cb, &ib);
	while (rpcrdma_chunk_next(&ia, &sa)) {
		CHECK(rpcrdma_chunk_next(&ib, &sb));
		CHECK(sa.rs_handle == sb.rs_handle);
		CHECK(sa.rs_length == sb.rs_length);
		CHECK(sa.rs_offset == sb.rs_offset);
	}
}

void fuzz_lists_same(const struct rpcrdma_lists *a,
		     const struct rpcrdma_lists *b)
{
	u32 i;

	CHECK(a->ls_nreads == b->ls_nreads);
	CHECK(a->ls_nwrites == b->ls_nwrites);
	CHECK(a->ls_has_reply == b->ls_has_reply);
	fuzz_chunk_same(a, &a->ls_call, b, &b->ls_call);
	fuzz_chunk_same(a, &a->ls_reply, b, &b->ls_reply);
	for (i = 0; i < a->ls_nreads; i++)
		fuzz_chunk_same(a, &a->ls_read[i], b, &b->ls_read[i]);
	for (i = 0; i < a->ls_nwrites; i++)
		fuzz_chunk_same(a, &a->ls_write[i], b, &b->ls_write[i]);
}

bool fuzz_lists_none(const struct rpcrdma_lists *lists)
{
	return !lists->ls_nreads && !lists->ls_call.ck_nsegs &&
	       !lists->ls_nwrites && !lists->ls_has_reply;
}

/* Is the Read list in the order in which the encoder writes it? */
bool fuzz_reads_sorted(const u8 *msg, u32 begin)
{
	u32 before = 0, word = begin / 4;

	for (; fuzz_word(msg, word); word += 6) {
		if (fuzz_word(msg, word + 1) < before)
			return false;
		before = fuzz_word(msg, word + 1);
	}
	return true;
}

/* Take up to @room of the @left bytes of data. Returns how many were taken. */
static u32 fuzz_fill(u32 *left, u32 room)
{
	u32 filled = *left < room ? *left : room;

	*left -= filled;
	return filled;
}

/* Check that the chunk was returned as it was offered, with @written bytes in it. */
void fuzz_chunk_filled(const struct rpcrdma_lists *lists,
		       const struct rpcrdma_chunk *chunk,
		       const struct rpcrdma_chunk_out *offer,
		       u32 written)
{
	const struct rpcrdma_segment *want = offer->co_segs;
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	CHECK(chunk->ck_nsegs == offer->co_nsegs);
	CHECK(chunk->ck_length == written);
	rpcrdma_chunk_first(lists, chunk, &iter);
	for (; rpcrdma_chunk_next(&iter, &seg); want++) {
		CHECK(seg.rs_handle == want->rs_handle);
		CHECK(seg.rs_offset == want->rs_offset);
		CHECK(seg.rs_length == fuzz_fill(&written, want->rs_length));
	}
}

/* Could a correct responder have returned this chunk? */
bool fuzz_chunk_plausible(const struct rpcrdma_lists *lists,
			  const struct rpcrdma_chunk *chunk,
			  const struct rpcrdma_chunk_out *offer)
{
	const struct rpcrdma_segment *room = offer->co_segs;
	u32 written = chunk->ck_length;
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	if (!chunk->ck_nsegs)
		return true;
	if (chunk->ck_nsegs != offer->co_nsegs)
		return false;
	rpcrdma_chunk_first(lists, chunk, &iter);
	for (; rpcrdma_chunk_next(&iter, &seg); room++)
		if (seg.rs_length != fuzz_fill(&written, room->rs_length))
			return false;
	return true;
}
