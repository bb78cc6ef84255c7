// SPDX-License-Identifier: GPL-2.0
/*
 * Replies: chooses the form of a Reply, encodes its header, and posts RDMA
 * Writes and Send as one chain.
 *
 * Operation
 *
 * A Send context holds one buffer that stays mapped. The transport header goes
 * there, and what of the Reply is sent inline is copied behind it: that is a
 * few KiB, for which mapping pages would cost more. Only RDMA Writes read the
 * Reply where it was built, and then its pages move from the thread to the Send
 * context until the Send has completed, but for the first one if they read
 * nothing of it. The pages of a Reply that was copied stay with the thread, as
 * far as they are its own.
 *
 * The order in svc_rdma_sendto() matters. The header returns the Call's chunk
 * lists, which are a view of the Receive, so the Receive is given back after
 * encoding; and it is given back before the Reply is posted, because the Reply
 * tells the client that it may send another Call (V1-CRD-09; invariant I13).
 *
 * The chain has one signaled work request, the Send at its end, but for short
 * RDMA Writes where dc_signal_max says so. Work requests of a reliable
 * connection complete in order, so its completion covers all. It
 * frees the mappings, the pages and the slots, and the context goes back to the
 * idle queue. The handler runs in the completion workqueue and may sleep.
 *
 * What a client of version 2 can receive is known only when it has announced it.
 * A context that is idle then may have too small a buffer, and is replaced when
 * it is taken; a Reply under way keeps to the buffer it has.
 *
 * A Reply for which there are not enough send queue slots waits in line for them,
 * and its thread does not: the context holds all that is needed, also the Call's
 * Receive, so there are never more such Replies than Receives. It is posted by
 * whoever releases the slots.
 *
 * If the Reply cannot be posted after slots were found for it, part of the
 * chain may be in the hands of the device. The connection is down then, and the
 * context stays in the sending queue until the queues are gone (I10). So does one
 * that was still in line.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/svc_rdma.h>
#include <rpcrdma/trace_svc.h>

/* Contexts kept for later, and the bytes of their buffers; what a burst took
 * beyond that is freed
 */
#define SVC_RDMA_IDLE_SENDS	32u
#define SVC_RDMA_IDLE_BYTES	(32u * SVC_RDMA_V2_REQ_SIZE)

static void svc_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc);
static void svc_rdma_send_wc_written(struct ib_cq *cq, struct ib_wc *wc);
static void svc_rdma_send_ready(struct svc_rdma_sq_waiter *waiter);

/* A client may be able to receive more than memory has in one piece. In version
 * 2 a Reply that does not fit then has the client provide a chunk (G-23).
 */
static int svc_rdma_send_create_buf(struct svc_rdma_send *send, gfp_t gfp)
{
	struct svc_rdma_xprt *sx = send->ss_sx;
	struct ib_device *device = rpcrdma_conn_device(&sx->sx_conn);
	u32 size = READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send);
	int rc;

	rc = rpcrdma_buf_init(&send->ss_buf, device, size, DMA_TO_DEVICE,
			      gfp | __GFP_NOWARN);
	if (!rc || size <= SVC_RDMA_V2_REQ_SIZE ||
	    READ_ONCE(sx->sx_vers) != RPCRDMA_VERS_2)
		return rc;
	return rpcrdma_buf_init(&send->ss_buf, device, SVC_RDMA_V2_REQ_SIZE,
				DMA_TO_DEVICE, gfp | __GFP_NOWARN);
}

