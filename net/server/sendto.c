// SPDX-License-Identifier: GPL-2.0
/*
 * Replies. This file chooses the form of a Reply, encodes its header, builds the RDMA Writes that
 * put results into Write chunks and the Reply chunk, and has these and the Send posted as one chain
 * (see server/send.c).
 *
 * This file also encodes and counts errors: messages of type RDMA_ERROR. The server sends one in
 * answer to a message that it cannot accept, or to a Call whose Reply it cannot send. Version 1 has
 * only ERR_VERS and ERR_CHUNK. Version 2 has more errors, some of which tell the client how to
 * change the Call. An error has the version of the message that it answers. Only ERR_VERS has the
 * same form in both versions. server/recvfrom.c finds that a Call cannot be decoded, read by RDMA
 * or assembled; this file, that a result is too large for its Write chunk, or that a Reply is too
 * large to be sent.
 *
 * Operation
 *
 * The transport header is encoded in the buffer of a Send context. The inline part of the
 * Reply is copied behind the header: it normally has only a few KiB, and mapping its pages would
 * cost more than a copy. Only RDMA Writes read the Reply where it was built. If there are any, the
 * pages of the Reply move from the thread to the Send context, which holds them until the Send has
 * completed. But the first page stays with the thread if no RDMA Write reads it and the thread can
 * use it again (server/pages.c). If there are no RDMA Writes, every page that the thread can use
 * again stays with the thread.
 *
 * core/chunk.c decides which result goes to which Write chunk and what stays in the payload stream.
 * (But results that GSS protects stay there without being shown to core/chunk.c.) core/plan.c, or
 * core/group.c if the Call came as a group (rtx.h), decides whether the Reply chunk is used. The
 * RDMA Writes are in front of the Reply's Send in the chain, so that the data is in place when the
 * client sees the Reply (RFC 8166 3.4.6). The XDR roundup of a result is not written to its Write
 * chunk (RFC 8166 3.4.6.2; G-03).
 *
 * Each Send of a Reply that is a group has its own Send context. The first context keeps the others
 * in sd_more until all are posted in one chain (invariant I37). If memory was short when contexts
 * were made, their buffers differ in size. So all are taken before the Reply is divided for good,
 * and the smallest buffer counts. Each context completes separately.
 *
 * The order of steps in svc_rdma_sendto() matters. The header returns the chunk lists of the
 * Call, which point into the Receives of its message. So the message is given back only after
 * encoding. But it is given back before the Reply is posted, because the Reply tells the client
 * that it may send another Call (RFC 8166 3.3.1; invariant I13).
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/group.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"
#include "trace.h"

/**
 * svc_rdma_result_payload - xpo_result_payload: assign a result to a Write chunk
 * @rqstp: thread that encodes a Reply
 * @offset: where the result begins in the Reply
 * @length: length of the result in bytes, without roundup
 *
 * If a result does not fit its chunk, the Reply cannot be sent (G-13). This function then only
 * records an error for the first such chunk in sc_error (version-two 5.3.3), and svc_rdma_sendto()
 * sends the error. This function does not fail, because the upper layer would then send an error
 * of its own.
 *
 * Context: process.
 * Return: always 0.
 */
int svc_rdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			    unsigned int length)
{
	struct svc_rdma_call *call = rqstp->rq_xprt_ctxt;
	struct rpcrdma2_error *error = &call->sc_error;

	/* Data that GSS protects must stay in the payload stream (RFC 8166 8.2.2.3; G-27) */
	if (rqstp->rq_cred.cr_flavor == RPC_AUTH_GSS_KRB5I ||
	    rqstp->rq_cred.cr_flavor == RPC_AUTH_GSS_KRB5P)
		return 0;
	if (rpcrdma_payload_assign(&call->sc_hdr.hd_lists, call->sc_payloads,
				   &call->sc_npayloads, offset,
				   length) == -EMSGSIZE && !error->er_code) {
		error->er_code = RPCRDMA2_ERR_WRITE_RESOURCE;
		error->er_arg[0] = call->sc_npayloads + 1;
		error->er_arg[1] = length;
	}
	return 0;
}

