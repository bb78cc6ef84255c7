# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Two guests with two links: the table of paths (/proc/sys/sunrpc/rdma_paths), and what sunrpc and
# NFS themselves offer for several paths. Link 0 has the addresses 10.9.0.x and fd09::x, link 1 has
# 10.12.0.x and fd12::x.
# Guests: pair
# Links: 2
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=420

PATHS=/proc/sys/sunrpc/rdma_paths
ONE=10.9.0 TWO=10.12.0
BOTH="dst=$ONE.1,$TWO.1 src=$ONE.2,$TWO.2"

second_device() { rdma link add lab1 type "$PROVIDER" netdev eth1; }

# Set up the second link of this guest, with a device of its own.
second_link() {
	local last=1
	[ "$ROLE" = server ] || last=2
	net_macvlan 1
	net_up eth1 $last 12
	second_device
	[ "$ROLE" = server ] || until_true 60 ping -c 1 -W 1 $TWO.1 || die "the second link does not work"
}

# Empty the table before each case.
before_case() {
	local to
	while read -r to _; do echo "$to" >$PATHS; done < <(cat $PATHS)
}

# paths_shown <field>: print this field of each connection, sorted
paths_shown() { cat $DEBUG/client/* | awk -v n="$1" '$1 == n { print $2 }' | sort -n | tr '\n' ' '; }
# sends_shown: print how many RPCs each transport has sent, the smallest number first
sends_shown() { awk '$1 == "xprt:" { print $8 }' /proc/self/mountstats | sort -n | tr '\n' ' '; }
# up_sources: print the source address of each connection that is up
up_sources() { grep -lx 'state up' $DEBUG/client/* | xargs -r grep -h '^source ' | sed 's/^source //; s/:[0-9]*$//'; }
# by_link <link 0> <link 1>: are this many connections up on each link?
by_link() { [ "$(up_sources | grep -cx $ONE.2) $(up_sources | grep -cx $TWO.2)" = "$1 $2" ]; }
only_by_link() { [ "$(up_sources | sort -u)" = "$1" ]; }

none_left() { [ "$(shown client)" = 0 ]; }
paths_umount() {
	nfs_umount
	until_true 30 none_left || die "transports are left: $(ls $DEBUG/client)"
}

refuses() { ! echo "$1" >$PATHS 2>/dev/null || die "the table takes: $1"; }
table_is() { [ "$(cat $PATHS)" = "$1" ] || die "the table is: $(cat $PATHS)"; }

# A write adds, replaces or removes lines, and leaves the other lines of the table as they are. If a
# line is bad, the whole write changes nothing, and the kernel's log shows this line. Each network
# namespace has its own table.
# Covers: G-40
case_table() {
	local line i
	table_is ""
	echo "$ONE.1 $BOTH" >$PATHS
	printf '# a comment\n\ndefault tos=104; fd09::1 src=eth0,eth1 ack_timeout=14\n' >$PATHS
	table_is "$ONE.1 $BOTH
default tos=104
 fd09::1 src=eth0,eth1 ack_timeout=14"
	[ "$(dd if=$PATHS bs=7 2>/dev/null)" = "$(cat $PATHS)" ] || die "read in pieces, the table differs"
	for line in "$ONE.1 $BOTH tos=999" "nonsense" "$ONE.1 dst=fd09::1" "$ONE.1; default tos=1; bad" \
		"$ONE.1 dst=0.0.0.0" "fd09::1 src=fe80::1"; do refuses "$line"; done
	dmesg | grep -q 'rpcrdma: rdma_paths: error -34 in the line: .*tos=999' || die "the log does not name the bad line"
	# bash writes this in pieces of 1024 bytes.
	refuses "$(printf '%s.1 tos=1%2048s' $ONE '')"
	dmesg | grep -q "rpcrdma: rdma_paths: a write of 1024 bytes does not end with a newline" || die "the log does not say what is wrong"
	printf '%s.1 tos=1%2048s\n' $ONE '' >/tmp/paths.long
	! cat /tmp/paths.long >$PATHS 2>/dev/null || die "the table takes a line of 2 KB"
	dmesg | grep -q "rpcrdma: rdma_paths: error -7 in the line: $ONE.1 tos=1" || die "the log does not name the long line"
	! printf '%s.1 tos=9\0\n' $ONE >$PATHS 2>/dev/null || die "the table takes a NUL"
	echo "$ONE.1 tos=1" >>$PATHS
	echo "fd09::1" >$PATHS
	table_is "default tos=104
$ONE.1 tos=1"
	ip netns add other
	[ -z "$(ip netns exec other cat $PATHS)" ] || die "another namespace has the same table"
	ip netns exec other bash -c "echo '$TWO.1 tos=3' >$PATHS"
	[ "$(ip netns exec other cat $PATHS)" = "$TWO.1 tos=3" ] || die "another namespace has no table of its own"
	ip netns del other
	table_is "default tos=104
$ONE.1 tos=1"
	before_case
	for i in {0..255}; do printf '10.1.1.%s tos=1\n' "$i"; done >/tmp/paths.many
	cat /tmp/paths.many >$PATHS
	refuses "10.1.2.1 tos=1"
	cat /tmp/paths.many >$PATHS
	[ "$(wc -l <$PATHS)" = 256 ] || die "$(wc -l <$PATHS) lines"
}

# spreads <version of NFS> <options> <address>: make a mount with four connections. Check that each
# path has two connections, and that each connection carries RPCs.
spreads() {
	nfs_mount "$1" "nconnect=4${2:+,$2}" "$3"
	checked small
	cat $DEBUG/client/* | grep -E '^(source|destination|number|path|paths) '
	[ "$(paths_shown number)$(paths_shown path)$(paths_shown paths)" = "0 1 2 3 0 0 1 1 2 2 2 2 " ] ||
		die "numbers $(paths_shown number), paths $(paths_shown path) of $(paths_shown paths)"
	[ "$(paths_shown device)" = "lab0 lab0 lab1 lab1 " ] || die "devices $(paths_shown device)"
	[ "$(sends_shown | awk '{ print (NF == 4 && $1 > 0) }')" = 1 ] || die "a connection carried nothing: $(sends_shown)"
}

case_spread() {
	local v
	echo "$ONE.1 $BOTH" >$PATHS
	for v in 3 4.0 4.2; do
		VERS=$v spreads $v "" $ONE.1
		by_link 2 2 || die "not two connections on each link: $(paths_shown source)"
		paths_umount
	done
}

case_spread-ipv6() {
	echo "fd09::1 src=fd09::2,fd12::2 dst=fd09::1,fd12::1" >$PATHS
	VERS=4.2 spreads 4.2 "" "[fd09::1]"
	[ "$(paths_shown destination)" = "[fd09::1]:$PORT [fd09::1]:$PORT [fd12::1]:$PORT [fd12::1]:$PORT " ] ||
		die "destinations $(paths_shown destination)"
	paths_umount
}

# Sources may be interfaces instead of addresses. First, the table names an interface in the line
# "default", which is for servers without a line of their own. Then it names interfaces in the lines
# of this server's addresses.
case_interfaces() {
	echo "default src=eth1" >$PATHS
	nfs_mount 4.2 "" $TWO.1
	only_by_link $TWO.2 || die "the source is $(paths_shown source)"
	paths_umount
	printf '%s.1 src=eth0,eth1 dst=%s.1,%s.1\nfd09::1 src=eth0,eth1 dst=fd09::1,fd12::1\n' $ONE $ONE $TWO >$PATHS
	VERS=4.1 spreads 4.1 "" $ONE.1
	by_link 2 2 || die "not two connections on each link: $(paths_shown source)"
	paths_umount
	VERS=3 spreads 3 "" "[fd09::1]"
	paths_umount
}

# A mount uses its fourth path if the first three do not work. The sources of the first two are an
# interface that does not exist, and an address that this guest does not have. No host has the
# destination of the third.
case_first-mount() {
	local failures
	echo "$ONE.1 src=nosuch0,$ONE.77,$ONE.2,$TWO.2 dst=$ONE.1,$ONE.1,$ONE.78,$TWO.1" >$PATHS
	failures=$(counter client_path_failures)
	recovers 40 "the mount began" nfs_mount 3 "" $ONE.1
	only_by_link $TWO.2 || die "the source is $(paths_shown source)"
	[ "$(grown client_path_failures "$failures")" = 3 ] || die "$(grown client_path_failures "$failures") paths failed, not 3"
	checked small
	paths_umount
}

# No source in the table's line is an address or an interface of this guest. A mount must fail
# within 20 seconds. An RPC of an existing hard mount must wait until the line has been corrected.
# Covers: G-40
case_wrong-source() {
	local sources said t0
	can_break
	for sources in $ONE.77 $ONE.77,nosuch0 nosuch0,$ONE.77; do
		echo "$ONE.1 src=$sources" >$PATHS
		t0=$SECONDS
		said=$(nfs_mount 4.2 retry=0 $ONE.1 2>&1) && die "a mount from $sources succeeds"
		((SECONDS - t0 <= 20)) || die "the mount from $sources failed only after $((SECONDS - t0)) s"
		[[ $said == *"No route to host"* ]] || die "the mount from $sources says: $said"
	done
	echo "$ONE.1" >$PATHS
	nfs_mount 4.2 "" $ONE.1
	echo "$ONE.1 src=$ONE.77" >$PATHS
	break_next client
	echo waited >$MNT/waits &
	nap 10
	! gone $! || die "the RPC did not wait"
	echo "$ONE.1" >$PATHS
	ends 60 $! || die "the RPC failed, though the line was corrected"
	break_off
	[ "$(cat $MNT/waits)" = waited ] || die "the file has $(cat $MNT/waits)"
	paths_umount
}

# The table changes while the mount is used: the present connection stays, and the next one follows the new line.
# Covers: G-40
case_change() {
	echo "$ONE.1 src=$ONE.2" >$PATHS
	nfs_mount 4.2 "" $ONE.1
	only_by_link $ONE.2 || die "the source is $(paths_shown source)"
	echo "$ONE.1 src=$TWO.2 dst=$TWO.1" >$PATHS
	checked small
	only_by_link $ONE.2 || die "a change of the table broke the connection"
	can_break
	break_next client
	: >$MNT/broken
	until_true 30 only_by_link $TWO.2 || die "the source is $(paths_shown source) after another line"
	echo "$ONE.1" >$PATHS
	break_next client
	: >$MNT/broken-again
	until_true 30 only_by_link $ONE.2 || die "the source is $(paths_shown source) without a line"
	[ "$(paths_shown paths)" = "1 " ] || die "paths $(paths_shown paths)"
	break_off
	paths_umount
}

# watch_replies: until /tmp/watch.stop exists, write the longest time without a Reply, in seconds, to /tmp/watch
watch_replies() {
	local last=0 now since=$SECONDS longest=0
	rm -f /tmp/watch.stop
	until [ -e /tmp/watch.stop ]; do
		now=$(xprt_field 7)
		((now == last)) || since=$SECONDS
		last=$now
		((SECONDS - since <= longest)) || longest=$((SECONDS - since))
		echo $longest >/tmp/watch
		nap 0.5
	done
}

# fio_passes: run fio with verification, again and again, until /tmp/fio.stop exists. Within a pass,
# fio writes no block twice. With --time_based it would begin again while Calls are in flight, and
# two WRITEs of the same block could be on different links at the same time, in an unknown order.
fio_passes() {
	local passes=0
	rm -f /tmp/fio.stop
	until [ -e /tmp/fio.stop ]; do
		passes=$((passes + 1))
		timeout 300 fio --output=/tmp/fio.out --directory="$MNT" --size=4m --rw=randrw --direct=1 --ioengine=libaio \
			--iodepth=16 --verify=crc32c --verify_backlog=32 --verify_fatal=1 --do_verify=1 --randseed=$passes \
			--name=by4k --bs=4k --name=by13k --bs=13k --name=by64k --bs=64k --name=by256k --bs=256k \
			>/tmp/fio.err 2>&1 || die "fio: $(cat /tmp/fio.err /tmp/fio.out | grep -E -m 1 'verify|error=|err=')"
	done
	rm -f "$MNT"/by*
	echo "$passes passes of fio"
}

# paths_trace: like trace_begin, but only for events that are so rare that the buffer keeps all of
# them
paths_trace() {
	local event
	trace_begin
	echo 0 >$TRACE/events/rpcrdma/enable
	for event in $TRACE/events/rpcrdma/{xprt_rdma_path_*,xprt_rdma_connect,xprt_rdma_close,rpcrdma_conn_lost,rpcrdma_cm_event,rpcrdma_qp_event,rpcrdma_peer_dead,rpcrdma_probe_err}; do
		echo 1 >"$event/enable"
	done
}

replies_beyond() { [ "$(xprt_field 7)" -gt "$1" ]; }

# outage <seconds> <begin> <end>: fio verifies data on four connections over two links. The command
# <begin> makes link 1 fail, and the command <end> repairs it after at least <seconds>. No system
# call may fail. Replies must come again before the repair, and at no time may more than 26 seconds
# pass without a Reply. (With the default settings, the keepalive notices a broken link within 21
# seconds.) In the end, each link must have two connections again. With siw, both connections of
# link 1 must have returned to it after a probe. With rxe this is not required: on a busy machine,
# rxe also breaks connections because it answers a repeated RDMA Read with an error if the region
# has been invalidated since. When such a connection is made again, it may use link 1 without a
# probe.
outage() {
	local seconds=$1 begin=$2 end=$3 returns failures watcher fio replies
	echo "$ONE.1 $BOTH" >$PATHS
	nfs_mount 4.2 nconnect=4 $ONE.1
	by_link 2 2 || : >$MNT/a
	failures=$(counter client_path_failures) returns=$(counter client_path_returns)
	paths_trace
	fio_passes &
	fio=$!
	trap 'cp $TRACE/trace /lab/log/trace.failed; touch /tmp/fio.stop /tmp/watch.stop; silence_off 2>/dev/null' EXIT
	nap 5
	until_true 100 by_link 2 2 || die "not two connections on each link: $(paths_shown source)"
	watch_replies &
	watcher=$!
	$begin
	nap "$seconds"
	# xprt_field sums the Replies of all connections. So first wait until all connections that
	# are up use link 0.
	until_true 30 only_by_link $ONE.2 || die "after $seconds s connections are not only on link 0: $(paths_shown source)"
	replies=$(xprt_field 7)
	until_true 30 replies_beyond "$replies" || die "nothing moves by the other link"
	$end
	until_true 100 by_link 2 2 || die "the connections do not return: $(paths_shown source)"
	echo "$(grown client_path_returns "$returns") returns, $(grown client_path_failures "$failures") failures"
	touch /tmp/watch.stop /tmp/fio.stop
	ends 20 $watcher || die "the watcher fails"
	ends 120 $fio || die "fio fails"
	trap - EXIT
	cp $TRACE/trace "/lab/log/trace.$begin"
	echo "at most $(cat /tmp/watch) s without a Reply"
	[ "$(cat /tmp/watch)" -le 26 ] || die "no Reply came for $(cat /tmp/watch) s"
	traced 'xprt_rdma_path_fail: .*path=1'
	if [ "$PROVIDER" = siw ]; then
		[ "$(grown client_path_returns "$returns")" = 2 ] || die "$(grown client_path_returns "$returns") returns, not 2"
		traced 'xprt_rdma_path_probe: .*path=1 status=0' xprt_rdma_path_return
	fi
	trace_end
	paths_umount
}

link_off() { ip link set eth1 down; }
# If the link of a device of rxe was down, the device can no longer send messages of the connection
# manager (see revive_rxe() in scripts/tests/cases.sh). So delete the device, and make a new one.
link_on() {
	ip link set eth1 up
	[ "$PROVIDER" = siw ] || { rdma link delete lab1; second_device; }
}
silence_on() {
	tc qdisc add dev eth1 root netem loss 100% || skip "this kernel has no netem"
	on_server tc qdisc add dev eth1 root netem loss 100%
}
silence_off() {
	tc qdisc del dev eth1 root
	on_server tc qdisc del dev eth1 root
}

# Covers: V1-ERR-25 G-40
case_path-down() { outage 30 link_off link_on; }
# Covers: V1-ERR-25 G-40
case_path-silent() {
	modprobe -q sch_netem || true
	on_server modprobe -q sch_netem || true
	outage 40 silence_on silence_off
}

# The type of service is in the packets of rxe. siw does not set it.
case_tos() {
	local seen
	[ "$PROVIDER" = rxe ] || skip "siw ignores the type of service"
	echo "$ONE.1 tos=104" >$PATHS
	on_server bash -c 'timeout 20 tcpdump -Z root -i eth0 -c 400 -w /tmp/tos.pcap "udp port 4791 and src 10.9.0.2" >/dev/null 2>&1 & echo $! >/tmp/tos.pid'
	nap 2
	nfs_mount 3 "" $ONE.1
	checked small
	paths_umount
	nap 1
	seen=$(on_server bash -c 'kill $(cat /tmp/tos.pid) 2>/dev/null; sleep 1; tcpdump -r /tmp/tos.pcap -nv 2>/dev/null | grep -o "tos 0x[0-9a-f]*" | sort | uniq -c')
	echo "$seen"
	[[ "$seen" == *" tos 0x68"* ]] || die "no packet has the type of service"
}

# With a short timeout, the device gives up on a dead peer earlier: with ack_timeout=8, all retries together take a few
# milliseconds; by default, they take seconds.
case_ack-timeout() {
	local t0 before took
	[ "$PROVIDER" = rxe ] || skip "with siw, TCP repeats what was lost"
	modprobe -q sch_netem || true
	echo "$ONE.1 ack_timeout=8" >$PATHS
	nfs_mount 3 "" $ONE.1
	echo one >$MNT/ack
	before=$(counter client_disconnects)
	tc qdisc add dev eth0 root netem loss 100% || skip "this kernel has no netem"
	trap 'tc qdisc del dev eth0 root' EXIT
	t0=${EPOCHREALTIME/./}
	(echo two >$MNT/ack2) &
	until_true 20 eval "[ \$(counter client_disconnects) -gt $before ]" || die "the adapter does not give up"
	took=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "given up after $took ms"
	trap - EXIT
	tc qdisc del dev eth0 root
	[ $took -lt 2500 ] || die "the adapter gave up after $took ms"
	ends 60 $! || die "the write fails"
	[ "$(cat $MNT/ack2)" = two ] || die "the write is lost"
	paths_umount
}

probe_began() { [ "$(grep -c 'rpcrdma_cm_event: .*route resolved' $TRACE/trace)" -gt "$1" ]; }
probe_ended() { grep -q 'xprt_rdma_path_probe: .*status=0' $TRACE/trace; }
# Drop all packets that this guest sends over link 1. Keep the link-layer address of the server
# known, so that a probe over this link resolves its route, and then waits for the connection.
silent_link() {
	ip neigh replace $TWO.1 lladdr "$(ip neigh show $TWO.1 | grep -o '..:..:..:..:..:..')" dev eth1 nud permanent
	tc qdisc add dev eth1 root netem loss 100% || skip "this kernel has no netem"
}
silent_link_end() {
	tc qdisc del dev eth1 root
	ip neigh del $TWO.1 dev eth1
}

# While the client probes the first path, the table changes, and the connection is broken. The new
# connection uses the first path of the new line. When the probe succeeds, the client must not close
# this connection.
# Covers: G-40
case_change-in-probe() {
	local resolved returns connects
	modprobe -q sch_netem || true
	can_break
	echo "$ONE.1 src=$TWO.2,$ONE.2 dst=$TWO.1,$ONE.1" >$PATHS
	nfs_mount 4.2 "" $ONE.1
	only_by_link $TWO.2 || die "the source is $(paths_shown source)"
	silent_link
	trap 'silent_link_end; break_off' EXIT
	paths_trace
	: >$MNT/away
	only_by_link $ONE.2 || die "the source is $(paths_shown source), though link 1 is silent"
	resolved=$(grep -c 'rpcrdma_cm_event: .*route resolved' $TRACE/trace)
	returns=$(counter client_path_returns)
	until_true 60 probe_began "$resolved" || die "no probe"
	echo "$ONE.1 tos=8" >$PATHS
	break_next client
	: >$MNT/anew
	[ "$(paths_shown path) of $(paths_shown paths)" = "0  of 1 " ] || die "path $(paths_shown path) of $(paths_shown paths)"
	connects=$(xprt_field 3)
	silent_link_end
	trap break_off EXIT
	until_true 60 probe_ended || die "the probe does not succeed: $(grep path_probe $TRACE/trace)"
	nap 2
	: >$MNT/same
	[ "$(xprt_field 3) $(counter client_path_returns)" = "$connects $returns" ] ||
		die "$(grown client_path_returns "$returns") returns, $(($(xprt_field 3) - connects)) connections"
	traced 'xprt_rdma_path_return: .*status=-107'
	trace_end
	trap - EXIT
	break_off
	paths_umount
}

# asks_by_link <source>: make an RPC. Does the connection use the link with this source address
# afterwards?
asks_by_link() {
	stat $MNT >/dev/null || return 1
	only_by_link "$1"
}

# A connection that uses its second path returns to the first, even if the server still owes a Reply
# to an RPC that was given up. As long as an RPC waits for its Reply, the connection stays on the
# second path.
# Covers: G-40
case_return-owed() {
	local returns pid
	modprobe -q sch_netem || true
	can_break
	on_server ice_up
	echo "$ONE.1 src=$TWO.2,$ONE.2 dst=$TWO.1,$ONE.1" >$PATHS
	SERVER=$ONE.1 ice_mount vers=3,nolock,noac
	only_by_link $TWO.2 || die "the source is $(paths_shown source)"
	trap 'thaw; ip link set eth1 up; umount -f $MNT; on_server ice_down' EXIT
	paths_trace
	link_off
	frozen_write >/dev/null
	only_by_link $ONE.2 || die "the source is $(paths_shown source), though link 1 is down"
	freeze
	chmod 600 $MNT/data &
	pid=$!
	link_on
	returns=$(counter client_path_returns)
	until_true 60 grep -q 'xprt_rdma_path_return: .*status=-16' $TRACE/trace || die "no attempt to return: $(grep path_ $TRACE/trace)"
	[ "$(grown client_path_returns "$returns")" = 0 ] || die "it returned, though a Reply was awaited"
	kill -KILL $pid
	until_true 100 asks_by_link $TWO.2 || die "it does not return: $(paths_shown source); $(grep path_ $TRACE/trace)"
	[ "$(grown client_path_returns "$returns")" = 1 ] ||
		die "$(grown client_path_returns "$returns") returns, not 1: $(cat $TRACE/trace)"
	trace_end
	thaw
	trap - EXIT
	umount $MNT
	until_true 30 none_left || die "transports are left: $(ls $DEBUG/client)"
	on_server ice_down
}

# --- without the table: sunrpc's own files, and NFS's trunking ---------------

xprt_dirs() { echo /sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*-rdma; }

# sunrpc lets an administrator change the address of a transport (IPv4 only). The transport must
# then connect to the new address, and use the table's line for the new address.
case_dstaddr() {
	local v dir
	for v in 3 4.2; do
		nfs_mount $v "" $ONE.1
		dir=$(xprt_dirs)
		[ -d "$dir" ] || die "not one transport: $dir"
		echo $TWO.1 >"$dir/dstaddr"
		VERS=$v checked small
		only_by_link $TWO.2 || die "version $v: the source is $(paths_shown source)"
		[ "$(cat "$dir/dstaddr")" = $TWO.1 ] || die "dstaddr is $(cat "$dir/dstaddr")"
		# A line for the new address is found, and one for the old address is not.
		printf '%s.1 src=%s.2\n%s.1 src=%s.2 dst=%s.1 tos=8\n' $TWO $TWO $ONE $ONE $ONE >$PATHS
		can_break
		break_next client
		VERS=$v checked small
		break_off
		only_by_link $TWO.2 || die "version $v: the source is $(paths_shown source) with a line"
		before_case
		paths_umount
	done
}

# While RPCs are sent, a writer of dstaddr may have to wait for one of them. It must not wait for ever.
case_dstaddr-busy() {
	local dir i
	nfs_mount 3 "" $ONE.1
	dir=$(xprt_dirs)
	load_start --jobs 8
	for ((i = 0; i < 40; i++)); do
		timeout 20 sh -c 'echo $1 >"$2"' - $ONE.1 "$dir/dstaddr" || die "write $i of dstaddr does not end"
		sleep 0.1
	done
	load_moves 60 "dstaddr was written"
	load_end
	paths_umount
}

# sunrpc's add_xprt makes one more transport, which gets the next number. Linux 6.12 does not have
# this file.
case_add-xprt() {
	local v dir
	echo "$ONE.1 $BOTH" >$PATHS
	for v in 3 4.2; do
		nfs_mount $v nconnect=2 $ONE.1
		dir=$(dirname "$(echo /sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*-rdma | cut -d' ' -f1)")
		[ -e "$dir/add_xprt" ] || skip "this kernel has no add_xprt"
		echo 1 >"$dir/add_xprt"
		echo 1 >"$dir/add_xprt"
		VERS=$v checked small
		VERS=$v checked small
		[ "$(paths_shown number)" = "0 1 2 3 " ] || die "numbers $(paths_shown number)"
		until_true 30 by_link 2 2 || die "not two connections on each link: $(paths_shown source)"
		paths_umount
	done
}

# If two addresses of a server are mounted with max_connect, NFS from version 4.1 on also uses a
# connection to the second address for the first mount.
case_max-connect() {
	nfs_mount 4.2 max_connect=4 $ONE.1
	nfs_mount 4.2 max_connect=4 $TWO.1 /mnt/two
	checked small
	cat $DEBUG/client/* | grep -E '^(peer|source) '
	by_link 1 1 || die "not one connection on each link: $(paths_shown source)"
	[ "$(sends_shown | awk '{ print ($1 > 20) }')" = 1 ] || die "a connection carried little: $(sends_shown)"
	umount /mnt/two
	paths_umount
}

# NFSv3 has no trunking, but with the table a mount uses both links, and its RPCs continue when one
# link fails.
case_nfs3() {
	echo "$ONE.1 $BOTH" >$PATHS
	nfs_mount 3 nconnect=2 $ONE.1
	by_link 1 1 || : >$MNT/a
	VERS=3 checked small data
	until_true 30 by_link 1 1 || die "not one connection on each link: $(paths_shown source)"
	load_start
	link_off
	until_true 60 only_by_link $ONE.2 || die "connections are not only on link 0: $(paths_shown source)"
	load_moves 40 "link 1 went down"
	link_on
	until_true 100 by_link 1 1 || die "the connection does not return: $(paths_shown source)"
	load_end
	paths_umount
}

group() {
	# The lease time must be longer than the time without Replies when a link fails. But the
	# longer it is, the later a client may notice that its callbacks have lost their connection.
	# Until the client notices that, the server waits for delegations that it recalls.
	LEASE=30
	pair_up "$(version_here)"
	if [ "$ROLE" = server ]; then
		second_link
		serve_requests
		paths_end
		server_end
	else
		until_true 60 on_server test -e /sys/class/infiniband/lab1 || die "the server has no second device"
		second_link
		run_all_cases
		paths_end
		pair_end
	fi
}

# case_clean() deletes only the first device, so delete the second one here.
paths_end() {
	[ "$ROLE" = client ] || server_down
	rdma link delete lab1 || true
}