static struct svc_rdma_send *svc_rdma_send_create(struct svc_rdma_xprt *sx,
						  gfp_t gfp)
{
	struct rpcrdma_conn *conn = &sx->sx_conn;
	struct ib_device *device = rpcrdma_conn_device(conn);
	struct svc_rdma_send *send;

	send = kzalloc_node(sizeof(*send), gfp, ibdev_to_node(device));
	if (!send)
		return NULL;
	send->ss_sx = sx;
	if (svc_rdma_send_create_buf(send, gfp)) {
		kfree(send);
		return NULL;
	}

	send->ss_cqe.done = svc_rdma_send_wc_done;
	send->ss_write_cqe.done = svc_rdma_send_wc_written;
	send->ss_sge.addr = send->ss_buf.bf_addr;
	send->ss_sge.lkey = conn->cn_pd->local_dma_lkey;
	send->ss_wr.wr_cqe = &send->ss_cqe;
	send->ss_wr.sg_list = &send->ss_sge;
	send->ss_wr.num_sge = 1;
	send->ss_wr.opcode = IB_WR_SEND;
	send->ss_wr.send_flags = IB_SEND_SIGNALED;
	INIT_LIST_HEAD(&send->ss_list);
	INIT_LIST_HEAD(&send->ss_wait.wt_list);
	send->ss_wait.wt_ready = svc_rdma_send_ready;
	svc_rdma_chain_init(&send->ss_writes);
	return send;
}

static void svc_rdma_send_put_recv(struct svc_rdma_send *send)
{
	if (!send->ss_recv)
		return;
	svc_rdma_recv_put(send->ss_sx, send->ss_recv);
	send->ss_recv = NULL;
}

/* Ends with the context as svc_rdma_send_create() left it */
static void svc_rdma_send_reset(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = send->ss_sx;
	u32 i;

	svc_rdma_send_put_recv(send);
	svc_rdma_chain_destroy(sx, &send->ss_writes);
	for (i = 0; i < send->ss_npages; i++)
		if (send->ss_pages[i])
			put_page(send->ss_pages[i]);
	send->ss_npages = 0;
	send->ss_wr.opcode = IB_WR_SEND;
	svc_rdma_slots_release(sx, send->ss_slots);
	send->ss_slots = 0;
}

/**
 * svc_rdma_send_destroy - free a Send context
 * @send: context that is not posted
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_destroy(struct svc_rdma_send *send)
{
	svc_rdma_send_reset(send);
	rpcrdma_buf_exit(&send->ss_buf);
	kvfree(send->ss_pages);
	kfree(send);
}

/**
 * svc_rdma_send_get - get a Send context
 * @sx: accepted connection
 * @gfp: how to allocate one if none is idle
 *
 * Context: process; sleeps if @gfp says so.
 * Return: a context, or NULL.
 */
struct svc_rdma_send *svc_rdma_send_get(struct svc_rdma_xprt *sx, gfp_t gfp)
{
	struct svc_rdma_send *send;

	spin_lock(&sx->sx_lock);
	send = list_first_entry_or_null(&sx->sx_idle, struct svc_rdma_send,
					ss_list);
	if (send) {
		list_del_init(&send->ss_list);
		sx->sx_nidle--;
	}
	spin_unlock(&sx->sx_lock);
	if (send && send->ss_buf.bf_size <
	    READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send)) {
		svc_rdma_send_destroy(send);
		send = NULL;
	}
	return send ?: svc_rdma_send_create(sx, gfp);
}

/**
 * svc_rdma_send_put - give back a Send context
 * @send: context that is not, or no longer, posted
 *
 * All it holds is released.
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_send_put(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = send->ss_sx;
	bool keep;

	svc_rdma_send_reset(send);

	spin_lock(&sx->sx_lock);
	keep = sx->sx_nidle < SVC_RDMA_IDLE_SENDS &&
	       sx->sx_nidle * send->ss_buf.bf_size < SVC_RDMA_IDLE_BYTES;
	if (keep) {
		list_add(&send->ss_list, &sx->sx_idle);
		sx->sx_nidle++;
	}
	spin_unlock(&sx->sx_lock);
	if (!keep)
		svc_rdma_send_destroy(send);
}

/* The context rests where it is until the queues are gone (I10). */
static void svc_rdma_send_fail(struct svc_rdma_xprt *sx,
			       const struct ib_wc *wc)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_svc_rdma_send_err(sx, wc);
	rpcrdma_conn_fail(&sx->sx_conn, -ECONNRESET);
}

/* RDMA Writes before a Send are not signaled, unless the device likes them to be:
 * they complete only if they fail, and the Send is flushed then. Success is told
 * by the Send.
 */
