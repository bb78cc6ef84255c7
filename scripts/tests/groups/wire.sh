# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Capture messages of every form between two guests. The host then reads the capture with wire.py, or with iwarp.py for
# siw. The names of the cases that these programs report begin with the words in the "Also" lines below. Names that
# begin with wire2 are about version 2.
# Guests: pair
# Capture: yes
# Limit: 2400
# Also: wire-decode
# Also: wire-rules
# Also: wire-form
# Also: wire-all-decoded
# Also: wire2-decode
# Also: wire2-rules
# Also: wire2-form
. "$TOP/scripts/tests/cases.sh"

# Together, these cases make Read, Write and Reply chunks, long Calls (for ACLs and extended
# attributes), and long Replies.
case_wire-traffic-v3() { with_mount 3 v3_traffic; }
case_wire-traffic-v40() { with_mount 4.0 checked small; }
case_wire-traffic-v42() { with_mount 4.2 v42_traffic; }
case_wire-backchannel() { delegation 4.2 remote_writer; }

v3_traffic() {
	checked small acl names
	odd_reads
	odd_links
	failing_read
}

v42_traffic() {
	checked small names xattr
	odd_reads
}

# odd_links: make short results whose length needs XDR roundup. They are inline in version 2, and in
# Reply chunks in version 1.
odd_links() {
	local link
	for link in a abcde abcdefg; do
		ln -s $link "$MNT/odd-link"
		echo 3 >/proc/sys/vm/drop_caches
		[ "$(readlink "$MNT/odd-link")" = $link ] || die "the link to $link"
		rm "$MNT/odd-link"
	done
}

# odd_reads: make READs of lengths that need XDR roundup, and that are too long for inline Replies
odd_reads() {
	local n
	head -c 100003 /dev/urandom >"$MNT/odd-reads"
	for n in 5001 8190 65537; do
		dd if="$MNT/odd-reads" of=/tmp/odd-reads bs=$n iflag=direct 2>/tmp/dd.err || die "reading by $n: $(cat /tmp/dd.err)"
		cmp "$MNT/odd-reads" /tmp/odd-reads || die "reading by $n"
	done
	rm -f "$MNT/odd-reads"
}

# The server removes a file that the client has open. A READ then fails, so its Write chunk gets no data.
failing_read() {
	head -c 20000 /dev/zero >"$MNT/stale"
	exec 5<"$MNT/stale"
	on_server rm $EXPORT/stale
	! dd bs=8192 count=1 iflag=direct <&5 >/dev/null 2>/tmp/dd.err || die "a file that is gone could be read"
	exec 5<&-
	grep -q 'Stale' /tmp/dd.err || die "not the error expected: $(cat /tmp/dd.err)"
}

# rules_of_roce: skip the case unless the provider is rxe. Its rule is checked by wire.py, which
# reads RoCE captures only.
rules_of_roce() { [ "$PROVIDER" = rxe ] || skip "this is judged by what RoCE captures say"; }

crowd_and_break() {
	local d=/sys/kernel/debug/fail_sunrpc before
	crowd || die "what is read is not what was written"
	before=$(xprt_field 3)
	tune 100 $d/probability
	tune 1 $d/interval
	tune Y $d/ignore-cache-wait
	tune Y $d/ignore-server-disconnect
	echo 1 >$d/times
	crowd || die "what is read after the connection broke is not what was written"
	[ "$(xprt_field 3)" -gt "$before" ] || die "the connection was not broken"
}

case_wire-window() {
	rules_of_roce
	on_server tune 8 /proc/sys/sunrpc/svc_rdma/max_requests
	with_mount 3 crowd
	on_server tune 128 /proc/sys/sunrpc/svc_rdma/max_requests
}

# The connection is lost. On the next one, the client has only one credit until the first Reply.
case_wire-window-lost() {
	rules_of_roce
	[ -d /sys/kernel/debug/fail_sunrpc ] || skip "this kernel has no CONFIG_FAIL_SUNRPC"
	on_server tune 8 /proc/sys/sunrpc/svc_rdma/max_requests
	with_mount 3 crowd_and_break
	on_server tune 128 /proc/sys/sunrpc/svc_rdma/max_requests
}

# The client begins with version 2, and the server refuses it. The same connection continues with version 1.
case_wire-fallback() {
	local n
	n=$(counter client_fallbacks)
	highest 2
	on_server highest 1
	with_mount 3 checked small
	highest 1
	[ "$(($(counter client_fallbacks) - n))" = 1 ] || die "the client has not fallen back once"
}

# on_2 <command...>: run the command in version 2, with inline sizes so small that messages of every form occur, and
# without the round-trip extension, which would replace some chunks
RTX=/sys/module/rpcrdma/parameters/rdma_rtx
pages_now() { [ ! -e $PAGES ] || echo "$(<$PAGES)"; }
on_2() {
	local pages
	pages=$(on_server pages_now)
	on_server tune 0 $PAGES
	highest 2
	[ ! -e $RTX ] || echo 0 >$RTX
	on_server highest 2
	echo 4096 >/sys/module/rpcrdma/parameters/rdma_v2_inline
	on_server tune 4096 /sys/module/rpcrdma/parameters/v2_max_req_size
	"$@"
	on_server tune "$pages" $PAGES
	[ ! -e $RTX ] || echo 1 >$RTX
	highest 1
}

