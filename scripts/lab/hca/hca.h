/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hca_sim - a simulated RDMA adapter for tests (main.c says what it is)
 *
 * Locks, from the outer to the inner one:
 *	hca_engine_lock	a mutex. Its holder is what the adapter does at this moment: the engine
 *			while it executes work requests, or a verb that changes a queue pair, a
 *			connection or a memory region. So these never change under the engine.
 *	hca_lock	a spinlock for everything that a verb may touch in an interrupt: work
 *			queues, completion queues, the engine's list, and the states that they
 *			depend on.
 *	the lock of mem.c
 */
#ifndef HCA_SIM_H
#define HCA_SIM_H

#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

/* What may be reported: the name in debugfs and in the kernel log, and what it means. */
#define HCA_KINDS(_) \
	_(UNMAPPED, "unmapped")		/* an address that is not mapped */ \
	_(BEYOND, "beyond")		/* begins in a mapping and ends beyond it */ \
	_(DIRECTION, "direction")	/* the mapping is for the other direction */ \
	_(OWNER, "owner")		/* the range belongs to the CPU */ \
	_(STALE, "stale")		/* posted, but not synced after the CPU's last write */ \
	_(CHANGED, "changed")		/* buffer changed between post and execution */ \
	_(UNMAP, "unmap")		/* unmapped or synced otherwise than mapped */ \
	_(IN_USE, "in-use")		/* unmapped before the request is known to be done */ \
	_(SQ_OVERFLOW, "sq-overflow") \
	_(RQ_OVERFLOW, "rq-overflow") \
	_(CQ_OVERFLOW, "cq-overflow") \
	_(STATE, "state")		/* posted in a wrong state of the queue pair */ \
	_(OPCODE, "opcode")		/* the adapter has no such request */ \
	_(SGE, "sge")			/* more SGEs than the queue has */ \
	_(INLINE, "inline")		/* more inline data than the queue pair has */ \
	_(RNR, "rnr")			/* a Send has found no Receive */ \
	_(LENGTH, "length")		/* a Send is longer than the Receive */ \
	_(KEY, "key")			/* no region has this key (any more) */ \
	_(MR_INVALID, "mr-invalid")	/* region used before it is registered, or after */ \
	_(MR_TWICE, "mr-twice")		/* registered although it is valid */ \
	_(INV_TWICE, "inv-twice")	/* invalidated although it is not valid */ \
	_(MR_BUSY, "mr-busy")		/* mapped or freed while its registration is queued */ \
	_(MR_LIST, "mr-list")		/* registered without, or with too long, a page list */ \
	_(PAGE_SIZE, "page-size")	/* the adapter has no regions with such pages */ \
	_(PD, "pd")			/* region of another protection domain */ \
	_(RIGHTS, "rights")		/* the region does not allow this access */ \
	_(BOUNDS, "bounds")		/* beyond the region */ \
	_(ORD, "ord")			/* more RDMA Reads than the adapter can send */ \
	_(IRD, "ird")			/* an RDMA Read that the peer does not expect */ \
	_(BUSY, "busy")			/* destroyed while it is in use */

enum hca_kind {
#define HCA_KIND(name, text) HCA_ ## name,
	HCA_KINDS(HCA_KIND)
#undef HCA_KIND
	HCA_KIND_COUNT
};

/* What is counted: the name in debugfs. */
#define HCA_COUNTS(_) \
	_(DOORBELLS, "doorbells")	/* calls of post_send() and post_recv() */ \
	_(INTERRUPTS, "interrupts")	/* calls of completion handlers */ \
	_(COMPLETIONS, "completions") \
	_(EVENTS, "events")		/* asynchronous events */ \
	_(MAPPINGS, "mappings")		/* DMA mappings made */ \
	_(SYNCS, "syncs") \
	_(BYTES, "bytes")		/* moved from one end to the other */

