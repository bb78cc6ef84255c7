#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: wired.py COMMAND...

Run a command with two pairs of connected sockets: file descriptors 61 and 62, and 63 and 64. The
command gives each of two guests one socket of each pair. The second pair is for groups with a
second link.
"""
import os
import socket
import sys

for numbers in ((61, 62), (63, 64)):
    for number, end in zip(numbers, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)):
        for size in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, size, 1 << 20)
        end.setblocking(False)
        os.dup2(end.fileno(), number, inheritable=True)
os.execvp(sys.argv[1], sys.argv[1:])
