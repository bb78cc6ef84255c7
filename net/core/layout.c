// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts: how a message is divided among the transmissions of a group, and where its items
 * are in the transmissions. rtx.h explains the terms.
 *
 * A receiver with target segments has announced the layout of its Receives: some bytes for header
 * and stream, and then segments for the data of items. A sender puts data where the segments
 * are, and continues in the segments of the next transmission. The data in one transmission is
 * a data part. Segments are numbered consecutively through the whole group, and only this number
 * identifies a segment (RTX-55). Each item begins at the start of the segment that follows the last
 * segment of the item before it. So each byte of an item has exactly one place, which both ends
 * compute in the same way. Between the end of an item and the end of its last segment there may
 * be a gap.
 *
 * This file never reads a byte of a message. Lengths come from our own upper layer, or the
 * receiver has checked them before. Sums are computed in 64 bits.
 *
 * See RTX-41, RTX-43, RTX-44, RTX-55 to RTX-60 of rtx.rst.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/layout.h>

#define RPCRDMA_LAYOUT_UNIT	4u	/* bytes of an XDR word */

/**
 * rpcrdma_item_segment - find the segment where an item begins
 * @items: items of a message, none of them empty
 * @index: index of the item, or the number of items
 * @seg: size of a segment in bytes
 *
 * Context: any.
 * Return: number of segments before the item in the whole group (RTX-55).
 */
u64 rpcrdma_item_segment(const struct rpcrdma2_item *items, u32 index, u32 seg)
{
	u64 nsegs = 0;
	u32 i;

	for (i = 0; i < index; i++)
		nsegs += (items[i].im_length - 1) / seg + 1;
	return nsegs;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_item_segment);

/**
 * rpcrdma_items_data - compute the length of the data of items
 * @items: items of a message, none of them empty
 * @nitems: number of items
 * @seg: size of a segment in bytes
 *
 * Context: any.
 * Return: number of bytes, including the gaps between the items; 0 if there are no items.
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
 * rpcrdma_items_length - add the lengths of items
 * @items: items of a message
 * @nitems: number of items
 *
 * Context: any.
 * Return: number of bytes, without roundup and without the gaps between the items.
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
 * rpcrdma_layout_reach - how long is a Send that fills the peer's target segments?
 * @peer: what the peer has announced; the caller has validated it
 * @most: length of the largest Send that we make, in bytes
 *
 * Context: any.
 * Return: the length in bytes, up to the end of the last segment that such a Send fills; 0
 *	if it fills no segment, so that nothing can be placed.
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
 * rpcrdma_layout_gather - how many segments can a Send gather from pages?
 * @sges: number of the Send's SGEs that are for data; each describes a page or a part of one
 * @offset: offset of the item in its first page, in bytes
 * @page_size: size of a page in bytes
 * @seg: size of a segment in bytes
 *
 * If a data part of the item can begin inside a page, it may touch one page more than its
 * length alone requires.
 *
 * Context: any.
 * Return: number of segments that every data part of the item may have; 0 if the SGEs do
 *	not suffice for one.
 *
 * See RTX-58 of rtx.rst.
 */
u32 rpcrdma_layout_gather(u32 sges, u32 offset, u32 page_size, u32 seg)
{
	if (sges && (offset % page_size || seg % page_size))
		sges--;
	return (u64)sges * page_size / seg;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_layout_gather);

/**
 * rpcrdma_layout_place - add items to a layout, after the stream
 * @layout: layout of the message; ly_hdr, ly_limit and ly_stream are set
 * @peer: what the peer has announced
 * @segs: maximum number of segments that our SGEs allow in a Send; %U32_MAX if the data is copied
 * @items: the items, in the order of their positions; none is empty
 * @nitems: number of items; 0 if there will be no data
 *
 * Context: any.
 * Return: false if there are items, and the peer has no target segments or our Sends cannot fill
 *	one.
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
 * rpcrdma_layout_next - find the next transmission of a message
 * @layout: layout of the message
 * @out: OUT: the transmission, if true is returned
 *
 * Each transmission takes as much of the stream as fits before its data, and up to ly_part
 * bytes of data.
 *
 * Context: any.
 * Return: false if the whole message has been sent, or if the header leaves too little room. The
 *	latter does not happen after rpcrdma_layout_count() has accepted the layout.
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
 * rpcrdma_layout_count - count the transmissions that a message takes
 * @layout: layout of the message, from which nothing has been sent
 * @most: maximum number of transmissions
 *
 * Context: any. The work is bounded by @most.
 * Return: number of transmissions; or 0 if the message cannot be divided into @most or fewer, for
 *	example because the first has no room for 8 bytes of the stream. The message then takes
 *	base form.
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
