// SPDX-License-Identifier: GPL-2.0
/*
 * bench_count - count what the kernel does for one RPC, with either module
 *
 * All probes except that of rpcrdma_send_cq_work() are at places that both modules pass: in the
 * driver of the device, in the RDMA core, in sunrpc, in a function that both modules have, and in
 * the kernel's allocators, workqueues and scheduler. A probe of tracefs cannot loop over chained
 * work requests or completions, so this is a module.
 *
 * /proc/bench_idle    microseconds that CPU 0 was idle, or did the work of the simulated adapter
 * /proc/bench_count   "name value" lines; write 1 to set the probes, 0 to remove them, z to set
 *                     all counts to zero and begin to count, f to stop counting
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/tick.h>
#include <linux/tracepoint.h>
#include <linux/vmstat.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

static char *provider = "rxe";
module_param(provider, charp, 0444);
static unsigned long text_start, text_size;
module_param(text_start, ulong, 0644);
module_param(text_size, ulong, 0644);

#define COUNTS(X)							\
	X(doorbells) X(send) X(send_inv) X(rdma_read) X(rdma_write)	\
	X(reg_mr) X(local_inv) X(signaled) X(sges)			\
	X(send_completions) X(receives) X(recv_doorbells) X(recv_posted)

enum count {
#define X(n) C_##n,
	COUNTS(X)
#undef X
	C_MAX
};

static const char * const count_names[] = {
#define X(n) #n,
	COUNTS(X)
#undef X
};

#define SIMPLE(X)							\
	X(svc_recv) X(svc_rdma_recvfrom) X(svc_process)			\
	X(svc_xprt_enqueue) X(ib_cq_poll_work)				\
	X(rpcrdma_send_cq_work)	/* ours only */				\
	X(rpc_async_schedule)

enum simple {
#define X(n) S_##n,
	SIMPLE(X)
#undef X
	S_MAX
};

/* No lock is needed: a guest in which the probes are set has one CPU, and each addition is one
 * instruction, which an interrupt cannot divide.
 */
static u64 counts[2][C_MAX];
static u64 simple_counts[S_MAX];
static u64 kmallocs, kmalloc_bytes, kmallocs_module, works, switches, mappings;
static u64 pages_from, pages_to, pages_seen, pages_nfsd;
static bool armed, counting;

/* A queue pair that accepted a connection belongs to the server. */
static const struct ib_qp *server_qps[256];
static unsigned int accepts;

static bool is_server(const struct ib_qp *qp)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(server_qps) && server_qps[i]; i++)
		if (server_qps[i] == qp)
			return true;
	return false;
}

static int on_accept(struct kprobe *p, struct pt_regs *regs)
{
	struct rdma_cm_id *id = (void *)regs_get_kernel_argument(regs, 0);

	if (accepts < ARRAY_SIZE(server_qps))
		server_qps[accepts] = id->qp;
	accepts++;
	return 0;
}

static int on_post_send(struct kprobe *p, struct pt_regs *regs)
{
	const struct ib_qp *qp = (void *)regs_get_kernel_argument(regs, 0);
	const struct ib_send_wr *wr = (void *)regs_get_kernel_argument(regs, 1);
	u64 *c = counts[is_server(qp)];

	if (!counting)
		return 0;
	c[C_doorbells]++;
	for (; wr; wr = wr->next) {
		switch (wr->opcode) {
		case IB_WR_SEND:
			c[C_send]++;
			break;
		case IB_WR_SEND_WITH_INV:
			c[C_send_inv]++;
			break;
		case IB_WR_RDMA_READ:
		case IB_WR_RDMA_READ_WITH_INV:
			c[C_rdma_read]++;
			break;
		case IB_WR_RDMA_WRITE:
			c[C_rdma_write]++;
			break;
		case IB_WR_REG_MR:
			c[C_reg_mr]++;
			break;
		case IB_WR_LOCAL_INV:
			c[C_local_inv]++;
			break;
		default:
			break;
		}
		c[C_sges] += wr->num_sge;
		if (wr->send_flags & IB_SEND_SIGNALED)
			c[C_signaled]++;
	}
	return 0;
}

static int on_post_recv(struct kprobe *p, struct pt_regs *regs)
{
	const struct ib_qp *qp = (void *)regs_get_kernel_argument(regs, 0);
	const struct ib_recv_wr *wr = (void *)regs_get_kernel_argument(regs, 1);
	u64 *c = counts[is_server(qp)];

	if (!counting)
		return 0;
	c[C_recv_doorbells]++;
	for (; wr; wr = wr->next)
		c[C_recv_posted]++;
	return 0;
}

static int on_poll(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(struct ib_wc **)ri->data = (void *)regs_get_kernel_argument(regs, 2);
	return 0;
}

