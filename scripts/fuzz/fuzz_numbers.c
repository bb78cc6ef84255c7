// SPDX-License-Identifier: GPL-2.0
/*
 * Targets for functions that compute with numbers: private data, credits, grants, plans,
 * sizes. Their results are compared with what the comments of the functions describe. The expected
 * values and bounds are computed here in 64 bits, or found by trial.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <rpcrdma/credit.h>
#include <rpcrdma/group.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/props.h>
#include <rpcrdma/size.h>
#include <rpcrdma/wire.h>

#include "fuzz.h"

static u64 fuzz_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 fuzz_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* --- private data --- */

/* The size that private data can announce: whole kibibytes, 1 to 256 */
static u32 fuzz_cm_size(u32 size)
{
	return fuzz_min(fuzz_max(size, 1024), 262144) & ~1023u;
}

static struct rpcrdma_cm_private fuzz_cm_make(struct fuzz_in *in)
{
	struct rpcrdma_cm_private priv = {
		.cp_send_size = fuzz_num(in), .cp_recv_size = fuzz_num(in),
		.cp_remote_inv = fuzz_u8(in) % 2,
	};

	return priv;
}

/* Check the limits in version 2 if the peer has announced nothing. */
static void fuzz_props_silent(const struct rpcrdma_cm_private *ours)
{
	struct rpcrdma_limits limits;

	rpcrdma2_props_limits(ours, NULL, &limits);
	CHECK(!limits.lm_peer_spoke);
	CHECK(limits.lm_inline_send == fuzz_min(ours->cp_send_size, 4096));
	CHECK(limits.lm_inline_recv == ours->cp_recv_size);
	CHECK(limits.lm_peer_recv == 4096);
	CHECK(limits.lm_brs == RPCRDMA2_BRS_INLINE);
	CHECK(limits.lm_remote_inv == ours->cp_remote_inv);
}

/*
 * Target props: any private data of a peer, and any of ours.
 *
 * Covers: V1-CRD-20 V2-PRP-20
 */
void fuzz_props(const u8 *data, size_t size)
{
	static const u8 magic[] = { 0xf6, 0xab, 0x0e, 0x18, 1 };
	struct fuzz_in in = fuzz_choices(data, &size);
	struct rpcrdma_cm_private ours = fuzz_cm_make(&in);
	struct rpcrdma_cm_private peer = {
		.cp_send_size = RPCRDMA1_INLINE_DEFAULT,
		.cp_recv_size = RPCRDMA1_INLINE_DEFAULT,
	}, read;
	u8 *block, buf[RPCRDMA_CM_PRIVATE_LEN];
	struct rpcrdma_limits limits;
	const u8 *found = NULL;
	size_t at;

	/* The first valid block of private data counts, wherever it begins */
	for (at = 0; !found && at + RPCRDMA_CM_PRIVATE_LEN <= size; at++)
		if (!memcmp(data + at, magic, sizeof(magic)))
			found = data + at;
	block = fuzz_exact(data, size);
	CHECK(rpcrdma_props_decode(block, size, &read) == !!found);
	if (found) {
		peer.cp_remote_inv = found[5] & 1;
		peer.cp_send_size = (found[6] + 1) * 1024;
		peer.cp_recv_size = (found[7] + 1) * 1024;
		CHECK(read.cp_remote_inv == peer.cp_remote_inv);
		CHECK(read.cp_send_size == peer.cp_send_size);
		CHECK(read.cp_recv_size == peer.cp_recv_size);
	}
	rpcrdma_props_limits(&ours, block, size, &limits);
	free(block);
	CHECK(limits.lm_peer_spoke == !!found);
	CHECK(limits.lm_remote_inv ==
	      (ours.cp_remote_inv && peer.cp_remote_inv));
	/* Our sizes are used as we announced them, in whole kibibytes. */
	CHECK(limits.lm_inline_send ==
	      fuzz_min(fuzz_cm_size(ours.cp_send_size), peer.cp_recv_size));
	CHECK(limits.lm_inline_recv ==
	      fuzz_min(fuzz_cm_size(ours.cp_recv_size), peer.cp_send_size));

	fuzz_props_silent(&ours);

	rpcrdma_props_encode(buf, &ours);
	CHECK(rpcrdma_props_decode(buf, sizeof(buf), &read));
	CHECK(read.cp_remote_inv == ours.cp_remote_inv);
	CHECK(read.cp_send_size == fuzz_cm_size(ours.cp_send_size));
	CHECK(read.cp_recv_size == fuzz_cm_size(ours.cp_recv_size));
}

/* --- credits --- */

/*
 * Target credit: the credit window of a client on several connections, one after the other,
 * with any grants, and with Calls that are given up
 *
 * Covers: V1-CRD-06 V1-CRD-22
 */
