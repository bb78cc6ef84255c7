# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Functions that build net/wire and net/core in user space. run.sh and floor.sh source this file after lab/host.sh.

mapfile -t pure < <(python3 scripts/check-looking.py --pure)
((${#pure[@]})) || die "no pure rooms"

# These sanitizers find not only undefined behaviour of C, but also unsigned arithmetic that wraps,
# and implicit conversions that change the value.
# shellcheck disable=SC2034
sanitize=("-fsanitize=address,undefined,unsigned-integer-overflow,implicit-conversion"
	-fsanitize-ignorelist=scripts/fuzz/wraps.txt -fno-sanitize-recover=all)

# compile <directory> <clang's options and sources>: make an object file in <directory> for each source
compile() {
	local dir=$1 options=() sources=()
	shift
	while (($#)); do
		case $1 in *.c) sources+=("$1") ;; *) options+=("$1") ;; esac
		shift
	done
	mkdir -p "$dir"
	printf '%s\n' "${sources[@]}" | xargs -P "$JOBS" -I '{}' sh -c 'src=$1 out=$2/$(basename "$1" .c).o
		shift 2
		exec clang -std=gnu11 -Iscripts/fuzz/include -Iinclude "$@" -c "$src" -o "$out"' \
		sh '{}' "$dir" "${options[@]}"
}

# inputs <directory> <corpus.py's option> <target...>: fill <directory>/seeds and <directory>/corpus/<target> with
# the inputs with which every run begins
inputs() {
	local dir=$1 how=$2
	shift 2
	python3 scripts/fuzz/seeds.py "$dir/seeds" kunit/vectors.h kunit/vectors_rtx.h
	scripts/fuzz/corpus.py "$how" scripts/fuzz/corpus "$dir/corpus" "$@"
}
