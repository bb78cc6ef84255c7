// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2, the round-trip extension: the two header types by
 * which one RPC message travels in several transmissions.
 *
 * The first transmission has the words that tell how long the group is, the
 * items, and the chunk lists of the whole message; the following ones only say
 * where they belong. Decoding has two steps. rpcrdma2_peek_rtx() reads the words
 * at fixed places as soon as a transmission has arrived, which is all that
 * core/group.c needs to put the group together. When the group is complete,
 * rpcrdma2_decode_group() parses and judges the rest of its first one.
 *
 * The second step is the same as for any RPC message, but for the items. They
 * and the Read chunks have left the payload stream, and have to be where it can
 * be put together again.
 *
 * See RTX-40 to RTX-73 of Documentation/rtx.rst.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

#include "xdr.h"

static bool rpcrdma2_get_first(struct rpcrdma_xdr_in *in,
			       struct rpcrdma2_transmission *tx)
{
	if (!rpcrdma_xdr_get(in, &tx->tx_count) ||
	    !rpcrdma_xdr_get(in, &tx->tx_stream) ||
	    !rpcrdma_xdr_get(in, &tx->tx_here) ||
	    !rpcrdma_xdr_get(in, &tx->tx_data) ||
	    !rpcrdma_xdr_get(in, &tx->tx_replies) ||
	    !rpcrdma_xdr_get(in, &tx->tx_results) ||
	    !rpcrdma_xdr_get(in, &tx->tx_nitems))
		return false;
	tx->tx_items = in->xi_pos;
	return true;
}

static bool rpcrdma2_get_next(struct rpcrdma_xdr_in *in,
			      struct rpcrdma2_transmission *tx)
{
	return rpcrdma_xdr_get(in, &tx->tx_number) &&
	       rpcrdma_xdr_get(in, &tx->tx_offset) &&
	       rpcrdma_xdr_get(in, &tx->tx_here) &&
	       rpcrdma_xdr_get(in, &tx->tx_data);
}

/**
 * rpcrdma2_peek_rtx - does a received message belong to a group?
 * @buf: the message
 * @len: its bytes, as the Receive completion tells
 * @tx: OUT: what its fixed words say, if true is returned
 *
 * Nothing but their presence is judged.
 *
 * Context: any.
 * Return: false if it is of another type or version, or too short to tell.
 *
 * See RTX-45 of rtx.rst.
 */
bool rpcrdma2_peek_rtx(const void *buf, u32 len,
		       struct rpcrdma2_transmission *tx)
{
	static const struct rpcrdma2_transmission none;
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	u32 xid, vers, credit, htype, flags;

	if (!rpcrdma_xdr_get(&in, &xid) || !rpcrdma_xdr_get(&in, &vers) ||
	    !rpcrdma_xdr_get(&in, &credit) || !rpcrdma_xdr_get(&in, &htype) ||
	    !rpcrdma_xdr_get(&in, &flags) || vers != RPCRDMA_VERS_2)
		return false;
	if (htype != RPCRDMA2_RTX_MSG && htype != RPCRDMA2_RTX_NEXT)
		return false;

	*tx = none;
	tx->tx_xid = xid;
	tx->tx_credit = credit;
	tx->tx_htype = htype;
	tx->tx_response = flags & RPCRDMA2_F_RESPONSE;
	tx->tx_len = len;
	tx->tx_first = htype == RPCRDMA2_RTX_MSG;
	tx->tx_short = tx->tx_first ? !rpcrdma2_get_first(&in, tx) :
				      !rpcrdma2_get_next(&in, tx);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_peek_rtx);

/**
 * rpcrdma2_rtx_items - read the items of a message
 * @tx: its first transmission, as rpcrdma2_peek_rtx() has read it
 * @items: OUT: tx_nitems of them, at most %RPCRDMA2_RTX_MAX_ITEMS
 *
 * Context: any; the buffer that was read must still be there.
 * Return: false if they are too many, or not all there.
 */
bool rpcrdma2_rtx_items(const struct rpcrdma2_transmission *tx,
			struct rpcrdma2_item *items)
{
	struct rpcrdma_xdr_in in = { .xi_pos = tx->tx_items };
	u32 i;

	if (!tx->tx_first || tx->tx_short ||
	    tx->tx_nitems > RPCRDMA2_RTX_MAX_ITEMS)
		return false;
	in.xi_left = tx->tx_len - RPCRDMA2_RTX_FIXED;
	for (i = 0; i < tx->tx_nitems; i++)
		if (!rpcrdma_xdr_get(&in, &items[i].im_position) ||
		    !rpcrdma_xdr_get(&in, &items[i].im_length))
			return false;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rtx_items);

/*
 * Can a stream of @stream bytes and these make up a message? Taken together,
 * by position: none begins inside the one before, or behind all that there is
 * to put in between (RTX-54). An item leaves XID and msg_type in the stream.
 */
