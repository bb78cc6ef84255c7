// SPDX-License-Identifier: GPL-2.0
/*
 * Received messages: a message is one object, even if it came in several Receives.
 *
 * Gathering: if a message comes in several Sends (a group, see rtx.h), this file links its
 * Receives, and passes the message to the connection's owner when it is complete.
 * core/group.c decides what has to be done with a Receive that is filled, and this file
 * does it. If the peer breaks a group, this file closes the connection.
 *
 * This file knows where the parts of a message are, but not what they contain. The only part of a
 * header that it reads is that of the round-trip extension (rtx.h). The caller that decodes the
 * header reports where the header ends, by rpcrdma_msg_set_body().
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
 * others. Gathering sets these members before the owner gets the message; in the first Receive, the
 * owner sets mi_body and mi_here when it decodes the header. rpcrdma_msg_give_more() resets links
 * and totals when the message is given back.
 *
 * If groups may arrive (rpcrdma_gather_start()), each message passes through this file on its
 * way to the owner (cn_receive). Completions of the receive queue are handled one after the
 * other, in the order of arrival, so struct rpcrdma_gather needs no lock (invariant I36).
 *
 * A group takes no additional memory: its Receives exist anyway, and the sender has credits
 * for them (RTX-84). The Receives are not held for ever: if the group is not complete within
 * RPCRDMA_GATHER_TIMEOUT, the connection fails. A delayed work item (ga_work) checks that. If the
 * work is still scheduled when another group begins, its time does not change: it runs too early
 * for the new group, and schedules itself again.
 *
 * When a group breaks, the connection fails with -EPROTO. The Receives that the group holds are
 * freed with the connection, and what still arrives is given back unread.
 *
 * See RTX-40 to RTX-48, RTX-73, RTX-84, RTX-85 of rtx.rst.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/msg.h>

#include "trace.h"

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

/* Fails the connection if a group takes too long. If the group becomes complete while this function
 * runs, the connection may fail nevertheless.
 */
static void rpcrdma_gather_work(struct work_struct *work)
{
	struct rpcrdma_conn *conn = container_of(to_delayed_work(work),
						 struct rpcrdma_conn,
						 cn_gather.ga_work);
	struct rpcrdma_gather *gather = &conn->cn_gather;
	unsigned long begun = READ_ONCE(gather->ga_begun);
	unsigned long now = jiffies;

	if (!begun)
		return;
	if (time_before(now, begun + RPCRDMA_GATHER_TIMEOUT)) {
		schedule_delayed_work(&gather->ga_work,
				      begun + RPCRDMA_GATHER_TIMEOUT - now);
		return;
	}
	if (rpcrdma_conn_fail(conn, -EPROTO))
		rpcrdma_count(groups_broken);
}

/**
 * rpcrdma_gather_init - initialise the gathering of a connection
 * @conn: connection that is being initialised
 *
 * No groups may arrive before rpcrdma_gather_start() is called.
 *
 * Context: any.
 */
void rpcrdma_gather_init(struct rpcrdma_conn *conn)
{
	INIT_DELAYED_WORK(&conn->cn_gather.ga_work, rpcrdma_gather_work);
}

static void rpcrdma_gather_add(struct rpcrdma_gather *gather,
			       struct rpcrdma_recv *recv,
			       const struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_msg_in *msg = &recv->rv_msg;

	msg->mi_data = tx->tx_data ? tx->tx_len - tx->tx_data : 0;
	if (!gather->ga_first) {
		gather->ga_first = recv;
	} else {
		/* The body of the first Receive begins after a header of variable length,
		 * which the owner decodes.
		 */
		rpcrdma_msg_set_body(msg, RPCRDMA2_RTX_NEXT_LEN, tx->tx_here);
		gather->ga_last->rv_msg.mi_more = recv;
	}
	gather->ga_last = recv;
}

/* Returns the verdict on the complete group: is it short enough, and does its data match its
 * item (rtx.h)? If the item cannot be read from the header, any error will do as the verdict: the
 * owner finds the exact reason when it decodes the header.
 */
static enum rpcrdma_verdict
rpcrdma_gather_check(const struct rpcrdma_gather *gather)
{
	const struct rpcrdma_msg_in *msg = &gather->ga_first->rv_msg;
	struct rpcrdma2_transmission first;
	struct rpcrdma2_item item;

	if (!rpcrdma2_peek_rtx(rpcrdma_msg_head(msg),
			       rpcrdma_msg_head_room(msg), &first) ||
	    !rpcrdma2_rtx_item(&first, &item))
		return RPCRDMA_BAD_GROUP;
	return rpcrdma_group_check(&gather->ga_group, &gather->ga_limits,
				   item.im_length);
}

