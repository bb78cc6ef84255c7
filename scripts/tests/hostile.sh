# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Messages that no client of ours would send, to our server.
# Guests: alone
# Limit: 2400
# Quick: siw
# Second: rxe
. "$TOP/scripts/tests/common.sh"

# Covers: V1-ERR-27
case_hostile() {
	local errors tool
	[ "$MODULE" = ours ] || skip "the in-tree server answers some of these in its own way"
	tool=$(mktemp)
	cc -O1 -o "$tool" "$TOP/scripts/tests/hostile.c" -lrdmacm -libverbs 2>"$tool.log" ||
		skip "hostile.c does not compile here (librdmacm-dev?): $(tail -n 1 "$tool.log")"
	errors=$(counter server_bad_headers)
	"$tool" $SERVER $PORT || die "a message was not treated as it should be"
	[ "$(($(counter server_bad_headers) - errors))" -ge 20 ] || die "refused messages are not counted"
	# Nothing of it has harmed those who behave.
	with_mount 4.2 checked small
}

group() {
	alone_up
	run_all_cases
	group_end
}
