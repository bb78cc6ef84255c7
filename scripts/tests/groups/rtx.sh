# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The round-trip extension of version 2: long Calls and long Replies in several Sends; client and server
# in one guest.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"
CLIENT=/proc/sys/sunrpc
SERVE=/proc/sys/sunrpc/svc_rdma

# Whatever the case before has left
before_case() {
	highest 2
	inline_of 16384
	echo 1 >$CLIENT/rdma_rtx
	echo 262144 >$CLIENT/rdma_rtx_long_max
	echo 65536 >$CLIENT/rdma_rtx_stream_max
}

# inline_of <bytes>: a Send of either end, from the next connection on
inline_of() {
	echo "$1" >$CLIENT/rdma_v2_inline
	echo "$1" >$SERVE/v2_max_req_size
}

# A mount on which nothing goes wrong
sound() {
	counted client_v2_connects 1 99 counted client_error_replies 0 0 counted client_bad_replies 0 0 \
		counted groups_broken 0 0 counted group_strays 0 0 counted server_reply_too_large 0 0 with_mount "$@"
}

# written <bytes> <how many>: each by one WRITE; the server has what was written
written() {
	head -c $(($1 * $2)) /dev/urandom >/tmp/written
	dd if=/tmp/written of="$MNT/written" bs="$1" oflag=direct conv=notrunc 2>/tmp/dd.err ||
		die "writing: $(cat /tmp/dd.err)"
	cmp -n $(($1 * $2)) /tmp/written $EXPORT/written || die "the server has something else"
}

# in_sends <Sends> <bytes>: four WRITEs of that size are groups of so many Sends, and register nothing
in_sends() {
	counted client_calls_group 4 4 counted client_group_sends $((4 * $1)) $((4 * $1)) \
		counted client_calls_read_chunk 0 0 counted client_mrs_registered 0 0 written "$2" 4
}

# The server grants few credits at first, and more as it sees what for (RTX-83).
more_credits() {
	: >"$MNT/written"
	written 65536 16
}

writes() {
	more_credits
	counted client_calls_group 0 0 counted client_calls_read_chunk 0 0 written 16000 4
	in_sends 2 16384
	in_sends 3 32768
	in_sends 5 65536
	# Above that, the server reads it.
	counted client_calls_group 0 0 counted client_calls_read_chunk 4 4 written 69632 4
}

# Covers: RTX-31 RTX-41 RTX-42 RTX-43 RTX-62 RTX-74 RTX-95
case_rtx-write() { sound 3 writes; }

sizes() {
	local size
	for size in 1 4095 4096 4097 16383 16385 28671 28672 28673 32767 65535 65536 65537 200001; do
		head -c $size /dev/urandom >/tmp/size
		cp /tmp/size "$MNT/size.$size"
		cmp /tmp/size "$EXPORT/size.$size" || die "$size bytes: the server has something else"
		echo 3 >/proc/sys/vm/drop_caches
		cmp /tmp/size "$MNT/size.$size" || die "$size bytes: what is read is not what was written"
	done
}

# Covers: RTX-43 RTX-45 RTX-46
case_rtx-sizes() {
	counted client_calls_group 1 $ANY sound 3 sizes
	counted client_calls_group 1 $ANY sound 4.2 sizes
	inline_of 1024
	counted client_calls_group 1 $ANY sound 3 sizes
}

# Everything that the checker does, with long names, ACLs and extended attributes. Small Sends make many things long.
# Covers: RTX-97
case_rtx-all-v3() {
	inline_of 4096
	SCALE=0.3 counted client_calls_group 1 $ANY counted client_replies_group 1 $ANY \
		sound 3 checked names dir data mmap direct acl
}
case_rtx-all-v42() {
	inline_of 4096
	SCALE=0.3 counted client_calls_group 1 $ANY counted client_replies_group 1 $ANY \
		sound 4.2 checked names dir data mmap direct acl xattr
}

entries() {
	mkdir "$MNT/entries.rtx"
	on_server python3 -I -S -c '
import os, sys
for n in range(3000):
    open(os.path.join(sys.argv[1], "entry-%04d-%s" % (n, "x" * 40)), "w").close()' $EXPORT/entries.rtx
	counted client_replies_group 1 $ANY counted client_group_recvs 2 $ANY \
		counted client_group_replies 1 $ANY there 3000
	rm -rf "$MNT/entries.rtx"
}

there() { [ "$(find "$MNT/entries.rtx" -mindepth 1 | wc -l)" = "$1" ] || die "not all entries"; }

# Covers: RTX-65 RTX-66 RTX-68 RTX-76 RTX-98
case_rtx-readdir() {
	sound 3 entries
	sound 4.2 entries
}

# What people can see of it
case_rtx-seen() {
	trace_begin
	sound 3 entries
	traced rpcrdma_group "xprt_rdma_marshal: reply=group" "xprt_rdma_marshal: recvs=[2-8]"
	trace_end
}

links() {
	local text
	more_credits
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	counted client_calls_group 1 1 counted client_calls_long 0 0 counted client_calls_read_chunk 0 0 \
		ln -s "$text" "$MNT/long"
	[ "$(on_server readlink $EXPORT/long)" = "$text" ] || die "the server has another link"
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(readlink "$MNT/long")" = "$text" ] || die "another link"
	rm "$MNT/long"
}

# Covers: RTX-95 RTX-97
case_rtx-symlink() {
	inline_of 2048
	sound 3 links
	sound 4.2 links
}

# What was switched off is not said and not sent; nor is anything of it in version 1.
plain() {
	more_credits
	counted client_calls_read_chunk 4 4 written 32768 4
}

# Covers: RTX-31 RTX-32 RTX-103
case_rtx-off() {
	echo 0 >$CLIENT/rdma_rtx
	counted client_calls_group 0 0 counted client_replies_group 0 0 counted groups_received 0 0 sound 3 plain
	echo 1 >$CLIENT/rdma_rtx
	echo 0 >$CLIENT/rdma_rtx_stream_max
	echo 0 >$CLIENT/rdma_rtx_long_max
	counted client_group_sends 0 99 sound 3 plain
	before_case
	echo 1 >$CLIENT/rdma_version
	counted client_calls_group 0 0 counted client_replies_group 0 0 counted groups_received 0 0 with_mount 3 plain
}

many() {
	local n
	for n in 1 2 3 4 5 6 7 8; do
		(
			head -c 4000000 /dev/urandom >/tmp/many.$n
			dd if=/tmp/many.$n of="$MNT/many.$n" bs=65536 oflag=direct 2>/dev/null || exit 1
			cmp /tmp/many.$n $EXPORT/many.$n && dd if="$MNT/many.$n" bs=65536 iflag=direct 2>/dev/null | cmp - /tmp/many.$n
		) &
	done
	for n in 1 2 3 4 5 6 7 8; do
		wait -n || die "what is read is not what was written"
	done
	rm "$MNT"/many.*
}

# Many at once: credits are short for some of them, and all get through.
# Covers: RTX-75 RTX-78 RTX-79
case_rtx-many() { counted client_calls_group 1 $ANY sound 4.2 many; }

group() {
	alone_up 2
	# The group before may have done it.
	[ -e $EXPORT/entries ] || python3 -I -S "$CHECK" provide $EXPORT
	run_all_cases
	before_case
	group_end
}
