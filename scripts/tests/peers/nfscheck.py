#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Use an NFS mount intensively, and check every byte, in one process without shell loops.

usage: nfscheck.py SECTION... --vers V [--mnt DIR] [--seed N] [--manifest FILE] [--scale F]
       nfscheck.py verify FILE DIR       at the server: check that the export matches the manifest
       nfscheck.py provide DIR           at the server: make a directory of 5,000 files, and a file
                                         with an ACL of 200 entries

Sections: names dir data direct mmap xattr acl small. The manifest lists the files that a section has left at the server
(sizes, sums, extended attributes). "verify" compares it with the server's own file system. Exits with status 1 and a line
"FAIL: why" at the first difference.
"""
import argparse
import ctypes
import errno
import fcntl
import hashlib
import json
import mmap
import os
import random
import stat
import struct
import sys
import time
import traceback

SIZES = [1, 2, 3, 4, 5, 7, 8, 31, 511, 512, 513, 1023, 1025, 2999, 3501, 3900, 3968, 4000,
         4095, 4096, 4097, 8191, 8192, 8195, 12289, 32769, 65535, 65536, 65537, 131071,
         262145, 524287, 524289, 1048577]
LIBC = ctypes.CDLL(None, use_errno=True)
ACL = "system.posix_acl_access"


def fail(why):
    print(f"FAIL: {why}", flush=True)
    sys.exit(1)


def need(cond, why):
    if not cond:
        fail(why)


class Pattern:
    """Random blocks of bytes, which depend on the seed. A misplaced byte is noticed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(1 << 20)

    def make(self, length):
        at = self.rng.randrange(len(self.pool))
        out = bytearray()
        while len(out) < length:
            out += self.pool[at:at + length - len(out)]
            at = 0
        # The first bytes are random, so that two blocks written to the same offset differ, unless
        # they have only a few bytes.
        tag = struct.pack("<Q", self.rng.getrandbits(64))[:length]
        out[:len(tag)] = tag
        return bytes(out)


def getxattr(path, name, room=65536):
    """Get an extended attribute with a large buffer at once. os.getxattr() first tries 128 bytes. Over RDMA, the
    client then has no room for a longer Reply, and the server answers with an error (EIO)."""
    buf = ctypes.create_string_buffer(room)
    n = LIBC.getxattr(path.encode(), name.encode(), buf, room)
    if n < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"{path} {name[:20]}")
    return buf.raw[:n]


def listxattr(path, room=65536):
    """List the extended attributes, with a large buffer at once. os.listxattr() begins with 256 bytes. If these have room
    for the first names only, nfsd may refuse to list the rest (EBADCOOKIE)."""
    buf = ctypes.create_string_buffer(room)
    n = LIBC.listxattr(path.encode(), buf, room)
    if n < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return buf.raw[:n].decode().split("\0")[:-1]


def first_difference(a, b):
    if len(a) != len(b):
        return f"length {len(a)} instead of {len(b)}"
    for at in range(0, len(a), 4096):
        if a[at:at + 4096] != b[at:at + 4096]:
            for i in range(at, min(at + 4096, len(a))):
                if a[i] != b[i]:
                    bad = sum(x != y for x, y in zip(a[i:i + 65536], b[i:i + 65536]))
                    return f"byte {i} of {len(a)} is {a[i]:#04x}, not {b[i]:#04x} ({bad} differ in the next 64 KiB)"
    return "nothing"


def same(got, want, what):
    if got != want:
        fail(f"{what}: {first_difference(got, want)}")


