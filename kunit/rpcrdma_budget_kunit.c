// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/budget.c: how much of a budget each connection may have. */

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <rpcrdma/budget.h>

#include "rpcrdma_kunit.h"

#define BUDGET_ACCOUNTS	64u
/* With this limit, no share is rounded if 1 to 7 clients are known, or 64. */
#define BUDGET_LIMIT	(4096ull * 3 * 5 * 7 * 64)
/* What all accounts of a new budget (rpcrdma_budget_make_each()) together may borrow, and the half
 * of it that is divided into shares
 */
#define BUDGET_LOANS	(BUDGET_LIMIT / 4 * 3)
#define BUDGET_SHARES	(BUDGET_LOANS / 2)
/* What may be borrowed beyond shares */
#define BUDGET_BEYOND	(BUDGET_LOANS / 8 * 3)
/* Number of bytes that each open account of a new budget holds */
#define BUDGET_IDLE	1200u

struct rpcrdma_budget_fixture {
	struct rpcrdma_budget	bz_budget;
	struct rpcrdma_borrower	bz_borrowers[BUDGET_ACCOUNTS];
	struct rpcrdma_account	bz_accounts[BUDGET_ACCOUNTS];
};

/* Open account @i for a connection of client @client. */
static void rpcrdma_budget_open(struct rpcrdma_budget_fixture *fx, u32 i,
				u32 client)
{
	rpcrdma_account_open(&fx->bz_budget, &fx->bz_accounts[i],
			     &fx->bz_borrowers[client]);
}

/* Make a budget, and open @open accounts. Account i belongs to client i / @each. On the first
 * @known accounts, the client is known.
 */
static struct rpcrdma_budget_fixture *
rpcrdma_budget_make_each(struct kunit *test, u32 open, u32 known, u32 each)
{
	struct rpcrdma_budget_fixture *fx;
	u32 i;

	fx = kunit_kmalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	memset(fx, 0xa5, sizeof(*fx));
	fx->bz_budget = (struct rpcrdma_budget)
		RPCRDMA_BUDGET_INIT(fx->bz_budget);
	/* Raise the limit, so that the memory with which the accounts begin does not reduce what
	 * they can borrow.
	 */
	rpcrdma_budget_resize(&fx->bz_budget,
			      BUDGET_LIMIT + open * BUDGET_IDLE / 3 * 4);
	for (i = 0; i < BUDGET_ACCOUNTS; i++) {
		rpcrdma_account_init(&fx->bz_accounts[i]);
		fx->bz_borrowers[i].bo_accounts = 0;
	}
	for (i = 0; i < open; i++) {
		rpcrdma_budget_open(fx, i, i / each);
		rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[i],
				    BUDGET_IDLE);
		if (i < known)
			rpcrdma_account_know(&fx->bz_budget,
					     &fx->bz_accounts[i]);
	}
	return fx;
}

static struct rpcrdma_budget_fixture *
rpcrdma_budget_make(struct kunit *test, u32 open, u32 known)
{
	return rpcrdma_budget_make_each(test, open, known, 1);
}

/* Set the number of bytes that account @i has borrowed. */
static void rpcrdma_budget_lend(struct rpcrdma_budget_fixture *fx, u32 i,
				u64 lent)
{
	struct rpcrdma_account *account = &fx->bz_accounts[i];

	rpcrdma_account_set(&fx->bz_budget, account, account->ba_base + lent);
}

static u64 rpcrdma_budget_lent(const struct rpcrdma_budget_fixture *fx, u32 i)
{
	const struct rpcrdma_account *account = &fx->bz_accounts[i];

	if (!account->ba_known)
		return 0;
	return account->ba_held - min(account->ba_held, account->ba_base);
}

/* Let account @i borrow until it has borrowed @want bytes in all, or as many as it may borrow.
 * Returns how many bytes it has borrowed then.
 */
static u64 rpcrdma_budget_borrow(struct rpcrdma_budget_fixture *fx, u32 i,
				 u64 want)
{
	u64 room = rpcrdma_account_room(&fx->bz_budget, &fx->bz_accounts[i]);
	u64 lent = rpcrdma_budget_lent(fx, i);

	if (want > lent && room)
		rpcrdma_budget_lend(fx, i, min(want, lent + room));
	return rpcrdma_budget_lent(fx, i);
}

