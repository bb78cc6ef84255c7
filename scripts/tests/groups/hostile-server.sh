# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our client against servers that send answers which our server would never send.
# Guests: alone
# Clock: own
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

case_server-replies() { hostile server replies; }
case_server-memory() { hostile server memory; }
case_server-credits() { hostile server credits; }
case_server-connections() { hostile server connections; }
case_server-callbacks() { hostile server callbacks; }

group() {
	alone_up
	run_all_cases
	group_end
}
