// SPDX-License-Identifier: GPL-2.0
/*
 * The wire: the parts of a header that are the same in all versions: fixed words, segments, chunk
 * lists.
 *
 * This file turns bytes into numbers and numbers into bytes. It checks only that the bytes can be
 * parsed, that the length of each chunk fits in 32 bits, and that there are not more chunks and
 * segments than RPCRDMA_MAX_CHUNKS and RPCRDMA_MAX_SEGS allow (G-32). wire/form.c and the files of
 * the versions decide which combinations of lists and message types make sense. core/chunk.c
 * decides whether the lengths and positions add up to a message.
 *
 * A peer has written every byte that is read here. Two rules make it safe to parse lists. First, a
 * word is read only after a cursor (struct rpcrdma_xdr_in) has moved over it, and a cursor does not
 * move beyond the end of the message. Second, before a count is used, it is compared with the
 * number of bytes that are left (RFC 8166 4.5.2, 8.1.4).
 *
 * Decoding copies no segments. A decoded chunk has a pointer to its first segment in the message
 * or, if it is a Read chunk, to its first Read list entry. A walk over the segments reads them
 * again from the message.
 *
 * Layouts: RFC 8166 4; Documentation/wire.rst.
 */

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* Offsets in a Read list entry and in a plain segment */
#define RPCRDMA_READ_POSITION	4u
#define RPCRDMA_READ_SEG	8u

/**
 * rpcrdma_wire_peek_vers - find out which version a message has
 * @buf: a received message
 * @len: length of the message in bytes
 * @vers: OUT: rdma_vers, if true is returned
 *
 * The first four words are in the same place in every version (RFC 8166 7), so the
 * version can be read before anything else is known.
 *
 * Context: any.
 * Return: false if the message is too short to be used (G-10).
 */
bool rpcrdma_wire_peek_vers(const void *buf, u32 len, u32 *vers)
{
	if (len < RPCRDMA_FIXED_LEN)
		return false;
	*vers = get_unaligned_be32(buf + RPCRDMA_WORD_LEN);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_wire_peek_vers);

/* Read the word that tells whether optional data follows. Only 0 and 1 are valid (RFC 4506
 * 4.19).
 */
static enum rpcrdma_verdict
rpcrdma_wire_get_present(struct rpcrdma_xdr_in *in, bool *present)
{
	u32 word;

	if (!rpcrdma_xdr_get(in, &word) || word > 1)
		return RPCRDMA_BAD_LIST;
	*present = word;
	return RPCRDMA_OK;
}

/*
 * Find the chunk that a read segment belongs to, or add a new one. Returns NULL if a new one is
 * needed, but the list has %RPCRDMA_MAX_CHUNKS chunks already.
 *
 * Normally the list is sorted, and the search from the end stops at once. A list that is not
 * sorted is accepted, too (G-34).
 */
static struct rpcrdma_chunk *
rpcrdma_wire_read_chunk(struct rpcrdma_lists *lists, u32 position)
{
	struct rpcrdma_chunk *chunk;
	u32 i = lists->ls_nreads;

	if (!position && lists->ls_call.ck_nsegs)
		return &lists->ls_call;
	while (position && i && lists->ls_read[i - 1].ck_position > position)
		i--;
	if (position && i && lists->ls_read[i - 1].ck_position == position)
		return &lists->ls_read[i - 1];

	/* The Position Zero chunk counts as one of the list's chunks */
	if (lists->ls_nreads + !!lists->ls_call.ck_nsegs == RPCRDMA_MAX_CHUNKS)
		return NULL;
	chunk = &lists->ls_call;
	if (position) {
		chunk = &lists->ls_read[i];
		memmove(chunk + 1, chunk,
			(lists->ls_nreads - i) * sizeof(*chunk));
		lists->ls_nreads++;
	}
	chunk->ck_position = position;
	chunk->ck_length = 0;
	chunk->ck_nsegs = 0;
	return chunk;
}

/* Read one Read list entry. Its first word, which says that there is an entry, has been read. */
static enum rpcrdma_verdict
rpcrdma_wire_get_read_seg(struct rpcrdma_xdr_in *in,
			  struct rpcrdma_lists *lists)
{
	const u8 *entry = in->xi_pos - RPCRDMA_WORD_LEN;
	struct rpcrdma_chunk *chunk;
	u32 position, length;

