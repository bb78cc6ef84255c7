/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What many suites of unit tests share: the messages of vectors.h and vectors_rtx.h; a buffer
 * in which to build other messages; random numbers that are the same in every run; and functions
 * that build and decode messages.
 */
#ifndef RPCRDMA_KUNIT_H
#define RPCRDMA_KUNIT_H

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/types.h>

#include <rpcrdma/wire.h>

/* The XID of the messages of vectors.h and vectors_rtx.h. Only the backward Call and the CONNPROPs
 * have other XIDs.
 */
#define RPCRDMA_KUNIT_XID	0x11223344u

#define RPCRDMA_KUNIT_BUF_LEN	65536u

enum rpcrdma_vector_id {
	VEC_SHORT_CALL,
	VEC_READ_CHUNK_2SEG,
	VEC_WRITE2_REPLY,
	VEC_NOMSG_PZ,
	VEC_ERR_VERS,
	VEC_ERR_CHUNK,
	VEC_REPLY_WRITE_USED,
	VEC_REPLY_WRITE_UNUSED,
	VEC_REPLY_NOMSG,
	VEC_MSGP,
	VEC_BC_CALL,
	VEC_ERR_VERS_V3,
	VEC_CM_PRIVATE,
	VEC_V2_MSG_INV,
	VEC_V2_CONNPROP,
	VEC_V2_ERR_VERS,
	VEC_V2_WRITE_RESOURCE,
	VEC_V2_REPLY_RESOURCE,
	VEC_V2_CONNPROP_SERVER,
	VEC_V2_MSG_REPLY,
	VEC_V2_NOMSG_CALL,
	VEC_V2_BAD_XDR,
	VEC_V2_INVAL_HTYPE,
	VEC_V2_READ_CHUNKS,
	VEC_V2_WRITE_CHUNKS,
	VEC_V2_SEGMENTS,
	VEC_V2_SYSTEM,
	VEC_RTX_CONNPROP_SERVER,
	VEC_RTX_CONNPROP_CLIENT,
	VEC_RTX_WRITE_8K,
	VEC_RTX_WRITE_64K_1,
	VEC_RTX_WRITE_64K_2,
	VEC_RTX_WRITE_64K_3,
	VEC_RTX_LONG_1,
	VEC_RTX_LONG_2,
	VEC_RTX_LONG_3,
	VEC_RTX_LONG_4,
	VEC_RTX_READDIR,
	VEC_RTX_REPLY_1,
	VEC_RTX_REPLY_2,
	VEC_RTX_READ_CALL,
	VEC_RTX_READ_REPLY,
	VEC_RTX_ERR_CONT,
	VEC_RTX_ERR_LIMIT,
	VEC_RTX_TWO_ITEMS,
	VEC_RTX_MIXED,
	VEC_COUNT,
};

/**
 * struct rpcrdma_vector - an array of vectors.h or vectors_rtx.h: a message, or private data
 * @ve_data: the array
 * @ve_len: number of bytes in the array
 * @ve_zeros: number of zero bytes that follow the array in the message (see vectors_rtx.h)
 */
struct rpcrdma_vector {
	const u8	*ve_data;
	u32		ve_len;
	u32		ve_zeros;
};

extern const struct rpcrdma_vector rpcrdma_vectors[VEC_COUNT];

/**
 * struct rpcrdma_kunit - fixture of one test case; in test->priv
 * @kf_test: the test case
 * @kf_rnd: random numbers, with the same seed for each test case
 * @kf_hdr: a decoded header, which is too large for the stack
 * @kf_lists: decoded lists, which are too large for the stack
 * @kf_buf: %RPCRDMA_KUNIT_BUF_LEN bytes to build a message in
 * @kf_len: number of bytes of the message in @kf_buf. fx_word() adds to it. Some tests
 *	keep the length in a variable of their own instead.
 */
struct rpcrdma_kunit {
	struct kunit		*kf_test;
	struct rnd_state	kf_rnd;
	struct rpcrdma_hdr	kf_hdr;
	struct rpcrdma_lists	kf_lists;
	u8			*kf_buf;
	u32			kf_len;
};

#define RPCRDMA_KUNIT_CHUNKS	4u
#define RPCRDMA_KUNIT_SEGS		6u

/**
 * struct rpcrdma_kunit_call - a random Call, which may have chunks of all kinds
 * @call: the Call
 * @reads: its Read chunks, if it has any; the first may be a Position Zero chunk
 * @writes: its Write chunks, if it has any
 * @reply: its Reply chunk, if it has one
 * @segs: the segments of all these chunks
 */
struct rpcrdma_kunit_call {
	struct rpcrdma_call_out		call;
	struct rpcrdma_chunk_out	reads[RPCRDMA_KUNIT_CHUNKS];
	struct rpcrdma_chunk_out	writes[RPCRDMA_KUNIT_CHUNKS];
	struct rpcrdma_chunk_out	reply;
	struct rpcrdma_segment		segs[9][RPCRDMA_KUNIT_SEGS];
};

int fx_init(struct kunit *test);

u32 fx_random(struct rpcrdma_kunit *fx, u32 below);

void fx_clear(struct rpcrdma_kunit *fx);
void fx_word(struct rpcrdma_kunit *fx, u32 word);
void fx_words(struct rpcrdma_kunit *fx, const u32 *words, u32 n);
void fx_message_words(struct rpcrdma_kunit *fx, const u32 *words, u32 n);
/* Add the given words to the message. (clang accepts ARRAY_SIZE() of a compound literal only if all
 * values in it are constant.)
 */
#define fx_say(fx, ...)					\
	fx_words(fx, (const u32[]) { __VA_ARGS__ },		\
			    sizeof((const u32[]) { __VA_ARGS__ }) /	\
			    sizeof(u32))

/* The same, but the words are the first of a new message. */
#define fx_message(fx, ...)						\
	fx_message_words(fx, (const u32[]) { __VA_ARGS__ },		\
			 sizeof((const u32[]) { __VA_ARGS__ }) /	\
			 sizeof(u32))

void fx_seg(struct rpcrdma_kunit *fx, u32 handle, u32 length, u64 offset);

void *fx_exact(struct rpcrdma_kunit *fx, const void *data, u32 len);
u8 *fx_whole(struct rpcrdma_kunit *fx, enum rpcrdma_vector_id id, u32 *len);
enum rpcrdma_verdict fx_decode_lists(struct rpcrdma_kunit *fx, u32 *offset);
enum rpcrdma_verdict fx_lists(struct rpcrdma_kunit *fx);
enum rpcrdma_verdict fx_decode_call(struct rpcrdma_kunit *fx, const void *data,
				    u32 len);
enum rpcrdma_verdict fx_decode_reply(struct rpcrdma_kunit *fx, const void *data,
				     u32 len);
enum rpcrdma_verdict fx_server2(struct rpcrdma_kunit *fx, const void *data,
				u32 len);
enum rpcrdma_verdict fx_client2(struct rpcrdma_kunit *fx, const void *data,
				u32 len, unsigned int flags);
void fx_random_call(struct rpcrdma_kunit *fx, struct rpcrdma_kunit_call *rand);
u32 fx_segs(const struct rpcrdma_lists *lists, const struct rpcrdma_chunk
	    *chunk, struct rpcrdma_segment *segs, u32 max);

#endif /* RPCRDMA_KUNIT_H */
