// SPDX-License-Identifier: GPL-2.0
/*
 * The choice: does the data item of a Call go by Sends, in the form of the round-trip
 * extension, or does the server fetch it by RDMA Read?
 *
 * Sends save a round trip, a second wakeup of a server thread, registration and invalidation.
 * But each transmission (Send of the Call) beyond the first has a cost. So each connection has a
 * size of item up to which Sends are better. Unless the administrator sets this size, it depends
 * only on the round trip and on the limits of the two ends. It is computed when the round trip or a
 * limit changes, so each Call needs only one comparison.
 *
 * The cost of a further transmission is counted in full, as if no part of it overlapped with
 * other work. Either the work or the time that Sends save must outweigh the cost of all
 * further transmissions; work and time are not added. The time that a further transmission
 * really adds is at most a fifth of its cost. So Sends take no longer than an RDMA Read even if
 * the real round trip is only a fifth of the estimate. The estimate can be that far off if every
 * answer of the server was slow.
 *
 * If the estimate is %RPCRDMA_CHOICE_FAR or more, the costs are not compared. Normally, even the
 * largest item takes so few transmissions that the further ones add less time than such a round
 * trip takes (rtx.rst 6.1). In the worst case, a group of 256 transmissions, which is the maximum,
 * they add only slightly more.
 *
 * The choice does not depend on credits. If not enough credits are free when the Call is
 * sent, the Call takes base form, which is version 2 without the extension, see
 * rpcrdma_window_take_more(). The choice does not depend on the exact number of
 * transmissions either, which rpcrdma_group_call() computes.
 *
 * See RTX-95, RTX-96 of rtx.rst; T-40.
 */

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/choice.h>
#include <rpcrdma/layout.h>

#define RPCRDMA_CHOICE_PAGE	4096u
#define RPCRDMA_CHOICE_NSECS	1000u	/* in a microsecond */

/* The figures of rtx.rst 6.1, with one nanosecond for one instruction. (rtx.rst calls cc_more c,
 * cc_saved F, cc_wake w, and cc_register g.) cc_more is the work for a further transmission: 5000
 * instructions. The time that the transmission really adds is less. cc_saved is about what a Send
 * saved on siw when it replaced an RDMA Read. cc_wake and cc_register are the lowest estimates of
 * rtx.rst.
 */
const struct rpcrdma_choice_costs rpcrdma_choice_costs = {
	.cc_more	= 5000,
	.cc_copy	= 1000,
	.cc_saved	= 30000,
	.cc_wake	= 5000,
	.cc_register	= 1000,
};
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_choice_costs);

/* Returns how many bytes of a placed item each transmission carries: those that fill target
 * segments of the peer's Receive (rtx.h). Returns 0 if the peer has no target segments, or our
 * Sends cannot fill one.
 */
static u32 rpcrdma_choice_placed(const struct rpcrdma_choice *choice)
{
	static const struct rpcrdma2_item any = {
		.im_length = RPCRDMA_CHOICE_MOST,
	};
	struct rpcrdma_layout layout = { .ly_limit = choice->ch_send };

	rpcrdma_layout_place(&layout, choice->ch_peer, choice->ch_segs, &any, 1);
	return layout.ly_part;
}

/* Returns the length in bytes of the largest item whose transmissions beyond the first cost no more
 * than @gain nanoseconds together. Each transmission carries @part bytes, and each one beyond the
 * first costs @cost nanoseconds. The item must also fit the largest group.
 */
static u64 rpcrdma_choice_worth(u64 gain, u64 cost, u32 part)
{
	u32 each = min_t(u64, max_t(u64, cost, 1), U32_MAX);

	return min_t(u64, div_u64(gain, each) + 1, RPCRDMA2_RTX_MAX_COUNT) *
	       part;
}

/* Returns the length in bytes of the largest item for which Sends are better. The caller
 * applies the limits of the peer.
 */
static u64 rpcrdma_choice_best(const struct rpcrdma_choice *choice, u32 part,
			       bool placed)
{
	const struct rpcrdma_choice_costs *costs = choice->ch_costs;
	u64 cost = costs->cc_more, gain, near;

	if (choice->ch_rtt >= RPCRDMA_CHOICE_FAR)
		return RPCRDMA_CHOICE_MOST;
	if (!placed)
		cost += (u64)part * costs->cc_copy / RPCRDMA_CHOICE_PAGE;
	near = min_t(u64, rpcrdma_choice_worth(costs->cc_saved, cost, part),
		     placed ? RPCRDMA_CHOICE_PLACED :
			      RPCRDMA_CHOICE_CONTINUED);
	gain = (u64)choice->ch_rtt * RPCRDMA_CHOICE_NSECS + costs->cc_wake +
	       costs->cc_register;
	return min_t(u64, max(near, rpcrdma_choice_worth(gain, cost, part)),
		     RPCRDMA_CHOICE_MOST);
}

/**
 * rpcrdma_choice_limit - compute the size up to which items go by Sends
 * @choice: what the size depends on
 *
 * Call this when the round trip or the limits have changed, not for each Call.
 *
 * Context: any.
 * Return: length in bytes of the largest item that goes by Sends; 0 if none does, because the peer
 *	accepts no groups.
 */
u32 rpcrdma_choice_limit(const struct rpcrdma_choice *choice)
{
	const struct rpcrdma2_rtx *peer = choice->ch_peer;
	u32 part = rpcrdma_choice_placed(choice);
	bool placed = part;
	u64 best = choice->ch_fixed;

	/* An item that is not placed stays in the payload stream. The first transmission carries
	 * less of it than the others, because its header is longer.
	 */
	if (!placed)
		part = choice->ch_send - min(choice->ch_send,
					     RPCRDMA2_RTX_NEXT_LEN);
	if (!best)
		best = rpcrdma_choice_best(choice, part, placed);
	best = min_t(u64, best, peer->xp_msg_max);
	return min_t(u64, best, (u64)part * peer->xp_call_max);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_choice_limit);
