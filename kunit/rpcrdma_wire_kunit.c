// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/lists.c: the version word, chunk lists and segments. They have the same
 * form in all versions.
 */

#include <linux/limits.h>
#include <linux/unaligned.h>

#include "rpcrdma_kunit.h"

/* Values of a presence word, which says whether a list entry or the Reply chunk follows */
#define NONE	0u
#define MORE	1u

static void wire_put_read(struct rpcrdma_kunit *fx, u32 position, u32 handle,
			  u32 length, u64 offset)
{
	fx_word(fx, MORE);
	fx_word(fx, position);
	fx_seg(fx, handle, length, offset);
}

/* Add a Write chunk or a Reply chunk of @nsegs segments to the message. The segment count of the
 * chunk is @count, which may be wrong.
 */
static void wire_put_array(struct rpcrdma_kunit *fx, u32 count, u32 nsegs,
			   u32 length)
{
	u32 i;

	fx_word(fx, MORE);
	fx_word(fx, count);
	for (i = 0; i < nsegs; i++)
		fx_seg(fx, 0x2000 + i, length, 0x10000u * i);
}

/* Covers: G-10 */
static void wire_peek_needs_sixteen_bytes(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_ERR_VERS_V3];
	struct rpcrdma_kunit *fx = test->priv;
	u32 len, vers;
	bool seen;

	for (len = 0; len <= 17; len++) {
		vers = 0;
		seen = rpcrdma_wire_peek_vers(fx_exact(fx, vec->ve_data, len),
					      len, &vers);
		KUNIT_EXPECT_EQ(test, seen, len >= 16);
		KUNIT_EXPECT_EQ(test, vers, len >= 16 ? 3 : 0);
	}
}

/* Covers: G-39 */
static void wire_sets_the_credit_value(struct kunit *test)
{
	static const u8 changed[] = { 1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 1, 2, 5 };
	u8 msg[] = { 1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 9, 5 };

	KUNIT_EXPECT_FALSE(test, rpcrdma_wire_set_credit(msg, 9));
	KUNIT_EXPECT_TRUE(test, rpcrdma_wire_set_credit(msg, 258));
	KUNIT_EXPECT_MEMEQ(test, msg, changed, sizeof(msg));
	KUNIT_EXPECT_FALSE(test, rpcrdma_wire_set_credit(msg, 258));
}

/* Covers: V1-HDR-10 V1-HDR-11 V1-HDR-12 V1-HDR-13 V1-HDR-14 V1-HDR-15 */
static void wire_all_presence_combinations(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_lists *lists = &fx->kf_lists;
	struct rpcrdma_segment seg;
	u32 i, offset;

	for (i = 0; i < 8; i++) {
		bool read = i & 1, write = i & 2, reply = i & 4;

		fx_clear(fx);
		if (read)
			wire_put_read(fx, 80, 7, 100, 0x123456789aull);
		fx_word(fx, NONE);
		if (write)
			wire_put_array(fx, 2, 2, 200);
		fx_word(fx, NONE);
		if (reply)
			wire_put_array(fx, 3, 3, 300);
		else
			fx_word(fx, NONE);

		offset = 0;
		KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);

		KUNIT_EXPECT_EQ(test, offset, 12 + 24 * read +
				(8 + 2 * 16) * write + (4 + 3 * 16) * reply);
		KUNIT_EXPECT_EQ(test, offset, fx->kf_len);
		KUNIT_EXPECT_EQ(test, lists->ls_call.ck_nsegs, 0);
		KUNIT_EXPECT_EQ(test, lists->ls_nreads, read);
		KUNIT_EXPECT_EQ(test, lists->ls_nwrites, write);
		KUNIT_EXPECT_EQ(test, lists->ls_has_reply, reply);
		if (read) {
			KUNIT_EXPECT_EQ(test, lists->ls_read[0].ck_position,
					80);
			KUNIT_EXPECT_EQ(test, lists->ls_read[0].ck_length, 100);
			KUNIT_ASSERT_EQ(test, fx_segs(lists, lists->ls_read,
						      &seg, 1), 1);
			KUNIT_EXPECT_EQ(test, seg.rs_handle, 7);
			KUNIT_EXPECT_EQ(test, seg.rs_length, 100);
			KUNIT_EXPECT_EQ(test, seg.rs_offset, 0x123456789aull);
		}
		if (write)
			KUNIT_EXPECT_EQ(test, lists->ls_write[0].ck_length,
					2 * 200);
		if (reply)
			KUNIT_EXPECT_EQ(test, lists->ls_reply.ck_length,
					3 * 300);
	}
}

