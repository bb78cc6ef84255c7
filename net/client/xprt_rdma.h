/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures and functions that the files of net/client share. The server (net/server)
 * never includes this file.
 *
 * Comments cite invariants (I1 and so on: Documentation/locking.rst), decisions (G-nn and
 * T-nn: decisions.rst), rules of the round-trip extension (RTX-nn: rtx.rst) and
 * specifications, whose short names conformance.rst explains (rfc5666bis, version-two).
 */
#ifndef RPCRDMA_XPRT_RDMA_H
#define RPCRDMA_XPRT_RDMA_H

#include <linux/jump_label.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/wait_bit.h>
#include <rpcrdma/chunk.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/credit.h>
#include <rpcrdma/group.h>
#include <rpcrdma/msg.h>
#include <rpcrdma/paths.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/rtx.h>
#include <rpcrdma/send.h>
#include <rpcrdma/size.h>
#include <rpcrdma/vers.h>

/* The TLS policy (RPC_XPRTSEC_*) that sunrpc requires of a new transport. For kernels whose
 * sunrpc has no TLS, a shim in include/compat defines this macro.
 */
#ifndef xprt_rdma_xprtsec
#define xprt_rdma_xprtsec(args)	((args)->xprtsec.policy)
#define xprt_rdma_connect_wanted(args)	((args)->connect_timeout ?: ULONG_MAX)
#define xprt_rdma_reconnect_wanted(args) ((args)->reconnect_timeout ?: ULONG_MAX)
#endif

/* Largest READ or WRITE payload in bytes. The NFS client has the same limit. */
#define XPRT_RDMA_MAX_PAYLOAD	1048576u

/* Maximum number of callbacks that may be unanswered at one time. The client grants this number
 * of credits in the backward direction (rfc5666bis 8.2.2.1).
 */
#define XPRT_RDMA_BC_REQUESTS	16u

/* Size in bytes of the largest callback, and of the largest Reply to one */
#define XPRT_RDMA_BC_SIZE	4096u

/* GFP flags for allocations while sunrpc's send lock of the transport is held. While a task
 * holds the lock, the transport cannot be closed, and no other task can send an RPC on it,
 * not even to write dirty pages. So these allocations fail rather than wait for memory that
 * may never be freed, and sunrpc tries again.
 *
 * XPRT_RDMA_GFP_CONNECT is for the resources with which a new connection can send RPCs one
 * at a time. If the transport is used for swap, these may come from the kernel's memory
 * reserve. XPRT_RDMA_GFP is for what further Calls need, and never takes memory from the reserve.
 */
#define XPRT_RDMA_GFP_CONNECT	(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)
#define XPRT_RDMA_GFP		(XPRT_RDMA_GFP_CONNECT | __GFP_NOMEMALLOC)

/* Size in bytes of the buffer that a new slot gets. Most RPCs need no more. */
#define XPRT_RDMA_BUF_SIZE	2048u

/* Largest value in bytes of the module parameters rdma_rtx_long_max, rdma_rtx_write_max and
 * rdma_rtx_gather, which are lengths of a Call or of its data. It is the largest payload, plus
 * room for the rest of a WRITE Call.
 */
#define XPRT_RDMA_RTX_MAX	(XPRT_RDMA_MAX_PAYLOAD + 4096u)

#define XPRT_RDMA_MIN_SLOTS	2u
#define XPRT_RDMA_DEF_SLOTS	128u
#define XPRT_RDMA_MAX_SLOTS	16384u
#define XPRT_RDMA_DEF_INLINE	4096u
#define XPRT_RDMA_DEF_V2_INLINE	16384u

/* If an attempt to connect fails, this is the minimum time in jiffies from its start to the start
 * of the next attempt. sunrpc doubles this time after each further failure, up to
 * max_reconnect_timeout, unless the server's address was not even resolved.
 */
#define XPRT_RDMA_REESTABLISH_MIN	(5 * HZ)

/* Maximum times in jiffies. The first applies to each of two steps: resolving the server's address,
 * and resolving the route to it. The second is for the server to accept the connection.
 */
#define XPRT_RDMA_RESOLVE_TIMEOUT	(5 * HZ)
#define XPRT_RDMA_CONNECT_TIMEOUT	(15 * HZ)

/* Number of Receives that a connection has before its version is known */
#define XPRT_RDMA_FIRST_RECVS	4u
/* Once the version is known, a connection gets Receives for the Replies to this number of Calls.
 * More Receives are added when more Calls are in flight.
 */
#define XPRT_RDMA_FIRST_CALLS	8u

struct xprt_rdma;
struct xprt_rdma_line;
struct xprt_rdma_req;

