# SPDX-License-Identifier: GPL-2.0
"""Test clients that use the round-trip extension with our server, correctly and incorrectly.

usage: hostile_rtx.py SET [part of a name]

rtx.py makes the messages, and parses the Replies. Documentation/rtx.rst defines the terms, and the results that
the cases expect. caller.py runs the cases. If the server announces no targets, the set rtx-placed is left out.
"""
import collections
import contextlib
import itertools
import os
import random
import sys
import time

from caller import (DATA, NFS, NULL, READ3, READDIRPLUS, WRITE3, LeftOut, counts, main, results, root_handle)
from hostile_client import (answer_of, compound, delegation, fresh_names, op_read, read_args, readdir_args, recall,
                            write_args)
from hostile_v2 import (ICE, SETTING, Client2, Message2, connprop, fewest, frozen, header2, open_window, prefix,
                        refused, regions, shown, size, unheard)
from peer import (AREA, AUTH_ROOT, BAD_XDR, CONNPROP, ERROR, INVAL_HTYPE, MSG, NOMSG, PARAMETERS, RBSIZ,
                  REPLY_RESOURCE, SEGMENTS, SILENCE, VERS, Failure, Segment, counters, opaque, put, rpc_call, rpc_reply,
                  settings, slow, want, words)
from rtx import (COUNT, CREDIT, DATA as DATA_AT, FLAGS, HERE, ITEMS, LEAST, NEXT_LENGTH, NOTHING, NUMBER, OFFSET,
                 REPLIES, RESULTS, RTX, RTX_CONT, RTX_LIMIT, RTX_MSG, RTX_NEXT, SENDS, STREAM, TYPES, VERS as VERS_AT,
                 XID, Group, Property, Transmission, cut, first, following, group, plan, prop_rtx, property_of,
                 targets)
from sets import case
import peer
import rtx

MINE = Property(SENDS, 0, 0, 0, 0, 0, 0)        # the property that these clients announce
CLOSED = "closed"       # expected answer to a transmission that breaks a group
LIMIT = 30              # time limit of a group in seconds (RTX-85)
BOUNDS = (0, 1, 2, 3, 4, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff)


class MessageX(Message2):
    """A message of version 2, or one transmission of a group"""

    def __init__(self, data):
        if data[12:16] not in TYPES:
            super().__init__(data)
            return
        t = Transmission(data)
        self.data, self.error, self.props, self.code = data, None, {}, None
        self.xid, self.vers, self.credit, self.proc, self.flags = t.xid, t.vers, t.credit, t.type, t.flags
        self.body, self.inv, self.writes, self.reply = t.piece, t.inv, t.writes, t.reply

    transmissions = 0       # number of transmissions of a Reply that came as a group


class ClientX(Client2):
    """A client whose RBSIZ differs from that of all other clients, so that its connection can be found in
    debugfs. @least: lower bound of its RBSIZ; @mine: the property RTX that it announces"""
    parse = MessageX
    serial_size = 0
    window = None

    def __init__(self, verbs, least=16384, mine=MINE, count=300, more=(), **kwargs):
        ClientX.serial_size += 4
        self.rbsiz = least + ClientX.serial_size
        super().__init__(verbs, hello=None, count=count, size=self.rbsiz, **kwargs)
        self.credit = 400
        answer = self.exchange(connprop(self.xid(), size(self.rbsiz), *([prop_rtx(*mine)] if mine else []), *more))
        want(answer and answer.proc == CONNPROP, "CONNPROP is not answered by one")
        self.theirs = property_of(answer.props.get(RTX, b""))
        self.limit = int.from_bytes(answer.props.get(RBSIZ, words(4096)), "big")
        want(self.theirs.head + self.theirs.seg * self.theirs.nsegs <= self.limit, f"{self.theirs} in {self.limit}")
        self.offered = {}               # {XID: Receives offered for the Reply}

    def receive(self, patience=20):
        m = super().receive(patience)
        if not m or m.proc not in (RTX_MSG, RTX_NEXT):
            return m
        # Covers: RTX-66 RTX-93
        want(m.xid in self.offered, f"a Reply of this form to a Call of the other: {m.data[:48].hex()}")
        g, whole = Group(NOTHING, self.rbsiz, self.offered[m.xid]), m
        calls = len(self.callbacks)
        while not g.add(m.data):
            want(not self.invalidated, "the first transmissions of a Reply invalidate a handle")
            m = super().receive(5)
            want(m, f"only {len(g.of)} of {g.of[0].count} transmissions come")
        want(len(self.callbacks) == calls, "a callback between the transmissions of a Reply")
        whole.proc, whole.body, whole.transmissions = MSG, g.stream, len(g.of)
        want(g.stream[:8] == words(g.xid, 1), "another XID in the Reply")
        return whole

    # Calls as groups

    def call(self, proc=NULL, args=b"", xid=None):
        """Make a Call: (XID, RPC message)"""
        xid = xid or self.xid()
        return xid, rpc_call(xid, NFS, 3, proc, args, AUTH_ROOT)

    def sent_as(self, xid, messages, replies=1):
        """Send the messages of a Call. Returns the answer."""
        self.offered[xid] = min(replies, self.theirs.reply_max)
        for message in messages:
            self.conn.send(message)
        answer = self.receive()
        want(answer and answer.xid == xid, "no answer, or one to something else")
        return answer

    def grouped(self, proc, args, *sizes, replies=1, parts=None, xid=None, **fields):
        """Send a Call as a group with pieces of these sizes. Returns the answer."""
        xid, rpc = self.call(proc, args, xid)
        parts = parts(rpc) if parts else cut(rpc, *sizes) if sizes else plan(rpc, self.limit, **self.overhead(fields))
        return self.sent_as(xid, group(xid, parts, replies=replies, credit=self.credit, **fields), replies)

    @staticmethod
    def overhead(fields):
        return {"overhead": len(first(0, 1, 8, 8, **fields))}


def announced(c):
    """Check that the server announces enough for these cases. Returns its property."""
    want(c.theirs.call_max and c.theirs.msg_max, f"the server does not announce the extension: {c.theirs}")
    return c.theirs


def ready(b):
    """The usual connection. If it is new, it is first used until the server has granted all credits."""
    c = b.fresh()
    announced(c)
    if not c.window:
        want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
        c.window = open_window(c, c.rbsiz)
    return c


def grown(b, count, **kwargs):
    """A new connection with at least @count credits"""
    c = b.connect(**kwargs)
    announced(c)
    want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
    c.window = open_window(c, c.rbsiz)
    want(c.window >= count, f"{c.window} credits")
    return c


@contextlib.contextmanager
def same_receives(b):
    """The usual connection. At the end it must have as many Receives posted as at the beginning."""
    c = ready(b)
    before = fewest(c, c.rbsiz)
    yield c
    want(not c.conn.lost, "the connection is lost")
    after = fewest(c, c.rbsiz)
    want(after == before, f"{after} Receives are posted, not {before}")


def answers(c, messages, expected, patience=20):
    """Send @messages, and then an honest Call, which must be executed. @expected: {XID: expected answer},
    where an answer is an error code, MSG for a Reply without an error, or CONNPROP. In place of an answer, a
    set means any one of its members, and a list means all of them."""
    left = [(xid, one if isinstance(one, set) else {one}) for xid, what in expected.items()
            for one in (what if isinstance(what, list) else [what])]
    for message in messages:
        c.conn.send(message)
    xid = c.xid()
    left.append((xid, {MSG}))
    c.conn.send(null_call(c, xid))
    while left:
        answer = c.receive(patience)
        want(answer, f"{'lost' if c.conn.lost else 'nothing comes'}: {left} are missing")
        what = answer.error[0] if answer.proc == ERROR else answer.proc
        fits = [one for one in left if one[0] == answer.xid and what in one[1]]
        want(fits, f"{answer.xid:#x}, {what:#x} comes, of {left}: {answer.data[:48].hex()}")
        left.remove(fits[0])
        if answer.proc == ERROR:
            refused(answer, *answer.error, vers=answer.vers)
        elif answer.proc == MSG:
            results(answer)
    want(c.silent(), f"one more answer than {expected}")


