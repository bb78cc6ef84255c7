// SPDX-License-Identifier: GPL-2.0
/* Proofs by induction. A function gets any state that satisfies an invariant, and any arguments. The state after it
 * satisfies the invariant again, so the invariant holds after any number of calls.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <rpcrdma/credit.h>
#include <rpcrdma/group.h>

#include "proof.h"

/* --- groups ---------------------------------------------------------------- */

static bool proof_group_open(const struct rpcrdma_group *group)
{
	return group->gr_number < group->gr_count;
}

/* The invariant of a group. The largest numbers that valid limits allow are 256 transmissions, and 2^32 - 1 bytes of
 * data in each.
 */
static bool proof_group_sound(const struct rpcrdma_group *group)
{
	if (!proof_group_open(group))
		return group->gr_number == group->gr_count;
	return group->gr_number && group->gr_count <= RPCRDMA2_RTX_MAX_COUNT &&
	       group->gr_here >= RPCRDMA2_RTX_RPC_MIN && group->gr_here <= group->gr_stream &&
	       (group->gr_here == group->gr_stream || group->gr_here % 4 == 0) &&
	       group->gr_data <= (u64)group->gr_number * U32_MAX;
}

/* Limits as rpcrdma2_rtx_valid() accepts them */
static struct rpcrdma_group_limits proof_limits(void)
{
	struct rpcrdma_group_limits limits;
	const struct rpcrdma2_rtx *ours = &limits.gl_ours;

	ASSUME(ours->xp_call_max <= RPCRDMA2_RTX_MAX_COUNT && limits.gl_replies <= RPCRDMA2_RTX_MAX_COUNT);
	ASSUME(!ours->xp_seg == !ours->xp_nsegs);
	ASSUME(ours->xp_seg <= 65536 && !(ours->xp_seg & (ours->xp_seg - (ours->xp_seg != 0))));
	ASSUME(ours->xp_head + (u64)ours->xp_seg * ours->xp_nsegs <= U32_MAX);
	return limits;
}

/*
 * A receiver gets any arrival. A transmission of an open group either breaks the group, or is one of a limited number.
 * So each group ends, as a whole or broken.
 *
 * bound: -DSIZE=1
 * mutant: s/tx->tx_number != group->gr_number/0/
 * mutant: s/if \(tx->tx_number == group->gr_count - 1 && end != group->gr_stream\)/if (0)/
 */
void prove_group(void)
{
	struct rpcrdma_group_limits limits = proof_limits();
	struct rpcrdma2_transmission tx;
	struct rpcrdma_group group, was;
	enum rpcrdma_group_does does;
	bool other = any_bool(), known, first;

	tx.tx_first = any_bool();
	tx.tx_response = any_bool();
	tx.tx_short = any_bool();
	group.gr_response = any_bool();
	group.gr_ragged = any_bool();
	ASSUME(proof_group_sound(&group));
	was = group;
	does = rpcrdma_group_take(&group, &limits, other ? NULL : &tx);
	known = !other && (tx.tx_response || limits.gl_ours.xp_call_max);
	first = !proof_group_open(&was);

	PROVE((does == RPCRDMA_GROUP_PASS) == (first && !known));
	if (does == RPCRDMA_GROUP_PASS || does == RPCRDMA_GROUP_BROKEN) {
		PROVE(group.gr_number == was.gr_number && group.gr_count == was.gr_count);
		return;
	}
	PROVE(proof_group_sound(&group) && tx.tx_first == first);
	PROVE(group.gr_number == (first ? 1 : was.gr_number + 1));
	PROVE(group.gr_count == (first ? tx.tx_count : was.gr_count));
	PROVE(group.gr_here == (first ? 0 : was.gr_here) + tx.tx_here);
	PROVE((does == RPCRDMA_GROUP_KEEP) == proof_group_open(&group));
	/* Header, stream and data are in the transmission, and the data are in the target segments */
	PROVE((u64)tx.tx_here + (tx.tx_data ? tx.tx_len - tx.tx_data : 0) + 36 <= tx.tx_len);
	PROVE(!tx.tx_data || tx.tx_len - tx.tx_data <= (u64)limits.gl_ours.xp_seg * limits.gl_ours.xp_nsegs);
	if (does == RPCRDMA_GROUP_WHOLE)
		PROVE(group.gr_here == group.gr_stream);
}

