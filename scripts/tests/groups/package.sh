#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Test the packages, the tarball, the DKMS targets and make install, without a guest, in a chroot.
# Its root is an overlay of the host's root directory. Its /lib/modules has only the kernel for which
# the module is built, and one that the module does not support. All changes go to the overlay, not
# to the host. For the RPM, DKMS takes the chroot for RHEL.
# KERNEL 6.12 means Debian's own kernel here, which is what most people build for.
# Guests: none
# Providers: rxe
# Limit: 3600
#
# usage: package.sh KERNEL DIRECTORY     (run by run-group.sh; results on stdout)
. "$(dirname "$0")/../../lab/kmod.sh"

kernel=$1 dir=$2
[ "$kernel" != 6.12 ] || kernel=debian
# Run this script in a private mount namespace. When the script ends, so do the namespace and all mounts in it.
if [ -z "${PACKAGE_NS:-}" ]; then
	need_packages "${PKG_PACKAGE[@]}"
	(MODULE=ours module_ready "$kernel")
	mkdir -p "$dir/log"
	PACKAGE_NS=y exec unshare --mount --propagation private "$0" "$@"
fi

release=$(kernel_release "$kernel")
kdir=$(kernel_kdir "$kernel")
# A kernel release that the module does not support. DKMS finds headers for it in the chroot, but
# must not build for it.
other=5.10.0-other
root=$dir/root
version=$("$TOP/scripts/package/version")
# The chroot may not have the git history from which the version is computed, so pass the version.
export RPCRDMA_VERSION=$version
deb=$dir/rpcrdma-dkms_${version}_all.deb
rpm=$dir/rpcrdma-dkms-$version-1.noarch.rpm

fail() { echo "FAIL: $*"; exit 1; }

overlay() { # lower, where
	local upper
	upper=$(mktemp -d "$dir/mem/upper.XXXXXX")
	mkdir "$upper/u" "$upper/w"
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$upper/u,workdir=$upper/w" "$2"
}

root_up() {
	local d
	mkdir -p "$root" "$dir/mem"
	mount -t tmpfs mem "$dir/mem"
	mkdir "$dir/mem/modules"
	overlay / "$root"
	for d in /proc /sys /dev; do mount --rbind $d "$root$d"; done
	# These may be separate file systems, which an overlay does not include.
	for d in "$TOP" "$CACHE"; do
		mkdir -p "$root$d"
		mount --bind -o ro "$d" "$root$d"
	done
	overlay "$(kernel_root "$kernel")/lib/modules" "$dir/mem/modules"
	mkdir -p "$root/lib/modules"
	mount --bind "$dir/mem/modules" "$root/lib/modules"
	ln -sfn "$kdir" "$dir/mem/modules/$release/build"
	mkdir "$dir/mem/modules/$other"
	ln -sfn "$kdir" "$dir/mem/modules/$other/build"
	rm -rf "$root"/usr/src/rpcrdma-* "$root"/var/lib/dkms/rpcrdma
}

inside() { chroot "$root" "$@"; }

# names_mean <directory>: each name by which mount, nfsd and rdma-core load the module must resolve to the module in
# this directory of /lib/modules/<release>: our module or the kernel's own
names_mean() { # updates/dkms|extra|updates|kernel
	local name
	for name in rpcrdma rpcrdma6 svcrdma xprtrdma; do
		inside modprobe -S "$release" --show-depends $name | tail -n 1 | tee -a /dev/stderr |
			grep -q "/$release/$1/.*rpcrdma\.ko" || fail "$name is not the one in $1"
	done
}

# place: print the directory of /lib/modules/<release> into which DKMS puts the module
place() { if grep -q '"rhel"' "$root/etc/os-release"; then echo extra; else echo updates/dkms; fi; }

ours_installed() {
	inside dkms status rpcrdma
	inside dkms status rpcrdma | grep -q "^rpcrdma/$version, $release, .*: installed" ||
		fail "DKMS did not install it for $release"
	! inside dkms status rpcrdma | grep -q $other || fail "DKMS built it for $other"
	inside modinfo -k "$release" -n rpcrdma | grep "/$(place)/rpcrdma\.ko" ||
		fail "modinfo does not name ours"
	[ "$(inside modinfo -k "$release" -F version rpcrdma)" = "$version" ] || fail "wrong version"
	names_mean "$(place)"
}

