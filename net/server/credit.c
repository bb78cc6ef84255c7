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
 * the time. So a connection begins with few credits, and a client gets more, up to max_requests, as
 * it needs them: twice as many as it uses. In version 2 a client says in each Call how many it
 * could use. In version 1, and if the client is not known yet (svc_rdma_is_known()), core/credit.c
 * concludes from the Calls how many are in use. A client that is not known gets no more than its
 * initial credits. Otherwise many clients without access to an export could use up the memory of
 * this server.
 *
 * The Receives are posted before a Reply grants the credits for them (RFC 8166 3.3.1). From time to
 * time, server/reclaim.c has the credits of each connection reviewed. Credits are taken back if the
 * client has not needed them since the last review, or if it holds more memory than it may
 * (server/budget.c). Their Receives are freed after core/credit.c has concluded that the client
 * knows the smaller grant.
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
#include <kunit/visibility.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/param.h>

#include "svc_rdma.h"
#include "trace.h"

/* Time in jiffies after which a connection asks again for memory that was refused */
#define SVC_RDMA_CREDITS_AGAIN	(HZ / 8)
/* Minimum number of Receives of a connection, as far as its receive queue and its limit on pinned
 * memory allow. A larger value than the default is for clients that send more messages before the
 * first answer; see "Old clients" in compat.rst.
 */
static unsigned int svc_rdma_first_receives = 1 + RPCRDMA_RECV_SPARE;
rpcrdma_param_range(first_receives, svc_rdma_first_receives, 0,
		    SVC_RDMA_REQUESTS_MAX);
MODULE_PARM_DESC(first_receives,
		 "Server: Receives of a new connection, at least");

static u32 svc_rdma_credits_room(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_recv_pool_room(&sx->sx_conn.cn_recvs,
				      sx->sx_credit.cd_recv_size);
}

/* Returns the number of bytes that the buffer of a Send takes. */
static u32 svc_rdma_credits_send(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_buf_pins(READ_ONCE(sx->sx_conn.cn_limits.lm_inline_send),
				0);
}

static void svc_rdma_credits_update(struct svc_rdma_xprt *sx)
{
	svc_rdma_budget_update(sx, sx->sx_credit.cd_grant.gn_bound *
				   svc_rdma_credits_send(sx));
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
	credits = max(credits, cd->cd_grant.gn_granted);
	count = rpcrdma_size_recvs(max(credits, cd->cd_grant.gn_bound) + others);
	count = max(count, min(READ_ONCE(svc_rdma_first_receives), room));
	rc = rpcrdma_recv_pool_grow(&sx->sx_conn.cn_recvs, count,
				    cd->cd_recv_size);
	if (!rc) {
		cd->cd_bc_recvs = backward;
		rpcrdma_grant_raise(&cd->cd_grant, credits);
	}
	svc_rdma_credits_update(sx);
	return rc;
}

/**
 * svc_rdma_credits_begin - set the first credits of a connection
 * @sx: connection; its receive queue has been sized
 * @credits: number of credits, if the connection may have as many
 * @recv_size: size of each Receive in bytes
 * @spare: Receives for messages that take no credit
 *
 * This is called before the version is known, with Receives that are large enough for either
 * version, and again when it is known.
 *
 * Context: process; sleeps. The caller holds sx_grow; or it is accepting the connection, on
 *	which no other thread sends or receives yet.
 * Return: 0; or an error of rpcrdma_recv_pool_grow(). If the connection is still up after an
 *	error, the client can use the Receives that exist.
 */
int svc_rdma_credits_begin(struct svc_rdma_xprt *sx, u32 credits, u32 recv_size,
			   u32 spare)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;

	cd->cd_recv_size = recv_size;
	cd->cd_spare_recvs = spare;
	return svc_rdma_credits_provide(sx, min(credits, sx->sx_sizes.sz_requests),
					0, svc_rdma_credits_room(sx));
}

/**
 * svc_rdma_credits_see - note how many credits a client uses that does not say it
 * @sx: connection
 * @msg: message that is taken
 *
 * Context: process; the caller holds XPT_BUSY.
 */
