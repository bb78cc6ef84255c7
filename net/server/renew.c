// SPDX-License-Identifier: GPL-2.0
/*
 * Giving back messages whose Receives may have blocks of pages as buffers (struct rpcrdma_buf). A
 * Receive with target segments (rtx.h) has a block, and so has a Receive that is too large for a
 * slab. This file replaces blocks that other code still uses. It does not decide when a message is
 * given back, and does not read messages.
 *
 * Operation
 *
 * If possible, a Call is executed where it was received, and the pages with its data are handed to
 * the code that executes it. Other code may use some pages for longer: a socket that has not sent
 * them yet, or a file system that took a reference. So before a Reply is posted, its thread checks
 * the Receives of the Call. If other code has a reference to a block, the Receive gets a new block,
 * and the old one is freed with its last reference (invariant I34). If a Reply waits for send queue
 * slots, another task posts it later, usually a completion handler. In the meantime no upper layer
 * can get a page, because only the Call's thread hands pages out. So the task that posts the Reply
 * does not check the Receives again, and allocates nothing (svc_rdma_msg_put_renewed()).
 *
 * If no new block can be allocated, the connection fails, as it does if there is no memory for
 * the Reply itself. The Receive is not posted again, and no Reply grants a credit for it.
 */
#include <rpcrdma/fail.h>

#include "svc_rdma.h"
#include "trace.h"

/**
 * svc_rdma_msg_renew_blocks - replace each block of a message that other code still uses
 * @sx: connection of the message; sx_back is not %SVC_RDMA_BACK_PLAIN
 * @msg: message
 *
 * Context: process; sleeps; the caller has entered the connection (svc_rdma_enter()).
 * Return: 0; or a negative errno, and then no Reply may be posted.
 */
int svc_rdma_msg_renew_blocks(struct svc_rdma_xprt *sx,
			      struct rpcrdma_msg_in *msg)
{
	if (READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_DROP)
		return 0;
	if (rpcrdma_fails(server_keep))
		rpcrdma_fail_keep(rpcrdma_msg_body(msg));
	return rpcrdma_msg_renew(msg);
}

/**
 * svc_rdma_msg_put_blocks - give back a message whose Receives may have blocks of pages
 * @sx: connection of the message; sx_back is not %SVC_RDMA_BACK_PLAIN
 * @msg: message
 *
 * Context: process; sleeps if a block has to be replaced. The caller has entered the connection; or
 *	it closes the connection, and then this function does not sleep.
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
