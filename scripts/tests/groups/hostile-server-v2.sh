# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our client against servers that answer messages of version 2 in ways in which our server never does.
# Guests: alone
# Clock: own
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"

case_server-v2-nego() { hostile server_v2 nego; }
case_server-v2-spoken() { hostile server_v2 spoken; }
# hostile-server.sh runs the following sets in version 1. Many of their cases (hostile_server.py) are
# for both versions.
case_server-v2-replies() { hostile server_v2 replies; }
case_server-v2-memory() { hostile server_v2 memory; }
case_server-v2-credits() { hostile server_v2 credits; }
case_server-v2-connections() { hostile server_v2 connections; }
case_server-v2-callbacks() { hostile server_v2 callbacks; }

group() {
	alone_up
	run_all_cases
	group_end
}
