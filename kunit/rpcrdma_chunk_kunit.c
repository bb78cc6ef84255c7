// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/chunk.c: for example, whether chunk lists are valid, and which bytes of a
 * message are in a chunk. chunk.c explains the terms "unreduced stream" and "body".
 */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/chunk.h>

#include "rpcrdma_kunit.h"

struct chunk_call_case {
	const char		*desc;
	u32			body_len, max_len, nreads;
	struct {
		u32	position;
		u32	length;
	}			reads[3];
	enum rpcrdma_verdict	verdict;
	u32			stream_len;
};

static const struct chunk_call_case chunk_call_cases[] = {
	{ "no chunks", .body_len = 40, .max_len = 40, .stream_len = 40 },
	{ "no chunks, and a body that is too long", .body_len = 41, .max_len = 40,
	  .verdict = RPCRDMA_BAD_LENGTH },
	{ "a chunk in the middle", .body_len = 40, .max_len = 1000, .stream_len = 140,
	  .nreads = 1, .reads = { { 8, 100 } } },
	{ "a chunk at the very end", .body_len = 40, .max_len = 1000, .stream_len = 140,
	  .nreads = 1, .reads = { { 40, 100 } } },
	{ "a chunk at the end of a body of odd length", .body_len = 43, .max_len = 1000,
	  .stream_len = 143, .nreads = 1, .reads = { { 40, 100 } } },
	{ "a chunk one unit past the end", .body_len = 40, .max_len = 1000, .nreads = 1,
	  .reads = { { 44, 100 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "a chunk without its roundup gets it", .body_len = 40, .max_len = 1000,
	  .stream_len = 144, .nreads = 1, .reads = { { 40, 101 } } },
	{ "a chunk behind another and its roundup", .body_len = 40, .max_len = 1000,
	  .stream_len = 168, .nreads = 2, .reads = { { 40, 101 }, { 144, 24 } } },
	{ "a chunk on top of the roundup before it", .body_len = 40, .max_len = 1000, .nreads = 2,
	  .reads = { { 40, 101 }, { 140, 24 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "a chunk that begins inside another", .body_len = 40, .max_len = 1000, .nreads = 2,
	  .reads = { { 8, 100 }, { 12, 4 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "chunks with all of the body in between", .body_len = 40, .max_len = 1000,
	  .stream_len = 60, .nreads = 3, .reads = { { 0, 4 }, { 44, 8 }, { 52, 8 } } },
	{ "chunks with more in between than the body has", .body_len = 40, .max_len = 1000,
	  .nreads = 3, .reads = { { 4, 4 }, { 44, 8 }, { 56, 8 } },
	  .verdict = RPCRDMA_BAD_POSITION },
	{ "a position that is not aligned", .body_len = 40, .max_len = 1000, .nreads = 1,
	  .reads = { { 38, 4 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "an empty chunk", .body_len = 40, .max_len = 1000, .stream_len = 40, .nreads = 1,
	  .reads = { { 20, 0 } } },
	{ "an empty chunk past the end", .body_len = 40, .max_len = 1000, .nreads = 1,
	  .reads = { { 44, 0 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "as much as is accepted", .body_len = 40, .max_len = 144, .stream_len = 144,
	  .nreads = 1, .reads = { { 40, 101 } } },
	{ "more than is accepted, but for the roundup", .body_len = 40, .max_len = 143,
	  .nreads = 1, .reads = { { 40, 101 } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a chunk of almost four gigabytes", .body_len = 40, .max_len = 0x400000, .nreads = 1,
	  .reads = { { 40, 0xfffffff0 } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a roundup past four gigabytes", .body_len = 0, .max_len = U32_MAX, .nreads = 1,
	  .reads = { { 0, 0xffffffff } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "chunks that add up past four gigabytes", .body_len = 40, .max_len = U32_MAX,
	  .nreads = 2, .reads = { { 8, 0x80000000 }, { 0x80000008, 0x80000000 } },
	  .verdict = RPCRDMA_BAD_LENGTH },
	{ "a chunk of which the end is past four gigabytes", .body_len = 40, .max_len = U32_MAX,
	  .nreads = 2, .reads = { { 8, 0xfffffffc }, { 12, 4 } }, .verdict = RPCRDMA_BAD_POSITION },
	{ "the highest position", .body_len = 40, .max_len = U32_MAX, .nreads = 1,
	  .reads = { { 0xfffffffc, 4 } }, .verdict = RPCRDMA_BAD_POSITION },
};

KUNIT_ARRAY_PARAM_DESC(chunk_call, chunk_call_cases, desc);

/* Covers: V1-RDC-02 V1-RDC-03 V1-RDC-10 V1-RDC-16 V1-RDC-17 V1-RDC-18 V1-RDC-19 V1-CHK-14
 * Covers: V1-PZC-11 G-04
 */
static void chunk_check_call(struct kunit *test)
{
	const struct chunk_call_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, stream_len = 0;

	fx->kf_lists.ls_nreads = param->nreads;
	for (i = 0; i < param->nreads; i++) {
		fx->kf_lists.ls_read[i].ck_position = param->reads[i].position;
		fx->kf_lists.ls_read[i].ck_length = param->reads[i].length;
		fx->kf_lists.ls_read[i].ck_nsegs = 1;
	}
	KUNIT_EXPECT_EQ(test,
			rpcrdma_lists_check_call(&fx->kf_lists, NULL,
						 param->body_len,
						 param->max_len, &stream_len),
			param->verdict);
	KUNIT_EXPECT_EQ(test, stream_len, param->stream_len);
}

#define PARTS_CHUNKS	6u
#define PARTS_SEGS	3u
#define PARTS_LEN	4096u

/* A random message. @stream is the unreduced message. @body is what is left when the chunks are
 * taken out, and @memory is the requester's memory to which the chunks point. @rebuilt is the
 * message that the responder puts together from @body and @memory.
 */
struct parts {
	u8	stream[PARTS_LEN];
	u8	body[PARTS_LEN];
	u8	memory[PARTS_LEN];
	u8	rebuilt[PARTS_LEN];
	u32	stream_len;
	u32	body_len;
	u32	memory_len;
	u32	nchunks;
	struct {
		u32	position;
		u32	nsegs;
		u32	memory;
		u32	lengths[PARTS_SEGS];
	}	chunks[PARTS_CHUNKS];
};

static void parts_add_body(struct rpcrdma_kunit *fx, struct parts *parts,
			   u32 len)
{
	u8 byte;

	for (; len; len--) {
		byte = fx_random(fx, 256);
		parts->stream[parts->stream_len++] = byte;
		parts->body[parts->body_len++] = byte;
	}
}

/* Add an item of @len bytes, in a chunk. If @padded, the chunk includes the item's roundup, as
 * bytes of 0xff. Otherwise the responder has to add the roundup, as bytes of 0.
 */
static void parts_add_chunk(struct rpcrdma_kunit *fx, struct parts *parts,
			    u32 len, bool padded)
{
	u32 i, left, pad = (4 - len % 4) % 4, n = parts->nchunks++;

	parts->chunks[n].position = parts->stream_len;
	parts->chunks[n].memory = parts->memory_len;
	for (i = 0; i < len + pad; i++) {
		u8 byte = i < len ? fx_random(fx, 256) :
				    padded ? 0xff : 0;

		parts->stream[parts->stream_len++] = byte;
		if (i < len || padded)
			parts->memory[parts->memory_len++] = byte;
	}

	left = parts->memory_len - parts->chunks[n].memory;
	parts->chunks[n].nsegs = 1 + fx_random(fx, PARTS_SEGS);
	for (i = 0; i < parts->chunks[n].nsegs; i++) {
		u32 seg = i + 1 < parts->chunks[n].nsegs ?
			fx_random(fx, left + 1) : left;

		parts->chunks[n].lengths[i] = seg;
		left -= seg;
	}
}

/* Write the Read list in an unusual order: the first segments of all chunks, then all second
 * segments, and so on, each time from the last chunk to the first.
 */
static void parts_put_list(struct rpcrdma_kunit *fx, struct parts *parts)
{
	u32 i, j, k, at;

	fx_clear(fx);
	for (j = 0; j < PARTS_SEGS; j++) {
		for (i = parts->nchunks; i-- > 0;) {
			if (j >= parts->chunks[i].nsegs)
				continue;
			at = parts->chunks[i].memory;
			for (k = 0; k < j; k++)
				at += parts->chunks[i].lengths[k];
			fx_word(fx, 1);
			fx_word(fx, parts->chunks[i].position);
			fx_seg(fx, i, parts->chunks[i].lengths[j], at);
		}
	}
	fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
}

static void parts_make(struct rpcrdma_kunit *fx, struct parts *parts)
{
	u32 i, len, n = fx_random(fx, PARTS_CHUNKS + 1);
	bool must_gap = true;

	memset(parts, 0, sizeof(*parts));
	for (i = 0; i < n; i++) {
		/* The decoder would take a chunk at position 0 for the Position Zero chunk, and two
		 * chunks at the same position for one chunk. So make neither.
		 */
		len = 4 * fx_random(fx, 10);
		parts_add_body(fx, parts, len + (must_gap ? 4 : 0));
		len = fx_random(fx, 60);
		parts_add_chunk(fx, parts, len, fx_random(fx, 2));
		must_gap = !len;
	}
	parts_add_body(fx, parts, fx_random(fx, 30));
	parts_put_list(fx, parts);
}

/* Copy the segments of a chunk in order, as the responder's RDMA Reads do. */
static u32 parts_pull(struct rpcrdma_kunit *fx, struct parts *parts, u32 to,
		      const struct rpcrdma_chunk *chunk)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	rpcrdma_chunk_first(&fx->kf_lists, chunk, &iter);
	while (rpcrdma_chunk_next(&iter, &seg)) {
		memcpy(parts->rebuilt + to, parts->memory + seg.rs_offset,
		       seg.rs_length);
		to += seg.rs_length;
	}
	return to;
}

static u32 parts_rebuild(struct rpcrdma_kunit *fx, struct parts *parts)
{
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 len = 0;

	rpcrdma_part_first(&fx->kf_lists, NULL, parts->body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		KUNIT_EXPECT_GT(fx->kf_test, part.pt_length, 0);
		KUNIT_ASSERT_LE(fx->kf_test, len + part.pt_length + part.pt_pad,
				parts->stream_len);
		if (part.pt_chunk) {
			KUNIT_EXPECT_EQ(fx->kf_test, part.pt_offset, 0);
			KUNIT_EXPECT_EQ(fx->kf_test, len,
					part.pt_chunk->ck_position);
			KUNIT_EXPECT_EQ(fx->kf_test, len + part.pt_length,
					parts_pull(fx, parts, len,
						   part.pt_chunk));
		} else {
			KUNIT_ASSERT_LE(fx->kf_test, part.pt_offset +
					part.pt_length, parts->body_len);
			KUNIT_EXPECT_EQ(fx->kf_test, part.pt_pad, 0);
			memcpy(parts->rebuilt + len,
			       parts->body + part.pt_offset, part.pt_length);
		}
		len += part.pt_length;
		memset(parts->rebuilt + len, 0, part.pt_pad);
		len += part.pt_pad;
	}
	return len;
}

/* Covers: V1-RDC-02 V1-RDC-05 V1-RDC-07 V1-RDC-10 V1-RDC-11 V1-RDC-16 V1-RDC-19 V1-PZC-13
 * Covers: V1-CHK-11 G-04 G-34
 */
static void chunk_parts_rebuild_the_stream(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 offset, stream_len, round;
	struct parts *parts;

	parts = kunit_kzalloc(test, sizeof(*parts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, parts);
	for (round = 0; round < 1000; round++) {
		parts_make(fx, parts);
		offset = 0;
		KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);
		KUNIT_ASSERT_EQ(test,
				rpcrdma_lists_check_call(&fx->kf_lists, NULL,
							 parts->body_len,
							 PARTS_LEN,
							 &stream_len),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, stream_len, parts->stream_len);

		memset(parts->rebuilt, 0xee, sizeof(parts->rebuilt));
		KUNIT_ASSERT_EQ(test, parts_rebuild(fx, parts),
				parts->stream_len);
		KUNIT_ASSERT_MEMEQ(test, parts->rebuilt, parts->stream,
				   parts->stream_len);
	}
}

#define PARTS_MAX	(2 * RPCRDMA_MAX_CHUNKS + 1)

/* Walk over the parts of the Call, and store the parts in @found. @item is the item of the Call, or
 * NULL. Returns the number of parts.
 */
static u32 parts_walk(struct rpcrdma_kunit *fx, u32 body_len,
		      const struct rpcrdma2_item *item,
		      struct rpcrdma_part *found)
{
	struct rpcrdma_part_iter iter;
	u32 n = 0;

	memset(&iter, 0xff, sizeof(iter));
	rpcrdma_part_first(&fx->kf_lists, item, body_len, &iter);
	while (rpcrdma_part_next(&iter, &found[n])) {
		KUNIT_ASSERT_LT(fx->kf_test, n, PARTS_MAX - 1);
		KUNIT_EXPECT_FALSE(fx->kf_test,
				   found[n].pt_chunk && found[n].pt_item);
		n++;
	}
	return n;
}

/* Turn one of the Read chunks that are not empty into an item. If there is none, im_length is 0. */
static void parts_make_item(struct rpcrdma_kunit *fx,
			    struct rpcrdma2_item *item)
{
	u32 i, nreads = fx->kf_lists.ls_nreads;
	struct rpcrdma_chunk *read = fx->kf_lists.ls_read;

	item->im_length = 0;
	fx->kf_lists.ls_nreads = 0;
	for (i = 0; i < nreads; i++) {
		if (item->im_length || !read[i].ck_length ||
		    read[i].ck_position < 8 || fx_random(fx, 2)) {
			read[fx->kf_lists.ls_nreads++] = read[i];
			continue;
		}
		item->im_position = read[i].ck_position;
		item->im_length = read[i].ck_length;
	}
}

/* If a Read chunk is replaced by an item with the same position and length, a walk still divides
 * the Call into parts of the same lengths.
 * Covers: RTX-53 RTX-54
 */
static void chunk_parts_of_item(struct kunit *test)
{
	struct rpcrdma2_item item;
	struct rpcrdma_part *was, *is;
	enum rpcrdma_verdict verdict;
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, n, found, offset, stream, total, round;
	struct parts *parts;

	parts = kunit_kzalloc(test, sizeof(*parts), GFP_KERNEL);
	was = kunit_kzalloc(test, 2 * PARTS_MAX * sizeof(*was), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, parts);
	KUNIT_ASSERT_NOT_NULL(test, was);
	is = was + PARTS_MAX;
	for (round = 0; round < 500; round++) {
		parts_make(fx, parts);
		offset = 0;
		KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);
		total = parts->stream_len;
		n = parts_walk(fx, parts->body_len, NULL, was);
		parts_make_item(fx, &item);
		found = 0;
		KUNIT_ASSERT_EQ(test,
				parts_walk(fx, parts->body_len, &item, is), n);
		for (i = 0; i < n; i++) {
			KUNIT_EXPECT_EQ(test, is[i].pt_length,
					was[i].pt_length);
			KUNIT_EXPECT_EQ(test, is[i].pt_pad, was[i].pt_pad);
			KUNIT_EXPECT_EQ(test, is[i].pt_offset,
					was[i].pt_offset);
			KUNIT_EXPECT_EQ(test, !was[i].pt_chunk,
					!is[i].pt_chunk && !is[i].pt_item);
			found += is[i].pt_item == &item;
		}
		KUNIT_EXPECT_EQ(test, found, item.im_length != 0);
		KUNIT_EXPECT_EQ(test,
				rpcrdma_lists_check_call(&fx->kf_lists, &item,
							 parts->body_len, total,
							 &stream), RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, stream, total);
		verdict = rpcrdma_lists_check_call(&fx->kf_lists, &item,
						   parts->body_len,
						   max(total, 1u) - 1, &stream);
		KUNIT_EXPECT_EQ(test, verdict,
				total ? RPCRDMA_BAD_LENGTH : RPCRDMA_OK);
	}
}

/* Covers: RTX-54 */
static void chunk_item_beyond_32_bits(struct kunit *test)
{
	static const struct rpcrdma_lists lists;
	struct rpcrdma2_item item = { 8, U32_MAX };
	u32 stream = 1;

	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&lists, &item, 20,
						       U32_MAX, &stream),
			RPCRDMA_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&lists, &item, 8,
						       U32_MAX, &stream),
			RPCRDMA_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, stream, 1);
	item.im_length = 5;
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&lists, &item, 20, 28,
						       &stream), RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, stream, 28);
}

/* Even if the lists are invalid and were not checked, a walk ends, and visits each byte of the body
 * once, in order.
 * Covers: V1-RDC-17
 */
static void chunk_parts_of_unsound_lists(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 i, n, body, round;

	for (round = 0; round < 200; round++) {
		fx->kf_lists.ls_nreads = fx_random(fx, 17);
		for (i = 0; i < fx->kf_lists.ls_nreads; i++) {
			fx->kf_lists.ls_read[i].ck_position =
				fx_random(fx, round % 2 ? 200 : 0);
			fx->kf_lists.ls_read[i].ck_length =
				fx_random(fx, round % 3 ? 50 : 0);
		}
		body = 0;
		rpcrdma_part_first(&fx->kf_lists, NULL, 100, &iter);
		for (n = 0; rpcrdma_part_next(&iter, &part); n++) {
			KUNIT_ASSERT_LT(test, n, 34);
			if (part.pt_chunk)
				continue;
			KUNIT_EXPECT_EQ(test, part.pt_offset, body);
			body += part.pt_length;
			KUNIT_ASSERT_LE(test, body, 100);
		}
		KUNIT_EXPECT_EQ(test, body, 100);
	}
}

struct chunk_handle_case {
	const char	*desc;
	u32		call;
	u32		read[2];
	u32		write[2];
	u32		reply, length, handle;
};

/* The members call, read, write and reply have the handles of chunks with one segment each. If such
 * a handle is 0, its chunk does not exist. The member length is the length of each segment, and the
 * member handle is the expected result.
 */
static const struct chunk_handle_case chunk_handle_cases[] = {
	{ "no chunks" },
	{ "a Position Zero chunk", .call = 7, .length = 9, .handle = 7 },
	{ "a Read chunk", .read = { 7 }, .length = 9, .handle = 7 },
	{ "a Write chunk", .write = { 7 }, .length = 9, .handle = 7 },
	{ "a Reply chunk", .reply = 7, .length = 9, .handle = 7 },
	{ "the same handle everywhere", .call = 7, .read = { 7 }, .write = { 7, 7 }, .reply = 7,
	  .length = 9, .handle = 7 },
	{ "another one for the Position Zero chunk", .call = 8, .read = { 7 }, .write = { 7, 7 },
	  .reply = 7, .length = 9 },
	{ "another one for the Read chunk", .call = 7, .read = { 8 }, .length = 9 },
	{ "another one for the second Read chunk", .read = { 7, 8 }, .length = 9 },
	{ "another one for the second Write chunk", .write = { 7, 8 }, .length = 9 },
	{ "another one for the Reply chunk", .read = { 7 }, .reply = 8, .length = 9 },
	{ "another one in segments of zero length", .write = { 7 }, .reply = 8 },
};

KUNIT_ARRAY_PARAM_DESC(chunk_handle, chunk_handle_cases, desc);

static void chunk_put_array(struct rpcrdma_kunit *fx, u32 handle, u32 length)
{
	fx_words(fx, (const u32[]) { 1, 1 }, 2);
	fx_seg(fx, handle, length, 0);
}

/* Covers: V1-CRD-21 G-38 */
static void chunk_single_handle(struct kunit *test)
{
	const struct chunk_handle_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, offset = 0;

	if (param->call) {
		fx_words(fx, (const u32[]) { 1, 0 }, 2);
		fx_seg(fx, param->call, param->length, 0);
	}
	/* Two segments with the same position would form one chunk, so use different positions */
	for (i = 0; i < 2; i++) {
		if (!param->read[i])
			continue;
		fx_say(fx, 1, 8 + 4 * i);
		fx_seg(fx, param->read[i], param->length, 0);
	}
	fx_word(fx, 0);
	for (i = 0; i < 2; i++)
		if (param->write[i])
			chunk_put_array(fx, param->write[i], param->length);
	fx_word(fx, 0);
	if (param->reply)
		chunk_put_array(fx, param->reply, param->length);
	else
		fx_word(fx, 0);
	KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);

	KUNIT_EXPECT_EQ(test, rpcrdma_lists_single_handle(&fx->kf_lists),
			param->handle);
}

/* Offer three Write chunks: one of 100 bytes, one without segments, and one of 50 bytes. */
static void chunk_offer_writes(struct rpcrdma_kunit *fx)
{
	fx->kf_lists.ls_nwrites = 3;
	fx->kf_lists.ls_write[0].ck_nsegs = 2;
	fx->kf_lists.ls_write[0].ck_length = 100;
	fx->kf_lists.ls_write[1].ck_nsegs = 0;
	fx->kf_lists.ls_write[1].ck_length = 0;
	fx->kf_lists.ls_write[2].ck_nsegs = 1;
	fx->kf_lists.ls_write[2].ck_length = 50;
}

/* Covers: V1-WRC-02 V1-WRC-04 V1-WRC-12 V1-WRC-17 ULB-07 ULB-08 G-05 */
static void chunk_assign_in_order(struct kunit *test)
{
	struct rpcrdma_payload payloads[3] = {};
	struct rpcrdma_kunit *fx = test->priv;
	u32 used = 0;

	chunk_offer_writes(fx);

	/* A small result uses up the first chunk */
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 40, 3), 0);
	KUNIT_EXPECT_EQ(test, used, 1);
	/* The second chunk has no segments, so the second result stays in the stream */
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 60, 30), -ENOENT);
	KUNIT_EXPECT_EQ(test, used, 2);
	/* The third chunk is exactly large enough */
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 100, 50), 2);
	KUNIT_EXPECT_EQ(test, used, 3);
	/* There are no more chunks */
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 200, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, used, 3);

	KUNIT_EXPECT_EQ(test, payloads[0].py_offset, 40);
	KUNIT_EXPECT_EQ(test, payloads[0].py_length, 3);
	KUNIT_EXPECT_EQ(test, payloads[1].py_length, 0);
	KUNIT_EXPECT_EQ(test, payloads[2].py_offset, 100);
	KUNIT_EXPECT_EQ(test, payloads[2].py_length, 50);
}

