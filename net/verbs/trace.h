/* SPDX-License-Identifier: GPL-2.0 */
/* Trace events of net/verbs, which client and server share */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR rpcrdma_verbs

#if !defined(RPCRDMA_TRACE_VERBS_H) || defined(TRACE_HEADER_MULTI_READ)
#define RPCRDMA_TRACE_VERBS_H

#include <linux/tracepoint.h>
#include <rpcrdma/trace_str.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/conn.h>

TRACE_EVENT(rpcrdma_cm_event,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rdma_cm_event *event),
	TP_ARGS(conn, event),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, event)
		__field(int, status)
		__string(name, rdma_event_msg(event->event))
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->event = event->event;
		__entry->status = event->status;
		rpcrdma_assign_str(name, rdma_event_msg(event->event));
	),
	TP_printk("conn=%p %s (%u) status=%d", __entry->conn,
		  __get_str(name), __entry->event, __entry->status)
);

TRACE_EVENT(rpcrdma_qp_event,
	TP_PROTO(const struct rpcrdma_conn *conn, const struct ib_event *event),
	TP_ARGS(conn, event),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, event)
		__string(name, ib_event_msg(event->event))
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->event = event->event;
		rpcrdma_assign_str(name, ib_event_msg(event->event));
	),
	TP_printk("conn=%p %s (%u)", __entry->conn, __get_str(name),
		  __entry->event)
);

DECLARE_EVENT_CLASS(rpcrdma_conn_error_class,
	TP_PROTO(const struct rpcrdma_conn *conn, int error),
	TP_ARGS(conn, error),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->error = error;
	),
	TP_printk("conn=%p error=%d", __entry->conn, __entry->error)
);

#define DEFINE_RPCRDMA_CONN_EVENT(name)					\
	DEFINE_EVENT(rpcrdma_conn_error_class, rpcrdma_##name,		\
		TP_PROTO(const struct rpcrdma_conn *conn, int error),	\
		TP_ARGS(conn, error))
DEFINE_RPCRDMA_CONN_EVENT(conn_lost);
DEFINE_RPCRDMA_CONN_EVENT(conn_close);
DEFINE_RPCRDMA_CONN_EVENT(post_err);
DEFINE_RPCRDMA_CONN_EVENT(no_recvs);
DEFINE_RPCRDMA_CONN_EVENT(peer_dead);
DEFINE_RPCRDMA_CONN_EVENT(no_progress);

TRACE_EVENT(rpcrdma_probe,
	TP_PROTO(const struct rpcrdma_conn *conn, unsigned long silence),
	TP_ARGS(conn, silence),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, queue)
		__field(unsigned int, msecs)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->queue = conn->cn_cq->res.id;
		__entry->msecs = jiffies_to_msecs(silence);
	),
	TP_printk("conn=%p cq.id=%u cid=0 silent for %u ms", __entry->conn,
		  __entry->queue, __entry->msecs)
);

DECLARE_EVENT_CLASS(rpcrdma_wc_error_class,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rpcrdma_cid *cid, const struct ib_wc *wc),
	TP_ARGS(conn, cid, wc),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, queue)
		__field(int, number)
		__field(u32, status)
		__field(u32, vendor_err)
		__string(name, ib_wc_status_msg(wc->status))
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
		rpcrdma_assign_str(name, ib_wc_status_msg(wc->status));
	),
	TP_printk("conn=%p cq.id=%u cid=%d %s (%u/0x%x)", __entry->conn,
		  __entry->queue, __entry->number, __get_str(name),
		  __entry->status, __entry->vendor_err)
);

DEFINE_EVENT(rpcrdma_wc_error_class, rpcrdma_recv_err,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rpcrdma_cid *cid, const struct ib_wc *wc),
	TP_ARGS(conn, cid, wc));
DEFINE_EVENT(rpcrdma_wc_error_class, rpcrdma_probe_err,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rpcrdma_cid *cid, const struct ib_wc *wc),
	TP_ARGS(conn, cid, wc));

/* A waiter has got its send queue slots */
TRACE_EVENT(rpcrdma_sq_wait,
	TP_PROTO(const struct rpcrdma_sq *sq, u32 slots),
	TP_ARGS(sq, slots),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, size)
		__field(u32, slots)
	),
	TP_fast_assign(
		__entry->conn = container_of(sq, struct rpcrdma_conn, cn_sq);
		__entry->size = READ_ONCE(sq->sq_size);
		__entry->slots = slots;
	),
	TP_printk("conn=%p wants=%u of=%u", __entry->conn, __entry->slots,
		  __entry->size)
);

/* The last transmission of a group (rtx.h) has arrived, and the message is complete */
TRACE_EVENT(rpcrdma_group,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rpcrdma_group *group),
	TP_ARGS(conn, group),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, xid)
		__field(bool, response)
		__field(u32, count)
		__field(u32, stream)
		__field(u64, data)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->xid = group->gr_xid;
		__entry->response = group->gr_response;
		__entry->count = group->gr_count;
		__entry->stream = group->gr_stream;
		__entry->data = group->gr_data;
	),
	TP_printk("conn=%p xid=0x%08x response=%d count=%u stream=%u data=%llu",
		  __entry->conn, __entry->xid, __entry->response,
		  __entry->count, __entry->stream, __entry->data)
);

/* A message has arrived that breaks the open group, or a transmission that is not valid or belongs
 * to no group. The connection is being closed. xid and response are those of the arrival, if it is
 * a transmission of a group, otherwise those of the open group. number and due count from 0.
 */
TRACE_EVENT(rpcrdma_group_broken,
	TP_PROTO(const struct rpcrdma_conn *conn,
		 const struct rpcrdma_group *group,
		 const struct rpcrdma2_transmission *tx),
	TP_ARGS(conn, group, tx),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, xid)
		__field(bool, response)
		__field(int, number)
		__field(int, due)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->xid = tx ? tx->tx_xid : group->gr_xid;
		__entry->response = tx ? tx->tx_response : group->gr_response;
		__entry->number = tx ? (int)tx->tx_number : -1;
		__entry->due = group->gr_number < group->gr_count ?
			       (int)group->gr_number : 0;
	),
	TP_printk("conn=%p xid=0x%08x response=%d number=%d due=%d",
		  __entry->conn, __entry->xid, __entry->response,
		  __entry->number, __entry->due)
);

TRACE_EVENT(rpcrdma_recv_post,
	TP_PROTO(const struct rpcrdma_recv *recv),
	TP_ARGS(recv),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, queue)
		__field(int, number)
	),
	TP_fast_assign(
		__entry->conn = recv->rv_conn;
		__entry->queue = recv->rv_cid.ci_queue;
		__entry->number = recv->rv_cid.ci_number;
	),
	TP_printk("conn=%p cq.id=%u cid=%d", __entry->conn, __entry->queue,
		  __entry->number)
);

/* A Receive has completed, with or without an error */
TRACE_EVENT(rpcrdma_recv_done,
	TP_PROTO(const struct rpcrdma_cid *cid, const struct ib_wc *wc),
	TP_ARGS(cid, wc),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(int, number)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->status = wc->status;
	),
	TP_printk("cq.id=%u cid=%d status=%u", __entry->queue, __entry->number,
		  __entry->status)
);

#endif /* RPCRDMA_TRACE_VERBS_H */

/* The path is relative to include/, which is in the search path. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../net/verbs
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
