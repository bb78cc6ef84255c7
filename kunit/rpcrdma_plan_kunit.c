// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/plan.c: the forms of Calls and Replies. See plan.h for the terms.
 */

#include <kunit/test.h>
#include <linux/limits.h>

#include <rpcrdma/plan.h>
#include <rpcrdma/size.h>

#include "rpcrdma_kunit.h"

/* Compute the size of a header from the layout in wire.rst, independently of the tested code. */
static u32 plan_formula(u32 reads, u32 writes, u32 reply)
{
	u32 len = 28 + 24 * reads;

	if (writes)
		len += 8 + 16 * writes;
	if (reply)
		len += 4 + 16 * reply;
	return len;
}

static void plan_check_reply(struct kunit *test, const struct rpcrdma_limits
			     *limits, const struct rpcrdma_plan_args *args,
			     const struct rpcrdma_plan *plan)
{
	u32 hdr = plan_formula(0, args->pa_reply_item_segs, 0);
	u32 rest = args->pa_reply_max - args->pa_reply_item;
	bool item = args->pa_reduce && args->pa_reply_item;
	bool fits = 28 + args->pa_reply_max <= limits->lm_inline_recv;
	bool reduced = hdr + rest <= limits->lm_inline_recv;

	switch (plan->pl_reply) {
	case RPCRDMA_REPLY_INLINE:
		KUNIT_EXPECT_TRUE(test, fits);
		break;
	case RPCRDMA_REPLY_WRITE:
		KUNIT_EXPECT_FALSE(test, fits);
		KUNIT_EXPECT_TRUE(test, item);
		KUNIT_EXPECT_TRUE(test, reduced);
		break;
	case RPCRDMA_REPLY_LONG:
		KUNIT_EXPECT_FALSE(test, fits);
		KUNIT_EXPECT_FALSE(test, item && reduced);
		break;
	case RPCRDMA_REPLY_GROUP:
		KUNIT_EXPECT_TRUE(test, args->pa_rtx);
		break;
	}
}

static void plan_check_call(struct kunit *test, const struct rpcrdma_limits
			    *limits, const struct rpcrdma_plan_args *args,
			    const struct rpcrdma_plan *plan)
{
	u32 writes = plan->pl_reply == RPCRDMA_REPLY_WRITE ?
		args->pa_reply_item_segs : 0;
	u32 reply = plan->pl_reply == RPCRDMA_REPLY_LONG ? args->pa_reply_segs :
		0;
	u32 item_hdr = plan_formula(args->pa_call_item_segs, writes, reply);
	u32 long_hdr = plan_formula(args->pa_call_segs, writes, reply);
	u32 hdr = plan_formula(0, writes, reply);
	u32 rest = args->pa_call_len - args->pa_call_item;
	bool item = args->pa_reduce && args->pa_call_item;
	bool fits = hdr + args->pa_call_len <= limits->lm_inline_send;
	bool reduced = item_hdr + rest <= limits->lm_inline_send;

	switch (plan->pl_call) {
	case RPCRDMA_CALL_INLINE:
		KUNIT_EXPECT_TRUE(test, fits);
		KUNIT_EXPECT_EQ(test, plan->pl_hdr_max, hdr);
		break;
	case RPCRDMA_CALL_READ:
		KUNIT_EXPECT_FALSE(test, fits);
		KUNIT_EXPECT_TRUE(test, item);
		KUNIT_EXPECT_TRUE(test, reduced);
		KUNIT_EXPECT_EQ(test, plan->pl_hdr_max, item_hdr);
		break;
	case RPCRDMA_CALL_LONG:
		KUNIT_EXPECT_FALSE(test, fits);
		KUNIT_EXPECT_FALSE(test, item && reduced);
		KUNIT_EXPECT_EQ(test, plan->pl_hdr_max, long_hdr);
		KUNIT_EXPECT_LE(test, long_hdr, limits->lm_inline_send);
		break;
	case RPCRDMA_CALL_GROUP:
		KUNIT_EXPECT_TRUE(test, args->pa_rtx);
		break;
	}
}

/* Some of these are near the length of the largest message that fits an inline threshold of 1024 or
 * 4096 bytes, with or without a Read or Write chunk of one segment.
 */
static const u32 plan_lengths[] = {
	40, 400, 900, 971, 972, 973, 996, 997, 1000, 1024, 1025, 2000, 4000,
	4043, 4044, 4045, 4068, 4069, 4096, 9000, 0x100000, 0x7fffffff,
};

static const u32 plan_thresholds[] = { 1024, 4096, 65536 };

/* Try each Call length with each Reply length. Each of the two messages has no item, an item of
 * half of the message, or an item of all but 40 bytes, in all combinations.
 */
static void plan_lengths_grid(struct kunit *test, const struct rpcrdma_limits
			      *limits, struct rpcrdma_plan_args *args)
{
	struct rpcrdma_plan plan;
	u32 i, j, k;

	for (i = 0; i < ARRAY_SIZE(plan_lengths); i++) {
		for (j = 0; j < ARRAY_SIZE(plan_lengths); j++) {
			for (k = 0; k < 9; k++) {
				u32 call = plan_lengths[i];
				u32 reply = plan_lengths[j];
				const u32 call_items[] = {
					0, call / 2, call - 40,
				};
				const u32 reply_items[] = {
					0, reply / 2, reply - 40,
				};

				args->pa_call_len = call;
				args->pa_call_item = call_items[k % 3];
				args->pa_reply_max = reply;
				args->pa_reply_item = reply_items[k / 3];
				KUNIT_ASSERT_EQ(test,
						rpcrdma_plan_rpc(limits, args,
								 &plan), 0);
				plan_check_reply(test, limits, args, &plan);
				plan_check_call(test, limits, args, &plan);
			}
		}
	}
}

/* Covers: V1-CRD-16 V1-CRD-17 V1-FRM-04 V1-FRM-11 V1-FRM-12 V1-HDR-17 V1-RPL-01 V1-WRC-18 MEM-15
 * Covers: G-27
 */
