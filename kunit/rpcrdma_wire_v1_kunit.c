// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/v1.c: encoding and decoding of version 1 headers.
 */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/chunk.h>
#include <rpcrdma/vers.h>

#include "rpcrdma_kunit.h"
#define XID	RPCRDMA_KUNIT_XID

/* The chunks and the Calls of the version 1 messages in vectors.h, as arguments of the encoders.
 * The RDMA_MSGP Call is not among them, because no encoder writes it.
 */

static const struct rpcrdma_segment v1_read_segs[] = {
	{ 0x00010a01, 4096, 0x00007f0012340000ull },
	{ 0x00010a02, 4099, 0x00007f0012342000ull },
};

static const struct rpcrdma_segment v1_write_segs[] = {
	{ 0x00020b01, 4096, 0x0000000100000000ull },
	{ 0x00020b02, 4096, 0x0000000100002000ull },
	{ 0x00020b03, 4096, 0x0000000200000000ull },
};

static const struct rpcrdma_segment v1_reply_seg = {
	0x00020b04, 2048, 0x0000000300000800ull,
};

static const struct rpcrdma_segment v1_zero_seg = {
	0x00030c01, 1500, 0x0000000400000100ull,
};

static const struct rpcrdma_chunk_out v1_read = {
	.co_segs = v1_read_segs, .co_position = 80, .co_nsegs = 2,
};

static const struct rpcrdma_chunk_out v1_writes[] = {
	{ .co_segs = v1_write_segs, .co_nsegs = 2 },
	{ .co_segs = v1_write_segs + 2, .co_nsegs = 1 },
};

static const struct rpcrdma_chunk_out v1_reply = {
	.co_segs = &v1_reply_seg, .co_nsegs = 1,
};

static const struct rpcrdma_chunk_out v1_zero = {
	.co_segs = &v1_zero_seg, .co_nsegs = 1,
};

struct v1_call_case {
	const char			*desc;
	enum rpcrdma_vector_id		vector;
	u32				msg_len, rpc_type;
	struct rpcrdma_call_out		call;
};

static const struct v1_call_case v1_call_cases[] = {
	{ "a Short Message", .vector = VEC_SHORT_CALL, .msg_len = 40,
	  .call = { .ko_xid = XID, .ko_credit = 32 } },
	{ "one Read chunk of two segments", .vector = VEC_READ_CHUNK_2SEG, .msg_len = 80,
	  .call = { .ko_xid = XID, .ko_credit = 32, .ko_nreads = 1, .ko_read = &v1_read } },
	{ "two Write chunks and a Reply chunk", .vector = VEC_WRITE2_REPLY, .msg_len = 140,
	  .call = { .ko_xid = XID, .ko_credit = 32, .ko_nwrites = 2, .ko_write = v1_writes,
		    .ko_reply = &v1_reply } },
	{ "a Long Call", .vector = VEC_NOMSG_PZ,
	  .call = { .ko_xid = XID, .ko_credit = 32, .ko_proc = RPCRDMA1_NOMSG, .ko_nreads = 1,
		    .ko_read = &v1_zero } },
	{ "a backward Call", .vector = VEC_BC_CALL, .msg_len = 40,
	  .call = { .ko_xid = 0x5a5a0001, .ko_credit = 2 } },
};

KUNIT_ARRAY_PARAM_DESC(v1_call, v1_call_cases, desc);

/* Covers: V1-HDR-01 V1-HDR-02 V1-HDR-04 V1-HDR-06 V1-HDR-11 V1-HDR-12 V1-HDR-13 V1-HDR-14
 * Covers: V1-HDR-15 V1-RDC-01 V1-RDC-09 V1-PZC-01 V1-PZC-03 V1-FRM-01 V1-FRM-02 V1-FRM-05
 * Covers: V1-FRM-11 V1-CRD-01 V1-HDR-27 V1-RDC-20 V1-WRC-14 BC-19 V1-HDR-23
 */
static void v1_encode_call_vectors(struct kunit *test)
{
	const struct v1_call_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	u32 size, len = vec->ve_len - param->msg_len;
	struct rpcrdma_kunit *fx = test->priv;
	u8 *buf;

	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test,
				rpcrdma_encode_call(1, buf, size, &param->call),
				-EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_call(1, buf, len, &param->call),
			len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);
}

static void v1_expect_chunk(struct kunit *test, const struct rpcrdma_lists
			    *lists, const struct rpcrdma_chunk *chunk,
			    const struct rpcrdma_chunk_out *out)
{
	struct rpcrdma_segment seg;
	struct rpcrdma_seg_iter iter;
	u32 i = 0, length = 0;

	KUNIT_ASSERT_EQ(test, chunk->ck_nsegs, out->co_nsegs);
	KUNIT_EXPECT_EQ(test, chunk->ck_position, out->co_position);
	rpcrdma_chunk_first(lists, chunk, &iter);
	for (; rpcrdma_chunk_next(&iter, &seg); i++) {
		KUNIT_ASSERT_LT(test, i, out->co_nsegs);
		KUNIT_EXPECT_EQ(test, seg.rs_handle, out->co_segs[i].rs_handle);
		KUNIT_EXPECT_EQ(test, seg.rs_length, out->co_segs[i].rs_length);
		KUNIT_EXPECT_EQ(test, seg.rs_offset, out->co_segs[i].rs_offset);
		length += seg.rs_length;
	}
	KUNIT_EXPECT_EQ(test, i, out->co_nsegs);
	KUNIT_EXPECT_EQ(test, chunk->ck_length, length);
}

