// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2, the round-trip extension: its two header types. With them, an RPC
 * message travels in one or several transmissions, which are a group. rtx.h defines the terms.
 *
 * The header of the first transmission has the number of transmissions, the length of the
 * payload stream, the list of items, and the chunk lists of the whole message. The header of a
 * following transmission only describes the part of the message that this transmission carries.
 *
 * Decoding has two steps. rpcrdma2_peek_rtx() reads the words with fixed offsets when a
 * transmission arrives. core/group.c needs only these words to assemble the group. When the group
 * is complete, rpcrdma2_rtx_item() reads the list of items, and rpcrdma2_decode_group() parses and
 * checks the whole header of the first transmission.
 *
 * The second step is the same as for any RPC message, with a check of the item in
 * addition. Item and Read chunks were taken out of the payload stream, and their positions
 * must allow the receiver to put them back.
 *
 * See RTX-40 to RTX-73 of Documentation/rtx.rst.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/string.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

#include "xdr.h"

/**
 * rpcrdma2_peek_rtx - does a received message belong to a group?
 * @buf: the message
 * @len: number of bytes, as reported by the Receive completion
 * @tx: OUT: its words with fixed offsets, if true is returned
 *
 * If the message ends before the last of these words, tx_short is set. The values of the words
 * are not checked.
 *
 * Context: any.
 * Return: true for a message of version 2 with one of the extension's two header types; false for
 *	any other message, and for one that is shorter than the prefix (%RPCRDMA2_PREFIX_LEN).
 *
 * See RTX-45 of rtx.rst.
 */
bool rpcrdma2_peek_rtx(const void *buf, u32 len,
		       struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	u32 xid, vers, credit, htype, flags;

	if (!rpcrdma_xdr_get(&in, &xid) || !rpcrdma_xdr_get(&in, &vers) ||
	    !rpcrdma_xdr_get(&in, &credit) || !rpcrdma_xdr_get(&in, &htype) ||
	    !rpcrdma_xdr_get(&in, &flags) || vers != RPCRDMA_VERS_2)
		return false;
	if (htype != RPCRDMA2_RTX_MSG && htype != RPCRDMA2_RTX_NEXT)
		return false;

	memset(tx, 0, sizeof(*tx));
	tx->tx_xid = xid;
	tx->tx_credit = credit;
	tx->tx_response = flags & RPCRDMA2_F_RESPONSE;
	tx->tx_len = len;
	tx->tx_first = htype == RPCRDMA2_RTX_MSG;
	if (tx->tx_first)
		tx->tx_short = !rpcrdma_xdr_get(&in, &tx->tx_count) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_stream) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_here) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_data) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_replies) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_results) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_nitems);
	else
		tx->tx_short = !rpcrdma_xdr_get(&in, &tx->tx_number) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_offset) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_here) ||
			       !rpcrdma_xdr_get(&in, &tx->tx_data);
	tx->tx_items = in.xi_pos;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_peek_rtx);

/**
 * rpcrdma2_rtx_item - read the position and length of a message's item from its header
 * @tx: its first transmission, as rpcrdma2_peek_rtx() has read it
 * @item: OUT: the item; im_length is 0 if there is none
 *
 * Context: any; the buffer that rpcrdma2_peek_rtx() has read must still be valid.
 * Return: false if there are too many items, or the transmission ends before their list does.
 */
bool rpcrdma2_rtx_item(const struct rpcrdma2_transmission *tx,
		       struct rpcrdma2_item *item)
{
	struct rpcrdma_xdr_in in = { .xi_pos = tx->tx_items };

	item->im_length = 0;
	if (!tx->tx_first || tx->tx_short ||
	    tx->tx_nitems > RPCRDMA2_RTX_MAX_ITEMS)
		return false;
	in.xi_left = tx->tx_len - RPCRDMA2_RTX_FIXED;
	return !tx->tx_nitems ||
	       (rpcrdma_xdr_get(&in, &item->im_position) &&
		rpcrdma_xdr_get(&in, &item->im_length));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rtx_item);

/* Parse what follows the prefix of an RDMA2_RTX_MSG. */
static enum rpcrdma_verdict
rpcrdma2_decode_rtx_msg(struct rpcrdma_xdr_in *in, const void *buf, u32 len,
			struct rpcrdma_hdr *hdr)
{
	struct rpcrdma2_transmission tx;
	struct rpcrdma2_item item;
	enum rpcrdma_verdict verdict;
	u64 end;

