// SPDX-License-Identifier: GPL-2.0
/*
 * Engine: executes the requests
 *
 * One thread executes the requests of all queue pairs of all adapters, so there is one order of all
 * that happens, and it depends only on the seed and on when ULPs post. Only this thread makes
 * completions, and only it changes memory regions. So if a ULP has seen the completions of a queue
 * pair that was flushed, no access through that queue pair is under way any more.
 *
 * Operation
 *	1. Choose one of the first queue pairs in the list, and execute a few of its requests. The
 *	   sequence of random numbers decides which one, and how many requests. The queue pair then
 *	   goes to the end of the list, so that each gets its turn.
 *	2. Completions collect in their queues. The ULP cannot poll them yet.
 *	3. Sometimes, and always if nothing is left to do, end the batch: publish the completions,
 *	   and interrupt for each queue that is armed. Completions that are not due yet (parameter
 *	   delay_us) wait.
 *
 * Measuring
 *	With the parameter poll, the engine never sleeps. If its thread has the policy SCHED_IDLE,
 *	it runs when the processor would be idle, as the hardware would. So nothing of the adapter
 *	interrupts the ULP, and posting a request wakes nobody. What the processor did for the
 *	adapter is hca_engine_time(), and the rest is what the ULP and the kernel take.
 */
#include <linux/crc32.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <asm/irq_work.h>
#include "hca.h"

/* How many queue pairs the next one is chosen from, and how many requests it may have executed */
#define HCA_CHOICE	8
#define HCA_BURST	4

/* See hca.h. */
DEFINE_MUTEX(hca_engine_lock);

/* These are under hca_lock. */
static LIST_HEAD(hca_active);
static LIST_HEAD(hca_batches);
static struct rnd_state hca_rnd;
/* When the first of the completions that wait is due */
static u64 hca_due = U64_MAX;

static DECLARE_WAIT_QUEUE_HEAD(hca_engine_wait);
static bool hca_engine_kicked;
static struct task_struct *hca_engine_task;
/* Nanoseconds that completion handlers of ULPs took, while they interrupted the engine */
static u64 hca_handlers;
/* A piece of data on its way from one end to the other */
static u8 hca_piece[PAGE_SIZE];

/**
 * hca_engine_random - get the next random number
 *
 * Context: any
 * Return: the number
 */
u32 hca_engine_random(void)
{
	return prandom_u32_state(&hca_rnd);
}

/* --- completions -------------------------------------------------------------- */

/**
 * hca_cq_irq - call the completion handler
 * @work: of the completion queue
 *
 * Context: hard interrupt, as the handler of a real adapter's interrupt
 */
void hca_cq_irq(struct irq_work *work)
{
	struct hca_cq *cq = container_of(work, struct hca_cq, irq);
	u64 t = local_clock();

	hca_count(HCA_N_INTERRUPTS, 1);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	if (current == hca_engine_task)
		hca_handlers += local_clock() - t;
}

static void hca_cq_raise(void *cq)
{
	irq_work_queue(&((struct hca_cq *)cq)->irq);
}

/*
 * Interrupt the processor of the queue's vector. irq_work_queue_on() is not for modules, so that
 * processor is asked to interrupt itself. Where such interrupts wait for the next tick (User-mode
 * Linux), the handler is called directly.
 */
static void hca_cq_interrupt(struct hca_cq *cq)
{
	if (!arch_irq_work_has_interrupt()) {
		local_irq_disable();
		hca_cq_irq(&cq->irq);
		local_irq_enable();
	} else if (smp_call_function_single(cq->cpu, hca_cq_raise, cq, true)) {
		/* It has gone offline. */
		irq_work_queue(&cq->irq);
	}
}

/*
 * Publish the completions of a queue that are due. The others stay in @later. Returns whether the
 * ULP wants an interrupt.
 */
static bool hca_cq_publish(struct hca_cq *cq, struct list_head *later)
{
	u64 now = ktime_get_ns();
	u32 before = cq->seen;
	bool wanted;

	lockdep_assert_held(&hca_lock);
	while (cq->seen != cq->head && cq->cqe[cq->seen % cq->size].due <= now)
		cq->seen++;
	if (cq->seen != cq->head) {
		list_move(&cq->batch, later);
		hca_due = min(hca_due, cq->cqe[cq->seen % cq->size].due);
	} else {
		list_del_init(&cq->batch);
	}
	if (cq->seen == before)
		return false;
	wanted = cq->armed == IB_CQ_NEXT_COMP ||
		 (cq->armed == IB_CQ_SOLICITED && cq->solicited);
	if (cq->seen == cq->head)
		cq->solicited = false;
	if (wanted)
		cq->armed = 0;
	return wanted;
}

