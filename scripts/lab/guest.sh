# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Run guests. A guest has a lab kernel, and the host's root directory, read-only under a tmpfs. One directory of the
# host, the run directory, is /lab in the guest. It contains env and <role>.job (the commands to run), and afterwards
# <role>.console, <role>.verdict and log/<role>/. Debian's kernels run in QEMU; for the other kernels see kernel.sh.
. "$(dirname "${BASH_SOURCE[0]}")/kmod.sh"

guest_initramfs() {
	local k=$1 out=$TREE/initramfs-$1.gz tmp rel m n=0
	[ -e "$out" ] && [ "$out" -nt "$LAB/guest/initramfs" ] && { echo "$out"; return; }
	tmp=$(mktemp -d "$TREE/initramfs.XXXXXX")
	mkdir -p "$tmp"/{bin,dev,proc,ro,rw,new,modules}
	cp "$(kernel_programs "$k")/bin/busybox" "$tmp/bin/"
	install -m 755 "$LAB/guest/initramfs" "$tmp/init"
	if kernel_is_debian "$k"; then
		rel=$(kernel_release "$k")
		while read -r _ m _; do
			n=$((n + 1))
			# Only newer kernels have compressed modules.
			m=${m%.xz}
			if [ -e "$m" ]; then cat "$m"; else xz -dc "$m.xz"; fi >"$tmp/modules/$(printf %03d $n)-${m##*/}"
		done < <(for m in virtio_pci virtio_console 9p 9pnet_virtio overlay virtio_net; do
			modprobe -d "$(kernel_root "$k")" -S "$rel" --show-depends "$m"
		done | grep ^insmod | awk '!seen[$2]++')
	fi
	# Two processes may do this at the same time, so each makes a file of its own, and renames
	# it.
	(cd "$tmp" && find . | cpio -o -H newc --quiet | gzip -1) >"$tmp.gz"
	rm -rf "$tmp"
	mv "$tmp.gz" "$out"
	echo "$out"
}

# guest_tsc: print the frequency of the host's time-stamp counter in kHz. Without -icount,
# guest_pc() passes it to emulated guests, which might otherwise measure a wrong frequency
# (lab/tsc.c).
guest_tsc() {
	local boot d new
	boot=$(cat /proc/sys/kernel/random/boot_id)
	d=$CACHE/tsc/$boot
	if [ ! -s "$d/khz" ]; then
		mkdir -p "$d"
		# Two processes may do this at the same time, so each makes a file of its own, and
		# renames it.
		new=$(mktemp -d "$d/new.XXXXXX")
		gcc -O2 -Wall -Wextra -Werror -o "$new/tsc" "$LAB/tsc.c" && "$new/tsc" >"$new/khz" &&
			mv "$new/khz" "$d/khz" || die "the frequency of the time-stamp counter cannot be measured"
		rm -r "$new"
	fi
	cat "$d/khz"
}

# guest_qemu <kernel> <accel> <kernel command line> [more arguments]: run a guest in QEMU
guest_qemu() {
	local k=$1 accel=$2 cmdline=$3 machine
	shift 3
	if kernel_is_foreign "$k"; then
		read -ra machine <<<"$(foreign_qemu "$k") -nographic"
		# On a busy host, an emulated processor may stand still for longer than 21 seconds,
		# after which RCU would report a stall by default.
		cmdline="console=$(foreign_console "$k") lab.programs=y rcupdate.rcu_cpu_stall_timeout=120 $cmdline"
		set -- "$@" -fsdev "local,id=programs,path=$(kernel_programs "$k"),readonly=on,security_model=none" \
			-device virtio-9p,fsdev=programs,mount_tag=programs
	else
		guest_pc "$@"
	fi
	# The machine is killed when its parent ends.
	exec setpriv --pdeathsig KILL "${machine[@]}" -nodefaults -no-reboot -accel "$accel" \
		-kernel "$(kernel_image "$k")" -initrd "$(guest_initramfs "$k")" -append "$cmdline" \
		-device virtio-serial "$@"
}

# guest_pc [more arguments of QEMU]: the part of guest_qemu() for a PC. Reads guest_qemu()'s
# variables k and accel, sets its variable machine, and adds options to its variable cmdline.
guest_pc() {
	local cpu=host khz
	if [ "$accel" != kvm ]; then
		# Five-level page tables only make the emulation slower.
		cpu=max,la57=off${GUEST_CPU_FLAGS:+,$GUEST_CPU_FLAGS}
		# Each time the guest sets a timer, this interrupts the emulation. With a regular
		# tick instead, a debug kernel needs a quarter less time, but Debian's kernel needs
		# a third more. With -icount, no guest has a regular tick, because the instructions
		# of the tick would be counted.
		[[ $k == debian* || " $* " == *" -icount "* ]] || cmdline="nohz=off highres=off $cmdline"
		if [[ " $* " != *" -icount "* && $(uname -m) == x86_64 ]]; then
			# "set -e" may be off here.
			khz=$(guest_tsc) || exit 1
			cmdline="tsc_early_khz=$khz $cmdline"
		fi
	fi
	# q35: on the older machine type, each PCI interrupt link costs the debug kernels 25 s. no_timer_check:
	# the kernel's test of the timer counts ticks, and panics if a busy host delivers them too late.
	# Not -nographic: SeaBIOS would then write escape sequences to the console.
	machine=(qemu-system-x86_64 -machine q35 -cpu "$cpu" -display none)
	cmdline="console=ttyS0 no_timer_check $cmdline"
}

