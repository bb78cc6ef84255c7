// SPDX-License-Identifier: GPL-2.0
/*
 * The server's credits, which limit the Calls that the client of a connection may have in
 * progress, and the Receives that are posted for them. This file owns struct svc_rdma_credits.
 * It decodes no message and compares no version: server/negotiate.c tells it how large
 * Receives have to be.
 *
 * A credit stands for a Receive. A Call takes one credit for each Send that it comes in. The Reply
 * to a callback takes one Receive.
 *
 * Operation
 *
 * Receives are most of the memory that a connection costs, and most connections are idle most of
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
 * A client gets no more than its initial credits until it has shown that it may use an export
 * (svc_rdma_is_known()). Otherwise many clients without access to an export could use up the
 * memory of this server.
 *
 * The Receives are posted before a Reply grants the credits for them (RFC 8166 3.3.1).
 * When a Call arrives, and the last review was more than review_time seconds ago (a module
 * parameter), the credits of the client are reviewed. Credits are taken back if the client has not
 * needed them since the last review, or if it holds more than its part of the server's memory
 * (G-39). Their Receives are freed after core/grant.c has concluded that the client knows the
 * smaller grant.
 *
 * The memory that the Receives of one connection pin is limited, and so is the memory of all
 * connections together (server/budget.c). A client that reaches either limit gets no further
 * credits. The Receives with which a connection begins are counted, but server/budget.c cannot
 * refuse them.
 *
 * The size of Receives depends on the version. If the server accepts only version 1, the version
 * is known at once. Otherwise the first valid message shows it. Until then the client has one
 * credit, and there are a few Receives, which are large enough for either version.
 *
 * A Receive for the reply to a callback is added with the first backchannel, and more when
 * callbacks need them (rfc5666bis 8.2.2.2). A client of NFSv3 or NFSv4.0 has no backchannel. In
 * version 2 there are %RPCRDMA_RECV_SPARE more Receives, for messages that take no credit and may
 * arrive when all credits are in use (G-16).
 */
#include <rpcrdma/counters.h>
#include <rpcrdma/param.h>

#include "svc_rdma.h"
#include "trace.h"

/* Number of credits of a new connection, once its version is known */
#define SVC_RDMA_CREDITS_FIRST	2u
/* A client that uses more than this number of Receives per second and credit gets more credits */
#define SVC_RDMA_CREDITS_RATE	8u
/* Time in jiffies after which a connection asks again for memory that was refused */
#define SVC_RDMA_CREDITS_AGAIN	(HZ / 8)
/* Number of Receives until the version is settled, unless the parameter first_receives is larger.
 * A client may send one message before it has an answer. The other two Receives are spare.
 */
#define SVC_RDMA_RECVS_FEW	3u

/* Minimum number of Receives of a connection, as far as its receive queue and its limit on pinned
 * memory allow. A value above SVC_RDMA_RECVS_FEW is for clients that send more messages before
 * the first answer; see "Old clients" in compat.rst.
 */
static unsigned int svc_rdma_first_receives = SVC_RDMA_RECVS_FEW;
rpcrdma_param_range(first_receives, svc_rdma_first_receives, 0,
		    SVC_RDMA_REQUESTS_MAX);
MODULE_PARM_DESC(first_receives,
		 "Server: Receives of a new connection, at least");

/* Maximum of review_time in seconds */
#define SVC_RDMA_REVIEW_MAX	3600u
static unsigned int svc_rdma_review_time = 15;
rpcrdma_param_range(review_time, svc_rdma_review_time, 0, SVC_RDMA_REVIEW_MAX);
MODULE_PARM_DESC(review_time,
		 "Server: seconds after which credits that a client does not need are taken back, 0: never");

/**
 * svc_rdma_credits_init - set up the credits of a connection that has no Receives yet
 * @credits: credits of a new connection
 *
 * Context: any.
 */