/* End the batch. The order of the interrupts is random, too. */
static void hca_batches_end(void)
{
	struct hca_cq *cq;
	LIST_HEAD(later);

	spin_lock_irq(&hca_lock);
	hca_due = U64_MAX;
	while (!list_empty(&hca_batches)) {
		cq = hca_engine_random() & 1 ?
			list_first_entry(&hca_batches, struct hca_cq, batch) :
			list_last_entry(&hca_batches, struct hca_cq, batch);
		if (!hca_cq_publish(cq, &later))
			continue;
		/* The handler may take the lock. The engine's mutex keeps the queue alive. */
		spin_unlock_irq(&hca_lock);
		hca_cq_interrupt(cq);
		spin_lock_irq(&hca_lock);
	}
	list_splice(&later, &hca_batches);
	spin_unlock_irq(&hca_lock);
}

static void hca_complete(struct ib_cq *ib, struct hca_qp *qp, struct hca_wq *wq,
			 struct ib_wc *wc, bool solicited)
{
	struct hca_cq *cq = to_hca_cq(ib);
	struct hca_cqe *cqe;

	lockdep_assert_held(&hca_lock);
	wc->qp = &qp->ib;
	wc->port_num = 1;
	if (cq->head - cq->tail >= cq->size) {
		hca_report(HCA_CQ_OVERFLOW, "completion queue of queue pair %u has %u entries",
			   qp->ib.qp_num, cq->size);
		irq_work_queue(&cq->overflow);
		return;
	}
	hca_count(HCA_N_COMPLETIONS, 1);
	cqe = &cq->cqe[cq->head++ % cq->size];
	cqe->wc = *wc;
	cqe->wq = wq;
	cqe->done = wq->next;
	cqe->due = ktime_get_ns() + hca_delay_us * (u64)NSEC_PER_USEC;
	cq->solicited |= solicited || wc->status != IB_WC_SUCCESS;
	if (list_empty(&cq->batch))
		list_add_tail(&cq->batch, &hca_batches);
}

static enum ib_wc_opcode hca_wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return IB_WC_RDMA_READ;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	default:
		return IB_WC_SEND;
	}
}

/* The next request of the send queue is done. */
static void hca_sq_complete(struct hca_qp *qp, enum ib_wc_status status)
{
	struct hca_wqe *wqe = &qp->sq.wqe[qp->sq.next++ % qp->sq.size];
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = hca_wc_opcode(wqe->opcode),
		.byte_len = wqe->length,
	};

	if (wqe->opcode == IB_WR_REG_MR)
		wqe->mr->queued--;
	if (qp->sig_all || wqe->flags & IB_SEND_SIGNALED ||
	    status != IB_WC_SUCCESS)
		hca_complete(qp->ib.send_cq, qp, &qp->sq, &wc, false);
}

/* The next Receive is done. */
static void hca_rq_complete(struct hca_qp *qp, enum ib_wc_status status,
			    const struct hca_wqe *send)
{
	struct hca_wqe *wqe = &qp->rq.wqe[qp->rq.next++ % qp->rq.size];
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = IB_WC_RECV,
	};

	if (send && status == IB_WC_SUCCESS) {
		wc.byte_len = send->length;
		if (send->opcode == IB_WR_SEND_WITH_INV) {
			wc.wc_flags = IB_WC_WITH_INVALIDATE;
			wc.ex.invalidate_rkey = send->inv;
		}
		if (send->ah)
			hca_roce_mad_wc(send->ah, &wc);
	}
	hca_complete(qp->ib.recv_cq, qp, &qp->rq, &wc,
		     send && send->flags & IB_SEND_SOLICITED);
}

/* --- memory regions ----------------------------------------------------------- */

/* Is one end of this request a program that breaks rules? */
static bool hca_hostile;

/* Report a violation that needs two ends. */
#define hca_report_between(...) \
do { \
	if (!hca_hostile) \
		hca_report(__VA_ARGS__); \
} while (0)

/* Report a violation of @who, "local" or "remote". */
#define hca_report_by(who, ...) \
do { \
	if (*(who) == 'l' || !hca_hostile) \
		hca_report(__VA_ARGS__); \
} while (0)

static struct hca_mr *hca_mr_find(struct hca_qp *qp, u32 key)
{
	return xa_load(&to_hca_dev(qp->ib.device)->mrs, key >> 8);
}

static bool hca_key_local(struct hca_qp *qp, u32 key)
{
	return key == HCA_LOCAL_LKEY && to_hca_dev(qp->ib.device)->profile->lkey;
}

/*
 * May requests of @qp access this range? For a range of the peer, @qp is the peer's queue pair, and
 * @who says so in the report.
 */
