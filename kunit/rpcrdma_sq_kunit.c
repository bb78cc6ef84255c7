// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of send queue slots (sq.h, net/verbs/send.c): which waiters get slots, and in
 * what order. Everything happens in one thread; tests in guests cover concurrency.
 */

#include <kunit/test.h>

#include <rpcrdma/conn.h>

#define SQ_KUNIT_SLOTS		8
#define SQ_KUNIT_WAITERS	3

/**
 * struct sq_kunit_waiter - a waiter, and what happened to it
 * @kw_wait: the waiter
 * @kw_sq: the send queue
 * @kw_turn: 1 for the waiter that got its slots first, and so on; 0 for one that got none
 * @kw_given_up: the waiter does not need slots any more: when it gets them, it gives them back
 */
struct sq_kunit_waiter {
	struct rpcrdma_sq_waiter	kw_wait;
	struct rpcrdma_sq		*kw_sq;
	int				kw_turn;
	bool				kw_given_up;
};

struct sq_fixture {
	struct rpcrdma_conn		sf_conn;
	struct sq_kunit_waiter	sf_waiters[SQ_KUNIT_WAITERS];
};

static int sq_kunit_turns;

static void sq_kunit_ready(struct rpcrdma_sq_waiter *waiter)
{
	struct sq_kunit_waiter *kw =
		container_of(waiter, struct sq_kunit_waiter, kw_wait);

	kw->kw_turn = ++sq_kunit_turns;
	if (kw->kw_given_up)
		rpcrdma_sq_release(kw->kw_sq, waiter->wt_slots);
}

/* Make a send queue without a free slot, and waiters that do not wait for it yet. */
static struct sq_fixture *sq_kunit_make(struct kunit *test)
{
	struct sq_kunit_waiter *kw;
	struct sq_fixture *fx;
	int i;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	rpcrdma_sq_init(&fx->sf_conn.cn_sq);
	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_try(&fx->sf_conn.cn_sq, 1, 0));
	rpcrdma_sq_open(&fx->sf_conn.cn_sq, SQ_KUNIT_SLOTS);
	KUNIT_EXPECT_TRUE(test, rpcrdma_sq_try(&fx->sf_conn.cn_sq,
					       SQ_KUNIT_SLOTS, 0));
	sq_kunit_turns = 0;
	for (i = 0; i < SQ_KUNIT_WAITERS; i++) {
		kw = &fx->sf_waiters[i];
		INIT_LIST_HEAD(&kw->kw_wait.wt_list);
		kw->kw_wait.wt_ready = sq_kunit_ready;
		kw->kw_sq = &fx->sf_conn.cn_sq;
	}
	return fx;
}

static void sq_kunit_join(struct sq_fixture *fx, int i, u32 slots, u32 leave)
{
	struct rpcrdma_sq_waiter *waiter = &fx->sf_waiters[i].kw_wait;

	waiter->wt_slots = slots;
	waiter->wt_leave = leave;
	rpcrdma_sq_join(&fx->sf_conn.cn_sq, waiter);
}

static void sq_kunit_release(struct sq_fixture *fx, u32 slots)
{
	if (rpcrdma_sq_release(&fx->sf_conn.cn_sq, slots))
		rpcrdma_sq_serve(&fx->sf_conn.cn_sq);
}

static void sq_takes_all_or_none(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);
	struct rpcrdma_sq *sq = &fx->sf_conn.cn_sq;

	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_release(sq, 5));
	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_try(sq, 6, 0));
	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_try(sq, 3, 3));
	KUNIT_EXPECT_EQ(test, rpcrdma_sq_used(sq), 3);
	KUNIT_EXPECT_TRUE(test, rpcrdma_sq_try(sq, 3, 2));
	KUNIT_EXPECT_EQ(test, rpcrdma_sq_used(sq), 6);
}

