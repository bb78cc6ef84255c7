// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of the iWARP kind, for iw_cm
 *
 * Operation
 *	1. hca_connect() makes the endpoint of the active side. A work item looks for a listener
 *	   with the address and port, makes the endpoint of the passive side, and passes a
 *	   CONNECT_REQUEST to the listener. If nobody listens, the active side is refused.
 *	2. hca_accept() joins the two queue pairs: both are in the state RTS from then on. The
 *	   passive side gets ESTABLISHED, and the active side CONNECT_REPLY. Or hca_reject()
 *	   refuses.
 *	3. When a queue pair leaves RTS, whatever the reason, hca_cm_down() ends the connection.
 *	   The other queue pair enters ERR. Its side gets DISCONNECT and CLOSE; the side that began
 *	   gets CLOSE only.
 *	Each event is passed by a work item of one ordered queue, so iw_cm sees them in the order
 *	in which they happened, and never within a verb. iw_cm crashes if an event does not fit its
 *	state: an endpoint has exactly one CONNECT_REPLY or ESTABLISHED, and CLOSE only after a
 *	good one.
 *
 * An endpoint has a reference to its iw_cm_id until its last event was passed. iw_cm holds
 * references to the queue pair (iw_add_ref).
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include "hca.h"

/* How long the active side waits for an answer. MPA of real adapters has a timer, too. */
#define HCA_CM_TIMEOUT		(10 * HZ)
/* More private data do not fit into an event. */
#define HCA_CM_PRIVATE		U8_MAX

enum hca_ep_state {
	HCA_EP_LISTEN,
	HCA_EP_CONNECT,		/* active: no answer yet; passive: not accepted yet */
	HCA_EP_OPEN,
	HCA_EP_CLOSED,
};

/**
 * struct hca_ep - one end of a connection, or a listener
 * @refs: references
 * @list: element of hca_listeners, or of hca_requests at the passive side until it is accepted
 * @state: state; like the following members under hca_lock
 * @id: for whom; NULL at the passive side until it is accepted
 * @listener: at the passive side, from which listener
 * @qp: queue pair, which has a reference to this endpoint; NULL when the connection has ended
 * @peer: the other end, to which this one has a reference
 * @began: was this the end that closed the connection?
 * @ord: RDMA Reads that this end may send
 * @ird: RDMA Reads that it may have to answer
 * @status: of CONNECT_REPLY
 * @local: address of this end
 * @remote: address of the other end
 * @data: private data for this end
 * @len: length of @data
 * @connect: looks for the listener
 * @opened: passes CONNECT_REPLY or ESTABLISHED
 * @closed: passes CLOSE
 * @timer: ends a connection that is not answered
 */
struct hca_ep {
	struct kref refs;
	struct list_head list;
	enum hca_ep_state state;
	struct iw_cm_id *id;
	struct hca_ep *listener;
	struct hca_qp *qp;
	struct hca_ep *peer;
	bool began;
	u32 ord;
	u32 ird;
	int status;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	u8 data[HCA_CM_PRIVATE];
	u16 len;
	struct work_struct connect;
	struct work_struct opened;
	struct work_struct closed;
	struct delayed_work timer;
};

static struct workqueue_struct *hca_cm_wq;
static LIST_HEAD(hca_listeners);
static LIST_HEAD(hca_requests);

/* --- endpoints ---------------------------------------------------------------- */

static void hca_ep_release(struct kref *ref)
{
	kfree(container_of(ref, struct hca_ep, refs));
}

static void hca_ep_put(struct hca_ep *ep)
{
	kref_put(&ep->refs, hca_ep_release);
}

static void hca_ep_queue(struct hca_ep *ep, struct work_struct *work)
{
	kref_get(&ep->refs);
	queue_work(hca_cm_wq, work);
}

static void hca_ep_event(struct hca_ep *ep, struct iw_cm_id *id,
			 enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = {
		.event = type,
		.status = status,
		.local_addr = ep->local,
		.remote_addr = ep->remote,
		.ord = min_t(u32, ep->ord, U8_MAX),
		.ird = min_t(u32, ep->ird, U8_MAX),
	};

	/* iw_cm copies the data of this event. */
	if (type == IW_CM_EVENT_CONNECT_REPLY) {
		event.private_data = ep->data;
		event.private_data_len = ep->len;
	}
	if (id->event_handler(id, &event))
		pr_err("hca_sim: iw_cm has no memory for event %d\n", type);
}