enum hca_count {
#define HCA_COUNT(name, text) HCA_N_ ## name,
	HCA_COUNTS(HCA_COUNT)
#undef HCA_COUNT
	HCA_N_COUNT
};

/* Faults: the directory in debugfs, and what fails */
#define HCA_FAULTS(_) \
	_(ALLOC_MR, "alloc_mr")		/* a region: as if too many keys were in use */ \
	_(DMA_MAP, "dma_map")		/* a DMA mapping */ \
	_(CREATE_CQ, "create_cq") \
	_(CREATE_QP, "create_qp") \
	_(POST_SEND, "post_send")	/* a request, and what follows it in the chain */ \
	_(POST_RECV, "post_recv") \
	_(COMPLETE, "complete")		/* a request, with the status in the file status */ \
	_(SILENT, "silent")		/* from this request on, the connection is dead */

enum hca_fault {
#define HCA_FAULT(id, text) HCA_FAULT_ ## id,
	HCA_FAULTS(HCA_FAULT)
#undef HCA_FAULT
};

/**
 * struct hca_profile - the limits of one adapter, as its driver reports them
 * @name: value of the parameter profile
 * @qp_wr: work requests in a queue
 * @sq_bytes: memory of a send queue, see hca_sq_bytes(); 0 if @qp_wr is the only limit
 * @send_sge: SGEs of a Send or an RDMA Write
 * @recv_sge: SGEs of a Receive
 * @read_sge: SGEs of an RDMA Read
 * @inline_max: bytes of inline data
 * @cqe: entries of a completion queue
 * @mr_pages: pages of a memory region; 0 if there is no fast registration
 * @mr: memory regions
 * @page_sizes: page sizes of memory regions, one bit each (page_size_cap)
 * @ird: RDMA Reads that a queue pair may have to answer (max_qp_rd_atom)
 * @ord: RDMA Reads that a queue pair may send (max_qp_init_rd_atom)
 * @sgl_rd: RDMA Reads of more SGEs are slower than with a region; 0 if not known
 * @gaps: regions may have pages with gaps (IBK_SG_GAPS_REG)
 * @lkey: has one local DMA key for all protection domains (IBK_LOCAL_DMA_LKEY)
 * @no_inv: refuses local invalidation, and does not say so anywhere
 * @roce: is of the RoCE kind, and not of the iWARP kind
 * @driver: number of the driver, where ULPs look at it
 */
struct hca_profile {
	const char *name;
	u32 qp_wr;
	u32 sq_bytes;
	u32 send_sge;
	u32 recv_sge;
	u32 read_sge;
	u32 inline_max;
	u32 cqe;
	u32 mr_pages;
	u32 mr;
	u64 page_sizes;
	u32 ird;
	u32 ord;
	u32 sgl_rd;
	bool gaps;
	bool lkey;
	bool no_inv;
	bool roce;
	enum rdma_driver_id driver;
};

/**
 * struct hca_dev - one adapter
 * @ib: what the RDMA core knows
 * @list: element of hca_devs; under hca_lock
 * @profile: its limits
 * @netdev: the network device beside it; only its address and state are used
 * @up: the port was up when its ULPs were told last
 * @fatal: it has stopped for good
 * @dma: the device for the DMA API
 * @qps: queue pairs by number
 * @mrs: memory regions by key >> 8
 * @next_qp: where the search for a free number begins
 * @next_mr: likewise for regions, so that keys are not used again soon
 */
struct hca_dev {
	struct ib_device ib;
	struct list_head list;
	const struct hca_profile *profile;
	struct net_device *netdev;
	bool up;
	bool fatal;
	struct device *dma;
	struct xarray qps;
	struct xarray mrs;
	u32 next_qp;
	u32 next_mr;
};

/*
 * The ULP of test programs that break rules on purpose (tests/peers/kpeer.c). Violations that need two
 * ends are not reported if one of them is this ULP.
 */
#define HCA_HOSTILE	"rpcrdma_kpeer"

