/* SPDX-License-Identifier: GPL-2.0 */
/* Trace events of the client. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rpcrdma
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR rpcrdma_xprt

#if !defined(RPCRDMA_TRACE_XPRT_H) || defined(TRACE_HEADER_MULTI_READ)
#define RPCRDMA_TRACE_XPRT_H

#include <linux/tracepoint.h>
#include <rpcrdma/trace_str.h>
#include <linux/sunrpc/xprt.h>

#include "xprt_rdma.h"

DECLARE_EVENT_CLASS(xprt_rdma_class,
	TP_PROTO(const struct xprt_rdma *xr, int status),
	TP_ARGS(xr, status),
	TP_STRUCT__entry(
		__string(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR])
		__string(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT])
		__field(int, status)
	),
	TP_fast_assign(
		rpcrdma_assign_str(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR]);
		rpcrdma_assign_str(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT]);
		__entry->status = status;
	),
	TP_printk("peer=[%s]:%s status=%d", __get_str(addr), __get_str(port),
		  __entry->status)
);

#define DEFINE_XPRT_RDMA_EVENT(name)					\
	DEFINE_EVENT(xprt_rdma_class, xprt_rdma_##name,			\
		TP_PROTO(const struct xprt_rdma *xr, int status),	\
		TP_ARGS(xr, status))

DEFINE_XPRT_RDMA_EVENT(close);
DEFINE_XPRT_RDMA_EVENT(port_in_use);
DEFINE_XPRT_RDMA_EVENT(path_return);
DEFINE_XPRT_RDMA_EVENT(mr_alloc_err);
DEFINE_XPRT_RDMA_EVENT(no_slot);
DEFINE_XPRT_RDMA_EVENT(no_sends);
DEFINE_XPRT_RDMA_EVENT(bc_overrun);

DECLARE_EVENT_CLASS(xprt_rdma_path_class,
	TP_PROTO(const struct xprt_rdma *xr, u32 path, int status),
	TP_ARGS(xr, path, status),
	TP_STRUCT__entry(
		__string(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR])
		__string(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT])
		__field(u32, path)
		__field(int, status)
	),
	TP_fast_assign(
		rpcrdma_assign_str(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR]);
		rpcrdma_assign_str(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT]);
		__entry->path = path;
		__entry->status = status;
	),
	TP_printk("peer=[%s]:%s path=%u status=%d", __get_str(addr),
		  __get_str(port), __entry->path, __entry->status)
);

#define DEFINE_XPRT_RDMA_PATH_EVENT(name)				\
	DEFINE_EVENT(xprt_rdma_path_class, xprt_rdma_path_##name,	\
		TP_PROTO(const struct xprt_rdma *xr, u32 path,		\
			 int status),					\
		TP_ARGS(xr, path, status))

DEFINE_XPRT_RDMA_PATH_EVENT(fail);
DEFINE_XPRT_RDMA_PATH_EVENT(probe);

/* The server has invalidated a handle that it was not allowed to invalidate */
DEFINE_EVENT_PRINT(xprt_rdma_class, xprt_rdma_bad_invalidation,
	TP_PROTO(const struct xprt_rdma *xr, int status),
	TP_ARGS(xr, status),
	TP_printk("peer=[%s]:%s handle=0x%08x", __get_str(addr),
		  __get_str(port), __entry->status)
);

TRACE_EVENT(xprt_rdma_no_tls,
	TP_PROTO(const struct xprt_create *args),
	TP_ARGS(args),
	TP_STRUCT__entry(
		__sockaddr(peer, args->addrlen)
		__field(unsigned int, policy)
	),
	TP_fast_assign(
		__assign_sockaddr(peer, args->dstaddr, args->addrlen);
		__entry->policy = xprt_rdma_xprtsec(args);
	),
	TP_printk("peer=%pISpc policy=%u", __get_sockaddr(peer),
		  __entry->policy)
);

