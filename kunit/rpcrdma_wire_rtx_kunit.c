// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/wire/rtx.c, and of what v2_props.c and v2_error.c do for the round-trip
 * extension. rtx.h defines the terms of the extension.
 */

#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rpcrdma/rtx.h>

#include "../net/wire/xdr.h"
#include "accept.h"
#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

static const struct rpcrdma_segment rtx_mixed_seg = {
	0x00040d01, 262144, 0x0000000500000000ull,
};

static const struct rpcrdma_chunk_out rtx_mixed_read = {
	.co_segs = &rtx_mixed_seg, .co_position = 8292, .co_nsegs = 1,
};

#define RTX_FIRST(response, count, stream, here, data, replies, results, nitems) {	\
	.tx_first = true, .tx_response = (response), .tx_count = (count),		\
	.tx_stream = (stream), .tx_here = (here), .tx_data = (data),			\
	.tx_replies = (replies), .tx_results = (results), .tx_nitems = (nitems),	\
}

#define RTX_NEXT(response, number, offset, here, data) {				\
	.tx_response = (response), .tx_number = (number), .tx_offset = (offset),	\
	.tx_here = (here), .tx_data = (data),						\
}

/* Contents of the transmissions in vectors_rtx.h. @hdr is the length of the header in bytes. If
 * @read is true, the header has the Read chunk rtx_mixed_read, and the Reply may invalidate the
 * handle of this chunk.
 */
struct rtx_case {
	const char			*desc;
	enum rpcrdma_vector_id		vector;
	u32				credit, hdr;
	bool				read;
	struct rpcrdma2_transmission	tx;
	struct rpcrdma2_item		item;
};

static const struct rtx_case rtx_cases[] = {
	{ "WRITE of 8192 bytes", VEC_RTX_WRITE_8K, 128, 72, false,
	  RTX_FIRST(false, 1, 80, 80, 1024, 1, 0, 1), { 80, 8192 } },
	{ "WRITE of 65536 bytes, first", VEC_RTX_WRITE_64K_1, 128, 72, false,
	  RTX_FIRST(false, 3, 80, 80, 1024, 1, 0, 1), { 80, 65536 } },
	{ "WRITE of 65536 bytes, second", VEC_RTX_WRITE_64K_2, 128, 36, false,
	  RTX_NEXT(false, 1, 80, 0, 1024) },
	{ "WRITE of 65536 bytes, third", VEC_RTX_WRITE_64K_3, 128, 36, false,
	  RTX_NEXT(false, 2, 80, 0, 1024) },
	{ "long Call, first", VEC_RTX_LONG_1, 128, 64, false,
	  RTX_FIRST(false, 4, 100000, 29632, 0, 1, 0, 0) },
	{ "long Call, second", VEC_RTX_LONG_2, 128, 36, false,
	  RTX_NEXT(false, 1, 29632, 29660, 0) },
	{ "long Call, third", VEC_RTX_LONG_3, 128, 36, false, RTX_NEXT(false, 2, 59292, 29660, 0) },
	{ "long Call, fourth", VEC_RTX_LONG_4, 128, 36, false,
	  RTX_NEXT(false, 3, 88952, 11048, 0) },
	{ "READDIRPLUS", VEC_RTX_READDIR, 128, 64, false, RTX_FIRST(false, 1, 84, 84, 0, 5, 0, 0) },
	{ "its Reply, first", VEC_RTX_REPLY_1, 32, 64, false,
	  RTX_FIRST(true, 2, 30000, 16320, 0, 0, 0, 0) },
	{ "its Reply, second", VEC_RTX_REPLY_2, 32, 36, false, RTX_NEXT(true, 1, 16320, 13680, 0) },
	{ "READ whose result may come placed", VEC_RTX_READ_CALL, 128, 64, false,
	  RTX_FIRST(false, 1, 72, 72, 0, 1, 1, 0) },
	{ "its Reply", VEC_RTX_READ_REPLY, 32, 72, false,
	  RTX_FIRST(true, 1, 44, 44, 1024, 0, 0, 1), { 44, 8192 } },
	{ "an item and a Read chunk", VEC_RTX_MIXED, 128, 96, true,
	  RTX_FIRST(false, 1, 120, 120, 1024, 1, 0, 1), { 80, 8192 } },
};

KUNIT_ARRAY_PARAM_DESC(rtx, rtx_cases, desc);

/* Covers: RTX-42 RTX-53 */
static void rtx_peek_vectors(struct kunit *test)
{
	const struct rtx_case *param = test->param_value;
	const struct rpcrdma2_transmission *want = &param->tx;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_transmission tx;
	u32 len;
	u8 *buf = fx_whole(fx, param->vector, &len);

	memset(&tx, 0xee, sizeof(tx));
	KUNIT_ASSERT_TRUE(test, rpcrdma2_peek_rtx(buf, len, &tx));
	KUNIT_EXPECT_EQ(test, tx.tx_xid, XID);
	KUNIT_EXPECT_EQ(test, tx.tx_credit, param->credit);
	KUNIT_EXPECT_EQ(test, tx.tx_response, want->tx_response);
	KUNIT_EXPECT_EQ(test, tx.tx_first, want->tx_first);
	KUNIT_EXPECT_FALSE(test, tx.tx_short);
	KUNIT_EXPECT_EQ(test, tx.tx_count, want->tx_count);
	KUNIT_EXPECT_EQ(test, tx.tx_stream, want->tx_stream);
	KUNIT_EXPECT_EQ(test, tx.tx_number, want->tx_number);
	KUNIT_EXPECT_EQ(test, tx.tx_offset, want->tx_offset);
	KUNIT_EXPECT_EQ(test, tx.tx_here, want->tx_here);
	KUNIT_EXPECT_EQ(test, tx.tx_data, want->tx_data);
	KUNIT_EXPECT_EQ(test, tx.tx_replies, want->tx_replies);
	KUNIT_EXPECT_EQ(test, tx.tx_results, want->tx_results);
	KUNIT_EXPECT_EQ(test, tx.tx_nitems, want->tx_nitems);
	KUNIT_EXPECT_EQ(test, tx.tx_len, len);
}

