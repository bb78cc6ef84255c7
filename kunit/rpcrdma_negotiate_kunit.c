// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/props.c: what a client that has sent its CONNPROP concludes from a
 * message that arrives before the version of the connection is settled.
 */

#include <kunit/test.h>
#include <linux/unaligned.h>

#include <rpcrdma/props.h>

#include "rpcrdma_kunit.h"

static enum rpcrdma_negotiate negotiate_of(struct rpcrdma_kunit *fx,
					   const void *data, u32 len, u32 xid)
{
	enum rpcrdma_verdict verdict;

	verdict = fx_client2(fx, data, len, RPCRDMA2_NEGOTIATING);
	return rpcrdma_negotiate_answer(&fx->kf_hdr, verdict, xid);
}

struct negotiate_case {
	const char		*desc;
	u32			words[12];
	u32			nwords;
	enum rpcrdma_negotiate	answer;
};

#define NEGOTIATE_WORDS(...)					\
	.words = { __VA_ARGS__ },					\
	.nwords = ARRAY_SIZE(((const u32[]) { __VA_ARGS__ }))

#define XID RPCRDMA_KUNIT_XID

static const struct negotiate_case negotiate_cases[] = {
	{ "properties", NEGOTIATE_WORDS(XID, 2, 8, 5, 1, 1, 1, 4, 8192),
	  .answer = RPCRDMA_NEGOTIATE_V2 },
	{ "no properties", NEGOTIATE_WORDS(XID, 2, 8, 5, 1, 0), .answer = RPCRDMA_NEGOTIATE_V2 },
	{ "properties that are bad", NEGOTIATE_WORDS(XID, 2, 8, 5, 1, 1, 1, 4, 512),
	  .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "properties with an XID of somebody else's", NEGOTIATE_WORDS(XID + 1, 2, 8, 5, 1, 0),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "properties the server sends of its own accord", NEGOTIATE_WORDS(XID, 2, 8, 5, 0, 0),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "the answer of a server of version 1", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 1, 1),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "the same with the number of its own version", NEGOTIATE_WORDS(XID, 1, 8, 4, 1, 1, 1),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "a range that has a version in common", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 0, 7),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "a range that looks like an error code of version 2",
	  NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 4, 9), .answer = RPCRDMA_NEGOTIATE_NONE },
	{ "a range without a version in common", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 3, 9),
	  .answer = RPCRDMA_NEGOTIATE_NONE },
	{ "a range upside down", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 2, 1),
	  .answer = RPCRDMA_NEGOTIATE_NONE },
	{ "version 1 in the layout of version 2", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 1, 1, 1),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "the same without its range", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 1),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "a server that did not look at the version", NEGOTIATE_WORDS(XID, 2, 8, 4, 2),
	  .answer = RPCRDMA_NEGOTIATE_V1 },
	{ "BAD_XDR", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 2), .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "INVAL_HTYPE", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 3),
	  .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "SYSTEM", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 9), .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "a code nobody knows", NEGOTIATE_WORDS(XID, 2, 8, 4, 1, 77, 1, 2),
	  .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "an error without a code", NEGOTIATE_WORDS(XID, 2, 8, 4, 1),
	  .answer = RPCRDMA_NEGOTIATE_V2_PLAIN },
	{ "an error with an XID of somebody else's", NEGOTIATE_WORDS(XID + 1, 2, 8, 4, 1, 1, 1),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "an error that claims to be a request", NEGOTIATE_WORDS(XID, 2, 8, 4, 0, 9),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "a Reply", NEGOTIATE_WORDS(XID, 2, 8, 0, 1, 0, 0, 0, 0, XID, 1),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "a Reply of version 1", NEGOTIATE_WORDS(XID, 1, 8, 0, 0, 0, 0, XID, 1),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "a type nobody knows", NEGOTIATE_WORDS(XID, 2, 8, 99, 1),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "a backward Call", NEGOTIATE_WORDS(XID, 2, 8, 0, 0, 0, 0, 0, 0, XID, 0),
	  .answer = RPCRDMA_NEGOTIATE_WAIT },
	{ "hardly anything", NEGOTIATE_WORDS(XID, 2, 8), .answer = RPCRDMA_NEGOTIATE_WAIT },
};

KUNIT_ARRAY_PARAM_DESC(negotiate, negotiate_cases, desc);

/* Covers: V2-NEG-05 V2-NEG-08 V2-NEG-12 V2-ERR-05 V2-TYP-13 V2-TYP-14 V2-PRP-09 G-11 G-14 G-17
 * Covers: G-20
 */
static void negotiate_answers(struct kunit *test)
{
	const struct negotiate_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	fx_clear(fx);
	fx_words(fx, param->words, param->nwords);
	KUNIT_EXPECT_EQ(test, negotiate_of(fx, fx->kf_buf, fx->kf_len, XID),
			param->answer);
}

/* If the server's CONNPROP is truncated, but its prefix (the first five words) is whole, it counts
 * as an answer, but its properties are not used. If the prefix is truncated, too, the CONNPROP does
 * not count as an answer.
 */
static void negotiate_truncated_answers(struct kunit *test)
{
	const struct rpcrdma_vector *vec =
		&rpcrdma_vectors[VEC_V2_CONNPROP_SERVER];
	struct rpcrdma_kunit *fx = test->priv;
	u32 len, xid = get_unaligned_be32(vec->ve_data);

	KUNIT_EXPECT_EQ(test, negotiate_of(fx, vec->ve_data, vec->ve_len, xid),
			RPCRDMA_NEGOTIATE_V2);
	for (len = 0; len < vec->ve_len; len++)
		KUNIT_EXPECT_EQ(test, negotiate_of(fx, vec->ve_data, len, xid),
				len < RPCRDMA2_PREFIX_LEN ?
				RPCRDMA_NEGOTIATE_WAIT :
				RPCRDMA_NEGOTIATE_V2_PLAIN);
}

static struct kunit_case negotiate_kunit_cases[] = {
	KUNIT_CASE_PARAM(negotiate_answers,
			 negotiate_gen_params),
	KUNIT_CASE(negotiate_truncated_answers),
	{}
};

static struct kunit_suite rpcrdma_negotiate_suite = {
	.name = "rpcrdma_negotiate",
	.init = fx_init,
	.test_cases = negotiate_kunit_cases,
};

kunit_test_suite(rpcrdma_negotiate_suite);
