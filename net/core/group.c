// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: one RPC message in one or several transmissions (Sends). rtx.h explains the terms.
 *
 * A sender posts the transmissions of a group in order, and posts no other Send between them. Its
 * peer receives them in this order or not at all. So a receiver has at most one group at a time. A
 * transmission that does not fit this order, or whose numbers contradict each other, is the fault
 * of the sender, and the connection is closed (RTX-48). So a receiver has two states only: a group
 * is open or not.
 *
 * This file only computes with numbers, and holds no Receive. The caller reports each message
 * that arrives (an arrival). If the arrival is a transmission of a group, the caller passes its
 * header words. This file tells the caller whether to hold the arrival, to pass a message on, or to
 * close the connection. It allocates no memory, however a peer divides its message (RTX-84).
 * Numbers from a peer are compared with limits before they are used. Sums that could overflow are
 * computed in 64 bits.
 *
 * The rpcrdma_layout_ functions divide a message among the transmissions of a group, for the
 * sender. A receiver with target segments has announced the layout of its Receives: some bytes for
 * header and stream, and then segments for the data of the item. A sender puts data where the
 * segments are, and continues in the segments of the next transmission (RTX-55). The data in one
 * transmission is a data part.
 *
 * The rest of this file chooses forms: whether a Call may be sent as a group or takes base
 * form, which is version 2 without the extension, and which form its Reply takes.
 *
 * See RTX-40 to RTX-85 of rtx.rst.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/group.h>

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
 * begins at the first target segment of our Receives, and does not extend beyond the last (RTX-45,
 * RTX-56). The header of a first transmission is not decoded yet, so @hdr_len is then only the
 * minimum length of the header.
 */
static bool rpcrdma_group_bounds(const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx,
				 u32 hdr_len)
{
	const struct rpcrdma2_rtx *ours = &limits->gl_ours;
	u64 end = (u64)hdr_len + tx->tx_here;

	if (!tx->tx_data)
		return tx->tx_first ? end <= tx->tx_len : end == tx->tx_len;
	return tx->tx_data == ours->xp_head && end <= tx->tx_data &&
	       tx->tx_data < tx->tx_len &&
	       rpcrdma_group_part(tx) <= (u64)ours->xp_seg * ours->xp_nsegs;
}

/* The length of each piece of the stream except the last must be a multiple of 4 (RTX-43). */
static bool rpcrdma_group_piece_fits(u64 end, u32 stream)
{
	return end == stream ||
	       (end < stream && end % RPCRDMA_GROUP_UNIT == 0);
}

/* Is this a valid first transmission (RTX-45)? A Reply must not have more than gl_replies
 * transmissions, the largest number of Receives that any Call of ours offers.
 */
static bool rpcrdma_group_is_first(const struct rpcrdma_group_limits *limits,
				   const struct rpcrdma2_transmission *tx)
{
	u32 most = tx->tx_response ? limits->gl_replies :
				     limits->gl_ours.xp_call_max;

	return !tx->tx_short && tx->tx_count && tx->tx_count <= most &&
	       (tx->tx_response || tx->tx_replies) &&
	       tx->tx_here >= RPCRDMA2_RTX_RPC_MIN &&
	       rpcrdma_group_piece_fits(tx->tx_here, tx->tx_stream) &&
	       (tx->tx_count > 1 || tx->tx_here == tx->tx_stream) &&
	       rpcrdma_group_bounds(limits, tx, RPCRDMA2_RTX_MSG_MIN);
}

