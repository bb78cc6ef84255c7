// SPDX-License-Identifier: GPL-2.0
/*
 * Client: Calls that are sent as a group, and Calls whose Reply may come as a group, by the
 * round-trip extension of version 2. See Documentation/rtx.rst.
 *
 * This file decides whether a Call is a group, takes the credits, Sends and Receives that the
 * group needs, and writes its transmissions. It never posts a Send. The only thing that it
 * knows about a Reply is how many Receives the Reply may take. See rtx.h for the terms: a
 * group is all transmissions (Sends) of one message; base form is version 2 without groups.
 *
 * Operation
 *
 * In base form, the memory of a message that is too long for one Send must be registered,
 * and the server has to access this memory by RDMA. With a group, neither is necessary. But a group
 * takes a credit and a Send for each transmission, and a Reply that is a group takes several
 * Receives. So the plan (core/plan.c) is made with the credits and Receives that are free at the
 * moment. Then this file takes everything that the plan asks for. If something is no longer free,
 * the Call is planned again in base form. No Call waits for further credits, Sends or Receives
 * (RTX-78), so there can be no deadlock. A group is planned only in certain cases: in base form,
 * the Call would have a Read chunk or a Reply chunk, or could not be sent at all, or the server
 * would have to copy its data.
 *
 * Normally the message is copied into the Sends, so the Sends read no memory of the RPC. If the
 * Receives of the server have target segments, the data of a WRITE is sent to these segments,
 * after a pad of zeros, and the server need not copy the data. The server's Receives may be
 * larger than the buffers of our Sends. A Send gets a larger buffer when it is first used in
 * such a group, and keeps the buffer. If there is no memory for the buffer, the Call has base form.
 * pages.c describes how the client, too, can avoid copying data that goes to target segments.
 */
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/group.h>
#include <rpcrdma/param.h>
#include <rpcrdma/rtx.h>

#include "trace.h"
#include "xprt_rdma.h"

static unsigned int xprt_rdma_rtx_long_max = 262144;
rpcrdma_param_range(rdma_rtx_long_max, xprt_rdma_rtx_long_max, 0,
		    XPRT_RDMA_RTX_MAX);
MODULE_PARM_DESC(rdma_rtx_long_max,
		 "Client: bytes of the largest Call without separate data that is sent in several Sends");

/* Fills in the limits for a group, such as the credits and spare Receives that are free now.
 * Spare Receives (xr_spare) are created when a Call first needs some. Before that, xr_spare_max of
 * them count as free.
 */
static void xprt_rdma_group_bounds(struct xprt_rdma *xr,
				   const struct xprt_rdma_req *req,
				   struct rpcrdma_plan_rtx *rtx)
{
	xprt_rdma_credit_see_extra(xr, rtx);
	rtx->px_peer = xr->xr_conn.cn_rtx;
	if (!xr->xr_spare)
		rtx->px_spare = xr->xr_spare_max;
	if (unlikely(READ_ONCE(xr->xr_no_reply_groups)))
		rtx->px_spare = 0;
	rtx->px_long_max = READ_ONCE(xprt_rdma_rtx_long_max);
	rtx->px_write_max = READ_ONCE(xr->xr_write_max);
	rtx->px_send = xprt_rdma_placing_send(xr);
	rtx->px_gather = xprt_rdma_pages_segs(xr, &req->rr_slot.rq_snd_buf);
}

/* Takes the credits, Receives and Sends that the plan asks for, beyond the first of each, which
 * the Call already has. If some of them are not available, if too few send queue entries are
 * free, or if a Send cannot get the buffer that it needs, takes none and returns false (I38).
 */
static bool xprt_rdma_group_take(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req,
				 struct xprt_rdma_send *send)
{
	const struct rpcrdma_plan *plan = &req->rr_plan;
	struct xprt_rdma_extra extra = {
		.ex_credits	= plan->pl_count - 1,
		.ex_recvs	= plan->pl_replies - 1,
	};

	if (!xprt_rdma_send_fits(xr, plan))
		return false;
	if (extra.ex_recvs)
		xprt_rdma_recv_make_spare(xr);
	if (!xprt_rdma_credit_take_extra(xr, req, &extra))
		return false;
	if (xprt_rdma_send_grow(send, plan) &&
	    xprt_rdma_send_get_more(send, plan))
		return true;
	xprt_rdma_send_put_more(send);
	xprt_rdma_credit_drop_extra(xr, req);
	return false;
}

