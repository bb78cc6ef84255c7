/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The round trip of a connection, as far as what is sent anyway shows it.
 */
#ifndef RPCRDMA_RTT_H
#define RPCRDMA_RTT_H

#include <linux/types.h>

/* Microseconds: longer ways are as good as this */
#define RPCRDMA_RTT_MAX		1000000u

/* The way has become longer when so many probes in a row say so */
#define RPCRDMA_RTT_PROBES	3u

/**
 * struct rpcrdma_rtt - an estimate of the round trip
 * @rt_us: microseconds; 0: nothing is known yet
 * @rt_longer: probes in a row that took longer, with nothing quick since
 * @rt_least: microseconds of the quickest of these
 * @rt_ask: a message that was answered in less than so many nanoseconds tells
 *	something new; see rpcrdma_rtt_asks()
 *
 * All zero at first, but see rpcrdma_rtt_heard(). The caller serialises writers.
 */
struct rpcrdma_rtt {
	u32		rt_us;
	u32		rt_longer;
	u32		rt_least;
	u64		rt_ask;
};

/* Is it worth telling rpcrdma_rtt_heard() of an answer that took so long? For each
 * message, so it is one comparison. After a probe any message will do, so that its
 * receiver looks at the estimate.
 */
static inline bool rpcrdma_rtt_asks(const struct rpcrdma_rtt *rtt, u64 ns)
{
	return ns < rtt->rt_ask;
}

void rpcrdma_rtt_heard(struct rpcrdma_rtt *rtt, u64 us);
void rpcrdma_rtt_probed(struct rpcrdma_rtt *rtt, u64 us);

#endif /* RPCRDMA_RTT_H */
