// SPDX-License-Identifier: GPL-2.0
/*
 * Plans: which form the Call and the Reply of an RPC take.
 *
 * The requester chooses both forms before anything is registered, because in version 1 it cannot
 * provide more room later (RFC 8166 4.3.3). The responder then chooses among the forms that it was
 * offered. Both decisions depend on lengths, limits and a few flags, and not on the content of a
 * message. The length of the header is computed from the chunks of the message, and is not a fixed
 * maximum (RFC 8166 3.5). This file does not use pages, memory regions or work requests.
 *
 * Forms are tried in this order: inline, inline with one item taken out, everything by RDMA
 * (RFC 8166 3.5.1, 3.5.3). The first is the cheapest, and the last is possible for the longest
 * messages. Apart from an item that is taken out, a message is never sent partly inline and
 * partly by RDMA (RFC 8166 3.5.3).
 *
 * With a peer that has the round-trip extension (rtx.h), a message may be sent as a group of one or
 * several transmissions. A Call needs a free credit for each of them, and a Reply needs a free
 * Receive for each (RTX-78, RTX-98). For a Call, a group is tried after inline and before chunks.
 * But if a group saves the peer from copying a large item, it is tried before inline, even if it
 * has only one transmission. For a Reply, a group is tried after a Write chunk and before a Reply
 * chunk. When the plan is made, the caller takes the credits, Receives and Sends for it. If some of
 * them are not available, the caller plans again without groups.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/group.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

static bool rpcrdma_plan_fits(u32 hdr_len, u32 body_len, u32 threshold)
{
	return (u64)hdr_len + body_len <= threshold;
}

/* Size of a header with these segments and at most one Write chunk. */
static u32 rpcrdma_plan_hdr_len(const struct rpcrdma_limits *limits,
				u32 nreadsegs, u32 nwritesegs, u32 nreplysegs)
{
	u64 len = rpcrdma_wire_lists_len(nreadsegs, !!nwritesegs, nwritesegs,
					 nreplysegs);

	return min_t(u64, len + RPCRDMA_FIXED_LEN + limits->lm_hdr_extra,
		     U32_MAX);
}

/* Returns the length of a message without its item. */
static u32 rpcrdma_plan_reduced(u32 len, u32 item)
{
	return len - min(len, item);
}

/* Can several Receives take the largest Reply (RTX-68, RTX-98)? Only a Reply without a
 * DDP-eligible result may use several. If a Reply has such a result, and a Write chunk is not
 * possible, it uses the Reply chunk: with Receives, the result would have to be copied.
 */
static bool rpcrdma_plan_reply_group(const struct rpcrdma_limits *limits,
				     const struct rpcrdma_plan_args *args,
				     struct rpcrdma_plan *plan)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	u32 most;

	if (!rtx || args->pa_reply_item)
		return false;
	most = min(rtx->px_peer.xp_reply_max, RPCRDMA_PLAN_REPLIES);
	plan->pl_replies = rpcrdma_group_replies(args->pa_reply_max,
						 limits->lm_inline_recv, 0,
						 most);
	if (plan->pl_replies && plan->pl_replies - 1 <= rtx->px_spare)
		return true;
	plan->pl_short = plan->pl_replies;
	plan->pl_replies = 1;
	return false;
}

/*
 * Chooses the first of these that is enough for the largest Reply (RFC 8166 4.3.3): one Receive, a
 * Write chunk, several Receives, a Reply chunk. One Receive is not possible if the result goes to
 * foreign pages (plan.h). After some errors a Reply chunk is required (pa_reply_chunk). A Call
 * never has both a Write chunk and a Reply chunk: Linux clients do not send both, so deployed
 * servers may never have been tested with both.
 */
static enum rpcrdma_reply_form
rpcrdma_plan_reply(const struct rpcrdma_limits *limits,
		   const struct rpcrdma_plan_args *args,
		   struct rpcrdma_plan *plan)
{
	u32 hdr_len;

