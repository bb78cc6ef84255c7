// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/v2_error.c: version 2 errors.
 */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/props.h>

#include "accept.h"
#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

struct v2_error_case {
	const char		*desc;
	enum rpcrdma_vector_id	vector;
	u32			vers, credit;
	bool			old;
	struct rpcrdma2_error	error;
};

static const struct v2_error_case v2_error_cases[] = {
	{ "BAD_XDR", VEC_V2_BAD_XDR, 2, 64, false, { RPCRDMA2_ERR_BAD_XDR } },
	{ "INVAL_HTYPE", VEC_V2_INVAL_HTYPE, 2, 64, false, { RPCRDMA2_ERR_INVAL_HTYPE } },
	{ "READ_CHUNKS", VEC_V2_READ_CHUNKS, 2, 64, false, { RPCRDMA2_ERR_READ_CHUNKS, { 1 } } },
	{ "WRITE_CHUNKS", VEC_V2_WRITE_CHUNKS, 2, 64, false, { RPCRDMA2_ERR_WRITE_CHUNKS, { 1 } } },
	{ "SEGMENTS", VEC_V2_SEGMENTS, 2, 64, false, { RPCRDMA2_ERR_SEGMENTS, { 16 } } },
	{ "WRITE_RESOURCE", VEC_V2_WRITE_RESOURCE, 2, 128, false,
	  { RPCRDMA2_ERR_WRITE_RESOURCE, { 1, 65536 } } },
	{ "REPLY_RESOURCE", VEC_V2_REPLY_RESOURCE, 2, 128, false,
	  { RPCRDMA2_ERR_REPLY_RESOURCE, { 9300 } } },
	{ "SYSTEM", VEC_V2_SYSTEM, 2, 64, false, { RPCRDMA2_ERR_SYSTEM } },
	{ "ERR_VERS of a version 1 server", VEC_ERR_VERS, 2, 128, true,
	  { RPCRDMA2_ERR_VERS, { 1, 1 } } },
	{ "ERR_VERS in answer to version 3", VEC_ERR_VERS_V3, 3, 32, true,
	  { RPCRDMA2_ERR_VERS, { 1, 2 } } },
};

KUNIT_ARRAY_PARAM_DESC(v2_error, v2_error_cases, desc);

/* Covers: V2-HDR-11 V2-ERR-01 V2-ERR-04 V2-ERR-06 V2-ERR-09 V2-ERR-11 V2-ERR-14 V2-ERR-16
 * Covers: V2-ERR-18 V2-ERR-20 V2-ERR-23 G-11
 */
static void v2_encode_error_vectors(struct kunit *test)
{
	const struct v2_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_hdr *hdr = &fx->kf_hdr;
	u32 size;
	u8 *buf;

	hdr->hd_xid = XID;
	hdr->hd_vers = param->vers;
	for (size = 0; size < vec->ve_len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test, rpcrdma_encode_error(2, buf, size, hdr, 1,
							   &param->error),
				-EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, vec->ve_len);
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_error(2, buf, vec->ve_len, hdr,
						   param->credit,
						   &param->error), vec->ve_len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, vec->ve_len);

	/* No error is sent in answer to a response */
	hdr->hd_response = true;
	KUNIT_EXPECT_EQ(test, rpcrdma_encode_error(2, buf, vec->ve_len, hdr, 1,
						   &param->error), -EINVAL);
}

static void v2_expect_error(struct rpcrdma_kunit *fx,
			    const struct v2_error_case *param)
{
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;
	struct kunit *test = fx->kf_test;
	struct rpcrdma2_error error;

	KUNIT_EXPECT_EQ(test, hdr->hd_proc, RPCRDMA2_ERROR);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_vers, param->vers);
	KUNIT_EXPECT_TRUE(test, hdr->hd_response);
	KUNIT_EXPECT_EQ(test, hdr->hd_v1_error, param->old);
	KUNIT_EXPECT_EQ(test, hdr->hd_err, param->error.er_code);
	KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[0], param->error.er_arg[0]);
	KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[1], param->error.er_arg[1]);
	KUNIT_EXPECT_EQ(test, hdr->hd_length,
			rpcrdma_vectors[param->vector].ve_len);
	/* The credits of an error are ignored, and no error is sent in answer to an error */
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK));
	KUNIT_EXPECT_FALSE(test,
			   rpcrdma2_refusal(hdr, RPCRDMA_BAD_MSG,
					    &rpcrdma2_accept_forward, &error));
}

