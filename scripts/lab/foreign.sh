# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Guests with another processor than this host's. QEMU emulates them. Their kernels are Debian's, like the kernel debian,
# and the module is cross-compiled. Such a guest cannot run the host's programs, so it has Debian's packages for its own
# processor, unpacked but not installed. They hide the files of the host that have the same names; everything else,
# such as the tests and /etc/passwd, comes from the host.
. "$(dirname "${BASH_SOURCE[0]}")/host.sh"

# The kernels. The columns: our name for the kernel; the architecture's name in Debian and in the kernel (ARCH); the
# flavour, with which Debian's name of the kernel ends; the console; the packages with a compiler and an emulator for
# this host; the emulator with its options. The emulated processor must support the kernel's page size.
#   debian-arm64        pages of 4K
#   debian-arm64-16k    pages of 16K
#   debian-ppc64el-64k  pages of 64K
#   debian-s390x        big-endian
FOREIGN_TABLE='
debian-arm64 arm64 arm64 arm64 ttyAMA0 gcc-aarch64-linux-gnu qemu-system-arm qemu-system-aarch64 -machine virt -cpu neoverse-n1
debian-arm64-16k arm64 arm64 arm64-16k ttyAMA0 gcc-aarch64-linux-gnu qemu-system-arm qemu-system-aarch64 -machine virt -cpu neoverse-n1
debian-ppc64el-64k ppc64el powerpc powerpc64le-64k hvc0 gcc-powerpc64le-linux-gnu qemu-system-ppc qemu-system-ppc64 -machine pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off -cpu power9
debian-s390x s390x s390 s390x ttysclp0 gcc-s390x-linux-gnu qemu-system-misc qemu-system-s390x -machine s390-ccw-virtio -cpu max
'
mapfile -t FOREIGN < <(cut -s -d' ' -f1 <<<"$FOREIGN_TABLE")

kernel_is_foreign() { [[ " ${FOREIGN[*]} " == *" $1 "* ]]; }

# foreign <kernel> <fields>: print fields of the table, in the syntax of cut
foreign() { grep "^$1 " <<<"$FOREIGN_TABLE" | cut -d' ' -f"$2"; }

foreign_arch() { foreign "$1" 2; }
foreign_machine() { foreign "$1" 3; }
foreign_flavour() { foreign "$1" 4; }
foreign_console() { foreign "$1" 5; }
foreign_host_packages() { foreign "$1" 6-7; }
foreign_qemu() { foreign "$1" 8-; }

# kernel_programs <kernel>: print the directory that contains the programs for its guests. Print
# nothing if its guests use the programs of the host.
kernel_programs() { if kernel_is_foreign "$1"; then echo "$CACHE/programs-$(foreign_arch "$1")"; fi; }

# programs_fetch <directory>: download the packages in PKG_FOREIGN, and those that they depend on.
# The empty status makes apt believe that no package is installed, so it downloads all of them.
programs_fetch() {
	local opts=(-o Dir::State::status=/dev/null -o "Dir::Cache::archives=$1" -o APT::Install-Recommends=false)
	mkdir -p "$1/partial"
	APT_CONFIG=$LAB_APT/apt.conf apt-get -y "${opts[@]}" --download-only install "${PKG_FOREIGN[@]}"
}

# programs_unpack <directory with packages> <directory>: unpack the packages. Some of them still
# have files in /bin, which is a link to usr/bin.
programs_unpack() {
	local d
	mkdir -p "$2"/usr/{bin,sbin,lib}
	for d in bin sbin lib; do ln -s "usr/$d" "$2/$d"; done
	for d in "$1"/*.deb; do
		dpkg-deb --fsys-tarfile "$d" | tar -xC "$2" --keep-directory-symlink || return
	done
	mkdir -p "$2/etc/alternatives"
	ln -s /usr/bin/mawk "$2/etc/alternatives/awk"
}

# foreign_ready <kernel>: install a compiler and an emulator on this host, and unpack the packages for the guest
foreign_ready() {
	local arch dir release packages LAB_APT LAB_SUITES LAB_ARCHS
	arch=$(foreign_arch "$1")
	dir=$(kernel_programs "$1")
	read -ra packages <<<"$(foreign_host_packages "$1")"
	need_packages "${packages[@]}"
	lock "programs-$arch"
	[ ! -e "$dir/.complete" ] || return 0
	# The packages must be of the host's release of Debian, because the programs use the host's
	# configuration.
	# shellcheck source=/dev/null
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2034
	LAB_APT=$CACHE/apt-programs-$arch LAB_SUITES=("$release") LAB_ARCHS=("$arch")
	need_lists
	rm -rf "$dir" "$dir.tmp"
	with_log "fetching programs for $arch" "$CACHE/log/fetch-programs-$arch" programs_fetch "$dir.tmp/debs" || die "no programs for $arch"
	with_log "unpacking them" "$CACHE/log/unpack-programs-$arch" programs_unpack "$dir.tmp/debs" "$dir.tmp/root" ||
		die "the programs for $arch cannot be unpacked"
	touch "$dir.tmp/root/.complete"
	mv "$dir.tmp/root" "$dir"
	rm -rf "$dir.tmp"
}