/* Build lists with one Read chunk, one Write chunk and a Reply chunk, each of one segment. */
static void wire_put_one_each(struct rpcrdma_kunit *fx)
{
	fx_clear(fx);
	wire_put_read(fx, 4, 1, 2, 3);
	fx_word(fx, NONE);
	wire_put_array(fx, 1, 1, 1);
	fx_word(fx, NONE);
	wire_put_array(fx, 1, 1, 1);
}

/* Covers: V1-HDR-22 */
static void wire_presence_is_zero_or_one(struct kunit *test)
{
	/* Offsets of the presence words that wire_put_one_each() writes */
	static const u32 at[] = { 0, 24, 28, 52, 56 };
	static const u32 words[] = { 2, 0x100, 0x01000000, 0xffffffff };
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		for (j = 0; j < ARRAY_SIZE(words); j++) {
			wire_put_one_each(fx);
			KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);

			put_unaligned_be32(words[j], fx->kf_buf + at[i]);
			KUNIT_EXPECT_EQ(test, fx_lists(fx), RPCRDMA_BAD_LIST);
		}
	}
}

/* Covers: V1-HDR-23 */
static void wire_truncated_lists(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 len;

	wire_put_one_each(fx);
	for (len = fx->kf_len; len-- > 0;) {
		fx->kf_len = len;
		KUNIT_EXPECT_EQ_MSG(test, fx_lists(fx), RPCRDMA_BAD_LIST,
				    "of %u bytes", len);
	}
}

/* Covers: V1-HDR-23 */
static void wire_lists_begin_behind_the_end(struct kunit *test)
{
	static const u32 beyond[] = { 13, 16, 0x80000000, 0xffffffff };
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, offset;

	fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		offset = beyond[i];
		KUNIT_EXPECT_EQ(test, fx_decode_lists(fx, &offset),
				RPCRDMA_BAD_LIST);
	}
}

struct wire_count_case {
	const char		*desc;
	u32			count, present;
	enum rpcrdma_verdict	verdict;
};

static const struct wire_count_case wire_count_cases[] = {
	{ "no segments pass", 0, 0, RPCRDMA_OK },
	{ "one segment passes", 1, 1, RPCRDMA_OK },
	{ "sixteen segments pass", 16, 16, RPCRDMA_OK },
	{ "as many segments as are accepted pass", 64, 64, RPCRDMA_OK },
	{ "one segment more than is accepted", 65, 65, RPCRDMA_MANY_SEGS },
	{ "a count that is one too high", 4, 3, RPCRDMA_BAD_LIST },
	{ "a count of one with nothing behind it", 1, 0, RPCRDMA_BAD_LIST },
	{ "a count whose bytes overflow 32 bits", 0x10000000, 1, RPCRDMA_BAD_LIST },
	{ "the highest count there is", 0xffffffff, 1, RPCRDMA_BAD_LIST },
};

KUNIT_ARRAY_PARAM_DESC(wire_count, wire_count_cases, desc);

/* Covers: V1-CHK-14 V1-CHK-15 V1-WRC-17 G-32 ULB-19 */
static void wire_segment_counts(struct kunit *test)
{
	const struct wire_count_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	bool enough = param->present >= param->count;
	u32 offset = 0;

	/* First the array is a Write chunk. It may have fewer segments than its count says */
	fx_word(fx, NONE);
	wire_put_array(fx, param->count, param->present, 1);
	if (enough)
		fx_words(fx, (const u32[]) { 0, 0 }, 2);
	KUNIT_EXPECT_EQ(test, fx_decode_lists(fx, &offset), param->verdict);
	if (!param->verdict)
		KUNIT_EXPECT_EQ(test, fx->kf_lists.ls_write[0].ck_nsegs,
				param->count);

	/* Then the array is the Reply chunk */
	offset = 0;
	fx_clear(fx);
	fx_words(fx, (const u32[]) { 0, 0 }, 2);
	wire_put_array(fx, param->count, param->present, 1);
	KUNIT_EXPECT_EQ(test, fx_decode_lists(fx, &offset), param->verdict);
	if (!param->verdict)
		KUNIT_EXPECT_EQ(test, fx->kf_lists.ls_reply.ck_nsegs,
				param->count);
}

