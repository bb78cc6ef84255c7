# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions for the guests of make bench. The job of a guest sources this file after scripts/lab/guest/lib.sh.
# Results are written to /lab/result, one a line:
#   cost <operation> <size> <processes> <instructions> <idle ns>     one for each round
#   count <operation> <size> <processes> <name> <value> <operations>
#   wire <operation> <size> <instructions> <idle ns>                 with the delay of netem
#   memory <role> <connections> <free, slab, vmalloc kilobytes before> <the same after>
#   memory accepts <connections that the server has accepted>
#   kernel <release>
#   end
# and for the round-trip extension
#   beside <size> <median ns> <longest ns>           of a GETATTR, one for each round
#   choice <rtt us> <estimate us> <write_max>        the client's estimate, and the largest WRITE
#                                                    that it would then send as a group
#   way <operation> <size> <rtt us> <instructions> <idle ns>
#   busy <connections> <free, slab, vmalloc kilobytes without them> <the same with them>
#   receives <connections> <bytes of Receives and credits of each connection at the server>
# and for several processors
#   lock <connections> <operation> <size> <operations> <contended> <from another CPU> <taken> <name>
#   sched <connections> <operation> <size> <operations> <wake-ups> <of these, on the same CPU>
#         <context switches> <interrupts from another CPU>
# and for the budget of an operation. The events are in /lab/events.<operation>.<size>
#   budget <operation> <size> <instructions> <with marks> <with marks and events>

LOAD=/dev/shm/load
MNT3=/mnt3
RTT_MS=20
PARAMS=/sys/module/rpcrdma/parameters
DEBUG=/sys/kernel/debug/rpcrdma
TRACING=/sys/kernel/tracing
# The largest value of rdma_rtx_write_max, with which no item is too large for a group
RTX_ANY=1052672

result() { printf '%s\n' "$*" >>/lab/result; }

# Debian's kernel does not contain siw. The host has built /lab/siw.ko from Debian's source of 6.12.
bench_provider_up() {
	if [ -e /lab/siw.ko ] && [ "$PROVIDER" = siw ]; then
		modprobe -a ib_uverbs rdma_ucm libcrc32c
		insmod /lab/siw.ko || die "siw.ko does not load"
		siw_modprobe() { [ "${*: -1}" = siw ] && set -- "${@:1:$#-1}"; command modprobe "$@"; }
		modprobe() { siw_modprobe "$@"; }
	fi
	provider_up
	unset -f modprobe
	# The simulated adapter works while the processor would be idle, see hca/engine.c.
	[ "$PROVIDER" != hca ] || chrt -i -p 0 "$(pgrep hca_sim)"
}

# Load the module. Set the highest version of the protocol at both ends, and the settings of the extension.
bench_module_load() {
	module_load
	tune "$HIGHEST" /sys/module/rpcrdma/parameters/client_version
	tune "$HIGHEST" /sys/module/rpcrdma/parameters/server_version
	tune "$RTX" $PARAMS/rdma_rtx
	[ -z "$RTX_PAGES" ] || tune "$RTX_PAGES" /sys/module/rpcrdma/parameters/rtx_pages
}

bench_up() {
	cp /lab/load $LOAD
	net_alone
	bench_provider_up
	bench_module_load
	insmod /lab/bench_count.ko provider="$PROVIDER" \
		text_start="$(cat /sys/module/rpcrdma/sections/.text)" \
		text_size="$(awk '$1 == "rpcrdma" { print $2 }' /proc/modules)"
	MAX_BLOCK=1048576 server_up 8
	local i
	head -c 16M /dev/urandom >$EXPORT/file0
	for i in a b c d e f g h i j k l m n o p; do head -c 2M $EXPORT/file0 >$EXPORT/file$i; done
	mkdir $EXPORT/thousand
	(cd $EXPORT/thousand && seq -f 'an-entry-of-the-directory-%04g' 1000 | xargs touch)
	mkdir $EXPORT/twenty
	(cd $EXPORT/twenty && seq -f 'an-entry-of-the-directory-%04g' 20 | xargs touch)
}

