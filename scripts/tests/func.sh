# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# NFS of every version over the module, client and server in one guest.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/common.sh"

# names: Long Calls and Replies (symlinks of 4,095 bytes, a directory of 5,000); data, direct:
# odd lengths and places; acl, attrs: arguments and results that nothing may be taken out of.
# Covers: V1-HDR-24 V1-RDC-10 V1-RDC-13 V1-WRC-01 V1-WRC-11 V1-WPD-08 V1-PZC-05 V1-RPL-03 V1-FRM-04 ULB-06 ULB-10
# Covers: ULB-12 BC-30
# One mount for all of a version: mounting and starting the checker costs more here than checking.
# What lies between the oldest and the newest version moves less data, but in make test-all.
between() { [ -n "${ALL:-}" ] && echo 1 || echo 0.3; }
case_v3() { with_mount 3 checked names dir data mmap direct acl; }
case_v40() { SCALE=$(between) with_mount 4.0 checked names dir data mmap direct acl; }
case_v41() { SCALE=$(between) with_mount 4.1 checked names dir data mmap direct acl; }
case_v42() { with_mount 4.2 checked names dir data mmap direct acl xattr; }

# Covers: RPB-01
case_ipv6() {
	nfs_mount 4.2 "" "[$SERVER6]"
	xprt_line | grep -q '^rdma ' || die "no RDMA transport"
	grep -q " $MNT .*proto=rdma6" /proc/mounts || die "not mounted over IPv6: $(grep " $MNT " /proc/mounts)"
	checked small
	nfs_umount
}

case_nconnect() {
	local n
	nfs_mount 4.2 nconnect=4
	checked small
	n=$(grep -c $'^\txprt:\trdma ' /proc/self/mountstats)
	[ "$n" = 4 ] || die "nconnect=4 made $n connections"
	nfs_umount
}

# A second client opens for writing what the first one holds a delegation for.
# Covers: ULB-13
case_delegation() { delegation 4.2 second_client; }
# Version 4.0 calls back by a TCP connection of its own.
case_delegation-v40() {
	local before
	before=$(on_server counter server_bc_calls)
	delegation 4.0 remote_writer
	[ "$(on_server counter server_bc_calls)" = "$before" ] || die "a callback of version 4.0 came by RDMA"
}
case_delegation-v41() { delegation 4.1 second_client; }
# The same when somebody on the server itself writes.
case_delegation-local() { delegation 4.2 remote_writer; }

group() {
	alone_up
	on_server python3 -I -S "$CHECK" provide $EXPORT
	run_all_cases
	group_end
}