/**
 * struct xprt_rdma_mr - a memory region, registered for one RPC at a time
 * @mr_list: link in the pool (xr_mr_free) or in an RPC's list (rr_mrs); changed under
 *	xr_lock
 * @mr_all: link in xr_mr_all, as long as the region exists
 * @mr_xprt: transport
 * @mr_cid: completion ID
 * @mr_ib: the verbs object
 * @mr_pages: the mapped pages, a table of cz_mr_pages entries
 * @mr_nents: number of entries of @mr_pages in use; 0 if nothing is DMA-mapped
 * @mr_held: the first entry of @mr_pages to whose page the region has a reference, see
 *	xprt_rdma_frwr_register()
 * @mr_nheld: number of entries to whose pages it has references
 * @mr_dir: DMA direction of the mapping
 * @mr_foreign: another module has mapped the pages (client/foreign.c); set by the task that maps
 *	the region, cleared when the region is unmapped
 * @mr_seg: handle, length and offset of the region, as sent to the server in a chunk
 * @mr_cqe: completion of a registration or invalidation. These work requests are unsignaled,
 *	so they normally have a completion only if they fail. The last invalidation of an RPC
 *	uses rr_inv_cqe instead.
 * @mr_reg: registration work request, filled in for each use
 * @mr_inv: invalidation work request, filled in for each use
 */
struct xprt_rdma_mr {
	struct list_head	mr_list;
	struct list_head	mr_all;
	struct xprt_rdma	*mr_xprt;
	struct rpcrdma_cid	mr_cid;
	struct ib_mr		*mr_ib;
	struct sg_table		mr_pages;
	int			mr_nents;
	struct scatterlist	*mr_held;
	int			mr_nheld;
	enum dma_data_direction	mr_dir;
	bool			mr_foreign;
	struct rpcrdma_segment	mr_seg;
	struct ib_cqe		mr_cqe;
	struct ib_reg_wr	mr_reg;
	struct ib_send_wr	mr_inv;
};

/**
 * struct xprt_rdma_send - a Send: one message, or one transmission of a group (rtx.h)
 * @sn_send: the Send. Its buffer has the transport header and the inline part of the
 *	message. An idle Send is on xr_send_free. A posted Send is on xr_send_busy, in
 *	posting order. xr_lock protects both lists. Before a group is posted, all its Sends
 *	but the first are on sd_more of the first. sd_slots counts the Send itself and the
 *	registrations that are posted in front of it.
 * @sn_wanted: size in bytes for which the buffer was last prepared. The buffer is smaller if
 *	there was no memory for this size, and may be larger after xprt_rdma_send_grow().
 * @sn_pages: the pages from which a Send gathers data. Allocated when first needed
 * @sn_gathers: in the last Send of a group that gathers data from pages (client/pages.c), the
 *	RPC that has these pages; otherwise NULL. Under xr_lock, unless the group is
 *	still being written
 *
 * A Send contains a copy of the inline message, so its RPC may end before the device has
 * read the message. There is one exception: a Send may read the data of a placed item
 * (rtx.h) from the pages of the RPC. In that case the RPC ends only when the Send no longer
 * reads them (I2).
 */
struct xprt_rdma_send {
	struct rpcrdma_send	sn_send;
	u32			sn_wanted;
	struct xprt_rdma_pages	*sn_pages;
	struct xprt_rdma_req	*sn_gathers;
};

/**
 * struct xprt_rdma_offer - one chunk offered to the server
 * @of_out: the chunk in the form that the encoder takes; of_out.co_segs is @of_segs
 * @of_segs: segments of the chunk
 */
struct xprt_rdma_offer {
	struct rpcrdma_chunk_out	of_out;
	struct rpcrdma_segment		of_segs[RPCRDMA_CLIENT_SEGS];
};

/**
 * struct xprt_rdma_extra - the additional credits and Receives of a Call that is a group (rtx.h)
 * @ex_credits: number of credits beyond the first
 * @ex_recvs: number of Receives for the Reply beyond the first
 *
 * The credits and Receives are taken together before the Call is posted. If it is posted, the
 * credits are given back together with the first credit of the Call, and the Receives when the
 * Reply has come. xprt->transport_lock protects the structure.
 */
struct xprt_rdma_extra {
	u32				ex_credits;
	u32				ex_recvs;
};

/**
 * struct xprt_rdma_owed - a Call whose RPC was given up before the Reply came
 * @ow_xid: XID of the RPC
 * @ow_extra: the Call's credits beyond the first, and its Receives beyond the first. Like
 *	the first credit, they stay in use until the Reply comes.
 *
 * An RPC is given up if sunrpc ends it without a Reply, after a signal or a timeout.
 */
struct xprt_rdma_owed {
	u32				ow_xid;
	struct xprt_rdma_extra		ow_extra;
};

/* What an RPC still waits for (rr_holds). When the Reply has come and no bit is set, the RPC is
 * completed. When an RPC has been given up (ended without a Reply), the task that ends it waits
 * until no bit is set. If a completion reports an error, or never comes, its bit stays set until
 * the connection has been closed.
 *
 * XPRT_RDMA_HOLD_REPLY: the Reply, or the end of the RPC. Whoever clears this bit handles the
 *	Reply, or counts the credits of an RPC that is given up (I7)
 * XPRT_RDMA_HOLD_FENCE: the completion of the last local invalidation of its regions
 * XPRT_RDMA_HOLD_SENDS: the completion of the last Send that reads its pages
 */