# guest_accel <kernel>: print the accelerator for QEMU. /dev/kvm may exist but not work. So KVM is
# used only if a guest that was started to try it has booted. The result is kept until the host
# boots again. Foreign kernels are emulated.
guest_accel() {
	local k=$1 boot d
	! kernel_is_foreign "$k" || { echo tcg,thread=multi; return; }
	boot=$(cat /proc/sys/kernel/random/boot_id)
	d=$CACHE/kvm/$boot
	if [ ! -e "$d/result" ]; then
		mkdir -p "$d"
		echo tcg,thread=multi >"$d/new"
		if [ -w /dev/kvm ]; then
			say "trying whether KVM works here"
			(guest_qemu "$k" kvm lab.probe=1 -m 1G -smp 2 -serial "file:$d/console" \
				-chardev "file,id=v,path=$d/verdict" -device virtserialport,chardev=v) >"$d/log" 2>&1 &
			local pid=$! i
			for ((i = 0; i < 100; i++)); do
				kill -0 $pid 2>/dev/null || break
				sleep 0.2
			done
			kill -KILL $pid 2>/dev/null || true
			wait $pid 2>/dev/null || true
			[ "$(cat "$d/verdict" 2>/dev/null)" != alive ] || echo kvm >"$d/new"
		fi
		mv "$d/new" "$d/result"
		say "guests run on $(cat "$d/result")"
	fi
	cat "$d/result"
}

# guest_run_dir <dir> <kernel> <provider> [NAME=value...]: make a run directory that contains only env and log/
guest_run_dir() {
	local dir=$1 k=$2 provider=$3 v
	shift 3
	rm -rf "$dir"
	mkdir -p "$dir/log"
	for v in TOP="$TOP" LAB="$LAB" KERNEL="$k" PROVIDER="$provider" MODULE="$MODULE" \
		MODROOT="$(module_root "$k")" "$@"; do
		printf '%s=%q\n' "${v%%=*}" "${v#*=}"
	done >"$dir/env"
	# The two guests of a pair may run different modules or kernels. A variable with the name of
	# a role, such as MODULE_client or KERNEL_server, replaces the common variable in the guest
	# with that role.
	cat >>"$dir/env" <<-'END'
	ROLE=$(sed 's/.*lab\.role=\([a-z]*\).*/\1/' /proc/cmdline)
	for v in MODULE MODROOT KERNEL; do
		w=${v}_$ROLE
		[ -z "${!w:-}" ] || printf -v "$v" %s "${!w}"
	done
	export TOP LAB KERNEL PROVIDER MODULE ROLE
	END
}

# guest_um <dir> <kernel> <role> <kernel command line> [more arguments]
# Run a User-mode Linux kernel, which is a program of the host. The memory of the guest is a file, and the guest's
# processes are processes of the host. They have a PID namespace of their own, so they end with the kernel. The
# kernel is killed when its parent ends.
guest_um() {
	local dir=$1 k=$2 role=$3 cmdline=$4
	shift 4
	# shellcheck disable=SC2016
	exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc bash -c '
		mount -t tmpfs -o size=90%,huge=always memory /dev/shm
		TMPDIR=/dev/shm "$@" &
		wait $!' um \
		"$(kernel_image "$k")" "mem=${GUEST_MEM:-3G}" "initrd=$(guest_initramfs "$k")" "uml_dir=$dir/um" "umid=$role" \
		"ncpus=${GUEST_CPUS:-1}" seccomp=auto con=null ssl=null ssl0=null,fd:9 "lab.run=$dir" "$cmdline" "$@" 9>>"$dir/$role.verdict"
}

# guest_start <dir> <kernel> <role> [more arguments of the machine]: start a guest in the
# background, and set GUEST_PID. If GUEST_FOREGROUND is set, for a guest in which a user types
# commands, return only when the guest has ended, and do not set GUEST_PID.
guest_start() {
	local dir=$1 k=$2 role=$3 cmdline
	shift 3
	# By default KASAN reports only once in a boot, and that report may be about another module.
	cmdline="panic=-1 kasan_multi_shot log_buf_len=8M kunit.enable=1 kunit.autorun=1 lab.role=$role lab.init=$LAB/guest/init ${GUEST_CMDLINE:-}"
	: >"$dir/$role.verdict"
	if [ "$(kernel_machine "$k")" = um ]; then
		guest_start_um "$@"
	else
		guest_start_qemu "$@"
	fi
}

