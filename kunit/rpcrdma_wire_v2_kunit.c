// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/v2.c: encoding and decoding of version 2 Calls and Replies,
 * forward and backward, and the table of header types. Some tests also check which error answers a
 * message (rpcrdma2_refusal() in v2_error.c).
 */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/chunk.h>
#include <rpcrdma/vers.h>

#include "../net/wire/xdr.h"
#include "accept.h"
#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

static const struct rpcrdma_segment v2_write_seg = {
	0x00040d01, 65536, 0x0000000500000000ull,
};

static const struct rpcrdma_segment v2_zero_seg = {
	0x00030c01, 6000, 0x0000000400000100ull,
};

static const struct rpcrdma_segment v2_read_segs[] = {
	{ 0x11, 40, 0 },
	{ 0x22, 40, 0 },
};

static const struct rpcrdma_chunk_out v2_write = {
	.co_segs = &v2_write_seg, .co_nsegs = 1,
};

static const struct rpcrdma_chunk_out v2_zero = {
	.co_segs = &v2_zero_seg, .co_nsegs = 1,
};

static const struct rpcrdma_chunk_out v2_read = {
	.co_segs = v2_read_segs, .co_position = 8, .co_nsegs = 2,
};

struct v2_call_case {
	const char			*desc;
	enum rpcrdma_vector_id		vector;
	u32				msg_len;
	struct rpcrdma_call_out		call;
};

static const struct v2_call_case v2_call_cases[] = {
	{ "a Write chunk that may be invalidated", .vector = VEC_V2_MSG_INV, .msg_len = 72,
	  .call = { .ko_xid = XID, .ko_credit = 32, .ko_nwrites = 1, .ko_write = &v2_write,
		    .ko_inv_handle = 0x00040d01 } },
	{ "a Long Call", .vector = VEC_V2_NOMSG_CALL,
	  .call = { .ko_xid = XID, .ko_credit = 32, .ko_proc = RPCRDMA2_NOMSG, .ko_nreads = 1,
		    .ko_read = &v2_zero, .ko_inv_handle = 0x00030c01 } },
};

KUNIT_ARRAY_PARAM_DESC(v2_call, v2_call_cases, desc);

/* Covers: V2-HDR-01 V2-HDR-02 V2-HDR-03 V2-HDR-06 V2-HDR-07 V2-HDR-08 V2-HDR-17 V2-CHK-01
 * Covers: V2-CHK-03 V2-TYP-01 V2-TYP-02 V2-TYP-03 V2-TYP-04 V2-TYP-05 V2-INL-05
 */
static void v2_encode_call_vectors(struct kunit *test)
{
	const struct v2_call_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	u32 size, len = vec->ve_len - param->msg_len;
	struct rpcrdma_kunit *fx = test->priv;
	u8 *buf;

	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test,
				rpcrdma_encode_call(2, buf, size, &param->call),
				-EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_call(2, buf, len, &param->call),
			len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);
}

/* Covers: V2-HDR-01 V2-HDR-02 V2-HDR-12 V2-CHK-01 V2-CRD-02 V2-TYP-03 V2-TYP-05 */
static void v2_decode_call_vectors(struct kunit *test)
{
	const struct v2_call_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	KUNIT_ASSERT_EQ(test, fx_server2(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_vers, 2);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, 32);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, param->call.ko_proc);
	KUNIT_EXPECT_FALSE(test, hdr->hd_response);
	KUNIT_EXPECT_EQ(test, hdr->hd_inv_handle, param->call.ko_inv_handle);
	KUNIT_EXPECT_FALSE(test, hdr->hd_inv_stray);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, param->msg_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_length, vec->ve_len - param->msg_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_nwrites, param->call.ko_nwrites);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_call.ck_nsegs,
			param->call.ko_nreads);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK));
}

/* Decode the Call vec_v2_msg_inv. Returns its lists, for a Reply to it. */
static const struct rpcrdma_lists *v2_offer(struct rpcrdma_kunit *fx)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_V2_MSG_INV];

	KUNIT_ASSERT_EQ(fx->kf_test, fx_server2(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	fx->kf_lists = fx->kf_hdr.hd_lists;
	return &fx->kf_lists;
}

#define V2_REPLY_MSG	44u	/* bytes of the RPC message in vec_v2_msg_reply */

/* Covers: V2-HDR-06 V2-HDR-07 V2-HDR-08 V2-CHK-12 V2-TYP-04 V2-CRD-06 */
static void v2_encode_reply_vector(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_V2_MSG_REPLY];
	u32 size, written = 65536, len = vec->ve_len - V2_REPLY_MSG;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_reply_out reply = {
		.ro_xid = XID, .ro_credit = 64, .ro_written = &written,
	};
	u8 *buf;

	reply.ro_lists = v2_offer(fx);
	KUNIT_EXPECT_EQ(test, rpcrdma_reply_len(RPCRDMA_VERS_2, reply.ro_lists),
			len);
	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, vec->ve_data, size);
		KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(2, buf, size,
							   &reply), -EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_reply(2, buf, len, &reply), len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);

	/* A grant of 0 would stop the peer for ever, so it is sent as 1 */
	reply.ro_credit = 0;
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_reply(2, buf, len, &reply), len);
	KUNIT_EXPECT_MEMEQ(test, buf + 8, ((u8[]) { 0, 0, 0, 1 }), 4);

	written++;
	KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(2, buf, len, &reply),
			-EINVAL);
}

