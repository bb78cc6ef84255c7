// SPDX-License-Identifier: GPL-2.0
/*
 * Targets for functions that compute with numbers: private data, credits, plans, sizes, grants. They get numbers of any
 * size, the sanitizers find sums that wrap, and the checks find results that exceed a limit. The unit tests show which
 * of the possible results is the right one.
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

/*
 * Target props: any private data of a peer, and any of ours.
 *
 * Covers: V1-CRD-20
 */
void fuzz_props(const u8 *data, size_t size)
{
	static const u8 magic[] = { 0xf6, 0xab, 0x0e, 0x18, 1 };
	struct fuzz_in in = fuzz_choices(data, &size);
	struct rpcrdma_cm_private read, ours = {
		.cp_send_size = fuzz_num(&in), .cp_recv_size = fuzz_num(&in),
		.cp_remote_inv = fuzz_u8(&in) % 2,
	};
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
	CHECK(!found || (read.cp_remote_inv == (found[5] & 1) &&
			 read.cp_send_size == (found[6] + 1) * 1024 &&
			 read.cp_recv_size == (found[7] + 1) * 1024));
	/* Our sizes are used as we announced them, in whole kibibytes. */
	rpcrdma_props_limits(&ours, block, size, &limits);
	free(block);
	CHECK(limits.lm_inline_send ==
	      fuzz_min(fuzz_cm_size(ours.cp_send_size),
		       found ? read.cp_recv_size : RPCRDMA1_INLINE_DEFAULT));

	rpcrdma2_props_limits(&ours, NULL, &limits);
	CHECK(limits.lm_inline_send == fuzz_min(ours.cp_send_size, 4096));

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
	u32 number, in_flight;
	struct rpcrdma_window win;
	u64 used;

	rpcrdma_window_reset(&win, 0);
	while (in.fi_left) {
		number = fuzz_num(&in);
		in_flight = fuzz_num(&in);
		switch (fuzz_u8(&in) % 8) {
		case 0:
			rpcrdma_window_reset(&win, number);
			break;
		case 1:
			rpcrdma_window_grant_error(&win, number);
			break;
		case 2:
			win.wn_owed++;
			break;
		case 3:
			rpcrdma_window_repay(&win);
			break;
		case 4:
			rpcrdma_window_take_more(&win, in_flight, number);
			break;
		case 5:
			rpcrdma_window_give_more(&win, number);
			break;
		default:
			rpcrdma_window_grant(&win, number);
		}
		CHECK(win.wn_granted && win.wn_granted <= win.wn_requested);
		used = (u64)win.wn_owed + win.wn_more + in_flight;
		CHECK(rpcrdma_window_room(&win, in_flight) ==
		      fuzz_max(win.wn_granted, used) - used);
	}
}

/* --- plans --- */

/* Check that the chosen forms of Call and Reply are allowed, and that both headers fit their Sends, with what is
 * inline behind them.
 */
static void fuzz_plan_fits(const struct rpcrdma_limits *limits,
			   const struct rpcrdma_plan_args *args,
			   const struct rpcrdma_plan *plan)
{
	u64 hdr = 28 + limits->lm_hdr_extra;
	u64 call = plan->pl_hdr_max, reply = hdr;

	CHECK(call >= hdr);
	if (plan->pl_call == RPCRDMA_CALL_INLINE)
		call += args->pa_call_len;
	if (plan->pl_call == RPCRDMA_CALL_READ) {
		CHECK(args->pa_reduce && args->pa_call_item && !args->pa_no_read);
		call += args->pa_call_len -
			fuzz_min(args->pa_call_item, args->pa_call_len);
	}
	CHECK(plan->pl_call != RPCRDMA_CALL_LONG || !args->pa_no_long);
	CHECK(call <= limits->lm_inline_send);

	if (plan->pl_reply == RPCRDMA_REPLY_INLINE)
		reply += args->pa_reply_max;
	if (plan->pl_reply == RPCRDMA_REPLY_WRITE) {
		CHECK(args->pa_reduce && args->pa_reply_item);
		reply += 16ull * args->pa_reply_item_segs + args->pa_reply_max -
			 fuzz_min(args->pa_reply_item, args->pa_reply_max);
	}
	if (plan->pl_reply == RPCRDMA_REPLY_LONG)
		reply += 16ull * args->pa_reply_segs;
	CHECK(plan->pl_reply == RPCRDMA_REPLY_LONG || !args->pa_reply_chunk);
	CHECK(reply <= limits->lm_inline_recv);
}

static void fuzz_plan_rpc(const struct rpcrdma_limits *limits,
			  const struct rpcrdma_plan_args *args)
{
	struct rpcrdma_plan plan = { };
	int rc = rpcrdma_plan_rpc(limits, args, &plan);

	CHECK(!rc || rc == -EMSGSIZE);
	if (!rc)
		fuzz_plan_fits(limits, args, &plan);
}

