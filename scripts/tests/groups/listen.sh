# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Listeners that are bound to one address each, and the removal of their device, or a new hardware address (RPB-09).
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

# set_listeners <address@port>...: nfsd gets these listeners, and no other
set_listeners() {
	local rc=0
	rpc.nfsd 0
	python3 -I -S "$TOP/scripts/tests/peers/listeners.py" "$@" || rc=$?
	[ $rc != 77 ] || skip "this kernel sets no listeners by netlink"
	[ $rc = 0 ] || die "the listeners were refused"
	echo 4 >/proc/fs/nfsd/threads
}

bond_down() {
	rdma link delete lab1
	ip link del bond0
	ip link del bond1
	ip link del bond2
}

# A bond changes its hardware address when it fails over to another interface. The CM tells a listener that is bound to
# the bond's address, and this listener must at once listen with a new id.
# Covers: RPB-09
case_listen-failover() {
	local i
	[ "$PROVIDER" = rxe ] || skip "siw does not need the hardware address"
	modprobe -q bonding max_bonds=0 || skip "this kernel has no bonding"
	ip link add bond0 type bond mode active-backup fail_over_mac active miimon 100
	for i in 1 2; do
		ip link add bond$i type veth peer name peer$i
		ip link set bond$i master bond0
		ip link set peer$i up
	done
	ip link set bond0 up
	ip addr add 10.6.0.1/24 dev bond0
	rdma link add lab1 type rxe netdev bond0
	trap 'nfsd_anew bond_down' EXIT
	set_listeners 10.6.0.1@$PORT
	nfs_mount 4.2 "" 10.6.0.1
	nfs_umount
	ip link set bond0 type bond active_slave bond1
	for i in 2 1 2; do
		dmesg -C
		ip link set bond0 type bond active_slave bond$i
		until_true 10 eval 'dmesg | grep -q "RDMA CM addr change for ndev bond0"' || die "the CM has noticed nothing"
		nap 0.3
		nfs_mount 4.2 soft,retry=0 10.6.0.1 || die "0.3 s after the failover, nobody listens"
		nfs_umount
	done
	trap - EXIT
	nfsd_anew bond_down
}

# Covers: RPB-09
case_listen-address() {
	set_listeners 10.9.0.1@$PORT fd09::1@20055
	nfs_mount 4.2
	echo data >$MNT/listen
	nfs_umount
	# Nobody listens at another address of this host.
	ip addr add 10.9.0.9/24 dev "$RDMA_NETDEV"
	! timeout 60 mount -t nfs -o "proto=rdma,port=$PORT,vers=4.2,soft,retry=0" 10.9.0.9:/ $MNT ||
		die "a listener takes connections to another address"
	ip addr del 10.9.0.9/24 dev "$RDMA_NETDEV"

	rdma link delete lab0
	device_add
	# A listener that has lost its device tries every two seconds to listen again.
	until_true 20 nfs_mount 4.2 || die "the listener has not come back with its device"
	[ "$(cat $MNT/listen)" = data ] || die "the file has changed"
	nfs_umount
	mount -t nfs -o "proto=rdma6,port=20055,vers=4.2" "[$SERVER6]:/" $MNT || die "the IPv6 listener has not come back"
	nfs_umount

	# Now remove the device, and unload the module before the device is added again. Unloading
	# must not wait for the device.
	rdma link delete lab0
	server_down
	until_true 10 rmmod rpcrdma || die "rmmod with nothing left"
	provider_up
	module_load
}

group() {
	alone_up
	run_all_cases
	group_end
}
