/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One connection: CM id, protection domain, completion queues, queue pair and
 * Receives. The end that connects and the end that accepts have the same state machine.
 * A connection knows nothing about RPC. Its owner provides struct rpcrdma_conn_ops. The owner is a
 * transport of the client or of the server, or a client's probe of a path (client/paths.c).
 */
#ifndef RPCRDMA_CONN_H
#define RPCRDMA_CONN_H

#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/cid.h>
#include <rpcrdma/gather.h>
#include <rpcrdma/keepalive.h>
#include <rpcrdma/lines.h>
#include <rpcrdma/props.h>
#include <rpcrdma/recv.h>
#include <rpcrdma/send_cq.h>
#include <rpcrdma/size.h>
#include <rpcrdma/sq.h>

struct rpcrdma_conn;

/**
 * enum rpcrdma_conn_state - state of a connection; it never goes back to an earlier one
 * @RPCRDMA_CONN_NEW: initialised, nothing on the wire
 * @RPCRDMA_CONN_OPENING: resolving, connecting or accepting
 * @RPCRDMA_CONN_UP: established
 *
 * A connection that has failed, was refused, or is being closed is *down*: cn_error says why.
 */
enum rpcrdma_conn_state {
	RPCRDMA_CONN_NEW,
	RPCRDMA_CONN_OPENING,
	RPCRDMA_CONN_UP,
};

/**
 * struct rpcrdma_conn_ops - functions of the owner of a connection: the client or the server
 * @softirq: if true, @receive never sleeps, and Receives are handled in softirq on devices with
 *	dc_softirq
 * @receive: called when a message has arrived, from the completion queue's workqueue, or in
 *	softirq. May sleep unless @softirq is set. The owner gives @msg back with
 *	rpcrdma_msg_put() or rpcrdma_msg_drop(), at once or later, in this context or in that of
 *	a process.
 * @lost: called once by rpcrdma_conn_fail(), when the connection goes down: in a CM event, a
 *	completion handler or a process. It must neither sleep nor close the
 *	connection: another task closes it. It is not called when rpcrdma_conn_drain() ends the
 *	connection.
 * @awaits: returns whether the owner waits for any completion of the send queue. When this
 *	becomes true, the owner calls rpcrdma_send_cq_watch(). Called by the work of
 *	verbs/send_cq.c; may be NULL.
 * @waiting: returns whether work requests that the owner has posted are still outstanding.
 *	If so, it sets @posted to the time when the oldest of them was posted. It sets @since
 *	to the time of the last completion, or to @posted if that is later. If there are
 *	several kinds of work requests, @since is for the kind that has made no progress for
 *	the longest time. Both times are in jiffies. Called by the keepalive's work; may be
 *	NULL.
 */
struct rpcrdma_conn_ops {
	bool	softirq;
	void	(*receive)(struct rpcrdma_conn *conn,
			   struct rpcrdma_msg_in *msg);
	void	(*lost)(struct rpcrdma_conn *conn);
	bool	(*awaits)(struct rpcrdma_conn *conn);
	bool	(*waiting)(struct rpcrdma_conn *conn, unsigned long *posted,
			   unsigned long *since);
};

/**
 * struct rpcrdma_conn_path - the addresses and settings with which to connect
 * @np_src: address to bind to; its family is %AF_UNSPEC if the kernel chooses the address
 * @np_dst: address and port of the peer
 * @np_ifindex: index of the interface through which the peer is to be reached; 0 for any
 * @np_tos: type of service, 0 to 255; -1 for the device's default
 * @np_ack_timeout: 1 to 31: the adapter waits 4.096 us * 2^@np_ack_timeout for an acknowledgment;
 *	0: it waits without limit; -1: the default
 */
struct rpcrdma_conn_path {
	struct sockaddr_storage	np_src;
	struct sockaddr_storage	np_dst;
	int			np_ifindex;
	int			np_tos;
	int			np_ack_timeout;
};

/* Sets the destination of @path, and the defaults for everything else. */
static inline void rpcrdma_conn_path_init(struct rpcrdma_conn_path *path,
					  const struct sockaddr_storage *dst)
{
	memset(path, 0, sizeof(*path));
	path->np_dst = *dst;
	path->np_tos = -1;
	path->np_ack_timeout = -1;
}

