# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the work of a connection is done (G-43): completion vectors and unmapping. The guests are PCs
# with two NUMA nodes of one processor each. rxe and siw have as many vectors as there are processors.
# Guests: pair
# Nodes: 2
# Cmdline: tsc=reliable nowatchdog
# Memory:server: 1G
# Memory:client: 1G
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

# values <name>: print this value of each connection of this guest's end, sorted
values() { cat $DEBUG/"$ROLE"/* | awk -v n="$1" '$1 == n { print $2 }' | sort -n | xargs; }

# four: mount with four connections, and send RPCs on all of them
four() {
	nfs_mount 4.2 nconnect=4
	[ "$(shown client)/$(on_server shown server)" = 4/4 ] || die "$(shown client)/$(on_server shown server) connections"
	dd if=/dev/urandom of=$MNT/four bs=4k count=64 oflag=direct 2>/dev/null
	dd if=$MNT/four of=/dev/null bs=4k iflag=direct 2>/dev/null
}

# are <client|server> <vectors>: check that the connections of that end have these vectors
are() {
	local found
	if [ "$1" = client ]; then found=$(values vector); else found=$(on_server values vector); fi
	echo "$1: $found"
	[ "$found" = "$2" ] || die "$1: vectors $found, not $2"
}

# The connections of a mount are divided equally among the vectors, at both ends.
# Covers: G-43
case_vectors-nconnect() {
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its vectors"
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	[ "$KERNEL" != debian-6.1 ] || skip "NFS of 6.1 has nconnect with TCP only"
	four
	are client "0 0 1 1"
	are server "0 0 1 1"
	nfs_umount
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
	[ "$(nproc)" -gt 1 ] || skip "one processor"
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
