/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: one RPC message in one or several transmissions. core/group.c decides how a receiver
 * assembles a group, how a sender divides a message among transmissions (its *layout*), and when a
 * sender may send a group. It handles numbers, not buffers. See rtx.h for the terms. A *data part*
 * is the placed data in one transmission.
 */
#ifndef RPCRDMA_GROUP_H
#define RPCRDMA_GROUP_H

#include <linux/types.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/rtx.h>

/**
 * struct rpcrdma_layout - how a sender divides a message among the transmissions of a group
 *	(rtx.h)
 * @ly_hdr: length of the header of the first transmission in bytes
 * @ly_limit: maximum length of a transmission in bytes, at most the sender's largest Send and
 *	the receiver's RBSIZ
 * @ly_stream: number of bytes of payload stream
 * @ly_data: length of the item in bytes; 0 if there is none
 * @ly_head: offset of the placed data in a transmission, if there is an item
 * @ly_part: maximum length of the placed data in a transmission in bytes, if there is an item
 * @ly_number: number of transmissions made so far
 * @ly_sent: number of bytes of stream in these transmissions
 * @ly_placed: number of bytes of placed data in these transmissions
 *
 * The caller sets the first three members, and sets the others to zero. If there is an item,
 * rpcrdma_layout_place() sets the next three. rpcrdma_layout_next() changes the last three.
 */
struct rpcrdma_layout {
	u32		ly_hdr;
	u32		ly_limit;
	u32		ly_stream;
	u32		ly_data;
	u32		ly_head;
	u32		ly_part;
	u32		ly_number;
	u32		ly_sent;
	u32		ly_placed;
};

/**
 * struct rpcrdma_outgoing - a transmission (one Send of a group, see rtx.h) to be sent
 * @og_hdr: length of the header in bytes
 * @og_tx: the transmission; rpcrdma_layout_next() sets tx_number, tx_offset, tx_here and tx_data,
 *	and the caller sets the other members
 * @og_part: length of the placed data in bytes. The data begins at offset tx_data, and the
 *	bytes between the stream and the data are zero.
 * @og_len: length of the transmission in bytes
 */
struct rpcrdma_outgoing {
	u32				og_hdr;
	struct rpcrdma2_transmission	og_tx;
	u32				og_part;
	u32				og_len;
};

/**
 * struct rpcrdma_group - the group (rtx.h) that a connection is receiving
 * @gr_response: F_RESPONSE of the first transmission
 * @gr_ragged: the placed data in the latest transmission with data did not fill its last target
 *	segment, so no further data may follow (RTX-59)
 * @gr_xid: XID of the group
 * @gr_count: number of transmissions in the group
 * @gr_number: number of the next expected transmission, counted from 0
 * @gr_stream: number of bytes of payload stream in the group
 * @gr_here: number of bytes of payload stream that have arrived
 * @gr_data: number of bytes of placed data that have arrived
 *
 * Each connection has one such structure, for forward and backward messages together (RTX-47). It
 * is all zero at first. If a group is complete, the members keep their values until the next group
 * begins. The caller serialises all access.
 */
struct rpcrdma_group {
	bool		gr_response;
	bool		gr_ragged;
	u32		gr_xid;
	u32		gr_count;
	u32		gr_number;
	u32		gr_stream;
	u32		gr_here;
	u64		gr_data;
};

/**
 * struct rpcrdma_group_limits - limits of the groups (rtx.h) that a receiver accepts
 * @gl_ours: the property RTX that we have announced
 * @gl_replies: maximum number of Receives that a Call of ours offers for its Reply (rtx_replies)
 */
struct rpcrdma_group_limits {
	struct rpcrdma2_rtx	gl_ours;
	u32			gl_replies;
};

/**
 * enum rpcrdma_group_does - what to do with a Receive that has completed
 * @RPCRDMA_GROUP_PASS: handle the message in it as if there were no round-trip extension. The
 *	message is not a transmission of a group (rtx.h); or it is a transmission of a Call, and we
 *	have not announced that we accept Calls as groups (RTX-37).
 * @RPCRDMA_GROUP_KEEP: hold it, together with the earlier Receives of its group, if there are any
 * @RPCRDMA_GROUP_WHOLE: as %RPCRDMA_GROUP_KEEP; the group is then complete, so pass the message
 *	to the owner of the connection
 * @RPCRDMA_GROUP_BROKEN: it breaks the open group; or it is a transmission of a group, and is not
 *	valid or belongs to no group. Close the connection, and handle nothing that arrives on it
 *	any more (RTX-48)
 */
enum rpcrdma_group_does {
	RPCRDMA_GROUP_PASS,
	RPCRDMA_GROUP_KEEP,
	RPCRDMA_GROUP_WHOLE,
	RPCRDMA_GROUP_BROKEN,
};

enum rpcrdma_group_does
rpcrdma_group_take(struct rpcrdma_group *group,
		   const struct rpcrdma_group_limits *limits,
		   const struct rpcrdma2_transmission *tx);
enum rpcrdma_verdict
rpcrdma_group_check(const struct rpcrdma_group *group,
		    const struct rpcrdma_group_limits *limits, u32 item);

u32 rpcrdma_layout_reach(const struct rpcrdma2_rtx *peer, u32 most);
u32 rpcrdma_layout_gather(u32 sges, u32 offset, u32 page_size, u32 seg);

bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs, u32 item);
bool rpcrdma_layout_next(struct rpcrdma_layout *layout,
			 struct rpcrdma_outgoing *out);
u32 rpcrdma_layout_count(const struct rpcrdma_layout *layout, u32 most);

u32 rpcrdma_group_call(const struct rpcrdma_layout *layout,
		       const struct rpcrdma2_rtx *peer);
u32 rpcrdma_group_replies(u32 reply_max, u32 recv_size, u32 extra, u32 most);
enum rpcrdma_answer_form
rpcrdma_group_answer(const struct rpcrdma_layout *layout, u32 hdr, u32 chunk,
		     u32 most, u32 *number);

#endif /* RPCRDMA_GROUP_H */
