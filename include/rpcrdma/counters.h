/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event counters of the whole module. They are per CPU and never reset. The file
 * /sys/kernel/debug/rpcrdma/counters shows them, with one line "name value" for each. Every message
 * that is dropped or refused is counted. Documentation/admin.rst says what each counter counts.
 */
#ifndef RPCRDMA_COUNTERS_H
#define RPCRDMA_COUNTERS_H

#include <linux/percpu.h>

/* One X(name) for each counter; the name is shown in debugfs */
#define RPCRDMA_COUNTERS(X)		\
	X(client_connects)		\
	X(client_disconnects)		\
	X(client_connect_errors)	\
	X(client_path_failures)		\
	X(client_path_returns)		\
	X(client_v2_connects)		\
	X(client_fallbacks)		\
	X(client_nego_failures)		\
	X(client_calls_inline)		\
	X(client_calls_read_chunk)	\
	X(client_calls_long)		\
	X(client_calls_group)		\
	X(client_calls_placed)		\
	X(client_calls_gathered)	\
	X(client_group_sends)		\
	X(client_groups_short)		\
	X(client_replies_inline)	\
	X(client_replies_write_chunk)	\
	X(client_replies_long)		\
	X(client_replies_group)		\
	X(client_sends_signaled)	\
	X(client_mrs_registered)	\
	X(client_mrs_remote_inv)	\
	X(client_mrs_local_inv)		\
	X(client_mrs_foreign)		\
	X(client_foreign_errors)	\
	X(client_receives)		\
	X(client_bad_messages)		\
	X(client_bad_replies)		\
	X(client_error_replies)		\
	X(client_resends)		\
	X(client_unknown_xids)		\
	X(client_given_up)		\
	X(client_late_replies)		\
	X(client_bad_invalidations)	\
	X(client_bc_calls)		\
	X(client_bc_replies)		\
	X(client_bc_dropped)		\
	X(server_accepts)		\
	X(server_accept_errors)		\
	X(server_wrong_kernel)		\
	X(server_disconnects)		\
	X(server_v2_connections)	\
	X(server_receives)		\
	X(server_calls_inline)		\
	X(server_calls_read_chunk)	\
	X(server_calls_long)		\
	X(server_calls_placed)		\
	X(server_replies_write_chunk)	\
	X(server_replies_long)		\
	X(server_sends)			\
	X(server_sends_inv)		\
	X(server_rdma_read_wrs)		\
	X(server_rdma_write_wrs)	\
	X(server_rdma_read_bytes)	\
	X(server_rdma_write_bytes)	\
	X(server_read_errors)		\
	X(server_sq_waits)		\
	X(server_pull_waits)		\
	X(server_loans_refused)		\
	X(server_sends_trimmed)		\
	X(server_pages_allocated)	\
	X(server_pages_reused)		\
	X(server_dropped)		\
	X(server_bad_headers)		\
	X(server_errors)		\
	X(server_calls_group)		\
	X(server_replies_group)		\
	X(server_reply_too_large)	\
	X(server_bc_calls)		\
	X(server_bc_replies)		\
	X(server_bc_dropped)		\
	X(server_bc_given_up)		\
	X(receives_renewed)		\
	X(send_events)			\
	X(keepalive_probes)		\
	X(keepalive_failures)		\
	X(progress_failures)		\
	X(groups_received)		\
	X(groups_broken)

enum rpcrdma_counter {
#define X(name) RPCRDMA_CNT_##name,
	RPCRDMA_COUNTERS(X)
#undef X
	RPCRDMA_CNT_MAX
};

struct rpcrdma_counts {
	u64	ct_value[RPCRDMA_CNT_MAX];
};

DECLARE_PER_CPU(struct rpcrdma_counts, rpcrdma_counts);

#define rpcrdma_count(name) \
	this_cpu_inc(rpcrdma_counts.ct_value[RPCRDMA_CNT_##name])
#define rpcrdma_count_add(name, n) \
	this_cpu_add(rpcrdma_counts.ct_value[RPCRDMA_CNT_##name], (n))

u64 rpcrdma_counter_read(enum rpcrdma_counter which);

#endif /* RPCRDMA_COUNTERS_H */
