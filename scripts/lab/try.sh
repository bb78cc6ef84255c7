#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Try the module in one guest, quickly.
#
# usage: scripts/lab/try.sh KERNEL PROVIDER ['shell commands']
#   KERNEL    7.3 | 6.12 (the lab's debug kernels) | debian, debian-6.1 (Debian's own 6.12 and 6.1),
#             debian-arm64, ... (6.12 for other processors, see foreign.sh)
#   PROVIDER  siw | rxe (Debian's kernels have rxe only) | hca (the simulated adapter, hca/main.c)
#
# Builds rpcrdma.ko from this tree for KERNEL, boots one guest that loads it and exports
# /export (tmpfs) over RDMA, mounts it at /mnt (VERS=4.2), runs the commands (bash, set -e;
# scripts/lab/guest/lib.sh has functions that they may call), and shows the console. At the end
# it prints complaints of the kernel. The guest sees all files of the host. What it writes stays
# in the guest, except in /lab: that is the run directory, which the host can also write.
#
# Environment: MODULE=intree  the kernel's own module instead of ours
#              VERS=3|4.0|4.1|4.2   MOUNT_OPTS=...   NOMOUNT=1: only load, do not serve or mount
#              HCA='profile=cxgb4 seed=7'   parameters of the simulated adapter
#              LIMIT=seconds (300)   GUEST_MEM=3G GUEST_CPUS=1   GUEST_CMDLINE='dyndbg=...'
# Examples:
#   scripts/lab/try.sh 7.3 siw 'cp -r /usr/include/linux /mnt/; diff -r /usr/include/linux /export/linux'
#   MODULE=intree scripts/lab/try.sh debian rxe 'dd if=/dev/zero of=/mnt/f bs=1M count=64; xprt_line'
#   NOMOUNT=1 scripts/lab/try.sh 6.12 rxe 'rmmod rpcrdma; dmesg | tail'
. "$(dirname "$0")/guest.sh"

[ $# -ge 2 ] || { sed -n '3,/^\. /{/^\. /!s/^# \?//p}' "$0"; exit 2; }
kernel=$1 provider=$2 commands=${3:-xprt_line; counters}
need_packages "${PKG_GUEST[@]}"
(module_ready "$kernel")

dir=$TREE/run/try-$$
guest_run_dir "$dir" "$kernel" "$provider" VERS="${VERS:-4.2}" MOUNT_OPTS="${MOUNT_OPTS:-}" HCA="${HCA:-}"
if [ "$provider" = hca ]; then
	# See run-group.sh.
	export GUEST_CMDLINE="${GUEST_CMDLINE:-} dma_debug=off"
	with_log "building hca_sim.ko for $kernel" "$dir/log/hca.log" module_hca "$kernel" "$dir" ||
		failed "hca_sim.ko does not build for $kernel"
fi
{
	echo 'net_alone; provider_up; module_load'
	# shellcheck disable=SC2016
	[ -n "${NOMOUNT:-}" ] || echo 'server_up; nfs_mount "$VERS" "$MOUNT_OPTS"'
	echo 'note "ready; running the commands"'
	printf '%s\n' "$commands"
} >"$dir/alone.job"

say "booting $kernel/$provider with $MODULE module (run directory: $dir)"
guest_start "$dir" "$kernel" alone
tail -n +1 -F --pid=$GUEST_PID "$dir/alone.console" 2>/dev/null &
rc=0
guest_wait "$dir" "${LIMIT:-300}" $GUEST_PID alone || rc=1
sleep 0.5
cat "$dir/alone.log" >&2
reports=$("$LAB/scan-console.py" "$dir/alone.console")
if [ -n "$reports" ]; then
	printf '\n--- the kernel complained:\n%s\n' "$reports" >&2
	rc=1
fi
say "verdict: $(tail -n 1 "$dir/alone.verdict") (console: $dir/alone.console)"
exit $rc
