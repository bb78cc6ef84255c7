// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the memory of the server's connections (server/budget.c, server/credit.c). The
 * connections exist only in memory, and pin none.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "../net/server/svc_rdma.h"

#define BUDGET_CONNS	1000u
#define BUDGET_CALLS	16u		/* of each connection, in flight */
#define BUDGET_CALL	SZ_1M
#define BUDGET_MESG	(BUDGET_CALL + PAGE_SIZE)
#define BUDGET_LIMIT	(2200ull << 20)

/**
 * struct svc_rdma_budget_fixture - connections, and their Calls
 * @bf_limit: the limit before the test
 * @bf_conns: the connections
 * @bf_calls: the Calls
 * @bf_state: of each Call: 0 if it waits, 1 if it was pulled, 2 if it has ended
 */
struct svc_rdma_budget_fixture {
	u64			bf_limit;
	struct svc_rdma_xprt	*bf_conns[BUDGET_CONNS];
	struct svc_rdma_call	*bf_calls[BUDGET_CONNS];
	u8			bf_state[BUDGET_CONNS][BUDGET_CALLS];
};

static int svc_rdma_budget_begin(struct kunit *test)
{
	struct svc_rdma_budget_fixture *fx;
	u32 i;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	if (!fx)
		return -ENOMEM;
	test->priv = fx;
	fx->bf_limit = svc_rdma_budget.bg_limit;
	svc_rdma_budget.bg_limit = BUDGET_LIMIT;
	for (i = 0; i < BUDGET_CONNS; i++) {
		fx->bf_conns[i] = kunit_kzalloc(test, sizeof(**fx->bf_conns),
						GFP_KERNEL);
		fx->bf_calls[i] = kunit_kcalloc(test, BUDGET_CALLS,
						sizeof(**fx->bf_calls),
						GFP_KERNEL);
		if (!fx->bf_conns[i] || !fx->bf_calls[i])
			return -ENOMEM;
		mutex_init(&fx->bf_conns[i]->sx_grow);
	}
	return 0;
}

static void svc_rdma_budget_end(struct kunit *test)
{
	struct svc_rdma_budget_fixture *fx = test->priv;
	u32 i;

	for (i = 0; i < BUDGET_CONNS; i++)
		if (fx->bf_conns[i])
			svc_rdma_budget_leave(fx->bf_conns[i]);
	svc_rdma_budget.bg_limit = fx->bf_limit;
	KUNIT_EXPECT_EQ(test, svc_rdma_budget.bg_held, 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_budget.bg_calls, 0);
}

/* Returns connection number @i of a known client with this address. */
static struct svc_rdma_xprt *svc_rdma_budget_conn(struct kunit *test, u32 i,
						  u32 address)
{
	struct svc_rdma_budget_fixture *fx = test->priv;
	struct svc_rdma_xprt *sx = fx->bf_conns[i];
	struct sockaddr_in *sin = (struct sockaddr_in *)&sx->sx_xprt.xpt_remote;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(address);
	sx->sx_xprt.xpt_remotelen = sizeof(*sin);
	sx->sx_max_mesg = BUDGET_MESG;
	KUNIT_ASSERT_EQ(test, svc_rdma_budget_join(sx), 0);
	svc_rdma_budget_know(sx);
	return sx;
}

static u32 svc_rdma_budget_take(struct svc_rdma_xprt *sx, u32 bytes)
{
	u32 got;

	mutex_lock(&sx->sx_grow);
	got = svc_rdma_budget_charge(sx, bytes, 1);
	mutex_unlock(&sx->sx_grow);
	return got;
}

/* A client may hold as much as is free: the first one half of what there is, the next ones half of
 * the rest. Connections of the same client have one room. When clients have come later, the earlier
 * ones have too much, and if they give it back, all have the same.
 */
/* Covers: G-39 */
static void svc_rdma_budget_divides(struct kunit *test)
{
	u64 free = BUDGET_LIMIT - 5 * PAGE_ALIGN(BUDGET_MESG), got[4], excess;
	struct svc_rdma_xprt *sx[5];
	u32 i, turn;

	for (i = 0; i < 5; i++)
		sx[i] = svc_rdma_budget_conn(test, i, i % 4);
	for (i = 0; i < 4; i++) {
		got[i] = svc_rdma_budget_take(sx[i], U32_MAX);
		KUNIT_EXPECT_EQ(test, got[i], free / 2);
		free -= got[i];
		KUNIT_EXPECT_EQ(test, svc_rdma_budget_take(sx[i], 1), 0);
	}
	KUNIT_EXPECT_EQ(test, svc_rdma_budget_take(sx[4], 1), 0);
	for (turn = 0; turn < 50; turn++)
		for (i = 0; i < 4; i++) {
			excess = svc_rdma_budget_excess(sx[i]);
			if (!i)
				excess += svc_rdma_budget_excess(sx[4]);
			sx[i]->sx_conn.cn_recvs.rp_bytes = got[i] -= excess;
			svc_rdma_budget_update(sx[i], 0);
			got[i] += svc_rdma_budget_take(sx[i], U32_MAX);
		}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GE(test, got[i],
				BUDGET_LIMIT / 5 - 2 * BUDGET_MESG);
		KUNIT_EXPECT_LE(test, got[i], BUDGET_LIMIT / 5 + BUDGET_MESG);
	}
}

