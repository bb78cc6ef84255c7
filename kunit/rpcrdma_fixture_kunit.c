// SPDX-License-Identifier: GPL-2.0
/*
 * The functions and messages that many suites of unit tests share (rpcrdma_kunit.h).
 *
 * Each of the other .c files of kunit/ has one suite. The lines "Covers" above a test list the
 * requirements (Documentation/conformance.rst) whose violation makes the test fail. A test
 * without such a line covers no requirement.
 *
 * Before the functions of this file decode a message, they copy it to a buffer of exactly its
 * size. So KASAN catches a read past the end, even if the result of the decoder is right.
 */

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "accept.h"
#include "rpcrdma_kunit.h"
#include "vectors.h"
#include "vectors_rtx.h"

#define KUNIT_SEED	5666u

#define VECTOR(array)	VECTOR_OF(array, sizeof(array))
#define VECTOR_OF(array, total) {					\
	.ve_data = (const u8 *)(array), .ve_len = sizeof(array),	\
	.ve_zeros = (total) - sizeof(array),				\
}

const struct rpcrdma_vector rpcrdma_vectors[VEC_COUNT] = {
	[VEC_SHORT_CALL] = VECTOR(vec_v1_short_call),
	[VEC_READ_CHUNK_2SEG] = VECTOR(vec_v1_read_chunk_2seg),
	[VEC_WRITE2_REPLY] = VECTOR(vec_v1_write2_reply),
	[VEC_NOMSG_PZ] = VECTOR(vec_v1_nomsg_pz),
	[VEC_ERR_VERS] = VECTOR(vec_v1_err_vers),
	[VEC_ERR_CHUNK] = VECTOR(vec_v1_err_chunk),
	[VEC_REPLY_WRITE_USED] = VECTOR(vec_v1_reply_write_used),
	[VEC_REPLY_WRITE_UNUSED] = VECTOR(vec_v1_reply_write_unused),
	[VEC_REPLY_NOMSG] = VECTOR(vec_v1_reply_nomsg),
	[VEC_MSGP] = VECTOR(vec_v1_msgp),
	[VEC_BC_CALL] = VECTOR(vec_v1_bc_call),
	[VEC_ERR_VERS_V3] = VECTOR(vec_v1_err_vers_v3),
	[VEC_CM_PRIVATE] = VECTOR(vec_cm_private),
	[VEC_V2_MSG_INV] = VECTOR(vec_v2_msg_inv),
	[VEC_V2_CONNPROP] = VECTOR(vec_v2_connprop),
	[VEC_V2_ERR_VERS] = VECTOR(vec_v2_err_vers),
	[VEC_V2_WRITE_RESOURCE] = VECTOR(vec_v2_write_resource),
	[VEC_V2_REPLY_RESOURCE] = VECTOR(vec_v2_reply_resource),
	[VEC_V2_CONNPROP_SERVER] = VECTOR(vec_v2_connprop_server),
	[VEC_V2_MSG_REPLY] = VECTOR(vec_v2_msg_reply),
	[VEC_V2_NOMSG_CALL] = VECTOR(vec_v2_nomsg_call),
	[VEC_V2_BAD_XDR] = VECTOR(vec_v2_bad_xdr),
	[VEC_V2_INVAL_HTYPE] = VECTOR(vec_v2_inval_htype),
	[VEC_V2_READ_CHUNKS] = VECTOR(vec_v2_read_chunks),
	[VEC_V2_WRITE_CHUNKS] = VECTOR(vec_v2_write_chunks),
	[VEC_V2_SEGMENTS] = VECTOR(vec_v2_segments),
	[VEC_V2_SYSTEM] = VECTOR(vec_v2_system),
	[VEC_RTX_CONNPROP_SERVER] = VECTOR(vec_rtx_connprop_server),
	[VEC_RTX_CONNPROP_CLIENT] = VECTOR(vec_rtx_connprop_client),
	[VEC_RTX_WRITE_8K] = VECTOR_OF(vec_rtx_write_8k, 9216),
	[VEC_RTX_WRITE_64K_1] = VECTOR_OF(vec_rtx_write_64k_1, 29696),
	[VEC_RTX_WRITE_64K_2] = VECTOR_OF(vec_rtx_write_64k_2, 29696),
	[VEC_RTX_WRITE_64K_3] = VECTOR_OF(vec_rtx_write_64k_3, 9216),
	[VEC_RTX_LONG_1] = VECTOR_OF(vec_rtx_long_1, 29696),
	[VEC_RTX_LONG_2] = VECTOR_OF(vec_rtx_long_2, 29696),
	[VEC_RTX_LONG_3] = VECTOR_OF(vec_rtx_long_3, 29696),
	[VEC_RTX_LONG_4] = VECTOR_OF(vec_rtx_long_4, 11084),
	[VEC_RTX_READDIR] = VECTOR(vec_rtx_readdir),
	[VEC_RTX_REPLY_1] = VECTOR_OF(vec_rtx_reply_1, 16384),
	[VEC_RTX_REPLY_2] = VECTOR_OF(vec_rtx_reply_2, 13716),
	[VEC_RTX_READ_CALL] = VECTOR(vec_rtx_read_call),
	[VEC_RTX_READ_REPLY] = VECTOR_OF(vec_rtx_read_reply, 9216),
	[VEC_RTX_ERR_CONT] = VECTOR(vec_rtx_err_cont),
	[VEC_RTX_ERR_LIMIT] = VECTOR(vec_rtx_err_limit),
	[VEC_RTX_TWO_ITEMS] = VECTOR_OF(vec_rtx_two_items, 13312),
	[VEC_RTX_MIXED] = VECTOR_OF(vec_rtx_mixed, 9216),
};

