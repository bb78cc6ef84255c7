# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Rules of the protocol that can be tested with the module's counters and settings, and with the behaviour of a mount.
# Guests: alone
# Limit: 2400
# Slow: small-regions failed-invalidation short-queue
. "$TOP/scripts/tests/cases.sh"

# chunks_for <bytes>: print how many Read chunks a WRITE of this size takes
chunks_for() {
	local before
	before=$(xprt_field 11)
	dd if=/dev/zero of=$MNT/inline bs="$1" count=1 conv=notrunc oflag=direct 2>/dev/null || die "a WRITE of $1 fails"
	echo $(($(xprt_field 11) - before))
}

# NFS and NFSACL work with the smallest inline size, and a connection keeps the inline size with which it began.
# Covers: V1-CRD-18 V1-CRD-20 ULB-15 ULB-16 EXP-23
case_inline-sizes() {
	[ "$MODULE" = ours ] || skip "this is about our module's settings"
	nfs_mount 3
	[ "$(chunks_for 3000)" = 0 ] || die "3000 bytes do not go inline"
	set_inline 1024
	[ "$(chunks_for 3000)" = 0 ] || die "the threshold has changed on a connection"
	nfs_umount
	nfs_mount 3
	[ "$(chunks_for 3000)" = 1 ] || die "the threshold is not that of the setting"
	[ "$(chunks_for 500)" = 0 ] || die "500 bytes do not go inline"
	nfs_umount
	with_mount 3 checked names small acl
	with_mount 4.2 checked small
	set_inline 65536
	on_server tune 65536 /proc/sys/sunrpc/svc_rdma/max_req_size
	with_mount 4.2 checked small
	on_server tune 4096 /proc/sys/sunrpc/svc_rdma/max_req_size
	set_inline 4096
}

odd_sizes_end() {
	set_inline 4096
	on_server tune 4096 /proc/sys/sunrpc/svc_rdma/max_req_size
}

# The client's inline size is not a multiple of 1024. The client announces the size rounded down, for instance 4096
# instead of 5000. The server could send more, but its inline Replies must not be longer than announced. If 4096 or
# less is announced, a Reply with 4096 bytes of data is too long to be inline.
# Covers: V1-CRD-17 V1-CRD-20
case_odd-sizes() {
	local size told
	[ "$MODULE" = ours ] || skip "this is about our module's settings"
	head -c 4096 /dev/urandom >$EXPORT/odd
	trap odd_sizes_end EXIT
	on_server tune 65536 /proc/sys/sunrpc/svc_rdma/max_req_size
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	for size in 5000 8191 1025; do
		set_inline $size
		nfs_mount 3
		dd if=$MNT/odd of=/dev/shm/odd bs=4096 iflag=direct || die "READ with sizes of $size"
		cmp /dev/shm/odd $EXPORT/odd || die "READ with sizes of $size brings something else"
		dd if=/dev/shm/odd of=$MNT/odd.written bs=4096 oflag=direct || die "WRITE with sizes of $size"
		cmp $EXPORT/odd.written $EXPORT/odd || die "WRITE with sizes of $size brings something else"
		told=$((size / 1024 * 1024))
		[ "$(field inline_send $DEBUG/client/*) $(field inline_recv $DEBUG/client/*)" = "$told $told" ] ||
			die "sizes of $size: $(grep inline_ $DEBUG/client/*)"
		nfs_umount
		until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	done
}

# When an RPC is done, each of its regions has been invalidated by the server or by the client, and
# few regions serve many RPCs. The READ that fails leaves its Write chunk unused. Its RPC has two
# handles, one of them for the XDR roundup of the 8190 bytes. In version 1 the server cannot know
# which handle it may invalidate, so the client must invalidate both.
# Covers: MEM-02 MEM-10 MEM-22 V1-UNU-05
case_regions() {
	local allocated registered gone
	[ "$MODULE" = ours ] || skip "the in-tree module does not count these"
	nfs_mount 3
	allocated=$(xprt_field 24)
	registered=$(counter client_mrs_registered)
	gone=$(($(counter client_mrs_remote_inv) + $(counter client_mrs_local_inv)))
	checked small direct
	head -c 20000 /dev/zero >$MNT/stale
	exec 5<$MNT/stale
	on_server rm $EXPORT/stale
	! dd bs=8190 count=1 iflag=direct <&5 >/dev/null 2>&1 || die "a file that is gone could be read"
	exec 5<&-
	allocated=$(($(xprt_field 24) - allocated))
	registered=$(($(counter client_mrs_registered) - registered))
	gone=$(($(counter client_mrs_remote_inv) + $(counter client_mrs_local_inv) - gone))
	echo "$registered registrations, $gone invalidations, $allocated regions made"
	[ $registered -gt 100 ] || die "only $registered registrations"
	[ $registered = $gone ] || die "$registered registrations, but $gone invalidations"
	[ $((allocated * 5)) -lt $registered ] || die "$allocated regions for $registered registrations"
	nfs_umount
}

# moves_whole <bytes> <segments> <remote>: make 4 WRITEs and 4 READs of this size. Check that each has one chunk with
# that many segments, and that the server invalidates <remote> regions of each RPC, and the client all others.
moves_whole() {
	local registered remote ours out in
	registered=$(counter client_mrs_registered)
	remote=$(counter client_mrs_remote_inv) ours=$(counter client_mrs_local_inv)
	out=$(counter server_rdma_read_wrs) in=$(counter server_rdma_write_wrs)
	dd if=/dev/urandom of=$MNT/whole bs="$1" count=4 oflag=direct 2>/dev/null
	dd if=$MNT/whole of=/dev/shm/whole bs="$1" count=4 iflag=direct 2>/dev/null
	cmp /dev/shm/whole $EXPORT/whole || die "data differs"
	registered=$(($(counter client_mrs_registered) - registered))
	remote=$(($(counter client_mrs_remote_inv) - remote)) ours=$(($(counter client_mrs_local_inv) - ours))
	out=$(($(counter server_rdma_read_wrs) - out)) in=$(($(counter server_rdma_write_wrs) - in))
	echo "$registered regions, invalidated $remote by the server and $ours by the client; $out work requests to read, $in to write"
	[ "$registered $remote $ours" = "$((8 * $2)) $((8 * $3)) $((8 * ($2 - $3)))" ] ||
		die "not 8 chunks of $2: $registered regions, invalidated $remote by the server and $ours by the client"
	# A work request covers one segment at most, so there are at least as many work requests as segments.
	[ $out -ge $((4 * $2)) ] && [ $in -ge $((4 * $2)) ] || die "$out and $in work requests for 4 chunks each of $2 segments"
	rm $MNT/whole
}

