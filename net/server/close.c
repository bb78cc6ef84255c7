// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection of the server: threads, memory and the device come back
 * whatever the client does, and whatever the threads are stuck in. This file never
 * decides that a connection is to end, and is called by nothing that it calls.
 *
 * Operation
 *
 * A connection can be lost at any time, in any context. svc_rdma_conn_lost()
 * only closes the line for send queue slots, tells sunrpc, which will have a thread
 * call svc_rdma_detach() when there is one, and has svc_rdma_down_work() close the
 * verbs end. That needs no thread of nfsd and waits for none: they may all be stuck
 * in some other client's storage, and the device may have to go, or the memory be
 * needed. What threads still hold of such a connection, Calls and the Receives these
 * look at, is plain memory; they are only waited for while they are in this module
 * (svc_rdma_srcu), where nobody waits for a peer.
 *
 * To close is to drain the queues, so that nothing is in the hands of the device
 * any more, end the transfers, destroy the queues, so that nothing completes any
 * more, and free what rests in lists. The struct svc_rdma_xprt itself stays until
 * the last reference is gone: svc_rdma_free(). Both works may outlast the
 * connection's reference to the module: svc_rdma_exit() waits for them.
 */
#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/rdma_cm.h>

#include "svc_rdma.h"
#include "trace.h"

/* That sleeps, and neither ops->lost() nor xpo_free may */
static struct workqueue_struct *svc_rdma_free_wq;

/* Entered by everybody who uses the verbs end of a connection, except
 * completion handlers. Inside, they look whether the connection is down. Nobody
 * stays inside longer than an allocation takes.
 */
DEFINE_SRCU(svc_rdma_srcu);

/* The device has nothing any more. What is on the lists may still complete,
 * flushed; handlers then leave it alone.
 */
static void svc_rdma_conn_end_transfers(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_send *send;
	struct svc_rdma_call *call;

	list_splice_init(&sx->sx_posted.po_reading, &queue->qu_complete);
	list_splice_init(&queue->qu_waiting, &queue->qu_complete);
	list_for_each_entry(call, &queue->qu_complete, sc_list)
		svc_rdma_chain_destroy(sx, &call->sc_reads);

	list_splice_init(&sx->sx_posted.po_sending, &sx->sx_sends.sp_idle);
	list_for_each_entry(send, &sx->sx_sends.sp_idle, ss_send.sd_list)
		svc_rdma_chain_destroy(sx, &send->ss_writes);
}

/* Nothing completes any more. */
static void svc_rdma_conn_flush(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_send *send, *next_send;
	struct svc_rdma_call *call, *next_call;
	struct rpcrdma_msg_in *msg, *next_msg;

	list_for_each_entry_safe(call, next_call, &queue->qu_complete, sc_list)
		svc_rdma_call_free(call);
	list_for_each_entry_safe(send, next_send, &sx->sx_sends.sp_idle,
				 ss_send.sd_list)
		svc_rdma_send_destroy(send);
	list_for_each_entry_safe(msg, next_msg, &queue->qu_received, mi_list)
		rpcrdma_msg_drop(msg);
}

/* Close the verbs end. Threads that come from here on see that it is down and
 * leave all of it alone, so the lists belong to this function.
 */
static void svc_rdma_conn_end(struct svc_rdma_xprt *sx)
{
	WRITE_ONCE(sx->sx_back, SVC_RDMA_BACK_DROP);
	svc_rdma_backward_close(sx);
	synchronize_srcu(&svc_rdma_srcu);
	svc_rdma_debugfs_destroy(sx);
	rpcrdma_conn_drain(&sx->sx_conn);
	svc_rdma_conn_end_transfers(sx);
	rpcrdma_conn_destroy_queues(&sx->sx_conn);
	svc_rdma_conn_flush(sx);
	rpcrdma_recv_pool_orphan(&sx->sx_conn.cn_recvs);
	rpcrdma_conn_close(&sx->sx_conn);
}

static void svc_rdma_down_work(struct work_struct *work)
{
	struct svc_rdma_xprt *sx = container_of(work, struct svc_rdma_xprt,
						sx_down);

	svc_rdma_conn_end(sx);
	svc_xprt_put(&sx->sx_xprt);
}

static void svc_rdma_free_work(struct work_struct *work)
{
	struct svc_rdma_xprt *sx = container_of(work, struct svc_rdma_xprt,
						sx_free);

	trace_svc_rdma_free(sx, sx->sx_conn.cn_error);
	if (sx->sx_conn.cn_id)
		svc_rdma_conn_end(sx);
	kfree(sx);
}

/**
 * svc_rdma_detach - xpo_detach: sunrpc ends a connection
 * @xprt: connection
 *
 * Context: process.
 */
void svc_rdma_detach(struct svc_xprt *xprt)
{
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt);

	rpcrdma_sq_close(&sx->sx_conn.cn_sq);
	svc_rdma_backward_close(sx);
	svc_rdma_inside();
	/* The flushed Receives, or an event, then have it closed. */
	if (!svc_rdma_is_down(sx))
		rdma_disconnect(sx->sx_conn.cn_id);
}

/**
 * svc_rdma_free - xpo_free: nobody has a reference to a connection any more
 * @xprt: connection; sunrpc may never have been told about it
 *
 * The last reference may be dropped under a spinlock: nfsd of 6.12 ends the
 * connections of a session under its client_lock.
 *
 * Context: any that may take a lock.
 */
void svc_rdma_free(struct svc_xprt *xprt)
{
	struct svc_rdma_xprt *sx = svc_rdma_xprt_of(xprt);

	set_bit(XPT_DEAD, &xprt->xpt_flags);
	queue_work(svc_rdma_free_wq, &sx->sx_free);
}

/**
 * svc_rdma_close_begin - a connection was lost
 * @sx: connection that is not in its listener's queue (any more)
 *
 * Context: any; does not sleep.
 */
void svc_rdma_close_begin(struct svc_rdma_xprt *sx)
{
	rpcrdma_sq_close(&sx->sx_conn.cn_sq);
	/* Without a reference left, it is being freed anyway. */
	if (!kref_get_unless_zero(&sx->sx_xprt.xpt_ref))
		return;
	/* Once it is dead, sunrpc has done with it and has put its namespace */
	if (!svc_xprt_is_dead(&sx->sx_xprt))
		svc_xprt_deferred_close(&sx->sx_xprt);
	queue_work(svc_rdma_free_wq, &sx->sx_down);
}

/**
 * svc_rdma_close_init_xprt - prepare a new connection for its end
 * @sx: connection
 *
 * Context: any.
 */
void svc_rdma_close_init_xprt(struct svc_rdma_xprt *sx)
{
	INIT_WORK(&sx->sx_down, svc_rdma_down_work);
	INIT_WORK(&sx->sx_free, svc_rdma_free_work);
}

/**
 * svc_rdma_close_init - get ready to close connections
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_close_init(void)
{
	svc_rdma_free_wq = alloc_workqueue("svc_rdma_free",
					   WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return svc_rdma_free_wq ? 0 : -ENOMEM;
}

/**
 * svc_rdma_close_exit - undo svc_rdma_close_init()
 *
 * Context: process; module exit, or failed init. Waits for what is being closed.
 */
void svc_rdma_close_exit(void)
{
	destroy_workqueue(svc_rdma_free_wq);
}
