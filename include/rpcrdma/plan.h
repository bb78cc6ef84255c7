/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plans: choose the form of a Call and of its Reply. The choice depends only on the limits of the
 * connection and on what struct rpcrdma_plan_args says about the RPC: lengths, numbers of segments
 * and a few flags. This code does not touch pages, memory regions or work requests. Here an *item*
 * is DDP-eligible data of a message, however it travels. See rtx.h for the terms of the round-trip
 * extension: transmission, group, stream, placed.
 */
#ifndef RPCRDMA_PLAN_H
#define RPCRDMA_PLAN_H

#include <linux/types.h>
#include <rpcrdma/props.h>
#include <rpcrdma/wire.h>

/* Maximum number of Receives that a Call offers for its Reply (RTX-98) */
#define RPCRDMA_PLAN_REPLIES	8u

/* If an item has at least this many bytes (two pages of 4096 bytes) and may be placed (rtx.h), a
 * group is preferred to RDMA2_MSG, because the server then need not copy the item (RTX-94). A
 * shorter item is placed only if the Call is a group for another reason: the Call does not fit
 * RDMA2_MSG, or its Reply may take several Receives.
 */
#define RPCRDMA_PLAN_PLACED	8192u

/* Maximum length of an item in bytes: that of the largest WRITE */
#define RPCRDMA_PLAN_MOST		1048576u

/* See rpcrdma_plan_write_max(). The figures are those of rtx.rst 6.1, in microseconds, with one for
 * 1000 instructions: the cost of a transmission beyond the first; the work that Sends save, on both
 * sides together; waking a thread, and registering memory. 1 us more for each transmission is the
 * cost of copying this many bytes at both ends.
 */
#define RPCRDMA_PLAN_SEND		5u
#define RPCRDMA_PLAN_SAVED		30u
#define RPCRDMA_PLAN_WAKE		6u
#define RPCRDMA_PLAN_COPY		4096u
#define RPCRDMA_PLAN_NEAR		131072u
#define RPCRDMA_PLAN_NEAR_COPIED	16384u
#define RPCRDMA_PLAN_FAR		200u

/**
 * enum rpcrdma_call_form - how the Call travels
 * @RPCRDMA_CALL_INLINE: Short Message
 * @RPCRDMA_CALL_READ: inline, except for the eligible item, which is in a Read chunk
 * @RPCRDMA_CALL_LONG: RDMA_NOMSG with a Position Zero chunk
 * @RPCRDMA_CALL_GROUP: RDMA2_RTX_MSG (rtx.h): the whole Call in one or several transmissions,
 *	with the eligible item in the payload stream, or placed after the stream
 */
enum rpcrdma_call_form {
	RPCRDMA_CALL_INLINE,
	RPCRDMA_CALL_READ,
	RPCRDMA_CALL_LONG,
	RPCRDMA_CALL_GROUP,
};

/**
 * enum rpcrdma_reply_form - what the Call provides for its Reply
 * @RPCRDMA_REPLY_INLINE: nothing, because the largest Reply fits inline
 * @RPCRDMA_REPLY_WRITE: a Write chunk for the eligible result
 * @RPCRDMA_REPLY_LONG: a Reply chunk for the whole Reply
 * @RPCRDMA_REPLY_GROUP: several Receives for the Reply. The Call must then be a group (rtx.h),
 *	which may consist of one transmission
 */
enum rpcrdma_reply_form {
	RPCRDMA_REPLY_INLINE,
	RPCRDMA_REPLY_WRITE,
	RPCRDMA_REPLY_LONG,
	RPCRDMA_REPLY_GROUP,
};

