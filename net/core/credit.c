// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: how many of those that a peer has granted are in use (the first part, for a requester),
 * and how many a responder should grant, and has promised (the second part).
 *
 * A credit stands for one Send of a Call, and for a Receive at the responder. Each Call in
 * flight uses one credit. A Call of several Sends also uses *further credits*, one for each Send
 * after the first. It takes all of them at once. If too few are free, it takes none, and does not
 * wait for them: it is sent in another form (RTX-78).
 *
 * The number of credits in use is the sum of three numbers. wn_owed is the number of Calls whose
 * RPCs were given up, but whose Replies have not come. wn_more is the number of further credits of
 * all Calls. The caller passes the number of Calls that have a credit and whose RPCs were not given
 * up (@in_flight).
 *
 * The caller locks the window, and wakes up RPCs that wait for room in it. Each direction of a
 * connection has a window of its own (rfc5666bis 8.2.1).
 *
 * See RFC 8166 3.3; G-15, G-16.
 */

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/credit.h>

/**
 * rpcrdma_window_reset - set the window of a new connection
 * @win: the window
 * @requested: credits that will be asked for; 0 counts as 1
 *
 * Only one message may be sent before the peer has granted credits (RFC 8166 3.3.3). This
 * rule applies after a reconnect, too.
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_window_reset(struct rpcrdma_window *win, u32 requested)
{
	win->wn_requested = max(requested, 1u);
	win->wn_granted = 1;
	win->wn_owed = 0;
	win->wn_more = 0;
	win->wn_opened = false;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_reset);

/**
 * rpcrdma_window_grant - apply the grant of a message that is not an error
 * @win: the window
 * @credit: rdma_credit as received, any value
 *
 * A grant of 0 would stop all traffic, so it counts as 1. A grant of more credits than were
 * requested counts as the number requested, because there are no Receives for more Replies
 * (RFC 8166 3.3.1).
 *
 * Context: any; the caller serialises.
 * Return: true if the grant has changed.
 */
bool rpcrdma_window_grant(struct rpcrdma_window *win, u32 credit)
{
	u32 before = win->wn_granted;

	win->wn_granted = clamp(credit, 1u, win->wn_requested);
	win->wn_opened = true;
	return win->wn_granted != before;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_grant);

/**
 * rpcrdma_window_grant_error - apply the grant of an RDMA_ERROR
 * @win: the window
 * @credit: rdma_credit as received, any value
 *
 * The grant of an error is valid if its XID is known. But an error does not open the
 * initial window of a connection (G-15).
 *
 * Context: any; the caller serialises, and has matched the XID.
 * Return: true if the grant has changed.
 */
bool rpcrdma_window_grant_error(struct rpcrdma_window *win, u32 credit)
{
	return win->wn_opened && rpcrdma_window_grant(win, credit);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_grant_error);

/**
 * rpcrdma_window_repay - a Reply has arrived that no RPC waits for
 * @win: the window
 *
 * Context: any; the caller serialises.
 * Return: true if the Reply has returned a credit.
 */
bool rpcrdma_window_repay(struct rpcrdma_window *win)
{
	if (!win->wn_owed)
		return false;
	win->wn_owed--;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_repay);

/**
 * rpcrdma_window_more - how many further credits may a Call take?
 * @win: the window
 * @in_flight: number of Calls that have a credit and whose RPCs were not given up, including this
 *	Call
 *
 * The further credits of all Calls together must not become more than half of the grant, because
 * the other half is for Calls that need only one credit (RTX-79).
 *
 * Context: any; the caller serialises.
 * Return: number of credits.
 */
u32 rpcrdma_window_more(const struct rpcrdma_window *win, u32 in_flight)
{
	u32 half = win->wn_granted / 2;

	return min(rpcrdma_window_room(win, in_flight),
		   half - min(half, win->wn_more));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_more);

/**
 * rpcrdma_window_take_more - take the further credits of a Call
 * @win: the window
 * @in_flight: as for rpcrdma_window_more()
 * @more: number of further credits that the Call needs
 *
 * The credits stay taken if the grant shrinks (RTX-81), or if the Call is given up (RTX-100).
 *
 * Context: any; the caller serialises.
 * Return: true if the Call got all of them; false if it got none. The caller then sends the
 *	Call in a form that needs only one credit (RTX-78).
 */
