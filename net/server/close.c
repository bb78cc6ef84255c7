// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection of the server. This file releases the device and the memory of a
 * connection, whatever the client does, and even if threads that execute its Calls are stuck.
 * Only memory that such a thread still uses is released later. Other files decide that a
 * connection has to end.
 *
 * Operation
 *
 * A connection can be lost at any time. svc_rdma_close_begin() closes the line for send queue
 * slots and tells sunrpc, which has a thread call svc_rdma_detach() when one is available.
 * svc_rdma_close_begin() also queues svc_rdma_down_work(), which closes sx_conn: it destroys
 * the CM id and the queue pair, and frees the Receives. This work needs no nfsd thread, and
 * does not wait for Calls that are being executed: all threads may be waiting for storage, while
 * the device has to be removed or the memory is needed. When sx_conn is closed, threads may
 * still hold Calls of the connection, and the Receives that contain these Calls. By then, Calls
 * and Receives are ordinary memory that the device does not access. svc_rdma_down_work() waits
 * for threads only while they are in functions of this module that use this connection (sx_inside),
 * where no thread waits for a peer. It does not wait for threads that use other connections.
 *
 * svc_rdma_conn_end() drains the queues, so that the device has no work left. It destroys
 * the RDMA Reads and Writes (rdma_rw contexts) and then the queues, so that no completion
 * follows. Then it frees what is left in the lists. The struct svc_rdma_xprt itself stays
 * until its last reference is dropped: see svc_rdma_free(). svc_rdma_down_work() and
 * svc_rdma_free_work() may still run when the connection's reference to the module has been
 * dropped: svc_rdma_exit() waits for them.
 */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/rdma_cm.h>

#include "svc_rdma.h"
#include "trace.h"

/* Runs svc_rdma_down_work() and svc_rdma_free_work(), which sleep. The functions that queue
 * them, ops->lost() and xpo_free, must not sleep.
 */
static struct workqueue_struct *svc_rdma_free_wq;

/* Destroy the RDMA Reads and Writes of all Calls and Sends in the lists of the connection. The
 * queues were drained, but a provider may still report a flushed completion for one of these
 * Calls or Sends. That is harmless: a handler of a flushed completion does not touch the lists
 * or the transfers.
 */
static void svc_rdma_conn_end_transfers(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct svc_rdma_send *send;
	struct svc_rdma_call *call;

	/* A thread that frees a pulled Call may still be looking at the first waiting one. */
	spin_lock(&sx->sx_lock);
	list_splice_init(&sx->sx_posted.po_reading, &queue->qu_complete);
	list_splice_init(&queue->qu_waiting, &queue->qu_complete);
	spin_unlock(&sx->sx_lock);
	list_for_each_entry(call, &queue->qu_complete, sc_list)
		svc_rdma_chain_destroy(sx, &call->sc_reads);

	list_splice_init(&sx->sx_posted.po_sending, &sx->sx_sends.sp_idle);
	list_for_each_entry(send, &sx->sx_sends.sp_idle, ss_list)
		svc_rdma_chain_destroy(sx, &send->ss_writes);
}

/* Free what is left in the lists. The queues were destroyed, so no completion follows. */
static void svc_rdma_conn_flush(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_queue *queue = &sx->sx_queue;
	struct list_head *idle = &sx->sx_sends.sp_idle;
	struct svc_rdma_send *send;
	struct svc_rdma_call *call, *next_call;

	list_for_each_entry_safe(call, next_call, &queue->qu_complete, sc_list)
		svc_rdma_call_free(call);
	/* svc_rdma_send_reset() may remove further entries: the other Sends of a group that was
	 * not posted.
	 */
	while ((send = list_first_entry_or_null(idle, struct svc_rdma_send,
						ss_list))) {
		svc_rdma_send_reset(send);
		list_del(&send->ss_list);
		svc_rdma_send_free(send);
	}
	svc_rdma_queue_drop(sx);
}

static void svc_rdma_all_outside(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct svc_rdma_xprt,
			       sx_inside)->sx_outside);
}

