// SPDX-License-Identifier: GPL-2.0
/* The life of the RPCs of a client's transport: sent, answered, sent again, given up; and of its connection.
 *
 * Follows: net/client/{request,send,reply,complete,credit,req,connect}.c, and of sunrpc: call_transmit() to
 * call_status(), xprt_transmit(), the send lock (XPRT_LOCKED) with xprt->sending, xprt->pending, xprt_connect(),
 * xprt_autoclose(), xprt_release().
 * Checked: each RPC ends (no run is endless, so it is enough that none gets stuck). No Reply ends two RPCs or one
 * twice. When an RPC gets its Reply or its slot is freed, the server cannot access its memory, and nothing is pending.
 * There are never more Calls without a Reply than credits. No credit is lost.
 * Bounds: N slots with one RPC each, MOST credits; how often each kind of trouble happens is chosen by -D.
 * Left out: the order of sunrpc's queue, callbacks and lack of memory (queue.pml); Calls that are groups; RPCs that
 * fail because of their Reply, or whose pages Sends read; attempts to connect that fail; slots for which RPCs wait.
 */
#define N	2
#define MOST	2
#ifndef BREAKS
#define BREAKS	0	/* the connection is lost */
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 0	/* RPCs that are killed */
#endif
#ifndef ERRORS
#define ERRORS	0	/* errors of version 2, after which a Call is sent again */
#endif
#ifndef LOSSES
#define LOSSES	0	/* Calls that the server drops */
#endif
#ifndef TWICE
#define TWICE	0	/* Replies that come twice */
#endif
/* Not a slot; not a cookie */
#define NOBODY	255
#define WORKER	254
#define OLD	255

/* struct rpc_xprt */
bool locked, close_wait, cwnd_wait, connected = true, cleanup;
byte snd_task = NOBODY, cookie = 1, cong;
chan sending = [N] of { byte };
/* struct rpcrdma_conn: it works; its gates are open; a handler runs (cq_mutex) */
bool up = true, gate = true, handling;
/* struct rpcrdma_window; xr_owed has a bit for each XID */
byte wn_granted = 1, wn_owed, xr_owed;

/* struct rpc_rqst, struct xprt_rdma_req and the task of each slot */
typedef rpc {
	byte xid;
	bool need_xmit, need_recv, rq_cong;
	bool queued, pending;	/* asleep on xprt->sending, on xprt->pending */
	byte rq_cookie, pins;
	bool hold_reply, hold_fence, rr_msg, rr_resend, bad;
	bool mr;	/* the server can access memory of the RPC */
	bool inv	/* a local invalidation is in the send queue */
};
rpc rq[N];

/* Calls that the server has; those that it never answers; messages on their way to the client */
byte at_server, dropped;
chan to_client = [N + TWICE + 1] of { byte, byte, bool, bool };

/* What may still happen */
byte breaks = BREAKS, give_ups = GIVE_UPS, errors = ERRORS, losses = LOSSES, twice = TWICE;
/* For the assertions: Calls of this connection that have no Reply; RPCs that have got one, or have ended */
byte flight, got, ended;

#define room		(wn_granted > wn_owed)
#define congested	(cong + wn_owed >= wn_granted)
#define bit(x)		(1 << (x))
#define in_flight	((flight & 1) + (flight >> 1))

