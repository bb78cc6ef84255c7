# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Kernels for the guests. There are three names:
#   7.3, 6.12   built here from Debian's linux-source packages, with checkers (see CHECKERS)
#   debian      Debian's own 6.12 image and headers; nothing is built
# The kernels that are built here are for one of two machines:
#   x86   a PC, for QEMU
#   um    User-mode Linux: the kernel is a program of this host, and several times as fast as an emulated one
# 7.3 is built for um (for x86 with MACHINE=x86 or with other checkers than debug), and 6.12 for x86, because the
# User-mode Linux of 6.12 loses the data of modules.
# kernel_ready <name> makes a kernel usable. kernel_kdir, kernel_image and kernel_root print where its files are.
. "$(dirname "${BASH_SOURCE[0]}")/host.sh"

# CHECKERS selects the checkers in the kernels that are built here: debug.config, or race.config for make test-race, or
# memory.config for make test-memory. Each of the three is a separate build.
CHECKERS=${CHECKERS:-debug}
case $CHECKERS in debug | race | memory) ;; *) die "CHECKERS=$CHECKERS? It is debug, race or memory" ;; esac

MACHINE=${MACHINE:-um}
case $MACHINE in um | x86) ;; *) die "MACHINE=$MACHINE? It is um or x86" ;; esac
# KCSAN and KMSAN only support the PC.
[ "$CHECKERS" = debug ] || MACHINE=x86

# kernel_machine <kernel>: print um or x86
kernel_machine() { if [ "$1" = 7.3 ]; then echo "$MACHINE"; else echo x86; fi; }

# KMSAN needs clang.
TOOLCHAIN=()
[ "$CHECKERS" != memory ] || TOOLCHAIN=(LLVM=1)

((${#TOOLCHAIN[@]})) || PKG_CLANG=()

# Modules should be built with the compiler of their kernel. Two suites have 6.12. Use the suite whose compiler
# this host has.
kernel_suite() {
	if [ "$1" = 7.3 ]; then
		echo trixie-backports
	elif [ "$(gcc -dumpversion)" = 12 ]; then
		echo bookworm-backports
	else
		echo trixie
	fi
}

kernel_known() { case $1 in 7.3 | 6.12 | debian) ;; *) die "no such kernel: $1 (7.3, 6.12, debian)" ;; esac }

provider_known() { case $1 in siw | rxe) ;; *) die "no such provider: $1 (siw, rxe)" ;; esac }

kernel_src() { echo "$CACHE/src/linux-source-$1"; }

kernel_build_dir() {
	local dir=$CACHE/build-$1-$CHECKERS
	[ "$(kernel_machine "$1")" = x86 ] || dir+=-um
	echo "$dir"
}

# kernel_kdir <kernel>: the tree against which modules are built
kernel_kdir() {
	if [ "$1" = debian ]; then
		echo "$CACHE/debian/usr/src/linux-headers-$(kernel_release debian)"
	else
		kernel_build_dir "$1"
	fi
}

kernel_image() {
	if [ "$1" = debian ]; then
		echo "$CACHE/debian/boot/vmlinuz-$(kernel_release debian)"
	elif [ "$(kernel_machine "$1")" = um ]; then
		echo "$(kernel_build_dir "$1")/linux"
	else
		echo "$(kernel_build_dir "$1")/arch/x86/boot/bzImage"
	fi
}

# kernel_root <kernel>: the directory that contains lib/modules
kernel_root() {
	if [ "$1" = debian ]; then echo "$CACHE/debian"; else echo "$(kernel_build_dir "$1")/root"; fi
}

kernel_release() {
	local d
	d=$(kernel_root "$1")/lib/modules
	[ -d "$d" ] && ls "$d"
}

