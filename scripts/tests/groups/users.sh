# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What users and administrators expect of an RDMA transport besides data transfer: several mounts at once, options of
# exports, large rsize and wsize, and tools and files that show the transport's state.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"

# --- mounts and exports -------------------------------------------------------

# Mounts of all NFS versions and both address families, one of them with several connections, are used at the same
# time.
# Covers: RPB-01
case_mounts() {
	local at vers pids=() n=0 before
	before=$(counter client_connects)
	for at in 3 4.0 4.1 4.2; do nfs_mount $at "" $SERVER /mnt/v$at; done
	nfs_mount 3 nconnect=3 "[$SERVER6]" /mnt/six
	for at in v3 v4.0 v4.1 v4.2 six; do
		n=$((n + 1)) vers=${at#v}
		[ $at != six ] || vers=3
		python3 -I -S "$CHECK" small --vers "$vers" --mnt /mnt/$at --seed $n \
			--manifest /lab/manifest.mounts.$n >/lab/mounts.$n 2>&1 &
		pids+=($!)
	done
	for at in "${pids[@]}"; do wait "$at" || die "$(grep -h '^FAIL' /lab/mounts.? | head -n 1)"; done
	[ "$(grep -c $'^\txprt:\trdma ' /proc/self/mountstats)" -ge 6 ] || die "not every mount is by RDMA"
	if [ "$MODULE" = ours ]; then
		echo "$(shown client) transports, $(($(counter client_connects) - before)) connections"
		[ "$(find $DEBUG/client -name "\[$SERVER6\]:$PORT-*" | wc -l)" = 3 ] || die "nconnect=3 made $(ls $DEBUG/client)"
	fi
	for at in v3 v4.0 v4.1 v4.2 six; do umount /mnt/$at; done
	for ((; n; n--)); do python3 -I -S "$CHECK" verify /lab/manifest.mounts.$n $EXPORT; done
}

# by_tcp: can a TCP client whose source port is not privileged see the export?
by_tcp() {
	local rc=0
	timeout 60 mount -t nfs -o proto=tcp,port=2049,vers=4.0,noresvport,soft,retry=0 $SERVER:/ $MNT 2>/dev/null &&
		ls $MNT >/dev/null 2>&1 || rc=1
	! mountpoint -q $MNT || nfs_umount
	return $rc
}

# The server's transport treats every source port as privileged, so the export option "secure" has
# no effect. Over TCP, the same export refuses a client whose source port is not privileged.
case_secure-export() {
	local v
	exportfs -u "*:$EXPORT"
	exportfs -o rw,no_root_squash,secure,fsid=0,no_subtree_check "*:$EXPORT"
	for v in 3 4.2; do
		nfs_mount $v
		[ "$(xprt_field 1)" -gt 1023 ] || die "the client has port $(xprt_field 1): this tells nothing"
		echo data >$MNT/secure$v || die "version $v: a secure export refuses RDMA"
		[ "$(cat $EXPORT/secure$v)" = data ] || die "wrong content"
		nfs_umount
	done
	! by_tcp || die "the export is not secure: TCP from any port works"
	exportfs -u "*:$EXPORT"
	exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check "*:$EXPORT"
	by_tcp || die "TCP does not work anyway: this tells nothing"
}

# An administrator has configured a listener in nfs.conf. It exists again after each restart of nfsd.
case_nfs-conf() {
	local i
	cp /etc/nfs.conf /tmp/nfs.conf.before 2>/dev/null || : >/tmp/nfs.conf.before
	printf '[nfsd]\nrdma=y\nrdma-port=%s\n' $PORT >/etc/nfs.conf
	for i in 1 2; do
		rpc.nfsd 0
		rpc.nfsd 4
		{ echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true
		grep -q "^rdma $PORT\$" /proc/fs/nfsd/portlist || die "no listener: $(cat /proc/fs/nfsd/portlist)"
		with_mount 4.2 true
	done
	cp /tmp/nfs.conf.before /etc/nfs.conf
}

# max_block <bytes>: restart nfsd with this largest payload. nfsd may use a smaller one.
max_block() { nfsd_anew tune "$1" /proc/fs/nfsd/max_block_size; }
block_is() { [ "$(cat /proc/fs/nfsd/max_block_size)" = "$1" ]; }

# A READ or WRITE of a megabyte is one RPC with one chunk. The server may allow larger ones (4 MB on 7.3), but the NFS
# client never sends them.
case_large-io() {
	local size v was reads writes out
	was=$(cat /proc/fs/nfsd/max_block_size)
	for size in 1048576 4194304; do
		max_block $size
		block_is $size || { echo "this kernel's nfsd stops at $(cat /proc/fs/nfsd/max_block_size)"; continue; }
		for v in 3 4.2; do
			nfs_mount $v rsize=$size,wsize=$size
			grep " $MNT .*[,( ]rsize=1048576,wsize=1048576[, ]" /proc/mounts || die "$(grep " $MNT " /proc/mounts)"
			reads=$(xprt_field 11) writes=$(xprt_field 12) out=$(xprt_field 14)
			dd if=/dev/urandom of=$MNT/large bs=1M count=4 oflag=direct 2>/dev/null
			dd if=$MNT/large of=/dev/shm/large bs=1M count=4 iflag=direct 2>/dev/null
			cmp /dev/shm/large $EXPORT/large || die "version $v: data differs"
			[ $(($(xprt_field 14) - out)) = 4194304 ] || die "$(($(xprt_field 14) - out)) bytes offered for 4 MB"
			[ $(($(xprt_field 11) - reads)) = 4 ] || die "version $v: $(($(xprt_field 11) - reads)) WRITEs of 4"
			[ $(($(xprt_field 12) - writes)) = 4 ] || die "version $v: $(($(xprt_field 12) - writes)) READs of 4"
			rm $MNT/large
			nfs_umount
		done
	done
	max_block "$was"
	block_is "$was" || die "max_block_size does not go back"
	for v in 3 4.2; do
		nfs_mount $v rsize=4096,wsize=8192
		grep -q " $MNT .*rsize=4096,wsize=8192" /proc/mounts || die "$(grep " $MNT " /proc/mounts)"
		python3 -I -S "$CHECK" small --vers $v --mnt $MNT --seed 3${v%.*} --manifest /lab/manifest.io
		nfs_umount
		python3 -I -S "$CHECK" verify /lab/manifest.io $EXPORT
	done
}

# With direct I/O, nfsd of 7.3 reads whole blocks. If a READ begins inside a block, its data begin
# inside a page, and may end in a page that nfsd does not count (compat.rst, Faults of kernels). The
# thread must not write its next Reply to this page while the device still reads it. Eight threads
# read at such offsets, so that each thread of nfsd has a next Reply.
direct_reads() {
	python3 -I -S -c '
import mmap, os, random, sys, threading
data = open(sys.argv[1], "rb").read()
size, right, wrong = int(sys.argv[3]), [], []
def work(seed):
    choice = random.Random(seed)
    fd = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECT)
    room = mmap.mmap(-1, size)
    for _ in range(60):
        at = choice.randrange(len(data) - size)
        n = os.preadv(fd, [room], at)
        (right if room[:n] == data[at:at + size] else wrong).append(at)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(f"{len(wrong)} of {len(right) + len(wrong)} READs are wrong", *wrong[:3])
sys.exit(len(right) != 480)' $EXPORT/disk/data $MNT/data 262144
}

NFSD_DEBUG=/sys/kernel/debug/nfsd

# disk_up: export $EXPORT/disk, a file system on a device
disk_up() {
	truncate -s 64M /tmp/disk.img
	mkfs.ext4 -q -F /tmp/disk.img
	mkdir -p $EXPORT/disk
	mount "$(losetup -f --show /tmp/disk.img)" $EXPORT/disk || die "no file system on a device"
	exportfs -o rw,no_root_squash,insecure,fsid=8,no_subtree_check "*:$EXPORT/disk"
	head -c 4M /dev/urandom >$EXPORT/disk/data
	sync
}

disk_down() {
	exportfs -u "*:$EXPORT/disk"
	exportfs -f
	until_true 60 umount $EXPORT/disk || die "the file system is in use"
	losetup -D
	rm -f /tmp/disk.img
}

# tcp_mount <version of NFS> <path>: mount by TCP, to compare. If this shows wrong data, too, nfsd is at
# fault, and not the case.
tcp_mount() { mount -t nfs -o "proto=tcp,port=2049,vers=$1,nolock,rsize=262144" "$SERVER:$2" $MNT; }

# Covers: MEM-05
case_direct-reads() {
	local v at
	[ -e $NFSD_DEBUG/io_cache_read ] || skip "this kernel's nfsd has no direct I/O"
	disk_up
	# If nfsd may splice, it does not use direct I/O either.
	trap 'echo 0 >$NFSD_DEBUG/disable-splice-read; disk_down' EXIT
	echo 2 >$NFSD_DEBUG/io_cache_read
	for v in 3 4.2; do
		case $v in 3) at=$EXPORT/disk ;; 4.2) at=/disk ;; esac
		mount -t nfs -o "proto=rdma,port=$PORT,vers=$v,nolock,rsize=262144" "$SERVER:$at" $MNT
		direct_reads || die "version $v: wrong data"
		nfs_umount
		tcp_mount $v "$at"
		echo "by TCP: $(direct_reads)" || true
		nfs_umount
	done
}