/* The local DMA key of adapters that have one. Not 0, so that a forgotten key is noticed. */
#define HCA_LOCAL_LKEY	0x7fffff00

struct hca_pd {
	struct ib_pd ib;
};

/**
 * struct hca_path - the way to another GID
 * @dgid: the GID
 * @dmac: hardware address
 */
struct hca_path {
	union ib_gid dgid;
	u8 dmac[ETH_ALEN];
};

/**
 * struct hca_ah - address handle, which only the RoCE kind has
 * @ib: what the RDMA core knows, such as the source
 * @path: the destination
 */
struct hca_ah {
	struct ib_ah ib;
	struct hca_path path;
};

/**
 * struct hca_extent - a part of a memory region
 * @addr: DMA address
 * @len: bytes
 */
struct hca_extent {
	u64 addr;
	u32 len;
};

/**
 * struct hca_mr - memory region
 * @ib: what the RDMA core knows
 * @index: its keys are @index << 8, plus a byte that the ULP may change
 * @dma: a region for all addresses (ib_get_dma_mr())
 * @staged: the list that ib_map_mr_sg() makes
 * @nstaged: its length
 * @max: its size
 * @queued: registrations that are posted, and not executed yet; under hca_lock
 * @valid: is it registered? This and the following members belong to the engine.
 * @key: the key under which it is registered
 * @access: rights
 * @iova: its first address
 * @length: its bytes
 * @list: the list as it was when the region was registered
 * @n: length of @list
 */
struct hca_mr {
	struct ib_mr ib;
	u32 index;
	bool dma;
	struct hca_extent *staged;
	u32 nstaged;
	u32 max;
	u32 queued;
	bool valid;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	struct hca_extent *list;
	u32 n;
};

/**
 * struct hca_wqe - a work request in a queue
 * @wr_id: from the ULP; often a pointer to a struct ib_cqe
 * @opcode: what to do
 * @flags: IB_SEND_* flags
 * @num_sge: used elements of @sge
 * @length: sum of their lengths
 * @sge: elements; @sge[0] of RDMA Read and Write is local as well
 * @data: inline data; NULL if the queue pair has none
 * @sum: checksum of the data when the request was posted
 * @summed: is there a checksum?
 * @remote: address and key at the peer
 * @inv: key to invalidate, or immediate data
 * @mr: region to register
 * @key: key under which to register it
 * @access: its rights
 * @iova: its first address
 * @mr_length: its bytes
 * @ah: where a MAD goes
 */
struct hca_wqe {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	int flags;
	u32 num_sge;
	u32 length;
	struct ib_sge *sge;
	u8 *data;
	u32 sum;
	bool summed;
	struct ib_sge remote;
	u32 inv;
	struct hca_mr *mr;
	u32 key;
	int access;
	u64 iova;
	u64 mr_length;
	struct hca_ah *ah;
};

/**
 * struct hca_wq - a send queue or receive queue
 * @wqe: the ring
 * @sges: memory for the SGEs
 * @data: memory for the inline data
 * @size: number of elements of @wqe
 * @max_sge: SGEs of each
 * @head: counts requests that were posted
 * @next: counts requests that were executed
 * @tail: counts requests of which the ULP knows that they are done: it has polled a completion
 */
struct hca_wq {
	struct hca_wqe *wqe;
	struct ib_sge *sges;
	u8 *data;
	u32 size;
	u32 max_sge;
	u32 head;
	u32 next;
	u32 tail;
};

/**
 * struct hca_cqe - a completion
 * @wc: what the ULP sees
 * @wq: queue of the request
 * @done: &hca_wq.tail after the ULP has seen this completion
 * @due: when the ULP may see it, in nanoseconds since boot
 */
struct hca_cqe {
	struct ib_wc wc;
	struct hca_wq *wq;
	u32 done;
	u64 due;
};