/* The last event was passed, or there will be none. */
static void hca_ep_done(struct hca_ep *ep)
{
	struct iw_cm_id *id = ep->id;

	ep->id = NULL;
	if (id)
		id->rem_ref(id);
}

static void hca_ep_opened(struct work_struct *work)
{
	struct hca_ep *ep = container_of(work, struct hca_ep, opened);

	if (ep->listener) {
		hca_ep_event(ep, ep->id, IW_CM_EVENT_ESTABLISHED, 0);
	} else {
		hca_ep_event(ep, ep->id, IW_CM_EVENT_CONNECT_REPLY, ep->status);
		if (ep->status)
			hca_ep_done(ep);
	}
	hca_ep_put(ep);
}

static void hca_ep_closed(struct work_struct *work)
{
	struct hca_ep *ep = container_of(work, struct hca_ep, closed);

	if (!ep->began)
		hca_ep_event(ep, ep->id, IW_CM_EVENT_DISCONNECT, 0);
	hca_ep_event(ep, ep->id, IW_CM_EVENT_CLOSE, 0);
	hca_ep_done(ep);
	hca_ep_put(ep);
}

static void hca_ep_connect(struct work_struct *work);
static void hca_ep_timer(struct work_struct *work);

static struct hca_ep *hca_ep_alloc(void)
{
	struct hca_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL);

	if (!ep)
		return NULL;
	kref_init(&ep->refs);
	INIT_LIST_HEAD(&ep->list);
	ep->state = HCA_EP_CONNECT;
	INIT_WORK(&ep->connect, hca_ep_connect);
	INIT_WORK(&ep->opened, hca_ep_opened);
	INIT_WORK(&ep->closed, hca_ep_closed);
	INIT_DELAYED_WORK(&ep->timer, hca_ep_timer);
	return ep;
}

/* --- ending ------------------------------------------------------------------- */

static void hca_ep_answered(struct hca_ep *ep)
{
	if (cancel_delayed_work(&ep->timer))
		hca_ep_put(ep);
}

/* The endpoint has no queue pair and no peer any more. This may free it. */
static void hca_ep_leave(struct hca_ep *ep)
{
	struct hca_ep *peer = ep->peer;
	struct hca_qp *qp = ep->qp;

	lockdep_assert_held(&hca_lock);
	ep->state = HCA_EP_CLOSED;
	ep->peer = NULL;
	ep->qp = NULL;
	if (peer)
		hca_ep_put(peer);
	if (qp) {
		qp->ep = NULL;
		hca_ep_put(ep);
	}
}

/* The active side will not be connected. */
static void hca_ep_refuse(struct hca_ep *ep, int status)
{
	lockdep_assert_held(&hca_lock);
	if (ep->state != HCA_EP_CONNECT)
		return;
	ep->status = status;
	hca_ep_queue(ep, &ep->opened);
	hca_ep_answered(ep);
	hca_ep_leave(ep);
}

/**
 * hca_cm_join - join two queue pairs
 * @a: one
 * @b: the other
 *
 * Context: with hca_engine_lock and hca_lock
 */
void hca_cm_join(struct hca_qp *a, struct hca_qp *b)
{
	lockdep_assert_held(&hca_lock);
	a->peer = b;
	b->peer = a;
	a->state = IB_QPS_RTS;
	b->state = IB_QPS_RTS;
	hca_engine_kick(a);
	hca_engine_kick(b);
}

/**
 * hca_cm_down - end the connection of a queue pair, if it has one
 * @qp: the queue pair, which has left the state RTS
 *
 * Context: with hca_engine_lock and hca_lock
 */
void hca_cm_down(struct hca_qp *qp)
{
	struct hca_qp *peer = qp->peer;
	struct hca_ep *ep = qp->ep;

	lockdep_assert_held(&hca_lock);
	qp->peer = NULL;
	if (ep && ep->state == HCA_EP_OPEN) {
		/* The end that comes second finds no peer. */
		ep->began = peer;
		hca_ep_queue(ep, &ep->closed);
		hca_ep_leave(ep);
	} else if (ep) {
		hca_ep_refuse(ep, -ECONNABORTED);
	}
	if (peer) {
		peer->peer = NULL;
		hca_qp_error(peer);
	}
}

