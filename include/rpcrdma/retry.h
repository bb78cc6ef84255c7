/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Healing: what a requester does differently after an error of version 2.
 */
#ifndef RPCRDMA_RETRY_H
#define RPCRDMA_RETRY_H

#include <linux/types.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/wire.h>

/**
 * struct rpcrdma_heal - what an RPC has learned from errors
 * @he_tried: bit N is set if the remedy for error code N has been used up
 * @he_segs: segments in a chunk at most; 0: as many as it takes
 * @he_write_len: bytes the Write chunk has to hold; 0: as estimated
 * @he_no_read: no Read chunk: a Call that is not inline is a Long Call
 * @he_no_write: no Write chunk: a Reply that is not inline is a Long Reply
 * @he_reply_chunk: provide a Reply chunk, as large as it can be
 *
 * All zero for an RPC that has had no error.
 */
struct rpcrdma_heal {
	u32		he_tried;
	u32		he_segs;
	u32		he_write_len;
	bool		he_no_read;
	bool		he_no_write;
	bool		he_reply_chunk;
};

/**
 * struct rpcrdma_heal_args - what the Call was like that met an error
 * @ha_call: its form
 * @ha_reply: what it provided for the Reply
 * @ha_segs: segments of its largest chunk
 * @ha_write_len: bytes of its Write chunk
 * @ha_write_max: bytes the upper layer has room for in place of it
 * @ha_reply_len: bytes of its Reply chunk
 * @ha_reply_max: bytes of Reply the upper layer has room for
 */
struct rpcrdma_heal_args {
	enum rpcrdma_call_form	ha_call;
	enum rpcrdma_reply_form	ha_reply;
	u32			ha_segs;
	u32			ha_write_len;
	u32			ha_write_max;
	u32			ha_reply_len;
	u32			ha_reply_max;
};

bool rpcrdma_heal(struct rpcrdma_heal *heal, const struct rpcrdma_hdr *hdr,
		  const struct rpcrdma_heal_args *args);

#endif /* RPCRDMA_RETRY_H */
