// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the Receives and Sends of all connections on the server side, and the budget that
 * limits this memory (the parameter server_memory). Receives and Sends get at most three quarters
 * of the budget, apart from memory that is never refused (net/core/budget.c). The module has one
 * budget, because the servers of all network namespaces share the memory of the machine. This file
 * keeps the accounts. It never looks at a message. net/core/budget.c computes how much memory a
 * connection may have. server/credit.c borrows memory, and gives it back.
 *
 * Operation
 *
 * The account of a connection contains the buffers of its Receives and Sends for as long as they
 * exist. Before a connection gets more credits, it has to borrow memory for their Receives and for
 * one Send for each credit, and may get less than it asks for. But the budget never refuses a Send
 * when it is needed, because a Call that has been executed must be answered. A connection may have
 * more Sends than credits, because a Send whose completion has not been handled yet cannot be used
 * again. The account follows the memory of the Sends in steps of %SVC_RDMA_BUDGET_STEP bytes, so
 * most RPCs do not change the account.
 *
 * Pages that RDMA Reads fill, or that a Call is copied to, are in no account. They are counted per
 * CPU, only to be shown in debugfs. server/queue.c limits the bytes that are read by RDMA for
 * each connection.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/percpu_counter.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <rpcrdma/debugfs.h>

#include "svc_rdma.h"

/* An account counts hg_send_least bytes for Sends; or, if they have more, a multiple of this */
#define SVC_RDMA_BUDGET_STEP	32768L
/* The default limit is the machine's memory divided by this number */
#define SVC_RDMA_BUDGET_PART	8
#define SVC_RDMA_BUDGET_SHIFT	20	/* server_memory is in units of 2^20 bytes */
#define SVC_RDMA_BUDGET_MAX	524288u

/* Protects svc_rdma_budget, and struct svc_rdma_holdings of all connections except hg_sends.
 * Innermost.
 */
static DEFINE_SPINLOCK(svc_rdma_budget_lock);
static struct rpcrdma_budget svc_rdma_budget =
	RPCRDMA_BUDGET_INIT(svc_rdma_budget);

/**
 * struct svc_rdma_client - the connections from one address
 * @cl_borrower: what these connections hold of the budget
 * @cl_net: network namespace of the connections
 * @cl_addr: remote address, without the port
 *
 * It exists as long as a connection from this address in this namespace has an open account.
 */
struct svc_rdma_client {
	struct rpcrdma_borrower	cl_borrower;
	const struct net	*cl_net;
	struct sockaddr_storage	cl_addr;
};

/* Number of pages with data of Calls. Index: whether the client was known (svc_rdma_is_known()) */
static struct percpu_counter svc_rdma_budget_pages[2];
static struct dentry *svc_rdma_budget_debugfs;

/* Size of the budget in MiB; 0: the default, see SVC_RDMA_BUDGET_PART */
static unsigned int svc_rdma_server_memory;

static void svc_rdma_budget_resize(void)
{
	u64 limit = (u64)READ_ONCE(svc_rdma_server_memory) <<
		    SVC_RDMA_BUDGET_SHIFT;

	if (!limit)
		limit = (u64)totalram_pages() / SVC_RDMA_BUDGET_PART <<
			PAGE_SHIFT;
	spin_lock(&svc_rdma_budget_lock);
	rpcrdma_budget_resize(&svc_rdma_budget, limit);
	spin_unlock(&svc_rdma_budget_lock);
}

static int svc_rdma_server_memory_set(const char *val,
				      const struct kernel_param *kp)
{
	int rc = param_set_uint_minmax(val, kp, 0, SVC_RDMA_BUDGET_MAX);

	if (!rc)
		svc_rdma_budget_resize();
	return rc;
}

static const struct kernel_param_ops svc_rdma_server_memory_ops = {
	.set	= svc_rdma_server_memory_set,
	.get	= param_get_uint,
};
module_param_cb(server_memory, &svc_rdma_server_memory_ops,
		&svc_rdma_server_memory, 0644);
