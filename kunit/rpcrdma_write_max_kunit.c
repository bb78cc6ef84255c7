// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of rpcrdma_plan_write_max(), which computes the limit: the size up to which the item
 * of a Call (its DDP-eligible data) goes by Sends, and not by RDMA Read. The expected limits follow
 * from the figures in rtx.rst 6, from T-40 in decisions.rst, and from the number of transmissions
 * (Sends of one message) that core/group.c counts.
 */

#include <linux/limits.h>
#include <linux/minmax.h>

#include <rpcrdma/group.h>
#include <rpcrdma/plan.h>

#include "rpcrdma_kunit.h"

#define CHOICE_STREAM	120u	/* bytes of a WRITE without its data */

/* The property RTX of several servers (rtx.h). The Receives of the first server have no target
 * segments. Those of the others have 1024 bytes for header and stream, and then 1, 3, 7 or 5 target
 * segments.
 */
static const struct rpcrdma2_rtx write_max_peers[] = {
	{ .xp_call_max = 256, .xp_msg_max = 1052672 },
	{ .xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
	  .xp_seg = 4096, .xp_nsegs = 1 },
	{ .xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
	  .xp_seg = 4096, .xp_nsegs = 3 },
	{ .xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
	  .xp_seg = 4096, .xp_nsegs = 7 },
	{ .xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
	  .xp_seg = 4096, .xp_nsegs = 5 },
};

/* Round trips in microseconds: values near which the limit may change, and a few larger ones */
static const u32 write_max_rtts[] = {
	1, 2, 3, 5, 8, 10, 11, 13, 14, 15, 18, 19, 20, 24, 25, 30, 38, 39, 40,
	49, 50, 51, 75, 99, 100, 101, 150, 198, 199, 200, 201, 250, 300, 500,
	999, 1000, 2000, 5000, 9999, 10000,
};

/* Returns the longest Send, which just fills the head and the targets of the server's Receive. If
 * there are no targets, it has 16384 bytes.
 */
static u32 write_max_send(const struct rpcrdma2_rtx *peer)
{
	return peer->xp_nsegs ? peer->xp_head + peer->xp_seg * peer->xp_nsegs :
		16384;
}

static u32 write_max_at(const struct rpcrdma2_rtx *peer, u32 rtt)
{
	return rpcrdma_plan_write_max(peer, write_max_send(peer), rtt, 0);
}

/* Returns how many transmissions a WRITE of @size takes; 0 if it cannot be a group. */
static u32 write_max_count(const struct rpcrdma2_rtx *peer, u32 size)
{
	struct rpcrdma_layout layout = {
		.ly_hdr = RPCRDMA2_RTX_MSG_MIN, .ly_limit = 16384,
		.ly_stream = CHOICE_STREAM + size,
	};

	if (peer->xp_nsegs) {
		layout.ly_hdr += RPCRDMA2_RTX_ITEM_LEN;
		layout.ly_limit = peer->xp_head + peer->xp_seg * peer->xp_nsegs;
		layout.ly_stream = CHOICE_STREAM;
		rpcrdma_layout_place(&layout, peer, 16, size);
	}
	return rpcrdma_group_call(&layout, peer);
}

/* Returns the size to try after @size. The tests try sizes up to 64, and the multiples of 4096 with
 * their neighbours.
 */
static u32 write_max_next_size(u32 size)
{
	if (size % 4096 < 1 || size % 4096 == 4095)
		return size + 1;
	return size < 64 ? size + 1 : size - size % 4096 + 4095;
}

/* If the round trip takes 200 us or more, every WRITE of up to 1 MB to one of these servers goes by
 * Sends.
 */
/* Covers: RTX-25 RTX-26 RTX-96 T-40 */
static void write_max_long_way(struct kunit *test)
{
	u32 i, rtt, size;

	for (i = 0; i < ARRAY_SIZE(write_max_peers); i++) {
		const struct rpcrdma2_rtx *peer = &write_max_peers[i];

		for (rtt = 200; rtt <= 10000; rtt++)
			KUNIT_EXPECT_EQ(test, write_max_at(peer, rtt), 1048576);
		for (size = 1; size <= 1048576; size =
		     write_max_next_size(size))
			KUNIT_EXPECT_NE(test, write_max_count(peer, size), 0);
	}
}

/* With a round trip of up to 10 us, a WRITE goes by Sends only if its transmissions after the first
 * cost no more than Sends save, both in time and in instructions. Each such transmission costs 5000
 * instructions, and adds at most 1 us (rtx.rst 6.1). Sends save 30000 instructions, the round trip,
 * and 6 us more.
 */
