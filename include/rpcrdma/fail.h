/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: what tests have the module do wrong, or make it do without. The
 * knobs are files in debugfs, see Documentation/testing.rst. A kernel without
 * CONFIG_FAULT_INJECTION has none, and the functions here are empty.
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
 * @fa_mr_pages: pages a memory region has at most; 0: what the device says
 * @fa_qp_wr: work requests a queue has at most, likewise
 * @fa_reads: Read chunks that the server takes in a Call
 * @fa_writes: Write chunks, likewise
 * @fa_segs: segments in a chunk, likewise
 * @fa_calls: so many Calls of version 2 are yet to be answered with @fa_code
 * @fa_code: an enum rpcrdma2_errcode
 * @fa_write_len: bytes of the client's Write chunks at most; 0: no limit
 * @fa_reply_len: bytes of the Replies that the client provides for, likewise
 * @fa_inv: the local invalidation with this number, counted from now on, names no
 *	region, and fails; 0: none
 * @fa_fence: the completion of a fence with this number is lost, likewise
 * @fa_keep: so many pages of Calls, each of another Call, are kept by somebody who may
 *	have got them: see rpcrdma_fail_keep()
 * @fa_hold_fence: whoever takes memory away from the server waits before it does
 */
struct rpcrdma_fail {
	u32		fa_mr_pages;
	u32		fa_qp_wr;
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

/* The smaller one, where 0 stands for no limit */
static inline u32 rpcrdma_fail_at_most(u32 has, u32 limit)
{
	return unlikely(limit) ? min(has, limit) : has;
}

/* Is this the one that was chosen? */
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

/* The error to answer this Call with; 0: none */
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

/* Has the next local invalidation to fail? */
static inline bool rpcrdma_fail_inv(void)
{
	return rpcrdma_fail_is_chosen(&rpcrdma_fail.fa_inv);
}

/* Has this completion of a fence to be lost? */
static inline bool rpcrdma_fail_fence(void)
{
	return rpcrdma_fail_is_chosen(&rpcrdma_fail.fa_fence);
}

/* Somebody may keep the page that @data is in for longer than the Call it is part of. */
static inline void rpcrdma_fail_keep_page(const void *data)
{
	if (unlikely(READ_ONCE(rpcrdma_fail.fa_keep)))
		rpcrdma_fail_keep(data);
}

/* A task that is about to fence waits here as long as a test wants. */
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
