// SPDX-License-Identifier: GPL-2.0
/* Event counters of the whole module, see counters.h. */
#include <kunit/visibility.h>
#include <rpcrdma/counters.h>

DEFINE_PER_CPU(struct rpcrdma_counts, rpcrdma_counts);
EXPORT_PER_CPU_SYMBOL_GPL(rpcrdma_counts);	/* for unit tests */

/**
 * rpcrdma_counter_read - sum of a counter over all CPUs
 * @which: counter
 *
 * Context: any.
 * Return: value of the counter, which starts at 0 when the module is loaded.
 */
u64 rpcrdma_counter_read(enum rpcrdma_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(rpcrdma_counts, cpu).ct_value[which];
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_counter_read);
