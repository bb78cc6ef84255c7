/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Send: a message, or one transmission of a message (rtx.h), that is to be sent or is
 * being sent.
 */
#ifndef RPCRDMA_SEND_H
#define RPCRDMA_SEND_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/buf.h>
#include <rpcrdma/cid.h>
#include <rpcrdma/sq.h>
#include <rpcrdma/wire.h>

struct rpcrdma_conn;

/**
 * struct rpcrdma_send - one Send
 * @sd_list: link in @sd_more of the first Send of a group, until the group is posted; otherwise
 *	for the owner, who may link posted or idle Sends with it
 * @sd_conn: connection that the Send belongs to
 * @sd_buf: mapped buffer with the message; or, if the owner provides SGEs for other memory,
 *	with the beginning of the message
 * @sd_slots: number of send queue slots that are released when the Send completes: its own, and
 *	those of the work requests that its owner has posted in front of it in the same chain
 * @sd_wait: entry in the line of waiters for slots (sq.h)
 * @sd_cid: completion ID
 * @sd_cqe: completion, from which rpcrdma_send_of() finds the Send
 * @sd_wr: the work request. Its SGE is @sd_sge, unless the owner provides an array of
 *	SGEs. The first SGE of such an array also describes @sd_buf, and the array has at
 *	most as many entries as a send queue entry has (rpcrdma_conn_create_qp()).
 * @sd_sge: SGE for the buffer
 * @sd_more: in the first Send of a group, the other Sends, in order and linked by
 *	@sd_list, until the group is posted
 * @sd_nmore: number of Sends in @sd_more
 *
 * Embedded in the owner's Send structure. A Send belongs to the device from posting to
 * completion, and to the owner otherwise. A message of several transmissions is a group of
 * Sends. Their work requests form one chain, which is posted in one call, so that no other
 * message comes between them (RTX-40).
 */
struct rpcrdma_send {
	struct list_head		sd_list;
	struct rpcrdma_conn		*sd_conn;
	struct rpcrdma_buf		sd_buf;
	u32				sd_slots;
	struct rpcrdma_sq_waiter	sd_wait;
	struct rpcrdma_cid		sd_cid;
	struct ib_cqe			sd_cqe;
	struct ib_send_wr		sd_wr;
	struct ib_sge			sd_sge;
	struct list_head		sd_more;
	u32				sd_nmore;
};

/* Returns the Send that a completion belongs to. */
static inline struct rpcrdma_send *rpcrdma_send_of(const struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct rpcrdma_send, sd_cqe);
}

/* Returns the number of bytes to be sent. Valid after rpcrdma_send_prepare(). */
static inline u32 rpcrdma_send_len(const struct rpcrdma_send *send)
{
	u32 len = 0;
	int i;

	for (i = 0; i < send->sd_wr.num_sge; i++)
		len += send->sd_wr.sg_list[i].length;
	return len;
}

/* Called before posting: makes the first SGE @len bytes long, and hands these bytes of the
 * buffer to the device.
 */
static inline void rpcrdma_send_prepare(struct rpcrdma_send *send, u32 len)
{
	send->sd_wr.sg_list->length = len;
	rpcrdma_buf_sync_for_device(&send->sd_buf, len);
}

/* Changes the credit value in the header of a message that was prepared. Returns false if the
 * header had this value already.
 */
static inline bool rpcrdma_send_set_credit(struct rpcrdma_send *send, u32 credit)
{
	if (!rpcrdma_wire_set_credit(send->sd_buf.bf_data, credit))
		return false;
	rpcrdma_buf_sync_for_device(&send->sd_buf, RPCRDMA_FIXED_LEN);
	return true;
}

/* Appends @more to the group (rtx.h) that begins with @first. @more must be idle and on no list. */
static inline void rpcrdma_send_add(struct rpcrdma_send *first,
				    struct rpcrdma_send *more)
{
	list_add_tail(&more->sd_list, &first->sd_more);
	first->sd_nmore++;
}

/* Returns the last Send of the group (rtx.h) that begins with @first; or @first if no other Send
 * has been added to it. Valid until the group is posted.
 */
static inline struct rpcrdma_send *
rpcrdma_send_last(struct rpcrdma_send *first)
{
	return list_empty(&first->sd_more) ? first :
	       list_last_entry(&first->sd_more, struct rpcrdma_send, sd_list);
}

/* Returns the Send behind @send in the group (rtx.h) that begins with @first. Valid until the group
 * is posted; not for the last Send.
 */
static inline struct rpcrdma_send *
rpcrdma_send_following(struct rpcrdma_send *first, struct rpcrdma_send *send)
{
	return send == first ?
	       list_first_entry(&first->sd_more, struct rpcrdma_send, sd_list) :
	       list_next_entry(send, sd_list);
}

/* Moves all Sends of a group (rtx.h) except the first to the end of @list. */
static inline void rpcrdma_send_part(struct rpcrdma_send *first,
				     struct list_head *list)
{
	list_splice_tail_init(&first->sd_more, list);
	first->sd_nmore = 0;
}

void rpcrdma_send_init(struct rpcrdma_send *send, struct rpcrdma_conn *conn,
		       void (*done)(struct ib_cq *cq, struct ib_wc *wc));
int rpcrdma_send_alloc(struct rpcrdma_send *send, u32 size, u32 least,
		       gfp_t gfp);
void rpcrdma_send_chain(struct rpcrdma_send *first);

#endif /* RPCRDMA_SEND_H */
