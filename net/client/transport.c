// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the rpc_xprt. This file has the transport class and its registration, setup and
 * destruction of transports, addresses as text, mountstats, the file in debugfs, and the operations
 * for swap.
 *
 * This file owns the rpc_xprt and everything that has the same lifetime. It uses no connection,
 * except to show it in debugfs: the operations in xprt_rdma_ops that use one are in other files.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc_xprt.h>
#include <net/net_namespace.h>
#include <rpcrdma/debugfs.h>

#include "nvfs.h"
#include "trace.h"
#include "xprt_rdma.h"

unsigned int xprt_rdma_slot_table_entries = XPRT_RDMA_DEF_SLOTS;
unsigned int xprt_rdma_max_inline_read = XPRT_RDMA_DEF_INLINE;
unsigned int xprt_rdma_max_inline_write = XPRT_RDMA_DEF_INLINE;

#define XPRT_RDMA_BIND_TIMEOUT		(60 * HZ)
#define XPRT_RDMA_IDLE_TIMEOUT		(5 * 60 * HZ)

static const struct rpc_timeout xprt_rdma_default_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static void xprt_rdma_format_port(struct xprt_rdma *xr, u16 port)
{
	snprintf(xr->xr_port, sizeof(xr->xr_port), "%u", port);
	snprintf(xr->xr_hex_port, sizeof(xr->xr_hex_port), "%4hx", port);
}

static int xprt_rdma_format_addr(struct rpc_xprt *xprt)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&xprt->addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)&xprt->addr;
	struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	char buf[INET6_ADDRSTRLEN + IPV6_SCOPE_ID_LEN];
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	switch (sap->sa_family) {
	case AF_INET:
		xprt->address_strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA;
		snprintf(xr->xr_hex_addr, sizeof(xr->xr_hex_addr), "%08x",
			 ntohl(sin->sin_addr.s_addr));
		break;
	case AF_INET6:
		xprt->address_strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA6;
		snprintf(xr->xr_hex_addr, sizeof(xr->xr_hex_addr), "%pi6",
			 &sin6->sin6_addr);
		break;
	default:
		return -EAFNOSUPPORT;
	}
	rpc_ntop(sap, buf, sizeof(buf));
	/* If an administrator changes the address (dstaddr in sysfs), sunrpc frees this string. */
	xprt->address_strings[RPC_DISPLAY_ADDR] = kstrdup(buf, GFP_KERNEL);
	xprt->address_strings[RPC_DISPLAY_HEX_ADDR] = xr->xr_hex_addr;
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_PORT] = xr->xr_port;
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] = xr->xr_hex_port;
	xprt_rdma_format_port(xr, rpc_get_port(sap));
	return xprt->address_strings[RPC_DISPLAY_ADDR] ? 0 : -ENOMEM;
}

static void xprt_rdma_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	xprt_rdma_format_port(xprt_rdma_from(xprt), port);
}

static int xprt_rdma_get_srcaddr(struct rpc_xprt *xprt, char *buf,
				 size_t buflen)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	if (xr->xr_srcaddr.ss_family == AF_UNSPEC)
		return -ENOTCONN;
	return rpc_ntop((struct sockaddr *)&xr->xr_srcaddr, buf, buflen);
}

static unsigned short xprt_rdma_get_srcport(struct rpc_xprt *xprt)
{
	return rpc_get_port((struct sockaddr *)
			    &xprt_rdma_from(xprt)->xr_srcaddr);
}

/* nfsiostat and mountstats expect exactly these columns. Two of them mean nothing in this module,
 * and are 0.
 */
static void xprt_rdma_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	const struct xprt_rdma_stats *st = &xprt_rdma_from(xprt)->xr_stats;
	long idle = 0;

	if (xprt_connected(xprt))
		idle = (long)(jiffies - xprt->last_used) / HZ;
	seq_printf(seq,
		   "\txprt:\trdma %u %lu %lu %lu %ld %lu %lu %lu %llu %llu ",
		   xprt_rdma_get_srcport(xprt), xprt->stat.bind_count,
		   xprt->stat.connect_count, xprt->stat.connect_time / HZ,
		   idle, xprt->stat.sends, xprt->stat.recvs,
		   xprt->stat.bad_xids, xprt->stat.req_u, xprt->stat.bklog_u);
	seq_printf(seq, "%lu %lu %lu %llu %llu %llu %llu %lu %lu %lu %lu ",
		   st->cs_read_chunks, st->cs_write_chunks,
		   st->cs_reply_chunks, st->cs_bytes_out, st->cs_bytes_in,
		   st->cs_pullup, st->cs_fixup,
		   (unsigned long)atomic_long_read(&st->cs_hardway),
		   st->cs_failed_marshals, st->cs_bad_replies,
		   st->cs_nomsg_calls);
	seq_printf(seq, "%lu %lu %lu %lu %lu %lu\n",
		   st->cs_recycled, 0UL, st->cs_allocated, st->cs_local_inv,
		   st->cs_empty_sends, 0UL);
}