static void svc_rdma_send_wc_written(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc_rdma_send *send = container_of(wc->wr_cqe,
						  struct svc_rdma_send,
						  ss_write_cqe);

	if (wc->status != IB_WC_SUCCESS)
		svc_rdma_send_fail(send->ss_sx, wc);
}

/* RDMA Reads that were posted after it have come a step forward. */
static void svc_rdma_sent_before_reads(struct svc_rdma_xprt *sx,
				       const struct svc_rdma_send *send)
{
	const struct svc_rdma_call *call = svc_rdma_read_first(sx);

	if (call && !time_before(call->sc_posted, send->ss_posted))
		sx->sx_read = jiffies;
}

static void svc_rdma_send_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svc_rdma_send *send = container_of(wc->wr_cqe,
						  struct svc_rdma_send, ss_cqe);
	struct svc_rdma_xprt *sx = send->ss_sx;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		svc_rdma_send_fail(sx, wc);
		return;
	}

	trace_svc_rdma_sent(sx, send->ss_sge.length);
	rpcrdma_alive_acked(&sx->sx_conn);
	spin_lock(&sx->sx_lock);
	list_del_init(&send->ss_list);
	sx->sx_sent = jiffies;
	svc_rdma_sent_before_reads(sx, send);
	spin_unlock(&sx->sx_lock);
	svc_rdma_send_put(send);
}

static void svc_rdma_send_prepare_write(struct svc_rdma_send *send,
					struct ib_send_wr *wr)
{
	u32 most = send->ss_sx->sx_conn.cn_caps.dc_signal_max;
	u32 len = 0;
	int i;

	wr->wr_cqe = &send->ss_write_cqe;
	if (!most)
		return;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (len <= most)
		wr->send_flags |= IB_SEND_SIGNALED;
}

/**
 * svc_rdma_send_post - post a Send and the RDMA Writes before it
 * @send: context with the length of its message and all of its slots, as many as
 *	ss_wait says; it changes hands in any case
 *
 * The Receive of the Call is given back first (invariant I13).
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: 0; or a negative errno, and the connection is down.
 */
int svc_rdma_send_post(struct svc_rdma_send *send)
{
	struct svc_rdma_xprt *sx = send->ss_sx;
	struct ib_send_wr *first, *wr;

	svc_rdma_send_put_recv(send);
	rpcrdma_count(server_sends);
	if (send->ss_wr.opcode == IB_WR_SEND_WITH_INV)
		rpcrdma_count(server_sends_inv);

	rpcrdma_buf_sync_for_device(&send->ss_buf, send->ss_sge.length);
	first = svc_rdma_chain_wrs(sx, &send->ss_writes, NULL, &send->ss_wr);
	for (wr = first; wr != &send->ss_wr; wr = wr->next)
		svc_rdma_send_prepare_write(send, wr);

	spin_lock(&sx->sx_lock);
	/* One that was in line is there already */
	if (list_empty(&send->ss_list))
		list_add_tail(&send->ss_list, &sx->sx_sending);
	send->ss_slots = send->ss_wait.wt_slots;
	send->ss_posted = jiffies;
	sx->sx_stats.sa_sent++;
	spin_unlock(&sx->sx_lock);
	return rpcrdma_conn_post(&sx->sx_conn, first);
}

static void svc_rdma_send_ready(struct svc_rdma_sq_waiter *waiter)
{
	svc_rdma_send_post(container_of(waiter, struct svc_rdma_send, ss_wait));
}

/* Post an answer to @call, now or when there are slots for it. Returns 0, and @send
 * has changed hands; or %-EMSGSIZE: it takes more slots than there are.
 */
static int svc_rdma_send_submit(struct svc_rdma_send *send,
				struct svc_rdma_call *call, u32 len)
{
	struct svc_rdma_xprt *sx = send->ss_sx;
	u32 slots = send->ss_writes.sh_wrs + 1;

