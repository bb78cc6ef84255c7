# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Rules of the protocol that show in counters, in settings, and in what a mount does.
# Guests: alone
# Limit: 2400
# Second: rxe
. "$TOP/scripts/tests/common.sh"

inline_sizes() {
	echo "$1" >/proc/sys/sunrpc/rdma_max_inline_read
	echo "$1" >/proc/sys/sunrpc/rdma_max_inline_write
}

# chunks_for <bytes>: Read chunks that a WRITE of so many takes
chunks_for() {
	local before
	before=$(xprt_field 11)
	dd if=/dev/zero of=$MNT/inline bs="$1" count=1 conv=notrunc oflag=direct 2>/dev/null
	echo $(($(xprt_field 11) - before))
}

# NFS and NFSACL with the smallest messages there are; and a connection keeps the size that
# it began with.
# Covers: V1-CRD-18 V1-CRD-20 ULB-15 ULB-16 EXP-23
case_inline-sizes() {
	[ "$MODULE" = ours ] || skip "this is about our module's settings"
	nfs_mount 3
	[ "$(chunks_for 3000)" = 0 ] || die "3000 bytes do not go inline"
	inline_sizes 1024
	[ "$(chunks_for 3000)" = 0 ] || die "the threshold has changed on a connection"
	nfs_umount
	nfs_mount 3
	[ "$(chunks_for 3000)" = 1 ] || die "the threshold is not that of the setting"
	[ "$(chunks_for 500)" = 0 ] || die "500 bytes do not go inline"
	nfs_umount
	with_mount 3 checked names small acl
	with_mount 4.2 checked small
	inline_sizes 65536
	on_server tune 65536 /proc/sys/sunrpc/svc_rdma/max_req_size
	with_mount 4.2 checked small
	on_server tune 4096 /proc/sys/sunrpc/svc_rdma/max_req_size
	inline_sizes 4096
}

# What was registered has been invalidated when its RPC is done, by one side or the other,
# and few regions serve many RPCs. The READ that fails leaves a Write chunk unused: one of two
# handles, so that the client has to invalidate it.
# Covers: MEM-02 MEM-10 MEM-22 V1-UNU-05
case_regions() {
	local allocated registered gone
	[ "$MODULE" = ours ] || skip "the in-tree module does not count these"
	nfs_mount 3
	allocated=$(counter client_mrs_allocated)
	registered=$(counter client_mrs_registered)
	gone=$(($(counter client_mrs_remote_inv) + $(counter client_mrs_local_inv)))
	checked small direct
	head -c 20000 /dev/zero >$MNT/stale
	exec 5<$MNT/stale
	on_server rm $EXPORT/stale
	! dd bs=8190 count=1 iflag=direct <&5 >/dev/null 2>&1 || die "a file that is gone could be read"
	exec 5<&-
	allocated=$(($(counter client_mrs_allocated) - allocated))
	registered=$(($(counter client_mrs_registered) - registered))
	gone=$(($(counter client_mrs_remote_inv) + $(counter client_mrs_local_inv) - gone))
	echo "$registered registrations, $gone invalidations, $allocated regions made"
	[ $registered -gt 100 ] || die "only $registered registrations"
	[ $registered = $gone ] || die "$registered registrations, but $gone invalidations"
	[ $((allocated * 5)) -lt $registered ] || die "$allocated regions for $registered registrations"
	nfs_umount
}

# burst <file>: 100 WRITEs at once, when the server takes no more than it is at
burst() {
	fsfreeze -f /ice
	trap 'fsfreeze -u /ice' EXIT
	python3 -I -S -c '
import mmap, os, sys, threading
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
threads = [threading.Thread(target=os.pwritev, args=(fd, [page], 4096 * i)) for i in range(100)]
for t in threads: t.start()
print("begun", flush=True)
for t in threads: t.join()' "$1" >/tmp/burst &
	until_true 60 grep -q begun /tmp/burst || die "the burst does not begin"
	sleep 3
	trap - EXIT
	fsfreeze -u /ice
	wait $! || die "a WRITE failed"
}

