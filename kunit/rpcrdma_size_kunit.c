// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/size.c: the sizes of a connection, for example queue depths and numbers of
 * regions, Receives and credits; and which page sizes a device can register.
 */

#include <kunit/test.h>
#include <linux/limits.h>

#include <rpcrdma/size.h>

#define MIB	(1024u * 1024u)

/* rpcrdma_size_mrs() counts regions exactly, wherever in a page the buffer begins. */
static void size_mrs_counts_pages(struct kunit *test)
{
	u32 len, at, mr_pages, pages;

	for (mr_pages = 1; mr_pages < 5; mr_pages++) {
		for (at = 0; at < 40; at++) {
			for (len = 0; len < 200; len++) {
				/* Count the pages of 16 bytes that are touched */
				pages = len ? (at % 16 + len - 1) / 16 + 1 : 0;
				KUNIT_EXPECT_EQ(test,
						rpcrdma_size_mrs(len, at, 16,
								 mr_pages),
						(pages + mr_pages - 1) /
						mr_pages);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(U32_MAX, 4095, 4096, 1),
			0x100001);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(1, 4095, 4096, U32_MAX), 1);
}

/* A device can register the pages of the kernel if it reports their size, or if they have 4096
 * bytes.
 * Covers: MEM-12
 */
static void size_registers_pages(struct kunit *test)
{
	u64 irdma = 4096 | 2 * MIB | 1024 * MIB, mlx5 = ~4095ull;
	u32 page_size;

	for (page_size = 4096; page_size <= 65536; page_size *= 2) {
		KUNIT_EXPECT_TRUE(test,
				  rpcrdma_size_can_register(mlx5, page_size));
		KUNIT_EXPECT_EQ(test,
				rpcrdma_size_can_register(irdma, page_size),
				page_size == 4096);
		KUNIT_EXPECT_TRUE(test, rpcrdma_size_can_register(page_size,
								  page_size));
		KUNIT_EXPECT_EQ(test, rpcrdma_size_can_register(0, page_size),
				page_size == 4096);
	}
}

/* Receives are posted in batches. While a batch is not complete, its Receives wait to be posted:
 * all but one of the Receives of a batch may be waiting. Even then, the other Receives of the
 * connection are enough for the messages that the peer may send. For this, a connection needs at
 * most seven Receives more than the number of these messages.
 * Covers: V1-CRD-09
 */
static void size_recvs_keep_promises(struct kunit *test)
{
	u32 messages, recvs, batch;

	for (messages = 1; messages < 5000; messages++) {
		recvs = rpcrdma_size_recvs(messages);
		batch = max(rpcrdma_size_recv_batch(recvs), 1u);
		KUNIT_EXPECT_GE(test, recvs - (batch - 1), messages);
		KUNIT_EXPECT_LE(test, batch, 8);
		KUNIT_EXPECT_LE(test, recvs, messages + 7);
		/* One Receive fewer would not be enough. */
		batch = max(rpcrdma_size_recv_batch(recvs - 1), 1u);
		KUNIT_EXPECT_LT(test, recvs - 1 - (batch - 1), messages);
	}
	/* If a connection has few Receives, each is posted by itself. If it has many, they are
	 * posted in batches of 8
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recv_batch(3), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recv_batch(7), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recv_batch(32), 8);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recv_batch(U32_MAX), 8);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs(7), 7);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs(8), 9);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs(128), 128 + 7);
}

/* rpcrdma_size_credits() returns as many credits as there are Receives for, and not one more.
 * Covers: V1-CRD-09
 */
static void size_credits_have_receives(struct kunit *test)
{
	u32 recvs, others, credits;

	for (others = 0; others < 40; others++) {
		for (recvs = 0; recvs < 500; recvs++) {
			credits = rpcrdma_size_credits(recvs, others);
			if (credits)
				KUNIT_EXPECT_LE(test,
						rpcrdma_size_recvs(credits +
								   others),
						recvs);
			KUNIT_EXPECT_GT(test, rpcrdma_size_recvs(credits +
								 others + 1),
					recvs);
		}
	}
	/* Of 153 Receives, 18 are for messages that take none of the credits, and 7 may be waiting
	 * to be posted. The others are enough for 128 credits
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_credits(128 + 16 + 7 + 2, 16 + 2),
			128);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_credits(U32_MAX, 0), U32_MAX - 7);
}

/* rpcrdma_size_recvs_fit() returns how many more Receives the limit on their memory allows. */
static void size_recvs_fit_the_budget(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(0, 0, 4096), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(0, 4095, 4096), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(0, 4096, 4096), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(4096, 12287, 4096), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(4096, 12288, 4096), 2);
	/* If the existing Receives already exceed the limit, there is room for no more */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(4097, 4096, 1), 0);
	/* There are three Receives of 65536 bytes, and the new ones have 4096 bytes */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(3 * 65536, 154 * 65536,
						     4096), 151 * 16);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(0, (u64)U32_MAX * 65536,
						     65536), U32_MAX);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_recvs_fit(0, U64_MAX, 1), U32_MAX);
}