static void plan_grid(struct kunit *test)
{
	static const u32 segs[] = { 1, 2, 17 };
	struct rpcrdma_plan_args args = {};
	struct rpcrdma_limits limits = {};
	u32 i, j, k, reduce;

	for (i = 0; i < ARRAY_SIZE(plan_thresholds); i++) {
		for (j = 0; j < ARRAY_SIZE(plan_thresholds); j++) {
			for (k = 0; k < ARRAY_SIZE(segs); k++) {
				for (reduce = 0; reduce < 2; reduce++) {
					limits.lm_inline_send =
						plan_thresholds[i];
					limits.lm_inline_recv =
						plan_thresholds[j];
					args.pa_call_item_segs = segs[k];
					args.pa_call_segs = segs[k];
					args.pa_reply_item_segs = segs[k];
					args.pa_reply_segs = segs[k];
					args.pa_reduce = reduce;
					plan_lengths_grid(test, &limits, &args);
				}
			}
		}
	}
}

struct plan_case {
	const char			*desc;
	struct rpcrdma_plan_args	args;
	int				ret;
	struct rpcrdma_plan		plan;
};

/* Here the headers are those of version 1, and the inline thresholds are 4096 bytes to the server
 * and 1024 to the client. plan_examples_v2() adds 8 bytes to each of them.
 */
static const struct plan_case plan_cases[] = {
	{ "a small Call and a small Reply",
	  .args = { .pa_call_len = 100, .pa_reply_max = 100, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 28 } },
	{ "the largest Call and Reply that are inline",
	  .args = { .pa_call_len = 4068, .pa_reply_max = 996 },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 28 } },
	{ "a Call one byte too large",
	  .args = { .pa_call_len = 4069, .pa_call_segs = 2, .pa_reply_max = 996 },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_INLINE, 76 } },
	{ "a Reply one byte too large",
	  .args = { .pa_call_len = 100, .pa_reply_max = 997, .pa_reply_segs = 2 },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 64 } },
	{ "READ of a megabyte",
	  .args = { .pa_call_len = 120, .pa_reply_max = 1048704, .pa_reply_item = 1048576,
		    .pa_reply_item_segs = 1, .pa_reply_segs = 2, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_WRITE, 52 } },
	{ "READ of a megabyte, protected",
	  .args = { .pa_call_len = 120, .pa_reply_max = 1048704, .pa_reply_item = 1048576,
		    .pa_reply_item_segs = 1, .pa_reply_segs = 2 },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 64 } },
	{ "READ with as much around the data as fits",
	  .args = { .pa_call_len = 120, .pa_reply_max = 1048576 + 972, .pa_reply_item = 1048576,
		    .pa_reply_item_segs = 1, .pa_reply_segs = 2, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_WRITE, 52 } },
	{ "READ with too much around the data",
	  .args = { .pa_call_len = 120, .pa_reply_max = 1048576 + 973, .pa_reply_item = 1048576,
		    .pa_reply_item_segs = 1, .pa_reply_segs = 2, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 64 } },
	{ "WRITE of a megabyte",
	  .args = { .pa_call_len = 1048704, .pa_call_item = 1048576, .pa_call_item_segs = 1,
		    .pa_call_segs = 3, .pa_reply_max = 200, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_READ, RPCRDMA_REPLY_INLINE, 52 } },
	{ "WRITE of a megabyte, protected",
	  .args = { .pa_call_len = 1048704, .pa_call_item = 1048576, .pa_call_item_segs = 1,
		    .pa_call_segs = 3, .pa_reply_max = 200 },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_INLINE, 100 } },
	{ "WRITE with too much around the data",
	  .args = { .pa_call_len = 1048576 + 4045, .pa_call_item = 1048576, .pa_call_item_segs =
		    1, .pa_call_segs = 3, .pa_reply_max = 200, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_INLINE, 100 } },
	{ "a Long Call with a Long Reply",
	  .args = { .pa_call_len = 5000, .pa_call_segs = 2, .pa_reply_max = 5000,
		    .pa_reply_segs = 2, .pa_reduce = true },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_LONG, 112 } },
	{ "a Call that is too large because of the Reply",
	  .args = { .pa_call_len = 4068, .pa_call_segs = 1, .pa_reply_max = 1000,
		    .pa_reply_segs = 1 },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_LONG, 72 } },
	{ "as many segments as fit a Call",
	  .args = { .pa_call_len = 5000, .pa_call_segs = 168, .pa_reply_max = 5000,
		    .pa_reply_segs = 2 },
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_LONG, 4096 } },
	{ "as many segments as fit a Reply",
	  .args = { .pa_call_len = 100, .pa_reply_max = 5000, .pa_reply_segs = 62 },
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 1024 } },
	{ "segments without end in a Call",
	  .args = { .pa_call_len = 5000, .pa_call_segs = 170, .pa_reply_max = 100 },
	  .ret = -EMSGSIZE },
	{ "segments without end in a Reply",
	  .args = { .pa_call_len = 100, .pa_reply_max = 5000, .pa_reply_segs = 63 },
	  .ret = -EMSGSIZE },
	{ "numbers that overflow",
	  .args = { .pa_call_len = U32_MAX, .pa_call_item = 8, .pa_call_item_segs = U32_MAX,
		    .pa_call_segs = U32_MAX, .pa_reply_max = U32_MAX, .pa_reply_item = 8,
		    .pa_reply_item_segs = U32_MAX, .pa_reply_segs = U32_MAX, .pa_reduce = true },
	  .ret = -EMSGSIZE },
};

KUNIT_ARRAY_PARAM_DESC(plan, plan_cases, desc);

/* Check a plan with headers and inline thresholds that are @hdr_extra bytes larger than those of
 * plan_cases. The decisions must be the same as there.
 */
static void plan_check(struct kunit *test, u32 hdr_extra)
{
	const struct rpcrdma_limits limits = {
		.lm_inline_send = 4096 + hdr_extra,
		.lm_inline_recv = 1024 + hdr_extra, .lm_hdr_extra = hdr_extra,
	};
	const struct plan_case *param = test->param_value;
	struct rpcrdma_plan plan;

	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &param->args, &plan),
			param->ret);
	if (param->ret)
		return;
	KUNIT_EXPECT_EQ(test, plan.pl_call, param->plan.pl_call);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, param->plan.pl_reply);
	KUNIT_EXPECT_EQ(test, plan.pl_hdr_max,
			param->plan.pl_hdr_max + hdr_extra);
}

/* Covers: V1-CRD-17 V1-FRM-01 V1-FRM-02 V1-FRM-04 V1-FRM-05 V1-FRM-07 V1-FRM-11 V1-RPL-01 MEM-15
 * Covers: G-27
 */
static void plan_examples(struct kunit *test)
{
	plan_check(test, 0);
}