/* Check that a decoded Call has the values and chunks of @call. */
static void v1_expect_call(struct kunit *test, const struct rpcrdma_hdr *hdr,
			   const struct rpcrdma_call_out *call)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	bool zero = call->ko_nreads && !call->ko_read[0].co_position;
	u32 i;

	KUNIT_EXPECT_EQ(test, hdr->hd_xid, call->ko_xid);
	KUNIT_EXPECT_EQ(test, hdr->hd_vers, 1);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, call->ko_credit);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, call->ko_proc);
	if (zero)
		v1_expect_chunk(test, lists, &lists->ls_call, call->ko_read);
	else
		KUNIT_EXPECT_EQ(test, lists->ls_call.ck_nsegs, 0);
	KUNIT_ASSERT_EQ(test, lists->ls_nreads, call->ko_nreads - zero);
	for (i = 0; i < lists->ls_nreads; i++)
		v1_expect_chunk(test, lists, &lists->ls_read[i],
				&call->ko_read[i + zero]);
	KUNIT_ASSERT_EQ(test, lists->ls_nwrites, call->ko_nwrites);
	for (i = 0; i < lists->ls_nwrites; i++)
		v1_expect_chunk(test, lists, &lists->ls_write[i],
				&call->ko_write[i]);
	KUNIT_ASSERT_EQ(test, lists->ls_has_reply, !!call->ko_reply);
	if (call->ko_reply)
		v1_expect_chunk(test, lists, &lists->ls_reply, call->ko_reply);
}

/* Covers: V1-HDR-01 V1-HDR-02 V1-HDR-07 V1-HDR-08 V1-HDR-11 V1-HDR-12 V1-HDR-13 V1-HDR-14
 * Covers: V1-HDR-15 V1-HDR-20 V1-RDC-04 V1-WRC-02
 */
static void v1_decode_call_vectors(struct kunit *test)
{
	const struct v1_call_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	KUNIT_ASSERT_EQ(test, fx_decode_call(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	v1_expect_call(test, hdr, &param->call);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, param->msg_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_length, vec->ve_len - param->msg_len);
	if (param->msg_len) {
		KUNIT_EXPECT_EQ(test, hdr->hd_rpc_xid, param->call.ko_xid);
		KUNIT_EXPECT_EQ(test, hdr->hd_rpc_type, RPCRDMA_RPC_CALL);
	}
}

/* Covers: V1-DEP-02 V1-DEP-03 G-07 */
static void v1_msgp(struct kunit *test)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[VEC_MSGP];
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_EXPECT_EQ(test, fx_decode_call(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_proc, RPCRDMA1_MSG);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_length, 36);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_msg_len, 40);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_rpc_xid, XID);
}

/* Covers: V1-DEP-02 V1-DEP-03 */
static void v1_msgp_in_a_reply(struct kunit *test)
{
	static const u32 words[] = {
		XID, 1, 7, RPCRDMA1_MSGP, 8192, 1024, 0, 0, 0, XID,
		RPCRDMA_RPC_REPLY, 0,
	};
	struct rpcrdma_kunit *fx = test->priv;

	fx_words(fx, words, ARRAY_SIZE(words));
	KUNIT_EXPECT_EQ(test, fx_decode_reply(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_proc, RPCRDMA1_MSG);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_length, 36);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_msg_len, 12);
}

/* Encode and decode a Call that offers these chunks. Returns its lists, for a Reply to it. */
static const struct rpcrdma_lists *
v1_offer(struct rpcrdma_kunit *fx, const struct rpcrdma_chunk_out *writes,
	 u32 nwrites, const struct rpcrdma_chunk_out *reply)
{
	const struct rpcrdma_call_out call = {
		.ko_xid = XID, .ko_nwrites = nwrites, .ko_write = writes,
		.ko_reply = reply,
	};
	int len;

	len = rpcrdma_encode_call(1, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN, &call);
	KUNIT_ASSERT_GT(fx->kf_test, len, 0);
	fx->kf_len = len;
	fx_words(fx, (const u32[]) { XID, RPCRDMA_RPC_CALL }, 2);
	KUNIT_ASSERT_EQ(fx->kf_test, fx_decode_call(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	fx->kf_lists = fx->kf_hdr.hd_lists;
	return &fx->kf_lists;
}

struct v1_reply_case {
	const char			*desc;
	enum rpcrdma_vector_id		vector;
	u32				msg_len, proc, nwrites, written;
	u32				reply_written;
	const struct rpcrdma_chunk_out	*reply;
};

static const struct v1_reply_case v1_reply_cases[] = {
	{ "a Write chunk that is partly used", .vector = VEC_REPLY_WRITE_USED, .msg_len = 44,
	  .nwrites = 1, .written = 5001 },
	{ "a Write chunk that is not used", .vector = VEC_REPLY_WRITE_UNUSED, .msg_len = 32,
	  .nwrites = 1 },
	{ "a Long Reply", .vector = VEC_REPLY_NOMSG, .proc = RPCRDMA1_NOMSG,
	  .reply_written = 1872, .reply = &v1_reply },
};

KUNIT_ARRAY_PARAM_DESC(v1_reply, v1_reply_cases, desc);

/* Covers: V1-HDR-25 V1-WRC-05 V1-WRC-06 V1-WRC-07 V1-WRC-08 V1-WRC-09 V1-UNU-01 V1-RPL-05
 * Covers: V1-RPL-06 V1-FRM-06 V1-CRD-03 V1-HDR-27
 */
static void v1_encode_reply_vectors(struct kunit *test)
{
	const struct v1_reply_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	u32 len = vec->ve_len - param->msg_len;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_reply_out reply = {
		.ro_xid = XID, .ro_credit = 128, .ro_proc = param->proc,
		.ro_written = &param->written,
		.ro_reply_written = param->reply_written,
	};
	u32 size;
	u8 *buf;

	reply.ro_lists = v1_offer(fx, v1_writes, param->nwrites, param->reply);
	KUNIT_EXPECT_EQ(test, rpcrdma_reply_len(RPCRDMA_VERS_1, reply.ro_lists),
			len);
	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, vec->ve_data, size);
		KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(1, buf, size,
							   &reply), -EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rpcrdma_encode_reply(1, buf, len, &reply), len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);
}

