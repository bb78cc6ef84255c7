# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# fio with verification, undisturbed and with the connection broken every second; in version 1
# on one provider, in version 2 on the other.
# Guests: alone
# Limit: 2400
# Second: none
# Long: fio-v3
. "$TOP/scripts/tests/common.sh"
CASE_LIMIT=600
FIO_SECONDS=${FIO_SECONDS:-60}

# One size for each file: with several in one file, fio checks blocks that it has since
# overwritten in part, and finds errors on a local file system too.
fio_verify() {
	local size jobs=()
	for size in 512 4k 13k 64k 256k; do jobs+=("--name=by$size" "--bs=$size"); done
	fio --output=/tmp/fio.out --directory="$MNT" --size=3328k --rw=randrw --direct=1 --ioengine=libaio --iodepth=16 \
		--verify=crc32c --verify_backlog=32 --verify_fatal=1 --do_verify=1 --time_based --runtime="$FIO_SECONDS" \
		--group_reporting "${jobs[@]}" >/tmp/fio.err 2>&1 ||
		die "fio: $(cat /tmp/fio.err /tmp/fio.out | grep -E -m 1 'verify failed|bad magic|error=|err=' || echo failed)"
	cat /tmp/fio.out
	rm -f "$MNT"/by*
}

# broken_by <client|server>: how often fail_sunrpc has closed a connection at that end
broken_by() { grep -c "^break $1\$" /tmp/breaks || true; }

# break_every_second: CONFIG_FAIL_SUNRPC closes a connection at its next message; in turn
# the client's end does it and the server's. Only one over which replies have come: a transport
# that waits before it connects again would otherwise never get a word through.
break_every_second() {
	local d=/sys/kernel/debug/fail_sunrpc seen=0 now spared=N armed=
	: >/tmp/breaks
	echo 100 >$d/probability
	echo 1 >$d/interval
	tune Y $d/ignore-cache-wait
	while sleep 1; do
		now=$(xprt_field 6)
		[ "$now" -gt "$((seen + 16))" ] || continue
		seen=$now
		[ -z "$armed" ] || [ "$(cat $d/times)" != 0 ] || echo "break $armed" >>/tmp/breaks
		[ $spared = N ] && armed=client || armed=server
		tune $spared $d/ignore-client-disconnect
		[ $spared = N ] && spared=Y || spared=N
		tune $spared $d/ignore-server-disconnect
		echo 1 >$d/times
	done
}

# Covers: V1-ERR-25
case_fio-broken() {
	local breaker n before
	[ -d /sys/kernel/debug/fail_sunrpc ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
	nfs_mount 4.2
	before=$(xprt_field 3)
	break_every_second &
	breaker=$!
	fio_verify
	kill $breaker 2>/dev/null || die "nothing was broken"
	echo 0 >/sys/kernel/debug/fail_sunrpc/times
	tune N /sys/kernel/debug/fail_sunrpc/ignore-client-disconnect
	tune N /sys/kernel/debug/fail_sunrpc/ignore-server-disconnect
	xprt_line
	n=$(($(xprt_field 3) - before))
	echo "$n reconnects; broken by the client's end $(broken_by client) times, by the server's $(broken_by server)"
	# A test that hardly breaks anything tests nothing.
	[ $n -ge $((FIO_SECONDS / 6)) ] || die "the connection was broken only $n times"
	[ "$(broken_by client)" -ge 3 ] && [ "$(broken_by server)" -ge 3 ] || die "not by both ends"
	checked small
	nfs_umount
}

case_fio() { with_mount 4.2 fio_verify; }
case_fio-v3() { FIO_SECONDS=$((FIO_SECONDS / 3)) with_mount 3 fio_verify; }

group() {
	alone_up "$(version_here)"
	run_all_cases
	group_end
}
