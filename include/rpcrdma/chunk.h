/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on chunk lists. These functions find out, for example, whether the chunks of a
 * received Call are valid, which bytes of a message are inline and which are in a chunk, and how
 * many bytes a Reply returned in each chunk.
 */
#ifndef RPCRDMA_CHUNK_H
#define RPCRDMA_CHUNK_H

#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

/**
 * struct rpcrdma_part - a run of bytes of an unreduced RPC Call
 * @pt_chunk: the Read chunk that contains the run, or NULL
 * @pt_item: the placed item (rtx.h) that contains the run, or NULL. If @pt_chunk and @pt_item
 *	are both NULL, the run is in the body stream, that is, in the inline message or in
 *	the Position Zero chunk.
 * @pt_offset: offset of the run in the body stream, if the run is there
 * @pt_length: number of bytes in the run, without roundup
 * @pt_pad: number of zero bytes that the responder adds after the run: the roundup of an
 *	item (RTX-53), or of a chunk that came without its roundup (RFC 8166 3.4.5.2)
 */
struct rpcrdma_part {
	const struct rpcrdma_chunk	*pt_chunk;
	const struct rpcrdma2_item	*pt_item;
	u32				pt_offset;
	u32				pt_length;
	u32				pt_pad;
};

/**
 * struct rpcrdma_part_iter - a walk over the parts of a Call
 * @pi_lists: the Call's chunk lists
 * @pi_body_len: length of the body stream in bytes
 * @pi_body: number of bytes of the body stream visited so far
 * @pi_stream: number of bytes of the unreduced stream visited so far
 * @pi_next: index of the next Read chunk
 * @pi_item: placed item (rtx.h) of the Call; NULL if there is none, or it was visited
 */
struct rpcrdma_part_iter {
	const struct rpcrdma_lists	*pi_lists;
	const struct rpcrdma2_item	*pi_item;
	u32				pi_body_len;
	u32				pi_body;
	u32				pi_stream;
	u32				pi_next;
};

/**
 * struct rpcrdma_payload - the result that is returned in one Write chunk
 * @py_offset: offset of the result in the unreduced Reply
 * @py_length: length of the result in bytes, without roundup; 0 if the chunk is unused
 */
struct rpcrdma_payload {
	u32		py_offset;
	u32		py_length;
};

enum rpcrdma_verdict rpcrdma_lists_check_call(const struct rpcrdma_lists *lists,
					      const struct rpcrdma2_item *item,
					      u32 body_len, u32 max_len,
					      u32 *stream_len);
void rpcrdma_part_first(const struct rpcrdma_lists *lists,
			const struct rpcrdma2_item *item, u32 body_len,
			struct rpcrdma_part_iter *iter);
bool rpcrdma_part_next(struct rpcrdma_part_iter *iter,
		       struct rpcrdma_part *part);

bool rpcrdma_head_ends_well(u32 position, const void *msg, u32 len,
			    u32 max_head);
bool rpcrdma_lists_keep_head(const struct rpcrdma_lists *lists, const void *msg,
			     u32 len, u32 max_head);
u32 rpcrdma_lists_single_handle(const struct rpcrdma_lists *lists);

int rpcrdma_payload_assign(const struct rpcrdma_lists *lists,
			   struct rpcrdma_payload *payloads, u32 *used,
			   u32 offset, u32 length);
bool rpcrdma_payload_gap_next(const struct rpcrdma_payload *payloads, u32 n,
			      u32 stream_len, u32 *pos, u32 *offset,
			      u32 *length);
u32 rpcrdma_payload_body_len(const struct rpcrdma_payload *payloads, u32 n,
			     u32 stream_len);

enum rpcrdma_verdict
rpcrdma_lists_check_reply(const struct rpcrdma_hdr *hdr,
			  const struct rpcrdma_chunk_out *writes, u32 nwrites,
			  const struct rpcrdma_chunk_out *reply,
			  u32 *written, u32 *reply_len);

#endif /* RPCRDMA_CHUNK_H */