/* The file /sys/kernel/debug/rpcrdma/client/<address>:<port>-<number> shows a transport. It exists
 * as long as the transport, even while there is no connection, because it also shows why a
 * connection ended. So a new connection may be set up while the file is read: see
 * rpcrdma_debugfs_conn(). Reading the file changes nothing, and never takes the send lock
 * (XPRT_LOCKED).
 */
static int xprt_rdma_debugfs_show(struct seq_file *seq, void *unused)
{
	struct xprt_rdma *xr = seq->private;
	const struct rpcrdma_window *win = &xr->xr_window;
	const struct rpcrdma_sq *sq = &xr->xr_conn.cn_sq;
	const struct rpc_xprt *xprt = &xr->xr_xprt;

	seq_printf(seq, "peer %pISpc\n", &xprt->addr);
	/* Before the first connection, xr_srcaddr is empty, and "(einval)" is shown. */
	seq_printf(seq, "source %pISpc\n", &xr->xr_srcaddr);
	/* Before the first attempt to connect, np_dst is empty, and "(einval)" is shown. */
	seq_printf(seq, "destination %pISpc\n", &xr->xr_path.np_dst);
	seq_printf(seq, "number %u\n", READ_ONCE(xr->xr_paths.th_number));
	seq_printf(seq, "path %u\n", READ_ONCE(xr->xr_paths.th_path));
	seq_printf(seq, "paths %u\n", READ_ONCE(xr->xr_paths.th_count));
	seq_printf(seq, "netns %u\n", xprt->xprt_net->ns.inum);
	seq_printf(seq, "device %s\n", xr->xr_device);
	rpcrdma_debugfs_conn(seq, READ_ONCE(xr->xr_vers), &xr->xr_conn);
	seq_printf(seq, "v1_only %u\n", READ_ONCE(xr->xr_v1_only));
	seq_printf(seq, "round_trip_us %u\n",
		   (u32)ktime_to_us(READ_ONCE(xr->xr_conn.cn_rtt)));
	seq_printf(seq, "write_max %u\n", READ_ONCE(xr->xr_write_max));
	seq_printf(seq, "credits_requested %u\n", READ_ONCE(win->wn_requested));
	seq_printf(seq, "credits_granted %u\n", READ_ONCE(win->wn_granted));
	seq_printf(seq, "credits_in_flight %lu\n", READ_ONCE(xprt->cong) >> RPC_CWNDSHIFT);
	seq_printf(seq, "credits_owed %u\n", READ_ONCE(win->wn_owed));
	seq_printf(seq, "credits_more %u\n", READ_ONCE(win->wn_more));
	seq_printf(seq, "callback_credits %u\n",
		   READ_ONCE(xr->xr_bc_enabled) ? XPRT_RDMA_BC_REQUESTS : 0);
	seq_printf(seq, "slots %u\n", READ_ONCE(xr->xr_nreqs));
	seq_printf(seq, "send_queue_free %d\n", atomic_read(&sq->sq_free));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(xprt_rdma_debugfs);

/* Counts the rpc_clnts that use the transport for swap. While there are any, sunrpc lets tasks
 * that send on the transport use the kernel's memory reserve, and connecting and closing may
 * use the reserve as well (xprt_rdma_memalloc_save()). Nothing else has to be prepared, since
 * each connection is created with the resources that one RPC needs (I33).
 */
static int xprt_rdma_enable_swap(struct rpc_xprt *xprt)
{
	atomic_inc(&xprt->swapper);
	return 0;
}

/* When swap is disabled, sunrpc calls this for all transports of the rpc_clnt. For a transport
 * that was added after swap was enabled, xprt_rdma_enable_swap() was not called. So its counter may
 * be 0, and must not become negative.
 */
static void xprt_rdma_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec_if_positive(&xprt->swapper);
}

