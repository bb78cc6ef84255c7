// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/choice.c, which computes the limit: the size up to which the item of a
 * Call (its DDP-eligible data) goes by Sends, and not by RDMA Read. The expected limits follow from
 * the figures in rtx.rst 6, from T-40 in decisions.rst, and from the number of transmissions (Sends
 * of one message) that core/layout.c counts.
 */

#include <linux/limits.h>
#include <linux/minmax.h>

#include <rpcrdma/choice.h>
#include <rpcrdma/group.h>
#include <rpcrdma/layout.h>

#include "rpcrdma_kunit.h"

#define RPCRDMA_CHOICE_STREAM	120u	/* bytes of a WRITE without its data */

/* The property RTX of several servers (rtx.h). The Receives of the first server have no target
 * segments. Those of the others have 1024 bytes for header and stream, and then 1, 3, 7 or 5 target
 * segments.
 */
static const struct rpcrdma2_rtx rpcrdma_choice_peers[] = {
	{
		.xp_call_max = 256, .xp_msg_max = 1052672,
	}, {
		.xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
		.xp_seg = 4096, .xp_nsegs = 1,
	}, {
		.xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
		.xp_seg = 4096, .xp_nsegs = 3,
	}, {
		.xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
		.xp_seg = 4096, .xp_nsegs = 7,
	}, {
		.xp_call_max = 256, .xp_msg_max = 1052672, .xp_head = 1024,
		.xp_seg = 4096, .xp_nsegs = 5,
	},
};

/* Round trips in microseconds: values near which the limit may change, and a few larger ones */
static const u32 rpcrdma_choice_rtts[] = {
	1, 2, 3, 5, 8, 10, 11, 13, 14, 15, 18, 19, 20, 24, 25, 30, 38, 39, 40,
	49, 50, 51, 75, 99, 100, 101, 150, 198, 199, 200, 201, 250, 300, 500,
	999, 1000, 2000, 5000, 9999, 10000,
};

/* Fill in @choice for a server with the properties @peer. The longest Send just fills the head
 * and the targets of the server's Receive. If there are no targets, the longest Send has 16384
 * bytes.
 */
static void rpcrdma_choice_with(struct rpcrdma_choice *choice,
				const struct rpcrdma2_rtx *peer, u32 rtt)
{
	static const struct rpcrdma_choice usual = {
		.ch_segs = 16, .ch_costs = &rpcrdma_choice_costs,
	};

	*choice = usual;
	choice->ch_rtt = rtt;
	choice->ch_peer = peer;
	choice->ch_send = peer->xp_nsegs ?
			  peer->xp_head + peer->xp_seg * peer->xp_nsegs : 16384;
}

static u32 rpcrdma_choice_at(const struct rpcrdma2_rtx *peer, u32 rtt)
{
	struct rpcrdma_choice choice;

	rpcrdma_choice_with(&choice, peer, rtt);
	return rpcrdma_choice_limit(&choice);
}

/* Returns how many transmissions a WRITE of @size takes; 0 if it cannot be a group. */
static u32 rpcrdma_choice_count(const struct rpcrdma2_rtx *peer, u32 size)
{
	struct rpcrdma2_item item = { .im_position = 120, .im_length = size };
	struct rpcrdma_layout layout = {
		.ly_hdr = RPCRDMA2_RTX_MSG_MIN, .ly_limit = 16384,
		.ly_stream = RPCRDMA_CHOICE_STREAM + size,
	};

	if (peer->xp_nsegs) {
		layout.ly_hdr += RPCRDMA2_RTX_ITEM_LEN;
		layout.ly_limit = peer->xp_head + peer->xp_seg * peer->xp_nsegs;
		layout.ly_stream = RPCRDMA_CHOICE_STREAM;
		rpcrdma_layout_place(&layout, peer, 16, &item, 1);
	}
	return rpcrdma_group_call(&layout, peer);
}

/* Returns the size to try after @size. The tests try sizes up to 64, and the multiples of 4096
 * with their neighbours.
 */
static u32 rpcrdma_choice_next_size(u32 size)
{
	if (size % 4096 < 1 || size % 4096 == 4095)
		return size + 1;
	return size < 64 ? size + 1 : size - size % 4096 + 4095;
}

/* If the round trip takes 200 us or more, every WRITE of up to 1 MB to one of these servers goes by
 * Sends.
 */
/* Covers: RTX-25 RTX-26 RTX-96 T-40 */
static void rpcrdma_choice_long_way(struct kunit *test)
{
	u32 i, rtt, size;

	for (i = 0; i < ARRAY_SIZE(rpcrdma_choice_peers); i++) {
		const struct rpcrdma2_rtx *peer = &rpcrdma_choice_peers[i];

		for (rtt = 200; rtt <= 10000; rtt++)
			KUNIT_EXPECT_EQ(test, rpcrdma_choice_at(peer, rtt),
					1048576);
		for (size = 1; size <= 1048576;
		     size = rpcrdma_choice_next_size(size))
			KUNIT_EXPECT_NE(test, rpcrdma_choice_count(peer, size),
					0);
	}
}

