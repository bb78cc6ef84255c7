// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/grant.c: credits that a responder takes back. */

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include <rpcrdma/grant.h>

#include "rpcrdma_kunit.h"

#define GRANT_MOST	64u

/* Let Calls of one credit each arrive until credits have come back. Returns the number of Calls. */
static u32 rpcrdma_grant_wait(struct rpcrdma_grant *grant)
{
	u32 calls = 1;

	while (!rpcrdma_grant_arrived(grant, 1))
		calls++;
	return calls;
}

/* Once all messages with the old grant are posted, credits come back as soon as the Calls that then
 * arrive have taken more than twice the old grant.
 */
/* Covers: V1-CRD-09 G-39 */
static void rpcrdma_grant_lowers(struct kunit *test)
{
	struct rpcrdma_grant grant;
	u32 bound;

	for (bound = 2; bound <= GRANT_MOST; bound++) {
		rpcrdma_grant_init(&grant, bound);
		KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, U32_MAX));
		KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, bound - 1));
		KUNIT_EXPECT_EQ(test, grant.gn_told, bound - 1);
		KUNIT_EXPECT_EQ(test, grant.gn_bound, bound);
		KUNIT_EXPECT_EQ(test, rpcrdma_grant_wait(&grant), 2 * bound + 1);
		KUNIT_EXPECT_EQ(test, grant.gn_told, bound - 1);
		KUNIT_EXPECT_EQ(test, grant.gn_bound, bound - 1);
		/* Further Calls change nothing. */
		KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, U32_MAX));
	}
	/* A Call of several Sends takes several credits. */
	rpcrdma_grant_init(&grant, 10);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 1));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 20));
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_arrived(&grant, 1));
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 1);
}

/* The grant is not lowered if the new number is not smaller than the old one, or while credits are
 * being taken back.
 */
static void rpcrdma_grant_refuses(struct kunit *test)
{
	struct rpcrdma_grant grant;

	rpcrdma_grant_init(&grant, 8);
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_lower(&grant, 8));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_lower(&grant, 9));
	KUNIT_EXPECT_EQ(test, grant.gn_told, 8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 4));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_EQ(test, grant.gn_told, 4);
	rpcrdma_grant_wait(&grant);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
}

/* Messages that were made before the grant was lowered, and are not posted yet, grant the old
 * number. So no Call counts until each of them is posted or dropped.
 */
/* Covers: V1-CRD-09 G-39 */
static void rpcrdma_grant_awaits_messages(struct kunit *test)
{
	struct rpcrdma_grant grant;
	u8 one, two, later;

	rpcrdma_grant_init(&grant, 4);
	one = rpcrdma_grant_open(&grant);
	two = rpcrdma_grant_open(&grant);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	later = rpcrdma_grant_open(&grant);
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 100));
	rpcrdma_grant_close(&grant, one);
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 100));
	rpcrdma_grant_close(&grant, two);
	KUNIT_EXPECT_EQ(test, rpcrdma_grant_wait(&grant), 9);
	/* @later was begun after the grant was last lowered, so the grant can be lowered again.
	 * But no Call counts until @later is posted.
	 */
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 1));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 100));
	/* The grant is raised again. It cannot be lowered before @later is posted. */
	rpcrdma_grant_raise(&grant, 2);
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_lower(&grant, 1));
	KUNIT_EXPECT_EQ(test, grant.gn_told, 2);
	rpcrdma_grant_close(&grant, later);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 1));
}

/* If some of the credits that are being taken back are granted again, only the others come back. If
 * all are granted again (up to gn_bound), none comes back.
 */
static void rpcrdma_grant_raises(struct kunit *test)
{
	struct rpcrdma_grant grant;

	rpcrdma_grant_init(&grant, 1);
	rpcrdma_grant_raise(&grant, 8);
	KUNIT_EXPECT_EQ(test, grant.gn_told, 8);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 16));
	rpcrdma_grant_raise(&grant, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_told, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_arrived(&grant, 1));
	KUNIT_EXPECT_EQ(test, grant.gn_told, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 4);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 8));
	rpcrdma_grant_raise(&grant, 4);
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 100));
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 4);
	/* If the grant is lowered again, the credits that Calls take are counted from 0 again. */
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 3));
	KUNIT_EXPECT_EQ(test, rpcrdma_grant_wait(&grant), 9);
	rpcrdma_grant_raise(&grant, 100);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 100);
}

