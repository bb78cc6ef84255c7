# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults between two guests: the server is killed, or stopped for a while; the link goes down;
# packets are lost, duplicated and reordered. On a hard mount, no data are lost and no system call
# fails. Most cases print how long it took until replies came again. The server exports a file
# system on a disk, whose contents remain when the server's guest is killed. In faults-pair:client
# and faults-pair:server, only that end runs our module, and the other end runs the in-tree module.
# Guests: pair
# Restart: yes
# Limit: 3000
# Providers: siw rxe
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=420

disk_up() {
	local disk=/dev/vda
	modprobe -aq virtio_blk ext4 || true
	[ ! -e /dev/ubda ] || disk=/dev/ubda
	until_true 20 test -b $disk || die "the server has no disk"
	blkid $disk >/dev/null || mkfs.ext4 -q $disk
	mkdir -p /disk $EXPORT
	mount $disk /disk
	mkdir -p /disk/export /disk/state
	chmod 777 /disk/export
	mount --bind /disk/export $EXPORT
	# shellcheck disable=SC2034
	NFS_STATE=/disk/state GRACE=60
	# RECLAIM is not empty if the server has been restarted. Then clients have state to reclaim.
	# shellcheck disable=SC2034
	RECLAIM=$(ls /disk/state)
}

# Print the ends that run our module. Only they have a keepalive.
ours_here() {
	[ "$OURS" = server ] || echo client
	[ "$OURS" = client ] || echo server
}

# on_host <kill|stop|cont>: let the host kill, stop or continue the server's guest
on_host() {
	# touch(1) is not used, because the host may remove the file before touch(1) has ended.
	: >"/lab/host.$1"
	until_true 30 eval "[ ! -e /lab/host.$1 ]" || die "the host does not obey: $1"
}

# Covers: V1-ERR-25 BC-09
case_server-killed() {
	nfs_mount 4.2
	load_start
	# Kill the server at a random moment.
	sleep 1.$((RANDOM % 10))
	rm -f /lab/server.ready
	on_host kill
	until_true 300 test -e /lab/server.ready || die "the server guest does not come back"
	load_moves 120 "the server has booted again"
	load_end
	nfs_umount
}

# A stopped guest answers nothing, and neither does its RDMA device. The client's device or the
# client's keepalive notices this before any RPC times out.
case_server-stopped() {
	local before t0
	nfs_mount 4.2
	load_start
	before=$(counter client_disconnects)
	on_host stop
	t0=$SECONDS
	if [ "$MODULE" = ours ]; then
		until_true 55 eval "[ \$(counter client_disconnects) -gt $before ]" || die "a dead server was not noticed"
		echo "noticed after $((SECONDS - t0)) s; $(counter keepalive_failures) probes failed"
	else
		# The in-tree module has no counters that could show this, so stop the server for a
		# fixed time.
		sleep 40
	fi
	on_host cont
	load_moves 120 "the server goes on"
	load_end
	nfs_umount
}

# link_down <seconds>: under a load, take the client's link down for this time
link_down() {
	local replies connects
	# After the link was down, rxe of 6.12 accepts no connection. This is a defect of rxe: a
	# client with the in-tree module does not reconnect either.
	[ "$PROVIDER" = siw ] || [ "$KERNEL" = 7.3 ] || skip "after its link was down, rxe of 6.12 takes no connection any more"
	nfs_mount 4.2
	load_start
	connects=$(xprt_field 3)
	ip link set eth0 down
	# Replies that came before may still be on their way to sunrpc.
	sleep 1
	replies=$(xprt_field 7)
	sleep $(($1 - 1))
	[ "$(xprt_field 7)" = "$replies" ] || die "replies came without a link"
	ip link set eth0 up
	revive_rxe lab0 eth0
	load_moves 150 "the link has come back after $1 s"
	connects=$(($(xprt_field 3) - connects))
	echo "$connects reconnects"
	# The device or the keepalive gives up a connection in less than 90 s.
	[ "$1" -lt 60 ] || [ $connects -ge 1 ] || die "the connection outlived it"
	load_end
	nfs_umount
}

