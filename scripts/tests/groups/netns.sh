# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The client, or a second server, in a network namespace of its own. Only for hca, and for rxe of 7.3, because siw, and
# rxe of 6.12, have their sockets in the first namespace only.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"

has_rxe_in_netns() {
	[ "$PROVIDER" != hca ] || return 0
	[ "$PROVIDER" = rxe ] || skip "siw has its sockets in the first network namespace only"
	[ "$KERNEL" = 7.3 ] || skip "rxe of 6.12 has its sockets in the first network namespace only"
}

# The client is in a namespace with an address and a device of its own, and the server stays in the
# first one. While the namespace has no device, no transport can be made.
case_netns-client() {
	has_rxe_in_netns
	ip netns add user
	ip link set ve1 netns user
	# shellcheck disable=SC2016
	ip netns exec user bash -euc '
		ip link set lo up
		ip addr add 10.9.0.3/24 dev ve1
		ip link set ve1 mtu 9000 up
		mount -t debugfs debug /sys/kernel/debug
		! timeout 60 mount -t nfs -o "proto=rdma,port=$1,vers=4.2,soft,retry=0" "$0:/" "$2" || exit 3
		rdma link add lab1 type "$PROVIDER" netdev ve1
		mount -t nfs -o "proto=rdma,port=$1,vers=4.2" "$0:/" "$2"
		grep -q "xprt:.rdma" /proc/self/mountstats
		python3 -I -S "$3" small --vers 4.2 --mnt "$2" --seed 5 --manifest /lab/manifest.netns
		for f in /sys/kernel/debug/rpcrdma/client/*; do cat "$f"; done >/lab/netns.shown
		echo "here $(stat -Lc %i /proc/self/ns/net)" >>/lab/netns.shown
		umount "$2"
		rdma link delete lab1' $SERVER $PORT $MNT "$CHECK" || die "no mount from another network namespace"
	ip netns exec user ip link set ve1 netns 1
	ip netns del user
	ip link set ve1 up
	cat /lab/netns.shown
	python3 -I -S "$CHECK" verify /lab/manifest.netns $EXPORT
	if [ "$MODULE" = ours ]; then
		grep -q "^source 10.9.0.3:" /lab/netns.shown || die "the connection was not made from 10.9.0.3"
		[ "$(field netns /lab/netns.shown)" = "$(field here /lab/netns.shown)" ] || die "the transport is in another namespace"
	fi
}

# away <seconds> <limit>: while the client in the namespace writes, the server's address is removed for this time, and
# added again after an attempt to connect. Nobody answers for the address meanwhile. The write must end within the limit
# after the address has come back.
away() {
	local writer errors t0
	ip addr del $SERVER/24 dev ve0
	trap 'ip addr replace $SERVER/24 dev ve0' EXIT
	echo "$1" >$MNT/away &
	writer=$!
	sleep "$1"
	if [ "$MODULE" = ours ]; then
		errors=$(counter client_connect_errors)
		until_true 90 attempt_failed "$errors" || die "nobody tries to connect"
	fi
	ip addr add $SERVER/24 dev ve0
	trap - EXIT
	revive_rxe lab0 ve0
	t0=${EPOCHREALTIME/./}
	ends "$2" $writer || die "no answer $2 s after the address has come back"
	took "$t0" "the address has come back"
	[ "$(cat $EXPORT/away)" = "$1" ] || die "what was written has not arrived"
}

case_netns-address() {
	local limit=20
	has_rxe_in_netns
	# With iWARP, the adapter waits ten seconds for an answer, and the attempt that fails is one from before.
	! grep -q RNIC /sys/class/infiniband/lab0/node_type || limit=30
	# The in-tree module waits for up to 30 s between two attempts.
	[ "$MODULE" = ours ] || limit=60
	ip netns add user
	ip link set ve1 netns user
	ip -n user link set lo up
	ip -n user addr add 10.9.0.3/24 dev ve1
	ip -n user link set ve1 mtu 9000 up
	nsenter --net=/run/netns/user rdma link add lab1 type "$PROVIDER" netdev ve1
	# By default, a mount in another namespace than the first one gives up if there is no network.
	nsenter --net=/run/netns/user mount -t nfs \
		-o "proto=rdma,port=$PORT,vers=3,nolock,fatal_neterrors=none" $SERVER:$EXPORT $MNT
	away 30 $limit
	nfs_umount
	rdma link delete lab1
	ip -n user link set ve1 netns 1
	ip netns del user
	ip link set ve1 up
}

# A second server, in a namespace with its own nfsd and exports. A client in the first namespace mounts from it.
case_netns-server() {
	has_rxe_in_netns
	! grep -q RNIC /sys/class/infiniband/lab0/node_type || skip "iWARP listens with the adapters of all namespaces"
	ip netns add server
	ip link add se0 mtu 9000 type veth peer name se1 mtu 9000 netns server
	ip addr add 10.7.0.2/24 dev se0
	ip link set se0 up
	rdma link add lab1 type "$PROVIDER" netdev se0
	# shellcheck disable=SC2016
	ip netns exec server unshare -m bash -euc '
		ip link set lo up
		ip addr add 10.7.0.1/24 dev se1
		ip link set se1 up
		rdma link add lab2 type "$PROVIDER" netdev se1
		mount -t tmpfs nfsvar /var/lib/nfs
		mkdir /var/lib/nfs/v4recovery /var/lib/nfs/rpc_pipefs /var/lib/nfs/nfsdcld
		touch /var/lib/nfs/etab /var/lib/nfs/rmtab /var/lib/nfs/state
		mkdir -p /second
		mount -t tmpfs second /second
		# rpcbind must not learn about this server
		mount -t tmpfs run /run
		mount -t nfsd nfsd /proc/fs/nfsd
		exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check "*:/second"
		rpc.mountd -N 3 -F 9>&- &
		mountd=$!
		# without nfsdcld, nfsd would wait ten seconds for it
		mount -t rpc_pipefs pipefs /var/lib/nfs/rpc_pipefs
		nfsdcld -F -p /var/lib/nfs/rpc_pipefs 9>&- &
		nfsdcld=$!
		echo 10 >/proc/fs/nfsd/nfsv4gracetime
		rpc.nfsd -N 3 2
		{ echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true
		echo "rdma $0" >/proc/fs/nfsd/portlist
		nsenter --net=/proc/1/ns/net mount -t nfs -o "proto=rdma,port=$0,vers=4.2" 10.7.0.1:/ "$1"
		python3 -I -S "$2" small --vers 4.2 --mnt "$1" --seed 6 --manifest /lab/manifest.netns
		umount "$1"
		python3 -I -S "$2" verify /lab/manifest.netns /second
		rpc.nfsd 0
		exportfs -ua
		kill $mountd $nfsdcld
		rdma link delete lab2' $PORT $MNT "$CHECK" || die "no server in another network namespace"
	rdma link delete lab1
	ip netns del server
}

group() {
	alone_up
	run_all_cases
	group_end
}
