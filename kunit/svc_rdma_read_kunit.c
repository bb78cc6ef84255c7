// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/server/read.c: Calls whose items (rtx.h) are in target segments of Receives,
 * with layouts that the round-trip extension allows. Our client sends only some of these layouts.
 * Another test gives such Receives back (net/server/send.c). The last one is of net/server/rw.c.
 */

#include <kunit/test.h>
#include <linux/sunrpc/xdr.h>
#include <linux/unaligned.h>
#include "../net/server/svc_rdma.h"

#define SVC_RDMA_READ_RECVS	3
#define SVC_RDMA_READ_ORDER	3
#define SVC_RDMA_READ_SIZE	(RPCRDMA_RTX_HEAD + SVC_RDMA_READ_PART)
#define SVC_RDMA_READ_PART	(((1u << SVC_RDMA_READ_ORDER) - 1) * PAGE_SIZE)
#define SVC_RDMA_READ_LEN	(SVC_RDMA_READ_RECVS * SVC_RDMA_READ_PART)
/* Offset of the body in a Receive, behind a header */
#define SVC_RDMA_READ_HDR	128u

/**
 * struct svc_rdma_read_shape - layout of a Call
 * @rx_name: name of the case
 * @rx_item: item of the Call
 * @rx_stream: number of bytes of payload stream
 * @rx_first: number of these bytes in the first Receive; the others are in the second
 * @rx_flavor: flavor of the credential: 0 (AUTH_NONE), or 6 (RPCSEC_GSS) with the service
 *	"integrity". The body of the credential has 20 bytes. If the item is inside the RPC
 *	header, the whole credential consists of arbitrary bytes, and this member is not used.
 * @rx_in_place: the Call is used where it was received
 */
struct svc_rdma_read_shape {
	const char		*rx_name;
	struct rpcrdma2_item	rx_item;
	u32			rx_stream;
	u32			rx_first;
	u32			rx_flavor;
	bool			rx_in_place;
};

static const struct svc_rdma_read_shape svc_rdma_read_shapes[] = {
	{ "WRITE of 8K", { 80, 8192 }, 80, 80, 0, true },
	{ "WRITE of 64K", { 80, 65536 }, 80, 80, 0, true },
	{ "one byte", { 80, 1 }, 80, 80, 0, true },
	{ "a byte less than a page", { 80, 4095 }, 80, 80, 0, true },
	{ "a byte more", { 80, 4097 }, 80, 80, 0, true },
	{ "one byte in the second Receive", { 80, 28673 }, 80, 80, 0, true },
	{ "more behind it", { 80, 8191 }, 120, 120, 0, true },
	{ "more behind it, later", { 80, 8191 }, 120, 100, 0, false },
	{ "stream cut in front of it", { 80, 30000 }, 120, 76, 0, false },
	{ "in the RPC header", { 32, 4096 }, 80, 80, 0, false },
	{ "behind the verifier", { 60, 4096 }, 80, 80, 0, true },
	{ "in the verifier", { 56, 4096 }, 80, 80, 0, false },
	{ "krb5i", { 80, 4096 }, 80, 80, 6, false },
};

static void svc_rdma_read_shape_name(const struct svc_rdma_read_shape *shape,
				     char *name)
{
	strscpy(name, shape->rx_name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(svc_rdma_read, svc_rdma_read_shapes,
		  svc_rdma_read_shape_name);

struct svc_rdma_read_fixture {
	struct ib_device	rf_device;
	struct svc_rdma_xprt	rf_sx;
	struct svc_rdma_call	rf_call;
	struct rpcrdma_recv	rf_recv[SVC_RDMA_READ_RECVS];
	u8			rf_message[SVC_RDMA_READ_LEN];
	u8			rf_found[SVC_RDMA_READ_LEN];
};

static void svc_rdma_read_kunit_exit(void *buf)
{
	rpcrdma_buf_exit(buf);
}

/* Make Receives with targets (rtx.h), and fill the whole buffer of each Receive with 0xbd. */
static struct svc_rdma_read_fixture *svc_rdma_read_make(struct kunit *test)
{
	struct svc_rdma_read_fixture *fx;
	struct rpcrdma_buf *buf;
	int i, rc;

	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA) ||
	    PAGE_SIZE != RPCRDMA_RTX_SEG)
		kunit_skip(test, "every device needs mapping, or no targets");
	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	for (i = 0; i < SVC_RDMA_READ_RECVS; i++) {
		buf = &fx->rf_recv[i].rv_buf;
		rc = rpcrdma_buf_init(buf, &fx->rf_device, SVC_RDMA_READ_SIZE,
				      SVC_RDMA_READ_ORDER, DMA_FROM_DEVICE,
				      GFP_KERNEL);
		KUNIT_ASSERT_EQ(test, rc, 0);
		rc = kunit_add_action_or_reset(test, svc_rdma_read_kunit_exit,
					       buf);
		KUNIT_ASSERT_EQ(test, rc, 0);
		memset(buf->bf_data, 0xbd, buf->bf_size);
		if (i)
			fx->rf_recv[i - 1].rv_msg.mi_more = &fx->rf_recv[i];
	}
	fx->rf_sx.sx_negotiate.ng_rtx.xp_seg = RPCRDMA_RTX_SEG;
	fx->rf_call.sc_sx = &fx->rf_sx;
	fx->rf_call.sc_msg = &fx->rf_recv[0].rv_msg;
	return fx;
}

