# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Foreign pages, which the CPU must not access (net/client/frwr.c). The module rpcrdma_gpu
# (peers/gpu.c) imitates a GPU and the module that maps its memory. Client and server are in one
# guest.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
KNOBS=/sys/kernel/debug/rpcrdma
PARAMS=/sys/module/rpcrdma/parameters
GPU=/sys/module/rpcrdma_gpu/parameters

gpu_loaded() { [ -e $GPU ]; }
gpu_load() { gpu_loaded || insmod /lab/gpu/rpcrdma_gpu.ko "$@"; }

before_case() {
	highest 2
	echo 1 >$PARAMS/rdma_rtx
	echo 0 >$PARAMS/rdma_rtx_gather
	[[ $KERNEL == debian* ]] || echo $UNLIMITED >$KNOBS/server_max_reads
	[[ $KERNEL == debian* ]] || echo $UNLIMITED >$KNOBS/server_max_writes
	gpu_load || die "the module rpcrdma_gpu does not load"
	echo 0 >$GPU/fail
	echo N >$GPU/blind
	echo 1 >/dev/rpcrdma_gpu
}

# gpu <arguments of gpu.py>
gpu() { python3 -I -S "$TOP/scripts/tests/peers/gpu.py" "$@"; }

# gpu_state <maps|unmaps|errors|registered>: print this number of the module rpcrdma_gpu
gpu_state() { awk -v n="$1" '{ for (i = 1; i < NF; i += 2) if ($i == n) print $(i + 1) }' /dev/rpcrdma_gpu; }

# gpu_even: has memory been mapped, and has all of it been unmapped again?
gpu_even() { [ "$(gpu_state maps)" -gt 0 ] && [ "$(gpu_state maps)" = "$(gpu_state unmaps)" ]; }
gpu_rests() { until_true 30 gpu_even || die "something is still mapped: $(cat /dev/rpcrdma_gpu)"; }

# gpu_fails <message> <arguments of gpu.py>: gpu.py must fail, and print only this message. If a
# system call fails, the message is the name of the errno.
gpu_fails() {
	local want=$1 said
	shift
	! said=$(gpu "$@" 2>&1) || die "it has not failed: gpu.py $*"
	[ "$said" = "$want" ] || die "not $want: $said"
}

# gpu_moves <bytes> [<offset>]: write the memory of the GPU to a file, and read the file back into
# this memory. Each WRITE and READ must have a chunk, for which the module rpcrdma_gpu has mapped
# the memory. (If the server's largest READ has less than 1 MB, a file may take several of each.)
gpu_moves() {
	local file=gpu.$1.${2:-0} most=1
	[ "$1" -lt 262144 ] || most=4
	counted client_calls_read_chunk 1 $most counted client_replies_write_chunk 1 $most counted client_calls_placed 0 0 \
		counted client_mrs_foreign 2 $((2 * most)) gpu both "$MNT/$file" "$EXPORT/$file" "$@"
	rm "$EXPORT/$file"
}

# With ordinary pages, data of these lengths would be inline, be placed in one or several Sends, or
# be in a chunk.
moves() {
	local size
	: >"$MNT/more"
	dd if=/dev/zero of="$MNT/more" bs=64k count=16 oflag=direct 2>/dev/null
	for size in 1 512 4096 4097 16384 65536 131072 1048575; do gpu_moves $size; done
	gpu_moves 100 4000
	gpu_moves 8191 1
	gpu_moves 65537 2049
	gpu_rests
}

# sound <version of NFS> <command...>: run with_mount; the client must count no error
sound() {
	counted client_error_replies 0 0 counted client_bad_replies 0 0 counted client_foreign_errors 0 0 with_mount "$@"
}

# Covers: G-44
case_gpu-v3() { sound 3 moves; }
case_gpu-v42() { sound 4.2 moves; }

# With rdma_rtx_gather, a Send would take the data of a WRITE directly from ordinary pages. Pages of
# the GPU must be in a chunk nevertheless.
# Covers: G-44
case_gpu-gather() {
	echo 1 >$PARAMS/rdma_rtx_gather
	sound 4.2 moves
}

# Covers: G-44
case_gpu-v1() {
	highest 1
	sound 3 moves
	sound 4.2 moves
}

# A READ beyond the end of the file returns fewer bytes than were asked for, or none.
short_read() {
	head -c 5000 /dev/urandom >$EXPORT/short
	: >$EXPORT/none
	gpu_fails "5000 bytes were moved, not 8192" read "$MNT/short" $EXPORT/short 8192
	gpu_fails "0 bytes were moved, not 8192" read "$MNT/none" $EXPORT/none 8192
	gpu_rests
}
case_gpu-short() { sound 4.2 short_read; }

