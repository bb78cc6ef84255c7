# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The round-trip extension of version 2 by hand, and broken, to our server.
# Guests: alone
# Clock: own
# Limit: 2400
# Second: none
. "$TOP/scripts/tests/cases.sh"

# What plays the clients makes and reads the examples of the specification.
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
case_rtx-placed() { hostile rtx rtx-placed; }

group() {
	# caller.py looks at it, and a hundred thousand groups of each kind take their time.
	export ALL
	[ -z "$ALL" ] || CASE_LIMIT=3600
	# nfsd gives a callback up after a tenth of the lease.
	LEASE=90 alone_up
	run_all_cases
	group_end
}
