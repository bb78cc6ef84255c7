// SPDX-License-Identifier: GPL-2.0
/* Unit tests of include/rpcrdma/keepalive.h: how long something overdue is still waited for */

#include <kunit/test.h>
#include <linux/jiffies.h>

#include <rpcrdma/keepalive.h>

/* Something that was due at the time @due is looked at @late jiffies later. Is it over? If not, the
 * next look is expected @look jiffies after @due, or one jiffy later if that time is 0, which means
 * "not overdue".
 */
static void keepalive_expect(struct kunit *test, unsigned long *grace,
			     unsigned long due, long late, bool over,
			     unsigned long look)
{
	unsigned long next = due;

	KUNIT_EXPECT_EQ(test, rpcrdma_keepalive_is_over(due + late, &next,
							grace), over);
	if (!over)
		KUNIT_EXPECT_EQ(test, next, look ? due + look ?: 1 : due);
}

/* The first look that finds it overdue begins a grace of one second. The work item may run earlier,
 * because its other check is due. That must not shorten the grace.
 */
static void keepalive_whole_grace(struct kunit *test)
{
	static const unsigned long starts[] = { 0, 1000, -HZ, -HZ / 2, -1UL };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		unsigned long grace = 0;

		keepalive_expect(test, &grace, starts[i], -1, false, 0);
		keepalive_expect(test, &grace, starts[i], 0, false, HZ);
		keepalive_expect(test, &grace, starts[i], 1, false, HZ);
		keepalive_expect(test, &grace, starts[i], HZ - 1, false, HZ);
		keepalive_expect(test, &grace, starts[i], HZ + 1, true, 0);
	}
}

/* If it comes within the grace, the next one that is overdue gets a whole grace, too. */
static void keepalive_new_grace(struct kunit *test)
{
	unsigned long grace = 0;

	keepalive_expect(test, &grace, 1000, 5, false, 5 + HZ);
	keepalive_expect(test, &grace, 5000, -100, false, 0);
	keepalive_expect(test, &grace, 5000, HZ, false, 2 * HZ);
	keepalive_expect(test, &grace, 5000, 2 * HZ, true, 0);
}

static struct kunit_case keepalive_cases[] = {
	KUNIT_CASE(keepalive_whole_grace),
	KUNIT_CASE(keepalive_new_grace),
	{}
};

static struct kunit_suite rpcrdma_keepalive_suite = {
	.name = "rpcrdma_keepalive",
	.test_cases = keepalive_cases,
};

kunit_test_suite(rpcrdma_keepalive_suite);