/* Covers: V2-HDR-12 V2-CHK-12 V2-CRD-01 V2-CRD-02 */
static void v2_decode_reply_vector(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_V2_MSG_REPLY];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	KUNIT_ASSERT_EQ(test, fx_client2(fx, vec->ve_data, vec->ve_len, 0),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, 64);
	KUNIT_EXPECT_TRUE(test, hdr->hd_response);
	KUNIT_EXPECT_EQ(test, hdr->hd_inv_handle, 0);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, V2_REPLY_MSG);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_write[0].ck_length, 65536);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK));

	/* rdma_inv_handle is ignored in a Reply, even if it is the handle of a segment */
	memcpy(fx->kf_buf, vec->ve_data, vec->ve_len);
	memcpy(fx->kf_buf + 20, fx->kf_buf + 36, 4);
	KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, vec->ve_len, 0),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_inv_handle, 0);
	KUNIT_EXPECT_FALSE(test, hdr->hd_inv_stray);

	/* At a server, a Reply is the Reply to a callback */
	KUNIT_EXPECT_EQ(test, fx_server2(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_BACKWARD_REPLY);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_is_grant(hdr, RPCRDMA_BACKWARD_REPLY));
}

static const enum rpcrdma_vector_id v2_rpc_vectors[] = {
	VEC_V2_MSG_INV, VEC_V2_NOMSG_CALL, VEC_V2_MSG_REPLY,
};

/* Covers: V2-HDR-16 V1-HDR-23 V1-CHK-14 G-10 */
static void v2_truncated_everywhere(struct kunit *test)
{
	static const u32 msg_lens[] = { 72, 0, V2_REPLY_MSG };
	enum rpcrdma_verdict want, server, client;
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_vector *vec;
	struct rpcrdma2_error error;
	u32 i, len, hdr_len;

	for (i = 0; i < ARRAY_SIZE(v2_rpc_vectors); i++) {
		vec = &rpcrdma_vectors[v2_rpc_vectors[i]];
		hdr_len = vec->ve_len - msg_lens[i];
		for (len = 0; len < vec->ve_len; len++) {
			want = RPCRDMA_BAD_LIST;
			if (len < 20)
				want = RPCRDMA_DISCARD_SHORT;
			else if (len >= hdr_len + 8)
				continue;
			else if (len >= hdr_len)
				want = RPCRDMA_BAD_MSG;
			server = fx_server2(fx, vec->ve_data, len);
			KUNIT_EXPECT_EQ_MSG(test, server, want, "%u: %u bytes",
					    i, len);
			/* A request of one of these lengths is answered with an error, unless it is
			 * too short for the prefix (20 bytes). A Reply is never answered
			 */
			KUNIT_EXPECT_EQ(test,
					rpcrdma2_refusal(&fx->kf_hdr, server,
							 &rpcrdma2_accept_forward,
							 &error),
					len >= 20 && i < 2);
			KUNIT_EXPECT_EQ(test, error.er_code,
					RPCRDMA2_ERR_BAD_XDR);
			client = fx_client2(fx, vec->ve_data, len, 0);
			KUNIT_EXPECT_EQ_MSG(test, client, want, "%u: %u bytes",
					    i, len);
		}
	}
}

/* Covers: V2-HDR-04 V2-HDR-05 V2-HDR-16 V2-TYP-15 V2-TYP-16 V2-EXT-11 G-10 */
static void v2_all_short_lengths(struct kunit *test)
{
	static const u32 types[] = {
		0, 1, 2, 3, 5, 6, 0x80000000, 0xdeadbeef, 0xffffffff,
	};
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict verdict, want;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		memset(fx->kf_buf, 0, 64);
		fx_message(fx, XID, 2, 1, types[i]);
		for (len = 0; len <= 40; len++) {
			want = RPCRDMA_BAD_PROC;
			if (types[i] == RPCRDMA2_CONNPROP)
				want = len == 24 ? RPCRDMA_OK :
						   RPCRDMA_BAD_PROP;
			else if (types[i] < 2)
				want = len < 36 ? RPCRDMA_BAD_LIST :
				       types[i] ? RPCRDMA_BAD_FORM :
						  RPCRDMA_BAD_MSG;
			if (len < 20)
				want = RPCRDMA_DISCARD_SHORT;
			verdict = fx_server2(fx, fx->kf_buf, len);
			KUNIT_EXPECT_EQ_MSG(test, verdict, want,
					    "type %u, %u bytes", types[i], len);
		}
	}

	/* If a message has another version and is not an error, only its fixed words are read */
	fx_message(fx, XID, 3, 1, 0);
	memset(fx->kf_buf + 16, 0xff, 24);
	for (len = 0; len <= 40; len++)
		KUNIT_EXPECT_EQ(test, fx_server2(fx, fx->kf_buf, len), len <
				16 ? RPCRDMA_DISCARD_SHORT : RPCRDMA_BAD_VERS);
}

/* A message made of words, of which the first is XID. Only its first @bytes bytes are used. @code
 * is the error that answers the message, or 0 if none does.
 */
struct v2_words_case {
	const char		*desc;
	u32			bytes;
	enum rpcrdma_verdict	verdict;
	u32			code;
	u32			words[32];
};

