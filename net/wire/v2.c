// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2: decodes headers.
 *
 * As wire/v1.c does for version 1, this file decides what a received version 2 message may look
 * like. wire/lists.c handles chunk lists, wire/form.c has the rules that versions share, and writes
 * Calls and Replies, wire/v2_error.c handles errors, and wire/v2_props.c handles properties. No
 * state is kept: whatever depends on the connection is an argument.
 *
 * A message begins with a prefix of five words. What follows depends on the type of the message,
 * which must be one that rpcrdma2_decode() knows. An extension adds a type to this function, see
 * Documentation/extensions.rst. The types of the round-trip extension are an exception: wire/rtx.c
 * decodes them, because the header of a group is decoded only when the group is complete.
 *
 * Either end of a connection may be a responder. F_RESPONSE tells the role of the receiver
 * of a message (version-two 3.2). If the flag is clear, the receiver is the responder, and
 * rpcrdma2_refusal() chooses the error that answers a message that cannot be used. If the flag is
 * set, the receiver is the requester, and never answers (G-12).
 *
 * What a caller does
 *
 * The server decodes with rpcrdma2_decode_call(), the client with
 * rpcrdma2_decode_reply(). The verdict, and then hd_proc, tell what to do next:
 *
 * OK at the server, BACKWARD_CALL at the client: the message is a request.
 *	MSG, NOMSG	server: call rpcrdma_lists_check_call(), then execute;
 *			client (only MSG): pass to the callback service, if there is
 *			one
 *	CONNPROP	use hd_props, unless an earlier CONNPROP of the peer was used.
 *			The server answers each CONNPROP with one of its own, which has
 *			the same XID and F_RESPONSE; the client does not answer (G-17)
 * OK at the client, BACKWARD_REPLY at the server: the message is a response.
 *	MSG, NOMSG	client: call rpcrdma_lists_check_reply(), then complete the
 *			RPC with this XID;
 *			server: complete the callback with this XID; if there are
 *			chunks, end it with an error
 *	ERROR		client: end the RPC or send it again; hd_err decides (G-23).
 *			If the version is not settled yet, the error may be the answer
 *			to our CONNPROP: see rpcrdma_negotiate_answer();
 *			server: end the callback (G-24)
 *	CONNPROP	drop if this is not the answer to our CONNPROP. Otherwise use
 *			hd_props, unless an earlier CONNPROP of the peer was used
 * DISCARD_*: drop. There is no answer, and no grant.
 * BAD_*, MANY_*: count and trace, then call rpcrdma2_refusal(). If it returns
 *	true		send the error with rpcrdma_encode_error(), by Send
 *			without invalidation (G-22). The message has no other effect.
 *			A client sends nothing before its CONNPROP was answered (G-17)
 *	false		drop a BAD_VERS. For all other verdicts, if an RPC waits for
 *			hd_xid, end it with an error as soon as the peer can no
 *			longer access its memory; otherwise drop. A bad answer to our
 *			CONNPROP does not change the properties in force (G-17)
 * In all cases rpcrdma2_is_grant() tells whether to call rpcrdma_window_grant()
 * with hd_credit.
 *
 * Layouts: Documentation/wire.rst;
 * draft-cel-nfsv4-rpcrdma-version-two-09.
 */

#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* For all versions, wire/form.c uses the version 1 names of MSG and NOMSG, and wire/v1.c that of
 * ERROR
 */
#if RPCRDMA2_MSG != RPCRDMA1_MSG || RPCRDMA2_NOMSG != RPCRDMA1_NOMSG || \
	RPCRDMA2_ERROR != RPCRDMA1_ERROR
#error "the versions disagree about types they share"
#endif

/*
 * What a client accepts in callbacks: no chunks. It announces this by its property BRS (G-24).
 * The client cannot tell whether a message of another version is a Reply, so it sends no ERR_VERS:
 * ac_vers_high is 0.
 */
