// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/retry.c: what a client changes in a Call after an error of version 2.
 */

#include <kunit/test.h>
#include <linux/limits.h>

#include <rpcrdma/retry.h>

#include "rpcrdma_kunit.h"

/* An RPC with a Read chunk and a Write chunk */
static const struct rpcrdma_retry_args rpcrdma_retry_both = {
	.rg_call	= RPCRDMA_CALL_READ,
	.rg_reply	= RPCRDMA_REPLY_WRITE,
	.rg_segs	= 3,
	.rg_write_len	= 8192,
	.rg_write_max	= 65536,
	.rg_reply_len	= 8192,
	.rg_reply_max	= 66000,
};

static const struct rpcrdma_retry_args rpcrdma_retry_long = {
	.rg_call	= RPCRDMA_CALL_LONG,
	.rg_reply	= RPCRDMA_REPLY_LONG,
	.rg_segs	= 3,
	.rg_write_len	= 8192,
	.rg_write_max	= 65536,
	.rg_reply_len	= 8192,
	.rg_reply_max	= 66000,
};

static const struct rpcrdma_retry_args rpcrdma_retry_inline = {
	.rg_reply_max	= 66000,
	.rg_write_max	= 65536,
};

struct rpcrdma_retry_case {
	const char			*desc;
	const struct rpcrdma_retry_args	*args;
	u32				err;
	u32				arg[2];
	bool				good;
	struct rpcrdma_retry		want;
};

static const struct rpcrdma_retry_case rpcrdma_retry_cases[] = {
	{
		.desc = "READ_CHUNKS to a Read chunk",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_READ_CHUNKS,
		.good = true, .want = { .ry_no_read = true },
	}, {
		.desc = "READ_CHUNKS to a Position Zero chunk",
		.args = &rpcrdma_retry_long, .err = RPCRDMA2_ERR_READ_CHUNKS,
	}, {
		.desc = "READ_CHUNKS to no chunk",
		.args = &rpcrdma_retry_inline, .err = RPCRDMA2_ERR_READ_CHUNKS,
	}, {
		.desc = "WRITE_CHUNKS to a Write chunk",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_WRITE_CHUNKS,
		.good = true,
		.want = { .ry_no_write = true, .ry_reply_chunk = true },
	}, {
		.desc = "WRITE_CHUNKS to a Reply chunk",
		.args = &rpcrdma_retry_long, .err = RPCRDMA2_ERR_WRITE_CHUNKS,
	}, {
		.desc = "SEGMENTS, two of three",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_SEGMENTS,
		.arg = { 2 }, .good = true, .want = { .ry_segs = 2 },
	}, {
		.desc = "SEGMENTS, none",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_SEGMENTS,
	}, {
		.desc = "SEGMENTS, as many as there were",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_SEGMENTS,
		.arg = { 3 },
	}, {
		.desc = "SEGMENTS, very many",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_SEGMENTS,
		.arg = { U32_MAX },
	}, {
		.desc = "WRITE_RESOURCE, all there is",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 1, 65536 },
		.good = true, .want = { .ry_write_len = 65536 },
	}, {
		.desc = "WRITE_RESOURCE, a chunk without a number",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 0, 8193 },
		.good = true, .want = { .ry_write_len = 8193 },
	}, {
		.desc = "WRITE_RESOURCE, another chunk",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 2, 65536 },
	}, {
		.desc = "WRITE_RESOURCE, one too many",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 1, 65537 },
	}, {
		.desc = "WRITE_RESOURCE, what was offered",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 1, 8192 },
	}, {
		.desc = "WRITE_RESOURCE without a Write chunk",
		.args = &rpcrdma_retry_long,
		.err = RPCRDMA2_ERR_WRITE_RESOURCE, .arg = { 1, 65536 },
	}, {
		.desc = "REPLY_RESOURCE, all there is",
		.args = &rpcrdma_retry_long,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { 66000 },
		.good = true,
		.want = { .ry_no_write = true, .ry_reply_chunk = true },
	}, {
		.desc = "REPLY_RESOURCE, nothing was provided",
		.args = &rpcrdma_retry_inline,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { 9300 },
		.good = true,
		.want = { .ry_no_write = true, .ry_reply_chunk = true },
	}, {
		.desc = "REPLY_RESOURCE, a Write chunk was provided",
		.args = &rpcrdma_retry_both,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { 8192 },
		.good = true,
		.want = { .ry_no_write = true, .ry_reply_chunk = true },
	}, {
		.desc = "REPLY_RESOURCE, one byte, nothing was provided",
		.args = &rpcrdma_retry_inline,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { 1 },
		.good = true,
		.want = { .ry_no_write = true, .ry_reply_chunk = true },
	}, {
		.desc = "REPLY_RESOURCE, nothing is needed",
		.args = &rpcrdma_retry_inline,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE,
	}, {
		.desc = "REPLY_RESOURCE, what was offered",
		.args = &rpcrdma_retry_long,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { 8192 },
	}, {
		.desc = "REPLY_RESOURCE, four gigabytes",
		.args = &rpcrdma_retry_long,
		.err = RPCRDMA2_ERR_REPLY_RESOURCE, .arg = { U32_MAX },
	}, {
		.desc = "BAD_XDR",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_BAD_XDR,
	}, {
		.desc = "INVAL_HTYPE",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_INVAL_HTYPE,
	}, {
		.desc = "SYSTEM",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_SYSTEM,
	}, {
		.desc = "VERS",
		.args = &rpcrdma_retry_both, .err = RPCRDMA2_ERR_VERS,
		.arg = { 1, 1 },
	}, {
		.desc = "no error",
		.args = &rpcrdma_retry_both, .err = 0,
	}, {
		.desc = "a code nobody knows",
		.args = &rpcrdma_retry_both, .err = 77, .arg = { 4, 4 },
	}, {
		.desc = "a code that differs in its high bits",
		.args = &rpcrdma_retry_both, .err = 36,
	},
};

