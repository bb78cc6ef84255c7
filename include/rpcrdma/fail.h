/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: tests use knobs to make the module fail or wait, to lower its limits, or to make
 * it hold pages. The knobs are files in debugfs, see Documentation/testing.rst. Without
 * CONFIG_FAULT_INJECTION there are no knobs, and the functions here do nothing.
 */
#ifndef RPCRDMA_FAIL_H
#define RPCRDMA_FAIL_H

#include <linux/minmax.h>
#include <linux/types.h>

struct dentry;

#ifdef CONFIG_FAULT_INJECTION

#include <linux/atomic.h>
#include <linux/compiler.h>

/**
 * struct rpcrdma_fail - the knobs; all may change at any time
 * @fa_mr_pages: maximum number of pages in a memory region; 0 for the device's limit
 * @fa_qp_wr: maximum number of work requests in a queue; 0 for the device's limit
 * @fa_probe_reads: on siw, new connections probe the peer with RDMA Reads, as on other iWARP
 *	devices; only for kernels in which siw answers them correctly
 * @fa_reads: maximum number of Read chunks that the server accepts in a Call of version 2, without
 *	the Position Zero chunk
 * @fa_writes: maximum number of Write chunks that the server accepts in a Call of version 2
 * @fa_segs: maximum number of segments that the server accepts in a chunk of such a Call
 * @fa_calls: the server answers this number of requests of version 2 (Calls and CONNPROPs) with
 *	@fa_code; counts down to 0
 * @fa_code: error code: BAD_XDR, INVAL_HTYPE or WRITE_CHUNKS (RPCRDMA2_ERR_*). 0 means that the
 *	requests are handled as usual. Any other code stands for SYSTEM
 * @fa_write_len: maximum size in bytes of the client's Write chunks; 0 for no limit
 * @fa_reply_len: maximum size in bytes of a Reply that the client provides for; 0 for no
 *	limit
 * @fa_inv: if a test sets this to N, the client's Nth local invalidation from then on fails,
 *	because it names no region; each invalidation lowers the number by 1; 0 if none is to
 *	fail
 * @fa_fence: if a test sets this to N, the client ignores the Nth completion of a fence
 *	(client/fence.c) from then on; each completion lowers the number by 1; 0 if none is to
 *	be ignored
 * @fa_keep: maximum number of page references that rpcrdma_fail_keep() holds, at most 256. Until
 *	it holds so many, it takes one for each Call on a connection whose Receives may have blocks
 *	of pages as buffers (server/renew.c). This imitates an upper layer that still holds
 *	received pages when a Call has ended
 * @fa_hold_fence: while this is set, a task that ends an RPC without a Reply waits before it
 *	fences the RPC (xprt_rdma_frwr_fence())
 *
 * If the server has answered that a Call provides too little room, the client sends the Call
 * again with the room that the error requires, whatever @fa_write_len and @fa_reply_len are.
 */
struct rpcrdma_fail {
	u32		fa_mr_pages;
	u32		fa_qp_wr;
	bool		fa_probe_reads;
	u32		fa_reads;
	u32		fa_writes;
	u32		fa_segs;
	atomic_t	fa_calls;
	u32		fa_code;
	u32		fa_write_len;
	u32		fa_reply_len;
	atomic_t	fa_inv;
	atomic_t	fa_fence;
	u32		fa_keep;
	bool		fa_hold_fence;
};

extern struct rpcrdma_fail rpcrdma_fail;

void rpcrdma_fail_create_files(struct dentry *dir);
void rpcrdma_fail_remove_files(void);
void rpcrdma_fail_wait(void);
void rpcrdma_fail_keep(const void *data);

/* Returns the smaller of @has and @limit, where a @limit of 0 means that there is none. */
static inline u32 rpcrdma_fail_at_most(u32 has, u32 limit)
{
	return unlikely(limit) ? min(has, limit) : has;
}

/* Counts an event: lowers @number by 1 unless it is 0. Returns true if that makes it 0. */
static inline bool rpcrdma_fail_is_chosen(atomic_t *number)
{
	return unlikely(atomic_read(number)) && !atomic_dec_if_positive(number);
}

