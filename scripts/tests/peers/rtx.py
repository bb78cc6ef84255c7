#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A codec for the round-trip extension, for the test programs in this directory. It was written from
Documentation/rtx.rst, and shares no code with the module. Functions that make messages check nothing, so that
cases can make invalid messages. Functions that parse messages raise Failure if a rule is broken.

usage: rtx.py [rtx.rst]

If this file is run as a program, it compares its encoders and its decoder with the worked examples of rtx.rst.
"""
import collections
import os
import re
import struct
import sys

from peer import AUTH_NONE, CONNPROP, ERROR, RBSIZ, BRS, Reader, Segment, header, opaque, rpc_call, want, words

RTX_MSG, RTX_NEXT = 0x80525401, 0x80525402
RTX = 0x80525401                                # number of the property
RTX_CONT, RTX_LIMIT = 0x80525401, 0x80525402    # error codes
RESULTS, SENDS = 1, 2
TYPES = {words(RTX_MSG): RTX_MSG, words(RTX_NEXT): RTX_NEXT}
# Byte offsets of the words of a header
XID, VERS, CREDIT, HTYPE, FLAGS = range(0, 20, 4)
COUNT, STREAM, HERE, DATA, REPLIES, RESULTS_AT, ITEMS = range(20, 48, 4)
NUMBER, OFFSET = 20, 24
# Lengths in bytes: an RDMA2_RTX_MSG header up to its items; an RDMA2_RTX_NEXT header; the shortest RDMA2_RTX_MSG header
FIXED, NEXT_LENGTH, LEAST = 48, 36, 64
MOST_ITEMS = 16

Property = collections.namedtuple("Property", "flags call_max reply_max msg_max head seg nsegs")
NOTHING = Property(*[0] * 7)
Part = collections.namedtuple("Part", "piece data")     # of one transmission: bytes of the stream, and of items


def property_of(value):
    """Decode and check the value of a property RTX."""
    if not value:
        return NOTHING
    want(len(value) == 28, f"a property RTX of {len(value)} bytes")
    p = Property(*struct.unpack(">7I", value))
    want(p.call_max <= 256 and p.reply_max <= 256, f"limits: {p}")
    want(p.msg_max >= 1024 if p.call_max else not p.msg_max, f"rtx_msg_max: {p}")
    if p.nsegs:
        want(p.head % 4 == 0 and 256 <= p.head <= 65532, f"rtx_head: {p}")
        want(512 <= p.seg <= 65536 and p.seg & (p.seg - 1) == 0, f"rtx_seg: {p}")
    else:
        want(not p.head and not p.seg, f"targets without segments: {p}")
    return p


def prop_rtx(*values):
    """The property as an entry of CONNPROP"""
    return words(RTX, 4 * len(values), *values)


def lists(inv=0, **chunks):
    """rdma_inv_handle and the three chunk lists, which have the same layout as in version 1"""
    return words(inv) + header(0, **chunks)[16:]


def first(xid, count, stream, here, *, data=0, replies=1, results=0, items=(), credit=32, flags=0, vers=2,
          nitems=None, **more):
    """The header of an RDMA2_RTX_MSG"""
    return words(xid, vers, credit, RTX_MSG, flags, count, stream, here, data, replies, results,
                 len(items) if nitems is None else nitems) + b"".join(words(*i) for i in items) + lists(**more)


def following(xid, number, offset, here, *, data=0, credit=32, flags=0, vers=2):
    """The header of an RDMA2_RTX_NEXT"""
    return words(xid, vers, credit, RTX_NEXT, flags, number, offset, here, data)


def filled(head, part, at):
    """Returns a whole transmission: the header @head, the piece of the stream, and if there are data, the pad
    and the data. @at: offset of the data"""
    out = head + part.piece
    return out + bytes(max(0, at - len(out))) + part.data if part.data else out


def group(xid, parts, *, head=0, credit=32, flags=0, **fields):
    """All transmissions of a message that is divided into @parts. @head: rtx_head of the receiver; @fields: see
    first()"""
    parts = [p if isinstance(p, Part) else Part(p, b"") for p in parts]
    stream = sum(len(p.piece) for p in parts)
    out, offset = [], 0
    for number, part in enumerate(parts):
        at = {"data": head if part.data else 0, "credit": credit, "flags": flags}
        h = following(xid, number, offset, len(part.piece), **at) if number else \
            first(xid, len(parts), stream, len(part.piece), **at, **fields)
        out.append(filled(h, part, head))
        offset += len(part.piece)
    return out


def cut(stream, *sizes):
    """Divide @stream into pieces of these sizes, and a last piece with the rest. Returns the pieces."""
    pieces, at = [], 0
    for size in sizes:
        pieces.append(stream[at:at + size])
        at += size
    return pieces + [stream[at:]]


def targets(data, seg):
    """The bytes of all items as they are sent: each item but the last is padded to the end of its last
    segment"""
    return b"".join(d + bytes(-len(d) % seg) for d in data[:-1]) + data[-1] if data else b""


def plan(stream, limit, *, data=b"", head=0, seg=0, nsegs=0, overhead=LEAST):
    """Divide @stream and @data by the algorithm of rtx.rst 3.7 into parts for transmissions of at most @limit
    bytes. @overhead: length of the first header; @nsegs: maximum number of segments in a transmission"""
    parts, at, done = [], 0, 0
    while not parts or at < len(stream) or done < len(data):
        room = (head if done < len(data) else limit) - (NEXT_LENGTH if parts else overhead)
        here = min(len(stream) - at, max(room - room % 4, 0))
        want(here or done < len(data), "no room")
        put = min(len(data) - done, nsegs * seg)
        parts.append(Part(stream[at:at + here], data[done:done + put]))
        at, done = at + here, done + put
    return parts


class Transmission:
    """A received transmission of either type: its words, and the content after its header. @head: rtx_head of the
    receiver"""

    def __init__(self, message, head=0):
        r = Reader(message)
        self.message = message
        self.xid, self.vers, self.credit, self.type, self.flags = (r.word() for _ in range(5))
        self.items, self.reads, self.writes, self.reply, self.inv = [], [], [], None, 0
        want(self.vers == 2, f"version {self.vers}")
        if self.type == RTX_MSG:
            self.number = self.offset = 0
            self.count, self.stream, self.here, self.data, self.replies, self.results = (r.word() for _ in range(6))
            self.lists(r)
            want(1 <= self.count <= 256, f"rtx_count {self.count}")
            want(8 <= self.here <= self.stream, f"{self.here} of {self.stream} bytes")
            want(self.count > 1 or self.here == self.stream, "one transmission, and not all of the stream")
            want(self.replies if not self.flags & 1 else not self.replies and not self.results,
                 f"rtx_replies {self.replies}, rtx_results {self.results}")
        else:
            want(self.type == RTX_NEXT, f"type {self.type:#x}")
            self.number, self.offset, self.here, self.data = (r.word() for _ in range(4))
            self.count = self.stream = None
            want(self.number, "a NEXT with number 0")
        end = r.at + self.here
        want(end <= len(message), f"{end} bytes of header and stream in {len(message)}")
        self.piece, self.placed = message[r.at:end], b""
        if self.data:
            want(self.data == head and end <= head < len(message), f"data at {self.data}")
            want(not any(message[end:head]), "pad is not zero")             # RTX-57
            self.placed = message[head:]
        else:
            want(end == len(message), f"{len(message) - end} bytes behind the stream")
        want(self.type == RTX_MSG or self.piece or self.placed, "neither stream nor data")

    def lists(self, r):
        count = r.word()
        want(count <= MOST_ITEMS, f"{count} items")
        self.items = [(r.word(), r.word()) for _ in range(count)]
        self.inv = r.word()
        while r.word():
            position = r.word()
            self.reads.append((position, r.segments(1)[0]))
        while r.word():
            self.writes.append(r.segments(r.word()))
        if r.word():
            self.reply = r.segments(r.word())
        want(all(position for position, _ in self.reads), "a Position Zero chunk")      # RTX-64
        want(all(p % 4 == 0 and p >= 8 and length for p, length in self.items), f"items {self.items}")


class Group:
    """Assembles the transmissions of one message. @ours: the receiver's property; @size: size of its Receives; @most:
    maximum number of transmissions"""

    def __init__(self, ours=NOTHING, size=65536, most=None):
        self.ours, self.size, self.most = ours, size, most
        self.of = []

    def add(self, message):
        """Add a transmission. Returns whether the message is complete. Raises Failure if a rule is broken."""
        t = Transmission(message, self.ours.head)
        want(len(message) <= self.size, f"{len(message)} bytes, for Receives of {self.size}")       # RTX-41
        if not self.of:
            want(t.type == RTX_MSG, f"a stray NEXT: {message[:48].hex()}")
            want(self.most is None or t.count <= self.most, f"{t.count} transmissions, not {self.most}")
        else:
            f = self.of[0]
            # Covers: RTX-40 RTX-42
            want(t.type == RTX_NEXT, "a first transmission inside of a group")
            want((t.xid, t.credit, t.flags) == (f.xid, f.credit, f.flags), f"another prefix: {message[:48].hex()}")
            want(t.number == len(self.of), f"number {t.number}, not {len(self.of)}")
            want(t.offset == self.arrived(), f"offset {t.offset}, not {self.arrived()}")
        self.of.append(t)
        f, last = self.of[0], len(self.of) == self.of[0].count
        want(self.arrived() <= f.stream if not last else self.arrived() == f.stream,
             f"{self.arrived()} of {f.stream} bytes after {len(self.of)} of {f.count}")
        want(last or self.arrived() == f.stream or t.here % 4 == 0, f"a piece of {t.here} bytes")       # RTX-43
        if last:
            self.complete()
        return last

    def arrived(self):
        return sum(t.here for t in self.of)

    def complete(self):
        f, seg = self.of[0], self.ours.seg
        self.xid, self.credit, self.inv = f.xid, f.credit, f.inv
        self.replies, self.results = f.replies, f.results
        self.reads, self.writes, self.reply, self.items = f.reads, f.writes, f.reply, f.items
        self.stream = b"".join(t.piece for t in self.of)
        placed = b"".join(t.placed for t in self.of)
        parts = [len(t.placed) for t in self.of if t.placed]
        # Covers: RTX-55 RTX-56
        want(all(n % seg == 0 for n in parts[:-1]) and all(n <= seg * self.ours.nsegs for n in parts),
             f"data parts of {parts} bytes")
        self.found, at = [], 0
        for i, (_, length) in enumerate(self.items):
            self.found.append(placed[at:at + length])
            at += length if i == len(self.items) - 1 else length + -length % seg
        want(at == len(placed), f"{len(placed)} bytes of data for items {self.items}")

    def unreduced(self):
        """The message with its items at their positions, and with roundup"""
        out, at = b"", 0
        for (position, length), data in zip(self.items, self.found):
            want(position >= len(out) and position - len(out) <= len(self.stream) - at, f"an item at {position}")
            more = position - len(out)
            out += self.stream[at:at + more] + data + bytes(-length % 4)
            at += more
        return out + self.stream[at:]


# --- the worked examples ------------------------------------------------------------------

RTX_RST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Documentation/rtx.rst")


def examples(path):
    """{name: [messages as printed]} of section 5 of rtx.rst. Of a long message, only the beginning may be printed."""
    with open(path, encoding="utf-8") as f:
        text = f.read().split("\n5. Worked examples\n")[1].split("\nBad ones ")[0]
    found, names = {}, []
    for line in text.splitlines():
        if line.startswith("``"):
            names = re.findall(r"``(\w+)``", line.split(":")[0])
            for name in names:
                found[name] = []
        m = re.match(r"    ([0-9a-f]{4}): ((?:[0-9a-f]{8} ?)+)", line)
        if m and names:
            if int(m.group(1), 16) == 0:
                found[names[0] if not found[names[0]] or len(names) == 1 else names[1]].append(b"")
            whose = names[1] if len(names) > 1 and found[names[1]] else names[0]
            found[whose][-1] += bytes.fromhex(m.group(2))
    return found


PEER = 0x11223344
HANDLE = bytes.fromhex("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")


def nfs3(proc, *args):
    """A Call with the handle of the examples"""
    return rpc_call(PEER, 100003, 3, proc, opaque(HANDLE) + words(*args), AUTH_NONE)


def worked():
    """{name: messages}: the examples of section 5 of rtx.rst, made by the functions of this file"""
    server = Property(RESULTS, 64, 16, 1052672, 1024, 4096, 7)
    base = {"head": server.head, "credit": 0x80}

    def props(credit, flags, rbsiz, p):
        return words(1, 2, credit, CONNPROP, flags, 3, RBSIZ, 4, rbsiz, BRS, 4, 1) + prop_rtx(*p)

    def placed(stream, data, items, seg=4096, nsegs=7, **more):
        overhead = LEAST + 8 * len(items) + 24 * len(more.get("reads", ()))
        parts = plan(stream, 29696, data=targets(data, seg), head=1024, seg=seg, nsegs=nsegs, overhead=overhead)
        return group(PEER, parts, items=items, **{**base, **more})

    def write(size):
        return nfs3(7, 0, 0, size, 2, size)

    def long(head, size, limit, **more):
        return group(PEER, plan(head + bytes(size - len(head)), limit), **more)

    reply = words(PEER, 1, 0, 0, 0, 0, 0, 0, 0x2000, 1, 0x2000)
    two = nfs3(7, 0, 0, 0, 2, 5001) + bytes(40)
    read = Segment(0x00040d01, 262144, 5 << 32)
    return {
        "rtx_connprop_server": [props(0x20, 1, 29696, server)],
        "rtx_connprop_client": [props(0x80, 0, 16384, Property(SENDS, *[0] * 6))],
        "rtx_write_8k": placed(write(8192), [bytes(8192)], [(80, 8192)]),
        "rtx_write_64k": placed(write(65536), [bytes(65536)], [(80, 65536)]),
        "rtx_long": long(words(PEER, 0, 2, 100003, 3), 100000, 29696, credit=0x80),
        "rtx_readdir": group(PEER, [nfs3(17, 0, 0, 0, 0, 8192, 65536)], replies=5, credit=0x80),
        "rtx_reply": long(words(PEER, 1), 30000, 16384, flags=1, replies=0),
        "rtx_read_call": group(PEER, [nfs3(6, 0, 0, 8192)], results=1, credit=0x80),
        "rtx_read_reply": placed(reply, [bytes(8192)], [(44, 8192)], flags=1, replies=0, credit=0x20),
        "rtx_err_cont": [words(PEER, 2, 0x20, ERROR, 1, RTX_CONT)],
        "rtx_err_limit": [words(PEER, 2, 0x20, ERROR, 1, RTX_LIMIT)],
        "rtx_two_items": placed(two, [bytes(5001), bytes(4096)], [(80, 5001), (5104, 4096)]),
        "rtx_mixed": placed(two, [bytes(8192)], [(80, 8192)], reads=[(8292, read)], inv=0x00040d01),
    }


LENGTHS = {"rtx_write_8k": [9216], "rtx_write_64k": [29696, 29696, 9216], "rtx_long": [29696, 29696, 29696, 11084],
           "rtx_reply": [16384, 13716], "rtx_readdir": [148], "rtx_read_call": [136], "rtx_read_reply": [9216],
           "rtx_two_items": [13312], "rtx_mixed": [9216]}
UNREDUCED = {"rtx_write_8k": 8272, "rtx_two_items": 9220, "rtx_long": 100000, "rtx_reply": 30000}


def main(path=RTX_RST):
    printed, ours = examples(path), worked()
    want(set(printed) == set(ours), f"other examples: {sorted(set(printed) ^ set(ours))}")
    for name, messages in ours.items():
        want(len(messages) == len(printed[name]), f"{name}: {len(messages)}, not {len(printed[name])}")
        for i, (message, dump) in enumerate(zip(messages, printed[name])):
            want(message[:len(dump)] == dump, f"{name} {i}: {message[:len(dump)].hex()}, not {dump.hex()}")
        want(name not in LENGTHS or [len(m) for m in messages] == LENGTHS[name], f"{name}: lengths")
        if name in LENGTHS:
            g = Group(Property(RESULTS, 64, 16, 1052672, 1024, 4096, 7), 29696)
            done = [g.add(m) for m in messages]
            want(done == [False] * (len(done) - 1) + [True], f"{name}: complete {done}")
            want(g.xid == PEER and len(g.unreduced()) == UNREDUCED.get(name, len(g.unreduced())),
                 f"{name}: {len(g.unreduced())} bytes are put together")
    print(f"ok {len(ours)} worked examples")


if __name__ == "__main__":
    main(*sys.argv[1:])
