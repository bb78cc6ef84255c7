# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A client with little memory swaps to a file of a server with plenty of memory, and the connection
# is broken again and again. If swapping out needed memory that is not available, the client would
# hang. User-mode Linux has no swap, so these cases are skipped there.
# Guests: pair
# Memory:client: 512M
# Limit: 3000
# Providers: rxe
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=1000

vmstat_of() { awk -v n="$1" '$1 == n { print $2 }' /proc/vmstat; }
kb_of() { awk -v n="$1:" '$1 == n { print $2 }' /proc/meminfo; }

# swap_up <MB> <version of NFS>: make a swap file of that size on a mount
swap_up() {
	[ -e /proc/swaps ] || skip "this kernel has no swap"
	on_server bash -c "fallocate -l $1M $EXPORT/swap && chmod 600 $EXPORT/swap"
	nfs_mount "$2"
	mkswap $MNT/swap >/dev/null
	# rxe allocates memory for each packet, so keep more memory in reserve (see admin.rst).
	echo 16384 >/proc/sys/vm/min_free_kbytes
}

# hog <bytes> <seconds>: use this much memory, which is more than the guest has available. Each page must be unchanged
# when it comes back.
hog() {
	python3 -I -S -c '
import mmap, random, sys, time
size, seconds = int(sys.argv[1]), float(sys.argv[2])
memory, page = mmap.mmap(-1, size), mmap.PAGESIZE
pages, rng, version = size // page, random.Random(7), {}
def content(n):
    return (b"%016x%016x" % (n, version[n])) * (page // 32)
for n in range(pages):
    version[n] = 0
    memory[n * page:(n + 1) * page] = content(n)
print("filled", flush=True)
end, turns = time.monotonic() + seconds, 0
while time.monotonic() < end:
    n = rng.randrange(pages)
    for n in range(n, min(n + 64, pages)):
        if memory[n * page:(n + 1) * page] != content(n):
            sys.exit(f"page {n} has come back as something else")
        version[n] += 1
        memory[n * page:(n + 1) * page] = content(n)
        turns += 1
for n in range(pages):
    if memory[n * page:(n + 1) * page] != content(n):
        sys.exit(f"page {n} is something else in the end")
print(f"{turns} pages changed, {pages} right in the end")' "$@"
}

# break_by <client|server>: let that end close the connection. Without CONFIG_FAIL_SUNRPC, nfsd is restarted
# instead.
break_by() {
	if [ -d $FAIL_SUNRPC ]; then
		at "$1" break_next "$1"
	else
		on_server nfsd_restart
	fi
}

breaks_end() {
	[ -d $FAIL_SUNRPC ] || return 0
	at client break_off
	at server break_off
}

# stuck <message>: fail, and print the state of memory, of blocked processes and of the connections
stuck() {
	echo m >/proc/sysrq-trigger
	echo w >/proc/sysrq-trigger
	cat $DEBUG/client/* $COUNTERS || true
	on_server bash -c "echo w >/proc/sysrq-trigger; cat $DEBUG/server/*" || true
	die "$1"
}

swapped() { echo $(($(vmstat_of pswpin) + $(vmstat_of pswpout))); }
swapped_more() { [ "$(swapped)" -gt $(($1 + 64)) ]; }

# breaks_while <process>: until the process ends, call break_by() again and again, first for the
# client, then for the server, and so on. After each break, wait until pages are swapped over the
# next connection. Three seconds later, break that connection. For each break, print the end for
# which break_by() was called, and the seconds until pages were swapped.
breaks_while() {
	local end=server connects pages t0
	while ! gone "$1"; do
		nap 3
		[ $end = server ] && end=client || end=server
		connects=$(xprt_field 3)
		t0=${EPOCHREALTIME/./}
		break_by $end
		until_true 90 more_than 3 "$connects" || gone "$1" || stuck "no new connection for 90 s"
		pages=$(swapped)
		until_true 90 swapped_more "$pages" || gone "$1" || stuck "nothing is swapped for 90 s after a break"
		gone "$1" || awk -v e=$end -v us=$((${EPOCHREALTIME/./} - t0)) 'BEGIN { printf "%s %.1f\n", e, us / 1e6 }'
	done
}

swap_end() {
	breaks_end
	kill -KILL "$1" 2>/dev/null || true
	swapoff $MNT/swap || true
}

# swaps <version of NFS> <seconds>: swap for this many seconds while the connection is broken again and again
swaps() {
	local size pid out
	swap_up $(($(kb_of MemTotal) / 1024 + 64)) "$1"
	swapon $MNT/swap || die "no swapping to a file on the mount"
	size=$(kb_of MemAvailable)
	echo "$(kb_of MemTotal) KB of memory, $size KB of it available"
	size=$((size + 65536))
	out=$(vmstat_of pswpout)
	hog $((size * 1024)) "$2" >/tmp/hog &
	pid=$!
	# shellcheck disable=SC2064
	trap "swap_end $pid" EXIT
	until_true 400 grep -q filled /tmp/hog || stuck "the memory is not filled: $(kb_of SwapFree) KB of swap are free"
	breaks_while $pid >/tmp/breaks
	ends 60 $pid || die "$(tail -n 1 /tmp/hog), $(vmstat_of oom_kill) killed for want of memory"
	breaks_end
	tail -n 1 /tmp/hog
	out=$(($(vmstat_of pswpout) - out))
	echo "$out pages written to swap, $(vmstat_of pswpin) read in all; $(xprt_line)"
	breaks_took "pages moved"
	trap - EXIT
	[ "$(vmstat_of oom_kill)" = 0 ] || die "the kernel has killed $(vmstat_of oom_kill) processes"
	[ "$out" -gt 12288 ] || die "hardly anything was swapped out: $out pages"
	[ "$(wc -l </tmp/breaks)" -ge $(($2 / 30)) ] || die "the connection was broken $(wc -l </tmp/breaks) times only"
	swapoff $MNT/swap
	nfs_umount
}

# for_how_long: print how many seconds to swap: 15 times ROUNDS, which is 4 by default, or 20 in make test-all
for_how_long() { echo $((15 * ${ROUNDS:-$([ -n "$ALL" ] && echo 20 || echo 4)})); }

# again: make another connection, and write something over it
again() {
	local connects
	connects=$(xprt_field 3)
	break_by server
	until_true 60 dd if=/dev/zero of=$MNT/again bs=4k count=1 oflag=direct || die "nothing can be written"
	until_true 60 more_than 3 "$connects" || die "no new connection"
}

# The client counts the swap files on a transport (swapon and swapoff). While there is one, new connections get fewer
# resources, for instance small Receives. Afterwards, new connections get the usual resources again.
case_swap-counted() {
	swap_up 16 3
	at client highest 2
	at server highest 2
	again
	received_by client 16384 || die "before: $(grep inline_recv $DEBUG/client/*)"
	swapon $MNT/swap
	again
	received_by client 4096 || die "swapping: $(grep inline_recv $DEBUG/client/*)"
	swapoff $MNT/swap
	again
	received_by client 16384 || die "after: $(grep inline_recv $DEBUG/client/*)"
	nfs_umount
	at client highest "$(version_here)"
	at server highest "$(version_here)"
}

# Covers: V1-ERR-25 V1-CRD-23
case_swap() { swaps 3 "$(for_how_long)"; }
# Covers: V1-ERR-25
case_swap-v42() { swaps 4.2 "$(for_how_long)"; }

group() {
	# shellcheck disable=SC2034
	[ "$ROLE" = client ] || EXPORT_SIZE=90%
	pair_up "$(version_here)"
	pair_cases true
}
