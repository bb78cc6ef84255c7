// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, that is, RPC messages in one or several Sends (the round-trip extension of version 2,
 * rtx.h). This file divides a Reply among several Sends, and decides what the server announces of
 * the extension. server/sendto.c decides which Replies are groups. A Call that came as a group is
 * handled like any other Call once it is complete, see verbs/gather.c and server/recvfrom.c.
 *
 * Each Send of a Reply (a transmission) has its own Send context. The first context keeps the
 * others in sd_more until all are posted in one chain (invariant I37). Each context completes
 * separately. The Reply is copied into the buffers of the contexts, like any inline Reply.
 *
 * See Documentation/rtx.rst.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/layout.h>
#include <rpcrdma/param.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"

/* Number of bytes that the Call of an NFS WRITE may have besides its data */
#define SVC_RDMA_GROUP_EXTRA	4096u
#define SVC_RDMA_GROUP_MSG_MAX	(1048576u + SVC_RDMA_GROUP_EXTRA)
#define SVC_RDMA_GROUP_MSG_MIN	1024u

static unsigned int svc_rdma_rtx_call_max = 64;
rpcrdma_param_range(rtx_call_max, svc_rdma_rtx_call_max, 0,
		    RPCRDMA2_RTX_MAX_COUNT);
MODULE_PARM_DESC(rtx_call_max,
		 "Server: most Sends that a Call of version 2 may come in, 0: one");

static unsigned int svc_rdma_rtx_reply_max = 16;
rpcrdma_param_range(rtx_reply_max, svc_rdma_rtx_reply_max, 0,
		    RPCRDMA2_RTX_MAX_COUNT);
MODULE_PARM_DESC(rtx_reply_max,
		 "Server: most Sends of a Reply in version 2, 0: one");

/**
 * svc_rdma_group_announce - choose what to announce of the round-trip extension
 * @sx: connection that is about to announce its properties
 * @rtx: the property RTX. IN: the members that describe Receives. OUT: xp_call_max,
 *	xp_reply_max and xp_msg_max; or all members are zero if this server does not offer the
 *	extension
 *
 * Context: any.
 *
 * See RTX-31, RTX-103 of rtx.rst.
 */
void svc_rdma_group_announce(const struct svc_rdma_xprt *sx,
			     struct rpcrdma2_rtx *rtx)
{
	u32 calls = READ_ONCE(svc_rdma_rtx_call_max);

	if (!calls || sx->sx_max_mesg < SVC_RDMA_GROUP_MSG_MIN) {
		memset(rtx, 0, sizeof(*rtx));
		return;
	}
	rtx->xp_call_max = calls;
	rtx->xp_reply_max = min(READ_ONCE(svc_rdma_rtx_reply_max),
				sx->sx_conn.cn_sq.sq_size / 2);
	rtx->xp_msg_max = min(sx->sx_max_mesg, SVC_RDMA_GROUP_MSG_MAX);
}

/**
 * svc_rdma_group_reply_max - maximum number of Sends that a Reply to a group may take
 * @sx: connection on which this server has announced the round-trip extension
 *
 * A client may send Calls as groups without having announced the extension. Such Calls are
 * executed, because this server has announced that it accepts them (RTX-37). But their
 * Replies must not be groups, because header types of the extension are not sent to a peer
 * that has not announced it (RTX-32).
 *
 * Context: any.
 * Return: number of Sends; 0 if no Reply may be a group.
 */
u32 svc_rdma_group_reply_max(const struct svc_rdma_xprt *sx)
{
	const struct rpcrdma2_rtx *theirs = &sx->sx_conn.cn_rtx;

	if (!memchr_inv(theirs, 0, sizeof(*theirs)))
		return 0;
	return sx->sx_negotiate.ng_rtx.xp_reply_max;
}

/**
 * svc_rdma_group_layout - begin the layout of a Reply as a group
 * @send: first Send of the group
 * @call: Call
 * @body_len: number of bytes of the Reply that are in no Write chunk
 * @layout: OUT: the layout, for rpcrdma_layout_count() and rpcrdma_layout_next()
 *
 * Context: any.
 */
void svc_rdma_group_layout(const struct svc_rdma_send *send,
			   const struct svc_rdma_call *call, u32 body_len,
			   struct rpcrdma_layout *layout)
{
	const struct rpcrdma_limits *limits =
		&svc_rdma_send_sx(send)->sx_conn.cn_limits;

