// SPDX-License-Identifier: GPL-2.0
/*
 * Budgets: how much memory each connection of a server may have. This file only computes. Its
 * caller, server/budget.c, locks the budget, and knows what the memory is used for.
 *
 * Each connection has an account, which says how many bytes the buffers of its Receives and Sends
 * have. A connection may hold these buffers for as long as it exists, because a posted Receive
 * cannot be taken back from a client that sends nothing. Pages with the data of Calls are in no
 * account, because they are freed when the Call has been executed. All accounts together may hold
 * three quarters of the budget. The other quarter is left for these pages.
 *
 * The memory with which a connection begins is never refused. On the connection on which a client
 * first becomes known (svc_rdma_is_known()), this memory does not count as borrowed. On the
 * client's other connections it does, once the client is known there. All further memory counts as
 * borrowed. The three quarters can be borrowed, less the memory that does not count as borrowed.
 *
 * Division among clients: all connections of a client borrow together, so a client gets no more by
 * opening more of them. Half of what can be borrowed is divided equally among the known clients.
 * This share is set aside for each known client, even if the client does not use it. Three eighths
 * are lent beyond the shares, to whoever asks first. The last eighth is left for Sends, which are
 * never refused (server/budget.c).
 *
 * A client may borrow no more beyond its share than it leaves free of the three eighths. So one
 * client cannot exhaust them, and a few busy clients divide them about equally. When others borrow
 * or new clients connect, less is free. If a client then has more beyond its share than is free, it
 * gives back so much that these two amounts become equal, as soon as it can.
 *
 * Even if the clients borrow one after the other and give nothing back, the last client still gets
 * its share. This share is at least half of what a client has borrowed on average.
 *
 * Division among the connections of a client: what the client has borrowed and may still borrow is
 * divided into equal parts, one for each connection on which it is known. NFS spreads the Calls of
 * a mount equally over its connections (nconnect). A connection may have more than its part, for
 * example after another connection was opened. If the client has to give back memory, such
 * connections give it back. Otherwise such a connection keeps its surplus as long as the client may
 * still borrow at least as much. If the client may borrow less, the connection gives back half of
 * the difference.
 *
 * An unknown client has no share, and borrows nothing. The memory with which its connections begin
 * is not refused, because every client is unknown at first. sunrpc limits the number of connections
 * of unknown clients, and so also this memory.
 *
 * See G-39 in decisions.rst.
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
static u64 rpcrdma_budget_most(const struct rpcrdma_budget *budget)
{
	return budget->bg_limit - budget->bg_limit / 4;
}

/* Returns how many bytes all accounts together may borrow: what they may hold, less the memory that
 * does not count as borrowed.
 */
static u64 rpcrdma_budget_loans(const struct rpcrdma_budget *budget)
{
	return rpcrdma_budget_rest(rpcrdma_budget_most(budget),
				   budget->bg_held - budget->bg_lent);
}

/**
 * rpcrdma_budget_share - the part of a budget that is set aside for each known client
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

/* Returns how many bytes may still be borrowed beyond shares. An eighth of the loans is left for
 * Sends, which are never refused. Otherwise Sends would take memory from the shares of others.
 */
static u64 rpcrdma_budget_free(const struct rpcrdma_budget *budget)
{
	u64 loans = rpcrdma_budget_loans(budget);

	return rpcrdma_budget_rest(loans - loans / 8, budget->bg_taken);
}

/* Returns how many bytes a client has borrowed beyond its share. */
static u64 rpcrdma_borrower_beyond(const struct rpcrdma_borrower *borrower,
				   u64 share)
{
	return rpcrdma_budget_rest(borrower->bo_lent, share);
}

/* Returns how many bytes an account has borrowed. */
static u64 rpcrdma_account_lent(const struct rpcrdma_account *account)
{
	return account->ba_held - account->ba_base;
}