/* Covers: V1-UNU-06 G-05 */
static void chunk_assign_nothing(struct kunit *test)
{
	struct rpcrdma_payload payloads[3] = {};
	struct rpcrdma_kunit *fx = test->priv;
	u32 used = 0;

	chunk_offer_writes(fx);
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 40, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, used, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 44, 100), 0);
	KUNIT_EXPECT_EQ(test, payloads[0].py_offset, 44);
}

/* Covers: V1-WRC-16 */
static void chunk_assign_too_much(struct kunit *test)
{
	struct rpcrdma_payload payloads[3] = {};
	struct rpcrdma_kunit *fx = test->priv;
	u32 used = 0;

	chunk_offer_writes(fx);
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 40, 101),
			-EMSGSIZE);
	KUNIT_EXPECT_EQ(test, used, 0);
	KUNIT_EXPECT_EQ(test, payloads[0].py_length, 0);
}

/* Write a Read list of @n chunks. Each has one segment. The handles are 7, 8, and so on. */
static void chunk_put_reads(struct rpcrdma_kunit *fx, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		fx_say(fx, 1, 8 + 4 * i);
		fx_seg(fx, 7 + i, 9, 0);
	}
	fx_word(fx, 0);
}

/* The buffer of a message is still mapped for the device after the message was decoded. Even if the
 * device changes the Read list then, a walk must not find more segments in a chunk than the decoder
 * did.
 * Covers: MEM-05
 */
