// SPDX-License-Identifier: GPL-2.0
/*
 * Self test: a ULP that violates each rule once
 *
 * Each case gets two queue pairs that are joined, a page that is mapped in both directions, and a
 * region. It then does one thing wrong, and the report of this kind must come. Before that, the
 * first case does everything right, and there must be no report at all.
 */
#include <linux/delay.h>
#include <linux/sizes.h>
#include <rdma/ib_cache.h>
#include "hca.h"

#define ST_WRS		4
#define ST_SGES		2
#define ST_INLINE	16

/**
 * struct st - what a case works with
 * @dev: adapter
 * @pd: protection domain
 * @other: another one
 * @cq: completions of requests of @qp[0]; the other queue pair uses it for Receives, too
 * @qp: queue pairs
 * @mr: region, not registered
 * @page: memory
 * @addr: its DMA address
 * @sg: the same as a list
 * @wc: last completion
 * @events: bits of asynchronous events
 */
struct st {
	struct hca_dev *dev;
	struct ib_pd *pd;
	struct ib_pd *other;
	struct ib_cq *cq;
	struct ib_qp *qp[2];
	struct ib_mr *mr;
	u8 *page;
	u64 addr;
	struct scatterlist sg;
	struct ib_wc wc;
	unsigned long events;
};

/* The cases run with this profile: mlx5, which lacks nothing, unless a case changes it. */
static struct hca_profile st_profile;

/* --- helpers ------------------------------------------------------------------ */

static struct ib_sge st_sge(struct st *st, u32 offset, u32 len)
{
	return (struct ib_sge) { .addr = st->addr + offset, .length = len,
				 .lkey = st->pd->local_dma_lkey };
}

/* Map the first bytes of the page once more. */
static u64 st_map_single(struct st *st, u32 len, enum dma_data_direction dir)
{
	u64 addr = ib_dma_map_single(&st->dev->ib, st->page, len, dir);

	return ib_dma_mapping_error(&st->dev->ib, addr) ? 0 : addr;
}

static int st_post(struct st *st, struct ib_send_wr *wr)
{
	wr->send_flags |= IB_SEND_SIGNALED;
	return ib_post_send(st->qp[0], wr, NULL);
}

static enum ib_wc_status st_poll(struct st *st)
{
	unsigned int i;

	for (i = 0; i < 200; i++) {
		if (ib_poll_cq(st->cq, 1, &st->wc) == 1)
			return st->wc.status;
		usleep_range(100, 1000);
	}
	return IB_WC_GENERAL_ERR;
}

static int st_recv(struct st *st, u32 offset, u32 len)
{
	struct ib_sge sge = st_sge(st, offset, len);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(st->qp[1], &wr, NULL);
}

static int st_send(struct st *st, struct ib_sge sge, int flags)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge,
				 .num_sge = 1, .send_flags = flags };

	return st_post(st, &wr);
}

static int st_rdma(struct st *st, enum ib_wr_opcode opcode, struct ib_sge sge,
		   u64 addr, u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = addr,
		.rkey = rkey,
	};

	return st_post(st, &wr.wr);
}

static int st_reg(struct st *st, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = { .wr = { .opcode = IB_WR_REG_MR },
				.mr = mr, .key = mr->rkey, .access = access };

	return st_post(st, &wr.wr);
}

static int st_inv(struct st *st)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV,
				 .ex.invalidate_rkey = st->mr->rkey };

	return st_post(st, &wr);
}

