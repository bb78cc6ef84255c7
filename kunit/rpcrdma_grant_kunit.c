// SPDX-License-Identifier: GPL-2.0
/* Unit tests of net/core/credit.c: how many credits a requester gets, and how they come back. */

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include <rpcrdma/credit.h>
#include <rpcrdma/size.h>

#include "rpcrdma_kunit.h"

#define GRANT_MOST	64u

static struct rpcrdma_grant grant_of(u32 credits)
{
	return (struct rpcrdma_grant) {
		.gn_granted	= credits,
		.gn_bound	= credits,
	};
}

/* Let Calls of one credit each arrive until credits have come back. Returns the number of Calls. */
static u32 grant_wait(struct rpcrdma_grant *grant)
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
static void grant_lowers(struct kunit *test)
{
	struct rpcrdma_grant grant;
	u32 bound;

	for (bound = 2; bound <= GRANT_MOST; bound++) {
		grant = grant_of(bound);
		KUNIT_EXPECT_FALSE(test, rpcrdma_grant_lower(&grant, bound));
		KUNIT_EXPECT_FALSE(test,
				   rpcrdma_grant_lower(&grant, bound + 1));
		KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, bound - 1));
		KUNIT_EXPECT_EQ(test, grant.gn_granted, bound - 1);
		KUNIT_EXPECT_EQ(test, grant.gn_bound, bound);
		KUNIT_EXPECT_EQ(test, grant_wait(&grant), 2 * bound + 1);
		KUNIT_EXPECT_EQ(test, grant.gn_granted, bound - 1);
		KUNIT_EXPECT_EQ(test, grant.gn_bound, bound - 1);
	}
	/* A Call of several Sends takes several credits. */
	grant = grant_of(10);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 1));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 20));
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_arrived(&grant, 1));
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 1);
	/* If the grant is lowered twice, the Calls are counted from the second time on. */
	grant = grant_of(8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 4));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 16));
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_EQ(test, grant_wait(&grant), 17);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 2);
}

/* If some of the credits that are being taken back are granted again, only the others come back. If
 * all are granted again (up to gn_bound), none comes back.
 */
static void grant_raises(struct kunit *test)
{
	struct rpcrdma_grant grant = grant_of(1);

	rpcrdma_grant_raise(&grant, 8);
	KUNIT_EXPECT_EQ(test, grant.gn_granted, 8);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 16));
	rpcrdma_grant_raise(&grant, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_granted, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 8);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_arrived(&grant, 1));
	KUNIT_EXPECT_EQ(test, grant.gn_granted, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 4);
	KUNIT_EXPECT_TRUE(test, rpcrdma_grant_lower(&grant, 2));
	KUNIT_EXPECT_FALSE(test, rpcrdma_grant_arrived(&grant, 8));
	rpcrdma_grant_raise(&grant, 4);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, grant.gn_granted);
	rpcrdma_grant_raise(&grant, 100);
	KUNIT_EXPECT_EQ(test, grant.gn_bound, 100);
}

/* A model of a connection. Calls and Replies arrive in the order in which they were sent. Threads
 * of the responder take Calls, and post Replies. Each Reply gets its grant as posting begins, and
 * some time may pass until it is posted: this is a read-side critical section of RCU. So if one
 * began before the grant was lowered, no Call is counted until it is posted (gm_old). A Call that
 * finds no Receive ends the connection.
 */
#define GRANT_QUEUE	(2 * GRANT_MOST)