MODULE_PARM_DESC(server_memory,
		 "Server: MiB for the Receives and Sends of all clients; 0: an eighth of the memory");

/* --- accounts --- */

static void svc_rdma_budget_set_locked(struct svc_rdma_holdings *hold)
{
	lockdep_assert_held(&svc_rdma_budget_lock);
	rpcrdma_account_set(&svc_rdma_budget, &hold->hg_account,
			    hold->hg_recvs + hold->hg_send_counted);
}

/**
 * svc_rdma_budget_init_xprt - set up the holdings of a new connection
 * @hold: holdings
 *
 * Context: any.
 */
void svc_rdma_budget_init_xprt(struct svc_rdma_holdings *hold)
{
	rpcrdma_account_init(&hold->hg_account);
	hold->hg_recvs = 0;
	atomic_long_set(&hold->hg_sends, 0);
	hold->hg_send_least = 0;
	hold->hg_send_counted = 0;
}

/* Returns the client that has accounts of connections from @addr in @net; NULL if there is none. */
static struct svc_rdma_client *
svc_rdma_budget_find_locked(const struct net *net, const struct sockaddr *addr)
{
	struct svc_rdma_client *client;

	lockdep_assert_held(&svc_rdma_budget_lock);
	list_for_each_entry(client, &svc_rdma_budget.bg_borrowers,
			    cl_borrower.bo_list)
		if (client->cl_net == net &&
		    rpc_cmp_addr((const struct sockaddr *)&client->cl_addr, addr))
			return client;
	return NULL;
}

/**
 * svc_rdma_budget_join - open the account of a connection
 * @sx: connection that is being accepted, without Receives and Sends
 *
 * Connections from the same address in the same network namespace count as those of one client.
 *
 * Context: process; sleeps.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_budget_join(struct svc_rdma_xprt *sx)
{
	const struct sockaddr *addr =
		(const struct sockaddr *)&sx->sx_xprt.xpt_remote;
	struct svc_rdma_client *client, *found;

	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return -ENOMEM;
	client->cl_net = sx->sx_xprt.xpt_net;
	memcpy(&client->cl_addr, addr, sx->sx_xprt.xpt_remotelen);

	spin_lock(&svc_rdma_budget_lock);
	found = svc_rdma_budget_find_locked(client->cl_net, addr);
	rpcrdma_account_open(&svc_rdma_budget, &sx->sx_holdings.hg_account,
			     found ? &found->cl_borrower :
				     &client->cl_borrower);
	spin_unlock(&svc_rdma_budget_lock);
	if (found)
		kfree(client);
	return 0;
}

/**
 * svc_rdma_budget_leave - close the account of a connection
 * @sx: connection that has no Receives and no Sends any more; it may have no account
 *
 * Context: process.
 */
void svc_rdma_budget_leave(struct svc_rdma_xprt *sx)
{
	struct rpcrdma_account *account = &sx->sx_holdings.hg_account;
	struct rpcrdma_borrower *borrower;
	bool last = false;

	spin_lock(&svc_rdma_budget_lock);
	borrower = account->ba_borrower;
	if (borrower) {
		rpcrdma_account_close(&svc_rdma_budget, account);
		last = !borrower->bo_accounts;
	}
	spin_unlock(&svc_rdma_budget_lock);
	if (last)
		kfree(container_of(borrower, struct svc_rdma_client,
				   cl_borrower));
}

/**
 * svc_rdma_budget_know - record that the client is known on a connection, so that it may borrow
 * @sx: accepted connection whose client is known; its account may have been closed already
 *
 * Context: process.
 */
