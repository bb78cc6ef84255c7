// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of buffers (buf.h), and of Receives whose buffers are in blocks of pages (recv.h):
 * where the pages are, how many references they have, and when a Receive gets a new block. The
 * tests use a device that needs no DMA mapping. No other test shows whether mapping is correct,
 * either (dma.rst).
 */

#include <kunit/test.h>

#include <rpcrdma/counters.h>
#include <rpcrdma/msg.h>
#include <rpcrdma/size.h>

#define BUF_KUNIT_ORDER	3
#define BUF_KUNIT_HEAD	1024
#define BUF_KUNIT_SIZE	\
	(BUF_KUNIT_HEAD + \
	 ((1 << BUF_KUNIT_ORDER) - 1) * PAGE_SIZE)
#define BUF_KUNIT_RECVS	3

struct buf_fixture {
	struct ib_device	bx_device;
	struct rpcrdma_recv	bx_recv[BUF_KUNIT_RECVS];
};

static void buf_kunit_exit(void *buf)
{
	rpcrdma_buf_exit(buf);
}

/* Make Receives that belong to one message. The buffer of each is the end of a block of pages. */
static struct buf_fixture *buf_kunit_make(struct kunit *test)
{
	struct buf_fixture *fx;
	struct rpcrdma_buf *buf;
	int i, rc;

	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		kunit_skip(test, "every device needs mapping");
	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	for (i = 0; i < BUF_KUNIT_RECVS; i++) {
		buf = &fx->bx_recv[i].rv_buf;
		rc = rpcrdma_buf_init(buf, &fx->bx_device, BUF_KUNIT_SIZE,
				      BUF_KUNIT_ORDER, DMA_FROM_DEVICE,
				      GFP_KERNEL);
		KUNIT_ASSERT_EQ(test, rc, 0);
		rc = kunit_add_action_or_reset(test, buf_kunit_exit, buf);
		KUNIT_ASSERT_EQ(test, rc, 0);
		fx->bx_recv[i].rv_sge.addr = buf->bf_addr;
		if (i)
			fx->bx_recv[i - 1].rv_msg.mi_more = &fx->bx_recv[i];
	}
	return fx;
}

/* Covers: RTX-34 */
static void buf_block_ends_with_pages(struct kunit *test)
{
	struct buf_fixture *fx = buf_kunit_make(test);
	struct rpcrdma_buf *buf = &fx->bx_recv[0].rv_buf;

	KUNIT_EXPECT_PTR_EQ(test, rpcrdma_buf_targets(buf),
			    buf->bf_data + BUF_KUNIT_HEAD);
	KUNIT_EXPECT_TRUE(test, PAGE_ALIGNED(rpcrdma_buf_targets(buf)));
	KUNIT_EXPECT_PTR_EQ(test, buf->bf_data + buf->bf_size,
			    page_address(buf->bf_block) +
			    (PAGE_SIZE << BUF_KUNIT_ORDER));
	KUNIT_EXPECT_TRUE(test, !memchr_inv(buf->bf_data, 0, buf->bf_size));
	KUNIT_EXPECT_EQ(test, rpcrdma_buf_pins(buf->bf_size, BUF_KUNIT_ORDER),
			PAGE_SIZE << BUF_KUNIT_ORDER);
	/* An order of 0 stands for a buffer from rpcrdma_buf_init(). Such a buffer is a block only
	 * if it is too large for a slab.
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_buf_pins(1000, 0), 1000);
	KUNIT_EXPECT_EQ(test, rpcrdma_buf_pins(KMALLOC_MAX_CACHE_SIZE, 0),
			KMALLOC_MAX_CACHE_SIZE);
	KUNIT_EXPECT_EQ(test, rpcrdma_buf_pins(KMALLOC_MAX_CACHE_SIZE + 4, 0),
			2 * KMALLOC_MAX_CACHE_SIZE);
}

/* The code that executes a Call may take and drop references to the pages of a Receive buffer. So
 * the reference count of each page must be 1 at first, unless the page belongs to a slab (see
 * rpcrdma_buf_init()). The test looks at the last page.
 */
static void buf_pages_are_counted(struct kunit *test)
{
	static const u32 sizes[] = { 1024, 4096, 8192, 8196, 16384, 65536 };
	struct buf_fixture *fx = buf_kunit_make(test);
	struct rpcrdma_buf buf;
	struct page *page;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_ASSERT_EQ(test,
				rpcrdma_buf_init(&buf, &fx->bx_device, sizes[i],
						 0, DMA_FROM_DEVICE,
						 GFP_KERNEL), 0);
		KUNIT_EXPECT_EQ(test, buf.bf_size, sizes[i]);
		KUNIT_EXPECT_TRUE(test, !memchr_inv(buf.bf_data, 0, sizes[i]));
		page = virt_to_page(buf.bf_data + sizes[i] - 1);
		if (!folio_test_slab(page_folio(page)))
			KUNIT_EXPECT_EQ(test, page_count(page), 1);
		rpcrdma_buf_exit(&buf);
	}
}