#define V2_WORDS(desc, bytes, verdict, ...) {			\
	desc, bytes, RPCRDMA_##verdict, 0, { XID, __VA_ARGS__ },	\
}

#define V2_ANSWERED(desc, bytes, verdict, code, ...) {			\
	desc, bytes, RPCRDMA_##verdict, RPCRDMA2_ERR_##code, { XID, __VA_ARGS__ },	\
}

static const struct v2_words_case v2_server_cases[] = {
	V2_WORDS("a Call", 44, OK, 2, 1, 0, 0, 0, 0, 0, 0, XID, 0),
	V2_WORDS("flags that nobody knows", 44, OK, 2, 1, 0, 0xfffffffe, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("version 1", 36, BAD_VERS, VERS, 1, 1, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("version 3", 16, BAD_VERS, VERS, 3, 1, 0xffffffff),
	V2_WORDS("an error of version 3", 36, DISCARD_ERROR, 3, 1, 4, 2),
	V2_ANSWERED("type 2", 44, BAD_PROC, INVAL_HTYPE, 2, 1, 2, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("type 3", 20, BAD_PROC, INVAL_HTYPE, 2, 1, 3),
	V2_ANSWERED("type 6", 20, BAD_PROC, INVAL_HTYPE, 2, 1, 6),
	V2_ANSWERED("type 4294967295", 20, BAD_PROC, INVAL_HTYPE, 2, 1, 0xffffffff),
	V2_WORDS("an unknown type in a response", 20, BAD_PROC, 2, 1, 6, 1),
	V2_ANSWERED("a presence word of 2", 44, BAD_LIST, BAD_XDR, 2, 1, 0, 0, 0, 2, 0, 0, XID, 0),
	V2_ANSWERED("RDMA2_MSG with a Position Zero chunk", 68, BAD_FORM, BAD_XDR, 2, 1, 0, 0, 0, 1,
		    0, 7, 40, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("RDMA2_NOMSG without a Position Zero chunk", 36, BAD_FORM, BAD_XDR, 2, 1, 1),
	V2_ANSWERED("RDMA2_NOMSG with an RPC message behind it", 68, BAD_MSG, BAD_XDR, 2, 1, 1, 0,
		    0, 1, 0, 7, 40, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("a position that is not aligned", 68, BAD_POSITION, BAD_XDR, 2, 1, 0, 0, 0, 1,
		    6, 7, 40, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("two XIDs", 44, BAD_XID, BAD_XDR, 2, 1, 0, 0, 0, 0, 0, 0, XID + 1, 0),
	V2_ANSWERED("a Reply without F_RESPONSE", 44, BAD_DIRECTION, BAD_XDR, 2, 1, 0, 0, 0, 0, 0,
		    0, XID, 1),
	V2_WORDS("a Call with F_RESPONSE", 44, BAD_DIRECTION, 2, 1, 0, 1, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("neither Call nor Reply", 44, BAD_DIRECTION, BAD_XDR, 2, 1, 0, 0, 0, 0, 0, 0,
		    XID, 2),
	V2_ANSWERED("a segment count that leads out of the message", 44, BAD_LIST, BAD_XDR, 2, 1, 0,
		    0, 0, 0, 1, 0xffffffff, XID, 0),
	V2_ANSWERED("lengths that overflow", 88, BAD_LENGTH, BAD_XDR, 2, 1, 0, 0, 0, 0, 1, 2, 7,
		    0xffffffff, 0, 0, 7, 1, 0, 0, 0, 0, 0, XID, 0),
	V2_WORDS("a Reply to a callback", 44, BACKWARD_REPLY, 2, 1, 0, 1, 0, 0, 0, 0, XID, 1),
	V2_WORDS("a bad Reply to a callback", 44, BAD_LIST, 2, 1, 0, 1, 0, 3, 0, 0, XID, 1),
};

KUNIT_ARRAY_PARAM_DESC(v2_server, v2_server_cases, desc);

static void v2_check_words(struct rpcrdma_kunit *fx, enum rpcrdma_verdict
			   verdict, const struct rpcrdma2_accept *accept)
{
	struct kunit *test = fx->kf_test;
	const struct v2_words_case *param = test->param_value;
	struct rpcrdma2_error error;

	KUNIT_EXPECT_EQ(test, verdict, param->verdict);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, XID);
	KUNIT_ASSERT_EQ(test, rpcrdma2_refusal(&fx->kf_hdr, verdict, accept,
					       &error), !!param->code);
	if (!param->code)
		return;
	KUNIT_EXPECT_EQ(test, error.er_code, param->code);
	/* The lowest version that is accepted. READ_CHUNKS from a client: it accepts 0 */
	KUNIT_EXPECT_EQ(test, error.er_arg[0],
			param->code == RPCRDMA2_ERR_VERS ? 1 : 0);
}

/* Covers: V2-HDR-04 V2-HDR-12 V2-HDR-13 V2-HDR-14 V2-CHK-02 V2-TYP-06 V2-TYP-15 V2-TYP-16
 * Covers: V2-TYP-17 V2-ERR-03 V2-ERR-04 V2-ERR-06 V2-ERR-09 V2-EXT-01 V2-EXT-03 G-01 G-08 G-09
 * Covers: G-12 G-21
 */
static void v2_judges_at_a_server(struct kunit *test)
{
	const struct v2_words_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	fx_words(fx, param->words, ARRAY_SIZE(param->words));
	v2_check_words(fx, fx_server2(fx, fx->kf_buf, param->bytes),
		       &rpcrdma2_accept_forward);
}

static const struct v2_words_case v2_client_cases[] = {
	V2_WORDS("a Reply", 44, OK, 2, 1, 0, 1, 0, 0, 0, 0, XID, 1),
	V2_WORDS("a Reply with unknown flags and a handle", 44, OK, 2, 1, 0, 0xffffffff, 7, 0, 0, 0,
		 XID, 1),
	V2_WORDS("a Long Reply", 56, OK, 2, 1, 1, 1, 0, 0, 0, 1, 1, 7, 40, 0, 0),
	V2_WORDS("a Long Reply without a Reply chunk", 36, BAD_FORM, 2, 1, 1, 1),
	V2_WORDS("a Long Reply of no bytes", 56, BAD_FORM, 2, 1, 1, 1, 0, 0, 0, 1, 1, 7, 0, 0, 0),
	V2_WORDS("a Reply with a Read chunk", 68, BAD_FORM, 2, 1, 0, 1, 0, 1, 4, 7, 40, 0, 0, 0, 0,
		 0, XID, 1),
	V2_WORDS("a Reply with a Call in it", 44, BAD_DIRECTION, 2, 1, 0, 1, 0, 0, 0, 0, XID, 0),
	V2_WORDS("a Reply with two XIDs", 44, BAD_XID, 2, 1, 0, 1, 0, 0, 0, 0, XID + 1, 1),
	V2_WORDS("a version 1 Reply", 36, BAD_VERS, 1, 1, 0, 0, 0, 0, XID, 1),
	V2_WORDS("an unknown type in a response", 20, BAD_PROC, 2, 1, 6, 1),
	V2_ANSWERED("an unknown type in a request", 20, BAD_PROC, INVAL_HTYPE, 2, 1, 6, 0),
	V2_WORDS("a backward Call", 44, BACKWARD_CALL, 2, 1, 0, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("a backward Call with two XIDs", 44, BAD_XID, BAD_XDR, 2, 1, 0, 0, 0, 0, 0, 0,
		    XID + 1, 0),
	V2_ANSWERED("a backward Call with a Read chunk", 68, MANY_READS, READ_CHUNKS, 2, 1, 0, 0, 0,
		    1, 8, 7, 40, 0, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("a long backward Call", 60, MANY_READS, READ_CHUNKS, 2, 1, 1, 0, 0, 1, 0, 7, 40,
		    0, 0),
	V2_ANSWERED("a backward Call with a Write chunk", 68, BAD_FORM, BAD_XDR, 2, 1, 0, 0, 0, 0,
		    1, 1, 7, 40, 0, 0, 0, 0, XID, 0),
	V2_ANSWERED("a backward Call with a Reply chunk", 64, BAD_FORM, BAD_XDR, 2, 1, 0, 0, 0, 0,
		    0, 1, 1, 7, 40, 0, 0, XID, 0),
	V2_ANSWERED("a backward Call with too many segments", 48, BAD_LIST, BAD_XDR, 2, 1, 0, 0, 0,
		    0, 0, 1, 65, XID, 0),
};

KUNIT_ARRAY_PARAM_DESC(v2_client, v2_client_cases, desc);

/* Covers: V2-HDR-12 V2-HDR-13 V2-HDR-14 V2-CHK-12 V2-TYP-06 V2-TYP-16 V2-ERR-03 V2-BC-03
 * Covers: V2-BC-05 V2-BC-07 V2-BC-08 V2-NEG-14 G-12 G-24
 */
static void v2_judges_at_a_client(struct kunit *test)
{
	const struct v2_words_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	fx_words(fx, param->words, ARRAY_SIZE(param->words));
	v2_check_words(fx, fx_client2(fx, fx->kf_buf, param->bytes, 0),
		       &rpcrdma2_accept_backward);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle, 0);
	KUNIT_EXPECT_FALSE(test, fx->kf_hdr.hd_inv_stray);
}

/* Write a Call to the fixture's buffer. Each of its Read and Write chunks has @nsegs segments. */
static void v2_put_call(struct rpcrdma_kunit *fx, u32 nreads, u32 nwrites,
			u32 nsegs)
{
	u32 i, j;

	fx_message(fx, XID, 2, 1, 0, 0, 0);
	for (i = 0; i < nreads; i++)
		for (j = 0; j < nsegs; j++) {
			fx_say(fx, 1, 8 + 4 * i);
			fx_seg(fx, 7, 4, 0);
		}
	fx_word(fx, 0);
	for (i = 0; i < nwrites; i++) {
		fx_say(fx, 1, nsegs);
		for (j = 0; j < nsegs; j++)
			fx_seg(fx, 7, 4, 0);
	}
	fx_say(fx, 0, 0, XID, 0);
}

static void v2_expect_refusal(struct rpcrdma_kunit *fx,
			      const struct rpcrdma2_accept *accept, u32 code,
			      u32 arg)
{
	void *copy = fx_exact(fx, fx->kf_buf, fx->kf_len);
	struct kunit *test = fx->kf_test;
	enum rpcrdma_verdict verdict;
	struct rpcrdma2_error error;

	/* so that it is noticed if chunks count that the Call does not have */
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	verdict = rpcrdma2_decode_call(copy, fx->kf_len, accept, &fx->kf_hdr);
	KUNIT_EXPECT_EQ(test, verdict == RPCRDMA_OK, !code);
	KUNIT_ASSERT_EQ(test, rpcrdma2_refusal(&fx->kf_hdr, verdict, accept,
					       &error), !!code);
	if (!code)
		return;
	KUNIT_EXPECT_EQ(test, error.er_code, code);
	KUNIT_EXPECT_EQ(test, error.er_arg[0], arg);
	KUNIT_EXPECT_EQ(test, error.er_arg[1], 0);
}

struct v2_limit_case {
	const char	*desc;
	u32		reads, writes, segs;		/* of the Call */
	u32		ac_reads, ac_writes, ac_segs;	/* the limits */
	u32		code, arg;
};

#define V2_LIMIT(desc, reads, writes, segs, ac_reads, ac_writes, ac_segs, code, arg) {	\
	desc, reads, writes, segs, ac_reads, ac_writes, ac_segs, RPCRDMA2_ERR_##code, arg, \
}

/* A server that accepts no Write chunks answers them with REPLY_RESOURCE, which asks for a Reply
 * chunk instead.
 */
static const struct v2_limit_case v2_limit_cases[] = {
	{ "the default limits", 15, 16, 2, 15, 16, 64, 0, 0 },
	V2_LIMIT("a Read chunk too many", 16, 0, 1, 15, 16, 64, READ_CHUNKS, 15),
	V2_LIMIT("two Read chunks too many", 17, 0, 1, 15, 16, 64, READ_CHUNKS, 15),
	V2_LIMIT("a Write chunk too many", 0, 17, 1, 15, 16, 64, WRITE_CHUNKS, 16),
	{ "all segments", 1, 1, 64, 15, 16, 64, 0, 0 },
	V2_LIMIT("a segment too many to read", 1, 0, 65, 15, 16, 64, SEGMENTS, 64),
	V2_LIMIT("a segment too many to write", 0, 1, 65, 15, 16, 64, SEGMENTS, 64),
	{ "lower limits", 1, 2, 3, 1, 2, 3, 0, 0 },
	V2_LIMIT("lower limits, a Read chunk too many", 2, 0, 1, 1, 2, 3, READ_CHUNKS, 1),
	V2_LIMIT("lower limits, a Write chunk too many", 0, 3, 1, 1, 2, 3, WRITE_CHUNKS, 2),
	V2_LIMIT("lower limits, a segment too many to write", 0, 1, 4, 1, 2, 3, SEGMENTS, 3),
	V2_LIMIT("lower limits, a segment too many to read", 1, 0, 4, 1, 2, 3, SEGMENTS, 3),
	V2_LIMIT("no Read chunks", 1, 0, 1, 0, 0, 3, READ_CHUNKS, 0),
	V2_LIMIT("no Write chunks", 0, 2, 3, 0, 0, 3, REPLY_RESOURCE, 24),
};

KUNIT_ARRAY_PARAM_DESC(v2_limit, v2_limit_cases, desc);

/* Covers: V2-ERR-11 V2-ERR-14 V2-ERR-16 V2-ERR-28 V1-CHK-15 G-23 G-32 */
static void v2_says_which_limit(struct kunit *test)
{
	const struct v2_limit_case *param = test->param_value;
	struct rpcrdma2_accept accept = rpcrdma2_accept_forward;
	struct rpcrdma_kunit *fx = test->priv;

	accept.ac_reads = param->ac_reads;
	accept.ac_writes = param->ac_writes;
	accept.ac_segs = param->ac_segs;
	v2_put_call(fx, param->reads, param->writes, param->segs);
	v2_expect_refusal(fx, &accept, param->code, param->arg);
}

/* Calls that are accepted if a chunk may have two segments, but not if it may have one */
static const struct v2_words_case v2_two_segments[] = {
	V2_WORDS("a Position Zero chunk", 84, OK, 2, 1, 1, 0, 0, 1, 0, 7, 40, 0, 0, 1, 0, 7, 40, 0,
		 0, 0, 0, 0),
	V2_WORDS("a Reply chunk", 80, OK, 2, 1, 0, 0, 0, 0, 0, 1, 2, 7, 40, 0, 0, 7, 40, 0, 0, XID,
		 0),
	V2_WORDS("the second Write chunk", 108, OK, 2, 1, 0, 0, 0, 0, 1, 1, 7, 40, 0, 0, 1, 2, 8,
		 40, 0, 0, 9, 40, 0, 0, 0, 0, XID, 0),
	V2_WORDS("the second Read chunk", 116, OK, 2, 1, 0, 0, 0, 1, 8, 7, 4, 0, 0, 1, 12, 8, 4, 0,
		 0, 1, 12, 9, 4, 0, 0, 0, 0, 0, XID, 0),
};

KUNIT_ARRAY_PARAM_DESC(v2_two, v2_two_segments, desc);

/* Covers: V2-ERR-16 */
static void v2_limits_in_every_list(struct kunit *test)
{
	const struct v2_words_case *param = test->param_value;
	struct rpcrdma2_accept low = rpcrdma2_accept_forward;
	struct rpcrdma_kunit *fx = test->priv;

	fx_words(fx, param->words, param->bytes / 4);
	low.ac_segs = 2;
	v2_expect_refusal(fx, &low, 0, 0);
	low.ac_segs = 1;
	v2_expect_refusal(fx, &low, RPCRDMA2_ERR_SEGMENTS, 1);
}

/* A client accepts no chunks in a backward Call. With Read chunks, the error is READ_CHUNKS, even
 * if other limits are exceeded; otherwise it is BAD_XDR.
 * Covers: V2-ERR-16 V2-BC-07
 */
static void v2_limits_of_callbacks(struct kunit *test)
{
	static const struct {
		u32 reads, writes, segs, code;
	} backward[] = {
		{ 0, 17, 1, RPCRDMA2_ERR_BAD_XDR },
		{ 0, 1, 65, RPCRDMA2_ERR_BAD_XDR },
		{ 1, 0, 65, RPCRDMA2_ERR_READ_CHUNKS },
		{ 1, 17, 1, RPCRDMA2_ERR_READ_CHUNKS },
		{ 1, 1, 64, RPCRDMA2_ERR_READ_CHUNKS },
	};
	struct rpcrdma_kunit *fx = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(backward); i++) {
		v2_put_call(fx, backward[i].reads, backward[i].writes,
			    backward[i].segs);
		v2_expect_refusal(fx, &rpcrdma2_accept_backward,
				  backward[i].code, 0);
	}
	fx_message(fx, XID, 2, 1, 1, 0, 0);
	for (i = 0; i < 65; i++) {
		fx_say(fx, 1, 0);
		fx_seg(fx, 7, 4, 0);
	}
	fx_say(fx, 0, 0, 0);
	v2_expect_refusal(fx, &rpcrdma2_accept_backward,
			  RPCRDMA2_ERR_READ_CHUNKS, 0);
}

/* Covers: V2-NEG-15 V2-ERR-23 V2-TYP-18 G-20 */
static void v2_refusals_of_the_caller(struct kunit *test)
{
	struct rpcrdma2_accept fixed = rpcrdma2_accept_forward;
	struct rpcrdma_hdr *hdr = &((struct rpcrdma_kunit *)test->priv)->kf_hdr;
	static const enum rpcrdma_verdict none[] = {
		RPCRDMA_OK, RPCRDMA_DISCARD_SHORT, RPCRDMA_DISCARD_DONE,
		RPCRDMA_DISCARD_ERROR, RPCRDMA_BACKWARD_CALL,
		RPCRDMA_BACKWARD_REPLY,
	};
	struct rpcrdma2_error error;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(none); i++)
		KUNIT_EXPECT_FALSE(test, rpcrdma2_refusal(hdr, none[i], &fixed,
							  &error));

	/* If the version of the connection is settled, ERR_VERS gives only this version */
	fixed.ac_vers_low = 2;
	KUNIT_ASSERT_TRUE(test, rpcrdma2_refusal(hdr, RPCRDMA_BAD_VERS, &fixed,
						 &error));
	KUNIT_EXPECT_EQ(test, error.er_code, RPCRDMA2_ERR_VERS);
	KUNIT_EXPECT_EQ(test, error.er_arg[0], 2);
	KUNIT_EXPECT_EQ(test, error.er_arg[1], 2);

	KUNIT_ASSERT_TRUE(test, rpcrdma2_refusal(hdr, RPCRDMA_BAD_COUNT, &fixed,
						 &error));
	KUNIT_EXPECT_EQ(test, error.er_code, RPCRDMA2_ERR_SYSTEM);
}

/* Covers: V2-CHK-03 V2-CHK-04 V2-CHK-13 G-22 */
static void v2_handles_to_invalidate(struct kunit *test)
{
	static const u32 handles[] = { 0, 0x11, 0x22, 0x00040d01, 0x00030c01 };
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_call_out call = {
		.ko_xid = XID, .ko_nreads = 1, .ko_read = &v2_read,
		.ko_nwrites = 1, .ko_write = &v2_write, .ko_reply = &v2_zero,
	};
	u32 i, handle;
	int len;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		handle = handles[i];
		call.ko_inv_handle = handle;
		len = rpcrdma_encode_call(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					  &call);
		KUNIT_ASSERT_GT(test, len, 0);
		fx->kf_len = len;
		fx_say(fx, XID, 0);
		KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle, handle);
		KUNIT_EXPECT_FALSE(test, fx->kf_hdr.hd_inv_stray);

		/* A handle that the peer did not offer is not invalidated */
		fx->kf_buf[20] = 0x77;
		KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle, 0);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_stray,
				(handle & 0x00ffffff) | 0x77000000);
	}

	/* The handle may also be in the Position Zero chunk */
	call = (struct rpcrdma_call_out) { .ko_xid = XID,
					   .ko_proc = RPCRDMA2_NOMSG,
					   .ko_nreads = 1, .ko_read = &v2_zero,
					   .ko_inv_handle = 0x00030c01 };
	len = rpcrdma_encode_call(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN, &call);
	KUNIT_ASSERT_GT(test, len, 0);
	KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, len), RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle, 0x00030c01);
}

