# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the scripts of the lab need on the host: directories, messages, logs, locks, and functions that get Debian
# packages. Each bash script of the lab that runs on the host sources this file. It does not deal with kernels or
# guests.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB=$TOP/scripts/lab
CACHE=${RPCRDMA_CACHE:-/var/cache/rpcrdma-lab}
# What depends on this tree (builds of the module, runs of tests) is in a directory of its own, so
# that two clones can share the kernels.
TREE=$CACHE/tree-$(printf %s "$TOP" | sha1sum | cut -c1-8)
JOBS=${JOBS:-$(nproc)}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C TOP LAB CACHE PATH

say() { printf '%s  %s\n' "$(date +%T)" "$*" >&2; }
die() { printf 'lab: %s\n' "$*" >&2; exit 1; }

# Some characters in a path have a special meaning for make, overlayfs or QEMU's options.
for path in "$TOP" "$CACHE"; do
	case $path in *[!A-Za-z0-9/._+@~=-]*)
		die "the path \"$path\" has characters that the tools used here cannot handle: letters, digits and /._+@~=- only"
	esac
done
mkdir -p "$TREE" 2>/dev/null && [ -w "$TREE" ] && [ -w "$CACHE" ] ||
	die "$CACHE is another user's: be root, or set RPCRDMA_CACHE to a directory of your own"

# commit_here: print the commit of this tree, with a + if the tree differs from it
commit_here() {
	local id
	id=$(git -C "$TOP" rev-parse --short=12 HEAD 2>/dev/null) || { echo none; return; }
	git -C "$TOP" diff --quiet HEAD 2>/dev/null || id+=+
	echo "$id"
}

# ledger <commit> <what> <seconds> <choice> <result>: note what has run on this machine. scripts/ledger prints these lines.
ledger() { echo "$(date +%FT%T) $*" >>"$CACHE/ledger"; }

# stop_tree <pid>: send SIGSTOP to a process and its descendants, and print their PIDs. A process is
# stopped before its children are looked for, so that it cannot start others meanwhile.
stop_tree() {
	local f
	kill -STOP "$1" 2>/dev/null || return 0
	echo "$1"
	for f in $(grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status); do
		f=${f%/status}
		stop_tree "${f#/proc/}"
	done
}

any_alive() {
	local p
	for p; do ! grep -qs '^State:.[^XZ]' "/proc/$p/status" || return 0; done
	return 1
}

