#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Test situations that a person who installs the module may meet. The tests need no guest and no network: they run in a
# mount namespace in which apt-get and dpkg-query are stubs, and changes in /usr/bin, /usr/sbin and /usr/src are
# temporary.
# Prints "ok <name>" or "not ok <name> <why>" for each test. The status is 1 if any failed.
set -uo pipefail

# shellcheck source=scripts/selftest/mounts.sh
. "$(dirname "$0")/mounts.sh"
trap 'cd /; umount -R "$tmp/usr" 2>/dev/null; umount /usr/src /usr/sbin /usr/bin "$tmp/mem" 2>/dev/null; rm -rf "$tmp"' EXIT
# Other users need access.
chmod 755 "$tmp"
export RPCRDMA_CACHE=$tmp/cache
unset KERNEL PROVIDER MODULE T MACHINE CHECKERS MAKEFLAGS MFLAGS MAKELEVEL STEPS
bad=0

# try <name>: run test_<name> alone. The last line that it prints is the reason.
try() {
	local out
	if out=$(set -e; "test_$1" 2>&1); then
		echo "ok $1"
	else
		echo "not ok $1 $(tail -n 1 <<<"$out")"
		bad=1
	fi
}

usr_up() {
	local d
	mkdir "$tmp/mem"
	mount -t tmpfs mem "$tmp/mem"
	cp /usr/bin/apt-get "$tmp/apt-get"
	for d in bin sbin src; do
		mkdir -p "$tmp/mem/$d/u" "$tmp/mem/$d/w"
		mount -t overlay overlay -o "lowerdir=/usr/$d,upperdir=$tmp/mem/$d/u,workdir=$tmp/mem/$d/w" "/usr/$d"
	done
}

# Make stubs: no package seems to be installed, and an installation takes a minute. The stub of
# apt-get ignores SIGHUP, and also SIGINT, as apt-get does while dpkg works. It starts a process in
# another session, as apt-get does with dpkg.
stubs() {
	rm -f "$tmp"/apt.*
	printf '#!/bin/sh\nexit 1\n' >/usr/bin/dpkg-query
	cat >/usr/bin/apt-get <<-END
	#!/bin/bash
	trap '' INT HUP
	echo \$\$ >>$tmp/apt.pids
	setsid bash -c 'trap "" INT HUP TERM; echo \$\$ >>$tmp/apt.pids; touch $tmp/apt.begun; sleep 60' &
	wait
	END
	chmod 755 /usr/bin/dpkg-query /usr/bin/apt-get
}

# until_true <command...>: wait until the command succeeds, at most 20 seconds
until_true() {
	local i
	for ((i = 0; i < 200; i++)); do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}

alive() { [ -e "/proc/$1" ] && ! grep -q '^State:.[XZ]' "/proc/$1/status" 2>/dev/null; }
none_alive() { local p; for p in "$@"; do ! alive "$p" || return 1; done; }

# interrupt <signal> <all|one>: send a signal to a run that installs packages. The signal goes to the whole process
# group of the run, as with Ctrl-C or when a terminal is closed, or only to the first process of the group.
interrupt() {
	local pid target pids
	stubs
	rm -f /usr/sbin/policy-rc.d
	set -m
	bash -c ". '$tree/scripts/lab/host.sh'; need_packages traps; echo 'and on it goes'" >"$tmp/out" 2>&1 </dev/null &
	pid=$!
	set +m
	target=$pid
	[ "$2" = one ] || target=-$pid
	until_true test -e "$tmp/apt.begun" || { kill -KILL -- "-$pid"; fail "apt-get was not begun: $(tail -n 1 "$tmp/out")"; }
	[ -x /usr/sbin/policy-rc.d ] || fail "no policy-rc.d while packages are installed"
	mapfile -t pids <"$tmp/apt.pids"
	kill "-$1" -- "$target"
	until_true none_alive "$pid" "${pids[@]}" || {
		kill -KILL -- "-$pid" "${pids[@]}" 2>/dev/null
		fail "after SIG$1, 20 seconds later, apt-get or its child is still there"
	}
	# The process that removes the file may end after all others.
	until_true test ! -e /usr/sbin/policy-rc.d || fail "after SIG$1, policy-rc.d is still there"
	! grep 'on it goes' "$tmp/out" || fail "after SIG$1, the run went on"
}

