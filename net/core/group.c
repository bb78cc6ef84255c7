// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: one RPC message in one or several transmissions (Sends). rtx.h explains the terms.
 *
 * A sender posts the transmissions of a group in order, and posts no other Send between them. Its
 * peer receives them in this order or not at all. So a receiver has at most one group at a time.
 * It assembles the group; or, if the group is broken, it waits until the rest of the group has
 * arrived.
 *
 * This file only computes with numbers, and holds no Receive. The caller reports each message
 * that arrives (an arrival). If the arrival is a transmission of a group, the caller passes its
 * header words. This file tells the caller whether to hold the arrival, to give back what is held,
 * or to pass the message on, and what to answer. It allocates no memory, however a peer divides its
 * message (RTX-84).
 *
 * The answer to a broken group is sent when the last transmission of the group has arrived, or when
 * a message has arrived that does not belong to the group. (If the first transmission is too short
 * to say how many follow, it counts as the last.) The answer returns the credits of all
 * transmissions, so their Receives must be posted again first (RTX-50). Numbers from a peer are
 * compared with limits before they are used. Sums that could overflow are computed in 64 bits.
 *
 * The rest of this file chooses forms: whether a Call may be sent as a group or takes base
 * form, which is version 2 without the extension, and which form its Reply takes.
 * core/layout.c divides messages.
 *
 * See RTX-40 to RTX-85 of rtx.rst.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/group.h>
#include <rpcrdma/layout.h>

#define RPCRDMA_GROUP_UNIT	4u	/* bytes of an XDR word */

/* Returns the length of the data part of a transmission: its bytes of items, and the zeros between
 * items. rpcrdma_group_bounds() has accepted the transmission.
 */
static u32 rpcrdma_group_part(const struct rpcrdma2_transmission *tx)
{
	return tx->tx_data ? tx->tx_len - tx->tx_data : 0;
}

/*
 * Do header, stream and data fit the length of the transmission? Data, if there is any,
 * begins at the first target segment of our Receives (RTX-45). The header of a first
 * transmission is not decoded yet, so @hdr_len is then only the minimum length of the header.
 */
static bool rpcrdma_group_bounds(const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx,
				 u32 hdr_len)
{
	u64 end = (u64)hdr_len + tx->tx_here;

	if (!tx->tx_data)
		return tx->tx_first ? end <= tx->tx_len : end == tx->tx_len;
	return tx->tx_data == limits->gl_ours.xp_head && end <= tx->tx_data &&
	       tx->tx_data < tx->tx_len;
}

/* Data must not extend beyond the target segments of our Receive (RTX-56). */
static bool rpcrdma_group_part_fits(const struct rpcrdma_group_limits *limits,
				    const struct rpcrdma2_transmission *tx)
{
	return rpcrdma_group_part(tx) <=
	       (u64)limits->gl_ours.xp_seg * limits->gl_ours.xp_nsegs;
}

/* The length of each piece of the stream except the last must be a multiple of 4 (RTX-43). */
static bool rpcrdma_group_piece_fits(u64 end, u32 stream)
{
	return end == stream ||
	       (end < stream && end % RPCRDMA_GROUP_UNIT == 0);
}

/* Compares a group with our limits. The limits of the property RTX are for Calls only. A Reply
 * must not have more than gl_replies transmissions, the largest number of Receives that any
 * Call of ours offers. Also checks that a Call offers at least one Receive for its Reply.
 */
static enum rpcrdma_verdict
rpcrdma_group_judge_size(const struct rpcrdma_group_limits *limits,
			 const struct rpcrdma2_transmission *tx)
{
	if (tx->tx_response)
		return tx->tx_count > limits->gl_replies ? RPCRDMA_BIG_GROUP :
							   RPCRDMA_OK;
	if (tx->tx_count > limits->gl_ours.xp_call_max ||
	    tx->tx_stream > limits->gl_ours.xp_msg_max)
		return RPCRDMA_BIG_GROUP;
	return tx->tx_replies ? RPCRDMA_OK : RPCRDMA_BAD_MSG;
}

