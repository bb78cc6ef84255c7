// SPDX-License-Identifier: GPL-2.0
/*
 * The device room: what an ib_device can do, which connections are on which
 * device, and that a device goes only after the last of them (invariant I21 in
 * Documentation/locking.rst). It knows verbs, and nothing about RPC.
 *
 * rpcrdma_device_query() translates a device's attributes into the plain
 * numbers that core/size.c works with. Knowledge about particular devices and
 * fabrics belongs here and nowhere else.
 *
 * Operation
 *
 * The CM core lets a device go too early. When it destroys an id it first
 * says that the id has left the device, and then puts the GID attribute that
 * the id has from it. Whoever removes the device waits for the first of these
 * only, and may free the GID table between the two.
 *
 * So the module asks the RDMA core to be told of devices. A connection joins
 * its device as soon as it has one, and leaves when its id has been destroyed.
 * A device that is removed loses its record here, so that nobody joins any
 * more; all connections on it fail; and the RDMA core goes on when the last
 * one has left. It asks its clients in the reverse order of their coming:
 * disable_device() in drivers/infiniband/core/device.c counts down the ids that
 * assign_client_id() gave out in a rising order. The connection manager is
 * there before a module that uses it, so it is asked after us, and works as
 * ever while the connections end.
 *
 * Nothing here needs the CM's own event of a removal, or waits for the handler
 * of an id: connections end because their owners heard ops->lost().
 *
 * Some ids nobody waits for: that of a connection that came too late to
 * join, or that gave up before it knew its device; and that of a listener, if
 * it is bound to an address of a device. Therefore an id is destroyed by
 * rpcrdma_device_destroy_id(), which holds the device meanwhile. Not so one that
 * the CM core destroys because an event handler says so: that of a request
 * that is refused, and of a listener whose address has changed.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rpcrdma/conn.h>
#include <rpcrdma/device.h>
#include <rpcrdma/fail.h>

/* When siw accepts, it answers the peer first and takes the socket over
 * afterwards. A message that arrives in between wakes nobody: it is received
 * only when a second one follows, which, with one credit, never does. Whoever
 * connects leaves the other end the time to get there.
 */
#define RPCRDMA_SIW_SETTLE_MSECS	100

/* siw hands TCP the pages of an RDMA Write that is not signaled, SGE by SGE, and
 * copies one that is. For a few pages, copying is the cheaper way, and by more
 * than a completion costs. A Write that is longer than its 6 SGEs of a page has
 * pages that are adjacent, and is handed over in larger pieces.
 */
#define RPCRDMA_SIW_SIGNAL_MAX		(6 * 4096)

/* siw also hands TCP the pages of a Send that is not signaled and has a page or
 * more. TCP may still read them, or send them again, when a later Send completes,
 * and that is all there is to say that this one is done.
 */
#define RPCRDMA_SIW_UNSIGNALED_MAX	(PAGE_SIZE - 1)

/**
 * rpcrdma_device_query - read what a device can do
 * @device: device an address resolved to, or a connection arrived on
 * @port: its port
 * @caps: filled in
 *
 * RDMA Read is the odd one out on iWARP: its sink is named by one steering
 * tag, so a Read has one SGE there whatever the device says about Sends, and
 * the core registers what it reads into. It also does so for large Reads where
 * the device says that this is faster.
 *
 * Context: any.
 */
void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps)
{
	const struct ib_device_attr *attrs = &device->attrs;

	memset(caps, 0, sizeof(*caps));
	caps->dc_max_qp_wr = rpcrdma_fail_qp_wr(attrs->max_qp_wr);
	caps->dc_max_cqe = attrs->max_cqe;
	caps->dc_max_send_sge = attrs->max_send_sge;
	caps->dc_max_sge_rd = attrs->max_sge_rd;
	caps->dc_max_mr_pages =
		rpcrdma_fail_mr_pages(attrs->max_fast_reg_page_list_len);
	caps->dc_max_mr = attrs->max_mr;
	caps->dc_max_rd_atom = attrs->max_qp_init_rd_atom;
	caps->dc_max_init_rd_atom = attrs->max_qp_rd_atom;
	caps->dc_frwr = attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
	caps->dc_sg_gaps = attrs->kernel_cap_flags & IBK_SG_GAPS_REG;
	caps->dc_iwarp = rdma_protocol_iwarp(device, port);
	if (caps->dc_iwarp)
		caps->dc_max_sge_rd = 1;
	caps->dc_read_mrs = caps->dc_iwarp || attrs->max_sgl_rd;
	caps->dc_unsignaled_max = U32_MAX;
	if (device->ops.driver_id == RDMA_DRIVER_SIW) {
		caps->dc_settle = RPCRDMA_SIW_SETTLE_MSECS;
		caps->dc_signal_max = RPCRDMA_SIW_SIGNAL_MAX;
		caps->dc_unsignaled_max = RPCRDMA_SIW_UNSIGNALED_MAX;
	}
}

