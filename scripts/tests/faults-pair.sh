# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults between two guests: the server is killed, or stopped for a while; the link goes down;
# packets are lost, doubled and reordered. The mount is hard: nothing is lost, no call fails,
# and each case prints how long it took until replies came again. What the server exports is
# on a disk that outlives it.
# Guests: pair
# Restart: yes
# Cpus: 1
# Limit: 1800
# Providers: siw rxe
# Quick: siw
# Second: rxe
. "$TOP/scripts/tests/common.sh"
CASE_LIMIT=420

disk_up() {
	modprobe -aq virtio_blk ext4 || true
	until_true 20 test -b /dev/vda || die "the server has no disk"
	blkid /dev/vda >/dev/null || mkfs.ext4 -q /dev/vda
	mkdir -p /disk $EXPORT
	mount /dev/vda /disk
	mkdir -p /disk/export /disk/state
	chmod 777 /disk/export
	mount --bind /disk/export $EXPORT
	# shellcheck disable=SC2034
	NFS_STATE=/disk/state GRACE=60
	# In its second life clients have something to reclaim.
	# shellcheck disable=SC2034
	RECLAIM=$(ls /disk/state)
}

# on_host <kill|stop|cont>: what is to happen to the server's machine
on_host() {
	touch "/lab/host.$1"
	until_true 30 eval "[ ! -e /lab/host.$1 ]" || die "the host does not obey: $1"
}

# Covers: V1-ERR-25 V1-CRD-23 BC-09
case_server-killed() {
	nfs_mount 4.2
	load_start
	sleep 1.$((RANDOM % 10))
	rm -f /lab/server.ready
	on_host kill
	until_true 300 test -e /lab/server.ready || die "the server guest does not come back"
	load_moves 120 "the server has booted again"
	load_end
	nfs_umount
}

# A machine that stands still answers nothing, its adapter included: the keepalive notices
# before any RPC times out.
# Covers: V1-CRD-28
case_server-stopped() {
	local before t0
	nfs_mount 4.2
	load_start
	before=$(counter client_disconnects)
	on_host stop
	t0=$SECONDS
	until_true 55 eval "[ \$(counter client_disconnects) -gt $before ]" || die "a dead server was not noticed"
	echo "noticed after $((SECONDS - t0)) s; $(counter keepalive_failures) probes failed"
	on_host cont
	load_moves 120 "the server goes on"
	load_end
	nfs_umount
}

# link_down <seconds>
link_down() {
	nfs_mount 4.2
	load_start
	ip link set eth0 down
	sleep "$1"
	ip link set eth0 up
	load_moves 150 "the link has come back after $1 s"
	load_end
	nfs_umount
}

# Covers: V1-ERR-25
case_link-5s() { link_down 5; }
case_link-90s() { link_down 90; }

# siw has TCP for this; with rxe it is the device's own business.
case_bad-network() {
	[ "$PROVIDER" = rxe ] || skip "TCP hides it from siw"
	modprobe -q sch_netem || true
	nfs_mount 4.2
	load_start
	tc qdisc add dev eth0 root netem delay 2ms 1ms loss 1% duplicate 1% reorder 5% || skip "this kernel has no netem"
	on_server tc qdisc add dev eth0 root netem delay 2ms 1ms loss 1% duplicate 1% reorder 5%
	sleep 20
	tc -s qdisc show dev eth0 | grep dropped
	tc qdisc del dev eth0 root
	on_server tc qdisc del dev eth0 root
	load_moves 60 "the network is good again"
	load_end
	nfs_umount
}

group() {
	[ "$ROLE" = client ] || disk_up
	pair_up
	if [ "$ROLE" = server ]; then
		serve_requests
		case_clean
		return
	fi
	run_all_cases
	case_run clean
	touch /lab/stop
}