test_install-interrupted() { interrupt INT all; }
test_install-hung-up() { interrupt HUP all; }
test_install-terminated() { interrupt TERM all; }
test_install-terminated-alone() { interrupt TERM one; }

# With Ctrl-C at a terminal, only the foreground process group gets the signal. The tests above do not have a terminal.
test_install-key() {
	local pids shell
	stubs
	rm -f /usr/sbin/policy-rc.d "$tmp/gone"
	# Without job control, a background process and its children would ignore SIGINT.
	set -m
	{
		until_true test -e "$tmp/apt.begun" && printf '\003'
		until_true test -e "$tmp/gone"
	} | script -qec "bash -c '. $tree/scripts/lab/host.sh; need_packages traps; echo and on it goes'" /dev/null >"$tmp/out" &
	shell=$!
	set +m
	until_true test -e "$tmp/apt.begun" || fail "apt-get was not begun: $(tail -n 1 "$tmp/out")"
	mapfile -t pids <"$tmp/apt.pids"
	until_true none_alive "${pids[@]}" || {
		kill -KILL "${pids[@]}"
		fail "20 seconds after Ctrl-C, apt-get or its child is still there"
	}
	touch "$tmp/gone"
	wait $shell || true
	[ ! -e /usr/sbin/policy-rc.d ] || fail "policy-rc.d is still there"
	! grep 'on it goes' "$tmp/out" || fail "the run went on"
}

need() { bash -c ". '$tree/scripts/lab/host.sh'; need_packages $1" >"$tmp/out" 2>&1 </dev/null; }

# no_kernel <pattern>: no kernel can be fetched, for this reason, which is the last line
no_kernel() {
	! timeout 100 bash -c ". '$tree/scripts/lab/kmod.sh'; (kernel_ready debian) || exit" >"$tmp/out" 2>&1 </dev/null || fail "a kernel"
	tail -n 1 "$tmp/out" | grep -qE "$1" || fail "not $1, but: $(tail -n 1 "$tmp/out")"
}

# If the package lists could not be read, the next run reads them again. (No server listens on port 1.)
test_lists-unread() {
	stubs
	printf '#!/bin/sh\necho installed\n' >/usr/bin/dpkg-query
	cp "$tmp/apt-get" /usr/bin/apt-get
	DEBIAN_MIRROR=http://127.0.0.1:1/debian no_kernel 'lists of Debian could not be read'
	printf '#!/bin/sh\ntouch %s/apt.begun\n' "$tmp" >/usr/bin/apt-get
	DEBIAN_MIRROR=http://127.0.0.1:1/debian no_kernel 'has no image'
	[ -e "$tmp/apt.begun" ] || fail "the lists are not read again"
}

test_no-room() {
	stubs
	printf '#!/bin/sh\necho installed\n' >/usr/bin/dpkg-query
	printf '#!/bin/sh\necho Avail\necho 300\n' >/usr/sbin/df
	chmod 755 /usr/sbin/df
	no_kernel 'not enough room.* 1000 MB .* 300 MB'
	rm /usr/sbin/df
}

# A run that was killed leaves its policy-rc.d. The next run removes the file.
test_install-killed() {
	local pid pids
	stubs
	rm -f /usr/sbin/policy-rc.d
	set -m
	need traps &
	pid=$!
	set +m
	until_true test -e "$tmp/apt.begun" || fail "apt-get was not begun"
	mapfile -t pids <"$tmp/apt.pids"
	kill -KILL -- "-$pid" "${pids[@]}"
	until_true none_alive "${pids[@]}" || fail "it does not die"
	[ -e /usr/sbin/policy-rc.d ] || fail "nobody could have removed policy-rc.d"
	printf '#!/bin/sh\necho installed\n' >/usr/bin/dpkg-query
	need traps || fail "nothing was missing, and yet: $(tail -n 1 "$tmp/out")"
	[ ! -e /usr/sbin/policy-rc.d ] || fail "the next run leaves our policy-rc.d"
}