void fuzz_credit(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 requested = 1, granted = 1, owed = 0, credit, before, in_flight;
	u32 more = 0, taken;
	struct rpcrdma_window win;
	bool opened = false, changed;

	rpcrdma_window_reset(&win, 0);
	while (in.fi_left) {
		before = granted;
		switch (fuzz_u8(&in) % 8) {
		case 0:
			requested = fuzz_num(&in);
			rpcrdma_window_reset(&win, requested);
			requested = fuzz_max(requested, 1);
			granted = 1;
			owed = 0;
			more = 0;
			opened = false;
			break;
		case 1:
			credit = fuzz_num(&in);
			changed = rpcrdma_window_grant_error(&win, credit);
			if (opened)
				granted = fuzz_max(fuzz_min(credit, requested),
						   1);
			CHECK(changed == (granted != before));
			break;
		case 2:
			win.wn_owed++;
			owed++;
			break;
		case 3:
			CHECK(rpcrdma_window_repay(&win) == !!owed);
			owed -= !!owed;
			break;
		case 4:
			taken = fuzz_u8(&in);
			in_flight = fuzz_u8(&in);
			changed = (u64)owed + more + in_flight + taken <=
				  granted && more + taken <= granted / 2;
			CHECK(rpcrdma_window_take_more(&win, in_flight,
						       taken) ==
			      (changed || !taken));
			more += changed ? taken : 0;
			break;
		case 5:
			taken = fuzz_min(fuzz_u8(&in), more);
			CHECK(rpcrdma_window_give_more(&win, taken) == !!taken);
			more -= taken;
			break;
		default:
			credit = fuzz_num(&in);
			changed = rpcrdma_window_grant(&win, credit);
			granted = fuzz_max(fuzz_min(credit, requested), 1);
			opened = true;
			CHECK(changed == (granted != before));
		}
		in_flight = fuzz_num(&in);
		CHECK(rpcrdma_window_room(&win, in_flight) ==
		      fuzz_max(granted, (u64)owed + more + in_flight) -
		      owed - more - in_flight);
		CHECK(owed || more || rpcrdma_window_room(&win, 0) >= 1);
	}
}

/* --- plans --- */

/* Returns the length of the header of a Call with these numbers of segments. The Call has at most
 * one chunk of each kind.
 */
static u64 fuzz_hdr_len(const struct rpcrdma_limits *limits, u64 nreadsegs,
			u64 nwritesegs, u64 nreplysegs)
{
	return 28 + limits->lm_hdr_extra + 24 * nreadsegs +
	       (nwritesegs ? 8 + 16 * nwritesegs : 0) +
	       (nreplysegs ? 4 + 16 * nreplysegs : 0);
}