static int st_map(struct st *st, struct ib_mr *mr)
{
	return ib_map_mr_sg(mr, &st->sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EIO;
}

static enum ib_wc_status st_register(struct st *st, int access)
{
	if (st_map(st, st->mr) || st_reg(st, st->mr, access))
		return IB_WC_GENERAL_ERR;
	return st_poll(st);
}

static void st_write(struct st *st, u64 offset, u32 len)
{
	st_rdma(st, IB_WR_RDMA_WRITE, st_sge(st, 0, len),
		st->mr->iova + offset, st->mr->rkey);
	st_poll(st);
}

/* --- cases -------------------------------------------------------------------- */

static void st_good(struct st *st)
{
	int all = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
		  IB_ACCESS_REMOTE_READ;
	bool ok = !st_recv(st, 1024, 64) && !st_send(st, st_sge(st, 0, 32), 0);
	struct ib_sge sink;

	/* The completions of a Send and of its Receive come in any order. */
	ok = ok && st_poll(st) == IB_WC_SUCCESS && st_poll(st) == IB_WC_SUCCESS;
	ok = ok && st_register(st, all) == IB_WC_SUCCESS;
	st_rdma(st, IB_WR_RDMA_WRITE, st_sge(st, 0, 32), st->mr->iova + 2048,
		st->mr->rkey);
	ok = ok && st_poll(st) == IB_WC_SUCCESS;
	sink = (struct ib_sge) { .addr = st->mr->iova + 3072, .length = 32,
				 .lkey = st->mr->lkey };
	/* With RoCE, the sink need not be a region that the peer may write to. */
	if (hca_qp_roce(to_hca_qp(st->qp[0])))
		sink = st_sge(st, 3072, 32);
	st_rdma(st, IB_WR_RDMA_READ, sink, st->mr->iova, st->mr->rkey);
	ok = ok && st_poll(st) == IB_WC_SUCCESS;
	ok = ok && !st_inv(st) && st_poll(st) == IB_WC_SUCCESS;
	ib_dma_sync_single_for_cpu(&st->dev->ib, st->addr, PAGE_SIZE,
				   DMA_BIDIRECTIONAL);
	if (!ok || memcmp(st->page, st->page + 1024, 32) ||
	    memcmp(st->page, st->page + 2048, 32) ||
	    memcmp(st->page, st->page + 3072, 32))
		pr_err("hca_sim: self test failed: data\n");
}

/* Each number is within the limits, but the send queue is too large. */
static void st_sq_bytes(struct st *st)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 100, .max_recv_wr = ST_WRS,
			 .max_send_sge = ST_SGES, .max_recv_sge = ST_SGES },
		.qp_type = IB_QPT_RC,
		.send_cq = st->cq,
		.recv_cq = st->cq,
	};
	struct ib_qp *qp;

	/* A request takes 132 + 2 * 16 bytes, rounded up to 192. */
	st_profile.sq_bytes = SZ_16K;
	qp = ib_create_qp(st->pd, &attr);
	if (qp != ERR_PTR(-ENOMEM))
		pr_err("hca_sim: self test failed: size of a send queue\n");
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	attr.cap.max_send_wr = 85;
	qp = ib_create_qp(st->pd, &attr);
	if (IS_ERR(qp))
		pr_err("hca_sim: self test failed: queue pair: %ld\n", PTR_ERR(qp));
	else
		ib_destroy_qp(qp);
}

static void st_unmapped(struct st *st)
{
	struct ib_sge sge = st_sge(st, 0, 8);

	sge.addr += PAGE_SIZE;
	st_recv(st, 0, 8);
	st_send(st, sge, 0);
}

static void st_beyond(struct st *st)
{
	st_recv(st, 0, 64);
	st_send(st, st_sge(st, PAGE_SIZE - 8, 16), 0);
}

static void st_direction(struct st *st)
{
	struct ib_sge sge = st_sge(st, 0, 8);

	sge.addr = st_map_single(st, 8, DMA_FROM_DEVICE);
	st_recv(st, 0, 8);
	st_send(st, sge, 0);
	st_poll(st);
	ib_dma_unmap_single(&st->dev->ib, sge.addr, 8, DMA_FROM_DEVICE);
}

static void st_owner(struct st *st)
{
	ib_dma_sync_single_for_cpu(&st->dev->ib, st->addr, 8,
				   DMA_BIDIRECTIONAL);
	st_recv(st, 64, 8);
	st_send(st, st_sge(st, 0, 8), 0);
}

