/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts: how a message is divided among the transmissions of a group, and
 * where in them its items are.
 */
#ifndef RPCRDMA_LAYOUT_H
#define RPCRDMA_LAYOUT_H

#include <linux/types.h>
#include <rpcrdma/rtx.h>

/**
 * struct rpcrdma_place - a walk over items in the data parts of a group
 * @gp_items: the items
 * @gp_nitems: how many
 * @gp_seg: bytes of a segment
 * @gp_item: the item that the walk is in
 * @gp_done: bytes of it that the walk has passed
 * @gp_at: bytes of the data part that it has passed
 * @gp_left: bytes of the data part that are left
 *
 * Begin with @gp_items, @gp_nitems and @gp_seg, all else zero.
 */
struct rpcrdma_place {
	const struct rpcrdma2_item	*gp_items;
	u32				gp_nitems;
	u32				gp_seg;
	u32				gp_item;
	u32				gp_done;
	u32				gp_at;
	u32				gp_left;
};

/**
 * struct rpcrdma_placed - what of an item is in a data part
 * @pd_item: which item
 * @pd_offset: bytes of the item in front of it
 * @pd_at: bytes of the data part in front of it
 * @pd_length: its bytes
 * @pd_gap: bytes from the end of the item to the end of its last segment. A
 *	receiver makes them zero as far as anybody can see them (RTX-60); a
 *	sender sends so many zeros if another item follows (RTX-56)
 */
struct rpcrdma_placed {
	u32		pd_item;
	u32		pd_offset;
	u32		pd_at;
	u32		pd_length;
	u32		pd_gap;
};

/**
 * struct rpcrdma_layout - how a sender divides a message
 * @ly_hdr: bytes of the header of the first transmission
 * @ly_limit: largest transmission: what we can Send, and the peer's RBSIZ
 * @ly_stream: bytes of payload stream
 * @ly_items: bytes of all items
 * @ly_data: bytes of data, gaps included; 0: no items
 * @ly_head: with data: where it begins in a transmission
 * @ly_part: with data: the largest data part
 * @ly_number: transmissions made
 * @ly_sent: bytes of stream in them
 * @ly_placed: bytes of data in them
 *
 * The first three are given, the next four set by rpcrdma_layout_place(), and
 * the last three are zero at first.
 */
struct rpcrdma_layout {
	u32		ly_hdr;
	u32		ly_limit;
	u32		ly_stream;
	u64		ly_items;
	u64		ly_data;
	u32		ly_head;
	u32		ly_part;
	u32		ly_number;
	u32		ly_sent;
	u64		ly_placed;
};

/**
 * struct rpcrdma_outgoing - a transmission to be sent
 * @og_hdr: bytes of header
 * @og_tx: tx_number, tx_offset, tx_here and tx_data
 * @og_part: bytes of data, from tx_data on; what is between the stream and
 *	them is zero
 * @og_len: bytes in all
 */
struct rpcrdma_outgoing {
	u32				og_hdr;
	struct rpcrdma2_transmission	og_tx;
	u32				og_part;
	u32				og_len;
};

u64 rpcrdma_item_segment(const struct rpcrdma2_item *items, u32 index,
			 u32 seg);
u64 rpcrdma_items_data(const struct rpcrdma2_item *items, u32 nitems, u32 seg);
u64 rpcrdma_items_length(const struct rpcrdma2_item *items, u32 nitems);
u32 rpcrdma_layout_reach(const struct rpcrdma2_rtx *peer, u32 most);
void rpcrdma_place_part(struct rpcrdma_place *place, u32 length);
bool rpcrdma_place_next(struct rpcrdma_place *place,
			struct rpcrdma_placed *placed);

bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs,
			  const struct rpcrdma2_item *items, u32 nitems);
bool rpcrdma_layout_next(struct rpcrdma_layout *layout,
			 struct rpcrdma_outgoing *out);
u32 rpcrdma_layout_count(const struct rpcrdma_layout *layout, u32 most);

#endif /* RPCRDMA_LAYOUT_H */