static void chunk_grows_no_segments(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	u32 offset = 0;
	u8 *list;

	chunk_put_reads(fx, 3);
	fx_words(fx, (const u32[]) { 0, 0 }, 2);
	KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);

	/* Now all three segments have the position of the first */
	list = (u8 *)fx->kf_lists.ls_read[0].ck_segs;
	memcpy(list + 28, list + 4, 4);
	memcpy(list + 52, list + 4, 4);
	rpcrdma_chunk_first(&fx->kf_lists, &fx->kf_lists.ls_read[0], &iter);
	KUNIT_ASSERT_TRUE(test, rpcrdma_chunk_next(&iter, &seg));
	KUNIT_EXPECT_EQ(test, seg.rs_handle, 7);
	KUNIT_EXPECT_FALSE(test, rpcrdma_chunk_next(&iter, &seg));
	/* No segment has the position of the second chunk any more */
	rpcrdma_chunk_first(&fx->kf_lists, &fx->kf_lists.ls_read[1], &iter);
	KUNIT_EXPECT_FALSE(test, rpcrdma_chunk_next(&iter, &seg));
}

/* Only the handles of this Call count. Handles that an earlier Call has left in unused entries of
 * the lists do not count.
 * Covers: V1-CRD-21
 */
static void chunk_handles_behind_the_last(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, offset = 0;

	chunk_put_reads(fx, 2);
	for (i = 0; i < 2; i++)
		chunk_put_array(fx, 7 + i, 9);
	fx_words(fx, (const u32[]) { 0, 0 }, 2);
	KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);

	fx->kf_lists.ls_nreads = 1;
	fx->kf_lists.ls_nwrites = 1;
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_single_handle(&fx->kf_lists), 7);
}

