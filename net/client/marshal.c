// SPDX-License-Identifier: GPL-2.0
/*
 * Client: builds a message from an rpc_rqst. Each step is a function that request.c calls,
 * directly or through group.c. After an error of the server, reply.c calls
 * xprt_rdma_marshal_retry(). The plan (core/plan.c) and the encoder (net/wire) use no pages,
 * regions or verbs, so they can be tested without a device.
 *
 * This file decides on the form of a Call: its plan, the chunks that it offers to the server,
 * and the changes that earlier errors require. It never posts anything, and never takes or returns
 * a Send.
 *
 * Without groups (see group.c), a Call is normally inline if it fits. If it does not fit, its page
 * list goes to a Read chunk, provided that the upper layer has marked the page list as an eligible
 * item, that the rest of the Call then fits, and that the security flavor does not sign or encrypt
 * the item. Otherwise the whole Call goes to a Position Zero chunk. The Reply has three
 * corresponding forms: inline, with a Write chunk, or in a Reply chunk. The choice among these
 * depends on the size of the largest Reply that the upper layer expects. Foreign pages (plan.h)
 * and earlier errors of the server change these choices: core/plan.c has the exact rules.
 */
#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/fail.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Allocates missing pages of a Reply buffer. Some upper layers leave that to the transport
 * (XDRBUF_SPARSE_PAGES). The pages must exist before they are registered.
 */
static int xprt_rdma_marshal_fill_pages(struct xdr_buf *buf)
{
	struct page **page = buf->pages + (buf->page_base >> PAGE_SHIFT);
	int left = offset_in_page(buf->page_base) + buf->page_len;

	if (!(buf->flags & XDRBUF_SPARSE_PAGES))
		return 0;
	for (; left > 0; left -= PAGE_SIZE, page++) {
		if (!*page)
			*page = alloc_page(XPRT_RDMA_GFP);
		if (!*page)
			return -ENOBUFS;
	}
	return 0;
}

/* Returns the number of bytes that a Write chunk has for roundup; 0 in version 2, in which the
 * client provides no room for it (G-03).
 */
static u32 xprt_rdma_marshal_pad(const struct xprt_rdma *xr,
				 const struct xdr_buf *rcv)
{
	return rpcrdma_vers_wants_pad(xr->xr_vers) ?
	       xdr_pad_size(rcv->page_len) : 0;
}

/* Returns the length of the largest Reply: that of the upper layer's buffer, or a lower limit that
 * a test has set. The test's limit is not used after an error that requires a Reply chunk.
 */
static u32 xprt_rdma_marshal_reply_max(const struct xprt_rdma_req *req)
{
	u32 len = req->rr_slot.rq_rcv_buf.buflen;

	if (!req->rr_retry.ry_reply_chunk)
		len = rpcrdma_fail_limit(client_shrink_reply, len);
	return len;
}

static void xprt_rdma_marshal_args(struct xprt_rdma *xr, struct rpc_rqst *rqst,
				   struct rpcrdma_plan_args *args)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	const struct xdr_buf *rcv = &rqst->rq_rcv_buf;
	const struct rpc_auth *auth = rqst->rq_cred->cr_auth;

	memset(args, 0, sizeof(*args));
	args->pa_call_len = snd->len;
	args->pa_reply_max = xprt_rdma_marshal_reply_max(req);
	/* Data items may not be moved out of the message if the security flavor signs or encrypts
	 * the data. krb5 does neither; auth_gss leaves most bits of its au_flags uninitialised.
	 */
	args->pa_reduce = auth->au_flavor == RPC_AUTH_GSS_KRB5 ||
			  !test_bit(RPCAUTH_AUTH_DATATOUCH, &auth->au_flags);
	if (snd->flags & XDRBUF_WRITE) {
		args->pa_call_data = snd->page_len;
		args->pa_call_item = xdr_align_size(snd->page_len);
	}
	if (rcv->flags & XDRBUF_READ)
		args->pa_reply_item = xdr_align_size(rcv->page_len);

	args->pa_call_segs = xprt_rdma_frwr_count(xr, snd,
						  &args->pa_call_item_segs);
	args->pa_reply_segs = xprt_rdma_frwr_count(xr, rcv,
						   &args->pa_reply_item_segs);
	args->pa_reply_item_segs += !!xprt_rdma_marshal_pad(xr, rcv);
	args->pa_no_long = READ_ONCE(xr->xr_no_long);
	args->pa_no_read = req->rr_retry.ry_no_read;
	args->pa_reply_chunk = req->rr_retry.ry_reply_chunk;
}

