// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs: what a ULP asks for. engine.c does it.
 *
 * A ULP must keep to the sizes with which it created a queue. Real adapters round sizes up, so an
 * overflow stays unnoticed on some of them. This one does not round. As with real drivers, a
 * request occupies its place in the queue until the ULP has polled a completion of this request,
 * or of a later one (InfiniBand specification, 10.8.5.1).
 */
#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "hca.h"

/* See hca.h. */
DEFINE_SPINLOCK(hca_lock);

/* --- protection domains and memory regions ------------------------------------ */

static int hca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : 0;
}

static int hca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static void hca_mr_free(struct hca_mr *mr)
{
	kvfree(mr->staged);
	kvfree(mr->list);
	kfree(mr);
}

static struct hca_mr *hca_mr_alloc(struct ib_pd *pd, u32 max)
{
	struct hca_dev *dev = to_hca_dev(pd->device);
	struct hca_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	/* The upper limit keeps keys off HCA_LOCAL_LKEY. */
	struct xa_limit limit = XA_LIMIT(1, 0x7ffffe);
	int rc = hca_fails(dev, HCA_FAULT_ALLOC_MR);

	if (!mr || rc) {
		kfree(mr);
		return ERR_PTR(rc ?: -ENOMEM);
	}
	rc = -ENOMEM;
	mr->max = max;
	mr->staged = kvcalloc(max ?: 1, sizeof(*mr->staged), GFP_KERNEL);
	mr->list = kvcalloc(max ?: 1, sizeof(*mr->list), GFP_KERNEL);
	if (mr->staged && mr->list)
		rc = xa_alloc_cyclic(&dev->mrs, &mr->index, mr, limit,
				     &dev->next_mr, GFP_KERNEL);
	if (rc < 0) {
		hca_mr_free(mr);
		return ERR_PTR(rc);
	}
	mr->ib.lkey = mr->index << 8 | (hca_engine_random() & 0xff);
	mr->ib.rkey = mr->ib.lkey;
	return mr;
}

static struct ib_mr *hca_get_dma_mr(struct ib_pd *pd, int access)
{
	struct hca_mr *mr = hca_mr_alloc(pd, 0);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	/* The core sets this later, when the region may be in use already. */
	mr->ib.pd = pd;
	mr->dma = true;
	mr->valid = true;
	mr->key = mr->ib.lkey;
	mr->access = access;
	mr->length = U64_MAX;
	return &mr->ib;
}

static struct ib_mr *hca_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max)
{
	const struct hca_profile *p = to_hca_dev(pd->device)->profile;
	struct hca_mr *mr;

	if (!p->mr_pages || (type != IB_MR_TYPE_MEM_REG &&
			     (type != IB_MR_TYPE_SG_GAPS || !p->gaps)))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max || max > p->mr_pages)
		return ERR_PTR(-EINVAL);
	mr = hca_mr_alloc(pd, max);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ib;
}

static int hca_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct hca_mr *mr = to_hca_mr(ib);
	bool busy;

	mutex_lock(&hca_engine_lock);
	xa_erase(&to_hca_dev(ib->device)->mrs, mr->index);
	busy = READ_ONCE(mr->queued);
	mutex_unlock(&hca_engine_lock);
	/* The engine will still look at the region, so it is left alone. */
	if (busy)
		hca_report(HCA_MR_BUSY, "region %#x is freed while its registration is queued",
			   ib->rkey);
	else
		hca_mr_free(mr);
	return 0;
}

static struct ib_mr *hca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				     u64 iova, int access,
#ifdef HCA_DMAH
				     struct ib_dmah *dmah,
#endif
				     struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int hca_mr_page(struct ib_mr *ib, u64 addr)
{
	struct hca_mr *mr = to_hca_mr(ib);

	if (mr->nstaged == mr->max)
		return -ENOMEM;
	mr->staged[mr->nstaged++] = (struct hca_extent) {
		.addr = addr,
		.len = ib->page_size,
	};
	return 0;
}

