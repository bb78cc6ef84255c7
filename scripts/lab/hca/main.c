// SPDX-License-Identifier: GPL-2.0
/*
 * hca_sim - a simulated RDMA adapter for tests
 *
 * This module is for RDMA what mac80211_hwsim is for wireless: an adapter without hardware, which
 * is strict. It does what the adapter of a careful manufacturer would do, and it reports each
 * request that such an adapter would have to refuse, or that would lose data. Only kernel ULPs can
 * use it. Both ends of a connection must be in this kernel, and no packets are sent. The profile
 * decides of which kind the adapter is: RoCE, where the kernel's ib_cm makes connections with MADs
 * (roce.c), or iWARP, where the driver makes them, and finds them by IP address and port (cm.c).
 *
 *	rdma link add lab0 type hca netdev eth0
 *
 * Parameters
 *	profile		the adapter whose limits it has, see profile.c
 *	seed		the order in which the adapter executes requests of different queue pairs,
 *			and delivers completions, depends on it
 *	coherent	the adapter accesses the CPU's memory directly, as on most PCs: a missing
 *			sync is still reported where it is noticed, but does no harm (0)
 *	direct		DMA addresses are physical addresses, and the adapter checks no access to
 *			memory: for measuring (0)
 *	poll		the engine never sleeps: for measuring, see engine.c (0)
 *	check		compare buffers with checksums and with the CPU's memory (1)
 *	delay_us	the ULP sees a completion that long after the request was executed (0)
 *	ignore		comma-separated list of kinds of reports to ignore. A test may set it
 *			while it does what real adapters refuse, too.
 *	selftest	when a device is added, violate each rule once, and expect the report
 * debugfs hca_sim/
 *	reports		how often each kind of report was made
 *	mappings	DMA mappings that exist, and who made them
 *	counts		what is counted, and how often faults have happened, since the module was
 *			loaded
 *	fatal		writing 1 stops all adapters, as an error inside of them would: queue pairs
 *			enter ERR, and most verbs fail, until the device is deleted
 *	others		faults, see faults.c
 */
#include <linux/debugfs.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <net/addrconf.h>
#include <rdma/rdma_netlink.h>
#include "hca.h"

/* Reports of one kind that are printed. More are only counted. */
#define HCA_PRINTED	20

/* GIDs of a port: one for its link-local address, and one for each IP address */
#define HCA_GIDS	64

static char *profile = "mlx5";
module_param(profile, charp, 0644);
static ulong seed = 1;
module_param(seed, ulong, 0444);
bool hca_check = true;
module_param_named(check, hca_check, bool, 0644);
bool hca_coherent;
module_param_named(coherent, hca_coherent, bool, 0444);
bool hca_direct;
module_param_named(direct, hca_direct, bool, 0444);
bool hca_poll;
module_param_named(poll, hca_poll, bool, 0444);
uint hca_delay_us;
module_param_named(delay_us, hca_delay_us, uint, 0644);
static bool selftest;
module_param(selftest, bool, 0644);

static struct dentry *hca_dir;

/* All adapters */
LIST_HEAD(hca_devs);

/* --- reports ------------------------------------------------------------------ */

static const char * const hca_kind_names[] = {
#define HCA_KIND(name, text) [HCA_ ## name] = text,
	HCA_KINDS(HCA_KIND)
#undef HCA_KIND
};

static atomic_long_t hca_counts[HCA_KIND_COUNT];
static bool hca_ignored[HCA_KIND_COUNT];
static bool hca_silent;

/**
 * hca_report - report that a rule was violated
 * @kind: which rule
 * @format: how
 *
 * Context: any
 */
void hca_report(enum hca_kind kind, const char *format, ...)
{
	unsigned long stack[16];
	struct va_format text;
	va_list args;

	if (hca_ignored[kind])
		return;
	if (atomic_long_inc_return(&hca_counts[kind]) > HCA_PRINTED ||
	    hca_silent)
		return;
	va_start(args, format);
	text.fmt = format;
	text.va = &args;
	pr_err("hca_sim: report: %s: %pV\n", hca_kind_names[kind], &text);
	va_end(args);
	stack_trace_print(stack, stack_trace_save(stack, ARRAY_SIZE(stack), 1),
			  4);
}