static void rtx_make_call(const struct rtx_case *param,
			  struct rpcrdma_call_out *call)
{
	memset(call, 0, sizeof(*call));
	call->ko_xid = XID;
	call->ko_credit = param->credit;
	if (param->read) {
		call->ko_read = &rtx_mixed_read;
		call->ko_nreads = 1;
		call->ko_inv_handle = rtx_mixed_seg.rs_handle;
	}
}

static int rtx_encode(const struct rtx_case *param, u8 *buf, u32 size)
{
	static const struct rpcrdma_lists none;
	struct rpcrdma2_transmission tx = param->tx;
	struct rpcrdma_reply_out reply = {
		.ro_xid = XID, .ro_credit = param->credit, .ro_lists = &none,
	};
	struct rpcrdma_call_out call;

	tx.tx_xid = XID;
	tx.tx_credit = param->credit;
	if (!tx.tx_first)
		return rpcrdma2_encode_rtx_next(buf, size, &tx);
	if (tx.tx_response)
		return rpcrdma2_encode_rtx_reply(buf, size, &tx, &param->item,
						 &reply);
	rtx_make_call(param, &call);
	return rpcrdma2_encode_rtx_call(buf, size, &tx, &param->item, &call);
}

/* Covers: RTX-42 RTX-43 RTX-52 RTX-57 */
static void rtx_encode_vectors(struct kunit *test)
{
	const struct rtx_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	u32 size, len = param->hdr;
	u8 *buf;

	for (size = 0; size < len; size++) {
		buf = fx_exact(fx, fx->kf_buf, size);
		KUNIT_EXPECT_EQ(test, rtx_encode(param, buf, size), -EMSGSIZE);
	}
	buf = fx_exact(fx, fx->kf_buf, len);
	KUNIT_ASSERT_EQ(test, rtx_encode(param, buf, len), len);
	KUNIT_EXPECT_MEMEQ(test, buf, rpcrdma_vectors[param->vector].ve_data,
			   len);
}

static enum rpcrdma_verdict rtx_decode(struct rpcrdma_kunit *fx, const u8 *buf,
				       u32 len)
{
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	return rpcrdma2_decode_group(buf, len, &rpcrdma2_accept_forward,
				     &fx->kf_hdr);
}

/* Covers: RTX-43 RTX-45 RTX-52 RTX-64 RTX-80 */
static void rtx_decode_vectors(struct kunit *test)
{
	const struct rtx_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_hdr *hdr = &fx->kf_hdr;
	struct rpcrdma2_item item = { };
	struct rpcrdma2_transmission tx;
	u32 len;
	u8 *buf = fx_whole(fx, param->vector, &len);

	KUNIT_ASSERT_TRUE(test, rpcrdma2_peek_rtx(buf, len, &tx));
	KUNIT_EXPECT_EQ(test, rpcrdma2_rtx_item(&tx, &item),
			param->tx.tx_first);
	if (!param->tx.tx_first) {
		/* rpcrdma2_decode_group() decodes only first transmissions: only they have lists */
		KUNIT_EXPECT_EQ(test, rtx_decode(fx, buf, len),
				RPCRDMA_BAD_PROC);
		return;
	}
	KUNIT_EXPECT_EQ(test, item.im_position, param->item.im_position);
	KUNIT_EXPECT_EQ(test, item.im_length, param->item.im_length);
	KUNIT_ASSERT_EQ(test, rtx_decode(fx, buf, len), RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, hdr->hd_xid, XID);
	KUNIT_EXPECT_EQ(test, hdr->hd_proc, RPCRDMA2_RTX_MSG);
	KUNIT_EXPECT_EQ(test, hdr->hd_response, param->tx.tx_response);
	KUNIT_EXPECT_EQ(test, hdr->hd_length, param->hdr);
	KUNIT_EXPECT_EQ(test, hdr->hd_msg_len, param->tx.tx_here);
	KUNIT_EXPECT_EQ(test, hdr->hd_lists.ls_nreads, param->read);
	KUNIT_EXPECT_EQ(test, hdr->hd_inv_handle,
			param->read ? rtx_mixed_seg.rs_handle : 0);
	/* The credits of the first transmission of a Reply are a grant */
	KUNIT_EXPECT_EQ(test, hdr->hd_credit, param->credit);
	KUNIT_EXPECT_EQ(test, rpcrdma2_is_grant(hdr, RPCRDMA_OK),
			param->tx.tx_response);
}

/* Covers: RTX-45 */
static void rtx_all_lengths(struct kunit *test)
{
	const struct rtx_case *param = test->param_value;
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[param->vector];
	struct rpcrdma_kunit *fx = test->priv;
	u32 len, full, fixed = param->tx.tx_first ? 48 : 36;
	u8 *buf = fx_whole(fx, param->vector, &full);
	struct rpcrdma2_transmission tx;
	enum rpcrdma_verdict want;
	struct rpcrdma2_item item;

	for (len = 0; len <= vec->ve_len && len < full; len++) {
		buf = fx_exact(fx, vec->ve_data, len);
		KUNIT_ASSERT_EQ(test, rpcrdma2_peek_rtx(buf, len, &tx),
				len >= 20);
		if (len < 20)
			continue;
		KUNIT_EXPECT_EQ(test, tx.tx_xid, XID);
		KUNIT_EXPECT_EQ(test, tx.tx_short, len < fixed);
		if (!param->tx.tx_first)
			continue;
		KUNIT_EXPECT_EQ(test, rpcrdma2_rtx_item(&tx, &item),
				len >= 48 + 8 * param->tx.tx_nitems);
		want = len < param->hdr ? RPCRDMA_BAD_LIST : RPCRDMA_BAD_MSG;
		KUNIT_EXPECT_EQ_MSG(test, rtx_decode(fx, buf, len), want,
				    "%u bytes", len);
	}

	/* Without data, header and stream must fill the transmission exactly */
	if (param->tx.tx_data || !param->tx.tx_first)
		return;
	buf = kunit_kzalloc(test, full + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, vec->ve_data, vec->ve_len);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, buf, full), RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, buf, full - 1), RPCRDMA_BAD_MSG);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, buf, full + 1), RPCRDMA_BAD_MSG);
}

