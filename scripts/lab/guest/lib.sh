# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions that a job in a guest may call. They start a provider, the module and a server, mount,
# and run test cases. Environment (from /lab/env): TOP LAB ROLE KERNEL PROVIDER MODULE. A single
# guest is its own server. The server's address is $SERVER.

# In an emulated guest with checkers, each start of a program takes a long time. So these functions
# use bash built-ins where they can.

EXPORT=/export
MNT=/mnt
SERVER=${SERVER:-10.9.0.1}
SERVER6=${SERVER6:-fd09::1}
PORT=20049
COUNTERS=/sys/kernel/debug/rpcrdma/counters

verdict() { printf '%s\n' "$*" >&9; }
note() { printf 'lab: %s\n' "$*"; }
die() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }
skip() { printf 'SKIP: %s\n' "$*" >&2; exit 77; }

# tune <value> <file>: write the value if the file exists.
tune() { [ ! -w "$2" ] || echo "$1" >"$2"; }

mounted() { [[ $(</proc/mounts) == *" $1 "* ]]; }

# nap <seconds>: sleep without starting a program.
exec {NAP}<> <(:)
nap() { read -rt "$1" -u "$NAP" || true; }

# until_true <seconds> <command...>: run the command again and again until it succeeds. Fail after
# this time, multiplied by PATIENCE.
until_true() {
	local end=$((SECONDS + $1 * ${PATIENCE:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		nap 0.2
	done
}

# gone <process>: has the process ended? It may still be a zombie, because bash may collect its status late.
gone() { ! grep -qs '^State:.[^XZ]' "/proc/$1/status"; }

# --- network and provider -----------------------------------------------------

# Make a veth pair with the server's addresses on one end, because the guest is its own peer. An
# earlier group in this guest may have made the pair already.
net_alone() {
	RDMA_NETDEV=ve0
	[ ! -e /sys/class/net/ve0 ] || return 0
	# In some kernels, veth is a module.
	modprobe -q veth || true
	ip link add ve0 mtu 9000 type veth peer name ve1 mtu 9000
	net_up ve0 1
	ip link set ve1 up
}

# net_up <interface> <last number of its addresses> [<net>]: set the interface up, and give it its addresses. The net is
# 09, or another two digits for another link.
net_up() {
	local net=${3:-09}
	tune 0 "/proc/sys/net/ipv6/conf/$1/accept_dad"
	ip link set "$1" mtu 9000 up
	ip addr add "10.${net#0}.0.$2/24" dev "$1"
	ip -6 addr add "fd$net::$2/64" dev "$1" nodad
}

# net_macvlan <number>: the device of User-mode Linux cannot go down and come up again. A macvlan device on top of it can.
net_macvlan() {
	[ -e "/sys/class/net/vec$1" ] || return 0
	ip link set "vec$1" mtu 9000 up
	ip link add link "vec$1" name "eth$1" type macvlan mode passthru
}

# Configure the network between two guests. In about one boot of 25, this network does not work. The
# job then fails here, before any case runs.
net_pair() {
	local me=1 peer=2 um=
	[ "$ROLE" = server ] || { me=2; peer=1; }
	[ ! -e /sys/class/net/vec0 ] || um=y
	net_macvlan 0
	net_up eth0 $me
	# If the group needs a capture, QEMU itself captures the packets (run-group.sh). User-mode Linux cannot, so the
	# server's guest runs tcpdump.
	[ "$ROLE/${CAPTURE:-}/$um" != server/yes/y ] ||
		tcpdump -Z root -i eth0 -s 0 -B 100000 -U -w /lab/wire.pcap 2>/lab/log/tcpdump &
	RDMA_NETDEV=eth0
	until_true 60 ping -c 1 -W 1 10.9.0.$peer || die "the other guest does not answer a ping"
}

provider_module() { case $PROVIDER in siw) echo siw ;; rxe) echo rdma_rxe ;; hca) echo hca_sim ;; esac }
device_add() { rdma link add lab0 type "$PROVIDER" netdev "$RDMA_NETDEV"; }

provider_up() {
	local mods=(rdma_ucm rdma_rxe)
	[ ! -e /sys/class/infiniband/lab0 ] || return 0
	case $PROVIDER in
	siw) mods=(rdma_ucm siw) ;;
	hca) mods=(rdma_cm iw_cm) ;;
	esac
	modprobe -a ib_uverbs "${mods[@]}" || die "this kernel has no $PROVIDER"
	# shellcheck disable=SC2086
	[ "$PROVIDER" != hca ] || [ -e /sys/module/hca_sim ] || insmod /lab/hca/hca_sim.ko ${HCA:-}
	device_add || die "no $PROVIDER link"
	until_true 10 grep -q ACTIVE /sys/class/infiniband/lab0/ports/1/state || die "link lab0 is not active"
}

