/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A message on its way out.
 */
#ifndef RPCRDMA_SEND_H
#define RPCRDMA_SEND_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/buf.h>
#include <rpcrdma/cid.h>
#include <rpcrdma/sq.h>

struct rpcrdma_conn;

/**
 * struct rpcrdma_send - one Send
 * @sd_list: for the owner: what is posted, or at rest
 * @sd_conn: connection it is made for
 * @sd_buf: its buffer, mapped: the message, or the beginning of it
 * @sd_slots: send queue slots that it, and what is posted with it, gives back when it
 *	completes
 * @sd_wait: waits in line for slots
 * @sd_cid: its completion ID
 * @sd_cqe: its completion, finds the Send
 * @sd_wr: the work request. Its SGEs are @sd_sge, unless the owner has an array of
 *	more, of which the first is like that; no more than qz_send_sges
 * @sd_sge: SGE of the buffer
 * @sd_more: of the first Send of a group: the others (sd_list), in order, until it is
 *	posted
 * @sd_nmore: how many
 *
 * Part of what the owner keeps of a Send. Owned by that, or by the device from posting
 * to completion. A message of several transmissions is a group of Sends: one chain,
 * posted in one go, so that nothing comes between them (RTX-40).
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

/* The Send that has completed */
static inline struct rpcrdma_send *rpcrdma_send_of(const struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct rpcrdma_send, sd_cqe);
}

/* Bytes of the message, once rpcrdma_send_prepare() was called */
static inline u32 rpcrdma_send_len(const struct rpcrdma_send *send)
{
	u32 len = 0;
	int i;

	for (i = 0; i < send->sd_wr.num_sge; i++)
		len += send->sd_wr.sg_list[i].length;
	return len;
}

/* The device is about to read the first @len bytes of the buffer. */
static inline void rpcrdma_send_prepare(struct rpcrdma_send *send, u32 len)
{
	send->sd_wr.sg_list->length = len;
	rpcrdma_buf_sync_for_device(&send->sd_buf, len);
}

/* @more is the last Send of the group that @first begins. It is at rest, on no list. */
static inline void rpcrdma_send_add(struct rpcrdma_send *first,
				    struct rpcrdma_send *more)
{
	list_add_tail(&more->sd_list, &first->sd_more);
	first->sd_nmore++;
}

/* The last Send of the group that @first begins, or @first itself, until it is posted */
static inline struct rpcrdma_send *
rpcrdma_send_last(struct rpcrdma_send *first)
{
	return list_empty(&first->sd_more) ? first :
	       list_last_entry(&first->sd_more, struct rpcrdma_send, sd_list);
}

/* Moves all of a group but its first Send to the end of @list. */
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
void rpcrdma_send_exit(struct rpcrdma_send *send);

#endif /* RPCRDMA_SEND_H */
