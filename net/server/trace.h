/* SPDX-License-Identifier: GPL-2.0 */
/* Trace events of the server. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma
/* Several headers define events of the system rpcrdma. Each header needs a different
 * TRACE_SYSTEM_VAR.
 */
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR rpcrdma_svc

#if !defined(RPCRDMA_TRACE_SVC_H) || defined(TRACE_HEADER_MULTI_READ)
#define RPCRDMA_TRACE_SVC_H

#include <linux/tracepoint.h>
#include <rpcrdma/trace_str.h>

#include "svc_rdma.h"

#define show_svc_rdma_verdict(verdict)				\
	__print_symbolic(verdict,				\
		{ RPCRDMA_OK,			"OK" },		\
		{ RPCRDMA_DISCARD_SHORT,	"SHORT" },	\
		{ RPCRDMA_DISCARD_DONE,		"DONE" },	\
		{ RPCRDMA_DISCARD_ERROR,	"ERROR" },	\
		{ RPCRDMA_BACKWARD_CALL,	"BC_CALL" },	\
		{ RPCRDMA_BACKWARD_REPLY,	"BC_REPLY" },	\
		{ RPCRDMA_BAD_VERS,		"VERS" },	\
		{ RPCRDMA_BAD_PROC,		"PROC" },	\
		{ RPCRDMA_BAD_LIST,		"LIST" },	\
		{ RPCRDMA_MANY_READS,		"READS" },	\
		{ RPCRDMA_MANY_WRITES,		"WRITES" },	\
		{ RPCRDMA_MANY_SEGS,		"SEGMENTS" },	\
		{ RPCRDMA_BAD_COUNT,		"COUNT" },	\
		{ RPCRDMA_BAD_LENGTH,		"LENGTH" },	\
		{ RPCRDMA_BAD_POSITION,		"POSITION" },	\
		{ RPCRDMA_BAD_FORM,		"FORM" },	\
		{ RPCRDMA_BAD_XID,		"XID" },	\
		{ RPCRDMA_BAD_DIRECTION,	"DIRECTION" },	\
		{ RPCRDMA_BAD_MSG,		"MSG" },	\
		{ RPCRDMA_BAD_PROP,		"PROP" },	\
		{ RPCRDMA_BAD_GROUP,		"GROUP" },	\
		{ RPCRDMA_BIG_GROUP,		"GROUP_LIMIT" })

DECLARE_EVENT_CLASS(svc_rdma_message_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 xid, u32 len,
		 unsigned int verdict),
	TP_ARGS(sx, xid, len, verdict),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, xid)
		__field(u32, len)
		__field(unsigned int, verdict)
		__string(addr, sx->sx_xprt.xpt_remotebuf)
	),
	TP_fast_assign(
		__entry->sx = sx;
		__entry->xid = xid;
		__entry->len = len;
		__entry->verdict = verdict;
		rpcrdma_assign_str(addr, sx->sx_xprt.xpt_remotebuf);
	),
	TP_printk("sx=%p addr=%s xid=0x%08x len=%u %s", __entry->sx,
		  __get_str(addr), __entry->xid, __entry->len,
		  show_svc_rdma_verdict(__entry->verdict))
);

#define DEFINE_SVC_RDMA_MESSAGE_EVENT(name)				\
	DEFINE_EVENT(svc_rdma_message_class, name,			\
		TP_PROTO(const struct svc_rdma_xprt *sx, u32 xid,	\
			 u32 len, unsigned int verdict),		\
		TP_ARGS(sx, xid, len, verdict))

DEFINE_SVC_RDMA_MESSAGE_EVENT(svc_rdma_call);
DEFINE_SVC_RDMA_MESSAGE_EVENT(svc_rdma_discarded);
DEFINE_SVC_RDMA_MESSAGE_EVENT(svc_rdma_refused);

