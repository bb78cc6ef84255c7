// SPDX-License-Identifier: GPL-2.0
/* How a server raises its grant, lowers it, and finds out that the client knows the smaller grant.
 *
 * Follows: the second part of net/core/credit.c (rpcrdma_grant_*()), net/server/credit.c, the notices of
 * net/server/negotiate.c, rpcrdma_recv_put() and the pool in net/verbs/recv.c, svc_rdma_send_post().
 * Checked: there is a Receive for each message that is on its way, and the spare ones are left for a CONNPROP, and for
 * a Call that the client was just sending when it answered a notice. No process is stuck.
 * Bounds: MAX credits, two threads, any number of Calls; GIVE_UPS RPCs given up, whose Replies' grants the client may
 * ignore; one CONNPROP on its way to the server, and two notices that are not answered.
 * Left out: how many credits are needed (any number is chosen); memory that is short; batches of Receives (size.c),
 * which do not exist for so few; Receives for callbacks; Calls of several Sends; lost connections.
 */
#ifndef MAX
#define MAX	2	/* max_requests */
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 2
#endif
#ifndef NOTICES
#define NOTICES	1	/* 0: version 1, which has no notices */
#endif
#define SPARE	2	/* RPCRDMA_RECV_SPARE */
#define ROUNDS	2	/* rpcrdma_grant_arrived() */

mtype = { CALL, REPLY, CONNPROP };
/* A connection delivers messages in order. A message has an XID; to the client also a grant. */
chan to_server = [MAX + SPARE] of { mtype, byte };
chan to_client = [MAX + 3] of { mtype, byte, byte };

/* struct rpcrdma_grant, struct svc_rdma_credits, struct rpcrdma_recv_pool */
byte gn_granted = 1, gn_bound = 1, gn_arrived;
byte posted = 1 + SPARE, held, rp_excess;
bool sx_grow, cd_told;
byte cd_notice;
/* RCU: the threads that are about to post a message; those of them that cd_posted waits for */
byte readers, cd_posted;
byte extra;		/* CONNPROPs of the client, until their Receives are given back */
bool late;		/* the client had a credit for its next Call when a notice took that credit back */
byte notices;		/* XIDs of notices that are not answered, one bit each */

#define owed		(gn_bound > gn_granted)
#define most(a, b)	((a) * ((a) > (b)) + (b) * ((a) <= (b)))
#define enough		assert(posted + extra + late >= len(to_server) + SPARE)

inline shrink(count)	/* rpcrdma_recv_pool_shrink() */
{
	rp_excess = most(posted + held, count) - (count)
}
inline grow(count)	/* rpcrdma_recv_pool_grow_gfp() */
{
	if :: rp_excess && posted + held > (count) -> shrink(count)
	:: else -> rp_excess = 0; posted = most(posted + held, count) - held fi
}
inline put()		/* rpcrdma_recv_put() */
{
	d_step {
		held--;
		if :: rp_excess -> rp_excess-- :: else -> posted++ fi;
		enough
	}
}
inline post(type, xid)	/* svc_rdma_send_post(), svc_rdma_send_grant() */
{
	atomic { readers = readers | me; grant = gn_granted };
	d_step { to_client!type, grant, xid; readers = readers & ~me; cd_posted = cd_posted & ~me; grant = 0 }
}
inline ask()		/* svc_rdma_credits_ask() */
{
	cd_told = !cd_posted;
	if :: !(notices & 1) -> cd_notice = 1
	:: (notices & 1) && !(notices & 2) -> cd_notice = 2
	:: else -> cd_notice = 4 fi
}

active proctype client()
{
	byte granted = 1, flight, gone, give_ups = GIVE_UPS, grant, xid;
	bool ready;

	do	/* xprt_rdma_send_request(): a grant, or a notice, may come between the two steps. */
	:: d_step { !ready && flight + gone < granted -> flight++; ready = true }
	:: d_step { ready && nfull(to_server) -> ready = false; to_server!CALL, 0; enough }
	:: d_step { flight > ready && give_ups -> flight--; gone++; give_ups-- }
	:: atomic { to_client?REPLY, grant, _ ->
		if :: flight > ready -> flight--; granted = grant :: gone -> gone-- fi;
		late = late && flight > granted; grant = 0 }
	/* xprt_rdma_negotiate_confirm() */
	:: atomic { to_client?CONNPROP, granted, xid -> late = (late || ready) && flight > granted;
		if :: !extra -> to_server!CONNPROP, xid; extra++; enough
		:: notices = notices & ~xid
		fi; xid = 0 }
	od
}

active [2] proctype thread()
{
	byte me = 1 << _pid, grant, want, xid;

	do :: atomic { to_server?CALL, _ -> posted--; held++;
		/* svc_rdma_credits_take_back() */
		if :: !sx_grow && owed && !cd_posted ->
			gn_arrived++;
			if :: gn_arrived > ROUNDS * gn_bound -> gn_bound = gn_granted; gn_arrived = 0; shrink(gn_bound + SPARE)
			:: else fi
		:: else fi };
		/* svc_rdma_credits_extend() */
		if :: atomic { !sx_grow && gn_granted < MAX -> sx_grow = true; select(want: (gn_granted + 1) .. MAX) };
			d_step { grow(most(want, gn_bound) + SPARE) };
			d_step { gn_granted = want; gn_bound = most(want, gn_bound) };
			d_step { want = 0; sx_grow = false }
		:: true
		fi;
		put();
		post(REPLY, 0)
	:: atomic { to_server?CONNPROP, xid -> posted--; held++ };
		d_step { extra--; put() };
		/* svc_rdma_credits_confirm() */
		atomic { !sx_grow -> sx_grow = true; notices = notices & ~xid };
		if :: d_step { xid != cd_notice -> sx_grow = false; xid = 0 }
		:: xid == cd_notice ->
			if :: cd_told -> gn_bound = gn_granted; gn_arrived = 0 :: else -> !cd_posted fi;
			d_step {
				shrink(gn_bound + SPARE); ask(); xid = 0;
				if :: owed || rp_excess -> xid = cd_notice; notices = notices | xid :: else fi;
				sx_grow = false
			};
			if :: xid -> post(CONNPROP, xid); xid = 0 :: else fi
		fi
	od
}

active proctype review()	/* svc_rdma_credits_review() */
{
	byte me = 1 << _pid, grant, want, xid;

	do :: atomic { !sx_grow ->
		if :: gn_granted > 1 -> select(want: 1 .. (gn_granted - 1));
			gn_granted = want; want = 0; gn_arrived = 0;
			cd_posted = readers
		:: true
		fi;
		shrink(gn_bound + SPARE); ask();
		if :: NOTICES && (owed || rp_excess) && (notices == 0 || notices == 1 || notices == 2 || notices == 4) ->
			xid = cd_notice; notices = notices | xid
		:: true
		fi };
		if :: xid -> post(CONNPROP, xid); xid = 0 :: else fi
	od
}