KUNIT_ARRAY_PARAM_DESC(rpcrdma_retry, rpcrdma_retry_cases, desc);

static void rpcrdma_retry_expect(struct kunit *test,
				 const struct rpcrdma_retry *got,
				 const struct rpcrdma_retry *want)
{
	KUNIT_EXPECT_EQ(test, got->ry_segs, want->ry_segs);
	KUNIT_EXPECT_EQ(test, got->ry_write_len, want->ry_write_len);
	KUNIT_EXPECT_EQ(test, got->ry_no_read, want->ry_no_read);
	KUNIT_EXPECT_EQ(test, got->ry_no_write, want->ry_no_write);
	KUNIT_EXPECT_EQ(test, got->ry_reply_chunk, want->ry_reply_chunk);
	KUNIT_EXPECT_EQ(test, got->ry_base, want->ry_base);
}

/* Covers: V2-ERR-08 V2-ERR-10 V2-ERR-12 V2-ERR-13 V2-ERR-15 V2-ERR-17 V2-ERR-19 */
/* Covers: V2-ERR-21 V2-ERR-22 V2-ERR-24 V2-ERR-25 G-23 */
static void rpcrdma_retry_remedies(struct kunit *test)
{
	const struct rpcrdma_retry_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_retry retry = { }, before;
	struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	memset(hdr, 0, sizeof(*hdr));
	hdr->hd_err = param->err;
	hdr->hd_err_arg[0] = param->arg[0];
	hdr->hd_err_arg[1] = param->arg[1];

	KUNIT_EXPECT_EQ(test, rpcrdma_retry(&retry, hdr, param->args),
			param->good);
	rpcrdma_retry_expect(test, &retry, &param->want);
	KUNIT_EXPECT_EQ(test, retry.ry_tried,
			param->good ? 1u << param->err : 0);

	/* A remedy is tried only once, whatever the second error says. */
	before = retry;
	hdr->hd_err_arg[0]--;
	hdr->hd_err_arg[1]--;
	if (param->good)
		KUNIT_EXPECT_FALSE(test, rpcrdma_retry(&retry, hdr,
						       param->args));
	if (param->good)
		rpcrdma_retry_expect(test, &retry, &before);

	/* An error in the layout of version 1 has no remedy. */
	memset(&retry, 0, sizeof(retry));
	hdr->hd_v1_error = true;
	KUNIT_EXPECT_FALSE(test, rpcrdma_retry(&retry, hdr, param->args));
}

/* Whatever errors a server sends, an RPC is sent again at most six times because of them. Its Write
 * chunk does not become larger than the upper layer's room (rg_write_max). A limit on the segments
 * of a chunk (ry_segs) is lower than the number of segments that a chunk of the Call had.
 */
