/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures and functions that the files of net/server share. Code outside net/server,
 * except for unit tests, uses only the tunables, their limits, svc_rdma_init() and
 * svc_rdma_exit().
 *
 * Comments refer to documents as follows. "I10": an invariant in
 * Documentation/locking.rst. "G-12", "T-44": a decision in Documentation/decisions.rst.
 * "RTX-40": a rule in Documentation/rtx.rst. "version-two": the draft of version 2 of
 * RPC-over-RDMA. Documentation/conformance.rst lists the names of all specifications.
 */
#ifndef RPCRDMA_SVC_RDMA_H
#define RPCRDMA_SVC_RDMA_H

#include <linux/list.h>
#include <linux/percpu-refcount.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/workqueue.h>
#include <rdma/rw.h>
#include <rpcrdma/budget.h>
#include <rpcrdma/chunk.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/credit.h>
#include <rpcrdma/msg.h>
#include <rpcrdma/send.h>
#include <rpcrdma/size.h>
#include <rpcrdma/vers.h>

/* Minimum and maximum values of the tunables below */
#define SVC_RDMA_REQUESTS_MIN		4u
#define SVC_RDMA_REQUESTS_MAX		4096u
#define SVC_RDMA_REQ_SIZE_MIN		4096u
#define SVC_RDMA_REQ_SIZE_MAX		RPCRDMA_INLINE_MAX

/* Number of credits of a new connection, once its version is known */
#define SVC_RDMA_CREDITS_FIRST		2u

/* Maximum number of callbacks in flight on a connection */
#define SVC_RDMA_BC_REQUESTS		16u

/* Maximum number of connect requests that wait in the CM core. It is also the maximum number of
 * connections that wait in a listener's queue to be accepted.
 */
#define SVC_RDMA_BACKLOG		128

/* Default of the parameter v2_max_req_size: number of bytes in the largest inline Call of
 * version 2. If Receives have target segments (rtx.h), the parameter rtx_pages determines the
 * size instead. The client's parameter rdma_v2_inline has the same default.
 */
#define SVC_RDMA_V2_REQ_SIZE		16384u

/* Minimum size in bytes of a Receive that may get a message of version 2. Clients may send messages
 * of this size until the server has announced the size of its Receives, the property RBSIZ (G-19).
 */
#define SVC_RDMA_V2_RECV_MIN		4096u

extern unsigned int svc_rdma_max_requests;
extern unsigned int svc_rdma_max_req_size;

int svc_rdma_init(void);
void svc_rdma_exit(void);

/**
 * struct svc_rdma_rw - a context of rdma_rw: RDMA Reads or Writes of memory that is contiguous at
 *	the peer
 * @sw_list: link in sh_rws of a struct svc_rdma_chain
 * @sw_ctx: the context: DMA mapping and work requests
 * @sw_dir: %DMA_TO_DEVICE: RDMA Write; %DMA_FROM_DEVICE: RDMA Read
 * @sw_nents: number of entries of @sw_sg
 * @sw_sg: local memory; adjacent pages share an entry, within the limits of the
 *	connection (sx_rw_seg, sx_rw_boundary)
 */
struct svc_rdma_rw {
	struct list_head	sw_list;
	struct rdma_rw_ctx	sw_ctx;
	enum dma_data_direction	sw_dir;
	u32			sw_nents;
	struct scatterlist	sw_sg[];
};

/**
 * struct svc_rdma_move - bytes to transfer between a chunk and local memory
 * @mv_dir: %DMA_TO_DEVICE: write to the chunk; %DMA_FROM_DEVICE: read from it
 * @mv_lists: chunk lists that contain @mv_chunk
 * @mv_chunk: chunk
 * @mv_chunk_offset: where to begin in @mv_chunk
 * @mv_xdr: local memory
 * @mv_offset: where to begin in @mv_xdr
 * @mv_len: number of bytes
 */
struct svc_rdma_move {
	enum dma_data_direction		mv_dir;
	const struct rpcrdma_lists	*mv_lists;
	const struct rpcrdma_chunk	*mv_chunk;
	u32				mv_chunk_offset;
	const struct xdr_buf		*mv_xdr;
	u32				mv_offset;
	u32				mv_len;
};

/**
 * struct svc_rdma_chain - RDMA Reads or Writes that are posted together
 * @sh_rws: the struct svc_rdma_rw, in posting order
 * @sh_nrws: number of entries of @sh_rws
 * @sh_wrs: number of send queue slots that all of them take
 * @sh_mrs: number of memory regions reserved for them
 */
struct svc_rdma_chain {
	struct list_head	sh_rws;
	u32			sh_nrws;
	u32			sh_wrs;
	u32			sh_mrs;
};