/* In this test, each chunk has a handle of its own. rdma_inv_handle may be the handle of the first
 * chunk of a list, or that of a later one.
 * Covers: V2-CHK-03 G-22
 */
static void v2_handles_in_later_chunks(struct kunit *test)
{
	static const struct rpcrdma_segment segs[] = {
		{ 0x11, 40, 0 },
		{ 0x22, 40, 0 },
		{ 0x33, 40, 0 },
		{ 0x44, 40, 0 },
	};
	static const struct rpcrdma_chunk_out chunks[] = {
		{ .co_segs = &segs[0], .co_position = 8, .co_nsegs = 1 },
		{ .co_segs = &segs[1], .co_position = 12, .co_nsegs = 1 },
		{ .co_segs = &segs[2], .co_nsegs = 1 },
		{ .co_segs = &segs[3], .co_nsegs = 1 },
	};
	struct rpcrdma_call_out call = {
		.ko_xid = XID, .ko_credit = 1, .ko_nreads = 2,
		.ko_read = &chunks[0], .ko_nwrites = 2, .ko_write = &chunks[2],
	};
	struct rpcrdma_kunit *fx = test->priv;
	u8 *second = fx->kf_buf + 1024;
	u32 i;
	int len;

	for (i = 0; i < ARRAY_SIZE(segs); i++) {
		call.ko_inv_handle = segs[i].rs_handle;
		len = rpcrdma_encode_call(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					  &call);
		KUNIT_ASSERT_GT(test, len, 0);
		fx_clear(fx);
		fx->kf_len = len;
		fx_say(fx, XID, 0);
		KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle,
				segs[i].rs_handle);
		KUNIT_EXPECT_FALSE(test, fx->kf_hdr.hd_inv_stray);
	}
	/* Chunks that an earlier Call has left in unused entries of ls_read and ls_write are not
	 * searched for the handle
	 */
	KUNIT_ASSERT_EQ(test, rpcrdma2_decode_call(fx->kf_buf, fx->kf_len,
						   &rpcrdma2_accept_forward,
						   &fx->kf_hdr), RPCRDMA_OK);
	call.ko_inv_handle = 0x11;
	call.ko_nreads = 1;
	call.ko_nwrites = 1;
	len = rpcrdma_encode_call(2, second, 1024, &call);
	KUNIT_ASSERT_GT(test, len, 0);
	/* Append the RPC message, and change the last byte of rdma_inv_handle */
	memcpy(second + len, fx->kf_buf + fx->kf_len - 8, 8);
	for (i = 1; i < ARRAY_SIZE(segs); i += 2) {
		second[23] = segs[i].rs_handle;
		KUNIT_ASSERT_EQ(test,
				rpcrdma2_decode_call(second, len + 8,
						     &rpcrdma2_accept_forward,
						     &fx->kf_hdr), RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle, 0);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_stray,
				segs[i].rs_handle);
	}
}

