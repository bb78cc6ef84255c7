// SPDX-License-Identifier: GPL-2.0
/*
 * Read chunks. This file reads the parts of a Call that are in the client's memory, and
 * assembles the Call. There may be several chunks, in any order, with or without XDR
 * roundup, and with or without a Position Zero chunk. core/chunk.c computes which byte goes
 * where. server/queue.c decides when a Call may be *pulled*, that is, when its chunks may be read.
 * This file never executes a Call.
 *
 * Operation
 *
 * svc_rdma_read_start() runs in a thread, usually the one that decoded the Call. It gives the
 * Call pages of its own, builds one chain of RDMA Reads for all chunks, and posts the chain
 * with a single completion at the end. Then the thread is free for other work. From posting to
 * completion the Call belongs to the device. The completion handler queues the Call. A thread then
 * takes the Call in svc_rdma_recvfrom() and calls svc_rdma_read_assemble(), which unmaps the pages
 * and frees the chain. So no thread ever waits for an RDMA Read, and no Call is executed before
 * all its bytes are there (RFC 8166 3.4.5).
 *
 * A Call may have to wait: in server/queue.c for permission to pull its bytes and for
 * memory regions, and in the line for send queue slots (verbs/send.c).
 *
 * An RDMA Read that fails ends the connection. The Call is then freed without having been
 * executed (RFC 8166 4.5.3). If a Call needs more than this connection can ever provide, it
 * is refused. If its RDMA Reads cannot be posted for another reason, the connection is
 * closed.
 *
 * There are two layouts. In the first, the inline part stays where it was received, and the chunk
 * is read to the start of a page, so that file data fills whole pages. This requires that the Call
 * has one Read chunk, as the WRITE of an NFS client has; that all other bytes of the Call are
 * inline and contiguous; and that the head of rq_arg may end at the position of the chunk
 * (rpcrdma_lists_keep_head()). Every other Call that needs RDMA Reads is rebuilt as one stream,
 * which begins at the start of the first page.
 *
 * Data that a client has sent behind the payload stream (items of a group, see rtx.h) needs no
 * RDMA Read. If a Call has items and nothing that must be read by RDMA, svc_rdma_read_received()
 * builds it, in one of the same two layouts.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>
#include <linux/unaligned.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

static void svc_rdma_read_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc_rdma_call *call = container_of(wc->wr_cqe,
						  struct svc_rdma_call, sc_cqe);
	struct svc_rdma_xprt *sx = call->sc_sx;
	u32 slots;

	trace_svc_rdma_read_done(call, wc->status);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/* A Call whose RDMA Read failed is not freed before the queues are
		 * destroyed: a provider may flush an RDMA Read twice (siw does; I10).
		 */
		if (wc->status != IB_WC_WR_FLUSH_ERR) {
			rpcrdma_count(server_read_errors);
			trace_svc_rdma_read_err(sx, rpcrdma_msg_cid(call->sc_msg),
						wc);
		}
		rpcrdma_conn_fail(&sx->sx_conn, -ECONNRESET);
		return;
	}

	rpcrdma_send_cq_seen(&sx->sx_conn.cn_send_cq);
	rpcrdma_keepalive_heard(&sx->sx_conn.cn_keepalive);
	/* Leave unmapping the pages to the thread that takes the Call. With an IOMMU, unmapping may
	 * take a while, and other completions would have to wait here.
	 */
	spin_lock(&sx->sx_lock);
	slots = call->sc_slots;
	call->sc_slots = 0;
	list_move_tail(&call->sc_list, &sx->sx_queue.qu_complete);
	sx->sx_posted.po_read = jiffies;
	spin_unlock(&sx->sx_lock);
	svc_rdma_slots_release(sx, slots);
	svc_rdma_queue_wake(sx);
}

static int svc_rdma_read_part(struct svc_rdma_call *call,
			      const struct rpcrdma_chunk *chunk,
			      u32 chunk_offset, u32 pos, u32 len)
{
	struct xdr_buf sink = {
		.pages		= call->sc_pages,
		.page_len	= call->sc_npages << PAGE_SHIFT,
	};
	struct svc_rdma_move move = {
		.mv_dir		= DMA_FROM_DEVICE,
		.mv_lists	= &call->sc_hdr.hd_lists,
		.mv_chunk	= chunk,
		.mv_chunk_offset = chunk_offset,
		.mv_xdr		= &sink,
		.mv_offset	= pos,
		.mv_len		= len,
	};

	rpcrdma_count_add(server_rdma_read_bytes, len);
	atomic64_add(len, &call->sc_sx->sx_stats.vs_read_bytes);
	return svc_rdma_chain_add(call->sc_sx, &call->sc_reads, &move);
}