/**
 * struct svc_rdma_call - one Call, from its arrival until sunrpc is done with it; or another
 *	received message, while this module handles it
 * @sc_hdr: decoded header. Its chunk lists point into @sc_msg. svc_rdma_call_create() sets the
 *	members behind it to 0
 * @sc_list: link in qu_waiting, po_reading or qu_complete (struct svc_rdma_queue,
 *	struct svc_rdma_posted)
 * @sc_sx: connection on which the Call arrived
 * @sc_msg: message that contains the Call; NULL once the message has been given back or has moved
 *	to ss_msg of a Send context
 * @sc_vers: version of the header, and of the answer
 * @sc_item: position and length of the item (rtx.h), copied from the header; im_length is 0 if
 *	there is none. An item is data that the client has sent behind the payload stream; its
 *	bytes are in @sc_msg (RTX-52)
 * @sc_body_len: length in bytes of the inline body, or of the Position Zero chunk
 * @sc_stream_len: length of the unreduced Call in bytes
 * @sc_linear: used if the Call has RDMA Reads: if true, @sc_pages gets the whole Call as one
 *	stream; if false, only the data of the Read chunk
 * @sc_cqe: completion of the RDMA Reads
 * @sc_reads: the RDMA Reads; empty before they are built, and after they have completed
 * @sc_slots: send queue slots held for @sc_reads; 0 while the Call waits for slots
 * @sc_wait: entry in the line for send queue slots
 * @sc_posted: jiffies when @sc_reads were posted, under sx_lock
 * @sc_counted: number of bytes that server/budget.c counts for the pages of this Call
 * @sc_mrs: number of memory regions that must be free before the Call can be pulled, that
 *	is, read by RDMA; 0 until svc_rdma_mrs_reserve() has set it
 * @sc_pages: array of pages with the Call, or with the part of it that is not in the
 *	inline body; NULL if the Call has no pages
 * @sc_npages: number of pages in @sc_pages that the Call owns until it is freed; 0 if
 *	@sc_msg owns them
 * @sc_payloads: for each Write chunk, the result that is written to it
 * @sc_npayloads: entries used in @sc_payloads
 * @sc_replies: if the Call came as a group (rtx.h), number of Receives that the client offers
 *	for the Reply; otherwise 0
 * @sc_error: error to send instead of the Reply, for example because a result did not fit its
 *	Write chunk, or the Reply is too large to be sent; er_code is 0 if there is no error
 *
 * While the Call is in a list of the connection, sx_lock protects @sc_list, @sc_slots and
 * @sc_posted. The other members need no lock, because a Call has one owner at any time. First,
 * svc_rdma_recvfrom() owns it. If the Call has RDMA Reads, its next owners are qu_waiting and the
 * line for slots, as long as it waits there; the device, while the RDMA Reads are posted;
 * qu_complete; and svc_rdma_recvfrom() again. The last owner is the svc_rqst (or the deferred
 * request) that has a pointer to the Call in rq_xprt_ctxt (or xprt_ctxt).
 */
struct svc_rdma_call {
	struct rpcrdma_hdr	sc_hdr;
	struct list_head	sc_list;
	struct svc_rdma_xprt	*sc_sx;
	struct rpcrdma_msg_in	*sc_msg;
	u32			sc_vers;
	struct rpcrdma2_item	sc_item;
	u32			sc_body_len;
	u32			sc_stream_len;
	bool			sc_linear;

	struct ib_cqe		sc_cqe;
	struct svc_rdma_chain	sc_reads;
	u32			sc_slots;
	struct rpcrdma_sq_waiter	sc_wait;
	unsigned long		sc_posted;
	u32			sc_counted;
	u32			sc_mrs;
	struct page		**sc_pages;
	u32			sc_npages;

	struct rpcrdma_payload	sc_payloads[RPCRDMA_MAX_CHUNKS];
	u32			sc_npayloads;
	u32			sc_replies;
	struct rpcrdma2_error	sc_error;
};

/**
 * struct svc_rdma_body - position in the inline body of a Reply
 * @by_xdr: the Reply
 * @by_payloads: the results that are written to Write chunks. The inline body is the Reply without
 *	these results
 * @by_npayloads: number of entries of @by_payloads
 * @by_pos: where in @by_xdr the search for the next part begins
 * @by_offset: where in @by_xdr the unread rest of the current part begins
 * @by_left: number of bytes in this rest
 */
struct svc_rdma_body {
	const struct xdr_buf		*by_xdr;
	const struct rpcrdma_payload	*by_payloads;
	u32				by_npayloads;
	u32				by_pos;
	u32				by_offset;
	u32				by_left;
};

/**
 * struct svc_rdma_send - one Send and the RDMA Writes in front of it
 * @ss_send: the Send, with transport header and inline body. When it completes, the
 *	RDMA Writes have completed, too. sd_list is a link in sd_more of the first Send of a
 *	group. sd_slots is 0 while the Send has no slots
 * @ss_list: link in sp_idle or po_sending
 * @ss_write_cqe: completion of each RDMA Write that is signaled or fails
 * @ss_writes: RDMA Writes posted before the Send; trace events show sd_cid for them, too
 * @ss_msg: message of the Call that is answered, until just before the Send is posted; or NULL
 * @ss_posted: jiffies when the Send was posted; set before sd_slots
 * @ss_at: time in nanoseconds when the Send was posted; 0 if the client was known by then
 * @ss_done: link in sp_done
 * @ss_wanted: size in bytes for which the buffer was last prepared. The buffer is smaller if there
 *	was no memory for this size
 * @ss_grants: the message grants credits to the client
 * @ss_pages: pages of the Reply, if RDMA Writes read some of them; an entry may be NULL
 * @ss_npages: number of entries used in @ss_pages
 * @ss_maxpages: number of entries allocated for @ss_pages
 *
 * A context is owned by the idle pool; after svc_rdma_send_get(), by its caller; while it waits
 * for slots, by the line; from posting to completion, by the device; and then by sp_done.
 */