static inline u32 rpcrdma_fail_mr_pages(u32 has)
{
	return rpcrdma_fail_at_most(has, READ_ONCE(rpcrdma_fail.fa_mr_pages));
}

static inline u32 rpcrdma_fail_qp_wr(u32 has)
{
	return rpcrdma_fail_at_most(has, READ_ONCE(rpcrdma_fail.fa_qp_wr));
}

static inline bool rpcrdma_fail_probe_reads(void)
{
	return READ_ONCE(rpcrdma_fail.fa_probe_reads);
}

static inline u32 rpcrdma_fail_reads(u32 has)
{
	return min(has, READ_ONCE(rpcrdma_fail.fa_reads));
}

static inline u32 rpcrdma_fail_writes(u32 has)
{
	return min(has, READ_ONCE(rpcrdma_fail.fa_writes));
}

static inline u32 rpcrdma_fail_segs(u32 has)
{
	return min(has, READ_ONCE(rpcrdma_fail.fa_segs));
}

/* Called for each valid request of version 2 (see fa_calls). Returns the error code with which to
 * answer it, or 0 for no error.
 */
static inline u32 rpcrdma_fail_call(void)
{
	if (likely(!atomic_read(&rpcrdma_fail.fa_calls)) ||
	    atomic_dec_if_positive(&rpcrdma_fail.fa_calls) < 0)
		return 0;
	return READ_ONCE(rpcrdma_fail.fa_code);
}

static inline u32 rpcrdma_fail_write_len(u32 len)
{
	return rpcrdma_fail_at_most(len, READ_ONCE(rpcrdma_fail.fa_write_len));
}

static inline u32 rpcrdma_fail_reply_len(u32 len)
{
	return rpcrdma_fail_at_most(len, READ_ONCE(rpcrdma_fail.fa_reply_len));
}

/* Should the next local invalidation fail? */
static inline bool rpcrdma_fail_inv(void)
{
	return rpcrdma_fail_is_chosen(&rpcrdma_fail.fa_inv);
}

/* Should this completion of a fence be ignored, as if the device had lost it? */
static inline bool rpcrdma_fail_fence(void)
{
	return rpcrdma_fail_is_chosen(&rpcrdma_fail.fa_fence);
}

/* If a test has set fa_keep, takes a reference to the page that contains @data, unless fa_keep
 * references are held already.
 */
static inline void rpcrdma_fail_keep_page(const void *data)
{
	if (unlikely(READ_ONCE(rpcrdma_fail.fa_keep)))
		rpcrdma_fail_keep(data);
}

/* Called before an RPC that ends without a Reply is fenced (client/fence.c). Waits while
 * fa_hold_fence is set.
 */
static inline void rpcrdma_fail_hold_fence(void)
{
	if (unlikely(READ_ONCE(rpcrdma_fail.fa_hold_fence)))
		rpcrdma_fail_wait();
}

#else /* CONFIG_FAULT_INJECTION */

static inline void rpcrdma_fail_create_files(struct dentry *dir) { }
static inline void rpcrdma_fail_remove_files(void) { }
static inline u32 rpcrdma_fail_mr_pages(u32 has) { return has; }
static inline u32 rpcrdma_fail_qp_wr(u32 has) { return has; }
static inline bool rpcrdma_fail_probe_reads(void) { return false; }
static inline u32 rpcrdma_fail_reads(u32 has) { return has; }
static inline u32 rpcrdma_fail_writes(u32 has) { return has; }
static inline u32 rpcrdma_fail_segs(u32 has) { return has; }
static inline u32 rpcrdma_fail_call(void) { return 0; }
static inline u32 rpcrdma_fail_write_len(u32 len) { return len; }
static inline u32 rpcrdma_fail_reply_len(u32 len) { return len; }
static inline bool rpcrdma_fail_inv(void) { return false; }
static inline bool rpcrdma_fail_fence(void) { return false; }
static inline void rpcrdma_fail_keep_page(const void *data) { }
static inline void rpcrdma_fail_hold_fence(void) { }

#endif /* CONFIG_FAULT_INJECTION */

#endif /* RPCRDMA_FAIL_H */
