# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The version of the module, the supported kernels, and a function that writes the source tree for DKMS. The scripts deb
# and dkms source this file. They run on machines of users, so they do not use scripts/lab.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PACKAGE=$TOP/scripts/package
VERSION=$("$PACKAGE/version")
KERNELS=$(sed -n 's/^rpcrdma-kernels := //p' "$TOP/Kbuild")

die() { echo "${0##*/}: $*" >&2; exit 1; }

[ -n "$KERNELS" ] || die "Kbuild does not list its kernels"
RANGE=$(sed 's/ / and /; s/\( and [^ ]*\) .* /\1 to /' <<<"$KERNELS")

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
	sed -e "s/@VERSION@/$VERSION/" -e "s/@KERNELS@/$RANGE/" \
		-e "s/@REGEX@/$(sed 's/\./\\\\./g; s/ /|/g' <<<"$KERNELS")/" \
		"$PACKAGE/dkms.conf.in" >"$1/dkms.conf"
}