/* Covers: RTX-34 */
static void size_targets_fill_pages(struct kunit *test)
{
	struct rpcrdma2_rtx rtx = { .xp_flags = 1, .xp_msg_max = 2 };
	u32 pages, size;

	for (pages = 0; pages <= 17; pages++) {
		size = rpcrdma_size_targets(pages, 4096, &rtx);
		KUNIT_EXPECT_EQ(test, size,
				rtx.xp_head + rtx.xp_seg * rtx.xp_nsegs);
		if (pages != 2 && pages != 4 && pages != 8) {
			KUNIT_EXPECT_EQ(test, rtx.xp_head, 0);
			KUNIT_EXPECT_EQ(test, rtx.xp_seg, 0);
			KUNIT_EXPECT_EQ(test, rtx.xp_nsegs, 0);
			continue;
		}
		KUNIT_EXPECT_EQ(test, rtx.xp_nsegs, pages - 1);
		KUNIT_EXPECT_EQ(test, size, 1024 + (pages - 1) * 4096);
	}
	/* Members that do not describe Receives do not change */
	KUNIT_EXPECT_EQ(test, rtx.xp_flags, 1);
	KUNIT_EXPECT_EQ(test, rtx.xp_msg_max, 2);
	/* The figures of rtx.rst 7.1 */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_targets(8, 4096, &rtx), 29696);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_targets(4, 4096, &rtx), 13312);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_targets(2, 4096, &rtx), 5120);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_targets(8, 65536, &rtx), 0);
	KUNIT_EXPECT_EQ(test, rtx.xp_nsegs, 0);
}

static const struct rpcrdma_device_caps size_rxe = {
	.dc_max_qp_wr = 1 << 20, .dc_max_cqe = 32767, .dc_max_send_sge = 32,
	.dc_max_sge_rd = 32, .dc_max_mr_pages = 512, .dc_max_mr = 524287,
	.dc_max_init_rd_atom = 128, .dc_max_rd_atom = 128, .dc_frwr = true,
};

static const struct rpcrdma_device_caps size_siw = {
	.dc_max_qp_wr = 32768, .dc_max_cqe = 3276800, .dc_max_send_sge = 6,
	.dc_max_sge_rd = 1, .dc_max_mr_pages = 256, .dc_max_mr = 1000000,
	.dc_max_init_rd_atom = 128, .dc_max_rd_atom = 64, .dc_frwr = true,
	.dc_iwarp = true, .dc_read_mrs = true,
};

static const struct rpcrdma_device_caps size_mlx5 = {
	.dc_max_qp_wr = 32768, .dc_max_cqe = 4194303, .dc_max_send_sge = 30,
	.dc_max_sge_rd = 30, .dc_max_mr_pages = 65536, .dc_max_mr = 16777216,
	.dc_max_init_rd_atom = 16, .dc_max_rd_atom = 16, .dc_frwr = true,
	.dc_sg_gaps = true, .dc_read_mrs = true,
};

