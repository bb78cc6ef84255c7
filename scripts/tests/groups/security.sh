# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Authentication and privacy: Kerberos with a key distribution centre in the guest, AUTH_SYS, and TLS, which is not
# supported.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"

REALM=LAB.TEST
NAME=server.lab.test
KEYTAB=/etc/krb5.keytab
CACHE_DIR=/tmp

# nfs/$NAME is the principal of the server and also of the client's machine. idmapd.conf maps it to
# root.
kerberos_config() {
	hostname $NAME
	printf '%s %s\n' 127.0.0.1 localhost $SERVER $NAME >/etc/hosts
	cat >/etc/krb5.conf <<-END
	[libdefaults]
	default_realm = $REALM
	dns_lookup_kdc = false
	dns_lookup_realm = false
	rdns = false
	[realms]
	$REALM = {
	kdc = 127.0.0.1
	}
	[domain_realm]
	.lab.test = $REALM
	END
	cat >/etc/krb5kdc/kdc.conf <<-END
	[realms]
	$REALM = {
	database_name = /run/kdc/principal
	key_stash_file = /run/kdc/stash
	}
	END
	cat >/etc/idmapd.conf <<-END
	[General]
	Domain = lab.test
	Local-Realms = $REALM
	[Translation]
	Method = nsswitch
	GSS-Methods = static,nsswitch
	[Static]
	nfs/$NAME@$REALM = root
	END
}

kerberos_up() {
	local log=/lab/log/$ROLE
	command -v krb5kdc kinit >/dev/null || die "install krb5-kdc and krb5-user"
	mkdir -p "$log" /run/kdc
	kerberos_config
	kdb5_util create -s -r $REALM -P lab >"$log/kdb5.log" 2>&1 || die "no Kerberos database"
	kadmin.local >"$log/kadmin.log" 2>&1 <<-END
	addprinc -randkey nfs/$NAME
	addprinc -randkey daemon
	ktadd -k $KEYTAB nfs/$NAME
	ktadd -k /run/kdc/daemon.keytab daemon
	END
	[ -s $KEYTAB ] || die "no keytab: $(tail -n 1 "$log/kadmin.log")"
	chown daemon /run/kdc/daemon.keytab
	chmod 755 /run/kdc
	krb5kdc -P /run/kdc/pid
	# Run the daemons in the foreground, so that they write their messages to stderr. By default, gssd waits five
	# seconds for the server, which is too short on a busy host.
	rpc.gssd -f -v -T 60 -p /var/lib/nfs/rpc_pipefs -D 9>&- >"$log/gssd.log" 2>&1 &
	rpc.svcgssd -f -v 9>&- >"$log/svcgssd.log" 2>&1 &
	# With Kerberos, NFSv4 uses names of users instead of numbers.
	rpc.idmapd -f -v -p /var/lib/nfs/rpc_pipefs 9>&- >"$log/idmapd.log" 2>&1 &
	until_true 60 kinit -k -t $KEYTAB -c /run/kdc/probe nfs/$NAME || die "the key distribution centre does not answer"
	exportfs -o "rw,no_root_squash,insecure,fsid=0,no_subtree_check,sec=sys:krb5:krb5i:krb5p" "*:$EXPORT"
}

# secure_mount <version> <flavour> [options]: mount, and check the flavour, because NFS may use another flavour without
# a message. On a busy host, the daemons may reach their own time limits, and the mount is refused. So try again for up
# to 240 s.
secure_mount() {
	until_true 240 nfs_mount "$1" "sec=$2${3:+,$3}" $NAME || die "no mount with sec=$2"
	grep -q " $MNT .*[,( ]sec=$2[, ]" /proc/mounts || die "not sec=$2: $(grep " $MNT " /proc/mounts)"
	xprt_line | grep -q '^rdma ' || die "no RDMA transport"
}

# moved <counter...>: print the sum of the counters
moved() {
	local name sum=0
	for name; do sum=$((sum + $(counter "$name"))); done
	echo $sum
}

# flavour <flavour>: make and rename files, and read and write data of odd sizes at odd offsets, in
# both versions of the protocol. krb5i and krb5p protect all arguments and results, so no data item
# may be taken out of them and sent in a chunk of its own.
flavour() {
	flavoured "$1" 1
	[ "$MODULE" = ours ] || return 0
	highest 2
	flavoured "$1" 2
	placing "$1" 3
	placing "$1" 4.1
	highest 1
}

