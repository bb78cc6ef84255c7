#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run one group of test cases on one kernel and provider: boot its guest or guests, and print the result of each
# case as soon as it is known. Also report errors that only the host can see: a guest that died, a kernel report
# outside all cases, invalid traffic in a capture.
#
# usage: run-group.sh KERNEL PROVIDER GROUP
# A group is scripts/tests/groups/<group>.sh. Several groups with one guest can share it, one after
# the other: GROUP is then <group>+<group>... For two guests GROUP is <group>[:<role>]. The role
# (client or server) is the end that runs our module; without a role both ends do. A group without
# guests is a program that runs on the host. The header "Cmdline" of a group's file has parameters
# for the command line of the guest's kernel. GUEST_CPUS is the number of processors of a guest (by
# default 2 with KVM, 1 without). The header "Nodes" is the number of NUMA nodes of a guest that is
# a PC; each node has one processor. The header "Qemu" has more arguments for QEMU. If LEAKS is set
# and empty, the guest boots without kmemleak. If LONG is set, no header excludes cases.
# Prints "ok|not ok|skip <kernel>/<provider>/<case> (<seconds> s) <reason>".
. "$(dirname "$0")/../lab/guest.sh"

kernel=$1 provider=$2 group=$3 ours=
case $group in *:*) ours=${group#*:} group=${group%:*} ;; esac
label=$group${ours:+-$ours}
dir=${OUT:-$TREE/run/group-$$}/$kernel-$provider-$label
IFS=+ read -ra groups <<<"$group"
file=$TOP/scripts/tests/groups/${groups[0]}.sh
header() { sed -n "s/^# $1: //p" "$file" | head -n 1; }
machine=$(kernel_machine "$kernel")
# The header "Peer" names the kernel of the server's guest.
peer=$(header Peer)
kernel_of() { if [ "$1" = server ] && [ -n "$peer" ]; then echo "$peer"; else echo "$kernel"; fi; }
if [ "$machine/$(header Guests)" = um/pair ] && [ -z "${WIRED:-}" ]; then
	export WIRED=y
	exec "$TOP/scripts/lab/wired.py" "$0" "$@"
fi
# PATIENCE: a factor of the time limits of groups, cases and until_true(). The kernels of make
# test-race and make test-memory are several times slower than those of make test, and so are
# emulated processors of another architecture.
export PATIENCE=1
! kernel_is_foreign "$kernel" || PATIENCE=2
[ "$CHECKERS" = debug ] || PATIENCE=4
limit=$(header Limit)
limit=$(((${limit:-1800} + 600 * (${#groups[@]} - 1)) * PATIENCE))
# UNTIL is the time (in seconds since 1970) when all groups must have ended. It shortens the limit of a late group.
late=
if [ -n "${UNTIL:-}" ] && ((limit > UNTIL - $(date +%s))); then
	limit=$((UNTIL - $(date +%s)))
	late="; its limit was cut to the time left, $limit s"
fi
qemu=()
[ "$machine" = um ] || read -ra qemu <<<"$(header Qemu)"
nodes=$(header Nodes)
[ -z "$nodes" ] || export GUEST_NODES=$nodes
cmdline=$(header Cmdline)
[ -z "$cmdline" ] || export GUEST_CMDLINE="${GUEST_CMDLINE:-} $cmdline"
# The header "Clock: own" is for groups that have one guest and mostly wait. With this header, the
# clock of a guest that is User-mode Linux jumps to the next timer whenever all its processes sleep.
# Such a guest has one processor. CLOCK=host overrides the header: the guest then uses the host's clock and really waits.
[ "$machine/$(header Guests)/${CLOCK:-$(header Clock)}" != um/alone/own ] ||
	export GUEST_CMDLINE="${GUEST_CMDLINE:-} time-travel" GUEST_CPUS=1
# The simulated adapter checks more than DMA_API_DEBUG, which does not like that the zero page is mapped.
[ "$provider" != hca ] || export GUEST_CMDLINE="${GUEST_CMDLINE:-} dma_debug=off"
[ -n "${LEAKS-y}" ] || export GUEST_CMDLINE="${GUEST_CMDLINE:-} kmemleak=off"

mkdir -p "${dir%/*}"
[ -n "${AGAIN:-}" ] || : >"$dir.words"
result() { # word case seconds reason
	echo "$1" >>"$dir.words"
	printf '%s %s/%s/%s (%s s)%s\n' "$1" "$kernel" "$provider" "$2" "$3" "${4:+  $4}" |
		tee -a "${RESULTS:-/dev/null}"
}

has_ours() { [ "$MODULE/${ours:-$1}" = "ours/$1" ]; } # role

# scan <role> [case]: print the complaints of that guest's kernel; with a case, only the first
# complaint during it
scan() {
	local intree=
	has_ours "$1" || intree=y
	INTREE=$intree "$LAB/scan-console.py" "$dir/$1.console" "${@:2}"
}

# excused <name> <reason>: may this case be skipped for this reason? See skips.list.
excused() {
	local pattern why
	[ "$MODULE" = ours ] || return 0
	case $1 in leaks | *-leaks)
		[ "${LEAKS-y}" != y ] || ! kernel_is_checked "$kernel" || [[ ${GUEST_CMDLINE:-} == *kmemleak=off* ]] || return 1 ;;
	esac
	while read -r pattern why; do
		# shellcheck disable=SC2053
		[[ -n $why && $2 == *"$why"* && $CHECKERS/$kernel/$provider/$1 == $pattern ]] && return 0
	done < <(grep -v '^#' "$TOP/scripts/tests/skips.list")
	return 1
}

# last_words <role>: if that guest's kernel panicked, print its console, beginning with the first
# complaint after the start of the last case
last_words() {
	! grep -qs 'Kernel panic' "$dir/$1.console" ||
		tr -d '\r' <"$dir/$1.console" | tac | sed '/lab: begin case/q' | tac | sed -n '/BUG: \|Oops\|general protection\|WARNING: \|Kernel panic/,$p'
}

# After two kinds of failure, the cases without a verdict run again, but only once. First, QEMU's
# emulation sometimes makes a guest panic at boot, for example with an int3 exception. A panic of a
# guest with our module counts as such a failure only if no case had begun and no rpcrdma.ko was
# loaded. Second, the kernel of the guest with the in-tree module may die in a way that deaths.list
# describes.
# again_for: if the group is to be run again, print the guest's role and the reason.
again_for() {
	local console role k p g words last
	[ -z "${AGAIN:-}" ] || return 1
	for console in "$dir"/*.console; do
		role=$(basename "$console" .console)
		grep -qs 'Kernel panic' "$console" || continue
		if has_ours "$role"; then
			! grep -qE 'lab: begin case|rpcrdma: |rdma transport module' "$dir"/*.console && [ ! -s "$dir/shown" ] &&
				! grep -qs '^case ' "$dir"/*.verdict || return 1
			echo "$role died at boot, before any case"
			return
		fi
	done
	for console in "$dir"/*.console; do
		role=$(basename "$console" .console)
		! has_ours "$role" || continue
		last=$(last_words "$role")
		[ -n "$last" ] || continue
		while read -r k p g words; do
			# shellcheck disable=SC2053
			if [[ $kernel == $k && $provider == $p && $group == $g ]] && grep -qE "$words" <<<"$last"; then
				echo "$role, which has the in-tree module, died of what that is known for"
				return
			fi
		done < <(grep -v '^#' "$TOP/scripts/tests/deaths.list" | grep .)
	done
	return 1
}

# fell_with_other <case>: has the case failed because the other guest's kernel had died for a known reason? (A case
# that failed before this death has failed for another reason.)
fell_with_other() {
	local console log
	again_for >/dev/null || return 1
	log=$(find "$dir/log" -name "$1.log" | head -n 1)
	for console in "$dir"/*.console; do
		grep -qs 'Kernel panic' "$console" || continue
		[ -n "$log" ] && [ "$log" -nt "$console" ] || return 1
		# The death of a guest cannot cause these failures
		! grep -qE '^FAIL: .*(differ|wrong|not what|something else|leak|corrupt|mismatch)' "$log" || return 1
	done
}

# show [role]: print the verdicts that come on stdin, except those of cases that fell_with_other()
# excuses. A report of the guest's kernel during a case makes that case fail. If GROUP has a role,
# each name gets group and role as a prefix, because the group has the same cases with either role.
show() {
	local word name sec reason line report
	while read -r line; do
		case $line in 'case '*) line=${line#case } ;; *) continue ;; esac
		word=${line%% *}
		[ "$word" != not ] || word='not ok'
		read -r name sec reason <<<"${line#"$word"}"
		report=
		# The console has marks for the beginning and end of a case, but not for its parts (kunit/...).
		[ -z "${1:-}" ] || [[ $name == */* ]] || report=$(scan "$1" "$name") || report="the console cannot be read"
		if [ -n "$report" ]; then
			word="not ok" reason="kernel report: $report${reason:+; $reason}"
			echo "$name" >>"$dir/$1.blamed"
		elif [ "$word" = "not ok" ] && fell_with_other "$name"; then
			echo "$name" >>"$dir/fell"
			continue
		fi
		echo "$name" >>"$dir/shown"
		[ -z "$ours" ] || name=$label-$name
		case $word in
		ok | 'not ok') ;;
		skip) excused "$name" "$reason" || word='not ok' reason="skipped, which skips.list does not allow: $reason" ;;
		*) reason="a verdict that says $word: $reason" word='not ok' ;;
		esac
		[ "$word" = ok ] || reason="$reason [log: $dir/log]"
		result "$word" "$name" "$sec" "$reason"
	done
}

