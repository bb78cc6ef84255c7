// SPDX-License-Identifier: GPL-2.0
/*
 * rpcrdma_kpeer - verbs for test programs on adapters without verbs for user space
 *
 * /dev/rpcrdma_kpeer does for peer_kernel.c what libibverbs and librdmacm do for peer_verbs.c. Each
 * open file has connections, memory regions and an arena of its own.
 *
 *	mmap	the arena: coherent memory, so it needs no syncs. The offset is the address modulo
 *		PEER_BLOCK.
 *	ioctl	see peer.h
 * Parameter
 *	netdev	the network device beside the adapter
 *
 * A memory region has the addresses that it has in the program. It becomes valid by a request on
 * some connection, so the next request that the program posts takes that request along, and only
 * then can others use its handle.
 *
 * The program polls. Nothing here is fast, and one program uses a file at a time.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "peer.h"

#define NREGIONS	64
#define ARENA_MAX	((16 << 20) + PEER_BLOCK)
/* A region of no more pages than this has small pages. */
#define SMALL_PAGES	64
#define STEP_MS		2000

static char *netdev = "eth0";
module_param(netdev, charp, 0444);

struct kpeer;

struct kpeer_region {
	struct ib_mr *mr;
	int access;
	bool posted;
};

struct kpeer_conn {
	struct kpeer *k;
	struct rdma_cm_id *id;
	struct ib_qp *qp;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	u8 *receives;
	dma_addr_t dma;
	int count, size, keep;
	int sends, recvs;	/* that are posted, and whose completion was not polled */
	bool used, up, own, silent;
	int rc;			/* of a step towards a connection */
	struct completion step;
};

/* An event that the program has not polled: of the connection manager, or DONE */
struct kpeer_event {
	struct list_head list;
	int kind, conn, status, length;
	u32 depth;
	u64 id;
	u8 data[U8_MAX];
};

/**
 * struct kpeer - an open file
 * @dev: adapter
 * @pd: protection domain
 * @mutex: one call at a time
 * @lock: for @events, and for &kpeer_conn.used
 * @events: events that the program has not polled
 * @arena: memory for the program
 * @dma: its DMA address
 * @base: the program's address for it
 * @event: what is copied to the program
 * @regions: regions; the first one is the arena
 * @conns: connections and listeners
 */
struct kpeer {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct mutex mutex;
	spinlock_t lock;
	struct list_head events;
	void *arena;
	dma_addr_t dma;
	u64 base;
	struct event event;
	struct kpeer_region regions[NREGIONS];
	struct kpeer_conn conns[NCONNS];
};

/* --- the connection manager ---------------------------------------------------- */

static struct kpeer_conn *kpeer_conn_new(struct kpeer *k, struct rdma_cm_id *id)
{
	struct kpeer_conn *c = k->conns;

	spin_lock(&k->lock);
	while (c < k->conns + NCONNS && c->used)
		c++;
	if (c < k->conns + NCONNS) {
		memset(c, 0, sizeof(*c));
		c->used = true;
		c->k = k;
		c->id = id;
		init_completion(&c->step);
	} else {
		c = NULL;
	}
	spin_unlock(&k->lock);
	return c;
}

static void kpeer_event_add(struct kpeer_conn *c, struct kpeer_event *e)
{
	e->conn = c - c->k->conns;
	spin_lock(&c->k->lock);
	list_add_tail(&e->list, &c->k->events);
	spin_unlock(&c->k->lock);
}

/* Returns a negative errno, with which the connection manager drops a request. */
static int kpeer_cm_event(struct kpeer_conn *c, int kind,
			  struct rdma_cm_event *event)
{
	struct kpeer_event *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return -ENOMEM;
	e->kind = kind;
	e->status = event->event;
	e->depth = event->param.conn.initiator_depth;
	e->length = event->param.conn.private_data_len;
	if (e->length)
		memcpy(e->data, event->param.conn.private_data, e->length);
	kpeer_event_add(c, e);
	return 0;
}

