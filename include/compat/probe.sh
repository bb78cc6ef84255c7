# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Find out which forms of interfaces a kernel has.
#
# usage: probe.sh <cache> <probe...> -- <compiler and its options>
#
# A kernel lacks a form if the compiler reports an error in its probe. All probes are compiled as one file, because
# most of the time goes into the headers of the kernel: once with the present forms, and once with the older ones.
# Prints "ok", and new/<probe> and old/<probe> for each form that the kernel has. If there is an error elsewhere, or the
# compiler does not get to the end, this says nothing about the kernel: then only a complaint of the compiler is printed.
#
# The cache has the headers that were read, the forms, and a checksum of all that they depend on, which is missing if the
# compiler does not name the headers.
export LC_ALL=C
cache=$1 here=${0%/*} probes=
shift
while [ "$1" != -- ]; do probes="$probes $1" && shift; done
shift

# checksum <headers> <compiler and its options>
checksum() {
	# shellcheck disable=SC2086
	{ cat "$0" $1; shift; echo "$probes $*"; "$@" --version; } 2>&1 | cksum
}

# compile <new or old> <compiler and its options>
compile() {
	form=$1 && shift
	{
		for p in $probes; do grep '^#include' "$here/$p.c"; done
		echo 'extern int end_of_the_headers;'
		for p in $probes; do echo "#include \"$here/$p.c\""; done
		echo '#error end of the probes'
	} |
		"$@" -fsyntax-only -Wno-error -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -x c - 2>&1 |
		awk -v form="$form" -v probes="$probes" '
			/^<stdin>:.*end of the probes/ { ended = 1; next }
			/\.c:[0-9]+:[0-9]+: error: / { sub(/\.c:.*/, ""); sub(/.*\//, ""); lacks[$0] = 1; next }
			NR == 1 { said = $0 }
			/error: / && !complaint++ { said = $0 }
			END {
				if (complaint || !ended) { print "! " said; exit }
				for (n = split(probes, p, " "); n; n--) if (!(p[n] in lacks)) printf form "/" p[n] " "
				print ""
			}'
}

{ read -r headers && read -r forms && read -r sum; } 2>/dev/null <"$cache"
if [ -z "$sum" ] || [ "$sum" != "$(checksum "$headers" "$@")" ]; then
	new=${cache%.cmd}.$$.cmd
	forms=$(compile new "$@" -DPRESENT_FORM -MD -MF "$new" & compile old "$@")
	case $forms in *'! '*) echo "${forms##*! }"; rm -f "$new"; exit ;; esac
	headers=$(tr -d '\\\n' <"$new" | sed 's/^[^:]*://')
	forms=$(echo ok $forms)
	printf '%s\n' "$headers" "$forms" "${headers:+$(checksum "$headers" "$@")}" >"$new" && mv "$new" "$cache"
fi
echo "$forms"