# in_groups <command...>: run the command with the round-trip extension, which on_2 has switched off
in_groups() {
	echo 1 >$RTX
	"$@"
}

# groups_traffic: make Calls and Replies of more than 4096 bytes, which are sent in several Sends
groups_traffic() {
	local n
	# Get enough credits first. With few credits, a Call would use chunks.
	credited 32
	head -c 65536 /dev/urandom >/tmp/groups
	for n in 5001 16384 20001 65536; do
		dd if=/tmp/groups of="$MNT/groups.$n" bs=$n count=1 oflag=direct 2>/tmp/dd.err || die "writing $n: $(cat /tmp/dd.err)"
		head -c $n /tmp/groups >/lab/groups
		on_server cmp /lab/groups "$EXPORT/groups.$n" || die "the server has something else of $n bytes"
	done
	# Read a large directory: later READDIRs ask for more bytes than the first, so their
	# Replies are long.
	on_server python3 -I -S -c '
import os, sys
where = sys.argv[1] + "/groups.d"
os.mkdir(where)
for i in range(2000):
    os.close(os.open(f"{where}/{i:060}", os.O_CREAT))' $EXPORT
	python3 -I -S -c '
import os, sys
where = sys.argv[1]
assert len(list(os.scandir(where + "/groups.d"))) == 2000
value = os.urandom(20000)
os.setxattr(where + "/groups.5001", "user.groups", value)
assert os.getxattr(where + "/groups.5001", "user.groups") == value' "$MNT"
}

case_wire2-traffic-v3() { on_2 with_mount 3 v3_traffic; }
case_wire2-traffic-v42() { on_2 with_mount 4.2 v42_traffic; }
# In a READDIR, the client asks for at most rsize bytes. With this rsize, the Reply fits into the
# Receives that a Call may offer for it.
case_wire2-groups() { MOUNT_OPTS=rsize=16384 on_2 in_groups with_mount 4.2 groups_traffic; }
# Send groups to a server whose Receives have targets (rtx.rst). These Receives are about seven
# times as large as the client's inline size.
case_wire2-placed() { MOUNT_OPTS=rsize=16384 on_2 in_groups into_targets with_mount 3 placed_traffic; }
# into_targets <command...>: run the command while the server has 8 pages in each Receive. on_2 restores the number of
# pages.
into_targets() {
	on_server tune 8 $PAGES
	"$@"
}
placed_traffic() {
	local n before
	credited 32
	before=$(counter client_calls_placed)
	head -c 65537 /dev/urandom >/tmp/placed
	for n in 8191 8192 8193 28672 28673 65536; do
		dd if=/tmp/placed of="$MNT/placed.$n" bs=$n count=1 oflag=direct 2>/tmp/dd.err || die "writing $n: $(cat /tmp/dd.err)"
		head -c $n /tmp/placed >/lab/placed
		on_server cmp /lab/placed "$EXPORT/placed.$n" || die "the server has something else of $n bytes"
	done
	before=$(($(counter client_calls_placed) - before))
	[ $before -ge 5 ] || die "only $before WRITEs were placed"
}
case_wire2-backchannel() { on_2 delegation 4.2 remote_writer; }

late_replies() { [ "$(counter client_late_replies)" -ge "$1" ]; }

# Processes are killed while the server executes their RPCs. The client must not use the credits of
# these RPCs again before the server has answered the RPCs. wire.py checks this in the capture.
case_wire-given-up() {
	local i n pids=()
	rules_of_roce
	on_server tune 8 /proc/sys/sunrpc/svc_rdma/max_requests
	on_server ice_up 16
	nfs_mount 3
	mkdir -p /mnt2
	mount -t nfs -o "proto=rdma,port=$PORT,vers=3,nolock" $SERVER:/ice /mnt2
	touch /mnt2/file{1..5}
	# If no credit were left, the client would reconnect. So get more credits than there will be killed processes.
	credited 6
	n=$(counter client_given_up)
	on_server fsfreeze -f /ice
	for i in 1 2 3 4 5; do
		chmod 600 /mnt2/file$i &
		pids+=($!)
	done
	until_true 30 on_server threads_stuck 5 || die "the server is not at work on 5 RPCs"
	kill -KILL "${pids[@]}"
	wait "${pids[@]}" || true
	n=$(($(counter client_given_up) - n))
	crowd
	on_server fsfreeze -u /ice
	[ $n -ge 4 ] || die "only $n RPCs were given up"
	until_true 20 late_replies $n || die "the Replies to RPCs that were given up have not come"
	crowd
	umount /mnt2
	nfs_umount
	on_server ice_down
	on_server tune 128 /proc/sys/sunrpc/svc_rdma/max_requests
}

# Several delegations are recalled at once.
case_wire-recalls() {
	rules_of_roce
	nfs_mount 4.2
	recalls
	[ "$(counter client_bc_dropped)" = 0 ] || die "more callbacks came than were granted"
	nfs_umount
}

group() {
	pair_up
	pair_cases true
}