# Covers: V1-ERR-25
case_link-5s() { link_down 5; }
# Covers: V1-ERR-25
case_link-5s-other() { in_other_version link_down 5; }
case_link-90s() { link_down 90; }

# arrivals <seconds>: print how many packets came to the server in that time, how many of them had
# come before, and how many came late, that is, after a packet that was sent later
arrivals() { on_server python3 -I -S "$TOP/scripts/tests/analysers/arrivals.py" eth0 10.9.0.2 "$1"; }

# netem(8) loses, duplicates and reorders packets in both directions. With siw, TCP recovers from this; with rxe, the
# device does.
bad_network() {
	local lost packets twice late i p t l
	modprobe -q sch_netem || true
	nfs_mount 4.2
	load_start
	# Without netem, no packet comes twice, and at most one percent come late: a sender may be preempted between
	# numbering a packet and queueing it.
	read -r packets twice late <<<"$(arrivals 3)"
	[ "$packets" -ge 50 ] && [ "$twice" = 0 ] && [ "$late" -le $((packets / 100)) ] ||
		die "without netem, $twice of $packets packets came twice and $late late"
	tc qdisc add dev eth0 root netem delay 2ms 1ms loss 1% duplicate 1% reorder 5% || skip "this kernel has no netem"
	on_server tc qdisc add dev eth0 root netem delay 2ms 1ms loss 1% duplicate 1% reorder 5%
	packets=0 twice=0 late=0
	# The client may become slow, and then needs more rounds to send enough packets.
	for i in {1..12}; do
		read -r p t l <<<"$(arrivals 10)"
		packets=$((packets + p)) twice=$((twice + t)) late=$((late + l))
		lost=$(tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\),.*/\1/p')
		[ "$i" -lt 2 ] || [ "$lost" -lt 3 ] || [ "$twice" -lt 3 ] || break
	done
	echo "on the way to the server $lost packets were lost; of $packets that came, $twice came twice and $late late"
	on_server grep -sH . /sys/class/infiniband/lab0/ports/1/hw_counters/{duplicate_request,out_of_seq_request} || true
	tc qdisc del dev eth0 root
	on_server tc qdisc del dev eth0 root
	[ "$lost" -ge 3 ] || die "nothing was lost"
	[ "$twice" -ge 3 ] || die "nothing came twice"
	[ "$late" -ge $((packets / 20)) ] || die "hardly anything came late"
	load_moves 60 "the network is good again"
	load_end
	nfs_umount
}

case_bad-network() { bad_network; }
case_bad-network-other() { in_other_version bad_network; }

# Most of the following cases are also in faults.sh and stress.sh, in one guest, where both ends have the same device.
# Here, each end has a device of its own.

# Covers: V1-ERR-25
case_fio-broken() { FIO_SECONDS=20 fio_broken 3; }
# While the in-tree client has work on a device, its rpcrdma_remove_one() waits for ever, and the
# device cannot be removed. So faults-pair:server, whose client is the in-tree module, skips this
# case.
# Covers: V1-ERR-25
case_device-removal-client() {
	[ "$OURS" != server ] || skip "the in-tree client does not let its device go"
	device_removal client "${ROUNDS:-2}"
}
# Covers: V1-ERR-25
case_device-removal-server() { device_removal server "${ROUNDS:-2}"; }
# Covers: V1-ERR-25
case_nfsd-restart() { nfsd_restarts 4.2; }
# Covers: V1-ERR-25
case_nfsd-restart-v3() { nfsd_restarts 3; }
# At the ends that run our module, 5 percent of the module's allocations fail, and the connection is broken meanwhile.
# (faults.sh lets allocations fail at both ends in one guest.)
case_starved() {
	local end i
	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
	nfs_mount 4.2
	load_breakable
	trap fed EXIT
	for end in $(ours_here); do at "$end" starve 5 '^(xprt_rdma|svc_rdma|rpcrdma)_'; done
	for i in 1 2 3 4 5 6; do
		for end in $(ours_here); do [ $i -gt 3 ] || at "$end" break_next "$end"; done
		sleep 2
	done
	for end in $(ours_here); do
		until_true 30 eval "[ \$(at $end allocations_failed) -ge 3 ]" || true
		at "$end" starve_end 3
	done
	fed
	load_moves 90 "there is memory again"
	load_end
	nfs_umount
}

