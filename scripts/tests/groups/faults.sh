# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults in one guest: a device is removed and added, nfsd stops and starts, connections are
# refused, allocations fail, and the server's storage hangs. On hard mounts, no data are lost and no
# system call fails. Most cases print how long it took until replies came again.
# Guests: alone
# Clock: own
# Limit: 3000
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
# ROUNDS is how often the device is removed, 4 by default.
CASE_LIMIT=$((340 + 20 * ${ROUNDS:-4}))

RTX=/sys/module/rpcrdma/parameters/rdma_rtx
# Undo what the previous case may have left: no device, another setting, failing allocations, another version.
before_case() {
	[ -e /sys/class/infiniband/lab0 ] || device_add
	[ ! -e $RTX ] || echo 1 >$RTX
	starve_off
	highest "$(version_here)"
	largest 16384
}

# Covers: V1-ERR-25 BC-09
case_device-removal() { device_removal client "${ROUNDS:-4}"; }
# Covers: V1-ERR-25 BC-09
case_device-removal-other() { in_other_version device_removal client 2; }

# put <text> <file>: write the text to the file through the mount
put() { echo "$1" >"$MNT/$2"; }

# trace_ends <0|1>: switch two trace events off or on. One tells that our module closes a connection, and the other that
# the connection manager handles the removal of a device.
trace_ends() {
	local e
	for e in rpcrdma/rpcrdma_conn_close rdma_cma/cm_remove_one; do
		echo "$1" >/sys/kernel/tracing/events/$e/enable
	done
}

# When the RDMA connection manager is told that a device will be removed (cm_remove_one), our module has already
# closed both ends of each connection on this device. Otherwise the connection manager would let the removal continue
# while connection ids are still being destroyed.
# Covers: RPB-09
case_device-order() {
	local trace=/sys/kernel/tracing order
	[ "$MODULE" = ours ] || skip "the in-tree module goes by the connection manager"
	nfs_mount 3
	echo one >$MNT/order
	trace_ends 1
	echo >$trace/trace
	device_gone
	order=$(grep -oE '(rpcrdma_conn_close|cm_remove_one):' $trace/trace | tr '\n' ' ')
	trace_ends 0
	echo "$order"
	[[ $order =~ ^(rpcrdma_conn_close:\ ){2,}cm_remove_one:\ $ ]] || die "both ends were to go first: $order"
	device_add
	recovers 90 "the device has come back" put two order
	[ "$(cat $EXPORT/order)" = two ] || die "what was written has not arrived"
	nfs_umount
}

# An idle mount or a listener does not delay the removal of its device.
# Covers: RPB-09 V1-ERR-25
case_device-idle() {
	nfs_mount 3
	echo one >$MNT/idle
	[ "$MODULE" != ours ] || wait_connected
	device_gone
	device_add
	[ "$(cat $EXPORT/idle)" = one ] || die "what was written has gone"
	recovers 90 "the device has come back" put two idle
	[ "$(cat $EXPORT/idle)" = two ] || die "what was written has not arrived"
	nfs_umount
	device_gone
	device_add
	recovers 90 "the device has come back, to a new mount" nfs_mount 3
	nfs_umount
	with_mount 4.2 checked small
}

# handshakes: print how many ids of the client and the server are in a handshake
handshakes() { rdma res show cm_id dev lab0 | grep -c 'state CONNECT ' || true; }

# A device is removed while a client tries to connect to a server that has a listener but no thread,
# so the server does not accept the connection. The attempt ends at once, the server destroys the
# connection request, and the client tries again until the device and nfsd are back.
# Covers: RPB-09 V1-ERR-25
case_device-connecting() {
	local writer errors users t0 rc=0
	[ "$MODULE" = ours ] || skip "this looks at what our module counts"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	users=$(</sys/module/rpcrdma/refcnt)
	nfs_mount 3
	echo one >$MNT/connecting
	rpc.nfsd 0
	python3 -I -S "$TOP/scripts/tests/peers/listeners.py" $SERVER@$PORT || rc=$?
	if [ $rc = 77 ]; then
		nfsd_restart
		nfs_umount
		skip "this kernel sets no listeners by netlink"
	fi
	[ $rc = 0 ] || die "the listener was refused"
	echo two >$MNT/connecting &
	writer=$!
	trap 'kill -KILL $writer; umount -f $MNT' EXIT
	until_true 90 eval '[ "$(handshakes)" = 2 ]' || die "nobody waits to be accepted: $(rdma res show cm_id)"
	errors=$(counter client_connect_errors)
	device_gone
	until_true 10 attempt_failed "$errors" || die "the attempt goes on without a device"
	# Without a device, the client must try again, and must not report an error to the process.
	sleep 3
	! gone $writer || die "the client gave up"
	device_add
	echo 4 >/proc/fs/nfsd/threads
	t0=${EPOCHREALTIME/./}
	ends 150 $writer || die "the client saw an error"
	took "$t0" "the device and nfsd have come back"
	trap - EXIT
	[ "$(cat $EXPORT/connecting)" = two ] || die "what was written has not arrived"
	nfs_umount
	nfsd_restart
	until_true 30 eval '[ "$(</sys/module/rpcrdma/refcnt)" = $users ]' ||
		die "the module had $users users, and has $(</sys/module/rpcrdma/refcnt)"
	with_mount 4.2 checked small
}