# bench_mount <version> <directory>. With -icount, the guest's clock leaps forward while the guest waits for the host, for
# example for a file, so a mount may run into a timeout.
bench_mount() {
	local try
	for try in 1 2 3 4 5; do
		bench_mount_once "$1" "rsize=1048576,wsize=1048576" "$2" && return
		note "mount of version $1: attempt $try has failed"
	done
	return 1
}

# bench_mount_once <version> <options> <directory>: with TCP, use the listener that rpc.nfsd has by default
bench_mount_once() {
	local path=/
	[ "$WHICH" = tcp ] || { nfs_mount "$1" "$2" "$SERVER" "$3"; return; }
	mkdir -p "$3"
	[ "$1" != 3 ] || path=$EXPORT
	mount -t nfs -o "proto=tcp,vers=$1,nolock,$2" "$SERVER:$path" "$3"
}

# wanted <operation> <size>: is OPS empty, or does it contain the operation, with this size or without a size?
wanted() { [[ -z $OPS || " $OPS " == *" $1 "* || " $OPS " == *" $1:$2 "* ]]; }

# points <function>: call the function with <operation> <size> <count> <processes> for every point
# that the table $TABLE shows, and that OPS selects
points() {
	local point=$1
	point_wanted() { ! wanted "$1" "$2" || "$point" "$@"; }
	"points_$TABLE"
}

points_rtx() {
	local size n
	point_wanted getattr 0 200 1
	for size in 8192 16384 32768 65536 131072 262144 524288 1048576; do
		case $size in ???? | ?????) n=60 ;; ??????) n=20 ;; *) n=10 ;; esac
		point_wanted write $size $n 1
	done
	point_wanted readdir 20 60 1
}

points_main() {
	local size n
	point_wanted getattr 0 400 1
	for size in 4096 8192 16384 65536 524288 1048576; do
		case $size in 4096 | 8192) n=200 ;; 16384) n=120 ;; 65536) n=60 ;; *) n=10 ;; esac
		point_wanted read $size $n 1
		point_wanted write $size $n 1
		point_wanted bread $size $n 1
		point_wanted bwrite $size $n 1
	done
	# The largest WRITE of whole pages that is inline in version 2
	point_wanted write 12288 120 1
	point_wanted readdir 0 6 1
	point_wanted getattr3 0 400 1
	point_wanted read3 4096 200 1
	point_wanted write3 4096 200 1
	point_wanted getattr 0 640 16
	point_wanted read 4096 640 16
	point_wanted write 4096 640 16
	point_wanted read 65536 128 16
	point_wanted write 65536 128 16
}

# Three operations, or those of the main table that OPS names
points_budget() {
	if [ -n "$OPS" ]; then
		points_main
	else
		point_wanted getattr 0 400 1
		point_wanted read 4096 200 1
		point_wanted write 4096 200 1
	fi
}

# load: run the program load. An operation whose name ends in 3 uses NFSv3, which has no backchannel.
load() {
	local op=$1
	shift
	case $op in
	*3) $LOAD "${op%3}" "$@" $MNT3 ;;
	*) $LOAD "$op" "$@" $MNT ;;
	esac
}

point_cost() {
	local instr idle
	note "cost $*"
	load "$1" "$2" "$3" "${ROUNDS:-3}" "$4" >/tmp/out || die "load $* failed"
	while read -r instr idle; do result "cost $1 $2 $4 $instr $idle"; done </tmp/out
}

interrupts() { [ "$PROVIDER" != hca ] || awk '$1 == "interrupts" { print $2 }' /sys/kernel/debug/hca_sim/counts; }

