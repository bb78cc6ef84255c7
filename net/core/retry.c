// SPDX-License-Identifier: GPL-2.0
/*
 * Retrying: what a requester does differently after an error of version 2.
 *
 * Five of the errors tell what was wrong with a Call that could be right: too
 * many chunks, too many segments, too little room. The Call is then sent again
 * with the same XID, so that a server that has executed it already answers
 * from its memory (G-23). There is one remedy for each of them, tried once for
 * an RPC; and one for all errors that say that a server cannot take a Call in the form
 * of the round-trip extension: base form (RTX-88, RTX-89). So whatever a server says, an
 * RPC is sent seven times at most.
 *
 * What a server asks for has to make sense: more than it was offered, and no
 * more than the upper layer has room for. All else is the end of the RPC: a
 * server that asks for what it has been given already will not be content with
 * the next try either.
 *
 * See version-two 5.3.3; G-14, G-23.
 */

#include <linux/export.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/retry.h>

/* More Read chunks than the server takes: send all of the Call in a Position
 * Zero chunk, which does not count (version-two 5.3.3).
 */
static bool rpcrdma_retry_read_chunks(struct rpcrdma_retry *retry,
				      const struct rpcrdma_retry_args *args)
{
	retry->ry_no_read = true;
	return args->rg_call == RPCRDMA_CALL_READ;
}

/* All of the Reply in the Reply chunk (version-two 5.3.3) */
static bool rpcrdma_retry_write_chunks(struct rpcrdma_retry *retry,
				       const struct rpcrdma_retry_args *args)
{
	retry->ry_no_write = true;
	retry->ry_reply_chunk = true;
	return args->rg_reply == RPCRDMA_REPLY_WRITE;
}

static bool rpcrdma_retry_segments(struct rpcrdma_retry *retry, u32 max,
				   const struct rpcrdma_retry_args *args)
{
	retry->ry_segs = max;
	return max && max < args->rg_segs;
}

/* We send one Write chunk: its number is 1, or unknown (version-two 5.3.3). */
static bool rpcrdma_retry_write_len(struct rpcrdma_retry *retry, u32 index,
				    u32 needed,
				    const struct rpcrdma_retry_args *args)
{
	retry->ry_write_len = needed;
	return args->rg_reply == RPCRDMA_REPLY_WRITE && index <= 1 &&
	       needed > args->rg_write_len && needed <= args->rg_write_max;
}

/* A Reply that fits neither a Receive nor the Reply chunk. If a Write chunk was
 * offered, the rest was too long, or the server takes no Write chunks at all
 * (version-two 5.3.3). A Reply chunk for everything helps in both cases.
 */
static bool rpcrdma_retry_reply_len(struct rpcrdma_retry *retry, u32 needed,
				    const struct rpcrdma_retry_args *args)
{
	u32 had = args->rg_reply == RPCRDMA_REPLY_LONG ? args->rg_reply_len : 0;

	retry->ry_no_write = true;
	retry->ry_reply_chunk = true;
	return needed > had && needed <= args->rg_reply_max;
}

/* The errors that speak of the form, and not of what was in it */
static bool rpcrdma_retry_is_form(u32 err)
{
	return err == RPCRDMA2_ERR_RTX_CONT || err == RPCRDMA2_ERR_RTX_LIMIT ||
	       err == RPCRDMA2_ERR_INVAL_HTYPE;
}

/* One remedy for all of them (RTX-89) */
static bool rpcrdma_retry_form(struct rpcrdma_retry *retry,
			       const struct rpcrdma_retry_args *args)
{
	if (!args->rg_rtx || retry->ry_base)
		return false;
	retry->ry_base = true;
	return true;
}

/**
 * rpcrdma_retry_ends_rtx - is this error the end of the round-trip extension?
 * @hdr: header of the error
 * @args: what the Call was like
 *
 * Context: any.
 * Return: true if nothing more is sent in this form on the connection (RTX-88).
 */
bool rpcrdma_retry_ends_rtx(const struct rpcrdma_hdr *hdr,
			    const struct rpcrdma_retry_args *args)
{
	return args->rg_rtx && !hdr->hd_v1_error &&
	       (hdr->hd_err == RPCRDMA2_ERR_RTX_CONT ||
		hdr->hd_err == RPCRDMA2_ERR_INVAL_HTYPE);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_retry_ends_rtx);

/**
 * rpcrdma_retry - can an RPC that met an error be sent again?
 * @retry: IN: what it has learned so far; OUT: if true is returned, also from
 *	this error
 * @hdr: header of the error, in a layout that could be parsed
 * @args: what the Call was like
 *
 * Context: any.
 * Return: true, and the Call is to be sent again as @retry says; or false, and
 *	the RPC ends with an error.
 */
bool rpcrdma_retry(struct rpcrdma_retry *retry, const struct rpcrdma_hdr *hdr,
		   const struct rpcrdma_retry_args *args)
{
	struct rpcrdma_retry next = *retry;
	bool good;

	/* There are no remedies in version 1. */
	if (hdr->hd_v1_error)
		return false;
	if (rpcrdma_retry_is_form(hdr->hd_err))
		return rpcrdma_retry_form(retry, args);
	/* Nor for the codes of other extensions */
	if (hdr->hd_err > RPCRDMA2_ERR_SYSTEM ||
	    retry->ry_tried & (1u << hdr->hd_err))
		return false;
	/* All remedies are of base form (RTX-88). */
	next.ry_base = retry->ry_base || args->rg_rtx;
	next.ry_tried |= (1u << hdr->hd_err);

	switch (hdr->hd_err) {
	case RPCRDMA2_ERR_READ_CHUNKS:
		good = rpcrdma_retry_read_chunks(&next, args);
		break;
	case RPCRDMA2_ERR_WRITE_CHUNKS:
		good = rpcrdma_retry_write_chunks(&next, args);
		break;
	case RPCRDMA2_ERR_SEGMENTS:
		good = rpcrdma_retry_segments(&next, hdr->hd_err_arg[0], args);
		break;
	case RPCRDMA2_ERR_WRITE_RESOURCE:
		good = rpcrdma_retry_write_len(&next, hdr->hd_err_arg[0],
					       hdr->hd_err_arg[1], args);
		break;
	case RPCRDMA2_ERR_REPLY_RESOURCE:
		good = rpcrdma_retry_reply_len(&next, hdr->hd_err_arg[0], args);
		break;
	default:
		good = false;
	}
	if (good)
		*retry = next;
	return good;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_retry);