static enum rpcrdma_verdict
rpcrdma_group_judge_first(const struct rpcrdma_group_limits *limits,
			  const struct rpcrdma2_transmission *tx)
{
	enum rpcrdma_verdict verdict;

	if (tx->tx_short)
		return RPCRDMA_BAD_LIST;
	if (!tx->tx_count || tx->tx_here < RPCRDMA2_RTX_RPC_MIN ||
	    !rpcrdma_group_piece_fits(tx->tx_here, tx->tx_stream) ||
	    (tx->tx_count == 1 && tx->tx_here != tx->tx_stream))
		return RPCRDMA_BAD_MSG;
	verdict = rpcrdma_group_judge_size(limits, tx);
	if (verdict)
		return verdict;
	if (!rpcrdma_group_bounds(limits, tx, RPCRDMA2_RTX_MSG_MIN))
		return RPCRDMA_BAD_MSG;
	return rpcrdma_group_part_fits(limits, tx) ? RPCRDMA_OK :
						     RPCRDMA_BAD_GROUP;
}

/* Is this the transmission that is due, and is it valid (RTX-46)? */
static bool rpcrdma_group_is_due(const struct rpcrdma_group *group,
				 const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx)
{
	u64 end = (u64)tx->tx_offset + tx->tx_here;

	if (tx->tx_short || tx->tx_number != group->gr_number ||
	    tx->tx_offset != group->gr_here ||
	    !rpcrdma_group_piece_fits(end, group->gr_stream))
		return false;
	if (!tx->tx_here && !tx->tx_data)
		return false;
	/* No data may follow a data part that ended inside a segment (RTX-59) */
	if (tx->tx_data && group->gr_ragged)
		return false;
	if (tx->tx_number == group->gr_count - 1 && end != group->gr_stream)
		return false;
	return rpcrdma_group_bounds(limits, tx, RPCRDMA2_RTX_NEXT_LEN) &&
	       rpcrdma_group_part_fits(limits, tx);
}

static void rpcrdma_group_add(struct rpcrdma_group *group,
			      const struct rpcrdma_group_limits *limits,
			      const struct rpcrdma2_transmission *tx)
{
	u32 part = rpcrdma_group_part(tx);

	group->gr_number++;
	group->gr_here += tx->tx_here;
	group->gr_data += part;
	if (part)
		group->gr_ragged = part % limits->gl_ours.xp_seg;
}

static void rpcrdma_group_end(struct rpcrdma_group *group,
			      struct rpcrdma_group_step *step)
{
	struct rpcrdma_group_end *end = &step->gs_ends[step->gs_nends++];

	end->ge_xid = group->gr_xid;
	end->ge_count = group->gr_count;
	end->ge_response = group->gr_response;
	end->ge_verdict = group->gr_verdict;
	group->gr_state = RPCRDMA_GROUP_IDLE;
}

/* The group can no longer become complete, so all its Receives are given back. */
static void rpcrdma_group_break(struct rpcrdma_group *group,
				struct rpcrdma_group_step *step)
{
	step->gs_release = true;
	group->gr_verdict = RPCRDMA_BAD_GROUP;
	group->gr_state = RPCRDMA_GROUP_SWALLOWING;
}

/*
 * Ends the group, if there is one, because a message has arrived that is no transmission of it
 * (RTX-48). More transmissions of the group may be on their way. If the group is a Reply, its
 * RPC ends now, and no Receives are reserved for these transmissions any more. So the
 * connection is closed (RTX-51).
 */
static void rpcrdma_group_cut(struct rpcrdma_group *group,
			      struct rpcrdma_group_step *step)
{
	if (group->gr_state == RPCRDMA_GROUP_IDLE)
		return;
	if (group->gr_state == RPCRDMA_GROUP_OPEN)
		rpcrdma_group_break(group, step);
	step->gs_close = group->gr_response;
	rpcrdma_group_end(group, step);
}

static void rpcrdma_group_open(struct rpcrdma_group *group,
			       const struct rpcrdma2_transmission *tx)
{
	static const struct rpcrdma_group none;

	*group = none;
	group->gr_xid = tx->tx_xid;
	group->gr_credit = tx->tx_credit;
	group->gr_response = tx->tx_response;
	group->gr_count = tx->tx_count;
	group->gr_stream = tx->tx_stream;
}

/*
 * Rejects a bad first transmission. If its header announces more transmissions, the Receives of
 * these are given back as they arrive. If it announces none, or is too short to tell, the group
 * ends now. But if a Reply has more than gl_replies transmissions, the group ends now in any case,
 * and the connection is closed (RTX-51).
 */
