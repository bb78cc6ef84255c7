// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/rtt.c: estimates of the round-trip time of a connection. */

#include <linux/limits.h>
#include <linux/minmax.h>

#include <rpcrdma/rtt.h>

#include "rpcrdma_kunit.h"

#define USEC	1000ull		/* nanoseconds */

/* Do what a client does with a Reply that has come after @ns nanoseconds. */
static void rpcrdma_rtt_reply(struct rpcrdma_rtt *rtt, u64 ns)
{
	if (rpcrdma_rtt_asks(rtt, ns))
		rpcrdma_rtt_heard(rtt, ns / USEC);
}

/* A client's first estimate is the time that connecting took, but at least 1 us, and at most
 * RPCRDMA_RTT_MAX us.
 */
static void rpcrdma_rtt_begins_with_connecting(struct kunit *test)
{
	static const u64 took[][2] = {
		{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 250, 250 },
		{ RPCRDMA_RTT_MAX - 1, RPCRDMA_RTT_MAX - 1 },
		{ RPCRDMA_RTT_MAX, RPCRDMA_RTT_MAX },
		{ RPCRDMA_RTT_MAX + 1, RPCRDMA_RTT_MAX },
		{ U32_MAX + 1ull, RPCRDMA_RTT_MAX },
		{ U64_MAX, RPCRDMA_RTT_MAX },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(took); i++) {
		struct rpcrdma_rtt heard = { }, probed = { };

		KUNIT_EXPECT_FALSE(test, rpcrdma_rtt_asks(&heard, 0));
		rpcrdma_rtt_heard(&heard, took[i][0]);
		KUNIT_EXPECT_EQ(test, heard.rt_us, took[i][1]);
		/* A server's first estimate is the time of its first probe, with the same limits */
		rpcrdma_rtt_probed(&probed, took[i][0]);
		KUNIT_EXPECT_EQ(test, probed.rt_us, took[i][1]);
	}
}

/* One quick answer sets the estimate, however slow the server is before and after it. */
/* Covers: T-40 */
static void rpcrdma_rtt_slow_server(struct kunit *test)
{
	struct rpcrdma_rtt rtt = { };
	u32 i;

	rpcrdma_rtt_heard(&rtt, 3000);
	for (i = 0; i < 100; i++)
		rpcrdma_rtt_reply(&rtt, (2000 - i) * USEC);
	KUNIT_EXPECT_EQ(test, rtt.rt_us, 1901);
	rpcrdma_rtt_reply(&rtt, 30 * USEC);
	KUNIT_EXPECT_EQ(test, rtt.rt_us, 30);
	for (i = 0; i < 100000; i++) {
		rpcrdma_rtt_reply(&rtt, (30 + i) * USEC);
		/* As long as no probe completes, rpcrdma_rtt_asks() is true only for an answer
		 * quicker than the estimate.
		 */
		KUNIT_EXPECT_FALSE(test, rpcrdma_rtt_asks(&rtt, 30 * USEC));
		KUNIT_EXPECT_TRUE(test, rpcrdma_rtt_asks(&rtt, 30 * USEC - 1));
	}
	/* A longer time has no effect, even if it is passed to rpcrdma_rtt_heard(). */
	rpcrdma_rtt_heard(&rtt, 5000);
	KUNIT_EXPECT_EQ(test, rtt.rt_us, 30);
}

/* One or two late probes in a row do not change the estimate. A probe may be late because it was
 * queued behind data, or lost once.
 */
/* Covers: T-40 */
static void rpcrdma_rtt_late_probe(struct kunit *test)
{
	struct rpcrdma_rtt rtt = { };
	u32 i;

	rpcrdma_rtt_heard(&rtt, 100);
	for (i = 0; i < 100; i++) {
		rpcrdma_rtt_probed(&rtt, 500000);
		rpcrdma_rtt_probed(&rtt, 400000);
		/* The next probe takes only a quarter longer than the estimate, and so
		 * confirms the estimate.
		 */
		rpcrdma_rtt_probed(&rtt, 125);
		KUNIT_EXPECT_EQ(test, rtt.rt_us, 100);
		KUNIT_EXPECT_EQ(test, rtt.rt_longer, 0);
	}
	rpcrdma_rtt_probed(&rtt, 126);
	KUNIT_EXPECT_EQ(test, rtt.rt_longer, 1);
}

/* A quick Reply between late probes confirms the estimate, too. */
static void rpcrdma_rtt_quick_reply_confirms(struct kunit *test)
{
	struct rpcrdma_rtt rtt = { };
	u32 i;

	rpcrdma_rtt_heard(&rtt, 100);
	for (i = 0; i < 100; i++) {
		rpcrdma_rtt_probed(&rtt, 500000);
		rpcrdma_rtt_probed(&rtt, 500000);
		/* After a probe, rpcrdma_rtt_asks() is true for the first answer, however late it
		 * is. This answer is too late to confirm the estimate.
		 */
		KUNIT_EXPECT_TRUE(test, rpcrdma_rtt_asks(&rtt, 1000000 * USEC));
		rpcrdma_rtt_reply(&rtt, 1000000 * USEC);
		KUNIT_EXPECT_EQ(test, rtt.rt_longer, 2);
		KUNIT_EXPECT_FALSE(test, rpcrdma_rtt_asks(&rtt, 126 * USEC));
		rpcrdma_rtt_reply(&rtt, 126 * USEC - 1);
		KUNIT_EXPECT_EQ(test, rtt.rt_us, 100);
		KUNIT_EXPECT_EQ(test, rtt.rt_longer, 0);
		KUNIT_EXPECT_FALSE(test, rpcrdma_rtt_asks(&rtt, 100 * USEC));
	}
}

