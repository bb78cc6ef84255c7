// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the stock of pages for RDMA Reads (server/reclaim.c). Each CPU has a stock of its
 * own, so a test does not move to another CPU. The stocks are those that the server uses, too, so
 * each test begins and ends by emptying them.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "../net/server/svc_rdma.h"

#define SVC_RDMA_STOCK_ROOM	1024u

/**
 * struct svc_rdma_stock_fixture - the pages that a Call would have
 * @sf_pages: the pages; the pages of a piece are adjacent entries
 * @sf_count: number of entries in use
 */
struct svc_rdma_stock_fixture {
	struct page	*sf_pages[SVC_RDMA_STOCK_ROOM];
	u32		sf_count;
};

static int svc_rdma_stock_begin(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct svc_rdma_stock_fixture),
				   GFP_KERNEL);
	if (!test->priv)
		return -ENOMEM;
	svc_rdma_stock_empty();
	/* KUnit runs each test in a thread of its own, so the affinity need not be restored. */
	return set_cpus_allowed_ptr(current,
				    cpumask_of(raw_smp_processor_id()));
}

static void svc_rdma_stock_end(struct kunit *test)
{
	svc_rdma_stock_empty();
}

/* Allocates a piece, and adds its pages to sf_pages. */
static struct page *svc_rdma_stock_make(struct kunit *test, unsigned int order)
{
	struct svc_rdma_stock_fixture *fx = test->priv;
	struct page *piece;
	u32 i;

	KUNIT_ASSERT_LE(test, fx->sf_count + (1u << order),
			SVC_RDMA_STOCK_ROOM);
	piece = alloc_pages(GFP_KERNEL | (order ? __GFP_COMP : 0), order);
	KUNIT_ASSERT_NOT_NULL(test, piece);
	for (i = 0; i < 1u << order; i++)
		fx->sf_pages[fx->sf_count++] = piece + i;
	return piece;
}

static void svc_rdma_stock_give(struct svc_rdma_stock_fixture *fx)
{
	svc_rdma_stock_put(fx->sf_pages, fx->sf_count);
	fx->sf_count = 0;
}

static u32 svc_rdma_stock_get(struct svc_rdma_stock_fixture *fx, u32 count)
{
	fx->sf_count = svc_rdma_stock_take(fx->sf_pages, count);
	return fx->sf_count;
}

/* A Call gets the pages that an earlier Call has returned, the largest pieces first. */
static void svc_rdma_stock_keeps(struct kunit *test)
{
	struct svc_rdma_stock_fixture *fx = test->priv;
	struct page *one, *four, *eight;
	u32 i;

	one = svc_rdma_stock_make(test, 0);
	four = svc_rdma_stock_make(test, 2);
	eight = svc_rdma_stock_make(test, 3);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 0);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 13);

	KUNIT_ASSERT_EQ(test, svc_rdma_stock_get(fx, 13), 13);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_PTR_EQ(test, fx->sf_pages[i], eight + i);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, fx->sf_pages[8 + i], four + i);
	KUNIT_EXPECT_PTR_EQ(test, fx->sf_pages[12], one);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 0);
	svc_rdma_stock_give(fx);
}

/* A Call gets no piece that is larger than what it still needs, and no small pieces in place of a
 * larger one.
 */
static void svc_rdma_stock_fits(struct kunit *test)
{
	struct svc_rdma_stock_fixture *fx = test->priv;

	svc_rdma_stock_make(test, 3);
	svc_rdma_stock_make(test, 1);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 1), 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 7), 2);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 9), 8);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 24), 8);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 4), 0);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 10);
}

/* If other code holds a page of a piece, the next Call must not get any page of this piece. */
static void svc_rdma_stock_leaves_others(struct kunit *test)
{
	struct svc_rdma_stock_fixture *fx = test->priv;
	struct page *one, *four;

	one = svc_rdma_stock_make(test, 0);
	four = svc_rdma_stock_make(test, 2);
	svc_rdma_stock_make(test, 1);
	get_page(one);
	get_page(four + 3);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 2);
	KUNIT_EXPECT_EQ(test, page_count(one), 1);
	KUNIT_EXPECT_EQ(test, page_count(four), 1);
	put_page(one);
	put_page(four + 3);
}

/* Of each size, svc_rdma_stock_trim() frees as many pieces as no Call has needed since the function
 * was last called: the smallest number that the stock had in that time.
 */
static void svc_rdma_stock_trims(struct kunit *test)
{
	struct svc_rdma_stock_fixture *fx = test->priv;

	svc_rdma_stock_make(test, 3);
	svc_rdma_stock_make(test, 0);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_TRUE(test, svc_rdma_stock_trim());
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 9);

	KUNIT_EXPECT_EQ(test, svc_rdma_stock_get(fx, 8), 8);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_TRUE(test, svc_rdma_stock_trim());
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 8);

	KUNIT_EXPECT_FALSE(test, svc_rdma_stock_trim());
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size(), 0);
}

/* A stock is bounded, and keeps only whole pieces. */
static void svc_rdma_stock_is_bounded(struct kunit *test)
{
	struct svc_rdma_stock_fixture *fx = test->priv;
	int i;

	for (i = 0; i < 300; i++)
		svc_rdma_stock_make(test, 1);
	svc_rdma_stock_give(fx);
	KUNIT_EXPECT_GT(test, svc_rdma_stock_size(), 0);
	KUNIT_EXPECT_LE(test, svc_rdma_stock_size(), 512);
	KUNIT_EXPECT_EQ(test, svc_rdma_stock_size() % 2, 0);
}

static struct kunit_case svc_rdma_stock_cases[] = {
	KUNIT_CASE(svc_rdma_stock_keeps),
	KUNIT_CASE(svc_rdma_stock_fits),
	KUNIT_CASE(svc_rdma_stock_leaves_others),
	KUNIT_CASE(svc_rdma_stock_trims),
	KUNIT_CASE(svc_rdma_stock_is_bounded),
	{ }
};

static struct kunit_suite svc_rdma_stock_suite = {
	.name = "svc_rdma_stock",
	.init = svc_rdma_stock_begin,
	.exit = svc_rdma_stock_end,
	.test_cases = svc_rdma_stock_cases,
};

kunit_test_suite(svc_rdma_stock_suite);