provider_down() {
	rdma link delete lab0
	case $PROVIDER in
	# With lockdep, each TCP socket of siw holds a reference to the module siw. A closed socket
	# remains until the peer has acknowledged its data. After a time without a network, this
	# happens only at TCP's next retransmission, which may be two minutes away.
	siw) until_true 120 rmmod siw ;;
	*) rmmod "$(provider_module)" ;;
	esac
}

# --- the module ---------------------------------------------------------------

module_file() { modinfo -n rpcrdma; }

# Load the module with modprobe, as sunrpc does for a mount or a listener. So the files of depmod
# determine which module is loaded.
module_load() {
	modprobe rpcrdma
	case $MODULE/$(module_file) in
	ours/*/updates/* | intree/*/kernel/*) ;;
	*) die "the wrong rpcrdma.ko was loaded: $(module_file)" ;;
	esac
	module_place
}

# Record the present time in jiffies, and the addresses of the module's first and last function.
# leaks.py needs them to find the module's allocations.
module_place() {
	! leaks_are_seen || awk '/^jiffies: / { now = $2 }
		$4 == "[rpcrdma]" && $2 ~ /[tT]/ {
			if (first == "" || $1 "" < first) first = $1 ""
			if ($1 "" > last) last = $1 ""
		}
		END { print now, first, last }' /proc/timer_list /proc/kallsyms >>/run/module-places
}

module_loaded() { grep -q '^rpcrdma ' /proc/modules; }

# counters: print the counters that our module has in debugfs, one "name value" a line. The in-tree
# module has no such file, and then nothing is printed.
counters() { [ ! -r $COUNTERS ] || printf '%s\n' "$(<$COUNTERS)"; }
# counter <name>: print the value of a counter. If our module has no counter of this name, that is
# an error.
counter() {
	local line lines=()
	[ -r $COUNTERS ] || return 0
	mapfile -t lines <$COUNTERS
	for line in "${lines[@]}"; do
		[ "${line% *}" = "$1" ] || continue
		echo "${line#* }"
		return
	done
	die "there is no counter $1"
}

# --- server and client --------------------------------------------------------

# export_mount: mount the file system to be exported, which is in memory. The tmpfs of 6.1 has no
# user xattrs, so on 6.1 the file system is an ext4 whose image is in a tmpfs.
export_mount() {
	local image=/run/export/image size
	if [ "$KERNEL" != debian-6.1 ]; then
		mount -t tmpfs -o "size=${EXPORT_SIZE:-75%},mode=777" export $EXPORT
		return
	fi
	mkdir -p /run/export
	mount -t tmpfs -o "size=${EXPORT_SIZE:-75%}" export /run/export
	size=$(df --output=avail -k /run/export | tail -n 1)
	truncate -s "${size}K" $image
	modprobe -aq loop ext4
	mkfs.ext4 -q -F -m 0 -O ^has_journal,ea_inode $image
	mount -o loop $image $EXPORT
	chmod 777 $EXPORT
	rmdir $EXPORT/lost+found
}

server_up() {
	local f threads=${1:-4}
	modprobe -aq nfsd rpcrdma || true
	mkdir -p $EXPORT /var/lib/nfs
	# If /var/lib/nfs is mounted already, keep it. Another mount on top of it would hide the pipe of nfsdcld, and
	# nfsd would wait ten seconds for nfsdcld.
	if mounted /var/lib/nfs; then
		:
	elif [ -n "${NFS_STATE:-}" ]; then
		mount --bind "$NFS_STATE" /var/lib/nfs
	else
		mount -t tmpfs -o mode=755 nfsvar /var/lib/nfs
	fi
	mkdir -p /var/lib/nfs/{v4recovery,rpc_pipefs,sm,sm.bak,nfsdcld}
	for f in etab rmtab state xtab; do : >/var/lib/nfs/$f; done
	mounted $EXPORT || export_mount
	mounted /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	mounted /var/lib/nfs/rpc_pipefs || mount -t rpc_pipefs pipefs /var/lib/nfs/rpc_pipefs
	pidof -q rpcbind || rpcbind -w
	# nfsd sets the time of an expired client to 0. In the guest's first second, the present
	# time is also 0, and a new client would look expired.
	until_true 5 grep -q '^[1-9]' /proc/uptime || die "the clock stands still"
	tune "${GRACE:-10}" /proc/fs/nfsd/nfsv4gracetime
	tune "${LEASE:-10}" /proc/fs/nfsd/nfsv4leasetime
	# During the grace period of the lock manager (lockd), 50 seconds by default, nfsd grants no
	# delegations.
	tune 1 /proc/sys/fs/nfs/nlm_grace_period
	[ -z "${MAX_BLOCK:-}" ] || tune "$MAX_BLOCK" /proc/fs/nfsd/max_block_size
	exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check "*:$EXPORT"
	pidof -q rpc.mountd || rpc.mountd
	# nfsdcld keeps the list of clients. If nfsdcld does not run, nfsd waits ten seconds for it.
	pidof -q nfsdcld || nfsdcld -p /var/lib/nfs/rpc_pipefs
	rpc.nfsd "$threads"
	# Unless clients have state to reclaim, end the grace period, so that the first OPEN need not wait.
	[ -n "${RECLAIM:-}" ] || { echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true
	echo "rdma $PORT" >/proc/fs/nfsd/portlist || die "no RDMA listener"
}

server_down() {
	mounted /proc/fs/nfsd || return 0
	rpc.nfsd 0
	exportfs -ua
	exportfs -f
}

# nfs_mount <version> [options] [address] [where]: mount the export, by default from $SERVER at $MNT
nfs_mount() {
	local v=$1 opt=${2:-} addr=${3:-$SERVER} at=${4:-$MNT} path=/ netid=rdma
	[ -d "$at" ] || mkdir -p "$at"
	# Version 3 has no pseudo root. Its lock manager does not use RDMA.
	[ "$v" != 3 ] || { path=$EXPORT; opt=nolock${opt:+,$opt}; }
	case $addr in \[*) netid=rdma6 ;; esac
	mount -t nfs -o "proto=$netid,port=$PORT,vers=$v${opt:+,$opt}" "$addr:$path" "$at"
}

nfs_umount() { umount "${1:-$MNT}"; }

# xprt_line [mount point]: for each connection of the mount, print what mountstats has after "xprt:"
# xprt_field <number> [mount point]: print a field of these lines, summed over all connections of
# the mount. The word rdma is field 0. Field 3 counts connects, 6 messages sent, 7 Replies, 11 Read
# chunks, 12 Write chunks, and 13 Reply chunks. With our module, 14 counts bytes of page lists that
# were offered in Read chunks, and 15 bytes that the server has written to Write and Reply chunks
# (xprt_rdma_print_stats()).
xprt_line() {
	local lines=() line at=
	mapfile -t lines </proc/self/mountstats
	for line in "${lines[@]}"; do
		case $line in
		'device '*) read -r _ _ _ _ at _ <<<"$line" ;;
		*xprt:*) [ "$at" != "${1:-$MNT}" ] || echo "${line#*xprt:[[:space:]]}" ;;
		esac
	done
}
xprt_field() {
	local sum=0 words=()
	while read -ra words; do sum=$((sum + ${words[$1]:-0})); done < <(xprt_line "${2:-$MNT}")
	echo $sum
}

# --- test cases ---------------------------------------------------------------

# A test file defines functions case_<name>. case_run <name> [seconds] runs one in its own shell:
# status 0 is ok, 77 is skip, and any other status is not ok. Unless the status is 0, the last FAIL:
# or SKIP: line of the log gives the reason. A kernel report during the case makes the case fail as
# well: the host searches the console for such reports (show() in run-group.sh), because a search in
# the guest would take seconds. case_mark() marks the beginning and the end of the case in the
# kernel log.
CASE_BROKEN=

case_wanted() {
	# shellcheck disable=SC2053
	[[ $KERNEL/$PROVIDER/$1 == ${T:-*} && " ${DONE:-} " != *" $1 "* ]]
}

case_mark() { echo "<5>lab: $1 case $2" >/dev/kmsg; }

case_run() {
	local name=$1 limit=$((${2:-900} * ${PATIENCE:-1})) t0=$SECONDS log=/lab/log/$ROLE/$1.log rc=0 pid dog word reason
	case_wanted "$name" || return 0
	[ -d "${log%/*}" ] || mkdir -p "${log%/*}"
	if [ -n "$CASE_BROKEN" ]; then
		verdict "case not ok $name 0 $CASE_BROKEN"
		return 0
	fi
	case_mark begin "$name"
	set -m
	(set -euo pipefail; shopt -s inherit_errexit; set +m; "case_$name") >"$log" 2>&1 &
	pid=$!
	(nap "$limit"; echo "FAIL: timed out after $limit s" >>"$log"; echo w >/proc/sysrq-trigger; kill -KILL -- -$pid) 9>&- 2>/dev/null &
	dog=$!
	set +m
	wait $pid 2>/dev/null || rc=$?
	kill -KILL -- -$dog 2>/dev/null || true
	wait $dog 2>/dev/null || true
	case_mark end "$name"
	case $rc in
	0) word=ok ;;
	77) word=skip ;;
	*) word="not ok" ;;
	esac
	reason=
	[ $rc = 0 ] || reason=$(grep -E '^(FAIL|SKIP): ' "$log" | tail -n 1 | cut -d' ' -f2- || true)
	if [ "$word" = "not ok" ] && [ -z "$reason" ]; then
		reason="status $rc: $(tail -n 1 "$log")"
	fi
	verdict "case $word $name $((SECONDS - t0)) $reason"
	note "$word $name $reason"
	[ "$word" != "not ok" ] || { awk '/^device / { at = $5 } /xprt:.*rdma/ { print at ": " $0 }' /proc/self/mountstats; counters; } >>"$log" || true
	# Unmount all NFS mounts, so that this failure does not make the next case fail.
	[ "$word" != "not ok" ] || awk '$3 ~ /^nfs4?$/ { print $2 }' /proc/mounts | while read -r at; do
		umount -f "$at" 2>/dev/null || true
		umount -l "$at" 2>/dev/null || true
	done
	return 0
}

# --- two guests ---------------------------------------------------------------

# on_server <command...>: run the command in the guest that has the server. That is this guest,
# unless this is the client's guest of a pair.
on_server() {
	local id=$BASHPID.$RANDOM
	if [ "$ROLE" != client ]; then
		"$@"
		return
	fi
	printf '%q ' "$@" >"/lab/new.$id"
	mv "/lab/new.$id" "/lab/ask.$id" || die "the server guest cannot be asked"
	until_true "${ON_SERVER_LIMIT:-180}" test -e "/lab/answer.$id" || die "the server guest does not answer: $*"
	cat "/lab/output.$id"
	return "$(cat "/lab/answer.$id")"
}

# serve_requests: execute the requests of on_server(), until the client's guest creates /lab/stop. The server's guest
# runs this after server_up.
serve_requests() {
	local ask id rc
	touch /lab/server.ready
	until [ -e /lab/stop ]; do
		for ask in /lab/ask.*; do
			[ -e "$ask" ] || continue
			id=${ask#/lab/ask.}
			mv "$ask" "/lab/taken.$id"
			rc=0
			# Run the request in the background. With "( ... ) || rc=$?", bash would ignore "set -e" inside
			# the parentheses, and a failed command would not end the request.
			(set -euo pipefail; shopt -s inherit_errexit; eval "$(cat "/lab/taken.$id")") >"/lab/output.$id" 2>&1 &
			wait $! || rc=$?
			echo $rc >"/lab/new.$id"
			mv "/lab/new.$id" "/lab/answer.$id"
		done
		nap 0.2
	done
}

# --- leaving nothing behind ---------------------------------------------------

leaks_are_seen() { [ -w /sys/kernel/debug/kmemleak ] && [[ $(</proc/cmdline) != *kmemleak=off* ]]; }

# If kmemleak has given up, it no longer accepts commands.
kmemleak_lives() { { echo scan=off >/sys/kernel/debug/kmemleak; } 2>/dev/null; }

# Scan twice. kmemleak reports an object if two scans find it unreferenced and with the same
# contents, and if it is at least five seconds old at the second scan.
kmemleak_scan() {
	local end=$((SECONDS + 7))
	kmemleak_lives || { echo "kmemleak has switched itself off"; return 1; }
	echo scan >/sys/kernel/debug/kmemleak
	until ((SECONDS >= end)); do nap 0.5; done
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak
}

# Fail if kmemleak reports an object that the module allocated. After rmmod, the module's functions are only
# addresses in a stack trace, so leaks.py compares them with all addresses at which the module was loaded since
# boot.
kmemleak_check() {
	kmemleak_scan >/run/leaks || die "$(tail -n 1 /run/leaks)"
	python3 -I -S "$LAB/guest/leaks.py" /run/module-places </run/leaks ||
		die "kmemleak: the module leaks (see the log)"
}

# module_stays: called if the module cannot be unloaded. After the faults of faults-pair, the
# reference count of the in-tree module sometimes stays above 0 at the client, although sunrpc has
# destroyed the last transport. Then the case is skipped.
module_stays() {
	local left
	left=$(cat /sys/kernel/debug/sunrpc/rpc_xprt/*/info 2>/dev/null | grep -c 'netid:.*rdma') || true
	[ "$MODULE/$ROLE/$left" != intree/client/0 ] || skip "the in-tree client keeps a reference of a transport that has gone"
	die "rmmod: the module is in use: $(grep ^rpcrdma /proc/modules), $left transports"
}

# Unmount, stop the server, and unload the module and the provider. This fails if something still
# uses one of them.
case_clean() {
	cd /
	mounted "$MNT" && umount "$MNT"
	[ "$ROLE" = client ] || server_down
	[ -e /sys/module/rpcrdma ] || die "the module is not loaded"
	module_place
	# sunrpc destroys the transport of a finished mount in a work item, so the module may still
	# be in use for a moment.
	until_true 10 rmmod rpcrdma || module_stays
	provider_down
}

# Runs after case_clean(), when the module has been unloaded.
case_leaks() {
	leaks_are_seen || skip "this guest was booted without kmemleak"
	kmemleak_check
}