	if (slots > sx->sx_sq.sq_size)
		return -EMSGSIZE;
	send->ss_sge.length = len;
	send->ss_wait.wt_slots = slots;
	send->ss_recv = call->sc_recv;
	call->sc_recv = NULL;
	if (likely(svc_rdma_sq_try(&sx->sx_sq, slots))) {
		/* The connection's trouble from here on, not the caller's */
		svc_rdma_send_post(send);
		return 0;
	}
	spin_lock(&sx->sx_lock);
	list_add_tail(&send->ss_list, &sx->sx_sending);
	spin_unlock(&sx->sx_lock);
	svc_rdma_sq_join(&sx->sx_sq, &send->ss_wait);
	return 0;
}

/**
 * svc_rdma_send_control - send what is not a Reply
 * @send: context with the message in its buffer and nothing else; it changes
 *	hands in any case
 * @call: the message it answers
 * @len: bytes to send; or a negative errno, if it could not be encoded
 *
 * Never with remote invalidation: that is for Replies (V1-CRD-21, V2-CHK-14).
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int svc_rdma_send_control(struct svc_rdma_send *send,
			  struct svc_rdma_call *call, int len)
{
	int rc;

	rc = len < 0 ? len : svc_rdma_send_submit(send, call, len);
	if (rc)
		svc_rdma_send_put(send);
	return rc;
}

static void svc_rdma_count_error(u32 code)
{
	switch (code) {
	case RPCRDMA2_ERR_VERS:
		rpcrdma_count(server_err_vers);
		break;
	case RPCRDMA2_ERR_BAD_XDR:
		rpcrdma_count(server_err_bad_xdr);
		break;
	case RPCRDMA2_ERR_INVAL_HTYPE:
		rpcrdma_count(server_err_inval_htype);
		break;
	case RPCRDMA2_ERR_READ_CHUNKS:
		rpcrdma_count(server_err_read_chunks);
		break;
	case RPCRDMA2_ERR_WRITE_CHUNKS:
		rpcrdma_count(server_err_write_chunks);
		break;
	case RPCRDMA2_ERR_SEGMENTS:
		rpcrdma_count(server_err_segments);
		break;
	case RPCRDMA2_ERR_WRITE_RESOURCE:
		rpcrdma_count(server_err_write_resource);
		break;
	case RPCRDMA2_ERR_REPLY_RESOURCE:
		rpcrdma_count(server_err_reply_resource);
		break;
	default:
		rpcrdma_count(server_err_system);
		break;
	}
}

static int svc_rdma_encode_error(struct svc_rdma_send *send,
				 const struct svc_rdma_call *call,
				 const struct rpcrdma2_error *error)
{
	u32 credits = READ_ONCE(send->ss_sx->sx_credits);
	struct rpcrdma_buf *buf = &send->ss_buf;

	trace_svc_rdma_error(send->ss_sx, call, error);
	/* ERR_VERS looks the same whatever the version (G-11) */
	if (call->sc_vers == RPCRDMA_VERS_1 &&
	    error->er_code != RPCRDMA2_ERR_VERS) {
		rpcrdma_count(server_err_chunk);
		return rpcrdma1_encode_err_chunk(buf->bf_data, buf->bf_size,
						 call->sc_hdr.hd_xid, credits);
	}
	svc_rdma_count_error(error->er_code);
	return rpcrdma2_encode_error(buf->bf_data, buf->bf_size, &call->sc_hdr,
				     credits, error);
}

static int svc_rdma_send_refusal(struct svc_rdma_send *send,
				 struct svc_rdma_call *call,
				 const struct rpcrdma2_error *error)
{
	svc_rdma_send_reset(send);
	return svc_rdma_send_control(send, call,
				     svc_rdma_encode_error(send, call, error));
}

/**
 * svc_rdma_send_error - answer a Call with an RDMA_ERROR
 * @call: Call, decoded at least as far as its XID and version
 * @verdict: what is wrong with it
 *
 * If not even that can be sent, the connection is closed (V1-ERR-20).
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

/* Copy what of a Reply did not go to Write chunks. It is known to fit. */
static int svc_rdma_copy_body(const struct svc_rdma_call *call,
			      const struct xdr_buf *xdr, void *to)
{
	u32 offset, length, pos = 0;

	while (rpcrdma_payload_gap_next(call->sc_payloads, call->sc_npayloads,
					xdr->len, &pos, &offset, &length)) {
		if (read_bytes_from_xdr_buf(xdr, offset, to, length))
			return -EIO;
		to += length;
	}
	return 0;
}

