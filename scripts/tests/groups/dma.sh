# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# siw and rxe on the real DMA API: the kernel 7.3-dma gives them a DMA device, and checks with DMA_API_DEBUG whether
# each access of the device is to memory that is mapped, in this direction, and not handed to the CPU by a sync. Client
# and server are in one guest. In this group, DMA addresses are physical addresses.
# Guests: alone
# Limit: 2400
# Cmdline: ib_core.sw_dma=platform
. "$TOP/scripts/tests/groups/rtx.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=900
FIO_SECONDS=20
DMA=/sys/kernel/debug/dma-api

# dma_number <name>: print a number of DMA_API_DEBUG
dma_number() { cat "$DMA/$1"; }

# dma_mapped: print how many mappings the device has, beyond those of the RDMA core (for MADs, with rxe)
dma_mapped() { echo $(($(grep -c " $DMA_DEVICE " $DMA/dump) - ${DMA_CORE:-0})); }

# dma_right <command...>: run the command. The device must have accessed memory, but none that it must not. (Each report
# of DMA_API_DEBUG also makes the case fail, because it is in the kernel's log.)
dma_right() {
	local accesses errors
	accesses=$(dma_number accesses) errors=$(dma_number error_count)
	"$@"
	[ "$(dma_number disabled)" = N ] || die "DMA_API_DEBUG has turned itself off"
	accesses=$(($(dma_number accesses) - accesses))
	echo "$accesses accesses"
	((accesses >= 1000)) || die "the device has accessed memory only $accesses times"
	[ "$(dma_number error_count)" = "$errors" ] || die "$(($(dma_number error_count) - errors)) wrong accesses"
	[ "$(dma_number owner_errors)" = 0 ] || die "$(dma_number owner_errors) accesses to memory of the CPU"
}

dma_traffic() {
	SCALE=0.3 with_mount 3 checked names dir data mmap direct acl
	SCALE=0.3 with_mount 4.2 checked names dir data mmap direct acl xattr
	delegation 4.2 second_client
}

dma_v1() {
	highest 1
	dma_right dma_traffic
}
dma_v2() { dma_right dma_traffic; }
dma_groups() {
	dma_right case_rtx-placed-by-client
	before_case
	dma_right case_rtx-gathered
}
dma_broken() { dma_right fio_broken 2; }
dma_device() {
	dma_right device_removal client 3
	highest 1
	dma_right device_removal client 2
}
# All mappings end with the connections.
dma_left() {
	nfs_mount 4.2
	(($(dma_mapped) > 10)) || die "a mount has $(dma_mapped) mappings"
	nfs_umount
	server_down
	until_true 60 nobody_shown || die "there are $(ls $DEBUG/client $DEBUG/server)"
	until_true 10 rmmod rpcrdma || die "the module is in use"
	until_true 30 eval '[ "$(dma_mapped)" = 0 ]' || die "$(dma_mapped) mappings are left: $(grep -m 1 " $DMA_DEVICE " $DMA/dump)"
	module_load
	server_up
}

# Covers: MEM-01 MEM-10
case_dma-v1() { dma_v1; }
# Covers: MEM-01 MEM-20
case_dma-v2() { dma_v2; }
# Covers: RTX-60 MEM-03
case_dma-groups() { dma_groups; }
case_dma-broken() { dma_broken; }
case_dma-device() { dma_device; }
# Covers: MEM-23
case_dma-left() { dma_left; }

group() {
	[ -e $DMA/owner_errors ] || die "this kernel has no sw-dma.patch"
	echo 1 >$DMA/show_owner_errors
	echo 20 >$DMA/num_errors
	alone_up 2
	DMA_DEVICE=$(dmesg | sed -n "s/.* sw_dma: \(.*\), ${DMA_KIND:-direct}\$/\1/p")
	[ -n "$DMA_DEVICE" ] || die "$(dmesg | grep 'sw_dma:'): not ${DMA_KIND:-direct}"
	DMA_CORE=$(dma_mapped)
	[ -e $EXPORT/entries ] || python3 -I -S "$CHECK" provide $EXPORT
	tune 0 /sys/module/rpcrdma/parameters/review_time
	run_all_cases
	group_end
}