/* Covers: V2-ERR-02 V2-ERR-03 V2-ERR-04 V2-ERR-30 V2-NEG-12 V2-CRD-08 V2-BC-09 G-11 */
static void v2_decode_error_vectors(struct kunit *test)
{
	const struct v2_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	u32 flags;

	for (flags = 0; flags <= RPCRDMA2_NEGOTIATING; flags++) {
		/* During negotiation, a version 2 error of 28 bytes would be taken for an ERR_VERS
		 * of version 1
		 */
		if (flags && vec->ve_len == 28 && !param->old)
			continue;
		KUNIT_ASSERT_EQ(test, fx_client2(fx, vec->ve_data, vec->ve_len,
						 flags), RPCRDMA_OK);
		v2_expect_error(fx, param);
	}
	KUNIT_ASSERT_EQ(test, fx_server2(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_BACKWARD_REPLY);
	v2_expect_error(fx, param);
}

/* Covers: V2-ERR-04 V2-ERR-30 G-11 */
static void v2_decode_literal_err_vers(struct kunit *test)
{
	static const struct v2_error_case want = {
		.vector = VEC_V2_ERR_VERS, .vers = 3,
		.error = { RPCRDMA2_ERR_VERS, { 1, 2 } },
	};
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[want.vector];
	struct rpcrdma_kunit *fx = test->priv;
	u32 flags;

	for (flags = 0; flags <= RPCRDMA2_NEGOTIATING; flags++) {
		KUNIT_ASSERT_EQ(test, fx_client2(fx, vec->ve_data, vec->ve_len,
						 flags), RPCRDMA_OK);
		v2_expect_error(fx, &want);
	}

	/* If it is one word longer, the error has no known layout */
	memset(fx->kf_buf, 0, vec->ve_len + 4);
	memcpy(fx->kf_buf, vec->ve_data, vec->ve_len);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, vec->ve_len + 4, 0),
			RPCRDMA_BAD_VERS);
}

/* Covers: V2-ERR-30 V2-NEG-12 V2-TYP-14 G-11 */
static void v2_tells_layouts_apart(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;
	u32 low;
	bool old;

	/* These words may be an ERR_VERS of version 1, or an error of version 2 with one argument.
	 * During negotiation, they count as ERR_VERS. Later, they count as an error of version 2 if
	 * the sixth word is a code with one argument, and otherwise as ERR_VERS
	 */
	for (low = 0; low < 12; low++) {
		fx_message(fx, XID, 2, 1, 4, 1, low, 9);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, 28, 1),
				RPCRDMA_OK);
		KUNIT_EXPECT_TRUE(test, hdr->hd_v1_error);
		KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[0], low);
		KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[1], 9);

		old = !(low == 4 || low == 5 || low == 6 || low == 8);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, 28, 0),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, hdr->hd_v1_error, old);
		KUNIT_EXPECT_EQ(test, hdr->hd_err, old ? 1 : low);
		if (!old)
			KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[0], 9);
	}

	/* With another rdma_vers, the same words cannot be an error of version 2 */
	fx_message(fx, XID, 3, 1, 4, 1, 4, 9);
	KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, 28, 0), RPCRDMA_OK);
	KUNIT_EXPECT_TRUE(test, hdr->hd_v1_error);
	KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[0], 4);

	/* ERR_CHUNK of a version 1 server that did not check the version of our message */
	fx_message(fx, XID, 1, 1, 4, 2);
	KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, 20, 1), RPCRDMA_OK);
	KUNIT_EXPECT_TRUE(test, hdr->hd_v1_error);
	KUNIT_EXPECT_EQ(test, hdr->hd_err, RPCRDMA1_ERR_CHUNK);

	/* An ERR_CHUNK of version 3 is unknown. So is an error of version 1 with 24 bytes, because
	 * neither ERR_CHUNK nor ERR_VERS has this length
	 */
	fx_message(fx, XID, 3, 1, 4, 2);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, 20, 1),
			RPCRDMA_BAD_VERS);
	fx_message(fx, XID, 1, 1, 4, 1, 2);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, 24, 1),
			RPCRDMA_BAD_VERS);
}

/* Covers: V2-HDR-16 V2-ERR-26 G-14 */
static void v2_truncated_errors(struct kunit *test)
{
	const struct v2_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict, want;
	u32 len;

	for (len = 0; len < vec->ve_len; len++) {
		verdict = fx_client2(fx, vec->ve_data, len, 0);
		if (len < 20 && (len < 16 || param->vers == 2)) {
			KUNIT_EXPECT_EQ(test, verdict, RPCRDMA_DISCARD_SHORT);
			continue;
		}
		/* The XID is set even if the error is invalid, so that the RPC can end */
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, XID);
		/* The first 28 bytes of WRITE_RESOURCE are a valid ERR_VERS of version 1 */
		want = len == 28 ? RPCRDMA_OK : RPCRDMA_BAD_MSG;
		if (param->vers != 2)
			want = RPCRDMA_BAD_VERS;
		KUNIT_EXPECT_EQ_MSG(test, verdict, want, "%u bytes", len);
	}
}