static void rpcrdma_group_reject(struct rpcrdma_group *group,
				 const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx,
				 struct rpcrdma_group_step *step)
{
	bool excess = tx->tx_response && !tx->tx_short &&
		      tx->tx_count > limits->gl_replies;

	step->gs_does = RPCRDMA_GROUP_RETURN;
	if (excess)
		step->gs_close = true;
	if (excess || tx->tx_short || tx->tx_count <= 1)
		rpcrdma_group_end(group, step);
	else
		group->gr_state = RPCRDMA_GROUP_SWALLOWING;
}

static void rpcrdma_group_first(struct rpcrdma_group *group,
				const struct rpcrdma_group_limits *limits,
				const struct rpcrdma2_transmission *tx,
				struct rpcrdma_group_step *step)
{
	rpcrdma_group_open(group, tx);
	group->gr_verdict = rpcrdma_group_judge_first(limits, tx);
	if (group->gr_verdict) {
		rpcrdma_group_reject(group, limits, tx, step);
		return;
	}
	rpcrdma_group_add(group, limits, tx);
	if (tx->tx_count == 1) {
		step->gs_does = RPCRDMA_GROUP_WHOLE;
	} else {
		step->gs_does = RPCRDMA_GROUP_KEEP;
		group->gr_state = RPCRDMA_GROUP_OPEN;
	}
}

/* Handles a following transmission with the XID and direction of the group. */
static void rpcrdma_group_follow(struct rpcrdma_group *group,
				 const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx,
				 struct rpcrdma_group_step *step)
{
	bool last = !tx->tx_short && tx->tx_number == group->gr_count - 1;

	if (group->gr_state == RPCRDMA_GROUP_OPEN) {
		if (rpcrdma_group_is_due(group, limits, tx)) {
			rpcrdma_group_add(group, limits, tx);
			step->gs_does = RPCRDMA_GROUP_KEEP;
			if (last) {
				step->gs_does = RPCRDMA_GROUP_WHOLE;
				group->gr_state = RPCRDMA_GROUP_IDLE;
			}
			return;
		}
		rpcrdma_group_break(group, step);
	}
	step->gs_does = RPCRDMA_GROUP_RETURN;
	if (last)
		rpcrdma_group_end(group, step);
}

/**
 * rpcrdma_group_take - decide what to do with an arrival on a connection
 * @group: the connection's group
 * @limits: limits of the groups that we accept
 * @tx: header fields of the arrival; NULL if rpcrdma2_peek_rtx() reports that it is no
 *	transmission of a group
 * @step: OUT: what to do
 *
 * If we have not announced that we accept Calls as groups, their header types count as
 * unknown, and a transmission of such a Call is passed on (RTX-37). Replies that are groups are
 * accepted in any case.
 *
 * Context: any; the caller serialises, and calls in the order of arrival.
 *
 * See RTX-42 to RTX-51, RTX-59, RTX-84 of rtx.rst.
 */
void rpcrdma_group_take(struct rpcrdma_group *group,
			const struct rpcrdma_group_limits *limits,
			const struct rpcrdma2_transmission *tx,
			struct rpcrdma_group_step *step)
{
	static const struct rpcrdma_group_step none;

	*step = none;
	if (tx && !tx->tx_response && !limits->gl_ours.xp_call_max)
		tx = NULL;
	if (tx && !tx->tx_first && group->gr_state != RPCRDMA_GROUP_IDLE &&
	    tx->tx_xid == group->gr_xid &&
	    tx->tx_response == group->gr_response) {
		rpcrdma_group_follow(group, limits, tx, step);
		return;
	}
	/* A message that is no transmission is passed on: gs_does is already 0,
	 * RPCRDMA_GROUP_PASS
	 */
	rpcrdma_group_cut(group, step);
	if (tx && tx->tx_first)
		rpcrdma_group_first(group, limits, tx, step);
	else if (tx)
		step->gs_does = RPCRDMA_GROUP_STRAY;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_take);

/**
 * rpcrdma_group_judge - check that a complete group agrees with its items
 * @group: the group
 * @limits: as for rpcrdma_group_take()
 * @items: items of the group. If rpcrdma2_decode_group() rejects them, the verdict of this
 *	function does not count
 * @nitems: number of items
 *
 * A complete group that does not agree with its items counts as a broken group that has
 * ended.
 *
 * Context: any; the caller serialises.
 * Return: %RPCRDMA_OK, %RPCRDMA_BIG_GROUP or %RPCRDMA_BAD_GROUP.
 *
 * See RTX-41, RTX-59 of rtx.rst.
 */