void svc_rdma_credits_init(struct svc_rdma_credits *credits)
{
	memset(credits, 0, sizeof(*credits));
	rpcrdma_grant_init(&credits->cd_grant, rpcrdma_credit_advertise(0));
	credits->cd_reviewed = jiffies;
	credits->cd_second = jiffies;
}

static u32 svc_rdma_credits_first(u32 room)
{
	return min(READ_ONCE(svc_rdma_first_receives), room);
}

static u32 svc_rdma_credits_room(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_recv_pool_room(&sx->sx_conn.cn_recvs,
				      sx->sx_credit.cd_recv_size);
}

/* Returns the number of bytes in the buffer of a Send. */
static u32 svc_rdma_credits_send_size(const struct svc_rdma_xprt *sx)
{
	return READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send);
}

static void svc_rdma_credits_settle(struct svc_rdma_xprt *sx)
{
	svc_rdma_budget_settle(sx, sx->sx_credit.cd_grant.gn_bound *
				   svc_rdma_credits_send_size(sx));
}

/* Create and post Receives for @credits, and @backward Receives for the replies to callbacks.
 * Then grant the credits. @room is the maximum number of Receives. If it is too small, fewer
 * credits are granted, but never fewer than before. Returns 0; or a negative errno if Receives
 * cannot be created or posted, and then the grant does not change.
 */
static int svc_rdma_credits_provide(struct svc_rdma_xprt *sx, u32 credits,
				    u32 backward, u32 room)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 others = backward + cd->cd_spare_recvs;
	u32 count;
	int rc;

	credits = min(credits, rpcrdma_size_credits(room, others));
	credits = max(credits, cd->cd_grant.gn_told);
	count = rpcrdma_size_recvs(max(credits, cd->cd_grant.gn_bound) + others);
	count = max(count, svc_rdma_credits_first(room));
	rc = rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count,
				    cd->cd_recv_size);
	if (!rc) {
		cd->cd_bc_recvs = backward;
		spin_lock(&sx->sx_lock);
		rpcrdma_grant_raise(&cd->cd_grant, credits);
		spin_unlock(&sx->sx_lock);
	}
	svc_rdma_credits_settle(sx);
	return rc;
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
	int rc;

	rc = rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count, recv_size);
	svc_rdma_credits_settle(sx);
	return rc;
}

/**
 * svc_rdma_credits_begin - set the first credits once the version is known
 * @sx: connection; its receive queue has been sized
 * @recv_size: size of each Receive in bytes
 * @spare: Receives for messages that take no credit
 *
 * Context: process; sleeps. The caller holds sx_grow; or it is accepting the connection, on
 *	which no other thread sends or receives yet.
 * Return: 0; or an error of rpcrdma_recv_pool_grow(). If the connection is still up after an
 *	error, the client can use the Receives that exist.
 */
int svc_rdma_credits_begin(struct svc_rdma_xprt *sx, u32 recv_size, u32 spare)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 first = min(SVC_RDMA_CREDITS_FIRST, sx->sx_sizes.sz_requests);

	cd->cd_recv_size = recv_size;
	cd->cd_spare_recvs = spare;
	return svc_rdma_credits_provide(sx, rpcrdma_credit_advertise(first), 0,
					svc_rdma_credits_room(sx));
}

/* Returns true if messages of the client have used more than SVC_RDMA_CREDITS_RATE Receives for
 * each credit in the current second. Another thread may begin the next second at the same time.
 * Then cd_second_received may be larger than the local variable received. So the comparison is
 * signed.
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

/* A client that could send a Call inline, in several Sends (as a group, see rtx.h), uses Read
 * chunks instead if it has too few credits. Returns an estimate of how many more credits such a
 * Call would have taken as a group; 0 for any other Call. If these credits were not counted as
 * used, the client might never get enough credits for groups (RTX-83).
 */
