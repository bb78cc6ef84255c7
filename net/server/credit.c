// SPDX-License-Identifier: GPL-2.0
/*
 * The server's credits, which limit the Calls that the client of a connection may have in
 * progress, and the Receives that are posted for them. This file owns struct svc_rdma_credits.
 * It decodes no message and compares no version: server/negotiate.c tells it how large
 * Receives have to be.
 *
 * A credit stands for a Receive. A Call takes one credit for each Send that it comes in.
 * The Reply to a callback takes RPCRDMA_MSG_RECVS Receives. Numbers in this file are numbers of
 * Receives, not of messages, except the number of callbacks in svc_rdma_credits_backward().
 *
 * Operation
 *
 * Receives are most of what a connection costs, and most connections are idle most of
 * the time. So a connection begins with few credits. When the client uses them, they
 * are doubled, up to max_requests, or fewer if the device is too small: a busy client has all
 * of them within a few round trips. A client counts as using its credits if more than half of
 * them are taken when a thread takes a Call. But if the server answers fast, it never holds many
 * Calls at once, even if a client with a long round trip waits for credits. So the server also
 * doubles the credits if, within a second, messages of the client have used more than
 * SVC_RDMA_CREDITS_RATE (8) Receives for each credit. A client that waits for credits uses one
 * Receive per round trip and credit. So it gets more credits if its round-trip time is less
 * than 125 ms.
 *
 * A client keeps its initial credits until it has shown that it may use an export.
 * Otherwise many clients without that right could use up the memory of this server.
 *
 * The Receives are posted before a Reply grants the credits for them (RFC 8166 3.3.1).
 * Credits are not taken back. The memory that the Receives of a connection pin is limited; a
 * client that reaches the limit keeps the credits that it has.
 *
 * The first valid message shows the version, and the size of Receives depends on the version.
 * Until then the client has one credit, and there are a few Receives, which are large
 * enough for either version.
 *
 * Receives for the replies to callbacks are added with the first backchannel
 * (rfc5666bis 8.2.2.2). A client of NFSv3 or NFSv4.0 has no backchannel. In version 2 there
 * are two more Receives, for messages that take no credit and may arrive when all credits
 * are in use (G-16).
 */
#include <rpcrdma/counters.h>
#include <rpcrdma/param.h>

#include "svc_rdma.h"
#include "trace.h"

/* Number of credits of a new connection, once its version is known */
#define SVC_RDMA_CREDITS_FIRST	2u
/* Number of Receives per second for each credit: a client that uses more gets more credits */
#define SVC_RDMA_CREDITS_RATE	8u
/* Number of Receives until the version is settled. A client may send one message before
 * it has an answer; the other two Receives are spare.
 */
#define SVC_RDMA_RECVS_FEW	3u

/* Minimum number of Receives of a connection, if there is room for them. A value above
 * SVC_RDMA_RECVS_FEW is for clients that send more messages before the first answer; see "Old
 * clients" in compat.rst
 */
static unsigned int svc_rdma_first_receives = SVC_RDMA_RECVS_FEW;
rpcrdma_param_range(first_receives, svc_rdma_first_receives, 0,
		    SVC_RDMA_REQUESTS_MAX);
MODULE_PARM_DESC(first_receives,
		 "Server: Receives of a new connection, at least");

/**
 * svc_rdma_credits_init - set up a connection without credits
 * @credits: credits of a new connection
 *
 * Context: any.
 */
void svc_rdma_credits_init(struct svc_rdma_credits *credits)
{
	memset(credits, 0, sizeof(*credits));
	credits->cd_second = jiffies;
}

static u32 svc_rdma_credits_first(u32 room)
{
	return min(READ_ONCE(svc_rdma_first_receives), room);
}

/* Create and post Receives for @credits, and @backward Receives for the replies to callbacks.
 * Then grant the credits. If the pool has no room for so many Receives, fewer credits are
 * granted, but never fewer than before. Returns a negative errno if Receives cannot be created
 * or posted; the grant then does not change.
 */
static int svc_rdma_credits_provide(struct svc_rdma_xprt *sx, u32 credits,
				    u32 backward)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 room = rpcrdma_recv_pool_room(&sx->sx_conn.cn_recvs,
					  cd->cd_recv_size);
	u32 others = backward + cd->cd_spare_recvs;
	u32 count;
	int rc;

	credits = min(credits, rpcrdma_size_credits(room, others));
	credits = max(credits, rpcrdma_credit_advertise(cd->cd_granted));
	count = rpcrdma_size_recvs(credits + others);
	count = max(count, svc_rdma_credits_first(room));
	rc = rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count,
				    cd->cd_recv_size);
	if (rc)
		return rc;
	cd->cd_bc_recvs = backward;
	WRITE_ONCE(cd->cd_granted, credits);
	return 0;
}

/**
 * svc_rdma_credits_few - post Receives before the version of a connection is known
 * @sx: connection that is being accepted; its receive queue has been sized
 * @recv_size: size of each Receive in bytes, enough for either version
 *
 * Context: process; sleeps.
 * Return: 0; or an error of rpcrdma_recv_pool_grow().
 */
