// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes: this file computes queue depths and numbers of memory regions from the limits of a
 * device.
 *
 * Client and server ask this file for the sizes of each connection. If the device refuses to make
 * queues of these sizes, the client asks again with a smaller dc_max_qp_wr, and the server with
 * fewer requests. This file calls no verbs: struct rpcrdma_device_caps contains the limits, and
 * these already take quirks of particular devices into account.
 *
 * These functions compute how many queue entries the wanted number of requests needs. If the device
 * has fewer, they lower the number of requests, with one exception: a short send queue. On a
 * server, only this queue becomes shorter, because Calls can wait for room in the queue. On a
 * client, the number of requests is lowered only if there would be no entry for the Send of each
 * request. There is always room for one RPC with the largest payload that the connection can carry.
 * A device that is too small for that is refused.
 *
 * The limits of a device only decide how many credits a connection may have. They do not
 * change what a credit means (RFC 8166 3.3.1).
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/size.h>
#include <rpcrdma/wire.h>

/* A memory region takes two work requests: registration and invalidation */
#define RPCRDMA_WRS_PER_MR		2u

/*
 * Maximum number of SGEs in a work request on a server. If pages are not adjacent, each takes
 * one SGE, so one RDMA Write covers at most this number of them. More SGEs would make the queue
 * larger, because every slot has room for the maximum: 32 SGEs take half a kilobyte. Common
 * devices allow about as many (mlx5: 30). A megabyte then takes 9 work requests.
 */
#define RPCRDMA_SERVER_SGES		32u

/*
 * If the device allows it, a server's send queue has room for three transfers of the largest size,
 * and for the Replies to half of the Calls. Every slot has room for the maximum number of SGEs, so
 * the queue is a large part of the memory of an idle connection. Three transfers of a megabyte keep
 * a wire of 100 Gbit/s busy for 250 microseconds, and 64 Replies of 4 KB keep it busy for 20 more.
 * Refilling the queue takes much less time.
 */
#define RPCRDMA_SERVER_TRANSFERS	3u
#define RPCRDMA_SERVER_CALLS_PER_SEND	2u

/*
 * Maximum number of a connection's regions for RDMA Reads. A Call whose chunk has the maximum
 * number of segments takes about RPCRDMA_MAX_SEGS of them. With the other regions, another Call
 * can proceed at the same time if its chunk has only a few segments, as the chunks of our client
 * normally have.
 */
#define RPCRDMA_SERVER_READ_MRS		(RPCRDMA_MAX_SEGS + RPCRDMA_CLIENT_SEGS)

/* An RDMA Read to a region takes a registration, the Read, and an invalidation */
#define RPCRDMA_WRS_PER_READ_MR		(RPCRDMA_WRS_PER_MR + 1u)

/* Size in bytes of pages that every device can register if the kernel's pages have this size */
#define RPCRDMA_SIZE_PAGE		4096u

/* If a connection has at most this number of Receives, each is posted by itself: see
 * rpcrdma_size_recv_batch().
 */
#define RPCRDMA_RECVS_SINGLE		7u

/* The interface of the connection manager has one byte for the number of RDMA Reads (ORD) */
#define RPCRDMA_ORD_MAX			255u

static u32 rpcrdma_size_room(u32 limit, u64 taken)
{
	return limit > taken ? limit - taken : 0;
}

/**
 * rpcrdma_size_can_register - can a device register pages of this size?
 * @page_sizes: page sizes of the device, one bit each (page_size_cap of the RDMA core)
 * @page_size: size of a page of the kernel in bytes, a power of two
 *
 * To register a region, a device is told where each page begins, and how large the pages are. A
 * driver may accept a page size that its device does not support. irdma does so, and treats the
 * pages as pages of 4096 bytes. A peer could then access bytes outside the region.
 *
 * Context: any.
 * Return: false if regions with pages of this size must not be registered.
 */
bool rpcrdma_size_can_register(u64 page_sizes, u32 page_size)
{
	return page_size == RPCRDMA_SIZE_PAGE || page_sizes & page_size;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_can_register);