static void st_stale(struct st *st)
{
	st->page[0] ^= 1;
	st_recv(st, 64, 8);
	st_send(st, st_sge(st, 0, 8), 0);
}

static void st_changed(struct st *st)
{
	st_recv(st, 64, 8);
	mutex_lock(&hca_engine_lock);
	st_send(st, st_sge(st, 0, 8), 0);
	st->page[0] ^= 1;
	mutex_unlock(&hca_engine_lock);
	st_poll(st);
}

static void st_unmap(struct st *st)
{
	u64 addr = st_map_single(st, 64, DMA_TO_DEVICE);

	ib_dma_unmap_single(&st->dev->ib, addr, 32, DMA_TO_DEVICE);
}

static void st_in_use(struct st *st)
{
	struct ib_sge sge = st_sge(st, 0, 8);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	sge.addr = st_map_single(st, 8, DMA_FROM_DEVICE);
	ib_post_recv(st->qp[1], &wr, NULL);
	ib_dma_unmap_single(&st->dev->ib, sge.addr, 8, DMA_FROM_DEVICE);
}

static void st_sq_overflow(struct st *st)
{
	unsigned int i;

	/* No completion is polled, so it does not matter how many are executed. */
	for (i = 0; i <= ST_WRS; i++)
		st_send(st, st_sge(st, 0, 0), 0);
}

static void st_rq_overflow(struct st *st)
{
	unsigned int i;

	for (i = 0; i <= ST_WRS; i++)
		st_recv(st, 0, 8);
}

/* The queue has ST_WRS entries: these fill it, and Receives of a broken connection come, too. */
static void st_cq_overflow(struct st *st)
{
	unsigned int i;

	for (i = 0; i < ST_WRS; i++)
		st_recv(st, 0, 8);
	for (i = 0; i < ST_WRS; i++)
		st_send(st, st_sge(st, 64, 8), 0);
	msleep(50);
}

static void st_state(struct st *st)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	ib_modify_qp(st->qp[0], &attr, IB_QP_STATE);
	st_send(st, st_sge(st, 0, 8), 0);
}

static void st_opcode(struct st *st)
{
	struct ib_send_wr wr = { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD };

	st_post(st, &wr);
}

static void st_no_inv(struct st *st)
{
	st_register(st, IB_ACCESS_REMOTE_WRITE);
	st_profile.no_inv = true;
	st_inv(st);
}

static void st_sges(struct st *st)
{
	struct ib_sge sge[ST_SGES + 1] = {};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge,
				 .num_sge = ST_SGES + 1 };

	st_post(st, &wr);
}

static void st_inline(struct st *st)
{
	struct ib_sge sge = { .addr = (uintptr_t)st->page,
			      .length = ST_INLINE + 1 };

	st_send(st, sge, IB_SEND_INLINE);
}

static void st_rnr(struct st *st)
{
	st_send(st, st_sge(st, 0, 8), 0);
	st_poll(st);
}

static void st_length(struct st *st)
{
	st_recv(st, 0, 8);
	st_send(st, st_sge(st, 64, 16), 0);
}

static void st_key(struct st *st)
{
	st_rdma(st, IB_WR_RDMA_WRITE, st_sge(st, 0, 8), 0, st->mr->rkey + 0x1000);
	if (st_poll(st) != IB_WC_REM_ACCESS_ERR ||
	    to_hca_qp(st->qp[0])->state != IB_QPS_ERR ||
	    to_hca_qp(st->qp[1])->state != IB_QPS_ERR)
		pr_err("hca_sim: self test failed: remote access error\n");
}

static void st_mr_invalid(struct st *st)
{
	st_map(st, st->mr);
	st_write(st, 0, 8);
}

static void st_mr_twice(struct st *st)
{
	st_register(st, IB_ACCESS_REMOTE_WRITE);
	st_register(st, IB_ACCESS_REMOTE_WRITE);
}

