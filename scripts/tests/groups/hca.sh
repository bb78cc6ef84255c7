# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults of the simulated adapter (lab/hca/main.c), which siw and rxe cannot have: verbs that fail, requests that
# complete with any error or never, an adapter or a port that stops, completions that come late. Each happens under a
# load that checks every byte, in both versions of the protocol. Client and server have the same adapter, and each may
# be hit. The adapter itself must have nothing to report.
# Guests: alone
# Clock: own
# Limit: 3600
# Providers: hca
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=900
SIM=/sys/kernel/debug/hca_sim
PARAM=/sys/module/hca_sim/parameters

# sim <name>: print a number of the adapter
sim() { field "$1" $SIM/counts; }

# sim_more <name> <number>: is it greater than this number?
sim_more() { [ "$(sim "$1")" -gt "$2" ]; }

# sim_fault <fault> <times> [<space> [<interval>]]: let this fault happen so many times. The first events are spared,
# as many as <space> says, and then each fault comes at one of <interval> events.
sim_fault() {
	local dir=$SIM/$1
	echo 0 >"$dir/probability"
	echo 0 >"$dir/verbose"
	echo "$2" >"$dir/times"
	echo "${3:-0}" >"$dir/space"
	echo "${4:-1}" >"$dir/interval"
	echo 100 >"$dir/probability"
}