static void hca_ep_timer(struct work_struct *work)
{
	struct hca_ep *ep = container_of(to_delayed_work(work), struct hca_ep,
					 timer);

	spin_lock_irq(&hca_lock);
	hca_ep_refuse(ep, -ETIMEDOUT);
	spin_unlock_irq(&hca_lock);
	hca_ep_put(ep);
}

/* --- the active side ---------------------------------------------------------- */

/* Has the network device of the listener this address? */
static bool hca_address_local(struct hca_dev *dev,
			      const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	struct net_device *netdev;
	bool same;

	if (addr->ss_family == AF_INET6)
		return IS_ENABLED(CONFIG_IPV6) &&
		       ipv6_chk_addr(dev_net(dev->netdev), &in6->sin6_addr,
				     dev->netdev, 0);
	netdev = ip_dev_find(dev_net(dev->netdev), in->sin_addr.s_addr);
	same = netdev == dev->netdev;
	dev_put(netdev);
	return same;
}

/* Has any adapter this address? If not, packets to it would be lost. */
static bool hca_address_known(const struct sockaddr_storage *addr)
{
	struct hca_dev *dev;

	lockdep_assert_held(&hca_lock);
	list_for_each_entry(dev, &hca_devs, list)
		if (hca_address_local(dev, addr))
			return true;
	return false;
}

static __be16 hca_port(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ?
		((const struct sockaddr_in6 *)addr)->sin6_port :
		((const struct sockaddr_in *)addr)->sin_port;
}

static bool hca_address_any(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ?
		ipv6_addr_any(&((struct sockaddr_in6 *)addr)->sin6_addr) :
		((struct sockaddr_in *)addr)->sin_addr.s_addr == 0;
}

