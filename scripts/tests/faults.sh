# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults in one guest: a device goes and comes, nfsd stops and starts. Hard mounts lose
# nothing and see no error; each case prints how long it took until replies came again.
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

group() {
	alone_up
	run_all_cases
	group_end
}
