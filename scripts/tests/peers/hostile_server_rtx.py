# SPDX-License-Identifier: GPL-2.0
"""A server that uses the round-trip extension in ways in which our server never does, to test our client.

usage: hostile_server_rtx.py SET [part of a name]

hostile_server.py runs the cases, and hostile_server_v2.py translates messages of version 1. Each complete group
that comes from the client is checked against the rules of rtx.rst (rtx.Group).
"""
import functools
import itertools
import os
import random
import signal
import subprocess
import time

import hostile_server
import hostile_server_v2
import rtx
import sets
from hostile_server import callback_null, kill, main, owed
from hostile_server_v2 import Server2, begins, connprop, error2, fewest, prefix, prop, upwards
from peer import (BAD_XDR, BRS, ERROR, INVAL_HTYPE, MSG, NOMSG, RBSIZ, READ_CHUNKS, REPLY_RESOURCE, SEGMENTS, SILENCE,
                  SYSTEM, WRITE_CHUNKS, Failure, fault, fill, header, put, rpc_reply, storm, want, words)
from proxy import (DATA, EXPORT, MNT, PLAIN, READ3, READDIR, READDIRPLUS, V42, WRITE3, Call, do_list, do_setxattr,
                   do_stat, do_symlink, do_write, transports)
from rtx import (COUNT, CREDIT, DATA as DATA_AT, FLAGS, HERE, LEAST, NEXT_LENGTH, NOTHING, NUMBER, OFFSET, RESULTS,
                 RTX_CONT, RTX_LIMIT, SENDS, STREAM, TYPES, XID, Group, Property, cut, first, following, group, plan,
                 prop_rtx, property_of)
from sets import NOT_SIW

case = functools.partial(sets.case, vers=(2,))
LISTING = (READDIR, READDIRPLUS)
SYMLINK3 = 10
NO_LIMIT = Property(0, 64, 16, 1 << 20, 0, 0, 0)       # of a server without targets
SWITCH = "/sys/module/rpcrdma/parameters/rdma_rtx"
WRITE_MAX = "/sys/module/rpcrdma/parameters/rdma_rtx_write_max"
TIMEOUT = 30            # seconds for a group (RTX-85)
# Lengths in bytes of the data of WRITEs. If transmissions have 1024 bytes, a WRITE of LONG bytes
# takes 21 of them, and a WRITE of SHORT bytes takes 4.
LONG, SHORT = 20000, 3000


def word(message, at, value):
    return message[:at] + words(value & 0xffffffff) + message[at + 4:]


class CallX(Call):
    """A Call that came as a group. self.group is the assembled group."""
    group = None

    def parts(self, body, *sizes, **lists):
        """@body in pieces of these sizes; without sizes, in as few pieces as possible"""
        if sizes:
            return cut(body, *sizes)
        return plan(body, self.server.announced(), overhead=len(first(0, 1, 8, 8, **lists)))

    def transmissions(self, body, *sizes, **lists):
        """The transmissions of a Reply"""
        lists.setdefault("credit", self.server.credit)
        chunks = {k: v for k, v in lists.items() if k in ("reads", "writes", "reply", "items")}
        return group(self.xid, self.parts(body, *sizes, **chunks), flags=1, **{"replies": 0, **lists})

    def grouped(self, body, *sizes, **lists):
        for message in self.transmissions(body, *sizes, **lists):
            self.conn.plain(message)

    def respond(self, reply=None, **lists):
        if self.conn.closed:
            return
        body, writes = self.reduce(self.forward() if reply is None else reply)
        back = {"writes": writes, "reply": self.reply and fill(self.reply, 0)}
        most = min(self.group.replies, self.server.rtx.reply_max)
        if 8 + len(header(0, **back)) + len(body) <= self.server.announced():
            self.send(body, **back, **lists)
        elif len(self.parts(body, **back)) <= most:
            self.grouped(body, **back, **lists)
        elif self.reply:
            self.send(b"", NOMSG, writes=writes, reply=self.push(self.reply, body), **lists)
        else:
            self.conn.plain(error2(self.xid, REPLY_RESOURCE, len(body)))