/* Covers: V2-TYP-04 V2-TYP-05 V2-CHK-02 */
static void v2_refuses_to_send(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	static const struct rpcrdma_call_out calls[] = {
		{ .ko_proc = RPCRDMA2_ERROR },
		{ .ko_proc = RPCRDMA2_CONNPROP },
		{ .ko_proc = 2 },
		{ .ko_proc = RPCRDMA2_NOMSG },
		{ .ko_proc = RPCRDMA2_NOMSG, .ko_nreads = 1,
		  .ko_read = &v2_read },
		{ .ko_proc = RPCRDMA2_MSG, .ko_nreads = 1,
		  .ko_read = &v2_zero },
	};
	const struct rpcrdma_reply_out reply = {
		.ro_proc = RPCRDMA2_NOMSG, .ro_lists = v2_offer(fx),
		.ro_written = (const u32[]) { 0 }, .ro_reply_written = 1,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ(test, rpcrdma_encode_call(2, fx->kf_buf,
							  RPCRDMA_KUNIT_BUF_LEN,
							  &calls[i]), -EINVAL);
	/* The Call offered no Reply chunk */
	KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(2, fx->kf_buf,
						   RPCRDMA_KUNIT_BUF_LEN,
						   &reply), -EINVAL);
}

/* Covers: V2-CHK-01 V2-CHK-02 V2-HDR-06 V2-INL-05 */
static void v2_calls_survive_the_wire(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_kunit_call *rand;
	u8 *v1 = kunit_kzalloc(test, 4096, GFP_KERNEL);
	int len, v1_len;
	u32 round;

	rand = kunit_kzalloc(test, sizeof(*rand), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rand);
	KUNIT_ASSERT_NOT_NULL(test, v1);
	for (round = 0; round < 300; round++) {
		fx_random_call(fx, rand);
		if (rand->call.ko_nreads)
			rand->call.ko_inv_handle = rand->segs[0][0].rs_handle;
		len = rpcrdma_encode_call(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					  &rand->call);
		v1_len = rpcrdma_encode_call(1, v1, 4096, &rand->call);
		KUNIT_ASSERT_GT(test, v1_len, 0);
		KUNIT_ASSERT_EQ(test, len, v1_len + 8);
		/* The lists are the same as in version 1 */
		KUNIT_EXPECT_MEMEQ(test, fx->kf_buf + 24, v1 + 16, v1_len - 16);

		fx->kf_len = len;
		if (rand->call.ko_proc == RPCRDMA2_MSG)
			fx_say(fx, rand->call.ko_xid, 0);
		KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_length, len);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, rand->call.ko_xid);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_credit,
				rand->call.ko_credit);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_inv_handle,
				rand->call.ko_inv_handle);
	}
}