#define GAPS_LEN	400u

/* Make random payloads (results that go to Write chunks). Set @gone[i] to 1 if byte i leaves the
 * stream, and to 0 if it stays. Returns the number of payloads.
 */
static u32 gaps_make(struct rpcrdma_kunit *fx, u8 *gone, u32 len,
		     struct rpcrdma_payload *payloads, u32 max)
{
	u32 i, n, at = 4 * fx_random(fx, 10);

	memset(gone, 0, GAPS_LEN);
	for (n = 0; n < max && at < len; n++) {
		payloads[n].py_offset = at;
		payloads[n].py_length = fx_random(fx, 40);
		if (at + payloads[n].py_length > len)
			payloads[n].py_length = len - at;
		for (i = 0; i < round_up(payloads[n].py_length, 4); i++)
			gone[at + i] = 1;
		at += i + 4 * fx_random(fx, 10);
	}
	return n;
}

/* Covers: V1-WPD-03 V1-CHK-11 V1-WRC-03 V1-RPL-10 */
static void chunk_gaps_are_what_is_left(struct kunit *test)
{
	u32 i, n, len, pos, end, offset, length, body, left, round;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_payload payloads[5];
	u8 *gone = fx->kf_buf;

	for (round = 0; round < 1000; round++) {
		len = fx_random(fx, GAPS_LEN - 4);
		n = gaps_make(fx, gone, len, payloads, ARRAY_SIZE(payloads));
		for (i = 0, left = 0; i < len; i++)
			left += !gone[i];

		pos = 0;
		end = 0;
		body = 0;
		while (rpcrdma_payload_gap_next(payloads, n, len, &pos, &offset,
						&length)) {
			KUNIT_ASSERT_GT(test, length, 0);
			/* The runs of bytes that stay are in order, and no two are adjacent */
			KUNIT_ASSERT_TRUE(test, offset > end || !end);
			KUNIT_ASSERT_LE(test, offset + length, len);
			for (i = offset; i < offset + length; i++)
				KUNIT_EXPECT_EQ(test, gone[i], 0);
			end = offset + length;
			body += length;
		}
		KUNIT_EXPECT_EQ(test, body, left);
		KUNIT_EXPECT_EQ(test, rpcrdma_payload_body_len(payloads, n,
							       len), left);
	}
}