static u64 fuzz_less(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

static void fuzz_plan_reply(const struct rpcrdma_limits *limits,
			    const struct rpcrdma_plan_args *args,
			    enum rpcrdma_reply_form form)
{
	u32 room = limits->lm_inline_recv;
	bool as_inline = fuzz_hdr_len(limits, 0, 0, 0) + args->pa_reply_max <=
			 room && !args->pa_reply_chunk;
	bool as_write = args->pa_reduce && args->pa_reply_item &&
			fuzz_hdr_len(limits, 0, args->pa_reply_item_segs, 0) +
			fuzz_less(args->pa_reply_max, args->pa_reply_item) <=
			room;

	as_write = as_write && !args->pa_reply_chunk;
	CHECK((form == RPCRDMA_REPLY_INLINE) == as_inline);
	CHECK((form == RPCRDMA_REPLY_WRITE) == (as_write && !as_inline));
}

static void fuzz_plan_rpc(const struct rpcrdma_limits *limits,
			  const struct rpcrdma_plan_args *args)
{
	u64 short_hdr, read_hdr, long_hdr, nwritesegs = 0, nreplysegs = 0;
	u32 room = limits->lm_inline_send;
	struct rpcrdma_plan plan = { };
	bool too_long, as_inline, as_read, as_long;
	int rc;

	rc = rpcrdma_plan_rpc(limits, args, &plan);
	fuzz_plan_reply(limits, args, plan.pl_reply);
	if (plan.pl_reply == RPCRDMA_REPLY_WRITE)
		nwritesegs = args->pa_reply_item_segs;
	if (plan.pl_reply == RPCRDMA_REPLY_LONG)
		nreplysegs = args->pa_reply_segs;
	/* The header of a Long Reply returns the Reply chunk, and must fit a Receive. */
	too_long = plan.pl_reply == RPCRDMA_REPLY_LONG &&
		   fuzz_hdr_len(limits, 0, 0, nreplysegs) >
		   limits->lm_inline_recv;

	/* The plan is the cheapest form that fits a Send together with its header */
	short_hdr = fuzz_hdr_len(limits, 0, nwritesegs, nreplysegs);
	read_hdr = fuzz_hdr_len(limits, args->pa_call_item_segs, nwritesegs,
				nreplysegs);
	long_hdr = fuzz_hdr_len(limits, args->pa_call_segs, nwritesegs,
				nreplysegs);
	as_inline = short_hdr + args->pa_call_len <= room;
	as_read = args->pa_reduce && args->pa_call_item && !args->pa_no_read &&
		  read_hdr + fuzz_less(args->pa_call_len,
				       args->pa_call_item) <= room;
	as_long = long_hdr <= room && !args->pa_no_long;

	if (too_long || (!as_inline && !as_read && !as_long)) {
		CHECK(rc == -EMSGSIZE);
		return;
	}
	CHECK(rc == 0);
	CHECK((plan.pl_call == RPCRDMA_CALL_INLINE) == as_inline);
	CHECK((plan.pl_call == RPCRDMA_CALL_READ) == (as_read && !as_inline));
	CHECK(plan.pl_hdr_max == (as_inline ? short_hdr :
				  as_read ? read_hdr : long_hdr));
}

/* Check the plan of an RPC with an item in memory of another device (client/frwr.c): either the
 * item has a chunk of its own, or the RPC fails. If Call and Reply both have such an item, the RPC
 * fails if and only if one of the two chunks is not possible.
 */
static void fuzz_plan_foreign(const struct rpcrdma_limits *limits,
			      const struct rpcrdma_plan_args *args)
{
	struct rpcrdma_plan_args foreign = *args;
	struct rpcrdma_plan plan = { };
	bool as_write, as_read;
	int mask, rc;

	as_write = args->pa_reduce && args->pa_reply_item &&
		   !args->pa_reply_chunk &&
		   fuzz_hdr_len(limits, 0, args->pa_reply_item_segs, 0) +
		   fuzz_less(args->pa_reply_max, args->pa_reply_item) <=
		   limits->lm_inline_recv;
	as_read = args->pa_reduce && args->pa_call_item && !args->pa_no_read &&
		  fuzz_hdr_len(limits, args->pa_call_item_segs,
			       as_write ? args->pa_reply_item_segs : 0, 0) +
		  fuzz_less(args->pa_call_len, args->pa_call_item) <=
		  limits->lm_inline_send;
	for (mask = 1; mask <= 3; mask++) {
		foreign.pa_call_foreign = mask & 1;
		foreign.pa_reply_foreign = mask & 2;
		rc = rpcrdma_plan_rpc(limits, &foreign, &plan);
		CHECK(rc == 0 || rc == -EIO);
		if (rc == 0 && mask & 1)
			CHECK(plan.pl_call == RPCRDMA_CALL_READ);
		if (rc == 0 && mask & 2)
			CHECK(plan.pl_reply == RPCRDMA_REPLY_WRITE);
		if (mask & 2 && !as_write)
			CHECK(rc == -EIO);
		if (mask == 3)
			CHECK((rc == 0) == (as_write && as_read));
	}
}

/* Makes restrictions that a client may have learned from errors, and a Call that has room for
 * its item. The item may be empty.
 */
static void fuzz_plan_flags(struct rpcrdma_limits *limits,
			    struct rpcrdma_plan_args *args, struct fuzz_in *in)
{
	u8 flags = fuzz_u8(in);

	limits->lm_hdr_extra = flags & 1 ? RPCRDMA2_HDR_MIN -
					   RPCRDMA1_HDR_MIN : 0;
	args->pa_no_long = flags & 2;
	args->pa_no_read = flags & 4;
	args->pa_reply_chunk = flags & 16;
	args->pa_call_data = args->pa_call_item & 0xffffff;
	/* Choose a length near 8192. An item of 8192 bytes or more is placed rather than sent
	 * inline (RPCRDMA_PLAN_PLACED)
	 */
	if (flags & 64) {
		args->pa_call_data = 8190 + fuzz_u8(in) % 4;
		limits->lm_inline_send = 16384;
	}
	args->pa_call_item = (args->pa_call_data + 3) & ~3u;
	args->pa_call_len = (args->pa_call_len & 0xffffff) + args->pa_call_item;
}

/* Makes limits for groups, with valid words of the property RTX of a peer. */
static struct rpcrdma_plan_rtx
fuzz_plan_rtx(const struct rpcrdma_limits *limits,
	      const struct rpcrdma_plan_args *args, struct fuzz_in *in)
{
	struct rpcrdma_plan_rtx rtx = {
		.px_peer = {
			.xp_call_max = fuzz_u8(in), .xp_reply_max = fuzz_u8(in),
			.xp_msg_max = fuzz_num(in), .xp_nsegs = fuzz_u8(in) % 9,
		},
		.px_more = fuzz_u8(in), .px_spare = fuzz_u8(in) % 20,
		.px_long_max = fuzz_num(in), .px_write_max = fuzz_num(in),
	};
	u8 kind = fuzz_u8(in);

	if (rtx.px_peer.xp_nsegs) {
		rtx.px_peer.xp_head = 256 + fuzz_u8(in) * 4u;
		rtx.px_peer.xp_seg = 512u << kind % 8;
		rtx.px_gather = fuzz_u8(in) % 16;
	}
	/* The client uses the result of rpcrdma_layout_reach(), but any px_send must work. */
	rtx.px_send = rpcrdma_layout_reach(&rtx.px_peer, limits->lm_inline_send);
	if (kind >= 240)
		rtx.px_send = fuzz_min(fuzz_num(in), limits->lm_inline_send);
	/* In half of the cases, set a limit to the length of the item or of the Call, or to
	 * one byte more or less
	 */
	kind = fuzz_u8(in);
	if (kind % 4 == 1 && args->pa_call_data)
		rtx.px_write_max = args->pa_call_data - 1 + kind / 4 % 3;
	if (kind % 4 == 2 && args->pa_call_len)
		rtx.px_long_max = args->pa_call_len - 1 + kind / 4 % 3;
	return rtx;
}

static struct rpcrdma_layout fuzz_plan_layout(const struct rpcrdma_plan_args *args,
					      const struct rpcrdma_plan *plan)
{
	struct rpcrdma_layout layout = {
		.ly_hdr = plan->pl_hdr_max, .ly_limit = plan->pl_limit,
		.ly_stream = args->pa_call_len -
			     (plan->pl_placed ? args->pa_call_item : 0),
	};

	return layout;
}

/* Returns the number of transmissions of a Call with a placed item, if a Send may have at most
 * @segs segments.
 */
static u32 fuzz_plan_count(const struct rpcrdma_plan_args *args,
			   const struct rpcrdma_plan *plan, u32 segs)
{
	struct rpcrdma_layout layout = fuzz_plan_layout(args, plan);

	if (!rpcrdma_layout_place(&layout, &args->pa_rtx->px_peer, segs,
				  plan->pl_placed))
		return 0;
	return rpcrdma_layout_count(&layout, args->pa_rtx->px_peer.xp_call_max);
}

/* Check that the Call has the number of transmissions that the plan says, and that each is within
 * the plan's limits.
 */
static void fuzz_plan_sends(const struct rpcrdma_plan_args *args,
			    const struct rpcrdma_plan *plan)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	struct rpcrdma_layout layout = fuzz_plan_layout(args, plan);
	u32 n, own, segs = plan->pl_gathered ?: U32_MAX;
	u64 stream = 0, data = 0;
	struct rpcrdma_outgoing out;

	CHECK(rpcrdma_layout_place(&layout, &rtx->px_peer, segs,
				   plan->pl_placed));
	for (n = 0; n < plan->pl_count; n++) {
		CHECK(rpcrdma_layout_next(&layout, &out));
		CHECK(out.og_len <= plan->pl_limit);
		/* Bytes that are not gathered must fit the buffer of the Send. */
		own = out.og_len - (plan->pl_gathered ? out.og_part : 0);
		CHECK(own <= plan->pl_buf && plan->pl_buf <= plan->pl_limit);
		CHECK(out.og_part <= (u64)segs * rtx->px_peer.xp_seg);
		stream += out.og_tx.tx_here;
		data += out.og_part;
	}
	CHECK(stream == layout.ly_stream && data == plan->pl_placed);
	CHECK(!rpcrdma_layout_next(&layout, &out));

	/* Gathering must not take more transmissions than copying */
	if (!plan->pl_placed || !rtx->px_gather) {
		CHECK(!plan->pl_gathered);
		return;
	}
	CHECK(fuzz_plan_count(args, plan, U32_MAX) == plan->pl_count);
	CHECK(plan->pl_gathered ==
	      (fuzz_plan_count(args, plan, rtx->px_gather) == plan->pl_count ?
	       rtx->px_gather : 0));
}