/*
 * A model of a connection. Calls and Replies arrive in the order in which they were sent. Threads
 * of the responder take Calls, make Replies, and post the Replies in any order. A Call that finds
 * no Receive ends the connection.
 */
#define GRANT_QUEUE	(2 * GRANT_MOST)

struct rpcrdma_grant_model {
	struct rpcrdma_grant	gm_grant;
	/* Receives of the responder: those that are posted, and those with a Call that no thread
	 * has taken. Threads hold gm_making further Receives.
	 */
	u32			gm_posted;
	u32			gm_queued;
	/* number of Receives to remove: a thread removes one instead of posting it again */
	u32			gm_excess;
	/* Replies that are being made: their number, ages and grants */
	u32			gm_making;
	u8			gm_age[GRANT_QUEUE];
	u32			gm_says[GRANT_QUEUE];
	/* Posted Replies whose Sends have not completed: their number and ages */
	u32			gm_sending;
	u8			gm_sent_age[GRANT_QUEUE];
	/* Posted Replies that have not arrived: their number, and their grants, beginning with the
	 * Reply that was posted first. gm_calls is the number of Calls that have not arrived.
	 */
	u32			gm_replies;
	u32			gm_reply[GRANT_QUEUE];
	u32			gm_calls;
	/* The requester: its grant, and its unanswered Calls. gm_lost: the connection has ended. */
	u32			gm_granted;
	u32			gm_in_flight;
	bool			gm_lost;
};

static u32 rpcrdma_grant_recvs(const struct rpcrdma_grant_model *gm)
{
	return gm->gm_posted + gm->gm_queued + gm->gm_making;
}

/* If @credits is more than is granted, make the Receives that are missing, and raise the grant.
 * Otherwise begin to take credits back, if that is possible now.
 */
static void rpcrdma_grant_model_change(struct rpcrdma_grant_model *gm,
				       u32 credits)
{
	u32 recvs = rpcrdma_grant_recvs(gm);

	if (credits <= gm->gm_grant.gn_told) {
		rpcrdma_grant_lower(&gm->gm_grant, credits);
		return;
	}
	gm->gm_excess = 0;
	if (recvs < credits)
		gm->gm_posted += credits - recvs;
	rpcrdma_grant_raise(&gm->gm_grant, credits);
}

/* A thread takes a Call, and begins to make its Reply. */
static void rpcrdma_grant_model_take(struct rpcrdma_grant_model *gm)
{
	u32 n = gm->gm_making++;

	gm->gm_queued--;
	if (rpcrdma_grant_arrived(&gm->gm_grant, 1))
		gm->gm_excess = rpcrdma_grant_recvs(gm) -
				gm->gm_grant.gn_bound;
	gm->gm_age[n] = rpcrdma_grant_open(&gm->gm_grant);
	gm->gm_says[n] = gm->gm_grant.gn_told;
}

/* A thread posts the Receive of a Call again, if it is needed, and then the Reply. */
static void rpcrdma_grant_model_post(struct rpcrdma_grant_model *gm, u32 n)
{
	u32 last = --gm->gm_making;

	if (gm->gm_excess)
		gm->gm_excess--;
	else
		gm->gm_posted++;
	gm->gm_reply[gm->gm_replies++] = gm->gm_says[n];
	gm->gm_sent_age[gm->gm_sending++] = gm->gm_age[n];
	gm->gm_age[n] = gm->gm_age[last];
	gm->gm_says[n] = gm->gm_says[last];
}

static void rpcrdma_grant_model_hear(struct rpcrdma_grant_model *gm)
{
	u32 i;

	gm->gm_granted = gm->gm_reply[0];
	gm->gm_in_flight--;
	gm->gm_replies--;
	for (i = 0; i < gm->gm_replies; i++)
		gm->gm_reply[i] = gm->gm_reply[i + 1];
}

