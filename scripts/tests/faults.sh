# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults in one guest: a device goes and comes, nfsd stops and starts; peers that are
# alive are found so. Hard mounts lose nothing and see no error; each case prints how long it
# took until replies came again.
# Guests: alone
# Limit: 3000
. "$TOP/scripts/tests/common.sh"
CASE_LIMIT=420

link_up() { rdma link add lab0 type "$PROVIDER" netdev "$RDMA_NETDEV"; }

# Covers: V1-ERR-25 V1-CRD-23 BC-09
case_device-removal() {
	local i before
	nfs_mount 4.2
	load_start
	before=$(xprt_field 3)
	for ((i = 0; i < ${ROUNDS:-4}; i++)); do
		sleep 0.$((RANDOM % 10))
		rdma link delete lab0
		sleep $((i % 3))
		link_up
		load_moves 90 "the device has come back"
	done
	load_end
	xprt_line
	before=$(($(xprt_field 3) - before))
	[ $before -ge ${ROUNDS:-4} ] || die "only $before new connections: was the old one not on the device?"
	nfs_umount
}

# Nothing holds on to a device that has gone: neither an idle mount nor the listener.
case_device-idle() {
	nfs_mount 3
	echo one >$MNT/idle
	rdma link delete lab0
	link_up
	sleep 6
	[ "$(cat $EXPORT/idle)" = one ] || die "what was written has gone"
	echo two >$MNT/idle
	[ "$(cat $EXPORT/idle)" = two ] || die "what was written has not arrived"
	nfs_umount
	rdma link delete lab0
	link_up
	sleep 6
	with_mount 4.2 checked small
}

nfsd_restart() {
	rpc.nfsd 0
	sleep 1
	rpc.nfsd 4
	echo "rdma $PORT" >/proc/fs/nfsd/portlist || die "no RDMA listener"
}

# nfsd_restarts <version>
nfsd_restarts() {
	local i before
	nfs_mount "$1"
	load_start
	before=$(xprt_field 3)
	for i in 1 2; do
		sleep 1.$((RANDOM % 10))
		nfsd_restart
		load_moves 90 "nfsd has come back, $i"
	done
	load_end
	before=$(($(xprt_field 3) - before))
	[ $before -ge 2 ] || die "only $before new connections: was nfsd not gone?"
	nfs_umount
}

# Covers: V1-ERR-25
case_nfsd-restart() { nfsd_restarts 4.2; }
case_nfsd-restart-v3() { nfsd_restarts 3; }

# --- keepalive ----------------------------------------------------------------
# See faults-pair.sh for two guests.

# keepalive <time> <timeout>: both ends, for connections to come
keepalive() {
	[ "$MODULE" = ours ] || skip "the in-tree module has no keepalive"
	echo "$1" >/proc/sys/sunrpc/rdma_keepalive_time
	echo "$2" >/proc/sys/sunrpc/rdma_keepalive_timeout
}

# probed <seconds>: how many probes in that time?
probed() {
	local before
	before=$(counter keepalive_probes)
	sleep "$1"
	echo $(($(counter keepalive_probes) - before))
}

# Idle peers are probed, and found alive; with 0 they are not probed.
# Covers: V1-CRD-28
case_keepalive() {
	local failures connects n
	keepalive 2 10
	nfs_mount 3
	failures=$(counter keepalive_failures)
	connects=$(xprt_field 3)
	n=$(probed 12)
	echo "$n probes"
	[ "$n" -ge 2 ] || die "only $n probes in 12 s"
	[ "$(counter keepalive_failures)" = "$failures" ] || die "a probe of a living peer failed"
	: >$MNT/alive
	[ "$(xprt_field 3)" = "$connects" ] || die "the connection was lost"
	nfs_umount
	keepalive 0 10
	nfs_mount 3
	n=$(probed 8)
	[ "$n" = 0 ] || die "0 does not turn it off"
	nfs_umount
	keepalive 10 10
}

group() {
	alone_up
	run_all_cases
	group_end
}