#define XPRT_RDMA_HOLD_REPLY	1
#define XPRT_RDMA_HOLD_FENCE	2
#define XPRT_RDMA_HOLD_SENDS	4

/**
 * struct xprt_rdma_req - an RPC slot
 * @rr_slot: sunrpc's part of the slot; cleared before the slot is used for another RPC
 * @rr_free: link in xr_req_free, under xprt->reserve_lock; or in xr_bc_free, under
 *	xprt->bc_pa_lock
 * @rr_all: link in xr_req_all
 * @rr_buf: Call and Reply buffer, kept from RPC to RPC
 * @rr_buf_size: size of @rr_buf in bytes
 * @rr_pad: a cache line that a server may write the roundup of a Write chunk to (G-03)
 * @rr_plan: forms chosen for the Call and the Reply
 * @rr_retry: how the next Call of this RPC has to differ because of earlier errors
 * @rr_extra: the Call's credits beyond the first, and its Receives beyond the first
 * @rr_resend: the server answered the Call with an error, and the Call must be sent again;
 *	set under xprt->queue_lock, cleared by the task that sends it
 * @rr_holds: what the RPC still waits for: XPRT_RDMA_HOLD_REPLY and so on
 * @rr_bc_cookie: in a callback's slot, the connect_cookie of the connection on which the
 *	callback came
 * @rr_failed: the RPC must fail, because its Reply was an error or was malformed; its Call must
 *	never be sent again
 * @rr_foreign: another module has mapped pages of this RPC (client/foreign.c), now or in an earlier
 *	attempt to send the Call; changed by the task that sends the Call, cleared when the
 *	slot is freed
 * @rr_mrs: regions registered for the RPC; changed under xr_lock
 * @rr_read: the Read chunk offered, if the plan has one
 * @rr_write: the Write chunk or Reply chunk offered, if the plan has one
 * @rr_inv_cqe: completion of the RPC's last local invalidation
 * @rr_msg: the message with the Reply, from its arrival until the RPC is completed or the
 *	connection has been closed; under xprt->queue_lock
 * @rr_reply_written: number of bytes that the server has written to the Write chunk or the
 *	Reply chunk
 * @rr_reply_status: 0 if the Reply is valid; %-EAGAIN if the Call is to be sent again; another
 *	negative errno, which is only traced, if the RPC is to end with %-EIO
 *
 * sunrpc owns the slot of a Call from alloc_slot to free_slot. When a Reply has been matched with
 * its RPC, the code that handles the Reply may access the slot only while the rpc_rqst is pinned.
 */
struct xprt_rdma_req {
	struct rpc_rqst		rr_slot;
	struct list_head	rr_free;
	struct list_head	rr_all;
	void			*rr_buf;
	size_t			rr_buf_size;
	void			*rr_pad;
	struct rpcrdma_plan	rr_plan;
	struct rpcrdma_retry	rr_retry;
	struct xprt_rdma_extra	rr_extra;
	bool			rr_resend;
	atomic_t		rr_holds;
	unsigned int		rr_bc_cookie;
	bool			rr_failed;
	bool			rr_foreign;
	struct list_head	rr_mrs;
	struct xprt_rdma_offer	rr_read;
	struct xprt_rdma_offer	rr_write;
	struct ib_cqe		rr_inv_cqe;
	struct rpcrdma_msg_in	*rr_msg;
	u32			rr_reply_written;
	int			rr_reply_status;
};

/* Clears one bit of rr_holds. Returns true to the one caller that has cleared it. */
static inline bool xprt_rdma_hold_drop(struct xprt_rdma_req *req, int hold)
{
	return atomic_fetch_andnot(hold, &req->rr_holds) & hold;
}

/**
 * struct xprt_rdma_stats - columns of the mountstats "xprt:" line that sunrpc does not count
 * @cs_read_chunks: Calls with a Read chunk or Position Zero chunk
 * @cs_write_chunks: Calls with a Write chunk
 * @cs_reply_chunks: Calls with a Reply chunk
 * @cs_bytes_out: bytes of page lists offered in Read chunks
 * @cs_bytes_in: bytes that the server has written to Write chunks and Reply chunks
 * @cs_pullup: bytes of page lists of Calls that were copied into Sends
 * @cs_fixup: bytes of inline Replies that were copied to the pages or the tail of the
 *	receive buffer
 * @cs_hardway: bytes by which the buffers of slots have been enlarged
 * @cs_failed_marshals: failed attempts to build a Call
 * @cs_bad_replies: Replies that ended an RPC with an error
 * @cs_nomsg_calls: Calls in the form RDMA_NOMSG
 * @cs_recycled: regions destroyed with their connection
 * @cs_allocated: regions allocated
 * @cs_local_inv: local invalidations; each is for all regions that an RPC still had
 * @cs_empty_sends: number of times that a Call had to wait for a free Send, or for send queue
 *	entries
 *
 * What is counted when a Call is built (chunks, copies, forms) is counted again when the Call is
 * built again, for example because it could not be sent.
 */
