// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/client/reply.c: where the parts of a Reply are copied to, and whether a Reply
 * is awaited (also net/client/request.c). Other tests are about the Receives of a Call whose Reply
 * has come, and about the Reply to a callback that a Call lets pass (net/client/credit.c).
 *
 * In a Reply to the Linux NFS client, nothing follows data that is in a Write chunk. So tests with
 * a mount do not cover all cases of copying.
 */

#include <kunit/test.h>
#include <linux/gfp.h>
#include "../net/client/xprt_rdma.h"

#define XPRT_RDMA_KUNIT_HEAD	24u
#define XPRT_RDMA_KUNIT_ITEM	8u
#define XPRT_RDMA_KUNIT_REST	12u

struct xprt_rdma_reply_fixture {
	struct xprt_rdma	rf_xr;
	struct xprt_rdma_req	rf_req;
	struct rpcrdma_recv	rf_recv;
	struct rpcrdma_recv	rf_more;
	struct page		*rf_page;
	u8			rf_head[XPRT_RDMA_KUNIT_HEAD];
	u8			rf_tail[XPRT_RDMA_KUNIT_REST];
	u8			rf_message[100];
};

/* Make a fixture with a page for an item. */
static struct xprt_rdma_reply_fixture *xprt_rdma_reply_make(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	fx->rf_page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx->rf_page);
	return fx;
}

/* Make a Reply with an inline head, an inline rest, and @written bytes in the Write chunk, which
 * belong between head and rest.
 */
static void xprt_rdma_reply_set_up(struct xprt_rdma_reply_fixture *fx,
				   u32 written)
{
	struct xprt_rdma_req *req = &fx->rf_req;
	struct xdr_buf *buf = &req->rr_slot.rq_rcv_buf;
	u32 i;

	for (i = 0; i < sizeof(fx->rf_message); i++)
		fx->rf_message[i] = i + 1;
	memset(fx->rf_head, 0, sizeof(fx->rf_head));
	memset(fx->rf_tail, 0, sizeof(fx->rf_tail));
	memset(page_address(fx->rf_page), 0xbd, PAGE_SIZE);

	*buf = (struct xdr_buf) { .head = {
		{ fx->rf_head, sizeof(fx->rf_head) } },
			.tail = { { fx->rf_tail, sizeof(fx->rf_tail) } },
			.pages = &fx->rf_page, .page_len = XPRT_RDMA_KUNIT_ITEM,
	};
	buf->buflen = XPRT_RDMA_KUNIT_HEAD + XPRT_RDMA_KUNIT_ITEM +
		XPRT_RDMA_KUNIT_REST;
	req->rr_slot.rq_private_buf = *buf;
	/* The buffer of the slot: the tail is directly behind the head. */
	req->rr_buf = fx->rf_head;
	req->rr_buf_size = sizeof(fx->rf_head) + sizeof(fx->rf_tail);
	fx->rf_recv.rv_buf.bf_data = fx->rf_message;
	req->rr_msg = &fx->rf_recv.rv_msg;
	rpcrdma_msg_set_body(req->rr_msg, 40,
			     XPRT_RDMA_KUNIT_HEAD + XPRT_RDMA_KUNIT_REST);
	req->rr_reply_written = written;
}

/* Nothing was copied to the pages or the tail. */
static void
xprt_rdma_reply_expect_untouched(struct kunit *test,
				 const struct xprt_rdma_reply_fixture *fx)
{
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(page_address(fx->rf_page), 0xbd,
					     PAGE_SIZE), NULL);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(fx->rf_tail, 0,
					     sizeof(fx->rf_tail)), NULL);
}

/* sunrpc takes buflen for the room in the buffer. In both copies of the buffer, it must be the sum
 * of the parts.
 */
static void xprt_rdma_reply_expect_room(struct kunit *test,
					const struct xprt_rdma_reply_fixture
					*fx, u32 head, u32 pages)
{
	const struct rpc_rqst *rqst = &fx->rf_req.rr_slot;
	u32 tail = head > XPRT_RDMA_KUNIT_HEAD ? 0 : XPRT_RDMA_KUNIT_REST;

	KUNIT_EXPECT_EQ(test, rqst->rq_rcv_buf.head[0].iov_len, head);
	KUNIT_EXPECT_EQ(test, rqst->rq_rcv_buf.page_len, pages);
	KUNIT_EXPECT_EQ(test, rqst->rq_rcv_buf.tail[0].iov_len, tail);
	KUNIT_EXPECT_EQ(test, rqst->rq_rcv_buf.buflen, head + pages + tail);
	KUNIT_EXPECT_EQ(test, memcmp(&rqst->rq_rcv_buf, &rqst->rq_private_buf,
				     sizeof(rqst->rq_rcv_buf)), 0);
}