static bool rpcrdma2_items_fit(const struct rpcrdma2_item *items, u32 nitems,
			       const struct rpcrdma2_item *reads, u32 nreads,
			       u32 stream)
{
	const struct rpcrdma2_item *next;
	u64 room, end = 0, gone = 0;

	while (nitems || nreads) {
		/* A chunk may be empty, an item is not (RTX-52) */
		if (nreads && (!nitems ||
			       reads->im_position <= items->im_position)) {
			next = reads++;
			nreads--;
		} else {
			next = items++;
			nitems--;
			if (!next->im_length ||
			    next->im_position < RPCRDMA2_RTX_RPC_MIN)
				return false;
		}
		if (next->im_position % RPCRDMA_WORD_LEN ||
		    next->im_position < end ||
		    next->im_position > gone + stream)
			return false;
		room = (u64)next->im_length + RPCRDMA_WORD_LEN - 1;
		room -= room % RPCRDMA_WORD_LEN;
		gone += room;
		end = next->im_position + room;
	}
	return true;
}

static bool rpcrdma2_items_fit_lists(const struct rpcrdma2_item *items,
				     u32 nitems,
				     const struct rpcrdma_lists *lists,
				     u32 stream)
{
	struct rpcrdma2_item reads[RPCRDMA_MAX_CHUNKS];
	u32 i;

	for (i = 0; i < lists->ls_nreads; i++) {
		reads[i].im_position = lists->ls_read[i].ck_position;
		reads[i].im_length = lists->ls_read[i].ck_length;
	}
	return rpcrdma2_items_fit(items, nitems, reads, i, stream);
}

/*
 * Header, stream and data of a transmission: the stream ends where the
 * transmission does, or it and pad end where the data begins (RTX-45).
 */
static bool rpcrdma2_rtx_ends(const struct rpcrdma2_transmission *tx,
			      u32 hdr_len)
{
	u64 end = (u64)hdr_len + tx->tx_here;

	if (!tx->tx_data)
		return end == tx->tx_len;
	return end <= tx->tx_data && tx->tx_data < tx->tx_len;
}

/* ht_decode of RDMA2_RTX_MSG */
static enum rpcrdma_verdict
rpcrdma2_decode_rtx_msg(struct rpcrdma_xdr_in *in, const void *buf, u32 len,
			struct rpcrdma_hdr *hdr)
{
	struct rpcrdma2_item items[RPCRDMA2_RTX_MAX_ITEMS];
	struct rpcrdma2_transmission tx;
	enum rpcrdma_verdict verdict;

	if (!rpcrdma2_peek_rtx(buf, len, &tx) ||
	    !rpcrdma2_rtx_items(&tx, items) ||
	    !rpcrdma_xdr_skip(in, RPCRDMA2_RTX_FIXED - RPCRDMA2_PREFIX_LEN +
			      tx.tx_nitems * RPCRDMA2_RTX_ITEM_LEN))
		return RPCRDMA_BAD_LIST;
	verdict = rpcrdma2_decode_rpc(in, buf, len, hdr);
	if (verdict)
		return verdict;
	if (!rpcrdma2_rtx_ends(&tx, hdr->hd_length))
		return RPCRDMA_BAD_MSG;
	/* Where data follows, what lies behind the stream is pad */
	hdr->hd_msg_len = tx.tx_here;
	return rpcrdma2_items_fit_lists(items, tx.tx_nitems, &hdr->hd_lists,
					tx.tx_stream) ?
	       RPCRDMA_OK : RPCRDMA_BAD_POSITION;
}

static const struct rpcrdma2_type rpcrdma2_rtx_types[] = {
	{ RPCRDMA2_RTX_MSG, rpcrdma2_decode_rtx_msg, rpcrdma2_judge_rpc },
	{}
};

/**
 * rpcrdma2_decode_group - parse the header of a message that came as a group
 * @buf: the first transmission of a complete group
 * @len: its bytes
 * @accept: what is accepted if the message is a Call
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf.
 *	hd_msg_len is what the first transmission has of the payload stream
 *
 * core/group.c has looked at the other words. Chunk lists are those of the
 * whole message and obey the rules of all messages (RTX-64).
 *
 * Context: any. Work is bounded by @len and the limits of G-32.
 * Return: a verdict; %RPCRDMA_OK for either direction.
 *
 * See RTX-45, RTX-52, RTX-54, RTX-59, RTX-64 of rtx.rst.
 */
enum rpcrdma_verdict
rpcrdma2_decode_group(const void *buf, u32 len,
		      const struct rpcrdma2_accept *accept,
		      struct rpcrdma_hdr *hdr)
{
	return rpcrdma2_decode_by(rpcrdma2_rtx_types, buf, len, 0, accept, hdr);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_group);