/* The WRITE of 8192 bytes in vectors_rtx.h, with the word at index @word set to @value */
struct rtx_word_case {
	const char		*desc;
	u32			word, value;
	enum rpcrdma_verdict	verdict;
};

static const struct rtx_word_case rtx_word_cases[] = {
	{ "another XID", 0, XID + 1, RPCRDMA_BAD_XID },
	{ "credits", 2, 7, RPCRDMA_OK },
	{ "flags that nobody knows", 4, 0xfffffffe, RPCRDMA_OK },
	{ "a Call with F_RESPONSE", 4, 1, RPCRDMA_BAD_DIRECTION },
	{ "data where the stream ends", 8, 152, RPCRDMA_OK },
	{ "data in the stream", 8, 148, RPCRDMA_BAD_MSG },
	{ "data inside a word of the stream", 8, 151, RPCRDMA_BAD_MSG },
	{ "data where the transmission ends", 8, 9216, RPCRDMA_BAD_MSG },
	{ "one byte of data", 8, 9215, RPCRDMA_OK },
	{ "no data, and a pad", 8, 0, RPCRDMA_BAD_MSG },
	{ "a stream up to the data", 7, 952, RPCRDMA_OK },
	{ "a stream into the data", 7, 953, RPCRDMA_BAD_MSG },
	{ "the longest stream", 7, U32_MAX, RPCRDMA_BAD_MSG },
	{ "a stream of 8 bytes here", 7, 8, RPCRDMA_OK },
	{ "a stream of 7 bytes here", 7, 7, RPCRDMA_BAD_MSG },
	{ "2 items", 11, 2, RPCRDMA_BAD_LIST },
	{ "any number of items", 11, U32_MAX, RPCRDMA_BAD_LIST },
	{ "no items, and so a list too many", 11, 0, RPCRDMA_BAD_LIST },
	{ "item in front of the last word", 12, 76, RPCRDMA_OK },
	{ "item not aligned", 12, 79, RPCRDMA_BAD_POSITION },
	{ "item behind the end", 12, 84, RPCRDMA_BAD_POSITION },
	{ "item behind the msg_type", 12, 8, RPCRDMA_OK },
	{ "item in front of the msg_type", 12, 4, RPCRDMA_BAD_POSITION },
	{ "item in front of the XID", 12, 0, RPCRDMA_BAD_POSITION },
	{ "item of no bytes", 13, 0, RPCRDMA_BAD_POSITION },
	{ "item of one byte", 13, 1, RPCRDMA_OK },
	{ "item of any length", 13, U32_MAX, RPCRDMA_OK },
	{ "a handle of no segment", 14, 7, RPCRDMA_OK },
	{ "a presence word of 2", 15, 2, RPCRDMA_BAD_LIST },
	{ "an RPC message of another XID", 18, XID + 1, RPCRDMA_BAD_XID },
	{ "a Reply without F_RESPONSE", 19, 1, RPCRDMA_BAD_DIRECTION },
};

KUNIT_ARRAY_PARAM_DESC(rtx_word, rtx_word_cases, desc);

/* Covers: RTX-45 RTX-52 RTX-54 V2-HDR-09 */
static void rtx_one_word(struct kunit *test)
{
	const struct rtx_word_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_error error;
	enum rpcrdma_verdict verdict;
	u32 len;
	u8 *buf = fx_whole(fx, VEC_RTX_WRITE_8K, &len);

	put_unaligned_be32(param->value, buf + 4 * param->word);
	verdict = rtx_decode(fx, buf, len);
	KUNIT_EXPECT_EQ(test, verdict, param->verdict);
	KUNIT_EXPECT_EQ(test,
			rpcrdma2_refusal(&fx->kf_hdr, verdict,
					 &rpcrdma2_accept_forward, &error),
			verdict && !fx->kf_hdr.hd_response);
	KUNIT_EXPECT_EQ(test, error.er_code, RPCRDMA2_ERR_BAD_XDR);
}

/* Covers: RTX-37 RTX-45 */
static void rtx_other_messages(struct kunit *test)
{
	static const u32 types[] = { 0, 1, 4, 5, 0x80525400, 0x80525403 };
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_transmission tx;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fx_message(fx, XID, 2, 1, types[i], 0, 1, 80, 80, 0, 1, 0, 0);
		KUNIT_EXPECT_FALSE(test,
				   rpcrdma2_peek_rtx(fx->kf_buf, 48, &tx));
	}
	for (i = 0; i < 5; i++) {
		fx_message(fx, XID, i, 1, RPCRDMA2_RTX_MSG, 0, 1, 80, 80, 0, 1,
			   0, 0);
		KUNIT_EXPECT_EQ(test, rpcrdma2_peek_rtx(fx->kf_buf, 48, &tx),
				i == 2);
	}
}

/* Zero words would be valid chunk lists. They must not be decoded as chunk lists if they lie behind
 * the end of the transmission, or if the header has too many items.
 * Covers: RTX-45
 */
static void rtx_misplaced_lists(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 len;

	memset(fx->kf_buf, 0, 256);
	fx_message(fx, XID, 2, 1, RPCRDMA2_RTX_MSG);
	for (len = 20; len < 64; len++)
		KUNIT_EXPECT_EQ(test, rtx_decode(fx, fx->kf_buf, len),
				RPCRDMA_BAD_LIST);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, fx->kf_buf, len), RPCRDMA_BAD_MSG);
	put_unaligned_be32(17, fx->kf_buf + 44);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, fx->kf_buf, 256),
			RPCRDMA_BAD_LIST);

	/* A message of another type, which could also be read as an ERR_VERS of version 1 */
	fx_message(fx, XID, 2, 1, RPCRDMA2_ERROR, 1, 4, 9);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, fx->kf_buf, 28), RPCRDMA_BAD_PROC);
}

/* rpcrdma2_decode_call() and rpcrdma2_decode_reply() do not know the header types of the round-trip
 * extension. An endpoint without the extension answers a Call that has such a type with
 * INVAL_HTYPE.
 * Covers: RTX-37
 */
