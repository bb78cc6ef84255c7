# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The module is found by name, cannot be unloaded while in use, and leaves nothing behind.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

# sunrpc requests the module "rpcrdma" for a mount with proto=rdma, and "svcrdma" for a listener of
# nfsd. Both names must load the module that is tested: ours is in updates/.
case_autoload-client() {
	! module_loaded || rmmod rpcrdma
	timeout 20 mount -t nfs -o "proto=rdma,port=$PORT,vers=4.2,retry=0,soft,timeo=20,retrans=1" 10.9.0.1:/ $MNT &&
		die "a mount without a server worked"
	module_loaded || die "mount -o proto=rdma did not load the module"
	module_load
	rmmod rpcrdma
}

case_autoload-server() {
	! module_loaded || rmmod rpcrdma
	server_up
	module_loaded || die "the listener did not load the module"
	module_load
	server_down
	until_true 10 rmmod rpcrdma || die "rmmod after the listener is gone"
}

case_unload-refused() {
	module_load
	server_up
	! rmmod rpcrdma || die "unloaded under a listener"
	nfs_mount 4.2
	echo data >$MNT/refused
	! rmmod rpcrdma || die "unloaded under a mount"
	[ "$(cat $MNT/refused)" = data ] || die "the mount is broken after a refused rmmod"
	nfs_umount
	! rmmod rpcrdma || die "unloaded under a listener"
	server_down
	until_true 10 rmmod rpcrdma || die "rmmod with nothing left: $(grep ^rpcrdma /proc/modules)"
}

# While a delegation is recalled, first the mount and then the server are taken down. When the
# recall has ended, it must be possible to unload the module.
# Covers: BC-12 RPB-09
case_unload-callbacks() {
	local i writer
	module_load
	server_up
	nfs_mount 4.2
	until_true 30 callbacks_up || die "the backchannel does not come up"
	for ((i = 1; i <= 70; i++)); do
		echo data >$EXPORT/unload$i
		exec 5<$MNT/unload$i
		! delegated unload$i || break
		exec 5<&-
		sleep 1
	done
	((i <= 70)) || die "no delegation was granted"
	exec 5<&-
	echo more >>$EXPORT/unload$i &
	writer=$!
	nfs_umount
	server_down
	wait $writer || die "the delegation has not come back"
	until_true 10 rmmod rpcrdma || die "rmmod after callbacks: $(grep ^rpcrdma /proc/modules)"
}

# The module is loaded, used and unloaded repeatedly, and must not leak memory.
case_reload() {
	local i
	for i in 1 2; do
		module_load
		[ "$MODULE" != ours ] || [ "$(cat /sys/module/rpcrdma/parameters/client_version) $(cat /sys/module/rpcrdma/parameters/server_version)" = "2 2" ] ||
			die "not version 2 by default"
		server_up
		nfs_mount 4.2
		head -c 300000 /dev/urandom >$MNT/reload$i
		cmp $MNT/reload$i $EXPORT/reload$i || die "round $i: data differs"
		[ "$MODULE" != ours ] || [ "$(counter client_v2_connects)" = 1 ] || die "round $i: the mount is not of version 2"
		nfs_umount
		server_down
		until_true 10 rmmod rpcrdma || die "round $i: rmmod"
	done
	for i in 1 2 3 4 5 6; do
		module_load
		rmmod rpcrdma
	done
	# One check at the end finds what the module has leaked in any round. The case leaks makes
	# the same check, so do not repeat it here if that case will run in this guest.
	case_wanted leaks || ! leaks_are_seen || kmemleak_check
}

# Another module has already registered the RDMA transport with sunrpc. Our module must then refuse to load and log
# one clear line. The other module is the in-tree module with its name changed to "rpcothe": the kernel would refuse a
# second module of the name "rpcrdma" before our code could report anything.
case_beside-intree() {
	local intree text at lines rc=0
	[ "$MODULE" = ours ] || skip "this is about our module"
	! module_loaded || rmmod rpcrdma
	intree=$(find /lib/modules/*/kernel -name 'rpcrdma.ko*')
	case $intree in
	*.xz) xz -dc "$intree" >/tmp/other.ko ;;
	*) cp "$intree" /tmp/other.ko ;;
	esac
	# The name is in an array in struct module. Change it in the file itself, because objcopy
	# would lose the relocations of the section that contains this structure. Debian signs its
	# modules, and the signature no longer fits after the change. If the last line of the file,
	# which marks a signed module, is removed, the file counts as unsigned.
	at=$(readelf -SW /tmp/other.ko | awk '{ for (i = 1; i < NF; i++) if ($i == ".gnu.linkonce.this_module") print $(i + 3) }')
	python3 -I -S -c '
import sys
data, at = bytearray(open("/tmp/other.ko", "rb").read()), int(sys.argv[1], 16)
name = data.index(b"rpcrdma\0", at, at + 64)
data[name:name + 7] = b"rpcothe"
open("/tmp/other.ko", "wb").write(data.removesuffix(b"~Module signature appended~\n"))' "$at"
	# insmod does not load the modules on which this one depends.
	modprobe -aq sunrpc rdma_cm || true
	insmod /tmp/other.ko || die "the in-tree module under another name does not load"
	dmesg -C
	text=$(modprobe rpcrdma 2>&1) || rc=$?
	[ "$rc" != 0 ] || rmmod rpcrdma
	rmmod rpcothe
	[ "$rc" != 0 ] || die "our module loaded beside the in-tree one"
	grep -q 'resource busy' <<<"$text" || die "wrong error: $text"
	# The line about the taint comes from the kernel.
	lines=$(dmesg | grep 'rpcrdma:' | grep -v taints)
	echo "$lines"
	[ "$(wc -l <<<"$lines")" = 1 ] || die "not one clear line in the log"
	module_load
	rmmod rpcrdma
}

group() {
	net_alone
	provider_up
	run_all_cases
	module_loaded || module_load
	group_end
}