/* With the largest number of segments that a client puts in one chunk (RPCRDMA_CLIENT_SEGS), and
 * even with one or two more, the header fits the smallest inline threshold, 1024 bytes. Here, the
 * Read chunk has RPCRDMA_CLIENT_SEGS segments, the Write chunk RPCRDMA_CLIENT_SEGS + 1, and a chunk
 * for a whole message RPCRDMA_CLIENT_SEGS + 2.
 * Covers: ULB-21 EXP-21
 */
static void plan_all_segments_fit(struct kunit *test)
{
	static const struct rpcrdma_limits limits = {
		.lm_inline_send = 1024, .lm_inline_recv = 1024,
	};
	const u32 segs = RPCRDMA_CLIENT_SEGS, all = RPCRDMA_CLIENT_SEGS + 2;
	struct rpcrdma_plan_args args = {
		.pa_call_len = 0x100000 + 300, .pa_call_item = 0x100000,
		.pa_call_item_segs = segs, .pa_call_segs = all,
		.pa_reply_max = 0x100000 + 300, .pa_reply_item = 0x100000,
		.pa_reply_item_segs = segs + 1, .pa_reply_segs = all,
		.pa_reduce = true,
	};
	struct rpcrdma_plan plan;

	/* First check the form of the Reply. Then make it short, and check the form of the Call */
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_WRITE);
	args.pa_reply_max = 200;
	args.pa_reply_item = 0;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_READ);

	/* If no item may be taken out, the whole Call and Reply go by RDMA */
	args.pa_reply_max = 0x100000 + 300;
	args.pa_reduce = false;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_LONG);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_LONG);
	KUNIT_EXPECT_LE(test, plan.pl_hdr_max, 1024);
}

/* Without groups (rtx.h), the header of a Call or Reply is 8 bytes longer in version 2 than in
 * version 1. If the inline thresholds are 8 bytes larger, too, the decisions are the same.
 * Covers: V2-INL-02 V2-INL-05 V2-PRP-11 V2-PRP-12
 */
static void plan_examples_v2(struct kunit *test)
{
	plan_check(test, 8);
}

/* A plan does not use what errors of version 2 have forbidden, and uses what they require.
 * Covers: V2-ERR-10 V2-ERR-12 V2-ERR-15 G-23
 */
static void plan_retried(struct kunit *test)
{
	static const struct rpcrdma_limits limits = {
		.lm_inline_send = 4096, .lm_inline_recv = 4096,
		.lm_hdr_extra = 8,
	};
	static const struct rpcrdma_plan_args both = {
		.pa_call_len = 9000, .pa_call_item = 8192,
		.pa_call_item_segs = 1, .pa_call_segs = 3, .pa_reply_max = 9000,
		.pa_reply_item = 8192, .pa_reply_item_segs = 1,
		.pa_reply_segs = 3, .pa_reduce = true,
	};
	struct rpcrdma_plan_args args = both;
	struct rpcrdma_plan plan;

	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_READ);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_WRITE);

	args.pa_no_read = true;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_LONG);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_WRITE);

	args.pa_reply_chunk = true;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_LONG);

	/* pa_no_long forbids a Long Call, but not a Read chunk */
	args.pa_no_long = true;
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan),
			-EMSGSIZE);
	args.pa_no_read = false;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_READ);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_LONG);

	/* pa_reply_chunk requires a Reply chunk, although the Reply fits a Receive */
	args = both;
	args.pa_reply_max = 100;
	args.pa_reply_item = 0;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_INLINE);
	args.pa_reply_chunk = true;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_LONG);
}

struct retry_case {
	const char			*desc;
	enum rpcrdma_call_form		call;
	enum rpcrdma_reply_form		reply;
	u32				err;
	u32				needed;
	bool				good;
	struct rpcrdma_retry		want;
};

/* The Reply chunk, if there is one, has 8192 bytes, and may have up to 66000. */
static const struct retry_case retry_cases[] = {
	{ "READ_CHUNKS to a Read chunk", .call = RPCRDMA_CALL_READ,
	  .err = RPCRDMA2_ERR_READ_CHUNKS, .good = true, .want = { .ry_no_read = true } },
	{ "READ_CHUNKS to a Position Zero chunk", .call = RPCRDMA_CALL_LONG,
	  .err = RPCRDMA2_ERR_READ_CHUNKS },
	{ "READ_CHUNKS to no chunk", .err = RPCRDMA2_ERR_READ_CHUNKS },
	{ "WRITE_CHUNKS to a Write chunk", .reply = RPCRDMA_REPLY_WRITE,
	  .err = RPCRDMA2_ERR_WRITE_CHUNKS, .good = true, .want = { .ry_reply_chunk = true } },
	{ "WRITE_CHUNKS to a Reply chunk", .reply = RPCRDMA_REPLY_LONG,
	  .err = RPCRDMA2_ERR_WRITE_CHUNKS },
	{ "SEGMENTS", .call = RPCRDMA_CALL_READ, .err = RPCRDMA2_ERR_SEGMENTS, .needed = 2 },
	{ "WRITE_RESOURCE", .reply = RPCRDMA_REPLY_WRITE, .err = RPCRDMA2_ERR_WRITE_RESOURCE,
	  .needed = 1 },
	{ "REPLY_RESOURCE, all there is", .reply = RPCRDMA_REPLY_LONG, .needed = 66000,
	  .err = RPCRDMA2_ERR_REPLY_RESOURCE, .good = true, .want = { .ry_reply_chunk = true } },
	{ "REPLY_RESOURCE, one byte, nothing was provided", .needed = 1,
	  .err = RPCRDMA2_ERR_REPLY_RESOURCE, .good = true, .want = { .ry_reply_chunk = true } },
	{ "REPLY_RESOURCE, a Write chunk was provided", .reply = RPCRDMA_REPLY_WRITE,
	  .needed = 8192, .err = RPCRDMA2_ERR_REPLY_RESOURCE, .good = true,
	  .want = { .ry_reply_chunk = true } },
	{ "REPLY_RESOURCE, nothing is needed", .err = RPCRDMA2_ERR_REPLY_RESOURCE },
	{ "REPLY_RESOURCE, what was offered", .reply = RPCRDMA_REPLY_LONG, .needed = 8192,
	  .err = RPCRDMA2_ERR_REPLY_RESOURCE },
	{ "REPLY_RESOURCE, one byte more than there is", .needed = 66001,
	  .err = RPCRDMA2_ERR_REPLY_RESOURCE },
	{ "REPLY_RESOURCE, four gigabytes", .needed = U32_MAX, .err = RPCRDMA2_ERR_REPLY_RESOURCE },
	{ "RTX_CONT to a group", .call = RPCRDMA_CALL_GROUP, .err = RPCRDMA2_ERR_RTX_CONT,
	  .good = true },
	{ "RTX_LIMIT to a group", .call = RPCRDMA_CALL_GROUP, .err = RPCRDMA2_ERR_RTX_LIMIT,
	  .good = true },
	{ "INVAL_HTYPE to a group", .call = RPCRDMA_CALL_GROUP, .err = RPCRDMA2_ERR_INVAL_HTYPE,
	  .good = true },
	{ "RTX_CONT to a Call that is no group", .call = RPCRDMA_CALL_READ,
	  .err = RPCRDMA2_ERR_RTX_CONT },
	{ "RTX_LIMIT to a Call that is no group", .call = RPCRDMA_CALL_LONG,
	  .err = RPCRDMA2_ERR_RTX_LIMIT },
	{ "INVAL_HTYPE to a Call that is no group", .call = RPCRDMA_CALL_LONG,
	  .err = RPCRDMA2_ERR_INVAL_HTYPE },
	{ "BAD_XDR", .call = RPCRDMA_CALL_GROUP, .err = RPCRDMA2_ERR_BAD_XDR },
	{ "SYSTEM", .call = RPCRDMA_CALL_GROUP, .err = RPCRDMA2_ERR_SYSTEM },
	{ "VERS", .call = RPCRDMA_CALL_READ, .err = RPCRDMA2_ERR_VERS, .needed = 1 },
	{ "a code nobody knows", .call = RPCRDMA_CALL_READ, .err = 77, .needed = 9000 },
};

