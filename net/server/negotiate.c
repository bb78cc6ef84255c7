// SPDX-License-Identifier: GPL-2.0
/*
 * The version of a connection, and the properties that client and server tell each other
 * in version 2 (CONNPROP). This file owns struct svc_rdma_negotiate and sets sx_vers. It
 * chooses the decoder for a message, and never decodes one itself.
 *
 * Operation
 *
 * The first message with a valid header fixes the version (version-two 7.3): a Call of
 * version 1, or a CONNPROP or a Call of version 2. Until then there are only a few
 * Receives, which are large enough for either version, and one credit. A message that the
 * decoder refuses during that time does not fix the version. Afterwards, a Call of
 * the other version is answered with ERR_VERS, and the connection stays (G-20).
 *
 * This file first posts Receives and sets the default limits, and then sets sx_vers. Only after
 * that does it send the CONNPROP that tells the client the size of the Receives. A client that
 * speaks version 2 and never announces properties is served with the defaults. The first
 * valid CONNPROP of a connection takes effect and is answered; later ones are only answered (G-17).
 *
 * If the administrator does not allow version 2, a connection settles on version 1 before
 * the first message arrives.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/fail.h>
#include <rpcrdma/param.h>
#include <rpcrdma/rtx.h>

#include "svc_rdma.h"
#include "trace.h"

static unsigned int svc_rdma_server_version = RPCRDMA_VERS_2;
rpcrdma_param_range(server_version, svc_rdma_server_version, RPCRDMA_VERS_1,
		    RPCRDMA_VERS_2);
MODULE_PARM_DESC(server_version,
		 "Server: highest version of RPC over RDMA, 1 or 2");

/* Largest Call that may come as a group (rtx.h): the data of an NFS WRITE, and what the Call may
 * have besides
 */
#define SVC_RDMA_GROUP_MSG_MAX	(1048576u + 4096u)

static unsigned int svc_rdma_rtx_call_max = 64;
rpcrdma_param_range(rtx_call_max, svc_rdma_rtx_call_max, 0,
		    RPCRDMA2_RTX_MAX_COUNT);
MODULE_PARM_DESC(rtx_call_max,
		 "Server: most Sends that a Call of version 2 may come in, 0: one");

static unsigned int svc_rdma_rtx_reply_max = 16;
rpcrdma_param_range(rtx_reply_max, svc_rdma_rtx_reply_max, 0,
		    RPCRDMA2_RTX_MAX_COUNT);
MODULE_PARM_DESC(rtx_reply_max,
		 "Server: most Sends of a Reply in version 2, 0: one");

static unsigned int svc_rdma_v2_max_req_size = SVC_RDMA_V2_REQ_SIZE;
rpcrdma_param_range(v2_max_req_size, svc_rdma_v2_max_req_size,
		    RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX);
MODULE_PARM_DESC(v2_max_req_size,
		 "Server: bytes of the largest inline Call in version 2, 1024 to 65536");

/* Number of pages in the buffer of each Receive that has target segments (rtx.h). All of these
 * pages except the first are target segments, in which clients can place data. 0: Receives have no
 * target segments (T-44).
 */
static unsigned int svc_rdma_rtx_pages = 8;

static int svc_rdma_rtx_pages_set(const char *val, const struct kernel_param *kp)
{
	struct rpcrdma2_rtx rtx;
	unsigned int pages;
	int rc;

	rc = kstrtouint(val, 0, &pages);
	if (rc)
		return rc;
	if (pages && !rpcrdma_size_targets(pages, RPCRDMA_RTX_SEG, &rtx))
		return -EINVAL;
	WRITE_ONCE(svc_rdma_rtx_pages, pages);
	return 0;
}

static const struct kernel_param_ops svc_rdma_rtx_pages_ops = {
	.set	= svc_rdma_rtx_pages_set,
	.get	= param_get_uint,
};
module_param_cb(rtx_pages, &svc_rdma_rtx_pages_ops, &svc_rdma_rtx_pages, 0644);
MODULE_PARM_DESC(rtx_pages,
		 "Server: pages of each Receive into which clients can place data: 2, 4, 8; 0: none");