static void xprt_rdma_free(struct xprt_rdma *xr)
{
	xprt_rdma_paths_leave(xr);
	xprt_rdma_req_destroy_all(xr);
	kfree(xr->xr_xprt.address_strings[RPC_DISPLAY_ADDR]);
	kvfree(xr->xr_owed);
	xprt_free(&xr->xr_xprt);
	module_put(THIS_MODULE);
}

/* When sunrpc calls this, no RPC uses the transport any more. sunrpc has taken the send lock, so
 * no attempt to connect is in progress.
 */
static void xprt_rdma_destroy(struct rpc_xprt *xprt)
{
	struct xprt_rdma *xr = xprt_rdma_from(xprt);

	debugfs_remove(xr->xr_debugfs);
	cancel_delayed_work_sync(&xr->xr_again_work);
	xprt_rdma_connect_exit(xr);
	xprt_rdma_bc_destroy(xprt, 0);
	xprt_rdma_free(xr);
}

static const struct rpc_xprt_ops xprt_rdma_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_rdma_release_xprt,
	.alloc_slot		= xprt_rdma_req_alloc_slot,
	.free_slot		= xprt_rdma_req_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= xprt_rdma_set_port,
	.connect		= xprt_rdma_connect,
	.get_srcaddr		= xprt_rdma_get_srcaddr,
	.get_srcport		= xprt_rdma_get_srcport,
	.buf_alloc		= xprt_rdma_req_alloc_buf,
	.buf_free		= xprt_rdma_req_free_buf,
	.send_request		= xprt_rdma_send_request,
	.wait_for_reply_request	= xprt_rdma_reply_wait,
	.timer			= xprt_rdma_timer,
	.release_request	= xprt_rdma_credit_release,
	.close			= xprt_rdma_close,
	.destroy		= xprt_rdma_destroy,
	.set_connect_timeout	= xprt_rdma_set_connect_timeout,
	.print_stats		= xprt_rdma_print_stats,
	.enable_swap		= xprt_rdma_enable_swap,
	.disable_swap		= xprt_rdma_disable_swap,
	.inject_disconnect	= xprt_rdma_inject_disconnect,
#ifdef CONFIG_SUNRPC_BACKCHANNEL
	.bc_setup		= xprt_rdma_bc_setup,
	.bc_maxpayload		= xprt_rdma_bc_maxpayload,
	.bc_num_slots		= xprt_rdma_bc_num_slots,
	.bc_free_rqst		= xprt_rdma_bc_free_rqst,
	.bc_destroy		= xprt_rdma_bc_destroy,
#endif
};

static struct xprt_class xprt_rdma_class;

static void xprt_rdma_init_xprt(struct xprt_rdma *xr,
				const struct xprt_create *args)
{
	struct rpc_xprt *xprt = &xr->xr_xprt;

	xprt_rdma_connect_init(xr);
	INIT_LIST_HEAD(&xr->xr_paths.th_list);
	INIT_LIST_HEAD(&xr->xr_req_free);
	INIT_LIST_HEAD(&xr->xr_req_all);
	xprt_rdma_credit_init(xr);
	INIT_LIST_HEAD(&xr->xr_mr_free);
	INIT_LIST_HEAD(&xr->xr_mr_all);
	spin_lock_init(&xr->xr_lock);
	INIT_LIST_HEAD(&xr->xr_send_free);
	INIT_LIST_HEAD(&xr->xr_send_busy);
	INIT_LIST_HEAD(&xr->xr_bc_free);
	INIT_LIST_HEAD(&xr->xr_bc_waiting);
	init_waitqueue_head(&xr->xr_waitq);

	xprt->timeout = &xprt_rdma_default_timeout;
	xprt->connect_timeout = xprt->timeout->to_initval;
	xprt->max_reconnect_timeout = xprt->timeout->to_maxval;
	xprt->bind_timeout = XPRT_RDMA_BIND_TIMEOUT;
	xprt->reestablish_timeout = XPRT_RDMA_REESTABLISH_MIN;
	xprt->idle_timeout = XPRT_RDMA_IDLE_TIMEOUT;
	xprt->ops = &xprt_rdma_ops;
	xprt->max_payload = XPRT_RDMA_MAX_PAYLOAD;
	/* sunrpc uses this protocol to ask the server's rpcbind for a port. */
	xprt->prot = IPPROTO_TCP;
	xprt->xprt_class = &xprt_rdma_class;
	xprt->addrlen = args->addrlen;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);
	xprt_rdma_set_connect_timeout(xprt,
				      xprt_rdma_connect_wanted(args),
				      xprt_rdma_reconnect_wanted(args));
}