struct svc_rdma_send {
	struct rpcrdma_send	ss_send;
	struct list_head	ss_list;
	struct ib_cqe		ss_write_cqe;
	struct svc_rdma_chain	ss_writes;
	struct rpcrdma_msg_in	*ss_msg;
	unsigned long		ss_posted;
	u64			ss_at;
	struct llist_node	ss_done;
	u32			ss_wanted;
	bool			ss_grants;
	struct page		**ss_pages;
	u32			ss_npages;
	u32			ss_maxpages;
};

/**
 * struct svc_rdma_stats - what a connection has done, for debugfs
 * @vs_received: number of Receives whose messages a thread has taken. Whoever holds XPT_BUSY
 *	writes it
 * @vs_sent: number of Sends that have completed and whose contexts were taken out of sp_done;
 *	written under sx_lock
 * @vs_refused: number of messages that were answered with an error instead of being executed
 * @vs_dropped: number of messages that were dropped
 * @vs_read_bytes: number of bytes for which RDMA Reads were built, whether they have completed or
 *	not
 * @vs_write_bytes: number of bytes for which RDMA Writes were built
 */
struct svc_rdma_stats {
	u64		vs_received;
	u64		vs_sent;
	atomic64_t	vs_refused;
	atomic64_t	vs_dropped;
	atomic64_t	vs_read_bytes;
	atomic64_t	vs_write_bytes;
};

/**
 * struct svc_rdma_queue - work for threads; server/queue.c
 * @qu_received: messages that have arrived (mi_next), the last one first
 * @qu_taken: messages that were taken out of @qu_received and wait for a thread (mi_next), the
 *	first one first. Whoever holds XPT_BUSY owns this list
 * @qu_complete: Calls whose RDMA Reads have completed (sc_list)
 * @qu_waiting: Calls whose RDMA Reads may not begin yet (sc_list)
 *
 * sx_lock protects @qu_complete and @qu_waiting. XPT_DATA tells sunrpc whether there is
 * work for a thread: an entry of @qu_received, @qu_taken or @qu_complete, or a first
 * entry of @qu_waiting that can be pulled, that is, read by RDMA. svc_rdma_queue_wake() may also
 * set XPT_DATA for work that is in no queue.
 */
struct svc_rdma_queue {
	struct llist_head	qu_received;
	struct llist_node	*qu_taken;
	struct list_head	qu_complete;
	struct list_head	qu_waiting;
};

/**
 * struct svc_rdma_send_pool - idle Send contexts; server/send.c
 * @sp_done: contexts whose Sends have completed, and that hold nothing any more (ss_done). They are
 *	still in po_sending, until they are moved to @sp_idle or freed
 * @sp_ndone: approximate number of contexts that were added to @sp_done since it was last emptied
 * @sp_idle: contexts that the next Sends can use (ss_list)
 * @sp_nidle: number of entries in @sp_idle
 * @sp_least: smallest value of @sp_nidle since the last call of svc_rdma_send_unneeded(). This
 *	number of contexts has not been needed since that call
 *
 * sx_lock protects @sp_idle, @sp_nidle and @sp_least.
 */
struct svc_rdma_send_pool {
	struct llist_head	sp_done;
	struct list_head	sp_idle;
	u32			sp_ndone;
	u16			sp_nidle;
	u16			sp_least;
};

/**
 * struct svc_rdma_posted - what is posted or waits for slots; server/send.c
 * @po_sending: Send contexts that are not idle (ss_list): their messages are being encoded, or they
 *	wait for slots, are posted, or are in sp_done. A context whose Send does not complete
 *	successfully stays here until the connection is closed
 * @po_sent: jiffies when the completion of a Send was last handled
 * @po_reading: Calls whose RDMA Reads are posted or wait for slots (sc_list). A Call whose RDMA
 *	Reads do not complete successfully stays here until the connection is closed. sc_slots is
 *	0 while it waits for slots
 * @po_read: jiffies when a sign of progress of RDMA Reads was last seen: the completion of an RDMA
 *	Read, or of a Send that was posted before all outstanding RDMA Reads
 *
 * sx_lock protects all members but @po_sent.
 */
struct svc_rdma_posted {
	struct list_head	po_sending;
	unsigned long		po_sent;
	struct list_head	po_reading;
	unsigned long		po_read;
};

/**
 * struct svc_rdma_account - the memory of a connection; server/budget.c
 * @au_client: the client; NULL if the account is not open
 * @au_known: the client is known on this connection
 * @au_recvs: number of bytes of the Receives; until svc_rdma_budget_update(), it includes all
 *	that svc_rdma_budget_charge() has given
 * @au_sends: number of bytes in the buffers of the Sends that exist
 * @au_least: number of bytes that count for Sends at least: one Send for each credit
 * @au_pages: number of bytes of the pages of Calls
 * @au_call: number of bytes of the largest Call
 * @au_held: the sum: @au_recvs, the larger of @au_sends and @au_least, and @au_pages
 *
 * svc_rdma_budget_lock protects all members.
 */
struct svc_rdma_account {
	struct svc_rdma_client	*au_client;
	bool			au_known;
	u64			au_recvs;
	u64			au_sends;
	u64			au_least;
	u64			au_pages;
	u64			au_call;
	u64			au_held;
};

