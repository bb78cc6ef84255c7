/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What net/client and net/server both know about how sunrpc sends. Neither of them may
 * include the other's files, and the folders below them do not know sunrpc (see "The law of
 * looking" in Documentation/architecture.rst). So this header belongs to neither side.
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
 * The task that holds the send lock sends the first request in sunrpc's queue, which
 * may be the request of another task. sunrpc gives the error to the task that holds
 * the lock. An error that is final for @rqst must not end a different task's RPC.
 *
 * Context: any; send lock held.
 * Return: @rc; or %-ENOBUFS, after which sunrpc tries again, if @rc would end the RPC of
 *	another task.
 */
static inline int rpcrdma_xmit_status(const struct rpc_rqst *rqst, int rc)
{
	if (rqst->rq_task == rqst->rq_xprt->snd_task)
		return rc;
	return rc == -EIO || rc == -EMSGSIZE ? -ENOBUFS : rc;
}

#endif /* RPCRDMA_XMIT_H */