/* With a round trip of up to 10 us, a WRITE goes by Sends only if its transmissions after the first
 * cost no more than Sends save, both in time and in instructions. Each such transmission costs 5000
 * instructions, and adds at most 1 us (rtx.rst 6.1). Sends save 30000 instructions, the round trip,
 * and 6 us more.
 */
/* Covers: RTX-25 RTX-95 T-40 */
static void rpcrdma_choice_short_way(struct kunit *test)
{
	u32 i, rtt, size, limit, n;

	for (i = 0; i < ARRAY_SIZE(rpcrdma_choice_peers); i++) {
		const struct rpcrdma2_rtx *peer = &rpcrdma_choice_peers[i];

		for (rtt = 0; rtt <= 10; rtt++) {
			limit = rpcrdma_choice_at(peer, rtt);
			KUNIT_EXPECT_LE(test, limit,
					peer->xp_nsegs ? 131072 : 2 * 16348);
			for (size = 1; size <= limit;
			     size = rpcrdma_choice_next_size(size)) {
				n = rpcrdma_choice_count(peer, size);
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
static void rpcrdma_choice_pays(struct kunit *test)
{
	u32 i, r, size, limit, n, gain;

	for (i = 1; i < ARRAY_SIZE(rpcrdma_choice_peers); i++) {
		const struct rpcrdma2_rtx *peer = &rpcrdma_choice_peers[i];

		for (r = 0; rpcrdma_choice_rtts[r] < 200; r++) {
			gain = max(30000u, rpcrdma_choice_rtts[r] * 1000 + 6000);
			limit = rpcrdma_choice_at(peer, rpcrdma_choice_rtts[r]);
			for (size = 1; size <= 1048576;
			     size = rpcrdma_choice_next_size(size)) {
				n = rpcrdma_choice_count(peer, size);
				if (size <= limit)
					KUNIT_EXPECT_LE(test, (n - 1) * 5000,
							gain);
				/* Above the limit, the time saved does not outweigh the cost. */
				else
					KUNIT_EXPECT_GT(test, (n - 1) * 5000,
							rpcrdma_choice_rtts[r] *
							1000 + 6000);
			}
		}
	}
}

/* If the round trip takes @near us or less, an item of @size bytes goes by RDMA Read, unless @near
 * is 0. If the round trip takes @far us or more, the item goes by Sends. In between, the test
 * accepts both.
 */
struct rpcrdma_choice_case {
	const char	*desc;
	u32		size;
	u32		near;
	u32		far;
};

/* @size and @far are from the table of rtx.rst 6.2, for seven target segments in each transmission.
 * @near is not in this table.
 */
static const struct rpcrdma_choice_case rpcrdma_choice_cases[] = {
	{ "8K", 8192, 0, 0 },
	{ "16K", 16384, 0, 0 },
	{ "32K", 32768, 0, 0 },
	{ "64K", 65536, 0, 0 },
	{ "128K", 131072, 0, 0 },
	{ "256K above 50 us", 262144, 30, 51 },
	{ "512K above 100 us", 524288, 80, 101 },
	{ "1M above 200 us", 1048576, 160, 201 },
};

KUNIT_ARRAY_PARAM_DESC(rpcrdma_choice, rpcrdma_choice_cases, desc);

/* Covers: RTX-25 RTX-95 RTX-96 */
static void rpcrdma_choice_table(struct kunit *test)
{
	const struct rpcrdma2_rtx *peer = &rpcrdma_choice_peers[3];
	const struct rpcrdma_choice_case *param = test->param_value;
	u32 rtt;

	for (rtt = 0; rtt <= 10000; rtt++) {
		if (rtt >= param->far)
			KUNIT_EXPECT_LE(test, param->size,
					rpcrdma_choice_at(peer, rtt));
		else if (rtt <= param->near)
			KUNIT_EXPECT_GT(test, param->size,
					rpcrdma_choice_at(peer, rtt));
	}
}

/* If there are no target segments, the item is copied at both ends. The limit takes the cost of
 * these copies into account.
 */
/* Covers: RTX-95 */
static void rpcrdma_choice_without_targets(struct kunit *test)
{
	const struct rpcrdma2_rtx *none = &rpcrdma_choice_peers[0];
	struct rpcrdma_choice choice;

	/* The work that Sends save is a reason for Sends only up to 16384 bytes (T-40 in
	 * decisions.rst).
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_at(none, 0), 16384);
	/* With a round trip of 10 us, the time that Sends save pays for a second Send of 32768
	 * bytes. With 2 us it does not, so the limit is what one Send carries.
	 */
	rpcrdma_choice_with(&choice, none, 10);
	choice.ch_send = 32768;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 2 * 32732);
	choice.ch_rtt = 2;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 32732);
	/* If Sends have 2048 bytes, the work that is saved pays for five further Sends. */
	choice.ch_send = 2048;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 6 * 2012);
	/* Sends save a round trip of 31 us, 5 us to wake a thread, and 1 us to register
	 * memory. These 37 us pay for six further transmissions, or for seven without a copy.
	 */
	choice.ch_rtt = 31;
	choice.ch_send = 4096;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 7 * 4060);
	/* If our Sends are too short to fill a target segment, the limit is the same as
	 * without targets.
	 */
	choice.ch_peer = &rpcrdma_choice_peers[1];
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 7 * 4060);
	choice.ch_send = 1024 + 4096;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 8 * 4096);
	choice.ch_segs = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 6 * 5084);
}

