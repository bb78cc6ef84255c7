// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the server can give back at any time, and credits that clients can give back. From
 * time to time, svc_rdma_reclaim_work() frees what was not needed since its last run, and reviews
 * the credits of each connection (server/credit.c). If the machine is short of memory, the shrinker
 * frees at once what no client was promised:
 *
 * - The stock: pages of earlier Calls, kept for later ones. RDMA Reads fill these pages, or Calls
 *   are copied to them.
 * - The buffers of Send contexts that nobody uses (server/send.c). %SVC_RDMA_RECLAIM_KEEP of each
 *   connection stay, because callbacks, which do not wait for memory, may need them then.
 *
 * Posted Receives are not among this memory, because no verb takes them back. If a client is
 * silent, svc_rdma_negotiate_notify() makes it send messages that use them up (G-39).
 *
 * The stock
 *
 * A busy server frees the pages of one large WRITE while it allocates those of the next one. Many
 * distributions let the kernel clear every page that it allocates, which is a large part of what a
 * WRITE costs. The page allocator keeps some free pages for each CPU. If more pages than these are
 * freed or allocated at a time, it has to take a lock that all CPUs of a node share.
 *
 * The stock consists of pieces: contiguous pages that were allocated and are freed together. Each
 * CPU has its own stock, so that CPUs do not contend for a lock. A Call takes pieces from the stock
 * of the CPU where svc_rdma_pages_alloc() runs for it, and returns them to the stock of the CPU
 * where it is freed. If the stock has too few pages, server/pages.c allocates the others. Pieces
 * for which a stock has no room are freed.
 *
 * - A piece is kept only if nobody else holds a reference to it. An upper layer that still uses
 *   a page, for example a socket that has not sent it yet, keeps a reference.
 * - A piece is kept only if it is from the NUMA node from which the CPU of the stock normally gets
 *   memory. Otherwise, if a thread once moved to another node, later Calls there would get memory
 *   of a remote node.
 * - The old contents of a page never reach an upper layer. RDMA Reads or copies fill all the pages
 *   that a Call takes, except the end of the last page, which svc_rdma_pages_alloc() clears. A Call
 *   whose RDMA Reads fail is not executed.
 * - The stock of a CPU has at most %SVC_RDMA_STOCK_PIECES of each size, and at most
 *   svc_rdma_stock_most pages (see %SVC_RDMA_STOCK_PART).
 *
 * Connections
 *
 * This file has the list of all accepted connections. A connection stays in the list until
 * svc_rdma_conn_end() begins to close it. As long as the mutex of the list is held, no connection
 * in the list is closed. The shrinker only tries to take the mutex, because the holder may be
 * waiting for memory.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/shrinker.h>
#include <linux/workqueue.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/param.h>

#include "svc_rdma.h"

/* Number of seconds between two runs of svc_rdma_reclaim_work(); 0: it runs, but takes no credits
 * back
 */
#define SVC_RDMA_REVIEW_TIME	10u
#define SVC_RDMA_REVIEW_MAX	3600u
static unsigned int svc_rdma_review_time = SVC_RDMA_REVIEW_TIME;
rpcrdma_param_range(review_time, svc_rdma_review_time, 0, SVC_RDMA_REVIEW_MAX);
MODULE_PARM_DESC(review_time,
		 "Server: seconds after which memory and credits that are not needed are taken back, 0: no credits");

/* Number of idle Send contexts that this file leaves to each connection */
#define SVC_RDMA_RECLAIM_KEEP	2u
/* Maximum number of pieces of one size, for each CPU: 8 MiB of the largest, with pages of 4 KB */
#define SVC_RDMA_STOCK_PIECES	256u
/* Number of sizes of pieces: those of order 0 to %SVC_RDMA_PIECE_ORDER */
#define SVC_RDMA_STOCK_SIZES	(SVC_RDMA_PIECE_ORDER + 1)
/* All stocks together have at most the machine's memory divided by this number. */
#define SVC_RDMA_STOCK_PART	64

/* Protects svc_rdma_reclaim_list, and sx_reclaim of all connections. Other locks, such as
 * sx_lock, are taken inside it.
 */
static DEFINE_MUTEX(svc_rdma_list_mutex);
static LIST_HEAD(svc_rdma_reclaim_list);
static struct shrinker *svc_rdma_reclaim_shrinker;

static void svc_rdma_reclaim_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(svc_rdma_reclaim_dwork, svc_rdma_reclaim_work);

/* Queues svc_rdma_reclaim_work(), unless it is queued already. It queues itself as long as there is
 * a connection, or a page in the stock.
 */