static void svc_rdma_count_written(struct svc_rdma_xprt *sx, u32 len)
{
	rpcrdma_count_add(server_rdma_write_bytes, len);
	atomic64_add(len, &sx->sx_stats.vs_write_bytes);
}

/* Appends the RDMA Writes that put results into Write chunks. @written has an entry for each chunk
 * of the Write list. The caller has set all entries to 0; those of unused chunks stay 0. Returns
 * -EMSGSIZE if a result is not inside the Reply, or is larger than its chunk.
 */
static int svc_rdma_write_payloads(struct svc_rdma_call *call,
				   struct svc_rdma_chain *chain,
				   const struct xdr_buf *xdr, u32 *written)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	const struct rpcrdma_payload *payload = call->sc_payloads;
	struct svc_rdma_move move = {
		.mv_dir = DMA_TO_DEVICE, .mv_lists = lists, .mv_xdr = xdr,
	};
	u32 i;
	int rc;

	for (i = 0; i < call->sc_npayloads; i++, payload++) {
		if (!payload->py_length)
			continue;
		if ((u64)payload->py_offset + payload->py_length > xdr->len)
			return -EMSGSIZE;
		move.mv_chunk = &lists->ls_write[i];
		move.mv_offset = payload->py_offset;
		move.mv_len = payload->py_length;
		rc = svc_rdma_chain_add(call->sc_sx, chain, &move);
		if (rc)
			return rc;
		written[i] = payload->py_length;
		svc_rdma_count_written(call->sc_sx, payload->py_length);
	}
	return 0;
}

/* Appends the RDMA Writes that put the body of the Reply into the Reply chunk. The body is all of
 * the Reply except the results in Write chunks and their roundup. Returns -EMSGSIZE if the body is
 * larger than the chunk.
 */
static int svc_rdma_write_reply(struct svc_rdma_call *call,
				struct svc_rdma_chain *chain,
				const struct xdr_buf *xdr, u32 *written)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	struct svc_rdma_move move = {
		.mv_dir = DMA_TO_DEVICE, .mv_lists = lists,
		.mv_chunk = &lists->ls_reply, .mv_xdr = xdr,
	};
	u32 pos = 0;
	int rc;

	while (rpcrdma_payload_gap_next(call->sc_payloads, call->sc_npayloads,
					xdr->len, &pos, &move.mv_offset,
					&move.mv_len)) {
		rc = svc_rdma_chain_add(call->sc_sx, chain, &move);
		if (rc)
			return rc;
		move.mv_chunk_offset += move.mv_len;
	}
	*written = move.mv_chunk_offset;
	svc_rdma_count_written(call->sc_sx, *written);
	return 0;
}

/* Copies the next @len bytes of the inline body behind a header of @hdr bytes. Returns the number
 * of bytes in the buffer; @hdr if it is negative, because the header could not be encoded;
 * -EMSGSIZE if the buffer is too small; -EIO if fewer than @len bytes are left.
 */
static int svc_rdma_body_copy(struct svc_rdma_body *body,
			      const struct rpcrdma_buf *buf, int hdr, u32 len)
{
	u32 part, left;
	void *to;

	if (hdr < 0)
		return hdr;
	if (len > buf->bf_size - hdr)
		return -EMSGSIZE;
	to = buf->bf_data + hdr;
	for (left = len; left; left -= part) {
		if (!body->by_left &&
		    !rpcrdma_payload_gap_next(body->by_payloads,
					      body->by_npayloads,
					      body->by_xdr->len, &body->by_pos,
					      &body->by_offset, &body->by_left))
			return -EIO;
		part = min(left, body->by_left);
		if (read_bytes_from_xdr_buf(body->by_xdr, body->by_offset, to,
					    part))
			return -EIO;
		body->by_offset += part;
		body->by_left -= part;
		to += part;
	}
	return hdr + len;
}

/**
 * svc_rdma_group_encode - write a Reply to the Sends of a group
 * @send: first Send of the group, which has all its Sends
 * @layout: layout that svc_rdma_group_layout() has begun
 * @out: the Reply
 * @body: position in the inline body of the Reply: its beginning
 *
 * Context: process.
 * Return: number of bytes to send with the first Send; or a negative errno.
 *
 * See RTX-40 to RTX-44, RTX-80 of rtx.rst.
 */
