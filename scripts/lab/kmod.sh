# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Build the module for one of the lab's kernels, outside the source tree, so that builds for several kernels do not
# disturb each other. Install it into a copy of that kernel's module directory, as `make install` does on a real
# machine.
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"

# MODULE: ours (the default), or intree for the kernel's own rpcrdma.ko. With intree, a fault of the lab can be
# distinguished from a fault of the module.
MODULE=${MODULE:-ours}
case $MODULE in ours | intree) ;; *) die "MODULE=$MODULE? It is ours or intree" ;; esac

# Each build of a kernel has its own build of the module.
module_suffix() { kernel_is_debian "$1" || basename "$(kernel_build_dir "$1")" | sed "s/build-$1//"; }

module_dir() { echo "$TREE/module-$1$(module_suffix "$1")"; }

# module_root <kernel>: print the directory that contains lib/modules for a guest with the module that MODULE selects
module_root() {
	if [ "$MODULE" = intree ]; then kernel_root "$1"; else echo "$TREE/root-$1$(module_suffix "$1")"; fi
}

module_sync() {
	local dir part
	dir=$(module_dir "$1")
	mkdir -p "$dir"
	for part in net include kunit Kbuild; do
		[ ! -e "$TOP/$part" ] || rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod' \
			--exclude='*.mod.c' --exclude='.*' --exclude='*.gcno' "$TOP/$part" "$dir/"
	done
}

# module_make <kernel> [make arguments]: build the module in a copy of the source tree
module_make() {
	local k=$1
	shift
	module_sync "$k"
	make -C "$(kernel_kdir "$k")" ARCH="$(kernel_machine "$k")" "${TOOLCHAIN[@]}" M="$(module_dir "$k")" -j"$JOBS" \
		--no-print-directory rpcrdma-version="$("$TOP/scripts/package/version")" "$@" modules
}

# module_extra <kernel> <source> <directory>: build rpcrdma_<source>.ko, a module that only tests need, from
# scripts/tests/peers/<source>.c
module_extra() {
	mkdir -p "$3"
	cp "$TOP/scripts/tests/peers/$2.c" "$3/rpcrdma_$2.c"
	cp "$TOP/scripts/tests/peers/"*.h "$3/"
	echo "obj-m := rpcrdma_$2.o" >"$3/Kbuild"
	make -C "$(kernel_kdir "$1")" ARCH="$(kernel_machine "$1")" "${TOOLCHAIN[@]}" M="$3" --no-print-directory modules
}

# module_hca <kernel> <directory>: build hca_sim.ko, the simulated adapter (lab/hca/main.c), in <directory>/hca
module_hca() {
	mkdir -p "$2/hca"
	cp "$LAB/hca"/* "$2/hca/"
	make -C "$(kernel_kdir "$1")" ARCH="$(kernel_machine "$1")" "${TOOLCHAIN[@]}" M="$2/hca" --no-print-directory modules
}

module_install() {
	local k=$1 root base
	base=$(kernel_root "$k")
	root=$(module_root "$k")
	if [ ! -e "$root/.from" ] || [ "$root/.from" -ot "$base/lib/modules" ]; then
		rm -rf "$root"
		mkdir -p "$root/lib"
		cp -al "$base/lib/modules" "$root/lib/"
		# depmod writes these files again, so they must not be hard links to the kernel's
		# own files.
		rm -f "$root"/lib/modules/*/modules.{dep,alias,symbols,softdep,devname,builtin.alias}*
		touch "$root/.from"
	fi
	[ ! -e "$(module_dir "$k")/rpcrdma_kunit.ko" ] ||
		install -D -m 644 -t "$root/lib/modules/$(kernel_release "$k")/updates" "$(module_dir "$k")/rpcrdma_kunit.ko"
	make -s -C "$TOP" install INSTALL_MOD_PATH="$root" KREL="$(kernel_release "$k")" \
		KO="$(module_dir "$k")/rpcrdma.ko"
}

# module_ready <kernel>: make the kernel, the module, and everything that a guest needs to load it.
module_ready() {
	local k=$1
	kernel_ready "$k"
	[ "$MODULE" = ours ] || return 0
	[ -e "$TOP/Kbuild" ] || die "there is no Kbuild yet: use MODULE=intree"
	lock "module-$k$(module_suffix "$k")-${TREE##*-}"
	with_log "building rpcrdma.ko for $k" "$(module_dir "$k").log" module_make "$k" ||
		failed "rpcrdma.ko does not build for $k"
	grep -h 'warning:' "$(module_dir "$k").log" >&2 || true
	module_install "$k"
}