/* A region with gaps: each element of the list becomes an element of the region. */
static int hca_mr_gaps(struct hca_mr *mr, struct scatterlist *sgl, int n,
		       unsigned int offset)
{
	struct scatterlist *sg;
	int i;

	mr->ib.length = 0;
	for_each_sg(sgl, sg, n, i) {
		if (mr->nstaged == mr->max)
			break;
		mr->staged[mr->nstaged++] = (struct hca_extent) {
			.addr = sg_dma_address(sg) + offset,
			.len = sg_dma_len(sg) - offset,
		};
		mr->ib.length += sg_dma_len(sg) - offset;
		offset = 0;
	}
	mr->ib.iova = i ? mr->staged[0].addr : 0;
	return i;
}

static int hca_map_mr_sg(struct ib_mr *ib, struct scatterlist *sgl, int n,
			 unsigned int *offset)
{
	struct hca_mr *mr = to_hca_mr(ib);

	/* Some drivers take any size. The adapter then registers pages of 4096 bytes. */
	if (!(ib->page_size & to_hca_dev(ib->device)->profile->page_sizes)) {
		hca_report(HCA_PAGE_SIZE, "region %#x has pages of %u bytes",
			   ib->rkey, ib->page_size);
		return -EINVAL;
	}
	/* A registered region may be mapped again: the adapter has a copy of the list. */
	if (READ_ONCE(mr->queued))
		hca_report(HCA_MR_BUSY, "region %#x is mapped while its registration is queued",
			   ib->rkey);
	mr->nstaged = 0;
	if (ib->type == IB_MR_TYPE_SG_GAPS)
		return hca_mr_gaps(mr, sgl, n, offset ? *offset : 0);
	return ib_sg_to_pages(ib, sgl, n, offset, hca_mr_page);
}

/* --- requests that are not done ----------------------------------------------- */

static void hca_wqe_hold(struct hca_qp *qp, const struct hca_wqe *wqe, int n)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		if (wqe->sge[i].lkey == qp->ib.pd->local_dma_lkey)
			hca_mem_hold(to_hca_dev(qp->ib.device),
				     wqe->sge[i].addr, n);
}

/* The ULP knows that these requests are done. */
static void hca_wq_release(struct hca_qp *qp, struct hca_wq *wq, u32 done)
{
	for (; wq->tail != done; wq->tail++)
		hca_wqe_hold(qp, &wq->wqe[wq->tail % wq->size], -1);
}

/* --- completion queues -------------------------------------------------------- */

#ifdef HCA_CQ_UDATA
static int hca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			 struct ib_udata *user)
#else
static int hca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *user)
#endif
{
	struct hca_cq *cq = to_hca_cq(ib);
	int rc = hca_fails(to_hca_dev(ib->device), HCA_FAULT_CREATE_CQ);

	if (rc)
		return rc;
	if (user || attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > to_hca_dev(ib->device)->profile->cqe)
		return -EINVAL;
	cq->cqe = kvcalloc(attr->cqe, sizeof(*cq->cqe), GFP_KERNEL);
	if (!cq->cqe)
		return -ENOMEM;
	cq->size = attr->cqe;
	ib->cqe = attr->cqe;
	cq->cpu = cpumask_nth(attr->comp_vector % num_online_cpus(),
			      cpu_online_mask);
	INIT_LIST_HEAD(&cq->batch);
	init_irq_work(&cq->irq, hca_cq_irq);
	init_irq_work(&cq->overflow, hca_cq_event);
	return 0;
}

static int hca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct hca_cq *cq = to_hca_cq(ib);

	mutex_lock(&hca_engine_lock);
	spin_lock_irq(&hca_lock);
	list_del_init(&cq->batch);
	spin_unlock_irq(&hca_lock);
	mutex_unlock(&hca_engine_lock);
	irq_work_sync(&cq->irq);
	irq_work_sync(&cq->overflow);
	kvfree(cq->cqe);
	return 0;
}

