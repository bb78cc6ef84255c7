#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check that the probes of include/compat tell kernels apart, and notice those that they do not know, and that the step
# "headers" of make check notices probes that have the same result for all kernels. The kernels here are a few lines of
# headers, so this needs no kernel.
# Prints "ok <name>" or "not ok <name> <why>" for each test. The status is 1 if any failed.
set -uo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export RPCRDMA_CACHE=$tmp/cache
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$tmp/cache"

fail() { echo "$*"; return 1; }

# names <kind>: print the probes of this kind (shims, relics or macros)
names() { sed -nE "s/^rpcrdma-($1) := //p" "$tree/include/compat/Kbuild" | tr ' ' '\n'; }
mapfile -t all < <(names 'shims|relics|macros')

# kernel <form> [probe]: write the headers of a kernel that has the present or older form of each interface. If a probe is
# given, the kernel has neither form of its interface. What the kernel lacks is in a comment and in an #if 0.
kernel() {
	local kind=$1 lacks=${2:-} dir=$tmp/include
	form() { # probe, present form, older form
		local has=$2 not=$3
		[ "$kind" = present ] || has=$3 not=$2
		[ "$1" != "$lacks" ] || has=
		printf '%s\n/* %s */\n#if 0\n%s\n#endif\n' "$has" "$not" "$not"
	}
	rm -rf "$dir"
	mkdir -p "$dir"/linux/{sunrpc,sched} "$dir/net" "$dir/asm"
	case $kind$lacks in *unaligned) ;; present*) touch "$dir/linux/unaligned.h" ;; *) touch "$dir/asm/unaligned.h" ;; esac
	cat >"$dir/linux/compiler_types.h" <<-END
		typedef _Bool bool;
		typedef unsigned long size_t;
		typedef long loff_t;
		static int unused;
	END
	cat >"$dir/linux/sunrpc/svc_xprt.h" <<-END
		#pragma once
		struct svc_xprt_ops { int xpo_create;
		$(form secure_port 'int xpo_handshake;' 'int xpo_secure_port;')
		};
		enum { XPT_CONN,
		$(form peer_valid 'XPT_TEMP, XPT_PEER_VALID,' 'XPT_TEMP,')
		};
	END
	cat >"$dir/linux/sunrpc/xprt.h" <<-END
		#pragma once
		$(form xprtsec 'struct xprt_create { int servername, xprtsec; };' 'struct xprt_create { int servername; };')
	END
	cat >"$dir/linux/sysctl.h" <<-END
		#pragma once
		struct ctl_table;
		$(form sysctl_size 'void *register_sysctl_sz(const char *path, struct ctl_table *table, size_t size);
			#define register_sysctl(path, table) register_sysctl_sz(path, table, sizeof(table))' \
			'void *register_sysctl(const char *path, struct ctl_table *table);')
		$(form sysctl_table 'typedef int proc_handler(const struct ctl_table *, int, void *, size_t *, loff_t *);' \
			'typedef int proc_handler(struct ctl_table *, int, void *, size_t *, loff_t *);')
	END
	cat >"$dir/net/net_namespace.h" <<-END
		#pragma once
		extern struct net { int count; } init_net;
		$(form sysctl_size 'void *register_net_sysctl_sz(struct net *, const char *path, struct ctl_table *table, size_t size);' '')
	END
	cat >"$dir/linux/sunrpc/svc.h" <<-END
		#pragma once
		#define CONFIG_SUNRPC_BACKCHANNEL 1
		#define RPCSVC_MAXPAGES 259
		typedef int wait_queue_head_t;
		struct svc_serv { int sv_program;
		$(form bc_list 'struct lwq { int head; } sv_cb_list;' 'struct list_head { int head; } sv_cb_list; wait_queue_head_t sv_cb_waitq;')
		};
		struct svc_rqst { int rq_server;
		$(form RPCRDMA_ALLOCATED_PAGES 'struct page **rq_pages; unsigned long rq_maxpages;' 'struct page *rq_pages[RPCSVC_MAXPAGES + 1];')
		$(form RPCRDMA_SEPARATE_REPLY_PAGES 'struct page **rq_respages; unsigned long rq_pages_nfree;' 'struct page **rq_respages;')
		};
	END
	cat >"$dir/linux/shrinker.h" <<-END
		#pragma once
		struct shrinker;
		$(form shrinker 'struct shrinker *shrinker_alloc(unsigned int flags, const char *format, ...);' \
			'int register_shrinker(struct shrinker *, const char *format, ...);')
	END
	cat >"$dir/linux/sched/mm.h" <<-END
		#pragma once
		#define PF_MEMALLOC 2048
		$(form memalloc_flags 'unsigned int memalloc_flags_save(unsigned int flags);' 'unsigned int memalloc_noreclaim_save(void);')
	END
	cat >"$dir/linux/workqueue.h" <<-END
		#pragma once
		struct delayed_work;
		$(form disable_work 'bool disable_delayed_work_sync(struct delayed_work *);' 'enum { WORK_STRUCT_PENDING_BIT };')
	END
}

