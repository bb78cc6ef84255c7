// SPDX-License-Identifier: GPL-2.0
/*
 * What goes wrong on purpose
 *
 * Faults are those of Documentation/fault-injection/fault-injection.rst. Each has a directory in
 * debugfs hca_sim/, with the name that HCA_FAULTS has. Where this file's functions are called says
 * what fails. Without CONFIG_FAULT_INJECTION_DEBUG_FS, there are only the file fatal, and events.
 *
 * As with most drivers, handlers of asynchronous events run in interrupts.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/seq_file.h>
#include "hca.h"

/* --- faults ------------------------------------------------------------------- */

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

static struct {
	const char *name;
	struct fault_attr attr;
	atomic_long_t count;
} hca_faults[] = {
#define HCA_FAULT(id, text) \
	[HCA_FAULT_ ## id] = { .name = text, .attr = FAULT_ATTR_INITIALIZER },
	HCA_FAULTS(HCA_FAULT)
#undef HCA_FAULT
};

/* The status of a request that fails because of HCA_FAULT_COMPLETE */
static u32 hca_faults_status = IB_WC_RETRY_EXC_ERR;

/**
 * hca_fault - is this the time for a fault?
 * @fault: which one
 *
 * Context: any
 * Return: whether to fail
 */
bool hca_fault(enum hca_fault fault)
{
	if (!should_fail(&hca_faults[fault].attr, 1))
		return false;
	atomic_long_inc(&hca_faults[fault].count);
	return true;
}

/**
 * hca_fault_on - may a fault still happen?
 * @fault: which one
 *
 * Context: any
 * Return: whether its probability is not 0
 */
bool hca_fault_on(enum hca_fault fault)
{
	return READ_ONCE(hca_faults[fault].attr.probability);
}

/**
 * hca_fault_status - with which status does a request fail?
 *
 * Context: any
 * Return: the status
 */
enum ib_wc_status hca_fault_status(void)
{
	return READ_ONCE(hca_faults_status);
}

static void hca_faults_init(struct dentry *dir)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hca_faults); i++)
		fault_create_debugfs_attr(hca_faults[i].name, dir,
					  &hca_faults[i].attr);
	debugfs_create_u32("status", 0644, dir, &hca_faults_status);
}

/**
 * hca_faults_show - show how often each fault has happened
 * @seq: file in debugfs
 *
 * Context: process
 */
void hca_faults_show(struct seq_file *seq)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hca_faults); i++)
		seq_printf(seq, "fault-%s %lu\n", hca_faults[i].name,
			   atomic_long_read(&hca_faults[i].count));
}

#else

static void hca_faults_init(struct dentry *dir)
{
}

/**
 * hca_faults_show - show nothing
 * @seq: file in debugfs
 *
 * Context: process
 */
void hca_faults_show(struct seq_file *seq)
{
}

#endif

/**
 * hca_fails - does a verb fail?
 * @dev: the adapter
 * @fault: which fault the verb has
 *
 * Context: any
 * Return: 0 if not, or a negative errno
 */
int hca_fails(struct hca_dev *dev, enum hca_fault fault)
{
	if (READ_ONCE(dev->fatal))
		return -EIO;
	return hca_fault(fault) ? -ENOMEM : 0;
}

/* --- asynchronous events ------------------------------------------------------ */

/**
 * hca_cq_event - tell a ULP that its completion queue has overflown
 * @work: of the completion queue
 *
 * Context: hard interrupt
 */
void hca_cq_event(struct irq_work *work)
{
	struct hca_cq *cq = container_of(work, struct hca_cq, overflow);
	struct ib_event event = { .device = cq->ib.device,
				  .element.cq = &cq->ib,
				  .event = IB_EVENT_CQ_ERR };

	hca_count(HCA_N_EVENTS, 1);
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

/**
 * hca_qp_event - tell a ULP that its queue pair has failed
 * @work: of the queue pair
 *
 * Context: hard interrupt
 */
void hca_qp_event(struct irq_work *work)
{
	struct hca_qp *qp = container_of(work, struct hca_qp, event);
	struct ib_event event = { .device = qp->ib.device,
				  .element.qp = &qp->ib,
				  .event = qp->error };

	hca_count(HCA_N_EVENTS, 1);
	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

/**
 * hca_qp_raise - raise an event of a queue pair
 * @qp: the queue pair
 * @error: the event
 *
 * Context: with hca_engine_lock, so the queue pair is not being destroyed
 */
void hca_qp_raise(struct hca_qp *qp, enum ib_event_type error)
{
	qp->error = error;
	irq_work_queue(&qp->event);
}

/* --- the end of all adapters -------------------------------------------------- */

static void hca_dev_fatal(struct hca_dev *dev)
{
	struct ib_event event = { .device = &dev->ib,
				  .event = IB_EVENT_DEVICE_FATAL };
	unsigned long index;
	struct hca_qp *qp;

	lockdep_assert_held(&hca_lock);
	WRITE_ONCE(dev->fatal, true);
	xa_for_each(&dev->qps, index, qp)
		hca_qp_error(qp);
	hca_count(HCA_N_EVENTS, 1);
	ib_dispatch_event(&event);
}

static int hca_fatal_set(void *unused, u64 value)
{
	struct hca_dev *dev;

	if (value != 1)
		return -EINVAL;
	mutex_lock(&hca_engine_lock);
	spin_lock_irq(&hca_lock);
	list_for_each_entry(dev, &hca_devs, list)
		hca_dev_fatal(dev);
	spin_unlock_irq(&hca_lock);
	mutex_unlock(&hca_engine_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(hca_fatal_fops, NULL, hca_fatal_set, "%llu\n");

/**
 * hca_faults_add - add the files of faults
 * @dir: directory in debugfs
 *
 * Context: process
 */
void hca_faults_add(struct dentry *dir)
{
	hca_faults_init(dir);
	debugfs_create_file("fatal", 0200, dir, NULL, &hca_fatal_fops);
}
