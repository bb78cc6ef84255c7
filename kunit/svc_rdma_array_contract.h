/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests of svc_rdma_array.h. Kernels keep the pages of a server thread in one of three forms,
 * which svc_rdma_array.h describes. There is a test file for each form. Before such a file includes
 * this header, it declares a struct svc_rqst of its form, and defines the macros that Kbuild would
 * define for this form. It also defines array_kunit_init(), which sets rq_pages and rq_maxpages if
 * the array is allocated, and these macros:
 *
 *   ARRAY_KUNIT_SEPARATE  1 if the kernel keeps Replies in an array of their own
 *   ARRAY_KUNIT_SUITE     name of the suite
 *   ARRAY_KUNIT_ENTRIES   number of entries of each array, without the NULL entry at its end
 *
 * The functions of this header do with the arrays what the rest of the kernel does: sunrpc
 * fills them and releases Replies, nfsd builds Replies, and a device holds pages for a while.
 * The tests check that each page has one owner at a time. KASAN detects an access behind an
 * allocated array.
 */
#include <kunit/test.h>
#include "../net/server/svc_rdma_array.h"

/* Maximum number of pages in a Reply of these tests. Each array has more entries. If there is only
 * one array, sunrpc fills only this number of its entries.
 */
#define ARRAY_KUNIT_PAGES	6
#define ARRAY_KUNIT_ROOM	(ARRAY_KUNIT_ENTRIES + 1)
#define ARRAY_KUNIT_POOL	64

/* Used instead of struct page. Only this file accesses the members. */
struct array_kunit_page {
	bool	owned;
	bool	reusable;
};

struct array_kunit {
	struct kunit	*ak_test;
	struct svc_rqst	*ak_rqst;
	/* unused if rq_pages is an array in struct svc_rqst */
	struct page	**ak_calls;
	/* unused if the kernel keeps Calls and Replies in one array */
	struct page	**ak_replies;
	struct array_kunit_page ak_pool[ARRAY_KUNIT_POOL];
};

static struct array_kunit_page *array_kunit_of(struct page *page)
{
	return (struct array_kunit_page *)page;
}

static struct page *array_kunit_get(struct array_kunit *ak)
{
	u32 i;

	for (i = 0; i < ARRAY_KUNIT_POOL; i++) {
		if (ak->ak_pool[i].owned)
			continue;
		ak->ak_pool[i].owned = true;
		ak->ak_pool[i].reusable = true;
		return (struct page *)&ak->ak_pool[i];
	}
	KUNIT_ASSERT_TRUE(ak->ak_test, false);
	return NULL;
}

static void array_kunit_put(struct array_kunit *ak, struct page *page)
{
	KUNIT_ASSERT_NOT_NULL(ak->ak_test, page);
	KUNIT_ASSERT_TRUE(ak->ak_test, array_kunit_of(page)->owned);
	array_kunit_of(page)->owned = false;
}

static u32 array_kunit_owned(const struct array_kunit *ak)
{
	u32 i, n = 0;

	for (i = 0; i < ARRAY_KUNIT_POOL; i++)
		n += ak->ak_pool[i].owned;
	return n;
}

static bool array_kunit_reusable(struct page *page)
{
	return page && array_kunit_of(page)->reusable;
}

/* Fill the empty entries of an array, as alloc_pages_bulk() does. */
static void array_kunit_fill(struct array_kunit *ak, struct page **array, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!array[i])
			array[i] = array_kunit_get(ak);
}

/* Do what sunrpc does before it lets a transport receive. */
static void array_kunit_alloc(struct array_kunit *ak, bool separate)
{
	struct svc_rqst *rqstp = ak->ak_rqst;
	u32 i;

	if (separate) {
		array_kunit_fill(ak, rqstp->rq_respages,
				 rqstp->rq_next_page - rqstp->rq_respages);
		rqstp->rq_next_page = rqstp->rq_respages;
		rqstp->rq_page_end = rqstp->rq_respages + ARRAY_KUNIT_ENTRIES;
	} else {
		array_kunit_fill(ak, rqstp->rq_pages, ARRAY_KUNIT_PAGES);
		rqstp->rq_page_end = rqstp->rq_pages + ARRAY_KUNIT_PAGES;
	}
	*rqstp->rq_page_end = NULL;

	/* An entry that sunrpc does not refill must still have its page. */
	for (i = 0; i < ARRAY_KUNIT_PAGES; i++)
		KUNIT_ASSERT_NOT_NULL(ak->ak_test,
				      separate ? rqstp->rq_respages[i] :
				      rqstp->rq_pages[i]);
}

