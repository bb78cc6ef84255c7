# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults that are possible both in one guest and between two guests, and the behaviour that is required then. Sourced
# after cases.sh. The client is in this guest, and the server is wherever on_server() runs commands.

# at <client|server> <command...>: run the command at that end of the connection
at() {
	local end=$1
	shift
	[ "$end" = client ] || set -- on_server "$@"
	"$@"
}

# in_other_version <command...>: run the command with the version of the protocol that the rest of the group does not
# use
in_other_version() {
	local version=$((3 - $(version_here))) second all
	[ "$MODULE" = ours ] && [ -z "${OURS:-}" ] || skip "the in-tree module has one version"
	at client highest $version
	at server highest $version
	set_apart "$@"
	at client highest "$(version_here)"
	at server highest "$(version_here)"
	read -r all second < <(tail -n 1 /run/other-version)
	echo "$all connections in version $version"
	[ "$all" -gt 0 ] && [ $second = $((all * (version - 1))) ] || die "$second of $all connections are of version 2"
}

# same_version_from_here: begin to count the connections for same_version. A group calls this at its beginning, because
# other groups may have run in this guest before.
same_version_from_here() { echo "$(counter client_connects) $(counter client_v2_connects)" >/run/other-version; }

# group_in_version: run a group in one guest. Its cases use the version that version_here() prints,
# unless they set another one (in_other_version, set_apart).
group_in_version() {
	alone_up "$(version_here)"
	same_version_from_here
	run_all_cases
	group_end
}

# set_apart <command...>: run the command. Its connections do not count in same_version.
set_apart() {
	local all second
	all=$(counter client_connects) second=$(counter client_v2_connects)
	"$@"
	echo "$(($(counter client_connects) - all)) $(($(counter client_v2_connects) - second))" >>/run/other-version
}

# same_version: check that the earlier cases, except for commands run by set_apart, have used the
# version that version_here() prints, or version 1 if the server runs the in-tree module. If no
# answer to an offer of version 2 comes in time, the client connects again with version 1. So where
# version 2 is expected, the check allows version 1 for one connection in ten.
same_version() {
	local all second a s version
	[ "$MODULE" = ours ] || skip "the in-tree module has one version"
	version=$(version_here)
	[ "${OURS:-}" != client ] || version=1
	all=$(counter client_connects) second=$(counter client_v2_connects)
	while read -r a s; do all=$((all - a)) second=$((second - s)); done </run/other-version
	echo "$second of $all connections in version 2, $(counter client_nego_failures) without an answer"
	[ "$all" -gt 0 ] || die "there was no connection"
	if [ "$version" = 1 ]; then
		[ "$second" = 0 ]
	else
		[ $((10 * second)) -ge $((9 * all)) ]
	fi || die "$second of $all connections are of version 2, and this was to be version $version"
}

# --- the connection -----------------------------------------------------------

# Run fio with verification. Each file has blocks of one size. If blocks of several sizes shared a file, fio would
# check blocks that it has partly overwritten since, and would report errors even on a local file system. Without
# serialize_overlap, it sometimes reads a block for a check while it writes the same block (axboe/fio issue 792).
fio_verify() {
	local size sizes=(512 4k 13k 64k 256k) jobs=()
	! no_reads_here || sizes=(512 1k)
	for size in "${sizes[@]}"; do jobs+=("--name=by$size" "--bs=$size"); done
	timeout -k 5 $((FIO_SECONDS + 180)) fio --output=/tmp/fio.out --directory="$MNT" --size=3328k --rw=randrw --direct=1 \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_backlog=32 --verify_fatal=1 --do_verify=1 --time_based \
		--serialize_overlap=1 --runtime="$FIO_SECONDS" --group_reporting "${jobs[@]}" >/tmp/fio.err 2>&1 ||
		die "fio: status $?, $(cat /tmp/fio.err /tmp/fio.out | grep -E -m 1 'verify failed|bad magic|error=|err=' || echo failed)"
	cat /tmp/fio.out
	rm -f "$MNT"/by*
}

FAIL_SUNRPC=/sys/kernel/debug/fail_sunrpc

