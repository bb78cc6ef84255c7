// SPDX-License-Identifier: GPL-2.0
/*
 * Grants of a responder: when have credits that were taken back really come back?
 *
 * A responder may grant fewer credits than before (RFC 8166 3.3.1). But the requester may send as
 * many Calls as it was granted before, until it has received a message with the smaller grant. And
 * messages do not tell the responder what the requester has received. So the Receives for the old
 * grant have to stay until a conclusion is possible.
 *
 * The conclusion. Let all messages that may grant the old number be posted, and no message that
 * grants it be made any more. From then on, the requester receives at most the messages that are
 * under way, and then only messages with the smaller grant, because messages arrive in order. As
 * long as it has received none of these, it has no more Calls under way than the old grant, and no
 * Call that it sends can be answered in its eyes, except by messages that were posted before. So
 * Calls that take as many credits as the old grant may arrive, and not one more. If one more has
 * arrived, the requester has received a smaller grant, has then sent that Call, and had no more
 * Calls under way than the smaller grant. No Call that arrives later makes it more.
 *
 * Calls count when the responder looks at them, and not when they arrive. A Call that has
 * arrived before is one of the Calls under way, and is in the old grant as well.
 *
 * A requester that drops a Reply whose RPC it has given up may ignore the grant in it, but send
 * another Call. So this file waits for twice as many Calls. It would be wrong if a requester had
 * given up that many RPCs in a row, and the connection would be lost if the requester then used all
 * of its old grant at once.
 *
 * A requester that is silent never lets this come to a conclusion: see G-39.
 *
 * "Messages are posted in order" is a property of a reliable connection. Which messages were made,
 * but not posted yet when the grant was lowered, is counted by age: a message belongs to one of two
 * ages, which change when the grant is lowered. The next change has to wait until no message of the
 * former age is left.
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
 * @credits: number of credits, not less than gn_told; there are Receives for as many Calls
 *
 * If credits are being taken back, some of them are granted again, and the others are still being
 * taken back: all messages since then grant at most @credits. If all of them are granted again,
 * none is taken back.
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
 * Return: false if nothing has changed: @credits is not less than what the requester may believe to
 *	have; or credits are being taken back already, or messages that were made before that are
 *	still not posted, and then the caller tries again later.
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
 * No message that is posted after this may be closed before it is posted.
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
 * Return: true if the requester certainly knows the smaller grant now: gn_bound has been lowered.
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