/* If the plan lets the CPU access the pages of an item, this looks for foreign pages (plan.h), and
 * sets pa_call_foreign and pa_reply_foreign in @args. Returns true if there are any. The Call must
 * then be planned again.
 */
static bool xprt_rdma_marshal_is_foreign(const struct xprt_rdma_req *req,
					 struct rpcrdma_plan_args *args)
{
	const struct rpc_rqst *rqst = &req->rr_slot;

	if (!(args->pa_call_item && rpcrdma_plan_touches_call(&req->rr_plan)) &&
	    !(args->pa_reply_item && rpcrdma_plan_touches_reply(&req->rr_plan)))
		return false;
	args->pa_call_foreign = args->pa_call_item &&
		(req->rr_foreign ||
		 xprt_rdma_frwr_is_foreign(&rqst->rq_snd_buf));
	args->pa_reply_foreign = args->pa_reply_item &&
		(req->rr_foreign ||
		 xprt_rdma_frwr_is_foreign(&rqst->rq_rcv_buf));
	return args->pa_call_foreign || args->pa_reply_foreign;
}

/**
 * xprt_rdma_marshal_plan - choose the forms of a Call and its Reply
 * @xr: transport with a live connection, send lock held
 * @req: the Call
 * @send: Send that will carry the Call
 * @rtx: limits for groups (rtx.h); NULL if neither Call nor Reply may be a group
 *
 * This discards the chunks of an earlier attempt to send the Call.
 *
 * Context: process; may sleep.
 * Return: 0, and rr_plan is valid; %-EMSGSIZE if the Call or its largest Reply fits no form;
 *	%-ENOBUFS if no pages for the Reply are available; %-EIO if an item is in foreign pages,
 *	and cannot have a chunk of its own.
 */
int xprt_rdma_marshal_plan(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			   const struct xprt_rdma_send *send,
			   const struct rpcrdma_plan_rtx *rtx)
{
	struct rpcrdma_limits limits = xr->xr_conn.cn_limits;
	struct rpcrdma_plan_args args;
	int rc;

	/* The buffer of the Send may be shorter than lm_inline_send: there was no memory
	 * for a longer one, or xprt_rdma_negotiate_apply() has raised the limit since the
	 * Send was taken.
	 */
	limits.lm_inline_send = min(limits.lm_inline_send,
				    send->sn_send.sd_buf.bf_size);
	rc = xprt_rdma_marshal_fill_pages(&req->rr_slot.rq_rcv_buf);
	if (rc)
		return rc;

	req->rr_read.of_out.co_nsegs = 0;
	req->rr_write.of_out.co_nsegs = 0;
	xprt_rdma_marshal_args(xr, &req->rr_slot, &args);
	args.pa_rtx = rtx;
	rc = rpcrdma_plan_rpc(&limits, &args, &req->rr_plan);
	if (!rc && unlikely(xprt_rdma_marshal_is_foreign(req, &args)))
		rc = rpcrdma_plan_rpc(&limits, &args, &req->rr_plan);
	return unlikely(rc == -EIO) ? xprt_rdma_foreign_error() : rc;
}

static int xprt_rdma_marshal_map_call(struct xprt_rdma *xr,
				      struct xprt_rdma_req *req)
{
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;

