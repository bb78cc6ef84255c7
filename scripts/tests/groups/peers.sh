# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Client and server in two guests, with and without remote invalidation. As peers:client, our module is the client and
# the in-tree module is the server. As peers:server, it is the other way round. Without a role, both ends run our
# module.
# Guests: pair
# Limit: 3600
. "$TOP/scripts/tests/cases.sh"

# invalidation <Y|N> <command...>: switch remote invalidation on or off in our module, run the command, and check that
# the server has, or has not, invalidated handles remotely
invalidation() {
	local on=$1 param=/sys/module/rpcrdma/parameters/remote_invalidation where=on_server counter=server_sends_inv n
	shift
	# If the client runs our module, use the client's setting and counter.
	[ "$OURS" = server ] || { where=; counter=client_mrs_remote_inv; }
	$where bash -c "echo $on >$param"
	n=$($where counter $counter)
	"$@"
	n=$(($($where counter $counter) - n))
	echo "$n handles were invalidated remotely"
	case $on in
	Y) [ $n -gt 50 ] || die "only $n handles were invalidated remotely" ;;
	N) [ $n = 0 ] || die "$n handles were invalidated remotely" ;;
	esac
}

# groups_of: print our module's counters of the round-trip extension
groups_of() {
	local where=on_server
	[ "$OURS" = server ] || where=
	$where counters | grep -E '^[a-z_]*(group|placed)' | tr '\n' ' '
}

# settled <command...>: run the command, and check which version the connections used. If our client asks the in-tree
# server for version 2, the server refuses, and the same connection continues with version 1. The in-tree client does
# not ask. If both ends run our module, they use version 2.
settled() {
	local before connects groups
	before=$(counter client_fallbacks)
	connects=$(counter client_connects)
	groups=$(groups_of)
	"$@"
	# The in-tree module must not get any message of the round-trip extension.
	[ -z "$OURS" ] || [ "$(groups_of)" = "$groups" ] || die "groups for the in-tree module: $groups, then $(groups_of)"
	case $OURS in
	client)
		[ "$(counter client_fallbacks)" -gt "$before" ] || die "the in-tree server did not refuse version 2"
		# The refusal must not lead to another connection.
		[ $(($(counter client_fallbacks) - before)) = $(($(counter client_connects) - connects)) ] ||
			die "it was another connection"
		[ "$(counter client_v2_connects)" = 0 ] || die "the in-tree server speaks version 2"
		[ "$(counter client_nego_failures)" = 0 ] || die "connections were lost over it" ;;
	server)
		[ "$(on_server counter server_v2_connections)" = 0 ] || die "the in-tree client speaks version 2" ;;
	*)
		[ "$(counter client_v2_connects)" -gt 0 ] || die "no connection is of version 2" ;;
	esac
}

# Covers: EXP-01 V1-CRD-21 V1-CRD-33 V2-NEG-07 V2-NEG-08 V2-NEG-12 V2-NEG-13
case_v3() { SCALE=0.3 settled invalidation Y with_mount 3 checked names dir small acl data mmap direct; }
case_v3-noinv() { SCALE=0.3 invalidation N with_mount 3 checked small acl data direct; }
case_v42() { SCALE=0.3 settled invalidation Y with_mount 4.2 checked names dir small acl xattr data mmap direct; }
case_v42-noinv() { SCALE=0.3 invalidation N with_mount 4.2 checked small acl xattr data direct; }
case_delegation() { delegation 4.2 remote_writer; }

# The artificial round trip is much longer than the delays of a busy machine.
RTT_MS=400

# mount_time <highest version of RPC over RDMA> <version of NFS>: mount, and print how many milliseconds it took. Check
# that the mount makes one connection, and that the in-tree server refuses version 2 if the client asks for it.
mount_time() {
	local connects fallbacks begun
	echo "$1" >/sys/module/rpcrdma/parameters/client_version
	connects=$(counter client_connects)
	fallbacks=$(counter client_fallbacks)
	begun=$(date +%s%3N)
	nfs_mount "$2" || die "version $1: the mount fails"
	echo $(($(date +%s%3N) - begun))
	[ $(($(counter client_connects) - connects)) = 1 ] || die "version $1: more than one connection"
	[ -z "$OURS" ] || [ $(($(counter client_fallbacks) - fallbacks)) = $(($1 - 1)) ] ||
		die "version $1: not as often refused as asked for"
	nfs_umount || die "umount failed"
}