sim_off() {
	local p
	for p in $SIM/*/probability; do tune 0 "$p"; done
	echo 0 >$PARAM/delay_us
}

before_case() {
	[ -e /sys/class/infiniband/lab0 ] || device_add
	ip link set ve1 up
	sim_off
}

# quiet: has the adapter made no report?
quiet() { ! grep -v ' 0$' $SIM/reports || die "the adapter reports: $(grep -v ' 0$' $SIM/reports)"; }

# loaded <command...>: run the command under a load, in both versions. Afterwards, the load must go on, and the data
# must be right.
loaded() {
	local version
	for version in 1 2; do
		highest $version
		nfs_mount 4.2
		load_start
		"$@"
		sim_off
		load_moves 150 "the end of the fault"
		load_end
		xprt_line
		nfs_umount
		quiet
	done
}

# faulty <command...>: the same for a command that needs faults
faulty() {
	[[ $KERNEL != debian* ]] || skip "no CONFIG_FAULT_INJECTION"
	loaded "$@"
}

# happens <fault> <times> [<space> [<interval>]]: let this fault happen so many times, and wait until it has
happens() {
	local before
	before=$(sim "fault-$1")
	sim_fault "$@"
	until_true 300 sim_more "fault-$1" $((before + $2 - 1)) ||
		die "$1: only $(($(sim "fault-$1") - before)) of $2 faults have happened"
}

# lose [<status>]: let one request fail, so that a connection is lost
lose() {
	echo "${1:-12}" >$SIM/status
	happens complete 1 $((RANDOM % 40))
	load_moves 150 "a request has failed with status ${1:-12}"
}

# while_lost <fault> <times> [...]: let connections be lost until this fault has happened, because it is one of what a
# new connection needs
while_lost() {
	local before
	before=$(sim "fault-$1")
	sim_fault "$@"
	until sim_more "fault-$1" $((before + $2 - 1)); do lose; done
}

# Remove the adapter and add it again. Meanwhile it violates each of its own rules, and must notice that.
case_hca-selftest() {
	local said
	device_gone
	echo 1 >$PARAM/selftest
	device_add
	echo 0 >$PARAM/selftest
	said=$(dmesg | grep 'hca_sim: self test: ' | tail -n 1)
	[[ $said =~ \ ([0-9]+)\ cases,\ 0\ failed$ ]] || die "no good self test: $said"
	[ "${BASH_REMATCH[1]}" -ge 20 ] || die "${BASH_REMATCH[1]} cases are too few"
	quiet
	with_mount 4.2 checked small
}

# A client refuses adapters that cannot register and invalidate memory, with one line in the log.
case_hca-refused() {
	local name old rc
	old=$(cat $PARAM/profile)
	for name in mana hns; do
		device_gone
		printf %s $name >$PARAM/profile
		device_add
		rc=0
		timeout 60 mount -t nfs -o "proto=rdma,port=$PORT,vers=4.2" "$SERVER:/" $MNT || rc=$?
		case $rc in
		0) die "$name is not refused" ;;
		124) die "the mount on $name hangs" ;;
		esac
	done
	dmesg | grep 'rpcrdma: lab0 cannot register memory' || die "no line says why"
	device_gone
	printf %s "$old" >$PARAM/profile
	device_add
	with_mount 4.2 checked small
}

# Covers: V1-ERR-20
case_hca-fault-alloc-mr() { faulty while_lost alloc_mr 6; }
case_hca-fault-create-cq() { faulty while_lost create_cq 4 1; }
case_hca-fault-create-qp() { faulty while_lost create_qp 4 1; }
case_hca-fault-dma-map() { faulty happens dma_map 20 5 7; }
# Covers: V1-ERR-20
case_hca-fault-post-send() { faulty happens post_send 8 10 23; }
case_hca-fault-post-recv() { faulty happens post_recv 8 10 23; }

# The statuses are IB_WC_LOC_PROT_ERR, REM_ACCESS_ERR, REM_OP_ERR, RETRY_EXC_ERR and RNR_RETRY_EXC_ERR.
# Covers: V1-ERR-25
case_hca-fault-complete() { faulty all_statuses; }
all_statuses() {
	local status
	for status in 4 10 11 12 13 4 10 11 12 13; do lose $status; done
}

# One end becomes silent, so nothing is delivered or acknowledged any more. A timer must end the connection.
# Covers: V1-ERR-25
case_hca-fault-silent() { faulty silences; }
silences() {
	local i
	for i in 0 1 4 9; do
		happens silent 1 $i
		load_moves 150 "a connection has become silent"
		echo 0 >$SIM/silent/probability
	done
}

# An adapter stops for good. Nothing moves until it has been replaced.
# Covers: V1-ERR-25
case_hca-fatal() { loaded fatal_twice; }
fatal_twice() {
	local i events replies
	for i in 0 1; do
		events=$(sim events)
		echo 1 >$SIM/fatal
		replies=$(xprt_field 7)
		sleep $((i * 7))
		[ "$(xprt_field 7)" -le $((replies + 2)) ] || die "replies come although the adapter has stopped"
		sim_more events "$events" || die "no event"
		device_gone
		device_add
		load_moves 90 "there is a new adapter"
	done
}

# The port goes down, and nothing moves until it comes up.
case_hca-port() { loaded port_down; }
port_down() {
	local s events replies
	for s in 1 40; do
		events=$(sim events)
		ip link set ve1 down
		until_true 5 grep -q DOWN /sys/class/infiniband/lab0/ports/1/state || die "the port is up"
		sleep 0.5
		replies=$(xprt_field 7)
		sleep $s
		[ "$(xprt_field 7)" = "$replies" ] || die "replies come although the port is down"
		ip link set ve1 up
		until_true 5 sim_more events $((events + 1)) || die "there were $(($(sim events) - events)) events, not 2"
		load_moves 150 "the port has come up"
	done
}

# The adapter is removed and added ten times while requests are under way.
# Covers: V1-ERR-25
case_hca-removal() {
	echo 2000 >$PARAM/delay_us
	highest 2
	device_removal client "${ROUNDS:-10}"
	echo 300 >$PARAM/delay_us
	highest 1
	device_removal client "${ROUNDS:-10}"
	quiet
}

# Completions come late: a lookup takes two of them, one at each end.
case_hca-delay() {
	local i t0
	echo 5000 >$PARAM/delay_us
	nfs_mount 3
	t0=${EPOCHREALTIME/./}
	for i in {1..20}; do ! stat "$MNT/none-$i" 2>/dev/null || die "there is such a file"; done
	t0=$((${EPOCHREALTIME/./} - t0))
	echo "20 lookups in $t0 us"
	((t0 >= 200000)) || die "20 lookups were done after $t0 us"
	nfs_umount
	loaded load_moves 100 "it began, with late completions"
}

# Handlers of completions run on the processors of the vectors.
case_hca-vectors() {
	local cpu before=() n
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	for cpu in 0 1; do before[cpu]=$(sim interrupts-$cpu); done
	with_mount 4.2 checked small data
	with_mount 3 checked small data
	for cpu in 0 1; do
		n=$(($(sim interrupts-$cpu) - before[cpu]))
		echo "processor $cpu: $n interrupts"
		((n >= 20)) || die "processor $cpu had $n interrupts"
	done
	quiet
}

group() {
	[ "$PROVIDER" = hca ] || die "this group is for the simulated adapter"
	alone_up 2
	run_all_cases
	group_end
}