void svc_rdma_budget_know(struct svc_rdma_xprt *sx)
{
	struct rpcrdma_account *account = &sx->sx_holdings.hg_account;

	spin_lock(&svc_rdma_budget_lock);
	if (account->ba_borrower)
		rpcrdma_account_know(&svc_rdma_budget, account);
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_borrow - borrow memory for further Receives
 * @sx: accepted connection
 * @bytes: number of bytes wanted for these Receives and, if they are for further credits, for as
 *	many Sends
 *
 * Afterwards the caller creates the Receives, and calls svc_rdma_budget_settle().
 *
 * Context: process; the caller holds sx_grow.
 * Return: number of bytes that the connection gets, 0 to @bytes.
 */
u64 svc_rdma_budget_borrow(struct svc_rdma_xprt *sx, u64 bytes)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	lockdep_assert_held(&sx->sx_grow);
	spin_lock(&svc_rdma_budget_lock);
	bytes = min(bytes, rpcrdma_account_room(&svc_rdma_budget,
						&hold->hg_account));
	hold->hg_recvs += bytes;
	svc_rdma_budget_set_locked(hold);
	spin_unlock(&svc_rdma_budget_lock);
	return bytes;
}

/**
 * svc_rdma_budget_excess - how much should a connection give back?
 * @sx: accepted connection
 *
 * Context: process.
 * Return: number of bytes.
 */
u64 svc_rdma_budget_excess(struct svc_rdma_xprt *sx)
{
	u64 excess;

	spin_lock(&svc_rdma_budget_lock);
	excess = rpcrdma_account_excess(&svc_rdma_budget,
					&sx->sx_holdings.hg_account);
	spin_unlock(&svc_rdma_budget_lock);
	return excess;
}

/* Returns the value that hg_send_counted should have: hg_send_least, or, if hg_sends is larger,
 * hg_sends rounded up to a multiple of SVC_RDMA_BUDGET_STEP.
 */
static long svc_rdma_budget_send_count(const struct svc_rdma_holdings *hold)
{
	long sends = atomic_long_read(&hold->hg_sends);
	long least = READ_ONCE(hold->hg_send_least);

	return sends <= least ? least : roundup(sends, SVC_RDMA_BUDGET_STEP);
}

/* Give hg_send_counted the value that it should have. Another thread that allocates a Send
 * meanwhile adds to hg_sends and then looks at hg_send_counted, without the lock. Either that
 * thread sees the new value of hg_send_counted, or this function sees the new value of hg_sends.
 */
static void svc_rdma_budget_recount_locked(struct svc_rdma_holdings *hold)
{
	lockdep_assert_held(&svc_rdma_budget_lock);
	do {
		WRITE_ONCE(hold->hg_send_counted,
			   svc_rdma_budget_send_count(hold));
		/* See svc_rdma_budget_sends() */
		smp_mb();
	} while (atomic_long_read(&hold->hg_sends) > hold->hg_send_counted);
	svc_rdma_budget_set_locked(hold);
}

/**
 * svc_rdma_budget_settle - count the Receives that a connection really has
 * @sx: connection with an account
 * @sends: number of bytes of the Sends that belong to its credits
 *
 * Context: process; the caller holds sx_grow, or is accepting the connection.
 */
void svc_rdma_budget_settle(struct svc_rdma_xprt *sx, u32 sends)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	spin_lock(&svc_rdma_budget_lock);
	hold->hg_recvs = READ_ONCE(sx->sx_conn.cn_recvs.rp_bytes);
	WRITE_ONCE(hold->hg_send_least, sends);
	svc_rdma_budget_recount_locked(hold);
	spin_unlock(&svc_rdma_budget_lock);
}

/* Must hg_send_counted be changed? It must if it is smaller than hg_sends, or exceeds the value
 * that svc_rdma_budget_send_count() returns by more than two steps. A smaller excess is allowed, so
 * that a connection that makes and frees a few Sends again and again does not change its account
 * each time.
 */
static bool svc_rdma_budget_sends_off(const struct svc_rdma_holdings *hold)
{
	long counted = READ_ONCE(hold->hg_send_counted);

	return atomic_long_read(&hold->hg_sends) > counted ||
	       counted - svc_rdma_budget_send_count(hold) >
	       2 * SVC_RDMA_BUDGET_STEP;
}

