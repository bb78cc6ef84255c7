# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Programs that people run on NFS, with both versions of the protocol, while the connection is
# broken about every ten seconds. Each program checks its own data, on the mount and, after the
# unmount, at the server. All files at the server must then be the same as they were on the mount.
# Guests: alone
# Limit: 5400
# Providers: siw rxe
# Long: program-git program-build program-postgres
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=1500
# Each program runs for at least this number of seconds.
PROGRAM_SECONDS=60
# The host has unpacked the sources of a kernel, and the guest sees them.
SOURCES=$CACHE/src/linux-source-$KERNEL
export HOME=/tmp GIT_CONFIG_NOSYSTEM=1

# listing <directory>: print a checksum of the names and contents of all its files, and of the names
# and targets of its symbolic links
listing() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum && find . -type l -printf '%p %l\n' | sort) | sha256sum
}

# program <name>: in both versions, run <name>_run on the mount, and <name>_check on the mount and at the server
program() {
	can_break
	program_here "$1"
	in_other_version program_here "$1"
}

program_here() {
	local there
	nfs_mount 4.2
	while_broken 10 1 "$1_run"
	"$1_check" $MNT
	there=$(listing $MNT)
	nfs_umount
	[ "$(listing $EXPORT)" = "$there" ] || die "the files at the server are not those that the client had"
	"$1_check" $EXPORT
	rm -rf ${EXPORT:?}/*
}

# --- SQLite -------------------------------------------------------------------

ledger() { python3 -I "$TOP/scripts/tests/peers/ledger.py" "$@"; }

sqlite_run() { ledger $MNT/ledger.db $PROGRAM_SECONDS; }
# A check may change the files, if SQLite still has to roll back what a killed process has begun. So program_here()
# lists the files after the check.
sqlite_check() { ledger "$1/ledger.db" 0 check; }

# Covers: V1-ERR-25
case_program-sqlite() { program sqlite; }

# --- git ----------------------------------------------------------------------

as_author() { git -c user.name=lab -c user.email=lab@example.org -c safe.directory='*' -c gc.auto=0 "$@"; }

# git_source: make a repository of some ten thousand files and 20 commits, unless there is one
git_source() {
	local i
	[ ! -d /tmp/source.git ] || return 0
	mkdir /tmp/source
	cp -r "$SOURCES"/{include,net,fs/nfs,fs/nfsd,kernel} /tmp/source
	as_author init -q /tmp/source
	for i in {1..20}; do
		find /tmp/source -name "*$i*.[ch]" -exec sed -i "1i /* $i */" {} +
		as_author -C /tmp/source add -A
		as_author -C /tmp/source commit -q -m "commit $i"
	done
	as_author clone -q --bare /tmp/source /tmp/source.git
	rm -rf /tmp/source
}

git_run() {
	local end=$((SECONDS + PROGRAM_SECONDS)) n=0
	while ((SECONDS < end)); do
		n=$((n + 1))
		as_author clone -q --no-local /tmp/source.git $MNT/clone$n
		as_author -C $MNT/clone$n checkout -q HEAD~10
		as_author -C $MNT/clone$n gc -q
		as_author -C $MNT/clone$n checkout -q -
		[ $n = 1 ] || rm -rf $MNT/clone$((n - 1))
	done
	echo "$n clones"
	mv $MNT/clone$n $MNT/clone
}

git_check() {
	as_author -C "$1/clone" fsck --full --strict
	[ -z "$(as_author -C "$1/clone" status --porcelain)" ] || die "the files are not those of the commit"
	[ "$(as_author -C "$1/clone" rev-parse HEAD)" = "$(as_author -C /tmp/source.git rev-parse HEAD)" ] ||
		die "this is another commit"
}

# Covers: V1-ERR-25
case_program-git() {
	can_break
	git_source
	program git
}

# --- a build ------------------------------------------------------------------

# Only these parts of the smallest kernel (tinyconfig) are built. They have at least a hundred
# object files. The whole kernel would take too long on a busy machine: at each system call and page
# fault, User-mode Linux switches from one process of the host to another, which may have to wait
# for a processor of the host.
BUILD_PARTS=(lib/ arch/x86/lib/)

# build <directory> <target...>: build in the directory, which is mounted on /build meanwhile. So
# make sees a copy of a directory under the same name as the original. Under another name, make
# would build everything again.
build() {
	mkdir -p "$1" /build
	mount --bind "$1" /build
	make -s -C "$SOURCES" O=/build -j4 "${@:2}"
	umount /build
}

# build_objects <directory>: print checksums of the object files
build_objects() { (cd "$1" && find . -name '*.o' -print0 | sort -z | xargs -0r sha256sum); }

# build_locally: on a local file system, build what make needs first (/tmp/prepared), and then the
# parts. The object files contain no time, so each build makes the same object files, and
# build_check can compare their checksums.
build_locally() {
	build /tmp/prepared tinyconfig
	build /tmp/prepared prepare
	cp -a /tmp/prepared /tmp/built
	build /tmp/built "${BUILD_PARTS[@]}"
	build_objects /tmp/built >/tmp/built.sums
	rm -r /tmp/built
	wc -l /tmp/built.sums
	[ "$(wc -l </tmp/built.sums)" -ge 100 ] || die "this is no kernel"
}