/* Covers: V1-WPD-03 */
static void chunk_gap_after_an_odd_payload(struct kunit *test)
{
	static const struct rpcrdma_payload payloads[] = {
		{ .py_offset = 40, .py_length = 5 },
		{ .py_offset = 44, .py_length = 0 },
	};
	u32 pos = 0, offset, length;

	KUNIT_ASSERT_TRUE(test, rpcrdma_payload_gap_next(payloads, 2, 60, &pos,
							 &offset, &length));
	KUNIT_EXPECT_EQ(test, offset, 0);
	KUNIT_EXPECT_EQ(test, length, 40);
	KUNIT_ASSERT_TRUE(test, rpcrdma_payload_gap_next(payloads, 2, 60, &pos,
							 &offset, &length));
	KUNIT_EXPECT_EQ(test, offset, 48);
	KUNIT_EXPECT_EQ(test, length, 12);
	KUNIT_EXPECT_FALSE(test, rpcrdma_payload_gap_next(payloads, 2, 60, &pos,
							  &offset, &length));
}

/* The end of a payload is beyond 32 bits. Covers: V1-WPD-03 */
static void chunk_gap_before_the_last_payload(struct kunit *test)
{
	static const struct rpcrdma_payload payload = {
		.py_offset = U32_MAX - 15, .py_length = 32,
	};
	u32 pos = 0, offset, length;

	KUNIT_ASSERT_TRUE(test,
			  rpcrdma_payload_gap_next(&payload, 1, U32_MAX, &pos,
						   &offset, &length));
	KUNIT_EXPECT_EQ(test, offset, 0);
	KUNIT_EXPECT_EQ(test, length, U32_MAX - 15);
	KUNIT_EXPECT_FALSE(test,
			   rpcrdma_payload_gap_next(&payload, 1, U32_MAX, &pos,
						    &offset, &length));
}

