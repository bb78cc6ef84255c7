# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the packaging scripts share. It needs nothing of the lab.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PACKAGE=$TOP/scripts/package
VERSION=$(sed -n 's/^MODULE_VERSION("\(.*\)");$/\1/p' "$TOP/net/rpcrdma_module.c")
KERNELS=$(sed -n 's/^rpcrdma-kernels := //p' "$TOP/Kbuild")

die() { echo "${0##*/}: $*" >&2; exit 1; }

[ -n "$VERSION" ] || die "no MODULE_VERSION in net/rpcrdma_module.c"
[ -n "$KERNELS" ] || die "Kbuild does not list its kernels"
RANGE="${KERNELS%% *} to ${KERNELS##* }"

# dkms_source <directory>: write the source tree that DKMS builds. No unit tests: a kernel
# without KUnit could not build them, and nobody would run them.
dkms_source() {
	mkdir -p "$1/net" "$1/include/rpcrdma"
	install -m 644 -t "$1" "$TOP/Kbuild"
	install -m 644 -t "$1/net" "$TOP"/net/*.[ch]
	install -m 644 -t "$1/include/rpcrdma" "$TOP"/include/rpcrdma/*.h
	sed -e "s/@VERSION@/$VERSION/" -e "s/@KERNELS@/$RANGE/" \
		-e "s/@REGEX@/$(sed 's/\./\\\\./g; s/ /|/g' <<<"$KERNELS")/" \
		"$PACKAGE/dkms.conf.in" >"$1/dkms.conf"
}