enum rpcrdma_verdict
rpcrdma_group_judge(const struct rpcrdma_group *group,
		    const struct rpcrdma_group_limits *limits,
		    const struct rpcrdma2_item *items, u32 nitems)
{
	const struct rpcrdma2_rtx *ours = &limits->gl_ours;

	if (!group->gr_response &&
	    rpcrdma_items_length(items, nitems) + group->gr_stream >
	    ours->xp_msg_max)
		return RPCRDMA_BIG_GROUP;
	if (!ours->xp_nsegs)
		return nitems ? RPCRDMA_BAD_GROUP : RPCRDMA_OK;
	return group->gr_data == rpcrdma_items_data(items, nitems,
						    ours->xp_seg) ?
	       RPCRDMA_OK : RPCRDMA_BAD_GROUP;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_judge);

/**
 * rpcrdma_group_call - may a Call travel as a group?
 * @layout: layout of the Call
 * @peer: what the peer has announced; all zero if it has announced nothing
 *
 * This function does not look at credits.
 *
 * Context: any.
 * Return: number of transmissions of the Call; 0 if it takes base form.
 *
 * See RTX-32, RTX-41 of rtx.rst.
 */
u32 rpcrdma_group_call(const struct rpcrdma_layout *layout,
		       const struct rpcrdma2_rtx *peer)
{
	if (layout->ly_items + layout->ly_stream > peer->xp_msg_max)
		return 0;
	return rpcrdma_layout_count(layout, peer->xp_call_max);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_call);

/**
 * rpcrdma_group_replies - count the Receives that a Call offers for its Reply
 * @reply_max: length of the largest Reply in bytes
 * @recv_size: size of our Receives in bytes, as announced
 * @extra: number of bytes by which the Reply's header exceeds a header without chunks
 * @most: maximum number of Receives, at most the peer's xp_reply_max
 *
 * Context: any.
 * Return: number of Receives; or 0 if @most Receives are not enough. The Call then offers one
 *	Receive, and a Reply chunk.
 *
 * See RTX-68 of rtx.rst.
 */
u32 rpcrdma_group_replies(u32 reply_max, u32 recv_size, u32 extra, u32 most)
{
	struct rpcrdma_layout layout = {
		.ly_hdr = RPCRDMA2_RTX_MSG_MIN + extra,
		.ly_limit = recv_size, .ly_stream = reply_max,
	};

	/* The header of RDMA2_MSG is shorter than that of a group. So a Reply in base form may fit
	 * one Receive even if the same Reply as a group does not.
	 */
	if ((u64)RPCRDMA2_HDR_MIN + extra + reply_max <= recv_size)
		return 1;
	return rpcrdma_layout_count(&layout, most);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_replies);

/**
 * rpcrdma_group_answer - decide how the Reply to a group travels
 * @args: what is known about the Reply
 * @number: OUT: for a group, the number of transmissions; for an error, the number of bytes that
 *	a Reply chunk would have to hold; otherwise 0
 *
 * If the Call offers a Reply chunk, the chunk is used only if no other form is possible, because
 * a client that sends groups prefers its Receives to registered memory.
 *
 * Context: any.
 * Return: the first of these forms that the Reply fits: inline, group, long; or
 *	%RPCRDMA_ANSWER_ERROR.
 *
 * See RTX-66, RTX-67 of rtx.rst.
 */
enum rpcrdma_answer_form
rpcrdma_group_answer(const struct rpcrdma_group_answer *args, u32 *number)
{
	u32 limit = args->gw_layout.ly_limit;

	*number = 0;
	if ((u64)args->gw_hdr + args->gw_body <= limit)
		return RPCRDMA_ANSWER_INLINE;
	*number = rpcrdma_layout_count(&args->gw_layout,
				       min(args->gw_replies,
					   args->gw_reply_max));
	if (*number)
		return RPCRDMA_ANSWER_GROUP;
	if (args->gw_body <= args->gw_chunk && args->gw_hdr <= limit)
		return RPCRDMA_ANSWER_LONG;
	*number = args->gw_body;
	return RPCRDMA_ANSWER_ERROR;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_answer);
