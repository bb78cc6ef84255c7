#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Set nfsd's RDMA listeners with netlink, each bound to an address (Linux 6.10 and later).

usage: listeners.py ADDRESS@PORT ...
nfsd must not have threads. The exit status is 1 if the kernel refuses, and 77 if nfsd has no netlink family.
"""
import os
import socket
import struct
import sys

GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
NLMSG_ERROR, NLM_F_REQUEST, NLM_F_ACK, NLA_F_NESTED = 2, 1, 4, 0x8000
NFSD_CMD_LISTENER_SET, NFSD_A_SERVER_SOCK_ADDR = 6, 1
NFSD_A_SOCK_ADDR, NFSD_A_SOCK_TRANSPORT_NAME = 1, 2
SOCKADDR_STORAGE = 128


def attribute(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def ask(sock, family, command, flags, payload):
    length = 20 + len(payload)
    sock.send(struct.pack("IHHII", length, family, NLM_F_REQUEST | flags, 1, 0)
              + struct.pack("BBH", command, 1, 0) + payload)
    answer = sock.recv(65536)
    kind = struct.unpack_from("IH", answer)[1]
    error = struct.unpack_from("i", answer, 16)[0] if kind == NLMSG_ERROR else 0
    return error, answer


def family_of(sock, name):
    error, answer = ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0,
                        attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0"))
    at = 20
    while not error and at < len(answer):
        length, kind = struct.unpack_from("HH", answer, at)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("H", answer, at + 4)[0]
        at += (length + 3) & ~3
    sys.exit(77)


def sockaddr(text):
    host, port = text.rsplit("@", 1)
    v6 = ":" in host
    family = socket.AF_INET6 if v6 else socket.AF_INET
    packed = struct.pack("=H", family) + struct.pack(">H", int(port)) + bytes(4 if v6 else 0)
    packed += socket.inet_pton(family, host)
    return packed + bytes(SOCKADDR_STORAGE - len(packed))


def main():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    sock.bind((0, 0))
    payload = b"".join(
        attribute(NFSD_A_SERVER_SOCK_ADDR | NLA_F_NESTED,
                  attribute(NFSD_A_SOCK_ADDR, sockaddr(a)) + attribute(NFSD_A_SOCK_TRANSPORT_NAME, b"rdma\0"))
        for a in sys.argv[1:])
    error, _ = ask(sock, family_of(sock, "nfsd"), NFSD_CMD_LISTENER_SET, NLM_F_ACK, payload)
    if error:
        sys.exit(f"listeners: {os.strerror(-error)}")


main()
