// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/credit.c: credit windows.
 */

#include <kunit/test.h>
#include <linux/limits.h>

#include <rpcrdma/credit.h>

/* Covers: V1-CRD-11 V1-CRD-23 V2-CRD-10 */
static void credit_begins_with_one(struct kunit *test)
{
	struct rpcrdma_window win;

	rpcrdma_window_reset(&win, 128);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 1), 0);

	rpcrdma_window_grant(&win, 64);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 64);
	KUNIT_EXPECT_TRUE(test, win.wn_opened);
	rpcrdma_window_reset(&win, 128);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 1);
	KUNIT_EXPECT_EQ(test, win.wn_requested, 128);
	KUNIT_EXPECT_FALSE(test, win.wn_opened);

	rpcrdma_window_reset(&win, 0);
	KUNIT_EXPECT_EQ(test, win.wn_requested, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 1);
}

struct credit_case {
	const char	*desc;
	u32		before, credit, granted;
	bool		changed;
};

/* The window requests 128 credits, and @before are granted. Then a grant of @credit arrives. */
static const struct credit_case credit_cases[] = {
	{ "a first grant", .before = 1, .credit = 32, .granted = 32, .changed = true },
	{ "the same grant again", .before = 32, .credit = 32, .granted = 32 },
	{ "all that was requested", .before = 32, .credit = 128, .granted = 128, .changed = true },
	{ "one more than was requested", .before = 32, .credit = 129, .granted = 128,
	  .changed = true },
	{ "the highest value", .before = 32, .credit = U32_MAX, .granted = 128, .changed = true },
	{ "too much once more", .before = 128, .credit = U32_MAX, .granted = 128 },
	{ "a grant that was lowered", .before = 128, .credit = 2, .granted = 2, .changed = true },
	{ "zero", .before = 32, .credit = 0, .granted = 1, .changed = true },
	{ "zero when one is in force", .before = 1, .credit = 0, .granted = 1 },
};

KUNIT_ARRAY_PARAM_DESC(credit, credit_cases, desc);

/* Covers: V1-CRD-05 V1-CRD-06 V1-CRD-22 V2-CRD-02 V2-CRD-06 G-15 G-16 */
static void credit_grant(struct kunit *test)
{
	const struct credit_case *param = test->param_value;
	struct rpcrdma_window win;

	rpcrdma_window_reset(&win, 128);
	rpcrdma_window_grant(&win, param->before);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_grant(&win, param->credit),
			param->changed);
	KUNIT_EXPECT_EQ(test, win.wn_granted, param->granted);
	KUNIT_EXPECT_TRUE(test, win.wn_opened);

	/* After a first Reply, the grant of an RDMA_ERROR has the same effect */
	rpcrdma_window_reset(&win, 128);
	rpcrdma_window_grant(&win, param->before);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_grant_error(&win, param->credit),
			param->changed);
	KUNIT_EXPECT_EQ(test, win.wn_granted, param->granted);
}

/* Covers: V1-CRD-11 G-15 */
static void credit_error_opens_nothing(struct kunit *test)
{
	struct rpcrdma_window win;

	rpcrdma_window_reset(&win, 128);
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_grant_error(&win, 64));
	KUNIT_EXPECT_FALSE(test, win.wn_opened);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 1);

	/* A grant of 1 opens the window, though the number of granted credits stays the same */
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_grant(&win, 1));
	KUNIT_EXPECT_TRUE(test, win.wn_opened);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_grant_error(&win, 64));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 64);
}

/* Covers: V1-CRD-05 V1-CRD-06 V1-CRD-07 */
static void credit_room(struct kunit *test)
{
	struct rpcrdma_window win;
	u32 in_flight;

	rpcrdma_window_reset(&win, 16);
	rpcrdma_window_grant(&win, 10);
	for (in_flight = 0; in_flight < 20; in_flight++) {
		KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, in_flight),
				in_flight < 10 ? 10 - in_flight : 0);
		KUNIT_EXPECT_EQ(test, win.wn_requested, 16);
		KUNIT_EXPECT_EQ(test, win.wn_granted, 10);
	}
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, U32_MAX), 0);

	/* The window is the smaller of grant and request, even if the request shrinks */
	win.wn_requested = 4;
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 1), 3);
}

/* Covers: V1-CRD-06 V1-CRD-23 */
static void credit_given_up(struct kunit *test)
{
	struct rpcrdma_window win;

	rpcrdma_window_reset(&win, 16);
	rpcrdma_window_grant(&win, 4);
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_repay(&win));

	/* Two of three Calls in flight are given up: their credits stay used */
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 3), 1);
	win.wn_owed++;
	win.wn_owed++;
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 1), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 2);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, U32_MAX), 0);

	/* A lower grant does not return these credits */
	rpcrdma_window_grant(&win, 2);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 0);
	rpcrdma_window_grant(&win, 4);

	KUNIT_EXPECT_TRUE(test, rpcrdma_window_repay(&win));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 3);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_repay(&win));
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_repay(&win));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 4);

	/* A new connection owes nothing */
	win.wn_owed++;
	rpcrdma_window_reset(&win, 16);
	rpcrdma_window_grant(&win, 4);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 4);
}