static int hca_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc)
{
	struct hca_cq *cq = to_hca_cq(ib);
	struct hca_cqe *cqe;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&hca_lock, flags);
	for (i = 0; i < n && cq->tail != cq->seen; i++) {
		cqe = &cq->cqe[cq->tail++ % cq->size];
		hca_wq_release(to_hca_qp(cqe->wc.qp), cqe->wq, cqe->done);
		wc[i] = cqe->wc;
	}
	spin_unlock_irqrestore(&hca_lock, flags);
	return i;
}

static int hca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct hca_cq *cq = to_hca_cq(ib);
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&hca_lock, flags);
	/* A request for any completion is not weakened by one for a solicited completion. */
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = notify & IB_CQ_SOLICITED_MASK;
	if (notify & IB_CQ_REPORT_MISSED_EVENTS)
		rc = cq->tail != cq->seen;
	spin_unlock_irqrestore(&hca_lock, flags);
	return rc;
}

/* The completions of a queue pair that has gone must not be polled. */
static void hca_cq_purge(struct hca_cq *cq, struct hca_qp *qp)
{
	u32 from, to = cq->tail, seen = cq->tail;

	for (from = cq->tail; from != cq->head; from++) {
		if (cq->cqe[from % cq->size].wc.qp != &qp->ib)
			cq->cqe[to++ % cq->size] = cq->cqe[from % cq->size];
		if (from + 1 == cq->seen)
			seen = to;
	}
	cq->head = to;
	cq->seen = seen;
}

/* --- queue pairs -------------------------------------------------------------- */

static void hca_wq_free(struct hca_wq *wq)
{
	kvfree(wq->wqe);
	kvfree(wq->sges);
	kvfree(wq->data);
}

static int hca_wq_alloc(struct hca_wq *wq, u32 size, u32 sges, u32 data)
{
	u32 i;

	wq->size = size;
	wq->max_sge = sges;
	/* Requests without data have no SGE, but there must be a place for one. */
	sges = sges ?: 1;
	wq->wqe = kvcalloc(size ?: 1, sizeof(*wq->wqe), GFP_KERNEL);
	wq->sges = kvcalloc((size ?: 1) * sges, sizeof(*wq->sges), GFP_KERNEL);
	if (data)
		wq->data = kvcalloc(size ?: 1, data, GFP_KERNEL);
	if (!wq->wqe || !wq->sges || (data && !wq->data))
		return -ENOMEM;
	for (i = 0; i < size; i++) {
		wq->wqe[i].sge = wq->sges + i * sges;
		wq->wqe[i].data = data ? wq->data + i * data : NULL;
	}
	return 0;
}

/*
 * The memory of a send queue, as mlx5 computes it (calc_send_wqe(), calc_sq_size()): there, a queue
 * pair may be too large although each of its numbers is within the limits. A request takes a header
 * and 16 bytes for each SGE, or the inline data and their header, in blocks of 64 bytes.
 */
static u64 hca_sq_bytes(const struct ib_qp_cap *cap)
{
	u32 data = cap->max_inline_data ? 4 + cap->max_inline_data : 0;
	u32 wqe = ALIGN(132 + max(16 * cap->max_send_sge, data), 64);

	return roundup_pow_of_two((u64)cap->max_send_wr * wqe);
}

/**
 * hca_qp_put - give back a reference to a queue pair
 * @qp: the queue pair
 *
 * Context: any
 */
void hca_qp_put(struct hca_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->freed);
}

static bool hca_qp_type_ok(struct hca_dev *dev, enum ib_qp_type type)
{
	return type == IB_QPT_RC || (type == IB_QPT_GSI && dev->profile->roce);
}

static int hca_qp_number(struct hca_dev *dev, struct hca_qp *qp,
			 enum ib_qp_type type)
{
	if (type == IB_QPT_GSI) {
		qp->ib.qp_num = 1;
		return xa_insert(&dev->qps, 1, qp, GFP_KERNEL);
	}
	return xa_alloc_cyclic(&dev->qps, &qp->ib.qp_num, qp,
			       XA_LIMIT(2, 0xffffff), &dev->next_qp,
			       GFP_KERNEL);
}