void svc_rdma_credits_see(struct svc_rdma_xprt *sx,
			  const struct rpcrdma_msg_in *msg)
{
	const struct rpcrdma_recv_pool *pool = &sx->sx_conn.cn_recvs;
	u32 held = atomic_read(&pool->rp_nheld);
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u64 before = sx->sx_stats.vs_received - rpcrdma_msg_recvs(msg);
	u32 answered = READ_ONCE(pool->rp_arrived) - held;
	u32 used;

	/* The second message follows the first answer, see core/credit.c. */
	if (unlikely(before < 2)) {
		rpcrdma_need_heard(&cd->cd_need, ktime_get_ns(), answered);
		return;
	}
	used = rpcrdma_need_used(&cd->cd_need, ktime_get_ns(), before, answered,
				 svc_rdma_credits_granted(sx));
	if (used)
		WRITE_ONCE(cd->cd_used, max(used, held));
}

/* A client that could send a Call inline, in several Sends (as a group, see rtx.h), uses Read
 * chunks instead if it has too few credits. Returns an estimate of how many more credits such a
 * Call would have taken as a group; 0 for any other Call. If these credits were not counted as
 * used, the client might never get enough credits for groups (RTX-83).
 */
static u32 svc_rdma_credits_spared(const struct svc_rdma_call *call)
{
	const struct svc_rdma_xprt *sx = call->sc_sx;
	u32 size = sx->sx_conn.cn_limits.lm_inline_recv;
	u32 sends;

	if (!(sx->sx_conn.cn_rtx.xp_flags & RPCRDMA2_RTX_F_SENDS) ||
	    call->sc_item.im_length ||
	    (call->sc_hdr.hd_proc != RPCRDMA2_NOMSG &&
	     call->sc_stream_len == call->sc_body_len))
		return 0;
	/* The header takes up to RPCRDMA_RTX_HEAD bytes of each Send. */
	sends = DIV_ROUND_UP(call->sc_stream_len,
			     max(size / 2, size - min(size, RPCRDMA_RTX_HEAD)));
	return sends <= sx->sx_negotiate.ng_rtx.xp_call_max ? sends - 1 : 0;
}

/* Returns the number of bytes that a credit takes: the buffers of one Receive and one Send. */
static u32 svc_rdma_credits_price(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_buf_pins(sx->sx_credit.cd_recv_size,
				sx->sx_conn.cn_recvs.rp_order) +
	       svc_rdma_credits_send(sx);
}

static void svc_rdma_credits_refuse(struct svc_rdma_credits *cd)
{
	rpcrdma_count(server_loans_refused);
	WRITE_ONCE(cd->cd_refused, jiffies | 1);
}

/* Are credits being taken back? */
static bool svc_rdma_credits_are_owed(const struct svc_rdma_credits *cd)
{
	return READ_ONCE(cd->cd_grant.gn_bound) >
	       READ_ONCE(cd->cd_grant.gn_granted);
}

/* Grants up to @credits credits, as many as svc_rdma_budget_charge() finds memory for. If memory is
 * refused, the connection waits SVC_RDMA_CREDITS_AGAIN jiffies before it asks again, so that not
 * every Call takes the lock of the budget. The caller holds sx_grow.
 */
static void svc_rdma_credits_extend(struct svc_rdma_xprt *sx, u32 credits)
{
	struct rpcrdma_recv_pool *pool = &sx->sx_conn.cn_recvs;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 room = svc_rdma_credits_room(sx), count, got;
	u32 had = cd->cd_grant.gn_granted;

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
	got = svc_rdma_budget_charge(sx, count, svc_rdma_credits_price(sx));
	room = pool->rp_count + got;
	if (!svc_rdma_credits_provide(sx, credits, cd->cd_bc_recvs, room))
		trace_svc_rdma_credits(sx, sx->sx_conn.cn_recvs.rp_count);
	if (cd->cd_grant.gn_granted <= had && got < count)
		svc_rdma_credits_refuse(cd);
}

/* Reduce the pool to the Receives that are promised to the client, and those for messages that take
 * no credit, such as replies to callbacks; but not below first_receives. The pool gets smaller as
 * Receives are given back, because these are then not posted again. The caller holds sx_grow.
 */