/* The server may write all, some or none of the roundup of an item, to the chunk or inline. In all
 * cases, the length of the Reply counts the roundup, and nothing is copied behind the head.
 * Covers: V1-WPD-06 V1-WPD-07
 */
static void xprt_rdma_reply_counts_roundup(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	u32 written, pad;

	fx = xprt_rdma_reply_make(test);
	for (written = 1; written <= XPRT_RDMA_KUNIT_ITEM; written++) {
		for (pad = 0; pad < XDR_UNIT; pad++) {
			xprt_rdma_reply_set_up(fx, written);
			rpcrdma_msg_set_body(fx->rf_req.rr_msg, 40,
					     XPRT_RDMA_KUNIT_HEAD + pad);
			KUNIT_EXPECT_EQ(test,
					xprt_rdma_reply_place(&fx->rf_xr,
							      &fx->rf_req),
					XPRT_RDMA_KUNIT_HEAD +
					round_up(written, XDR_UNIT));
			KUNIT_EXPECT_MEMEQ(test, fx->rf_head, fx->rf_message +
					   40, XPRT_RDMA_KUNIT_HEAD);
			xprt_rdma_reply_expect_untouched(test, fx);
			xprt_rdma_reply_expect_room(test, fx,
						    XPRT_RDMA_KUNIT_HEAD,
						    XPRT_RDMA_KUNIT_ITEM);
		}
	}

	/* The item is one byte longer than its room */
	xprt_rdma_reply_set_up(fx, XPRT_RDMA_KUNIT_ITEM + 1);
	rpcrdma_msg_set_body(fx->rf_req.rr_msg, 40, XPRT_RDMA_KUNIT_HEAD);
	KUNIT_EXPECT_EQ(test, xprt_rdma_reply_place(&fx->rf_xr, &fx->rf_req),
			-EIO);
	__free_page(fx->rf_page);
}

/* The upper layer has estimated the length of the head. If the head is shorter, it is cut where the
 * item begins. If it is longer, it extends to the tail, but not behind the slot's buffer.
 */
static void xprt_rdma_reply_head_differs(struct kunit *test)
{
	u32 most = XPRT_RDMA_KUNIT_HEAD + XPRT_RDMA_KUNIT_REST, head;
	struct xprt_rdma_reply_fixture *fx;
	int rc;

	fx = xprt_rdma_reply_make(test);
	for (head = 0; head <= most + XDR_UNIT; head += XDR_UNIT) {
		xprt_rdma_reply_set_up(fx, XPRT_RDMA_KUNIT_ITEM);
		rpcrdma_msg_set_body(fx->rf_req.rr_msg, 40, head);
		rc = xprt_rdma_reply_place(&fx->rf_xr, &fx->rf_req);
		if (head > most) {
			KUNIT_EXPECT_EQ(test, rc, -EIO);
			xprt_rdma_reply_expect_untouched(test, fx);
			continue;
		}
		KUNIT_EXPECT_EQ(test, rc, head + XPRT_RDMA_KUNIT_ITEM);
		KUNIT_EXPECT_MEMEQ(test, fx->rf_head, fx->rf_message + 40,
				   head);
		xprt_rdma_reply_expect_room(test, fx, head,
					    XPRT_RDMA_KUNIT_ITEM);
	}
	__free_page(fx->rf_page);
}

/* A Reply that came in two Receives is copied in the same way as a Reply in one Receive, wherever
 * it is divided. It fills head, pages and tail.
 */
static void xprt_rdma_reply_in_two_receives(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	struct rpcrdma_msg_in *msg, *more;
	u32 cut, len;
	int rc;

	fx = xprt_rdma_reply_make(test);
	msg = &fx->rf_recv.rv_msg;
	more = &fx->rf_more.rv_msg;

	len = XPRT_RDMA_KUNIT_HEAD + XPRT_RDMA_KUNIT_ITEM +
		XPRT_RDMA_KUNIT_REST;
	for (cut = 0; cut <= len; cut++) {
		xprt_rdma_reply_set_up(fx, 0);
		/* The buffers of both Receives are in rf_message. The first part of the body ends
		 * at offset 40 + cut. The second part begins there, at offset 36 + cut of a buffer
		 * that begins 4 bytes later
		 */
		fx->rf_more.rv_buf.bf_data = fx->rf_message + 4;
		rpcrdma_msg_set_body(msg, 40, cut);
		rpcrdma_msg_set_body(more, 36 + cut, len - cut);
		msg->mi_more = &fx->rf_more;
		msg->mi_more_recvs = 1;
		msg->mi_more_body = len - cut;

		rc = xprt_rdma_reply_place(&fx->rf_xr, &fx->rf_req);
		KUNIT_EXPECT_EQ(test, rc, len);
		KUNIT_EXPECT_MEMEQ(test, fx->rf_head, fx->rf_message + 40,
				   XPRT_RDMA_KUNIT_HEAD);
		KUNIT_EXPECT_MEMEQ(test, page_address(fx->rf_page),
				   fx->rf_message + 64, XPRT_RDMA_KUNIT_ITEM);
		KUNIT_EXPECT_MEMEQ(test, fx->rf_tail, fx->rf_message + 72,
				   XPRT_RDMA_KUNIT_REST);
	}
	__free_page(fx->rf_page);
}