/* Give the excess of account @i back, as a connection does when it can. */
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
	u64 share = rpcrdma_budget_share(budget), held = 0, lent = 0, taken = 0;
	u64 has[BUDGET_ACCOUNTS] = { 0 };
	u32 knows[BUDGET_ACCOUNTS] = { 0 };
	const struct rpcrdma_account *account;
	u32 i, client, known = 0;

	for (i = 0; i < BUDGET_ACCOUNTS; i++) {
		account = &fx->bz_accounts[i];
		if (!account->ba_borrower)
			continue;
		client = account->ba_borrower - fx->bz_borrowers;
		held += account->ba_held;
		knows[client] += account->ba_known;
		if (account->ba_known && account->ba_held > account->ba_base)
			has[client] += account->ba_held - account->ba_base;
	}
	for (i = 0; i < BUDGET_ACCOUNTS; i++) {
		lent += has[i];
		taken += knows[i] ? max(has[i], share) : 0;
		known += !!knows[i];
	}
	KUNIT_EXPECT_EQ(test, budget->bg_known, known);
	KUNIT_EXPECT_EQ(test, budget->bg_held, held);
	KUNIT_EXPECT_EQ(test, budget->bg_lent, lent);
	KUNIT_EXPECT_EQ(test, budget->bg_taken, taken);
}

/* Known clients have equal shares of half of what can be borrowed. Unknown clients do not count. */
/* Covers: G-39 */
static void rpcrdma_budget_shares(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 10, 0);
	u32 i;

	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			BUDGET_SHARES);
	for (i = 1; i <= 7; i++) {
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
		/* A second call for the same account changes nothing. */
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
		KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
				BUDGET_SHARES / i);
		rpcrdma_budget_check(test, fx);
	}
	rpcrdma_budget_resize(&fx->bz_budget,
			      2 * BUDGET_LIMIT + 10 * BUDGET_IDLE / 3 * 4);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			2 * BUDGET_SHARES / 7);
	rpcrdma_budget_check(test, fx);
	for (i = 0; i < 10; i++) {
		rpcrdma_account_close(&fx->bz_budget, &fx->bz_accounts[i]);
		rpcrdma_budget_check(test, fx);
	}
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_held, 0);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_taken, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&fx->bz_budget.bg_borrowers));
	/* When an account is opened again, the client is not known on it yet. */
	rpcrdma_budget_open(fx, 3, 3);
	KUNIT_EXPECT_FALSE(test, fx->bz_accounts[3].ba_known);
	rpcrdma_budget_check(test, fx);
}

/* An unknown client has no share, borrows nothing, and has nothing to give back. */
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
	/* What the client holds now does not count as borrowed, and leaves nothing to borrow. */
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget), 0);
	rpcrdma_budget_check(test, fx);
}

/* If there is only one client, with one connection, it may borrow its share, and half of what can
 * be borrowed beyond shares.
 */
static void rpcrdma_budget_alone(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 1, 1);
	struct rpcrdma_account *account = &fx->bz_accounts[0];
	u64 most = BUDGET_SHARES + BUDGET_BEYOND / 2;

	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account),
			most);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 0, U64_MAX), most);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	/* With one byte more, the connection has two bytes more beyond its share than are free. It
	 * has to give back one.
	 */
	rpcrdma_budget_lend(fx, 0, most + 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			1);
	rpcrdma_budget_lend(fx, 0, most + 4);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			4);
	rpcrdma_budget_lend(fx, 0, most - 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget, account),
			0);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget, account), 1);
}

/* The memory that an unknown client holds reduces what known clients can borrow. */
static void rpcrdma_budget_exhausted(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 3, 2);
	const struct rpcrdma_budget *budget = &fx->bz_budget;

	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[2],
			    BUDGET_IDLE + BUDGET_LOANS - 100);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(budget), 25);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 0, U64_MAX), 44);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 1, U64_MAX), 34);
	rpcrdma_budget_check(test, fx);
	/* If the unknown client then takes more, nothing is left to borrow. */
	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[2],
			    BUDGET_IDLE + BUDGET_LOANS - 70);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(budget,
						   &fx->bz_accounts[1]), 0);
	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[2],
			    4 * BUDGET_LOANS);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(budget,
						   &fx->bz_accounts[1]), 0);
	rpcrdma_budget_check(test, fx);
}

/* If the connection on which a client first became known frees some of the memory with which it
 * began, this memory can be borrowed. If the connection takes the memory again, the memory counts
 * as borrowed.
 */
static void rpcrdma_budget_base(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 2, 2);

	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[0],
			    BUDGET_IDLE - 400);
	rpcrdma_budget_check(test, fx);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_lent, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			BUDGET_SHARES / 2 + 100);
	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[0],
			    BUDGET_IDLE + 1);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_lent, 401);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			BUDGET_SHARES / 2 + 100);
	rpcrdma_budget_check(test, fx);
}