# end_tree <pid>: end a process and its descendants, first with SIGTERM.
end_tree() {
	local pids i
	mapfile -t pids < <(stop_tree "$1")
	((${#pids[@]})) || return 0
	kill -TERM "${pids[@]}" 2>/dev/null || true
	kill -CONT "${pids[@]}" 2>/dev/null || true
	for ((i = 0; i < 30; i++)); do
		any_alive "${pids[@]}" || return 0
		sleep 0.1
	done
	kill -KILL "${pids[@]}" 2>/dev/null || true
}

# last_line <file>: print the end of the last line, without the directories of the lab
last_line() {
	local line
	line=$(tail -n 1 "$1")
	line=${line//"$TREE/"}
	line=${line//"$CACHE/"}
	((${#line} <= 60)) || line=...${line: -57}
	echo "$line"
}

# with_log <what> <logfile> <command...>: run a long command with its output in a file, and print a sign of life
# every 20 seconds. If the command fails, print the last lines of its output. The command and its
# descendants are ended if this subshell gets SIGINT, SIGTERM, SIGHUP or SIGPIPE, or if the script has ended.
with_log() (
	what=$1 log=$2 t0=$SECONDS pid='' rc=0
	shift 2
	mkdir -p "${log%/*}"
	say "$what (log: $log)"
	interrupted() {
		trap '' INT TERM HUP PIPE
		# If nobody reads the output any more, the message is lost.
		[ -z "$pid" ] || end_tree "$pid"
		say "$what: interrupted" || true
		# End by the same signal, so that the parent of this shell sees that it was interrupted.
		trap - "$1"
		kill "-$1" "$BASHPID"
	}
	for signal in INT TERM HUP PIPE; do
		# shellcheck disable=SC2064
		trap "interrupted $signal" $signal
	done
	# The command has a process group of its own. Otherwise a signal from the terminal would end some of its
	# processes at once, and end_tree() could not find their children.
	set -m
	(set +m; "$@") >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	next=$((SECONDS + 20))
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		kill -0 $$ 2>/dev/null || interrupted TERM
		((SECONDS < next)) && continue
		next=$((SECONDS + 20))
		say "... $what: $((SECONDS - t0)) s, $(wc -l <"$log") lines; $(last_line "$log")"
	done
	wait "$pid" || rc=$?
	((rc == 0)) && { say "$what: done in $((SECONDS - t0)) s"; return 0; }
	tail -n 25 "$log" >&2
	say "$what: FAILED ($rc), see $log"
	return "$rc"
)

# with_log ... || failed <message>: die, unless with_log was interrupted, and has said so
failed() {
	local rc=$?
	((rc <= 128)) || exit $rc
	die "$*"
}

# lock <name>: hold a lock until this shell and its children end.
lock() {
	local fd
	exec {fd}>"$CACHE/lock.$1"
	flock -n "$fd" || { say "waiting for another run that holds $CACHE/lock.$1"; flock "$fd"; }
}

# The lab's own configuration and package lists for apt, with the suites in LAB_SUITES. They are
# used only for queries and downloads: an installation with them could upgrade the host to another
# release. Suites called *-security have an archive of their own. LAB_ARCHS has the architectures of
# the packages. apt takes the first architecture unless a command names another.
LAB_APT=$CACHE/apt
LAB_ARCHS=("$(dpkg --print-architecture)")
LAB_SUITES=(bookworm-backports trixie trixie-backports)
lab_apt_setup() {
	local d=$LAB_APT suite archive
	mkdir -p "$d/lists/partial" "$d/cache/archives/partial"
	for suite in "${LAB_SUITES[@]}"; do
		archive=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
		[[ $suite != *-security ]] || archive+=-security
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main"
	done >"$d/sources.list.new"
	cat >"$d/apt.conf" <<-END
	Dir::Etc::sourcelist "$d/sources.list";
	Dir::Etc::sourceparts "-";
	Dir::State::lists "$d/lists";
	Dir::Cache "$d/cache";
	APT::Architecture "${LAB_ARCHS[0]}";
	APT::Architectures { $(printf '"%s"; ' "${LAB_ARCHS[@]}")};
	END
	cmp -s "$d/sources.list.new" "$d/sources.list" && [ -e "$d/updated" ] && return
	mv "$d/sources.list.new" "$d/sources.list"
	# The caller may look at the status, so "set -e" may be off here. Without this option, apt-get succeeds if it has
	# not read a single list.
	with_log "reading the package lists of Debian" "$CACHE/log/apt-update" \
		env APT_CONFIG="$d/apt.conf" apt-get -o APT::Update::Error-Mode=any update || return
	touch "$d/updated"
}

# need_lists: read the package lists, unless that has been done
need_lists() { lab_apt_setup || die "the package lists of Debian could not be read"; }

# need_room <megabytes>: the cache must have this much room.
need_room() {
	local left
	left=$(df --output=avail -m "$CACHE" | tail -n 1)
	((left >= $1)) || die "not enough room: this needs $1 MB in $CACHE, which has $((left)) MB"
}

lab_apt_cache() { APT_CONFIG=$LAB_APT/apt.conf apt-cache "$@"; }

# While packages are installed, this file keeps servers from starting. Only guests need the servers.
POLICY=/usr/sbin/policy-rc.d
POLICY_MARK='# By scripts/lab of rpcrdma, for the time of an installation, process'

# policy_ours: print the PID of the shell that made the file; fail if there is no file, or if the
# lab has not made it.
policy_ours() { sed -n "s!^$POLICY_MARK !!p" $POLICY 2>/dev/null | grep .; }

# Remove the file if the run that made it was killed.
policy_tidy() {
	local pid
	pid=$(policy_ours) || return 0
	any_alive "$pid" || rm -f $POLICY
}

policy_up() {
	[ ! -e $POLICY ] || policy_ours >/dev/null || return 0
	printf '#!/bin/sh\n%s %s\nexit 101\n' "$POLICY_MARK" $BASHPID >$POLICY.new
	chmod 755 $POLICY.new
	mv $POLICY.new $POLICY
}

policy_down() { [ "$(policy_ours)" != "$BASHPID" ] || rm -f $POLICY; }

# apt_install <package...>: install packages from the host's own sources. At the end, the file that
# keeps servers from starting is removed, even if the installation fails or is interrupted. After
# SIGKILL, the next need_packages() removes it.
apt_install() (
	[ "$(id -u)" = 0 ] || die "these packages are missing and only root can install them: $*"
	export DEBIAN_FRONTEND=noninteractive
	trap policy_down EXIT
	policy_up
	# If an earlier run was interrupted while dpkg was at work, apt-get refuses to run before dpkg has finished.
	[ -z "$(ls -A /var/lib/dpkg/updates 2>/dev/null)" ] ||
		with_log "finishing what dpkg had begun" "$CACHE/log/dpkg-configure" dpkg --configure -a || true
	with_log "installing $# packages ($1 ...)" "$CACHE/log/apt-install" \
		apt-get -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@"
)

missing_packages() {
	local p
	for p; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || echo "$p"
	done
}

# need_packages <name...>: install the packages that are missing. Only a subshell holds the lock, so
# that the lock is released after the installation: the caller may run for an hour, and other runs
# may need packages meanwhile.
need_packages() {
	local missing
	policy_tidy
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
# pahole: Debian's headers need it to make BTF for modules.
PKG_BUILD=(build-essential patch bc flex bison libelf-dev libssl-dev rsync kmod cpio xz-utils python3 pahole)
PKG_GUEST=(qemu-system-x86 busybox-static nfs-kernel-server nfs-common rpcbind rdma-core
	librdmacm-dev libibverbs-dev iproute2 nftables iputils-ping fio attr acl nfs4-acl-tools cpio kmod xz-utils python3 procps
	tcpdump)
# Programs for guests that cannot run those of the host (foreign.sh)
PKG_FOREIGN=(bash coreutils busybox-static util-linux mount procps sysvinit-utils hostname grep sed mawk findutils diffutils
	python3 iproute2 iputils-ping kmod rdma-core e2fsprogs nfs-kernel-server nfs-common rpcbind attr acl nfs4-acl-tools fio)
PKG_WIRE=(tshark)
# For a user at the prompt of a guest
PKG_SHELL=(ibverbs-utils rdmacm-utils)
# For krb5 mounts in a guest: a key distribution centre, its administration, and the programs that
# get tickets
PKG_KRB5=(krb5-kdc krb5-admin-server krb5-user)
# For the group programs, which runs programs on a mount. Only make test-all needs the second list.
PKG_PROGRAMS=(qemu-utils)
PKG_PROGRAMS_ALL=(git postgresql)
PKG_CHECK=(sparse shellcheck pyflakes3 shfmt mandoc python3-docutils busybox-static procps)
PKG_PACKAGE=(dkms dpkg-dev debhelper dh-dkms lintian man-db rpm rpmlint dracut-core openssl git)
# For KMSAN only
PKG_CLANG=(clang lld llvm)
# Compilers for other platforms, and an emulator for their programs
PKG_PLATFORMS=(gcc-aarch64-linux-gnu gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user)
PKG_FUZZ=(clang libclang-rt-dev llvm python3)
PKG_MODEL=(spin)
}