/* Pull a Call of a connection, or end a Call of it that was pulled, if @may. Returns false if there
 * was nothing to do.
 */
static bool svc_rdma_budget_step(struct svc_rdma_budget_fixture *fx, u32 i,
				 bool end)
{
	u8 *state = fx->bf_state[i];
	struct svc_rdma_call *call;
	u32 j;

	for (j = 0; j < BUDGET_CALLS; j++) {
		call = &fx->bf_calls[i][j];
		if (!end && !state[j]) {
			call->sc_sx = fx->bf_conns[i];
			call->sc_stream_len = BUDGET_CALL + 200;
			state[j] = svc_rdma_budget_pull(call, true);
			return state[j];
		}
		if (end && state[j] == 1) {
			svc_rdma_budget_count(call, 0);
			state[j] = 2;
			return true;
		}
	}
	return false;
}

/* 1,000 connections of 250 clients, with 16 WRITEs of a megabyte in flight on each: the server
 * never pins more than the limit, each connection can always pull one Call, and every Call comes to
 * its end.
 */
/* Covers: G-39 */
static void svc_rdma_budget_holds(struct kunit *test)
{
	struct svc_rdma_budget_fixture *fx = test->priv;
	u32 clients = 250, i, turn, ended, most;
	struct rnd_state random;

	prandom_seed_state(&random, 1);
	for (i = 0; i < BUDGET_CONNS; i++)
		svc_rdma_budget_take(svc_rdma_budget_conn(test, i, i % clients),
				     i % 7 ? 0 : 128 * 48 << 10);
	ended = 0;
	most = 0;
	for (turn = 0; ended < BUDGET_CONNS * BUDGET_CALLS; turn++) {
		i = prandom_u32_state(&random) % BUDGET_CONNS;
		if (prandom_u32_state(&random) % 3)
			svc_rdma_budget_step(fx, i, false);
		else
			ended += svc_rdma_budget_step(fx, i, true);
		if (!fx->bf_conns[i]->sx_account.au_pages)
			ended += svc_rdma_budget_step(fx, i, false) &&
				svc_rdma_budget_step(fx, i, true);
		most = max_t(u64, most, svc_rdma_budget.bg_held >> 20);
		KUNIT_ASSERT_LE(test, svc_rdma_budget.bg_held, BUDGET_LIMIT);
		KUNIT_ASSERT_LT(test, turn, 10000000);
	}
	kunit_info(test, "at most %u of %llu MiB", most, BUDGET_LIMIT >> 20);
	KUNIT_EXPECT_GT(test, most, BUDGET_LIMIT >> 21);
}

/* A client that is not known gets memory for one Call at a time, and for nothing else. */
/* Covers: G-39 */
static void svc_rdma_budget_strangers(struct kunit *test)
{
	struct svc_rdma_budget_fixture *fx = test->priv;
	struct svc_rdma_xprt *sx = fx->bf_conns[0];

	KUNIT_ASSERT_EQ(test, svc_rdma_budget_join(sx), 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_budget_take(sx, 1), 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_budget_excess(sx), 0);
	KUNIT_EXPECT_TRUE(test, svc_rdma_budget_step(fx, 0, false));
	KUNIT_EXPECT_FALSE(test, svc_rdma_budget_step(fx, 0, false));
	KUNIT_EXPECT_TRUE(test, svc_rdma_budget_step(fx, 0, true));
	KUNIT_EXPECT_TRUE(test, svc_rdma_budget_step(fx, 0, false));
}

/* A connection gets memory for whole Receives, and is charged for nothing that it does not get. */
/* Covers: G-39 */
static void svc_rdma_budget_whole(struct kunit *test)
{
	u32 half = (BUDGET_LIMIT - PAGE_ALIGN(BUDGET_MESG)) / 2;
	struct svc_rdma_xprt *sx = svc_rdma_budget_conn(test, 0, 1);

	mutex_lock(&sx->sx_grow);
	KUNIT_EXPECT_EQ(test, svc_rdma_budget_charge(sx, 2, half + 1), 0);
	KUNIT_EXPECT_EQ(test, sx->sx_account.au_recvs, 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_budget_charge(sx, 5, half / 4 - 1), 4);
	KUNIT_EXPECT_EQ(test, sx->sx_account.au_recvs, 4 * (half / 4 - 1));
	mutex_unlock(&sx->sx_grow);
}