/* A Call that is sent as a group (rtx.h). fg_hdr is the length of its first header without the
 * words of the extension. This length depends on the form of the Reply. fg_item says whether the
 * Call has an item, and fg_place whether this item is placed.
 */
struct fuzz_group {
	u64	fg_hdr;
	bool	fg_item;
	bool	fg_place;
};

static struct fuzz_group fuzz_plan_form(const struct rpcrdma_limits *limits,
					const struct rpcrdma_plan_args *args,
					enum rpcrdma_reply_form reply)
{
	u64 nwritesegs = reply == RPCRDMA_REPLY_WRITE ?
			 args->pa_reply_item_segs : 0;
	u64 nreplysegs = reply == RPCRDMA_REPLY_LONG ? args->pa_reply_segs : 0;
	bool item = args->pa_reduce && args->pa_call_item;

	return (struct fuzz_group) {
		.fg_hdr		= fuzz_hdr_len(limits, 0, nwritesegs, nreplysegs),
		.fg_item	= item,
		.fg_place	= item && args->pa_rtx->px_send,
	};
}

/* Check the plan of a Call that is a group, and that there is a reason for a group. @base is the
 * plan of the same Call without the extension; NULL if there is none.
 */
static void fuzz_plan_call_group(const struct rpcrdma_limits *limits,
				 const struct rpcrdma_plan_args *args,
				 const struct rpcrdma_plan *plan,
				 const struct rpcrdma_plan *base)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	struct fuzz_group group = fuzz_plan_form(limits, args, plan->pl_reply);
	bool item = group.fg_item, place = group.fg_place;
	u64 stream = args->pa_call_len - (place ? args->pa_call_item : 0);

	CHECK(plan->pl_count && plan->pl_count <= rtx->px_peer.xp_call_max);
	CHECK(plan->pl_placed == (place ? args->pa_call_data : 0));
	CHECK(plan->pl_limit == (place ? rtx->px_send : limits->lm_inline_send));
	CHECK(plan->pl_hdr_max == group.fg_hdr + 28 + (place ? 8 : 0));
	CHECK(stream + plan->pl_placed <= rtx->px_peer.xp_msg_max);
	CHECK(item ? args->pa_call_data <= rtx->px_write_max :
		     args->pa_call_len <= rtx->px_long_max);
	/* If RDMA2_MSG is possible, the Call is a group only to offer several Receives, or
	 * to save the server a copy
	 */
	CHECK(!base || base->pl_call != RPCRDMA_CALL_INLINE ||
	      plan->pl_reply == RPCRDMA_REPLY_GROUP ||
	      (place && args->pa_call_data >= 8192));
	fuzz_plan_sends(args, plan);
}

/* Returns whether the Call may be a group with the form of Reply in @base: it is short enough,
 * the peer accepts it, there are credits, and RDMA2_MSG would not be better.
 */
static bool fuzz_plan_may_group(const struct rpcrdma_limits *limits,
				const struct rpcrdma_plan_args *args,
				const struct rpcrdma_plan *base)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	struct fuzz_group group = fuzz_plan_form(limits, args, base->pl_reply);
	bool item = group.fg_item, place = group.fg_place;
	u64 hdr = group.fg_hdr;
	struct rpcrdma_plan plan = {
		.pl_hdr_max = hdr + 28 + (place ? 8 : 0),
		.pl_limit = place ? rtx->px_send : limits->lm_inline_send,
		.pl_placed = place ? args->pa_call_data : 0,
	};
	struct rpcrdma_layout layout = fuzz_plan_layout(args, &plan);
	u32 count;

	if (hdr > limits->lm_inline_send ||
	    layout.ly_stream + (u64)plan.pl_placed > rtx->px_peer.xp_msg_max ||
	    (item ? args->pa_call_data > rtx->px_write_max :
		    args->pa_call_len > rtx->px_long_max))
		return false;
	if (base->pl_call == RPCRDMA_CALL_INLINE &&
	    (!place || args->pa_call_data < 8192))
		return false;
	count = place ? fuzz_plan_count(args, &plan, U32_MAX) :
			rpcrdma_layout_count(&layout, rtx->px_peer.xp_call_max);
	return count && count - 1 <= rtx->px_more;
}

/* Check that a plan that is not short of credits and Receives stays the same if there are more
 * credits and Receives.
 */
