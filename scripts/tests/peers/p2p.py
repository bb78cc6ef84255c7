# SPDX-License-Identifier: GPL-2.0
"""Direct I/O between files and the peer-to-peer memory of the device that p2p.c drives.

usage: p2p.py refused DIR SERVER RANGE...       for each range, write a file in DIR from the memory,
                                                and read it to the memory: both must fail
       p2p.py again DIR SERVER TIMES RANGE...   the same, TIMES times
       p2p.py until DIR SERVER STOP RANGE...    the same, again and again until the file STOP exists
       p2p.py moved DIR SERVER RANGE...         like refused, but both must work
       p2p.py user FILE DEVICE                  the same from user space: both must fail

RANGE is LENGTH, LENGTH@OFFSET, or LENGTH@OFFSET:FROM-TO. LENGTH bytes begin OFFSET bytes into the
first page. The pages with the numbers FROM to TO - 1 are ordinary ones. SERVER is the directory at
the server that has the files of DIR. DEVICE is the directory of the PCI device in sysfs.

The error must be EIO, and from user space EREMOTEIO. After it, the memory and the server's file
must be as before. The program prints the number of operations.
"""
import errno
import fcntl
import itertools
import mmap
import os
import re
import struct
import sys

SIZE = int(open("/sys/module/rpcrdma_p2p/parameters/size").read())
PAGE = mmap.PAGESIZE
IO = 1 << 30 | 24 << 16 | ord("p") << 8 | 1     # _IOW('p', 1, struct p2p_io)
memory = -1
numbers = itertools.count()


class Range:
    def __init__(self, text):
        m = re.fullmatch(r"(\d+)(?:@(\d+)(?::(\d+)-(\d+))?)?", text)
        self.text = text
        self.length, self.offset, self.first, self.end = (int(n or 0) for n in m.groups())

    def mixed(self, data):
        """Both memories, with these data in the range, and zeros elsewhere"""
        data = (bytes(self.offset) + data).ljust(SIZE, b"\0")
        first, end = self.first * PAGE, self.end * PAGE
        return (data[:first] + bytes(end - first) + data[end:] +
                bytes(first) + data[first:end] + bytes(SIZE - end))


def fill(data):
    if os.pwrite(memory, data[:SIZE], 0) + os.pwrite(memory, data[SIZE:], SIZE) != 2 * SIZE:
        sys.exit("the memory cannot be written")


def holds():
    return os.pread(memory, SIZE, 0) + os.pread(memory, SIZE, SIZE)


def content(name):
    with open(name, "rb") as file:
        return file.read()


def io(name, write, span):
    """Returns the number of bytes; or the name of the errno."""
    fd = os.open(name, (os.O_WRONLY if write else os.O_RDONLY) | os.O_DIRECT)
    try:
        args = struct.pack("iIIIII", fd, write, span.length, span.offset, span.first, span.end)
        return fcntl.ioctl(memory, IO, bytearray(args))
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.close(fd)


def must(true, span, what):
    if not true:
        sys.exit(f"{span.text}: {what}")


def prepared(where, server, span):
    """Make a file at the server. Returns its name at both ends, and what it contains."""
    name = f"p2p.{os.getpid()}.{next(numbers)}"
    data = os.urandom(span.length)
    with open(f"{server}/{name}", "wb") as file:
        file.write(data)
    return f"{where}/{name}", f"{server}/{name}", data


def refused(where, server, span):
    name, there, data = prepared(where, server, span)
    for write in (1, 0):
        before = span.mixed(os.urandom(span.length))
        fill(before)
        rc = io(name, write, span)
        must(rc == "EIO", span, f"{'a write' if write else 'a read'} has ended with {rc}, not EIO")
        must(holds() == before, span, "the memory has changed")
        must(content(there) == data, span, "the server's file has changed")
    os.unlink(name)


def moved(where, server, span):
    name, there, data = prepared(where, server, span)
    data = os.urandom(span.length)
    fill(span.mixed(data))
    rc = io(name, 1, span)
    must(rc == span.length, span, f"a write has ended with {rc}")
    must(content(there) == data, span, "the server has something else")
    fill(bytes(2 * SIZE))
    rc = io(name, 0, span)
    must(rc == span.length, span, f"a read has ended with {rc}")
    must(holds() == span.mixed(data), span, "something else was read")
    os.unlink(name)


def user(name, device):
    fd = os.open(f"{device}/p2pmem/allocate", os.O_RDWR)
    pages = mmap.mmap(fd, 4 * PAGE)
    os.close(fd)
    pages[:] = b"\xee" * len(pages)
    for flags, call in ((os.O_WRONLY | os.O_CREAT, os.pwritev), (os.O_RDONLY, os.preadv)):
        fd = os.open(name, flags | os.O_DIRECT, 0o644)
        for length in (100, PAGE, 4 * PAGE):
            try:
                done = call(fd, [memoryview(pages)[:length]], 0)
            except OSError as error:
                if error.errno == errno.EREMOTEIO:
                    continue
                done = errno.errorcode[error.errno]
            sys.exit(f"{call.__name__} of {length} bytes has ended with {done}, not EREMOTEIO")
        os.close(fd)
    if pages[:] != b"\xee" * len(pages):
        sys.exit("the memory has changed")
    return 6


def each(do, where, server, ranges):
    for text in ranges:
        do(where, server, Range(text))
    return 2 * len(ranges)


def main(what, where, server, *args):
    global memory
    memory = os.open("/dev/rpcrdma_p2p", os.O_RDWR)
    done = 0
    if what == "user":
        done = user(where, server)
    elif what == "until":
        while not done or not os.path.exists(args[0]):
            done += each(refused, where, server, args[1:])
    elif what == "again":
        for _ in range(int(args[0])):
            done += each(refused, where, server, args[1:])
    else:
        done = each({"refused": refused, "moved": moved}[what], where, server, args)
    print(done)


main(*sys.argv[1:])
