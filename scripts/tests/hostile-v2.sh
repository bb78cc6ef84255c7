# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Version 2 by hand, and broken, to our server.
# Guests: alone
# Limit: 1800
# Second: none
. "$TOP/scripts/tests/common.sh"

case_v2-messages() { hostile v2 v2-messages; }
case_v2-errors() { hostile v2 v2-errors; }
case_v2-flow() { hostile v2 v2-flow; }
case_v2-callbacks() { hostile v2 v2-callbacks; }

group() {
	# caller.py looks at it.
	export ALL
	# nfsd gives a callback up after a tenth of the lease.
	LEASE=90 alone_up
	run_all_cases
	group_end
}