/* As net/core/budget.c promises: if n clients borrow as much as they can, one after the other, and
 * give nothing back, each gets at least half of what they get on average.
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
		/* The share is rounded down, by less than one byte. */
		KUNIT_EXPECT_GE(test, 2 * (least + 1) * n, sum);
		rpcrdma_budget_check(test, fx);
	}
}

/* If only a few of many clients are busy, they get much more than their shares. */
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

/* If all clients are busy and give their excess back, all have about the same amount in the end,
 * which is more than a share. This is true again some time after each further client has connected.
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
			KUNIT_EXPECT_LE(test, fx->bz_budget.bg_lent,
					BUDGET_LOANS);
		}
		KUNIT_EXPECT_LE(test, most - least, BUDGET_LOANS / 100);
		KUNIT_EXPECT_GE(test, least * n, BUDGET_LOANS / 10 * 6);
		rpcrdma_budget_open(fx, n, n);
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[n]);
		n++;
	}
}

/* A client gets no more memory by opening more connections: clients with one, two and 15
 * connections have the same share. Each connection of a client may have an equal part.
 */
/* Covers: G-39 */
static void rpcrdma_budget_connections(struct kunit *test)
{
	static const u32 conns[] = { 15, 2, 1 };
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 0, 0);
	u32 client, i, n = 0;
	u64 has[3] = { 0 };

	for (client = 0; client < 3; client++)
		for (i = 0; i < conns[client]; i++) {
			rpcrdma_budget_open(fx, n, client);
			rpcrdma_account_know(&fx->bz_budget,
					     &fx->bz_accounts[n++]);
		}
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_known, 3);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget),
			BUDGET_SHARES / 3);
	n = 0;
	for (client = 0; client < 3; client++)
		for (i = 0; i < conns[client]; i++)
			has[client] += rpcrdma_budget_borrow(fx, n++, U64_MAX);
	/* The first two clients may get a few bytes less than a client may borrow, because the
	 * equal parts of their connections are rounded down.
	 */
	KUNIT_EXPECT_LE(test, has[0], BUDGET_SHARES / 3 + BUDGET_BEYOND / 2);
	KUNIT_EXPECT_GE(test, has[0] + 15,
			BUDGET_SHARES / 3 + BUDGET_BEYOND / 2);
	KUNIT_EXPECT_GE(test, has[1] + 2,
			BUDGET_SHARES / 3 + BUDGET_BEYOND / 4);
	KUNIT_EXPECT_GE(test, has[2],
			BUDGET_SHARES / 3 + BUDGET_BEYOND / 8);
	for (i = 1; i < 15; i++)
		KUNIT_EXPECT_LE(test, fx->bz_accounts[0].ba_held,
				fx->bz_accounts[i].ba_held + 15);
	rpcrdma_budget_check(test, fx);
	/* A client keeps its share until the last connection on which it is known is closed. */
	for (i = 0; i < 14; i++)
		rpcrdma_account_close(&fx->bz_budget, &fx->bz_accounts[i]);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_known, 3);
	rpcrdma_account_close(&fx->bz_budget, &fx->bz_accounts[14]);
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_known, 2);
	rpcrdma_budget_check(test, fx);
}

/* If one connection of a client has borrowed all that the client may borrow, and the client then
 * opens three more, each connection has about a quarter of it in the end.
 */
/* Covers: G-39 */
static void rpcrdma_budget_parts(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx =
		rpcrdma_budget_make_each(test, 1, 1, 4);
	u64 had = rpcrdma_budget_borrow(fx, 0, U64_MAX);
	u32 i, round;

	for (i = 1; i < 4; i++) {
		rpcrdma_budget_open(fx, i, 0);
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
	}
	KUNIT_EXPECT_EQ(test, fx->bz_budget.bg_known, 1);
	/* The first connection gives 100 bytes back, which the client's other connections can
	 * then borrow. The first connection still has more than its part, which is a quarter of
	 * @had. Of this surplus, it has to give back half of what exceeds the 100 bytes.
	 */
	rpcrdma_budget_lend(fx, 0, had - 100);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget,
						     &fx->bz_accounts[0]),
			(had - 100 - had / 4 - 100) / 2);
	for (round = 0; round < 100; round++)
		for (i = 0; i < 4; i++) {
			rpcrdma_budget_return(fx, i);
			rpcrdma_budget_borrow(fx, i, U64_MAX);
			KUNIT_EXPECT_LE(test, fx->bz_borrowers[0].bo_lent, had);
		}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_LE(test, rpcrdma_budget_lent(fx, i),
				had / 4 + had / 100);
		KUNIT_EXPECT_GE(test, rpcrdma_budget_lent(fx, i),
				had / 4 - had / 100);
	}
	rpcrdma_budget_check(test, fx);
}