/* sunrpc, under transport_lock */
inline clear_locked()
{
	snd_task = NOBODY;
	if :: close_wait -> cleanup = true :: else -> locked = false fi
}
inline lock_write_next()	/* __xprt_lock_write_next_cong() */
{
	if :: !locked && !cwnd_wait && len(sending) -> locked = true; sending?snd_task; rq[snd_task].queued = false
	:: else fi
}
inline put_cong(i)		/* xprt_release_rqst_cong() */
{
	if :: rq[i].rq_cong ->
		rq[i].rq_cong = false; cong--;
		if :: !congested -> cwnd_wait = false :: else fi;
		lock_write_next()
	:: else fi
}
inline wake_sender()		/* xprt_rdma_credit_wake_sender() */
{
	if :: !congested -> cwnd_wait = false :: else fi;
	lock_write_next()
}
inline wake(i)
{
	if :: rq[i].pending -> rq[i].pending = false :: else fi
}
inline force_disconnect()
{
	if :: close_wait
	:: !close_wait && !locked -> close_wait = true; locked = true; cleanup = true
	:: else -> close_wait = true;
		if :: snd_task < N -> wake(snd_task) :: else fi
	fi
}
inline conn_fail()		/* rpcrdma_conn_fail(), xprt_rdma_lost() */
{
	if :: up -> up = false; if :: connected -> force_disconnect() :: else fi :: else fi
}
inline post_inv(i)		/* xprt_rdma_frwr_local_inv(), under xr_lock */
{
	if :: rq[i].mr -> rq[i].hold_fence = true;
		if :: gate -> rq[i].inv = true
		:: else		/* the connection is down */
		fi
	:: else fi
}
inline complete(i)		/* xprt_rdma_reply_complete() */
{
	assert(!rq[i].mr && !rq[i].hold_fence && !rq[i].hold_reply);
	if :: rq[i].bad ->
		atomic { put_cong(i) };
		atomic { rq[i].rr_resend = true; rq[i].bad = false; rq[i].rr_msg = false; rq[i].rq_cookie = OLD;
			wake(i); rq[i].pins-- }
	:: else ->
		atomic {
			assert(rq[i].need_recv && !(got & bit(rq[i].xid)));
			got = got | bit(rq[i].xid);
			rq[i].rr_msg = false; rq[i].need_recv = false; wake(i); rq[i].pins--
		}
	fi
}
inline reset(i)			/* xprt_rdma_req_reset_all() */
{
	rq[i].hold_reply = false; rq[i].hold_fence = false; rq[i].bad = false;
	if :: rq[i].rr_msg -> rq[i].rr_msg = false; rq[i].pins-- :: else fi
}
inline teardown()		/* xprt_rdma_teardown() */
{
	d_step { up = false; gate = false };	/* rpcrdma_conn_drain() */
	atomic {
		!handling ->	/* rpcrdma_conn_destroy_queues(), xprt_rdma_frwr_destroy_all() */
		do :: to_client?_, _, _, _ :: empty(to_client) -> break od;
		at_server = 0; dropped = 0; flight = 0;
		rq[0].inv = false; rq[1].inv = false; rq[0].mr = false; rq[1].mr = false
	};
	/* xprt_rdma_credit_reset_locked() */
	d_step { rq[0].rq_cong = false; rq[1].rq_cong = false; cong = 0; wn_granted = 1; wn_owed = 0; xr_owed = 0 };
	d_step { reset(0); reset(1) }
}
inline disconnect_done()
{
	atomic { cookie++; connected = false; cwnd_wait = false; lock_write_next(); wake(0); wake(1) }
}

/* xprt_lock_write() */
inline lock_write()
{
	atomic {
		if :: snd_task == me
		:: snd_task != me && !locked && !cwnd_wait -> locked = true; snd_task = me
		:: else -> sending!me; rq[me].queued = true fi
	};
	if :: snd_task == me
	:: snd_task != me && !rq[me].queued
	:: atomic { rq[me].queued && !rq[me].need_xmit -> sending??eval(me); rq[me].queued = false }
	:: atomic { rq[me].queued && give_ups -> give_ups--; sending??eval(me); rq[me].queued = false; goto release }
	fi
}
inline unlock_write()		/* xprt_release_write() */
{
	if :: snd_task == me -> clear_locked(); lock_write_next() :: else fi
}
inline sleep()			/* on xprt->pending */
{
	if :: !rq[me].pending
	:: atomic { rq[me].pending && give_ups -> give_ups--; rq[me].pending = false; goto release }
	/* xprt_rdma_timer() */
	:: atomic { rq[me].pending && (dropped & bit(rq[me].xid)) && rq[me].rq_cookie == cookie && connected && !close_wait ->
		rq[me].pending = false; force_disconnect() }
	fi
}

