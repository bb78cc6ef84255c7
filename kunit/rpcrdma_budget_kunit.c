// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/budget.c: how much of a budget each connection may have. */

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <rpcrdma/budget.h>

#include "rpcrdma_kunit.h"

#define BUDGET_ACCOUNTS	64u
/* The limit is a multiple of what the tests divide it by, so that shares have no remainder. */
#define BUDGET_LIMIT	(4096ull * 3 * 5 * 7 * 64)
/* What accounts may hold, and what shares are made of */
#define BUDGET_LOANS	(BUDGET_LIMIT / 4 * 3)
#define BUDGET_SHARES	(BUDGET_LOANS / 2)
/* What a connection holds from its beginning */
#define BUDGET_IDLE	1000u

struct rpcrdma_budget_fixture {
	struct rpcrdma_budget	bz_budget;
	struct rpcrdma_account	bz_accounts[BUDGET_ACCOUNTS];
};

/* Make a budget with @open accounts, of which the first @known have known clients. */
static struct rpcrdma_budget_fixture *
rpcrdma_budget_make(struct kunit *test, u32 open, u32 known)
{
	struct rpcrdma_budget_fixture *fx;
	u32 i;

	fx = kunit_kmalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	memset(fx, 0xa5, sizeof(*fx));
	fx->bz_budget = (struct rpcrdma_budget)
		RPCRDMA_BUDGET_INIT(fx->bz_budget);
	rpcrdma_budget_resize(&fx->bz_budget, BUDGET_LIMIT);
	for (i = 0; i < BUDGET_ACCOUNTS; i++)
		rpcrdma_account_init(&fx->bz_accounts[i]);
	for (i = 0; i < open; i++) {
		rpcrdma_account_open(&fx->bz_budget, &fx->bz_accounts[i]);
		rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[i],
				    BUDGET_IDLE);
		if (i < known)
			rpcrdma_account_know(&fx->bz_budget,
					     &fx->bz_accounts[i]);
	}
	return fx;
}

/* Do what a connection does that wants to have @want bytes. Returns what it has afterwards. */
static u64 rpcrdma_budget_borrow(struct rpcrdma_budget_fixture *fx, u32 i,
				 u64 want)
{
	struct rpcrdma_account *account = &fx->bz_accounts[i];
	u64 room = rpcrdma_account_room(&fx->bz_budget, account);

	if (want > account->ba_held)
		rpcrdma_account_set(&fx->bz_budget, account,
				    min(want, account->ba_held + room));
	return account->ba_held;
}

/* Do what a connection does when it can give its excess back. */
static void rpcrdma_budget_return(struct rpcrdma_budget_fixture *fx, u32 i)
{
	struct rpcrdma_account *account = &fx->bz_accounts[i];
	u64 excess = rpcrdma_account_excess(&fx->bz_budget, account);

	rpcrdma_account_set(&fx->bz_budget, account,
			    account->ba_held - excess);
}

/* Check the sums of a budget against its accounts. */
static void rpcrdma_budget_check(struct kunit *test,
				 const struct rpcrdma_budget_fixture *fx)
{
	const struct rpcrdma_budget *budget = &fx->bz_budget;
	u64 share = rpcrdma_budget_share(budget), held = 0, taken = 0;
	const struct rpcrdma_account *account;
	u32 i, known = 0;

	for (i = 0; i < BUDGET_ACCOUNTS; i++) {
		account = &fx->bz_accounts[i];
		held += account->ba_held;
		taken += account->ba_known && account->ba_held < share ?
			 share : account->ba_held;
		known += account->ba_known;
	}
	KUNIT_EXPECT_EQ(test, budget->bg_known, known);
	KUNIT_EXPECT_EQ(test, budget->bg_held, held);
	KUNIT_EXPECT_EQ(test, budget->bg_taken, taken);
}