/* A connection on which its client is not known borrows nothing, although the client is known on
 * another connection.
 */
/* Covers: G-39 */
static void rpcrdma_budget_half_known(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx =
		rpcrdma_budget_make_each(test, 2, 1, 2);
	u64 most = BUDGET_SHARES + BUDGET_BEYOND / 2;

	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 1, U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 0, U64_MAX), most);
	/* The memory of the other connection halves what can be borrowed, and so the share. In
	 * sixteenths of BUDGET_SHARES, the client has borrowed 22, its share is 8, and nothing is
	 * free beyond shares. So the client has to give back half of the 14 beyond its share.
	 */
	rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[1],
			    BUDGET_IDLE + BUDGET_SHARES);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget,
						     &fx->bz_accounts[0]),
			BUDGET_SHARES / 16 * 7);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget,
						     &fx->bz_accounts[1]), 0);
	rpcrdma_budget_check(test, fx);
}

/* If a connection is the first on which its client becomes known, the memory with which it began
 * does not count as borrowed. The memory of the client's other connections does, once the client is
 * known on them. So the shares of others are then as large as if the client had one connection.
 */
/* Covers: G-39 */
static void rpcrdma_budget_many(struct kunit *test)
{
	struct rpcrdma_budget_fixture *fx = rpcrdma_budget_make(test, 2, 2);
	u64 share = BUDGET_SHARES / 2;
	u32 i;

	for (i = 2; i < BUDGET_ACCOUNTS; i++) {
		rpcrdma_budget_open(fx, i, 0);
		rpcrdma_account_set(&fx->bz_budget, &fx->bz_accounts[i],
				    BUDGET_LOANS / 4);
		rpcrdma_account_know(&fx->bz_budget, &fx->bz_accounts[i]);
		KUNIT_EXPECT_EQ(test, fx->bz_borrowers[0].bo_lent,
				(i - 1) * (BUDGET_LOANS / 4));
		rpcrdma_budget_check(test, fx);
	}
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_share(&fx->bz_budget), share);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_room(&fx->bz_budget,
						   &fx->bz_accounts[0]), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_budget_borrow(fx, 1, U64_MAX), share);
	KUNIT_EXPECT_EQ(test, rpcrdma_account_excess(&fx->bz_budget,
						     &fx->bz_accounts[1]), 0);
	rpcrdma_budget_check(test, fx);
}

/* One step of rpcrdma_budget_any() */
static void rpcrdma_budget_step(struct rpcrdma_kunit *kunit,
				struct rpcrdma_budget_fixture *fx)
{
	u32 i = rpcrdma_kunit_random(kunit, BUDGET_ACCOUNTS);
	struct rpcrdma_account *account = &fx->bz_accounts[i];
	struct rpcrdma_budget *budget = &fx->bz_budget;

	if (!account->ba_borrower) {
		rpcrdma_budget_open(fx, i, i / 4);
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
	case 4:
		if (!account->ba_known)
			rpcrdma_account_set(budget, account, BUDGET_IDLE);
		break;
	default:
		rpcrdma_budget_borrow(fx, i, rpcrdma_kunit_random(kunit, 2) ?
				      U64_MAX : 1 << 20);
		break;
	}
}

/* After each of many random steps, the sums are right, and an account with an excess may not
 * borrow. All accounts together hold no more than may be borrowed, apart from the memory with which
 * connections begin, which is never refused.
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
		KUNIT_EXPECT_LE(test, budget->bg_held, BUDGET_LOANS +
				BUDGET_ACCOUNTS * BUDGET_IDLE);
		account = &fx->bz_accounts[i % BUDGET_ACCOUNTS];
		if (!account->ba_borrower)
			continue;
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
	KUNIT_CASE(rpcrdma_budget_base),
	KUNIT_CASE(rpcrdma_budget_silent),
	KUNIT_CASE(rpcrdma_budget_few_busy),
	KUNIT_CASE(rpcrdma_budget_converges),
	KUNIT_CASE(rpcrdma_budget_connections),
	KUNIT_CASE(rpcrdma_budget_parts),
	KUNIT_CASE(rpcrdma_budget_half_known),
	KUNIT_CASE(rpcrdma_budget_many),
	KUNIT_CASE(rpcrdma_budget_any),
	{}
};

static struct kunit_suite rpcrdma_budget_suite = {
	.name = "rpcrdma_budget",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_budget_kunit_cases,
};

kunit_test_suite(rpcrdma_budget_suite);