# look: print the compiler flags that include/compat/Kbuild chooses for this kernel
look() {
	local flags='-nostdinc -Wall -Werror'
	{
		printf '%s := %s\n' srctree "$tmp" src "$tree" obj "$tmp" CC "${CC:-gcc}" KBUILD_CFLAGS "$flags" LINUXINCLUDE "-I$tmp/include"
		printf 'include $(src)/include/compat/Kbuild\nall:\n\t@echo $(LINUXINCLUDE)\n'
	} | make -s -f - all 2>&1
}

test_probes-present() {
	kernel present
	[ "$(look)" = "$(names macros | sed 's/^/-D/' | tr '\n' ' ')-I$tmp/include" ] || fail "not only the macros: $(look)"
}

test_probes-older() {
	kernel older
	[ "$(look)" = "$(names 'shims|relics' | sed "s#^#-I$tree/include/compat/#" | tr '\n' ' ')-I$tmp/include" ] ||
		fail "not only the shims: $(look)"
}

# A probe that finds neither form stops make, with one line that names the probe.
test_probes-unknown() {
	local kind name
	for kind in older present; do
		for name in "${all[@]}"; do
			kernel $kind "$name"
			[ "$(look | grep -c "does not know this kernel.*see include/compat/$name.c")" = 1 ] || fail "taken for known: $name" || return
		done
	done
}

# If the compiler cannot compile the headers at all, this is said in one line, and no probe is named.
test_probes-unfit() {
	kernel present
	[[ $(CC=no-such-gcc look) == *"do not fit: "*"no-such-gcc"* ]] || fail "no compiler: $(CC=no-such-gcc look)" || return
	[[ $(CC='gcc -fno-such-option' look) == *"do not fit: "*"-fno-such-option"* ]] || fail "an option: $(look)" || return
	[[ $(CC='gcc -Wfatal-errors' look) == *"do not fit: "* ]] || fail "too early an end: $(look)" || return
	echo 'struct {' >>"$tmp/include/linux/sunrpc/svc.h"
	[[ $(look) == *"do not fit: "*"error: "* ]] || fail "a broken header: $(look)" || return
	rm "$tmp/include/linux/sunrpc/svc.h"
	[[ $(look) == *"do not fit: "*"error: linux/sunrpc/svc.h: "* ]] || fail "no header: $(look)"
}

# The probes are compiled again only if something has changed.
test_probes-cache() {
	local before
	printf '#!/bin/sh\necho "$*" >>%s\nexec gcc "$@"\n' "$tmp/log" >"$tmp/cc"
	chmod +x "$tmp/cc"
	kernel older
	before=$(CC=$tmp/cc look)
	[ "$(grep -c fsyntax-only "$tmp/log")" = 2 ] || fail "not compiled twice" || return
	[ "$(CC=$tmp/cc look)" = "$before" ] || fail "another result: $(look)" || return
	[ "$(grep -c fsyntax-only "$tmp/log")" = 2 ] || fail "compiled again" || return
	kernel present
	[ "$(CC=$tmp/cc look)" != "$before" ] || fail "the old result"
}

# compiles <file> <probe...>: write to <file> a command like the one that headers_command() (lab/headers.sh) writes for
# a kernel on which exactly these probes have an effect. The command is never run.
compiles() {
	local file=$1 name
	shift
	{
		printf gcc
		for name; do
			if [ -d "$tree/include/compat/$name" ]; then printf ' -I/tree/include/compat/%s' "$name"; else printf ' -D%s' "$name"; fi
		done
		echo ' -Ikernel'
	} >"$file"
}

# judge: print what the step "headers" reports about two kernels
judge() { bash -c '. "$0/scripts/lab/headers.sh"; headers_probes "$@" || exit' "$tree" "$tmp/one" "$tmp/two" 2>&1; }

test_probes-differ() {
	compiles "$tmp/one" "${all[@]}"
	compiles "$tmp/two"
	judge || fail "refused"
}

# A probe that has an effect on all kernels, or on none, is reported.
test_probes-same() {
	local others name
	for name in "${all[@]}"; do
		compiles "$tmp/one" "${all[@]}"
		compiles "$tmp/two" "$name"
		[ "$(judge)" = "the probe $name tells nothing: 2 of 2 kernels need it" ] || fail "not told: $name, $(judge)" || return
		! judge >/dev/null || fail "told, but not refused: $name" || return
		mapfile -t others < <(printf '%s\n' "${all[@]}" | grep -vx "$name")
		compiles "$tmp/one" "${others[@]}"
		compiles "$tmp/two"
		[ "$(judge)" = "the probe $name tells nothing: 0 of 2 kernels need it" ] || fail "not told: $name, $(judge)" || return
	done
}

test_shim-without-probe() {
	mkdir "$tmp/copy"
	cp -r "$tree/scripts" "$tree/include" "$tree/Kbuild" "$tmp/copy/"
	mkdir "$tmp/copy/include/compat/forgotten"
	compiles "$tmp/one" "${all[@]}"
	compiles "$tmp/two"
	[[ "$(tree=$tmp/copy judge)" == "no probe uses "*/forgotten/ ]] || fail "not told"
}

bad=0
for name in $(sed -n 's/^test_\([a-z0-9-]*\)().*/\1/p' "$0"); do
	if out=$("test_$name" 2>&1); then echo "ok $name"; else echo "not ok $name $(tail -n 1 <<<"$out")"; bad=1; fi
done
exit $bad