# places <client|server>: print lines "<percentage> <pattern>" for starve. This percentage of the
# allocations of the matching functions, and of the functions that they call, fails. For the
# client's regions it is 100.
places() {
	if [ "$1" = client ]; then
		echo '15 ^xprt_rdma_connect_work$'
		echo '100 ^xprt_rdma_frwr_m'
	else
		echo '20 ^svc_rdma_accept$'
		echo '30 ^svc_rdma_read_start$'
		echo '30 ^svc_rdma_sendto$'
	fi
}

# Allocations fail in the functions that places() lists, one after another. When there is memory
# again, everything that waited for memory continues.
case_starved-places() {
	local end percent pattern i
	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
	nfs_mount 4.2
	load_breakable
	trap fed EXIT
	for end in $(ours_here); do
		while read -r percent pattern <&3; do
			at "$end" starve "$percent" "$pattern"
			for i in 1 2; do
				at "$end" break_next "$end"
				sleep 2
			done
			echo "$end, $pattern:"
			until_true 30 eval "[ \$(at $end allocations_failed) -ge 1 ]" || true
			at "$end" starve_end
			at "$end" break_off
			load_moves 90 "there is memory again"
		done 3< <(places "$end")
	done
	fed
	load_end
	nfs_umount
}

# Let allocations succeed again, and break no more connections.
fed() {
	local end
	trap - EXIT
	for end in $(ours_here); do
		at "$end" starve_off
		at "$end" break_off
	done
}

case_soft-hard() { soft_hard; }
# Covers: MEM-04
case_killed() { killed; }


# keepalive <time> <timeout>: set keepalive_time and keepalive_timeout, in seconds, at the ends with our module. New
# connections use them.
keepalive() {
	local end
	for end in $(ours_here); do
		at "$end" bash -c "echo $1 >/sys/module/rpcrdma/parameters/keepalive_time; echo $2 >/sys/module/rpcrdma/parameters/keepalive_timeout"
	done
}

# netem [<setting>...]: from now on, apply these settings of netem to the packets that the client sends. Without a
# setting, nothing is done to them. netem stays in place: rxe may stop the queue pair of the connection manager if that
# sends a packet while tc removes netem ("Faults of kernels" in compat.rst).
netem() { tc qdisc replace dev eth0 root netem "$@"; }

# silence: from now on, drop all packets that the client sends
silence() {
	netem loss 100% || skip "this kernel has no netem"
	trap silence_end EXIT
}

silence_end() {
	trap - EXIT
	netem
}

# seen_at <end> <disconnects|probes|failures>: print how many connections that end has lost, or how many keepalive
# probes it has sent, or how many of them failed
seen_at() { if [ "$2" = disconnects ]; then at "$1" counter "$1_$2"; else at "$1" counter "keepalive_$2"; fi; }
# all_seen <disconnects|probes|failures>...: print the same for all ends with our module
all_seen() {
	local end what
	for end in $(ours_here); do
		for what; do echo "$end $what $(seen_at "$end" "$what")"; done
	done
}

more_probes() { [ "$(seen_at "$1" probes)" -gt "$2" ]; }

# idle_mount <text>: mount with NFSv3, which sends nothing while no process uses the mount, and write a file with the
# text
idle_mount() {
	modprobe -q sch_netem || true
	nfs_mount 3
	echo "$1" >$MNT/idle
	sleep 2
}