	if (!rpcrdma_xdr_skip(in, RPCRDMA_READ_SEG_LEN - RPCRDMA_WORD_LEN))
		return RPCRDMA_BAD_LIST;
	position = get_unaligned_be32(entry + RPCRDMA_READ_POSITION);
	length = get_unaligned_be32(entry + RPCRDMA_READ_SEG +
				    RPCRDMA_SEG_LENGTH);

	chunk = rpcrdma_wire_read_chunk(lists, position);
	if (!chunk)
		return RPCRDMA_MANY_READS;
	if (chunk->ck_nsegs == RPCRDMA_MAX_SEGS)
		return RPCRDMA_MANY_SEGS;
	if (check_add_overflow(chunk->ck_length, length, &chunk->ck_length))
		return RPCRDMA_BAD_LENGTH;
	if (!chunk->ck_nsegs++)
		chunk->ck_segs = entry;
	return RPCRDMA_OK;
}

static enum rpcrdma_verdict
rpcrdma_wire_get_reads(struct rpcrdma_xdr_in *in, struct rpcrdma_lists *lists)
{
	enum rpcrdma_verdict verdict;
	bool present;

	do {
		/* If all entries are valid, ls_read_end finally points to the word that ends
		 * the list.
		 */
		lists->ls_read_end = in->xi_pos;
		verdict = rpcrdma_wire_get_present(in, &present);
		if (!verdict && present)
			verdict = rpcrdma_wire_get_read_seg(in, lists);
	} while (!verdict && present);
	return verdict;
}

/* Read a counted array of plain segments: one Write chunk, or the Reply chunk. */
static enum rpcrdma_verdict
rpcrdma_wire_get_array(struct rpcrdma_xdr_in *in, struct rpcrdma_chunk *chunk)
{
	const u8 *seg;
	u32 i, nsegs;

	/* A count of more segments than the message can hold is invalid */
	if (!rpcrdma_xdr_get(in, &nsegs) ||
	    nsegs > in->xi_left / RPCRDMA_PLAIN_SEG_LEN)
		return RPCRDMA_BAD_LIST;
	if (nsegs > RPCRDMA_MAX_SEGS)
		return RPCRDMA_MANY_SEGS;
	seg = in->xi_pos;
	rpcrdma_xdr_skip(in, nsegs * RPCRDMA_PLAIN_SEG_LEN);

	chunk->ck_segs = seg;
	chunk->ck_position = 0;
	chunk->ck_length = 0;
	chunk->ck_nsegs = nsegs;
	for (i = 0; i < nsegs; i++, seg += RPCRDMA_PLAIN_SEG_LEN)
		if (check_add_overflow(chunk->ck_length,
				       get_unaligned_be32(seg +
							  RPCRDMA_SEG_LENGTH),
				       &chunk->ck_length))
			return RPCRDMA_BAD_LENGTH;
	return RPCRDMA_OK;
}

static enum rpcrdma_verdict
rpcrdma_wire_get_writes(struct rpcrdma_xdr_in *in, struct rpcrdma_lists *lists)
{
	struct rpcrdma_chunk *chunk = lists->ls_write;
	enum rpcrdma_verdict verdict;
	bool present;

	for (;; chunk++, lists->ls_nwrites++) {
		verdict = rpcrdma_wire_get_present(in, &present);
		if (verdict || !present)
			return verdict;
		if (lists->ls_nwrites == RPCRDMA_MAX_CHUNKS)
			return RPCRDMA_MANY_WRITES;
		verdict = rpcrdma_wire_get_array(in, chunk);
		if (verdict)
			return verdict;
	}
}

/**
 * rpcrdma_wire_decode_lists - parse Read list, Write list and Reply chunk
 * @buf: the message
 * @len: length of the message in bytes
 * @offset: IN: where the lists begin; OUT: the first byte after them, if
 *	%RPCRDMA_OK is returned
 * @lists: OUT: a view of the lists, which points into @buf
 *
 * Read segments with the same position form a chunk. They keep the order of the list, and
 * the chunks are sorted by position (G-34). Chunks of zero length, segments of zero
 * length, and Write or Reply arrays of zero segments are valid (RFC 8166 3.4.3; G-05).
 * Positions are not checked here.
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
 * Return: %RPCRDMA_OK; or an error, and then @lists is incomplete: %RPCRDMA_BAD_LIST,
 *	%RPCRDMA_BAD_LENGTH, %RPCRDMA_MANY_READS, %RPCRDMA_MANY_WRITES or
 *	%RPCRDMA_MANY_SEGS.
 *
 * See RFC 8166 4.3.
 */
