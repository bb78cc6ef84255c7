# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions that the cases of all groups use: start and end of a guest, mounts, loads, and observation of the module.
# The file of a group runs in a guest, after lab/guest/lib.sh, and sources this file. The group's file defines functions
# case_<name>, and group(), which calls them.
CHECK=$TOP/scripts/tests/peers/nfscheck.py

# highest <version>: set the highest version of the protocol for the client and the server of this guest; no effect
# on the in-tree module
highest() {
	tune "$1" /sys/module/rpcrdma/parameters/client_version
	tune "$1" /sys/module/rpcrdma/parameters/server_version
}

# without_targets <command...>: run the command while the server makes Receives without targets (the pages of a
# Receive into which the round-trip extension places data)
PAGES=/sys/module/rpcrdma/parameters/rtx_pages
without_targets() {
	local pages
	pages=$(<$PAGES)
	echo 0 >$PAGES
	"$@"
	echo "$pages" >$PAGES
}

# targets_exist: can the server's Receives have targets? A target is one page, and must have 4096
# bytes.
targets_exist() { [ "$(awk '/^KernelPageSize:/ { print $2; exit }' /proc/self/smaps)" = 4 ]; }

# version_here: print the highest version of the protocol for this kernel and provider. Most cases
# of a group that calls this function use version 1 with some kernels and providers, and version 2
# with the others. VERSION overrides the choice.
version_here() {
	case ${VERSION:-$KERNEL/$PROVIDER} in
	7.3/rxe | 6.12/siw | 2) echo 2 ;;
	*) echo 1 ;;
	esac
}

# field <name> <file>: print a value from a connection's file in debugfs
field() { awk -v n="$1" '$1 == n { print $2 }' "$2"; }

# alone_up [<version>]: start the network, the provider, the module and the server in one guest, unless an earlier
# group in the same guest has done so. Set the highest version of the protocol, which is 1 by default.
alone_up() {
	alone_began
	highest "${1:-1}"
}

alone_began() {
	if [ -e /run/alone-up ]; then
		# shellcheck source=/dev/null
		. /run/alone-up
		[ "$(cat /proc/fs/nfsd/nfsv4leasetime)" -ge "${LEASE:-0}" ] || lease "$LEASE"
		return
	fi
	net_alone
	provider_up
	module_load
	server_up
	echo "RDMA_NETDEV=$RDMA_NETDEV" >/run/alone-up
}

# lease <seconds>: set the lease time of NFSv4 clients, and restart nfsd
lease() { nfsd_anew tune "$1" /proc/fs/nfsd/nfsv4leasetime; }

