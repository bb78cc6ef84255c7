# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by every script of the lab: where things are, how to speak, and how to
# get a Debian package. Nothing here knows about kernels or guests.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB=$TOP/scripts/lab
CACHE=${RPCRDMA_CACHE:-/var/cache/rpcrdma-lab}
# What depends on this very tree (module builds, logs) has a place of its own, so
# that two clones can share the kernels.
TREE=$CACHE/tree-$(printf %s "$TOP" | sha1sum | cut -c1-8)
JOBS=${JOBS:-$(nproc)}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C TOP LAB CACHE PATH
mkdir -p "$TREE" 2>/dev/null || {
	echo "lab: $CACHE is not writable: be root, or set RPCRDMA_CACHE" >&2
	exit 1
}

say() { printf '%s  %s\n' "$(date +%T)" "$*" >&2; }
die() { printf 'lab: %s\n' "$*" >&2; exit 1; }

# with_log <what> <logfile> <command...>: run a long command with its output in a
# file and a sign of life every 20 seconds; its last lines if it fails.
with_log() {
	local what=$1 log=$2 t0=$SECONDS pid rc=0 next
	shift 2
	mkdir -p "${log%/*}"
	say "$what (log: $log)"
	"$@" >"$log" 2>&1 &
	pid=$!
	next=$((SECONDS + 20))
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		((SECONDS < next)) && continue
		next=$((SECONDS + 20))
		say "... $what: $((SECONDS - t0)) s, $(wc -l <"$log") lines; $(tail -n 1 "$log" | cut -c1-60)"
	done
	wait "$pid" || rc=$?
	((rc == 0)) && { say "$what: done in $((SECONDS - t0)) s"; return 0; }
	tail -n 25 "$log" >&2
	say "$what: FAILED ($rc), see $log"
	return "$rc"
}

# lock <name>: held until this shell (and its children) end.
lock() {
	local fd
	exec {fd}>"$CACHE/lock.$1"
	flock -n "$fd" || { say "waiting for another run that holds $CACHE/lock.$1"; flock "$fd"; }
}

# The lab's own apt, for the suites that carry the kernels. Only ever used to look up and
# to download: an install with it would pull the host over to another release.
LAB_APT=$CACHE/apt
LAB_SUITES=(bookworm-backports trixie trixie-backports)
lab_apt_setup() {
	local d=$LAB_APT suite
	mkdir -p "$d/lists/partial" "$d/cache/archives/partial"
	for suite in "${LAB_SUITES[@]}"; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main"
	done >"$d/sources.list.new"
	cat >"$d/apt.conf" <<-END
	Dir::Etc::sourcelist "$d/sources.list";
	Dir::Etc::sourceparts "-";
	Dir::State::lists "$d/lists";
	Dir::Cache "$d/cache";
	END
	cmp -s "$d/sources.list.new" "$d/sources.list" && [ -e "$d/updated" ] && return
	mv "$d/sources.list.new" "$d/sources.list"
	with_log "reading the package lists of Debian" "$CACHE/log/apt-update" \
		env APT_CONFIG="$d/apt.conf" apt-get update
	touch "$d/updated"
}

lab_apt_cache() { APT_CONFIG=$LAB_APT/apt.conf apt-cache "$@"; }

# From the host's own sources.
apt_install() {
	local policy=/usr/sbin/policy-rc.d rc=0 made=
	[ "$(id -u)" = 0 ] || die "these packages are missing and only root can install them: $*"
	# Servers are wanted in the guests only: keep them from starting here.
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
		made=y
	fi
	with_log "installing $# packages ($1 ...)" "$CACHE/log/apt-install" \
		env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends \
		-o DPkg::Lock::Timeout=300 install "$@" || rc=$?
	[ -z "$made" ] || rm -f $policy
	return $rc
}

missing_packages() {
	local p
	for p; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || echo "$p"
	done
}

# need_packages <name...>: from the host's own suites. The lock goes with the subshell: what
# comes next may take an hour, and others want packages too.
need_packages() {
	local missing
	mapfile -t missing < <(missing_packages "$@")
	((${#missing[@]})) || return 0
	(
		lock apt
		[ -n "$(find /var/lib/apt/lists -name '*Packages*' -mmin -1440 2>/dev/null | head -n 1)" ] ||
			with_log "apt-get update" "$CACHE/log/apt-update-host" apt-get update || true
		apt_install "${missing[@]}"
	) || die "packages could not be installed"
}

# shellcheck disable=SC2034
{
# pahole: Debian's headers make BTF for modules.
PKG_BUILD=(build-essential patch bc flex bison libelf-dev libssl-dev rsync kmod cpio xz-utils python3 pahole)
PKG_GUEST=(qemu-system-x86 busybox-static nfs-kernel-server nfs-common rpcbind rdma-core
	librdmacm-dev libibverbs-dev iproute2 iputils-ping fio attr acl nfs4-acl-tools cpio kmod xz-utils python3 procps tcpdump)
PKG_WIRE=(tshark)
# A key distribution centre and what gets tickets from it, for krb5 mounts in a guest.
PKG_KRB5=(krb5-kdc krb5-admin-server krb5-user)
PKG_CHECK=(sparse shellcheck mandoc python3-docutils)
PKG_PACKAGE=(dkms dpkg-dev debhelper dh-dkms lintian man-db)
# For KMSAN only
PKG_CLANG=(clang lld llvm)
PKG_FUZZ=(clang libclang-rt-dev llvm python3)
}
