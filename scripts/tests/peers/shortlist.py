#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Use the most important operations of NFS once or twice, and check the data. This is short, so that it can be
repeated with many settings of a connection.

usage: shortlist.py list MNT EXPORT VERSION
       shortlist.py sizes MNT EXPORT SIZE...

list: WRITEs and READs of one system call each, a file through the page cache, a long symlink, a
directory, with version 4.2 a long extended attribute, and the making, renaming and removing of
names. sizes: first some WRITEs and READs of 128 KB, then files of these sizes, of one byte less and
of one byte more, written and read with one system call each and through the page cache. EXPORT is
the directory on the server that is mounted at MNT, and must have the same data.
"""
import mmap
import os
import random
import shutil
import sys
import time

ENTRIES = 400
PIECES = (1, 4096, 8192, 16385, 28673, 65536)


def same(found, wanted, what):
    if found != wanted:
        sys.exit(f"FAIL: {what}: {len(found)} bytes, not {len(wanted)}, or other ones")


def content(path):
    with open(path, "rb") as f:
        return f.read()


class Files:
    def __init__(self, mnt, export):
        self.mnt, self.export = mnt, export
        self.buffer = mmap.mmap(-1, 2 << 20)
        self.random = random.Random()

    def direct(self, size):
        """Write and read @size bytes with O_DIRECT, by one system call each, and compare the data."""
        data = self.random.randbytes(size)
        self.buffer[:size] = data
        fd = os.open(f"{self.mnt}/direct", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_DIRECT, 0o644)
        view = memoryview(self.buffer)[:size]
        if os.pwritev(fd, [view], 0) != size:
            sys.exit(f"FAIL: {size} bytes are not written at once")
        same(content(f"{self.export}/direct"), data, f"the server, {size} bytes at once")
        self.buffer[:size] = bytes(size)
        count = os.preadv(fd, [view], 0)
        os.close(fd)
        same(self.buffer[:count], data, f"reading {size} bytes at once")

    def cached(self, size):
        data = self.random.randbytes(size)
        with open(f"{self.mnt}/cached", "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        same(content(f"{self.export}/cached"), data, f"the server, {size} bytes by the page cache")
        same(content(f"{self.mnt}/cached"), data, f"reading {size} bytes by the page cache")

    def link(self, length):
        to = "/".join(["y" * 90] * 50)[:length]
        os.symlink(to, f"{self.mnt}/link")
        same(os.readlink(f"{self.export}/link").encode(), to.encode(), "the server's link")
        same(os.readlink(f"{self.mnt}/link").encode(), to.encode(), "the link")
        os.unlink(f"{self.mnt}/link")

    def directory(self):
        where = f"{self.export}/listed"
        names = {f"{i:060}" for i in range(ENTRIES)}
        if not os.path.isdir(where):
            os.mkdir(where)
            for name in names:
                os.close(os.open(f"{where}/{name}", os.O_CREAT))
        found = {e.name for e in os.scandir(f"{self.mnt}/listed")}
        if found != names:
            sys.exit(f"FAIL: {len(found)} entries, not {ENTRIES}, or other ones")

    def attribute(self, length):
        value = self.random.randbytes(length)
        os.setxattr(f"{self.mnt}/cached", "user.list", value)
        same(os.getxattr(f"{self.export}/cached", "user.list"), value, "the server's attribute")
        same(os.getxattr(f"{self.mnt}/cached", "user.list"), value, "the attribute")

    def names(self):
        os.mkdir(f"{self.mnt}/made")
        os.rename(f"{self.mnt}/direct", f"{self.mnt}/made/renamed")
        if os.listdir(f"{self.export}/made") != ["renamed"]:
            sys.exit("FAIL: the server has other names")
        # The NFS client lets a task continue before an RPC has dropped all of its references to a
        # file (for example in nfs_commit_end() and nfs_commitdata_release()). If the file is
        # removed in between, the client takes it for open, and renames it to .nfs*. On a busy
        # machine this was seen once in 3000 removals. The renamed file disappears a moment later.
        for _ in range(30):
            shutil.rmtree(f"{self.mnt}/made", ignore_errors=True)
            left = os.listdir(f"{self.export}/made") if os.path.exists(f"{self.export}/made") else []
            if not any(name.startswith(".nfs") for name in left):
                break
            time.sleep(1)
        if os.path.exists(f"{self.export}/made"):
            sys.exit(f"FAIL: the directory is still there, with {left}")


def do_list(mnt, export, version):
    files = Files(mnt, export)
    # Do this twice, because the server grants more credits to a client that uses them.
    for _ in range(2):
        for size in PIECES:
            files.direct(size)
    files.cached(200001)
    files.link(3900)
    files.directory()
    if version == "4.2":
        files.attribute(20000)
    files.names()


def do_sizes(mnt, export, *sizes):
    files = Files(mnt, export)
    for _ in range(8):
        files.direct(131072)
    for near in map(int, sizes):
        for size in range(near - 1, near + 2):
            files.direct(size)
            files.cached(size)


if __name__ == "__main__":
    {"list": do_list, "sizes": do_sizes}[sys.argv[1]](*sys.argv[2:])
