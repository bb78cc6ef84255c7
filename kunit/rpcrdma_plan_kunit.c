// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/plan.c: the forms of Calls and Replies. See plan.h for the terms. */

#include <kunit/test.h>
#include <linux/limits.h>

#include <rpcrdma/plan.h>
#include <rpcrdma/size.h>

#include "rpcrdma_kunit.h"

#define MIB	0x100000u

/* A plan, in the order of the members of struct rpcrdma_plan */
#define PLAN(call, reply, ...) { RPCRDMA_CALL_##call, RPCRDMA_REPLY_##reply, __VA_ARGS__ }

#define LIMITS(send, recv, extra) {						\
	.lm_inline_send = (send), .lm_inline_recv = (recv), .lm_hdr_extra = (extra),	\
}

/* The size of a header, from the layout in wire.rst */
static u32 plan_header(u32 reads, u32 writes, u32 reply)
{
	return 28 + 24 * reads + (writes ? 8 + 16 * writes : 0) +
	       (reply ? 4 + 16 * reply : 0);
}

/* Compute a plan of version 1 without groups, independently of the tested code. */
static struct rpcrdma_plan plan_oracle(const struct rpcrdma_limits *limits,
				       const struct rpcrdma_plan_args *args)
{
	u32 reply_rest = args->pa_reply_max - args->pa_reply_item;
	u32 call_rest = args->pa_call_len - args->pa_call_item;
	u32 hdr, writes = 0, reply = 0, reads = 0;
	struct rpcrdma_plan plan = PLAN(INLINE, INLINE);

	hdr = plan_header(0, args->pa_reply_item_segs, 0);
	if (28 + args->pa_reply_max <= limits->lm_inline_recv) {
		plan.pl_reply = RPCRDMA_REPLY_INLINE;
	} else if (args->pa_reduce && args->pa_reply_item &&
		   hdr + reply_rest <= limits->lm_inline_recv) {
		plan.pl_reply = RPCRDMA_REPLY_WRITE;
		writes = args->pa_reply_item_segs;
	} else {
		plan.pl_reply = RPCRDMA_REPLY_LONG;
		reply = args->pa_reply_segs;
	}
	hdr = plan_header(0, writes, reply);
	if (hdr + args->pa_call_len <= limits->lm_inline_send)
		goto out;
	hdr = plan_header(args->pa_call_item_segs, writes, reply);
	if (args->pa_reduce && args->pa_call_item &&
	    hdr + call_rest <= limits->lm_inline_send) {
		plan.pl_call = RPCRDMA_CALL_READ;
		reads = args->pa_call_item_segs;
	} else {
		plan.pl_call = RPCRDMA_CALL_LONG;
		reads = args->pa_call_segs;
	}
out:
	plan.pl_hdr_max = plan_header(reads, writes, reply);
	return plan;
}

/* Some of these are near the length of the largest message that fits an inline threshold of 1024 or
 * 4096 bytes, with or without a Read or Write chunk of one segment.
 */
static const u32 plan_lengths[] = {
	40, 400, 900, 971, 972, 973, 996, 997, 1000, 1024, 1025, 2000, 4000,
	4043, 4044, 4045, 4068, 4069, 4096, 9000, MIB, 0x7fffffff,
};

/* Each of Call and Reply has no item, an item of half of the message, or of all but 40 bytes.
 * Covers: V1-CRD-16 V1-CRD-17 V1-FRM-04 V1-FRM-11 V1-FRM-12 V1-HDR-17 V1-RPL-01 V1-WRC-18 MEM-15
 * Covers: G-27
 */
static void plan_grid(struct kunit *test)
{
	static const u32 thresholds[] = {
		1024, 4096, 65536 }, segs[] = { 1, 2, 17,
	};
	const u32 n = ARRAY_SIZE(plan_lengths);
	u32 i, j;

	for (i = 0; i < 3 * 3 * 3 * 2; i++) {
		const struct rpcrdma_limits limits =
			LIMITS(thresholds[i % 3], thresholds[i / 3 % 3], 0);
		u32 s = segs[i / 9 % 3];

		for (j = 0; j < n * n * 9; j++) {
			u32 call = plan_lengths[j / 9 % n],
				reply = plan_lengths[j / 9 / n];
			const u32 call_items[] = { 0, call / 2, call - 40 };
			const u32 reply_items[] = { 0, reply / 2, reply - 40 };
			const struct rpcrdma_plan_args args = {
				.pa_call_len = call,
				.pa_call_item = call_items[j % 3],
				.pa_reply_max = reply,
				.pa_reply_item = reply_items[j / 3 % 3],
				.pa_call_item_segs = s, .pa_call_segs = s,
				.pa_reply_item_segs = s, .pa_reply_segs = s,
				.pa_reduce = i / 27,
			};
			const struct rpcrdma_plan want = plan_oracle(&limits,
								     &args);
			struct rpcrdma_plan plan;

			KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args,
							       &plan), 0);
			KUNIT_EXPECT_EQ(test, plan.pl_call, want.pl_call);
			KUNIT_EXPECT_EQ(test, plan.pl_reply, want.pl_reply);
			KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, want.pl_hdr_max);
		}
	}
}

