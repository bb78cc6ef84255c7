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

#define NEGOTIATE(desc, answer, ...) {						\
	desc, { __VA_ARGS__ }, sizeof((const u32[]) { __VA_ARGS__ }) / sizeof(u32),	\
	RPCRDMA_NEGOTIATE_##answer,						\
}

#define XID RPCRDMA_KUNIT_XID

static const struct negotiate_case negotiate_cases[] = {
	NEGOTIATE("properties", V2, XID, 2, 8, 5, 1, 1, 1, 4, 8192),
	NEGOTIATE("no properties", V2, XID, 2, 8, 5, 1, 0),
	NEGOTIATE("properties that are bad", V2_PLAIN, XID, 2, 8, 5, 1, 1, 1, 4, 512),
	NEGOTIATE("properties with an XID of somebody else's", WAIT, XID + 1, 2, 8, 5, 1, 0),
	NEGOTIATE("properties the server sends of its own accord", WAIT, XID, 2, 8, 5, 0, 0),
	NEGOTIATE("the answer of a server of version 1", V1, XID, 2, 8, 4, 1, 1, 1),
	NEGOTIATE("the same with the number of its own version", V1, XID, 1, 8, 4, 1, 1, 1),
	NEGOTIATE("a range that has a version in common", V1, XID, 2, 8, 4, 1, 0, 7),
	NEGOTIATE("a range that looks like an error code of version 2", NONE, XID, 2, 8, 4, 1, 4,
		  9),
	NEGOTIATE("a range without a version in common", NONE, XID, 2, 8, 4, 1, 3, 9),
	NEGOTIATE("a range upside down", NONE, XID, 2, 8, 4, 1, 2, 1),
	NEGOTIATE("version 1 in the layout of version 2", V1, XID, 2, 8, 4, 1, 1, 1, 1),
	NEGOTIATE("the same without its range", V1, XID, 2, 8, 4, 1, 1),
	NEGOTIATE("a server that did not look at the version", V1, XID, 2, 8, 4, 2),
	NEGOTIATE("BAD_XDR", V2_PLAIN, XID, 2, 8, 4, 1, 2),
	NEGOTIATE("INVAL_HTYPE", V2_PLAIN, XID, 2, 8, 4, 1, 3),
	NEGOTIATE("SYSTEM", V2_PLAIN, XID, 2, 8, 4, 1, 9),
	NEGOTIATE("a code nobody knows", V2_PLAIN, XID, 2, 8, 4, 1, 77, 1, 2),
	NEGOTIATE("an error without a code", V2_PLAIN, XID, 2, 8, 4, 1),
	NEGOTIATE("an error with an XID of somebody else's", WAIT, XID + 1, 2, 8, 4, 1, 1, 1),
	NEGOTIATE("an error that claims to be a request", WAIT, XID, 2, 8, 4, 0, 9),
	NEGOTIATE("a Reply", WAIT, XID, 2, 8, 0, 1, 0, 0, 0, 0, XID, 1),
	NEGOTIATE("a Reply of version 1", WAIT, XID, 1, 8, 0, 0, 0, 0, XID, 1),
	NEGOTIATE("a type nobody knows", WAIT, XID, 2, 8, 99, 1),
	NEGOTIATE("a backward Call", WAIT, XID, 2, 8, 0, 0, 0, 0, 0, 0, XID, 0),
	NEGOTIATE("hardly anything", WAIT, XID, 2, 8),
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
	KUNIT_CASE_PARAM(negotiate_answers, negotiate_gen_params),
	KUNIT_CASE(negotiate_truncated_answers),
	{}
};

static struct kunit_suite rpcrdma_negotiate_suite = {
	.name = "rpcrdma_negotiate",
	.init = fx_init,
	.test_cases = negotiate_kunit_cases,
};

kunit_test_suite(rpcrdma_negotiate_suite);
