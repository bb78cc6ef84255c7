# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What DKMS knows of the module. The script dkms sources this file, and it is a part of the scriptlets of the RPM. They
# cannot use any other file: when a package is removed, its files may have gone.

# versions: print the versions that DKMS has
versions() {
	dkms status rpcrdma | sed -n 's#^rpcrdma/\([^,: ]*\).*#\1#p' | sort -u
}

# forget: remove all versions from DKMS, for all kernels. Their sources stay: those of a package belong to the package.
forget() {
	local v
	for v in $(versions); do dkms remove "rpcrdma/$v" --all; done
}

# register <version>: make this version the only one, and install it for all kernels that have headers. DKMS says for
# which kernels the module is not made; its status is then 77.
register() {
	local kernel rc any=
	forget
	dkms add "rpcrdma/$1" || return
	for kernel in /lib/modules/*/; do
		[ -e "${kernel}build/Makefile" ] || continue
		any=y rc=0
		kernel=$(basename "$kernel")
		dkms install "rpcrdma/$1" -k "$kernel" || rc=$?
		[ $rc = 0 ] || [ $rc = 77 ] || echo "Kernel $kernel keeps its own rpcrdma: DKMS failed ($rc)" >&2
	done
	[ -n "$any" ] || echo "No kernel has headers: install kernel-devel, and run dkms autoinstall" >&2
}

# initramfs: where the initramfs of a kernel has rpcrdma, make it again, with the module that is installed now.
initramfs() {
	local kernel
	command -v dracut >/dev/null && command -v lsinitrd >/dev/null || return 0
	for kernel in /lib/modules/*/; do
		kernel=$(basename "$kernel")
		! lsinitrd -k "$kernel" 2>/dev/null | grep '/rpcrdma\.ko' >/dev/null || dracut --force --kver "$kernel"
	done
}
