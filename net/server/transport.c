// SPDX-License-Identifier: GPL-2.0
/*
 * The transport class of the server, and its listeners. This file never looks into a
 * connection: server/accept.c handles connect requests.
 *
 * A listener is a struct svc_xprt that owns a CM id.
 *
 * If the CM id of a listener is bound to the address of a device, the id becomes useless
 * when the device is removed, or when the hardware address of its network interface changes.
 * A work item then destroys the id, and listens with a new one. If that fails, it tries again until
 * it succeeds. So a listener survives its device.
 *
 * Only this work item makes ids, also the first one, and the id's event handler never destroys it.
 * A work item never runs twice at a time. So no lock is needed, and the work item finds the id in
 * sl_id, even if the event came before rdma_listen() had returned.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/debugfs.h>

#include "svc_rdma.h"
#include "trace.h"

/* If a listener cannot listen, time in jiffies after which it tries again */
#define SVC_RDMA_RELISTEN	(2 * HZ)

static struct svc_xprt_class svc_rdma_class;

static struct svc_rdma_listener *svc_rdma_listener_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svc_rdma_listener, sl_xprt);
}

/* For a connect request, returns non-zero to have the CM core destroy @id. */
static int svc_rdma_listen_event(struct rdma_cm_id *id,
				 struct rdma_cm_event *event)
{
	struct svc_rdma_listener *sl = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return svc_rdma_connect_request(sl, id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		schedule_delayed_work(&sl->sl_relisten, 0);
		return 0;
	default:
		return 0;
	}
}

static void svc_rdma_unlisten(struct svc_rdma_listener *sl)
{
	if (!IS_ERR_OR_NULL(sl->sl_id))
		rpcrdma_device_destroy_id(sl->sl_id);
}

static struct rdma_cm_id *svc_rdma_listen(struct svc_rdma_listener *sl)
{
	struct sockaddr *sa = (struct sockaddr *)&sl->sl_addr;
	struct rdma_cm_id *id;
	int rc;

