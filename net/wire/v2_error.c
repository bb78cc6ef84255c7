// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: how those of version 2 are read, how those of both versions are written, and which error
 * answers a message of version 2 that cannot be used.
 *
 * wire/v2.c uses this file: read the comment at the top of wire/v2.c first.
 *
 * Layouts: Documentation/wire.rst;
 * draft-cel-nfsv4-rpcrdma-version-two-09 section 5.3.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* Number of words after rdma_err, by code. The other codes that this module sends have none. */
static const u8 rpcrdma2_error_words[] = {
	[RPCRDMA2_ERR_VERS]		= 2,
	[RPCRDMA2_ERR_READ_CHUNKS]	= 1,
	[RPCRDMA2_ERR_WRITE_CHUNKS]	= 1,
	[RPCRDMA2_ERR_SEGMENTS]		= 1,
	[RPCRDMA2_ERR_WRITE_RESOURCE]	= 2,
	[RPCRDMA2_ERR_REPLY_RESOURCE]	= 1,
};

static u32 rpcrdma2_error_nargs(u32 code)
{
	return code < ARRAY_SIZE(rpcrdma2_error_words) ?
	       rpcrdma2_error_words[code] : 0;
}

/**
 * rpcrdma_encode_error - write an error
 * @vers: version of the connection; 0 if it is not settled yet
 * @buf: buffer to write to
 * @size: size of @buf in bytes
 * @hdr: header of the message that is answered; its XID and version are repeated
 * @credit: the grant in force; 0 is sent as 1
 * @error: the error, as one of version 2
 *
 * ERR_VERS is sent in the layout of version 1, which has no rdma_flags, because a peer of any
 * version can read this layout (RFC 8166 4.5.1; G-11). For all other errors, version 1 has
 * ERR_CHUNK (RFC 8166 4.5.2).
 *
 * Context: any.
 * Return: number of bytes written; -EMSGSIZE if @size is too small; -EINVAL if @hdr
 *	is a response of version 2, which is never answered (G-12).
 *
 * See version-two 3.2, 5.3.3.
 */
int rpcrdma_encode_error(u32 vers, void *buf, u32 size,
			 const struct rpcrdma_hdr *hdr, u32 credit,
			 const struct rpcrdma2_error *error)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	u32 i;

	if (hdr->hd_response)
		return -EINVAL;
	rpcrdma_wire_put_fixed(&out, hdr->hd_xid, hdr->hd_vers, credit,
			       RPCRDMA2_ERROR);
	if (vers == RPCRDMA_VERS_1 && error->er_code != RPCRDMA2_ERR_VERS) {
		rpcrdma_xdr_put(&out, RPCRDMA1_ERR_CHUNK);
		return rpcrdma_xdr_done(&out, size);
	}
	if (error->er_code != RPCRDMA2_ERR_VERS)
		rpcrdma_xdr_put(&out, RPCRDMA2_F_RESPONSE);
	rpcrdma_xdr_put(&out, error->er_code);
	for (i = 0; i < rpcrdma2_error_nargs(error->er_code); i++)
		rpcrdma_xdr_put(&out, error->er_arg[i]);
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_encode_error);

/**
 * rpcrdma2_decode_error - parse what follows the prefix of an RDMA2_ERROR
 * @in: cursor after the prefix
 * @len: length of the message in bytes
 * @hdr: IN: the prefix; OUT: the error
 *
 * Context: any.
 * Return: %RPCRDMA_OK; %RPCRDMA_DISCARD_ERROR if F_RESPONSE is clear; %RPCRDMA_BAD_MSG if the
 *	code (rdma_err) is missing, or if the number of words after it is wrong for this code. After
 *	%RPCRDMA_BAD_MSG, the error still ends the RPC that waits for the XID (G-14).
 */
enum rpcrdma_verdict rpcrdma2_decode_error(struct rpcrdma_xdr_in *in, u32 len,
					   struct rpcrdma_hdr *hdr)
{
	u32 i;

	if (!hdr->hd_response)
		return RPCRDMA_DISCARD_ERROR;
	if (!rpcrdma_xdr_get(in, &hdr->hd_err))
		return RPCRDMA_BAD_MSG;
	for (i = 0; i < rpcrdma2_error_nargs(hdr->hd_err); i++)
		if (!rpcrdma_xdr_get(in, &hdr->hd_err_arg[i]))
			return RPCRDMA_BAD_MSG;
	hdr->hd_length = len - in->xi_left;
	/* Further words after an unknown error code are accepted, because nothing is known
	 * about their number (G-14).
	 */
	return in->xi_left && hdr->hd_err &&
	       hdr->hd_err <= RPCRDMA2_ERR_SYSTEM ? RPCRDMA_BAD_MSG : RPCRDMA_OK;
}

/**
 * rpcrdma2_decode_v1_error - is this an error in the layout of version 1?
 * @in: cursor after the fixed words of the message, whose type is RDMA_ERROR
 * @flags: %RPCRDMA2_NEGOTIATING or 0
 * @hdr: IN: the fixed words; OUT: the error, if true is returned
 *
 * An error of version 1 has its code where version 2 has rdma_flags. That word does not tell
 * the layout, because ERR_VERS and F_RESPONSE are both 1. The length of the message does, if a
 * version 2 error has a known code and the number of words that belongs to it. There is one
 * exception: if rdma_vers is 2, a version 1 ERR_VERS whose lowest version is 4, 5, 6 or 8 has the
 * layout of a version 2 error with this number as its code. During negotiation, such a message is
 * taken as a version 1 error, because a CONNPROP causes none of these version 2 errors.
 *
 * Context: any.
 * Return: false if the message has to be decoded as one of version 2.
 *
 * See version-two 5.3.3; G-11.
 */
