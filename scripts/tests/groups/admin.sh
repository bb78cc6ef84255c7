# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The tools for administrators: rpcrdma-check finds each thing that a case breaks, and nothing else, and rpcrdma-stats
# prints what the module counts.
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/cases.sh"

TOOL=$TOP/scripts/package/rpcrdma-check
STATS=$TOP/scripts/package/rpcrdma-stats
HERE="$SERVER:/"

# The guest sees the host's configuration files through an overlay. Empty them there, so that the
# cases do not depend on them.
before_case() {
	local f
	for f in /etc/nfs.conf /etc/nfsmount.conf /etc/exports /etc/fstab; do : >$f; done
	rm -rf /etc/nfs.conf.d /etc/nfsmount.conf.d /etc/exports.d
}

# complains <words> <argument>...: rpcrdma-check prints each problem with a word in brackets. It
# must report exactly the problems with these words, in this order, and say what to type or to do for
# each. If <words> is empty, nothing may be wrong.
complains() {
	local words=$1 out rc=0 seen
	shift
	[ "$MODULE" = ours ] || skip "the tools are for our module"
	out=$(timeout $((200 * ${PATIENCE:-1})) "$TOOL" "$@" 2>&1) || rc=$?
	printf '%s\n' "--- rpcrdma-check $*" "$out"
	seen=$(sed -n 's/^WRONG  \[\([a-z-]*\)\] .*/\1/p' <<<"$out" | paste -s -d' ')
	[ "$seen" = "$words" ] || die "complains about \"$seen\", not about \"$words\""
	if [ -z "$words" ]; then
		[ $rc = 0 ] && [ "$(tail -n 1 <<<"$out")" = "Nothing is wrong." ] || die "status $rc though nothing is wrong"
	else
		[ $rc = 1 ] || die "status $rc though something is wrong"
		awk '/^WRONG / { if (want) exit 1; want = 1 } /^       (type: |do:   )./ { want = 0 } END { exit want }' <<<"$out" ||
			die "a complaint without a command"
	fi
}
# notes <word> <argument>...: nothing may be wrong, but rpcrdma-check must print a note with this
# word
notes() {
	local word=$1
	shift
	complains "" "$@" >/tmp/noted
	cat /tmp/noted
	grep -q "^note   \[$word\] " /tmp/noted || die "no note about $word"
}

# --- rpcrdma-check ------------------------------------------------------------

case_check-healthy() {
	local out
	complains "" server client "$HERE $MNT nfs proto=rdma,vers=4.2,_netdev 0 0"
	nfs_mount 4.2
	complains "" server client --try "mount -t nfs -o proto=rdma,vers=4.2 $HERE $MNT" \
		"mount -o proto=rdma6,port=$PORT,vers=3 [$SERVER6]:$EXPORT /mnt"
	grep -q "^ok     $HERE is mounted at $MNT, by RDMA (RPC-over-RDMA version 1)" <("$TOOL" client "$HERE $MNT nfs rdma") || die "does not see the mount"
	nfs_umount
	# Without "server" or "client", rpcrdma-check finds out by itself what this machine is. This
	# guest is both.
	complains "" >/tmp/noted
	grep -q 'listens for RDMA on port' /tmp/noted || die "nfsd runs, and the server is not looked at"
	out=$("$TOOL" --quiet) || die "status $? though nothing is wrong"
	[ -z "$out" ] || die "--quiet, and it speaks"
	echo "$HERE $MNT nfs proto=rdma,vers=4.2 0 0" >/etc/fstab
	notes netdev
	: >/etc/fstab
}

# without_module <command...>: run the command while the files of our module are not installed
without_module() {
	local dir
	dir=$(dirname "$(modinfo -n rpcrdma)")
	mv "$dir" /tmp/updates
	depmod
	"$@"
	mv /tmp/updates "$dir"
	depmod
}
without_both() {
	local intree
	intree=$(modinfo -n rpcrdma)
	mv "$intree" /tmp/intree
	depmod
	complains no-module client "$HERE $MNT nfs proto=rdma"
	mv /tmp/intree "$intree"
}
intree_loaded() { modprobe rpcrdma; }