static void svc_rdma_credits_shrink(struct svc_rdma_xprt *sx)
{
	u32 least = min(READ_ONCE(svc_rdma_first_receives),
			svc_rdma_credits_room(sx));
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 count = rpcrdma_size_recvs(cd->cd_grant.gn_bound +
				       cd->cd_bc_recvs + cd->cd_spare_recvs);

	count = max(count, least);
	rpcrdma_recv_pool_shrink(&sx->sx_conn.cn_recvs, count);
	svc_rdma_credits_update(sx);
}

/* Returns how many credits a client may keep: twice as many as it has used at most since the last
 * review, but fewer if it holds too much memory.
 */
static u32 svc_rdma_credits_needed(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 told = cd->cd_grant.gn_granted, need = 2 * READ_ONCE(cd->cd_peak);
	u32 price = svc_rdma_credits_price(sx);
	u64 excess = div_u64(svc_rdma_budget_excess(sx) + price - 1, price);

	WRITE_ONCE(cd->cd_peak, 0);
	WRITE_ONCE(cd->cd_used, 0);
	need = min_t(u64, need, told - min_t(u64, told, excess));
	return max(need, min(SVC_RDMA_CREDITS_FIRST, sx->sx_sizes.sz_requests));
}

/* Does the client have to send messages so that Receives can be freed? Also chooses the XID of the
 * notice that makes it do so. The caller holds sx_grow. svc_rdma_credits_is_answer() reads both
 * members without it: no answer to the new notice has arrived yet.
 */
static bool svc_rdma_credits_ask(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;

	WRITE_ONCE(cd->cd_notices, cd->cd_notices + 1);
	WRITE_ONCE(cd->cd_notice, cd->cd_notice + 1);
	cd->cd_told = poll_state_synchronize_rcu(cd->cd_posted);
	return svc_rdma_credits_are_owed(cd) ||
	       READ_ONCE(sx->sx_conn.cn_recvs.rp_excess);
}

/**
 * svc_rdma_credits_review - begin to take back what a client does not need
 * @sx: accepted connection
 *
 * This takes back credits, and Receives for the replies to callbacks. If another thread changes the
 * Receives at the same time, it does nothing.
 *
 * Context: process; sleeps.
 * Return: true if the client is silent, and has to send messages so that Receives can be freed.
 */
bool svc_rdma_credits_review(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_backward *bw = &sx->sx_backward;
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u64 received = READ_ONCE(sx->sx_stats.vs_received);
	bool silent = received == cd->cd_reviewed;

	if (!READ_ONCE(sx->sx_vers) || !mutex_trylock(&sx->sx_grow))
		return false;
	cd->cd_reviewed = received;
	/* The Receives for replies to callbacks were promised to nobody, so those that no callback
	 * uses now are taken out of the pool at once, except one.
	 */
	spin_lock(&bw->bw_lock);
	cd->cd_bc_recvs = min(cd->cd_bc_recvs,
			      max(svc_rdma_backward_used(bw), 1u));
	spin_unlock(&bw->bw_lock);
	if (rpcrdma_grant_lower(&cd->cd_grant, svc_rdma_credits_needed(sx))) {
		cd->cd_posted = start_poll_synchronize_rcu();
		trace_svc_rdma_credits(sx, sx->sx_conn.cn_recvs.rp_count);
	}
	/* Even if the grant was not lowered, the pool may have more Receives than are needed:
	 * cd_bc_recvs may be smaller now, or svc_rdma_credits_provide() may have failed after it
	 * had created some.
	 */
	svc_rdma_credits_shrink(sx);
	silent = svc_rdma_credits_ask(sx) && silent;
	mutex_unlock(&sx->sx_grow);
	return silent;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_credits_review);

/* Find out whether the client knows by now that credits were taken back, and free Receives that
 * were taken out of the pool. If another thread holds sx_grow, leave this to a later Call.
 */
static void svc_rdma_credits_take_back(const struct svc_rdma_call *call)
{
	struct svc_rdma_xprt *sx = call->sc_sx;

	if (!mutex_trylock(&sx->sx_grow))
		return;
	/* Have all messages been posted that grant more credits than the client is to keep? */
	if (poll_state_synchronize_rcu(sx->sx_credit.cd_posted))
		rpcrdma_grant_arrived(&sx->sx_credit.cd_grant,
				      rpcrdma_msg_recvs(call->sc_msg));
	svc_rdma_credits_shrink(sx);
	mutex_unlock(&sx->sx_grow);
}

