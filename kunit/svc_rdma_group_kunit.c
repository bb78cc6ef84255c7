// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/server/sendto.c and net/server/send.c: a Reply in two Sends. The second Send
 * has a smaller buffer, because memory was short when this buffer was made. The tests in guests
 * (testing.rst) do not cover this case, because guests have enough memory.
 */

#include <kunit/test.h>
#include <linux/sunrpc/xdr.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/group.h>
#include <rpcrdma/rtx.h>
#include "../net/server/svc_rdma.h"

/* Size of the buffer of the first Send, and of a buffer that was made when memory was short */
#define SVC_RDMA_GROUP_KUNIT_LARGE	32768u
#define SVC_RDMA_GROUP_KUNIT_SMALL	SVC_RDMA_V2_REQ_SIZE
/* Size of the client's Receives: a buffer of this size cannot be allocated in one piece */
#define SVC_RDMA_GROUP_KUNIT_WANTED	0x40000000u
#define SVC_RDMA_GROUP_KUNIT_LEN	60000u

struct svc_rdma_group_fixture {
	struct ib_device	gx_device;
	struct rdma_cm_id	gx_id;
	struct svc_rdma_xprt	gx_sx;
	struct svc_rdma_send	gx_first;
	struct svc_rdma_send	gx_second;
	struct rpcrdma_lists	gx_lists;
	u32			gx_written[RPCRDMA_MAX_CHUNKS];
	u8			gx_reply[SVC_RDMA_GROUP_KUNIT_LEN];
	u8			gx_large[SVC_RDMA_GROUP_KUNIT_LARGE];
	u8			gx_other[SVC_RDMA_GROUP_KUNIT_LARGE];
};

static void svc_rdma_group_kunit_send(struct svc_rdma_group_fixture *fx,
				      struct svc_rdma_send *send, void *data,
				      u32 size)
{
	struct rpcrdma_send *base = &send->ss_send;

	INIT_LIST_HEAD(&base->sd_list);
	INIT_LIST_HEAD(&base->sd_more);
	base->sd_conn = &fx->gx_sx.sx_conn;
	base->sd_wr.sg_list = &base->sd_sge;
	base->sd_wr.num_sge = 1;
	base->sd_buf.bf_device = &fx->gx_device;
	base->sd_buf.bf_data = data;
	base->sd_buf.bf_size = size;
}

/* Make a connection to a client whose Receives are larger than any buffer that we can allocate. The
 * connection has one idle Send with a small buffer, and there is other memory behind this buffer.
 */
static struct svc_rdma_group_fixture *svc_rdma_group_make(struct kunit *test)
{
	struct svc_rdma_group_fixture *fx;
	struct svc_rdma_xprt *sx;
	u32 i;

	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		kunit_skip(test, "every device needs mapping");
	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	for (i = 0; i < sizeof(fx->gx_reply); i++)
		fx->gx_reply[i] = 1 + i % 251;
	memset(fx->gx_other, 0xbd, sizeof(fx->gx_other));
	sx = &fx->gx_sx;
	fx->gx_id.device = &fx->gx_device;
	sx->sx_conn.cn_id = &fx->gx_id;
	sx->sx_conn.cn_limits.lm_inline_send = SVC_RDMA_GROUP_KUNIT_WANTED;
	sx->sx_vers = RPCRDMA_VERS_2;
	spin_lock_init(&sx->sx_lock);
	svc_rdma_group_kunit_send(fx, &fx->gx_first, fx->gx_large,
				  sizeof(fx->gx_large));
	svc_rdma_group_kunit_send(fx, &fx->gx_second, fx->gx_other,
				  SVC_RDMA_GROUP_KUNIT_SMALL);
	INIT_LIST_HEAD(&sx->sx_posted.po_sending);
	INIT_LIST_HEAD(&sx->sx_sends.sp_idle);
	list_add(&fx->gx_second.ss_list, &sx->sx_sends.sp_idle);
	sx->sx_sends.sp_nidle = 1;
	return fx;
}

/* Encode a Reply of @len bytes, in two Sends of at most @limit bytes; if @limit is 0, of as many
 * bytes as the Sends allow. Returns what svc_rdma_group_encode() returns.
 */
static int svc_rdma_group_kunit_encode(struct kunit *test,
				       struct svc_rdma_group_fixture *fx,
				       u32 len, u32 limit)
{
	struct xdr_buf xdr = {
		.head = { { fx->gx_reply, len } }, .len = len, .buflen = len,
	};
	struct rpcrdma_layout layout;
	struct rpcrdma_reply_out out = {
		.ro_xid = 1, .ro_credit = 1, .ro_proc = RPCRDMA1_MSG,
		.ro_lists = &fx->gx_lists, .ro_written = fx->gx_written,
	};
	struct svc_rdma_body body = { .by_xdr = &xdr };

	KUNIT_ASSERT_EQ(test, svc_rdma_group_take(&fx->gx_first, 2), 0);
	svc_rdma_group_layout(&fx->gx_first, &fx->gx_lists, len, &layout);
	if (limit)
		layout.ly_limit = limit;
	KUNIT_ASSERT_EQ(test, rpcrdma_layout_count(&layout, 16), 2);
	return svc_rdma_group_encode(&fx->gx_first, &layout, &out, &body);
}

