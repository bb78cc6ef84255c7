// SPDX-License-Identifier: GPL-2.0
/*
 * The wire: which combinations of chunk lists and RPC message make sense; and the headers of Calls
 * and Replies to be sent, in versions 1 and 2.
 *
 * The rules here are the same in every version (version-two 3.3, 10.1). Versions differ
 * in the words around the lists, in how a message shows its direction, and in the errors that a
 * responder sends. These differences are in wire/v1.c, wire/v2.c and wire/rtx.c, which call
 * this file, and in wire/v2_error.c. RDMA_MSG and RDMA_NOMSG have the same numbers in all
 * versions. This file uses their version 1 names. RDMA2_RTX_MSG is judged like RDMA_MSG.
 *
 * A Call or a Reply that breaks a rule is not sent: the encoders return -EINVAL, which shows a bug
 * on our side. If a peer sends one, the verdict says what is wrong with it. This file keeps no
 * state.
 *
 * See RFC 8166 3.4, 3.5, 4.3.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* Every RPC message begins with these 8 bytes: XID and msg_type (its direction) */
#define RPCRDMA_RPC_MIN		8u

/**
 * rpcrdma_form_call_valid - may this Call be sent?
 * @call: the Call
 *
 * Context: any.
 * Return: false if @call is something that must never be sent (RFC 8166
 *	3.4.5, 4.3.1, 4.3.2.3, 4.6.1, 4.6.2; G-01).
 */
bool rpcrdma_form_call_valid(const struct rpcrdma_call_out *call)
{
	const struct rpcrdma_chunk_out *chunk = call->ko_read;
	bool zero = call->ko_nreads && !chunk->co_position;
	u32 i;

	/* The message is either inline or in a Position Zero chunk (G-01, G-09) */
	if (call->ko_proc != (zero ? RPCRDMA1_NOMSG : RPCRDMA1_MSG))
		return false;
	/* The positions are aligned, and ascend (RFC 8166 3.4.4, 3.4.5, 4.3.1) */
	for (i = 0; i < call->ko_nreads; i++, chunk++)
		if (!chunk->co_nsegs || chunk->co_position % RPCRDMA_WORD_LEN ||
		    (i && chunk->co_position <= chunk[-1].co_position))
			return false;
	for (i = 0; i < call->ko_nwrites; i++)
		if (!call->ko_write[i].co_nsegs)
			return false;
	return !call->ko_reply || call->ko_reply->co_nsegs;
}

/**
 * rpcrdma_encode_call - write the transport header of a Call
 * @vers: version of the protocol
 * @buf: buffer to write to
 * @size: size of @buf in bytes
 * @call: the Call, forward or backward
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: number of bytes written; -EMSGSIZE if @size is too small; -EINVAL if
 *	@call must never be sent, see rpcrdma_form_call_valid().
 *
 * See RFC 8166 4.2; version-two 3.2, 5.3.1, 5.3.2.
 */
int rpcrdma_encode_call(u32 vers, void *buf, u32 size,
			const struct rpcrdma_call_out *call)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!rpcrdma_form_call_valid(call))
		return -EINVAL;
	rpcrdma_wire_put_fixed(&out, call->ko_xid, vers, call->ko_credit,
			       call->ko_proc);
	if (vers == RPCRDMA_VERS_2) {
		rpcrdma_xdr_put(&out, 0);
		rpcrdma_xdr_put(&out, call->ko_inv_handle);
	}
	rpcrdma_wire_put_call(&out, call);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_encode_call);

/**
 * rpcrdma_form_reply_len - size of the chunk lists of a Reply to be sent
 * @lists: the lists of the Call
 *
 * Context: any.
 * Return: number of bytes.
 */
u32 rpcrdma_form_reply_len(const struct rpcrdma_lists *lists)
{
	u32 i, len, nwritesegs = 0;

	for (i = 0; i < lists->ls_nwrites; i++)
		nwritesegs += lists->ls_write[i].ck_nsegs;
	len = rpcrdma_wire_lists_len(0, lists->ls_nwrites, nwritesegs,
				     lists->ls_reply.ck_nsegs);
	/* A Reply chunk without segments is still sent, with a count of 0 */
	if (lists->ls_has_reply && !lists->ls_reply.ck_nsegs)
		len += RPCRDMA_WORD_LEN;
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_form_reply_len);

/**
 * rpcrdma_form_reply_valid - may this Reply be sent?
 * @reply: the Reply
 *
 * Context: any.
 * Return: false if @reply claims more than the Call offered, or its ro_proc does not agree
 *	with its use of the Reply chunk (RFC 8166 3.5.3, 4.3.3).
 */