/**
 * fx_init - make a fixture for a test case
 * @test: the test case
 *
 * Return: 0, or a negative errno.
 */
int fx_init(struct kunit *test)
{
	struct rpcrdma_kunit *fx;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	if (!fx)
		return -ENOMEM;
	fx->kf_buf = kunit_kzalloc(test, RPCRDMA_KUNIT_BUF_LEN, GFP_KERNEL);
	if (!fx->kf_buf)
		return -ENOMEM;
	fx->kf_test = test;
	prandom_seed_state(&fx->kf_rnd, KUNIT_SEED);
	test->priv = fx;
	return 0;
}

/**
 * fx_random - get a random number
 * @fx: the fixture
 * @below: limit; 0 if there is none
 *
 * Return: a number from 0 to @below - 1; any u32 if @below is 0.
 */
u32 fx_random(struct rpcrdma_kunit *fx, u32 below)
{
	u32 value = prandom_u32_state(&fx->kf_rnd);

	return below ? value % below : value;
}

/**
 * fx_clear - begin a new message in the fixture's buffer
 * @fx: the fixture
 */
void fx_clear(struct rpcrdma_kunit *fx)
{
	fx->kf_len = 0;
}

/**
 * fx_word - add a word to the message
 * @fx: the fixture
 * @word: the word
 */
void fx_word(struct rpcrdma_kunit *fx, u32 word)
{
	KUNIT_ASSERT_LE(fx->kf_test, fx->kf_len + sizeof(word),
			RPCRDMA_KUNIT_BUF_LEN);
	put_unaligned_be32(word, fx->kf_buf + fx->kf_len);
	fx->kf_len += sizeof(word);
}

/**
 * fx_words - add some words to the message
 * @fx: the fixture
 * @words: the words
 * @n: number of words
 */
void fx_words(struct rpcrdma_kunit *fx, const u32 *words, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		fx_word(fx, words[i]);
}

/**
 * fx_message_words - begin a new message in the fixture's buffer with some words
 * @fx: the fixture
 * @words: the words
 * @n: number of words
 */
void fx_message_words(struct rpcrdma_kunit *fx, const u32 *words, u32 n)
{
	fx_clear(fx);
	fx_words(fx, words, n);
}

/**
 * fx_seg - add a plain segment to the message
 * @fx: the fixture
 * @handle: its handle
 * @length: its length
 * @offset: its offset
 */