/**
 * struct svc_rdma_credits - credits, and the Receives behind them; server/credit.c
 * @cd_grant: number of credits that new messages grant (gn_granted), and number that the client
 *	may still assume (gn_bound). They change only under sx_grow, or before the connection is
 *	accepted
 * @cd_posted: cookie of RCU: after this grace period, all messages are posted that grant more than
 *	gn_granted, under sx_grow
 * @cd_bc_recvs: number of Receives for the replies to callbacks, one for each callback in flight;
 *	under sx_grow, and lowered also under bw_lock
 * @cd_spare_recvs: number of Receives for messages that take no credit, under sx_grow
 * @cd_recv_size: size in bytes of each Receive made from now on, under sx_grow
 * @cd_refused: jiffies when memory for more credits was last refused; 0 if it never was
 * @cd_need: to count the credits in use; whoever holds XPT_BUSY uses it, except nd_rtt and
 *	nd_since (locking.rst)
 * @cd_used: number of credits that @cd_need has last found to be in use
 * @cd_peak: maximum number of credits that were in use, or could have been, since
 *	svc_rdma_credits_review() last ran
 * @cd_reviewed: value of vs_received at that time, under sx_grow
 * @cd_notice: XID of the last notice, that is, of the last CONNPROP that tells a silent client of a
 *	smaller grant (svc_rdma_negotiate_notify()), under sx_grow. The first XID is random, and
 *	each following one is larger by one
 * @cd_notices: number of XIDs that notices had so far, under sx_grow
 * @cd_told: when that notice was sent, @cd_posted was over, under sx_grow
 */
struct svc_rdma_credits {
	struct rpcrdma_grant	cd_grant;
	unsigned long		cd_posted;
	u32			cd_bc_recvs;
	u32			cd_spare_recvs;
	u32			cd_recv_size;
	unsigned long		cd_refused;
	struct rpcrdma_need	cd_need;
	u32			cd_used;
	u32			cd_peak;
	u64			cd_reviewed;
	u32			cd_notice;
	u32			cd_notices;
	bool			cd_told;
};

/**
 * enum svc_rdma_back - what happens to the Receives of a message that was handled
 * @SVC_RDMA_BACK_PLAIN: they are posted again without any check
 * @SVC_RDMA_BACK_RENEW: their buffers may be blocks of pages that are handed to other code
 *	(verbs/recv.c). A block that other code still uses is replaced before the Receive is
 *	posted again
 * @SVC_RDMA_BACK_DROP: they are not posted again, because sx_conn is being closed or is closed
 */
enum svc_rdma_back {
	SVC_RDMA_BACK_PLAIN,
	SVC_RDMA_BACK_RENEW,
	SVC_RDMA_BACK_DROP,
};

/**
 * struct svc_rdma_negotiate - how the version is settled; server/negotiate.c
 * @ng_vers_max: highest version that this server accepts
 * @ng_v1_size: bytes of the largest inline message in version 1
 * @ng_v2_size: bytes of the largest inline Call in version 2, announced as the property
 *	RBSIZ (size of a Receive)
 * @ng_props_received: the client has announced its properties; protected by sx_grow
 * @ng_rtx: the property RTX (round-trip extension) that is announced to the client. The members
 *	that describe Receives are set when the connection is accepted, and are cleared later
 *	if Receives get no target segments (rtx.h). The others are set when the property is
 *	announced
 */
struct svc_rdma_negotiate {
	u32			ng_vers_max;
	u32			ng_v1_size;
	u32			ng_v2_size;
	bool			ng_props_received;
	struct rpcrdma2_rtx	ng_rtx;
};

/**
 * struct svc_rdma_backward - what the backchannels of a connection share;
 *	server/backchannel.c
 * @bw_lock: protects this structure, the backchannels and callbacks of the connection, and
 *	lowering cd_bc_recvs. It is taken only in process context. sunrpc's transport_lock and
 *	queue_lock are taken inside it.
 * @bw_clients: all backchannels, one for each NFS client; those that have sent a callback
 *	lately are at the end. The list holds no references
 * @bw_sent: callbacks that are posted and not answered, and whose RPCs were not given up
 * @bw_nawaited: number of entries of @bw_sent
 * @bw_window: credits that the client grants for callbacks. wn_owed is the number of callbacks
 *	that were given up and not answered since
 * @bw_short: a callback has a credit, but there is no Receive for its answer
 */
struct svc_rdma_backward {
	spinlock_t			bw_lock;	/* see above */
	struct list_head		bw_clients;
	struct list_head		bw_sent;
	u32				bw_nawaited;
	struct rpcrdma_window		bw_window;
	bool				bw_short;
};

/* Returns the number of unanswered callbacks. Each of them uses a credit and a Receive. */
static inline u32 svc_rdma_backward_used(const struct svc_rdma_backward *bw)
{
	return bw->bw_nawaited + bw->bw_window.wn_owed;
}