/* The limit is smaller if a Send cannot fill all target segments of a Receive, because ch_segs is
 * too small, or because the Send is too short (ch_send).
 */
static void rpcrdma_choice_few_segments(struct kunit *test)
{
	struct rpcrdma_choice choice;
	u32 segs;

	rpcrdma_choice_with(&choice, &rpcrdma_choice_peers[3], 49);
	for (segs = 1; segs <= 20; segs++) {
		choice.ch_segs = segs;
		KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice),
				12 * 4096 * min(segs, 7u));
	}
	choice.ch_send = 1024 + 6 * 4096 - 1;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 12 * 4096 * 5);
}

/* If the round trip is longer, or Sends save more, the limit is never smaller. If Sends cost
 * more, the limit is never larger.
 */
static void rpcrdma_choice_is_monotonic(struct kunit *test)
{
	struct rpcrdma_choice_costs costs, more;
	struct rpcrdma_choice choice;
	u32 i, rtt, at, was, c;

	for (i = 0; i < ARRAY_SIZE(rpcrdma_choice_peers); i++) {
		rpcrdma_choice_with(&choice, &rpcrdma_choice_peers[i], 0);
		choice.ch_costs = &costs;
		for (c = 0; c <= 10000; c += 250) {
			costs = rpcrdma_choice_costs;
			costs.cc_more = c;
			was = 0;
			for (rtt = 0; rtt <= 10000;
			     rtt += rtt < 210 ? 1 : 789) {
				choice.ch_rtt = rtt;
				at = rpcrdma_choice_limit(&choice);
				KUNIT_EXPECT_GE(test, at, was);
				was = at;

				choice.ch_costs = &more;
				more = costs;
				more.cc_more += 250;
				KUNIT_EXPECT_LE(test,
						rpcrdma_choice_limit(&choice),
						at);
				more = costs;
				more.cc_copy += 250;
				KUNIT_EXPECT_LE(test,
						rpcrdma_choice_limit(&choice),
						at);
				more = costs;
				more.cc_wake += 250;
				more.cc_register += 250;
				more.cc_saved += 250;
				KUNIT_EXPECT_GE(test,
						rpcrdma_choice_limit(&choice),
						at);
				choice.ch_costs = &costs;
			}
		}
	}
}

/* The limit takes costs into account exactly: where it changes, a change of a cost by 1 ns is
 * enough. This test does not change cc_copy, which does not count if the server has target
 * segments.
 */
static void rpcrdma_choice_costs_count(struct kunit *test)
{
	struct rpcrdma_choice_costs costs = rpcrdma_choice_costs;
	struct rpcrdma_choice choice;

	rpcrdma_choice_with(&choice, &rpcrdma_choice_peers[3], 49);
	choice.ch_costs = &costs;
	/* Sends save a round trip of 49 us, 5 us to wake a thread, and 1 us to register
	 * memory. These 55 us pay for eleven further transmissions.
	 */
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 12 * 28672);
	costs.cc_wake = 4999;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 11 * 28672);
	costs.cc_register = 1001;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 12 * 28672);
	costs.cc_more = 5001;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 11 * 28672);
	choice.ch_rtt = 0;
	costs.cc_saved = 20003;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 4 * 28672);
	costs.cc_saved = 20004;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 131072);
}

/* If an administrator has chosen a size (ch_fixed), it is the limit, unless the limits of the
 * peer are lower.
 */
static void rpcrdma_choice_fixed(struct kunit *test)
{
	static const u32 fixed[] = {
		1, 4096, 131072, 262145, 1048576, 1052672,
	};
	struct rpcrdma_choice choice;
	u32 i, r;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		for (r = 0; r < ARRAY_SIZE(rpcrdma_choice_rtts); r++) {
			rpcrdma_choice_with(&choice, &rpcrdma_choice_peers[3],
					    rpcrdma_choice_rtts[r]);
			choice.ch_fixed = fixed[i];
			KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice),
					fixed[i]);
		}
	choice.ch_fixed = U32_MAX;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 1052672);
}

