# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Guests: alone
# Limit: 1800
. "$TOP/scripts/tests/security.sh"
case_exp() {
	local proto v port path n t
	for proto in tcp rdma; do for v in 4.2 4.1 3; do
		port=20049; [ $proto = rdma ] || port=2049
		path=/; [ $v != 3 ] || path=/export
		mkdir -p $MNT
		mount -t nfs -o proto=$proto,port=$port,vers=$v,sec=krb5p,nolock server.lab.test:$path $MNT
		grep " $MNT " /proc/mounts
		for n in 2047 3000 3600 3800 3900 3950 4000 4095; do
			t=$(printf 'y%.0s' $(seq $n)); t=$(echo $t | sed 's/.\{100\}/&\//g' | cut -c1-$n)
			if ln -s "$t" $MNT/l$proto$v.$n 2>/tmp/err; then
				[ "$(readlink $MNT/l$proto$v.$n)" = "$t" ] && echo "EXP $proto $v $n ok" || echo "EXP $proto $v $n readlink bad"
			else echo "EXP $proto $v $n: $(tail -c 40 /tmp/err)"; fi
		done
		umount $MNT
	done; done
}
group() { alone_up; kerberos_up; case_run exp; }