/* A message has arrived, or a Send has completed: @value is its length, or its status */
DECLARE_EVENT_CLASS(svc_rdma_cid_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 u32 value),
	TP_ARGS(sx, cid, value),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, queue)
		__field(int, number)
		__field(u32, value)
	),
	TP_fast_assign(
		__entry->sx = sx;
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->value = value;
	),
	TP_printk("sx=%p cq.id=%u cid=%d len=%u", __entry->sx, __entry->queue,
		  __entry->number, __entry->value)
);

DEFINE_EVENT(svc_rdma_cid_class, svc_rdma_receive,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 u32 value),
	TP_ARGS(sx, cid, value));
DEFINE_EVENT_PRINT(svc_rdma_cid_class, svc_rdma_send_done,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 u32 value),
	TP_ARGS(sx, cid, value),
	TP_printk("sx=%p cq.id=%u cid=%d status=%u", __entry->sx,
		  __entry->queue, __entry->number, __entry->value));

/* A Send is posted, with the RDMA Writes in front of it */
TRACE_EVENT(svc_rdma_send,
	TP_PROTO(const struct svc_rdma_send *send),
	TP_ARGS(send),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, queue)
		__field(int, number)
		__field(u32, len)
		__field(u32, writes)
	),
	TP_fast_assign(
		__entry->sx = svc_rdma_send_sx(send);
		__entry->queue = send->ss_send.sd_cid.ci_queue;
		__entry->number = send->ss_send.sd_cid.ci_number;
		__entry->len = rpcrdma_send_len(&send->ss_send);
		__entry->writes = send->ss_writes.sh_wrs;
	),
	TP_printk("sx=%p cq.id=%u cid=%d send=%u writes=%u", __entry->sx,
		  __entry->queue, __entry->number, __entry->len,
		  __entry->writes)
);

/* RDMA Reads of a Call are posted, or have completed. They have no completion ID (cid) of their
 * own. The events show the cid of the Call's message, which the Call holds until its RDMA Reads
 * have completed.
 */
DECLARE_EVENT_CLASS(svc_rdma_read_class,
	TP_PROTO(const struct svc_rdma_call *call, u32 status),
	TP_ARGS(call, status),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, queue)
		__field(int, number)
		__field(u32, xid)
		__field(u32, wrs)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->sx = call->sc_sx;
		__entry->queue = rpcrdma_msg_cid(call->sc_msg)->ci_queue;
		__entry->number = rpcrdma_msg_cid(call->sc_msg)->ci_number;
		__entry->xid = call->sc_hdr.hd_xid;
		__entry->wrs = call->sc_slots;
		__entry->status = status;
	),
	TP_printk("sx=%p xid=0x%08x cq.id=%u cid=%d wrs=%u status=%u",
		  __entry->sx, __entry->xid, __entry->queue, __entry->number,
		  __entry->wrs, __entry->status)
);

DEFINE_EVENT(svc_rdma_read_class, svc_rdma_read,
	TP_PROTO(const struct svc_rdma_call *call, u32 status),
	TP_ARGS(call, status));
DEFINE_EVENT(svc_rdma_read_class, svc_rdma_read_done,
	TP_PROTO(const struct svc_rdma_call *call, u32 status),
	TP_ARGS(call, status));

/* Events of a callback. @status is the number of bytes sent or received, or a negative errno. In
 * svc_rdma_bc_given_up, it is the status of the RPC. The connection may be about to be freed, so
 * only the address of @sx is recorded.
 */
DECLARE_EVENT_CLASS(svc_rdma_bc_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 xid, int status),
	TP_ARGS(sx, xid, status),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, xid)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->sx = sx;
		__entry->xid = xid;
		__entry->status = status;
	),
	TP_printk("sx=%p xid=0x%08x status=%d", __entry->sx, __entry->xid,
		  __entry->status)
);

