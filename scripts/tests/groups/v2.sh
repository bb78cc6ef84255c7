# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Version 2: NFS over it, negotiation, inline sizes, and errors that are remedied. Client and server are in one guest.
# Guests: alone
# Limit: 3000
# Foreign: all
# In the turns in which make test runs this group (turns.list), it runs all cases on 7.3 with siw. With rxe and on 6.12,
# it runs only the cases in the lines below: those whose result may depend on the kernel or the provider, with the
# oldest and the newest version of NFS. make test-all runs all cases with both providers, on 7.3 and 6.12.
# Cases: 7.3/rxe v2-v3 v2-v42 v2-delegation
# Cases: 6.12/siw v2-v3 v2-v42 v2-delegation
# Cases: 6.12/rxe v2-v3 v2-v42 v2-delegation v2-pairs v2-inline v2-errors v2-heal-reply-resource
. "$TOP/scripts/tests/cases.sh"
KNOBS=/sys/kernel/debug/rpcrdma
PARAMS=/sys/module/rpcrdma/parameters
SERVE=/proc/sys/sunrpc/svc_rdma

# Set the knobs of net/verbs/fail.c (fault injection) that this group uses to their defaults.
knobs_rest() {
	local limit
	for limit in server_max_{reads,writes,segs} server_fail_code client_shrink_reply; do
		echo $UNLIMITED >$KNOBS/$limit
	done
	fault server_fail 0
	cat $KNOBS/server_kept >/dev/null
}

# Reset the settings that an earlier case may have changed. The round-trip extension is off, because this group tests
# chunks (rtx.sh tests the extension).
before_case() {
	highest 2
	echo 0 >$PARAMS/rdma_rtx
	echo 16384 >$PARAMS/rdma_v2_inline
	echo 16384 >$PARAMS/v2_max_req_size
	[[ $KERNEL == debian* ]] || knobs_rest
	echo 0 >$PAGES
	echo Y >/sys/module/rpcrdma/parameters/remote_invalidation
}

# versions <client's> <server's> <command...>: run the command with these highest versions of the protocol
versions() {
	echo "$1" >$PARAMS/client_version
	echo "$2" >$PARAMS/server_version
	shift 2
	"$@"
}

# on_v2 <version of NFS> <command...>: run with_mount, and check that its connections have version 2, and that there was
# no error
on_v2() {
	counted client_v2_connects 1 99 counted client_fallbacks 0 0 \
		counted client_error_replies 0 0 counted client_bad_replies 0 0 with_mount "$@"
}

# Covers: V2-NEG-05 V2-NEG-16 V2-HDR-03 V2-HDR-08 V2-TYP-02
# Covers: V2-INL-01 V2-INL-02 V2-PRP-11 V2-PRP-12 V2-PRP-13 V2-CRD-04 V2-PRP-21
case_v2-v3() { SCALE=0.3 on_v2 3 checked names dir data mmap direct acl; }
case_v2-v40() { SCALE=0.3 on_v2 4.0 checked names dir data mmap direct acl; }
case_v2-v41() { SCALE=0.3 on_v2 4.1 checked names dir data mmap direct acl; }
case_v2-v42() { SCALE=0.3 on_v2 4.2 checked names dir data mmap direct acl xattr; }

# Covers: V2-BC-01
case_v2-delegation() { counted client_v2_connects 1 99 counted client_bc_replies 1 99 delegation 4.2 second_client; }
case_v2-delegation-v41() { counted client_v2_connects 1 99 delegation 4.1 remote_writer; }

copy_some() {
	head -c 300001 /dev/urandom >/tmp/some
	cp /tmp/some "$MNT/some"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cmp /tmp/some "$MNT/some" || die "what is read is not what was written"
	cmp /tmp/some $EXPORT/some || die "the server has something else"
	rm -f "$MNT/some"
}