/**
 * svc_rdma_credits_confirm - the client has answered a notice
 * @sx: connection
 * @xid: XID of the notice
 *
 * The client knows the grant of this notice. But if a message with a larger grant was just being
 * posted when the notice was sent, the client may have received that message afterwards. And
 * credits may have been taken back since then. In either case another notice is necessary.
 *
 * One Call may follow the answer that takes a credit more than the grant: the client may just have
 * been sending it. There is a Receive for it, since the answer needs only one of the spare ones.
 *
 * Context: process; sleeps.
 * Return: true if the client has to send more messages so that Receives can be freed.
 */
bool svc_rdma_credits_confirm(struct svc_rdma_xprt *sx, u32 xid)
{
	struct svc_rdma_credits *cd = &sx->sx_credit;
	bool more = false;

	mutex_lock(&sx->sx_grow);
	if (xid == cd->cd_notice) {
		if (cd->cd_told)
			WRITE_ONCE(cd->cd_grant.gn_bound,
				   cd->cd_grant.gn_granted);
		else
			/* Wait so that the next answer is a confirmation. */
			cond_synchronize_rcu(cd->cd_posted);
		svc_rdma_credits_shrink(sx);
		more = svc_rdma_credits_ask(sx);
	}
	mutex_unlock(&sx->sx_grow);
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_credits_confirm);

/**
 * svc_rdma_credits_answered - a Call has been executed
 * @sx: connection
 *
 * Until the client is known, this notes the time, and finds out whether the client is known now.
 *
 * Context: process.
 */
void svc_rdma_credits_answered(struct svc_rdma_xprt *sx)
{
	if (likely(READ_ONCE(sx->sx_account.au_known)))
		return;
	if (READ_ONCE(sx->sx_stats.vs_received) == 1)
		WRITE_ONCE(sx->sx_credit.cd_need.nd_since, ktime_get_ns());
	if (svc_rdma_is_known(sx))
		svc_rdma_budget_know(sx);
}

/**
 * svc_rdma_credits_use - give a client more credits if it needs them
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
	u32 told = svc_rdma_credits_granted(sx), used, want;
	unsigned long refused;

	if (!READ_ONCE(sx->sx_account.au_known))
		return;
	if (rpcrdma_vers_asks_for_need(call->sc_vers)) {
		used = min(call->sc_hdr.hd_credit, max) +
		       svc_rdma_credits_spared(call);
		want = 2 * used;
	} else {
		used = READ_ONCE(cd->cd_used);
		want = rpcrdma_need_grows(used, told);
	}
	if (used > READ_ONCE(cd->cd_peak))
		WRITE_ONCE(cd->cd_peak, used);
	if (unlikely(svc_rdma_credits_are_owed(cd) ||
		     !llist_empty(&sx->sx_conn.cn_recvs.rp_spare)))
		svc_rdma_credits_take_back(call);
	want = min(want, max);
	if (likely(want <= told))
		return;
	refused = READ_ONCE(cd->cd_refused);
	if (refused && time_before(jiffies, refused + SVC_RDMA_CREDITS_AGAIN))
		return;
	/* Do not wait for sx_grow: its holder may be adding Receives already, and a later
	 * Call tries again.
	 */
	if (!mutex_trylock(&sx->sx_grow))
		return;
	svc_rdma_credits_extend(sx, want);
	mutex_unlock(&sx->sx_grow);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_credits_use);

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
	u32 had, more;
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
	if (had)
		more = svc_rdma_budget_charge(sx, more,
					      rpcrdma_buf_pins(cd->cd_recv_size,
							       sx->sx_conn.cn_recvs.rp_order));
	if (more)
		rc = svc_rdma_credits_provide(sx, cd->cd_grant.gn_granted,
					      had + more,
					      svc_rdma_credits_room(sx)) ?: 1;
	mutex_unlock(&sx->sx_grow);
	return rc;
}
