// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 1: decodes headers of Calls, Replies and errors, forward and backward.
 *
 * This file decides what a received version 1 message may look like. wire/lists.c handles fixed
 * words, segments and chunk lists. wire/form.c has the rules that all versions share, and writes
 * Calls and Replies. wire/v2_error.c writes errors. Of an RPC message, only the first two words are
 * read (XID and direction). This file keeps no state: a verdict depends only on the message.
 *
 * The verdict of a decoder says why it refuses a message.
 *
 * Layouts: RFC 8166 4; Documentation/wire.rst.
 */

#include <linux/export.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* Bytes of rdma_align and rdma_thresh, which precede the lists of an RDMA_MSGP */
#define RPCRDMA1_MSGP_EXTRA	8u

static enum rpcrdma_verdict
rpcrdma1_decode_body(const void *buf, u32 len, struct rpcrdma_hdr *hdr)
{
	u32 offset = RPCRDMA_FIXED_LEN;

	if (hdr->hd_proc == RPCRDMA1_MSGP) {
		/* After two more words, RDMA_MSGP is like RDMA_MSG (RFC 8166
		 * 4.6.1)
		 */
		hdr->hd_proc = RPCRDMA1_MSG;
		offset += RPCRDMA1_MSGP_EXTRA;
	}
	return rpcrdma_form_get_lists(buf, len, offset, hdr);
}

/**
 * rpcrdma1_decode_call - parse a message received by a responder
 * @buf: the message
 * @len: length of the message in bytes, from the Receive completion
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf. hd_proc of an
 *	RDMA_MSGP is RDMA_MSG (G-07). Unless the message was too short, @hd_xid and
 *	@hd_vers are valid, so that an error can be sent
 *
 * rpcrdma_lists_check_call() decides whether the chunks add up to a stream. If the RPC message is
 * in a Position Zero chunk, the caller has to read the chunk, and then check the XID and the
 * direction in it.
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
 * Return: a verdict.
 *
 * See RFC 8166 4.5, 4.6; G-01, G-07, G-09, G-10, G-26.
 */
enum rpcrdma_verdict rpcrdma1_decode_call(const void *buf, u32 len,
					  struct rpcrdma_hdr *hdr)
{
	struct rpcrdma_xdr_in in = { .xi_pos = buf, .xi_left = len };
	enum rpcrdma_verdict verdict;

	if (!rpcrdma_form_get_fixed(&in, hdr))
		return RPCRDMA_DISCARD_SHORT;
	/* An error is never answered by an error. All versions have the same type for errors
	 * (RFC 8166 7), so this is checked before the version.
	 */
	if (hdr->hd_proc == RPCRDMA1_ERROR)
		return RPCRDMA_DISCARD_ERROR;
	if (hdr->hd_vers != RPCRDMA_VERS_1)
		return RPCRDMA_BAD_VERS;
	if (hdr->hd_proc == RPCRDMA1_DONE)
		return RPCRDMA_DISCARD_DONE;
	if (len < RPCRDMA1_HDR_MIN)
		return RPCRDMA_DISCARD_SHORT;
	if (hdr->hd_proc > RPCRDMA1_MSGP)
		return RPCRDMA_BAD_PROC;

	verdict = rpcrdma1_decode_body(buf, len, hdr);
	if (!verdict)
		verdict = rpcrdma_form_check_call(hdr);
	if (!verdict && hdr->hd_proc == RPCRDMA1_MSG &&
	    hdr->hd_rpc_type == RPCRDMA_RPC_REPLY &&
	    rpcrdma_lists_empty(&hdr->hd_lists))
		return RPCRDMA_BACKWARD_REPLY;
	return verdict;
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
	 * rdma_vers of an ERR_VERS may be that of the refused message, or another one. So
	 * an ERR_VERS is accepted with any rdma_vers (G-11). Errors of version 2 have another
	 * layout, with the code at another offset. Most of them also have another length than
	 * an ERR_VERS; for the exceptions see rpcrdma2_decode_v1_error().
	 */
	if (!vers1 && (hdr->hd_err != RPCRDMA1_ERR_VERS ||
		       len != RPCRDMA1_ERR_VERS_LEN))
		return RPCRDMA_BAD_VERS;
	if (hdr->hd_err == RPCRDMA1_ERR_VERS &&
	    (!rpcrdma_xdr_get(in, &hdr->hd_err_arg[0]) ||
	     !rpcrdma_xdr_get(in, &hdr->hd_err_arg[1])))
		return RPCRDMA_BAD_MSG;
	/* An error with an unknown code still ends the RPC that it names (G-14) */
	hdr->hd_length = len - in->xi_left;
	return RPCRDMA_OK;
}

/**
 * rpcrdma1_decode_reply - parse a message received by a requester
 * @buf: the message
 * @len: length of the message in bytes, from the Receive completion
 * @hdr: OUT: the header, as far as it could be parsed; points into @buf. hd_proc of an
 *	RDMA_MSGP is RDMA_MSG
 *
 * %RPCRDMA_OK is also returned for a valid RDMA_ERROR: look at @hd_proc. For a
 * %RPCRDMA_BACKWARD_CALL, only the layout and the direction have been checked. The caller has to
 * check that its lists are empty (RFC 8167 5.3; G-24), and that header and RPC message have the
 * same XID (RFC 8166 4.5.2). rpcrdma_lists_check_reply() compares the lists of a Reply with what
 * its Call has offered.
 *
 * Context: any. The work is bounded by @len and the limits in wire.h (G-32).
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
	if (verdict)
		return verdict;
	/*
	 * Check the direction first: a Call, even a bad one, must not be mistaken
	 * for the Reply to an RPC of ours that happens to have the same XID (G-26).
	 */
	if (hdr->hd_proc == RPCRDMA1_MSG && rpcrdma_form_has_msg(hdr) &&
	    hdr->hd_rpc_type == RPCRDMA_RPC_CALL)
		return RPCRDMA_BACKWARD_CALL;
	return rpcrdma_form_check_reply(hdr);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma1_decode_reply);
