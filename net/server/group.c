// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: what a client is told of the round-trip extension of version 2, and how a Reply
 * is divided among several Sends. This file does not decide which Replies travel that way:
 * server/sendto.c does. Calls that came as groups are like others once they are whole, see
 * verbs/gather.c and server/recvfrom.c.
 *
 * The transmissions of a Reply are Send contexts of their own, which the first one keeps
 * until all are posted in one chain (invariant I37). Each completes by itself. They are
 * copied to, like any inline Reply.
 *
 * See Documentation/rtx.rst.
 */
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/layout.h>
#include <rpcrdma/param.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"

/* Bytes that a Call may have beside what it writes */
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
 * svc_rdma_group_announce - what a client may use of the extension
 * @sx: connection that is about to announce its properties
 * @rtx: the property RTX: how Receives are built. OUT: the rest; all zero: nothing
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
 * svc_rdma_group_layout - a Reply as a group
 * @send: the first Send
 * @call: Call
 * @body_len: bytes of the Reply that are in no Write chunk
 * @layout: OUT
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

/* The next @len bytes of the body, which is what is between the payloads. */
static int svc_rdma_group_copy(struct svc_rdma_body *body, void *to, u32 len)
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

/* Returns the bytes to send, or an errno. */
static int svc_rdma_group_fill(struct rpcrdma_send *send,
			       const struct rpcrdma2_transmission *tx,
			       const struct rpcrdma_reply_out *out,
			       struct svc_rdma_body *body)
{
	int rc, len;

	len = svc_rdma_group_header(send, tx, out);
	if (len < 0)
		return len;
	/* The layout is for the first buffer. Memory may be too short for others
	 * of that size.
	 */
	if (tx->tx_here > send->sd_buf.bf_size - len)
		return -ENOMEM;
	rc = svc_rdma_group_copy(body, send->sd_buf.bf_data + len, tx->tx_here);
	return rc ?: len + tx->tx_here;
}

/**
 * svc_rdma_group_encode - write a Reply to the Sends of a group
 * @send: the first Send; gets the others
 * @layout: what svc_rdma_group_layout() has found
 * @count: transmissions, by rpcrdma_layout_count()
 * @out: the Reply
 * @body: what is sent of it
 *
 * Context: process; sleeps.
 * Return: bytes to send with the first one; or a negative errno.
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