static struct rpc_xprt *xprt_rdma_setup(struct xprt_create *args)
{
	char peer[INET6_ADDRSTRLEN + sizeof("[]:65535")];
	struct rpc_xprt *xprt;
	struct xprt_rdma *xr;
	int rc = -ENOMEM;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	/* NFS itself refuses xprtsec= for an RDMA mount. But if a server that is mounted
	 * with TLS refers the client to another server, NFS tries RDMA first, although
	 * RDMA has no TLS. That attempt is refused here, so that no data is sent
	 * unencrypted. NFS then tries TCP with TLS.
	 */
	if (xprt_rdma_xprtsec(args) != RPC_XPRTSEC_NONE) {
		trace_xprt_rdma_no_tls(args);
		return ERR_PTR(-EPROTONOSUPPORT);
	}
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-EIO);

	xprt = xprt_alloc(args->net, sizeof(struct xprt_rdma), 0,
			  xprt_rdma_slot_table_entries);
	if (!xprt)
		goto out_put_module;
	xr = xprt_rdma_from(xprt);
	xprt_rdma_init_xprt(xr, args);
	xprt_rdma_paths_join(xr);

	/* Each entry of xr_owed stands for a Call that uses a credit, and never more than
	 * max_reqs credits are in use.
	 */
	xr->xr_owed = kvmalloc_array(xprt->max_reqs, sizeof(*xr->xr_owed),
				     GFP_KERNEL);
	if (xr->xr_owed)
		rc = xprt_rdma_req_reserve(xr);
	if (!rc)
		rc = xprt_rdma_format_addr(xprt);
	if (rc) {
		xprt_rdma_free(xr);
		return ERR_PTR(rc);
	}
	snprintf(peer, sizeof(peer), "%pISpc", &xprt->addr);
	xr->xr_debugfs = rpcrdma_debugfs_add(RPCRDMA_DEBUGFS_CLIENT, peer, xr,
					     &xprt_rdma_debugfs_fops);
	return xprt;

out_put_module:
	module_put(THIS_MODULE);
	return ERR_PTR(rc);
}

static struct xprt_class xprt_rdma_class = {
	.list	= LIST_HEAD_INIT(xprt_rdma_class.list),
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= xprt_rdma_setup,
	.netid	= { "rdma", "rdma6", "" },
};

/**
 * xprt_rdma_init - offer the client transport to sunrpc
 *
 * Context: module load.
 * Return: 0; %-ENOMEM or another error of register_pernet_subsys(); %-EEXIST if another module
 *	provides a transport of this kind.
 */
int xprt_rdma_init(void)
{
	int rc;

	rc = register_pernet_subsys(&xprt_rdma_net_ops);
	if (rc)
		return rc;
	rc = IS_ENABLED(CONFIG_RPCRDMA_GPU) ? xprt_rdma_foreign_init() : 0;
	if (rc)
		goto out_paths;
	rc = -ENOMEM;
	xprt_rdma_connect_wq = alloc_workqueue("rpcrdma_connect",
					       WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!xprt_rdma_connect_wq)
		goto out_foreign;
	rc = xprt_register_transport(&xprt_rdma_class);
	if (rc)
		goto out_connect;
	return 0;

out_connect:
	destroy_workqueue(xprt_rdma_connect_wq);
out_foreign:
	if (IS_ENABLED(CONFIG_RPCRDMA_GPU))
		xprt_rdma_foreign_exit();
out_paths:
	unregister_pernet_subsys(&xprt_rdma_net_ops);
	return rc;
}

/**
 * xprt_rdma_exit - withdraw the client transport
 *
 * Context: module unload, or failed load.
 */
void xprt_rdma_exit(void)
{
	xprt_unregister_transport(&xprt_rdma_class);
	destroy_workqueue(xprt_rdma_connect_wq);
	if (IS_ENABLED(CONFIG_RPCRDMA_GPU))
		xprt_rdma_foreign_exit();
	unregister_pernet_subsys(&xprt_rdma_net_ops);
}