# A policy-rc.d that the user has made stays. Only a file with our mark is removed.
test_install-policy-of-the-user() {
	local word
	stubs
	printf '#!/bin/sh\ntouch %s/apt.begun\n' "$tmp" >/usr/bin/apt-get
	for word in missing there; do
		printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
		[ $word = missing ] || printf '#!/bin/sh\necho installed\n' >/usr/bin/dpkg-query
		need traps || fail "$(tail -n 1 "$tmp/out")"
		[ "$(cat /usr/sbin/policy-rc.d 2>&1)" = $'#!/bin/sh\nexit 101' ] ||
			fail "the user's policy-rc.d was touched, packages $word"
	done
	[ -e "$tmp/apt.begun" ] || fail "apt-get was not begun"
}

commit() { # repository, date
	echo "$2 $RANDOM" >>"$1/net/change"
	git -C "$1" add -A
	GIT_AUTHOR_DATE=$2 GIT_COMMITTER_DATE=$2 git -C "$1" -c user.name=t -c user.email=t@t.example commit -qm change
}

# In a test repository, each commit has a higher version than the one before, even if the dates of commits are equal or
# go back, as after a scripted rebase or with a wrong clock.
test_version-grows() {
	local repo=$tmp/repo last='' v date
	mkdir -p "$repo/net" "$repo/scripts"
	cp "$tree/Kbuild" "$repo/"
	cp -r "$tree/scripts/package" "$repo/scripts/"
	last=$("$repo/scripts/package/version")
	[ "$last" = "$(sed -n 's/^rpcrdma-version := //p' "$repo/Kbuild")" ] || fail "without git it is $last"
	git init -q "$repo"
	for date in 2026-11-24T12:00:00Z 2026-11-24T12:00:00Z 2026-11-25T00:00:01Z 2026-11-20T00:00:00Z 2026-12-01T00:00:00Z; do
		commit "$repo" $date
		v=$("$repo/scripts/package/version")
		dpkg --compare-versions "$v" gt "$last" || fail "$v is not newer than $last"
		dpkg --validate-version "$v" || fail "dpkg takes no $v"
		last=$v
	done
	echo change >>"$repo/net/change"
	v=$("$repo/scripts/package/version")
	dpkg --compare-versions "$v" gt "$last" || fail "with a change, $v is not newer than $last"
	commit "$repo" 2026-12-01T00:00:00Z
	last=$("$repo/scripts/package/version")
	dpkg --compare-versions "$last" gt "$v" || fail "with it committed, $last is not newer than $v"
	git -C "$repo" tag "v${last%%+*}"
	[ "$("$repo/scripts/package/version")" = "${last%%+*}" ] || fail "the release is $("$repo/scripts/package/version")"
	echo change >>"$repo/net/change"
	[[ $("$repo/scripts/package/version") == "$last.dirty" ]] || fail "a change of the release is the release"
	git -C "$repo" checkout -q .
	git clone -q --depth 1 "file://$repo" "$tmp/shallow"
	commit "$tmp/shallow" 2026-12-02T00:00:00Z
	v=$("$tmp/shallow/scripts/package/version")
	dpkg --compare-versions "$v" gt "$last" || fail "of a shallow clone, $v is not newer than $last"
}

# The version is right if root builds in a tree of another user, or if the tree is a directory in another project's
# repository, or was unpacked there from a tarball of make dist.
test_version-elsewhere() {
	local repo=$tmp/other
	mkdir -p "$repo/below/net" "$repo/below/scripts" "$repo/net" "$repo/scripts"
	cp "$tree/Kbuild" "$repo/"
	cp "$tree/Kbuild" "$repo/below/"
	cp -r "$tree/scripts/package" "$repo/scripts/"
	cp -r "$tree/scripts/package" "$repo/below/scripts/"
	git init -q "$repo"
	commit "$repo" 2026-11-24T12:00:00Z
	chown -R 65534:65534 "$repo"
	[[ $("$repo/scripts/package/version") == *+git20261124.1.* ]] || fail "of another user's clone: $("$repo/scripts/package/version")"
	[[ $("$repo/below/scripts/package/version") != *git* ]] || fail "of another repository's commit"
	[ "$("$repo/scripts/package/version" --seconds)" = "$(date -d 2026-11-24T12:00:00Z +%s)" ] || fail "not the time of the commit"
	[ -z "$("$repo/below/scripts/package/version" --seconds)" ] || fail "the time of another repository's commit"
	echo "1.2.3+git20261124.1.abcdef0 1234567890" | tee "$repo/.version" >"$repo/below/.version"
	[[ $("$repo/scripts/package/version") == *+git20261124.1.* ]] || fail "of a file beside the history"
	[ "$("$repo/below/scripts/package/version")" = 1.2.3+git20261124.1.abcdef0 ] || fail "not that of the tarball"
	[ "$("$repo/below/scripts/package/version" --seconds)" = 1234567890 ] || fail "not the time of the tarball"
}