class ServerX(Server2):
    """A server that announces self.rtx, and self.rbsiz as RBSIZ. The client's RBSIZ and its Sends are small. A
    READDIR asks for at most rsize (4096) bytes, so its Reply may need several Receives, but not more than a
    Call may offer."""
    inline = 1024
    listings = 0

    def reset(self):
        super().reset()
        self.rtx, self.rbsiz, self.size = NO_LIMIT, 4096, 65536
        self.credit = 64                # half of it is enough for a WRITE of LONG bytes (RTX-79)
        self.heard = []                 # Calls: (XID, transmissions or 0 if no group, rtx_replies)
        self.arrived = 0                # number of transmissions that have arrived
        self.at_arrival = None          # called when a transmission arrives; if it returns true, the transmission is ignored
        self.open = {}                  # {connection: Group of which transmissions are still missing}
        self.flight = {}                # {connection: {XID of an unanswered Call: number of its transmissions}}
        self.most = {}                  # {connection: granted credits}
        self.client = NOTHING
        # By default, the client sends WRITEs as groups up to a length that it computes from the measured round trip.
        # Set a fixed length, because the round trip differs between machines.
        put(WRITE_MAX, 65536)

    def leave(self):
        super().leave()
        put(WRITE_MAX, 0)

    def mount(self, options=PLAIN):
        super().mount(options + ",rsize=4096")

    def welcome(self, conn, props=None, **kw):
        if props is None:
            props = (prop(RBSIZ, self.rbsiz), prop(BRS, 1), prop_rtx(*self.rtx))
        super().welcome(conn, props, **kw)

    def accept(self, index):
        conn = super().accept(index)
        if conn:
            self.flight[conn], self.most[conn] = {}, 1
            plain = conn.plain

            def counted(message, invalidate=None):
                if message[16:20] == words(1):
                    self.flight[conn].pop(message[:4], None)
                    self.most[conn] = max(self.most[conn], int.from_bytes(message[8:12], "big"))
                return plain(message, invalidate)
            conn.plain = counted
        return conn

    def of_client(self):
        """The client's property"""
        m = self.hellos[-1]
        at = m.find(words(rtx.RTX), 24)
        return property_of(m[at + 8:at + 8 + int.from_bytes(m[at + 4:at + 8], "big")] if at > 0 else b"")

    def takes(self, conn, xid, count):
        # Covers: RTX-74
        self.flight[conn][xid] = count
        total = sum(self.flight[conn].values())
        want(total <= self.most[conn], f"{total} transmissions at once, {self.most[conn]} were granted")

    def receive(self, conn, data, x):
        if data[4:8] == words(2) and data[12:16] in TYPES:
            return self.transmission(conn, data)
        want(conn not in self.open, f"in the middle of a group: {data[:32].hex()}")
        if data[4:8] == words(2) and data[12:16] in (words(MSG), words(NOMSG)) and data[16:20] == words(0):
            self.takes(conn, data[:4], 1)
            self.heard.append((int.from_bytes(data[:4], "big"), 0, 0))
        return super().receive(conn, data, x)

    def transmission(self, conn, data):
        self.arrived += 1
        if self.at_arrival and self.at_arrival(conn, data):
            return
        # Covers: RTX-31 RTX-32 RTX-41
        want(conn.v2 and self.rtx.call_max, "the extension is used, though it was not announced")
        want(data[16:20] == words(0), f"flags {data[16:20].hex()}")
        g = self.open.setdefault(conn, Group(self.rtx, self.rbsiz, self.rtx.call_max))
        if not g.add(data):
            return
        del self.open[conn]
        self.judged(g)
        self.takes(conn, data[:4], len(g.of))
        self.heard.append((g.xid, len(g.of), g.replies))
        call = CallX(self, conn, header(g.xid, credit=g.credit, reads=g.reads, writes=g.writes, reply=g.reply) +
                     g.unreduced())
        call.group = g
        self.seen[call.xid] += 1
        self.calls.append(call)

    def judged(self, g):
        total = len(g.stream) + sum(length for _, length in g.items)
        want(total <= self.rtx.msg_max, f"{total} bytes, msg_max is {self.rtx.msg_max}")
        want(g.stream[:8] == words(g.xid, 0), "no Call of this XID")
        # Covers: RTX-39 RTX-68 RTX-70
        want(len(g.of) > 1 or g.items or g.replies > 1, "RDMA2_MSG would have done")
        want(g.replies <= max(1, self.rtx.reply_max), f"{g.replies} Receives for at most {self.rtx.reply_max}")
        want(g.replies == 1 or not g.reply, "several Receives and a Reply chunk")
        want(not g.results, "results are to be placed, and there are no targets")
        # Covers: RTX-52 RTX-54 RTX-99
        want(self.rtx.nsegs or not g.items, "items without targets")
        # The XDR length word before each item must be the item's length, and roundup must not be sent.
        whole = g.unreduced()
        want(all(whole[at - 4:at] == words(length) for at, length in g.items), f"other items than {g.items}")
        want(len(g.stream) % 4 == 0, f"{len(g.stream)} bytes of stream")
        for s in (s for _, s in g.reads):
            want(s.length, "an empty chunk")

    def stale(self):
        """Change the directory's times, so that the client reads it again."""
        ServerX.listings += 1
        os.utime(EXPORT + "/dir", (ServerX.listings, ServerX.listings))

    def groups(self, least=1):
        return [h for h in self.heard if h[1] >= least]

    def listing(self):
        """Begin a READDIR, which must offer several Receives for its Reply. Returns (system call, Call)."""
        self.stale()
        op = self.user(do_list)
        call = self.next(LISTING)
        want(isinstance(call, CallX) and call.group.replies > 1, "READDIR offers no Receives")
        return op, call


def part_of(call, length=600):
    """The first @length bytes of the Reply to @call, padded with zeros if it is shorter. This is for cases in
    which no program gets the Reply. It can be sent as three transmissions in the Receives that the Call
    offers."""
    body = call.forward()[:length]
    return body + bytes(length - len(body))


def verified(s, name, data):
    with open(f"{EXPORT}/{name}", "rb") as f:
        want(f.read() == data, f"the server has something else in {name}")


def long_write(s, length=LONG, name="long"):
    """Begin a WRITE that the client sends as a group if it may. Returns (system call, Call)."""
    op = s.user(do_write, DATA[:length], name, True)
    return op, s.next(WRITE3)


def uses(s, doing):
    """Do a long WRITE, which must succeed. Returns how many groups the client sent for it."""
    before = len(s.groups())
    want(s.do(do_write, DATA[:LONG], doing, True) == LONG, f"{doing}: WRITE")
    verified(s, doing, DATA[:LONG])
    return len(s.groups()) - before


# --- the client's Calls -------------------------------------------------------------------

# Covers: RTX-38 RTX-40 RTX-42 RTX-43 RTX-75 RTX-95 RTX-97 RTX-98
@case("rtx-calls", "an honest proxy", mount=False)
def honest(s):
    s.mount()
    s.log(f"the client says {s.of_client()}")
    want(s.of_client().flags & SENDS, "the client does not say that it sends Calls in this form")
    s.works()
    s.reads(1 << 20)
    for length in (SHORT, 5000, 16384, LONG, 65536, 65537, 300001):
        s.heard.clear()
        want(s.do(do_write, DATA[:length], "new", True) == length, "WRITE")
        verified(s, "new", DATA[:length])
        s.log(f"WRITE of {length}: {s.heard}")
    want(uses(s, "group"), f"a WRITE of {LONG} bytes is no group")
    s.heard.clear()
    s.stale()
    want(s.do(do_list) == 300, "READDIR")
    want(any(replies > 1 for _, _, replies in s.heard), f"READDIR offers no Receives: {s.heard}")
    s.kept()
    s.umount()
    s.mount(V42)
    s.heard.clear()
    want(s.do(do_setxattr, 8000) == 8000, "SETXATTR")
    want(s.groups(2), "a long Call is no group")


# Covers: RTX-36 RTX-32 RTX-41 RTX-68 RTX-62
@case("rtx-calls", "every combination of a server's words", mount=False)
def combinations(s):
    rows = [(flags, calls, replies, msg, places) for flags, calls, replies, msg, places in itertools.product(
        (0, RESULTS), (0, 1, 2, 64), (0, 1, 16), (1024, 1 << 20), (0, 7))
            if (calls or msg == 1024) and (places or not flags)]
    for flags, calls, replies, msg, places in rows:
        s.rbsiz = 29696 if places else 4096
        head, seg = (1024, 4096) if places else (0, 0)
        s.rtx = Property(flags, calls, replies, msg if calls else 0, head, seg, places)
        s.heard.clear()
        try:
            s.mount()
            want(s.do(do_write, DATA[:LONG], "words", True) == LONG, "WRITE")
            verified(s, "words", DATA[:LONG])
            s.stale()
            want(s.do(do_list) == 300, "READDIR")
            s.works()
            want(calls or not s.groups(), "groups that were not asked for")
            # With targets, a WRITE that is sent as a group is placed (RTX-95). Seven segments have
            # room for its data, so it takes only one transmission.
            expected = calls == 64 and msg == 1 << 20 and not places
            want(bool(s.groups(2)) == expected, f"is the WRITE a group? {s.groups()}")
            want(any(h[2] > 1 for h in s.heard) == bool(calls and replies == 16), f"READDIR offers: {s.heard}")
            s.umount()
        except Failure as e:
            raise Failure(f"{s.rtx}: {e}") from None
        want(s.accepted == 1, f"{s.rtx}: the connection was not kept")
        s.accepted = 0


