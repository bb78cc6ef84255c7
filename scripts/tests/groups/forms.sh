# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Capture messages of every form over siw, in one guest. make test runs this group on 6.12, where it does not run the
# group wire. If both ends are on one machine, siw uses the loopback device, as any TCP connection does. The host then
# reads the capture (iwarp.py), and reports the cases that are named after "Also".
# Guests: alone
# Limit: 2400
# Capture: yes
# Providers: siw
# Also: wire-decode
# Also: wire-form
# Also: wire-all-decoded
# Also: wire2-decode
# Also: wire2-form
. "$TOP/scripts/tests/groups/wire.sh"

case_forms-v3() { with_mount 3 v3_traffic; }
case_forms-v42() { with_mount 4.2 v42_traffic; }
case_forms-backchannel() { delegation 4.2 remote_writer; }
case_forms-v2() { on_2 with_mount 4.2 v42_traffic; }

group() {
	local pid
	alone_up
	tcpdump -Z root -i lo -s 0 -B 100000 -U -w /lab/wire.pcap tcp 2>/lab/log/tcpdump &
	pid=$!
	until_true 20 grep -q 'listening on' /lab/log/tcpdump || die "tcpdump does not begin: $(cat /lab/log/tcpdump)"
	run_all_cases
	kill $pid
	wait $pid || true
	group_end
}