/* The share depends only on the limit and on the number of known clients. */
/* Covers: G-39 */
static void rpcrdma_budget_shares(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 10, 0);
	u32 i;

	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			BUDGET_SHARES);
	for (i = 1; i <= 7; i++) {
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
		/* Knowing a client again changes nothing. */
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
		KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
				BUDGET_SHARES / i);
		rpcrdma_budget_check(test, fx);
	}
	rpcrdma_budget_resize(&fx->bz_budget, 2 * BUDGET_LIMIT);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			2 * BUDGET_SHARES / 7);
	rpcrdma_budget_check(test, fx);
	for (i = 0; i < 10; i++) {
		rpcrdma_account_close(&fx->bz_budget, &fx->bz_accounts[i]);
		rpcrdma_account_close(&fx->bz_budget, &fx->bz_accounts[i]);
		rpcrdma_budget_check(test, fx);
	}
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_held, 0);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_taken, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->bz_budget.bg_accounts));
	/* An account can be opened again, and is then that of an unknown client. */
	rpcrdma_account_open(&fx->bz_budget, &fx->bz_accounts[3]);
	KUNIT_EXPECT_FALSE(test, fx->bz_accounts[3].ba_known);
	rpcrdma_budget_check(test, fx);
}

/* An unknown client borrows nothing and has nothing to give back, and has no share. */
/* Covers: G-39 */
static void rpcrdma_budget_unknown(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 2, 0);
	struct rpcrdma_account *account = &fx->bz_accounts[0];

	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 0);
	rpcrdma_account_set(&fx->bz_budget, account, 2 * BUDGET_LIMIT);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	rpcrdma_budget_check(test, fx);
	rpcrdma_account_know(&fx->bz_budget, account);
	/* Nothing is free, so it gives back half of what it has beyond its share. */
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			BUDGET_LIMIT - BUDGET_SHARES / 2);
}

/* One connection alone may have its share, and half of what is left. */
static void rpcrdma_budget_alone(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 1, 1);
	struct rpcrdma_account *account = &fx->bz_accounts[0];
	u64 most = BUDGET_SHARES + BUDGET_SHARES / 2;

	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account),
			most - BUDGET_IDLE);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 0, U64_MAX), most);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	/* Two bytes too many: it gives one of them back. */
	rpcrdma_account_set(&fx->bz_budget, account, most + 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			1);
	rpcrdma_account_set(&fx->bz_budget, account, most - 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 1);
}

/* What accounts may hold, they may hold exactly; a connection whose share is larger than what is
 * left gets what is left.
 */
static void rpcrdma_budget_exhausted(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 3, 2);
	const struct rpcrdma_budget *budget = &fx->bz_budget;

	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[2],
			    BUDGET_LOANS - 2 * BUDGET_IDLE - 5);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(budget,
						   &fx->bz_accounts[0]), 5);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 0, U64_MAX),
			BUDGET_IDLE + 5);
	KUNIT_EXPECT_EQ(test, budget->bg_held, BUDGET_LOANS);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 1, U64_MAX),
			BUDGET_IDLE);
	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[2],
			    4 * BUDGET_LOANS);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(budget,
						   &fx->bz_accounts[1]), 0);
}

/* The promise of net/core/budget.c: if clients are connected and then borrow one after the other as
 * much as they can, and give nothing back, the last one gets at least half of the mean.
 */
/* Covers: G-39 */
static void rpcrdma_budget_silent(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx;
	u64 has, least, sum;
	u32 n, i;

	for (n = 1; n <= BUDGET_ACCOUNTS; n++) {
		fx = rpcrdma_budget_make(test, n, n);
		least = U64_MAX;
		sum = 0;
		for (i = 0; i < n; i++) {
			has = rpcrdma_budget_borrow(fx, i, U64_MAX);
			KUNIT_EXPECT_GE(test, has,
					rpcrdma_budget_share(&fx->bz_budget));
			least = min(least, has);
			sum += has;
		}
		KUNIT_EXPECT_LE(test, sum, BUDGET_LOANS);
		/* The mean is rounded down in the share, by less than one byte. */
		KUNIT_EXPECT_GE(test, 2 * (least + 1) * n, sum);
		rpcrdma_budget_check(test, fx);
	}
}