class Check:
    def __init__(self, args):
        self.vers = args.vers
        self.scale = args.scale
        self.pat = Pattern(args.seed)
        self.rng = random.Random(args.seed + 1)
        # The name has the process ID, because two runs in a guest may have the same seed: cases.sh
        # passes a random number from 1 to 32768.
        self.dir = os.path.join(args.mnt, f"check-{args.vers}-{args.seed}-{os.getpid()}")
        self.manifest = {"files": {}, "xattrs": {}, "names": {}, "links": {}}
        self.mnt = args.mnt
        os.mkdir(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def rel(self, path):
        return os.path.relpath(path, self.mnt)

    def record(self, path, data):
        self.manifest["files"][self.rel(path)] = [len(data), hashlib.sha256(data).hexdigest()]

    # -- names

    def names(self):
        d = self.path("names")
        os.mkdir(d)
        os.mkdir(f"{d}/sub")
        for i in range(40):
            with open(f"{d}/f{i}", "xb") as f:
                f.write(self.pat.make(i * 3))
        need(sorted(os.listdir(d)) == sorted([f"f{i}" for i in range(40)] + ["sub"]), "names after create")
        for i in range(0, 40, 2):
            os.rename(f"{d}/f{i}", f"{d}/sub/r{i}")
        os.rename(f"{d}/f1", f"{d}/f3")
        need(os.path.getsize(f"{d}/f3") == 3, "size of a file renamed over another")
        for i in range(5, 40, 4):
            os.unlink(f"{d}/f{i}")
        try:
            os.stat(f"{d}/f5")
            fail("stat of an unlinked name works")
        except FileNotFoundError:
            pass
        try:
            os.rmdir(f"{d}/sub")
            fail("rmdir of a full directory works")
        except OSError as e:
            need(e.errno in (errno.ENOTEMPTY, errno.EEXIST), f"rmdir of a full directory: {e}")
        os.link(f"{d}/f3", f"{d}/hard")
        need(os.stat(f"{d}/hard").st_nlink == 2, "link count")
        for length in (1, 40, 255, 1000, 2047, 4000, 4095):
            target = "/".join(["x" * 100] * 41)[:length]
            link = f"{d}/l{length}"
            os.symlink(target, link)
            need(os.readlink(link) == target, f"readlink of {length} bytes right after symlink")
            self.manifest["links"][self.rel(link)] = target
        long = "n" * 255
        with open(f"{d}/{long}", "xb") as f:
            f.write(b"x")
        os.chmod(f"{d}/{long}", 0o640)
        need(os.stat(f"{d}/{long}").st_mode & 0o777 == 0o640, "mode after chmod")
        os.mkfifo(f"{d}/fifo")
        with open(f"{d}/open-unlinked", "w+b") as f:
            f.write(b"still here")
            f.flush()
            os.unlink(f.name)
            f.seek(0)
            need(f.read() == b"still here", "read of an unlinked open file")
        if self.vers != "3":
            with open(f"{d}/hard", "r+b") as f:
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
                fcntl.lockf(f, fcntl.LOCK_UN)
        os.statvfs(d)
        for sub in (d, f"{d}/sub"):
            names = sorted(n for n in os.listdir(sub) if not n.startswith(".nfs"))
            self.manifest["names"][self.rel(sub)] = names

    def dir5000(self):
        """Read a directory of 5,000 files that the server has made ("provide")."""
        d = os.path.join(self.mnt, "entries")
        want = entry_names(5000)
        got = os.listdir(d)
        need(len(got) == len(want), f"readdir gave {len(got)} names, not {len(want)}")
        need(sorted(got) == sorted(want), "readdir gave other names")
        with os.scandir(d) as it:
            for n, e in enumerate(it):
                if n == 60:
                    break
                need(e.stat().st_size == 0, f"attributes of {e.name}")

    # -- data

    def readback(self, path, data, flags, step=0):
        """Read the file in uneven pieces, which differ from run to run."""
        fd = os.open(path, os.O_RDONLY | flags)
        buf = mmap.mmap(-1, (1 << 20) + (1 << 16))
        view = memoryview(buf)
        at = 0
        while at < len(data):
            n = step or self.rng.choice((4096, 65536, 262144, 1 << 20, 131073, 1048575))
            skew = self.rng.choice((0, 0, 1, 512, 777))
            got = os.preadv(fd, [view[skew:skew + n]], at)
            need(got > 0, f"{path}: end of file at {at} of {len(data)}")
            same(bytes(view[skew:skew + got]), data[at:at + got], f"{path} at {at}, {got} bytes")
            at += got
        need(os.preadv(fd, [view[:10]], len(data)) == 0, f"{path} goes on after its end")
        view.release()
        buf.close()
        os.close(fd)

    def scaled(self, size):
        """Reduce sizes above 65537, which move most of the data, by the scale."""
        return size if size <= 65537 else int(size * self.scale)

    def io(self, name, flags, big):
        """Write 1 byte to 8 MB at odd offsets of one file, and read the data back."""
        path = self.path(name)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
        buf = mmap.mmap(-1, big + 8192)
        view = memoryview(buf)
        mirror = bytearray()

        def write(at, length):
            data = self.pat.make(length)
            skew = self.rng.choice((0, 1, 13, 512, 4095)) if flags else 0
            view[skew:skew + length] = data
            done = 0
            while done < length:
                done += os.pwritev(fd, [view[skew + done:skew + length]], at + done)
            if len(mirror) < at + length:
                mirror.extend(bytes(at + length - len(mirror)))
            mirror[at:at + length] = data

        def read(at, length):
            skew = self.rng.choice((0, 1, 13, 512, 4095))
            got = 0
            while got < length:
                n = os.preadv(fd, [view[skew + got:skew + length]], at + got)
                if n == 0:
                    break
                got += n
            same(bytes(view[skew:skew + got]), bytes(mirror[at:at + length]), f"{path} at {at}, {length} bytes")

        for size in SIZES:
            size = self.scaled(size)
            at = self.rng.choice((0, 1, 4095, 4096, 70001, len(mirror), max(0, len(mirror) - 3)))
            write(at, size)
            if flags:
                read(at, size)
        write(3, big)
        os.fsync(fd)
        # With O_DIRECT, test fewer sizes here, because the loop above has already read a block of
        # each size.
        for size in SIZES[::4] if flags else SIZES:
            size = self.scaled(size)
            read(self.rng.randrange(len(mirror)), size)
        read(0, 100)
        os.close(fd)
        view.release()
        buf.close()
        need(os.stat(path).st_size == len(mirror), f"{path}: size {os.stat(path).st_size}, not {len(mirror)}")
        return path, mirror

    def drop(self, path):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)

    def data(self):
        path, mirror = self.io("buffered", 0, int((8 << 20) * self.scale))
        self.drop(path)
        self.readback(path, bytes(mirror), 0)
        # Shrink and extend the file: bytes that were cut off come back as zeros.
        for size in (len(mirror) - 4097, 1000003, 1000003 + 70000, 12345, 12345 + 9000):
            os.truncate(path, size)
            if size < len(mirror):
                del mirror[size:]
            else:
                mirror.extend(bytes(size - len(mirror)))
            need(os.stat(path).st_size == size, f"size after truncate to {size}")
        with open(path, "ab") as f:
            tail = self.pat.make(70001)
            f.write(tail)
            f.flush()
            os.fsync(f.fileno())
        mirror += tail
        self.drop(path)
        self.readback(path, bytes(mirror), os.O_DIRECT)
        self.record(path, mirror)
        sync = self.path("sync")
        fd = os.open(sync, os.O_WRONLY | os.O_CREAT | os.O_SYNC)
        body = b"".join(self.pat.make(n) for n in (1, 4096, 333, 65537))
        os.write(fd, body)
        os.close(fd)
        self.record(sync, body)

    def direct(self):
        path, mirror = self.io("direct", os.O_DIRECT, int((8 << 20) * self.scale))
        self.readback(path, bytes(mirror), os.O_DIRECT)
        self.record(path, mirror)

    def mmap(self):
        path = self.path("mapped")
        size = 300001
        with open(path, "w+b") as f:
            f.truncate(size)
            mirror = bytearray(size)
            with mmap.mmap(f.fileno(), size) as m:
                for at, n in ((0, 1), (4095, 2), (8191, 4097), (100000, 70000), (size - 5, 5)):
                    data = self.pat.make(n)
                    m[at:at + n] = data
                    mirror[at:at + n] = data
                m.flush()
            os.fsync(f.fileno())
        self.drop(path)
        with open(path, "rb") as f, mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ) as m:
            same(m[:], bytes(mirror), f"{path} through mmap")
        self.record(path, mirror)

    def small(self):
        """A little data, of lengths that are sent inline and in chunks."""
        for n in (1, 100, 1024, 3000, 4096, 5000, 16384, 65536, 100001, 262144):
            path = self.path(f"small-{n}")
            body = self.pat.make(n)
            with open(path, "xb") as f:
                f.write(body)
            self.record(path, body)
            self.drop(path)
            with open(path, "rb") as f:
                same(f.read(), body, path)
            self.readback(path, body, os.O_DIRECT, 65536)

    # -- attributes

    def xattr(self):
        path = self.path("xattr")
        open(path, "xb").close()
        want = {}
        # The Call that sets a long value does not fit into one Send. A value is not DDP-eligible,
        # so it is sent with its roundup.
        for n in (1, 100, 3000, 4096, 10001, 65536):
            value = self.pat.make(n)
            os.setxattr(path, f"user.v{n}", value)
            want[f"user.v{n}"] = value
        # 13 KB of names, so that the answer is long. The guests with 6.1 export an ext4, which has room for only 4 KB
        # of names and values (it stores large values elsewhere).
        for i in range(2 if os.environ.get("KERNEL") == "debian-6.1" else 55):
            name = f"user.{'many' * 59}{i}"
            os.setxattr(path, name, b"%d" % i)
            want[name] = b"%d" % i
        need(sorted(n for n in listxattr(path) if n.startswith("user.")) == sorted(want), "listxattr")
        os.removexattr(path, "user.v100")
        del want["user.v100"]
        with open("/proc/sys/vm/drop_caches", "w") as f:
            f.write("2")
        for name, value in want.items():
            if name.startswith("user.v"):
                same(getxattr(path, name), value, f"getxattr {name}")
        self.manifest["xattrs"][self.rel(path)] = {n: hashlib.sha256(v).hexdigest() for n, v in want.items()}

    def acl(self):
        if self.vers == "3":
            for count in (5, 120, 320):  # 330 fail over TCP, too
                path = self.path(f"acl{count}")
                open(path, "xb").close()
                acl = posix_acl(count)
                os.setxattr(path, ACL, acl)
                same(getxattr(path, ACL), acl, f"ACL of {count} entries")
                self.manifest["xattrs"][self.rel(path)] = {ACL: hashlib.sha256(acl).hexdigest()}
            return
        # The server has made "acl-file" with a long POSIX ACL. The client sees it as an NFSv4 ACL.
        path = os.path.join(self.mnt, "acl-file")
        acl = getxattr(path, "system.nfs4_acl")
        count = struct.unpack(">I", acl[:4])[0]
        need(count > 200 and len(acl) > 4096, f"NFSv4 ACL has {count} entries, {len(acl)} bytes")
        mine = self.path("acl-copy")
        open(mine, "xb").close()
        os.setxattr(mine, "system.nfs4_acl", acl)
        same(getxattr(mine, "system.nfs4_acl"), acl, "NFSv4 ACL written and read again")
        want = posix_acl(200)
        self.manifest["xattrs"][self.rel(path)] = {ACL: hashlib.sha256(want).hexdigest()}
        self.manifest["xattrs"][self.rel(mine)] = {ACL: hashlib.sha256(want).hexdigest()}