/* Covers: V2-TYP-17 V2-ERR-25 V2-ERR-26 V2-EXT-07 G-14 */
static void v2_codes_and_lengths(struct kunit *test)
{
	static const u32 words[10] = { 0, 2, 0, 0, 1, 1, 1, 2, 1, 0 };
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict want;
	u32 code, len;

	for (code = 0; code < 79; code++) {
		fx_clear(fx);
		memset(fx->kf_buf, 0, 64);
		fx_say(fx, XID, 2, 9, 4, 1, code);
		for (len = 24; len <= 44; len++) {
			/* An error of 28 bytes may have the layout of version 1 */
			if (len == 28)
				continue;
			want = RPCRDMA_OK;
			if (code && code < 10 && len != 24 + 4 * words[code])
				want = RPCRDMA_BAD_MSG;
			KUNIT_EXPECT_EQ_MSG(test, fx_client2(fx, fx->kf_buf,
							     len, 0), want,
					    "code %u, %u bytes", code, len);
			KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err, code);
			KUNIT_EXPECT_LE(test, fx->kf_hdr.hd_length, len);
		}
	}
}

/* Covers: V2-ERR-27 V2-HDR-11 V2-TYP-18 G-12 */
static void v2_errors_are_responses(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict;
	struct rpcrdma2_error error;
	u32 len;

	fx_say(fx, XID, 2, 1, 4, 0xfffffffe, 8, 9, 9);
	for (len = 20; len <= 32; len += 4) {
		verdict = fx_server2(fx, fx->kf_buf, len);
		KUNIT_EXPECT_EQ(test, verdict, RPCRDMA_DISCARD_ERROR);
		KUNIT_EXPECT_FALSE(test,
				   rpcrdma2_refusal(&fx->kf_hdr, verdict,
						    &rpcrdma2_accept_forward,
						    &error));
		KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, len, 0),
				RPCRDMA_DISCARD_ERROR);
	}

	/* A fifth word of 2 means ERR_CHUNK of version 1 only in a message of 20 bytes */
	fx_message(fx, XID, 2, 1, 4, 2, 2);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, 24, 1),
			RPCRDMA_DISCARD_ERROR);

	/* In the layout of version 2, an error whose rdma_vers is not 2 must be an ERR_VERS with
	 * F_RESPONSE
	 */
	fx_message(fx, XID, 3, 1, 4, 0, 1, 1, 2);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, 32, 0),
			RPCRDMA_BAD_VERS);
	fx_message(fx, XID, 3, 1, 4, 1, RPCRDMA2_ERR_WRITE_RESOURCE, 1, 2);
	KUNIT_EXPECT_EQ(test, fx_client2(fx, fx->kf_buf, 32, 0),
			RPCRDMA_BAD_VERS);
}

/* Covers: V2-ERR-05 V2-NEG-08 */
static void v2_falls_back(struct kunit *test)
{
	const enum rpcrdma_negotiate yes = RPCRDMA_NEGOTIATE_V1;
	const enum rpcrdma_negotiate no = RPCRDMA_NEGOTIATE_NONE;
	const struct { u32 low, high, answer; } cases[] = {
		{ 1, 1, yes },
		{ 1, 2, yes },
		{ 0, 1, yes },
		{ 0, U32_MAX, yes },
		{ 2, 2, no },
		{ 3, 9, no },
		{ 0, 0, no },
		{ 2, 1, no },
		{ U32_MAX, 0, no },
	};
	struct rpcrdma_kunit *fx = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fx_message(fx, XID, 2, 1, 4, 1, cases[i].low, cases[i].high);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, 28, 1),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ_MSG(test,
				    rpcrdma_negotiate_answer(&fx->kf_hdr,
							     RPCRDMA_OK, XID),
				    cases[i].answer, "%u to %u", cases[i].low,
				    cases[i].high);
	}
}

/* Covers: V2-ERR-01 V2-ERR-02 V2-ERR-25 */
static void v2_errors_survive_the_wire(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_hdr refused = { .hd_xid = XID, .hd_vers = 2 };
	struct rpcrdma2_error error;
	u32 code;
	int len;

	for (code = 2; code < 12; code++) {
		error = (struct rpcrdma2_error) { .er_code = code, .er_arg = {
			code + 1, code + 2 },
		};
		len = rpcrdma_encode_error(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					   &refused, 7, &error);
		KUNIT_ASSERT_GE(test, len, 24);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, len, 0),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err, code);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_credit, 7);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err_arg[0],
				len > 24 ? code + 1 : 0);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err_arg[1],
				len > 28 ? code + 2 : 0);
	}
}

static struct kunit_case wire_v2_error_cases[] = {
	KUNIT_CASE_PARAM(v2_encode_error_vectors, v2_error_gen_params),
	KUNIT_CASE_PARAM(v2_decode_error_vectors, v2_error_gen_params),
	KUNIT_CASE(v2_decode_literal_err_vers),
	KUNIT_CASE(v2_tells_layouts_apart),
	KUNIT_CASE_PARAM(v2_truncated_errors, v2_error_gen_params),
	KUNIT_CASE(v2_codes_and_lengths),
	KUNIT_CASE(v2_errors_are_responses),
	KUNIT_CASE(v2_falls_back),
	KUNIT_CASE(v2_errors_survive_the_wire),
	{}
};

static struct kunit_suite rpcrdma_wire_v2_error_suite = {
	.name = "rpcrdma_wire_v2_error",
	.init = fx_init,
	.test_cases = wire_v2_error_cases,
};

kunit_test_suite(rpcrdma_wire_v2_error_suite);
