# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Compile the module against the headers of Debian's kernels. Of each series and flavour (amd64, cloud, rt), the newest
# release in the suites below is tested: from the oldest series that Kbuild lists, up to the newest that Debian has. No
# kernel is built, and nothing is installed.
#
# The headers' compiler may be newer than this host's, and their build tools may not run here. So Kbuild only prints
# its commands (make -n). The commands are run with -fsyntax-only, and without options that gcc does not know (lab/cc).
# All sources except the tracepoints are compiled as one, so that the headers are not read again for each of them.
. "$(dirname "${BASH_SOURCE[0]}")/kmod.sh"

LAB_APT=$CACHE/apt-headers
LAB_SUITES=(bookworm bookworm-security bookworm-backports trixie trixie-backports forky sid)
HEADERS=$CACHE/headers
HEADERS_FLOOR=$(sed -n 's/^rpcrdma-kernels := \([^ ]*\).*/\1/p' "$TOP/Kbuild")

# Read the package lists of LAB_SUITES, unless this was tried for the same suites less than a day
# ago.
headers_lists() {
	local old
	old=$(find "$LAB_APT/updated" -mmin +1440 2>/dev/null) || true
	[ -z "$old" ] || rm -f "$old"
	if ! lab_apt_setup; then
		say "not all lists could be read; going on with those that there are"
		touch "$LAB_APT/updated"
	fi
}

# Print the releases to test, such as 7.2.12+deb13-rt-amd64 or 6.1.0-56-amd64, one a line.
headers_wanted() {
	lab_apt_cache pkgnames linux-headers- |
		sed -nE 's/^linux-headers-(([0-9]+\.[0-9]+)[^-]*(-[0-9]+)?-((cloud-|rt-)?amd64))$/\2 \4 \1/p' | sort -V |
		awk -v floor="$HEADERS_FLOOR" 'function n(v, p) { split(v, p, "."); return p[1] * 1000 + p[2] }
			n($1) >= n(floor) { newest[$1 " " $2] = $3 } END { for (k in newest) print newest[k] }' | sort -V
}

# headers_fetch <directory> <release...>: download the packages of headers, and those with the
# common headers and the build tools (linux-kbuild) that they need.
headers_fetch() {
	local dir=$1 names
	shift
	mkdir -p "$dir"
	mapfile -t names < <(lab_apt_cache depends "${@/#/linux-headers-}" |
		grep -oE 'linux-(headers-[^ ]*-common(-rt)?|kbuild-[^ ]*)$' | sort -u)
	cd "$dir" && APT_CONFIG=$LAB_APT/apt.conf apt-get download "${@/#/linux-headers-}" "${names[@]}"
}

# headers_unpack <directory>: unpack each version in its own directory. The names of Debian 12's
# packages do not agree: the headers of 6.1.0-56 need linux-kbuild-6.1. Both are unpacked in the
# directory 6.1.0.
headers_unpack() {
	local deb version
	for deb in "$1"/*.deb; do
		version=$(basename "$deb" | sed -E 's/^linux-(headers|kbuild)-([^-_]*)[-_].*/\2/; s/^[0-9]+\.[0-9]+$/&.0/')
		mkdir -p "$HEADERS/$version"
		printf '%s\0' "$deb" "$HEADERS/$version"
	done | xargs -0 -P "$JOBS" -n 2 dpkg -x
}

# headers_dir <release>: print the directory of the headers. Their Makefile contains absolute paths,
# so the headers must stay there.
headers_dir() { echo "$HEADERS/${1%%-*}/usr/src/linux-headers-$1"; }