struct xprt_rdma_stats {
	unsigned long		cs_read_chunks;
	unsigned long		cs_write_chunks;
	unsigned long		cs_reply_chunks;
	unsigned long long	cs_bytes_out;
	unsigned long long	cs_bytes_in;
	unsigned long long	cs_pullup;
	unsigned long long	cs_fixup;
	atomic_long_t		cs_hardway;
	unsigned long		cs_failed_marshals;
	unsigned long		cs_bad_replies;
	unsigned long		cs_nomsg_calls;
	unsigned long		cs_recycled;
	unsigned long		cs_allocated;
	unsigned long		cs_local_inv;
	unsigned long		cs_empty_sends;
};

/**
 * struct xprt_rdma_paths - the paths of a transport (client/paths.c)
 * @th_list: link in the list of the namespace's transports
 * @th_to: address and port of the server: a copy of xprt->addr from the time when the transport
 *	was created or last began to connect
 * @th_number: number of the transport among those with the same address in @th_to
 * @th_line: line of the table that was used last, or NULL. The transport holds a reference.
 * @th_state: which paths of @th_line have failed, and until when they are avoided
 * @th_count: number of paths; 0 before the first attempt to connect
 * @th_path: index of the path that was chosen last
 *
 * The *first path* of a transport is the one that it uses as long as all its paths work. Its index
 * is @th_number modulo @th_count (rpcrdma_path_home()).
 *
 * All members are written under tn_lock of the namespace.
 */
struct xprt_rdma_paths {
	struct list_head		th_list;
	struct sockaddr_storage		th_to;
	u32				th_number;
	struct xprt_rdma_line		*th_line;
	struct rpcrdma_path_state	th_state;
	u32				th_count;
	u32				th_path;
};

/**
 * struct xprt_rdma - an RPC transport
 * @xr_xprt: sunrpc's part of the transport
 * @xr_conn: the connection. The holder of the transport's send lock sets it up anew
 *	for each attempt to connect.
 * @xr_window: forward credits; written under xprt->transport_lock
 * @xr_owed: array of the Calls that still use credits although their RPCs were given up;
 *	xr_window.wn_owed entries are in use; under xprt->transport_lock
 * @xr_shut: no Call gets a credit (xprt_rdma_credit_drain()); under xprt->transport_lock
 * @xr_v1_only: an attempt with version 2 has failed; connect with version 1 only (G-20)
 * @xr_v2_spoken: the server has spoken version 2 on this connection or an earlier one. If
 *	@xr_v1_only is set after that, the next attempt to connect clears both members, and
 *	so tries version 2 once more (xprt_rdma_open_any())
 * @xr_rtx_broken: this end has closed a connection because the server broke a rule of the protocol.
 *	So from then on, the client does not announce the round-trip extension (RTX-48, T-24)
 * @xr_no_memory: the last attempt to connect failed for lack of memory
 * @xr_connect_work: work that connects
 * @xr_home_work: work that returns to the first path of the transport (client/paths.c)
 * @xr_again_work: work that makes sunrpc try again to send a Call for which there was no memory
 * @xr_paths: the paths of the transport
 * @xr_path: path of the present or latest attempt to connect. The holder of the transport's send
 *	lock sets it.
 * @xr_timeout: RPC timeout set by set_connect_timeout
 * @xr_srcaddr: our address on the present or latest connection
 * @xr_port: port of the server, as text; in xprt->address_strings, like the next two
 * @xr_hex_port: port of the server, as hexadecimal text
 * @xr_hex_addr: address of the server, as hexadecimal text
 * @xr_req_free: slots not in use, under xprt->reserve_lock
 * @xr_req_all: all slots, under xprt->reserve_lock
 * @xr_nreqs: number of slots
 * @xr_device: name of the device of the present or latest connection
 * @xr_lock: protects the lists of Sends and of regions, and changes of the rr_mrs of every slot;
 *	held over posting to the send queue
 * @xr_mr_free: regions not in use
 * @xr_mr_all: all regions of the connection
 * @xr_send_free: Sends not in use. Those that are ready (xprt_rdma_send_is_ready()) come
 *	first
 * @xr_send_busy: posted Sends, in posting order
 * @xr_waitq: wait queue of tasks that end given-up RPCs, until rr_holds of these RPCs is 0; and of
 *	xprt_rdma_credit_drain(), until no RPC has a credit
 * @xr_bc_free: callback slots not in use, under xprt->bc_pa_lock
 * @xr_bc_waiting: messages with callbacks that wait for a slot, linked by mi_list; under
 *	xprt->bc_pa_lock
 * @xr_bc_nwaiting: number of messages on @xr_bc_waiting
 * @xr_bc_enabled: there is a callback service to queue callbacks to; under
 *	xprt->bc_pa_lock
 * @xr_stats: statistics for mountstats
 * @xr_debugfs: the transport's file in debugfs
 * @xr_sizes: depths of the connection's queues, and numbers of its other resources
 * @xr_vers: version that the connection speaks, or 0 until the version is settled. It is set
 *	before sunrpc uses the connection, and does not change after that.
 * @xr_v2_inline: size in bytes of the largest inline message in version 2, as we announce it
 *	on this connection
 * @xr_negotiate_xid: XID of our last CONNPROP (the message of version 2 that announces properties)
 * @xr_negotiate_at: time when our CONNPROP was sent
 * @xr_negotiate_asked: our CONNPROP has been sent or is about to be sent
 * @xr_props_received: the server has announced its properties
 * @xr_fell_back: the server has refused version 2 on this connection
 * @xr_no_long: the server has refused RDMA2_NOMSG on this connection
 * @xr_no_reply_groups: the server has executed a Call, but could not send the Reply in the
 *	Receives that the Call offered. From then on, no Call on this connection offers
 *	several Receives. Otherwise NFSv4.1 could get the same error again and again, because it
 *	repeats the operation as a new RPC.
 * @xr_write_max: maximum length in bytes of the data item of a Call that is sent as a group
 *	(rtx.h), and not with a Read chunk; 0 if there is no such Call. Written under cq_mutex.
 * @xr_sends: all Sends, an array
 * @xr_nsends: number of entries of @xr_sends
 * @xr_unsignaled: number of Sends since the last signaled one, under xr_lock
 * @xr_answers: number of send queue entries that Calls leave free for answers to callbacks
 *	(Replies and errors)
 * @xr_rtx: our property of the round-trip extension (RTX), which we announce
 * @xr_no_rtx: the server has answered a group with INVAL_HTYPE or RTX_CONT (RTX-88); no more
 *	groups are sent on this connection
 * @xr_gather: length in bytes of the smallest item that Sends read directly from the pages
 *	of its RPC; 0 if every item is copied
 * @xr_sges: number of SGEs that a Send may have
 * @xr_spare_max: maximum number of spare Receives: those that a Reply can take in addition to its
 *	first Receive
 * @xr_spare: number of spare Receives that exist
 * @xr_spare_free: number of spare Receives that no Call has taken, under
 *	xprt->transport_lock
 *
 * The members after @xr_debugfs belong to one connection. They are cleared together when the
 * next connection begins.
 */
