// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts: how a message is divided among the transmissions of a group, and where its item
 * is in the transmissions. rtx.h explains the terms.
 *
 * A receiver with target segments has announced the layout of its Receives: some bytes for header
 * and stream, and then segments for the data of the item. A sender puts data where the segments
 * are, and continues in the segments of the next transmission (RTX-55). The data in one
 * transmission is a data part.
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
 * rpcrdma_layout_place - add an item to a layout, after the stream
 * @layout: layout of the message; ly_hdr, ly_limit and ly_stream are set
 * @peer: what the peer has announced
 * @segs: maximum number of segments that our SGEs allow in a Send; %U32_MAX if the data is copied
 * @item: length of the item in bytes; 0 if there is none
 *
 * Context: any.
 * Return: false if there is an item, and the peer has no target segments or our Sends cannot fill
 *	one.
 *
 * See RTX-32, RTX-41, RTX-56 of rtx.rst.
 */
bool rpcrdma_layout_place(struct rpcrdma_layout *layout,
			  const struct rpcrdma2_rtx *peer, u32 segs, u32 item)
{
	if (!item)
		return true;
	if (!peer->xp_nsegs || layout->ly_limit < peer->xp_head)
		return false;
	segs = min3(segs, peer->xp_nsegs,
		    (layout->ly_limit - peer->xp_head) / peer->xp_seg);
	layout->ly_head = peer->xp_head;
	layout->ly_part = segs * peer->xp_seg;
	layout->ly_data = item;
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
	out->og_part = min(layout->ly_data - layout->ly_placed,
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
