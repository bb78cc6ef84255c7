/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes: queue depths and numbers of memory regions, computed from a device's limits.
 * This code uses no verbs: verbs/device.c fills in struct rpcrdma_device_caps.
 */
#ifndef RPCRDMA_SIZE_H
#define RPCRDMA_SIZE_H

#include <linux/math.h>
#include <linux/types.h>
#include <rpcrdma/wire.h>

/* Receives that wait to be posted are posted together when there are %RPCRDMA_RECV_BATCH of
 * them, or fewer on a connection with few Receives. Of any %RPCRDMA_SEND_BATCH Sends in a row,
 * a client signals at least one.
 */
#define RPCRDMA_RECV_BATCH	8u
#define RPCRDMA_SEND_BATCH	16u

/* Number of Receives for messages of version 2 that take no credit, such as errors (G-16) */
#define RPCRDMA_RECV_SPARE	2u

/* Receives with target segments (rtx.h): number of bytes before the first segment, number
 * of bytes in each segment, and maximum number of pages in a Receive (rtx.rst 7.1)
 */
#define RPCRDMA_RTX_HEAD	1024u
#define RPCRDMA_RTX_SEG		4096u
#define RPCRDMA_RTX_PAGES_MAX	8u

/* Maximum number of segments that a client puts in one chunk (RFC 8267 6.4.2, G-32) */
#define RPCRDMA_CLIENT_SEGS	16u

/* Number of regions that a long message may need for its head and its tail, in addition to those
 * for its data
 */
#define RPCRDMA_CLIENT_EXTRA_MRS	2u

/* Maximum number of spare Receives of a client connection. They are for Replies that are groups
 * (rtx.h) and take several Receives. The first Receive of each Reply is not a spare one.
 */
#define RPCRDMA_CLIENT_SPARE	16u

/* Number of work requests that draining a queue takes: the drain marker. When the marker
 * completes, the device no longer works on any earlier work request.
 */
#define RPCRDMA_DRAIN_WRS	1u

/* Number of send queue entries that are not for messages: one for the keepalive's
 * probe, and one for the drain marker
 */
#define RPCRDMA_PROBE_WRS	1u
#define RPCRDMA_SQ_EXTRA	(RPCRDMA_DRAIN_WRS + RPCRDMA_PROBE_WRS)

/**
 * struct rpcrdma_device_caps - what a device can do
 * @dc_max_qp_wr: maximum number of work requests per queue
 * @dc_max_cqe: maximum number of entries per completion queue
 * @dc_max_send_sge: maximum number of SGEs per Send or RDMA Write
 * @dc_max_sge_rd: maximum number of SGEs per RDMA Read
 * @dc_max_mr_pages: maximum number of pages per fast registration
 * @dc_max_mr: maximum number of memory regions
 * @dc_max_init_rd_atom: maximum number of outstanding RDMA Reads per QP, as initiator
 * @dc_max_rd_atom: maximum number of outstanding RDMA Reads per QP, as target
 * @dc_frwr: fast registration and local invalidation are supported, and regions can consist of
 *	pages of the kernel's size
 * @dc_sg_gaps: memory regions may be registered from scatterlists with gaps
 * @dc_p2pdma: the device may be able to access PCI peer-to-peer memory
 * @dc_iwarp: the fabric is iWARP
 * @dc_probe_reads: the keepalive probes the peer with an RDMA Read
 * @dc_read_mrs: RDMA Reads need memory regions on this device, or are faster with them
 * @dc_settle: number of milliseconds that a client waits before it uses a new connection,
 *	because of a fault of the device
 * @dc_signal_max: length in bytes up to which an RDMA Write costs less if it is signaled
 * @dc_unsignaled_max: maximum length in bytes of an unsignaled Send. If a longer Send is
 *	unsignaled, the device may still read its buffer after a later Send has completed.
 * @dc_softirq: the driver reports completions of Receives in an interrupt or a softirq. If this is
 *	not set, it may report them in a worker of its own; a softirq raised there might have to
 *	wait for ksoftirqd.
 * @dc_splits_lists: if two tasks post lists of work requests at the same time, the device may mix
 *	the two lists
 */