	hdr_len = rpcrdma_plan_hdr_len(limits, 0, 0, 0);
	if (args->pa_reply_chunk)
		return RPCRDMA_REPLY_LONG;
	if (!args->pa_reply_foreign &&
	    rpcrdma_plan_fits(hdr_len, args->pa_reply_max,
			      limits->lm_inline_recv))
		return RPCRDMA_REPLY_INLINE;
	hdr_len = rpcrdma_plan_hdr_len(limits, 0, args->pa_reply_item_segs, 0);
	if (args->pa_reduce && args->pa_reply_item &&
	    rpcrdma_plan_fits(hdr_len,
			      rpcrdma_plan_reduced(args->pa_reply_max,
						   args->pa_reply_item),
			      limits->lm_inline_recv))
		return RPCRDMA_REPLY_WRITE;
	if (rpcrdma_plan_reply_group(limits, args, plan))
		return RPCRDMA_REPLY_GROUP;
	return RPCRDMA_REPLY_LONG;
}

/* Does the Call have an item that can be placed in target segments of the server's Receives?
 * If the Call is a group, such an item is placed. It never stays in the stream of a group,
 * because the server would have to copy it.
 */
static bool rpcrdma_plan_may_place(const struct rpcrdma_plan_args *args)
{
	return args->pa_rtx && args->pa_rtx->px_send && args->pa_reduce &&
	       args->pa_call_item;
}

/* Divides a Call into transmissions. pl_placed and pl_gathered of @plan say whether its item
 * is placed and gathered. Returns the number of transmissions; 0 if the Call cannot be a
 * group.
 */
static u32 rpcrdma_plan_divide(const struct rpcrdma_limits *limits,
			       const struct rpcrdma_plan_args *args,
			       const struct rpcrdma_plan *plan,
			       struct rpcrdma_layout *layout)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;

	*layout = (struct rpcrdma_layout) {
		.ly_hdr		= plan->pl_hdr_max + RPCRDMA2_RTX_MSG_MIN -
				  RPCRDMA2_HDR_MIN,
		.ly_limit	= limits->lm_inline_send,
		.ly_stream	= args->pa_call_len,
	};
	if (plan->pl_placed) {
		layout->ly_hdr += RPCRDMA2_RTX_ITEM_LEN;
		layout->ly_limit = rtx->px_send;
		layout->ly_stream = rpcrdma_plan_reduced(args->pa_call_len,
							 args->pa_call_item);
	}
	if (!rpcrdma_layout_place(layout, &rtx->px_peer,
				  plan->pl_gathered ?: U32_MAX,
				  plan->pl_placed))
		return 0;
	return rpcrdma_group_call(layout, &rtx->px_peer);
}

/* Divides a Call. If possible, the item is gathered: Sends take it from the pages of the RPC,
 * without a copy. But if gathering takes more transmissions than copying, the item is copied:
 * each further transmission would cost more than gathering saves, would take a credit, and was
 * not counted when px_write_max was chosen (T-43). Returns the same as rpcrdma_plan_divide().
 */
static u32 rpcrdma_plan_gather(const struct rpcrdma_limits *limits,
			       const struct rpcrdma_plan_args *args,
			       struct rpcrdma_plan *plan,
			       struct rpcrdma_layout *layout)
{
	u32 count;

	plan->pl_placed = rpcrdma_plan_may_place(args) ? args->pa_call_data : 0;
	count = rpcrdma_plan_divide(limits, args, plan, layout);
	if (!count || !plan->pl_placed || !args->pa_rtx->px_gather)
		return count;
	plan->pl_gathered = args->pa_rtx->px_gather;
	if (rpcrdma_plan_divide(limits, args, plan, layout) == count)
		return count;
	plan->pl_gathered = 0;
	return rpcrdma_plan_divide(limits, args, plan, layout);
}

/* Tries to plan the whole Call as a group, with its item placed if possible. The only chunks
 * in its header are those for the Reply. Returns false if the Call is not to be a group: it cannot
 * be one, or is too long for one (RTX-95, RTX-97), or there are too few credits.
 */