void fx_seg(struct rpcrdma_kunit *fx, u32 handle, u32 length, u64 offset)
{
	fx_word(fx, handle);
	fx_word(fx, length);
	fx_word(fx, offset >> 32);
	fx_word(fx, offset);
}

/**
 * fx_exact - copy bytes to a buffer of exactly their size, so that KASAN catches
 *	a read past the end
 * @fx: the fixture
 * @data: the bytes
 * @len: number of bytes
 *
 * Return: the copy, which lives as long as the test case.
 */
void *fx_exact(struct rpcrdma_kunit *fx, const void *data, u32 len)
{
	void *copy = kunit_kmalloc(fx->kf_test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fx->kf_test, copy);
	memcpy(copy, data, len);
	return copy;
}

/**
 * fx_whole - make a message from its array and the zeros that follow (ve_zeros), in a
 *	buffer of exactly its size
 * @fx: the fixture
 * @id: which message
 * @len: OUT: number of bytes in the message
 *
 * Return: the message, which lives as long as the test case.
 */
u8 *fx_whole(struct rpcrdma_kunit *fx, enum rpcrdma_vector_id id, u32 *len)
{
	const struct rpcrdma_vector *vec = &rpcrdma_vectors[id];
	u8 *copy;

	*len = vec->ve_len + vec->ve_zeros;
	copy = kunit_kzalloc(fx->kf_test, *len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(fx->kf_test, copy);
	memcpy(copy, vec->ve_data, vec->ve_len);
	return copy;
}

/**
 * fx_decode_lists - decode only the chunk lists of the message in the fixture's buffer
 * @fx: the fixture; @kf_lists is filled in, and points to a copy of the
 *	message that lives as long as the test case
 * @offset: IN/OUT: as for rpcrdma_wire_decode_lists()
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_decode_lists(struct rpcrdma_kunit *fx, u32 *offset)
{
	void *copy = fx_exact(fx, fx->kf_buf, fx->kf_len);

	/* A test must notice a member that the decoder does not set */
	memset(&fx->kf_lists, 0xee, sizeof(fx->kf_lists));
	return rpcrdma_wire_decode_lists(copy, fx->kf_len, offset,
					 &fx->kf_lists);
}

/**
 * fx_lists - like fx_decode_lists() at the beginning of the message
 * @fx: the fixture
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_lists(struct rpcrdma_kunit *fx)
{
	u32 offset = 0;

	return fx_decode_lists(fx, &offset);
}

/**
 * fx_decode_call - decode bytes as a Call of version 1
 * @fx: the fixture; @kf_hdr is filled in, and points to a copy of the message
 *	that lives as long as the test case
 * @data: the bytes
 * @len: number of bytes
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_decode_call(struct rpcrdma_kunit *fx, const void *data,
				    u32 len)
{
	/* A test must notice a member that the decoder does not set */
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	return rpcrdma1_decode_call(fx_exact(fx, data, len), len, &fx->kf_hdr);
}

/**
 * fx_decode_reply - decode bytes as a Reply of version 1
 * @fx: the fixture; @kf_hdr is filled in, and points to a copy of the message
 *	that lives as long as the test case
 * @data: the bytes
 * @len: number of bytes
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_decode_reply(struct rpcrdma_kunit *fx, const void *data,
				     u32 len)
{
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	return rpcrdma1_decode_reply(fx_exact(fx, data, len), len, &fx->kf_hdr);
}

/**
 * fx_server2 - decode bytes as a message of version 2, as a server does before the
 *	version of the connection is settled
 * @fx: the fixture; as for fx_decode_call()
 * @data: the bytes
 * @len: number of bytes
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_server2(struct rpcrdma_kunit *fx, const void *data,
				u32 len)
{
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	return rpcrdma2_decode_call(fx_exact(fx, data, len), len,
				    &rpcrdma2_accept_forward, &fx->kf_hdr);
}

/**
 * fx_client2 - decode bytes as a client decodes a message of version 2
 * @fx: the fixture; as for fx_decode_call()
 * @data: the bytes
 * @len: number of bytes
 * @flags: as for rpcrdma2_decode_reply()
 *
 * Return: the verdict.
 */
