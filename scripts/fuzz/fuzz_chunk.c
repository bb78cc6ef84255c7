// SPDX-License-Identifier: GPL-2.0
/* Tests of the arithmetic of chunk lists. For short messages, results are compared with models
 * that count byte by byte.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <rpcrdma/chunk.h>

#include "fuzz.h"

#define FUZZ_BODY	64u	/* maximum bytes of a body whose bytes are counted */
#define FUZZ_CHUNK	40u	/* maximum bytes of a chunk whose bytes are counted */
#define FUZZ_STREAM	(FUZZ_BODY + RPCRDMA_MAX_CHUNKS * (FUZZ_CHUNK + 4))

/* A byte of a stream: its part (0: the body, n: chunk n - 1), and its offset in that part.
 * The bytes of roundup belong to their chunk.
 */
struct fuzz_byte {
	u32	fb_part;
	u32	fb_offset;
};

struct fuzz_stream {
	struct fuzz_byte	fs_byte[FUZZ_STREAM];
	u32			fs_len;
};

/*
 * Make the unreduced stream: insert chunk after chunk at its position. Returns false if a
 * position is not aligned, is inside an earlier chunk, or is outside the stream.
 */
static bool fuzz_stream_make(struct fuzz_stream *stream,
			     const struct rpcrdma_lists *lists, u32 body_len)
{
	u32 i, j, at, room, end = 0;

	stream->fs_len = body_len;
	for (j = 0; j < body_len; j++)
		stream->fs_byte[j] = (struct fuzz_byte){ 0, j };
	for (i = 0; i < lists->ls_nreads; i++) {
		at = lists->ls_read[i].ck_position;
		room = (lists->ls_read[i].ck_length + 3) & ~3u;
		if (at & 3 || at > stream->fs_len || at < end)
			return false;
		end = at + room;
		memmove(&stream->fs_byte[end], &stream->fs_byte[at],
			(stream->fs_len - at) * sizeof(stream->fs_byte[0]));
		for (j = 0; j < room; j++)
			stream->fs_byte[at + j] =
				(struct fuzz_byte){ i + 1, j };
		stream->fs_len += room;
	}
	return true;
}

/* Check that the parts, one after the other, are the stream. */
static void fuzz_stream_walk(const struct fuzz_stream *stream,
			     const struct rpcrdma_lists *lists, u32 body_len)
{
	const struct fuzz_byte *byte = stream->fs_byte;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 i, id;

	rpcrdma_part_first(lists, NULL, body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		CHECK(part.pt_length);
		id = part.pt_chunk ? part.pt_chunk - lists->ls_read + 1 : 0;
		CHECK(byte + part.pt_length + part.pt_pad <=
		      stream->fs_byte + stream->fs_len);
		for (i = 0; i < part.pt_length + part.pt_pad; i++, byte++) {
			CHECK(byte->fb_part == id);
			CHECK(byte->fb_offset == part.pt_offset + i);
		}
		CHECK(!id || part.pt_length == part.pt_chunk->ck_length);
		CHECK(id || !part.pt_pad);
	}
	CHECK(byte == stream->fs_byte + stream->fs_len);
}

/* Check the sums and the bounds of the parts. This check is for any numbers, even those that
 * are too large for a model that counts bytes.
 */
static void fuzz_parts_sum(const struct rpcrdma_lists *lists, u32 body_len,
			   bool sound, u32 stream_len)
{
	struct rpcrdma_part_iter iter;
	u64 body = 0, stream = 0;
	struct rpcrdma_part part;
	u32 n = 0;

	rpcrdma_part_first(lists, NULL, body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		CHECK(n++ < 2 * RPCRDMA_MAX_CHUNKS + 1);
		CHECK(part.pt_length);
		if (!part.pt_chunk) {
			CHECK(part.pt_offset == body);
			body += part.pt_length;
		} else if (sound) {
			CHECK(part.pt_chunk->ck_position == stream);
		}
		stream += (u64)part.pt_length + part.pt_pad;
	}
	CHECK(body == body_len);
	CHECK(!sound || stream == stream_len);
}

/*
 * Target chunk: Read lists as a decoder leaves them, with positions of 1 or more, in
 * ascending order
 *
 * Covers: V1-RDC-10 V1-RDC-17
 */