# Tries: RTX-86
# Covers: RTX-31 RTX-32 RTX-33
@case("rtx-calls", "a server that announces nothing, something bad, or later", mount=False)
def unannounced(s):
    good = prop_rtx(*NO_LIMIT)
    rows = [((), 0), ((words(rtx.RTX, 0),), 0), ((good,), 1)]
    rows += [((prop_rtx(*NO_LIMIT._replace(**change)),), 0) for change in (
        {"call_max": 257}, {"reply_max": 257}, {"msg_max": 1000}, {"head": 1024}, {"seg": 4096},
        {"head": 1024, "seg": 4096, "nsegs": 1}, {"head": 65532, "seg": 65536, "nsegs": 0xffffffff})]
    rows += [((words(rtx.RTX, 24) + bytes(24),), 0), ((good, good), 0)]
    for props, used in rows:
        begins(s, lambda conn, props=props: s.welcome(conn, (prop(RBSIZ, 4096), *props)))
        want(bool(uses(s, "announced")) == bool(used), f"{props}: {s.heard[-3:]}")
        s.umount()
    # The first property on a connection counts, and only for that connection.
    begins(s, s.welcome)
    want(uses(s, "first"), "no group")
    s.conns[0].plain(connprop(0x77, prop(RBSIZ, 4096), prop_rtx(*NOTHING), flags=0))
    want(uses(s, "again"), "a later property is believed")
    s.first = lambda conn: s.welcome(conn, (prop(RBSIZ, 4096),))
    s.conns[0].disconnect()
    want(not uses(s, "another"), "what another connection's server said is believed")


# Covers: RTX-52 RTX-53 RTX-57
@case("rtx-calls", "WRITEs of odd sizes, for which there are targets", mount=False)
def placed(s):
    s.rbsiz = 13312
    s.rtx = NO_LIMIT._replace(head=1024, seg=4096, nsegs=3)
    s.mount()
    s.works()
    for length in (8193, 12287, 12290, 20003, 65533):
        before = s.counted("client_calls_placed")
        want(s.do(do_write, DATA[:length], "placed", True) == length, f"WRITE of {length}")
        want(s.counted("client_calls_placed") == before + 1, f"a WRITE of {length} is not placed")
        with open(EXPORT + "/placed", "rb") as f:
            want(f.read(length) == DATA[:length], f"the server has something else of {length} bytes")
    s.kept()


@case("rtx-calls", "a client that was told not to", mount=False)        # Covers: RTX-103 RTX-31
def switched_off(s):
    put(SWITCH, 0)
    try:
        s.mount()
        want(s.hellos[-1].find(words(rtx.RTX), 24) < 0, f"the client says {s.of_client()}")
        want(not uses(s, "off"), "a group")
        s.stale()
        want(s.do(do_list) == 300, "READDIR")
        want(not s.groups(), "a group")
    finally:
        put(SWITCH, 1)