/**
 * struct plan_message - a Call, or the largest Reply to it
 * @len: length in bytes
 * @item: length of the eligible item, if there is one
 * @item_segs: number of segments of the item
 * @segs: number of segments of the whole message
 */
struct plan_message {
	u32	len;
	u32	item;
	u32	item_segs;
	u32	segs;
};

struct plan_case {
	const char		*desc;
	struct plan_message	call;
	struct plan_message	reply;
	bool			whole;	/* no item may leave the stream */
	struct rpcrdma_plan	plan;	/* no form if the RPC cannot be sent */
};

/* Here the headers are those of version 1, and the inline thresholds are 4096 bytes to the server
 * and 1024 to the client.
 */
static const struct plan_case plan_cases[] = {
	{ "a small Call and a small Reply", { 100 }, { 100 }, false, PLAN(INLINE, INLINE, 28) },
	{ "the largest that are inline", { 4068 }, { 996 }, true, PLAN(INLINE, INLINE, 28) },
	{ "a Call one byte too large", { 4069, 0, 0, 2 }, { 996 }, true, PLAN(LONG, INLINE, 76) },
	{ "a Reply one byte too large", { 100 }, { 997, 0, 0, 2 }, true, PLAN(INLINE, LONG, 64) },
	{ "READ of a megabyte", { 120 }, { MIB + 128, MIB, 1, 2 }, false, PLAN(INLINE, WRITE, 52) },
	{ "READ of a megabyte, protected", { 120 }, { MIB + 128, MIB, 1, 2 }, true,
	  PLAN(INLINE, LONG, 64) },
	{ "READ with as much around the data as fits", { 120 }, { MIB + 972, MIB, 1, 2 }, false,
	  PLAN(INLINE, WRITE, 52) },
	{ "READ with too much around the data", { 120 }, { MIB + 973, MIB, 1, 2 }, false,
	  PLAN(INLINE, LONG, 64) },
	{ "WRITE of a megabyte", { MIB + 128, MIB, 1, 3 }, { 200 }, false, PLAN(READ, INLINE, 52) },
	{ "WRITE of a megabyte, protected", { MIB + 128, MIB, 1, 3 }, { 200 }, true,
	  PLAN(LONG, INLINE, 100) },
	{ "WRITE with too much around the data", { MIB + 4045, MIB, 1, 3 }, { 200 }, false,
	  PLAN(LONG, INLINE, 100) },
	{ "a Long Call with a Long Reply", { 5000, 0, 0, 2 }, { 5000, 0, 0, 2 }, false,
	  PLAN(LONG, LONG, 112) },
	{ "a Call that is too large because of the Reply", { 4068, 0, 0, 1 }, { 1000, 0, 0, 1 },
	  true, PLAN(LONG, LONG, 72) },
	{ "as many segments as fit a Call", { 5000, 0, 0, 168 }, { 5000, 0, 0, 2 }, true,
	  PLAN(LONG, LONG, 4096) },
	{ "as many segments as fit a Reply", { 100 }, { 5000, 0, 0, 62 }, true,
	  PLAN(INLINE, LONG, 1024) },
	{ "segments without end in a Call", { 5000, 0, 0, 170 }, { 100 }, true },
	{ "segments without end in a Reply", { 100 }, { 5000, 0, 0, 63 }, true },
	{ "numbers that overflow", { U32_MAX, 8, U32_MAX, U32_MAX },
	  { U32_MAX, 8, U32_MAX, U32_MAX } },
};

KUNIT_ARRAY_PARAM_DESC(plan, plan_cases, desc);

/* Without groups (rtx.h), the header of a Call or Reply is 8 bytes longer in version 2 than in
 * version 1. If the inline thresholds are 8 bytes larger, too, the decisions are the same.
 * Covers: V1-CRD-17 V1-FRM-01 V1-FRM-02 V1-FRM-04 V1-FRM-05 V1-FRM-07 V1-FRM-11 V1-RPL-01 MEM-15
 * Covers: G-27 V2-INL-02 V2-INL-05 V2-PRP-11 V2-PRP-12
 */
static void plan_examples(struct kunit *test)
{
	const struct plan_case *param = test->param_value;
	const struct plan_message *call = &param->call, *reply = &param->reply;
	const struct rpcrdma_plan_args args = {
		.pa_call_len = call->len, .pa_call_item = call->item,
		.pa_call_item_segs = call->item_segs,
		.pa_call_segs = call->segs, .pa_reply_max = reply->len,
		.pa_reply_item = reply->item,
		.pa_reply_item_segs = reply->item_segs,
		.pa_reply_segs = reply->segs, .pa_reduce = !param->whole,
	};
	struct rpcrdma_plan plan;
	u32 extra;

	for (extra = 0; extra <= 8; extra += 8) {
		const struct rpcrdma_limits limits =
			LIMITS(4096 + extra, 1024 + extra, extra);
		int rc = rpcrdma_plan_rpc(&limits, &args, &plan);

		KUNIT_ASSERT_EQ(test, rc,
				param->plan.pl_hdr_max ? 0 : -EMSGSIZE);
		if (rc)
			continue;
		KUNIT_EXPECT_EQ(test, plan.pl_call, param->plan.pl_call);
		KUNIT_EXPECT_EQ(test, plan.pl_reply, param->plan.pl_reply);
		KUNIT_EXPECT_EQ(test, plan.pl_hdr_max,
				param->plan.pl_hdr_max + extra);
	}
}

