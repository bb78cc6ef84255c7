// SPDX-License-Identifier: GPL-2.0
/* How Calls and the Reply to a callback share sunrpc's send queue, while credits and memory are short.
 *
 * Follows: net/client/request.c and credit.c, and of sunrpc: xprt_request_enqueue_transmit(), xprt_prepare_transmit(),
 * xprt_transmit(), and the send lock with xprt->sending and XPRT_CWND_WAIT.
 * Checked: all are sent in the end, though the server answers no Call before it has the Reply to its callback.
 * Bounds: CALLS Calls and one callback, CREDITS credits, memory for MEMORY Calls at the same time.
 * Left out: lost connections, RPCs that are given up (client.pml), several requests of one owner (rq_xmit2).
 */
#ifndef CALLS
#define CALLS	2
#endif
#ifndef CREDITS
#define CREDITS	1
#endif
#ifndef MEMORY
#define MEMORY	1	/* Calls that there is memory for at the same time */
#endif
#define ANSWER	CALLS	/* the Reply to the callback; it counts as having a credit */
#define NOBODY	255

bool locked, cwnd_wait, queue_lock, again;
byte snd_task = NOBODY, cong;
chan sending = [CALLS + 1] of { byte };
chan xmit_queue = [CALLS + 1] of { byte };
bool need_xmit[CALLS + 1], rq_cong[CALLS + 1], queued[CALLS + 1];
byte used;		/* memory, by Calls that are posted */
byte at_server;		/* a bit for each Call */
bool answered;		/* the server has the Reply to its callback */
byte ended;

#define congested	(cong >= CREDITS)

inline lock_write_next()	/* __xprt_lock_write_next_cong() */
{
	if :: !locked && !cwnd_wait && len(sending) -> locked = true; sending?snd_task; queued[snd_task] = false
	:: else fi
}
inline put_cong()		/* __xprt_put_cong() */
{
	cong--;
	if :: !congested -> cwnd_wait = false :: else fi;
	lock_write_next()
}
inline step_back()		/* xprt_rdma_credit_step_back() */
{
	if :: need_xmit[ANSWER] ->
		xmit_queue??eval(ANSWER); xmit_queue!ANSWER; n = len(xmit_queue);
		do :: n > 1 -> n--; xmit_queue?head; xmit_queue!head :: else -> break od;
		n = 0; head = 0
	:: else fi
}
inline wait_for_credit()	/* xprt_set_congestion_window_wait(), xprt_rdma_credit_yield() */
{
	xmit_queue?<head>;
	if :: !rq_cong[head] -> cwnd_wait = true :: else fi;
	head = 0
}
inline lock_write()		/* xprt_prepare_transmit() */
{
	atomic {
		if :: snd_task == me
		:: snd_task != me && !locked && !cwnd_wait -> locked = true; snd_task = me
		:: else -> sending!me; queued[me] = true fi
	};
	atomic {
		if :: !queued[me] :: queued[me] && !need_xmit[me] -> sending??eval(me); queued[me] = false fi
	}
}
/* xprt_transmit(), xprt_end_transmit(): until the request @me is sent */
inline transmit()
{
	do :: need_xmit[me] ->
		lock_write();
		do :: atomic { snd_task == me && !queue_lock && len(xmit_queue) -> xmit_queue?<i> };
			if :: i == ANSWER -> answered = true
			:: i < CALLS ->
				/* xprt_rdma_send_request(), __xprt_get_cong() */
				atomic {
					!queue_lock ->
					if :: !congested -> cong++; rq_cong[i] = true
					:: else -> wait_for_credit(); break fi
				};
				/* xprt_rdma_send_call() */
				if :: used < MEMORY -> atomic { used++; at_server = at_server | (1 << i) }
				:: else ->
					/* xprt_rdma_credit_yield() */
					atomic {
						!queue_lock -> rq_cong[i] = false; put_cong(); step_back();
						wait_for_credit(); again = true; break
					}
				fi
			fi;
			atomic {
				!queue_lock -> xmit_queue??eval(i); need_xmit[i] = false;
				if :: queued[i] -> sending??eval(i); queued[i] = false :: else fi;
				i = 0
			}
		:: atomic { snd_task == me && !queue_lock && !len(xmit_queue) -> break }
		:: snd_task != me -> break
		od;
		atomic {
			i = 0;
			if :: snd_task == me -> snd_task = NOBODY; locked = false; lock_write_next() :: else fi
		}
	:: else -> break od
}

active [CALLS] proctype call()
{
	byte me = _pid, i, head, n;

	/* xprt_request_enqueue_transmit() */
	atomic { !queue_lock -> need_xmit[me] = true; xmit_queue!me };
	transmit();
	/* The server answers no Call before the callback is answered. */
	answered && (at_server & (1 << me));
	/* xprt_rdma_credit_release() */
	atomic { used--; rq_cong[me] = false; put_cong(); ended++ }
}

active proctype callback()
{
	byte me = ANSWER, i, head, n;

	/* Any Call may cause the callback. */
	at_server;
	/* xprt_rdma_bc_fill(), xprt_request_enqueue_transmit() */
	atomic { !queue_lock -> queue_lock = true; rq_cong[me] = true };
	atomic {
		if :: cwnd_wait -> cwnd_wait = false; lock_write_next() :: else fi
	};
	d_step {
		n = len(xmit_queue);
		do :: n -> n--; xmit_queue?i;
			if :: !rq_cong[i] && rq_cong[me] && !need_xmit[me] -> xmit_queue!me; need_xmit[me] = true
			:: else fi;
			xmit_queue!i
		:: else -> break od;
		if :: !need_xmit[me] -> xmit_queue!me; need_xmit[me] = true :: else fi;
		i = 0; queue_lock = false
	};
	transmit();
	ended++
}

active proctype again_work()	/* xprt_rdma_credit_again_work() */
{
end:	do
	:: atomic { again -> again = false; cong++; put_cong() }
	od
}

ltl all_end { <> (ended == CALLS + 1) }