/* Read all chunks, each part to its place in the stream. */
static int svc_rdma_read_stream(struct svc_rdma_call *call)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	const struct rpcrdma_chunk *chunk;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 pos = 0;
	int rc;

	rpcrdma_part_first(lists, &call->sc_item, call->sc_body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		chunk = part.pt_chunk;
		if (!chunk && call->sc_hdr.hd_proc == RPCRDMA1_NOMSG)
			chunk = &lists->ls_call;
		if (chunk) {
			rc = svc_rdma_read_part(call, chunk, part.pt_offset,
						pos, part.pt_length);
			if (rc)
				return rc;
		}
		pos += part.pt_length + part.pt_pad;
	}
	return 0;
}

/* Upper bound on the number of rdma_rw contexts that reading a chunk takes. Each segment begins a
 * context. If the local memory of a segment begins and ends inside a page, it touches up to two
 * pages more than its length would fill. There are 64 bits because the peer chooses the lengths.
 */
static u64 svc_rdma_chunk_bound(const struct svc_rdma_call *call,
				const struct rpcrdma_chunk *chunk)
{
	u64 pages = (chunk->ck_length >> PAGE_SHIFT) + 2ull * chunk->ck_nsegs;

	return chunk->ck_nsegs + div_u64(pages, call->sc_sx->sx_rw_pages);
}

/* Upper bound on the number of rdma_rw contexts for a Call. If the body is in a Position Zero
 * chunk, each Read chunk cuts the body at its position. A cut adds one context, because the part
 * behind the cut begins a new context. A cut also adds up to two pages that are filled only in
 * part, and these may take another context.
 */
static u64 svc_rdma_read_bound(const struct svc_rdma_call *call)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	u64 bound = svc_rdma_chunk_bound(call, &lists->ls_call);
	u32 i;

	for (i = 0; i < lists->ls_nreads; i++)
		bound += svc_rdma_chunk_bound(call, &lists->ls_read[i]) + 2;
	return bound;
}

/* Gets memory regions and pages for a Call, and builds its RDMA Reads. Returns 0 or a negative
 * errno; -EAGAIN if the Call has to wait until sc_mrs regions are free.
 */
static int svc_rdma_read_build(struct svc_rdma_call *call)
{
	const struct rpcrdma_chunk *chunk = &call->sc_hdr.hd_lists.ls_read[0];
	int rc;

	call->sc_linear = call->sc_hdr.hd_proc != RPCRDMA1_MSG ||
			  call->sc_item.im_length ||
			  !rpcrdma_msg_is_flat(call->sc_msg) ||
			  !rpcrdma_lists_keep_head(&call->sc_hdr.hd_lists,
						   rpcrdma_msg_body(call->sc_msg),
						   call->sc_body_len, PAGE_SIZE);
	rc = svc_rdma_mrs_reserve(call->sc_sx, svc_rdma_read_bound(call),
				  &call->sc_reads.sh_mrs, &call->sc_mrs);
	if (rc)
		return rc;
	rc = svc_rdma_pages_alloc(call, call->sc_linear ? call->sc_stream_len :
							  chunk->ck_length);
	if (rc)
		return rc;
	if (call->sc_linear)
		rc = svc_rdma_read_stream(call);
	else
		rc = svc_rdma_read_part(call, chunk, 0, 0, chunk->ck_length);
	svc_rdma_chain_trim(call->sc_sx, &call->sc_reads);
	return rc;
}

/* Post RDMA Reads that have got their slots. If posting fails, the connection is lost, and the
 * Call stays in po_reading.
 */