static u32 svc_rdma_credits_spared(const struct svc_rdma_call *call)
{
	const struct svc_rdma_xprt *sx = call->sc_sx;
	const struct rpcrdma2_rtx *ours = &sx->sx_negotiate.ng_rtx;
	u32 sends;

	if (!(sx->sx_conn.cn_rtx.xp_flags & RPCRDMA2_RTX_F_SENDS) ||
	    call->sc_item.im_length ||
	    (call->sc_hdr.hd_proc != RPCRDMA2_NOMSG &&
	     call->sc_stream_len == call->sc_body_len))
		return 0;
	sends = DIV_ROUND_UP(call->sc_stream_len,
			     sx->sx_conn.cn_limits.lm_inline_recv);
	return sends <= ours->xp_call_max ? sends - 1 : 0;
}

/* Returns the number of bytes that a credit takes: the buffers of one Receive and one Send. */
static u32 svc_rdma_credits_price(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_buf_pins(sx->sx_credit.cd_recv_size,
				sx->sx_conn.cn_recvs.rp_order) +
	       svc_rdma_credits_send_size(sx);
}

static void svc_rdma_credits_refuse(struct svc_rdma_credits *cd)
{
	rpcrdma_count(server_loans_refused);
	WRITE_ONCE(cd->cd_refused, jiffies | 1);
}

/* Grants up to @credits credits, as many as svc_rdma_budget_borrow() lends memory for. If memory is
 * refused, the connection waits SVC_RDMA_CREDITS_AGAIN jiffies before it asks again, so that not
 * every Call takes the lock of the budget. The caller holds sx_grow.
 */
static void svc_rdma_credits_extend(struct svc_rdma_xprt *sx, u32 credits)
{
	struct rpcrdma_recv_pool *pool = &sx->sx_conn.cn_recvs;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 room = svc_rdma_credits_room(sx), count, got;
	u32 price = svc_rdma_credits_price(sx);
	u32 had = cd->cd_grant.gn_told;

	/* Even if enough Receives exist, grant no credits for them while this connection has
	 * more than its part of the memory.
	 */
	if (svc_rdma_budget_excess(sx)) {
		svc_rdma_credits_refuse(cd);
		return;
	}
	count = rpcrdma_size_recvs(credits + cd->cd_bc_recvs +
				   cd->cd_spare_recvs);
	count = min(max(count, pool->rp_count), room) - pool->rp_count;
	got = div_u64(svc_rdma_budget_borrow(sx, (u64)count * price), price);
	room = pool->rp_count + got;
	if (!svc_rdma_credits_provide(sx, credits, cd->cd_bc_recvs, room))
		trace_svc_rdma_credits(sx);
	if (cd->cd_grant.gn_told <= had && got < count)
		svc_rdma_credits_refuse(cd);
}

/* Was memory for more credits refused a short time ago? */
static bool svc_rdma_credits_is_refused(const struct svc_rdma_credits *cd)
{
	unsigned long refused = READ_ONCE(cd->cd_refused);

	return refused && time_before(jiffies, refused + SVC_RDMA_CREDITS_AGAIN);
}

/* Returns how many credits a client may keep. Its Calls since the last review show its need, which
 * is the larger of two numbers. One is twice the maximum number of credits in use at one time: with
 * fewer credits, svc_rdma_credits_use() would soon grant more. The other is the number of Receives
 * used per second, divided by SVC_RDMA_CREDITS_RATE. If the connection has more than its part of
 * the server's memory, it keeps fewer credits. The caller holds sx_grow.
 */
static u32 svc_rdma_credits_needed(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	unsigned long since = jiffies - cd->cd_reviewed;
	u64 received = READ_ONCE(sx->sx_stats.vs_received), rate, excess;
	u32 told = cd->cd_grant.gn_told, need;

	rate = div64_ul((received - cd->cd_reviewed_received) * HZ,
			max(since, 1ul) * SVC_RDMA_CREDITS_RATE);
	need = min_t(u64, told, max_t(u64, 2 * READ_ONCE(cd->cd_peak), rate));
	/* Take credits back only if at least half of them are not needed. */
	if (need > told / 2)
		need = told;
	excess = svc_rdma_budget_excess(sx);
	if (excess)
		need = min_t(u64, need, told -
			     min_t(u64, told,
				   div_u64(excess, svc_rdma_credits_price(sx)) + 1));
	return max(need, min(SVC_RDMA_CREDITS_FIRST, sx->sx_sizes.sz_requests));
}