case_check-module() {
	local file
	[ "$MODULE" = ours ] || skip "the tools are for our module"
	file=$(modinfo -n rpcrdma)
	server_down
	until_true 10 rmmod rpcrdma || die "rmmod"
	complains "" client "$HERE $MNT nfs proto=rdma"
	without_module complains other-module client "$HERE $MNT nfs proto=rdma"
	without_module without_both
	without_module intree_loaded
	complains other-loaded client "$HERE $MNT nfs proto=rdma"
	rmmod rpcrdma
	module_load
	cp "$file" /tmp/rpcrdma.ko
	python3 -I -S -c '
import sys
import re
data = open("/tmp/rpcrdma.ko", "rb").read()
at = re.search(rb"(?<![a-z])version=\d", data).end() - 1
open(sys.argv[1], "wb").write(data[:at] + b"7" + data[at + 1:])' "$file"
	complains old-loaded client "$HERE $MNT nfs proto=rdma"
	cp /tmp/rpcrdma.ko "$file"
	complains "" client "$HERE $MNT nfs proto=rdma"
	server_up
}

case_check-device() {
	rdma link delete lab0
	complains no-device server
	# A device on an interface that is down, and then one without an address
	ip link add du0 type dummy
	rdma link add lab1 type "$PROVIDER" netdev du0
	complains not-active server
	ip link set du0 up
	until_true 10 grep -q ACTIVE /sys/class/infiniband/lab1/ports/1/state || die "lab1 is not active"
	complains no-address server
	# When another device has an address, this is only a note.
	device_add
	until_true 10 grep -q ACTIVE /sys/class/infiniband/lab0/ports/1/state || die "lab0 is not active"
	notes no-address server
	ip addr add 10.7.0.1/24 dev du0
	complains "" server
	rdma link delete lab1
	ip link del du0
	until_true 20 nfs_mount 4.2 || die "the server does not answer again"
	nfs_umount
}

# An interface goes down while a connection breaks. rxe cannot send the message that ends the connection, and stops the
# queue pair for such messages.
case_check-stopped() {
	local writer stops=y
	[ "$PROVIDER" = rxe ] || skip "this is a fault of rxe"
	nfs_mount 4.2
	ip link set "$RDMA_NETDEV" down
	: >$MNT/stopped &
	writer=$!
	until_true 30 cm_stopped lab0 || stops=
	ip link set "$RDMA_NETDEV" up
	ip -6 addr add "$SERVER6/64" dev "$RDMA_NETDEV" nodad
	until_true 10 grep -q ACTIVE /sys/class/infiniband/lab0/ports/1/state || die "lab0 is not active"
	[ -z "$stops" ] || complains stopped server
	revive_rxe lab0 "$RDMA_NETDEV"
	ends 90 $writer || die "the write fails"
	complains "" server
	nfs_umount
	[ -n "$stops" ] || skip "this rxe stops no queue pair"
}