static void svc_rdma_read_post(struct rpcrdma_sq_waiter *waiter)
{
	struct svc_rdma_call *call = container_of(waiter, struct svc_rdma_call,
						  sc_wait);
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct ib_send_wr *first, *wr;
	int rc;

	first = svc_rdma_chain_wrs(sx, &call->sc_reads, &call->sc_cqe, NULL);
	/* Only the last work request is signaled. Any other work request has a completion only
	 * if it fails. Its wr_cqe then leads the handler to the Call.
	 */
	for (wr = first; wr->next; wr = wr->next)
		wr->wr_cqe = &call->sc_cqe;

	spin_lock(&sx->sx_lock);
	call->sc_slots = call->sc_wait.wt_slots;
	call->sc_posted = jiffies;
	spin_unlock(&sx->sx_lock);
	trace_svc_rdma_read(call, 0);
	rc = rpcrdma_conn_post_awaited(&sx->sx_conn, first);
	if (rc)
		trace_svc_rdma_read_post_err(sx, rc);
}

/**
 * svc_rdma_read_start - post the RDMA Reads of a Call
 * @call: Call that may be pulled
 *
 * If this returns 0, the caller does not own the Call any more: its RDMA Reads are posted or
 * wait for send queue slots, or the Call waits for memory regions. If the connection is lost
 * meanwhile, the Call is freed after the queues are destroyed (invariant I10).
 *
 * Context: process; sleeps.
 * Return: 0; or a negative errno, and then nothing was posted and the Call still belongs
 *	to the caller, who frees it: %-EMSGSIZE if it needs more than this connection can
 *	provide; another error for example if memory is short.
 */
int svc_rdma_read_start(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct rpcrdma_sq *sq = &sx->sx_conn.cn_sq;
	int rc;

	rc = svc_rdma_read_build(call);
	if (rc == -EAGAIN) {
		svc_rdma_pull_again(call);
		return 0;
	}
	if (rc)
		return rc;
	if (call->sc_reads.sh_wrs > sq->sq_size)
		return -EMSGSIZE;

	call->sc_cqe.done = svc_rdma_read_wc_done;
	call->sc_wait.wt_ready = svc_rdma_read_post;
	call->sc_wait.wt_slots = call->sc_reads.sh_wrs;
	call->sc_wait.wt_leave = 0;
	spin_lock(&sx->sx_lock);
	list_add_tail(&call->sc_list, &sx->sx_posted.po_reading);
	spin_unlock(&sx->sx_lock);
	if (likely(rpcrdma_sq_try(sq, call->sc_wait.wt_slots, 0)))
		svc_rdma_read_post(&call->sc_wait);
	else
		svc_rdma_slots_wait(sx, &call->sc_wait);
	return 0;
}

/* Describes a Call in @arg: the body stays where it was received, and the first @len bytes of
 * sc_pages are inserted at @position.
 */
static void svc_rdma_assemble_around(const struct svc_rdma_call *call,
				     u32 position, u32 len,
				     struct xdr_buf *arg)
{
	void *body = rpcrdma_msg_body(call->sc_msg);

	arg->head[0].iov_base = body;
	arg->head[0].iov_len = position;
	arg->pages = call->sc_pages;
	arg->page_len = len;
	arg->tail[0].iov_base = body + position;
	arg->tail[0].iov_len = call->sc_body_len - position;
}

/* Copy part of the body to its place in the stream. */
static void svc_rdma_assemble_part(struct svc_rdma_call *call, u32 pos,
				   u32 offset, u32 len)
{
	struct rpcrdma_msg_piece piece;

	for (rpcrdma_msg_piece_first(call->sc_msg, offset, len, &piece);
	     piece.mp_len; rpcrdma_msg_piece_next(&piece)) {
		svc_rdma_pages_write(call, pos, piece.mp_data, piece.mp_len);
		pos += piece.mp_len;
	}
}

/* Copies the item (rtx.h) from the Receives of the message to its place in the stream. */
static void svc_rdma_assemble_item(struct svc_rdma_call *call, u32 pos)
{
	u32 at = 0, part, left = call->sc_item.im_length;
	const void *data;

	/* According to rpcrdma_group_check(), the message has all bytes of the item. */
	for (part = 1; left && part; left -= part) {
		data = rpcrdma_msg_data_at(call->sc_msg, at, &part);
		part = min(part, left);
		svc_rdma_pages_write(call, pos, data, part);
		pos += part;
		at += part;
	}
}

static void svc_rdma_assemble_stream(struct svc_rdma_call *call,
				     struct xdr_buf *arg)
{
	bool body_is_inline = call->sc_hdr.hd_proc == RPCRDMA1_MSG;
	struct rpcrdma_part_iter iter;
	struct rpcrdma_part part;
	u32 pos = 0;