# No packet from the client arrives any more, and there is no RPC that could time out. Each end with
# our module loses the connection within the time that is set for the keepalive: its own keepalive
# fails, or the peer disconnects.
# Covers: V1-CRD-28
case_silent() {
	local t0 end known=
	local -A probes failures lost
	keepalive 3 4
	idle_mount one
	for end in $(ours_here); do
		probes[$end]=$(seen_at $end probes) failures[$end]=$(seen_at $end failures)
		at $end trace_begin
	done
	for end in $(ours_here); do
		until_true 30 more_probes "$end" "${probes[$end]}" || die "the $end does not probe"
	done
	# Wait for longer than a probe may take.
	sleep 5
	for end in $(ours_here); do
		[ "$(seen_at $end failures)" = "${failures[$end]}" ] || die "a probe of a living peer of the $end failed"
		lost[$end]=$(seen_at $end disconnects)
	done
	silence
	t0=$SECONDS
	for end in $(ours_here); do
		until_true 30 eval "[ \$(seen_at $end disconnects) -gt ${lost[$end]} ]" || die "the $end notices nothing"
		echo "the $end had noticed after $((SECONDS - t0)) s"
		[ $((SECONDS - t0)) -le 20 ] || die "7 s were to be enough, not $((SECONDS - t0))"
	done
	# Either the device reports an error for the probe (rpcrdma_probe_err), or the keepalive's
	# timeout ends first (rpcrdma_peer_dead), because the device or TCP still retransmits
	# packets. One end with such an event is enough: packets from the server still arrive, so
	# the client may have been disconnected by the server.
	for end in $(ours_here); do
		! at $end grep -E ' (rpcrdma_peer_dead|rpcrdma_probe_err): ' $TRACE/trace || known=y
		at $end cat $TRACE/trace
		at $end trace_end
	done
	[ -n "$known" ] || die "no event says why"
	silence_end
	t0=$SECONDS
	[ "$(cat $MNT/idle)" = one ] || die "what was written has gone"
	echo "replies $((SECONDS - t0)) s after the network worked again"
	nfs_umount
	keepalive 10 10
}

# No packet from the client arrives, and there is no keepalive: neither end notices anything, and
# the connection continues. This shows that in case_silent only the keepalive has noticed the
# silence.
# Covers: V1-CRD-28
case_silent-off() {
	local before
	keepalive 0 4
	idle_mount two
	before=$(all_seen disconnects probes)
	silence
	# With the keepalive, it would have taken 7 seconds.
	sleep 30
	[ "$(all_seen disconnects probes)" = "$before" ] || die "$before, then $(all_seen disconnects probes)"
	silence_end
	[ "$(cat $MNT/idle)" = two ] || die "what was written has gone"
	[ "$(all_seen disconnects probes)" = "$before" ] || die "the connection was lost after all, or probed"
	nfs_umount
	keepalive 10 10
}

# writers_of <byte>: start four programs that write that byte from memory of their own until they are killed. Sets
# WRITERS to their process IDs.
writers_of() {
	local n
	WRITERS=()
	for n in 1 2 3 4; do
		python3 -I -S -c '
import mmap, os, sys
memory = mmap.mmap(-1, 65536)
memory[:] = sys.argv[2].encode() * 65536
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644)
while True:
    os.pwrite(fd, memory, 0)' "$MNT/gathered.$n" "$1" &
		WRITERS+=($!)
	done
}

# only_byte <byte>: check that the files of the writers contain no other byte at the server
only_byte() {
	on_server python3 -I -S -c '
import glob, sys
for name in glob.glob(sys.argv[1] + "/gathered.*"):
    with open(name, "rb") as file:
        if file.read().strip(sys.argv[2].encode()):
            sys.exit(name + ": the server has what was in other memory")' $EXPORT "$1"
}

# a_thread_waits: does a thread wait before it gives back what a killed RPC has used? (The stack need not show
# xprt_rdma_pages_fence(), whose last call may be a jump.)
a_thread_waits() { grep -qs xprt_rdma_req_free_buf /proc/[0-9]*/stack; }