int svc_rdma_group_encode(struct svc_rdma_send *send,
			  struct rpcrdma_layout *layout,
			  const struct rpcrdma_reply_out *out,
			  struct svc_rdma_body *body)
{
	struct rpcrdma_send *first = &send->ss_send, *next = first;
	const struct rpcrdma_buf *buf;
	struct rpcrdma_outgoing og;
	int len, first_len = 0;

	while (rpcrdma_layout_next(layout, &og)) {
		if (og.og_tx.tx_number)
			next = rpcrdma_send_following(first, next);
		og.og_tx.tx_xid = out->ro_xid;
		og.og_tx.tx_credit = out->ro_credit;
		og.og_tx.tx_response = true;
		og.og_tx.tx_count = 1 + first->sd_nmore;
		og.og_tx.tx_stream = layout->ly_stream;
		buf = &next->sd_buf;
		if (og.og_tx.tx_number)
			len = rpcrdma2_encode_rtx_next(buf->bf_data,
						       buf->bf_size, &og.og_tx);
		else
			len = rpcrdma2_encode_rtx_reply(buf->bf_data,
							buf->bf_size, &og.og_tx,
							NULL, out);
		len = svc_rdma_body_copy(body, buf, len, og.og_tx.tx_here);
		if (len < 0)
			return len;
		if (next == first)
			first_len = len;
		else
			rpcrdma_send_prepare(next, len);
	}
	return first_len;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_group_encode);

/**
 * struct svc_rdma_answer - how a Reply is to be sent
 * @an_form: form of the Reply
 * @an_body: number of bytes of the Reply that are in no Write chunk
 * @an_layout: layout of a group
 */
struct svc_rdma_answer {
	enum rpcrdma_answer_form	an_form;
	u32				an_body;
	struct rpcrdma_layout		an_layout;
};

/* Encode the Reply and add its RDMA Writes. Returns the number of bytes to send (in a group, with
 * the first Send), or a negative errno.
 */
static int svc_rdma_reply_encode(struct svc_rdma_send *send,
				 struct svc_rdma_call *call,
				 const struct xdr_buf *xdr,
				 struct svc_rdma_answer *answer)
{
	const struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	u32 written[RPCRDMA_MAX_CHUNKS] = { };
	struct rpcrdma_reply_out out = {
		.ro_xid		= call->sc_hdr.hd_xid,
		.ro_credit	= svc_rdma_credits_granted(sx),
		.ro_proc	= RPCRDMA1_MSG,
		.ro_lists	= &call->sc_hdr.hd_lists,
		.ro_written	= written,
	};
	struct svc_rdma_body body = {
		.by_xdr		= xdr,
		.by_payloads	= call->sc_payloads,
		.by_npayloads	= call->sc_npayloads,
	};
	bool is_long = answer->an_form == RPCRDMA_ANSWER_LONG;
	int rc, len;

	rc = svc_rdma_write_payloads(call, &send->ss_writes, xdr, written);
	if (!rc && is_long) {
		out.ro_proc = RPCRDMA1_NOMSG;
		rc = svc_rdma_write_reply(call, &send->ss_writes, xdr,
					  &out.ro_reply_written);
	}
	if (rc)
		return rc;

	if (unlikely(answer->an_form == RPCRDMA_ANSWER_GROUP))
		return svc_rdma_group_encode(send, &answer->an_layout, &out,
					     &body);
	len = rpcrdma_encode_reply(call->sc_vers, send->ss_send.sd_buf.bf_data,
				   send->ss_send.sd_buf.bf_size, &out);
	if (is_long)
		return len;
	return svc_rdma_body_copy(&body, &send->ss_send.sd_buf, len,
				  answer->an_body);
}

/**
 * svc_rdma_group_take - get the Sends of a group
 * @send: first Send; the others are added to it
 * @count: number of Sends that the group should have
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM. After an error, svc_rdma_send_reset() frees those that were added.
 */