# send_sizes: print the size of the messages that the client sends, for each of its connections
send_sizes() { cat $DEBUG/client/* | awk '$1 == "inline_send" { print $2 }'; }
send_sizes_are() { [ "$(send_sizes)" = "$1" ]; }

# sends_inline <bytes> <command...>: run the command, and check that the client sends messages of this size
sends_inline() {
	local bytes=$1
	shift
	"$@"
	# The connection of an earlier mount may still be shown for a moment.
	until_true 20 send_sizes_are "$bytes" || die "it sends messages of $(send_sizes) bytes"
}

# Try all combinations of the highest versions of both ends. The lower of the two versions must be used, on the first
# connection. In version 1, the sizes of version 1 apply.
# Covers: V2-NEG-01 V2-NEG-07 V2-NEG-08 V2-NEG-12 V2-NEG-13 V2-ERR-04 V2-INL-08
case_v2-pairs() {
	versions 2 1 counted client_fallbacks 1 1 counted client_connects 1 1 counted client_v2_connects 0 0 \
		with_mount 3 sends_inline 4096 copy_some
	versions 1 2 counted client_fallbacks 0 0 counted client_connects 1 1 counted client_v2_connects 0 0 \
		with_mount 3 copy_some
	versions 1 1 counted client_fallbacks 0 0 counted client_connects 1 1 counted client_v2_connects 0 0 \
		with_mount 3 copy_some
	versions 2 2 counted client_fallbacks 0 0 counted client_connects 1 1 counted client_v2_connects 1 1 \
		with_mount 3 sends_inline 16384 copy_some
}

upgraded() {
	copy_some
	nfsd_anew tune 2 $PARAMS/server_version
	counted client_v2_connects 1 99 copy_some
	nfsd_anew tune 1 $PARAMS/server_version
	counted client_fallbacks 1 99 counted client_v2_connects 0 0 copy_some
	nfsd_anew tune 2 $PARAMS/server_version
	counted client_v2_connects 1 99 copy_some
}

# The server is upgraded, downgraded and upgraded again while the client has a mount.
# Covers: V2-NEG-17 V2-NEG-14 V2-CRD-10
case_v2-upgrade() { versions 2 1 with_mount 3 upgraded; }

by_size() {
	local bs=$1 count=$2
	head -c $((bs * count)) /dev/urandom >/tmp/by || die "no data"
	dd if=/tmp/by of="$MNT/by" bs="$bs" oflag=direct 2>/tmp/dd.err || die "writing: $(cat /tmp/dd.err)"
	cmp /tmp/by $EXPORT/by || die "the server has something else"
	dd if="$MNT/by" of=/tmp/by2 bs="$bs" count="$count" iflag=direct 2>/tmp/dd.err || die "reading: $(cat /tmp/dd.err)"
	cmp /tmp/by /tmp/by2 || die "what is read is not what was written"
}

inline_sizes() {
	local signaled=0
	touch "$MNT/by"
	# These READs and WRITEs are inline, and register no memory.
	counted client_mrs_registered 0 0 counted client_calls_inline 16 99 by_size 4096 8
	# siw copies a Send of a page or more only if the Send is signaled. If it does not copy the
	# Send, TCP may still transmit from the pages after the Send has completed. So with siw, the
	# client signals the Sends of all 8 WRITEs. It signals few other Sends.
	[ "$PROVIDER" != siw ] || signaled=8
	counted client_mrs_registered 0 0 counted client_calls_inline 16 99 \
		counted client_sends_signaled $signaled $((signaled + 7)) by_size 8192 8
	# Each READ and each WRITE registers one region.
	counted client_mrs_registered 16 16 counted client_calls_read_chunk 8 8 by_size 32768 8
}

# with_v2_inline <client's RBSIZ> <server's RBSIZ> <command...>: run the command with these inline sizes
with_v2_inline() {
	echo "$1" >$PARAMS/rdma_v2_inline
	echo "$2" >$PARAMS/v2_max_req_size
	shift 2
	"$@"
}

large_inline() {
	touch "$MNT/by"
	counted client_mrs_registered 0 0 by_size 61440 4
}

small_inline() {
	touch "$MNT/by"
	# The client must send no more than the smaller of the two sizes.
	counted client_calls_read_chunk 4 4 by_size 4096 4
	copy_some
}

# Covers: V2-INL-03 V2-INL-05 V2-PRP-10 V2-PRP-11
case_v2-inline() {
	on_v2 3 inline_sizes
	with_v2_inline 65536 65536 on_v2 3 large_inline
	with_v2_inline 1024 1024 on_v2 3 small_inline
	with_v2_inline 16384 1024 on_v2 3 small_inline
	with_v2_inline 1024 16384 on_v2 3 copy_some
}

# receives_here: print the number of Receives of the server, and of their bytes, both from one look
receives_here() { awk '$1 == "receives" { n = $2 } $1 == "receives_bytes" { print n, $2 }' $DEBUG/server/*; }

# in_blocks <pages> <bytes>: check that the server's Receives are blocks of this many pages, and
# take messages of up to this many bytes. All messages that fit must be inline, and the connection
# must have no other memory for Receives.
in_blocks() {
	local pages=$1 size=$2 recvs bytes
	touch "$MNT/by"
	[ "$(field inline_recv $DEBUG/server/*)" = "$size" ] || die "the server: $(grep inline $DEBUG/server/*)"
	counted client_mrs_registered 0 0 counted receives_renewed 0 0 by_size $(((size - 1024) & -4096)) 8
	counted receives_renewed 0 0 checked names dir data
	read -r recvs bytes <<<"$(receives_here)"
	[ "$bytes" = $((recvs * pages * 4096)) ] || die "$recvs Receives of $pages pages have $bytes bytes"
}

# no_blocks <bytes>: check that the server's Receives are buffers of this many bytes
no_blocks() {
	local recvs bytes
	inline_is "$1"
	read -r recvs bytes <<<"$(receives_here)"
	[ "$bytes" = $((recvs * $1)) ] || die "$recvs Receives have $bytes bytes"
}

# kept_calls <number>: the server decodes Calls in the pages of their Receives. The knob server_keep holds a page of
# each of this many Calls. Each such Receive must get new pages, and the page that is held must not change.
kept_calls() {
	local said
	touch "$MNT/by"
	fault server_keep "$1"
	counted receives_renewed "$1" "$1" by_size 8192 $(($1 * 2))
	said=$(<$KNOBS/server_kept)
	[ "$said" = "kept $1"$'\n'"changed 0" ] || die "of pages that were kept: $said"
	counted receives_renewed 0 0 by_size 8192 8
}

# If rtx_pages is not 0, the server's Receives are normally blocks of pages. While the kernel holds
# a page of a Receive, no other message is received into this page. But on kernels with pages of
# more than 4096 bytes, no Receive is a block.
# Covers: RTX-34
case_v2-blocks() {
	local pages sizes=(2 4 8)
	echo 65536 >$PARAMS/rdma_v2_inline
	targets_exist || { sizes=(); echo 8 >$PAGES; on_v2 3 no_blocks 16384; }
	for pages in "${sizes[@]}"; do
		echo $pages >$PAGES
		SCALE=0.1 on_v2 3 in_blocks $pages $((1024 + (pages - 1) * 4096))
	done
	if [[ $KERNEL != debian* ]]; then
		on_v2 3 kept_calls 200
		# Receives without targets are blocks, too, if they are too large for a slab.
		echo 0 >$PAGES
		on_v2 3 kept_calls 200
		echo 8 >$PAGES
	fi
	# A connection of version 1 also begins with a few Receives that are blocks, and works as usual.
	versions 1 2 with_mount 3 copy_some
	# Blocks would be too small for this inline size of version 1, so the server uses none.
	echo 65536 >$SERVE/max_req_size
	versions 2 2 on_v2 3 inline_is 16384
	echo 4096 >$SERVE/max_req_size
}

inline_is() {
	[ "$(field inline_recv $DEBUG/server/*)" = "$1" ] || die "the server: $(grep inline $DEBUG/server/*)"
	copy_some
}

# sizes_of_1 <size> <a> <b>: check that both ends use version 1, with the inline size of the private data and not that
# of version 2: a WRITE of <a> bytes is inline, and a WRITE of <b> bytes is not
sizes_of_1() {
	local end
	touch "$MNT/by"
	for end in client server; do
		[ "$(field version $DEBUG/$end/*) $(field inline_send $DEBUG/$end/*) $(field inline_recv $DEBUG/$end/*)" = "1 $1 $1" ] ||
			die "$end: $(grep -E '^(version|inline)' $DEBUG/$end/*)"
	done
	counted client_mrs_registered 0 0 counted client_calls_inline 8 99 by_size "$2" 4
	counted client_mrs_registered 8 8 counted client_calls_read_chunk 4 4 by_size "$3" 4
}

# fallen_back <inline size of version 1> <command...>: run the command on a connection whose client asks for version 2
# and falls back to version 1
fallen_back() {
	set_inline "$1"
	shift
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	versions 2 1 counted client_fallbacks 1 1 counted client_connects 1 1 with_mount 3 "$@"
}

sizes_as_before() {
	set_inline 4096
	echo 4096 >$SERVE/max_req_size
}

# In version 2, both ends would use an inline size of 16384 bytes. After ERR_VERS they use the sizes in the private
# data, even if these are larger than the 4096 bytes with which version 2 begins. (hostile_server_v2.py has a server
# without private data.)
# Covers: V2-INL-08
case_v2-fallback-inline() {
	trap sizes_as_before EXIT
	MOUNT_OPTS=noacl fallen_back 4096 sizes_of_1 4096 3072 4096
	echo 8192 >$SERVE/max_req_size
	MOUNT_OPTS=noacl fallen_back 8192 sizes_of_1 8192 7168 8192
	MOUNT_OPTS=noacl fallen_back 1024 sizes_of_1 1024 512 1024
}

seen() {
	local said side
	local brs='[1-9][0-9]* credits, BRS 1, ours 1'
	dmesg | grep "rpcrdma: server $SERVER:$PORT: version 2, inline 8192 out and 8192 in, $brs\$" ||
		die "the client says nothing"
	dmesg | grep "rpcrdma: client $SERVER:[0-9]*: version 2, inline 8192 out and 16384 in, $brs\$" ||
		die "the server says nothing"
	said=$(grep xprt_rdma_connect: $TRACE/trace) || die "no trace event"
	case $said in
	*"peer=[$SERVER]:$PORT status=0 vers=2 inline_send=8192 inline_recv=8192 rbsiz=16384 brs=1 our_brs=1 peer_spoke=1 granted="[1-9]*) ;;
	*) die "the trace event says: $said" ;;
	esac
	said=$(grep svc_rdma_settled: $TRACE/trace) || die "no trace event of the server"
	# At the time of this event, the server does not know the client's properties yet
	case $said in
	*"addr=$SERVER:"*" vers=2 inline=4096/16384 brs=1 our_brs=1 credits="[1-9]*) ;;
	*) die "the server's trace event says: $said" ;;
	esac
	said=$(grep svc_rdma_connprop: $TRACE/trace) || die "no trace event of the properties"
	case $said in
	*"addr=$SERVER:"*" rbsiz=8192 brs=1 "*" applied=1 inline_send=8192"*) ;;
	*) die "that trace event says: $said" ;;
	esac
	for side in $KNOBS/client/* $KNOBS/server/*; do
		said="$(field version "$side") $(field inline_send "$side") $(field brs "$side") $(field our_brs "$side")"
		[ "$said $(field peer_spoke "$side")" = "2 8192 1 1 1" ] || die "$side: $(cat "$side")"
	done
	[ "$(field rbsiz $KNOBS/client/*) $(field rbsiz $KNOBS/server/*)" = "16384 8192" ] ||
		die "what the other can receive: $(grep rbsiz $KNOBS/client/* $KNOBS/server/*)"
}

# The log (with dynamic debug), the trace and debugfs show the version, the sizes and the properties of a connection.
case_v2-seen() {
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	dmesg -C
	trace_begin
	echo 'module rpcrdma +p' >/proc/dynamic_debug/control
	with_v2_inline 8192 16384 with_mount 3 seen
	echo 'module rpcrdma -p' >/proc/dynamic_debug/control
	trace_end
}

# each_once <command...>: run the command, and check that each region that was registered has been invalidated once,
# either by the server or by the client
each_once() {
	local made remote ours
	made=$(counter client_mrs_registered)
	remote=$(counter client_mrs_remote_inv)
	ours=$(counter client_mrs_local_inv)
	"$@"
	made=$(grown client_mrs_registered "$made")
	remote=$(grown client_mrs_remote_inv "$remote")
	ours=$(grown client_mrs_local_inv "$ours")
	[ "$made" = $((remote + ours)) ] || die "of $made regions the server invalidated $remote, the client $ours"
}

invalidated() {
	# There may also be a Reply chunk of three regions.
	each_once counted client_mrs_remote_inv 16 18 counted client_mrs_local_inv 0 6 by_size 32768 8
}
not_invalidated() {
	each_once counted client_mrs_remote_inv 0 0 counted client_mrs_local_inv 16 24 by_size 32768 8
}
# Each READ is first answered with an error, which invalidates nothing. It then has a Reply chunk of three regions, of
# which the server invalidates one. (With an adapter that has large regions, the Reply chunk is one region.)
sometimes_invalidated() {
	echo 0 >$KNOBS/server_max_writes
	each_once counted client_resends 8 8 counted client_mrs_remote_inv 16 18 \
		counted client_mrs_local_inv 8 32 by_size 32768 8
}

# First the server invalidates each handle that the client offers. Then some of the answers are errors, which invalidate
# nothing. Finally the server invalidates no handle, because the client offers none.
# Covers: V2-CHK-03 V2-CHK-04 V2-CHK-06 V2-CHK-07 V2-CHK-10
case_v2-invalidation() {
	local param=/sys/module/rpcrdma/parameters/remote_invalidation
	knobs
	on_v2 3 invalidated
	with_mount 3 sometimes_invalidated
	before_case
	echo N >$param
	on_v2 3 not_invalidated
}

# healing <knob> <value> <error> <command...>: run the command while the knob makes the server answer with this
# error. The client must send the Calls again in another form, so that the command
# succeeds.
healing() {
	local error=$3
	echo "$2" >"$KNOBS/$1"
	shift 3
	refused_with "$error" 1 $ANY counted client_resends 1 $ANY counted client_bad_replies 0 0 \
		counted client_connects 0 0 "$@"
}

# refused_read <code>: make a READ with a Write chunk, to which the server answers with this RDMA
# error. Print the result of the system call. No other Call is sent meanwhile.
refused_read() {
	echo "$1" >$KNOBS/server_fail_code
	fault server_fail 0
	python3 -I -S - $KNOBS/server_fail/times "$MNT/by" $EXPORT/by <<-'EOF'
		import errno, mmap, os, sys

		times, path, original = sys.argv[1:]
		with open(original, "rb") as f:
		    data = f.read()
		buffer = mmap.mmap(-1, len(data))
		fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
		with open(times, "w") as f:
		    f.write("1")
		try:
		    count = os.preadv(fd, [buffer], 0)
		    print("all" if count == len(data) and buffer[:] == data else f"{count} bytes, or wrong ones")
		except OSError as e:
		    print(errno.errorcode[e.errno])
	EOF
}

# refused_so <code> <its name> <Calls sent again> <result>: let the server answer a READ with this error code,
# and check how often the client sends the Call again, and the result of the READ
refused_so() {
	local said
	echo "code $1:"
	said=$(refused_with "$2" 1 1 counted client_resends "$3" "$3" counted client_error_replies 1 1 refused_read "$1")
	case $said in "$4"*) ;; *) die "code $1: READ returns $said, not $4" ;; esac
	by_size 32768 1
}

each_error() {
	by_size 32768 1
	refused_so 2 BAD_XDR 0 EIO
	refused_so 3 INVAL_HTYPE 0 EIO
	refused_so 9 SYSTEM 0 EIO
	refused_so 5 WRITE_CHUNKS 1 all
}

# Test how the client reacts to error codes that its own Calls normally do not cause. A knob makes
# the server send them. (For example, the client never sends two Write chunks, and if our server
# accepts none, it answers REPLY_RESOURCE. So without the knob, the client never gets WRITE_CHUNKS.)
# Covers: V2-ERR-08 V2-ERR-10 V2-ERR-15 V2-ERR-24 G-23
case_v2-errors() { knobs; counted client_connects 1 1 with_mount 3 each_error; }

# Covers: V2-ERR-11 V2-ERR-12 V2-ERR-28 G-23
case_v2-heal-read-chunks() { knobs; with_mount 3 healing server_max_reads 0 READ_CHUNKS copy_some; }

# If the server accepts no Write chunks, it answers REPLY_RESOURCE. The client must then send the
# Call again, with a Reply chunk instead.
# Covers: V2-ERR-14 V2-ERR-20 V2-ERR-21 G-23
case_v2-heal-write-chunks() { knobs; with_mount 3 healing server_max_writes 0 REPLY_RESOURCE copy_some; }

long_lists() {
	ls -U "$MNT/entries" >/tmp/entries
	[ "$(wc -l </tmp/entries)" = 5000 ] || die "$(wc -l </tmp/entries) entries, not 5000"
	copy_some
}

# Covers: V2-ERR-20 V2-ERR-21 V2-PRP-13 G-23
case_v2-heal-reply-resource() { knobs; with_mount 3 healing client_shrink_reply 4096 REPLY_RESOURCE long_lists; }

# heal_compounds: test errors that the server sends before it executes the Call
heal_compounds() {
	healing server_max_reads 0 READ_CHUNKS copy_some
	before_case
	healing server_max_writes 0 REPLY_RESOURCE copy_some
}

# Covers: V2-ERR-11 G-23
case_v2-heal-v42() { knobs; with_mount 4.2 heal_compounds; }

# heal_v40: also test errors that the server sends after it has executed the Call, because the results
# do not fit. NFSv4.0 has no sessions, so nfsd simply executes the Call again when it is sent again.
heal_v40() {
	heal_compounds
	before_case
	healing client_shrink_reply 4096 REPLY_RESOURCE long_lists
}

# Covers: V2-ERR-20 G-23
case_v2-heal-v40() { knobs; with_mount 4.0 heal_v40; }

# heal_anew <knob> <error> <command...>: with a session, the transport sends a
# COMPOUND again that the server has executed. nfsd then finds the session's slot used, and no Reply
# in the cache (NFS4ERR_RETRY_UNCACHED_REP). So NFS sends a new COMPOUND, which succeeds because the
# knob is then off.
heal_anew() {
	local knob=$1 error=$2 pid
	shift 2
	errors_begin
	echo 4096 >"$KNOBS/$knob"
	"$@" &
	pid=$!
	until_true 60 errors_have "$error" || die "no error"
	echo $UNLIMITED >"$KNOBS/$knob"
	ends 120 $pid || die "the application has seen it"
}

heal_sessions() { heal_anew client_shrink_reply REPLY_RESOURCE long_lists; }

# Covers: V2-ERR-20 G-23
case_v2-heal-session() { knobs; counted client_bad_replies 0 0 counted client_connects 1 1 with_mount 4.2 heal_sessions; }

stat_fails() {
	local out
	! out=$(stat "$MNT/by" 2>&1) || die "stat succeeds"
	case $out in *"Input/output error"*) ;; *) die "not the error expected: $out" ;; esac
}

# dd_fails <option...>: does dd end with an error when it copies 32K?
dd_fails() {
	! dd bs=32k count=1 "$@" 2>/tmp/dd.err || die "$* succeeds"
	grep -q "Input/output error" /tmp/dd.err || die "$*: $(cat /tmp/dd.err)"
}

no_cure() {
	touch "$MNT/by"
	echo 3 >/proc/sys/vm/drop_caches
	fault server_fail 1
	refused_with SYSTEM 1 1 counted client_resends 0 0 counted client_bad_replies 1 1 stat_fails
	stat "$MNT/by"
	# The server accepts no Write chunk, and no segment in any other chunk. So there is no form in which a WRITE or a
	# READ of 32K can be sent.
	head -c 32768 /dev/urandom >$EXPORT/unread
	echo 0 >$KNOBS/server_max_writes
	echo 0 >$KNOBS/server_max_segs
	counted client_bad_replies 1 99 dd_fails if=/dev/zero of="$MNT/by" oflag=direct
	counted client_bad_replies 1 99 dd_fails if="$MNT/unread" of=/dev/null iflag=direct
	echo $UNLIMITED >$KNOBS/server_max_writes
	echo $UNLIMITED >$KNOBS/server_max_segs
	by_size 32768 1
}

# Covers: V2-ERR-22 V2-ERR-23 V2-ERR-24
case_v2-no-cure() {
	knobs
	MOUNT_OPTS=noac counted client_connects 1 1 with_mount 3 no_cure
}

# A mount with the server's IPv6 address uses version 2, and the data are right.
# Covers: RPB-01 V2-NEG-05 V2-NEG-13
case_v2-ipv6() {
	local side file
	until_true 30 nobody_shown || die "of former mounts: $(ls $DEBUG/client $DEBUG/server)"
	for VERS in 3 4.2; do
		nfs_mount $VERS "" "[$SERVER6]"
		grep " $MNT .*[,( ]proto=rdma6[, ].*addr=${SERVER6}[, ]" /proc/mounts ||
			die "not by IPv6: $(grep " $MNT " /proc/mounts)"
		[ "$(shown client) $(shown server)" = "1 1" ] || die "not one file each: $(ls $DEBUG/client $DEBUG/server)"
		for side in client server; do
			file=$(echo $DEBUG/$side/*)
			case ${file##*/} in "[$SERVER6]:"*) ;; *) die "it is called $file" ;; esac
			[ "$(field state "$file") $(field version "$file") $(field peer_spoke "$file")" = "up 2 1" ] ||
				die "not version 2: $(cat "$file")"
		done
		SCALE=0.3 checked small data direct
		nfs_umount
		until_true 30 nobody_shown || die "left behind: $(ls $DEBUG/client $DEBUG/server)"
	done
}

