# SPDX-License-Identifier: GPL-2.0
"""Direct I/O between files and the memory of the GPU that gpu.c imitates.

usage: gpu.py write FILE SERVER LENGTH [OFFSET]   write the GPU's memory to FILE; SERVER is the file at the server
       gpu.py read FILE SERVER LENGTH [OFFSET]    read FILE to the GPU's memory
       gpu.py both FILE SERVER LENGTH [OFFSET]    write, and then read
       gpu.py hold FILE SERVER LENGTH             like read, but wait for a line of standard input before it
       gpu.py mixed FILE                          write a page of the GPU and an ordinary page with one WRITE

LENGTH bytes begin OFFSET bytes into the first page. The program fails with the name of the errno if the system call
fails. It also fails if other bytes are moved than those, or if the placeholders are not as they were.
"""
import errno
import mmap
import os
import sys

SIZE = int(open("/sys/module/rpcrdma_gpu/parameters/size").read())
POISON = 0xA5


class Gpu:
    def __init__(self):
        fd = os.open("/dev/rpcrdma_gpu", os.O_RDWR)
        self.pages = mmap.mmap(fd, SIZE)
        self.memory = mmap.mmap(fd, SIZE, offset=SIZE)
        os.close(fd)
        self.pages[:] = bytes([POISON]) * SIZE

    def fill(self, data):
        self.memory[:] = data.ljust(SIZE, b"\0")

    def check(self):
        if self.pages[:].count(POISON) != SIZE:
            sys.exit("the CPU has written to placeholders")


def must(done, size):
    if done != size:
        sys.exit(f"{done} bytes were moved, not {size}")


def write(gpu, name, server, length, offset=0):
    data = os.urandom(length)
    gpu.fill(bytes(offset) + data)
    fd = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_DIRECT, 0o644)
    must(os.pwrite(fd, memoryview(gpu.pages)[offset:offset + length], 0), length)
    os.close(fd)
    with open(server, "rb") as file:
        if file.read() != data:
            sys.exit(f"{length} bytes from {offset}: the server has something else")
    if gpu.memory[:] != (bytes(offset) + data).ljust(SIZE, b"\0"):
        sys.exit("a WRITE has changed the memory")


def read(gpu, name, server, length, offset=0, hold=False):
    fd = os.open(name, os.O_RDONLY | os.O_DIRECT)
    gpu.fill(b"\xee" * SIZE)
    if hold:
        print("open", flush=True)
        sys.stdin.readline()
    must(os.preadv(fd, [memoryview(gpu.pages)[offset:offset + length]], 0), length)
    os.close(fd)
    with open(server, "rb") as file:
        data = file.read(length)
    if gpu.memory[:] != (b"\xee" * offset + data).ljust(SIZE, b"\xee"):
        sys.exit(f"{length} bytes to {offset}: something else was read")


def both(gpu, *args):
    write(gpu, *args)
    read(gpu, *args)


def mixed(gpu, name):
    other = mmap.mmap(-1, mmap.PAGESIZE)
    fd = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644)
    os.pwritev(fd, [memoryview(gpu.pages)[:mmap.PAGESIZE], memoryview(other)], 0)


def main(what, *args):
    gpu = Gpu()
    args = [int(arg) if arg.isdigit() else arg for arg in args]
    try:
        if what == "hold":
            read(gpu, *args, hold=True)
        else:
            {"write": write, "read": read, "both": both, "mixed": mixed}[what](gpu, *args)
    except OSError as error:
        gpu.check()
        sys.exit(errno.errorcode[error.errno])
    gpu.check()


main(*sys.argv[1:])