# expected: write two lists: "expected" has all cases of the group, and "expected.T" has those that
# T selects. A case with "?" before its name need not be reported (expect.py).
expected() {
	local name shown
	"$TOP/scripts/tests/analysers/expect.py" "$kernel" "$provider" "$group" >"$dir/expected" || return
	while read -r name; do
		shown=${name#"?"}
		[ -z "$ours" ] || shown=$label-$shown
		case $name in
		kunit/*) shown=kunit ;;
		wire-form-* | wire2-form-* | wire*-decode | wire*-rules-* | wire*-all-decoded)
			# These results come from the capture. If T selects only some cases, nobody knows which of these
			# results to expect.
			[ "${T:-*}" = '*/*/*' ] || continue ;;
		esac
		# shellcheck disable=SC2053
		[[ $kernel/$provider/$shown == ${T:-*} ]] && echo "$name"
	done <"$dir/expected" >"$dir/expected.T" || true
	[ -s "$dir/expected" ]
}

# account: report expected cases without a verdict, verdicts that are not expected, and cases with two verdicts. (With
# PART, only a part of a set of hostile cases runs. The verdict still has the name of the whole set, which is expected.)
account() {
	local name pattern known absent=() odd=() twice
	expected || { result 'not ok' "$label-expected" 0 "nobody knows what this group has to report"; return; }
	[ "$MODULE" = ours ] || [[ $group != *kunit* ]] || sed -i '/^kunit\//d' "$dir"/expected*
	while read -r name; do
		[[ $name == "?"* || " ${DONE:-} " == *" $name "* ]] || grep -qsxF -- "$name" "$dir/shown" || absent+=("$name")
	done <"$dir/expected.T"
	while read -r name; do
		grep -qxF -e "$name" "$dir/expected" && continue
		known=
		while read -r pattern; do
			# shellcheck disable=SC2053
			[[ $name != ${pattern#"?"} ]] || known=y
		done < <(grep '^?' "$dir/expected")
		[ -n "$known" ] || odd+=("$name")
	done < <(sort -u "$dir/shown")
	((${#absent[@]} == 0)) ||
		result 'not ok' "$label-absent" 0 "${#absent[@]} cases have not reported: $(printf '%s ' "${absent[@]}" | cut -c1-600)[log: $dir/log]"
	((${#odd[@]} == 0)) ||
		result 'not ok' "$label-unexpected" 0 "reported, but neither in the group's file nor in expect.list: ${odd[*]}"
	twice=$(sort "$dir/shown" | uniq -d | tr '\n' ' ')
	[ -z "$twice" ] || result 'not ok' "$label-twice" 0 "reported more than once: ${twice}[log: $dir/log]"
	untried
}

# untried: report what the hostile programs have left out of their sets for a reason that skips.list does not allow, or
# without a word. (With PART, a part of each set runs.)
untried() {
	local case name reason lost=()
	[ "$MODULE/${PART:-}" = ours/ ] || return 0
	"$TOP/scripts/tests/analysers/expect.py" --untried "$dir" "$group" >"$dir/untried" || lost=("nobody knows which")
	while IFS=$'\t' read -r case name reason; do
		[ -n "$reason" ] && excused "$case" "$reason" || lost+=("$case: $name${reason:+ ($reason)}")
	done <"$dir/untried"
	((${#lost[@]} == 0)) || result 'not ok' "$label-untried" 0 "${#lost[@]} cases of sets: $(printf '%s, ' "${lost[@]}" | cut -c1-600)"
}

# ended: record that the group has ended. This comes last, because scripts/test counts a group without such a record
# as failed. LEDGER is the commit, and what scripts/test has chosen; if cases= or T chooses some of the cases, say so.
ended() {
	local choice=${LEDGER:-} words=$group${ours:+:$ours}
	echo "$kernel $provider $words" >>"${OUT:-$dir}/ended"
	[ -n "${LEDGER:-}" ] || return 0
	choice=${choice##* }
	[ "${T:-*}" = '*/*/*' ] || [ "$choice" = soak ] || choice=some
	ledger "${LEDGER%% *}" "$kernel/$provider/$words" "$SECONDS" "$choice" "$(counted ok) passed, $(counted 'not ok') failed, $(counted skip) skipped"
}
counted() { grep -cx "$1" "$dir.words" || true; }

if [ "$(header Guests)" = none ]; then
	rm -rf "$dir"
	mkdir -p "$dir"
	: >"$dir/shown"
	rc=0
	timeout "$limit" "$file" "$kernel" "$dir" >"$dir/verdict" || rc=$?
	show <"$dir/verdict"
	((rc == 0)) || result 'not ok' "$label-host" $SECONDS "no good end: status $rc$late"
	account
	ended
	exit
fi

start() { # role, qemu arguments
	local role=$1 mem
	mem=$(header "Memory:$1")
	local GUEST_MEM=${mem:-${GUEST_MEM:-}}
	shift
	guest_start "$dir" "$(kernel_of "$role")" "$role" "$@" "${qemu[@]}"
	pids+=("$GUEST_PID" "$role")
	{ tail -n +1 -F -s 0.3 --pid="$GUEST_PID" "$dir/$role.verdict" 2>/dev/null || true; } | show "$role" &
	shows+=($!)
}

# start_restartable <role> [qemu arguments]: start a guest that the other guest can kill, stop and continue. The
# other guest does so by creating a file in the run directory: host.kill, host.stop or host.cont. A killed guest boots
# again. The console of each boot that was killed is kept in log/.
start_restartable() {
	local role=$1 life=1 killed
	shift
	# The clock of User-mode Linux continues while it is stopped, so its workqueue watchdog would report a stall.
	[ "$machine" != um ] || local GUEST_CMDLINE="${GUEST_CMDLINE:-} workqueue.watchdog_thresh=0"
	: >"$dir/$role.verdict"
	(
		while :; do
			killed=
			guest_start "$dir" "$kernel" "$role" "$@"
			while kill -0 "$GUEST_PID" 2>/dev/null; do
				if [ -e "$dir/host.kill" ]; then
					killed=y
					kill -KILL "$GUEST_PID"
					wait "$GUEST_PID" 2>/dev/null || true
					rm -f "$dir/host.kill"
				fi
				[ ! -e "$dir/host.stop" ] || { guest_signal STOP "$kernel" "$GUEST_PID" && rm "$dir/host.stop"; }
				[ ! -e "$dir/host.cont" ] || { guest_signal CONT "$kernel" "$GUEST_PID" && rm "$dir/host.cont"; }
				sleep 0.2
			done
			[ -n "$killed" ] || break
			reason=$(scan "$role" | sed -n 1p | cut -f2-) || reason="the console cannot be read"
			mv "$dir/$role.console" "$dir/log/$role.console.$life"
			[ -z "$reason" ] || result 'not ok' "$label-console-$role-$life" 0 "$reason"
			life=$((life + 1))
		done
	) &
	pids+=($! "$role")
	{ tail -n +1 -F -s 0.3 --pid="$!" "$dir/$role.verdict" 2>/dev/null || true; } | show "$role" &
	shows+=($!)
}

extra=()
for role in client server; do
	if [ -n "$ours" ] && [ "$role" != "$ours" ]; then
		extra+=("MODULE_$role=intree" "MODROOT_$role=$(kernel_root "$kernel")")
	fi
done
[ -z "$peer" ] || extra+=("KERNEL_server=$peer" "MODROOT_server=$(module_root "$peer")")
guest_run_dir "$dir" "$kernel" "$provider" T="${T:-*}" CACHE="$CACHE" GROUPS_HERE="${groups[*]}" OURS="$ours" \
	CAPTURE="$(header Capture)" ALL="${ALL:-}" LONG="${LONG:-}" HCA="${HCA:-}" PART="${PART:-}" FIO_SECONDS="${FIO_SECONDS:-60}" \
	ROUNDS="${ROUNDS:-}" VERSION="${VERSION:-}" PATIENCE="$PATIENCE" \
	DONE="${DONE:-}" "${extra[@]}"
: >"$dir/shown"
# Compile peer.c on the host. In a guest this takes seconds, and each set of hostile cases needs the
# library. With the simulated adapter, the library needs the module kpeer.
back=(peer_verbs.c -lrdmacm -libverbs)
[ "$provider" != hca ] || back=(peer_kernel.c)
if [[ $group == *hostile* || $group == *siege* || $group == *many* ]] &&
	! (cd "$TOP/scripts/tests/peers" && cc -O1 -shared -fPIC -o "$dir/peer.so" peer.c "${back[@]}") 2>"$dir/log/peer.log"; then
	result 'not ok' "$label-peer" 0 "peer.c does not compile: $(grep -m 1 error "$dir/log/peer.log" || tail -n 1 "$dir/log/peer.log") [$dir/log/peer.log]"
fi
if [ "$provider" = hca ] && ! module_hca "$kernel" "$dir" >"$dir/log/hca.log" 2>&1; then
	result 'not ok' "$label-hca" 0 "hca_sim does not compile: $(grep -m 1 error "$dir/log/hca.log" || tail -n 1 "$dir/log/hca.log") [$dir/log/hca.log]"
fi
# Build the module gpu or p2p for the group of this name, and kpeer for hostile groups and siege with the
# simulated adapter. (p2p can be built only for a kernel with P2PDMA.)
for helper in gpu p2p kpeer; do
	[[ $group == *$helper* || $helper/$provider/$group == kpeer/hca/*@(hostile|siege)* ]] || continue
	[ $helper != p2p ] || grep -q '^CONFIG_PCI_P2PDMA=y' "$(kernel_kdir "$kernel")/.config" || continue
	module_extra "$kernel" $helper "$dir/$helper" >"$dir/log/$helper.log" 2>&1 || result 'not ok' "$label-$helper" 0 \
		"$helper.c does not compile: $(grep -m 1 error "$dir/log/$helper.log" || tail -n 1 "$dir/log/$helper.log") [$dir/log/$helper.log]"
done
pids=() shows=() t0=$SECONDS
# In a group with a role, the names of cases are printed with the label in front, and T matches
# these names. The guest does not know the label, so T is given to it without the label.
[ -z "$ours" ] || printf 'T=%q\nT=${T//%s-/}\n' "${T:-*}" "$label" >>"$dir/env"

job() {
	cat <<-'END'
	rc=0
	for GROUP in $GROUPS_HERE; do
		# Run the group in the background. As part of a condition, it would run without "set -e", and a failed
		# command would not end it.
		(. "$TOP/scripts/tests/groups/$GROUP.sh"; group) &
		wait $! || rc=1
	done
	[ $rc = 0 ]
	END
}

# wire: print the arguments for a network device that connects two guests. QEMU uses a pair of named sockets. Two
# User-mode Linux processes inherit an unnamed pair, which wired.py makes before it starts this script again. The header
# "Links: 2" gives each guest a second device.
wire() { # role, its peer, last number of its address
	wire_link "$@" 0
	[ "$(header Links)" != 2 ] || wire_link "$@" 1
}

wire_link() { # role, its peer, last number of its address, number of the link
	local mac=52:54:00:00:0$4:0$3 id=wire suffix=
	[ "$4" = 0 ] || { id=wire$4 suffix=.$4; }
	if [ "$machine" = um ]; then
		echo "vec$4:transport=fd,fd=6$(($3 + 2 * $4)),mac=$mac,mtu=9000"
	else
		printf '%s\n' -netdev "dgram,id=$id,local.type=unix,local.path=$dir/wire.$1$suffix,remote.type=unix,remote.path=$dir/wire.$2$suffix" \
			-device "virtio-net,netdev=$id,mac=$mac"
	fi
}

# disk <file>
disk() {
	if [ "$machine" = um ]; then
		echo "ubd0=$1"
	else
		printf '%s\n' -drive "file=$1,format=raw,if=none,id=disk" -device virtio-blk,drive=disk
	fi
}

if [ "$(header Guests)" = pair ]; then
	for role in server client; do job >"$dir/$role.job"; done
	mapfile -t server_args < <(wire server client 1)
	mapfile -t client_args < <(wire client server 2)
	[ "$(header Capture)" != yes ] || [ "$machine" = um ] ||
		server_args+=(-object "filter-dump,id=dump,netdev=wire,file=$dir/wire.pcap")
	if [ "$(header Restart)" = yes ]; then
		truncate -s 512M "$dir/server.img"
		mapfile -t -O ${#server_args[@]} server_args < <(disk "$dir/server.img")
		start_restartable server "${server_args[@]}"
	else
		start server "${server_args[@]}"
	fi
	start client "${client_args[@]}"
else
	job >"$dir/alone.job"
	start alone
fi

rc=0
guest_wait "$dir" "$limit" "${pids[@]}" || rc=1
for i in "${shows[@]}"; do
	wait "$i" 2>/dev/null || result 'not ok' "$label-verdicts" 0 "whoever passes on the verdicts has died: some may be lost [$dir]"
done

# show_reports <role>: look for complaints of that guest's kernel for which no case has failed. If
# there are any, report a failure with the first of them.
show_reports() {
	local name line
	scan "$1" >"$dir/$1.scanned" || printf '%s\t%s\n' - "the console cannot be read" >"$dir/$1.scanned"
	while IFS=$'\t' read -r name line; do
		grep -qsx "$name" "$dir/$1.blamed" || printf '%s\t%s\n' "$name" "$line"
	done <"$dir/$1.scanned" >"$dir/$1.reports"
	if [ -s "$dir/$1.reports" ]; then
		result 'not ok' "$label-console-$1" 0 "$(head -n 1 "$dir/$1.reports" | cut -f2) [$dir/$1.console]"
	fi
}

# show_marks <role>: check that the console has the marks of all cases that have passed or were skipped. Without its marks,
# show() would find no report of the guest's kernel during a case. (A case that reports for a part of another one has none.)
show_marks() {
	local lost
	lost=$(sed -nE 's/^case (ok|skip) ([^ /]+) .*/begin case \2\nend case \2/p' "$dir/$1.verdict" | sort -u |
		comm -23 - <(sed -nE 's/.*lab: ((begin|end) case [a-z0-9-]+).*/\1/p' "$dir/$1.console" | sort -u) | paste -sd,)
	[ -z "$lost" ] || result 'not ok' "$label-console-$1" 0 "the console has lost marks: $lost [$dir/$1.console]"
}