# Over NFSv3, a Reply with two ACLs of 300 entries is longer than its head. nfsd does not count the
# page that has the rest. Eight threads get the ACLs of 400 directories, all of which differ.
long_acls() {
	python3 -I -S -c '
import os, struct, sys, threading
ours, theirs = sys.argv[1:]
undef = 0xffffffff
def acl(i, what):
    entries = [(1, 7, undef)] + [(2, 4, 100000 * what + 1000 * i + n) for n in range(300)] + \
              [(4, 4, undef), (16, 7, undef), (32, 4, undef)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)
names = ["system.posix_acl_access", "system.posix_acl_default"]
wrong = []
for i in range(400):
    os.mkdir(f"{ours}/acl-{i}")
    for what, name in enumerate(names):
        os.setxattr(f"{ours}/acl-{i}", name, acl(i, what))
def work(first):
    for i in range(first, 400, 8):
        for what, name in enumerate(names):
            if os.getxattr(f"{theirs}/acl-{i}", name) != acl(i, what):
                wrong.append((i, name))
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
for i in range(400):
    os.rmdir(f"{ours}/acl-{i}")
print(f"{len(wrong)} of 800 ACLs are wrong", *wrong[:3])
sys.exit(bool(wrong))' "$EXPORT" $MNT
}