static void svc_rdma_reclaim_later(void)
{
	u32 time = READ_ONCE(svc_rdma_review_time) ?: SVC_RDMA_REVIEW_TIME;

	schedule_delayed_work(&svc_rdma_reclaim_dwork, time * HZ);
}

/* --- the stock --- */

/**
 * struct svc_rdma_stock - the stock of one CPU
 * @st_lock: protects all other members. Innermost
 * @st_pages: number of pages in all pieces
 * @st_count: number of pieces of each order
 * @st_least: the smallest value that each @st_count has had since svc_rdma_stock_trim() was
 *	called last
 * @st_pieces: the first page of each piece of each order; the last entry was added last
 */
struct svc_rdma_stock {
	spinlock_t	st_lock;	/* see above */
	u32		st_pages;
	u32		st_count[SVC_RDMA_STOCK_SIZES];
	u32		st_least[SVC_RDMA_STOCK_SIZES];
	struct page	*st_pieces[SVC_RDMA_STOCK_SIZES][SVC_RDMA_STOCK_PIECES];
};

static struct svc_rdma_stock __percpu *svc_rdma_stocks;
/* Maximum number of pages in the stock of one CPU */
static u32 svc_rdma_stock_most;

/* Returns the stock of this CPU. The task may then move to another CPU. That does no harm, because
 * the stock has a lock.
 */
static struct svc_rdma_stock *svc_rdma_stock_here(void)
{
	return raw_cpu_ptr(svc_rdma_stocks);
}

/* Removes the piece of this order that was added last. Returns NULL if there is none. */
static struct page *svc_rdma_stock_pop(struct svc_rdma_stock *stock, int order)
{
	lockdep_assert_held(&stock->st_lock);
	if (!stock->st_count[order])
		return NULL;
	stock->st_pages -= 1u << order;
	stock->st_count[order]--;
	stock->st_least[order] = min(stock->st_least[order],
				     stock->st_count[order]);
	return stock->st_pieces[order][stock->st_count[order]];
}

/* Returns how many pieces of this order a Call that wants @count pages may take from the stock: as
 * many of the largest order as fit into @count, and at most one of each other order. A Call does
 * not take two small pieces instead of a larger one, because each piece takes an SGE.
 */
static u32 svc_rdma_stock_share(u32 count, int order)
{
	count >>= order;
	return order == SVC_RDMA_PIECE_ORDER ? count : count % 2;
}

/* Adds a piece. Returns false if the stock has no room for it. */
static bool svc_rdma_stock_push(struct svc_rdma_stock *stock, struct page *piece)
{
	unsigned int order = compound_order(piece);

	lockdep_assert_held(&stock->st_lock);
	if (stock->st_count[order] == SVC_RDMA_STOCK_PIECES ||
	    stock->st_pages + (1u << order) > svc_rdma_stock_most)
		return false;
	stock->st_pieces[order][stock->st_count[order]++] = piece;
	stock->st_pages += 1u << order;
	return true;
}

/**
 * svc_rdma_stock_take - take pages from the stock
 * @pages: OUT: the pages; the pages of a piece are adjacent entries
 * @count: number of pages wanted
 *
 * Large pieces come first, and none is larger than what is still wanted. If the stock has too few
 * pages, the caller allocates the others. The caller owns all pieces, and finally gives them to
 * svc_rdma_stock_put().
 *
 * Context: process.
 * Return: number of entries of @pages, 0 to @count.
 */
u32 svc_rdma_stock_take(struct page **pages, u32 count)
{
	struct svc_rdma_stock *stock = svc_rdma_stock_here();
	u32 taken = 0, end, n;
	struct page *piece;
	int order;

	spin_lock(&stock->st_lock);
	for (order = SVC_RDMA_PIECE_ORDER; order >= 0; order--)
		for (n = svc_rdma_stock_share(count, order);
		     n && (piece = svc_rdma_stock_pop(stock, order)); n--)
			for (end = taken + (1u << order); taken < end; taken++)
				pages[taken] = piece++;
	spin_unlock(&stock->st_lock);
	rpcrdma_count_add(server_pages_reused, taken);
	return taken;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_stock_take);

/* Should a piece be kept? It should not if somebody else has a reference to it, if it is from the
 * kernel's reserve for emergencies or has a hardware fault, or if it belongs to another node. If
 * the kernel clears memory when it is freed (init_on_free), nothing is kept.
 */
static bool svc_rdma_stock_wants(struct page *piece)
{
	return page_count(piece) == 1 && !page_is_pfmemalloc(piece) &&
	       !PageHWPoison(piece) && !want_init_on_free() &&
	       page_to_nid(piece) == numa_mem_id();
}

