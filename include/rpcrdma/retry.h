/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retrying: what a requester does differently after an error of version 2.
 */
#ifndef RPCRDMA_RETRY_H
#define RPCRDMA_RETRY_H

#include <linux/types.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/wire.h>

/**
 * struct rpcrdma_retry - what an RPC has learned from errors
 * @ry_tried: bit N is set if the remedy for error code N has been used up
 * @ry_segs: segments in a chunk at most; 0: as many as it takes
 * @ry_write_len: bytes the Write chunk has to hold; 0: as estimated
 * @ry_no_read: no Read chunk: a Call that is not inline is a Long Call
 * @ry_no_write: no Write chunk: a Reply that is not inline is a Long Reply
 * @ry_reply_chunk: provide a Reply chunk, as large as it can be
 * @ry_base: nothing of the round-trip extension
 *
 * All zero for an RPC that has had no error.
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
 * struct rpcrdma_retry_args - what the Call was like that met an error
 * @rg_call: its form
 * @rg_reply: what it provided for the Reply
 * @rg_segs: segments of its largest chunk
 * @rg_write_len: bytes of its Write chunk
 * @rg_write_max: bytes the upper layer has room for in place of it
 * @rg_reply_len: bytes of its Reply chunk
 * @rg_reply_max: bytes of Reply the upper layer has room for
 * @rg_rtx: it was in the form of the round-trip extension
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