int svc_rdma_group_take(struct svc_rdma_send *send, u32 count)
{
	struct svc_rdma_send *more;

	while (1 + send->ss_send.sd_nmore < count) {
		more = svc_rdma_send_get(svc_rdma_send_sx(send), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		rpcrdma_send_add(&send->ss_send, &more->ss_send);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_group_take);

/**
 * svc_rdma_group_layout - begin the layout of a Reply as a group
 * @send: first Send of the group, with the others that it has so far
 * @lists: chunks of the Call
 * @body_len: number of bytes of the Reply that are in no Write chunk
 * @layout: OUT: the layout, for rpcrdma_layout_count() and rpcrdma_layout_next()
 *
 * Context: any.
 */
void svc_rdma_group_layout(const struct svc_rdma_send *send,
			   const struct rpcrdma_lists *lists, u32 body_len,
			   struct rpcrdma_layout *layout)
{
	const struct rpcrdma_limits *limits =
		&svc_rdma_send_sx(send)->sx_conn.cn_limits;
	const struct rpcrdma_send *more;

	memset(layout, 0, sizeof(*layout));
	layout->ly_hdr = rpcrdma2_rtx_reply_len(0, lists);
	layout->ly_stream = body_len;
	/* The smallest buffer of the group counts. */
	layout->ly_limit = min(READ_ONCE(limits->lm_inline_send),
			       send->ss_send.sd_buf.bf_size);
	list_for_each_entry(more, &send->ss_send.sd_more, sd_list)
		layout->ly_limit = min(layout->ly_limit, more->sd_buf.bf_size);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_group_layout);

/* Choose the form of the Reply to a Call that came as a group (RTX-66, RTX-67). If the Reply is a
 * group, all its Sends are taken. A Send with a smaller buffer may make more Sends necessary, or
 * another form.
 */
static noinline int svc_rdma_reply_plan_group(struct svc_rdma_send *send,
					      const struct svc_rdma_call *call,
					      struct svc_rdma_answer *answer)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	const struct svc_rdma_xprt *sx = svc_rdma_send_sx(send);
	u32 hdr = rpcrdma_reply_len(call->sc_vers, lists);
	u32 most = 0;
	u32 number;
	int rc;

	/* A client may send Calls as groups without having announced the round-trip extension. Such
	 * Calls are executed, because this server has announced that it accepts them (RTX-37). But
	 * their Replies must not be groups, because header types of the extension are not sent to a
	 * peer that has not announced it (RTX-32).
	 */
	if (memchr_inv(&sx->sx_conn.cn_rtx, 0, sizeof(sx->sx_conn.cn_rtx)))
		most = min(call->sc_replies, sx->sx_negotiate.ng_rtx.xp_reply_max);

	for (;;) {
		svc_rdma_group_layout(send, lists, answer->an_body,
				      &answer->an_layout);
		answer->an_form = rpcrdma_group_answer(&answer->an_layout, hdr,
						       lists->ls_reply.ck_length,
						       most, &number);
		if (answer->an_form != RPCRDMA_ANSWER_GROUP) {
			svc_rdma_send_drop_more(send);
			return 0;
		}
		if (number == 1 + send->ss_send.sd_nmore)
			return 0;
		/* The client has just announced larger Receives. */
		if (unlikely(number < 1 + send->ss_send.sd_nmore))
			svc_rdma_send_drop_more(send);
		rc = svc_rdma_group_take(send, number);
		if (rc)
			return rc;
	}
}

static int svc_rdma_reply_plan(struct svc_rdma_send *send,
			       const struct svc_rdma_call *call,
			       struct svc_rdma_answer *answer)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	struct rpcrdma_limits limits = svc_rdma_send_sx(send)->sx_conn.cn_limits;
	bool spare = rpcrdma_vers_spares_reply_chunk(call->sc_vers);

	if (unlikely(call->sc_replies))
		return svc_rdma_reply_plan_group(send, call, answer);
	limits.lm_inline_send = min(limits.lm_inline_send,
				    send->ss_send.sd_buf.bf_size);
	answer->an_form = rpcrdma_plan_answer(&limits,
					      rpcrdma_reply_len(call->sc_vers,
								lists),
					      answer->an_body,
					      lists->ls_reply.ck_length, spare);
	return 0;
}