bool rpcrdma_window_take_more(struct rpcrdma_window *win, u32 in_flight,
			      u32 more)
{
	if (more > rpcrdma_window_more(win, in_flight))
		return false;
	win->wn_more += more;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_take_more);

/**
 * rpcrdma_window_give_more - return the further credits of a Call
 * @win: the window
 * @more: number of further credits that the Call has taken
 *
 * Context: any; the caller serialises.
 * Return: true if at least one credit was returned.
 */
bool rpcrdma_window_give_more(struct rpcrdma_window *win, u32 more)
{
	more = min(more, win->wn_more);
	win->wn_more -= more;
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_give_more);

/**
 * rpcrdma_window_room - how many more Calls may be sent now
 * @win: the window
 * @in_flight: number of Calls that have a credit and whose RPCs were not given up. If it is 0, the
 *	result is the largest number of such Calls that the window allows.
 *
 * A grant may shrink below the number of credits in use (RFC 8166 3.3.1). Then there is
 * no room until enough Replies have arrived.
 *
 * Context: any; the caller serialises.
 * Return: number of Calls; 0 if the window is full.
 */
u32 rpcrdma_window_room(const struct rpcrdma_window *win, u32 in_flight)
{
	u32 limit = min(win->wn_granted, win->wn_requested);
	u64 used = (u64)win->wn_owed + win->wn_more + in_flight;

	return limit > used ? limit - used : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_room);

/*
 * Grants of a responder: how many credits does a requester use, how many should it get, and when
 * does it know that credits were taken back?
 *
 * Need
 *
 * A requester in version 2 says in each Call how many credits it could use, and gets twice that
 * number. In version 1 the number that it asks for is its maximum, so the responder counts. By
 * Little's law, the number of Calls in flight is their rate, multiplied by the time from one Call
 * to the next that can use the same credit. No rate and no time is needed to apply the law: let
 * the responder take a Call at the time T, and let the next Call that it takes after a round trip
 * be the one at T'. Until T + one round trip, no answer that was posted after T can have led to
 * another Call. So the credits in use were those of the Calls that were not answered at T, and of
 * the Calls that were taken between T and T'. If one RPC follows the other, this number is 1,
 * however fast they are, and if a window is full, it is the size of the window, however long the
 * round trip is.
 *
 * The round trip contains the time that the requester takes to react, because a requester that is
 * held up by its window needs this time for each of its credits, too. So it is measured where the
 * protocol forbids a second Call in flight: the first message of a connection follows its
 * acceptance, and the second one follows the first answer, because only one may be sent before (RFC
 * 8166 3.3.3). But a requester may be slow at that time. So the completions of the first Sends are
 * used, too, unless they only show that the Sends have left (iWARP). Of all these times, the
 * shortest is used. If it is too long for later Calls, the requester gets more than it needs.
 *
 * If at least three quarters of the credits are used, the requester may need more, and nobody knows
 * how many: it gets four times as many, so a full window of 128 takes three round trips. Otherwise
 * it needs twice as many as it uses. What it turns out not to need is taken back later.
 *
 * Taking credits back
 *
 * A responder may grant fewer credits than before (RFC 8166 3.3.1). But until the requester has
 * received a message with the smaller grant, it may have as many unanswered Calls as the old grant
 * allows. No message tells the responder what the requester has received. So the Receives for the
 * old grant must stay until the responder can conclude that the requester knows the smaller grant.
 *
 * The conclusion is this. Let T be the time when the last message with the old grant is
 * posted. All messages posted after T have the smaller grant. A connection delivers messages in
 * order. Until the requester receives one of these messages, the Calls that are unanswered at T,
 * and those that it still sends, take no more credits than the old grant. So if Calls that arrive
 * after T take more credits, the requester has received a message with the smaller grant. When it
 * sent the last of these Calls, its unanswered Calls were within the smaller grant, and they stay
 * within it.
 *
 * A Call is counted when the responder looks at it. A Call that is counted after T may have arrived
 * before T. That does no harm, because the Call is unanswered at T.
 *
 * A requester that has given up an RPC may ignore the grant in its Reply, but still send another
 * Call. So rpcrdma_grant_arrived() waits until Calls have taken more than twice the old grant.
 * There is one exception in which even that is not enough: the requester has given up as many RPCs
 * in a row as the old grant has credits. If it then uses all of the old grant at once, the
 * connection is lost.
 *
 * If the requester sends no Calls, the Receives stay: see G-39 in decisions.rst.
 */