/* An invented device: it is not iWARP, and its RDMA Reads have one SGE, so each reads one page */
static const struct rpcrdma_device_caps size_page_reader = {
	.dc_max_qp_wr = 32768, .dc_max_cqe = 4194303, .dc_max_send_sge = 30,
	.dc_max_sge_rd = 1, .dc_max_mr_pages = 512, .dc_max_mr = 1000000,
	.dc_max_init_rd_atom = 1, .dc_max_rd_atom = 0, .dc_frwr = true,
};

static const struct rpcrdma_device_caps size_short_queues = {
	.dc_max_qp_wr = 128, .dc_max_cqe = 32767, .dc_max_send_sge = 32,
	.dc_max_sge_rd = 32, .dc_max_mr_pages = 512, .dc_max_mr = 1000000,
	.dc_max_init_rd_atom = 128, .dc_max_rd_atom = 128, .dc_frwr = true,
};

static const struct rpcrdma_device_caps size_short_cq = {
	.dc_max_qp_wr = 4096, .dc_max_cqe = 128, .dc_max_send_sge = 32,
	.dc_max_sge_rd = 32, .dc_max_mr_pages = 512, .dc_max_mr = 1000000,
	.dc_max_init_rd_atom = 128, .dc_max_rd_atom = 128, .dc_frwr = true,
};

struct size_client_case {
	const char				*desc;
	const struct rpcrdma_device_caps	*caps;
	u32					max_payload;
	struct rpcrdma_client_sizes		sizes;
};

#define CLIENT(mr_pages, mrs, sq_depth) {						\
	.cz_requests = 128, .cz_bc_requests = 16, .cz_mr_pages = (mr_pages),		\
	.cz_mrs_per_rpc = (mrs), .cz_sq_depth = (sq_depth), .cz_rq_depth = 155,		\
	.cz_recvs = 154,								\
}

/* Sizes for 128 requests and 16 callbacks, with pages of 4096 bytes */
static const struct size_client_case size_client_cases[] = {
	{ "rxe registers a megabyte at once", &size_rxe, MIB, CLIENT(257, 1, 128 * 7 + 16 + 2) },
	{ "rxe needs three regions for four megabytes", &size_rxe, 4 * MIB,
	  CLIENT(512, 3, 128 * 11 + 16 + 2) },
	{ "siw needs two for a megabyte that is not aligned", &size_siw, MIB,
	  CLIENT(256, 2, 128 * 9 + 16 + 2) },
	{ "mlx5 does not have its regions cut by max_sge_rd", &size_mlx5, 4 * MIB,
	  CLIENT(1025, 1, 914) },
};

KUNIT_ARRAY_PARAM_DESC(size_client, size_client_cases, desc);

/* Covers: MEM-22 BC-07 */
static void size_client_examples(struct kunit *test)
{
	const struct size_client_case *param = test->param_value;
	struct rpcrdma_client_sizes sizes;

	KUNIT_ASSERT_EQ(test, rpcrdma_size_client(param->caps, 128, 16,
						  param->max_payload, 4096,
						  &sizes), 0);
	KUNIT_EXPECT_MEMEQ(test, &sizes, &param->sizes, sizeof(sizes));
}

static void size_check_client(struct kunit *test,
			      const struct rpcrdma_device_caps *caps,
			      u32 requests, u32 bc,
			      const struct rpcrdma_client_sizes *sz)
{
	u32 largest = 1 + 2 * (sz->cz_mrs_per_rpc + 2);

	KUNIT_EXPECT_GE(test, sz->cz_requests, 1);
	KUNIT_EXPECT_LE(test, sz->cz_requests, requests);
	KUNIT_EXPECT_EQ(test, sz->cz_bc_requests, bc);
	KUNIT_EXPECT_GE(test, sz->cz_mr_pages, 1);
	KUNIT_EXPECT_LE(test, sz->cz_mr_pages, caps->dc_max_mr_pages);
	KUNIT_EXPECT_GE(test, sz->cz_mrs_per_rpc, 1);
	KUNIT_EXPECT_LE(test, sz->cz_mrs_per_rpc, 16);
	KUNIT_EXPECT_LE(test, sz->cz_sq_depth, caps->dc_max_qp_wr);
	KUNIT_EXPECT_LE(test, sz->cz_rq_depth, caps->dc_max_qp_wr);
	KUNIT_EXPECT_LE(test, sz->cz_sq_depth + sz->cz_rq_depth,
			caps->dc_max_cqe);
	/* The send queue has room for the Send of each request, the other work requests of one RPC
	 * of the largest size, the answers to callbacks, the keepalive's probe and the drain marker
	 */
	KUNIT_EXPECT_GE(test, sz->cz_sq_depth,
			sz->cz_requests - 1 + largest + bc + 2);
	KUNIT_EXPECT_EQ(test, sz->cz_recvs, sz->cz_requests + bc + 10);
	KUNIT_EXPECT_EQ(test, sz->cz_rq_depth, sz->cz_recvs + 1);
}