# nfsd_anew [<command...>]: stop nfsd, run the command, and start nfsd again without a grace period
nfsd_anew() {
	rpc.nfsd 0
	"$@"
	rpc.nfsd 4
	{ echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true
	echo "rdma $PORT" >/proc/fs/nfsd/portlist
}

# The end of a group. The last group in a guest takes everything down.
group_end() {
	[ "$GROUP" = "${GROUPS_HERE##* }" ] || return 0
	case_run clean
	case_run leaks
}

# The end of a group in two guests. After its own checks, the client's guest tells the server's guest to stop, and
# server_end() checks the server's guest. If LEFT_UP is set, the server's guest is neither checked nor taken down.
pair_end() {
	case_run clean
	case_run leaks
	touch /lab/stop
}
server_end() {
	[ -z "${LEFT_UP:-}" ] || return 0
	case_clean
	! leaks_are_seen || kmemleak_check
}

# pair_cases <command...>: the client's guest runs the cases of the group. The server's guest runs
# the command, and then carries out what on_server() asks for, until the client's guest tells it to
# stop.
pair_cases() {
	if [ "$ROLE" = server ]; then
		"$@"
		serve_requests
		server_end
	else
		run_all_cases
		pair_end
	fi
}

pair_up() {
	net_pair
	provider_up
	module_load
	# Let siw probe like an adapter. Many cases measure how soon an end notices that the other one is dead.
	fault device_probe_reads -1
	highest "${1:-1}"
	if [ "$ROLE" = server ]; then
		server_up
	else
		until_true 180 test -e /lab/server.ready || die "the server guest did not come up"
	fi
}

# Run the cases of the group's file in their order. A group may define before_case(), which runs before each case.
run_all_cases() {
	local names
	mapfile -t names < <(cases_of "$GROUP")
	((${#names[@]})) || die "the group $GROUP has no case"
	some_cases "${names[@]}"
}

# cases_of <group>: print the cases of the group's file, which this shell has read. Unless ALL (make test-all) or LONG is set,
# leave out those that the headers "Long", "Slow" and "Cases" exclude. The host's list of the cases that it expects has
# another source (expect.py), so that a case which is missing in one of the lists is noticed.
cases_of() {
	local file=$TOP/scripts/tests/groups/$1.sh only='' less=' ' name words
	while [ -z "$ALL$LONG" ] && read -r _ name words; do
		case $name/$KERNEL in
		Slow:/7.3) ;;
		Long:/* | Slow:/*) less+="$words " ;;
		Cases:/*) [ "${words%% *}" != "$KERNEL/$PROVIDER" ] || only=" ${words#* } " ;;
		esac
	done < <(grep '^# ' "$file")
	shopt -s extdebug
	# shellcheck disable=SC2046
	declare -F $(compgen -A function case_) | sort -k 2n | while read -r name _ words; do
		name=${name#case_}
		[ "$words" = "$file" ] && [[ ${only:- $name } == *" $name "* ]] && [[ -n $only || $less != *" $name "* ]] || continue
		echo "$name"
	done
}

some_cases() {
	local name
	for name; do
		! declare -F before_case >/dev/null || before_case
		hca_ignores ""
		case_run "$name" "${CASE_LIMIT:-}"
	done
}

# unreported <kinds> <command...>: the command does what an adapter must refuse, and then the connection breaks. The
# simulated adapter does not report these kinds (hca.h, HCA_KINDS) until the next case begins.
unreported() {
	hca_ignores "$1"
	"${@:2}"
}
hca_ignores() {
	local ignore=/sys/module/hca_sim/parameters/ignore
	[ ! -e $ignore ] || echo "$1" >$ignore
}

# with_mount <version of NFS> <command...>: mount, check that the mount uses RDMA, run the command,
# and unmount. This function does not run the command in a condition, because "set -e" would then
# have no effect in the command.
with_mount() {
	local vers=$1
	shift
	VERS=$vers
	nfs_mount "$vers" "${MOUNT_OPTS:-}"
	[[ $(xprt_line) == 'rdma '* ]] || die "no RDMA transport on $MNT: $(grep " $MNT " /proc/mounts)"
	"$@"
	xprt_line
	counters
	nfs_umount || die "umount failed"
}

# checked <section...>: run these sections of nfscheck.py on the mount, and then compare the files
# at the server. If data, direct or small is among the sections, check that a Write chunk was sent,
# and that a Read chunk was sent or data were placed into the server's targets.
checked() {
	local manifest before returned placed
	before=$(xprt_field 11) returned=$(xprt_field 12)
	placed=$(counter client_calls_placed)
	manifest=/lab/manifest.$BASHPID.$RANDOM
	python3 -I -S "$CHECK" "$@" --vers "${VERS:-4.2}" --mnt "$MNT" --seed $((RANDOM + 1)) \
		--manifest "$manifest" ${SCALE:+--scale "$SCALE"} || exit 1
	case " $* " in *" data "* | *" direct "* | *" small "*)
		[ "$(xprt_field 11)" -gt "$before" ] || [ "$(grown client_calls_placed "${placed:-0}")" -gt 0 ] ||
			die "no Read chunk was sent, and nothing was placed"
		[ "$(xprt_field 12)" -gt "$returned" ] || die "no Write chunk was sent" ;;
	esac
	on_server python3 -I -S "$CHECK" verify "$manifest" $EXPORT || die "the server has something else"
}

# delegated <file>: does the server list a delegation of the file?
delegated() { cat /proc/fs/nfsd/clients/*/states | grep "type: deleg.*[/\"]$1\""; }

# grown <counter> <before>: print by how much the counter has grown
grown() { echo $(($(counter "$1") - $2)); }

# counted <counter> <least> <most> <command...>: the counter must grow by at least <least> and at most <most> while
# the command runs
counted() {
	local name=$1 least=$2 most=$3 before n
	shift 3
	before=$(counter "$name") || exit
	[ -n "$before" ] || die "there is no counter $name"
	"$@"
	n=$(grown "$name" "$before")
	echo "$name: $n"
	((n >= least && n <= most)) || die "$name grew by $n, not by $least to $most"
}
export ANY=1000000000

# callbacks_up: is the backchannel of each client up? The server may still know clients of the previous case, and
# they count, too.
callbacks_up() {
	grep -q 'callback state: UP' /proc/fs/nfsd/clients/*/info &&
		! grep 'callback state:' /proc/fs/nfsd/clients/*/info | grep -v 'state: UP'
}

# hold <prefix>: create the files <prefix>-1 to <prefix>-12 at the server, and open them here. The process $holder keeps
# them open until it is killed. Succeeds if the server lists a delegation of the last one within a few seconds.
hold() {
	# shellcheck disable=SC2016
	on_server bash -c 'for i in {1..12}; do echo data >$0-$i; done' "$EXPORT/$1"
	python3 -I -S -c '
import sys, time
held = [open(f"{sys.argv[1]}-{i}") for i in range(1, 13)]
time.sleep(600)' "$MNT/$1" &
	holder=$!
	until_true 3 on_server delegated "$1-12"
}

# recalls: with NFSv4.2 mounted, get delegations of twelve files, and recall all of them at once by opening the files at
# the server. The client then sees what was written.
recalls() {
	local i tries holder files
	until_true 30 on_server callbacks_up || die "the backchannel does not come up"
	# Each try uses new files, for the reasons that delegation() gives.
	for ((tries = 1; ; tries++)); do
		files=recall.$RANDOM.$tries
		! hold $files || break
		kill $holder
		((tries < 20)) || die "no delegation was granted"
	done
	# shellcheck disable=SC2016
	on_server timeout 120 bash -c 'for i in {1..12}; do echo more >>$0-$i & done; wait' $EXPORT/$files ||
		die "the conflicting opens were not let through"
	kill $holder
	for i in {1..12}; do
		[ "$(cat "$MNT/$files-$i")" = $'data\nmore' ] || die "the client does not see what was written to file $i"
	done
}

# delegation <version> <writer>: get a read delegation. The writer's open recalls it, and the client then sees the
# written data.
delegation() {
	local vers=$1 writer=$2 trace=/sys/kernel/tracing tries
	nfs_mount "$vers"
	echo 1 >$trace/events/nfs4/nfs4_cb_recall/enable
	echo >$trace/trace
	# The server grants no delegation before its backchannel works, and none while clients may reclaim state.
	# It is never obliged to grant one. For up to a minute after a recall, it grants none for that file, or for
	# another file that looks the same to its Bloom filter. So each try uses a new file.
	until_true 30 on_server callbacks_up || die "the backchannel does not come up"
	for ((tries = 1; ; tries++)); do
		DELEG=deleg.$BASHPID.$tries
		on_server bash -c "echo 'from the server' >$EXPORT/$DELEG"
		exec 5<"$MNT/$DELEG"
		[ "$(head -n 1 <&5)" = "from the server" ] || die "wrong content"
		! on_server delegated "$DELEG" || break
		((tries < 70)) || die "no delegation was granted to any of $tries opens"
		exec 5<&-
		sleep 1
	done
	"$writer"
	until_true 10 grep nfs4_cb_recall: $trace/trace || die "no CB_RECALL reached the client"
	exec 5<&-
	echo 0 >$trace/events/nfs4/nfs4_cb_recall/enable
	! on_server delegated "$DELEG" || die "the delegation was not returned"
	[ "$(cat "$MNT/$DELEG")" = "from the server
written by the other" ] || die "the client does not see what the other wrote: $(cat "$MNT/$DELEG")"
	nfs_umount
}

# Let a process at the server write to the file for which the client has a delegation.
remote_writer() {
	on_server timeout 60 bash -c "echo 'written by the other' >>$EXPORT/$DELEG" ||
		die "the conflicting open was not let through"
}

# Let another client write to the file. It has a network namespace and a host name of its own, so that the server does
# not take it for the first client.
second_client() {
	ip netns add second
	ip link add se0 type veth peer name se1 netns second
	ip addr add 10.8.0.1/24 dev se0
	ip link set se0 up
	# shellcheck disable=SC2016
	ip netns exec second unshare -u bash -euc '
		hostname lab-second
		ip link set lo up
		ip addr add 10.8.0.2/24 dev se1
		ip link set se1 up
		mkdir -p /second
		mount -t nfs -o proto=tcp,vers=4.2,timeo=100 10.8.0.1:/ /second
		echo "written by the other" >>"/second/$0"
		umount /second' "$DELEG" || die "the second client failed"
	ip netns del second
}

# attempt_failed <errors>: has the client counted more than this number of failed attempts to connect?
attempt_failed() { [ "$(counter client_connect_errors)" -gt "$1" ]; }

# cm_stopped <device>: has rxe stopped the queue pair of the connection manager (compat.rst, Faults of kernels)?
cm_stopped() { rdma resource show qp link "$1/1" | grep -q 'type GSI state ERR'; }

# revive_rxe <device> <interface>: if that queue pair is stopped, delete the device and add it again, as an
# administrator must do.
revive_rxe() {
	[ "$PROVIDER" = rxe ] && cm_stopped "$1" || return 0
	echo "rxe has stopped the queue pair of the connection manager of $1"
	rdma link delete "$1"
	rdma link add "$1" type rxe netdev "$2"
}

# hostile <program> <set>: run a set of cases of hostile_<program>.py. With PART, run only the cases with PART in their
# name.
hostile() {
	local lib=/tmp/peer.so out=/tmp/hostile-$1-$2.out
	[ "$MODULE" = ours ] || skip "the in-tree module takes some of these in its own way"
	[ -e /lab/peer.so ] || die "peer.c does not compile (librdmacm-dev?): $(tail -n 1 /lab/log/peer.log)"
	[ "$PROVIDER" != hca ] || [ -e /sys/module/rpcrdma_kpeer ] || insmod /lab/kpeer/rpcrdma_kpeer.ko "netdev=$RDMA_NETDEV"
	[ -e $lib ] || cp /lab/peer.so $lib
	# The test programs do not expect the server to take credits back. With a review_time of 0,
	# it never does that (G-39).
	tune 0 /sys/module/rpcrdma/parameters/review_time
	KERNEL=$KERNEL PROVIDER=$PROVIDER PEER_LIB=$lib \
		python3 -S "$TOP/scripts/tests/peers/hostile_$1.py" "$2" "${PART:-}" >"$out" 2>&1 || {
		local rc=$?
		cat "$out"
		# Status 3 of caller.py: all cases of the set need something that the other end cannot do.
		((rc != 3)) || skip "$(sed -n 's/^left out [^:]*: //p' "$out" | head -n 1)"
		die "$(grep '^not ok' "$out" || tail -n 1 "$out")"
	}
	cat "$out"
}

# --- watching the module ---------------------------------------------------------

DEBUG=/sys/kernel/debug/rpcrdma

# shown <client|server>: how many connections have a file in debugfs
shown() { find $DEBUG/"$1" -type f | wc -l; }
nobody_shown() { [ "$(shown client)" = 0 ] && [ "$(shown server)" = 0 ]; }

# set_inline <bytes>: set the client's inline sizes of version 1, in both directions, for new
# connections
set_inline() {
	echo "$1" >/proc/sys/sunrpc/rdma_max_inline_read
	echo "$1" >/proc/sys/sunrpc/rdma_max_inline_write
}

# received_by <client|server> <bytes>: is this the size of the largest inline message that this end can receive?
received_by() { [ "$(awk '$1 == "inline_recv" { print $2 }' $DEBUG/"$1"/*)" = "$2" ]; }

# The buffer in which trace_begin() lets the module's events be traced. (The tests in Python use
# events.py instead.)
TRACE=/sys/kernel/tracing/instances/tests

trace_begin() {
	mkdir -p $TRACE
	echo 4096 >$TRACE/buffer_size_kb
	# The order of events on two processors. By default, the clock of User-mode Linux has steps of 10 ms.
	echo mono >$TRACE/trace_clock
	echo 1 >$TRACE/events/rpcrdma/enable
	echo >$TRACE/trace
}

trace_end() {
	echo 0 >$TRACE/events/enable
	rmdir $TRACE
}

# traced <event>...: check that each event has been recorded since trace_begin. If an argument is
# "event: text", the line of the event must also match the regular expression text.
traced() {
	local name
	for name; do
		until_true 5 grep -q " ${name%%: *}: .*$([ "$name" = "${name%%: *}" ] || echo "${name#*: }")" $TRACE/trace ||
			die "no event $name"
	done
}

# errors_begin: begin to record the errors with which the server of this guest answers. errors_have <error>: print how
# many of this kind (the name of its code in version 2) have been recorded; is there one?
ERRORS=/sys/kernel/tracing/instances/errors
errors_begin() {
	mkdir -p $ERRORS
	echo 1 >$ERRORS/events/rpcrdma/svc_rdma_error/enable
	echo >$ERRORS/trace
}
errors_have() { grep -c " svc_rdma_error: .* $1 " $ERRORS/trace; }

# refused_with <error> <least> <most> <command...>: run the command. Meanwhile, the server must send this number of
# errors of this kind.
refused_with() {
	local n
	errors_begin
	"${@:4}"
	n=$(errors_have "$1") || true
	((n >= $2 && n <= $3)) || die "$1: $n errors, not $2 to $3"
}

# fault <name> <times> [<number>]: let the module fail so many times, in the way that this directory of
# net/verbs/fail.c stands for; -1: always, 0: not any more. The first failure is the one with this number,
# counted from 1. No effect on kernels without CONFIG_FAULT_INJECTION.
fault() {
	local dir=$DEBUG/$1
	[ -d "$dir" ] || return 0
	echo 0 >"$dir/verbose"
	echo 0 >"$dir/probability"
	echo "$2" >"$dir/times"
	echo "${3:-0}" >"$dir/space"
	echo 100 >"$dir/probability"
}

# The value of a limit of net/verbs/fail.c that has no effect
# shellcheck disable=SC2034
UNLIMITED=4294967295

# knobs: a case calls this first if it uses the debugfs files of net/verbs/fail.c, which inject
# faults ("knobs"). All kernels that are built for the tests have them; Debian's own kernels have
# not.
knobs() {
	[[ $KERNEL != debian* ]] || skip "no CONFIG_FAULT_INJECTION"
	[ -d /sys/kernel/debug/rpcrdma/server_fail ] || die "the module has no knobs, though the kernel should"
}

# --- many requests, few credits -------------------------------------------------

# crowd: 48 threads write and read files of the mount at the same time
crowd() {
	python3 -I -S -c '
import os, sys, threading
names = [f"{sys.argv[1]}/window-{i}" for i in range(48)]
def work(name):
    with open(name, "wb") as f:
        f.write(name.encode())
    fd = os.open(name, os.O_RDONLY | os.O_DIRECT)
    for _ in range(4):
        assert os.pread(fd, 4096, 0) == name.encode()
    os.close(fd)
    os.unlink(name)
threads = [threading.Thread(target=work, args=[n]) for n in names]
for t in threads: t.start()
for t in threads: t.join()' $MNT
}

# credits_granted: print the credits that the mount's connection has been granted, or 999 if debugfs
# does not show them, as when the client is the in-tree module
credits_granted() { cat $DEBUG/client/* 2>/dev/null | awk '$1 == "credits_granted" { n = $2 } END { print n ? n : 999 }'; }

# volley: hand over 48 small WRITEs to the kernel at once, so that as many Calls are in flight as
# the credits allow, up to 48. Wait for the Replies, and repeat that a few times. crowd() is not
# enough: in a slow guest, only some of its threads have a Call in flight at the same time.
volley() {
	fio --output=/tmp/volley.out --name=volley --directory=$MNT --size=24k --bs=512 --rw=randwrite --direct=1 \
		--ioengine=libaio --iodepth=48 --iodepth_batch_submit=48 --iodepth_batch_complete_min=48 --loops=4 --unlink=1 ||
		die "fio: $(tail -n 3 /tmp/volley.out)"
}

# credited <number>: make requests until the server grants at least this many credits. Meanwhile and
# afterwards, the server takes no credits back (G-39). Otherwise it might take back credits that a
# slow guest does not use for some time, though the case will need them all.
credited() {
	local turns
	on_server tune 0 /sys/module/rpcrdma/parameters/review_time
	for turns in {1..10}; do
		volley
		[ "$(credits_granted)" -lt "$1" ] || return 0
	done
	die "$(credits_granted) credits after $turns volleys, not $1"
}

# calls <number>: make this number of READ Calls, one after the other
calls() {
	python3 -I -S -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
for _ in range(int(sys.argv[2])):
    assert len(os.pread(fd, 4096, 0)) == 4096' $MNT/calls "$1"
}

is_connected() { grep -qx 'state up' $DEBUG/server/*; }

# wait_connected: wait until a connection of the server is up. The server may answer a Call before the connection manager
# has told it that the connection is established.
wait_connected() { until_true 20 is_connected || die "no connection to lose: $(cat $DEBUG/server/*)"; }

# at_once <file> <bytes> <number>: start this number of WRITEs at once, and wait for them. Each byte
# of WRITE number i is i (from 0 on). The file is opened before the first WRITE. /tmp/at-once has a
# line as soon as the threads of all WRITEs have been started.
at_once() {
	python3 -I -S -c '
import mmap, os, sys, threading
fd, size = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT), int(sys.argv[2])
def work(i):
    data = mmap.mmap(-1, size)
    data[:] = bytes([i]) * size
    assert os.pwritev(fd, [data], size * i) == size
threads = [threading.Thread(target=work, args=(i,)) for i in range(int(sys.argv[3]))]
for t in threads: t.start()
print("begun", flush=True)
for t in threads: t.join()' "$@" >/tmp/at-once
}

# --- a server that is stuck ----------------------------------------------------

# ice_up [<threads of nfsd>]: export /ice, a file system that fsfreeze(8) can freeze. While it is frozen, each nfsd
# thread that writes to it waits. If nfsd has only one thread, all clients then wait.
ice_up() {
	modprobe -aq loop ext4 || true
	truncate -s 64M /tmp/ice.img
	mkfs.ext4 -q -F /tmp/ice.img
	mkdir -p /ice
	# mount -o loop keeps the device open for writing. Some kernels forbid that for a mounted device
	mount "$(losetup -f --show /tmp/ice.img)" /ice || die "no file system to freeze"
	exportfs -o rw,no_root_squash,insecure,fsid=7,no_subtree_check "*:/ice"
	head -c 4M /dev/urandom >/ice/data
	mkdir -p /ice/dir
	(cd /ice/dir && seq 400 | xargs touch)
	rpc.nfsd "${1:-4}"
}

ice_mount() { mkdir -p $MNT && mount -t nfs -o "proto=rdma,port=$PORT,$1" "$SERVER:/ice" $MNT; }

ice_down() {
	rpc.nfsd 4
	exportfs -u "*:/ice"
	exportfs -f
	until_true 60 umount /ice || die "/ice is in use"
	losetup -D
	rm -f /tmp/ice.img
}

# threads_waiting: print how many nfsd threads wait uninterruptibly, that is, for the storage
threads_waiting() {
	local pid files=()
	for pid in $(pgrep -x nfsd); do files+=("/proc/$pid/status"); done
	{ grep -ls "^State:.D" /dev/null "${files[@]}" || true; } | wc -l
}

# threads_stuck <number>: do exactly this many nfsd threads wait uninterruptibly?
threads_stuck() { [ "$(threads_waiting)" = "$1" ]; }

# all_wait <process>...: does each process wait uninterruptibly, for instance for a reply?
all_wait() {
	local pid
	for pid; do grep -q '^State:.D' "/proc/$pid/status" || return 1; done
}

# --- something breaks under a load --------------------------------------------

LOAD=$TOP/scripts/tests/peers/faultload.py
MIRRORS=/lab/mirrors

# load_start [option...]: start a load that checks every byte, see faultload.py
load_start() {
	rm -rf $MIRRORS /tmp/load.stop
	python3 -I -S "$LOAD" run "$MNT" $MIRRORS --stop /tmp/load.stop --jobs 2 "$@" >/tmp/load.out 2>&1 &
	LOADER=$!
	# Clean up even if the case fails, so that the next case is not affected.
	trap 'touch /tmp/load.stop; sleep 5; umount -f $MNT; umount -l $MNT' EXIT
	load_moves 100 "it began"
}

# took <start in microseconds> <event>: print how long after the event the replies came
took() {
	awk -v us=$((${EPOCHREALTIME/./} - $1)) -v what="$2" 'BEGIN { printf "replies %.1f s after %s\n", us / 1e6, what }'
}

# ends <seconds> <process>...: wait for one process after the other, for each at most that time.
# Each must end with status 0.
ends() {
	local limit=$1 pid
	shift
	for pid; do
		until_true "$limit" gone "$pid" || {
			cat "/proc/$pid/stack" || true
			die "$(tr '\0' ' ' <"/proc/$pid/cmdline") does not end in $limit s"
		}
		wait "$pid" || return
	done
}

# memory_here: drop the caches of this guest, and print how many bytes of memory are then available
memory_here() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 2
	awk '$1 == "MemAvailable:" { printf "%.0f\n", $2 * 1024 }' /proc/meminfo
}

# recovers <seconds> <event> <command...>: the command must succeed within that time. Print how long it took.
recovers() {
	local limit=$1 what=$2 t0=${EPOCHREALTIME/./}
	shift 2
	"$@" &
	ends "$limit" $! || die "$* fails after $what"
	took "$t0" "$what"
}

# load_moves <seconds> <event>: the load's mount must get more than 6 replies within that time. Print how long it
# took.
load_moves() {
	local t0=${EPOCHREALTIME/./} before
	before=$(xprt_field 7)
	until_true "$1" eval '[ $(xprt_field 7) -gt $((before + 6)) ]' || die "nothing moves after $1 s $2"
	! gone "$LOADER" || die "the load ended: $(tail -n 1 /tmp/load.out)"
	took "$t0" "$2"
}

# End the load. Check that no system call has failed, that every byte was right, and that the server
# has the same data.
load_end() {
	touch /tmp/load.stop
	ends 180 "$LOADER" || die "$(grep FAIL: /tmp/load.out | cut -d' ' -f2- || tail -n 1 /tmp/load.out)"
	trap - EXIT
	tail -n 1 /tmp/load.out
	on_server python3 -I -S "$LOAD" verify $EXPORT $MIRRORS || die "the server has something else"
	rm -f $MNT/load*
}
