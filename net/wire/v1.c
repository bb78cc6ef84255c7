// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 1 headers: Calls, Replies and errors, both ways.
 *
 * Here is decided what a version 1 message may look like, as sent and as
 * received; the parts it is made of are wire/lists.c's, and the rules that
 * other versions share wire/form.c's. This room knows the first two
 * words of an RPC message (XID and direction) and nothing else of RPC. It keeps
 * no state: what it makes of a message depends on the message and, for one
 * option, on a flag.
 *
 * The decoders are as suspicious as the protocol allows and say why they
 * refuse. The encoders refuse to produce what a decoder must refuse: such a
 * call is a mistake on our side of the wire, and is answered -EINVAL.
 *
 * Layouts: RFC 8166 4; Documentation/wire.rst.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* rdma_align and rdma_thresh, in front of the lists of an RDMA_MSGP */
#define RPCRDMA1_MSGP_EXTRA	8u

/**
 * rpcrdma1_call_len - size of a Call's transport header
 * @call: the Call
 *
 * Context: any.
 * Return: bytes that rpcrdma1_encode_call() would write.
 *
 * See RFC 8166 3.5.
 */
u32 rpcrdma1_call_len(const struct rpcrdma_call_out *call)
{
	return RPCRDMA_FIXED_LEN + rpcrdma_form_call_len(call);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_call_len);

/**
 * rpcrdma1_encode_call - write the transport header of a Call
 * @buf: where
 * @size: bytes there
 * @call: the Call, forward or backward
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: the bytes written; -EMSGSIZE if @size is too small; -EINVAL if
 *	@call is something that must never be sent (RFC 8166
 *	3.4.5, 4.3.1, 4.3.2.3, 4.6.1, 4.6.2; G-01).
 *
 * See RFC 8166 4.2.
 */
int rpcrdma1_encode_call(void *buf, u32 size,
			 const struct rpcrdma_call_out *call)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!rpcrdma_form_call_valid(call))
		return -EINVAL;
	rpcrdma_wire_put_fixed(&out, call->ko_xid, RPCRDMA_VERS_1,
			       call->ko_credit, call->ko_proc);
	rpcrdma_form_put_call(&out, call);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_encode_call);

/**
 * rpcrdma1_reply_len - size of a Reply's transport header
 * @lists: the lists of the Call
 *
 * Context: any.
 * Return: bytes that rpcrdma1_encode_reply() would write for that Call.
 */
u32 rpcrdma1_reply_len(const struct rpcrdma_lists *lists)
{
	return RPCRDMA_FIXED_LEN + rpcrdma_form_reply_len(lists);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_reply_len);

/**
 * rpcrdma1_encode_reply - write the transport header of a Reply
 * @buf: where; not the buffer the Call is in
 * @size: bytes there
 * @reply: the Reply, forward or backward
 *
 * Context: any; the buffer the Call's lists were decoded from must still be
 *	there. What is in @buf after an error is unspecified.
 * Return: the bytes written; -EMSGSIZE if @size is too small; -EINVAL if
 *	@reply claims more than the Call offered, or its form and its use of
 *	the Reply chunk disagree (RFC 8166 3.5.3, 4.3.3).
 *
 * See RFC 8166 4.3.
 */
int rpcrdma1_encode_reply(void *buf, u32 size,
			  const struct rpcrdma_reply_out *reply)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	if (!rpcrdma_form_reply_valid(reply))
		return -EINVAL;
	rpcrdma_wire_put_fixed(&out, reply->ro_xid, RPCRDMA_VERS_1,
			       reply->ro_credit, reply->ro_proc);
	rpcrdma_wire_put_returned(&out, reply->ro_lists, reply->ro_written,
				  reply->ro_reply_written);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_encode_reply);

/**
 * rpcrdma1_encode_err_vers - write an RDMA_ERROR that names our versions
 * @buf: where
 * @size: bytes there
 * @xid: rdma_xid of the message refused
 * @vers: its rdma_vers, which is repeated: its sender can read that (G-11)
 * @credit: the grant in force; 0 is sent as 1
 * @range: lowest and highest version we speak
 *
 * Context: any.
 * Return: the bytes written, or -EMSGSIZE.
 *
 * See RFC 8166 4.5.1.
 */