/* Fill the buffer, add the Writes. Returns the bytes to send, or an errno. */
static int svc_rdma_reply_encode(struct svc_rdma_send *send,
				 struct svc_rdma_call *call,
				 const struct xdr_buf *xdr,
				 enum rpcrdma_answer_form form, u32 body_len)
{
	u32 written[RPCRDMA_MAX_CHUNKS] = { };
	struct rpcrdma_reply_out out = {
		.ro_xid		= call->sc_hdr.hd_xid,
		.ro_credit	= READ_ONCE(send->ss_sx->sx_credits),
		.ro_proc	= RPCRDMA1_MSG,
		.ro_lists	= &call->sc_hdr.hd_lists,
		.ro_written	= written,
	};
	int rc, len;

	rc = svc_rdma_write_payloads(call, &send->ss_writes, xdr, written);
	if (!rc && form == RPCRDMA_ANSWER_LONG) {
		out.ro_proc = RPCRDMA1_NOMSG;
		rc = svc_rdma_write_reply(call, &send->ss_writes, xdr,
					  &out.ro_reply_written);
	}
	if (rc)
		return rc;

	len = rpcrdma_encode_reply(call->sc_vers, send->ss_buf.bf_data,
				   send->ss_buf.bf_size, &out);
	if (len < 0 || form == RPCRDMA_ANSWER_LONG)
		return len;
	if (body_len > send->ss_buf.bf_size - len)
		return -EMSGSIZE;
	rc = svc_rdma_copy_body(call, xdr, send->ss_buf.bf_data + len);
	return rc ? rc : len + body_len;
}

static void svc_rdma_reply_count(const struct svc_rdma_call *call,
				 enum rpcrdma_answer_form form)
{
	if (form == RPCRDMA_ANSWER_LONG)
		rpcrdma_count(server_replies_long);
	else if (call->sc_npayloads)
		rpcrdma_count(server_replies_write_chunk);
	else
		rpcrdma_count(server_replies_inline);
}

/* In version 2 a Reply chunk is used when it is needed (G-02, V2-PRP-13). */
static enum rpcrdma_answer_form
svc_rdma_reply_plan(const struct svc_rdma_send *send,
		    const struct svc_rdma_call *call, u32 body_len)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	struct rpcrdma_limits limits = send->ss_sx->sx_conn.cn_limits;
	bool v2 = call->sc_vers == RPCRDMA_VERS_2;
	u32 hdr_len;

	limits.lm_inline_send = min(limits.lm_inline_send,
				    send->ss_buf.bf_size);
	hdr_len = v2 ? rpcrdma2_reply_len(lists) : rpcrdma1_reply_len(lists);
	return rpcrdma_plan_answer(&limits, hdr_len, body_len,
				   lists->ls_has_reply,
				   lists->ls_reply.ck_length,
				   v2 || READ_ONCE(svc_rdma_reply_short));
}

/* nfsd cuts a Reply off behind a result that leaves no room for the next one,
 * and that result goes, too. Its Write chunk is not used then.
 */
static void svc_rdma_payloads_trim(struct svc_rdma_call *call, u32 len)
{
	u32 i;

	for (i = 0; i < call->sc_npayloads; i++)
		if (call->sc_payloads[i].py_offset >= len)
			call->sc_payloads[i].py_length = 0;
}

static int svc_rdma_reply_build(struct svc_rdma_send *send,
				struct svc_rdma_call *call,
				const struct xdr_buf *xdr)
{
	enum rpcrdma_answer_form form;
	u32 body_len;
	int len;

	if (call->sc_error.er_code)
		return -EMSGSIZE;
	svc_rdma_payloads_trim(call, xdr->len);
	body_len = rpcrdma_payload_body_len(call->sc_payloads,
					    call->sc_npayloads, xdr->len);
	form = svc_rdma_reply_plan(send, call, body_len);
	if (form == RPCRDMA_ANSWER_ERROR) {
		/* If it is the header that does not fit, a larger Reply chunk
		 * is no help: ask for none (V2-ERR-20).
		 */
		call->sc_error.er_code = RPCRDMA2_ERR_SYSTEM;
		if (body_len > call->sc_hdr.hd_lists.ls_reply.ck_length) {
			call->sc_error.er_code = RPCRDMA2_ERR_REPLY_RESOURCE;
			call->sc_error.er_arg[0] = body_len;
		}
		return -EMSGSIZE;
	}
	len = svc_rdma_reply_encode(send, call, xdr, form, body_len);
	if (len > 0)
		svc_rdma_reply_count(call, form);
	return len;
}