/* The connection manager does this for queue pairs that it has created. */
static int kpeer_modify_qp(struct kpeer_conn *c, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, rc = rdma_init_qp_attr(c->id, &attr, &mask);

	attr.rnr_retry = 7;
	return rc ?: ib_modify_qp(c->qp, &attr, mask);
}

/* The server has accepted a connection with a queue pair of our own. */
static int kpeer_establish(struct kpeer_conn *c)
{
	/* Repeat INIT: the CM knows only now which remote accesses to permit. */
	int rc = kpeer_modify_qp(c, IB_QPS_INIT) ?:
		 kpeer_modify_qp(c, IB_QPS_RTR) ?:
		 kpeer_modify_qp(c, IB_QPS_RTS);

	/* At this end, this sends the RTU. */
	return rc ?: c->silent ? 0 : rdma_accept(c->id, NULL);
}

static int kpeer_cm(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kpeer_conn *c = id->context, *child;
	int rc;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		c->rc = event->status;
		complete(&c->step);
		return 0;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		child = kpeer_conn_new(c->k, id);
		if (!child)
			return -ENOMEM;
		id->context = child;
		rc = kpeer_cm_event(child, REQUEST, event);
		if (rc)
			child->used = false;
		return rc;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		if (c->own && kpeer_establish(c)) {
			kpeer_cm_event(c, LOST, event);
			return 0;
		}
		c->up = true;
		kpeer_cm_event(c, UP, event);
		return 0;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		kpeer_cm_event(c, LOST, event);
		return 0;
	}
}

/* --- memory regions ------------------------------------------------------------ */

static int kpeer_region_map(struct kpeer *k, struct kpeer_region *r, u64 at,
			    const struct peer_args *a)
{
	u32 page = a->length <= SMALL_PAGES * PAGE_SIZE ? PAGE_SIZE : PEER_BLOCK;
	struct scatterlist sg;
	int n;

	r->mr = ib_alloc_mr(k->pd, IB_MR_TYPE_MEM_REG,
			    DIV_ROUND_UP((at & (page - 1)) + a->length, page));
	if (IS_ERR(r->mr))
		return PTR_ERR(r->mr);
	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = k->dma + at;
	sg_dma_len(&sg) = a->length;
	n = ib_map_mr_sg(r->mr, &sg, 1, NULL, page);
	if (n != 1) {
		ib_dereg_mr(r->mr);
		return n < 0 ? n : -EINVAL;
	}
	r->mr->iova = a->memory;
	return 0;
}

static int kpeer_register(struct kpeer *k, struct peer_args *a)
{
	struct kpeer_region *r = k->regions;
	u64 at = a->memory - k->base;
	int rc;

	if (at > ARENA_MAX || !a->length || a->length > ARENA_MAX - at)
		return -EINVAL;
	while (r < k->regions + NREGIONS && r->mr)
		r++;
	if (r == k->regions + NREGIONS)
		return -ENOSPC;
	rc = kpeer_region_map(k, r, at, a);
	if (rc) {
		r->mr = NULL;
		return rc;
	}
	r->posted = false;
	r->access = IB_ACCESS_LOCAL_WRITE |
		    (a->what & 1 ? IB_ACCESS_REMOTE_READ : 0) |
		    (a->what & 2 ? IB_ACCESS_REMOTE_WRITE : 0);
	a->handle = r->mr->rkey;
	return r - k->regions;
}

static int kpeer_unregister(struct kpeer *k, struct peer_args *a)
{
	struct kpeer_region *r = &k->regions[a->what];

	if (a->what < 0 || a->what >= NREGIONS || !r->mr)
		return -EINVAL;
	ib_dereg_mr(r->mr);
	r->mr = NULL;
	return 0;
}

/* Post the requests that make regions valid, before what @c posts next. */
static int kpeer_post_regions(struct kpeer *k, struct kpeer_conn *c)
{
	struct kpeer_region *r;
	int rc;

	for (r = k->regions; r < k->regions + NREGIONS; r++) {
		struct ib_reg_wr reg = {
			.wr.wr_id = r - k->regions,
			.wr.opcode = IB_WR_REG_MR,
			.wr.send_flags = IB_SEND_SIGNALED,
			.mr = r->mr,
			.access = r->access,
		};

		if (!r->mr || r->posted)
			continue;
		reg.key = r->mr->rkey;
		rc = ib_post_send(c->qp, &reg.wr, NULL);
		if (rc)
			return rc;
		r->posted = true;
		c->sends++;
	}
	return 0;
}