static bool hca_sge_ok(struct hca_qp *qp, const struct ib_sge *sge, int rights,
		       const char *who)
{
	struct hca_mr *mr;

	if (!sge->length || (hca_key_local(qp, sge->lkey) && *who == 'l'))
		return true;
	mr = hca_mr_find(qp, sge->lkey);
	if (!mr) {
		hca_report_by(who, HCA_KEY, "queue pair %u: no region has the %s key %#x",
			      qp->ib.qp_num, who, sge->lkey);
		return false;
	}
	if (!mr->valid || mr->key != sge->lkey) {
		hca_report_by(who, HCA_MR_INVALID, "queue pair %u: region with %s key %#x is %s, its key is %#x",
			      qp->ib.qp_num, who, sge->lkey,
			      mr->valid ? "valid" : "not valid", mr->key);
		return false;
	}
	if (mr->ib.pd != qp->ib.pd) {
		hca_report_by(who, HCA_PD, "queue pair %u: region with %s key %#x has another domain",
			      qp->ib.qp_num, who, sge->lkey);
		return false;
	}
	if ((mr->access & rights) != rights) {
		hca_report_by(who, HCA_RIGHTS, "queue pair %u: region with %s key %#x has rights %#x, needed are %#x",
			      qp->ib.qp_num, who, sge->lkey, mr->access, rights);
		return false;
	}
	if (sge->addr < mr->iova || sge->length > mr->length ||
	    sge->addr - mr->iova > mr->length - sge->length) {
		hca_report_by(who, HCA_BOUNDS, "queue pair %u: %u bytes at %#llx, region with %s key %#x has %llu at %#llx",
			      qp->ib.qp_num, sge->length, sge->addr, who,
			      sge->lkey, mr->length, mr->iova);
		return false;
	}
	return true;
}

static bool hca_sges_ok(struct hca_qp *qp, const struct hca_wqe *wqe,
			int rights)
{
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		if (!hca_sge_ok(qp, &wqe->sge[i], rights, "local"))
			return false;
	return true;
}

static enum ib_wc_status hca_mr_register(struct hca_qp *qp,
					 const struct hca_wqe *wqe)
{
	struct hca_mr *mr = wqe->mr;

	if (mr->valid) {
		hca_report(HCA_MR_TWICE, "region with key %#x is valid, and is registered with key %#x",
			   mr->key, wqe->key);
		return IB_WC_MW_BIND_ERR;
	}
	if (wqe->key >> 8 != mr->index) {
		hca_report(HCA_KEY, "key %#x is not one of region %#x",
			   wqe->key, mr->index << 8);
		return IB_WC_MW_BIND_ERR;
	}
	if (mr->ib.pd != qp->ib.pd) {
		hca_report(HCA_PD, "queue pair %u: region %#x has another domain",
			   qp->ib.qp_num, wqe->key);
		return IB_WC_MW_BIND_ERR;
	}
	if (!mr->nstaged || !wqe->mr_length) {
		hca_report(HCA_MR_LIST, "region %#x is registered without pages",
			   wqe->key);
		return IB_WC_MW_BIND_ERR;
	}
	memcpy(mr->list, mr->staged, mr->nstaged * sizeof(*mr->list));
	mr->n = mr->nstaged;
	mr->key = wqe->key;
	mr->access = wqe->access;
	mr->iova = wqe->iova;
	mr->length = wqe->mr_length;
	mr->valid = true;
	return IB_WC_SUCCESS;
}

static bool hca_mr_invalidate(struct hca_qp *qp, u32 key, const char *who)
{
	struct hca_mr *mr = hca_mr_find(qp, key);

	if (!mr || mr->dma || mr->ib.pd != qp->ib.pd) {
		hca_report_by(who, mr && !mr->dma ? HCA_PD : HCA_KEY,
			      "queue pair %u: %s invalidation of %#x",
			      qp->ib.qp_num, who, key);
		return false;
	}
	if (!mr->valid || mr->key != key) {
		hca_report_by(who, HCA_INV_TWICE, "queue pair %u: %s invalidation of %#x, region is %s, its key is %#x",
			      qp->ib.qp_num, who, key,
			      mr->valid ? "valid" : "not valid", mr->key);
		return false;
	}
	mr->valid = false;
	return true;
}

/* --- data --------------------------------------------------------------------- */

/**
 * struct hca_cursor - a position in the data of a request
 * @qp: whose keys these are
 * @sge: present range
 * @n: ranges from here on
 * @offset: bytes of @sge that are done
 * @data: inline data instead of ranges
 */
struct hca_cursor {
	struct hca_qp *qp;
	const struct ib_sge *sge;
	u32 n;
	u32 offset;
	const u8 *data;
};

