// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/v2_props.c: version 2 properties, except the property RTX, which
 * rpcrdma_wire_rtx_kunit.c tests.
 */

#include <linux/limits.h>
#include <linux/unaligned.h>

#include "accept.h"
#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

static void v2_expect_props(struct rpcrdma_kunit *fx, u32 rbsiz, u32 brs,
			    u32 given, u32 unknown)
{
	const struct rpcrdma2_props *props = &fx->kf_hdr.hd_props;
	struct kunit *test = fx->kf_test;

	KUNIT_EXPECT_EQ(test, props->vp_value[RPCRDMA2_PROP_RBSIZ], rbsiz);
	KUNIT_EXPECT_EQ(test, props->vp_value[RPCRDMA2_PROP_BRS], brs);
	KUNIT_EXPECT_EQ(test, props->vp_given, given);
	KUNIT_EXPECT_EQ(test, props->vp_unknown, unknown);
}

/* Covers: V2-PRP-01 V2-PRP-02 V2-PRP-21 V2-TYP-07 V2-TYP-10 V2-NEG-01 V2-CRD-06 V2-NEG-02
 * Covers: V2-NEG-03 V2-HDR-07 V2-HDR-10 G-18
 */
static void v2_encode_connprop(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_V2_CONNPROP];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_props props;
	u32 size, len = vec->ve_len;
	u8 *buf;

	rpcrdma2_props_default(&props);
	KUNIT_EXPECT_EQ(test, props.vp_value[RPCRDMA2_PROP_RBSIZ], 4096);
	KUNIT_EXPECT_EQ(test, props.vp_value[RPCRDMA2_PROP_BRS],
			RPCRDMA2_BRS_INLINE);

	props.vp_value[RPCRDMA2_PROP_RBSIZ] = 16384;
	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test, rpcrdma2_encode_connprop(buf, size, 1, 32,
							       false, &props),
				-EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rpcrdma2_encode_connprop(buf, len, 1, 32, false,
						       &props), len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);
	KUNIT_EXPECT_GE(test, len, RPCRDMA1_HDR_MIN);
	KUNIT_EXPECT_LE(test, len, RPCRDMA2_CONNPROP_MAX);

	/* An answer has F_RESPONSE, and a grant of at least 1 */
	KUNIT_ASSERT_EQ(test, rpcrdma2_encode_connprop(buf, len, 1, 0, true,
						       &props), len);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(buf + 8), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(buf + 16),
			RPCRDMA2_F_RESPONSE);

	/* Values that the peer would have to refuse are not sent */
	props.vp_value[RPCRDMA2_PROP_RBSIZ] = 1023;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_connprop(buf, len, 1, 1, false,
						       &props), -EINVAL);
	props.vp_value[RPCRDMA2_PROP_RBSIZ] = 1024;
	props.vp_value[RPCRDMA2_PROP_BRS] = 3;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_connprop(buf, len, 1, 1, false,
						       &props), -EINVAL);
}

/* Covers: V2-PRP-01 V2-PRP-03 V2-PRP-16 V2-TYP-02 V2-TYP-07 V2-TYP-08 V2-TYP-11 V2-HDR-10
 * Covers: V2-HDR-15 V2-CRD-01 V2-CRD-04 V2-NEG-05 G-17
 */
static void v2_decode_connprop_vectors(struct kunit *test)
{
	const struct rpcrdma_vector *request =
		&rpcrdma_vectors[VEC_V2_CONNPROP];
	const struct rpcrdma_vector *answer =
		&rpcrdma_vectors[VEC_V2_CONNPROP_SERVER];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	/* The server gets the request, and the client gets the answer */
	KUNIT_ASSERT_EQ(test, fx_server2(fx, request->ve_data, request->ve_len),
			RPCRDMA_OK);
	v2_expect_props(fx, 16384, RPCRDMA2_BRS_INLINE, 3, 0);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, 1);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, 32);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, RPCRDMA2_CONNPROP);
	KUNIT_EXPECT_EQ(test, hdr->hd_length, request->ve_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK));

	KUNIT_ASSERT_EQ(test, fx_client2(fx, answer->ve_data, answer->ve_len,
					 RPCRDMA2_NEGOTIATING), RPCRDMA_OK);
	v2_expect_props(fx, 8192, RPCRDMA2_BRS_INLINE, 3, 0);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, 1);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, 64);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK));

	/* Now the client gets a request, and the server gets an answer */
	KUNIT_EXPECT_EQ(test, fx_client2(fx, request->ve_data, request->ve_len,
					 0), RPCRDMA_BACKWARD_CALL);
	v2_expect_props(fx, 16384, RPCRDMA2_BRS_INLINE, 3, 0);
	KUNIT_EXPECT_EQ(test, fx_server2(fx, answer->ve_data, answer->ve_len),
			RPCRDMA_BACKWARD_REPLY);
}