/* Covers: V1-HDR-07 V1-HDR-08 V1-HDR-13 V1-HDR-14 */
static void v1_decode_reply_vectors(struct kunit *test)
{
	const struct v1_reply_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	KUNIT_ASSERT_EQ(test, fx_decode_reply(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, 128);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, param->proc);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, param->msg_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_nwrites, param->nwrites);
	if (param->nwrites)
		KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_write[0].ck_length,
				param->written);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_has_reply, !!param->reply);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_reply.ck_length,
			param->reply_written);
}

struct v1_error_case {
	const char		*desc;
	enum rpcrdma_vector_id	vector;
	u32			vers, credit, err, low, high;
};

static const struct v1_error_case v1_error_cases[] = {
	{ "ERR_VERS in answer to version 2", .vector = VEC_ERR_VERS, .vers = 2, .credit = 128,
	  .err = RPCRDMA1_ERR_VERS, .low = 1, .high = 1 },
	{ "ERR_VERS in answer to version 3", .vector = VEC_ERR_VERS_V3, .vers = 3, .credit = 32,
	  .err = RPCRDMA1_ERR_VERS, .low = 1, .high = 2 },
	{ "ERR_CHUNK", .vector = VEC_ERR_CHUNK, .vers = 1, .credit = 128,
	  .err = RPCRDMA1_ERR_CHUNK },
};

KUNIT_ARRAY_PARAM_DESC(v1_error, v1_error_cases, desc);

/* ERR_VERS has the same layout in all versions */
static int v1_encode_error(const struct v1_error_case *param, void *buf,
			   u32 size, u32 credit)
{
	const struct rpcrdma2_error error = {
		.er_code = param->err == RPCRDMA1_ERR_VERS ? RPCRDMA2_ERR_VERS :
			RPCRDMA2_ERR_BAD_XDR,
		.er_arg = { param->low, param->high },
	};
	static struct rpcrdma_hdr hdr;

	hdr.hd_xid = XID;
	hdr.hd_vers = param->vers ?: RPCRDMA_VERS_1;
	return rpcrdma_encode_error(1, buf, size, &hdr, credit, &error);
}

/* Covers: V1-HDR-09 V1-HDR-27 V1-ERR-03 V1-ERR-05 V1-ERR-07 G-11 */
static void v1_encode_error_vectors(struct kunit *test)
{
	const struct v1_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	u32 size;
	u8 *buf;

	for (size = 0; size < vec->ve_len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test, v1_encode_error(param, buf, size, 1),
				-EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, vec->ve_len);
	KUNIT_ASSERT_EQ(test, v1_encode_error(param, buf, vec->ve_len,
					      param->credit), vec->ve_len);
	KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, vec->ve_len);
}

/* Covers: V1-HDR-09 V1-ERR-09 V1-ERR-23 G-11 */
static void v1_decode_error_vectors(struct kunit *test)
{
	const struct v1_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;

	KUNIT_ASSERT_EQ(test, fx_decode_reply(fx, vec->ve_data, vec->ve_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, RPCRDMA1_ERROR);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_vers, param->vers);
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, param->credit);
	KUNIT_EXPECT_EQ(test, hdr->hd_err, param->err);
	KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[0], param->low);
	KUNIT_EXPECT_EQ(test, hdr->hd_err_arg[1], param->high);
	KUNIT_EXPECT_EQ(test, hdr->hd_length, vec->ve_len);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_nwrites, 0);
	KUNIT_EXPECT_FALSE(test, hdr->hd_lists.ls_has_reply);

	/* A server does not answer an error of version 1. It drops the error, or ends the callback
	 * that has its XID (G-24)
	 */
	if (param->vers == 1)
		KUNIT_EXPECT_EQ(test,
				fx_decode_call(fx, vec->ve_data, vec->ve_len),
				RPCRDMA_DISCARD_ERROR);
}

/* Returns the verdict that a responder must give on the first @len bytes of a good Call. */
static enum rpcrdma_verdict
v1_truncated_call(const struct v1_call_case *param, u32 len)
{
	u32 hdr_len = rpcrdma_vectors[param->vector].ve_len - param->msg_len;

	if (len < 28)
		return RPCRDMA_DISCARD_SHORT;
	if (len < hdr_len)
		return RPCRDMA_BAD_LIST;
	if (param->msg_len && len < hdr_len + 8)
		return RPCRDMA_BAD_MSG;
	return RPCRDMA_OK;
}