/* Returns how many bytes a known client has borrowed, or its share if that is larger. Returns 0 for
 * a client that is not known.
 */
static u64 rpcrdma_borrower_takes(const struct rpcrdma_borrower *borrower,
				  u64 share)
{
	return borrower->bo_known ? max(borrower->bo_lent, share) : 0;
}

/* Computes bg_taken again, after the share has changed. */
static void rpcrdma_budget_count(struct rpcrdma_budget *budget)
{
	u64 share = rpcrdma_budget_share(budget);
	const struct rpcrdma_borrower *borrower;

	budget->bg_taken = 0;
	list_for_each_entry(borrower, &budget->bg_borrowers, bo_list)
		budget->bg_taken += rpcrdma_borrower_takes(borrower, share);
}

/**
 * rpcrdma_budget_resize - change the limit of a budget
 * @budget: budget
 * @limit: number of bytes; may be less than what the accounts hold
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of clients.
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
	account->ba_borrower = NULL;
	account->ba_known = false;
	account->ba_base = 0;
	account->ba_held = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_init);

/**
 * rpcrdma_account_open - open the account of a new connection
 * @budget: budget
 * @account: account that was set up or closed; the client is not known on its connection
 * @borrower: the client. If bo_accounts is 0, its other members need not be set
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_account_open(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account,
			  struct rpcrdma_borrower *borrower)
{
	account->ba_borrower = borrower;
	if (borrower->bo_accounts++)
		return;
	borrower->bo_known = 0;
	borrower->bo_lent = 0;
	list_add_tail(&borrower->bo_list, &budget->bg_borrowers);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_open);

/**
 * rpcrdma_account_know - a client has become known on a connection
 * @budget: budget
 * @account: open account
 *
 * If the client is known on no other connection, it now gets a share, and what this account holds
 * does not count as borrowed. Otherwise all memory of this account counts as borrowed from now on.
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of clients.
 */