struct xprt_rdma {
	struct rpc_xprt			xr_xprt;
	struct rpcrdma_conn		xr_conn;
	struct rpcrdma_window		xr_window;
	struct xprt_rdma_owed		*xr_owed;
	bool				xr_shut;
	bool				xr_v1_only;
	bool				xr_v2_spoken;
	bool				xr_rtx_broken;
	bool				xr_no_memory;
	struct delayed_work		xr_connect_work;
	struct delayed_work		xr_home_work;
	struct delayed_work		xr_again_work;
	struct xprt_rdma_paths		xr_paths;
	struct rpcrdma_conn_path	xr_path;
	struct rpc_timeout		xr_timeout;
	struct sockaddr_storage		xr_srcaddr;
	char				xr_port[sizeof("65535")];
	char				xr_hex_port[sizeof("ffff")];
	char				xr_hex_addr[2 * sizeof(struct in6_addr) + 1];

	struct list_head		xr_req_free;
	struct list_head		xr_req_all;
	u32				xr_nreqs;

	char				xr_device[IB_DEVICE_NAME_MAX];

	/* The lock and the lists are written whenever a Send is posted. */
	spinlock_t			xr_lock ____cacheline_aligned_in_smp;
	struct list_head		xr_mr_free;
	struct list_head		xr_mr_all;
	struct list_head		xr_send_free;
	struct list_head		xr_send_busy;

	wait_queue_head_t		xr_waitq;
	struct list_head		xr_bc_free;
	struct list_head		xr_bc_waiting;
	u32				xr_bc_nwaiting;
	bool				xr_bc_enabled;
	struct xprt_rdma_stats		xr_stats;
	struct dentry			*xr_debugfs;

	/* All members from here on are cleared when a connection begins. Those before
	 * xr_unsignaled are seldom written, and some of them are read for each RPC.
	 */
	struct rpcrdma_client_sizes	xr_sizes ____cacheline_aligned_in_smp;
	u32				xr_vers;
	u32				xr_v2_inline;
	u32				xr_negotiate_xid;
	ktime_t				xr_negotiate_at;
	bool				xr_negotiate_asked;
	bool				xr_props_received;
	bool				xr_fell_back;
	bool				xr_no_long;
	bool				xr_no_reply_groups;
	u32				xr_write_max;
	struct xprt_rdma_send		*xr_sends;
	u32				xr_nsends;
	u32				xr_answers;
	struct rpcrdma2_rtx		xr_rtx;
	bool				xr_no_rtx;
	u32				xr_gather;
	u32				xr_sges;
	u32				xr_spare_max;
	u32				xr_spare;

	/* These are written when messages are sent. */
	u32				xr_unsignaled ____cacheline_aligned_in_smp;
	u32				xr_spare_free;
};

rpcrdma_lines_apart(struct xprt_rdma, xr_conn, xr_window);
rpcrdma_lines_apart(struct xprt_rdma, xr_device, xr_lock);
rpcrdma_lines_apart(struct xprt_rdma, xr_stats, xr_sizes);
rpcrdma_lines_apart(struct xprt_rdma, xr_spare, xr_unsignaled);