def posix_acl(named):
    """An ACL in the kernel's format: owner, named users, group, mask, others."""
    undef = 0xffffffff
    entries = [(0x01, 7, undef)]
    entries += [(0x02, i % 7 + 1, 2000 + i) for i in range(named)]
    entries += [(0x04, 5, undef), (0x10, 7, undef), (0x20, 4, undef)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)


def entry_names(count):
    return [f"entry-{i:05d}-{'e' * (i % 60)}" for i in range(count)]


def provide(export):
    os.mkdir(f"{export}/entries")
    for name in entry_names(5000):
        # mknod() takes a quarter of the time that open() and close() take.
        os.mknod(f"{export}/entries/{name}", stat.S_IFREG | 0o666)
    os.mknod(f"{export}/acl-file", stat.S_IFREG | 0o666)
    os.setxattr(f"{export}/acl-file", ACL, posix_acl(200))


def verify(manifest, export):
    with open(manifest) as f:
        m = json.load(f)
    for name, (size, digest) in m["files"].items():
        with open(os.path.join(export, name), "rb") as f:
            body = f.read()
        need(len(body) == size, f"server: {name} has {len(body)} bytes, not {size}")
        need(hashlib.sha256(body).hexdigest() == digest, f"server: the sum of {name} differs")
    for name, target in m["links"].items():
        need(os.readlink(os.path.join(export, name)) == target, f"server: symlink {name}")
    for name, want in m["names"].items():
        need(sorted(os.listdir(os.path.join(export, name))) == want, f"server: names in {name}")
    for name, want in m["xattrs"].items():
        for attr, digest in want.items():
            value = getxattr(os.path.join(export, name), attr)
            need(hashlib.sha256(value).hexdigest() == digest, f"server: {attr[:40]} of {name}")
    total = sum(len(v) for v in m.values())
    need(total, "the manifest is empty")
    print(f"server: {total} things compared")


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "verify":
        return verify(*sys.argv[2:])
    if verb == "provide":
        return provide(sys.argv[2])
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("section", nargs="+")
    p.add_argument("--vers", required=True)
    p.add_argument("--mnt", default="/mnt")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--scale", type=float, default=1.0)
    p.add_argument("--manifest")
    args = p.parse_args()
    check = Check(args)
    for section in args.section:
        start = time.monotonic()
        try:
            getattr(check, "dir5000" if section == "dir" else section)()
        except OSError as e:
            where = traceback.extract_tb(e.__traceback__)
            line = [f for f in where if f.filename == __file__][-1]
            fail(f"{section}: {e} ({line.line})")
        print(f"{section}: fine, {time.monotonic() - start:.1f} s", flush=True)
    if args.manifest:
        with open(args.manifest, "w") as f:
            json.dump(check.manifest, f)
    return None


main()