/**
 * svc_rdma_end_inside - let nobody enter a connection any more, and wait until all have left
 * @sx: connection for which this was not called before
 *
 * Completion handlers and the keepalive need not enter: they are stopped before the objects that
 * they use are freed. A function that has entered may call completion handlers
 * (rpcrdma_send_cq_poll()), and these then run inside.
 *
 * Context: process; sleeps.
 */
void svc_rdma_end_inside(struct svc_rdma_xprt *sx)
{
	smp_wmb();	/* pairs with svc_rdma_enter() */
	percpu_ref_kill(&sx->sx_inside);
	wait_for_completion(&sx->sx_outside);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_end_inside);

/* Close sx_conn. When nobody is inside any more, and the queues are drained, nobody else changes
 * the lists. But a thread that frees a Call looks at qu_waiting (svc_rdma_pull_next()), also from
 * outside.
 */
static void svc_rdma_conn_end(struct svc_rdma_xprt *sx)
{
	WRITE_ONCE(sx->sx_back, SVC_RDMA_BACK_DROP);
	svc_rdma_bc_close_all(sx);
	svc_rdma_end_inside(sx);
	debugfs_remove(sx->sx_debugfs);	/* waits until readers have left */
	sx->sx_debugfs = NULL;
	svc_rdma_reclaim_leave(sx);
	rpcrdma_conn_drain(&sx->sx_conn);
	svc_rdma_conn_end_transfers(sx);
	rpcrdma_conn_destroy_queues(&sx->sx_conn);
	svc_rdma_conn_flush(sx);
	rpcrdma_recv_pool_orphan(&sx->sx_conn.cn_recvs);
	rpcrdma_conn_close(&sx->sx_conn);
	svc_rdma_budget_update(sx, 0);
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
	svc_rdma_budget_leave(sx);
	percpu_ref_exit(&sx->sx_inside);
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
	svc_rdma_bc_close_all(sx);
	CLASS(svc_rdma_inside, inside)(sx);
	/* rdma_disconnect() leads to a disconnect event and to flushed Receives. The first of
	 * these causes a call of ops->lost(), which queues sx_down.
	 */
	if (inside && !svc_rdma_is_down(sx))
		rdma_disconnect(sx->sx_conn.cn_id);
}

/**
 * svc_rdma_free - xpo_free: nobody has a reference to a connection any more
 * @xprt: connection; svc_rdma_accept() may never have returned it to sunrpc
 *
 * The last reference may be dropped under a spinlock: nfsd holds its client_lock while it
 * drops a session's references to connections.
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
 * svc_rdma_close_begin - begin to close a connection that was lost
 * @sx: connection, accepted or not
 *
 * Context: any that may take a lock; does not sleep.
 */
void svc_rdma_close_begin(struct svc_rdma_xprt *sx)
{
	rpcrdma_sq_close(&sx->sx_conn.cn_sq);
	/* If no reference is left, svc_rdma_free_work() closes sx_conn. */
	if (!kref_get_unless_zero(&sx->sx_xprt.xpt_ref))
		return;
	/* If sunrpc is closing the connection already, it need not be told again. */
	if (!svc_xprt_is_dead(&sx->sx_xprt))
		svc_xprt_deferred_close(&sx->sx_xprt);
	queue_work(svc_rdma_free_wq, &sx->sx_down);
}

/**
 * svc_rdma_close_init_xprt - set up what closes a new connection
 * @sx: connection
 *
 * Context: process.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_close_init_xprt(struct svc_rdma_xprt *sx)
{
	INIT_WORK(&sx->sx_down, svc_rdma_down_work);
	INIT_WORK(&sx->sx_free, svc_rdma_free_work);
	init_completion(&sx->sx_outside);
	return percpu_ref_init(&sx->sx_inside, svc_rdma_all_outside, 0,
			       GFP_KERNEL);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_close_init_xprt);

/**
 * svc_rdma_close_init - create the workqueue that closes connections
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
 * Context: process; module exit, or failed init. Waits until all connections are closed.
 */
void svc_rdma_close_exit(void)
{
	destroy_workqueue(svc_rdma_free_wq);
}