/* With the largest number of segments that a client puts in one chunk (RPCRDMA_CLIENT_SEGS), and
 * even with one or two more, the header fits the smallest inline threshold, 1024 bytes.
 * Covers: ULB-21 EXP-21
 */
static void plan_all_segments_fit(struct kunit *test)
{
	static const struct rpcrdma_limits limits = LIMITS(1024, 1024, 0);
	const u32 segs = RPCRDMA_CLIENT_SEGS, all = RPCRDMA_CLIENT_SEGS + 2;
	struct rpcrdma_plan_args args = {
		.pa_call_len = MIB + 300, .pa_call_item = MIB,
		.pa_call_item_segs = segs, .pa_call_segs = all,
		.pa_reply_max = MIB + 300, .pa_reply_item = MIB,
		.pa_reply_item_segs = segs + 1, .pa_reply_segs = all,
		.pa_reduce = true,
	};
	struct rpcrdma_plan plan;

	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_WRITE);
	args.pa_reply_max = 200;
	args.pa_reply_item = 0;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_READ);

	/* If no item may be taken out, the whole Call and Reply go by RDMA */
	args.pa_reply_max = MIB + 300;
	args.pa_reduce = false;
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, RPCRDMA_CALL_LONG);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, RPCRDMA_REPLY_LONG);
	KUNIT_EXPECT_LE(test, plan.pl_hdr_max, 1024);
}

/* What must not be used, or must be, because of an error of version 2, or because the CPU must not
 * access the item's pages (plan.h: foreign pages)
 */
enum {
	NO_READ		= 1,
	NO_LONG		= 2,
	REPLY_CHUNK	= 4,
	WHOLE		= 8,
	FOREIGN_CALL	= 16,
	FOREIGN_REPLY	= 32,
};

struct plan_must_case {
	const char		*desc;
	u32			must;
	int			ret;
	struct rpcrdma_plan	plan;
	u32			call_len;	/* 9000, unless it is given */
	bool			short_reply;	/* 100 bytes without an item, instead of 9000 */
	bool			no_item;	/* the Call has none */
};

/* The eligible item of Call and Reply has 8192 bytes. */
static const struct plan_must_case plan_must_cases[] = {
	{ "nothing", 0, 0, PLAN(READ, WRITE) },
	{ "no Read chunk", NO_READ, 0, PLAN(LONG, WRITE) },
	{ "no Read chunk, and a Reply chunk", NO_READ | REPLY_CHUNK, 0, PLAN(LONG, LONG) },
	{ "no chunk in the Call", NO_READ | REPLY_CHUNK | NO_LONG, -EMSGSIZE },
	{ "no Long Call: this forbids no Read chunk", REPLY_CHUNK | NO_LONG, 0, PLAN(READ, LONG) },
	{ "a short Reply", 0, 0, PLAN(READ, INLINE), .short_reply = true },
	{ "a Reply chunk, though the Reply is short", REPLY_CHUNK, 0, PLAN(READ, LONG),
	  .short_reply = true },
	{ "foreign pages", FOREIGN_CALL | FOREIGN_REPLY, 0, PLAN(READ, WRITE) },
	{ "foreign pages of a Call, and no Read chunk", FOREIGN_CALL | NO_READ, -EIO },
	{ "foreign pages of a Reply, and no Read chunk", FOREIGN_REPLY | NO_READ, 0,
	  PLAN(LONG, WRITE) },
	{ "foreign pages of a Call, without an item", FOREIGN_CALL, -EIO, .no_item = true },
	{ "foreign pages of a Reply, and a Call without an item", FOREIGN_REPLY, 0,
	  PLAN(LONG, WRITE), .no_item = true },
	{ "foreign pages of a Call, and too much around the item", FOREIGN_CALL, -EIO,
	  .call_len = 8192 + 4200 },
	{ "foreign pages of a Reply, and a Long Call", FOREIGN_REPLY, 0, PLAN(LONG, WRITE),
	  .call_len = 8192 + 4200 },
	{ "foreign pages of a Call, protected", FOREIGN_CALL | WHOLE, -EIO },
	{ "foreign pages of a Reply, protected", FOREIGN_REPLY | WHOLE, -EIO },
	{ "foreign pages of a Call, and a Reply without an item", FOREIGN_CALL, 0,
	  PLAN(READ, INLINE), .short_reply = true },
	{ "foreign pages of a Reply, without an item", FOREIGN_REPLY, -EIO, .short_reply = true },
	{ "foreign pages of a Call, and a Reply chunk", FOREIGN_CALL | REPLY_CHUNK, 0,
	  PLAN(READ, LONG) },
	{ "foreign pages of a Reply, and a Reply chunk", FOREIGN_REPLY | REPLY_CHUNK, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(plan_must, plan_must_cases, desc);

/* Covers: V2-ERR-10 V2-ERR-12 V2-ERR-15 G-23 G-44 */
static void plan_musts(struct kunit *test)
{
	static const struct rpcrdma_limits limits = LIMITS(4096, 4096, 8);
	const struct plan_must_case *param = test->param_value;
	const struct rpcrdma_plan_args args = {
		.pa_call_len = param->call_len ?: 9000,
		.pa_call_item = param->no_item ? 0 : 8192,
		.pa_call_data = param->no_item ? 0 : 8192,
		.pa_call_item_segs = 1, .pa_call_segs = 3,
		.pa_reply_max = param->short_reply ? 100 : 9000,
		.pa_reply_item = param->short_reply ? 0 : 8192,
		.pa_reply_item_segs = 1, .pa_reply_segs = 3,
		.pa_reduce = !(param->must & WHOLE),
		.pa_no_read = param->must & NO_READ,
		.pa_no_long = param->must & NO_LONG,
		.pa_reply_chunk = param->must & REPLY_CHUNK,
		.pa_call_foreign = param->must & FOREIGN_CALL,
		.pa_reply_foreign = param->must & FOREIGN_REPLY,
	};
	struct rpcrdma_plan plan;

	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan),
			param->ret);
	if (param->ret)
		return;
	KUNIT_EXPECT_EQ(test, plan.pl_call, param->plan.pl_call);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, param->plan.pl_reply);
}