static int on_polled(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct ib_wc *wc = *(struct ib_wc **)ri->data;
	int n = (int)regs_return_value(regs);

	for (; counting && n > 0; n--, wc++)
		counts[is_server(wc->qp)][wc->opcode & IB_WC_RECV ?
					  C_receives : C_send_completions]++;
	return 0;
}

static int on_simple(struct kprobe *p, struct pt_regs *regs);

static struct kprobe accept = { .symbol_name = "rdma_accept", .pre_handler = on_accept };
static struct kprobe post_send = { .pre_handler = on_post_send };
static struct kprobe post_recv = { .pre_handler = on_post_recv };
static struct kretprobe poll = {
	.entry_handler = on_poll, .handler = on_polled,
	.data_size = sizeof(struct ib_wc *), .maxactive = 64,
};
static struct kprobe simple[] = {
#define X(n) { .symbol_name = #n, .pre_handler = on_simple },
	SIMPLE(X)
#undef X
};

static int on_simple(struct kprobe *p, struct pt_regs *regs)
{
	simple_counts[p - simple] += counting;
	return 0;
}

static void kmalloc_note(unsigned long site, size_t bytes)
{
	if (!counting)
		return;
	kmallocs++;
	kmalloc_bytes += bytes;
	if (site - text_start < text_size)
		kmallocs_module++;
}

static void on_kmalloc(void *data, unsigned long site, const void *ptr,
		       size_t req, size_t alloc, gfp_t gfp, int node)
{
	kmalloc_note(site, alloc);
}

static void on_cache_alloc(void *data, unsigned long site, const void *ptr,
			   struct kmem_cache *s, gfp_t gfp, int node)
{
	kmalloc_note(site, kmem_cache_size(s));
}

/* Pages that sunrpc allocates in bulk, for threads of nfsd, do not cause this event. Their number
 * is the growth of pages_allocated() minus pages_seen.
 */
static void on_page_alloc(void *data, struct page *page, unsigned int order,
			  gfp_t gfp, int migratetype)
{
	if (!counting || !page)
		return;
	pages_seen += 1 << order;
	if (!strcmp(current->comm, "nfsd"))
		pages_nfsd += 1 << order;
}

static void on_work(void *data, struct work_struct *work)
{
	works += counting;
}

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	switches += counting;
}

/* In each kernel, one of these events has another name, and for a device without a DMA device there are none. */
static void on_map(void *data)
{
	mappings += counting;
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} traces[] = {
	{ "kmalloc", on_kmalloc },
	{ "kmem_cache_alloc", on_cache_alloc },
	{ "mm_page_alloc", on_page_alloc },
	{ "workqueue_execute_start", on_work },
	{ "sched_switch", on_switch },
	{ "dma_map_page", on_map },
	{ "dma_map_phys", on_map },
	{ "dma_map_sg", on_map },
};

static void trace_find(struct tracepoint *tp, void *priv)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(traces); i++)
		if (!strcmp(tp->name, traces[i].name))
			traces[i].tp = tp;
}

static void disarm(void)
{
	int i;

	if (!armed)
		return;
	armed = false;
	unregister_kprobe(&post_send);
	unregister_kprobe(&post_recv);
	unregister_kretprobe(&poll);
	for (i = 0; i < ARRAY_SIZE(simple); i++)
		if (simple[i].addr)
			unregister_kprobe(&simple[i]);
	for (i = 0; i < ARRAY_SIZE(traces); i++)
		if (traces[i].tp)
			tracepoint_probe_unregister(traces[i].tp, traces[i].probe, NULL);
	tracepoint_synchronize_unregister();
}

static void kprobe_renew(struct kprobe *p)
{
	p->addr = NULL;
	p->flags = 0;
}

static int arm(void)
{
	static char names[3][32];
	int i, rc;

	disarm();
	snprintf(names[0], sizeof(names[0]), "%s_post_send", provider);
	snprintf(names[1], sizeof(names[1]), "%s_post_rec%s", provider,
		 strcmp(provider, "siw") ? "v" : "eive");
	snprintf(names[2], sizeof(names[2]), "%s_poll_cq", provider);
	post_send.symbol_name = names[0];
	post_recv.symbol_name = names[1];
	poll.kp.symbol_name = names[2];
	kprobe_renew(&post_send);
	kprobe_renew(&post_recv);
	kprobe_renew(&poll.kp);
	rc = register_kprobe(&post_send);
	if (rc)
		return rc;
	rc = register_kprobe(&post_recv);
	if (rc)
		goto out_send;
	rc = register_kretprobe(&poll);
	if (rc)
		goto out_recv;
	for (i = 0; i < ARRAY_SIZE(simple); i++) {
		kprobe_renew(&simple[i]);
		rc = register_kprobe(&simple[i]);
		if (rc) {
			pr_err("bench_count: no %s: %d\n", simple[i].symbol_name, rc);
			simple[i].addr = NULL;
		}
	}
	for (i = 0; i < ARRAY_SIZE(traces); i++)
		if (traces[i].tp)
			tracepoint_probe_register(traces[i].tp, traces[i].probe, NULL);
	armed = true;
	return 0;

out_recv:
	unregister_kprobe(&post_recv);
out_send:
	unregister_kprobe(&post_send);
	return rc;
}

