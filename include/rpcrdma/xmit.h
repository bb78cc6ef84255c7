/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What client and server both have to know of how sunrpc sends. Neither looks at
 * the other, and below them nothing knows sunrpc.
 */
#ifndef RPCRDMA_XMIT_H
#define RPCRDMA_XMIT_H

#include <linux/errno.h>
#include <linux/sunrpc/xprt.h>

/**
 * rpcrdma_xmit_status - what to tell sunrpc about a request that was not sent
 * @rqst: the request
 * @rc: 0 or a negative errno
 *
 * sunrpc sends what is first in its queue, in the name of whoever holds the
 * send lock, and that is who gets the error. Only the request that it is about
 * may fail for good: a bystander comes back later.
 *
 * Context: any; send lock held.
 * Return: @rc; or %-ENOBUFS instead of what would end a bystander.
 */
static inline int rpcrdma_xmit_status(const struct rpc_rqst *rqst, int rc)
{
	if (rqst->rq_task == rqst->rq_xprt->snd_task)
		return rc;
	return rc == -EIO || rc == -EMSGSIZE ? -ENOBUFS : rc;
}

#endif /* RPCRDMA_XMIT_H */