/*
 * A sender makes the next transmission of any layout whose target segments end within the limit, as
 * rpcrdma_layout_place() makes it. There is progress, and the transmission keeps within all limits.
 *
 * bound: -DSIZE=1
 * mutant: s/if \(end < out->og_hdr\)/if (0)/
 * mutant: s/tx->tx_here -= tx->tx_here % RPCRDMA_GROUP_UNIT/;/
 */
void prove_layout(void)
{
	struct rpcrdma_layout layout, was;
	struct rpcrdma_outgoing out;

	ASSUME(layout.ly_sent <= layout.ly_stream && layout.ly_placed <= layout.ly_data);
	ASSUME((u64)layout.ly_head + layout.ly_part <= layout.ly_limit);
	ASSUME(layout.ly_sent % 4 == 0 || layout.ly_sent == layout.ly_stream);
	ASSUME(layout.ly_number < RPCRDMA2_RTX_MAX_COUNT);
	was = layout;
	if (!rpcrdma_layout_next(&layout, &out))
		return;
	PROVE(layout.ly_number == was.ly_number + 1);
	PROVE(layout.ly_sent == was.ly_sent + out.og_tx.tx_here && layout.ly_placed == was.ly_placed + out.og_part);
	PROVE(layout.ly_sent <= layout.ly_stream && layout.ly_placed <= layout.ly_data);
	PROVE(layout.ly_sent % 4 == 0 || layout.ly_sent == layout.ly_stream);
	PROVE(layout.ly_sent > was.ly_sent || layout.ly_placed > was.ly_placed);
	PROVE(out.og_len <= layout.ly_limit && out.og_part <= layout.ly_part);
	PROVE((u64)out.og_hdr + out.og_tx.tx_here + out.og_part <= out.og_len);
	PROVE(!out.og_part == !out.og_tx.tx_data || !layout.ly_head);
}

/* --- credits --------------------------------------------------------------- */

/*
 * A window grants at least one credit and never more than were requested, and its counts do not wrap. SIZE is the
 * largest count.
 *
 * bound: -DSIZE=1023
 * deep: -DSIZE=65535
 * mutant: s/clamp\(credit, 1u, win->wn_requested\)/max(credit, 1u)/
 * mutant: s/if \(!win->wn_owed\)/if (0)/
 */
void prove_window(void)
{
	u32 credit = nondet_u32(), in_flight = nondet_u32(), room;
	struct rpcrdma_window win, was;
	u64 used;

	ASSUME(win.wn_requested <= SIZE && win.wn_owed <= SIZE && win.wn_more <= SIZE && in_flight <= SIZE);
	ASSUME(win.wn_granted && win.wn_granted <= win.wn_requested);
	win.wn_opened = any_bool();
	was = win;
	switch (nondet_u8()) {
	case 0:
		rpcrdma_window_reset(&win, credit);
		break;
	case 1:
		rpcrdma_window_grant(&win, credit);
		break;
	case 2:
		rpcrdma_window_grant_error(&win, credit);
		PROVE(was.wn_opened || win.wn_granted == was.wn_granted);
		break;
	case 3:
		PROVE(rpcrdma_window_repay(&win) == !!was.wn_owed);
		PROVE(win.wn_owed == was.wn_owed - !!was.wn_owed);
		break;
	case 4:
		if (rpcrdma_window_take_more(&win, in_flight, credit) && credit) {
			PROVE((u64)win.wn_owed + win.wn_more + in_flight <= win.wn_granted);
			PROVE(win.wn_more == was.wn_more + (u64)credit && win.wn_more <= win.wn_granted / 2);
		}
		break;
	case 5:
		rpcrdma_window_give_more(&win, credit);
		PROVE(win.wn_more == was.wn_more - min(credit, was.wn_more));
		break;
	}
	PROVE(win.wn_granted && win.wn_granted <= win.wn_requested);
	used = (u64)win.wn_owed + win.wn_more + in_flight;
	room = rpcrdma_window_room(&win, in_flight);
	PROVE(room ? used + room == win.wn_granted : used >= win.wn_granted);
}
