# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# make soak: many faults at once, for a long time. A client has 64 connections, 16 for each version
# of NFS, to a server that has too little memory for them. All data are verified. Afterwards each end
# may have at most 16 MB less memory available than after the first minute. ROUNDS is the number of
# minutes, and PART the seed of the random numbers.
# Guests: pair
# Limit: 7200
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
MEMORY=/sys/module/rpcrdma/parameters/server_memory
VERSIONS=(3 4.0 4.1 4.2)
MINUTES=${ROUNDS:-20}
CASE_LIMIT=$((MINUTES * 60 + 1800))

memory_limit() { on_server bash -c "echo $1 >$MEMORY"; }

soak_over() { [ -e /tmp/soak.over ]; }

# verify <version>: write files with checksums, and read them again, until the soak is over. Do not
# let fio run for a given time: it would write blocks twice, and could not verify them. When
# connections break, two WRITEs of a block may be sent again on different connections, and executed
# in any order.
verify() {
	local round=0
	until soak_over; do
		timeout -k 5 1500 fio --output="/tmp/fio.$1" --directory="/soak/$1/$1" --size=3328k --rw=randwrite --direct=1 \
			--ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 \
			--group_reporting --name=by4k --bs=4k --name=by13k --bs=13k --name=by64k --bs=64k --name=by256k --bs=256k \
			>"/tmp/fio.$1.err" 2>&1 || {
			echo "fio on version $1: status $?, $(cat "/tmp/fio.$1.err" "/tmp/fio.$1" |
				grep -E -m 1 'verify failed|bad magic|error=|err=' || tail -n 1 "/tmp/fio.$1.err")" >>/tmp/soak.failed
			touch /tmp/soak.over
		}
		round=$((round + 1))
		echo "$1 $round" >>/tmp/soak.rounds
	done
}

# Each of these functions causes one fault. The argument is the end (client or server) that has the
# fault. budget() and restarted() ignore it, because their faults are always at the server.

broken() { at "$1" break_next "$1"; }

removed() {
	at "$1" device_gone
	sleep $((RANDOM % 4))
	at "$1" device_add
}

starved() {
	at "$1" starve 3 '^(xprt_rdma|svc_rdma|rpcrdma)_'
	sleep $((1 + RANDOM % 4))
	at "$1" starve_off
}

budget() { memory_limit $((16 << RANDOM % 3)); }

restarted() { on_server nfsd_restart; }

# faults: until the soak is over, cause one fault after another. /tmp/soak.faults has their names.
faults() {
	local all=(broken broken broken removed starved starved budget restarted) ends=(client server) fault end
	# bash seeds RANDOM when a subshell uses it for the first time. So use RANDOM once before
	# setting the seed.
	: $RANDOM
	RANDOM=$SEED
	until soak_over; do
		sleep $((2 + RANDOM % 10))
		fault=${all[RANDOM % 8]} end=${ends[RANDOM % 2]}
		echo "$fault $end" >>/tmp/soak.faults
		$fault $end
	done
	# nfsd forgets a delegation that it recalls while there is no backchannel (compat.rst), until it is restarted.
	restarted
	at client break_off
	at server break_off
}

# soak <seconds>: mount all versions, use the mounts while one fault follows another, check the
# files, and unmount
soak() {
	local v verifiers=() faulty end
	rm -f /tmp/soak.*
	: >/tmp/soak.faults
	: >/tmp/soak.rounds
	memory_limit 32
	for v in "${VERSIONS[@]}"; do
		nfs_mount "$v" nconnect=16 "$SERVER" "/soak/$v"
		mkdir "/soak/$v/$v"
		verify "$v" &
		verifiers+=($!)
	done
	faults &
	faulty=$!
	end=$((SECONDS + $1))
	until ((SECONDS >= end)) || soak_over; do sleep 1; done
	touch /tmp/soak.over
	ends 600 $faulty || die "a fault does not end: $(tail -n 1 /tmp/soak.faults)"
	for v in "${verifiers[@]}"; do ends 1500 "$v" || die "fio does not end: $(cat /proc/"$v"/task/*/children)"; done
	[ ! -e /tmp/soak.failed ] || die "$(cat /tmp/soak.failed)"
	echo "$(shown client) connections, $(sort /tmp/soak.faults | uniq -c | awk '{ printf "%s%s %s %s", sep, $1, $2, $3; sep = ", " }')"
	echo "rounds of fio: $(cut -d' ' -f1 /tmp/soak.rounds | sort | uniq -c | awk '{ printf "%s%s with version %s", sep, $1, $2; sep = ", " }')"
	[ "$(shown client)" = 64 ] || die "$(shown client) connections, not 64"
	for v in "${VERSIONS[@]}"; do
		grep -q "^$v " /tmp/soak.rounds || die "nothing was written with version $v"
		checked_at_server "$v"
		umount "/soak/$v"
	done
	memory_limit 0
	until_true 60 nobody_shown || die "connections are left"
}