/* Covers: V1-HDR-23 V1-ERR-14 V1-CRD-25 BC-18 G-10 */
static void v1_truncated_calls(struct kunit *test)
{
	const struct v1_call_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	u32 len;

	for (len = 0; len < vec->ve_len; len++) {
		KUNIT_EXPECT_EQ_MSG(test, fx_decode_call(fx, vec->ve_data, len),
				    v1_truncated_call(param, len),
				    "%u bytes of %u", len, vec->ve_len);
		/* Then no word may be used */
		if (len < RPCRDMA_FIXED_LEN)
			KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, 0);
	}
}

/* Covers: V1-HDR-23 V1-ERR-14 V1-CRD-25 G-10 */
static void v1_truncated_replies(struct kunit *test)
{
	const struct v1_reply_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	u32 len, hdr_len = vec->ve_len - param->msg_len;
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict want;

	for (len = 0; len < vec->ve_len; len++) {
		want = RPCRDMA_OK;
		if (len < 28)
			want = RPCRDMA_DISCARD_SHORT;
		else if (len < hdr_len)
			want = RPCRDMA_BAD_LIST;
		else if (len < hdr_len + 8)
			want = RPCRDMA_BAD_MSG;
		KUNIT_EXPECT_EQ_MSG(test,
				    fx_decode_reply(fx, vec->ve_data, len),
				    want, "%u bytes of %u", len, vec->ve_len);
	}
}

/* Covers: V1-HDR-23 V1-ERR-14 G-10 */
static void v1_truncated_errors(struct kunit *test)
{
	const struct v1_error_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	enum rpcrdma_verdict want;
	u32 len;

	for (len = 0; len < vec->ve_len; len++) {
		want = param->vers == 1 ? RPCRDMA_BAD_MSG : RPCRDMA_BAD_VERS;
		if (len < 20)
			want = RPCRDMA_DISCARD_SHORT;
		KUNIT_EXPECT_EQ_MSG(test,
				    fx_decode_reply(fx, vec->ve_data, len),
				    want, "%u bytes of %u", len, vec->ve_len);
	}
}

/* A message made of words, of which the first is XID. Only its first @bytes bytes are used. */
#define V1_WORDS(desc, bytes, verdict, ...) {			\
	desc, bytes, RPCRDMA_##verdict, { XID, __VA_ARGS__ },	\
}

struct v1_words_case {
	const char		*desc;
	u32			bytes;
	enum rpcrdma_verdict	verdict;
	u32			words[32];
};

static const struct v1_words_case v1_bad_call_cases[] = {
	V1_WORDS("version 0", 28, BAD_VERS, 0, 1, 0),
	V1_WORDS("version 2, too short for version 1", 16, BAD_VERS, 2, 1, 5),
	V1_WORDS("version 3", 36, BAD_VERS, 3, 1, 5),
	V1_WORDS("version 4294967295", 28, BAD_VERS, 0xffffffff, 1, 3),
	V1_WORDS("RDMA_DONE of 16 bytes", 16, DISCARD_DONE, 1, 1, 3),
	V1_WORDS("RDMA_DONE of more bytes", 64, DISCARD_DONE, 1, 1, 3),
	V1_WORDS("RDMA_ERROR without a code", 16, DISCARD_ERROR, 1, 1, 4),
	V1_WORDS("RDMA_ERROR with a wild code", 64, DISCARD_ERROR, 1, 1, 4, 99),
	V1_WORDS("an error of version 2", 24, DISCARD_ERROR, 2, 1, 4, 1, 7),
	V1_WORDS("ERR_VERS that repeats version 3", 28, DISCARD_ERROR, 3, 1, 4, 1, 1, 1),
	V1_WORDS("procedure 5", 36, BAD_PROC, 1, 1, 5, 0, 0, 0, XID, 0),
	V1_WORDS("procedure 2147483647", 36, BAD_PROC, 1, 1, 0x7fffffff, 0, 0, 0, XID, 0),
	V1_WORDS("procedure 4294967295", 36, BAD_PROC, 1, 1, 0xffffffff, 0, 0, 0, XID, 0),
	V1_WORDS("RDMA_MSG without an RPC message", 28, BAD_MSG, 1, 1, 0, 0, 0, 0),
	V1_WORDS("RDMA_MSG with an XID alone", 32, BAD_MSG, 1, 1, 0, 0, 0, 0, XID),
	V1_WORDS("RDMA_MSG with half a message type", 35, BAD_MSG, 1, 1, 0, 0, 0, 0, XID, 0),
	V1_WORDS("an XID in the RPC message that is another one", 36, BAD_XID, 1, 1, 0, 0, 0, 0,
		 XID + 1, 0),
	V1_WORDS("RDMA_MSG with a Position Zero chunk", 60, BAD_FORM, 1, 1, 0, 1, 0, 7, 100, 0, 0,
		 0, 0, 0, XID, 0),
	V1_WORDS("a Read chunk at position 82", 60, BAD_POSITION, 1, 1, 0, 1, 82, 7, 100, 0, 0, 0,
		 0, 0, XID, 0),
	V1_WORDS("a second Read chunk at position 82", 84, BAD_POSITION, 1, 1, 0, 1, 8, 7, 100, 0,
		 0, 1, 82, 7, 100, 0, 0, 0, 0, 0, XID, 0),
	V1_WORDS("a Long Call with a Read chunk at position 82", 76, BAD_POSITION, 1, 1, 1, 1, 0, 7,
		 100, 0, 0, 1, 82, 7, 100, 0, 0, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG without a chunk", 28, BAD_FORM, 1, 1, 1, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with a Read chunk elsewhere only", 52, BAD_FORM, 1, 1, 1, 1, 4, 7, 100,
		 0, 0, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with an empty Position Zero chunk", 52, BAD_FORM, 1, 1, 1, 1, 0, 7, 0,
		 0, 0, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with a Position Zero chunk of 7 bytes", 52, BAD_FORM, 1, 1, 1, 1, 0, 7,
		 7, 0, 0, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with one byte too many", 53, BAD_MSG, 1, 1, 1, 1, 0, 7, 100, 0, 0, 0,
		 0, 0),
	V1_WORDS("RDMA_NOMSG with an RPC message as well", 60, BAD_MSG, 1, 1, 1, 1, 0, 7, 100, 0, 0,
		 0, 0, 0, XID, 0),
	V1_WORDS("RDMA_NOMSG with a Position Zero chunk of 8 bytes", 52, OK, 1, 1, 1, 1, 0, 7, 8, 0,
		 0, 0, 0, 0),
	V1_WORDS("an RPC Reply without chunks", 36, BACKWARD_REPLY, 1, 1, 0, 0, 0, 0, XID, 1),
	V1_WORDS("an RPC Reply with a Reply chunk", 56, OK, 1, 1, 0, 0, 0, 1, 1, 7, 0, 0, 0, XID,
		 1),
	V1_WORDS("an RPC Reply with a Write chunk of no segments", 44, OK, 1, 1, 0, 0, 1, 0, 0, 0,
		 XID, 1),
	V1_WORDS("an RPC message that is neither Call nor Reply", 36, OK, 1, 1, 0, 0, 0, 0, XID, 2),
};