headers_ready() {
	local release missing=() d
	for release; do [ -e "$(headers_dir "$release")/.complete" ] || missing+=("$release"); done
	for d in "$HEADERS"/*/; do
		[[ " $* " == *" $(basename "$d")-"* ]] || rm -rf "$d"
	done
	((${#missing[@]})) || return 0
	rm -rf "$HEADERS/debs"
	with_log "fetching headers of ${#missing[@]} kernels" "$CACHE/log/fetch-headers" \
		headers_fetch "$HEADERS/debs" "${missing[@]}" || return
	with_log "unpacking them" "$CACHE/log/unpack-headers" headers_unpack "$HEADERS/debs" || return
	for release in "${missing[@]}"; do
		d=$(headers_dir "$release")
		sed -i "s#\([ =]\)/usr/src/#\1$HEADERS/${release%%-*}/usr/src/#" "$d/Makefile"
		touch "$d/.complete"
	done
	rm -rf "$HEADERS/debs"
}

# headers_command <release> <file>: write to <file> the command that compiles a source, without the name of the source.
# Write the names of all sources to <file>.sources, and the directory in which the command must run to <file>.cwd.
headers_command() {
	local dir module out=$2 command
	dir=$(headers_dir "$1")
	module=$(module_dir headers)
	make -n V=1 -C "$dir" M="$module" CC="$LAB/cc" HOSTCC=gcc modules >"$out.make" 2>&1 || true
	awk -v RS=';' '/^ *[^ ]*\/lab\/cc -Wp,-MMD.* -c -o /' "$out.make" | sed 's/^ *//; s/-Wp,-MMD,[^ ]* //' >"$out.all"
	[ -s "$out.all" ] || { echo "$1: Kbuild compiles nothing:"; grep -F '***' "$out.make"; return 1; }
	sed 's/.* -c -o [^ ]* *//; s/ *$//' "$out.all" >"$out.sources"
	if grep -q '^/' "$out.sources"; then echo "$dir"; else echo "$module"; fi >"$out.cwd"
	command=$(sed 's/ -c -o .*//; q' "$out.all")
	# Add the macro with the version, which only one source gets.
	command+=$(grep -oE -m 1 ' -DRPCRDMA_VERSION=[^ ]+' "$out.all")
	# The headers may use attributes that this compiler lacks, because their .config is for a
	# newer one.
	echo "$command -Wno-attributes -fsyntax-only" >"$out"
}

# headers_try <release> <file>: compile the module against one kernel.
headers_try() {
	local out=$2
	headers_command "$1" "$out" || return
	cd "$(cat "$out.cwd")" || return
	# Compile all sources but trace.c as one file, which is faster. trace.c defines the tracepoints
	# (CREATE_TRACE_POINTS), and is compiled alone.
	grep -v 'net/module/trace\.c' "$out.sources" | sed 's/.*/#include "&"/' >"$out.c"
	{
		sh -c "$(cat "$out") -I. $out.c" && sh -c "$(cat "$out") $(grep 'net/module/trace\.c' "$out.sources")"
	} >"$out.log" 2>&1 || {
		echo "$1: does not compile"
		grep -E 'error' "$out.log" || tail "$out.log"
		return 1
	}
}

# headers_probes <file...>: check the commands that headers_command() has written. There is one file
# for each kernel. Each probe of include/compat/Kbuild must have an effect on some of the commands,
# but not on all of them. Each shim must have a probe.
headers_probes() {
	local names name used shim rc=0
	names=$(sed -nE 's/^rpcrdma-(shims|relics|macros) := //p' "$TOP/include/compat/Kbuild" | tr ' ' '\n')
	[ -n "$names" ] || { echo "no probes found in include/compat/Kbuild"; rc=1; }
	for name in $names; do
		used=$(grep -lE -- " (-D|-I[^ ]*/include/compat/)$name( |\$)" "$@" | wc -l)
		((used && used < $#)) || { echo "the probe $name tells nothing: $used of $# kernels need it"; rc=1; }
	done
	for shim in "$TOP"/include/compat/*/; do
		grep -qx "$(basename "$shim")" <<<"$names" || { echo "no probe uses $shim"; rc=1; }
	done
	return $rc
}

# Test all kernels. Print the errors for each kernel against which the module does not compile, and
# a last line with all kernels that were tested.
headers_check() (
	lock headers
	headers_lists
	releases=$(headers_wanted)
	for series in $(sed -n 's/^rpcrdma-kernels := \([^ ]*\).* \([^ ]*\)$/\1 \2/p' "$TOP/Kbuild"); do
		grep -q "^${series//./\\.}[.+]" <<<"$releases" || die "no headers of $series in ${LAB_SUITES[*]}"
	done
	# shellcheck disable=SC2086
	headers_ready $releases || die "no headers"
	TREE=$TREE/check
	module_sync headers
	work=$TREE/headers
	rm -rf "$work"
	mkdir -p "$work"
	export -f headers_try headers_command headers_dir module_dir module_suffix kernel_is_debian kernel_is_foreign kernel_build_dir kernel_machine
	export HEADERS TREE CHECKERS MACHINE LAB
	rc=0
	xargs -P "$JOBS" -I{} bash -c 'headers_try {} "$0/{}"' "$work" <<<"$releases" || rc=1
	# shellcheck disable=SC2046
	headers_probes $(sed "s#^#$work/#" <<<"$releases") || rc=1
	echo "tried:" $releases
	exit $rc
)
