#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make fuzz: run net/wire and net/core in user space, with libFuzzer, ASan and UBSan.
#
# usage: scripts/fuzz/run.sh [seconds]
#   TARGET='<names>'  run only these targets (they are in fuzz.c)
#   HEX=<bytes>       run only one input, as a failure prints it; needs a TARGET
#   COVERAGE=y        afterwards, show the lines that no input reaches
#   MERGE=y           afterwards, write scripts/fuzz/corpus anew: a small set of inputs that,
#                     together with the messages of kunit/vectors*.h, reaches all lines and
#                     branches that any input has reached
# All targets run at the same time for this number of seconds, and share the cores. With 0 they only
# run the inputs that exist: those of kunit/vectors.h, kunit/vectors_rtx.h and scripts/fuzz/corpus, and those
# that earlier runs have kept in $CACHE/fuzz because they reached something new. Status 1 if a target fails.
. "$(dirname "$0")/../lab/host.sh"
cd "$TOP" || exit
. scripts/fuzz/build.sh

seconds=${1:-60}
[[ $seconds =~ ^(0|[1-9][0-9]*)$ ]] || die "that is no number of seconds: $seconds"
need_packages "${PKG_FUZZ[@]}"
dir=$TREE/fuzz
lock "fuzz-${TREE##*-}"
rm -rf "$dir"
mkdir -p "$dir"

build() {
	local options=(-O1 -fsanitize=fuzzer "${sanitize[@]}")
	compile "$dir/o" "${options[@]}" -g -Wall -Wextra -Wno-sign-compare -fno-omit-frame-pointer \
		scripts/fuzz/*.c "${pure[@]}" &&
		clang "${options[@]}" -o "$dir/fuzz" "$dir"/o/*.o
}
with_log "building ${#pure[@]} sources for user space" "$dir/build.log" build
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

# With MERGE, the files of scripts/fuzz/corpus will be written at the end, so some may be missing now.
inputs "$dir" "--unpack${MERGE:+-some}" "${all[@]}"
((seconds)) && limit=-max_total_time=$seconds || limit=-runs=0
say "${#targets[@]} targets, $seconds seconds (inputs: $CACHE/fuzz, logs: $dir)"
declare -A pid
trap '((${#pid[@]} == 0)) || kill "${pid[@]}" 2>/dev/null' EXIT
for t in "${targets[@]}"; do
	mkdir -p "$CACHE/fuzz/$t"
	FUZZ_TARGET=$t "$dir/fuzz" "$limit" -timeout=30 -artifact_prefix="$dir/$t." \
		"$CACHE/fuzz/$t" "$dir/corpus/$t" "$dir/seeds" >"$dir/$t.log" 2>&1 &
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

((${#failed[@]} == 0)) || die "failed: ${failed[*]}"

# Merge into a copy of the seeds (kunit/vectors*.h), so that an input that reaches no more than the seeds is left out.
if [ -n "${MERGE:-}" ]; then
	for t in "${targets[@]}"; do
		mkdir -p "$dir/merged"
		cp -r "$dir/seeds" "$dir/merged/$t"
		FUZZ_TARGET=$t with_log "merging $t" "$dir/$t.merge" "$dir/fuzz" -merge=1 -use_counters=0 \
			"$dir/merged/$t" "$dir/corpus/$t" "$CACHE/fuzz/$t"
		scripts/fuzz/corpus.py --pack "$dir/merged/$t" scripts/fuzz/corpus "$t"
	done
	wc -c scripts/fuzz/corpus/*
fi
[ -z "${COVERAGE:-}" ] || scripts/fuzz/floor.sh --show
