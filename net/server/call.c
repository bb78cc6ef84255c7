// SPDX-License-Identifier: GPL-2.0
/*
 * The Call object (struct svc_rdma_call). A thread that takes a message creates one. If the message
 * is a Call that can be executed, the object exists until sunrpc is done with the Call. Otherwise
 * the object is freed when the message has been handled. Objects that are still in a list of the
 * connection when the connection is closed are freed then.
 *
 * This file knows what resources a Call holds, and releases all of them. It never looks at a
 * message. server/recvfrom.c and server/sendto.c decide what happens to a Call.
 *
 * There is no struct svc_rdma_call for a Receive that is only posted, so an idle connection takes
 * little memory. rq_xprt_ctxt of a request points to its svc_rdma_call. While the request is
 * deferred, sunrpc keeps this pointer in xprt_ctxt of the svc_deferred_req. When the request has
 * ended, for whatever reason, sunrpc calls svc_rdma_release_ctxt().
 */
#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>

#include "svc_rdma.h"

static struct kmem_cache *svc_rdma_call_cache;

/**
 * svc_rdma_call_cache_init - create the slab cache of Calls
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_call_cache_init(void)
{
	svc_rdma_call_cache = KMEM_CACHE(svc_rdma_call, 0);
	return svc_rdma_call_cache ? 0 : -ENOMEM;
}

/**
 * svc_rdma_call_cache_exit - undo svc_rdma_call_cache_init()
 *
 * Context: process; no connection is left.
 */
void svc_rdma_call_cache_exit(void)
{
	kmem_cache_destroy(svc_rdma_call_cache);
}

/**
 * svc_rdma_call_create - make a Call
 * @sx: connection on which the message arrived
 * @msg: message; it belongs to the Call from now on
 *
 * Context: process; sleeps.
 * Return: the Call, not yet decoded; or NULL, and then @msg still belongs to the
 *	caller.
 */
struct svc_rdma_call *svc_rdma_call_create(struct svc_rdma_xprt *sx,
					   struct rpcrdma_msg_in *msg)
{
	struct svc_rdma_call *call;

	call = kmem_cache_alloc(svc_rdma_call_cache, GFP_KERNEL);
	if (!call)
		return NULL;
	/* The decoder sets sc_hdr, the largest member. */
	memset_after(call, 0, sc_hdr);
	call->sc_sx = sx;
	call->sc_msg = msg;
	call->sc_vers = RPCRDMA_VERS_1;
	svc_rdma_chain_init(&call->sc_reads);
	return call;
}

/**
 * svc_rdma_call_put_msg - give back the message of a Call
 * @call: Call whose message is not needed any more
 *
 * Context: process; may sleep, see svc_rdma_msg_put().
 */
void svc_rdma_call_put_msg(struct svc_rdma_call *call)
{
	if (!call->sc_msg)
		return;
	svc_rdma_msg_put(call->sc_sx, call->sc_msg);
	call->sc_msg = NULL;
}

/**
 * svc_rdma_call_free - free a Call and all that it holds
 * @call: Call that has no RDMA Reads in progress
 *
 * Context: process; may sleep.
 */
void svc_rdma_call_free(struct svc_rdma_call *call)
{
	svc_rdma_chain_destroy(call->sc_sx, &call->sc_reads);
	svc_rdma_slots_release(call->sc_sx, call->sc_slots);
	svc_rdma_pages_free(call);
	if (call->sc_counted) {
		svc_rdma_budget_count(call, 0);
		svc_rdma_pull_next(call->sc_sx);
	}
	svc_rdma_call_put_msg(call);
	kmem_cache_free(svc_rdma_call_cache, call);
}

/**
 * svc_rdma_release_ctxt - xpo_release_ctxt: sunrpc is done with a request
 * @xprt: connection
 * @ctxt: struct svc_rdma_call of the request, or NULL
 *
 * Context: process.
 */
void svc_rdma_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	/* If the connection is being closed, its Receives are not posted again (sx_back). */
	CLASS(svc_rdma_inside, inside)(svc_rdma_xprt_of(xprt));
	if (ctxt)
		svc_rdma_call_free(ctxt);
}
