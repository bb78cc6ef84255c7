// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: CM id, protection domain, completion queues and queue pair of one
 * connection, for client and server; and how a connection is opened, drained and closed.
 * This file knows verbs and the connection manager, and nothing about RPC.
 *
 * Operation
 *
 * A client opens a connection by rpcrdma_conn_resolve(), rpcrdma_conn_create_qp(),
 * rpcrdma_recv_pool_limit(), rpcrdma_recv_pool_grow_gfp() and rpcrdma_conn_connect(), in this
 * order. (A connection that only tests a path needs no Receives, see client/paths.c.) A server
 * calls rpcrdma_conn_adopt() from its listener's event handler, then rpcrdma_conn_create_qp(),
 * rpcrdma_recv_pool_limit(), rpcrdma_recv_pool_grow() and rpcrdma_conn_accept(). Both end a
 * connection by rpcrdma_conn_drain(), rpcrdma_conn_destroy_queues() and rpcrdma_conn_close(). These
 * three functions may be called at any stage, also after a step has failed.
 *
 * The state is in verbs/conn_state.c, the gate in front of the send queue in verbs/send.c.
 *
 * When a device is removed, verbs/device.c fails its connections, and the CM may also
 * report the removal by an event. As with any other loss, ops->lost() tells the owner. The
 * device stays until all its connections have been closed (invariant I21 in
 * Documentation/locking.rst).
 */
#include <kunit/visibility.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/irq_poll.h>
#include <linux/moduleparam.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/conn.h>

#include "conn_state.h"
#include "trace.h"

/* retry_count of the queue pair: enough retries to survive a lost packet, and few enough to
 * notice a dead path
 */
#define RPCRDMA_CM_RETRIES	6

/* If true, new connections announce and use remote invalidation (Send With Invalidate). */
bool rpcrdma_remote_inv = true;
module_param_named(remote_invalidation, rpcrdma_remote_inv, bool, 0644);
MODULE_PARM_DESC(remote_invalidation,
		 "Both sides: let the server invalidate the client's handles");

/**
 * rpcrdma_conn_init - initialise a connection
 * @conn: connection, contents undefined
 * @ops: functions of the owner
 *
 * Context: any.
 */
void rpcrdma_conn_init(struct rpcrdma_conn *conn,
		       const struct rpcrdma_conn_ops *ops)
{
	memset(conn, 0, sizeof(*conn));
	conn->cn_ops = ops;
	conn->cn_receive = ops->receive;
	conn->cn_state = RPCRDMA_CONN_NEW;
	spin_lock_init(&conn->cn_post_lock);
	init_completion(&conn->cn_step);
	INIT_LIST_HEAD(&conn->cn_on_device);
	rpcrdma_recv_pool_init(&conn->cn_recvs);
	rpcrdma_sq_init(&conn->cn_sq);
	rpcrdma_keepalive_init(conn);
	rpcrdma_gather_init(conn);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_conn_init);

static void rpcrdma_conn_keep_peer(struct rpcrdma_conn *conn,
				   const struct rdma_conn_param *param)
{
	u32 len = min_t(u32, param->private_data_len,
			sizeof(conn->cn_peer_data));

	conn->cn_peer_len = 0;
	conn->cn_peer_ord = param->initiator_depth;
	conn->cn_peer_ird = param->responder_resources;
	if (!param->private_data)
		return;
	memcpy(conn->cn_peer_data, param->private_data, len);
	conn->cn_peer_len = len;
}