static void rtx_is_unknown(struct kunit *test)
{
	static const enum rpcrdma_vector_id types[] = {
		VEC_RTX_WRITE_8K, VEC_RTX_WRITE_64K_2,
	};
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_error error;
	u32 i, len;
	u8 *buf;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		buf = fx_whole(fx, types[i], &len);
		KUNIT_EXPECT_EQ(test, fx_server2(fx, buf, len),
				RPCRDMA_BAD_PROC);
		KUNIT_EXPECT_TRUE(test,
				  rpcrdma2_refusal(&fx->kf_hdr,
						   RPCRDMA_BAD_PROC,
						   &rpcrdma2_accept_forward,
						   &error));
		KUNIT_EXPECT_EQ(test, error.er_code, RPCRDMA2_ERR_INVAL_HTYPE);
		KUNIT_EXPECT_EQ(test, fx_client2(fx, buf, len, 0),
				RPCRDMA_BAD_PROC);
	}
}

struct rtx_lists_case {
	const char			*desc;
	bool				response;
	const struct rpcrdma2_accept	*accept;
	enum rpcrdma_verdict		verdict;
	u32				n;
	const u32			*words;
};

static const struct rpcrdma2_accept rtx_no_reads = {
	.ac_writes = RPCRDMA_MAX_CHUNKS, .ac_segs = RPCRDMA_MAX_SEGS,
};

#define RTX_LISTS(desc, response, accept, verdict, ...) {			\
	desc, response, accept, verdict,					\
	sizeof((const u32[]) { __VA_ARGS__ }) / sizeof(u32),			\
	(const u32[]) { __VA_ARGS__ },						\
}

