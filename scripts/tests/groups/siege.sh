# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The server stays available although clients accept no Replies, the storage does not answer, or
# paths are slow. See hostile_siege.py.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"

# has_rnr: skip the case if clients cannot ask for endless RNR retries. (hostile_siege.py knows another way with siw.)
has_rnr() {
	[ "$PROVIDER" = siw ] || ! grep -q RNIC /sys/class/infiniband/lab0/node_type || skip "iWARP has no RNR retries"
}

# block <bytes>: set nfsd's largest payload, that is, the maximum size of the data of a READ or
# WRITE. The server's send queue has room for the work requests of three such payloads.
block() { nfsd_anew tune "$1" /proc/fs/nfsd/max_block_size; }

case_siege() { has_rnr; block $((1 << 18)); SIEGE_VERSION=1 hostile siege siege; }
case_siege-v2() { has_rnr; block $((1 << 18)); SIEGE_VERSION=2 hostile siege siege; }
case_pull() { has_rnr; block $((1 << 22)); SIEGE_VERSION=1 hostile siege siege-pull; }
case_pull-v2() { has_rnr; block $((1 << 22)); SIEGE_VERSION=2 hostile siege siege-pull; }
case_no-rtu() {
	[ "$PROVIDER" != siw ] || skip "iWARP knows no RTU"
	has_rnr
	SIEGE_VERSION=1 hostile siege siege-rtu
}
case_no-rtu-v2() {
	[ "$PROVIDER" != siw ] || skip "iWARP knows no RTU"
	has_rnr
	SIEGE_VERSION=2 hostile siege siege-rtu
}

# slow_read <number>: make this number of READs of a megabyte at once
slow_read() {
	python3 -I -S -c '
import mmap, os, sys, threading
failed = []
def work(i):
    fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
    try:
        if os.preadv(fd, [mmap.mmap(-1, 1 << 20)], i << 20) != 1 << 20:
            failed.append(f"READ {i} is short")
    except OSError as e:
        failed.append(f"READ {i}: {e}")
threads = [threading.Thread(target=work, args=[i]) for i in range(int(sys.argv[2]))]
for t in threads: t.start()
for t in threads: t.join()
sys.exit("\n".join(failed) or 0)' $MNT/slow "$1"
}