/**
 * struct svc_rdma_xprt - one connection of the server
 * @sx_xprt: the connection as sunrpc sees it
 * @sx_conn: the connection as the RDMA core sees it: CM id, queue pair and Receives. It is
 *	closed as soon as it is lost, even if this structure still has users: see server/close.c
 * @sx_sizes: queue depths and limits, computed when the connection was accepted
 * @sx_max_mesg: length in bytes of the largest unreduced Call that is accepted
 * @sx_netns: inode number of the network namespace; the namespace itself may be freed before the
 *	connection
 * @sx_rw_pages: maximum number of pages in one context of rdma_rw
 * @sx_rw_seg: maximum number of bytes in one of its scatterlist entries
 * @sx_rw_boundary: mask of an address boundary that no such entry may cross
 * @sx_vers: RPC-over-RDMA version of the connection; 0 until it is settled, see
 *	server/negotiate.c. Set once, under @sx_grow or before any message arrives. All members
 *	that depend on the version are set before it
 * @sx_negotiate: how the version is settled
 * @sx_refused: svc_rdma_has_wspace() has told sunrpc that there is no room for another
 *	Call. svc_rdma_slots_release() clears this and tells sunrpc to ask again. Both use
 *	xchg(), because both change it without a lock
 * @sx_back: what happens to the Receives of messages that were handled
 * @sx_inside: held by each function that sunrpc calls while it uses the CM id, the queue pair or
 *	the Receives, see svc_rdma_enter(). A holder may wait for memory, but never for a peer
 * @sx_pending: link in sl_pending of the listener until a thread takes the connection
 * @sx_grow: held while Receives or memory regions are added, while Receives are taken away, and
 *	while the version is settled or the client's properties are applied
 * @sx_account: the memory of the Receives, the Sends and the pages of Calls
 * @sx_credit: credits of the client, and the Receives for them
 * @sx_backward: callbacks
 * @sx_nmrs: number of memory regions for RDMA Reads, if the device needs or prefers regions. It
 *	only grows, under @sx_grow
 * @sx_mrs_free: number of these regions that are not reserved
 * @sx_reclaim: link in the list of server/reclaim.c; empty unless the connection is accepted and
 *	not being closed
 * @sx_debugfs: debugfs file of the connection; NULL until the connection is accepted
 * @sx_outside: completed when @sx_inside has no holder any more
 * @sx_down: work that closes @sx_conn after the connection was lost. While it is queued or
 *	runs, it holds a reference to @sx_xprt
 * @sx_free: work that is queued when the last reference is dropped. It closes @sx_conn, unless
 *	@sx_down has done so, and frees this structure
 * @sx_queue: work for threads
 * @sx_lock: protects members of other structures: the comments of these structures say which. Only
 *	svc_rdma_budget_lock is taken inside it. It is taken only in process context and in the
 *	completion workqueue.
 * @sx_sends: idle Send contexts
 * @sx_posted: Calls and Send contexts that are posted or wait for slots
 * @sx_stats: counters
 */
struct svc_rdma_xprt {
	struct svc_xprt			sx_xprt;
	struct rpcrdma_conn		sx_conn;

	/* All tasks read these. They hardly change. */
	struct rpcrdma_server_sizes	sx_sizes;
	u32				sx_max_mesg;
	u32				sx_netns;
	u32				sx_rw_pages;
	u32				sx_rw_seg;
	unsigned long			sx_rw_boundary;
	u32				sx_vers;
	struct svc_rdma_negotiate	sx_negotiate;
	bool				sx_refused;
	enum svc_rdma_back		sx_back;
	struct percpu_ref		sx_inside;

	struct list_head		sx_pending;
	struct mutex			sx_grow;	/* see above */
	struct svc_rdma_account		sx_account;
	struct svc_rdma_credits		sx_credit;
	struct svc_rdma_backward	sx_backward;
	u32				sx_nmrs;
	atomic_t			sx_mrs_free;

	/* server/reclaim.c, server/accept.c and server/close.c */
	struct list_head		sx_reclaim;
	struct dentry			*sx_debugfs;
	struct completion		sx_outside;
	struct work_struct		sx_down;
	struct work_struct		sx_free;

	/* Each RPC writes some of these. sx_queue is for what arrives; it shares no cache line with
	 * the members behind it, most of which are for what is sent.
	 */
	struct svc_rdma_queue		sx_queue ____cacheline_aligned_in_smp;
	spinlock_t			sx_lock ____cacheline_aligned_in_smp;
	struct svc_rdma_send_pool	sx_sends;
	struct svc_rdma_posted		sx_posted;
	struct svc_rdma_stats		sx_stats;
};

rpcrdma_lines_apart(struct svc_rdma_xprt, sx_conn, sx_sizes);
rpcrdma_lines_apart(struct svc_rdma_xprt, sx_free, sx_queue);
rpcrdma_lines_apart(struct svc_rdma_xprt, sx_queue, sx_lock);

/* svc_rdma_send_get() and the completion handler of a Send write sx_lock, sx_sends, and the first
 * members of sx_posted. These are in one cache line, unless lock debugging makes spinlock_t larger,
 * or a cache line has less than 64 bytes.
 */
static_assert(sizeof(spinlock_t) > sizeof(u32) || SMP_CACHE_BYTES < 64 ||
	      offsetofend(struct svc_rdma_xprt, sx_posted.po_sent) -
	      offsetof(struct svc_rdma_xprt, sx_lock) <= SMP_CACHE_BYTES);

/**
 * struct svc_rdma_listener - a listening endpoint
 * @sl_xprt: the listener as sunrpc sees it
 * @sl_id: CM id that listens, or an ERR_PTR while there is none; see server/transport.c
 * @sl_addr: address that the listener is bound to
 * @sl_relisten: work that makes and replaces the id
 * @sl_lock: protects the members below, and changes of XPT_CONN
 * @sl_pending: connections to accept (sx_pending); some may have been lost
 * @sl_npending: entries of @sl_pending
 */