# Messages with ordinary pages have the same forms whether or not the module rpcrdma_gpu is loaded,
# and it maps none of these pages.
ordinary() {
	counted client_calls_inline 1 $ANY counted client_calls_read_chunk 0 0 \
		dd if=/dev/zero of="$MNT/ordinary" bs=1000 count=1 oflag=direct
	counted client_replies_inline 1 $ANY counted client_replies_write_chunk 0 0 \
		dd if="$MNT/ordinary" of=/dev/null bs=512 count=1 iflag=direct
	counted client_calls_placed 1 $ANY dd if=/dev/zero of="$MNT/ordinary" bs=16k count=1 oflag=direct
	SCALE=0.3 checked data direct
}
# Covers: G-44
case_gpu-ordinary() {
	counted client_mrs_foreign 0 0 sound 4.2 ordinary
	echo 0 >/dev/rpcrdma_gpu
	counted client_mrs_foreign 0 0 sound 4.2 ordinary
	rmmod rpcrdma_gpu
	counted client_mrs_foreign 0 0 sound 4.2 ordinary
}

# rpcrdma_gpu does not recognise its pages (blind), so the CPU copies the placeholders that stand
# for them. gpu.py must notice this: otherwise the other cases would show nothing.
blind() {
	echo Y >$GPU/blind
	counted client_calls_read_chunk 0 0 gpu_fails "1000 bytes from 0: the server has something else" \
		write "$MNT/blind" $EXPORT/blind 1000
	gpu_fails "1000 bytes to 0: something else was read" read "$MNT/blind" $EXPORT/blind 1000
	gpu_fails "65536 bytes from 0: the server has something else" write "$MNT/blind" $EXPORT/blind 65536
}
case_gpu-blind() { counted client_mrs_foreign 0 0 with_mount 4.2 blind; }

# If pages cannot be mapped, or only some of the pages of an RPC are of a GPU, the RPC fails, and only this RPC.
failing() {
	local errors
	errors=$(gpu_state errors)
	gpu write "$MNT/failing" $EXPORT/failing 65536
	echo 1 >$GPU/fail
	gpu_fails EIO write "$MNT/failing.2" $EXPORT/failing.2 1000
	echo 1 >$GPU/fail
	gpu_fails EIO read "$MNT/failing" $EXPORT/failing 65536
	gpu_fails EIO mixed "$MNT/failing"
	[ $(($(gpu_state errors) - errors)) = 3 ] || die "not three errors: $(cat /dev/rpcrdma_gpu)"
	gpu_moves 65536
	gpu_rests
}
# Covers: G-44
case_gpu-fails() { counted client_foreign_errors 3 $ANY counted client_disconnects 0 0 with_mount 3 failing; }

# siw and rxe do not use a DMA device. rpcrdma must not ask a module without NVFS_FEATURE_NO_DMA to
# map memory for them.
no_dma() {
	gpu_fails EIO write "$MNT/dma" $EXPORT/dma 65536
	gpu_fails EIO write "$MNT/dma" $EXPORT/dma 10
	SCALE=0.1 checked data
}
# Covers: G-44
case_gpu-no-dma() {
	rmmod rpcrdma_gpu
	gpu_load features=15
	counted client_mrs_foreign 0 0 counted client_foreign_errors 2 $ANY with_mount 4.2 no_dma
	[ "$(gpu_state maps) $(gpu_state errors)" = "0 0" ] || die "it was asked: $(cat /dev/rpcrdma_gpu)"
	rmmod rpcrdma_gpu
}

# The server refuses chunks. With ordinary pages the client would use another form. With pages of
# the GPU it cannot, so the RPC fails.
refused() {
	gpu write "$MNT/refused" $EXPORT/refused 65536
	echo 0 >$KNOBS/server_max_reads
	refused_with READ_CHUNKS 1 1 counted client_calls_long 0 0 gpu_fails EIO write "$MNT/refused.2" $EXPORT/refused.2 65536
	echo $UNLIMITED >$KNOBS/server_max_reads
	echo 0 >$KNOBS/server_max_writes
	refused_with REPLY_RESOURCE 1 1 counted client_replies_long 0 0 gpu_fails EIO read "$MNT/refused" $EXPORT/refused 65536
	echo $UNLIMITED >$KNOBS/server_max_writes
	gpu_moves 65536
	gpu_rests
}
# Covers: G-44
case_gpu-refused() {
	knobs
	counted client_foreign_errors 2 $ANY with_mount 3 refused
}