/* Make an unreduced Call of arbitrary bytes, with zeroed roundup. Unless the item is inside the RPC
 * header, set those fields of credential and verifier that rpcrdma_head_ends_well() reads. Returns
 * the length of the Call.
 */
static u32 svc_rdma_read_fill(struct svc_rdma_read_fixture *fx,
			      const struct svc_rdma_read_shape *shape)
{
	const struct rpcrdma2_item *item = &shape->rx_item;
	u32 i, pad = xdr_align_size(item->im_length) - item->im_length;
	u8 *message = fx->rf_message;
	u32 len = shape->rx_stream + item->im_length + pad;

	for (i = 0; i < sizeof(fx->rf_message); i++)
		message[i] = 1 + i % 251;
	memset(message + item->im_position + item->im_length, 0, pad);
	if (item->im_position < 60)
		return len;
	put_unaligned_be32(shape->rx_flavor, message + 24);
	put_unaligned_be32(20, message + 28);
	put_unaligned_be32(2, message + 44);	/* integrity, if the flavor is RPCSEC_GSS */
	put_unaligned_be32(0, message + 52);
	put_unaligned_be32(0, message + 56);
	return len;
}

/* Write the bytes of an item to the target segments of the Receives. */
static void svc_rdma_read_put_data(struct svc_rdma_read_fixture *fx,
				   const u8 *from, u32 len)
{
	struct rpcrdma_recv *recv;
	u32 i;

	for (i = 0; i < len; i++) {
		recv = &fx->rf_recv[i / SVC_RDMA_READ_PART];
		((u8 *)rpcrdma_buf_targets(&recv->rv_buf))[i %
							   SVC_RDMA_READ_PART] =
			from[i];
		recv->rv_msg.mi_data = i % SVC_RDMA_READ_PART + 1;
	}
}

static void svc_rdma_read_put_stream(struct svc_rdma_read_fixture *fx,
				     const struct svc_rdma_read_shape *shape)
{
	const struct rpcrdma2_item *item = &shape->rx_item;
	struct rpcrdma_msg_in *msg = fx->rf_call.sc_msg;
	u32 pos = 0, sent = 0;
	struct rpcrdma_msg_in *to;

	rpcrdma_msg_set_body(msg, SVC_RDMA_READ_HDR, shape->rx_first);
	msg->mi_more_body = shape->rx_stream - shape->rx_first;
	to = &msg->mi_more->rv_msg;
	to->mi_body = fx->rf_recv[1].rv_buf.bf_data + SVC_RDMA_READ_HDR;
	to->mi_here = msg->mi_more_body;
	while (sent < shape->rx_stream) {
		if (pos == item->im_position)
			pos += xdr_align_size(item->im_length);
		to = sent < shape->rx_first ? msg : &msg->mi_more->rv_msg;
		((u8 *)to->mi_body)[sent < shape->rx_first ? sent :
				    sent - shape->rx_first] =
					    fx->rf_message[pos++];
		sent++;
	}
}

static void svc_rdma_read_receive(struct svc_rdma_read_fixture *fx,
				  const struct svc_rdma_read_shape *shape)
{
	struct svc_rdma_call *call = &fx->rf_call;
	const struct rpcrdma2_item *item = &shape->rx_item;

	call->sc_stream_len = svc_rdma_read_fill(fx, shape);
	call->sc_body_len = shape->rx_stream;
	call->sc_item = *item;
	svc_rdma_read_put_stream(fx, shape);
	svc_rdma_read_put_data(fx, fx->rf_message + item->im_position,
			       item->im_length);
}

/* Check that the Call is used in place, without pages of its own, and that no old bytes are behind
 * the item.
 */
