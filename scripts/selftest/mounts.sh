# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Run a test program in a mount namespace of its own. All mounts that the program or its tools make
# then end with the program, which sources this file without arguments. Sets $tree, and $tmp, a new
# directory that the program has to remove.
name=$(basename "$0" .sh)
if [ "${OWN_MOUNTS:-}" != "$name" ]; then
	[ "$(id -u)" = 0 ] || { echo "not ok $name only root can make a mount namespace"; exit 1; }
	OWN_MOUNTS=$name exec unshare --mount --propagation private "$0" "$@"
fi
tree=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d "/tmp/rpcrdma-$name.XXXXXX")
export LC_ALL=C

fail() { echo "$*"; exit 1; }