static void rpcrdma_conn_established(struct rpcrdma_conn *conn,
				     const struct rdma_conn_param *param)
{
	/* At the end that accepts, this event should have no private data: rpcrdma_conn_adopt() has
	 * kept the private data of the request. If a client sends some, they must not replace what
	 * was agreed on since.
	 */
	if (conn->cn_dials && param->private_data_len) {
		rpcrdma_conn_keep_peer(conn, param);
		rpcrdma_props_limits(&conn->cn_ours, conn->cn_peer_data,
				     conn->cn_peer_len, &conn->cn_limits);
	}
	/* On iWARP, the end that connects has asked for permission to issue one RDMA Read, which is
	 * the keepalive's probe. Most peers answer 0 or 1. Some iWARP providers report the answer
	 * in initiator_depth, others in responder_resources. The other member has a number for the
	 * server's RDMA Reads, which is not 0. So the smaller number is the answer. If both are
	 * above 1, the probe counts as not permitted: the connection may use MPA revision 1, in
	 * which nothing is negotiated. (A server with irdma answers more than 1, too, and a client
	 * with siw passes that on.)
	 */
	if (conn->cn_caps.dc_iwarp && !conn->cn_ord)
		conn->cn_ord = min(param->initiator_depth,
				   param->responder_resources) == 1;
	if (rpcrdma_conn_rise_up(conn)) {
		rpcrdma_conn_step(conn);
		rpcrdma_keepalive_start(conn);
	}
}

static int rpcrdma_conn_refusal(const struct rpcrdma_conn *conn,
				const struct rdma_cm_event *event)
{
	/* The peer accepted the connection, but then rejected it: it closed the connection before
	 * our last message of the handshake (RTU) arrived.
	 */
	if (rpcrdma_conn_is_up(conn))
		return -ECONNABORTED;
	/* A stale connection: the peer still has an earlier connection with our queue pair
	 * number, and ends it now. The peer does not refuse us, and another attempt can succeed.
	 */
	return event->status == IB_CM_REJ_STALE_CONN ? -ENOTCONN :
						       -ECONNREFUSED;
}

/* The CM chooses a local port without knowing which TCP ports are in use. siw connects by
 * TCP from the port with the same number, and fails if that port is in use. cxgb4 fails if the
 * device already has a connection with the same ports and addresses.
 */
static bool rpcrdma_conn_port_in_use(int status)
{
	return status == -EADDRINUSE || status == -EADDRNOTAVAIL;
}

/* Always returns 0. Another value would make the CM core destroy the id, but only the owner of
 * the connection destroys it.
 */
VISIBLE_IF_KUNIT int rpcrdma_conn_cm_event(struct rdma_cm_id *id,
					   struct rdma_cm_event *event)
{
	struct rpcrdma_conn *conn = id->context;
	int error = -EHOSTUNREACH;

