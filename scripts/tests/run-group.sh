#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run one group of test cases on one kernel and provider: boot its guest or guests, pass on
# each case's result as it comes, and add what only the host can see: a guest that died,
# a kernel report outside all cases, what the wire carried.
#
# usage: run-group.sh KERNEL PROVIDER GROUP
# A group is scripts/tests/<group>.sh. Several with one guest can share it, one after the
# other: GROUP is <group>+<group>... For two guests GROUP is <group>[:<role>], where the
# role (client or server) is the one that runs our module, both if it is left out. One that
# needs no guest is a program that runs on the host. Its header "Cmdline" is for the kernel. GUEST_CPUS=2 is the number of processors
# of a guest; LEAKS= has it boot without kmemleak.
# Prints "ok|not ok|skip <kernel>/<provider>/<case> (<seconds> s) <reason>".
. "$(dirname "$0")/../lab/guest.sh"

kernel=$1 provider=$2 group=$3 ours=
case $group in *:*) ours=${group#*:} group=${group%:*} ;; esac
label=$group${ours:+-$ours}
dir=${OUT:-$TREE/run/group-$$}/$kernel-$provider-$label
IFS=+ read -ra groups <<<"$group"
file=$TOP/scripts/tests/${groups[0]}.sh
header() { sed -n "s/^# $1: //p" "$file" | head -n 1; }
machine=$(kernel_machine "$kernel")
if [ "$machine/$(header Guests)" = um/pair ] && [ -z "${WIRED:-}" ]; then
	export WIRED=y
	exec "$TOP/scripts/lab/wired.py" "$0" "$@"
fi
# A kernel that watches for races takes several times as long.
export PATIENCE=1
[ "$CHECKERS" = debug ] || PATIENCE=4
limit=$((($(header Limit) + 600 * (${#groups[@]} - 1)) * PATIENCE))
cmdline=$(header Cmdline)
[ -z "$cmdline" ] || export GUEST_CMDLINE="${GUEST_CMDLINE:-} $cmdline"
[ -n "${LEAKS-y}" ] || export GUEST_CMDLINE="${GUEST_CMDLINE:-} kmemleak=off"

result() { # word case seconds reason
	printf '%s %s/%s/%s (%s s)%s\n' "$1" "$kernel" "$provider" "$2" "$3" "${4:+  $4}" |
		tee -a "${RESULTS:-/dev/null}"
}

has_ours() { [ "$MODULE/${ours:-$1}" = "ours/$1" ]; } # role

# scan <role> [case]: what its kernel complained of
scan() {
	local intree=
	has_ours "$1" || intree=y
	INTREE=$intree "$LAB/scan-console.py" "$dir/$1.console" "${@:2}"
}

# Now and then the emulation goes wrong at boot, with an int3 or with flags that no processor has,
# before there is anything of ours in the kernel. And the in-tree module's kernel may die of what that
# module does. Neither says anything about ours: the cases that are left get new guests, twice.
died_of_other() {
	local console role found=
	[ "${AGAIN:-0}" -lt 2 ] || return 1
	for console in "$dir"/*.console; do
		role=$(basename "$console" .console)
		grep -qs 'Kernel panic' "$console" || continue
		if has_ours "$role" && grep -qE 'rpcrdma: |rdma transport module' "$console"; then
			return 1
		fi
		found=$role
	done
	echo "$found"
	[ -n "$found" ]
}

# show [role]: pass on the verdicts at stdin, and hold a report of the guest's kernel against
# the case. Cases of a pair are named after the role, or both directions would look the same.
show() {
	local word name sec reason line report ours_says
	while read -r line; do
		case $line in 'case '*) line=${line#case } ;; *) continue ;; esac
		word=${line%% *}
		[ "$word" != not ] || word='not ok'
		read -r name sec reason <<<"${line#"$word"}"
		report='' ours_says=
		# The marks in the log are of whole cases, not of parts of one (kunit/...).
		[ -z "${1:-}" ] || [[ $name == */* ]] || report=$(scan "$1" "$name")
		if [ -n "$report" ]; then
			word="not ok" reason="kernel report: $report${reason:+; $reason}"
			echo "$name" >>"$dir/$1.blamed"
			! has_ours "$1" || ours_says=y
		fi
		[ "$word" != "not ok" ] || [ -n "$ours_says" ] || ! died_of_other >/dev/null || continue
		echo "$name" >>"$dir/shown"
		[ -z "$ours" ] || name=$label-$name
		[ "$word" = ok ] || reason="$reason [log: $dir/log]"
		result "$word" "$name" "$sec" "$reason"
	done
}

if [ "$(header Guests)" = none ]; then
	mkdir -p "$dir"
	"$file" "$kernel" "$dir" | show || result 'not ok' "$label-host" $SECONDS "no good end"
	exit
fi

start() { # role, qemu arguments
	local role=$1
	shift
	guest_start "$dir" "$kernel" "$role" "$@"
	pids+=("$GUEST_PID" "$role")
	tail -n +1 -F -s 0.3 --pid="$GUEST_PID" "$dir/$role.verdict" 2>/dev/null | show "$role" &
	shows+=($!)
}

# start_restartable <role> [qemu arguments]: a guest that its partner can have killed, stopped
# and continued, by files in the run directory: host.kill, host.stop, host.cont. A killed one
# boots again. What its kernel said until then is kept in log/.
start_restartable() {
	local role=$1 life=1 killed
	shift
	# The clock of User-mode Linux goes on while it is stopped.
	[ "$machine" = x86 ] || local GUEST_CMDLINE="${GUEST_CMDLINE:-} workqueue.watchdog_thresh=0"
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
			reason=$(scan "$role" | head -n 1 | cut -f2-)
			mv "$dir/$role.console" "$dir/log/$role.console.$life"
			[ -z "$reason" ] || result 'not ok' "$label-console-$role-$life" 0 "$reason"
			life=$((life + 1))
		done
	) &
	pids+=($! "$role")
	tail -n +1 -F -s 0.3 --pid="$!" "$dir/$role.verdict" 2>/dev/null | show "$role" &
	shows+=($!)
}

extra=()
for role in client server; do
	if [ -n "$ours" ] && [ "$role" != "$ours" ]; then
		extra+=("MODULE_$role=intree" "MODROOT_$role=$(kernel_root "$kernel")")
	fi
done
guest_run_dir "$dir" "$kernel" "$provider" T="${T:-*}" GROUPS_HERE="${groups[*]}" OURS="$ours" \
	CAPTURE="$(header Capture)" ALL="${ALL:-}" PART="${PART:-}" FIO_SECONDS="${FIO_SECONDS:-60}" \
	ROUNDS="${ROUNDS:-}" VERSION="${VERSION:-}" PATIENCE="$PATIENCE" \
	DONE="${DONE:-}" "${extra[@]}"
: >"$dir/shown"
# A compiler takes seconds in a guest, and each set of hostile cases wants it.
[[ $group != *hostile* && $group != *siege* ]] ||
	cc -O1 -shared -fPIC -o "$dir/peer.so" "$TOP/scripts/tests/peer.c" -lrdmacm -libverbs 2>"$dir/log/peer.log" || true
pids=() shows=() t0=$SECONDS
# A pattern names cases as they are shown.
[ -z "$ours" ] || printf 'T=%q\nT=${T//%s-/}\n' "${T:-*}" "$label" >>"$dir/env"

job() {
	cat <<-'END'
	rc=0
	for GROUP in $GROUPS_HERE; do
		# In the background, or what fails in it would not end it.
		(. "$TOP/scripts/tests/$GROUP.sh"; group) &
		wait $! || rc=1
	done
	[ $rc = 0 ]
	END
}

# The wire between two guests: in QEMU a pair of sockets with names; two programs of this host
# inherit a pair without, which is made before this shell is.
wire() { # role, its peer, last number of its address
	local mac=52:54:00:00:00:0$3
	if [ "$machine" = um ]; then
		echo "vec0:transport=fd,fd=6$3,mac=$mac,mtu=9000"
	else
		printf '%s\n' -netdev "dgram,id=wire,local.type=unix,local.path=$dir/wire.$1,remote.type=unix,remote.path=$dir/wire.$2" \
			-device "virtio-net-pci,netdev=wire,mac=$mac"
	fi
}

# disk <file>
disk() {
	if [ "$machine" = um ]; then
		echo "ubd0=$1"
	else
		printf '%s\n' -drive "file=$1,format=raw,if=none,id=disk" -device virtio-blk-pci,drive=disk
	fi
}

if [ "$(header Guests)" = pair ]; then
	for role in server client; do job >"$dir/$role.job"; done
	mapfile -t server_args < <(wire server client 1)
	mapfile -t client_args < <(wire client server 2)
	[ "$(header Capture)/$machine" != yes/x86 ] ||
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
wait "${shows[@]}" 2>/dev/null || true

# show_reports <role>: what its kernel complained of, but for what a case was blamed for already
show_reports() {
	local name line
	scan "$1" | while IFS=$'\t' read -r name line; do
		grep -qsx "$name" "$dir/$1.blamed" || printf '%s\t%s\n' "$name" "$line"
	done >"$dir/$1.reports"
	if [ -s "$dir/$1.reports" ]; then
		result 'not ok' "$label-console-$1" 0 "$(head -n 1 "$dir/$1.reports" | cut -f2) [$dir/$1.console]"
	fi
}

if role=$(died_of_other); then
	rm -rf "$dir.died"
	cp -r "$dir" "$dir.died"
	say "the $role guest of $kernel/$provider/$label died, and not of our module; once more (see $dir.died)"
	grep -A 20 'Kernel panic' "$dir/$role.console" | tr -d '\r' | head -n 40
	for console in "$dir"/*.console; do
		role=$(basename "$console" .console)
		grep -qs 'Kernel panic' "$console" || show_reports "$role"
	done
	DONE="${DONE:-} $(tr '\n' ' ' <"$dir/shown")" AGAIN=$((${AGAIN:-0} + 1)) exec "$0" "$@"
fi

for console in "$dir"/*.console; do
	role=$(basename "$console" .console)
	if ! grep -qx 'done 0' "$dir/$role.verdict"; then
		# One that died at boot has said nothing.
		reason=$(grep -hE '^(FAIL|lab): ' "$console" | tail -n 1 | tr -d '\r') || true
		result 'not ok' "$label-guest-$role" $((SECONDS - t0)) \
			"$(tail -n 1 "$dir/$role.log") no good end; ${reason:-$(tail -n 1 "$console" | tr -d '\r')} [$console]"
	fi
	show_reports "$role"
done

if [ -e "$dir/wire.pcap" ]; then
	judge=wire.py
	[ "$provider" = rxe ] || judge=iwarp.py
	python3 "$TOP/scripts/tests/$judge" "$dir/wire.pcap" >"$dir/wire.verdict" 2>"$dir/log/wire.log" ||
		echo "case not ok wire-decode 0 $(tail -n 1 "$dir/log/wire.log")" >>"$dir/wire.verdict"
	show <"$dir/wire.verdict"
fi
exit $rc