/* The words from rtx_nitems to the lists, in a transmission with a stream of two words */
static const struct rtx_lists_case rtx_lists_cases[] = {
	RTX_LISTS("no chunks", false, &rpcrdma2_accept_forward, RPCRDMA_OK, 0, 0, 0, 0, 0),
	RTX_LISTS("a Position Zero chunk would contain the message again", false,
		  &rpcrdma2_accept_forward, RPCRDMA_BAD_FORM, 0, 0, 1, 0, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("a Read chunk", false, &rpcrdma2_accept_forward, RPCRDMA_OK, 0, 0, 1, 8, 7, 40, 0,
		  0, 0, 0, 0),
	RTX_LISTS("a Read chunk to a server that accepts none", false, &rtx_no_reads,
		  RPCRDMA_MANY_READS, 0, 0, 1, 8, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("a Read chunk in a backward Call", false, &rpcrdma2_accept_backward,
		  RPCRDMA_MANY_READS, 0, 0, 1, 8, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("an item in a backward Call", false, &rpcrdma2_accept_backward, RPCRDMA_OK, 1, 8,
		  40, 0, 0, 0, 0),
	RTX_LISTS("a Read chunk past the end", false, &rpcrdma2_accept_forward,
		  RPCRDMA_BAD_POSITION, 0, 0, 1, 12, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("a Read chunk not aligned", false, &rpcrdma2_accept_forward, RPCRDMA_BAD_POSITION,
		  0, 0, 1, 6, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("a Read chunk in a Reply", true, &rpcrdma2_accept_forward, RPCRDMA_BAD_FORM, 0, 0,
		  1, 8, 7, 40, 0, 0, 0, 0, 0),
	RTX_LISTS("a Reply in both the Reply chunk and the stream", true, &rpcrdma2_accept_forward,
		  RPCRDMA_BAD_FORM, 0, 0, 0, 0, 1, 1, 7, 40, 0, 0),
	RTX_LISTS("a Reply chunk that was not used", true, &rpcrdma2_accept_forward, RPCRDMA_OK, 0,
		  0, 0, 0, 1, 1, 7, 0, 0, 0),
};

KUNIT_ARRAY_PARAM_DESC(rtx_lists, rtx_lists_cases, desc);

/* Covers: RTX-64 RTX-92 */
static void rtx_chunks(struct kunit *test)
{
	const struct rtx_lists_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	u8 *buf;

	fx_message(fx, XID, 2, 1, RPCRDMA2_RTX_MSG, param->response, 1, 8, 8, 0,
		   !param->response, 0);
	fx_words(fx, param->words, param->n);
	fx_say(fx, XID, param->response ? RPCRDMA_RPC_REPLY : RPCRDMA_RPC_CALL);
	buf = fx_exact(fx, fx->kf_buf, fx->kf_len);
	KUNIT_EXPECT_EQ(test, rpcrdma2_decode_group(buf, fx->kf_len,
						    param->accept, &fx->kf_hdr),
			param->verdict);
}

/* A Call with items and Read chunks. If @good is false, it is neither sent nor accepted. */
struct rtx_items_case {
	const char		*desc;
	bool			good;
	u32			stream;
	struct rpcrdma2_item	item;
	struct rpcrdma2_item	reads[2];	/* position 0: there is none */
};

static const struct rtx_items_case rtx_items_cases[] = {
	{ "one at the end", true, 40, { 40, 1 } },
	{ "one past the end", false, 40, { 44, 1 } },
	{ "a length of 32 bits", true, 80, { 40, U32_MAX } },
	{ "one past an end that is no whole word", false, 43, { 44, 1 } },
	{ "an empty one", false, 80, { 48, 0 } },
	{ "one not aligned", false, 80, { 42, 4 } },
	{ "an item inside a Read chunk", false, 80, { 20, 4 }, { { 16, 8 } } },
	{ "a Read chunk inside an item", false, 80, { 16, 8 }, { { 20, 4 } } },
	{ "an item where a Read chunk is", false, 80, { 16, 4 }, { { 16, 4 } } },
	{ "an item where an empty Read chunk is", true, 80, { 16, 4 }, { { 16, 0 } } },
	{ "an item where only a Read chunk reaches", true, 16, { 32, 4 }, { { 16, 16 } } },
	{ "an item past a Read chunk and the end", false, 16, { 36, 4 }, { { 16, 16 } } },
	{ "two Read chunks around an item", true, 16, { 20, 3 }, { { 16, 2 }, { 24, 4 } } },
	{ "a Read chunk past an item and the end", false, 16, { 16, 3 }, { { 24, 4 } } },
	{ "a Read chunk inside the roundup of an item", false, 80, { 40, 5 }, { { 44, 4 } } },
	{ "a Read chunk behind the roundup of an item", true, 40, { 40, 5 }, { { 48, 4 } } },
	{ "a Read chunk past such a roundup and the end", false, 40, { 40, 5 }, { { 52, 4 } } },
	{ "a Read chunk behind a length of 32 bits", false, 80, { 40, U32_MAX }, { { 44, 4 } } },
};

KUNIT_ARRAY_PARAM_DESC(rtx_items, rtx_items_cases, desc);

/* Covers: RTX-52 RTX-54 */
static void rtx_items_in_a_stream(struct kunit *test)
{
	const struct rtx_items_case *param = test->param_value;
	const struct rpcrdma2_item *read = param->reads;
	struct rpcrdma2_transmission tx = {
		.tx_count = 2, .tx_stream = param->stream, .tx_here = 8,
		.tx_replies = 1, .tx_nitems = 1,
	};
	struct rpcrdma_segment segs[2] = { };
	struct rpcrdma_chunk_out reads[2] = { };
	struct rpcrdma_call_out call = {
		.ko_xid = XID, .ko_credit = 32, .ko_read = reads,
	};
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, len;
	u8 *buf;
	int rc;

	fx_message(fx, XID, 2, 32, RPCRDMA2_RTX_MSG, 0, 2, param->stream, 8, 0,
		   1, 0, 1, param->item.im_position, param->item.im_length, 0);
	for (i = 0; i < 2 && read[i].im_position; i++) {
		fx_say(fx, 1, read[i].im_position);
		fx_seg(fx, 7, read[i].im_length, 0);
		segs[i].rs_handle = 7;
		segs[i].rs_length = read[i].im_length;
		reads[i].co_segs = &segs[i];
		reads[i].co_nsegs = 1;
		reads[i].co_position = read[i].im_position;
	}
	call.ko_nreads = i;
	fx_say(fx, 0, 0, 0);
	len = fx->kf_len;
	buf = fx_exact(fx, fx->kf_buf, len);
	memset(buf, 0xee, len);
	rc = rpcrdma2_encode_rtx_call(buf, len, &tx, &param->item, &call);
	KUNIT_ASSERT_EQ(test, rc, (int)len);
	KUNIT_EXPECT_MEMEQ(test, buf, fx->kf_buf, len);

	fx_say(fx, XID, 0);
	buf = fx_exact(fx, fx->kf_buf, fx->kf_len);
	KUNIT_EXPECT_EQ(test, rtx_decode(fx, buf, fx->kf_len),
			param->good ? RPCRDMA_OK : RPCRDMA_BAD_POSITION);
}

/* A Call cannot be encoded with a second item. */
static void rtx_many_items(struct kunit *test)
{
	struct rpcrdma2_item items[2] = { { 8, 4 }, { 12, 4 } };
	struct rpcrdma2_transmission tx = {
		.tx_count = 1, .tx_stream = 8, .tx_here = 8, .tx_replies = 1,
		.tx_nitems = 2,
	};
	struct rpcrdma_call_out call = { .ko_xid = XID, .ko_credit = 1 };
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_call(fx->kf_buf, 1024, &tx,
						       items, &call), -EINVAL);
}

struct rtx_encode_case {
	const char			*desc;
	bool				good;
	struct rpcrdma2_transmission	tx;
};

static const struct rtx_encode_case rtx_first_cases[] = {
	{ "the shortest", true, RTX_FIRST(false, 1, 8, 8, 0, 0, 0, 0) },
	{ "none at all", false, RTX_FIRST(false, 0, 8, 8, 0, 0, 0, 0) },
	{ "as many as may be", true, RTX_FIRST(false, 256, 99, 12, 0, 0, 0, 0) },
	{ "one more", false, RTX_FIRST(false, 257, 99, 12, 0, 0, 0, 0) },
	{ "a stream too short", false, RTX_FIRST(false, 1, 7, 7, 0, 0, 0, 0) },
	{ "a first piece too short", false, RTX_FIRST(false, 2, 12, 4, 0, 0, 0, 0) },
	{ "more here than there is", false, RTX_FIRST(false, 1, 8, 12, 0, 0, 0, 0) },
	{ "one that is not all", false, RTX_FIRST(false, 1, 12, 8, 0, 0, 0, 0) },
	{ "a piece that is no whole word", false, RTX_FIRST(false, 2, 12, 9, 0, 0, 0, 0) },
	{ "a last piece that is none", true, RTX_FIRST(false, 2, 9, 9, 0, 0, 0, 0) },
	{ "a stream up to the data", true, RTX_FIRST(false, 1, 36, 36, 100, 0, 0, 0) },
	{ "a stream into the data", false, RTX_FIRST(false, 1, 37, 37, 100, 0, 0, 0) },
	{ "the longest piece in front of data", false,
	  RTX_FIRST(false, 1, U32_MAX, U32_MAX, 100, 0, 0, 0) },
};

KUNIT_ARRAY_PARAM_DESC(rtx_first, rtx_first_cases, desc);

/* Covers: RTX-43 RTX-57 */
static void rtx_first_to_be_sent(struct kunit *test)
{
	const struct rtx_encode_case *param = test->param_value;
	static const struct rpcrdma_lists none;
	struct rpcrdma_reply_out reply = { .ro_xid = XID, .ro_lists = &none };
	struct rpcrdma_call_out call = { .ko_xid = XID };
	struct rpcrdma2_transmission tx = param->tx;
	struct rpcrdma_kunit *fx = test->priv;
	int want = param->good ? 64 : -EINVAL;

	/* rtx_replies must not be 0 in a Call. rtx_replies and rtx_results must be 0 in a Reply */
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(fx->kf_buf, 64, &tx,
							NULL, &reply), want);
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_call(fx->kf_buf, 64, &tx,
						       NULL, &call), -EINVAL);
	tx.tx_results = 1;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(fx->kf_buf, 64, &tx,
							NULL, &reply), -EINVAL);
	tx.tx_replies = 1;
	tx.tx_results = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(fx->kf_buf, 64, &tx,
							NULL, &reply), -EINVAL);
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_call(fx->kf_buf, 64, &tx,
						       NULL, &call), want);
}

