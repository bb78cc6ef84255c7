// SPDX-License-Identifier: GPL-2.0
/* Calls to be sent, made from the input or from a received Call, and the expected results. */

#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>

#include "fuzz.h"

static void fuzz_chunk_copy(struct fuzz_call *call,
			    const struct rpcrdma_lists *lists,
			    const struct rpcrdma_chunk *chunk,
			    struct rpcrdma_chunk_out *out)
{
	struct rpcrdma_seg_iter iter;

	out->co_segs = &call->fc_seg[call->fc_nsegs];
	out->co_position = chunk->ck_position;
	out->co_nsegs = chunk->ck_nsegs;
	rpcrdma_chunk_first(lists, chunk, &iter);
	while (rpcrdma_chunk_next(&iter, &call->fc_seg[call->fc_nsegs]))
		call->fc_nsegs++;
}

/* Makes a Call to be sent from the header of a received Call. */
void fuzz_call_copy(struct fuzz_call *call,
		    const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	struct rpcrdma_call_out *out = &call->fc_out;
	u32 i;

	out->ko_xid = hdr->hd_xid;
	out->ko_credit = hdr->hd_credit;
	out->ko_proc = hdr->hd_proc;
	out->ko_nreads = 0;
	out->ko_nwrites = lists->ls_nwrites;
	out->ko_read = call->fc_read;
	out->ko_write = call->fc_write;
	out->ko_reply = lists->ls_has_reply ? &call->fc_reply : NULL;
	call->fc_nsegs = 0;

	if (lists->ls_call.ck_nsegs)
		fuzz_chunk_copy(call, lists, &lists->ls_call,
				&call->fc_read[out->ko_nreads++]);
	for (i = 0; i < lists->ls_nreads; i++)
		fuzz_chunk_copy(call, lists, &lists->ls_read[i],
				&call->fc_read[out->ko_nreads++]);
	for (i = 0; i < lists->ls_nwrites; i++)
		fuzz_chunk_copy(call, lists, &lists->ls_write[i],
				&call->fc_write[i]);
	fuzz_chunk_copy(call, lists, &lists->ls_reply, &call->fc_reply);
}

/* Returns a number that is mostly small, and sometimes near @limit. */
static u32 fuzz_count(struct fuzz_in *in, u32 few, u32 limit)
{
	u32 n = fuzz_u8(in);

	return n < 192 ? few + n % 4 : limit - 2 + n % 5;
}

/* Makes a chunk. Its segments differ only a little, so a few bytes of input are enough. */
static void fuzz_chunk_make(struct fuzz_call *call, struct fuzz_in *in,
			    struct rpcrdma_chunk_out *out)
{
	struct rpcrdma_segment *seg = &call->fc_seg[call->fc_nsegs];
	u32 i, kind = fuzz_u8(in), first = fuzz_num(in), others = fuzz_num(in);
	u32 handle = fuzz_u8(in), offset = fuzz_num(in);

	out->co_segs = seg;
	out->co_nsegs = kind == 1 ? 0 : fuzz_count(in, 1, RPCRDMA_MAX_SEGS);
	for (i = 0; i < out->co_nsegs; i++, seg++) {
		seg->rs_handle = handle + (i && kind % 2);
		seg->rs_length = i ? others : first;
		seg->rs_offset = ((u64)offset << 16) + i;
	}
	call->fc_nsegs += out->co_nsegs;
}

/* Makes a Call from choices. It may be valid or invalid. */
void fuzz_call_make(struct fuzz_call *call, struct fuzz_in *in)
{
	struct rpcrdma_call_out *out = &call->fc_out;
	u32 i, step, position = 0;

	out->ko_xid = fuzz_u32(in);
	out->ko_credit = fuzz_u8(in);
	out->ko_proc = fuzz_u8(in) % 4;
	out->ko_nreads = fuzz_count(in, 0, RPCRDMA_MAX_CHUNKS);
	out->ko_nwrites = fuzz_count(in, 0, RPCRDMA_MAX_CHUNKS);
	out->ko_read = call->fc_read;
	out->ko_write = call->fc_write;
	out->ko_reply = fuzz_u8(in) % 2 ? &call->fc_reply : NULL;
	call->fc_nsegs = 0;

	for (i = 0; i < out->ko_nreads; i++) {
		step = fuzz_u8(in);
		if (i || out->ko_proc != RPCRDMA1_NOMSG)
			position += step < 252 ? step / 16 * 4 + 4 : step % 4;
		call->fc_read[i].co_position = position;
		fuzz_chunk_make(call, in, &call->fc_read[i]);
	}
	for (i = 0; i < out->ko_nwrites; i++)
		fuzz_chunk_make(call, in, &call->fc_write[i]);
	if (out->ko_reply)
		fuzz_chunk_make(call, in, &call->fc_reply);
}

