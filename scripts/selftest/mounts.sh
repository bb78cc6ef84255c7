# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# For a test program that changes mounts, or whose programs might: run it in a mount namespace of its own, so that the
# mounts end with it. Sourced with the arguments of the program. Sets $tree and $tmp, a new directory, which the program
# removes.
name=$(basename "$0" .sh)
if [ "${OWN_MOUNTS:-}" != "$name" ]; then
	[ "$(id -u)" = 0 ] || { echo "not ok $name only root can make a mount namespace"; exit 1; }
	OWN_MOUNTS=$name exec unshare --mount --propagation private "$0" "$@"
fi
tree=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d "/tmp/rpcrdma-$name.XXXXXX")
export LC_ALL=C

fail() { echo "$*"; exit 1; }