static const u32 size_numbers[] = {
	0, 1, 2, 7, 15, 16, 17, 25, 26, 33, 64, 100, 128, 300, 1000, 5000,
	0x7fffffff, U32_MAX,
};

/* Check that the limits of a refused device are too low for even one request. */
static void size_check_refused(struct kunit *test,
			       const struct rpcrdma_device_caps *caps, u32 bc,
			       u32 mrs)
{
	u32 recvs = 1 + bc + 10 + 1;
	u32 sends = 1 + 2 * (mrs + 2) + bc + 2;

	KUNIT_EXPECT_TRUE(test, caps->dc_max_qp_wr < max(recvs, sends) ||
			  caps->dc_max_cqe < recvs + sends);
}

/* Whatever the limits of a device are, either the client refuses the device, or the sizes are
 * within the limits and sufficient.
 * Covers: BC-07
 */
static void size_client_grid(struct kunit *test)
{
	static const u32 payloads[] = { 0, 1, 4096, MIB, 64 * MIB, U32_MAX };
	const u32 n = ARRAY_SIZE(size_numbers);
	struct rpcrdma_device_caps caps = size_rxe;
	u32 i, wanted, payload, done = 0, refused = 0;
	struct rpcrdma_client_sizes sizes;
	int ret;

	for (i = 0; i < n * n * (n - 1) * ARRAY_SIZE(payloads); i++) {
		caps.dc_max_qp_wr = size_numbers[i % n];
		caps.dc_max_cqe = size_numbers[i / n % n];
		wanted = size_numbers[1 + i / n / n % (n - 1)];
		payload = payloads[i / n / n / (n - 1)];
		caps.dc_max_mr_pages = 1 + i % 300;
		ret = rpcrdma_size_client(&caps, wanted, 2, payload, 4096,
					  &sizes);
		if (!ret) {
			size_check_client(test, &caps, wanted, 2, &sizes);
			done++;
			continue;
		}
		KUNIT_EXPECT_EQ(test, ret, -EOPNOTSUPP);
		size_check_refused(test, &caps, 2, sizes.cz_mrs_per_rpc);
		refused++;
	}
	KUNIT_EXPECT_GT(test, done, 1000);
	KUNIT_EXPECT_GT(test, refused, 1000);
}

/* An item of up to rpcrdma_size_client_payload() bytes, wherever in a page it begins, fits into one
 * chunk together with head and tail of the message.
 */