/* Covers: V1-CHK-15 G-32 ULB-19 */
static void wire_read_segment_limit(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, n;

	for (n = 63; n <= 66; n++) {
		fx_clear(fx);
		for (i = 0; i < n; i++)
			wire_put_read(fx, 40, i, 1, 0);
		fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
		KUNIT_EXPECT_EQ(test, fx_lists(fx),
				n <= 64 ? RPCRDMA_OK : RPCRDMA_MANY_SEGS);
	}
}

/* Covers: V1-CHK-15 V1-RDC-16 G-32 */
static void wire_chunk_limit(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict;
	u32 i, n, first;

	for (n = 15; n <= 18; n++) {
		verdict = n <= 16 ? RPCRDMA_OK : RPCRDMA_MANY_READS;

		/* Read chunks, with and without a Position Zero chunk */
		for (first = 0; first < 2; first++) {
			fx_clear(fx);
			for (i = 0; i < n; i++)
				wire_put_read(fx, 4 * (first + i), 1, 1, 0);
			fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
			KUNIT_EXPECT_EQ(test, fx_lists(fx), verdict);
		}

		verdict = n <= 16 ? RPCRDMA_OK : RPCRDMA_MANY_WRITES;
		fx_clear(fx);
		fx_word(fx, NONE);
		for (i = 0; i < n; i++)
			wire_put_array(fx, 1, 1, 1);
		fx_words(fx, (const u32[]) { 0, 0 }, 2);
		KUNIT_EXPECT_EQ(test, fx_lists(fx), verdict);
	}
}

/* Covers: V1-CHK-14 */
static void wire_lengths_must_not_overflow(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict;
	u32 over;

	for (over = 0; over < 2; over++) {
		verdict = over ? RPCRDMA_BAD_LENGTH : RPCRDMA_OK;

		fx_clear(fx);
		wire_put_read(fx, 8, 1, 0xfffffff0, 0);
		wire_put_read(fx, 8, 1, 0xf + over, 0);
		fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
		KUNIT_EXPECT_EQ(test, fx_lists(fx), verdict);

		fx_clear(fx);
		fx_words(fx, (const u32[]) { 0, 1, 2 }, 3);
		fx_seg(fx, 1, 0x80000000 - 1 + over, 0);
		fx_seg(fx, 1, 0x80000000, 0);
		fx_words(fx, (const u32[]) { 0, 0 }, 2);
		KUNIT_EXPECT_EQ(test, fx_lists(fx), verdict);

		fx_clear(fx);
		fx_words(fx, (const u32[]) { 0, 0, 1, 2 }, 4);
		fx_seg(fx, 1, 0xffffffff, 0);
		fx_seg(fx, 1, over, 0);
		KUNIT_EXPECT_EQ(test, fx_lists(fx), verdict);
	}
}

/* Covers: V1-RDC-19 G-05 */
static void wire_empty_pieces_pass(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_lists *lists = &fx->kf_lists;

	wire_put_read(fx, 8, 1, 0, 0);
	wire_put_read(fx, 8, 1, 5, 0);
	wire_put_read(fx, 8, 1, 0, 0);
	fx_word(fx, NONE);
	wire_put_array(fx, 0, 0, 0);
	wire_put_array(fx, 1, 1, 0);
	fx_word(fx, NONE);
	wire_put_array(fx, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);

	KUNIT_EXPECT_EQ(test, lists->ls_nreads, 1);
	KUNIT_EXPECT_EQ(test, lists->ls_read[0].ck_nsegs, 3);
	KUNIT_EXPECT_EQ(test, lists->ls_read[0].ck_length, 5);
	KUNIT_EXPECT_EQ(test, lists->ls_nwrites, 2);
	KUNIT_EXPECT_EQ(test, lists->ls_write[0].ck_nsegs, 0);
	KUNIT_EXPECT_EQ(test, lists->ls_write[1].ck_nsegs, 1);
	KUNIT_EXPECT_EQ(test, lists->ls_write[1].ck_length, 0);
	KUNIT_EXPECT_TRUE(test, lists->ls_has_reply);
	KUNIT_EXPECT_EQ(test, lists->ls_reply.ck_nsegs, 0);
}

