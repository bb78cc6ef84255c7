// SPDX-License-Identifier: GPL-2.0
/*
 * Client, stage 2: from an rpc_rqst to a message. Plan, register, encode,
 * gather, in this order: the plan and the encoder are pure, so what a Call
 * looks like on the wire is decided without hardware.
 *
 * A Call is inline if it fits. Else, if the upper layer has marked its page
 * list as an eligible item, the item goes to a Read chunk; else the whole Call
 * goes to a Position Zero chunk. The same three choices hold for the Reply,
 * judged by the largest one the upper layer expects.
 */
#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/trace_xprt.h>
#include <rpcrdma/xprt_rdma.h>

/* Some upper layers leave the pages for a Reply to be allocated by those
 * transports that need them: registering needs them.
 */
static int xprt_rdma_marshal_fill_pages(struct xdr_buf *buf)
{
	struct page **page = buf->pages + (buf->page_base >> PAGE_SHIFT);
	int left = buf->page_len;

	if (!(buf->flags & XDRBUF_SPARSE_PAGES))
		return 0;
	for (; left > 0; left -= PAGE_SIZE, page++) {
		if (!*page)
			*page = alloc_page(GFP_NOIO | __GFP_NOWARN);
		if (!*page)
			return -ENOBUFS;
	}
	return 0;
}

static void xprt_rdma_marshal_args(struct xprt_rdma *xr, struct rpc_rqst *rqst,
				   struct rpcrdma_plan_args *args)
{
	const struct xdr_buf *snd = &rqst->rq_snd_buf;
	const struct xdr_buf *rcv = &rqst->rq_rcv_buf;

	memset(args, 0, sizeof(*args));
	args->pa_call_len = snd->len;
	args->pa_reply_max = rcv->buflen;
	args->pa_reduce = !test_bit(RPCAUTH_AUTH_DATATOUCH,
				    &rqst->rq_cred->cr_auth->au_flags);
	if (snd->flags & XDRBUF_WRITE)
		args->pa_call_item = xdr_align_size(snd->page_len);
	if (rcv->flags & XDRBUF_READ)
		args->pa_reply_item = xdr_align_size(rcv->page_len);

	args->pa_call_item_segs = xprt_rdma_frwr_count(xr, snd, false);
	args->pa_call_segs = xprt_rdma_frwr_count(xr, snd, true);
	args->pa_reply_item_segs = xprt_rdma_frwr_count(xr, rcv, false) +
				   !!xdr_pad_size(rcv->page_len);
	args->pa_reply_segs = xprt_rdma_frwr_count(xr, rcv, true);
}

static int xprt_rdma_marshal_map_call(struct xprt_rdma *xr,
				      struct xprt_rdma_req *req)
{
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;

	switch (req->rr_plan.pl_call) {
	case RPCRDMA_CALL_INLINE:
		rpcrdma_count(client_calls_inline);
		return 0;
	case RPCRDMA_CALL_READ:
		rpcrdma_count(client_calls_read_chunk);
		xr->xr_stats.st_read_chunks++;
		xr->xr_stats.st_bytes_out += snd->page_len;
		return xprt_rdma_frwr_map_pages(xr, req, snd,
						snd->head[0].iov_len, false,
						&req->rr_read);
	case RPCRDMA_CALL_LONG:
		rpcrdma_count(client_calls_long);
		xr->xr_stats.st_read_chunks++;
		xr->xr_stats.st_nomsg_calls++;
		return xprt_rdma_frwr_map_all(xr, req, snd, false,
					      &req->rr_read);
	}
	return -EIO;
}

static int xprt_rdma_marshal_map_reply(struct xprt_rdma *xr,
				       struct xprt_rdma_req *req)
{
	struct xdr_buf *rcv = &req->rr_slot.rq_rcv_buf;
	u32 pad;
	int rc;

	switch (req->rr_plan.pl_reply) {
	case RPCRDMA_REPLY_INLINE:
		rpcrdma_count(client_replies_inline);
		return 0;
	case RPCRDMA_REPLY_WRITE:
		rpcrdma_count(client_replies_write_chunk);
		xr->xr_stats.st_write_chunks++;
		rc = xprt_rdma_frwr_map_pages(xr, req, rcv, 0, true,
					      &req->rr_write);
		pad = xdr_pad_size(rcv->page_len);
		if (!rc && pad)
			rc = xprt_rdma_frwr_map_pad(xr, req, pad,
						    &req->rr_write);
		return rc;
	case RPCRDMA_REPLY_LONG:
		rpcrdma_count(client_replies_long);
		xr->xr_stats.st_reply_chunks++;
		return xprt_rdma_frwr_map_all(xr, req, rcv, true,
					      &req->rr_write);
	}
	return -EIO;
}

