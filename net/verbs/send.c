// SPDX-License-Identifier: GPL-2.0
/*
 * Sends. A Send is a work request with a buffer for the message, and a waiter, by which it can wait
 * in line for send queue slots (sq.h). This file never posts a Send. It does not know what is sent,
 * how many Sends there are, or which of them are signaled: the connection's owner decides that.
 *
 * Operation
 *
 * The message is written to a buffer that stays mapped from one message to the next. So a
 * Send takes one SGE and nothing has to be mapped for it. Most messages are small, because
 * most large data goes by RDMA, without a copy. If an owner wants a Send to include other
 * memory, it provides the SGEs, and keeps that memory mapped until the Send has completed.
 *
 * The owner calls rpcrdma_send_prepare(), and reserves slots (sq.h) for the whole chain: for the
 * Send, and for any work requests in front of the Send. Then it posts the chain with
 * rpcrdma_conn_post(). From then on the Send belongs to the device. Work requests
 * complete in order, so when the Send completes, all earlier requests have completed, too. But on
 * some devices, the buffer of an earlier Send may still be in use: see dc_unsignaled_max (size.h).
 *
 * A message may take several Sends (a group, see rtx.h). The owner prepares each of them, adds the
 * second and all later ones to sd_more of the first (rpcrdma_send_add()), and reserves slots for
 * the whole group. Just before it posts the group, it links the work requests
 * (rpcrdma_send_chain()).
 */
#include <rpcrdma/conn.h>
#include <rpcrdma/send.h>

/**
 * rpcrdma_send_init - initialise a Send without a buffer
 * @send: Send, zeroed
 * @conn: connection with queues
 * @done: completion handler, which finds the Send with rpcrdma_send_of()
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
 * rpcrdma_send_alloc - give a Send a buffer, or replace its buffer by another
 * @send: Send that is not posted
 * @size: size in bytes
 * @least: size to fall back to if @size cannot be allocated; equal to @size if there is no
 *	such size
 * @gfp: allocation flags
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: 0; or %-ENOMEM or %-EIO, and the Send keeps the buffer that it had, if any.
 */
int rpcrdma_send_alloc(struct rpcrdma_send *send, u32 size, u32 least,
		       gfp_t gfp)
{
	struct ib_device *device = rpcrdma_conn_device(send->sd_conn);
	struct rpcrdma_buf buf;
	int rc;

	rc = rpcrdma_buf_init(&buf, device, size, 0, DMA_TO_DEVICE, gfp);
	if (rc && least < size)
		rc = rpcrdma_buf_init(&buf, device, least, 0, DMA_TO_DEVICE,
				      gfp);
	if (rc)
		return rc;
	rpcrdma_buf_exit(&send->sd_buf);
	send->sd_buf = buf;
	send->sd_sge.addr = buf.bf_addr;
	return 0;
}

/**
 * rpcrdma_send_chain - link the work requests of all Sends of a message
 * @first: first Send of the group; or a single Send, which then ends its chain
 *
 * The owner then posts the whole group by one call of rpcrdma_conn_post(). If it posts other
 * work requests before the group, it links the last of them to sd_wr of @first.
 *
 * Context: any; the Sends are not posted.
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
 * @send: Send that the device no longer uses, or a zeroed one
 *
 * Context: any.
 */
void rpcrdma_send_exit(struct rpcrdma_send *send)
{
	rpcrdma_buf_exit(&send->sd_buf);
}