void fuzz_chunk(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 i, body_len, max_len, stream_len, position = 0;
	static struct rpcrdma_lists lists;
	static struct fuzz_stream stream;
	enum rpcrdma_verdict verdict;
	bool sound, small = fuzz_u8(&in) % 4;

	body_len = small ? fuzz_u8(&in) % FUZZ_BODY : fuzz_num(&in);
	max_len = fuzz_num(&in);
	lists.ls_nreads = fuzz_u8(&in) % (RPCRDMA_MAX_CHUNKS + 1);
	for (i = 0; i < lists.ls_nreads; i++) {
		struct rpcrdma_chunk *chunk = &lists.ls_read[i];
		u32 step = small ? fuzz_u8(&in) : fuzz_num(&in);

		if (__builtin_add_overflow(position, step ?: 1, &position))
			break;
		chunk->ck_position = position;
		chunk->ck_nsegs = 1;
		chunk->ck_length = small ? fuzz_u8(&in) % FUZZ_CHUNK :
					   fuzz_num(&in);
	}
	lists.ls_nreads = i;

	verdict = rpcrdma_lists_check_call(&lists, NULL, body_len, max_len,
					   &stream_len);
	CHECK(verdict == RPCRDMA_OK || verdict == RPCRDMA_BAD_POSITION ||
	      verdict == RPCRDMA_BAD_LENGTH);
	sound = verdict == RPCRDMA_OK;
	CHECK(!sound || stream_len <= max_len);
	fuzz_parts_sum(&lists, body_len, sound, stream_len);
	if (!small)
		return;

	if (!fuzz_stream_make(&stream, &lists, body_len)) {
		CHECK(verdict == RPCRDMA_BAD_POSITION);
	} else if (stream.fs_len > max_len) {
		CHECK(verdict == RPCRDMA_BAD_LENGTH);
	} else {
		CHECK(sound && stream_len == stream.fs_len);
		fuzz_stream_walk(&stream, &lists, body_len);
	}
}

static u64 fuzz_room(u32 length)
{
	return ((u64)length + 3) / 4 * 4;
}

/* Returns the next chunk that is not empty. Empty chunks are no part of a stream. */
static const struct rpcrdma_chunk *
fuzz_chunk_full(const struct rpcrdma_lists *lists, u32 *index)
{
	while (*index < lists->ls_nreads)
		if (lists->ls_read[(*index)++].ck_length)
			return &lists->ls_read[*index - 1];
	return NULL;
}

/* Check that a part is the next chunk, @chunk, or the next item, @item, complete and at its
 * position. Returns its length in the stream, with roundup.
 */
static u64 fuzz_part_piece(const struct rpcrdma_part *part, u64 stream,
			   const struct rpcrdma_chunk *chunk,
			   const struct rpcrdma2_item *item)
{
	u32 length = part->pt_chunk ? chunk->ck_length : item->im_length;

	CHECK(!part->pt_chunk || part->pt_chunk == chunk);
	CHECK(!part->pt_item || part->pt_item == item);
	CHECK(!part->pt_chunk != !part->pt_item);
	CHECK(stream == (part->pt_chunk ? chunk->ck_position :
					  item->im_position));
	CHECK(!part->pt_offset && part->pt_length == length);
	CHECK(part->pt_length + (u64)part->pt_pad == fuzz_room(length));
	return fuzz_room(length);
}

/* Is there a chunk, perhaps an empty one, or an item at this position of the stream? */
static bool fuzz_piece_at(const struct rpcrdma_lists *lists,
			  const struct rpcrdma2_item *item, u64 stream)
{
	u32 i;

	for (i = 0; i < lists->ls_nreads; i++)
		if (lists->ls_read[i].ck_position == stream)
			return true;
	return item->im_length && item->im_position == stream;
}

/* Check that the parts consist of the body, all chunks that are not empty, and all items, each
 * once and in order.
 */
static void fuzz_parts_walk(const struct rpcrdma_lists *lists,
			    const struct rpcrdma2_item *item, u32 body_len,
			    u64 stream_len)
{
	const struct rpcrdma_chunk *chunk;
	u64 body = 0, stream = 0;
	bool due = item->im_length;
	u32 next = 0;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;

	chunk = fuzz_chunk_full(lists, &next);
	rpcrdma_part_first(lists, item, body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		CHECK(part.pt_length);
		if (part.pt_chunk || part.pt_item) {
			CHECK(part.pt_chunk ? !!chunk : due);
			stream += fuzz_part_piece(&part, stream, chunk, item);
			due = due && !part.pt_item;
			if (part.pt_chunk)
				chunk = fuzz_chunk_full(lists, &next);
			continue;
		}
		CHECK(part.pt_offset == body && !part.pt_pad);
		body += part.pt_length;
		stream += part.pt_length;
		CHECK(body == body_len ||
		      fuzz_piece_at(lists, item, stream));
	}
	CHECK(!chunk && !due);
	CHECK(body == body_len && stream == stream_len);
}