guest_start_um() {
	set -- "$dir" "$k" "$role" "$cmdline" noreboot "$@"
	if [ -n "${GUEST_FOREGROUND:-}" ]; then
		(guest_um "$@" con0=fd:0,fd:1)
	else
		(guest_um "$@" con0=null,fd:1) >"$dir/$role.console" 2>"$dir/$role.log" </dev/null &
		# shellcheck disable=SC2034
		GUEST_PID=$!
	fi
}

guest_start_qemu() {
	local accel cpus=2 i mem numa=() serial=(-serial "file:$dir/$role.console")
	accel=$(guest_accel "$k")
	# In emulation, two processors are slower than one. Also, in rare cases, one processor
	# executes an int3 while the other is still patching the kernel ("Oops: int3").
	[ "$accel" = kvm ] || cpus=1
	cpus=${GUEST_CPUS:-$cpus}
	# NUMA nodes of one processor each
	[ -z "${GUEST_NODES:-}" ] || cpus=$GUEST_NODES,sockets=$GUEST_NODES mem=$(($(numfmt --from=iec "${GUEST_MEM:-3G}") / GUEST_NODES))
	for ((i = 0; i < ${GUEST_NODES:-0}; i++)); do
		numa+=(-object "memory-backend-ram,id=mem$i,size=$mem"
			-numa "node,nodeid=$i,cpus=$i,memdev=mem$i")
	done
	[ -z "${GUEST_FOREGROUND:-}" ] ||
		serial=(-chardev "stdio,id=con,signal=off,logfile=$dir/$role.console" -serial chardev:con)
	set -- "$k" "$accel" "$cmdline" \
		-m "${GUEST_MEM:-3G}" -smp "$cpus" "${numa[@]}" "${serial[@]}" \
		-chardev "file,id=v,path=$dir/$role.verdict" -device virtserialport,chardev=v,name=verdict \
		-fsdev local,id=root,path=/,readonly=on,multidevs=remap,security_model=none \
		-device virtio-9p,fsdev=root,mount_tag=root \
		-fsdev local,id=run,path="$dir",security_model=none \
		-device virtio-9p,fsdev=run,mount_tag=run \
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng,rng=rng "$@"
	if [ -n "${GUEST_FOREGROUND:-}" ]; then
		(guest_qemu "$@")
	else
		(guest_qemu "$@") 2>"$dir/$role.log" &
		# shellcheck disable=SC2034
		GUEST_PID=$!
	fi
}

# guest_signal <signal> <kernel> <pid>: send the signal to the guest's machine. QEMU is the process
# <pid> itself. A User-mode Linux kernel is a grandchild of this process (guest_um()).
guest_signal() {
	local pid=$3
	[ "$(kernel_machine "$2")" != um ] || pid=$(pgrep -P "$(pgrep -P "$pid")")
	kill "-$1" "$pid"
}

# guest_last_words <dir> <role>: print lines that may explain why a guest failed; there may be none.
guest_last_words() {
	grep -E '^(FAIL|lab): ' "$1/$2.console" 2>/dev/null | tail -n 3 || true
	[ ! -s "$1/$2.log" ] || tail -n 3 "$1/$2.log"
}

# guest_wait <dir> <seconds> <pid> <role> [<pid> <role>...]: wait until these guests have ended.
# Returns 0 if the jobs of all of them ended well. Guests that still run are killed when the time is
# over, or some time after the first of these guests has ended. A guest whose job is done is also
# killed if it does not end soon: User-mode Linux sometimes hangs in the last step. If there is a file told, the time
# begins again whenever the first guest reports something.
guest_wait() {
	local dir=$1 limit=$2 end=$((SECONDS + $2)) rc=0 i alive grace=0 pids=() roles=() done=()
	shift 2
	while (($#)); do pids+=("$1") roles+=("$2"); shift 2; done
	while :; do
		alive=0
		for i in "${pids[@]}"; do ! kill -0 "$i" 2>/dev/null || alive=$((alive + 1)); done
		((alive)) || break
		((alive == ${#pids[@]})) || grace=$((grace + 1))
		for i in "${!pids[@]}"; do
			! grep -qs '^done ' "$dir/${roles[i]}.verdict" || ((done[i] = ${done[i]:-0} + 1))
			((${done[i]:-0} < 60)) || kill -KILL "${pids[i]}" 2>/dev/null || true
		done
		if [ "$dir/${roles[0]}.verdict" -nt "$dir/told" ] && [ -e "$dir/told" ]; then
			touch "$dir/told"
			end=$((SECONDS + limit))
		fi
		if ((SECONDS > end || grace > 300)); then
			for i in "${!pids[@]}"; do
				kill -0 "${pids[i]}" 2>/dev/null || continue
				echo "killed: no end in time ($limit s)" >>"$dir/${roles[i]}.log"
				kill -KILL "${pids[i]}" 2>/dev/null || true
			done
		fi
		sleep 0.3
	# bash prints a message for each killed process, even if we killed it.
	done 2>/dev/null
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" 2>/dev/null || true
		grep -qx 'done 0' "$dir/${roles[i]}.verdict" || rc=1
	done
	return $rc
}