static void fuzz_plan_ample(const struct rpcrdma_limits *limits,
			    const struct rpcrdma_plan_args *args,
			    const struct rpcrdma_plan *plan)
{
	struct rpcrdma_plan_rtx rtx = *args->pa_rtx;
	struct rpcrdma_plan_args more = *args;
	struct rpcrdma_plan again = { };

	if (plan->pl_short)
		return;
	rtx.px_more = U32_MAX;
	rtx.px_spare = U32_MAX;
	more.pa_rtx = &rtx;
	CHECK(!rpcrdma_plan_rpc(limits, &more, &again));
	CHECK(again.pl_call == plan->pl_call && again.pl_reply == plan->pl_reply);
	CHECK(again.pl_count == plan->pl_count && !again.pl_short);
	CHECK(again.pl_replies == plan->pl_replies);
}

/*
 * Check that if the server accepts groups, the plan is either the same as without the
 * extension, or a group within all limits.
 *
 * Covers: RTX-94 RTX-98
 */
static void fuzz_plan_group(const struct rpcrdma_limits *limits,
			    struct rpcrdma_plan_args *args, struct fuzz_in *in)
{
	struct rpcrdma_plan_rtx rtx = fuzz_plan_rtx(limits, args, in);
	struct rpcrdma_plan base = { }, plan = { };
	bool has_base = !rpcrdma_plan_rpc(limits, args, &base);

	args->pa_rtx = &rtx;
	if (rpcrdma_plan_rpc(limits, args, &plan)) {
		CHECK(!has_base);
		return;
	}
	CHECK(plan.pl_count <= 1 + rtx.px_more);
	CHECK(plan.pl_replies <= 1 + rtx.px_spare);
	CHECK(plan.pl_reply != RPCRDMA_REPLY_GROUP ||
	      (plan.pl_call == RPCRDMA_CALL_GROUP && !args->pa_reply_item &&
	       plan.pl_replies <= rtx.px_peer.xp_reply_max &&
	       plan.pl_replies <= 8));
	CHECK(plan.pl_reply == RPCRDMA_REPLY_GROUP || plan.pl_replies <= 1);
	fuzz_plan_ample(limits, args, &plan);
	if (plan.pl_call == RPCRDMA_CALL_GROUP) {
		fuzz_plan_call_group(limits, args, &plan,
				     has_base ? &base : NULL);
		return;
	}
	CHECK(has_base && plan.pl_count == 1 && !plan.pl_placed);
	CHECK(plan.pl_call == base.pl_call && plan.pl_reply == base.pl_reply);
	CHECK(plan.pl_hdr_max == base.pl_hdr_max && !plan.pl_gathered);
	CHECK(!fuzz_plan_may_group(limits, args, &base));
}

static void fuzz_plan_answer(const struct rpcrdma_limits *limits,
			     struct fuzz_in *in)
{
	u32 hdr_len = fuzz_num(in), body_len = fuzz_num(in);
	u32 chunk_len = fuzz_num(in), room = limits->lm_inline_send;
	bool offered = fuzz_u8(in) % 2, prefer = fuzz_u8(in) % 2;
	bool fits = (u64)hdr_len + body_len <= room;
	bool use_chunk = offered && chunk_len && !(prefer && fits);

	switch (rpcrdma_plan_answer(limits, hdr_len, body_len,
				    offered ? chunk_len : 0, prefer)) {
	case RPCRDMA_ANSWER_INLINE:
		CHECK(fits && !use_chunk);
		break;
	case RPCRDMA_ANSWER_GROUP:
		CHECK(false);
		break;
	case RPCRDMA_ANSWER_LONG:
		CHECK(use_chunk && body_len <= chunk_len && hdr_len <= room);
		break;
	case RPCRDMA_ANSWER_ERROR:
		CHECK(use_chunk ? body_len > chunk_len || hdr_len > room :
				  !fits);
		break;
	}
}

void fuzz_plan(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	/* Private data cannot announce larger limits */
	struct rpcrdma_limits limits = {
		.lm_inline_send = fuzz_num(&in) % 262145,
		.lm_inline_recv = fuzz_num(&in) % 262145,
	};
	struct rpcrdma_plan_args args = {
		.pa_call_len = fuzz_num(&in), .pa_call_item = fuzz_num(&in),
		.pa_reply_max = fuzz_num(&in), .pa_reply_item = fuzz_num(&in),
		.pa_call_item_segs = fuzz_num(&in),
		.pa_call_segs = fuzz_num(&in),
		.pa_reply_item_segs = fuzz_num(&in),
		.pa_reply_segs = fuzz_num(&in),
		.pa_reduce = fuzz_u8(&in) % 4,
	};
	u32 reads = fuzz_num(&in), writes = fuzz_num(&in);
	u32 writesegs = fuzz_num(&in), replysegs = fuzz_num(&in);
	u64 len = 12 + 24ull * reads + 8ull * writes + 16ull * writesegs;

	fuzz_plan_rpc(&limits, &args);
	fuzz_plan_answer(&limits, &in);
	fuzz_plan_flags(&limits, &args, &in);
	fuzz_plan_rpc(&limits, &args);
	fuzz_plan_foreign(&limits, &args);
	fuzz_plan_group(&limits, &args, &in);

	if (replysegs)
		len += 4 + 16ull * replysegs;
	CHECK(rpcrdma_wire_lists_len(reads, writes, writesegs, replysegs) ==
	      fuzz_min(len, U32_MAX));
}

/* --- sizes --- */

static u64 fuzz_div_up(u64 n, u64 by)
{
	return (n + by - 1) / by;
}

/* Returns the largest number of pages that a payload can touch. It touches so many if it begins at
 * the last byte of a page.
 */
static u64 fuzz_pages(u32 max_payload, u32 page_size)
{
	return fuzz_max(fuzz_div_up((u64)max_payload + page_size - 1,
				    page_size), 1);
}