/* Check the length of a Call that a decoder has accepted, and its parts: body, chunks and item. */
void fuzz_parts_item(const struct rpcrdma_lists *lists,
		     const struct rpcrdma2_item *item, u32 body_len,
		     u32 max_len)
{
	enum rpcrdma_verdict verdict;
	u64 stream = body_len + fuzz_room(item->im_length);
	u32 i, stream_len;

	for (i = 0; i < lists->ls_nreads; i++)
		stream += fuzz_room(lists->ls_read[i].ck_length);
	verdict = rpcrdma_lists_check_call(lists, item, body_len, max_len,
					   &stream_len);
	CHECK(verdict == (stream > max_len ? RPCRDMA_BAD_LENGTH : RPCRDMA_OK));
	if (verdict != RPCRDMA_OK)
		return;
	CHECK(stream_len == stream);
	fuzz_parts_walk(lists, item, body_len, stream);
}

/*
 * Target items: Read chunks and an item as rpcrdma2_decode_group() leaves them, in ascending
 * order, with pieces of the body between them. An empty chunk may have the same position as
 * the item behind it.
 *
 * Covers: RTX-53
 */
void fuzz_items(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma2_item item = { };
	bool chunk, small = fuzz_u8(&in) % 4;
	u32 body_len = fuzz_num(&in), max_len = ~fuzz_num(&in);
	u32 gap, length, left = body_len, last = 0;
	static struct rpcrdma_lists lists;
	u64 stream = 0;

	lists.ls_nreads = 0;
	while (in.fi_left) {
		chunk = fuzz_u8(&in) % 2;
		gap = small ? fuzz_u8(&in) : fuzz_num(&in);
		gap = (gap < left ? gap : left) & ~3u;
		length = small ? fuzz_u8(&in) % FUZZ_CHUNK : fuzz_num(&in);
		left -= gap;
		stream += gap;
		if (stream > U32_MAX)
			break;
		/* Two chunks cannot have the same position (they would be one chunk), and
		 * no chunk is at 0
		 */
		if (chunk && stream > last &&
		    lists.ls_nreads < RPCRDMA_MAX_CHUNKS) {
			last = stream;
			lists.ls_read[lists.ls_nreads].ck_position = stream;
			lists.ls_read[lists.ls_nreads].ck_nsegs = 1;
			lists.ls_read[lists.ls_nreads++].ck_length = length;
		} else if (!chunk && stream >= RPCRDMA2_RTX_RPC_MIN && length &&
			   !item.im_length) {
			item.im_position = stream;
			item.im_length = length;
		} else {
			continue;
		}
		stream += fuzz_room(length);
	}
	fuzz_parts_item(&lists, &item, body_len, max_len);
}

/* Is the whole RPC header in front of @position, and is it a header that a chunk may follow? */
static bool fuzz_head_whole(const u8 *msg, u64 position)
{
	u64 cred_len, verf, gss_min = 16, gss_none = 1;

	if (position < 40)
		return false;
	cred_len = fuzz_word(msg, 7);
	verf = 32 + (cred_len + 3) / 4 * 4;
	if (verf + 8 > position ||
	    verf + 8 + (fuzz_word(msg + verf, 1) + 3ull) / 4 * 4 > position)
		return false;
	/* RPCSEC_GSS has version, procedure, sequence number, service */
	return fuzz_word(msg, 6) != 6 ||
	       (cred_len >= gss_min && fuzz_word(msg, 11) == gss_none);
}

/*
 * Target head: does the inline part of a Call contain a whole RPC header in front of its Read
 * chunk? The inline part consists of arbitrary bytes. Mostly there is one Read chunk. Unless the
 * input chooses other values, the chunk is at the end of the inline part, and the head may have
 * 4096 bytes.
 *
 * Covers: G-27
 */
void fuzz_head(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	u8 kind = fuzz_u8(&in);
	static struct rpcrdma_lists lists;
	u32 position, max_head, head;
	bool keep;
	u8 *msg;

	lists.ls_nreads = kind < 224 ? 1 : kind % 4;
	position = fuzz_num(&in) ?: size;
	max_head = fuzz_num(&in) ?: 4096;
	lists.ls_read[0].ck_position = position;
	head = position < size ? position : size;

	/* rpcrdma_lists_keep_head() must not read bytes behind the position, so the copy does
	 * not have them
	 */
	msg = fuzz_exact(data, head);
	/* By itself, the fuzzer is not likely to make a credential of RPCSEC_GSS, or one that is
	 * just too short
	 */
	if (kind % 2 && head >= 48) {
		put_unaligned_be32(6, msg + 24);
		put_unaligned_be32(fuzz_u8(&in) % 32, msg + 28);
		put_unaligned_be32(fuzz_u8(&in) % 4, msg + 44);
	}
	keep = rpcrdma_lists_keep_head(&lists, msg, size, max_head);
	CHECK(keep == (lists.ls_nreads == 1 && head <= max_head &&
		       fuzz_head_whole(msg, head)));
	/* The result is the same for a Call that ends where the chunk begins */
	CHECK(keep == rpcrdma_lists_keep_head(&lists, msg, head, max_head));
	free(msg);
}