/* Sets cn_limits of a connection of version 2. @peer has the properties that the client has
 * announced. If @peer is NULL, the defaults apply. The client determines how large inline Replies
 * may be (G-18), and this server determines how large inline Calls may be.
 */
static void svc_rdma_negotiate_limits(struct svc_rdma_xprt *sx,
				      const struct rpcrdma2_props *peer)
{
	const struct rpcrdma_cm_private ours = {
		.cp_send_size	= RPCRDMA_INLINE_MAX,
		.cp_recv_size	= sx->sx_negotiate.ng_v2_size,
		.cp_remote_inv	= sx->sx_conn.cn_ours.cp_remote_inv,
	};

	rpcrdma2_props_limits(&ours, peer, &sx->sx_conn.cn_limits);
	if (peer)
		sx->sx_conn.cn_rtx = peer->vp_rtx;
}

static void svc_rdma_negotiate_log(const struct svc_rdma_xprt *sx, u32 vers)
{
	const struct rpcrdma_limits *limits = &sx->sx_conn.cn_limits;

	pr_debug("rpcrdma: client %s: version %u, inline %u out and %u in, %u credits, BRS %u, ours %u\n",
		 sx->sx_xprt.xpt_remotebuf, vers, limits->lm_inline_send,
		 limits->lm_inline_recv, svc_rdma_credits_granted(sx),
		 limits->lm_brs, RPCRDMA2_OUR_BRS);
}

/* The size of a Receive that is large enough for either version */
static u32 svc_rdma_negotiate_largest(const struct svc_rdma_negotiate *ng)
{
	if (ng->ng_vers_max < RPCRDMA_VERS_2)
		return ng->ng_v1_size;
	return max3(ng->ng_v1_size, ng->ng_v2_size, SVC_RDMA_V2_RECV_MIN);
}

/* Receives may be blocks of pages, to which a file system or a socket may keep references after a
 * Call was executed. So from now on, check for such references before a Receive is posted again.
 */
static void svc_rdma_negotiate_renew(struct svc_rdma_xprt *sx)
{
	/* If the connection is already ending, svc_rdma_conn_end() may have set
	 * SVC_RDMA_BACK_DROP, which must stay.
	 */
	cmpxchg(&sx->sx_back, SVC_RDMA_BACK_PLAIN, SVC_RDMA_BACK_RENEW);
}

/* From now on, make Receives without target segments (rtx.h). @size is the number of bytes in the
 * largest inline Call in version 2.
 */
static void svc_rdma_negotiate_plain(struct svc_rdma_xprt *sx, u32 size)
{
	struct svc_rdma_negotiate *ng = &sx->sx_negotiate;

	rpcrdma_size_targets(0, PAGE_SIZE, &ng->ng_rtx);
	ng->ng_v2_size = size;
	if (rpcrdma_buf_needs_block(svc_rdma_negotiate_largest(ng)))
		svc_rdma_negotiate_renew(sx);
	sx->sx_conn.cn_recvs.rp_order = 0;
}

/* From now on, make Receives with target segments (rtx.h), if the parameter rtx_pages asks for
 * them, and Receives with that number of pages are large enough for both versions. Even the few
 * Receives that exist before the version is known then have target segments. So when the server
 * announces target segments, all posted Receives have them, as RTX-34 demands.
 */
static void svc_rdma_negotiate_targets(struct svc_rdma_xprt *sx)
{
	struct svc_rdma_negotiate *ng = &sx->sx_negotiate;
	u32 pages = READ_ONCE(svc_rdma_rtx_pages);
	u32 size;

	size = rpcrdma_size_targets(pages, PAGE_SIZE, &ng->ng_rtx);
	if (size < max(ng->ng_v1_size, SVC_RDMA_V2_RECV_MIN)) {
		svc_rdma_negotiate_plain(sx, ng->ng_v2_size);
		return;
	}
	ng->ng_v2_size = size;
	svc_rdma_negotiate_renew(sx);
	sx->sx_conn.cn_recvs.rp_order = ilog2(pages);
}

