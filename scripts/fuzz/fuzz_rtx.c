// SPDX-License-Identifier: GPL-2.0
/*
 * The round-trip extension. There are three targets. rtx-msg: any bytes are decoded, both as a
 * transmission and as a CONNPROP. rtx-group: a receiver gets any sequence of transmissions.
 * rtx-layout: a sender divides any message, and a receiver assembles it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <rpcrdma/group.h>
#include <rpcrdma/rtx.h>

#include "../../net/wire/xdr.h"
#include "fuzz.h"

#define FUZZ_RTX_MOST	256u

/* --- any bytes ------------------------------------------------------------- */

static void fuzz_rtx_peek(const u8 *msg, u32 len,
			  const struct rpcrdma2_transmission *tx)
{
	u32 fixed = tx->tx_first ? RPCRDMA2_RTX_FIXED : RPCRDMA2_RTX_NEXT_LEN;

	CHECK(len >= RPCRDMA2_PREFIX_LEN);
	CHECK(tx->tx_xid == fuzz_word(msg, 0) && fuzz_word(msg, 1) == 2);
	CHECK(tx->tx_credit == fuzz_word(msg, 2));
	CHECK(fuzz_word(msg, 3) == (tx->tx_first ? RPCRDMA2_RTX_MSG : RPCRDMA2_RTX_NEXT));
	CHECK(tx->tx_response == (fuzz_word(msg, 4) & 1));
	CHECK(tx->tx_len == len && tx->tx_short == (len < fixed));
	if (tx->tx_short)
		return;
	CHECK(tx->tx_here == fuzz_word(msg, 7));
	CHECK(tx->tx_data == fuzz_word(msg, 8));
	if (tx->tx_first) {
		CHECK(tx->tx_count == fuzz_word(msg, 5));
		CHECK(tx->tx_stream == fuzz_word(msg, 6));
		CHECK(tx->tx_replies == fuzz_word(msg, 9));
		CHECK(tx->tx_results == fuzz_word(msg, 10));
		CHECK(tx->tx_nitems == fuzz_word(msg, 11));
	} else {
		CHECK(tx->tx_number == fuzz_word(msg, 5));
		CHECK(tx->tx_offset == fuzz_word(msg, 6));
	}
}

/* Check that item and chunks do not overlap, and that the item is within the message. */
static void fuzz_rtx_item(const struct rpcrdma2_item *item,
			  const struct rpcrdma_lists *lists, u32 stream)
{
	u64 end = item->im_position + (u64)item->im_length;
	u64 gone = 0;
	u32 i;

	CHECK(item->im_length && item->im_position >= 8);
	CHECK(item->im_position % 4 == 0);
	for (i = 0; i < lists->ls_nreads; i++) {
		const struct rpcrdma_chunk *chunk = &lists->ls_read[i];

		CHECK(chunk->ck_position >= end ||
		      (u64)chunk->ck_position + chunk->ck_length <=
		      item->im_position);
		gone += ((u64)chunk->ck_length + 3) / 4 * 4;
	}
	CHECK(item->im_position <= stream + gone);
}

/* Encode the header of an accepted Call again. If a sender may send it, decoding gives the
 * same lists.
 */