/* Where is this address of a region? At most *@len bytes follow. */
static u64 hca_mr_translate(const struct hca_mr *mr, u64 addr, u32 *len)
{
	u64 at = addr - mr->iova;
	u32 i = 0;

	if (mr->dma)
		return addr;
	if (mr->ib.type == IB_MR_TYPE_SG_GAPS) {
		while (at >= mr->list[i].len)
			at -= mr->list[i++].len;
	} else {
		/* The first page may begin before the region. */
		at += mr->iova & (mr->list[0].len - 1);
		i = at / mr->list[0].len;
		at -= (u64)i * mr->list[0].len;
	}
	*len = min_t(u64, *len, mr->list[i].len - at);
	return mr->list[i].addr + at;
}

/* Take up to *@len bytes that are in one piece. Returns their DMA address. */
static u64 hca_cursor_take(struct hca_cursor *c, u32 *len)
{
	u64 addr;

	while (c->n && c->offset == c->sge->length) {
		c->sge++;
		c->n--;
		c->offset = 0;
	}
	if (!c->n) {
		*len = 0;
		return 0;
	}
	addr = c->sge->addr + c->offset;
	*len = min(*len, c->sge->length - c->offset);
	if (!hca_key_local(c->qp, c->sge->lkey))
		addr = hca_mr_translate(hca_mr_find(c->qp, c->sge->lkey), addr,
					len);
	c->offset += *len;
	return addr;
}

static int hca_cursor_read(struct hca_cursor *c, u32 *len, enum hca_kind verify)
{
	u64 addr;

	if (c->data) {
		memcpy(hca_piece, c->data, *len);
		c->data += *len;
		return 0;
	}
	addr = hca_cursor_take(c, len);
	return hca_mem_read(to_hca_dev(c->qp->ib.device), addr, hca_piece, *len,
			    verify);
}