/* While a Reply is being handled, xprt_rdma_send_is_awaited() stays true: first the server's access
 * to the memory of the RPC must end (client/complete.c). A second Reply is not accepted.
 */
static void xprt_rdma_reply_is_awaited(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	struct rpcrdma_msg_in *msg;
	struct rpc_task task = { };
	struct rpc_rqst *rqst;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	spin_lock_init(&fx->rf_xr.xr_lock);
	spin_lock_init(&fx->rf_xr.xr_xprt.queue_lock);
	msg = &fx->rf_recv.rv_msg;
	rqst = &fx->rf_req.rr_slot;
	rqst->rq_task = &task;
	rqst->rq_xtime = ktime_get();
	rqst->rq_timeout = 60 * HZ;
	set_bit(RPC_TASK_NEED_RECV, &task.tk_runstate);

	KUNIT_EXPECT_FALSE(test, xprt_rdma_send_is_awaited(&fx->rf_xr, rqst));
	/* A Reply does not match before the Call was posted. */
	KUNIT_EXPECT_FALSE(test, xprt_rdma_reply_awaited(&fx->rf_xr,
							 &fx->rf_req, msg));
	atomic_set(&fx->rf_req.rr_holds, XPRT_RDMA_HOLD_REPLY);
	KUNIT_EXPECT_TRUE(test, xprt_rdma_send_is_awaited(&fx->rf_xr, rqst));
	KUNIT_EXPECT_TRUE(test, xprt_rdma_reply_awaited(&fx->rf_xr, &fx->rf_req,
							msg));
	KUNIT_EXPECT_TRUE(test, xprt_rdma_send_is_awaited(&fx->rf_xr, rqst));
	KUNIT_EXPECT_FALSE(test, xprt_rdma_reply_awaited(&fx->rf_xr,
							 &fx->rf_req, msg));
}

/* A Call had a credit when the Reply to a callback was queued behind it, and then lacks memory. The
 * Reply is sent first (rfc5666bis 8.2.1), and Calls keep their order.
 * Covers: BC-02
 */
static void xprt_rdma_reply_goes_first(struct kunit *test)
{
	struct rpc_rqst calls[2] = { }, callback = { .rq_cong = 1 };
	struct xprt_rdma_reply_fixture *fx;
	struct rpc_xprt *xprt;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	xprt = &fx->rf_xr.xr_xprt;
	spin_lock_init(&xprt->queue_lock);
	INIT_LIST_HEAD(&xprt->xmit_queue);
	list_add_tail(&calls[0].rq_xmit, &xprt->xmit_queue);

	spin_lock(&xprt->queue_lock);
	KUNIT_EXPECT_FALSE(test, xprt_rdma_credit_step_back(xprt));
	list_add_tail(&callback.rq_xmit, &xprt->xmit_queue);
	list_add_tail(&calls[1].rq_xmit, &xprt->xmit_queue);
	KUNIT_EXPECT_TRUE(test, xprt_rdma_credit_step_back(xprt));
	spin_unlock(&xprt->queue_lock);
	KUNIT_EXPECT_TRUE(test,
			  list_is_first(&callback.rq_xmit, &xprt->xmit_queue));
	KUNIT_EXPECT_PTR_EQ(test, list_next_entry(&callback, rq_xmit),
			    &calls[0]);
	KUNIT_EXPECT_TRUE(test,
			  list_is_last(&calls[1].rq_xmit, &xprt->xmit_queue));
}

/* An RPC waits for the completions of an invalidation and of a Send. A provider may report each of
 * them twice, which has no effect.
 */
