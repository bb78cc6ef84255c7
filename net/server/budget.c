// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that clients make the server pin, and the budget that limits it (the parameter
 * server_memory). The module has one budget, because the servers of all network namespaces share
 * the memory of the machine. This file keeps the accounts. It never looks at a message.
 *
 * Operation
 *
 * The account of a connection contains the buffers of its Receives and Sends for as long as they
 * exist, and the pages that its Calls are pulled into (read by RDMA) or copied to, until these
 * Calls are freed. include/rpcrdma/budget.h has the rule that says how much more a client may hold.
 * All connections from one address, in one network namespace, belong to one client, which gets no
 * more memory by opening more of them.
 *
 * Four kinds of memory are never refused, because somebody waits for them: the first Receives of a
 * connection; a Send, because a Call that has been executed must be answered; the pages of a Call
 * that is copied, because it fills Receives of this connection anyway; and the pages of a Call that
 * is pulled while the connection holds none for another Call, so that every WRITE comes to its
 * end. The last kind is set aside for each connection of a known client (bg_calls). A client that
 * is not known (svc_rdma_is_known()) gets nothing else.
 *
 * A credit is paid for when it is granted: it costs a Receive and a Send. So the account counts one
 * Send for each credit even if fewer exist. More may exist, because a Send whose completion has not
 * been handled yet cannot be used again.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "svc_rdma.h"

/* The default limit is the machine's memory divided by this number */
#define SVC_RDMA_BUDGET_PART	8
#define SVC_RDMA_BUDGET_SHIFT	20	/* server_memory is in units of 2^20 bytes */
#define SVC_RDMA_BUDGET_MAX	524288u

/**
 * struct svc_rdma_client - the connections from one address
 * @cl_list: link in svc_rdma_clients
 * @cl_conns: number of connections. The structure exists as long as there is one
 * @cl_known: number of connections on which the client is known
 * @cl_held: number of bytes that all of them hold
 * @cl_net: network namespace of the connections
 * @cl_addr: remote address, without the port
 */
struct svc_rdma_client {
	struct list_head	cl_list;
	u32			cl_conns;
	u32			cl_known;
	u64			cl_held;
	const struct net	*cl_net;
	struct sockaddr_storage	cl_addr;
};

/* Protects the budget, the clients, and struct svc_rdma_account of all connections. Innermost. */
static DEFINE_SPINLOCK(svc_rdma_budget_lock);
struct rpcrdma_budget svc_rdma_budget;
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget);
static LIST_HEAD(svc_rdma_clients);
static u64 svc_rdma_budget_pages;	/* bytes of bg_held that are pages of Calls */

/* Size of the budget in MiB; 0: the default, see SVC_RDMA_BUDGET_PART */
static unsigned int svc_rdma_server_memory;

/**
 * svc_rdma_budget_init - set the limit
 *
 * Context: process.
 */
void svc_rdma_budget_init(void)
{
	u64 limit = (u64)READ_ONCE(svc_rdma_server_memory) <<
		    SVC_RDMA_BUDGET_SHIFT;

	if (!limit)
		limit = (u64)totalram_pages() / SVC_RDMA_BUDGET_PART <<
			PAGE_SHIFT;
	spin_lock(&svc_rdma_budget_lock);
	svc_rdma_budget.bg_limit = limit;
	spin_unlock(&svc_rdma_budget_lock);
}

static int svc_rdma_server_memory_set(const char *val,
				      const struct kernel_param *kp)
{
	int rc = param_set_uint_minmax(val, kp, 0, SVC_RDMA_BUDGET_MAX);

	if (!rc)
		svc_rdma_budget_init();
	return rc;
}

static const struct kernel_param_ops svc_rdma_server_memory_ops = {
	.set	= svc_rdma_server_memory_set,
	.get	= param_get_uint,
};
module_param_cb(server_memory, &svc_rdma_server_memory_ops,
		&svc_rdma_server_memory, 0644);
MODULE_PARM_DESC(server_memory,
		 "Server: MiB for Receives, Sends and pulled Calls of all clients; 0: an eighth of the memory");

/* --- accounts --- */