# Covers: MEM-05
case_long-acls() {
	nfs_mount 3
	long_acls || die "wrong ACLs"
	nfs_umount
	tcp_mount 3 $EXPORT
	echo "by TCP: $(long_acls)" || true
	nfs_umount
}

# --- watching it --------------------------------------------------------------

# The tools of nfs-utils understand our client's line in /proc/self/mountstats.
case_mountstats() {
	local text
	# With ACLs, NFSv3 would also request the ACL of the new file, with a Reply chunk. So mount
	# without ACLs.
	nfs_mount 3 noacl
	dd if=/dev/zero of=$MNT/stats bs=64k count=4 oflag=direct 2>/dev/null
	dd if=$MNT/stats of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null
	[ "$(xprt_line | wc -w)" = 28 ] || die "$(xprt_line | wc -w) columns: $(xprt_line)"
	text=$(mountstats mountstats -x $MNT 2>&1) || die "mountstats: $(tail -n 1 <<<"$text")"
	echo "$text"
	grep -q 'Transport protocol: rdma' <<<"$text" || die "mountstats does not see RDMA"
	grep -q "Connect count: 1\$" <<<"$text" || die "mountstats has not one connection"
	grep -q "Registered: 262144 bytes" <<<"$text" || die "mountstats has other bytes than 262144"
	grep -q "RDMA received: 262144 bytes" <<<"$text" || die "mountstats has other bytes received"
	[ "$(xprt_field 14)" = 262144 ] && [ "$(xprt_field 15)" = 262144 ] || die "not 4 times 64 KB: $(xprt_line)"
	text=$(nfsiostat 2>&1) || die "nfsiostat: $(tail -n 1 <<<"$text")"
	echo "$text"
	grep -q "mounted on $MNT:" <<<"$text" || die "nfsiostat does not show the mount"
	nfs_umount
}