# Covers: V1-ERR-25
case_nfsd-restart() { nfsd_restarts 4.2; }
case_nfsd-restart-v3() { nfsd_restarts 3; }
case_nfsd-restart-other() { in_other_version nfsd_restarts 4.2; }

# --- a server that refuses ----------------------------------------------------

# attempts: print a line "<seconds> <status>" for each attempt of the client to connect: when it ended, and its status
attempts() {
	sed -n 's/.* \([0-9.]*\): xprt_rdma_connect: .*status=\(-\?[0-9]*\) .*/\1 \2/p' /sys/kernel/tracing/trace
}

attempts_are() { [ "$(attempts | wc -l)" -ge "$1" ]; }
is_down() { [ "$(field state /sys/kernel/debug/rpcrdma/client/*)" = down ]; }
uptime_now() { cut -d' ' -f1 /proc/uptime; }

nfsd_gone() {
	rpc.nfsd 0
	until_true 30 is_down || die "the connection is not lost"
	echo >/sys/kernel/tracing/trace
}

nfsd_back() { nfsd_anew true; }

# nfsd stops. After a connection that has carried replies, the client makes its first attempt to reconnect at once.
# The next attempts follow after 5, 10 and 20 seconds. Meanwhile five processes wait, and each attempt is made for one
# or two of them. A process that learns late that its attempt has failed must not close the connection that a later
# attempt has made. After nfsd has come back, the client must be connected when its current delay is over. On a soft
# mount, a process gets an error while nfsd is stopped, and another process succeeds afterwards.
# Covers: V1-ERR-25
case_reconnect-delay() {
	local trace=/sys/kernel/tracing i pids=() gone back t0
	[ "$MODULE" = ours ] || skip "the in-tree module has other events"
	# Let the trace use the same clock as /proc/uptime.
	echo boot >$trace/trace_clock
	echo 1 >$trace/events/rpcrdma/xprt_rdma_connect/enable
	nfs_mount 3 noac
	for i in 1 2 3 4 5; do : >$MNT/refused.$i; done
	nfsd_gone
	gone=$(uptime_now)
	for i in 1 2 3 4 5; do
		stat $MNT/refused.$i >/tmp/refused.$i 2>&1 &
		pids+=($!)
	done
	until_true 120 attempts_are 3 || die "only $(attempts | wc -l) attempts"
	nfsd_back
	back=$(uptime_now) t0=$SECONDS
	ends 120 "${pids[@]}" || die "an error: $(cat /tmp/refused.*)"
	t0=$((SECONDS - t0))
	echo "$t0 s after nfsd has come back, all have what they wanted"
	stat $MNT/refused.1
	attempts | awk -v last="$gone" -v back="$back" '
		{ printf "%8.2f s later: %d\n", $1 - last, $2 }
		NR == 1 && $1 - last >= 4.9 { bad = "the first attempt after a useful conversation was not at once" }
		NR > 1 && $1 - last < 4.9 * 2 ^ (NR - 2) { bad = "attempt " NR " came too soon" }
		$2 && $1 > back + 2 { bad = "an attempt failed when nfsd was back" }
		{ last = $1; if (!$2) good++ }
		END { if (!bad && good != 1) bad = good + 0 " connections were made, not one"
			if (bad) { print "FAIL: " bad; exit 1 } }' || return 1
	[ $t0 -le 60 ] || die "$t0 s after nfsd has come back, with a delay of 20 s"
	nfs_umount

	nfs_mount 3 noac,soft,timeo=50,retrans=1
	: >$MNT/refused.1
	nfsd_gone
	t0=$SECONDS
	! stat $MNT/refused.1 || die "it does without a server"
	echo "the soft mount gave up after $((SECONDS - t0)) s"
	[ $((SECONDS - t0)) -le 60 ] || die "that was to take 20 s"
	until_true 60 attempts_are 2 || die "nobody tries to connect any more"
	nfsd_back
	until_true 90 stat $MNT/refused.1 || die "the soft mount does not go on"
	nfs_umount
	echo 0 >$trace/events/rpcrdma/xprt_rdma_connect/enable
	echo local >$trace/trace_clock
}

