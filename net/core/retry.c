// SPDX-License-Identifier: GPL-2.0
/*
 * Retrying: what a requester changes in a Call after an error of version 2.
 *
 * Five of the errors mean that the Call could succeed in another form: it had too many chunks, a
 * chunk had too many segments, or the room for the Reply was too small. The Call is then sent
 * again with the same XID, so a server that has already executed it answers from its reply cache
 * (G-23). There is one remedy for each of these five errors, and it is tried at most once for an
 * RPC. The errors that reject a Call in the form of the round-trip extension have one remedy in
 * common: base form, which is version 2 without the extension (RTX-88, RTX-89). So there are six
 * remedies, and an RPC is sent again at most six times because of errors, whatever a server sends.
 *
 * The numbers in an error have to make sense. A chunk size that the server asks for must be larger
 * than the chunk in the Call, if there was one, and no larger than what the upper layer has room
 * for. A maximum number of segments must not be 0, and must be smaller than the number of segments
 * in that chunk of the Call that has the most. Otherwise the RPC ends, because another form would
 * not help.
 *
 * See version-two 5.3.3; G-14, G-23.
 */

#include <linux/export.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/retry.h>

/* There were more Read chunks than the server accepts. Send the whole Call in a Position
 * Zero chunk, which this limit does not count (version-two 5.3.3).
 */
static bool rpcrdma_retry_read_chunks(struct rpcrdma_retry *retry,
				      const struct rpcrdma_retry_args *args)
{
	retry->ry_no_read = true;
	return args->rg_call == RPCRDMA_CALL_READ;
}

/* There were more Write chunks than the server accepts. Ask for the whole Reply in the Reply
 * chunk (version-two 5.3.3).
 */
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

/* The Write chunk was too small. Our client's Calls have at most one, so its number in the error
 * is 1, or 0 if the server does not tell the number (version-two 5.3.3).
 */
static bool rpcrdma_retry_write_len(struct rpcrdma_retry *retry, u32 index,
				    u32 needed,
				    const struct rpcrdma_retry_args *args)
{
	retry->ry_write_len = needed;
	return args->rg_reply == RPCRDMA_REPLY_WRITE && index <= 1 &&
	       needed > args->rg_write_len && needed <= args->rg_write_max;
}

/* The Reply does not fit into what the Call offered for it: Receives and perhaps chunks. If a
 * Write chunk was offered, either the rest of the Reply was too long, or the server accepts no
 * Write chunks (version-two 5.3.3). In all these cases, the remedy is a Reply chunk for the whole
 * Reply.
 */
static bool rpcrdma_retry_reply_len(struct rpcrdma_retry *retry, u32 needed,
				    const struct rpcrdma_retry_args *args)
{
	u32 had = args->rg_reply == RPCRDMA_REPLY_LONG ? args->rg_reply_len : 0;

	retry->ry_no_write = true;
	retry->ry_reply_chunk = true;
	return needed > had && needed <= args->rg_reply_max;
}

/* Errors that reject the form of a message, not its contents */
static bool rpcrdma_retry_is_form(u32 err)
{
	return err == RPCRDMA2_ERR_RTX_CONT || err == RPCRDMA2_ERR_RTX_LIMIT ||
	       err == RPCRDMA2_ERR_INVAL_HTYPE;
}

/* The remedy for all errors of rpcrdma_retry_is_form() is base form (RTX-89). */
static bool rpcrdma_retry_form(struct rpcrdma_retry *retry,
			       const struct rpcrdma_retry_args *args)
{
	if (!args->rg_rtx || retry->ry_base)
		return false;
	retry->ry_base = true;
	return true;
}

/**
 * rpcrdma_retry_ends_rtx - does an error forbid the round-trip extension from now on?
 * @hdr: header of the error
 * @args: what the Call offered
 *
 * Context: any.
 * Return: true if the client must send no more groups on the connection (RTX-88).
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
 * rpcrdma_retry - can an RPC be sent again after an error?
 * @retry: IN: what earlier errors of this RPC require; OUT: if true is returned, also what
 *	this error requires
 * @hdr: header of the error, as decoded
 * @args: what the Call offered
 *
 * Context: any.
 * Return: true if the Call is to be sent again as @retry says; false if the RPC has to
 *	end with an error.
 */
bool rpcrdma_retry(struct rpcrdma_retry *retry, const struct rpcrdma_hdr *hdr,
		   const struct rpcrdma_retry_args *args)
{
	struct rpcrdma_retry next = *retry;
	bool good;

	/* Errors of version 1 have no remedy */
	if (hdr->hd_v1_error)
		return false;
	if (rpcrdma_retry_is_form(hdr->hd_err))
		return rpcrdma_retry_form(retry, args);
	/* Codes of other extensions have no remedy. A remedy is tried only once. */
	if (hdr->hd_err > RPCRDMA2_ERR_SYSTEM ||
	    retry->ry_tried & (1u << hdr->hd_err))
		return false;
	/* If the Call was a group, the remedies below also use base form (RTX-88). */
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