# Covers: RTX-74 RTX-78 RTX-79 RTX-81
@case("rtx-calls", "grants of all sizes", mount=False)
def grants(s):
    for credit, most in ((1, 0), (2, 0), (4, 0), (5, 0), (6, 4), (8, 4), (64, 4), (0xffffffff, 4)):
        s.credit = credit
        s.mount()
        s.works()
        s.heard.clear()
        want(s.do(do_write, DATA[:SHORT], "grants", True) == SHORT, "WRITE")
        found = max([n for _, n, _ in s.heard], default=0)
        want(found == most, f"grant {credit}: {found} transmissions")
        # However many Calls there are, the credits for their second and further transmissions must be at most
        # half of the grant.
        ops = [s.user(do_write, DATA[:SHORT], f"grants{i}", True) for i in range(5)]
        s.listen(0.3)
        beyond = sum(n - 1 for conn in s.conns for n in s.flight[conn].values() if n)
        want(beyond <= credit // 2, f"grant {credit}: {beyond} credits beyond the first")
        for op in ops:
            want(s.finish(op) == SHORT, "WRITE")
        # The grant shrinks while two groups are in flight.
        if most:
            op, call = long_write(s, SHORT)
            want(isinstance(call, CallX), "no group")
            other, held = long_write(s, SHORT, "other")
            s.credit = 1
            call.respond()
            s.listen(0.1)
            held.respond()
            want(s.finish(op) == SHORT and s.finish(other) == SHORT, "WRITE")
            want(not uses(s, "shrunk"), "a group in a window of one")
        s.umount()


# Small and large values of rtx_head, rtx_seg and rtx_nsegs, and some in between
# Tries: RTX-52 RTX-56 RTX-57
@case("rtx-calls", "targets of all sizes", mount=False)
def targets_of(s):
    for head, seg, nsegs, more in ((256, 512, 1, 256), (256, 512, 1, 3000), (256, 512, 60, 0), (1024, 512, 126, 0),
                                   (65024, 512, 1, 0), (260, 4096, 15, 8), (4096, 32768, 1, 0), (60000, 2048, 2, 4),
                                   (1024, 4096, 15, 3072)):
        s.rbsiz = head + seg * nsegs + more
        s.rtx = Property(0, 256, 16, 1 << 20, head, seg, nsegs)
        s.credit = 256
        # Allow groups for all of these WRITEs. With 0, the client would choose the limit itself,
        # and would prefer a Read chunk to many small targets.
        put(WRITE_MAX, 1 << 20)
        try:
            s.mount()
            s.works()
            s.heard.clear()
            for length in (SHORT, 8191, 8192, 8193, LONG, 65536):
                name = f"targets.{head}.{seg}.{more}"
                want(s.do(do_write, DATA[:length], name, True) == length, f"WRITE of {length}")
                verified(s, name, DATA[:length])
            s.log(f"{s.rtx}, RBSIZ {s.rbsiz}: {s.heard}")
            want(s.groups(), "nothing comes in this form")
            s.works()
            s.umount()
        except Failure as e:
            raise Failure(f"{s.rtx}: {e}") from None
        finally:
            put(WRITE_MAX, 65536)
        want(s.accepted == 1, f"{s.rtx}: the connection was not kept")
        s.accepted = 0


def refusals(s, conn, xid, messages, code):
    """The client must refuse each of @messages with this error code, and send nothing else."""
    s.backward.clear()
    for i, message in enumerate(messages, 1):
        conn.plain(message)
        want(s.serve(lambda n=i: len(s.backward) >= n or conn.lost, 20), f"no answer to number {i}")
    s.idle(0.02)
    found = [(m[:4], m[12:16], m[20:]) for m in s.backward]
    want(found == [(words(xid), words(ERROR), words(code))] * len(messages), f"the client answers {found}")
    s.backward.clear()


# Our client announces call_max 0: it accepts no Calls as groups, whether it has a backchannel or
# not.
# Tries: RTX-91 RTX-92 RTX-93
# Covers: RTX-37
@case("rtx-calls", "backward Calls in this form", mount=False)
def backward(s):
    for options in (PLAIN, V42):
        s.mount(options)
        want(s.do(do_stat, MNT + "/file") == len(DATA), "GETATTR")
        want(not s.of_client().call_max, f"the client says {s.of_client()}")
        posted, conn, xid = fewest(s), s.conns[0], 0x9100
        for pieces in ((), (8,), (8, 20), (8, 4, 4, 4)):
            xid += 1
            call = callback_null(xid)
            for replies in (1, 5, 0xffffffff):
                refusals(s, conn, xid, group(xid, cut(call, *pieces), replies=replies, credit=s.credit), INVAL_HTYPE)
        # The answer is the same if the message has other faults, or if it is cut off.
        one, two, three = group(xid, cut(callback_null(xid), 8, 20), credit=s.credit)
        for messages in ([word(one, COUNT, 0xffffffff)], [word(one, STREAM, 0xffffffff)], [word(one, HERE, 4)],
                         [word(one, DATA_AT, 1024)], [one[:20], one[:47]], [two], [three, three], [two[:20]],
                         group(xid, [callback_null(xid)], items=[(40, 8192)]),
                         group(xid, [callback_null(xid)], reads=[(0, fake())]),
                         group(xid, [callback_null(xid)], reply=[fake()])):
            refusals(s, conn, xid, messages, INVAL_HTYPE)
        # A backward Call may have the XID of one of the client's Calls.
        if options == PLAIN:
            op, call = long_write(s)
            refusals(s, conn, call.xid, group(call.xid, cut(callback_null(call.xid), 8)), INVAL_HTYPE)
            call.respond()
            want(s.finish(op) == LONG, "WRITE")
            verified(s, "long", DATA[:LONG])
        want(fewest(s) == posted, f"no longer {posted} Receives are posted")
        want(uses(s, "after"), "no group")
        s.kept()
        s.umount()
        s.accepted = 0


# --- Replies ----------------------------------------------------------------------------------

def division(rng, length, limit, most):
    """Divide a Reply of @length bytes at random into at most @most transmissions of at most @limit bytes.
    Returns the sizes of all pieces but the last."""
    more = limit - NEXT_LENGTH
    count, sizes = rng.randint(1 + max(0, -(-(length - limit + LEAST) // more)), most), []
    for number in range(count - 1):
        later = count - 1 - number
        least = max(4 if number else 8, length - later * more)
        sizes.append(4 * rng.randint(-(-least // 4), min(more if number else limit - LEAST, length - 4 * later) // 4))
        length -= sizes[-1]
    return sizes


# Covers: RTX-66 RTX-43
@case("rtx-replies", "Replies in any division that is allowed")
def divisions(s):
    rng = random.Random(5)
    found = set()
    for i in range(25):
        s.stale()
        op = s.user(do_list)
        while (call := next_or_done(s, op, LISTING)):
            if not isinstance(call, CallX) or call.group.replies < 2:
                call.respond()
                continue
            body = call.forward()
            sizes = division(rng, len(body), s.announced(), call.group.replies)
            found.add(1 + len(sizes))
            call.grouped(body, *sizes)
        want(op.get() == 300, f"READDIR {i} returns {op.get()}")
    s.works()
    s.log(f"groups of {sorted(found)}")
    want(len(found) > 1, "no Reply was divided")
    # The Reply to a Call that came as a group may be a group of one transmission, even if the Call
    # offers only one Receive.
    op, call = long_write(s)
    call.grouped(call.forward())
    want(s.finish(op) == LONG, "WRITE")
    s.kept()


def next_or_done(s, op, operation):
    """The next Call of these operations, or None if the system call has returned. Other Calls are answered."""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        s.step()
        while s.calls:
            call = s.calls.popleft()
            if call.operation in operation:
                return call
            call.respond()
        if op.ready():
            return None
    raise Failure("no Call comes")


def bad_replies(call, body):
    """Yield (description, messages, is the connection closed?) for bad Replies of three transmissions, or of as many as
    the Call has offered Receives for. The connection is closed unless the group is complete."""
    size = (len(body) // 3) & ~3
    one, two, three = of = call.transmissions(body, size, size)
    other = call.xid ^ 0x5500
    for at, value in ((COUNT, 0), (STREAM, 4), (STREAM, size - 4), (HERE, 4), (HERE, size - 4), (HERE, 0x7fffffff),
                      (HERE, 0xffffffff), (DATA_AT, 4), (DATA_AT, 1024), (DATA_AT, 0xffffffff)):
        yield f"word {at // 4} is {value:#x}", [word(one, at, value)] + of[1:], True
    yield "one of three", [word(one, COUNT, 1)] + of[1:], True
    yield "two of three", [word(one, COUNT, 2)] + of[1:], True
    yield "stream that never comes", [word(one, STREAM, len(body) + 4)] + of[1:], True
    yield "4 GB of stream", [word(one, STREAM, 0xfffffffc)] + of[1:], True
    yield "a gap", [one, three], True
    yield "a repeat", [one, two, two, three], True
    for delta in (-1, 1, 5):
        yield f"number {delta:+}", [one, word(two, NUMBER, 1 + delta), three], True
    for delta in (-4, 4):
        yield f"offset {delta:+}", [one, word(two, OFFSET, size + delta), three], True
    yield "a piece that is too short", [one, word(two, HERE, size - 4)[:-4], three], True
    yield "a piece of no whole words", [one, word(two, HERE, size - 1)[:-1], three], True
    yield "nothing in the second", [one, word(two, HERE, 0)[:NEXT_LENGTH], three], True
    yield "bytes behind the second", [one, two + bytes(4), three], True
    yield "a second that is cut off", [one, two[:30], three], True
    yield "a first that is cut off", [one[:40]] + of[1:], True
    yield "results that nobody asked for", call.transmissions(body, size, size, items=[(40, 8)]), False
    yield "a Position Zero chunk", call.transmissions(body, size, size, reads=[(0, fake())]), False
    yield "a Reply chunk that was not offered", call.transmissions(body, size, size, reply=[fake()]), False
    yield "another XID in the stream", call.transmissions(words(other) + body[4:], size, size), False
    yield "a Call in the stream", call.transmissions(body[:4] + words(0) + body[8:], size, size), False
    # Another message arrives between the transmissions.
    yield "another XID", [one, word(two, XID, other), three], True
    yield "a Call's NEXT", [one, word(two, FLAGS, 0), three], True
    yield "a CONNPROP in between", [one, connprop(0x71, flags=0), two, three], True
    yield "an error in between", [one, error2(other, SYSTEM), two, three], True
    yield "a callback in between", [one, upwards(header(0x72) + callback_null(0x72)), two, three], True
    yield "a backward Call in this form in between", [one, *group(0x74, [callback_null(0x74)]), two, three], True
    yield "a Reply in between", [one, upwards(header(other) + rpc_reply(other)), two, three], True
    yield "itself in between", [one, *of], True
    yield "the last twice", of + [three], True
    yield "no first", [two], True
    yield "halves of two groups", [one, following(other, 1, size, len(body) - size, flags=1) + body[size:]], True


def fake():
    return hostile_server.Segment(1, 8, 4096)


SOFT = "vers=3,noac,soft,timeo=300,retrans=2"


def closed(s, call, op):
    """The client must close the connection of @call, and send the Call again on another one, where it does not
    announce the extension. A new mount announces it again."""
    want(s.serve(lambda conn=call.conn: conn.closed or conn.lost, 20), "the connection stays")
    result = s.finish(op)
    want(result == 300, f"READDIR returns {result}")
    # Covers: RTX-48
    want(s.of_client() == NOTHING, f"the client says {s.of_client()}")
    s.works()
    s.umount()
    s.mount(SOFT)


# Tries: RTX-87
# Covers: RTX-45 RTX-46 RTX-50 RTX-48 RTX-28
@case("rtx-replies", "Reply groups of all bad kinds", mount=False)
def broken(s):
    s.mount(SOFT)
    op, call = s.listing()
    count = len(list(bad_replies(call, part_of(call))))
    call.respond()
    s.finish(op)
    kept = 0
    for i in range(count):
        accepted = s.accepted
        op, call = s.listing()
        what, messages, closes = list(bad_replies(call, part_of(call)))[i]
        before, posted = s.seen[call.xid], fewest(s)
        for message in messages:
            if not call.conn.lost:
                call.conn.plain(message)
        try:
            if closes:
                closed(s, call, op)
                s.backward.clear()
                continue
            kept += 1
            result = s.finish(op)
            want(result == "EIO", f"READDIR returns {result}")
            want(s.seen[call.xid] == before, "it was sent again")
            want(s.accepted == accepted, "the connection is not kept")
            want(not s.backward, "it is answered")
            want(s.do(do_stat, MNT + "/file") == len(DATA), "GETATTR")
            want(posted == fewest(s), f"no longer {posted} Receives are posted")
        except Failure as e:
            raise Failure(f"{what}: {e}") from None
    s.log(f"{count} kinds, after {kept} of them the connection is kept")
    s.works()


# Covers: RTX-50
@case("rtx-replies", "more transmissions than were offered", mount=False)
def too_many(s):
    s.mount(SOFT)

    def whole(call, count, **lists):
        return call.transmissions(part_of(call), *[40] * (count - 1), **lists)

    def begin(call, count):
        return word(call.transmissions(part_of(call), 40)[0], COUNT, count)
    # A complete Reply ends its RPC. A broken one does not.
    rows = [(1, "EIO", "in order, and complete", whole),
            (1, "EIO", "with a header that is no good", lambda call, count: whole(call, count, reads=[(0, fake())])),
            (1, 300, "with a gap", lambda call, count: [m for i, m in enumerate(whole(call, count)) if i != 1])]
    rows += [(more, 300, "of which one comes", lambda call, count: [begin(call, count)]) for more in (250, 0xfffffff0)]
    for more, end, what, make in rows:
        op, call = s.listing()
        count = call.group.replies + more
        for message in make(call, count):
            if not call.conn.lost:
                call.conn.plain(message)
        want(s.serve(lambda conn=call.conn: conn.closed or conn.lost, 20),
             f"{count} transmissions for {call.group.replies} Receives, {what}: the connection stays")
        result = s.finish(op)
        want(result == end, f"{what}: READDIR returns {result}")
        # The client reconnects for the next Call.
        s.works()
        want(s.of_client() == NOTHING, f"{what}: the client says {s.of_client()}")
        s.umount()
        s.mount(SOFT)


# Complete Replies whose XID belongs to no Call. Most of them are invalid in other ways as well. They must have no
# effect, however many arrive.
def for_nobody(s):
    """(what, messages)"""
    xid, size = 0xbad0000, 200
    body = rpc_reply(xid)
    body += bytes(3 * size - len(body))
    yield "a whole Reply", group(xid, cut(body, size, size), flags=1, replies=0, credit=s.credit)
    yield "items", group(xid, cut(body, size, size), flags=1, replies=0, items=[(40, 8)])
    yield "another XID in the stream", group(xid, cut(words(1) + body[4:], size, size), flags=1, replies=0)
    yield "a Call in the stream", group(xid, cut(body[:4] + words(0) + body[8:], size, size), flags=1, replies=0)


MANY = int(os.environ.get("ROUNDS") or (10000 if os.environ.get("ALL") else 40))


# Tries: RTX-84 RTX-75
# Covers: RTX-50
@case("rtx-replies", "Replies that nobody waits for, and many of them", mount=False)
def storms(s):
    s.mount()
    op, call = s.listing()          # so that the client has posted several Receives for a Reply
    call.respond()
    s.finish(op)
    posted, conn = fewest(s), s.conns[0]
    for what, messages in for_nobody(s):
        t0 = time.monotonic()
        # The client answers the unknown message type 77 with an error. This answer shows that it has handled
        # all messages before it.
        got = storm(conn, messages + [prefix(0x75, 77, flags=0) + bytes(20)], MANY, 1, 2)
        want(got == {(ERROR, INVAL_HTYPE): MANY}, f"{what}: {got}, not {MANY} refusals")
        want(not conn.lost, f"{what}: the connection is lost")
        s.log(f"{what}: {MANY} in {time.monotonic() - t0:.1f} s")
    now = fewest(s)
    want(now == posted, f"{now} Receives are posted, not {posted}")
    s.works()
    want(uses(s, "storm"), "no group")
    s.kept()


# These Replies fit into the offered Receives, but not into the buffer of the RPC.
# Tries: RTX-71
@case("rtx-replies", "Replies that are longer than anybody asked for", mount=False)
def longer(s):
    s.mount("vers=3,noac,soft,timeo=300,retrans=2")
    for _ in range(4):
        op, call = s.listing()
        room = s.announced() * call.group.replies - LEAST - NEXT_LENGTH * (call.group.replies - 1)
        body = call.forward()
        call.grouped(body + b"\xbd" * ((room - len(body)) & ~3))
        result = s.finish(op)
        want(result in (300, "EIO", "EREMOTEIO", "EMSGSIZE"), f"READDIR returns {result}")
        want(s.do(do_stat, MNT + "/file") == len(DATA), "GETATTR")
    s.works()
    s.kept()


# Covers: RTX-71
@case("rtx-replies", "results that nobody asked for, in a Reply that is whole otherwise")
def unasked(s):
    for items in ([(40, 8)], [(40, 4096)], [(40, 8), (60, 8)]):
        op, call = s.listing()
        call.grouped(call.forward(), items=items)
        result = s.finish(op)
        want(result == "EIO", f"{items}: READDIR returns {result}")
    s.works()
    s.kept()


# Covers: RTX-65 RTX-76
@case("rtx-replies", "Receives that a Call offers are posted", mount=False)
def offered(s):
    s.mount()
    s.works()
    before = fewest(s)
    op, call = s.listing()
    after, wanted = fewest(s), call.group.replies
    s.log(f"{before} Receives are posted, and {after} when {wanted} are offered")
    want(after >= before + wanted - 1, f"{after} Receives are posted, where {before} were; {wanted} are offered")
    call.respond()
    s.finish(op)
    s.works()
    s.kept()


# The Reply to a READ comes as a bad group, so the RPC ends, but only after its handles were
# invalidated. In the meantime groups arrive: one for another RPC, and then the Reply to the READ
# again, valid, bad, or both. The READ offers only one Receive, so its Reply is a group of one
# transmission. A longer group would close the connection (RTX-50).
# Tries: RTX-50 RTX-101
@case("rtx-replies", "a lost Reply that is being fenced, and groups behind it", "xprt_rdma_fence", mount=False)
def lost(s):
    s.mount("vers=3,noac,soft,timeo=300,retrans=2")
    for again in ("good", "bad", "bad, good"):
        reading = s.user(hostile_server_v2.do_read, 4096)
        held = s.next(READ3)
        want(held.writes, "a long READ without a chunk")
        op, call = s.listing()
        one, = group(held.xid, [part_of(held)], flags=1, replies=0, credit=s.credit)
        kinds = {"good": one, "bad": group(held.xid, [part_of(held)], flags=1, replies=0, items=[(40, 8)])[0]}
        for message in [kinds["bad"], *call.transmissions(call.forward()), *(kinds[k] for k in again.split(", "))]:
            held.conn.plain(message)
        want(s.finish(op) == 300, f"READDIR returns {op.get()}")
        want(s.finish(reading) == "EIO", f"{again}: READ returns {reading.get()}")
        want(s.seen[held.xid] == 1, "the READ was sent again")
        s.works()
    s.kept()


def granted():
    return int(next(transports())[1]["credits_granted"])


# The client applies the grant of the first transmission, but only when the Reply is complete. It
# ignores the grants of the other transmissions.
# Covers: RTX-42 RTX-80
@case("rtx-replies", "the grant of a Reply that is a group")
def granting(s):
    want(uses(s, "before"), "no group")
    for credit, what in ((1, "small"), (64, "large")):
        op, call = s.listing()
        before = granted()
        one, *more = call.transmissions(call.forward(), credit=credit)
        want(more, "a short Reply")
        s.credit = credit               # for the answers to later Calls
        call.conn.plain(one)
        want(not s.verbs.until(lambda n=before: granted() != n, SILENCE),
             f"{granted()} credits, not {before}, though the Reply is not complete")
        for m in more:
            call.conn.plain(word(m, CREDIT, 65 - credit))
        # No other Reply is sent meanwhile, so the grant of this Reply stays in force.
        want(s.verbs.until(lambda n=credit: granted() == n), f"{granted()} credits, not {credit}")
        s.finish(op)
        want(bool(uses(s, what)) == (credit > 1), f"grant {credit}: {s.heard[-3:]}")
    s.kept()


@case("rtx-replies", "two groups for one Call")                     # Covers: RTX-50
def twice(s):
    for _ in range(5):
        op, call = s.listing()
        messages = call.transmissions(call.forward())
        for message in messages + messages:
            call.conn.plain(message)
        want(s.finish(op) == 300, f"READDIR returns {op.get()}")
    s.works()
    s.kept()


# Covers: RTX-37 RTX-66 RTX-50
@case("rtx-replies", "Replies in this form to Calls in base form", "xprt_rdma_bad_reply")
def to_base(s):
    op, call = s.small()
    want(not isinstance(call, CallX), "a short READ is a group")
    for message in group(call.xid, [call.forward()], flags=1, replies=0, credit=s.credit):
        call.conn.plain(message)
    s.fails(op, call.xid)
    s.works()
    s.kept()


@case("rtx-replies", "half a Reply, and nothing more", mount=False)  # Tries: RTX-85
def half(s):
    s.mount("vers=3,noac,hard")
    op, call = s.listing()
    messages = call.transmissions(part_of(call), 200, 200)
    t0 = time.monotonic()
    call.conn.plain(messages[0])
    conn = call.conn
    want(s.verbs.until(lambda c=conn: c.lost, TIMEOUT + 15), "the connection stays")
    took = time.monotonic() - t0
    want(took > TIMEOUT - 1, f"the connection goes after {took:.1f} s")
    s.finish(op)
    s.works()
    want(s.of_client() == NOTHING, f"the client says {s.of_client()}")


# Covers: RTX-73
@case("rtx-replies", "invalidating before the last transmission", only=NOT_SIW)
def invalidating(s):
    reading = s.user(hostile_server_v2.do_read, 65536)
    held = s.next(READ3)
    want(held.writes, "a long READ without a chunk")
    op, call = s.listing()
    messages = call.transmissions(part_of(call), 200)
    call.conn.plain(messages[0], held.writes[0][0].handle)
    want(s.verbs.until(lambda conn=call.conn: conn.lost, 20), "the connection stays")
    s.reads(65536, op=reading)
    s.finish(op)
    s.works()


# --- errors ---------------------------------------------------------------------------------------

def anew(s):
    """Make the client use another connection: what it learned from errors is valid only for one connection."""
    s.conns[0].disconnect()
    s.works()


# Tries: RTX-88
# Covers: RTX-35 RTX-89
@case("rtx-errors", "errors to a group: base form, once", mount=False)
def to_groups(s):
    for code, ends in ((RTX_CONT, True), (INVAL_HTYPE, True), (RTX_LIMIT, False)):
        s.mount()
        want(uses(s, "before"), "no group")
        op, call = long_write(s)
        want(isinstance(call, CallX), "no group")
        call.conn.plain(error2(call.xid, code, credit=0xffffffff))
        again = s.next(WRITE3)
        want(again.xid == call.xid and not isinstance(again, CallX), f"code {code:#x}: no base form, or another XID")
        again.respond()
        want(s.finish(op) == LONG, "WRITE")
        verified(s, "long", DATA[:LONG])
        want(bool(uses(s, "after")) != ends, f"code {code:#x}: groups afterwards: {s.groups()[-2:]}")
        s.stale()
        want(s.do(do_list) == 300, "READDIR")
        s.kept()
        # The next connection may be to another server, so the client must try groups again.
        s.conns[0].disconnect()
        s.works()
        want(uses(s, "anew"), "no group on the next connection")
        s.umount()
        s.accepted = 0


@case("rtx-errors", "the same error to both forms, and those that nothing is done about")  # Tries: RTX-88 RTX-89
def final(s):
    for codes in ((RTX_LIMIT, RTX_LIMIT), (RTX_LIMIT, RTX_CONT), (RTX_LIMIT, INVAL_HTYPE), (BAD_XDR,), (SYSTEM,),
                  (77,)):
        op, call = long_write(s)
        xid = call.xid
        for i, code in enumerate(codes):
            want(isinstance(call, CallX) == (not i), f"{codes}: form {i}")
            call.conn.plain(error2(xid, code))
            if i + 1 < len(codes):
                call = s.next(WRITE3)
        result = s.finish(op)
        want(result in ("EIO", "EREMOTEIO"), f"{codes}: WRITE returns {result}")
        want(s.seen[xid] == len(codes), f"{codes}: sent {s.seen[xid]} times")
        anew(s)


@case("rtx-errors", "every remedy there is, and no more")
def remedies(s):
    errors = {RTX_LIMIT: (), READ_CHUNKS: (0,), WRITE_CHUNKS: (0,), SEGMENTS: (1,), REPLY_RESOURCE: (100,),
              RTX_CONT: ()}
    rng = random.Random(3)
    for turn in range(12):
        op, call = long_write(s) if turn % 2 else s.listing()
        xid, count = call.xid, 0
        codes = list(errors)
        # In turn 1, the WRITE is sent four times: as a group, with a Read chunk, with a Position Zero chunk, and with
        # a Reply chunk in addition. RTX_CONT then ends it.
        planned = [RTX_LIMIT] + ([READ_CHUNKS, REPLY_RESOURCE, RTX_CONT] if turn == 1 else [])
        while True:
            count += 1
            want(count <= 4, "it is sent more than four times")
            code = planned.pop(0) if planned else rng.choice(codes)
            call.conn.plain(error2(xid, code, *errors[code]))
            following_one = next_or_done(s, op, (WRITE3,) + LISTING)
            if not following_one or following_one.xid != xid:
                if following_one:
                    following_one.respond()
                break
            call = following_one
        s.finish(op)
        s.log(f"turn {turn}: sent {s.seen[xid]} times")
        want(s.seen[xid] <= 4 if turn != 1 else s.seen[xid] == 4, f"turn {turn}: sent {s.seen[xid]} times")
        anew(s)


def lister(s, number):
    """Start a process that lists a directory of its own. Returns (process, its READDIR)."""
    os.makedirs(f"{EXPORT}/offers{number}", exist_ok=True)
    process = subprocess.Popen(("ls", f"{MNT}/offers{number}"), stdout=subprocess.DEVNULL)
    return process, s.next(LISTING)


# Four Calls offer all spare Receives for their Replies. The server refuses these Calls, and each is
# sent again in base form, that is, not as a group. While they wait for their Replies, the next Call
# can offer the same Receives.
# Covers: RTX-101
@case("rtx-errors", "Receives that refused Calls have offered are free at once", mount=False)
def refused_offers(s):
    s.mount("vers=3,noac,hard")
    s.works()
    listers = [lister(s, number) for number in range(4)]
    most = [call.group.replies if isinstance(call, CallX) else 1 for _, call in listers]
    want(most[0] > 1 and most == most[:1] * 4, f"{most} Receives are offered")
    listers.append(lister(s, 4))
    call = listers[4][1]
    want(not isinstance(call, CallX) or call.group.replies < most[0], "there are Receives to spare for everybody")
    call.respond()
    xids = {call.xid for _, call in listers[:4]}
    for _, call in listers[:4]:
        call.conn.plain(error2(call.xid, RTX_LIMIT))
    again = [s.next(LISTING) for _ in xids]
    want({call.xid for call in again} == xids, "other XIDs")
    want(not any(isinstance(call, CallX) for call in again), "no base form")
    listers.append(lister(s, 5))
    call = listers[5][1]
    want(isinstance(call, CallX) and call.group.replies == most[0],
         f"{call.group.replies if isinstance(call, CallX) else 1} Receives are offered, where {most[0]} are free")
    for call in (*again, call):
        call.respond()
    want(s.serve(lambda: all(process.poll() is not None for process, _ in listers)), "ls does not return")
    want(not any(process.returncode for process, _ in listers), "ls fails")
    s.works()
    s.kept()


@case("rtx-errors", "a server that never answers in this form", mount=False)      # Covers: RTX-67 RTX-68
def never(s):
    s.mount()
    for _ in range(40):
        s.stale()
        op = s.user(do_list)
        while (call := next_or_done(s, op, LISTING)):
            body = call.forward()
            if isinstance(call, CallX) and len(body) + 36 > s.announced():
                call.conn.plain(error2(call.xid, REPLY_RESOURCE, len(body)))
                again = s.next(LISTING)
                want(again.xid == call.xid and again.reply, "no Reply chunk")
                again.respond(body)
            else:
                call.respond(body)
        want(op.get() == 300, "READDIR")
    s.works()
    s.kept()


# The server executes a Call, but answers with an error. The client must send the same Call again with the same
# XID, so that the server's reply cache can answer it.
# Tries: RTX-88 RTX-90
@case("rtx-errors", "errors to a group that was executed", mount=False)
def executed(s):
    for code in (RTX_CONT, RTX_LIMIT, INVAL_HTYPE):
        s.mount()
        s.works()
        target, name = "z" * 3000, os.urandom(6).hex()
        op = s.user(do_symlink, target, name)
        call = s.next((SYMLINK3,))
        want(isinstance(call, CallX), "a long SYMLINK is no group")
        done = call.forward()
        call.conn.plain(error2(call.xid, code))
        again = s.next((SYMLINK3,))
        want(again.xid == call.xid and not isinstance(again, CallX), f"code {code:#x}: no base form, or another XID")
        want(again.rpc == call.rpc, "another Call")
        want(again.forward() == done, "it is executed twice")
        again.respond(done)
        want(s.finish(op) == target, f"code {code:#x}: SYMLINK returns {op.get()}")
        s.kept()
        s.umount()
        s.accepted = 0


# --- connections that go, and Calls that are given up -------------------------------------------------

@case("rtx-connections", "cut after each transmission", mount=False)  # Tries: RTX-86
def cut_off(s):
    s.mount("vers=3,noac,hard")
    for at in range(1, 6):                      # transmissions of a Call
        s.works()
        xids, gone = [], []

        def arrival(conn, data, at=at, xids=xids, gone=gone):
            if conn in gone:
                return True
            if len(xids) < at:
                xids.append(data[:4])
                if len(xids) == at:
                    s.open.pop(conn, None)
                    gone.append(conn)
                    conn.disconnect()
                    return True
            return False
        s.at_arrival = arrival
        want(s.do(do_write, DATA[:LONG], "cut", True) == LONG, "WRITE")
        s.at_arrival = None
        verified(s, "cut", DATA[:LONG])
        want(xids, "no group")
        want(s.seen[int.from_bytes(xids[0], "big")], "another XID")
    for at in range(1, 3):                      # transmissions of a Reply
        op, call = s.listing()
        for message in call.transmissions(part_of(call), 200, 200)[:at]:
            call.conn.plain(message)
        time.sleep(0.05)
        call.conn.disconnect()
        want(s.finish(op) == 300, f"READDIR returns {op.get()}")
    s.works()


def killed_listing(s):
    """Begin a READDIR that offers several Receives, and kill its process. Returns the Call."""
    s.stale()
    call = kill(s, "ls", MNT + "/dir")
    want(isinstance(call, CallX) and call.group.replies > 1, "READDIR offers no Receives")
    return call


# A Call that was given up keeps its credits, and the Receives for its Reply, until the Reply or an
# error comes.
# Tries: RTX-75 RTX-100
# Covers: V1-CRD-06 RTX-101
@case("rtx-connections", "late Replies, of one transmission and of many", "xprt_rdma_given_up", mount=False)
def late(s):
    s.mount("vers=3,noac,hard")
    s.works()
    for form in range(4):
        call = killed_listing(s)
        want(s.verbs.until(lambda: owed() == 1), f"{owed()} credits are owed, not 1")
        s.works()
        body = part_of(call)
        if form == 0:
            call.send(body)
        elif form == 1:
            call.grouped(body)
        elif form == 2:
            call.grouped(body, 500, *[4] * (call.group.replies - 2))
        else:
            call.conn.plain(error2(call.xid, SYSTEM))
        want(s.verbs.until(lambda: owed() == 0), f"form {form}: {owed()} credits are owed")
        s.works()
    # Four Calls are given up, so all spare Receives are reserved for their late Replies.
    calls = []
    for _ in range(4):
        calls.append(killed_listing(s))
    want(s.verbs.until(lambda: owed() == 4), f"{owed()} credits are owed, not 4")
    # The next Call cannot offer these Receives, so it offers fewer than the first of the four.
    s.stale()
    op = s.user(do_list)
    other = s.next(LISTING)
    want(not isinstance(other, CallX) or other.group.replies < calls[0].group.replies,
         f"{other.group.replies if isinstance(other, CallX) else 1} Receives more are offered")
    other.respond()
    s.finish(op)
    for call in calls:
        call.grouped(part_of(call), 500, *[4] * (call.group.replies - 2))
    want(s.verbs.until(lambda: owed() == 0), f"{owed()} credits are owed")
    s.works()
    s.kept()


# An RPC was given up, but client_hold_fence delays the invalidation of its handles. In the meantime groups
# arrive: the Reply to this RPC, and Replies to other RPCs that were given up.
# Tries: RTX-37 RTX-50 RTX-100 RTX-101
@case("rtx-connections", "a Call that is being fenced, and groups meanwhile", mount=False, knobs=True)
def fenced(s):
    for form in range(2):
        s.credit = 64
        s.mount("vers=3,noac,hard")
        s.works()
        others = [killed_listing(s)]
        while len(others) < 20:
            s.stale()
            process = subprocess.Popen(("ls", MNT + "/dir"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            call = s.next(LISTING)
            if call.reply:
                break
            process.send_signal(signal.SIGKILL)
            want(s.verbs.until(lambda p=process: p.poll() is not None), "ls cannot be killed")
            others.append(call)
        want(call.reply and not isinstance(call, CallX), "there are Receives to spare for everybody")
        count = len(others)
        want(s.verbs.until(lambda n=count: owed() == n), f"{owed()} credits are owed, not {count}")
        fault("client_hold_fence", -1)
        try:
            process.send_signal(signal.SIGKILL)
            want(s.verbs.until(lambda n=count: owed() == n + 1), f"{owed()} credits are owed, not {count + 1}")
            body, first_one = part_of(call), others.pop()
            first_one.grouped(part_of(first_one), 200, 200)
            for message in group(call.xid, cut(body, *((), (200,))[form]), flags=1, replies=0, credit=s.credit):
                call.conn.plain(message)
            for other in others:
                other.grouped(part_of(other), 200, 200)
            want(s.verbs.until(lambda: owed() <= 1), f"{owed()} credits are owed")
        finally:
            fault("client_hold_fence", 0)
        want(s.serve(lambda p=process: p.poll() is not None), "ls cannot be killed")
        # If the group was no valid Reply, the credit may still be owed. Then send a valid Reply.
        s.log(f"form {form}: {owed()} credits are owed")
        if owed():
            call.conn.send(header(call.xid, NOMSG, reply=call.reply))
        want(s.verbs.until(lambda: owed() == 0), f"form {form}: {owed()} credits are owed")
        s.works()
        s.kept()
        s.umount()
        s.accepted = 0


# At most half of the grant may be used for the second and further transmissions of Calls. A WRITE of LONG bytes needs
# nearly all of that half. If another long Call was given up, it must keep its credits until its late Reply comes, so
# the WRITE is not sent as a group meanwhile.
# Tries: RTX-100
@case("rtx-connections", "a long Call that is given up keeps its credits", "xprt_rdma_given_up", mount=False)
def given_up(s):
    s.credit = 44
    s.mount("vers=3,noac,hard")
    s.works()
    want(uses(s, "before"), "no group")
    process = subprocess.Popen(("ln", "-s", "x" * 4000, MNT + "/killed"), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    call = s.next(SYMLINK3)
    want(isinstance(call, CallX) and len(call.group.of) > 3, "no long group")
    process.send_signal(signal.SIGKILL)
    want(s.verbs.until(lambda: process.poll() is not None), "ln cannot be killed")
    want(s.verbs.until(lambda: owed() == 1), f"{owed()} credits are owed, not 1")
    want(not uses(s, "meanwhile"), "a group takes credits that the one before still has")
    call.send(rpc_reply(call.xid, bytes(256)))
    want(s.verbs.until(lambda: owed() == 0), f"{owed()} credits are owed")
    want(uses(s, "after"), "no group when the credits are back")
    s.kept()


if __name__ == "__main__":
    rtx.main()
    main(ServerX)