/* The chunks that a Call offers and its Reply returns, and the expected result. The Call can offer
 * up to two Write chunks, with segments of { 1000, 1000 } and { 500 } bytes, and a Reply chunk with
 * segments of { 2000, 3 } bytes.
 */
struct chunk_back_case {
	const char		*desc;
	u32			offered_writes, nwrites;
	u32			nsegs[3];
	u32			lengths[3][3];
	u32			reply_nsegs;
	u32			reply_lengths[3];
	bool			offered_reply, has_reply;
	enum rpcrdma_verdict	verdict;
	u32			written[2];
	u32			reply_len;
};

static const struct chunk_back_case chunk_back_cases[] = {
	{ "nothing offered, nothing back" },
	{ "a Write list that was not offered", .nwrites = 1, .nsegs = { 1 }, .lengths = { { 1 } },
	  .verdict = RPCRDMA_BAD_COUNT },
	{ "a Reply chunk that was not offered", .has_reply = true, .reply_nsegs = 1,
	  .reply_lengths = { 1 }, .verdict = RPCRDMA_BAD_COUNT },
	{ "a Write list partly used", .offered_writes = 2, .nwrites = 2, .nsegs = { 2, 1 },
	  .lengths = { { 1000, 1 }, { 500 } }, .written = { 1001, 500 } },
	{ "a Write list that was not used", .offered_writes = 2, .nwrites = 2, .nsegs = { 2, 1 } },
	{ "lengths that were not touched", .offered_writes = 2, .nwrites = 2, .nsegs = { 2, 1 },
	  .lengths = { { 1000, 1000 }, { 500 } }, .written = { 2000, 500 } },
	{ "Write chunks that came back as empty arrays", .offered_writes = 2, .nwrites = 2 },
	{ "a Write list that did not come back", .offered_writes = 2 },
	{ "fewer Write chunks than offered", .offered_writes = 2, .nwrites = 1, .nsegs = { 2 },
	  .lengths = { { 1000, 1000 } }, .verdict = RPCRDMA_BAD_COUNT },
	{ "more Write chunks than offered", .offered_writes = 1, .nwrites = 2, .nsegs = { 2, 1 },
	  .verdict = RPCRDMA_BAD_COUNT },
	{ "fewer segments than offered", .offered_writes = 1, .nwrites = 1, .nsegs = { 1 },
	  .lengths = { { 10 } }, .verdict = RPCRDMA_BAD_COUNT },
	{ "more segments than offered", .offered_writes = 1, .nwrites = 1, .nsegs = { 3 },
	  .lengths = { { 10 } }, .verdict = RPCRDMA_BAD_COUNT },
	{ "a segment longer than offered", .offered_writes = 1, .nwrites = 1, .nsegs = { 2 },
	  .lengths = { { 1001, 0 } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a second segment longer than offered", .offered_writes = 1, .nwrites = 1,
	  .nsegs = { 2 }, .lengths = { { 1000, 1001 } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a second segment before the first is full", .offered_writes = 1, .nwrites = 1,
	  .nsegs = { 2 }, .lengths = { { 999, 1 } }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a second chunk before the first is full", .offered_writes = 2, .nwrites = 2,
	  .nsegs = { 2, 1 }, .lengths = { { 0, 0 }, { 7 } }, .written = { 0, 7 } },
	{ "a Write chunk of which the last segment is not full", .offered_writes = 2,
	  .nwrites = 2, .nsegs = { 2, 1 }, .lengths = { { 1000, 997 }, { 0 } },
	  .written = { 1997, 0 } },
	{ "a Reply chunk with roundup in its pad segment", .offered_reply = true,
	  .has_reply = true, .reply_nsegs = 2, .reply_lengths = { 2000, 3 }, .reply_len = 2003 },
	{ "a Reply chunk longer than offered", .offered_reply = true, .has_reply = true,
	  .reply_nsegs = 2, .reply_lengths = { 2000, 4 }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a Reply chunk of the highest length", .offered_reply = true, .has_reply = true,
	  .reply_nsegs = 2, .reply_lengths = { 0xffffffff, 0 }, .verdict = RPCRDMA_BAD_LENGTH },
	{ "a Reply chunk with another count", .offered_reply = true, .has_reply = true,
	  .reply_nsegs = 3, .reply_lengths = { 2000 }, .verdict = RPCRDMA_BAD_COUNT },
	{ "a Reply chunk that came back as an empty array", .offered_reply = true,
	  .has_reply = true },
	{ "a Reply chunk that did not come back", .offered_reply = true },
	{ "a Write list and a Reply chunk", .offered_writes = 2, .offered_reply = true,
	  .nwrites = 2, .nsegs = { 2, 1 }, .lengths = { { 1000, 1000 }, { 3 } },
	  .has_reply = true, .reply_nsegs = 2, .reply_lengths = { 9 }, .written = { 2000, 3 },
	  .reply_len = 9 },
};

KUNIT_ARRAY_PARAM_DESC(chunk_back, chunk_back_cases, desc);

static void chunk_put_back(struct rpcrdma_kunit *fx,
			   const struct chunk_back_case *param)
{
	u32 i, j;

	fx_word(fx, 0);
	for (i = 0; i < param->nwrites; i++) {
		fx_word(fx, 1);
		fx_word(fx, param->nsegs[i]);
		for (j = 0; j < param->nsegs[i]; j++)
			fx_seg(fx, 99, param->lengths[i][j], 99);
	}
	fx_word(fx, 0);
	fx_word(fx, param->has_reply);
	if (!param->has_reply)
		return;
	fx_word(fx, param->reply_nsegs);
	for (j = 0; j < param->reply_nsegs; j++)
		fx_seg(fx, 99, param->reply_lengths[j], 99);
}

/* Covers: V1-WRC-11 V1-WRC-13 V1-UNU-04 V1-RPL-07 V1-RPL-14 V1-WPD-07 G-05 G-35 */
static void chunk_check_reply(struct kunit *test)
{
	static const struct rpcrdma_segment segs[] = {
		{ 1, 1000, 0 },
		{ 2, 1000, 0 },
		{ 3, 500, 0 },
		{ 4, 2000, 0 },
		{ 5, 3, 0 },
	};
	static const struct rpcrdma_chunk_out writes[] = {
		{ .co_segs = segs, .co_nsegs = 2 },
		{ .co_segs = segs + 2, .co_nsegs = 1 },
	};
	static const struct rpcrdma_chunk_out reply = {
		.co_segs = segs + 3, .co_nsegs = 2,
	};
	const struct chunk_back_case *param = test->param_value;
	u32 offset = 0, reply_len = 77, written[2] = { 77, 77 };
	struct rpcrdma_kunit *fx = test->priv;
	u32 i;

	chunk_put_back(fx, param);
	KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);
	fx->kf_hdr.hd_lists = fx->kf_lists;

	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_reply(&fx->kf_hdr, writes,
							param->offered_writes,
							param->offered_reply ?
							&reply : NULL, written,
							&reply_len),
			param->verdict);
	if (param->verdict)
		return;
	for (i = 0; i < param->offered_writes; i++)
		KUNIT_EXPECT_EQ(test, written[i], param->written[i]);
	KUNIT_EXPECT_EQ(test, reply_len, param->reply_len);
}

