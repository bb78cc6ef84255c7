// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the version that a connection speaks, and its limits in version 2.
 *
 * This file owns xr_vers and, in version 2, the limits of the connection. (marshal.c may lower
 * one of the limits, lm_inline_recv.) This file ends a connection only if there is no common
 * version, if the first message cannot be sent, or if the server does not answer it. This file
 * knows nothing about RPCs.
 *
 * Operation
 *
 * If version 2 may be used (client_version is 2, and xr_v1_only is not set), the first message on
 * a connection is our CONNPROP, which announces our properties. No other message is sent before the
 * answer has come (version-two 7). The connect worker waits for the answer, so sunrpc is told of
 * the connection only after its version is settled. rpcrdma_negotiate_answer() interprets the
 * answer. The completion handler applies the result at once, because the next message may follow
 * immediately. The answer decides which version is used:
 *
 *	CONNPROP, or an error of version 2 other than ERR_VERS: version 2
 *	ERR_VERS whose range of versions contains version 1 or is missing, or ERR_CHUNK from a
 *		version 1 server that did not look at the version: version 1 on the same
 *		connection, at the cost of one round trip
 *	ERR_VERS whose range of versions does not contain version 1: none; the connection is
 *		closed
 *	no answer, or the connection is lost before one comes: xr_v1_only is set, and the
 *		worker connects again with version 1
 *
 * If the new connection with version 1 fails as well, xr_v1_only is cleared: the server was
 * not available, and may come back with another version. An ERR_VERS alone does not
 * set xr_v1_only, since negotiating again costs only a round trip. But if the connection
 * breaks after ERR_VERS and before a Reply has come, xr_v1_only is set (version-two 7, 7.2;
 * G-20). A server that has spoken version 2 on an earlier connection may only have been too
 * busy to answer. So for such a server, version 2 is tried once more the next time that the
 * client connects.
 *
 * Until the version is known, there are only a few Receives, which are large enough for both
 * versions. The version determines the size of Receives, so all others are created after the
 * negotiation (version-two 7.1).
 *
 * This file also owns xr_write_max: the maximum length of a Call's item (DDP-eligible data) that
 * goes by Sends and not by RDMA Read. It depends on the round trip (cn_rtt), which is the shortest
 * time that connecting, the answer to our CONNPROP, or any Reply took. sunrpc computes how long
 * each Reply took (rq_rtt), and few Replies after the first ones of a connection are quicker than
 * all before.
 */
#include <linux/random.h>
#include <rpcrdma/param.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/props.h>

#include "trace.h"
#include "xprt_rdma.h"

static unsigned int xprt_rdma_client_version = RPCRDMA_VERS_2;
rpcrdma_param_range(client_version, xprt_rdma_client_version, RPCRDMA_VERS_1,
		    RPCRDMA_VERS_2);
MODULE_PARM_DESC(client_version,
		 "Client: highest version of RPC over RDMA, 1 or 2");

static unsigned int xprt_rdma_v2_inline = XPRT_RDMA_DEF_V2_INLINE;
rpcrdma_param_range(rdma_v2_inline, xprt_rdma_v2_inline, RPCRDMA_INLINE_MIN,
		    RPCRDMA_INLINE_MAX);
MODULE_PARM_DESC(rdma_v2_inline,
		 "Client: bytes of the largest inline message in version 2, 1024 to 65536");

static unsigned int xprt_rdma_rtx = 1;
rpcrdma_param_range(rdma_rtx, xprt_rdma_rtx, 0, 1);
MODULE_PARM_DESC(rdma_rtx,
		 "Client: send long messages in several Sends where the server takes that, 0 or 1");

static unsigned int xprt_rdma_rtx_write_max;
rpcrdma_param_range(rdma_rtx_write_max, xprt_rdma_rtx_write_max, 0,
		    XPRT_RDMA_RTX_MAX);
MODULE_PARM_DESC(rdma_rtx_write_max,
		 "Client: bytes of the largest data item that is sent in Sends, 0: by the round trip");

/* Maximum time for a server to answer the first message (G-20) */
#define XPRT_RDMA_NEGOTIATE_TIMEOUT	(5 * HZ)

/* Version 2: length in bytes of the largest message that a peer may send before it knows our
 * limits. When memory is short, or the transport is used for swap, Receives are no larger than
 * this.
 */
#define XPRT_RDMA_NEGOTIATE_DEFAULT	4096u

/**
 * xprt_rdma_negotiate_size - choose the size of the next connection's Receives
 * @xr: transport
 * @size: size in bytes that is configured
 *
 * Each Receive takes contiguous memory. If the last attempt to connect failed for lack of
 * memory, there may be no large contiguous pieces, so each Receive gets at most
 * %XPRT_RDMA_NEGOTIATE_DEFAULT bytes. If the transport is used for swap, this maximum always
 * applies, so that not even the first attempt needs large pieces.
 *
 * Context: process.
 * Return: size in bytes, at most @size.
 */