enum rpcrdma_verdict fx_client2(struct rpcrdma_kunit *fx, const void *data,
				u32 len, unsigned int flags)
{
	memset(&fx->kf_hdr, 0xee, sizeof(fx->kf_hdr));
	return rpcrdma2_decode_reply(fx_exact(fx, data, len), len, flags,
				     &fx->kf_hdr);
}

static void random_chunk(struct rpcrdma_kunit *fx, struct rpcrdma_segment *segs,
			 struct rpcrdma_chunk_out *chunk)
{
	u32 i;

	chunk->co_segs = segs;
	chunk->co_position = 0;
	chunk->co_nsegs = 1 + fx_random(fx, RPCRDMA_KUNIT_SEGS);
	for (i = 0; i < chunk->co_nsegs; i++) {
		segs[i].rs_handle = fx_random(fx, 0);
		segs[i].rs_length = fx_random(fx, 100000);
		segs[i].rs_offset = fx_random(fx, 0);
		segs[i].rs_offset <<= 32;
		segs[i].rs_offset |= fx_random(fx, 0);
	}
	/* Sometimes make the second segment empty, but never the whole chunk */
	if (chunk->co_nsegs > 1 && fx_random(fx, 2))
		segs[1].rs_length = 0;
	segs[0].rs_length += 8;
}

/**
 * fx_random_call - make a random Call that the encoders accept
 * @fx: the fixture
 * @rand: OUT: the Call, with its chunks and segments
 */
void fx_random_call(struct rpcrdma_kunit *fx, struct rpcrdma_kunit_call *rand)
{
	struct rpcrdma_call_out *call = &rand->call;
	u32 i, position = 4 * fx_random(fx, 2);

	memset(rand, 0, sizeof(*rand));
	call->ko_xid = fx_random(fx, 0);
	call->ko_credit = 1 + fx_random(fx, 1000);
	call->ko_read = rand->reads;
	call->ko_write = rand->writes;
	call->ko_nreads = fx_random(fx, RPCRDMA_KUNIT_CHUNKS + 1);
	call->ko_nwrites = fx_random(fx, RPCRDMA_KUNIT_CHUNKS + 1);
	for (i = 0; i < call->ko_nreads; i++) {
		random_chunk(fx, rand->segs[i], &rand->reads[i]);
		rand->reads[i].co_position = position;
		position += 4 + 4 * fx_random(fx, 1000);
	}
	if (call->ko_nreads && !rand->reads[0].co_position)
		call->ko_proc = RPCRDMA1_NOMSG;
	for (i = 0; i < call->ko_nwrites; i++)
		random_chunk(fx, rand->segs[RPCRDMA_KUNIT_CHUNKS + i],
			     &rand->writes[i]);
	if (fx_random(fx, 2)) {
		random_chunk(fx, rand->segs[8], &rand->reply);
		call->ko_reply = &rand->reply;
	}
}

/**
 * fx_segs - collect a chunk's segments
 * @lists: decoded lists
 * @chunk: one of its chunks
 * @segs: OUT: the first @max of the segments, or all if there are fewer
 * @max: number of entries of @segs
 *
 * Return: the number of segments, which may be larger than @max.
 */
u32 fx_segs(const struct rpcrdma_lists *lists, const struct rpcrdma_chunk
	    *chunk, struct rpcrdma_segment *segs, u32 max)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	u32 n;

	rpcrdma_chunk_first(lists, chunk, &iter);
	for (n = 0; rpcrdma_chunk_next(&iter, &seg); n++)
		if (n < max)
			segs[n] = seg;
	return n;
}

MODULE_DESCRIPTION("Unit tests of RPC-over-RDMA's pure rooms");
MODULE_LICENSE("GPL");
/* Before 6.13, the argument of MODULE_IMPORT_NS() is a name. Since then, it is a string (commit
 * cdd30ebb1b9f). In both cases, the macro expands to this line.
 */
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