/**
 * xprt_rdma_group_plan - choose the forms of a Call and its Reply, including groups
 * @xr: transport with a live connection, send lock held
 * @req: the Call, which may be a group; it has its first credit
 * @send: Send that will carry the Call, or the first transmission of its group
 *
 * If the plan is a group, the Call has all its credits and Receives on return, and the other
 * Sends of the group are linked to @send.
 *
 * Context: process; may sleep.
 * Return: the same as xprt_rdma_marshal_plan().
 */
int xprt_rdma_group_plan(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			 struct xprt_rdma_send *send)
{
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;
	const struct rpcrdma_plan *plan = &req->rr_plan;
	struct rpcrdma_plan_rtx rtx;
	int rc;

	/* If the server has target segments (rtx.h), and the Call has an item that is long enough
	 * to be worth placing in them, the server need not copy the item. So such a Call is planned
	 * with groups from the start, even if it fits inline (RTX-94). Any other Call is first
	 * planned without groups. It is planned again if that has failed with -EMSGSIZE, or if a
	 * group may be better than that plan. Most Calls are inline, and are planned once.
	 */
	if (!xr->xr_conn.cn_rtx.xp_nsegs || !(snd->flags & XDRBUF_WRITE) ||
	    snd->page_len < RPCRDMA_PLAN_PLACED) {
		rc = xprt_rdma_marshal_plan(xr, req, send, NULL);
		if (rc && rc != -EMSGSIZE)
			return rc;
		if (!rc && plan->pl_call == RPCRDMA_CALL_INLINE &&
		    plan->pl_reply != RPCRDMA_REPLY_LONG)
			return 0;
	}
	xprt_rdma_group_bounds(xr, req, &rtx);
	rc = xprt_rdma_marshal_plan(xr, req, send, &rtx);
	if (rc)
		return rc;
	if (plan->pl_call == RPCRDMA_CALL_GROUP &&
	    !xprt_rdma_group_take(xr, req, send)) {
		rc = xprt_rdma_marshal_plan(xr, req, send, NULL);
		req->rr_plan.pl_short = true;
	}
	if (plan->pl_short)
		rpcrdma_count(client_groups_short);
	return rc;
}

/**
 * struct xprt_rdma_group_out - a group that is being written (rtx.h explains the terms)
 * @gu_call: content of the header of the first transmission
 * @gu_plan: plan of the Call. If pl_gathered is not 0, Sends gather the item from the pages of the
 *	RPC, so it is not copied
 * @gu_snd: the RPC message
 * @gu_item: the item that is placed; its im_length is 0 if no item is placed
 * @gu_skip: length in bytes of the part of @gu_snd that is not in the stream: the placed item
 *	with its roundup (RTX-53)
 * @gu_layout: how the message is divided, and how much of it has been written
 */
struct xprt_rdma_group_out {
	struct rpcrdma_call_out		gu_call;
	const struct rpcrdma_plan	*gu_plan;
	const struct xdr_buf		*gu_snd;
	struct rpcrdma2_item		gu_item;
	u32				gu_skip;
	struct rpcrdma_layout		gu_layout;
};

/* Copies @len bytes of the payload stream, from offset @offset on. The stream is the message
 * without the placed item and its roundup.
 */
static int xprt_rdma_group_stream(const struct xprt_rdma_group_out *gu,
				  u32 offset, u8 *to, u32 len)
{
	u32 at = gu->gu_item.im_position, before;

	before = min(len, at - min(at, offset));
	return read_bytes_from_xdr_buf(gu->gu_snd, offset, to, before) ?:
	       read_bytes_from_xdr_buf(gu->gu_snd,
				       offset + before + gu->gu_skip,
				       to + before, len - before);
}

/* Writes the next transmission (one Send of a group): header, part of the payload stream, zeros up
 * to the data, and data, which is a part of the item. The zeros overwrite what an earlier message
 * has left in the buffer (RTX-57). Either maps the pages with the data for the Send, or copies the
 * data to the Send's buffer. Returns the number of bytes of the transmission that are in the
 * buffer, or a negative errno.
 */
static int xprt_rdma_group_fill(struct xprt_rdma_group_out *gu,
				struct xprt_rdma_send *send)
{
	const struct rpcrdma_buf *buf = &send->sn_send.sd_buf;
	const struct rpcrdma_plan *plan = gu->gu_plan;
	u32 placed = gu->gu_layout.ly_placed;
	struct rpcrdma_outgoing out;
	struct rpcrdma2_transmission *tx = &out.og_tx;
	int len;