static const struct rtx_encode_case rtx_next_cases[] = {
	{ "one with stream", true, RTX_NEXT(false, 1, 8, 1, 0) },
	{ "one with data", true, RTX_NEXT(false, 255, 9, 0, 36) },
	{ "one with nothing", false, RTX_NEXT(false, 1, 8, 0, 0) },
	{ "the first one", false, RTX_NEXT(false, 0, 8, 4, 0) },
	{ "one too many", false, RTX_NEXT(false, 256, 8, 4, 0) },
	{ "stream before it that is too short", false, RTX_NEXT(false, 1, 7, 0, 36) },
	{ "stream before it that is no whole word", false, RTX_NEXT(false, 1, 9, 4, 0) },
	{ "stream up to the data", true, RTX_NEXT(false, 1, 8, 4, 40) },
	{ "stream into the data", false, RTX_NEXT(false, 1, 8, 8, 40) },
	{ "data in the header", false, RTX_NEXT(false, 1, 8, 0, 32) },
	{ "the longest stream", true, RTX_NEXT(false, 1, 8, U32_MAX - 8, 0) },
	{ "a stream longer than that", false, RTX_NEXT(false, 1, 8, U32_MAX - 7, 0) },
};

KUNIT_ARRAY_PARAM_DESC(rtx_next, rtx_next_cases, desc);

/* Covers: RTX-43 RTX-44 RTX-57 */
static void rtx_next_to_be_sent(struct kunit *test)
{
	const struct rtx_encode_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;

	KUNIT_EXPECT_EQ(test,
			rpcrdma2_encode_rtx_next(fx->kf_buf, 36, &param->tx),
			param->good ? 36 : -EINVAL);
}

/* What the encoders of RDMA2_MSG refuse, the encoders of RDMA2_RTX_MSG refuse, too. */
static void rtx_base_rules(struct kunit *test)
{
	static const struct rpcrdma2_transmission tx = {
		.tx_count = 1, .tx_stream = 8, .tx_here = 8, .tx_replies = 1,
	};
	static const struct rpcrdma_segment seg = { 7, 40, 0 };
	struct rpcrdma_chunk_out chunk = { .co_segs = &seg, .co_nsegs = 1 };
	static const struct rpcrdma2_item item = { 8, 4 };
	struct rpcrdma2_transmission answer = tx;
	struct rpcrdma_call_out call = { .ko_xid = XID, .ko_credit = 1 };
	struct rpcrdma_reply_out reply = { .ro_xid = XID };
	struct rpcrdma_kunit *fx = test->priv;
	u8 *buf = fx->kf_buf;
	u32 written = 40;

	/* A Position Zero chunk is refused, whether ko_proc is RDMA2_MSG or RDMA2_NOMSG */
	call.ko_nreads = 1;
	call.ko_read = &chunk;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_call(buf, 256, &tx, NULL,
						       &call), -EINVAL);
	call.ko_proc = RPCRDMA2_NOMSG;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_call(buf, 256, &tx, NULL,
						       &call), -EINVAL);
	call.ko_proc = RPCRDMA2_MSG;
	call.ko_nreads = 0;
	call.ko_write = &chunk;
	call.ko_nwrites = 1;
	call.ko_inv_handle = 7;
	KUNIT_ASSERT_EQ(test, rpcrdma2_encode_rtx_call(buf, 256, &tx, NULL,
						       &call), 64 + 24);
	fx_clear(fx);
	fx->kf_len = 88;
	fx_say(fx, XID, 0);
	KUNIT_ASSERT_EQ(test, rtx_decode(fx, buf, fx->kf_len), RPCRDMA_OK);

	/* The Reply returns the Write chunk, but with no more bytes than offered */
	answer.tx_replies = 0;
	reply.ro_lists = &fx->kf_hdr.hd_lists;
	reply.ro_written = &written;
	KUNIT_EXPECT_EQ(test, rpcrdma2_rtx_reply_len(2, reply.ro_lists),
			64 + 24 + 16);
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 87, &answer,
							NULL, &reply),
			-EMSGSIZE);
	KUNIT_ASSERT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 88, &answer,
							NULL, &reply), 88);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(buf + 128 + 64), 7);
	reply.ro_proc = RPCRDMA2_NOMSG;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 88, &answer,
							NULL, &reply), -EINVAL);
	reply.ro_proc = RPCRDMA2_MSG;
	written = 41;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 88, &answer,
							NULL, &reply), -EINVAL);
	/* A Reply may have an item, too */
	written = 40;
	answer.tx_nitems = 1;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 256, &answer,
							&item, &reply), 96);
	/* Chunk lists also take room in front of the data */
	answer.tx_data = 96 + 8;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 256, &answer,
							&item, &reply), 96);
	answer.tx_data = 96 + 7;
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode_rtx_reply(buf + 128, 256, &answer,
							&item, &reply),
			-EINVAL);
}

/* --- the property RTX ------------------------------------------------------ */

static enum rpcrdma_verdict rtx_decode_props(struct rpcrdma_kunit *fx,
					     const void *data, u32 len)
{
	enum rpcrdma_verdict verdict;

	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	verdict = rpcrdma2_decode_call(fx_exact(fx, data, len), len,
				       &rpcrdma2_accept_forward, &fx->kf_hdr);
	return verdict == RPCRDMA_BACKWARD_REPLY ? RPCRDMA_OK : verdict;
}

static const struct rpcrdma2_rtx rtx_server = {
	.xp_flags = RPCRDMA2_RTX_F_RESULTS, .xp_call_max = 64,
	.xp_reply_max = 16, .xp_msg_max = 1052672, .xp_head = 1024,
	.xp_seg = 4096, .xp_nsegs = 7,
};

static const struct rpcrdma2_rtx rtx_client = {
	.xp_flags = RPCRDMA2_RTX_F_SENDS,
};