case_check-listener() {
	rpc.nfsd 0
	complains no-nfsd server
	rpc.nfsd 4
	complains no-listener server
	echo "rdma 20055" >/proc/fs/nfsd/portlist
	complains wrong-port server
	notes not-permanent server --port 20055
	complains "try-refused" client --try "$HERE $MNT nfs proto=rdma,vers=4.2"
	notes other-port client --try "$HERE $MNT nfs proto=rdma,port=20055,vers=4.2,_netdev"
	# nfs.conf now has a listener, but nfsd was started before that.
	printf '[nfsd]\nrdma=y\nrdma-port=%s\n' $PORT >/etc/nfs.conf
	complains wrong-port server
	nfsd_anew_by_conf
	complains "" server
	complains "" server >/tmp/noted
	! grep not-permanent /tmp/noted || die "nfs.conf has the listener"
	: >/etc/nfs.conf
}
# Restart nfsd, which makes the listener that nfs.conf describes.
nfsd_anew_by_conf() {
	rpc.nfsd 0
	rpc.nfsd 4
	{ echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || true
}

case_check-exports() {
	exportfs -ua
	complains no-exports server
	echo "$EXPORT *(rw,no_root_squash,insecure,fsid=0,no_subtree_check)" >/etc/exports
	complains not-exported server
	exportfs -ra
	complains "" server
	exportfs -u "*:$EXPORT"
	: >/etc/exports
	exportfs -o rw,no_root_squash,insecure,fsid=0,no_subtree_check "*:$EXPORT"
	complains try-export client --try "$SERVER:/nowhere $MNT nfs proto=rdma,vers=4.2"
}

# Each of these mount lines cannot work as it is written.
case_check-options() {
	local lines=() words=() o rc
	for o in proto=tcp "" vers=4.2 rdma,tcp proto=rdma,udp proto=rdma,xprtsec=tls proto=rdma,port=2049 \
		proto=rdma,vers=2 proto=rdma,nconnect=17 proto=rdma6; do
		lines+=("$HERE $MNT nfs ${o:--}")
		words+=(bad-option)
	done
	lines+=("[$SERVER6]:/ $MNT nfs proto=rdma" "$HERE $MNT nfs4 proto=rdma,vers=3" "mount -t nfs -oproto=tcp $HERE $MNT")
	lines+=("$HERE /no/such/directory nfs proto=rdma")
	complains "${words[*]} bad-option bad-option bad-option no-directory" client "${lines[@]}"
	rc=0
	"$TOOL" --nothing 2>/dev/null || rc=$?
	[ $rc = 2 ] || die "an unknown option: status $rc"
}

case_check-route() {
	complains "other-route no-route no-host" client "127.0.0.1:/ $MNT nfs proto=rdma" \
		"198.51.100.1:/ $MNT nfs proto=rdma" "nosuchhost:/ $MNT nfs proto=rdma"
}

# The interface has an MTU of 9000, but the interface at the other end has 1500, so only small
# packets arrive. siw uses TCP, whose two ends agree on a segment size that fits, so for siw this is
# only a note.
case_check-mtu() {
	ip netns add far
	trap 'ip netns del far; ip link del mt0 2>/dev/null || true' EXIT
	ip link add mt0 mtu 9000 type veth peer name mt1 mtu 9000
	ip link set mt1 netns far
	ip -n far link set mt1 mtu 1500 up
	ip -n far addr add 10.6.0.2/24 dev mt1
	ip link set mt0 up
	ip addr add 10.6.0.1/24 dev mt0
	rdma link add lab1 type "$PROVIDER" netdev mt0
	until_true 20 ping -c 1 -W 1 10.6.0.2 || die "no way to the other end"
	# With RoCE, a packet has as many bytes as both interfaces permit.
	if ! grep -q RNIC /sys/class/infiniband/lab1/node_type; then
		complains mtu client "10.6.0.2:/ $MNT nfs proto=rdma" >/tmp/noted
		cat /tmp/noted
		grep -q 'packets of 1500 bytes do' /tmp/noted || die "it does not say what arrives"
		# An MTU of 4200 is enough for 4096 bytes of data and their headers.
		ip -n far link set mt1 mtu 4200
	fi
	notes mtu client "10.6.0.2:/ $MNT nfs proto=rdma"
	ip -n far link set mt1 mtu 9000
	complains "" client "10.6.0.2:/ $MNT nfs proto=rdma"
	rdma link delete lab1
}

case_check-mounted() {
	mount -t nfs -o proto=tcp,port=2049,vers=4.2,retry=0 $HERE $MNT
	complains not-rdma client "$HERE $MNT nfs proto=rdma"
	umount $MNT
	# Stop mountd with SIGSTOP, and do not kill it. After a restart of mountd, nfsd might still
	# wait for an answer from the old one. Then the next NFSv3 mount would take a minute, over
	# TCP as well.
	# The list is not local, because the trap runs when this function has ended.
	mapfile -t mountd < <(pidof rpc.mountd | tr ' ' '\n')
	trap 'kill -CONT "${mountd[@]}"' EXIT
	kill -STOP "${mountd[@]}"
	complains no-mountd client "$SERVER:$EXPORT $MNT nfs proto=rdma,vers=3"
	kill -CONT "${mountd[@]}"
	complains "" client "$SERVER:$EXPORT $MNT nfs proto=rdma,vers=3"
}

# obeys <words> <argument>...: complain as in complains(), and execute the commands that rpcrdma-check prints
obeys() {
	complains "$@" >/tmp/obeys
	cat /tmp/obeys
	sed -n 's/^       type: //p' /tmp/obeys | sed 's/     (.*//' >/tmp/commands
	(set -x; . /tmp/commands)
}
transports() { for at; do xprt_line "$at" | cut -d' ' -f1; done | paste -s -d' '; }
# The packet filter drops what the provider needs, first by a rule and then by a policy. With the command that rpcrdma-check
# prints, a mount works. (rxe hands over a packet for its own host without the filter, so there this is not seen.)
case_check-firewall() {
	local line="$HERE $MNT nfs proto=rdma,vers=4.2" chain
	[ "$PROVIDER" != hca ] || skip "the packets of an adapter do not pass the filter"
	trap 'nft flush ruleset' EXIT
	for chain in "policy accept; udp dport 4791 drop; tcp dport $PORT counter drop" \
		"policy drop; meta l4proto { icmp, ipv6-icmp } accept; udp dport { 1-4790, 4792-65535 } accept;
			tcp dport { 1-$((PORT - 1)), $((PORT + 1))-65535 } accept"; do
		nft "flush ruleset; table inet own { chain in { type filter hook input priority 0; $chain; }; }"
		complains firewall client server "$line"
		if [ "$PROVIDER" = siw ]; then
			! timeout 5 mount -t nfs -o proto=rdma,vers=4.2,retry=0 "$HERE" $MNT || die "a mount works"
		fi
		obeys firewall client server "$line"
		complains "" client server "$line"
		nfs_mount 4.2
		nfs_umount
	done
}

# A mount uses the connections of another one of the same server, and so another transport, or fewer connections than its
# options say. rpcrdma-check names the other mount. With its commands, the mount becomes what it should be.
case_check-shared() {
	local line="$HERE /m2 nfs proto=rdma,vers=4.2" v
	mkdir -p /m2
	for v in 4.0 4.2; do
		mount -t nfs -o proto=tcp,vers=$v $HERE $MNT
		complains shared client "$HERE /m2 nfs proto=rdma,vers=$v"
		mount -t nfs -o proto=rdma,vers=$v $HERE /m2
		[ "$(transports $MNT /m2)" = "tcp tcp" ] || die "transports: $(transports $MNT /m2)"
		[ $v = 4.2 ] || umount /m2 $MNT
	done
	obeys shared client "$line" | tee /tmp/noted
	grep -qF "because $MNT is" /tmp/noted || die "it does not name $MNT"
	[ "$(transports /m2)" = rdma ] || die "the commands do not help: $(transports /m2)"

	mount -t nfs -o proto=tcp,vers=4.2 $HERE $MNT
	[ "$(transports $MNT)" = rdma ] || die "$MNT has a transport of its own"
	obeys shared client "$HERE $MNT nfs proto=tcp,vers=4.2"
	[ "$(transports $MNT)" = tcp ] || die "the commands do not help: $(transports $MNT)"
	# Another version has a transport of its own, as admin.rst says.
	mount -t nfs -o proto=rdma,vers=4.1 $HERE /m2
	[ "$(transports $MNT /m2)" = "tcp rdma" ] || die "transports: $(transports $MNT /m2)"
	complains "" client "$HERE /m2 nfs proto=rdma,vers=4.1"
	umount /m2 $MNT

	nfs_mount 4.2
	nfs_mount 4.2 nconnect=4,nosharecache $SERVER /m2
	[ "$(transports /m2)" = rdma ] || die "nconnect has an effect: $(transports /m2)"
	obeys nconnect client "$line,nconnect=4"
	[ "$(transports /m2)" = "rdma rdma rdma rdma" ] || die "the commands do not help: $(transports /m2)"
	complains "" client "$line,nconnect=4"
	umount /m2
}

# The server is dead, so a program that accesses the mount point waits until the server is back. rpcrdma-check must not
# wait.
case_check-dead-server() {
	nfs_mount 4.2
	rpc.nfsd 0
	complains no-answer client "$HERE $MNT nfs proto=rdma"
	complains no-answer client "$HERE $MNT/below nfs proto=rdma"
	nfsd_anew true
	recovers 60 "the restart of nfsd" stat -f $MNT
	nfs_umount
}

# The prompt of make shell has the commands and the manual pages that the documents name. The firmware of the guest's machine
# writes nothing to the console: it would clear the user's screen, and switch off line wrap.
case_shell() {
	local said
	said=$(MNT=/ bash --rcfile "$LAB/guest/shell.rc" -i -c \
		'type -P rpcrdma-check rpcrdma-stats; for page in 4/rpcrdma 8/rpcrdma-check 8/rpcrdma-stats; do man -w "${page%/*}" "${page#*/}"; done' 2>&1) || true
	echo "$said"
	[ "$(grep -c "^$TOP/" <<<"$said")" = 5 ] || die "commands or pages are missing"
	! grep -q $'\e' "/lab/$ROLE.console" || die "the console has escape sequences: $(grep -m 1 $'\e' "/lab/$ROLE.console" | cat -v)"
}

# --- rpcrdma-stats ------------------------------------------------------------

# Run rpcrdma-stats in each of several rounds. Each output must be valid, and each counter in it
# must lie between the values that debugfs showed before and after the run.
case_stats() {
	local dir=/lab/stats i at
	[ "$MODULE" = ours ] || skip "the tools are for our module"
	mkdir -p $dir
	highest 2
	nfs_mount 4.2
	echo "$SECONDS: mounted"
	nfs_mount 3 nconnect=2 $SERVER /mnt/other
	echo "$SECONDS: mounted by NFSv3, too"
	for i in {1..16}; do
		# The first rounds write a large file, read it, write it once more, and make small
		# files. The last three rounds transfer nothing.
		case $i in
		[1-4] | 9) dd if=/dev/zero of=$MNT/large bs=1M count=$((4 * i)) oflag=direct 2>/dev/null ;;
		[5-8]) dd if=$MNT/large of=/dev/null bs=256k count=$((8 * i)) iflag=direct 2>/dev/null ;;
		1[0-3]) for at in {1..20}; do : >/mnt/other/small.$i.$at; done ;;
		esac
		cat $COUNTERS >$dir/$i.before
		timeout $((60 * ${PATIENCE:-1})) "$STATS" --output $dir/$i.prom || die "status $?"
		timeout $((60 * ${PATIENCE:-1})) "$STATS" --json >$dir/$i.json || die "status $?"
		cat $COUNTERS >$dir/$i.after
		echo "${EPOCHREALTIME/,/.}" >$dir/$i.time
	done
	[ "$(echo $dir/*.prom)" = "$(find $dir -name '*.prom*' -o -name '.*.prom*' | sort | paste -s -d' ')" ] ||
		die "--output leaves files behind: $(ls -a $dir)"
	python3 -B "$TOP/scripts/tests/analysers/prometheus.py" $dir "$(cat /sys/module/rpcrdma/version)" \
		"$(shown client)" "$(shown server)" || die "see above"
	umount /mnt/other
	nfs_umount
	highest 1
}