static void fuzz_rtx_again(const u8 *msg,
			   const struct rpcrdma2_transmission *tx,
			   const struct rpcrdma2_item *item,
			   const struct rpcrdma_hdr *hdr)
{
	static struct fuzz_call call;
	static struct rpcrdma_hdr again;
	u32 len = hdr->hd_length;
	u8 *buf;
	int rc;

	fuzz_call_copy(&call, hdr);
	call.fc_out.ko_proc = RPCRDMA2_MSG;
	call.fc_out.ko_inv_handle = hdr->hd_inv_handle;
	buf = malloc(len + tx->tx_len);
	rc = rpcrdma2_encode_rtx_call(buf, len, tx, item, &call.fc_out);
	if (rc > 0) {
		CHECK(rc == (int)len);
		CHECK(rpcrdma2_encode_rtx_call(buf, len - 1, tx, item,
					       &call.fc_out) == -EMSGSIZE);
		CHECK(rpcrdma2_encode_rtx_call(buf, len, tx, item,
					       &call.fc_out) == rc);
		memcpy(buf + len, msg + len, tx->tx_len - len);
		CHECK(rpcrdma2_decode_group(buf, tx->tx_len,
					    &rpcrdma2_accept_forward,
					    &again) == RPCRDMA_OK);
		fuzz_lists_same(&hdr->hd_lists, &again.hd_lists);
	} else {
		/* A sender must not send this header: its words are wrong in a way that the
		 * decoder leaves to core/group.c, or it has empty chunks.
		 */
		CHECK(rc == -EINVAL);
		CHECK(!tx->tx_replies || !tx->tx_count ||
		      tx->tx_count > FUZZ_RTX_MOST ||
		      tx->tx_here > tx->tx_stream ||
		      (tx->tx_here < tx->tx_stream &&
		       (tx->tx_count == 1 || tx->tx_here % 4)) ||
		      !fuzz_call_valid(&call.fc_out));
	}
	free(buf);
}

/* Answer the Call with an RDMA2_RTX_MSG, and decode it. */
static void fuzz_rtx_answer(const struct rpcrdma_hdr *hdr, struct fuzz_in *in)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	u32 i, written[RPCRDMA_MAX_CHUNKS], stream = 8 + fuzz_u8(in) % 8;
	struct rpcrdma2_item item = { 8, 1 + fuzz_num(in) % 4096 };
	struct rpcrdma2_transmission tx = {
		.tx_count = 1, .tx_stream = stream, .tx_here = stream,
		.tx_nitems = fuzz_u8(in) % 2,
	};
	struct rpcrdma_reply_out reply = {
		.ro_xid = hdr->hd_xid, .ro_credit = 1, .ro_lists = lists,
		.ro_written = written,
	};
	static struct rpcrdma_hdr again;
	u32 len, end;
	u8 *buf;

	for (i = 0; i < lists->ls_nwrites; i++)
		written[i] = lists->ls_write[i].ck_length;
	len = rpcrdma2_rtx_reply_len(tx.tx_nitems, lists);
	tx.tx_data = tx.tx_nitems ? len + stream : 0;
	end = len + stream + (tx.tx_nitems ? item.im_length : 0);
	buf = calloc(1, end);
	CHECK(rpcrdma2_encode_rtx_reply(buf, len - 1, &tx, &item, &reply) ==
	      -EMSGSIZE);
	CHECK(rpcrdma2_encode_rtx_reply(buf, len, &tx, &item, &reply) ==
	      (int)len);
	put_unaligned_be32(hdr->hd_xid, buf + len);
	put_unaligned_be32(RPCRDMA_RPC_REPLY, buf + len + 4);
	CHECK(rpcrdma2_decode_group(buf, end, &rpcrdma2_accept_forward,
				    &again) == RPCRDMA_OK);
	CHECK(again.hd_response && again.hd_length == len);
	tx.tx_replies = 1;
	CHECK(rpcrdma2_encode_rtx_reply(buf, len, &tx, &item, &reply) ==
	      -EINVAL);
	free(buf);
}

