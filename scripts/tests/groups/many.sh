# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A server with many clients, which share the server's memory (decision G-39). The server is in one guest, and all
# clients (many.py) are in the other.
# Guests: pair
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"
CASE_LIMIT=900

MEMORY=/sys/module/rpcrdma/parameters/server_memory

# server_memory <name>: print a value from the file in debugfs that shows the memory of the server
server_memory() { on_server awk "\$1 == \"$1\" { print \$2 }" $DEBUG/server_memory; }

many() {
	MANY_VERSION=$1 PEER_LIB=/tmp/peer.so python3 -S "$TOP/scripts/tests/peers/many.py" "${@:2}"
}

many_begin() {
	[ "$MODULE" = ours ] || skip "the in-tree module has no such limit"
	[ -e /lab/peer.so ] || die "peer.c does not compile (librdmacm-dev?): $(tail -n 1 /lab/log/peer.log)"
	cp /lab/peer.so /tmp/peer.so
	on_server rpc.nfsd 64
	on_server bash -c "[ ! -e /proc/fs/nfsd/max_connections ] || echo 4000 >/proc/fs/nfsd/max_connections"
}

# clients_up <number>: add this number of addresses to this guest, one for each client
clients_up() {
	local i
	ADDRESSES=()
	for ((i = 101; i < 101 + $1; i++)); do
		ip addr replace "10.9.0.$i/24" dev eth0
		ADDRESSES+=("10.9.0.$i")
	done
}

clients_down() {
	local address
	for address in "${ADDRESSES[@]}"; do ip addr del "$address/24" dev eth0; done
}

# turns <version>: let the clients be busy one after another
turns() { many "$1" turns "${ADDRESSES[@]}" >/tmp/many.turns 2>&1 || die "$(tail -n 1 /tmp/many.turns)"; }

all_are() { [ "$(cat /tmp/many.[0-9]* | grep -c "^$1 ")" = "$2" ]; }

# rest_begin <version> <number>: make this number of idle connections, a quarter of them in each of
# four processes
rest_begin() {
	local i fd
	rm -f /tmp/many.*
	PIPES=()
	for i in 1 2 3 4; do
		mkfifo /tmp/many.in.$i
		many "$1" rest $(($2 / 4)) </tmp/many.in.$i >/tmp/many.$i 2>&1 &
		exec {fd}>/tmp/many.in.$i
		PIPES+=("$fd")
	done
	until_true 600 all_are resting 4 || die "not all are connected: $(tail -n 1 /tmp/many.[0-9])"
}

none_there() { on_server bash -c "[ -z \"\$(ls $DEBUG/server)\" ]"; }

# rest_end: end these connections. Each must have worked until then.
rest_end() {
	local fd
	for fd in "${PIPES[@]}"; do exec {fd}>&-; done
	wait || true
	all_are answered 4 || die "connections were lost: $(tail -n 1 /tmp/many.[0-9])"
	until_true 60 none_there || die "the server still has connections"
}

# rest_many <version> <number> <KB> <bytes>: make this number of idle connections. On average, the
# server's guest may use at most <KB> KB of memory for a connection, everything included. The server
# must count <bytes> of that, on average, as the buffers of the connection.
rest_many() {
	local before after each held
	many_begin
	# The first connections also use memory for caches that do not belong to a connection, and
	# KASAN keeps memory that was freed. So measure only the second time.
	rest_begin "$1" "$2"
	rest_end
	before=$(on_server memory_here)
	rest_begin "$1" "$2"
	# Wait until svc_rdma_reclaim_work() has looked once more for idle Sends.
	sleep 12
	after=$(on_server memory_here)
	held=$(server_memory held)
	each=$(((before - after) / $2))
	echo "$2 connections of version $1: $each bytes each, of which $((held / $2)) are buffers"
	on_server bash -c "cat \$(ls $DEBUG/server/* | head -n 1)"
	[ "$(server_memory known)" = 1 ] || die "$(server_memory known) clients are known, but all have the same address"
	rest_end
	((each >= held / $2)) || die "$each bytes cannot be all"
	((each <= $3 * 1024)) || die "a resting connection takes $each bytes"
	((held == $2 * $4)) || die "a resting connection has $((held / $2)) bytes of buffers"
}

clients() { [ -n "$ALL" ] && echo 1000 || echo 200; }

# at_rest <KB>: the limit for a connection at rest. Its queues take some 130 KB more with rxe than
# with siw (performance.rst has tables).
at_rest() { [ "$PROVIDER" = rxe ] && echo $(($1 + 110)) || echo "$1"; }