point_count() {
	local n=$3 name value before
	((n <= 64 || $4 > 1)) || n=64
	note "count $*"
	before=$(interrupts)
	echo 1 >/proc/bench_count
	COUNT=y load "$1" "$2" "$n" 1 "$4" >/dev/null
	while read -r name value; do
		result "count $1 $2 $4 $name $value $n"
	done < <(cat /proc/bench_count; [ -z "$before" ] || echo "interrupts $(($(interrupts) - before))")
	echo 0 >/proc/bench_count
}

# Measure an operation on a slow network. With siw, traffic between two addresses of one host
# uses lo, so lo gets the delay. rxe does not use lo for that, and is left out. The simulated adapter uses no network.
point_wire() {
	local t
	[ "$4" = 1 ] || return 0
	[ "$PROVIDER" = siw ] || return 0
	tc qdisc add dev lo root netem delay $((RTT_MS / 2))ms limit 100000
	t=$(load "$1" "$2" 4 1 1)
	tc qdisc del dev lo root
	result "wire $1 $2 $t"
}

bench_alone() {
	bench_up
	result "kernel $(uname -r)"
	"bench_$TABLE"
	result "end"
}

# The first operations after a mount. A new connection has few credits, and nothing in stock.
cost_first() {
	local instr idle round
	wanted first 0 || return 0
	for round in 1 2 3; do
		umount $MNT
		bench_mount 4.2 $MNT
		note "cost first $round"
		load getattr 0 500 1 1 | while read -r instr idle; do result "cost first 0 1 $instr $idle"; done
	done
}

bench_main() {
	bench_mount 4.2 $MNT
	! { wanted getattr3 0 || wanted read3 4096 || wanted write3 4096; } || bench_mount 3 $MNT3
	# The operation "spin" only executes a loop. So its cost shows how much else the system
	# does, and how steady the clock is.
	load spin 0 1000 3 1 | while read -r instr idle; do result "cost spin 0 1 $instr $idle"; done
	points point_cost
	point_cost read 4096 200 1
	cost_first
	modprobe sch_netem
	sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	points point_wire
	points point_count
}

# --- the round-trip extension ---------------------------------------------------

# rtx_mount <rdma_rtx_write_max>: mount again with this setting, and do some WRITEs, so that the server grants all
# credits
rtx_mount() {
	! mounted $MNT || nfs_umount $MNT
	tune "$1" $PARAMS/rdma_rtx_write_max
	until_true 30 one_client_less || die "the connection stays: $(ls $DEBUG/client)"
	bench_mount 4.2 $MNT
	load write 1048576 1 8 1 >/dev/null
}

one_client_less() { [ ! -d $DEBUG/client ] || [ -z "$(ls $DEBUG/client)" ]; }