static bool hca_address_same(const struct sockaddr_storage *a,
			     const struct sockaddr_storage *b)
{
	return a->ss_family == AF_INET6 ?
		ipv6_addr_equal(&((struct sockaddr_in6 *)a)->sin6_addr,
				&((struct sockaddr_in6 *)b)->sin6_addr) :
		((struct sockaddr_in *)a)->sin_addr.s_addr ==
			((struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* Does this listener listen at the address? */
static bool hca_listens(struct hca_ep *listener,
			const struct sockaddr_storage *addr)
{
	const struct sockaddr_storage *at = &listener->local;

	if (at->ss_family != addr->ss_family || hca_port(at) != hca_port(addr))
		return false;
	if (!hca_address_any(at) && !hca_address_same(at, addr))
		return false;
	return hca_address_local(to_hca_dev(listener->id->device), addr);
}

static struct hca_ep *hca_listener_find(const struct sockaddr_storage *addr)
{
	struct hca_ep *listener;

	lockdep_assert_held(&hca_lock);
	list_for_each_entry(listener, &hca_listeners, list)
		if (hca_listens(listener, addr))
			return listener;
	return NULL;
}

/* What the listener gets to know */
static void hca_ep_requested(struct hca_ep *ep, struct hca_ep *passive,
			     struct hca_ep *listener, struct iw_cm_event *event)
{
	lockdep_assert_held(&hca_lock);
	kref_get(&passive->refs);
	ep->peer = passive;
	kref_get(&ep->refs);
	passive->peer = ep;
	passive->listener = listener;
	passive->local = ep->remote;
	passive->remote = ep->local;
	list_add_tail(&passive->list, &hca_requests);
	*event = (struct iw_cm_event) {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = passive->local,
		.remote_addr = passive->remote,
		.provider_data = passive,
		.ird = min_t(u32, ep->ird, U8_MAX),
		.ord = min_t(u32, ep->ord, U8_MAX),
		.private_data = ep->data,
		.private_data_len = ep->len,
	};
}

/*
 * Make the passive side of @ep, and tell the listener. If no adapter has the address, nobody will
 * ever answer. Returns 0 or a negative errno.
 */
static int hca_ep_request(struct hca_ep *ep)
{
	struct hca_ep *passive = hca_ep_alloc(), *listener;
	struct iw_cm_event event;
	struct iw_cm_id *id;
	int rc = -ECONNREFUSED;

	if (!passive)
		return -ENOMEM;
	spin_lock_irq(&hca_lock);
	listener = hca_listener_find(&ep->remote);
	if (ep->state != HCA_EP_CONNECT ||
	    (!listener && hca_address_known(&ep->remote))) {
		spin_unlock_irq(&hca_lock);
		hca_ep_put(passive);
		return rc;
	}
	kref_get(&ep->refs);
	queue_delayed_work(hca_cm_wq, &ep->timer, HCA_CM_TIMEOUT);
	if (!listener) {
		spin_unlock_irq(&hca_lock);
		hca_ep_put(passive);
		return 0;
	}
	id = listener->id;
	id->add_ref(id);
	hca_ep_requested(ep, passive, listener, &event);
	spin_unlock_irq(&hca_lock);
	rc = id->event_handler(id, &event);
	id->rem_ref(id);
	if (!rc)
		return 0;
	/* The backlog of the listener is full, so nobody knows the passive side. */
	spin_lock_irq(&hca_lock);
	list_del_init(&passive->list);
	hca_ep_leave(passive);
	spin_unlock_irq(&hca_lock);
	hca_ep_put(passive);
	return -ECONNREFUSED;
}

static void hca_ep_connect(struct work_struct *work)
{
	struct hca_ep *ep = container_of(work, struct hca_ep, connect);
	int rc = hca_ep_request(ep);

	spin_lock_irq(&hca_lock);
	if (rc)
		hca_ep_refuse(ep, rc);
	spin_unlock_irq(&hca_lock);
	hca_ep_put(ep);
}

static bool hca_ep_param_ok(struct hca_dev *dev,
			    const struct iw_cm_conn_param *param)
{
	if (param->ord > dev->profile->ord) {
		hca_report(HCA_ORD, "%u RDMA Reads, %s has %u", param->ord,
			   dev->profile->name, dev->profile->ord);
		return false;
	}
	if (param->ird > dev->profile->ird) {
		hca_report(HCA_IRD, "%u RDMA Reads, %s has %u", param->ird,
			   dev->profile->name, dev->profile->ird);
		return false;
	}
	return param->private_data_len <= HCA_CM_PRIVATE;
}

static int hca_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct hca_dev *dev = to_hca_dev(id->device);
	struct hca_qp *qp = xa_load(&dev->qps, param->qpn);
	struct hca_ep *ep;

	if (!qp || qp->ep || !hca_ep_param_ok(dev, param))
		return -EINVAL;
	ep = hca_ep_alloc();
	if (!ep)
		return -ENOMEM;
	ep->id = id;
	id->add_ref(id);
	ep->local = id->m_local_addr;
	ep->remote = id->m_remote_addr;
	ep->ord = param->ord;
	ep->ird = param->ird;
	ep->len = param->private_data_len;
	memcpy(ep->data, param->private_data, ep->len);
	spin_lock_irq(&hca_lock);
	ep->qp = qp;
	qp->ep = ep;
	hca_ep_queue(ep, &ep->connect);
	spin_unlock_irq(&hca_lock);
	return 0;
}

/* --- the passive side --------------------------------------------------------- */

static int hca_ep_accept(struct hca_ep *ep, struct hca_qp *qp,
			 struct iw_cm_id *id,
			 const struct iw_cm_conn_param *param)
{
	struct hca_ep *active = ep->peer;

	lockdep_assert_held(&hca_lock);
	list_del_init(&ep->list);
	if (!active || active->state != HCA_EP_CONNECT || !active->qp ||
	    active->qp->state > IB_QPS_RTR)
		return -ECONNRESET;
	if (!qp || qp->ep || qp->state > IB_QPS_RTR)
		return -EINVAL;
	/* RFC 6581: neither end sends more RDMA Reads than the other one expects. */
	ep->ird = param->ird;
	ep->ord = min(param->ord, active->ird);
	active->ord = min(active->ord, ep->ird);
	qp->ord = ep->ord;
	qp->ird = ep->ird;
	active->qp->ord = active->ord;
	active->qp->ird = active->ird;
	active->len = param->private_data_len;
	memcpy(active->data, param->private_data, active->len);
	ep->id = id;
	id->add_ref(id);
	ep->qp = qp;
	qp->ep = ep;
	kref_get(&ep->refs);
	ep->state = HCA_EP_OPEN;
	active->state = HCA_EP_OPEN;
	hca_ep_queue(ep, &ep->opened);
	hca_ep_queue(active, &active->opened);
	hca_ep_answered(active);
	hca_cm_join(qp, active->qp);
	return 0;
}

static int hca_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct hca_dev *dev = to_hca_dev(id->device);
	struct hca_ep *ep = id->provider_data;
	struct hca_qp *qp;
	int rc = -EINVAL;

	mutex_lock(&hca_engine_lock);
	qp = xa_load(&dev->qps, param->qpn);
	spin_lock_irq(&hca_lock);
	if (hca_ep_param_ok(dev, param))
		rc = hca_ep_accept(ep, qp, id, param);
	if (rc) {
		list_del_init(&ep->list);
		if (ep->peer)
			hca_ep_refuse(ep->peer, -ECONNRESET);
		hca_ep_leave(ep);
	}
	spin_unlock_irq(&hca_lock);
	mutex_unlock(&hca_engine_lock);
	/* The reference of the request */
	hca_ep_put(ep);
	return rc;
}

static int hca_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	struct hca_ep *ep = id->provider_data;

	spin_lock_irq(&hca_lock);
	list_del_init(&ep->list);
	if (ep->peer && ep->peer->state == HCA_EP_CONNECT) {
		ep->peer->len = len;
		memcpy(ep->peer->data, data, len);
		hca_ep_refuse(ep->peer, -ECONNRESET);
	}
	hca_ep_leave(ep);
	spin_unlock_irq(&hca_lock);
	hca_ep_put(ep);
	return 0;
}