static void fuzz_rtx_props(const u8 *msg, u32 len)
{
	const struct rpcrdma2_props *props;
	const struct rpcrdma2_rtx *rtx;
	static struct rpcrdma_hdr hdr, again;
	enum rpcrdma_verdict verdict;
	u8 buf[96];
	int rc;

	verdict = rpcrdma2_decode_call(msg, len, &rpcrdma2_accept_forward,
				       &hdr);
	if ((verdict != RPCRDMA_OK && verdict != RPCRDMA_BACKWARD_REPLY) ||
	    hdr.hd_proc != RPCRDMA2_CONNPROP)
		return;
	props = &hdr.hd_props;
	rtx = &props->vp_rtx;
	CHECK(rtx->xp_call_max <= FUZZ_RTX_MOST);
	CHECK(rtx->xp_head + (u64)rtx->xp_seg * rtx->xp_nsegs <=
	      props->vp_value[RPCRDMA2_PROP_RBSIZ]);
	CHECK(!rtx->xp_nsegs == !rtx->xp_seg && !rtx->xp_seg == !rtx->xp_head);
	CHECK(!rtx->xp_call_max == !rtx->xp_msg_max);
	rc = rpcrdma2_encode_connprop(buf, sizeof(buf), hdr.hd_xid, 1, false,
				      props);
	CHECK(rc == 48 || rc == 84);
	CHECK(rpcrdma2_decode_call(buf, rc, &rpcrdma2_accept_forward, &again) ==
	      RPCRDMA_OK);
	CHECK(!memcmp(rtx, &again.hd_props.vp_rtx, sizeof(*rtx)));
}

/*
 * Target rtx-msg: any bytes, received by an end that uses the extension.
 *
 * Covers: RTX-33 RTX-45 RTX-52 RTX-54
 */
void fuzz_rtx_msg(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	struct rpcrdma2_item item;
	struct rpcrdma2_transmission tx;
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;
	u32 behind, len;
	bool mine, all;
	u8 *msg;

	/* The bytes of stream and data behind the input are zeros, because their values do
	 * not matter.
	 */
	behind = fuzz_num(&in) % 2048;
	len = (u32)size + behind;
	msg = calloc(1, len + 1);
	memcpy(msg, data, size);
	msg = realloc(msg, len);
	fuzz_rtx_props(msg, len);
	memset(&tx, 0xa5, sizeof(tx));
	mine = rpcrdma2_peek_rtx(msg, len, &tx);
	verdict = rpcrdma2_decode_group(msg, len, &rpcrdma2_accept_forward,
					&hdr);
	if (!mine) {
		/* rpcrdma2_decode_group() accepts no other type, except an error in the
		 * layout of version 1
		 */
		CHECK(verdict != RPCRDMA_OK || hdr.hd_v1_error);
		goto out;
	}
	fuzz_rtx_peek(msg, len, &tx);
	all = rpcrdma2_rtx_item(&tx, &item);
	CHECK(!all || tx.tx_nitems <= RPCRDMA2_RTX_MAX_ITEMS);
	CHECK(!all || tx.tx_nitems || !item.im_length);
	if (verdict == RPCRDMA_OK) {
		CHECK(all && hdr.hd_rpc_xid == hdr.hd_xid);
		CHECK(hdr.hd_rpc_type == hdr.hd_response);
		CHECK(hdr.hd_msg_len == tx.tx_here && tx.tx_here >= 8);
		CHECK(!hdr.hd_lists.ls_call.ck_nsegs);
		CHECK((u64)hdr.hd_length + tx.tx_here <=
		      (tx.tx_data ? tx.tx_data : len));
		CHECK(tx.tx_data < len);
		fuzz_lists_walk(&hdr.hd_lists);
		if (tx.tx_nitems)
			fuzz_rtx_item(&item, &hdr.hd_lists, tx.tx_stream);
		if (!hdr.hd_response) {
			fuzz_parts_item(&hdr.hd_lists, &item, tx.tx_stream,
					~fuzz_num(&in));
			fuzz_rtx_again(msg, &tx, &item, &hdr);
			fuzz_rtx_answer(&hdr, &in);
		}
	}
out:
	free(msg);
}

/* --- any transmissions ----------------------------------------------------- */

static u32 fuzz_rtx_pick(struct fuzz_in *in, u32 likely)
{
	u8 kind = fuzz_u8(in);

	return kind < 224 ? likely : fuzz_num(in);
}

static struct rpcrdma_group_limits fuzz_rtx_limits(struct fuzz_in *in)
{
	struct rpcrdma_group_limits limits = {
		.gl_ours = {
			.xp_call_max = fuzz_u8(in) % 8,
			.xp_msg_max = fuzz_u8(in) * 64u,
		},
		.gl_replies = fuzz_u8(in) % 8,
	};

