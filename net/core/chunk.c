// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic on chunk lists, and on the streams that the chunks are taken out of.
 *
 * An RPC message that is partly sent by RDMA has two forms. The *unreduced stream* is
 * the whole message, which the RPC layer produces and consumes. Positions of chunks and
 * offsets of results count bytes of this stream. Data items may be taken out of the stream, and
 * travel in chunks of their own or as items of a group (rtx.h). The *body* consists of the bytes
 * that are left. It travels inline, in a Position Zero chunk or in the Reply chunk. This file
 * computes which byte of one form is where in the other, whether chunks fit together, and which
 * bytes a Reply returned.
 *
 * When a data item leaves the stream, its XDR roundup leaves with it (RFC 8166
 * 3.4.5.2). The length of an item does not include the roundup, but the room that the item
 * takes in the stream does, and is a multiple of four.
 *
 * This file knows nothing of pages, memory regions or upper layers. Of a received header, it trusts
 * only what the codec has checked, for example that the segments exist and that the sum of their
 * lengths does not overflow.
 *
 * See RFC 8166 3.4, 4.3; G-03 to G-06, G-34, G-35.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <kunit/visibility.h>

#include <rpcrdma/chunk.h>

#define RPCRDMA_XDR_UNIT	4u

/* Bytes of a Call up to and including its procedure number (RFC 5531) */
#define RPCRDMA_RPC_FIXED	24u
/* Flavor and length of a credential or verifier. Its body follows. */
#define RPCRDMA_RPC_AUTH	8u

/* In the body of a credential of RPCSEC_GSS (RFC 2203), version, procedure, sequence number and
 * service precede the handle. With the service "none", the arguments of the Call are neither
 * signed nor encrypted.
 */
#define RPCRDMA_RPCSEC_GSS	6u
#define RPCRDMA_GSS_CRED_MIN	16u
#define RPCRDMA_GSS_SERVICE	(RPCRDMA_RPC_AUTH + 12u)
#define RPCRDMA_GSS_NONE	1u

static u32 rpcrdma_xdr_pad(u32 length)
{
	return (RPCRDMA_XDR_UNIT - length % RPCRDMA_XDR_UNIT) % RPCRDMA_XDR_UNIT;
}

/* Returns @length with roundup, in 64 bits, because a peer may choose any length. */
static u64 rpcrdma_xdr_room(u32 length)
{
	return (u64)length + rpcrdma_xdr_pad(length);
}

/**
 * rpcrdma_lists_check_call - do a Call's Read chunks and its item fit into a stream?
 * @lists: the Call's lists
 * @item: the Call's item (rtx.h); im_length is 0 if there is none
 * @body_len: length in bytes of the body, which is inline or in the Position Zero chunk
 * @max_len: length in bytes of the longest unreduced stream that is accepted
 * @stream_len: OUT: length of the unreduced stream in bytes, if %RPCRDMA_OK is returned
 *
 * Context: any.
 * Return: %RPCRDMA_OK; %RPCRDMA_BAD_POSITION if rpcrdma_form_fits() refuses a position; or
 *	%RPCRDMA_BAD_LENGTH if the stream would be longer than @max_len (RFC 8166 8.1.4).
 */
enum rpcrdma_verdict rpcrdma_lists_check_call(const struct rpcrdma_lists *lists,
					      const struct rpcrdma2_item *item,
					      u32 body_len, u32 max_len,
					      u32 *stream_len)
{
	u64 total;

	if (!rpcrdma_form_fits(lists, item, body_len, &total))
		return RPCRDMA_BAD_POSITION;
	if (total > max_len)
		return RPCRDMA_BAD_LENGTH;
	*stream_len = total;
	return RPCRDMA_OK;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_lists_check_call);

/**
 * rpcrdma_part_first - begin a walk over the parts of a Call
 * @lists: the Call's lists, which rpcrdma_lists_check_call() has accepted
 * @item: the Call's item (rtx.h), which that function has accepted, too. If there is none,
 *	im_length is 0, or @item is NULL
 * @body_len: length of the body, as given to that function
 * @iter: OUT: the walk
 *
 * Context: any.
 */