#define DEFINE_SVC_RDMA_BC_EVENT(name)					\
	DEFINE_EVENT(svc_rdma_bc_class, name,				\
		TP_PROTO(const struct svc_rdma_xprt *sx, u32 xid,	\
			 int status),					\
		TP_ARGS(sx, xid, status))

DEFINE_SVC_RDMA_BC_EVENT(svc_rdma_bc_call);
DEFINE_SVC_RDMA_BC_EVENT(svc_rdma_bc_reply);
DEFINE_SVC_RDMA_BC_EVENT(svc_rdma_bc_error);
DEFINE_SVC_RDMA_BC_EVENT(svc_rdma_bc_drop);
DEFINE_SVC_RDMA_BC_EVENT(svc_rdma_bc_given_up);

/* A Call names a handle to invalidate (rdma_inv_handle) that no chunk of the Call has. The handle
 * is ignored.
 */
DEFINE_EVENT_PRINT(svc_rdma_bc_class, svc_rdma_stray_handle,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 xid, int status),
	TP_ARGS(sx, xid, status),
	TP_printk("sx=%p xid=0x%08x handle=0x%08x", __entry->sx, __entry->xid,
		  __entry->status));

/* A listener has begun to listen or has failed to, or a connect request was refused */
DECLARE_EVENT_CLASS(svc_rdma_listen_class,
	TP_PROTO(const struct sockaddr *addr, int status),
	TP_ARGS(addr, status),
	TP_STRUCT__entry(
		__sockaddr(addr, sizeof(struct sockaddr_in6))
		__field(int, status)
	),
	TP_fast_assign(
		__assign_sockaddr(addr, addr, sizeof(struct sockaddr_in6));
		__entry->status = status;
	),
	TP_printk("addr=%pISpc status=%d", __get_sockaddr(addr),
		  __entry->status)
);

DEFINE_EVENT(svc_rdma_listen_class, svc_rdma_listen,
	TP_PROTO(const struct sockaddr *addr, int status),
	TP_ARGS(addr, status));
DEFINE_EVENT(svc_rdma_listen_class, svc_rdma_request_err,
	TP_PROTO(const struct sockaddr *addr, int status),
	TP_ARGS(addr, status));

TRACE_EVENT(svc_rdma_reply,
	TP_PROTO(const struct svc_rdma_send *send, u32 xid, u32 body, u32 len,
		 u32 inv_rkey),
	TP_ARGS(send, xid, body, len, inv_rkey),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, queue)
		__field(int, number)
		__field(u32, xid)
		__field(u32, body)
		__field(u32, len)
		__field(u32, inv_rkey)
		__field(u32, slots)
	),
	TP_fast_assign(
		__entry->sx = svc_rdma_send_sx(send);
		__entry->queue = send->ss_send.sd_cid.ci_queue;
		__entry->number = send->ss_send.sd_cid.ci_number;
		__entry->xid = xid;
		__entry->body = body;
		__entry->len = len;
		__entry->inv_rkey = inv_rkey;
		__entry->slots = send->ss_writes.sh_wrs + 1;
	),
	TP_printk("sx=%p xid=0x%08x cq.id=%u cid=%d body=%u send=%u inv=0x%08x wrs=%u",
		  __entry->sx, __entry->xid, __entry->queue, __entry->number,
		  __entry->body, __entry->len, __entry->inv_rkey,
		  __entry->slots)
);

DECLARE_EVENT_CLASS(svc_rdma_wc_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 const struct ib_wc *wc),
	TP_ARGS(sx, cid, wc),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, queue)
		__field(int, number)
		__field(u32, status)
		__field(u32, vendor_err)
		__string(name, ib_wc_status_msg(wc->status))
	),
	TP_fast_assign(
		__entry->sx = sx;
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
		rpcrdma_assign_str(name, ib_wc_status_msg(wc->status));
	),
	TP_printk("sx=%p cq.id=%u cid=%d %s (%u/0x%x)", __entry->sx,
		  __entry->queue, __entry->number, __get_str(name),
		  __entry->status, __entry->vendor_err)
);