	if (fuzz_u8(in) % 4) {
		limits.gl_ours.xp_head = 256 + fuzz_u8(in) * 4u;
		limits.gl_ours.xp_seg = 512u << fuzz_u8(in) % 8;
		limits.gl_ours.xp_nsegs = 1 + fuzz_u8(in) % 8;
	}
	return limits;
}

/* Makes a transmission: mostly the next one that is expected, sometimes any other one. */
static struct rpcrdma2_transmission
fuzz_rtx_arrival(struct fuzz_in *in, const struct rpcrdma_group *group,
		 const struct rpcrdma_group_limits *limits)
{
	const struct rpcrdma2_rtx *ours = &limits->gl_ours;
	u8 kind = fuzz_u8(in);
	bool open = group->gr_number < group->gr_count;
	u32 left = open ? group->gr_stream - group->gr_here : 0;
	struct rpcrdma2_transmission tx = {
		.tx_first = open ? kind % 16 == 1 : kind % 16 != 1,
		.tx_short = kind >= 248,
	};

	tx.tx_xid = open && kind < 240 ? group->gr_xid : kind;
	tx.tx_response = open && kind < 232 ? group->gr_response : kind % 3 == 0;
	if (tx.tx_first) {
		tx.tx_count = fuzz_rtx_pick(in, 1 + kind % 5);
		tx.tx_stream = fuzz_rtx_pick(in, 8u + kind);
		left = tx.tx_stream;
		tx.tx_replies = fuzz_rtx_pick(in, 1);
	} else {
		tx.tx_number = fuzz_rtx_pick(in, group->gr_number);
		tx.tx_offset = fuzz_rtx_pick(in, group->gr_here);
	}
	tx.tx_here = fuzz_rtx_pick(in, kind & 32 ? left : left / 8 * 4);
	tx.tx_data = fuzz_rtx_pick(in, kind & 64 ? ours->xp_head : 0);
	if (kind & 64)
		tx.tx_len = fuzz_rtx_pick(in, ours->xp_head + ours->xp_seg);
	else
		tx.tx_len = fuzz_rtx_pick(in, (tx.tx_here & 0xffffffu) +
					  (tx.tx_first ? 64u : 36u));
	return tx;
}

/*
 * Target rtx-group: any transmissions, one after the other, on a connection that is closed when a
 * group breaks. Check the number of Receives that are held.
 *
 * Covers: RTX-46 RTX-47 RTX-48 RTX-50 RTX-84
 */
void fuzz_rtx_group(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_group_limits limits = fuzz_rtx_limits(&in);
	static const struct rpcrdma_group none;
	struct rpcrdma2_transmission tx;
	struct rpcrdma_group group = none;
	u32 item, held = 0, rounds;
	bool other;

	for (rounds = 0; in.fi_left && rounds < 200; rounds++) {
		other = fuzz_u8(&in) >= 250;
		tx = fuzz_rtx_arrival(&in, &group, &limits);
		switch (rpcrdma_group_take(&group, &limits, other ? NULL : &tx)) {
		case RPCRDMA_GROUP_PASS:
			break;
		case RPCRDMA_GROUP_KEEP:
			held++;
			break;
		case RPCRDMA_GROUP_BROKEN:
			group = none;
			held = 0;
			break;
		case RPCRDMA_GROUP_WHOLE:
			CHECK(group.gr_count == held + 1);
			CHECK(group.gr_here == group.gr_stream);
			held = 0;
			item = fuzz_num(&in);
			if (!rpcrdma_group_check(&group, &limits, item))
				CHECK(item == group.gr_data);
			break;
		}
		CHECK(held == (group.gr_number < group.gr_count ? group.gr_number : 0));
		CHECK(held <= 7);
	}
}

/* --- any message ----------------------------------------------------------- */

