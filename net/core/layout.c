// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts: how a message is divided among the transmissions of a group, and
 * where in them its items are.
 *
 * A receiver with targets has said how its Receives are built: some bytes for
 * header and stream, then segments. Data is put where the segments are, and
 * goes on in those of the next transmission. Segments are counted through the
 * group and not named (RTX-55). An item begins with a segment, so there is one
 * place for each of its bytes, and both ends find it with the same walk.
 *
 * Nothing here has seen a byte of a message. Lengths are those of our own upper
 * layer, or the receiver has judged them before; sums are made in 64 bits.
 *
 * See RTX-41, RTX-43, RTX-44, RTX-55 to RTX-60 of rtx.rst.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/layout.h>

#define RPCRDMA_LAYOUT_UNIT	4u	/* XDR */

/* Segments of an item, of which there is at least one byte */
static u32 rpcrdma_item_nsegs(const struct rpcrdma2_item *item, u32 seg)
{
	return (item->im_length - 1) / seg + 1;
}

/**
 * rpcrdma_item_segment - where does an item begin?
 * @items: the items of a message, none of them empty
 * @index: one of them, or their number
 * @seg: bytes of a segment
 *
 * Context: any.
 * Return: segments in front of it, counted through the group (RTX-55).
 */
u64 rpcrdma_item_segment(const struct rpcrdma2_item *items, u32 index, u32 seg)
{
	u64 nsegs = 0;
	u32 i;

	for (i = 0; i < index; i++)
		nsegs += rpcrdma_item_nsegs(&items[i], seg);
	return nsegs;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_item_segment);

/**
 * rpcrdma_items_data - bytes of data that items make
 * @items: the items of a message, none of them empty
 * @nitems: how many
 * @seg: bytes of a segment
 *
 * Context: any.
 * Return: bytes, with what is between the items; 0 if there are none.
 *
 * See RTX-56, RTX-59 of rtx.rst.
 */
u64 rpcrdma_items_data(const struct rpcrdma2_item *items, u32 nitems, u32 seg)
{
	if (!nitems)
		return 0;
	return rpcrdma_item_segment(items, nitems - 1, seg) * seg +
	       items[nitems - 1].im_length;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_items_data);

/**
 * rpcrdma_items_length - bytes of items alone
 * @items: the items of a message
 * @nitems: how many
 *
 * Context: any.
 * Return: bytes, without roundup and without what is between them.
 */
u64 rpcrdma_items_length(const struct rpcrdma2_item *items, u32 nitems)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < nitems; i++)
		length += items[i].im_length;
	return length;
}

/**
 * rpcrdma_place_part - go on with the next data part
 * @place: the walk, at the end of the part before
 * @length: bytes of the part; all but the last are whole segments
 *
 * Context: any.
 */
void rpcrdma_place_part(struct rpcrdma_place *place, u32 length)
{
	place->gp_at = 0;
	place->gp_left = length;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_place_part);

/**
 * rpcrdma_place_next - what comes next in the data part?
 * @place: the walk
 * @placed: OUT: a part of an item, if true is returned
 *
 * Context: any.
 * Return: false at the end of the part, or of the items.
 *
 * See RTX-55, RTX-56, RTX-60 of rtx.rst.
 */
bool rpcrdma_place_next(struct rpcrdma_place *place,
			struct rpcrdma_placed *placed)
{
	const struct rpcrdma2_item *item = &place->gp_items[place->gp_item];
	u32 gap;

	if (place->gp_item == place->gp_nitems || !place->gp_left)
		return false;
	placed->pd_item = place->gp_item;
	placed->pd_offset = place->gp_done;
	placed->pd_at = place->gp_at;
	placed->pd_length = min(item->im_length - place->gp_done,
				place->gp_left);
	placed->pd_gap = 0;
	place->gp_done += placed->pd_length;
	place->gp_at += placed->pd_length;
	place->gp_left -= placed->pd_length;
	if (place->gp_done < item->im_length)
		return true;

	gap = (place->gp_seg - item->im_length % place->gp_seg) %
	      place->gp_seg;
	placed->pd_gap = gap;
	/* Behind the last item nothing was sent, nor is there room for more */
	gap = min(gap, place->gp_left);
	place->gp_at += gap;
	place->gp_left -= gap;
	place->gp_item++;
	place->gp_done = 0;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_place_next);