/* Returns the number of entries of a receive queue: one for each message, and spare ones. */
static u64 fuzz_recvs(u64 requests, u64 bc_requests)
{
	return requests + bc_requests + RPCRDMA_RECV_BATCH +
	       RPCRDMA_RECV_SPARE + RPCRDMA_DRAIN_WRS;
}

/* Do the queues of a client connection with @requests requests fit the device? */
static bool fuzz_client_fits(const struct rpcrdma_device_caps *caps,
			     u64 requests, u64 bc_requests, u64 wrs)
{
	/* A Send for each request, and the other work requests of one RPC of the largest size */
	u64 sq = requests + bc_requests + RPCRDMA_SQ_EXTRA + wrs - 1;
	u64 rq = fuzz_recvs(requests, bc_requests);

	return sq <= caps->dc_max_qp_wr && rq <= caps->dc_max_qp_wr &&
	       sq + rq <= caps->dc_max_cqe;
}

/* Check the spare Receives: as many as the queues have room for, up to RPCRDMA_CLIENT_SPARE. */
static void fuzz_size_spare(const struct rpcrdma_device_caps *caps,
			    const struct rpcrdma_client_sizes *cz)
{
	u64 spare = rpcrdma_size_client_spare(caps, cz);
	u64 rq = cz->cz_rq_depth + spare;

	CHECK(spare <= RPCRDMA_CLIENT_SPARE);
	CHECK(rq <= caps->dc_max_qp_wr);
	CHECK(rq + cz->cz_sq_depth <= caps->dc_max_cqe);
	CHECK(spare == RPCRDMA_CLIENT_SPARE || rq == caps->dc_max_qp_wr ||
	      rq + cz->cz_sq_depth == caps->dc_max_cqe);
}

static void fuzz_size_client(const struct rpcrdma_device_caps *caps,
			     u32 requests, u32 bc_requests, u32 max_payload,
			     u32 page_size)
{
	u64 pages = fuzz_pages(max_payload, page_size), wrs, mrs;
	struct rpcrdma_client_sizes cz = { };
	int rc;

	rc = rpcrdma_size_client(caps, requests, bc_requests, max_payload,
				 page_size, &cz);
	if (!requests) {
		CHECK(rc == -EINVAL);
		return;
	}
	if (!caps->dc_frwr || !caps->dc_max_mr_pages) {
		CHECK(rc == -EOPNOTSUPP);
		return;
	}
	mrs = fuzz_min(fuzz_div_up(pages, fuzz_min(caps->dc_max_mr_pages,
						   pages)),
		       RPCRDMA_CLIENT_SEGS);
	/* Head and tail may be registered, too. Each region needs two entries of the queue. */
	wrs = 1 + 2 * (mrs + 2);
	if (caps->dc_max_mr < mrs + 2 ||
	    !fuzz_client_fits(caps, 1, bc_requests, wrs)) {
		CHECK(rc == -EOPNOTSUPP);
		return;
	}

	CHECK(rc == 0);
	CHECK(cz.cz_mrs_per_rpc == mrs);
	CHECK(cz.cz_mr_pages && cz.cz_mr_pages <= caps->dc_max_mr_pages);
	CHECK((u64)cz.cz_mr_pages * mrs >= pages || mrs == RPCRDMA_CLIENT_SEGS);
	CHECK(cz.cz_requests && cz.cz_requests <= requests);
	CHECK(fuzz_client_fits(caps, cz.cz_requests, bc_requests, wrs));
	CHECK(cz.cz_requests == requests ||
	      !fuzz_client_fits(caps, cz.cz_requests + 1ull, bc_requests, wrs));
	CHECK(cz.cz_bc_requests == bc_requests);
	CHECK(cz.cz_sq_depth <= caps->dc_max_qp_wr);
	CHECK(cz.cz_sq_depth >= cz.cz_requests + bc_requests +
				RPCRDMA_SQ_EXTRA + wrs - 1);
	CHECK(cz.cz_rq_depth <= caps->dc_max_qp_wr);
	CHECK(cz.cz_rq_depth == fuzz_recvs(cz.cz_requests, bc_requests));
	CHECK(cz.cz_recvs == cz.cz_rq_depth - RPCRDMA_DRAIN_WRS);
	CHECK((u64)cz.cz_sq_depth + cz.cz_rq_depth <= caps->dc_max_cqe);
	fuzz_size_spare(caps, &cz);
}

/* Number of regions that a server has for RDMA Reads: those of the largest Call, and those
 * of another Call of our client at the same time. Each region takes three work requests.
 */
#define FUZZ_READ_MRS	(RPCRDMA_MAX_SEGS + RPCRDMA_CLIENT_SEGS)

/* Do the queues of a server connection with @requests Calls fit the device? The send queue needs
 * room for one Send and one transfer. If RDMA Reads use regions, it needs room for
 * %RPCRDMA_CLIENT_SEGS Reads. The two completion queues have at most dc_max_cqe entries together.
 */
static bool fuzz_server_fits(const struct rpcrdma_device_caps *caps,
			     u64 requests, u64 bc_requests, u64 wrs)
{
	u64 sq = 1ull + bc_requests + RPCRDMA_SQ_EXTRA + wrs;
	u64 rq = fuzz_recvs(requests, bc_requests);

	if (caps->dc_read_mrs)
		sq = fuzz_max(sq, RPCRDMA_SQ_EXTRA + 3 * RPCRDMA_CLIENT_SEGS);
	return sq <= caps->dc_max_qp_wr && rq <= caps->dc_max_qp_wr &&
	       sq + rq <= caps->dc_max_cqe;
}