# When the module is not loaded, rpcrdma-stats says so, in both formats of its output (text and JSON).
case_stats-unloaded() {
	local rc=0 text
	[ "$MODULE" = ours ] || skip "the tools are for our module"
	server_down
	until_true 10 rmmod rpcrdma || die "rmmod"
	text=$("$STATS") || rc=$?
	[ "$rc $(grep -v '^#' <<<"$text")" = "1 rpcrdma_loaded 0" ] || die "status $rc: $text"
	rc=0
	text=$("$STATS" --json) || rc=$?
	[ "$rc $(python3 -I -S -c 'import json, sys; print(json.load(sys.stdin))' <<<"$text")" = "1 {'loaded': False}" ] ||
		die "status $rc: $text"
	rc=0
	"$STATS" --yaml 2>/dev/null || rc=$?
	[ $rc = 2 ] || die "an unknown option: status $rc"
	module_load
	server_up
}

# --- listeners ----------------------------------------------------------------

listeners() { python3 -I -S "$TOP/scripts/tests/peers/listeners.py" "$@" 2>&1; }
ports() { awk '$1 == "rdma" { print $2 }' /proc/fs/nfsd/portlist | sort -u | paste -s -d' '; }

# A listener can be added while nfsd runs, and clients can use it at once. While nfsd has threads,
# the kernel refuses a request to remove the new listener. A restart of nfsd removes it, and a mount
# that uses the old listener continues.
# Covers: RPB-09
case_listener() {
	local rc=0 text t0
	nfs_mount 4.2
	echo data >$MNT/listener
	exec 7<$MNT/listener
	echo "rdma 20055" >/proc/fs/nfsd/portlist
	[ "$(ports)" = "$PORT 20055" ] || die "listeners: $(ports)"
	mkdir -p /mnt/other
	mount -t nfs -o proto=rdma,port=20055,vers=3,nolock,retry=0 "$SERVER:$EXPORT" /mnt/other || die "nobody listens"
	[ "$(cat /mnt/other/listener)" = data ] || die "wrong content"
	umount /mnt/other

	# Try to set the listeners again, without the new one.
	text=$(listeners "0.0.0.0@$PORT" "::@$PORT") || rc=$?
	[[ "$rc $text" == "1 "*"busy"* ]] || die "the kernel answers: $rc $text"
	[ "$(ports)" = "$PORT 20055" ] || die "listeners: $(ports)"
	t0=$SECONDS
	nfsd_anew true
	[ "$(ports)" = "$PORT" ] || die "listeners: $(ports)"
	recovers 60 "the restart of nfsd" dd if=/dev/zero of=$MNT/listener2 bs=4k count=1 conv=fsync
	[ "$(cat <&7)" = data ] || die "wrong content"
	exec 7<&-
	echo "$((SECONDS - t0)) s until the mount works again"
	rc=0
	text=$(timeout $((60 * ${PATIENCE:-1})) mount -t nfs -o proto=rdma,port=20055,vers=3,nolock,soft,retry=0 "$SERVER:$EXPORT" \
		/mnt/other 2>&1) || rc=$?
	[ $rc != 0 ] && grep -q refused <<<"$text" || die "another listener's port: status $rc, $text"
	nfs_umount
}