/**
 * svc_rdma_stock_put - give pages to the stock, or free them
 * @pages: pages of whole pieces, each of which is a compound page of at most
 *	%SVC_RDMA_PIECE_ORDER, or a single page. This function changes the array
 * @count: number of entries of @pages
 *
 * The caller gives up its references. No device may write to the pages.
 *
 * Context: process or completion workqueue.
 */
void svc_rdma_stock_put(struct page **pages, u32 count)
{
	struct svc_rdma_stock *stock = svc_rdma_stock_here();
	u32 i = 0, wanted = 0, kept;
	struct page *piece;
	bool first;

	while (i < count) {
		piece = pages[i];
		i += 1u << compound_order(piece);
		if (svc_rdma_stock_wants(piece))
			pages[wanted++] = piece;
		else
			put_page(piece);
	}
	if (!wanted)
		return;

	spin_lock(&stock->st_lock);
	first = !stock->st_pages;
	for (kept = 0; kept < wanted; kept++)
		if (!svc_rdma_stock_push(stock, pages[kept]))
			break;
	spin_unlock(&stock->st_lock);
	if (first)
		svc_rdma_reclaim_later();
	while (kept < wanted)
		put_page(pages[kept++]);
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_stock_put);

/* Free up to @most pieces of this order. Returns the number of pieces. The lock is not held while a
 * piece is freed.
 */
static u32 svc_rdma_stock_free(struct svc_rdma_stock *stock, int order, u32 most)
{
	struct page *piece;
	u32 freed;

	for (freed = 0; freed < most; freed++) {
		spin_lock(&stock->st_lock);
		piece = svc_rdma_stock_pop(stock, order);
		spin_unlock(&stock->st_lock);
		if (!piece)
			break;
		put_page(piece);
	}
	return freed;
}

static void svc_rdma_stock_trim_one(struct svc_rdma_stock *stock)
{
	int order;

	for (order = 0; order <= SVC_RDMA_PIECE_ORDER; order++) {
		svc_rdma_stock_free(stock, order,
				    READ_ONCE(stock->st_least[order]));
		spin_lock(&stock->st_lock);
		stock->st_least[order] = stock->st_count[order];
		spin_unlock(&stock->st_lock);
	}
}

/**
 * svc_rdma_stock_size - how many pages are in the stock?
 *
 * Context: any.
 * Return: number of pages in all stocks; may have changed already.
 */
unsigned long svc_rdma_stock_size(void)
{
	unsigned long pages = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		pages += READ_ONCE(per_cpu_ptr(svc_rdma_stocks, cpu)->st_pages);
	return pages;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_stock_size);

/**
 * svc_rdma_stock_trim - free the pieces that were not needed since the last call
 *
 * Context: process.
 * Return: %true if there are pages left.
 */
bool svc_rdma_stock_trim(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		svc_rdma_stock_trim_one(per_cpu_ptr(svc_rdma_stocks, cpu));
	return svc_rdma_stock_size();
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_stock_trim);

/**
 * svc_rdma_stock_empty - free all pages
 *
 * Context: process. No Call returns pages meanwhile.
 */
void svc_rdma_stock_empty(void)
{
	/* The first call sets each st_least to st_count. So the second call frees all pieces. */
	svc_rdma_stock_trim();
	svc_rdma_stock_trim();
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_stock_empty);

/* Frees at most @most pages, the large pieces first. Returns how many it has freed. */
static unsigned long svc_rdma_stock_shrink(unsigned long most)
{
	unsigned long left = most;
	int order, cpu;

	for (order = SVC_RDMA_PIECE_ORDER; order >= 0; order--)
		for_each_possible_cpu(cpu)
			left -= svc_rdma_stock_free(per_cpu_ptr(svc_rdma_stocks,
								cpu),
						    order, left >> order)
				<< order;
	return most - left;
}

/* --- connections --- */

/* Frees at most @most of @unneeded idle contexts, but leaves SVC_RDMA_RECLAIM_KEEP of them. */
static u32 svc_rdma_reclaim_sends(struct svc_rdma_xprt *sx, u32 unneeded,
				  unsigned long most)
{
	u32 freed = unneeded - min(unneeded, SVC_RDMA_RECLAIM_KEEP);

	freed = min_t(unsigned long, freed, most);
	if (freed)
		freed = svc_rdma_send_trim(sx, freed);
	rpcrdma_count_add(server_sends_trimmed, freed);
	return freed;
}

static void svc_rdma_reclaim_work(struct work_struct *work)
{
	bool more = svc_rdma_stock_trim();
	struct svc_rdma_xprt *sx;

	mutex_lock(&svc_rdma_list_mutex);
	list_for_each_entry(sx, &svc_rdma_reclaim_list, sx_reclaim) {
		/* The completions of the last Sends may not have been handled yet. */
		rpcrdma_send_cq_poll(&sx->sx_conn);
		svc_rdma_reclaim_sends(sx, svc_rdma_send_unneeded(sx), ULONG_MAX);
		if (READ_ONCE(svc_rdma_review_time) &&
		    svc_rdma_credits_review(sx))
			svc_rdma_negotiate_notify(sx);
		more = true;
	}
	mutex_unlock(&svc_rdma_list_mutex);
	if (more)
		svc_rdma_reclaim_later();
}