# The files rdma_stat_recv, rdma_stat_read and rdma_stat_write in /proc/sys/sunrpc/svc_rdma, which
# scripts of administrators may read, count what the server does, and can be set to 0. (rules.sh
# tests the settings in the same directory.)
case_sysctls() {
	local name want
	[ "$MODULE" = ours ] || skip "what the in-tree module counts is not the same"
	nfs_mount 3
	for name in recv read write sq_starve; do echo 0 >/proc/sys/sunrpc/svc_rdma/rdma_stat_$name; done
	dd if=/dev/zero of=$MNT/sysctl bs=64k count=2 oflag=direct 2>/dev/null
	dd if=$MNT/sysctl of=/dev/null bs=64k iflag=direct 2>/dev/null
	for name in recv read write; do
		want=$(cat /proc/sys/sunrpc/svc_rdma/rdma_stat_$name)
		[ "$want" -ge 2 ] && [ "$want" -lt 200 ] || die "rdma_stat_$name is $want after two WRITEs and READs"
		echo 0 >/proc/sys/sunrpc/svc_rdma/rdma_stat_$name
	done
	[ "$(cat /proc/sys/sunrpc/svc_rdma/rdma_stat_read)" = 0 ] || die "rdma_stat_read does not begin again"
	nfs_umount
}