	if (!rpcrdma_layout_next(&gu->gu_layout, &out))
		return -EMSGSIZE;
	tx->tx_xid = gu->gu_call.ko_xid;
	tx->tx_credit = gu->gu_call.ko_credit;
	tx->tx_count = plan->pl_count;
	tx->tx_stream = gu->gu_layout.ly_stream;
	tx->tx_replies = plan->pl_replies;
	tx->tx_nitems = !!plan->pl_placed;
	if (tx->tx_number)
		len = rpcrdma2_encode_rtx_next(buf->bf_data, buf->bf_size, tx);
	else
		len = rpcrdma2_encode_rtx_call(buf->bf_data, buf->bf_size, tx,
					       &gu->gu_item, &gu->gu_call);
	if (len < 0)
		return len;
	if (len + tx->tx_here > buf->bf_size ||
	    out.og_len - (plan->pl_gathered ? out.og_part : 0) > buf->bf_size)
		return -EMSGSIZE;
	if (xprt_rdma_group_stream(gu, tx->tx_offset, buf->bf_data + len, tx->tx_here))
		return -EIO;
	len += tx->tx_here;
	if (!out.og_part)
		return len;
	memset(buf->bf_data + len, 0, tx->tx_data - len);
	len = tx->tx_data;
	if (plan->pl_gathered)
		return xprt_rdma_pages_map(send, gu->gu_snd, placed,
					   out.og_part) ?: len;
	if (read_bytes_from_xdr_buf(gu->gu_snd, gu->gu_item.im_position + placed,
				    buf->bf_data + len, out.og_part))
		return -EIO;
	return len + out.og_part;
}

/**
 * xprt_rdma_group_write - write a Call that is a group
 * @xr: transport, send lock held
 * @req: the Call, with its regions
 * @first: first Send of its group
 *
 * After success, rpcrdma_send_prepare() has been called for all Sends of the group except the
 * first, for which xprt_rdma_send_post() calls it.
 *
 * Context: process.
 * Return: number of bytes in the buffer of the first Send; %-EMSGSIZE if the Call does not fit
 *	its plan; %-ENOBUFS if pages cannot be mapped; %-EIO if a Send has too few SGEs for the
 *	pages, or the Call has fewer bytes than its length says; %-EINVAL if a header is not
 *	valid.
 */
int xprt_rdma_group_write(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			  struct xprt_rdma_send *first)
{
	const struct xdr_buf *snd = &req->rr_slot.rq_snd_buf;
	const struct rpcrdma_plan *plan = &req->rr_plan;
	struct xprt_rdma_group_out gu;
	struct xprt_rdma_send *send;
	int rc, len;

	xprt_rdma_marshal_call(xr, req, &gu.gu_call);
	gu.gu_plan = plan;
	gu.gu_snd = snd;
	gu.gu_item.im_position = snd->head[0].iov_len;
	gu.gu_item.im_length = plan->pl_placed;
	gu.gu_skip = xdr_align_size(plan->pl_placed);
	/* This is the same layout as in the plan, with the planned length of the first header
	 * (pl_hdr_max). If the header turns out to be shorter, a few bytes of the first Send stay
	 * unused.
	 */
	gu.gu_layout = (struct rpcrdma_layout) {
		.ly_hdr		= plan->pl_hdr_max,
		.ly_limit	= plan->pl_limit,
		.ly_stream	= snd->len - gu.gu_skip,
	};
	if (!rpcrdma_layout_place(&gu.gu_layout, &xr->xr_conn.cn_rtx,
				  plan->pl_gathered ?: U32_MAX, plan->pl_placed) ||
	    rpcrdma_layout_count(&gu.gu_layout, plan->pl_count) != plan->pl_count)
		return -EMSGSIZE;
	len = xprt_rdma_group_fill(&gu, first);
	if (len < 0)
		return len;
	list_for_each_entry(send, &first->sn_send.sd_more, sn_send.sd_list) {
		rc = xprt_rdma_group_fill(&gu, send);
		if (rc < 0)
			return rc;
		rpcrdma_send_prepare(&send->sn_send, rc);
	}
	if (plan->pl_gathered)
		container_of(rpcrdma_send_last(&first->sn_send),
			     struct xprt_rdma_send, sn_send)->sn_gathers = req;
	else
		xr->xr_stats.cs_pullup += snd->page_len;
	return len;
}
