// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: this file turns a received message into a request that sunrpc can execute.
 *
 * Operation
 *
 * The completion handler of a Receive queues the message and tells sunrpc, which finds a
 * thread (server/queue.c). The thread calls svc_rdma_recvfrom(), which is at the end of
 * this file. Normally the thread first handles completions of earlier Sends. Then it decodes the
 * header. If the Call needs no RDMA Reads, it is complete, and the thread returns it to sunrpc.
 * Otherwise the thread starts the RDMA Reads, or leaves the Call in a queue until these may begin,
 * and returns 0. When the RDMA Reads are complete, the Call is queued again, and a thread
 * assembles it (server/read.c).
 *
 * This file also handles all messages that are not valid Calls. They never reach the RPC program
 * (RFC 8166 4.5.2). They are counted and traced, but nothing is printed to the log.
 *
 * A Call without Read chunks is normally executed where it was received: rq_arg points into
 * the message. The message stays with its Call until the Reply is encoded. If the client has
 * placed the data of a Call in target segments of Receives (rtx.h), rq_arg normally points there,
 * too.
 *
 * The thread that takes a message makes an object of it (struct svc_rdma_call). If the message is a
 * Call that can be executed, the object exists until sunrpc is done with the Call. rq_xprt_ctxt of
 * the request points to it. While the request is deferred, sunrpc keeps this pointer in xprt_ctxt
 * of the svc_deferred_req. When the request has ended, for whatever reason, sunrpc calls
 * svc_rdma_release_ctxt(). Otherwise the object is freed when the message has been handled; or,
 * if it is in a list of the connection when the connection is closed, then. There is no such object
 * for a Receive that is only posted, so an idle connection takes little memory.
 */
#include <linux/in.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/fail.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"
#include "trace.h"

/* Makes a Call of a message, which belongs to it from now on. Returns NULL if memory is short. */
static struct svc_rdma_call *svc_rdma_call_create(struct svc_rdma_xprt *sx,
						  struct rpcrdma_msg_in *msg)
{
	struct svc_rdma_call *call;

	call = kmalloc(sizeof(*call), GFP_KERNEL);
	if (!call)
		return NULL;
	/* The decoder sets sc_hdr, the largest member. */
	memset_after(call, 0, sc_hdr);
	call->sc_sx = sx;
	call->sc_msg = msg;
	call->sc_vers = RPCRDMA_VERS_1;
	svc_rdma_chain_init(&call->sc_reads);
	return call;
}

static void svc_rdma_call_put_msg(struct svc_rdma_call *call)
{
	if (!call->sc_msg)
		return;
	svc_rdma_msg_put(call->sc_sx, call->sc_msg);
	call->sc_msg = NULL;
}

/**
 * svc_rdma_call_free - free a Call and all that it holds
 * @call: Call that has no RDMA Reads in progress
 *
 * Context: process; may sleep.
 */
void svc_rdma_call_free(struct svc_rdma_call *call)
{
	if (call->sc_pages || call->sc_counted)
		svc_rdma_read_free(call);
	svc_rdma_call_put_msg(call);
	kfree(call);
}

static void svc_rdma_refuse(struct svc_rdma_call *call,
			    enum rpcrdma_verdict verdict)
{
	rpcrdma_count(server_bad_headers);
	atomic64_inc(&call->sc_sx->sx_stats.vs_refused);
	trace_svc_rdma_refused(call->sc_sx, call->sc_hdr.hd_xid,
			       rpcrdma_msg_len(call->sc_msg), verdict);
	svc_rdma_send_error(call, verdict);
}

/* End the callback with the XID of a message that is no Reply. Returns false if no callback waits
 * for an answer with this XID.
 */
static bool svc_rdma_end_callback(struct svc_rdma_call *call)
{
	svc_rdma_call_put_msg(call);
	if (!svc_rdma_bc_answer(call->sc_sx, call->sc_hdr.hd_xid, NULL))
		return false;
	rpcrdma_count(server_bc_dropped);
	return true;
}

/* Give a message to the callback that it belongs to. The message is the Reply to the
 * callback, or ends the callback without a Reply (version-two 3.3, 10.1). Returns false if
 * the message is to be dropped.
 */
static bool svc_rdma_give_bc_reply(struct svc_rdma_call *call)
{
	const struct rpcrdma_hdr *hdr = &call->sc_hdr;

	/* The server never asks for properties, so it expects no answer with them (G-17). */
	if (hdr->hd_proc == RPCRDMA2_CONNPROP)
		return false;
	/* The server offers no chunks in a callback, so a valid Reply to it has no
	 * chunks. In version 1, the decoder treats a message with chunks as a Call.
	 */
	if (hdr->hd_proc == RPCRDMA1_MSG &&
	    rpcrdma_lists_empty(&hdr->hd_lists)) {
		if (!svc_rdma_bc_answer(call->sc_sx, hdr->hd_rpc_xid, call))
			return false;
		rpcrdma_count(server_bc_replies);
		return true;
	}
	return svc_rdma_end_callback(call);
}