TRACE_EVENT(xprt_rdma_connect,
	TP_PROTO(const struct xprt_rdma *xr, int status),
	TP_ARGS(xr, status),
	TP_STRUCT__entry(
		__string(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR])
		__string(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT])
		__field(int, status)
		__field(u32, vers)
		__field(u32, send)
		__field(u32, recv)
		__field(u32, rbsiz)
		__field(u32, brs)
		__field(u32, our_brs)
		__field(bool, spoke)
		__field(u32, granted)
	),
	TP_fast_assign(
		const struct rpcrdma_limits *limits = &xr->xr_conn.cn_limits;

		rpcrdma_assign_str(addr, xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR]);
		rpcrdma_assign_str(port, xr->xr_xprt.address_strings[RPC_DISPLAY_PORT]);
		__entry->status = status;
		__entry->vers = xr->xr_vers;
		__entry->send = limits->lm_inline_send;
		__entry->recv = limits->lm_inline_recv;
		__entry->rbsiz = limits->lm_peer_recv;
		__entry->brs = limits->lm_brs;
		__entry->our_brs = RPCRDMA2_OUR_BRS;
		__entry->spoke = limits->lm_peer_spoke;
		__entry->granted = xr->xr_window.wn_granted;
	),
	TP_printk("peer=[%s]:%s status=%d vers=%u inline_send=%u inline_recv=%u rbsiz=%u brs=%u our_brs=%u peer_spoke=%d granted=%u",
		  __get_str(addr), __get_str(port), __entry->status,
		  __entry->vers, __entry->send, __entry->recv, __entry->rbsiz,
		  __entry->brs, __entry->our_brs, __entry->spoke,
		  __entry->granted)
);

TRACE_EVENT(xprt_rdma_marshal,
	TP_PROTO(const struct rpc_rqst *rqst, const struct rpcrdma_plan *plan,
		 u32 len),
	TP_ARGS(rqst, plan, len),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, call)
		__field(u32, reply)
		__field(u32, len)
		__field(u32, sends)
		__field(u32, recvs)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->call = plan->pl_call;
		__entry->reply = plan->pl_reply;
		__entry->len = len;
		__entry->sends = plan->pl_count;
		__entry->recvs = plan->pl_replies;
	),
	TP_printk("xid=0x%08x call=%s reply=%s inline=%u sends=%u recvs=%u", __entry->xid,
		  __print_symbolic(__entry->call,
				   { RPCRDMA_CALL_INLINE, "inline" },
				   { RPCRDMA_CALL_READ, "read chunk" },
				   { RPCRDMA_CALL_LONG, "long" },
				   { RPCRDMA_CALL_GROUP, "group" }),
		  __print_symbolic(__entry->reply,
				   { RPCRDMA_REPLY_INLINE, "inline" },
				   { RPCRDMA_REPLY_WRITE, "write chunk" },
				   { RPCRDMA_REPLY_LONG, "reply chunk" },
				   { RPCRDMA_REPLY_GROUP, "group" }),
		  __entry->len, __entry->sends, __entry->recvs)
);

DECLARE_EVENT_CLASS(xprt_rdma_rqst_class,
	TP_PROTO(const struct rpc_rqst *rqst, int status),
	TP_ARGS(rqst, status),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(rqst->rq_xid);
		__entry->status = status;
	),
	TP_printk("xid=0x%08x status=%d", __entry->xid, __entry->status)
);

#define DEFINE_XPRT_RDMA_RQST(name)					\
	DEFINE_EVENT(xprt_rdma_rqst_class, xprt_rdma_##name,		\
		TP_PROTO(const struct rpc_rqst *rqst, int status),	\
		TP_ARGS(rqst, status))

DEFINE_XPRT_RDMA_RQST(marshal_err);
DEFINE_XPRT_RDMA_RQST(timeout);
DEFINE_XPRT_RDMA_RQST(given_up);
DEFINE_XPRT_RDMA_RQST(fence);
DEFINE_XPRT_RDMA_RQST(bc_reply);