static void fuzz_size_server(const struct rpcrdma_device_caps *caps,
			     u32 requests, u32 bc_requests, u32 max_payload,
			     u32 page_size)
{
	u64 sges = fuzz_min(caps->dc_max_send_sge, 32), read_sges = sges, wrs;
	struct rpcrdma_server_sizes sz = { };
	int rc;

	rc = rpcrdma_size_server(caps, requests, bc_requests, max_payload,
				 page_size, &sz);
	if (!requests) {
		CHECK(rc == -EINVAL);
		return;
	}
	/* On iWARP, an RDMA Read needs a region */
	if (!sges || (caps->dc_iwarp &&
		      (!caps->dc_frwr || !caps->dc_max_mr_pages))) {
		CHECK(rc == -EOPNOTSUPP);
		return;
	}
	if (!caps->dc_iwarp && caps->dc_max_sge_rd)
		read_sges = fuzz_min(sges, caps->dc_max_sge_rd);
	wrs = fuzz_div_up(fuzz_pages(max_payload, page_size), read_sges) +
	      RPCRDMA_CLIENT_SEGS;
	if (!fuzz_server_fits(caps, 1, bc_requests, wrs)) {
		CHECK(rc == -EOPNOTSUPP);
		return;
	}

	CHECK(rc == 0);
	CHECK(sz.sz_send_sges == sges);
	CHECK(sz.sz_requests && sz.sz_requests <= requests);
	CHECK(fuzz_server_fits(caps, sz.sz_requests, bc_requests, wrs));
	CHECK(sz.sz_requests == requests ||
	      !fuzz_server_fits(caps, sz.sz_requests + 1ull, bc_requests, wrs));
	CHECK(sz.sz_bc_requests == bc_requests);
	CHECK(sz.sz_sq_depth <= caps->dc_max_qp_wr);
	CHECK((u64)sz.sz_sq_depth + sz.sz_rq_depth <= caps->dc_max_cqe);
	/* If there is room, the queue has a Send for every second Call besides one transfer */
	CHECK(sz.sz_sq_depth >= fuzz_min(fuzz_div_up(sz.sz_requests, 2) +
					 bc_requests + RPCRDMA_SQ_EXTRA + wrs,
					 fuzz_min(caps->dc_max_qp_wr,
						  caps->dc_max_cqe -
						  sz.sz_rq_depth)));
	/* If the device has room, the work requests for all FUZZ_READ_MRS regions fit */
	CHECK(!caps->dc_read_mrs ||
	      sz.sz_sq_depth >= fuzz_min(RPCRDMA_SQ_EXTRA + 3 * FUZZ_READ_MRS,
					 fuzz_min(caps->dc_max_qp_wr,
						  caps->dc_max_cqe -
						  sz.sz_rq_depth)));
	CHECK(sz.sz_rq_depth <= caps->dc_max_qp_wr);
	CHECK(sz.sz_rq_depth == fuzz_recvs(sz.sz_requests, bc_requests));
	CHECK(sz.sz_recvs == sz.sz_rq_depth - RPCRDMA_DRAIN_WRS);
	CHECK(sz.sz_read_mrs == (caps->dc_read_mrs ? FUZZ_READ_MRS : 0));
	CHECK(sz.sz_ord >= 1 && sz.sz_ord <= 255);
	CHECK(sz.sz_ord == 1 || (sz.sz_ord <= caps->dc_max_init_rd_atom &&
				 sz.sz_ord <= caps->dc_max_rd_atom));
}

/*
 * Check that enough Receives are posted for @messages even while all but one of a batch wait to
 * be posted again.
 *
 * Covers: V1-CRD-09
 */
static void fuzz_size_recvs(u32 messages)
{
	u64 recvs = rpcrdma_size_recvs(messages);
	u64 batch = rpcrdma_size_recv_batch(recvs);

	CHECK(recvs + 1 >= messages + fuzz_max(batch, 1));
	CHECK(batch <= RPCRDMA_RECV_BATCH && batch <= recvs / 4);
	CHECK(recvs < messages + (u64)RPCRDMA_RECV_BATCH);
	/* The inverse: @recvs Receives are enough for @messages credits, and one fewer is not. */
	CHECK(rpcrdma_size_credits(recvs, 0) >= messages);
	CHECK(!messages || rpcrdma_size_credits(recvs - 1, 0) < messages);
	CHECK(!rpcrdma_size_credits(recvs, U32_MAX));
}

/* Check that rpcrdma_size_recvs_fit() returns as many Receives as fit, and not one more. */
static void fuzz_size_fit(u64 bytes, u64 bytes_max, u32 size)
{
	u64 more = rpcrdma_size_recvs_fit(bytes, bytes_max, size);

	CHECK(!more || bytes + more * size <= bytes_max);
	CHECK(more == U32_MAX || bytes + (more + 1) * size > bytes_max);
}

/* Check the layout of a Receive with target segments (rtx.h): each target is a page, and a Send as
 * long as the Receive reaches the end of the last target. The property RTX is valid if RBSIZ is the
 * size of the Receive, but not if RBSIZ is smaller.
 */
static void fuzz_size_targets(u32 pages, u32 page_size)
{
	bool has = (pages == 2 || pages == 4 || pages == 8) && page_size == 4096;
	struct rpcrdma2_props props;
	struct rpcrdma2_rtx *rtx = &props.vp_rtx;
	u8 buf[96];
	u32 size;

	rpcrdma2_props_default(&props);
	*rtx = (struct rpcrdma2_rtx){ 3, 1, 2, 65536, 5, 6, 7 };
	size = rpcrdma_size_targets(pages, page_size, rtx);
	CHECK(rtx->xp_flags == 3 && rtx->xp_call_max == 1 &&
	      rtx->xp_reply_max == 2 && rtx->xp_msg_max == 65536);
	CHECK(!size == !has);
	CHECK(size == rtx->xp_head + rtx->xp_seg * rtx->xp_nsegs);
	CHECK(rpcrdma_layout_reach(rtx, size) == size);
	if (has) {
		/* The Receive ends with its last page, so each segment is a page */
		CHECK(size < pages * page_size);
		CHECK(rtx->xp_seg == page_size && rtx->xp_nsegs == pages - 1);
		props.vp_value[RPCRDMA2_PROP_RBSIZ] = size;
	}
	CHECK(rpcrdma2_encode_connprop(buf, sizeof(buf), 1, 1, false,
				       &props) == 84);
	if (has) {
		props.vp_value[RPCRDMA2_PROP_RBSIZ]--;
		CHECK(rpcrdma2_encode_connprop(buf, sizeof(buf), 1, 1, false,
					       &props) == -EINVAL);
	}
}