static unsigned long svc_rdma_reclaim_count(struct shrinker *shrinker,
					    struct shrink_control *sc)
{
	unsigned long count = svc_rdma_stock_size();
	struct svc_rdma_xprt *sx;
	u32 idle;

	if (mutex_trylock(&svc_rdma_list_mutex)) {
		list_for_each_entry(sx, &svc_rdma_reclaim_list, sx_reclaim) {
			idle = svc_rdma_send_collect(sx);
			count += idle - min(idle, SVC_RDMA_RECLAIM_KEEP);
		}
		mutex_unlock(&svc_rdma_list_mutex);
	}
	return count ?: SHRINK_EMPTY;
}

static unsigned long svc_rdma_reclaim_scan(struct shrinker *shrinker,
					   struct shrink_control *sc)
{
	unsigned long most = sc->nr_to_scan;
	unsigned long freed = svc_rdma_stock_shrink(most);
	struct svc_rdma_xprt *sx;

	if (freed >= most)
		return freed;
	if (!mutex_trylock(&svc_rdma_list_mutex))
		return freed ?: SHRINK_STOP;
	list_for_each_entry(sx, &svc_rdma_reclaim_list, sx_reclaim)
		freed += svc_rdma_reclaim_sends(sx, svc_rdma_send_collect(sx),
						most - freed);
	/* Next time, begin with another connection. */
	list_rotate_left(&svc_rdma_reclaim_list);
	mutex_unlock(&svc_rdma_list_mutex);
	return freed;
}

/**
 * svc_rdma_reclaim_join - begin to look after the memory of a connection
 * @sx: connection that has been accepted
 *
 * Context: process; sleeps; the caller has entered the connection (svc_rdma_enter()). If the
 *	connection has been lost already, svc_rdma_conn_end() waits until the caller has left it,
 *	and only then calls svc_rdma_reclaim_leave().
 */
void svc_rdma_reclaim_join(struct svc_rdma_xprt *sx)
{
	mutex_lock(&svc_rdma_list_mutex);
	list_add_tail(&sx->sx_reclaim, &svc_rdma_reclaim_list);
	mutex_unlock(&svc_rdma_list_mutex);
	svc_rdma_reclaim_later();
}

/**
 * svc_rdma_reclaim_leave - stop looking after the memory of a connection
 * @sx: connection that is being closed; it may never have been accepted
 *
 * Context: process; sleeps.
 */
void svc_rdma_reclaim_leave(struct svc_rdma_xprt *sx)
{
	mutex_lock(&svc_rdma_list_mutex);
	list_del_init(&sx->sx_reclaim);
	mutex_unlock(&svc_rdma_list_mutex);
}

/**
 * svc_rdma_reclaim_init - make empty stocks, and register the shrinker
 *
 * Context: process; module init.
 * Return: 0 or %-ENOMEM.
 */
int svc_rdma_reclaim_init(void)
{
	int cpu;

	svc_rdma_stock_most = min_t(unsigned long, U32_MAX,
				    totalram_pages() / SVC_RDMA_STOCK_PART /
				    num_possible_cpus());
	svc_rdma_stocks = alloc_percpu(struct svc_rdma_stock);
	if (!svc_rdma_stocks)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(svc_rdma_stocks, cpu)->st_lock);

	svc_rdma_reclaim_shrinker = shrinker_alloc(0, "rpcrdma");
	if (!svc_rdma_reclaim_shrinker) {
		free_percpu(svc_rdma_stocks);
		return -ENOMEM;
	}
	svc_rdma_reclaim_shrinker->count_objects = svc_rdma_reclaim_count;
	svc_rdma_reclaim_shrinker->scan_objects = svc_rdma_reclaim_scan;
	svc_rdma_reclaim_shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(svc_rdma_reclaim_shrinker);
	return 0;
}

/**
 * svc_rdma_reclaim_exit - undo svc_rdma_reclaim_init(), and free all pages
 *
 * Context: process; module exit, or failed init; no connection and no Call is left.
 */
void svc_rdma_reclaim_exit(void)
{
	cancel_delayed_work_sync(&svc_rdma_reclaim_dwork);
	shrinker_free(svc_rdma_reclaim_shrinker);
	svc_rdma_stock_empty();
	free_percpu(svc_rdma_stocks);
}
