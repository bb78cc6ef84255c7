// SPDX-License-Identifier: GPL-2.0
/* The estimate of the round trip, and the choice of the items that the client sends in groups; see
 * rtx.h for these terms
 */

#include <linux/limits.h>
#include <linux/types.h>

#include <rpcrdma/choice.h>
#include <rpcrdma/group.h>
#include <rpcrdma/rtt.h>

#include "fuzz.h"

/* Target rtt: the estimate of the round trip, after probes and Replies that took any time */
void fuzz_rtt(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_rtt rtt = { };
	u32 was, kind, probes = 0;
	u64 us;

	while (in.fi_left) {
		kind = fuzz_u8(&in) % 4;
		us = fuzz_num(&in);
		if (kind == 3)
			us = us << 32 | fuzz_num(&in);
		was = rtt.rt_us;
		if (kind == 0) {
			probes++;
			rpcrdma_rtt_probed(&rtt, us);
			CHECK(!was || rtt.rt_us <= 2ull * was);
			CHECK(rpcrdma_rtt_asks(&rtt, us));
		} else {
			rpcrdma_rtt_heard(&rtt, us);
			CHECK(!was || rtt.rt_us <= was);
			CHECK(!rpcrdma_rtt_asks(&rtt, rtt.rt_ask));
		}
		CHECK(rtt.rt_us && rtt.rt_us <= RPCRDMA_RTT_MAX);
		CHECK(rtt.rt_us >= was || rtt.rt_us == us || !us);
		CHECK(rtt.rt_us <= was || !was || probes >= RPCRDMA_RTT_PROBES);
		CHECK(rtt.rt_longer < RPCRDMA_RTT_PROBES);
	}
}

/* Target choice: the length up to which items are sent in groups, for any peer and any
 * costs. A longer round trip never lowers this length.
 */
void fuzz_choice(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma2_rtx peer = {
		.xp_call_max = fuzz_num(&in) % 257, .xp_msg_max = fuzz_num(&in),
		.xp_nsegs = fuzz_u8(&in) % 128,
	};
	struct rpcrdma_choice_costs costs = {
		.cc_more = fuzz_num(&in), .cc_copy = fuzz_num(&in),
		.cc_saved = fuzz_num(&in), .cc_wake = fuzz_num(&in),
		.cc_register = fuzz_num(&in),
	};
	struct rpcrdma_choice choice = {
		.ch_rtt = fuzz_num(&in), .ch_send = fuzz_num(&in),
		.ch_segs = fuzz_num(&in), .ch_peer = &peer,
		.ch_costs = fuzz_u8(&in) ? &rpcrdma_choice_costs : &costs,
	};
	u64 part = choice.ch_send;
	u32 limit, other;

	if (peer.xp_nsegs) {
		peer.xp_head = 256 + fuzz_num(&in) % 16320 * 4;
		peer.xp_seg = 512u << fuzz_u8(&in) % 8;
	}
	limit = rpcrdma_choice_limit(&choice);
	CHECK(limit <= RPCRDMA_CHOICE_MOST && limit <= peer.xp_msg_max);
	CHECK(limit <= peer.xp_call_max * part);
	if (choice.ch_rtt >= RPCRDMA_CHOICE_FAR && part >= 8192 &&
	    !peer.xp_nsegs && peer.xp_call_max == 256 &&
	    peer.xp_msg_max >= RPCRDMA_CHOICE_MOST)
		CHECK(limit == RPCRDMA_CHOICE_MOST);
	other = choice.ch_rtt;
	choice.ch_rtt = fuzz_num(&in);
	if (choice.ch_rtt >= other)
		CHECK(rpcrdma_choice_limit(&choice) >= limit);
	choice.ch_fixed = fuzz_num(&in) | 1;
	other = rpcrdma_choice_limit(&choice);
	CHECK(other <= choice.ch_fixed && other <= peer.xp_msg_max);
	CHECK(other <= peer.xp_call_max * part);
}