/* Bytes that an RTX_MSG header is longer than that of RDMA2_MSG */
static u32 rpcrdma2_rtx_extra(u32 nitems)
{
	return RPCRDMA2_RTX_MSG_MIN - RPCRDMA2_HDR_MIN +
	       nitems * RPCRDMA2_RTX_ITEM_LEN;
}

/**
 * rpcrdma2_rtx_call_len - size of the header of a Call's first transmission
 * @nitems: items of the Call, at most %RPCRDMA2_RTX_MAX_ITEMS
 * @call: the Call
 *
 * Context: any.
 * Return: bytes that rpcrdma2_encode_rtx_call() would write.
 */
u32 rpcrdma2_rtx_call_len(u32 nitems, const struct rpcrdma_call_out *call)
{
	return rpcrdma2_rtx_extra(nitems) + rpcrdma2_call_len(call);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rtx_call_len);

/**
 * rpcrdma2_rtx_reply_len - size of the header of a Reply's first transmission
 * @nitems: items of the Reply, at most %RPCRDMA2_RTX_MAX_ITEMS
 * @lists: the lists of the Call
 *
 * Context: any.
 * Return: bytes that rpcrdma2_encode_rtx_reply() would write for that Call.
 */
u32 rpcrdma2_rtx_reply_len(u32 nitems, const struct rpcrdma_lists *lists)
{
	return rpcrdma2_rtx_extra(nitems) + rpcrdma2_reply_len(lists);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rtx_reply_len);

/* RTX-43: pieces but the last are whole words. */
static bool rpcrdma2_first_valid(const struct rpcrdma2_transmission *tx)
{
	if (!tx->tx_count || tx->tx_count > RPCRDMA2_RTX_MAX_COUNT ||
	    tx->tx_nitems > RPCRDMA2_RTX_MAX_ITEMS)
		return false;
	if (tx->tx_here < RPCRDMA2_RTX_RPC_MIN || tx->tx_here > tx->tx_stream)
		return false;
	return tx->tx_here == tx->tx_stream ||
	       (tx->tx_count > 1 && tx->tx_here % RPCRDMA_WORD_LEN == 0);
}

/* RTX-57: header and stream end in front of the data. */
static bool rpcrdma2_stream_fits(const struct rpcrdma2_transmission *tx,
				 u32 hdr_len)
{
	return !tx->tx_data || (u64)hdr_len + tx->tx_here <= tx->tx_data;
}

static u32 rpcrdma2_chunk_out_len(const struct rpcrdma_chunk_out *chunk)
{
	u64 len = 0;
	u32 i;

	for (i = 0; i < chunk->co_nsegs; i++)
		len += chunk->co_segs[i].rs_length;
	return min_t(u64, len, U32_MAX);
}

static bool rpcrdma2_items_fit_call(const struct rpcrdma2_item *items,
				    u32 nitems,
				    const struct rpcrdma_call_out *call,
				    u32 stream)
{
	struct rpcrdma2_item reads[RPCRDMA_MAX_CHUNKS];
	u32 i;

	if (call->ko_nreads > RPCRDMA_MAX_CHUNKS)
		return false;
	for (i = 0; i < call->ko_nreads; i++) {
		reads[i].im_position = call->ko_read[i].co_position;
		reads[i].im_length = rpcrdma2_chunk_out_len(&call->ko_read[i]);
	}
	return rpcrdma2_items_fit(items, nitems, reads, i, stream);
}

/* All that precedes rdma_inv_handle */
static void rpcrdma2_put_first(struct rpcrdma_xdr_out *out,
			       const struct rpcrdma2_transmission *tx,
			       const struct rpcrdma2_item *items)
{
	u32 i;

	rpcrdma_xdr_put(out, tx->tx_count);
	rpcrdma_xdr_put(out, tx->tx_stream);
	rpcrdma_xdr_put(out, tx->tx_here);
	rpcrdma_xdr_put(out, tx->tx_data);
	rpcrdma_xdr_put(out, tx->tx_replies);
	rpcrdma_xdr_put(out, tx->tx_results);
	rpcrdma_xdr_put(out, tx->tx_nitems);
	for (i = 0; i < tx->tx_nitems; i++) {
		rpcrdma_xdr_put(out, items[i].im_position);
		rpcrdma_xdr_put(out, items[i].im_length);
	}
}

/**
 * rpcrdma2_encode_rtx_call - write the header of a Call's first transmission
 * @buf: where
 * @size: bytes there
 * @tx: tx_count to tx_nitems, without tx_number and tx_offset
 * @items: its items, by position
 * @call: the Call; its ko_proc is %RPCRDMA2_MSG
 *
 * The payload stream follows, and a pad of zeros up to tx_data.
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: the bytes written; -EMSGSIZE if @size is too small; -EINVAL if it is
 *	something that must never be sent.
 *
 * See RTX-43, RTX-52, RTX-54, RTX-57, RTX-64 of rtx.rst.
 */
