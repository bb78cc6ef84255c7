#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Test rpcrdma-check and rpcrdma-stats on machines that the guests of the group admin cannot imitate: with another
# distribution's directories, with Secure Boot, with a bond of IPoIB, with a server that is dead. This needs no guest: the
# tools are copied, their paths lead to a directory of the test, and the commands that they start are stubs. Most tests
# run with dash, with bash, and with the shell and the programs of busybox.
# Prints "ok <name>" or "not ok <name> <why>" for each test. The status is 1 if any failed.
#
# usage: tools.sh [test...]
set -uo pipefail

# mounts.sh runs this script in a mount namespace of its own. If a tool mounts something although it
# should not, the mount ends with the namespace.
# shellcheck source=scripts/selftest/mounts.sh
. "$(dirname "$0")/mounts.sh"
trap 'rm -rf --one-file-system "$tmp"' EXIT
export root=$tmp/root PATH=$tmp/bin:/usr/bin:/bin
line='server:/export /mnt nfs proto=rdma,_netdev'

# file <path> <line>...: a file of the machine
file() {
	mkdir -p "$(dirname "$root/$1")"
	printf '%s\n' "${@:2}" >"$root/$1"
}
# stub <name> <line of a script>...: a command of the machine
stub() {
	printf '%s\n' '#!/bin/sh' "${@:2}" >"$tmp/bin/$1"
	chmod 755 "$tmp/bin/$1"
}

# A machine that is client and server, and on which nothing is wrong: RoCE on eth0, with 192.0.2.1.
# The server of its mounts is at 192.0.2.9.
fresh() {
	rm -rf --one-file-system "${tmp:?}/bin" "$root"
	mkdir -p "$tmp/bin" "$root/mnt" "$root/run"
	file proc/fs/nfsd/threads 8
	file proc/fs/nfsd/portlist "tcp 2049" "rdma 20049"
	file var/lib/nfs/etab "/export	192.0.2.0/24(rw)"
	file etc/nfs.conf "rdma=y"
	file etc/exports "/export 192.0.2.0/24(rw)"
	file etc/fstab
	file proc/cmdline quiet
	file proc/self/mountinfo "22 1 0:20 / / rw - ext4 /dev/sda1 rw"
	file proc/self/mountstats "device /dev/sda1 mounted on / with fstype ext4"
	file sys/module/rpcrdma/version 0.9
	file sys/kernel/debug/rpcrdma/counters "client_connects 3" "server_wrong_kernel 0"
	mkdir -p "$root/sys/kernel/debug/rpcrdma/client" "$root/sys/kernel/debug/rpcrdma/server"
	device mlx5_0 eth0 2 "1: CA"
	stub id 'echo 0'
	stub mount 'exit 32'
	stub umount 'exit 32'
	stub modinfo 'case $* in *-n*) echo /lib/modules/1/updates/rpcrdma.ko ;; *version*) echo 0.9 ;; *sig_id*) echo PKCS#7 ;;' \
		'*signer*) echo "DKMS module signing key" ;; esac'
	stub dmesg ':'
	stub rdma ':'
	stub ibv_devinfo 'echo "device_cap_flags: 0x1"; echo MEM_MGT_EXTENSIONS'
	stub nfsconf 'sed -n "s/^$3=//p" $root/etc/nfs.conf'
	stub getent 'echo "192.0.2.9 STREAM server"'
	stub rpcinfo ':'
	# Addresses and routes are in files: "interface address", and "address interface".
	file addresses "eth0 192.0.2.1/24"
	file routes "192.0.2.9 eth0"
	stub ip 'case $* in' \
		'"-o addr show dev "*) awk -v at="$5" "\$1 == at { print 1, at, \"inet\", \$2 }" $root/addresses ;;' \
		'"-o addr show scope"*) awk "{ print 1, \$1, \"inet\", \$2 }" $root/addresses ;;' \
		'"-o route get "*) awk -v to="$4" "\$1 == to { print to, \"dev\", \$2, \"src 192.0.2.1\" }" $root/routes ;; esac'
	# ping: packets of up to this size arrive
	file path-mtu 9000
	stub ping 'case $* in *" -M "*) ;; *) exit 0 ;; esac' \
		'while [ "$1" != -s ]; do shift; done; [ $(($2 + 28)) -le "$(cat $root/path-mtu)" ]'
}

