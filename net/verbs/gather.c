// SPDX-License-Identifier: GPL-2.0
/*
 * Gathering: if a message comes in several Sends (a group, see rtx.h), this file links its
 * Receives, and passes the message to the connection's owner when it is complete.
 * core/group.c decides what has to be done with a Receive that is filled, and this file
 * does it. The only part of a header that this file reads is that of the round-trip extension
 * (rtx.h). It sends no answers: it tells the owner if a group is broken (ops->group_ended()).
 *
 * Operation
 *
 * If groups may arrive (rpcrdma_gather_start()), each message passes through this file on its
 * way to the owner (cn_receive). Completions of the receive queue are handled one after the
 * other, in the order of arrival, so struct rpcrdma_gather needs no lock (invariant I36).
 *
 * A group takes no additional memory: its Receives exist anyway, and the sender has credits
 * for them (RTX-84). The Receives are not held for ever: if the group does not end within
 * RPCRDMA_GATHER_TIMEOUT, the connection fails. A delayed work item (ga_work) checks that. If the
 * work is still scheduled when another group begins, its time does not change: it runs too early
 * for the new group, and schedules itself again.
 *
 * See RTX-40 to RTX-51, RTX-73, RTX-84, RTX-85 of rtx.rst.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/msg.h>

#include "trace.h"

static struct rpcrdma_conn *rpcrdma_gather_conn(struct rpcrdma_gather *gather)
{
	return container_of(gather, struct rpcrdma_conn, cn_gather);
}

/* Fails the connection if a group takes too long. If the group ends while this function runs, the
 * connection may fail nevertheless.
 */