static u64 pages_allocated(void)
{
	static unsigned long events[NR_VM_EVENT_ITEMS];
	u64 pages = 0;
	int i;

	all_vm_events(events);
	for (i = PSWPOUT + 1; i <= PGALLOC_MOVABLE; i++)
		pages += events[i];
	return pages;
}

static void zero(void)
{
	memset(counts, 0, sizeof(counts));
	memset(simple_counts, 0, sizeof(simple_counts));
	kmallocs = 0;
	kmalloc_bytes = 0;
	kmallocs_module = 0;
	works = 0;
	switches = 0;
	mappings = 0;
	pages_seen = 0;
	pages_nfsd = 0;
	pages_from = pages_allocated();
	counting = true;
}

static void freeze(void)
{
	if (counting)
		pages_to = pages_allocated();
	counting = false;
}

static int count_show(struct seq_file *m, void *v)
{
	int side, i;

	seq_printf(m, "accepts %u\n", accepts);
	for (side = 0; side < 2; side++)
		for (i = 0; i < C_MAX; i++)
			seq_printf(m, "%s_%s %llu\n", side ? "server" : "client",
				   count_names[i], counts[side][i]);
	for (i = 0; i < S_MAX; i++)
		if (simple[i].addr)
			seq_printf(m, "%s %llu\n", simple[i].symbol_name, simple_counts[i]);
	seq_printf(m, "kmallocs %llu\nkmalloc_bytes %llu\nkmallocs_module %llu\n",
		   kmallocs, kmalloc_bytes, kmallocs_module);
	seq_printf(m, "works %llu\nswitches %llu\nmappings %llu\npages %llu\npages_nfsd %lld\n",
		   works, switches, mappings, pages_to - pages_from,
		   (s64)(pages_to - pages_from - pages_seen + pages_nfsd));
	return 0;
}

static int count_open(struct inode *inode, struct file *file)
{
	return single_open(file, count_show, NULL);
}

static ssize_t count_write(struct file *file, const char __user *buf, size_t len,
			   loff_t *pos)
{
	char c;
	int rc = 0;

	if (!len || get_user(c, buf))
		return -EFAULT;
	switch (c) {
	case '1':
		rc = arm();
		break;
	case '0':
		disarm();
		break;
	case 'z':
		zero();
		break;
	case 'f':
		freeze();
		break;
	default:
		rc = -EINVAL;
	}
	return rc ?: len;
}

static const struct proc_ops count_ops = {
	.proc_open	= count_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= count_write,
};

/* hca_engine_time() of the simulated adapter (lab/hca/engine.c), or NULL */
static u64 (*adapter_time)(void);

static ssize_t idle_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char text[32];
	u64 adapter = adapter_time ? adapter_time() / 1000 : 0;
	int n = scnprintf(text, sizeof(text), "%llu\n", get_cpu_idle_time_us(0, NULL) + adapter);
	loff_t zero = 0;

	return simple_read_from_buffer(buf, len, &zero, text, n);
}

static const struct proc_ops idle_ops = { .proc_read = idle_read, .proc_lseek = noop_llseek };

static int __init count_init(void)
{
	int i, rc;

	adapter_time = __symbol_get("hca_engine_time");
	for_each_kernel_tracepoint(trace_find, NULL);
	for (i = 0; i < ARRAY_SIZE(traces); i++)
		if (!traces[i].tp && traces[i].probe != on_map)
			return -ENOENT;
	rc = register_kprobe(&accept);
	if (rc)
		return rc;
	proc_create("bench_count", 0600, NULL, &count_ops);
	proc_create("bench_idle", 0444, NULL, &idle_ops);
	return 0;
}

static void __exit count_exit(void)
{
	remove_proc_entry("bench_idle", NULL);
	if (adapter_time)
		__symbol_put("hca_engine_time");
	remove_proc_entry("bench_count", NULL);
	disarm();
	unregister_kprobe(&accept);
}

module_init(count_init);
module_exit(count_exit);
MODULE_DESCRIPTION("Counts what an RPC over RDMA makes the kernel do");
MODULE_LICENSE("GPL");
