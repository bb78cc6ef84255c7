# SPDX-License-Identifier: GPL-2.0
"""The round-trip extension in a capture. This file assembles messages from their transmissions,
and checks the rules of Documentation/rtx.rst. roce.py and wire.py use it. It shares no code with
the module, or with the test programs in peers/.
"""
import collections
import struct

RTX_MSG, RTX_NEXT, RTX, CONNPROP, ERROR = 0x80525401, 0x80525402, 0x80525401, 5, 4
SENDS = 2
# Length of an RDMA2_RTX_NEXT header; difference in length between an RDMA2_RTX_MSG header without items and an
# RDMA2_MSG header
NEXT_HEADER, SHORTER = 36, 28
Words = collections.namedtuple("Words", "flags call_max reply_max msg_max head seg nsegs")
SILENT = Words(*[0] * 7)


class Transmission:
    """Header fields and content of @m, an RDMA2_RTX_MSG or RDMA2_RTX_NEXT. @ends: length of its header"""

    def __init__(self, m, ends):
        self.m, self.data_at = m, struct.unpack_from(">I", m.data, 32)[0]
        first = m.type == RTX_MSG
        self.number, self.offset, self.here = (0, 0, struct.unpack_from(">I", m.data, 28)[0]) if first else \
            struct.unpack_from(">3I", m.data, 20)
        self.end = ends + self.here
        self.piece = m.data[ends:self.end]
        self.placed = m.data[self.data_at:] if self.data_at else b""
        self.pad = m.data[self.end:self.data_at] if self.data_at else m.data[self.end:]


def begin(m, w):
    """Read the words of @m after its prefix, up to the chunk lists."""
    m.count, m.stream, _, _, m.replies, m.results, items = w.take(7)
    m.items = [tuple(w.take(2)) for _ in range(items)]


def put_together(conn):
    """Assemble messages from their transmissions. If an RDMA2_RTX_NEXT does not follow a transmission of its own
    group, it remains an event of its own, and the group stays incomplete."""
    due, events = {}, []
    for e in conn.events:
        kind = getattr(e, "type", None)
        if kind is None:                # An RDMA Read or Write may be between transmissions.
            events.append(e)
            continue
        first = due.pop(e.from_client, None)
        if kind == RTX_NEXT and first and e.xid == first.xid:
            first.parts.append(Transmission(e, NEXT_HEADER))
            first.size, first.invalidates = max(first.size, e.size), e.invalidates
            e = first
        elif kind == RTX_MSG:
            e.parts = [Transmission(e, len(e.data) - len(e.body))]
            events.append(e)
        else:
            events.append(e)
        if kind in (RTX_MSG, RTX_NEXT) and hasattr(e, "parts"):
            if len(e.parts) < e.count:
                due[e.from_client] = e
            else:
                e.body = unreduced(e)
    conn.events = events


def unreduced(m):
    """The RPC message with its items at their positions"""
    stream, data = b"".join(p.piece for p in m.parts), b"".join(p.placed for p in m.parts)
    out, at, seg = b"", 0, words(m.conn, not m.from_client).seg
    for position, length in m.items:
        more = position - len(out)
        out, at = out + stream[at:at + more] + data[:length] + bytes(-length % 4), at + more
        data = data[length + (-length % seg if seg else 0):]
    return out + stream[at:]


def words(conn, of_client):
    """Returns the words of the first property RTX that this end announced, or SILENT if it announced none."""
    for m in conn.messages:
        if m.type != CONNPROP or m.from_client != of_client:
            continue
        at, count = 4, struct.unpack_from(">I", m.body, 0)[0]
        for _ in range(count):
            which, length = struct.unpack_from(">2I", m.body, at)
            if which == RTX and length:
                return Words(*struct.unpack_from(">7I", m.body, at + 8))
            at += 8 + length + -length % 4
        break
    return SILENT


def used(conns):
    """Has a server announced, on one of these connections, that it accepts groups?"""
    return any(words(c, False).call_max for c in conns)


def groups(conns):
    return [m for c in conns for m in c.messages if m.type == RTX_MSG]


def cost(m):
    """Number of credits that a Call takes"""
    return m.count if m.type == RTX_MSG else 1


def same_prefix(m):
    return all((p.m.xid, p.m.version, p.m.credits, p.m.flags) == (m.xid, m.version, m.credits, m.flags)
               for p in m.parts)