/* Covers: RTX-31 RTX-33 */
static void rtx_property_vectors(struct kunit *test)
{
	static const struct {
		enum rpcrdma_vector_id		id;
		u32				credit;
		u32				rbsiz;
		const struct rpcrdma2_rtx	*rtx;
	} cases[] = {
		{ VEC_RTX_CONNPROP_SERVER, 32, 29696, &rtx_server },
		{ VEC_RTX_CONNPROP_CLIENT, 128, 16384, &rtx_client },
	};
	struct rpcrdma_kunit *fx = test->priv;
	const struct rpcrdma_vector *vec;
	struct rpcrdma2_props props;
	u32 i, len;
	u8 *buf;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vec = &rpcrdma_vectors[cases[i].id];
		rpcrdma2_props_default(&props);
		props.vp_value[RPCRDMA2_PROP_RBSIZ] = cases[i].rbsiz;
		props.vp_rtx = *cases[i].rtx;
		for (len = 0; len < vec->ve_len; len++) {
			buf = fx_exact(fx, fx->kf_buf, len);
			KUNIT_EXPECT_EQ(test,
					rpcrdma2_encode_connprop(buf, len, 1,
								 cases[i].credit,
								 !i, &props),
					-EMSGSIZE);
			KUNIT_EXPECT_NE(test,
					rtx_decode_props(fx, vec->ve_data, len),
					RPCRDMA_OK);
		}
		buf = fx_exact(fx, fx->kf_buf, len);
		KUNIT_ASSERT_EQ(test, rpcrdma2_encode_connprop(buf, len, 1,
							       cases[i].credit,
							       !i, &props),
				len);
		KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, len);

		KUNIT_ASSERT_EQ(test, rtx_decode_props(fx, vec->ve_data, len),
				RPCRDMA_OK);
		KUNIT_EXPECT_MEMEQ(test, &fx->kf_hdr.hd_props.vp_rtx,
				   cases[i].rtx, sizeof(*cases[i].rtx));
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_props.vp_given,
				3 | 1u << RPCRDMA2_PROP_RTX);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_props.vp_unknown, 0);
	}
}

/* The property RTX, from a peer whose RBSIZ is @rbsiz */
struct rtx_prop_case {
	const char	*desc;
	bool		good;
	u32		rbsiz;
	struct rpcrdma2_rtx	rtx;
};

static const struct rtx_prop_case rtx_prop_cases[] = {
	{ "nothing", true, 1024, { 0, 0, 0, 0, 0, 0, 0 } },
	{ "flags that nobody knows", true, 1024, { U32_MAX, 0, 0, 0, 0, 0, 0 } },
	{ "one transmission", true, 1024, { 0, 1, 0, 1024, 0, 0, 0 } },
	{ "most transmissions", true, 1024, { 0, 256, 256, U32_MAX, 0, 0, 0 } },
	{ "a Call of more", false, 1024, { 0, 257, 0, 1024, 0, 0, 0 } },
	{ "a Reply of more", false, 1024, { 0, 0, 257, 0, 0, 0, 0 } },
	{ "Replies only", true, 1024, { 0, 0, 1, 0, 0, 0, 0 } },
	{ "Calls of any length of none", false, 1024, { 0, 0, 1, 1024, 0, 0, 0 } },
	{ "Calls too short", false, 1024, { 0, 1, 0, 1023, 0, 0, 0 } },
	{ "Calls of nothing", false, 1024, { 0, 1, 0, 0, 0, 0, 0 } },
	{ "smallest targets", true, 1024, { 0, 0, 0, 0, 256, 512, 1 } },
	{ "head too small", false, 4096, { 0, 0, 0, 0, 252, 512, 1 } },
	{ "largest head", true, 66044, { 0, 0, 0, 0, 65532, 512, 1 } },
	{ "head too large", false, 99999, { 0, 0, 0, 0, 65536, 512, 1 } },
	{ "head not aligned", false, 4096, { 0, 0, 0, 0, 258, 512, 1 } },
	{ "largest segment", true, 65792, { 0, 0, 0, 0, 256, 65536, 1 } },
	{ "segment too large", false, U32_MAX, { 0, 0, 0, 0, 256, 131072, 1 } },
	{ "segment too small", false, 4096, { 0, 0, 0, 0, 256, 256, 1 } },
	{ "segment no power of two", false, 4096, { 0, 0, 0, 0, 256, 768, 1 } },
	{ "no targets, but a head", false, 4096, { 0, 0, 0, 0, 256, 0, 0 } },
	{ "no targets, but a segment", false, 4096, { 0, 0, 0, 0, 0, 512, 0 } },
	{ "targets of nothing", false, 4096, { 0, 0, 0, 0, 0, 0, 1 } },
	{ "targets that fill a Receive", true, 29696, { 1, 64, 16, 1052672, 1024, 4096, 7 } },
	{ "targets past its end", false, 29695, { 1, 64, 16, 1052672, 1024, 4096, 7 } },
	{ "a sum that overflows", false, U32_MAX, { 0, 0, 0, 0, 256, 65536, 65536 } },
	{ "any number of them", false, U32_MAX, { 0, 0, 0, 0, 256, 65536, U32_MAX } },
};

KUNIT_ARRAY_PARAM_DESC(rtx_prop, rtx_prop_cases, desc);

static void rtx_say_property(struct rpcrdma_kunit *fx,
			     const struct rpcrdma2_rtx *rtx)
{
	fx_say(fx, RPCRDMA2_PROPID_RTX, 28, rtx->xp_flags, rtx->xp_call_max,
	       rtx->xp_reply_max, rtx->xp_msg_max, rtx->xp_head, rtx->xp_seg,
	       rtx->xp_nsegs);
}

/* Covers: RTX-33 RTX-36 RTX-103 */
static void rtx_property_sets(struct kunit *test)
{
	const struct rtx_prop_case *param = test->param_value;
	enum rpcrdma_verdict want = param->good ? RPCRDMA_OK : RPCRDMA_BAD_PROP;
	static const struct rpcrdma2_rtx none;
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma2_props props;
	bool silent;
	int rc;

	/* In the first message, RBSIZ follows the property RTX. In the second, it precedes RTX */
	fx_message(fx, XID, 2, 5, 5, 0, 2);
	rtx_say_property(fx, &param->rtx);
	fx_say(fx, 1, 4, param->rbsiz);
	KUNIT_EXPECT_EQ(test, rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
			want);
	fx_message(fx, XID, 2, 5, 5, 0, 2, 1, 4, param->rbsiz);
	rtx_say_property(fx, &param->rtx);
	KUNIT_ASSERT_EQ(test, rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
			want);
	/* No value of a bad set is used */
	KUNIT_EXPECT_MEMEQ(test, &fx->kf_hdr.hd_props.vp_rtx,
			   param->good ? &param->rtx : &none, sizeof(none));
	if (!param->good)
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_props.vp_value[0], 4096);

	/* A valid property RTX is sent unless all its words are 0 */
	rpcrdma2_props_default(&props);
	props.vp_value[RPCRDMA2_PROP_RBSIZ] = param->rbsiz;
	props.vp_rtx = param->rtx;
	silent = !memcmp(&props.vp_rtx, &none, sizeof(none));
	rc = rpcrdma2_encode_connprop(fx->kf_buf, 256, 1, 1, false, &props);
	KUNIT_EXPECT_EQ(test, rc, !param->good ? -EINVAL : silent ? 48 : 84);
}

