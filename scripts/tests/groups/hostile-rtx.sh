# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our server against test clients (hostile_rtx.py), which send valid and invalid messages of the
# round-trip extension.
# Guests: alone
# Clock: own
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

# Check the codec of the test clients (rtx.py) with the examples of the specification (rtx.rst).
case_rtx-examples() { python3 -I -S -c 'import sys
sys.path.insert(0, sys.argv[1] + "/scripts/tests/peers")
sys.dont_write_bytecode = True
import rtx
rtx.main()' "$TOP"; }
case_rtx-good() { hostile rtx rtx-good; }
case_rtx-bad() { hostile rtx rtx-bad; }
case_rtx-frozen() {
	ice_up
	trap ice_down EXIT
	hostile rtx rtx-frozen
}
case_rtx-callbacks() { hostile rtx rtx-callbacks; }
case_rtx-silence() { hostile rtx rtx-silence; }
case_rtx-storm() { hostile rtx rtx-storm; }
# Run rtx-placed with Receives of 2, 4 and 8 pages. With each size, run it once more while a page of each of 250 Calls
# is held, so that the Receives of these Calls must get new pages (receives_renewed).
# Covers: RTX-34
case_rtx-placed() {
	local n
	trap 'echo 0 >'$PAGES'; cat $DEBUG/server_kept || true' EXIT
	for n in 2 4 8; do
		echo $n >$PAGES
		# Do not use the XIDs of the previous run, because the server's reply cache still
		# has them.
		FIRST_XID=$((n << 20)) counted server_calls_placed 20 $ANY counted receives_renewed 0 0 \
			hostile rtx rtx-placed
		[ -d $DEBUG/server_keep ] || continue
		fault server_keep 250
		FIRST_XID=$((n << 24)) counted receives_renewed 250 250 hostile rtx rtx-placed
		grep '^changed 0$' $DEBUG/server_kept || die "what was kept has changed"
	done
	echo 0 >$PAGES
	trap - EXIT
}

group() {
	# caller.py and hostile_rtx.py read ALL, and hostile_rtx.py reads ROUNDS. With ALL, the case
	# storms() sends the first two kinds of bad groups a hundred thousand times each, and the
	# others less often. With ROUNDS, it sends each kind that number of times. Both take long.
	export ALL ROUNDS
	[ -z "$ALL$ROUNDS" ] || CASE_LIMIT=3600
	# nfsd gives up a callback after a tenth of the lease time.
	LEASE=90 alone_up
	# Only case_rtx-placed uses targets.
	without_targets run_all_cases
	group_end
}