	memset(layout, 0, sizeof(*layout));
	layout->ly_hdr = rpcrdma2_rtx_reply_len(0, &call->sc_hdr.hd_lists);
	layout->ly_limit = min(limits->lm_inline_send,
			       send->ss_send.sd_buf.bf_size);
	layout->ly_stream = body_len;
}

/**
 * svc_rdma_body_copy - copy the next bytes of the inline body of a Reply
 * @body: position in the body. Before the first call, by_pos, by_offset and by_left are 0
 * @to: buffer
 * @len: number of bytes
 *
 * Context: any.
 * Return: 0; %-EIO if fewer than @len bytes are left.
 */
int svc_rdma_body_copy(struct svc_rdma_body *body, void *to, u32 len)
{
	u32 part;

	while (len) {
		if (!body->by_left &&
		    !rpcrdma_payload_gap_next(body->by_payloads,
					      body->by_npayloads,
					      body->by_xdr->len, &body->by_pos,
					      &body->by_offset, &body->by_left))
			return -EIO;
		part = min(len, body->by_left);
		if (read_bytes_from_xdr_buf(body->by_xdr, body->by_offset, to,
					    part))
			return -EIO;
		body->by_offset += part;
		body->by_left -= part;
		to += part;
		len -= part;
	}
	return 0;
}

static int svc_rdma_group_header(struct rpcrdma_send *send,
				 const struct rpcrdma2_transmission *tx,
				 const struct rpcrdma_reply_out *out)
{
	if (!tx->tx_number)
		return rpcrdma2_encode_rtx_reply(send->sd_buf.bf_data,
						 send->sd_buf.bf_size, tx, NULL,
						 out);
	return rpcrdma2_encode_rtx_next(send->sd_buf.bf_data,
					send->sd_buf.bf_size, tx);
}

/* Returns the number of bytes to send, or a negative errno. */
static int svc_rdma_group_fill(struct rpcrdma_send *send,
			       const struct rpcrdma2_transmission *tx,
			       const struct rpcrdma_reply_out *out,
			       struct svc_rdma_body *body)
{
	int rc, len;

	len = svc_rdma_group_header(send, tx, out);
	if (len < 0)
		return len;
	/* The layout was computed for the buffer of the first Send. The buffers of the other
	 * Sends may be smaller, because memory was short when they were allocated.
	 */
	if (tx->tx_here > send->sd_buf.bf_size - len)
		return -ENOMEM;
	rc = svc_rdma_body_copy(body, send->sd_buf.bf_data + len, tx->tx_here);
	return rc ?: len + tx->tx_here;
}

/**
 * svc_rdma_group_encode - write a Reply to the Sends of a group
 * @send: first Send of the group; the others are added to it
 * @layout: layout that svc_rdma_group_layout() has begun
 * @count: number of transmissions, from rpcrdma_layout_count()
 * @out: the Reply
 * @body: position in the inline body of the Reply: its beginning
 *
 * Context: process; sleeps.
 * Return: number of bytes to send with the first Send; or a negative errno.
 *
 * See RTX-40 to RTX-44, RTX-80 of rtx.rst.
 */
int svc_rdma_group_encode(struct svc_rdma_send *send,
			  struct rpcrdma_layout *layout, u32 count,
			  const struct rpcrdma_reply_out *out,
			  struct svc_rdma_body *body)
{
	struct svc_rdma_send *more = send;
	struct rpcrdma_outgoing og;
	int len, first = 0;

	while (rpcrdma_layout_next(layout, &og)) {
		if (og.og_tx.tx_number) {
			more = svc_rdma_send_get(svc_rdma_send_sx(send),
						 GFP_KERNEL);
			if (!more)
				return -ENOMEM;
			rpcrdma_send_add(&send->ss_send, &more->ss_send);
		}
		og.og_tx.tx_xid = out->ro_xid;
		og.og_tx.tx_credit = out->ro_credit;
		og.og_tx.tx_response = true;
		og.og_tx.tx_count = count;
		og.og_tx.tx_stream = layout->ly_stream;
		len = svc_rdma_group_fill(&more->ss_send, &og.og_tx, out, body);
		if (len < 0)
			return len;
		if (more == send)
			first = len;
		else
			rpcrdma_send_prepare(&more->ss_send, len);
	}
	return first;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_group_encode);
