// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/props.c: the private data of RFC 8797, the properties of version 2, and
 * the limits that follow from them.
 */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/props.h>

#include "rpcrdma_kunit.h"

/* Covers: V1-CRD-19 V1-CRD-31 */
static void props_encode_the_vector(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_CM_PRIVATE];
	struct rpcrdma_cm_private priv = {
		.cp_send_size = 4096, .cp_recv_size = 4096,
		.cp_remote_inv = true,
	};
	u8 buf[RPCRDMA_CM_PRIVATE_LEN];

	memset(buf, 0xee, sizeof(buf));
	rpcrdma_props_encode(buf, &priv);
	KUNIT_ASSERT_EQ(test, vec->ve_len, sizeof(buf));
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, sizeof(buf));

	/* Without remote invalidation, the flags in byte 5 are all 0 */
	priv.cp_remote_inv = false;
	rpcrdma_props_encode(buf, &priv);
	KUNIT_EXPECT_EQ(test, buf[5], 0);
}

/* Decode the first @len bytes of the buffer. */
static bool props_try(struct rpcrdma_kunit *fx, u32 len,
		      struct rpcrdma_cm_private *priv)
{
	u8 *buf = fx_exact(fx, fx->kf_buf, len);

	return rpcrdma_props_decode(buf, len, priv);
}

/* Covers: V1-CRD-19 V1-CRD-31 */
static void props_decode_anywhere(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_CM_PRIVATE];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_cm_private priv;
	u32 before, after;

	for (before = 0; before < 8; before++) {
		for (after = 0; after < 4; after++) {
			u32 len = before + vec->ve_len + after;

			memset(fx->kf_buf, 0xf6, len);
			memcpy(fx->kf_buf + before, vec->ve_data, vec->ve_len);
			memset(&priv, 0, sizeof(priv));
			KUNIT_EXPECT_TRUE(test, props_try(fx, len, &priv));
			KUNIT_EXPECT_EQ(test, priv.cp_send_size, 4096);
			KUNIT_EXPECT_EQ(test, priv.cp_recv_size, 4096);
			KUNIT_EXPECT_TRUE(test, priv.cp_remote_inv);
		}
	}
}

/* Covers: V1-CRD-19 V1-CRD-31 */
static void props_decode_truncated(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_CM_PRIVATE];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_cm_private priv;
	u32 before, len;

	for (before = 0; before < 8; before++) {
		memset(fx->kf_buf, 0, before);
		memcpy(fx->kf_buf + before, vec->ve_data, vec->ve_len);
		for (len = 0; len < before + vec->ve_len; len++)
			KUNIT_EXPECT_FALSE(test, props_try(fx, len, &priv));
	}
	KUNIT_EXPECT_FALSE(test, rpcrdma_props_decode(NULL, 0, &priv));
}

/* Covers: V1-CRD-19 */
static void props_decode_garbage(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_CM_PRIVATE];
	struct rpcrdma_cm_private priv;
	u8 buf[2 * RPCRDMA_CM_PRIVATE_LEN] = {};
	u32 i;

	/* A change of any bit of magic and version makes the block invalid */
	for (i = 0; i < 40; i++) {
		memcpy(buf, vec->ve_data, vec->ve_len);
		buf[i / 8] ^= 1 << i % 8;
		KUNIT_EXPECT_FALSE(test, rpcrdma_props_decode(buf, vec->ve_len,
							      &priv));
	}

	/* A block of another version is skipped, and the valid one behind it is found */
	memcpy(buf, vec->ve_data, vec->ve_len);
	buf[4] = 2;
	memcpy(buf + vec->ve_len, vec->ve_data, vec->ve_len);
	KUNIT_EXPECT_TRUE(test, rpcrdma_props_decode(buf, sizeof(buf), &priv));
}

/* Covers: V1-CRD-31 */
static void props_reserved_flags_are_ignored(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_CM_PRIVATE];
	u8 buf[RPCRDMA_CM_PRIVATE_LEN];
	struct rpcrdma_cm_private priv;
	u32 flags;

	memcpy(buf, vec->ve_data, vec->ve_len);
	for (flags = 0; flags < 256; flags++) {
		buf[5] = flags;
		KUNIT_ASSERT_TRUE(test, rpcrdma_props_decode(buf, sizeof(buf),
							     &priv));
		KUNIT_EXPECT_EQ(test, priv.cp_remote_inv, flags % 2 == 1);
	}
}