/* Handle a message that cannot be executed as a Call. */
static void svc_rdma_dispose(struct svc_rdma_call *call,
			     enum rpcrdma_verdict verdict)
{
	const struct rpcrdma_hdr *hdr = &call->sc_hdr;
	struct svc_rdma_xprt *sx = call->sc_sx;
	u32 len = rpcrdma_msg_len(call->sc_msg);

	switch (verdict) {
	case RPCRDMA_BACKWARD_REPLY:
		if (svc_rdma_give_bc_reply(call))
			return;
		rpcrdma_count(server_bc_dropped);
		break;
	case RPCRDMA_DISCARD_ERROR:
		/* In version 1, an error has no flag that says which end sent the Call with its
		 * XID. The only Calls that a server sends are callbacks, so an error from the
		 * client ends the callback with that XID (G-24). If there is no such callback, the
		 * error is dropped (RFC 8166 4.2.4). In version 2, an error that answers a callback
		 * has another verdict (BACKWARD_REPLY), so each error that comes here is dropped.
		 */
		if (!rpcrdma_vers_marks_responses(READ_ONCE(sx->sx_vers)) &&
		    svc_rdma_end_callback(call))
			return;
		fallthrough;
	case RPCRDMA_DISCARD_SHORT:
	case RPCRDMA_DISCARD_DONE:
		rpcrdma_count(server_dropped);
		break;
	default:
		if (!hdr->hd_response) {
			svc_rdma_refuse(call, verdict);
			return;
		}
		/* No error is sent for a response, but the callback that it belongs to has to end
		 * (G-12). A response with properties (CONNPROP) belongs to none.
		 */
		rpcrdma_count(server_bc_dropped);
		svc_rdma_call_put_msg(call);
		if (hdr->hd_proc != RPCRDMA2_CONNPROP)
			svc_rdma_bc_answer(sx, hdr->hd_xid, NULL);
		break;
	}
	/* The message is dropped without an answer. */
	atomic64_inc(&sx->sx_stats.vs_dropped);
	trace_svc_rdma_discarded(sx, hdr->hd_xid, len, verdict);
}

/* Decode a Call that came as a group (rtx.h). Afterwards it is handled like any other Call, except
 * that it may have an item, and that the client may offer several Receives for its Reply (RTX-38,
 * RTX-102).
 */
static noinline enum rpcrdma_verdict
svc_rdma_decode_group(struct svc_rdma_call *call,
		      const struct rpcrdma2_accept *accept)
{
	const void *head = rpcrdma_msg_head(call->sc_msg);
	u32 room = rpcrdma_msg_head_room(call->sc_msg);
	struct rpcrdma2_transmission first;
	enum rpcrdma_verdict verdict;

	verdict = rpcrdma2_decode_group(head, room, accept, &call->sc_hdr);
	if (!verdict)
		verdict = call->sc_msg->mi_verdict;
	/* Our callbacks are not groups, so their Replies must not be groups either (RTX-37). */
	if (call->sc_hdr.hd_response)
		return RPCRDMA_BAD_MSG;
	if (verdict || !rpcrdma2_peek_rtx(head, room, &first) ||
	    !rpcrdma2_rtx_item(&first, &call->sc_item))
		return verdict;
	rpcrdma_count(server_calls_group);
	call->sc_replies = first.tx_replies;
	call->sc_hdr.hd_proc = RPCRDMA2_MSG;
	return RPCRDMA_OK;
}

static enum rpcrdma_verdict svc_rdma_decode_v2(struct svc_rdma_call *call)
{
	struct rpcrdma2_accept accept;
	enum rpcrdma_verdict verdict;

	svc_rdma_negotiate_accept(call->sc_sx, &accept);
	if (rpcrdma_msg_is_group(call->sc_msg))
		verdict = svc_rdma_decode_group(call, &accept);
	else
		verdict = rpcrdma2_decode_call(rpcrdma_msg_head(call->sc_msg),
					       rpcrdma_msg_head_room(call->sc_msg),
					       &accept, &call->sc_hdr);
	if (call->sc_hdr.hd_inv_stray)
		trace_svc_rdma_stray_handle(call->sc_sx, call->sc_hdr.hd_xid,
					    call->sc_hdr.hd_inv_stray);
	return verdict;
}

static enum rpcrdma_verdict svc_rdma_decode(struct svc_rdma_call *call)
{
	struct rpcrdma_hdr *hdr = &call->sc_hdr;
	enum rpcrdma_verdict verdict;
	u32 vers;

