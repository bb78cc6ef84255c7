# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Kernels for the guests:
#   7.3, 6.12   built here from Debian's linux-source packages, with checkers (see CHECKERS)
#   7.3-dma     7.3 for x86, in which siw and rxe use the DMA API (dma.config, sw-dma.patch)
#   debian      Debian's own 6.12 image and headers; nothing is built
#   debian-6.1  the same of Debian 12, whose kernel is 6.1
#   debian-7.3  the same of Debian 13's backports, which needs the compiler and the libraries of Debian 13
#   debian-arm64, debian-arm64-16k, ...   the same as debian, for other processors, see foreign.sh
# The kernels that are built here are for one of two machines:
#   x86   a PC, for QEMU
#   um    User-mode Linux: the kernel is a program of this host, and several times as fast as an emulated one
# 7.3 is built for um (for x86 with MACHINE=x86, or if the checkers need that), and 6.12 for x86, because the User-mode
# Linux of 6.12 loses the data of modules.
# kernel_ready <name> makes a kernel usable. kernel_kdir, kernel_image and kernel_root print where its files are.
. "$(dirname "${BASH_SOURCE[0]}")/foreign.sh"

# CHECKERS selects one of five configurations for the kernels that are built here. debug.config,
# race.config (for make test-race) and memory.config (for make test-memory) have checkers.
# plain.config and locks.config (for make bench) have none. Each configuration is a separate build.
CHECKERS=${CHECKERS:-debug}
case $CHECKERS in
debug | race | memory | plain | locks) ;;
*) die "CHECKERS=$CHECKERS? It is debug, race, memory, plain or locks" ;;
esac

MACHINE=${MACHINE:-um}
case $MACHINE in um | x86) ;; *) die "MACHINE=$MACHINE? It is um or x86" ;; esac
# Of these two machines, KCSAN and KMSAN support only the PC, and so does counting locks under QEMU.
case $CHECKERS in race | memory | locks) MACHINE=x86 ;; esac

# kernel_machine <kernel>: print the architecture for which a kernel is built, as make takes it in
# ARCH: um, x86, or one of those in foreign.sh
kernel_machine() {
	if kernel_is_foreign "$1"; then
		foreign_machine "$1"
	elif [ "$1" = 7.3 ]; then
		echo "$MACHINE"
	else
		echo x86
	fi
}

# KMSAN needs clang.
TOOLCHAIN=()
[ "$CHECKERS" != memory ] || TOOLCHAIN=(LLVM=1)

((${#TOOLCHAIN[@]})) || PKG_CLANG=()

# kernel_is_debian <kernel>: is it a kernel that Debian has built?
kernel_is_debian() { [[ $1 == debian* ]]; }

# kernel_is_checked <kernel>: does it have lockdep and kmemleak?
kernel_is_checked() { [ "$CHECKERS" = debug ] && ! kernel_is_debian "$1" && [ "$1" != 7.3-dma ]; }

# kernel_suite <kernel>: print the suite of Debian from which the kernel comes. Modules should be
# built with the compiler of their kernel. So on a host with gcc 12, Linux 6.12 comes
# from bookworm-backports, where it was built with gcc 12, and on other hosts from trixie.
kernel_suite() {
	if [[ $1 == ?(debian-)7.3* ]]; then
		echo trixie-backports
	elif [ "$1" = debian-6.1 ]; then
		echo bookworm-security
	elif [ "$(gcc -dumpversion)" = 12 ]; then
		echo bookworm-backports
	else
		echo trixie
	fi
}

kernel_known() {
	case " 7.3 7.3-dma 6.12 debian debian-6.1 debian-7.3 ${FOREIGN[*]} " in
	*" $1 "*) ;;
	*) die "no such kernel: $1 (7.3, 7.3-dma, 6.12, debian, debian-6.1, debian-7.3, ${FOREIGN[*]})" ;;
	esac
}

provider_known() { case $1 in siw | rxe | hca) ;; *) die "no such provider: $1 (siw, rxe, hca)" ;; esac }

kernel_src() { echo "$CACHE/src/linux-source-$1"; }

kernel_build_dir() {
	local dir=$CACHE/build-$1-$CHECKERS
	[ "$(kernel_machine "$1")" = x86 ] || dir+=-um
	echo "$dir"
}