void rpcrdma_part_first(const struct rpcrdma_lists *lists,
			const struct rpcrdma2_item *item, u32 body_len,
			struct rpcrdma_part_iter *iter)
{
	*iter = (struct rpcrdma_part_iter) {
		.pi_lists	= lists,
		.pi_item	= item && item->im_length ? item : NULL,
		.pi_body_len	= body_len,
	};
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_part_first);

static void rpcrdma_part_body(struct rpcrdma_part_iter *iter, u32 length,
			      struct rpcrdma_part *part)
{
	*part = (struct rpcrdma_part) {
		.pt_offset	= iter->pi_body,
		.pt_length	= length,
	};
	iter->pi_body += length;
	iter->pi_stream += length;
}

/* Finds the next chunk or item by position. Returns false if there is none. */
static bool rpcrdma_part_ahead(const struct rpcrdma_part_iter *iter,
			       const struct rpcrdma_chunk **chunk,
			       const struct rpcrdma2_item **item)
{
	*chunk = NULL;
	*item = iter->pi_item;
	if (iter->pi_next < iter->pi_lists->ls_nreads)
		*chunk = &iter->pi_lists->ls_read[iter->pi_next];
	/* If an item has the same position as a chunk, the chunk is empty, and is
	 * taken first.
	 */
	if (*chunk && *item) {
		if ((*chunk)->ck_position <= (*item)->im_position)
			*item = NULL;
		else
			*chunk = NULL;
	}
	return *chunk || *item;
}

/**
 * rpcrdma_part_next - take the next part of a Call
 * @iter: the walk, from rpcrdma_part_first()
 * @part: OUT: the part, if true is returned
 *
 * The parts, each followed by its @pt_pad zero bytes, make up the unreduced
 * stream. No part is empty: a chunk of zero length is skipped, because there is
 * nothing to be read from it (RFC 8166 3.4.3).
 *
 * Context: any.
 * Return: false when the stream is complete.
 */
bool rpcrdma_part_next(struct rpcrdma_part_iter *iter,
		       struct rpcrdma_part *part)
{
	const struct rpcrdma_chunk *chunk;
	const struct rpcrdma2_item *item;
	u32 gap, left = iter->pi_body_len - iter->pi_body;

	while (rpcrdma_part_ahead(iter, &chunk, &item)) {
		/* Stay within the body even if the positions were not checked */
		gap = max(chunk ? chunk->ck_position : item->im_position,
			  iter->pi_stream);
		gap = min(gap - iter->pi_stream, left);
		if (gap) {
			rpcrdma_part_body(iter, gap, part);
			return true;
		}
		part->pt_chunk = chunk;
		part->pt_item = item;
		part->pt_offset = 0;
		part->pt_length = chunk ? chunk->ck_length : item->im_length;
		part->pt_pad = rpcrdma_xdr_pad(part->pt_length);
		iter->pi_stream += part->pt_length + part->pt_pad;
		if (chunk)
			iter->pi_next++;
		else
			iter->pi_item = NULL;
		if (part->pt_length)
			return true;
	}
	if (!left)
		return false;
	rpcrdma_part_body(iter, left, part);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_part_next);

/**
 * rpcrdma_head_ends_well - may the head of a Call end where its data begins?
 * @position: where in the unreduced Call the data begins
 * @msg: body of the Call; its part before @position becomes the head
 * @len: length of @msg in bytes
 * @max_head: length in bytes of the longest head that upper layers can handle
 *
 * The head of the xdr_buf would end where the data begins. sunrpc expects the whole RPC header in
 * the head. A Call whose data begins inside the RPC header makes no sense, but a peer can send one.
 * If GSS protects the arguments, sunrpc verifies or decrypts them in place, in the xdr_buf. It must
 * not do so in an xdr_buf whose division the client has chosen. Clients normally send no chunk then
 * (G-27).
 *
 * Context: any.
 * Return: false if the Call has to be rebuilt as one stream.
 */