	switch (req->rr_plan.pl_call) {
	case RPCRDMA_CALL_INLINE:
		rpcrdma_count(client_calls_inline);
		return 0;
	case RPCRDMA_CALL_GROUP:
		rpcrdma_count(client_calls_group);
		rpcrdma_count_add(client_group_sends, req->rr_plan.pl_count);
		if (req->rr_plan.pl_placed)
			rpcrdma_count(client_calls_placed);
		if (req->rr_plan.pl_gathered)
			rpcrdma_count(client_calls_gathered);
		return 0;
	case RPCRDMA_CALL_READ:
		rpcrdma_count(client_calls_read_chunk);
		xr->xr_stats.cs_read_chunks++;
		xr->xr_stats.cs_bytes_out += snd->page_len;
		req->rr_read.of_out.co_position = snd->head[0].iov_len;
		return xprt_rdma_frwr_map(xr, req, snd, false, &req->rr_read);
	case RPCRDMA_CALL_LONG:
		rpcrdma_count(client_calls_long);
		xr->xr_stats.cs_read_chunks++;
		xr->xr_stats.cs_nomsg_calls++;
		req->rr_read.of_out.co_position = 0;
		return xprt_rdma_frwr_map(xr, req, snd, true, &req->rr_read);
	}
	return -EIO;
}

static int xprt_rdma_marshal_map_reply(struct xprt_rdma *xr,
				       struct xprt_rdma_req *req)
{
	struct xdr_buf rcv = req->rr_slot.rq_rcv_buf;
	u32 len;
	int rc;

	switch (req->rr_plan.pl_reply) {
	case RPCRDMA_REPLY_INLINE:
		rpcrdma_count(client_replies_inline);
		return 0;
	case RPCRDMA_REPLY_GROUP:
		rpcrdma_count(client_replies_group);
		return 0;
	case RPCRDMA_REPLY_WRITE:
		rpcrdma_count(client_replies_write_chunk);
		xr->xr_stats.cs_write_chunks++;
		rc = xprt_rdma_frwr_map(xr, req, &rcv, false, &req->rr_write);
		rcv.head[0].iov_len = xprt_rdma_marshal_pad(xr, &rcv);
		if (rc || !rcv.head[0].iov_len)
			return rc;
		/* Some servers write the roundup, or require room for it (G-03). The roundup goes
		 * to memory that nobody reads. RPCs do not share a region for the roundup, so the
		 * server may invalidate any handle of a Call (G-38). They do not share the memory
		 * either, because a cache line must not be in two DMA mappings at the same time.
		 */
		rcv.head[0].iov_base = req->rr_pad;
		rcv.page_len = 0;
		rcv.tail[0].iov_len = 0;
		return xprt_rdma_frwr_map(xr, req, &rcv, true, &req->rr_write);
	case RPCRDMA_REPLY_LONG:
		rpcrdma_count(client_replies_long);
		xr->xr_stats.cs_reply_chunks++;
		/* A test may have set a limit that is lower than the length of the buffer. */
		len = xprt_rdma_marshal_reply_max(req);
		rcv.head[0].iov_len = min_t(size_t, rcv.head[0].iov_len, len);
		len -= rcv.head[0].iov_len;
		rcv.page_len = min(rcv.page_len, len);
		len -= rcv.page_len;
		rcv.tail[0].iov_len = min_t(size_t, rcv.tail[0].iov_len, len);
		return xprt_rdma_frwr_map(xr, req, &rcv, true, &req->rr_write);
	}
	return -EIO;
}

/**
 * xprt_rdma_marshal_register - give a Call the regions that its plan needs
 * @xr: transport, send lock held
 * @req: the Call, after xprt_rdma_marshal_plan()
 *
 * Context: process; may sleep.
 * Return: 0, and the chunks of the Call (rr_read, rr_write) are valid; %-ENOBUFS if no region or
 *	DMA mapping is available; %-EMSGSIZE if a chunk takes too many regions; or %-EIO if
 *	something else has failed. After an error the caller calls
 *	xprt_rdma_frwr_unmap_unposted().
 */