struct svc_rdma_listener {
	struct svc_xprt		sl_xprt;
	struct rdma_cm_id	*sl_id;
	struct sockaddr_storage	sl_addr;
	struct delayed_work	sl_relisten;
	spinlock_t		sl_lock;	/* see above */
	struct list_head	sl_pending;
	unsigned int		sl_npending;
};

static inline struct svc_rdma_xprt *svc_rdma_xprt_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_xprt, sx_xprt);
}

static inline struct svc_rdma_xprt *
svc_rdma_send_sx(const struct svc_rdma_send *send)
{
	return container_of(send->ss_send.sd_conn, struct svc_rdma_xprt,
			    sx_conn);
}

/* The Send has got its slots. From now on it counts as posted, see svc_rdma_conn_waiting(). */
static inline void svc_rdma_send_set_slots(struct svc_rdma_send *send, u32 slots)
{
	WRITE_ONCE(send->ss_posted, jiffies);
	/* Pairs with svc_rdma_conn_waiting() */
	smp_store_release(&send->ss_send.sd_slots, slots);
}

/* Has the connection ended? A connection that is not down may still be opening: a Call may
 * arrive, and be answered, before the CM has told us that the handshake is complete.
 */
static inline bool svc_rdma_is_down(const struct svc_rdma_xprt *sx)
{
	return rpcrdma_conn_is_down(&sx->sx_conn);
}

/* Tell sunrpc that there is work for a thread, unless the connection is dead. sunrpc may have
 * dropped its reference to the network namespace of a dead connection, and the tracepoint
 * in svc_xprt_enqueue() would read the namespace.
 */
static inline void svc_rdma_enqueue(struct svc_rdma_xprt *sx)
{
	if (likely(!test_bit(XPT_DEAD, &sx->sx_xprt.xpt_flags)))
		svc_xprt_enqueue(&sx->sx_xprt);
}

/* Has the client used a file handle of an export that it may access? nfsd then calls
 * svc_xprt_set_valid(). Until then, sunrpc counts the client as one of a limited number of
 * unknown peers, and this server gives it few credits and send queue slots, and pulls only
 * one of its Calls at a time.
 */
static inline bool svc_rdma_is_known(const struct svc_rdma_xprt *sx)
{
	return test_bit(XPT_PEER_VALID, &sx->sx_xprt.xpt_flags);
}

/* Does a CONNPROP with this XID answer a notice? */
static inline bool svc_rdma_credits_is_answer(const struct svc_rdma_credits *cd,
					      u32 xid)
{
	return READ_ONCE(cd->cd_notice) - xid < READ_ONCE(cd->cd_notices);
}

/* Number of credits that new messages grant */
static inline u32 svc_rdma_credits_granted(const struct svc_rdma_xprt *sx)
{
	return READ_ONCE(sx->sx_credit.cd_grant.gn_granted);
}

static inline bool svc_rdma_family_is_ip(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET || sa->sa_family == AF_INET6;
}

/* Members of struct svc_xprt_ops that only older kernels have: a shim in include/compat defines
 * them.
 */
#ifndef SVC_RDMA_COMPAT_OPS
#define SVC_RDMA_COMPAT_OPS
#endif

/* Keeps sx_conn from being closed until svc_rdma_leave() is called. Returns @sx; or NULL if it is
 * being closed already, or has been closed.
 */
static inline struct svc_rdma_xprt *svc_rdma_enter(struct svc_rdma_xprt *sx)
{
	if (likely(percpu_ref_tryget_live(&sx->sx_inside)))
		return sx;
	/* See what svc_rdma_end_inside() has done before it let nobody enter any more. */
	smp_rmb();
	return NULL;
}

/* @sx is what svc_rdma_enter() has returned. */
static inline void svc_rdma_leave(struct svc_rdma_xprt *sx)
{
	if (likely(sx))
		percpu_ref_put(&sx->sx_inside);
}

/* CLASS(svc_rdma_inside, inside)(sx) enters sx until the end of the enclosing block. Then @inside
 * is what svc_rdma_enter() has returned.
 */
DEFINE_CLASS(svc_rdma_inside, struct svc_rdma_xprt *, svc_rdma_leave(_T),
	     svc_rdma_enter(sx), struct svc_rdma_xprt *sx)

/* The functions of net/server, file by file. A file directly calls only functions of files that
 * are listed before it. All calls to later files go through function pointers: completion handlers,
 * wt_ready(), and the tables of functions in server/accept.c and server/transport.c.
 */

/* server/budget.c */
extern struct rpcrdma_budget svc_rdma_budget;
void svc_rdma_budget_init(void);
int svc_rdma_budget_join(struct svc_rdma_xprt *sx);
void svc_rdma_budget_leave(struct svc_rdma_xprt *sx);
void svc_rdma_budget_know(struct svc_rdma_xprt *sx);
u32 svc_rdma_budget_charge(struct svc_rdma_xprt *sx, u32 count, u32 price);
u64 svc_rdma_budget_excess(struct svc_rdma_xprt *sx);
void svc_rdma_budget_update(struct svc_rdma_xprt *sx, u32 sends);
void svc_rdma_budget_sends(struct svc_rdma_xprt *sx, long bytes);
bool svc_rdma_budget_pull(struct svc_rdma_call *call, bool take);
void svc_rdma_budget_count(struct svc_rdma_call *call, u32 bytes);
void svc_rdma_budget_show(struct seq_file *seq);

