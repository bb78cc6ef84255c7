# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The version of the module, the supported kernels, and functions that write the source tree for DKMS and what the
# packages install. The scripts deb, rpm, dist and dkms source this file. They run on machines of users, so they do not
# use scripts/lab.
set -euo pipefail
umask 022

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PACKAGE=$TOP/scripts/package
VERSION=$("$PACKAGE/version")
KERNELS=$(sed -n 's/^rpcrdma-kernels := //p' "$TOP/Kbuild")
# The same commit always gives the same packages.
EPOCH=${SOURCE_DATE_EPOCH:-$("$PACKAGE/version" --seconds)}
EPOCH=${EPOCH:-$(date +%s)}

die() { echo "${0##*/}: $*" >&2; exit 1; }

# need <packages> <program...>: the program must exist; the packages are those that have it
need() {
	local tool
	for tool in "${@:2}"; do
		command -v "$tool" >/dev/null || die "no $tool ($1)"
	done
}

[ -n "$KERNELS" ] || die "Kbuild does not list its kernels"
RANGE=$(sed 's/ / and /; s/\( and [^ ]*\) .* /\1 to /' <<<"$KERNELS")
# The releases of these kernels, as an extended regular expression. RHEL 9.4 begins with 5.14.0-427.
RELEASES="^(($(sed 's/\./\\./g; s/ /|/g' <<<"$KERNELS"))([.+-]|\$)|5\.14\.0-(4[2-9]|[5-9][0-9])[0-9]\.)"

# dkms_source <directory>: write the source tree that DKMS builds. It has no unit tests: a kernel without KUnit
# could not build them, and nobody would run them.
dkms_source() {
	local folder
	mkdir -p "$1/include/rpcrdma"
	# DKMS installs no module whose version is installed already. So the version includes the
	# commit, which make cannot find out in the tree of DKMS.
	sed "s/^rpcrdma-version := .*/rpcrdma-version := $VERSION/" "$TOP/Kbuild" >"$1/Kbuild"
	chmod 644 "$1/Kbuild"
	for folder in "$TOP"/net/*/; do
		folder=net/$(basename "$folder")
		install -m 644 -D -t "$1/$folder" "$TOP/$folder"/*.[ch]
	done
	install -m 644 -t "$1/include/rpcrdma" "$TOP"/include/rpcrdma/*.h
	(cd "$TOP" && find include/compat -type f -exec install -m 644 -D '{}' "$1/{}" ';')
	sed -e "s/@VERSION@/$VERSION/; s/@KERNELS@/$RANGE/; s#@RELEASES@#${RELEASES//\\/\\\\}#" \
		"$PACKAGE/dkms.conf.in" >"$1/dkms.conf"
}

# package_root <directory>: write the files that a package installs. No document is compressed, so that Grafana can
# import the dashboard, and any pager can show the others.
package_root() {
	local page
	dkms_source "$1/usr/src/rpcrdma-$VERSION"
	install -m 755 -D -t "$1/usr/sbin" "$PACKAGE"/rpcrdma-{check,stats}
	install -m 644 -D -t "$1/usr/share/doc/rpcrdma-dkms" \
		"$TOP"/Documentation/{quickstart.rst,admin.rst,releases.rst,distros.rst,grafana.json,grafana.svg}
	for page in rpcrdma.4 rpcrdma-check.8 rpcrdma-stats.8; do
		install -m 644 -D -t "$1/usr/share/man/man${page##*.}" "$TOP/Documentation/$page"
		gzip -9n "$1/usr/share/man/man${page##*.}/$page"
	done
}
