// SPDX-License-Identifier: GPL-2.0
/*
 * The server's credits: how many Calls each client may have in progress, and
 * the Receives that stand behind the promise. This file owns struct svc_rdma_credits.
 * It never looks at a message or a version: how large Receives have to be is told by
 * server/negotiate.c.
 *
 * A credit stands for a Receive. A Call takes one, since it is one Send; so does the
 * Reply to a callback (RPCRDMA_MSG_RECVS). All that is counted and compared here is
 * Receives: those that are posted, held, or were filled, whatever they hold.
 *
 * Operation
 *
 * Receives are most of what a connection costs, and most connections are at
 * rest most of the time. So a connection begins with few credits, and when the
 * client makes use of them, they are doubled, up to max_requests: a busy client
 * has all of them within a few round trips. It makes use of them if more than
 * half are taken. But a server that is quicker than the Calls come never sees
 * many at once, and does not know that the client waits for credits while its
 * Calls are on a long way. So it also grants as many as Calls arrived in the last
 * 125 ms: for round trips up to that, credits are no limit.
 *
 * A client that has not shown yet that it may use an export keeps the credits that it
 * begins with, or many of them could make this server run out of memory.
 *
 * The Receives are posted first, then Replies grant them (RFC 8166 3.3.1). They are
 * not taken back. What they pin has a bound: where it is met, the client goes on
 * with fewer credits.
 *
 * Before the first message has shown the version, and with it how large
 * Receives have to be, there is one credit and there are a few Receives, which
 * are large enough for either version.
 *
 * Receives for the replies to callbacks come with the backchannel (rfc5666bis 8.2.2.2), of
 * which a client of NFSv3 or NFSv4.0 has none. In version 2 there are two more,
 * so that messages that take no credit find one in a full window (G-16).
 */
#include <rpcrdma/counters.h>
#include <rpcrdma/param.h>

#include "svc_rdma.h"
#include "trace.h"

/* Credits of a new connection */
#define SVC_RDMA_CREDITS_FIRST	2u
/* Calls per credit and second above which a client gets more credits */
#define SVC_RDMA_CREDITS_RATE	8u
/* Receives while the version is open: a client may send one message until it
 * has an answer; two to spare
 */
#define SVC_RDMA_RECVS_FEW	3u

/* Old clients send more than that, see "Old clients" in compat.rst */
static unsigned int svc_rdma_first_receives = SVC_RDMA_RECVS_FEW;
rpcrdma_param_range(first_receives, svc_rdma_first_receives, 0,
		    SVC_RDMA_REQUESTS_MAX);
MODULE_PARM_DESC(first_receives,
		 "Server: Receives of a new connection, at least");

/**
 * svc_rdma_credits_init - set up a connection without credits
 * @credits: of a new connection
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

/* Receives for @credits, as many as there may be, and for the replies to @backward
 * callbacks. Returns an error if not even the credits that were granted are left.
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

	/* There may be no room for so many Receives. No credit is taken back. */
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
 * svc_rdma_credits_few - Receives of a connection whose version is open
 * @sx: connection that is being accepted, sized, with room for its Receives
 * @recv_size: bytes of each, enough for either version
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno: there is not enough memory to accept it.
 */
int svc_rdma_credits_few(struct svc_rdma_xprt *sx, u32 recv_size)
{
	u32 room = rpcrdma_recv_pool_room(&sx->sx_conn.cn_recvs, recv_size);
	u32 count = max(SVC_RDMA_RECVS_FEW, svc_rdma_credits_first(room));

	sx->sx_credit.cd_granted = rpcrdma_credit_advertise(0);
	return rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count, recv_size);
}

/**
 * svc_rdma_credits_begin - first credits and Receives of a settled connection
 * @sx: connection with room for its Receives
 * @recv_size: bytes of each
 * @spare: Receives for what takes no credit
 *
 * Context: process; sleeps. Under sx_grow, or nobody knows the connection yet.
 * Return: 0 or a negative errno: there is not enough memory, and if there are
 *	Receives already, the client goes on with those.
 */
int svc_rdma_credits_begin(struct svc_rdma_xprt *sx, u32 recv_size, u32 spare)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 first = min(SVC_RDMA_CREDITS_FIRST, sx->sx_sizes.sz_requests);

	cd->cd_recv_size = recv_size;
	cd->cd_spare_recvs = spare;
	return svc_rdma_credits_provide(sx, rpcrdma_credit_advertise(first), 0);
}

/* Does the client send more than its credits allow for? Another thread may
 * begin the next second, and then counts from a later start than this one has
 * seen.
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

/* Credits that a Call would have taken, had it not come by Read chunk. A client that has
 * few takes chunks for want of credits, and would never get more (RTX-83).
 */
static u32 svc_rdma_credits_spared(const struct svc_rdma_call *call)
{
	const struct svc_rdma_xprt *sx = call->sc_sx;
	const struct rpcrdma2_rtx *ours = &sx->sx_negotiate.ng_rtx;
	u32 sends;

	if (!(sx->sx_conn.cn_rtx.xp_flags & RPCRDMA2_RTX_F_SENDS) ||
	    (call->sc_hdr.hd_proc != RPCRDMA2_NOMSG &&
	     call->sc_stream_len == call->sc_body_len))
		return 0;
	sends = DIV_ROUND_UP(call->sc_stream_len,
			     sx->sx_conn.cn_limits.lm_inline_recv);
	return sends <= ours->xp_call_max ? sends - 1 : 0;
}

/**
 * svc_rdma_credits_use - a Call is in progress: are the credits enough?
 * @call: Call
 *
 * If memory is short, the client goes on with what it has.
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
	/* Somebody is at it already */
	if (!mutex_trylock(&sx->sx_grow))
		return;
	credits = min(2 * cd->cd_granted, max);
	if (!svc_rdma_credits_provide(sx, credits, cd->cd_bc_recvs))
		trace_svc_rdma_credits(sx);
	mutex_unlock(&sx->sx_grow);
}

/**
 * svc_rdma_credits_backward - have Receives for replies to callbacks
 * @sx: connection
 * @requests: callbacks in flight at most
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno, and there is to be no callback.
 */
int svc_rdma_credits_backward(struct svc_rdma_xprt *sx, u32 requests)
{
	int rc;

	svc_rdma_inside();
	/* A callback will find out */
	if (svc_rdma_is_down(sx))
		return 0;
	mutex_lock(&sx->sx_grow);
	rc = svc_rdma_credits_provide(sx, sx->sx_credit.cd_granted,
				      requests * RPCRDMA_MSG_RECVS);
	mutex_unlock(&sx->sx_grow);
	return rc;
}