def breaks(b, messages, may=(), c=None):
    """Send @messages, and then an honest Call, on a new connection, or on @c. One of these messages breaks a group, so
    the server must close the connection, and nothing may be answered any more. @may: XIDs of Calls that are complete
    before, and whose answer may come or not"""
    if not c:
        c = b.connect(count=32)
        announced(c)
        want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
    before = counters()["groups_broken"]
    for message in [*messages, null_call(c, c.xid())]:
        if not c.conn.lost:
            c.conn.send(message)
    want(c.verbs.until(lambda: c.conn.lost, 5), "the connection stays")
    while answer := c.receive(0):
        want(answer.xid in may, f"answered with {answer.data[:32].hex()}")
    found = counters()["groups_broken"] - before
    want(found == 1, f"{found} broken groups are counted")
    c.conn.close()


def each(b, c, table):
    """Test rows of (description, messages, {XID: expected answer}), or with CLOSED in place of the dictionary."""
    count = closed = 0
    for what, messages, coming in table:
        try:
            if coming == CLOSED:
                breaks(b, messages)
                closed += 1
            else:
                answers(c, messages, coming)
        except Failure as e:
            raise Failure(f"{what}: {e}") from None
        count += 1
    print(f"# {count} kinds, {closed} of them close the connection")


def small(c, count=3, piece=40, **fields):
    """A NULL Call in @count pieces of @piece bytes, with zeros after the Call, which the server ignores.
    Returns (XID, transmissions)."""
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, NULL, b"", AUTH_ROOT)
    rpc += bytes(max(0, count * piece - len(rpc)))
    return xid, group(xid, cut(rpc, *[piece] * (count - 1)), credit=c.credit, **fields)


def null_call(c, xid):
    return c.header(xid, credit=c.credit) + rpc_call(xid, NFS, 3, NULL, b"", AUTH_ROOT)


def word(message, at, value):
    return message[:at] + words(value & 0xffffffff) + message[at + 4:]


def read(message, at):
    return int.from_bytes(message[at:at + 4], "big")


# --- properties ----------------------------------------------------------------------

@case("rtx-good", "the server's words")                # Covers: RTX-31 RTX-33
def its_words(b):
    c = ready(b)
    p = c.theirs
    print(f"# {p}, RBSIZ {c.limit}")
    want(p.flags & ~RESULTS == 0, "flags that a server has no business with")
    want(p.call_max > 1 and p.reply_max > 1, "no groups")
    want(p.nsegs or not p.flags & RESULTS, "placed results from who places nothing")


# Covers: RTX-33 V2-PRP-05
@case("rtx-bad", "properties RTX that are not valid, of which none is applied", "svc_rdma_error: BAD_XDR")
def bad_properties(b):
    good = Property(SENDS, 4, 4, 4096, 256, 512, 2)
    bad = [(good._replace(**change),) for change in (
        {"call_max": 257}, {"reply_max": 257}, {"call_max": 0}, {"msg_max": 1023}, {"msg_max": 0}, {"head": 0},
        {"head": 252}, {"head": 258}, {"head": 65536}, {"seg": 0}, {"seg": 256}, {"seg": 768}, {"seg": 131072},
        {"nsegs": 0}, {"nsegs": 8}, {"nsegs": 0x7fffffff}, {"nsegs": 0x80000000, "seg": 512}, {"nsegs": 0x00800000},
        {"head": 65532}, {"call_max": 0xffffffff})]
    rows = [(prop_rtx(*p),) for (p,) in bad]
    rows += [(words(RTX, n) + bytes(n + -n % 4),) for n in (1, 4, 24, 27, 29, 32, 56)]
    rows += [(prop_rtx(*good), prop_rtx(*good)), (words(RTX, 28) + bytes(24),)]
    # The head part and the targets together must fit RBSIZ, whether the property RBSIZ precedes or
    # follows the property RTX.
    rows += [(size(1276), prop_rtx(*good)), (prop_rtx(*good), size(1276)),
             (prop_rtx(*good._replace(nsegs=8)),), (size(4348), prop_rtx(*good._replace(nsegs=8)))]
    c = unheard(b)
    for row in rows:
        xid = c.xid()
        refused(c.exchange(connprop(xid, *row)), BAD_XDR, xid=xid)
    # These properties are valid.
    for row in ((prop_rtx(*good), size(1280)), (prop_rtx(*good._replace(nsegs=7)),), (words(RTX, 0),),
                (size(4352), prop_rtx(*good._replace(nsegs=8))), (prop_rtx(0xfffffffc, *NOTHING[1:]),)):
        c = unheard(b)
        answer = c.exchange(connprop(c.xid(), *row))
        want(answer.proc == CONNPROP, f"{row[0].hex()} is refused")
        c.works()
        c.conn.close()


# Covers: RTX-32 RTX-37 V2-EXT-01
@case("rtx-bad", "the types, where nothing was announced", "svc_rdma_error: INVAL_HTYPE")
def unannounced(b):
    c = unheard(b)
    before = counters()["server_errors"]
    xid, messages = small(c, 2)
    for message in messages + [messages[0][:20], messages[1][:20]]:
        answer = c.exchange(message)
        refused(answer, INVAL_HTYPE, xid=xid)
    want(counters()["server_errors"] == before + 4, "not counted")
    want(c.silent(), "more answers")
    c.works()


# --- valid groups -------------------------------------------------------------------------

# Tries: RTX-38
# Covers: RTX-43 RTX-58 RTX-62 RTX-47
@case("rtx-good", "Calls in any division that is allowed", "rpcrdma_group: ")
def divisions(b):
    with same_receives(b) as c:
        most = min(c.theirs.call_max, c.window)
        for count in (1, 2, 3, most - 1, most):
            xid, messages = small(c, count)
            answers(c, messages, {xid: MSG})
        rng = random.Random(7)
        odd = [[4 * rng.randrange(2, 60) for _ in range(rng.randrange(1, 8))] for _ in range(20)]
        for sizes in ((8,), (8, 4, 4, 4), (12, 8), (8, 4) + (4,) * (most - 4), (40, 2000), (2000, 4), (c.limit - LEAST,),
                      (c.limit - LEAST, c.limit - NEXT_LENGTH), *odd):
            length = sum(sizes) + rng.randrange(1, 900)
            b.fresh()
            args = write_args(b, length) + DATA[:length] + bytes(-length % 4)
            answer = c.grouped(WRITE3, args, *sizes)
            want(results(answer).word() == 0, f"WRITE in {sizes}")
            b.target_is(DATA[:length], f"WRITE of {length} in {sizes}")


# Covers: RTX-43 RTX-84
@case("rtx-good", "WRITEs of all sizes, as a sender would divide them")
def writes(b):
    with same_receives(b) as c:
        most = min(c.theirs.call_max, c.window)
        for length in (1, 100, 4096, 16384, 20001, c.limit - 200, c.limit, c.limit + 3, 65536, 65537, 131072, 258048):
            if length + 300 > c.theirs.msg_max or len(plan(bytes(length + 300), c.limit)) > most:
                print(f"# there is no room for a WRITE of {length} bytes")
                continue
            b.fresh()
            args = write_args(b, length) + DATA[:length] + bytes(-length % 4)
            want(results(c.grouped(WRITE3, args)).word() == 0, f"WRITE of {length}")
            b.target_is(DATA[:length], f"WRITE of {length}")