active [N] proctype task()
{
	byte me = _pid, i = N, c;

	d_step { rq[me].xid = me; rq[me].need_xmit = true; rq[me].need_recv = true; rq[me].rq_cookie = OLD };
transmit:	/* call_transmit() */
	lock_write();
	atomic {
		if :: snd_task != me -> goto receive
		:: snd_task == me && rq[me].need_xmit && !connected -> goto connect
		:: else fi
	};
	do	/* xprt_transmit() */
	:: atomic { (rq[0].need_xmit || rq[1].need_xmit) && (rq[me].need_xmit || rq[me].need_recv) ->
		if :: close_wait || !connected -> break :: else fi;
		if :: rq[0].need_xmit -> i = 0 :: rq[1].need_xmit -> i = 1 fi;
		rq[i].pins++; c = cookie };
		/* xprt_rdma_send_request() */
		atomic {
			if :: !rq[i].need_recv || rq[i].rq_cookie == cookie -> goto sent :: else fi;
			if :: rq[i].rq_cong
			:: !rq[i].rq_cong && !congested -> cong++; rq[i].rq_cong = true
			:: else -> cwnd_wait = true; break fi
		};
		/* xprt_rdma_send_post() */
		atomic {
			rq[i].rr_resend = false; rq[i].mr = true; rq[i].hold_reply = true;
			if :: up -> at_server = at_server | bit(rq[i].xid);
				flight = flight | bit(rq[i].xid); assert(in_flight <= wn_granted)
			:: !up
			:: !up -> goto close
			fi
		};
sent:		atomic {
			rq[i].rq_cookie = c; rq[i].need_xmit = false; rq[i].pins--;
			if :: rq[i].queued -> sending??eval(i); rq[i].queued = false :: else fi;
			i = N; c = 0
		}
	:: else -> goto end_transmit od;
end_transmit:
	atomic {
		if :: i < N -> rq[i].pins-- :: else fi;
		i = N; c = 0;
		unlock_write();
		if :: rq[me].need_xmit && connected -> goto transmit
		:: rq[me].need_xmit && !connected -> goto connect
		:: else -> goto receive fi
	};
close:	/* xprt_rdma_close() */
	teardown();
	disconnect_done();
	goto end_transmit;
receive:	/* xprt_request_wait_receive(), xprt_rdma_reply_wait() */
	atomic {
		if :: rq[me].need_recv ->
			if :: rq[me].rr_resend -> rq[me].rq_cookie = OLD :: else fi;
			rq[me].pending = (rq[me].rq_cookie == cookie && connected)
		:: else fi
	};
	sleep();
encode:	atomic {
		if :: !rq[me].need_recv -> goto release :: else fi;
		if :: rq[me].rq_cookie != cookie || !connected -> rq[me].need_xmit = true :: else fi;
		if :: !rq[me].need_xmit -> goto receive
		:: rq[me].need_xmit && connected -> goto transmit
		:: else fi
	};
connect:	/* xprt_connect() */
	lock_write();
	atomic {
		if :: snd_task == me && !connected && !close_wait ->
			rq[me].rq_cookie = cookie; rq[me].pending = true; snd_task = WORKER
		:: else -> unlock_write() fi
	};
	sleep();
	goto encode;
release:	/* xprt_release() */
	atomic { rq[me].pins == 0 -> rq[me].need_xmit = false; rq[me].need_recv = false };
	atomic {
		unlock_write();
		/* xprt_rdma_credit_release() */
		if :: rq[me].rq_cong && rq[me].hold_reply ->
			rq[me].hold_reply = false; wn_owed++; xr_owed = xr_owed | bit(rq[me].xid)
		:: else fi;
		put_cong(me)
	};
	/* xprt_rdma_req_free_buf() */
	atomic { post_inv(me) };
	atomic {
		!rq[me].hold_reply && !rq[me].hold_fence ->
		assert(!rq[me].mr && !rq[me].rr_msg);
		/* xprt_rdma_req_free_slot() */
		rq[me].rr_resend = false; rq[me].rq_cookie = 0;
		if :: !room -> force_disconnect() :: else fi
	}
	ended++
}