# nfsd registers its TCP port with rpcbind, but not its RDMA listeners. If an NFSv3 mount names the
# port of the server, its transport does not ask rpcbind for the port. (admin.rst says both.)
case_rpcbind() {
	local text
	text=$(rpcinfo) || die "rpcbind does not answer"
	echo "$text"
	grep -q ' tcp .*nfs' <<<"$text" || die "nfsd is not registered, so this tells nothing"
	! grep -q rdma <<<"$text" || die "an RDMA listener is registered: admin.rst says that it is not"
	nfs_mount 3
	[ "$(xprt_field 2)" = 0 ] || die "the transport has asked rpcbind"
	nfs_umount
}

# --- documents ----------------------------------------------------------------

# systemctl <what> nfs-server: the guest has no systemd
systemctl() {
	case "$1 $2" in
	"stop nfs-server") rpc.nfsd 0 ;;
	"start nfs-server" | "restart nfs-server") nfsd_anew_by_conf ;;
	*) die "systemctl $*" ;;
	esac
}
# Restart nfsd without a listener
nfsd_bare() {
	: >/etc/nfs.conf
	nfsd_anew_by_conf
}
# Unmount everything and stop nfsd, so that the module can be unloaded.
module_idle() {
	umount -a -t nfs,nfs4
	rpc.nfsd 0
	until_true 30 grep -q '^rpcrdma [0-9]* 0 ' /proc/modules || die "in use: $(grep ^rpcrdma /proc/modules)"
}
# Let a client open a file, and restart nfsd. The client may then reclaim its state.
nfsd_in_grace() {
	nfs_mount 4.2
	exec 7>$MNT/grace
	: >/etc/nfs.conf
	rpc.nfsd 0
	rpc.nfsd 4
	echo "rdma $PORT" >/proc/fs/nfsd/portlist
}
# Add the addresses that the section "Several paths" of admin.rst uses. (case_documents() has added
# 192.0.2.1.) This guest is both client and server.
second_link() {
	ip addr add 192.0.2.2/24 dev "$RDMA_NETDEV"
	ip addr add 198.51.100.1/24 dev "$RDMA_NETDEV"
	ip addr add 198.51.100.2/24 dev "$RDMA_NETDEV"
}
no_paths() { echo 'default; 192.0.2.1' >/proc/sys/sunrpc/rdma_paths; }
two_each() {
	local line
	for line in 'source 192.0.2.2:' 'destination 192.0.2.1:' 'source 198.51.100.2:' 'destination 198.51.100.1:'; do
		[ "$(cat $DEBUG/client/* | grep -c -F "$line")" = 2 ] || return 1
	done
}
# Check that the mount has four connections, two on each path. Then unmount, empty the table of
# paths, and remove the addresses that second_link() has added.
on_both_links() {
	until_true 20 two_each || die "not two connections on each path: $(grep -H -E '^(source|destination)' $DEBUG/client/*)"
	umount /mnt
	no_paths
	ip addr del 192.0.2.2/24 dev "$RDMA_NETDEV"
	ip addr del 198.51.100.2/24 dev "$RDMA_NETDEV"
	ip addr del 198.51.100.1/24 dev "$RDMA_NETDEV"
}
inline_is() { [ "$(cat /proc/sys/sunrpc/rdma_max_inline_read)" = "$1" ]; }