/* If Receives could not be created, choose the smallest Receives, without target segments, and
 * return true. @rc is the error. It is -ENOMEM if memory is short, or too fragmented: each Receive
 * is one allocation. It is -ENOBUFS if the Receives would pin more memory than the connection may.
 * The size can still change, because the client has not been told of it. Returns false if @rc has
 * another value, such as 0, or if the Receives were the smallest already.
 */
static bool svc_rdma_negotiate_less(struct svc_rdma_xprt *sx, int rc)
{
	const struct svc_rdma_negotiate *ng = &sx->sx_negotiate;

	if ((rc != -ENOMEM && rc != -ENOBUFS) ||
	    (!ng->ng_rtx.xp_nsegs && ng->ng_v2_size <= SVC_RDMA_V2_RECV_MIN))
		return false;
	svc_rdma_negotiate_plain(sx, SVC_RDMA_V2_RECV_MIN);
	return true;
}

static int svc_rdma_negotiate_adopt(struct svc_rdma_xprt *sx, u32 vers)
{
	struct svc_rdma_negotiate *ng = &sx->sx_negotiate;
	u32 size;
	int rc;

	if (vers == RPCRDMA_VERS_2) {
		do {
			size = max(ng->ng_v2_size, SVC_RDMA_V2_RECV_MIN);
			rc = svc_rdma_credits_begin(sx, SVC_RDMA_CREDITS_FIRST,
						    size, RPCRDMA_RECV_SPARE);
		} while (svc_rdma_negotiate_less(sx, rc));
		svc_rdma_negotiate_limits(sx, NULL);
	} else {
		svc_rdma_negotiate_plain(sx, ng->ng_v2_size);
		rc = svc_rdma_credits_begin(sx, SVC_RDMA_CREDITS_FIRST,
					    ng->ng_v1_size, 0);
	}
	/* A task that sees the version must also see cn_limits. Pairs with server/recvfrom.c. */
	smp_store_release(&sx->sx_vers, vers);
	svc_rdma_negotiate_log(sx, vers);
	return rc;
}

/**
 * svc_rdma_negotiate_begin - get ready for the first message
 * @sx: connection that is being accepted
 * @v1_size: bytes of the largest inline message in version 1
 *
 * Context: process; sleeps. No other thread sends or receives on the connection yet.
 * Return: 0; or a negative errno, and then the connection cannot be accepted.
 *
 * See version-two 7, 7.1, 7.2; G-19.
 */
int svc_rdma_negotiate_begin(struct svc_rdma_xprt *sx, u32 v1_size)
{
	struct svc_rdma_negotiate *negotiate = &sx->sx_negotiate;
	u32 size, segs;
	int rc;

	negotiate->ng_v1_size = v1_size;
	negotiate->ng_vers_max = READ_ONCE(svc_rdma_server_version);
	negotiate->ng_v2_size = READ_ONCE(svc_rdma_v2_max_req_size);
	if (negotiate->ng_vers_max >= RPCRDMA_VERS_2)
		svc_rdma_negotiate_targets(sx);
	/* A Receive with target segments pins one page more than it has segments. */
	size = svc_rdma_negotiate_largest(negotiate);
	segs = negotiate->ng_rtx.xp_nsegs;
	if (segs)
		size = max_t(u32, size, (segs + 1) * PAGE_SIZE);
	rpcrdma_recv_pool_limit(&sx->sx_conn.cn_recvs, size);
	if (negotiate->ng_vers_max < RPCRDMA_VERS_2)
		return svc_rdma_negotiate_adopt(sx, RPCRDMA_VERS_1);
	/* A client may send one message before it has an answer. */
	do {
		size = svc_rdma_negotiate_largest(negotiate);
		rc = svc_rdma_credits_begin(sx, 1, size, RPCRDMA_RECV_SPARE);
	} while (svc_rdma_negotiate_less(sx, rc));
	return rc;
}

