/* SPDX-License-Identifier: GPL-2.0 */
/* /sys/kernel/debug/rpcrdma: the counters, the memory budget of the server, a file for each
 * transport of the client and each connection of the server, and the knobs of fail.h.
 */
#ifndef RPCRDMA_DEBUGFS_H
#define RPCRDMA_DEBUGFS_H

#include <linux/types.h>

struct dentry;
struct file_operations;
struct rpcrdma_conn;
struct seq_file;

/**
 * enum rpcrdma_debugfs_side - directories for the files of transports and connections
 * @RPCRDMA_DEBUGFS_CLIENT: client/
 * @RPCRDMA_DEBUGFS_SERVER: server/
 * @RPCRDMA_DEBUGFS_SIDES: number of directories
 */
enum rpcrdma_debugfs_side {
	RPCRDMA_DEBUGFS_CLIENT,
	RPCRDMA_DEBUGFS_SERVER,
	RPCRDMA_DEBUGFS_SIDES,
};

void rpcrdma_debugfs_init(void);
void rpcrdma_debugfs_exit(void);
struct dentry *rpcrdma_debugfs_add(enum rpcrdma_debugfs_side side,
				   const char *peer, void *data,
				   const struct file_operations *fops);
struct dentry *rpcrdma_debugfs_add_file(const char *name,
					const struct file_operations *fops);
void rpcrdma_debugfs_conn(struct seq_file *seq, u32 vers,
			  const struct rpcrdma_conn *conn);

#endif /* RPCRDMA_DEBUGFS_H */