KUNIT_ARRAY_PARAM_DESC(v1_bad_call, v1_bad_call_cases, desc);

/* Covers: V1-ERR-03 V1-ERR-04 V1-ERR-09 V1-ERR-15 V1-ERR-16 V1-DEP-05 V1-HDR-05 V1-HDR-08
 * Covers: V1-RDC-03 V1-CHK-10 V1-PZC-10 V1-FRM-10 BC-22 G-01 G-09 G-10 G-26
 */
static void v1_judges_calls(struct kunit *test)
{
	const struct v1_words_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_ASSERT_LE(test, param->bytes, sizeof(param->words));
	fx_words(fx, param->words, ARRAY_SIZE(param->words));
	KUNIT_EXPECT_EQ(test, fx_decode_call(fx, fx->kf_buf, param->bytes),
			param->verdict);

	/* The members that are needed to answer with an error are set */
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, XID);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_vers, param->words[1]);
}

static const struct v1_words_case v1_bad_reply_cases[] = {
	V1_WORDS("version 0", 36, BAD_VERS, 0, 1, 0, 0, 0, 0, XID, 1),
	V1_WORDS("version 2", 44, BAD_VERS, 2, 1, 0, 1, 0, 0, 0, 0, XID, 1),
	V1_WORDS("RDMA_DONE", 16, DISCARD_DONE, 1, 1, 3),
	V1_WORDS("procedure 5", 36, BAD_PROC, 1, 1, 5, 0, 0, 0, XID, 1),
	V1_WORDS("procedure 4294967295", 16, BAD_PROC, 1, 1, 0xffffffff),
	V1_WORDS("ERR_CHUNK with bytes behind it", 24, OK, 1, 1, 4, 2, 0),
	V1_WORDS("error code 0", 20, OK, 1, 1, 4, 0),
	V1_WORDS("error code 3", 20, OK, 1, 1, 4, 3),
	V1_WORDS("ERR_VERS without the high version", 27, BAD_MSG, 1, 1, 4, 1, 1, 1),
	V1_WORDS("ERR_VERS that repeats version 2", 28, OK, 2, 1, 4, 1, 1, 1),
	V1_WORDS("an error in the layout of version 2", 32, BAD_VERS, 2, 1, 4, 1, 1, 1, 2),
	V1_WORDS("ERR_CHUNK of another version", 20, BAD_VERS, 2, 1, 4, 2),
	V1_WORDS("RDMA_MSG without an RPC message", 28, BAD_MSG, 1, 1, 0, 0, 0, 0),
	V1_WORDS("an XID in the RPC message that is another one", 36, BAD_XID, 1, 1, 0, 0, 0, 0,
		 XID + 1, 1),
	V1_WORDS("a Reply with a Read chunk", 60, BAD_FORM, 1, 1, 0, 1, 8, 7, 4, 0, 0, 0, 0, 0, XID,
		 1),
	V1_WORDS("a Reply with a Position Zero chunk", 60, BAD_FORM, 1, 1, 0, 1, 0, 7, 4, 0, 0, 0,
		 0, 0, XID, 1),
	V1_WORDS("RDMA_MSG with a Reply chunk that was used", 56, BAD_FORM, 1, 1, 0, 0, 0, 1, 1, 7,
		 1, 0, 0, XID, 1),
	V1_WORDS("RDMA_MSG with a Reply chunk that was not used", 56, OK, 1, 1, 0, 0, 0, 1, 1, 7, 0,
		 0, 0, XID, 1),
	V1_WORDS("RDMA_NOMSG without a Reply chunk", 28, BAD_FORM, 1, 1, 1, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with a Reply chunk of no segments", 32, BAD_FORM, 1, 1, 1, 0, 0, 1, 0),
	V1_WORDS("RDMA_NOMSG with a Reply chunk that was not used", 48, BAD_FORM, 1, 1, 1, 0, 0, 1,
		 1, 7, 0, 0, 0),
	V1_WORDS("RDMA_NOMSG with a Read chunk", 72, BAD_FORM, 1, 1, 1, 1, 0, 7, 4, 0, 0, 0, 0, 1,
		 1, 7, 40, 0, 0),
	V1_WORDS("RDMA_NOMSG with a word too many", 52, BAD_MSG, 1, 1, 1, 0, 0, 1, 1, 7, 40, 0, 0,
		 0),
	V1_WORDS("an RPC Call without chunks", 36, BACKWARD_CALL, 1, 1, 0, 0, 0, 0, XID, 0),
	V1_WORDS("an RPC Call with a Read chunk", 60, BACKWARD_CALL, 1, 1, 0, 1, 8, 7, 4, 0, 0, 0,
		 0, 0, XID, 0),
	V1_WORDS("an RPC Call with a Reply chunk", 56, BACKWARD_CALL, 1, 1, 0, 0, 0, 1, 1, 7, 9, 0,
		 0, XID, 0),
	V1_WORDS("an RPC Call with another XID", 36, BACKWARD_CALL, 1, 1, 0, 0, 0, 0, XID + 1, 0),
};

KUNIT_ARRAY_PARAM_DESC(v1_bad_reply, v1_bad_reply_cases, desc);

/* Covers: V1-ERR-17 V1-ERR-18 V1-DEP-05 V1-DEP-06 V1-HDR-05 V1-HDR-08 V1-HDR-25 V1-RPL-07
 * Covers: V1-RPL-08 V1-RPL-09 BC-22 BC-23 G-02 G-09 G-11 G-14 G-26
 */
static void v1_judges_replies(struct kunit *test)
{
	const struct v1_words_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_ASSERT_LE(test, param->bytes, sizeof(param->words));
	fx_words(fx, param->words, ARRAY_SIZE(param->words));
	KUNIT_EXPECT_EQ(test, fx_decode_reply(fx, fx->kf_buf, param->bytes),
			param->verdict);

	/* The member that is needed to end the RPC is set */
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, XID);
	KUNIT_EXPECT_LE(test, fx->kf_hdr.hd_length, param->bytes);
	if (param->words[3] == RPCRDMA1_ERROR && !param->verdict)
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err, param->words[4]);
}