# device <name> <interface> <its number> <type of node>
device() {
	local at=sys/class/infiniband/$1
	file "$at/ports/1/state" "4: ACTIVE"
	file "$at/ports/1/gid_attrs/ndevs/0" "$2"
	file "$at/node_type" "$4"
	interface "$2" "$3" 1
}
interface() { # name, number, type, what iflink shows
	file "sys/class/net/$1/ifindex" "$2"
	file "sys/class/net/$1/iflink" "${4:-$2}"
	file "sys/class/net/$1/type" "$3"
	file "sys/class/net/$1/mtu" 9000
}

# tool <name> <argument>...: run a tool, with shorter time limits. The shell of busybox prefers its
# own commands to those in PATH, but not to functions, so make a function of each stub for it.
tool() {
	local stub
	{
		if [ "$shell" = "busybox ash" ]; then
			for stub in "$tmp"/bin/*; do echo "${stub##*/}() { '$stub' \"\$@\"; }"; done
			# The timeout of busybox would also prefer commands of busybox, so replace it by a function.
			echo 'timeout() { while case $1 in -k) shift ;; -*) ;; *) false ;; esac; do shift; done; shift; "$@"; }'
		fi
		sed -E 's#(^|[^a-zA-Z0-9*])/(sys|proc|etc|run|var/lib|lib/modules|usr/share)/#\1'"$root"'/\2/#g; /^PATH=/d; s/timeout -k 5 (5|10) /timeout -k 1 1 /' "$tree/scripts/package/$1"
	} >"$tmp/tool"
	# shellcheck disable=SC2086
	timeout 60 $shell "$tmp/tool" "${@:2}"
}

