// SPDX-License-Identifier: GPL-2.0
/*
 * The event counters of the whole module (counters.h), and its debugfs directory: the counters, a
 * file for each transport of the client and each connection of the server, and files that other
 * code of the module adds.
 *
 * Operation
 *
 * Client and server create the file of a transport or connection, and remove the file before
 * they free the object. debugfs_remove() waits for readers and admits no new ones, so a reader
 * needs no reference to the object that it shows. A reader takes no lock that is held while a
 * file is removed.
 */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/debugfs.h>
#include <rpcrdma/fail.h>

DEFINE_PER_CPU(struct rpcrdma_counts, rpcrdma_counts);
EXPORT_PER_CPU_SYMBOL_GPL(rpcrdma_counts);	/* for unit tests */

/**
 * rpcrdma_counter_read - sum of a counter over all CPUs
 * @which: counter
 *
 * Context: any.
 * Return: value of the counter, which starts at 0 when the module is loaded.
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

static int rpcrdma_debugfs_counters_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < RPCRDMA_CNT_MAX; i++)
		seq_printf(seq, "%s %llu\n", rpcrdma_counter_names[i],
			   rpcrdma_counter_read(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rpcrdma_debugfs_counters);

static struct dentry *
rpcrdma_debugfs_create(const char *name, struct dentry *parent, void *data,
		       const struct file_operations *fops)
{
	struct dentry *dentry;

	dentry = debugfs_create_file(name, 0444, parent, data, fops);
	return IS_ERR(dentry) ? NULL : dentry;
}

/**
 * rpcrdma_debugfs_add - create the file of a transport or connection
 * @side: directory for the file
 * @peer: name of the peer, used in the file's name
 * @data: private data of the seq_file, valid until the file is removed
 * @fops: file operations made by DEFINE_SHOW_ATTRIBUTE()
 *
 * Context: process; sleeps.
 * Return: dentry for debugfs_remove(), or NULL if the file could not be created.
 */
struct dentry *rpcrdma_debugfs_add(enum rpcrdma_debugfs_side side,
				   const char *peer, void *data,
				   const struct file_operations *fops)
{
	static atomic_t number = ATOMIC_INIT(0);
	char name[RPCRDMA_DEBUGFS_NAME];

	/* The number keeps names unique: a client may have several transports to one
	 * server, and may connect from a port again while the server still has a file for
	 * the old connection from this port.
	 */
	snprintf(name, sizeof(name), "%s-%u", peer,
		 (u32)atomic_inc_return(&number));
	return rpcrdma_debugfs_create(name, rpcrdma_debugfs_sides[side], data,
				      fops);
}

/**
 * rpcrdma_debugfs_add_file - create a file that belongs to no connection
 * @name: name of the file
 * @fops: file operations made by DEFINE_SHOW_ATTRIBUTE()
 *
 * Context: process; sleeps.
 * Return: dentry for debugfs_remove(), or NULL if the file could not be created.
 */
struct dentry *rpcrdma_debugfs_add_file(const char *name,
					const struct file_operations *fops)
{
	return rpcrdma_debugfs_create(name, rpcrdma_debugfs_dir, NULL, fops);
}

/**
 * rpcrdma_debugfs_conn - show the state of a connection of a client or server
 * @seq: file
 * @vers: version of the connection, or 0 if it is not settled yet
 * @conn: connection in any state. It may be set up again at the same time, so this
 *	follows no pointer in it and takes none of its locks.
 *
 * Context: process.
 */
void rpcrdma_debugfs_conn(struct seq_file *seq, u32 vers,
			  const struct rpcrdma_conn *conn)
{
	static const char * const states[] = {
		[RPCRDMA_CONN_NEW]	= "new",
		[RPCRDMA_CONN_OPENING]	= "opening",
		[RPCRDMA_CONN_UP]	= "up",
	};
	enum rpcrdma_conn_state state = READ_ONCE(conn->cn_state);
	int error = READ_ONCE(conn->cn_error);
	bool down = state == RPCRDMA_CONN_NEW || error;
	const struct rpcrdma_recv_pool *recvs = &conn->cn_recvs;
	const struct rpcrdma_limits *limits = &conn->cn_limits;
	u32 waiting = atomic_read(&recvs->rp_nwaiting);
	u32 held = atomic_read(&recvs->rp_nheld);
	u32 count = READ_ONCE(recvs->rp_count);

	seq_printf(seq, "state %s\n", error ? "down" : states[state]);
	seq_printf(seq, "error %d\n", error);
	seq_printf(seq, "version %u\n", down ? 0 : vers);
	seq_printf(seq, "vector %u\n", READ_ONCE(conn->cn_vector));
	seq_printf(seq, "inline_send %u\n", READ_ONCE(limits->lm_inline_send));
	seq_printf(seq, "inline_recv %u\n", READ_ONCE(limits->lm_inline_recv));
	seq_printf(seq, "rbsiz %u\n", READ_ONCE(limits->lm_peer_recv));
	seq_printf(seq, "remote_inv %u\n", READ_ONCE(limits->lm_remote_inv));
	seq_printf(seq, "peer_spoke %u\n", READ_ONCE(limits->lm_peer_spoke));
	seq_printf(seq, "brs %u\n", READ_ONCE(limits->lm_brs));
	seq_printf(seq, "our_brs %u\n", RPCRDMA2_OUR_BRS);
	seq_printf(seq, "receives %u\n", count);
	/* Inexact while the counters change. Receives that were taken out of the pool and are not
	 * freed yet count, too.
	 */
	seq_printf(seq, "receives_posted %u\n",
		   down ? 0 : count - min(count, waiting + held));
	seq_printf(seq, "receives_held %u\n", held);
	seq_printf(seq, "receives_bytes %llu\n", READ_ONCE(recvs->rp_bytes));
}

/**
 * rpcrdma_debugfs_init - create /sys/kernel/debug/rpcrdma
 *
 * If the kernel has no debugfs, the module works without these files.
 *
 * Context: module load, before anything can make a connection.
 */
void rpcrdma_debugfs_init(void)
{
	rpcrdma_debugfs_dir = debugfs_create_dir("rpcrdma", NULL);
	debugfs_create_file("counters", 0444, rpcrdma_debugfs_dir, NULL,
			    &rpcrdma_debugfs_counters_fops);
	rpcrdma_debugfs_sides[RPCRDMA_DEBUGFS_CLIENT] =
		debugfs_create_dir("client", rpcrdma_debugfs_dir);
	rpcrdma_debugfs_sides[RPCRDMA_DEBUGFS_SERVER] =
		debugfs_create_dir("server", rpcrdma_debugfs_dir);
	if (IS_ENABLED(CONFIG_FAULT_INJECTION))
		rpcrdma_fail_create_files(rpcrdma_debugfs_dir);
}

/**
 * rpcrdma_debugfs_exit - remove /sys/kernel/debug/rpcrdma
 *
 * Context: module unload, or failed load; no transport or connection has a file any more.
 */
void rpcrdma_debugfs_exit(void)
{
	debugfs_remove_recursive(rpcrdma_debugfs_dir);
	if (IS_ENABLED(CONFIG_FAULT_INJECTION))
		rpcrdma_fail_remove_files();
}