/**
 * struct rpcrdma_plan_rtx - limits for a Call or Reply that is a group (rtx.h)
 * @px_peer: the server's property RTX
 * @px_more: maximum number of transmissions of the Call beyond the first, that is, of credits
 *	that it could take now beyond its first
 * @px_spare: maximum number of Receives for the Reply beyond the first, that is, of spare
 *	Receives that the Call could take now
 * @px_long_max: a Call that has no item, or none that may leave the stream, can be a group only
 *	if the Call has at most this many bytes
 * @px_write_max: any other Call can be a group only if its item has at most this many bytes
 * @px_send: maximum length in bytes of a transmission with placed data, see
 *	rpcrdma_layout_reach(); 0 if no item can be placed, and items stay in the stream
 * @px_gather: maximum number of target segments that one Send can fill directly from the
 *	pages with this Call's item; 0 if the item has to be copied
 */
struct rpcrdma_plan_rtx {
	struct rpcrdma2_rtx	px_peer;
	u32			px_more;
	u32			px_spare;
	u32			px_long_max;
	u32			px_write_max;
	u32			px_send;
	u32			px_gather;
};

/**
 * struct rpcrdma_plan_args - what a requester knows about an RPC
 * @pa_call_len: length of the unreduced Call in bytes
 * @pa_call_item: length of its eligible item in bytes, with roundup; 0 if it has none
 * @pa_call_data: length of that item in bytes, without roundup
 * @pa_reply_max: length of the largest unreduced Reply in bytes
 * @pa_reply_item: length of the Reply's eligible item in bytes, with roundup; 0 if it has none
 * @pa_call_item_segs: largest number of segments that a chunk for the Call's item may take
 * @pa_call_segs: largest number of segments that a chunk for the whole Call may take
 * @pa_reply_item_segs: largest number of segments that a chunk for the Reply's item may take,
 *	including a segment for roundup if the server may require one (G-03)
 * @pa_reply_segs: largest number of segments that a chunk for the whole Reply may take
 * @pa_reduce: the security flavour allows items to leave the stream (G-27)
 * @pa_no_long: the server does not know the header type of a Long Call
 * @pa_no_read: the server has refused a Read chunk
 * @pa_reply_chunk: the Call must provide a Reply chunk
 * @pa_call_foreign: the CPU must not access the pages with the Call's item (see below)
 * @pa_reply_foreign: the CPU must not access the pages for the Reply's item
 * @pa_rtx: limits for groups; NULL if only base form (without the round-trip extension) is
 *	possible
 */
struct rpcrdma_plan_args {
	u32		pa_call_len;
	u32		pa_call_item;
	u32		pa_call_data;
	u32		pa_reply_max;
	u32		pa_reply_item;
	u32		pa_call_item_segs;
	u32		pa_call_segs;
	u32		pa_reply_item_segs;
	u32		pa_reply_segs;
	bool		pa_reduce;
	bool		pa_no_long;
	bool		pa_no_read;
	bool		pa_reply_chunk;
	bool		pa_call_foreign;
	bool		pa_reply_foreign;
	const struct rpcrdma_plan_rtx *pa_rtx;
};

/**
 * struct rpcrdma_plan - the forms chosen for an RPC
 * @pl_call: form of the Call
 * @pl_reply: what the Call provides for the Reply
 * @pl_hdr_max: maximum length in bytes of the Call's transport header (if the Call is a group,
 *	of the header of its first transmission)
 * @pl_count: number of Sends of the Call, and also of credits that it takes
 * @pl_replies: number of Receives for the largest Reply
 * @pl_limit: in a group (rtx.h), maximum length of a transmission in bytes
 * @pl_placed: in a group, length of the item that is placed, in bytes; 0 if no item is placed
 * @pl_gathered: in a group, 0 if no item is placed, or if the placed item is copied. Otherwise
 *	Sends read it directly from the pages of the RPC, and each Send fills at most this number
 *	of target segments.
 * @pl_buf: in a group, number of bytes that the buffer of each Send must have
 * @pl_short: the Call or its Reply would have been planned as a group, but there were too few
 *	credits, spare Receives, Sends or send queue entries, or too little memory
 */