static bool hca_cap_ok(const struct hca_profile *p, const struct ib_qp_cap *cap)
{
	return cap->max_send_wr <= p->qp_wr && cap->max_recv_wr <= p->qp_wr &&
	       cap->max_send_sge <= p->send_sge &&
	       cap->max_recv_sge <= p->recv_sge &&
	       cap->max_inline_data <= p->inline_max;
}

static int hca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	struct hca_dev *dev = to_hca_dev(ib->device);
	struct ib_qp_cap *cap = &attr->cap;
	struct hca_qp *qp = to_hca_qp(ib);
	int rc = hca_fails(dev, HCA_FAULT_CREATE_QP);

	if (rc)
		return rc;
	if (udata || !hca_qp_type_ok(dev, attr->qp_type) || attr->srq ||
	    attr->create_flags)
		return -EOPNOTSUPP;
	if (!hca_cap_ok(dev->profile, cap))
		return -EINVAL;
	if (dev->profile->sq_bytes && cap->max_send_wr &&
	    hca_sq_bytes(cap) > dev->profile->sq_bytes)
		return -ENOMEM;
	rc = hca_wq_alloc(&qp->sq, cap->max_send_wr, cap->max_send_sge,
			  cap->max_inline_data) ?:
	     hca_wq_alloc(&qp->rq, cap->max_recv_wr, cap->max_recv_sge, 0);
	qp->state = IB_QPS_RESET;
	qp->max_inline = cap->max_inline_data;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->hostile = !strcmp(ib->pd->res.kern_name ?: "", HCA_HOSTILE);
	INIT_LIST_HEAD(&qp->active);
	init_irq_work(&qp->event, hca_qp_event);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->freed);
	if (!rc)
		rc = hca_qp_number(dev, qp, attr->qp_type);
	if (rc < 0) {
		hca_wq_free(&qp->sq);
		hca_wq_free(&qp->rq);
		return rc;
	}
	return 0;
}

static int hca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct hca_qp *qp = to_hca_qp(ib);

	mutex_lock(&hca_engine_lock);
	spin_lock_irq(&hca_lock);
	if (ib->qp_type != IB_QPT_GSI &&
	    (qp->sq.next != qp->sq.head || qp->rq.next != qp->rq.head))
		hca_report(HCA_BUSY, "queue pair %u is destroyed with %u requests and %u Receives",
			   ib->qp_num, qp->sq.head - qp->sq.next,
			   qp->rq.head - qp->rq.next);
	hca_qp_error(qp);
	hca_engine_forget(qp);
	hca_wq_release(qp, &qp->sq, qp->sq.head);
	hca_wq_release(qp, &qp->rq, qp->rq.head);
	hca_cq_purge(to_hca_cq(ib->send_cq), qp);
	hca_cq_purge(to_hca_cq(ib->recv_cq), qp);
	spin_unlock_irq(&hca_lock);
	xa_erase(&to_hca_dev(ib->device)->qps, ib->qp_num);
	mutex_unlock(&hca_engine_lock);
	irq_work_sync(&qp->event);
	hca_qp_put(qp);
	/* The connection manager gives its reference back when it has seen the last event. */
	wait_for_completion(&qp->freed);
	hca_wq_free(&qp->sq);
	hca_wq_free(&qp->rq);
	return 0;
}

/*
 * The transitions that a consumer of an iWARP adapter may ask for (roce.c has its own). cm.c makes the transition to
 * RTS. SQD is what iWARP calls CLOSING: the connection ends after the requests in the send queue.
 */
static bool hca_transition_ok(enum ib_qp_state from, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
	case IB_QPS_ERR:
		return true;
	case IB_QPS_INIT:
		return from == IB_QPS_RESET || from == IB_QPS_INIT;
	case IB_QPS_RTR:
		return from == IB_QPS_INIT || from == IB_QPS_RTR;
	case IB_QPS_SQD:
		return from == IB_QPS_RTS || from == IB_QPS_SQD;
	default:
		return false;
	}
}