/**
 * svc_rdma_negotiate_peek - choose the decoder for a message while the version is not settled
 * @msg: message
 *
 * The guess may be wrong. That does no harm, because the decoder of each version refuses Calls of
 * the other version.
 *
 * Context: process.
 * Return: the version whose decoder is to be used.
 *
 * See version-two 7.3, 10.1; G-20.
 */
u32 svc_rdma_negotiate_peek(const struct rpcrdma_msg_in *msg)
{
	u32 peek;

	if (rpcrdma_wire_peek_vers(rpcrdma_msg_head(msg),
				   rpcrdma_msg_head_room(msg), &peek) &&
	    peek == RPCRDMA_VERS_2)
		return RPCRDMA_VERS_2;
	return RPCRDMA_VERS_1;
}

/**
 * svc_rdma_negotiate_settle - fix the version of a connection when a valid message has arrived
 * @sx: connection that was not settled when the message was decoded
 * @vers: version of the message
 *
 * If there is no memory for more Receives, the client can use only the few that exist already.
 *
 * Context: process; sleeps.
 * Return: false if the connection has another version.
 *
 * See version-two 7.3; G-20.
 */
bool svc_rdma_negotiate_settle(struct svc_rdma_xprt *sx, u32 vers)
{
	mutex_lock(&sx->sx_grow);
	if (!sx->sx_vers) {
		svc_rdma_negotiate_adopt(sx, vers);
		if (vers == RPCRDMA_VERS_2)
			rpcrdma_count(server_v2_connections);
		trace_svc_rdma_settled(sx, vers);
	}
	mutex_unlock(&sx->sx_grow);
	return sx->sx_vers == vers;
}

/**
 * svc_rdma_negotiate_accept - get the limits that a received message is checked against
 * @sx: connection
 * @accept: OUT: range of versions, and limits on chunks
 *
 * Context: any.
 *
 * See version-two 5.3.3; G-20.
 */
void svc_rdma_negotiate_accept(const struct svc_rdma_xprt *sx,
			       struct rpcrdma2_accept *accept)
{
	u32 vers = READ_ONCE(sx->sx_vers);

	accept->ac_vers_low = vers ?: RPCRDMA_VERS_1;
	accept->ac_vers_high = vers ?: sx->sx_negotiate.ng_vers_max;
	accept->ac_reads = rpcrdma_fail_limit(server_max_reads,
					      RPCRDMA_MAX_CHUNKS - 1);
	accept->ac_writes = rpcrdma_fail_limit(server_max_writes,
					       RPCRDMA_MAX_CHUNKS);
	accept->ac_segs = rpcrdma_fail_limit(server_max_segs, RPCRDMA_MAX_SEGS);
	accept->ac_inline_only = false;
}

/* Apply a client's properties if they came with its first CONNPROP. Returns whether they were
 * applied.
 */
static bool svc_rdma_negotiate_apply(struct svc_rdma_xprt *sx,
				     const struct rpcrdma2_props *props)
{
	struct svc_rdma_negotiate *ng = &sx->sx_negotiate;
	struct rpcrdma2_rtx *ours = &ng->ng_rtx;
	bool first;

	mutex_lock(&sx->sx_grow);
	first = !ng->ng_props_received;
	if (first) {
		ng->ng_props_received = true;
		svc_rdma_negotiate_limits(sx, props);
		/* Decide what to announce of the round-trip extension (RTX-31, RTX-103). If Calls
		 * may come as groups (rtx.h), accept them from now on, because they may arrive
		 * before the Send with the announcement has completed. Callbacks are not sent as
		 * groups, so each offers only one Receive for its Reply (RTX-76): the last argument
		 * is 1.
		 */
		ours->xp_call_max = READ_ONCE(svc_rdma_rtx_call_max);
		if (ours->xp_call_max) {
			ours->xp_reply_max = min(READ_ONCE(svc_rdma_rtx_reply_max),
						 sx->sx_conn.cn_sq.sq_size / 2);
			ours->xp_msg_max = min(sx->sx_max_mesg,
					       SVC_RDMA_GROUP_MSG_MAX);
			rpcrdma_gather_start(&sx->sx_conn, ours, 1);
		} else {
			memset(ours, 0, sizeof(*ours));
		}
		svc_rdma_negotiate_log(sx, RPCRDMA_VERS_2);
	}
	mutex_unlock(&sx->sx_grow);
	return first;
}