#define SHUFFLE_CHUNKS	8u
#define SHUFFLE_SEGS	40u

/* Whatever the order of the Read list, a chunk has all segments with its position, in the order of
 * the list. Handles count up along the list, so that the test can check the order.
 * Covers: V1-RDC-04 V1-RDC-05 V1-RDC-07 V1-RDC-15 V1-CHK-09 V1-PZC-08 G-34
 */
static void wire_reads_are_grouped(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_lists *lists = &fx->kf_lists;
	struct rpcrdma_segment segs[SHUFFLE_SEGS];
	u32 position[SHUFFLE_SEGS];
	const struct rpcrdma_chunk *chunk;
	u32 i, j, n, next, seen, round;

	for (round = 0; round < 200; round++) {
		fx_clear(fx);
		for (i = 0; i < SHUFFLE_SEGS; i++) {
			position[i] = 4 * fx_random(fx, SHUFFLE_CHUNKS);
			wire_put_read(fx, position[i], i, 3 * i + 1, i);
		}
		fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
		KUNIT_ASSERT_EQ(test, fx_lists(fx), RPCRDMA_OK);

		seen = 0;
		for (i = 0; i <= lists->ls_nreads; i++) {
			chunk = i ? &lists->ls_read[i - 1] : &lists->ls_call;
			n = fx_segs(lists, chunk, segs, ARRAY_SIZE(segs));
			KUNIT_ASSERT_EQ(test, n, chunk->ck_nsegs);
			KUNIT_EXPECT_TRUE(test,
					  !i == !chunk->ck_position || !n);
			if (i > 1)
				KUNIT_EXPECT_GT(test, chunk->ck_position,
						chunk[-1].ck_position);
			for (j = 0, next = 0; j < n; j++, next++) {
				while (position[next] != chunk->ck_position)
					next++;
				KUNIT_ASSERT_EQ(test, segs[j].rs_handle, next);
				KUNIT_EXPECT_EQ(test, segs[j].rs_length,
						3 * next + 1);
			}
			seen += n;
		}
		KUNIT_EXPECT_EQ(test, seen, SHUFFLE_SEGS);
	}
}

/* Covers: V1-HDR-18 V1-HDR-19 */
static void wire_extreme_segments_are_untouched(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_lists *lists = &fx->kf_lists;
	struct rpcrdma_segment seg;
	u32 offset = 0;

	wire_put_read(fx, 4, U32_MAX, U32_MAX, U64_MAX);
	fx_words(fx, (const u32[]) { 0, 1, 1 }, 3);
	fx_seg(fx, U32_MAX, U32_MAX, U64_MAX - 2);
	fx_words(fx, (const u32[]) { 0, 1, 1 }, 3);
	fx_seg(fx, 0, 0, 0x100000001ull);
	KUNIT_ASSERT_EQ(test, fx_decode_lists(fx, &offset), RPCRDMA_OK);

	fx_segs(lists, &lists->ls_read[0], &seg, 1);
	KUNIT_EXPECT_EQ(test, seg.rs_handle, U32_MAX);
	KUNIT_EXPECT_EQ(test, seg.rs_length, U32_MAX);
	KUNIT_EXPECT_EQ(test, seg.rs_offset, U64_MAX);
	fx_segs(lists, &lists->ls_write[0], &seg, 1);
	KUNIT_EXPECT_EQ(test, seg.rs_handle, U32_MAX);
	KUNIT_EXPECT_EQ(test, seg.rs_offset, U64_MAX - 2);
	fx_segs(lists, &lists->ls_reply, &seg, 1);
	KUNIT_EXPECT_EQ(test, seg.rs_handle, 0);
	KUNIT_EXPECT_EQ(test, seg.rs_offset, 0x100000001ull);
}

/* Even if the buffer is overwritten after the list was decoded, a walk must not read beyond the
 * list. A walk that left the list would soon leave the buffer, too, and KASAN would report that.
 * Covers: V1-HDR-23
 */