static void hca_qp_set_state(struct hca_qp *qp, enum ib_qp_state state)
{
	if (state == IB_QPS_ERR) {
		hca_qp_error(qp);
		return;
	}
	if (state == IB_QPS_RESET) {
		if (!hca_qp_roce(qp))
			hca_cm_down(qp);
		hca_engine_forget(qp);
		hca_wq_release(qp, &qp->sq, qp->sq.head);
		hca_wq_release(qp, &qp->rq, qp->rq.head);
	}
	qp->state = state;
	hca_engine_kick(qp);
}

static int hca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct hca_qp *qp = to_hca_qp(ib);
	int rc = 0;

	mutex_lock(&hca_engine_lock);
	spin_lock_irq(&hca_lock);
	if (hca_qp_roce(qp))
		rc = hca_roce_modify(qp, attr, mask);
	else if (mask & IB_QP_STATE &&
		 !hca_transition_ok(qp->state, attr->qp_state))
		rc = -EINVAL;
	if (!rc && mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (!rc && mask & IB_QP_STATE)
		hca_qp_set_state(qp, attr->qp_state);
	spin_unlock_irq(&hca_lock);
	mutex_unlock(&hca_engine_lock);
	return rc;
}

static int hca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	struct hca_qp *qp = to_hca_qp(ib);

	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->qp_access_flags = qp->access;
	attr->max_rd_atomic = min_t(u32, qp->ord, U8_MAX);
	attr->max_dest_rd_atomic = min_t(u32, qp->ird, U8_MAX);
	attr->cap.max_send_wr = qp->sq.size;
	attr->cap.max_recv_wr = qp->rq.size;
	attr->cap.max_send_sge = qp->sq.max_sge;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	attr->cap.max_inline_data = qp->max_inline;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->qp_type = ib->qp_type;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->cap = attr->cap;
	return 0;
}

/* --- posting ------------------------------------------------------------------ */

/**
 * hca_wqe_sum - compute a checksum of the data that a request sends
 * @dev: the adapter
 * @wqe: the request; its SGEs have the local DMA key
 *
 * The data are read as the adapter would read them now. It is reported if the CPU has written to
 * them, and has not given them to the adapter.
 *
 * Context: any
 * Return: the checksum
 */
u32 hca_wqe_sum(struct hca_dev *dev, const struct hca_wqe *wqe)
{
	u32 sum = ~0, i, offset, len;
	u8 part[256];

	for (i = 0; i < wqe->num_sge; i++) {
		for (offset = 0; offset < wqe->sge[i].length; offset += len) {
			len = min_t(u32, sizeof(part),
				    wqe->sge[i].length - offset);
			if (hca_mem_read(dev, wqe->sge[i].addr + offset, part,
					 len, HCA_STALE))
				return sum;
			sum = crc32_le(sum, part, len);
		}
	}
	return sum;
}

/* Does the adapter take the addresses as they are, because the key is the local DMA key? */
static bool hca_sges_local(struct hca_dev *dev, struct ib_pd *pd,
			   const struct hca_wqe *wqe)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		if (wqe->sge[i].lkey != pd->local_dma_lkey)
			return false;
	return wqe->num_sge;
}

static int hca_wqe_inline(struct hca_qp *qp, struct hca_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	u32 i, at = 0;

	if (wqe->length > qp->max_inline) {
		hca_report(HCA_INLINE, "%u bytes inline, queue pair %u has %u",
			   wqe->length, qp->ib.qp_num, qp->max_inline);
		return -EINVAL;
	}
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(wqe->data + at, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		at += wr->sg_list[i].length;
	}
	wqe->num_sge = 0;
	return 0;
}