# A connection begins with few Receives at either end. When 100 RPCs are in flight, there is one
# for each Call and each Reply, or the connection would be lost: nobody sends twice (RNR).
# Covers: V1-CRD-09 V1-CRD-10
case_receives() {
	local granted
	[ "$MODULE" = ours ] || skip "the in-tree module has all of its Receives at once"
	ice_up 1
	ice_mount vers=3,nolock
	burst $MNT/data
	granted=$(cat /sys/kernel/debug/rpcrdma/server/* | awk '$1 == "credits_granted" && $2 > n { n = $2 } END { print n }')
	grep -H '^receives' /sys/kernel/debug/rpcrdma/{client,server}/*
	# More than either end begins with
	[ "$granted" -ge 64 ] || die "the client never had enough in flight: $granted credits"
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	umount $MNT
	ice_down
}

# refuses <file> <value>: EINVAL, or ERANGE for a number of more than 32 bits, and the old value stays
refuses() {
	local was said
	was=$(<"$1")
	! said=$({ echo "$2" >"$1"; } 2>&1) || die "$1 takes $2"
	case $said in *'Invalid argument' | *'Numerical result out of range') ;; *) die "$1, $2: $said" ;; esac
	[ "$(<"$1")" = "$was" ] || die "$1 was $was, and is $(<"$1") after it has refused $2"
}

# takes <file> <value>
takes() { { echo "$2" >"$1"; } && [ "$(<"$1")" = "$2" ] || die "$1 does not take $2"; }

# Every number an administrator can set: what it is in the beginning, and the least and the most
# that it can be. (Versions are those of the test.)
case_settings() {
	local file first least most was value params=/sys/module/rpcrdma/parameters
	[ "$MODULE" = ours ] || skip "the in-tree module has other ranges"
	while read -r file first least most; do
		case $file in */*) file=/proc/sys/sunrpc/$file ;; *) file=$params/$file ;; esac
		was=$(<"$file")
		[ "$first" = - ] || [ "$was" = "$first" ] || die "$file is $was, not $first"
		for value in $((least - 1)) $((most + 1)) 1000000 $((4294967296 + least)) words; do
			refuses "$file" "$value"
		done
		for value in "$least" "$most" "$was"; do takes "$file" "$value"; done
	done <<-END
	./rdma_slot_table_entries 128 2 16384
	./rdma_max_inline_read 4096 1024 65536
	./rdma_max_inline_write 4096 1024 65536
	./rdma_version - 1 2
	./rdma_v2_inline 16384 1024 65536
	./rdma_keepalive_time 10 0 3600
	./rdma_keepalive_timeout 10 1 3600
	svc_rdma/max_requests 128 4 4096
	svc_rdma/max_req_size 4096 4096 65536
	svc_rdma/version - 1 2
	svc_rdma/v2_max_req_size 16384 1024 65536
	svc_rdma/max_bc_requests 16 1 128
	client_version - 1 2
	server_version - 1 2
	rdma_v2_inline 16384 1024 65536
	v2_max_req_size 16384 1024 65536
	keepalive_time 10 0 3600
	keepalive_timeout 10 1 3600
	first_receives 3 0 4096
	END
	for file in remote_invalidation reply_short accept_msgp; do
		was=$(<$params/$file)
		refuses $params/$file 2
		for value in N Y "$was"; do takes $params/$file $value; done
	done
	# A parameter and its sysctl are one.
	takes $params/keepalive_time 33
	[ "$(</proc/sys/sunrpc/rdma_keepalive_time)" = 33 ] || die "the sysctl has not followed its parameter"
	takes /proc/sys/sunrpc/rdma_keepalive_time 10
}

limits_end() {
	echo 128 >/proc/sys/sunrpc/svc_rdma/max_requests
	echo 16 >/proc/sys/sunrpc/svc_rdma/max_bc_requests
	echo 4096 >/proc/sys/sunrpc/svc_rdma/max_req_size
	inline_sizes 4096
}

# limit <name> <value> <file>
limit() { [ "$(field "$1" "$3")" = "$2" ] || die "$1 is $(field "$1" "$3"), not $2: $(cat "$3")"; }