# The tools are installed and start. They see the devices and the kernel of the host, so their
# findings are not checked here, but in the group admin, in a guest.
tools_work() {
	local f rc=0
	# The chroot shows the mounts of the host. The server of a mount may be dead, so limit the
	# time.
	timeout 300 chroot "$root" rpcrdma-check >"$dir/mem/check" || rc=$?
	cat "$dir/mem/check"
	[ $rc -le 1 ] && grep -qE '^(ok|note|WRONG) ' "$dir/mem/check" || fail "rpcrdma-check does not work"
	# Its status is 1 if the module is not loaded.
	{ inside rpcrdma-stats || true; } >"$dir/mem/stats"
	grep -qE '^rpcrdma_loaded [01]$' "$dir/mem/stats" || fail "rpcrdma-stats does not work"
	for f in check stats; do inside which rpcrdma-$f && inside man -w 8 rpcrdma-$f || fail "no rpcrdma-$f, or no page"; done
}

no_tools() {
	local f
	! inside man -w 4 rpcrdma || fail "the manual page is still there"
	for f in rpcrdma-check rpcrdma-stats; do
		! inside which $f && ! inside man -w 8 $f || fail "$f is still there"
	done
}

nothing_left() {
	[ -z "$(inside dkms status rpcrdma)" ] || fail "DKMS still knows it"
	! compgen -G "$root/usr/src/rpcrdma-*" || fail "its source is still there"
	! find "$dir/mem/modules/$release"/{updates,extra} -name 'rpcrdma.ko*' 2>/dev/null | grep . ||
		fail "a module is still there"
	names_mean kernel
}

case_package-deb() {
	make -s -C "$TOP" deb PKGDIR="$dir"
	dpkg-deb -c "$deb" >"$dir/list"
	awk '{ print $6 }' "$dir/list" >"$dir/contents"
	local f
	for f in Kbuild dkms.conf net/module/main.c net/server/svc_rdma.h include/rpcrdma/wire.h; do
		grep -qx "./usr/src/rpcrdma-$version/$f" "$dir/contents" || fail "no $f"
	done
	for f in man4/rpcrdma.4 man8/rpcrdma-check.8 man8/rpcrdma-stats.8; do
		grep -qx "./usr/share/man/$f.gz" "$dir/contents" || fail "no manual page $f"
	done
	for f in quickstart.rst admin.rst releases.rst distros.rst grafana.json grafana.svg; do
		grep -qx "./usr/share/doc/rpcrdma-dkms/$f" "$dir/contents" || fail "no document $f that can be used as it is"
	done
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/rpcrdma-$version/dkms.conf" | grep -qx 'NO_WEAK_MODULES="yes"' ||
		fail "RHEL would use the module of another kernel"
	for f in check stats; do
		grep -q "^-rwxr-xr-x .* \./usr/sbin/rpcrdma-$f\$" "$dir/list" || fail "no program rpcrdma-$f"
	done
	! grep -E 'kunit|scripts|\.(o|ko|cmd)$' "$dir/contents" || fail "things that nobody needs"
	lintian --allow-root --fail-on error,warning "$deb" || fail "lintian objects"
}

case_package-install() {
	inside dpkg -i "$deb" || fail "dpkg -i"
	ours_installed
	inside man -w 4 rpcrdma || fail "no manual page"
	tools_work
	# The next builds compile only what differs from the one before, in a directory that stays.
	echo 'MAKE[0]="rsync -rc ./ /tmp/build && make -C /lib/modules/${kernelver}/build M=/tmp/build modules &&
		cp /tmp/build/rpcrdma.ko ."' >"$root/etc/dkms/rpcrdma.conf"
}