struct grant_model {
	struct rpcrdma_grant	gm_grant;
	/* Receives of the responder: those that are posted, and those with a Call that no thread
	 * has taken. Threads hold gm_making further Receives.
	 */
	u32			gm_posted;
	u32			gm_queued;
	/* number of Receives to remove: a thread removes one instead of posting it again */
	u32			gm_excess;
	/* Calls that threads execute; and Replies that are being posted: their number, their
	 * grants, and how many of them, the first ones, had their grants before it was last lowered
	 */
	u32			gm_making;
	u32			gm_posting;
	u32			gm_says[GRANT_QUEUE];
	u32			gm_old;
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

static u32 grant_recvs(const struct grant_model *gm)
{
	return gm->gm_posted + gm->gm_queued + gm->gm_making;
}

/* If @credits is more than is granted, make the Receives that are missing, and raise the grant.
 * Otherwise begin to take credits back, if that is possible now.
 */
static void grant_model_change(struct grant_model *gm, u32 credits)
{
	u32 recvs = grant_recvs(gm);

	if (credits <= gm->gm_grant.gn_granted) {
		if (rpcrdma_grant_lower(&gm->gm_grant, credits))
			gm->gm_old = gm->gm_posting;
		return;
	}
	gm->gm_excess = 0;
	if (recvs < credits)
		gm->gm_posted += credits - recvs;
	rpcrdma_grant_raise(&gm->gm_grant, credits);
}

/* A thread takes a Call. */
static void grant_model_take(struct grant_model *gm)
{
	gm->gm_making++;
	gm->gm_queued--;
	if (gm->gm_grant.gn_bound > gm->gm_grant.gn_granted && !gm->gm_old &&
	    rpcrdma_grant_arrived(&gm->gm_grant, 1))
		gm->gm_excess = grant_recvs(gm) - gm->gm_grant.gn_bound;
}

/* A thread posts the Receive of a Call again, if it is needed, and begins to post the Reply. */
static void grant_model_begin(struct grant_model *gm)
{
	gm->gm_making--;
	if (gm->gm_excess)
		gm->gm_excess--;
	else
		gm->gm_posted++;
	gm->gm_says[gm->gm_posting++] = gm->gm_grant.gn_granted;
}

/* The Reply number @n of those that are being posted is posted. */
static void grant_model_post(struct grant_model *gm, u32 n)
{
	gm->gm_reply[gm->gm_replies++] = gm->gm_says[n];
	gm->gm_posting--;
	gm->gm_old -= n < gm->gm_old;
	for (; n < gm->gm_posting; n++)
		gm->gm_says[n] = gm->gm_says[n + 1];
}

static void grant_model_hear(struct grant_model *gm)
{
	u32 i;

	gm->gm_granted = gm->gm_reply[0];
	gm->gm_in_flight--;
	gm->gm_replies--;
	for (i = 0; i < gm->gm_replies; i++)
		gm->gm_reply[i] = gm->gm_reply[i + 1];
}

static void grant_model_arrive(struct grant_model *gm)
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
static void grant_model_step(struct grant_model *gm, u32 what, u32 which)
{
	if (what == 0 && gm->gm_in_flight < gm->gm_granted) {
		gm->gm_in_flight++;
		gm->gm_calls++;
	} else if (what == 1 && gm->gm_calls) {
		grant_model_arrive(gm);
	} else if (what == 2 && gm->gm_queued) {
		grant_model_take(gm);
	} else if (what == 3 && gm->gm_making) {
		grant_model_begin(gm);
	} else if (what == 4 && gm->gm_replies) {
		grant_model_hear(gm);
	} else if (what == 5 && gm->gm_posting) {
		grant_model_post(gm, which % gm->gm_posting);
	}
}

/* Whichever kind of step is rare, each Call finds a Receive, and the requester never has a grant of
 * more than gn_bound credits. Credits come back at least 20 times.
 */
/* Covers: V1-CRD-09 V1-CRD-10 G-39 */
static void grant_keeps_promises(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct grant_model *gm;
	u32 i, slow = 0, back = 0, what, bound;

	gm = kunit_kzalloc(test, sizeof(*gm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gm);
	gm->gm_grant = grant_of(1);
	gm->gm_posted = 1;
	gm->gm_granted = 1;
	for (i = 0; i < 500000 && !gm->gm_lost; i++) {
		if (i % 1000 == 0)
			slow = fx_random(fx, 7);
		what = fx_random(fx, 6);
		/* One kind of step, or none, is rarer than the others. */
		if (what == slow && fx_random(fx, 5))
			continue;
		bound = gm->gm_grant.gn_bound;
		grant_model_step(gm, what, fx_random(fx, 64));
		back += gm->gm_grant.gn_bound < bound;
		if (!fx_random(fx, 3000))
			grant_model_change(gm, 1 + fx_random(fx, GRANT_MOST));
		KUNIT_EXPECT_LE(test, gm->gm_granted, gm->gm_grant.gn_bound);
		KUNIT_EXPECT_GE(test, grant_recvs(gm) - gm->gm_excess,
				gm->gm_grant.gn_bound);
	}
	KUNIT_EXPECT_FALSE(test, gm->gm_lost);
	KUNIT_EXPECT_GE(test, back, 20);
}

/* A simulation of processes of a client, each of which makes one RPC after the other, and of a
 * server whose threads are never short. It has a clock of its own, in nanoseconds.
 */
#define NEED_MOST	128u	/* max_requests */
#define NEED_SERVICE	10000u	/* what a Call takes at the server */
#define NEED_REACTS	15000u	/* what the client takes from a Reply to the next Call */
#define NEED_WAKES	100000u	/* what the client takes from its connection to the first Call */
#define NEED_MOUNT	8u	/* Calls, one after the other, until the server knows the client */

enum need_state { NEED_IDLE, NEED_THINKS, NEED_WAITS, NEED_SENT, NEED_SERVED,
		  NEED_REPLY };

struct need_process {
	enum need_state	np_state;
	u64			np_until;	/* end of the state, except NEED_IDLE, NEED_WAITS */
	u32			np_word;	/* credit value of its Call or Reply */
};

struct need_sim {
	bool				ns_says;	/* the client says what it needs */
	u32				ns_rtt;
	u64				ns_now;
	struct need_process	ns_process[NEED_MOST];
	/* The client: its grant, the largest one, Calls in flight, processes without a credit */
	u32				ns_granted;
	u32				ns_most;
	u32				ns_in_flight;
	u32				ns_waiting;
	/* The server */
	struct rpcrdma_need		ns_need;
	u32				ns_told;
	u32				ns_taken;
	u32				ns_answered;
	u32				ns_peak;
};

/* Processes that wait send their Calls, as far as there are credits. */
static void need_send(struct need_sim *ns)
{
	struct need_process *np;

	for (np = ns->ns_process; np < ns->ns_process + NEED_MOST; np++) {
		if (ns->ns_in_flight >= ns->ns_granted || !ns->ns_waiting)
			return;
		if (np->np_state != NEED_WAITS)
			continue;
		np->np_word = ns->ns_in_flight + ns->ns_waiting;
		ns->ns_in_flight++;
		ns->ns_waiting--;
		np->np_state = NEED_SENT;
		np->np_until = ns->ns_now + ns->ns_rtt / 2;
	}
}

/* What server/credit.c does */
static void need_take(struct need_sim *ns, u32 asked)
{
	u32 used = 0, want;

	if (ns->ns_taken < 2)
		rpcrdma_need_heard(&ns->ns_need, ns->ns_now, ns->ns_answered);
	else
		used = rpcrdma_need_used(&ns->ns_need, ns->ns_now, ns->ns_taken,
					 ns->ns_answered, ns->ns_told);
	ns->ns_taken++;
	if (used)
		used = max(used, ns->ns_taken - ns->ns_answered);
	want = used ? rpcrdma_need_grows(used, ns->ns_told) : 0;
	if (ns->ns_says) {
		used = asked;
		want = 2 * asked;
	}
	if (ns->ns_taken <= NEED_MOUNT)
		return;
	ns->ns_peak = max(ns->ns_peak, used);
	ns->ns_told = max(ns->ns_told, min(want, NEED_MOST));
}

/* The state of the process ends whose state ends next. */
static void need_step(struct need_sim *ns)
{
	struct need_process *np, *next = NULL;

	for (np = ns->ns_process; np < ns->ns_process + NEED_MOST; np++)
		if (np->np_state != NEED_IDLE && np->np_state != NEED_WAITS &&
		    (!next || np->np_until < next->np_until))
			next = np;
	ns->ns_now = next->np_until;
	switch (next->np_state) {
	case NEED_THINKS:
		next->np_state = NEED_WAITS;
		ns->ns_waiting++;
		need_send(ns);
		return;
	case NEED_SENT:
		need_take(ns, next->np_word);
		next->np_state = NEED_SERVED;
		next->np_until += NEED_SERVICE;
		return;
	case NEED_SERVED:
		if (!ns->ns_answered++)
			ns->ns_need.nd_since = ns->ns_now;
		next->np_word = ns->ns_told;
		next->np_state = NEED_REPLY;
		next->np_until += ns->ns_rtt / 2;
		return;
	default:
		ns->ns_granted = next->np_word;
		ns->ns_most = max(ns->ns_most, ns->ns_granted);
		ns->ns_in_flight--;
		next->np_state = NEED_THINKS;
		next->np_until += NEED_REACTS;
		need_send(ns);
		return;
	}
}

/* @n processes begin at the same time, after a mount. Returns the number of round trips until the
 * client can have all their Calls in flight, times 10. Runs for 20 round trips.
 */
static u32 need_run(struct need_sim *ns, u32 n, u32 rtt, bool says)
{
	u32 trip = rtt + NEED_SERVICE + NEED_REACTS, i, full = 0;
	u64 began;

	memset(ns, 0, sizeof(*ns));
	ns->ns_says = says;
	ns->ns_rtt = rtt;
	ns->ns_granted = 1;
	ns->ns_told = 2;
	ns->ns_need.nd_since = 0;
	ns->ns_process[0].np_state = NEED_THINKS;
	ns->ns_process[0].np_until = rtt / 2 + NEED_WAKES;
	while (ns->ns_answered < NEED_MOUNT)
		need_step(ns);
	began = ns->ns_now;
	for (i = 1; i < n; i++) {
		ns->ns_process[i].np_state = NEED_THINKS;
		ns->ns_process[i].np_until = began + i;
	}
	while (ns->ns_now < began + 20ull * trip) {
		need_step(ns);
		if (!full && ns->ns_granted >= n)
			full = div_u64((ns->ns_now - began) * 10, trip) ?: 1;
	}
	return full;
}

/* The round trip is the shortest time that was measured, from 1 ns to what 32 bits can hold. */
/* Covers: G-39 */
static void need_rtt(struct kunit *test)
{
	struct rpcrdma_need need = { };

	rpcrdma_need_sent(&need, 5ull << 32);
	KUNIT_EXPECT_EQ(test, need.nd_rtt, U32_MAX);
	rpcrdma_need_sent(&need, 20);
	KUNIT_EXPECT_EQ(test, need.nd_rtt, 30020);
	need.nd_since = 100;
	rpcrdma_need_heard(&need, 150, 3);
	KUNIT_EXPECT_EQ(test, need.nd_rtt, 50);
	KUNIT_EXPECT_EQ(test, need.nd_since, 150);
	KUNIT_EXPECT_EQ(test, need.nd_answered, 3);
	rpcrdma_need_sent(&need, 0);
	KUNIT_EXPECT_EQ(test, need.nd_rtt, 50);
	need.nd_since = 200;
	rpcrdma_need_heard(&need, 200, 3);
	KUNIT_EXPECT_EQ(test, need.nd_rtt, 1);
}

/* Of 16 credits, the need is known when a round trip has passed, or when 12 are in use. */
/* Covers: G-39 */
static void need_round_trip(struct kunit *test)
{
	struct rpcrdma_need need = {
		.nd_since	= 1000, .nd_rtt		= 100, .nd_answered	= 10,
	};

	KUNIT_EXPECT_EQ(test, rpcrdma_need_used(&need, 1050, 20, 12, 16), 0);
	KUNIT_EXPECT_EQ(test, need.nd_since, 1000);
	KUNIT_EXPECT_EQ(test, need.nd_answered, 10);
	KUNIT_EXPECT_EQ(test, rpcrdma_need_used(&need, 1050, 21, 12, 16), 12);
	KUNIT_EXPECT_EQ(test, need.nd_since, 1050);
	KUNIT_EXPECT_EQ(test, need.nd_answered, 12);
	KUNIT_EXPECT_EQ(test, rpcrdma_need_used(&need, 1149, 22, 17, 16), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_need_used(&need, 1150, 22, 17, 16), 10);
	KUNIT_EXPECT_EQ(test, need.nd_since, 1150);
	KUNIT_EXPECT_EQ(test, need.nd_answered, 17);
	KUNIT_EXPECT_EQ(test, rpcrdma_need_grows(11, 16), 22);
	KUNIT_EXPECT_EQ(test, rpcrdma_need_grows(12, 16), 64);
}

/* A client with n RPCs in flight gets at most 2n + 2 credits, at any round trip, and can have all
 * of them in flight after four round trips. The memory is that of Receives of 32 KB and Sends of 16
 * KB in version 2, and of 4 KB each in version 1.
 */
/* Covers: G-39 */
static void need_table(struct kunit *test)
{
	static const u32 ns[] = { 1, 4, 16, 64, 128 };
	static const u32 rtts[] = { 10000, 200000, 10000000, 100000000 };
	struct need_sim *sim;
	u32 vers, i, j, full, kb;

	sim = kunit_kzalloc(test, sizeof(*sim), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sim);
	for (vers = 1; vers <= 2; vers++)
		for (i = 0; i < ARRAY_SIZE(ns); i++)
			for (j = 0; j < ARRAY_SIZE(rtts); j++) {
				full = need_run(sim, ns[i], rtts[j], vers == 2);
				kb = vers == 2 ? 32 *
					rpcrdma_size_recvs(sim->ns_told + 2) +
					16 * sim->ns_told :
				     4 * rpcrdma_size_recvs(sim->ns_told) +
					     4 * sim->ns_told;
				kunit_info(test,
					   "version %u, %u RPCs, round trip %u us: %u credits, %u KB, all in flight after %u.%u round trips",
					   vers, ns[i], rtts[j] / 1000,
					   sim->ns_told, kb, full / 10,
					   full % 10);
				KUNIT_EXPECT_LE(test, sim->ns_most,
						2 * ns[i] + 2);
				KUNIT_EXPECT_GE(test, sim->ns_granted, ns[i]);
				KUNIT_EXPECT_LE(test, full, 40);
				KUNIT_EXPECT_GT(test, full, 0);
			}
}

/* This is true of any number of RPCs. But in version 1, the server may grant up to six times as
 * many credits as there are RPCs, until it reviews them.
 */
/* Covers: G-39 */
static void need_any_number(struct kunit *test)
{
	struct need_sim *sim;
	u32 vers, n, full, rtt;

	sim = kunit_kzalloc(test, sizeof(*sim), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sim);
	for (vers = 1; vers <= 2; vers++)
		for (n = 1; n <= NEED_MOST; n++) {
			rtt = n % 2 ? 10000 : 1000000;
			full = need_run(sim, n, rtt, vers == 2);
			KUNIT_EXPECT_LE(test, full, 40);
			KUNIT_EXPECT_GT(test, full, 0);
			KUNIT_EXPECT_LE(test, sim->ns_most,
					vers == 2 ? 2 * n + 2 : 6 * n + 2);
			KUNIT_EXPECT_LE(test, 2 * sim->ns_peak, 2 * n + 2);
		}
}

static struct kunit_case grant_kunit_cases[] = {
	KUNIT_CASE(grant_lowers),
	KUNIT_CASE(grant_raises),
	KUNIT_CASE(grant_keeps_promises),
	KUNIT_CASE(need_rtt),
	KUNIT_CASE(need_round_trip),
	KUNIT_CASE(need_table),
	KUNIT_CASE(need_any_number),
	{}
};

static struct kunit_suite rpcrdma_grant_suite = {
	.name = "rpcrdma_grant",
	.init = fx_init,
	.test_cases = grant_kunit_cases,
};

kunit_test_suite(rpcrdma_grant_suite);