KUNIT_ARRAY_PARAM_DESC(retry, retry_cases, desc);

static bool retry_is(const struct rpcrdma_retry *retry, bool no_read,
		     bool reply_chunk, bool base)
{
	return retry->ry_no_read == no_read &&
	       retry->ry_reply_chunk == reply_chunk && retry->ry_base == base;
}

/* Covers: V2-ERR-08 V2-ERR-10 V2-ERR-12 V2-ERR-13 V2-ERR-15 V2-ERR-17 V2-ERR-19 V2-ERR-21
 * Covers: V2-ERR-22 V2-ERR-24 V2-ERR-25 G-23 RTX-87 RTX-88
 */
static void retry_remedies(struct kunit *test)
{
	const struct retry_case *param = test->param_value;
	const struct rpcrdma_plan plan = {
		.pl_call = param->call, .pl_reply = param->reply,
	};
	u32 had = param->reply == RPCRDMA_REPLY_LONG ? 8192 : 0;
	struct rpcrdma_hdr hdr = {
		.hd_err = param->err, .hd_err_arg = { param->needed, 9000 },
	};
	struct rpcrdma_retry retry = { };

	KUNIT_EXPECT_EQ(test, rpcrdma_plan_retry(&retry, &hdr, &plan, had,
						 66000), param->good);
	KUNIT_EXPECT_TRUE(test,
			  retry_is(&retry, param->want.ry_no_read,
				   param->want.ry_reply_chunk, param->good));

	/* An error in the layout of version 1 has no remedy. */
	memset(&retry, 0, sizeof(retry));
	hdr.hd_v1_error = true;
	KUNIT_EXPECT_FALSE(test,
			   rpcrdma_plan_retry(&retry, &hdr, &plan, had, 66000));
	KUNIT_EXPECT_TRUE(test, retry_is(&retry, false, false, false));
}

/* Whatever errors a server sends, an RPC is sent again at most three times because of them. Each
 * time, it is planned as xprt_rdma_marshal_plan() and xprt_rdma_group_plan() would plan it.
 * Covers: V2-ERR-22 RTX-89
 */
static void retry_ends(struct kunit *test)
{
	static const u32 codes[] = {
		RPCRDMA2_ERR_RTX_CONT, RPCRDMA2_ERR_RTX_LIMIT,
		RPCRDMA2_ERR_INVAL_HTYPE, RPCRDMA2_ERR_READ_CHUNKS,
		RPCRDMA2_ERR_WRITE_CHUNKS, RPCRDMA2_ERR_REPLY_RESOURCE,
	};
	static const struct rpcrdma_plan_rtx rtx = {
		.px_peer = { .xp_call_max = 64, .xp_reply_max = 16,
			     .xp_msg_max = 1 << 20 },
		.px_more = 63, .px_spare = 16, .px_long_max = 65536,
		.px_write_max = 65536,
	};
	static const struct rpcrdma_limits limits = {
		.lm_inline_send = 4096, .lm_inline_recv = 4096,
		.lm_hdr_extra = 8,
	};
	struct rpcrdma_plan_args args = {
		.pa_call_len = 9000, .pa_call_item = 8192, .pa_call_data = 8192,
		.pa_call_item_segs = 1, .pa_call_segs = 3, .pa_reply_max = 9000,
		.pa_reply_item_segs = 1, .pa_reply_segs = 3, .pa_reduce = true,
	};
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_hdr hdr = { .hd_err_arg = { 8000 } };
	struct rpcrdma_retry retry;
	struct rpcrdma_plan plan;
	int run, i, retried, most = 0;

	for (run = 0; run < 500; run++) {
		args.pa_reply_item = run % 2 ? 8192 : 0;
		memset(&retry, 0, sizeof(retry));
		for (retried = 0, i = 0; i < 40; i++) {
			args.pa_rtx = retry.ry_base ? NULL : &rtx;
			args.pa_no_read = retry.ry_no_read;
			args.pa_reply_chunk = retry.ry_reply_chunk;
			KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args,
							       &plan), 0);
			hdr.hd_err = codes[fx_random(fx, ARRAY_SIZE(codes))];
			retried += rpcrdma_plan_retry(&retry, &hdr, &plan, 0,
						      9000);
		}
		most = max(most, retried);
	}
	KUNIT_EXPECT_EQ(test, most, 3);
}

struct answer_case {
	const char			*desc;
	u32				hdr_len;
	u32				body_len;
	bool				offered;
	u32				chunk_len;
	bool				prefer_inline;
	enum rpcrdma_answer_form	form;
};