@case("rtx-good", "unknown flags, and other credits in what follows")      # Covers: RTX-42 V2-HDR-14
def ignored(b):
    with same_receives(b) as c:
        xid, (one, two, three) = small(c)
        answers(c, [one, word(two, CREDIT, 0), word(three, CREDIT, 0xffffffff)], {xid: MSG})
        xid, messages = small(c, flags=0xfffffffe)
        answers(c, messages, {xid: MSG})
        xid, (one, two, three) = small(c)
        answers(c, [one, word(two, FLAGS, 0x80000000), three], {xid: MSG})
        # The server must ignore large values of rtx_replies and rtx_results in a NULL Call.
        for at in (REPLIES, rtx.RESULTS_AT):
            xid, (one, two, three) = small(c)
            answers(c, [word(one, at, 0xffffffff), two, three], {xid: MSG})


# Covers: RTX-66 RTX-67 RTX-80
@case("rtx-good", "READs whose results take one transmission, and more")
def read_replies(b):
    c = grown(b, 4, least=1024)
    most = min(c.theirs.reply_max, 200)
    want(most > 2, "no Replies")
    base = len(c.grouped(READ3, read_args(b.file, 4), replies=1).body) - 4

    def room(count):
        """Length of a result that fits @count transmissions"""
        return c.rbsiz * count - LEAST - NEXT_LENGTH * (count - 1) - base if count > 1 else c.rbsiz - 36 - base
    for count in sorted({1, 2, 3, 5, most - 1, most} & set(range(1, most + 1))):
        for less in (0, 4, 400):
            length = room(count) - less
            answer = c.grouped(READ3, read_args(b.file, length), replies=count)
            results(answer)
            want(answer.body.endswith(DATA[:length]), "wrong data")
            want(answer.transmissions == (count if count > 1 else 0), f"{answer.transmissions} for {count}")
            granted = int(shown(c.rbsiz)["credits_granted"])
            want(answer.credit == granted, f"a Reply of {count} grants {answer.credit}, not {granted}")
        if count < most:
            length = room(count) + 4
            answer = c.grouped(READ3, read_args(b.file, length), replies=count)
            want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, f"{length} bytes in {count}")
            answer = c.grouped(READ3, read_args(b.file, length), replies=count + 1)
            want(answer.transmissions == count + 1, f"{answer.transmissions} transmissions for {count + 1}")
    # Even if the Call offers more Receives, a Reply has at most as many transmissions as the server
    # has announced.
    answer = c.grouped(READ3, read_args(b.file, room(most) + 4), replies=0xffffffff)
    want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "more than reply_max")
    c.works()


# The server uses the Reply chunk only if the Reply does not fit the offered Receives. A Call in
# base form, which is no group, offers only one Receive. REPLY_RESOURCE has the size that a chunk
# would need.
# Covers: RTX-67 RTX-64 RTX-66
@case("rtx-good", "READDIRs with one Receive, more, and a Reply chunk", "svc_rdma_error: REPLY_RESOURCE")
def readdirs(b):
    c = grown(b, 4, least=4096)
    args = readdir_args(b, 32768)
    answer = c.grouped(READDIRPLUS, args, replies=1)
    want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "no error")
    needed = answer.error[1]
    want(needed > c.rbsiz, f"{needed} bytes do not fit {c.rbsiz}")
    refused(c.grouped(READDIRPLUS, args, replies=1, reply=[c.segment(0, needed - 1)]), REPLY_RESOURCE, needed)
    answer = c.grouped(READDIRPLUS, args, replies=1, reply=[c.segment(0, needed)])
    want(answer.proc == NOMSG and answer.reply[0].length == needed, "not in the Reply chunk")
    alone = c.get(0, needed)[4:]
    count = 1 + -(-(needed - (c.rbsiz - LEAST)) // (c.rbsiz - NEXT_LENGTH))
    refused(c.grouped(READDIRPLUS, args, replies=count - 1), REPLY_RESOURCE, needed)
    for replies in (count, count + 5):
        answer = c.grouped(READDIRPLUS, args, replies=replies)
        want(answer.transmissions == count, f"{answer.transmissions} transmissions, not {count}")
        want(answer.body[4:] == alone, "not what was in the Reply chunk")
        c.wipe()
        answer = c.grouped(READDIRPLUS, args, replies=replies, reply=[c.segment(0, needed)])
        want(answer.transmissions == count, "the Reply chunk is used though it need not be")
        want(c.get(0, needed) == b"\xee" * needed, "the Reply chunk is written")
    # A Call in base form cannot offer several Receives, so without a Reply chunk the Reply does not fit.
    answer = c.nfs(READDIRPLUS, args)
    want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "a base Call")
    answer = c.grouped(READDIRPLUS, readdir_args(b, 900), replies=count)
    want(not answer.transmissions and answer.proc == MSG, "a short Reply is a group")
    c.works()


@case("rtx-good", "a Write chunk and a Read chunk beside a group")         # Covers: RTX-63 RTX-64 RTX-69 RTX-70
def chunks(b):
    with same_receives(b) as c:
        # A server that places no results must ignore rtx_results.
        for placed_ in (0, 1, 0xffffffff):
            c.wipe()
            answer = c.grouped(READ3, read_args(b.file, 40000), 60, replies=4, results=placed_,
                               writes=[[c.segment(0, 40000)]])
            results(answer)
            want(not answer.transmissions and c.get(0, 40000) == DATA[:40000], f"{placed_}: not in the Write chunk")
            # Two results take two Write chunks, in order. (For the length of the first, see each_its_own().)
            c.wipe()
            xid = c.xid()
            args = compound(words(22) + opaque(b.file), op_read(32752, 7), op_read(20000, 50000))
            answer = c.sent_as(xid, group(xid, cut(rpc_call(xid, NFS, 4, 1, args, AUTH_ROOT), 60), replies=4,
                                          credit=c.credit, results=placed_,
                                          writes=[[c.segment(1 << 16, 32752)], [c.segment(0, 20000)]]), 4)
            want(answer.proc == MSG and c.get(1 << 16, 32752) == DATA[7:32759] and
                 c.get(0, 20000) == DATA[50000:70000], f"{placed_}: two results are not in two Write chunks")
        b.fresh()
        xid, rpc = c.call(WRITE3, write_args(b, 30000))
        answer = c.sent_as(xid, group(xid, cut(rpc, 60), reads=[(len(rpc), c.put(0, DATA[:30000]))]))
        want(results(answer).word() == 0, "WRITE")
        b.target_is(DATA[:30000], "a Read chunk")
        # The server reads a Read chunk when the group is complete, and not before.
        b.fresh()
        xid, rpc = c.call(WRITE3, write_args(b, 30000))
        of = group(xid, cut(rpc, 60), reads=[(len(rpc), c.put(0, b"\xdb" * 30000))])
        c.conn.send(of[0])
        want(not c.receive(SILENCE), "an answer to half a group")
        c.put(0, DATA[:30000])
        want(results(c.sent_as(xid, of[1:])).word() == 0, "WRITE")
        b.target_is(DATA[:30000], "a Read chunk that is read when the group is complete")