/* Do what sunrpc does when a thread has finished a request. */
static void array_kunit_release(struct array_kunit *ak, bool separate)
{
	struct svc_rqst *rqstp = ak->ak_rqst;
	struct page **pp;

	KUNIT_ASSERT_TRUE(ak->ak_test,
			  rqstp->rq_next_page >= rqstp->rq_respages);
	for (pp = rqstp->rq_respages; pp < rqstp->rq_next_page; pp++) {
		/* In some kernels with only one array, sunrpc does not skip NULL entries. */
		if (*pp || !separate)
			array_kunit_put(ak, *pp);
		*pp = NULL;
	}
}

/* Do what sunrpc and nfsd do to build a Reply of @used pages. If bit N of @spliced is set, a page
 * of the page cache replaces page N of the Reply.
 */
static void array_kunit_reply(struct array_kunit *ak, u32 used, u32 spliced)
{
	struct svc_rqst *rqstp = ak->ak_rqst;
	u32 i;

	KUNIT_ASSERT_TRUE(ak->ak_test,
			  rqstp->rq_respages + used <= rqstp->rq_page_end);
	for (i = 0; i < used; i++) {
		KUNIT_ASSERT_NOT_NULL(ak->ak_test, rqstp->rq_respages[i]);
		if (!(spliced & (1u << i)))
			continue;
		array_kunit_put(ak, rqstp->rq_respages[i]);
		rqstp->rq_respages[i] = array_kunit_get(ak);
		array_kunit_of(rqstp->rq_respages[i])->reusable = false;
	}
	rqstp->rq_next_page = rqstp->rq_respages + used;
}

static struct array_kunit *array_kunit_new(struct kunit *test, bool separate)
{
	const size_t len = ARRAY_KUNIT_ROOM * sizeof(struct page *);
	struct array_kunit *ak = kunit_kzalloc(test, sizeof(*ak), GFP_KERNEL);
	struct svc_rqst *rqstp;

	KUNIT_ASSERT_NOT_NULL(test, ak);
	ak->ak_test = test;
	/* The memory of each allocated array has exactly the size of the array, so that KASAN
	 * detects an access behind it
	 */
	ak->ak_rqst = kunit_kzalloc(test, sizeof(*ak->ak_rqst), GFP_KERNEL);
	ak->ak_calls = kunit_kzalloc(test, len, GFP_KERNEL);
	ak->ak_replies = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ak->ak_rqst);
	KUNIT_ASSERT_NOT_NULL(test, ak->ak_calls);
	KUNIT_ASSERT_NOT_NULL(test, ak->ak_replies);

	rqstp = ak->ak_rqst;
	array_kunit_init(rqstp, ak->ak_calls);
	if (separate) {
		/* Make the first array_kunit_alloc() fill the whole array of Replies. */
		rqstp->rq_respages = ak->ak_replies;
		rqstp->rq_next_page = ak->ak_replies + ARRAY_KUNIT_ENTRIES;
	}
	return ak;
}

/* Returns the number of pages that a thread has between two Replies of a test. */
static u32 array_kunit_full(void)
{
	return ARRAY_KUNIT_SEPARATE ? ARRAY_KUNIT_ENTRIES : ARRAY_KUNIT_PAGES;
}