/* server/queue.c */
void svc_rdma_queue_wake(struct svc_rdma_xprt *sx);
void svc_rdma_receive(struct rpcrdma_conn *conn, struct rpcrdma_msg_in *msg);
void svc_rdma_queue_drop(struct svc_rdma_xprt *sx);
void svc_rdma_dequeue(struct svc_rdma_xprt *sx, struct svc_rdma_call **call,
		      struct rpcrdma_msg_in **msg);
bool svc_rdma_pull_begin(struct svc_rdma_call *call);
void svc_rdma_pull_next(struct svc_rdma_xprt *sx);
void svc_rdma_pull_again(struct svc_rdma_call *call);
int svc_rdma_has_wspace(struct svc_xprt *xprt);
void svc_rdma_slots_wait(struct svc_rdma_xprt *sx,
			 struct rpcrdma_sq_waiter *waiter);
void svc_rdma_slots_release(struct svc_rdma_xprt *sx, u32 slots);

/* server/rw.c */
void svc_rdma_rw_set_limits(struct svc_rdma_xprt *sx);
int svc_rdma_rw_check(struct svc_rdma_xprt *sx);
int svc_rdma_mrs_reserve(struct svc_rdma_xprt *sx, u64 contexts, u32 *reserved,
			 u32 *short_of);
static inline void svc_rdma_chain_init(struct svc_rdma_chain *chain)
{
	INIT_LIST_HEAD(&chain->sh_rws);
	chain->sh_nrws = 0;
	chain->sh_wrs = 0;
	chain->sh_mrs = 0;
}

void svc_rdma_chain_trim(struct svc_rdma_xprt *sx,
			 struct svc_rdma_chain *chain);
int svc_rdma_chain_add(struct svc_rdma_xprt *sx, struct svc_rdma_chain *chain,
		       const struct svc_rdma_move *move);
bool svc_rdma_chain_has_page(const struct svc_rdma_chain *chain,
			     const struct page *page);
struct ib_send_wr *svc_rdma_chain_wrs(struct svc_rdma_xprt *sx,
				      struct svc_rdma_chain *chain,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *last);
void svc_rdma_chain_destroy(struct svc_rdma_xprt *sx,
			    struct svc_rdma_chain *chain);

/* server/send.c */
struct svc_rdma_send *svc_rdma_send_get(struct svc_rdma_xprt *sx, gfp_t gfp);
void svc_rdma_send_drop_more(struct svc_rdma_send *send);
void svc_rdma_send_reset(struct svc_rdma_send *send);
void svc_rdma_send_put(struct svc_rdma_send *send);
u32 svc_rdma_send_collect(struct svc_rdma_xprt *sx);
u32 svc_rdma_send_unneeded(struct svc_rdma_xprt *sx);
u32 svc_rdma_send_trim(struct svc_rdma_xprt *sx, u32 most);
bool svc_rdma_conn_waiting(struct rpcrdma_conn *conn, unsigned long *posted,
			   unsigned long *since);
void svc_rdma_send_free(struct svc_rdma_send *send);
int svc_rdma_send_post(struct svc_rdma_send *send);
int svc_rdma_send_submit(struct svc_rdma_send *send, struct svc_rdma_call *call,
			 u32 len);
void svc_rdma_msg_put_blocks(struct svc_rdma_xprt *sx,
			     struct rpcrdma_msg_in *msg);
int svc_rdma_send_control(struct svc_rdma_send *send,
			  struct svc_rdma_call *call, int len);

/**
 * svc_rdma_msg_put - give a message back, so that its Receives are posted again
 * @sx: connection of the message
 * @msg: message
 *
 * Context: process; sleeps if the buffer of a Receive is a block of pages, and other code still
 *	uses one of them. The caller has entered the connection, or closes it.
 */
static inline void svc_rdma_msg_put(struct svc_rdma_xprt *sx,
				    struct rpcrdma_msg_in *msg)
{
	if (likely(READ_ONCE(sx->sx_back) == SVC_RDMA_BACK_PLAIN))
		rpcrdma_msg_put(msg);
	else
		svc_rdma_msg_put_blocks(sx, msg);
}

/**
 * svc_rdma_msg_put_renewed - give a message back without checking its pages
 * @sx: connection of the message
 * @msg: message; svc_rdma_msg_renew() has returned 0 since pages of the message were last
 *	handed to an upper layer, or none was ever handed to one
 *
 * No upper layer can hold or get a page of the message any more, so no check is needed. A check
 * could even give a wrong result: other parts of the kernel may take a reference to any page for
 * a moment.
 *
 * Context: process or completion workqueue; does not sleep, and allocates nothing. The caller
 *	has entered the connection, is a completion handler, or closes the connection.
 */
static inline void svc_rdma_msg_put_renewed(struct svc_rdma_xprt *sx,
					    struct rpcrdma_msg_in *msg)
{
	if (likely(READ_ONCE(sx->sx_back) != SVC_RDMA_BACK_DROP))
		rpcrdma_msg_put(msg);
	else
		rpcrdma_msg_drop(msg);
}