int xprt_rdma_marshal_register(struct xprt_rdma *xr, struct xprt_rdma_req *req)
{
	bool foreign = req->rr_foreign;
	int rc;

	req->rr_foreign = false;
	rc = xprt_rdma_marshal_map_call(xr, req) ?:
	     xprt_rdma_marshal_map_reply(xr, req);
	/* Another module has mapped pages of this RPC in an earlier attempt (foreign.c), but not in
	 * this one. If nothing else has failed, the module has unregistered its functions. The RPC
	 * must then fail, because the pages themselves do not contain the data.
	 */
	if (unlikely(foreign && !req->rr_foreign)) {
		req->rr_foreign = true;
		rc = rc ?: xprt_rdma_foreign_error();
	}
	return rc;
}

/**
 * xprt_rdma_marshal_call - fill in the contents of the transport header
 * @xr: transport, send lock held
 * @req: the Call, with its regions
 * @call: OUT: the header; it points to the chunks in @req
 *
 * Context: any.
 */
void xprt_rdma_marshal_call(const struct xprt_rdma *xr,
			    const struct xprt_rdma_req *req,
			    struct rpcrdma_call_out *call)
{
	const struct rpcrdma_plan *plan = &req->rr_plan;

	*call = (struct rpcrdma_call_out) {
		.ko_xid		= be32_to_cpu(req->rr_slot.rq_xid),
		.ko_credit	= xprt_rdma_credit_wanted(xr),
		.ko_proc	= RPCRDMA1_MSG,
		.ko_read	= &req->rr_read.of_out,
		.ko_write	= &req->rr_write.of_out,
	};

	if (plan->pl_call == RPCRDMA_CALL_LONG)
		call->ko_proc = RPCRDMA1_NOMSG;
	if (plan->pl_call == RPCRDMA_CALL_LONG ||
	    plan->pl_call == RPCRDMA_CALL_READ)
		call->ko_nreads = 1;
	if (plan->pl_reply == RPCRDMA_REPLY_WRITE)
		call->ko_nwrites = 1;
	if (plan->pl_reply == RPCRDMA_REPLY_LONG)
		call->ko_reply = &req->rr_write.of_out;
	/* If the server invalidates one of several regions, it does not matter which: the client
	 * invalidates the others.
	 */
	if (!rpcrdma_vers_names_handle(xr->xr_vers) ||
	    !xr->xr_conn.cn_limits.lm_remote_inv)
		return;
	if (req->rr_write.of_out.co_nsegs)
		call->ko_inv_handle = req->rr_write.of_segs[0].rs_handle;
	else if (req->rr_read.of_out.co_nsegs)
		call->ko_inv_handle = req->rr_read.of_segs[0].rs_handle;
}

/**
 * xprt_rdma_marshal_write - write a Call that is not a group: the transport header, and after it
 *	the inline part of the Call
 * @xr: transport, send lock held
 * @req: the Call, with its regions
 * @send: Send to write to
 *
 * sunrpc puts the roundup of the page list at the start of the tail. If the page list is
 * in a Read chunk, its roundup is left out of the inline message, too (RFC 8166
 * 3.4.5.2).
 *
 * Context: any.
 * Return: number of bytes in the Send; %-EMSGSIZE if they do not fit the Send; %-EINVAL if such a
 *	header must never be sent; or %-EIO if the Call has fewer bytes than its length says.
 */
int xprt_rdma_marshal_write(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			    struct xprt_rdma_send *send)
{
	const struct rpcrdma_buf *buf = &send->sn_send.sd_buf;
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;
	u32 skip = xdr_align_size(snd->page_len);
	u32 head = snd->head[0].iov_len;
	struct rpcrdma_call_out call;
	u32 len = snd->len;
	int hdr_len;
	u8 *to;

	xprt_rdma_marshal_call(xr, req, &call);
	hdr_len = rpcrdma_encode_call(xr->xr_vers, buf->bf_data, buf->bf_size,
				      &call);
	if (hdr_len < 0)
		return hdr_len;
	if (req->rr_plan.pl_call == RPCRDMA_CALL_LONG)
		return hdr_len;
	if (req->rr_plan.pl_call == RPCRDMA_CALL_READ)
		len -= skip;
	if (hdr_len + len > buf->bf_size)
		return -EMSGSIZE;

	to = buf->bf_data + hdr_len;
	if (req->rr_plan.pl_call == RPCRDMA_CALL_INLINE) {
		if (read_bytes_from_xdr_buf(snd, 0, to, len))
			return -EIO;
		xr->xr_stats.cs_pullup += snd->page_len;
		return hdr_len + len;
	}

	if (read_bytes_from_xdr_buf(snd, 0, to, head) ||
	    read_bytes_from_xdr_buf(snd, head + skip, to + head, len - head))
		return -EIO;
	return hdr_len + len;
}

