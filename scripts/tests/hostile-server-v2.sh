# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Servers that answer version 2 in ways of their own, to our client.
# Guests: alone
# Limit: 2400
# Second: none
. "$TOP/scripts/tests/common.sh"

case_server-v2-nego() { hostile server_v2 nego; }
case_server-v2-spoken() { hostile server_v2 spoken; }

group() {
	alone_up
	run_all_cases
	group_end
}
