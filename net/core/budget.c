// SPDX-License-Identifier: GPL-2.0
/*
 * Budgets: how much of a server's memory each of its connections may have. This file only
 * computes. Its caller locks the budget, and knows what the memory is used for.
 *
 * There are two kinds of use. Receives and Sends belong to a connection, and it may hold them for
 * as long as it exists: what it has lent cannot be taken back from a client that is silent (G-39).
 * An account says how much of this memory a connection holds. Pages with the data of Calls are
 * free again when the Call has been executed. They are not in the accounts.
 *
 * Accounts may hold three quarters of the budget, so that a quarter is left for pages.
 * Half of what accounts may hold is divided equally among the connections of known clients: the
 * share of a connection is set aside for it, even while the connection does not use it. The other
 * half, together with what is left by shares that are too small to matter, is lent to whoever asks
 * first. But a connection that borrows beyond its share has to leave at least as much as it has
 * beyond its share. So it takes many connections to exhaust this half, and a few busy connections
 * share it about equally. If the free part gets smaller, because others borrow or new clients
 * connect, the connections that have too much give the excess back, as soon as they can.
 *
 * So if N clients are connected and then borrow one after the other, and none gives anything back,
 * the last one still gets its share, which is at least half of what they have on average.
 *
 * An unknown client borrows nothing. What its connection needs to exist is not refused, because
 * sunrpc limits the number of these connections, and a client is unknown at first. It has no
 * share, and what it holds reduces what others can borrow beyond their shares.
 *
 * See G-39.
 */

#include <linux/export.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/budget.h>

static u64 rpcrdma_budget_rest(u64 all, u64 taken)
{
	return all > taken ? all - taken : 0;
}

/* Returns how many bytes all accounts together may hold. */
static u64 rpcrdma_budget_loans(const struct rpcrdma_budget *budget)
{
	return budget->bg_limit - budget->bg_limit / 4;
}

/**
 * rpcrdma_budget_share - the part of a budget that is set aside for each known client's connection
 * @budget: budget
 *
 * Context: any; the caller serialises.
 * Return: number of bytes. If no client is known, the share that the first one will have.
 */
u64 rpcrdma_budget_share(const struct rpcrdma_budget *budget)
{
	return div_u64(rpcrdma_budget_loans(budget) / 2,
		       max(budget->bg_known, 1u));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_budget_share);

/* Returns how many bytes an account holds, or has set aside. */
static u64 rpcrdma_account_takes(const struct rpcrdma_account *account,
				 u64 share)
{
	return account->ba_known ? max(account->ba_held, share) :
				   account->ba_held;
}

/* Returns how many bytes an account holds beyond its share. */
static u64 rpcrdma_account_beyond(const struct rpcrdma_account *account,
				  u64 share)
{
	return rpcrdma_budget_rest(account->ba_held, share);
}

/* Returns how many bytes are neither held nor set aside. */
static u64 rpcrdma_budget_free(const struct rpcrdma_budget *budget)
{
	return rpcrdma_budget_rest(rpcrdma_budget_loans(budget),
				   budget->bg_taken);
}

/* Called when the share has changed. */
static void rpcrdma_budget_count(struct rpcrdma_budget *budget)
{
	u64 share = rpcrdma_budget_share(budget);
	const struct rpcrdma_account *account;

	budget->bg_taken = 0;
	list_for_each_entry(account, &budget->bg_accounts, ba_list)
		budget->bg_taken += rpcrdma_account_takes(account, share);
}

/**
 * rpcrdma_budget_resize - change the limit of a budget
 * @budget: budget
 * @limit: number of bytes; may be less than what the accounts hold
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of accounts.
 */
void rpcrdma_budget_resize(struct rpcrdma_budget *budget, u64 limit)
{
	budget->bg_limit = limit;
	rpcrdma_budget_count(budget);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_budget_resize);

/**
 * rpcrdma_account_init - set up an account that is not open
 * @account: account
 *
 * Context: any.
 */
void rpcrdma_account_init(struct rpcrdma_account *account)
{
	INIT_LIST_HEAD(&account->ba_list);
	account->ba_known = false;
	account->ba_held = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_init);

/**
 * rpcrdma_account_open - open the account of a new connection
 * @budget: budget
 * @account: account that was set up; the client is not known
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_account_open(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account)
{
	list_add_tail(&account->ba_list, &budget->bg_accounts);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_open);

/**
 * rpcrdma_account_know - give an account a share
 * @budget: budget
 * @account: open account, whose client is known from now on
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of accounts.
 */
void rpcrdma_account_know(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account)
{
	if (account->ba_known)
		return;
	account->ba_known = true;
	budget->bg_known++;
	rpcrdma_budget_count(budget);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_know);

/**
 * rpcrdma_account_set - set how much an account holds
 * @budget: budget
 * @account: open account
 * @held: number of bytes that it holds from now on
 *
 * This does not refuse anything: see rpcrdma_account_room().
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_account_set(struct rpcrdma_budget *budget,
			 struct rpcrdma_account *account, u64 held)
{
	u64 share = rpcrdma_budget_share(budget);

	budget->bg_held -= account->ba_held;
	budget->bg_taken -= rpcrdma_account_takes(account, share);
	account->ba_held = held;
	budget->bg_held += held;
	budget->bg_taken += rpcrdma_account_takes(account, share);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_set);

/**
 * rpcrdma_account_close - close the account of a connection that has ended
 * @budget: budget
 * @account: account; it may hold memory, which is free from now on. If the account is not open, or
 *	was closed before, nothing changes
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of accounts if the
 *	client is known: then the shares of the others grow.
 */
void rpcrdma_account_close(struct rpcrdma_budget *budget,
			   struct rpcrdma_account *account)
{
	rpcrdma_account_set(budget, account, 0);
	list_del_init(&account->ba_list);
	if (!account->ba_known)
		return;
	account->ba_known = false;
	budget->bg_known--;
	rpcrdma_budget_count(budget);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_close);

/**
 * rpcrdma_account_room - how much more an account may borrow
 * @budget: budget
 * @account: open account
 *
 * What is left of the share; and, of what nobody has or has set aside, so much that the account has
 * no more beyond its share than it leaves.
 *
 * Context: any; the caller serialises.
 * Return: number of bytes.
 */
u64 rpcrdma_account_room(const struct rpcrdma_budget *budget,
			 const struct rpcrdma_account *account)
{
	u64 loans = rpcrdma_budget_loans(budget);
	u64 share = rpcrdma_budget_share(budget);
	u64 beyond = rpcrdma_account_beyond(account, share);
	u64 room;

	if (!account->ba_known)
		return 0;
	room = rpcrdma_budget_rest(share, account->ba_held) +
	       rpcrdma_budget_rest(rpcrdma_budget_free(budget), beyond) / 2;
	return min(room, rpcrdma_budget_rest(loans, budget->bg_held));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_room);

/**
 * rpcrdma_account_excess - how much an account should give back
 * @budget: budget
 * @account: open account
 *
 * An account has too much if it has more beyond its share than is free. It gives so much back that
 * both are equal afterwards.
 *
 * Context: any; the caller serialises.
 * Return: number of bytes.
 */
u64 rpcrdma_account_excess(const struct rpcrdma_budget *budget,
			   const struct rpcrdma_account *account)
{
	u64 share = rpcrdma_budget_share(budget);
	u64 beyond = rpcrdma_account_beyond(account, share);
	u64 more = rpcrdma_budget_rest(beyond, rpcrdma_budget_free(budget));

	return account->ba_known ? more - more / 2 : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_excess);
