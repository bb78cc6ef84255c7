// SPDX-License-Identifier: GPL-2.0
/*
 * Received messages: a message is one object, even if it came in several Receives. This file
 * knows where the parts of a message are, but not what they contain. The caller that decodes
 * the header reports where the header ends, by rpcrdma_msg_set_body().
 *
 * Operation
 *
 * A struct rpcrdma_msg_in is part of the first Receive of the message, so a message needs
 * no memory of its own. Most messages come in a single Receive. The members that describe
 * further Receives (mi_more and others) are 0 in each posted Receive, so for such a message
 * they need not be set. Inline functions in msg.h handle a body that is in one Receive; this file
 * has the functions for a body that is in several Receives.
 *
 * Each Receive of a message of several Receives describes its own part of the body (mi_body,
 * mi_here). The Receives are linked in order by mi_more. The first one also has the totals of all
 * others. verbs/gather.c sets these members before the owner gets the message; in the first
 * Receive, the owner sets mi_body and mi_here when it decodes the header.
 * rpcrdma_msg_give_more() resets links and totals when the message is given back.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <rpcrdma/msg.h>

/**
 * rpcrdma_msg_give_more - give back all Receives of a message but the first
 * @msg: message of several Receives; only the first is left afterwards
 * @give: called for each other Receive: rpcrdma_recv_put() or rpcrdma_recv_drop()
 *
 * Context: that of @give.
 */
void rpcrdma_msg_give_more(struct rpcrdma_msg_in *msg,
			   void (*give)(struct rpcrdma_recv *recv))
{
	struct rpcrdma_recv *recv = msg->mi_more, *next;

	msg->mi_more = NULL;
	msg->mi_more_recvs = 0;
	msg->mi_more_len = 0;
	msg->mi_more_body = 0;
	for (; recv; recv = next) {
		next = recv->rv_msg.mi_more;
		recv->rv_msg.mi_more = NULL;
		give(recv);
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_give_more);

/**
 * rpcrdma_msg_renew - replace those blocks of pages in a message that other code still holds
 * @msg: message that came through ops->receive(), of a connection that is not being
 *	closed
 *
 * See rpcrdma_recv_renew().
 *
 * Context: process; sleeps if a block has to be replaced.
 * Return: 0, and then rpcrdma_msg_put() may follow; or a negative errno, and then only
 *	rpcrdma_msg_drop() may follow.
 */
int rpcrdma_msg_renew(struct rpcrdma_msg_in *msg)
{
	struct rpcrdma_recv *recv = rpcrdma_msg_first(msg);
	int rc = 0;

	for (; recv && !rc; recv = recv->rv_msg.mi_more)
		rc = rpcrdma_recv_renew(recv);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_renew);

/**
 * rpcrdma_msg_piece_seek - find the next contiguous piece of a body that is in several Receives
 * @msg: structure of any Receive of the message
 * @skip: number of bytes between the first byte of the body in that Receive and the piece; it may
 *	be so large that the piece is in a later Receive
 * @piece: the walk; mp_left bytes are still to be visited. Set to the piece
 *
 * Context: any, until the message is given back.
 */
void rpcrdma_msg_piece_seek(const struct rpcrdma_msg_in *msg, u32 skip,
			    struct rpcrdma_msg_piece *piece)
{
	while (skip >= msg->mi_here && msg->mi_more) {
		skip -= msg->mi_here;
		msg = &msg->mi_more->rv_msg;
	}
	skip = min(skip, msg->mi_here);
	piece->mp_in = msg;
	piece->mp_data = msg->mi_body + skip;
	piece->mp_len = min(piece->mp_left, msg->mi_here - skip);
	piece->mp_left -= piece->mp_len;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_piece_seek);

/**
 * rpcrdma_msg_copy_pieces - copy part of a body that is in several pieces
 * @msg: message
 * @offset: offset of the part in the body
 * @to: where to copy to
 * @len: number of bytes, all inside the body
 *
 * Context: any, until the message is given back.
 */
void rpcrdma_msg_copy_pieces(const struct rpcrdma_msg_in *msg, u32 offset,
			     void *to, u32 len)
{
	struct rpcrdma_msg_piece piece;

	for (rpcrdma_msg_piece_first(msg, offset, len, &piece); piece.mp_len;
	     rpcrdma_msg_piece_next(&piece)) {
		memcpy(to, piece.mp_data, piece.mp_len);
		to += piece.mp_len;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_copy_pieces);

/**
 * rpcrdma_msg_data_npages - count the pages with the placed data of a message (rtx.h)
 * @msg: message that came as a group; if it has placed data, its Receives have target segments,
 *	which are pages
 *
 * The data in each Receive, except the last one with data, fills whole pages (RTX-56,
 * RTX-59).
 *
 * Context: any, until the message is given back.
 * Return: number of pages; 0 if there is no data.
 */
u32 rpcrdma_msg_data_npages(const struct rpcrdma_msg_in *msg)
{
	u32 npages = DIV_ROUND_UP(msg->mi_data, PAGE_SIZE);
	const struct rpcrdma_recv *recv;

	for (recv = msg->mi_more; recv; recv = recv->rv_msg.mi_more)
		npages += DIV_ROUND_UP(recv->rv_msg.mi_data, PAGE_SIZE);
	return npages;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_data_npages);

/**
 * rpcrdma_msg_data_pages - hand out the pages with the placed data of a message
 * @msg: message that came as a group; the data is in the target segments of its Receives (rtx.h)
 * @pages: OUT: the pages, in order; room for rpcrdma_msg_data_npages()
 *
 * The pages belong to the message until it is given back. Code that needs a page for longer
 * takes a reference. After the last byte of data, its page may contain bytes of an earlier
 * message, so this function clears them (RTX-60).
 *
 * Context: any; the caller alone has the message.
 */
void rpcrdma_msg_data_pages(const struct rpcrdma_msg_in *msg,
			    struct page **pages)
{
	const struct rpcrdma_recv *recv = rpcrdma_msg_first(msg);
	u32 len, pos;
	void *data;

	for (; recv; recv = recv->rv_msg.mi_more) {
		len = recv->rv_msg.mi_data;
		data = rpcrdma_buf_targets(&recv->rv_buf);
		for (pos = 0; pos < len; pos += PAGE_SIZE)
			*pages++ = virt_to_page(data + pos);
		memset(data + len, 0, pos - len);
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_data_pages);

/**
 * rpcrdma_msg_data_at - find a byte of the placed data of a message (rtx.h)
 * @msg: message that came as a group
 * @offset: offset of the byte in the data of all Receives, including the unused ends of
 *	segments between items
 * @len: OUT: number of bytes of data from there to the end of the data in the same Receive;
 *	0 if there is no such byte
 *
 * Context: any, until the message is given back.
 * Return: pointer to the byte.
 */
void *rpcrdma_msg_data_at(const struct rpcrdma_msg_in *msg, u32 offset,
			  u32 *len)
{
	const struct rpcrdma_recv *recv = rpcrdma_msg_first(msg);

	while (offset >= recv->rv_msg.mi_data && recv->rv_msg.mi_more) {
		offset -= recv->rv_msg.mi_data;
		recv = recv->rv_msg.mi_more;
	}
	offset = min(offset, recv->rv_msg.mi_data);
	*len = recv->rv_msg.mi_data - offset;
	return rpcrdma_buf_targets(&recv->rv_buf) + offset;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_msg_data_at);
