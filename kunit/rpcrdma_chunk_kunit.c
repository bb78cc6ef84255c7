// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/chunk.c: for example, whether chunk lists are valid, and which bytes of a
 * message are in a chunk. chunk.c explains the terms "unreduced stream" and "body".
 */

#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rpcrdma/chunk.h>

#include "rpcrdma_kunit.h"

/* A Read chunk. It does not exist if both members are 0. */
struct chunk_reads {
	u32	position, length;
};

struct chunk_call_case {
	const char		*desc;
	u32			body_len, max_len;
	enum rpcrdma_verdict	verdict;
	u32			stream_len;
	struct chunk_reads	reads[3];
};

static const struct chunk_call_case chunk_call_cases[] = {
	{ "no chunks", 40, 40, RPCRDMA_OK, 40 },
	{ "no chunks, and a body that is too long", 41, 40, RPCRDMA_BAD_LENGTH },
	{ "a chunk in the middle", 40, 1000, RPCRDMA_OK, 140, { { 8, 100 } } },
	{ "a chunk at the very end", 40, 1000, RPCRDMA_OK, 140, { { 40, 100 } } },
	{ "a chunk at the end of a body of odd length", 43, 1000, RPCRDMA_OK, 143,
	  { { 40, 100 } } },
	{ "a chunk one unit past the end", 40, 1000, RPCRDMA_BAD_POSITION, 0, { { 44, 100 } } },
	{ "a chunk without its roundup gets it", 40, 1000, RPCRDMA_OK, 144, { { 40, 101 } } },
	{ "a chunk behind another and its roundup", 40, 1000, RPCRDMA_OK, 168,
	  { { 40, 101 }, { 144, 24 } } },
	{ "a chunk on top of the roundup before it", 40, 1000, RPCRDMA_BAD_POSITION, 0,
	  { { 40, 101 }, { 140, 24 } } },
	{ "a chunk that begins inside another", 40, 1000, RPCRDMA_BAD_POSITION, 0,
	  { { 8, 100 }, { 12, 4 } } },
	{ "chunks with all of the body in between", 40, 1000, RPCRDMA_OK, 60,
	  { { 0, 4 }, { 44, 8 }, { 52, 8 } } },
	{ "chunks with more in between than the body has", 40, 1000, RPCRDMA_BAD_POSITION, 0,
	  { { 4, 4 }, { 44, 8 }, { 56, 8 } } },
	{ "a position that is not aligned", 40, 1000, RPCRDMA_BAD_POSITION, 0, { { 38, 4 } } },
	{ "an empty chunk", 40, 1000, RPCRDMA_OK, 40, { { 20, 0 } } },
	{ "an empty chunk past the end", 40, 1000, RPCRDMA_BAD_POSITION, 0, { { 44, 0 } } },
	{ "as much as is accepted", 40, 144, RPCRDMA_OK, 144, { { 40, 101 } } },
	{ "more than is accepted, but for the roundup", 40, 143, RPCRDMA_BAD_LENGTH, 0,
	  { { 40, 101 } } },
	{ "a chunk of almost four gigabytes", 40, 0x400000, RPCRDMA_BAD_LENGTH, 0,
	  { { 40, 0xfffffff0 } } },
	{ "a roundup past four gigabytes", 0, U32_MAX, RPCRDMA_BAD_LENGTH, 0,
	  { { 0, 0xffffffff } } },
	{ "chunks that add up past four gigabytes", 40, U32_MAX, RPCRDMA_BAD_LENGTH, 0,
	  { { 8, 0x80000000 }, { 0x80000008, 0x80000000 } } },
	{ "a chunk of which the end is past four gigabytes", 40, U32_MAX, RPCRDMA_BAD_POSITION, 0,
	  { { 8, 0xfffffffc }, { 12, 4 } } },
	{ "the highest position", 40, U32_MAX, RPCRDMA_BAD_POSITION, 0, { { 0xfffffffc, 4 } } },
};