/* Is this the transmission that is due, and is it valid (RTX-46)? */
static bool rpcrdma_group_is_due(const struct rpcrdma_group *group,
				 const struct rpcrdma_group_limits *limits,
				 const struct rpcrdma2_transmission *tx)
{
	u64 end = (u64)tx->tx_offset + tx->tx_here;

	if (tx->tx_short || tx->tx_xid != group->gr_xid ||
	    tx->tx_response != group->gr_response ||
	    tx->tx_number != group->gr_number ||
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
	return rpcrdma_group_bounds(limits, tx, RPCRDMA2_RTX_NEXT_LEN);
}

static void rpcrdma_group_begin(struct rpcrdma_group *group,
				const struct rpcrdma2_transmission *tx)
{
	static const struct rpcrdma_group none;

	*group = none;
	group->gr_xid = tx->tx_xid;
	group->gr_response = tx->tx_response;
	group->gr_count = tx->tx_count;
	group->gr_stream = tx->tx_stream;
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

/**
 * rpcrdma_group_take - decide what to do with an arrival on a connection
 * @group: the connection's group
 * @limits: limits of the groups that we accept
 * @tx: header fields of the arrival; NULL if rpcrdma2_peek_rtx() reports that it is no
 *	transmission of a group
 *
 * If we have not announced that we accept Calls as groups, their header types count as
 * unknown, and a transmission of such a Call is passed on (RTX-37). Replies that are groups are
 * accepted in any case.
 *
 * Context: any; the caller serialises, and calls in the order of arrival. No call may follow one
 *	that has returned %RPCRDMA_GROUP_BROKEN.
 * Return: what to do.
 *
 * See RTX-42 to RTX-48, RTX-59, RTX-84 of rtx.rst.
 */
enum rpcrdma_group_does
rpcrdma_group_take(struct rpcrdma_group *group,
		   const struct rpcrdma_group_limits *limits,
		   const struct rpcrdma2_transmission *tx)
{
	bool open = group->gr_number < group->gr_count;

	if (tx && !tx->tx_response && !limits->gl_ours.xp_call_max)
		tx = NULL;
	if (!tx)
		return open ? RPCRDMA_GROUP_BROKEN : RPCRDMA_GROUP_PASS;
	if (tx->tx_first == open ||
	    !(tx->tx_first ? rpcrdma_group_is_first(limits, tx) :
			     rpcrdma_group_is_due(group, limits, tx)))
		return RPCRDMA_GROUP_BROKEN;
	if (tx->tx_first)
		rpcrdma_group_begin(group, tx);
	rpcrdma_group_add(group, limits, tx);
	return group->gr_number < group->gr_count ? RPCRDMA_GROUP_KEEP :
						    RPCRDMA_GROUP_WHOLE;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_take);

/**
 * rpcrdma_group_check - check that a complete group agrees with its item
 * @group: the group
 * @limits: as for rpcrdma_group_take()
 * @item: length of the item in bytes; 0 if there is none. If rpcrdma2_decode_group() rejects the
 *	item, the verdict of this function does not count
 *
 * Context: any; the caller serialises.
 * Return: %RPCRDMA_OK, %RPCRDMA_BIG_GROUP or %RPCRDMA_BAD_GROUP.
 *
 * See RTX-41, RTX-59 of rtx.rst.
 */
enum rpcrdma_verdict
rpcrdma_group_check(const struct rpcrdma_group *group,
		    const struct rpcrdma_group_limits *limits, u32 item)
{
	if (!group->gr_response &&
	    (u64)item + group->gr_stream > limits->gl_ours.xp_msg_max)
		return RPCRDMA_BIG_GROUP;
	return group->gr_data == item ? RPCRDMA_OK : RPCRDMA_BAD_GROUP;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_check);

/**
 * rpcrdma_layout_reach - how long is a Send that fills the peer's target segments?
 * @peer: what the peer has announced; the caller has validated it
 * @most: length of the largest Send that we make, in bytes
 *
 * Context: any.
 * Return: the length in bytes, up to the end of the last segment that such a Send fills; 0
 *	if it fills no segment, so that nothing can be placed.
 *
 * See RTX-33, RTX-41, RTX-56 of rtx.rst; T-29.
 */
u32 rpcrdma_layout_reach(const struct rpcrdma2_rtx *peer, u32 most)
{
	u32 segs;

	if (!peer->xp_nsegs || most < peer->xp_head)
		return 0;
	segs = min(peer->xp_nsegs, (most - peer->xp_head) / peer->xp_seg);
	return segs ? peer->xp_head + segs * peer->xp_seg : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_reach);

/**
 * rpcrdma_layout_gather - how many segments can a Send gather from pages?
 * @sges: number of the Send's SGEs that are for data; each describes a page or a part of one
 * @offset: offset of the item in its first page, in bytes
 * @page_size: size of a page in bytes
 * @seg: size of a segment in bytes
 *
 * If a data part of the item can begin inside a page, it may touch one page more than its
 * length alone requires.
 *
 * Context: any.
 * Return: number of segments that every data part of the item may have; 0 if the SGEs do
 *	not suffice for one.
 *
 * See RTX-58 of rtx.rst.
 */
u32 rpcrdma_layout_gather(u32 sges, u32 offset, u32 page_size, u32 seg)
{
	if (sges && (offset % page_size || seg % page_size))
		sges--;
	return (u64)sges * page_size / seg;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_gather);

/**
 * rpcrdma_layout_place - add an item to a layout, after the stream
 * @layout: layout of the message; ly_hdr, ly_limit and ly_stream are set
 * @peer: what the peer has announced
 * @segs: maximum number of segments that our SGEs allow in a Send; %U32_MAX if the data is copied
 * @item: length of the item in bytes; 0 if there is none
 *
 * Context: any.
 * Return: false if there is an item, and the peer has no target segments or our Sends cannot fill
 *	one.
 *
 * See RTX-32, RTX-41, RTX-56 of rtx.rst.
 */
bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs, u32 item)
{
	if (!item)
		return true;
	if (!peer->xp_nsegs || layout->ly_limit < peer->xp_head)
		return false;
	segs = min3(segs, peer->xp_nsegs,
		    (layout->ly_limit - peer->xp_head) / peer->xp_seg);
	layout->ly_head = peer->xp_head;
	layout->ly_part = segs * peer->xp_seg;
	layout->ly_data = item;
	return segs;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_place);

/**
 * rpcrdma_layout_next - find the next transmission of a message
 * @layout: layout of the message
 * @out: OUT: the transmission, if true is returned
 *
 * Each transmission takes as much of the stream as fits before its data, and up to ly_part
 * bytes of data.
 *
 * Context: any.
 * Return: false if the whole message has been sent, or if the header leaves too little room. The
 *	latter does not happen after rpcrdma_layout_count() has accepted the layout.
 *
 * See RTX-43, RTX-44, RTX-56, RTX-57 of rtx.rst.
 */
bool rpcrdma_layout_next(struct rpcrdma_layout *layout,
			 struct rpcrdma_outgoing *out)
{
	static const struct rpcrdma_outgoing none;
	struct rpcrdma2_transmission *tx = &out->og_tx;
	u32 end;

	*out = none;
	out->og_hdr = layout->ly_number ? RPCRDMA2_RTX_NEXT_LEN :
					  layout->ly_hdr;
	out->og_part = min(layout->ly_data - layout->ly_placed,
			   layout->ly_part);
	end = out->og_part ? layout->ly_head : layout->ly_limit;
	if (end < out->og_hdr)
		return false;
	tx->tx_number = layout->ly_number;
	tx->tx_offset = layout->ly_sent;
	tx->tx_data = out->og_part ? layout->ly_head : 0;
	tx->tx_here = end - out->og_hdr;
	tx->tx_here -= tx->tx_here % RPCRDMA_GROUP_UNIT;
	tx->tx_here = min(tx->tx_here, layout->ly_stream - layout->ly_sent);
	if (layout->ly_number ? !tx->tx_here && !out->og_part :
				tx->tx_here < RPCRDMA2_RTX_RPC_MIN)
		return false;
	out->og_len = out->og_part ? end + out->og_part :
				     out->og_hdr + tx->tx_here;
	layout->ly_number++;
	layout->ly_sent += tx->tx_here;
	layout->ly_placed += out->og_part;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_next);

/**
 * rpcrdma_layout_count - count the transmissions that a message takes
 * @layout: layout of the message, from which nothing has been sent
 * @most: maximum number of transmissions
 *
 * Context: any. The work is bounded by @most.
 * Return: number of transmissions; or 0 if the message cannot be divided into @most or fewer, for
 *	example because the first has no room for 8 bytes of the stream. The message then takes
 *	base form.
 */
u32 rpcrdma_layout_count(const struct rpcrdma_layout *layout, u32 most)
{
	struct rpcrdma_layout walk = *layout;
	struct rpcrdma_outgoing out;

	while (walk.ly_number < most && rpcrdma_layout_next(&walk, &out))
		if (walk.ly_sent == walk.ly_stream &&
		    walk.ly_placed == walk.ly_data)
			return walk.ly_number;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_count);

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
	if ((u64)layout->ly_data + layout->ly_stream > peer->xp_msg_max)
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
 * @layout: layout of the Reply as a group
 * @hdr: length of the header in bytes, if the Reply has base form (is not a group)
 * @chunk: size of the Reply chunk in bytes; 0 if there is none
 * @most: maximum number of transmissions: that of the Receives that the Call offers for the Reply
 *	(rtx_replies), or less. 0 if the Reply must not be a group, because the client has not
 *	announced the extension
 * @number: OUT: number of transmissions, if the Reply is a group
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
rpcrdma_group_answer(const struct rpcrdma_layout *layout, u32 hdr, u32 chunk,
		     u32 most, u32 *number)
{
	u32 limit = layout->ly_limit, body = layout->ly_stream;

	*number = 0;
	if ((u64)hdr + body <= limit)
		return RPCRDMA_ANSWER_INLINE;
	*number = rpcrdma_layout_count(layout, most);
	if (*number)
		return RPCRDMA_ANSWER_GROUP;
	return body <= chunk && hdr <= limit ? RPCRDMA_ANSWER_LONG :
					       RPCRDMA_ANSWER_ERROR;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_group_answer);