# placing <flavour> <version of NFS>: make WRITEs of many sizes. The server's Receives have targets
# (pages into which data are placed). If krb5i or krb5p protects a WRITE, its data are not placed:
# the whole message is sent as one stream, in several Sends.
PAGES=/sys/module/rpcrdma/parameters/rtx_pages
placing() {
	local placed groups was
	was=$(<$PAGES)
	echo 4 >$PAGES
	# shellcheck disable=SC2064
	trap "echo $was >$PAGES" EXIT
	secure_mount "$2" "$1"
	placed=$(counter client_calls_placed) groups=$(counter client_calls_group)
	python3 -I -S "$TOP/scripts/tests/peers/shortlist.py" sizes "$MNT" $EXPORT 4096 28672 65536 131072 ||
		die "version $2 with $1"
	placed=$(($(counter client_calls_placed) - placed)) groups=$(($(counter client_calls_group) - groups))
	echo "version $2 with $1: $groups Calls in several Sends, $placed with data placed"
	nfs_umount
	trap - EXIT
	echo "$was" >$PAGES
	[ "$groups" -gt 5 ] || die "only $groups Calls were sent in several Sends"
	case $1 in
	krb5) [ "$placed" -gt 5 ] || die "only $placed WRITEs were placed" ;;
	*) [ "$placed" = 0 ] || die "the data of $placed protected messages were placed" ;;
	esac
}

# flavoured <flavour> <version of the protocol>: use the flavour on mounts of NFSv3 and NFSv4.2
flavoured() {
	local v v2 items long manifest sections
	for v in 3 4.2; do
		# Leave out the section "names" with 4.2: with krb5p, nfsd of some kernels cannot
		# make a symlink with 4000 bytes (see case_krb5p-long-link).
		sections="names small"
		[ $v = 3 ] || sections="small direct"
		v2=$(counter client_v2_connects)
		secure_mount $v "$1"
		v2=$(($(counter client_v2_connects) - v2))
		[ $((v2 > 0)) = $(($2 - 1)) ] || die "$v2 connections are of version 2"
		manifest=/lab/manifest.$1.$v.$2
		items=$(moved client_calls_read_chunk client_replies_write_chunk)
		long=$(moved client_calls_long client_replies_long client_calls_group client_replies_group)
		# shellcheck disable=SC2086
		python3 -I -S "$CHECK" $sections --vers $v --mnt $MNT --seed $((RANDOM + 1)) --scale 0.05 \
			--manifest "$manifest" || die "version $v"
		items=$(($(moved client_calls_read_chunk client_replies_write_chunk) - items))
		long=$(($(moved client_calls_long client_replies_long client_calls_group client_replies_group) - long))
		echo "version $v over $2: $items messages with data items in chunks, $long long ones"
		xprt_line
		nfs_umount
		python3 -I -S "$CHECK" verify "$manifest" $EXPORT
		[ "$MODULE" = ours ] || continue
		case $1 in
		# In version 2 of the protocol, some WRITEs are sent in several Sends instead of having chunks.
		krb5)
			[ $items -gt 5 ] && [ $((items + long)) -gt 20 ] ||
				die "version $v: $items data items in chunks, $long long messages"
			;;
		*)
			[ $items = 0 ] || die "version $v: a data item was taken out of a protected message"
			[ $long -gt 20 ] || die "version $v: only $long long messages" ;;
		esac
	done
}

# Tries: RTX-61
# Covers: MEM-14 EXP-34
case_krb5() { flavour krb5; }

# Tries: RTX-61
# Covers: MEM-14 MEM-15 EXP-34 G-27
case_krb5i() { flavour krb5i; }

# Tries: RTX-61
# Covers: MEM-14 MEM-15 EXP-34 G-27
case_krb5p() { flavour krb5p; }

inline_calls_above() { [ "$(counter client_calls_inline)" -gt "$1" ]; }

# The chunks of a WRITE and of a READ contain only data of the file. RPC headers with their
# verifiers are inline, and so are Calls without data.
# Covers: MEM-16
case_control-inline() {
	local chunks out in
	[ "$MODULE" = ours ] || skip "the in-tree module does not count these"
	# With ACLs, NFSv3 would also request the ACL of the new file, with a Reply chunk. So mount
	# without ACLs.
	secure_mount 3 krb5 noacl
	echo >$MNT/item
	chunks=$(moved client_calls_read_chunk client_calls_long client_replies_long)
	out=$(xprt_field 14) in=$(xprt_field 15)
	dd if=/dev/urandom of=$MNT/item bs=65536 count=1 conv=notrunc oflag=direct 2>/dev/null
	dd if=$MNT/item of=/dev/null bs=65536 count=1 iflag=direct 2>/dev/null
	[ $(($(xprt_field 14) - out)) = 65536 ] || die "$(($(xprt_field 14) - out)) bytes offered for a WRITE of 65536"
	[ $(($(xprt_field 15) - in)) = 65536 ] || die "$(($(xprt_field 15) - in)) bytes came for a READ of 65536"
	chunks=$(($(moved client_calls_read_chunk client_calls_long client_replies_long) - chunks))
	[ $chunks = 1 ] || die "$chunks Calls have chunks, not the WRITE alone"

	nfs_umount
}

