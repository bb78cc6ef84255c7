# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our server against clients that misbehave: they send messages and chunks that our client would never send, flood the
# server with messages, or do not answer callbacks.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

case_client-messages() { hostile calls messages; }
case_client-chunks() { hostile calls chunks; }
case_client-endings() {
	hostile calls endings
	# An honest client still works.
	with_mount 4.2 checked small
}
case_client-reads() { hostile client reads; }
case_client-writes() { hostile client writes; }
case_client-callbacks() { hostile client callbacks; }
case_client-flow() { hostile client flow; }

group() {
	# caller.py reads ALL.
	export ALL
	# nfsd gives up a callback after a tenth of the lease time. With the default lease of these tests, that would
	# be too early for some cases. MAX_BLOCK is nfsd's max_block_size, which limits the payload of an RPC.
	LEASE=150 MAX_BLOCK=4194304 alone_up
	run_all_cases
	group_end
}
