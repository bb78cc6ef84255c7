# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults between two guests: silence, which only the keepalive notices.
# Guests: pair
# Cpus: 1
# Limit: 1800
# Providers: siw rxe
# Quick: none
# Second: rxe
. "$TOP/scripts/tests/common.sh"
CASE_LIMIT=300

# keepalive <time> <timeout>: at both ends, for connections to come
keepalive() {
	local set="echo $1 >/proc/sys/sunrpc/rdma_keepalive_time; echo $2 >/proc/sys/sunrpc/rdma_keepalive_timeout"
	bash -c "$set"
	on_server bash -c "$set"
}

silence() {
	tc qdisc add dev eth0 root netem loss 100% || skip "this kernel has no netem"
	trap silence_end EXIT
}

silence_end() {
	trap - EXIT
	tc qdisc del dev eth0 root
}

# losses: how many connections this end and the other have lost
losses() { echo "$(counter client_disconnects) $(on_server counter server_disconnects)"; }

# A version 3 mount that is idle says nothing by itself.
idle_mount() {
	modprobe -q sch_netem || true
	nfs_mount 3
	echo "$1" >$MNT/idle
	sleep 2
}

# Nothing comes through any more, and no RPC is there to time out: both ends notice, in the
# time that is set. An iWARP client does not probe, see wire.rst.
# Covers: V1-CRD-28
case_silent() {
	local client server t0
	[ "$MODULE" = ours ] || skip "the in-tree module has no keepalive"
	keepalive 3 4
	idle_mount one
	sleep 8
	read -r client server <<<"$(losses)"
	[ "$(on_server counter keepalive_probes)" -ge 1 ] || die "the server does not probe"
	[ "$PROVIDER" != rxe ] || [ "$(counter keepalive_probes)" -ge 1 ] || die "the client does not probe"
	[ "$(counter keepalive_failures)" = 0 ] || die "a probe of a living server failed"
	silence
	t0=$SECONDS
	if [ "$PROVIDER" = rxe ]; then
		until_true 30 eval "[ \$(counter client_disconnects) -gt $client ]" || die "the client notices nothing"
		echo "the client noticed after $((SECONDS - t0)) s"
		[ $((SECONDS - t0)) -le 15 ] || die "7 s were to be enough, not $((SECONDS - t0))"
	fi
	until_true 30 eval "[ \$(on_server counter server_disconnects) -gt $server ]" || die "the server notices nothing"
	echo "both had noticed after $((SECONDS - t0)) s"
	[ $((SECONDS - t0)) -le 25 ] || die "7 s were to be enough, not $((SECONDS - t0))"
	silence_end
	t0=$SECONDS
	[ "$(cat $MNT/idle)" = one ] || die "what was written has gone"
	echo "replies $((SECONDS - t0)) s after the network worked again"
	nfs_umount
	keepalive 10 10
}

# The same without it: nobody notices anything, and the connection goes on. (Else the case
# above would be worth nothing.)
# Covers: V1-CRD-28
case_silent-off() {
	local before probes
	[ "$MODULE" = ours ] || skip "the in-tree module has no keepalive"
	keepalive 0 4
	idle_mount two
	before=$(losses)
	probes=$(counter keepalive_probes)
	silence
	sleep 30
	[ "$(losses)" = "$before" ] || die "somebody noticed: $before, then $(losses)"
	[ "$(counter keepalive_probes)" = "$probes" ] || die "0 does not turn it off"
	silence_end
	[ "$(cat $MNT/idle)" = two ] || die "what was written has gone"
	[ "$(losses)" = "$before" ] || die "the connection was lost after all"
	nfs_umount
	keepalive 10 10
}

group() {
	pair_up
	if [ "$ROLE" = server ]; then
		serve_requests
		case_clean
		return
	fi
	run_all_cases
	case_run clean
	touch /lab/stop
}