/* Reduce the pool to the Receives that are promised to the client, and those for messages that take
 * no credit, such as replies to callbacks; but not below first_receives. The pool gets smaller as
 * Receives are given back, because these are then not posted again. The caller holds sx_grow.
 */
static void svc_rdma_credits_shrink(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 count = rpcrdma_size_recvs(cd->cd_grant.gn_bound +
				       cd->cd_bc_recvs + cd->cd_spare_recvs);

	count = max(count, svc_rdma_credits_first(svc_rdma_credits_room(sx)));
	rpcrdma_recv_pool_shrink(&sx->sx_conn.cn_recvs, count);
	svc_rdma_credits_settle(sx);
}

/* Begin to take back the credits that a client does not need. The Receives for replies to callbacks
 * were promised to nobody, so those that no callback uses now are taken out of the pool at once,
 * except one. The caller holds sx_grow.
 */
static void svc_rdma_credits_review(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 need = svc_rdma_credits_needed(sx);
	bool lowered = false;

	WRITE_ONCE(cd->cd_peak, 0);
	WRITE_ONCE(cd->cd_reviewed, jiffies);
	cd->cd_reviewed_received = READ_ONCE(sx->sx_stats.vs_received);
	spin_lock(&bw->bw_lock);
	cd->cd_bc_recvs = min(cd->cd_bc_recvs,
			      max(svc_rdma_backward_used(bw), 1u));
	spin_unlock(&bw->bw_lock);

	spin_lock(&sx->sx_lock);
	if (need < cd->cd_grant.gn_bound && need <= cd->cd_grant.gn_told)
		lowered = rpcrdma_grant_lower(&cd->cd_grant, need);
	spin_unlock(&sx->sx_lock);
	if (lowered)
		trace_svc_rdma_credits(sx);
	/* Even if the grant was not lowered, the pool may have more Receives than are needed:
	 * cd_bc_recvs may be smaller now, or svc_rdma_credits_provide() may have failed after it
	 * had created some.
	 */
	svc_rdma_credits_shrink(sx);
}

/* May svc_rdma_credits_check() have anything to do? If review_time is 0, it has nothing to do
 * unless credits are being taken back, or Receives that were taken out of the pool have to be
 * freed.
 */
static bool svc_rdma_credits_are_reviewed(const struct svc_rdma_xprt *sx)
{
	return unlikely(READ_ONCE(svc_rdma_review_time) ||
			READ_ONCE(sx->sx_credit.cd_grant.gn_lowering) ||
			rpcrdma_recv_pool_has_spare(&sx->sx_conn.cn_recvs));
}

/* Record that @used credits of a client are in use. Free Receives that were taken out of the pool.
 * Find out whether the client knows by now that credits were taken back. Review its credits if
 * review_time has passed since the last review. If another thread holds sx_grow, this function only
 * records @used, and leaves the rest to a later Call.
 */
static void svc_rdma_credits_check(const struct svc_rdma_call *call, u32 used)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	struct rpcrdma_recv_pool *pool = &sx->sx_conn.cn_recvs;
	unsigned int time = READ_ONCE(svc_rdma_review_time);
	bool back = false, due;

	if (used > READ_ONCE(cd->cd_peak))
		WRITE_ONCE(cd->cd_peak, used);
	due = time && time_after(jiffies, READ_ONCE(cd->cd_reviewed) +
					  time * HZ);
	if (likely(!due && !READ_ONCE(cd->cd_grant.gn_lowering) &&
		   !rpcrdma_recv_pool_has_spare(pool)))
		return;
	if (!mutex_trylock(&sx->sx_grow))
		return;
	if (READ_ONCE(cd->cd_grant.gn_lowering)) {
		spin_lock(&sx->sx_lock);
		back = rpcrdma_grant_arrived(&cd->cd_grant,
					     rpcrdma_msg_recvs(call->sc_msg));
		spin_unlock(&sx->sx_lock);
	}
	if (back) {
		rpcrdma_count(server_loans_returned);
		svc_rdma_credits_shrink(sx);
	} else if (rpcrdma_recv_pool_has_spare(pool)) {
		rpcrdma_recv_pool_reap(pool);
		svc_rdma_credits_settle(sx);
	}
	if (due)
		svc_rdma_credits_review(sx);
	mutex_unlock(&sx->sx_grow);
}