KUNIT_ARRAY_PARAM_DESC(chunk_call, chunk_call_cases, desc);

static void chunk_set_reads(struct rpcrdma_lists *lists,
			    const struct chunk_reads *reads)
{
	u32 i;

	/* What lies behind the last chunk must not be used */
	memset(lists->ls_read, 0xee, sizeof(lists->ls_read));
	for (i = 0; i < 3 && (reads[i].position || reads[i].length); i++) {
		lists->ls_read[i].ck_position = reads[i].position;
		lists->ls_read[i].ck_length = reads[i].length;
		lists->ls_read[i].ck_nsegs = 1;
	}
	lists->ls_nreads = i;
}

/* Covers: V1-RDC-02 V1-RDC-03 V1-RDC-10 V1-RDC-16 V1-RDC-17 V1-RDC-18 V1-RDC-19 V1-CHK-14
 * Covers: V1-PZC-11 G-04
 */
static void chunk_check_call(struct kunit *test)
{
	const struct chunk_call_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	u32 stream_len = 0;

	chunk_set_reads(&fx->kf_lists, param->reads);
	KUNIT_EXPECT_EQ(test,
			rpcrdma_lists_check_call(&fx->kf_lists, NULL,
						 param->body_len,
						 param->max_len, &stream_len),
			param->verdict);
	KUNIT_EXPECT_EQ(test, stream_len, param->stream_len);
}

/* A part of a Call: of the body, a Read chunk or the item. If the length is 0, there is none. */
struct chunk_part {
	enum { BODY, CHUNK, ITEM } of;
	u32 offset, length, pad;
};

struct chunk_parts_case {
	const char		*desc;
	u32			body_len;
	struct chunk_reads	reads[3];
	struct rpcrdma2_item	item;
	struct chunk_part	parts[6];
	bool			unsound;
};

static const struct chunk_parts_case chunk_parts_cases[] = {
	{ "no chunks", 40, { }, { }, { { BODY, 0, 40, 0 } } },
	{ "no body", 0, { { 0, 8 } }, { }, { { CHUNK, 0, 8, 0 } } },
	{ "a chunk in the middle", 40, { { 8, 100 } }, { },
	  { { BODY, 0, 8, 0 }, { CHUNK, 0, 100, 0 }, { BODY, 8, 32, 0 } } },
	{ "a chunk in front, and one at the end, without roundup", 40, { { 0, 5 }, { 48, 7 } },
	  { }, { { CHUNK, 0, 5, 3 }, { BODY, 0, 40, 0 }, { CHUNK, 0, 7, 1 } } },
	{ "a chunk behind another, and an empty one", 8, { { 4, 6 }, { 12, 0 }, { 12, 4 } }, { },
	  { { BODY, 0, 4, 0 }, { CHUNK, 0, 6, 2 }, { CHUNK, 0, 4, 0 }, { BODY, 4, 4, 0 } } },
	{ "an item in the middle", 40, { }, { 8, 101 },
	  { { BODY, 0, 8, 0 }, { ITEM, 0, 101, 3 }, { BODY, 8, 32, 0 } } },
	{ "an item between chunks", 20, { { 8, 4 }, { 24, 4 } }, { 16, 6 },
	  { { BODY, 0, 8, 0 }, { CHUNK, 0, 4, 0 }, { BODY, 8, 4, 0 }, { ITEM, 0, 6,
									2 }, { CHUNK, 0, 4,
									       0 }, { BODY, 12, 8,
										      0 } } },
	{ "an item at the position of an empty chunk", 12, { { 8, 0 } }, { 8, 4 },
	  { { BODY, 0, 8, 0 }, { ITEM, 0, 4, 0 }, { BODY, 8, 4, 0 } } },
	{ "an item of no bytes is none", 40, { }, { 8, 0 }, { { BODY, 0, 40, 0 } } },
	{ "a chunk past the end, not checked", 40, { { 100, 8 } }, { },
	  { { BODY, 0, 40, 0 }, { CHUNK, 0, 8, 0 } }, true },
	{ "chunks in wrong order, not checked", 40, { { 20, 8 }, { 4, 8 } }, { },
	  { { BODY, 0, 20, 0 }, { CHUNK, 0, 8, 0 }, { CHUNK, 0, 8, 0 }, { BODY, 20, 20, 0 } },
	  true },
};

