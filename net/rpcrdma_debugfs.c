// SPDX-License-Identifier: GPL-2.0
/*
 * Module: event counters, and the debugfs directory that shows them, with a
 * file for each connection of the client and the server.
 *
 * Operation
 *
 * A connection's file is made by its owner and removed before the owner is
 * freed. debugfs_remove() waits for those who are reading and lets nobody begin,
 * so what is shown needs no reference. A reader takes no lock that anybody
 * holds over removing a file.
 */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/module.h>

DEFINE_PER_CPU(struct rpcrdma_counts, rpcrdma_counts);
/* For unit tests */
EXPORT_PER_CPU_SYMBOL_GPL(rpcrdma_counts);

static const char * const rpcrdma_counter_names[RPCRDMA_CNT_MAX] = {
#define X(name) \
	[RPCRDMA_CNT_##name] = #name,
	RPCRDMA_COUNTERS(X)
#undef X
};

static struct dentry *rpcrdma_debugfs_dir;
static struct dentry *rpcrdma_debugfs_sides[RPCRDMA_DEBUGFS_SIDES];

/* Room for an IPv6 address in brackets, a port and a number */
#define RPCRDMA_DEBUGFS_NAME	80

/**
 * rpcrdma_counter_read - sum of a counter over all CPUs
 * @which: counter
 *
 * Context: any.
 * Return: number of events since the module was loaded.
 */
u64 rpcrdma_counter_read(enum rpcrdma_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(rpcrdma_counts, cpu).ct_value[which];
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_counter_read);

static int rpcrdma_debugfs_counters_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < RPCRDMA_CNT_MAX; i++)
		seq_printf(seq, "%s %llu\n", rpcrdma_counter_names[i],
			   rpcrdma_counter_read(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_debugfs_counters);

/**
 * rpcrdma_debugfs_add - show a connection
 * @side: whose it is
 * @peer: name of the peer; goes into the file's name
 * @data: seq_file's private, valid until the file is removed
 * @fops: made by DEFINE_SHOW_ATTRIBUTE()
 *
 * Context: process; sleeps.
 * Return: for debugfs_remove(), whatever it is.
 */
struct dentry *rpcrdma_debugfs_add(enum rpcrdma_debugfs_side side,
				   const char *peer, void *data,
				   const struct file_operations *fops)
{
	static atomic_t number = ATOMIC_INIT(0);
	char name[RPCRDMA_DEBUGFS_NAME];

	/* Two connections of one peer may have the same port, one at a time. */
	snprintf(name, sizeof(name), "%s-%u", peer,
		 (u32)atomic_inc_return(&number));
	return debugfs_create_file(name, 0444, rpcrdma_debugfs_sides[side],
				   data, fops);
}

/**
 * rpcrdma_debugfs_conn - show what both sides' connections have
 * @seq: file
 * @conn: connection in any state. It may be set up again meanwhile: no pointer
 *	in it is followed and none of its locks is taken.
 *
 * Context: process.
 */
void rpcrdma_debugfs_conn(struct seq_file *seq, const struct rpcrdma_conn *conn)
{
	static const char * const states[] = {
		[RPCRDMA_CONN_NEW]	= "new",
		[RPCRDMA_CONN_OPENING]	= "opening",
		[RPCRDMA_CONN_UP]	= "up",
		[RPCRDMA_CONN_DOWN]	= "down",
	};
	const struct rpcrdma_limits *limits = &conn->cn_limits;
	enum rpcrdma_conn_state state = READ_ONCE(conn->cn_state);
	int waiting = atomic_read(&conn->cn_recv_nfree);
	int held = atomic_read(&conn->cn_recv_nheld);
	u32 receives = READ_ONCE(conn->cn_nrecvs);
	bool up = state == RPCRDMA_CONN_UP;

	seq_printf(seq, "state %s\n", states[state]);
	seq_printf(seq, "error %d\n", READ_ONCE(conn->cn_error));
	seq_printf(seq, "version %u\n", up ? RPCRDMA_VERS_1 : 0);
	seq_printf(seq, "inline_send %u\n", READ_ONCE(limits->lm_inline_send));
	seq_printf(seq, "inline_recv %u\n", READ_ONCE(limits->lm_inline_recv));
	seq_printf(seq, "remote_invalidation %c\n",
		   READ_ONCE(limits->lm_remote_inv) ? 'Y' : 'N');
	seq_printf(seq, "receive_size %u\n", READ_ONCE(conn->cn_recv_size));
	seq_printf(seq, "receives %u\n", receives);
	seq_printf(seq, "receives_posted %d\n",
		   up ? max_t(int, receives - waiting - held, 0) : 0);
	seq_printf(seq, "receives_held %d\n", held);
}

/**
 * rpcrdma_debugfs_init - create /sys/kernel/debug/rpcrdma
 *
 * Without debugfs the module works the same, it only shows less.
 *
 * Context: module load, before anything can make a connection.
 */
void rpcrdma_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("rpcrdma", NULL);

	debugfs_create_file("counters", 0444, dir, NULL,
			    &rpcrdma_debugfs_counters_fops);
	rpcrdma_debugfs_sides[RPCRDMA_DEBUGFS_CLIENT] =
		debugfs_create_dir("client", dir);
	rpcrdma_debugfs_sides[RPCRDMA_DEBUGFS_SERVER] =
		debugfs_create_dir("server", dir);
	rpcrdma_debugfs_dir = dir;
}

/**
 * rpcrdma_debugfs_exit - remove /sys/kernel/debug/rpcrdma
 *
 * Context: module unload, or failed load; nothing is left that has a file.
 */
void rpcrdma_debugfs_exit(void)
{
	debugfs_remove_recursive(rpcrdma_debugfs_dir);
}