/* Takes an account out of the sums that contain it, so that it can be changed. Returns how many
 * bytes its client may still take; if negative, how many it should give back.
 */
static s64 svc_rdma_account_open(struct svc_rdma_account *account)
	__acquires(&svc_rdma_budget_lock)
{
	s64 room = 0;

	spin_lock(&svc_rdma_budget_lock);
	if (account->au_known)
		room = rpcrdma_budget_room(&svc_rdma_budget,
					   account->au_client->cl_held);
	if (account->au_known && !account->au_pages)
		svc_rdma_budget.bg_calls -= account->au_call;
	svc_rdma_budget_pages -= account->au_pages;
	return room;
}

/* Adds a changed account to the sums again. A connection that was never accepted has no account. */
static void svc_rdma_account_close(struct svc_rdma_account *account)
	__releases(&svc_rdma_budget_lock)
{
	u64 held = account->au_recvs + account->au_pages +
		   max(account->au_sends, account->au_least);

	if (account->au_client) {
		svc_rdma_budget.bg_held += held - account->au_held;
		account->au_client->cl_held += held - account->au_held;
		WRITE_ONCE(account->au_held, held);
	}
	svc_rdma_budget_pages += account->au_pages;
	if (account->au_known && !account->au_pages)
		svc_rdma_budget.bg_calls += account->au_call;
	spin_unlock(&svc_rdma_budget_lock);
}

/**
 * svc_rdma_budget_join - open the account of a connection
 * @sx: connection that is being accepted, without Receives and Sends
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
	list_for_each_entry(found, &svc_rdma_clients, cl_list)
		if (found->cl_net == client->cl_net &&
		    rpc_cmp_addr((struct sockaddr *)&found->cl_addr, addr))
			break;
	if (list_entry_is_head(found, &svc_rdma_clients, cl_list)) {
		list_add_tail(&client->cl_list, &svc_rdma_clients);
		found = client;
		client = NULL;
	}
	found->cl_conns++;
	sx->sx_account.au_client = found;
	spin_unlock(&svc_rdma_budget_lock);
	kfree(client);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_join);

/**
 * svc_rdma_budget_leave - close the account of a connection
 * @sx: connection that has no Receives, Sends and Calls any more; it may have no account
 *
 * Context: process.
 */
void svc_rdma_budget_leave(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_account *account = &sx->sx_account;
	struct svc_rdma_client *client = account->au_client;

	if (!client)
		return;
	svc_rdma_account_open(account);
	client->cl_held -= account->au_held;
	svc_rdma_budget.bg_held -= account->au_held;
	client->cl_known -= account->au_known;
	memset(account, 0, sizeof(*account));
	if (--client->cl_conns)
		client = NULL;
	else
		list_del(&client->cl_list);
	svc_rdma_account_close(account);
	kfree(client);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_leave);

/**
 * svc_rdma_budget_know - record that the client is known on a connection, so that it may take more
 * @sx: accepted connection whose client is known
 *
 * Context: process.
 */
void svc_rdma_budget_know(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_account *account = &sx->sx_account;

	svc_rdma_account_open(account);
	if (!account->au_known) {
		account->au_call = PAGE_ALIGN(sx->sx_max_mesg);
		WRITE_ONCE(account->au_known, true);
		account->au_client->cl_known++;
	}
	svc_rdma_account_close(account);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_know);

/**
 * svc_rdma_budget_charge - take memory for further Receives
 * @sx: accepted connection
 * @count: number of Receives
 * @price: number of bytes for each of them and, if they are for further credits, for a Send
 *
 * If it gets any, the caller creates the Receives, and calls svc_rdma_budget_update().
 *
 * Context: process; the caller holds sx_grow.
 * Return: number of Receives for which the connection gets memory, 0 to @count.
 */
u32 svc_rdma_budget_charge(struct svc_rdma_xprt *sx, u32 count, u32 price)
{
	struct svc_rdma_account *account = &sx->sx_account;
	s64 room;

	lockdep_assert_held(&sx->sx_grow);
	room = max(svc_rdma_account_open(account), 0ll);
	count = min_t(u64, count, div_u64(room, price));
	account->au_recvs += (u64)count * price;
	svc_rdma_account_close(account);
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_charge);