KUNIT_ARRAY_PARAM_DESC(chunk_parts, chunk_parts_cases, desc);

/* The parts are in order, and contain each byte of the body once, even if the lists were not
 * checked. The stream of checked lists is as long as the parts with their roundup.
 * Covers: V1-RDC-02 V1-RDC-10 V1-RDC-16 V1-RDC-17 V1-RDC-19 V1-PZC-13 V1-CHK-11 G-04 G-34 RTX-53
 * Covers: RTX-54
 */
static void chunk_divides_calls(struct kunit *test)
{
	const struct chunk_parts_case *param = test->param_value;
	const struct rpcrdma2_item *item = param->item.im_position ?
		&param->item : NULL;
	const struct chunk_part *want = param->parts;
	struct rpcrdma_kunit *fx = test->priv;
	u32 chunks = 0, total = 0, stream = 0;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;

	memset(&iter, 0xff, sizeof(iter));
	chunk_set_reads(&fx->kf_lists, param->reads);
	/* The Call does not have this one */
	fx->kf_lists.ls_read[fx->kf_lists.ls_nreads].ck_position = 4;
	fx->kf_lists.ls_read[fx->kf_lists.ls_nreads].ck_length = 4;
	rpcrdma_part_first(&fx->kf_lists, item, param->body_len, &iter);
	for (; rpcrdma_part_next(&iter, &part); want++) {
		KUNIT_ASSERT_LT(test, want - param->parts,
				ARRAY_SIZE(param->parts));
		KUNIT_EXPECT_EQ(test, !!part.pt_chunk, want->of == CHUNK);
		KUNIT_EXPECT_EQ(test, !!part.pt_item, want->of == ITEM);
		KUNIT_EXPECT_EQ(test, part.pt_offset, want->offset);
		KUNIT_EXPECT_EQ(test, part.pt_length, want->length);
		KUNIT_EXPECT_EQ(test, part.pt_pad, want->pad);
		while (part.pt_chunk && !fx->kf_lists.ls_read[chunks].ck_length)
			chunks++;
		if (part.pt_chunk)
			KUNIT_EXPECT_TRUE(test, part.pt_chunk ==
					  &fx->kf_lists.ls_read[chunks++]);
		total += part.pt_length + part.pt_pad;
	}
	KUNIT_EXPECT_TRUE(test, want == param->parts +
			  ARRAY_SIZE(param->parts) || !want->length);
	if (param->unsound)
		return;
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&fx->kf_lists, item,
						       param->body_len, total,
						       &stream), RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, stream, total);
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&fx->kf_lists, item,
						       param->body_len,
						       total - 1, &stream),
			RPCRDMA_BAD_LENGTH);
}

/* Covers: RTX-54 */
static void chunk_item_beyond_32_bits(struct kunit *test)
{
	static const struct rpcrdma2_item item = { 8, U32_MAX };
	static const struct rpcrdma_lists lists;
	u32 stream = 1;

	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&lists, &item, 20,
						       U32_MAX, &stream),
			RPCRDMA_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rpcrdma_lists_check_call(&lists, &item, 8,
						       U32_MAX, &stream),
			RPCRDMA_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, stream, 1);
}

/* The segments of two chunks alternate in the Read list, and the later chunk comes first.
 * Covers: V1-RDC-05 V1-RDC-07 V1-RDC-11
 */