bool rpcrdma_head_ends_well(u32 position, const void *msg, u32 len,
			    u32 max_head)
{
	u32 i, auth_len, end = RPCRDMA_RPC_FIXED;
	const u8 *auth;

	position = min(position, len);
	if (position > max_head)
		return false;
	/* Skip credential and verifier. Fail if they do not end at or before
	 * @position.
	 */
	for (i = 0; i < 2; i++) {
		if (position < end || position - end < RPCRDMA_RPC_AUTH)
			return false;
		auth = msg + end;
		end += RPCRDMA_RPC_AUTH;
		auth_len = get_unaligned_be32(auth + 4);
		if (rpcrdma_xdr_room(auth_len) > position - end)
			return false;
		/* The credential says whether the arguments are protected */
		if (!i && get_unaligned_be32(auth) == RPCRDMA_RPCSEC_GSS &&
		    (auth_len < RPCRDMA_GSS_CRED_MIN ||
		     get_unaligned_be32(auth + RPCRDMA_GSS_SERVICE) !=
		     RPCRDMA_GSS_NONE))
			return false;
		end += rpcrdma_xdr_room(auth_len);
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_head_ends_well);

/**
 * rpcrdma_lists_keep_head - may the body stay where it was received?
 * @lists: the Call's lists, which rpcrdma_lists_check_call() has accepted
 * @msg: inline part of the Call, which is the body
 * @len: length of @msg in bytes
 * @max_head: length in bytes of the longest head that upper layers can handle
 *
 * The body stays only if there is exactly one Read chunk. The data of this chunk divides the
 * body: the part before it is the head of the xdr_buf, and the other part is the tail.
 *
 * Context: any.
 * Return: false if the Call has to be rebuilt as one stream.
 */
bool rpcrdma_lists_keep_head(const struct rpcrdma_lists *lists, const void *msg,
			     u32 len, u32 max_head)
{
	return lists->ls_nreads == 1 &&
	       rpcrdma_head_ends_well(lists->ls_read[0].ck_position, msg, len,
				      max_head);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_lists_keep_head);

/* Returns false if one of @n chunks has a handle that differs from those seen before. */
static bool rpcrdma_chunks_same_handle(const struct rpcrdma_lists *lists,
				       const struct rpcrdma_chunk *chunk, u32 n,
				       bool *seen, u32 *handle)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;

	for (; n; n--, chunk++) {
		rpcrdma_chunk_first(lists, chunk, &iter);
		while (rpcrdma_chunk_next(&iter, &seg)) {
			if (*seen && seg.rs_handle != *handle)
				return false;
			*handle = seg.rs_handle;
			*seen = true;
		}
	}
	return true;
}

/**
 * rpcrdma_lists_single_handle - find the handle that a responder of version 1 may invalidate
 * @lists: the Call's lists
 *
 * A Send invalidates one handle. If a Call of version 1 has several, the requester has to
 * invalidate the others itself, and cannot know in advance which handle the responder chooses (RFC
 * 8797 4.1). So this responder invalidates a handle only if the Call has no other. Handles of
 * segments of zero length count, too. (In version 2, the Call says which handle may be invalidated,
 * so this function is not used.)
 *
 * Context: any; the buffer from which @lists was decoded must still be valid.
 * Return: the handle that all segments of the Call have; 0 if they have different handles, if
 *	there are no segments, or if the handle is 0.
 */
u32 rpcrdma_lists_single_handle(const struct rpcrdma_lists *lists)
{
	bool seen = false;
	u32 handle = 0;

	if (!rpcrdma_chunks_same_handle(lists, &lists->ls_call, 1, &seen,
					&handle) ||
	    !rpcrdma_chunks_same_handle(lists, lists->ls_read,
					lists->ls_nreads, &seen, &handle) ||
	    !rpcrdma_chunks_same_handle(lists, lists->ls_write,
					lists->ls_nwrites, &seen, &handle) ||
	    !rpcrdma_chunks_same_handle(lists, &lists->ls_reply, 1, &seen,
					&handle))
		return 0;
	return handle;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_lists_single_handle);