/* If nobody else holds a page of a Receive, the Receive keeps its block (invariant I34 of
 * locking.rst).
 */
static void buf_own_block_stays(struct kunit *test)
{
	struct buf_fixture *fx = buf_kunit_make(test);
	struct rpcrdma_recv *recv = &fx->bx_recv[0];
	struct page *page = virt_to_page(rpcrdma_buf_targets(&recv->rv_buf));
	void *data = recv->rv_buf.bf_data;
	u64 renewed = rpcrdma_counter_read(RPCRDMA_CNT_receives_renewed);

	get_page(page);
	put_page(page);
	KUNIT_EXPECT_EQ(test, rpcrdma_recv_renew(recv), 0);
	KUNIT_EXPECT_PTR_EQ(test, recv->rv_buf.bf_data, data);
	KUNIT_EXPECT_EQ(test,
			rpcrdma_counter_read(RPCRDMA_CNT_receives_renewed),
			renewed);
}

/* rpcrdma_msg_renew() gives another block to each Receive of which somebody still holds a page, so
 * that the content of the page does not change (invariant I34 of locking.rst). In this test, the
 * first page of one Receive and the last page of another are held.
 */
static void buf_held_block_is_left(struct kunit *test)
{
	struct buf_fixture *fx = buf_kunit_make(test);
	struct rpcrdma_recv *recv = fx->bx_recv;
	u64 renewed = rpcrdma_counter_read(RPCRDMA_CNT_receives_renewed);
	void *was[BUF_KUNIT_RECVS];
	struct page *first, *last;
	int i;

	for (i = 0; i < BUF_KUNIT_RECVS; i++) {
		was[i] = recv[i].rv_buf.bf_data;
		memset(was[i], 0xa0 + i, BUF_KUNIT_SIZE);
	}
	first = virt_to_page(was[0]);
	last = virt_to_page(was[2] + BUF_KUNIT_SIZE - 1);
	get_page(first);
	get_page(last);

	KUNIT_EXPECT_EQ(test, rpcrdma_msg_renew(&recv->rv_msg), 0);
	KUNIT_EXPECT_PTR_NE(test, recv[0].rv_buf.bf_data, was[0]);
	KUNIT_EXPECT_PTR_EQ(test, recv[1].rv_buf.bf_data, was[1]);
	KUNIT_EXPECT_PTR_NE(test, recv[2].rv_buf.bf_data, was[2]);
	for (i = 0; i < BUF_KUNIT_RECVS; i++) {
		KUNIT_EXPECT_EQ(test, recv[i].rv_sge.addr,
				recv[i].rv_buf.bf_addr);
		KUNIT_EXPECT_FALSE(test,
				   rpcrdma_buf_is_shared(&recv[i].rv_buf));
		KUNIT_EXPECT_EQ(test, recv[i].rv_buf.bf_size, BUF_KUNIT_SIZE);
	}
	KUNIT_EXPECT_EQ(test,
			rpcrdma_counter_read(RPCRDMA_CNT_receives_renewed),
			renewed + 2);

	memset(recv[0].rv_buf.bf_data, 0, BUF_KUNIT_SIZE);
	memset(recv[2].rv_buf.bf_data, 0, BUF_KUNIT_SIZE);
	KUNIT_EXPECT_FALSE(test, memchr_inv(was[0], 0xa0, BUF_KUNIT_SIZE));
	KUNIT_EXPECT_FALSE(test, memchr_inv(was[2], 0xa2, BUF_KUNIT_SIZE));
	KUNIT_EXPECT_EQ(test, page_count(first), 1);
	put_page(first);
	put_page(last);
}