/**
 * svc_rdma_budget_excess - how much should a connection give back?
 * @sx: accepted connection
 *
 * If a client has several connections, each gives back a part.
 *
 * Context: process.
 * Return: number of bytes.
 */
u64 svc_rdma_budget_excess(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_account *account = &sx->sx_account;
	u64 excess = max(-svc_rdma_account_open(account), 0ll);

	if (excess)
		excess = div_u64(excess, account->au_client->cl_known);
	svc_rdma_account_close(account);
	return excess;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_excess);

/**
 * svc_rdma_budget_update - count the Receives that a connection really has
 * @sx: connection; it has no account if it was never accepted
 * @sends: number of bytes of the Sends that belong to its credits
 *
 * Context: process; the caller holds sx_grow, or is accepting or closing the connection.
 */
void svc_rdma_budget_update(struct svc_rdma_xprt *sx, u32 sends)
{
	struct svc_rdma_account *account = &sx->sx_account;

	svc_rdma_account_open(account);
	account->au_recvs = READ_ONCE(sx->sx_conn.cn_recvs.rp_bytes);
	account->au_least = sends;
	svc_rdma_account_close(account);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_update);

/**
 * svc_rdma_budget_sends - count the buffers of Sends
 * @sx: connection with an account
 * @bytes: number of bytes that were allocated; negative if they were freed
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_sends(struct svc_rdma_xprt *sx, long bytes)
{
	struct svc_rdma_account *account = &sx->sx_account;

	svc_rdma_account_open(account);
	account->au_sends += bytes;
	svc_rdma_account_close(account);
}

/* --- pages of Calls --- */

/**
 * svc_rdma_budget_pull - take memory for the pages of a Call, if there is enough
 * @call: Call that is to be pulled, without pages
 * @take: if false, only look
 *
 * Context: process or completion workqueue.
 * Return: false if the Call has to wait until the connection has freed another Call. Otherwise, if
 *	@take is true, the pages are counted until svc_rdma_budget_count() is called.
 */
bool svc_rdma_budget_pull(struct svc_rdma_call *call, bool take)
{
	struct svc_rdma_account *account = &call->sc_sx->sx_account;
	s64 bytes = PAGE_ALIGN(call->sc_stream_len);
	bool may;

	may = svc_rdma_account_open(account) >= bytes || !account->au_pages;
	if (may && take) {
		account->au_pages += bytes;
		call->sc_counted = bytes;
	}
	svc_rdma_account_close(account);
	return may;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_pull);

/**
 * svc_rdma_budget_count - count the pages of a Call
 * @call: Call that is about to be copied to pages, which are not counted yet; or Call that does not
 *	use its pages any more
 * @bytes: number of bytes in the pages from now on; 0 to give back their memory
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_budget_count(struct svc_rdma_call *call, u32 bytes)
{
	struct svc_rdma_account *account = &call->sc_sx->sx_account;

	svc_rdma_account_open(account);
	account->au_pages += (s64)bytes - call->sc_counted;
	svc_rdma_account_close(account);
	call->sc_counted = bytes;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_budget_count);

/**
 * svc_rdma_budget_show - show the budget in debugfs
 * @seq: where to
 *
 * Context: process.
 */
void svc_rdma_budget_show(struct seq_file *seq)
{
	struct svc_rdma_client *client;
	struct rpcrdma_budget budget;
	u32 known = 0;
	u64 pages;

	spin_lock(&svc_rdma_budget_lock);
	budget = svc_rdma_budget;
	pages = svc_rdma_budget_pages;
	list_for_each_entry(client, &svc_rdma_clients, cl_list)
		known += !!client->cl_known;
	spin_unlock(&svc_rdma_budget_lock);

	seq_printf(seq, "limit %llu\n", budget.bg_limit);
	seq_printf(seq, "held %llu\n", budget.bg_held);
	seq_printf(seq, "set_aside %llu\n", budget.bg_calls);
	seq_printf(seq, "pages %llu\n", pages);
	seq_printf(seq, "known %u\n", known);
}