/* Pages that RDMA Writes will read must not go back to the thread (I15). */
static int svc_rdma_reply_hold_pages(struct svc_rdma_send *send,
				     struct svc_rqst *rqstp)
{
	u32 used = svc_rdma_pages_used(rqstp);

	if (list_empty(&send->ss_writes.sh_rws)) {
		svc_rdma_pages_keep(rqstp);
		return 0;
	}
	if (send->ss_maxpages < used) {
		kvfree(send->ss_pages);
		send->ss_maxpages = 0;
		send->ss_pages = kvmalloc_array(used, sizeof(*send->ss_pages),
						GFP_KERNEL);
		if (!send->ss_pages)
			return -ENOMEM;
		send->ss_maxpages = used;
	}
	send->ss_npages = svc_rdma_pages_take(rqstp, &send->ss_writes,
					      send->ss_pages);
	return 0;
}

static void svc_rdma_reply_set_inv(struct svc_rdma_send *send,
				   const struct svc_rdma_call *call)
{
	struct rpcrdma_conn *conn = &send->ss_sx->sx_conn;
	u32 rkey;

	if (!conn->cn_limits.lm_remote_inv)
		return;
	/* In version 2 the client says which one (V2-CHK-07) */
	if (call->sc_vers == RPCRDMA_VERS_2)
		rkey = call->sc_hdr.hd_inv_handle;
	else
		rkey = rpcrdma_lists_single_handle(&call->sc_hdr.hd_lists);
	if (!rkey)
		return;
	send->ss_wr.opcode = IB_WR_SEND_WITH_INV;
	send->ss_wr.ex.invalidate_rkey = rkey;
}

static int svc_rdma_reply_post(struct svc_rdma_send *send,
			       struct svc_rdma_call *call,
			       struct svc_rqst *rqstp, u32 len)
{
	int rc;

	rc = svc_rdma_reply_hold_pages(send, rqstp);
	if (rc)
		return rc;

	svc_rdma_reply_set_inv(send, call);
	trace_svc_rdma_reply(send->ss_sx, call->sc_hdr.hd_xid,
			     rqstp->rq_res.len, len,
			     send->ss_wr.opcode == IB_WR_SEND_WITH_INV ?
			     send->ss_wr.ex.invalidate_rkey : 0,
			     send->ss_writes.sh_wrs + 1);
	return svc_rdma_send_submit(send, call, len);
}

/**
 * svc_rdma_sendto - xpo_sendto: send a Reply
 * @rqstp: thread with the Reply in rq_res, and its Call in rq_xprt_ctxt
 *
 * A Reply that fits nowhere is answered with an error instead (G-13). If
 * something is short, the connection is closed: its client will come again,
 * while an error would end the RPC.
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno, for the record.
 */
int svc_rdma_sendto(struct svc_rqst *rqstp)
{
	struct svc_rdma_call *call = rqstp->rq_xprt_ctxt;
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_send *send;
	int len, rc = -ENOMEM;

	svc_rdma_inside();
	if (svc_rdma_is_down(sx))
		return -ENOTCONN;
	send = svc_rdma_send_get(sx, GFP_KERNEL);
	if (!send)
		goto out_fail;

	len = svc_rdma_reply_build(send, call, &rqstp->rq_res);
	rc = len < 0 ? len : svc_rdma_reply_post(send, call, rqstp, len);
	if (!rc)
		return 0;

	if (rc == -EMSGSIZE) {
		rpcrdma_count(server_reply_too_large);
		/* More work requests than there are, or a Reply that is not
		 * what it claims to be
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