static const u8 *svc_rdma_group_kunit_written(const u8 *data)
{
	return memchr_inv(data + SVC_RDMA_GROUP_KUNIT_SMALL, 0xbd,
			  SVC_RDMA_GROUP_KUNIT_LARGE -
			  SVC_RDMA_GROUP_KUNIT_SMALL);
}

/* If the second part of a Reply and its header did not fit in the buffer of the second Send,
 * encoding would fail, and write nothing behind this buffer.
 */
static void svc_rdma_group_second_too_small(struct kunit *test)
{
	struct svc_rdma_group_fixture *fx = svc_rdma_group_make(test);
	u32 most = SVC_RDMA_GROUP_KUNIT_LARGE - RPCRDMA2_RTX_MSG_MIN +
		SVC_RDMA_GROUP_KUNIT_SMALL - RPCRDMA2_RTX_NEXT_LEN;

	KUNIT_EXPECT_EQ(test,
			svc_rdma_group_kunit_encode(test, fx, most + 1,
						    SVC_RDMA_GROUP_KUNIT_LARGE),
			-EMSGSIZE);
	KUNIT_EXPECT_PTR_EQ(test, svc_rdma_group_kunit_written(fx->gx_other),
			    NULL);
}

/* The smallest buffer of a group decides how its Reply is divided.
 * Covers: RTX-43
 */
static void svc_rdma_group_second_fits(struct kunit *test)
{
	struct svc_rdma_group_fixture *fx = svc_rdma_group_make(test);
	u32 first = SVC_RDMA_GROUP_KUNIT_SMALL - RPCRDMA2_RTX_MSG_MIN;
	u32 second = SVC_RDMA_GROUP_KUNIT_SMALL - RPCRDMA2_RTX_NEXT_LEN;

	KUNIT_EXPECT_EQ(test, svc_rdma_group_kunit_encode(test, fx,
							  first + second, 0),
			SVC_RDMA_GROUP_KUNIT_SMALL);
	KUNIT_EXPECT_EQ(test, fx->gx_second.ss_send.sd_sge.length,
			SVC_RDMA_GROUP_KUNIT_SMALL);
	KUNIT_EXPECT_TRUE(test, !memcmp(fx->gx_large + RPCRDMA2_RTX_MSG_MIN,
					fx->gx_reply, first));
	KUNIT_EXPECT_TRUE(test, !memcmp(fx->gx_other + RPCRDMA2_RTX_NEXT_LEN,
					fx->gx_reply + first, second));
	KUNIT_EXPECT_PTR_EQ(test, svc_rdma_group_kunit_written(fx->gx_other),
			    NULL);
}

/* If there is no memory for a buffer as large as the client's Receives, the context does not try to
 * get one again for each Reply. Here, a second attempt would succeed.
 */
static void svc_rdma_group_tries_once(struct kunit *test)
{
	struct svc_rdma_group_fixture *fx = svc_rdma_group_make(test);
	struct svc_rdma_xprt *sx = &fx->gx_sx;

	KUNIT_EXPECT_EQ(test, svc_rdma_group_take(&fx->gx_first, 2), 0);
	KUNIT_EXPECT_EQ(test, fx->gx_second.ss_send.sd_buf.bf_size,
			SVC_RDMA_GROUP_KUNIT_SMALL);
	list_del_init(&fx->gx_second.ss_send.sd_list);
	fx->gx_first.ss_send.sd_nmore = 0;
	list_move(&fx->gx_second.ss_list, &sx->sx_sends.sp_idle);
	sx->sx_sends.sp_nidle = 1;
	sx->sx_conn.cn_limits.lm_inline_send = SVC_RDMA_GROUP_KUNIT_LARGE;
	KUNIT_EXPECT_EQ(test, svc_rdma_group_take(&fx->gx_first, 2), 0);
	KUNIT_EXPECT_PTR_EQ(test, fx->gx_second.ss_send.sd_buf.bf_data,
			    (void *)fx->gx_other);
}

static struct kunit_case svc_rdma_group_cases[] = {
	KUNIT_CASE(svc_rdma_group_second_too_small),
	KUNIT_CASE(svc_rdma_group_second_fits),
	KUNIT_CASE(svc_rdma_group_tries_once),
	{}
};

static struct kunit_suite svc_rdma_group_suite = {
	.name = "svc_rdma_group",
	.test_cases = svc_rdma_group_cases,
};

kunit_test_suite(svc_rdma_group_suite);