killed_gathered() {
	local sends pid was param=/sys/module/rpcrdma/parameters/rtx_pages
	was=$(on_server cat $param)
	modprobe -q sch_netem || true
	highest 2
	on_server highest 2
	# Each Receive of 4 pages has 3 pages that take data (targets, see rtx.rst). siw's Sends have enough
	# SGEs for 3 pages that are not adjacent.
	on_server bash -c "echo 4 >$param"
	echo 65536 >/sys/module/rpcrdma/parameters/rdma_rtx_write_max
	echo 8192 >/sys/module/rpcrdma/parameters/rdma_rtx_gather
	nfs_mount 4.2
	sends=$(counter client_calls_gathered)
	writers_of w
	until_true 60 eval "[ \$(counter client_calls_gathered) -gt $((sends + 50)) ]" || die "nothing is gathered"
	silence
	nap 1
	kill -KILL "${WRITERS[@]}"
	umount -f $MNT || true
	# The RPCs have ended for their processes. They must not give back their pages yet. (siw's Sends are complete
	# as soon as TCP has a copy of the data, so no RPC waits for them. On rxe, the server ends the connection four
	# seconds after the last packet. In an emulated machine, these may be over before anybody looks.)
	[ "$PROVIDER" = siw ] || ! grep -q 'User Mode Linux' /proc/cpuinfo || until_true 10 a_thread_waits ||
		die "no RPC waits for its Sends"
	# Fill the pages that are free now with other contents.
	dd if=/dev/zero bs=1M count=400 2>/dev/null | tr '\0' x >/dev/shm/other || true
	rm -f /dev/shm/other
	nap 3
	silence_end
	for pid in "${WRITERS[@]}"; do
		until_true 120 gone "$pid" || die "a writer does not end: $(cat "/proc/$pid/stack")"
	done
	only_byte w
	umount -l $MNT || true
	on_server bash -c "echo $was >$param"
	echo 32768 >/sys/module/rpcrdma/parameters/rdma_rtx_gather
	echo 0 >/sys/module/rpcrdma/parameters/rdma_rtx_write_max
	with_mount 4.2 checked small
	highest "$(version_here)"
	on_server highest "$(version_here)"
	on_server rm -f $EXPORT/gathered.{1,2,3,4}
}

# While no packet gets to the server, kill processes that wait for WRITEs. The Sends of these WRITEs
# gather the processes' pages, which the device still has to send. It must not send what a later
# owner writes to the pages. (KASAN watches the pages, too.)
# Covers: MEM-04 RTX-100
case_killed-gathered() {
	[ "$MODULE" = ours ] && [ -z "$OURS" ] || skip "both ends have to know the extension"
	set_apart killed_gathered
}

all_sent() { [ "$(field credits_in_flight "$1")" = "$2" ]; }

# all_go <bytes> <number>: start this number of WRITEs of this size at once, while the server answers nothing. All must
# be sent.
all_go() {
	freeze
	: >/tmp/at-once
	at_once $MNT/data "$1" "$2" &
	until_true 60 grep -q begun /tmp/at-once || die "the WRITEs do not begin"
	until_true 20 all_sent "$(echo $DEBUG/client/*)" "$2" || die "not all are sent: $(paste -s -d, $DEBUG/client/*)"
	thaw
	ends 60 $! || die "a WRITE fails"
}

late_completions_end() {
	starve_off
	echo $UNLIMITED >$DEBUG/device_max_qp_wr
	echo $UNLIMITED >$DEBUG/device_max_mr_pages
	echo 10 >/sys/module/rpcrdma/parameters/keepalive_time
	echo 1 >/sys/module/rpcrdma/parameters/rdma_rtx
	netem || true
	thaw || true
	umount -f $MNT || true
	on_server ice_down
}