static void svc_rdma_read_check_place(struct kunit *test,
				      struct svc_rdma_read_fixture *fx,
				      const struct xdr_buf *arg)
{
	u32 npages = DIV_ROUND_UP(fx->rf_call.sc_item.im_length, PAGE_SIZE);
	u32 rest = npages * PAGE_SIZE - fx->rf_call.sc_item.im_length;
	struct rpcrdma_buf *buf = &fx->rf_recv[0].rv_buf;
	const u8 *end;

	KUNIT_EXPECT_EQ(test, fx->rf_call.sc_npages, 0);
	KUNIT_EXPECT_PTR_EQ(test, arg->head[0].iov_base,
			    buf->bf_data + SVC_RDMA_READ_HDR);
	KUNIT_EXPECT_PTR_EQ(test, page_address(arg->pages[0]),
			    rpcrdma_buf_targets(buf));
	KUNIT_EXPECT_EQ(test, arg->page_base, 0);
	end = page_address(arg->pages[npages - 1]);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(end + PAGE_SIZE - rest, 0, rest),
			    NULL);
	KUNIT_EXPECT_PTR_EQ(test, arg->pages[npages], ZERO_PAGE(0));
}

/* Put pages with old contents into the stock (server/reclaim.c). A Call that is copied to pages
 * takes them from the stock first.
 */
static void svc_rdma_read_soil(struct kunit *test)
{
	struct page *pages[1 << SVC_RDMA_PIECE_ORDER], *piece;
	unsigned int order;
	u32 i;

	for (order = 0; order <= SVC_RDMA_PIECE_ORDER; order++) {
		piece = alloc_pages(GFP_KERNEL | (order ? __GFP_COMP : 0),
				    order);
		KUNIT_ASSERT_NOT_NULL(test, piece);
		memset(page_address(piece), 0xa5, PAGE_SIZE << order);
		for (i = 0; i < 1u << order; i++)
			pages[i] = piece + i;
		svc_rdma_stock_put(pages, 1u << order);
	}
}

/* Upper layers may read to the end of the last page. So the bytes behind the Call must be zero, and
 * not what the page contained before (server/reclaim.c).
 */
static void svc_rdma_read_check_copy(struct kunit *test,
				     const struct svc_rdma_call *call)
{
	const u8 *end = page_address(call->sc_pages[call->sc_npages - 1]);
	u32 used = offset_in_page(call->sc_stream_len);

	KUNIT_ASSERT_NE(test, used, 0);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(end + used, 0, PAGE_SIZE - used),
			    NULL);
}

/* Covers: RTX-53 RTX-55 RTX-58 RTX-60 */
static void svc_rdma_read_places(struct kunit *test)
{
	const struct svc_rdma_read_shape *shape = test->param_value;
	struct svc_rdma_read_fixture *fx = svc_rdma_read_make(test);
	struct svc_rdma_call *call = &fx->rf_call;
	struct xdr_buf arg = { };

	svc_rdma_read_soil(test);
	svc_rdma_read_receive(fx, shape);
	KUNIT_ASSERT_EQ(test, svc_rdma_read_received(call, &arg), 0);
	KUNIT_EXPECT_EQ(test, arg.head[0].iov_len + arg.page_len +
			arg.tail[0].iov_len, call->sc_stream_len);
	KUNIT_EXPECT_LE(test, arg.head[0].iov_len, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, read_bytes_from_xdr_buf(&arg, 0, fx->rf_found,
						      call->sc_stream_len), 0);
	KUNIT_EXPECT_TRUE(test, !memcmp(fx->rf_found, fx->rf_message,
					call->sc_stream_len));
	KUNIT_EXPECT_EQ(test, !call->sc_npages, shape->rx_in_place);
	if (shape->rx_in_place)
		svc_rdma_read_check_place(test, fx, &arg);
	else
		svc_rdma_read_check_copy(test, call);
	svc_rdma_pages_free(call);
}

/* svc_rdma_msg_put_renewed() may run in a completion handler, where it must not allocate memory. So
 * it does not replace the blocks of pages of the Receives that it gives back, even if other code
 * holds a reference to each block (server/send.c).
 * Covers: RTX-77
 */
