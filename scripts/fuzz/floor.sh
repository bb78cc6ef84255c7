#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check how many lines of net/wire and net/core are executed in user space, by the unit tests and by those inputs of
# the fuzzer that are in the repository (kunit/vectors.h, kunit/vectors_rtx.h and scripts/fuzz/corpus). The sanitizers
# of the fuzzer watch the unit tests, too.
#
# usage: scripts/fuzz/floor.sh           status 1 if a source file is below the minimum
#        scripts/fuzz/floor.sh --show    only show the lines that no input of the fuzzer reaches, not even one that an
#                                        earlier run has kept in $CACHE/fuzz
. "$(dirname "$0")/../lab/host.sh"
cd "$TOP" || exit
. scripts/fuzz/build.sh

# Minimum percentage of lines that must be executed: by the fuzzer's inputs alone, and by inputs and unit tests
# together
FLOOR_INPUTS=95
FLOOR_ALL=98

need_packages "${PKG_FUZZ[@]}"
dir=$TREE/floor
lock "floor-${TREE##*-}"
rm -rf "$dir"
mkdir -p "$dir"

build() {
	local tests cover=(-fprofile-instr-generate -fcoverage-mapping "${sanitize[@]}")
	mapfile -t tests < <(python3 scripts/mutants/run.py --tests)
	compile "$dir/pure" -w "${cover[@]}" "${pure[@]}" &&
		compile "$dir/targets" -w scripts/fuzz/*.c &&
		compile "$dir/tests" -w -Iscripts/mutants/include -Ikunit -Inet/wire "${tests[@]}" scripts/mutants/kunit.c &&
		clang "${cover[@]}" -fsanitize=fuzzer -o "$dir/fuzz" "$dir"/{pure,targets}/*.o &&
		clang "${cover[@]}" -o "$dir/unit" "$dir"/{pure,tests}/*.o
}
with_log "building for coverage" "$dir/build.log" build
mapfile -t targets < <(LLVM_PROFILE_FILE=$dir/list.profile "$dir/fuzz")
inputs "$dir" --unpack "${targets[@]}"

# Pass each input file by name, so that the program only runs these inputs, and does not look for new ones.
for t in "${targets[@]}"; do
	more=()
	[ -z "${1:-}" ] || [ ! -e "$CACHE/fuzz/$t" ] || more=("$CACHE/fuzz/$t")
	find "$dir/seeds" "$dir/corpus/$t" "${more[@]}" -type f -print0 | FUZZ_TARGET=$t LLVM_PROFILE_FILE=$dir/$t.%p.profraw \
		xargs -0 "$dir/fuzz" >"$dir/$t.log" 2>&1 || die "fuzz/$t fails, see $dir/$t.log"
done
llvm-profdata merge -o "$dir/inputs.profdata" "$dir"/*.profraw
if [ -n "${1:-}" ]; then
	llvm-cov report "$dir/fuzz" -instr-profile="$dir/inputs.profdata" "${pure[@]}"
	echo "lines never reached:"
	llvm-cov show "$dir/fuzz" -instr-profile="$dir/inputs.profdata" "${pure[@]}" | grep -E '^/|\|      0\|' || true
	exit
fi
ASAN_OPTIONS=detect_leaks=0 LLVM_PROFILE_FILE=$dir/unit.profraw "$dir/unit" >"$dir/unit.log" 2>&1 ||
	die "the unit tests fail, see $dir/unit.log"
llvm-profdata merge -o "$dir/all.profdata" "$dir/inputs.profdata" "$dir/unit.profraw"

# floor <profile> <minimum percentage> <description>: print each source file that is below the minimum
floor() {
	llvm-cov export -summary-only "$dir/fuzz" -instr-profile="$dir/$1.profdata" "${pure[@]}" | python3 -c '
import json, sys
floor, what, *names = sys.argv[1:]
found = {f["filename"]: f["summary"]["lines"] for f in json.load(sys.stdin)["data"][0]["files"]}
bad = 0
for name in names:
    lines = next((n for f, n in found.items() if f.endswith("/" + name)), {"count": 0, "covered": 0})
    if lines["covered"] * 100 < lines["count"] * int(floor) or not lines["covered"]:
        print(f"{name}: {what} reach {lines['"'covered'"']} of {lines['"'count'"']} lines, which is less than {floor} %")
        bad = 1
sys.exit(bad)' "$2" "$3" "${pure[@]}"
}
rc=0
floor inputs $FLOOR_INPUTS "the inputs of the fuzzer" || rc=1
floor all $FLOOR_ALL "unit tests and inputs of the fuzzer" || rc=1
exit $rc