DEFINE_EVENT(svc_rdma_wc_class, svc_rdma_read_err,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 const struct ib_wc *wc),
	TP_ARGS(sx, cid, wc));
DEFINE_EVENT(svc_rdma_wc_class, svc_rdma_send_err,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_cid *cid,
		 const struct ib_wc *wc),
	TP_ARGS(sx, cid, wc));

DECLARE_EVENT_CLASS(svc_rdma_errno_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, int error),
	TP_ARGS(sx, error),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(int, error)
		__string(addr, sx->sx_xprt.xpt_remotebuf)
	),
	TP_fast_assign(
		__entry->sx = sx;
		__entry->error = error;
		rpcrdma_assign_str(addr, sx->sx_xprt.xpt_remotebuf);
	),
	TP_printk("sx=%p addr=%s error=%d", __entry->sx, __get_str(addr),
		  __entry->error)
);

#define DEFINE_SVC_RDMA_ERRNO_EVENT(name)				\
	DEFINE_EVENT(svc_rdma_errno_class, name,			\
		TP_PROTO(const struct svc_rdma_xprt *sx, int error),	\
		TP_ARGS(sx, error))

DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_accept_err);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_reply_err);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_read_post_err);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_lost);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_free);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_bc_stuck);
DEFINE_SVC_RDMA_ERRNO_EVENT(svc_rdma_bc_unwanted);

/* A connection is accepted, its version is settled, or its credits change: @value is the number of
 * RDMA Reads that may be in flight, the version, or the number of Receives
 */
DECLARE_EVENT_CLASS(svc_rdma_conn_class,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 value),
	TP_ARGS(sx, value),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, value)
		__field(u32, credits)
		__field(u32, slots)
		__field(u32, inline_send)
		__field(u32, inline_recv)
		__field(u32, brs)
		__field(u32, our_brs)
		__field(bool, remote_inv)
		__string(addr, sx->sx_xprt.xpt_remotebuf)
	),
	TP_fast_assign(
		const struct rpcrdma_limits *limits = &sx->sx_conn.cn_limits;

		__entry->sx = sx;
		__entry->value = value;
		__entry->credits = svc_rdma_credits_granted(sx);
		__entry->slots = sx->sx_conn.cn_sq.sq_size;
		__entry->inline_send = limits->lm_inline_send;
		__entry->inline_recv = limits->lm_inline_recv;
		__entry->brs = limits->lm_brs;
		__entry->our_brs = RPCRDMA2_OUR_BRS;
		__entry->remote_inv = limits->lm_remote_inv;
		rpcrdma_assign_str(addr, sx->sx_xprt.xpt_remotebuf);
	),
	TP_printk("sx=%p addr=%s credits=%u ord=%u slots=%u inline=%u/%u inv=%d",
		  __entry->sx, __get_str(addr), __entry->credits,
		  __entry->value, __entry->slots, __entry->inline_send,
		  __entry->inline_recv, __entry->remote_inv)
);

DEFINE_EVENT(svc_rdma_conn_class, svc_rdma_accept,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 value),
	TP_ARGS(sx, value));
DEFINE_EVENT_PRINT(svc_rdma_conn_class, svc_rdma_settled,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 value),
	TP_ARGS(sx, value),
	TP_printk("sx=%p addr=%s vers=%u inline=%u/%u brs=%u our_brs=%u credits=%u",
		  __entry->sx, __get_str(addr), __entry->value,
		  __entry->inline_send, __entry->inline_recv, __entry->brs,
		  __entry->our_brs, __entry->credits));
DEFINE_EVENT_PRINT(svc_rdma_conn_class, svc_rdma_credits,
	TP_PROTO(const struct svc_rdma_xprt *sx, u32 value),
	TP_ARGS(sx, value),
	TP_printk("sx=%p credits=%u receives=%u", __entry->sx,
		  __entry->credits, __entry->value));