enum rpcrdma_verdict rpcrdma_wire_decode_lists(const void *buf, u32 len,
					       u32 *offset,
					       struct rpcrdma_lists *lists)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	memset(lists, 0, offsetof(struct rpcrdma_lists, ls_read));
	if (!rpcrdma_xdr_skip(&in, *offset))
		return RPCRDMA_BAD_LIST;
	verdict = rpcrdma_wire_get_reads(&in, lists);
	if (verdict)
		return verdict;
	verdict = rpcrdma_wire_get_writes(&in, lists);
	if (verdict)
		return verdict;
	verdict = rpcrdma_wire_get_present(&in, &lists->ls_has_reply);
	if (!verdict && lists->ls_has_reply)
		verdict = rpcrdma_wire_get_array(&in, &lists->ls_reply);
	if (verdict)
		return verdict;
	*offset = len - in.xi_left;
	return RPCRDMA_OK;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_wire_decode_lists);

/**
 * rpcrdma_chunk_next_read - take the next segment of a Read chunk, for rpcrdma_chunk_next()
 * @iter: the walk, which has a segment left
 * @seg: OUT: the segment, if true is returned
 *
 * Context: any; the buffer from which the chunk was decoded must still be valid.
 * Return: false if there is no further segment.
 */
bool rpcrdma_chunk_next_read(struct rpcrdma_seg_iter *iter,
			     struct rpcrdma_segment *seg)
{
	const u8 *pos = iter->it_pos;

	/*
	 * The buffer is still mapped for the device. If the device changes the list after
	 * it was decoded, the walk still does not leave the list.
	 */
	while (pos < (const u8 *)iter->it_end &&
	       get_unaligned_be32(pos + RPCRDMA_READ_POSITION) !=
	       iter->it_position)
		pos += RPCRDMA_READ_SEG_LEN;
	if (pos >= (const u8 *)iter->it_end)
		return false;
	rpcrdma_chunk_get_seg(pos + RPCRDMA_READ_SEG, seg);
	iter->it_pos = pos + RPCRDMA_READ_SEG_LEN;
	iter->it_left--;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_chunk_next_read);

/**
 * rpcrdma_wire_lists_len - size of the three lists on the wire
 * @nreadsegs: number of segments in all Read chunks
 * @nwrites: number of Write chunks
 * @nwritesegs: number of segments in all Write chunks
 * @nreplysegs: number of segments in the Reply chunk; 0 if there is no Reply chunk
 *
 * Context: any.
 * Return: number of bytes, which is 12 if there are no chunks; %U32_MAX if the number does not
 *	fit in 32 bits.
 *
 * See RFC 8166 3.5, 4.3.
 */
