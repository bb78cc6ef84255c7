// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/negotiate.c: the first answer on a connection.
 */

#include <kunit/test.h>
#include <linux/unaligned.h>

#include <rpcrdma/negotiate.h>

#include "rpcrdma_kunit.h"

static enum rpcrdma_nego rpcrdma_nego_of(struct rpcrdma_kunit *fx,
					 const void *data, u32 len, u32 xid)
{
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma_kunit_client2(fx, data, len, RPCRDMA2_NEGOTIATING);
	return rpcrdma_nego_answer(&fx->kf_hdr, verdict, xid);
}

struct rpcrdma_nego_case {
	const char		*desc;
	u32			words[12];
	u32			nwords;
	enum rpcrdma_nego	answer;
};

#define RPCRDMA_NEGO_WORDS(...)						\
	.words = { __VA_ARGS__ },					\
	.nwords = ARRAY_SIZE(((const u32[]) { __VA_ARGS__ }))

#define XID RPCRDMA_KUNIT_XID

static const struct rpcrdma_nego_case rpcrdma_nego_cases[] = {
	{
		.desc = "properties",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 5, 1, 1, 1, 4, 8192),
		.answer = RPCRDMA_NEGO_V2,
	}, {
		.desc = "no properties",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 5, 1, 0),
		.answer = RPCRDMA_NEGO_V2,
	}, {
		.desc = "properties that are bad",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 5, 1, 1, 1, 4, 512),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "properties with an XID of somebody else's",
		RPCRDMA_NEGO_WORDS(XID + 1, 2, 8, 5, 1, 0),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "properties the server sends of its own accord",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 5, 0, 0),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "the answer of a server of version 1",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 1, 1),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "the same with the number of its own version",
		RPCRDMA_NEGO_WORDS(XID, 1, 8, 4, 1, 1, 1),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "a range that has a version in common",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 0, 7),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "a range that looks like an error code of version 2",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 4, 9),
		.answer = RPCRDMA_NEGO_NONE,
	}, {
		.desc = "a range without a version in common",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 3, 9),
		.answer = RPCRDMA_NEGO_NONE,
	}, {
		.desc = "a range upside down",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 2, 1),
		.answer = RPCRDMA_NEGO_NONE,
	}, {
		.desc = "version 1 in the layout of version 2",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 1, 1, 1),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "the same without its range",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 1),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "a server that did not look at the version",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 2),
		.answer = RPCRDMA_NEGO_V1,
	}, {
		.desc = "BAD_XDR",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 2),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "INVAL_HTYPE",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 3),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "SYSTEM",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 9),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "a code nobody knows",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1, 77, 1, 2),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "an error without a code",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 1),
		.answer = RPCRDMA_NEGO_V2_PLAIN,
	}, {
		.desc = "an error with an XID of somebody else's",
		RPCRDMA_NEGO_WORDS(XID + 1, 2, 8, 4, 1, 1, 1),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "an error that claims to be a request",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 4, 0, 9),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "a Reply",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 0, 1, 0, 0, 0, 0, XID, 1),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "a Reply of version 1",
		RPCRDMA_NEGO_WORDS(XID, 1, 8, 0, 0, 0, 0, XID, 1),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "a type nobody knows",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 99, 1),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "a backward Call",
		RPCRDMA_NEGO_WORDS(XID, 2, 8, 0, 0, 0, 0, 0, 0, XID, 0),
		.answer = RPCRDMA_NEGO_WAIT,
	}, {
		.desc = "hardly anything",
		RPCRDMA_NEGO_WORDS(XID, 2, 8),
		.answer = RPCRDMA_NEGO_WAIT,
	},
};

KUNIT_ARRAY_PARAM_DESC(rpcrdma_nego, rpcrdma_nego_cases, desc);

/* Covers: V2-NEG-05 V2-NEG-08 V2-NEG-12 V2-ERR-05 V2-TYP-13 V2-TYP-14 V2-PRP-09 */
/* Covers: G-11 G-14 G-17 G-20 */
static void rpcrdma_nego_answers(struct kunit *test)
{
	const struct rpcrdma_nego_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	rpcrdma_kunit_clear(fx);
	rpcrdma_kunit_words(fx, param->words, param->nwords);
	KUNIT_EXPECT_EQ(test, rpcrdma_nego_of(fx, fx->kf_buf, fx->kf_len, XID),
			param->answer);
}

/* A part of an answer is an answer, but brings no properties. */
static void rpcrdma_nego_truncated_answers(struct kunit *test)
{
	const struct rpcrdma_vector *vec =
		&rpcrdma_vectors[RPCRDMA_VEC_V2_CONNPROP_SERVER];
	struct rpcrdma_kunit *fx = test->priv;
	u32 len, xid = get_unaligned_be32(vec->ve_data);

	KUNIT_EXPECT_EQ(test, rpcrdma_nego_of(fx, vec->ve_data, vec->ve_len,
					      xid), RPCRDMA_NEGO_V2);
	for (len = 0; len < vec->ve_len; len++)
		KUNIT_EXPECT_EQ(test,
				rpcrdma_nego_of(fx, vec->ve_data, len, xid),
				len < RPCRDMA2_PREFIX_LEN ?
				RPCRDMA_NEGO_WAIT : RPCRDMA_NEGO_V2_PLAIN);
}

static struct kunit_case rpcrdma_nego_kunit_cases[] = {
	KUNIT_CASE_PARAM(rpcrdma_nego_answers, rpcrdma_nego_gen_params),
	KUNIT_CASE(rpcrdma_nego_truncated_answers),
	{}
};

static struct kunit_suite rpcrdma_nego_suite = {
	.name = "rpcrdma_nego",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_nego_kunit_cases,
};

kunit_test_suite(rpcrdma_nego_suite);