static inline struct xprt_rdma *xprt_rdma_from(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct xprt_rdma, xr_xprt);
}

/* Called when the connection has been of use: a Reply has ended an RPC, or a callback has
 * been answered. If the connection is lost after that, the first attempt to connect again is
 * made without delay. No other message counts as use. For example, if a server only answers
 * our CONNPROP, and then closes each connection, the client must not connect to it again
 * without delay.
 */
static inline void xprt_rdma_useful(struct xprt_rdma *xr)
{
	if (unlikely(xr->xr_xprt.reestablish_timeout))
		xr->xr_xprt.reestablish_timeout = 0;
}

static inline struct xprt_rdma_req *xprt_rdma_req_from(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct xprt_rdma_req, rr_slot);
}

/* Decodes the header of a message that has arrived after the version was settled, and
 * records in @msg where its body begins. Returns the verdict on the message (enum
 * rpcrdma_verdict in wire.h).
 */
static inline enum rpcrdma_verdict
xprt_rdma_reply_decode(const struct xprt_rdma *xr, struct rpcrdma_msg_in *msg,
		       struct rpcrdma_hdr *hdr)
{
	enum rpcrdma_verdict verdict;

	if (rpcrdma_msg_is_group(msg))
		verdict = rpcrdma2_decode_group(rpcrdma_msg_head(msg),
						rpcrdma_msg_head_room(msg),
						&rpcrdma2_accept_backward, hdr);
	else
		verdict = rpcrdma_decode_reply(xr->xr_vers,
					       rpcrdma_msg_head(msg),
					       rpcrdma_msg_head_room(msg), hdr);
	rpcrdma_msg_set_body(msg, hdr->hd_length, hdr->hd_msg_len);
	if (verdict == RPCRDMA_OK && rpcrdma_msg_is_group(msg))
		verdict = msg->mi_verdict;
	return verdict;
}

/* Returns the length in bytes of the longest Send with placed data (rtx.h explains the terms). Such
 * a Send ends with the last target segment that is within the server's Receive and within
 * %RPCRDMA_INLINE_MAX bytes. Our inline size does not limit its length (T-41). Returns 0 if there
 * is no such segment.
 */
static inline u32 xprt_rdma_placing_send(const struct xprt_rdma *xr)
{
	return rpcrdma_layout_reach(&xr->xr_conn.cn_rtx, RPCRDMA_INLINE_MAX);
}

/* Call this when sunrpc may have released the send lock. sunrpc clears XPRT_LOCKED, but does not
 * always wake those who sleep until the bit is clear: writers of dstaddr and xprt_state in
 * /sys/kernel/sunrpc, and xprt_destroy().
 */
static inline void xprt_rdma_unlocked(struct rpc_xprt *xprt)
{
	smp_mb__after_atomic();	/* see wake_up_bit() */
	wake_up_bit(&xprt->state, XPRT_LOCKED);
}

/* client/transport.c */
extern unsigned int xprt_rdma_slot_table_entries;
extern unsigned int xprt_rdma_max_inline_read;
extern unsigned int xprt_rdma_max_inline_write;
int xprt_rdma_init(void);
void xprt_rdma_exit(void);

/* client/connect.c */
extern struct workqueue_struct *xprt_rdma_connect_wq;
void xprt_rdma_connect_init(struct xprt_rdma *xr);
void xprt_rdma_connect_exit(struct xprt_rdma *xr);
void xprt_rdma_connect(struct rpc_xprt *xprt, struct rpc_task *task);
void xprt_rdma_close(struct rpc_xprt *xprt);
void xprt_rdma_inject_disconnect(struct rpc_xprt *xprt);
void xprt_rdma_set_connect_timeout(struct rpc_xprt *xprt,
				   unsigned long connect_timeout,
				   unsigned long reconnect_timeout);

/* client/paths.c */
extern struct pernet_operations xprt_rdma_net_ops;
int xprt_rdma_paths_write(struct net *net, char *text, size_t len);
size_t xprt_rdma_paths_read(struct net *net, char *buf, size_t size,
			    loff_t skip);
void xprt_rdma_paths_join(struct xprt_rdma *xr);
void xprt_rdma_paths_leave(struct xprt_rdma *xr);
void xprt_rdma_paths_begin(struct xprt_rdma *xr);
int xprt_rdma_paths_choose(struct xprt_rdma *xr);
bool xprt_rdma_paths_tried(struct xprt_rdma *xr, int rc);
void xprt_rdma_paths_connected(struct xprt_rdma *xr);

/* client/negotiate.c */
void xprt_rdma_negotiate_rtt(struct xprt_rdma *xr, ktime_t rtt);
u32 xprt_rdma_negotiate_size(const struct xprt_rdma *xr, u32 size);
void xprt_rdma_negotiate_init(struct xprt_rdma *xr);
u32 xprt_rdma_negotiate_recv_size(const struct xprt_rdma *xr);
int xprt_rdma_negotiate(struct xprt_rdma *xr);
void xprt_rdma_negotiate_receive(struct xprt_rdma *xr,
				 struct rpcrdma_msg_in *msg);