/* Covers: V1-CRD-19 */
static void props_sizes(struct kunit *test)
{
	static const struct {
		u32 size;
		u8 byte;
	} sizes[] = {
		{ 0, 0 },
		{ 1023, 0 },
		{ 1024, 0 },
		{ 2047, 0 },
		{ 2048, 1 },
		{ 4095, 2 },
		{ 65536, 63 },
		{ 262144, 255 },
		{ 262145, 255 },
		{ U32_MAX, 255 },
	};
	struct rpcrdma_cm_private priv = {};
	u8 buf[RPCRDMA_CM_PRIVATE_LEN];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		priv.cp_send_size = sizes[i].size;
		priv.cp_recv_size = 7 * 1024;
		rpcrdma_props_encode(buf, &priv);
		KUNIT_EXPECT_EQ(test, buf[6], sizes[i].byte);
		KUNIT_EXPECT_EQ(test, buf[7], 6);
	}
	for (i = 0; i < 256; i++) {
		buf[6] = i;
		buf[7] = 255 - i;
		KUNIT_ASSERT_TRUE(test, rpcrdma_props_decode(buf, sizeof(buf),
							     &priv));
		KUNIT_EXPECT_EQ(test, priv.cp_send_size, 1024 * (i + 1));
		KUNIT_EXPECT_EQ(test, priv.cp_recv_size, 1024 * (256 - i));
	}
}

struct props_case {
	const char	*desc;
	u32		our_send, our_recv, peer_send, peer_recv;
	bool		silent;
	u32		inline_send, inline_recv;
};

static const struct props_case props_cases[] = {
	{ "both sides alike", .our_send = 4096, .our_recv = 4096, .peer_send = 4096,
	  .peer_recv = 4096, .inline_send = 4096, .inline_recv = 4096 },
	{ "the peer receives less than we send", .our_send = 8192, .our_recv = 8192,
	  .peer_send = 16384, .peer_recv = 2048, .inline_send = 2048, .inline_recv = 8192 },
	{ "the peer sends less than we receive", .our_send = 8192, .our_recv = 8192,
	  .peer_send = 2048, .peer_recv = 16384, .inline_send = 8192, .inline_recv = 2048 },
	{ "the largest a peer can say", .our_send = 65536, .our_recv = 1024, .peer_send = 262144,
	  .peer_recv = 262144, .inline_send = 65536, .inline_recv = 1024 },
	{ "ours are no multiples of 1024", .our_send = 4095, .our_recv = 5000, .peer_send = 65536,
	  .peer_recv = 65536, .inline_send = 3072, .inline_recv = 4096 },
	{ "ours are smaller than what they are told to be", .our_send = 1025, .our_recv = 65535,
	  .peer_send = 65536, .peer_recv = 1024, .inline_send = 1024, .inline_recv = 64512 },
	{ "a peer that says nothing", .our_send = 65536, .our_recv = 65536, .silent = true,
	  .inline_send = 1024, .inline_recv = 1024 },
};

KUNIT_ARRAY_PARAM_DESC(props, props_cases, desc);

/* Covers: V1-CRD-15 V1-CRD-17 V1-CRD-19 V1-CRD-20 */
static void props_fold(struct kunit *test)
{
	const struct props_case *param = test->param_value;
	struct rpcrdma_cm_private ours = {
		.cp_send_size = param->our_send,
		.cp_recv_size = param->our_recv,
	};
	struct rpcrdma_cm_private peer = {
		.cp_send_size = param->peer_send,
		.cp_recv_size = param->peer_recv,
	};
	u8 buf[RPCRDMA_CM_PRIVATE_LEN];
	struct rpcrdma_limits limits;
	u32 inv;

	for (inv = 0; inv < 4; inv++) {
		ours.cp_remote_inv = inv & 1;
		peer.cp_remote_inv = inv & 2;
		rpcrdma_props_encode(buf, &peer);
		rpcrdma_props_limits(&ours, buf,
				     param->silent ? 7 : sizeof(buf), &limits);
		KUNIT_EXPECT_EQ(test, limits.lm_inline_send,
				param->inline_send);
		KUNIT_EXPECT_EQ(test, limits.lm_inline_recv,
				param->inline_recv);
		KUNIT_EXPECT_EQ(test, limits.lm_peer_spoke, !param->silent);
		KUNIT_EXPECT_EQ(test, limits.lm_remote_inv,
				inv == 3 && !param->silent);
		KUNIT_EXPECT_EQ(test, limits.lm_hdr_extra, 0);
		KUNIT_EXPECT_EQ(test, limits.lm_peer_recv,
				param->silent ? 1024 : param->peer_recv);
		KUNIT_EXPECT_EQ(test, limits.lm_brs, RPCRDMA2_BRS_INLINE);
	}
}

