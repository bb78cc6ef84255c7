// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: its slots, Sends, and posting. A Send is a work request with a buffer for the
 * message, and a waiter, by which it can wait in line for slots. This file does not know what is
 * sent, how many Sends there are, or which of them are signaled: the connection's owner decides
 * that. The part about slots knows nothing about the work requests.
 *
 * Operation
 *
 * The message is written to a buffer that stays mapped from one message to the next. So a
 * Send takes one SGE and nothing has to be mapped for it. Most messages are small, because
 * most large data goes by RDMA, without a copy. If an owner wants a Send to include other
 * memory, it provides the SGEs, and keeps that memory mapped until the Send has completed.
 *
 * The owner calls rpcrdma_send_prepare(), and reserves slots for the whole chain: for the
 * Send, and for any work requests in front of the Send. Then it posts the chain with
 * rpcrdma_conn_post(). From then on the Send belongs to the device. Work requests
 * complete in order, so when the Send completes, all earlier requests have completed, too. But on
 * some devices, the buffer of an earlier Send may still be in use: see dc_unsignaled_max (size.h).
 *
 * A message may take several Sends (a group, see rtx.h). The owner prepares each of them, adds the
 * second and all later ones to sd_more of the first (rpcrdma_send_add()), and reserves slots for
 * the whole group. Just before it posts the group, it links the work requests
 * (rpcrdma_send_chain()).
 *
 * The gate (cn_gate) says whether work requests may be posted to the send queue. It is shut before
 * the queues are drained. From then on, only the drain marker is posted. (The marker is the work
 * request that ib_drain_qp() posts, and whose completion it waits for.) If another work request
 * were posted behind the marker, it could complete after its memory was freed (invariant I1 in
 * Documentation/locking.rst).
 */
#include <kunit/visibility.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/send.h>

#include "conn_state.h"
#include "trace.h"

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

/* Posts a list of work requests, if the gate is open. */
static int rpcrdma_conn_post_list(struct rpcrdma_conn *conn,
				  const struct ib_send_wr *first, bool awaited)
{
	const struct ib_send_wr *bad;

	if (!READ_ONCE(conn->cn_gate))
		return -ENOTCONN;
	if (awaited)
		rpcrdma_send_cq_await(conn);
	return ib_post_send(conn->cn_id->qp, first, &bad);
}

/* A task checks the gate and posts in one read-side critical section of RCU, so
 * rpcrdma_conn_shut_gate() can wait for it. In most cases no lock is needed, because the driver
 * serialises the tasks that post to a queue. But if the device may mix the lists of two tasks
 * (dc_splits_lists), cn_post_lock makes the tasks post one after the other (invariant I37).
 */
static int rpcrdma_conn_post_first(struct rpcrdma_conn *conn,
				   const struct ib_send_wr *first, bool awaited)
{
	int rc;

	rcu_read_lock();
	if (likely(!conn->cn_caps.dc_splits_lists)) {
		rc = rpcrdma_conn_post_list(conn, first, awaited);
	} else {
		spin_lock(&conn->cn_post_lock);
		rc = rpcrdma_conn_post_list(conn, first, awaited);
		spin_unlock(&conn->cn_post_lock);
	}
	rcu_read_unlock();
	if (unlikely(rc)) {
		trace_rpcrdma_post_err(conn, rc);
		rpcrdma_conn_fail(conn, rc);
	}
	return rc;
}

/**
 * rpcrdma_conn_post - post send queue work requests
 * @conn: connection
 * @first: first request of a chain; the caller has reserved slots for all of it
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: 0; or a negative errno, and the connection is down. After an error, part of
 *	the chain may have been posted, and is executed or flushed. The rest never completes.
 */
int rpcrdma_conn_post(struct rpcrdma_conn *conn, const struct ib_send_wr *first)
{
	return rpcrdma_conn_post_first(conn, first, false);
}

/**
 * rpcrdma_conn_post_awaited - post work requests whose completion must be handled at once
 * @conn: connection
 * @first: first request of a chain, like that of rpcrdma_conn_post()
 *
 * If the chain succeeds, one of its completion handlers must call rpcrdma_send_cq_seen() once.
 *
 * Context: process or completion workqueue; does not sleep.
 * Return: as rpcrdma_conn_post().
 */
int rpcrdma_conn_post_awaited(struct rpcrdma_conn *conn,
			      const struct ib_send_wr *first)
{
	return rpcrdma_conn_post_first(conn, first, true);
}

/**
 * rpcrdma_conn_shut_gate - refuse send queue work requests from now on
 * @conn: connection in any state
 *
 * When this returns, no task that found the gate open is still posting. So a drain marker that is
 * posted afterwards is behind all other requests (invariant I1).
 *
 * Context: process; sleeps. Calls for the same connection must not overlap.
 * Return: true if the gate was open.
 */
bool rpcrdma_conn_shut_gate(struct rpcrdma_conn *conn)
{
	if (!conn->cn_gate)
		return false;
	WRITE_ONCE(conn->cn_gate, false);
	synchronize_rcu();
	return true;
}

