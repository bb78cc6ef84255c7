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
	RPCRDMA_VEC_SHORT_CALL,
	RPCRDMA_VEC_READ_CHUNK_2SEG,
	RPCRDMA_VEC_WRITE2_REPLY,
	RPCRDMA_VEC_NOMSG_PZ,
	RPCRDMA_VEC_ERR_VERS,
	RPCRDMA_VEC_ERR_CHUNK,
	RPCRDMA_VEC_REPLY_WRITE_USED,
	RPCRDMA_VEC_REPLY_WRITE_UNUSED,
	RPCRDMA_VEC_REPLY_NOMSG,
	RPCRDMA_VEC_MSGP,
	RPCRDMA_VEC_BC_CALL,
	RPCRDMA_VEC_ERR_VERS_V3,
	RPCRDMA_VEC_CM_PRIVATE,
	RPCRDMA_VEC_V2_MSG_INV,
	RPCRDMA_VEC_V2_CONNPROP,
	RPCRDMA_VEC_V2_ERR_VERS,
	RPCRDMA_VEC_V2_WRITE_RESOURCE,
	RPCRDMA_VEC_V2_REPLY_RESOURCE,
	RPCRDMA_VEC_V2_CONNPROP_SERVER,
	RPCRDMA_VEC_V2_MSG_REPLY,
	RPCRDMA_VEC_V2_NOMSG_CALL,
	RPCRDMA_VEC_V2_BAD_XDR,
	RPCRDMA_VEC_V2_INVAL_HTYPE,
	RPCRDMA_VEC_V2_READ_CHUNKS,
	RPCRDMA_VEC_V2_WRITE_CHUNKS,
	RPCRDMA_VEC_V2_SEGMENTS,
	RPCRDMA_VEC_V2_SYSTEM,
	RPCRDMA_VEC_RTX_CONNPROP_SERVER,
	RPCRDMA_VEC_RTX_CONNPROP_CLIENT,
	RPCRDMA_VEC_RTX_WRITE_8K,
	RPCRDMA_VEC_RTX_WRITE_64K_1,
	RPCRDMA_VEC_RTX_WRITE_64K_2,
	RPCRDMA_VEC_RTX_WRITE_64K_3,
	RPCRDMA_VEC_RTX_LONG_1,
	RPCRDMA_VEC_RTX_LONG_2,
	RPCRDMA_VEC_RTX_LONG_3,
	RPCRDMA_VEC_RTX_LONG_4,
	RPCRDMA_VEC_RTX_READDIR,
	RPCRDMA_VEC_RTX_REPLY_1,
	RPCRDMA_VEC_RTX_REPLY_2,
	RPCRDMA_VEC_RTX_READ_CALL,
	RPCRDMA_VEC_RTX_READ_REPLY,
	RPCRDMA_VEC_RTX_ERR_CONT,
	RPCRDMA_VEC_RTX_ERR_LIMIT,
	RPCRDMA_VEC_RTX_TWO_ITEMS,
	RPCRDMA_VEC_RTX_MIXED,
	RPCRDMA_VEC_COUNT,
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

extern const struct rpcrdma_vector rpcrdma_vectors[RPCRDMA_VEC_COUNT];

/**
 * struct rpcrdma_kunit - fixture of one test case; in test->priv
 * @kf_test: the test case
 * @kf_rnd: random numbers, with the same seed for each test case
 * @kf_hdr: a decoded header, which is too large for the stack
 * @kf_lists: decoded lists, which are too large for the stack
 * @kf_buf: %RPCRDMA_KUNIT_BUF_LEN bytes to build a message in
 * @kf_len: number of bytes of the message in @kf_buf. rpcrdma_kunit_word() adds to it. Some tests
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

int rpcrdma_kunit_init(struct kunit *test);

u32 rpcrdma_kunit_random(struct rpcrdma_kunit *fx, u32 below);

void rpcrdma_kunit_clear(struct rpcrdma_kunit *fx);
void rpcrdma_kunit_word(struct rpcrdma_kunit *fx, u32 word);
void rpcrdma_kunit_words(struct rpcrdma_kunit *fx, const u32 *words, u32 n);
/* Add the given words to the message. (clang accepts ARRAY_SIZE() of a compound literal only if
 * all values in it are constant.)
 */
#define rpcrdma_kunit_say(fx, ...)					\
	rpcrdma_kunit_words(fx, (const u32[]) { __VA_ARGS__ },		\
			    sizeof((const u32[]) { __VA_ARGS__ }) /	\
			    sizeof(u32))

void rpcrdma_kunit_seg(struct rpcrdma_kunit *fx, u32 handle, u32 length,
		       u64 offset);

void *rpcrdma_kunit_exact(struct rpcrdma_kunit *fx, const void *data, u32 len);
u8 *rpcrdma_kunit_whole(struct rpcrdma_kunit *fx, enum rpcrdma_vector_id id,
			u32 *len);
enum rpcrdma_verdict rpcrdma_kunit_decode_lists(struct rpcrdma_kunit *fx,
						u32 *offset);
enum rpcrdma_verdict rpcrdma_kunit_decode_call(struct rpcrdma_kunit *fx,
					       const void *data, u32 len);
enum rpcrdma_verdict rpcrdma_kunit_decode_reply(struct rpcrdma_kunit *fx,
						const void *data, u32 len);
enum rpcrdma_verdict rpcrdma_kunit_server2(struct rpcrdma_kunit *fx,
					   const void *data, u32 len);
enum rpcrdma_verdict rpcrdma_kunit_client2(struct rpcrdma_kunit *fx,
					   const void *data, u32 len,
					   unsigned int flags);
void rpcrdma_kunit_random_call(struct rpcrdma_kunit *fx,
			       struct rpcrdma_kunit_call *rand);
u32 rpcrdma_kunit_segs(const struct rpcrdma_lists *lists,
		       const struct rpcrdma_chunk *chunk,
		       struct rpcrdma_segment *segs, u32 max);

#endif /* RPCRDMA_KUNIT_H */