/* An item in foreign pages goes in a chunk of its own, however short it is, even if it would be
 * inline or in a group if its pages were ordinary. A header without chunks has 28 bytes, and a
 * chunk of one segment adds 24.
 * Covers: G-44
 */
static void plan_foreign(struct kunit *test)
{
	static const u32 lengths[] = { 4, 512, 8192, 65536, MIB };
	static const struct rpcrdma_limits limits = LIMITS(4096, 4096, 0);
	static const struct rpcrdma_plan_rtx rtx = {
		.px_peer = { .xp_call_max = 64, .xp_msg_max = 2 * MIB,
			     .xp_head = 1024, .xp_seg = 4096, .xp_nsegs = 7 },
		.px_more = 63, .px_send = 29696, .px_gather = 7,
		.px_long_max = 2 * MIB, .px_write_max = 2 * MIB,
	};
	struct rpcrdma_plan plan;
	u32 i;

	for (i = 0; i < 4 * ARRAY_SIZE(lengths); i++) {
		u32 len = lengths[i / 4], call = i & 1 ? len : 0,
			reply = i & 1 ? 0 : len;
		const struct rpcrdma_plan_args args = {
			.pa_call_len = 200 + call, .pa_call_item = call,
			.pa_call_data = call, .pa_reply_max = 100 + reply,
			.pa_reply_item = reply, .pa_call_item_segs = 1,
			.pa_call_segs = 3, .pa_reply_item_segs = 1,
			.pa_reply_segs = 3, .pa_reduce = true,
			.pa_rtx = i & 2 ? &rtx : NULL, .pa_call_foreign = call,
			.pa_reply_foreign = reply,
		};

		KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan),
				0);
		KUNIT_EXPECT_EQ(test, plan.pl_call,
				call ? RPCRDMA_CALL_READ : RPCRDMA_CALL_INLINE);
		KUNIT_EXPECT_EQ(test, plan.pl_reply, reply ?
				RPCRDMA_REPLY_WRITE : RPCRDMA_REPLY_INLINE);
		KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, 28 + 24);
		KUNIT_EXPECT_EQ(test, plan.pl_count, 1);
		KUNIT_EXPECT_EQ(test, plan.pl_placed, 0);
	}
}

enum plan_remedy { NEVER, AGAIN, WITHOUT_READ, WITH_REPLY_CHUNK };

struct retry_case {
	const char		*desc;
	struct rpcrdma_plan	plan;
	u32			err, needed;
	enum plan_remedy	remedy;
};

#define RETRY(desc, call, reply, err, needed, remedy) {				\
	desc, { RPCRDMA_CALL_##call, RPCRDMA_REPLY_##reply },			\
	RPCRDMA2_ERR_##err, needed, remedy					\
}

