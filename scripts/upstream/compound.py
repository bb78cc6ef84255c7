#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Send COMPOUNDs of NFSv4.0 with READs, each followed by a GETATTR, by TCP, and compare the answers
with the file. nfsd of Linux 7.3 answers some of them wrongly (nfsd-readv.patch).

usage: compound.py SERVER PATH FILE

The server shows the file as PATH, and this program reads it as FILE. It must have at least 64 KB,
and the export must allow unprivileged ports and the user root. The program prints how many
COMPOUNDs of each kind are wrong, and fails if there is one.
"""
import socket
import struct
import sys

PUTROOTFH = struct.pack(">I", 24)
GETATTR = struct.pack(">III", 9, 1, 1 << 4)     # of the size


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def lookup(name):
    return struct.pack(">I", 15) + opaque(name.encode())


def read(at, size):
    return struct.pack(">I", 25) + bytes(16) + struct.pack(">QI", at, size)


class Reply:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values

    def bytes(self):
        size, = self.take("I")
        data = self.data[self.at:self.at + size]
        self.at += size + -size % 4
        return data


class Server:
    def __init__(self, address):
        self.socket, self.xid = socket.create_connection((address, 2049)), 0

    def compound(self, ops):
        """Return what follows the header of the Reply: the status, the tag and the results."""
        self.xid += 1
        cred = struct.pack(">I", 0) + opaque(b"lab") + struct.pack(">III", 0, 0, 0)
        call = struct.pack(">IIIIII", self.xid, 0, 2, 100003, 4, 1) + struct.pack(">I", 1) + opaque(cred) + bytes(8) + \
            opaque(b"") + struct.pack(">II", 0, len(ops)) + b"".join(ops)
        self.socket.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
        size, = struct.unpack(">I", self.socket.recv(4, socket.MSG_WAITALL))
        reply = Reply(self.socket.recv(size & ~(1 << 31), socket.MSG_WAITALL))
        if reply.take("IIIIII")[:3] != (self.xid, 1, 0):
            sys.exit("the RPC is refused")
        return reply


def is_right(server, path, data, reads):
    ops = [PUTROOTFH] + [lookup(name) for name in path.strip("/").split("/")]
    first = len(ops)
    for at, size in reads:
        ops += [read(at, size), GETATTR]
    reply = server.compound(ops)
    try:
        reply.take("I")
        reply.bytes()
        reply.take("I")
        for _ in range(first):
            op, status = reply.take("II")
            if status:
                sys.exit(f"operation {op} has status {status}")
        for at, size in reads:
            if reply.take("III")[:2] != (25, 0) or reply.bytes() != data[at:at + size]:
                return False
            if reply.take("II") != (9, 0) or reply.take("IIIQ") != (1, 1 << 4, 8, len(data)):
                return False
    except struct.error:
        return False
    return True


def main():
    server, path, data = Server(sys.argv[1]), sys.argv[2], open(sys.argv[3], "rb").read()
    kinds = {
        "one READ of whole blocks": [[(4096 * i, 4096)] for i in range(8)],
        "one READ inside of blocks": [[(at, size)] for at in range(97, 161) for size in range(8152, 8196)],
        "one READ at the end": [[(len(data) + at, 100)] for at in range(0, 600, 100)],
        "two READs": [[(at, size), (at + size, size)] for at in range(0, 1024, 97) for size in range(4000, 9000, 491)],
        "three READs": [[(at, 5000), (513, 5000), (9, 7)] for at in range(0, 1024, 97)],
    }
    bad = 0
    for name, compounds in kinds.items():
        wrong = sum(not is_right(server, path, data, reads) for reads in compounds)
        print(f"{name}: {wrong} of {len(compounds)} are wrong", flush=True)
        bad += wrong
    sys.exit(bool(bad))


main()