sent_again() { [ "$(grep -c xprt_rdma_timeout: $TRACE/trace)" -ge 1 ] && [ "$(grown client_connects "$1")" -ge 2 ]; }

# A Call without a Reply is sent again, but only on a new connection, which uses version 2, too.
# Covers: V2-CRD-09 V2-NEG-17
case_v2-retransmission() {
	local connects settled pid
	ice_up
	ice_mount vers=3,nolock,hard,timeo=20,retrans=5
	dd if=/dev/zero of=$MNT/out bs=4k count=1 oflag=direct 2>/dev/null
	head -c 4096 /dev/urandom >/tmp/again
	connects=$(counter client_connects) settled=$(counter client_v2_connects)
	trap 'fsfreeze -u /ice' EXIT
	fsfreeze -f /ice
	trace_begin
	dd if=/tmp/again of=$MNT/out bs=4k count=1 oflag=direct conv=notrunc 2>/dev/null &
	pid=$!
	until_true 60 sent_again "$connects" || die "the Call is not sent again on two more connections"
	fsfreeze -u /ice
	trap - EXIT
	wait $pid || die "the hard mount saw an error"
	cmp /tmp/again /ice/out || die "other data was written"
	awk '/ xprt_rdma_connect: / { conns++ }
		match($0, / xprt_rdma_send: xid=0x[0-9a-f]*/) {
			xid = substr($0, RSTART, RLENGTH)
			if (xid ~ /=0x0*$/)
				next
			if (xid in sent && sent[xid] == conns) {
				print "twice on one connection:" xid
				exit 1
			}
			again += xid in sent
			sent[xid] = conns
		}
		END { print again + 0 " Calls were sent again" }
		END { exit again ? 0 : 1 }' $TRACE/trace || die "not on a connection of its own"
	trace_end
	[ "$(grown client_v2_connects "$settled")" = "$(grown client_connects "$connects")" ] ||
		die "a connection is not of version 2"
	umount $MNT
	ice_down
}

# Covers: ULB-08
case_v2-nconnect() {
	[ "$KERNEL" != debian-6.1 ] || skip "NFS of 6.1 has nconnect with TCP only"
	MOUNT_OPTS=nconnect=4 counted client_v2_connects 4 4 with_mount 4.2 checked small
}

group() {
	local pages
	alone_up 2
	pages=$(<$PAGES)
	# An earlier group of tests in this guest may have provided the files.
	[ -e $EXPORT/entries ] || python3 -I -S "$CHECK" provide $EXPORT
	run_all_cases
	before_case
	echo "$pages" >$PAGES
	group_end
}
