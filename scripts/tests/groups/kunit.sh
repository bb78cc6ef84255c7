# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The unit tests. If other groups share the guest, this group runs before them.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

case_kunit() {
	local suite
	[ "$MODULE" = ours ] || skip "the in-tree module has no unit tests"
	[ -e "$(modinfo -n rpcrdma_kunit 2>/dev/null)" ] || die "rpcrdma_kunit.ko was not built"
	modprobe rpcrdma
	modprobe rpcrdma_kunit || die "rpcrdma_kunit.ko does not load"
	mkdir -p /lab/log/kunit
	# Copy the results with bash built-ins, because starting a program for each of the dozens of suites takes long.
	for suite in /sys/kernel/debug/kunit/*; do
		echo "$(<"$suite/results")" >"/lab/log/kunit/${suite##*/}"
	done
	python3 -I -S "$TOP/scripts/tests/analysers/ktap.py" /lab/log/kunit/* >/lab/log/kunit.verdict
	cat /lab/log/kunit.verdict >&9
	# Each test case has its own verdict. This case only says that the tests could be loaded and run.
	grep -q '^case ' /lab/log/kunit.verdict || die "no unit test has reported"
	# A unit test has increased this counter beyond 32 bits. In the in-tree module, reading it
	# fails if the counter has reached a million.
	stat=$(cat /proc/sys/sunrpc/svc_rdma/rdma_stat_sq_starve)
	[ "$stat" -gt 5000000000 ] || die "rdma_stat_sq_starve is $stat"
	echo 0 >/proc/sys/sunrpc/svc_rdma/rdma_stat_sq_starve
	[ "$(cat /proc/sys/sunrpc/svc_rdma/rdma_stat_sq_starve)" = 0 ] || die "rdma_stat_sq_starve does not begin again"
	# This also unloads rpcrdma, because nothing else uses it.
	modprobe -r rpcrdma_kunit
}

group() {
	case_run kunit
	! module_loaded || PROVIDER=none group_end
}