/* Covers: BC-02 V2-CRD-07 */
static void credit_two_directions(struct kunit *test)
{
	struct rpcrdma_window forward, backward;

	rpcrdma_window_reset(&forward, 128);
	rpcrdma_window_reset(&backward, 16);
	rpcrdma_window_grant(&backward, 16);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&forward, 0), 1);
	rpcrdma_window_grant(&forward, 64);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&backward, 0), 16);
}

struct credit_more_case {
	const char	*desc;
	u32		grant, in_flight, owed, more, room;
};

static const struct credit_more_case credit_more_cases[] = {
	{ "half of the grant", .grant = 64, .in_flight = 1, .room = 32 },
	{ "half of it is used", .grant = 64, .in_flight = 1, .more = 32 },
	{ "some of that half is used", .grant = 64, .in_flight = 1, .more = 30, .room = 2 },
	{ "many small Calls", .grant = 64, .in_flight = 60, .room = 4 },
	{ "all by small Calls", .grant = 64, .in_flight = 64 },
	{ "Calls that were given up", .grant = 64, .in_flight = 2, .owed = 61, .room = 1 },
	{ "the first Call", .grant = 1, .in_flight = 1 },
	{ "two credits", .grant = 2, .in_flight = 1, .room = 1 },
	{ "three", .grant = 3, .in_flight = 1, .room = 1 },
	{ "a grant that shrank", .grant = 4, .in_flight = 2, .more = 9 },
};

KUNIT_ARRAY_PARAM_DESC(credit_more, credit_more_cases, desc);

/* Covers: RTX-74 RTX-78 RTX-79 RTX-81 */
static void credit_more(struct kunit *test)
{
	const struct credit_more_case *param = test->param_value;
	struct rpcrdma_window win = {
		.wn_requested = 128, .wn_granted = param->grant,
		.wn_owed = param->owed, .wn_more = param->more,
	};
	u32 in_flight = param->in_flight;

	KUNIT_EXPECT_EQ(test, rpcrdma_window_more(&win, in_flight),
			param->room);
	/* The window gives all credits or none */
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_take_more(&win, in_flight,
							  param->room + 1));
	KUNIT_EXPECT_EQ(test, win.wn_more, param->more);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_take_more(&win, in_flight,
							 param->room));
	KUNIT_EXPECT_EQ(test, win.wn_more, param->more + param->room);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_more(&win, in_flight), 0);
}

/* Covers: RTX-75 RTX-81 RTX-86 RTX-100 */
static void credit_more_returns(struct kunit *test)
{
	struct rpcrdma_window win;

	rpcrdma_window_reset(&win, 128);
	rpcrdma_window_grant(&win, 64);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_take_more(&win, 1, 20));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 1), 43);

	/* A Call in flight keeps its credits if the grant shrinks, or if the Call is given up */
	rpcrdma_window_grant(&win, 8);
	KUNIT_EXPECT_EQ(test, win.wn_more, 20);
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 1), 0);
	win.wn_owed++;
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 0);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_repay(&win));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 0);
	KUNIT_EXPECT_TRUE(test, rpcrdma_window_give_more(&win, 20));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 8);
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_give_more(&win, 0));
	/* No credit returns twice */
	KUNIT_EXPECT_FALSE(test, rpcrdma_window_give_more(&win, 20));
	KUNIT_EXPECT_EQ(test, rpcrdma_window_room(&win, 0), 8);

	KUNIT_EXPECT_TRUE(test, rpcrdma_window_take_more(&win, 1, 4));
	rpcrdma_window_reset(&win, 128);
	KUNIT_EXPECT_EQ(test, win.wn_more, 0);
}

static struct kunit_case credit_kunit_cases[] = {
	KUNIT_CASE(credit_begins_with_one),
	KUNIT_CASE_PARAM(credit_grant, credit_gen_params),
	KUNIT_CASE(credit_error_opens_nothing),
	KUNIT_CASE(credit_room),
	KUNIT_CASE(credit_given_up),
	KUNIT_CASE(credit_two_directions),
	KUNIT_CASE_PARAM(credit_more, credit_more_gen_params),
	KUNIT_CASE(credit_more_returns),
	{}
};

static struct kunit_suite rpcrdma_credit_suite = {
	.name = "rpcrdma_credit",
	.test_cases = credit_kunit_cases,
};

kunit_test_suite(rpcrdma_credit_suite);