static int svc_rdma_reply_build(struct svc_rdma_send *send,
				struct svc_rdma_call *call,
				const struct xdr_buf *xdr)
{
	struct svc_rdma_answer answer;
	int rc, len;
	u32 i;

	if (call->sc_error.er_code)
		return -EMSGSIZE;
	/* If a COMPOUND has a READDIR behind a READ, nfsd of Linux 6.1 sets a wrong length of
	 * the head: the distance in memory from the start of the head to the READDIR, which is
	 * in another page (nfsd4_encode_readdir()). The head begins at the beginning of a page.
	 * So if it is longer than a page, memory that does not belong to the Reply would be sent.
	 */
	if (xdr->head[0].iov_len > PAGE_SIZE)
		return -EMSGSIZE;
	/* Drop results that were assigned to Write chunks but are not in the Reply. If a result
	 * leaves too little room for the rest of the Reply, nfsd truncates the Reply and so removes
	 * the result. The Write chunk of this result is then unused.
	 */
	for (i = 0; i < call->sc_npayloads; i++)
		if (call->sc_payloads[i].py_offset >= xdr->len)
			call->sc_payloads[i].py_length = 0;
	answer.an_body = rpcrdma_payload_body_len(call->sc_payloads,
						  call->sc_npayloads, xdr->len);
	rc = svc_rdma_reply_plan(send, call, &answer);
	if (rc)
		return rc;
	if (answer.an_form == RPCRDMA_ANSWER_ERROR) {
		/* The client is asked for a larger Reply chunk only if the body does
		 * not fit the chunk. (A Reply chunk that was not offered has 0 bytes.)
		 * A larger chunk does not help if it is the header that does not fit a
		 * Send (version-two 5.3.3).
		 */
		call->sc_error.er_code = RPCRDMA2_ERR_SYSTEM;
		if (answer.an_body > call->sc_hdr.hd_lists.ls_reply.ck_length) {
			call->sc_error.er_code = RPCRDMA2_ERR_REPLY_RESOURCE;
			call->sc_error.er_arg[0] = answer.an_body;
		}
		return -EMSGSIZE;
	}
	len = svc_rdma_reply_encode(send, call, xdr, &answer);
	if (len < 0)
		return len;
	if (answer.an_form == RPCRDMA_ANSWER_GROUP)
		rpcrdma_count(server_replies_group);
	if (answer.an_form == RPCRDMA_ANSWER_LONG)
		rpcrdma_count(server_replies_long);
	else if (call->sc_npayloads)
		rpcrdma_count(server_replies_write_chunk);
	return len;
}

/* Make the Reply a Send With Invalidate, if the client allows that and the Call has a handle that
 * may be invalidated. In a group, the last Send invalidates the handle, because the client's region
 * must be valid until the whole Reply has arrived (RTX-72).
 */
static void svc_rdma_reply_set_inv(struct svc_rdma_send *send,
				   const struct svc_rdma_call *call)
{
	struct rpcrdma_conn *conn = &svc_rdma_send_sx(send)->sx_conn;
	struct rpcrdma_send *last = rpcrdma_send_last(&send->ss_send);
	u32 rkey;

	if (!conn->cn_limits.lm_remote_inv)
		return;
	if (rpcrdma_vers_names_handle(call->sc_vers))
		rkey = call->sc_hdr.hd_inv_handle;
	else
		rkey = rpcrdma_lists_single_handle(&call->sc_hdr.hd_lists);
	if (!rkey)
		return;
	last->sd_wr.opcode = IB_WR_SEND_WITH_INV;
	last->sd_wr.ex.invalidate_rkey = rkey;
}

static int svc_rdma_reply_post(struct svc_rdma_send *send,
			       struct svc_rdma_call *call,
			       struct svc_rqst *rqstp, u32 len)
{
	const struct ib_send_wr *last;
	int rc;

	rc = svc_rdma_pages_hold(send, rqstp);
	if (rc)
		return rc;

