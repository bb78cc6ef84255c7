# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Two guests whose pages have different sizes. The client's guest has the kernel of the run, and the
# server's guest has Debian's kernel for the PC. In the last cases, the guests change places. (In a
# guest with s390x, QEMU 7.2 and Linux 6.12 do not answer the pings of another guest, so s390x is
# not tested here.)
# Guests: pair
# Peer: debian
# Providers: none
# Foreign: debian-arm64-16k debian-ppc64el-64k
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"
PARAMS=/sys/module/rpcrdma/parameters
export ON_SERVER_LIMIT=600

# between <version of the protocol> <command...>: run the command with this version as the highest
# at both ends. Meanwhile the client must count no bad Reply and no RPC over RDMA error, and the
# server no bad header.
between() {
	highest "$1"
	on_server highest "$1"
	counted client_bad_replies 0 0 counted client_error_replies 0 0 "${@:2}"
	[ "$(on_server counter server_bad_headers)" = 0 ] || die "the server has not understood a header"
}

case_mixed-v3() { SCALE=0.3 between 1 with_mount 3 checked names dir data mmap direct acl; }
case_mixed-v42() { SCALE=0.3 between 1 with_mount 4.2 checked names data direct acl xattr; }
case_mixed-delegation() { between 1 delegation 4.2 remote_writer; }
case_mixed2-v3() { SCALE=0.3 between 2 counted client_v2_connects 1 1 with_mount 3 checked names dir data mmap direct acl; }
case_mixed2-v42() { SCALE=0.3 between 2 counted client_v2_connects 1 1 with_mount 4.2 checked names data direct acl xattr; }
case_mixed2-delegation() { between 2 delegation 4.2 remote_writer; }

# The server's pages have 4096 bytes, so its Receives have targets (pages into which the round-trip
# extension places data). The client's pages are larger. First the client copies the data of WRITEs
# to its Sends. Then it may send data of 8192 bytes or more directly from the pages of the RPC
# (rdma_rtx_gather).
case_mixed2-placed() {
	local gather
	gather=$(<$PARAMS/rdma_rtx_gather)
	echo 0 >$PARAMS/rdma_rtx_gather
	SCALE=0.3 between 2 counted client_calls_placed 10 $ANY counted client_calls_gathered 0 0 with_mount 3 checked data direct
	echo 8192 >$PARAMS/rdma_rtx_gather
	SCALE=0.3 between 2 counted client_calls_gathered 10 $ANY with_mount 3 checked data direct
	echo "$gather" >$PARAMS/rdma_rtx_gather
}

# back <version of NFS> <file>: in the server's guest, mount the export of the client's guest, and
# run the checker, which writes its manifest to the file
back() {
	nfs_mount "$1" '' 10.9.0.2
	[[ $(xprt_line) == 'rdma '* ]] || die "no RDMA transport: $(grep " $MNT " /proc/mounts)"
	python3 -I -S "$CHECK" names data direct --vers "$1" --mnt "$MNT" --seed 5 --manifest "$2" --scale 0.3 || exit 1
	nfs_umount
}

# from_server <version of the protocol> <version of NFS>: let this guest be the server, and run
# back() in the other guest
from_server() {
	highest "$1"
	on_server highest "$1"
	mounted /proc/fs/nfsd || server_up
	on_server counted client_bad_replies 0 0 counted client_error_replies 0 0 \
		counted client_v2_connects $(($1 - 1)) $(($1 - 1)) back "$2" "/lab/manifest.back.$1.$2"
	python3 -I -S "$CHECK" verify "/lab/manifest.back.$1.$2" $EXPORT || die "this server has something else"
}

case_mixed-back-v3() { from_server 1 3; }
case_mixed-back-v42() { from_server 1 4.2; }
case_mixed2-back-v3() { from_server 2 3; }
case_mixed2-back-v42() {
	from_server 2 4.2
	server_down
}

group() {
	pair_up
	pair_cases python3 -I -S "$CHECK" provide $EXPORT
}
