/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A budget: memory that the connections of a server share, and how much of it each of them may
 * have. Each connection has an *account*. core/budget.c explains what an account may borrow, and
 * what the share of a client is (G-39 in Documentation/decisions.rst). A client is *known* once it
 * has used a valid file handle; on older kernels, as soon as it has connected
 * (svc_rdma_is_known()).
 */
#ifndef RPCRDMA_BUDGET_H
#define RPCRDMA_BUDGET_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct rpcrdma_budget - memory that several clients share
 * @bg_limit: size of the budget in bytes. The accounts together should hold at most three
 *	quarters of it.
 * @bg_borrowers: clients with open accounts (bo_list)
 * @bg_known: number of these clients that are known
 * @bg_held: number of bytes that all accounts hold
 * @bg_lent: number of those bytes that were borrowed
 * @bg_taken: number of bytes that are borrowed or set aside: the sum, over all known clients, of
 *	what the client has borrowed or of its share (rpcrdma_budget_share()), whichever is larger
 */
struct rpcrdma_budget {
	u64			bg_limit;
	struct list_head	bg_borrowers;
	u32			bg_known;
	u64			bg_held;
	u64			bg_lent;
	u64			bg_taken;
};

/* Initialiser of the variable @name: a budget without memory and without accounts */
#define RPCRDMA_BUDGET_INIT(name) \
	{ .bg_borrowers = LIST_HEAD_INIT((name).bg_borrowers) }

/**
 * struct rpcrdma_borrower - what all connections of one client have borrowed from a budget
 * @bo_list: link in bg_borrowers; valid only if @bo_accounts is not 0
 * @bo_accounts: number of open accounts
 * @bo_known: number of open accounts on whose connections the client has become known. The client
 *	is known if this is not 0
 * @bo_lent: number of bytes that all its accounts have borrowed
 */
struct rpcrdma_borrower {
	struct list_head	bo_list;
	u32			bo_accounts;
	u32			bo_known;
	u64			bo_lent;
};

/**
 * struct rpcrdma_account - what one connection holds of a budget
 * @ba_borrower: the client; NULL if the account is not open
 * @ba_known: the client has become known on this connection
 * @ba_base: number of bytes that do not count as borrowed. While @ba_known is false, these are
 *	all bytes that the account holds. On the account that made the client known, it is the
 *	smallest number of bytes that the account has held since then. On every other account with
 *	@ba_known, it is 0
 * @ba_held: number of bytes that the account holds
 */
struct rpcrdma_account {
	struct rpcrdma_borrower	*ba_borrower;
	bool			ba_known;
	u64			ba_base;
	u64			ba_held;
};

void rpcrdma_budget_resize(struct rpcrdma_budget *budget, u64 limit);
u64 rpcrdma_budget_share(const struct rpcrdma_budget *budget);
void rpcrdma_account_init(struct rpcrdma_account *account);
void rpcrdma_account_open(struct rpcrdma_budget *budget,
			  struct rpcrdma_account *account,
			  struct rpcrdma_borrower *borrower);
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