/* Covers: RTX-25 RTX-95 T-40 */
static void write_max_short_way(struct kunit *test)
{
	u32 i, rtt, size, limit, n;

	for (i = 0; i < ARRAY_SIZE(write_max_peers); i++) {
		const struct rpcrdma2_rtx *peer = &write_max_peers[i];

		for (rtt = 0; rtt <= 10; rtt++) {
			limit = write_max_at(peer, rtt);
			KUNIT_EXPECT_LE(test, limit,
					peer->xp_nsegs ? 131072 : 2 * 16348);
			for (size = 1; size <= limit; size =
			     write_max_next_size(size)) {
				n = write_max_count(peer, size);
				KUNIT_ASSERT_GT(test, n, 0);
				KUNIT_EXPECT_LE(test, (n - 1) * 1000,
						rtt * 1000 + 6000);
				KUNIT_EXPECT_LE(test, (n - 1) * 5000, 30000);
			}
		}
	}
}

/* The server has targets, and the round trip takes less than 200 us. For an item up to the limit,
 * Sends save at least as much work or time as the transmissions after the first cost.
 */
static void write_max_pays(struct kunit *test)
{
	u32 i, r, size, limit, n, gain;

	for (i = 1; i < ARRAY_SIZE(write_max_peers); i++) {
		const struct rpcrdma2_rtx *peer = &write_max_peers[i];

		for (r = 0; write_max_rtts[r] < 200; r++) {
			gain = max(30000u, write_max_rtts[r] * 1000 + 6000);
			limit = write_max_at(peer, write_max_rtts[r]);
			for (size = 1; size <= 1048576; size =
			     write_max_next_size(size)) {
				n = write_max_count(peer, size);
				if (size <= limit)
					KUNIT_EXPECT_LE(test, (n - 1) * 5000,
							gain);
				/* Above the limit, the time saved does not outweigh the cost,
				 * unless it is less than the work saved.
				 */
				else if (write_max_rtts[r] > 24)
					KUNIT_EXPECT_GT(test, (n - 1) * 5000,
							write_max_rtts[r] *
							1000 + 6000);
			}
		}
	}
}

/* If the round trip takes @near us or less, an item of @size bytes goes by RDMA Read, unless @near
 * is 0. If the round trip takes @far us or more, the item goes by Sends. In between, the test
 * accepts both.
 */
struct write_max_case {
	const char	*desc;
	u32		size, near, far;
};

/* @size and @far are from the table of rtx.rst 6.2, for seven target segments in each transmission.
 * @near is not in this table.
 */
static const struct write_max_case write_max_cases[] = {
	{ "8K", 8192, 0, 0 },
	{ "16K", 16384, 0, 0 },
	{ "32K", 32768, 0, 0 },
	{ "64K", 65536, 0, 0 },
	{ "128K", 131072, 0, 0 },
	{ "256K above 50 us", 262144, 30, 51 },
	{ "512K above 100 us", 524288, 80, 101 },
	{ "1M above 200 us", 1048576, 160, 201 },
};

KUNIT_ARRAY_PARAM_DESC(write_max, write_max_cases, desc);

/* Covers: RTX-25 RTX-95 RTX-96 */
static void write_max_table(struct kunit *test)
{
	const struct rpcrdma2_rtx *peer = &write_max_peers[3];
	const struct write_max_case *param = test->param_value;
	u32 rtt;

	for (rtt = 0; rtt <= 10000; rtt++) {
		if (rtt >= param->far)
			KUNIT_EXPECT_LE(test, param->size,
					write_max_at(peer, rtt));
		else if (rtt <= param->near)
			KUNIT_EXPECT_GT(test, param->size,
					write_max_at(peer, rtt));
	}
}

/* If there are no target segments, the item is copied at both ends. The limit takes the cost of
 * these copies into account.
 */
/* Covers: RTX-95 */
static void write_max_without_targets(struct kunit *test)
{
	const struct rpcrdma2_rtx *none = &write_max_peers[0];
	const struct rpcrdma2_rtx *one = &write_max_peers[1];

	/* The work that Sends save is a reason for Sends only up to 16384 bytes (T-40 in
	 * decisions.rst).
	 */
	KUNIT_EXPECT_EQ(test, write_max_at(none, 0), 16384);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(none, 32768, 24, 0),
			16384);
	/* With a round trip of 25 us, the time that Sends save is more than this work. It pays for
	 * two further Sends of 32768 bytes, each of which costs 5 us, and 7 us to copy the data.
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(none, 32768, 25, 0),
			3 * 32732);
	/* If Sends have 2048 bytes, the work that is saved pays for six further Sends. */
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(none, 2048, 2, 0),
			7 * 2012);
	/* If our Sends are too short to fill a target segment, the limit is the same as without
	 * targets.
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(none, 4096, 31, 0),
			8 * 4060);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(one, 4096, 31, 0),
			8 * 4060);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(one, 1024 + 4096, 31, 0),
			8 * 4096);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(one, 1024 + 4095, 31, 0),
			7 * 5083);
}

/* If the round trip is longer, the limit is never smaller. It is from 1 byte to 1 MB. */
static void write_max_is_monotonic(struct kunit *test)
{
	static const u32 sends[] = { 37, 5120, 65536, U32_MAX };
	u32 i, j, rtt, at, was;

	for (i = 0; i < ARRAY_SIZE(write_max_peers); i++)
		for (j = 0; j < ARRAY_SIZE(sends); j++)
			for (was = 1, rtt = 0; rtt <= 10000; rtt++, was = at) {
				at = rpcrdma_plan_write_max(&write_max_peers[i],
							    sends[j], rtt, 0);
				KUNIT_EXPECT_GE(test, at, was);
				KUNIT_EXPECT_LE(test, at, 1048576);
			}
	KUNIT_EXPECT_EQ(test, write_max_at(&write_max_peers[0], U32_MAX),
			1048576);
}

