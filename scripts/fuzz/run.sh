#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make fuzz: the wire and pure rooms in user space, under libFuzzer, ASan and UBSan.
#
# usage: scripts/fuzz/run.sh [seconds]
#   TARGET='<names>'  these targets only (they are in fuzz.c)
#   HEX=<bytes>       run one input instead, as a failure shows it; needs a TARGET
#   COVERAGE=y        afterwards, show the lines that no input kept so far reaches
# All targets run at once for so many seconds, and share the cores; with 0 they run only
# what inputs there are. Those that reached something new are kept in $CACHE/fuzz for the
# next run. Status 1 if a target fails.
. "$(dirname "$0")/../lab/common.sh"
cd "$TOP" || exit

seconds=${1:-60}
[[ $seconds =~ ^(0|[1-9][0-9]*)$ ]] || die "that is no number of seconds: $seconds"
need_packages "${PKG_FUZZ[@]}"
dir=$TREE/fuzz
lock "fuzz-${TREE##*-}"
rm -rf "$dir"
mkdir -p "$dir"

mapfile -t pure < <(python3 scripts/check-looking.py --pure)
((${#pure[@]})) || die "no pure rooms"
# Beside what C leaves undefined: sums of lengths that wrap, or are cut down in silence.
sanitizers=address,undefined,unsigned-integer-overflow,implicit-conversion
build() {
	clang -std=gnu11 -O1 -g -Wall -Wextra -Wno-sign-compare -fno-omit-frame-pointer \
		-Iscripts/fuzz/include -Iinclude "$@" scripts/fuzz/*.c "${pure[@]}"
}
with_log "building ${#pure[@]} rooms for user space" "$dir/build.log" build -o "$dir/fuzz" \
	-fsanitize=fuzzer,$sanitizers -fsanitize-ignorelist=scripts/fuzz/wraps.txt -fno-sanitize-recover=all
seeds=(kunit/vectors.h)
if [ -e ../shared/spec/examples.py ]; then
	python3 ../shared/spec/examples.py --c >"$dir/examples.h"
	seeds+=("$dir/examples.h")
fi
python3 scripts/fuzz/seeds.py "$dir/seeds" "${seeds[@]}"
mapfile -t all < <("$dir/fuzz")
read -ra targets <<<"${TARGET:-${all[*]}}"
for t in "${targets[@]}"; do
	[[ " ${all[*]} " == *" $t "* ]] || die "there is no target $t, only: ${all[*]}"
done

if [ -n "${HEX:-}" ]; then
	python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]))' "$HEX" >"$dir/input"
	FUZZ_TARGET=${targets[0]} "$dir/fuzz" "$dir/input"
	exit
fi

((seconds)) && limit=-max_total_time=$seconds || limit=-runs=0
say "${#targets[@]} targets, $seconds seconds (inputs: $CACHE/fuzz, logs: $dir)"
declare -A pid
trap '((${#pid[@]} == 0)) || kill "${pid[@]}" 2>/dev/null' EXIT
for t in "${targets[@]}"; do
	mkdir -p "$CACHE/fuzz/$t"
	FUZZ_TARGET=$t "$dir/fuzz" "$limit" -timeout=30 -artifact_prefix="$dir/$t." \
		"$CACHE/fuzz/$t" "$dir/seeds" >"$dir/$t.log" 2>&1 &
	pid[$t]=$!
done

failed=()
for t in "${targets[@]}"; do
	rc=0
	wait "${pid[$t]}" || rc=$?
	unset "pid[$t]"
	done=$(sed -n 's/^Done \([0-9]* runs\) in .*/\1/p' "$dir/$t.log")
	if ((rc == 0)) && [ -n "$done" ]; then
		echo "ok fuzz/$t  $done, $(find "$CACHE/fuzz/$t" -type f | wc -l) inputs kept"
		continue
	fi
	failed+=("$t")
	echo "not ok fuzz/$t  see $dir/$t.log"
	grep -E 'not so:|runtime error:|ERROR: |SUMMARY: |^    #[0-9]* .* in (fuzz_|rpcrdma)' "$dir/$t.log" | head -n 20 || true
	for input in "$dir/$t".{crash,oom,timeout,leak}-*; do
		[ -e "$input" ] || continue
		echo "again: make fuzz TARGET=$t HEX=$(od -An -v -tx1 "$input" | tr -d ' \n')"
	done
done

if [ -n "${COVERAGE:-}" ]; then
	with_log "building for coverage" "$dir/build.log" build -o "$dir/cover" \
		-fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping
	for t in "${targets[@]}"; do
		FUZZ_TARGET=$t LLVM_PROFILE_FILE=$dir/$t.profraw "$dir/cover" -runs=0 \
			"$CACHE/fuzz/$t" "$dir/seeds" >"$dir/$t.cover" 2>&1
	done
	llvm-profdata merge -o "$dir/profdata" "$dir"/*.profraw
	llvm-cov report "$dir/cover" -instr-profile="$dir/profdata" "${pure[@]}"
	echo "lines never reached:"
	llvm-cov show "$dir/cover" -instr-profile="$dir/profdata" "${pure[@]}" | grep -E '^/|\|      0\|' || true
fi
((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