void xprt_rdma_negotiate_confirm(struct xprt_rdma *xr,
				 const struct rpcrdma_hdr *hdr);
void xprt_rdma_negotiate_apply(struct xprt_rdma *xr,
			       const struct rpcrdma_hdr *hdr);

/* client/req.c */
void xprt_rdma_req_alloc_slot(struct rpc_xprt *xprt, struct rpc_task *task);
void xprt_rdma_req_free_slot(struct rpc_xprt *xprt, struct rpc_rqst *rqst);
int xprt_rdma_req_alloc_buf(struct rpc_task *task);
void xprt_rdma_req_free_buf(struct rpc_task *task);
struct xprt_rdma_req *xprt_rdma_req_create(size_t size, gfp_t gfp);
int xprt_rdma_req_reserve(struct xprt_rdma *xr);
void xprt_rdma_req_destroy(struct xprt_rdma_req *req);
void xprt_rdma_req_destroy_all(struct xprt_rdma *xr);
void xprt_rdma_req_reset_all(struct xprt_rdma *xr);

int xprt_rdma_recv_limit(struct xprt_rdma *xr);
int xprt_rdma_recv_expect(struct xprt_rdma *xr, u32 replies, gfp_t gfp);
void xprt_rdma_recv_make_spare(struct xprt_rdma *xr);

/* Number of Receives that xprt_rdma_recv_expected() does not count: those for callbacks,
 * those for messages that take no credit, a batch that may be waiting to be posted, and the
 * spare Receives that exist (xr_spare).
 */
static inline u32 xprt_rdma_recv_others(const struct xprt_rdma *xr)
{
	return xr->xr_sizes.cz_recvs - xr->xr_sizes.cz_requests + xr->xr_spare;
}

/* Number of existing Receives for Replies, without spare Receives */
static inline u32 xprt_rdma_recv_expected(const struct xprt_rdma *xr)
{
	u32 recvs = xr->xr_conn.cn_recvs.rp_count;

	return recvs - min(recvs, xprt_rdma_recv_others(xr));
}

/* client/credit.c */
void xprt_rdma_credit_begin(struct xprt_rdma *xr);
void xprt_rdma_credit_reset_locked(struct xprt_rdma *xr);
void xprt_rdma_credit_grant(struct xprt_rdma *xr, u32 credit, bool error);
void xprt_rdma_credit_give_back(struct rpc_task *task);
int xprt_rdma_credit_yield(struct rpc_task *task);
int xprt_rdma_credit_drain(struct xprt_rdma *xr, unsigned int cookie);
void xprt_rdma_credit_init(struct xprt_rdma *xr);
void xprt_rdma_release_xprt(struct rpc_xprt *xprt, struct rpc_task *task);
void xprt_rdma_credit_release(struct rpc_task *task);
bool xprt_rdma_credit_late_reply(struct xprt_rdma *xr, u32 xid);
void xprt_rdma_credit_check(struct xprt_rdma *xr);
u32 xprt_rdma_credit_wanted(const struct xprt_rdma *xr);
void xprt_rdma_credit_see_extra(struct xprt_rdma *xr,
				struct rpcrdma_plan_rtx *rtx);
bool xprt_rdma_credit_take_extra(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req,
				 const struct xprt_rdma_extra *extra);
void xprt_rdma_credit_drop_recvs(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req);
void xprt_rdma_credit_drop_extra(struct xprt_rdma *xr,
				 struct xprt_rdma_req *req);

/* Tells sunrpc that no Call sent so far will get a Reply any more. Context: send lock held. */
static inline void xprt_rdma_credit_next_cookie(struct xprt_rdma *xr)
{
	xr->xr_xprt.connect_cookie++;
}

/* Tells sunrpc that this RPC was not sent on the present connection. Context:
 * queue_lock held.
 */
static inline void xprt_rdma_credit_unsent(struct rpc_rqst *rqst)
{
	/* A task that reads this cookie in xprt_rdma_send_request(), with
	 * smp_load_acquire(), also sees all that the caller has written before.
	 */
	smp_store_release(&rqst->rq_connect_cookie,
			  rqst->rq_xprt->connect_cookie - 1);
}

/* client/marshal.c */
int xprt_rdma_marshal_plan(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			   const struct xprt_rdma_send *send,
			   const struct rpcrdma_plan_rtx *rtx);
int xprt_rdma_marshal_register(struct xprt_rdma *xr, struct xprt_rdma_req *req);
void xprt_rdma_marshal_call(const struct xprt_rdma *xr,
			    const struct xprt_rdma_req *req,
			    struct rpcrdma_call_out *call);
int xprt_rdma_marshal_write(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			    struct xprt_rdma_send *send);
bool xprt_rdma_marshal_retry(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     const struct rpcrdma_hdr *hdr);

/* client/group.c */
int xprt_rdma_group_plan(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			 struct xprt_rdma_send *send);
int xprt_rdma_group_write(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			  struct xprt_rdma_send *first);