/**
 * rpcrdma_payload_assign - choose a Write chunk for a DDP-eligible result
 * @lists: the Call's lists
 * @payloads: for each chunk of the Write list, the result assigned to it; all zero at first
 * @used: number of chunks that have been assigned or skipped; 0 at first
 * @offset: where the result begins in the unreduced Reply
 * @length: length of the result in bytes, without roundup
 *
 * This is called once for each eligible result, in the order of the Reply. A result uses
 * up one chunk, even if it does not fill the chunk (RFC 8166 4.3.2). A result of no bytes
 * uses no chunk, so that the chunk is left for the next result (RFC 8166 4.3.2.2). A chunk
 * without segments means that its result stays in the stream; the result still uses up the
 * chunk (G-05).
 *
 * Context: any.
 * Return: the index of the chunk; -ENOENT if the result stays in the stream;
 *	-EMSGSIZE if the chunk is too small for it, in which case nothing was
 *	assigned and the Reply cannot be sent (RFC 8267 3.1).
 */
int rpcrdma_payload_assign(const struct rpcrdma_lists *lists,
			   struct rpcrdma_payload *payloads, u32 *used,
			   u32 offset, u32 length)
{
	const struct rpcrdma_chunk *chunk;
	u32 i = *used;

	if (!length || i >= lists->ls_nwrites)
		return -ENOENT;
	chunk = &lists->ls_write[i];
	if (!chunk->ck_nsegs) {
		*used = i + 1;
		return -ENOENT;
	}
	if (length > chunk->ck_length)
		return -EMSGSIZE;
	payloads[i].py_offset = offset;
	payloads[i].py_length = length;
	*used = i + 1;
	return i;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_payload_assign);

/**
 * rpcrdma_payload_gap_next - get the next run of bytes that stay in the body of a Reply
 * @payloads: results that went to Write chunks, ascending by offset; entries of zero
 *	length do not count
 * @n: number of entries of @payloads
 * @stream_len: length of the unreduced Reply in bytes
 * @pos: IN/OUT: position of the walk in the unreduced Reply; 0 at first
 * @offset: OUT: where the run begins in the unreduced Reply, if true is returned
 * @length: OUT: length of the run in bytes, never 0
 *
 * The roundup of a payload leaves the stream together with the payload (RFC 8166 3.4.6.2).
 *
 * Context: any.
 * Return: false when the walk has reached the end of the Reply.
 */
bool rpcrdma_payload_gap_next(const struct rpcrdma_payload *payloads, u32 n,
			      u32 stream_len, u32 *pos, u32 *offset,
			      u32 *length)
{
	u32 i, next, end, begin = *pos;

	for (i = 0; i < n && begin < stream_len; i++) {
		end = min_t(u64, stream_len, payloads[i].py_offset +
			    rpcrdma_xdr_room(payloads[i].py_length));
		if (!payloads[i].py_length || end <= begin)
			continue;
		next = min(payloads[i].py_offset, stream_len);
		*pos = end;
		if (next > begin) {
			*offset = begin;
			*length = next - begin;
			return true;
		}
		begin = end;
	}
	*pos = stream_len;
	if (begin >= stream_len)
		return false;
	*offset = begin;
	*length = stream_len - begin;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_payload_gap_next);

/**
 * rpcrdma_payload_body_len - size of a Reply without the results in Write chunks
 * @payloads: as for rpcrdma_payload_gap_next()
 * @n: number of entries of @payloads
 * @stream_len: length of the unreduced Reply in bytes
 *
 * Context: any.
 * Return: number of bytes that go inline or to the Reply chunk.
 */
