#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check the lock-free protocols of the module in the memory model of the kernel (tools/memory-model of 7.3), with herd7.
# Each file of litmus/ is a test: the accesses of one protocol, and an outcome that must never happen. A line may end
# with "// or:" and other code, or nothing. For each such line, there is a weaker variant, with the other code in its
# place. In this variant the outcome must happen: otherwise the line is not needed, or the test shows nothing.
#
# usage: litmus.sh [test]     check all tests, or show what herd7 says of one test and of its variants
. "$(dirname "${BASH_SOURCE[0]}")/../lab/kernel.sh"
HERD=$CACHE/herd

# Debian has had herd7 since forky. It may need a newer C library than this host has, so it gets its own.
herd_ready() {
	local pkg deb tmp=$HERD.tmp
	[ ! -e "$HERD/herd7" ] || return 0
	# shellcheck disable=SC2034
	local LAB_APT=$CACHE/apt-forky LAB_SUITES=(forky)
	lock herd
	[ ! -e "$HERD/herd7" ] || return 0
	need_room 500
	rm -rf "$tmp" "$HERD" "$LAB_APT/updated"
	mkdir -p "$tmp/all"
	for pkg in herdtools7 libc6 libgmp10; do
		deb=$(deb_fetch $pkg forky) || exit
		with_log "unpacking $pkg" "$CACHE/log/unpack-herd" dpkg -x "$deb" "$tmp/all" || exit
	done
	mv "$tmp"/all/usr/{bin/herd7,share/herdtools7/herd,lib/x86_64-linux-gnu} "$tmp"
	rm -rf "$tmp/all"
	mv "$tmp" "$HERD"
}

herd() {
	local lib=$HERD/x86_64-linux-gnu model
	model=$(kernel_src 7.3)/tools/memory-model
	"$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$HERD/herd7" -set-libdir "$HERD/herd" -I "$model" \
		-conf "$model/linux-kernel.cfg" "$@"
}

# Write a test and its variants to the present directory. The name of each in herd7's output ends with the result that
# it must have.
variants() {
	local name line=
	name=$(basename "$1" .litmus)
	sed "1s/.*/C ${name}_Never/" "$1" >"$name.litmus"
	for line in $(sed -n '\|// or:|=' "$1"); do
		sed -E "1s/.*/C ${name}_line${line}_Sometimes/; ${line}s|^(\s*).*// or:|\1|" "$1" >"$name-$line.litmus"
	done
	[ -n "$line" ] || echo "$name: no line has a weaker form"
}

(kernel_source_locked 7.3)
(herd_ready)
work=$TREE/litmus
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit
bad=$(
	for file in "$TOP"/scripts/proofs/litmus/${1:-*}.litmus; do variants "$file"; done
	herd ./*.litmus 2>&1 >out || true
	awk '/^Test / { test = $2 } /^Flag / || /^Observation / && $2 !~ "_" $3 "$" { print test ": " $0 }
		/^Observation / { seen++ } END { if (seen != tests) print seen + 0 " of " tests " tests have a result" }' \
		tests="$(ls ./*.litmus | wc -l)" out
	# locking.rst names each test beside its protocol.
	comm -3 <(basename -s .litmus "$TOP"/scripts/proofs/litmus/* | sort) \
		<(grep -oP 'litmus: \K[a-z-]+' "$TOP/Documentation/locking.rst" | sort -u) |
		sed 's/^\t/no such test: /; t; s/^/not in locking.rst: /'
)
[ $# = 0 ] || cat out
[ -z "$bad" ] || { echo "$bad"; exit 1; }