const struct rpcrdma2_accept rpcrdma2_accept_backward = {
	.ac_segs	= RPCRDMA_MAX_SEGS,
	.ac_inline_only	= true,
};
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_accept_backward);

static bool rpcrdma2_chunks_have(const struct rpcrdma_lists *lists,
				 const struct rpcrdma_chunk *chunk, u32 n,
				 u32 handle)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	for (; n; n--, chunk++) {
		rpcrdma_chunk_first(lists, chunk, &iter);
		while (rpcrdma_chunk_next(&iter, &seg))
			if (seg.rs_handle == handle)
				return true;
	}
	return false;
}

/**
 * rpcrdma2_decode_rpc - parse handle and lists of a header
 * @in: cursor at rdma_inv_handle, which is the first word after the prefix, except in
 *	an RDMA2_RTX_MSG
 * @buf: the message
 * @len: length of the message in bytes
 * @hdr: IN: the prefix; OUT: handle, lists, and where the lists end
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
 * Return: a verdict.
 */
enum rpcrdma_verdict rpcrdma2_decode_rpc(struct rpcrdma_xdr_in *in,
					 const void *buf, u32 len,
					 struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	enum rpcrdma_verdict verdict;
	u32 handle;

	if (!rpcrdma_xdr_get(in, &handle))
		return RPCRDMA_BAD_LIST;
	verdict = rpcrdma_form_get_lists(buf, len, len - in->xi_left, hdr);
	if (verdict)
		return verdict;
	/* The handle is ignored in a Reply, and in a Call that has no segment with this
	 * handle (G-22).
	 */
	if (!handle || hdr->hd_response)
		return RPCRDMA_OK;
	if (rpcrdma2_chunks_have(lists, lists->ls_write, lists->ls_nwrites,
				 handle) ||
	    rpcrdma2_chunks_have(lists, lists->ls_read, lists->ls_nreads,
				 handle) ||
	    rpcrdma2_chunks_have(lists, &lists->ls_call, 1, handle) ||
	    rpcrdma2_chunks_have(lists, &lists->ls_reply, 1, handle))
		hdr->hd_inv_handle = handle;
	else
		hdr->hd_inv_stray = handle;
	return RPCRDMA_OK;
}

static enum rpcrdma_verdict
rpcrdma2_check_chunks(const struct rpcrdma_lists *lists,
		      const struct rpcrdma2_accept *accept)
{
	u32 i, max = accept->ac_segs;

	if (accept->ac_inline_only) {
		if (lists->ls_nreads || lists->ls_call.ck_nsegs)
			return RPCRDMA_MANY_READS;
		return lists->ls_nwrites || lists->ls_has_reply ?
		       RPCRDMA_BAD_FORM : RPCRDMA_OK;
	}
	if (lists->ls_nreads > accept->ac_reads)
		return RPCRDMA_MANY_READS;
	if (lists->ls_nwrites > accept->ac_writes)
		return RPCRDMA_MANY_WRITES;
	for (i = 0; i < lists->ls_nreads; i++)
		if (lists->ls_read[i].ck_nsegs > max)
			return RPCRDMA_MANY_SEGS;
	for (i = 0; i < lists->ls_nwrites; i++)
		if (lists->ls_write[i].ck_nsegs > max)
			return RPCRDMA_MANY_SEGS;
	return lists->ls_call.ck_nsegs > max || lists->ls_reply.ck_nsegs > max ?
	       RPCRDMA_MANY_SEGS : RPCRDMA_OK;
}

/**
 * rpcrdma2_check_rpc - does the header of an RPC message make sense?
 * @hdr: the header, as decoded
 * @accept: what is accepted if the message is a Call
 *
 * Context: any.
 * Return: a verdict.
 */