/* The client receives messages of up to 1024 bytes. */
static const struct answer_case answer_cases[] = {
	{ "no Reply chunk, and a Reply that just fits", .hdr_len = 28, .body_len = 996,
	  .form = RPCRDMA_ANSWER_INLINE },
	{ "no Reply chunk, and a Reply one byte too large", .hdr_len = 28, .body_len = 997,
	  .form = RPCRDMA_ANSWER_ERROR },
	{ "a Reply chunk, and a small Reply", .hdr_len = 48, .body_len = 100, .offered = true,
	  .chunk_len = 100, .form = RPCRDMA_ANSWER_LONG },
	{ "a Reply chunk, and a small Reply that may be inline", .hdr_len = 48, .body_len = 100,
	  .offered = true, .chunk_len = 100, .prefer_inline = true, .form = RPCRDMA_ANSWER_INLINE },
	{ "a Reply chunk that is needed", .hdr_len = 48, .body_len = 977, .offered = true,
	  .chunk_len = 977, .prefer_inline = true, .form = RPCRDMA_ANSWER_LONG },
	{ "a Reply chunk that is one byte too small", .hdr_len = 48, .body_len = 2000,
	  .offered = true, .chunk_len = 1999, .form = RPCRDMA_ANSWER_ERROR },
	{ "a Reply chunk that is too small for a small Reply", .hdr_len = 48, .body_len = 200,
	  .offered = true, .chunk_len = 100, .form = RPCRDMA_ANSWER_ERROR },
	{ "a small Reply chunk that is not needed", .hdr_len = 48, .body_len = 200,
	  .offered = true, .chunk_len = 100, .prefer_inline = true, .form = RPCRDMA_ANSWER_INLINE },
	{ "a Reply chunk of no room, and a small Reply", .hdr_len = 32, .body_len = 200,
	  .offered = true, .form = RPCRDMA_ANSWER_INLINE },
	{ "a Reply chunk of no room, and a large Reply", .hdr_len = 32, .body_len = 2000,
	  .offered = true, .form = RPCRDMA_ANSWER_ERROR },
	{ "a header that just fits", .hdr_len = 1024, .body_len = 100, .offered = true,
	  .chunk_len = 4096, .form = RPCRDMA_ANSWER_LONG },
	{ "a header that is too large by itself", .hdr_len = 1025, .body_len = 100,
	  .offered = true, .chunk_len = 4096, .form = RPCRDMA_ANSWER_ERROR },
	{ "a body whose length overflows", .hdr_len = 28, .body_len = U32_MAX,
	  .form = RPCRDMA_ANSWER_ERROR },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

/* Covers: V1-RPL-04 V1-RPL-11 V1-RPL-12 V1-RPL-13 V1-ERR-11 V1-ERR-24 V1-CRD-16 V1-HDR-17 G-02
 * Covers: G-13
 */
static void plan_answers(struct kunit *test)
{
	static const struct rpcrdma_limits limits = {
		.lm_inline_send = 1024, .lm_inline_recv = 4096,
	};
	const struct answer_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test,
			rpcrdma_plan_answer(&limits, param->hdr_len,
					    param->body_len, param->offered ?
					    param->chunk_len : 0,
					    param->prefer_inline), param->form);
}

/* A server like ours, but without target segments (rtx.h), and a connection on which nothing is in
 * flight
 */
#define PLAN_RTX {						\
	.px_peer = {							\
		.xp_call_max = 64, .xp_reply_max = 16,			\
		.xp_msg_max = 0x101000,					\
	},								\
	.px_more = 64, .px_spare = 16,					\
	.px_long_max = 262144, .px_write_max = 65536,			\
}

static const struct rpcrdma_limits plan_rtx_limits = {
	.lm_inline_send = 16384, .lm_inline_recv = 16384, .lm_hdr_extra = 8,
};

struct plan_rtx_case {
	const char		*desc;
	u32			call;
	u32			call_item;
	u32			reply;
	u32			reply_item;
	bool			whole;
	struct rpcrdma_plan	plan;
};

/* An item takes one segment, and a whole message takes three */
static const struct plan_rtx_case plan_rtx_cases[] = {
	{ "all fits", .call = 16348, .reply = 16348,
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 36, 1, 1 } },
	{ "a Call one byte too long", .call = 16349, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 2, 1 } },
	{ "what two transmissions take", .call = 16320 + 16348, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 2, 1 } },
	{ "one byte more", .call = 16320 + 16348 + 1, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 3, 1 } },
	{ "the longest", .call = 262144, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 17, 1 } },
	{ "longer than that", .call = 262145, .reply = 100,
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_INLINE, 108, 1, 1 } },
	{ "an item of 64 KB", .call = 65536 + 200, .call_item = 65536, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 5, 1 } },
	{ "a larger item", .call = 65540 + 200, .call_item = 65540, .reply = 100,
	  .plan = { RPCRDMA_CALL_READ, RPCRDMA_REPLY_INLINE, 60, 1, 1 } },
	{ "one that may not leave the stream", .call = 100000, .call_item = 99000, .reply = 100,
	  .whole = true, .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 7, 1 } },
	{ "READDIR of 64 KB", .call = 84, .reply = 65636,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_GROUP, 64, 1, 5 } },
	{ "the largest Reply by Receives", .call = 84, .reply = 16320 + 7 * 16348,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_GROUP, 64, 1, 8 } },
	{ "a larger Reply", .call = 84, .reply = 16320 + 7 * 16348 + 1,
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 88, 1, 1 } },
	{ "READ", .call = 84, .reply = 65636, .reply_item = 65536,
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_WRITE, 60, 1, 1 } },
	{ "READ, protected", .call = 84, .reply = 65636, .reply_item = 65536, .whole = true,
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_LONG, 88, 1, 1 } },
	{ "long both ways", .call = 30000, .reply = 30000,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_GROUP, 64, 2, 2 } },
	{ "a long Call, and a Reply for a chunk", .call = 30000, .reply = 300000,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_LONG, 116, 2, 1 } },
	{ "a Call for a chunk: so is its Reply", .call = 300000, .reply = 30000,
	  .plan = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_LONG, 160, 1, 1 } },
};

KUNIT_ARRAY_PARAM_DESC(plan_rtx, plan_rtx_cases, desc);

