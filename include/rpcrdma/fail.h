/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: with files in debugfs, tests make the module fail, and lower its limits, see
 * Documentation/testing.rst. Without CONFIG_FAULT_INJECTION, there are no faults, and no limits of
 * this kind.
 */
#ifndef RPCRDMA_FAIL_H
#define RPCRDMA_FAIL_H

#include <linux/minmax.h>
#include <linux/types.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION

#include <linux/fault-inject.h>

/**
 * struct rpcrdma_fail - the faults, and the limits, which by default have no effect
 * @fa_device_probe_reads: on siw, a new connection probes the peer with RDMA Reads, as on other
 *	iWARP devices; only for kernels in which siw answers them correctly
 * @fa_server_fail: the server answers a valid request of version 2 (a Call or CONNPROP) with the
 *	error @fa_server_fail_code
 * @fa_server_keep: the server takes a reference to the page of a Call on a connection whose
 *	Receives may have blocks of pages as buffers, as an upper layer might that still uses
 *	received pages when a Call has ended
 * @fa_client_fail_inv: a local invalidation of the client fails, because it names no region
 * @fa_client_lose_fence: the client ignores the completion of a fence (client/complete.c) that it
 *	posts now
 * @fa_client_hold_fence: a task that ends an RPC without a Reply waits before it fences the RPC
 * @fa_device_max_mr_pages: maximum number of pages in a memory region
 * @fa_device_max_qp_wr: maximum number of work requests in a queue
 * @fa_server_max_reads: maximum number of Read chunks that the server accepts in a Call of
 *	version 2, without the Position Zero chunk
 * @fa_server_max_writes: maximum number of Write chunks that the server accepts in such a Call
 * @fa_server_max_segs: maximum number of segments that it accepts in a chunk of such a Call
 * @fa_server_fail_code: BAD_XDR, INVAL_HTYPE or WRITE_CHUNKS (RPCRDMA2_ERR_*). Any other value
 *	stands for SYSTEM
 * @fa_client_shrink_reply: maximum size in bytes of a Reply that the client provides for
 *
 * Each of them has a directory or file in debugfs with its name, without the prefix. If the server
 * has answered that a Call provides too little room, the client sends the Call again with the
 * largest room, whatever the last limit is.
 */
struct rpcrdma_fail {
	struct fault_attr	fa_device_probe_reads;
	struct fault_attr	fa_server_fail;
	struct fault_attr	fa_server_keep;
	struct fault_attr	fa_client_fail_inv;
	struct fault_attr	fa_client_lose_fence;
	struct fault_attr	fa_client_hold_fence;
	u32			fa_device_max_mr_pages;
	u32			fa_device_max_qp_wr;
	u32			fa_server_max_reads;
	u32			fa_server_max_writes;
	u32			fa_server_max_segs;
	u32			fa_server_fail_code;
	u32			fa_client_shrink_reply;
};

extern struct rpcrdma_fail rpcrdma_fail;

/* Does this fault occur now? */
#define rpcrdma_fails(name)	should_fail(&rpcrdma_fail.fa_##name, 1)
/* The smaller of @has and the limit */
#define rpcrdma_fail_limit(name, has)	\
	min_t(u32, has, READ_ONCE(rpcrdma_fail.fa_##name))

#else

#define rpcrdma_fails(name)		false
#define rpcrdma_fail_limit(name, has)	(has)

#endif /* CONFIG_FAULT_INJECTION */

/* Without CONFIG_FAULT_INJECTION, these are not called. */
void rpcrdma_fail_create_files(struct dentry *dir);
void rpcrdma_fail_remove_files(void);
void rpcrdma_fail_keep(const void *data);

#endif /* RPCRDMA_FAIL_H */