#define CHUNK_GSS	6
#define CHUNK_UNIX	1

struct chunk_head_case {
	const char	*desc;
	u32		flavor, cred_len, service, verf_len, position, nreads;
	bool		keep;
};

/* The body has 400 bytes. Its head, the part in front of the Read chunk, may have up to 200. */
static const struct chunk_head_case chunk_head_cases[] = {
	{ "right behind the header", .nreads = 1, .flavor = CHUNK_UNIX, .cred_len = 20,
	  .verf_len = 8, .position = 24 + 8 + 20 + 8 + 8, .keep = true },
	{ "within the verifier", .nreads = 1, .flavor = CHUNK_UNIX, .cred_len = 20, .verf_len = 8,
	  .position = 24 + 8 + 20 + 8 + 4 },
	{ "before the verifier", .nreads = 1, .flavor = CHUNK_UNIX, .cred_len = 20,
	  .position = 24 + 8 + 20 + 4 },
	{ "before the credential", .nreads = 1, .position = 20 },
	{ "a credential and a verifier of nothing", .nreads = 1, .position = 40, .keep = true },
	{ "lengths are rounded up", .nreads = 1, .cred_len = 17, .verf_len = 1,
	  .position = 24 + 8 + 20 + 8 + 4, .keep = true },
	{ "a roundup is missing", .nreads = 1, .cred_len = 17, .verf_len = 1,
	  .position = 24 + 8 + 20 + 8 },
	{ "a credential longer than can be", .nreads = 1, .cred_len = U32_MAX, .position = 100 },
	{ "a verifier longer than can be", .nreads = 1, .verf_len = U32_MAX, .position = 100 },
	{ "the longest head", .nreads = 1, .position = 200, .keep = true },
	{ "a longer head", .nreads = 1, .position = 204 },
	{ "two chunks", .nreads = 2, .position = 100 },
	{ "no chunk", .position = 100 },
	{ "GSS without protection", .nreads = 1, .flavor = CHUNK_GSS, .cred_len = 24,
	  .service = 1, .position = 100, .keep = true },
	{ "GSS integrity", .nreads = 1, .flavor = CHUNK_GSS, .cred_len = 24, .service = 2,
	  .position = 100 },
	{ "GSS privacy", .nreads = 1, .flavor = CHUNK_GSS, .cred_len = 24, .service = 3,
	  .position = 100 },
	{ "another flavor is none of this", .nreads = 1, .flavor = CHUNK_UNIX, .cred_len = 24,
	  .service = 3, .position = 100, .keep = true },
	{ "the shortest GSS credential", .nreads = 1, .flavor = CHUNK_GSS, .cred_len = 16,
	  .service = 1, .position = 100, .keep = true },
	{ "a GSS credential too short for a service", .nreads = 1, .flavor = CHUNK_GSS,
	  .cred_len = 12, .position = 100 },
};