/* The limit never exceeds what the peer accepts, even if the round trip is long, or an
 * administrator has chosen a larger size.
 */
/* Covers: RTX-32 */
static void rpcrdma_choice_peer_limits(struct kunit *test)
{
	static const struct rpcrdma2_rtx none;
	struct rpcrdma2_rtx peer = rpcrdma_choice_peers[3];
	struct rpcrdma_choice choice;

	KUNIT_EXPECT_EQ(test, rpcrdma_choice_at(&none, 10000), 0);
	rpcrdma_choice_with(&choice, &peer, 200);
	peer.xp_call_max = 5;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 5 * 28672);
	choice.ch_fixed = 1048576;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 5 * 28672);
	peer.xp_msg_max = 5 * 28672 - 1;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 5 * 28672 - 1);
	choice.ch_fixed = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 5 * 28672 - 1);
	peer.xp_call_max = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 0);
	/* Nothing can be sent if there is no room behind the header. */
	peer = rpcrdma_choice_peers[0];
	choice.ch_send = RPCRDMA2_RTX_NEXT_LEN;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 0);
	choice.ch_send = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 0);
}

/* With very small and very large costs, sizes and round trips, no sum overflows, and the limit is
 * from 1 byte to 1 MB.
 */
static void rpcrdma_choice_extremes(struct kunit *test)
{
	static const u32 ends[] = { 0, 1, U32_MAX - 1, U32_MAX };
	struct rpcrdma_choice_costs costs;
	struct rpcrdma2_rtx peer;
	struct rpcrdma_choice choice = {
		.ch_peer = &peer, .ch_costs = &costs,
	};
	u32 i, at;

	for (i = 0; i < 1u << 16; i++) {
		peer = rpcrdma_choice_peers[i / 16384 + 1];
		choice.ch_segs = i & 0x4000 ? U32_MAX : 0;
		choice.ch_send = i & 0x2000 ? U32_MAX : 65536;
		choice.ch_rtt = i & 0x1000 ? ends[i % 4] : i % 300;
		costs.cc_more = ends[i % 4];
		costs.cc_copy = ends[i / 4 % 4];
		costs.cc_saved = ends[i / 16 % 4];
		costs.cc_wake = ends[i / 64 % 4];
		costs.cc_register = ends[i / 256 % 4];
		if (i / 1024 % 4 == 0)
			peer.xp_call_max = 1;
		at = rpcrdma_choice_limit(&choice);
		KUNIT_EXPECT_LE(test, at, 1048576);
		KUNIT_EXPECT_GT(test, at, 0);
	}
	/* Sends save much, and further transmissions cost nothing. */
	rpcrdma_choice_with(&choice, &rpcrdma_choice_peers[1], 199);
	choice.ch_costs = &costs;
	costs.cc_more = 0;
	costs.cc_wake = U32_MAX;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 1048576);
	/* Sends save very little, and further transmissions cost very little. */
	choice.ch_rtt = 0;
	costs.cc_more = 1;
	costs.cc_wake = 9;
	costs.cc_saved = 8;
	costs.cc_register = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 10 * 4096);
	/* If further transmissions cost too much, the limit is what one transmission holds. */
	costs.cc_more = U32_MAX;
	costs.cc_wake = 0;
	costs.cc_saved = U32_MAX - 1;
	KUNIT_EXPECT_EQ(test, rpcrdma_choice_limit(&choice), 4096);
}

static struct kunit_case rpcrdma_choice_kunit_cases[] = {
	KUNIT_CASE(rpcrdma_choice_long_way),
	KUNIT_CASE(rpcrdma_choice_short_way),
	KUNIT_CASE(rpcrdma_choice_pays),
	KUNIT_CASE_PARAM(rpcrdma_choice_table, rpcrdma_choice_gen_params),
	KUNIT_CASE(rpcrdma_choice_without_targets),
	KUNIT_CASE(rpcrdma_choice_few_segments),
	KUNIT_CASE(rpcrdma_choice_is_monotonic),
	KUNIT_CASE(rpcrdma_choice_costs_count),
	KUNIT_CASE(rpcrdma_choice_fixed),
	KUNIT_CASE(rpcrdma_choice_peer_limits),
	KUNIT_CASE(rpcrdma_choice_extremes),
	{}
};

static struct kunit_suite rpcrdma_choice_suite = {
	.name = "rpcrdma_choice",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_choice_kunit_cases,
};

kunit_test_suite(rpcrdma_choice_suite);