/* Send our CONNPROP, which has a grant: as an answer to the message @call; or, if it is NULL,
 * unasked. Returns 0 or a negative errno.
 */
static int svc_rdma_negotiate_send(struct svc_rdma_xprt *sx, u32 xid,
				   struct svc_rdma_call *call, gfp_t gfp)
{
	struct svc_rdma_send *send = svc_rdma_send_get(sx, gfp);
	struct rpcrdma2_props ours = { };
	int rc;

	if (!send)
		return -ENOMEM;
	ours.vp_value[RPCRDMA2_PROP_RBSIZ] = sx->sx_negotiate.ng_v2_size;
	ours.vp_value[RPCRDMA2_PROP_BRS] = RPCRDMA2_OUR_BRS;
	ours.vp_rtx = sx->sx_negotiate.ng_rtx;
	rc = rpcrdma2_encode_connprop(send->ss_send.sd_buf.bf_data,
				      send->ss_send.sd_buf.bf_size, xid,
				      svc_rdma_credits_granted(sx),
				      true, &ours);
	return svc_rdma_send_control(send, call, rc);
}

/**
 * svc_rdma_negotiate_notify - tell a silent client that credits were taken back
 * @sx: connection in the list of server/reclaim.c
 *
 * A client of this module answers with a CONNPROP of the same XID, see
 * svc_rdma_negotiate_connprop(). A client of version 1 cannot be told anything while it is silent.
 *
 * Context: process. If memory is short, nothing is sent.
 */
void svc_rdma_negotiate_notify(struct svc_rdma_xprt *sx)
{
	if (READ_ONCE(sx->sx_vers) == RPCRDMA_VERS_2)
		svc_rdma_negotiate_send(sx, READ_ONCE(sx->sx_credit.cd_notice),
					NULL, GFP_NOWAIT);
}

/**
 * svc_rdma_negotiate_connprop - answer a client's CONNPROP with ours
 * @call: message with the CONNPROP; the connection has settled on version 2
 *
 * If the CONNPROP answers one of ours (svc_rdma_negotiate_notify()), the client knows the last
 * grant, and it has used up a Receive that is not needed any more. It is not answered. But if more
 * such Receives are left, the client is asked once more, with another XID.
 *
 * If the answer cannot be sent, the connection is closed.
 *
 * Context: process; sleeps.
 *
 * See version-two 4.2.2, 5.3.4; G-16, G-17, G-22.
 */
void svc_rdma_negotiate_connprop(struct svc_rdma_call *call)
{
	const struct rpcrdma_hdr *hdr = &call->sc_hdr;
	struct svc_rdma_xprt *sx = call->sc_sx;
	bool first;
	int rc;

	first = svc_rdma_negotiate_apply(sx, &hdr->hd_props);
	trace_svc_rdma_connprop(sx, hdr, first);
	if (!first && svc_rdma_credits_is_answer(&sx->sx_credit, hdr->hd_xid)) {
		svc_rdma_msg_put(sx, call->sc_msg);
		call->sc_msg = NULL;
		if (svc_rdma_credits_confirm(sx, hdr->hd_xid))
			svc_rdma_negotiate_notify(sx);
		return;
	}

	rc = svc_rdma_negotiate_send(sx, hdr->hd_xid, call, GFP_KERNEL);
	if (rc) {
		trace_svc_rdma_reply_err(sx, rc);
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	}
}