	if (!rpcrdma2_peek_rtx(buf, len, &tx) ||
	    !rpcrdma2_rtx_item(&tx, &item) ||
	    !rpcrdma_xdr_skip(in, RPCRDMA2_RTX_FIXED - RPCRDMA2_PREFIX_LEN +
			      tx.tx_nitems * RPCRDMA2_RTX_ITEM_LEN))
		return RPCRDMA_BAD_LIST;
	verdict = rpcrdma2_decode_rpc(in, buf, len, hdr);
	if (verdict)
		return verdict;
	/* Without data, the transmission ends with its part of the stream. With data, this part
	 * ends at or before the first byte of data, and there is at least one (RTX-45).
	 */
	end = (u64)hdr->hd_length + tx.tx_here;
	if (tx.tx_data ? end > tx.tx_data || tx.tx_data >= len : end != len)
		return RPCRDMA_BAD_MSG;
	/* If there is data, the bytes between stream and data are padding */
	hdr->hd_msg_len = tx.tx_here;
	/* A chunk may be empty, but the item must not be (RTX-52) */
	if ((tx.tx_nitems && !item.im_length) ||
	    !rpcrdma_form_fits(&hdr->hd_lists, &item, tx.tx_stream, &end))
		return RPCRDMA_BAD_POSITION;
	return RPCRDMA_OK;
}

/**
 * rpcrdma2_decode_group - parse the header of a message that came as a group
 * @buf: the first transmission of a complete group
 * @len: number of bytes in it
 * @accept: what is accepted if the message is a Call
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf. hd_msg_len is the
 *	number of bytes of payload stream in the first transmission
 *
 * core/group.c has checked the words that count transmissions and bytes. The chunk lists
 * belong to the whole message, and obey the rules of all messages (RTX-64).
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
 * Return: a verdict. A valid message gives %RPCRDMA_OK whether it is a request or a response:
 *	the caller looks at hd_response of @hdr.
 *
 * See RTX-45, RTX-52, RTX-54, RTX-59, RTX-64 of rtx.rst.
 */
enum rpcrdma_verdict
rpcrdma2_decode_group(const void *buf, u32 len,
		      const struct rpcrdma2_accept *accept,
		      struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma2_decode_prefix(&in, 0, hdr);
	if (!verdict && hdr->hd_proc != RPCRDMA2_RTX_MSG)
		return RPCRDMA_BAD_PROC;
	verdict = verdict ?: rpcrdma2_decode_rtx_msg(&in, buf, len, hdr);
	return verdict ?: rpcrdma2_check_rpc(hdr, accept);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_group);

/**
 * rpcrdma2_rtx_reply_len - size of the header of a Reply's first transmission
 * @nitems: number of items, at most %RPCRDMA2_RTX_MAX_ITEMS
 * @lists: the lists of the Call
 *
 * Context: any.
 * Return: number of bytes that rpcrdma2_encode_rtx_reply() would write for the Reply to that Call.
 */
u32 rpcrdma2_rtx_reply_len(u32 nitems, const struct rpcrdma_lists *lists)
{
	return RPCRDMA2_RTX_FIXED + nitems * RPCRDMA2_RTX_ITEM_LEN +
	       RPCRDMA_WORD_LEN + rpcrdma_form_reply_len(lists);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_rtx_reply_len);

/* The length of each piece of the stream except the last must be a multiple of 4 (RTX-43). */
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

/* Header and stream must end at or before the first byte of data (RTX-57). */
static bool rpcrdma2_stream_fits(const struct rpcrdma2_transmission *tx,
				 u32 hdr_len)
{
	return !tx->tx_data || (u64)hdr_len + tx->tx_here <= tx->tx_data;
}

/* Writes the words between the prefix and rdma_inv_handle. */
static void rpcrdma2_put_first(struct rpcrdma_xdr_out *out,
			       const struct rpcrdma2_transmission *tx,
			       const struct rpcrdma2_item *item)
{
	rpcrdma_xdr_put(out, tx->tx_count);
	rpcrdma_xdr_put(out, tx->tx_stream);
	rpcrdma_xdr_put(out, tx->tx_here);
	rpcrdma_xdr_put(out, tx->tx_data);
	rpcrdma_xdr_put(out, tx->tx_replies);
	rpcrdma_xdr_put(out, tx->tx_results);
	rpcrdma_xdr_put(out, tx->tx_nitems);
	if (tx->tx_nitems) {
		rpcrdma_xdr_put(out, item->im_position);
		rpcrdma_xdr_put(out, item->im_length);
	}
}

/**
 * rpcrdma2_encode_rtx_call - write the header of a Call's first transmission
 * @buf: buffer for the header
 * @size: size of @buf in bytes
 * @tx: the transmission; the members from tx_count to tx_nitems are used, except tx_number and
 *	tx_offset
 * @item: item of the Call, if tx_nitems is 1; the caller has placed it where it may be (RTX-54)
 * @call: the Call; its ko_proc is %RPCRDMA2_MSG
 *
 * The caller puts the payload stream after the header. If the transmission has data, the caller
 * puts zeros after the stream, up to tx_data, and then the data.
 *
 * Context: any. The content of @buf after an error is unspecified.
 * Return: number of bytes written; -EMSGSIZE if @size is too small; -EINVAL if such a
 *	header must never be sent.
 *
 * See RTX-43, RTX-52, RTX-57, RTX-64 of rtx.rst.
 */