#define CHUNK(position, nsegs) {						\
	.co_segs = v1_read_segs, .co_position = (position), .co_nsegs = (nsegs),	\
}

static const struct rpcrdma_chunk_out v1_empty = CHUNK(4, 0);

static const struct rpcrdma_chunk_out v1_empty_last[] = {
	CHUNK(0, 1), CHUNK(0, 0),
};

static const struct rpcrdma_chunk_out v1_unaligned = CHUNK(82, 1);

static const struct rpcrdma_chunk_out v1_descending[] = {
	CHUNK(80, 1), CHUNK(40, 1),
};

static const struct rpcrdma_chunk_out v1_repeating[] = {
	CHUNK(80, 1), CHUNK(80, 1),
};

static const struct rpcrdma_chunk_out v1_zero_last[] = {
	CHUNK(80, 1), CHUNK(0, 1),
};

static const struct v1_call_case v1_refused_cases[] = {
	{ "RDMA_MSGP", .call = { .ko_proc = RPCRDMA1_MSGP } },
	{ "RDMA_DONE", .call = { .ko_proc = RPCRDMA1_DONE } },
	{ "RDMA_ERROR", .call = { .ko_proc = RPCRDMA1_ERROR } },
	{ "RDMA_MSG with a Position Zero chunk", .call = { .ko_nreads = 1, .ko_read = &v1_zero } },
	{ "RDMA_NOMSG without a chunk", .call = { .ko_proc = RPCRDMA1_NOMSG } },
	{ "RDMA_NOMSG without a Position Zero chunk",
	  .call = { .ko_proc = RPCRDMA1_NOMSG, .ko_nreads = 1, .ko_read = &v1_read } },
	{ "a Position Zero chunk that is not the first",
	  .call = { .ko_proc = RPCRDMA1_NOMSG, .ko_nreads = 2, .ko_read = v1_zero_last } },
	{ "a position that is not aligned", .call = { .ko_nreads = 1, .ko_read = &v1_unaligned } },
	{ "Read chunks in descending order", .call = { .ko_nreads = 2, .ko_read = v1_descending } },
	{ "two Read chunks at one position", .call = { .ko_nreads = 2, .ko_read = v1_repeating } },
	{ "a Read chunk of no segments", .call = { .ko_nreads = 1, .ko_read = &v1_empty } },
	{ "a Write chunk of no segments", .call = { .ko_nwrites = 1, .ko_write = &v1_empty } },
	{ "a second Write chunk of no segments",
	  .call = { .ko_nwrites = 2, .ko_write = v1_empty_last } },
	{ "a Reply chunk of no segments", .call = { .ko_reply = &v1_empty } },
};

KUNIT_ARRAY_PARAM_DESC(v1_refused, v1_refused_cases, desc);

/* Covers: V1-HDR-06 V1-CHK-09 V1-CHK-10 V1-RDC-03 V1-RDC-06 V1-PZC-01 V1-PZC-03 V1-PZC-09
 * Covers: V1-WRC-17 V1-DEP-01 V1-DEP-04 V1-DEP-08 V1-ERR-08 G-01 G-05
 */