enum rpcrdma_verdict rpcrdma2_check_rpc(const struct rpcrdma_hdr *hdr,
					const struct rpcrdma2_accept *accept)
{
	u32 type = hdr->hd_response ? RPCRDMA_RPC_REPLY : RPCRDMA_RPC_CALL;
	enum rpcrdma_verdict verdict;

	verdict = hdr->hd_response ? rpcrdma_form_check_reply(hdr) :
				     rpcrdma_form_check_call(hdr);
	if (verdict)
		return verdict;
	if (hdr->hd_proc != RPCRDMA2_NOMSG && hdr->hd_rpc_type != type)
		return RPCRDMA_BAD_DIRECTION;
	return hdr->hd_response ? RPCRDMA_OK :
	       rpcrdma2_check_chunks(&hdr->hd_lists, accept);
}

/**
 * rpcrdma2_decode_prefix - read the five words that every message begins with
 * @in: the message; OUT: cursor after the prefix, if %RPCRDMA_OK is returned
 * @flags: %RPCRDMA2_NEGOTIATING or 0
 * @hdr: OUT: the prefix; all other members are zero. If hd_v1_error is set, the
 *	message is an error in the layout of version 1, and has been decoded
 *
 * Context: any.
 * Return: %RPCRDMA_OK, %RPCRDMA_DISCARD_SHORT or %RPCRDMA_BAD_VERS.
 */
enum rpcrdma_verdict rpcrdma2_decode_prefix(struct rpcrdma_xdr_in *in,
					    unsigned int flags,
					    struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in peek;
	u32 word, err;

	if (!rpcrdma_form_get_fixed(in, hdr))
		return RPCRDMA_DISCARD_SHORT;
	if (hdr->hd_proc == RPCRDMA2_ERROR &&
	    rpcrdma2_decode_v1_error(*in, flags, hdr))
		return RPCRDMA_OK;
	peek = *in;
	/* rdma_vers of an ERR_VERS may be that of the refused message, or another one. So an
	 * ERR_VERS is accepted with any version (G-11).
	 */
	if (hdr->hd_vers != RPCRDMA_VERS_2 &&
	    (hdr->hd_proc != RPCRDMA2_ERROR || !rpcrdma_xdr_get(&peek, &word) ||
	     !(word & RPCRDMA2_F_RESPONSE) || !rpcrdma_xdr_get(&peek, &err) ||
	     err != RPCRDMA2_ERR_VERS ||
	     peek.xi_left != 2 * RPCRDMA_WORD_LEN))
		return RPCRDMA_BAD_VERS;
	if (!rpcrdma_xdr_get(in, &word))
		return RPCRDMA_DISCARD_SHORT;
	/* Unknown flags are ignored (G-21) */
	hdr->hd_response = word & RPCRDMA2_F_RESPONSE;
	return RPCRDMA_OK;
}

/* A valid message gives %RPCRDMA_OK whether it is a request or a response. */
static enum rpcrdma_verdict
rpcrdma2_decode(const void *buf, u32 len, unsigned int flags,
		const struct rpcrdma2_accept *accept, struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma2_decode_prefix(&in, flags, hdr);
	if (verdict || hdr->hd_v1_error)
		return verdict;
	switch (hdr->hd_proc) {
	case RPCRDMA2_MSG:
	case RPCRDMA2_NOMSG:
		verdict = rpcrdma2_decode_rpc(&in, buf, len, hdr);
		return verdict ?: rpcrdma2_check_rpc(hdr, accept);
	case RPCRDMA2_ERROR:
		return rpcrdma2_decode_error(&in, len, hdr);
	case RPCRDMA2_CONNPROP:
		return rpcrdma2_decode_connprop(&in, len, hdr);
	default:
		return RPCRDMA_BAD_PROC;
	}
}