# Connections break while memory of the GPU is mapped.
breaking() {
	local i end=server connects
	connects=$(xprt_field 3)
	for i in {1..8}; do
		[ $end = server ] && end=client || end=server
		break_next $end
		gpu write "$MNT/breaking" $EXPORT/breaking 300000 $i
		break_next $end
		gpu read "$MNT/breaking" $EXPORT/breaking 300000 $i
	done
	break_off
	[ $(($(xprt_field 3) - connects)) -ge 8 ] || die "only $(($(xprt_field 3) - connects)) reconnects"
	gpu_rests
}
case_gpu-breaks() {
	can_break
	trap break_off EXIT
	counted client_foreign_errors 0 0 with_mount 4.2 breaking
}

# --- unregistering -------------------------------------------------------------

# gpu_stuck: freeze the server's file system, read into the memory of the GPU, and unregister the
# functions of rpcrdma_gpu. Both must wait. Sets $reader and $waiter to their processes, and $writer
# to one that keeps nfsd busy.
gpu_stuck() {
	ice_up 1
	ice_mount vers=3,nolock
	frozen_write >/dev/null
	mkfifo /tmp/go
	gpu hold $MNT/data /ice/data 65536 </tmp/go >/tmp/reader 2>&1 &
	reader=$!
	exec 9>/tmp/go
	until_true 60 grep open /tmp/reader || die "the reader does not begin: $(cat /tmp/reader)"
	freeze
	trap 'thaw; umount -f $MNT' EXIT
	frozen_write >/dev/null &
	writer=$!
	until_true 30 threads_stuck 1 || die "nfsd does not wait for the storage"
	maps=$(gpu_state maps)
	echo >&9
	until_true 60 more_maps "$maps" || die "nothing is mapped: $(cat /tmp/reader /dev/rpcrdma_gpu)"
	echo 0 >/dev/rpcrdma_gpu &
	waiter=$!
	nap 3
	! gone $waiter || die "unregistering does not wait"
	! gone $reader || die "the reader does not wait: $(cat /tmp/reader)"
	! rmmod rpcrdma || die "rpcrdma was unloaded under its users"
}
more_maps() { [ "$(gpu_state maps)" -gt "$1" ]; }

# gpu_unstuck: undo gpu_stuck
gpu_unstuck() {
	trap - EXIT
	ends 60 $writer || die "the writer has failed"
	exec 9>&-
	rm /tmp/go
	umount $MNT
	ice_down
	[ "$(gpu_state registered)" = 0 ] || die "$(cat /dev/rpcrdma_gpu)"
	gpu_rests
	echo 1 >/dev/rpcrdma_gpu
	with_mount 4.2 gpu_moves 65536
}

# While the connection lasts, the functions of rpcrdma_gpu are in use until the RPC ends. Only then
# does unregistering return.
# Covers: G-44
case_gpu-unregister() {
	local reader waiter writer maps
	gpu_stuck
	thaw
	ends 60 $reader || die "the reader: $(cat /tmp/reader)"
	ends 60 $waiter || die "unregistering has failed"
	gpu_unstuck
}

# When the connection is lost, the functions are no longer in use, and unregistering returns.
# Without the functions the RPC cannot be sent again, so it fails. (On the new connection, it first
# waits for a credit until the thaw.)
# Covers: G-44
case_gpu-unregister-broken() {
	local reader waiter writer maps errors stat
	can_break
	gpu_stuck
	errors=$(counter client_foreign_errors)
	break_next client
	stat -f $MNT >/dev/null &
	stat=$!
	ends 60 $waiter || die "unregistering waits though the connection is gone"
	! gone $reader || die "the reader does not wait for the server: $(cat /tmp/reader)"
	thaw
	until_true 60 gone $reader || die "the reader does not end"
	[ "$(cat /tmp/reader)" = $'open\nEIO' ] || die "the reader: $(cat /tmp/reader)"
	break_off
	[ "$(counter client_foreign_errors)" -gt "$errors" ] || die "another error: $errors"
	ends 60 $stat || die "stat has failed"
	gpu_unstuck
}

# --- modules -------------------------------------------------------------------

gpu_order() {
	until_true 30 rmmod rpcrdma || die "rpcrdma is in use: $(grep ^rpcrdma /proc/modules)"
	! gpu_load || die "it has registered without rpcrdma"
	module_load
	gpu_load
	! rmmod rpcrdma || die "rpcrdma was unloaded under the module that has its symbols"
	rmmod rpcrdma_gpu
	! gpu_load features=3 || die "functions without is_gpu_page were accepted"
	! gpu_load features=4 || die "functions without map_sg were accepted"
	rmmod rpcrdma
	module_load
}

# rpcrdma_gpu looks up symbols of rpcrdma, and so holds a reference to rpcrdma.
# Covers: G-44
case_gpu-order() {
	rmmod rpcrdma_gpu
	nfsd_anew gpu_order
	gpu_load
	highest 2
	sound 4.2 gpu_moves 65536
}

group() {
	alone_up 2
	run_all_cases
	! gpu_loaded || rmmod rpcrdma_gpu
	group_end
}
