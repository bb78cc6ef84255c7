#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make shell: start a guest with a shell. The module is loaded, and /export is exported over RDMA
# and mounted at /mnt. KERNEL is debian, debian-6.1, 7.3, 6.12 or a kernel that foreign.sh lists,
# PROVIDER is rxe or siw, and VERS is the version of NFS (4.2). VERBOSE=y shows the messages of the
# kernel while it boots. "exit" ends the guest.
. "$(dirname "$0")/guest.sh"

kernel=${KERNEL:-debian} provider=${PROVIDER:-rxe}
kernel_known "$kernel"
provider_known "$provider"
! { kernel_is_debian "$kernel" && [ "$provider" = siw ]; } || die "Debian's kernel has no siw: say KERNEL=7.3, or PROVIDER=rxe"
need_packages "${PKG_GUEST[@]}" "${PKG_SHELL[@]}"
(module_ready "$kernel")
dir=$TREE/run/shell-$$
guest_run_dir "$dir" "$kernel" "$provider" VERS="${VERS:-4.2}" SIZE="$(stty size 2>/dev/null || true)"
cat >"$dir/alone.job" <<'EOT'
dmesg -n 4
[ -z "$SIZE" ] || stty -F $CONSOLE rows "${SIZE% *}" cols "${SIZE#* }"
net_alone; provider_up; module_load; server_up; nfs_mount "$VERS"
echo; grep " $MNT " /proc/mounts
cat <<END

$EXPORT is served at $SERVER and mounted at $MNT over RDMA. Try:
  cp -r /usr/include/linux . && xprt_line     copy something, and see what went by RDMA
  counters | grep -v ' 0$'                    what the module has counted
  cat /sys/kernel/debug/rpcrdma/client/*      the connection: version, credits
  ibv_devinfo                                 the RDMA device
  rping -s -a $SERVER & rping -c -a $SERVER -C 3     RDMA without NFS
  rpcrdma-check                               is anything wrong? (man rpcrdma-check)
  dmesg                                       what the kernel has said
exit or ^D ends the guest.
END
set +e
setsid -c bash --rcfile "$LAB/guest/shell.rc" -i <$CONSOLE >$CONSOLE 2>&1
true
EOT
case $MODULE in ours) what="this module" ;; *) what="the kernel's own module" ;; esac
say "booting $kernel with $provider and $what: half a minute or so"
[ -n "${VERBOSE:-}" ] || export GUEST_CMDLINE="quiet loglevel=1 ${GUEST_CMDLINE:-}"
GUEST_FOREGROUND=y guest_start "$dir" "$kernel" alone || true
# The firmware of some machines switches line wrap off.
[ ! -t 1 ] || printf '\e[?7h'
grep -qx 'done 0' "$dir/alone.verdict" || {
	guest_last_words "$dir" alone >&2
	die "the guest came to no good end; see $dir, or say VERBOSE=y"
}