# On a slow path, RPCs take long, but data are transferred all the time. So neither end may close the connection, even
# if a keepalive probe waits long behind the data. The READs together take longer than
# progress_timeout, the time after which the server closes a connection without progress.
case_slow-path() {
	local connects failures looker t0 rc=0
	[ "$PROVIDER" = siw ] || skip "$PROVIDER does not send by the network what is for the same device"
	[ "$MODULE" = ours ] || skip "this looks at what our module counts"
	head -c 48M /dev/urandom >$EXPORT/slow
	block $((1 << 22))
	rpc.nfsd 64
	nfs_mount 3 rsize=1048576,timeo=3000,retrans=3
	credited 48
	connects=$(xprt_field 3) failures=$(counter keepalive_failures)
	t0=$SECONDS
	tc qdisc add dev lo root tbf rate 8mbit burst 128kb limit 64mb
	(while nap 1; do grep -hE 'free|^sent|granted' $DEBUG/server/* | tr '\n' ' ' || true; echo; done) &
	looker=$!
	trap 'kill $looker; tc qdisc del dev lo root; rpc.nfsd 4' EXIT
	timeout 200 bash -c "$(declare -f slow_read); MNT=$MNT slow_read 48" || rc=$?
	kill $looker
	tc -s qdisc show dev lo
	tc qdisc del dev lo root
	trap - EXIT
	rpc.nfsd 4
	counters | grep -E 'keepalive|sq_waits|disconnects'
	echo "$((SECONDS - t0)) s, status $rc"
	[ "$rc" = 0 ] || die "READs fail on a slow path, status $rc"
	((SECONDS - t0 > 35)) || die "the path was not slow: $((SECONDS - t0)) s"
	[ "$(xprt_field 3)" = "$connects" ] || die "the connection was lost $(($(xprt_field 3) - connects)) times, $(($(counter keepalive_failures) - failures)) by a keepalive, while READs made progress"
	nfs_umount
	rm $EXPORT/slow
}

# read_requests <command...>: run the command, and print how many requests for an RDMA Read siw has sent
# meanwhile. Such a request is a packet of its own, and begins with the two bytes of the length and
# the control bytes of DDP and RDMAP (RFC 5040 4.3).
read_requests() {
	local pid
	tcpdump -Z root -i lo -U --immediate-mode -w /tmp/reads.pcap "tcp port $PORT and tcp[((tcp[12] & 0xf0) >> 2) + 2 : 2] = 0x4141" 2>/tmp/reads.err &
	pid=$!
	until_true 20 grep -q listening /tmp/reads.err || die "tcpdump: $(cat /tmp/reads.err)"
	"$@" >&2
	nap 1
	kill $pid
	wait $pid || true
	tcpdump -r /tmp/reads.pcap 2>/dev/null | wc -l
}

# idle_probed <-1|0>: mount with READs as probes or without, and let the keepalive probe
idle_probed() {
	local before
	fault device_probe_reads "$1"
	nfs_mount 3
	before=$(counter keepalive_probes)
	nap 4
	[ "$(counter keepalive_probes)" -gt "$before" ] || die "there was no probe: this tells nothing"
	nfs_umount
}

# Each READ takes more than keepalive_time. While its RDMA Write is on its way, the client hears
# nothing and probes the server. If siw has to answer an RDMA Read of no bytes just then, it sends
# bytes that nobody asked for (compat.rst, Faults of kernels), and the client's siw ends the
# connection. So the probe must be something else on siw.
# Covers: V1-CRD-28
slow_probe() {
	local connects probes
	nfs_mount 3 rsize=524288,timeo=3000,retrans=3
	credited 8
	connects=$(xprt_field 3) probes=$(counter keepalive_probes)
	tc qdisc add dev lo root tbf rate 2500kbit burst 128kb limit 64mb
	timeout 60 bash -c "$(declare -f slow_read); MNT=$MNT slow_read 3" ||
		die "READs do not succeed, and the connection was lost $(($(xprt_field 3) - connects)) times"
	echo "$(($(counter keepalive_probes) - probes)) probes"
	[ "$(counter keepalive_probes)" -gt "$probes" ] || die "there was no probe: this tells nothing"
	[ "$(xprt_field 3)" = "$connects" ] || die "the connection was lost $(($(xprt_field 3) - connects)) times"
	tc qdisc del dev lo root
	nfs_umount
}

slow_probe_end() {
	tc qdisc del dev lo root 2>/dev/null || true
	fault device_probe_reads 0
	echo 10 >/sys/module/rpcrdma/parameters/keepalive_time
	echo "$WMEM" >/proc/sys/net/ipv4/tcp_wmem
	rpc.nfsd 4
}

case_slow-probe() {
	local n
	[ "$PROVIDER" = siw ] || skip "$PROVIDER does not send by the network what is for the same device"
	[ "$MODULE" = ours ] || skip "the in-tree module has no keepalive"
	knobs
	head -c 3M /dev/urandom >$EXPORT/slow
	rpc.nfsd 8
	WMEM=$(</proc/sys/net/ipv4/tcp_wmem)
	trap slow_probe_end EXIT
	echo 1 >/sys/module/rpcrdma/parameters/keepalive_time
	# Let the data wait in siw, and not in TCP: on lo, the probe would then wait behind them.
	echo 4096 65536 131072 >/proc/sys/net/ipv4/tcp_wmem
	n=$(read_requests idle_probed -1)
	((n)) || die "no Reads are seen where they must be: this tells nothing"
	n=$(read_requests idle_probed 0)
	((!n)) || die "$n probes are RDMA Reads"
	slow_probe
	rm $EXPORT/slow
}

# All threads of nfsd are stuck, so none of them can close a connection. Even so, the connection must end when the
# device is removed. Otherwise the removal would wait for the threads.
# Covers: RPB-09
case_removal-no-thread() {
	local i writers=() remover t0
	[ "$MODULE" = ours ] || skip "this looks at what our module shows"
	ice_up
	touch /ice/f{1..8}
	mkdir -p /tcp
	mount -t nfs -o proto=tcp,vers=3,nolock,noac,timeo=3000 "$SERVER:/ice" /tcp
	nfs_mount 3
	ls $MNT >/dev/null
	wait_connected
	fsfreeze -f /ice
	# Restore the device even if the case fails.
	trap 'fsfreeze -u /ice; umount -l /tcp; until_true 60 test ! -e /sys/class/infiniband/lab0; device_add; ice_down' EXIT
	for i in {1..8}; do
		dd if=/dev/zero of=/tcp/f$i bs=4k count=1 conv=notrunc,nocreat,fsync status=none &
		writers+=($!)
	done
	until_true 30 threads_stuck 4 || {
		head -n 3 /proc/[0-9]*/status | grep -A 2 nfsd
		for i in $(pgrep -x nfsd) "${writers[@]}"; do cat /proc/$i/stack; echo; done
		die "nfsd's threads do not wait for the storage"
	}
	t0=${EPOCHREALTIME/./}
	rdma link delete lab0 &
	remover=$!
	until_true 10 gone $remover ||
		die "the device is held for 10 s: $(ls $DEBUG/server), $(grep -s ^state $DEBUG/*/*)"
	threads_stuck 4 || die "a thread was free"
	took "$t0" "the device was to go"
	fsfreeze -u /ice
	trap - EXIT
	ends 60 "${writers[@]}" || die "a WRITE over TCP has failed"
	umount /tcp
	device_add
	recovers 90 "the device has come back" ls $MNT
	nfs_umount
	ice_down
}

group() {
	# caller.py reads ALL.
	export ALL
	LEASE=150 alone_up
	run_all_cases
	group_end
}