static void st_inv_twice(struct st *st)
{
	st_register(st, IB_ACCESS_REMOTE_WRITE);
	st_inv(st);
	st_inv(st);
}

static void st_mr_busy(struct st *st)
{
	st_map(st, st->mr);
	mutex_lock(&hca_engine_lock);
	st_reg(st, st->mr, IB_ACCESS_REMOTE_WRITE);
	st_map(st, st->mr);
	mutex_unlock(&hca_engine_lock);
	st_poll(st);
}

static void st_mr_list(struct st *st)
{
	st_reg(st, st->mr, IB_ACCESS_REMOTE_WRITE);
}

static void st_page_size(struct st *st)
{
	ib_map_mr_sg(st->mr, &st->sg, 1, NULL, 256);
}

static void st_pd(struct st *st)
{
	struct ib_mr *mr = ib_alloc_mr(st->other, IB_MR_TYPE_MEM_REG, 4);

	if (IS_ERR(mr))
		return;
	st_map(st, mr);
	st_reg(st, mr, IB_ACCESS_REMOTE_WRITE);
	st_poll(st);
	ib_dereg_mr(mr);
}

static void st_rights(struct st *st)
{
	st_register(st, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ);
	st_write(st, 0, 8);
}

static void st_bounds(struct st *st)
{
	st_register(st, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	st_write(st, PAGE_SIZE - 4, 8);
}

static void st_ord(struct st *st)
{
	to_hca_qp(st->qp[0])->ord = 0;
	st_rdma(st, IB_WR_RDMA_READ, st_sge(st, 0, 8), 0, 0);
}

static void st_ird(struct st *st)
{
	to_hca_qp(st->qp[1])->ird = 0;
	st_rdma(st, IB_WR_RDMA_READ, st_sge(st, 0, 8), 0, 0);
}

/* With RoCE, a Send may wait for a Receive. */
static void st_late(struct st *st)
{
	struct hca_qp *qp = to_hca_qp(st->qp[0]);

	if (!hca_qp_roce(qp))
		return;
	qp->roce.rnr_retry = 7;
	to_hca_qp(st->qp[1])->roce.min_rnr_timer = 1;
	st_send(st, st_sge(st, 0, 8), 0);
	msleep(20);
	st_recv(st, 64, 8);
	if (st_poll(st) != IB_WC_SUCCESS || st_poll(st) != IB_WC_SUCCESS)
		pr_err("hca_sim: self test failed: late Receive\n");
}

/* There is no report: the peer has only gone. */
static void st_lost(struct st *st)
{
	bool roce = hca_qp_roce(to_hca_qp(st->qp[0]));
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	enum ib_wc_status status;

	ib_modify_qp(st->qp[1], &attr, IB_QP_STATE);
	st_send(st, st_sge(st, 0, 8), 0);
	status = st_poll(st);
	if (status != (roce ? IB_WC_RETRY_EXC_ERR : IB_WC_WR_FLUSH_ERR))
		pr_err("hca_sim: self test failed: peer lost: %d\n", status);
}

static void st_busy(struct st *st)
{
	st_recv(st, 0, 8);
	ib_destroy_qp(st->qp[1]);
	st->qp[1] = NULL;
}

static const struct {
	enum hca_kind kind;
	void (*violate)(struct st *st);
	unsigned long events;
} st_cases[] = {
	{ HCA_KIND_COUNT, st_good },
	{ HCA_KIND_COUNT, st_sq_bytes },
	{ HCA_KIND_COUNT, st_late },
	{ HCA_KIND_COUNT, st_lost },
	/* From here to HCA_IN_USE, the adapter must have DMA operations of its own. */
	{ HCA_UNMAPPED, st_unmapped },
	{ HCA_BEYOND, st_beyond },
	{ HCA_DIRECTION, st_direction },
	{ HCA_OWNER, st_owner },
	{ HCA_STALE, st_stale },
	{ HCA_CHANGED, st_changed },
	{ HCA_UNMAP, st_unmap },
	{ HCA_IN_USE, st_in_use },
	{ HCA_SQ_OVERFLOW, st_sq_overflow },
	{ HCA_RQ_OVERFLOW, st_rq_overflow },
	{ HCA_CQ_OVERFLOW, st_cq_overflow, BIT(IB_EVENT_CQ_ERR) },
	{ HCA_STATE, st_state },
	{ HCA_OPCODE, st_opcode },
	{ HCA_OPCODE, st_no_inv },
	{ HCA_SGE, st_sges },
	{ HCA_INLINE, st_inline },
	{ HCA_RNR, st_rnr },
	{ HCA_LENGTH, st_length, BIT(IB_EVENT_QP_REQ_ERR) },
	{ HCA_KEY, st_key },
	{ HCA_MR_INVALID, st_mr_invalid },
	{ HCA_MR_TWICE, st_mr_twice },
	{ HCA_INV_TWICE, st_inv_twice },
	{ HCA_MR_BUSY, st_mr_busy },
	{ HCA_MR_LIST, st_mr_list },
	{ HCA_PAGE_SIZE, st_page_size },
	{ HCA_PD, st_pd },
	{ HCA_RIGHTS, st_rights, BIT(IB_EVENT_QP_ACCESS_ERR) },
	{ HCA_BOUNDS, st_bounds },
	{ HCA_ORD, st_ord },
	{ HCA_IRD, st_ird },
	{ HCA_BUSY, st_busy },
};

/* --- running ------------------------------------------------------------------ */

static void st_event(struct ib_event *event, void *st)
{
	set_bit(event->event, &((struct st *)st)->events);
}

static int st_connect_iwarp(struct st *st)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	struct hca_qp *a = to_hca_qp(st->qp[0]), *b = to_hca_qp(st->qp[1]);
	int rc;

	rc = ib_modify_qp(st->qp[0], &attr, IB_QP_STATE) ?:
	     ib_modify_qp(st->qp[1], &attr, IB_QP_STATE);
	if (rc)
		return rc;
	mutex_lock(&hca_engine_lock);
	spin_lock_irq(&hca_lock);
	a->ord = 1;
	b->ird = 1;
	hca_cm_join(a, b);
	spin_unlock_irq(&hca_lock);
	mutex_unlock(&hca_engine_lock);
	return 0;
}