static void rpcrdma_grant_model_complete(struct rpcrdma_grant_model *gm)
{
	u32 i;

	rpcrdma_grant_close(&gm->gm_grant, gm->gm_sent_age[0]);
	gm->gm_sending--;
	for (i = 0; i < gm->gm_sending; i++)
		gm->gm_sent_age[i] = gm->gm_sent_age[i + 1];
}

static void rpcrdma_grant_model_arrive(struct rpcrdma_grant_model *gm)
{
	gm->gm_calls--;
	gm->gm_lost = !gm->gm_posted;
	if (gm->gm_lost)
		return;
	gm->gm_posted--;
	gm->gm_queued++;
}

/* Do the step @what, if it is possible now. If the step posts a Reply, @which says which one. Both
 * are random.
 */
static void rpcrdma_grant_model_step(struct rpcrdma_grant_model *gm, u32 what,
				     u32 which)
{
	if (what == 0 && gm->gm_in_flight < gm->gm_granted) {
		gm->gm_in_flight++;
		gm->gm_calls++;
	} else if (what == 1 && gm->gm_calls) {
		rpcrdma_grant_model_arrive(gm);
	} else if (what == 2 && gm->gm_queued) {
		rpcrdma_grant_model_take(gm);
	} else if (what == 3 && gm->gm_making && gm->gm_sending < GRANT_QUEUE) {
		rpcrdma_grant_model_post(gm, which % gm->gm_making);
	} else if (what == 4 && gm->gm_replies) {
		rpcrdma_grant_model_hear(gm);
	} else if (what == 5 && gm->gm_sending) {
		rpcrdma_grant_model_complete(gm);
	}
}

/* Whichever kind of step is rare, each Call finds a Receive, and the requester never has a
 * grant of more than gn_bound credits. Credits come back at least 20 times.
 */
/* Covers: V1-CRD-09 V1-CRD-10 G-39 */
static void rpcrdma_grant_keeps_promises(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct rpcrdma_grant_model *gm;
	u32 i, slow = 0, back = 0, what, bound;

	gm = kunit_kzalloc(test, sizeof(*gm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gm);
	rpcrdma_grant_init(&gm->gm_grant, 1);
	gm->gm_posted = 1;
	gm->gm_granted = 1;
	for (i = 0; i < 500000 && !gm->gm_lost; i++) {
		if (i % 1000 == 0)
			slow = rpcrdma_kunit_random(fx, 7);
		what = rpcrdma_kunit_random(fx, 6);
		/* One kind of step, or none, is rarer than the others. */
		if (what == slow && rpcrdma_kunit_random(fx, 5))
			continue;
		bound = gm->gm_grant.gn_bound;
		rpcrdma_grant_model_step(gm, what, rpcrdma_kunit_random(fx, 64));
		back += gm->gm_grant.gn_bound < bound;
		if (!rpcrdma_kunit_random(fx, 3000))
			rpcrdma_grant_model_change(gm, 1 +
				rpcrdma_kunit_random(fx, GRANT_MOST));
		KUNIT_EXPECT_LE(test, gm->gm_granted, gm->gm_grant.gn_bound);
		KUNIT_EXPECT_GE(test, rpcrdma_grant_recvs(gm) - gm->gm_excess,
				gm->gm_grant.gn_bound);
	}
	KUNIT_EXPECT_FALSE(test, gm->gm_lost);
	KUNIT_EXPECT_GE(test, back, 20);
}

static struct kunit_case rpcrdma_grant_kunit_cases[] = {
	KUNIT_CASE(rpcrdma_grant_lowers),
	KUNIT_CASE(rpcrdma_grant_refuses),
	KUNIT_CASE(rpcrdma_grant_awaits_messages),
	KUNIT_CASE(rpcrdma_grant_raises),
	KUNIT_CASE(rpcrdma_grant_keeps_promises),
	{}
};

static struct kunit_suite rpcrdma_grant_suite = {
	.name = "rpcrdma_grant",
	.init = rpcrdma_kunit_init,
	.test_cases = rpcrdma_grant_kunit_cases,
};

kunit_test_suite(rpcrdma_grant_suite);
