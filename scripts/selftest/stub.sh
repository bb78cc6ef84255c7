# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# scripts/selftest/run appends this to lab/guest.sh in its copy of the tree. A guest is then a shell that sources
# $SCENARIO. There is no kernel and no module. A scenario may call the functions that guest_start() defines, such as
# verdict(), as in lib.sh, and says(), which writes a line to the guest's console.
kernel_machine() { echo x86; }
kernel_root() { echo /nowhere; }
guest_accel() { echo tcg; }
module_ready() { :; }
need_packages() { :; }
guest_start() {
	local dir=$1 role=$3
	: >"$dir/$role.verdict"
	: >"$dir/$role.console"
	: >"$dir/$role.log"
	mkdir -p "$dir/log/$role"
	(
		verdict() { echo "$*" >>"$dir/$role.verdict"; }
		says() { echo "[    1.000000] $*" >>"$dir/$role.console"; }
		# reports <word> <case> [reason]
		reports() {
			says "lab: begin case $2"
			[ -z "${3:-}" ] || echo "FAIL: $3" >"$dir/log/$role/$2.log"
			says "lab: end case $2"
			verdict "case $1 $2 0 ${3:-}"
		}
		ends() {
			verdict "checkers ${1:-lockdep=on kmemleak=on}"
			verdict "done 0"
		}
		all_well() {
			reports ok one
			reports ok two
			reports ok clean
			reports ok leaks
		}
		. "$SCENARIO"
	) &
	# shellcheck disable=SC2034
	GUEST_PID=$!
	[ -z "${GUEST_FOREGROUND:-}" ] || wait
}
