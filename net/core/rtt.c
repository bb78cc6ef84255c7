// SPDX-License-Identifier: GPL-2.0
/*
 * The round trip of a connection: an estimate, from the time that answers take.
 *
 * No answer comes sooner than the network allows. So every measured time is the round trip
 * and some delay: a server's thread has to wake up or waits for a disk, a message waits in
 * a queue, or a packet is lost. The shortest time contains the least delay. So a short time is
 * believed at once, and a single long time never.
 *
 * There are two kinds of answers. Software of the peer has to answer a connection request, a
 * CONNPROP (version 2) or a Call, and may take any time. So the time of such an answer never
 * raises the estimate. A probe of the keepalive is answered by the peer's adapter. The answer to a
 * probe may be late, too, because the probe was queued behind data or was lost once. But if
 * several probes in a row are late, and no answer was quick between them, the round trip has
 * become longer. The estimate is then raised to the time of the quickest of these probes, and at
 * most doubled. An idle processor that wakes up slowly has the same effect as a longer round trip,
 * and the next quick Reply lowers the estimate again.
 *
 * A busy connection is not probed. If its round trip becomes longer, the estimate does not
 * change, and is then too low. The next connection begins with a new estimate.
 *
 * This file reads no clock. See T-40.
 */

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/rtt.h>

#define RPCRDMA_RTT_NSECS	1000u	/* in a microsecond */

/* Returns the longest time in microseconds that confirms the estimate. */
static u32 rpcrdma_rtt_near(const struct rpcrdma_rtt *rtt)
{
	return rtt->rt_us + rtt->rt_us / 4;
}

static u32 rpcrdma_rtt_bound(u64 us)
{
	return min_t(u64, max_t(u64, us, 1), RPCRDMA_RTT_MAX);
}

/* Uses a time that confirms or lowers the estimate, or is the first one. Returns false if @us is
 * too long.
 */
static bool rpcrdma_rtt_take(struct rpcrdma_rtt *rtt, u32 us)
{
	if (rtt->rt_us && us > rpcrdma_rtt_near(rtt))
		return false;
	rtt->rt_us = rtt->rt_us ? min(rtt->rt_us, us) : us;
	rtt->rt_longer = 0;
	return true;
}

/**
 * rpcrdma_rtt_heard - use the time of an answer to a message
 * @rtt: estimate
 * @us: time in microseconds, from before the message was posted until the answer came
 *
 * This function also determines for which times rpcrdma_rtt_asks() returns true until the next
 * probe: times that would lower the estimate; and, if rt_longer is not 0, times that would confirm
 * it.
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
 * rpcrdma_rtt_probed - use the time of an answer to a probe
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