build_run() {
	local end=$((SECONDS + PROGRAM_SECONDS))
	cp -a /tmp/prepared $MNT/build
	build $MNT/build "${BUILD_PARTS[@]}"
	while ((SECONDS < end)); do
		find "${BUILD_PARTS[@]/#/$MNT/build/}" -name '*.[oa]' -delete
		build $MNT/build "${BUILD_PARTS[@]}"
	done
}

build_check() {
	build_objects "$1/build" | diff /tmp/built.sums - || die "the object files are not those of a build on a local file system"
}

# Covers: V1-ERR-25
case_program-build() {
	can_break
	grep -q 'User Mode Linux' /proc/cpuinfo || skip "an emulated guest would compile for an hour"
	build_locally
	program build
}

# --- a disk image ---------------------------------------------------------------

image_run() {
	local end=$((SECONDS + PROGRAM_SECONDS)) n=0 i image
	while ((SECONDS < end)); do
		n=$((n + 1))
		rm -f /tmp/image.qcow2 $MNT/image.raw
		qemu-img create -q -f qcow2 /tmp/image.qcow2 192M
		for i in {0..15}; do
			qemu-io -f qcow2 -c "write -q -P $((n % 16 * 16 + i)) $((i * 12))M 7M" /tmp/image.qcow2
		done
		# These two bypass the page cache. The commands in the next loop use it.
		qemu-img convert -f qcow2 -O raw -t none /tmp/image.qcow2 $MNT/image.raw
		qemu-img compare -q -T none -f qcow2 -F raw /tmp/image.qcow2 $MNT/image.raw || die "a block is not what was written"
		for image in qcow2:/tmp/image.qcow2 raw:$MNT/image.raw; do
			qemu-img resize -q -f ${image%%:*} ${image#*:} 200M
			qemu-io -f ${image%%:*} -c "write -q -P 171 192M 8M" -c "discard 24M 12M" -c "write -q -z 50M 3M" ${image#*:}
		done
	done
	echo "$n images"
}

image_check() { qemu-img compare -f qcow2 -F raw /tmp/image.qcow2 "$1/image.raw" || die "the image is another"; }

# Covers: V1-ERR-25
case_program-image() { program image; }

# --- PostgreSQL -----------------------------------------------------------------

PG=$(echo /usr/lib/postgresql/*/bin)
as_nobody() { (cd /tmp && setpriv --reuid=65534 --regid=65534 --clear-groups "$@"); }
pg_sql() { as_nobody "$PG/psql" -h /tmp/pg -U lab -d lab -v ON_ERROR_STOP=1 -qAt -c "$1"; }
pg_bench() { as_nobody "$PG/pgbench" -h /tmp/pg -U lab "$@" lab; }

# pg_up <directory>: start the server of the database
pg_up() {
	as_nobody "$PG/pg_ctl" -D "$1/pg" -l /tmp/pg/log -w -t 300 -o "-k /tmp/pg -c listen_addresses=''" start ||
		die "no PostgreSQL: $(tail -n 3 /tmp/pg/log)"
}

pg_down() { as_nobody "$PG/pg_ctl" -D "$1/pg" -w -t 300 -m "$2" stop; }

# pg_sums: print four sums: of all accounts, of all tellers, of all branches, and of the history.
# All four must be equal.
pg_sums() {
	pg_sql "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers),
		(SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)" | tr '|' '\n'
}

# Run a database with checksums. During transactions, stop its server so that it writes nothing more
# (pg_ctl -m immediate). When the server is started again, it must recover.
postgres_run() {
	local load
	mkdir -p $MNT/pg /tmp/pg
	chown 65534:65534 $MNT/pg /tmp/pg
	rm -f /tmp/pg/log
	as_nobody "$PG/initdb" -k -A trust -U lab --locale=C -D $MNT/pg >/tmp/initdb.log 2>&1 || die "$(tail -n 3 /tmp/initdb.log)"
	pg_up $MNT
	as_nobody "$PG/createdb" -h /tmp/pg -U lab lab
	pg_sql 'CREATE EXTENSION amcheck'
	pg_bench -i -q -s 5
	pg_bench -n -c 4 -T $((PROGRAM_SECONDS / 2))
	pg_bench -n -c 4 -T $PROGRAM_SECONDS &
	load=$!
	sleep $((PROGRAM_SECONDS / 4))
	pg_down $MNT immediate
	! wait $load || die "the load has not noticed that the server was stopped"
	pg_up $MNT
	grep -q 'automatic recovery in progress' /tmp/pg/log || die "the server did not recover"
	pg_bench -n -c 4 -T $((PROGRAM_SECONDS / 4))
	pg_down $MNT fast
}

postgres_check() {
	local sums
	as_nobody "$PG/pg_checksums" --check -D "$1/pg"
	pg_up "$1"
	sums=$(pg_sums | sort -u)
	as_nobody "$PG/pg_amcheck" -h /tmp/pg -U lab --heapallindexed lab || die "pg_amcheck has found damage"
	pg_down "$1" fast
	[ "$(wc -l <<<"$sums")" = 1 ] || die "the sums differ: $sums"
}

# Covers: V1-ERR-25
case_program-postgres() { program postgres; }

case_same-version() { same_version; }

before_case() { highest "$(version_here)"; }

group() { group_in_version; }