bool rpcrdma_form_reply_valid(const struct rpcrdma_reply_out *reply)
{
	const struct rpcrdma_lists *lists = reply->ro_lists;
	u32 i;

	/* The Reply chunk contains the whole payload stream of the Reply, or nothing (G-02) */
	switch (reply->ro_proc) {
	case RPCRDMA1_MSG:
		if (reply->ro_reply_written)
			return false;
		break;
	case RPCRDMA1_NOMSG:
		if (!lists->ls_has_reply || !reply->ro_reply_written ||
		    reply->ro_reply_written > lists->ls_reply.ck_length)
			return false;
		break;
	default:
		return false;
	}
	for (i = 0; i < lists->ls_nwrites; i++)
		if (reply->ro_written[i] > lists->ls_write[i].ck_length)
			return false;
	return true;
}

/**
 * rpcrdma_encode_reply - write the transport header of a Reply
 * @vers: version of the protocol
 * @buf: buffer to write to; not the buffer that has the Call
 * @size: size of @buf in bytes
 * @reply: the Reply, forward or backward
 *
 * Context: any; the buffer from which the Call's lists were decoded must still be valid.
 *	What is in @buf after an error is unspecified.
 * Return: number of bytes written; -EMSGSIZE if @size is too small; -EINVAL if
 *	@reply must never be sent, see rpcrdma_form_reply_valid().
 *
 * See RFC 8166 4.3; version-two 3.2, 5.3.1, 5.3.2; G-22.
 */
int rpcrdma_encode_reply(u32 vers, void *buf, u32 size,
			 const struct rpcrdma_reply_out *reply)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!rpcrdma_form_reply_valid(reply))
		return -EINVAL;
	rpcrdma_wire_put_fixed(&out, reply->ro_xid, vers, reply->ro_credit,
			       reply->ro_proc);
	if (vers == RPCRDMA_VERS_2) {
		rpcrdma_xdr_put(&out, RPCRDMA2_F_RESPONSE);
		/* A Reply names no handle to invalidate */
		rpcrdma_xdr_put(&out, 0);
	}
	rpcrdma_wire_put_returned(&out, reply->ro_lists, reply->ro_written,
				  reply->ro_reply_written);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_encode_reply);

/**
 * rpcrdma_form_get_fixed - read the four words that every message begins with
 * @in: the message
 * @hdr: OUT: the four words; all other members are zero
 *
 * Context: any.
 * Return: false if the message is too short. Then none of its words may be used
 *	(G-10).
 */
bool rpcrdma_form_get_fixed(struct rpcrdma_xdr_in *in, struct rpcrdma_hdr *hdr)
{
	/* The entries of empty lists need no value */
	memset(hdr, 0, offsetof(struct rpcrdma_hdr, hd_lists.ls_read));
	if (in->xi_left < RPCRDMA_FIXED_LEN)
		return false;
	return rpcrdma_xdr_get(in, &hdr->hd_xid) &&
	       rpcrdma_xdr_get(in, &hdr->hd_vers) &&
	       rpcrdma_xdr_get(in, &hdr->hd_credit) &&
	       rpcrdma_xdr_get(in, &hdr->hd_proc);
}

/**
 * rpcrdma_form_get_lists - read the lists, and the start of the RPC message
 * @buf: the message
 * @len: length of the message in bytes
 * @offset: where the lists begin
 * @hdr: OUT: the lists; where the RPC message begins, and how many bytes of it there are; its XID
 *	and direction, if these bytes contain them
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
 * Return: the verdict of rpcrdma_wire_decode_lists().
 */
enum rpcrdma_verdict rpcrdma_form_get_lists(const void *buf, u32 len,
					    u32 offset,
					    struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma_wire_decode_lists(buf, len, &offset,
					    &hdr->hd_lists);
	if (verdict)
		return verdict;

	hdr->hd_length = offset;
	hdr->hd_msg_len = len - offset;
	if (rpcrdma_xdr_skip(&in, offset) &&
	    rpcrdma_xdr_get(&in, &hdr->hd_rpc_xid))
		rpcrdma_xdr_get(&in, &hdr->hd_rpc_type);
	return RPCRDMA_OK;
}

/**
 * rpcrdma_form_has_msg - is there an RPC message after the header?
 * @hdr: a header with lists
 *
 * Context: any.
 * Return: true if at least the XID and the direction of an RPC message are there.
 */
bool rpcrdma_form_has_msg(const struct rpcrdma_hdr *hdr)
{
	return hdr->hd_msg_len >= RPCRDMA_RPC_MIN;
}