# What a server is told to allow is what a client gets, and no connection is lost for it.
# Covers: V1-CRD-05 V1-CRD-18 BC-08
case_limits() {
	local client server
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its limits"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	trap limits_end EXIT
	echo 4 >/proc/sys/sunrpc/svc_rdma/max_requests
	echo 2 >/proc/sys/sunrpc/svc_rdma/max_bc_requests
	echo 8192 >/proc/sys/sunrpc/svc_rdma/max_req_size
	inline_sizes 16384
	nfs_mount 4.2
	crowd
	client=$(echo $DEBUG/client/*) server=$(echo $DEBUG/server/*)
	limit credits_max 4 "$server"
	limit credits_granted 4 "$server"
	limit credits_granted 4 "$client"
	limit callback_receives 2 "$server"
	# The smaller one of both ends
	limit inline_send 8192 "$client"
	limit inline_recv 8192 "$client"
	limit inline_send 8192 "$server"
	limit inline_recv 8192 "$server"
	limit connects 1 "$client"
	checked small
	# A change is for connections to come.
	limits_end
	limit credits_max 4 "$server"
	limit inline_send 8192 "$client"
	nfs_umount
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	nfs_mount 4.2
	limit credits_max 128 "$(echo $DEBUG/server/*)"
	limit callback_receives 16 "$(echo $DEBUG/server/*)"
	limit inline_send 4096 "$(echo $DEBUG/client/*)"
	nfs_umount
}

# Two slots for 48 threads: the others wait in sunrpc's backlog, and get their turn.
case_slots() {
	local slots
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its slots"
	echo 2 >/proc/sys/sunrpc/rdma_slot_table_entries
	nfs_mount 3
	crowd
	slots=$(cat /sys/kernel/debug/rpcrdma/client/* | awk '$1 == "slots" { print $2 }')
	[ "$slots" = 2 ] || die "the mount has $slots slots"
	nfs_umount
	echo 128 >/proc/sys/sunrpc/rdma_slot_table_entries
}

# Nobody has the address, or nobody listens at the port: an error in time, and nothing stays.
case_nobody-there() {
	local at t0 errors
	[ "$MODULE" = ours ] || skip "the in-tree module does not count it"
	for at in "10.9.0.77 port=$PORT" "$SERVER port=20111"; do
		errors=$(counter client_connect_errors)
		t0=$SECONDS
		! timeout 100 mount -t nfs -o "proto=rdma,${at#* },vers=4.2,retry=0,soft,timeo=30,retrans=1" "${at% *}:/" $MNT ||
			die "$at: mounted"
		echo "$at: no mount after $((SECONDS - t0)) s"
		[ $((SECONDS - t0)) -lt 60 ] || die "$at: no end after $((SECONDS - t0)) s"
		[ "$(counter client_connect_errors)" -gt "$errors" ] || die "$at: it was not this module that failed"
	done
	until_true 30 nobody_shown || die "a transport is left: $(ls $DEBUG/client $DEBUG/server)"
}

# hold_ports <listen|connect> <port>...: TCP sockets that have them, until $HOLDER is killed. Nobody
# else can have a port where somebody listens. From where somebody has connected to the server,
# nobody else can connect to it.
hold_ports() {
	python3 -I -S -c '
import signal, socket, sys
how, server, *ports = sys.argv[1:]
held = [socket.socket() for _ in ports]
for s, port in zip(held, ports):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((server, int(port)))
    if how == "listen":
        s.listen()
    else:
        s.connect((server, '$PORT'))
open("/tmp/ports.held", "w").close()
signal.pause()' "$1" $SERVER "${@:2}" &
	HOLDER=$!
	until_true 60 test -e /tmp/ports.held || die "the ports could not be taken"
	rm /tmp/ports.held
}

ports_as_before() {
	echo "$RANGE" >/proc/sys/net/ipv4/ip_local_port_range
	echo "$WAITING" >/proc/sys/net/ipv4/tcp_max_tw_buckets
	kill ${HOLDER:-} 2>/dev/null || true
}

errors_above() { [ "$(counter client_connect_errors)" -gt "$1" ]; }

let_ports_go() {
	kill $HOLDER
	wait $HOLDER 2>/dev/null || true
}

# users_are <number> <port>: no more than so many transports, and TCP has not got the port
users_are() { [ "$(</sys/module/rpcrdma/refcnt)" -le "$1" ] && [ -z "$(ss -Htan "sport = :$2")" ]; }

# siw takes the port that the CM has chosen, and TCP may have it already. There are two, and the CM
# never takes the same one twice in a row: with one of them taken, the second of two mounts meets
# it at the latest. Without a port there is no mount, and with one again, there is: who has the
# patience waits for that.
case_port-in-use() {
	local i used users t0 errors mounting mountd port=50100
	[ "$PROVIDER" = siw ] || skip "rxe connects by UDP, where there are no such ports"
	[ "$MODULE" = ours ] || skip "the in-tree module fails the mount"
	until_true 30 nobody_shown || die "a transport is left: $(ls $DEBUG/client $DEBUG/server)"
	RANGE=$(</proc/sys/net/ipv4/ip_local_port_range) WAITING=$(</proc/sys/net/ipv4/tcp_max_tw_buckets)
	trap ports_as_before EXIT
	mountd=$(rpcinfo -p $SERVER | awk '$1 == 100005 && $2 == 3 && $3 == "tcp" { print $4; exit }')
	[ "$mountd" ] || die "where is mountd?"
	# A port is free as soon as its connection has gone.
	echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
	echo "$port $((port + 1))" >/proc/sys/net/ipv4/ip_local_port_range

	trace_begin
	hold_ports listen $port
	users=$(</sys/module/rpcrdma/refcnt)
	used=$(counter client_ports_in_use) errors=$(counter client_connect_errors)
	for i in 1 2 3 4 5 6; do
		[ $i != 4 ] || {
			let_ports_go
			hold_ports connect $port
		}
		nfs_mount 4.2 retry=0 || die "mount $i failed"
		[ "$(xprt_field 1)" = $((port + 1)) ] || die "mount $i has port $(xprt_field 1)"
		echo $i >$MNT/port
		nfs_umount
		until_true 30 users_are "$users" $((port + 1)) || die "the port stays in use: $(ss -tan)"
	done
	used=$(($(counter client_ports_in_use) - used))
	echo "6 mounts met the port that is in use $used times"
	[ $used -ge 5 ] || die "6 mounts met the port that is in use only $used times"
	traced xprt_rdma_port_in_use
	trace_end
	[ "$(counter client_connect_errors)" = "$errors" ] || die "an attempt to connect failed"
	let_ports_go

	hold_ports listen $port $((port + 1))
	t0=$SECONDS used=$(counter client_ports_in_use)
	! timeout 100 mount -t nfs -o "proto=rdma,port=$PORT,vers=4.2,retry=0,soft,timeo=30,retrans=1" $SERVER:/ $MNT ||
		die "mounted without a port"
	echo "no mount after $((SECONDS - t0)) s"
	[ $((SECONDS - t0)) -lt 60 ] || die "no end after $((SECONDS - t0)) s"
	[ "$(counter client_connect_errors)" -gt "$errors" ] || die "it was not for want of a port"
	used=$(($(counter client_ports_in_use) - used))
	errors=$(($(counter client_connect_errors) - errors))
	[ $used = $((8 * errors)) ] || die "$errors attempts met a port in use $used times, not 8 times each"
	until_true 30 eval '[ -z "$(ls /sys/kernel/debug/rpcrdma/client)" ]' ||
		die "a transport is left: $(ls /sys/kernel/debug/rpcrdma/client)"

	# The first RPC of version 3 fails with what is an error of the server's. mount(8) would ask
	# mountd from a port of its own.
	errors=$(counter client_connect_errors)
	mount -i -t nfs -o "addr=$SERVER,proto=rdma,port=$PORT,vers=3,nolock,mountproto=tcp,mountport=$mountd" $SERVER:$EXPORT $MNT &
	mounting=$!
	until_true 60 errors_above "$errors" || die "nobody tries to connect"
	let_ports_go
	wait $mounting || die "the mount did not wait for a port"
	VERS=3 checked small
	nfs_umount
}

# The port is the well-known one, and nobody has to be asked for it: rpcbind does not know.
# Covers: RPB-02 RPB-05
case_default-port() {
	local v
	! rpcinfo 2>/dev/null | grep rdma || die "rpcbind knows netid rdma"
	for v in 3 4.2; do
		mount -t nfs -o "proto=rdma,vers=$v,nolock" "$SERVER:$([ $v = 3 ] && echo $EXPORT || echo /)" $MNT
		grep -q " $MNT .*[,( ]port=20049[, ]" /proc/mounts || die "not port 20049: $(grep " $MNT " /proc/mounts)"
		xprt_line | grep -q '^rdma ' || die "no RDMA transport"
		nfs_umount
	done
}

# Locks of version 3 are taken by another protocol, over TCP.
# Covers: ULB-11
case_lock-manager() {
	pidof -q rpc.statd || rpc.statd --no-notify || die "no rpc.statd"
	mkdir -p $MNT
	mount -t nfs -o "proto=rdma,port=$PORT,vers=3" $SERVER:$EXPORT $MNT
	python3 -I -S -c '
import fcntl, sys
mine, servers = open(sys.argv[1], "w"), open(sys.argv[2], "r+")
fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
try:
    fcntl.lockf(servers, fcntl.LOCK_EX | fcntl.LOCK_NB)
    sys.exit("FAIL: the server does not know of the lock")
except BlockingIOError:
    pass
fcntl.lockf(mine, fcntl.LOCK_UN)
fcntl.lockf(servers, fcntl.LOCK_EX | fcntl.LOCK_NB)' $MNT/locked $EXPORT/locked
	nfs_umount
}

# The connection is broken while a delegation is held. Renewing the lease restores it, and
# the recall comes over the new one.
# Covers: BC-09 BC-11 BC-13 ULB-13
case_recall-after-break() {
	[ -d /sys/kernel/debug/fail_sunrpc ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
	delegation 4.2 break_and_write
}

connects_above() { [ "$(xprt_field 3)" -gt "$1" ]; }

break_and_write() {
	local d=/sys/kernel/debug/fail_sunrpc before
	before=$(xprt_field 3)
	echo 100 >$d/probability
	echo 1 >$d/interval
	tune Y $d/ignore-cache-wait
	tune Y $d/ignore-server-disconnect
	# A group before may have spared the client.
	tune N $d/ignore-client-disconnect
	echo 1 >$d/times
	until_true 40 connects_above "$before" || die "the connection has not been restored"
	echo 0 >$d/times
	# The server gives a recall up that it has before the client has bound the new connection
	# to its session.
	until_true 60 on_server callbacks_up || die "the backchannel has not been restored"
	remote_writer
}

group() {
	alone_up
	run_all_cases
	group_end
}