/* The Reply chunk, if there is one, has 8192 bytes, and may have up to 66000. */
static const struct retry_case retry_cases[] = {
	RETRY("a Read chunk", READ, INLINE, READ_CHUNKS, 0, WITHOUT_READ),
	RETRY("a Position Zero chunk", LONG, INLINE, READ_CHUNKS, 0, NEVER),
	RETRY("no Read chunk", INLINE, INLINE, READ_CHUNKS, 0, NEVER),
	RETRY("a Write chunk", INLINE, WRITE, WRITE_CHUNKS, 0,
	      WITH_REPLY_CHUNK),
	RETRY("a Reply chunk", INLINE, LONG, WRITE_CHUNKS, 0, NEVER),
	RETRY("segments", READ, INLINE, SEGMENTS, 2, NEVER),
	RETRY("a Write chunk too short", INLINE, WRITE, WRITE_RESOURCE, 1,
	      NEVER),
	RETRY("all there is", INLINE, LONG, REPLY_RESOURCE, 66000,
	      WITH_REPLY_CHUNK),
	RETRY("one byte", INLINE, INLINE, REPLY_RESOURCE, 1, WITH_REPLY_CHUNK),
	RETRY("beside a Write chunk", INLINE, WRITE, REPLY_RESOURCE, 8192,
	      WITH_REPLY_CHUNK),
	RETRY("nothing is needed", INLINE, INLINE, REPLY_RESOURCE, 0, NEVER),
	RETRY("what was offered", INLINE, LONG, REPLY_RESOURCE, 8192, NEVER),
	RETRY("one byte more than there is", INLINE, INLINE, REPLY_RESOURCE,
	      66001, NEVER),
	RETRY("four gigabytes", INLINE, INLINE, REPLY_RESOURCE, U32_MAX, NEVER),
	RETRY("RTX_CONT to a group", GROUP, INLINE, RTX_CONT, 0, AGAIN),
	RETRY("RTX_LIMIT to a group", GROUP, INLINE, RTX_LIMIT, 0, AGAIN),
	RETRY("INVAL_HTYPE to a group", GROUP, INLINE, INVAL_HTYPE, 0, AGAIN),
	RETRY("RTX_CONT to no group", READ, INLINE, RTX_CONT, 0, NEVER),
	RETRY("RTX_LIMIT to no group", LONG, INLINE, RTX_LIMIT, 0, NEVER),
	RETRY("INVAL_HTYPE to no group", LONG, INLINE, INVAL_HTYPE, 0, NEVER),
	RETRY("BAD_XDR", GROUP, INLINE, BAD_XDR, 0, NEVER),
	RETRY("SYSTEM", GROUP, INLINE, SYSTEM, 0, NEVER),
	RETRY("VERS", READ, INLINE, VERS, 1, NEVER),
	{ "a code nobody knows", PLAN(READ, INLINE), 77, 9000, NEVER },
};

KUNIT_ARRAY_PARAM_DESC(retry, retry_cases, desc);

static void retry_check(struct kunit *test, const struct rpcrdma_hdr *hdr,
			enum plan_remedy remedy)
{
	const struct retry_case *param = test->param_value;
	u32 had = param->plan.pl_reply == RPCRDMA_REPLY_LONG ? 8192 : 0;
	struct rpcrdma_retry retry = { };

	KUNIT_EXPECT_EQ(test, rpcrdma_plan_retry(&retry, hdr, &param->plan, had,
						 66000), !!remedy);
	KUNIT_EXPECT_EQ(test, retry.ry_no_read, remedy == WITHOUT_READ);
	KUNIT_EXPECT_EQ(test, retry.ry_reply_chunk, remedy == WITH_REPLY_CHUNK);
	KUNIT_EXPECT_EQ(test, retry.ry_base, !!remedy);
}

/* Covers: V2-ERR-08 V2-ERR-10 V2-ERR-12 V2-ERR-13 V2-ERR-15 V2-ERR-17 V2-ERR-19 V2-ERR-21
 * Covers: V2-ERR-22 V2-ERR-24 V2-ERR-25 G-23 RTX-87 RTX-88
 */
static void retry_remedies(struct kunit *test)
{
	const struct retry_case *param = test->param_value;
	struct rpcrdma_hdr hdr = {
		.hd_err = param->err, .hd_err_arg = { param->needed, 9000 },
	};

	retry_check(test, &hdr, param->remedy);
	/* An error in the layout of version 1 has no remedy. */
	hdr.hd_v1_error = true;
	retry_check(test, &hdr, NEVER);
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
	static const struct rpcrdma_limits limits = LIMITS(4096, 4096, 8);
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
	u32				hdr, body, chunk;
	bool				prefer_inline;
	enum rpcrdma_answer_form	form;
};

/* The client receives messages of up to 1024 bytes. */
static const struct answer_case answer_cases[] = {
	{ "a Reply that just fits", 28, 996, 0, false, RPCRDMA_ANSWER_INLINE },
	{ "a Reply one byte too large", 28, 997, 0, false, RPCRDMA_ANSWER_ERROR },
	{ "a Reply chunk, and a small Reply", 48, 100, 100, false, RPCRDMA_ANSWER_LONG },
	{ "a Reply chunk, and a small Reply that may be inline", 48, 100, 100, true,
	  RPCRDMA_ANSWER_INLINE },
	{ "a Reply chunk that is needed", 48, 977, 977, true, RPCRDMA_ANSWER_LONG },
	{ "a Reply chunk that is one byte too small", 48, 2000, 1999, false, RPCRDMA_ANSWER_ERROR },
	{ "a Reply chunk that is too small for a small Reply", 48, 200, 100, false,
	  RPCRDMA_ANSWER_ERROR },
	{ "a small Reply chunk that is not needed", 48, 200, 100, true, RPCRDMA_ANSWER_INLINE },
	{ "a header that just fits", 1024, 100, 4096, false, RPCRDMA_ANSWER_LONG },
	{ "a header that is too large by itself", 1025, 100, 4096, false, RPCRDMA_ANSWER_ERROR },
	{ "a body whose length overflows", 28, U32_MAX, 0, false, RPCRDMA_ANSWER_ERROR },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

/* Covers: V1-RPL-04 V1-RPL-11 V1-RPL-12 V1-RPL-13 V1-ERR-11 V1-ERR-24 V1-CRD-16 V1-HDR-17 G-02
 * Covers: G-13
 */
static void plan_answers(struct kunit *test)
{
	static const struct rpcrdma_limits limits = LIMITS(1024, 4096, 0);
	const struct answer_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test,
			rpcrdma_plan_answer(&limits, param->hdr, param->body,
					    param->chunk, param->prefer_inline),
			param->form);
}

