// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of the RoCE kind, for ib_cm
 *
 * Connections are the kernel's own: ib_cm of both sides exchange MADs, and then bring the queue
 * pairs to RTR and RTS. A MAD is a Send from GSI queue pair to GSI queue pair, whose Receive gets
 * the network header, too.
 *
 * The core keeps the table of GIDs, according to the IP addresses of the network device. No queue
 * pair knows its peer. For each request, the engine looks for it: an adapter that has the
 * destination's GID and hardware address, and a queue pair with the number. Whatever is sent
 * otherwise is lost: a MAD silently, and a request is sent again after a timeout. What has gone,
 * or is down, thus needs no care.
 *
 * Packets are never lost on the way. So the adapter has no sequence numbers, and a request is
 * either executed completely, or was never sent.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>
#include "hca.h"

/* This number of retries means: without end. */
#define HCA_RNR_ENDLESS	7

/* --- addresses ---------------------------------------------------------------- */

static void hca_path_set(struct hca_path *path,
			 const struct rdma_ah_attr *attr)
{
	path->dgid = rdma_ah_read_grh(attr)->dgid;
	ether_addr_copy(path->dmac, attr->roce.dmac);
}

static int hca_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
			 struct ib_udata *udata)
{
	if (udata)
		return -EOPNOTSUPP;
	hca_path_set(&to_hca_ah(ib)->path, init->ah_attr);
	return 0;
}

static int hca_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

/* Can packets leave from, or arrive at, this GID? With @mac, it must be the hardware address. */
static bool hca_gid_up(const struct ib_gid_attr *attr, const u8 *mac)
{
	struct net_device *netdev;
	bool up;

	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	up = !IS_ERR(netdev) && netif_running(netdev) &&
	     netif_carrier_ok(netdev) &&
	     (!mac || ether_addr_equal(mac, netdev->dev_addr));
	rcu_read_unlock();
	return up;
}

static bool hca_path_leads_to(const struct hca_path *path, struct hca_dev *dev)
{
	const struct ib_gid_attr *attr;
	bool here;

	attr = rdma_find_gid_by_port(&dev->ib, &path->dgid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(attr))
		return false;
	here = hca_gid_up(attr, path->dmac);
	rdma_put_gid_attr(attr);
	return here;
}

/* Which queue pair gets a packet? None if it is lost. */
static struct hca_qp *hca_path_find(const struct ib_gid_attr *from,
				    const struct hca_path *path, u32 qpn)
{
	struct hca_dev *dev;
	struct hca_qp *qp;

	lockdep_assert_held(&hca_lock);
	if (!hca_gid_up(from, NULL))
		return NULL;
	list_for_each_entry(dev, &hca_devs, list) {
		if (!dev->profile->roce)
			continue;
		/* Without a queue pair, the core may not have a table of GIDs yet. */
		qp = xa_load(&dev->qps, qpn);
		if (qp && hca_path_leads_to(path, dev))
			return qp;
	}
	return NULL;
}

/* --- the peer ----------------------------------------------------------------- */

static bool hca_roce_is_peer(const struct hca_qp *qp, const struct hca_qp *peer)
{
	const union ib_gid *from = &qp->ib.av_sgid_attr->gid;

	return peer->ib.qp_type == IB_QPT_RC &&
	       peer->roce.dest_qpn == qp->ib.qp_num &&
	       !memcmp(&peer->roce.path.dgid, from, sizeof(*from));
}

/**
 * hca_roce_find_peer - look for the queue pair to which a request goes
 * @qp: the queue pair with the request, in which @peer is set
 * @wqe: the request
 *
 * Context: with hca_engine_lock
 * Return: is there one, and does it receive?
 */
bool hca_roce_find_peer(struct hca_qp *qp, const struct hca_wqe *wqe)
{
	struct hca_qp *peer;

	spin_lock_irq(&hca_lock);
	if (wqe->ah)
		peer = hca_path_find(wqe->ah->ib.sgid_attr, &wqe->ah->path, 1);
	else
		peer = hca_path_find(qp->ib.av_sgid_attr, &qp->roce.path,
				     qp->roce.dest_qpn);
	if (peer && !wqe->ah && !hca_roce_is_peer(qp, peer))
		peer = NULL;
	if (peer && peer->state != IB_QPS_RTR && peer->state != IB_QPS_RTS &&
	    peer->state != IB_QPS_SQD)
		peer = NULL;
	qp->peer = peer;
	spin_unlock_irq(&hca_lock);
	return peer;
}

/*
 * Table "Encoding for RNR NAK Timer Field" of the InfiniBand specification, in its section 9.7.5:
 * 10, 20, 30, 40, 60, 80, 120, 160 us and so on up to 491.52 ms. 0 is 655.36 ms.
 */
static unsigned long hca_rnr_jiffies(u8 code)
{
	code = code ?: 32;
	return usecs_to_jiffies(10 * (((2 + (code & 1)) << (code / 2)) >> 1));
}

/**
 * hca_roce_wait - shall a request wait, and be sent again?
 * @qp: queue pair
 * @status: with which status the request would complete. A MAD that is lost was sent successfully.
 *
 * A request that is not acknowledged is sent again @retry_cnt times, and fails after another
 * timeout. A Send that finds no Receive is sent again @rnr_retry times, and then fails at once.
 *
 * Context: with hca_engine_lock
 * Return: shall it wait?
 */