TRACE_EVENT(svc_rdma_connprop,
	TP_PROTO(const struct svc_rdma_xprt *sx, const struct rpcrdma_hdr *hdr,
		 bool applied),
	TP_ARGS(sx, hdr, applied),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, xid)
		__field(u32, rbsiz)
		__field(u32, brs)
		__field(u32, given)
		__field(u32, unknown)
		__field(bool, applied)
		__field(u32, inline_send)
		__string(addr, sx->sx_xprt.xpt_remotebuf)
	),
	TP_fast_assign(
		const struct rpcrdma2_props *props = &hdr->hd_props;

		__entry->sx = sx;
		__entry->xid = hdr->hd_xid;
		__entry->rbsiz = props->vp_value[RPCRDMA2_PROP_RBSIZ];
		__entry->brs = props->vp_value[RPCRDMA2_PROP_BRS];
		__entry->given = props->vp_given;
		__entry->unknown = props->vp_unknown;
		__entry->applied = applied;
		__entry->inline_send = sx->sx_conn.cn_limits.lm_inline_send;
		rpcrdma_assign_str(addr, sx->sx_xprt.xpt_remotebuf);
	),
	TP_printk("sx=%p addr=%s xid=0x%08x rbsiz=%u brs=%u given=0x%x unknown=%u applied=%d inline_send=%u",
		  __entry->sx, __get_str(addr), __entry->xid, __entry->rbsiz,
		  __entry->brs, __entry->given, __entry->unknown,
		  __entry->applied, __entry->inline_send)
);

#define show_svc_rdma_error(code)					\
	__print_symbolic(code,						\
		{ RPCRDMA2_ERR_VERS,		"VERS" },		\
		{ RPCRDMA2_ERR_BAD_XDR,		"BAD_XDR" },		\
		{ RPCRDMA2_ERR_INVAL_HTYPE,	"INVAL_HTYPE" },	\
		{ RPCRDMA2_ERR_READ_CHUNKS,	"READ_CHUNKS" },	\
		{ RPCRDMA2_ERR_WRITE_CHUNKS,	"WRITE_CHUNKS" },	\
		{ RPCRDMA2_ERR_SEGMENTS,	"SEGMENTS" },		\
		{ RPCRDMA2_ERR_WRITE_RESOURCE,	"WRITE_RESOURCE" },	\
		{ RPCRDMA2_ERR_REPLY_RESOURCE,	"REPLY_RESOURCE" },	\
		{ RPCRDMA2_ERR_SYSTEM,		"SYSTEM" },		\
		{ RPCRDMA2_ERR_RTX_CONT,	"RTX_CONT" },		\
		{ RPCRDMA2_ERR_RTX_LIMIT,	"RTX_LIMIT" })

/* An error is sent. The event always shows the code of version 2. In version 1 every code except
 * ERR_VERS is sent as ERR_CHUNK.
 */
TRACE_EVENT(svc_rdma_error,
	TP_PROTO(const struct svc_rdma_call *call,
		 const struct rpcrdma2_error *error),
	TP_ARGS(call, error),
	TP_STRUCT__entry(
		__field(const void *, sx)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, code)
		__field(u32, arg0)
		__field(u32, arg1)
	),
	TP_fast_assign(
		__entry->sx = call->sc_sx;
		__entry->xid = call->sc_hdr.hd_xid;
		__entry->vers = call->sc_vers;
		__entry->code = error->er_code;
		__entry->arg0 = error->er_arg[0];
		__entry->arg1 = error->er_arg[1];
	),
	TP_printk("sx=%p xid=0x%08x vers=%u %s %u %u", __entry->sx,
		  __entry->xid, __entry->vers,
		  show_svc_rdma_error(__entry->code), __entry->arg0,
		  __entry->arg1)
);

#endif /* RPCRDMA_TRACE_SVC_H */

/* The path is relative to include/, which is in the search path. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../net/server
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