/* What ib_cm does. The path leads to the adapter itself. */
static int st_connect_roce(struct st *st, struct ib_qp *qp, struct ib_qp *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = peer->qp_num,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.timeout = 12,
		.retry_cnt = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE,
	};
	union ib_gid gid;
	int rc;

	rc = rdma_query_gid(qp->device, 1, 0, &gid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, 0, 1, 0);
	memcpy(attr.ah_attr.roce.dmac, st->dev->netdev->dev_addr, ETH_ALEN);
	rc = rc ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
				IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	rc = rc ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
				IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	return rc ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
				  IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				  IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int st_connect(struct st *st)
{
	if (!hca_qp_roce(to_hca_qp(st->qp[0])))
		return st_connect_iwarp(st);
	return st_connect_roce(st, st->qp[0], st->qp[1]) ?:
	       st_connect_roce(st, st->qp[1], st->qp[0]);
}

static int st_open(struct st *st)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = ST_WRS, .max_recv_wr = ST_WRS,
			 .max_send_sge = ST_SGES, .max_recv_sge = ST_SGES,
			 .max_inline_data = ST_INLINE },
		.qp_type = IB_QPT_RC,
		.event_handler = st_event,
		.qp_context = st,
	};
	struct ib_cq_init_attr cq = { .cqe = ST_WRS };
	struct ib_device *ib = &st->dev->ib;

	st->pd = ib_alloc_pd(ib, 0);
	st->other = ib_alloc_pd(ib, 0);
	st->cq = ib_create_cq(ib, NULL, st_event, st, &cq);
	if (IS_ERR(st->pd) || IS_ERR(st->other) || IS_ERR(st->cq))
		return -ENOMEM;
	attr.send_cq = st->cq;
	attr.recv_cq = st->cq;
	st->qp[0] = ib_create_qp(st->pd, &attr);
	st->qp[1] = ib_create_qp(st->pd, &attr);
	st->mr = ib_alloc_mr(st->pd, IB_MR_TYPE_MEM_REG, 4);
	st->page = (u8 *)get_zeroed_page(GFP_KERNEL);
	if (IS_ERR(st->qp[0]) || IS_ERR(st->qp[1]) || IS_ERR(st->mr) ||
	    !st->page)
		return -ENOMEM;
	memset(st->page, 0x5c, 64);
	sg_init_one(&st->sg, st->page, PAGE_SIZE);
	if (ib_dma_map_sg(ib, &st->sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -ENOMEM;
	st->addr = sg_dma_address(&st->sg);
	return st_connect(st);
}

static void st_close(struct st *st)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (st->qp[i]) {
			ib_modify_qp(st->qp[i], &attr, IB_QP_STATE);
			ib_destroy_qp(st->qp[i]);
		}
	ib_dma_unmap_sg(&st->dev->ib, &st->sg, 1, DMA_BIDIRECTIONAL);
	free_page((unsigned long)st->page);
	ib_dereg_mr(st->mr);
	ib_destroy_cq(st->cq);
	ib_dealloc_pd(st->other);
	ib_dealloc_pd(st->pd);
}