struct rpcrdma_plan {
	enum rpcrdma_call_form	pl_call;
	enum rpcrdma_reply_form	pl_reply;
	u32			pl_hdr_max;
	u32			pl_count;
	u32			pl_replies;
	u32			pl_limit;
	u32			pl_placed;
	u32			pl_gathered;
	u32			pl_buf;
	bool			pl_short;
};

/**
 * struct rpcrdma_retry - how the next Call of an RPC must differ because of earlier errors
 * @ry_no_read: use no Read chunk, except a Position Zero chunk
 * @ry_reply_chunk: provide a Reply chunk of the largest possible size, and no Write chunk
 * @ry_base: use nothing of the round-trip extension (rtx.h)
 *
 * All members are false for an RPC that has had no error.
 */
struct rpcrdma_retry {
	bool		ry_no_read;
	bool		ry_reply_chunk;
	bool		ry_base;
};

/*
 * Foreign pages: the CPU must not access the memory that these pages stand for, because it is
 * memory of another device (client/frwr.c). So an item in foreign pages goes in a chunk of its
 * own, and no inline part of a message is read from or written to these pages. The other forms of
 * a message are excluded for these reasons:
 *
 * - In an inline message or a group, an item is copied, or the device of the connection reads it
 *   from pages that were mapped like ordinary memory.
 * - If the head of a Long Reply is shorter than expected, its data does not begin where the pages
 *   begin, and sunrpc moves the data there. A Long Call is excluded only to have one rule.
 *
 * If an item can have no chunk of its own, the RPC fails.
 */

/**
 * rpcrdma_plan_touches_call - does a plan let the CPU access the pages with a Call's item?
 * @plan: plan of the Call
 *
 * Context: any.
 * Return: true if it does. Such a plan must not be used if these pages are foreign.
 */
static inline bool rpcrdma_plan_touches_call(const struct rpcrdma_plan *plan)
{
	return plan->pl_call != RPCRDMA_CALL_READ;
}

/**
 * rpcrdma_plan_touches_reply - does a plan let the CPU access the pages for a Reply's item?
 * @plan: plan of the Call
 *
 * Context: any.
 * Return: true if it does. Such a plan must not be used if these pages are foreign.
 */
static inline bool rpcrdma_plan_touches_reply(const struct rpcrdma_plan *plan)
{
	return plan->pl_reply != RPCRDMA_REPLY_WRITE;
}

/**
 * enum rpcrdma_answer_form - how a responder's Reply travels
 * @RPCRDMA_ANSWER_INLINE: as RDMA_MSG, with an inline body
 * @RPCRDMA_ANSWER_GROUP: as a group (rtx.h); possible only if the Call was a group
 * @RPCRDMA_ANSWER_LONG: as RDMA_NOMSG, with the body in the Reply chunk
 * @RPCRDMA_ANSWER_ERROR: not at all, because it does not fit where it must go; the responder
 *	sends an error instead (G-13)
 */
enum rpcrdma_answer_form {
	RPCRDMA_ANSWER_INLINE,
	RPCRDMA_ANSWER_GROUP,
	RPCRDMA_ANSWER_LONG,
	RPCRDMA_ANSWER_ERROR,
};

int rpcrdma_plan_rpc(const struct rpcrdma_limits *limits,
		     const struct rpcrdma_plan_args *args,
		     struct rpcrdma_plan *plan);
bool rpcrdma_plan_retry(struct rpcrdma_retry *retry,
			const struct rpcrdma_hdr *hdr,
			const struct rpcrdma_plan *plan, u32 had, u32 most);
enum rpcrdma_answer_form
rpcrdma_plan_answer(const struct rpcrdma_limits *limits, u32 hdr_len,
		    u32 body_len, u32 reply_chunk_len, bool prefer_inline);
u32 rpcrdma_plan_write_max(const struct rpcrdma2_rtx *peer, u32 send, u32 rtt,
			   u32 fixed);

#endif /* RPCRDMA_PLAN_H */
