# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Our module against the in-tree one, in two guests, either way round, with and without
# remote invalidation.
# Guests: pair
# Limit: 3600
# Second:client: siw
# Second:server: siw
# Debian:client: rxe
# Debian:server: rxe
. "$TOP/scripts/tests/common.sh"

# invalidation <Y|N> <command...>: with our module, whichever side it is on.
invalidation() {
	local on=$1 param=/sys/module/rpcrdma/parameters/remote_invalidation where=on_server counter=server_sends_inv n
	shift
	# Without a role, both sides are ours.
	[ "$OURS" = server ] || { where=; counter=client_mrs_remote_inv; }
	$where bash -c "echo $on >$param"
	n=$($where counter $counter)
	"$@"
	n=$(($($where counter $counter) - n))
	echo "$n handles were invalidated remotely"
	case $on in
	Y) [ $n -gt 50 ] || die "only $n handles were invalidated remotely" ;;
	N) [ $n = 0 ] || die "$n handles were invalidated remotely" ;;
	esac
}

# settled <command...>: our client asks for version 2, the in-tree server refuses it, and that
# very connection goes on with version 1; the in-tree client does not ask.
settled() {
	local before connects
	before=$(counter client_fallbacks)
	connects=$(counter client_connects)
	"$@"
	case $OURS in
	client)
		[ "$(counter client_fallbacks)" -gt "$before" ] || die "the in-tree server did not refuse version 2"
		# One round trip more, and no connection more
		[ $(($(counter client_fallbacks) - before)) = $(($(counter client_connects) - connects)) ] ||
			die "it was another connection"
		[ "$(counter client_v2_connects)" = 0 ] || die "the in-tree server speaks version 2"
		[ "$(counter client_nego_failures)" = 0 ] || die "connections were lost over it" ;;
	server)
		[ "$(on_server counter server_v2_connections)" = 0 ] || die "the in-tree client speaks version 2" ;;
	*)
		[ "$(counter client_v2_connects)" -gt 0 ] || die "no connection is of version 2" ;;
	esac
}

# Covers: EXP-01 V1-CRD-21 V1-CRD-33 V2-NEG-07 V2-NEG-08 V2-NEG-12 V2-NEG-13 V2-INL-08
case_v3() { SCALE=0.3 settled invalidation Y with_mount 3 checked names dir small acl data mmap direct; }
case_v3-noinv() { SCALE=0.3 invalidation N with_mount 3 checked small acl data direct; }
case_v42() { SCALE=0.3 settled invalidation Y with_mount 4.2 checked names dir small acl xattr data mmap direct; }
case_v42-noinv() { SCALE=0.3 invalidation N with_mount 4.2 checked small acl xattr data direct; }
case_delegation() { delegation 4.2 remote_writer; }

group() {
	# As people use it: our client asks for version 2 first.
	pair_up 2
	pair_cases python3 -I -S "$CHECK" provide $EXPORT
}