struct props_v2_case {
	const char	*desc;
	u32		our_send, our_recv;
	bool		silent;
	u32		rbsiz, brs, inline_send;
};

static const struct props_v2_case props_v2_cases[] = {
	{ "a peer that says nothing", .our_send = 65536, .our_recv = 16384, .silent = true,
	  .inline_send = 4096, .brs = RPCRDMA2_BRS_INLINE },
	{ "a peer that says nothing, and we cannot send as much", .our_send = 2048,
	  .our_recv = 4096, .silent = true, .inline_send = 2048, .brs = RPCRDMA2_BRS_INLINE },
	{ "the smallest Receives there are", .our_send = 65536, .our_recv = 65536, .rbsiz = 1024,
	  .inline_send = 1024, .brs = RPCRDMA2_BRS_NONE },
	{ "a size that is no multiple of anything", .our_send = 65536, .our_recv = 1024,
	  .rbsiz = 5001, .inline_send = 5001, .brs = RPCRDMA2_BRS_GENL },
	{ "more than we ever send", .our_send = 262144, .our_recv = 4096, .rbsiz = U32_MAX,
	  .inline_send = 65536, .brs = RPCRDMA2_BRS_INLINE },
};

KUNIT_ARRAY_PARAM_DESC(props_v2, props_v2_cases, desc);

/* Covers: V2-INL-01 V2-INL-02 V2-INL-03 V2-PRP-14 V2-PRP-20 V2-PRP-24 V2-CHK-16 V2-BC-02 G-19 */
static void props_v2_fold(struct kunit *test)
{
	const struct props_v2_case *param = test->param_value;
	struct rpcrdma_cm_private ours = {
		.cp_send_size = param->our_send,
		.cp_recv_size = param->our_recv,
	};
	struct rpcrdma2_props peer = {
		.vp_value[RPCRDMA2_PROP_RBSIZ] = param->rbsiz,
		.vp_value[RPCRDMA2_PROP_BRS] = param->brs,
	};
	struct rpcrdma_limits limits;
	u32 inv;

	for (inv = 0; inv < 2; inv++) {
		ours.cp_remote_inv = inv;
		memset(&limits, 0xee, sizeof(limits));
		rpcrdma2_props_limits(&ours, param->silent ? NULL : &peer,
				      &limits);
		KUNIT_EXPECT_EQ(test, limits.lm_inline_send,
				param->inline_send);
		KUNIT_EXPECT_EQ(test, limits.lm_inline_recv, param->our_recv);
		KUNIT_EXPECT_EQ(test, limits.lm_brs, param->brs);
		KUNIT_EXPECT_EQ(test, limits.lm_hdr_extra, 8);
		KUNIT_EXPECT_EQ(test, limits.lm_peer_recv,
				param->silent ? 4096 : param->rbsiz);
		KUNIT_EXPECT_EQ(test, limits.lm_remote_inv, inv);
		KUNIT_EXPECT_EQ(test, limits.lm_peer_spoke, !param->silent);
	}
}

static struct kunit_case props_kunit_cases[] = {
	KUNIT_CASE(props_encode_the_vector),
	KUNIT_CASE(props_decode_anywhere),
	KUNIT_CASE(props_decode_truncated),
	KUNIT_CASE(props_decode_garbage),
	KUNIT_CASE(props_reserved_flags_are_ignored),
	KUNIT_CASE(props_sizes),
	KUNIT_CASE_PARAM(props_fold, props_gen_params),
	KUNIT_CASE_PARAM(props_v2_fold, props_v2_gen_params),
	{}
};

static struct kunit_suite rpcrdma_props_suite = {
	.name = "rpcrdma_props",
	.init = fx_init,
	.test_cases = props_kunit_cases,
};

kunit_test_suite(rpcrdma_props_suite);