int rpcrdma1_encode_err_vers(void *buf, u32 size, u32 xid, u32 vers,
			     u32 credit, const u32 range[2])
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	rpcrdma_wire_put_fixed(&out, xid, vers, credit, RPCRDMA1_ERROR);
	rpcrdma_xdr_put(&out, RPCRDMA1_ERR_VERS);
	rpcrdma_xdr_put(&out, range[0]);
	rpcrdma_xdr_put(&out, range[1]);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_encode_err_vers);

/**
 * rpcrdma1_encode_err_chunk - write an RDMA_ERROR for everything else
 * @buf: where
 * @size: bytes there
 * @xid: rdma_xid of the Call refused
 * @credit: the grant in force; 0 is sent as 1
 *
 * Context: any.
 * Return: the bytes written, or -EMSGSIZE.
 *
 * See RFC 8166 4.5.2.
 */
int rpcrdma1_encode_err_chunk(void *buf, u32 size, u32 xid, u32 credit)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };

	rpcrdma_wire_put_fixed(&out, xid, RPCRDMA_VERS_1, credit,
			       RPCRDMA1_ERROR);
	rpcrdma_xdr_put(&out, RPCRDMA1_ERR_CHUNK);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_encode_err_chunk);

static enum rpcrdma_verdict
rpcrdma1_decode_body(const void *buf, u32 len, struct rpcrdma_hdr *hdr)
{
	u32 offset = RPCRDMA_FIXED_LEN;

	if (hdr->hd_proc == RPCRDMA1_MSGP) {
		/* Like RDMA_MSG behind the two words (RFC 8166 4.6.1) */
		hdr->hd_proc = RPCRDMA1_MSG;
		offset += RPCRDMA1_MSGP_EXTRA;
	}
	return rpcrdma_form_get_lists(buf, len, offset, hdr);
}

static enum rpcrdma_verdict
rpcrdma1_judge_call(const struct rpcrdma_hdr *hdr)
{
	enum rpcrdma_verdict verdict = rpcrdma_form_judge_call(hdr);

	if (!verdict && hdr->hd_proc == RPCRDMA1_MSG &&
	    hdr->hd_rpc_type == RPCRDMA_RPC_REPLY &&
	    rpcrdma_lists_empty(&hdr->hd_lists))
		return RPCRDMA_BACKWARD_REPLY;
	return verdict;
}

/**
 * rpcrdma1_decode_call - parse a message received by a responder
 * @buf: the message
 * @len: its bytes, as the Receive completion tells
 * @flags: %RPCRDMA1_ACCEPT_MSGP or 0
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf.
 *	An accepted RDMA_MSGP shows as RDMA_MSG. Unless the message was too
 *	short, @hd_xid and @hd_vers are there for the answer.
 *
 * Whether the chunks add up to a stream is for rpcrdma_lists_check_call(), and
 * the XID in a Position Zero chunk can be compared only once it was read.
 *
 * Context: any. Work is bounded by @len and the limits of G-32.
 * Return: a verdict.
 *
 * See RFC 8166 4.5, 4.6; G-01, G-07, G-09, G-10, G-26.
 */
enum rpcrdma_verdict rpcrdma1_decode_call(const void *buf, u32 len,
					  unsigned int flags,
					  struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	if (!rpcrdma_form_get_fixed(&in, hdr))
		return RPCRDMA_DISCARD_SHORT;
	if (hdr->hd_vers != RPCRDMA_VERS_1)
		return RPCRDMA_BAD_VERS;
	/* These two are dropped at any length, so they need not be complete */
	if (hdr->hd_proc == RPCRDMA1_DONE)
		return RPCRDMA_DISCARD_DONE;
	if (hdr->hd_proc == RPCRDMA1_ERROR)
		return RPCRDMA_DISCARD_ERROR;
	if (len < RPCRDMA1_HDR_MIN)
		return RPCRDMA_DISCARD_SHORT;
	if (hdr->hd_proc > RPCRDMA1_MSGP ||
	    (hdr->hd_proc == RPCRDMA1_MSGP && !(flags & RPCRDMA1_ACCEPT_MSGP)))
		return RPCRDMA_BAD_PROC;

	verdict = rpcrdma1_decode_body(buf, len, hdr);
	return verdict ? verdict : rpcrdma1_judge_call(hdr);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_decode_call);