# refused <pattern> <command...>: check that the command ends with an error status, and does not
# begin to install packages. Besides lines of make, it must print at most one line. Its output must
# have a line that matches the pattern, which is an extended regular expression.
refused() {
	local want=$1 rc=0 lines
	shift
	stubs
	timeout 60 "$@" >"$tmp/out" 2>&1 </dev/null || rc=$?
	((rc != 0 && rc != 124)) || fail "$*: status $rc, not refused"
	# make adds lines of its own.
	lines=$(grep -cv '^make' "$tmp/out") || true
	((lines <= 1)) || fail "$*: says $lines lines, the last of them: $(tail -n 1 "$tmp/out")"
	grep -qE -- "$want" "$tmp/out" || fail "$*: does not say $want, but: $(tail -n 1 "$tmp/out")"
	[ ! -e "$tmp/apt.begun" ] || fail "$*: installs packages first"
}

commands() { printf '%s\n' demo test lab/shell.sh bench; }

# copy <where>: copy this tree, so that other users can read and run it
copy() {
	mkdir -p "$1"
	cp -r "$tree"/{Makefile,Kbuild,README,Documentation,net,include,scripts} "$1/"
	chmod -R a+rX "$1"
}

test_path-with-a-space() {
	local c there="$tmp/a clone"
	copy "$there"
	for c in demo test shell bench modules install deb; do
		refused 'a space or a colon' make -s -C "$there" $c
	done
	for c in $(commands); do refused 'characters that' "$there/scripts/$c"; done
	RPCRDMA_CACHE="$tmp/a cache" refused 'a cache" has characters' "$tree/scripts/demo"
}

test_cache-of-another-user() {
	local c
	mkdir -p "$tmp/cache"
	copy "$tmp/clone"
	# Root has used the cache before, from the same clone.
	bash -c ". '$tmp/clone/scripts/lab/host.sh'"
	for c in $(commands); do
		refused "another user's: be root, or set RPCRDMA_CACHE" \
			setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/clone/scripts/$c"
	done
}

test_unknown-provider() { local c; for c in $(commands); do PROVIDER=mlx5 refused mlx5 "$tree/scripts/$c"; done; }
test_unknown-kernel() { local c; for c in $(commands); do KERNEL=5.10 refused 5.10 "$tree/scripts/$c"; done; }
test_unknown-module() { local c; for c in $(commands); do MODULE=mine refused mine "$tree/scripts/$c"; done; }
test_shell-without-siw() { PROVIDER=siw refused 'no siw' "$tree/scripts/lab/shell.sh"; }
test_unknown-case() { KERNEL=7.3 PROVIDER=siw T=nosuchtest refused nosuchtest "$tree/scripts/test"; }

test_unknown-argument() { refused --everything "$tree/scripts/test" --all --everything; }

test_no-kernel-tree() {
	refused 'tree at /nonexistent: KDIR is' make -s -C "$tree" KDIR=/nonexistent
	! grep "$(uname -r)" "$tmp/out" || fail "it speaks of the running kernel"
	refused 'if it is one of those in README' make -s -C "$tree" KREL=6.1.0-none
	# This has a Makefile, too, which would call itself.
	refused "tree at $tree: KDIR is" make -s -C "$tree" KDIR="$tree"
	copy "$tmp/cleaned"
	timeout 20 make -s -C "$tmp/cleaned" clean KDIR="$tmp/cleaned" || fail "make clean KDIR=$tmp/cleaned"
}

