/* SPDX-License-Identifier: GPL-2.0 */
/* The module room: what rpcrdma_module.c puts together. */
#ifndef RPCRDMA_MODULE_H
#define RPCRDMA_MODULE_H

void rpcrdma_debugfs_init(void);
void rpcrdma_debugfs_exit(void);
int rpcrdma_sysctl_init(void);
void rpcrdma_sysctl_exit(void);

#endif /* RPCRDMA_MODULE_H */