int svc_rdma_credits_few(struct svc_rdma_xprt *sx, u32 recv_size)
{
	u32 room = rpcrdma_recv_pool_room(&sx->sx_conn.cn_recvs, recv_size);
	u32 count = max(SVC_RDMA_RECVS_FEW, svc_rdma_credits_first(room));

	sx->sx_credit.cd_granted = rpcrdma_credit_advertise(0);
	return rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count, recv_size);
}

/**
 * svc_rdma_credits_begin - set the first credits once the version is known
 * @sx: connection; its receive queue has been sized
 * @recv_size: size of each Receive in bytes
 * @spare: Receives for messages that take no credit
 *
 * Context: process; sleeps. The caller holds sx_grow; or it is accepting the connection, on
 *	which no other thread sends or receives yet.
 * Return: 0; or an error of rpcrdma_recv_pool_grow(). Unless the connection is down then, the
 *	client can use the Receives that exist.
 */
int svc_rdma_credits_begin(struct svc_rdma_xprt *sx, u32 recv_size, u32 spare)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 first = min(SVC_RDMA_CREDITS_FIRST, sx->sx_sizes.sz_requests);

	cd->cd_recv_size = recv_size;
	cd->cd_spare_recvs = spare;
	return svc_rdma_credits_provide(sx, rpcrdma_credit_advertise(first), 0);
}

/* Have messages of the client used more than SVC_RDMA_CREDITS_RATE Receives for each credit in
 * the current second? Another thread may begin the next second meanwhile, and then
 * cd_second_received may be larger than the local variable received. So the comparison is signed.
 */
static bool svc_rdma_credits_busy(struct svc_rdma_xprt *sx, u32 credits)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u64 received = READ_ONCE(sx->sx_stats.vs_received);
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(cd->cd_second) + HZ)) {
		WRITE_ONCE(cd->cd_second, now);
		WRITE_ONCE(cd->cd_second_received, received);
		return false;
	}
	return (s64)(received - READ_ONCE(cd->cd_second_received)) >
	       (s64)credits * SVC_RDMA_CREDITS_RATE;
}

/* Estimates how many credits beyond the first a Call that came by Read chunk would have taken if
 * it had come as a group. A client that has too few credits for a group uses Read chunks. If these
 * credits were not counted as used, the client would never get more (RTX-83).
 */
static u32 svc_rdma_credits_spared(const struct svc_rdma_call *call)
{
	const struct svc_rdma_xprt *sx = call->sc_sx;
	const struct rpcrdma2_rtx *ours = &sx->sx_negotiate.ng_rtx;
	u32 sends;

	if (!(sx->sx_conn.cn_rtx.xp_flags & RPCRDMA2_RTX_F_SENDS) ||
	    call->sc_nitems ||
	    (call->sc_hdr.hd_proc != RPCRDMA2_NOMSG &&
	     call->sc_stream_len == call->sc_body_len))
		return 0;
	sends = DIV_ROUND_UP(call->sc_stream_len,
			     sx->sx_conn.cn_limits.lm_inline_recv);
	return sends <= ours->xp_call_max ? sends - 1 : 0;
}

/**
 * svc_rdma_credits_use - give a client more credits if it uses those that it has
 * @call: Call that has arrived
 *
 * If memory is short, the client goes on with the credits that it has.
 *
 * Context: process; sleeps.
 */
void svc_rdma_credits_use(const struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 credits = READ_ONCE(cd->cd_granted);
	u32 max = sx->sx_sizes.sz_requests;
	u32 used;

	if (likely(credits >= max) || !svc_rdma_is_known(sx))
		return;
	used = rpcrdma_recv_pool_held(&sx->sx_conn.cn_recvs) +
	       svc_rdma_credits_spared(call);
	if (2 * used <= credits && !svc_rdma_credits_busy(sx, credits))
		return;
	/* If another thread is adding Receives, leave it to that thread. */
	if (!mutex_trylock(&sx->sx_grow))
		return;
	credits = min(2 * cd->cd_granted, max);
	if (!svc_rdma_credits_provide(sx, credits, cd->cd_bc_recvs))
		trace_svc_rdma_credits(sx);
	mutex_unlock(&sx->sx_grow);
}

/**
 * svc_rdma_credits_backward - post Receives for the replies to callbacks
 * @sx: connection
 * @requests: maximum number of callbacks in flight
 *
 * Context: process; sleeps.
 * Return: 0; or a negative errno, and then no callback may be sent.
 */
int svc_rdma_credits_backward(struct svc_rdma_xprt *sx, u32 requests)
{
	int rc;

	svc_rdma_inside();
	/* The first callback will fail: see the beginning of server/backchannel.c */
	if (svc_rdma_is_down(sx))
		return 0;
	mutex_lock(&sx->sx_grow);
	rc = svc_rdma_credits_provide(sx, sx->sx_credit.cd_granted,
				      requests * RPCRDMA_MSG_RECVS);
	mutex_unlock(&sx->sx_grow);
	return rc;
}