TRACE_EVENT(xprt_rdma_send,
	TP_PROTO(const struct xprt_rdma_send *send,
		 const struct xprt_rdma_req *req),
	TP_ARGS(send, req),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(int, number)
		__field(u32, xid)
		__field(u32, len)
		__field(u32, wrs)
		__field(bool, signaled)
	),
	TP_fast_assign(
		__entry->queue = send->sn_send.sd_cid.ci_queue;
		__entry->number = send->sn_send.sd_cid.ci_number;
		__entry->xid = req ? be32_to_cpu(req->rr_slot.rq_xid) : 0;
		__entry->len = rpcrdma_send_len(&send->sn_send);
		__entry->wrs = send->sn_send.sd_slots;
		__entry->signaled = send->sn_send.sd_wr.send_flags &
				    IB_SEND_SIGNALED;
	),
	TP_printk("xid=0x%08x cq.id=%u cid=%d send=%u wrs=%u%s", __entry->xid,
		  __entry->queue, __entry->number, __entry->len, __entry->wrs,
		  __entry->signaled ? " signaled" : "")
);

/* A Send has completed. An unsignaled Send that has succeeded is traced when the next signaled Send
 * succeeds.
 */
TRACE_EVENT(xprt_rdma_send_done,
	TP_PROTO(const struct rpcrdma_cid *cid, u32 status),
	TP_ARGS(cid, status),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(int, number)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->status = status;
	),
	TP_printk("cq.id=%u cid=%d status=%u", __entry->queue, __entry->number,
		  __entry->status)
);

/* Steps in the life of a memory region: it is mapped for an RPC, invalidated by the server or
 * by the client, and unmapped
 */
DECLARE_EVENT_CLASS(xprt_rdma_mr_class,
	TP_PROTO(const struct xprt_rdma_mr *mr,
		 const struct xprt_rdma_req *req),
	TP_ARGS(mr, req),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(int, number)
		__field(u32, xid)
		__field(u32, handle)
		__field(u32, len)
		__field(u64, offset)
		__field(int, nents)
		__field(bool, write)
	),
	TP_fast_assign(
		__entry->queue = mr->mr_cid.ci_queue;
		__entry->number = mr->mr_cid.ci_number;
		__entry->xid = req ? be32_to_cpu(req->rr_slot.rq_xid) : 0;
		__entry->handle = mr->mr_seg.rs_handle;
		__entry->len = mr->mr_seg.rs_length;
		__entry->offset = mr->mr_seg.rs_offset;
		__entry->nents = mr->mr_nents;
		__entry->write = mr->mr_dir == DMA_FROM_DEVICE;
	),
	TP_printk("xid=0x%08x cq.id=%u cid=%d handle=0x%08x %u@0x%llx pages=%d %s",
		  __entry->xid, __entry->queue, __entry->number,
		  __entry->handle, __entry->len, __entry->offset,
		  __entry->nents, __entry->write ? "write" : "read")
);

#define DEFINE_XPRT_RDMA_MR(name)					\
	DEFINE_EVENT(xprt_rdma_mr_class, xprt_rdma_mr_##name,		\
		TP_PROTO(const struct xprt_rdma_mr *mr,			\
			 const struct xprt_rdma_req *req),		\
		TP_ARGS(mr, req))

DEFINE_XPRT_RDMA_MR(map);
DEFINE_XPRT_RDMA_MR(local_inv);
DEFINE_XPRT_RDMA_MR(remote_inv);
DEFINE_XPRT_RDMA_MR(unmap);

TRACE_EVENT(xprt_rdma_reply,
	TP_PROTO(const struct xprt_rdma_req *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, len)
		__field(u32, written)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->xid = be32_to_cpu(req->rr_slot.rq_xid);
		__entry->len = rpcrdma_msg_body_len(req->rr_msg);
		__entry->written = req->rr_reply_written;
		__entry->status = req->rr_reply_status;
	),
	TP_printk("xid=0x%08x inline=%u written=%u status=%d", __entry->xid,
		  __entry->len, __entry->written, __entry->status)
);

/* A received message that is not a valid Reply to a known RPC. The reason is the error code in
 * error_reply and refuse, an enum rpcrdma_negotiate in nego, and 0 in the events of callbacks
 * (bc_*). In the other events it is the decoder's verdict (enum rpcrdma_verdict).
 */
