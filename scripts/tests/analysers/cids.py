#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Completion IDs: can the life of each Receive, Send and memory region be followed in a trace?

usage: cids.py FILE [--lossy]

FILE is a trace of all events of the module (trace_clock mono). It must begin before the first connection,
and end after the last. Everything that is posted must complete once, with the completion ID (cq.id and cid)
with which it was posted. A completion ID belongs to one object, and a completion queue to one side. --lossy:
the provider may lose completions when a queue is destroyed (siw).
"""
import collections
import re
import sys

# For each kind of work request, and for mapped regions: the side (empty if both sides have it), the
# event with which it begins, and the event with which it ends
KINDS = {
    "Receive": ("", "rpcrdma_recv_post", "rpcrdma_recv_done"),
    "client's Send": ("client", "xprt_rdma_send", "xprt_rdma_send_done"),
    "server's Send": ("server", "svc_rdma_send", "svc_rdma_send_done"),
    "server's Reads": ("server", "svc_rdma_read", "svc_rdma_read_done"),
    "region": ("client", "xprt_rdma_mr_map", "xprt_rdma_mr_unmap"),
}
BEGINS = {begin: kind for kind, (_, begin, _) in KINDS.items()}
ENDS = {end: kind for kind, (_, _, end) in KINDS.items()}
# Events of a region that may occur only while it is mapped, and events of an object that may occur only while it is
# not posted
WITHIN = {"xprt_rdma_mr_local_inv": "region", "xprt_rdma_mr_remote_inv": "region"}
BESIDE = {"xprt_rdma_receive": "Receive", "svc_rdma_receive": "Receive", "svc_rdma_reply": "server's Send"}
# The RDMA Reads of a Call have the completion ID of the Call's Receive.
NAMED_BY = {"server's Reads": "Receive"}
LINE = re.compile(r"(\d+\.\d+): (\w+): (.*\bcq\.id=(\d+) cid=(-?\d+)\b.*)")


class Lives:
    def __init__(self):
        self.open = {}                                  # (kind, queue, number): text of its event
        self.kinds = {}                                 # (queue, number): kind
        self.sides = {}                                 # queue: side
        self.ended = set()                              # queues with something that did not succeed
        self.invalidated = set()
        self.count = collections.Counter()
        self.wrong = []

    def complain(self, where, what):
        self.wrong.append(f"{where[0]}: {where[1]}: {what}")

    def named(self, where, kind, key):
        owner = NAMED_BY.get(kind, kind)
        if self.kinds.setdefault(key, owner) != owner:
            self.complain(where, f"{key} was a {self.kinds[key]} before")
        side = KINDS[kind][0]
        if side and self.sides.setdefault(key[0], side) != side:
            self.complain(where, f"queue {key[0]} is the {self.sides[key[0]]}'s")

    def begin(self, where, kind, key, text):
        if (kind, *key) in self.open:
            self.complain(where, f"{key} is posted twice")
        self.open[(kind, *key)] = text
        self.invalidated.discard(key)

    def end(self, where, kind, key, text):
        m = re.search(r"\bstatus=(\d+)", text)
        failed = bool(m) and m.group(1) != "0"
        if failed:
            self.ended.add(key[0])
        # Only failed completions may come for an object that is not posted. siw may flush a work
        # request twice. If one event reports several RDMA Reads as posted, an unsignaled one of
        # them completes as well if it fails.
        if self.open.pop((kind, *key), None) is None and not failed:
            self.complain(where, f"{key} completes, and was not posted")

    def feed(self, stamp, name, text, key):
        where = (stamp, name)
        kind = BEGINS.get(name) or ENDS.get(name) or WITHIN.get(name) or BESIDE.get(name)
        if not kind:
            return
        self.count[name] += 1
        self.named(where, kind, key)
        if name in BEGINS:
            self.begin(where, kind, key, text)
        elif name in ENDS:
            self.end(where, kind, key, text)
        elif name in BESIDE:
            if (kind, *key) in self.open:
                self.complain(where, f"{key} is posted")
        elif (kind, *key) not in self.open:
            self.complain(where, f"{key} is not mapped")
        elif key in self.invalidated:
            self.complain(where, f"{key} is invalidated twice")
        else:
            self.invalidated.add(key)

    def finish(self, lossy):
        for (kind, queue, number), text in self.open.items():
            # An unsignaled Send that succeeds has no completion; it ends when a later Send
            # completes.
            if kind == "client's Send" and not text.endswith(" signaled"):
                continue
            if lossy and kind != "region" and queue in self.ended:
                continue
            self.wrong.append(f"a {kind} never completes: cq.id={queue} cid={number}")
        self.wrong += [f"no event {name}" for name in [*BEGINS, *ENDS, *BESIDE] if not self.count[name]]
        if not any(self.count[name] for name in WITHIN):
            self.wrong.append("no region is invalidated")


def main(path, *options):
    lives = Lives()
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = re.match(r"# entries-in-buffer/entries-written: (\d+)/(\d+)", line)
            if m and m.group(1) != m.group(2):
                lives.wrong.append(f"the trace has lost events: {m.group(1)} of {m.group(2)} are there")
            m = LINE.search(line)
            if m:
                lives.feed(m.group(1), m.group(2), m.group(3), (int(m.group(4)), int(m.group(5))))
    lives.finish("--lossy" in options)
    for what in lives.wrong[:20]:
        print(what)
    print(" ".join(f"{name}:{n}" for name, n in sorted(lives.count.items())))
    return 1 if lives.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