# make dkms-install and dkms-uninstall leave alone what belongs to the package, even if its installation has not ended.
test_dkms-and-package() {
	local status
	stubs
	printf '#!/bin/sh\n[ "$1" = status ] || touch %s/dkms.changed\n' "$tmp" >/usr/sbin/dkms
	chmod 755 /usr/sbin/dkms
	for status in installed half-configured unpacked half-installed triggers-pending; do
		printf '#!/bin/sh\necho %s\n' $status >/usr/bin/dpkg-query
		! "$tree/scripts/package/dkms" uninstall >"$tmp/out" 2>&1 && grep -q 'the package rpcrdma-dkms is' "$tmp/out" ||
			fail "not refused when the package is $status: $(tail -n 1 "$tmp/out")"
	done
	printf '#!/bin/sh\nexit 1\n' >/usr/bin/dpkg-query
	printf '#!/bin/sh\n[ "$*" = "-q rpcrdma-dkms" ]\n' >/usr/bin/rpm
	chmod 755 /usr/bin/rpm
	! "$tree/scripts/package/dkms" uninstall >"$tmp/out" 2>&1 && grep -q 'the package rpcrdma-dkms is' "$tmp/out" ||
		fail "not refused when the RPM is installed: $(tail -n 1 "$tmp/out")"
	printf '#!/bin/sh\nexit 1\n' >/usr/bin/rpm
	for status in not-installed config-files; do
		printf '#!/bin/sh\necho %s\n' $status >/usr/bin/dpkg-query
		"$tree/scripts/package/dkms" uninstall >"$tmp/out" 2>&1 || fail "$status: $(tail -n 1 "$tmp/out")"
	done
	[ ! -e "$tmp/dkms.changed" ] || fail "something is changed"
	# Only sources that DKMS knows are its own. Another one may be an unpacked tarball (make dist).
	mkdir /usr/src/rpcrdma-1.0 /usr/src/rpcrdma-mine
	printf '#!/bin/sh\n[ "$1" != status ] || echo "rpcrdma/1.0, 6.1.0-1, x86_64: installed"\n' >/usr/sbin/dkms
	"$tree/scripts/package/dkms" uninstall >"$tmp/out" 2>&1 || fail "$(tail -n 1 "$tmp/out")"
	[ ! -e /usr/src/rpcrdma-1.0 ] && [ -e /usr/src/rpcrdma-mine ] || fail "not only the source of DKMS is removed: $(ls /usr/src)"
	copy /usr/src/rpcrdma-1.0
	refused 'is for DKMS' /usr/src/rpcrdma-1.0/scripts/package/dkms uninstall
	[ -e /usr/src/rpcrdma-1.0/Kbuild ] || fail "it removes itself"
	rm -r /usr/sbin/dkms /usr/src/rpcrdma-*
}

# The supported kernels are 6.1 and a range of later ones; those between them are not supported, and nothing says they are.
# Of RHEL 9, the script dkms takes the same kernels as dkms.conf: from RHEL 9.4 (5.14.0-427) on.
test_range() {
	local want release said
	want=$(sed -n 's/^rpcrdma-kernels := \([^ ]*\) \([^ ]*\) .* \([^ ]*\)$/\1 and \2 to \3/p' "$tree/Kbuild")
	stubs
	printf '#!/bin/sh\n' >/usr/sbin/dkms
	chmod 755 /usr/sbin/dkms
	for release in 5.14.0-362.8.1.el9_3.x86_64 5.14.0-427.13.1.el9_4.x86_64 6.12.0-1-amd64; do
		"$tree/scripts/package/dkms" install $release >"$tmp/out" 2>&1 || true
		case $release in *el9_3*) said="not made for Linux $release," ;; *) said="no headers of kernel $release " ;; esac
		grep -qF "$said" "$tmp/out" || fail "dkms: $(cat "$tmp/out")"
	done
	"$tree/scripts/package/dkms" install 6.5.0-x >"$tmp/out" 2>&1 || true
	rm /usr/sbin/dkms
	grep -q "not made for Linux 6.5.0-x, only for $want\$" "$tmp/out" || fail "dkms: $(cat "$tmp/out")"
	tr -s ' \n' ' ' <"$tree/scripts/package/debian/control" | grep -q "for Linux $want," || fail "the package promises others"
	printf 'include %s/Kbuild\nall:\n' "$tree" >"$tmp/mk"
	make -s -f "$tmp/mk" src="$tree" VERSION=6 PATCHLEVEL=5 CONFIG_MODULES=y all >"$tmp/out" 2>&1 || true
	grep -q "made for Linux $want, not for 6.5" "$tmp/out" || fail "make: $(head -n 1 "$tmp/out")"
}