static void v1_refuses_to_send(struct kunit *test)
{
	const struct v1_call_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_EXPECT_EQ(test, rpcrdma_encode_call(1, fx->kf_buf,
						  RPCRDMA_KUNIT_BUF_LEN,
						  &param->call), -EINVAL);
}

struct v1_try_case {
	const char			*desc;
	u32				nwrites;
	const struct rpcrdma_chunk_out	*reply;
	u32				proc, written, reply_written;
	bool				good;
};

/* The first Write chunk that is offered has 8192 bytes, the second 4096, the Reply chunk 2048. */
static const struct v1_try_case v1_try_cases[] = {
	{ "all of both Write chunks", 2, &v1_reply, RPCRDMA1_MSG, 4096, 0, true },
	{ "all of the Reply chunk", 2, &v1_reply, RPCRDMA1_NOMSG, 4096, 2048, true },
	{ "too much in a Write chunk", 2, &v1_reply, RPCRDMA1_MSG, 4097, 0, false },
	{ "RDMA_MSG and a Reply chunk that is used", 2, &v1_reply, RPCRDMA1_MSG, 0, 1, false },
	{ "RDMA_NOMSG of no bytes", 2, &v1_reply, RPCRDMA1_NOMSG, 0, 0, false },
	{ "too much in the Reply chunk", 2, &v1_reply, RPCRDMA1_NOMSG, 0, 2049, false },
	{ "RDMA_MSGP", 2, &v1_reply, RPCRDMA1_MSGP, 0, 0, false },
	{ "all of two segments", 1, NULL, RPCRDMA1_MSG, 8192, 0, true },
	{ "too much for two segments", 1, NULL, RPCRDMA1_MSG, 8193, 0, false },
	{ "RDMA_NOMSG without a Reply chunk", 2, NULL, RPCRDMA1_NOMSG, 0, 1, false },
};

KUNIT_ARRAY_PARAM_DESC(v1_try, v1_try_cases, desc);

/* Covers: V1-RPL-05 V1-RPL-07 V1-RPL-13 V1-WRC-16 V1-HDR-06 G-02 */
static void v1_refuses_to_reply(struct kunit *test)
{
	const struct v1_try_case *param = test->param_value;
	const u32 written[] = { param->written, param->written };
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_reply_out reply = {
		.ro_xid = XID, .ro_proc = param->proc,
		.ro_lists = v1_offer(fx, v1_writes, param->nwrites,
				     param->reply),
		.ro_written = written, .ro_reply_written = param->reply_written,
	};
	int len = rpcrdma_encode_reply(1, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
				       &reply);

	if (param->good)
		KUNIT_EXPECT_GT(test, len, 0);
	else
		KUNIT_EXPECT_EQ(test, len, -EINVAL);
}

/* Covers: V1-CRD-04 V1-ERR-07 BC-03 */
static void v1_credit_is_never_zero(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_call_out call = { .ko_xid = XID };
	struct rpcrdma_reply_out reply = { .ro_xid = XID };
	const struct v1_error_case err_vers = {
		.err = RPCRDMA1_ERR_VERS, .vers = 1, .low = 1, .high = 1,
	};
	static const struct v1_error_case err_chunk = {
		.err = RPCRDMA1_ERR_CHUNK, .vers = 1,
	};
	u8 buf[28];

	fx_words(fx, (const u32[]) { XID, 1, 1 }, 3);
	reply.ro_lists = &fx->kf_lists;

	KUNIT_EXPECT_EQ(test, rpcrdma_encode_call(1, buf, 28, &call), 28);
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, 12);
	memset(buf, 0, sizeof(buf));
	KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(1, buf, 28, &reply), 28);
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, 12);
	memset(buf, 0, sizeof(buf));
	KUNIT_EXPECT_EQ(test, v1_encode_error(&err_chunk, buf, 28, 0), 20);
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, 12);
	memset(buf, 0, sizeof(buf));
	KUNIT_EXPECT_EQ(test, v1_encode_error(&err_vers, buf, 28, 0), 28);
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, 12);
}

