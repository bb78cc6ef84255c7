# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Compile the module for platforms other than the PC. No kernel is built for them: a configured
# source tree of 7.3 is enough. For one of them, the unit tests of net/wire and net/core are built
# as a program, which QEMU runs.
. "$(dirname "${BASH_SOURCE[0]}")/kmod.sh"

# For the first platform, the module is compiled file by file, because that finds an #include that is missing. For the
# others, all rooms but net/module are compiled as one file, which takes a sixth of the time.
PLATFORMS=(arm64-4k arm64-64k s390x)
# The unit tests are run as programs of this platform, which is big-endian.
PLATFORM_UNITS=s390x

# platform_make <platform>: print the arguments that make needs for it
platform_make() {
	case $1 in
	arm64-*) echo ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- ;;
	s390x) echo ARCH=s390 CROSS_COMPILE=s390x-linux-gnu- ;;
	esac
}

# platform_config <platform>: print the settings of this platform, and the settings without which
# some files of the module would not be compiled
platform_config() {
	case $1 in
	arm64-4k) echo CONFIG_ARM64_4K_PAGES=y ;;
	arm64-64k) echo CONFIG_ARM64_64K_PAGES=y ;;
	s390x) echo CONFIG_CPU_BIG_ENDIAN=y ;;
	esac
	printf '%s\n' CONFIG_SUNRPC_XPRT_RDMA=m CONFIG_SUNRPC_BACKCHANNEL=y CONFIG_KUNIT=y CONFIG_FAULT_INJECTION=y
}

platform_dir() { echo "$CACHE/platform-$1"; }

# platform_fragment <platform>: print the settings of kernel.config, which all kernels that the lab
# builds share, and those of the platform
platform_fragment() {
	sed -n 's/[[:space:]]*#.*//; /^CONFIG_/p' "$LAB/kernel.config"
	echo CONFIG_DEBUG_KERNEL=y
	platform_config "$1"
}

platform_stamp() {
	local cross
	cross=$(platform_make "$1")
	{
		cat "$(kernel_src 7.3).version"
		platform_fragment "$1"
		"${cross##*=}gcc" --version | head -n 1
	} | sha256sum | cut -c1-16
}

platform_configure() {
	local dir args line rc=0
	dir=$(platform_dir "$1")
	rm -rf "$dir"
	mkdir -p "$dir"
	read -ra args <<<"$(platform_make "$1")"
	platform_fragment "$1" >"$dir/fragment.config"
	make -C "$(kernel_src 7.3)" O="$dir" "${args[@]}" KCONFIG_ALLCONFIG="$dir/fragment.config" allnoconfig || return
	for line in $(platform_config "$1"); do
		grep -qxF "$line" "$dir/.config" || { echo "linux 7.3 for $1 did not take $line"; rc=1; }
	done
	((rc == 0)) || return
	make -C "$(kernel_src 7.3)" O="$dir" "${args[@]}" -j"$JOBS" modules_prepare
}

# platform_ready <platform>: configure the kernel's source for a platform, unless that has been done
platform_ready() {
	local dir stamp
	dir=$(platform_dir "$1")
	stamp=$(platform_stamp "$1")
	[ "$(cat "$dir/.lab-stamp" 2>/dev/null)" != "$stamp" ] || return 0
	with_log "preparing linux 7.3 for $1" "$CACHE/log/platform-$1" platform_configure "$1" || return
	echo "$stamp" >"$dir/.lab-stamp"
}

# platform_one <directory>: write a source one.c that includes the sources of all rooms but
# net/module, and print the names of the objects of which the module then consists
platform_one() {
	local objects
	objects=$(sed -n 's#^rpcrdma-[^ ]* [:+]= \(net/.*\.o\)$#\1#p' "$TOP/Kbuild")
	grep -v '^net/module/' <<<"$objects" | sed 's/\(.*\)\.o$/#include "\1.c"/' >"$1/one.c.new"
	cmp -s "$1/one.c.new" "$1/one.c" || mv "$1/one.c.new" "$1/one.c"
	echo one.o
	grep '^net/module/' <<<"$objects"
}

