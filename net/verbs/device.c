// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: what an ib_device can do, and which connections are on which device. This file
 * makes sure that a device is removed only after its last connection is gone (invariant I21
 * in Documentation/locking.rst). It knows verbs, and nothing about RPC.
 *
 * rpcrdma_device_query() fills in struct rpcrdma_device_caps (size.h). Only this file finds out
 * which driver and fabric a device has.
 *
 * Operation
 *
 * The CM core releases a device too early. When it destroys a CM id, it first reports
 * that the id has left the device, and then drops the id's reference to a GID attribute
 * of the device. A task that removes the device waits only for the first step, and may
 * free the GID table before the second one.
 *
 * Therefore the module registers as a client of the RDMA core. A connection joins its
 * device as soon as it has one, and leaves when its id has been destroyed. When a device
 * is removed, rpcrdma_device_remove() takes the device off the list rpcrdma_devices, so that no
 * connection can join it any more. The function then fails all connections on the device, and
 * returns when the last one has left. The RDMA core calls its clients in the reverse order of their
 * registration: disable_device() in drivers/infiniband/core/device.c counts down the
 * client ids that assign_client_id() gave out in rising order. The connection manager
 * registered before this module, because this module depends on it. So the connection manager is
 * called after this module, and still works while the connections end.
 *
 * Nothing here needs the CM's own removal event, or waits for the event handler of an id:
 * ops->lost() tells the owner of each connection to close it.
 *
 * This module also destroys CM ids for which rpcrdma_device_remove() does not wait: the id of a
 * connection that was too late to join, the id of a connection that failed before its device was
 * known, and the id of a listener that is bound to an address of a device. Therefore
 * rpcrdma_device_destroy_id() holds a reference to the device while it destroys an id.
 * The CM core itself destroys an id if its event handler returns a non-zero value. This module
 * lets it destroy the id of a refused request. No reference is held then.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/fail.h>

/* When siw accepts a connection, it answers the peer first and installs its socket
 * callbacks afterwards. A message that arrives in between is received only when a second
 * message follows. A client begins with one credit and sends no second message. So the end
 * that connects waits for this time before it sends.
 */
#define RPCRDMA_SIW_SETTLE_MSECS	100

/* Number of bytes up to which an RDMA Write on siw is signaled, because that is cheaper. siw copies
 * the data of a signaled RDMA Write. If an RDMA Write of a page or more is unsignaled, siw passes
 * its pages to TCP, one SGE after the other. For a few pages, copying saves more than the
 * completion costs. But a work request of siw has at most 6 SGEs, so if it has more than 6 pages,
 * some SGEs cover several adjacent pages. TCP gets these in larger pieces, and copying is not
 * cheaper then.
 */
#define RPCRDMA_SIW_SIGNAL_MAX		(6 * 4096)

/* Maximum number of bytes in a Send that may be unsignaled on siw. If a Send of a page or more is
 * unsignaled, siw passes its pages to TCP. When a later Send completes, TCP may still read or
 * retransmit these pages, so their buffer must not be used again.
 */
#define RPCRDMA_SIW_UNSIGNALED_MAX	(PAGE_SIZE - 1)

/**
 * rpcrdma_device_query - read what a device can do
 * @device: device that an address resolved to, or that a connection arrived on
 * @port: port of the device
 * @caps: filled in
 *
 * On iWARP, a single steering tag names the memory that an RDMA Read fills. So a Read has one
 * SGE, whatever the device reports in max_sge_rd, and the RDMA core (rdma_rw) registers the
 * memory. On other fabrics, rdma_rw registers the memory of a large Read if the device reports
 * that this is faster (max_sgl_rd is not 0).
 *
 * siw of 7.3 answers an RDMA Read of no bytes with bytes of its own last message if it is sending
 * at that time, and the other end then breaks the connection. The peer of a siw is normally a
 * siw. So on siw no such Read is used, except in tests of a siw that does not have the fault.
 *
 * Context: any.
 */