/**
 * hca_reports - count reports
 * @kind: of which kind
 *
 * Context: any
 * Return: the number of reports of this kind
 */
unsigned long hca_reports(enum hca_kind kind)
{
	return atomic_long_read(&hca_counts[kind]);
}

/**
 * hca_quiet - during the self test, only count reports
 * @quiet: does the self test begin?
 *
 * When it ends, the counters begin again at 0.
 *
 * Context: process
 */
void hca_quiet(bool quiet)
{
	unsigned int kind;

	hca_silent = quiet;
	for (kind = 0; kind < HCA_KIND_COUNT && !quiet; kind++)
		atomic_long_set(&hca_counts[kind], 0);
}

static int hca_ignore_set(const char *text, const struct kernel_param *unused)
{
	unsigned int kind;
	const char *at;
	size_t len;

	memset(hca_ignored, 0, sizeof(hca_ignored));
	for (at = text; *at; at += len + !!at[len]) {
		len = strcspn(at, ",\n");
		for (kind = 0; kind < HCA_KIND_COUNT; kind++)
			if (strlen(hca_kind_names[kind]) == len &&
			    !strncmp(at, hca_kind_names[kind], len))
				hca_ignored[kind] = true;
	}
	return 0;
}

static const struct kernel_param_ops hca_ignore_ops = {
	.set = hca_ignore_set,
};
module_param_cb(ignore, &hca_ignore_ops, NULL, 0200);