	/* Pairs with the release in svc_rdma_negotiate_adopt() */
	vers = smp_load_acquire(&call->sc_sx->sx_vers);
	call->sc_vers = likely(vers) ? vers :
			svc_rdma_negotiate_peek(call->sc_msg);
	if (call->sc_vers == RPCRDMA_VERS_2)
		verdict = svc_rdma_decode_v2(call);
	else
		verdict = rpcrdma1_decode_call(rpcrdma_msg_head(call->sc_msg),
					       rpcrdma_msg_head_room(call->sc_msg),
					       hdr);
	rpcrdma_msg_set_body(call->sc_msg, hdr->hd_length, hdr->hd_msg_len);
	if (verdict != RPCRDMA_OK)
		return verdict;
	if (unlikely(!vers) &&
	    !svc_rdma_negotiate_settle(call->sc_sx, call->sc_vers))
		return RPCRDMA_BAD_VERS;
	if (rpcrdma_is_connprop(call->sc_vers, hdr))
		return RPCRDMA_OK;

	call->sc_body_len = rpcrdma_msg_body_len(call->sc_msg);
	if (hdr->hd_proc == RPCRDMA1_NOMSG)
		call->sc_body_len = hdr->hd_lists.ls_call.ck_length;
	else if (hdr->hd_rpc_type != RPCRDMA_RPC_CALL)
		return RPCRDMA_BAD_MSG;
	return rpcrdma_lists_check_call(&hdr->hd_lists, &call->sc_item,
					call->sc_body_len,
					call->sc_sx->sx_max_mesg,
					&call->sc_stream_len);
}

/* Fault injection: a test may ask for a Call of version 2 to be answered with an error
 * (version-two 5.3.3). Returns the verdict that leads to this error, or RPCRDMA_OK if no error is
 * wanted.
 */
static enum rpcrdma_verdict svc_rdma_fail(const struct svc_rdma_call *call)
{
	if (!rpcrdma_vers_has_codes(call->sc_vers) ||
	    !rpcrdma_fails(server_fail))
		return RPCRDMA_OK;
	switch (rpcrdma_fail_limit(server_fail_code, RPCRDMA2_ERR_SYSTEM)) {
	case RPCRDMA2_ERR_BAD_XDR:
		return RPCRDMA_BAD_FORM;
	case RPCRDMA2_ERR_INVAL_HTYPE:
		return RPCRDMA_BAD_PROC;
	case RPCRDMA2_ERR_WRITE_CHUNKS:
		return RPCRDMA_MANY_WRITES;
	default:
		return RPCRDMA_BAD_COUNT;
	}
}

/* Does a Call need RDMA Reads? An item (rtx.h) has arrived with the message. */
static bool svc_rdma_needs_reads(const struct svc_rdma_call *call)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	u32 i;

	if (call->sc_hdr.hd_proc == RPCRDMA1_NOMSG)
		return true;
	for (i = 0; i < lists->ls_nreads; i++)
		if (lists->ls_read[i].ck_length)
			return true;
	return false;
}

static void svc_rdma_pull(struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	int rc;

	rc = svc_rdma_read_start(call);
	if (!rc)
		return;
	if (rc == -EMSGSIZE) {
		svc_rdma_refuse(call, RPCRDMA_BAD_COUNT);
	} else {
		trace_svc_rdma_read_post_err(sx, rc);
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	}
	svc_rdma_call_free(call);
}

/* Build a Call that needs no RDMA Read. */
static int svc_rdma_build(struct svc_rdma_call *call, struct xdr_buf *arg)
{
	if (likely(!call->sc_item.im_length)) {
		rpcrdma_count(server_calls_inline);
		if (likely(call->sc_body_len <= PAGE_SIZE &&
			   rpcrdma_msg_is_flat(call->sc_msg))) {
			arg->head[0].iov_base = rpcrdma_msg_body(call->sc_msg);
			arg->head[0].iov_len = call->sc_body_len;
			arg->page_len = 0;
			return 0;
		}
	}
	return svc_rdma_read_received(call, arg);
}

/* Returns the Call if the message is one that can be executed at once. Otherwise returns NULL: the
 * message was handled, or the RDMA Reads of the Call have been started, or it waits until they may
 * begin.
 */
static struct svc_rdma_call *svc_rdma_take_message(struct svc_rdma_xprt *sx,
						   struct rpcrdma_msg_in *msg,
						   struct xdr_buf *arg)
{
	enum rpcrdma_verdict verdict;
	struct svc_rdma_call *call;
	int rc;

	call = svc_rdma_call_create(sx, msg);
	if (!call) {
		svc_rdma_msg_put(sx, msg);
		rpcrdma_conn_fail(&sx->sx_conn, -ENOMEM);
		return NULL;
	}