static enum rpcrdma_verdict
rpcrdma1_decode_error(struct rpcrdma_xdr_in *in, u32 len,
		      struct rpcrdma_hdr *hdr)
{
	bool vers1 = hdr->hd_vers == RPCRDMA_VERS_1;

	if (!rpcrdma_xdr_get(in, &hdr->hd_err))
		return RPCRDMA_DISCARD_SHORT;
	/*
	 * ERR_VERS repeats the version we sent, which is not ours to refuse
	 * (G-11). The length tells it from the errors of other versions, which
	 * put their code elsewhere.
	 */
	if (!vers1 && (hdr->hd_err != RPCRDMA1_ERR_VERS ||
		       len != RPCRDMA1_ERR_VERS_LEN))
		return RPCRDMA_BAD_VERS;
	if (hdr->hd_err == RPCRDMA1_ERR_VERS &&
	    (!rpcrdma_xdr_get(in, &hdr->hd_vers_low) ||
	     !rpcrdma_xdr_get(in, &hdr->hd_vers_high)))
		return RPCRDMA_BAD_MSG;
	/* An unknown code still ends the RPC that it names (G-14) */
	hdr->hd_length = len - in->xi_left;
	return RPCRDMA_OK;
}

static enum rpcrdma_verdict
rpcrdma1_judge_reply(const struct rpcrdma_hdr *hdr)
{
	/*
	 * Before anything is held against it: a Call, even a bad one, must not
	 * be mistaken for the Reply to an RPC of ours that happens to have the
	 * same XID (G-26).
	 */
	if (hdr->hd_proc == RPCRDMA1_MSG && rpcrdma_form_has_msg(hdr) &&
	    hdr->hd_rpc_type == RPCRDMA_RPC_CALL)
		return RPCRDMA_BACKWARD_CALL;
	return rpcrdma_form_judge_reply(hdr);
}

/**
 * rpcrdma1_decode_reply - parse a message received by a requester
 * @buf: the message
 * @len: its bytes, as the Receive completion tells
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf.
 *	An RDMA_MSGP shows as RDMA_MSG.
 *
 * %RPCRDMA_OK is also returned for an RDMA_ERROR: look at @hd_proc. Of a
 * %RPCRDMA_BACKWARD_CALL only the direction is certain; the caller has yet to
 * check that its lists are empty (RFC 8167 5.3) and its two XIDs the same
 * (RFC 8166 4.5.2). What a Reply's lists claim is checked against the offer by
 * rpcrdma_lists_check_reply().
 *
 * Context: any. Work is bounded by @len and the limits of G-32.
 * Return: a verdict.
 *
 * See RFC 8166 4.3.3, 4.5, 4.6; G-09, G-10, G-11, G-14, G-26.
 */
enum rpcrdma_verdict rpcrdma1_decode_reply(const void *buf, u32 len,
					   struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	if (!rpcrdma_form_get_fixed(&in, hdr))
		return RPCRDMA_DISCARD_SHORT;
	if (hdr->hd_proc == RPCRDMA1_ERROR)
		return rpcrdma1_decode_error(&in, len, hdr);
	if (hdr->hd_vers != RPCRDMA_VERS_1)
		return RPCRDMA_BAD_VERS;
	if (hdr->hd_proc == RPCRDMA1_DONE)
		return RPCRDMA_DISCARD_DONE;
	if (hdr->hd_proc > RPCRDMA1_MSGP)
		return RPCRDMA_BAD_PROC;
	if (len < RPCRDMA1_HDR_MIN)
		return RPCRDMA_DISCARD_SHORT;

	verdict = rpcrdma1_decode_body(buf, len, hdr);
	return verdict ? verdict : rpcrdma1_judge_reply(hdr);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_decode_reply);