static void array_kunit_take(struct array_kunit *ak, bool keep_head, u32 used)
{
	struct page **reply = ak->ak_rqst->rq_respages;
	struct page *before[ARRAY_KUNIT_PAGES];
	struct page **pages;
	u32 i, n, sum = 0;

	pages = kunit_kzalloc(ak->ak_test, (used ?: 1) * sizeof(*pages),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(ak->ak_test, pages);
	for (i = 0; i < used; i++)
		before[i] = reply[i];

	n = svc_rdma_array_take(ak->ak_rqst, keep_head, pages);
	KUNIT_ASSERT_EQ(ak->ak_test, n, used - (used && keep_head));
	/* Each page was taken once, except the head, which may stay with the thread */
	for (i = 0; i < used; i++)
		sum += array_kunit_of(before[i]) - ak->ak_pool;
	if (used && keep_head) {
		KUNIT_ASSERT_TRUE(ak->ak_test, reply[n] == before[0]);
		sum -= array_kunit_of(before[0]) - ak->ak_pool;
	}
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_NOT_NULL(ak->ak_test, pages[i]);
		sum -= array_kunit_of(pages[i]) - ak->ak_pool;
	}
	KUNIT_ASSERT_EQ(ak->ak_test, sum, 0);

	/* sunrpc finishes the request before the device has finished with the pages */
	array_kunit_release(ak, ARRAY_KUNIT_SEPARATE);
	array_kunit_alloc(ak, ARRAY_KUNIT_SEPARATE);
	for (i = 0; i < n; i++)
		array_kunit_put(ak, pages[i]);
}

/* A Reply of @used pages is sent. nfsd has not counted the last @missed of them. @how says who has
 * the pages then: 0: the transport; 1: the transport, but the thread has the head; 2: the thread.
 */
static void array_kunit_round(struct array_kunit *ak, u32 used, u32 spliced,
			      u32 missed, u32 how)
{
	struct svc_rqst *rqstp = ak->ak_rqst;
	struct page **reply;

	KUNIT_ASSERT_TRUE(ak->ak_test, svc_rdma_array_fits(rqstp));
	svc_rdma_array_begin(rqstp);
	KUNIT_ASSERT_EQ(ak->ak_test, svc_rdma_array_used(rqstp), 0);

	array_kunit_reply(ak, used, spliced);
	KUNIT_ASSERT_EQ(ak->ak_test, svc_rdma_array_used(rqstp), used);
	if (how < 2) {
		rqstp->rq_next_page -= missed;
		svc_rdma_array_extend(rqstp, rqstp->rq_respages + used);
		KUNIT_ASSERT_EQ(ak->ak_test, svc_rdma_array_used(rqstp), used);
		array_kunit_take(ak, how, used);
	} else {
		svc_rdma_array_keep(rqstp, array_kunit_reusable);
		/* No page of the page cache is left for the next Reply. */
		array_kunit_release(ak, ARRAY_KUNIT_SEPARATE);
		array_kunit_alloc(ak, ARRAY_KUNIT_SEPARATE);
		reply = rqstp->rq_respages;
		for (used = 0; used < ARRAY_KUNIT_PAGES; used++)
			KUNIT_ASSERT_TRUE(ak->ak_test,
					  array_kunit_reusable(reply[used]));
	}
	KUNIT_ASSERT_EQ(ak->ak_test, array_kunit_owned(ak), array_kunit_full());
}

static void array_kunit_each_way(struct array_kunit *ak, u32 used, u32 spliced)
{
	u32 missed;

	for (missed = 0; missed <= used; missed++) {
		array_kunit_round(ak, used, spliced, missed, 0);
		array_kunit_round(ak, used, spliced, missed, 1);
	}
	array_kunit_round(ak, used, spliced, 0, 2);
}

/* Test Replies of each number of pages, and for each number all choices of the pages that are from
 * the page cache. There are three tests of each Reply: the transport takes all pages of the Reply;
 * the transport takes all but the head; the thread keeps the pages that it can use again. The first
 * two are repeated with each number of pages that nfsd may not have counted.
 */
static void array_kunit_replies(struct kunit *test)
{
	struct array_kunit *ak = array_kunit_new(test, ARRAY_KUNIT_SEPARATE);
	u32 used, spliced;

	array_kunit_alloc(ak, ARRAY_KUNIT_SEPARATE);
	for (used = 0; used <= ARRAY_KUNIT_PAGES; used++)
		for (spliced = 0; spliced < 1u << used; spliced++)
			array_kunit_each_way(ak, used, spliced);
}