	verdict = svc_rdma_decode(call) ?: svc_rdma_fail(call);
	if (unlikely(verdict != RPCRDMA_OK)) {
		svc_rdma_dispose(call, verdict);
		goto out_free;
	}

	trace_svc_rdma_call(sx, call->sc_hdr.hd_xid, rpcrdma_msg_len(msg),
			    verdict);
	if (unlikely(rpcrdma_is_connprop(call->sc_vers, &call->sc_hdr))) {
		svc_rdma_negotiate_connprop(call);
		goto out_free;
	}
	svc_rdma_credits_use(call);
	if (svc_rdma_needs_reads(call)) {
		if (call->sc_hdr.hd_proc == RPCRDMA1_NOMSG)
			rpcrdma_count(server_calls_long);
		else
			rpcrdma_count(server_calls_read_chunk);
		if (svc_rdma_pull_begin(call))
			svc_rdma_pull(call);
		return NULL;
	}
	rc = svc_rdma_build(call, arg);
	if (likely(!rc))
		return call;
	rpcrdma_conn_fail(&sx->sx_conn, rc);
out_free:
	svc_rdma_call_free(call);
	return NULL;
}

static struct svc_rdma_call *svc_rdma_take_call(struct svc_rdma_call *call,
						struct xdr_buf *arg)
{
	if (!call->sc_pages) {
		svc_rdma_pull(call);
		return NULL;
	}
	if (likely(svc_rdma_read_assemble(call, arg)))
		return call;
	svc_rdma_refuse(call, RPCRDMA_BAD_XID);
	svc_rdma_call_free(call);
	return NULL;
}

/**
 * svc_rdma_recvfrom - xpo_recvfrom: get a Call to execute
 * @rqstp: thread
 *
 * Context: process; sleeps.
 * Return: number of bytes of the Call in rq_arg; 0 if there is no Call to execute.
 */
int svc_rdma_recvfrom(struct svc_rqst *rqstp)
{
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt);
	struct svc_rdma_call *call;
	struct rpcrdma_msg_in *msg;
	int rc;

	CLASS(svc_rdma_inside, inside)(sx);
	rqstp->rq_xprt_ctxt = NULL;
	rc = svc_rdma_pages_begin(rqstp);
	if (unlikely(rc))
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	if (unlikely(!inside || svc_rdma_is_down(sx))) {
		/* Entries of sx_queue are freed when the connection is closed */
		set_bit(XPT_CLOSE, &xprt->xpt_flags);
		svc_xprt_received(xprt);
		return 0;
	}

	svc_rdma_dequeue(sx, &call, &msg);
	if (msg && !rpcrdma_vers_asks_for_need(READ_ONCE(sx->sx_vers)))
		svc_rdma_credits_see(sx, msg);
	svc_xprt_received(xprt);
	/* Handle the completions of earlier Sends. But if somebody awaits a certain completion,
	 * leave all completions to cq_work (verbs/send_cq.c): the handler of a Reply with RDMA
	 * Writes unmaps and frees pages, which would delay this thread. cq_work may run on another
	 * processor. Until the client is known, cq_work handles each completion at once, and
	 * rpcrdma_send_cq_poll() does nothing.
	 */
	if (likely(svc_rdma_is_known(sx)))
		rpcrdma_send_cq_relax(&sx->sx_conn);
	if (!rpcrdma_send_cq_has_awaited(&sx->sx_conn.cn_send_cq))
		rpcrdma_send_cq_poll(&sx->sx_conn);
	if (unlikely(READ_ONCE(sx->sx_backward.bw_short)))
		svc_rdma_bc_grow(sx);
	if (call)
		call = svc_rdma_take_call(call, &rqstp->rq_arg);
	else if (msg)
		call = svc_rdma_take_message(sx, msg, &rqstp->rq_arg);
	if (!call)
		return 0;

	rqstp->rq_xprt_ctxt = call;
	/* nfsd's duplicate reply cache compares IP protocol numbers. RDMA has none, so use one
	 * that no other transport has.
	 */
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, xprt);
	/* The port of an RDMA connection says nothing about the client, and clients normally do
	 * not use a privileged one. So treat each request as if its port were privileged.
	 */
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	rqstp->rq_arg.len = call->sc_stream_len;
	rqstp->rq_arg.buflen = call->sc_stream_len;
	return call->sc_stream_len;
}

/**
 * svc_rdma_release_ctxt - xpo_release_ctxt: sunrpc is done with a request
 * @xprt: connection
 * @ctxt: struct svc_rdma_call of the request, or NULL
 *
 * Context: process.
 */
void svc_rdma_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	/* If the connection is being closed, its Receives are not posted again (sx_back). */
	CLASS(svc_rdma_inside, inside)(svc_rdma_xprt_of(xprt));
	if (ctxt)
		svc_rdma_call_free(ctxt);
}