static void size_client_payloads(struct kunit *test)
{
	u32 mr_pages, pages, segs;
	u64 most;

	for (mr_pages = 1; mr_pages <= 512; mr_pages++) {
		most = rpcrdma_size_client_payload(mr_pages, 4096) / 4096;
		KUNIT_EXPECT_GE(test, most, 8);
		for (pages = 1; pages <= min(most, 256); pages++) {
			segs = rpcrdma_size_mrs(pages * 4096, 4095, 4096,
						mr_pages);
			KUNIT_EXPECT_LE(test, segs + 2, RPCRDMA_CLIENT_SEGS);
		}
	}
	/* Regions of 19 pages are enough for a megabyte. */
	KUNIT_EXPECT_GE(test, rpcrdma_size_client_payload(19, 4096), MIB);
	KUNIT_EXPECT_GT(test, rpcrdma_size_client_payload(U32_MAX, 4096), MIB);
	/* There are 14 regions of one page. An item that begins inside a page may touch one page
	 * more than its size requires, so 13 pages are left.
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_size_client_payload(1, 4096), 13 * 4096);
}

/* With pages of 64K, a megabyte takes at most 17 pages, wherever it begins. */
static void size_large_pages(struct kunit *test)
{
	struct rpcrdma_device_caps caps = size_rxe;
	struct rpcrdma_client_sizes client;
	struct rpcrdma_server_sizes server;

	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(MIB, 0, 65536, 1), 16);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(MIB, 4096, 65536, 1), 17);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(65536, 65532, 65536, 2), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_mrs(4, 65532, 65536, 1), 1);

	KUNIT_ASSERT_EQ(test, rpcrdma_size_client(&caps, 128, 16, MIB, 65536,
						  &client), 0);
	KUNIT_EXPECT_EQ(test, client.cz_mr_pages, 17);
	KUNIT_EXPECT_EQ(test, client.cz_mrs_per_rpc, 1);
	caps.dc_max_mr_pages = 2;
	KUNIT_ASSERT_EQ(test, rpcrdma_size_client(&caps, 128, 16, MIB, 65536,
						  &client), 0);
	KUNIT_EXPECT_EQ(test, client.cz_mr_pages, 2);
	KUNIT_EXPECT_EQ(test, client.cz_mrs_per_rpc, 9);
	KUNIT_EXPECT_GE(test, rpcrdma_size_client_payload(2, 65536), MIB);
	KUNIT_EXPECT_EQ(test, rpcrdma_size_client_payload(1, 65536),
			13 * 65536);

	/* The 87 slots are: 64 for Replies to half of the Calls; 2 for callbacks; 2 for the
	 * keepalive's probe and the drain marker; 3 for three transfers, since one work request
	 * covers a whole transfer; and 16 more, in case a client has split a transfer into 16
	 * segments.
	 */
	KUNIT_ASSERT_EQ(test, rpcrdma_size_server(&caps, 128, 2, MIB, 65536,
						  &server), 0);
	KUNIT_EXPECT_EQ(test, server.sz_sq_depth, 87);
}

