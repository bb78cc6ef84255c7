# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The round-trip extension of version 2: long Calls and Replies in several Sends, and WRITEs whose data are placed in
# the server's Receives; client and server in one guest.
# Guests: alone
# Limit: 1800
# Foreign: all
. "$TOP/scripts/tests/cases.sh"
PARAMS=/sys/module/rpcrdma/parameters

# Reset the settings that an earlier case may have changed.
before_case() {
	highest 2
	inline_of 16384
	echo 1 >$PARAMS/rdma_rtx
	echo 262144 >$PARAMS/rdma_rtx_long_max
	echo 65536 >$PARAMS/rdma_rtx_write_max
	echo 0 >$PARAMS/rdma_rtx_gather
	echo 0 >$PAGES
}

# inline_of <bytes>: set the inline size at both ends, for new connections
inline_of() {
	echo "$1" >$PARAMS/rdma_v2_inline
	echo "$1" >$PARAMS/v2_max_req_size
}

# sound <version of NFS> <command...>: run with_mount, and check that a connection of version 2 was made, and that there
# was no error
sound() {
	counted client_v2_connects 1 99 counted client_error_replies 0 0 counted client_bad_replies 0 0 \
		counted groups_broken 0 0 counted server_reply_too_large 0 0 with_mount "$@"
}

# written <bytes> <number>: write <number> pieces of <bytes>, each with one WRITE, and compare the file at the server
written() {
	head -c $(($1 * $2)) /dev/urandom >/tmp/written
	dd if=/tmp/written of="$MNT/written" bs="$1" oflag=direct conv=notrunc 2>/tmp/dd.err ||
		die "writing: $(cat /tmp/dd.err)"
	cmp -n $(($1 * $2)) /tmp/written $EXPORT/written || die "the server has something else"
}

# in_sends <Sends> <bytes>: make four WRITEs of this size. Check that each is a group of this many Sends, and that no
# memory is registered.
in_sends() {
	counted client_calls_group 4 4 counted client_group_sends $((4 * $1)) $((4 * $1)) \
		counted client_calls_read_chunk 0 0 counted client_mrs_registered 0 0 written "$2" 4
}

# Cause enough load for the server to grant more credits than at first (RTX-83).
more_credits() {
	: >"$MNT/written"
	written 65536 16
}

writes() {
	more_credits
	counted client_calls_group 0 0 counted client_calls_read_chunk 0 0 written 16000 4
	in_sends 2 16384
	in_sends 3 32768
	in_sends 5 65536
	# The server fetches a larger item by RDMA Read.
	counted client_calls_group 0 0 counted client_calls_read_chunk 4 4 written 69632 4
}

# Covers: RTX-31 RTX-41 RTX-42 RTX-43 RTX-62 RTX-74 RTX-95
case_rtx-write() { sound 3 writes; }

# pages_here <numbers...>: from these numbers of pages in a Receive, print all on 7.3. On other
# kernels, print only the last number, because the tests for each number take minutes in an emulated
# guest.
pages_here() { if [ "$KERNEL" = 7.3 ]; then echo "$@"; else echo "${@: -1}"; fi; }

# placed_in <pages of a Receive> <bytes of a WRITE>: print how many Sends the WRITE takes. All pages
# of a Receive but one are targets, that is, pages into which data are placed.
placed_in() {
	local part=$((($1 - 1) * 4096))
	echo $((($2 + part - 1) / part))
}

# are_placed <pages> <bytes>: make four WRITEs of this size. Check that the data of each are placed, that each is
# executed once, that no memory is registered, and that the Sends cause no completion events. (Two events are allowed,
# because probes of the keepalive cause some.)
are_placed() {
	local n
	n=$(placed_in "$1" "$2")
	counted client_calls_placed 4 4 counted client_group_sends $((4 * n)) $((4 * n)) counted server_calls_placed 4 4 \
		counted client_calls_read_chunk 0 0 counted client_mrs_registered 0 0 \
		counted server_rdma_read_wrs 0 0 counted send_events 0 2 written "$2" 4
}

# buffered <bytes>: write this many bytes through the page cache, and check that they arrive and can be read
buffered() {
	head -c "$1" /dev/urandom >/tmp/buffered
	dd if=/tmp/buffered of="$MNT/buffered" bs=1000003 conv=fsync 2>/tmp/dd.err || die "writing: $(cat /tmp/dd.err)"
	[ "$(md5sum </tmp/buffered)" = "$(on_server md5sum $EXPORT/buffered | sed 's/ .*/  -/')" ] ||
		die "$1 bytes: the server has something else"
	echo 3 >/proc/sys/vm/drop_caches
	cmp /tmp/buffered "$MNT/buffered" || die "$1 bytes: what is read is not what was written"
	rm "$MNT/buffered"
}