RTX=/sys/module/rpcrdma/parameters/rdma_rtx
small_regions_end() {
	echo $UNLIMITED >$DEBUG/device_max_mr_pages
	echo 1 >$RTX
	highest 1
}

# whole_size: print the maximum size of a READ, which must be the same for a WRITE
whole_size() { sed -n "s|^[^ ]* $MNT .*[,( ]rsize=\([0-9]*\),wsize=\1[, ].*|\1|p" /proc/mounts; }

# The adapter's regions have few pages. A chunk has one segment for each region. The client's chunks have at most 16
# segments, two of which are not for the data (rpcrdma_size_client_payload()). With regions of one page, the other 14
# hold 13 pages of data, because data may begin in the middle of a page, and NFS rounds this down to a power of two,
# 8 pages. With regions of 30 pages, the server's limit applies.
# Covers: EXP-05 ULB-21 V1-CHK-09 MEM-02 MEM-10 V1-WRC-11
case_small-regions() {
	local pages size v
	[ "$MODULE" = ours ] || skip "the in-tree module has no such setting"
	knobs
	trap small_regions_end EXIT
	# Turn off the round-trip extension, because this case is about chunks.
	echo 0 >$RTX
	nfs_mount 3
	size=$(whole_size)
	nfs_umount
	[ "$size" -gt 32768 ] || die "READ and WRITE are never larger than $size: this tells nothing"
	while read -r pages size; do
		echo "$pages" >$DEBUG/device_max_mr_pages
		for v in "3 1" "3 2" "4.2 1"; do
			highest "${v#* }"
			nfs_mount "${v% *}" "$([ "${v% *}" != 3 ] || echo noacl)"
			[ "$(whole_size)" = "$size" ] || die "regions of $pages: $(grep " $MNT " /proc/mounts)"
			# In version 1, a server does not know which of several handles it may invalidate, and
			# invalidates none. NFSv4 also uses Reply chunks, which moves_whole does not expect.
			[ "${v% *}" != 3 ] ||
				moves_whole "$size" $(((size / 4096 + pages - 1) / pages)) $((${v#* } - 1))
			VERS=${v% *} checked small
			[ "$v" != "3 1" ] || VERS=3 checked direct
			[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
			nfs_umount
		done
	done <<-END
	1 32768
	30 $size
	END
}

# no_reply_unfenced: check the trace of an RPC whose invalidation has failed. sunrpc must not have got its Reply
# before the connection was closed. Then the Call must have been sent again and answered.
no_reply_unfenced() {
	awk 'match($0, /xprt_rdma_[a-z_]+: /) {
		event = substr($0, RSTART + 10, RLENGTH - 12)
		xid = match($0, /xid=0x[0-9a-f]+/) ? substr($0, RSTART + 4, RLENGTH - 4) : ""
		if (event == "fence" && !stage) { failed = xid; stage = 1 }
		else if (event == "close" && stage == 1) stage = 2
		else if (event == "send" && stage == 2 && xid == failed) stage = 3
		else if (event == "reply" && stage < 4 && xid == failed) stage = stage == 3 && / status=0/ ? 4 : 9
	} END {
		print "xid " failed ": stage " stage + 0
		exit stage != 4
	}' $TRACE/trace
}

# fails_to_invalidate <which> <lost> <operands of dd...>: make one READ or WRITE, in which local invalidation number
# <which> fails, and <lost> completions of invalidations are lost
fails_to_invalidate() {
	local before
	before=$(xprt_field 3)
	trace_begin
	fault client_lose_fence $(($2 > 0)) "$2"
	fault client_fail_inv 1 "$1"
	dd bs=32768 count=1 "${@:3}" 2>/dev/null &
	until_true 60 gone $! || die "an RPC does not end"
	wait $! || die "an RPC has failed"
	[ "$(<$DEBUG/client_fail_inv/times)" = 0 ] || die "there were not so many invalidations"
	[ "$(<$DEBUG/client_lose_fence/times)" = 0 ] || die "no completion was lost"
	# With rxe, the event xprt_rdma_mr_err does not occur, because rxe reports only that all
	# work requests were flushed.
	[ "$PROVIDER" = rxe ] || traced xprt_rdma_mr_err
	cp $TRACE/trace /lab/log/trace.invalidation
	no_reply_unfenced || die "an RPC had its Reply while its memory was not ours alone"
	trace_end
	[ "$(xprt_field 3)" = $((before + 1)) ] || die "$before connects before, $(xprt_field 3) now"
}

failed_invalidation_end() {
	fault client_fail_inv 0
	fault client_lose_fence 0
	echo $UNLIMITED >$DEBUG/device_max_mr_pages
	echo Y >/sys/module/rpcrdma/parameters/remote_invalidation
	echo 1 >/sys/module/rpcrdma/parameters/rdma_rtx
	highest 1
}

# A local invalidation fails: the only one of an RPC, or one of eight. In some rounds, the
# completion of the last of the eight, which stands for all of them, is also lost. The Reply has
# arrived, but the server could still access the memory, so the client must close the connection
# before sunrpc gets the Reply.
# Covers: V1-ERR-21
case_failed-invalidation() { unreported key failed_invalidation; }
failed_invalidation() {
	local pages which lost v
	[ "$MODULE" = ours ] || skip "the in-tree module has no such setting"
	knobs
	trap failed_invalidation_end EXIT
	echo 0 >/sys/module/rpcrdma/parameters/rdma_rtx
	echo N >/sys/module/rpcrdma/parameters/remote_invalidation
	head -c 32768 /dev/urandom >/tmp/invalidated
	while read -r v pages which lost; do
		highest "$v"
		echo "$pages" >$DEBUG/device_max_mr_pages
		nfs_mount 3 noacl
		cp /tmp/invalidated $EXPORT/invalidated
		fails_to_invalidate "$which" "$lost" if=$MNT/invalidated of=/dev/shm/invalidated iflag=direct
		cmp /dev/shm/invalidated /tmp/invalidated || die "what was read is wrong"
		fails_to_invalidate "$which" "$lost" if=/tmp/invalidated of=$MNT/written oflag=direct
		cmp /tmp/invalidated $EXPORT/written || die "what was written is wrong"
		rm $MNT/invalidated $MNT/written
		nfs_umount
	done <<-END
	1 $UNLIMITED 1 0
	1 1 1 0
	1 1 5 0
	1 1 5 1
	2 $UNLIMITED 1 0
	2 1 5 0
	2 1 5 1
	END
}

# burst <file> <bytes> <command...>: start 100 WRITEs of this size while the server's file system is
# frozen, and run the command while the WRITEs wait
burst() {
	fsfreeze -f /ice
	trap 'fsfreeze -u /ice' EXIT
	: >/tmp/at-once
	at_once "$1" "$2" 100 &
	until_true 60 grep -q begun /tmp/at-once || die "the burst does not begin"
	"${@:3}"
	trap - EXIT
	fsfreeze -u /ice
	ends 180 $! || die "a WRITE failed"
	python3 -I -S -c '
import sys
data, size = open("/ice/data", "rb").read(), int(sys.argv[1])
for i in range(100):
    assert data[size * i:size * (i + 1)] == bytes([i]) * size, f"WRITE {i}"' "$2" || die "data differs"
}

# window_full: are all credits of the client in use?
window_full() {
	local client
	client=$(echo $DEBUG/client/*)
	[ "$(field credits_in_flight "$client")" -ge "$(field credits_granted "$client")" ]
}
window_is_full() { until_true 30 window_full || die "the window does not fill: $(grep ^credits $DEBUG/client/*)"; }

# A connection begins with few Receives at either end. When many RPCs are in flight, there must be a Receive for each
# Call and each Reply. Otherwise the connection would be lost, because the module sets the RNR retry count to 0.
# Covers: V1-CRD-09 V1-CRD-10
case_receives() {
	local granted
	[ "$MODULE" = ours ] || skip "the in-tree module has all of its Receives at once"
	ice_up 1
	ice_mount vers=3,nolock
	burst $MNT/data 4096 window_is_full
	granted=$(cat /sys/kernel/debug/rpcrdma/server/* | awk '$1 == "credits_granted" && $2 > n { n = $2 } END { print n }')
	grep -H '^receives' /sys/kernel/debug/rpcrdma/{client,server}/*
	# This is more than the Receives with which either end begins.
	[ "$granted" -ge 64 ] || die "the client never had enough in flight: $granted credits"
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	umount $MNT
	ice_down
}

# in_softirq <event>: print how often the event has been recorded in softirq, and how often
# elsewhere
in_softirq() {
	awk -v name=" $1: " 'index($0, name) { match($0, /\] [^ ]+/); n[substr($0, RSTART + 4, 1) ~ /[sS]/]++ }
		END { print n[1] + 0, n[0] + 0 }' $TRACE/trace
}

# The server handles its Receives in softirq, except those of rxe, which reports completions in a worker of its own. The
# client handles its Receives in a worker.
# Covers: G-43
case_softirq() {
	local server client
	[ "$MODULE" = ours ] || skip "the in-tree module handles all completions in workers"
	trace_begin
	with_mount 4.2 dd if=/dev/zero of=$MNT/softirq bs=64k count=16 oflag=direct
	read -ra server < <(in_softirq svc_rdma_receive)
	read -ra client < <(in_softirq xprt_rdma_reply)
	trace_end
	echo "server: ${server[*]}, client: ${client[*]}"
	[ "$PROVIDER" != rxe ] || server=("${server[1]}" "${server[0]}")
	[ "${server[0]}" -ge 16 ] && [ "${server[1]}" = 0 ] || die "not as on this device"
	[ "${client[0]}" = 0 ] && [ "${client[1]}" -ge 16 ] || die "the client handles Replies in softirq, or none"
}

# room_is_short: check that Calls that have credits wait because the send queue has too few free entries for them, and
# that the entries of completed Sends and registrations become free although the server answers nothing
room_is_short() {
	local client
	until_true 60 grep -q xprt_rdma_no_sends: $TRACE/trace || die "no Call has waited for room"
	client=$(echo $DEBUG/client/*)
	echo "$(field credits_in_flight "$client") of $(field credits_granted "$client") credits are used," \
		"$(field send_queue_free "$client") entries left"
	[ "$(field credits_in_flight "$client")" -lt "$(field credits_granted "$client")" ] || die "no Call waits for room"
	until_true 20 only_regions_held "$client" || die "entries of what has completed are not free: $(cat "$client")"
}

# only_regions_held <client's file>: do the Calls that were sent hold only the entries that they
# need to invalidate their eight regions each? The queue has 128 entries, two of which are for a
# probe and for draining.
only_regions_held() {
	[ "$(field send_queue_free "$1")" = $((126 - 8 * $(field credits_in_flight "$1"))) ]
}

# window_is_wide: after some load, are there credits for more RPCs than the send queue has room for?
window_is_wide() { crowd && [ "$(field credits_granted "$(echo $DEBUG/client/*)")" -ge 20 ]; }

# Turn the keepalive on again, because an earlier case may have turned it off.
before_case() { [ "$MODULE" != ours ] || echo 10 >/sys/module/rpcrdma/parameters/keepalive_time; }

# no_probes: turn the keepalive off. It looks for completions from time to time, so it could hide
# that no other code does.
no_probes() { echo 0 >/sys/module/rpcrdma/parameters/keepalive_time; }

# The client itself invalidates the region of a READ or a WRITE, and nothing else is sent meanwhile.
# The RPC must end, although no further message arrives. If it did not end, it would time out, and
# the client would connect again.
# Covers: MEM-03
case_silent-fence() {
	local i
	[ "$MODULE" = ours ] || skip "the in-tree module has other completion queues"
	no_probes
	trap 'echo Y >/sys/module/rpcrdma/parameters/remote_invalidation' EXIT
	echo N >/sys/module/rpcrdma/parameters/remote_invalidation
	nfs_mount 3 noac
	: >$MNT/fence
	for i in 1 2 3; do
		counted client_mrs_local_inv 1 2 dd if=/dev/zero of=$MNT/fence bs=1M count=1 oflag=direct 2>/dev/null
		counted client_mrs_local_inv 1 2 dd if=$MNT/fence of=/dev/null bs=1M count=1 iflag=direct 2>/dev/null
	done
	[ "$(xprt_field 3)" = 1 ] || die "an RPC has waited for its fence: $(xprt_field 3) connects"
	nfs_umount
}

short_queue_end() {
	echo $UNLIMITED >$DEBUG/device_max_qp_wr
	echo $UNLIMITED >$DEBUG/device_max_mr_pages
}

# Send queues and Receive queues have 128 entries. A WRITE of eight regions takes 17 entries of the client's Send queue,
# so Calls wait until entries are released. The server can grant one credit for each entry of its Receive queue, except
# for 16 entries for Replies to callbacks and 11 others (rpcrdma_size_rq_spare).
# Covers: V1-CRD-27
case_short-queue() {
	[ "$MODULE" = ours ] || skip "the in-tree module has no such setting"
	knobs
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	no_probes
	ice_up 1
	echo 1 >$DEBUG/device_max_mr_pages
	echo 128 >$DEBUG/device_max_qp_wr
	trace_begin
	ice_mount vers=3,nolock
	short_queue_end
	# Get enough credits first, because a server that is stuck does not grant more.
	until_true 120 window_is_wide || die "the window does not grow"
	burst $MNT/data 32768 room_is_short
	traced xprt_rdma_no_sends
	trace_end
	[ "$(xprt_field 26)" -gt 0 ] || die "no Call has waited"
	limit credits_max $((128 - 16 - 11)) "$(echo $DEBUG/server/*)"
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	umount $MNT
	ice_down
}

getattrs() {
	local i
	for ((i = 0; i < 200; i++)); do stat -c %s $MNT/quiet >/dev/null || die "GETATTR"; done
}

quiet_read() { dd if=$MNT/quiet of=/dev/shm/quiet bs=1M iflag=direct 2>/dev/null; }
quiet_write() { dd if=/dev/shm/quiet of=$MNT/quiet bs=1M oflag=direct 2>/dev/null; }

# Calls, and Replies without RDMA Writes, cause hardly any completion events at their senders. But a
# READ or a WRITE of 1 MB must cause at least one at the server: the pages of the READ are released
# by a completion, and the Call of the WRITE is executed after the completion of an RDMA Read.
case_quiet-replies() {
	local v
	[ "$MODULE" = ours ] || skip "the in-tree module does not count events"
	head -c 1M /dev/urandom >$EXPORT/quiet
	# In version 2, the data of a WRITE could go by the round-trip extension instead of
	# RDMA Read. Turn the extension off.
	trap 'echo 1 >$RTX' EXIT
	echo 0 >$RTX
	for v in 3 4.2; do
		nfs_mount $v noac
		# Make a first Call that does not count.
		stat -c %s $MNT/quiet >/dev/null
		counted server_sends 200 $ANY counted send_events 0 8 getattrs
		counted send_events 1 $ANY quiet_read
		cmp /dev/shm/quiet $EXPORT/quiet || die "READ of v$v brings something else"
		counted send_events 1 $ANY quiet_write
		counted server_sends 200 $ANY counted send_events 0 8 getattrs
		nfs_umount
	done
}

# refuses <file> <value>: writing the value must fail with EINVAL, or with ERANGE for a number of more than 32 bits,
# and the old value must stay
refuses() {
	local was said
	was=$(<"$1")
	! said=$({ echo "$2" >"$1"; } 2>&1) || die "$1 takes $2"
	case $said in *'Invalid argument' | *'Numerical result out of range') ;; *) die "$1, $2: $said" ;; esac
	[ "$(<"$1")" = "$was" ] || die "$1 was $was, and is $(<"$1") after it has refused $2"
}

# takes <file> <value>: check that the value can be set
takes() { { echo "$2" >"$1"; } && [ "$(<"$1")" = "$2" ] || die "$1 does not take $2"; }

# Each setting in this list must have its default, accept its smallest and its largest value, and
# refuse values beyond these. (The defaults of the versions and of rdma_rtx are not checked, because
# this group sets them.)
# Covers: T-44
case_settings() {
	local file first least most was value params=/sys/module/rpcrdma/parameters
	[ "$MODULE" = ours ] || skip "the in-tree module has other ranges"
	while read -r file first least most; do
		case $file in */*) file=/proc/sys/sunrpc/$file ;; *) file=$params/$file ;; esac
		was=$(<"$file")
		[ "$first" = - ] || [ "$was" = "$first" ] || die "$file is $was, not $first"
		for value in $((least - 1)) $((most + 1)) 2000000 $((4294967296 + least)) words; do
			refuses "$file" "$value"
		done
		for value in "$least" "$most" "$was"; do takes "$file" "$value"; done
	done <<-END
	./rdma_slot_table_entries 128 2 16384
	./rdma_max_inline_read 4096 1024 65536
	./rdma_max_inline_write 4096 1024 65536
	svc_rdma/max_requests 128 4 4096
	svc_rdma/max_req_size 4096 4096 65536
	client_version - 1 2
	server_version - 1 2
	rdma_v2_inline 16384 1024 65536
	rdma_rtx - 0 1
	rdma_rtx_long_max 262144 0 1052672
	rdma_rtx_write_max 0 0 1052672
	rdma_rtx_gather 32768 0 1052672
	v2_max_req_size 16384 1024 65536
	keepalive_time 10 0 3600
	keepalive_timeout 10 1 3600
	first_receives 3 0 4096
	server_memory 0 0 524288
	review_time 10 0 3600
	END
	was=$(<$params/remote_invalidation)
	refuses $params/remote_invalidation 2
	for value in N Y "$was"; do takes $params/remote_invalidation $value; done
	was=$(<$params/rtx_pages)
	[ "$was" = 8 ] || die "rtx_pages is $was, not 8"
	for value in 1 3 5 7 9 16 -1 4294967298 words; do refuses $params/rtx_pages "$value"; done
	for value in 0 2 4 "$was"; do takes $params/rtx_pages "$value"; done
}

MEMORY=/sys/module/rpcrdma/parameters/server_memory
REVIEW=/sys/module/rpcrdma/parameters/review_time
memory_end() {
	echo 0 >$MEMORY
	echo 10 >$REVIEW
	highest 1
}
# memory <name>: a line of the file that shows the memory of the server
memory() { field "$1" $DEBUG/server_memory; }

# A server with 1 MiB for its clients grants as many credits as it has memory for. The client works
# with these, and its connection is not lost. When the server has more memory, the client gets more
# credits.
# Covers: G-39 V1-CRD-05
case_memory-credits() {
	local server had recvs
	[ "$MODULE" = ours ] || skip "the in-tree module has no such limit"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	trap memory_end EXIT
	highest 2
	[ "$(memory limit)" -gt $((16 << 20)) ] || die "the default is only $(memory limit) bytes"
	[ "$(memory held)" = 0 ] || die "nobody is connected and holds $(memory held) bytes"
	echo 1 >$MEMORY
	[ "$(memory limit)" = 1048576 ] || die "the limit is $(memory limit)"
	nfs_mount 3
	counted server_loans_refused 1 $ANY eval 'crowd; crowd'
	server=$(echo $DEBUG/server/*)
	had=$(field credits_granted "$server")
	cat $DEBUG/server_memory
	grep -E '^(credits_granted|receives|memory_held|receives_bytes) ' "$server"
	# One client may hold as much as is free, that is, half of the 1 MiB, which is enough for 8
	# Receives of 8 pages and as many Sends. But up to half of the 1 MiB is set aside for a Call that is
	# pulled. There are more Sends as long as completions are not handled.
	((had >= 2 && had <= 8)) || die "$had credits of a server with 1 MiB"
	recvs=$(field receives_bytes "$server")
	((2 * recvs <= 524288)) || die "Receives and as many Sends are $((2 * recvs)) bytes, more than half of the limit"
	[ "$(memory held)" = "$(field memory_held "$server")" ] || die "one connection does not have all that is held"
	[ "$(memory known)" = 1 ] || die "$(memory known) connections are known"
	(($(memory set_aside) >= 524288)) || die "only $(memory set_aside) bytes are set aside for a Call"
	echo 64 >$MEMORY
	# The connection asks again for memory that was refused, but only after an eighth of a
	# second.
	sleep 0.3
	counted server_loans_refused 0 0 eval 'crowd; crowd'
	(($(field credits_granted "$server") > had)) || die "still $had credits, although there is memory"
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	nfs_umount
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	until_true 10 nothing_held || die "left behind: $(cat $DEBUG/server_memory)"
}

# Four connections from one address are one client.
# Covers: G-39
case_memory-connections() {
	[ "$MODULE" = ours ] || skip "the in-tree module has no such limit"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	nfs_mount 3 nconnect=4
	crowd
	[ "$(shown server)" = 4 ] || die "$(shown server) connections, not 4"
	[ "$(memory known)" = 1 ] || die "$(memory known) clients are known"
	nfs_umount
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	until_true 10 nothing_held || die "left behind: $(cat $DEBUG/server_memory)"
}

# nothing_held: does the server hold no memory for clients, and set none aside? This may become true
# a little later than the connections' files in debugfs are removed.
nothing_held() { [ "$(memory known)$(memory held)$(memory set_aside)$(memory pages)" = 0000 ]; }

# returned <connection> <bytes> <credits>: after some Calls, one after the other, does the server's
# connection have at most so many credits, and not more than this many bytes of Receives?
returned() {
	calls 24 || die "READ fails"
	sleep 0.5
	(($(field credits_granted "$1") <= $3 && $(field credits_owed "$1") <= $3 && $(field receives_bytes "$1") <= $2))
}

returned_soon() {
	until_true 90 returned "$@" || die "still there: $(grep -E '^(receives|credits)' "$1")"
}

# If review_time is not 0, the server takes credits back from a client that sends Calls, but no
# longer needs as many credits. The server's Replies then grant fewer credits. Once the client must
# have seen such a Reply, the server does not post as many Receives as before. When the client needs
# credits again, it gets them. No connection is lost.
# Covers: G-39 V1-CRD-09
case_memory-returns() {
	local server had idle i since part
	[ "$MODULE" = ours ] || skip "the in-tree module does not take credits back"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	trap memory_end EXIT
	for i in 1 2; do
		# In version 1, the server knows the round trip from the first Calls, and with iWARP only the
		# time that the client took for them. If that was long on a busy host, it believes that the
		# client needs more credits.
		part=4
		[ $i = 2 ] || [ "$PROVIDER" = rxe ] || part=2
		highest $i
		nfs_mount 3
		head -c 4096 /dev/urandom >$MNT/calls
		server=$(echo $DEBUG/server/*)
		idle=$(field receives_bytes "$server")
		credited 32
		had=$(field receives_bytes "$server")
		echo "version $i: $idle bytes of Receives at first, $had in use for $(field credits_granted "$server") credits"
		((had > 4 * idle)) || die "the client never had many Receives"
		echo 5 >$REVIEW
		since=$SECONDS
		returned_soon "$server" $((had / part)) $((256 / part / part))
		echo "after $((SECONDS - since)) s: $(field receives_bytes "$server") bytes of Receives, for" \
			"$(field credits_granted "$server") credits"
		credited 32
		(($(field receives "$server") >= 32)) || die "there are $(field receives "$server") Receives for 32 credits"
		[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
		rm $MNT/calls
		nfs_umount
		until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	done
}

# rests <connection> <bytes>: does the connection hold no more memory than this?
rests() { (($(field memory_held "$1") <= $2)); }

# A client that makes one RPC after the other gets no more than four credits. (In version 1, the server
# estimates the need by the time that the client has taken for its first Calls. A guest may be slow
# then.) With 48 RPCs in flight it gets as many credits. In version 2, when it falls silent, the
# connection is back to at most twice the memory that it had before, within 30 seconds. In version 1,
# credits come back only if the client sends Calls (case memory-returns).
# Covers: G-39
case_credits-by-need() {
	local server idle busy i most=(0 64 4)
	[ "$MODULE" = ours ] || skip "the in-tree module does not grant by need"
	trap memory_end EXIT
	for i in 1 2; do
		until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
		highest $i
		nfs_mount 3
		head -c 4096 /dev/urandom >$MNT/calls
		server=$(echo $DEBUG/server/*)
		calls 200 || die "READ fails"
		calls 200 || die "READ fails"
		(($(field credits_granted "$server") <= most[i])) || die "version $i: $(field credits_granted "$server") credits for one RPC after the other"
		idle=$(field memory_held "$server")
		credited 48
		echo 10 >$REVIEW
		busy=$(field memory_held "$server")
		echo "version $i: $idle bytes for one RPC after the other, $busy for $(field credits_granted "$server") credits"
		if [ $i = 2 ]; then
			((busy > 2 * idle)) || die "the client never had much memory"
			until_true 31 rests "$server" $((2 * idle)) || die "after 30 s of silence: $(cat "$server")"
			echo "silent: $(field memory_held "$server") bytes, $(field credits_granted "$server") credits, $(field receives "$server") Receives"
			credited 48
		fi
		[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
		rm $MNT/calls
		nfs_umount
	done
}

# pulled: print what the server holds, until it has held the same number of bytes for a second
pulled() {
	local held last=-1
	until held=$(memory held) && [ "$held" = "$last" ]; do
		last=$held
		sleep 1
	done
	grep -H . $DEBUG/server_memory
}

# A hundred WRITEs of half a megabyte each are in flight on eight connections of a server with 20 MiB,
# whose storage does not move for a while. All come to their end. The eight connections belong to one
# client, for which the server never pins more than half of its limit. (The full case, 1,000
# connections with 16 WRITEs of 1 MiB each and 2,200 MiB, is the unit test svc_rdma_budget_holds.)
# Covers: G-39
case_memory-writes() {
	local most watch lost
	[ "$MODULE" = ours ] || skip "the in-tree module has no such limit"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	trap memory_end EXIT
	# A thread pulls a Call, and then waits for the storage.
	ice_up 100
	ice_mount vers=3,nolock,nconnect=8,wsize=524288
	crowd
	lost=$(counter server_disconnects)
	echo 20 >$MEMORY
	rm -f /tmp/held
	while sleep 0.02; do memory held; done >/tmp/held &
	watch=$!
	burst $MNT/data 524288 pulled
	kill $watch
	most=$(sort -n /tmp/held | tail -n 1)
	echo "at most $most bytes were held of $(memory limit), with $(shown server) connections"
	((most <= 10 << 20)) || die "$most bytes were held"
	((most > 8 << 20)) || die "only $most bytes were held"
	[ "$(counter server_disconnects)" = "$lost" ] || die "a connection was lost"
	umount $MNT
	ice_down
	memory_end
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	until_true 10 nothing_held || die "left behind: $(cat $DEBUG/server_memory)"
}

# callbacks_reviewed <connection>: after some Calls, does the connection have only one Receive for
# answers to callbacks?
callbacks_reviewed() {
	head -c 4096 /dev/urandom >$MNT/calls || die "WRITE fails"
	calls 8 || die "READ fails"
	sleep 1.2
	[ "$(field callback_receives "$1")" = 1 ]
}

# recalls_at_once <connection>: recall twelve delegations. Were there two recalls at once, so that they needed two
# Receives?
recalls_at_once() {
	recalls
	(($(field callback_receives "$1") > 1))
}

# A connection with a backchannel first has one Receive for answers to callbacks. When several
# callbacks are sent at once, the connection gets more, up to 16. The next reviews (review_time) take
# these away again. All callbacks are answered.
# Covers: BC-08 G-39
case_callback-receives() {
	local server
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its Receives"
	[ "$KERNEL" = 7.3 ] || skip "nfsd of older kernels sends a client one callback at a time"
	trap memory_end EXIT
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	echo 0 >$REVIEW
	nfs_mount 4.2
	server=$(echo $DEBUG/server/*)
	limit callback_receives 1 "$server"
	counted server_bc_calls 12 $ANY recalls
	(($(field callback_receives "$server") > 1)) || until_true 60 recalls_at_once "$server" ||
		die "again and again twelve recalls, and no more Receives for the answers"
	grep -E '^(callback_receives|receives|receives_bytes) ' "$server"
	(($(field callback_receives "$server") <= 16)) || die "more than 16 Receives for the answers"
	echo 1 >$REVIEW
	until_true 60 callbacks_reviewed "$server" || die "still $(field callback_receives "$server") Receives"
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	nfs_umount
}

trimmed_soon() {
	until_true 30 few_idle "$1" || die "after 30 s: $(field idle_sends "$1") idle Sends"
}

# few_idle <connection>: are at most two Sends of the connection idle? crowded <connection>: are more than four idle
# after many Calls at once?
few_idle() { (($(field idle_sends "$1") <= 2)); }
crowded() {
	crowd || return
	(($(field idle_sends "$1") > 4))
}

# If a client is silent, the server frees the idle Sends of its connection, except two. If memory is
# short, the server does this at once.
# Covers: G-39
case_sends-trimmed() {
	local server
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its Sends"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	nfs_mount 3
	server=$(echo $DEBUG/server/*)
	until_true 30 crowded "$server" || die "48 processes leave $(field idle_sends "$server") idle Sends"
	counted server_sends_trimmed 3 $ANY eval 'echo 2 >/proc/sys/vm/drop_caches'
	few_idle "$server" || die "$(field idle_sends "$server") idle Sends after the caches were dropped"
	until_true 30 crowded "$server" || die "48 processes leave $(field idle_sends "$server") idle Sends"
	counted server_sends_trimmed 3 $ANY trimmed_soon "$server"
	crowd
	[ "$(xprt_field 3)" = 1 ] || die "the connection was lost: $(xprt_field 3) connects"
	nfs_umount
}

# in_stock: print how many bytes of pages the server keeps for RDMA Reads
in_stock() { awk '$1 == "stock" { print $2 }' $DEBUG/server_memory; }

none_in_stock() { [ "$(in_stock)" = 0 ]; }

write_16m() { dd if=/dev/urandom of=$MNT/stock bs=1M count=16 conv=notrunc oflag=direct status=none || die "WRITE fails"; }

# For most of a WRITE of a megabyte, RDMA Reads use pages that earlier WRITEs have left. The server
# frees such pages when memory is short, and when no WRITE has needed them for some time.
# Covers: G-41
case_pages-in-stock() {
	local before
	[ "$MODULE" = ours ] || skip "the in-tree module keeps no pages"
	nfs_mount 4.2
	# Earlier cases may have left pages.
	echo 2 >/proc/sys/vm/drop_caches
	counted server_pages_allocated 1 $ANY write_16m
	before=$(counter server_pages_allocated)
	counted server_pages_reused $((16 * 192)) $((16 * 256)) write_16m
	[ "$(grown server_pages_allocated "$before")" -le $((16 * 64)) ] || die "a quarter was allocated anew"
	[ "$(in_stock)" -ge 1048576 ] || die "only $(in_stock) bytes are kept"
	echo 2 >/proc/sys/vm/drop_caches
	none_in_stock || die "$(in_stock) bytes are kept after the caches were dropped"
	counted server_pages_allocated 1 $ANY write_16m
	none_in_stock && die "nothing is kept"
	until_true 30 none_in_stock || die "$(in_stock) bytes are kept after 30 s"
	nfs_umount
}

limits_end() {
	echo 128 >/proc/sys/sunrpc/svc_rdma/max_requests
	echo 4096 >/proc/sys/sunrpc/svc_rdma/max_req_size
	set_inline 4096
}

# limit <name> <value> <file>: check that the connection's file in debugfs has this value
limit() { [ "$(field "$1" "$3")" = "$2" ] || die "$1 is $(field "$1" "$3"), not $2: $(cat "$3")"; }

# The limits that are set at the server apply to a client's connection, and no connection is lost.
# Covers: V1-CRD-05 V1-CRD-18 BC-08
case_limits() {
	local client server
	[ "$MODULE" = ours ] || skip "the in-tree module does not show its limits"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	trap limits_end EXIT
	echo 4 >/proc/sys/sunrpc/svc_rdma/max_requests
	echo 8192 >/proc/sys/sunrpc/svc_rdma/max_req_size
	set_inline 16384
	nfs_mount 4.2
	crowd
	client=$(echo $DEBUG/client/*) server=$(echo $DEBUG/server/*)
	limit credits_max 4 "$server"
	limit credits_granted 4 "$server"
	limit credits_granted 4 "$client"
	limit callback_receives 1 "$server"
	# For inline sizes, the smaller of the two settings applies.
	limit inline_send 8192 "$client"
	limit inline_recv 8192 "$client"
	limit inline_send 8192 "$server"
	limit inline_recv 8192 "$server"
	[ "$(xprt_field 3)" = 1 ] || die "$(xprt_field 3) connects"
	checked small
	# A changed setting applies to new connections.
	limits_end
	limit credits_max 4 "$server"
	limit inline_send 8192 "$client"
	nfs_umount
	until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	nfs_mount 4.2
	limit credits_max 128 "$(echo $DEBUG/server/*)"
	limit callback_receives 1 "$(echo $DEBUG/server/*)"
	limit inline_send 4096 "$(echo $DEBUG/client/*)"
	nfs_umount
}

# There are two slots for 48 threads. The other threads wait in sunrpc's backlog, and get a slot later.
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

# If no host has the address, or there is no listener at the port, mounting fails within a minute, and no transport is
# left.
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

# hold_ports <listen|connect> <port>...: let TCP sockets use these ports until $HOLDER is killed.
# Each socket is bound to one of the ports. With "listen", it listens there, and no other socket can
# be bound to the port. With "connect", it is connected to port $PORT of the server, and no other
# socket can connect to $PORT from the same port.
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

# ports_met: how many attempts to connect have met a port in use since trace_begin?
ports_met() { grep -c ' xprt_rdma_port_in_use: ' $TRACE/trace || true; }

let_ports_go() {
	kill $HOLDER
	wait $HOLDER 2>/dev/null || true
}

# users_are <number> <port>: does the module have at most this many users, and is the port no longer
# used by TCP?
users_are() { [ "$(</sys/module/rpcrdma/refcnt)" -le "$1" ] && [ -z "$(ss -Htan "sport = :$2")" ]; }

# siw uses the source port that the RDMA connection manager has chosen, but TCP may use that port
# already. Here only two ports can be chosen, and the connection manager never chooses the same one
# twice in a row. If TCP uses one of them, each mount ends with the other one. So each mount after
# the first meets the port in use first, and then tries the other port. If neither port is free, a
# soft mount fails, but a hard mount waits, and succeeds when a port is free again.
case_port-in-use() {
	local i used users t0 errors mounting mountd port=50100
	[ "$PROVIDER" = siw ] || skip "$PROVIDER has no such ports"
	[ "$MODULE" = ours ] || skip "the in-tree module fails the mount"
	until_true 30 nobody_shown || die "a transport is left: $(ls $DEBUG/client $DEBUG/server)"
	RANGE=$(</proc/sys/net/ipv4/ip_local_port_range) WAITING=$(</proc/sys/net/ipv4/tcp_max_tw_buckets)
	trap ports_as_before EXIT
	mountd=$(rpcinfo -p $SERVER | awk '$1 == 100005 && $2 == 3 && $3 == "tcp" { print $4; exit }')
	[ "$mountd" ] || die "where is mountd?"
	# Without TIME_WAIT, a port is free as soon as its connection has ended.
	echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
	echo "$port $((port + 1))" >/proc/sys/net/ipv4/ip_local_port_range

	trace_begin
	hold_ports listen $port
	users=$(</sys/module/rpcrdma/refcnt)
	errors=$(counter client_connect_errors)
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
	used=$(ports_met)
	echo "6 mounts met the port that is in use $used times"
	[ $used -ge 5 ] || die "6 mounts met the port that is in use only $used times"
	[ "$(counter client_connect_errors)" = "$errors" ] || die "an attempt to connect failed"
	let_ports_go

	hold_ports listen $port $((port + 1))
	t0=$SECONDS
	! timeout 100 mount -t nfs -o "proto=rdma,port=$PORT,vers=4.2,retry=0,soft,timeo=30,retrans=1" $SERVER:/ $MNT ||
		die "mounted without a port"
	echo "no mount after $((SECONDS - t0)) s"
	[ $((SECONDS - t0)) -lt 60 ] || die "no end after $((SECONDS - t0)) s"
	[ "$(counter client_connect_errors)" -gt "$errors" ] || die "it was not for want of a port"
	used=$(($(ports_met) - used))
	trace_end
	errors=$(($(counter client_connect_errors) - errors))
	[ $used = $((8 * errors)) ] || die "$errors attempts met a port in use $used times, not 8 times each"
	until_true 30 eval '[ -z "$(ls /sys/kernel/debug/rpcrdma/client)" ]' ||
		die "a transport is left: $(ls /sys/kernel/debug/rpcrdma/client)"

	# mount -i does not use the helper mount.nfs, which would itself need a free port to contact
	# mountd.
	errors=$(counter client_connect_errors)
	mount -i -t nfs -o "addr=$SERVER,proto=rdma,port=$PORT,vers=3,nolock,mountproto=tcp,mountport=$mountd" $SERVER:$EXPORT $MNT &
	mounting=$!
	until_true 60 attempt_failed "$errors" || die "nobody tries to connect"
	let_ports_go
	wait $mounting || die "the mount did not wait for a port"
	VERS=3 checked small
	nfs_umount
}

# A mount without the option port= uses the well-known port 20049 for NFS. It does not ask rpcbind
# for this port. (Here rpcbind has no entry for NFS over RDMA.)
# Covers: RPB-02 RPB-05
case_default-port() {
	local v pid
	! rpcinfo 2>/dev/null | grep rdma || die "rpcbind knows netid rdma"
	for v in 3 4.2; do
		tcpdump -Z root -i any -U --immediate-mode -w /tmp/asked.pcap port 111 2>/tmp/asked.err &
		pid=$!
		until_true 20 grep -q listening /tmp/asked.err || die "tcpdump: $(cat /tmp/asked.err)"
		mount -t nfs -o "proto=rdma,vers=$v,nolock" "$SERVER:$([ $v = 3 ] && echo $EXPORT || echo /)" $MNT
		nap 1
		kill $pid
		wait $pid || true
		# NFSv3 asks for the port of the mount protocol, which shows that the capture works.
		case $v/$(tcpdump -r /tmp/asked.pcap 2>/dev/null | wc -l) in
		3/0) die "mounting NFSv3 is not seen to ask rpcbind: this tells nothing" ;;
		3/* | 4.2/0) ;;
		*) die "mounting NFSv4 asks rpcbind: $(tcpdump -r /tmp/asked.pcap 2>/dev/null)" ;;
		esac
		grep -q " $MNT .*[,( ]port=20049[, ]" /proc/mounts || die "not port 20049: $(grep " $MNT " /proc/mounts)"
		xprt_line | grep -q '^rdma ' || die "no RDMA transport"
		nfs_umount
	done
}

# Locks of NFSv3 use another protocol (NLM), over TCP.
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

# The connection is broken while the client has a delegation. The client reconnects to renew its lease, and the recall
# comes over the new connection.
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
	# An earlier group may have excluded the client.
	tune N $d/ignore-client-disconnect
	echo 1 >$d/times
	until_true 40 connects_above "$before" || die "the connection has not been restored"
	echo 0 >$d/times
	# The server gives up a recall that it sends before the client has bound the new connection to its session.
	until_true 60 on_server callbacks_up || die "the backchannel has not been restored"
	remote_writer
}

# Each Receive, Send and memory region can be followed in a trace, at both ends (cids.py). The data of WRITEs go by RDMA
# Read. On the second mount, remote invalidation is off, so the client invalidates its regions itself.
case_completion-ids() {
	local v lossy=()
	[ "$MODULE" = ours ] || skip "these are our module's events"
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	[ "$PROVIDER" != siw ] || lossy=(--lossy)
	trap 'echo Y >/sys/module/rpcrdma/parameters/remote_invalidation' EXIT
	trace_begin
	for v in 3 4.2; do
		nfs_mount $v
		dd if=/dev/urandom of=$MNT/cids bs=64k count=4 oflag=direct 2>/dev/null || die "WRITE of v$v"
		dd if=$MNT/cids of=/dev/shm/cids bs=64k iflag=direct 2>/dev/null || die "READ of v$v"
		cmp /dev/shm/cids $EXPORT/cids || die "READ of v$v brings something else"
		nfs_umount
		until_true 30 nobody_shown || die "connections stay: $(ls $DEBUG/client $DEBUG/server)"
		echo N >/sys/module/rpcrdma/parameters/remote_invalidation
	done
	traced rpcrdma_recv_post xprt_rdma_mr_local_inv xprt_rdma_mr_remote_inv
	python3 -I -S -B "$TOP/scripts/tests/analysers/cids.py" $TRACE/trace "${lossy[@]}" || die "not each can be followed"
	trace_end
}

group() {
	alone_up
	run_all_cases
	group_end
}
