// SPDX-License-Identifier: GPL-2.0
/*
 * The round trip of a connection: an estimate, from the time that answers take.
 *
 * No answer comes sooner than the way allows, so every time that was measured is
 * the round trip and something more: a server's thread that had to wake up, its
 * disk, a queue, a packet that was lost. The shortest time has the least of it.
 * So a short time is believed at once, and a long one never by itself.
 *
 * Two kinds of answers are told apart. Connecting, CONNPROP and Replies need
 * software of the peer, which can be slow for as long as it likes: these only
 * lower the estimate. A probe of the keepalive is answered by the peer's adapter.
 * It can be late as well, behind data or after a loss; but if several in a row are
 * late, and no message was quick between them, then the way has become longer. The
 * estimate then goes up to the quickest of them, and at most doubles. An idle
 * processor that wakes up slowly can do that, too; the next quick Reply mends it.
 *
 * A busy connection is not probed. If its way becomes longer, the estimate stays:
 * that is a bound as good as on the day it was measured, and the next connection
 * begins anew.
 *
 * Nothing here has a clock. See T-40.
 */

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/rtt.h>

#define RPCRDMA_RTT_NSECS	1000u	/* in a microsecond */

/* What is quick enough to confirm the estimate */
static u32 rpcrdma_rtt_near(const struct rpcrdma_rtt *rtt)
{
	return rtt->rt_us + rtt->rt_us / 4;
}

static u32 rpcrdma_rtt_bound(u64 us)
{
	return min_t(u64, max_t(u64, us, 1), RPCRDMA_RTT_MAX);
}

/* Returns false if @us is longer than the estimate can explain. */
static bool rpcrdma_rtt_take(struct rpcrdma_rtt *rtt, u32 us)
{
	if (rtt->rt_us && us > rpcrdma_rtt_near(rtt))
		return false;
	rtt->rt_us = rtt->rt_us ? min(rtt->rt_us, us) : us;
	rtt->rt_longer = 0;
	return true;
}

/**
 * rpcrdma_rtt_heard - the peer has answered a message
 * @rtt: estimate
 * @us: microseconds from before the message was posted until the answer came
 *
 * Until the next probe, rpcrdma_rtt_asks() then says yes only to what would change
 * the estimate, or confirm it where probes were late.
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_rtt_heard(struct rpcrdma_rtt *rtt, u64 us)
{
	u32 quick;

	rpcrdma_rtt_take(rtt, rpcrdma_rtt_bound(us));
	quick = rtt->rt_longer ? rpcrdma_rtt_near(rtt) + 1 : rtt->rt_us;
	rtt->rt_ask = (u64)quick * RPCRDMA_RTT_NSECS;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_rtt_heard);

/**
 * rpcrdma_rtt_probed - the peer's adapter has answered a probe
 * @rtt: estimate
 * @us: microseconds from before the probe was posted until it completed
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_rtt_probed(struct rpcrdma_rtt *rtt, u64 us)
{
	u32 took = rpcrdma_rtt_bound(us);

	rtt->rt_ask = U64_MAX;
	if (rpcrdma_rtt_take(rtt, took))
		return;
	rtt->rt_least = rtt->rt_longer ? min(rtt->rt_least, took) : took;
	rtt->rt_longer++;
	if (rtt->rt_longer < RPCRDMA_RTT_PROBES)
		return;
	rtt->rt_us = min(rtt->rt_least, 2 * rtt->rt_us);
	rtt->rt_longer = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_rtt_probed);