/* Assign results of a Reply to the chunks of a Write list, and check each assignment.
 * Returns the number of chunks used.
 */
static u32 fuzz_payload_assign(const struct rpcrdma_lists *lists,
			       struct rpcrdma_payload *payloads,
			       struct fuzz_in *in, bool small)
{
	u32 i, offset = 0, length, before, used = 0, n = fuzz_u8(in) % 20;
	const struct rpcrdma_chunk *chunk;
	int rc;

	for (i = 0; i < n; i++) {
		if (__builtin_add_overflow(offset, small ? fuzz_u8(in) % 32 :
					   fuzz_num(in), &offset))
			break;
		chunk = &lists->ls_write[used];
		length = small ? fuzz_u8(in) % FUZZ_CHUNK : fuzz_num(in);
		before = used;
		rc = rpcrdma_payload_assign(lists, payloads, &used, offset,
					    length);
		if (!length || before == lists->ls_nwrites) {
			CHECK(rc == -ENOENT && used == before);
			continue;
		}
		if (chunk->ck_nsegs && length > chunk->ck_length) {
			CHECK(rc == -EMSGSIZE && used == before);
			continue;
		}
		CHECK(used == before + 1);
		CHECK(rc == (chunk->ck_nsegs ? (int)before : -ENOENT));
		CHECK(payloads[before].py_offset ==
		      (chunk->ck_nsegs ? offset : 0));
		CHECK(payloads[before].py_length ==
		      (chunk->ck_nsegs ? length : 0));
		if (__builtin_add_overflow(offset, payloads[before].py_length,
					   &offset))
			break;
	}
	return used;
}

/* Does this byte of the Reply stay in the body? */
static bool fuzz_payload_stays(const struct rpcrdma_payload *payloads, u32 n,
			       u32 at)
{
	u32 i, room;

	for (i = 0; i < n; i++) {
		room = (payloads[i].py_length + 3) & ~3u;
		if (at >= payloads[i].py_offset &&
		    at < payloads[i].py_offset + room)
			return false;
	}
	return true;
}

void fuzz_payload(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_payload payloads[RPCRDMA_MAX_CHUNKS] = { };
	u32 i, n, offset, length, stream_len, pos = 0, at = 0;
	static struct rpcrdma_lists lists;
	bool small = fuzz_u8(&in) % 4;
	u64 body = 0;

	lists.ls_nwrites = fuzz_u8(&in) % (RPCRDMA_MAX_CHUNKS + 1);
	for (i = 0; i < lists.ls_nwrites; i++) {
		lists.ls_write[i].ck_nsegs = fuzz_u8(&in) % 4;
		lists.ls_write[i].ck_length = 0;
		if (lists.ls_write[i].ck_nsegs)
			lists.ls_write[i].ck_length =
				small ? fuzz_u8(&in) : fuzz_num(&in);
	}
	n = fuzz_payload_assign(&lists, payloads, &in, small);
	stream_len = small ? fuzz_u32(&in) % FUZZ_STREAM : fuzz_num(&in);

	/* The gaps between payloads are found in ascending order, and consist of exactly those
	 * bytes of the Reply that stay in the body.
	 */
	while (rpcrdma_payload_gap_next(payloads, n, stream_len, &pos,
					&offset, &length)) {
		CHECK(length && offset >= at);
		CHECK((u64)offset + length <= stream_len);
		CHECK(pos >= offset + length && pos <= stream_len);
		for (i = at; small && i < offset + length; i++)
			CHECK(fuzz_payload_stays(payloads, n, i) ==
			      (i >= offset));
		at = offset + length;
		body += length;
	}
	for (; small && at < stream_len; at++)
		CHECK(!fuzz_payload_stays(payloads, n, at));
	CHECK(body == rpcrdma_payload_body_len(payloads, n, stream_len));
	CHECK(!rpcrdma_payload_gap_next(payloads, n, stream_len, &pos,
					&offset, &length));
}