/* Time in nanoseconds that a requester takes at least from a Reply to the next Call */
#define RPCRDMA_NEED_REACTS	30000u

static void rpcrdma_need_round(struct rpcrdma_need *need, u64 time)
{
	u32 rtt = clamp(time, 1ull, (u64)U32_MAX);

	WRITE_ONCE(need->nd_rtt, min_not_zero(READ_ONCE(need->nd_rtt), rtt));
}

/**
 * rpcrdma_need_sent - a Send has completed that the requester's device has acknowledged
 * @need: need of the requester
 * @time: how long that took, in nanoseconds
 *
 * Context: any; need not be serialised with the other functions.
 */
void rpcrdma_need_sent(struct rpcrdma_need *need, u64 time)
{
	rpcrdma_need_round(need, time + RPCRDMA_NEED_REACTS);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_need_sent);

/**
 * rpcrdma_need_heard - the first message after nd_since is taken
 * @need: need of the requester
 * @now: time in nanoseconds
 * @answered: number of Receives whose messages were answered
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_need_heard(struct rpcrdma_need *need, u64 now, u32 answered)
{
	rpcrdma_need_round(need, now - need->nd_since);
	need->nd_since = now;
	need->nd_answered = answered;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_need_heard);

/**
 * rpcrdma_need_used - a message is taken
 * @need: need of the requester; its round trip was measured
 * @now: time in nanoseconds
 * @taken: number of Receives whose messages were taken before
 * @answered: number of Receives whose messages were answered
 * @told: number of credits that the requester has
 *
 * Context: any; the caller serialises.
 * Return: number of credits that were in use in the last round trip; 0 if it has not passed yet,
 *	unless so many are in use already that the requester gets more.
 */
u32 rpcrdma_need_used(struct rpcrdma_need *need, u64 now, u32 taken,
		      u32 answered, u32 told)
{
	u32 used = taken - need->nd_answered;

	if (now - need->nd_since < READ_ONCE(need->nd_rtt) &&
	    ++used < told - told / 4)
		return 0;
	need->nd_since = now;
	need->nd_answered = answered;
	return used;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_need_used);

/**
 * rpcrdma_need_grows - how many credits should a requester have that does not say it?
 * @used: number of credits that it uses
 * @told: number of credits that it has
 *
 * Context: any.
 * Return: number of credits.
 */
u32 rpcrdma_need_grows(u32 used, u32 told)
{
	return used >= told - told / 4 ? 4 * told : 2 * used;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_need_grows);

/**
 * rpcrdma_grant_raise - grant more credits
 * @grant: the grant
 * @credits: number of credits, not less than gn_granted; there is a Receive for each of them
 *
 * If credits are being taken back, this may grant only some of them again. The others are still
 * being taken back, because no message that was posted since rpcrdma_grant_lower() has granted
 * more than @credits.
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_grant_raise(struct rpcrdma_grant *grant, u32 credits)
{
	WRITE_ONCE(grant->gn_granted, credits);
	WRITE_ONCE(grant->gn_bound, max(grant->gn_bound, credits));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_raise);

/**
 * rpcrdma_grant_lower - begin to take credits back
 * @grant: the grant
 * @credits: number of credits that are left, at least 1
 *
 * gn_bound does not change until rpcrdma_grant_arrived() returns true.
 *
 * Context: any; the caller serialises.
 * Return: false if the requester has no more than @credits anyway.
 */
bool rpcrdma_grant_lower(struct rpcrdma_grant *grant, u32 credits)
{
	if (credits >= grant->gn_granted)
		return false;
	WRITE_ONCE(grant->gn_granted, credits);
	grant->gn_arrived = 0;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_lower);

/**
 * rpcrdma_grant_arrived - a Call has arrived while credits are being taken back
 * @grant: the grant; all messages that are posted since rpcrdma_grant_lower() have at most
 *	gn_granted, and no other message is being posted any more
 * @credits: number of credits that the Call takes
 *
 * Context: any; the caller serialises.
 * Return: true if it can be concluded now that the requester knows the smaller grant, and gn_bound
 *	has been lowered. "Taking credits back" above describes an exception.
 */
bool rpcrdma_grant_arrived(struct rpcrdma_grant *grant, u32 credits)
{
	grant->gn_arrived += credits;
	if (grant->gn_arrived <= 2 * (u64)grant->gn_bound)
		return false;
	WRITE_ONCE(grant->gn_bound, grant->gn_granted);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_arrived);