/**
 * rpcrdma_form_fits - can a message be put together?
 * @lists: its Read chunks
 * @item: its item (rtx.h); if there is none, im_length is 0, or @item is NULL
 * @body_len: length of the body in bytes: what is inline, in the payload stream of a group, or in
 *	the Position Zero chunk
 * @total: OUT: length of the message in bytes, if true is returned
 *
 * Item and Read chunks were taken out of the message, and are put back in the order of their
 * positions. None may begin inside the one before it, or beyond the end of the message that the
 * earlier ones have been put back into: the body has to fill the gaps (RFC 8166 4.5.2; RTX-54).
 * Each position must be a multiple of 4. Each chunk takes the same room whether its sender included
 * the roundup or not (G-04). XID and msg_type must stay in the stream, so an item must not begin
 * before byte 8 of the message.
 *
 * Context: any.
 * Return: false if a position is not possible.
 */
bool rpcrdma_form_fits(const struct rpcrdma_lists *lists,
		       const struct rpcrdma2_item *item, u32 body_len,
		       u64 *total)
{
	const struct rpcrdma_chunk *chunk = lists->ls_read;
	const struct rpcrdma_chunk *last = chunk + lists->ls_nreads;
	u64 room, end = 0, gone = 0;
	u32 position;

	if (item && !item->im_length)
		item = NULL;
	if (item && item->im_position < RPCRDMA_RPC_MIN)
		return false;
	while (item || chunk < last) {
		if (chunk < last &&
		    (!item || chunk->ck_position <= item->im_position)) {
			position = chunk->ck_position;
			room = chunk->ck_length;
			chunk++;
		} else {
			position = item->im_position;
			room = item->im_length;
			item = NULL;
		}
		if (position % RPCRDMA_WORD_LEN || position < end ||
		    position > gone + body_len)
			return false;
		room += RPCRDMA_WORD_LEN - 1;
		room -= room % RPCRDMA_WORD_LEN;
		gone += room;
		end = position + room;
	}
	*total = gone + body_len;
	return true;
}

/**
 * rpcrdma_form_check_call - is this header valid for a Call?
 * @hdr: a received header with lists: MSG, NOMSG or RTX_MSG
 *
 * The caller checks the direction of an inline message.
 *
 * Context: any.
 * Return: a verdict.
 *
 * See G-01, G-09.
 */
enum rpcrdma_verdict rpcrdma_form_check_call(const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	u32 i;

	/* core/chunk.c checks later that the positions fit into the stream (RFC 8166 3.4.5) */
	for (i = 0; i < lists->ls_nreads; i++)
		if (lists->ls_read[i].ck_position % RPCRDMA_WORD_LEN)
			return RPCRDMA_BAD_POSITION;

	if (hdr->hd_proc == RPCRDMA1_NOMSG) {
		/* A chunk too short for an XID and a direction holds no Call */
		if (lists->ls_call.ck_length < RPCRDMA_RPC_MIN)
			return RPCRDMA_BAD_FORM;
		return hdr->hd_msg_len ? RPCRDMA_BAD_MSG : RPCRDMA_OK;
	}

	if (lists->ls_call.ck_nsegs)
		return RPCRDMA_BAD_FORM;
	if (!rpcrdma_form_has_msg(hdr))
		return RPCRDMA_BAD_MSG;
	return hdr->hd_rpc_xid == hdr->hd_xid ? RPCRDMA_OK : RPCRDMA_BAD_XID;
}

/**
 * rpcrdma_form_check_reply - is this header valid for a Reply?
 * @hdr: a received header with lists: MSG, NOMSG or RTX_MSG
 *
 * The caller checks the direction of an inline message.
 *
 * Context: any.
 * Return: a verdict.
 *
 * See RFC 8166 4.3.1, 4.3.3, 4.5.2; G-09.
 */
enum rpcrdma_verdict rpcrdma_form_check_reply(const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	bool nomsg = hdr->hd_proc == RPCRDMA1_NOMSG;

	if (!nomsg && !rpcrdma_form_has_msg(hdr))
		return RPCRDMA_BAD_MSG;
	/* A Reply must not have Read chunks (RFC 8166 4.3.1) */
	if (lists->ls_nreads || lists->ls_call.ck_nsegs)
		return RPCRDMA_BAD_FORM;
	/* The Reply chunk contains the whole payload stream of the Reply, or nothing (RFC 8166
	 * 4.3.3, 4.5.2)
	 */
	if (nomsg != !!lists->ls_reply.ck_length)
		return RPCRDMA_BAD_FORM;
	if (nomsg)
		return hdr->hd_msg_len ? RPCRDMA_BAD_MSG : RPCRDMA_OK;
	return hdr->hd_rpc_xid == hdr->hd_xid ? RPCRDMA_OK : RPCRDMA_BAD_XID;
}