/* server/credit.c */
int svc_rdma_credits_begin(struct svc_rdma_xprt *sx, u32 credits, u32 recv_size,
			   u32 spare);
void svc_rdma_credits_see(struct svc_rdma_xprt *sx,
			  const struct rpcrdma_msg_in *msg);
bool svc_rdma_credits_review(struct svc_rdma_xprt *sx);
bool svc_rdma_credits_confirm(struct svc_rdma_xprt *sx, u32 xid);
void svc_rdma_credits_answered(struct svc_rdma_xprt *sx);
void svc_rdma_credits_use(const struct svc_rdma_call *call);
int svc_rdma_credits_backward(struct svc_rdma_xprt *sx);

/* server/negotiate.c */
int svc_rdma_negotiate_begin(struct svc_rdma_xprt *sx, u32 v1_size);
bool svc_rdma_negotiate_settle(struct svc_rdma_xprt *sx, u32 vers);
u32 svc_rdma_negotiate_peek(const struct rpcrdma_msg_in *msg);
void svc_rdma_negotiate_accept(const struct svc_rdma_xprt *sx,
			       struct rpcrdma2_accept *accept);
void svc_rdma_negotiate_connprop(struct svc_rdma_call *call);
void svc_rdma_negotiate_notify(struct svc_rdma_xprt *sx);

/* server/reclaim.c */

/* Order of the largest pieces in which pages for RDMA Reads are allocated. Up to this order, the
 * page allocator keeps free pages per CPU.
 */
#define SVC_RDMA_PIECE_ORDER	PAGE_ALLOC_COSTLY_ORDER

int svc_rdma_reclaim_init(void);
void svc_rdma_reclaim_exit(void);
void svc_rdma_reclaim_join(struct svc_rdma_xprt *sx);
void svc_rdma_reclaim_leave(struct svc_rdma_xprt *sx);
u32 svc_rdma_stock_take(struct page **pages, u32 count);
void svc_rdma_stock_put(struct page **pages, u32 count);
bool svc_rdma_stock_trim(void);
void svc_rdma_stock_empty(void);
unsigned long svc_rdma_stock_size(void);

/* server/pages.c */
bool svc_rdma_pages_fit(void);
int svc_rdma_pages_begin(struct svc_rqst *rqstp);
int svc_rdma_pages_hold(struct svc_rdma_send *send, struct svc_rqst *rqstp);
int svc_rdma_pages_alloc(struct svc_rdma_call *call, u32 nbytes);
int svc_rdma_pages_share(struct svc_rdma_call *call);
void svc_rdma_pages_free(struct svc_rdma_call *call);
void svc_rdma_pages_write(const struct svc_rdma_call *call, u32 pos,
			  const void *from, u32 len);

/* server/read.c */
int svc_rdma_read_start(struct svc_rdma_call *call);
bool svc_rdma_read_assemble(struct svc_rdma_call *call, struct xdr_buf *arg);
int svc_rdma_read_received(struct svc_rdma_call *call, struct xdr_buf *arg);
void svc_rdma_read_free(struct svc_rdma_call *call);

/* server/sendto.c */
int svc_rdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			    unsigned int length);
void svc_rdma_send_error(struct svc_rdma_call *call,
			 enum rpcrdma_verdict verdict);
int svc_rdma_sendto(struct svc_rqst *rqstp);
int svc_rdma_group_take(struct svc_rdma_send *send, u32 count);
void svc_rdma_group_layout(const struct svc_rdma_send *send,
			   const struct rpcrdma_lists *lists, u32 body_len,
			   struct rpcrdma_layout *layout);
int svc_rdma_group_encode(struct svc_rdma_send *send,
			  struct rpcrdma_layout *layout,
			  const struct rpcrdma_reply_out *out,
			  struct svc_rdma_body *body);

/* server/backchannel.c */
extern struct xprt_class svc_rdma_bc_class;

bool svc_rdma_bc_answer(struct svc_rdma_xprt *sx, u32 xid,
			struct svc_rdma_call *reply);
void svc_rdma_bc_grow(struct svc_rdma_xprt *sx);
void svc_rdma_bc_close_all(struct svc_rdma_xprt *sx);

/* server/recvfrom.c */
int svc_rdma_recvfrom(struct svc_rqst *rqstp);
void svc_rdma_call_free(struct svc_rdma_call *call);
void svc_rdma_release_ctxt(struct svc_xprt *xprt, void *ctxt);

/* server/close.c */
int svc_rdma_close_init(void);
void svc_rdma_close_exit(void);
int svc_rdma_close_init_xprt(struct svc_rdma_xprt *sx);
void svc_rdma_end_inside(struct svc_rdma_xprt *sx);
void svc_rdma_close_begin(struct svc_rdma_xprt *sx);
void svc_rdma_detach(struct svc_xprt *xprt);
void svc_rdma_free(struct svc_xprt *xprt);

/* server/accept.c */
void svc_rdma_discard(struct svc_xprt *xprt);
void svc_rdma_pending_discard(struct svc_rdma_listener *sl);
void svc_rdma_kill_temp_xprt(struct svc_xprt *xprt);
int svc_rdma_connect_request(struct svc_rdma_listener *sl,
			     struct rdma_cm_id *id,
			     const struct rdma_conn_param *param);
struct svc_xprt *svc_rdma_accept(struct svc_xprt *xprt);

#endif /* RPCRDMA_SVC_RDMA_H */
