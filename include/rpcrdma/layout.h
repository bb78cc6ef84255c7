/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts: how a message is divided among the transmissions of a group, and where its item
 * is in the transmissions. A *data part* is the placed data in one transmission. See rtx.h
 * for the other terms.
 */
#ifndef RPCRDMA_LAYOUT_H
#define RPCRDMA_LAYOUT_H

#include <linux/types.h>
#include <rpcrdma/rtx.h>

/**
 * struct rpcrdma_layout - how a sender divides a message among the transmissions of a group
 *	(rtx.h)
 * @ly_hdr: length of the header of the first transmission in bytes
 * @ly_limit: maximum length of a transmission in bytes, at most the sender's largest Send and
 *	the receiver's RBSIZ
 * @ly_stream: number of bytes of payload stream
 * @ly_data: length of the item in bytes; 0 if there is none
 * @ly_head: offset of the placed data in a transmission, if there is an item
 * @ly_part: maximum length of the placed data in a transmission in bytes, if there is an item
 * @ly_number: number of transmissions made so far
 * @ly_sent: number of bytes of stream in these transmissions
 * @ly_placed: number of bytes of placed data in these transmissions
 *
 * The caller sets the first three members, and sets the others to zero. If there is an item,
 * rpcrdma_layout_place() sets the next three. rpcrdma_layout_next() changes the last three.
 */
struct rpcrdma_layout {
	u32		ly_hdr;
	u32		ly_limit;
	u32		ly_stream;
	u32		ly_data;
	u32		ly_head;
	u32		ly_part;
	u32		ly_number;
	u32		ly_sent;
	u32		ly_placed;
};

/**
 * struct rpcrdma_outgoing - a transmission (one Send of a group, see rtx.h) to be sent
 * @og_hdr: length of the header in bytes
 * @og_tx: the transmission; rpcrdma_layout_next() sets tx_number, tx_offset, tx_here and tx_data,
 *	and the caller sets the other members
 * @og_part: length of the placed data in bytes. The data begins at offset tx_data, and the
 *	bytes between the stream and the data are zero.
 * @og_len: length of the transmission in bytes
 */
struct rpcrdma_outgoing {
	u32				og_hdr;
	struct rpcrdma2_transmission	og_tx;
	u32				og_part;
	u32				og_len;
};

u32 rpcrdma_layout_reach(const struct rpcrdma2_rtx *peer, u32 most);
u32 rpcrdma_layout_gather(u32 sges, u32 offset, u32 page_size, u32 seg);

bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs, u32 item);
bool rpcrdma_layout_next(struct rpcrdma_layout *layout,
			 struct rpcrdma_outgoing *out);
u32 rpcrdma_layout_count(const struct rpcrdma_layout *layout, u32 most);

#endif /* RPCRDMA_LAYOUT_H */
