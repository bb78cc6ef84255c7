/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A budget: memory that the connections of a server share, and how much of it each of them may
 * have.
 */
#ifndef RPCRDMA_BUDGET_H
#define RPCRDMA_BUDGET_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct rpcrdma_budget - memory that several connections share
 * @bg_limit: number of bytes that all connections together should not exceed
 * @bg_accounts: accounts of the connections (ba_list)
 * @bg_known: number of accounts of known clients
 * @bg_held: number of bytes that all accounts hold
 * @bg_taken: number of bytes that are held or set aside: the sum, over all accounts, of what the
 *	account holds or of its share, whichever is larger. An unknown client has no share.
 */
struct rpcrdma_budget {
	u64			bg_limit;
	struct list_head	bg_accounts;
	u32			bg_known;
	u64			bg_held;
	u64			bg_taken;
};

/* The value of a budget without memory and without accounts; @name is the budget itself */
#define RPCRDMA_BUDGET_INIT(name) \
	{ .bg_accounts = LIST_HEAD_INIT((name).bg_accounts) }

/**
 * struct rpcrdma_account - what one connection holds of a budget
 * @ba_list: link in bg_accounts; empty if the account is not open
 * @ba_known: the client is known, so the account has a share
 * @ba_held: number of bytes that the account holds
 */
struct rpcrdma_account {
	struct list_head	ba_list;
	bool			ba_known;
	u64			ba_held;
};

void rpcrdma_budget_resize(struct rpcrdma_budget *budget, u64 limit);
u64 rpcrdma_budget_share(const struct rpcrdma_budget *budget);
void rpcrdma_account_init(struct rpcrdma_account *account);
void rpcrdma_account_open(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account);
void rpcrdma_account_know(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account);
void rpcrdma_account_close(struct rpcrdma_budget *budget,
			   struct rpcrdma_account *account);
void rpcrdma_account_set(struct rpcrdma_budget *budget,
			 struct rpcrdma_account *account, u64 held);
u64 rpcrdma_account_room(const struct rpcrdma_budget *budget,
			 const struct rpcrdma_account *account);
u64 rpcrdma_account_excess(const struct rpcrdma_budget *budget,
			   const struct rpcrdma_account *account);

#endif /* RPCRDMA_BUDGET_H */