struct rpcrdma_device_caps {
	u32		dc_max_qp_wr;
	u32		dc_max_cqe;
	u32		dc_max_send_sge;
	u32		dc_max_sge_rd;
	u32		dc_max_mr_pages;
	u32		dc_max_mr;
	u32		dc_max_init_rd_atom;
	u32		dc_max_rd_atom;
	bool		dc_frwr;
	bool		dc_sg_gaps;
	bool		dc_p2pdma;
	bool		dc_iwarp;
	bool		dc_probe_reads;
	bool		dc_read_mrs;
	u32		dc_settle;
	u32		dc_signal_max;
	u32		dc_unsignaled_max;
	bool		dc_softirq;
	bool		dc_splits_lists;
};

/**
 * struct rpcrdma_client_sizes - resources of a client connection
 * @cz_requests: maximum number of RPCs in flight, which is the credit value requested
 * @cz_bc_requests: maximum number of callbacks in progress, which is the credit value
 *	granted in the backward direction
 * @cz_mr_pages: maximum number of pages in one memory region
 * @cz_mrs_per_rpc: number of memory regions that the largest payload needs, at most
 *	%RPCRDMA_CLIENT_SEGS
 * @cz_sq_depth: send queue depth
 * @cz_rq_depth: receive queue depth, not counting spare Receives (%RPCRDMA_CLIENT_SPARE)
 * @cz_recvs: maximum number of Receives, not counting spare Receives
 */
struct rpcrdma_client_sizes {
	u32		cz_requests;
	u32		cz_bc_requests;
	u32		cz_mr_pages;
	u32		cz_mrs_per_rpc;
	u32		cz_sq_depth;
	u32		cz_rq_depth;
	u32		cz_recvs;
};

/**
 * struct rpcrdma_server_sizes - resources of a server connection
 * @sz_requests: maximum number of Calls in progress: the largest credit value granted
 * @sz_bc_requests: maximum number of callbacks in flight
 * @sz_send_sges: maximum number of SGEs per send queue entry; an RDMA Read may be limited to
 *	fewer (dc_max_sge_rd)
 * @sz_read_mrs: number of memory regions for RDMA Reads; 0 if these use none
 * @sz_sq_depth: send queue depth: entries for Sends, for RDMA Reads and Writes, for registrations
 *	and invalidations, for the keepalive's probe and for the drain marker
 * @sz_rq_depth: receive queue depth
 * @sz_ord: maximum number of outstanding RDMA Reads as initiator
 */
struct rpcrdma_server_sizes {
	u32		sz_requests;
	u32		sz_bc_requests;
	u32		sz_send_sges;
	u32		sz_read_mrs;
	u32		sz_sq_depth;
	u32		sz_rq_depth;
	u32		sz_ord;
};

/**
 * rpcrdma_size_mrs - memory regions needed for a buffer
 * @nbytes: size of the buffer in bytes
 * @page_offset: where in a page the buffer begins
 * @page_size: size of a page in bytes, not 0
 * @mr_pages: pages that one region covers, not 0
 *
 * The buffer has no gaps. It may begin inside its first page and end inside its last page,
 * and covers all pages in between.
 *
 * Context: any.
 * Return: number of regions; 0 if there are no bytes.
 */
static inline u32 rpcrdma_size_mrs(u32 nbytes, u32 page_offset, u32 page_size,
				   u32 mr_pages)
{
	u32 pages;

	if (!nbytes)
		return 0;
	/* This order of operations avoids overflow for every possible buffer */
	page_offset %= page_size;
	pages = nbytes / page_size;
	pages += DIV_ROUND_UP(nbytes % page_size + page_offset, page_size);
	return (pages - 1) / mr_pages + 1;
}

int rpcrdma_size_client(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_client_sizes *sizes);
int rpcrdma_size_server(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_server_sizes *sizes);
u64 rpcrdma_size_client_payload(u32 mr_pages, u32 page_size);
u32 rpcrdma_size_client_spare(const struct rpcrdma_device_caps *caps,
			      const struct rpcrdma_client_sizes *sizes);
bool rpcrdma_size_can_register(u64 page_sizes, u32 page_size);
u32 rpcrdma_size_recv_batch(u32 recvs);
u32 rpcrdma_size_recvs(u32 messages);
u32 rpcrdma_size_credits(u32 recvs, u32 others);
u32 rpcrdma_size_targets(u32 pages, u32 page_size, struct rpcrdma2_rtx *rtx);
u32 rpcrdma_size_recvs_fit(u64 bytes, u64 bytes_max, u32 size);

#endif /* RPCRDMA_SIZE_H */
