# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our client against servers that use the round-trip extension of version 2 in ways in which our server never does.
# Guests: alone
# Clock: own
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

case_server-rtx-calls() { hostile server_rtx rtx-calls; }
case_server-rtx-replies() { hostile server_rtx rtx-replies; }
case_server-rtx-errors() { hostile server_rtx rtx-errors; }
case_server-rtx-connections() { hostile server_rtx rtx-connections; }

group() {
	export ALL ROUNDS
	[ -z "$ALL$ROUNDS" ] || CASE_LIMIT=3600
	alone_up
	# Set the largest size of a WRITE that is sent as a group. By default the client computes it
	# from the measured round-trip time, which a slow Python program makes too long here.
	tune 65536 /sys/module/rpcrdma/parameters/rdma_rtx_write_max
	run_all_cases
	tune 0 /sys/module/rpcrdma/parameters/rdma_rtx_write_max
	group_end
}
