# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The round-trip extension of version 2 with many combinations of the properties that the ends announce, with few
# credits, with short send queues, and with failing allocations. Client and server are in one guest.
# Guests: alone
# Limit: 1500
# Cases: 6.12/siw rtx-words-64
# Cases: 6.12/rxe rtx-around
. "$TOP/scripts/tests/groups/rtx.sh"
. "$TOP/scripts/tests/broken.sh"
SERVE=/proc/sys/sunrpc/svc_rdma
LIST=$TOP/scripts/tests/peers/shortlist.py
NUMBERS=(4096 28672 65536 131072 1048576)

# Reset the settings that an earlier case may have changed.
before_case() {
	highest 2
	starve_off
	inline_of 16384
	echo 1 >$PARAMS/rdma_rtx
	echo 262144 >$PARAMS/rdma_rtx_long_max
	echo 65536 >$PARAMS/rdma_rtx_write_max
	echo 128 >$SERVE/max_requests
	tune $UNLIMITED $DEBUG/device_max_qp_wr
	server_says 64 16 0
}

# server_says <call_max> <reply_max> <pages of a Receive>: set what the server announces on new
# connections: the most Sends of a Call and of a Reply, and the pages of each Receive (data are
# placed in all of these but the first; 0: no data are placed)
server_says() {
	echo "$1" >$PARAMS/rtx_call_max
	echo "$2" >$PARAMS/rtx_reply_max
	echo "$3" >$PARAMS/rtx_pages
}

listed() { python3 -I -S "$LIST" list "$MNT" $EXPORT "$VERS"; }
around() { python3 -I -S "$LIST" sizes "$MNT" $EXPORT "${NUMBERS[@]}"; }

# if_used <yes|no|may> <counter> <command...>: run the command. Meanwhile, the counter must grow, must not grow, or may
# grow.
if_used() {
	case $1 in
	yes) counted "$2" 1 $ANY "${@:3}" ;;
	no) counted "$2" 0 0 "${@:3}" ;;
	may) "${@:3}" ;;
	esac
}

# --- announced properties ---------------------------------------------------------

# list_with <client's inline size> <server's inline size> <version of NFS> <call_max> <reply_max>
# <pages>: run the operations of "shortlist.py list" with these settings. The settings decide
# whether Calls must or may be groups; whether Replies must, may or must not be groups; and whether
# data of WRITEs must, may or must not be placed. "Must" means at least once. Check this.
list_with() {
	local calls=may replies=may placed=no
	echo "$1" >$PARAMS/rdma_v2_inline
	echo "$2" >$PARAMS/v2_max_req_size
	server_says "$4" "$5" "$6"
	[ "$4" -lt 64 ] || calls=yes
	[ "$4" -lt 2 ] || [ "$6" = 0 ] || placed=yes
	[ "$4$6" != 10 ] || placed=no
	[ "$4" != 1 ] || [ "$6" = 0 ] || placed=may
	[ "$5" -gt 1 ] || replies=no
	[ "$1 $5" != "4096 16" ] || replies=yes
	echo "client $1, server $2, version $3, call_max $4, reply_max $5, $6 pages: groups $calls, $replies, placed $placed"
	MOUNT_OPTS=rsize=16384 if_used $calls client_calls_group if_used $replies server_replies_group \
		if_used $placed server_calls_placed counted client_connects 1 1 sound "$3" listed
}

# lists_with <call_max>: run list_with with this call_max, and with each of 12 pairs of <reply_max>
# and <pages>. The inline sizes and the version of NFS vary from one run to the next.
lists_with() {
	local i=0 replies pages sizes=(4096 16384 1024) theirs=(16384 4096 65536 1024) versions=(3 4.2 4.1)
	for replies in 0 1 2 16; do
		for pages in 0 2 8; do
			list_with "${sizes[(i + i / 3) % 3]}" "${theirs[(2 * i + i / 3) % 4]}" "${versions[(i + 2 * (i / 3)) % 3]}" "$1" $replies $pages
			i=$((i + 1))
		done
	done
}

# Covers: RTX-36 RTX-41 RTX-66 RTX-68
case_rtx-words-1() { lists_with 1; }
# Covers: RTX-36 RTX-41 RTX-66 RTX-68
case_rtx-words-2() { lists_with 2; }
# Covers: RTX-36 RTX-41 RTX-66 RTX-68
case_rtx-words-64() { lists_with 64; }

# nothing_of_it <version of NFS>: run "shortlist.py list", and check by the counters that no message of the extension is sent
# or received
nothing_of_it() {
	MOUNT_OPTS=rsize=16384 counted client_calls_group 0 0 counted client_replies_group 0 0 counted client_group_sends 0 0 \
		counted groups_received 0 0 counted server_calls_placed 0 0 \
		counted groups_broken 0 0 counted client_connects 1 1 \
		counted client_error_replies 0 0 counted client_bad_replies 0 0 with_mount "$1" listed
}

# At one end, the extension is switched off, or the highest version is 1. At the other end, the
# extension is switched on. rtx_pages is 0 at first, and then 4.
# Covers: RTX-31 RTX-32 RTX-103
case_rtx-words-absent() {
	local pages
	inline_of 4096
	for pages in 0 4; do
		server_says 0 16 $pages
		nothing_of_it 3
		nothing_of_it 4.2
		server_says 64 16 $pages
		echo 0 >$PARAMS/rdma_rtx
		nothing_of_it 4.1
		echo 1 >$PARAMS/rdma_rtx
		echo 1 >$PARAMS/client_version
		nothing_of_it 3
		echo 2 >$PARAMS/client_version
		echo 1 >$PARAMS/server_version
		nothing_of_it 4.2
		highest 2
	done
}