/* Covers: V2-PRP-07 V2-PRP-09 V2-HDR-16 */
static void v2_truncated_connprop(struct kunit *test)
{
	static const enum rpcrdma_vector_id ids[] = {
		VEC_V2_CONNPROP, VEC_V2_CONNPROP_SERVER,
	};
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_vector *vec;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		vec = &rpcrdma_vectors[ids[i]];
		for (len = 0; len < vec->ve_len; len++) {
			KUNIT_EXPECT_EQ_MSG(test,
					    fx_server2(fx, vec->ve_data, len),
					    len < 20 ? RPCRDMA_DISCARD_SHORT :
					    RPCRDMA_BAD_PROP, "%u bytes", len);
			if (len >= 20)
				v2_expect_props(fx, 4096, RPCRDMA2_BRS_INLINE,
						0, 0);
		}
	}
}

/* A property set made of words; the first word is the count. @extra bytes follow it. */
struct v2_props_case {
	const char	*desc;
	u32		nwords, extra;
	bool		good;
	u32		rbsiz, brs, given, unknown;
	u32		words[16];
};

#define WORDS(...)	(sizeof((u32[]) { __VA_ARGS__ }) / sizeof(u32))

#define PROPS(desc, rbsiz, brs, given, unknown, ...) {				\
	desc, WORDS(__VA_ARGS__), 0, true, rbsiz, brs, given, unknown, { __VA_ARGS__ },	\
}

/* The defaults are left */
#define BAD_PROPS(desc, extra, ...) {						\
	desc, WORDS(__VA_ARGS__), extra, false, 4096, RPCRDMA2_BRS_INLINE, 0, 0,	\
	{ __VA_ARGS__ },							\
}

static const struct v2_props_case v2_props_cases[] = {
	PROPS("none", 4096, 1, 0, 0, 0),
	BAD_PROPS("the last without a length", 0, 3, 99, 4, 0, 98, 0, 97),
	PROPS("in another order", 8192, 2, 3, 0, 2, 2, 4, 2, 1, 4, 8192),
	PROPS("one only", 4096, 0, 2, 0, 1, 2, 4, 0),
	PROPS("defaults, given as nothing", 4096, 1, 3, 0, 2, 1, 0, 2, 0),
	PROPS("one that nobody knows, of odd length", 8192, 2, 3, 1, 3, 1, 4, 8192, 0x7777, 5,
	      0xabababab, 0xab000000, 2, 4, 2),
	PROPS("the highest id, twice, empty", 65536, 1, 1, 2, 3, 0xffffffff, 0, 0xffffffff, 0, 1, 4,
	      65536),
	PROPS("id 0", 4096, 1, 0, 1, 1, 0, 4, 1024),
	PROPS("the smallest buffer", 1024, 1, 1, 0, 1, 1, 4, 1024),
	PROPS("the largest buffer", U32_MAX, 1, 1, 0, 1, 1, 4, U32_MAX),
	BAD_PROPS("a buffer too small", 0, 1, 1, 4, 1023),
	BAD_PROPS("no buffer", 0, 1, 1, 4, 0),
	BAD_PROPS("BRS out of range", 0, 1, 2, 4, 3),
	BAD_PROPS("a bad one behind a good one", 0, 2, 1, 4, 8192, 2, 4, 9),
	BAD_PROPS("one byte of RBSIZ", 0, 1, 1, 1, 0x20000000),
	BAD_PROPS("two bytes of RBSIZ", 0, 1, 1, 2, 0x20000000),
	BAD_PROPS("three bytes of RBSIZ", 0, 1, 1, 3, 0x20000000),
	BAD_PROPS("five bytes of RBSIZ", 0, 1, 1, 5, 8192, 0),
	BAD_PROPS("eight bytes of BRS", 0, 1, 2, 8, 0, 1),
	BAD_PROPS("RBSIZ twice", 0, 2, 1, 4, 8192, 1, 4, 8192),
	BAD_PROPS("BRS twice, once as nothing", 0, 2, 2, 0, 2, 4, 1),
	BAD_PROPS("one more than there are", 0, 2, 1, 4, 8192),
	BAD_PROPS("one less than there are", 0, 1, 1, 4, 8192, 2, 4, 1),
	BAD_PROPS("the highest count", 0, U32_MAX, 1, 4, 8192),
	BAD_PROPS("a count whose bytes overflow 32 bits", 0, 0x20000001, 1, 4, 8192),
	BAD_PROPS("an unknown one that leads out of the message", 0, 1, 0x7777, 5, 0),
	BAD_PROPS("an unknown one whose padding is not there", 1, 1, 0x7777, 5, 0),
	BAD_PROPS("a known one of the highest length", 0, 1, 1, U32_MAX, 8192),
	BAD_PROPS("an unknown one of the highest length", 0, 1, 0x7777, U32_MAX, 8192),
	BAD_PROPS("a byte behind the set", 1, 1, 1, 4, 8192),
};