static void plan_expect(struct kunit *test, const struct rpcrdma_plan_args
			*args, const struct rpcrdma_plan *want)
{
	struct rpcrdma_plan plan;

	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&plan_rtx_limits, args, &plan),
			0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, want->pl_call);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, want->pl_reply);
	KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, want->pl_hdr_max);
	KUNIT_EXPECT_EQ(test, plan.pl_count, want->pl_count);
	KUNIT_EXPECT_EQ(test, plan.pl_replies, want->pl_replies);
	KUNIT_EXPECT_EQ(test, plan.pl_short, want->pl_short);
	KUNIT_EXPECT_EQ(test, plan.pl_placed, want->pl_placed);
	KUNIT_EXPECT_EQ(test, plan.pl_limit, want->pl_limit ?:
			plan.pl_call == RPCRDMA_CALL_GROUP ? 16384 : 0);
	KUNIT_EXPECT_EQ(test, plan.pl_gathered, want->pl_gathered);
	KUNIT_EXPECT_EQ(test, plan.pl_buf, want->pl_buf ?: plan.pl_limit);
}

static struct rpcrdma_plan_args
plan_rtx_args(const struct plan_rtx_case *param,
	      const struct rpcrdma_plan_rtx *rtx)
{
	return (struct rpcrdma_plan_args) {
		.pa_call_len = param->call, .pa_call_item = param->call_item,
		.pa_call_data = param->call_item,
		.pa_reply_max = param->reply,
		.pa_reply_item = param->reply_item,
		.pa_call_item_segs = 1, .pa_call_segs = 3,
		.pa_reply_item_segs = 1, .pa_reply_segs = 3,
		.pa_reduce = !param->whole, .pa_rtx = rtx,
	};
}

/* Covers: RTX-39 RTX-41 RTX-61 RTX-62 RTX-68 RTX-94 RTX-95 RTX-97 RTX-98 */
static void rpcrdma_plan_rtx(struct kunit *test)
{
	static const struct rpcrdma_plan_rtx rtx = PLAN_RTX;
	const struct plan_rtx_case *param = test->param_value;
	struct rpcrdma_plan_args args = plan_rtx_args(param, &rtx);

	plan_expect(test, &args, &param->plan);
}

/* Covers: RTX-32 RTX-41 RTX-68 RTX-78 RTX-95 RTX-98 */
static void plan_rtx_bounds(struct kunit *test)
{
	static const struct rpcrdma_plan
		group = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_GROUP, 64, 2, 2 },
	call = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_LONG, 116, 2, 1 },
	none = { RPCRDMA_CALL_LONG, RPCRDMA_REPLY_LONG, 160, 1, 1 };
	static const struct rpcrdma_plan_rtx fresh = PLAN_RTX;
	const struct plan_rtx_case both = { .call = 30000, .reply = 30000 };
	struct rpcrdma_plan_rtx rtx = fresh;
	struct rpcrdma_plan_args args = plan_rtx_args(&both, &rtx);
	struct rpcrdma_plan want;

	plan_expect(test, &args, &group);
	/* The Call needs one credit beyond its first, and the Reply one Receive beyond its first.
	 * Without this Receive, the Reply goes by a Reply chunk. Without this credit, both messages
	 * go by chunks.
	 */
	rtx.px_more = 1;
	rtx.px_spare = 1;
	plan_expect(test, &args, &group);
	rtx.px_spare = 0;
	want = call;
	want.pl_short = true;
	plan_expect(test, &args, &want);
	rtx.px_spare = 1;
	rtx.px_more = 0;
	want = none;
	want.pl_short = true;
	plan_expect(test, &args, &want);

	/* Limits that the server has announced, and at the end a connection without groups */
	rtx = fresh;
	rtx.px_peer.xp_reply_max = 1;
	plan_expect(test, &args, &call);
	rtx.px_peer.xp_call_max = 1;
	plan_expect(test, &args, &none);
	rtx.px_peer.xp_reply_max = 16;
	rtx.px_spare = 0;
	want = none;
	want.pl_short = true;
	plan_expect(test, &args, &want);
	rtx = fresh;
	rtx.px_peer.xp_msg_max = 30000;
	plan_expect(test, &args, &group);
	rtx.px_peer.xp_msg_max--;
	plan_expect(test, &args, &none);
	rtx = fresh;
	args.pa_rtx = NULL;
	plan_expect(test, &args, &none);
}

/* A server with seven target segments (rtx.h), of 4096 bytes each, in each Receive */
#define PLAN_TARGETS {						\
	.px_peer = {							\
		.xp_call_max = 64, .xp_reply_max = 16,			\
		.xp_msg_max = 0x101000, .xp_head = 1024,		\
		.xp_seg = 4096, .xp_nsegs = 7,				\
	},								\
	.px_more = 64, .px_spare = 16, .px_long_max = 262144,		\
	.px_write_max = 131072, .px_send = 1024 + 7 * 4096,		\
}

/* If a Call is a group without chunks, the header of its first transmission has 64 bytes, or 72 if
 * the item is placed (rtx.h).
 */
static const struct plan_rtx_case plan_placed_cases[] = {
	{ "8 KB, though they fit RDMA2_MSG", .call = 8192 + 120, .call_item = 8192, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 1, 1, 29696, 8192 } },
	{ "one word less", .call = 8188 + 120, .call_item = 8188, .reply = 100,
	  .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 36, 1, 1 } },
	{ "too long for RDMA2_MSG", .call = 16349, .call_item = 4000, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 2, 1, 29696, 4000 } },
	{ "what fits one", .call = 28672 + 120, .call_item = 28672, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 1, 1, 29696, 28672 } },
	{ "one word more", .call = 28676 + 120, .call_item = 28676, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 2, 1, 29696, 28676 } },
	{ "a stream that fills the head", .call = 28672 + 952, .call_item = 28672, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 1, 1, 29696, 28672 } },
	{ "a stream that goes on behind the data", .call = 28672 + 956, .call_item = 28672,
	  .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 2, 1, 29696, 28672 } },
	{ "the largest", .call = 131072 + 120, .call_item = 131072, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 5, 1, 29696, 131072 } },
	{ "larger than is to be sent", .call = 131076 + 120, .call_item = 131076, .reply = 100,
	  .plan = { RPCRDMA_CALL_READ, RPCRDMA_REPLY_INLINE, 60, 1, 1 } },
	{ "protected: all of it in the stream", .call = 65536 + 200, .call_item = 65536,
	  .reply = 100, .whole = true,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 5, 1 } },
	{ "protected, and it fits RDMA2_MSG", .call = 8192 + 200, .call_item = 8192, .reply = 100,
	  .whole = true, .plan = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 36, 1, 1 } },
	{ "no item", .call = 30000, .reply = 100,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 64, 2, 1 } },
	{ "a small item, and a Reply by Receives", .call = 1200, .call_item = 1000,
	  .reply = 30000,
	  .plan = { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_GROUP, 72, 1, 2, 29696, 1000 } },
};