static int xprt_rdma_marshal_encode(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req,
				    struct xprt_rdma_send *send)
{
	const struct rpcrdma_plan *plan = &req->rr_plan;
	struct rpcrdma_call_out call = {
		.ko_xid		= be32_to_cpu(req->rr_slot.rq_xid),
		.ko_credit	= xr->xr_window.wn_requested,
		.ko_proc	= RPCRDMA1_MSG,
		.ko_read	= &req->rr_read.of_out,
		.ko_write	= &req->rr_write.of_out,
	};

	if (plan->pl_call == RPCRDMA_CALL_LONG)
		call.ko_proc = RPCRDMA1_NOMSG;
	if (plan->pl_call != RPCRDMA_CALL_INLINE)
		call.ko_nreads = 1;
	if (plan->pl_reply == RPCRDMA_REPLY_WRITE)
		call.ko_nwrites = 1;
	if (plan->pl_reply == RPCRDMA_REPLY_LONG)
		call.ko_reply = &req->rr_write.of_out;
	return rpcrdma1_encode_call(send->sn_buf.bf_data, send->sn_buf.bf_size,
				    &call);
}

/* Copies what stays inline behind the transport header. When the page list
 * travels in a Read chunk, its roundup, which sunrpc puts at the start of the
 * tail, leaves the stream with it (V1-RDC-08).
 */
static int xprt_rdma_marshal_gather(struct xprt_rdma *xr,
				    struct xprt_rdma_req *req,
				    struct xprt_rdma_send *send, u32 hdr_len)
{
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;
	u32 skip = xdr_align_size(snd->page_len);
	u8 *to = send->sn_buf.bf_data + hdr_len;
	u32 len = snd->len;
	u32 head = snd->head[0].iov_len;

	if (req->rr_plan.pl_call == RPCRDMA_CALL_LONG)
		return hdr_len;
	if (req->rr_plan.pl_call == RPCRDMA_CALL_READ)
		len -= skip;
	if (hdr_len + len > send->sn_buf.bf_size)
		return -EMSGSIZE;

	if (req->rr_plan.pl_call == RPCRDMA_CALL_INLINE) {
		if (read_bytes_from_xdr_buf(snd, 0, to, len))
			return -EIO;
		xr->xr_stats.st_pullup += snd->page_len;
		return hdr_len + len;
	}

	if (read_bytes_from_xdr_buf(snd, 0, to, head) ||
	    read_bytes_from_xdr_buf(snd, head + skip, to + head, len - head))
		return -EIO;
	return hdr_len + len;
}

/**
 * xprt_rdma_marshal - build the message for a Call
 * @xr: transport with a live connection, send lock held
 * @rqst: the Call
 * @send: Send to build it in
 *
 * Context: process; may sleep.
 * Return: bytes to send; %-EMSGSIZE if the Call fits no form; %-ENOBUFS if
 *	something is short for the moment; %-EIO. After an error the caller
 *	calls xprt_rdma_frwr_unmap_unposted().
 */
int xprt_rdma_marshal(struct xprt_rdma *xr, struct rpc_rqst *rqst,
		      struct xprt_rdma_send *send)
{
	struct xprt_rdma_req *req = xprt_rdma_req_from(rqst);
	struct rpcrdma_plan_args args;
	int rc;

	rc = xprt_rdma_marshal_fill_pages(&rqst->rq_rcv_buf);
	if (rc)
		return rc;

	req->rr_read.of_out.co_nsegs = 0;
	req->rr_write.of_out.co_nsegs = 0;
	xprt_rdma_marshal_args(xr, rqst, &args);
	rc = rpcrdma_plan_rpc(&xr->xr_conn.cn_limits, &args, &req->rr_plan);
	if (!rc)
		rc = xprt_rdma_marshal_map_call(xr, req);
	if (!rc)
		rc = xprt_rdma_marshal_map_reply(xr, req);
	if (rc)
		return rc;

	rc = xprt_rdma_marshal_encode(xr, req, send);
	if (rc < 0)
		return rc;
	rc = xprt_rdma_marshal_gather(xr, req, send, rc);
	if (rc >= 0)
		trace_xprt_rdma_marshal(rqst, &req->rr_plan, rc);
	return rc;
}