static void chunk_segments_in_order(struct kunit *test)
{
	static const u32 list[][3] = {
		/* position, handle, length */
		{ 20, 21, 7 }, { 8, 11, 3 }, { 20, 22, 0 }, { 8, 12, 5 }, { 20, 23, 9 },
	};
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_segment segs[4];
	u32 i, j, n;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		fx_say(fx, 1, list[i][0]);
		fx_seg(fx, list[i][1], list[i][2], 0);
	}
	fx_say(fx, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);
	KUNIT_ASSERT_EQ(test, fx->kf_lists.ls_nreads, 2);
	for (i = 0; i < 2; i++) {
		const struct rpcrdma_chunk *chunk = &fx->kf_lists.ls_read[i];

		KUNIT_EXPECT_EQ(test, chunk->ck_position, i ? 20 : 8);
		KUNIT_EXPECT_EQ(test, chunk->ck_length, i ? 16 : 8);
		n = fx_segs(&fx->kf_lists, chunk, segs, ARRAY_SIZE(segs));
		KUNIT_ASSERT_EQ(test, n, i ? 3 : 2);
		for (j = 0; j < n; j++)
			KUNIT_EXPECT_EQ(test, segs[j].rs_handle,
					10 * (i + 1) + j + 1);
	}
}

struct chunk_handle_case {
	const char	*desc;
	u32		call, read[2], write[2], reply, length, handle;
};

/* The members call, read, write and reply have the handles of chunks with one segment each. If such
 * a handle is 0, its chunk does not exist. The member length is the length of each segment, and the
 * member handle is the expected result.
 */
static const struct chunk_handle_case chunk_handle_cases[] = {
	{ "no chunks" },
	{ "a Position Zero chunk", 7, { }, { }, 0, 9, 7 },
	{ "a Read chunk", 0, { 7 }, { }, 0, 9, 7 },
	{ "a Write chunk", 0, { }, { 7 }, 0, 9, 7 },
	{ "a Reply chunk", 0, { }, { }, 7, 9, 7 },
	{ "the same handle everywhere", 7, { 7 }, { 7, 7 }, 7, 9, 7 },
	{ "another one for the Position Zero chunk", 8, { 7 }, { 7, 7 }, 7, 9 },
	{ "another one for the Read chunk", 7, { 8 }, { }, 0, 9 },
	{ "another one for the second Read chunk", 0, { 7, 8 }, { }, 0, 9 },
	{ "another one for the second Write chunk", 0, { }, { 7, 8 }, 0, 9 },
	{ "another one for the Reply chunk", 0, { 7 }, { }, 8, 9 },
	{ "another one in segments of zero length", 0, { }, { 7 }, 8 },
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
	u32 i;

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
	KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);

	KUNIT_EXPECT_EQ(test, rpcrdma_lists_single_handle(&fx->kf_lists),
			param->handle);
}

struct chunk_assign_case {
	const char	*desc;
	u32		used, length;	/* chunks used before, and length of the result */
	int		chunk;		/* the chunk that it goes to, or an error */
	u32		left;		/* chunks used then */
};

/* The Call offers a Write chunk of 100 bytes, one without segments, and one of 50 bytes. */
static const struct chunk_assign_case chunk_assign_cases[] = {
	{ "a small result uses up the first chunk", 0, 3, 0, 1 },
	{ "a chunk without segments: the result stays in the stream", 1, 30, -ENOENT, 2 },
	{ "a chunk that is exactly large enough", 2, 50, 2, 3 },
	{ "no more chunks", 3, 1, -ENOENT, 3 },
	{ "a result of no bytes uses no chunk", 0, 0, -ENOENT, 0 },
	{ "all of the first chunk", 0, 100, 0, 1 },
	{ "a byte too many", 0, 101, -EMSGSIZE, 0 },
};

KUNIT_ARRAY_PARAM_DESC(chunk_assign, chunk_assign_cases, desc);