# mount_cost <version of NFS>: check that asking for version 2 costs one round trip. The network is
# so slow that a mount mostly waits for it. Other delays add to the time, so the shortest time of
# several mounts shows the number of round trips. A busy machine may need more tries. A second round
# trip would be hidden only if other causes delayed every mount with version 1 by more than about half a
# round trip. A capture would show the messages, but not other causes of waiting, for instance a timer.
mount_cost() {
	local i v t least=(0 1000000 1000000) extra=
	for i in {1..20}; do
		for v in 1 2; do
			t=$(mount_time $v "$1")
			[ "$t" -ge "${least[$v]}" ] || least[v]=$t
		done
		extra=$((least[2] - least[1]))
		echo "NFSv$1, round trip of $RTT_MS ms, $i mounts: ${least[1]} ms with version 1 at most, ${least[2]} ms with 2"
		[ "$i" -lt 2 ] || [ $extra -lt $((RTT_MS / 2)) ] || [ $extra -ge $((RTT_MS * 3 / 2)) ] || return 0
	done
	die "NFSv$1: asking for version 2 takes $extra ms, and is to take one round trip of $RTT_MS"
}

# Covers: V2-NEG-07 V2-NEG-08
case_mount-cost() {
	[ "$OURS" != server ] || skip "the in-tree client does not ask for version 2"
	[ "$KERNEL" != 6.12 ] || skip "emulated and with checkers, a mount computes for longer than a round trip"
	modprobe -q sch_netem || true
	tc qdisc add dev eth0 root netem delay ${RTT_MS}ms limit 100000 || skip "this kernel has no netem"
	trap 'tc qdisc del dev eth0 root; echo 2 >/sys/module/rpcrdma/parameters/client_version' EXIT
	mount_cost 4.2
	mount_cost 3
}

# server_field <name>: print this value of our server's only connection
server_field() { on_server bash -c "cat $DEBUG/server/* | awk '\$1 == \"$1\" { print \$2 }'"; }

# taken_back <credits>: after some Calls, does the client have at most half of these credits? (On a busy host, the server
# may believe that even a client that makes one RPC after the other needs many.) It must send more than twice as many
# Calls as it had credits. In an emulated guest, python3 starts slowly, so let it make them all.
taken_back() {
	calls 300 || die "READ fails"
	sleep 0.5
	(($(server_field credits_granted) <= $1 / 2 && $(server_field credits_owed) <= $1 / 2))
}

# When the client does not need its credits any more, our server takes them back. The client keeps to the smaller grant,
# so its connection is not lost, and it gets credits again when it needs them.
# Covers: G-39 V1-CRD-09
case_credits-return() {
	local had i most=1 review=/sys/module/rpcrdma/parameters/review_time
	[ "$OURS" != client ] || skip "the in-tree server does not take credits back"
	nfs_mount 3
	head -c 4096 /dev/urandom >$MNT/calls
	for i in 1 2; do
		credited 32
		had=$(server_field credits_granted)
		((had >= 32)) || die "the client has only $had credits"
		on_server tune 3 $review
		until_true 90 taken_back "$had" || die "still $(server_field credits_granted) credits"
		echo "$had credits, then $(server_field credits_granted); $(server_field receives_bytes) bytes of Receives"
	done
	on_server tune 10 $review
	checked small data
	# The in-tree client of 7.3 posts Receives after it has woken the RPCs that a larger grant lets go. On iWARP, a Reply
	# that comes in between ends the connection. The grant grows quickly twice.
	! grep -q RNIC /sys/class/infiniband/lab0/node_type || most=3
	(($(xprt_field 3) <= most)) || die "the connection was lost: $(xprt_field 3) connects"
	nfs_umount
}

group() {
	# This is the default setting: our client asks for version 2 first.
	pair_up 2
	pair_cases python3 -I -S "$CHECK" provide $EXPORT
}