bool hca_roce_wait(struct hca_qp *qp, enum ib_wc_status *status)
{
	bool rnr = *status == IB_WC_RNR_RETRY_EXC_ERR;
	struct hca_roce *roce = &qp->roce;
	unsigned long wait;

	if (!rnr && *status != IB_WC_RETRY_EXC_ERR) {
		roce->tries = 0;
		return false;
	}
	if (qp->ib.qp_type == IB_QPT_GSI) {
		*status = IB_WC_SUCCESS;
		return false;
	}
	if (roce->cause != *status)
		roce->tries = 0;
	roce->cause = *status;
	if (rnr) {
		if (roce->rnr_retry != HCA_RNR_ENDLESS &&
		    roce->tries >= roce->rnr_retry)
			return false;
		wait = hca_rnr_jiffies(qp->peer->roce.min_rnr_timer);
	} else {
		if (roce->timeout && roce->tries > roce->retry_cnt)
			return false;
		/* 4.096 us, doubled so often */
		wait = nsecs_to_jiffies(4096ULL << roce->timeout) + 1;
	}
	roce->tries++;
	roce->until = jiffies + wait;
	/* It may have gone until then. */
	qp->peer = NULL;
	return true;
}

/* --- MADs --------------------------------------------------------------------- */

static bool hca_ah_v4(const struct hca_ah *ah)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)&ah->path.dgid);
}

/**
 * hca_roce_header - make the header that a Receive of a MAD gets
 * @ah: address handle with which the MAD was sent
 * @header: the header, 40 bytes
 *
 * Context: any
 */
void hca_roce_header(const struct hca_ah *ah, union rdma_network_hdr *header)
{
	const union ib_gid *from = &ah->ib.sgid_attr->gid;
	struct iphdr *ip = &header->roce4grh;

	memset(header, 0, sizeof(*header));
	if (hca_ah_v4(ah)) {
		ip->version = 4;
		ip->ihl = 5;
		ip->protocol = IPPROTO_UDP;
		memcpy(&ip->saddr, from->raw + 12, sizeof(ip->saddr));
		memcpy(&ip->daddr, ah->path.dgid.raw + 12, sizeof(ip->daddr));
	} else {
		header->ibgrh.version_tclass_flow = cpu_to_be32(6 << 28);
		header->ibgrh.next_hdr = IPPROTO_UDP;
		header->ibgrh.sgid = *from;
		header->ibgrh.dgid = ah->path.dgid;
	}
}

/**
 * hca_roce_mad_wc - complete the Receive of a MAD
 * @ah: address handle with which the MAD was sent
 * @wc: the completion
 *
 * Context: any
 */
void hca_roce_mad_wc(const struct hca_ah *ah, struct ib_wc *wc)
{
	wc->byte_len += sizeof(union rdma_network_hdr);
	wc->wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = hca_ah_v4(ah) ? RDMA_NETWORK_IPV4 :
					       RDMA_NETWORK_IPV6;
	wc->src_qp = 1;
}

/* --- verbs -------------------------------------------------------------------- */

static bool hca_roce_attr_ok(struct hca_qp *qp, const struct ib_qp_attr *attr,
			     int mask)
{
	const struct hca_profile *p = to_hca_dev(qp->ib.device)->profile;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : qp->state;

	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > p->ord) {
		hca_report(HCA_ORD, "%u RDMA Reads, %s has %u",
			   attr->max_rd_atomic, p->name, p->ord);
		return false;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > p->ird) {
		hca_report(HCA_IRD, "%u RDMA Reads, %s has %u",
			   attr->max_dest_rd_atomic, p->name, p->ird);
		return false;
	}
	return ib_modify_qp_is_ok(qp->state, next, qp->ib.qp_type, mask);
}

/**
 * hca_roce_modify - change the attributes of a queue pair that only the RoCE kind has
 * @qp: queue pair
 * @attr: attributes
 * @mask: which of them
 *
 * Context: with hca_engine_lock and hca_lock
 * Return: 0 or -EINVAL
 */
int hca_roce_modify(struct hca_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct hca_roce *roce = &qp->roce;

	if (!hca_roce_attr_ok(qp, attr, mask))
		return -EINVAL;
	if (mask & IB_QP_AV)
		hca_path_set(&roce->path, &attr->ah_attr);
	if (mask & IB_QP_DEST_QPN)
		roce->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_TIMEOUT)
		roce->timeout = attr->timeout & 31;
	if (mask & IB_QP_RETRY_CNT)
		roce->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		roce->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		roce->min_rnr_timer = attr->min_rnr_timer & 31;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->ord = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->ird = attr->max_dest_rd_atomic;
	return 0;
}

static enum rdma_link_layer hca_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/* There are no partitions on Ethernet: the only key is the default one. */
static int hca_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

const struct ib_device_ops hca_roce_ops = {
	.create_ah = hca_create_ah,
	.destroy_ah = hca_destroy_ah,
	.get_link_layer = hca_link_layer,
	.query_pkey = hca_query_pkey,

	INIT_RDMA_OBJ_SIZE(ib_ah, hca_ah, ib),
};