/**
 * struct rpcrdma_conn - one connection
 * @cn_ops: functions of the owner
 * @cn_receive: called for each Receive that completes successfully: ops->receive(); or, after
 *	rpcrdma_gather_start(), a function that assembles groups (rtx.h) and then calls
 *	ops->receive()
 * @cn_id: CM identifier, which the connection owns
 * @cn_pd: protection domain that only this connection uses (RFC 8166 8.1.1)
 * @cn_cq: completion queue of the receive queue
 * @cn_state: state, which the task that opens the connection and the handler of CM events write
 * @cn_error: 0, or the errno that ended the connection; the first one stays
 * @cn_gate: posting to the send queue is allowed; see rpcrdma_conn_shut_gate()
 * @cn_caps: what the device can do; valid once the connection is resolved or adopted
 * @cn_limits: limits that follow from what both ends have announced (props.h); valid once the
 *	connection is up
 * @cn_rtx: the peer's property RTX (rtx.h). It is all zero until the peer has announced it, and
 *	after a fallback to version 1. No message is sent as a group then (RTX-32).
 * @cn_ours: content of the CM private data that we send to the peer
 * @cn_peer_data: private data that the peer sent with CM REQ or REP
 * @cn_peer_len: number of bytes in @cn_peer_data
 * @cn_peer_ord: number of RDMA Reads that the peer lets us have outstanding; 0 if it
 *	offered none
 * @cn_peer_ird: number of RDMA Reads that the peer wants to have outstanding
 * @cn_ord: number of RDMA Reads that we may have outstanding, as agreed with the peer. At
 *	the end that connected it is 0. There is one exception: on iWARP it is 1 if the peer
 *	allows the RDMA Read that the keepalive uses as its probe.
 * @cn_dials: this end opens the connection, and waits in rpcrdma_conn_wait() until it is up
 * @cn_flushed: a Receive was flushed or has failed, so the queue pair does not work any more
 * @cn_step: completed after each step of opening, and when the connection fails
 * @cn_on_device: link in the list of connections on the same device, see
 *	verbs/device.c
 * @cn_vector: index of the completion vector of its completion queues, which debugfs shows; keeps
 *	its value when they are freed
 * @cn_cids: number of completion IDs given, see rpcrdma_conn_cid()
 * @cn_post_lock: held over posting to the send queue if the device has dc_splits_lists
 * @cn_keepalive: the keepalive
 * @cn_gather: the group that is being received
 * @cn_send_cq: completion queue of the send queue
 * @cn_rtt: estimate of the round-trip time. At the end that connected, rpcrdma_conn_connect()
 *	makes a first estimate, the time that connecting took. The owner then sets it to shorter
 *	times that answers took, and holds cq_mutex of @cn_send_cq.
 * @cn_recvs: the Receives
 * @cn_sq: the slots of the send queue
 */
struct rpcrdma_conn {
	/* Many tasks read these. They rarely change while the connection is up. */
	const struct rpcrdma_conn_ops	*cn_ops;
	void	(*cn_receive)(struct rpcrdma_conn *conn,
			      struct rpcrdma_msg_in *msg);
	struct rdma_cm_id		*cn_id;
	struct ib_pd			*cn_pd;
	struct ib_cq			*cn_cq;
	enum rpcrdma_conn_state		cn_state;
	int				cn_error;
	bool				cn_gate;
	struct rpcrdma_device_caps	cn_caps;
	struct rpcrdma_limits		cn_limits;
	struct rpcrdma2_rtx		cn_rtx;

	/* Most of these are used only while the connection is opened or closed. */
	struct rpcrdma_cm_private	cn_ours;
	u8				cn_peer_data[56];
	u32				cn_peer_len;
	u32				cn_peer_ord;
	u32				cn_peer_ird;
	u32				cn_ord;
	bool				cn_dials;
	bool				cn_flushed;
	struct completion		cn_step;
	struct list_head		cn_on_device;
	u32				cn_vector;
	atomic_t			cn_cids;
	spinlock_t			cn_post_lock;	/* posting, see above */