static bool rpcrdma_plan_call_group(const struct rpcrdma_limits *limits,
				    const struct rpcrdma_plan_args *args,
				    struct rpcrdma_plan *plan)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	struct rpcrdma_plan group = *plan;
	struct rpcrdma_layout layout;
	u32 count;

	if (!rtx || plan->pl_hdr_max > limits->lm_inline_send ||
	    args->pa_call_foreign)
		return false;
	if (args->pa_reduce && args->pa_call_item ?
	    args->pa_call_data > rtx->px_write_max :
	    args->pa_call_len > rtx->px_long_max)
		return false;
	count = rpcrdma_plan_gather(limits, args, &group, &layout);
	if (!count || count - 1 > rtx->px_more) {
		plan->pl_short |= count;
		return false;
	}
	group.pl_call = RPCRDMA_CALL_GROUP;
	group.pl_hdr_max = layout.ly_hdr;
	group.pl_count = count;
	group.pl_limit = layout.ly_limit;
	group.pl_buf = layout.ly_limit;
	/* Gathered data is not in the buffers. They have everything before the data or, in a Send
	 * without data, header and stream.
	 */
	if (group.pl_gathered)
		group.pl_buf = max(layout.ly_head,
				   min(layout.ly_limit,
				       layout.ly_hdr + layout.ly_stream));
	*plan = group;
	return true;
}

/* Plans the Call, after the Reply was planned. Returns 0; -EAGAIN if the Call is not to be a
 * group, but the Reply was planned as one; -EMSGSIZE if no form is possible.
 */
static int rpcrdma_plan_call(const struct rpcrdma_limits *limits,
			     const struct rpcrdma_plan_args *args,
			     u32 nwritesegs, u32 nreplysegs,
			     struct rpcrdma_plan *plan)
{
	u32 threshold = limits->lm_inline_send;
	bool fits;

	plan->pl_call = RPCRDMA_CALL_INLINE;
	plan->pl_hdr_max = rpcrdma_plan_hdr_len(limits, 0, nwritesegs,
						nreplysegs);
	fits = plan->pl_reply != RPCRDMA_REPLY_GROUP &&
	       !args->pa_call_foreign &&
	       rpcrdma_plan_fits(plan->pl_hdr_max, args->pa_call_len, threshold);
	/* A group may be better, because the server need not copy the item (RTX-94) */
	if (fits && (!rpcrdma_plan_may_place(args) ||
		     args->pa_call_data < RPCRDMA_PLAN_PLACED))
		return 0;
	if (rpcrdma_plan_call_group(limits, args, plan) || fits)
		return 0;
	if (plan->pl_reply == RPCRDMA_REPLY_GROUP)
		return -EAGAIN;

	plan->pl_call = RPCRDMA_CALL_READ;
	plan->pl_hdr_max = rpcrdma_plan_hdr_len(limits,
						args->pa_call_item_segs,
						nwritesegs, nreplysegs);
	if (args->pa_reduce && args->pa_call_item && !args->pa_no_read &&
	    rpcrdma_plan_fits(plan->pl_hdr_max,
			      rpcrdma_plan_reduced(args->pa_call_len,
						   args->pa_call_item),
			      threshold))
		return 0;

	plan->pl_call = RPCRDMA_CALL_LONG;
	plan->pl_hdr_max = rpcrdma_plan_hdr_len(limits, args->pa_call_segs,
						nwritesegs, nreplysegs);
	return !args->pa_no_long && plan->pl_hdr_max <= threshold ? 0 :
								    -EMSGSIZE;
}

static int rpcrdma_plan_try(const struct rpcrdma_limits *limits,
			    const struct rpcrdma_plan_args *args,
			    struct rpcrdma_plan *plan)
{
	u32 nwritesegs = 0, nreplysegs = 0;

	plan->pl_count = 1;
	plan->pl_replies = 1;
	plan->pl_limit = 0;
	plan->pl_placed = 0;
	plan->pl_gathered = 0;
	plan->pl_buf = 0;
	plan->pl_reply = rpcrdma_plan_reply(limits, args, plan);
	if (plan->pl_reply == RPCRDMA_REPLY_WRITE)
		nwritesegs = args->pa_reply_item_segs;
	if (plan->pl_reply == RPCRDMA_REPLY_LONG) {
		nreplysegs = args->pa_reply_segs;
		/* The header of the Reply returns all segments of the chunk (RFC 8166 4.3.3). */
		if (rpcrdma_plan_hdr_len(limits, 0, 0, nreplysegs) >
		    limits->lm_inline_recv)
			return -EMSGSIZE;
	}
	return rpcrdma_plan_call(limits, args, nwritesegs, nreplysegs, plan);
}