# says <words> <argument>...: run rpcrdma-check with these arguments. Its lines "WRONG [word]" must
# have exactly these words. Its status must be 1 if there are any, and 0 otherwise, and it must
# print nothing to stderr.
says() {
	local rc=0 seen word
	tool rpcrdma-check "${@:2}" >"$tmp/out" 2>"$tmp/err" || rc=$?
	seen=$(sed -n 's/^WRONG  \[\([a-z-]*\)\].*/\1/p' "$tmp/out" | paste -s -d' ')
	[ "$seen" = "$1" ] && [ $rc = $((${#1} > 0)) ] && [ ! -s "$tmp/err" ] ||
		fail "status $rc, \"$seen\" and not \"$1\": $(paste -s -d'|' "$tmp/out" "$tmp/err")"
	while read -r word _; do
		[[ $commands == *" $word "* ]] || fail "$word is not a command: $(grep "type: $word" "$tmp/out")"
	done < <(sed -n 's/^       type: //p' "$tmp/out")
}
# What rpcrdma-check says after "type:" begins with one of these.
commands=' apt depmod dkms dmesg echo exportfs firewall-cmd getent grep ibv_devinfo ip iptables lspci make mkdir modprobe mokutil mount nfsstat nft rdma rping rpcinfo rpcrdma-check systemctl umount '
# notes <word> <argument>...: nothing is wrong, but this is noted.
notes() {
	says "" "${@:2}"
	grep -q "^note   \[$1\]" "$tmp/out" || fail "no note about $1: $(paste -s -d'|' "$tmp/out")"
}
# quiet <argument>...: nothing is wrong, and nothing is noted.
quiet() {
	says "" "$@"
	! grep '^note' "$tmp/out" || fail "see the note"
}

test_healthy() {
	quiet server client "$line"
	file etc/fstab "$line 0 0"
	quiet
	[ "$(tail -n 1 "$tmp/out")" = "Nothing is wrong." ] || fail "not the last line"
	says "" --quiet
	[ ! -s "$tmp/out" ] || fail "--quiet, and it speaks"
	tool rpcrdma-check --help | grep -q '^usage:' || fail "--help has no status 0"
}

# --- the module ---
test_extra() {
	stub modinfo 'case $* in *-n*) echo /lib/modules/1/extra/rpcrdma.ko.xz ;; *version*) echo 0.9 ;; esac'
	quiet server client "$line"
}
test_intree() {
	stub modinfo 'case $* in *-n*) echo /lib/modules/1/updates/rpcrdma.ko ;; *version*) ;; esac'
	says other-module server
	grep -q 'systemctl start nfs-server' "$tmp/out" || fail "nothing starts nfsd again"
}
test_no-module() {
	stub modinfo 'exit 1'
	mkdir -p "$root/lib/modules/$(uname -r)/build"
	says no-module client
	types "apt install linux-headers-$(uname -r)" "make && make install"
	file "lib/modules/$(uname -r)/build/Makefile"
	says no-module client
	types "make && make install"
	stub dkms 'echo "rpcrdma/0.9: added"'
	says no-module client
	types "dkms autoinstall"
}
secure_boot() {
	rm -r "$root/sys/module/rpcrdma"
	file sys/kernel/security/lockdown "none [integrity] confidentiality"
}
test_not-signed() {
	secure_boot
	stub modinfo 'case $* in *-n*) echo /lib/modules/1/updates/rpcrdma.ko ;; *version*) echo 0.9 ;; esac'
	says not-signed server
	! grep 'mount and nfsd load it' "$tmp/out" || fail "and yet it says that it is loaded"
	grep -q 'do:   see Documentation/distros.rst' "$tmp/out" || fail "nothing to read"
	file usr/share/doc/rpcrdma-dkms/distros.rst
	says not-signed server
	grep -q 'do:   see .*/usr/share/doc/rpcrdma-dkms/distros.rst' "$tmp/out" || fail "the package has no Documentation/"
}
test_not-enrolled() {
	secure_boot
	file proc/keys "1 I------ 1 perm 1f030000 0 0 asymmetri Debian Secure Boot CA: 6ccece7e: X509.rsa cbb419ea []"
	says not-enrolled server
	file proc/keys "1 I------ 1 perm 1f030000 0 0 asymmetri DKMS module signing key: 6ccece7e: X509.rsa cbb419ea []"
	quiet server
}

# --- the log, which may report a state that has ended ---
test_wrong-kernel() {
	stub dmesg 'echo "rpcrdma: the server is off: this kernel has others"'
	quiet server
	file sys/kernel/debug/rpcrdma/counters "server_wrong_kernel 2"
	says wrong-kernel server
	rm "$root/sys/kernel/debug/rpcrdma/counters"
	notes wrong-kernel server
}
test_force-mr() {
	stub dmesg 'echo "rpcrdma: clients are refused: the server cannot work with ib_core.force_mr=1"'
	notes force-mr server
	file etc/modprobe.d/ib.conf "options ib_core force_mr=1"
	says force-mr server
}
test_no-log() {
	stub dmesg 'exit 1'
	notes no-log server
}

# --- devices ---
test_unused-port() {
	device mlx5_1 eth1 3 "1: CA"
	notes no-address server client "$line"
	file addresses "lo 127.0.0.1/8"
	says no-address server
}
test_registration() {
	stub ibv_devinfo 'echo "No IB devices found" >&2; exit 255'
	quiet server client "$line"
	stub ibv_devinfo 'echo "device_cap_flags: 0x1"'
	notes old-device server
	says old-device client "$line"
	stub ibv_devinfo 'exit 1'
	stub dmesg 'echo "rpcrdma: mlx5_0 cannot register memory as NFS/RDMA needs it"'
	says old-device client "$line"
	stub dmesg 'echo "rpcrdma: mlx5_9 cannot register memory as NFS/RDMA needs it"'
	notes old-device client "$line"
}
# rxe on eth0, and a packet filter: what is dropped before it arrives at rxe. The text is what nft and iptables print.
test_firewall() {
	local open="	chain in {" state="		ct state established,related accept" drops="		type filter hook input priority filter; policy drop;" f
	rules() { stub nft "cat $root/rules"; file rules "table inet own {" "$open" "$@" "	}" "}"; }
	rules "$drops"
	quiet server
	file sys/class/infiniband/mlx5_0/parent eth0
	rules "$drops" "$state" '		iif "lo" accept' '		meta l4proto { icmp, ipv6-icmp } accept' \
		'		tcp dport { 22, 80-90 } counter accept comment "dport 4791 accept"' '		ct state vmap { invalid : drop, established : accept }' \
		'	}' '	chain out {' '		type filter hook output priority filter; policy accept;' '		ip daddr 10.0.0.0/8 accept'
	says firewall server
	types "nft insert rule inet own in udp dport 4791 accept"
	says firewall client "$line"
	rules "		type filter hook input priority filter; policy accept;" '		udp dport 53 accept' \
		'		log prefix "no accept " level debug counter reject with icmpx admin-prohibited'
	says firewall server
	rules "		type filter hook input priority filter; policy accept;" '		iifname "eth0" udp dport 4791 counter drop'
	says firewall server
	# Something may accept it, or only some packets are dropped.
	for f in '		udp dport { 80, 4000-5000 } log prefix "x " counter accept' '		ip saddr 192.0.2.0/24 accept' '		iifname "eth0" accept' \
		'		udp dport @set accept' '		meta l4proto udp ct state new accept' '		iifname vmap { "eth0" : jump x }'; do
		rules "$drops" "$state" "$f" "		counter drop"
		quiet server
	done
	rules "		type filter hook input priority filter; policy accept;" '		udp dport 4791 ip saddr 192.0.2.7 drop' '		limit rate 3/minute drop'
	quiet server
	open="	chain filter_INPUT {"
	rules "		type filter hook input priority filter + 10; policy accept;" "		reject with icmpx admin-prohibited"
	sed -i 's/own/firewalld/' "$root/rules"
	says firewall server
	types "firewall-cmd --add-port=4791/udp"
	# siw, then an adapter that uses the port mapper
	rm "$root/sys/class/infiniband/mlx5_0/parent"
	file sys/class/infiniband/mlx5_0/node_type "4: RNIC"
	rules "$drops" "		tcp dport { 22, 20049 } accept"
	quiet server
	file proc/fs/nfsd/portlist "rdma 20050"
	file etc/nfs.conf "rdma=20050"
	says firewall server --port 20050
	types "nft insert rule inet own filter_INPUT tcp dport 20050 accept"
	mkdir "$root/sys/class/infiniband/mlx5_0/device"
	quiet server --port 20050
	file proc/net/udp "  sl  local_address rem_address" " 5321: 00000000:0F5F 00000000:0000 07"
	says firewall client "$line,port=20050" --port 20050
	types "nft insert rule inet own filter_INPUT udp dport 3935 accept"
	# Without nft. (A function of busybox cannot have this name.)
	[ "$shell" != "busybox ash" ] || return 0
	rm "$tmp/bin/nft"
	stub iptables-save ':'
	stub iptables-restore-translate 'cat <<"END"' 'add table ip filter' \
		'add chain ip filter INPUT { type filter hook input priority 0; policy drop; }' 'add rule ip filter INPUT iifname "lo" counter accept' \
		'add rule ip filter INPUT ip protocol tcp tcp dport { 22, 20049 } counter accept' END
	says firewall client "$line,port=20050" --port 20050
	types "iptables -I INPUT -p udp --dport 3935 -j ACCEPT"
}
# Interfaces above that of a device: a child of IPoIB, a bond over IPoIB, a bond over RoCE, and a
# bond over iWARP. The device can be used through all of them except the bond over RoCE. (If a RoCE
# device can use a bond, it has an entry for the bond in gid_attrs/ndevs. This one has none.)
test_above() {
	interface ib0.8001 7 32 2
	interface eth0 2 32
	file addresses "ib0.8001 192.0.2.1/24"
	file routes "192.0.2.9 ib0.8001"
	says "" client "$line"
	interface bond0 7 32
	mkdir "$root/sys/class/net/bond0/lower_eth0"
	file addresses "bond0 192.0.2.1/24"
	file routes "192.0.2.9 bond0"
	says "" client "$line"
	interface eth0 2 1
	interface bond0 7 1
	says "no-address other-route" client "$line"
	file sys/class/infiniband/mlx5_0/node_type "4: RNIC"
	says "" client "$line"
}

# --- the server ---
test_conf() {
	local value
	for value in Y Yes On True 1 nfsrdma 20049; do
		file etc/nfs.conf "rdma=$value"
		quiet server
	done
	for value in n No 0 off False; do
		file etc/nfs.conf "rdma=$value"
		notes not-permanent server
	done
	file etc/nfs.conf "rdma=y" "rdma-port=nfsrdma"
	quiet server
	file etc/nfs.conf "rdma=20055"
	notes other-port server
}
# A server needs no RDMA listener, unless the argument "server" or nfs.conf asks for one.
test_tcp-server() {
	file proc/fs/nfsd/portlist "tcp 2049"
	file etc/nfs.conf
	notes no-listener
	says no-listener server
	file etc/nfs.conf "rdma=y"
	says no-listener
	file proc/fs/nfsd/threads 0
	file var/lib/nfs/etab
	file etc/exports
	file etc/exports.d/zfs.exports "/pool *(rw)"
	says "no-nfsd not-exported"
}

# --- the client ---
test_space() {
	says no-directory client "server:/exp $root/my\\040dir nfs proto=rdma,_netdev 0 0"
	grep -qF "mkdir -p '$root/my dir'" "$tmp/out" || fail "not the directory: $(grep type: "$tmp/out")"
	mkdir "$root/my dir"
	says "" client "server:/exp $root/my\\040dir nfs proto=rdma,_netdev 0 0"
	is_mounted "$root/my\\040dir" tcp
	says not-rdma client "server:/exp $root/my\\040dir nfs proto=rdma,_netdev 0 0"
	is_mounted "$root/my\\040dir" rdma
	quiet client "server:/exp $root/my\\040dir/ nfs proto=rdma,_netdev 0 0"
	file proc/self/mountinfo
	says no-directory client "server:/exp $root/a\\134cut nfs proto=rdma,_netdev 0 0"
	grep -qF "$root/a\\cut to mount" "$tmp/out" || fail "the text is cut: $(paste -s -d'|' "$tmp/out")"
}
is_mounted() { # where, transport
	file proc/self/mountinfo "22 1 0:20 / / rw - ext4 /dev/sda1 rw" "50 22 0:40 / $1 rw shared:1 - nfs4 server:/exp rw"
	file proc/self/mountstats "device server:/old mounted on $1 with fstype nfs4 statvers=1.1" "	xprt:	udp 0 0" \
		"device server:/exp mounted on $1 with fstype nfs4 statvers=1.1" "	xprt:	$2 0 0"
}
# nfs_mount <directory> <transport> <version> [<connections>]: another mount of the server of $line
nfs_mount() {
	echo "60 22 0:41 / $1 rw - nfs4 server:/exp rw,vers=$3,hard,proto=$2,addr=192.0.2.9" >>"$root/proc/self/mountinfo"
	echo "device server:/exp mounted on $1 with fstype nfs4 statvers=1.1" >>"$root/proc/self/mountstats"
	yes "	xprt:	$2 0 0" | head -n "${4:-1}" >>"$root/proc/self/mountstats"
}
# types <line>...: these must be the commands that rpcrdma-check has printed, without comments
types() {
	[ "$(sed -n 's/^       type: //p' "$tmp/out" | sed 's/     (.*//')" = "$(printf '%s\n' "$@")" ] ||
		fail "other commands: $(paste -s -d'|' "$tmp/out")"
}
# All mounts of a server by one version of NFSv4 share the connections of the first.
test_shared() {
	local at=$root/mnt
	nfs_mount /first tcp 4.2
	nfs_mount /first/below tcp 4.2
	nfs_mount /third tcp 4.1
	says shared client "server:/exp $at nfs proto=rdma,nosharecache"
	grep -qF 'because /first is' "$tmp/out" || fail "it does not name the first: $(cat "$tmp/out")"
	types "umount /first/below /first" "mount -t nfs -o proto=rdma,nosharecache server:/exp $at"
	quiet client "server:/exp $at nfs proto=rdma,vers=3"
	nfs_mount "$at" tcp 4.2
	says shared client "server:/exp $at nfs proto=rdma,vers=4.2"
	types "umount $at /first/below /first" "mount -t nfs -o proto=rdma,vers=4.2 server:/exp $at"
	file etc/fstab "server:/exp $at nfs proto=rdma,_netdev 0 0"
	says shared client
	types "umount $at /first/below /first" "mount $at"
	# No other mount is the reason.
	file proc/self/mountinfo
	nfs_mount "$at" tcp 4.2
	says not-rdma client
	types "umount $at" "mount $at"
}
test_version() {
	local at
	nfs_mount "$root/mnt" rdma 4.2
	file "sys/kernel/debug/rpcrdma/client/192.0.2.99:20049-1" "version 1"
	for at in 7 8; do file "sys/kernel/debug/rpcrdma/client/192.0.2.9:20049-$at" "state up" "version 2"; done
	quiet client "server:/exp $root/mnt nfs proto=rdma"
	grep -q '^ok .* by RDMA (RPC-over-RDMA version 2)\.$' "$tmp/out" || fail "no version: $(paste -s -d'|' "$tmp/out")"
	# The connection may be down.
	rm -r "$root/sys/kernel/debug/rpcrdma/client"
	quiet client "server:/exp $root/mnt nfs proto=rdma"
	grep -q '^ok .* by RDMA\.$' "$tmp/out" || fail "a version: $(paste -s -d'|' "$tmp/out")"
}
test_report() {
	[ "$shell" != "busybox ash" ] || return 0
	stub rdma 'echo "link mlx5_0/1"'
	stub dmesg 'echo "rpcrdma: a message"'
	nfs_mount "$root/mnt" rdma 4.2
	file "sys/kernel/debug/rpcrdma/client/192.0.2.9:20049-1" "credits_owed 7"
	file sys/module/rpcrdma/parameters/first_receives 3
	file proc/sys/sunrpc/rdma_slot_table_entries 128
	says "" client --report "server:/exp $root/mnt nfs proto=rdma,_netdev"
	for text in 'Nothing is wrong.' "$(uname -r)" 'link mlx5_0/1' 'rpcrdma: a message' 'server_wrong_kernel 0' 'credits_owed 7' \
		'xprt:	rdma 0 0' 'rdma 20049' 'first_receives:3' 'rdma_slot_table_entries:128'; do
		grep -qF "$text" "$tmp/out" || fail "the report lacks $text"
	done
}
test_shared-by-tcp() {
	nfs_mount /first rdma 4.2
	nfs_mount "$root/mnt" rdma 4.2
	file etc/fstab "server:/exp $root/mnt nfs proto=tcp 0 0"
	says shared client
	types "umount $root/mnt /first" "mount $root/mnt"
	file proc/self/mountinfo
	nfs_mount "$root/mnt" tcp 4.2
	notes no-line client
}
test_nconnect() {
	nfs_mount /first rdma 3 2
	quiet client "$line,vers=3,nconnect=2"
	quiet client "$line,vers=3,nconnect="
	says nconnect client "$line,vers=3,nconnect=4"
	types "umount /first" "mount -t nfs -o proto=rdma,_netdev,vers=3,nconnect=4 server:/export /mnt"
	nfs_mount "$root/mnt" rdma 3 2
	says nconnect client "server:/exp $root/mnt nfs proto=rdma,vers=3,nconnect=4"
	types "umount $root/mnt /first" "mount -t nfs -o proto=rdma,vers=3,nconnect=4 server:/exp $root/mnt"
	quiet client "server:/exp $root/mnt nfs proto=rdma,vers=3"
}
# The server has died. Each access to the mount point waits for ever.
test_dead-server() {
	local name
	[ "$shell" != "busybox ash" ] || return 0
	for name in stat test readlink; do stub $name "case \$* in *$root/mnt*) exec sleep 300 ;; esac"; done
	is_mounted "$root/mnt" rdma
	says no-answer client "server:/exp $root/mnt nfs proto=rdma,_netdev"
	# The mount of the dead server is above the mount point of the line.
	says no-answer client "server:/exp $root/mnt/below nfs proto=rdma,_netdev"
}
test_mtu() {
	quiet client "$line"
	# The path has an MTU of 4200, which is enough for 4096 bytes of data and the headers of RoCE.
	file path-mtu 4200
	notes mtu client "$line"
	file path-mtu 1500
	says mtu client "$line"
	grep -q 'packets of 1500 bytes do' "$tmp/out" || fail "what arrives: $(paste -s -d'|' "$tmp/out")"
	file sys/class/infiniband/mlx5_0/node_type "4: RNIC"
	notes mtu client "$line"
	file sys/class/infiniband/mlx5_0/node_type "1: CA"
	# On an interface with an MTU of 1500, RoCE packets have at most 1024 bytes of data, so they fit an MTU of 1450.
	file sys/class/net/eth0/mtu 1500
	file path-mtu 1450
	notes mtu client "$line"
	file sys/class/net/eth0/type 32
	file path-mtu 100
	quiet client "$line"
	file sys/class/net/eth0/type 1
	stub ping 'case $* in *" -M "*) exit 2 ;; esac'
	notes ping client "$line"
}
test_parse() {
	local l
	for l in "sudo mount -t nfs -o proto=rdma server:/export /mnt" "mount --types nfs --options proto=rdma server:/export /mnt" \
		"mount -tnfs4 -oproto=rdma server:/export /mnt" "mount --types=nfs --options=proto=rdma server:/export /mnt" \
		"mount.nfs4 server:/export /mnt -o proto=rdma"; do
		quiet client "$l"
	done
	says bad-option client "mount.nfs4 server:/export /mnt -o proto=rdma,vers=3"
	says bad-option client "mount -tnfs4 server:/export /mnt -o proto=rdma,v3"
	says bad-option client "server:/export /mnt nfs proto=rdma,nconnect=0"
	says bad-option client "server:/export /mnt nfs proto=rdma,vers=4,minorversion=3"
	quiet client "mount -o proto=rdma,vers=4,nfsvers=4.2 server:/export /mnt"
	quiet client "mount -o proto=rdma server:/* /mnt"
	grep -qF 'server:/*' "$tmp/out" || fail "the * is replaced"
	says bad-line client "foo /mnt nfs proto=rdma,x=a:/b"
}
test_bad-option() {
	local o
	for o in proto=tcp vers=4.2 rdma,tcp proto=rdma,xprtsec=tls proto=rdma,port=2049 proto=rdma,vers=2 proto=rdma,nconnect=17 proto=rdma6; do
		says bad-option client "192.0.2.9:/ /mnt nfs $o"
		grep -q '^       do:   ' "$tmp/out" || fail "no advice for $o"
	done
	says bad-option client "[fd00::1]:/ /mnt nfs proto=rdma"
}
test_addresses() {
	stub getent 'echo "198.51.100.7 STREAM server"; echo "198.51.100.7 DGRAM"; echo "192.0.2.9 STREAM"'
	quiet client "$line"
	file routes "198.51.100.7 eth7"
	says no-route client "$line"
	stub getent 'echo "fe80::1%2 STREAM fe80::1%eth0"'
	file routes "fe80::1 eth0"
	quiet client "[fe80::1%eth0]:/export /mnt nfs proto=rdma6,_netdev"
	stub getent ':'
	says no-host client "$line"
}
test_mountd() {
	stub rpcinfo 'exit 1'
	says no-mountd client "$line,vers=3"
	says no-mountd client "$line,v3"
	quiet client "$line,vers=3,mountport=20048"
}
test_try() {
	[ "$shell" != "busybox ash" ] || return 0
	stub mount 'echo "mount.nfs: Protocol not supported"; exit 32'
	says try-protocol client --try "$line"
	stub mount 'echo "mount.nfs: Connection timed out"; exit 32'
	says try-timeout client --try "$line"
	stub mount 'echo "mount.nfs: bad weather"; exit 32'
	says try-failed client --try "$line"
	stub mount "case \"\$*\" in *,fg*) ;; *) exit 32 ;; esac" \
		'for at; do :; done; printf "%s\n" "5 22 0:40 / $at rw - nfs4 a:/b rw" >$root/proc/self/mountinfo' \
		'printf "%s\n" "device a:/b mounted on $at with fstype nfs4" "	xprt:	rdma 0" >$root/proc/self/mountstats'
	stub umount ': >$root/proc/self/mountinfo; echo "$*" >>$root/unmounted'
	says "" client --try "$line"
	[ -z "$(ls "$root/run")" ] && [ "$(wc -l <"$root/unmounted")" = 1 ] || fail "the mount is left"
	# If a signal ends the tool, it still unmounts.
	sed -i '$a kill -TERM $(ps -o ppid= $PPID); sleep 1' "$tmp/bin/mount"
	tool rpcrdma-check client --try "$line" >"$tmp/out" 2>&1
	[ -z "$(ls "$root/run")" ] && [ "$(wc -l <"$root/unmounted")" = 2 ] || fail "the mount is left after a signal: $(cat "$tmp/out")"
}

# --- rpcrdma-stats ---
# shows <status> <text> <argument>...: with these arguments, rpcrdma-stats must end with this
# status, and print this text.
shows() {
	local rc=0
	tool rpcrdma-stats "${@:3}" >"$tmp/out" 2>"$tmp/err" || rc=$?
	[ $rc = "$1" ] && { [ -z "$2" ] || grep -qF -- "$2" "$tmp/out" "$tmp/err"; } ||
		fail "status $rc, no \"$2\": $(paste -s -d'|' "$tmp/out" "$tmp/err" | tail -c 600)"
}
# json <expression>: --json must have printed valid JSON, for which the expression about d is true.
json() { python3 -I -S -c 'import json, sys; d = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), d' "$tmp/out" "$1" || fail "not $1"; }

test_stats() {
	local at
	file sys/kernel/debug/rpcrdma/counters "client_connects 18446744073709551615"
	file sys/module/rpcrdma/version '0.9"\x'
	shows 0 'rpcrdma_connections{side="client",state="up",version="0"} 0'
	shows 0 'rpcrdma_info{version="0.9\"\\x"} 1'
	shows 0 'rpcrdma_client_connects_total 18446744073709551615'
	shows 0 '"connections": []' --json
	json 'd["version"] == "0.9" + chr(34) + chr(92) + "x" and d["counters"]["client_connects"] == 2 ** 64 - 1'
	for at in 1 2 3; do file sys/kernel/debug/rpcrdma/client/$at "state up" "version 2" "receives_bytes 4096"; done
	shows 0 'rpcrdma_connections{side="client",state="up",version="2"} 3'
	! grep 'side="client",state="up",version="0"' "$tmp/out" || fail "a 0 beside others"
	grep -q 'receives_bytes{side="client"} 12288' "$tmp/out" || fail "a wrong sum"
	shows 0 '"connections": [' --json
	json 'len(d["connections"]) == 3 and len({c["name"] for c in d["connections"]}) == 3'
}
# There are more connections than one command can take as arguments.
test_many-connections() {
	[ "$shell" = dash ] || return 0
	python3 -I -S -c '
import sys
for n in range(25000):
    with open(f"{sys.argv[1]}/{n:04}." + "x" * 80, "w") as f:
        f.write("state up\nversion 2\n")' "$root/sys/kernel/debug/rpcrdma/server"
	shows 0 'rpcrdma_connections{side="server",state="up",version="2"} 25000'
}
test_stats-unloaded() {
	rm -r "$root/sys/module/rpcrdma" "$root/sys/kernel/debug/rpcrdma"
	shows 1 "rpcrdma_loaded 0"
	shows 1 '"loaded": false' --json
	json 'd == {"loaded": False}'
}
# The module is unloaded while rpcrdma-stats reads its counters.
test_stats-race() {
	: >"$root/sys/kernel/debug/rpcrdma/counters"
	shows 0 '"counters": {' --json
	json 'd["counters"] == {} and d["connections"] == []'
}
# The module is loaded, but its directory in debugfs is missing, so its counters cannot be read. If
# debugfs is not mounted, rpcrdma-stats mounts it.
test_no-debugfs() {
	file proc/mounts "debugfs $root/sys/kernel/debug debugfs rw 0 0"
	rm -r "$root/sys/kernel/debug/rpcrdma"
	stub mount "touch $root/mounted"
	file out/a.prom old
	shows 2 "debugfs" --output "$root/out/a.prom"
	[ "$(cat "$root/out/a.prom")" = old ] || fail "the file has changed"
	[ ! -e "$root/mounted" ] || fail "debugfs is mounted twice"
	file proc/mounts
	shows 2 "debugfs"
	[ -e "$root/mounted" ] || fail "debugfs is not mounted"
}
test_output() {
	mkdir "$root/out"
	shows 0 "" --output "$root/out/a.prom"
	[ "$(cd "$root/out" && find . -type f)" = ./a.prom ] && grep -q loaded "$root/out/a.prom" || fail "not one file: $(ls -A "$root/out")"
	[ "$(stat -c %a "$root/out/a.prom")" = 644 ] || fail "others cannot read it"
	shows 2 "is a directory" --output "$root/out"
	stub chmod "kill -TERM \$PPID; sleep 1"
	tool rpcrdma-stats --output "$root/out/a.prom" >/dev/null 2>&1
	[ "$(cd "$root/out" && find . -type f)" = ./a.prom ] || fail "a file is left after a signal: $(ls -A "$root/out")"
}

# --- everything ---
# rpcrdma-check.8 has each word that rpcrdma-check prints in brackets, and each counter that rpcrdma-check reads exists.
test_words() {
	local word missing=
	for word in $(grep -oE '\b(wrong|note) [a-z-]+ ' "$tree/scripts/package/rpcrdma-check" | cut -d' ' -f2 | sort -u); do
		grep -qE "(Li|,) ($word)( |\$)" "$tree/Documentation/rpcrdma-check.8" || missing="$missing $word"
	done
	[ -z "$missing" ] || fail "rpcrdma-check.8 has nothing about$missing"
	missing=
	for word in $(grep -oE '\b(client|server|keepalive|progress)_[a-z_]+\b' "$tree/scripts/package/rpcrdma-check" | sort -u); do
		grep -q "X($word)" "$tree/include/rpcrdma/counters.h" || missing="$missing $word"
	done
	[ -z "$missing" ] || fail "there are no counters$missing"
}


bad=0
[ $# -gt 0 ] || mapfile -t names < <(declare -F | sed -n 's/^declare -f test_//p')
[ $# = 0 ] || names=("$@")
for name in "${names[@]}"; do
	for shell in dash "bash --posix" "busybox ash"; do
		if ! out=$(fresh && "test_$name" 2>&1); then
			echo "not ok tools/$name ($shell) $(tail -n 1 <<<"$out")"
			bad=1
			continue 2
		fi
	done
	echo "ok tools/$name"
done
exit $bad