static void fuzz_rtx_choices(struct fuzz_in *in,
			     const struct rpcrdma_layout *layout)
{
	u32 body = layout->ly_stream, hdr = fuzz_num(in), chunk = fuzz_num(in);
	u32 extra = fuzz_u8(in) * 4u, most = fuzz_u8(in);
	u32 n, number, size = 1024 + fuzz_u8(in) * 64u;
	u64 room;

	switch (rpcrdma_group_answer(layout, hdr, chunk, most, &number)) {
	case RPCRDMA_ANSWER_INLINE:
		CHECK(!number && (u64)hdr + body <= layout->ly_limit);
		break;
	case RPCRDMA_ANSWER_GROUP:
		CHECK(number && number <= most);
		break;
	case RPCRDMA_ANSWER_LONG:
		CHECK(!number && body <= chunk);
		break;
	case RPCRDMA_ANSWER_ERROR:
		CHECK(!number);
		break;
	}
	n = rpcrdma_group_replies(body, size, extra, most);
	/* This number of Receives is enough, and one fewer is not. */
	if (n > 1) {
		room = size - (64 + extra + 3) / 4 * 4 +
		       (n - 2ull) * (size - 36);
		CHECK(n <= most && room < body);
		CHECK(room + size - 36 >= body);
	}
}

/* Check that the SGEs suffice for a data part (the placed data in one transmission), wherever in a
 * page the item begins.
 */
static void fuzz_rtx_gather(u32 seg, struct fuzz_in *in)
{
	u32 page = fuzz_u8(in) % 2 ? 4096 : 65536, sges = fuzz_u8(in) % 40;
	u32 offset = fuzz_num(in) & 0xfffff, number = fuzz_u8(in);
	u64 part = (u64)rpcrdma_layout_gather(sges, offset, page, seg) * seg;
	u64 first = (offset + number * part) / page;

	if (part)
		CHECK((offset + (number + 1) * part - 1) / page - first < sges);
}

/* Check the reach of a Send of @most bytes: the end of the last segment that fits it. */
static void fuzz_rtx_reach(const struct rpcrdma2_rtx *ours, u32 most)
{
	u64 end, reach = 0;
	u32 segs;

	for (segs = 1; segs <= ours->xp_nsegs; segs++) {
		end = ours->xp_head + (u64)segs * ours->xp_seg;
		reach = end <= most ? end : reach;
	}
	CHECK(rpcrdma_layout_reach(ours, most) == reach);
}

/* Check that a transmission that the layout has just made is within its limits. */
static void fuzz_rtx_out(const struct rpcrdma_outgoing *out,
			 const struct rpcrdma_layout *layout,
			 const struct rpcrdma2_rtx *ours, u32 segs)
{
	const struct rpcrdma2_transmission *tx = &out->og_tx;
	u32 front = out->og_hdr + tx->tx_here;

	CHECK(out->og_len <= layout->ly_limit);
	CHECK(out->og_hdr == (tx->tx_number ? 36 : layout->ly_hdr));
	CHECK(tx->tx_here % 4 == 0 || layout->ly_sent == layout->ly_stream);
	if (!out->og_part) {
		CHECK(!tx->tx_data && out->og_len == front);
		return;
	}
	/* The data begins at the first target segment. It fits the segments of the Receive, and
	 * those that the sender may use
	 */
	CHECK(tx->tx_data == ours->xp_head && front <= tx->tx_data);
	CHECK(out->og_len == tx->tx_data + out->og_part);
	CHECK(out->og_part <= (u64)ours->xp_seg * ours->xp_nsegs);
	CHECK(out->og_part <= (u64)ours->xp_seg * segs);
	CHECK(out->og_part % ours->xp_seg == 0 ||
	      layout->ly_placed == layout->ly_data);
	/* Stream is left for the next transmission only if there is no room for a word in
	 * front of the data
	 */
	CHECK(layout->ly_sent == layout->ly_stream ||
	      tx->tx_data - front < 4);
}