def pieces_fit(m):
    at = 0
    for number, p in enumerate(m.parts):
        last = number == m.count - 1
        at += p.here
        if p.number != number or p.offset != at - p.here or len(p.piece) != p.here or at > m.stream:
            return False
        if p.here % 4 and at != m.stream or not number and p.here < 8 or last and at != m.stream:
            return False
        if number and not p.here and not p.placed:
            return False
    return True


def data_fits(m):
    w = words(m.conn, not m.from_client)
    sizes = [len(p.placed) for p in m.parts if p.data_at]
    needed = sum(-(-length // w.seg) * w.seg for _, length in m.items[:-1]) + m.items[-1][1] if m.items else 0
    return (sum(sizes) == needed and all(n % w.seg == 0 for n in sizes[:-1]) and
            all(0 < n <= w.seg * w.nsegs for n in sizes) and
            all(p.data_at in (0, w.head) and p.end <= (p.data_at or p.end) for p in m.parts))


def pad_is_zero(m):
    return all(not any(p.pad) if p.data_at else not p.pad for p in m.parts)


def within_words(m):
    """Does a Call obey the limits that the server has announced? Does a Reply have no more transmissions than its
    Call allows, and than the server has announced?"""
    w = words(m.conn, not m.from_client)
    if m.is_call:
        return m.count <= w.call_max and m.stream + sum(n for _, n in m.items) <= w.msg_max
    own = words(m.conn, m.from_client)
    return m.call is not None and m.call.type == RTX_MSG and m.count <= min(m.call.replies, own.reply_max)


def offer_fits(m):
    """Does a Call offer a valid number of Receives for its Reply, and allow placed results only if both ends can
    handle them? A Reply offers and allows none."""
    if not m.is_call:
        return not m.replies and not m.results
    w = words(m.conn, not m.from_client)
    return 1 <= m.replies <= max(1, w.reply_max) and (m.replies == 1 or m.reply is None) and \
        (not m.results or words(m.conn, m.from_client).nsegs and w.flags & 1)


def is_needed(m, limit):
    """Was a group necessary, because RDMA2_MSG was not enough? @limit: bytes that the sender may send at once"""
    first = m.parts[0]
    header = first.end - first.here - 8 * len(m.items) - SHORTER
    return bool(m.items) or m.is_call and m.replies > 1 or header + m.stream > limit


def windows(conn):
    """For each Call, yield (good, Call). A Call that is no group is always good. A group is good if the
    credits of all Calls in flight, without the first credit of each, are at most half of the
    grant."""
    grant, out = 1, {}
    for m in conn.messages:
        if m.type in (ERROR, CONNPROP) or not m.forward:
            if m.type == ERROR and not m.from_client:
                out.pop(m.xid, None)
            continue
        if m.is_call:
            out[m.xid] = cost(m) - 1
            yield 2 * sum(out.values()) <= grant or m.type != RTX_MSG, m
        else:
            out.pop(m.xid, None)
            grant = m.credits


def judge(conns, rule, limit_of):
    """Check all rules of the extension. @rule: function that reports a result; @limit_of: function that returns
    how many bytes the sender of a message may send at once"""
    found = groups(conns)
    strays = [m for c in conns for m in c.messages if m.type == RTX_NEXT]
    # Covers: RTX-31 RTX-32
    rule("rtx-announced", ((words(m.conn, False).call_max and words(m.conn, True).flags & SENDS, m) for m in found))
    # Covers: RTX-47
    rule("rtx-complete", [(len(m.parts) == m.count, m) for m in found] + [(False, m) for m in strays])
    # Covers: RTX-42
    rule("rtx-prefix", ((same_prefix(m), m) for m in found))
    # Covers: RTX-43 RTX-44
    rule("rtx-pieces", ((pieces_fit(m), m) for m in found))
    # Covers: RTX-41 RTX-66
    rule("rtx-limits", ((within_words(m) and m.size <= limit_of(m), m) for m in found))
    # Covers: RTX-53 RTX-55 RTX-56 RTX-57
    rule("rtx-data", ((data_fits(m) and pad_is_zero(m), m) for m in found))
    # Covers: RTX-68
    rule("rtx-offers", ((offer_fits(m), m) for m in found))
    # Covers: RTX-39 RTX-67
    rule("rtx-needed", ((is_needed(m, limit_of(m)), m) for m in found))
    rule("rtx-invalidates", ((all(p.m.invalidates is None for p in m.parts[:-1]), m) for m in found))
    # Covers: RTX-64
    rule("rtx-lists", ((all(position for position, _ in m.reads), m) for m in found))
    # Covers: RTX-79
    rule("rtx-half", (check for c in conns for check in windows(c)))