#define NONE	U32_MAX

/**
 * struct plan_rtx_case - an RPC on a connection with groups, on which nothing is in flight
 * @desc: what is special
 * @call: length of the Call
 * @call_item: length of its item
 * @reply: length of the largest Reply
 * @reply_item: length of its item
 * @whole: no item may leave the stream
 * @plan: the plan. If it is a group, @pl_limit is 16384, and @pl_buf is like @pl_limit, unless the
 *	row has other values
 * @more: px_more if it is not the usual; %NONE stands for 0. So do the other members
 * @spare: px_spare
 * @send: px_send
 * @gather: px_gather
 * @write_max: px_write_max
 * @call_max: xp_call_max
 * @reply_max: xp_reply_max
 * @msg_max: xp_msg_max
 * @nsegs: xp_nsegs
 */
struct plan_rtx_case {
	const char		*desc;
	u32			call, call_item, reply, reply_item;
	bool			whole;
	struct rpcrdma_plan	plan;
	u32			more, spare, send, gather, write_max;
	u32			call_max, reply_max, msg_max, nsegs;
};

static void plan_set(u32 *member, u32 value)
{
	if (value)
		*member = value == NONE ? 0 : value;
}

/* An item takes one segment, and a whole message takes three. */
static void plan_rtx_check(struct kunit *test, struct rpcrdma_plan_rtx *rtx)
{
	static const struct rpcrdma_limits limits = LIMITS(16384, 16384, 8);
	const struct plan_rtx_case *param = test->param_value;
	const struct rpcrdma_plan *want = &param->plan;
	const struct rpcrdma_plan_args args = {
		.pa_call_len = param->call,
		.pa_call_item = round_up(param->call_item, 4),
		.pa_call_data = param->call_item, .pa_reply_max = param->reply,
		.pa_reply_item = param->reply_item, .pa_call_item_segs = 1,
		.pa_call_segs = 3, .pa_reply_item_segs = 1, .pa_reply_segs = 3,
		.pa_reduce = !param->whole, .pa_rtx = rtx,
	};
	struct rpcrdma_plan plan;

	plan_set(&rtx->px_more, param->more);
	plan_set(&rtx->px_spare, param->spare);
	plan_set(&rtx->px_send, param->send);
	plan_set(&rtx->px_gather, param->gather);
	plan_set(&rtx->px_write_max, param->write_max);
	plan_set(&rtx->px_peer.xp_call_max, param->call_max);
	plan_set(&rtx->px_peer.xp_reply_max, param->reply_max);
	plan_set(&rtx->px_peer.xp_msg_max, param->msg_max);
	plan_set(&rtx->px_peer.xp_nsegs, param->nsegs);
	KUNIT_ASSERT_EQ(test, rpcrdma_plan_rpc(&limits, &args, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.pl_call, want->pl_call);
	KUNIT_EXPECT_EQ(test, plan.pl_reply, want->pl_reply);
	KUNIT_EXPECT_EQ(test, plan.pl_hdr_max, want->pl_hdr_max);
	KUNIT_EXPECT_EQ(test, plan.pl_count, want->pl_count);
	KUNIT_EXPECT_EQ(test, plan.pl_replies, want->pl_replies);
	KUNIT_EXPECT_EQ(test, plan.pl_short, want->pl_short);
	KUNIT_EXPECT_EQ(test, plan.pl_placed, want->pl_placed);
	KUNIT_EXPECT_EQ(test, plan.pl_limit, want->pl_limit ?: plan.pl_call ==
			RPCRDMA_CALL_GROUP ? 16384 : 0);
	KUNIT_EXPECT_EQ(test, plan.pl_gathered, want->pl_gathered);
	KUNIT_EXPECT_EQ(test, plan.pl_buf, want->pl_buf ?: plan.pl_limit);
}

/* A server like ours, but without target segments (rtx.h) */
static const struct plan_rtx_case plan_rtx_cases[] = {
	/* lengths of the Call and its item, and of the Reply and its item */
	{ "all fits", 16348, 0, 16348, 0, false, PLAN(INLINE, INLINE, 36, 1, 1) },
	{ "a Call one byte too long", 16349, 0, 100, 0, false, PLAN(GROUP, INLINE, 64, 2, 1) },
	{ "what two transmissions take", 32668, 0, 100, 0, false, PLAN(GROUP, INLINE, 64, 2, 1) },
	{ "one byte more", 32669, 0, 100, 0, false, PLAN(GROUP, INLINE, 64, 3, 1) },
	{ "the longest", 262144, 0, 100, 0, false, PLAN(GROUP, INLINE, 64, 17, 1) },
	{ "longer than that", 262145, 0, 100, 0, false, PLAN(LONG, INLINE, 108, 1, 1) },
	{ "an item of 64 KB", 65736, 65536, 100, 0, false, PLAN(GROUP, INLINE, 64, 5, 1) },
	{ "a larger item", 65740, 65540, 100, 0, false, PLAN(READ, INLINE, 60, 1, 1) },
	{ "an item that may not leave the stream", 100000, 99000, 100, 0, true,
	  PLAN(GROUP, INLINE, 64, 7, 1) },
	{ "READDIR of 64 KB", 84, 0, 65636, 0, false, PLAN(GROUP, GROUP, 64, 1, 5) },
	{ "the largest Reply by Receives", 84, 0, 130756, 0, false,
	  PLAN(GROUP, GROUP, 64, 1, 8) },
	{ "a larger Reply", 84, 0, 130757, 0, false, PLAN(INLINE, LONG, 88, 1, 1) },
	{ "READ", 84, 0, 65636, 65536, false, PLAN(INLINE, WRITE, 60, 1, 1) },
	{ "READ, protected", 84, 0, 65636, 65536, true, PLAN(INLINE, LONG, 88, 1, 1) },
	{ "long both ways", 30000, 0, 30000, 0, false, PLAN(GROUP, GROUP, 64, 2, 2) },
	{ "a long Call, and a Reply for a chunk", 30000, 0, 300000, 0, false,
	  PLAN(GROUP, LONG, 116, 2, 1) },
	{ "a Call for a chunk: so is its Reply", 300000, 0, 30000, 0, false,
	  PLAN(LONG, LONG, 160, 1, 1) },
	{ "the credit and the Receive that it takes", 30000, 0, 30000, 0, false,
	  PLAN(GROUP, GROUP, 64, 2, 2), .more = 1, .spare = 1 },
	{ "no second Receive", 30000, 0, 30000, 0, false,
	  PLAN(GROUP, LONG, 116, 2, 1, .pl_short = true), .more = 1, .spare = NONE },
	{ "no second credit", 30000, 0, 30000, 0, false,
	  PLAN(LONG, LONG, 160, 1, 1, .pl_short = true), .more = NONE, .spare = 1 },
	{ "the server makes no Reply of two", 30000, 0, 30000, 0, false,
	  PLAN(GROUP, LONG, 116, 2, 1), .reply_max = 1 },
	{ "the server takes no Call of two", 30000, 0, 30000, 0, false,
	  PLAN(LONG, LONG, 160, 1, 1), .call_max = 1, .reply_max = 1 },
	{ "the same, and no second Receive", 30000, 0, 30000, 0, false,
	  PLAN(LONG, LONG, 160, 1, 1, .pl_short = true), .call_max = 1, .spare = NONE },
	{ "the longest that the server takes", 30000, 0, 30000, 0, false,
	  PLAN(GROUP, GROUP, 64, 2, 2), .msg_max = 30000 },
	{ "one byte more than it takes", 30000, 0, 30000, 0, false,
	  PLAN(LONG, LONG, 160, 1, 1), .msg_max = 29999 },
};

KUNIT_ARRAY_PARAM_DESC(plan_rtx, plan_rtx_cases, desc);

/* Covers: RTX-32 RTX-39 RTX-41 RTX-61 RTX-62 RTX-68 RTX-78 RTX-94 RTX-95 RTX-97 RTX-98 */
static void plan_rtx(struct kunit *test)
{
	struct rpcrdma_plan_rtx rtx = {
		.px_peer = { .xp_call_max = 64, .xp_reply_max = 16,
			     .xp_msg_max = 0x101000 },
		.px_more = 64, .px_spare = 16, .px_long_max = 262144,
		.px_write_max = 65536,
	};

	plan_rtx_check(test, &rtx);
}

/* A server with seven target segments (rtx.h), of 4096 bytes each, in each Receive. If a Call is a
 * group without chunks, the header of its first transmission has 64 bytes, or 72 if the item is
 * placed. The limits are those of 29696 bytes, 1024 + 7 * 4096, unless they are given.
 */
static const struct plan_rtx_case plan_placed_cases[] = {
	{ "8 KB, though they fit RDMA2_MSG", 8312, 8192, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 8192) },
	{ "one word less", 8308, 8188, 100, 0, false, PLAN(INLINE, INLINE, 36, 1, 1) },
	{ "too long for RDMA2_MSG", 16349, 4000, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 4000) },
	{ "what fits one", 28792, 28672, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 28672) },
	{ "one word more", 28796, 28676, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 28676) },
	{ "a stream that fills the head", 28672 + 952, 28672, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 28672) },
	{ "a stream that goes on behind the data", 28672 + 956, 28672, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 28672) },
	{ "the largest", 131192, 131072, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 5, 1, 29696, 131072) },
	{ "larger than is to be sent", 131196, 131076, 100, 0, false,
	  PLAN(READ, INLINE, 60, 1, 1) },
	{ "protected: all of it in the stream", 65736, 65536, 100, 0, true,
	  PLAN(GROUP, INLINE, 64, 5, 1) },
	{ "protected, and it fits RDMA2_MSG", 8392, 8192, 100, 0, true,
	  PLAN(INLINE, INLINE, 36, 1, 1) },
	{ "no item", 30000, 0, 100, 0, false, PLAN(GROUP, INLINE, 64, 2, 1) },
	{ "a small item, and a Reply by Receives", 1200, 1000, 30000, 0, false,
	  PLAN(GROUP, GROUP, 72, 1, 2, 29696, 1000) },
	{ "just enough credits", 29120, 29000, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 29000), .more = 1 },
	{ "a credit too few", 29120, 29000, 100, 0, false,
	  PLAN(READ, INLINE, 60, 1, 1, .pl_short = true), .more = NONE },
	{ "the server takes no two", 29120, 29000, 100, 0, false, PLAN(READ, INLINE, 60, 1, 1),
	  .more = 1, .call_max = 1 },
	{ "the longest that it takes, without roundup", 29120, 28999, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 28999), .msg_max = 29119 },
	{ "one byte more than it takes", 29120, 28999, 100, 0, false,
	  PLAN(READ, INLINE, 60, 1, 1), .msg_max = 29118 },
	{ "the largest item to be sent, without roundup", 29120, 28999, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 28999), .write_max = 28999 },
	{ "one byte more than is to be sent", 29120, 28999, 100, 0, false,
	  PLAN(READ, INLINE, 60, 1, 1), .write_max = 28998 },
	{ "Sends that fill three segments", 29120, 29000, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 3, 1, 1024 + 3 * 4096, 29000), .send = 1024 + 3 * 4096 },
	{ "Sends too short to reach the targets", 29120, 29000, 100, 0, false,
	  PLAN(READ, INLINE, 60, 1, 1), .send = 1023 },
	{ "no Sends to the targets", 29120, 29000, 100, 0, false,
	  PLAN(GROUP, INLINE, 64, 2, 1), .send = NONE },
	{ "too few credits, and it fits RDMA2_MSG", 16348, 16000, 100, 0, false,
	  PLAN(INLINE, INLINE, 36, 1, 1, .pl_short = true), .nsegs = 1, .more = 2 },
	{ "too large an item, and it fits RDMA2_MSG", 16348, 16000, 100, 0, false,
	  PLAN(INLINE, INLINE, 36, 1, 1), .nsegs = 1, .more = 2, .write_max = 15999 },

	/* A Send can fill at most px_gather target segments directly from the pages of the item:
	 * five if the device allows six SGEs in a Send, as one is for the header and the stream.
	 */
	{ "what is gathered in one Send", 20600, 20480, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 20480, 5, 1024), .gather = 5 },
	{ "a word more would take two, and is copied", 20604, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 20484, 0, 29696), .gather = 5 },
	{ "one SGE more", 20604, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 1, 1, 29696, 20484, 6, 1024), .gather = 6 },
	{ "a stream that goes on in a second", 22384, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 20484, 6, 72 + 1900), .gather = 6 },
	{ "three segments in each of the two", 22384, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 20484, 3, 72 + 1900), .gather = 3 },
	{ "two segments are not enough", 22384, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 72, 2, 1, 29696, 20484, 0, 29696), .gather = 2 },
	{ "an item that stays in the stream", 22384, 20484, 100, 0, true,
	  PLAN(GROUP, INLINE, 64, 2, 1), .gather = 7 },
	{ "nothing gathered without targets", 22384, 20484, 100, 0, false,
	  PLAN(GROUP, INLINE, 64, 2, 1), .gather = 7, .send = NONE },
};