sums() { (cd "$1" && md5sum by* | sort -k 2); }

# checked_at_server <version>: check that the server has the data that the mount shows
checked_at_server() {
	local here
	here=$(sums "/soak/$1/$1")
	[ "$(wc -l <<<"$here")" = 4 ] || die "version $1 does not show four files"
	[ "$here" = "$(on_server sums "$EXPORT/$1")" ] || die "the server has other data than version $1 shows"
	rm -r "/soak/$1/$1"
}

# slabs: print a line "<bytes> <name>" for each slab cache, and for other kinds of memory in use
slabs() {
	awk 'NR > 2 { print $3 * $4, $1 }' /proc/slabinfo
	awk '/^(Anon|Shmem|KernelStack|PageTables|VmallocUsed|Percpu|Unevictable)/ { sub(":", ""); print $2 * 1024, $1 }' /proc/meminfo
	echo "$(traces) traces"
}

# slabs_grown <before>: print what has grown by at least a megabyte since slabs wrote the file
# <before>
slabs_grown() {
	slabs >/tmp/slabs.now
	awk -v M=1048576 'NR == FNR { had[$2] = $1; next } $1 - had[$2] >= M { printf "%s: %d MiB more\n", $2, ($1 - had[$2]) / M }' "$1" /tmp/slabs.now
}

# traces: print the size in bytes of all stack traces that the checkers have recorded. They are kept
# for ever, in pools of four pages. On User-mode Linux an interrupt may come at any instruction, so
# the number of different traces keeps growing.
traces() { awk -v SIZE=$((4 * $(getconf PAGESIZE))) '$1 == "pools:" { print $2 * SIZE }' /sys/kernel/debug/stackdepot/stats; }

# records: print the size in bytes of kmemleak's records. There is one for each object, and their slabs stay scattered
# after there were many. An object that is leaked is in another cache.
records() { awk '$1 == "kmemleak_object" { print $3 * $4 }' /proc/slabinfo; }

# settled: print how much memory is available, plus the memory that stack traces and records use. First shrink
# all slab caches, because KASAN keeps freed objects, up to a 32nd of the memory, until their cache
# is shrunk.
settled() {
	local cache
	for cache in /sys/kernel/slab/*/shrink; do echo 1 >"$cache"; done
	echo $(($(memory_here) + $(traces) + $(records)))
}

# no_less <end> <before> <after>: check that this end has at most 16 MB less memory available than
# before
no_less() {
	echo "$1: $(($2 >> 20)) MiB were available before, and $(($3 >> 20)) MiB afterwards"
	at "$1" slabs_grown /tmp/slabs
	(($2 - $3 <= 16 << 20)) || die "$1 has lost $((($2 - $3) >> 20)) MiB"
}

# Covers: V1-ERR-25 G-39
case_soak() {
	local client server
	[ "$MODULE" = ours ] || skip "the in-tree module does not survive this"
	[ -d /sys/kernel/debug/failslab ] && [ -d $FAIL_SUNRPC ] || skip "this kernel has no fault injection"
	SEED=${PART:-$RANDOM}
	echo "seed $SEED"
	on_server rpc.nfsd 16
	# The first minute fills caches.
	soak 60
	client=$(settled)
	server=$(on_server settled)
	slabs >/tmp/slabs
	on_server eval 'slabs >/tmp/slabs'
	soak $((MINUTES * 60))
	no_less client "$client" "$(settled)"
	no_less server "$server" "$(on_server settled)"
}

group() {
	pair_up 2
	pair_cases true
}