/* svc_rdma_array_extend() never takes a page away from a Reply, and never lets it exceed the room
 * that sunrpc gave it.
 */
static void array_kunit_extent(struct kunit *test)
{
	struct array_kunit *ak = array_kunit_new(test, ARRAY_KUNIT_SEPARATE);
	struct svc_rqst *rqstp = ak->ak_rqst;
	u32 used, room;

	array_kunit_alloc(ak, ARRAY_KUNIT_SEPARATE);
	svc_rdma_array_begin(rqstp);
	room = rqstp->rq_page_end - rqstp->rq_respages;
	for (used = 0; used <= room + 1; used++) {
		rqstp->rq_next_page = rqstp->rq_respages + 3;
		svc_rdma_array_extend(rqstp, rqstp->rq_respages + used);
		KUNIT_EXPECT_EQ(test, svc_rdma_array_used(rqstp),
				used > room ? 3 : max(used, 3u));
	}
}

/* If there is no Call to execute, sunrpc releases nothing, whatever values an earlier request has
 * left in rq_respages and rq_next_page.
 */
static void array_kunit_nothing(struct kunit *test)
{
	struct array_kunit *ak = array_kunit_new(test, ARRAY_KUNIT_SEPARATE);
	u32 i;

	for (i = 0; i < ARRAY_KUNIT_PAGES; i++) {
		array_kunit_alloc(ak, ARRAY_KUNIT_SEPARATE);
		if (!ARRAY_KUNIT_SEPARATE && i) {
			/* A Call of i pages has come by another transport. */
			ak->ak_rqst->rq_respages = ak->ak_rqst->rq_pages + i;
			ak->ak_rqst->rq_next_page = ak->ak_rqst->rq_page_end;
		}
		KUNIT_ASSERT_TRUE(test, svc_rdma_array_fits(ak->ak_rqst));
		svc_rdma_array_begin(ak->ak_rqst);
		array_kunit_release(ak, ARRAY_KUNIT_SEPARATE);
		KUNIT_EXPECT_EQ(test, array_kunit_owned(ak),
				array_kunit_full());
	}
}

/* If Kbuild chose a form with one array, svc_rdma_array_fits() refuses a kernel with two, and the
 * other way round, wherever rq_respages points.
 */
static void array_kunit_refused(struct kunit *test)
{
	struct array_kunit *ak = array_kunit_new(test, !ARRAY_KUNIT_SEPARATE);
	u32 i;

	array_kunit_alloc(ak, !ARRAY_KUNIT_SEPARATE);
	KUNIT_EXPECT_FALSE(test, svc_rdma_array_fits(ak->ak_rqst));
	if (!ARRAY_KUNIT_SEPARATE)
		return;
	for (i = 0; i <= ARRAY_KUNIT_PAGES; i++) {
		ak->ak_rqst->rq_respages = ak->ak_rqst->rq_pages + i;
		KUNIT_EXPECT_FALSE(test, svc_rdma_array_fits(ak->ak_rqst));
	}
	/* The same, if a Reply may use all entries of the array */
	ak->ak_rqst->rq_respages = ak->ak_rqst->rq_pages;
	ak->ak_rqst->rq_page_end = ak->ak_rqst->rq_pages + ARRAY_KUNIT_ENTRIES;
	KUNIT_EXPECT_FALSE(test, svc_rdma_array_fits(ak->ak_rqst));
}

static struct kunit_case array_kunit_cases[] = {
	KUNIT_CASE(array_kunit_replies),
	KUNIT_CASE(array_kunit_extent),
	KUNIT_CASE(array_kunit_nothing),
	KUNIT_CASE(array_kunit_refused),
	{}
};

static struct kunit_suite array_kunit_suite = {
	.name = ARRAY_KUNIT_SUITE,
	.test_cases = array_kunit_cases,
};

kunit_test_suite(array_kunit_suite);