/* sunrpc may know a client before its connection may take memory. Until then, the client gets no
 * more credits, but nothing was refused: it gets them as soon as it may.
 */
/* Covers: G-39 */
static void svc_rdma_budget_early(struct kunit *test)
{
	struct svc_rdma_budget_fixture *fx = test->priv;
	struct svc_rdma_xprt *sx = fx->bf_conns[0];
	struct svc_rdma_call *call = fx->bf_calls[0];

	KUNIT_ASSERT_EQ(test, svc_rdma_budget_join(sx), 0);
	set_bit(XPT_PEER_VALID, &sx->sx_xprt.xpt_flags);
	spin_lock_init(&sx->sx_conn.cn_recvs.rp_lock);
	sx->sx_sizes.sz_requests = 64;
	sx->sx_conn.cn_recvs.rp_max = 64;
	sx->sx_credit.cd_recv_size = 1024;
	sx->sx_credit.cd_grant.gn_granted = 2;
	sx->sx_credit.cd_grant.gn_bound = 2;
	call->sc_sx = sx;
	call->sc_vers = RPCRDMA_VERS_2;
	call->sc_hdr.hd_credit = 32;
	svc_rdma_credits_use(call);
	KUNIT_EXPECT_EQ(test, sx->sx_credit.cd_grant.gn_granted, 2);
	KUNIT_EXPECT_EQ(test, sx->sx_credit.cd_refused, 0);
}

/* A silent client is sent a notice of a smaller grant. An answer shows that the client knows the
 * grant only if all messages with a larger one were posted before the notice, and if the grant was
 * not lowered again meanwhile. Otherwise the client could use credits for which there is no
 * Receive.
 */
/* Covers: V1-CRD-09 G-39 */
static void svc_rdma_budget_confirmed(struct kunit *test)
{
	struct svc_rdma_xprt *sx = svc_rdma_budget_conn(test, 0, 1);
	struct svc_rdma_credits *cd = &sx->sx_credit;
	u32 notice, stale;

	spin_lock_init(&sx->sx_backward.bw_lock);
	spin_lock_init(&sx->sx_conn.cn_recvs.rp_lock);
	sx->sx_vers = RPCRDMA_VERS_2;
	sx->sx_sizes.sz_requests = 64;
	cd->cd_recv_size = 1024;
	cd->cd_peak = 4;
	cd->cd_grant.gn_granted = 16;
	cd->cd_grant.gn_bound = 16;
	/* The buffer of a Send of this size is a block of pages. */
	sx->sx_conn.cn_limits.lm_inline_send = KMALLOC_MAX_CACHE_SIZE + 4;
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_is_answer(cd, 0));

	/* A message with the old grant is just being posted, and may follow the notice. */
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, svc_rdma_credits_review(sx));
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_granted, 8);
	KUNIT_EXPECT_EQ(test, sx->sx_account.au_least,
			16 * 2 * KMALLOC_MAX_CACHE_SIZE);
	stale = cd->cd_notice;
	synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, svc_rdma_credits_confirm(sx, stale));
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_bound, 16);

	notice = cd->cd_notice;
	KUNIT_EXPECT_TRUE(test, svc_rdma_credits_is_answer(cd, stale));
	KUNIT_EXPECT_TRUE(test, svc_rdma_credits_is_answer(cd, notice));
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_is_answer(cd, stale - 1));
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_is_answer(cd, notice + 1));
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_confirm(sx, stale));
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_bound, 16);
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_confirm(sx, notice));
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_bound, 8);

	/* The client has answered, but the grant is lowered before the answer is handled. */
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_confirm(sx, cd->cd_notice));
	stale = cd->cd_notice;
	cd->cd_peak = 2;
	KUNIT_EXPECT_TRUE(test, svc_rdma_credits_review(sx));
	synchronize_rcu();
	KUNIT_EXPECT_FALSE(test, svc_rdma_credits_confirm(sx, stale));
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_granted, 4);
	KUNIT_EXPECT_EQ(test, cd->cd_grant.gn_bound, 8);
}

static struct kunit_case svc_rdma_budget_cases[] = {
	KUNIT_CASE(svc_rdma_budget_divides),
	KUNIT_CASE(svc_rdma_budget_holds),
	KUNIT_CASE(svc_rdma_budget_strangers),
	KUNIT_CASE(svc_rdma_budget_whole),
	KUNIT_CASE(svc_rdma_budget_early),
	KUNIT_CASE(svc_rdma_budget_confirmed),
	{}
};

static struct kunit_suite svc_rdma_budget_suite = {
	.name = "svc_rdma_budget",
	.init = svc_rdma_budget_begin,
	.exit = svc_rdma_budget_end,
	.test_cases = svc_rdma_budget_cases,
};

kunit_test_suite(svc_rdma_budget_suite);