# show_checkers <role>: check that lockdep was still active at the end, and kmemleak, too, unless
# the guest was booted without it. The guest reports the state of both when its job has ended.
show_checkers() {
	local console=$dir/$1.console said lockdep=on kmemleak=on others=
	kernel_is_checked "$kernel" || return 0
	[ -n "${LEAKS-y}" ] && [[ ${GUEST_CMDLINE:-} != *kmemleak=off* ]] || kmemleak=off
	said=$(grep '^checkers ' "$dir/$1.verdict" | tail -n 1) || true
	# If the report is missing, only a guest that ended well fails here. Any other guest has
	# failed already.
	[ -n "$said" ] || ! grep -q '^done 0' "$dir/$1.verdict" || said="checkers none"
	[ -n "$said" ] || return 0
	if [[ $said != *" kmemleak=$kmemleak"* ]]; then
		result 'not ok' "$label-kmemleak-$1" 0 "asked to be $kmemleak, and it says: $said [$console]"
	fi
	[[ $said != *" lockdep=$lockdep"* ]] || return 0
	others=$(has_ours "$1" || export INTREE=y; TOLERATED=y "$LAB/scan-console.py" "$console" | sed -n 1p | cut -f2-)
	if [ -n "$others" ]; then
		result skip "$label-lockdep-$1" 0 "it was off at the end, after a report of others: $others"
	else
		result 'not ok' "$label-lockdep-$1" 0 "it is off at the end, and nothing says why: $said [$console]"
	fi
}