static void wire_walk_survives_changes(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_segment segs[2];
	u32 offset = 0;
	u8 *buf;

	wire_put_read(fx, 4, 1, 1, 1);
	wire_put_read(fx, 4, 2, 2, 2);
	fx_words(fx, (const u32[]) { 0, 0, 0 }, 3);
	buf = fx_exact(fx, fx->kf_buf, fx->kf_len);
	KUNIT_ASSERT_EQ(test, rpcrdma_wire_decode_lists(buf, fx->kf_len,
							&offset, &fx->kf_lists),
			RPCRDMA_OK);
	put_unaligned_be32(8, buf + RPCRDMA_READ_SEG_LEN + 4);

	KUNIT_EXPECT_EQ(test, fx_segs(&fx->kf_lists, &fx->kf_lists.ls_read[0],
				      segs, 2), 1);
	KUNIT_EXPECT_EQ(test, segs[0].rs_handle, 1);
}

/* Covers: V1-FRM-11 */
static void wire_lists_len_follows_the_formula(struct kunit *test)
{
	u32 i, len, want;

	KUNIT_EXPECT_EQ(test, rpcrdma_wire_lists_len(0, 0, 0, 0), 12);
	for (i = 0; i < 4 * 4 * 8 * 4; i++) {
		u32 reads = i % 4, writes = i / 4 % 4;
		u32 segs = writes + i / 16 % 8, reply = i / 128;

		want = 28 + 24 * reads + 8 * writes + 16 * segs;
		if (reply)
			want += 4 + 16 * reply;
		len = rpcrdma_wire_lists_len(reads, writes, segs, reply);
		KUNIT_EXPECT_EQ(test, 16 + len, want);
	}
}

/* Covers: V1-CHK-14 */
static void wire_lists_len_saturates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma_wire_lists_len(U32_MAX, 0, 0, 0),
			U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma_wire_lists_len(0, U32_MAX, 0, 0),
			U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma_wire_lists_len(0, 1, 0x10000000, 0),
			U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma_wire_lists_len(0, 0, 0, U32_MAX),
			U32_MAX);
}

/* A message may begin at any address, aligned or not (net/wire/xdr.h). */
static void wire_any_alignment(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_segment seg;
	u32 shift, offset;
	u8 *buf;

	wire_put_one_each(fx);
	for (shift = 0; shift < 8; shift++) {
		buf = kunit_kzalloc(test, shift + fx->kf_len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + shift, fx->kf_buf, fx->kf_len);
		offset = shift;
		KUNIT_ASSERT_EQ(test,
				rpcrdma_wire_decode_lists(buf, shift +
							  fx->kf_len, &offset,
							  &fx->kf_lists),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, offset, shift + fx->kf_len);
		fx_segs(&fx->kf_lists, fx->kf_lists.ls_read, &seg, 1);
		KUNIT_EXPECT_EQ(test, seg.rs_handle, 1);
		KUNIT_EXPECT_EQ(test, seg.rs_length, 2);
		KUNIT_EXPECT_EQ(test, seg.rs_offset, 3);
	}
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(wire_peek_needs_sixteen_bytes),
	KUNIT_CASE(wire_sets_the_credit_value),
	KUNIT_CASE(wire_all_presence_combinations),
	KUNIT_CASE(wire_presence_is_zero_or_one),
	KUNIT_CASE(wire_truncated_lists),
	KUNIT_CASE(wire_lists_begin_behind_the_end),
	KUNIT_CASE_PARAM(wire_segment_counts, wire_count_gen_params),
	KUNIT_CASE(wire_read_segment_limit),
	KUNIT_CASE(wire_chunk_limit),
	KUNIT_CASE(wire_lengths_must_not_overflow),
	KUNIT_CASE(wire_empty_pieces_pass),
	KUNIT_CASE(wire_reads_are_grouped),
	KUNIT_CASE(wire_extreme_segments_are_untouched),
	KUNIT_CASE(wire_walk_survives_changes),
	KUNIT_CASE(wire_lists_len_follows_the_formula),
	KUNIT_CASE(wire_lists_len_saturates),
	KUNIT_CASE(wire_any_alignment),
	{}
};

static struct kunit_suite rpcrdma_wire_suite = {
	.name = "rpcrdma_wire",
	.init = fx_init,
	.test_cases = wire_cases,
};

kunit_test_suite(rpcrdma_wire_suite);