KUNIT_ARRAY_PARAM_DESC(v2_props, v2_props_cases, desc);

/* Covers: V2-PRP-02 V2-PRP-03 V2-PRP-04 V2-PRP-05 V2-PRP-06 V2-PRP-07 V2-PRP-08 V2-PRP-09
 * Covers: V2-PRP-14 V2-PRP-20 V2-PRP-23 V2-TYP-13 V2-TYP-17 V2-EXT-02 V2-ERR-06 V2-CRD-04 G-17
 * Covers: G-18
 */
static void v2_property_sets(struct kunit *test)
{
	const struct v2_props_case *param = test->param_value;
	const struct rpcrdma2_accept *accept = &rpcrdma2_accept_forward;
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict, want;
	struct rpcrdma2_error error;
	u32 response, len;

	want = param->good ? RPCRDMA_OK : RPCRDMA_BAD_PROP;
	for (response = 0; response < 2; response++) {
		fx_message(fx, XID, 2, 5, RPCRDMA2_CONNPROP, response);
		fx_words(fx, param->words, param->nwords);
		len = fx->kf_len + param->extra;

		verdict = response ? fx_client2(fx, fx->kf_buf, len, 1) :
			  fx_server2(fx, fx->kf_buf, len);
		KUNIT_ASSERT_EQ(test, verdict, want);
		v2_expect_props(fx, param->rbsiz, param->brs, param->given,
				param->unknown);
		KUNIT_EXPECT_EQ(test, rpcrdma2_is_grant(&fx->kf_hdr, verdict),
				response);
		KUNIT_EXPECT_EQ(test, rpcrdma2_refusal(&fx->kf_hdr, verdict,
						       accept, &error),
				!param->good && !response);
		KUNIT_EXPECT_EQ(test, error.er_code, RPCRDMA2_ERR_BAD_XDR);
	}
}

/* Covers: V2-PRP-01 V2-PRP-15 V2-PRP-16 V2-TYP-11 */
static void v2_properties_survive_the_wire(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_props props = {};
	u32 round, xid, rbsiz, brs;
	bool answer;
	int len;

	for (round = 0; round < 200; round++) {
		answer = round % 2;
		xid = fx_random(fx, 0);
		rbsiz = 1024 + fx_random(fx, 1u << 30);
		brs = fx_random(fx, 3);
		props.vp_value[RPCRDMA2_PROP_RBSIZ] = rbsiz;
		props.vp_value[RPCRDMA2_PROP_BRS] = brs;
		len = rpcrdma2_encode_connprop(fx->kf_buf,
					       RPCRDMA_KUNIT_BUF_LEN, xid,
					       round + 1, answer, &props);
		KUNIT_ASSERT_GT(test, len, 0);
		KUNIT_ASSERT_EQ(test,
				answer ? fx_client2(fx, fx->kf_buf, len, 1) :
				fx_server2(fx, fx->kf_buf, len), RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, xid);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_credit, round + 1);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_response, answer);
		v2_expect_props(fx, rbsiz, brs, 3, 0);
	}
}

static struct kunit_case wire_v2_props_cases[] = {
	KUNIT_CASE(v2_encode_connprop),
	KUNIT_CASE(v2_decode_connprop_vectors),
	KUNIT_CASE(v2_truncated_connprop),
	KUNIT_CASE_PARAM(v2_property_sets, v2_props_gen_params),
	KUNIT_CASE(v2_properties_survive_the_wire),
	{}
};

static struct kunit_suite rpcrdma_wire_v2_props_suite = {
	.name = "rpcrdma_wire_v2_props",
	.init = fx_init,
	.test_cases = wire_v2_props_cases,
};

kunit_test_suite(rpcrdma_wire_v2_props_suite);