/* Covers: RTX-65 RTX-76 */
static void size_client_spares(struct kunit *test)
{
	static const struct rpcrdma_client_sizes sizes = {
		.cz_sq_depth = 900, .cz_rq_depth = 155,
	};
	static const struct {
		int max_qp_wr, max_cqe;
		u32 spare;
	} cases[] = {
		{ 8192, 65536, 16 },
		{ 160, 65536, 5 },
		{ 155, 65536, 0 },
		{ 8192, 1058, 3 },
		{ 8192, 1000, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct rpcrdma_device_caps caps = {
			.dc_max_qp_wr = cases[i].max_qp_wr,
			.dc_max_cqe = cases[i].max_cqe,
		};

		KUNIT_EXPECT_EQ(test, rpcrdma_size_client_spare(&caps, &sizes),
				cases[i].spare);
	}
}

static int size_client(const struct rpcrdma_device_caps *caps, u32 requests,
		       u32 page_size)
{
	struct rpcrdma_client_sizes sizes;

	return rpcrdma_size_client(caps, requests, 2, MIB, page_size, &sizes);
}

static int size_server(const struct rpcrdma_device_caps *caps, u32 requests,
		       u32 page_size)
{
	struct rpcrdma_server_sizes sizes;

	return rpcrdma_size_server(caps, requests, 2, MIB, page_size, &sizes);
}

/* The client refuses invalid arguments, and devices that it cannot use. */
static void size_client_refuses(struct kunit *test)
{
	struct rpcrdma_device_caps caps = size_rxe;

	KUNIT_EXPECT_EQ(test, size_client(&caps, 0, 4096), -EINVAL);
	KUNIT_EXPECT_EQ(test, size_client(&caps, 1, 0), -EINVAL);
	caps.dc_frwr = false;
	KUNIT_EXPECT_EQ(test, size_client(&caps, 1, 4096), -EOPNOTSUPP);
	caps = size_rxe;
	caps.dc_max_mr_pages = 0;
	KUNIT_EXPECT_EQ(test, size_client(&caps, 1, 4096), -EOPNOTSUPP);
	caps = size_rxe;
	caps.dc_max_mr = 2;
	KUNIT_EXPECT_EQ(test, size_client(&caps, 1, 4096), -EOPNOTSUPP);
}

/* The smallest payloads, and a device that can do more than a connection uses. */
static void size_edges(struct kunit *test)
{
	struct rpcrdma_device_caps caps = size_rxe;
	struct rpcrdma_client_sizes client;
	struct rpcrdma_server_sizes server;

	/* Two bytes may lie in two pages; a payload of 0 bytes counts as one page */
	caps.dc_max_mr = 3;
	KUNIT_ASSERT_EQ(test,
			rpcrdma_size_client(&caps, 1, 2, 2, 4096, &client), 0);
	KUNIT_EXPECT_EQ(test, client.cz_mr_pages, 2);
	KUNIT_ASSERT_EQ(test,
			rpcrdma_size_client(&caps, 1, 2, 0, 4096, &client), 0);
	KUNIT_EXPECT_EQ(test, client.cz_mr_pages, 1);

	caps.dc_max_send_sge = 100;
	caps.dc_max_init_rd_atom = 1000;
	caps.dc_max_rd_atom = 1000;
	KUNIT_ASSERT_EQ(test, rpcrdma_size_server(&caps, 1, 2, MIB, 4096,
						  &server), 0);
	KUNIT_EXPECT_EQ(test, server.sz_send_sges, 32);
	KUNIT_EXPECT_EQ(test, server.sz_ord, 255);
}

struct size_server_case {
	const char				*desc;
	const struct rpcrdma_device_caps	*caps;
	u32					max_payload;
	struct rpcrdma_server_sizes		sizes;
};

#define SERVER(requests, send_sges, read_mrs, sq_depth, ord) {				\
	.sz_requests = (requests), .sz_bc_requests = 2, .sz_send_sges = (send_sges),	\
	.sz_read_mrs = (read_mrs), .sz_sq_depth = (sq_depth), .sz_ord = (ord),		\
}

/* Sizes if 128 requests and 2 callbacks are wanted, with pages of 4096 bytes */
static const struct size_server_case size_server_cases[] = {
	{ "rxe with a megabyte", &size_rxe, MIB, SERVER(128, 32, 0, 64 + 2 + 2 + 3 * 9 + 16, 128) },
	{ "mlx5 with four megabytes", &size_mlx5, 4 * MIB, SERVER(128, 30, 80, 2 + 3 * 80, 16) },
	{ "siw reads through regions, not by single pages", &size_siw, MIB,
	  SERVER(128, 6, 80, 2 + 3 * 80, 64) },
	{ "a device that reads page by page", &size_page_reader, MIB,
	  SERVER(128, 30, 0, 64 + 2 + 2 + 3 * 257 + 16, 1) },
	{ "short queues: all of one are Receives", &size_short_queues, MIB,
	  SERVER(115, 32, 0, 58 + 2 + 2 + 3 * 9 + 16, 128) },
	{ "a short completion queue: one Send at a time", &size_short_cq, MIB,
	  SERVER(85, 32, 0, 1 + 2 + 2 + 9 + 16, 128) },
};

KUNIT_ARRAY_PARAM_DESC(size_server, size_server_cases, desc);

/* The number of requests, which is the number of credits, is reduced only if the receive queue or
 * the completion queue is short. If both are long enough, neither few SGEs nor the need for regions
 * for RDMA Reads reduces it.
 * Covers: V1-CRD-09 V1-CRD-27 V1-RDC-21 BC-08
 */
static void size_server_examples(struct kunit *test)
{
	const struct size_server_case *param = test->param_value;
	struct rpcrdma_server_sizes sizes, want = param->sizes;

	want.sz_rq_depth = want.sz_requests + 2 + 10 + 1;
	KUNIT_ASSERT_EQ(test, rpcrdma_size_server(param->caps, 128, 2,
						  param->max_payload, 4096,
						  &sizes), 0);
	KUNIT_EXPECT_MEMEQ(test, &sizes, &want, sizeof(sizes));
}