# deb_fetch <package> <suite>: download the newest version in that suite to $CACHE/debs.
deb_fetch() {
	local pkg=$1 suite=$2 version file
	lab_apt_setup
	mkdir -p "$CACHE/debs"
	version=$(lab_apt_cache madison "$pkg" | awk -F'|' -v s="/$2/" \
		'{ gsub(/ /, "", $2); f = $3; gsub(/ /, "/", f) } index(f, s) && !n++ { print $2 }')
	[ -n "$version" ] || die "$suite has no package $pkg"
	file=$CACHE/debs/${pkg}_${version//:/%3a}_
	if ! compgen -G "$file*.deb" >/dev/null; then
		(cd "$CACHE/debs" && with_log "fetching $pkg $version" "$CACHE/log/fetch-$pkg" \
			env APT_CONFIG="$LAB_APT/apt.conf" apt-get download "$pkg=$version") || return
	fi
	compgen -G "$file*.deb"
}

kernel_source_ready() {
	local v=$1 src deb version
	src=$(kernel_src "$v")
	[ -e "$src/Makefile" ] && [ -e "$src.version" ] && return
	deb=$(deb_fetch "linux-source-$v" "$(kernel_suite "$v")")
	version=$(dpkg-deb -f "$deb" Version)
	if [ ! -e "$src/Makefile" ]; then
		mkdir -p "$CACHE/src/tmp-$v"
		with_log "unpacking linux $version" "$CACHE/log/unpack-$v" \
			bash -c "dpkg -x '$deb' '$CACHE/src/tmp-$v' &&
				tar -C '$CACHE/src' -xf '$CACHE/src/tmp-$v/usr/src/linux-source-$v.tar.xz'"
		rm -rf "$CACHE/src/tmp-$v"
	fi
	echo "$version" >"$src.version"
}

# kernel_fragments <kernel>: print the fragments of its configuration
kernel_fragments() { cat "$LAB/kernel.config" "$LAB/$(kernel_machine "$1").config" "$LAB/$CHECKERS.config"; }

# kernel_fragment <kernel>: print the settings of the fragments, without their comments
kernel_fragment() { kernel_fragments "$1" | sed -n 's/[[:space:]]*#.*//; /^CONFIG_/p'; }

# kernel_patches <kernel>: patches that are applied before the kernel is built.
# rxe.patch: rxe uses a queue pair after it has queued a packet. The packet may already have been consumed, and the
# queue pair destroyed (compat.rst). KASAN reports this if a test breaks connections for long enough.
# rxe-destroy.patch: rxe looks up queue pairs under RCU, but their memory is freed at once (compat.rst).
# um.patch: for each stack trace that KASAN, kmemleak or lockdep records, User-mode Linux searches the whole stack,
# which takes most of its time. With the patch, it goes from frame to frame. The patch also repairs the network driver
# of User-mode Linux, which takes a lock with bottom halves enabled: lockdep reports that, and turns itself off.
# um-vector.patch: while the other guest is stopped, its socket is full at some time, and this driver tries to send for
# ever. No other code runs then.
kernel_patches() {
	echo "$LAB/rxe.patch"
	echo "$LAB/rxe-destroy.patch"
	[ "$(kernel_machine "$1")" != um ] || printf '%s\n' "$LAB/um.patch" "$LAB/um-vector.patch"
}

# kernel_patched <kernel>: apply the patches that its source does not have yet
kernel_patched() {
	local patch patches run
	mapfile -t patches < <(kernel_patches "$1")
	for patch in "${patches[@]}"; do
		run=(patch -d "$(kernel_src "$1")" -p1 -s -i "$patch")
		"${run[@]}" -R --dry-run -f >/dev/null 2>&1 || "${run[@]}" -N || return
	done
}

kernel_stamp() {
	local patches
	mapfile -t patches < <(kernel_patches "$1")
	{
		cat "$(kernel_src "$1").version" "${patches[@]}"
		kernel_fragment "$1"
		if ((${#TOOLCHAIN[@]})); then clang --version; else gcc --version; fi | head -n 1
	} | sha256sum | cut -c1-16
}

# Check that the configuration has every setting of the fragments. A setting may be missing if the fragment says that
# this version has no such symbol ("# not in 7.3"), or if it is CONFIG_LOCALVERSION.
kernel_config_check() {
	local v=$1 conf=$2 line bad=0
	while IFS= read -r line; do
		case $line in CONFIG_*) ;; *) continue ;; esac
		grep -qxF "${line%%[[:space:]]#*}" "$conf" && continue
		[[ $line == CONFIG_LOCALVERSION=* || $line == *"# not in "*"$v"* ]] && continue
		say "linux $v did not take $line"
		bad=1
	done < <(kernel_fragments "$v")
	return $bad
}

# kernel_source_make <kernel> <make arguments>: run make in the source of the kernel
kernel_source_make() {
	local src machine
	src=$(kernel_src "$1")
	machine=$(kernel_machine "$1")
	shift
	make -C "$src" ARCH="$machine" "${TOOLCHAIN[@]}" "$@"
}

kernel_configure() {
	local v=$1 dir=$2
	mkdir -p "$dir"
	kernel_fragment "$v" >"$dir/fragment.config"
	kernel_source_make "$v" O="$dir" KCONFIG_ALLCONFIG="$dir/fragment.config" allnoconfig || return
	kernel_config_check "$v" "$dir/.config"
}

# kernel_tell_machine <kernel> <build directory>: write the architecture um to the Makefile, so that builds of modules
# need not set it. It is used if ARCH is not set or, as with DKMS, empty.
kernel_tell_machine() {
	[ "$(kernel_machine "$1")" = x86 ] || grep -qs 'export ARCH :=' "$2/Makefile" ||
		sed -i "1i ifeq (\$(ARCH),)\nexport ARCH := $(kernel_machine "$1")\nendif" "$2/Makefile"
}

kernel_make() {
	local v=$1 dir=$2 image=bzImage
	[ "$(kernel_machine "$v")" = x86 ] || image=linux
	# The caller looks at the status, so "set -e" is off here.
	kernel_configure "$v" "$dir" || return
	kernel_patched "$v" || return
	kernel_source_make "$v" O="$dir" -j"$JOBS" "$image" modules || return
	rm -rf "$dir/root"
	kernel_source_make "$v" O="$dir" -s INSTALL_MOD_PATH="$dir/root" modules_install || return
	kernel_tell_machine "$v" "$dir"
}

kernel_built() {
	local stamp
	stamp=$(kernel_build_dir "$1")/.lab-stamp
	[ -e "$stamp" ] && [ -e "$(kernel_src "$1").version" ] && [ "$(cat "$stamp")" = "$(kernel_stamp "$1")" ]
}

kernel_ready_built() {
	local v=$1 dir
	kernel_built "$v" && return
	need_packages "${PKG_BUILD[@]}" "${PKG_CLANG[@]}"
	lock "kernel-$v-$CHECKERS-$(kernel_machine "$v")"
	kernel_built "$v" && return
	kernel_source_ready "$v"
	dir=$(kernel_build_dir "$v")
	with_log "building the $CHECKERS kernel $v for $(kernel_machine "$v") (10 to 15 minutes on two cores)" \
		"$CACHE/log/kernel-$v-$CHECKERS" kernel_make "$v" "$dir" || die "no kernel $v"
	kernel_stamp "$v" >"$dir/.lab-stamp"
}

# Print the package that Debian's kernel metapackage depends on, for instance linux-image-6.12.9-amd64.
debian_kernel_package() {
	local suite
	suite=$(kernel_suite debian)
	lab_apt_setup
	lab_apt_cache show "linux-image-amd64/$suite" |
		grep -o 'linux-image-6\.12[^ ,(]*-amd64' | sort -uV | tail -n 1
}

# Image and headers are unpacked and not installed, so this host will not boot the kernel. The Makefile of the headers
# contains absolute paths of /usr/src, which are replaced.
kernel_ready_debian() {
	local suite image rel pkg deb tmp=$CACHE/debian.tmp
	[ ! -e "$CACHE/debian/.complete" ] || return 0
	need_packages "${PKG_BUILD[@]}"
	lock debian
	[ ! -e "$CACHE/debian/.complete" ] || return 0
	suite=$(kernel_suite debian)
	image=$(debian_kernel_package) || die "$suite has no linux 6.12 image"
	rel=${image#linux-image-}
	rm -rf "$tmp" "$CACHE/debian"
	for pkg in "$image" "linux-headers-$rel" "linux-headers-${rel%-amd64}-common" "linux-kbuild-${rel%-amd64}"; do
		deb=$(deb_fetch "$pkg" "$suite")
		with_log "unpacking $pkg" "$CACHE/log/unpack-debian" dpkg -x "$deb" "$tmp"
	done
	[ -d "$tmp/lib/modules" ] || ln -sfn usr/lib "$tmp/lib"
	sed -i "s# /usr/src/# $CACHE/debian/usr/src/#" "$tmp/usr/src/linux-headers-$rel/Makefile"
	depmod -b "$tmp" "$rel"
	touch "$tmp/.complete"
	mv "$tmp" "$CACHE/debian"
}

kernel_ready() {
	kernel_known "$1"
	if [ "$1" = debian ]; then kernel_ready_debian; else kernel_ready_built "$1"; fi
}
