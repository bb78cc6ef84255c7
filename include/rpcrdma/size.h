/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes: a device's numbers in, queue depths and memory region counts out.
 * No verbs here: the device room fills in struct rpcrdma_device_caps.
 */
#ifndef RPCRDMA_SIZE_H
#define RPCRDMA_SIZE_H

#include <linux/types.h>
#include <rpcrdma/wire.h>

/* Receives and Sends are handed to the device, and reclaimed, in batches */
#define RPCRDMA_RECV_BATCH	8u
#define RPCRDMA_SEND_BATCH	16u

/* Receives for messages of version 2 that take no credit (G-16) */
#define RPCRDMA_RECV_SPARE	2u

/* Receives with targets: bytes in front of the first one, bytes of each, and the most
 * pages that a Receive can be (rtx.rst 7.1)
 */
#define RPCRDMA_RTX_HEAD	1024u
#define RPCRDMA_RTX_SEG		4096u
#define RPCRDMA_RTX_PAGES_MAX	8u

/* Segments a client puts in one chunk at most (RFC 8267 6.4.2, G-32) */
#define RPCRDMA_CLIENT_SEGS	16u

/* Besides its data, an RPC may register what surrounds them: head and tail */
#define RPCRDMA_CLIENT_EXTRA_MRS	2u

/* Receives of a client for Replies that take several, beyond the first of each */
#define RPCRDMA_CLIENT_SPARE	16u

/* Work requests that drain a queue: one marker each */
#define RPCRDMA_DRAIN_WRS	1u

/* Send queue entries besides those of messages: that marker, and a probe */
#define RPCRDMA_PROBE_WRS	1u
#define RPCRDMA_SQ_EXTRA	(RPCRDMA_DRAIN_WRS + RPCRDMA_PROBE_WRS)

/**
 * struct rpcrdma_device_caps - what a device can do
 * @dc_max_qp_wr: work requests per queue
 * @dc_max_cqe: completion queue entries
 * @dc_max_send_sge: SGEs per Send or Write
 * @dc_max_sge_rd: SGEs per RDMA Read
 * @dc_max_mr_pages: pages per fast registration
 * @dc_max_mr: memory regions
 * @dc_max_rd_atom: RDMA Reads outstanding per QP, as initiator
 * @dc_max_init_rd_atom: RDMA Reads outstanding per QP, as target
 * @dc_frwr: fast registration and local invalidation are supported
 * @dc_sg_gaps: memory regions take scatterlists with gaps
 * @dc_iwarp: the fabric is iWARP
 * @dc_read_mrs: the core may take memory regions for RDMA Reads
 * @dc_settle: milliseconds a new connection needs before it can be used
 * @dc_signal_max: bytes up to which an RDMA Write costs less if it is signaled
 * @dc_unsignaled_max: bytes that a Send may have without being signaled: a longer
 *	one may still be read when a later one completes
 */
struct rpcrdma_device_caps {
	u32		dc_max_qp_wr;
	u32		dc_max_cqe;
	u32		dc_max_send_sge;
	u32		dc_max_sge_rd;
	u32		dc_max_mr_pages;
	u32		dc_max_mr;
	u32		dc_max_rd_atom;
	u32		dc_max_init_rd_atom;
	bool		dc_frwr;
	bool		dc_sg_gaps;
	bool		dc_iwarp;
	bool		dc_read_mrs;
	u32		dc_settle;
	u32		dc_signal_max;
	u32		dc_unsignaled_max;
};

/**
 * struct rpcrdma_client_sizes - resources of a client connection
 * @cz_requests: RPCs in flight at most (credits requested)
 * @cz_bc_requests: callbacks in progress at most (backward grant)
 * @cz_mr_pages: pages one memory region covers
 * @cz_mrs_per_rpc: memory regions one RPC of the largest payload needs
 * @cz_sq_depth: send queue depth
 * @cz_rq_depth: receive queue depth
 * @cz_recvs: Receive buffers
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
 * @sz_requests: Calls in progress at most (credits granted)
 * @sz_bc_requests: callbacks in flight at most
 * @sz_send_sges: SGEs per Send, RDMA Write and RDMA Read
 * @sz_read_mrs: memory regions for RDMA Reads, 0 where these take none
 * @sz_sq_depth: send queue slots for Sends and RDMA Read/Write chains, with what
 *	registrations take
 * @sz_rq_depth: receive queue depth
 * @sz_recvs: Receive buffers
 * @sz_ord: RDMA Reads outstanding as initiator, at most
 */
struct rpcrdma_server_sizes {
	u32		sz_requests;
	u32		sz_bc_requests;
	u32		sz_send_sges;
	u32		sz_read_mrs;
	u32		sz_sq_depth;
	u32		sz_rq_depth;
	u32		sz_recvs;
	u32		sz_ord;
};

int rpcrdma_size_client(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_client_sizes *sizes);
int rpcrdma_size_server(const struct rpcrdma_device_caps *caps,
			u32 requests, u32 bc_requests, u32 max_payload,
			u32 page_size, struct rpcrdma_server_sizes *sizes);
u32 rpcrdma_size_client_spare(const struct rpcrdma_device_caps *caps,
			      const struct rpcrdma_client_sizes *sizes);
u32 rpcrdma_size_mrs(u32 nbytes, u32 page_offset, u32 page_size, u32 mr_pages);
u32 rpcrdma_size_recv_batch(u32 recvs);
u32 rpcrdma_size_recvs(u32 messages);
u32 rpcrdma_size_credits(u32 recvs, u32 others);
u32 rpcrdma_size_targets(u32 pages, u32 page_size, struct rpcrdma2_rtx *rtx);
u32 rpcrdma_size_recvs_fit(u64 bytes, u64 bytes_max, u32 size);

#endif /* RPCRDMA_SIZE_H */