	trace_rpcrdma_cm_event(conn, event);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rpcrdma_conn_step(conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		rpcrdma_conn_established(conn, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		/* sunrpc normally keeps trying to reach a peer that does not answer. But if no
		 * network leads to the peer, it may end the RPCs, depending on the options of the
		 * mount. So the two cases have different errors.
		 */
		if (event->status == -ENETUNREACH ||
		    event->status == -ENETDOWN)
			error = -ENETUNREACH;
		rpcrdma_conn_fail(conn, error);
		break;
	case RDMA_CM_EVENT_REJECTED:
		rpcrdma_conn_fail(conn, rpcrdma_conn_refusal(conn, event));
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		rpcrdma_conn_fail(conn, rpcrdma_conn_port_in_use(event->status) ?
					-EADDRINUSE : -ENOTCONN);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rpcrdma_conn_fail(conn, -ECONNABORTED);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rpcrdma_conn_fail(conn, -ENODEV);
		break;
	default:
		break;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_conn_cm_event);

/* Starts resolving the address of the peer. The CM uses the type of service and the ACK timeout
 * when it resolves the route, so they are set first. If @path names an interface but no source
 * address, the CM takes a route through that interface, and the source address of the route.
 *
 * The CM returns -EADDRNOTAVAIL if this host does not have the source address, but also if no local
 * port is free. If @path names no source address, the first cause is impossible, and this function
 * returns -EADDRINUSE.
 */
static int rpcrdma_conn_resolve_addr(struct rdma_cm_id *id,
				     const struct rpcrdma_conn_path *path,
				     unsigned int msecs)
{
	struct sockaddr *src = (struct sockaddr *)&path->np_src;
	int rc = 0;

	if (path->np_tos >= 0)
		rdma_set_service_type(id, path->np_tos);
	if (path->np_ack_timeout >= 0)
		rc = rdma_set_ack_timeout(id, path->np_ack_timeout);
	if (rc)
		return rc;
	if (path->np_ifindex)
		id->route.addr.dev_addr.bound_dev_if = path->np_ifindex;
	rc = rdma_resolve_addr(id, src->sa_family ? src : NULL,
			       (const struct sockaddr *)&path->np_dst, msecs);
	if (rc == -EADDRNOTAVAIL && !src->sa_family)
		return -EADDRINUSE;
	return rc;
}

/**
 * rpcrdma_conn_resolve - resolve the address of a peer and the route to it
 * @conn: new connection
 * @net: network namespace
 * @path: from where and to where to connect
 * @timeout: jiffies allowed for the address, and again for the route
 *
 * When the address has been resolved, a device is chosen, and conn->cn_caps describes it, even if
 * there is no route.
 *
 * Context: process; sleeps for up to twice @timeout. A call of rpcrdma_conn_fail() ends
 *	the wait.
 * Return: 0; %-EHOSTUNREACH if nobody answered, or the CM found no device that leads to the
 *	peer; %-ENETUNREACH if there is no network to the peer; %-ENODEV if the device is
 *	being removed; %-EADDRNOTAVAIL if this host does not have the source address of @path;
 *	%-EADDRINUSE if no local port is free; or another negative errno from the CM. After
 *	an error the caller calls rpcrdma_conn_close().
 */
int rpcrdma_conn_resolve(struct rpcrdma_conn *conn, struct net *net,
			 const struct rpcrdma_conn_path *path,
			 unsigned long timeout)
{
	/* The CM looks for the neighbour's address, and then waits until the neighbour answers. If
	 * the answer comes in between, the CM misses it, and looks again when @msecs have passed.
	 * So @msecs is less than the time that this function waits. Otherwise the peer would seem
	 * to be unreachable.
	 */
	unsigned int msecs = jiffies_to_msecs(timeout - timeout / 5);
	struct rdma_cm_id *id;
	int rc;

	id = rdma_create_id(net, rpcrdma_conn_cm_event, conn, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->cn_id = id;
	conn->cn_dials = true;
	WRITE_ONCE(conn->cn_state, RPCRDMA_CONN_OPENING);

	rc = rpcrdma_conn_resolve_addr(id, path, msecs);
	if (!rc)
		rc = rpcrdma_conn_wait(conn, timeout, -EHOSTUNREACH);
	if (!rc)
		rc = rpcrdma_device_join(conn);
	if (rc)
		return rc;
	rpcrdma_device_query(id->device, id->port_num, &conn->cn_caps);

	rc = rdma_resolve_route(id, msecs);
	if (!rc)
		rc = rpcrdma_conn_wait(conn, timeout, -EHOSTUNREACH);
	return rc;
}

/**
 * rpcrdma_conn_adopt - take over the id of an incoming connection
 * @conn: new connection
 * @id: id of the RDMA_CM_EVENT_CONNECT_REQUEST; @conn owns it from now on
 * @param: parameters of the request
 *
 * If the device is being removed, the connection is down when this returns.
 *
 * Context: the listener's CM event handler.
 */
void rpcrdma_conn_adopt(struct rpcrdma_conn *conn, struct rdma_cm_id *id,
			const struct rdma_conn_param *param)
{
	int rc;

	conn->cn_id = id;
	id->context = conn;
	id->event_handler = rpcrdma_conn_cm_event;
	conn->cn_state = RPCRDMA_CONN_OPENING;
	rpcrdma_conn_keep_peer(conn, param);
	rpcrdma_device_query(id->device, id->port_num, &conn->cn_caps);
	/* Even if this fails, @conn owns the id: rpcrdma_conn_close() destroys it
	 * with rpcrdma_device_destroy_id().
	 */
	rc = rpcrdma_device_join(conn);
	if (rc)
		rpcrdma_conn_fail(conn, rc);
}

/* Providers may call this in an interrupt, so it only traces. Nothing else is necessary: a queue
 * pair in the error state flushes its Receives, and their completion handler fails the connection.
 */
static void rpcrdma_conn_qp_event(struct ib_event *event, void *context)
{
	trace_rpcrdma_qp_event(context, event);
}

/* Handlers of a client's cn_cq use the completion queue of the send queue
 * (rpcrdma_send_cq_enter()). So cn_cq is freed first.
 */
static void rpcrdma_conn_free_cqs(struct rpcrdma_conn *conn)
{
	struct ib_cq *cq = conn->cn_cq;

	/* ib_free_cq() waits only until the RDMA core's softirq handler has called
	 * irq_poll_complete(). But after that call, the handler uses the queue once more, to
	 * request the next event. So keep the handler from being started again, and then wait
	 * until it has returned. ib_free_cq() calls irq_poll_disable() itself, so polling must be
	 * enabled again; the bit makes events have no effect until that call.
	 */
	if (cq && cq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_disable(&cq->iop);
		set_bit(IRQ_POLL_F_DISABLE, &cq->iop.state);
		synchronize_rcu();
		irq_poll_enable(&cq->iop);
	}
	if (cq)
		ib_free_cq(cq);
	conn->cn_cq = NULL;
	rpcrdma_send_cq_destroy(conn);
}

/* Each completion queue has room for the completions of all entries of its work queue, because
 * all entries can be flushed at the same time.
 */
static int rpcrdma_conn_create_cqs(struct rpcrdma_conn *conn,
				   const struct ib_qp_cap *cap)
{
	bool softirq = conn->cn_ops->softirq && conn->cn_caps.dc_softirq;
	u32 max = conn->cn_caps.dc_max_cqe;
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(rpcrdma_conn_device(conn), conn,
			     min(cap->max_recv_wr, max),
			     softirq ? IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cn_cq = cq;
	conn->cn_vector = cq->comp_vector;
	return rpcrdma_send_cq_create(conn, min3(cap->max_send_wr, max,
						 conn->cn_caps.dc_max_qp_wr));
}

/* Frees the completion queues and the protection domain, which nobody uses any more. */
static void rpcrdma_conn_free_verbs(struct rpcrdma_conn *conn)
{
	rpcrdma_conn_free_cqs(conn);
	if (conn->cn_pd)
		ib_dealloc_pd(conn->cn_pd);
	conn->cn_pd = NULL;
}

/**
 * rpcrdma_conn_create_qp - create a connection's queues
 * @conn: connection that is resolved or adopted
 * @sq: number of send queue entries, without those for the drain marker and for the keepalive's
 *	probe (%RPCRDMA_SQ_EXTRA), which are added
 * @rq: number of receive queue entries, without that for the drain marker, which is added
 * @send_sges: number of SGEs per send queue entry
 *
 * Context: process; sleeps.
 * Return: 0; or a negative errno, after which this may be called again. After %-ENOMEM or
 *	%-EINVAL, smaller queues may succeed: some devices accept dc_max_qp_wr work requests
 *	only if these have few SGEs.
 */
int rpcrdma_conn_create_qp(struct rpcrdma_conn *conn, u32 sq, u32 rq,
			   u32 send_sges)
{
	struct rdma_cm_id *id = conn->cn_id;
	struct ib_qp_init_attr attr = {
		.event_handler		= rpcrdma_conn_qp_event,
		.qp_context		= conn,
		.cap.max_send_wr	= sq + RPCRDMA_SQ_EXTRA,
		.cap.max_recv_wr	= rq + RPCRDMA_DRAIN_WRS,
		.cap.max_send_sge	= send_sges,
		.cap.max_recv_sge	= 1,
		.sq_sig_type		= IB_SIGNAL_REQ_WR,
		.qp_type		= IB_QPT_RC,
		.port_num		= id->port_num,
	};
	struct ib_pd *pd;
	int rc;

	pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->cn_pd = pd;
	rc = rpcrdma_conn_create_cqs(conn, &attr.cap);
	if (rc)
		goto out_free;
	attr.send_cq = conn->cn_send_cq.cq_ib;
	attr.recv_cq = conn->cn_cq;
	rc = rdma_create_qp(id, pd, &attr);
	if (rc)
		goto out_free;

	/* No other task uses the queue pair yet. */
	conn->cn_recvs.rp_max = rq;
	conn->cn_recvs.rp_gate = true;
	rpcrdma_sq_open(&conn->cn_sq, sq);
	WRITE_ONCE(conn->cn_gate, true);
	return 0;

out_free:
	rpcrdma_conn_free_verbs(conn);
	return rc;
}

/* Computes the limits from @ours and from what the peer has announced, if anything yet. Writes
 * @ours to @private, which @param refers to afterwards.
 *
 * Sets rnr_retry_count to 0: the peer's adapter must not retry a Send for which this end has no
 * Receive posted. Credits ensure that there is a Receive for each Send. A missing Receive is a
 * violation of the protocol, which retries would only hide (RFC 8166 3.3.1).
 */
static void rpcrdma_conn_set_param(struct rpcrdma_conn *conn,
				   const struct rpcrdma_cm_private *ours,
				   u8 *private, struct rdma_conn_param *param)
{
	conn->cn_ours = *ours;
	rpcrdma_props_limits(ours, conn->cn_peer_data, conn->cn_peer_len,
			     &conn->cn_limits);
	rpcrdma_props_encode(private, ours);
	memset(param, 0, sizeof(*param));
	param->private_data = private;
	param->private_data_len = RPCRDMA_CM_PRIVATE_LEN;
	param->retry_count = RPCRDMA_CM_RETRIES;
	param->rnr_retry_count = 0;
}

/**
 * rpcrdma_conn_connect - connect to the resolved peer
 * @conn: connection with queues; its Receives are posted, unless it is closed without being used
 * @ours: private data to send to the peer (RFC 8797)
 * @timeout: jiffies to wait for an answer
 *
 * A client exposes memory, and never reads or writes the peer's memory. So it offers
 * inbound RDMA Reads and requests no outbound ones (RFC 8166 3.1; G-38). The exception is
 * iWARP: there it requests one outbound RDMA Read, for the keepalive's probe, which reads no bytes.
 *
 * Context: process; sleeps for up to @timeout, and then for dc_settle. A call of
 *	rpcrdma_conn_fail() ends the wait for the answer.
 * Return: 0, and then conn->cn_limits is valid, and conn->cn_rtt contains a first estimate, the
 *	time until the answer came; %-EADDRINUSE if the local port is in use (another attempt
 *	will use another port); %-ETIMEDOUT, %-ECONNREFUSED, %-ENETUNREACH or another
 *	negative errno.
 */
int rpcrdma_conn_connect(struct rpcrdma_conn *conn,
			 const struct rpcrdma_cm_private *ours,
			 unsigned long timeout)
{
	u8 private[RPCRDMA_CM_PRIVATE_LEN];
	struct rdma_conn_param param;
	ktime_t begun;
	int rc;

	rpcrdma_conn_set_param(conn, ours, private, &param);
	param.responder_resources = min_t(u32, U8_MAX,
					  conn->cn_caps.dc_max_rd_atom);
	param.initiator_depth = conn->cn_caps.dc_iwarp;
	begun = ktime_get();
	rc = rdma_connect(conn->cn_id, &param);
	if (rpcrdma_conn_port_in_use(rc))
		rc = -EADDRINUSE;
	if (!rc)
		rc = rpcrdma_conn_wait(conn, timeout, -ETIMEDOUT);
	if (rc)
		return rc;

	conn->cn_rtt = ktime_sub(ktime_get(), begun);
	if (conn->cn_caps.dc_settle)
		msleep(conn->cn_caps.dc_settle);
	return 0;
}

/**
 * rpcrdma_conn_accept - accept the adopted connection
 * @conn: connection with queues and posted Receives
 * @ours: private data to send to the peer (RFC 8797)
 * @ord: maximum number of RDMA Reads to have outstanding
 *
 * conn->cn_limits is valid before the peer is told of the acceptance. When this returns, the
 * connection may not be up yet: the state becomes %RPCRDMA_CONN_UP later, by a CM event.
 *
 * Context: process; sleeps.
 * Return: 0 or a negative errno.
 */
int rpcrdma_conn_accept(struct rpcrdma_conn *conn,
			const struct rpcrdma_cm_private *ours, u32 ord)
{
	u8 private[RPCRDMA_CM_PRIVATE_LEN];
	struct rdma_conn_param param;
	int rc;

	rpcrdma_conn_set_param(conn, ours, private, &param);
	param.initiator_depth = min_t(u32, ord, U8_MAX);
	conn->cn_ord = param.initiator_depth;
	if (conn->cn_caps.dc_iwarp)
		param.responder_resources = min(conn->cn_peer_ird, 1u);
	/* The event that the connection is established starts the keepalive, too. The lock
	 * serialises the two calls of rpcrdma_keepalive_start().
	 */
	rdma_lock_handler(conn->cn_id);
	rc = rdma_accept(conn->cn_id, &param);
	if (!rc)
		rpcrdma_keepalive_start(conn);
	rdma_unlock_handler(conn->cn_id);
	return rc;
}

/**
 * rpcrdma_conn_drain - stop a connection and wait until its queues are empty
 * @conn: connection in any state; may be drained already
 *
 * When this returns, the device no longer works on any request. But a provider may
 * still report flushed requests after the drain marker: siw does that for requests
 * that were queued behind one that it could not send. So the objects that completion
 * handlers use must exist until rpcrdma_conn_destroy_queues() returns.
 *
 * Context: process; sleeps. Not from a completion handler or CM event.
 */
void rpcrdma_conn_drain(struct rpcrdma_conn *conn)
{
	cmpxchg(&conn->cn_error, 0, -ESHUTDOWN);
	rpcrdma_keepalive_stop(conn);
	rpcrdma_gather_stop(conn);

	rpcrdma_recv_pool_shut(&conn->cn_recvs);
	if (!rpcrdma_conn_shut_gate(conn))
		return;

	rdma_disconnect(conn->cn_id);
	rpcrdma_send_cq_watch(conn);
	ib_drain_qp(conn->cn_id->qp);
}

/**
 * rpcrdma_conn_destroy_queues - destroy the queues of a drained connection
 * @conn: connection after rpcrdma_conn_drain(); may have no queues
 *
 * When this returns, no completion handler of the connection runs or will run. Memory
 * regions and buffers can then be freed, before rpcrdma_conn_close(). Objects that use
 * the queue pair, such as rdma_rw contexts, must be destroyed before this is called.
 *
 * Context: process; sleeps. Not from a completion handler or CM event.
 */
void rpcrdma_conn_destroy_queues(struct rpcrdma_conn *conn)
{
	if (conn->cn_id && conn->cn_id->qp)
		rdma_destroy_qp(conn->cn_id);
	rpcrdma_conn_free_cqs(conn);
	rpcrdma_gather_end(conn);
}

/**
 * rpcrdma_conn_close - end a connection and free its resources
 * @conn: connection in any state; its owner has destroyed all memory regions
 *
 * When this returns, no function in cn_ops runs or will run, and the connection may be
 * initialised again or freed.
 *
 * Context: process; sleeps. Not from a completion handler or CM event.
 */
void rpcrdma_conn_close(struct rpcrdma_conn *conn)
{
	rpcrdma_conn_drain(conn);
	if (!conn->cn_id)
		return;

	rpcrdma_conn_destroy_queues(conn);
	rpcrdma_recv_pool_destroy(&conn->cn_recvs);
	rpcrdma_conn_free_verbs(conn);
	rpcrdma_device_destroy_id(conn->cn_id);
	conn->cn_id = NULL;
	trace_rpcrdma_conn_close(conn, conn->cn_error);
	rpcrdma_device_leave(conn);
}
