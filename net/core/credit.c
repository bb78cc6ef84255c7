// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: how many of those that a peer has granted are in use.
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

#include <linux/export.h>
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
 * rpcrdma_window_owe - the RPC of a Call in flight has been given up
 * @win: the window
 *
 * The peer does not know that the RPC was given up, and may still execute the Call. So the
 * credit stays in use until the Reply arrives, or the connection ends (RFC 8166 3.3.1).
 *
 * Context: any; the caller serialises.
 */
void rpcrdma_window_owe(struct rpcrdma_window *win)
{
	win->wn_owed++;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_owe);

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

/* Returns the number of credits in use: one for each of the @in_flight Calls, one for each Call
 * whose RPC was given up, and the further credits of all these Calls.
 */
static u64 rpcrdma_window_used(const struct rpcrdma_window *win, u32 in_flight)
{
	return (u64)win->wn_owed + win->wn_more + in_flight;
}

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
	u64 used = rpcrdma_window_used(win, in_flight);

	return limit > used ? limit - used : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_window_room);
