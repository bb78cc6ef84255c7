# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# NFS of every version over the module, client and server in one guest.
# Guests: alone
# Limit: 2400
# Foreign: all
. "$TOP/scripts/tests/cases.sh"

# bounded <command...>: run the command. At least 10 Replies must be long, and the client must have
# provided enough room for each Reply: the server must count none as too large, and the client no
# error and no bad Reply.
bounded() {
	[ "$MODULE" = ours ] || { "$@"; return; }
	counted server_reply_too_large 0 0 counted client_error_replies 0 0 counted client_bad_replies 0 0 \
		counted client_replies_long 10 $ANY "$@"
}

# Sections of nfscheck.py: names and dir have long Replies (symlinks of 4,095 bytes, a directory
# with 5,000 entries). data and direct have odd lengths and offsets. acl and xattr have long
# arguments and results that are not DDP-eligible. One mount serves all sections of a version of
# NFS, because mounting and starting nfscheck.py takes longer here than its checks.
# Covers: ULB-10
# between: print the factor for the amount of data in NFS versions 4.0 and 4.1. It is 1 in make test-all.
between() { [ -n "${ALL:-}" ] && echo 1 || echo 0.3; }
case_v3() { bounded with_mount 3 checked names dir data mmap direct acl; }
case_v40() { SCALE=$(between) bounded with_mount 4.0 checked names dir data mmap direct acl; }
case_v41() { SCALE=$(between) bounded with_mount 4.1 checked names dir data mmap direct acl; }
case_v42() { bounded with_mount 4.2 checked names dir data mmap direct acl xattr; }

# acl <set|get> <file>: set an ACL of 310 entries, or check that the file has it. The ACL is longer
# than the inline size that case_long-messages() sets.
acl() {
	python3 -I -S -c '
import os, struct, sys
how, path = sys.argv[1:]
name, undef = "system.posix_acl_access", 0xffffffff
entries = [(1, 6, undef)] + [(2, 4, 5000 + i) for i in range(306)] + [(4, 4, undef), (16, 6, undef), (32, 4, undef)]
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)
if how == "set":
    os.setxattr(path, name, acl)
elif os.getxattr(path, name) != acl:
    sys.exit("FAIL: another ACL")' "$1" "$2"
}

entries_there() { [ "$(find "$MNT/entries" -mindepth 1 | wc -l)" = 5000 ]; }

# The text of a symlink is DDP-eligible: a Read chunk moves it, and the rest of the Call is inline.
# Names in a directory and ACLs are not DDP-eligible, so long messages with them use a Position Zero
# chunk or a Reply chunk. The ACL protocol of NFSv3 uses the same connection as NFS.
long_messages() {
	local text
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	counted client_calls_read_chunk 1 1 counted client_calls_long 0 0 \
		ln -s "$text" "$MNT/long-link"
	[ "$(on_server readlink $EXPORT/long-link)" = "$text" ] || die "the server has another link"
	# Covers: ULB-06
	counted client_replies_long 1 $ANY counted client_replies_write_chunk 0 0 entries_there
	: >"$MNT/long-acl"
	# Covers: ULB-12 V1-FRM-04 V1-PZC-05
	counted client_calls_long 1 1 counted server_calls_long 1 1 counted client_calls_read_chunk 0 0 counted client_connects 0 0 acl set "$MNT/long-acl"
	acl get $EXPORT/long-acl
	echo 3 >/proc/sys/vm/drop_caches
	counted client_replies_long 1 9 counted client_replies_write_chunk 0 0 counted client_connects 0 0 acl get "$MNT/long-acl"
	rm "$MNT/long-link" "$MNT/long-acl"
}

case_long-messages() {
	[ "$MODULE" = ours ] || skip "the in-tree module does not count these"
	trap 'set_inline 4096' EXIT
	set_inline 1024
	with_mount 3 long_messages
}

# Covers: RPB-01
case_ipv6() {
	nfs_mount 4.2 "" "[$SERVER6]"
	xprt_line | grep -q '^rdma ' || die "no RDMA transport"
	grep -q " $MNT .*proto=rdma6" /proc/mounts || die "not mounted over IPv6: $(grep " $MNT " /proc/mounts)"
	checked small
	nfs_umount
}

case_nconnect() {
	[ "$KERNEL" != debian-6.1 ] || skip "NFS of 6.1 has nconnect with TCP only"
	local n
	nfs_mount 4.2 nconnect=4
	checked small
	n=$(grep -c $'^\txprt:\trdma ' /proc/self/mountstats)
	[ "$n" = 4 ] || die "nconnect=4 made $n connections"
	nfs_umount
}

# The first client has a delegation of a file, and a second client opens that file for writing.
# Covers: ULB-13
case_delegation() { delegation 4.2 second_client; }
# NFSv4.0 sends callbacks over a TCP connection of their own. None may come over the RDMA
# connection.
# Covers: BC-30
case_delegation-v40() {
	local before
	before=$(on_server counter server_bc_calls)
	delegation 4.0 remote_writer
	[ "$(on_server counter server_bc_calls)" = "$before" ] || die "a callback of version 4.0 came by RDMA"
}
case_delegation-v41() { delegation 4.1 second_client; }
# A process at the server, and not another client, opens the file and so causes the recall.
case_delegation-local() { delegation 4.2 remote_writer; }

group() {
	alone_up
	on_server python3 -I -S "$CHECK" provide $EXPORT
	run_all_cases
	group_end
}