KUNIT_ARRAY_PARAM_DESC(plan_placed, plan_placed_cases, desc);

/* Covers: RTX-39 RTX-41 RTX-53 RTX-56 RTX-57 RTX-61 RTX-94 RTX-95 RTX-97 */
static void plan_placed(struct kunit *test)
{
	static const struct rpcrdma_plan_rtx rtx = PLAN_TARGETS;
	const struct plan_rtx_case *param = test->param_value;
	struct rpcrdma_plan_args args = plan_rtx_args(param, &rtx);

	plan_expect(test, &args, &param->plan);
}

/* Covers: RTX-41 RTX-52 RTX-56 RTX-78 RTX-95 RTX-96 */
static void plan_placed_bounds(struct kunit *test)
{
	static const struct rpcrdma_plan placed = { RPCRDMA_CALL_GROUP,
						    RPCRDMA_REPLY_INLINE, 72, 2,
						    1, 29696, 29000 },
	read = { RPCRDMA_CALL_READ, RPCRDMA_REPLY_INLINE, 60, 1, 1 },
	fits = { RPCRDMA_CALL_INLINE, RPCRDMA_REPLY_INLINE, 36, 1, 1 };
	static const struct rpcrdma_plan_rtx fresh = PLAN_TARGETS;
	const struct plan_rtx_case write = {
		.call = 29120, .call_item = 29000, .reply = 100,
	};
	struct rpcrdma_plan_rtx rtx = fresh;
	struct rpcrdma_plan_args args = plan_rtx_args(&write, &rtx);
	struct rpcrdma_plan want = read;

	rtx.px_more = 1;
	plan_expect(test, &args, &placed);
	rtx.px_more = 0;
	want.pl_short = true;
	plan_expect(test, &args, &want);
	rtx.px_more = 1;
	rtx.px_peer.xp_call_max = 1;
	plan_expect(test, &args, &read);
	/* xp_msg_max limits the sum of stream and item, without the roundup of the item */
	rtx = fresh;
	args.pa_call_data = 28999;
	rtx.px_peer.xp_msg_max = 29119;
	want = placed;
	want.pl_placed = 28999;
	plan_expect(test, &args, &want);
	rtx.px_peer.xp_msg_max--;
	plan_expect(test, &args, &read);
	rtx = fresh;
	rtx.px_write_max = 28999;
	plan_expect(test, &args, &want);
	rtx.px_write_max--;
	plan_expect(test, &args, &read);

	/* Our largest Send can fill only three of the seven segments */
	rtx = fresh;
	args.pa_call_data = 29000;
	rtx.px_send = 1024 + 3 * 4096;
	want = placed;
	want.pl_count = 3;
	want.pl_limit = rtx.px_send;
	plan_expect(test, &args, &want);
	/* Our Sends are too short to reach the targets, so the item goes by a Read chunk */
	rtx.px_send = 1023;
	plan_expect(test, &args, &read);
	/* px_send is 0: the item stays in the stream, as if there were no targets */
	rtx.px_send = 0;
	want = (struct rpcrdma_plan) { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE,
				       64, 2, 1, };
	plan_expect(test, &args, &want);

	/* A group would be better for this Call, but there are too few credits, or the item is too
	 * long (px_write_max). The Call fits RDMA2_MSG, so it is inline.
	 */
	rtx = fresh;
	args.pa_call_len = 16348;
	args.pa_call_item = 16000;
	args.pa_call_data = 16000;
	rtx.px_peer.xp_nsegs = 1;
	rtx.px_more = 2;
	want = fits;
	want.pl_short = true;
	plan_expect(test, &args, &want);
	rtx.px_write_max = 15999;
	plan_expect(test, &args, &fits);
}

/* A Send can fill at most px_gather of the seven target segments of a Receive directly from the
 * pages with the item: five, for example, if the device allows six SGEs in a Send. (One SGE is for
 * the header and the stream.)
 * Covers: RTX-41 RTX-56 RTX-58 T-43
 */
static void plan_gathers(struct kunit *test)
{
	static const struct rpcrdma_plan_rtx fresh = PLAN_TARGETS;
	const struct plan_rtx_case write = {
		.call = 120 + 20480, .call_item = 20480, .reply = 100,
	};
	struct rpcrdma_plan_rtx rtx = fresh;
	struct rpcrdma_plan_args args = plan_rtx_args(&write, &rtx);
	struct rpcrdma_plan want = {
		RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE, 72, 1, 1, 29696,
		20480, 5, 1024,
	};

	rtx.px_gather = 5;
	plan_expect(test, &args, &want);
	/* Gathering one word more would take a second transmission, so the item is copied. */
	args.pa_call_len = 120 + 20484;
	args.pa_call_item = 20484;
	args.pa_call_data = 20484;
	want.pl_placed = 20484;
	want.pl_gathered = 0;
	want.pl_buf = 29696;
	plan_expect(test, &args, &want);
	rtx.px_gather = 6;
	want.pl_gathered = 6;
	want.pl_buf = 1024;
	plan_expect(test, &args, &want);
	/* A stream that does not fit in front of the data continues in a second transmission. */
	args.pa_call_len = 1900 + 20484;
	want.pl_count = 2;
	want.pl_buf = 72 + 1900;
	plan_expect(test, &args, &want);
	/* The second transmission has room for data, too. So three segments in each Send are enough
	 * for the item, but two are not.
	 */
	rtx.px_gather = 3;
	want.pl_gathered = 3;
	plan_expect(test, &args, &want);
	rtx.px_gather = 2;
	want.pl_gathered = 0;
	want.pl_buf = 29696;
	plan_expect(test, &args, &want);
	/* An item that stays in the stream is copied. */
	rtx.px_gather = 7;
	args.pa_reduce = false;
	want = (struct rpcrdma_plan) { RPCRDMA_CALL_GROUP, RPCRDMA_REPLY_INLINE,
				       64, 2, 1, };
	plan_expect(test, &args, &want);
	args.pa_reduce = true;
	rtx.px_send = 0;
	plan_expect(test, &args, &want);
}

/* Plan an RPC with foreign pages (plan.h) in its Call if @call is true, and for its Reply if @reply
 * is true. Check that no form is chosen in which the CPU may access them. Returns whether there is
 * a plan.
 */
