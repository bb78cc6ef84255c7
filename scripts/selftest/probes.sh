#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check that the probes of include/compat/Kbuild notice kernels that they do not know, and that the
# step "headers" of make check notices probes that have the same result for all kernels. The kernels
# here are directories with headers made from the patterns of the probes, so this needs no kernel.
# Prints "ok <name>" or "not ok <name> <why>" for each test. The status is 1 if any failed.
set -uo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export RPCRDMA_CACHE=$tmp/cache
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$tmp/cache"

fail() { echo "$*"; return 1; }

# probes: print kind, name, header, present form, header of the older form and older form of each probe, with commas
# between them
probes() {
	sed -nE 's/^rpcrdma-compat \+= \$\(call rpcrdma-(\w+),(.*)\)$/\1,\2/p' "$tree/include/compat/Kbuild" |
		awk -F, -v OFS=, '{ print $1, $2, $3, $4, $6 == "" ? $3 : $6, $5 }'
}

# kernel <form> [probe]: write the headers of a kernel that has the present or older form of each interface. If a probe is
# given, the kernel has neither form of the interface of this probe.
kernel() {
	local name new_in new old_in old where what
	rm -rf "$tmp/include"
	mkdir -p "$tmp/include/linux/sunrpc"
	touch "$tmp/include/linux/sunrpc/svc.h"
	while IFS=, read -r _ name new_in new old_in old; do
		if [ "$1" = present ]; then where=$new_in what=$new; else where=$old_in what=$old; fi
		[ "$name" != "${2:-}" ] || what=nothing
		mkdir -p "$(dirname "$tmp/include/$where")"
		sed 's/\\[<>]//g; s/\[\[:space:\]\]\*/ /g' <<<"$what" >>"$tmp/include/$where"
	done < <(probes)
}

# look: print the compiler flags that include/compat/Kbuild chooses for this kernel
look() {
	printf 'srctree := %s\nsrc := %s\nLINUXINCLUDE := -Ikernel\ninclude $(src)/include/compat/Kbuild\nall:\n\t@echo $(LINUXINCLUDE)\n' \
		"$tmp" "$tree" | make -s -f - all 2>&1
}

test_probes-present() {
	kernel present
	[ "$(look)" = "$(probes | sed -n 's/^macro,\([^,]*\).*/-D\1/p' | tr '\n' ' ')-Ikernel" ] || fail "not only the macros: $(look)"
}

test_probes-older() {
	kernel older
	[ "$(look)" = "$(probes | sed -n "s#^[sr][a-z]*,\([^,]*\).*#-I$tree/include/compat/\1#p" | tr '\n' ' ')-Ikernel" ] ||
		fail "not only the shims: $(look)"
}

# A probe that finds neither form stops make, with one line that names the probe.
test_probes-unknown() {
	local name
	for name in $(probes | cut -d, -f2); do
		kernel older "$name"
		[ "$(look | grep -c "does not know this kernel.*see $name in")" = 1 ] || fail "taken for known: $name" || return
	done
}

# compiles <file> <probe...>: write to <file> a command like the one that headers_command() (lab/headers.sh) writes for
# a kernel on which exactly these probes have an effect. The command is never run.
compiles() {
	local file=$1 name
	shift
	{
		printf gcc
		for name; do
			if [ -d "$tree/include/compat/$name" ]; then printf ' -I/tree/include/compat/%s' "$name"; else printf ' -D%s' "$name"; fi
		done
		echo ' -Ikernel'
	} >"$file"
}

# judge: print what the step "headers" reports about two kernels
judge() { bash -c '. "$0/scripts/lab/headers.sh"; headers_probes "$@" || exit' "$tree" "$tmp/one" "$tmp/two" 2>&1; }

test_probes-differ() {
	local names
	mapfile -t names < <(probes | cut -d, -f2)
	compiles "$tmp/one" "${names[@]}"
	compiles "$tmp/two"
	judge || fail "refused"
}

# A probe that has an effect on all kernels, or on none, is reported.
test_probes-same() {
	local names others name
	mapfile -t names < <(probes | cut -d, -f2)
	for name in "${names[@]}"; do
		compiles "$tmp/one" "${names[@]}"
		compiles "$tmp/two" "$name"
		[ "$(judge)" = "the probe $name tells nothing: 2 of 2 kernels need it" ] || fail "not told: $name, $(judge)" || return
		! judge >/dev/null || fail "told, but not refused: $name" || return
		mapfile -t others < <(printf '%s\n' "${names[@]}" | grep -vx "$name")
		compiles "$tmp/one" "${others[@]}"
		compiles "$tmp/two"
		[ "$(judge)" = "the probe $name tells nothing: 0 of 2 kernels need it" ] || fail "not told: $name, $(judge)" || return
	done
}

test_shim-without-probe() {
	local names
	mkdir "$tmp/copy"
	cp -r "$tree/scripts" "$tree/include" "$tree/Kbuild" "$tmp/copy/"
	mkdir "$tmp/copy/include/compat/forgotten"
	mapfile -t names < <(probes | cut -d, -f2)
	compiles "$tmp/one" "${names[@]}"
	compiles "$tmp/two"
	[[ "$(tree=$tmp/copy judge)" == "no probe uses "*/forgotten/ ]] || fail "not told"
}

bad=0
for name in $(sed -n 's/^test_\([a-z0-9-]*\)().*/\1/p' "$0"); do
	if out=$("test_$name" 2>&1); then echo "ok $name"; else echo "not ok $name $(tail -n 1 <<<"$out")"; bad=1; fi
done
exit $bad