# one_shown: is exactly one connection shown at each end, that is, are those of earlier mounts gone?
one_shown() { [ "$(find $DEBUG/client -type f | wc -l) $(find $DEBUG/server -type f | wc -l)" = "1 1" ]; }

placed() {
	local pages=$1 size near
	until_true 30 one_shown || die "there are $(ls $DEBUG/client $DEBUG/server)"
	[ "$(field inline_recv $DEBUG/server/*)" = $((1024 + (pages - 1) * 4096)) ] ||
		die "the server: $(grep inline $DEBUG/server/*)"
	# Get enough credits for the longest WRITE: at most half of the granted credits may be used
	# for Sends that are not the first Send of a Call.
	: >"$MNT/written"
	written 65536 16
	written 131072 16
	are_placed "$pages" 8192
	for size in 8193 12287 12288 12289 28671 28672 28673 65535 65536 65537 131071 131072; do
		are_placed "$pages" "$size"
	done
	# Short WRITEs stay inline if they fit.
	counted client_calls_placed 0 0 counted client_calls_inline 4 $ANY written 4000 4
	counted client_calls_placed 0 0 counted client_calls_read_chunk 4 4 written 131076 4
	for near in 4096 8192 28672 65536 131072; do
		for size in $((near - 1)) "$near" $((near + 1)); do buffered "$size"; done
	done
	written 1048576 1
	buffered 1048577
}

# The server announces targets: 1, 3 or 7 pages of each Receive; on kernels other than 7.3, only 7.
# At first, the client's inline size is 16384 bytes. Then it is 1024 bytes, which is less than any
# Receive here.
# Covers: RTX-52 RTX-53 RTX-54 RTX-55 RTX-56 RTX-57 RTX-94 RTX-95 RTX-96 RTX-99
case_rtx-placed-by-client() {
	local pages all
	targets_exist || { not_placed; return; }
	read -ra all <<<"$(pages_here 2 4 8)"
	for pages in "${all[@]}"; do
		echo $pages >$PAGES
		echo 131072 >$PARAMS/rdma_rtx_write_max
		sound 3 placed $pages
		counted client_calls_placed 1 $ANY sound 4.2 sizes
	done
	inline_of 1024
	counted client_calls_placed 1 $ANY sound 4.2 sizes
	# If rdma_rtx_write_max is 0, the client computes the length up to which items are placed
	# from the round-trip time.
	inline_of 16384
	echo 0 >$PARAMS/rdma_rtx_write_max
	counted client_calls_placed 1 $ANY sound 4.2 placed_any
}

# not_placed: for kernels whose pages are larger than targets. Although rtx_pages is 8, no data may
# be placed. Long WRITEs must be groups, whose data the server copies.
not_placed() {
	echo 8 >$PAGES
	counted client_calls_placed 0 0 sound 3 writes
	counted client_calls_placed 0 0 counted client_calls_group 1 $ANY sound 4.2 sizes
}

# odd_offsets: make 42 WRITEs from memory that begins at various offsets in a page, and check that the data arrive
odd_offsets() {
	python3 -I -S -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644)
for offset in 0, 1, 4, 511, 2048, 4095:
    for size in 8192, 12289, 28671, 28672, 28673, 65536, 131071:
        memory = mmap.mmap(-1, offset + size)
        memory[offset:] = os.urandom(size)
        part = memoryview(memory)[offset:]
        if os.pwrite(fd, part, 0) != size:
            sys.exit("a short write of %u bytes" % size)
        with open(sys.argv[2], "rb") as file:
            if file.read(size) != part:
                sys.exit("%u bytes at offset %u: the server has something else" % (size, offset))
' "$MNT/odd" "$EXPORT/odd"
}

few_sges() { [ "$PROVIDER" = siw ] || grep -qsxE 'erdma|qedr' /sys/module/hca_sim/parameters/profile; }