static bool plan_foreign_ok(struct kunit *test, const struct rpcrdma_limits
			    *limits, const struct rpcrdma_plan_args *ordinary,
			    bool call, bool reply, struct rpcrdma_plan *plan)
{
	struct rpcrdma_plan_args args = *ordinary;
	int rc;

	args.pa_call_foreign = call;
	args.pa_reply_foreign = reply;
	rc = rpcrdma_plan_rpc(limits, &args, plan);
	if (rc) {
		KUNIT_EXPECT_EQ(test, rc, -EIO);
		return false;
	}
	if (call)
		KUNIT_EXPECT_EQ(test, plan->pl_call, RPCRDMA_CALL_READ);
	if (reply)
		KUNIT_EXPECT_EQ(test, plan->pl_reply, RPCRDMA_REPLY_WRITE);
	return true;
}

/* An item in foreign pages (plan.h) goes in a chunk of its own, however short it is, even if it
 * would be inline or in a group if its pages were ordinary. A header without chunks has 28 bytes,
 * and a Read chunk or a Write chunk of one segment adds 24.
 * Covers: G-44
 */
static void plan_foreign(struct kunit *test)
{
	static const u32 lengths[] = { 4, 512, 8192, 65536, 0x100000 };
	const struct rpcrdma_limits limits = {
		.lm_inline_send = 4096, .lm_inline_recv = 4096,
	};
	struct rpcrdma_plan_rtx rtx = {
		.px_peer = { .xp_call_max = 64, .xp_msg_max = 0x200000,
			     .xp_head = 1024, .xp_seg = 4096, .xp_nsegs = 7 },
		.px_more = 63, .px_send = 29696, .px_gather = 7,
		.px_long_max = 0x200000, .px_write_max = 0x200000,
	};
	struct rpcrdma_plan_args args = { };
	struct rpcrdma_plan plan;
	u32 i, len;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(lengths) * 2; i++) {
		len = lengths[i / 2];
		args = (struct rpcrdma_plan_args) { .pa_call_len = 200 + len,
						    .pa_call_item = len,
						    .pa_call_data = len,
						    .pa_reply_max = 100,
						    .pa_call_item_segs = 1,
						    .pa_call_segs = 3,
						    .pa_reply_segs = 1,
						    .pa_reduce = true, .pa_rtx =
						    i % 2 ? &rtx : NULL, };
		ok = plan_foreign_ok(test, &limits, &args, true, false, &plan);
		KUNIT_EXPECT_TRUE(test, ok);
		KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, 28 + 24);
		KUNIT_EXPECT_EQ(test, plan.pl_count, 1);
		KUNIT_EXPECT_EQ(test, plan.pl_placed, 0);

		args = (struct rpcrdma_plan_args) { .pa_call_len = 200,
						    .pa_reply_max = 100 + len,
						    .pa_reply_item = len,
						    .pa_reply_item_segs = 1,
						    .pa_call_segs = 1,
						    .pa_reply_segs = 3,
						    .pa_reduce = true, .pa_rtx =
						    i % 2 ? &rtx : NULL, };
		ok = plan_foreign_ok(test, &limits, &args, false, true, &plan);
		KUNIT_EXPECT_TRUE(test, ok);
		KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_INLINE);
		KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, 28 + 24);
	}
}

/* If an item in foreign pages can have no chunk of its own, the RPC fails, although another form
 * would be possible for ordinary pages. For example, the security flavour protects the stream, or
 * the server has refused the chunk, or the rest of the message is too long.
 * Covers: G-44
 */
static void plan_foreign_fails(struct kunit *test)
{
	const struct rpcrdma_limits limits = {
		.lm_inline_send = 4096, .lm_inline_recv = 4096,
	};
	const struct rpcrdma_plan_args base = {
		.pa_call_len = 1200, .pa_call_item = 1000, .pa_call_data = 1000,
		.pa_reply_max = 1100, .pa_reply_item = 1000,
		.pa_call_item_segs = 1, .pa_call_segs = 3,
		.pa_reply_item_segs = 1, .pa_reply_segs = 3, .pa_reduce = true,
	};
	struct rpcrdma_plan_args bad[6];
	struct rpcrdma_plan plan;
	u32 i;

	KUNIT_EXPECT_TRUE(test, plan_foreign_ok(test, &limits, &base, true,
						true, &plan));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = base;
	bad[0].pa_no_read = true;
	bad[1].pa_call_item = 0;
	bad[2].pa_call_len = 5200;
	bad[3].pa_reduce = false;
	bad[4].pa_reply_item = 0;
	bad[5].pa_reply_chunk = true;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* Each of these has a plan for ordinary pages. */
		KUNIT_EXPECT_EQ(test, rpcrdma_plan_rpc(&limits, &bad[i], &plan),
				0);
		KUNIT_EXPECT_EQ(test, plan_foreign_ok(test, &limits, &bad[i],
						      true, false, &plan),
				i >= 4);
		KUNIT_EXPECT_EQ(test, plan_foreign_ok(test, &limits, &bad[i],
						      false, true, &plan),
				i <= 2);
	}
}

static struct kunit_case plan_kunit_cases[] = {
	KUNIT_CASE(plan_grid),
	KUNIT_CASE_PARAM(plan_examples, plan_gen_params),
	KUNIT_CASE(plan_all_segments_fit),
	KUNIT_CASE_PARAM(plan_examples_v2, plan_gen_params),
	KUNIT_CASE(plan_retried),
	KUNIT_CASE_PARAM(retry_remedies, retry_gen_params),
	KUNIT_CASE(retry_ends),
	KUNIT_CASE_PARAM(plan_answers, answer_gen_params),
	KUNIT_CASE_PARAM(rpcrdma_plan_rtx, plan_rtx_gen_params),
	KUNIT_CASE(plan_rtx_bounds),
	KUNIT_CASE_PARAM(plan_placed, plan_placed_gen_params),
	KUNIT_CASE(plan_placed_bounds),
	KUNIT_CASE(plan_gathers),
	KUNIT_CASE(plan_foreign),
	KUNIT_CASE(plan_foreign_fails),
	{}
};

static struct kunit_suite rpcrdma_plan_suite = {
	.name = "rpcrdma_plan",
	.init = fx_init,
	.test_cases = plan_kunit_cases,
};

kunit_test_suite(rpcrdma_plan_suite);