DECLARE_EVENT_CLASS(xprt_rdma_message_class,
	TP_PROTO(const struct rpcrdma_hdr *hdr, u32 reason),
	TP_ARGS(hdr, reason),
	TP_STRUCT__entry(
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, proc)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->xid = hdr->hd_xid;
		__entry->vers = hdr->hd_vers;
		__entry->proc = hdr->hd_proc;
		__entry->reason = reason;
	),
	TP_printk("xid=0x%08x vers=%u proc=%u reason=%u", __entry->xid,
		  __entry->vers, __entry->proc, __entry->reason)
);

#define DEFINE_XPRT_RDMA_MESSAGE(name)					\
	DEFINE_EVENT(xprt_rdma_message_class, xprt_rdma_##name,		\
		TP_PROTO(const struct rpcrdma_hdr *hdr, u32 reason),	\
		TP_ARGS(hdr, reason))

DEFINE_XPRT_RDMA_MESSAGE(discard);
DEFINE_XPRT_RDMA_MESSAGE(unknown_xid);
DEFINE_XPRT_RDMA_MESSAGE(bad_reply);
DEFINE_XPRT_RDMA_MESSAGE(error_reply);
DEFINE_XPRT_RDMA_MESSAGE(nego);
DEFINE_XPRT_RDMA_MESSAGE(connprop);
DEFINE_XPRT_RDMA_MESSAGE(refuse);
DEFINE_XPRT_RDMA_MESSAGE(bc_call);
DEFINE_XPRT_RDMA_MESSAGE(bc_drop);
DEFINE_XPRT_RDMA_MESSAGE(bc_refuse);

TRACE_EVENT(xprt_rdma_receive,
	TP_PROTO(const struct rpcrdma_cid *cid, const struct rpcrdma_hdr *hdr,
		 u32 reason),
	TP_ARGS(cid, hdr, reason),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(int, number)
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, proc)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->xid = hdr->hd_xid;
		__entry->vers = hdr->hd_vers;
		__entry->proc = hdr->hd_proc;
		__entry->reason = reason;
	),
	TP_printk("xid=0x%08x cq.id=%u cid=%d vers=%u proc=%u reason=%u",
		  __entry->xid, __entry->queue, __entry->number,
		  __entry->vers, __entry->proc, __entry->reason)
);

DECLARE_EVENT_CLASS(xprt_rdma_wc_class,
	TP_PROTO(const struct xprt_rdma *xr, const struct rpcrdma_cid *cid,
		 const struct ib_wc *wc),
	TP_ARGS(xr, cid, wc),
	TP_STRUCT__entry(
		__field(const void *, xr)
		__field(u32, queue)
		__field(int, number)
		__field(u32, status)
		__field(u32, vendor_err)
		__string(name, ib_wc_status_msg(wc->status))
	),
	TP_fast_assign(
		__entry->xr = xr;
		__entry->queue = cid->ci_queue;
		__entry->number = cid->ci_number;
		__entry->status = wc->status;
		__entry->vendor_err = wc->vendor_err;
		rpcrdma_assign_str(name, ib_wc_status_msg(wc->status));
	),
	TP_printk("xprt=%p cq.id=%u cid=%d %s (%u/0x%x)", __entry->xr,
		  __entry->queue, __entry->number, __get_str(name),
		  __entry->status, __entry->vendor_err)
);

#define DEFINE_XPRT_RDMA_WC(name)					\
	DEFINE_EVENT(xprt_rdma_wc_class, xprt_rdma_##name,		\
		TP_PROTO(const struct xprt_rdma *xr,			\
			 const struct rpcrdma_cid *cid,			\
			 const struct ib_wc *wc),			\
		TP_ARGS(xr, cid, wc))

DEFINE_XPRT_RDMA_WC(send_err);
DEFINE_XPRT_RDMA_WC(mr_err);

#endif /* RPCRDMA_TRACE_XPRT_H */

/* TRACE_INCLUDE_PATH is relative to include/, which is in the search path of headers. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../net/client
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