# make install refuses a module that was built for another kernel. The test's rpcrdma.ko has only what modinfo reads.
test_install-of-another-kernel() {
	local ko=$tmp/rpcrdma.ko root=$tmp/root
	printf 'const char v[] __attribute__((section(".modinfo"), used)) = "vermagic=6.12.1-one SMP mod_unload ";\n' >"$tmp/ko.c"
	cc -c -o "$ko" "$tmp/ko.c"
	refused 'is built for Linux 6.12.1-one, not for 6.12.1-two' \
		make -s -C "$tree" install KO="$ko" KREL=6.12.1-two INSTALL_MOD_PATH="$root"
	[ ! -e "$root" ] || fail "and yet it is installed"
	make -s -C "$tree" install KO="$ko" KREL=6.12.1-one INSTALL_MOD_PATH="$root" || fail "nor is it for its own kernel"
	[ -e "$root/lib/modules/6.12.1-one/updates/rpcrdma.ko" ] || fail "it is not there"
}

# Steps of make check that only read files build no kernel: most need nothing, docs and style the source of one.
test_check-without-kernel() {
	local src=$RPCRDMA_CACHE/src/linux-source-7.3
	stubs
	printf '#!/bin/sh\necho installed\n' >/usr/bin/dpkg-query
	mkdir -p "$src/scripts"
	touch "$src/Makefile" "$src.version"
	printf '#!/bin/sh\n' | tee "$src/scripts/kernel-doc" >"$src/scripts/checkpatch.pl"
	chmod 755 "$src"/scripts/*
	STEPS="looking docs style" timeout 100 make -s -C "$tree" check >"$tmp/out" 2>&1 </dev/null || fail "$(tail -n 1 "$tmp/out")"
	[ ! -e "$tmp/apt.begun" ] || fail "something is fetched"
	rm -r "$src" "$src.version"
}

# make clean leaves packages of older versions, to which an administrator may want to return.
test_clean() {
	local version f
	copy "$tmp/clean"
	cd "$tmp/clean"
	for version in 0.8.0 "$(scripts/package/version)"; do
		touch "rpcrdma-dkms_${version}_all.deb" "rpcrdma-dkms-$version-1.noarch.rpm" "rpcrdma-$version.tar.gz"
	done
	make -s clean KDIR=/nonexistent
	for f in rpcrdma-dkms_0.8.0_all.deb rpcrdma-dkms-0.8.0-1.noarch.rpm rpcrdma-0.8.0.tar.gz; do [ -e $f ] || fail "no $f"; done
	[ "$(ls *.deb *.rpm *.tar.gz | wc -l)" = 3 ] || fail "left: $(ls *.deb *.rpm *.tar.gz)"
}

test_help() {
	make -s -C "$tree" help >"$tmp/out"
	sed -n 2p "$tmp/out" | grep -q '^  make demo ' || fail "demo is not the first: $(sed -n 2p "$tmp/out")"
	[ "$(grep -c '^For ' "$tmp/out")" = 2 ] || fail "not two groups"
	! grep -v '^For ' "$tmp/out" | grep -vE '^  .{20} [a-z0-9]' || fail "not aligned"
	[ "$(grep -c '^  make ' "$tmp/out")" -ge 18 ] || fail "targets are missing"
	! grep '^  make test .*everything' "$tmp/out" || fail "make test runs one of eight parts"
}

# If a guest died without a message, guest_last_words() does not fail. So the script that calls it
# still prints its own message.
test_last-words() {
	mkdir -p "$tmp/run"
	: >"$tmp/run/alone.console"
	bash -c ". '$tree/scripts/lab/guest.sh'; guest_last_words '$tmp/run' alone >&2; die 'the demo failed'" >"$tmp/out" 2>&1 || true
	grep -q 'the demo failed' "$tmp/out" || fail "nothing is said of a guest without a word"
	printf 'lab: up\nFAIL: no link\n' >"$tmp/run/alone.console"
	bash -c ". '$tree/scripts/lab/guest.sh'; guest_last_words '$tmp/run' alone" 2>&1 | grep -q 'FAIL: no link' || fail "its words are lost"
	grep -q guest_last_words "$tree/scripts/demo" || fail "the demo does without"
}

usr_up
for name in $(sed -n 's/^test_\([a-z0-9-]*\)().*/\1/p' "$0"); do
	# shellcheck disable=SC2053
	[[ $name != ${1:-*} ]] || try "$name"
done
exit $bad