# Several threads of nfsd answer at the same time. The transmissions of their Replies must not be mixed.
# Covers: RTX-40
@case("rtx-good", "long Replies and short ones side by side")
def side_by_side(b):
    c = grown(b, 16, least=1024)
    waiting = set()
    for i in range(c.window // 2):
        xid, rpc = c.call(READ3, read_args(b.file, 3000)) if i % 2 else c.call()
        c.offered[xid] = min(4, c.theirs.reply_max)
        waiting.add(xid)
        for message in group(xid, [rpc], replies=4, credit=c.credit):
            c.conn.send(message)
    groups = 0
    while waiting:
        answer = c.receive()
        want(answer and answer.xid in waiting, f"{len(waiting)} Calls are not answered")
        waiting.remove(answer.xid)
        groups += answer.transmissions > 1
    want(groups == c.window // 4, f"{groups} Replies are groups")
    c.works()


# The server must invalidate the handle only with the last transmission. If the provider cannot invalidate
# memory that was registered in user space, that transmission is lost. So the case checks the invalidation in
# the server's trace.
# Covers: RTX-72
@case("rtx-good", "a handle to invalidate, and a Reply that is a group", "svc_rdma_reply: .* inv=0x0*[1-9a-f]")
def invalidated(b):
    c = grown(b, 4, least=4096)
    with regions(b.verbs, 1) as (handle,):
        xid, rpc = c.call(READDIRPLUS, readdir_args(b, 32768))
        chunk = [c.segment(0, 1000)._replace(handle=handle)]
        for message in group(xid, [rpc], replies=16, credit=c.credit, inv=handle, reply=chunk):
            c.conn.send(message)
        count = number = 0
        while number < (count or 2) - 1:
            data, invalidates = c.conn.receive() or (b"", None)
            want(data, f"{number} of {count} transmissions come")
            want(not invalidates, f"transmission {number} of {count} invalidates {invalidates:#x}")
            count, number = count or Transmission(data).count, number + 1
        want(count > 2, f"a Reply of {count} transmissions")
        want(b.verbs.until(lambda: b.trace.seen("svc_rdma_reply", f"xid=0x{xid:08x} ")), "no Reply")
        seen = b.trace.seen("svc_rdma_reply", f"xid=0x{xid:08x} ")
        want(f" inv=0x{handle:08x} " in seen[0], f"{handle:#x} is not invalidated: {seen}")
        c.conn.close()
    b.fresh().works()


# If a client has too few credits for a group, its WRITE uses a Read chunk. The server counts such a WRITE as the
# number of transmissions that the group would have had, and grants more credits. For a client without the extension,
# it counts each WRITE as one, and grants fewer.
# Covers: RTX-83
@case("rtx-good", "credits for WRITEs that come by Read chunk")
def spared(b):
    for mine in (MINE, NOTHING):
        c = b.connect(mine=mine)
        c.credit = 1
        want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
        granted = [int(shown(c.rbsiz)["credits_granted"])]
        for _ in range(3):
            b.fresh()
            args = write_args(b, 4 * c.limit)
            c.nfs(WRITE3, args, reads=[(len(c.call(WRITE3, args)[1]), c.put(0, DATA[:4 * c.limit]))])
            granted.append(int(shown(c.rbsiz)["credits_granted"]))
        want((granted[3] >= 8) == (mine == MINE), f"{mine}: {granted} credits")
        c.conn.close()


# Covers: RTX-74 RTX-76 RTX-77 RTX-82 V2-CRD-05
@case("rtx-good", "a full window of groups, and two CONNPROPs, again and again")
def full_window(b):
    with same_receives(b) as c:
        for count in (1, 2, 3, 7, min(c.theirs.call_max, c.window // 2)):
            waiting, messages, left = {}, [], c.window
            while left:
                n = min(count, left)
                xid, of = small(c, n)
                waiting[xid] = MSG
                messages.append(of)
                left -= n
            for at in (len(messages) // 2, 0):
                xid = c.xid()
                waiting[xid] = CONNPROP
                messages.insert(at, [connprop(xid, size(c.rbsiz))])
            with slow("nfsd"):
                for message in itertools.chain(*messages):
                    c.conn.send(message)
            while waiting:
                answer = c.receive()
                want(answer, f"groups of {count}: {len(waiting)} are not answered, lost: {c.conn.lost}")
                want(answer.proc == waiting.pop(answer.xid, None), f"{answer.data[:32].hex()}")
            # Then send 400 groups, each as soon as there are credits for it.
            storm(c, small(c, count)[1], 400, 1, behind=False)
            want(not c.conn.lost, f"groups of {count}, one after the other: the connection is lost")


# A COMPOUND with SETATTR and READ waits for a frozen file system. The Calls after it are executed meanwhile, and offer
# fewer Receives for their Replies, or more, or are in base form. The form of each Reply must fit what its own Call offers.
# Covers: RTX-102
@case("rtx-frozen", "Calls in progress that offer different numbers of Receives")
def offers(b):
    c = grown(b, 16, least=1024)
    want(c.theirs.reply_max >= 4, f"no Replies of four transmissions: {c.theirs}")
    def putfh(handle):
        return words(22) + opaque(handle)
    # The SETATTR sets the access time to the server's time.
    setattr_ = words(34) + bytes(16) + words(2, 0, 1 << 16) + opaque(words(0))
    args = compound(putfh(c.lookup(root_handle(ICE), "data")), setattr_, putfh(b.file), op_read(3000))
    for mine, others in ((4, 1), (1, 4)):
        xid, (other, null) = c.xid(), c.call()
        c.offered[xid] = mine
        with frozen():
            for message in group(xid, [rpc_call(xid, NFS, 4, 1, args, AUTH_ROOT)], replies=mine, credit=c.credit):
                c.conn.send(message)
            want(not c.receive(SILENCE), "an answer, though the file system is frozen")
            answer = c.sent_as(other, group(other, [null], replies=others, credit=c.credit), others)
            want(results(answer).at == 24, "NULL")
            c.works()
        answer = c.receive()
        want(answer and answer.xid == xid, "no answer to the COMPOUND")
        if mine == 1:
            want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE,
                 f"a Reply of {answer.transmissions} transmissions, and one Receive was offered")
        else:
            want(answer.transmissions > 1, f"no group, though {mine} Receives were offered: {answer.data[:48].hex()}")
            want(answer.body.endswith(DATA[:3000]), "wrong data")


@case("rtx-good", "the same group twice")                               # Covers: RTX-46
def doubled(b):
    with same_receives(b) as c:
        xid, messages = small(c, 4)
        answers(c, messages + messages, {xid: [MSG, MSG]})


# --- invalid groups -------------------------------------------------------------------------

def bad_firsts(c):
    """Rows for each(): groups of three transmissions, of which one word of the first is changed"""
    p = c.theirs
    rows = [(COUNT, n, CLOSED) for n in (0, 1, 2, 4, p.call_max + 1, 257, 0x80000003, 0xffffffff)]
    rows += [(STREAM, n, CLOSED) for n in (0, 1, 4, 7, 8, 36, 39, 40, 44, 80, 116, 124, p.msg_max + 1, p.msg_max + 4,
                                           0x7fffffff, 0xffffffff)]
    rows += [(HERE, n, CLOSED) for n in (36, 0, 4, 7, 39, 41, 44, 120, 124, *BOUNDS[5:])]
    rows += [(DATA_AT, n, CLOSED) for n in (1, 4, 63, 64, 104, 100, 0x3fc, 0x400, 0x404, *BOUNDS[5:]) if n != p.head]
    rows += [(REPLIES, 0, CLOSED), (ITEMS, 17, BAD_XDR), (ITEMS, 1, BAD_XDR), (ITEMS, 0xffffffff, BAD_XDR)]
    # Lists that cannot be parsed
    rows += [(52, 2, BAD_XDR), (56, 2, BAD_XDR), (60, 2, BAD_XDR), (60, 1, {BAD_XDR, SEGMENTS})]
    for at, value, code in rows:
        xid, (one, two, three) = small(c)
        yield (f"word {at // 4} is {value:#x}", [word(one, at, value), two, three],
               code if code == CLOSED else {xid: code})


def odd_groups(c):
    """More rows for each(): other invalid groups"""
    xid, rpc = c.call()
    rpc += bytes(120 - len(rpc))
    for what, sizes in (("a first piece of 38 bytes", (38, 42)), ("a second piece of 38 bytes", (40, 38)),
                        ("a first piece of 4 bytes", (4, 40)), ("nothing in the first", (0, 40))):
        yield what, group(xid, cut(rpc, *sizes)), CLOSED
    one, two, three = small(c)[1]
    yield "bytes behind the first piece", [one + bytes(4), two, three], {read(one, XID): BAD_XDR}
    yield "too many transmissions", small(c, c.theirs.call_max + 1, 8)[1][:3], CLOSED
    xid, (one,) = small(c, 1)
    yield "one, and more stream than there is", [word(one, STREAM, 64)], CLOSED
    yield "one, and less stream than there is", [word(one, STREAM, 36)], CLOSED
    for what, items, code in (("an item at 81", [(81, 8)], BAD_XDR), ("an item at 0", [(0, 8)], BAD_XDR),
                              ("an item at 4", [(4, 8)], BAD_XDR), ("an item behind the stream", [(124, 8)], BAD_XDR),
                              ("an item of nothing", [(80, 0)], BAD_XDR),
                              ("two items", [(40, 4), (80, 4)], BAD_XDR),
                              ("17 items", [(40 + 4 * i, 4) for i in range(17)], BAD_XDR),
                              ("an item without data", [(80, 8)], RTX_CONT),
                              ("an item beyond msg_max", [(80, c.theirs.msg_max - 100)], RTX_LIMIT),
                              ("an item of nearly 32 bits", [(80, 0xfffffff0)], RTX_LIMIT)):
        xid, messages = small(c, items=items)
        yield what, messages, {xid: code}
    s = c.segment(0, 4)
    for what, fields in (("a Position Zero chunk", {"reads": [(0, s)]}), ("a Read chunk at 6", {"reads": [(6, s)]}),
                         ("a Read chunk behind the stream", {"reads": [(4000, s)]})):
        xid, messages = small(c, **fields)
        yield what, messages, {xid: BAD_XDR}
    xid, messages = small(c)
    other, _ = small(c)
    yield "another XID in the stream", [word(messages[0], LEAST, other)] + messages[1:], {xid: BAD_XDR}
    xid, messages = small(c)
    yield "a Reply in the stream", [word(messages[0], LEAST + 4, 1)] + messages[1:], {xid: BAD_XDR}
    # This is no transmission of a group, and is answered if nothing follows.
    xid, (one, two, three) = small(c)
    yield "a first of version 3", [word(one, VERS_AT, 3)], {xid: VERS}


# Covers: RTX-45 RTX-48 RTX-50 RTX-52 RTX-54 RTX-59 RTX-64
@case("rtx-bad", "first transmissions of all bad kinds", "svc_rdma_error: BAD_XDR")
def firsts(b):
    with same_receives(b) as c:
        each(b, c, itertools.chain(bad_firsts(c), odd_groups(c)))


@case("rtx-bad", "many lengths of a first transmission, and of the next")    # Covers: RTX-45 RTX-46 RTX-48
def lengths(b):
    step = 1 if os.environ.get("ALL") else 3
    _, (one, two, three) = small(ready(b), 3)
    for length in range(20, len(one), step):
        try:
            breaks(b, [one[:length]])
        except Failure as e:
            raise Failure(f"a first of {length} bytes: {e}") from None
    for length in range(1, len(two), step):
        try:
            breaks(b, [one, two[:length], three])
        except Failure as e:
            raise Failure(f"a second of {length} bytes: {e}") from None


def bad_nexts(c, which, of=3):
    """Rows for each(): groups whose transmission with number @which is changed."""
    def changed(what, change):
        _, messages = small(c, of)
        messages[which:which + 1] = change(messages[which])
        return f"number {which}: {what}", messages, CLOSED

    for delta in (-1, 1, 2, 0x10000, 0x80000000):
        yield changed(f"number {delta:+}", lambda m, d=delta: [word(m, NUMBER, read(m, NUMBER) + d)])
    for delta in (-4, 4, -40, 40, 1, 0x80000000):
        yield changed(f"offset {delta:+}", lambda m, d=delta: [word(m, OFFSET, read(m, OFFSET) + d)])
    for here in (0, 4, 36, 39, 41, 44, 0x7fffffff, 0xffffffff, 0xffffffd8):
        yield changed(f"here {here:#x}", lambda m, n=here: [word(m, HERE, n)])
    for data in (1, 36, 72, 76, 0x400, 0xffffffff):
        if data != c.theirs.head:
            yield changed(f"data at {data}", lambda m, n=data: [word(m, DATA_AT, n)])
    yield changed("nothing in it", lambda m: [word(m, HERE, 0)[:NEXT_LENGTH]])
    yield changed("bytes behind it", lambda m: [m + bytes(4)])
    yield changed("200 bytes more", lambda m: [word(m, HERE, 240) + bytes(200)])
    yield changed("4 bytes less", lambda m: [word(m, HERE, 36)[:-4]])
    yield changed("another XID", lambda m: [word(m, XID, read(m, XID) + 0x1000000)])
    yield changed("F_RESPONSE", lambda m: [word(m, FLAGS, 1)])
    yield changed("missing", lambda m: [])
    if which < of - 1:
        yield changed("twice", lambda m: [m, m])
    # Another message comes before this transmission.
    other = c.xid()
    null = header2(other) + rpc_call(other, NFS, 3, NULL, b"", AUTH_ROOT)
    yield changed("a Call in front of it", lambda m: [null, m])
    yield changed("a CONNPROP", lambda m: [connprop(other, size(4096)), m])
    yield changed("an unknown type", lambda m: [prefix(other, 77) + bytes(20), m])
    yield changed("a message of version 7", lambda m: [words(other, 7, 1, 0, 0, 0, 0), m])
    yield changed("an error", lambda m: [prefix(other, ERROR, flags=1) + words(BAD_XDR), m])
    yield changed("a Reply", lambda m: [header2(other, flags=1) + rpc_reply(other), m])
    yield changed("a runt", lambda m: [m[:7], m])
    yield changed("another group", lambda m: [*small(c, 2)[1], m])
    yield changed("a group of one", lambda m: [*small(c, 1)[1], m])


# Covers: RTX-45 RTX-46 RTX-47 RTX-48 RTX-44
@case("rtx-bad", "groups broken by their second and last", "rpcrdma_group_broken: ")
def broken_at(b):
    with same_receives(b) as c:
        for which in (1, 2):
            each(b, c, bad_nexts(c, which))


@case("rtx-bad", "transmissions that come when their group is complete, or before it begins")  # Covers: RTX-46 RTX-48
def late(b):
    xid, messages = small(ready(b), 3)
    breaks(b, messages + messages[2:], {xid})
    breaks(b, messages + messages[1:], {xid})
    for number in (1, 2):
        breaks(b, messages[number:number + 1])


# Covers: RTX-48 RTX-84
@case("rtx-bad", "groups broken at each of their positions, and started again there")
def every_position(b):
    with same_receives(b) as usual:
        count = min(usual.theirs.call_max, usual.window // 2, 64 if os.environ.get("ALL") else 10)
        for at in range(1, count):
            for rest in (slice(at + 1, None), slice(0, 1)):
                c = grown(b, count + 1)
                _, messages = small(c, count, 8)
                breaks(b, messages[:at] + messages[rest], c=c)


@case("rtx-bad", "two groups, one into the other")                 # Covers: RTX-47 RTX-48
def interleaved(b):
    with same_receives(b) as c:
        (a, a_s), (x, b_s) = small(c), small(c)
        answers(c, a_s + b_s, {a: MSG, x: MSG})
        for order in itertools.permutations(range(6)):
            if list(order).index(0) or os.environ.get("ALL") is None and sum(order[i] * 7 ** i for i in range(6)) % 5:
                continue
            if order != (0, 1, 2, 3, 4, 5):
                # If the first three are in order, the first group is complete before the second is broken.
                breaks(b, [(a_s + b_s)[i] for i in order], {a} if order[:3] == (0, 1, 2) else ())


# Covers: RTX-37 RTX-50 RTX-28
@case("rtx-bad", "Replies in this form that nobody waits for")
def replies(b):
    with same_receives(b) as c:
        for flags in (1, 0xffffffff):
            xid = c.xid()
            for message in group(xid, [rpc_reply(xid)], flags=flags, replies=0):
                answers(c, [message], {})
            breaks(b, [following(xid, 1, 40, 4, flags=flags) + bytes(4)])
            breaks(b, [first(xid, 1, 8, 8, flags=flags)[:30]])
            breaks(b, [first(xid, 0, 24, 24, flags=flags) + bytes(24)])
    # Send a Reply of more than one transmission. The server offers only one Receive for the Reply
    # to a callback. So it must close the connection: the rest of the group would use up Receives
    # that other messages need.
    for count in (2, 3, 64, 256, 0xffffffff):
        c = b.connect()
        xid = c.xid()
        c.conn.send(first(xid, count, 4096, 24, flags=1, replies=0) + rpc_reply(xid))
        lost = c.verbs.until(lambda c=c: c.conn.lost or c.conn.inbox, 3)
        want(not c.conn.inbox, f"a Reply of {count} is answered")
        want(lost, f"a Reply of {count} transmissions is taken")
    b.fresh().works()


# Tries: RTX-91 RTX-92 RTX-93
# Covers: RTX-37 RTX-48
@case("rtx-callbacks", "an answer to a callback in this form, and groups with its XID", "svc_rdma_bc_error")
def callback_groups(b):
    for bad in range(2):
        c = grown(b, 8)
        name = fresh_names(1)[0]
        delegation(c, name)
        recall(name)
        message = c.callback()
        want(message, "no callback")
        # The client may send a Call with the XID of the callback. Send one as a valid and one as an
        # invalid group.
        xid, of = small(c, 3)
        of = [word(m, XID, message.xid) for m in of]
        of[0] = of[0][:LEAST] + words(message.xid) + of[0][LEAST + 4:]
        answers(c, of, {message.xid: MSG})
        good = answer_of(c, message, 16)[36:]
        if bad:
            # The answer comes in the middle of a Call
            _, of = small(c, 3)
            breaks(b, of[:1] + [answer_of(c, message, 16)] + of[1:], c=c)
            continue
        answers(c, group(message.xid, [good], flags=1, replies=0), {})
        # A bad answer must end the callback. nfsd then sends the callback again. nfsd of 6.1 does
        # not do that, so make it send a callback about another file.
        if os.environ["KERNEL"] == "debian-6.1":
            name = fresh_names(1)[0]
            delegation(c, name)
            recall(name)
        again = c.callback()
        want(again, "the callback is not ended, or its credit is gone")
        c.conn.send(answer_of(c, again, 16))
        c.works()


# A new connection has two credits. Further transmissions may find no Receive. Then either the connection is lost
# at once, or they are received when there are Receives again. If one group holds all Receives, the server closes
# the connection after half a minute.
# Tries: RTX-74 RTX-76 RTX-85
@case("rtx-bad", "more transmissions than were granted")
def overrun(b):
    for count in (2, 7, 32):
        c = b.connect()
        announced(c)
        groups = [small(c, count, 8) for _ in range(64 // count)]
        with slow("nfsd"):
            for message in (m for _, of in groups for m in of):
                if not c.conn.lost:
                    c.conn.send(message)
        got = set()
        while len(got) < len(groups) and (answer := c.receive(2 * LIMIT)):
            want(answer.proc == MSG and answer.xid not in got, f"{answer.data[:32].hex()}")
            got.add(answer.xid)
        want(got <= {xid for xid, _ in groups}, "answers to something else")
        print(f"# {len(got)} of {len(groups)} groups of {count} are answered, lost: {c.conn.lost}")
        want(c.conn.lost or len(got) == len(groups), f"{len(got)} of {len(groups)}, and the connection is there")
        c.conn.close()
        b.fresh().works()


# --- silence, and connections that go -------------------------------------------------------

# (description, expected answer as for answers(), or None if the connection must end, steps). Each
# group has six transmissions. A step is (seconds since the beginning, numbers of the transmissions
# to send then).
SILENCE_PLANS = (
    *((f"silent after {n}", None, (0, range(n))) for n in range(1, 6)),
    ("one every 29 s", None, (0, (0,)), (29, (1,)), (58, (2,))),
    ("one every 7 s", None, *((7 * i, (i,)) for i in range(5))),
    ("complete after 28 s", MSG, (0, (0, 1)), (28, (2, 3, 4, 5))),
    ("two, each within its time", [MSG, MSG], (0, (0,)), (20, (1, 2, 3, 4, 5, 0, 1)), (44, (2, 3, 4, 5))),
    ("no group at all", [], (0, ())))


# All plans run at the same time, because most take about half a minute or longer.
# Tries: RTX-85
# Covers: RTX-84
@case("rtx-silence", "groups that are never complete, or late")
def silence(b):
    before = counters()
    talks = [(what, end, steps, c := grown(b, 8), *small(c, 6)) for what, end, *steps in SILENCE_PLANS]
    t0 = time.monotonic()
    queue = sorted((after, i, which) for i, talk in enumerate(talks) for after, which in talk[2])
    gone = {}
    while time.monotonic() < t0 + 2 * LIMIT:
        while queue and t0 + queue[0][0] <= time.monotonic():
            _, i, which = queue.pop(0)
            c, of = talks[i][3], talks[i][5]
            for number in which:
                c.conn.send(of[number])
        b.verbs.until(lambda: False, 0.05)
        for what, _, _, c, *_ in talks:
            if c.conn.lost:
                gone.setdefault(what, time.monotonic() - t0)
    print(f"# gone after {', '.join(f'{what}: {after:.1f} s' for what, after in gone.items())}")
    for what, end, _, c, xid, _ in talks:
        if end is None:
            want(what in gone, f"{what}: the connection is still there")
            want(LIMIT - 0.5 < gone[what] < LIMIT + 10, f"{what}: the connection goes after {gone[what]:.1f} s")
            want(not c.conn.inbox, f"{what}: answered")
        else:
            want(what not in gone, f"{what}: the connection is gone")
            answers(c, [], {xid: end})
    counts(b.verbs, before, "groups_broken", sum(end is None for _, end, *_ in SILENCE_PLANS))


# Tries: RTX-86
# Covers: V2-CRD-09
@case("rtx-silence", "connections that end after each transmission")
def cut_off(b):
    before = counters()
    for count in (2, 5):
        for at in range(count + 1):
            c = grown(b, 8)
            xid, of = small(c, count)
            for message in of[:at]:
                c.conn.send(message)
            if at % 2:
                c.conn.disconnect()
                b.verbs.until(lambda c=c: c.conn.lost, 20)
            c.conn.close()
            want(b.verbs.until(lambda c=c: not shown(c.rbsiz)), f"the connection stays after {at} of {count}")
            # Send the group again on another connection.
            answers(ready(b), of, {xid: MSG})
    counts(b.verbs, before, "groups_broken", 0)


# --- many groups -----------------------------------------------------------------------------

def storm(c, messages, rounds, answered, behind=True):
    """Send @messages, and with @behind also a NULL Call, @rounds times. Returns how many answers of each kind
    came, see peer.storm()."""
    if behind:
        messages, answered = messages + [null_call(c, c.xid())], answered + 1
    ahead = max(1, min(c.window // len(messages), 200 // answered))
    return peer.storm(c.conn, messages, rounds, answered, ahead)


def kinds(c):
    """Yield (description, messages, {XID: expected answer}) for complete groups that are bad. The first kinds are sent
    in large numbers."""
    yield "an item, and no data", *small_items(c, [(80, 8)], RTX_CONT)
    yield "an item beyond msg_max", *small_items(c, [(80, c.theirs.msg_max - 100)], RTX_LIMIT)
    for what, messages, coming in itertools.chain(bad_firsts(c), odd_groups(c)):
        if coming != CLOSED:
            yield what, messages, coming


def small_items(c, items, code):
    xid, messages = small(c, items=items)
    return messages, {xid: code}


# Numbers of rounds of storms(): MOST for the first COMMON kinds, and FEW for the rest. (Each round takes milliseconds
# on a kernel with all checkers.) $ROUNDS replaces both.
MOST, FEW = (100000, 100) if os.environ.get("ALL") else (200, 10)
if os.environ.get("ROUNDS"):
    MOST = FEW = int(os.environ["ROUNDS"])
COMMON = 2


# Tries: RTX-75
@case("rtx-storm", "complete groups of each bad kind, and many of them")      # Covers: RTX-50 RTX-84
def storms(b):
    with same_receives(b) as c:
        for i, (what, messages, coming) in enumerate(kinds(c)):
            t0, rounds = time.monotonic(), MOST if i < COMMON else FEW
            codes = [code for all_ in coming.values() for code in (all_ if isinstance(all_, list) else [all_])]
            got = storm(c, messages, rounds, len(codes))
            expected = collections.Counter({(MSG, 0): rounds})
            for code in codes:
                if isinstance(code, set):
                    code = next(one for one in code if got.get((ERROR, one)))
                # ERR_VERS has the layout of version 1: where other errors have their code, it has
                # the lowest supported version, here 2.
                expected[(code, 0) if code in (MSG, CONNPROP) else (ERROR, 2 if code == VERS else code)] += rounds
            want(got == dict(expected), f"{what}: {got}, not {dict(expected)}")
            want(c.silent(), f"{what}: more answers")
            if i < COMMON:
                print(f"# {what}: {rounds} in {time.monotonic() - t0:.1f} s")


@case("rtx-storm", "anything, in any order")           # Covers: RTX-45 RTX-46 RTX-84
def anything(b):
    rng = random.Random(20049)
    closed = 0
    for _ in range(2000 if os.environ.get("ALL") else 200):
        c = ready(b)
        messages = []
        for _ in range(rng.randrange(1, 4)):
            messages += small(c, rng.randrange(1, 6), 4 * rng.randrange(12, 20))[1]
        for _ in range(rng.randrange(2)):
            at = rng.randrange(len(messages))
            what = rng.randrange(6)
            if what == 0:
                messages.insert(at, messages.pop(rng.randrange(len(messages))))
            elif what == 1:
                messages.insert(at, messages[at])
            elif what == 2:
                m = messages[at]
                messages[at] = m[:rng.randrange(20, len(m) + 1)]
            else:
                m, where = messages[at], 4 * rng.randrange(5, 16)
                if where + 4 <= len(m):
                    messages[at] = word(m, where, rng.choice(BOUNDS + (read(m, where) ^ 1 << rng.randrange(32),)))
        xid = c.xid()
        for message in [*messages, null_call(c, xid)]:
            if not c.conn.lost:
                c.conn.send(message)
        count = 0
        while (answer := c.receive()) and answer.xid != xid:
            count += 1
        want(answer or c.conn.lost, f"no answer behind {[m.hex() for m in messages]}")
        want(count <= len(messages), f"{count} answers to {len(messages)} messages")
        closed += c.conn.lost
        while c.receive(0.02):              # answers to Calls that nfsd still had to execute
            pass
    print(f"# {closed} connections were closed")
    want(closed, "no group was broken")


# --- announced properties ---------------------------------------------------------------------

# All combinations of some values of the words of a client's property, and no property at all. The server must use
# only what the client has announced, and must serve all of these clients.
# Covers: RTX-36 RTX-08 RTX-32
@case("rtx-good", "every combination of a client's words")
def combinations(b):
    rows = [None]
    for sends, calls, replies_, places in itertools.product((0, SENDS), (0, 5), (0, 5), (0, 3)):
        head, seg = (1024, 4096) if places else (0, 0)
        rows.append(Property(sends, calls, replies_, 4096 * bool(calls), head, seg, places))
    for mine in rows:
        # If a client does not announce SENDS, the server may announce call_max 0. Then it must refuse a group.
        c = b.connect(mine=mine)
        if not c.theirs.call_max and not (mine and mine.flags & SENDS):
            xid, of = small(c, 1)
            answers(c, of, {xid: INVAL_HTYPE})
            continue
        c.conn.close()
        c = grown(b, 4, mine=mine)
        try:
            xid, of = small(c)
            answers(c, of, {xid: MSG})
            answer = c.grouped(READ3, read_args(b.file, 40000), replies=4)
            if any(mine or ()):
                want(answer.body.endswith(DATA[:40000]), "READ")
            else:               # A client that has announced nothing must get no group (RTX-32).
                want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE,
                     f"a Reply of {answer.transmissions} transmissions to who has announced nothing")
            c.wipe()
            results(c.nfs(READ3, read_args(b.file, 40000), writes=[[c.segment(0, 40000)]]))
            want(c.get(0, 40000) == DATA[:40000], "READ by a Write chunk")
            b.fresh()
            data = DATA[:50000]
            want(results(c.grouped(WRITE3, write_args(b, len(data)) + data)).word() == 0, "WRITE")
            b.target_is(data, "WRITE")
            name = fresh_names(1)[0]
            delegation(c, name)
            recall(name)
            message = c.callback()
            want(message and message.data[12:16] == words(MSG), "no callback, or one in another form")
            c.conn.send(answer_of(c, message, 16))
            c.works()
        except Failure as e:
            raise Failure(f"{mine}: {e}") from None
        c.conn.close()


# All combinations of some values of the server's parameters rtx_call_max and rtx_reply_max
# Covers: RTX-36 RTX-37 RTX-41 RTX-66 RTX-103
@case("rtx-good", "every combination of the server's words")
def server_words(b):
    if not os.path.exists(PARAMETERS + "rtx_call_max"):
        raise LeftOut("the module has no parameter rtx_call_max")
    for calls, replies_ in itertools.product((0, 1, 2, 64, 256), (0, 1, 2, 16, 256)):
        with settings(rtx_call_max=calls, rtx_reply_max=replies_):
            c = b.connect()
        if not calls:
            want(c.theirs == NOTHING, f"{calls}, {replies_}: {c.theirs}")
            xid, of = small(c, 1)
            answers(c, of, {xid: INVAL_HTYPE})
            c.conn.close()
            continue
        # A Reply takes at most half of the send queue (T-33).
        want(c.theirs.call_max == calls and (c.theirs.reply_max == replies_ or 16 < c.theirs.reply_max < replies_),
             f"{calls}, {replies_}: {c.theirs}")
        want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
        c.window = open_window(c, c.rbsiz)
        for count in {1, calls}:
            if count <= c.window:
                xid, of = small(c, count, 8)
                answers(c, of, {xid: MSG})
        answer = c.grouped(READ3, read_args(b.file, 40000), replies=64)
        needed = len(plan(bytes(40200), c.rbsiz))
        if replies_ < needed:
            want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, f"{replies_}: a long Reply")
        else:
            want(answer.transmissions == needed, f"{answer.transmissions} transmissions, not {needed}")
        c.works()
        breaks(b, small(c, calls + 1, 8)[1][:1], c=c)


# --- placement ----------------------------------------------------------------------------------

def with_targets(b):
    c = ready(b)
    if not c.theirs.nsegs:
        raise LeftOut("the server announces no targets")
    return c


def placed(c, size_, *, items=None, data=None, sizes=None, args=None, tail=b"", **fields):
    """A WRITE of @size_ bytes whose data are placed, with at most @sizes segments in each data part: (XID,
    transmissions)"""
    p = c.theirs
    data = DATA[:size_] if data is None else data
    xid, rpc = c.call(WRITE3, args)
    items = [(len(rpc), size_)] if items is None else items
    parts = plan(rpc + tail, c.limit, data=targets([data], p.seg), head=p.head, seg=p.seg, nsegs=sizes or p.nsegs,
                 overhead=LEAST + 8 * len(items))
    return xid, group(xid, parts, head=p.head, items=items, credit=c.credit, **fields)


# Covers: RTX-52 RTX-53 RTX-55 RTX-56 RTX-57 RTX-58 RTX-60 RTX-59
@case("rtx-placed", "WRITEs of all sizes, placed")
def placed_writes(b):
    c = with_targets(b)
    p = c.theirs
    part = p.seg * p.nsegs
    # Fill all targets with data of an earlier message
    for _ in range(c.window + 20):
        xid, of = placed(c, part, data=b"\xdb" * part, args=write_args(b, part))
        answers(c, of, {xid: MSG})
    for length in sorted({1, 3, 4, 511, p.seg - 1, p.seg, p.seg + 1, 2 * p.seg - 3, 8191, 8192, part - 1, part, part + 1,
                          2 * part, 2 * part + 5, 65535, 65536}):
        for sizes in {1, p.nsegs, max(1, p.nsegs - 2)}:
            if -(-length // (sizes * p.seg)) > min(p.call_max, c.window) or length + 200 > p.msg_max:
                continue
            b.fresh()
            xid, of = placed(c, length, sizes=sizes, args=write_args(b, length))
            answers(c, of, {xid: MSG})
            b.target_is(DATA[:length], f"{length} in parts of {sizes} segments")


def bad_placed(b, c):
    """Rows for each(): the bad messages of rtx.rst 5, made from a WRITE of three transmissions or more"""
    p = c.theirs
    part = p.seg * p.nsegs
    length = 2 * part + 8192
    args = write_args(b, length)
    rpc = len(c.call(WRITE3, args)[1])

    def base():
        return placed(c, length, args=args)
    rows = [(0, COUNT, 0, CLOSED), (0, COUNT, p.call_max + 1, CLOSED), (0, STREAM, 4, CLOSED), (0, HERE, 4, CLOSED),
            (0, HERE, 0x7fffffff, CLOSED), (0, HERE, rpc - 2, CLOSED), (0, DATA_AT, p.head - 4, CLOSED),
            (0, DATA_AT, p.head + 4, CLOSED), (0, DATA_AT, p.head + part, CLOSED), (0, DATA_AT, 0x90, CLOSED),
            (0, 48, rpc + 1, BAD_XDR), (0, 48, rpc + 4, BAD_XDR), (0, 48, 0, BAD_XDR), (0, 48, 4, BAD_XDR),
            (0, 52, 0, BAD_XDR), (0, 52, p.msg_max, RTX_LIMIT), (0, 52, length - 1, RTX_CONT),
            (0, 52, length + 1, RTX_CONT), (0, ITEMS, 2, BAD_XDR), (1, NUMBER, 2, CLOSED),
            (1, OFFSET, rpc + 4, CLOSED), (1, HERE, 4, CLOSED), (1, DATA_AT, p.head + 4, CLOSED)]
    for which, at, value, code in rows:
        xid, of = base()
        of[which] = word(of[which], at, value)
        yield f"word {at // 4} of {which} is {value:#x}", of, code if code == CLOSED else {xid: code}
    for what, change, code in (("28671 bytes of data", lambda of: [of[0][:-1]] + of[1:], CLOSED),
                               ("more than the targets take", lambda of: [of[0] + bytes(4)] + of[1:], CLOSED),
                               ("a second with nothing",
                                lambda of: [of[0], word(of[1], DATA_AT, 0)[:36], of[2]], CLOSED),
                               ("a last with a byte less", lambda of: of[:-1] + [of[-1][:-1]], RTX_CONT),
                               ("a last with a byte more", lambda of: of[:-1] + [of[-1] + b"x"],
                                RTX_CONT if length % part else CLOSED),
                               ("no second", lambda of: of[:1] + of[2:], CLOSED)):
        xid, of = base()
        of = change(of)
        if all(len(m) <= c.limit for m in of):
            yield what, of, code if code == CLOSED else {xid: code}
    xid, of = placed(c, length, args=args, items=[(rpc, 8192), (rpc + 8192, 4096)])
    yield "two items", of, {xid: BAD_XDR}
    # A receiver does not check the pad.
    xid, of = base()
    of[1] = of[1][:40] + b"\xdb" * 8 + of[1][48:]
    yield "a pad that is not zero", of, {xid: MSG}


@case("rtx-placed", "bad groups with data", "svc_rdma_error")      # Covers: RTX-45 RTX-54 RTX-55 RTX-56 RTX-59
def placed_badly(b):
    with_targets(b)
    with same_receives(b) as c:
        each(b, c, bad_placed(b, c))


@case("rtx-placed", "an item and a Read chunk in one Call")          # Covers: RTX-54 RTX-55
def mixed(b):
    c = with_targets(b)
    b.fresh()
    length = c.theirs.seg + 5
    args = write_args(b, length)
    p = c.theirs
    xid, rpc = c.call(WRITE3, args)
    parts = plan(rpc + bytes(4), c.limit, data=DATA[:length], head=p.head, seg=p.seg, nsegs=p.nsegs,
                 overhead=LEAST + 8 + 24)
    chunk = Segment(c.verbs.handle, 4096, c.verbs.base + AREA)
    answers(c, group(xid, parts, head=p.head, items=[(len(rpc), length)], reads=[(len(rpc) + length + -length % 4 + 4, chunk)],
                     credit=c.credit), {xid: MSG})
    b.target_is(DATA[:length], "an item and a chunk")


@case("rtx-placed", "placed WRITEs that nobody sees the end of")       # Covers: RTX-60
def placed_silence(b):
    with_targets(b)
    for at in (1, 2):
        c = grown(b, 8)
        length = 2 * c.theirs.seg * c.theirs.nsegs + 8192
        _, of = placed(c, length, args=write_args(b, length))
        for message in of[:at]:
            c.conn.send(message)
        c.conn.disconnect()
        c.conn.close()
    b.fresh().works()
    b.target_is(b"", "half a WRITE")


if __name__ == "__main__":
    rtx.main()
    put(SETTING, 2)
    try:
        status = main(ClientX)
    finally:
        put(SETTING, 1)
    sys.exit(status)