if why=$(again_for); then
	rm -rf "$dir.died"
	cp -r "$dir" "$dir.died"
	role=${why%%[ ,]*}
	say "$kernel/$provider/$label is run again, once: the guest of the $why (see $dir.died)"
	grep -A 20 'Kernel panic' "$dir/$role.console" | tr -d '\r' | head -n 40 >&2 || true
	echo "$kernel/$provider/$label: $why; run again: all but$(tr '\n' ' ' <"$dir/shown" | sed 's/^/ /')$(sed 's/^/; fell with it: /' "$dir/fell" 2>/dev/null | tr -d '\n')" >>"${OUT:-$dir}/again"
	for console in "$dir"/*.console; do
		role=$(basename "$console" .console)
		grep -qs 'Kernel panic' "$console" || show_reports "$role"
	done
	DONE="${DONE:-} $(tr '\n' ' ' <"$dir/shown")" AGAIN=y exec "$0" "$kernel" "$provider" "$3"
fi

for console in "$dir"/*.console; do
	role=$(basename "$console" .console)
	if ! grep -qx 'done 0' "$dir/$role.verdict"; then
		# If the guest died at boot without a panic, its console may have no line with a reason. Then use the last line.
		reason=$(grep -hE '^(FAIL|lab): |Kernel panic - ' "$console" | tail -n 1 | tr -d '\r') || true
		result 'not ok' "$label-guest-$role" $((SECONDS - t0)) \
			"$(tail -n 1 "$dir/$role.log") no good end$late; ${reason:-$(tail -n 1 "$console" | tr -d '\r')} [$console]"
	fi
	show_reports "$role"
	show_marks "$role"
	show_checkers "$role"
done

# The host reads the capture, if the group has the header "Capture".
captured=
for g in "${groups[@]}"; do
	! grep -q '^# Capture: yes' "$TOP/scripts/tests/groups/$g.sh" || captured=y
done
if [ -n "$captured" ]; then
	judge=wire.py
	[ "$provider" = rxe ] || judge=iwarp.py
	if [ ! -s "$dir/wire.pcap" ]; then
		echo "case not ok wire-decode 0 there is no capture" >"$dir/wire.verdict"
	else
		python3 -B "$TOP/scripts/tests/analysers/$judge" "$dir/wire.pcap" >"$dir/wire.verdict" 2>"$dir/log/wire.log" ||
			echo "case not ok wire-decode 0 $(tail -n 1 "$dir/log/wire.log")" >>"$dir/wire.verdict"
	fi
	show <"$dir/wire.verdict"
fi
account
ended
exit $rc
