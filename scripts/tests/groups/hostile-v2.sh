# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our server against test clients (hostile_v2.py), which send valid and invalid messages of version
# 2. The cases v2-as1-* are those of hostile-client, run in version 2.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"

case_v2-messages() { hostile v2 v2-messages; }
case_v2-errors() { hostile v2 v2-errors; }
case_v2-flow() {
	ice_up
	trap ice_down EXIT
	hostile v2 v2-flow
}
case_v2-callbacks() { hostile v2 v2-callbacks; }
# Covers: V2-CHK-02 V2-HDR-17
case_v2-as1-messages() { hostile v2 messages; }
case_v2-as1-chunks() { hostile v2 chunks; }
case_v2-as1-endings() { hostile v2 endings; }
case_v2-as1-reads() { hostile v2 reads; }
case_v2-as1-writes() { hostile v2 writes; }
# Covers: V2-BC-11 V2-BC-01
case_v2-as1-callbacks() { hostile v2 callbacks; }
# Covers: V2-CRD-12 V2-CHK-16
case_v2-as1-flow() { hostile v2 flow; }

group() {
	# caller.py reads ALL.
	export ALL
	# nfsd gives up a callback after a tenth of the lease time.
	LEASE=90 alone_up
	without_targets run_all_cases
	group_end
}