/* Returns the size of the Call's chunk lists on the wire in bytes (RFC 8166 4.3). */
u32 fuzz_call_len(const struct rpcrdma_call_out *out)
{
	u32 i, len = 12;

	for (i = 0; i < out->ko_nreads; i++)
		len += 24 * out->ko_read[i].co_nsegs;
	for (i = 0; i < out->ko_nwrites; i++)
		len += 8 + 16 * out->ko_write[i].co_nsegs;
	if (out->ko_reply)
		len += 4 + 16 * out->ko_reply->co_nsegs;
	return len;
}

/* Returns whether the Call is valid, so that it can be sent. */
bool fuzz_call_valid(const struct rpcrdma_call_out *out)
{
	u32 i, proc = RPCRDMA1_MSG;
	bool valid = true;

	for (i = 0; i < out->ko_nreads; i++) {
		if (!out->ko_read[i].co_position)
			proc = RPCRDMA1_NOMSG;
		if (!out->ko_read[i].co_nsegs ||
		    out->ko_read[i].co_position & 3 ||
		    (i && out->ko_read[i].co_position ==
			  out->ko_read[i - 1].co_position))
			valid = false;
	}
	for (i = 0; i < out->ko_nwrites; i++)
		if (!out->ko_write[i].co_nsegs)
			valid = false;
	if (out->ko_reply && !out->ko_reply->co_nsegs)
		valid = false;
	return valid && out->ko_proc == proc;
}

static bool fuzz_chunk_acceptable(const struct rpcrdma_chunk_out *out)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < out->co_nsegs; i++)
		length += out->co_segs[i].rs_length;
	return out->co_nsegs <= RPCRDMA_MAX_SEGS && length <= U32_MAX;
}

/* Returns whether a receiver accepts a Call that was sent. */
bool fuzz_call_acceptable(const struct rpcrdma_call_out *out)
{
	bool good = out->ko_nreads <= RPCRDMA_MAX_CHUNKS &&
		    out->ko_nwrites <= RPCRDMA_MAX_CHUNKS;
	u32 i;

	for (i = 0; i < out->ko_nreads; i++)
		good = good && fuzz_chunk_acceptable(&out->ko_read[i]);
	for (i = 0; i < out->ko_nwrites; i++)
		good = good && fuzz_chunk_acceptable(&out->ko_write[i]);
	if (out->ko_reply)
		good = good && fuzz_chunk_acceptable(out->ko_reply);
	return good;
}

/* Returns the handle if all segments have the same one, or 0. */
u32 fuzz_single_handle(const struct fuzz_call *call)
{
	u32 i;

	for (i = 1; i < call->fc_nsegs; i++)
		if (call->fc_seg[i].rs_handle != call->fc_seg[0].rs_handle)
			return 0;
	return call->fc_nsegs ? call->fc_seg[0].rs_handle : 0;
}

/* Returns a copy of the header @hdr. If an inline RPC message follows the header (RDMA2_MSG), the copy
 * has the first two words of that message, its XID and its direction, because the decoder reads them.
 */
u8 *fuzz_msg_make(const u8 *hdr, u32 *len, u32 xid, u32 proc, u32 type)
{
	u32 size = *len + (proc == RPCRDMA2_MSG ? FUZZ_RPC_LEN : 0);
	u8 *msg = malloc(size);

	memcpy(msg, hdr, *len);
	if (proc == RPCRDMA2_MSG) {
		put_unaligned_be32(xid, msg + *len);
		put_unaligned_be32(type, msg + *len + 4);
	}
	*len = size;
	return msg;
}