# platform_compile <platform>: compile the module with W=1, without its unit tests. modpost finds none of the kernel's
# symbols, because no kernel is built. KBUILD_MODPOST_WARN makes this a warning and not an error. W=1 would also run
# kernel-doc for each file; the step docs of make check does that.
platform_compile() {
	local module args
	module_sync "$1" || return
	module=$(module_dir "$1")
	read -ra args <<<"$(platform_make "$1")"
	[ "$1" = "${PLATFORMS[0]}" ] || args+=(rpcrdma-y="$(platform_one "$module" | tr '\n' ' ')")
	make -C "$(platform_dir "$1")" "${args[@]}" obj-m=rpcrdma.o M="$module" -j"$JOBS" --no-print-directory \
		W=1 cmd_checkdoc= KCFLAGS=-Werror KBUILD_MODPOST_WARN=1 modules
}

# Compile the module for all platforms. Print what the compiler reports.
platforms_check() (
	need_packages "${PKG_PLATFORMS[@]}"
	lock platforms
	kernel_source_locked 7.3
	TREE=$TREE/check
	rc=0
	for p in "${PLATFORMS[@]}"; do
		platform_ready "$p" || { echo "$p: not prepared"; rc=1; continue; }
		log=$TREE/platform-$p.log
		rm -f "$(module_dir "$p")/rpcrdma.ko"
		with_log "compiling for $p" "$log" platform_compile "$p" || rc=1
		! grep -E 'warning: |error: |section mismatch' "$log" || rc=1
		[ -e "$(module_dir "$p")/rpcrdma.ko" ] || { echo "$p: no module"; rc=1; }
	done
	exit $rc
)

# units_build <directory> <compiler> <source...>: build <directory>/unit, a program that runs the
# unit tests in these sources
units_build() {
	mkdir -p "$1"
	printf '%s\n' "${@:3}" | xargs -P "$JOBS" -I '{}' sh -c '
		exec "$1" -std=gnu11 -O1 -Wall -Wno-sign-compare -Werror -Iscripts/mutants/include -Iscripts/fuzz/include \
			-Iinclude -Ikunit -Inet/wire -c "$2" -o "$0/$(basename "$2" .c).o"' "$1" "$2" '{}' || return
	"$2" -static "$1"/*.o -o "$1/unit"
}

# Run the unit tests of net/wire and net/core as a program of the big-endian platform. They must pass, and each suite
# must report as many cases as on this host.
platforms_units() (
	need_packages "${PKG_PLATFORMS[@]}"
	cd "$TOP" || exit
	lock "units-${TREE##*-}"
	dir=$TREE/units cross=$(platform_make $PLATFORM_UNITS) sources=()
	mapfile -t sources < <(python3 scripts/check-looking.py --pure && python3 scripts/mutants/run.py --tests)
	sources+=(scripts/mutants/kunit.c)
	rm -rf "$dir"
	with_log "building the unit tests for this host" "$dir/host.log" units_build "$dir/host" gcc "${sources[@]}" || exit
	with_log "building them for $PLATFORM_UNITS" "$dir/$PLATFORM_UNITS.log" \
		units_build "$dir/$PLATFORM_UNITS" "${cross##*=}gcc" "${sources[@]}" || exit
	"$dir/host/unit" >"$dir/expected" || { tail -n 1 "$dir/expected"; exit 1; }
	timeout 120 "qemu-$PLATFORM_UNITS" "$dir/$PLATFORM_UNITS/unit" >"$dir/results" 2>&1 || {
		echo "$PLATFORM_UNITS: $(tail -n 1 "$dir/results")"
		exit 1
	}
	diff "$dir/expected" "$dir/results"
)
