#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prove properties of net/wire and net/core with CBMC, a bounded model checker: for all inputs up to a bound, no proof
# of cbmc/*.c fails, there is no undefined behaviour, no unsigned arithmetic wraps, and each loop ends within the bound.
#
# A proof is a function prove_<name>(). The comment above it has these lines:
#   bound:   options of CBMC: the size of the input (-DSIZE), how often loops are repeated, and perhaps -DLIMIT, which
#            replaces RPCRDMA_MAX_CHUNKS and RPCRDMA_MAX_SEGS, so that a short list exceeds these limits
#   deep:    the same with larger bounds, for DEEP=y
#   mutant:  a fault, as a script for sed, which changes net or include; with it, the proof must fail
#
# usage: cbmc.sh [proof...]     all proofs and their mutants, unless that has been done with the same sources; or only these
#   DEEP=y   larger bounds, and no mutants
. "$(dirname "${BASH_SOURCE[0]}")/../lab/kernel.sh"
CBMC=$CACHE/cbmc

# Debian has had CBMC since 13. It gets its own C library, because this host's may be older.
cbmc_ready() {
	local pkg deb
	[ ! -e "$CBMC/usr/bin/cbmc" ] || return 0
	# shellcheck disable=SC2034
	local LAB_APT=$CACHE/apt-trixie LAB_SUITES=(trixie)
	lock cbmc
	[ ! -e "$CBMC/usr/bin/cbmc" ] || return 0
	need_room 500
	rm -rf "$CBMC.tmp" "$CBMC" "$LAB_APT/updated"
	for pkg in cbmc minisat libc6 libgcc-s1 libstdc++6; do
		deb=$(deb_fetch $pkg trixie) || exit
		with_log "unpacking $pkg" "$CACHE/log/unpack-cbmc" dpkg -x "$deb" "$CBMC.tmp" || exit
	done
	mv "$CBMC.tmp" "$CBMC"
}

# lines [proof...]: print a line for each proof, and one for each of its mutants: name, file, options, mutant
lines() {
	awk -v OFS='\t' -v deep="${DEEP:-}" -v only=" $* " '
		/^ \* (bound|deep|mutant): / { key = $2; sub(/^[^:]*: /, "") }
		key == "bound:" { bound = bound " " $0 }
		key == "deep:" && deep { larger = larger " " $0 }
		key == "mutant:" && !deep { mutant[++n] = $0 }
		{ key = "" }
		/^void prove_/ {
			sub(/^void prove_/, ""); sub(/\(.*/, "")
			for (i = 0; i <= n; i++)
				if (only == "  " || index(only, " " $0 " ")) print $0, FILENAME, larger ? larger : bound, mutant[i]
			bound = larger = ""; n = 0
		}' scripts/proofs/cbmc/*.c
}

# run_proof <line>: run a proof on a copy of the sources. It must succeed without a mutant, and fail with one. Print
# what is wrong.
run_proof() {
	local name file options mutant dir what rc=0 t0=$SECONDS sources root=$CBMC/usr
	IFS=$'\t' read -r name file options mutant <<<"$1"
	what=$name${mutant:+ with $mutant}
	dir=$TREE/cbmc/$name.$(sha1sum <<<"$1" | cut -c1-8)
	mkdir -p "$dir/scripts"
	cp -r net include kunit "$dir"
	cp -r scripts/fuzz scripts/proofs "$dir/scripts"
	cd "$dir" || return
	[ -z "$mutant" ] || {
		find net include -name '*.[ch]' -exec sed -i -E "$mutant" {} +
		! diff -rq net "$TOP/net" >/dev/null || ! diff -rq include "$TOP/include" >/dev/null ||
			{ echo "$what: changes nothing"; return; }
	}
	[[ $options != *-DLIMIT=* ]] || sed -i -E 's/(#define RPCRDMA_MAX_(CHUNKS|SEGS)\s).*/\1LIMIT/' include/rpcrdma/wire.h
	# CBMC 6.6 aborts at such an expression if it is an enum.
	sed -i 's/\<verdict ?: /verdict ? verdict : /' net/wire/*.c
	# A proof that needs static functions includes the source.
	mapfile -t sources < <(printf '%s\n' "${pure[@]}" |
		grep -vxF "$(sed -n 's|^#include "../../../\(net/.*\.c\)"|\1|p' "$file")")
	# shellcheck disable=SC2086
	timeout "${DEEP:+3}600" "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/lib/x86_64-linux-gnu:$root/lib" \
		"$root/bin/cbmc" --function "prove_$name" $options -Iscripts/fuzz/include -Iinclude -Inet/wire --object-bits 12 \
		--unsigned-overflow-check --pointer-overflow-check --no-malloc-may-fail --slice-formula --drop-unused-functions \
		--stop-on-fail --trace --verbosity 8 "$file" "${sources[@]}" >log 2>&1 || rc=$?
	say "$what: $(grep -o '^VERIFICATION .*' log) in $((SECONDS - t0)) s"
	[ "$rc" != "${mutant:+1}0" ] || return 0
	echo "$what: see $dir/log"
	[ -n "$mutant" ] || grep -A 4 '^Violated property' log || tail -n 5 log
}

run_all() {
	local line
	while read -r line; do
		while (($(jobs -rp | wc -l) >= JOBS)); do wait -n || true; done
		{ run_proof "$line" || echo "failed: $line"; } &
	done
	wait
}

cd "$TOP" || exit
need_packages "${PKG_BUILD[@]}"
(cbmc_ready)
mapfile -t pure < <(python3 scripts/check-looking.py --pure)
sources=(net/wire net/core include scripts/fuzz scripts/proofs/cbmc scripts/proofs/cbmc.sh)
done=$CBMC/done-$(find "${sources[@]}" -type f | sort | xargs sha256sum | sha256sum | cut -c1-16)
[ -n "$*${DEEP:-}" ] || [ ! -e "$done" ] || { say "nothing that was proven has changed"; exit 0; }
lock "cbmc-${TREE##*-}"
rm -rf "$TREE/cbmc"
work=$(lines "$@")
[ -n "$work" ] || die "no such proof"
bad=$(run_all <<<"$work")
[ -z "$bad" ] || { echo "$bad"; exit 1; }
[ -n "$*${DEEP:-}" ] || {
	touch "$done"
	ledger "$(commit_here)" proofs $SECONDS all "$(wc -l <<<"$work") proofs and mutants"
}
