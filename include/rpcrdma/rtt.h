/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The round trip of a connection, measured only with messages that are sent anyway.
 */
#ifndef RPCRDMA_RTT_H
#define RPCRDMA_RTT_H

#include <linux/types.h>

/* Maximum of the estimate in microseconds; a longer round trip counts as this */
#define RPCRDMA_RTT_MAX		1000000u

/* Number of late probes in a row after which the round trip counts as longer */
#define RPCRDMA_RTT_PROBES	3u

/**
 * struct rpcrdma_rtt - an estimate of the round trip
 * @rt_us: the estimate in microseconds; 0 if nothing is known yet
 * @rt_longer: number of probes in a row that took longer, without a quick answer since
 * @rt_least: time in microseconds of the quickest of these probes
 * @rt_ask: number of nanoseconds; an answer in less time may change the estimate, see
 *	rpcrdma_rtt_asks()
 *
 * All zero at first, but see rpcrdma_rtt_heard(). The caller serialises writers.
 */
struct rpcrdma_rtt {
	u32		rt_us;
	u32		rt_longer;
	u32		rt_least;
	u64		rt_ask;
};

/* Returns whether the caller should report an answer that took @ns nanoseconds to
 * rpcrdma_rtt_heard(). It is called for each message, so it is only one comparison. After a
 * probe it returns true for any message, so that the caller looks at the estimate.
 */
static inline bool rpcrdma_rtt_asks(const struct rpcrdma_rtt *rtt, u64 ns)
{
	return ns < rtt->rt_ask;
}

void rpcrdma_rtt_heard(struct rpcrdma_rtt *rtt, u64 us);
void rpcrdma_rtt_probed(struct rpcrdma_rtt *rtt, u64 us);

#endif /* RPCRDMA_RTT_H */