gathered() {
	local size least=4 odd=42
	until_true 30 one_shown || die "there are $(ls $DEBUG/client $DEBUG/server)"
	# siw allows 6 SGEs in a Send: one for the Send's buffer, and five for data; some adapters
	# allow as few. Adjacent pages take one SGE. If there are too few, a Send takes fewer pages.
	# If the group would then need more Sends, the data are copied. So with Receives of 8 pages,
	# not all WRITEs have to be gathered.
	! few_sges || [ "$1" != 8 ] || least=0 odd=6
	: >"$MNT/written"
	written 65536 16
	written 131072 16
	for size in 8192 8193 12287 12288 12289 28671 28672 28673 65535 65536 65537 131071 131072; do
		counted client_calls_placed 4 4 counted client_calls_gathered $least 4 counted client_mrs_registered 0 0 \
			counted client_calls_read_chunk 0 0 written $size 4
	done
	counted client_calls_placed 42 42 counted client_calls_gathered $odd 42 odd_offsets
	for size in 8191 8193 28673 65535 131073 1048577; do buffered $size; done
	sizes
}

from_64k() {
	: >"$MNT/written"
	written 65536 16
	counted client_calls_placed 4 4 counted client_calls_gathered 0 0 written 65535 4
	counted client_calls_placed 4 4 counted client_calls_gathered 4 4 written 65536 4
}

# If placed data have at least rdma_rtx_gather bytes, the client's device reads them from the pages
# of the program or of the page cache, unless this takes more Sends than copying. Otherwise the
# client copies the data.
# Covers: RTX-56 RTX-57 RTX-58 RTX-99 T-43
case_rtx-gathered() {
	targets_exist || skip "pages are larger than targets, so no data are placed"
	local pages all
	echo 131072 >$PARAMS/rdma_rtx_write_max
	echo 8192 >$PARAMS/rdma_rtx_gather
	read -ra all <<<"$(pages_here 2 8)"
	for pages in "${all[@]}"; do
		echo $pages >$PAGES
		sound 3 gathered $pages
		counted client_calls_gathered 1 $ANY sound 4.2 sizes
	done
	inline_of 1024
	counted client_calls_gathered 1 $ANY sound 4.2 sizes
	inline_of 16384
	echo 65536 >$PARAMS/rdma_rtx_gather
	# With 2 pages in a Receive, a Send has one page of data, for which each adapter has enough SGEs.
	echo 2 >$PAGES
	sound 3 from_64k
	counted client_calls_gathered 1 $ANY sound 4.2 many
	SCALE=0.3 counted client_calls_gathered 1 $ANY sound 4.2 checked data mmap direct
}

placed_any() {
	until_true 30 one_shown || die "there are $(ls $DEBUG/client $DEBUG/server)"
	[ "$(field write_max $DEBUG/client/*)" -ge 131072 ] || die "$(grep write_max $DEBUG/client/*)"
	sizes
	buffered 3000001
}

# The data of 12287 bytes have three pages, for which each adapter has enough SGEs.
sizes() {
	local size
	for size in 1 4095 4096 4097 12287 16383 16385 28671 28672 28673 32767 65535 65536 65537 200001; do
		head -c $size /dev/urandom >/tmp/size
		cp /tmp/size "$MNT/size.$size"
		cmp /tmp/size "$EXPORT/size.$size" || die "$size bytes: the server has something else"
		echo 3 >/proc/sys/vm/drop_caches
		cmp /tmp/size "$MNT/size.$size" || die "$size bytes: what is read is not what was written"
	done
}

# Covers: RTX-43 RTX-45 RTX-46
case_rtx-sizes() {
	counted client_calls_group 1 $ANY sound 3 sizes
	counted client_calls_group 1 $ANY sound 4.2 sizes
	inline_of 1024
	counted client_calls_group 1 $ANY sound 3 sizes
}

# With small Sends, many messages are long. On kernels with pages of more than 4096 bytes, a long
# Reply of NFSv3 may need whole pages for an ACL. All Receives that a Call can offer may then be too
# small, even together. So on these kernels, the case does not require that a Reply was a group.
# Covers: RTX-97
case_rtx-all-v3() {
	local least=1
	targets_exist || least=0
	inline_of 4096
	SCALE=0.3 counted client_calls_group 1 $ANY counted client_replies_group $least $ANY \
		sound 3 checked names dir data mmap direct acl
}
case_rtx-all-v42() {
	inline_of 4096
	SCALE=0.3 counted client_calls_group 1 $ANY counted client_replies_group 1 $ANY \
		sound 4.2 checked names dir data mmap direct acl xattr
}