static int reports_show(struct seq_file *seq, void *unused)
{
	unsigned int kind;

	for (kind = 0; kind < HCA_KIND_COUNT; kind++)
		seq_printf(seq, "%s %lu\n", hca_kind_names[kind],
			   hca_reports(kind));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(reports);

/* --- counts ------------------------------------------------------------------- */

/* See hca.h. */
DEFINE_PER_CPU(unsigned long [HCA_N_COUNT], hca_counted);

static const char * const hca_count_names[] = {
#define HCA_COUNT(name, text) [HCA_N_ ## name] = text,
	HCA_COUNTS(HCA_COUNT)
#undef HCA_COUNT
};

static int counts_show(struct seq_file *seq, void *unused)
{
	unsigned int i, cpu;
	unsigned long sum;

	for (i = 0; i < HCA_N_COUNT; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += per_cpu(hca_counted[i], cpu);
		seq_printf(seq, "%s %lu\n", hca_count_names[i], sum);
	}
	for_each_online_cpu(cpu)
		seq_printf(seq, "interrupts-%u %lu\n", cpu,
			   per_cpu(hca_counted[HCA_N_INTERRUPTS], cpu));
	hca_faults_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int mappings_show(struct seq_file *seq, void *unused)
{
	hca_mem_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(mappings);

/* --- the device --------------------------------------------------------------- */

static int hca_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	struct hca_dev *dev = to_hca_dev(ib);
	const struct hca_profile *p = dev->profile;

	addrconf_addr_eui48((u8 *)&attr->sys_image_guid,
			    dev->netdev->dev_addr);
	attr->device_cap_flags = p->mr_pages ? IB_DEVICE_MEM_MGT_EXTENSIONS : 0;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG |
				 (p->gaps ? IBK_SG_GAPS_REG : 0) |
				 (p->lkey ? IBK_LOCAL_DMA_LKEY : 0);
	attr->max_mr_size = ~0ull;
	attr->page_size_cap = p->page_sizes;
	attr->max_qp = 1 << 16;
	attr->max_qp_wr = p->qp_wr;
	attr->max_send_sge = p->send_sge;
	attr->max_recv_sge = p->recv_sge;
	attr->max_sge_rd = p->read_sge;
	attr->max_cq = 1 << 16;
	attr->max_cqe = p->cqe;
	attr->max_mr = p->mr;
	attr->max_pd = 1 << 15;
	attr->max_qp_rd_atom = p->ird;
	attr->max_qp_init_rd_atom = p->ord;
	attr->max_res_rd_atom = p->ird * attr->max_qp;
	attr->max_fast_reg_page_list_len = p->mr_pages;
	attr->max_sgl_rd = p->sgl_rd;
	attr->max_pkeys = 1;
	attr->max_ah = 1 << 16;
	/* 0.27 s, as of mlx5 */
	attr->local_ca_ack_delay = 16;
	return 0;
}

/**
 * hca_port_up - is the port up?
 * @dev: the adapter
 *
 * Context: any
 * Return: whether the network device beside it is up
 */
bool hca_port_up(const struct hca_dev *dev)
{
	return netif_running(dev->netdev) && netif_carrier_ok(dev->netdev);
}

static int hca_query_port(struct ib_device *ib, u32 port,
			  struct ib_port_attr *attr)
{
	bool up = hca_port_up(to_hca_dev(ib));
	bool roce = to_hca_dev(ib)->profile->roce;

	memset(attr, 0, sizeof(*attr));
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->active_speed = IB_SPEED_EDR;
	attr->active_width = IB_WIDTH_4X;
	attr->gid_tbl_len = roce ? HCA_GIDS : 1;
	attr->pkey_tbl_len = roce;
	attr->ip_gids = roce;
	attr->max_msg_sz = 1U << 30;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	return 0;
}

static int hca_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	if (to_hca_dev(ib)->profile->roce) {
		immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
		immutable->gid_tbl_len = HCA_GIDS;
		immutable->pkey_tbl_len = 1;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	} else {
		immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
		immutable->gid_tbl_len = 1;
	}
	return 0;
}

/*
 * Only for the iWARP kind: rdma_cm looks for the device of an address by the hardware address of
 * its network device. With RoCE, the core has the table of GIDs.
 */
static int hca_query_gid(struct ib_device *ib, u32 port, int index,
			 union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	memcpy(gid->raw, to_hca_dev(ib)->netdev->dev_addr, ETH_ALEN);
	return 0;
}

static void hca_dealloc_driver(struct ib_device *ib)
{
	struct hca_dev *dev = to_hca_dev(ib);

	spin_lock_irq(&hca_lock);
	list_del_init(&dev->list);
	spin_unlock_irq(&hca_lock);
	WARN_ON(!xa_empty(&dev->qps) || !xa_empty(&dev->mrs));
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
	hca_mem_detach(dev);
	dev_put(dev->netdev);
}

static const struct ib_device_ops hca_dev_ops = {
	.owner = THIS_MODULE,
	.dealloc_driver = hca_dealloc_driver,
	.get_port_immutable = hca_port_immutable,
	.query_device = hca_query_device,
	.query_gid = hca_query_gid,
	.query_port = hca_query_port,
};

static int hca_dev_init(struct hca_dev *dev, struct net_device *netdev)
{
	struct ib_device *ib = &dev->ib;

	dev_hold(netdev);
	dev->netdev = netdev;
	dev->up = hca_port_up(dev);
	spin_lock_irq(&hca_lock);
	list_add_tail(&dev->list, &hca_devs);
	spin_unlock_irq(&hca_lock);
	ib->node_type = dev->profile->roce ? RDMA_NODE_IB_CA : RDMA_NODE_RNIC;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_online_cpus();
	ib->local_dma_lkey = HCA_LOCAL_LKEY;
	/* There is no TCP port that a port mapper would have to know. */
	ib->iw_driver_flags = IW_F_NO_PORT_MAP;
	strscpy(ib->iw_ifname, netdev->name, sizeof(ib->iw_ifname));
	addrconf_addr_eui48((u8 *)&ib->node_guid, netdev->dev_addr);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	ib_set_device_ops(ib, &hca_dev_ops);
	ib_set_device_ops(ib, &hca_verbs_ops);
	ib_set_device_ops(ib, dev->profile->roce ? &hca_roce_ops : &hca_cm_ops);
	ib->ops.driver_id = dev->profile->driver;
	return ib_device_set_netdev(ib, netdev, 1);
}

static int hca_dev_add(struct hca_dev *dev, const char *name,
		       struct net_device *netdev)
{
	int rc;

	rc = hca_dev_init(dev, netdev);
	if (!rc)
		rc = hca_mem_attach(dev);
	if (rc)
		return rc;
	return ib_register_device(&dev->ib, name, dev->dma);
}

static int hca_newlink(const char *name, struct net_device *netdev)
{
	const struct hca_profile *p = hca_profile_find(profile);
	struct hca_dev *dev;
	int rc;

	if (!p || netdev->addr_len != ETH_ALEN)
		return -EINVAL;
	dev = ib_alloc_device(hca_dev, ib);
	if (!dev)
		return -ENOMEM;
	dev->profile = p;
	rc = hca_dev_add(dev, name, netdev);
	if (rc) {
		/* This calls hca_dealloc_driver(). */
		ib_dealloc_device(&dev->ib);
		return rc;
	}
	pr_info("hca_sim: %s beside %s: profile %s, seed %lu, %s\n", name,
		netdev->name, p->name, seed,
		hca_direct ? "direct" : hca_coherent ? "coherent" : "strict");
	if (selftest)
		hca_selftest(dev);
	return 0;
}

static struct rdma_link_ops hca_link_ops = {
	.type = "hca",
	.newlink = hca_newlink,
};

/* Later kernels do this themselves for devices like this one. */
static void hca_port_event(struct hca_dev *dev)
{
	struct ib_event event = { .device = &dev->ib, .element.port_num = 1 };
	bool up = hca_port_up(dev);

	if (dev->up == up)
		return;
	dev->up = up;
	hca_count(HCA_N_EVENTS, 1);
	event.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	if (!IS_ENABLED(HCA_PORT_EVENTS))
		ib_dispatch_event(&event);
}

static int hca_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *arg)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ib;

	ib = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
	if (!ib)
		return NOTIFY_OK;
	if (ib->ops.owner != THIS_MODULE)
		goto out;
	if (event == NETDEV_UNREGISTER)
		ib_unregister_device_queued(ib);
	else if (event == NETDEV_UP || event == NETDEV_DOWN ||
		 event == NETDEV_CHANGE)
		hca_port_event(to_hca_dev(ib));
