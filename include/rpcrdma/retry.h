/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retrying: how a requester changes a Call after an error of version 2.
 */
#ifndef RPCRDMA_RETRY_H
#define RPCRDMA_RETRY_H

#include <linux/types.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/wire.h>

/**
 * struct rpcrdma_retry - how the next Call of an RPC must differ because of earlier errors
 * @ry_tried: bit N is set if the remedy for error code N has been tried. (The errors whose
 *	remedy is @ry_base have no bit.) Each remedy is tried at most once for an RPC.
 * @ry_segs: maximum number of segments in a chunk; 0 if there is no limit
 * @ry_write_len: the Write chunk must have at least this many bytes; 0 if there is no
 *	minimum
 * @ry_no_read: use no Read chunk, except a Position Zero chunk
 * @ry_no_write: use no Write chunk
 * @ry_reply_chunk: provide a Reply chunk of the largest possible size
 * @ry_base: use nothing of the round-trip extension (rtx.h)
 *
 * All members are zero for an RPC that has had no error.
 */
struct rpcrdma_retry {
	u32		ry_tried;
	u32		ry_segs;
	u32		ry_write_len;
	bool		ry_no_read;
	bool		ry_no_write;
	bool		ry_reply_chunk;
	bool		ry_base;
};

/**
 * struct rpcrdma_retry_args - the Call that was answered with an error
 * @rg_call: form of the Call
 * @rg_reply: what the Call provided for the Reply
 * @rg_segs: number of segments in that chunk of the Call that has the most segments
 * @rg_write_len: size of its Write chunk in bytes
 * @rg_write_max: largest possible size of a Write chunk: the upper layer's room for the
 *	Reply's item, in bytes
 * @rg_reply_len: size of its Reply chunk in bytes
 * @rg_reply_max: largest possible size of a Reply chunk: the upper layer's room for the
 *	Reply, in bytes
 * @rg_rtx: the Call was a group of the round-trip extension
 */
struct rpcrdma_retry_args {
	enum rpcrdma_call_form	rg_call;
	enum rpcrdma_reply_form	rg_reply;
	u32			rg_segs;
	u32			rg_write_len;
	u32			rg_write_max;
	u32			rg_reply_len;
	u32			rg_reply_max;
	bool			rg_rtx;
};

bool rpcrdma_retry(struct rpcrdma_retry *retry, const struct rpcrdma_hdr *hdr,
		   const struct rpcrdma_retry_args *args);
bool rpcrdma_retry_ends_rtx(const struct rpcrdma_hdr *hdr,
			    const struct rpcrdma_retry_args *args);

#endif /* RPCRDMA_RETRY_H */