static int hca_wqe_sges(struct hca_wq *wq, struct hca_wqe *wqe, int max,
			const struct ib_sge *sge, int n, u32 qpn)
{
	int i;

	if (n < 0 || n > max) {
		hca_report(HCA_SGE, "%d SGEs, queue pair %u has %d", n, qpn,
			   max);
		return -EINVAL;
	}
	wqe->num_sge = n;
	wqe->length = 0;
	for (i = 0; i < n; i++) {
		wqe->sge[i] = sge[i];
		wqe->length += sge[i].length;
	}
	return 0;
}

static int hca_wqe_reg(struct hca_wqe *wqe, const struct ib_send_wr *wr)
{
	wqe->mr = to_hca_mr(reg_wr(wr)->mr);
	wqe->key = reg_wr(wr)->key;
	wqe->access = reg_wr(wr)->access;
	wqe->iova = wqe->mr->ib.iova;
	wqe->mr_length = wqe->mr->ib.length;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->mr->queued++;
	return 0;
}

static int hca_wqe_opcode(struct hca_qp *qp, const struct ib_send_wr *wr)
{
	hca_report(HCA_OPCODE, "queue pair %u: opcode %d", qp->ib.qp_num,
		   wr->opcode);
	return -EINVAL;
}

static int hca_wqe_fill(struct hca_qp *qp, struct hca_wqe *wqe,
			const struct ib_send_wr *wr)
{
	struct hca_dev *dev = to_hca_dev(qp->ib.device);
	bool rdma = false, sends = true;
	u32 max = qp->sq.max_sge;
	int rc;

	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->inv = wr->ex.invalidate_rkey;
	wqe->summed = false;
	wqe->ah = NULL;
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		return hca_wqe_reg(wqe, wr);
	case IB_WR_LOCAL_INV:
		if (dev->profile->no_inv)
			return hca_wqe_opcode(qp, wr);
		return hca_wqe_sges(&qp->sq, wqe, 0, NULL, 0, 0);
	case IB_WR_RDMA_READ_WITH_INV:
		/* InfiniBand has no such request. */
		if (dev->profile->roce)
			return hca_wqe_opcode(qp, wr);
		fallthrough;
	case IB_WR_RDMA_READ:
		max = min(max, dev->profile->read_sge);
		sends = false;
		fallthrough;
	case IB_WR_RDMA_WRITE:
		rdma = true;
		fallthrough;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_INV:
		break;
	default:
		return hca_wqe_opcode(qp, wr);
	}
	rc = hca_wqe_sges(&qp->sq, wqe, max, wr->sg_list, wr->num_sge,
			  qp->ib.qp_num);
	if (rc)
		return rc;
	/* ib_drain_sq() posts an RDMA Write without a struct ib_rdma_wr that is filled in. */
	if (rdma)
		wqe->remote = (struct ib_sge) {
			.addr = rdma_wr(wr)->remote_addr,
			.length = wqe->length,
			.lkey = rdma_wr(wr)->rkey,
		};
	if (qp->ib.qp_type == IB_QPT_GSI)
		wqe->ah = to_hca_ah(ud_wr(wr)->ah);
	if (wqe->flags & IB_SEND_INLINE)
		return sends ? hca_wqe_inline(qp, wqe, wr) : -EINVAL;
	wqe->summed = hca_check && sends && !hca_direct &&
		      hca_sges_local(dev, qp->ib.pd, wqe);
	if (wqe->summed)
		wqe->sum = hca_wqe_sum(dev, wqe);
	return 0;
}

/*
 * Requests without data are the markers of ib_drain_qp(). Drivers whose adapters can fail have
 * functions of their own for them, which always succeed.
 */
static int hca_post_fails(struct hca_qp *qp, int num_sge, enum hca_fault fault)
{
	return num_sge ? hca_fails(to_hca_dev(qp->ib.device), fault) : 0;
}