/*
 * The free slots of a connection's send queue, and the line of waiters for slots.
 *
 * Each work request takes a slot, except the keepalive's probe and the drain marker of
 * ib_drain_qp(). The slot is reserved before the request is posted, and released when the request
 * is known to have completed. A chain of requests takes all its slots in one step.
 *
 * A task never sleeps to wait for slots, because the peer determines how long that takes. If
 * too few slots are free, the caller puts a waiter into the line and goes on with other work,
 * tries again later, or gives up. Released slots go only to the first waiter in the line, so
 * short chains cannot starve a long one. There is one exception: client messages that are not
 * Calls, such as answers to callbacks, must not wait, so they take slots by rpcrdma_sq_overtake().
 *
 * Work that has its slots is posted without waiting for anything else. So at a server, the line
 * moves as long as the device completes requests (invariant I9). A client's Call also reserves the
 * slots for the invalidations of its regions. They are held until the regions are invalidated,
 * normally when the Reply has come. So a client's line may also have to wait for Replies.
 *
 * The task that releases slots serves the line: as long as there are enough slots for the
 * first waiter, it gives the waiter its slots, removes it from the line, and calls its
 * wt_ready(). The line's lock is not held during this call.
 *
 * As long as the line is empty, taking and releasing slots needs no lock. A release
 * first adds the slots and then looks for waiters. Joining first adds the waiter and
 * then looks for slots. So no waiter is missed.
 */

/**
 * rpcrdma_sq_init - set up a send queue without slots
 * @sq: send queue of a new connection, zeroed
 *
 * Context: any.
 */
void rpcrdma_sq_init(struct rpcrdma_sq *sq)
{
	spin_lock_init(&sq->sq_lock);
	INIT_LIST_HEAD(&sq->sq_waiters);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_init);

/**
 * rpcrdma_sq_open - set the number of slots of a send queue that now exists
 * @sq: send queue without reserved slots; it may have been closed already
 * @size: number of slots
 *
 * Context: process.
 */
void rpcrdma_sq_open(struct rpcrdma_sq *sq, u32 size)
{
	WRITE_ONCE(sq->sq_size, size);
	atomic_set(&sq->sq_free, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_open);

/* If enough slots are free for the first waiter, takes them and removes the waiter from the
 * line. Returns the waiter, or NULL.
 */
static struct rpcrdma_sq_waiter *rpcrdma_sq_next(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter;

	spin_lock_bh(&sq->sq_lock);
	waiter = list_first_entry_or_null(&sq->sq_waiters,
					  struct rpcrdma_sq_waiter, wt_list);
	if (waiter &&
	    rpcrdma_sq_overtake(sq, waiter->wt_slots, waiter->wt_leave)) {
		list_del_init(&waiter->wt_list);
		WRITE_ONCE(sq->sq_nwaiting, sq->sq_nwaiting - 1);
	} else {
		waiter = NULL;
	}
	spin_unlock_bh(&sq->sq_lock);
	return waiter;
}

/**
 * rpcrdma_sq_serve - hand slots to waiters
 * @sq: send queue
 *
 * This returns when the line is empty or too few slots are left for its first waiter.
 * wt_ready() may release slots, which are handed out before this returns. But wt_ready() must
 * not call rpcrdma_sq_serve() or rpcrdma_sq_join().
 *
 * Context: process or completion workqueue; does not sleep, and neither does
 *	wt_ready(). The caller may hold locks of its own.
 */
void rpcrdma_sq_serve(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter;

	while ((waiter = rpcrdma_sq_next(sq))) {
		trace_rpcrdma_sq_wait(sq, waiter->wt_slots);
		waiter->wt_ready(waiter);
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_serve);

/**
 * rpcrdma_sq_join - wait in line for slots
 * @sq: send queue
 * @waiter: waiter; must stay valid until wt_ready() or rpcrdma_sq_close() is called
 *
 * wt_ready() is called when the waiter has got its slots, possibly before this returns.
 * It is not called if the send queue is closed before that.
 *
 * Context: like rpcrdma_sq_serve(), which it calls.
 */
void rpcrdma_sq_join(struct rpcrdma_sq *sq, struct rpcrdma_sq_waiter *waiter)
{
	spin_lock_bh(&sq->sq_lock);
	if (!sq->sq_closed) {
		list_add_tail(&waiter->wt_list, &sq->sq_waiters);
		WRITE_ONCE(sq->sq_nwaiting, sq->sq_nwaiting + 1);
	}
	spin_unlock_bh(&sq->sq_lock);
	/* Slots may have been released before the waiter was in the line. So look for
	 * slots once more. Pairs with rpcrdma_sq_release().
	 */
	smp_mb();
	rpcrdma_sq_serve(sq);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_join);

/**
 * rpcrdma_sq_close - stop handing out slots, and empty the line
 * @sq: send queue
 *
 * Tasks that already have slots may still post, until the gate is shut.
 *
 * Context: process, completion workqueue, softirq or CM event; does not sleep.
 */
void rpcrdma_sq_close(struct rpcrdma_sq *sq)
{
	struct rpcrdma_sq_waiter *waiter, *next;

	spin_lock_bh(&sq->sq_lock);
	WRITE_ONCE(sq->sq_closed, true);
	list_for_each_entry_safe(waiter, next, &sq->sq_waiters, wt_list)
		list_del_init(&waiter->wt_list);
	WRITE_ONCE(sq->sq_nwaiting, 0);
	spin_unlock_bh(&sq->sq_lock);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_sq_close);