void fuzz_size(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_device_caps caps = {
		.dc_max_qp_wr = fuzz_num(&in), .dc_max_cqe = fuzz_num(&in),
		.dc_max_send_sge = fuzz_num(&in), .dc_max_sge_rd = fuzz_num(&in),
		.dc_max_mr_pages = fuzz_num(&in), .dc_max_mr = fuzz_num(&in),
		.dc_max_init_rd_atom = fuzz_num(&in),
		.dc_max_rd_atom = fuzz_num(&in),
		.dc_frwr = fuzz_u8(&in) % 16, .dc_iwarp = fuzz_u8(&in) % 2,
		.dc_read_mrs = fuzz_u8(&in) % 2,
	};
	u32 requests = fuzz_num(&in), bc_requests = fuzz_num(&in);
	u32 max_payload = fuzz_num(&in), at = fuzz_num(&in);
	/* Powers of two, from 16 bytes to a gigabyte */
	u32 page_size = 16u << fuzz_u8(&in) % 27;
	u32 mr_pages = fuzz_max(fuzz_num(&in), 1);

	CHECK(rpcrdma_size_mrs(max_payload, at, page_size, mr_pages) ==
	      (max_payload ?
	       fuzz_div_up(fuzz_div_up((u64)max_payload + at % page_size,
				       page_size), mr_pages) : 0));
	fuzz_size_recvs(fuzz_num(&in) / 2);
	fuzz_size_fit(at, (u64)mr_pages * page_size, page_size);
	fuzz_size_fit(at, max_payload, page_size);
	fuzz_size_targets(requests % 16, 4096);
	fuzz_size_targets(requests, page_size);
	fuzz_size_client(&caps, requests, bc_requests, max_payload, page_size);
	fuzz_size_server(&caps, requests, bc_requests, max_payload, page_size);
}

/* --- grants --- */

#define FUZZ_CREDITS	8u

/*
 * Target grant: a responder that takes credits back, and a requester that uses its latest grant.
 * Calls arrive in the order in which they were sent, and Replies in the order in which they were
 * posted. Of all Replies that are being posted, either the first or the last one is posted next. No
 * Call counts as long as one of them has a grant from before the last time that it was lowered.
 */
void fuzz_grant(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 posting = 0, under_way = 0, calls = 0, believes = 1, in_flight = 0;
	u32 says[FUZZ_CREDITS], reply[FUZZ_CREDITS], n, credits, old = 0;
	struct rpcrdma_grant grant = { .gn_granted = 1, .gn_bound = 1 };

	while (in.fi_left) {
		credits = fuzz_u8(&in) % FUZZ_CREDITS + 1;
		switch (fuzz_u8(&in) % 6) {
		case 0:
			in_flight += in_flight < believes;
			calls = in_flight - posting - under_way;
			break;
		case 1:
			if (!calls)
				break;
			if (grant.gn_bound > grant.gn_granted && !old)
				rpcrdma_grant_arrived(&grant, 1);
			says[posting++] = grant.gn_granted;
			calls--;
			break;
		case 2:
			if (!posting)
				break;
			n = credits % 2 ? posting - 1 : 0;
			reply[under_way++] = says[n];
			old -= n < old;
			posting--;
			memmove(says + n, says + n + 1,
				(posting - n) * sizeof(*says));
			break;
		case 3:
			if (!under_way)
				break;
			believes = reply[0];
			memmove(reply, reply + 1, --under_way * sizeof(*reply));
			in_flight--;
			break;
		case 4:
			if (credits >= grant.gn_granted)
				rpcrdma_grant_raise(&grant, credits);
			break;
		default:
			if (rpcrdma_grant_lower(&grant, credits))
				old = posting;
			break;
		}
		CHECK(believes <= grant.gn_bound && in_flight <= grant.gn_bound);
		CHECK(grant.gn_granted <= grant.gn_bound);
	}
}

/* Target need: messages that are taken and answered at any times, and credits that grow with the
 * need that is found
 */
void fuzz_need(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 taken = 0, answered = 0, told = 2, used, rtt;
	struct rpcrdma_need need = { }, was;
	u64 now = 0;

	while (in.fi_left) {
		now += fuzz_num(&in);
		was = need;
		switch (fuzz_u8(&in) % 4) {
		case 0:
			rpcrdma_need_sent(&need, fuzz_num(&in));
			break;
		case 1:
			if (!taken)
				need.nd_since = now;
			answered += answered < taken;
			break;
		default:
			if (!taken++) {
				rpcrdma_need_heard(&need, now, answered);
				break;
			}
			used = rpcrdma_need_used(&need, now, taken - 1,
						 answered, told);
			CHECK(used <= taken - was.nd_answered);
			used = rpcrdma_need_grows(used, told);
			told = fuzz_max(told, fuzz_min(used, 1024));
			break;
		}
		rtt = need.nd_rtt;
		CHECK(taken ? rtt : !rtt || rtt >= 30000);
		CHECK(!was.nd_rtt || rtt <= was.nd_rtt);
	}
}