# --- sizes -----------------------------------------------------------------------

# Write and read files whose sizes are near 4096, 28672, 65536, 131072 and 1048576 bytes.
# Covers: RTX-43 RTX-53 RTX-95
case_rtx-around() {
	local pages
	for pages in 0 2 4 8; do
		server_says 64 16 $pages
		echo 131072 >$PARAMS/rdma_rtx_write_max
		if_used "$([ $pages = 0 ] && echo no || echo yes)" client_calls_placed \
			counted client_calls_group 1 $ANY sound 3 around
		sound 4.2 around
	done
	# Now let WRITEs of any size be sent in groups.
	echo 1048576 >$PARAMS/rdma_rtx_write_max
	counted client_calls_placed 1 $ANY sound 4.1 around
}

# --- shortages ---------------------------------------------------------------------

# The server grants few credits. The Sends of all Calls in flight, without the first Send of each
# Call, may take at most half of the credits. A Call for which this is not enough is not a group. A
# WRITE of 65536 bytes takes five Sends, or, with targets, three Sends of up to 28672 bytes of data.
# Covers: RTX-74 RTX-78 RTX-79
case_rtx-window() {
	local credits pages groups
	while read -r credits pages groups; do
		server_says 64 16 "$pages"
		echo "$credits" >$SERVE/max_requests
		if_used "$groups" client_calls_group counted client_groups_short 1 $ANY sound 4.2 many
	done <<-END
	4 0 may
	16 0 yes
	4 8 yes
	8 8 yes
	END
}

# Both ends have send queues of few entries. If the client's queue has no room for the Sends of a
# group, the Call uses the base protocol instead, with chunks. The server announces that the number
# of Sends of a Reply is at most half of the number of entries of its queue. (With fewer than 68 entries, the server
# refuses a qedr: it needs 33 RDMA Writes for the largest READ.)
# Covers: RTX-78
case_rtx-short-queue() {
	local entries pages
	knobs
	inline_of 4096
	for entries in 72 128; do
		for pages in 0 4; do
			server_says 64 16 $pages
			echo $entries >$DEBUG/device_max_qp_wr
			MOUNT_OPTS=rsize=16384 counted client_calls_group 1 $ANY counted client_groups_short 1 $ANY \
				counted client_connects 1 1 sound 4.2 many_and_list
		done
	done
	echo $UNLIMITED >$DEBUG/device_max_qp_wr
}
many_and_list() {
	many
	listed
}

# If there is no memory for the additional Sends of a group, the Call uses the base protocol. In the
# second half of this case, 5 percent of the module's allocations fail, at both ends.
# Covers: RTX-78
case_rtx-starved() {
	local made
	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
	# Sends that fill Receives of 8 pages need larger buffers than Sends have at first.
	server_says 64 16 8
	echo 131072 >$PARAMS/rdma_rtx_write_max
	trap starve_off EXIT
	nfs_mount 4.2
	starve 100 '^xprt_rdma_group_plan$'
	# Start the load after the allocations begin to fail: a connection keeps the buffers of its
	# groups, so later groups may need no new memory.
	load_start --jobs 4
	load_moves 30 "it began, without memory for groups"
	starve_end
	made=$(counter server_calls_placed)
	until_true 30 eval '[ "$(counter server_calls_placed)" -gt $((made + 10)) ]' || die "there are no groups any more"
	starve 5 '^(xprt_rdma|svc_rdma|rpcrdma)_'
	sleep 5
	starve_end
	load_moves 90 "there is memory again"
	load_end
	[ "$(counter server_calls_placed)" -gt "$made" ] || die "nothing was placed"
	nfs_umount
}

# Some allocations for Replies of several Sends fail. The server then closes the connection, and the client sends the
# Call again.
case_rtx-starved-replies() {
	local _
	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no CONFIG_FAILSLAB"
	inline_of 4096
	trap starve_off EXIT
	MOUNT_OPTS=rsize=16384 sound 3 listed
	rm -f /tmp/failed
	# A connection keeps the Sends that were allocated for its first Reply of several Sends, so
	# each try uses a new mount. Only 10 percent of the allocations fail: with more, the server
	# would close one connection after another, and the client would wait longer before each new
	# one.
	for _ in {1..20}; do
		MOUNT_OPTS=rsize=16384 with_mount 3 starved_listing
		[ ! -s /tmp/failed ] || break
	done
	[ -s /tmp/failed ] || die "no allocation has failed"
	MOUNT_OPTS=rsize=16384 counted server_replies_group 1 $ANY sound 3 listed
}
starved_listing() {
	starve 10 '^svc_rdma_group_take$'
	[ "$(find "$MNT/listed" | wc -l)" = 401 ] || die "not all entries"
	starve_off
	echo "$(allocations_failed) allocations failed, $(xprt_field 3) connections"
	[ "$(allocations_failed)" = 0 ] || echo y >>/tmp/failed
}

# Run fio while the connection is broken again and again, during WRITEs whose data are placed.
# Covers: V1-ERR-25
# Tries: RTX-86
case_rtx-broken() {
	server_says 64 16 4
	echo 131072 >$PARAMS/rdma_rtx_write_max
	FIO_SECONDS=20 counted client_calls_placed 100 $ANY counted groups_broken 0 0 fio_broken 2
}

group() {
	alone_up 2
	run_all_cases
	before_case
	group_end
}