/* --- queue pairs --------------------------------------------------------------- */

static int kpeer_post_recv(struct kpeer_conn *c, int slot)
{
	struct ib_sge sge = {
		.addr = c->dma + slot * c->size,
		.length = c->size,
		.lkey = c->k->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };
	int rc = ib_post_recv(c->qp, &wr, NULL);

	if (!rc)
		c->recvs++;
	return rc;
}

/* Poll the completion of a request of the program. Returns whether there was one. */
static bool kpeer_poll_send(struct kpeer_conn *c, struct ib_wc *wc)
{
	while (c->send_cq && ib_poll_cq(c->send_cq, 1, wc) > 0) {
		c->sends--;
		if (wc->wr_id >= FIRST_ID)
			return true;
		/* The next connection tries it again. */
		if (wc->status)
			c->k->regions[wc->wr_id].posted = false;
	}
	return false;
}

static bool kpeer_poll_recv(struct kpeer_conn *c, struct ib_wc *wc)
{
	if (!c->recv_cq || ib_poll_cq(c->recv_cq, 1, wc) <= 0)
		return false;
	c->recvs--;
	return true;
}

/* A program that polls rarely has to find room in the queue, as it does in user space. */
static bool kpeer_has_room(struct kpeer_conn *c)
{
	struct kpeer_event *e;
	struct ib_wc wc;

	while (c->sends >= SQ_DEPTH && kpeer_poll_send(c, &wc)) {
		e = kzalloc(sizeof(*e), GFP_KERNEL | __GFP_NOFAIL);
		e->kind = DONE;
		e->status = wc.status;
		e->id = wc.wr_id;
		kpeer_event_add(c, e);
	}
	return c->sends < SQ_DEPTH;
}

static struct ib_cq *kpeer_create_cq(struct kpeer *k, int size)
{
	struct ib_cq_init_attr attr = { .cqe = size };
	struct ib_cq *cq = ib_create_cq(k->dev, NULL, NULL, NULL, &attr);

	return IS_ERR(cq) ? NULL : cq;
}

static int kpeer_create_qp(struct kpeer_conn *c, const struct peer_args *a)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = SQ_DEPTH + NREGIONS,
			.max_recv_wr = a->count + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
	};
	int i, rc;

	if (c->id->device != c->k->dev || a->count < 0 || a->count > 16384 ||
	    a->size <= 0 || a->size > MSG_SIZE)
		return -EINVAL;
	c->count = a->count;
	c->size = a->size;
	c->receives = dma_alloc_coherent(c->k->dev->dma_device,
					 (a->count + 1) * a->size, &c->dma,
					 GFP_KERNEL);
	c->send_cq = kpeer_create_cq(c->k, SQ_DEPTH + NREGIONS);
	c->recv_cq = kpeer_create_cq(c->k, a->count + 1);
	if (!c->receives || !c->send_cq || !c->recv_cq)
		return -ENOMEM;
	attr.send_cq = c->send_cq;
	attr.recv_cq = c->recv_cq;
	if (c->own) {
		c->qp = ib_create_qp(c->k->pd, &attr);
		rc = PTR_ERR_OR_ZERO(c->qp) ?:
		     kpeer_modify_qp(c, IB_QPS_INIT);
	} else {
		rc = rdma_create_qp(c->id, c->k->pd, &attr);
		c->qp = c->id->qp;
	}
	for (i = 0; i < a->count && !rc; i++)
		rc = kpeer_post_recv(c, i);
	return rc;
}

static int kpeer_die(struct kpeer_conn *c)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(c->qp, &attr, IB_QP_STATE);
}