/* Encode and decode a Call. The decoded header is then in fx->kf_hdr. */
static void v1_send_call(struct rpcrdma_kunit *fx,
			 const struct rpcrdma_call_out *call)
{
	struct kunit *test = fx->kf_test;
	int len;

	len = rpcrdma_encode_call(1, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN, call);
	KUNIT_ASSERT_GT(test, len, 0);
	fx->kf_len = len;
	if (call->ko_proc == RPCRDMA1_MSG) {
		fx_word(fx, call->ko_xid);
		fx_word(fx, RPCRDMA_RPC_CALL);
	}
	KUNIT_ASSERT_EQ(test, fx_decode_call(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_length, len);
}

/* Covers: V1-HDR-18 V1-FRM-08 V1-FRM-11 V1-PZC-06 V1-PZC-08 V1-CHK-09 */
static void v1_calls_survive_the_wire(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_kunit_call *rand;
	u32 round;

	rand = kunit_kzalloc(test, sizeof(*rand), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rand);
	for (round = 0; round < 500; round++) {
		fx_random_call(fx, rand);
		v1_send_call(fx, &rand->call);
		v1_expect_call(test, &fx->kf_hdr, &rand->call);
	}
}

/* Covers: V1-WRC-05 V1-WRC-06 V1-WRC-07 V1-WRC-08 V1-RPL-06 V1-RPL-10 */
static void v1_replies_survive_the_wire(struct kunit *test)
{
	u32 written[RPCRDMA_KUNIT_CHUNKS], back[RPCRDMA_KUNIT_CHUNKS];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_kunit_call *rand;
	struct rpcrdma_reply_out reply;
	u32 i, room, reply_back, round;
	enum rpcrdma_verdict verdict;
	int len;

	rand = kunit_kzalloc(test, sizeof(*rand), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rand);
	for (round = 0; round < 500; round++) {
		fx_random_call(fx, rand);
		v1_send_call(fx, &rand->call);
		fx->kf_lists = fx->kf_hdr.hd_lists;

		memset(&reply, 0, sizeof(reply));
		reply.ro_xid = rand->call.ko_xid;
		reply.ro_lists = &fx->kf_lists;
		reply.ro_written = written;
		for (i = 0; i < fx->kf_lists.ls_nwrites; i++) {
			room = fx->kf_lists.ls_write[i].ck_length;
			written[i] = fx_random(fx, room + 1);
		}
		if (rand->call.ko_reply && fx_random(fx, 2)) {
			room = fx->kf_lists.ls_reply.ck_length;
			reply.ro_proc = RPCRDMA1_NOMSG;
			reply.ro_reply_written = 1 + fx_random(fx, room);
		}
		len = rpcrdma_encode_reply(1, fx->kf_buf, RPCRDMA_KUNIT_BUF_LEN,
					   &reply);
		KUNIT_ASSERT_GT(test, len, 0);
		KUNIT_EXPECT_EQ(test, rpcrdma_reply_len(RPCRDMA_VERS_1,
							reply.ro_lists), len);

		fx->kf_len = len;
		if (reply.ro_proc == RPCRDMA1_MSG) {
			fx_word(fx, reply.ro_xid);
			fx_word(fx, RPCRDMA_RPC_REPLY);
		}
		KUNIT_ASSERT_EQ(test, fx_decode_reply(fx, fx->kf_buf,
						      fx->kf_len), RPCRDMA_OK);
		verdict = rpcrdma_lists_check_reply(&fx->kf_hdr, rand->writes,
						    rand->call.ko_nwrites,
						    rand->call.ko_reply, back,
						    &reply_back);
		KUNIT_ASSERT_EQ(test, verdict, RPCRDMA_OK);
		for (i = 0; i < rand->call.ko_nwrites; i++)
			KUNIT_EXPECT_EQ(test, back[i], written[i]);
		KUNIT_EXPECT_EQ(test, reply_back, reply.ro_reply_written);
	}
}

/* Covers: V1-WRC-17 G-05 */
static void v1_empty_arrays_come_back(struct kunit *test)
{
	static const u32 words[] = {
		XID, 1, 9, RPCRDMA1_MSG, 0, 1, 0, 0, 1, 0, XID, 0,
	};
	static const u32 unused[1];
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_reply_out reply = {
		.ro_xid = XID, .ro_credit = 9, .ro_written = unused,
		.ro_lists = &fx->kf_hdr.hd_lists,
	};
	u8 buf[40];

	fx_words(fx, words, ARRAY_SIZE(words));
	KUNIT_ASSERT_EQ(test, fx_decode_call(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, rpcrdma_reply_len(RPCRDMA_VERS_1, reply.ro_lists),
			sizeof(buf));
	KUNIT_EXPECT_EQ(test, rpcrdma_encode_reply(1, buf, sizeof(buf), &reply),
			sizeof(buf));
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, sizeof(buf));
}

static struct kunit_case wire_v1_cases[] = {
	KUNIT_CASE_PARAM(v1_encode_call_vectors, v1_call_gen_params),
	KUNIT_CASE_PARAM(v1_decode_call_vectors, v1_call_gen_params),
	KUNIT_CASE(v1_msgp),
	KUNIT_CASE(v1_msgp_in_a_reply),
	KUNIT_CASE_PARAM(v1_encode_reply_vectors, v1_reply_gen_params),
	KUNIT_CASE_PARAM(v1_decode_reply_vectors, v1_reply_gen_params),
	KUNIT_CASE_PARAM(v1_encode_error_vectors, v1_error_gen_params),
	KUNIT_CASE_PARAM(v1_decode_error_vectors, v1_error_gen_params),
	KUNIT_CASE_PARAM(v1_truncated_calls, v1_call_gen_params),
	KUNIT_CASE_PARAM(v1_truncated_replies, v1_reply_gen_params),
	KUNIT_CASE_PARAM(v1_truncated_errors, v1_error_gen_params),
	KUNIT_CASE_PARAM(v1_judges_calls, v1_bad_call_gen_params),
	KUNIT_CASE_PARAM(v1_judges_replies, v1_bad_reply_gen_params),
	KUNIT_CASE_PARAM(v1_refuses_to_send, v1_refused_gen_params),
	KUNIT_CASE_PARAM(v1_refuses_to_reply, v1_try_gen_params),
	KUNIT_CASE(v1_credit_is_never_zero),
	KUNIT_CASE(v1_calls_survive_the_wire),
	KUNIT_CASE(v1_replies_survive_the_wire),
	KUNIT_CASE(v1_empty_arrays_come_back),
	{}
};

static struct kunit_suite rpcrdma_wire_v1_suite = {
	.name = "rpcrdma_wire_v1",
	.init = fx_init,
	.test_cases = wire_v1_cases,
};

kunit_test_suite(rpcrdma_wire_v1_suite);