	svc_rdma_reply_set_inv(send, call);
	last = &rpcrdma_send_last(&send->ss_send)->sd_wr;
	trace_svc_rdma_reply(send, call->sc_hdr.hd_xid,
			     rqstp->rq_res.len, len,
			     last->opcode == IB_WR_SEND_WITH_INV ?
			     last->ex.invalidate_rkey : 0);
	return svc_rdma_send_submit(send, call, len);
}

/* Answers a Call with an error, which has a code of version 2. In version 1 it is sent as ERR_VERS
 * or ERR_CHUNK. What @send holds is released, and the caller does not own it any more, even after
 * an error. Returns 0; or a negative errno, and then the caller has to end the connection.
 */
static int svc_rdma_send_refusal(struct svc_rdma_send *send,
				 struct svc_rdma_call *call,
				 const struct rpcrdma2_error *error)
{
	struct rpcrdma_buf *buf = &send->ss_send.sd_buf;
	int len;

	svc_rdma_send_reset(send);
	trace_svc_rdma_error(call, error);
	rpcrdma_count(server_errors);
	len = rpcrdma_encode_error(call->sc_vers, buf->bf_data, buf->bf_size,
				   &call->sc_hdr,
				   svc_rdma_credits_granted(call->sc_sx),
				   error);
	return svc_rdma_send_control(send, call, len);
}

/**
 * svc_rdma_send_error - answer a Call with the error for a verdict
 * @call: Call; at least its XID and version have been decoded
 * @verdict: what is wrong with the Call
 *
 * If rpcrdma2_refusal() finds that no error is to be sent, this does nothing. If the error cannot
 * be sent, the connection is closed (RFC 8166 4.5.4).
 *
 * Context: process; sleeps.
 */
void svc_rdma_send_error(struct svc_rdma_call *call,
			 enum rpcrdma_verdict verdict)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct rpcrdma2_accept accept;
	struct rpcrdma2_error error;
	struct svc_rdma_send *send;
	int rc = -ENOMEM;

	svc_rdma_negotiate_accept(sx, &accept);
	if (!rpcrdma2_refusal(&call->sc_hdr, verdict, &accept, &error))
		return;
	send = svc_rdma_send_get(sx, GFP_KERNEL);
	if (send)
		rc = svc_rdma_send_refusal(send, call, &error);
	if (rc) {
		trace_svc_rdma_reply_err(sx, rc);
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	}
}

/**
 * svc_rdma_sendto - xpo_sendto: send a Reply
 * @rqstp: thread with the Reply in rq_res, and its Call in rq_xprt_ctxt
 *
 * If a Reply is too large to be sent, an error is sent instead (G-13). If memory is short, the
 * connection is closed: the client then connects again and retransmits, while an error would
 * end the RPC.
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno.
 */
int svc_rdma_sendto(struct svc_rqst *rqstp)
{
	struct svc_rdma_call *call = rqstp->rq_xprt_ctxt;
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_send *send;
	int len, rc = -ENOMEM;

	CLASS(svc_rdma_inside, inside)(sx);
	if (!inside || svc_rdma_is_down(sx))
		return -ENOTCONN;
	svc_rdma_credits_answered(sx);
	send = svc_rdma_send_get(sx, GFP_KERNEL);
	if (!send)
		goto out_fail;

	len = svc_rdma_reply_build(send, call, &rqstp->rq_res);
	rc = len < 0 ? len : svc_rdma_reply_post(send, call, rqstp, len);
	if (!rc)
		return 0;

	if (rc == -EMSGSIZE) {
		rpcrdma_count(server_reply_too_large);
		/* sc_error is not set if, for example, the Reply takes more slots than the send
		 * queue has, or is inconsistent (its head is too long, or a result is not inside
		 * the Reply).
		 */
		if (!call->sc_error.er_code)
			call->sc_error.er_code = RPCRDMA2_ERR_SYSTEM;
		rc = svc_rdma_send_refusal(send, call, &call->sc_error);
	} else {
		svc_rdma_send_put(send);
	}
	if (!rc)
		return 0;

out_fail:
	trace_svc_rdma_reply_err(sx, rc);
	rpcrdma_conn_fail(&sx->sx_conn, rc);
	return rc;
}