out:
	ib_device_put(ib);
	return NOTIFY_OK;
}

static struct notifier_block hca_netdev_nb = {
	.notifier_call = hca_netdev_event,
};

static int __init hca_init(void)
{
	int rc;

	if (!hca_profile_find(profile))
		return -EINVAL;
	rc = hca_cm_init();
	if (rc)
		return rc;
	rc = hca_engine_start(seed);
	if (rc)
		goto out_cm;
	rc = register_netdevice_notifier(&hca_netdev_nb);
	if (rc)
		goto out_engine;
	hca_dir = debugfs_create_dir("hca_sim", NULL);
	debugfs_create_file("reports", 0444, hca_dir, NULL, &reports_fops);
	debugfs_create_file("mappings", 0444, hca_dir, NULL, &mappings_fops);
	debugfs_create_file("counts", 0444, hca_dir, NULL, &counts_fops);
	hca_faults_add(hca_dir);
	rdma_link_register(&hca_link_ops);
	return 0;

out_engine:
	hca_engine_stop();
out_cm:
	hca_cm_exit();
	return rc;
}

static void __exit hca_exit(void)
{
	rdma_link_unregister(&hca_link_ops);
	unregister_netdevice_notifier(&hca_netdev_nb);
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	ib_unregister_driver(RDMA_DRIVER_HNS);
	debugfs_remove(hca_dir);
	hca_engine_stop();
	hca_cm_exit();
}

module_init(hca_init);
module_exit(hca_exit);
MODULE_ALIAS_RDMA_LINK("hca");
MODULE_DESCRIPTION("Simulated RDMA adapter for tests");
MODULE_LICENSE("GPL");
