// SPDX-License-Identifier: GPL-2.0
/* Module: loading and unloading. */
#include <linux/module.h>
#include <rpcrdma/debugfs.h>
#include <rpcrdma/send_cq.h>

#include "../client/xprt_rdma.h"
#include "../server/svc_rdma.h"
#include "module.h"

static int __init rpcrdma_init(void)
{
	int rc;

	rc = rpcrdma_send_cq_init();
	if (rc)
		return rc;
	rc = rpcrdma_device_init();
	if (rc)
		goto out_send_cq;
	rpcrdma_debugfs_init();
	rc = svc_rdma_init();
	if (rc)
		goto out_debugfs;
	rc = xprt_rdma_init();
	if (rc)
		goto out_server;
	rc = rpcrdma_sysctl_init();
	if (rc)
		goto out_client;
	return 0;

out_client:
	xprt_rdma_exit();
out_server:
	svc_rdma_exit();
out_debugfs:
	rpcrdma_debugfs_exit();
	rpcrdma_device_exit();
out_send_cq:
	rpcrdma_send_cq_exit();
	if (rc != -EEXIST)
		return rc;
	/* modprobe would take -EEXIST to mean that this module is already loaded, and
	 * would report nothing.
	 */
	pr_err("rpcrdma: another module already provides RPC over RDMA: unload it first\n");
	return -EBUSY;
}

static void __exit rpcrdma_exit(void)
{
	rpcrdma_sysctl_exit();
	xprt_rdma_exit();
	svc_rdma_exit();
	rpcrdma_debugfs_exit();
	rpcrdma_device_exit();
	rpcrdma_send_cq_exit();
}

module_init(rpcrdma_init);
module_exit(rpcrdma_exit);

MODULE_AUTHOR("The rpcrdma project");
MODULE_DESCRIPTION("sunrpc over RDMA, client and server");
/* The version includes the commit if the build knows it: see Kbuild. */
MODULE_VERSION(RPCRDMA_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS("svcrdma");
MODULE_ALIAS("xprtrdma");
MODULE_ALIAS("rpcrdma6");
