// SPDX-License-Identifier: GPL-2.0
/* The chunk lists of a received message, one list by itself: the Read list, or the Write list and the Reply chunk. With
 * lower limits of chunks and segments, a list that reaches each limit is short. The size of the message is enough for
 * every list that is accepted, and for the first entry that is not.
 */
#include "../../../net/wire/lists.c"

#include <rpcrdma/chunk.h>

#include "proof.h"

/*
 * The Read list: up to 3 entries; deep: up to 4, and 5 are too many
 *
 * bound: -DSIZE=76 -DLIMIT=2 --unwind 3 --unwindset rpcrdma_wire_get_reads.0:4,rpcrdma_chunk_next_read.0:4,memmove.0:2
 * deep: -DSIZE=124 -DLIMIT=2 --unwind 3 --unwindset rpcrdma_wire_get_reads.0:6,rpcrdma_chunk_next_read.0:6,memmove.0:2
 * mutant: s/if \(!rpcrdma_xdr_skip\(in, RPCRDMA_READ_SEG_LEN - RPCRDMA_WORD_LEN/if (!rpcrdma_xdr_skip(in, 16/
 * mutant: s/ls_read\[i - 1\].ck_position > position/ls_read[i - 1].ck_position < position/
 */
void prove_reads(void)
{
	struct proof_msg msg;
	struct rpcrdma_lists lists = { };
	struct rpcrdma_xdr_in in;

	proof_msg_any(&msg);
	in.xi_pos = msg.pm_data;
	in.xi_left = msg.pm_len;
	if (rpcrdma_wire_get_reads(&in, &lists))
		return;
	PROVE(in.xi_left < msg.pm_len && in.xi_pos + in.xi_left == msg.pm_bytes + SIZE);
	proof_lists(&lists);
}

/*
 * Write list and Reply chunk: up to 2 Write chunks of 2 segments
 *
 * bound: -DSIZE=128 -DLIMIT=2 --unwind 3
 * deep: -DSIZE=256 -DLIMIT=3 --unwind 5
 * mutant: s/nsegs > in->xi_left \/ RPCRDMA_PLAIN_SEG_LEN/nsegs > in->xi_left/
 * mutant: s/ls_nwrites == RPCRDMA_MAX_CHUNKS/ls_nwrites > RPCRDMA_MAX_CHUNKS/
 */
void prove_writes(void)
{
	struct proof_msg msg;
	struct rpcrdma_lists lists = { };
	struct rpcrdma_xdr_in in;

	proof_msg_any(&msg);
	in.xi_pos = msg.pm_data;
	in.xi_left = msg.pm_len;
	if (rpcrdma_wire_get_writes(&in, &lists) || rpcrdma_wire_get_present(&in, &lists.ls_has_reply) ||
	    (lists.ls_has_reply && rpcrdma_wire_get_array(&in, &lists.ls_reply)))
		return;
	PROVE(in.xi_left < msg.pm_len && in.xi_pos + in.xi_left == msg.pm_bytes + SIZE);
	proof_lists(&lists);
}

/*
 * The parts of any Call with a Read chunk and an item, of which rpcrdma_lists_check_call() has accepted the positions:
 * no sum wraps, each part is at its position, and the parts contain the whole body. SIZE is the largest number.
 *
 * bound: -DSIZE=127 -DLIMIT=1 --unwind 3 --unwindset prove_parts.0:6
 * deep: -DSIZE=16383 -DLIMIT=1 --unwind 3 --unwindset prove_parts.0:6
 * mutant: s/position < end \|\|/0 ||/
 */
void prove_parts(void)
{
	struct rpcrdma_lists lists;
	struct rpcrdma2_item item;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 body_len = nondet_u32(), stream_len, body = 0, stream = 0;

	ASSUME(lists.ls_nreads <= RPCRDMA_MAX_CHUNKS && lists.ls_read[0].ck_position);
	ASSUME(lists.ls_read[0].ck_position <= SIZE && lists.ls_read[0].ck_length <= SIZE && body_len <= SIZE);
	ASSUME(item.im_position <= SIZE && item.im_length <= SIZE);
	if (rpcrdma_lists_check_call(&lists, &item, body_len, nondet_u32(), &stream_len))
		return;
	rpcrdma_part_first(&lists, &item, body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		PROVE(part.pt_length && (!part.pt_chunk || !part.pt_item));
		PROVE(!part.pt_chunk || part.pt_chunk->ck_position == stream);
		PROVE(!part.pt_item || part.pt_item->im_position == stream);
		PROVE(part.pt_chunk || part.pt_item || part.pt_offset == body);
		body += part.pt_chunk || part.pt_item ? 0 : part.pt_length;
		stream += part.pt_length + part.pt_pad;
	}
	PROVE(body == body_len && stream == stream_len);
}