/**
 * rpcrdma_plan_rpc - decide how an RPC travels
 * @limits: limits of the connection
 * @args: what is known about the RPC
 * @plan: OUT: the decision, if 0 is returned
 *
 * The form of the Reply is decided first, because the chunks provided for it take room in
 * the header of the Call. If a security flavor protects the stream, no item may be taken
 * out of it (G-27). @args->pa_reduce is false then, and only Short Messages, groups without
 * items and Long Messages are possible.
 *
 * If the Call cannot be a group, a Reply that does not fit inline must use a chunk, because only
 * the header of a group can offer Receives.
 *
 * Context: any.
 * Return: 0; %-EIO if an item is in foreign pages (plan.h), and no form of the RPC keeps the CPU
 *	away from them; %-EMSGSIZE if the Call or the Reply has to be long, and that is not
 *	possible: @args forbid a Long Call, the header of the Call does not fit a Send, or the
 *	header of the Reply does not fit a Receive.
 */
int rpcrdma_plan_rpc(const struct rpcrdma_limits *limits,
		     const struct rpcrdma_plan_args *args,
		     struct rpcrdma_plan *plan)
{
	struct rpcrdma_plan_args base = *args;
	int rc;

	plan->pl_short = false;
	rc = rpcrdma_plan_try(limits, args, plan);
	if (rc && args->pa_rtx) {
		base.pa_rtx = NULL;
		rc = rpcrdma_plan_try(limits, &base, plan);
	}
	if ((args->pa_call_foreign && (rc || rpcrdma_plan_touches_call(plan))) ||
	    (args->pa_reply_foreign && (rc || rpcrdma_plan_touches_reply(plan))))
		return -EIO;
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_plan_rpc);

/**
 * rpcrdma_plan_retry - can an RPC be sent again after an error of version 2?
 * @retry: what earlier errors of this RPC require. If true is returned, also what this error
 *	requires
 * @hdr: header of the error, as decoded
 * @plan: the Call that was answered with the error
 * @had: size of the Reply chunk in the Call in bytes; 0 if it had none
 * @most: largest possible size of a Reply chunk: the upper layer's room for the Reply, in bytes
 *
 * Some errors mean that the Call could succeed in another form. The Call is then sent again with
 * the same XID, so a server that has already executed it answers from its reply cache (G-23). If
 * the server refuses Read chunks, the whole Call goes in a Position Zero chunk, which the limit on
 * Read chunks does not count. If it refuses Write chunks, or the Reply does not fit into what the
 * Call has offered for it, the whole Reply goes in a Reply chunk of the largest size. In each of
 * these cases, and if the server refuses a group (rtx.h), the Call takes base form (RTX-88,
 * RTX-89). So an RPC is sent again at most three times because of errors, whatever a server sends:
 * each of the three members of @retry that this function sets prevents the Call that it reacts to.
 *
 * Context: any.
 * Return: true if the Call is to be sent again as @retry says; false if the RPC has to
 *	end with an error.
 *
 * See version-two 5.3.3; G-14, G-23.
 */
bool rpcrdma_plan_retry(struct rpcrdma_retry *retry,
			const struct rpcrdma_hdr *hdr,
			const struct rpcrdma_plan *plan, u32 had, u32 most)
{
	u32 needed = hdr->hd_err_arg[0];

	/* Errors of version 1 have no remedy */
	if (hdr->hd_v1_error)
		return false;
	switch (hdr->hd_err) {
	case RPCRDMA2_ERR_RTX_CONT:
	case RPCRDMA2_ERR_RTX_LIMIT:
	case RPCRDMA2_ERR_INVAL_HTYPE:
		if (plan->pl_call != RPCRDMA_CALL_GROUP)
			return false;
		break;
	case RPCRDMA2_ERR_READ_CHUNKS:
		if (plan->pl_call != RPCRDMA_CALL_READ)
			return false;
		retry->ry_no_read = true;
		break;
	case RPCRDMA2_ERR_WRITE_CHUNKS:
		if (plan->pl_reply != RPCRDMA_REPLY_WRITE)
			return false;
		retry->ry_reply_chunk = true;
		break;
	case RPCRDMA2_ERR_REPLY_RESOURCE:
		if (retry->ry_reply_chunk || needed <= had || needed > most)
			return false;
		retry->ry_reply_chunk = true;
		break;
	default:
		return false;
	}
	retry->ry_base = true;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_plan_retry);