/* The limit changes at these round trips, for seven target segments in each transmission. A round
 * trip of 49 us, 5 us to wake a thread, and 1 us to register memory pay for eleven further
 * transmissions.
 */
static void write_max_steps(struct kunit *test)
{
	const struct rpcrdma2_rtx *peer = &write_max_peers[3];

	KUNIT_EXPECT_EQ(test, write_max_at(peer, 0), 131072);
	KUNIT_EXPECT_EQ(test, write_max_at(peer, 24), 131072);
	KUNIT_EXPECT_EQ(test, write_max_at(peer, 25), 7 * 28672);
	KUNIT_EXPECT_EQ(test, write_max_at(peer, 48), 11 * 28672);
	KUNIT_EXPECT_EQ(test, write_max_at(peer, 49), 12 * 28672);
	KUNIT_EXPECT_EQ(test, write_max_at(&write_max_peers[1], 0), 7 * 4096);
	KUNIT_EXPECT_EQ(test, write_max_at(&write_max_peers[1], 199),
			42 * 4096);
}

/* If an administrator has chosen a size, it is the limit, unless the limits of the peer are lower.
 */
static void write_max_fixed(struct kunit *test)
{
	static const u32 fixed[] = {
		1, 4096, 131072, 262145, 1048576, 1052672,
	};
	const struct rpcrdma2_rtx *peer = &write_max_peers[3];
	u32 i, r;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		for (r = 0; r < ARRAY_SIZE(write_max_rtts); r++)
			KUNIT_EXPECT_EQ(test,
					rpcrdma_plan_write_max(peer,
							       write_max_send(peer),
							       write_max_rtts[r],
							       fixed[i]),
					fixed[i]);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(peer, write_max_send(peer),
						     10000, U32_MAX), 1052672);
}

/* The limit never exceeds what the peer accepts, even if the round trip is long, or an
 * administrator has chosen a larger size.
 */
/* Covers: RTX-32 */
static void write_max_peer_limits(struct kunit *test)
{
	static const struct rpcrdma2_rtx none;
	struct rpcrdma2_rtx peer = write_max_peers[3];
	u32 send = write_max_send(&peer);

	KUNIT_EXPECT_EQ(test, write_max_at(&none, 10000), 0);
	peer.xp_call_max = 5;
	KUNIT_EXPECT_EQ(test, write_max_at(&peer, 200), 5 * 28672);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(&peer, send, 200, 1048576),
			5 * 28672);
	peer.xp_msg_max = 5 * 28672 - 1;
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(&peer, send, 200, 1048576),
			5 * 28672 - 1);
	KUNIT_EXPECT_EQ(test, write_max_at(&peer, 200), 5 * 28672 - 1);
	peer.xp_call_max = 0;
	KUNIT_EXPECT_EQ(test, write_max_at(&peer, 200), 0);
	/* Nothing can be sent if there is no room behind the header. */
	peer = write_max_peers[0];
	KUNIT_EXPECT_EQ(test,
			rpcrdma_plan_write_max(&peer, RPCRDMA2_RTX_NEXT_LEN,
					       200, 0), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_plan_write_max(&peer, 0, 200, 0), 0);
}

static struct kunit_case write_max_kunit_cases[] = {
	KUNIT_CASE(write_max_long_way),
	KUNIT_CASE(write_max_short_way),
	KUNIT_CASE(write_max_pays),
	KUNIT_CASE_PARAM(write_max_table, write_max_gen_params),
	KUNIT_CASE(write_max_without_targets),
	KUNIT_CASE(write_max_is_monotonic),
	KUNIT_CASE(write_max_steps),
	KUNIT_CASE(write_max_fixed),
	KUNIT_CASE(write_max_peer_limits),
	{}
};

static struct kunit_suite rpcrdma_write_max_suite = {
	.name = "rpcrdma_write_max",
	.init = fx_init,
	.test_cases = write_max_kunit_cases,
};

kunit_test_suite(rpcrdma_write_max_suite);