u32 xprt_rdma_negotiate_size(const struct xprt_rdma *xr, u32 size)
{
	if (xr->xr_no_memory || atomic_read(&xr->xr_xprt.swapper))
		return min(size, XPRT_RDMA_NEGOTIATE_DEFAULT);
	return size;
}

/**
 * xprt_rdma_negotiate_init - prepare the negotiation of a new connection
 * @xr: transport whose connection is new; send lock held
 *
 * Reads the module parameters that are defined in this file, for this connection. If version 2
 * must not be used, sets xr_vers to 1, and nothing is negotiated.
 *
 * Context: process.
 */
void xprt_rdma_negotiate_init(struct xprt_rdma *xr)
{
	u32 highest = READ_ONCE(xprt_rdma_client_version);

	xr->xr_vers = highest < RPCRDMA_VERS_2 || xr->xr_v1_only ?
		      RPCRDMA_VERS_1 : 0;
	xr->xr_v2_inline = xprt_rdma_negotiate_size(xr,
						    READ_ONCE(xprt_rdma_v2_inline));
	/* Announce that the client may send Calls as groups (group.c). It accepts no
	 * backward Calls that are groups, sends no Replies to callbacks as groups, and its
	 * Receives have no target segments.
	 */
	if (READ_ONCE(xprt_rdma_rtx) && !xr->xr_rtx_broken)
		xr->xr_rtx.xp_flags = RPCRDMA2_RTX_F_SENDS;
}

/**
 * xprt_rdma_negotiate_recv_size - return the size of Receives that are created now
 * @xr: transport; before xprt_rdma_negotiate(), or after it has succeeded
 *
 * Context: process. Send lock held.
 * Return: size in bytes.
 */
u32 xprt_rdma_negotiate_recv_size(const struct xprt_rdma *xr)
{
	switch (xr->xr_vers) {
	case RPCRDMA_VERS_1:
		return xr->xr_conn.cn_ours.cp_recv_size;
	case RPCRDMA_VERS_2:
		/* xr_v2_inline is announced as RBSIZ, the property with the size of our
		 * Receives. If it is below the default, a server need not respect it
		 * (version-two 5.3.4; G-19). lm_inline_recv is not used here, because
		 * xprt_rdma_marshal_learn() may have lowered it.
		 */
		return max(xr->xr_v2_inline, XPRT_RDMA_NEGOTIATE_DEFAULT);
	default:
		return max3(xr->xr_conn.cn_ours.cp_recv_size,
			    xr->xr_v2_inline, XPRT_RDMA_NEGOTIATE_DEFAULT);
	}
}

/* Computes the maximum length of items that go by Sends. cq_mutex held. */
static void xprt_rdma_negotiate_write_max(struct xprt_rdma *xr)
{
	const struct rpcrdma_conn *conn = &xr->xr_conn;
	u32 send = xprt_rdma_placing_send(xr) ?:
		   conn->cn_limits.lm_inline_send;
	u32 rtt = min_t(s64, ktime_to_us(conn->cn_rtt), U32_MAX);

	WRITE_ONCE(xr->xr_write_max,
		   rpcrdma_plan_write_max(&conn->cn_rtx, send, rtt,
					  READ_ONCE(xprt_rdma_rtx_write_max)));
}

/**
 * xprt_rdma_negotiate_rtt - use the time that an answer took
 * @xr: transport
 * @rtt: time from sending the message until its answer came
 *
 * The shortest time is the estimate of the round trip. No answer comes sooner than the network
 * allows, and every measured time is the round trip and some delay, for example that of a thread
 * that wakes up. (T-40)
 *
 * Context: completion queue's workqueue; cq_mutex held.
 */
void xprt_rdma_negotiate_rtt(struct xprt_rdma *xr, ktime_t rtt)
{
	if (rtt >= xr->xr_conn.cn_rtt)
		return;
	WRITE_ONCE(xr->xr_conn.cn_rtt, rtt);
	xprt_rdma_negotiate_write_max(xr);
}

static void xprt_rdma_negotiate_limits(struct xprt_rdma *xr, u32 recv_size,
				       const struct rpcrdma2_props *peer)
{
	struct rpcrdma_cm_private ours = {
		.cp_send_size	= xr->xr_v2_inline,
		.cp_recv_size	= recv_size,
		.cp_remote_inv	= rpcrdma_remote_inv,
	};

	rpcrdma2_props_limits(&ours, peer, &xr->xr_conn.cn_limits);
	if (peer)
		xr->xr_conn.cn_rtx = peer->vp_rtx;
	xr->xr_props_received = peer;
	xprt_rdma_negotiate_write_max(xr);
}