/* After this, the adapter has no requests of this queue pair any more. */
static void kpeer_destroy_qp(struct kpeer_conn *c)
{
	struct ib_wc wc;
	int tries = 2000;

	if (c->up)
		rdma_disconnect(c->id);
	if (c->own || !c->up)
		kpeer_die(c);
	while (c->sends + c->recvs && --tries) {
		if (!kpeer_poll_send(c, &wc) && !kpeer_poll_recv(c, &wc))
			usleep_range(500, 1000);
	}
	WARN_ON(!tries);
	if (c->own)
		ib_destroy_qp(c->qp);
	else
		rdma_destroy_qp(c->id);
}

static void kpeer_conn_free(struct kpeer_conn *c)
{
	struct kpeer_event *e, *next;
	struct kpeer *k = c->k;

	if (!IS_ERR_OR_NULL(c->qp))
		kpeer_destroy_qp(c);
	if (c->send_cq)
		ib_destroy_cq(c->send_cq);
	if (c->recv_cq)
		ib_destroy_cq(c->recv_cq);
	if (c->id)
		rdma_destroy_id(c->id);
	if (c->receives)
		dma_free_coherent(k->dev->dma_device, (c->count + 1) * c->size,
				  c->receives, c->dma);
	spin_lock(&k->lock);
	list_for_each_entry_safe(e, next, &k->events, list) {
		if (e->conn != c - k->conns)
			continue;
		list_del(&e->list);
		kfree(e);
	}
	c->used = false;
	spin_unlock(&k->lock);
}

/* --- connections --------------------------------------------------------------- */

static struct kpeer_conn *kpeer_conn_get(struct kpeer *k, int conn)
{
	struct kpeer_conn *c = &k->conns[conn];

	return conn >= 0 && conn < NCONNS && c->used ? c : NULL;
}

static struct kpeer_conn *kpeer_conn_create(struct kpeer *k)
{
	struct kpeer_conn *c = kpeer_conn_new(k, NULL);
	struct rdma_cm_id *id;

	if (!c)
		return ERR_PTR(-ENOSPC);
	id = rdma_create_id(current->nsproxy->net_ns, kpeer_cm, c, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id)) {
		c->used = false;
		return ERR_CAST(id);
	}
	c->id = id;
	return c;
}

static struct rdma_conn_param kpeer_param(const struct peer_args *a)
{
	return (struct rdma_conn_param) {
		.private_data = a->private,
		.private_data_len = a->length,
		.responder_resources = a->depth,
		.initiator_depth = 4,
		.retry_count = 6,
		.rnr_retry_count = a->retries,
	};
}

static int kpeer_listen(struct kpeer *k, struct peer_args *a)
{
	struct kpeer_conn *c = kpeer_conn_create(k);
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(a->what),
	};
	int rc;

	if (IS_ERR(c))
		return PTR_ERR(c);
	rc = rdma_bind_addr(c->id, (struct sockaddr *)&addr);
	if (!rc)
		rc = rdma_listen(c->id, 16);
	if (!rc)
		return c - k->conns;
	kpeer_conn_free(c);
	return rc;
}

static int kpeer_step(struct kpeer_conn *c, int rc)
{
	if (!rc)
		wait_for_completion(&c->step);
	return rc ?: c->rc;
}

static int kpeer_connect_conn(struct kpeer_conn *c, struct peer_args *a)
{
	struct rdma_conn_param param = kpeer_param(a);
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = a->address,
		.sin_port = htons(a->what),
	};
	int rc;

	rc = kpeer_step(c, rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&to,
					     STEP_MS));
	if (!rc)
		rc = kpeer_step(c, rdma_resolve_route(c->id, STEP_MS));
	c->own = a->own;
	c->silent = a->silent;
	if (!rc)
		rc = kpeer_create_qp(c, a);
	if (rc)
		return rc;
	param.qp_num = c->qp->qp_num;
	return rdma_connect(c->id, &param);
}

static int kpeer_connect(struct kpeer *k, struct peer_args *a)
{
	struct kpeer_conn *c = kpeer_conn_create(k);
	int rc;

	if (IS_ERR(c))
		return PTR_ERR(c);
	rc = kpeer_connect_conn(c, a);
	if (!rc)
		return c - k->conns;
	kpeer_conn_free(c);
	return rc;
}

