# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# ib_core.force_mr=1: the RDMA core uses a memory region for each RDMA Read and Write of a server.
# This setting cannot be changed after ib_core has started, so this group has a guest of its own.
# Guests: alone
# Limit: 900
# Cmdline: ib_core.force_mr=1
. "$TOP/scripts/tests/cases.sh"

# served <version of NFS>: either the server works, or it refuses all clients and one line of the log gives the reason
served() {
	local lines
	if nfs_mount "$1" retry=0,soft,timeo=100; then
		nfs_umount
		with_mount "$1" checked small data
		return
	fi
	lines=$(dmesg | grep -c 'rpcrdma: .*force_mr') || true
	[ "$lines" = 1 ] || die "the server refuses, and $lines lines say why"
}

case_force-mr() { served 4.2; }
case_force-mr-v2() {
	highest 2
	served 4.2
}

group() {
	[[ $(</proc/cmdline) == *ib_core.force_mr=1* ]] || die "the kernel was not asked to"
	# A case that hangs is ended after this time, in seconds.
	CASE_LIMIT=240
	alone_up
	run_all_cases
	group_end
}
