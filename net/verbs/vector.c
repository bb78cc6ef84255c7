// SPDX-License-Identifier: GPL-2.0
/*
 * Completion vectors: the interrupts of a device. This file chooses the vector of each connection,
 * and counts the connections of each vector. It does not know what connections are used for.
 *
 * A completion queue raises the interrupt of its vector. The RDMA core then handles the completions
 * on the processor that handles the interrupt, in softirq or in a worker. So the vector decides
 * which processor handles the Receives of a connection. At a server, sunrpc normally gives the
 * connection to a thread of the pool to which this processor belongs.
 *
 * The RDMA core does not tell which processor handles the interrupt of a vector. Drivers choose a
 * processor, and irqbalance or an administrator may choose another one. At first, this file assumes
 * what most drivers do: the first vectors are handled by the processors that are nearest to the
 * device. After that, the handler of each Receive records its processor (rpcrdma_vector_seen()). A
 * connection keeps its vector until it ends, so this knowledge is used only for later connections.
 *
 * Software devices have no interrupts, and their completions may be handled anywhere. For them, the
 * choice is arbitrary, which does no harm.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/spread.h>
#include <rpcrdma/vector.h>

/* Values of the parameter near_node that do not name a node */
#define RPCRDMA_NODE_DEVICE	(-1)
#define RPCRDMA_NODE_ANY	(-2)

/* The number of the NUMA node in which interrupts should be handled; %RPCRDMA_NODE_DEVICE for the
 * node of the device; or %RPCRDMA_NODE_ANY for any node.
 */
static int rpcrdma_near_node = RPCRDMA_NODE_DEVICE;

static int rpcrdma_near_node_set(const char *val,
				 const struct kernel_param *kp)
{
	int node, rc;

	rc = kstrtoint(val, 0, &node);
	if (rc)
		return rc;
	if (node < RPCRDMA_NODE_ANY || node >= MAX_NUMNODES ||
	    (node >= 0 && !node_online(node)))
		return -EINVAL;
	WRITE_ONCE(rpcrdma_near_node, node);
	return 0;
}

static const struct kernel_param_ops rpcrdma_near_node_ops = {
	.set	= rpcrdma_near_node_set,
	.get	= param_get_int,
};
module_param_cb(near_node, &rpcrdma_near_node_ops, &rpcrdma_near_node, 0644);
MODULE_PARM_DESC(near_node,
		 "Both sides: NUMA node for interrupts (-1: that of the device, -2: any)");

/**
 * struct rpcrdma_vectors - the completion vectors of a device
 * @vt_node: NUMA node of the device, or %NUMA_NO_NODE
 * @vt_count: number of vectors
 * @vt_cvs: the vectors. rpcrdma_vector_lock protects them, but cv_cpu is written without it
 */
struct rpcrdma_vectors {
	int			vt_node;
	u32			vt_count;
	struct rpcrdma_cv	vt_cvs[];
};

static DEFINE_MUTEX(rpcrdma_vector_lock);
/* Index after that of the vector chosen last. All devices share this variable: if each began with
 * its first vector, their connections would gather on the same processors.
 */
static u32 rpcrdma_vector_next;

/**
 * rpcrdma_vectors_create - make the table of a device's completion vectors
 * @device: device
 *
 * Context: process; sleeps.
 * Return: the table, which the caller frees with kfree() when no connection is on the device any
 *	more; or NULL.
 */
struct rpcrdma_vectors *rpcrdma_vectors_create(struct ib_device *device)
{
	u32 i, count = max_t(u32, device->num_comp_vectors, 1);
	struct rpcrdma_vectors *vectors;

	vectors = kzalloc(struct_size(vectors, vt_cvs, count), GFP_KERNEL);
	if (!vectors)
		return NULL;
	vectors->vt_node = ibdev_to_node(device);
	vectors->vt_count = count;
	/* If a processor went offline meanwhile, cpumask_local_spread() might find none. */
	cpus_read_lock();
	for (i = 0; i < count; i++)
		vectors->vt_cvs[i].cv_cpu =
			cpumask_local_spread(i, vectors->vt_node);
	cpus_read_unlock();
	return vectors;
}

/* Returns the group (cv_group, see core/spread.c) of a vector whose interrupt is handled in @node.
 * @nodes are the nodes that the owner of the connection prefers, or NULL.
 */
static int rpcrdma_vector_group(const struct rpcrdma_vectors *vectors,
				const nodemask_t *nodes, int node)
{
	int near = READ_ONCE(rpcrdma_near_node);

	if (near == RPCRDMA_NODE_ANY)
		return 0;
	if (nodes)
		return node_isset(node, *nodes) ? node : RPCRDMA_CV_UNWANTED;
	if (near == RPCRDMA_NODE_DEVICE)
		near = vectors->vt_node;
	if (near == NUMA_NO_NODE)
		return 0;
	return node == near ? node : RPCRDMA_CV_UNWANTED;
}

/**
 * rpcrdma_vector_take - choose the completion vector of a connection
 * @conn: connection that has joined its device, and has no vector
 * @nodes: NUMA nodes whose processors should handle its Receives; NULL if the parameter near_node
 *	decides. If near_node is -2, @nodes is ignored.
 *
 * Sets cn_vector and cn_cv. rpcrdma_vector_give() gives the vector back. Like the RDMA core, this
 * function uses no more vectors than there are online processors.
 *
 * Context: process; sleeps.
 */
void rpcrdma_vector_take(struct rpcrdma_conn *conn, const nodemask_t *nodes)
{
	struct rpcrdma_vectors *vectors = conn->cn_vectors;
	struct rpcrdma_cv *cvs = vectors->vt_cvs;
	u32 i, count = min(vectors->vt_count, num_online_cpus());

	mutex_lock(&rpcrdma_vector_lock);
	for (i = 0; i < count; i++)
		cvs[i].cv_group =
			rpcrdma_vector_group(vectors, nodes,
					     cpu_to_node(READ_ONCE(cvs[i].cv_cpu)));
	i = rpcrdma_spread_choose(cvs, count, rpcrdma_vector_next);
	rpcrdma_vector_next = i + 1;
	cvs[i].cv_conns++;
	mutex_unlock(&rpcrdma_vector_lock);

	conn->cn_vector = i;
	conn->cn_cpu = RPCRDMA_CPU_UNKNOWN;
	conn->cn_cv = &cvs[i];
}

/**
 * rpcrdma_vector_give - give back the completion vector of a connection
 * @conn: connection without completion queues; it need not have a vector
 *
 * Context: process; sleeps.
 */
void rpcrdma_vector_give(struct rpcrdma_conn *conn)
{
	if (!conn->cn_cv)
		return;
	mutex_lock(&rpcrdma_vector_lock);
	conn->cn_cv->cv_conns--;
	mutex_unlock(&rpcrdma_vector_lock);
	conn->cn_cv = NULL;
}

/**
 * rpcrdma_vector_learn - record a new processor of a vector
 * @conn: connection, one of whose Receives is being handled
 * @cpu: processor that handles it; not the one that handled the connection's previous Receive
 *
 * Only rpcrdma_vector_seen() calls this.
 *
 * Context: completion handler of a Receive.
 */
void rpcrdma_vector_learn(struct rpcrdma_conn *conn, int cpu)
{
	WRITE_ONCE(conn->cn_cpu, cpu);
	WRITE_ONCE(conn->cn_cv->cv_cpu, cpu);
}