/* Covers: V1-WRC-02 V1-WRC-04 V1-WRC-12 V1-WRC-16 V1-WRC-17 V1-UNU-06 ULB-07 ULB-08 G-05 */
static void chunk_assign(struct kunit *test)
{
	const struct chunk_assign_case *param = test->param_value;
	struct rpcrdma_payload payloads[3] = {};
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, used = param->used;

	fx->kf_lists.ls_nwrites = 3;
	fx->kf_lists.ls_write[0].ck_nsegs = 2;
	fx->kf_lists.ls_write[0].ck_length = 100;
	fx->kf_lists.ls_write[2].ck_nsegs = 1;
	fx->kf_lists.ls_write[2].ck_length = 50;
	KUNIT_EXPECT_EQ(test, rpcrdma_payload_assign(&fx->kf_lists, payloads,
						     &used, 40, param->length),
			param->chunk);
	KUNIT_EXPECT_EQ(test, used, param->left);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, payloads[i].py_offset,
				i == param->chunk ? 40 : 0);
		KUNIT_EXPECT_EQ(test, payloads[i].py_length,
				i == param->chunk ? param->length : 0);
	}
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
	u8 *list;

	chunk_put_reads(fx, 3);
	fx_words(fx, (const u32[]) { 0, 0 }, 2);
	KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);

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
	u32 reply_len = 77, written[2] = { 77, 77 };
	struct rpcrdma_kunit *fx = test->priv;
	u32 i;

	chunk_put_back(fx, param);
	KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);
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
	{ "right behind the header", CHUNK_UNIX, 20, 0, 8, 24 + 8 + 20 + 8 + 8, 1, true },
	{ "within the verifier", CHUNK_UNIX, 20, 0, 8, 24 + 8 + 20 + 8 + 4, 1 },
	{ "before the verifier", CHUNK_UNIX, 20, 0, 0, 24 + 8 + 20 + 4, 1 },
	{ "before the credential", 0, 0, 0, 0, 20, 1 },
	{ "a credential and a verifier of nothing", 0, 0, 0, 0, 40, 1, true },
	{ "lengths are rounded up", 0, 17, 0, 1, 24 + 8 + 20 + 8 + 4, 1, true },
	{ "a roundup is missing", 0, 17, 0, 1, 24 + 8 + 20 + 8, 1 },
	{ "a credential longer than can be", 0, U32_MAX, 0, 0, 100, 1 },
	{ "a verifier longer than can be", 0, 0, 0, U32_MAX, 100, 1 },
	{ "the longest head", 0, 0, 0, 0, 200, 1, true },
	{ "a longer head", 0, 0, 0, 0, 204, 1 },
	{ "two chunks", 0, 0, 0, 0, 100, 2 },
	{ "no chunk", 0, 0, 0, 0, 100 },
	{ "GSS without protection", CHUNK_GSS, 24, 1, 0, 100, 1, true },
	{ "GSS integrity", CHUNK_GSS, 24, 2, 0, 100, 1 },
	{ "GSS privacy", CHUNK_GSS, 24, 3, 0, 100, 1 },
	{ "another flavor is none of this", CHUNK_UNIX, 24, 3, 0, 100, 1, true },
	{ "the shortest GSS credential", CHUNK_GSS, 16, 1, 0, 100, 1, true },
	{ "a GSS credential too short for a service", CHUNK_GSS, 12, 0, 0, 100, 1 },
};

KUNIT_ARRAY_PARAM_DESC(chunk_head, chunk_head_cases, desc);

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
	put_unaligned_be32(param->flavor, msg + 24);
	put_unaligned_be32(param->cred_len, msg + 28);
	if (param->cred_len < 300) {
		put_unaligned_be32(param->service, msg + 32 + 12);
		put_unaligned_be32(param->verf_len, msg + verf + 4);
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
	KUNIT_CASE_PARAM(chunk_divides_calls, chunk_parts_gen_params),
	KUNIT_CASE(chunk_item_beyond_32_bits),
	KUNIT_CASE(chunk_segments_in_order),
	KUNIT_CASE_PARAM(chunk_single_handle, chunk_handle_gen_params),
	KUNIT_CASE(chunk_handles_behind_the_last),
	KUNIT_CASE(chunk_grows_no_segments),
	KUNIT_CASE_PARAM(chunk_assign, chunk_assign_gen_params),
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
