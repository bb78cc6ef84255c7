# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the work of a connection is done (G-43): completion vectors, pools of nfsd's threads, and
# unmapping. The guests are PCs with two NUMA nodes of one processor each. rxe has as many vectors
# as there are processors. It has no interrupts, but it does its work on the processors that handle
# the network's interrupts and run workqueues.
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

# handled_by <processor>: let this processor of this guest handle the network's interrupts, and run
# the work of unbound workqueues
handled_by() {
	local irq
	for irq in /proc/irq/*/virtio*; do
		echo "$1" >"${irq%/*}/smp_affinity_list" 2>/dev/null || true
	done
	printf '%x\n' $((1 << $1)) >/sys/devices/virtual/workqueue/cpumask
}

# device_anew: delete the device and add it again, so that the module forgets what it has learned
# about the device's vectors
device_anew() {
	rdma link delete lab0
	provider_up
}

# threads <in node 0> <in node 1>: set the number of nfsd's threads in each pool. If a Call has waited
# for an answer of mountd, the pool of mountd's processor continues with the connection. Linux before
# 7.3 does not serve a connection in a pool without threads. So let mountd run in node 0, whose pool
# always has a thread.
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

# four: mount with four connections, and send RPCs on all of them
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

# are <name> <client|server> <values>: check that the connections of that end have these values of
# the line <name> in debugfs
are() {
	local found
	if [ "$2" = client ]; then found=$(values "$1"); else found=$(on_server values "$1"); fi
	echo "$2: $1 $found"
	[ "$found" = "$3" ] || die "$2: $1 $found, not $3"
}

# By default, the connections of a mount are spread evenly over all vectors, at both ends, because a
# software device belongs to no node.
# Covers: G-43
case_vectors-nconnect() {
	nodes_begin
	four
	are vector client "0 0 1 1"
	are vector server "0 0 1 1"
	four_end
}

# If near_node is the number of a node in which vectors are handled, a client uses only the vectors
# of this node. So does a server that has one pool of threads. With -2, all vectors are used.
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

# nfsd has a pool for each node. Vectors are then chosen from the nodes that have threads, even if
# near_node names another node.
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
	# With threads in both nodes, all vectors are used.
	on_server threads 2 2
	four
	are vector server "0 0 1 1"
	four_end
}

# The module learns on which node a vector is handled. At first all vectors are handled in node 1.
# Then interrupts move to node 0, and only node 0 has threads. As soon as one connection has shown
# that its vector is now handled in node 0, the others get this vector, too.
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

# unmapped_by <read|write> <pattern>: eight processes read or write 1 MB at a time. Memory at the
# server must then be unmapped by tasks whose names fit the pattern. One unmapping in fifty may be
# by another task, for instance by a thread of nfsd that is about to post a Reply, or at the end of
# a connection. In an emulated guest on a busy host, the connection may be lost. Then try again, up
# to five times in all.
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

# At a server, a handler of a Receive runs on the processor of the interrupt, and must not unmap
# memory. Normally a thread of nfsd unmaps the memory of RDMA Reads, and a worker that is not bound
# to a processor unmaps that of RDMA Writes.
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