/* Check the plan of an RPC with an item in memory of another device (client/frwr.c): either the
 * item has a chunk of its own, or the RPC fails.
 */
static void fuzz_plan_foreign(const struct rpcrdma_limits *limits,
			      const struct rpcrdma_plan_args *args)
{
	struct rpcrdma_plan_args foreign = *args;
	struct rpcrdma_plan plan = { };
	int mask, rc;

	for (mask = 1; mask <= 3; mask++) {
		foreign.pa_call_foreign = mask & 1;
		foreign.pa_reply_foreign = mask & 2;
		rc = rpcrdma_plan_rpc(limits, &foreign, &plan);
		CHECK(!rc || rc == -EIO);
		if (rc)
			continue;
		CHECK(!(mask & 1) || plan.pl_call == RPCRDMA_CALL_READ);
		CHECK(!(mask & 2) || plan.pl_reply == RPCRDMA_REPLY_WRITE);
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

/* Check that the Call has the number of transmissions that the plan says, and that each is within
 * the limits of the plan and of the peer.
 */
static void fuzz_plan_sends(const struct rpcrdma_plan_args *args,
			    const struct rpcrdma_plan *plan)
{
	const struct rpcrdma_plan_rtx *rtx = args->pa_rtx;
	struct rpcrdma_layout layout = {
		.ly_hdr = plan->pl_hdr_max, .ly_limit = plan->pl_limit,
		.ly_stream = args->pa_call_len -
			     (plan->pl_placed ? args->pa_call_item : 0),
	};
	u32 n, own, segs = plan->pl_gathered ?: U32_MAX;
	u64 stream = 0, data = 0;
	struct rpcrdma_outgoing out;

	CHECK(plan->pl_count && plan->pl_count <= rtx->px_peer.xp_call_max);
	CHECK(plan->pl_gathered <= rtx->px_gather);
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
	CHECK(stream + data <= rtx->px_peer.xp_msg_max);
	CHECK(!rpcrdma_layout_next(&layout, &out));
}

/* Check the length up to which items go by Sends. A longer round trip never lowers this length. */
static void fuzz_plan_write_max(const struct rpcrdma2_rtx *peer, u32 send,
				struct fuzz_in *in)
{
	u32 rtt = fuzz_num(in), fixed = fuzz_num(in), limit;

	limit = rpcrdma_plan_write_max(peer, send, rtt, fixed);
	CHECK(limit <= peer->xp_msg_max);
	CHECK(limit <= (u64)peer->xp_call_max * send);
	CHECK(limit <= (fixed ?: RPCRDMA_PLAN_MOST));
	CHECK(rpcrdma_plan_write_max(peer, send, rtt / 2, fixed) <= limit);
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

	fuzz_plan_write_max(&rtx.px_peer, limits->lm_inline_send, in);
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
	if (plan.pl_call == RPCRDMA_CALL_GROUP) {
		CHECK(args->pa_reduce && args->pa_call_item ?
		      args->pa_call_data <= rtx.px_write_max :
		      args->pa_call_len <= rtx.px_long_max);
		fuzz_plan_sends(args, &plan);
		return;
	}
	CHECK(has_base && plan.pl_count == 1 && !plan.pl_placed);
	CHECK(plan.pl_call == base.pl_call && plan.pl_reply == base.pl_reply);
	CHECK(plan.pl_hdr_max == base.pl_hdr_max && !plan.pl_gathered);
}

static void fuzz_plan_answer(const struct rpcrdma_limits *limits,
			     struct fuzz_in *in)
{
	u32 hdr_len = fuzz_num(in), body_len = fuzz_num(in);
	u32 chunk_len = fuzz_num(in), room = limits->lm_inline_send;
	bool fits = (u64)hdr_len + body_len <= room;

	switch (rpcrdma_plan_answer(limits, hdr_len, body_len, chunk_len,
				    fuzz_u8(in) % 2)) {
	case RPCRDMA_ANSWER_INLINE:
		CHECK(fits);
		break;
	case RPCRDMA_ANSWER_LONG:
		CHECK(body_len <= chunk_len && hdr_len <= room);
		break;
	case RPCRDMA_ANSWER_ERROR:
		CHECK(chunk_len || !fits);
		break;
	default:
		CHECK(false);
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

/* Do the queues of a connection fit the device? The two completion queues have at most dc_max_cqe entries together. */
static bool fuzz_size_fits(const struct rpcrdma_device_caps *caps, u64 sq, u64 rq)
{
	return sq <= caps->dc_max_qp_wr && rq <= caps->dc_max_qp_wr &&
	       sq + rq <= caps->dc_max_cqe;
}

static void fuzz_size_client(const struct rpcrdma_device_caps *caps,
			     u32 requests, u32 bc_requests, u32 max_payload,
			     u32 page_size)
{
	struct rpcrdma_client_sizes cz = { }, more = { };
	u64 spare;
	int rc;

	rc = rpcrdma_size_client(caps, requests, bc_requests, max_payload,
				 page_size, &cz);
	CHECK(!rc || rc == (requests ? -EOPNOTSUPP : -EINVAL));
	if (rc)
		return;
	CHECK(cz.cz_mr_pages && cz.cz_mr_pages <= caps->dc_max_mr_pages);
	CHECK(cz.cz_mrs_per_rpc && cz.cz_mrs_per_rpc <= RPCRDMA_CLIENT_SEGS);
	CHECK(cz.cz_requests && cz.cz_requests <= requests);
	CHECK(fuzz_size_fits(caps, cz.cz_sq_depth, cz.cz_rq_depth));
	CHECK(cz.cz_sq_depth >= (u64)cz.cz_requests + bc_requests);
	CHECK(cz.cz_recvs >= (u64)cz.cz_requests + bc_requests);
	CHECK(cz.cz_recvs < cz.cz_rq_depth);
	/* These are as many requests as the device allows, and as many spare Receives. */
	CHECK(!rpcrdma_size_client(caps, U32_MAX, bc_requests, max_payload,
				   page_size, &more));
	CHECK(cz.cz_requests == fuzz_min(requests, more.cz_requests));
	spare = rpcrdma_size_client_spare(caps, &cz);
	CHECK(fuzz_size_fits(caps, cz.cz_sq_depth, cz.cz_rq_depth + spare));
	CHECK(spare == RPCRDMA_CLIENT_SPARE ||
	      (spare < RPCRDMA_CLIENT_SPARE &&
	       !fuzz_size_fits(caps, cz.cz_sq_depth, cz.cz_rq_depth + spare + 1)));
}

static void fuzz_size_server(const struct rpcrdma_device_caps *caps,
			     u32 requests, u32 bc_requests, u32 max_payload,
			     u32 page_size)
{
	struct rpcrdma_server_sizes sz = { }, more = { };
	int rc;

	rc = rpcrdma_size_server(caps, requests, bc_requests, max_payload,
				 page_size, &sz);
	CHECK(!rc || rc == (requests ? -EOPNOTSUPP : -EINVAL));
	if (rc)
		return;
	CHECK(sz.sz_send_sges && sz.sz_send_sges <= caps->dc_max_send_sge);
	CHECK(sz.sz_requests && sz.sz_requests <= requests);
	CHECK(fuzz_size_fits(caps, sz.sz_sq_depth, sz.sz_rq_depth));
	CHECK(sz.sz_sq_depth > bc_requests);
	CHECK(sz.sz_rq_depth > (u64)sz.sz_requests + bc_requests);
	CHECK(!rpcrdma_size_server(caps, U32_MAX, bc_requests, max_payload,
				   page_size, &more));
	CHECK(sz.sz_requests == fuzz_min(requests, more.sz_requests));
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

	CHECK(recvs + 1 >= messages + fuzz_max(rpcrdma_size_recv_batch(recvs), 1));
	CHECK(rpcrdma_size_credits(recvs, 0) >= messages);
	CHECK(!rpcrdma_size_credits(recvs, U32_MAX));
}

/* Check that rpcrdma_size_recvs_fit() returns as many Receives as fit, and not one more. */
static void fuzz_size_fit(u64 bytes, u64 bytes_max, u32 size)
{
	u64 more = rpcrdma_size_recvs_fit(bytes, bytes_max, size);

	CHECK(!more || bytes + more * size <= bytes_max);
	CHECK(more == U32_MAX || bytes + (more + 1) * size > bytes_max);
}

/* Check the layout of a Receive with target segments (rtx.h): a Send as long as the Receive reaches the end of the
 * last target, and the property RTX is valid if RBSIZ is the size of the Receive, but not if it is smaller.
 */
static void fuzz_size_targets(u32 pages, u32 page_size)
{
	struct rpcrdma2_props props;
	struct rpcrdma2_rtx *rtx = &props.vp_rtx;
	u8 buf[96];
	u32 size;

	rpcrdma2_props_default(&props);
	*rtx = (struct rpcrdma2_rtx){ 3, 1, 2, 65536, 5, 6, 7 };
	size = rpcrdma_size_targets(pages, page_size, rtx);
	CHECK(size == rtx->xp_head + rtx->xp_seg * rtx->xp_nsegs);
	CHECK(rpcrdma_layout_reach(rtx, size) == size);
	if (!size)
		return;
	CHECK(size < pages * page_size);
	props.vp_value[RPCRDMA2_PROP_RBSIZ] = size;
	CHECK(rpcrdma2_encode_connprop(buf, sizeof(buf), 1, 1, false,
				       &props) == 84);
	props.vp_value[RPCRDMA2_PROP_RBSIZ]--;
	CHECK(rpcrdma2_encode_connprop(buf, sizeof(buf), 1, 1, false,
				       &props) == -EINVAL);
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

	CHECK((u64)rpcrdma_size_mrs(max_payload, at, page_size, mr_pages) *
	      mr_pages * page_size >= max_payload);
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
