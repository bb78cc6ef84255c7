# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the work of a connection is done: completion vectors, pools of nfsd's threads, and unmapping (G-43). The guests
# are PCs with two NUMA nodes of one processor each. rxe has as many vectors as there are processors. It has no interrupts,
# but it works where the network's interrupts are handled, and where workqueues run.
# Guests: pair
# Nodes: 2
# Cmdline: tsc=reliable nowatchdog
# Memory:server: 1G
# Memory:client: 1G
# Limit: 2400
# Quick: none
# Second: none
# Debian: rxe
. "$TOP/scripts/tests/cases.sh"

NEAR=/sys/module/rpcrdma/parameters/near_node

# handled_by <processor>: from now on, this processor of this guest handles what the network brings.
handled_by() {
	local irq
	for irq in /proc/irq/*/virtio*; do
		echo "$1" >"${irq%/*}/smp_affinity_list" 2>/dev/null || true
	done
	printf '%x\n' $((1 << $1)) >/sys/devices/virtual/workqueue/cpumask
}

# device_anew: the module forgets what it has learned about the vectors of the device.
device_anew() {
	rdma link delete lab0
	provider_up
}

# threads <in node 0> <in node 1>: let nfsd have so many threads in each pool. Pool 0 always has one. mountd runs there: if
# a connection is given to a pool without threads, sunrpc of Linux before 7.3 does not serve it.
threads() {
	taskset -apc 0 "$(pidof rpc.mountd)" >/dev/null
	echo "$1 $2" >/proc/fs/nfsd/pool_threads
	[ "$(</proc/fs/nfsd/pool_threads)" = "$1 $2" ] || die "there are $(</proc/fs/nfsd/pool_threads) threads"
}

pools() { nfsd_anew tune "$1" /sys/module/sunrpc/parameters/pool_mode; }

# values <name>: print this value of each connection of this guest's end, sorted
values() { cat $DEBUG/"$ROLE"/* | awk -v n="$1" '$1 == n { print $2 }' | sort -n | xargs; }

nobody() {
	until_true 30 nobody_shown || die "connections of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	on_server until_true 30 nobody_shown || die "the server has connections of former mounts"
}

nodes_begin() {
	[ "$MODULE" = ours ] || skip "the in-tree module does not choose"
	[ "$KERNEL" != debian-6.1 ] || skip "NFS of 6.1 has nconnect with TCP only"
	[ -d /sys/devices/system/node/node1 ] || skip "one NUMA node"
	on_server test -d /sys/devices/system/node/node1
	nobody
	device_anew
	on_server device_anew
}

# four: mount with four connections, and use all of them
four() {
	nfs_mount 4.2 nconnect=4
	[ "$(shown client)/$(on_server shown server)" = 4/4 ] || die "$(shown client)/$(on_server shown server) connections"
	dd if=/dev/urandom of=$MNT/four bs=4k count=64 oflag=direct 2>/dev/null
	dd if=$MNT/four of=/dev/null bs=4k iflag=direct 2>/dev/null
}

four_end() {
	nfs_umount
	nobody
}

# are <values> <where> <value>...: the connections of that end have these values of the line in debugfs
are() {
	local found
	if [ "$2" = client ]; then found=$(values "$1"); else found=$(on_server values "$1"); fi
	echo "$2: $1 $found"
	[ "$found" = "$3" ] || die "$2: $1 $found, not $3"
}

# By default, the connections of a mount have all vectors, and equally, at both ends: nobody knows where a software device
# is.
# Covers: G-43
case_vectors-nconnect() {
	nodes_begin
	four
	are vector client "0 0 1 1"
	are vector server "0 0 1 1"
	four_end
}

# The vectors of a node are used. At the server, which has one pool of threads, they are those of near_node,
# too.
# Covers: G-43
case_vectors-near() {
	nodes_begin
	trap 'echo -1 >$NEAR; on_server bash -c "echo -1 >$NEAR"' EXIT
	handled_by 1
	on_server handled_by 0
	echo 1 >$NEAR
	on_server bash -c "echo 0 >$NEAR"
	four
	are vector client "1 1 1 1"
	are vector_cpu client "1 1 1 1"
	are vector server "0 0 0 0"
	are vector_cpu server "0 0 0 0"
	four_end
	echo -2 >$NEAR
	four
	are vector client "0 0 1 1"
	four_end
}

pools_end() {
	on_server bash -c "echo -1 >$NEAR"
	on_server pools global
}

# nfsd has a pool for each node. Connections are handled in the nodes that have threads, whatever near_node says.
# Covers: G-43
case_vectors-pools() {
	nodes_begin
	trap pools_end EXIT
	on_server bash -c "echo 1 >$NEAR"
	on_server pools pernode
	on_server handled_by 0
	on_server threads 4 0
	four
	are vector server "0 0 0 0"
	are vector_cpu server "0 0 0 0"
	are vector client "0 0 1 1"
	four_end
	# Threads in both nodes: nothing is left out.
	on_server threads 2 2
	four
	are vector server "0 0 1 1"
	four_end
}

# The module learns where interrupts are handled. When all are handled in node 1, no vector is in node 0. The first
# connection that is handled in node 0 shows that its vector is there now, so the others get this vector, too.
# Covers: G-43
case_vectors-learned() {
	local first
	nodes_begin
	trap pools_end EXIT
	on_server pools pernode
	on_server threads 2 2
	on_server handled_by 1
	four
	are vector server "0 0 1 1"
	are vector_cpu server "1 1 1 1"
	four_end
	on_server handled_by 0
	on_server threads 4 0
	four
	are vector_cpu server "0 0 0 0"
	first=$(on_server values vector)
	first=${first%% *}
	are vector server "$first $first $first $first"
	four_end
}

# unmapped_by <read|write> <pattern>: eight processes read or write 1 MB at a time. The tasks that then unmap memory at the
# server have names that fit the pattern, but for one unmapping in fifty: a thread of nfsd has looked whether a
# completion is awaited just before a Reply with RDMA Writes was posted. The end of a connection unmaps, too. An emulated
# guest on a busy host may lose one, so this tries again then.
UNMAP=/sys/kernel/tracing/instances/unmap
unmapped_by() {
	local names lost tries
	for tries in {1..5}; do
		lost=$(counter client_disconnects)
		on_server bash -c "echo >$UNMAP/trace; echo 1 >$UNMAP/tracing_on"
		fio --output=/tmp/unmap.out --name=unmap --directory=$MNT --size=4m --bs=1m --rw="$1" --direct=1 --numjobs=8 --loops=2 ||
			die "fio: $(tail -n 3 /tmp/unmap.out)"
		on_server bash -c "echo 0 >$UNMAP/tracing_on"
		[ "$(grown client_disconnects "$lost")" != 0 ] || break
	done
	[ "$(grown client_disconnects "$lost")" = 0 ] || die "a connection was lost in each of $tries tries"
	names=$(on_server bash -c "sed -n 's/^ *\(.*\)-[0-9]* .* unmap: .*/\1/p' $UNMAP/trace | sort | uniq -c")
	echo "$1: $names"
	awk -v by="$2" '{ n += $1 } $2 !~ by { others += $1 } END { exit n < 64 || others * 50 > n }' <<<"$names" ||
		die "$1: not unmapped by $2: $names"
}

unmap_end() {
	on_server bash -c "echo 0 >$UNMAP/tracing_on; echo 0 >$UNMAP/events/kprobes/unmap/enable; rmdir $UNMAP
		echo -:unmap >>/sys/kernel/tracing/kprobe_events"
}

# No handler of a Receive, which runs on the processor of the interrupt, unmaps memory: a thread does it after RDMA Reads,
# and after RDMA Writes a worker that is bound to no processor does it.
# Covers: G-43
case_vectors-unmapped() {
	[ "$MODULE" = ours ] || skip "this is about our module"
	[ -e /sys/kernel/tracing/kprobe_events ] || skip "no kprobes"
	on_server bash -c "mkdir -p $UNMAP; echo p:unmap rdma_rw_ctx_destroy >>/sys/kernel/tracing/kprobe_events
		echo 0 >$UNMAP/tracing_on; echo 1 >$UNMAP/events/kprobes/unmap/enable"
	trap unmap_end EXIT
	nfs_mount 4.2
	unmapped_by write '^nfsd$'
	unmapped_by read '^kworker/u'
	nfs_umount
}

group() {
	pair_up 2
	pair_cases true
}