client_field() { awk -v n="$1" '$1 == n { print $2 }' $DEBUG/client/* 2>/dev/null || true; }

# rtx_way <rtt us>: measure each operation with this round-trip time. "rtx_mount 0" lets the client
# choose which WRITEs it sends as groups.
rtx_way() {
	way=$1
	(($1 == 0)) || tc qdisc add dev lo root netem delay $(($1 / 2))us limit 100000
	rtx_mount 0
	points point_way
	result "choice $1 $(client_field round_trip_us) $(client_field write_max)"
	(($1 == 0)) || tc qdisc del dev lo root
}

point_way() {
	local instr idle
	note "way $way $*"
	load "$1" "$2" 4 2 1 | while read -r instr idle; do result "way $1 $2 $way $instr $idle"; done
}

# Measure how long a GETATTR takes while another process writes on the same connection.
rtx_beside() {
	local size median longest
	for size in 65536 1048576; do
		wanted beside $size || continue
		note "beside $size"
		load beside $size 60 2 2 | while read -r median longest; do result "beside $size $median $longest"; done
	done
}

# First measure the costs when no item is too large for a group. Then, in rtx_way(), let the client
# choose which WRITEs it sends as groups.
bench_rtx() {
	rtx_mount $RTX_ANY
	points point_cost
	points point_count
	rtx_beside
	# rxe does not use the network to reach its own host, so a delay would have no effect.
	[ "$PROVIDER" != rxe ] || return 0
	modprobe sch_netem
	sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	rtx_way 0
	rtx_way 200
	rtx_way $((RTT_MS * 1000))
}

# --- several processors ---------------------------------------------------------

# lock_stat: print "<contended> <taken from another CPU> <taken> <name>" for each class of locks. These are the columns
# contentions, acq-bounces and acquisitions of /proc/lock_stat, see the kernel's lockstat.rst. A
# class whose locks are taken both for reading and for writing has two lines (-R, -W). The name of a
# class may contain blanks and colons. The last colon of the line separates it from the numbers.
lock_stat() {
	awk '{
		at = match($0, /:[^:]*$/)
		n = split(substr($0, at + 1), v, " ")
		if (at && n == 12 && v[1] ~ /^[0-9]+$/) {
			name = substr($0, 1, at - 1)
			gsub(/^ +| +$/, "", name)
			print v[2], v[7], v[8], name
		}
	}' /proc/lock_stat
}

# sched_now: print how many of each there have been so far: wake-ups, wake-ups on the processor of
# the waker, context switches, and interrupts that one processor sent to another
sched_now() {
	awk '/^cpu/ { all += $6; own += $7 } END { printf "%d %d ", all, own }' /proc/schedstat
	awk '$1 == "ctxt" { printf "%d ", $2 }' /proc/stat
	awk '$1 == "RES:" || $1 == "CAL:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n }' /proc/interrupts
}

# locks_point <connections> <operation> <size> <operations>: 16 processes do these operations together
locks_point() {
	local before after i
	wanted "$2" "$3" || return 0
	note "locks $*"
	echo 0 >/proc/lock_stat
	read -ra before < <(sched_now)
	load "$2" "$3" "$4" 1 16 >/dev/null || die "load $* failed"
	read -ra after < <(sched_now)
	lock_stat | while read -r line; do result "lock $1 $2 $3 $4 $line"; done
	for i in 0 1 2 3; do after[i]=$((after[i] - before[i])); done
	result "sched $1 $2 $3 $4 ${after[*]}"
}

# The mount is used first, so that the server grants all credits.
bench_locks() {
	local n
	[ -w /proc/lock_stat ] || die "this kernel has no LOCK_STAT"
	echo 1 >/proc/sys/kernel/lock_stat
	echo 1 >/proc/sys/kernel/sched_schedstats
	for n in 1 4 16; do
		nfs_mount 4.2 "rsize=1048576,wsize=1048576,nconnect=$n"
		load getattr 0 $((640 * n)) 1 16 >/dev/null
		locks_point $n getattr 0 3200
		locks_point $n read 4096 1600
		locks_point $n write 4096 1600
		locks_point $n read 65536 480
		locks_point $n write 65536 480
		[ -z "$OPS" ] || locks_point $n write 1048576 96
		nfs_umount
	done
}

# --- the budget of an operation -------------------------------------------------

budget_events() {
	local event
	for event in sched/sched_switch workqueue/workqueue_execute_start; do echo "$1" >$TRACING/events/$event/enable; done
}

# mean: print the mean of the first numbers of all lines
mean() { awk '{ sum += $1 } END { print int(sum / NR) }'; }

# point_budget <operation> <size> <count> <processes>: measure the operation three times: alone,
# with a mark in the trace before each operation, and with these marks and the events of
# budget_events()
point_budget() {
	local alone marked all
	[ "$4" = 1 ] || return 0
	note "budget $*"
	alone=$(load "$1" "$2" "$3" 2 1 | mean)
	marked=$(MARK=y load "$1" "$2" "$3" 2 1 | mean)
	echo >$TRACING/trace
	budget_events 1
	all=$(MARK=y load "$1" "$2" "$3" 2 1 | mean)
	budget_events 0
	grep -v '^#' $TRACING/trace >"/lab/events.$1.$2"
	result "budget $1 $2 $alone $marked $all"
}

bench_budget() {
	bench_mount 4.2 $MNT
	mounted $TRACING || mount -t tracefs tracefs $TRACING
	echo x86-tsc >$TRACING/trace_clock
	echo 16384 >$TRACING/buffer_size_kb
	points point_budget
}

# --- memory: one guest is the server, the other the client ----------------------

# memory_now: empty the caches, and print kilobytes of free memory, unreclaimable slab and vmalloc
memory_now() {
	local i
	for i in 1 2 3; do
		echo 3 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/compact_memory
		sleep 1
	done
	awk '/^(MemFree|SUnreclaim|VmallocUsed):/ { printf "%s ", $2 } END { print "" }' /proc/meminfo
}

memory_accepts() { awk '$1 == "accepts" { print $2 }' /proc/bench_count; }

memory_up() {
	cp /lab/load $LOAD
	net_pair
	bench_provider_up
	bench_module_load
	insmod /lab/bench_count.ko provider="$PROVIDER"
}

bench_memory_server() {
	local i
	memory_up
	for i in 11 12 13 14 21 22; do ip addr add 10.9.0.$i/24 dev eth0; done
	MAX_BLOCK=1048576 server_up 8
	head -c 1M /dev/urandom >$EXPORT/file0
	serve_requests
}

# For NFSv3, each address is another server with connections of its own. The first mount is not counted, because
# it also takes memory that all mounts share.
bench_memory_client() {
	local i server_before before
	memory_up
	until_true 60 test -e /lab/server.ready
	for i in 11 12 13 14; do
		until_true 60 ping -c 1 -W 1 10.9.0.$i || die "no 10.9.0.$i"
	done
	memory_connect 10.9.0.1 1
	server_before=$(on_server memory_now)
	before=$(memory_now)
	for i in 11 12 13 14; do memory_connect 10.9.0.$i 16; done
	result "memory accepts $(on_server memory_accepts)"
	result "memory server 64 $server_before $(on_server memory_now)"
	result "memory client 64 $before $(memory_now)"
	[ "$TABLE" != rtx ] || memory_busy
	result "end"
	touch /lab/stop
}

# memory_connect <address> <connections>: mount from the server at this address, and use the mount
memory_connect() {
	nfs_mount 3 "nconnect=$2,noac" "$1" "/mnt-$1"
	$LOAD getattr 0 128 1 1 "/mnt-$1" >/dev/null
}

# Measure the server's memory for two connections that have all credits, and on which many WRITEs of
# 64 KB were in flight at a time: compare the memory before and after these connections are closed.
memory_busy() {
	local i after
	for i in 11 12 13 14; do nfs_umount "/mnt-10.9.0.$i"; done
	for i in 21 22; do
		nfs_mount 3 "wsize=65536" 10.9.0.$i "/mnt-10.9.0.$i"
		# Write twice, because the server grants more credits to a client that uses them.
		dd if=/dev/zero of="/mnt-10.9.0.$i/busy" bs=1M count=16 conv=fsync 2>/dev/null
		dd if=/dev/zero of="/mnt-10.9.0.$i/busy" bs=1M count=16 conv=fsync,notrunc 2>/dev/null
		rm "/mnt-10.9.0.$i/busy"
	done
	result "receives 2 $(on_server memory_receives)"
	after=$(on_server memory_now)
	for i in 21 22; do nfs_umount "/mnt-10.9.0.$i"; done
	sleep 2
	result "busy 2 $(on_server memory_now) $after"
}

# Print the bytes of Receives and the credits of the two connections that have received the most messages.
memory_receives() {
	local f
	for f in "$DEBUG"/server/*; do
		[ ! -f "$f" ] || awk '{ has[$1] = $2 } END { print has["received"], has["receives_bytes"], has["credits_granted"] }' "$f"
	done | sort -rn | head -n 2 | awk '{ printf "%s %s ", $2, $3 }'
}