# kernel_kdir <kernel>: the tree against which modules are built
kernel_kdir() {
	if kernel_is_debian "$1"; then
		echo "$CACHE/$1/usr/src/linux-headers-$(kernel_release "$1")"
	else
		kernel_build_dir "$1"
	fi
}

kernel_image() {
	if kernel_is_debian "$1"; then
		# Newer packages have the image among the modules.
		compgen -G "$CACHE/$1/boot/vmlinu?-$(kernel_release "$1")" || echo "$CACHE/$1/lib/modules/$(kernel_release "$1")/vmlinuz"
	elif [ "$(kernel_machine "$1")" = um ]; then
		echo "$(kernel_build_dir "$1")/linux"
	else
		echo "$(kernel_build_dir "$1")/arch/x86/boot/bzImage"
	fi
}

# kernel_root <kernel>: the directory that contains lib/modules
kernel_root() {
	if kernel_is_debian "$1"; then echo "$CACHE/$1"; else echo "$(kernel_build_dir "$1")/root"; fi
}

kernel_release() {
	local d
	d=$(kernel_root "$1")/lib/modules
	[ -d "$d" ] && ls "$d"
}

# deb_fetch <package>[:<architecture>] <suite>: download the newest version in that suite to
# $CACHE/debs, unless it is there, and print the path of the file.
deb_fetch() {
	local pkg=$1 suite=$2 version file
	need_lists
	mkdir -p "$CACHE/debs"
	version=$(lab_apt_cache madison "$pkg" | awk -F'|' -v s="/$2/" \
		'{ gsub(/ /, "", $2); f = $3; gsub(/ /, "/", f) } index(f, s) && !n++ { print $2 }')
	[ -n "$version" ] || die "$suite has no package $pkg"
	file=$CACHE/debs/${pkg%:*}_${version//:/%3a}_
	if ! compgen -G "$file*.deb" >/dev/null; then
		(cd "$CACHE/debs" && with_log "fetching $pkg $version" "$CACHE/log/fetch-$pkg" \
			env APT_CONFIG="$LAB_APT/apt.conf" apt-get download "$pkg=$version") || return
	fi
	compgen -G "$file*.deb"
}

# kernel_source_ready <version>: unpack the source of this kernel, unless that has been done. 7.3-dma has a patch that
# must not be in 7.3. So it has a source of its own, which is made anew before each build. It consists of hard links;
# the program patch does not change files, but replaces them.
kernel_source_ready() {
	local v=$1 src deb version
	src=$(kernel_src "$v")
	if [ "$v" = 7.3-dma ]; then
		(kernel_source_locked 7.3) || return
		rm -rf "$src"
		cp -al "$(kernel_src 7.3)" "$src"
		cp "$(kernel_src 7.3).version" "$src.version"
		return
	fi
	[ -e "$src/Makefile" ] && [ -e "$src.version" ] && return
	deb=$(deb_fetch "linux-source-$v" "$(kernel_suite "$v")") || exit
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

# kernel_source_locked <version>: the same. If another run is unpacking the source, wait for that run.
kernel_source_locked() {
	[ ! -e "$(kernel_src "$1").version" ] || return 0
	lock "kernel-$1-$CHECKERS-$(kernel_machine "$1")"
	kernel_source_ready "$1"
}

# kernel_fragments <kernel>: print the fragments of its configuration. A machine may have another
# fragment for one set of checkers (x86-debug.config). A plain kernel has no KASAN, so it gets no
# settings of KASAN either.
kernel_fragments() {
	local without='^$' machine more
	machine=$(kernel_machine "$1")
	more=("$LAB/$CHECKERS.config" "$LAB/$machine-$CHECKERS.config")
	[ -e "${more[1]}" ] || unset "more[1]"
	[ "$1" != 7.3-dma ] || more=("$LAB/dma.config")
	[ "$CHECKERS" != plain ] || without='^CONFIG_KASAN_'
	cat "$LAB/kernel.config" "$LAB/$machine.config" "${more[@]}" | grep -v "$without"
}

# kernel_fragment <kernel>: print the settings of the fragments, without their comments
kernel_fragment() { kernel_fragments "$1" | sed -n 's/[[:space:]]*#.*//; /^CONFIG_/p'; }

# kernel_patches <kernel>: patches that are applied before the kernel is built.
# rxe.patch: rxe uses a queue pair after it has queued a packet. The packet may already have been consumed, and the
# queue pair destroyed (compat.rst). KASAN reports this if a test breaks connections for long enough.
# rxe-destroy.patch: rxe looks up queue pairs under RCU, but their memory is freed at once (compat.rst).
# rxe-again.patch: rxe of 6.12 executes a packet a second time if the queue pair fails during the
# first time (compat.rst).
# rxe-gsi.patch: rxe stops the queue pair of the connection manager if it cannot send a packet
# (compat.rst).
# siw-zero-read.patch: siw answers an RDMA Read of no bytes with old data (compat.rst).
# sw-dma.patch: siw and rxe have a DMA device, so that modules map memory for them with the DMA API. DMA_API_DEBUG
# checks each access to memory. Parameters of ib_core turn this on, and limit what the devices support.
# siw.patch: when siw frees an endpoint, it uses the device of the endpoint. The device may have
# been removed before (compat.rst).
# um.patch: for each stack trace that KASAN, kmemleak or lockdep records, User-mode Linux searches the whole stack,
# which takes most of its time. With the patch, it goes from frame to frame. The patch also repairs the network driver
# of User-mode Linux, which takes a lock with bottom halves enabled: lockdep reports that, and turns itself off.
# um-smp.patch: User-mode Linux with SMP makes a system call of the host for each local_irq_save(), to block the signal
# that is an IPI. With the patch, an IPI that comes while interrupts are off is noted, as other signals are. The clock of
# a guest with one processor can still skip idle time.
# um-dma.patch: a device may have DMA operations of its own. The simulated adapter has some (hca/mem.c).
# um-vector.patch: while one guest of a pair is stopped, the socket between the two guests fills up.
# Without the patch, the network driver of the other guest then tries to send for ever, and no other
# code of that guest runs.
kernel_patches() {
	echo "$LAB/rxe.patch"
	echo "$LAB/rxe-destroy.patch"
	echo "$LAB/rxe-gsi.patch"
	echo "$LAB/siw.patch"
	echo "$LAB/siw-zero-read.patch"
	[ "$1" != 6.12 ] || echo "$LAB/rxe-again.patch"
	[ "$1" != 7.3-dma ] || echo "$LAB/sw-dma.patch"
	[ "$(kernel_machine "$1")" != um ] || printf '%s\n' "$LAB/um.patch" "$LAB/um-smp.patch" "$LAB/um-dma.patch" "$LAB/um-vector.patch"
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

# Check that the configuration has every setting of the fragments. A setting may be missing if the
# fragment says that this version has no such symbol ("# not in 7.3"). CONFIG_LOCALVERSION may
# differ, because several fragments set it, and the last one counts.
kernel_config_check() {
	local v=$1 conf=$2 line bad=0
	while IFS= read -r line; do
		case $line in CONFIG_*) ;; *) continue ;; esac
		grep -qxF "${line%%[[:space:]]#*}" "$conf" && continue
		[[ $line == CONFIG_LOCALVERSION=* || $line == *"# not in "*"${v%-dma}"* ]] && continue
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

# kernel_tell_machine <kernel> <build directory>: for User-mode Linux, make "um" the default of
# ARCH in the Makefile, so that builds of modules need not set ARCH. The default also counts if
# ARCH is set but empty, as with DKMS.
kernel_tell_machine() {
	[ "$(kernel_machine "$1")" = x86 ] || grep -qs 'export ARCH :=' "$2/Makefile" ||
		sed -i "1i ifeq (\$(ARCH),)\nexport ARCH := $(kernel_machine "$1")\nendif" "$2/Makefile"
}

kernel_make() {
	local v=$1 dir=$2 image=bzImage
	[ "$(kernel_machine "$v")" = x86 ] || image=linux
	# The caller looks at the status, so "set -e" is off here.
	kernel_patched "$v" || return
	kernel_configure "$v" "$dir" || return
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
	need_room 4000
	kernel_source_ready "$v"
	dir=$(kernel_build_dir "$v")
	with_log "building the $CHECKERS kernel $v for $(kernel_machine "$v") (10 to 15 minutes on two cores)" \
		"$CACHE/log/kernel-$v-$CHECKERS" kernel_make "$v" "$dir" || failed "no kernel $v"
	kernel_stamp "$v" >"$dir/.lab-stamp"
}

# debian_kernel_package <kernel>: print the package that Debian's kernel metapackage depends on, for instance
# linux-image-6.12.9-amd64.
debian_kernel_package() {
	local suite flavour series=6.12
	[[ $1 != debian-?.* ]] || series=${1#debian-}
	suite=$(kernel_suite "$1")
	flavour=$(debian_flavour "$1")
	lab_apt_cache show "linux-image-$flavour/$suite" |
		grep -o "linux-image-${series/./\\.}\.[^ ,(]*-$flavour" | sort -uV | tail -n 1
}

# debian_flavour <kernel>: print the end of this kernel's release, such as amd64, which Debian calls
# its flavour
debian_flavour() { if kernel_is_foreign "$1"; then foreign_flavour "$1"; else echo amd64; fi; }

# debian_packages <release> <flavour> <image>: print the package of the image, and those of its files if these are not
# in it; and the packages that are needed to build modules. The tools (linux-kbuild) run on this host, so their
# package is for its architecture. For debian-6.1, the name of this package has only the series: linux-kbuild-6.1.
debian_packages() {
	local common=${1%-"$2"} tools=${1%-"$2"}
	[[ $tools != *-* ]] || tools=${tools%.*}
	echo "$3"
	lab_apt_cache depends "$3" | awk -v r="-$1" '/ Depends: linux-(base|binary|modules)-/ && index($2, r) { print $2 }'
	echo "linux-headers-$1 linux-headers-$common-common linux-kbuild-$tools:$(dpkg --print-architecture)"
}

# Image and headers are unpacked and not installed, so this host will not boot the kernel. The Makefile of the headers
# contains absolute paths of /usr/src, which are replaced.
kernel_ready_debian() {
	local k=$1 suite arch image rel pkg deb tmp=$CACHE/$1.tmp
	[ ! -e "$CACHE/$k/.complete" ] || return 0
	[ "$k/$(gcc -dumpversion)" != debian-7.3/12 ] || die "$k needs a host with Debian 13"
	need_packages "${PKG_BUILD[@]}"
	# debian-arm64 and debian-arm64-16k share their package lists, so they need one lock.
	lock "${k%-[0-9]*}"
	[ ! -e "$CACHE/$k/.complete" ] || return 0
	suite=$(kernel_suite "$k")
	# Of Debian's kernels, only debian uses the default package lists. The others use lists for
	# their suite and architecture: with common lists, each change from one kernel to another
	# would fetch the lists of all suites again.
	# shellcheck disable=SC2034
	if kernel_is_foreign "$k"; then
		arch=$(foreign_arch "$k")
		local LAB_APT=$CACHE/apt-$suite-$arch LAB_SUITES=("$suite") LAB_ARCHS=("$arch" "${LAB_ARCHS[@]}")
	elif [ "$k" != debian ]; then
		local LAB_APT=$CACHE/apt-$suite LAB_SUITES=("$suite")
	fi
	need_room 1000
	need_lists
	image=$(debian_kernel_package "$k") || die "$suite has no image for $k"
	rel=${image#linux-image-}
	rm -rf "$tmp" "${CACHE:?}/$k"
	for pkg in $(debian_packages "$rel" "$(debian_flavour "$k")" "$image"); do
		deb=$(deb_fetch "$pkg" "$suite") || exit
		with_log "unpacking $pkg" "$CACHE/log/unpack-$k" dpkg -x "$deb" "$tmp" || exit
	done
	[ -d "$tmp/lib/modules" ] || ln -sfn usr/lib "$tmp/lib"
	sed -i "s#\([ =]\)/usr/src/#\1$CACHE/$k/usr/src/#" "$tmp/usr/src/linux-headers-$rel/Makefile"
	with_log "listing its modules" "$CACHE/log/unpack-$k" depmod -b "$tmp" "$rel" || exit
	touch "$tmp/.complete"
	mv "$tmp" "$CACHE/$k"
}

kernel_ready() {
	kernel_known "$1"
	if kernel_is_debian "$1"; then kernel_ready_debian "$1"; else kernel_ready_built "$1"; fi
	! kernel_is_foreign "$1" || foreign_ready "$1"
}