/**
 * rpcrdma_plan_answer - decide how a responder's Reply travels
 * @limits: limits of the connection
 * @hdr_len: length in bytes of the Reply's transport header, see rpcrdma_reply_len()
 * @body_len: length in bytes of the Reply, without results that go to Write chunks
 * @reply_chunk_len: size in bytes of the Reply chunk that the Call offered; 0 if it offered none
 * @prefer_inline: answer inline if possible even though a Reply chunk was offered
 *
 * A Reply chunk that was offered is used (RFC 8166 4.3.3), unless @prefer_inline is set and the
 * Reply fits inline. A chunk of no bytes counts as none (G-05). Nothing is sent that would
 * overrun the client's Receive or its Reply chunk (RFC 8166 4.5.3).
 *
 * Context: any.
 * Return: the form; %RPCRDMA_ANSWER_ERROR if the Reply chunk is used and is too small for the
 *	body, if no Reply chunk is used and the Reply does not fit inline, or if the header
 *	does not fit a Send (G-13).
 */
enum rpcrdma_answer_form
rpcrdma_plan_answer(const struct rpcrdma_limits *limits, u32 hdr_len,
		    u32 body_len, u32 reply_chunk_len, bool prefer_inline)
{
	bool fits = rpcrdma_plan_fits(hdr_len, body_len,
				      limits->lm_inline_send);

	if (!reply_chunk_len || (prefer_inline && fits))
		return fits ? RPCRDMA_ANSWER_INLINE : RPCRDMA_ANSWER_ERROR;
	if (body_len > reply_chunk_len || hdr_len > limits->lm_inline_send)
		return RPCRDMA_ANSWER_ERROR;
	return RPCRDMA_ANSWER_LONG;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_plan_answer);

/**
 * rpcrdma_plan_write_max - compute the length up to which the item of a Call goes by Sends
 * @peer: the peer's property RTX; all zero if the peer has not announced it
 * @send: maximum length of a transmission in bytes
 * @rtt: round trip in microseconds
 * @fixed: length in bytes, as set by an administrator; 0 if it is to be computed
 *
 * Sends save a round trip, a second wakeup of a server thread, registration and invalidation. But
 * each transmission beyond the first has a cost. It is counted in full, as if no part of it
 * overlapped with other work. Either the work or the time that Sends save must outweigh the cost of
 * all of them; work and time are not added. If the round trip is short, only work is saved, and no
 * more than %RPCRDMA_PLAN_NEAR bytes go by Sends, or %RPCRDMA_PLAN_NEAR_COPIED if the peer has no
 * target segments (rtx.h). If it takes %RPCRDMA_PLAN_FAR us or more, items of any length do.
 *
 * Call this when the round trip or the limits have changed, not for each Call. See RTX-95, RTX-96
 * of rtx.rst; T-40.
 *
 * Context: any.
 * Return: length in bytes; 0 if the peer accepts no groups.
 */
u32 rpcrdma_plan_write_max(const struct rpcrdma2_rtx *peer, u32 send, u32 rtt,
			   u32 fixed)
{
	u32 part, cost = RPCRDMA_PLAN_SEND, near = RPCRDMA_PLAN_NEAR;
	struct rpcrdma_layout layout = { .ly_limit = send };
	u64 best = RPCRDMA_PLAN_MOST;

	rpcrdma_layout_place(&layout, peer, U32_MAX, RPCRDMA_PLAN_MOST);
	part = layout.ly_part;
	if (!part) {
		/* The item stays in the payload stream, and both ends copy it. */
		part = send - min(send, RPCRDMA2_RTX_NEXT_LEN);
		cost += part / RPCRDMA_PLAN_COPY;
		near = RPCRDMA_PLAN_NEAR_COPIED;
	}
	if (rtt < RPCRDMA_PLAN_FAR) {
		u64 count = max(rtt + RPCRDMA_PLAN_WAKE, RPCRDMA_PLAN_SAVED) /
			    cost + 1;

		best = min(best, count * part);
		if (rtt + RPCRDMA_PLAN_WAKE <= RPCRDMA_PLAN_SAVED)
			best = min_t(u64, best, near);
	}
	if (fixed)
		best = fixed;
	best = min_t(u64, best, peer->xp_msg_max);
	return min_t(u64, best, (u64)part * peer->xp_call_max);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_plan_write_max);