/* Covers: V2-CHK-02 V2-CHK-12 V2-HDR-08 V2-CRD-01 */
static void v2_replies_survive_the_wire(struct kunit *test)
{
	u32 written[RPCRDMA_KUNIT_CHUNKS], back[RPCRDMA_KUNIT_CHUNKS];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_lists *lists = &fx->kf_lists;
	struct rpcrdma_reply_out reply;
	struct rpcrdma_kunit_call *rand;
	u32 i, round, reply_back;
	int len;

	rand = kunit_kzalloc(test, sizeof(*rand), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rand);
	for (round = 0; round < 300; round++) {
		fx_random_call(fx, rand);
		len = rpcrdma_encode_call(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					  &rand->call);
		KUNIT_ASSERT_GT(test, len, 0);
		fx->kf_len = len;
		if (rand->call.ko_proc == RPCRDMA2_MSG)
			fx_say(fx, rand->call.ko_xid, 0);
		KUNIT_ASSERT_EQ(test, fx_server2(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_OK);
		fx->kf_lists = fx->kf_hdr.hd_lists;

		reply = (struct rpcrdma_reply_out) { .ro_xid =
						     rand->call.ko_xid,
						     .ro_credit = 1 + round,
						     .ro_lists = lists,
						     .ro_written = written };
		for (i = 0; i < lists->ls_nwrites; i++)
			written[i] =
				fx_random(fx, 1 + lists->ls_write[i].ck_length);
		if (lists->ls_has_reply && fx_random(fx, 2)) {
			reply.ro_proc = RPCRDMA2_NOMSG;
			reply.ro_reply_written =
				1 + fx_random(fx, lists->ls_reply.ck_length);
		}
		len = rpcrdma_encode_reply(2, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					   &reply);
		KUNIT_ASSERT_GT(test, len, 0);
		KUNIT_EXPECT_EQ(test, rpcrdma_reply_len(RPCRDMA_VERS_2, lists),
				len);
		fx->kf_len = len;
		if (reply.ro_proc == RPCRDMA2_MSG)
			fx_say(fx, reply.ro_xid, 1);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, fx->kf_buf, fx->kf_len, 0),
				RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_credit, 1 + round);
		KUNIT_ASSERT_EQ(test,
				rpcrdma_lists_check_reply(&fx->kf_hdr,
							  rand->writes,
							  rand->call.ko_nwrites,
							  rand->call.ko_reply,
							  back, &reply_back),
				RPCRDMA_OK);
		KUNIT_EXPECT_MEMEQ(test, back, written,
				   rand->call.ko_nwrites * sizeof(*back));
		KUNIT_EXPECT_EQ(test, reply_back, reply.ro_reply_written);
	}
}