/**
 * rpcrdma_layout_reach - how large is a Send that fills the peer's targets?
 * @peer: what the peer has announced, found valid
 * @most: bytes of the largest Send that we make
 *
 * Context: any.
 * Return: bytes, up to the end of the last segment that such a Send reaches; 0: it
 *	reaches none, or there are none, and nothing is placed.
 *
 * See RTX-33, RTX-41, RTX-56 of rtx.rst; T-29.
 */
u32 rpcrdma_layout_reach(const struct rpcrdma2_rtx *peer, u32 most)
{
	u32 segs;

	if (!peer->xp_nsegs || most < peer->xp_head)
		return 0;
	segs = min(peer->xp_nsegs, (most - peer->xp_head) / peer->xp_seg);
	return segs ? peer->xp_head + segs * peer->xp_seg : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_reach);

/**
 * rpcrdma_layout_place - have items travel behind the stream
 * @layout: the message; ly_hdr, ly_limit and ly_stream are set
 * @peer: what the peer has announced
 * @segs: segments that we can gather for a Send, at most
 * @items: the items, by position; none is empty
 * @nitems: how many; 0: there will be no data
 *
 * Context: any.
 * Return: false if there are items and the peer has no targets, or no Send of
 *	ours reaches the end of one.
 *
 * See RTX-32, RTX-41, RTX-56 of rtx.rst.
 */
bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs,
			  const struct rpcrdma2_item *items, u32 nitems)
{
	if (!nitems)
		return true;
	if (!peer->xp_nsegs || layout->ly_limit < peer->xp_head)
		return false;
	segs = min3(segs, peer->xp_nsegs,
		    (layout->ly_limit - peer->xp_head) / peer->xp_seg);
	layout->ly_head = peer->xp_head;
	layout->ly_part = segs * peer->xp_seg;
	layout->ly_items = rpcrdma_items_length(items, nitems);
	layout->ly_data = rpcrdma_items_data(items, nitems, peer->xp_seg);
	return segs;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_place);

/**
 * rpcrdma_layout_next - the next transmission of a message
 * @layout: the message, which rpcrdma_layout_count() has found good
 * @out: OUT: the transmission, if true is returned
 *
 * Each takes as much stream as goes in front of its data, and as much data as
 * its targets take.
 *
 * Context: any.
 * Return: false when all has been sent; or when the header leaves no room.
 *
 * See RTX-43, RTX-44, RTX-56, RTX-57 of rtx.rst.
 */
bool rpcrdma_layout_next(struct rpcrdma_layout *layout,
			 struct rpcrdma_outgoing *out)
{
	static const struct rpcrdma_outgoing none;
	struct rpcrdma2_transmission *tx = &out->og_tx;
	u32 end;

	*out = none;
	out->og_hdr = layout->ly_number ? RPCRDMA2_RTX_NEXT_LEN :
					  layout->ly_hdr;
	out->og_part = min_t(u64, layout->ly_data - layout->ly_placed,
			     layout->ly_part);
	end = out->og_part ? layout->ly_head : layout->ly_limit;
	if (end < out->og_hdr)
		return false;
	tx->tx_number = layout->ly_number;
	tx->tx_offset = layout->ly_sent;
	tx->tx_data = out->og_part ? layout->ly_head : 0;
	tx->tx_here = end - out->og_hdr;
	tx->tx_here -= tx->tx_here % RPCRDMA_LAYOUT_UNIT;
	tx->tx_here = min(tx->tx_here, layout->ly_stream - layout->ly_sent);
	if (layout->ly_number ? !tx->tx_here && !out->og_part :
				tx->tx_here < RPCRDMA2_RTX_RPC_MIN)
		return false;
	out->og_len = out->og_part ? end + out->og_part :
				     out->og_hdr + tx->tx_here;
	layout->ly_number++;
	layout->ly_sent += tx->tx_here;
	layout->ly_placed += out->og_part;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_next);

/**
 * rpcrdma_layout_count - how many transmissions does a message take?
 * @layout: the message, of which nothing has been sent
 * @most: how many there may be
 *
 * Context: any. Work is bounded by @most.
 * Return: transmissions; 0 if there would be more, or the first has no room for
 *	the beginning of the stream: the message takes base form.
 */
u32 rpcrdma_layout_count(const struct rpcrdma_layout *layout, u32 most)
{
	struct rpcrdma_layout walk = *layout;
	struct rpcrdma_outgoing out;

	while (walk.ly_number < most && rpcrdma_layout_next(&walk, &out))
		if (walk.ly_sent == walk.ly_stream &&
		    walk.ly_placed == walk.ly_data)
			return walk.ly_number;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_count);