static int kpeer_accept(struct kpeer_conn *c, struct peer_args *a)
{
	struct rdma_conn_param param = kpeer_param(a);
	int rc = kpeer_create_qp(c, a);

	if (rc)
		return rc;
	rdma_lock_handler(c->id);
	rc = rdma_accept(c->id, &param);
	rdma_unlock_handler(c->id);
	c->up = !rc;
	return rc;
}

/* --- talking ------------------------------------------------------------------- */

static int kpeer_post(struct kpeer *k, struct kpeer_conn *c,
		      struct peer_args *a)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_INV, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_READ,
	};
	struct ib_sge sge = { .addr = a->memory, .length = a->length };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = a->id,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
	};
	int rc;

	if (!c->up || !k->regions[0].mr || (u32)a->what >= ARRAY_SIZE(opcodes))
		return -ENOTCONN;
	if (!kpeer_has_room(c))
		return -ENOMEM;
	rc = kpeer_post_regions(k, c);
	if (rc)
		return rc;
	sge.lkey = k->regions[0].mr->lkey;
	wr.wr.opcode = opcodes[a->what];
	if (a->what == PEER_SEND_INV)
		wr.wr.ex.invalidate_rkey = a->handle;
	wr.remote_addr = a->offset;
	wr.rkey = a->handle;
	rc = ib_post_send(c->qp, &wr.wr, NULL);
	if (!rc)
		c->sends++;
	return rc;
}

/* Returns the kind of the event. */
static int kpeer_poll_conn(struct kpeer_conn *c, struct event *event)
{
	struct ib_wc wc;
	int done = kpeer_poll_send(c, &wc);

	if (!done && !kpeer_poll_recv(c, &wc))
		return NOTHING;
	event->conn = c - c->k->conns;
	event->status = wc.status;
	event->id = wc.wr_id;
	if (done)
		return DONE;
	if (wc.status)
		return NOTHING;
	event->length = wc.byte_len;
	event->invalidated = wc.wc_flags & IB_WC_WITH_INVALIDATE ? wc.ex.invalidate_rkey : 0;
	memcpy(event->data, c->receives + wc.wr_id * c->size, wc.byte_len);
	if (!c->keep)
		kpeer_post_recv(c, wc.wr_id);
	return RECEIVED;
}

static void kpeer_poll_event(struct kpeer *k, struct event *event)
{
	struct kpeer_event *e;

	spin_lock(&k->lock);
	e = list_first_entry_or_null(&k->events, struct kpeer_event, list);
	if (e)
		list_del(&e->list);
	spin_unlock(&k->lock);
	if (!e)
		return;
	event->kind = e->kind;
	event->id = e->id;
	event->conn = e->conn;
	event->status = e->status;
	event->depth = e->depth;
	event->length = e->length;
	memcpy(event->data, e->data, e->length);
	kfree(e);
}

static int kpeer_poll(struct kpeer *k, struct peer_args *a)
{
	struct event *event = &k->event;
	struct kpeer_conn *c;
	int i;

	event->kind = NOTHING;
	event->status = 0;
	event->length = 0;
	for (i = 0; i < NCONNS && event->kind == NOTHING; i++) {
		c = kpeer_conn_get(k, i);
		if (c && (a->conn < 0 || a->conn == i))
			event->kind = kpeer_poll_conn(c, event);
	}
	/* Messages that arrived before a connection was lost are reported, too. */
	if (event->kind == NOTHING && a->conn < 0)
		kpeer_poll_event(k, event);
	if (copy_to_user(u64_to_user_ptr(a->memory), event,
			 offsetof(struct event, data) + event->length))
		return -EFAULT;
	return event->kind;
}

/* --- the device ---------------------------------------------------------------- */