u32 rpcrdma_wire_lists_len(u32 nreadsegs, u32 nwrites, u32 nwritesegs,
			   u32 nreplysegs)
{
	u64 len = 3 * RPCRDMA_WORD_LEN;

	len += (u64)nreadsegs * RPCRDMA_READ_SEG_LEN;
	len += (u64)nwrites * RPCRDMA_CHUNK_LEN;
	len += (u64)nwritesegs * RPCRDMA_PLAIN_SEG_LEN;
	if (nreplysegs)
		/* The Reply chunk's "present" word is one of the three above */
		len += RPCRDMA_CHUNK_LEN - RPCRDMA_WORD_LEN +
		       (u64)nreplysegs * RPCRDMA_PLAIN_SEG_LEN;
	return min_t(u64, len, U32_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_wire_lists_len);

/**
 * rpcrdma_wire_put_fixed - write the four words that every message begins with
 * @out: where to write
 * @xid: rdma_xid
 * @vers: rdma_vers
 * @credit: rdma_credit; 0 is sent as 1, because after a 0 the peer might wait for ever
 * @proc: rdma_proc
 *
 * Context: any.
 *
 * See RFC 8166 3.3.1, 4.2.
 */
void rpcrdma_wire_put_fixed(struct rpcrdma_xdr_out *out, u32 xid, u32 vers,
			    u32 credit, u32 proc)
{
	rpcrdma_xdr_put(out, xid);
	rpcrdma_xdr_put(out, vers);
	rpcrdma_xdr_put(out, max(credit, 1u));
	rpcrdma_xdr_put(out, proc);
}

static void rpcrdma_wire_put_seg(struct rpcrdma_xdr_out *out,
				 const struct rpcrdma_segment *seg)
{
	rpcrdma_xdr_put(out, seg->rs_handle);
	rpcrdma_xdr_put(out, seg->rs_length);
	rpcrdma_xdr_put(out, seg->rs_offset >> 32);
	rpcrdma_xdr_put(out, (u32)seg->rs_offset);
}

static void rpcrdma_wire_put_array(struct rpcrdma_xdr_out *out,
				   const struct rpcrdma_chunk_out *chunk)
{
	const struct rpcrdma_segment *seg = chunk->co_segs;
	u32 i;

	rpcrdma_xdr_put(out, 1);
	rpcrdma_xdr_put(out, chunk->co_nsegs);
	for (i = 0; i < chunk->co_nsegs; i++, seg++)
		rpcrdma_wire_put_seg(out, seg);
}

/**
 * rpcrdma_wire_put_call - write the lists of a Call
 * @out: where to write
 * @call: the Call
 *
 * Context: any.
 */
void rpcrdma_wire_put_call(struct rpcrdma_xdr_out *out,
			   const struct rpcrdma_call_out *call)
{
	const struct rpcrdma_chunk_out *chunk = call->ko_read;
	u32 i, j;

	for (i = 0; i < call->ko_nreads; i++, chunk++) {
		for (j = 0; j < chunk->co_nsegs; j++) {
			rpcrdma_xdr_put(out, 1);
			rpcrdma_xdr_put(out, chunk->co_position);
			rpcrdma_wire_put_seg(out, &chunk->co_segs[j]);
		}
	}
	rpcrdma_xdr_put(out, 0);
	for (i = 0; i < call->ko_nwrites; i++)
		rpcrdma_wire_put_array(out, &call->ko_write[i]);
	rpcrdma_xdr_put(out, 0);
	if (call->ko_reply)
		rpcrdma_wire_put_array(out, call->ko_reply);
	else
		rpcrdma_xdr_put(out, 0);
}

/*
 * Write the array of segments of a Call's chunk, with the lengths that were used. Segments
 * are filled in array order, each to its end before the next one (RFC 8166 3.4.6).
 */
static void rpcrdma_wire_put_filled(struct rpcrdma_xdr_out *out,
				    const struct rpcrdma_lists *lists,
				    const struct rpcrdma_chunk *chunk,
				    u32 written)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	rpcrdma_xdr_put(out, 1);
	rpcrdma_xdr_put(out, chunk->ck_nsegs);
	rpcrdma_chunk_first(lists, chunk, &iter);
	while (rpcrdma_chunk_next(&iter, &seg)) {
		seg.rs_length = min(written, seg.rs_length);
		written -= seg.rs_length;
		rpcrdma_wire_put_seg(out, &seg);
	}
}

/**
 * rpcrdma_wire_put_returned - write the lists of a Reply
 * @out: where to write
 * @lists: the lists of the Call
 * @written: for each Write chunk of the Call, the number of bytes written to it
 * @reply_written: number of bytes written to the Reply chunk, if the Call has one
 *
 * The Read list is empty (RFC 8166 4.3.1). The Write chunks and the Reply chunk of the Call
 * are returned with the same segments, handles and offsets. Only the lengths change: they
 * tell what was used (RFC 8166 3.4.6).
 *
 * Context: any; the buffer from which @lists was decoded must still be valid.
 */
void rpcrdma_wire_put_returned(struct rpcrdma_xdr_out *out,
			       const struct rpcrdma_lists *lists,
			       const u32 *written, u32 reply_written)
{
	u32 i;

	rpcrdma_xdr_put(out, 0);
	for (i = 0; i < lists->ls_nwrites; i++)
		rpcrdma_wire_put_filled(out, lists, &lists->ls_write[i],
					written[i]);
	rpcrdma_xdr_put(out, 0);
	if (lists->ls_has_reply)
		rpcrdma_wire_put_filled(out, lists, &lists->ls_reply,
					reply_written);
	else
		rpcrdma_xdr_put(out, 0);
}