# A build for a kernel that is too old is refused: by dkms with status 77, which does not make the
# installation of a package fail, and by make with an error, unless RPCRDMA_ANY_KERNEL is set. A
# newer kernel than the newest supported one only causes a warning.
case_package-refuse() {
	local out rc=0
	out=$(inside dkms build "rpcrdma/$version" -k $other 2>&1) || rc=$?
	echo "$out"
	[ $rc = 77 ] || fail "status $rc, not 77"
	grep -q 'BUILD_EXCLUSIVE' <<<"$out" || fail "no reason"
	grep -q "made for Linux 6.1 and 6.6 to 7.3" "$root/usr/src/rpcrdma-$version/dkms.conf" || fail "no reason in dkms.conf"
	cp -r "$root/usr/src/rpcrdma-$version" "$dir/mem/plain"
	! out=$(make -C "$kdir" M="$dir/mem/plain" VERSION=5 PATCHLEVEL=10 modules 2>&1) || fail "make builds it"
	echo "$out"
	grep -q 'not made for Linux 5\.10, only for 6\.1 and 6\.6 to 7\.3' <<<"$out" || fail "make gives no reason"
	out=$(make -n -C "$kdir" M="$dir/mem/plain" VERSION=7 PATCHLEVEL=4 modules 2>&1) || true
	grep -q 'made for Linux 6\.1 and 6\.6 to 7\.3, not for 7\.4' <<<"$out" || fail "no warning for a newer one: $out"
	grep -q -- ' -c -o .*net/wire/lists\.o' <<<"$out" || fail "a newer one is refused"
	out=$(make -n -C "$kdir" M="$dir/mem/plain" VERSION=5 PATCHLEVEL=10 RPCRDMA_ANY_KERNEL=1 modules 2>&1) || true
	grep -q -- ' -c -o .*net/wire/lists\.o' <<<"$out" || fail "an older one cannot be insisted on"
	make -C "$kdir" M="$dir/mem/plain" VERSION=5 PATCHLEVEL=10 clean || fail "make clean does not work there"
}

# upgraded: the package has replaced the one of the version $1.
upgraded() {
	ours_installed
	! inside dkms status rpcrdma | grep -vF "rpcrdma/$version," || fail "DKMS has the other one, too"
	[ ! -e "$root/usr/src/rpcrdma-$1" ] || fail "the other source is still there"
}

# A newer package replaces the previous one and the module that it installed, and the other way round.
case_package-upgrade() {
	local old=$version older=$deb out
	version=$old.1 deb=$dir/rpcrdma-dkms_$old.1_all.deb
	RPCRDMA_VERSION=$version make -s -C "$TOP" deb PKGDIR="$dir"
	out=$(inside apt-get -s install "$deb") || fail "apt-get does not take it"
	grep -F "Inst rpcrdma-dkms [$old] ($version" <<<"$out" || fail "no newer version to apt-get: $out"
	inside dpkg -i "$deb" || fail "dpkg -i"
	upgraded "$old"
	version=$old
	inside dpkg -i "$older" || fail "no way back"
	upgraded "$old.1"
}

# make_install: install the module that is built already, without DKMS, for the kernel of the test.
make_install() { inside make -s -C "$TOP" install KREL="$release" KO="$(module_dir "$kernel")/rpcrdma.ko"; }

case_package-remove() {
	# The tools that make install installs come before those of the package in PATH. make uninstall must remove
	# them, and leave those of the package.
	make_install || fail "make install"
	inside make -s -C "$TOP" uninstall KREL="$release" || fail "make uninstall"
	[ "$(inside which rpcrdma-check)" = /usr/sbin/rpcrdma-check ] || fail "another rpcrdma-check is left"
	inside dpkg -r rpcrdma-dkms || fail "dpkg -r"
	nothing_left
}

case_package-dkms() {
	local out
	inside make -s -C "$TOP" dkms-install KREL="$release" || fail "make dkms-install"
	ours_installed
	inside man -w 4 rpcrdma || fail "no manual page"
	tools_work
	! out=$(inside make -s -C "$TOP" dkms-install KREL=$other 2>&1) || fail "installed for $other"
	grep -q 'not made for Linux 5\.10' <<<"$out" || fail "no reason: $out"
	ours_installed
	# DKMS's module needs the tools when that of make install has gone.
	make_install || fail "make install beside DKMS"
	names_mean updates
	inside make -s -C "$TOP" uninstall KREL="$release" || fail "make uninstall beside DKMS"
	ours_installed
	tools_work
	inside make -s -C "$TOP" dkms-uninstall || fail "make dkms-uninstall"
	nothing_left
	no_tools
}