/**
 * svc_rdma_budget_sends - count the buffers of Sends
 * @sx: connection with an account
 * @bytes: number of bytes that were allocated; negative if they were freed
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_sends(struct svc_rdma_xprt *sx, long bytes)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	atomic_long_add(bytes, &hold->hg_sends);
	/* See svc_rdma_budget_recount_locked() */
	smp_mb__after_atomic();
	if (likely(!svc_rdma_budget_sends_off(hold)))
		return;
	spin_lock(&svc_rdma_budget_lock);
	if (svc_rdma_budget_sends_off(hold))
		svc_rdma_budget_recount_locked(hold);
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_recount - correct how many bytes an account counts for Sends
 * @sx: connection with an account
 *
 * svc_rdma_budget_sends() does not correct hg_send_counted as long as it is at most two steps too
 * large. This function does.
 *
 * Context: process.
 */
void svc_rdma_budget_recount(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	if (READ_ONCE(hold->hg_send_counted) ==
	    svc_rdma_budget_send_count(hold))
		return;
	spin_lock(&svc_rdma_budget_lock);
	svc_rdma_budget_recount_locked(hold);
	spin_unlock(&svc_rdma_budget_lock);
}

/* --- pages --- */

/**
 * svc_rdma_budget_use - count the pages of a Call
 * @call: Call whose pages are not counted yet
 * @pages: number of pages
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_use(struct svc_rdma_call *call, u32 pages)
{
	call->sc_budget_known = svc_rdma_is_known(call->sc_sx);
	call->sc_budget = pages;
	percpu_counter_add(&svc_rdma_budget_pages[call->sc_budget_known],
			   pages);
}

/**
 * svc_rdma_budget_give - stop counting the pages of a Call
 * @call: Call that does not use its pages any more; it may have none
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_give(struct svc_rdma_call *call)
{
	if (!call->sc_budget)
		return;
	percpu_counter_sub(&svc_rdma_budget_pages[call->sc_budget_known],
			   call->sc_budget);
	call->sc_budget = 0;
}

/* --- debugfs --- */

static int svc_rdma_budget_show(struct seq_file *seq, void *unused)
{
	struct rpcrdma_budget budget;
	u64 share;

	spin_lock(&svc_rdma_budget_lock);
	budget = svc_rdma_budget;
	share = rpcrdma_budget_share(&svc_rdma_budget);
	spin_unlock(&svc_rdma_budget_lock);

	seq_printf(seq, "limit %llu\n", budget.bg_limit);
	seq_printf(seq, "held %llu\n", budget.bg_held);
	seq_printf(seq, "set_aside %llu\n", budget.bg_taken - budget.bg_lent);
	seq_printf(seq, "share %llu\n", share);
	seq_printf(seq, "known %u\n", budget.bg_known);
	seq_printf(seq, "pages %lld\n",
		   percpu_counter_sum(&svc_rdma_budget_pages[true]) <<
		   PAGE_SHIFT);
	seq_printf(seq, "pages_unknown %lld\n",
		   percpu_counter_sum(&svc_rdma_budget_pages[false]) <<
		   PAGE_SHIFT);
	seq_printf(seq, "stock %lu\n", svc_rdma_stock_size() << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_budget);

/**
 * svc_rdma_budget_init - set the limit, and create the counters of pages and the debugfs file
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_budget_init(void)
{
	int rc;

	rc = percpu_counter_init(&svc_rdma_budget_pages[false], 0,
				 GFP_KERNEL);
	if (rc)
		return rc;
	rc = percpu_counter_init(&svc_rdma_budget_pages[true], 0,
				 GFP_KERNEL);
	if (rc) {
		percpu_counter_destroy(&svc_rdma_budget_pages[false]);
		return rc;
	}
	svc_rdma_budget_resize();
	svc_rdma_budget_debugfs =
		rpcrdma_debugfs_add_file("server_memory", &svc_rdma_budget_fops);
	return 0;
}

/**
 * svc_rdma_budget_exit - undo svc_rdma_budget_init()
 *
 * Context: process; no connection and no Call is left.
 */
void svc_rdma_budget_exit(void)
{
	debugfs_remove(svc_rdma_budget_debugfs);
	percpu_counter_destroy(&svc_rdma_budget_pages[true]);
	percpu_counter_destroy(&svc_rdma_budget_pages[false]);
}
