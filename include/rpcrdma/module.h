/* SPDX-License-Identifier: GPL-2.0 */
/* The module room: what rpcrdma_module.c puts together. */
#ifndef RPCRDMA_MODULE_H
#define RPCRDMA_MODULE_H

#include <linux/types.h>

struct rpcrdma_limits;
struct seq_file;

void rpcrdma_debugfs_init(void);
void rpcrdma_debugfs_exit(void);
void rpcrdma_debugfs_limits(struct seq_file *seq, u32 vers,
			    const struct rpcrdma_limits *limits);
int rpcrdma_sysctl_init(void);
void rpcrdma_sysctl_exit(void);

#endif /* RPCRDMA_MODULE_H */