	id = rdma_create_id(sl->sl_xprt.xpt_net, svc_rdma_listen_event, sl,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;

	/* A listener for IPv6 must leave IPv4 to another listener on the same port */
	rc = 0;
	if (sa->sa_family == AF_INET6)
		rc = rdma_set_afonly(id, 1);
	if (!rc)
		rc = rdma_bind_addr(id, sa);
	if (rc)
		goto out_destroy;

	/* Port 0 means any port. Keep the port that was chosen: if this listener ever needs
	 * another id, that id must get the same port.
	 */
	memcpy(sa, &id->route.addr.src_addr, svc_addr_len(sa));
	rc = rdma_listen(id, SVC_RDMA_BACKLOG);
	if (rc)
		goto out_destroy;

	trace_svc_rdma_listen(sa, 0);
	return id;

out_destroy:
	rpcrdma_device_destroy_id(id);
	trace_svc_rdma_listen(sa, rc);
	return ERR_PTR(rc);
}

/* The present id, if there is one, is destroyed before a new one is made, because two ids cannot
 * have the same port.
 */
static void svc_rdma_relisten_work(struct work_struct *work)
{
	struct svc_rdma_listener *sl = container_of(to_delayed_work(work),
						    struct svc_rdma_listener,
						    sl_relisten);

	svc_rdma_unlisten(sl);
	sl->sl_id = svc_rdma_listen(sl);
	if (IS_ERR(sl->sl_id))
		schedule_delayed_work(&sl->sl_relisten, SVC_RDMA_RELISTEN);
}

static void svc_rdma_listener_detach(struct svc_xprt *xprt)
{
	struct svc_rdma_listener *sl = svc_rdma_listener_of(xprt);

	/* After the work item is disabled, no new id is made. When the present id has been
	 * destroyed, no new connection arrives.
	 */
	disable_delayed_work_sync(&sl->sl_relisten);
	svc_rdma_unlisten(sl);
	svc_rdma_pending_discard(sl);
}

static struct svc_xprt *svc_rdma_listener_create(struct svc_serv *serv,
						 struct net *net,
						 struct sockaddr *sa, int salen,
						 int flags)
{
	struct svc_rdma_listener *sl;
	struct rdma_cm_id *id;

	if (!svc_rdma_pages_fit())
		return ERR_PTR(-ENOEXEC);
	if (!svc_rdma_family_is_ip(sa))
		return ERR_PTR(-EAFNOSUPPORT);
	sl = kzalloc(sizeof(*sl), GFP_KERNEL);
	if (!sl)
		return ERR_PTR(-ENOMEM);

	svc_xprt_init(net, &svc_rdma_class, &sl->sl_xprt, serv);
	set_bit(XPT_LISTENER, &sl->sl_xprt.xpt_flags);
	set_bit(XPT_CONG_CTRL, &sl->sl_xprt.xpt_flags);
	strscpy(sl->sl_xprt.xpt_remotebuf, "listener",
		sizeof(sl->sl_xprt.xpt_remotebuf));
	spin_lock_init(&sl->sl_lock);
	INIT_LIST_HEAD(&sl->sl_pending);
	INIT_DELAYED_WORK(&sl->sl_relisten, svc_rdma_relisten_work);
	memcpy(&sl->sl_addr, sa, min_t(size_t, salen, sizeof(sl->sl_addr)));

	schedule_delayed_work(&sl->sl_relisten, 0);
	/* Does not start the work item again if it has failed */
	flush_work(&sl->sl_relisten.work);
	id = READ_ONCE(sl->sl_id);
	if (IS_ERR(id)) {
		svc_rdma_listener_detach(&sl->sl_xprt);
		svc_rdma_discard(&sl->sl_xprt);
		return ERR_CAST(id);
	}
	svc_xprt_set_local(&sl->sl_xprt, (struct sockaddr *)&sl->sl_addr,
			   svc_addr_len(sa));
	return &sl->sl_xprt;
}

static void svc_rdma_listener_free(struct svc_xprt *xprt)
{
	kfree(svc_rdma_listener_of(xprt));
}

static int svc_rdma_listener_has_wspace(struct svc_xprt *xprt)
{
	return 1;
}

static int svc_rdma_listener_recvfrom(struct svc_rqst *rqstp)
{
	return 0;
}

static int svc_rdma_listener_sendto(struct svc_rqst *rqstp)
{
	return -ENOTCONN;
}

static void svc_rdma_listener_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

static const struct svc_xprt_ops svc_rdma_listener_svc_ops = {
	.xpo_create		= svc_rdma_listener_create,
	.xpo_accept		= svc_rdma_accept,
	.xpo_recvfrom		= svc_rdma_listener_recvfrom,
	.xpo_sendto		= svc_rdma_listener_sendto,
	.xpo_release_ctxt	= svc_rdma_listener_release_ctxt,
	.xpo_detach		= svc_rdma_listener_detach,
	.xpo_free		= svc_rdma_listener_free,
	.xpo_has_wspace		= svc_rdma_listener_has_wspace,
	.xpo_kill_temp_xprt	= svc_rdma_kill_temp_xprt,
};

/* The debugfs file that shows the memory of the server */
static int svc_rdma_memory_show(struct seq_file *seq, void *unused)
{
	svc_rdma_budget_show(seq);
	seq_printf(seq, "stock %lu\n", svc_rdma_stock_size() << PAGE_SHIFT);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(svc_rdma_memory);

static struct dentry *svc_rdma_memory_debugfs;

static struct svc_xprt_class svc_rdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svc_rdma_listener_svc_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD_TCP,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

/**
 * svc_rdma_init - make the server available
 *
 * Context: process; module init.
 * Return: 0; %-EEXIST if another module provides this transport; %-ENOMEM.
 */
int svc_rdma_init(void)
{
	int rc;

	rc = svc_rdma_reclaim_init();
	if (rc)
		return rc;
	rc = svc_rdma_close_init();
	if (rc)
		goto out_reclaim;
	rc = xprt_register_transport(&svc_rdma_bc_class);
	if (rc)
		goto out_close;
	svc_rdma_budget_init();
	rc = svc_reg_xprt_class(&svc_rdma_class);
	if (rc)
		goto out_bc;
	svc_rdma_memory_debugfs =
		rpcrdma_debugfs_add_file("server_memory", &svc_rdma_memory_fops);
	return 0;

out_bc:
	xprt_unregister_transport(&svc_rdma_bc_class);
out_close:
	svc_rdma_close_exit();
out_reclaim:
	svc_rdma_reclaim_exit();
	return rc;
}

/**
 * svc_rdma_exit - undo svc_rdma_init()
 *
 * Context: process; module exit; sleeps. Every listener, and every connection that no longer waits
 *	to be accepted, holds a reference to the module until the last reference to that listener
 *	or connection is dropped. So no listener is left, and for each connection that is left,
 *	svc_rdma_free_work() is queued or runs.
 */
void svc_rdma_exit(void)
{
	debugfs_remove(svc_rdma_memory_debugfs);
	svc_unreg_xprt_class(&svc_rdma_class);
	xprt_unregister_transport(&svc_rdma_bc_class);
	svc_rdma_close_exit();
	svc_rdma_reclaim_exit();
}
