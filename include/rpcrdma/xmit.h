/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function that client and server need for sunrpc's send_request(). net/client and
 * net/server must not include each other's files, and net/core, net/wire and net/verbs must
 * not use sunrpc (see "The law of looking" in Documentation/architecture.rst). So the
 * function is in this header.
 */
#ifndef RPCRDMA_XMIT_H
#define RPCRDMA_XMIT_H

#include <linux/errno.h>
#include <linux/sunrpc/xprt.h>

/**
 * rpcrdma_xmit_status - choose the status of send_request() for sunrpc
 * @rqst: the request
 * @rc: 0 or a negative errno
 *
 * The task that holds the send lock sends the requests in sunrpc's queue, some of which may
 * belong to other tasks. sunrpc gives the error to the task that holds the lock. An error
 * that is final for @rqst must not end the RPC of a different task.
 *
 * Context: any; send lock held.
 * Return: @rc; or %-ENOBUFS, after which sunrpc tries again, if @rc would end the RPC of
 *	another task.
 */
static inline int rpcrdma_xmit_status(const struct rpc_rqst *rqst, int rc)
{
	if (rqst->rq_task == rqst->rq_xprt->snd_task)
		return rc;
	return rc == -EIO || rc == -EINVAL || rc == -EMSGSIZE ? -ENOBUFS : rc;
}

#endif /* RPCRDMA_XMIT_H */