/* If few of many clients are busy, they get much more than their shares. */
static void rpcrdma_budget_few_busy(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx =
		rpcrdma_budget_make(test, BUDGET_ACCOUNTS, BUDGET_ACCOUNTS);
	u64 share = rpcrdma_budget_share(&fx->bz_budget);
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_GE(test, rpcrdma_budget_borrow(fx, i, U64_MAX),
				5 * share);
}

/* If all clients are busy and give back what they have too much of, all have the same in the end,
 * also after others have connected. Every new client has its share before that.
 */
/* Covers: G-39 */
static void rpcrdma_budget_converges(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 2, 2);
	u64 least, most, has;
	u32 n = 2, i, round;

	while (n < BUDGET_ACCOUNTS) {
		for (round = 0; round < 100; round++) {
			least = U64_MAX;
			most = 0;
			for (i = 0; i < n; i++) {
				rpcrdma_budget_return(fx, i);
				has = rpcrdma_budget_borrow(fx, i, U64_MAX);
				least = min(least, has);
				most = max(most, has);
			}
			KUNIT_EXPECT_LE(test, fx->bz_budget.bg_held,
					BUDGET_LOANS);
		}
		KUNIT_EXPECT_LE(test, most - least, BUDGET_LOANS / 100);
		KUNIT_EXPECT_GE(test, least * n, BUDGET_LOANS / 10 * 6);
		rpcrdma_account_open(&fx->bz_budget, &fx->bz_accounts[n]);
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[n]);
		n++;
	}
}

/* One step of rpcrdma_budget_any() */
static void rpcrdma_budget_step(struct rpcrdma_kunit *kunit,
				struct rpcrdma_budget_fixture *fx)
{
	u32 i = rpcrdma_kunit_random(kunit, BUDGET_ACCOUNTS);
	struct rpcrdma_account *account = &fx->bz_accounts[i];
	struct rpcrdma_budget *budget = &fx->bz_budget;

	if (list_empty(&account->ba_list)) {
		rpcrdma_account_open(budget, account);
		return;
	}
	switch (rpcrdma_kunit_random(kunit, 8)) {
	case 0:
		rpcrdma_account_close(budget, account);
		break;
	case 1:
		rpcrdma_account_know(budget, account);
		break;
	case 2:
		rpcrdma_budget_return(fx, i);
		break;
	case 3:
		rpcrdma_account_set(budget, account, account->ba_held / 2);
		break;
	default:
		rpcrdma_budget_borrow(fx, i, rpcrdma_kunit_random(kunit, 2) ?
				      U64_MAX : 1 << 20);
		break;
	}
}

/* Whatever happens in whatever order, the sums are right, nobody can borrow more than accounts may
 * hold, and no account may borrow while it should give something back.
 */
static void rpcrdma_budget_any(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 0, 0);
	struct rpcrdma_budget *budget = &fx->bz_budget;
	struct rpcrdma_account *account;
	u32 i;

	for (i = 0; i < 20000; i++) {
		rpcrdma_budget_step(test->priv, fx);
		rpcrdma_budget_check(test, fx);
		KUNIT_EXPECT_LE(test, budget->bg_held, BUDGET_LOANS);
		account = &fx->bz_accounts[i % BUDGET_ACCOUNTS];
		KUNIT_EXPECT_TRUE(test,
				  !rpcrdma_account_room(budget, account) ||
				  !rpcrdma_account_excess(budget, account));
	}
}

static struct kunit_case rpcrdma_budget_kunit_cases[] = {
	KUNIT_CASE(rpcrdma_budget_shares),
	KUNIT_CASE(rpcrdma_budget_unknown),
	KUNIT_CASE(rpcrdma_budget_alone),
	KUNIT_CASE(rpcrdma_budget_exhausted),
	KUNIT_CASE(rpcrdma_budget_silent),
	KUNIT_CASE(rpcrdma_budget_few_busy),
	KUNIT_CASE(rpcrdma_budget_converges),
	KUNIT_CASE(rpcrdma_budget_any),
	{}
};

static struct kunit_suite rpcrdma_budget_suite = {
	.name = "rpcrdma_budget",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_budget_kunit_cases,
};

kunit_test_suite(rpcrdma_budget_suite);
