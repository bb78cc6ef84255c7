// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/spread.c: which completion vector a new connection gets. */

#include <linux/limits.h>
#include <linux/string.h>

#include <rpcrdma/spread.h>

#include "rpcrdma_kunit.h"

#define CVS	8u

/* Let a connection take a vector, as verbs/vector.c does. Returns the vector. */
static u32 rpcrdma_spread_take(struct rpcrdma_cv *cvs, u32 count, u32 *next)
{
	u32 v = rpcrdma_spread_choose(cvs, count, *next);

	cvs[v].cv_conns++;
	*next = v + 1;
	return v;
}

/* If all vectors are in one group, each vector gets a connection before any gets a second, whatever
 * vector the first connection gets. If all vectors have equally many connections, and one of them
 * loses a connection, this vector gets the next connection.
 */
/* Covers: G-43 */
static void rpcrdma_spread_evenly(struct kunit *test)
{
	u32 count, first, i;

	for (count = 1; count <= CVS; count++) {
		for (first = 0; first <= 2 * count; first++) {
			struct rpcrdma_cv cvs[CVS] = { };
			u32 next = first;

			for (i = 0; i < 3 * count; i++)
				KUNIT_EXPECT_EQ(test, (first + i) % count,
						rpcrdma_spread_take(cvs, count, &next));
			for (i = 0; i < count; i++)
				KUNIT_EXPECT_EQ(test, cvs[i].cv_conns, 3);
			cvs[count / 2].cv_conns--;
			KUNIT_EXPECT_EQ(test, count / 2,
					rpcrdma_spread_take(cvs, count, &next));
		}
	}
}

/* The index at which the search begins may be any number. It is taken modulo the number of vectors.
 */
static void rpcrdma_spread_begins_anywhere(struct kunit *test)
{
	const struct rpcrdma_cv cvs[CVS] = { };

	KUNIT_EXPECT_EQ(test, rpcrdma_spread_choose(cvs, 5, U32_MAX), U32_MAX % 5);
	KUNIT_EXPECT_EQ(test, rpcrdma_spread_choose(cvs, 7, U32_MAX - 1),
			(U32_MAX - 1) % 7);
	KUNIT_EXPECT_EQ(test, rpcrdma_spread_choose(cvs, 1, U32_MAX), 0);
}

/* Unwanted vectors get no connections, however busy the others are, unless all are unwanted. */
/* Covers: G-43 */
static void rpcrdma_spread_avoids_unwanted(struct kunit *test)
{
	struct rpcrdma_cv cvs[CVS] = { };
	u32 next = 0, i;

	for (i = 0; i < CVS; i++)
		cvs[i].cv_group = i % 2 ? 0 : RPCRDMA_CV_UNWANTED;
	for (i = 0; i < 100 * CVS; i++)
		rpcrdma_spread_take(cvs, CVS, &next);
	for (i = 0; i < CVS; i++)
		KUNIT_EXPECT_EQ(test, cvs[i].cv_conns, i % 2 ? 200 : 0);

	for (i = 0; i < CVS; i++)
		cvs[i].cv_group = RPCRDMA_CV_UNWANTED;
	for (i = 0; i < 100 * CVS; i++)
		rpcrdma_spread_take(cvs, CVS, &next);
	/* The vectors that had no connections have caught up with the others. */
	for (i = 0; i < CVS; i++)
		KUNIT_EXPECT_EQ(test, cvs[i].cv_conns, 200);
}

/* Connections are divided evenly among the groups of vectors (cv_group), however many vectors a
 * group has, and within a group among its vectors.
 */
/* Covers: G-43 */
static void rpcrdma_spread_shares_by_group(struct kunit *test)
{
	/* Group number of each vector: in ascending order, mixed, and mixed with three unwanted
	 * vectors (-1)
	 */
	static const int orders[][CVS] = {
		{ 3, 3, 7, 7, 7, 7, 7, 7 },
		{ 7, 3, 7, 7, 7, 3, 7, 7 },
		{ 7, 7, 3, -1, -1, 3, -1, 7 },
	};
	u32 o, i, next, of[2], n;

	for (o = 0; o < ARRAY_SIZE(orders); o++) {
		struct rpcrdma_cv cvs[CVS] = { };

		next = o;
		for (i = 0; i < CVS; i++)
			cvs[i].cv_group = orders[o][i];
		for (n = 1; n <= 48; n++) {
			rpcrdma_spread_take(cvs, CVS, &next);
			of[0] = 0;
			of[1] = 0;
			for (i = 0; i < CVS; i++)
				of[cvs[i].cv_group == 7] += cvs[i].cv_conns;
			KUNIT_EXPECT_LE(test, of[0], of[1] + 1);
			KUNIT_EXPECT_LE(test, of[1], of[0] + 1);
			KUNIT_EXPECT_EQ(test, of[0] + of[1], n);
		}
		for (i = 0; i < CVS; i++) {
			u32 same = 0, j;

			for (j = 0; j < CVS; j++)
				same += cvs[j].cv_group == cvs[i].cv_group;
			KUNIT_EXPECT_EQ(test, cvs[i].cv_conns,
					cvs[i].cv_group < 0 ? 0 : 24 / same);
		}
	}
}

/* A group that has more connections is avoided, even if it has the only idle vector. */
/* Covers: G-43 */
static void rpcrdma_spread_group_before_vector(struct kunit *test)
{
	const struct rpcrdma_cv cvs[] = {
		{ .cv_group = 0, .cv_conns = 3 },
		{ .cv_group = 1, .cv_conns = 4 },
		{ .cv_group = 1, .cv_conns = 0 },
	};
	const struct rpcrdma_cv many[] = {
		{ .cv_group = 0, .cv_conns = 1u << 20 },
		{ .cv_group = 1, .cv_conns = (1u << 20) + 1 },
		{ .cv_group = RPCRDMA_CV_UNWANTED, .cv_conns = 0 },
	};
	u32 first;

	for (first = 0; first < 3; first++) {
		KUNIT_EXPECT_EQ(test, rpcrdma_spread_choose(cvs, 3, first), 0);
		KUNIT_EXPECT_EQ(test, rpcrdma_spread_choose(many, 3, first), 0);
	}
}

static struct kunit_case rpcrdma_spread_kunit_cases[] = {
	KUNIT_CASE(rpcrdma_spread_evenly),
	KUNIT_CASE(rpcrdma_spread_begins_anywhere),
	KUNIT_CASE(rpcrdma_spread_avoids_unwanted),
	KUNIT_CASE(rpcrdma_spread_shares_by_group),
	KUNIT_CASE(rpcrdma_spread_group_before_vector),
	{}
};

static struct kunit_suite rpcrdma_spread_suite = {
	.name = "rpcrdma_spread",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_spread_kunit_cases,
};

kunit_test_suite(rpcrdma_spread_suite);