/* Called after the server has answered REPLY_RESOURCE, because a Reply of @needed bytes was too
 * long to be sent inline. If the Reply would have fitted our Receive, the server has a lower
 * limit of its own, which it need not announce (version-two 5.3.4). In that case this function
 * lowers lm_inline_recv, so that later RPCs on this connection offer a chunk, or several Receives
 * (rtx.h), for a Reply of this size. Otherwise each of these RPCs would be sent twice. An NFSv4.1
 * server that has not cached the Reply would even refuse the second Call, and the upper layer would
 * begin a new RPC, with the same result. lm_inline_recv is not lowered below %RPCRDMA_INLINE_MIN.
 * The size of our Receives does not change.
 */
static void xprt_rdma_marshal_learn(struct xprt_rdma *xr, u32 needed)
{
	struct rpcrdma_limits *limits = &xr->xr_conn.cn_limits;
	u32 before = limits->lm_inline_recv;

	if (needed > before - RPCRDMA2_HDR_MIN)
		return;
	WRITE_ONCE(limits->lm_inline_recv,
		   clamp(needed + RPCRDMA2_HDR_MIN - 1,
			 min(before, RPCRDMA_INLINE_MIN), before));
}

/**
 * xprt_rdma_marshal_retry - decide whether a Call is sent again in another form
 * @xr: transport
 * @req: RPC whose Call the server has answered with an error; pinned
 * @hdr: header of the error
 *
 * Context: completion workqueue.
 * Return: true if another form may succeed. The next call of xprt_rdma_marshal_plan() for
 *	this RPC then takes the error into account.
 */
bool xprt_rdma_marshal_retry(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma_plan *plan = &req->rr_plan;
	bool group = plan->pl_call == RPCRDMA_CALL_GROUP;
	u32 err = hdr->hd_err, had = 0, i;

	if (plan->pl_reply == RPCRDMA_REPLY_LONG)
		for (i = 0; i < req->rr_write.of_out.co_nsegs; i++)
			had += req->rr_write.of_segs[i].rs_length;
	/* If the server has refused the header type of this Call, do not send the type
	 * again on this connection (G-23, RTX-88). This applies only to the types of groups
	 * (rtx.h) and to RDMA2_NOMSG, because the client cannot do without the other types.
	 * The error RTX_CONT ends the use of groups, too.
	 */
	if (group && (err == RPCRDMA2_ERR_INVAL_HTYPE ||
		      err == RPCRDMA2_ERR_RTX_CONT))
		WRITE_ONCE(xr->xr_no_rtx, true);
	if (err == RPCRDMA2_ERR_INVAL_HTYPE &&
	    plan->pl_call == RPCRDMA_CALL_LONG)
		WRITE_ONCE(xr->xr_no_long, true);
	if (!rpcrdma_plan_retry(&req->rr_retry, hdr, plan, had,
				req->rr_slot.rq_rcv_buf.buflen))
		return false;
	if (err == RPCRDMA2_ERR_REPLY_RESOURCE &&
	    plan->pl_reply == RPCRDMA_REPLY_INLINE)
		xprt_rdma_marshal_learn(xr, hdr->hd_err_arg[0]);
	if (err == RPCRDMA2_ERR_REPLY_RESOURCE &&
	    plan->pl_reply == RPCRDMA_REPLY_GROUP)
		WRITE_ONCE(xr->xr_no_reply_groups, true);
	return true;
}