static void xprt_rdma_negotiate_v2(struct xprt_rdma *xr,
				   const struct rpcrdma_hdr *hdr,
				   enum rpcrdma_verdict verdict, bool plain)
{
	rpcrdma_count(client_v2_connects);
	if (!xr->xr_props_received)
		xprt_rdma_negotiate_limits(xr, xr->xr_v2_inline,
					   plain ? NULL : &hdr->hd_props);
	/* If the server has answered our CONNPROP with an error, it may not have read the
	 * size of our Receives. In that case it assumes the default size.
	 */
	if (hdr->hd_proc == RPCRDMA2_ERROR)
		xr->xr_conn.cn_limits.lm_inline_recv =
			min(xr->xr_v2_inline, XPRT_RDMA_NEGOTIATE_DEFAULT);
	/* The answer to our CONNPROP has the first grant (G-16). If the answer is an
	 * error, the grant remains one credit.
	 */
	if (rpcrdma2_is_grant(hdr, verdict))
		xprt_rdma_credit_grant(xr, hdr->hd_credit, false);
	xr->xr_v2_spoken = true;
	WRITE_ONCE(xr->xr_vers, RPCRDMA_VERS_2);
}

/**
 * xprt_rdma_negotiate_receive - handle a message before the version is settled
 * @xr: transport whose xr_vers is 0
 * @msg: the message, which this function gives back
 *
 * Nothing is sent in return, since only our CONNPROP may be sent before the version is
 * settled. A message can be the answer only after the CONNPROP has been sent. A message
 * that comes before the connection is %RPCRDMA_CONN_UP at this end is dropped, because the
 * limits of the connection may still change.
 *
 * Context: completion queue's workqueue.
 */
void xprt_rdma_negotiate_receive(struct xprt_rdma *xr,
				 struct rpcrdma_msg_in *msg)
{
	enum rpcrdma_negotiate answer = RPCRDMA_NEGOTIATE_WAIT;
	enum rpcrdma_verdict verdict;
	struct rpcrdma_hdr hdr;

	if (unlikely(!rpcrdma_conn_is_up(&xr->xr_conn))) {
		rpcrdma_msg_put(msg);
		rpcrdma_count(client_bad_messages);
		return;
	}
	verdict = rpcrdma2_decode_reply(rpcrdma_msg_head(msg),
					rpcrdma_msg_head_room(msg),
					RPCRDMA2_NEGOTIATING, &hdr);
	rpcrdma_msg_put(msg);
	/* Pairs with smp_store_release() in xprt_rdma_negotiate() */
	if (smp_load_acquire(&xr->xr_negotiate_asked))
		answer = rpcrdma_negotiate_answer(&hdr, verdict,
						  xr->xr_negotiate_xid);
	trace_xprt_rdma_nego(&hdr, answer);
	if (answer != RPCRDMA_NEGOTIATE_WAIT)
		xprt_rdma_negotiate_rtt(xr, ktime_sub(ktime_get(),
						      xr->xr_negotiate_at));

	switch (answer) {
	case RPCRDMA_NEGOTIATE_WAIT:
		rpcrdma_count(client_bad_messages);
		if (verdict == RPCRDMA_BACKWARD_CALL &&
		    hdr.hd_proc == RPCRDMA2_CONNPROP)
			xprt_rdma_negotiate_apply(xr, &hdr);
		return;
	case RPCRDMA_NEGOTIATE_V1:
		rpcrdma_count(client_fallbacks);
		xr->xr_fell_back = true;
		/* Before this answer, the server may have sent an unsolicited CONNPROP.
		 * Forget its properties, and use the limits of version 1.
		 */
		memset(&xr->xr_conn.cn_rtx, 0, sizeof(xr->xr_conn.cn_rtx));
		xprt_rdma_negotiate_write_max(xr);
		rpcrdma_props_limits(&xr->xr_conn.cn_ours,
				     xr->xr_conn.cn_peer_data,
				     xr->xr_conn.cn_peer_len,
				     &xr->xr_conn.cn_limits);
		WRITE_ONCE(xr->xr_vers, RPCRDMA_VERS_1);
		break;
	case RPCRDMA_NEGOTIATE_V2:
	case RPCRDMA_NEGOTIATE_V2_PLAIN:
		xprt_rdma_negotiate_v2(xr, &hdr, verdict,
				       answer == RPCRDMA_NEGOTIATE_V2_PLAIN);
		break;
	case RPCRDMA_NEGOTIATE_NONE:
		rpcrdma_conn_fail(&xr->xr_conn, -EPROTONOSUPPORT);
		return;
	}
	rpcrdma_conn_step(&xr->xr_conn);
}

