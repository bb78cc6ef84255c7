// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that this server lends to its clients, and its limit (server_memory). This file has
 * the only budget of the module: all servers of the machine use the same memory. It never looks at
 * a message, and decides nothing: net/core/budget.c computes what a connection may have, and
 * server/credit.c and server/queue.c ask.
 *
 * Operation
 *
 * A connection holds the buffers of its Receives and Sends for as long as they exist. Receives for
 * more credits are borrowed, together with a Send for each credit, and there may be no room for
 * them. A Send is never refused: a Call that has been executed must be answered. If there are more
 * Sends than credits for a while, because their completions were not handled yet, they are counted
 * in steps of %SVC_RDMA_BUDGET_STEP bytes. So an RPC usually changes no account.
 *
 * Pages with the data of Calls (RDMA Reads, or copies) are counted per CPU, and not for each
 * connection. While less than half of what pages may take is used, a Call of a known client only
 * adds its pages to the counter of its CPU. Otherwise, the sum of all CPUs is compared with the
 * limit, under a lock.
 * A Call that does not fit waits in server/queue.c, and its connection stands in line. A connection
 * that is not the first in line does not get pages before the others. Unknown clients have a line
 * and a limit of their own. If no pages of their kind are in use, a Call fits whatever its size is.
 * So each line moves, and neither kind can stop the other.
 *
 * A connection leaves the line when its Call gets its pages, and when it ends.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/percpu_counter.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/debugfs.h>

#include "svc_rdma.h"

/* Steps in bytes in which the buffers of a connection's Sends are counted */
#define SVC_RDMA_BUDGET_STEP	32768L
/* Of how many parts of the machine's memory the server may use one, by default */
#define SVC_RDMA_BUDGET_PART	8
#define SVC_RDMA_BUDGET_SHIFT	20	/* server_memory is in units of 2^20 bytes */
#define SVC_RDMA_BUDGET_MAX	524288u
/* How often the pages of a CPU that are not added to the sum fit into the limit, at least */
#define SVC_RDMA_BUDGET_PARTS	64

/**
 * struct svc_rdma_budget_pages - pages with the data of Calls
 * @bp_most: maximum number of pages; read without a lock
 * @bp_used: number of pages in use
 * @bp_line: connections that wait for pages (hg_line); read without a lock
 */
struct svc_rdma_budget_pages {
	unsigned long		bp_most;
	struct percpu_counter	bp_used;
	struct list_head	bp_line;
};

/* Protects all of the following, and hg_account, hg_line, hg_line_known and hg_send_counted of all
 * connections. Innermost.
 */
static DEFINE_SPINLOCK(svc_rdma_budget_lock);
static struct rpcrdma_budget svc_rdma_budget = {
	.bg_accounts = LIST_HEAD_INIT(svc_rdma_budget.bg_accounts),
};

/* Those of unknown clients, and those of known ones. The index is svc_rdma_is_known(). */
static struct svc_rdma_budget_pages svc_rdma_budget_pages[] = {
	[false] = {
		.bp_line = LIST_HEAD_INIT(svc_rdma_budget_pages[false].bp_line),
	},
	[true] = {
		.bp_line = LIST_HEAD_INIT(svc_rdma_budget_pages[true].bp_line),
	},
};

/* Pages that each CPU may count on its own before it adds them to the sum */
static s32 svc_rdma_budget_batch = 1;
static struct dentry *svc_rdma_budget_debugfs;

/* Number of MiB that the server may use; 0: a part of the machine's memory */
static unsigned int svc_rdma_server_memory;

static void svc_rdma_budget_update_locked(void)
{
	lockdep_assert_held(&svc_rdma_budget_lock);
	WRITE_ONCE(svc_rdma_budget_pages[false].bp_most,
		   rpcrdma_budget_pages(&svc_rdma_budget, false) >> PAGE_SHIFT);
	WRITE_ONCE(svc_rdma_budget_pages[true].bp_most,
		   rpcrdma_budget_pages(&svc_rdma_budget, true) >> PAGE_SHIFT);
}