void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps)
{
	const struct ib_device_attr *attrs = &device->attrs;

	memset(caps, 0, sizeof(*caps));
	caps->dc_max_qp_wr = rpcrdma_fail_limit(device_max_qp_wr, attrs->max_qp_wr);
	caps->dc_max_cqe = attrs->max_cqe;
	caps->dc_max_send_sge = attrs->max_send_sge;
	caps->dc_max_sge_rd = attrs->max_sge_rd;
	caps->dc_max_mr_pages =
		rpcrdma_fail_limit(device_max_mr_pages,
				   attrs->max_fast_reg_page_list_len);
	caps->dc_max_mr = attrs->max_mr;
	caps->dc_max_init_rd_atom = attrs->max_qp_init_rd_atom;
	caps->dc_max_rd_atom = attrs->max_qp_rd_atom;
	/* hns of 7.3 has no local invalidation, although it says that it has. */
	caps->dc_frwr =
		attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
		device->ops.driver_id != RDMA_DRIVER_HNS &&
		rpcrdma_size_can_register(attrs->page_size_cap, PAGE_SIZE);
	caps->dc_sg_gaps = attrs->kernel_cap_flags & IBK_SG_GAPS_REG;
	caps->dc_p2pdma = ib_dma_pci_p2p_dma_supported(device);
	caps->dc_iwarp = rdma_protocol_iwarp(device, port);
	if (caps->dc_iwarp)
		caps->dc_max_sge_rd = 1;
	caps->dc_read_mrs = caps->dc_iwarp || attrs->max_sgl_rd;
	caps->dc_unsignaled_max = U32_MAX;
	caps->dc_probe_reads = caps->dc_iwarp;
	if (device->ops.driver_id == RDMA_DRIVER_SIW) {
		caps->dc_probe_reads = rpcrdma_fails(device_probe_reads);
		caps->dc_settle = RPCRDMA_SIW_SETTLE_MSECS;
		caps->dc_signal_max = RPCRDMA_SIW_SIGNAL_MAX;
		caps->dc_unsignaled_max = RPCRDMA_SIW_UNSIGNALED_MAX;
	}
	caps->dc_softirq = device->ops.driver_id != RDMA_DRIVER_RXE;
	/* rxe of Linux 6.1 takes the lock of its queue anew for each work request. The kernel's
	 * version is not checked, so every rxe is treated like this. The other drivers hold the
	 * lock for the whole list.
	 */
	caps->dc_splits_lists = device->ops.driver_id == RDMA_DRIVER_RXE;
}

/**
 * struct rpcrdma_device - a device that connections can be on
 * @dv_device: the device
 * @dv_item: link in rpcrdma_devices, until the device is being removed
 * @dv_conns: connections on the device, linked by cn_on_device
 */
struct rpcrdma_device {
	struct ib_device	*dv_device;
	struct list_head	dv_item;
	struct list_head	dv_conns;
};

static LIST_HEAD(rpcrdma_devices);
/* Protects rpcrdma_devices and every dv_conns. Held over ops->lost() when a device is removed. */
static DEFINE_SPINLOCK(rpcrdma_device_lock);
static DECLARE_WAIT_QUEUE_HEAD(rpcrdma_device_left);

/**
 * rpcrdma_device_join - record that a connection uses its device
 * @conn: connection whose CM id has a device
 *
 * From now on and until it leaves, the connection may fail with %-ENODEV at any time.
 *
 * Context: process, CM event.
 * Return: 0; or %-ENODEV if the device is being removed, or rpcrdma_device_add() has not added it.
 */
int rpcrdma_device_join(struct rpcrdma_conn *conn)
{
	/* The CM id holds the device, so the device is not freed meanwhile, and this
	 * pointer cannot be that of another device.
	 */
	struct ib_device *device = rpcrdma_conn_device(conn);
	struct rpcrdma_device *dv;
	int rc = -ENODEV;

	spin_lock(&rpcrdma_device_lock);
	list_for_each_entry(dv, &rpcrdma_devices, dv_item) {
		if (dv->dv_device == device) {
			list_add_tail(&conn->cn_on_device, &dv->dv_conns);
			rc = 0;
			break;
		}
	}
	spin_unlock(&rpcrdma_device_lock);
	return rc;
}