/* Covers: RTX-55 RTX-60 */
static void buf_data_is_in_pages(struct kunit *test)
{
	static const u32 lens[BUF_KUNIT_RECVS] = {
		7 * PAGE_SIZE, 0, PAGE_SIZE + 1,
	};
	struct buf_fixture *fx = buf_kunit_make(test);
	struct rpcrdma_msg_in *msg = &fx->bx_recv[0].rv_msg;
	struct page *pages[9 + 1] = { };
	u8 *data[BUF_KUNIT_RECVS];
	u32 i, len;

	for (i = 0; i < BUF_KUNIT_RECVS; i++) {
		fx->bx_recv[i].rv_msg.mi_data = lens[i];
		data[i] = rpcrdma_buf_targets(&fx->bx_recv[i].rv_buf);
		memset(data[i] - BUF_KUNIT_HEAD, 0xa0 + i, BUF_KUNIT_SIZE);
	}
	KUNIT_ASSERT_EQ(test, rpcrdma_msg_data_npages(msg), 9);
	rpcrdma_msg_data_pages(msg, pages);
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_PTR_EQ(test, page_address(pages[i]),
				    (void *)data[0] + i * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, page_address(pages[7]), (void *)data[2]);
	KUNIT_EXPECT_PTR_EQ(test, page_address(pages[8]),
			    (void *)data[2] + PAGE_SIZE);
	KUNIT_EXPECT_NULL(test, pages[9]);

	/* Only the bytes between the end of the data and the end of its last page are cleared. */
	KUNIT_EXPECT_FALSE(test, memchr_inv(data[0], 0xa0, lens[0]));
	KUNIT_EXPECT_EQ(test, data[1][0], 0xa1);
	KUNIT_EXPECT_FALSE(test, memchr_inv(data[2], 0xa2, lens[2]));
	KUNIT_EXPECT_FALSE(test,
			   memchr_inv(data[2] + lens[2], 0, PAGE_SIZE - 1));
	KUNIT_EXPECT_EQ(test, data[2][2 * PAGE_SIZE], 0xa2);

	KUNIT_EXPECT_PTR_EQ(test, rpcrdma_msg_data_at(msg, 5000, &len),
			    (void *)data[0] + 5000);
	KUNIT_EXPECT_EQ(test, len, lens[0] - 5000);
	KUNIT_EXPECT_PTR_EQ(test, rpcrdma_msg_data_at(msg, lens[0], &len),
			    (void *)data[2]);
	KUNIT_EXPECT_EQ(test, len, lens[2]);
	rpcrdma_msg_data_at(msg, lens[0] + lens[2], &len);
	KUNIT_EXPECT_EQ(test, len, 0);
}

static struct kunit_case buf_kunit_cases[] = {
	KUNIT_CASE(buf_block_ends_with_pages),
	KUNIT_CASE(buf_pages_are_counted),
	KUNIT_CASE(buf_own_block_stays),
	KUNIT_CASE(buf_held_block_is_left),
	KUNIT_CASE(buf_data_is_in_pages),
	{}
};

static struct kunit_suite rpcrdma_buf_suite = {
	.name = "rpcrdma_buf",
	.test_cases = buf_kunit_cases,
};

kunit_test_suite(rpcrdma_buf_suite);