/**
 * struct hca_cq - completion queue
 * @ib: what the RDMA core knows
 * @cqe: the ring
 * @size: number of its elements
 * @head: counts completions
 * @seen: counts completions that the ULP may poll; the others wait for the end of the batch
 * @tail: counts completions that were polled
 * @cpu: its completion handler runs on this processor
 * @armed: the flags of ib_req_notify_cq(), 0 if the ULP wants no event
 * @solicited: one of the completions in the batch is for IB_CQ_SOLICITED
 * @batch: element of the engine's list of queues with a batch
 * @irq: calls the completion handler
 * @overflow: tells the ULP that it has lost completions
 */
struct hca_cq {
	struct ib_cq ib;
	struct hca_cqe *cqe;
	u32 size;
	u32 head;
	u32 seen;
	u32 tail;
	int cpu;
	int armed;
	bool solicited;
	struct list_head batch;
	struct irq_work irq;
	struct irq_work overflow;
};

struct hca_ep;

/**
 * struct hca_roce - what a queue pair of the RoCE kind has in addition
 * @path: where the peer is
 * @dest_qpn: its number
 * @timeout: how long to wait for an acknowledgement: 4.096 us, doubled so often; 0 is without end
 * @retry_cnt: how often a request is sent again that was not acknowledged
 * @rnr_retry: how often a Send is sent again that found no Receive; 7 is without end
 * @min_rnr_timer: code of the time that the peer shall wait if its Send found no Receive
 * @cause: why the next request has to wait: IB_WC_RETRY_EXC_ERR or IB_WC_RNR_RETRY_EXC_ERR
 * @tries: how often it was sent for this cause
 * @until: when to send it again, in jiffies
 */
struct hca_roce {
	struct hca_path path;
	u32 dest_qpn;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	enum ib_wc_status cause;
	u32 tries;
	unsigned long until;
};

/**
 * struct hca_qp - queue pair
 * @ib: what the RDMA core knows
 * @state: its state
 * @sq: send queue
 * @rq: receive queue
 * @max_inline: bytes of inline data
 * @sig_all: each request makes a completion
 * @access: what the peer may do (IB_QP_ACCESS_FLAGS)
 * @hostile: belongs to a test program that breaks rules
 * @peer: the other end; changes under hca_engine_lock only. With RoCE, it is known only while a
 *	request is executed.
 * @ep: the connection, see cm.c
 * @ord: RDMA Reads that it may send
 * @ird: RDMA Reads that it may have to answer
 * @active: element of the engine's list of queue pairs with work
 * @roce: what only the RoCE kind has; under hca_engine_lock
 * @silent: what it sends gets lost, acknowledgements, too
 * @event: tells the ULP about @error
 * @error: asynchronous event
 * @refs: one of the owner, and those of the connection manager
 * @freed: there are no references any more
 */
struct hca_qp {
	struct ib_qp ib;
	enum ib_qp_state state;
	struct hca_wq sq;
	struct hca_wq rq;
	u32 max_inline;
	bool sig_all;
	int access;
	bool hostile;
	struct hca_qp *peer;
	struct hca_ep *ep;
	u32 ord;
	u32 ird;
	struct list_head active;
	struct hca_roce roce;
	bool silent;
	struct irq_work event;
	enum ib_event_type error;
	refcount_t refs;
	struct completion freed;
};

extern struct mutex hca_engine_lock;
extern spinlock_t hca_lock;
extern struct list_head hca_devs;

static inline struct hca_dev *to_hca_dev(struct ib_device *ib)
{
	return container_of(ib, struct hca_dev, ib);
}

static inline struct hca_cq *to_hca_cq(struct ib_cq *ib)
{
	return container_of(ib, struct hca_cq, ib);
}

static inline struct hca_qp *to_hca_qp(struct ib_qp *ib)
{
	return container_of(ib, struct hca_qp, ib);
}

static inline struct hca_mr *to_hca_mr(struct ib_mr *ib)
{
	return container_of(ib, struct hca_mr, ib);
}