static int hca_post_one_send(struct hca_qp *qp, const struct ib_send_wr *wr)
{
	bool marker = wr->opcode == IB_WR_RDMA_WRITE && !wr->num_sge;
	struct hca_wq *wq = &qp->sq;
	int rc;

	rc = hca_post_fails(qp, !marker, HCA_FAULT_POST_SEND);
	if (rc)
		return rc;
	if (qp->state < IB_QPS_RTS) {
		hca_report(HCA_STATE, "request for queue pair %u in state %d",
			   qp->ib.qp_num, qp->state);
		return -EINVAL;
	}
	if (wq->head - wq->tail >= wq->size) {
		hca_report(HCA_SQ_OVERFLOW, "queue pair %u has %u requests",
			   qp->ib.qp_num, wq->size);
		return -ENOMEM;
	}
	rc = hca_wqe_fill(qp, &wq->wqe[wq->head % wq->size], wr);
	if (!rc)
		hca_wqe_hold(qp, &wq->wqe[wq->head++ % wq->size], 1);
	return rc;
}

static int hca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	struct hca_qp *qp = to_hca_qp(ib);
	unsigned long flags;
	int rc = 0;

	hca_count(HCA_N_DOORBELLS, 1);
	/* When a request is executed, the ULP may free the whole chain. So the engine waits. */
	spin_lock_irqsave(&hca_lock, flags);
	for (; wr && !rc; wr = wr->next) {
		rc = hca_post_one_send(qp, wr);
		if (rc)
			*bad = wr;
	}
	hca_engine_kick(qp);
	spin_unlock_irqrestore(&hca_lock, flags);
	return rc;
}

static int hca_post_one_recv(struct hca_qp *qp, const struct ib_recv_wr *wr)
{
	struct hca_wq *wq = &qp->rq;
	struct hca_wqe *wqe;
	int rc;

	rc = hca_post_fails(qp, wr->num_sge, HCA_FAULT_POST_RECV);
	if (rc)
		return rc;
	if (qp->state == IB_QPS_RESET) {
		hca_report(HCA_STATE, "Receive for queue pair %u in state RESET",
			   qp->ib.qp_num);
		return -EINVAL;
	}
	if (wq->head - wq->tail >= wq->size) {
		hca_report(HCA_RQ_OVERFLOW, "queue pair %u has %u Receives",
			   qp->ib.qp_num, wq->size);
		return -ENOMEM;
	}
	wqe = &wq->wqe[wq->head % wq->size];
	wqe->wr_id = wr->wr_id;
	rc = hca_wqe_sges(wq, wqe, wq->max_sge, wr->sg_list, wr->num_sge,
			  qp->ib.qp_num);
	if (!rc) {
		hca_wqe_hold(qp, wqe, 1);
		wq->head++;
	}
	return rc;
}

static int hca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct hca_qp *qp = to_hca_qp(ib);
	unsigned long flags;
	int rc = 0;

	hca_count(HCA_N_DOORBELLS, 1);
	spin_lock_irqsave(&hca_lock, flags);
	for (; wr && !rc; wr = wr->next) {
		rc = hca_post_one_recv(qp, wr);
		if (rc)
			*bad = wr;
	}
	/* It may have to be flushed. */
	hca_engine_kick(qp);
	spin_unlock_irqrestore(&hca_lock, flags);
	return rc;
}

const struct ib_device_ops hca_verbs_ops = {
	.alloc_mr = hca_alloc_mr,
	.alloc_pd = hca_alloc_pd,
	.create_cq = hca_create_cq,
	.create_qp = hca_create_qp,
	.dealloc_pd = hca_dealloc_pd,
	.dereg_mr = hca_dereg_mr,
	.destroy_cq = hca_destroy_cq,
	.destroy_qp = hca_destroy_qp,
	.get_dma_mr = hca_get_dma_mr,
	.map_mr_sg = hca_map_mr_sg,
	.modify_qp = hca_modify_qp,
	.poll_cq = hca_poll_cq,
	.post_recv = hca_post_recv,
	.post_send = hca_post_send,
	.query_qp = hca_query_qp,
	.reg_user_mr = hca_reg_user_mr,
	.req_notify_cq = hca_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, hca_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, hca_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, hca_qp, ib),
};