/* Complete a transmission with the words that the receiver takes from its header. */
static void fuzz_rtx_arrive(struct rpcrdma2_transmission *tx, u32 count,
			    u32 stream)
{
	u8 buf[36];

	tx->tx_first = !tx->tx_number;
	if (tx->tx_first) {
		tx->tx_count = count;
		tx->tx_stream = stream;
		tx->tx_replies = 1;
	} else {
		CHECK(rpcrdma2_encode_rtx_next(buf, sizeof(buf), tx) == 36);
	}
}

/* Make the limit of a Send: the smaller of our limit and the peer's RBSIZ. */
static u32 fuzz_rtx_limit(struct fuzz_in *in, const struct rpcrdma2_rtx *ours)
{
	u32 rbsiz = ours->xp_head + ours->xp_seg * ours->xp_nsegs;
	u32 most = fuzz_u8(in) % 2 ? 1u << 20 : fuzz_num(in) & 0xfffff;

	rbsiz += fuzz_num(in) & 0xffff;
	fuzz_rtx_reach(ours, most);
	fuzz_rtx_reach(ours, rbsiz);
	return most < rbsiz ? most : rbsiz;
}

/*
 * Target rtx-layout: a sender divides any message, and the receiver assembles it. Each byte
 * of stream and items must be in the transmissions once and in order, and each transmission
 * must be within its limits.
 *
 * Covers: RTX-41 RTX-43 RTX-44 RTX-55 RTX-56 RTX-57 RTX-67 RTX-68
 */
void fuzz_rtx_layout(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_group_limits limits = fuzz_rtx_limits(&in);
	struct rpcrdma2_rtx *ours = &limits.gl_ours;
	u32 n, count, segs, sent = 0;
	u32 item = fuzz_u8(&in) % 4 ? 1 + (fuzz_num(&in) & 0xfffff) : 0;
	struct rpcrdma_layout layout = {
		.ly_hdr = 64 + fuzz_u8(&in) * 8u,
		.ly_stream = 8 + (fuzz_num(&in) & 0xfffff),
	};
	struct rpcrdma_group group = { };
	struct rpcrdma2_transmission *tx;
	struct rpcrdma_outgoing out;
	bool fits;

	if (ours->xp_seg)
		fuzz_rtx_gather(ours->xp_seg, &in);
	layout.ly_limit = fuzz_rtx_limit(&in, ours);
	ours->xp_call_max = 256;
	ours->xp_msg_max = fuzz_u8(&in) ? 1u << 24 : fuzz_num(&in);
	segs = fuzz_u8(&in) % 16;
	/* Items can be placed only if a Send reaches the end of a segment, and has SGEs for
	 * it
	 */
	fits = !item || (segs && rpcrdma_layout_reach(ours, layout.ly_limit));
	CHECK(rpcrdma_layout_place(&layout, ours, segs, item) == fits);
	if (!fits)
		return;
	fuzz_rtx_choices(&in, &layout);
	count = rpcrdma_group_call(&layout, ours);
	CHECK(count <= 256);
	for (n = 0; n < count; n++) {
		CHECK(rpcrdma_layout_next(&layout, &out));
		tx = &out.og_tx;
		CHECK(tx->tx_number == n && tx->tx_offset == sent);
		fuzz_rtx_out(&out, &layout, ours, segs);
		sent += tx->tx_here;
		tx->tx_len = out.og_len;
		fuzz_rtx_arrive(tx, count, layout.ly_stream);
		CHECK(rpcrdma_group_take(&group, &limits, tx) ==
		      (n == count - 1 ? RPCRDMA_GROUP_WHOLE :
					RPCRDMA_GROUP_KEEP));
	}
	if (!count)
		return;
	CHECK(sent == layout.ly_stream && layout.ly_placed == layout.ly_data);
	CHECK(!rpcrdma_layout_next(&layout, &out));
	CHECK(rpcrdma_group_check(&group, &limits, item) == RPCRDMA_OK);
}
