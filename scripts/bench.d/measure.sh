# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What a guest of make bench does. Sourced by its job, after scripts/lab/guest/lib.sh; what
# it finds goes to /lab/result, one line each:
#   cost <operation> <size> <processes> <instructions> <idle ns>     one for each round
#   count <operation> <size> <processes> <name> <value> <operations>
#   wire <operation> <size> <ns plain> <ns with netem>
#   memory <role> <connections> <free, slab, vmalloc kilobytes before> <the same after>

LOAD=/dev/shm/load
MNT3=/mnt3
RTT_MS=20

result() { printf '%s\n' "$*" >>/lab/result; }

# Debian's kernel does not contain siw. /lab/siw.ko was built from the same source.
bench_provider_up() {
	if [ -e /lab/siw.ko ] && [ "$PROVIDER" = siw ]; then
		modprobe -a ib_uverbs rdma_ucm libcrc32c
		insmod /lab/siw.ko || die "siw.ko does not load"
		siw_modprobe() { [ "${*: -1}" = siw ] && set -- "${@:1:$#-1}"; command modprobe "$@"; }
		modprobe() { siw_modprobe "$@"; }
	fi
	provider_up
	unset -f modprobe
}

# Set the highest version that our module speaks on both sides.
bench_module_load() {
	module_load
	tune "$HIGHEST" /proc/sys/sunrpc/rdma_version
	tune "$HIGHEST" /proc/sys/sunrpc/svc_rdma/version
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
	nfs_mount 4.2 "rsize=1048576,wsize=1048576"
	nfs_mount 3 "rsize=1048576,wsize=1048576" "$SERVER" $MNT3
	local i
	head -c 16M /dev/urandom >$EXPORT/file0
	for i in a b c d e f g h i j k l m n o p; do head -c 2M $EXPORT/file0 >$EXPORT/file$i; done
	mkdir $EXPORT/thousand
	(cd $EXPORT/thousand && seq -f 'an-entry-of-the-directory-%04g' 1000 | xargs touch)
}

# points <function>: call it with operation, size, count, processes for each point to be measured
points() {
	local size n
	"$1" getattr 0 400 1
	for size in 4096 8192 16384 65536 524288 1048576; do
		case $size in 4096 | 8192) n=200 ;; 16384) n=120 ;; 65536) n=60 ;; *) n=10 ;; esac
		"$1" read $size $n 1
		"$1" write $size $n 1
		"$1" bread $size $n 1
		"$1" bwrite $size $n 1
	done
	# The largest message that consists of whole pages
	"$1" write 12288 120 1
	"$1" readdir 0 6 1
	"$1" getattr3 0 400 1
	"$1" read3 4096 200 1
	"$1" write3 4096 200 1
	"$1" getattr 0 640 16
	"$1" read 4096 640 16
	"$1" write 4096 640 16
	"$1" read 65536 128 16
	"$1" write 65536 128 16
}

# An operation whose name contains a 3 uses NFSv3. Then there are no callbacks, and no backchannel.
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

point_count() {
	local n=$3 name value
	((n <= 64 || $4 > 1)) || n=64
	note "count $*"
	echo 1 >/proc/bench_count
	COUNT=y load "$1" "$2" "$n" 1 "$4" >/dev/null
	while read -r name value; do
		result "count $1 $2 $4 $name $value $n"
	done </proc/bench_count
	echo 0 >/proc/bench_count
}

# Traffic between addresses of one host uses lo, whatever the addresses are. rxe does not use the network for it.
point_wire() {
	local t
	[ "$4" = 1 ] || return 0
	[ "$PROVIDER" != rxe ] || return 0
	tc qdisc add dev lo root netem delay $((RTT_MS / 2))ms limit 100000
	t=$(load "$1" "$2" 4 1 1)
	tc qdisc del dev lo root
	result "wire $1 $2 $t"
}

bench_alone() {
	bench_up
	result "kernel $(uname -r)"
	# Work of the system besides the operations, and the stability of the clock
	load spin 0 1000 3 1 | while read -r instr idle; do result "cost spin 0 1 $instr $idle"; done
	points point_cost
	point_cost read 4096 200 1
	modprobe sch_netem
	sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	points point_wire
	points point_count
	result "end"
}

# --- memory: one guest is the server, the other the client ----------------------

# In kilobytes: free memory, unreclaimable slab, vmalloc; after caches and lists were emptied
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
	for i in 11 12 13 14; do ip addr add 10.9.0.$i/24 dev eth0; done
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
	result "end"
	touch /lab/stop
}

# memory_connect <address> <connections>
memory_connect() {
	nfs_mount 3 "nconnect=$2,noac" "$1" "/mnt-$1"
	$LOAD getattr 0 128 1 1 "/mnt-$1" >/dev/null
}