static void svc_rdma_budget_resize(void)
{
	u64 limit = (u64)READ_ONCE(svc_rdma_server_memory) <<
		    SVC_RDMA_BUDGET_SHIFT;
	u64 batch;

	if (!limit)
		limit = (u64)totalram_pages() / SVC_RDMA_BUDGET_PART <<
			PAGE_SHIFT;
	batch = (limit >> PAGE_SHIFT) /
		(SVC_RDMA_BUDGET_PARTS * num_possible_cpus());
	spin_lock(&svc_rdma_budget_lock);
	rpcrdma_budget_resize(&svc_rdma_budget, limit);
	svc_rdma_budget_update_locked();
	WRITE_ONCE(svc_rdma_budget_batch, clamp_t(u64, batch, 1, S32_MAX));
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
		 "Server: MiB for messages and for data of Calls; 0: an eighth of the memory");

/* --- accounts --- */

static void svc_rdma_budget_set_locked(struct svc_rdma_holdings *hold)
{
	lockdep_assert_held(&svc_rdma_budget_lock);
	rpcrdma_account_set(&svc_rdma_budget, &hold->hg_account,
			    hold->hg_recvs + hold->hg_send_counted);
	svc_rdma_budget_update_locked();
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
	INIT_LIST_HEAD(&hold->hg_line);
	hold->hg_line_known = false;
}

/**
 * svc_rdma_budget_join - open the account of a connection
 * @sx: connection that is being accepted, without Receives and Sends
 *
 * Context: process.
 */