# break_next <client|server>: let that end close a connection at its next message
# (CONFIG_FAIL_SUNRPC). Must run in the guest of that end.
break_next() {
	echo 0 >$FAIL_SUNRPC/times
	tune Y $FAIL_SUNRPC/ignore-cache-wait
	tune Y $FAIL_SUNRPC/ignore-client-disconnect
	tune Y $FAIL_SUNRPC/ignore-server-disconnect
	tune N $FAIL_SUNRPC/ignore-"$1"-disconnect
	echo 1 >$FAIL_SUNRPC/interval
	echo 100 >$FAIL_SUNRPC/probability
	echo 1 >$FAIL_SUNRPC/times
}

can_break() { [ -d $FAIL_SUNRPC ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"; }

break_done() { [ "$(cat $FAIL_SUNRPC/times)" = 0 ]; }

break_off() {
	echo 0 >$FAIL_SUNRPC/times
	tune N $FAIL_SUNRPC/ignore-client-disconnect
	tune N $FAIL_SUNRPC/ignore-server-disconnect
}

# broken_by <client|server>: print how often that end has closed the connection and the client has then reconnected
broken_by() { grep -c "^$1 " /tmp/breaks || true; }

breaks_over() { [ -e /tmp/breaks.over ]; }
# or_over <command...>: true if the command is true, or if the breaks are over
or_over() { breaks_over || "$@"; }
more_than() { [ "$(xprt_field "$1")" -gt "$2" ]; }

# Over siw, the in-tree server leaks when a connection breaks under a load: regions of RDMA Reads
# (WARNING in ib_destroy_qp() and when the device is removed), and contexts of Sends and Writes
# (kmemleak). A likely reason is that it trusts the marker for which ib_drain_qp() waits, but siw
# may complete the marker before work requests that are queued behind a failed transmission. When
# fio_broken() and the users of load_breakable() break connections to that server, they send it no
# Read chunks, so that no regions leak.
no_reads_here() { [ "$PROVIDER/${OURS:-}" = siw/client ]; }

# load_breakable: start a load whose connection may be broken
load_breakable() {
	local options=()
	! no_reads_here || options+=(--small-writes)
	load_start "${options[@]}"
}

# break_again <seconds>: at most once in this number of seconds, let one end close the connection.
# The ends take turns. The connection is closed only after the mount has sent some Calls since the
# last break. Otherwise, if the transport waits before it reconnects, each new connection could be
# closed before it has carried replies. For each break, /tmp/breaks has the end that closed the
# connection, and the seconds until the next connection had carried replies.
break_again() {
	local end=server seen=0 connects replies t0
	while sleep "$1" && ! breaks_over; do
		more_than 6 $((seen + 16)) || continue
		seen=$(xprt_field 6) connects=$(xprt_field 3)
		[ $end = server ] && end=client || end=server
		at $end break_next $end
		until_true 30 or_over at $end break_done || continue
		t0=${EPOCHREALTIME/./} replies=$(xprt_field 7)
		until_true 60 or_over more_than 3 "$connects" || {
			# The server may have closed the connection of another client.
			more_than 7 $((replies + 100)) || echo "nothing for 60 s after a break by the $end" >>/tmp/breaks
			continue
		}
		replies=$(xprt_field 7)
		until_true 60 or_over more_than 7 "$replies" || echo "no reply in 60 s after a break by the $end" >>/tmp/breaks
		breaks_over || awk -v e=$end -v us=$((${EPOCHREALTIME/./} - t0)) 'BEGIN { printf "%s %.1f\n", e, us / 1e6 }' >>/tmp/breaks
	done
}

# broken_enough <number>: has each end broken the connection at least this often? (/tmp/breaks may also have lines
# with failures, which do not count.)
broken_enough() { [ "$(broken_by client)" -ge "$1" ] && [ "$(broken_by server)" -ge "$1" ]; }

# breaks_took <description>: print statistics of /tmp/breaks, which has a line "<end> <seconds>" for each break
breaks_took() {
	sort -k 2n /tmp/breaks | awk -v what="$1" '$2 + 0 == $2 { if (!n++) least = $2; sum += $2; most = $2 }
		END { if (n) printf "%s %.1f to %.1f s, %.1f s on average, after each of %d breaks\n", what, least, most, sum / n, n }'
}

# while_broken <seconds> <breaks> <command...>: run the command on the mount, and break the connection again and again
# meanwhile, at most once in this number of seconds. Each end must break it at least <breaks> times.
while_broken() {
	local breaker n before breaks=$2 seconds=$1
	shift 2
	before=$(xprt_field 3)
	rm -f /tmp/breaks.over
	: >/tmp/breaks
	break_again "$seconds" &
	breaker=$!
	trap 'touch /tmp/breaks.over; at client break_off; at server break_off' EXIT
	"$@"
	touch /tmp/breaks.over
	ends $((60 + seconds)) $breaker || die "what breaks the connection has failed"
	trap - EXIT
	at client break_off
	at server break_off
	xprt_line
	n=$(($(xprt_field 3) - before))
	echo "$n reconnects; broken by the client's end $(broken_by client) times, by the server's $(broken_by server)"
	breaks_took replies
	! grep -vE '^(client|server) [0-9.]+$' /tmp/breaks || die "$(grep -vE -m 1 '^(client|server) [0-9.]+$' /tmp/breaks)"
	# If the connection was hardly ever broken, the test means nothing.
	broken_enough "$breaks" || die "it was not broken $breaks times by each end"
	[ $n -ge $((breaks * 2)) ] || die "there were only $n reconnects"
}

# fio_until_broken <breaks>: run fio, up to five times, until each end has broken the connection at
# least <breaks> times
fio_until_broken() {
	local rounds=0
	until broken_enough "$1" || ((rounds++ >= 5)); do fio_verify; done
}

# fio_broken <breaks>: run fio while the connection is broken at most once a second. Each end must
# break it at least <breaks> times. On a busy machine, breaks come less often, so fio runs up to
# five times.
fio_broken() {
	can_break
	nfs_mount 4.2
	while_broken 1 "$1" fio_until_broken "$1"
	checked small
	nfs_umount
}

# --- memory -------------------------------------------------------------------

# text_range <pattern> [module]: print the address range from the first function of the module that matches to the end
# of the last function that matches. (Cold parts of functions are elsewhere, and not included.) If
# no function of the module follows the last match, the length of this match is taken to be 4096
# bytes.
text_range() {
	awk -v p="$1" -v m="[${2:-rpcrdma}]" '$2 ~ /[tT]/ && $4 == m { print $1, $3 ~ p && $3 !~ /[.]cold$/ }' /proc/kallsyms | sort |
		awk '$2 { if (!from) from = $1; last = $1; to = ""; next } !to { to = $1 }
			END { if (from) print "0x" from, to ? "0x" to : "0x" last "+4096" }' |
		while read -r from to; do printf '0x%x 0x%x\n' $((from)) $((to)); done
}

starve_off() {
	local d
	for d in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		tune 0 $d/probability
	done
}

# starve <percent> <pattern>: let this percentage of memory allocations fail. An allocation may fail only if its call stack
# has a function in the range of the module's functions that match the pattern (text_range), and none of the provider.
starve() {
	local d from to
	for d in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		read -r from to < <(text_range "$2") || die "the module has no function like $2"
		echo "$from" >$d/require-start
		echo "$to" >$d/require-end
		read -r from to < <(text_range . "$(provider_module)") || die "where is $PROVIDER?"
		echo "$from" >$d/reject-start
		echo "$to" >$d/reject-end
		echo 32 >$d/stacktrace-depth
		echo 0 >$d/verbose
		echo N >$d/ignore-gfp-wait
		tune N $d/ignore-gfp-highmem
		tune 0 $d/min-order
		echo 1 >$d/interval
		echo 100000000 >$d/times
		echo "$1" >$d/probability
	done
}

# allocations_failed: how many allocations have failed since starve
allocations_failed() {
	local d n=0
	for d in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		n=$((n + 100000000 - $(cat $d/times)))
	done
	echo $n
}

# starve_end [<least>]: let no more allocations fail. Print how many have failed; at least <least> must have (1 by
# default).
starve_end() {
	local n
	starve_off
	n=$(allocations_failed)
	echo "$n allocations failed"
	[ $n -ge "${1:-1}" ] || die "only $n allocations failed"
}

# --- the device ---------------------------------------------------------------

# Remove the device, which connections may be using. Afterwards, no connection may be left on it.
device_gone() {
	rdma link delete lab0 &
	ends 60 $! || die "the device is held: $(ls $DEBUG/server), $(grep -s ^state $DEBUG/*/*)"
	[ -z "$(ls $DEBUG/server 2>/dev/null)" ] || die "without a device, the server has $(ls $DEBUG/server)"
	! grep -sx 'state up' $DEBUG/client/* || die "without a device, the client is connected"
}

# device_removal <client|server> <times>: under a load, remove and add that end's device <times> times. In one guest,
# both ends have the same device.
device_removal() {
	local i before
	nfs_mount 4.2
	load_breakable
	before=$(xprt_field 3)
	for ((i = 0; i < $2; i++)); do
		# Remove the device at a random moment, for zero, one or two seconds.
		sleep 0.$((RANDOM % 10))
		at "$1" device_gone
		sleep $((i % 3))
		at "$1" device_add
		load_moves 90 "the device has come back"
	done
	load_end
	xprt_line
	before=$(($(xprt_field 3) - before))
	[ $before -ge "$2" ] || die "only $before new connections: was the old one not on the device?"
	nfs_umount
}

# --- the server ---------------------------------------------------------------

nfsd_restart() {
	rpc.nfsd 0
	# Wait, so that clients try to connect and fail.
	sleep 1
	rpc.nfsd 4
	echo "rdma $PORT" >/proc/fs/nfsd/portlist || die "no RDMA listener"
}

# nfsd_restarts <version of NFS>: under a load, restart nfsd twice
nfsd_restarts() {
	local i before
	nfs_mount "$1"
	load_breakable
	before=$(xprt_field 3)
	for i in 1 2; do
		# Restart nfsd at a random moment.
		sleep 1.$((RANDOM % 10))
		on_server nfsd_restart
		load_moves 90 "nfsd has come back, $i"
	done
	load_end
	before=$(($(xprt_field 3) - before))
	[ $before -ge 2 ] || die "only $before new connections: was nfsd not gone?"
	nfs_umount
}

frozen_write() { dd if=/dev/zero of=$MNT/out bs=64k count=1 oflag=direct conv=notrunc 2>&1; }
freeze() { on_server fsfreeze -f /ice; }
thaw() { on_server fsfreeze -u /ice; }

# While the server's file system is frozen, a WRITE on a soft mount fails after its timeout. A WRITE on a hard mount
# waits for the thaw.
soft_hard() {
	local t0 writer
	on_server ice_up
	trap 'thaw; umount -f $MNT' EXIT
	ice_mount vers=3,nolock,soft,timeo=20,retrans=1
	frozen_write >/dev/null
	freeze
	t0=$SECONDS
	! frozen_write || die "a frozen file system was written to"
	echo "the soft mount gave up after $((SECONDS - t0)) s"
	[ $((SECONDS - t0)) -le 60 ] || die "that was to take 6 s"
	thaw
	recovers 60 "the thaw, for the soft mount" until_true 60 frozen_write
	umount $MNT
	ice_mount vers=3,nolock,hard,timeo=20,retrans=1
	freeze
	frozen_write &
	writer=$!
	# A soft mount would have failed after 6 seconds.
	sleep 12
	! gone $writer || die "the hard mount gave up"
	t0=${EPOCHREALTIME/./}
	thaw
	ends 90 $writer || die "the hard mount saw an error"
	took "$t0" "the thaw, for the hard mount"
	trap - EXIT
	umount $MNT
	on_server ice_down
}

# taken_back <given up before> <invalidated before>: compared with these values of the counters, has the client given
# up at least 4 more RPCs, and invalidated at least 3 more regions itself?
taken_back() {
	[ $(($(counter client_given_up) - $1)) -ge 4 ] && [ $(($(counter client_mrs_local_inv) - $2)) -ge 3 ]
}

# ice_is <checksum>: is this the checksum of the server's file /ice/data, read through the mount?
ice_is() { [ "$(md5sum <$MNT/data)" = "$1" ]; }

# late_writes: print the number of RDMA Writes of the server so far, or nothing if the server does not count them
late_writes() { on_server counter server_rdma_write_wrs; }
later_writes() { [ "$(late_writes)" -gt "$1" ]; }

# with_freezes <command...>: run the command, while the server's file system is frozen for half of the time. The server
# then sees all Calls that the credits allow in flight, even if one processor does everything. If the command ends the
# case, freezing ends, too.
with_freezes() {
	local pid case=$BASHPID
	: >/tmp/freezes
	while [ -e /tmp/freezes ] && kill -0 $case 2>/dev/null && freeze && sleep 0.1 && thaw; do sleep 0.1; done &
	pid=$!
	"$@"
	rm /tmp/freezes
	wait $pid || die "freezing and thawing fails"
}

# Processes that wait for a READ, a WRITE or a READDIR end at once when they are killed. The client
# invalidates the regions of their RPCs, so late RDMA Reads and Writes of the server cannot access
# the memory. (siw and rxe copy with the CPU, so KASAN would report accesses to freed pages.)
killed() {
	local i pids=() keeper given_up fenced connects late sum t0
	on_server ice_up 1
	sum=$(on_server md5sum /ice/data)
	sum="${sum%% *}  -"
	ice_mount vers=3,nolock,noac,rsize=262144
	frozen_write >/dev/null
	# An RPC that is given up keeps its credit until the late Reply comes. If no credit were left, the client
	# would reconnect, and no late RDMA Read or Write would come. So first get more credits than there will be
	# RPCs.
	with_freezes credited 16
	for i in 1 2 3; do
		python3 -I -S "$LOAD" reader $MNT/data 1048576 >/tmp/reader.$i &
		pids+=($!)
	done
	# If the case fails, leave no process that keeps the mount busy, and no frozen file system.
	trap 'kill -KILL "${pids[@]}" 2>/dev/null || true; thaw' EXIT
	for i in 1 2 3; do until_true 100 grep -q reading /tmp/reader.$i || die "reader $i does not begin"; done
	exec 9<$MNT/data
	connects=$(xprt_field 3)
	given_up=$(counter client_given_up)
	fenced=$(counter client_mrs_local_inv)
	freeze
	dd if=/dev/zero of=$MNT/out bs=64k count=1 oflag=direct conv=notrunc 2>/dev/null &
	pids+=($!)
	until_true 30 on_server threads_stuck 1 || die "nfsd does not wait for the storage"
	for i in 1 2; do
		ls -f $MNT/dir >/dev/null &
		pids+=($!)
	done
	# The only thread of nfsd is stuck, so the server answers nothing.
	until_true 30 all_wait "${pids[@]}" || die "not all wait for the server: $(grep -hE '^(Name|State)' /proc/*/status | paste -sd' ')"
	t0=${EPOCHREALTIME/./}
	kill -KILL "${pids[@]}"
	# Only the signal can end the processes, because the server is still frozen.
	for i in "${pids[@]}"; do
		until_true 20 gone "$i" || {
			cat "/proc/$i/stack" || true
			die "process $i does not die"
		}
	done
	echo "dead $(((${EPOCHREALTIME/./} - t0) / 1000)) ms after the kill"
	# Let the client give up all requests of the killed processes, if it has not done so yet. (The mount stays,
	# because a file is open.)
	umount -f $MNT 2>/dev/null || true
	if [ "$MODULE" = ours ]; then
		until_true 20 taken_back "$given_up" "$fenced" ||
			die "given up $(($(counter client_given_up) - given_up)), taken back $(($(counter client_mrs_local_inv) - fenced)), $(($(xprt_field 3) - connects)) reconnects"
		echo "$(($(counter client_given_up) - given_up)) RPCs given up, $(($(counter client_mrs_local_inv) - fenced)) regions taken back"
	fi
	connects=$(xprt_field 3)
	# Allocate so much memory that it probably includes the pages that the killed processes have
	# freed. The server's data must not appear in the allocated memory.
	rm -f /tmp/keeper.in
	mkfifo /tmp/keeper.in
	python3 -I -S -c '
import sys
pages = bytearray(100 << 20)
pages[:] = bytes(len(pages))
print("held", flush=True)
sys.stdin.read()
sys.exit(pages.count(0) != len(pages))' </tmp/keeper.in >/tmp/keeper &
	keeper=$!
	exec 8>/tmp/keeper.in
	until_true 120 grep -q held /tmp/keeper || die "nobody gets the pages"
	late=$(late_writes)
	pids=()
	thaw
	trap - EXIT
	t0=${EPOCHREALTIME/./}
	# No process reads any more, so these RDMA Writes are for the killed processes.
	if [ -n "$late" ]; then
		until_true 30 later_writes "$late" || die "no RDMA Write comes late"
		echo "$(($(late_writes) - late)) late RDMA Writes"
	fi
	exec 8>&-
	ends 60 $keeper || die "what was freed has been written to"
	exec 9<&-
	ice_is "$sum" &
	ends 60 $! || die "what is read through the mount is not what the server has"
	took "$t0" "the thaw"
	echo "$(($(xprt_field 3) - connects)) reconnects after the thaw"
	umount $MNT
	on_server ice_down
	with_mount 4.2 checked small
}