/**
 * struct rpcrdma_device - a device that connections can be on
 * @dv_device: the device
 * @dv_item: link in rpcrdma_devices; taken out when the device is to go
 * @dv_conns: connections on it (cn_on_device)
 */
struct rpcrdma_device {
	struct ib_device	*dv_device;
	struct list_head	dv_item;
	struct list_head	dv_conns;
};

static LIST_HEAD(rpcrdma_devices);
/* That list, and those of connections. Held over ops->lost(). */
static DEFINE_SPINLOCK(rpcrdma_device_lock);
static DECLARE_WAIT_QUEUE_HEAD(rpcrdma_device_left);

/**
 * rpcrdma_device_join - a connection has got a device
 * @conn: connection that is resolved or adopted
 *
 * From now on, and until it leaves, it may fail with %-ENODEV at any time.
 *
 * Context: process, CM event.
 * Return: 0; or %-ENODEV, and the device is about to go or not quite there yet.
 */
int rpcrdma_device_join(struct rpcrdma_conn *conn)
{
	/* The id keeps the device from being freed, and its address from being
	 * reused.
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
 * rpcrdma_device_leave - a connection has nothing left of its device
 * @conn: connection without an id; may never have joined
 *
 * On return nobody is about to fail it for its device's sake.
 *
 * Context: process.
 */
void rpcrdma_device_leave(struct rpcrdma_conn *conn)
{
	spin_lock(&rpcrdma_device_lock);
	if (!list_empty(&conn->cn_on_device)) {
		list_del_init(&conn->cn_on_device);
		/* Under the lock: the waiter frees the head of the list */
		wake_up(&rpcrdma_device_left);
	}
	spin_unlock(&rpcrdma_device_lock);
}

/**
 * rpcrdma_device_destroy_id - destroy a CM id, if it has a device or not
 * @id: id that nobody else destroys
 *
 * An id that is on a device keeps the CM core from letting that go, so there
 * is a device to be held.
 *
 * Context: process; sleeps. Not from the id's own event handler.
 */
void rpcrdma_device_destroy_id(struct rdma_cm_id *id)
{
	struct ib_device *device;

	/* It may be finding its device right now. */
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

static bool rpcrdma_device_is_empty(struct rpcrdma_device *dv)
{
	bool empty;

	spin_lock(&rpcrdma_device_lock);
	empty = list_empty(&dv->dv_conns);
	spin_unlock(&rpcrdma_device_lock);
	return empty;
}

/* Nothing interrupts the wait: a removal cannot be refused. */
static void rpcrdma_device_remove(struct ib_device *device, void *client_data)
{
	struct rpcrdma_device *dv = client_data;
	struct rpcrdma_conn *conn;

	spin_lock(&rpcrdma_device_lock);
	list_del(&dv->dv_item);
	/* Nobody leaves, and is freed, before all have been told. */
	list_for_each_entry(conn, &dv->dv_conns, cn_on_device)
		rpcrdma_conn_fail(conn, -ENODEV);
	spin_unlock(&rpcrdma_device_lock);

	wait_event(rpcrdma_device_left, rpcrdma_device_is_empty(dv));
	kfree(dv);
}

static struct ib_client rpcrdma_device_client = {
	.name	= "rpcrdma",
	.add	= rpcrdma_device_add,
	.remove	= rpcrdma_device_remove,
};

/**
 * rpcrdma_device_init - ask to be told of devices
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
