# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Chunks that no client of ours would offer, floods and callbacks unanswered, to our server.
# Guests: alone
# Limit: 2400
# Second: rxe
. "$TOP/scripts/tests/common.sh"

case_client-reads() { hostile client reads; }
case_client-writes() { hostile client writes; }
case_client-callbacks() { hostile client callbacks; }
case_client-flow() { hostile client flow; }

group() {
	# nfsd gives a callback up after a tenth of the lease: cases want to think longer.
	LEASE=90 alone_up
	run_all_cases
	case_run clean
}
