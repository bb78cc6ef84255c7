/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Send: a message to be sent, or being sent.
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
 * @sd_list: link for the owner, in a list of posted or idle Sends
 * @sd_conn: connection that the Send belongs to
 * @sd_buf: mapped buffer with the message, or with its beginning
 * @sd_slots: number of send queue slots that are released when the Send completes: its
 *	own, and those of the work requests posted with it
 * @sd_wait: entry in the line for slots
 * @sd_cid: completion ID
 * @sd_cqe: completion, from which rpcrdma_send_of() finds the Send
 * @sd_wr: the work request. Its SGE is @sd_sge, unless the owner provides an array of
 *	SGEs. The first SGE of such an array also describes @sd_buf, and the array has at
 *	most qz_send_sges entries.
 * @sd_sge: SGE for the buffer
 *
 * Embedded in the owner's Send structure. Belongs to the device from posting to
 * completion, and to the owner otherwise.
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
};

/* Returns the Send that a completion belongs to. */
static inline struct rpcrdma_send *rpcrdma_send_of(const struct ib_wc *wc)
{
	return container_of(wc->wr_cqe, struct rpcrdma_send, sd_cqe);
}

/* Length of the message in bytes. Valid after rpcrdma_send_prepare(). */
static inline u32 rpcrdma_send_len(const struct rpcrdma_send *send)
{
	u32 len = 0;
	int i;

	for (i = 0; i < send->sd_wr.num_sge; i++)
		len += send->sd_wr.sg_list[i].length;
	return len;
}

/* Hands the first @len bytes of the buffer to the device before posting. */
static inline void rpcrdma_send_prepare(struct rpcrdma_send *send, u32 len)
{
	send->sd_wr.sg_list->length = len;
	rpcrdma_buf_sync_for_device(&send->sd_buf, len);
}

void rpcrdma_send_init(struct rpcrdma_send *send, struct rpcrdma_conn *conn,
		       void (*done)(struct ib_cq *cq, struct ib_wc *wc));
int rpcrdma_send_alloc(struct rpcrdma_send *send, u32 size, u32 least,
		       gfp_t gfp);
void rpcrdma_send_exit(struct rpcrdma_send *send);

#endif /* RPCRDMA_SEND_H */