/**
 * rpcrdma_size_recv_batch - how many Receives to post at a time
 * @recvs: Receives of the connection
 *
 * Context: any.
 * Return: a quarter of @recvs, up to %RPCRDMA_RECV_BATCH; 0 and 1 mean that each Receive
 *	is posted at once.
 */
u32 rpcrdma_size_recv_batch(u32 recvs)
{
	return min(recvs / 4, RPCRDMA_RECV_BATCH);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_recv_batch);

/**
 * rpcrdma_size_recvs - how many Receives a connection needs for a number of messages
 * @messages: how many messages a peer may send before it gets an answer, at most half of
 *	%U32_MAX
 *
 * At any time, at least @messages Receives must be posted or contain a message that is still in
 * use (RFC 8166 3.3.1; invariant I6 in locking.rst). Receives are posted in batches, so up to a
 * batch less one may be waiting to be posted, and are needed in addition. A connection with few
 * Receives posts each by itself, and needs no more than @messages.
 *
 * Context: any.
 * Return: the smallest number of Receives that is enough.
 */
u32 rpcrdma_size_recvs(u32 messages)
{
	u32 single = min(messages, RPCRDMA_RECVS_SINGLE);

	return messages + min(DIV_ROUND_UP(messages - single, 3),
			      RPCRDMA_RECV_BATCH - 1);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_recvs);

/**
 * rpcrdma_size_credits - how many credits a number of Receives is enough for
 * @recvs: number of Receives
 * @others: messages that take a Receive, but none of these credits
 *
 * This is the inverse of rpcrdma_size_recvs(), for a connection that cannot have as many
 * Receives as it wants (RFC 8166 3.3.1).
 *
 * Context: any.
 * Return: credits; 0 if there are not enough Receives for @others and one more.
 */
u32 rpcrdma_size_credits(u32 recvs, u32 others)
{
	u32 batch = rpcrdma_size_recv_batch(recvs);

	return rpcrdma_size_room(recvs - (batch ? batch - 1 : 0), others);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_credits);

/**
 * rpcrdma_size_recvs_fit - how many more Receives fit into a budget
 * @bytes: total size of the existing Receives in bytes
 * @bytes_max: bytes that Receives may take
 * @size: size of each new Receive in bytes, not 0
 *
 * Context: any.
 * Return: number of Receives.
 */