# The server's address is removed for more than two minutes. Meanwhile the client finds nobody to ask. So the delay
# between two attempts does not grow, and the client is connected soon after the address has come back.
# Covers: V1-ERR-25
case_address-gone() {
	local writer errors t0
	[ "$MODULE" = ours ] || skip "the in-tree module waits for up to 30 s"
	nfs_mount 3
	echo one >$MNT/gone
	ip addr del $SERVER/24 dev "$RDMA_NETDEV"
	trap 'ip addr replace $SERVER/24 dev "$RDMA_NETDEV"' EXIT
	echo two >$MNT/gone &
	writer=$!
	sleep 120
	errors=$(counter client_connect_errors)
	until_true 90 attempt_failed "$errors" || die "nobody tries to connect"
	ip addr add $SERVER/24 dev "$RDMA_NETDEV"
	trap - EXIT
	revive_rxe lab0 "$RDMA_NETDEV"
	t0=${EPOCHREALTIME/./}
	ends 15 $writer || die "no answer 15 s after the address has come back"
	took "$t0" "the address has come back"
	[ "$(cat $EXPORT/gone)" = two ] || die "what was written has not arrived"
	nfs_umount
}

# Connecting may take a minute. It must not run in a workqueue where work of other mounts would wait for it.
case_connect-queue() {
	local queues
	[ "$MODULE" = ours ] || skip "the in-tree module has other functions"
	trace_begin
	echo 1 >$TRACE/events/workqueue/workqueue_queue_work/enable
	nfs_mount 3
	queues=$(sed -n 's/.* function=xprt_rdma_connect_work .*workqueue=\([^ ]*\) .*/\1/p' $TRACE/trace | sort -u)
	trace_end
	nfs_umount
	[ "$queues" = rpcrdma_connect ] || die "it connects on $queues"
}

# A process that runs only when a processor is idle learns late that its attempt has failed, because the processors are
# busy. Another process has begun the next attempt in the meantime. The late process must not close the new connection.
# Covers: V1-ERR-25
case_reconnect-late() {
	local trace=/sys/kernel/tracing pids=() busy=() i t0
	[ "$MODULE" = ours ] || skip "the in-tree module has other events"
	nfs_mount 3 noac
	: >$MNT/refused.1
	echo 1 >$trace/events/rpcrdma/xprt_rdma_connect/enable
	nfsd_gone
	chrt -i 0 stat $MNT/refused.1 &
	pids=($!)
	until_true 60 attempts_are 1 || die "nobody tries to connect"
	# After the failed attempt, sunrpc lets the process wait for 3 s, and the transport waits for 5 s before the
	# next attempt.
	sleep 4
	stat $MNT/refused.1 &
	pids+=($!)
	for ((i = $(nproc); i; i--)); do
		(while :; do :; done) &
		busy+=($!)
	done
	trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
	until_true 60 attempts_are 2 || die "only $(attempts | wc -l) attempts"
	# Meanwhile the thread of the first process does not get a processor.
	sleep 0.5
	kill "${busy[@]}"
	nfsd_back
	t0=${EPOCHREALTIME/./}
	ends 120 "${pids[@]}" || die "an error"
	took "$t0" "nfsd has come back"
	stat $MNT/refused.1
	attempts
	[ "$(attempts | grep -c ' 0$')" = 1 ] || die "$(attempts | grep -c ' 0$') connections were made, not one"
	nfs_umount
	echo 0 >$trace/events/rpcrdma/xprt_rdma_connect/enable
}

# --- keepalive ----------------------------------------------------------------
# faults-pair.sh tests the keepalive between two guests.