void rpcrdma_account_know(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account)
{
	struct rpcrdma_borrower *borrower = account->ba_borrower;

	if (account->ba_known)
		return;
	account->ba_known = true;
	if (borrower->bo_known)
		account->ba_base = 0;
	borrower->bo_lent += rpcrdma_account_lent(account);
	budget->bg_lent += rpcrdma_account_lent(account);
	if (!borrower->bo_known++)
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
 * No value is refused. A caller that borrows has to respect rpcrdma_account_room().
 *
 * Context: any; the caller serialises. If the amount that does not count as borrowed changes, this
 *	takes time in proportion to the number of clients.
 */
void rpcrdma_account_set(struct rpcrdma_budget *budget,
			 struct rpcrdma_account *account, u64 held)
{
	struct rpcrdma_borrower *borrower = account->ba_borrower;
	u64 share = rpcrdma_budget_share(budget);
	u64 lent = rpcrdma_account_lent(account);

	budget->bg_taken -= rpcrdma_borrower_takes(borrower, share);
	budget->bg_held = budget->bg_held - account->ba_held + held;
	account->ba_held = held;
	account->ba_base = account->ba_known ? min(account->ba_base, held) : held;
	budget->bg_lent = budget->bg_lent - lent + rpcrdma_account_lent(account);
	borrower->bo_lent = borrower->bo_lent - lent +
			    rpcrdma_account_lent(account);
	budget->bg_taken += rpcrdma_borrower_takes(borrower, share);
	if (share != rpcrdma_budget_share(budget))
		rpcrdma_budget_count(budget);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_set);

/**
 * rpcrdma_account_close - close the account of a connection that has ended
 * @budget: budget
 * @account: open account; it may hold memory, which is free from now on
 *
 * If bo_accounts is 0 afterwards, the budget does not use the borrower any more.
 *
 * Context: any; the caller serialises. Takes time in proportion to the number of clients.
 */
void rpcrdma_account_close(struct rpcrdma_budget *budget,
			   struct rpcrdma_account *account)
{
	struct rpcrdma_borrower *borrower = account->ba_borrower;

	rpcrdma_account_set(budget, account, 0);
	if (account->ba_known && !--borrower->bo_known)
		budget->bg_known--;
	if (!--borrower->bo_accounts)
		list_del(&borrower->bo_list);
	rpcrdma_account_init(account);
	rpcrdma_budget_count(budget);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_close);

/* Returns how many bytes a known client may still borrow. It may borrow the rest of its share. It
 * may also borrow beyond its share, but must leave free (rpcrdma_budget_free()) at least as much as
 * it then has beyond its share.
 */
static u64 rpcrdma_borrower_room(const struct rpcrdma_budget *budget,
				 const struct rpcrdma_borrower *borrower)
{
	u64 share = rpcrdma_budget_share(budget);
	u64 beyond = rpcrdma_borrower_beyond(borrower, share);

	return rpcrdma_budget_rest(share, borrower->bo_lent) +
	       rpcrdma_budget_rest(rpcrdma_budget_free(budget), beyond) / 2;
}

/* Returns half of @more, rounded up. If an amount is too large by @more, it is enough to give back
 * half of that, because the limit rises by as much as is given back.
 */
static u64 rpcrdma_budget_half(u64 more)
{
	return more - more / 2;
}

/* Returns how many bytes a known client should give back. It has too much if it has more beyond its
 * share than is free. After giving back that many bytes, it normally has as much beyond its share
 * as is free. If bg_taken is so large that still nothing is free, it has to give back more later.
 */
static u64 rpcrdma_borrower_excess(const struct rpcrdma_budget *budget,
				   const struct rpcrdma_borrower *borrower)
{
	u64 share = rpcrdma_budget_share(budget);
	u64 beyond = rpcrdma_borrower_beyond(borrower, share);

	return rpcrdma_budget_half(rpcrdma_budget_rest(beyond,
						       rpcrdma_budget_free(budget)));
}

/**
 * rpcrdma_account_room - how much more an account may borrow
 * @budget: budget
 * @account: open account
 *
 * Context: any; the caller serialises.
 * Return: number of bytes; 0 if the client is not known on this connection.
 */
u64 rpcrdma_account_room(const struct rpcrdma_budget *budget,
			 const struct rpcrdma_account *account)
{
	const struct rpcrdma_borrower *borrower = account->ba_borrower;
	u64 room, part;

	if (!account->ba_known)
		return 0;
	room = rpcrdma_borrower_room(budget, borrower);
	part = div_u64(borrower->bo_lent + room, borrower->bo_known);
	return min(room, rpcrdma_budget_rest(part,
					     rpcrdma_account_lent(account)));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_room);

/**
 * rpcrdma_account_excess - how much an account should give back
 * @budget: budget
 * @account: open account
 *
 * The surplus of an account is what it has borrowed beyond its part (see the top of this file). If
 * the client has to give back memory, the account gives back its surplus, but no more than the
 * client has to give back. Otherwise, if the surplus is larger than what the client may still
 * borrow, the account gives back half of the difference.
 *
 * Context: any; the caller serialises.
 * Return: number of bytes, at most what was borrowed.
 */
u64 rpcrdma_account_excess(const struct rpcrdma_budget *budget,
			   const struct rpcrdma_account *account)
{
	const struct rpcrdma_borrower *borrower = account->ba_borrower;
	u64 room, excess, part, beyond;

	if (!account->ba_known)
		return 0;
	room = rpcrdma_borrower_room(budget, borrower);
	excess = rpcrdma_borrower_excess(budget, borrower);
	part = div_u64(borrower->bo_lent + room - excess, borrower->bo_known);
	beyond = rpcrdma_budget_rest(rpcrdma_account_lent(account), part);
	if (excess)
		return min(excess, beyond);
	return rpcrdma_budget_half(rpcrdma_budget_rest(beyond, room));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_account_excess);