KUNIT_ARRAY_PARAM_DESC(plan_placed, plan_placed_cases, desc);

/* Covers: RTX-39 RTX-41 RTX-52 RTX-53 RTX-56 RTX-57 RTX-58 RTX-61 RTX-78 RTX-94 RTX-95 RTX-96
 * Covers: RTX-97 T-43
 */
static void plan_placed(struct kunit *test)
{
	struct rpcrdma_plan_rtx rtx = {
		.px_peer = { .xp_call_max = 64, .xp_reply_max = 16,
			     .xp_msg_max = 0x101000, .xp_head = 1024,
			     .xp_seg = 4096, .xp_nsegs = 7 },
		.px_more = 64, .px_spare = 16, .px_long_max = 262144,
		.px_write_max = 131072, .px_send = 29696,
	};

	plan_rtx_check(test, &rtx);
}

static struct kunit_case plan_kunit_cases[] = {
	KUNIT_CASE(plan_grid),
	KUNIT_CASE_PARAM(plan_examples, plan_gen_params),
	KUNIT_CASE(plan_all_segments_fit),
	KUNIT_CASE_PARAM(plan_musts, plan_must_gen_params),
	KUNIT_CASE(plan_foreign),
	KUNIT_CASE_PARAM(retry_remedies, retry_gen_params),
	KUNIT_CASE(retry_ends),
	KUNIT_CASE_PARAM(plan_answers, answer_gen_params),
	KUNIT_CASE_PARAM(plan_rtx, plan_rtx_gen_params),
	KUNIT_CASE_PARAM(plan_placed, plan_placed_gen_params),
	{}
};

static struct kunit_suite rpcrdma_plan_suite = {
	.name = "rpcrdma_plan",
	.init = fx_init,
	.test_cases = plan_kunit_cases,
};

kunit_test_suite(rpcrdma_plan_suite);