# Each side has a file for each of its connections, with properties and statistics of the connection.
case_debugfs() {
	local client server sent received side
	[ "$MODULE" = ours ] || skip "the in-tree module has no such files"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	nfs_mount 3 noacl
	client=$(echo $DEBUG/client/*) server=$(echo $DEBUG/server/*)
	[ -f "$client" ] && [ -f "$server" ] || die "not one file each: $client; $server"
	case ${client##*/} in "$SERVER:$PORT-"*) ;; *) die "it is called $client" ;; esac
	sent=$(xprt_field 6) received=$(field received "$server")
	dd if=/dev/zero of=$MNT/shown bs=64k count=4 oflag=direct 2>/dev/null
	dd if=$MNT/shown of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null
	tail -n +1 "$client" "$server"
	for side in "$client" "$server"; do
		[ "$(field state "$side")" = up ] || die "$side: $(field state "$side")"
		[ "$(field version "$side")" = 1 ] || die "$side: version $(field version "$side")"
		[ "$(field device "$side")" = lab0 ] || die "$side: device $(field device "$side")"
		[ "$(field inline_send "$side")" = 4096 ] || die "$side: inline_send $(field inline_send "$side")"
		[ "$(field credits_granted "$side")" -gt 0 ] || die "$side: no credits"
		[ "$(field receives_posted "$side")" -gt 0 ] || die "$side: no Receives"
		[ "$(field netns "$side")" = "$(stat -Lc %i /proc/self/ns/net)" ] || die "$side: netns"
	done
	[ "$(field round_trip_us "$client")" -gt 0 ] || die "$client: no round trip"
	[ "$(field source "$client")" = "$(field peer "$server")" ] || die "$client and $server are no pair"
	[ $(($(xprt_field 6) - sent)) -ge 8 ] || die "8 RPCs, and mountstats does not tell"
	[ $(($(field received "$server") - received)) -ge 8 ] || die "8 Calls, and the server's file does not tell"
	[ "$(xprt_field 14)" = 262144 ] && [ "$(field rdma_read_bytes "$server")" = 262144 ] || die "bytes written"
	[ "$(xprt_field 15)" = 262144 ] && [ "$(field rdma_write_bytes "$server")" = 262144 ] || die "bytes read"

	# A process that still has the file open when its connection is gone gets an error, reads no freed memory, and
	# does not keep the connection.
	exec 7<"$client" 8<"$server"
	nfs_umount
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	! cat <&7 2>/dev/null && ! cat <&8 2>/dev/null || die "a connection that is gone can be read"
	exec 7<&- 8<&-

	highest 2
	nfs_mount 3
	for side in $DEBUG/client/* $DEBUG/server/*; do
		[ "$(field version "$side") $(field inline_send "$side") $(field peer_spoke "$side")" = "2 16384 1" ] ||
			die "not version 2: $(cat "$side")"
	done
	nfs_umount
	highest 1
}

# round_trip: print the round trip of the client's connection in microseconds
round_trip() { field round_trip_us $DEBUG/client/*; }

# The client measures the round trip when it connects and when Replies come. The shortest time counts: a Reply may also be
# late because the server is slow.
# Covers: T-40
case_round-trip() {
	local near far back i
	[ "$MODULE" = ours ] || skip "the in-tree module does not tell"
	[ "$PROVIDER" = siw ] || skip "rxe needs no network to reach its own host"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client)"
	modprobe -q sch_netem || true
	tc qdisc add dev lo root netem delay 10ms limit 100000 || skip "this kernel has no netem"
	trap 'tc qdisc del dev lo root 2>/dev/null' EXIT
	highest 2
	nfs_mount 3
	far=$(round_trip)
	tc qdisc del dev lo root
	for i in {1..20}; do : >"$MNT/quick.$i"; done
	near=$(round_trip)
	tc qdisc add dev lo root netem delay 10ms limit 100000
	: >$MNT/slow
	back=$(round_trip)
	echo "$far us with a delay of 20000, $near without, $back with it again"
	[ "$far" -ge 20000 ] && [ "$far" -lt 200000 ] || die "$far us is not the round trip"
	[ "$near" -lt 20000 ] || die "$near us were not needed"
	[ "$back" -le "$near" ] || die "a slow Reply is taken for a long way"
	nfs_umount
	highest 1
}

# A process reads the connections' files in debugfs all the time while connections are made, broken and closed.
case_debugfs-readers() {
	local i reader broken d=/sys/kernel/debug/fail_sunrpc
	[ "$MODULE" = ours ] || skip "the in-tree module has no such files"
	: >/tmp/readers
	(while :; do cat $DEBUG/client/* $DEBUG/server/* 2>/dev/null | grep '^state' >>/tmp/readers || true; done) &
	reader=$!
	broken=$(counter client_disconnects)
	for i in 1 2 3 4; do
		nfs_mount 4.2 nconnect=2
		echo $i >$MNT/readers
		tune 100 $d/probability
		tune 1 $d/interval
		tune Y $d/ignore-cache-wait
		tune 2 $d/times
		echo $i >$MNT/readers2
		sync $MNT/readers2
		tune 0 $d/times
		nfs_umount
	done
	kill $reader
	broken=$(($(counter client_disconnects) - broken))
	echo "$broken connections lost, read $(sort /tmp/readers | uniq -c | tr '\n' ' ')"
	[ "$(wc -l </tmp/readers)" -ge 20 ] || die "little was read"
	# Some kernels do not have CONFIG_FAIL_SUNRPC.
	[ ! -d $d ] || [ $broken -ge 4 ] || die "little was broken"
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
}

# The main steps of an RPC, and of the life of a connection, have trace events at both ends.
case_tracepoints() {
	[ "$MODULE" = ours ] || skip "the in-tree module has other events"
	trace_begin
	nfsd_anew true
	traced 'svc_rdma_listen: status=0'
	nfs_mount 4.2
	dd if=/dev/zero of=$MNT/traced bs=64k count=2 oflag=direct 2>/dev/null
	dd if=$MNT/traced of=/dev/null bs=64k iflag=direct 2>/dev/null
	nfs_umount
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	cp $TRACE/trace /lab/log/trace.users
	traced rpcrdma_cm_event rpcrdma_conn_lost xprt_rdma_connect xprt_rdma_marshal xprt_rdma_send \
		xprt_rdma_receive xprt_rdma_reply svc_rdma_accept svc_rdma_receive svc_rdma_call \
		svc_rdma_read svc_rdma_read_done svc_rdma_reply svc_rdma_send_done svc_rdma_lost svc_rdma_free
	trace_end
}

# A READ in version 1 stays in few files of the source, and seldom returns to one that it has left (contributing.rst,
# Figures). Lower the two limits when the source allows it, and do not raise them.
case_read-walk() {
	[ "$MODULE" = ours ] || skip "this is about our source"
	grep -qw function_graph /sys/kernel/tracing/available_tracers || skip "this kernel does not trace functions"
	head -c 65536 /dev/urandom >$EXPORT/walk
	nfs_mount 3
	python3 -I -S -B "$TOP/scripts/tests/analysers/walk.py" $MNT/walk 24 34 >/lab/log/walk ||
		{ cat /lab/log/walk; die "$(tail -n 1 /lab/log/walk)"; }
	cat /lab/log/walk
	nfs_umount
}

group() {
	alone_up
	run_all_cases
	group_end
}