bool rpcrdma2_decode_v1_error(struct rpcrdma_xdr_in in, unsigned int flags,
			      struct rpcrdma_hdr *hdr)
{
	u32 err, low, high, len = RPCRDMA_FIXED_LEN + in.xi_left;

	if (!rpcrdma_xdr_get(&in, &err))
		return false;
	if (len == RPCRDMA1_ERR_CHUNK_LEN && err == RPCRDMA1_ERR_CHUNK &&
	    hdr->hd_vers <= RPCRDMA_VERS_2) {
		hdr->hd_err = err;
	} else if (len == RPCRDMA1_ERR_VERS_LEN && err == RPCRDMA1_ERR_VERS &&
		   rpcrdma_xdr_get(&in, &low) && rpcrdma_xdr_get(&in, &high)) {
		if (!(flags & RPCRDMA2_NEGOTIATING) &&
		    hdr->hd_vers == RPCRDMA_VERS_2 &&
		    rpcrdma2_error_nargs(low) == 1)
			return false;
		hdr->hd_err = err;
		hdr->hd_err_arg[0] = low;
		hdr->hd_err_arg[1] = high;
	} else {
		return false;
	}
	hdr->hd_length = len;
	hdr->hd_response = true;
	hdr->hd_v1_error = true;
	return true;
}

/**
 * rpcrdma2_refusal - choose the error to send for a message that cannot be used
 * @hdr: header of the message, as decoded
 * @verdict: what is wrong with the message, as returned by the decoder, or found later
 * @accept: what we accept
 * @error: OUT: the error to send, if true is returned
 *
 * Context: any.
 * Return: false if no error is to be sent.
 *
 * See version-two 5.3.3, 7.2; G-12, G-20, G-23.
 */
bool rpcrdma2_refusal(const struct rpcrdma_hdr *hdr,
		      enum rpcrdma_verdict verdict,
		      const struct rpcrdma2_accept *accept,
		      struct rpcrdma2_error *error)
{
	u64 sum = 0;
	u32 i;

	error->er_code = RPCRDMA2_ERR_BAD_XDR;
	error->er_arg[0] = 0;
	error->er_arg[1] = 0;

	if (hdr->hd_response)
		return false;
	/* A backward Call must not have chunks. The decoder may stop before
	 * rpcrdma2_check_chunks() checks that, so apply the same rule here
	 * (version-two 5.3.3).
	 */
	if (accept->ac_inline_only && (verdict == RPCRDMA_MANY_WRITES ||
				       verdict == RPCRDMA_MANY_SEGS)) {
		if (hdr->hd_lists.ls_nreads || hdr->hd_lists.ls_call.ck_nsegs)
			error->er_code = RPCRDMA2_ERR_READ_CHUNKS;
		return true;
	}
	switch (verdict) {
	case RPCRDMA_OK:
	case RPCRDMA_DISCARD_SHORT:
	case RPCRDMA_DISCARD_DONE:
	case RPCRDMA_DISCARD_ERROR:
	case RPCRDMA_BACKWARD_CALL:
	case RPCRDMA_BACKWARD_REPLY:
		return false;
	case RPCRDMA_BAD_VERS:
		error->er_code = RPCRDMA2_ERR_VERS;
		error->er_arg[0] = accept->ac_vers_low;
		error->er_arg[1] = accept->ac_vers_high;
		return accept->ac_vers_high;
	case RPCRDMA_BAD_PROC:
		error->er_code = RPCRDMA2_ERR_INVAL_HTYPE;
		return true;
	case RPCRDMA_MANY_READS:
		error->er_code = RPCRDMA2_ERR_READ_CHUNKS;
		error->er_arg[0] = accept->ac_reads;
		return true;
	case RPCRDMA_MANY_WRITES:
		error->er_code = RPCRDMA2_ERR_WRITE_CHUNKS;
		error->er_arg[0] = accept->ac_writes;
		if (accept->ac_writes)
			return true;
		/* We accept no Write chunks at all, so ask for a Reply chunk instead, of the same
		 * size (version-two 5.3.3). How much larger it must be is not known before the
		 * Call is executed.
		 */
		for (i = 0; i < hdr->hd_lists.ls_nwrites; i++)
			sum += hdr->hd_lists.ls_write[i].ck_length;
		error->er_code = RPCRDMA2_ERR_REPLY_RESOURCE;
		error->er_arg[0] = min_t(u64, sum, U32_MAX);
		return true;
	case RPCRDMA_MANY_SEGS:
		error->er_code = RPCRDMA2_ERR_SEGMENTS;
		error->er_arg[0] = accept->ac_segs;
		return true;
	case RPCRDMA_BAD_COUNT:
		/* The Call is within the limits that we announce, but we cannot
		 * execute it
		 */
		error->er_code = RPCRDMA2_ERR_SYSTEM;
		return true;
	case RPCRDMA_BAD_GROUP:
		error->er_code = RPCRDMA2_ERR_RTX_CONT;
		return true;
	case RPCRDMA_BIG_GROUP:
		error->er_code = RPCRDMA2_ERR_RTX_LIMIT;
		return true;
	default:
		return true;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_refusal);