void svc_rdma_budget_join(struct svc_rdma_xprt *sx)
{
	spin_lock(&svc_rdma_budget_lock);
	rpcrdma_account_open(&svc_rdma_budget, &sx->sx_holdings.hg_account);
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_leave - close the account of a connection
 * @sx: connection whose Receives and Sends are freed; it may have no account
 *
 * Context: process.
 */
void svc_rdma_budget_leave(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	spin_lock(&svc_rdma_budget_lock);
	list_del_init(&hold->hg_line);
	rpcrdma_account_close(&svc_rdma_budget, &hold->hg_account);
	svc_rdma_budget_update_locked();
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_know - a client has become known
 * @sx: accepted connection
 *
 * Context: process.
 */
void svc_rdma_budget_know(struct svc_rdma_xprt *sx)
{
	struct rpcrdma_account *account = &sx->sx_holdings.hg_account;

	spin_lock(&svc_rdma_budget_lock);
	if (!list_empty(&account->ba_list))
		rpcrdma_account_know(&svc_rdma_budget, account);
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_borrow - borrow memory for further Receives
 * @sx: accepted connection
 * @bytes: number of bytes that would be needed, with those of a Send for each credit
 *
 * The caller then makes Receives, and calls svc_rdma_budget_settle().
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

/* Returns how many bytes should be counted for Sends. */
static long svc_rdma_budget_send_count(const struct svc_rdma_holdings *hold)
{
	return max(roundup(atomic_long_read(&hold->hg_sends),
			   SVC_RDMA_BUDGET_STEP),
		   READ_ONCE(hold->hg_send_least));
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
	WRITE_ONCE(hold->hg_send_counted, svc_rdma_budget_send_count(hold));
	svc_rdma_budget_set_locked(hold);
	spin_unlock(&svc_rdma_budget_lock);
}

/* Is the number of bytes that is counted for Sends so far off that it must be changed? It is never
 * too small, and may be too large by some steps, so that a connection that makes and frees a few
 * Sends again and again does not change its account each time.
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
 * Context: process or completion workqueue. The caller may hold sx_lock.
 */
void svc_rdma_budget_sends(struct svc_rdma_xprt *sx, long bytes)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	atomic_long_add(bytes, &hold->hg_sends);
	if (likely(!svc_rdma_budget_sends_off(hold)))
		return;
	spin_lock(&svc_rdma_budget_lock);
	if (svc_rdma_budget_sends_off(hold)) {
		WRITE_ONCE(hold->hg_send_counted,
			   svc_rdma_budget_send_count(hold));
		svc_rdma_budget_set_locked(hold);
	}
	spin_unlock(&svc_rdma_budget_lock);
}

/* --- pages --- */

static void svc_rdma_budget_add(bool known, s64 pages)
{
	percpu_counter_add_batch(&svc_rdma_budget_pages[known].bp_used, pages,
				 READ_ONCE(svc_rdma_budget_batch));
}

/* Is the client known, and is less than half of the pages in use? The sum does not have the pages
 * that the CPUs have not added yet, which are much less than the other half. Unknown clients may
 * use at most half of the pages, too.
 */
static bool svc_rdma_budget_is_easy(bool known, u32 pages)
{
	struct svc_rdma_budget_pages *bp = &svc_rdma_budget_pages[true];

	return known && list_empty(&bp->bp_line) &&
	       percpu_counter_read_positive(&bp->bp_used) + pages <=
	       READ_ONCE(bp->bp_most) / 2;
}

/* Do @pages more pages fit, for a connection that is the first in line? */
static bool svc_rdma_budget_fits_locked(bool known, u32 pages)
{
	struct svc_rdma_budget_pages *bp = &svc_rdma_budget_pages[known];
	s64 used = percpu_counter_sum(&bp->bp_used), all;

	lockdep_assert_held(&svc_rdma_budget_lock);
	if (used <= 0)
		return true;
	all = used + percpu_counter_sum(&svc_rdma_budget_pages[!known].bp_used);
	return used + pages <= (s64)bp->bp_most &&
	       all + pages <= (s64)svc_rdma_budget_pages[true].bp_most;
}

/* Makes a connection stand in line, if it does not yet. Returns whether it is the first. */
static bool svc_rdma_budget_line_locked(struct svc_rdma_holdings *hold,
					bool known)
{
	struct list_head *line = &svc_rdma_budget_pages[known].bp_line;

	lockdep_assert_held(&svc_rdma_budget_lock);
	if (!list_empty(&hold->hg_line) && hold->hg_line_known != known)
		list_del_init(&hold->hg_line);
	if (list_empty(&hold->hg_line)) {
		hold->hg_line_known = known;
		list_add_tail(&hold->hg_line, line);
	}
	return line->next == &hold->hg_line;
}

/**
 * svc_rdma_budget_fits - may pages be used for a Call?
 * @sx: connection of the Call
 * @pages: number of pages
 *
 * If not, the connection stands in line afterwards, and svc_rdma_budget_first() returns it when
 * it is its turn.
 *
 * Context: process or completion workqueue; the caller holds sx_lock.
 * Return: true if svc_rdma_budget_take() would succeed now.
 */
bool svc_rdma_budget_fits(struct svc_rdma_xprt *sx, u32 pages)
{
	bool known = svc_rdma_is_known(sx), fits;

	lockdep_assert_held(&sx->sx_lock);
	if (likely(svc_rdma_budget_is_easy(known, pages)))
		return true;
	spin_lock(&svc_rdma_budget_lock);
	fits = svc_rdma_budget_line_locked(&sx->sx_holdings, known);
	/* Pairs with svc_rdma_budget_give(): stand in line before reading what is in use. */
	smp_mb();
	fits = fits && svc_rdma_budget_fits_locked(known, pages);
	spin_unlock(&svc_rdma_budget_lock);
	return fits;
}

/**
 * svc_rdma_budget_take - use pages for a Call
 * @call: Call without pages
 * @pages: number of pages
 *
 * If the connection stands in line, it leaves the line.
 *
 * Context: process; the caller holds sx_lock.
 * Return: false if the pages do not fit, and then nothing was counted.
 */
bool svc_rdma_budget_take(struct svc_rdma_call *call, u32 pages)
{
	struct svc_rdma_holdings *hold = &call->sc_sx->sx_holdings;
	bool known = svc_rdma_is_known(call->sc_sx);
	bool took;

	lockdep_assert_held(&call->sc_sx->sx_lock);
	if (likely(svc_rdma_budget_is_easy(known, pages))) {
		svc_rdma_budget_force(call, pages);
		return true;
	}
	spin_lock(&svc_rdma_budget_lock);
	took = svc_rdma_budget_line_locked(hold, known) &&
	       svc_rdma_budget_fits_locked(known, pages);
	if (took) {
		list_del_init(&hold->hg_line);
		svc_rdma_budget_force(call, pages);
	}
	spin_unlock(&svc_rdma_budget_lock);
	return took;
}

/**
 * svc_rdma_budget_force - use pages for a Call that cannot wait
 * @call: Call without pages
 * @pages: number of pages
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_force(struct svc_rdma_call *call, u32 pages)
{
	call->sc_budget_known = svc_rdma_is_known(call->sc_sx);
	call->sc_budget = pages;
	svc_rdma_budget_add(call->sc_budget_known, pages);
}

/**
 * svc_rdma_budget_give - a Call does not use its pages any more
 * @call: Call; it may have no pages
 *
 * The caller then looks whether a connection is in line: see svc_rdma_budget_first().
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_give(struct svc_rdma_call *call)
{
	if (!call->sc_budget)
		return;
	svc_rdma_budget_add(call->sc_budget_known, -(s64)call->sc_budget);
	call->sc_budget = 0;
	/* Pairs with svc_rdma_budget_fits(): free the pages before looking for a line. */
	smp_mb();
}

/**
 * svc_rdma_budget_leave_line - a connection does not wait for pages any more
 * @sx: connection
 *
 * Context: process or completion workqueue; the caller holds sx_lock.
 */
void svc_rdma_budget_leave_line(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_holdings *hold = &sx->sx_holdings;

	lockdep_assert_held(&sx->sx_lock);
	if (likely(list_empty(&hold->hg_line)))
		return;
	spin_lock(&svc_rdma_budget_lock);
	list_del_init(&hold->hg_line);
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_is_short - does any connection wait for pages?
 * @known: of known clients, or of unknown ones
 *
 * Context: any.
 * Return: true if so.
 */
bool svc_rdma_budget_is_short(bool known)
{
	return unlikely(!list_empty(&svc_rdma_budget_pages[known].bp_line));
}

/**
 * svc_rdma_budget_first - find the connection that gets pages next
 * @known: of known clients, or of unknown ones
 *
 * Context: process or completion workqueue.
 * Return: the connection, with a reference for the caller; or NULL.
 */
struct svc_rdma_xprt *svc_rdma_budget_first(bool known)
{
	struct list_head *line = &svc_rdma_budget_pages[known].bp_line;
	struct svc_rdma_xprt *sx, *next;

	spin_lock(&svc_rdma_budget_lock);
	list_for_each_entry_safe(sx, next, line, sx_holdings.hg_line) {
		/* A connection without references is about to be closed. */
		if (kref_get_unless_zero(&sx->sx_xprt.xpt_ref)) {
			spin_unlock(&svc_rdma_budget_lock);
			return sx;
		}
		list_del_init(&sx->sx_holdings.hg_line);
	}
	spin_unlock(&svc_rdma_budget_lock);
	return NULL;
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
	seq_printf(seq, "set_aside %llu\n", budget.bg_taken - budget.bg_held);
	seq_printf(seq, "share %llu\n", share);
	seq_printf(seq, "known %u\n", budget.bg_known);
	seq_printf(seq, "pages %lld\n",
		   percpu_counter_sum(&svc_rdma_budget_pages[true].bp_used) <<
		   PAGE_SHIFT);
	seq_printf(seq, "pages_unknown %lld\n",
		   percpu_counter_sum(&svc_rdma_budget_pages[false].bp_used) <<
		   PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_budget);

/**
 * svc_rdma_budget_init - set the limit, and create the debugfs file
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_budget_init(void)
{
	int rc;

	rc = percpu_counter_init(&svc_rdma_budget_pages[false].bp_used, 0,
				 GFP_KERNEL);
	if (rc)
		return rc;
	rc = percpu_counter_init(&svc_rdma_budget_pages[true].bp_used, 0,
				 GFP_KERNEL);
	if (rc) {
		percpu_counter_destroy(&svc_rdma_budget_pages[false].bp_used);
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
	percpu_counter_destroy(&svc_rdma_budget_pages[true].bp_used);
	percpu_counter_destroy(&svc_rdma_budget_pages[false].bp_used);
}