/* If the round trip becomes longer, only probes raise the estimate, and they raise it slowly. */
/* Covers: T-40 */
static void rpcrdma_rtt_longer_way(struct kunit *test)
{
	struct rpcrdma_rtt rtt = { };
	u32 i, was;

	rpcrdma_rtt_heard(&rtt, 10);
	for (i = 1; i <= 60; i++) {
		was = rtt.rt_us;
		rpcrdma_rtt_probed(&rtt, 1000 + i % 3);
		if (i % RPCRDMA_RTT_PROBES && was < 1000)
			KUNIT_EXPECT_EQ(test, rtt.rt_us, was);
		else
			KUNIT_EXPECT_LE(test, rtt.rt_us, 2 * was);
		KUNIT_EXPECT_GE(test, rtt.rt_us, was == 1001 ? 1000 : was);
		KUNIT_EXPECT_LT(test, rtt.rt_longer, RPCRDMA_RTT_PROBES);
	}
	KUNIT_EXPECT_EQ(test, rtt.rt_us, 1000);

	/* If the round trip becomes shorter, the estimate follows at once. */
	rpcrdma_rtt_reply(&rtt, 40 * USEC);
	KUNIT_EXPECT_EQ(test, rtt.rt_us, 40);
}

/* If the quickest of three late probes takes at most twice the estimate, the estimate rises to the
 * time of this probe, in whatever order the probes complete.
 */
static void rpcrdma_rtt_quickest_probe(struct kunit *test)
{
	static const u32 us[] = { 150, 170, 190 };
	u32 i;

	for (i = 0; i < 6; i++) {
		struct rpcrdma_rtt rtt = { };

		rpcrdma_rtt_heard(&rtt, 100);
		rpcrdma_rtt_probed(&rtt, us[i % 3]);
		rpcrdma_rtt_probed(&rtt, us[(i % 3 + 1 + i / 3) % 3]);
		KUNIT_EXPECT_EQ(test, rtt.rt_us, 100);
		rpcrdma_rtt_probed(&rtt, us[(i % 3 + 2 - i / 3) % 3]);
		KUNIT_EXPECT_EQ(test, rtt.rt_us, 150);
	}
}

/* With any times in any order, the estimate stays within its limits, and is never lowered below
 * the round trip. Only a probe raises the estimate, and at most doubles it. With the random times
 * of this test, rpcrdma_rtt_asks() is true for few answers: on average, for fewer than four per
 * probe.
 */
static void rpcrdma_rtt_any(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	u32 i, was, way, looked = 0, probes = 0;
	struct rpcrdma_rtt rtt = { };
	u64 us;

	rpcrdma_rtt_heard(&rtt, RPCRDMA_RTT_MAX);
	for (i = 0; i < 100000; i++) {
		/* Every 5000 steps, the round trip is doubled, from 10 to 655360 us. Then it
		 * begins with 10 us again.
		 */
		way = 10 << i / 5000 % 17;
		us = way + rpcrdma_kunit_random(fx, i % 7 ? 50 : 5000);
		was = rtt.rt_us;
		if (i % 50) {
			looked += rpcrdma_rtt_asks(&rtt, us * USEC);
			rpcrdma_rtt_reply(&rtt, us * USEC);
			KUNIT_EXPECT_LE(test, rtt.rt_us, was);
		} else {
			probes++;
			rpcrdma_rtt_probed(&rtt, us);
			KUNIT_EXPECT_LE(test, rtt.rt_us, 2 * was);
		}
		KUNIT_EXPECT_LE(test, rtt.rt_us, max_t(u64, was, us));
		KUNIT_EXPECT_GE(test, rtt.rt_us, min(was, way));
		KUNIT_EXPECT_LE(test, rtt.rt_us, RPCRDMA_RTT_MAX);
		KUNIT_EXPECT_GE(test, rtt.rt_us, 1);
	}
	KUNIT_EXPECT_LT(test, looked, 4 * probes);
}

static struct kunit_case rpcrdma_rtt_kunit_cases[] = {
	KUNIT_CASE(rpcrdma_rtt_begins_with_connecting),
	KUNIT_CASE(rpcrdma_rtt_slow_server),
	KUNIT_CASE(rpcrdma_rtt_late_probe),
	KUNIT_CASE(rpcrdma_rtt_quick_reply_confirms),
	KUNIT_CASE(rpcrdma_rtt_longer_way),
	KUNIT_CASE(rpcrdma_rtt_quickest_probe),
	KUNIT_CASE(rpcrdma_rtt_any),
	{}
};

static struct kunit_suite rpcrdma_rtt_suite = {
	.name = "rpcrdma_rtt",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_rtt_kunit_cases,
};

kunit_test_suite(rpcrdma_rtt_suite);