static void xprt_rdma_reply_waits_for_holds(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	struct xprt_rdma_req *req;
	struct xprt_rdma *xr;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	xr = &fx->rf_xr;
	req = &fx->rf_req;
	init_waitqueue_head(&xr->xr_waitq);

	atomic_set(&req->rr_holds, XPRT_RDMA_HOLD_FENCE | XPRT_RDMA_HOLD_SENDS);
	xprt_rdma_reply_release(xr, req, XPRT_RDMA_HOLD_FENCE);
	xprt_rdma_reply_release(xr, req, XPRT_RDMA_HOLD_FENCE);
	KUNIT_EXPECT_EQ(test, atomic_read(&req->rr_holds),
			XPRT_RDMA_HOLD_SENDS);
	/* A Reply has come, but must not be completed before the Send. */
	req->rr_msg = &fx->rf_recv.rv_msg;
	xprt_rdma_reply_release(xr, req, XPRT_RDMA_HOLD_FENCE);
	KUNIT_EXPECT_PTR_EQ(test, req->rr_msg, &fx->rf_recv.rv_msg);
	req->rr_msg = NULL;
	xprt_rdma_reply_release(xr, req, XPRT_RDMA_HOLD_SENDS);
	KUNIT_EXPECT_EQ(test, atomic_read(&req->rr_holds), 0);
}

/* When a Reply has come, other Calls may have the Receives beyond the first that were kept for it.
 * But its Call keeps all its credits until the RPC ends.
 * Covers: RTX-101
 */
static void xprt_rdma_reply_frees_receives(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	struct xprt_rdma_extra *extra;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	spin_lock_init(&fx->rf_xr.xr_xprt.transport_lock);
	extra = &fx->rf_req.rr_extra;
	extra->ex_credits = 3;
	extra->ex_recvs = 2;
	fx->rf_xr.xr_spare_free = 5;

	xprt_rdma_credit_drop_recvs(&fx->rf_xr, &fx->rf_req);
	xprt_rdma_credit_drop_recvs(&fx->rf_xr, &fx->rf_req);
	KUNIT_EXPECT_EQ(test, fx->rf_xr.xr_spare_free, 7);
	KUNIT_EXPECT_EQ(test, extra->ex_recvs, 0);
	KUNIT_EXPECT_EQ(test, extra->ex_credits, 3);
}

/* A server was offered a Write chunk for foreign pages (plan.h). It may reply inline nevertheless.
 * No inline bytes are copied to the pages.
 * Covers: G-44
 */
static void xprt_rdma_reply_spares_foreign(struct kunit *test)
{
	struct xprt_rdma_reply_fixture *fx;
	u32 written;
	int rc;

	fx = xprt_rdma_reply_make(test);
	fx->rf_req.rr_foreign = true;
	fx->rf_req.rr_plan.pl_reply = RPCRDMA_REPLY_WRITE;

	for (written = 0; written <= XPRT_RDMA_KUNIT_ITEM; written++) {
		xprt_rdma_reply_set_up(fx, written);
		rc = xprt_rdma_reply_place(&fx->rf_xr, &fx->rf_req);
		KUNIT_EXPECT_EQ(test, rc < 0, !written);
		KUNIT_EXPECT_PTR_EQ(test, memchr_inv(page_address(fx->rf_page),
						     0xbd, PAGE_SIZE), NULL);

		/* All inline bytes are in the head. */
		xprt_rdma_reply_set_up(fx, written);
		rpcrdma_msg_set_body(fx->rf_req.rr_msg, 40,
				     XPRT_RDMA_KUNIT_HEAD);
		KUNIT_EXPECT_GT(test, xprt_rdma_reply_place(&fx->rf_xr,
							    &fx->rf_req), 0);
		xprt_rdma_reply_expect_untouched(test, fx);
		/* If nothing was written, page_len is set to 0: the item may be inline, in the
		 * head, and the upper layer must not move it to the pages.
		 */
		xprt_rdma_reply_expect_room(test, fx, XPRT_RDMA_KUNIT_HEAD,
					    written ? XPRT_RDMA_KUNIT_ITEM : 0);
	}
	__free_page(fx->rf_page);
}

static struct kunit_case xprt_rdma_reply_cases[] = {
	KUNIT_CASE(xprt_rdma_reply_counts_roundup),
	KUNIT_CASE(xprt_rdma_reply_head_differs),
	KUNIT_CASE(xprt_rdma_reply_in_two_receives),
	KUNIT_CASE(xprt_rdma_reply_is_awaited),
	KUNIT_CASE(xprt_rdma_reply_goes_first),
	KUNIT_CASE(xprt_rdma_reply_waits_for_holds),
	KUNIT_CASE(xprt_rdma_reply_frees_receives),
	KUNIT_CASE(xprt_rdma_reply_spares_foreign),
	{}
};

static struct kunit_suite xprt_rdma_reply_suite = {
	.name = "xprt_rdma_reply",
	.test_cases = xprt_rdma_reply_cases,
};

kunit_test_suite(xprt_rdma_reply_suite);
