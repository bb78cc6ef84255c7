/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: one RPC message in several transmissions, in numbers. How a receiver
 * puts a group together, and when a sender may send one.
 */
#ifndef RPCRDMA_GROUP_H
#define RPCRDMA_GROUP_H

#include <linux/types.h>
#include <rpcrdma/layout.h>
#include <rpcrdma/rtx.h>

/**
 * enum rpcrdma_group_state - where the receiver of a connection is
 * @RPCRDMA_GROUP_IDLE: in no group
 * @RPCRDMA_GROUP_OPEN: what has arrived of a group is held
 * @RPCRDMA_GROUP_SWALLOWING: a group is broken, nothing of it is held, and what
 *	still comes of it is given back until it ends
 */
enum rpcrdma_group_state {
	RPCRDMA_GROUP_IDLE,
	RPCRDMA_GROUP_OPEN,
	RPCRDMA_GROUP_SWALLOWING,
};

/**
 * struct rpcrdma_group - the group that a connection receives
 * @gr_state: where it is
 * @gr_response: F_RESPONSE of the first transmission
 * @gr_ragged: the last data part was no multiple of a segment
 * @gr_xid: its XID
 * @gr_credit: its rdma_credit: a Reply's grant, once it is complete (RTX-80)
 * @gr_count: transmissions of the group
 * @gr_number: number of the transmission that is due
 * @gr_stream: bytes of payload stream in the group
 * @gr_here: bytes of it that have arrived
 * @gr_data: bytes of data that have arrived
 * @gr_verdict: what is wrong with it
 *
 * One for each connection, both directions together (RTX-47). All zero at
 * first. Once a group is complete the numbers stay until the next arrival.
 * The caller serialises all access.
 */
struct rpcrdma_group {
	enum rpcrdma_group_state	gr_state;
	bool				gr_response;
	bool				gr_ragged;
	u32				gr_xid;
	u32				gr_credit;
	u32				gr_count;
	u32				gr_number;
	u32				gr_stream;
	u32				gr_here;
	u64				gr_data;
	enum rpcrdma_verdict		gr_verdict;
};

/**
 * struct rpcrdma_group_limits - what a receiver takes
 * @gl_ours: the property that we have announced
 * @gl_replies: the most that we ever say in rtx_replies of a Call
 */
struct rpcrdma_group_limits {
	struct rpcrdma2_rtx	gl_ours;
	u32			gl_replies;
};

/**
 * enum rpcrdma_group_does - what becomes of the Receive that has arrived
 * @RPCRDMA_GROUP_PASS: it is no transmission of a group: handle it as ever
 * @RPCRDMA_GROUP_KEEP: hold it, behind those of the group that are held
 * @RPCRDMA_GROUP_WHOLE: the same, and the group is complete: hand it up
 * @RPCRDMA_GROUP_RETURN: give it back: it belongs to a broken group
 * @RPCRDMA_GROUP_STRAY: give it back and count it: it belongs to no group
 */
enum rpcrdma_group_does {
	RPCRDMA_GROUP_PASS,
	RPCRDMA_GROUP_KEEP,
	RPCRDMA_GROUP_WHOLE,
	RPCRDMA_GROUP_RETURN,
	RPCRDMA_GROUP_STRAY,
};

/**
 * struct rpcrdma_group_end - a group has ended that was never complete
 * @ge_xid: its XID
 * @ge_response: clear: answer @ge_verdict, see rpcrdma2_refusal(). Set: the RPC
 *	with this XID ends with an error, if it is in flight (RTX-51)
 * @ge_verdict: what was wrong with it
 */
struct rpcrdma_group_end {
	u32			ge_xid;
	bool			ge_response;
	enum rpcrdma_verdict	ge_verdict;
};

/* One arrival breaks the open group, and is a group without an end itself */
#define RPCRDMA_GROUP_ENDS	2u

/**
 * struct rpcrdma_group_step - what to do about an arrival, in this order
 * @gs_release: give back all Receives that are held
 * @gs_nends: entries of @gs_ends
 * @gs_ends: groups that have ended
 * @gs_close: close the connection
 * @gs_does: what becomes of the Receive that has arrived
 */
struct rpcrdma_group_step {
	bool				gs_release;
	u32				gs_nends;
	struct rpcrdma_group_end	gs_ends[RPCRDMA_GROUP_ENDS];
	bool				gs_close;
	enum rpcrdma_group_does		gs_does;
};

/**
 * enum rpcrdma_group_form - how a Reply travels to a Call that came as a group
 * @RPCRDMA_GROUP_FORM_MSG: RDMA2_MSG
 * @RPCRDMA_GROUP_FORM_GROUP: a group
 * @RPCRDMA_GROUP_FORM_CHUNK: RDMA2_NOMSG, and the body in the Reply chunk
 * @RPCRDMA_GROUP_FORM_ERROR: it fits nowhere: REPLY_RESOURCE
 */
enum rpcrdma_group_form {
	RPCRDMA_GROUP_FORM_MSG,
	RPCRDMA_GROUP_FORM_GROUP,
	RPCRDMA_GROUP_FORM_CHUNK,
	RPCRDMA_GROUP_FORM_ERROR,
};

/**
 * struct rpcrdma_group_answer - what a responder knows about such a Reply
 * @gw_layout: the Reply as a group
 * @gw_replies: rtx_replies of the Call
 * @gw_reply_max: transmissions of a Reply that we have announced
 * @gw_hdr: bytes of the header in base form
 * @gw_body: bytes of the body in base form
 * @gw_chunk: bytes of the Reply chunk; 0: none
 */
struct rpcrdma_group_answer {
	struct rpcrdma_layout	gw_layout;
	u32			gw_replies;
	u32			gw_reply_max;
	u32			gw_hdr;
	u32			gw_body;
	u32			gw_chunk;
};

void rpcrdma_group_take(struct rpcrdma_group *group,
			const struct rpcrdma_group_limits *limits,
			const struct rpcrdma2_transmission *tx,
			struct rpcrdma_group_step *step);
enum rpcrdma_verdict
rpcrdma_group_judge(const struct rpcrdma_group *group,
		    const struct rpcrdma_group_limits *limits,
		    const struct rpcrdma2_item *items, u32 nitems);

u32 rpcrdma_group_call(const struct rpcrdma_layout *layout,
		       const struct rpcrdma2_rtx *peer);
bool rpcrdma_group_credits(u32 grant, u32 used, u32 more, u32 count);
u32 rpcrdma_group_replies(u32 reply_max, u32 recv_size, u32 extra, u32 most);
enum rpcrdma_group_form
rpcrdma_group_answer(const struct rpcrdma_group_answer *args, u32 *number);

#endif /* RPCRDMA_GROUP_H */