/* A Call at the server. The server answers in any order, and may use the memory of the RPC until then. */
active [N] proctype server()
{
	byte x = _pid - N, g;
	bool error, inv;

end:	do
	:: atomic { up && (at_server & ~dropped & bit(x)) ->
		at_server = at_server & ~bit(x);
		if :: g = 1 :: g = MOST fi;
		if :: error = false :: errors -> errors--; error = true fi;
		if :: inv = false :: inv = true fi;
		to_client!x, g, error, inv;
		if :: true :: twice -> twice--; to_client!x, g, error, false fi;
		g = 0; error = false; inv = false }
	:: atomic { losses && (at_server & ~dropped & bit(x)) -> losses--; dropped = dropped | bit(x) }
	od
}

inline fenced(i)
{
	handling = true; rq[i].inv = false; rq[i].mr = false; rq[i].hold_fence = false
}
inline followed(i)
{
	if :: rq[i].rr_msg -> complete(i) :: else fi;
	d_step { handling = false; i = 0 }
}

/* The handlers of messages and completions, which run one after the other */
active proctype handler()
{
	byte x, g, i;
	bool error, inv;

end:	do
	:: atomic { to_client?x, g, error, inv -> handling = true; flight = flight & ~bit(x);
			if	/* xprt_rdma_reply_match() */
			:: rq[0].need_recv && rq[0].xid == x && rq[0].hold_reply -> i = 0
			:: rq[1].need_recv && rq[1].xid == x && rq[1].hold_reply -> i = 1
			:: else -> i = N fi;
			if :: i < N -> rq[i].hold_reply = false; rq[i].rr_msg = true; rq[i].pins++ :: else fi
		};
		if :: i < N ->
			atomic {
				if	/* xprt_rdma_credit_grant() */
				:: !error -> wn_granted = g
				:: else -> rq[i].bad = true fi;
				if	/* xprt_rdma_reply_fence() */
				:: inv -> rq[i].mr = false
				:: else -> post_inv(i) fi
			};
			if :: !rq[i].hold_fence -> complete(i) :: else fi
		:: else -> atomic {	/* xprt_rdma_credit_late_reply() */
			if :: rq[0].xid == x && rq[0].hold_reply -> rq[0].hold_reply = false
			:: rq[1].xid == x && rq[1].hold_reply -> rq[1].hold_reply = false
			:: else ->
				if :: xr_owed & bit(x) ->
					xr_owed = xr_owed & ~bit(x); wn_owed--;
					wake_sender()
				:: else fi
			fi }
		fi;
		d_step { handling = false; x = 0; g = 0; i = 0; error = false; inv = false }
	/* xprt_rdma_frwr_wc_fenced() */
	:: atomic { rq[0].inv -> i = 0; fenced(i) }; followed(i)
	:: atomic { rq[1].inv -> i = 1; fenced(i) }; followed(i)
	od
}
active proctype breaker()
{
end:	do
	:: atomic { breaks && up -> breaks--; conn_fail() }
	od
}

active proctype connector()	/* xprt_rdma_connect_work() */
{
end:	do
	:: snd_task == WORKER ->
		d_step { up = true; gate = true; wn_granted = 1; wn_owed = 0 };
		d_step { cookie++; connected = true };
		atomic {
			if :: !up -> force_disconnect() :: else fi
		};
		d_step { wake(0); wake(1) };
		atomic { clear_locked(); lock_write_next() }
	od
}

active proctype closer()	/* xprt_autoclose() */
{
end:	do
	:: d_step { cleanup -> cleanup = false; cookie++; close_wait = false };
		teardown();
		disconnect_done();
		atomic { clear_locked(); lock_write_next() }
	od
}

active proctype judge()
{
	/* No credit is lost. */
end:	atomic { ended == N && empty(to_client) && !handling && up && !cleanup ->
		assert(cong == 0 && !(xr_owed & ~at_server)) }
}