/**
 * svc_rdma_credits_meet - if a client has become known, set memory aside for it
 * @sx: connection on which a Call has been executed
 *
 * From then on, the client can borrow its share, even if others borrow before it.
 *
 * Context: process.
 */
void svc_rdma_credits_meet(struct svc_rdma_xprt *sx)
{
	if (unlikely(!READ_ONCE(sx->sx_holdings.hg_account.ba_known)) &&
	    svc_rdma_is_known(sx))
		svc_rdma_budget_know(sx);
}

/**
 * svc_rdma_credits_use - give a client more or fewer credits, depending on how many it uses
 * @call: Call that has arrived
 *
 * If there is no memory for more credits, the client keeps those that it has.
 *
 * Context: process; sleeps.
 */
void svc_rdma_credits_use(const struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 max = sx->sx_sizes.sz_requests;
	u32 credits, used;
	bool review;

	if (!svc_rdma_is_known(sx))
		return;
	review = svc_rdma_credits_are_reviewed(sx);
	if (likely(svc_rdma_credits_told(sx) >= max && !review))
		return;
	used = rpcrdma_recv_pool_held(&sx->sx_conn.cn_recvs) +
	       svc_rdma_credits_spared(call);
	if (review)
		svc_rdma_credits_check(call, used);
	credits = svc_rdma_credits_told(sx);
	if (credits >= max || svc_rdma_credits_is_refused(cd))
		return;
	if (2 * used <= credits && !svc_rdma_credits_busy(sx, credits))
		return;
	/* Do not wait for sx_grow: its holder may be adding Receives already, and a later
	 * Call tries again.
	 */
	if (!mutex_trylock(&sx->sx_grow))
		return;
	svc_rdma_credits_extend(sx, min(2 * cd->cd_grant.gn_told, max));
	mutex_unlock(&sx->sx_grow);
}

/**
 * svc_rdma_credits_backward - add Receives for the replies to callbacks
 * @sx: connection with a backchannel
 *
 * If the connection has none yet, one Receive is posted. Otherwise their number is doubled, as far
 * as there is memory, but never exceeds the number of callbacks that may be in flight.
 *
 * Context: process; sleeps.
 * Return: 1 if Receives were added; 0 if none was added, also if the connection is down; or a
 *	negative errno.
 */
int svc_rdma_credits_backward(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 had, more, price;
	int rc = 0;

	CLASS(svc_rdma_inside, inside)(sx);
	/* Do not return an error: the backchannel must be made, and its first callback then fails.
	 * See the beginning of server/backchannel.c.
	 */
	if (!inside || svc_rdma_is_down(sx))
		return 0;
	mutex_lock(&sx->sx_grow);
	had = cd->cd_bc_recvs;
	more = had ? min(had, sx->sx_sizes.sz_bc_requests - had) : 1;
	if (had) {
		price = rpcrdma_buf_pins(cd->cd_recv_size,
					 sx->sx_conn.cn_recvs.rp_order);
		more = div_u64(svc_rdma_budget_borrow(sx, (u64)more * price),
			       price);
	}
	if (more)
		rc = svc_rdma_credits_provide(sx, cd->cd_grant.gn_told,
					      had + more,
					      svc_rdma_credits_room(sx)) ?: 1;
	mutex_unlock(&sx->sx_grow);
	return rc;
}