# settle: restore the state in which each block of commands begins. The server runs and listens, no
# NFS is mounted, and the events of the module are not traced.
settle() {
	cd /
	module_loaded || modprobe rpcrdma
	module_place
	echo 0 >/sys/kernel/tracing/events/rpcrdma/enable
	[ "$(ports)" = "$PORT" ] || nfsd_anew_by_conf
	[ "$(ports)" = "$PORT" ] || echo "rdma $PORT" >/proc/fs/nfsd/portlist
	umount -a -t nfs,nfs4
}

# Run the commands in the documents for administrators. documents.list says which of them are left
# out or changed, and why. The commands use the name "server" and the address 192.0.2.1, which are
# those of this guest.
case_documents() {
	local f n=0
	[ "$MODULE" = ours ] || skip "the documents are about our module"
	mkdir -p /tmp/documents $EXPORT/export /usr/local/sbin
	ln -sf "$TOOL" "$STATS" /usr/local/sbin/
	ip addr add 192.0.2.1/24 dev "$RDMA_NETDEV"
	echo "192.0.2.1 server" >>/etc/hosts
	: >/etc/fstab
	python3 -I -S -B "$TOP/scripts/tests/analysers/documents.py" --write /tmp/documents
	for f in /tmp/documents/*.sh; do
		settle
		head -n 1 "$f"
		# Each block may take 100 seconds. A mount takes two minutes if its server does not
		# answer, so such a block fails.
		# shellcheck source=/dev/null
		(set -x; . "$f") >/tmp/documents/out 2>&1 &
		ends 100 $! || { tail -n 40 /tmp/documents/out; die "$(head -n 1 "$f") fails: $(sed 1d "$f" | paste -s -d';')"; }
		n=$((n + 1))
	done
	settle
	ip addr del 192.0.2.1/24 dev "$RDMA_NETDEV"
	highest 1
	echo "$n blocks"
}

# The bpftrace programs of admin.rst measure the time from one tracepoint to the next. The tracepoints and their fields
# must exist. For most RPCs, the tracepoints must occur in the order that the program expects, and the fields with which
# the program identifies an RPC must have the same values in each.
case_bpftrace() {
	[ "$MODULE" = ours ] || skip "the in-tree module has other events"
	highest 1
	trace_begin
	nfs_mount 4.2
	dd if=/dev/zero of=$MNT/stages bs=256k count=16 oflag=direct 2>/dev/null
	dd if=$MNT/stages of=/dev/null bs=256k iflag=direct 2>/dev/null
	nfs_umount
	cp $TRACE/trace /tmp/stages
	trace_end
	python3 -I -S -B "$TOP/scripts/tests/analysers/stages.py" "$TOP/Documentation/admin.rst" /sys/kernel/tracing/events \
		/tmp/stages || die "see above"
}

group() {
	alone_up
	run_all_cases
	group_end
}