int rpcrdma2_encode_rtx_call(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx,
			     const struct rpcrdma2_item *items,
			     const struct rpcrdma_call_out *call)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (call->ko_proc != RPCRDMA2_MSG || !rpcrdma_form_call_valid(call) ||
	    !rpcrdma2_inv_handle_valid(call) || !tx->tx_replies ||
	    !rpcrdma2_first_valid(tx) ||
	    !rpcrdma2_items_fit_call(items, tx->tx_nitems, call,
				     tx->tx_stream) ||
	    !rpcrdma2_stream_fits(tx, rpcrdma2_rtx_call_len(tx->tx_nitems,
							    call)))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, call->ko_xid, RPCRDMA_VERS_2,
			    call->ko_credit, RPCRDMA2_RTX_MSG, false);
	rpcrdma2_put_first(&out, tx, items);
	rpcrdma_xdr_put(&out, call->ko_inv_handle);
	rpcrdma_form_put_call(&out, call);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_call);

/**
 * rpcrdma2_encode_rtx_reply - write the header of a Reply's first transmission
 * @buf: where; not the buffer the Call is in
 * @size: bytes there
 * @tx: tx_count to tx_nitems, without tx_number and tx_offset; tx_replies and
 *	tx_results are 0
 * @items: its items, by position
 * @reply: the Reply; its ro_proc is %RPCRDMA2_MSG
 *
 * Context: any; the buffer the Call's lists were decoded from must still be
 *	there. What is in @buf after an error is unspecified.
 * Return: the bytes written; -EMSGSIZE if @size is too small; -EINVAL if it is
 *	something that must never be sent.
 *
 * See RTX-43, RTX-52, RTX-54, RTX-57 of rtx.rst.
 */
int rpcrdma2_encode_rtx_reply(void *buf, u32 size,
			      const struct rpcrdma2_transmission *tx,
			      const struct rpcrdma2_item *items,
			      const struct rpcrdma_reply_out *reply)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	u32 len = rpcrdma2_rtx_reply_len(tx->tx_nitems, reply->ro_lists);

	if (reply->ro_proc != RPCRDMA2_MSG ||
	    !rpcrdma_form_reply_valid(reply) || tx->tx_replies ||
	    tx->tx_results || !rpcrdma2_first_valid(tx) ||
	    !rpcrdma2_items_fit(items, tx->tx_nitems, NULL, 0,
				tx->tx_stream) ||
	    !rpcrdma2_stream_fits(tx, len))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, reply->ro_xid, RPCRDMA_VERS_2,
			    reply->ro_credit, RPCRDMA2_RTX_MSG, true);
	rpcrdma2_put_first(&out, tx, items);
	rpcrdma_xdr_put(&out, 0);
	rpcrdma_wire_put_returned(&out, reply->ro_lists, reply->ro_written,
				  reply->ro_reply_written);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_reply);

/* RTX-44: it brings something; RTX-43: what came before it are whole words. */
static bool rpcrdma2_next_valid(const struct rpcrdma2_transmission *tx)
{
	if (!tx->tx_number || tx->tx_number >= RPCRDMA2_RTX_MAX_COUNT ||
	    tx->tx_offset < RPCRDMA2_RTX_RPC_MIN)
		return false;
	if (!tx->tx_here)
		return tx->tx_data;
	return tx->tx_offset % RPCRDMA_WORD_LEN == 0 &&
	       tx->tx_here <= ~tx->tx_offset;
}

/**
 * rpcrdma2_encode_rtx_next - write the header of a following transmission
 * @buf: where
 * @size: bytes there
 * @tx: tx_xid, tx_credit and tx_response as in the first; tx_number, tx_offset,
 *	tx_here and tx_data
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: the bytes written, which are %RPCRDMA2_RTX_NEXT_LEN; -EMSGSIZE if
 *	@size is too small; -EINVAL if it is something that must never be sent.
 *
 * See RTX-42, RTX-43, RTX-44, RTX-57 of rtx.rst.
 */
int rpcrdma2_encode_rtx_next(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!rpcrdma2_next_valid(tx) ||
	    !rpcrdma2_stream_fits(tx, RPCRDMA2_RTX_NEXT_LEN))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, tx->tx_xid, RPCRDMA_VERS_2, tx->tx_credit,
			    RPCRDMA2_RTX_NEXT, tx->tx_response);
	rpcrdma_xdr_put(&out, tx->tx_number);
	rpcrdma_xdr_put(&out, tx->tx_offset);
	rpcrdma_xdr_put(&out, tx->tx_here);
	rpcrdma_xdr_put(&out, tx->tx_data);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_next);