# Sends complete late (netem delays packets), and the server, whose file system is frozen, answers
# nothing. Calls that wait for a Send, or for entries of the send queue, are sent when earlier Sends
# have completed, although no message arrives. The keepalive is off: it looks for completions from
# time to time, and could hide that nothing else does.
# Covers: V1-CRD-27 V1-ERR-25
case_late-completions() {
	[ "$MODULE" = ours ] && [ "$OURS" != server ] || skip "this is about our client"
	[ -d /sys/kernel/debug/failslab ] && [ -e $DEBUG/device_max_qp_wr ] || skip "this kernel has no fault injection"
	modprobe -q sch_netem || true
	# A connection of the previous case may still wait for Replies. all_go() expects a single
	# connection in debugfs.
	until_true 60 nobody_shown || die "connections are left: $(shown client) of the client, $(shown server) of the server"
	on_server ice_up
	netem delay 50ms || skip "this kernel has no netem"
	trap late_completions_end EXIT
	echo 0 >/sys/module/rpcrdma/parameters/keepalive_time
	echo 0 >/sys/module/rpcrdma/parameters/rdma_rtx
	# A WRITE of eight regions takes 17 entries of the send queue until its Send has completed.
	# The queue has 126 entries, of which 16 are kept for answers to callbacks. So the seventh
	# WRITE waits for entries.
	echo 1 >$DEBUG/device_max_mr_pages
	echo 128 >$DEBUG/device_max_qp_wr
	ice_mount vers=3,nolock
	credited 16
	all_go 32768 7
	umount $MNT
	echo $UNLIMITED >$DEBUG/device_max_qp_wr
	echo $UNLIMITED >$DEBUG/device_max_mr_pages
	# If no memory can be allocated for more buffers, a connection has two Sends.
	ice_mount vers=3,nolock
	starve 100 '^xprt_rdma_send_get$'
	credited 16
	all_go 4096 12
	starve_end 1
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	umount $MNT
	trap - EXIT
	late_completions_end
}

# together <number> <READs>: that many threads make so many READs each, one after the other. Print how many milliseconds
# that takes.
together() {
	python3 -I -S -c '
import os, sys, threading, time
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
number, reads = int(sys.argv[2]), int(sys.argv[3])
begin = threading.Barrier(number + 1)
def work():
    begin.wait()
    for _ in range(reads):
        assert len(os.pread(fd, 512, 0)) == 512
threads = [threading.Thread(target=work) for _ in range(number)]
for t in threads:
    t.start()
t0 = time.monotonic()
begin.wait()
for t in threads:
    t.join()
print(int(1000 * (time.monotonic() - t0)))' $MNT/calls "$1" "$2"
}

delayed_end() {
	netem || true
	highest "$(version_here)"
	on_server highest "$(version_here)"
}

# The round trip is 10 or 100 ms. A client with n RPCs in flight gets between n and 2n + 2 credits, and all of its
# RPCs can be in flight after at most four round trips: 12 READs of each of n threads take at most 16 round trips, and
# half a second for slow guests. Because a busy host may be slower than that, each mount has three tries, and
# 64 READs at a time have five seconds; with 8 credits they would take ten. (The unit test rpcrdma_need_table has more
# cells, and version 1.)
# Covers: G-39
case_credits-delayed() {
	[ "$MODULE" = ours ] && [ -z "$OURS" ] || skip "both ends have to grant and ask by need"
	modprobe -q sch_netem || true
	set_apart credits_delayed
}

credits_delayed() {
	local cell delay n ms most limit
	trap delayed_end EXIT
	highest 2
	on_server highest 2
	for cell in 10:1 10:4 100:1 100:4 100:16 100:64; do
		delay=${cell%:*} n=${cell#*:} limit=$((16 * delay + 500))
		((n < 64)) || limit=5000
		for _ in 1 2 3; do
			until_true 60 nobody_shown || die "connections are left: $(shown client), $(shown server)"
			netem || skip "this kernel has no netem"
			nfs_mount 3
			head -c 4096 /dev/urandom >$MNT/calls
			netem delay "${delay}ms"
			ms=$(together "$n" 12)
			most=$(credits_granted)
			echo "$n RPCs at $delay ms: $most credits, $(on_server bash -c "grep memory_held $DEBUG/server/*"), $ms ms"
			((most >= n && most <= 2 * n + 2)) || die "$most credits for $n RPCs"
			netem
			nfs_umount
			((ms > limit)) || break
		done
		((ms <= limit)) || die "$ms ms for 12 READs at $delay ms"
	done
}

case_same-version() { same_version; }

group() {
	[ "$ROLE" = client ] || disk_up
	# After these cases, the in-tree server cannot be taken down: after its module was unloaded,
	# "rdma link delete" runs for ever, over siw and rxe (apparently it calls a function of the
	# unloaded module). Over siw the in-tree server has also leaked memory, see broken.sh. So
	# the server's guest ends with everything still up.
	[ "$OURS" != client ] || LEFT_UP=y
	pair_up "$(version_here)"
	same_version_from_here
	pair_cases true
}