u32 rpcrdma_payload_body_len(const struct rpcrdma_payload *payloads, u32 n,
			     u32 stream_len)
{
	u32 offset, length, pos = 0, body = 0;

	while (rpcrdma_payload_gap_next(payloads, n, stream_len, &pos,
					&offset, &length))
		body += length;
	return body;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_payload_body_len);

/*
 * Compares one returned array of segments with its offer. Handles and offsets of the
 * returned array are not used (G-35). Data fills an array from its beginning (RFC 8166
 * 3.4.6), so no data may follow a segment that is not full. A server that does not
 * rewrite the lengths returns full segments, which are accepted (G-05). The caller has set
 * *@total to 0; if the array has segments, this sets it to the sum of their lengths.
 */
static enum rpcrdma_verdict
rpcrdma_chunk_check_returned(const struct rpcrdma_lists *lists,
			     const struct rpcrdma_chunk *chunk,
			     const struct rpcrdma_chunk_out *offer, u32 *total)
{
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	bool more = true;
	u32 i, sum = 0;

	if (!chunk->ck_nsegs)
		return RPCRDMA_OK;
	if (chunk->ck_nsegs != offer->co_nsegs)
		return RPCRDMA_BAD_COUNT;
	rpcrdma_chunk_first(lists, chunk, &iter);
	for (i = 0; rpcrdma_chunk_next(&iter, &seg); i++) {
		if (seg.rs_length > offer->co_segs[i].rs_length ||
		    (seg.rs_length && !more))
			return RPCRDMA_BAD_LENGTH;
		more = more && seg.rs_length == offer->co_segs[i].rs_length;
		sum += seg.rs_length;
	}
	*total = sum;
	return RPCRDMA_OK;
}

/**
 * rpcrdma_lists_check_reply - compare a Reply's lists with what was offered
 * @hdr: the Reply, for which the decoder of its version returned %RPCRDMA_OK
 * @writes: the Write list of the Call
 * @nwrites: number of chunks in @writes
 * @reply: the Reply chunk of the Call, or NULL
 * @written: OUT: bytes returned in each of @writes; @nwrites entries
 * @reply_len: OUT: bytes returned in @reply
 *
 * A Write list in the Reply must have as many chunks as were offered. Each chunk must have as many
 * segments as were offered, or none (G-05). If the Reply has no Write list, the server has used
 * none of the chunks: servers omit the list when an RPC fails before its results are built. Such a
 * Reply can be accepted, because it does not say that anything was written to our memory (RFC 8166
 * 8.1). The same holds for the Reply chunk (RFC 8166 4.3.3). The decoder has checked that an
 * RDMA_NOMSG has a Reply chunk.
 *
 * Context: any; the buffer from which @hdr was decoded must still be valid.
 * Return: %RPCRDMA_OK; %RPCRDMA_BAD_COUNT if the numbers of chunks or segments are not
 *	those offered; %RPCRDMA_BAD_LENGTH if a length exceeds the offer or data is
 *	not in array order. After an error the OUT values are not to be used.
 */
enum rpcrdma_verdict
rpcrdma_lists_check_reply(const struct rpcrdma_hdr *hdr,
			  const struct rpcrdma_chunk_out *writes, u32 nwrites,
			  const struct rpcrdma_chunk_out *reply,
			  u32 *written, u32 *reply_len)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	enum rpcrdma_verdict verdict;
	u32 i;

	*reply_len = 0;
	for (i = 0; i < nwrites; i++)
		written[i] = 0;

	if (lists->ls_nwrites && lists->ls_nwrites != nwrites)
		return RPCRDMA_BAD_COUNT;
	for (i = 0; i < lists->ls_nwrites; i++) {
		verdict = rpcrdma_chunk_check_returned(lists,
						       &lists->ls_write[i],
						       &writes[i],
						       &written[i]);
		if (verdict)
			return verdict;
	}
	if (!lists->ls_has_reply)
		return RPCRDMA_OK;
	if (!reply)
		return RPCRDMA_BAD_COUNT;
	return rpcrdma_chunk_check_returned(lists, &lists->ls_reply, reply,
					    reply_len);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_lists_check_reply);
