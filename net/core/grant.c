// SPDX-License-Identifier: GPL-2.0
/*
 * Grants of a responder: when does the requester know that credits were taken back?
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
 * Call. So this file waits until Calls have taken more than twice the old grant. There is one
 * exception in which even that is not enough: the requester has given up as many RPCs in a row as
 * the old grant has credits. If it then uses all of the old grant at once, the connection is lost.
 *
 * If the requester sends no Calls, the Receives stay: see G-39 in decisions.rst.
 *
 * When the grant is lowered, some messages with the old grant may have been made, but not posted.
 * To count these, each message has an age, 0 or 1. The age of new messages changes whenever the
 * grant is lowered. The grant is not lowered again until all messages of the previous age have been
 * posted or dropped.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/grant.h>

/**
 * rpcrdma_grant_init - set the grant of a new connection
 * @grant: the grant
 * @credits: number of credits for which there are Receives
 *
 * Context: any.
 */
void rpcrdma_grant_init(struct rpcrdma_grant *grant, u32 credits)
{
	grant->gn_told = credits;
	grant->gn_bound = credits;
	grant->gn_lowering = false;
	grant->gn_age = 0;
	grant->gn_open[0] = 0;
	grant->gn_open[1] = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_init);

/**
 * rpcrdma_grant_raise - grant more credits
 * @grant: the grant
 * @credits: number of credits, not less than gn_told; there is a Receive for each of them
 *
 * If credits are being taken back, this may grant only some of them again. The others are still
 * being taken back, because no message that was begun (rpcrdma_grant_open()) since
 * rpcrdma_grant_lower() has granted more than @credits.
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_grant_raise(struct rpcrdma_grant *grant, u32 credits)
{
	grant->gn_told = credits;
	grant->gn_bound = max(grant->gn_bound, credits);
	if (grant->gn_told == grant->gn_bound)
		grant->gn_lowering = false;
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
 * Return: true if the grant was lowered; false if @credits is not less than gn_bound, if credits
 *	are being taken back already, or if messages with an earlier grant are not posted yet. In
 *	the last two cases, the caller tries again later.
 */
bool rpcrdma_grant_lower(struct rpcrdma_grant *grant, u32 credits)
{
	if (credits >= grant->gn_bound || grant->gn_lowering ||
	    grant->gn_open[!grant->gn_age])
		return false;
	grant->gn_told = credits;
	grant->gn_lowering = true;
	grant->gn_age = !grant->gn_age;
	grant->gn_arrived = 0;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_lower);

/**
 * rpcrdma_grant_open - begin to make a message with a grant
 * @grant: the grant
 *
 * The caller reads gn_told after this, and before the message is closed.
 *
 * Context: any; the caller serialises.
 * Return: age of the message, for rpcrdma_grant_close().
 */
u8 rpcrdma_grant_open(struct rpcrdma_grant *grant)
{
	grant->gn_open[grant->gn_age]++;
	return grant->gn_age;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_open);

/**
 * rpcrdma_grant_close - a message was posted, or will not be posted
 * @grant: the grant
 * @age: what rpcrdma_grant_open() has returned for the message
 *
 * After this, the message must not be posted any more.
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_grant_close(struct rpcrdma_grant *grant, u8 age)
{
	grant->gn_open[age]--;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_close);

/**
 * rpcrdma_grant_arrived - a Call has arrived
 * @grant: the grant
 * @credits: number of credits that the Call takes
 *
 * Context: any; the caller serialises.
 * Return: true if it can be concluded now that the requester knows the smaller grant, and gn_bound
 *	has been lowered. The comment at the top of this file describes an exception.
 */
bool rpcrdma_grant_arrived(struct rpcrdma_grant *grant, u32 credits)
{
	if (!grant->gn_lowering || grant->gn_open[!grant->gn_age])
		return false;
	grant->gn_arrived += credits;
	if (grant->gn_arrived <= 2 * (u64)grant->gn_bound)
		return false;
	grant->gn_bound = grant->gn_told;
	grant->gn_lowering = false;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_grant_arrived);