static unsigned long st_reports(enum hca_kind kind)
{
	unsigned long sum = 0;

	if (kind != HCA_KIND_COUNT)
		return hca_reports(kind);
	/* A queue pair may be destroyed with Receives in it. */
	for (kind = 0; kind < HCA_BUSY; kind++)
		sum += hca_reports(kind);
	return sum;
}

/* Returns 0 if all is right, 1 if the report is missing, 2 if an event is, or a negative errno. */
static int st_run(struct hca_dev *dev, unsigned int i)
{
	unsigned long before = st_reports(st_cases[i].kind);
	struct st st = { .dev = dev };
	bool made;
	int rc;

	st_profile = *hca_profile_find("mlx5");
	/* The core has already asked for these. */
	st_profile.lkey = dev->ib.attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY;
	st_profile.roce = rdma_protocol_roce(&dev->ib, 1);
	/* If there is no memory for it, the rest is lost. That is good enough for a test. */
	rc = st_open(&st);
	if (rc)
		return rc;
	st_cases[i].violate(&st);
	st_poll(&st);
	made = st_reports(st_cases[i].kind) != before;
	st_close(&st);
	if ((st.events & st_cases[i].events) != st_cases[i].events)
		return 2;
	return made == (st_cases[i].kind == HCA_KIND_COUNT);
}

/**
 * hca_selftest - violate each rule once, and expect the report
 * @dev: adapter
 *
 * A line in the kernel log says what failed.
 *
 * Context: process
 */
void hca_selftest(struct hca_dev *dev)
{
	const struct hca_profile *profile = dev->profile;
	unsigned int i, run = 0, bad = 0;
	int rc;

	hca_quiet(true);
	dev->profile = &st_profile;
	for (i = 0; i < ARRAY_SIZE(st_cases); i++) {
		if (hca_direct && st_cases[i].kind <= HCA_IN_USE)
			continue;
		rc = st_run(dev, i);
		run++;
		if (!rc)
			continue;
		bad++;
		pr_err("hca_sim: self test failed: case %u, kind %d: %d\n", i,
		       st_cases[i].kind, rc);
	}
	dev->profile = profile;
	hca_quiet(false);
	pr_info("hca_sim: self test: %u cases, %u failed\n", run, bad);
}
