// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, that is, RPC messages in one or several Sends (the round-trip extension of version 2,
 * rtx.h). This file divides a Reply among several Sends. server/sendto.c decides which Replies are
 * groups, and server/negotiate.c what the server announces of the extension. A Call that came as a
 * group is handled like any other Call once it is complete, see verbs/gather.c and
 * server/recvfrom.c.
 *
 * Each Send of a Reply (a transmission) has its own Send context. The first context keeps the
 * others in sd_more until all are posted in one chain (invariant I37). If memory was short when
 * contexts were made, their buffers differ in size. So all are taken before the Reply is divided
 * for good, and the smallest buffer counts. Each context completes separately. The Reply is copied
 * into the buffers of the contexts, like any inline Reply.
 *
 * See Documentation/rtx.rst.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/group.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"

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

/**
 * svc_rdma_body_copy - copy the next bytes of the inline body of a Reply behind a header
 * @body: position in the body. Before the first call, by_pos, by_offset and by_left are 0
 * @buf: buffer that begins with the header
 * @hdr: length of the header; or a negative errno, if it could not be encoded
 * @len: number of bytes to copy
 *
 * Context: any.
 * Return: number of bytes in the buffer; @hdr if it is negative; %-EMSGSIZE if the buffer is too
 *	small; %-EIO if fewer than @len bytes are left.
 */
int svc_rdma_body_copy(struct svc_rdma_body *body,
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
