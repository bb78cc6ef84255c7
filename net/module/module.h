/* SPDX-License-Identifier: GPL-2.0 */
/* Private to net/module. */
#ifndef RPCRDMA_MODULE_H
#define RPCRDMA_MODULE_H

int rpcrdma_sysctl_init(void);
void rpcrdma_sysctl_exit(void);

#endif /* RPCRDMA_MODULE_H */