static void svc_rdma_read_gives_back(struct kunit *test)
{
	struct svc_rdma_read_fixture *fx = svc_rdma_read_make(test);
	struct rpcrdma_conn *conn = &fx->rf_sx.sx_conn;
	struct page *blocks[SVC_RDMA_READ_RECVS];
	struct rpcrdma_recv *recv;
	int i;

	fx->rf_sx.sx_back = SVC_RDMA_BACK_RENEW;
	conn->cn_recvs.rp_batch = SVC_RDMA_READ_RECVS + 1;
	atomic_set(&conn->cn_recvs.rp_nheld, SVC_RDMA_READ_RECVS);
	for (i = 0; i < SVC_RDMA_READ_RECVS; i++) {
		recv = &fx->rf_recv[i];
		recv->rv_conn = conn;
		atomic_set(&recv->rv_state, RPCRDMA_RECV_HELD);
		blocks[i] = recv->rv_buf.bf_block;
		get_page(blocks[i]);
	}
	svc_rdma_msg_put_renewed(&fx->rf_sx, fx->rf_call.sc_msg);
	KUNIT_EXPECT_EQ(test, atomic_read(&conn->cn_recvs.rp_nwaiting),
			SVC_RDMA_READ_RECVS);
	KUNIT_EXPECT_EQ(test, atomic_read(&conn->cn_recvs.rp_nheld), 0);
	for (i = 0; i < SVC_RDMA_READ_RECVS; i++) {
		KUNIT_EXPECT_PTR_EQ(test, fx->rf_recv[i].rv_buf.bf_block,
				    blocks[i]);
		put_page(blocks[i]);
	}
}

struct svc_rdma_read_core {
	struct ib_device	rc_device;
	struct ib_port_data	rc_ports[2];
	struct ib_pd		rc_pd;
	struct ib_qp		rc_qp;
	struct rdma_cm_id	rc_id;
	struct svc_rdma_xprt	rc_sx;
	struct rpcrdma_lists	rc_lists;
	u8			rc_sink[128];
};

/* Make a connection on iWARP that has no memory regions. */
static struct svc_rdma_read_core *svc_rdma_read_make_core(struct kunit *test)
{
	struct svc_rdma_read_core *core;
	struct svc_rdma_xprt *sx;

	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		kunit_skip(test, "every device needs mapping");
	core = kunit_kzalloc(test, sizeof(*core), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, core);
	core->rc_ports[1].immutable.core_cap_flags = RDMA_CORE_PORT_IWARP;
	core->rc_device.attrs.max_fast_reg_page_list_len = 1;
	core->rc_device.port_data = core->rc_ports;
	core->rc_pd.device = &core->rc_device;
	core->rc_qp.device = &core->rc_device;
	core->rc_qp.pd = &core->rc_pd;
	spin_lock_init(&core->rc_qp.mr_lock);
	INIT_LIST_HEAD(&core->rc_qp.rdma_mrs);
	core->rc_id.device = &core->rc_device;
	core->rc_id.qp = &core->rc_qp;
	core->rc_id.port_num = 1;
	sx = &core->rc_sx;
	sx->sx_conn.cn_id = &core->rc_id;
	sx->sx_rw_pages = 1;
	sx->sx_rw_seg = PAGE_SIZE;
	sx->sx_rw_boundary = ULONG_MAX;
	return core;
}

/* The RDMA core returns -EAGAIN if an RDMA Read needs a memory region and none is free. Older
 * kernels do so for each device that prefers regions, and newer kernels on iWARP. Such a Call must
 * not wait for regions as after svc_rdma_mrs_reserve(): the regions may not exist at all.
 */
static void svc_rdma_read_without_region(struct kunit *test)
{
	static const __be32 segment[] = {
		cpu_to_be32(1), cpu_to_be32(100), 0, 0,
	};
	struct svc_rdma_read_core *core = svc_rdma_read_make_core(test);
	struct rpcrdma_chunk *chunk = &core->rc_lists.ls_reply;
	struct xdr_buf sink = {
		.head = { { core->rc_sink, sizeof(core->rc_sink) } },
	};
	struct svc_rdma_move move = {
		.mv_dir = DMA_FROM_DEVICE, .mv_lists = &core->rc_lists,
		.mv_chunk = chunk, .mv_xdr = &sink, .mv_len = 100,
	};
	struct svc_rdma_chain chain;

	chunk->ck_segs = segment;
	chunk->ck_length = 100;
	chunk->ck_nsegs = 1;
	svc_rdma_chain_init(&chain);
	KUNIT_EXPECT_EQ(test, svc_rdma_chain_add(&core->rc_sx, &chain, &move),
			-ENOMEM);
}

static struct kunit_case svc_rdma_read_cases[] = {
	KUNIT_CASE(svc_rdma_read_gives_back),
	KUNIT_CASE_PARAM(svc_rdma_read_places, svc_rdma_read_gen_params),
	KUNIT_CASE(svc_rdma_read_without_region),
	{}
};

static struct kunit_suite svc_rdma_read_suite = {
	.name = "svc_rdma_read",
	.test_cases = svc_rdma_read_cases,
};

kunit_test_suite(svc_rdma_read_suite);