int rpcrdma2_encode_rtx_call(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx,
			     const struct rpcrdma2_item *item,
			     const struct rpcrdma_call_out *call)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	int len;

	if (call->ko_proc != RPCRDMA2_MSG || !rpcrdma_form_call_valid(call) ||
	    !tx->tx_replies || !rpcrdma2_first_valid(tx))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, call->ko_xid, call->ko_credit,
			    RPCRDMA2_RTX_MSG, false);
	rpcrdma2_put_first(&out, tx, item);
	rpcrdma_xdr_put(&out, call->ko_inv_handle);
	rpcrdma_wire_put_call(&out, call);
	len = rpcrdma_xdr_done(&out, size);
	return len < 0 || rpcrdma2_stream_fits(tx, len) ? len : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_call);

/**
 * rpcrdma2_encode_rtx_reply - write the header of a Reply's first transmission
 * @buf: buffer for the header; not the buffer that contains the Call
 * @size: size of @buf in bytes
 * @tx: the transmission; the members from tx_count to tx_nitems are used, except tx_number and
 *	tx_offset; tx_replies and tx_results are 0
 * @item: item of the Reply, if tx_nitems is 1
 * @reply: the Reply; its ro_proc is %RPCRDMA2_MSG
 *
 * Context: any; the buffer from which the Call's lists were decoded must still be valid.
 *	The content of @buf after an error is unspecified.
 * Return: number of bytes written; -EMSGSIZE if @size is too small; -EINVAL if such a
 *	header must never be sent.
 *
 * See RTX-43, RTX-52, RTX-57 of rtx.rst.
 */
int rpcrdma2_encode_rtx_reply(void *buf, u32 size,
			      const struct rpcrdma2_transmission *tx,
			      const struct rpcrdma2_item *item,
			      const struct rpcrdma_reply_out *reply)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	int len;

	if (reply->ro_proc != RPCRDMA2_MSG ||
	    !rpcrdma_form_reply_valid(reply) || tx->tx_replies ||
	    tx->tx_results || !rpcrdma2_first_valid(tx))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, reply->ro_xid, reply->ro_credit,
			    RPCRDMA2_RTX_MSG, true);
	rpcrdma2_put_first(&out, tx, item);
	rpcrdma_xdr_put(&out, 0);
	rpcrdma_wire_put_returned(&out, reply->ro_lists, reply->ro_written,
				  reply->ro_reply_written);
	len = rpcrdma_xdr_done(&out, size);
	return len < 0 || rpcrdma2_stream_fits(tx, len) ? len : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_reply);

/**
 * rpcrdma2_encode_rtx_next - write the header of a following transmission
 * @buf: buffer for the header
 * @size: size of @buf in bytes
 * @tx: the transmission; tx_xid, tx_credit and tx_response are those of the first transmission;
 *	of the other members, tx_number, tx_offset, tx_here and tx_data are used
 *
 * Context: any. The content of @buf after an error is unspecified.
 * Return: number of bytes written, which is %RPCRDMA2_RTX_NEXT_LEN; -EMSGSIZE if @size is
 *	too small; -EINVAL if such a header must never be sent.
 *
 * See RTX-42, RTX-43, RTX-44, RTX-57 of rtx.rst.
 */
int rpcrdma2_encode_rtx_next(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!tx->tx_number || tx->tx_number >= RPCRDMA2_RTX_MAX_COUNT ||
	    tx->tx_offset < RPCRDMA2_RTX_RPC_MIN ||
	    !rpcrdma2_stream_fits(tx, RPCRDMA2_RTX_NEXT_LEN))
		return -EINVAL;
	/* There must be stream or data (RTX-44). If there is stream, the length of the stream in
	 * all earlier transmissions must be a multiple of 4 (RTX-43).
	 */
	if ((!tx->tx_here && !tx->tx_data) || tx->tx_here > ~tx->tx_offset ||
	    (tx->tx_here && tx->tx_offset % RPCRDMA_WORD_LEN))
		return -EINVAL;
	rpcrdma2_put_prefix(&out, tx->tx_xid, tx->tx_credit, RPCRDMA2_RTX_NEXT,
			    tx->tx_response);
	rpcrdma_xdr_put(&out, tx->tx_number);
	rpcrdma_xdr_put(&out, tx->tx_offset);
	rpcrdma_xdr_put(&out, tx->tx_here);
	rpcrdma_xdr_put(&out, tx->tx_data);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_rtx_next);