KUNIT_ARRAY_PARAM_DESC(chunk_head, chunk_head_cases, desc);

static void chunk_put_be32(u8 *to, u32 value)
{
	to[0] = value >> 24;
	to[1] = value >> 16;
	to[2] = value >> 8;
	to[3] = value;
}

/* Covers: G-27 */
static void chunk_keep_head(struct kunit *test)
{
	const struct chunk_head_case *param = test->param_value;
	struct rpcrdma_lists lists = { .ls_nreads = param->nreads };
	u32 verf = 32 + DIV_ROUND_UP(param->cred_len, 4) * 4;
	u8 *msg = kunit_kzalloc(test, 400, GFP_KERNEL);
	u8 *brief;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	lists.ls_read[0].ck_position = param->position;
	chunk_put_be32(msg + 24, param->flavor);
	chunk_put_be32(msg + 28, param->cred_len);
	if (param->cred_len < 300) {
		chunk_put_be32(msg + 32 + 12, param->service);
		chunk_put_be32(msg + verf + 4, param->verf_len);
	}
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_keep_head(&lists, msg, 400, 200),
			param->keep);
	/* A body of 36 bytes ends inside the RPC header, so it must not stay where it was received.
	 * The copy has just these bytes, so KASAN notices a read beyond them.
	 */
	brief = kunit_kzalloc(test, 36, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, brief);
	memcpy(brief, msg, 36);
	KUNIT_EXPECT_FALSE(test,
			   rpcrdma_lists_keep_head(&lists, brief, 36, 200));
}

static struct kunit_case chunk_cases[] = {
	KUNIT_CASE_PARAM(chunk_keep_head, chunk_head_gen_params),
	KUNIT_CASE_PARAM(chunk_check_call, chunk_call_gen_params),
	KUNIT_CASE(chunk_parts_rebuild_the_stream),
	KUNIT_CASE(chunk_parts_of_item),
	KUNIT_CASE(chunk_item_beyond_32_bits),
	KUNIT_CASE(chunk_parts_of_unsound_lists),
	KUNIT_CASE_PARAM(chunk_single_handle, chunk_handle_gen_params),
	KUNIT_CASE(chunk_handles_behind_the_last),
	KUNIT_CASE(chunk_grows_no_segments),
	KUNIT_CASE(chunk_assign_in_order),
	KUNIT_CASE(chunk_assign_nothing),
	KUNIT_CASE(chunk_assign_too_much),
	KUNIT_CASE(chunk_gaps_are_what_is_left),
	KUNIT_CASE(chunk_gap_after_an_odd_payload),
	KUNIT_CASE(chunk_gap_before_the_last_payload),
	KUNIT_CASE_PARAM(chunk_check_reply, chunk_back_gen_params),
	{}
};

static struct kunit_suite rpcrdma_chunk_suite = {
	.name = "rpcrdma_chunk",
	.init = fx_init,
	.test_cases = chunk_cases,
};

kunit_test_suite(rpcrdma_chunk_suite);
