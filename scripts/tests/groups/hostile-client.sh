# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Messages and chunks that no client of ours would send, floods and callbacks unanswered, to
# our server.
# Guests: alone
# Limit: 2400
# Second: rxe
. "$TOP/scripts/tests/cases.sh"

case_client-messages() { hostile calls messages; }
case_client-chunks() { hostile calls chunks; }
case_client-endings() {
	hostile calls endings
	# Nothing of it has harmed those who behave.
	with_mount 4.2 checked small
}
case_client-reads() { hostile client reads; }
case_client-writes() { hostile client writes; }
case_client-callbacks() { hostile client callbacks; }
case_client-flow() { hostile client flow; }

group() {
	# caller.py looks at it.
	export ALL
	# nfsd gives a callback up after a tenth of the lease: cases want to think longer. The largest
	# payload is what the kernel makes of this.
	LEASE=150 MAX_BLOCK=4194304 alone_up
	run_all_cases
	group_end
}