/**
 * xprt_rdma_negotiate_apply - apply the properties of an unsolicited CONNPROP
 * @xr: transport
 * @hdr: valid header of a CONNPROP with F_RESPONSE clear
 *
 * Only the first properties that the server announces on a connection are applied. An
 * unsolicited CONNPROP is not answered (version-two 5.3.4; G-17). Posted Sends are not
 * affected. If a Send is being built at this time, its buffer may be smaller than the new
 * limit, which xprt_rdma_marshal_plan() takes into account.
 *
 * Context: completion queue's workqueue.
 */
void xprt_rdma_negotiate_apply(struct xprt_rdma *xr,
			       const struct rpcrdma_hdr *hdr)
{
	u32 recv_size = xr->xr_v2_inline;

	if (xr->xr_props_received)
		return;
	if (xr->xr_vers == RPCRDMA_VERS_2)
		recv_size = xr->xr_conn.cn_limits.lm_inline_recv;
	xprt_rdma_negotiate_limits(xr, recv_size, &hdr->hd_props);
}

static int xprt_rdma_negotiate_send(struct xprt_rdma *xr, u32 xid)
{
	struct xprt_rdma_send *send;
	struct rpcrdma2_props props;
	int rc;

	rpcrdma2_props_default(&props);
	props.vp_value[RPCRDMA2_PROP_RBSIZ] = xr->xr_v2_inline;
	props.vp_value[RPCRDMA2_PROP_BRS] = RPCRDMA2_OUR_BRS;
	props.vp_rtx = xr->xr_rtx;

	send = xprt_rdma_send_get(xr, XPRT_RDMA_GFP);
	if (!send)
		return -ENOBUFS;
	rc = rpcrdma2_encode_connprop(send->sn_send.sd_buf.bf_data,
				      send->sn_send.sd_buf.bf_size, xid,
				      xr->xr_window.wn_requested, false,
				      &props);
	if (rc > 0)
		rc = xprt_rdma_send_post(send, rc, NULL);
	if (rc && rc != -ENOTCONN)
		xprt_rdma_send_put(send);
	return rc;
}

/**
 * xprt_rdma_negotiate_confirm - confirm that the client knows a grant
 * @xr: transport; its version is settled
 * @hdr: valid header of a CONNPROP with F_RESPONSE set that answers nothing
 *
 * A server sends such a message to a client that sends nothing, when it takes credits back. The
 * client answers with a CONNPROP of the same XID. This answer also uses up a Receive of the server,
 * which cannot be freed otherwise (G-39). If it cannot be sent, the server tries again later. The
 * client answers each XID once: a server may answer every CONNPROP, and the two would never stop.
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_negotiate_confirm(struct xprt_rdma *xr,
				 const struct rpcrdma_hdr *hdr)
{
	xprt_rdma_credit_grant(xr, hdr->hd_credit, false);
	xprt_rdma_credit_check(xr);
	if (hdr->hd_xid == xr->xr_negotiate_xid)
		return;
	xr->xr_negotiate_xid = hdr->hd_xid;
	xprt_rdma_negotiate_send(xr, hdr->hd_xid);
}

/**
 * xprt_rdma_negotiate - settle the version of a new connection
 * @xr: transport; its connection is up and unused
 *
 * Context: process; sleeps for up to 5 seconds. Send lock held.
 * Return: 0, and xr_vers and the limits are valid; or a negative errno. If xr_v1_only is set
 *	after an error, a new connection with version 1 may succeed.
 */
int xprt_rdma_negotiate(struct xprt_rdma *xr)
{
	unsigned long timeout;
	int rc;

	if (xr->xr_vers)
		return 0;
	timeout = min_t(unsigned long, XPRT_RDMA_NEGOTIATE_TIMEOUT,
			READ_ONCE(xr->xr_xprt.connect_timeout));
	xr->xr_negotiate_xid = get_random_u32();
	xr->xr_negotiate_at = ktime_get();
	/* Pairs with smp_load_acquire() in xprt_rdma_negotiate_receive() */
	smp_store_release(&xr->xr_negotiate_asked, true);
	if (xr->xr_rtx.xp_flags)
		rpcrdma_gather_start(&xr->xr_conn, &xr->xr_rtx,
				     RPCRDMA_PLAN_REPLIES);
	rc = xprt_rdma_negotiate_send(xr, xr->xr_negotiate_xid);
	if (!rc)
		rc = rpcrdma_conn_wait(&xr->xr_conn, timeout, -ETIMEDOUT);
	/* If the connection was lost after an answer in version 2, the version was
	 * not the reason for the loss. So xr_v1_only is not set.
	 */
	if (READ_ONCE(xr->xr_vers) == RPCRDMA_VERS_2)
		return rc;
	switch (rc) {
	case -ETIMEDOUT:
	case -ECONNABORTED:
	case -ECONNRESET:
	case -ENOTCONN:
		xr->xr_v1_only = true;
		rpcrdma_count(client_nego_failures);
		break;
	}
	return rc;
}