/* client/pages.c */
u32 xprt_rdma_pages_begin(struct xprt_rdma *xr);
u32 xprt_rdma_pages_segs(const struct xprt_rdma *xr, const struct xdr_buf *snd);
bool xprt_rdma_pages_alloc(struct xprt_rdma_send *send);
int xprt_rdma_pages_map(struct xprt_rdma_send *send, const struct xdr_buf *snd,
			u32 pos, u32 len);
void xprt_rdma_pages_unmap(struct xprt_rdma_send *send);

/* Counts an RPC that fails because of its foreign pages. Returns the error with which it ends. */
static inline int xprt_rdma_foreign_error(void)
{
	rpcrdma_count(client_foreign_errors);
	return -EIO;
}

/* client/frwr.c */
bool xprt_rdma_frwr_is_foreign(const struct xdr_buf *xdr);
int xprt_rdma_frwr_map(struct xprt_rdma *xr, struct xprt_rdma_req *req,
		       const struct xdr_buf *xdr, bool all,
		       struct xprt_rdma_offer *offer);
int xprt_rdma_frwr_reserve(struct xprt_rdma *xr);
u32 xprt_rdma_frwr_count(const struct xprt_rdma *xr, const struct xdr_buf *xdr,
			 u32 *item);
void xprt_rdma_frwr_unmap_unposted(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req);
void xprt_rdma_frwr_mr_unmap(struct xprt_rdma_mr *mr);
void xprt_rdma_frwr_destroy_all(struct xprt_rdma *xr);

/* client/request.c */
int xprt_rdma_send_request(struct rpc_rqst *rqst);
void xprt_rdma_timer(struct rpc_xprt *xprt, struct rpc_task *task);

/* client/send.c */
int xprt_rdma_sends_create(struct xprt_rdma *xr);
int xprt_rdma_sends_reserve(struct xprt_rdma *xr);
void xprt_rdma_sends_destroy(struct xprt_rdma *xr);
struct xprt_rdma_send *xprt_rdma_send_get(struct xprt_rdma *xr, gfp_t gfp);
void xprt_rdma_send_put(struct xprt_rdma_send *send);
bool xprt_rdma_send_grow(struct xprt_rdma_send *send,
			 const struct rpcrdma_plan *plan);
bool xprt_rdma_send_get_more(struct xprt_rdma_send *first,
			     const struct rpcrdma_plan *plan);
void xprt_rdma_send_put_more(struct xprt_rdma_send *first);
bool xprt_rdma_send_fits(struct xprt_rdma *xr, const struct rpcrdma_plan *plan);
bool xprt_rdma_send_awaits(struct rpcrdma_conn *conn);
int xprt_rdma_send_post(struct xprt_rdma_send *send, u32 len,
			struct xprt_rdma_req *req);
void xprt_rdma_reply_refuse(struct xprt_rdma *xr,
			    const struct rpcrdma_hdr *hdr,
			    const struct rpcrdma2_error *error);

/* client/complete.c */
bool xprt_rdma_reply_fence(struct xprt_rdma *xr, struct xprt_rdma_req *req);
void xprt_rdma_frwr_fence(struct xprt_rdma *xr, struct xprt_rdma_req *req);
void xprt_rdma_reply_release(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     int hold);
void xprt_rdma_reply_wait(struct rpc_task *task);

/* client/reply.c */
void xprt_rdma_reply_receive(struct rpcrdma_conn *conn,
			     struct rpcrdma_msg_in *msg);

/* Functions of complete.c, credit.c, reply.c and request.c that are global only for tests */
#if IS_ENABLED(CONFIG_KUNIT)
int xprt_rdma_reply_place(struct xprt_rdma *xr, struct xprt_rdma_req *req);
bool xprt_rdma_reply_awaited(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			     struct rpcrdma_msg_in *msg);
bool xprt_rdma_send_is_awaited(struct xprt_rdma *xr, struct rpc_rqst *rqst);
bool xprt_rdma_credit_step_back(struct rpc_xprt *xprt);
#endif

/* client/backchannel.c */
int xprt_rdma_bc_send_reply(struct rpc_rqst *rqst);
#ifdef CONFIG_SUNRPC_BACKCHANNEL
int xprt_rdma_bc_setup(struct rpc_xprt *xprt, unsigned int reqs);
size_t xprt_rdma_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int xprt_rdma_bc_num_slots(struct rpc_xprt *xprt);
void xprt_rdma_bc_free_rqst(struct rpc_rqst *rqst);
void xprt_rdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs);
void xprt_rdma_bc_receive(struct xprt_rdma *xr, struct rpcrdma_msg_in *msg,
			  const struct rpcrdma_hdr *hdr);
void xprt_rdma_bc_reset(struct xprt_rdma *xr);
#else
static inline void xprt_rdma_bc_reset(struct xprt_rdma *xr)
{
}

static inline void xprt_rdma_bc_receive(struct xprt_rdma *xr,
					struct rpcrdma_msg_in *msg,
					const struct rpcrdma_hdr *hdr)
{
	rpcrdma_msg_put(msg);
}

static inline void xprt_rdma_bc_destroy(struct rpc_xprt *xprt,
					unsigned int reqs)
{
}
#endif

#endif /* RPCRDMA_XPRT_RDMA_H */