/* Waiters get slots in the order in which they joined, even if the first needs the most. */
static void sq_serves_in_order(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);
	struct rpcrdma_sq *sq = &fx->sf_conn.cn_sq;

	sq_kunit_join(fx, 0, 4, 0);
	sq_kunit_join(fx, 1, 1, 0);
	sq_kunit_join(fx, 2, 1, 1);
	KUNIT_EXPECT_EQ(test, sq->sq_nwaiting, 3);
	sq_kunit_release(fx, 3);
	KUNIT_EXPECT_EQ(test, sq_kunit_turns, 0);
	sq_kunit_release(fx, 3);
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[0].kw_turn, 1);
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[1].kw_turn, 2);
	/* One slot is free, but the third waiter must leave one slot free (wt_leave) */
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[2].kw_turn, 0);
	sq_kunit_release(fx, 1);
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[2].kw_turn, 3);
	KUNIT_EXPECT_EQ(test, sq->sq_nwaiting, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_sq_used(sq), 7);
}

static void sq_is_not_overtaken(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);
	struct rpcrdma_sq *sq = &fx->sf_conn.cn_sq;

	sq_kunit_join(fx, 0, 4, 0);
	sq_kunit_release(fx, 3);
	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_try(sq, 1, 0));
	KUNIT_EXPECT_TRUE(test, rpcrdma_sq_overtake(sq, 1, 0));
	sq_kunit_release(fx, 1);
	KUNIT_EXPECT_EQ(test, sq_kunit_turns, 0);
	sq_kunit_release(fx, 1);
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[0].kw_turn, 1);
}

/* If a waiter joins an empty line, and enough slots are free, it gets them at once. */
static void sq_join_looks_once_more(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);

	sq_kunit_release(fx, 2);
	sq_kunit_join(fx, 0, 2, 0);
	KUNIT_EXPECT_EQ(test, fx->sf_waiters[0].kw_turn, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->sf_waiters[0].kw_wait.wt_list));
}

/* If a waiter gives its slots back at once, the next one gets them. */
static void sq_passes_slots_on(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);
	int i;

	for (i = 0; i < SQ_KUNIT_WAITERS; i++) {
		fx->sf_waiters[i].kw_given_up = i < 2;
		sq_kunit_join(fx, i, 3, 0);
	}
	sq_kunit_release(fx, 3);
	for (i = 0; i < SQ_KUNIT_WAITERS; i++)
		KUNIT_EXPECT_EQ(test, fx->sf_waiters[i].kw_turn, i + 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_sq_used(&fx->sf_conn.cn_sq), 8);
}

static void sq_closed_serves_nobody(struct kunit *test)
{
	struct sq_fixture *fx = sq_kunit_make(test);
	struct rpcrdma_sq *sq = &fx->sf_conn.cn_sq;

	sq_kunit_join(fx, 0, 1, 0);
	sq_kunit_join(fx, 1, 1, 0);
	rpcrdma_sq_close(sq);
	KUNIT_EXPECT_EQ(test, sq->sq_nwaiting, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->sf_waiters[0].kw_wait.wt_list));
	sq_kunit_release(fx, 4);
	sq_kunit_join(fx, 2, 1, 0);
	KUNIT_EXPECT_FALSE(test, rpcrdma_sq_try(sq, 1, 0));
	rpcrdma_sq_serve(sq);
	KUNIT_EXPECT_EQ(test, sq_kunit_turns, 0);
}

static struct kunit_case sq_kunit_cases[] = {
	KUNIT_CASE(sq_takes_all_or_none),
	KUNIT_CASE(sq_serves_in_order),
	KUNIT_CASE(sq_is_not_overtaken),
	KUNIT_CASE(sq_join_looks_once_more),
	KUNIT_CASE(sq_passes_slots_on),
	KUNIT_CASE(sq_closed_serves_nobody),
	{}
};

static struct kunit_suite rpcrdma_sq_suite = {
	.name = "rpcrdma_sq",
	.test_cases = sq_kunit_cases,
};

kunit_test_suite(rpcrdma_sq_suite);
