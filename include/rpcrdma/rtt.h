/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An estimate of the round-trip time of a connection, made from the times that answers and
 * keepalive probes take. No message is sent only to measure the round trip.
 */
#ifndef RPCRDMA_RTT_H
#define RPCRDMA_RTT_H

#include <linux/types.h>

/* Maximum of the estimate in microseconds; a longer round trip counts as this */
#define RPCRDMA_RTT_MAX		1000000u

/* Number of late probes in a row after which the estimate is raised */
#define RPCRDMA_RTT_PROBES	3u

/**
 * struct rpcrdma_rtt - an estimate of the round trip
 * @rt_us: the estimate in microseconds; 0 if nothing is known yet
 * @rt_longer: number of late probes in a row: probes that took over a quarter longer than the
 *	estimate. It becomes 0 when a probe or an answer is not late, or when the estimate is
 *	raised.
 * @rt_least: time in microseconds of the quickest probe that @rt_longer counts
 * @rt_ask: time in nanoseconds. Only an answer that took less may change the estimate or reset
 *	@rt_longer, see rpcrdma_rtt_asks(). At first @rt_ask is 0, so the caller has to
 *	report the first answer without calling rpcrdma_rtt_asks().
 *
 * All members are 0 at first. The caller serialises writers.
 */
struct rpcrdma_rtt {
	u32		rt_us;
	u32		rt_longer;
	u32		rt_least;
	u64		rt_ask;
};

/* Returns whether the caller should report to rpcrdma_rtt_heard() an answer that took @ns
 * nanoseconds. This function is called for each answer, so it makes only one comparison. After
 * a probe, it returns true until an answer is reported, whatever time the answer took: the probe
 * may have changed the estimate, and the caller notices a change only when it reports an answer.
 */
static inline bool rpcrdma_rtt_asks(const struct rpcrdma_rtt *rtt, u64 ns)
{
	return ns < rtt->rt_ask;
}

void rpcrdma_rtt_heard(struct rpcrdma_rtt *rtt, u64 us);
void rpcrdma_rtt_probed(struct rpcrdma_rtt *rtt, u64 us);

#endif /* RPCRDMA_RTT_H */