static inline struct hca_ah *to_hca_ah(struct ib_ah *ib)
{
	return container_of(ib, struct hca_ah, ib);
}

/* Is this queue pair of the RoCE kind? */
static inline bool hca_qp_roce(const struct hca_qp *qp)
{
	return to_hca_dev(qp->ib.device)->profile->roce;
}

DECLARE_PER_CPU(unsigned long [HCA_N_COUNT], hca_counted);

static inline void hca_count(enum hca_count what, unsigned long n)
{
	this_cpu_add(hca_counted[what], n);
}

/* main.c */
extern bool hca_check;
extern bool hca_coherent;
extern bool hca_direct;
extern bool hca_poll;
extern uint hca_delay_us;
__printf(2, 3) void hca_report(enum hca_kind kind, const char *format, ...);
unsigned long hca_reports(enum hca_kind kind);
bool hca_port_up(const struct hca_dev *dev);
void hca_quiet(bool quiet);

/* profile.c */
const struct hca_profile *hca_profile_find(const char *name);

/* faults.c */
struct dentry;
struct seq_file;
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
bool hca_fault(enum hca_fault fault);
bool hca_fault_on(enum hca_fault fault);
enum ib_wc_status hca_fault_status(void);
#else
static inline bool hca_fault(enum hca_fault fault)
{
	return false;
}

static inline bool hca_fault_on(enum hca_fault fault)
{
	return false;
}

static inline enum ib_wc_status hca_fault_status(void)
{
	return IB_WC_SUCCESS;
}
#endif
int hca_fails(struct hca_dev *dev, enum hca_fault fault);
void hca_cq_event(struct irq_work *work);
void hca_qp_event(struct irq_work *work);
void hca_qp_raise(struct hca_qp *qp, enum ib_event_type error);
void hca_faults_add(struct dentry *dir);
void hca_faults_show(struct seq_file *seq);

/* mem.c */
int hca_mem_attach(struct hca_dev *dev);
void hca_mem_detach(struct hca_dev *dev);
int hca_mem_read(struct hca_dev *dev, u64 addr, void *to, u32 len,
		 enum hca_kind verify);
int hca_mem_write(struct hca_dev *dev, u64 addr, const void *from, u32 len);
void hca_mem_hold(struct hca_dev *dev, u64 addr, int n);
void hca_mem_show(struct seq_file *seq);

/* verbs.c */
extern const struct ib_device_ops hca_verbs_ops;
u32 hca_wqe_sum(struct hca_dev *dev, const struct hca_wqe *wqe);
void hca_qp_put(struct hca_qp *qp);

/* engine.c */
int hca_engine_start(u64 seed);
void hca_engine_stop(void);
u32 hca_engine_random(void);
u64 hca_engine_time(void);
void hca_engine_kick(struct hca_qp *qp);
void hca_engine_forget(struct hca_qp *qp);
void hca_qp_error(struct hca_qp *qp);
void hca_cq_irq(struct irq_work *work);

/* cm.c */
extern const struct ib_device_ops hca_cm_ops;
int hca_cm_init(void);
void hca_cm_exit(void);
void hca_cm_join(struct hca_qp *a, struct hca_qp *b);
void hca_cm_down(struct hca_qp *qp);

/* roce.c */
union rdma_network_hdr;
extern const struct ib_device_ops hca_roce_ops;
int hca_roce_modify(struct hca_qp *qp, const struct ib_qp_attr *attr, int mask);
bool hca_roce_find_peer(struct hca_qp *qp, const struct hca_wqe *wqe);
bool hca_roce_wait(struct hca_qp *qp, enum ib_wc_status *status);
void hca_roce_header(const struct hca_ah *ah, union rdma_network_hdr *header);
void hca_roce_mad_wc(const struct hca_ah *ah, struct ib_wc *wc);

/* selftest.c */
void hca_selftest(struct hca_dev *dev);

#endif /* HCA_SIM_H */
