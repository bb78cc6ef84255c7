# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Hand-made messages of the round-trip extension of version 2, valid and invalid, to our server.
# Guests: alone
# Clock: own
# Limit: 2400
# Second: none
. "$TOP/scripts/tests/cases.sh"

# The hand-made clients can write and read the examples of the specification.
case_rtx-examples() { python3 -I -S -c 'import sys
sys.path.insert(0, sys.argv[1] + "/scripts/tests/peers")
sys.dont_write_bytecode = True
import rtx
rtx.main()' "$TOP"; }
case_rtx-good() { hostile rtx rtx-good; }
case_rtx-bad() { hostile rtx rtx-bad; }
case_rtx-callbacks() { hostile rtx rtx-callbacks; }
case_rtx-silence() { hostile rtx rtx-silence; }
case_rtx-storm() { hostile rtx rtx-storm; }
# With Receives of each size, and while a page of each of many Calls is held
# Covers: RTX-34
case_rtx-placed() {
	local pages=/sys/module/rpcrdma/parameters/rtx_pages n
	trap 'echo 0 >'$pages'; cat $DEBUG/server_kept || true' EXIT
	for n in 2 4 8; do
		echo $n >$pages
		# The server's reply cache has the XIDs of the previous run, so use others.
		FIRST_XID=$((n << 20)) counted server_calls_placed 20 $ANY counted receives_renewed 0 0 \
			hostile rtx rtx-placed
		[ -e $DEBUG/server_keep ] || continue
		echo 250 >$DEBUG/server_keep
		FIRST_XID=$((n << 24)) counted receives_renewed 250 250 hostile rtx rtx-placed
		grep '^changed 0$' $DEBUG/server_kept || die "what was kept has changed"
	done
	echo 0 >$pages
	trap - EXIT
}

group() {
	# caller.py reads ALL. A hundred thousand groups of each kind then take long.
	export ALL
	[ -z "$ALL" ] || CASE_LIMIT=3600
	# nfsd gives up a callback after a tenth of the lease.
	LEASE=90 alone_up
	run_all_cases
	group_end
}
