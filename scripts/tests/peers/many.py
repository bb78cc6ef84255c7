# SPDX-License-Identifier: GPL-2.0
"""Many clients at once, which share the memory of our server (decision G-39).

usage: many.py rest COUNT        COUNT connections that rest, until standard input is closed
       many.py strangers COUNT   the same, but they never use a file handle
       many.py turns ADDRESS...  a client at each of these addresses; one after the other is busy
With MANY_VERSION=2 they use version 2. Needs peer.py's library, and a server at ADDRESS of caller.py that exports
/export. Prints what the server gave to each client.
"""
import os
import sys
import time

from caller import PLAIN, Client, results, root_handle
from hostile_v2 import Client2
from peer import AUTH_ROOT, CONNPROP, PAGE, Verbs, opaque, rpc_call, want

NFS, NULL, GETATTR = 100003, 0, 1
BUSY = 1200             # Calls of a busy client: enough to get all the credits that the server has for it
HOLD = 512              # Receives of a busy client: more than a server grants


def kind():
    return Client2 if os.environ.get("MANY_VERSION") == "2" else Client


class Member:
    """One client. @root: the file handle whose attributes it asks for, or None: then it makes NULL Calls, so that the
    server does not get to know it. @count: number of its Receives"""

    def __init__(self, verbs, root, count):
        self.client = kind()(verbs, PLAIN, count, PAGE)
        self.root = root
        self.granted = 1
        self.call()

    def message(self):
        c = self.client
        xid = c.xid()
        rpc = rpc_call(xid, NFS, 3, GETATTR if self.root else NULL, self.root or b"", AUTH_ROOT)
        return c.header(xid, credit=HOLD) + rpc

    def take(self):
        answer = self.client.receive()
        # A client need not understand the notice that the server takes credits back.
        while answer and answer.proc == CONNPROP:
            answer = self.client.receive()
        want(answer, "no answer: the connection was lost" if self.client.conn.lost else "no answer")
        want(not self.root or results(answer).word() == 0, "GETATTR fails")
        self.granted = answer.credit

    def call(self):
        self.client.conn.send(self.message())
        self.take()

    def work(self, calls):
        """Make this number of Calls, with as many of them at once as the server grants."""
        sent = taken = 0
        while taken < calls:
            while sent < calls and sent - taken < self.granted:
                self.client.conn.send(self.message())
                sent += 1
            self.take()
            taken += 1


def rest(count, root):
    verbs = Verbs()
    members = [Member(verbs, root, 4) for _ in range(count)]
    if not root:
        for member in members:
            member.work(BUSY)
    print(f"resting {len(members)}", flush=True)
    sys.stdin.read()
    for member in members:
        member.call()
    print(f"answered {len(members)}")


def turns(addresses):
    verbs, root = Verbs(), opaque(root_handle("/export"))
    members = []
    for address in addresses:
        want(verbs.lib.peer_source(address.encode()) == 0, "an address")
        members.append(Member(verbs, root, HOLD))
    for address, member in zip(addresses, members):
        t0 = time.monotonic()
        member.work(BUSY)
        print(f"turn {address} {member.granted} {BUSY / (time.monotonic() - t0):.0f}", flush=True)
    # Check that all connections are still up. The server cannot take credits back from a silent
    # client (G-39). So until a client makes this Call, it has the credits that it got in its turn.
    for address, member in zip(addresses, members):
        member.call()
        print(f"kept {address} {member.granted}")


if __name__ == "__main__":
    if sys.argv[1] == "rest":
        rest(int(sys.argv[2]), opaque(root_handle("/export")))
    elif sys.argv[1] == "strangers":
        rest(int(sys.argv[2]), None)
    else:
        turns(sys.argv[2:])