/**
 * rpcrdma_device_leave - record that a connection no longer uses its device
 * @conn: connection without an id; need not have joined
 *
 * After this, removing the device no longer touches the connection.
 *
 * Context: process.
 */
void rpcrdma_device_leave(struct rpcrdma_conn *conn)
{
	spin_lock(&rpcrdma_device_lock);
	if (!list_empty(&conn->cn_on_device)) {
		list_del_init(&conn->cn_on_device);
		/* rpcrdma_device_remove() waits until the list is empty. */
		wake_up(&rpcrdma_device_left);
	}
	spin_unlock(&rpcrdma_device_lock);
}

/**
 * rpcrdma_device_destroy_id - destroy a CM id, and hold its device meanwhile
 * @id: id that nobody else destroys; it may have no device
 *
 * See the top of this file. While an id is on a device, the CM core keeps the device from being
 * freed. So it is safe to try to take a reference to the device.
 *
 * Context: process; sleeps. Not from the id's own event handler.
 */
void rpcrdma_device_destroy_id(struct rdma_cm_id *id)
{
	struct ib_device *device;

	/* Address resolution may be about to give the id its device. */
	rdma_addr_cancel(&id->route.addr.dev_addr);
	device = id->device;
	if (device && !ib_device_try_get(device))
		device = NULL;
	rdma_destroy_id(id);
	if (device)
		ib_device_put(device);
}

static struct ib_client rpcrdma_device_client;

static int rpcrdma_device_add(struct ib_device *device)
{
	struct rpcrdma_device *dv;

	dv = kzalloc(sizeof(*dv), GFP_KERNEL);
	if (!dv)
		return -ENOMEM;
	dv->dv_device = device;
	INIT_LIST_HEAD(&dv->dv_conns);
	ib_set_client_data(device, &rpcrdma_device_client, dv);

	spin_lock(&rpcrdma_device_lock);
	list_add_tail(&dv->dv_item, &rpcrdma_devices);
	spin_unlock(&rpcrdma_device_lock);
	return 0;
}

/* The wait cannot be interrupted, because this function cannot refuse the removal. */
static void rpcrdma_device_remove(struct ib_device *device, void *client_data)
{
	struct rpcrdma_device *dv = client_data;
	struct rpcrdma_conn *conn;

	spin_lock(&rpcrdma_device_lock);
	list_del(&dv->dv_item);
	/* The lock keeps connections from leaving, and from being freed, until all
	 * of them have failed.
	 */
	list_for_each_entry(conn, &dv->dv_conns, cn_on_device)
		rpcrdma_conn_fail(conn, -ENODEV);
	wait_event_cmd(rpcrdma_device_left, list_empty(&dv->dv_conns),
		       spin_unlock(&rpcrdma_device_lock),
		       spin_lock(&rpcrdma_device_lock));
	spin_unlock(&rpcrdma_device_lock);
	kfree(dv);
}

static struct ib_client rpcrdma_device_client = {
	.name	= "rpcrdma",
	.add	= rpcrdma_device_add,
	.remove	= rpcrdma_device_remove,
};

/**
 * rpcrdma_device_init - register as a client of the RDMA core
 *
 * Context: module load, before anything can make a connection.
 * Return: 0 or a negative errno.
 */
int rpcrdma_device_init(void)
{
	return ib_register_client(&rpcrdma_device_client);
}

/**
 * rpcrdma_device_exit - undo rpcrdma_device_init()
 *
 * Context: module unload, or failed load; no connection is left.
 */
void rpcrdma_device_exit(void)
{
	ib_unregister_client(&rpcrdma_device_client);
}
