// SPDX-License-Identifier: GPL-2.0
/*
 * The Send room: a work request, its buffer and its place in the line for slots. It
 * neither posts nor knows what is sent, how many Sends there are, or which of them are
 * signaled: owners say that.
 *
 * Operation
 *
 * The message is written to a buffer that stays mapped for the life of the Send: one
 * SGE, nothing to map, nothing of an RPC's that the device could still look at later.
 * Messages are small; large data goes by RDMA from where it is.
 *
 * The owner reserves slots for the Send and for what it posts in front of it (sq.h),
 * calls rpcrdma_send_prepare(), and posts the chain with rpcrdma_conn_post(). From then
 * on the Send is the device's. Work requests complete in order, so its completion tells
 * of all that was posted before.
 *
 * A message of several transmissions takes several Sends. The owner prepares each,
 * gathers them under the first (rpcrdma_send_add()), reserves slots for all, and links
 * them (rpcrdma_send_chain()) just before the first is posted.
 */
#include <rpcrdma/conn.h>
#include <rpcrdma/send.h>

/**
 * rpcrdma_send_init - make a Send, without a buffer
 * @send: zeroed
 * @conn: connection with queues
 * @done: completion handler; rpcrdma_send_of() tells it the Send
 *
 * Context: process.
 */
void rpcrdma_send_init(struct rpcrdma_send *send, struct rpcrdma_conn *conn,
		       void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	INIT_LIST_HEAD(&send->sd_list);
	INIT_LIST_HEAD(&send->sd_wait.wt_list);
	INIT_LIST_HEAD(&send->sd_more);
	send->sd_conn = conn;
	send->sd_cid = rpcrdma_conn_cid(conn);
	send->sd_cqe.done = done;
	send->sd_sge.lkey = conn->cn_pd->local_dma_lkey;
	send->sd_wr.wr_cqe = &send->sd_cqe;
	send->sd_wr.sg_list = &send->sd_sge;
	send->sd_wr.num_sge = 1;
	send->sd_wr.opcode = IB_WR_SEND;
}

/**
 * rpcrdma_send_alloc - give a Send a buffer, or a larger one
 * @send: Send that is at rest
 * @size: bytes
 * @least: bytes that have to do if there is no memory for @size in one piece; or @size
 * @gfp: how to allocate
 *
 * Context: process; may sleep if @gfp says so.
 * Return: 0; or %-ENOMEM or %-EIO, and the Send has the buffer that it had, if any.
 */
int rpcrdma_send_alloc(struct rpcrdma_send *send, u32 size, u32 least,
		       gfp_t gfp)
{
	struct ib_device *device = rpcrdma_conn_device(send->sd_conn);
	struct rpcrdma_buf buf;
	int rc;

	rc = rpcrdma_buf_init(&buf, device, size, DMA_TO_DEVICE, gfp);
	if (rc && least < size)
		rc = rpcrdma_buf_init(&buf, device, least, DMA_TO_DEVICE, gfp);
	if (rc)
		return rc;
	rpcrdma_buf_exit(&send->sd_buf);
	send->sd_buf = buf;
	send->sd_sge.addr = buf.bf_addr;
	return 0;
}

/**
 * rpcrdma_send_chain - link the work requests of a group
 * @first: its first Send; or one that is no group, which then is last in its chain
 *
 * All of them are posted with the first, by one call of rpcrdma_conn_post(). What the
 * owner posts in front of it leads to its work request.
 *
 * Context: any; the Sends are at rest.
 */
void rpcrdma_send_chain(struct rpcrdma_send *first)
{
	struct rpcrdma_send *prev = first, *send;

	list_for_each_entry(send, &first->sd_more, sd_list) {
		prev->sd_wr.next = &send->sd_wr;
		prev = send;
	}
	prev->sd_wr.next = NULL;
}

/**
 * rpcrdma_send_exit - free the buffer of a Send
 * @send: Send that the device no longer has; or zeroed
 *
 * Context: any.
 */
void rpcrdma_send_exit(struct rpcrdma_send *send)
{
	rpcrdma_buf_exit(&send->sd_buf);
}