static int kpeer_call(struct kpeer *k, unsigned int what, struct peer_args *a)
{
	struct kpeer_conn *c;

	switch (what) {
	case PEER_REGISTER:
		return kpeer_register(k, a);
	case PEER_UNREGISTER:
		return kpeer_unregister(k, a);
	case PEER_LISTEN:
		return kpeer_listen(k, a);
	case PEER_CONNECT:
		return kpeer_connect(k, a);
	case PEER_POLL:
		return kpeer_poll(k, a);
	}
	c = kpeer_conn_get(k, a->conn);
	if (!c)
		return -EBADF;
	switch (what) {
	case PEER_ACCEPT:
		return kpeer_accept(c, a);
	case PEER_POST:
		return kpeer_post(k, c, a);
	case PEER_KEEP:
		c->keep = a->what;
		return 0;
	case PEER_PORT:
		return ntohs(((struct sockaddr_in *)
			      &c->id->route.addr.src_addr)->sin_port);
	case PEER_DIE:
		return kpeer_die(c);
	case PEER_DISCONNECT:
		return rdma_disconnect(c->id);
	case PEER_REJECT:
		rdma_reject(c->id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		fallthrough;
	case PEER_CLOSE:
		kpeer_conn_free(c);
		return 0;
	default:
		return -ENOTTY;
	}
}

static long kpeer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct peer_args *a = memdup_user((void __user *)arg, sizeof(*a));
	struct kpeer *k = file->private_data;
	int rc;

	if (IS_ERR(a))
		return PTR_ERR(a);
	mutex_lock(&k->mutex);
	rc = kpeer_call(k, _IOC_NR(cmd), a);
	mutex_unlock(&k->mutex);
	if (copy_to_user((void __user *)arg, a, sizeof(*a)))
		rc = -EFAULT;
	kfree(a);
	return rc;
}

static int kpeer_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kpeer *k = file->private_data;

	k->base = vma->vm_start - (vma->vm_pgoff << PAGE_SHIFT);
	return dma_mmap_coherent(k->dev->dma_device, vma, k->arena, k->dma,
				 ARENA_MAX);
}

static void kpeer_free(struct kpeer *k)
{
	int i;

	/* A listener may make connections until it is gone. */
	for (i = 0; i < 2 * NCONNS; i++)
		if (k->conns[i % NCONNS].used)
			kpeer_conn_free(&k->conns[i % NCONNS]);
	for (i = 0; i < NREGIONS; i++)
		if (k->regions[i].mr)
			ib_dereg_mr(k->regions[i].mr);
	if (k->arena)
		dma_free_coherent(k->dev->dma_device, ARENA_MAX, k->arena, k->dma);
	if (!IS_ERR_OR_NULL(k->pd))
		ib_dealloc_pd(k->pd);
	ib_device_put(k->dev);
	kvfree(k);
}

static int kpeer_open(struct inode *inode, struct file *file)
{
	struct kpeer *k = kvzalloc(sizeof(*k), GFP_KERNEL);
	struct net_device *net;

	if (!k)
		return -ENOMEM;
	net = dev_get_by_name(current->nsproxy->net_ns, netdev);
	if (net)
		k->dev = ib_device_get_by_netdev(net, RDMA_DRIVER_UNKNOWN);
	dev_put(net);
	if (!k->dev) {
		kvfree(k);
		return -ENODEV;
	}
	mutex_init(&k->mutex);
	spin_lock_init(&k->lock);
	INIT_LIST_HEAD(&k->events);
	k->pd = ib_alloc_pd(k->dev, 0);
	k->arena = dma_alloc_coherent(k->dev->dma_device, ARENA_MAX, &k->dma,
				      GFP_KERNEL);
	if (IS_ERR(k->pd) || !k->arena) {
		kpeer_free(k);
		return -ENOMEM;
	}
	file->private_data = k;
	return 0;
}

static int kpeer_release(struct inode *inode, struct file *file)
{
	kpeer_free(file->private_data);
	return 0;
}

static const struct file_operations kpeer_fops = {
	.owner = THIS_MODULE,
	.mmap = kpeer_mmap,
	.open = kpeer_open,
	.release = kpeer_release,
	.unlocked_ioctl = kpeer_ioctl,
};

static struct miscdevice kpeer_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rpcrdma_kpeer",
	.fops = &kpeer_fops,
};

module_misc_device(kpeer_misc);
MODULE_DESCRIPTION("Verbs for tests of rpcrdma");
MODULE_LICENSE("GPL");