# The Call that destroys a GSS context is inline. Another mount of the server keeps the RPC client
# that sends this Call. Without the other mount, unmounting would end this RPC client, and with it
# the Call, often before it is sent.
# Covers: MEM-16
case_context-end() {
	local chunks inline
	[ "$MODULE" = ours ] || skip "the in-tree module does not count these"
	nfs_mount 3 sec=sys,noacl $NAME /mnt/other
	secure_mount 3 krb5 noacl
	echo >$MNT/item
	chunks=$(moved client_calls_read_chunk client_calls_long client_replies_long client_replies_write_chunk)
	inline=$(counter client_calls_inline)
	nfs_umount
	until_true 40 inline_calls_above "$inline" || die "no Call has ended the context"
	[ "$(moved client_calls_read_chunk client_calls_long client_replies_long client_replies_write_chunk)" = "$chunks" ] ||
		die "a control message has a chunk"
	nfs_umount /mnt/other
}

# Make READs, WRITEs and symlinks of many lengths around the inline thresholds. If the client did not take the length of
# a verifier or a GSS trailer into account, a Reply would be too large for its Receive.
# Covers: MEM-17
case_thresholds() {
	around 3500
	[ "$MODULE" = ours ] || return 0
	highest 2
	around 15800
	highest 1
}

# around <length>: test lengths from this one to 500 bytes more
around() {
	local sec before inline
	before=$(counter server_reply_too_large)
	for sec in krb5 krb5i krb5p; do
		secure_mount 3 $sec
		inline=$(counter client_replies_inline)
		timeout 200 python3 -I -S - $MNT $sec "$1" <<-'END' || die "$sec"
		import mmap, os, random, sys
		mnt, sec, low = sys.argv[1], sys.argv[2], int(sys.argv[3])
		rng = random.Random(sec)
		body = rng.randbytes(20480)
		path = f"{mnt}/threshold-{sec}-{low}"
		fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)
		buf = mmap.mmap(-1, 20480)
		buf[:] = body
		os.pwrite(fd, buf, 0)
		for n in range(low, low + 500, 4):
		    into = mmap.mmap(-1, 20480)
		    got = os.preadv(fd, [memoryview(into)[:n]], 0)
		    if got != n or into[:n] != body[:n]:
		        sys.exit(f"FAIL: {sec}: a READ of {n} gave {got} bytes, or wrong ones")
		for n in range(low, low + 500, 50):
		    os.pwrite(fd, memoryview(buf)[1:n + 1], 0)
		    if open(path, "rb", buffering=0).read(n) != body[1:n + 1]:
		        sys.exit(f"FAIL: {sec}: a WRITE of {n}")
		for n in range(low, min(low + 500, 4096), 80):
		    target = "/".join(["y" * 90] * 50)[:n]
		    os.symlink(target, f"{path}-{n}")
		    if os.readlink(f"{path}-{n}") != target:
		        sys.exit(f"FAIL: {sec}: a link of {n}")
		END
		inline=$(($(counter client_replies_inline) - inline))
		nfs_umount
		[ "$MODULE" = ours ] || continue
		# The shorter lengths must be below the threshold, so that their Replies are inline. Otherwise the test
		# has not crossed the threshold.
		[ $inline -gt 30 ] || die "$sec: only $inline inline Replies"
		echo "$1, $sec: $inline inline Replies"
	done
	[ "$(counter server_reply_too_large)" = "$before" ] || die "a Reply was larger than the client had thought"
}

