# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Listeners that are bound to one address each, and the removal of their device (RPB-09).
# Guests: alone
# Limit: 2400
# Second: rxe
. "$TOP/scripts/tests/cases.sh"

# Covers: RPB-09
case_listen-address() {
	local rc=0
	rpc.nfsd 0
	python3 -I -S "$TOP/scripts/tests/peers/listeners.py" 10.9.0.1@$PORT fd09::1@20055 || rc=$?
	[ $rc != 77 ] || skip "this kernel sets no listeners by netlink"
	[ $rc = 0 ] || die "the listeners were refused"
	echo 4 >/proc/fs/nfsd/threads
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