entries() {
	mkdir "$MNT/entries.rtx"
	on_server python3 -I -S -c '
import os, sys
for n in range(3000):
    open(os.path.join(sys.argv[1], "entry-%04d-%s" % (n, "x" * 40)), "w").close()' $EXPORT/entries.rtx
	counted client_replies_group 1 $ANY \
		counted server_replies_group 1 $ANY there 3000
	rm -rf "$MNT/entries.rtx"
}

there() { [ "$(find "$MNT/entries.rtx" -mindepth 1 | wc -l)" = "$1" ] || die "not all entries"; }

# Covers: RTX-65 RTX-66 RTX-68 RTX-76 RTX-98
case_rtx-readdir() {
	sound 3 entries
	sound 4.2 entries
}

# Trace events show which messages are groups.
case_rtx-seen() {
	trace_begin
	sound 3 entries
	traced rpcrdma_group "xprt_rdma_marshal: reply=group" "xprt_rdma_marshal: recvs=[2-8]"
	trace_end
}

links() {
	local text
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	# The server learns that such Calls need more credits than the client has.
	ln -s "$text" "$MNT/first"
	counted client_calls_group 1 1 counted client_calls_long 0 0 counted client_calls_read_chunk 0 0 \
		ln -s "$text" "$MNT/long"
	[ "$(on_server readlink $EXPORT/long)" = "$text" ] || die "the server has another link"
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(readlink "$MNT/long")" = "$text" ] || die "another link"
	rm "$MNT/long" "$MNT/first"
}

# Covers: RTX-95 RTX-97
case_rtx-symlink() {
	inline_of 2048
	sound 3 links
	sound 4.2 links
}

plain() {
	more_credits
	counted client_calls_read_chunk 4 4 written 32768 4
}

# single: check that no Call takes more than one Send. (A Call may still be a group, of one Send, to offer several
# Receives for its Reply.)
single() {
	local calls sends
	calls=$(counter client_calls_group) sends=$(counter client_group_sends)
	counted client_calls_placed 0 0 sound 3 plain
	calls=$(grown client_calls_group "$calls") sends=$(grown client_group_sends "$sends")
	[ "$sends" = "$calls" ] || die "$calls groups have $sends Sends"
}

# If the extension is switched off, it is not used. If it is switched on, but the client may not use
# several Sends for a Call, the server fetches the data of a long WRITE by RDMA Read. In version 1,
# nothing of the extension is used.
# Covers: RTX-31 RTX-32 RTX-103
case_rtx-off() {
	echo 0 >$PARAMS/rdma_rtx
	counted client_calls_group 0 0 counted client_replies_group 0 0 counted groups_received 0 0 sound 3 plain
	echo 1 >$PARAMS/rdma_rtx
	echo 1 >$PARAMS/rdma_rtx_write_max
	echo 0 >$PARAMS/rdma_rtx_long_max
	single
	before_case
	echo 1 >$PARAMS/client_version
	counted client_calls_group 0 0 counted client_replies_group 0 0 counted groups_received 0 0 with_mount 3 plain
}

many() {
	local n
	for n in 1 2 3 4 5 6 7 8; do
		(
			head -c 4000000 /dev/urandom >/tmp/many.$n
			dd if=/tmp/many.$n of="$MNT/many.$n" bs=65536 oflag=direct 2>/dev/null || exit 1
			cmp /tmp/many.$n $EXPORT/many.$n && dd if="$MNT/many.$n" bs=65536 iflag=direct 2>/dev/null | cmp - /tmp/many.$n
		) &
	done
	for n in 1 2 3 4 5 6 7 8; do
		wait -n || die "what is read is not what was written"
	done
	rm "$MNT"/many.*
}

# Many processes write and read at once. There may be too few credits for some Calls to be groups,
# but all Calls must succeed.
# Covers: RTX-75 RTX-78 RTX-79
case_rtx-many() { counted client_calls_group 1 $ANY sound 4.2 many; }

group() {
	local pages
	alone_up 2
	pages=$(<$PAGES)
	# An earlier group of tests in this guest may have provided the files.
	[ -e $EXPORT/entries ] || python3 -I -S "$CHECK" provide $EXPORT
	# Between two large WRITEs of a case, a slow guest may need longer than the server waits until it
	# takes back credits (G-39).
	tune 0 /sys/module/rpcrdma/parameters/review_time
	run_all_cases
	before_case
	echo "$pages" >$PAGES
	group_end
}