	rpcrdma_part_first(&call->sc_hdr.hd_lists, &call->sc_item,
			   call->sc_body_len, &iter);
	while (rpcrdma_part_next(&iter, &part)) {
		if (part.pt_item)
			svc_rdma_assemble_item(call, pos);
		else if (!part.pt_chunk && body_is_inline)
			svc_rdma_assemble_part(call, pos, part.pt_offset,
					       part.pt_length);
		pos += part.pt_length;
		svc_rdma_pages_write(call, pos, NULL, part.pt_pad);
		pos += part.pt_pad;
	}

	arg->head[0].iov_base = page_address(call->sc_pages[0]);
	arg->head[0].iov_len = min_t(u32, PAGE_SIZE, call->sc_stream_len);
	arg->pages = call->sc_pages + 1;
	arg->page_len = call->sc_stream_len - arg->head[0].iov_len;
}

/**
 * svc_rdma_read_received - build a Call that needs no RDMA Read
 * @call: decoded Call, of which all bytes are in its message
 * @arg: xdr_buf that is to describe the Call
 *
 * If a Call has an item (rtx.h) and no Read chunk, item and body are used where they were received.
 * This requires that the body is contiguous, and that the item begins where the head of a Call may
 * end (rpcrdma_head_ends_well()). Every other Call is rebuilt as one stream in pages of its own:
 * upper layers rely on a head that is contiguous and not larger than a page.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 *
 * See rtx.rst 7.2.
 */
int svc_rdma_read_received(struct svc_rdma_call *call, struct xdr_buf *arg)
{
	const struct rpcrdma2_item *item = &call->sc_item;
	int rc;

	if (item->im_length && !call->sc_hdr.hd_lists.ls_nreads &&
	    rpcrdma_msg_is_flat(call->sc_msg) &&
	    rpcrdma_head_ends_well(item->im_position,
				   rpcrdma_msg_body(call->sc_msg),
				   call->sc_body_len, PAGE_SIZE)) {
		rc = svc_rdma_pages_share(call);
		if (rc)
			return rc;
		rpcrdma_count(server_calls_placed);
		svc_rdma_assemble_around(call, item->im_position,
					 xdr_align_size(item->im_length), arg);
		return 0;
	}
	rc = svc_rdma_pages_alloc(call, call->sc_stream_len);
	if (!rc)
		svc_rdma_assemble_stream(call, arg);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_read_received);

/**
 * svc_rdma_read_assemble - assemble a Call after its RDMA Reads
 * @call: Call whose Reads are complete
 * @arg: xdr_buf that is to describe the Call
 *
 * This unmaps the pages that the Reads have filled, and releases the memory regions of the Reads.
 *
 * Context: process; the caller has entered the connection (svc_rdma_enter()).
 * Return: %false if the message is not the Call that its header announced
 *	(RFC 8166 4.5.2).
 */
bool svc_rdma_read_assemble(struct svc_rdma_call *call, struct xdr_buf *arg)
{
	const struct rpcrdma_chunk *chunk = &call->sc_hdr.hd_lists.ls_read[0];
	const void *msg;
	u32 room;

	svc_rdma_chain_destroy(call->sc_sx, &call->sc_reads);
	if (call->sc_linear) {
		svc_rdma_assemble_stream(call, arg);
	} else {
		room = xdr_align_size(chunk->ck_length);
		svc_rdma_pages_write(call, chunk->ck_length, NULL,
				     room - chunk->ck_length);
		svc_rdma_assemble_around(call, chunk->ck_position, room, arg);
	}

	msg = arg->head[0].iov_base;
	return arg->head[0].iov_len >= 8 &&
	       get_unaligned_be32(msg) == call->sc_hdr.hd_xid &&
	       get_unaligned_be32(msg + 4) == RPCRDMA_RPC_CALL;
}

/**
 * svc_rdma_read_free - release what a Call holds of RDMA Reads, and its pages
 * @call: Call that has no RDMA Reads in progress
 *
 * Context: process; may sleep.
 */
void svc_rdma_read_free(struct svc_rdma_call *call)
{
	svc_rdma_chain_destroy(call->sc_sx, &call->sc_reads);
	svc_rdma_slots_release(call->sc_sx, call->sc_slots);
	svc_rdma_pages_free(call);
	if (call->sc_counted) {
		svc_rdma_budget_count(call, 0);
		svc_rdma_pull_next(call->sc_sx);
	}
}
