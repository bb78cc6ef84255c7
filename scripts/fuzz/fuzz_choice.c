// SPDX-License-Identifier: GPL-2.0
/* The choice of the items that the client sends in groups; see rtx.h for these terms */

#include <linux/limits.h>
#include <linux/types.h>

#include <rpcrdma/group.h>
#include <rpcrdma/plan.h>

#include "fuzz.h"

/* Target choice: the length up to which items are sent in groups, for any peer. A longer round trip
 * never lowers this length.
 */
void fuzz_choice(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma2_rtx peer = {
		.xp_call_max = fuzz_num(&in) % 257, .xp_msg_max = fuzz_num(&in),
		.xp_nsegs = fuzz_u8(&in) % 128,
	};
	u32 rtt = fuzz_num(&in), send = fuzz_num(&in), fixed, limit, other;

	if (peer.xp_nsegs) {
		peer.xp_head = 256 + fuzz_num(&in) % 16320 * 4;
		peer.xp_seg = 512u << fuzz_u8(&in) % 8;
	}
	limit = rpcrdma_plan_write_max(&peer, send, rtt, 0);
	CHECK(limit <= RPCRDMA_PLAN_MOST && limit <= peer.xp_msg_max);
	CHECK(limit <= (u64)peer.xp_call_max * send);
	if (rtt >= RPCRDMA_PLAN_FAR && send >= 8192 && !peer.xp_nsegs &&
	    peer.xp_call_max == 256 && peer.xp_msg_max >= RPCRDMA_PLAN_MOST)
		CHECK(limit == RPCRDMA_PLAN_MOST);
	other = fuzz_num(&in);
	if (other >= rtt)
		CHECK(rpcrdma_plan_write_max(&peer, send, other, 0) >= limit);
	fixed = fuzz_num(&in) | 1;
	other = rpcrdma_plan_write_max(&peer, send, rtt, fixed);
	CHECK(other <= fixed && other <= peer.xp_msg_max);
	CHECK(other <= (u64)peer.xp_call_max * send);
}