static void rpcrdma_retry_ends(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_retry_args args;
	struct rpcrdma_retry retry;
	int run, i, retried;

	for (run = 0; run < 2000; run++) {
		memset(&retry, 0, sizeof(retry));
		memset(&fx->kf_hdr, 0, sizeof(fx->kf_hdr));
		for (retried = 0, i = 0; i < 40; i++) {
			args = (struct rpcrdma_retry_args) {
				.rg_call = rpcrdma_kunit_random(fx, 4),
				.rg_reply = rpcrdma_kunit_random(fx, 4),
				.rg_rtx = rpcrdma_kunit_random(fx, 2),
				.rg_segs = rpcrdma_kunit_random(fx, 5),
				.rg_write_len = rpcrdma_kunit_random(fx, 9),
				.rg_write_max = 8,
				.rg_reply_len = rpcrdma_kunit_random(fx, 9),
				.rg_reply_max = 8,
			};
			fx->kf_hdr.hd_err = rpcrdma_kunit_random(fx, 14);
			if (fx->kf_hdr.hd_err >= 12)
				fx->kf_hdr.hd_err += RPCRDMA2_ERR_RTX_CONT - 12;
			fx->kf_hdr.hd_err_arg[0] = rpcrdma_kunit_random(fx, 12);
			fx->kf_hdr.hd_err_arg[1] = rpcrdma_kunit_random(fx, 12);
			retried += rpcrdma_retry(&retry, &fx->kf_hdr, &args);
		}
		KUNIT_EXPECT_LE(test, retried, 6);
		KUNIT_EXPECT_LE(test, retry.ry_write_len, 8);
		KUNIT_EXPECT_LT(test, retry.ry_segs, 5);
	}
}

static const u32 rpcrdma_retry_form_codes[] = {
	RPCRDMA2_ERR_RTX_CONT, RPCRDMA2_ERR_RTX_LIMIT, RPCRDMA2_ERR_INVAL_HTYPE,
};

/* The errors of rpcrdma_retry_form_codes have one remedy: the Call is sent again in base form, that
 * is, without the round-trip extension (rtx.h). The remedy is tried once, and only if the Call was
 * a group of the extension.
 */
/* Covers: RTX-87 RTX-88 RTX-89 */
static void rpcrdma_retry_form(struct kunit *test)
{
	static const struct rpcrdma_retry_args base = { }, rtx = {
		.rg_call = RPCRDMA_CALL_GROUP, .rg_rtx = true,
		.rg_reply_max = 66000,
	};
	static const struct rpcrdma_retry want = { .ry_base = true };
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_hdr *hdr = &fx->kf_hdr;
	struct rpcrdma_retry retry;
	u32 i, j;

	memset(hdr, 0, sizeof(*hdr));
	for (i = 0; i < ARRAY_SIZE(rpcrdma_retry_form_codes); i++) {
		memset(&retry, 0, sizeof(retry));
		hdr->hd_err = rpcrdma_retry_form_codes[i];
		KUNIT_EXPECT_FALSE(test, rpcrdma_retry(&retry, hdr, &base));
		KUNIT_EXPECT_FALSE(test, rpcrdma_retry_ends_rtx(hdr, &base));
		KUNIT_EXPECT_EQ(test, rpcrdma_retry_ends_rtx(hdr, &rtx),
				hdr->hd_err != RPCRDMA2_ERR_RTX_LIMIT);
		KUNIT_EXPECT_TRUE(test, rpcrdma_retry(&retry, hdr, &rtx));
		rpcrdma_retry_expect(test, &retry, &want);
		for (j = 0; j < ARRAY_SIZE(rpcrdma_retry_form_codes); j++) {
			hdr->hd_err = rpcrdma_retry_form_codes[j];
			KUNIT_EXPECT_FALSE(test, rpcrdma_retry(&retry, hdr,
							       &rtx));
		}
	}

	/* If the Call was a group, the remedies of other errors (here: REPLY_RESOURCE) use base
	 * form, too.
	 */
	memset(&retry, 0, sizeof(retry));
	hdr->hd_err = RPCRDMA2_ERR_REPLY_RESOURCE;
	hdr->hd_err_arg[0] = 9300;
	KUNIT_EXPECT_TRUE(test, rpcrdma_retry(&retry, hdr, &rtx));
	KUNIT_EXPECT_TRUE(test, retry.ry_base);
	KUNIT_EXPECT_FALSE(test, rpcrdma_retry_ends_rtx(hdr, &rtx));
	hdr->hd_err = RPCRDMA2_ERR_RTX_CONT;
	KUNIT_EXPECT_FALSE(test, rpcrdma_retry(&retry, hdr, &rtx));
	hdr->hd_v1_error = true;
	KUNIT_EXPECT_FALSE(test, rpcrdma_retry_ends_rtx(hdr, &rtx));
}

static struct kunit_case rpcrdma_retry_kunit_cases[] = {
	KUNIT_CASE_PARAM(rpcrdma_retry_remedies, rpcrdma_retry_gen_params),
	KUNIT_CASE(rpcrdma_retry_ends),
	KUNIT_CASE(rpcrdma_retry_form),
	{}
};

static struct kunit_suite rpcrdma_retry_suite = {
	.name = "rpcrdma_retry",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_retry_kunit_cases,
};

kunit_test_suite(rpcrdma_retry_suite);