/**
 * rpcrdma2_decode_call - parse a message received by a server
 * @buf: the message
 * @len: length of the message in bytes, from the Receive completion
 * @accept: what is accepted: the limits of the receiver
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf. Unless the message
 *	was too short, @hd_xid, @hd_vers and @hd_response are valid. With %RPCRDMA_BAD_VERS,
 *	@hd_response is false: the flags of other versions are not read
 *
 * %RPCRDMA_OK is returned for Calls and for a client's CONNPROP.
 * %RPCRDMA_BACKWARD_REPLY is returned for a valid response (a Reply to a callback, an error, or a
 * CONNPROP with F_RESPONSE): see the top of this file.
 * rpcrdma_lists_check_call() decides whether the chunks of a Call add up to a stream. The
 * caller has to check the RPC message in a Position Zero chunk after reading the chunk.
 *
 * Context: any. Work is bounded by @len and the limits in wire.h (G-32).
 * Return: a verdict.
 *
 * See version-two 3.2, 3.3, 5; G-10 to G-12, G-17 to G-24.
 */
enum rpcrdma_verdict rpcrdma2_decode_call(const void *buf, u32 len,
					  const struct rpcrdma2_accept *accept,
					  struct rpcrdma_hdr *hdr)
{
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma2_decode(buf, len, 0, accept, hdr);
	/* An error of another version is not answered by an error, either */
	if (verdict == RPCRDMA_BAD_VERS && hdr->hd_proc == RPCRDMA2_ERROR)
		return RPCRDMA_DISCARD_ERROR;
	return !verdict && hdr->hd_response ? RPCRDMA_BACKWARD_REPLY : verdict;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_call);

/**
 * rpcrdma2_decode_reply - parse a message received by a client
 * @buf: the message
 * @len: length of the message in bytes, from the Receive completion
 * @flags: %RPCRDMA2_NEGOTIATING until the version is settled, then 0
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf. Unless the message
 *	was too short, @hd_xid and @hd_response are valid. With %RPCRDMA_BAD_VERS,
 *	@hd_response is false: the flags of other versions are not read
 *
 * %RPCRDMA_OK is returned for Replies, for errors and for the server's answer to a
 * CONNPROP. %RPCRDMA_BACKWARD_CALL is returned for a valid backward Call without chunks and
 * for a CONNPROP that is not an answer: see the top of this file.
 * rpcrdma_lists_check_reply() compares the lists of a Reply with what its Call has offered.
 *
 * Context: any. Work is bounded by @len and the limits in wire.h (G-32).
 * Return: a verdict. To call rpcrdma2_refusal() with it, use %rpcrdma2_accept_backward.
 *
 * See version-two 3.2, 3.3, 5; G-10 to G-12, G-17 to G-24.
 */
enum rpcrdma_verdict rpcrdma2_decode_reply(const void *buf, u32 len,
					   unsigned int flags,
					   struct rpcrdma_hdr *hdr)
{
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma2_decode(buf, len, flags, &rpcrdma2_accept_backward,
				  hdr);
	return !verdict && !hdr->hd_response ? RPCRDMA_BACKWARD_CALL : verdict;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_reply);

/**
 * rpcrdma2_is_grant - does a message grant credits?
 * @hdr: its header, as decoded
 * @verdict: verdict of the decoder
 *
 * A request grants nothing, and the rdma_credit of an error is ignored (version-two 5.3.3).
 * An answer with bad properties still grants (G-17). The caller has to check that it waits
 * for a message with that XID.
 *
 * Context: any.
 * Return: true if the caller has to call rpcrdma_window_grant().
 *
 * See version-two 3.2, 5.3.3.
 */
bool rpcrdma2_is_grant(const struct rpcrdma_hdr *hdr,
		       enum rpcrdma_verdict verdict)
{
	if (!hdr->hd_response || hdr->hd_proc == RPCRDMA2_ERROR)
		return false;
	return verdict == RPCRDMA_OK || verdict == RPCRDMA_BACKWARD_REPLY ||
	       verdict == RPCRDMA_BAD_PROP;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_is_grant);