static int hca_cursor_write(struct hca_cursor *c, u32 len)
{
	u32 part, done;
	u64 addr;
	int rc;

	for (done = 0; done < len; done += part) {
		part = len - done;
		addr = hca_cursor_take(c, &part);
		rc = hca_mem_write(to_hca_dev(c->qp->ib.device), addr,
				   hca_piece + done, part);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Move data. Returns whether that succeeded; if not, *@status says which end is to blame. With a
 * checksum, the data are compared with what they were when the request was posted.
 */
static bool hca_move(struct hca_cursor *to, struct hca_cursor *from,
		     const struct hca_wqe *wqe, enum ib_wc_status *status)
{
	enum hca_kind verify = wqe->summed ? HCA_CHANGED : HCA_KIND_COUNT;
	bool read = wqe->opcode == IB_WR_RDMA_READ ||
		    wqe->opcode == IB_WR_RDMA_READ_WITH_INV;
	u32 sum = ~0, done, len;

	for (done = 0; done < wqe->length; done += len) {
		len = min_t(u32, sizeof(hca_piece), wqe->length - done);
		*status = read ? IB_WC_REM_ACCESS_ERR : IB_WC_LOC_PROT_ERR;
		if (hca_cursor_read(from, &len, verify))
			return false;
		if (wqe->summed)
			sum = crc32_le(sum, hca_piece, len);
		*status = read ? IB_WC_LOC_PROT_ERR : IB_WC_REM_ACCESS_ERR;
		if (hca_cursor_write(to, len))
			return false;
		hca_count(HCA_N_BYTES, len);
	}
	if (wqe->summed && sum != wqe->sum)
		hca_report(HCA_CHANGED, "queue pair %u: %u bytes of a request of type %d",
			   from->qp->ib.qp_num, wqe->length, wqe->opcode);
	return true;
}

static struct hca_cursor hca_source(struct hca_qp *qp,
				    const struct hca_wqe *wqe)
{
	return (struct hca_cursor) {
		.qp = qp,
		.sge = wqe->sge,
		.n = wqe->num_sge,
		.data = wqe->flags & IB_SEND_INLINE ? wqe->data : NULL,
	};
}

/* --- requests ----------------------------------------------------------------- */

/**
 * hca_qp_error - a queue pair enters the state ERR
 * @qp: the queue pair
 *
 * The engine flushes what is in the queues. With iWARP, the connection ends. With RoCE, the peer
 * does not notice.
 *
 * Context: with hca_engine_lock and hca_lock
 */
void hca_qp_error(struct hca_qp *qp)
{
	lockdep_assert_held(&hca_lock);
	qp->state = IB_QPS_ERR;
	qp->roce.tries = 0;
	if (!hca_qp_roce(qp))
		hca_cm_down(qp);
	hca_engine_kick(qp);
}

/* In SQD, a queue pair of the iWARP kind closes, and one of the RoCE kind rests. */
static bool hca_qp_busy(struct hca_qp *qp)
{
	bool sends = qp->sq.next != qp->sq.head;

	switch (qp->state) {
	case IB_QPS_RTS:
		return sends;
	case IB_QPS_SQD:
		return !hca_qp_roce(qp);
	case IB_QPS_ERR:
		return sends || qp->rq.next != qp->rq.head;
	default:
		return false;
	}
}

/* What the sender gets to know if its Send failed at the other end */
static enum ib_wc_status hca_nak(enum ib_wc_status recv)
{
	switch (recv) {
	case IB_WC_SUCCESS:
		return IB_WC_SUCCESS;
	case IB_WC_LOC_PROT_ERR:
		return IB_WC_REM_OP_ERR;
	case IB_WC_LOC_ACCESS_ERR:
		return IB_WC_REM_ACCESS_ERR;
	default:
		return IB_WC_REM_INV_REQ_ERR;
	}
}

/* The network header comes before the data of a MAD. */
static int hca_header_write(struct hca_cursor *to, const struct hca_ah *ah)
{
	if (!ah)
		return 0;
	hca_roce_header(ah, (union rdma_network_hdr *)hca_piece);
	return hca_cursor_write(to, sizeof(union rdma_network_hdr));
}

/* IB_WC_RNR_RETRY_EXC_ERR means that there is no Receive. With RoCE, the Send then waits. */
static enum ib_wc_status hca_exec_send(struct hca_qp *qp,
				       const struct hca_wqe *wqe)
{
	struct hca_qp *peer = qp->peer;
	struct hca_cursor to = { .qp = peer }, from = hca_source(qp, wqe);
	enum ib_wc_status status;
	struct hca_wqe *recv;
	u32 header = wqe->ah ? sizeof(union rdma_network_hdr) : 0;
	u32 room = 0, i;
	bool any;

	if (!hca_sges_ok(qp, wqe, 0))
		return IB_WC_LOC_PROT_ERR;
	spin_lock_irq(&hca_lock);
	any = peer->rq.head != peer->rq.next;
	spin_unlock_irq(&hca_lock);
	if (!any)
		return IB_WC_RNR_RETRY_EXC_ERR;
	recv = &peer->rq.wqe[peer->rq.next % peer->rq.size];
	to.sge = recv->sge;
	to.n = recv->num_sge;
	for (i = 0; i < recv->num_sge; i++)
		room += recv->sge[i].length;
	status = IB_WC_SUCCESS;
	if (header + wqe->length > room) {
		hca_report_between(HCA_LENGTH, "queue pair %u: %u bytes for a Receive of %u",
				   peer->ib.qp_num, wqe->length, room);
		status = IB_WC_LOC_LEN_ERR;
	} else if (!hca_sges_ok(peer, recv, IB_ACCESS_LOCAL_WRITE)) {
		status = IB_WC_LOC_PROT_ERR;
	} else if (hca_header_write(&to, wqe->ah)) {
		status = IB_WC_LOC_PROT_ERR;
	} else if (!hca_move(&to, &from, wqe, &status)) {
		/* The sender's own fault leaves the Receive alone. */
		if (status == IB_WC_LOC_PROT_ERR)
			return status;
		status = IB_WC_LOC_PROT_ERR;
	} else if (wqe->opcode == IB_WR_SEND_WITH_INV &&
		   !hca_mr_invalidate(peer, wqe->inv, "remote")) {
		status = IB_WC_LOC_ACCESS_ERR;
	} else {
		status = IB_WC_SUCCESS;
	}
	spin_lock_irq(&hca_lock);
	hca_rq_complete(peer, status, wqe);
	spin_unlock_irq(&hca_lock);
	return hca_nak(status);
}

/* With RoCE, the peer must have allowed such requests at all (qp_access_flags). */
static bool hca_peer_allows(struct hca_qp *qp, int right)
{
	if (!hca_qp_roce(qp) || qp->peer->access & right)
		return true;
	hca_report_between(HCA_RIGHTS, "queue pair %u allows %#x, needed are %#x",
			   qp->peer->ib.qp_num, qp->peer->access, right);
	return false;
}

static enum ib_wc_status hca_exec_write(struct hca_qp *qp,
					const struct hca_wqe *wqe)
{
	struct hca_cursor to = { .qp = qp->peer, .sge = &wqe->remote, .n = 1 };
	struct hca_cursor from = hca_source(qp, wqe);
	enum ib_wc_status status;

	if (!hca_sges_ok(qp, wqe, 0))
		return IB_WC_LOC_PROT_ERR;
	if (!hca_peer_allows(qp, IB_ACCESS_REMOTE_WRITE))
		return IB_WC_REM_INV_REQ_ERR;
	if (!hca_sge_ok(qp->peer, &wqe->remote, IB_ACCESS_REMOTE_WRITE,
			"remote"))
		return IB_WC_REM_ACCESS_ERR;
	return hca_move(&to, &from, wqe, &status) ? IB_WC_SUCCESS : status;
}

/*
 * RFC 5040 (RDMAP) writes the response into a tagged buffer, so the sink of an RDMA Read needs the
 * right that an RDMA Write of the peer would need, and a local key will not do.
 */
static bool hca_sink_ok(struct hca_qp *qp, const struct hca_wqe *wqe)
{
	int rights = IB_ACCESS_LOCAL_WRITE;
	u32 i;

	if (hca_qp_roce(qp))
		return hca_sges_ok(qp, wqe, rights);
	for (i = 0; i < wqe->num_sge; i++)
		if (wqe->sge[i].length && hca_key_local(qp, wqe->sge[i].lkey)) {
			hca_report(HCA_RIGHTS, "queue pair %u: RDMA Read with the local DMA key",
				   qp->ib.qp_num);
			return false;
		}
	return hca_sges_ok(qp, wqe, rights | IB_ACCESS_REMOTE_WRITE);
}

static enum ib_wc_status hca_exec_read(struct hca_qp *qp,
				       const struct hca_wqe *wqe)
{
	struct hca_cursor from = { .qp = qp->peer, .sge = &wqe->remote, .n = 1 };
	struct hca_cursor to = { .qp = qp, .sge = wqe->sge, .n = wqe->num_sge };
	enum ib_wc_status status;

	if (!qp->ord) {
		if (!qp->hostile)
			hca_report(HCA_ORD, "queue pair %u may not send RDMA Reads",
				   qp->ib.qp_num);
		return IB_WC_LOC_QP_OP_ERR;
	}
	if (!qp->peer->ird) {
		hca_report_between(HCA_IRD, "queue pair %u expects no RDMA Reads",
				   qp->peer->ib.qp_num);
		return IB_WC_REM_INV_REQ_ERR;
	}
	if (!hca_sink_ok(qp, wqe))
		return IB_WC_LOC_PROT_ERR;
	if (!hca_peer_allows(qp, IB_ACCESS_REMOTE_READ))
		return IB_WC_REM_INV_REQ_ERR;
	if (!hca_sge_ok(qp->peer, &wqe->remote, IB_ACCESS_REMOTE_READ,
			"remote"))
		return IB_WC_REM_ACCESS_ERR;
	if (!hca_move(&to, &from, wqe, &status))
		return status;
	/*
	 * The sink is what becomes invalid, and not the key in the request: that is what cxgb4,
	 * irdma and siw do. rdma_rw_init_mr_wrs() passes a key that is out of date.
	 */
	if (wqe->opcode == IB_WR_RDMA_READ_WITH_INV && wqe->num_sge &&
	    !hca_mr_invalidate(qp, wqe->sge[0].lkey, "local"))
		return IB_WC_MW_BIND_ERR;
	return IB_WC_SUCCESS;
}

static bool hca_silent(struct hca_qp *qp)
{
	qp->silent &= hca_fault_on(HCA_FAULT_SILENT);
	return qp->silent;
}

/* Once one of the ends has become silent, nothing is delivered or acknowledged in either direction. */
static bool hca_silence(struct hca_qp *qp)
{
	if (hca_silent(qp) || hca_silent(qp->peer))
		return true;
	qp->silent = qp->ib.qp_type == IB_QPT_RC &&
		     hca_fault(HCA_FAULT_SILENT);
	return qp->silent;
}

static bool hca_local(const struct hca_wqe *wqe)
{
	return wqe->opcode == IB_WR_REG_MR || wqe->opcode == IB_WR_LOCAL_INV;
}

static enum ib_wc_status hca_exec(struct hca_qp *qp, const struct hca_wqe *wqe)
{
	if (hca_qp_roce(qp) && !hca_local(wqe) &&
	    (!hca_roce_find_peer(qp, wqe) || hca_silence(qp)))
		return IB_WC_RETRY_EXC_ERR;
	hca_hostile = qp->hostile || (qp->peer && qp->peer->hostile);
	switch (wqe->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_INV:
		return hca_exec_send(qp, wqe);
	case IB_WR_RDMA_WRITE:
		return hca_exec_write(qp, wqe);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return hca_exec_read(qp, wqe);
	case IB_WR_REG_MR:
		return hca_mr_register(qp, wqe);
	case IB_WR_LOCAL_INV:
		return hca_mr_invalidate(qp, wqe->inv, "local") ?
			IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
	default:
		return IB_WC_LOC_QP_OP_ERR;
	}
}

/*
 * With iWARP: does nothing happen to this request? While a port is down, TCP would send it again and
 * again. After the connection has ended, the request is flushed.
 */
static bool hca_lost(struct hca_qp *qp, const struct hca_wqe *wqe)
{
	if (hca_qp_roce(qp) || hca_local(wqe))
		return false;
	return !hca_port_up(to_hca_dev(qp->ib.device)) ||
	       !hca_port_up(to_hca_dev(qp->peer->ib.device)) ||
	       hca_silence(qp);
}

/*
 * An error that the adapter makes up. The request may have been executed, if only the
 * acknowledgement was lost.
 */
static enum ib_wc_status hca_exec_fault(struct hca_qp *qp,
					const struct hca_wqe *wqe)
{
	if (hca_engine_random() & 1)
		hca_exec(qp, wqe);
	return hca_fault_status();
}

/* A queue pair without a request that could be executed: flush, or end the connection. */
static bool hca_step_idle(struct hca_qp *qp)
{
	bool busy = hca_qp_busy(qp);

	lockdep_assert_held(&hca_lock);
	if (busy && qp->state == IB_QPS_SQD)
		hca_qp_error(qp);
	else if (qp->state == IB_QPS_ERR && qp->sq.head != qp->sq.next)
		hca_sq_complete(qp, IB_WC_WR_FLUSH_ERR);
	else if (qp->state == IB_QPS_ERR && busy)
		hca_rq_complete(qp, IB_WC_WR_FLUSH_ERR, NULL);
	return busy;
}

/* A queue pair whose requests get lost. If the connection is to end after them, it ends now. */
static bool hca_step_lost(struct hca_qp *qp)
{
	bool closing;

	spin_lock_irq(&hca_lock);
	closing = qp->state == IB_QPS_SQD;
	if (closing)
		hca_qp_error(qp);
	spin_unlock_irq(&hca_lock);
	return closing;
}

/*
 * A request fails, and so does its queue pair. The peer fails as well if that was its fault, or if the
 * connection is one of iWARP.
 */
static void hca_step_failed(struct hca_qp *qp, enum ib_wc_status status)
{
	struct hca_qp *peer = qp->peer;

	lockdep_assert_held(&hca_lock);
	/* In InfiniBand, the completion says it. */
	if (!hca_qp_roce(qp))
		hca_qp_raise(qp, IB_EVENT_QP_FATAL);
	if (peer && (status == IB_WC_REM_ACCESS_ERR ||
		     status == IB_WC_REM_OP_ERR ||
		     status == IB_WC_REM_INV_REQ_ERR)) {
		hca_qp_raise(peer, status == IB_WC_REM_ACCESS_ERR ?
				   IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR);
		if (hca_qp_roce(qp))
			hca_qp_error(peer);
	}
	hca_qp_error(qp);
}

/* Is it too early to send a request again? */
static bool hca_waits(const struct hca_qp *qp)
{
	return qp->roce.tries && qp->state != IB_QPS_ERR &&
	       time_before(jiffies, qp->roce.until);
}

/* Execute one request. Returns whether something was done. */
static bool hca_step(struct hca_qp *qp)
{
	enum ib_wc_status status;
	struct hca_wqe *wqe;
	bool done, fault;

	if (hca_waits(qp))
		return false;
	spin_lock_irq(&hca_lock);
	if (qp->sq.head == qp->sq.next || !hca_qp_busy(qp) ||
	    qp->state == IB_QPS_ERR) {
		done = hca_step_idle(qp);
		spin_unlock_irq(&hca_lock);
		return done;
	}
	spin_unlock_irq(&hca_lock);
	wqe = &qp->sq.wqe[qp->sq.next % qp->sq.size];
	if (hca_lost(qp, wqe))
		return hca_step_lost(qp);
	fault = qp->ib.qp_type == IB_QPT_RC && hca_fault(HCA_FAULT_COMPLETE);
	status = fault ? hca_exec_fault(qp, wqe) : hca_exec(qp, wqe);
	if (!fault && hca_qp_roce(qp) && hca_roce_wait(qp, &status))
		return false;
	if (!fault && status == IB_WC_RNR_RETRY_EXC_ERR)
		hca_report_between(HCA_RNR, "queue pair %u has no Receive for a Send of %u",
				   qp->peer->ib.qp_num, qp->ib.qp_num);
	spin_lock_irq(&hca_lock);
	hca_sq_complete(qp, status);
	if (status != IB_WC_SUCCESS)
		hca_step_failed(qp, status);
	if (hca_qp_roce(qp))
		qp->peer = NULL;
	spin_unlock_irq(&hca_lock);
	return true;
}

/* --- the thread --------------------------------------------------------------- */

/**
 * hca_engine_kick - tell the engine that a queue pair may have work
 * @qp: the queue pair
 *
 * Context: with hca_lock
 */
void hca_engine_kick(struct hca_qp *qp)
{
	lockdep_assert_held(&hca_lock);
	if (!hca_qp_busy(qp))
		return;
	if (list_empty(&qp->active))
		list_add_tail(&qp->active, &hca_active);
	WRITE_ONCE(hca_engine_kicked, true);
	if (!hca_poll)
		wake_up(&hca_engine_wait);
}

/**
 * hca_engine_forget - the engine shall not use a queue pair any more
 * @qp: the queue pair
 *
 * Requests that were not executed are forgotten.
 *
 * Context: with hca_engine_lock and hca_lock
 */
void hca_engine_forget(struct hca_qp *qp)
{
	lockdep_assert_held(&hca_lock);
	qp->roce.tries = 0;
	for (; qp->sq.next != qp->sq.head; qp->sq.next++)
		if (qp->sq.wqe[qp->sq.next % qp->sq.size].opcode == IB_WR_REG_MR)
			qp->sq.wqe[qp->sq.next % qp->sq.size].mr->queued--;
	qp->rq.next = qp->rq.head;
	list_del_init(&qp->active);
}

static struct hca_qp *hca_engine_choose(void)
{
	struct hca_qp *qp, *chosen = NULL;
	unsigned int n = 0;

	spin_lock_irq(&hca_lock);
	list_for_each_entry(qp, &hca_active, active) {
		if (hca_waits(qp))
			continue;
		if (hca_engine_random() % ++n == 0)
			chosen = qp;
		if (n == HCA_CHOICE)
			break;
	}
	if (chosen)
		list_del_init(&chosen->active);
	spin_unlock_irq(&hca_lock);
	return chosen;
}

/* Returns whether something was done. */
static bool hca_engine_turn(void)
{
	struct hca_qp *qp = hca_engine_choose();
	bool done = false, end;
	unsigned int n;

	for (n = qp ? 1 + hca_engine_random() % HCA_BURST : 0;
	     n && hca_step(qp); n--)
		done = true;
	/* What waits from now on is not chosen again before its time. */
	done |= qp && hca_waits(qp);
	spin_lock_irq(&hca_lock);
	if (qp && hca_qp_busy(qp) && list_empty(&qp->active))
		list_add_tail(&qp->active, &hca_active);
	end = list_empty(&hca_active) || hca_engine_random() % 4 == 0;
	spin_unlock_irq(&hca_lock);
	if (end || !done)
		hca_batches_end();
	return done;
}

/* Nothing could be done @idle times. Wait until something may be. */
static void hca_engine_sleep(unsigned int idle)
{
	u64 now = ktime_get_ns(), ns = max(hca_due, now + 1) - now;

	/* If Sends wait for Receives, look again after a while. */
	if (!list_empty(&hca_active)) {
		if (idle <= HCA_CHOICE)
			return;
		ns = min_t(u64, ns, jiffies_to_nsecs(1));
	}
	wait_event_interruptible_hrtimeout(hca_engine_wait,
					   READ_ONCE(hca_engine_kicked) ||
					   kthread_should_stop(),
					   min_t(u64, ns, KTIME_MAX));
}

static int hca_engine(void *unused)
{
	unsigned int idle = 0;

	while (!kthread_should_stop()) {
		WRITE_ONCE(hca_engine_kicked, false);
		mutex_lock(&hca_engine_lock);
		idle = hca_engine_turn() ? 0 : idle + 1;
		mutex_unlock(&hca_engine_lock);
		if (hca_poll)
			schedule();
		else if (idle)
			hca_engine_sleep(idle);
		else
			cond_resched();
	}
	return 0;
}

/**
 * hca_engine_time - how much of the processors' time the adapter has taken
 *
 * Context: any, but not the engine's
 * Return: nanoseconds
 */
u64 hca_engine_time(void)
{
	return hca_engine_task->se.sum_exec_runtime - hca_handlers;
}
EXPORT_SYMBOL_GPL(hca_engine_time);

/**
 * hca_engine_start - start the engine
 * @seed: for the random numbers
 *
 * Context: process
 * Return: 0 or a negative errno
 */
int hca_engine_start(u64 seed)
{
	prandom_seed_state(&hca_rnd, seed);
	hca_engine_task = kthread_run(hca_engine, NULL, "hca_sim");
	return PTR_ERR_OR_ZERO(hca_engine_task);
}

/**
 * hca_engine_stop - stop the engine
 *
 * There are no queue pairs any more.
 *
 * Context: process
 */
void hca_engine_stop(void)
{
	kthread_stop(hca_engine_task);
}