	/* Mostly completion handlers write these. */
	struct rpcrdma_keepalive	cn_keepalive ____cacheline_aligned_in_smp;
	struct rpcrdma_gather		cn_gather;
	struct rpcrdma_send_cq		cn_send_cq;
	ktime_t				cn_rtt;

	/* Completion handlers and other tasks write these. */
	struct rpcrdma_recv_pool	cn_recvs ____cacheline_aligned_in_smp;
	struct rpcrdma_sq		cn_sq ____cacheline_aligned_in_smp;
};

rpcrdma_lines_apart(struct rpcrdma_conn, cn_rtx, cn_post_lock);
rpcrdma_lines_apart(struct rpcrdma_conn, cn_post_lock, cn_keepalive);
rpcrdma_lines_apart(struct rpcrdma_conn, cn_rtt, cn_recvs);
rpcrdma_lines_apart(struct rpcrdma_conn, cn_recvs, cn_sq);

static inline bool rpcrdma_conn_is_down(const struct rpcrdma_conn *conn)
{
	return READ_ONCE(conn->cn_error);
}

static inline bool rpcrdma_conn_is_up(const struct rpcrdma_conn *conn)
{
	return READ_ONCE(conn->cn_state) == RPCRDMA_CONN_UP &&
	       !rpcrdma_conn_is_down(conn);
}

static inline struct ib_device *rpcrdma_conn_device(struct rpcrdma_conn *conn)
{
	return conn->cn_id->device;
}

/* Returns a new completion ID for an object that will be posted on @conn, whose queues must
 * already exist.
 */
static inline struct rpcrdma_cid rpcrdma_conn_cid(struct rpcrdma_conn *conn)
{
	return (struct rpcrdma_cid) {
		.ci_queue	= conn->cn_cq->res.id,
		.ci_number	= atomic_inc_return(&conn->cn_cids),
	};
}

extern bool rpcrdma_remote_inv;

void rpcrdma_conn_init(struct rpcrdma_conn *conn,
		       const struct rpcrdma_conn_ops *ops);
int rpcrdma_conn_resolve(struct rpcrdma_conn *conn, struct net *net,
			 const struct rpcrdma_conn_path *path,
			 unsigned long timeout);
void rpcrdma_conn_adopt(struct rpcrdma_conn *conn, struct rdma_cm_id *id,
			const struct rdma_conn_param *param);
int rpcrdma_conn_create_qp(struct rpcrdma_conn *conn, u32 sq, u32 rq,
			   u32 send_sges);
int rpcrdma_conn_connect(struct rpcrdma_conn *conn,
			 const struct rpcrdma_cm_private *ours,
			 unsigned long timeout);
int rpcrdma_conn_accept(struct rpcrdma_conn *conn,
			const struct rpcrdma_cm_private *ours, u32 ord);
int rpcrdma_conn_wait(struct rpcrdma_conn *conn, unsigned long timeout,
		      int error);
void rpcrdma_conn_step(struct rpcrdma_conn *conn);
int rpcrdma_conn_post(struct rpcrdma_conn *conn,
		      const struct ib_send_wr *first);
int rpcrdma_conn_post_awaited(struct rpcrdma_conn *conn,
			      const struct ib_send_wr *first);
bool rpcrdma_conn_fail(struct rpcrdma_conn *conn, int error);
void rpcrdma_conn_flushed(struct rpcrdma_conn *conn);
void rpcrdma_conn_drain(struct rpcrdma_conn *conn);
void rpcrdma_conn_destroy_queues(struct rpcrdma_conn *conn);
void rpcrdma_conn_close(struct rpcrdma_conn *conn);

/* verbs/device.c reports what an ib_device can do, and takes known faults of particular devices
 * into account. It also delays the removal of a device while it has connections, or while a CM id
 * on it is being destroyed.
 */
void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps);
int rpcrdma_device_join(struct rpcrdma_conn *conn);
void rpcrdma_device_leave(struct rpcrdma_conn *conn);
void rpcrdma_device_destroy_id(struct rdma_cm_id *id);
int rpcrdma_device_init(void);
void rpcrdma_device_exit(void);

#endif /* RPCRDMA_CONN_H */