# A user with a Kerberos ticket has the rights of its principal. A user without a ticket has no rights.
# Covers: MEM-14
case_ticket() {
	as_daemon() { setpriv --reuid=daemon --regid=daemon --clear-groups env KRB5CCNAME=$CACHE_DIR/krb5cc_1 "$@"; }
	rm -f $CACHE_DIR/krb5cc_*
	secure_mount 4.2 krb5p
	! as_daemon touch $MNT/no-ticket 2>/dev/null || die "a user without a ticket wrote a file"
	[ ! -e $EXPORT/no-ticket ] || die "the server let a user without a ticket write"
	as_daemon kinit -k -t /run/kdc/daemon.keytab daemon
	until_true 40 as_daemon touch $MNT/ticket ||
		die "a user with a ticket cannot write: $(as_daemon touch $MNT/ticket 2>&1)"
	[ "$(stat -c %U $EXPORT/ticket)" = daemon ] || die "the file belongs to $(stat -c %U $EXPORT/ticket)"
	nfs_umount
	rm -f $CACHE_DIR/krb5cc_*
}

# AUTH_SYS works on an export that allows it and other flavours, but not on an export that allows only krb5p.
case_sys() {
	with_mount 4.2 checked small
	MOUNT_OPTS=sec=sys with_mount 3 checked small
	mkdir -p $EXPORT/kerberos
	mountpoint -q $EXPORT/kerberos || mount -t tmpfs kerberos $EXPORT/kerberos
	exportfs -o rw,no_root_squash,insecure,no_subtree_check,fsid=7,sec=krb5p "*:$EXPORT/kerberos"
	! timeout 120 mount -t nfs -o "proto=rdma,port=$PORT,vers=3,nolock,sec=sys,retry=0" $NAME:$EXPORT/kerberos $MNT 2>/dev/null ||
		die "sec=sys where krb5p is wanted"
	timeout 120 mount -t nfs -o "proto=rdma,port=$PORT,vers=3,nolock,sec=krb5p,retry=0" $NAME:$EXPORT/kerberos $MNT ||
		die "no mount where krb5p is wanted"
	echo secret >$MNT/secret
	[ "$(cat $EXPORT/kerberos/secret)" = secret ] || die "wrong content"
	nfs_umount
	exportfs -u "*:$EXPORT/kerberos"
	exportfs -f
	# nfsd keeps files open for some seconds, and for longer on a busy machine.
	until_true 60 umount $EXPORT/kerberos || die "$EXPORT/kerberos is in use"
}

# With NFSv4.2 and krb5p, nfsd of some kernels cannot make a symlink with a text of 4000 bytes (compat.rst). The result
# must be the same over TCP and RDMA.
case_krb5p-long-link() {
	local proto to outcome=()
	to=$(head -c 4000 /dev/zero | tr '\0' x)
	for proto in tcp,port=2049 rdma,port=$PORT; do
		timeout 240 mount -t nfs -o "proto=$proto,vers=4.2,sec=krb5p,retry=1" $NAME:/ $MNT || die "no mount by $proto"
		if ln -s "$to" $MNT/link.$$ && [ "$(readlink $MNT/link.$$)" = "$to" ]; then
			outcome+=(works)
		else
			outcome+=(fails)
		fi
		rm -f $MNT/link.$$
		nfs_umount
	done
	echo "by TCP it ${outcome[0]}, by RDMA it ${outcome[1]}"
	[ "${outcome[0]}" = "${outcome[1]}" ] || die "by TCP it ${outcome[0]}, by RDMA it ${outcome[1]}"
}

# A mount with TLS is refused. A line in the log gives the reason, because this case switches on NFS debugging. The
# client must not connect without encryption instead.
case_tls() {
	local policy v t0 connects text
	connects=$(counter client_connects)
	# mount(2) does not give the reason, but NFS logs it if mounts are debugged.
	echo 1024 >/proc/sys/sunrpc/nfs_debug
	for policy in tls mtls; do
		for v in 3 4.2; do
			dmesg -C
			t0=$SECONDS
			! text=$(timeout 90 mount -t nfs -o "proto=rdma,port=$PORT,vers=$v,nolock,xprtsec=$policy" \
				"$SERVER:$([ $v = 3 ] && echo $EXPORT || echo /)" $MNT 2>&1) || die "mounted with xprtsec=$policy"
			echo "$text"
			((SECONDS - t0 < 60)) || die "xprtsec=$policy took $((SECONDS - t0)) s"
			grep -q 'incorrect mount option' <<<"$text" || die "mount says: $text"
			dmesg | grep 'Transport does not support xprtsec' || die "the log does not say why: $(dmesg | tail -n 3)"
		done
	done
	echo 0 >/proc/sys/sunrpc/nfs_debug
	[ "$(counter client_connects)" = "$connects" ] || die "something has connected"
	MOUNT_OPTS=xprtsec=none with_mount 4.2 true
}

group() {
	alone_up
	kerberos_up
	run_all_cases
	group_end
}