static void size_check_server(struct kunit *test,
			      const struct rpcrdma_device_caps *caps,
			      u32 requests, u32 bc,
			      const struct rpcrdma_server_sizes *sz)
{
	u32 spare;

	KUNIT_EXPECT_GE(test, sz->sz_requests, 1);
	KUNIT_EXPECT_LE(test, sz->sz_requests, requests);
	KUNIT_EXPECT_EQ(test, sz->sz_bc_requests, bc);
	KUNIT_EXPECT_GE(test, sz->sz_send_sges, 1);
	KUNIT_EXPECT_LE(test, sz->sz_send_sges, caps->dc_max_send_sge);
	KUNIT_EXPECT_EQ(test, sz->sz_read_mrs, caps->dc_read_mrs ? 80 : 0);
	KUNIT_EXPECT_GE(test, sz->sz_ord, 1);
	KUNIT_EXPECT_LE(test, sz->sz_ord, 255);
	KUNIT_EXPECT_LE(test, sz->sz_ord, max(caps->dc_max_init_rd_atom, 1u));
	KUNIT_EXPECT_LE(test, sz->sz_ord, max(caps->dc_max_rd_atom, 1u));
	/* The send queue has room for the callbacks, the keepalive's probe, the drain marker, one
	 * transfer of 257 pages in 16 segments, and one Reply. If the device allows it, there is
	 * room for the Replies to half of the Calls
	 */
	spare = bc + 2 + DIV_ROUND_UP(257, sz->sz_send_sges) + 16;
	KUNIT_EXPECT_GE(test, sz->sz_sq_depth, 1 + spare);
	KUNIT_EXPECT_GE(test, sz->sz_sq_depth,
			min3(DIV_ROUND_UP(sz->sz_requests, 2) + spare,
			     caps->dc_max_qp_wr,
			     caps->dc_max_cqe - sz->sz_rq_depth));
	KUNIT_EXPECT_LE(test, sz->sz_sq_depth, caps->dc_max_qp_wr);
	KUNIT_EXPECT_LE(test, (u64)sz->sz_sq_depth + sz->sz_rq_depth,
			caps->dc_max_cqe);
	KUNIT_EXPECT_EQ(test, sz->sz_rq_depth, sz->sz_requests + bc + 10 + 1);
	KUNIT_EXPECT_LE(test, sz->sz_rq_depth, caps->dc_max_qp_wr);
}

/* Covers: V1-CRD-09 V1-RDC-21 BC-08 */
static void size_server_grid(struct kunit *test)
{
	const u32 n = ARRAY_SIZE(size_numbers);
	struct rpcrdma_device_caps caps = size_rxe;
	u32 i, wanted, smallest, done = 0, refused = 0;
	struct rpcrdma_server_sizes sizes;
	int ret;

	for (i = 0; i < n * n * (n - 1); i++) {
		caps.dc_max_qp_wr = size_numbers[i % n];
		caps.dc_max_send_sge = size_numbers[i / n % n];
		wanted = size_numbers[1 + i / n / n];
		caps.dc_max_init_rd_atom = size_numbers[i % 13];
		caps.dc_max_rd_atom = size_numbers[i % 11];
		ret = rpcrdma_size_server(&caps, wanted, 2, MIB, 4096, &sizes);
		if (!ret) {
			size_check_server(test, &caps, wanted, 2, &sizes);
			done++;
			continue;
		}
		KUNIT_EXPECT_EQ(test, ret, -EOPNOTSUPP);
		refused++;
		if (!caps.dc_max_send_sge)
			continue;
		smallest = 1 + 2 + 2 + 16 +
			DIV_ROUND_UP(257, min(caps.dc_max_send_sge, 32u));
		KUNIT_EXPECT_LT(test, caps.dc_max_qp_wr, smallest);
	}
	KUNIT_EXPECT_GT(test, done, 1000);
	KUNIT_EXPECT_GT(test, refused, 1000);
}

