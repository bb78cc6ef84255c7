// SPDX-License-Identifier: GPL-2.0
/*
 * Giving back messages whose Receives are blocks: what else has to be done. This file
 * never says when a message is given back, and never looks into one.
 *
 * Operation
 *
 * A Call is executed where it was received, and its pages are handed to whoever executes
 * it. That may keep some for longer: a socket that has not sent them yet, or a file system
 * that took a reference. So before a Reply is posted its thread looks at the Receives, and
 * leaves memory that somebody holds to them (invariant I34). A Reply that waits for send
 * queue slots is posted by a completion handler later; nobody has got a page meanwhile, as
 * only the Call's thread could hand one out.
 *
 * If there is no other memory, the connection is lost, as where there is none for the Reply
 * itself. The Receive is not posted again, and no Reply says that the client may send to it.
 */
#include <rpcrdma/fail.h>

#include "svc_rdma.h"
#include "trace.h"

/**
 * svc_rdma_msg_renew_blocks - have nobody else look at a message
 * @sx: its connection, whose Receives are blocks, or whose verbs end is being closed
 * @msg: message, or NULL
 *
 * Context: process; sleeps; inside svc_rdma_srcu.
 * Return: 0 or a negative errno.
 */
int svc_rdma_msg_renew_blocks(struct svc_rdma_xprt *sx,
			      struct rpcrdma_msg_in *msg)
{
	/* Nothing is left of a group that was broken. */
	if (!msg || READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_DROP)
		return 0;
	rpcrdma_fail_keep_page(rpcrdma_msg_body(msg));
	return rpcrdma_msg_renew(msg);
}

/**
 * svc_rdma_msg_put_blocks - give a message back
 * @sx: its connection, whose Receives are blocks, or whose verbs end is being closed
 * @msg: message
 *
 * Context: process; sleeps; inside svc_rdma_srcu. Does not sleep where
 *	svc_rdma_msg_renew_blocks() was called before, or by whoever closes the connection.
 */
void svc_rdma_msg_put_blocks(struct svc_rdma_xprt *sx,
			     struct rpcrdma_msg_in *msg)
{
	int rc = 0;

	if (READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_RENEW)
		rc = rpcrdma_msg_renew(msg);
	if (rc)
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	if (rc || READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_DROP)
		rpcrdma_msg_drop(msg);
	else
		rpcrdma_msg_put(msg);
}