/* Covers: RTX-33 */
static void rtx_property_lengths(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 len;

	for (len = 0; len <= 36; len++) {
		memset(fx->kf_buf, 0, 128);
		fx_message(fx, XID, 2, 5, 5, 0, 1, RPCRDMA2_PROPID_RTX, len);
		KUNIT_EXPECT_EQ_MSG(test, rtx_decode_props(fx, fx->kf_buf,
							   fx->kf_len +
							   (len + 3) / 4 * 4),
				    len == 0 || len == 28 ? RPCRDMA_OK :
				    RPCRDMA_BAD_PROP, "%u bytes", len);
	}
	/* In the first message, the segment size of 3840 bytes is not a power of two. In the
	 * second, the segment of 4096 bytes ends beyond the Receive, because RBSIZ is missing and
	 * its default is 4096
	 */
	for (len = 15; len < 17; len++) {
		fx_message(fx, XID, 2, 5, 5, 0, 1, RPCRDMA2_PROPID_RTX, 28, 0,
			   0, 0, 0, 256, 256 * len, 1);
		KUNIT_EXPECT_EQ(test,
				rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
				RPCRDMA_BAD_PROP);
	}
	fx_message(fx, XID, 2, 5, 5, 0, 1, RPCRDMA2_PROPID_RTX, 28, 0, 0, 0, 0,
		   2048, 2048, 1);
	KUNIT_EXPECT_EQ(test, rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	/* A known property must not occur twice */
	fx_message(fx, XID, 2, 5, 5, 0, 2, RPCRDMA2_PROPID_RTX, 0,
		   RPCRDMA2_PROPID_RTX, 0);
	KUNIT_EXPECT_EQ(test, rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_BAD_PROP);
	/* The number after that of the property RTX belongs to no known property */
	fx_message(fx, XID, 2, 5, 5, 0, 1, RPCRDMA2_PROPID_RTX + 1, 0);
	KUNIT_EXPECT_EQ(test, rtx_decode_props(fx, fx->kf_buf, fx->kf_len),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_props.vp_unknown, 1);
	KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_props.vp_given, 0);
}

/* --- errors ---------------------------------------------------------------- */

/* Covers: RTX-50 */
static void rtx_errors(struct kunit *test)
{
	static const struct {
		enum rpcrdma_verdict	verdict;
		enum rpcrdma_vector_id	id;
	} cases[] = {
		{ RPCRDMA_BAD_GROUP, VEC_RTX_ERR_CONT },
		{ RPCRDMA_BIG_GROUP, VEC_RTX_ERR_LIMIT },
	};
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_hdr about = { .hd_xid = XID, .hd_vers = 2 };
	const struct rpcrdma_vector *vec;
	struct rpcrdma2_error error;
	u8 buf[24];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vec = &rpcrdma_vectors[cases[i].id];
		about.hd_response = false;
		KUNIT_ASSERT_TRUE(test,
				  rpcrdma2_refusal(&about, cases[i].verdict,
						   &rpcrdma2_accept_forward,
						   &error));
		KUNIT_ASSERT_EQ(test, rpcrdma_encode_error(2, buf, sizeof(buf),
							   &about, 32, &error),
				vec->ve_len);
		KUNIT_EXPECT_MEMEQ(test, buf, vec->ve_data, vec->ve_len);
		KUNIT_ASSERT_EQ(test, fx_client2(fx, vec->ve_data, vec->ve_len,
						 0), RPCRDMA_OK);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_err, error.er_code);
		KUNIT_EXPECT_EQ(test, fx->kf_hdr.hd_xid, XID);

		/* No error is sent about a Reply */
		about.hd_response = true;
		KUNIT_EXPECT_FALSE(test,
				   rpcrdma2_refusal(&about, cases[i].verdict,
						    &rpcrdma2_accept_forward,
						    &error));
	}
}

static struct kunit_case wire_rtx_cases[] = {
	KUNIT_CASE_PARAM(rtx_peek_vectors, rtx_gen_params),
	KUNIT_CASE_PARAM(rtx_encode_vectors, rtx_gen_params),
	KUNIT_CASE_PARAM(rtx_decode_vectors, rtx_gen_params),
	KUNIT_CASE_PARAM(rtx_all_lengths, rtx_gen_params),
	KUNIT_CASE_PARAM(rtx_one_word, rtx_word_gen_params),
	KUNIT_CASE(rtx_other_messages),
	KUNIT_CASE(rtx_misplaced_lists),
	KUNIT_CASE(rtx_is_unknown),
	KUNIT_CASE_PARAM(rtx_chunks, rtx_lists_gen_params),
	KUNIT_CASE_PARAM(rtx_items_in_a_stream, rtx_items_gen_params),
	KUNIT_CASE(rtx_many_items),
	KUNIT_CASE_PARAM(rtx_first_to_be_sent, rtx_first_gen_params),
	KUNIT_CASE_PARAM(rtx_next_to_be_sent, rtx_next_gen_params),
	KUNIT_CASE(rtx_base_rules),
	KUNIT_CASE(rtx_property_vectors),
	KUNIT_CASE_PARAM(rtx_property_sets, rtx_prop_gen_params),
	KUNIT_CASE(rtx_property_lengths),
	KUNIT_CASE(rtx_errors),
	{}
};

static struct kunit_suite rpcrdma_wire_rtx_suite = {
	.name = "rpcrdma_wire_rtx",
	.init = fx_init,
	.test_cases = wire_rtx_cases,
};

kunit_test_suite(rpcrdma_wire_rtx_suite);