/* The server refuses invalid arguments, and devices that it cannot use. On iWARP, an RDMA Read
 * needs a region, so the device must support fast registration.
 */
static void size_server_refuses(struct kunit *test)
{
	struct rpcrdma_device_caps caps = size_siw;

	KUNIT_EXPECT_EQ(test, size_server(&caps, 0, 4096), -EINVAL);
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), 0);
	caps.dc_frwr = false;
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), -EOPNOTSUPP);
	caps = size_siw;
	caps.dc_max_mr_pages = 0;
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), -EOPNOTSUPP);
	/* On a device that is not iWARP, RDMA Reads need no region */
	caps.dc_iwarp = false;
	caps.dc_frwr = false;
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), 0);
	/* RDMA Reads to 16 regions take 48 entries of the send queue. The drain marker and the
	 * keepalive's probe take two more.
	 */
	caps = size_siw;
	caps.dc_max_send_sge = 16;
	caps.dc_max_qp_wr = 49;
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), -EOPNOTSUPP);
	caps.dc_max_qp_wr = 50;
	KUNIT_EXPECT_EQ(test, size_server(&caps, 1, 4096), 0);
}

/* The completion queues have an entry for each entry of the send queue and of the receive queue. If
 * the sum of these entries would exceed dc_max_cqe, the send queue becomes shorter. If the sum
 * would exceed dc_max_cqe even with the shortest possible send queue, there are fewer requests.
 */
static void size_server_cqe(struct kunit *test)
{
	static const struct rpcrdma_device_caps *const all[] = {
		&size_rxe, &size_siw, &size_mlx5,
	};
	struct rpcrdma_device_caps caps;
	struct rpcrdma_server_sizes sizes;
	u32 i, cqe, smallest, before;
	int ret;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		caps = *all[i];
		/* Compute the smallest dc_max_cqe that is enough. For one request, the send queue
		 * needs these entries
		 */
		smallest = 1 + 2 + 2 + 16 + DIV_ROUND_UP(257,
							 caps.dc_max_send_sge);
		/* RDMA Reads to 16 regions take three entries for each region */
		if (caps.dc_read_mrs)
			smallest = max(smallest, 2u + 3 * 16);
		smallest += 1 + 2 + 11;
		before = 0;
		for (cqe = smallest - 2; cqe < 1000; cqe++) {
			caps.dc_max_cqe = cqe;
			ret = rpcrdma_size_server(&caps, 128, 2, MIB, 4096,
						  &sizes);
			KUNIT_EXPECT_EQ(test, ret,
					cqe < smallest ? -EOPNOTSUPP : 0);
			if (ret)
				continue;
			size_check_server(test, &caps, 128, 2, &sizes);
			KUNIT_EXPECT_GE(test, sizes.sz_requests, before);
			before = sizes.sz_requests;
		}
		KUNIT_EXPECT_EQ(test, before, 128);
	}
}

static struct kunit_case size_kunit_cases[] = {
	KUNIT_CASE(size_mrs_counts_pages),
	KUNIT_CASE(size_registers_pages),
	KUNIT_CASE(size_recvs_keep_promises),
	KUNIT_CASE(size_credits_have_receives),
	KUNIT_CASE(size_recvs_fit_the_budget),
	KUNIT_CASE(size_targets_fill_pages),
	KUNIT_CASE_PARAM(size_client_examples, size_client_gen_params),
	KUNIT_CASE(size_client_grid),
	KUNIT_CASE(size_client_refuses),
	KUNIT_CASE(size_client_payloads),
	KUNIT_CASE(size_large_pages),
	KUNIT_CASE(size_client_spares),
	KUNIT_CASE(size_edges),
	KUNIT_CASE_PARAM(size_server_examples, size_server_gen_params),
	KUNIT_CASE(size_server_grid),
	KUNIT_CASE(size_server_refuses),
	KUNIT_CASE(size_server_cqe),
	{}
};

static struct kunit_suite rpcrdma_size_suite = {
	.name = "rpcrdma_size",
	.test_cases = size_kunit_cases,
};

kunit_test_suite(rpcrdma_size_suite);
