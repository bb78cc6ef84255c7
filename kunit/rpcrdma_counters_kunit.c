// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the counters (counters.h, net/verbs/debugfs.c).
 */

#include <kunit/test.h>

#include <rpcrdma/counters.h>

/* This value does not fit in 32 bits. After the test, scripts/tests/groups/kunit.sh checks that
 * rdma_stat_sq_starve, the sysctl of the counter server_sq_waits, shows more than this value.
 */
#define COUNTERS_KUNIT_MANY	5000000000ull

static void counters_have_64_bits(struct kunit *test)
{
	u64 before = rpcrdma_counter_read(RPCRDMA_CNT_server_sq_waits);

	rpcrdma_count_add(server_sq_waits, COUNTERS_KUNIT_MANY);
	rpcrdma_count(server_sq_waits);
	KUNIT_EXPECT_EQ(test, rpcrdma_counter_read(RPCRDMA_CNT_server_sq_waits),
			before + COUNTERS_KUNIT_MANY + 1);
}

static struct kunit_case counters_kunit_cases[] = {
	KUNIT_CASE(counters_have_64_bits),
	{}
};

static struct kunit_suite rpcrdma_counters_suite = {
	.name = "rpcrdma_counters",
	.test_cases = counters_kunit_cases,
};

kunit_test_suite(rpcrdma_counters_suite);
