/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that all targets share: choices that are read from the input, checks, and
 * messages.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/types.h>
#include <linux/unaligned.h>

#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

#include "../../kunit/accept.h"

/* A target runs one input. If it finds a fault, CHECK() or a sanitizer ends the program. */
typedef void fuzz_target(const u8 *data, size_t size);

fuzz_target fuzz_v1_call, fuzz_v1_reply, fuzz_v1_trip, fuzz_v1_error;
fuzz_target fuzz_v2_server, fuzz_v2_client, fuzz_v2_trip, fuzz_v2_ctl;
fuzz_target fuzz_v2_negotiate, fuzz_v2_retry;
fuzz_target fuzz_rtx_msg, fuzz_rtx_group, fuzz_rtx_layout;
fuzz_target fuzz_chunk, fuzz_items, fuzz_head, fuzz_payload;
fuzz_target fuzz_props, fuzz_credit, fuzz_plan, fuzz_size;
fuzz_target fuzz_grant, fuzz_need;
fuzz_target fuzz_paths, fuzz_path;

void fuzz_failed(const char *file, int line, const char *what);

#define CHECK(expr) \
	do { \
		if (!(expr)) \
			fuzz_failed(__FILE__, __LINE__, #expr); \
	} while (0)

/* Choices are read from the input. At its end, all further choices are 0. */
struct fuzz_in {
	const u8	*fi_pos;
	size_t		fi_left;
};

u8 fuzz_u8(struct fuzz_in *in);
u32 fuzz_u32(struct fuzz_in *in);
/* Returns any u32. Small values and values close to U32_MAX are more likely than others. */
u32 fuzz_num(struct fuzz_in *in);

/*
 * Number of bytes at the end of an input that begins with a message. The target makes its
 * choices from these bytes. So a message from the wire, followed by zeros, is a good first
 * input.
 */
#define FUZZ_CHOICES	16u

struct fuzz_in fuzz_choices(const u8 *data, size_t *size);

/* Returns a copy with nothing behind it, so that ASan finds each access beyond the end. */
void *fuzz_exact(const void *data, size_t size);

static inline u32 fuzz_word(const u8 *msg, u32 index)
{
	return get_unaligned_be32(msg + 4 * index);
}

/* fuzz_lists.c */
void fuzz_lists_walk(const struct rpcrdma_lists *lists);
void fuzz_lists_walk_spoilt(const struct rpcrdma_lists *lists);
void fuzz_lists_same(const struct rpcrdma_lists *a,
		     const struct rpcrdma_lists *b);
bool fuzz_lists_none(const struct rpcrdma_lists *lists);
bool fuzz_reads_sorted(const u8 *msg, u32 begin);
void fuzz_chunk_filled(const struct rpcrdma_lists *lists,
		       const struct rpcrdma_chunk *chunk,
		       const struct rpcrdma_chunk_out *offer,
		       u32 written);
bool fuzz_chunk_plausible(const struct rpcrdma_lists *lists,
			  const struct rpcrdma_chunk *chunk,
			  const struct rpcrdma_chunk_out *offer);

/* fuzz_chunk.c */
void fuzz_parts_item(const struct rpcrdma_lists *lists,
		     const struct rpcrdma2_item *item, u32 body_len,
		     u32 max_len);

/* fuzz_call.c */

/* More chunks and segments than a receiver accepts, so that both sides of its limits are
 * tested
 */
#define FUZZ_CHUNKS	(RPCRDMA_MAX_CHUNKS + 2)
#define FUZZ_SEGS	(RPCRDMA_MAX_SEGS + 2)

/* A Call to be sent, with its chunks and segments. It is too large for the stack. */
struct fuzz_call {
	struct rpcrdma_call_out		fc_out;
	struct rpcrdma_chunk_out	fc_read[FUZZ_CHUNKS];
	struct rpcrdma_chunk_out	fc_write[FUZZ_CHUNKS];
	struct rpcrdma_chunk_out	fc_reply;
	struct rpcrdma_segment		fc_seg[(2 * FUZZ_CHUNKS + 1) *
					       FUZZ_SEGS];
	u32				fc_nsegs;
};

void fuzz_call_copy(struct fuzz_call *call,
		    const struct rpcrdma_hdr *hdr);
void fuzz_call_make(struct fuzz_call *call, struct fuzz_in *in);
u32 fuzz_call_len(const struct rpcrdma_call_out *out);
bool fuzz_call_valid(const struct rpcrdma_call_out *out);
bool fuzz_call_acceptable(const struct rpcrdma_call_out *out);
u32 fuzz_single_handle(const struct fuzz_call *call);

#define FUZZ_RPC_LEN	8u	/* XID and direction, which are all that the codec reads */

u8 *fuzz_msg_make(const u8 *hdr, u32 *len, u32 xid, u32 proc, u32 type);

#endif /* FUZZ_H */