static void rpcrdma_gather_work(struct work_struct *work)
{
	struct rpcrdma_gather *gather = container_of(to_delayed_work(work),
						     struct rpcrdma_gather,
						     ga_work);
	struct rpcrdma_conn *conn = rpcrdma_gather_conn(gather);
	unsigned long begun = READ_ONCE(gather->ga_begun);
	unsigned long now = jiffies;

	if (!begun)
		return;
	if (time_before(now, begun + RPCRDMA_GATHER_TIMEOUT)) {
		schedule_delayed_work(&gather->ga_work,
				      begun + RPCRDMA_GATHER_TIMEOUT - now);
		return;
	}
	rpcrdma_count(group_timeouts);
	rpcrdma_conn_fail(conn, -ETIMEDOUT);
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

/* Called for each Receive that is kept for a group, or given back; but not for the one that
 * completes a group. Fails the connection if the peer used Send With Invalidate: a region must stay
 * valid until the whole Reply has arrived, so only the Send that completes the Reply may invalidate
 * it (RTX-72, RTX-73).
 */
static void rpcrdma_gather_check_inv(struct rpcrdma_conn *conn,
				     const struct rpcrdma_recv *recv)
{
	if (unlikely(recv->rv_invalidated))
		rpcrdma_conn_fail(conn, -EPROTO);
}

static void rpcrdma_gather_release(struct rpcrdma_gather *gather)
{
	struct rpcrdma_recv *first = gather->ga_first;

	gather->ga_first = NULL;
	if (first)
		rpcrdma_msg_put(&first->rv_msg);
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

static void rpcrdma_gather_sum(struct rpcrdma_msg_in *msg)
{
	const struct rpcrdma_recv *recv;

	for (recv = msg->mi_more; recv; recv = recv->rv_msg.mi_more) {
		msg->mi_more_recvs++;
		msg->mi_more_len += recv->rv_len;
		msg->mi_more_body += recv->rv_msg.mi_here;
	}
}

/* Returns the verdict on the complete group: is it short enough, and does its data match its
 * items (rtx.h)? If the items cannot be read from the header, any error will do as the verdict: the
 * owner finds the exact reason when it decodes the header.
 */
static enum rpcrdma_verdict
rpcrdma_gather_judge(const struct rpcrdma_gather *gather)
{
	struct rpcrdma2_item items[RPCRDMA2_RTX_MAX_ITEMS];
	const struct rpcrdma_msg_in *msg = &gather->ga_first->rv_msg;
	struct rpcrdma2_transmission first;

	if (!rpcrdma2_peek_rtx(rpcrdma_msg_head(msg),
			       rpcrdma_msg_head_room(msg), &first) ||
	    !rpcrdma2_rtx_items(&first, items))
		return RPCRDMA_BAD_GROUP;
	return rpcrdma_group_judge(&gather->ga_group, &gather->ga_limits, items,
				   first.tx_nitems);
}

static void rpcrdma_gather_whole(struct rpcrdma_conn *conn)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;
	struct rpcrdma_recv *first = gather->ga_first;
	struct rpcrdma_msg_in *msg = &first->rv_msg;

	msg->mi_group = true;
	msg->mi_verdict = rpcrdma_gather_judge(gather);
	rpcrdma_gather_sum(msg);
	first->rv_invalidated = gather->ga_last->rv_invalidated;
	first->rv_inv_rkey = gather->ga_last->rv_inv_rkey;
	gather->ga_first = NULL;
	rpcrdma_count(groups_received);
	trace_rpcrdma_group(conn, &gather->ga_group);
	conn->cn_ops->receive(conn, msg);
}

static void rpcrdma_gather_does(struct rpcrdma_conn *conn,
				struct rpcrdma_recv *recv,
				enum rpcrdma_group_does does,
				const struct rpcrdma2_transmission *tx)
{
	switch (does) {
	case RPCRDMA_GROUP_PASS:
		conn->cn_ops->receive(conn, &recv->rv_msg);
		break;
	case RPCRDMA_GROUP_KEEP:
		rpcrdma_gather_check_inv(conn, recv);
		rpcrdma_gather_add(&conn->cn_gather, recv, tx);
		break;
	case RPCRDMA_GROUP_WHOLE:
		rpcrdma_gather_add(&conn->cn_gather, recv, tx);
		rpcrdma_gather_whole(conn);
		break;
	case RPCRDMA_GROUP_STRAY:
		rpcrdma_count(group_strays);
		fallthrough;
	case RPCRDMA_GROUP_RETURN:
		rpcrdma_gather_check_inv(conn, recv);
		rpcrdma_recv_put(recv);
		break;
	}
}

static void rpcrdma_gather_tell(struct rpcrdma_conn *conn,
				struct rpcrdma_group_step *step)
{
	u32 i;

	for (i = 0; i < step->gs_nends; i++) {
		step->gs_ends[i].ge_close = step->gs_close &&
					    i == step->gs_nends - 1;
		rpcrdma_count(groups_broken);
		trace_rpcrdma_group_end(conn, &step->gs_ends[i]);
		conn->cn_ops->group_ended(conn, &step->gs_ends[i]);
	}
}

/* Notes when the first transmission of a group arrived, or that there is no group (RTX-85).
 * The time is made odd, because 0 means that there is no group.
 */
static void rpcrdma_gather_watch(struct rpcrdma_gather *gather, bool begins)
{
	if (gather->ga_group.gr_state == RPCRDMA_GROUP_IDLE) {
		WRITE_ONCE(gather->ga_begun, 0);
	} else if (begins) {
		WRITE_ONCE(gather->ga_begun, jiffies | 1);
		/* This has no effect if the work is scheduled already. */
		schedule_delayed_work(&gather->ga_work, RPCRDMA_GATHER_TIMEOUT);
	}
}

/* Handles a message on a connection on which groups may arrive. */
static void rpcrdma_gather_take(struct rpcrdma_conn *conn,
				struct rpcrdma_msg_in *msg)
{
	struct rpcrdma_gather *gather = &conn->cn_gather;
	struct rpcrdma2_transmission tx;
	struct rpcrdma_group_step step;
	bool is_rtx, back;

	msg->mi_group = false;
	is_rtx = rpcrdma2_peek_rtx(rpcrdma_msg_head(msg),
				   rpcrdma_msg_head_room(msg), &tx);
	if (!is_rtx && gather->ga_group.gr_state == RPCRDMA_GROUP_IDLE) {
		conn->cn_ops->receive(conn, msg);
		return;
	}

	rpcrdma_group_take(&gather->ga_group, &gather->ga_limits,
			   is_rtx ? &tx : NULL, &step);
	rpcrdma_gather_watch(gather, is_rtx && tx.tx_first);
	if (step.gs_release)
		rpcrdma_gather_release(gather);
	/* If the Receive is not needed, give it back before rpcrdma_gather_tell() tells the
	 * owner about a broken group, because the owner may answer the group at once (RTX-77).
	 */
	back = step.gs_does == RPCRDMA_GROUP_RETURN ||
	       step.gs_does == RPCRDMA_GROUP_STRAY;
	if (back)
		rpcrdma_gather_does(conn, rpcrdma_msg_first(msg), step.gs_does,
				    &tx);
	rpcrdma_gather_tell(conn, &step);
	/* An owner with ops->softirq handles broken groups later in a thread, and then closes the
	 * connection itself (ge_close).
	 */
	if (step.gs_close && !(step.gs_nends && conn->cn_ops->softirq))
		rpcrdma_conn_fail(conn, -EPROTO);
	if (!back)
		rpcrdma_gather_does(conn, rpcrdma_msg_first(msg), step.gs_does,
				    &tx);
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