# Idle connections: 200 in make test, and 1000 in make test-all. The limits in KB include what the
# checkers of this kernel add. The buffers of a connection are 3 Receives (in version 2, 4 Receives)
# of 32 KB each, and two Sends of 4 KB each.
# Covers: G-39
case_many-rest() { rest_many 1 "$(clients)" "$(at_rest 300)" $((3 * 32768 + 2 * 4096)); }
case_many-rest-v2() { rest_many 2 "$(clients)" "$(at_rest 310)" $((4 * 32768 + 2 * 4096)); }

# even <name> <part>: standard input has a line for each of 64 clients, with a number. The smallest number must be at
# least the mean divided by <part>. <name> says what the numbers are.
even() {
	awk -v name="$1" -v part="$2" '{ n++; sum += $1; if (n == 1 || $1 < least) least = $1; if ($1 > most) most = $1 }
		END { print n " clients: " least " to " most " " name ", " sum / n " on average"
			exit n != 64 || part * least < sum / n }'
}

# busy_in_turn <version> <MiB>: 64 clients of a server with this much memory are busy one after
# another, each for some time, and then silent. Each client may hold as much as is free, so the later
# ones get less, but all get enough for several RPCs in flight. (Clients of this module would give
# their memory back, see credits-by-need.) The server must never hold more than its limit. No
# connection may be lost.
busy_in_turn() {
	local most limit
	many_begin
	trap 'on_server bash -c "echo 0 >$MEMORY; rm -r /tmp/watch"' EXIT
	on_server bash -c "echo $2 >$MEMORY"
	clients_up 64
	on_server bash -c "mkdir /tmp/watch; while [ -e /tmp/watch ]; do
		awk '\$1 == \"held\" { print \$2 }' $DEBUG/server_memory >>/tmp/watch/held
		awk '\$1 == \"memory_held\" { print FILENAME, \$2 }' $DEBUG/server/* >>/tmp/watch/each
		sleep 0.1; done >/dev/null 2>&1 &"
	turns "$1"
	limit=$(server_memory limit)
	most=$(on_server sort -n /tmp/watch/held | tail -n 1)
	awk '$1 == "turn" { print $3 }' /tmp/many.turns | even credits 20 ||
		die "unfair: $(grep ^turn /tmp/many.turns | tr '\n' ';')"
	echo "at most $most bytes of $limit were held"
	((most > limit / 4)) || die "only $most bytes were held"
	((most <= limit)) || die "$most bytes were held, more than $limit"
	[ "$(grep -c ^kept /tmp/many.turns)" = 64 ] || die "a connection was lost"
	clients_down
}
# Covers: G-39 V1-CRD-05
case_many-turns() { busy_in_turn 1 32; }
case_many-turns-v2() { busy_in_turn 2 96; }

# Clients that never use a file handle are strangers to the server. Here they have 60 connections;
# by default, sunrpc of 7.3 allows them 64. They have been busy, so they hold memory. Clients that
# the server knows must still get the memory that is set aside for them.
# Covers: G-39 V1-CRD-26
case_many-strangers() {
	local share fd pid
	many_begin
	trap 'on_server bash -c "echo 0 >$MEMORY"' EXIT
	on_server bash -c "echo 64 >$MEMORY"
	rm -f /tmp/many.*
	mkfifo /tmp/many.in
	many 2 strangers 60 </tmp/many.in >/tmp/many.1 2>&1 &
	pid=$!
	exec {fd}>/tmp/many.in
	until_true 300 all_are resting 1 || die "not all are connected: $(tail -n 1 /tmp/many.1)"
	[ "$(server_memory known)" = 0 ] || die "$(server_memory known) clients are known"
	echo "60 strangers hold $(server_memory held) bytes"
	clients_up 4
	turns 2
	grep ^turn /tmp/many.turns
	# The server may lend three quarters of its memory. Half of that is divided among the four
	# clients that it knows. A credit takes less than 64 KB, so each MiB of a client's share is
	# enough for at least 16 credits.
	share=$((64 * 3 / 4 / 2 / 4))
	awk -v least=$((share * 16)) '$1 == "turn" { n++; bad += $3 < least && $3 < 128 } END { exit n != 4 || bad > 0 }' /tmp/many.turns ||
		die "a known client does not get its share of $share MiB"
	exec {fd}>&-
	wait $pid || die "a stranger has lost its connection: $(tail -n 1 /tmp/many.1)"
	clients_down
}

group() {
	pair_up 2
	pair_cases true
}
