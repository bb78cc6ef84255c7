# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# PCI peer-to-peer memory (net/client/frwr.c). QEMU's ivshmem-plain is a device with memory, and
# the module rpcrdma_p2p (peers/p2p.c) is its driver. siw and rxe cannot access such memory, so each
# READ and WRITE of it must fail, and must do no harm. Client and server are in one guest. Only 6.12 is
# built with CONFIG_PCI_P2PDMA (lab/x86-debug.config).
# Guests: alone
# Qemu: -object memory-backend-ram,id=p2p,size=16M,share=on -device ivshmem-plain,memdev=p2p
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"
KNOBS=/sys/kernel/debug/rpcrdma
PARAMS=/sys/module/rpcrdma/parameters
HELD=/sys/module/rpcrdma_p2p/parameters/held

# Ranges in the notation of p2p.py: LENGTH, or LENGTH@OFFSET. If the pages were ordinary ones, the
# data of a WRITE would go inline, in a group of one or several Sends, or in a chunk.
RANGES=(1 512 4096 4097 16384 65536 100@4000 8191@1 65537@2049)
# Ranges with pages of the device and ordinary pages. The numbers after the colon (FROM-TO) say that
# the pages FROM to TO - 1 are ordinary. Only the first page, only the last one, or only the last
# two are pages of the device.
MIXED=(8192@0:1-2 8192@0:0-1 4097@0:0-1 16384@1000:0-4 65536@0:0-15 65536@0:1-16 12288@0:0-1
	131072@0:0-31)

before_case() {
	highest 2
	echo 1 >$PARAMS/rdma_rtx
	echo 0 >$PARAMS/rdma_rtx_gather
	tune $UNLIMITED $KNOBS/device_max_mr_pages
}

# p2p_begin: each case calls this first. The module is loaded only once.
p2p_begin() {
	grep -q ' pci_p2pdma_add_resource$' /proc/kallsyms || skip "no CONFIG_PCI_P2PDMA"
	[ -e $HELD ] || insmod /lab/p2p/rpcrdma_p2p.ko || die "the module rpcrdma_p2p does not load"
	[ -c /dev/rpcrdma_p2p ] || die "there is no device with memory"
}

# p2p <arguments of p2p.py>
p2p() { python3 -I -S "$TOP/scripts/tests/peers/p2p.py" "$@"; }

# p2p_done: wait until no page of the device is held any more
p2p_done() { until_true 30 grep -qx 0 $HELD || die "$(<$HELD) pages are held"; }

# unsent <least> <most> <command...>: the command makes <least> to <most> WRITEs, and as many READs.
# All of them must fail. The client chooses a chunk for each, but does not send the RPC. The server
# must receive none of these Calls, and the connection must stay.
unsent() {
	local least=$1 most=$2
	shift 2
	counted client_foreign_errors $((2 * least)) $((2 * most)) counted client_mrs_foreign 0 0 \
		counted client_calls_read_chunk "$least" "$most" \
		counted client_replies_write_chunk "$least" "$most" \
		counted client_calls_group 0 0 counted client_replies_group 0 0 \
		counted server_calls_read_chunk 0 0 counted server_calls_long 0 0 \
		counted server_calls_group 0 0 counted server_rdma_read_bytes 0 0 \
		counted server_replies_write_chunk 0 0 counted client_disconnects 0 0 \
		counted client_error_replies 0 0 counted client_bad_replies 0 0 "$@"
}

# Each operation of less than 1 MB is one RPC. One of 1 MB may be several RPCs, because the server
# may allow only smaller READs and WRITEs.
refusing() {
	unsent ${#RANGES[@]} ${#RANGES[@]} p2p refused "$MNT" $EXPORT "${RANGES[@]}"
	unsent 1 4 p2p refused "$MNT" $EXPORT 1048576
	unsent ${#MIXED[@]} ${#MIXED[@]} p2p refused "$MNT" $EXPORT "${MIXED[@]}"
	p2p_done
}

# With ordinary pages only, READs and WRITEs succeed, and so does the checker.
moving() {
	counted client_foreign_errors 0 0 counted client_disconnects 0 0 \
		p2p moved "$MNT" $EXPORT 1@0:0-1 4097@0:0-2 16384@0:0-4 65537@2049:0-17 1048576@0:0-256
	SCALE=0.1 counted client_foreign_errors 0 0 checked data direct
}

both() {
	refusing
	moving
}

# Covers: G-44
case_p2p-v3() {
	p2p_begin
	with_mount 3 both
}

# Covers: G-44
case_p2p-v42() {
	p2p_begin
	with_mount 4.2 both
}

# With rdma_rtx_gather, a Send would take the data of a WRITE directly from ordinary pages. WRITEs of
# pages of the PCI device must fail nevertheless.
# Covers: G-44
case_p2p-gather() {
	p2p_begin
	echo 1 >$PARAMS/rdma_rtx_gather
	with_mount 4.2 refusing
}

# Covers: G-44
case_p2p-v1() {
	p2p_begin
	highest 1
	with_mount 3 both
	with_mount 4.2 refusing
}

# Other RPCs of the mount succeed while the operations on memory of the device fail.
beside() {
	local pid
	rm -f /tmp/stop
	p2p until "$MNT" $EXPORT /tmp/stop 100 65536@0:0-15 8192 262144 >/tmp/refused 2>&1 &
	pid=$!
	SCALE=0.3 checked data direct small
	: >/tmp/stop
	ends 120 $pid || die "$(cat /tmp/refused)"
	echo "$(</tmp/refused) operations failed meanwhile"
	p2p_done
}
# Covers: G-44
case_p2p-beside() {
	p2p_begin
	counted client_foreign_errors 8 $ANY counted client_disconnects 0 0 \
		counted client_bad_replies 0 0 with_mount 4.2 beside
}

# A region has at most 4 pages here, so an RPC of 32 pages needs eight regions. Only the last page
# is a page of the device. So seven regions are mapped before the eighth fails, and these seven must
# be usable again.
regions() {
	local before after
	p2p moved "$MNT" $EXPORT 131072@0:0-32
	p2p again "$MNT" $EXPORT 5 131072@0:0-31
	before=$(xprt_field 24)
	unsent 60 60 p2p again "$MNT" $EXPORT 60 131072@0:0-31
	after=$(xprt_field 24)
	[ "$after" = "$before" ] || die "$((after - before)) regions were allocated meanwhile"
	counted client_mrs_registered 16 16 p2p moved "$MNT" $EXPORT 131072@0:0-32
	p2p_done
}
# Covers: G-44
case_p2p-regions() {
	p2p_begin
	knobs
	echo 4 >$KNOBS/device_max_mr_pages
	with_mount 3 regions
}

# Programs cannot pass memory of the device to NFS: the kernel refuses it before our module is
# called. (If a later kernel lets programs do this, our module answers with EIO, and this case
# fails.)
case_p2p-user() {
	local device
	p2p_begin
	device=$(echo /sys/bus/pci/drivers/rpcrdma_p2p/0*)
	counted client_foreign_errors 0 0 with_mount 3 p2p user "$MNT/user" "$device"
	counted client_foreign_errors 0 0 with_mount 4.2 p2p user "$MNT/user" "$device"
}

group() {
	alone_up 2
	run_all_cases
	[ ! -e $HELD ] || rmmod rpcrdma_p2p
	group_end
}