# keepalive <time> <timeout>: set keepalive_time and keepalive_timeout, in seconds, at both ends, for new connections
keepalive() {
	[ "$MODULE" = ours ] || skip "the in-tree module has no keepalive"
	echo "$1" >/sys/module/rpcrdma/parameters/keepalive_time
	echo "$2" >/sys/module/rpcrdma/parameters/keepalive_timeout
}

# probed <seconds>: print how many keepalive probes are sent in that time
probed() {
	local before
	before=$(counter keepalive_probes)
	sleep "$1"
	echo $(($(counter keepalive_probes) - before))
}

# While a connection is idle, the keepalive probes the peer, and the probes succeed. With a keepalive time of 0 there
# are no probes.
# Covers: V1-CRD-28
case_keepalive() {
	local failures connects ends n
	keepalive 2 10
	nfs_mount 3
	failures=$(counter keepalive_failures)
	connects=$(xprt_field 3)
	trace_begin
	n=$(probed 12)
	# Both ends probe. Each has a connection of its own.
	ends=$(grep -o ' rpcrdma_probe: conn=[^ ]*' $TRACE/trace | sort | uniq -c)
	trace_end
	echo "$n probes: $ends"
	[ "$(awk '$1 >= 2' <<<"$ends" | wc -l)" = 2 ] || die "not both ends sent probes"
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

# --- memory -------------------------------------------------------------------

# can_starve: skip the case unless the module is ours and the kernel can let allocations fail
can_starve() {
	[ "$MODULE" = ours ] || skip "this is about functions of our module"
	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
}

# starved <percent> <pattern> <breaks>: run a load while this percentage of the allocations of
# matching functions fails, and meanwhile break the connection <breaks> times
starved() {
	local i
	can_starve
	nfs_mount 4.2
	load_start
	starve "$1" "$2"
	for ((i = 0; i < 8; i++)); do
		# Let allocations fail under the load for 8 s.
		[ $i -ge "$3" ] || break_next client
		sleep 1
	done
	starve_end
	break_off
	load_moves 90 "there is memory again"
	load_end
	counters | grep -E 'connect|accept|bad|err'
	nfs_umount
}

case_starved-io() { starved 5 '^(xprt_rdma|svc_rdma|rpcrdma)_' 0; }
case_starved-connect() { starved 15 '^xprt_rdma_connect_work$' 3; }
case_starved-accept() { starved 20 '^svc_rdma_accept$' 3; }

# goes_on <pattern>: run a load while all allocations with a matching function among their callers
# fail. The load must continue with the memory that a connection allocates when it is made, on the
# first connection and on each new one.
goes_on() {
	local i made
	can_starve
	nfs_mount 3 noacl
	# So far the connection has only the regions that were allocated when it was made.
	made=$(xprt_field 24)
	starve 100 "$1"
	load_start --jobs 6
	for i in 1 2 3; do
		break_next client
		until_true 30 break_done || die "the connection was not broken"
		load_moves 30 "break $i, without memory"
		# A WRITE needs a Send and a Receive, and regions unless it goes by Sends (rtx.rst).
		recovers 30 "break $i and without memory, to a WRITE" direct_io /dev/zero $MNT/goes-on oflag
	done
	break_off
	echo "$(($(xprt_field 24) - made)) regions were made with 3 connections"
	starve_end 1
	load_moves 30 "there is memory again"
	load_end
	[ "$(xprt_field 3)" -ge 4 ] || die "only $(xprt_field 3) connections"
	nfs_umount
}

# RPCs cannot allocate more regions. They wait until enough of the regions that were allocated with
# the connection are free. The round-trip extension is off. Otherwise WRITEs would need no regions in version 2.
case_starved-regions() {
	[ ! -e $RTX ] || echo 0 >$RTX
	goes_on '^xprt_rdma_frwr_map$'
}
# All allocations in xprt_rdma_send_request() and its callees fail. WRITEs still succeed, also on a
# new connection.
# Covers: V1-ERR-25
case_starved-send() { goes_on '^xprt_rdma_send_request$'; }
case_starved-send-other() { in_other_version goes_on '^xprt_rdma_send_request$'; }
# Eight processes use one connection while all allocations in xprt_rdma_send_request() and its
# callees fail. Three times, more than 6 replies must come within 20 seconds.
# Covers: V1-ERR-25
case_starved-send-long() {
	local i connects
	can_starve
	nfs_mount 3 noacl
	connects=$(xprt_field 3)
	starve 100 '^xprt_rdma_send_request$'
	load_start --jobs 8
	for i in 1 2 3; do load_moves 20 "look $i, without memory"; done
	starve_end 1
	load_moves 30 "there is memory again"
	load_end
	[ "$(xprt_field 3)" = "$connects" ] || die "it took $(($(xprt_field 3) - connects)) new connections"
	nfs_umount
}

# While there is no memory for more regions, WRITEs share those that a new connection has. Each WRITE
# goes on as soon as another one returns its region, and not only when a timer expires.
case_starved-at-once() {
	local t0 pid most=2000000
	# An emulated guest computes for a second or two.
	[ "$KERNEL" = 7.3 ] || most=4000000
	can_starve
	[ ! -e $RTX ] || echo 0 >$RTX
	on_server ice_up
	trap 'starve_end 0; thaw || true; umount -f $MNT || true; ice_down' EXIT
	ice_mount "vers=3,nolock,$SMALL_WRITES"
	touch $MNT/short.many
	with_freezes credited 16
	freeze
	starve 100 '^xprt_rdma_frwr_map$'
	crowd_io &
	pid=$!
	until_true 30 eval '[ $(allocations_failed) -ge 1 ]' || die "the WRITEs need no more regions"
	t0=${EPOCHREALTIME/./}
	thaw
	ends 60 $pid || die "the WRITEs fail"
	took "$t0" "the thaw"
	[ $((${EPOCHREALTIME/./} - t0)) -lt $most ] || die "the WRITEs waited for a timer"
	starve_end
	umount $MNT
	trap - EXIT
	on_server ice_down
}

# WRITEs use all regions, and wait for the server. Another WRITE needs a region, and is sent when there
# is memory again, although none of the others has ended.
case_starved-beside() {
	local pid before
	can_starve
	[ ! -e $RTX ] || echo 0 >$RTX
	ice_up 16
	trap 'starve_end 0; thaw || true; umount -f $MNT || true; ice_down' EXIT
	ice_mount vers=3,nolock,noacl,wsize=65536
	touch $MNT/short
	with_freezes credited 16
	freeze
	starve 100 '^xprt_rdma_send_request$'
	dd if=/dev/zero of=$MNT/short bs=512k count=1 oflag=direct conv=notrunc 2>/dev/null &
	pid=$!
	until_true 30 eval '[ $(allocations_failed) -ge 1 ]' || die "the WRITEs need no more regions"
	sleep 1
	before=$(threads_waiting)
	[ "$before" -ge 1 ] && [ "$before" -lt 8 ] || die "$before WRITEs were sent"
	starve_end 1
	until_true 5 threads_stuck 8 || die "there is memory, but only $(threads_waiting) WRITEs were sent"
	thaw
	ends 30 $pid || die "a WRITE fails"
	umount $MNT
	trap - EXIT
	ice_down
}

# The regions of a new connection need no piece of memory of 4 pages or more. (On 7.3, which is User-mode
# Linux, a table of pages would take only 2 pages.)
case_starved-pieces() {
	can_starve
	starve 100 '^xprt_rdma_frwr_reserve$'
	echo 0 >/sys/kernel/debug/failslab/probability
	echo 2 >/sys/kernel/debug/fail_page_alloc/min-order
	nfs_mount 3 noacl
	starve_end 0
	nfs_umount
}

# A WRITE waits for the server, and there is no memory for another slot. Even so, one more RPC can be
# sent, as it must if the server recalls a delegation before it answers the WRITE.
case_starved-second() {
	local pid
	can_starve
	on_server ice_up
	trap 'starve_end 0; thaw || true; umount -f $MNT || true; ice_down' EXIT
	ice_mount vers=3,nolock,noac,noacl
	dd if=/dev/zero of=$MNT/short bs=4k count=1 oflag=direct 2>/dev/null
	freeze
	starve 100 '^xprt_rdma_req_alloc_slot$'
	dd if=/dev/zero of=$MNT/short bs=4k count=1 oflag=direct conv=notrunc 2>/dev/null &
	pid=$!
	until_true 30 on_server threads_stuck 1 || die "nfsd does not wait for the storage"
	timeout 20 stat -c %s $MNT/data || die "no second RPC is sent"
	starve_end 0
	thaw
	ends 30 $pid || die "the WRITE fails"
	umount $MNT
	trap - EXIT
	on_server ice_down
}

# largest <bytes>: set the inline size of version 2 at both ends, for new connections
largest() {
	tune "$1" /sys/module/rpcrdma/parameters/rdma_v2_inline
	tune "$1" /sys/module/rpcrdma/parameters/v2_max_req_size
}

# mount_in_pieces <client|server> <pattern>: mount while all allocations of 8 pages or more with a
# matching function among their callers fail. That end must then have Receives of 4096 bytes.
mount_in_pieces() {
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	starve 100 "$2"
	echo 0 >/sys/kernel/debug/failslab/probability
	echo 3 >/sys/kernel/debug/fail_page_alloc/min-order
	nfs_mount 4.2
	until_true 10 received_by "$1" 4096 || die "$1: $(grep inline_recv $DEBUG/"$1"/*), and there were no large pieces"
	starve_end
}

# in_pieces <client|server> <pattern>: run mount_in_pieces. Then a new connection, with all memory available, must have
# Receives of 65536 bytes at that end.
in_pieces() {
	mount_in_pieces "$1" "$2"
	load_start
	break_next client
	until_true 30 break_done || die "the connection was not broken"
	load_moves 90 "there are large pieces"
	load_end
	until_true 10 received_by "$1" 65536 || die "$1: $(grep inline_recv $DEBUG/"$1"/*), and there is memory enough"
	nfs_umount
}

# Large allocations fail, and an administrator has set a larger inline size of version 1 than the default. The
# Receives are small, and mounting succeeds.
case_starved-large-v1() {
	local inline=/proc/sys/sunrpc/rdma_max_inline_read
	can_starve
	highest 1
	[ "$(cat $inline)" = 4096 ] || die "rdma_max_inline_read is $(cat $inline)"
	trap 'echo 4096 >'$inline EXIT
	echo 65536 >$inline
	mount_in_pieces client '^xprt_rdma_'
	nfs_umount
}

# Memory is available only in small pieces. The Receives are then small. When large pieces are available again,
# new Receives are large.
# Covers: V2-INL-04
case_starved-large() {
	can_starve
	highest 2
	largest 65536
	# Make Receives without targets (see rtx.rst), because the inline size does not apply to Receives with
	# targets.
	trap 'echo '"$(<$PAGES)"' >'$PAGES EXIT
	without_targets set_apart small_pieces
}

small_pieces() {
	in_pieces client '^xprt_rdma_'
	in_pieces client '^xprt_rdma_recv_expect$'
	in_pieces server '^svc_rdma_accept$'
	in_pieces server '^svc_rdma_recvfrom$'
}

# short <percent> <pattern> <event> <command...>: run the command while <percent> of the allocations fail in
# functions that match <pattern>, and in functions that they call. When the trace event has occurred, let allocations
# succeed again and run RELIEF. Then the command must succeed.
short() {
	local percent=$1 pattern=$2 event=$3 pid d from to t0
	shift 3
	echo >$TRACE/trace
	starve "$percent" "$pattern"
	# For this event, let only the provider's allocations of regions fail.
	[ "$event" != xprt_rdma_mr_alloc_err ] || for d in failslab fail_page_alloc; do
		read -r from to < <(text_range "^${PROVIDER}_alloc_mr\$" "$(provider_module)") ||
			die "where does $PROVIDER make regions?"
		echo 0 >/sys/kernel/debug/$d/reject-start
		echo 0 >/sys/kernel/debug/$d/reject-end
		echo "$from" >/sys/kernel/debug/$d/require-start
		echo "$to" >/sys/kernel/debug/$d/require-end
	done
	"$@" &
	pid=$!
	until_true 90 grep -q " $event: " $TRACE/trace || die "no event $event: $(cut -d: -f2 $TRACE/trace | sort | uniq -c)"
	starve_end
	${RELIEF:-true}
	t0=${EPOCHREALTIME/./}
	ends 120 $pid || die "$* fails after $event"
	took "$t0" "there is memory again, for $event"
}

direct_io() { dd if="$1" of="$2" bs=64k count=1 conv=notrunc "$3=direct" 2>/dev/null; }

# crowd_io makes 64 WRITEs at once on a mount with these options. They need more regions than a new
# connection has.
SMALL_WRITES=noacl,wsize=16384
crowd_io() { dd if=/dev/zero of=$MNT/short.many bs=1M count=1 oflag=direct conv=notrunc 2>/dev/null; }

# frozen_short <pattern> <event> [<command...>]: mount, and run the command. Then freeze the server's
# file system, and run crowd_io while allocations of matching functions fail. Because of the freeze,
# no WRITE is answered before the event.
frozen_short() {
	local pattern=$1 event=$2
	shift 2
	ice_mount "vers=3,nolock,$SMALL_WRITES"
	touch $MNT/short.many
	"${@:-true}"
	freeze
	RELIEF=thaw short 100 "$pattern" "$event" crowd_io
	umount $MNT
}

# Allocations fail in several functions of the client and the server, one after another. Each time,
# a trace event reports the failure, and the operation succeeds on a later try.
# Covers: V1-ERR-20
case_starved-events() {
	local lost
	can_starve
	# Turn off the round-trip extension, because this case needs RPCs that use regions.
	[ ! -e $RTX ] || echo 0 >$RTX
	trace_begin
	trap 'starve_end 0; trace_end' EXIT
	short 100 '^svc_rdma_listen_event$' svc_rdma_request_err nfs_mount 3 noacl
	touch $MNT/short
	nfs_umount
	short 100 '^svc_rdma_accept$' svc_rdma_accept_err nfs_mount 3 noacl
	nfs_umount
	short 100 '^rpcrdma_recv_pool_grow_gfp$' rpcrdma_no_recvs nfs_mount 3 noacl
	nfs_umount
	short 100 '^xprt_rdma_req_alloc_buf$' xprt_rdma_no_slot nfs_mount 4.2
	nfs_umount
	# A mount begins with two slots, and a connection with regions for one RPC. While the
	# server's file system is frozen, several WRITEs are outstanding, so the second WRITE must
	# allocate a slot and regions. The tests of regions also need credits for more WRITEs than
	# there are regions. The small WRITEs of credited() use no regions, so they create none.
	on_server ice_up
	trap 'starve_end 0; trace_end; thaw || true; umount -f $MNT || true; ice_down' EXIT
	frozen_short '^xprt_rdma_req_alloc_slot$' xprt_rdma_no_slot
	frozen_short '^xprt_rdma_frwr_map$' xprt_rdma_marshal_err with_freezes credited 16
	frozen_short '^xprt_rdma_frwr_map$' xprt_rdma_mr_alloc_err with_freezes credited 16
	on_server ice_down
	trap 'starve_end 0; trace_end' EXIT
	nfs_mount 3 noacl
	short 100 '^svc_rdma_read_start$' svc_rdma_read_post_err direct_io /dev/zero $MNT/short oflag
	lost=$(counter server_disconnects)
	short 100 '^svc_rdma_sendto$' svc_rdma_reply_err direct_io $MNT/short /dev/null iflag
	[ "$(counter server_disconnects)" -gt "$lost" ] || die "a Reply that cannot be sent leaves its connection up"
	! grep ' xprt_rdma_timeout: ' $TRACE/trace || die "it was left to the client to close the connection"
	cmp -n 65536 $EXPORT/short /dev/zero || die "the file is not what was written"
	nfs_umount
	trap - EXIT
	trace_end
}

blocks_are_held() {
	local lost was
	highest 2
	was=$(<$PAGES)
	trap 'echo '"$was"' >'$PAGES'; cat '$DEBUG'/server_kept >/dev/null; starve_end 0; trace_end' EXIT
	echo 8 >$PAGES
	trace_begin
	nfs_mount 3 noacl
	touch $MNT/short
	lost=$(counter server_disconnects)
	fault server_keep 200
	short 100 '^rpcrdma_recv_renew$' svc_rdma_reply_err direct_io /dev/zero $MNT/short oflag
	[ "$(counter server_disconnects)" -gt "$lost" ] || die "a Reply that cannot be sent leaves its connection up"
	grep '^changed 0$' $DEBUG/server_kept || die "what was kept has changed"
	cmp -n 65536 $EXPORT/short /dev/zero || die "the file is not what was written"
	nfs_umount
	trap - EXIT
	trace_end
	echo "$was" >$PAGES
}

# A page of a Receive with targets is still held (by the debugfs file server_keep), so the Receive
# cannot be posted again with this block of pages. Allocating another block fails. The server closes
# the connection before a Reply grants the client a credit for that Receive, and the page that is
# held does not change.
case_starved-blocks() {
	can_starve
	set_apart blocks_are_held
}

# --- a server that defers Calls ---------------------------------------------------

# deferred <command...>: let nfsd defer a Call while it asks mountd who the client is, and run the
# command meanwhile
deferred() {
	local pid
	echo >$TRACE/trace
	pkill -STOP -x rpc.mountd
	exportfs -f
	cat $MNT/deferred/file >/tmp/deferred &
	pid=$!
	until_true 30 grep -q ' svc_defer: ' $TRACE/trace || die "no Call is put aside"
	"$@"
	pkill -CONT -x rpc.mountd
	ends 120 $pid || die "the Call that was put aside has failed"
	cmp /tmp/deferred $EXPORT/deferred/file
}

# nothing_is_held: does no Call of the server hold a Receive any more?
nothing_is_held() { ! grep -h ^receives_held $DEBUG/server/* | grep -qvx 'receives_held 0'; }

lose_connection() {
	local before pid
	before=$(counter server_disconnects)
	break_next client
	ls $MNT >/dev/null &
	pid=$!
	until_true 30 break_done || die "the connection was not broken"
	until_true 30 eval "[ \$(counter server_disconnects) -gt $before ]" || die "the server does not notice"
	pkill -CONT -x rpc.mountd
	ends 120 $pid || die "ls has failed"
}

# A deferred Call keeps its Receive. If its connection is gone, the Reply is dropped.
case_deferred() {
	[ "$MODULE" = ours ] || skip "this looks at debugfs"
	mkdir -p $EXPORT/deferred
	head -c 100000 /dev/urandom >$EXPORT/deferred/file
	trace_begin
	echo 1 >$TRACE/events/sunrpc/enable
	trap 'pkill -CONT -x rpc.mountd; break_off; trace_end' EXIT
	nfs_mount 3 noacl
	tune N $FAIL_SUNRPC/ignore-cache-wait
	tune Y $FAIL_SUNRPC/ignore-client-disconnect
	tune Y $FAIL_SUNRPC/ignore-server-disconnect
	echo 1 >$FAIL_SUNRPC/interval
	echo 100 >$FAIL_SUNRPC/probability
	echo 1000 >$FAIL_SUNRPC/times
	deferred true
	grep -q ' svc_defer_recv: ' $TRACE/trace || die "it was not taken up again"
	until_true 10 nothing_is_held || die "a Receive is not given back"
	# Mount again, because the file is now in the page cache of this mount.
	nfs_umount
	nfs_mount 3 noacl
	deferred lose_connection
	until_true 10 nothing_is_held || die "a Receive is not given back"
	nfs_umount
}

# --- a server that is stuck ---------------------------------------------------

case_soft-hard() { soft_hard; }

# As with TCP, an RPC of NFSv4 may take longer than its timeout, and the connection stays up.
case_slow-v4() {
	local connects pid
	ice_up
	mkdir -p $EXPORT/ice
	mount --bind /ice $EXPORT/ice
	exportfs -o rw,no_root_squash,insecure,fsid=8,no_subtree_check "*:$EXPORT/ice"
	# On siw, the probes are normally such that the client does not notice if the server is dead. Then it does not wait.
	trap 'fsfreeze -u /ice; fault device_probe_reads 0' EXIT
	fault device_probe_reads -1
	ice_mount vers=4.2,hard,timeo=10
	dd if=/dev/zero of=$MNT/slow bs=4k count=1 oflag=direct 2>/dev/null
	connects=$(counter client_connects)
	fsfreeze -f /ice
	dd if=/dev/zero of=$MNT/slow bs=4k count=1 oflag=direct conv=notrunc 2>/dev/null &
	pid=$!
	until_true 30 threads_stuck 1 || die "nfsd does not wait for the storage"
	sleep 8
	fsfreeze -u /ice
	fault device_probe_reads 0
	trap - EXIT
	ends 30 $pid || die "the WRITE fails"
	[ "$(counter client_connects)" = "$connects" ] || die "the connection did not stay up"
	umount $MNT
	exportfs -u "*:$EXPORT/ice"
	until_true 60 umount $EXPORT/ice || die "the file system is in use"
	ice_down
}

# A killed RPC gives its regions up while the server may still use them.
# Covers: MEM-04
case_killed() { unreported mr-invalid,inv-twice killed; }
# Covers: MEM-04
case_killed-other() { unreported mr-invalid,inv-twice in_other_version killed; }

case_same-version() { same_version; }

group() { group_in_version; }
