#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A load that knows the expected value of every byte, to run while something is broken.

usage: faultload.py run DIR MIRRORS [--seconds N | --stop FILE] [--jobs N] [--small-writes]
       faultload.py verify DIR MIRRORS
       faultload.py reader FILE BYTES

run: each job has a file of its own, and a mirror of it in memory. It writes random data of several sizes, with O_DIRECT
and through the page cache, and reads with O_DIRECT what it has written. Every byte that is read must be equal to the
mirror, and no call may fail, because the mount is hard. At the end the mirrors are stored in MIRRORS. The last line has
the number of system calls, and the time of the longest, which shows how long a job had to wait for a recovery. With
--small-writes, each write has 512 bytes and uses O_DIRECT, so it is sent at once, and inline.
verify: compare the files in DIR, as the server has them, with the mirrors.
reader: read FILE with O_DIRECT into one buffer until the program is killed.
"""
import argparse
import mmap
import multiprocessing
import os
import random
import sys
import time

SIZE = 2 << 20
SIZES = (512, 4096, 13 * 1024, 65536, 262144, 512 << 10)


class Job:
    def __init__(self, directory, number, small_writes):
        self.name = f"load{number}"
        path = os.path.join(directory, self.name)
        flags = os.O_RDWR | os.O_CREAT
        self.random = random.Random(time.time_ns() + number)
        self.mirror = bytearray(SIZE)
        self.buffer = mmap.mmap(-1, max(SIZES))
        self.cached = os.open(path, flags, 0o644)
        os.pwrite(self.cached, self.mirror, 0)
        os.fsync(self.cached)
        self.small_writes = small_writes
        self.direct = os.open(path, flags | os.O_DIRECT)
        self.calls = 0
        self.longest = 0.0

    def timed(self, call, *args):
        start = time.monotonic()
        result = call(*args)
        self.longest = max(self.longest, time.monotonic() - start)
        self.calls += 1
        return result

    def write(self, offset, size):
        view = memoryview(self.buffer)[:size]
        view[:] = self.random.randbytes(size)
        fd = self.direct if self.small_writes or self.random.random() < 0.7 else self.cached
        done = 0
        while done < size:
            done += self.timed(os.pwritev, fd, [view[done:]], offset + done)
        self.mirror[offset:offset + size] = view
        # Data in the page cache must be at the server before later writes with O_DIRECT.
        if fd == self.cached:
            self.timed(os.fsync, fd)

    def read(self, offset, size):
        view = memoryview(self.buffer)[:size]
        view[:] = b"\xee" * size
        done = 0
        while done < size:
            n = self.timed(os.preadv, self.direct, [view[done:]], offset + done)
            if not n:
                raise ValueError(f"{self.name}: end of file at {offset + done}")
            done += n
        if view != memoryview(self.mirror)[offset:offset + size]:
            bad = next(i for i in range(size) if view[i] != self.mirror[offset + i])
            got, want = bytes(view[bad:bad + 16]).hex(), self.mirror[offset + bad:offset + bad + 16].hex()
            raise ValueError(f"{self.name}: wrong data at {offset + bad} (read of {size} at {offset}): "
                             f"{got}, not {want}")

    def run(self, over):
        while not over():
            writes = self.random.random() < 0.5
            size = SIZES[0] if writes and self.small_writes else self.random.choice(SIZES)
            offset = self.random.randrange(SIZE - size + 1) & ~511
            (self.write if writes else self.read)(offset, size)
        os.fsync(self.cached)
        for offset in range(0, SIZE, max(SIZES)):
            self.read(offset, max(SIZES))
        os.close(self.direct)
        os.close(self.cached)


def work(number, args, results):
    try:
        job = Job(args.dir, number, args.small_writes)
        end = time.monotonic() + args.seconds
        job.run((lambda: os.path.exists(args.stop)) if args.stop else (lambda: time.monotonic() > end))
        with open(os.path.join(args.mirrors, job.name), "wb") as f:
            f.write(job.mirror)
        results.put((number, None, job.calls, job.longest))
    except (OSError, ValueError) as error:
        results.put((number, str(error), 0, 0))


def run(args):
    os.makedirs(args.mirrors, exist_ok=True)
    results = multiprocessing.Queue()
    jobs = [multiprocessing.Process(target=work, args=(n, args, results)) for n in range(args.jobs)]
    for job in jobs:
        job.start()
    calls, longest, errors = 0, 0.0, []
    for _ in jobs:
        number, error, n, t = results.get()
        calls, longest = calls + n, max(longest, t)
        if error:
            errors.append(error)
            print(f"job {number}: {error}", flush=True)
    for job in jobs:
        job.join()
    if errors:
        print(f"FAIL: {errors[0]}")
        return 1
    print(f"{calls} calls, all right; the longest took {longest:.1f} s")
    return 0


def verify(args):
    rc = 0
    names = sorted(os.listdir(args.mirrors))
    for name in names:
        with open(os.path.join(args.mirrors, name), "rb") as f, open(os.path.join(args.dir, name), "rb") as g:
            want, got = f.read(), g.read()
        if want != got:
            bad = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
            print(f"FAIL: {name}: the server has other data at {bad}")
            rc = 1
    print(f"{len(names)} files compared")
    return rc if names else 1


def reader(args):
    buffer = mmap.mmap(-1, args.bytes)
    fd = os.open(args.file, os.O_RDONLY | os.O_DIRECT)
    print("reading", flush=True)
    while True:
        os.preadv(fd, [buffer], 0)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("run")
    p.add_argument("dir")
    p.add_argument("mirrors")
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--stop")
    p.add_argument("--jobs", type=int, default=3)
    p.add_argument("--small-writes", action="store_true")
    p = commands.add_parser("verify")
    p.add_argument("dir")
    p.add_argument("mirrors")
    p = commands.add_parser("reader")
    p.add_argument("file")
    p.add_argument("bytes", type=int)
    args = parser.parse_args()
    sys.exit({"run": run, "verify": verify, "reader": reader}[args.command](args))


if __name__ == "__main__":
    main()
