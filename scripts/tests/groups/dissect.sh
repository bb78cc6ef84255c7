#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Test the Wireshark dissector for version 2, on the host. The test neither needs a guest nor depends on the kernel, so
# make test runs it for one kernel only.
# Guests: none
# Providers: rxe
# Also: dissect
#
# usage: dissect.sh KERNEL DIRECTORY     (run by run-group.sh; results on stdout)
. "$(dirname "$0")/../../lab/host.sh"

need_packages "${PKG_WIRE[@]}"
mkdir -p "$2/log"
python3 -B "$TOP/scripts/tests/analysers/dissect.py" "$2" 2>"$2/log/dissect.log" ||
	echo "case not ok dissect 0 $(tail -n 1 "$2/log/dissect.log")"