# throw_away_key: make the key $KEY.key with the certificate $KEY.pub
KEY=/etc/throw-away
throw_away_key() {
	inside openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=throw-away/" -keyout $KEY.key -outform DER \
		-out $KEY.pub 2>/dev/null
}

# signs: has this kernel the program that signs modules? Debian's has, the lab's have not.
signs() { [ -e "$kdir/scripts/sign-file" ] || ! echo "no sign-file"; }

# signed: the module that modprobe finds has a signature, which was made with this key. (The file ends with the signature,
# 8 bytes, the length of the signature, and a line of 28 bytes.)
signed() {
	local file=$dir/mem/signed.ko length
	# This also copies a file that is not compressed.
	xz -dcf "$root$(inside modinfo -k "$release" -n rpcrdma)" >"$file"
	[ "$(modinfo -F signer "$file")" = throw-away ] || fail "the signer is $(modinfo -F signer "$file")"
	length=$((16#$(tail -c 32 "$file" | head -c 4 | od -An -tx1 | tr -d ' ')))
	tail -c $((length + 40)) "$file" | head -c $length >"$file.sig"
	truncate -s -$((length + 40)) "$file"
	valid() {
		openssl cms -verify -binary -inform DER -in "$file.sig" -content "$file" -noverify -nointern \
			-certfile <(openssl x509 -inform DER -in "$root$KEY.pub") -out /dev/null
	}
	valid || fail "the signature is wrong"
	echo >>"$file"
	! valid || fail "the signature fits any file"
}

# make install does not need DKMS: it installs a module that is already built.
case_package-make() {
	make_install || fail "make install"
	inside modinfo -k "$release" -n rpcrdma | grep "/$release/updates/rpcrdma\.ko" || fail "modinfo does not name ours"
	[ "$(inside modinfo -k "$release" -F version rpcrdma)" = "$version" ] || fail "wrong version"
	names_mean updates
	inside man -w 4 rpcrdma || fail "no manual page"
	tools_work
	# As distros.rst says
	if signs; then
		throw_away_key
		inside "/lib/modules/$release/build/scripts/sign-file" sha256 $KEY.key $KEY.pub "$(inside modinfo -k "$release" -n rpcrdma)"
		signed
	fi
	# The module of another kernel needs the tools, too.
	mkdir "$dir/mem/modules/$other/updates"
	touch "$dir/mem/modules/$other/updates/rpcrdma.ko"
	inside make -s -C "$TOP" uninstall KREL="$release" || fail "make uninstall"
	tools_work
	rm -r "$dir/mem/modules/$other/updates"
	inside make -s -C "$TOP" uninstall KREL="$release" || fail "make uninstall"
	nothing_left
	no_tools
}

# What an RPM says of itself and of its files. rpmlint complains of warnings, too. The filters: the source of a module is
# what the package is for; a repository signs; there is no home page; RHEL knows no groups any more; rpmlint of Debian 12
# does not find manual pages in *.gz, and that of Debian 13 checks the spelling of iWARP.
case_package-rpm() {
	local f
	make -s -C "$TOP" rpm PKGDIR="$dir"
	rpm -qpl "$rpm" >"$dir/contents"
	dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's/^\.\(.*[^/]\)$/\1/p' | grep -vE '/(changelog.gz|copyright)$' |
		sort >"$dir/contents.deb"
	for f in $(comm -13 <(sort "$dir/contents") "$dir/contents.deb"); do fail "what only the Debian package has: $f"; done
	rpm -qp --requires "$rpm" | grep -x 'dkms >= 3' || fail "it does not need DKMS"
	rpm -qp --conflicts "$rpm" | grep -x mlnx-nfsrdma || fail "it does not conflict with a vendor's"
	cat >"$dir/mem/rpmlint.toml" <<-END
	CompressExtension = "gz"
	ValidLicenses = ["GPL-2.0-only"]
	Filters = ["devel-file-in-non-devel-package", "no-signature", "no-url-tag", "no-group-tag", "no-manual-page-for-binary",
	           "spelling-error"]
	END
	rpmlint -c "$dir/mem/rpmlint.toml" "$rpm" >"$dir/mem/rpmlint" 2>&1 || true
	cat "$dir/mem/rpmlint"
	grep -q ' 0 errors, 0 warnings' "$dir/mem/rpmlint" || fail "rpmlint objects"
}

# Debian 12's rpm installs packages only with this option, which that of Debian 13 does not have.
mapfile -t FORCE < <(rpm --help | grep -o -e --force-debian)
try_rpm() { inside rpm "${FORCE[@]}" "$@"; }
rpm_inside() { try_rpm "$@" || fail "rpm $*"; }

# rhel_up: DKMS takes the chroot for RHEL, and rpm finds what the package needs.
rhel_up() {
	rm "$root/etc/os-release"
	printf 'ID="rhel"\nVERSION_ID="10.0"\n' >"$root/etc/os-release"
	cat >"$dir/mem/rhel.spec" <<-END
	Name: rhel
	Version: 10
	Release: 1
	Summary: What the chroot has of Debian
	License: none
	BuildArch: noarch
	Provides: dkms = $(dpkg-query -W -f '${Version}' dkms | sed 's/-.*//'), /bin/sh, /bin/bash
	%description
	%files
	END
	rpmbuild -bb --quiet --define "_topdir $dir/mem/rpmbuild" --define "_rpmdir $dir" "$dir/mem/rhel.spec"
	! try_rpm -U "$rpm" || fail "it does without DKMS"
	rpm_inside -U "$dir/noarch/rhel-10-1.noarch.rpm"
}

# initramfs_has <place>: the initramfs has the module of this directory of /lib/modules/<release>.
initramfs_has() {
	inside lsinitrd -k "$release" | grep 'rpcrdma\.ko' | tee -a /dev/stderr | grep -q "/$release/$1/.*rpcrdma\.ko" ||
		fail "the initramfs does not have the one in $1"
}

# A given key signs the module. The initramfs had the kernel's own module before. DKMS on RHEL puts that module away, but
# it comes back with the kernel's package. Then only the package's file in /etc/depmod.d makes depmod prefer extra/.
# (RHEL also has such a file for all modules in extra/.)
case_package-rpm-install() {
	local kept
	rhel_up
	throw_away_key
	printf '%s\n' mok_signing_key=$KEY.key mok_certificate=$KEY.pub >"$root/etc/dkms/framework.conf.d/key.conf"
	printf '%s\n' hostonly=no compress=cat 'dracutmodules="base kernel-modules"' 'drivers="rpcrdma"' >"$root/etc/dracut.conf.d/test.conf"
	inside dracut --quiet --force --kver "$release"
	initramfs_has kernel
	rpm_inside -U "$rpm"
	ours_installed
	! signs || signed
	initramfs_has extra
	inside man -w 4 rpcrdma || fail "no manual page"
	tools_work
	! inside make -s -C "$TOP" dkms-install KREL="$release" || fail "make dkms-install beside the package"
	kept=$(kernel_root "$kernel")/lib/modules/$release/kernel/net/sunrpc/xprtrdma
	inside cp -r "$kept" "/lib/modules/$release/kernel/net/sunrpc/"
	inside depmod "$release"
	names_mean extra
	mv "$root/etc/depmod.d/rpcrdma.conf" "$dir/mem/"
	inside depmod "$release"
	names_mean kernel
	mv "$dir/mem/rpcrdma.conf" "$root/etc/depmod.d/"
	inside depmod "$release"
	names_mean extra
}

# The same package may be installed again, and replaced by a newer or an older one.
case_package-rpm-upgrade() {
	local old=$version older=$rpm
	rpm_inside -U --replacepkgs "$rpm"
	ours_installed
	version=$old.1 rpm=$dir/rpcrdma-dkms-$old.1-1.noarch.rpm
	RPCRDMA_VERSION=$version make -s -C "$TOP" rpm PKGDIR="$dir"
	rpm_inside -U "$rpm"
	upgraded "$old"
	! try_rpm -U "$older" || fail "an older version without being asked"
	version=$old
	rpm_inside -U --oldpackage "$older"
	upgraded "$old.1"
	initramfs_has extra
}

case_package-rpm-remove() {
	make_install || fail "make install"
	inside make -s -C "$TOP" uninstall KREL="$release" || fail "make uninstall"
	[ "$(inside which rpcrdma-check)" = /usr/sbin/rpcrdma-check ] || fail "another rpcrdma-check is left"
	rpm_inside -e rpcrdma-dkms
	nothing_left
	no_tools
	initramfs_has kernel
	[ ! -e "$root/etc/depmod.d/rpcrdma.conf" ] || fail "depmod still looks for it"
}

# The tarball of a commit has what is committed, and nothing else. Without git, the module and the packages can be made
# from it, and the packages do not differ by a byte from those that are made from the repository, by another user at
# another place and time.
case_package-dist() {
	local repo=$root/tmp/repo tar=$root/tmp/tar f
	unset RPCRDMA_VERSION
	mkdir -p "$repo" "$tar" "$dir/one" "$dir/two"
	cp -r "$TOP"/{.ci,.gitignore,Makefile,Kbuild,README,Documentation,net,include,kunit,scripts} "$repo/"
	git init -q "$repo"
	git -C "$repo" add -A
	git -C "$repo" -c user.name=t -c user.email=t@t.example commit -q -m one --date 2026-11-24T12:00:00Z
	touch "$repo/stray"
	make -s -C "$repo" dist deb rpm PKGDIR="$dir/one"
	version=$("$repo/scripts/package/version")
	tar -xf "$dir/one/rpcrdma-$version.tar.gz" -C "$tar"
	diff -r --exclude=.git --exclude=.version --exclude=stray "$repo" "$tar/rpcrdma-$version" || fail "not what is committed"
	[ ! -e "$tar/rpcrdma-$version/stray" ] || fail "a file that is not committed"
	(umask 077; TZ=Asia/Tokyo make -s -C "$repo" dist PKGDIR="$dir/two")
	cmp "$dir"/{one,two}/rpcrdma-"$version".tar.gz || fail "two tarballs of one commit differ"
	touch "$repo/net/wire/stray.c"
	! make -s -C "$repo" dist PKGDIR="$dir/two" || fail "it packs changes that are not committed"
	rm "$root/usr/bin/git"
	(umask 077; TZ=Asia/Tokyo inside make -s -C "/tmp/tar/rpcrdma-$version" deb rpm PKGDIR=/tmp/tar)
	for f in "rpcrdma-dkms_${version}_all.deb" "rpcrdma-dkms-$version-1.noarch.rpm"; do
		cmp "$dir/one/$f" "$tar/$f" || fail "two packages of one commit differ: $f"
	done
	rsync -rc "$tar/rpcrdma-$version/" "$root/tmp/build"
	inside make -s -C /tmp/build KDIR="$kdir" || fail "it does not build"
	[ "$(modinfo -F version "$root/tmp/build/rpcrdma.ko")" = "$version" ] || fail "wrong version"
}

root_up
# Each case uses the result of the one before. After a failure, the remaining cases do not run, and count as failed.
bad=
for name in deb install refuse upgrade remove dkms make rpm rpm-install rpm-upgrade rpm-remove dist; do
	t0=$SECONDS word=ok reason=
	if [ -n "$bad" ]; then
		word='not ok' reason="$bad failed"
	else
		# Run the case in the background. As part of a condition, it would run without "set -e", and a failed
		# command would not end it.
		(set -euo pipefail; shopt -s inherit_errexit; "case_package-$name") >>"$dir/log/$name.log" 2>&1 &
		wait $! || word='not ok' bad=$name
	fi
	if [ "$bad" = "$name" ]; then
		reason=$(grep '^FAIL: ' "$dir/log/$name.log" | tail -n 1 || true)
		reason=${reason#FAIL: }
		reason=${reason:-$(tail -n 1 "$dir/log/$name.log")}
	fi
	echo "case $word package-$name $((SECONDS - t0)) $reason"
done