static int hca_create_listen(struct iw_cm_id *id, int backlog)
{
	struct hca_ep *ep = hca_ep_alloc(), *other;
	int rc = 0;

	if (!ep)
		return -ENOMEM;
	ep->state = HCA_EP_LISTEN;
	ep->id = id;
	ep->local = id->m_local_addr;
	spin_lock_irq(&hca_lock);
	list_for_each_entry(other, &hca_listeners, list)
		if (other->id->device == id->device &&
		    other->local.ss_family == ep->local.ss_family &&
		    hca_port(&other->local) == hca_port(&ep->local) &&
		    hca_address_same(&other->local, &ep->local))
			rc = -EADDRINUSE;
	if (!rc) {
		id->add_ref(id);
		id->provider_data = ep;
		list_add_tail(&ep->list, &hca_listeners);
	}
	spin_unlock_irq(&hca_lock);
	if (rc)
		hca_ep_put(ep);
	return rc;
}

/* Requests that nobody has accepted yet are refused, as if the queue of the listener were gone. */
static int hca_destroy_listen(struct iw_cm_id *id)
{
	struct hca_ep *ep = id->provider_data, *request;

	spin_lock_irq(&hca_lock);
	list_del_init(&ep->list);
	list_for_each_entry(request, &hca_requests, list)
		if (request->listener == ep && request->peer)
			hca_ep_refuse(request->peer, -ECONNREFUSED);
	spin_unlock_irq(&hca_lock);
	hca_ep_done(ep);
	hca_ep_put(ep);
	return 0;
}

/* --- queue pairs -------------------------------------------------------------- */

static void hca_add_ref(struct ib_qp *ib)
{
	refcount_inc(&to_hca_qp(ib)->refs);
}

static void hca_rem_ref(struct ib_qp *ib)
{
	hca_qp_put(to_hca_qp(ib));
}

static struct ib_qp *hca_get_qp(struct ib_device *ib, int qpn)
{
	struct hca_qp *qp = xa_load(&to_hca_dev(ib)->qps, qpn);

	return qp ? &qp->ib : NULL;
}

const struct ib_device_ops hca_cm_ops = {
	.iw_accept = hca_accept,
	.iw_add_ref = hca_add_ref,
	.iw_connect = hca_connect,
	.iw_create_listen = hca_create_listen,
	.iw_destroy_listen = hca_destroy_listen,
	.iw_get_qp = hca_get_qp,
	.iw_reject = hca_reject,
	.iw_rem_ref = hca_rem_ref,
};

/**
 * hca_cm_init - prepare for connections
 *
 * Context: process
 * Return: 0 or a negative errno
 */
int hca_cm_init(void)
{
	hca_cm_wq = alloc_ordered_workqueue("hca_cm", WQ_MEM_RECLAIM);
	return hca_cm_wq ? 0 : -ENOMEM;
}

/**
 * hca_cm_exit - undo hca_cm_init()
 *
 * There are no devices any more. Requests that iw_cm has dropped are still in the list.
 *
 * Context: process
 */
void hca_cm_exit(void)
{
	struct hca_ep *ep, *next;

	list_for_each_entry_safe(ep, next, &hca_requests, list) {
		list_del_init(&ep->list);
		spin_lock_irq(&hca_lock);
		hca_ep_leave(ep);
		spin_unlock_irq(&hca_lock);
		hca_ep_put(ep);
	}
	destroy_workqueue(hca_cm_wq);
}