static void rpcrdma_gather_whole(struct rpcrdma_conn *conn)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;
	struct rpcrdma_msg_in *msg = &gather->ga_first->rv_msg;
	const struct rpcrdma_msg_in *last = &gather->ga_last->rv_msg;
	const struct rpcrdma_recv *recv;

	msg->mi_group = true;
	msg->mi_verdict = rpcrdma_gather_check(gather);
	for (recv = msg->mi_more; recv; recv = recv->rv_msg.mi_more) {
		msg->mi_more_recvs++;
		msg->mi_more_len += recv->rv_len;
		msg->mi_more_body += recv->rv_msg.mi_here;
	}
	msg->mi_invalidated = last->mi_invalidated;
	msg->mi_inv_rkey = last->mi_inv_rkey;
	gather->ga_first = NULL;
	WRITE_ONCE(gather->ga_begun, 0);
	rpcrdma_count(groups_received);
	trace_rpcrdma_group(conn, &gather->ga_group);
	conn->cn_ops->receive(conn, msg);
}

/* Gives back a message that has arrived after a broken group. */
static void rpcrdma_gather_drop(struct rpcrdma_conn *conn,
				struct rpcrdma_msg_in *msg)
{
	rpcrdma_msg_put(msg);
}

static void rpcrdma_gather_broken(struct rpcrdma_conn *conn,
				  struct rpcrdma_msg_in *msg,
				  const struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;

	rpcrdma_count(groups_broken);
	trace_rpcrdma_group_broken(conn, &gather->ga_group, tx);
	conn->cn_receive = rpcrdma_gather_drop;
	rpcrdma_conn_fail(conn, -EPROTO);
	rpcrdma_msg_put(msg);
}

/* Holds a transmission of a group that is not complete yet. A region must stay valid until the
 * whole Reply has arrived, so only the Send that completes the Reply may invalidate it (RTX-72,
 * RTX-73). The time when the first transmission arrived is made odd, because 0 means that no group
 * is open (RTX-85).
 */
static void rpcrdma_gather_keep(struct rpcrdma_conn *conn,
				struct rpcrdma_recv *recv,
				const struct rpcrdma2_transmission *tx)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;

	if (unlikely(recv->rv_msg.mi_invalidated)) {
		rpcrdma_gather_broken(conn, &recv->rv_msg, tx);
		return;
	}
	rpcrdma_gather_add(gather, recv, tx);
	if (!tx->tx_first)
		return;
	WRITE_ONCE(gather->ga_begun, jiffies | 1);
	/* This has no effect if the work is scheduled already. */
	schedule_delayed_work(&gather->ga_work, RPCRDMA_GATHER_TIMEOUT);
}

/* Handles a message on a connection on which groups may arrive. */
static void rpcrdma_gather_take(struct rpcrdma_conn *conn,
				struct rpcrdma_msg_in *msg)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;
	struct rpcrdma2_transmission rtx, *tx = NULL;

	msg->mi_group = false;
	if (rpcrdma2_peek_rtx(rpcrdma_msg_head(msg),
			      rpcrdma_msg_head_room(msg), &rtx))
		tx = &rtx;
	switch (rpcrdma_group_take(&gather->ga_group, &gather->ga_limits, tx)) {
	case RPCRDMA_GROUP_PASS:
		conn->cn_ops->receive(conn, msg);
		break;
	case RPCRDMA_GROUP_KEEP:
		rpcrdma_gather_keep(conn, rpcrdma_msg_first(msg), tx);
		break;
	case RPCRDMA_GROUP_WHOLE:
		rpcrdma_gather_add(gather, rpcrdma_msg_first(msg), tx);
		rpcrdma_gather_whole(conn);
		break;
	case RPCRDMA_GROUP_BROKEN:
		rpcrdma_gather_broken(conn, msg, tx);
		break;
	}
}

/**
 * rpcrdma_gather_start - accept groups on a connection
 * @conn: connection whose peer has not been told yet that it may send groups
 * @ours: the property RTX that we are about to announce to the peer
 * @replies: maximum number of Receives that we ever offer for a Reply, at least 1
 *
 * Call this at most once for a connection.
 *
 * Context: any.
 */
void rpcrdma_gather_start(struct rpcrdma_conn *conn,
			  const struct rpcrdma2_rtx *ours, u32 replies)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;

	gather->ga_limits.gl_ours = *ours;
	gather->ga_limits.gl_replies = replies;
	/* Pairs with rpcrdma_recv_wc_done() */
	smp_store_release(&conn->cn_receive, rpcrdma_gather_take);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_gather_start);

/**
 * rpcrdma_gather_stop - stop checking the time that groups take
 * @conn: connection in any state
 *
 * Context: process; sleeps.
 */
void rpcrdma_gather_stop(struct rpcrdma_conn *conn)
{
	disable_delayed_work_sync(&conn->cn_gather.ga_work);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_gather_stop);

/**
 * rpcrdma_gather_end - drop the Receives of an incomplete group
 * @conn: connection without queues, on which nothing arrives any more
 *
 * Context: process.
 */
void rpcrdma_gather_end(struct rpcrdma_conn *conn)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;
	struct rpcrdma_recv *first = gather->ga_first;

	gather->ga_first = NULL;
	if (first)
		rpcrdma_msg_drop(&first->rv_msg);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_gather_end);