u32 rpcrdma_size_recvs_fit(u64 bytes, u64 bytes_max, u32 size)
{
	u64 left = bytes_max - min(bytes, bytes_max);

	return min_t(u64, div_u64(left, size), U32_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_recvs_fit);

/**
 * rpcrdma_size_targets - compute the layout of a Receive with target segments (rtx.h)
 * @pages: number of pages that the Receive takes: 2, 4 or 8; with any other number, it has
 *	no target segments
 * @page_size: size of a page in bytes
 * @rtx: OUT: xp_head, xp_seg and xp_nsegs; the other members are left alone
 *
 * The pages are adjacent. The Receive begins %RPCRDMA_RTX_HEAD bytes before the end of the
 * first page, and each of the other pages is a target segment. So segments are as large as
 * pages. If the pages of the kernel have another size than %RPCRDMA_RTX_SEG bytes, there are no
 * target segments.
 *
 * Context: any.
 * Return: size of the Receive in bytes (RBSIZ); 0 if there are no target segments, and then the
 *	three members are 0, too.
 *
 * See rtx.rst 3.6, 7.1.
 */
u32 rpcrdma_size_targets(u32 pages, u32 page_size, struct rpcrdma2_rtx *rtx)
{
	bool has = (pages == 2 || pages == 4 || pages == 8) &&
		   page_size == RPCRDMA_RTX_SEG;

	rtx->xp_head = has ? RPCRDMA_RTX_HEAD : 0;
	rtx->xp_seg = has ? RPCRDMA_RTX_SEG : 0;
	rtx->xp_nsegs = has ? pages - 1 : 0;
	return rtx->xp_head + rtx->xp_seg * rtx->xp_nsegs;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_targets);

/* Returns how many pages the largest payload can touch if it may begin anywhere in a page; at
 * least 1.
 */
static u32 rpcrdma_size_payload_pages(u32 max_payload, u32 page_size)
{
	return max(rpcrdma_size_mrs(max_payload, page_size - 1, page_size, 1),
		   1u);
}

/* Returns the number of entries of a receive queue that are not for forward RPCs. */
static u64 rpcrdma_size_rq_spare(u32 bc_requests)
{
	return (u64)bc_requests + RPCRDMA_RECV_BATCH + RPCRDMA_RECV_SPARE +
	       RPCRDMA_DRAIN_WRS;
}

/**
 * rpcrdma_size_client - size a client connection
 * @caps: what the device can do
 * @requests: wanted number of RPCs in flight
 * @bc_requests: wanted number of callbacks in progress
 * @max_payload: size of the largest data item in bytes
 * @page_size: bytes of a page as the device sees it
 * @sizes: OUT: the sizes, if 0 is returned
 *
 * Memory regions: a region is as large as the device can make it, but not larger than
 * the largest payload, plus one page for a payload that begins inside a page. A client reads
 * no data by RDMA Read, so dc_max_sge_rd does not matter. If one region is too small for the
 * largest payload, an RPC takes several, up to %RPCRDMA_CLIENT_SEGS. If these are too small as
 * well, the caller must not send a larger payload than rpcrdma_size_client_payload() returns.
 *
 * Send queue: for every request a Send, and a registration and an invalidation for each of
 * its regions; a Send for the answer to every callback; the drain marker and a probe of the
 * keepalive. Most requests do not take that much, and slots are counted when they are used.
 * So a shorter queue is enough if it has slots for the Send of each request, for the regions of
 * one RPC of the largest size, for the answers to callbacks, for the marker and for the probe.
 *
 * Receive queue: a Receive for each Reply and each callback, one batch that waits to be
 * posted, %RPCRDMA_RECV_SPARE for messages of version 2 that take no credit, and the drain
 * marker. Completion queues: one for each of these queues. Their entries together are at most
 * dc_max_cqe, as if there were only one.
 *
 * Context: any.
 * Return: 0; -EINVAL if @requests or @page_size is 0; -EOPNOTSUPP if the device cannot do
 *	fast registration, or is too small for even one request.
 */
int rpcrdma_size_client(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_client_sizes *sizes)
{
	u64 sq_spare, rq_spare;
	u32 pages, wrs;

	if (!requests || !page_size)
		return -EINVAL;
	if (!caps->dc_frwr || !caps->dc_max_mr_pages)
		return -EOPNOTSUPP;

	pages = rpcrdma_size_payload_pages(max_payload, page_size);
	sizes->cz_mr_pages = min(caps->dc_max_mr_pages, pages);
	sizes->cz_mrs_per_rpc = min(DIV_ROUND_UP(pages, sizes->cz_mr_pages),
				    RPCRDMA_CLIENT_SEGS);
	if (caps->dc_max_mr < sizes->cz_mrs_per_rpc + RPCRDMA_CLIENT_EXTRA_MRS)
		return -EOPNOTSUPP;

	/* Maximum number of send queue slots of one RPC, for its Send and its regions. Often no
	 * invalidation is posted, because the server has invalidated the region, but there must
	 * be room for it.
	 */
	wrs = 1 + RPCRDMA_WRS_PER_MR * (sizes->cz_mrs_per_rpc +
					RPCRDMA_CLIENT_EXTRA_MRS);
	/* Number of entries of each queue, besides one entry for each request */
	sq_spare = (u64)bc_requests + RPCRDMA_SQ_EXTRA + wrs - 1;
	rq_spare = rpcrdma_size_rq_spare(bc_requests);

	requests = min(requests, rpcrdma_size_room(caps->dc_max_qp_wr,
						   max(sq_spare, rq_spare)));
	requests = min(requests, rpcrdma_size_room(caps->dc_max_cqe,
						   sq_spare + rq_spare) / 2);
	if (!requests)
		return -EOPNOTSUPP;

	sizes->cz_requests = requests;
	sizes->cz_bc_requests = bc_requests;
	sizes->cz_rq_depth = requests + rq_spare;
	sizes->cz_recvs = sizes->cz_rq_depth - RPCRDMA_DRAIN_WRS;
	sizes->cz_sq_depth = min3((u64)requests * wrs + bc_requests +
				  RPCRDMA_SQ_EXTRA,
				  (u64)caps->dc_max_qp_wr,
				  (u64)caps->dc_max_cqe - sizes->cz_rq_depth);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_client);

/**
 * rpcrdma_size_client_payload - size of the largest data item of a client's RPCs
 * @mr_pages: cz_mr_pages of the connection
 * @page_size: bytes of a page as the device sees it
 *
 * A chunk has at most %RPCRDMA_CLIENT_SEGS segments. Two of them are left for what a chunk
 * contains besides the item: head and tail of a long message, or the roundup of version 1.
 * The item may begin inside a page, and then touches one page more than its size alone requires.
 *
 * Context: any.
 * Return: number of bytes; may be more than any RPC has.
 */
u64 rpcrdma_size_client_payload(u32 mr_pages, u32 page_size)
{
	return ((u64)(RPCRDMA_CLIENT_SEGS - 2) * mr_pages - 1) * page_size;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_client_payload);

/**
 * rpcrdma_size_client_spare - number of spare Receives, for Replies that come in several Sends
 *	(groups, rtx.h)
 * @caps: what the device can do
 * @sizes: the other sizes of the connection, which take precedence
 *
 * The receive queue must have room for spare Receives in addition to all others. Spare Receives
 * are made only when a Call first offers some of them for its Reply (RTX-65, RTX-98).
 *
 * Context: any.
 * Return: the number; or 0 if there is no room. Long Replies then use chunks.
 */
u32 rpcrdma_size_client_spare(const struct rpcrdma_device_caps *caps,
			      const struct rpcrdma_client_sizes *sizes)
{
	return min3(RPCRDMA_CLIENT_SPARE,
		    rpcrdma_size_room(caps->dc_max_qp_wr, sizes->cz_rq_depth),
		    rpcrdma_size_room(caps->dc_max_cqe,
				      sizes->cz_sq_depth + sizes->cz_rq_depth));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_client_spare);

/**
 * rpcrdma_size_server - size a server connection
 * @caps: what the device can do
 * @requests: wanted number of Calls in progress
 * @bc_requests: wanted number of callbacks in flight
 * @max_payload: size of the largest data item in bytes
 * @page_size: bytes of a page as the device sees it
 * @sizes: OUT: the sizes, if 0 is returned
 *
 * Send queue: a Send for every callback and for every second Call; the drain marker and a
 * probe of the keepalive; the work requests of %RPCRDMA_SERVER_TRANSFERS transfers of the
 * largest payload; and one more for each of the %RPCRDMA_CLIENT_SEGS segments that a client
 * may split one of these transfers into. A megabyte covers up to 257 pages of 4 KiB, which
 * take 9 work requests of 30 SGEs. So 128 Calls and 16 callbacks take 64 + 16 + 2 + 3 * 9 +
 * 16 = 125 slots. Calls share the queue, and wait when it is full. So a shorter queue is
 * enough if it has room for the callbacks, for the marker, for the probe, for the Send of one
 * Reply, and for one transfer; and, if dc_read_mrs is set, for the RDMA Reads of a chunk of
 * %RPCRDMA_CLIENT_SEGS segments.
 *
 * Regions: %RPCRDMA_SERVER_READ_MRS, if dc_read_mrs is set. Calls share the regions, and
 * wait until enough are free. The send queue is long enough for a Call that takes all of them,
 * if the device allows a queue of that length.
 *
 * Receive queue: a Receive for each Call and for the Reply to each callback, one batch that
 * waits to be posted, %RPCRDMA_RECV_SPARE for messages of version 2 that take no credit, and
 * the drain marker. Completion queues: one for each of these queues. Their entries together
 * are at most dc_max_cqe, as if there were only one.
 *
 * Context: any.
 * Return: 0; -EINVAL if @requests or @page_size is 0; -EOPNOTSUPP if the device is too
 *	small for even one request, or is an iWARP device without fast registration.
 */
int rpcrdma_size_server(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_server_sizes *sizes)
{
	u64 sq_spare, rq_spare, sq_least, sq_depth;
	u32 pages, sges, wrs;

	if (!requests || !page_size)
		return -EINVAL;
	if (!caps->dc_max_send_sge ||
	    (caps->dc_iwarp && (!caps->dc_frwr || !caps->dc_max_mr_pages)))
		return -EOPNOTSUPP;

	sizes->sz_send_sges = min(caps->dc_max_send_sge, RPCRDMA_SERVER_SGES);
	/* Number of work requests of a transfer of the largest size to or from one segment of the
	 * client. Each covers as many pages as it has SGEs.
	 */
	sges = sizes->sz_send_sges;
	if (!caps->dc_iwarp && caps->dc_max_sge_rd)
		sges = min(sges, caps->dc_max_sge_rd);
	pages = rpcrdma_size_payload_pages(max_payload, page_size);
	wrs = DIV_ROUND_UP(pages, sges);

	sizes->sz_read_mrs = caps->dc_read_mrs ? RPCRDMA_SERVER_READ_MRS : 0;
	/* Number of entries of each queue, besides those for the Receives of Calls and the
	 * Sends of their Replies. sq_spare includes one transfer.
	 */
	sq_spare = (u64)bc_requests + RPCRDMA_SQ_EXTRA + wrs +
		   RPCRDMA_CLIENT_SEGS;
	rq_spare = rpcrdma_size_rq_spare(bc_requests);
	/* The client is promised Receives, but Calls can wait for room in the send queue. So
	 * a short send queue does not reduce the credits (RFC 8166 3.3.1). But a device is
	 * refused if its queue is too short for a Call of the largest size, with a chunk of
	 * up to RPCRDMA_CLIENT_SEGS segments.
	 */
	sq_least = sq_spare + 1;
	if (caps->dc_read_mrs)
		sq_least = max(sq_least, RPCRDMA_SQ_EXTRA +
					 RPCRDMA_WRS_PER_READ_MR *
					 (u64)RPCRDMA_CLIENT_SEGS);
	if (caps->dc_max_qp_wr < sq_least)
		return -EOPNOTSUPP;
	requests = min(requests, rpcrdma_size_room(caps->dc_max_qp_wr,
						   rq_spare));
	requests = min(requests, rpcrdma_size_room(caps->dc_max_cqe,
						   sq_least + rq_spare));
	if (!requests)
		return -EOPNOTSUPP;

	sizes->sz_requests = requests;
	sizes->sz_bc_requests = bc_requests;
	sizes->sz_rq_depth = requests + rq_spare;
	sq_depth = DIV_ROUND_UP(requests, RPCRDMA_SERVER_CALLS_PER_SEND) +
		   sq_spare + (RPCRDMA_SERVER_TRANSFERS - 1) * (u64)wrs;
	sq_depth = max(sq_depth, RPCRDMA_SQ_EXTRA + RPCRDMA_WRS_PER_READ_MR *
				 (u64)sizes->sz_read_mrs);
	sizes->sz_sq_depth = min3(sq_depth, (u64)caps->dc_max_qp_wr,
				  (u64)caps->dc_max_cqe - sizes->sz_rq_depth);
	/* Devices differ in which of these two limits applies. The smaller one is
	 * always safe.
	 */
	sizes->sz_ord = clamp(min(caps->dc_max_init_rd_atom,
				  caps->dc_max_rd_atom),
			      1u, RPCRDMA_ORD_MAX);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_size_server);
