/* SPDX-License-Identifier: GPL-2.0 */
/* The module room: what module/main.c puts together. */
#ifndef RPCRDMA_MODULE_H
#define RPCRDMA_MODULE_H

#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/sunrpc/xprt.h>
#include <linux/types.h>

struct dentry;
struct file_operations;
struct rpcrdma_conn;
struct seq_file;

/**
 * enum rpcrdma_debugfs_side - directories of connections
 * @RPCRDMA_DEBUGFS_CLIENT: client/
 * @RPCRDMA_DEBUGFS_SERVER: server/
 * @RPCRDMA_DEBUGFS_SIDES: how many there are
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
void rpcrdma_debugfs_conn(struct seq_file *seq, u32 vers,
			  const struct rpcrdma_conn *conn);
int rpcrdma_sysctl_init(void);
void rpcrdma_sysctl_exit(void);

/* rpcrdma_param_range(name, var, min, max) - a module parameter, an unsigned int
 * with the bounds of the sysctl beside it: what is out of range is refused with
 * -EINVAL, also when the module is loaded.
 */
#define rpcrdma_param_range(name, var, min, max)			\
	static int var##_set(const char *val,				\
			     const struct kernel_param *kp)		\
	{								\
		return param_set_uint_minmax(val, kp, min, max);	\
	}								\
	static const struct kernel_param_ops var##_ops = {		\
		.set	= var##_set,					\
		.get	= param_get_uint,				\
	};								\
	module_param_cb(name, &var##_ops, &(var), 0644)

/**
 * rpcrdma_xmit_status - what to tell sunrpc about a request that was not sent
 * @rqst: the request
 * @rc: 0 or a negative errno
 *
 * sunrpc sends what is first in its queue, in the name of whoever holds the
 * send lock, and that is who gets the error. Only the request that it is about
 * may fail for good: a bystander comes back later.
 *
 * Context: any; send lock held.
 * Return: @rc; or %-ENOBUFS instead of what would end a bystander.
 */
static inline int rpcrdma_xmit_status(const struct rpc_rqst *rqst, int rc)
{
	if (rqst->rq_task == rqst->rq_xprt->snd_task)
		return rc;
	return rc == -EIO || rc == -EMSGSIZE ? -ENOBUFS : rc;
}

#endif /* RPCRDMA_MODULE_H */
