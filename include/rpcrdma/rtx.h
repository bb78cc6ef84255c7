/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The round-trip extension of version 2, on the wire: one RPC message in several
 * transmissions, and items that travel after the payload stream.
 *
 * The extension has two header types, which rpcrdma2_decode_call() and
 * rpcrdma2_decode_reply() do not know. verbs/gather.c recognises messages of these types
 * before they are decoded.
 *
 * A *transmission* is one Send. A *group* is all transmissions of one RPC message. If
 * DDP-eligible data is *placed*, it is taken out of the payload *stream*, and sent after the
 * stream. It is then an *item*; the header lists the items. A *target segment* (segment or
 * target for short) is a part of a Receive buffer in which placed data arrives. A receiver
 * describes its buffers by the property RTX (struct rpcrdma2_rtx in wire.h). *Base form* is
 * version 2 without this extension.
 *
 * Layouts and rules: Documentation/rtx.rst.
 */
#ifndef RPCRDMA_RTX_H
#define RPCRDMA_RTX_H

#include <linux/types.h>
#include <rpcrdma/wire.h>

/* Values of rdma_htype */
#define RPCRDMA2_RTX_MSG	0x80525401u	/* the first transmission of a group */
#define RPCRDMA2_RTX_NEXT	0x80525402u	/* a following transmission */

/* Sizes on the wire, in bytes */
#define RPCRDMA2_RTX_FIXED	48u	/* RTX_MSG up to and including the number of items */
#define RPCRDMA2_RTX_ITEM_LEN	8u
#define RPCRDMA2_RTX_MSG_MIN	64u	/* no items, and three empty lists */
#define RPCRDMA2_RTX_NEXT_LEN	36u
#define RPCRDMA2_RTX_RPC_MIN	8u	/* XID and msg_type, in the first transmission */

/* The list of items may have 16 entries. This module sends and accepts at most one
 * (RTX-52, T-25).
 */
#define RPCRDMA2_RTX_MAX_ITEMS	1u
#define RPCRDMA2_RTX_MAX_COUNT	256u	/* transmissions in a group */

/**
 * struct rpcrdma2_item - data that was taken out of the payload stream
 * @im_position: offset of the item in the unreduced RPC message
 * @im_length: number of bytes in the item, without roundup; 0 in a structure that stands for no
 *	item
 */
struct rpcrdma2_item {
	u32		im_position;
	u32		im_length;
};

/**
 * struct rpcrdma2_transmission - header fields of one transmission of a group
 * @tx_xid: rdma_xid
 * @tx_credit: rdma_credit
 * @tx_response: F_RESPONSE
 * @tx_first: the type is %RPCRDMA2_RTX_MSG; otherwise it is %RPCRDMA2_RTX_NEXT
 * @tx_short: in a received transmission: it is shorter than the part of the header that has a
 *	fixed length. Of the members below, only @tx_len is then valid.
 * @tx_count: in the first transmission: number of transmissions in the group
 * @tx_stream: in the first: number of bytes of payload stream in the whole group
 * @tx_number: in the others: 1 for the second transmission, and so on
 * @tx_offset: in the others: number of bytes of payload stream in all earlier
 *	transmissions
 * @tx_here: number of bytes of payload stream in this transmission
 * @tx_data: offset of the first byte of data in this transmission; 0 if it has none
 * @tx_replies: in the first of a Call: number of Receives that the Reply may take
 * @tx_results: in the first of a Call: number of eligible results that may come placed
 * @tx_nitems: in the first: number of items of the message
 * @tx_items: in a received first transmission: the items on the wire; for the codec only
 * @tx_len: in a received transmission: its length in bytes
 *
 * Like struct rpcrdma_hdr, a received transmission is a view: @tx_items points into the buffer
 * of the Receive.
 */
struct rpcrdma2_transmission {
	u32		tx_xid;
	u32		tx_credit;
	bool		tx_response;
	bool		tx_first;
	bool		tx_short;
	u32		tx_count;
	u32		tx_stream;
	u32		tx_number;
	u32		tx_offset;
	u32		tx_here;
	u32		tx_data;
	u32		tx_replies;
	u32		tx_results;
	u32		tx_nitems;
	const void	*tx_items;
	u32		tx_len;
};

bool rpcrdma2_peek_rtx(const void *buf, u32 len,
		       struct rpcrdma2_transmission *tx);
bool rpcrdma2_rtx_item(const struct rpcrdma2_transmission *tx,
		       struct rpcrdma2_item *item);
enum rpcrdma_verdict
rpcrdma2_decode_group(const void *buf, u32 len,
		      const struct rpcrdma2_accept *accept,
		      struct rpcrdma_hdr *hdr);

/* wire/form.c */
bool rpcrdma_form_fits(const struct rpcrdma_lists *lists,
		       const struct rpcrdma2_item *item, u32 body_len,
		       u64 *total);

/* wire/rtx.c */
u32 rpcrdma2_rtx_reply_len(u32 nitems, const struct rpcrdma_lists *lists);
int rpcrdma2_encode_rtx_call(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx,
			     const struct rpcrdma2_item *item,
			     const struct rpcrdma_call_out *call);
int rpcrdma2_encode_rtx_reply(void *buf, u32 size,
			      const struct rpcrdma2_transmission *tx,
			      const struct rpcrdma2_item *item,
			      const struct rpcrdma_reply_out *reply);
int rpcrdma2_encode_rtx_next(void *buf, u32 size,
			     const struct rpcrdma2_transmission *tx);

#endif /* RPCRDMA_RTX_H */