/* Covers: V2-EXT-06 V2-HDR-05 */
static void v2_unknown_types(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;

	fx_say(fx, XID, 2, 1, 0x80000001, 1, XID);
	KUNIT_EXPECT_EQ(test, fx_server2(fx, fx->kf_buf, 24), RPCRDMA_BAD_PROC);
	KUNIT_EXPECT_TRUE(test, fx->kf_hdr.hd_response);
	/* The round-trip extension has a decoder of its own */
	fx_message(fx, XID, 2, 1, RPCRDMA2_RTX_MSG, 0, 0);
	KUNIT_EXPECT_EQ(test, fx_server2(fx, fx->kf_buf, 24), RPCRDMA_BAD_PROC);
}

static struct kunit_case wire_v2_cases[] = {
	KUNIT_CASE_PARAM(v2_encode_call_vectors, v2_call_gen_params),
	KUNIT_CASE_PARAM(v2_decode_call_vectors, v2_call_gen_params),
	KUNIT_CASE(v2_encode_reply_vector),
	KUNIT_CASE(v2_decode_reply_vector),
	KUNIT_CASE(v2_truncated_everywhere),
	KUNIT_CASE(v2_all_short_lengths),
	KUNIT_CASE_PARAM(v2_judges_at_a_server, v2_server_gen_params),
	KUNIT_CASE_PARAM(v2_judges_at_a_client, v2_client_gen_params),
	KUNIT_CASE_PARAM(v2_says_which_limit, v2_limit_gen_params),
	KUNIT_CASE_PARAM(v2_limits_in_every_list, v2_two_gen_params),
	KUNIT_CASE(v2_limits_of_callbacks),
	KUNIT_CASE(v2_refusals_of_the_caller),
	KUNIT_CASE(v2_handles_to_invalidate),
	KUNIT_CASE(v2_handles_in_later_chunks),
	KUNIT_CASE(v2_refuses_to_send),
	KUNIT_CASE(v2_calls_survive_the_wire),
	KUNIT_CASE(v2_replies_survive_the_wire),
	KUNIT_CASE(v2_unknown_types),
	{}
};

static struct kunit_suite rpcrdma_wire_v2_suite = {
	.name = "rpcrdma_wire_v2",
	.init = fx_init,
	.test_cases = wire_v2_cases,
};

kunit_test_suite(rpcrdma_wire_v2_suite);
