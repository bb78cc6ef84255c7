# SPDX-License-Identifier: GPL-2.0
"""A server that uses version 2 in ways in which our server never uses it, or does not support version 2, to
test our client.

usage: hostile_server_v2.py SET [part of a name]

hostile_server.py runs the cases. The proxy (proxy.py) uses messages of version 1. This program translates them
to version 2 when they are sent, and from version 2 when they are received.
"""
import functools
import os
import struct
import sys
import time
from types import SimpleNamespace

import proxy
import sets
from hostile_server import (CALLBACK, answered, callback_null, compound, kill, main, most_credits, of_user, owed,
                            refuses, sequence)
from peer import (AUTH_ROOT, BAD_XDR, BRS, CONNPROP, ERROR, INVAL_HTYPE, MSG, NOMSG, RBSIZ, READ_CHUNKS,
                  REPLY_RESOURCE, SEGMENTS, SYSTEM, VERS, WRITE_CHUNKS, WRITE_RESOURCE, Failure, Message,
                  Segment, header, private, put, rpc_call, undisturbed, want, words)
from proxy import (DATA, MNT, PLAIN, PORT, READ3, SHARED, SMALL, V41, V42, WRITE3, Server, do_list, do_mount, do_read,
                   do_setxattr, do_stat, do_write, transports)
from sets import NOT_SIW

case = functools.partial(sets.case, vers=(2,))
SETTING = "/sys/module/rpcrdma/parameters/client_version"
INLINE = "/sys/module/rpcrdma/parameters/rdma_v2_inline"


def prefix(xid, htype, credit=32, flags=1, vers=2):
    return words(xid, vers, credit, htype, flags)


def error2(xid, code, *args, credit=32):
    return prefix(xid, ERROR, credit) + words(code, *args)


def prop(which, *value):
    return words(which, 4 * len(value), *value)


def connprop(xid, *props, flags=1, credit=32):
    return prefix(xid, CONNPROP, credit, flags) + words(len(props)) + b"".join(props)


def is_call(message):
    try:
        return Message(message).is_call()
    except (Failure, struct.error):             # a malformed Reply
        return False


def upwards(message, response=None):
    """Translate a message of version 1 to version 2. @response: F_RESPONSE; by default it follows from the
    msg_type."""
    if response is None:
        response = not is_call(message)
    out = message[:4] + words(2) + message[8:16] + words(int(response))
    return out + (b"" if message[12:16] == words(ERROR) else words(0)) + message[16:]


class Server2(Server):
    version = 2
    inline = 16384                      # the client's RBSIZ, here the default

    def reset(self):
        super().reset()
        put(INLINE, self.inline)
        proxy.INLINE = 4096             # length of the longest message that this server sends
        self.first = self.welcome       # function that handles the client's first message, a CONNPROP
        self.greeting = None            # message to send before the client's first message arrives
        self.hellos, self.early, self.raw = [], [], []
        put(SETTING, 2)

    def xid(self):
        return int.from_bytes(self.hellos[-1][:4], "big")

    def leave(self):
        put(INLINE, Server2.inline)

    def announced(self):
        """The client's RBSIZ"""
        message = self.hellos[-1]
        at = message.index(words(RBSIZ, 4), 24)
        return int.from_bytes(message[at + 8:at + 12], "big")

    def welcome(self, conn, props=(prop(RBSIZ, 4096), prop(BRS, 1)), **kw):
        """Send an honest answer to the client's CONNPROP."""
        kw.setdefault("credit", self.credit)
        self.speak(conn, self.announced())
        conn.plain(connprop(self.xid(), *props, **kw))

    def grants_late(self):
        def first(conn):
            self.speak(conn)
            conn.plain(error2(self.xid(), BAD_XDR, credit=1000))
        self.first = first

    def speak(self, conn, inline=4096):
        # A header of version 2 is 8 bytes longer than the header of version 1 that proxy.py makes.
        conn.v2, proxy.INLINE = True, inline - 8

    def accept(self, index):
        conn = super().accept(index)
        if not conn:
            return None
        conn.v2 = False
        conn.send = lambda message, invalidate=None: conn.plain(upwards(message) if conn.v2 else message, invalidate)
        if self.greeting:
            time.sleep(0.03)            # let the client first learn that it is connected
            conn.plain(self.greeting)
        return conn

    @staticmethod
    def encode(message):
        return upwards(message)

    @staticmethod
    def room(size):
        return size                     # without room for roundup (V2-CHK-17)

    def receive(self, conn, data, x):
        if data[4:8] != words(2):
            return super().receive(conn, data, x)
        if data[12:16] == words(CONNPROP):
            self.hellos.append(data)
            return self.first(conn)
        if not conn.v2:
            self.early.append(data)
            return None
        self.raw.append(data)
        response = data[16:20] == words(1)
        if data[12:16] == words(ERROR):
            self.backward.append(data)
            return None
        if response != (data[40:44] == words(1) and data[24:36] == bytes(12)):
            raise Failure("F_RESPONSE and msg_type disagree")
        return super().receive(conn, data[:4] + words(1) + data[8:16] + data[24:], x)

    def errors(self, xid):
        return [m[20:] for m in self.backward if m[:4] == words(xid) and m[12:16] == words(ERROR)]


class AsLarge(Server2):
    """A server for the cases of both versions. The client's RBSIZ is as small as its inline size in version 1, so that
    READs need chunks."""
    inline = 4096


def begins(s, first, options=PLAIN):
    s.first = first
    before = time.monotonic()
    s.mount(options)
    return time.monotonic() - before


def ignore(conn):
    pass


def answers(s, *messages):
    """Returns a function that answers the client's first message with @messages, which get the XID of that
    message."""
    def first(conn):
        for m in messages:
            conn.plain(words(s.xid()) + m[4:])
    return first


# --- negotiation --------------------------------------------------------------

@case("nego", "a server that says nothing", mount=False)   # Covers: V2-NEG-10 V2-NEG-11 V2-NEG-04
def silent(s):
    took = begins(s, ignore)
    want(took > 4.5, f"the client waited only {took:.1f} s")
    want(s.accepted == 2 and len(s.hellos) == 1, f"{s.accepted} connections, {len(s.hellos)} with version 2")
    want(not s.early, "a second message was sent")
    s.works()
    # The client has to remember that the server has no version 2.
    s.conns[0].disconnect()
    s.works()
    want(s.accepted == 3 and len(s.hellos) == 1, "version 2 was tried again")


@case("nego", "a server that hangs up", mount=False)        # Covers: V2-NEG-10 V2-NEG-11 G-20
def hangs_up(s):
    took = begins(s, s.drop)
    want(took < 8, f"it took {took:.1f} s")
    want(s.accepted == 2 and len(s.hellos) == 1, f"{s.accepted} connections, {len(s.hellos)} with version 2")
    s.works()
    # The client has to remember this even if a later attempt to connect fails.
    turns = refuses(s, 1)
    s.conns[0].disconnect()
    s.works()
    want(turns[0] > 1 and len(s.hellos) == 1, f"{turns[0]} attempts, version 2 was tried {len(s.hellos)} times")


@case("nego", "a server that takes no connection of any version", mount=False)      # Covers: V2-NEG-11
def hangs_up_and_refuses(s):
    s.mount()
    s.works()
    # The server disconnects, and also refuses the attempt with version 1. So the client must not
    # conclude that the server lacks version 2.
    def first(conn):
        s.drop(conn)
        refuses(s, 1)
        s.first = s.welcome
    s.first = first
    s.hellos.clear()
    s.conns[0].disconnect()
    s.works()
    want(len(s.hellos) == 2, f"version 2 was tried {len(s.hellos)} times")
    want(s.conns[0].v2, "not version 2")


@case("nego", "a server of version 2 that hangs up now and then", mount=False)        # Covers: V2-NEG-11 G-20
def moody(s):
    s.mount()
    s.works()
    asked = len(s.hellos)

    def lost(first, two, asks=1):
        """End the connection, and handle the first message on the next one with @first."""
        nonlocal asked
        asked += asks
        s.first = first
        s.conns[0].disconnect()
        s.works()
        want(len(s.hellos) == asked, f"version 2 was tried {len(s.hellos)} times, not {asked}")
        want(s.conns[0].v2 == two, f"version {1 + (not two)}")

    # After a single failure, the client asks for version 2 again on the next connection. This works repeatedly.
    for _ in range(2):
        lost(s.drop, False)
        lost(s.welcome, True)
    # After two failures in a row, the client no longer asks for version 2.
    for asks in (1, 1, 0, 0):
        lost(s.drop, False, asks)


@case("nego", "a server that hangs up after ERR_VERS", mount=False)         # Covers: V2-NEG-09
def refuses_and_goes(s):
    # The server disconnects after the client has settled on version 1, or at once.
    for wait in (0.1, 0, 0):
        def first(conn, wait=wait):
            conn.plain(words(s.xid(), 2, 1, ERROR, 1, 1, 1))
            if wait:
                s.step(wait)
            s.drop(conn)
        s.umount()
        s.hellos.clear()
        begins(s, first)
        want(len(s.hellos) == 1, f"version 2 was tried {len(s.hellos)} times")
        s.works()


def forms():
    yield words(0, 2, 32, ERROR, 1, 1, 1)
    yield words(0, 1, 32, ERROR, 1, 1, 1)
    yield words(0, 7, 32, ERROR, 1, 0, 9)
    yield words(0, 2, 32, ERROR, 1, 1, 1, 1)
    yield words(0, 2, 32, ERROR, 2)


# Covers: V2-NEG-08 V2-NEG-12 V2-ERR-05
@case("nego", "ERR_VERS in all its forms", "xprt_rdma_nego", mount=False)
def err_vers(s):
    for i, form in enumerate(forms()):
        begins(s, answers(s, form))
        s.works()
        want(s.accepted == i + 1 and len(s.hellos) == i + 1 and not s.raw, f"form {i}: not version 1 on the connection")
        s.umount()


# In version 2, inline messages have up to 4096 bytes at first. After ERR_VERS, the client must use the inline size
# in the private data, or 1024 bytes if there are no valid private data. This server has Receives of 4096 bytes, so
# that it also receives messages that are too long.
# Covers: V2-INL-08
@case("nego", "sizes of version 1 after ERR_VERS", mount=False)
def sizes_after(s):
    for data, most in ((b"", 1024), (b"\xbd" * 8, 1024), (private(1024, 1024), 1024), (private(2048, 2048), 2048),
                       (private(4096, 4096), 4096)):
        s.private, s.longest = data, 0
        begins(s, answers(s, words(0, 2, 32, ERROR, 1, 1, 1)))
        for length in (most // 2 - 100, most - 400, most - 40, most, 4096):
            want(s.do(do_write, DATA[:length], "after") == length, "WRITE")
        want(most // 2 < s.longest <= most, f"{data.hex()}: {s.longest} bytes were sent at once, not at most {most}")
        s.reads(600)
        s.reads(8192)
        s.umount()
    want(not s.raw, "something of version 2 was sent")


def ranges():
    for low, high in ((3, 9), (0, 0), (2, 2), (2, 1), (9, 3), (1, 0), (0xffffffff, 0xffffffff)):
        yield low, high, words(0, 2, 32, ERROR, VERS, low, high)
        yield low, high, words(0, 2, 32, ERROR, 1, VERS, low, high)


@case("nego", "ERR_VERS without a version of ours", mount=False)    # Covers: V2-ERR-05
def no_version(s):
    for low, high, form in ranges():
        s.hellos.clear()
        before, t0 = s.accepted, time.monotonic()
        s.first = answers(s, form)
        op = s.user(do_mount, PORT, MNT, "vers=3,noac,soft,timeo=50,retrans=1,nosharecache")
        ended = s.serve(op.ready, 20)
        # From now on the server is honest, so that the file system can be unmounted if the mount succeeded.
        s.first = s.welcome
        s.mounted = s.finish(op) is None
        want(ended, f"{low} to {high}: the mount still waits after 20 s")
        want(not s.mounted, f"{low} to {high}: mounted all the same")
        s.log(f"{low} to {high}: {op.get()} after {time.monotonic() - t0:.1f} s, {s.accepted - before} connections")
        s.quiet()
        want(s.hellos and len(s.hellos) == s.accepted - before, f"{len(s.hellos)} CONNPROPs on {s.accepted - before}")
        want(not s.early and not s.raw and not s.seen, f"{low} to {high}: the client sent something else")
    begins(s, s.welcome)
    s.works()


@case("nego", "errors that only a server of version 2 has", mount=False)    # Covers: V2-TYP-14 V2-INL-01 G-17
def plain_errors(s):
    for i, code in enumerate((BAD_XDR, INVAL_HTYPE, SYSTEM, 77)):
        def first(conn, code=code):
            s.speak(conn)
            conn.plain(error2(s.xid(), code, credit=1000))
            s.credit = 1
        begins(s, first, SMALL)
        # The client must ignore the credits of an error. (The case "one Call until the first Reply" checks that.)
        s.works()
        want(s.do(do_write, DATA[:8000], "plain") == 8000, "WRITE")
        want(s.accepted == i + 1 and s.raw, "not version 2")
        want(s.longest <= 4096, f"a message of {s.longest} bytes")
        s.umount()


@case("nego", "sizes a server announces", mount=False)      # Covers: V2-INL-03 V2-PRP-14 V2-PRP-24 V2-PRP-11
def sizes(s):
    s.size = 65536
    for size, most in ((1024, 1024), (8192, 8192), (65536, 16384), (0xffffffff, 16384)):
        s.longest = 0
        begins(s, lambda conn, size=size: s.welcome(conn, (prop(RBSIZ, size),)))
        for length in (700, 4000, 8000, 16000, 60000):
            want(s.do(do_write, DATA[:length], "sizes") == length, "WRITE")
        want(most // 2 <= s.longest <= most, f"RBSIZ {size}: {s.longest} bytes were sent at once")
        s.works()
        s.umount()


# Covers: V2-INL-03 V2-CHK-16 G-19
@case("nego", "private data of any kind", mount=False)
def private_data(s):
    for data in (b"", b"\xbd" * 8, private(1024, 1024, False), private(256 << 10, 256 << 10)):
        s.private, s.longest = data, 0
        begins(s, s.welcome)
        want(s.do(do_write, DATA[:3500], "private") == 3500, "WRITE")
        s.reads(65536)
        want(2048 < s.longest <= 4096, f"{s.longest} bytes were sent at once, whatever RBSIZ says")
        # In version 2, rdma_inv_handle in each Call says whether a handle may be invalidated.
        want(any(m[20:24] != bytes(4) for m in s.raw), "no Call names a handle")
        s.raw.clear()
        s.umount()


def obeys(s, least, most):
    """Check that the client's longest message is within these limits."""
    s.longest = 0
    for length in (700, 3500, 7500, 15500):
        want(s.do(do_write, DATA[:length], "obeys") == length, "WRITE")
    want(least < s.longest <= most, f"{s.longest} bytes were sent at once, not {least + 1} to {most}")


# Covers: V2-TYP-08 V2-PRP-09 V2-PRP-20 V2-NEG-04 G-17
@case("nego", "a server that speaks of itself unasked", mount=False)
def unasked(s):
    def before(*props, then):
        def first(conn):
            conn.plain(connprop(0x123, *props, flags=0))
            s.listen(0.2)
            want(len(s.conns) == 1 and not s.early, "it was answered before the version is settled")
            s.welcome(conn, (prop(RBSIZ, then),))
        return first

    s.size = 65536
    # The client must apply the first valid CONNPROP, and ignore a CONNPROP with a bad property as a whole.
    for i, (first, least, most) in enumerate(((before(prop(RBSIZ, 1024), then=16384), 512, 1024),
                                              (before(prop(RBSIZ, 16384), then=1024), 8192, 16384),
                                              (before(prop(RBSIZ, 16384), prop(BRS, 9), then=8192), 4096, 8192))):
        begins(s, first)
        obeys(s, least, most)
        s.works()
        want(len(s.hellos) == i + 1 and not s.backward, "it was answered")
        s.umount()
    # The server sends a greeting before it has read the client's first message. If the greeting is an answer
    # (F_RESPONSE), the client must ignore it, because its XID is not that of the client's CONNPROP.
    for greeting, then in ((connprop(0x125, prop(RBSIZ, 16384), flags=0), 1024), (connprop(0, prop(RBSIZ, 1024)), 16384),
                           (error2(0, BAD_XDR), 16384)):
        s.greeting = greeting
        begins(s, lambda conn, then=then: s.welcome(conn, (prop(RBSIZ, then),)))
        obeys(s, 8192, 16384)
        s.works()
        want(not s.backward, "it was answered")
        s.umount()
    s.greeting = None
    # The server first refuses the client's properties. Later it announces a size (which the client must apply),
    # and then another one (which the client must ignore).
    s.grants_late()
    begins(s, s.first)
    obeys(s, 2048, 4096)
    for size in (8192, 1024):
        s.conns[0].plain(connprop(0x124, prop(RBSIZ, size), flags=0))
        s.idle(0.1)
        obeys(s, 4096, 8192)
    s.works()
    want(len(s.hellos) == s.accepted == 7 and not s.backward, "it was answered")


@case("nego", "unknown and empty properties", mount=False)  # Covers: V2-PRP-04 V2-PRP-03 V2-EXT-02 V2-PRP-23
def unknown_properties(s):
    s.size = 65536
    unknown = words(0x7777, 5) + bytes(8), words(0xffffffff, 33) + bytes(36), words(0, 0)
    for props, least, most in (((*unknown, prop(RBSIZ, 8192)), 4096, 8192), ((prop(RBSIZ, 8192), *unknown), 4096, 8192),
                               ((unknown[0], words(RBSIZ, 0), words(BRS, 0)), 2048, 4096), (unknown, 2048, 4096)):
        begins(s, lambda conn, props=props: s.welcome(conn, props))
        obeys(s, least, most)
        s.works()
        want(s.conns[0].v2, "not version 2")
        s.umount()


@case("nego", "bad properties", mount=False)                # Covers: V2-PRP-05 V2-PRP-06 V2-PRP-08 V2-PRP-09 G-17
def bad_properties(s):
    s.size = 65536
    for props in ((prop(RBSIZ, 65536), prop(BRS, 9)), (prop(RBSIZ, 512),), (words(RBSIZ, 2, 0),),
                  (prop(RBSIZ, 65536), prop(RBSIZ, 65536)), (words(RBSIZ, 0xffffffff, 1),)):
        s.longest = 0
        begins(s, lambda conn, props=props: s.welcome(conn, props))
        want(s.do(do_write, DATA[:16000], "props") == 16000, "WRITE")
        want(s.longest <= 4096, f"{s.longest} bytes at once: a bad set was used")
        s.works()
        s.umount()


@case("nego", "anything but an answer", mount=False)        # Covers: V2-NEG-04 V2-CRD-10 V2-TYP-13
def nonsense(s):
    def first(conn):
        xid = s.xid()
        for m in (bytes(3), bytes(19), words(xid, 1, 32, MSG, 0, 0, 0, xid, 1), words(xid, 3, 32, MSG, 0),
                  words(xid, 2, 32, 99, 0), words(xid, 2, 32, 99, 1), connprop(xid + 1), error2(xid + 1, BAD_XDR),
                  prefix(xid, MSG) + words(0, 0, 0, 0, xid, 1), words(xid, 2, 32, ERROR, 0, 9),
                  prefix(xid, MSG, flags=0) + words(0, 0, 0, 0, xid, 0)):
            conn.plain(m)
            s.listen(0.1)               # the client has few Receives so far
        s.quiet()
        want(not s.early, "the client did not wait for an answer")
        want(not s.backward, "the client answered")
        s.welcome(conn)
    begins(s, first)
    s.works()
    s.kept()


def whole(call):
    """A Reply that is completely inline and has no lists, whatever chunks were offered"""
    return upwards(header(call.xid, credit=call.server.credit) + call.forward(), True)


def exactly(s, length, count=1):
    """Do @count READs at once, whose Replies are messages of @length bytes."""
    accepted = s.accepted
    op = s.user(do_read, length - 1000)
    call = s.next(READ3)
    message = whole(call)
    call.conn.plain(message)
    s.reads(length - 1000, op=op)
    size = length - 1000 + length - len(message)
    ops = [s.user(do_read, size, 0, i << 18) for i in range(count)]
    for call in s.gather(count, READ3):
        message = whole(call)
        want(len(message) == length, f"a Reply of {len(message)} bytes, not {length}: mend this case")
        call.conn.plain(message)
    for i, op in enumerate(ops):
        want(s.finish(op) == size, f"READ of {length} bytes of Reply returns {op.get()}")
        want(SHARED[i << 18:(i << 18) + size] == DATA[:size], "READ brings wrong data")
    # The Replies must have come on the same connection, whose Receives this case tests.
    if s.accepted != accepted:
        s.explain()
    want(s.accepted == accepted, "the connection was not kept")


# Each client must accept messages of 4096 bytes, so a server may ignore a smaller RBSIZ.
@case("nego", "a server that does not care for a small RBSIZ", mount=False)     # Covers: V2-PRP-22 V2-PRP-10
def deaf(s):
    with open(INLINE, encoding="ascii") as f:
        was = f.read()
    put(INLINE, 1024)
    try:
        begins(s, s.welcome)
        want(s.announced() == 1024, f"{s.announced()} bytes were announced")
        for length in (2024, 4000, 4096):
            for count in (1, 4, 4):
                exactly(s, length, count)
        s.works()
        s.kept()
    finally:
        put(INLINE, was)


# --- after negotiation --------------------------------------------------------

@case("spoken", "an honest proxy")
def honest(s):
    s.works()
    s.reads(1 << 20)
    want(s.do(do_write, DATA[:300001], "new") == 300001, "WRITE")
    want(s.do(do_list) == 300, "READDIR")
    want(s.hellos[0][4:8] == words(2) and 28 <= len(s.hellos[0]) <= 1024, "no CONNPROP of 28 to 1024 bytes")
    want(all(m[4:8] == words(2) for m in s.raw), "another version than 2")     # Covers: V2-HDR-03 V2-NEG-01 V2-NEG-02
    s.kept()


# Covers: V2-PRP-20 V2-TYP-12 V2-TYP-13 V2-HDR-15
@case("spoken", "properties once more", "xprt_rdma_connprop")
def again(s):
    op, call = s.small()
    conn = call.conn
    for flags in (0, 1):
        for xid in (call.xid, 0x900, s.xid()):
            conn.plain(connprop(xid, prop(RBSIZ, 1024), flags=flags))
    s.quiet()
    want(not op.ready(), "properties were taken for a Reply")
    want(not s.backward, "they were answered")
    call.respond()
    s.reads(100, op=op)
    s.longest = 0
    want(s.do(do_write, DATA[:3500], "again") == 3500, "WRITE")
    want(s.longest > 1024, "they were believed")
    # A bad CONNPROP must be answered with an error, unless it is an answer itself (F_RESPONSE).
    conn.plain(connprop(0x901, prop(BRS, 9), flags=0))
    conn.plain(connprop(0x902, prop(BRS, 9), flags=1))
    want(s.serve(lambda: s.errors(0x901), 20), "bad ones are not answered")
    want(s.errors(0x901) == [words(BAD_XDR)] and not s.errors(0x902), "not the answer expected")
    s.works()
    s.kept()


# Covers: V2-EXT-01 V2-EXT-03 V2-TYP-15 V2-TYP-16 V2-HDR-14 V2-HDR-05
@case("spoken", "unknown types and flags", "xprt_rdma_refuse: reason=3")
def types(s):
    op, call = s.small()
    for i, htype in enumerate((2, 3, 6, 0x7fffffff, 0xffffffff)):
        call.conn.plain(prefix(0xa00 + i, htype, flags=0) + bytes(40))
        want(s.serve(lambda i=i: s.errors(0xa00 + i), 20), f"type {htype} is not answered")
        want(s.errors(0xa00 + i) == [words(INVAL_HTYPE)], f"type {htype}: {s.errors(0xa00 + i)}")
        call.conn.plain(prefix(0xb00 + i, htype) + bytes(40))
    s.idle(0.2)
    want(not any(m[:4] >= words(0xb00) for m in s.backward), "a response was answered")
    body = call.forward()
    call.conn.plain(prefix(call.xid, MSG, flags=0xffffffff) + words(0, 0, 0, 0) + body)
    s.reads(100, op=op)
    s.kept()


@case("spoken", "messages that disagree about their direction")    # Covers: V2-HDR-12 V2-HDR-13 V2-ERR-03 G-12
def directions(s):
    op, call = s.small()
    body = call.forward()
    # Without F_RESPONSE the message is a request, so it is answered, and does not end the RPC.
    call.conn.plain(prefix(call.xid, MSG, flags=0) + words(0, 0, 0, 0) + body)
    want(s.serve(lambda: s.errors(call.xid), 20), "it is not answered")
    want(s.errors(call.xid) == [words(BAD_XDR)], f"{s.errors(call.xid)}")
    want(not op.ready(), "it was taken for a Reply")
    # With F_RESPONSE it is a response, so it ends the RPC, and is not answered.
    s.backward.clear()
    call.conn.plain(prefix(call.xid, MSG) + words(0, 0, 0, 0) + body[:4] + words(0) + body[8:])
    s.fails(op, call.xid)
    s.works()
    want(not s.backward, "a response was answered")
    s.kept()


# Covers: V2-HDR-16 V2-ERR-26 V2-BC-08 V2-ERR-03
@case("spoken", "messages that end too early", "xprt_rdma_discard", "xprt_rdma_bad_reply", "xprt_rdma_refuse: reason=2")
def lengths(s):
    def sound(xid, flags):
        yield prefix(xid, MSG, flags=flags) + words(0, 0, 0, 0, xid, flags)
        yield prefix(xid, NOMSG, flags=flags) + words(0, 0, 0, 0)
        yield prefix(xid, CONNPROP, flags=flags) + words(0)
        yield prefix(xid, ERROR, flags=flags) + words(BAD_XDR)

    op, call = s.small()
    conn = call.conn
    # Messages that are shorter than the prefix must be dropped.
    s.pour(conn, [m[:n] for flags in (0, 1) for m in sound(call.xid, flags) for n in range(1, 20)], conn.plain)
    s.counts("client_bad_messages", 2 * 4 * 19)
    want(not op.ready() and not s.backward, "one of less than 20 bytes was looked at")
    # Requests with a complete prefix are answered.
    messages = [m[:n] for m in list(sound(0, 0))[:3] for n in range(20, len(m))]
    s.pour(conn, [words(0x3000 + i) + m[4:] for i, m in enumerate(messages)], conn.plain)
    want(s.verbs.until(lambda: s.step() or len(s.backward) >= len(messages)), f"{len(s.backward)} answers")
    for i, m in enumerate(messages):
        want(s.errors(0x3000 + i) == [words(BAD_XDR)], f"{m.hex()}: {s.errors(0x3000 + i)}")
    # Responses with an unknown XID are not answered.
    s.backward.clear()
    s.pour(conn, [m[:n] for m in sound(0x3100, 1) for n in range(20, len(m))], conn.plain)
    # Nor are CONNPROPs with F_RESPONSE and the XID of an RPC.
    s.pour(conn, [m[:n] for m in [list(sound(call.xid, 1))[2]] for n in range(20, len(m) + 1)], conn.plain)
    s.quiet()
    want(not op.ready(), "a CONNPROP was taken for a Reply")
    call.respond()
    s.reads(100, op=op)
    bad = s.counted("client_bad_replies")
    want(not bad, f"{bad} RPCs have ended")
    count = 0
    for which in (0, 1, 3):
        for n in range(20, len(list(sound(0, 1))[which])):
            op, call = s.small()
            conn.plain(list(sound(call.xid, 1))[which][:n])
            s.fails(op, call.xid)
            count += 1
    want(s.counted("client_bad_replies") == count, "not all are counted")
    want(not s.backward, "a response was answered")
    s.works()
    s.kept()


def posted(s, received):
    """Number of Receives that are posted when the client has handled @received messages"""
    shown = {}

    def settled():
        shown.update(next(transports())[1])
        return s.counted("client_receives") >= received and shown["receives_held"] == "0"
    want(s.verbs.until(settled), f"{received} messages were sent, {s.counted('client_receives')} have come")
    return int(shown["receives_posted"])


# Covers: V2-CRD-05
@case("spoken", "Receives for two messages more than the windows", mount=False)
def spare(s):
    s.credit = 0xffffffff
    s.mount(SMALL)
    op = s.user(do_write, DATA, "spare")
    first = s.next(WRITE3)
    most = most_credits(s, first)
    calls = [first] + s.gather(most - 1, WRITE3)
    # Receives are posted again in batches, so look at their number after each of 20 messages.
    found = []
    before = s.counted("client_receives")
    for i in range(20):
        first.conn.plain(connprop(0x77, flags=i % 2))
        found.append(posted(s, before + i + 1))
    s.log(f"{most} Calls, Receives posted: {found}")
    want(min(found) >= most + 16 + 2,
         f"{min(found)} Receives for {most} Replies, 16 callbacks and two messages more")
    for i in range(2):
        first.conn.plain(connprop(0x78 + i))
    for call in calls:
        call.respond()
    want(s.finish(op) == len(DATA), "WRITE")
    s.kept()


def of_write(call):
    """Is @call a WRITE of version 4.1 or 4.2?"""
    if not of_user(call):
        return False
    r = compound(call, 53)[1]
    r.skip(32 + 4)              # SEQUENCE, PUTFH
    r.opaque()
    return r.word() == 38


def fewest(s):
    """The smallest number of Receives that the client ever has posted. Receives are posted again in batches, so
    their number goes up and down. Send messages until the number is the smallest again."""
    before, found = s.counted("client_receives"), []
    while len(found) < 20 or found[-1] != min(found):
        want(len(found) < 60, f"{found} Receives are posted")
        s.conns[0].plain(connprop(0x77, flags=0))
        found.append(posted(s, before + len(found) + 1))
    return found[-1]


# The server sends all messages that it may send, without a pause, while as few Receives are posted
# as possible. On one processor, the client usually handles nothing before all messages have
# arrived. If it has handled some earlier, the case tries again, up to six times in all.
# Covers: V2-CRD-05 V2-CRD-07
@case("spoken", "a full window of Replies, one of callbacks, and two CONNPROPs at once", mount=False)
def all_at_once(s):
    # The client has Receives for the Replies to 8, 16, 32 ... Calls. Grant one of these numbers, so
    # that all of these Receives are needed. nfsd of kernels before 7.3 may have only 30 slots in a
    # session, so grant 16 there.
    s.credit = 32 if os.environ["KERNEL"] == "7.3" else 16
    s.mount(V41 + ",wsize=4096")
    op = s.user(do_write, DATA, "full")
    conn = s.conns[0]
    for i in range(6):
        messages = [upwards(header(call.xid, credit=s.credit) + call.forward())
                    for call in s.gather(s.credit, of_write)]
        xids = range(0xc00 + 16 * i, 0xc10 + 16 * i)
        messages += [upwards(header(xid) + callback_null(xid)) for xid in xids]
        messages += [connprop(0x78), connprop(0xd00 + i, prop(BRS, 9), flags=0)]
        least, before = fewest(s), s.counted("client_receives")
        s.backward.clear()
        with undisturbed():
            for message in messages:
                conn.plain(message)
            # Wait, because with siw, TCP may delay some messages until an acknowledgement comes. Do
            # not sleep: kernel threads would run meanwhile.
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                pass
            early = s.counted("client_receives") - before
        s.log(f"{len(messages)} messages for {least} Receives, {early} dealt with before the last came")
        want(s.verbs.until(lambda: s.step() or len(s.backward) >= 17 or conn.lost), f"{len(s.backward)} of 17 answers")
        want(not conn.lost, f"{len(messages)} messages, but {least} Receives: the connection is lost")
        want(s.errors(0xd00 + i) == [words(BAD_XDR)], f"{s.errors(0xd00 + i)}")
        for xid in xids:
            answered(s, xid)
        if not early:
            break
    want(s.finish(op) == len(DATA), "WRITE")
    s.works()
    s.kept()


def refused(s, size, *errors):
    """Do a READ of @size bytes, and answer its Calls with these errors, one after the other. Returns (system
    call, Calls)."""
    calls, op = [], s.user(do_read, size)
    for code, *args in errors:
        calls.append(s.next(READ3))
        want(calls[-1].xid == calls[0].xid, "another XID")
        calls[-1].conn.plain(error2(calls[-1].xid, code, *args, credit=0xffffffff))
    return op, calls


# Covers: V2-ERR-02 V2-ERR-08 V2-ERR-10 V2-ERR-17 V2-ERR-19 V2-ERR-22 V2-ERR-24 V2-ERR-25
@case("spoken", "errors that end an RPC")
def final(s):
    for size, code, *args in ((100, BAD_XDR), (100, INVAL_HTYPE), (100, SYSTEM), (100, 77), (100, 77, 1, 2), (100, 0),
                              (100, VERS, 1, 1), (100, READ_CHUNKS, 0), (100, WRITE_CHUNKS, 0), (100, SEGMENTS, 1),
                              (65536, SEGMENTS, 0), (65536, SEGMENTS, 1), (65536, SEGMENTS, 0xffffffff),
                              (65536, WRITE_RESOURCE, 1, 65536), (65536, WRITE_RESOURCE, 1, 65537),
                              (65536, WRITE_RESOURCE, 2, 70000), (65536, WRITE_RESOURCE, 1, 0xffffffff),
                              (100, WRITE_RESOURCE, 1, 100), (100, REPLY_RESOURCE, 0),
                              (100, REPLY_RESOURCE, 0xffffffff), (65536, REPLY_RESOURCE, 1 << 20),
                              (65536, BAD_XDR), (65536, SYSTEM)):
        op, calls = refused(s, size, (code, *args))
        try:
            s.fails(op, calls[0].xid)
        except Failure as e:
            raise Failure(f"code {code} {args}: {e}") from None
        want(not s.backward, "an error was answered")
    # Truncated errors
    for message in (error2(0, READ_CHUNKS), error2(0, WRITE_RESOURCE, 1), error2(0, SYSTEM, 1), prefix(0, ERROR)):
        op, call = s.small()
        call.conn.plain(words(call.xid) + message[4:])
        s.fails(op, call.xid)
    s.works()
    want(not s.backward, "an error was answered")
    s.kept()


def long_call(s):
    """Start a system call that needs a long Call. Returns (system call, Call)."""
    op = s.user(do_setxattr, 8000)
    return op, s.next(lambda call: call.proc == NOMSG)


@case("spoken", "too many Read chunks, where there is none but that of a long Call", mount=False)   # Covers: V2-ERR-13
def position_zero(s):
    s.mount(V42)
    for most in 0, 1, 15:
        op, call = long_call(s)
        want(call.reads[0][0] == 0, f"a chunk at {call.reads[0][0]}")
        call.conn.plain(error2(call.xid, READ_CHUNKS, most))
        s.fails(op, call.xid)
    want(s.do(do_setxattr, 8000) == 8000, "SETXATTR")
    want(s.counted("client_resends") == 0, "a Call was sent again")
    s.works()
    s.kept()


# Covers: V2-ERR-10
@case("spoken", "a type that the server does not know", mount=False)
def unknown_type(s):
    s.mount(V42)
    for connection in range(2):
        op, call = long_call(s)
        conn, sent = call.conn, len(s.raw)
        conn.plain(error2(call.xid, INVAL_HTYPE))
        s.fails(op, call.xid)
        # The client must no longer use this type (RDMA2_NOMSG), so Calls that need it fail.
        for _ in range(3):
            result = s.do(do_setxattr, 8000)
            want(result in ("EIO", "EMSGSIZE"), f"SETXATTR: {result}")
        op = s.user(do_write, DATA[:65536], "long", True)
        call = s.next(of_write)
        call.conn.plain(error2(call.xid, READ_CHUNKS, 0))
        want(s.finish(op) in ("EIO", "EMSGSIZE"), f"WRITE: {op.get()}")
        # New properties from the server must not make the client use the type again: a long Call must still fail. All
        # other Calls must still work.
        conn.plain(connprop(0x900, prop(RBSIZ, 4096), flags=0))
        want(s.do(do_write, DATA[:65536], "long", True) == 65536, "WRITE")
        want(s.do(do_setxattr, 100) == 100, "a short SETXATTR")
        s.works()
        result = s.do(do_setxattr, 8000)
        want(result in ("EIO", "EMSGSIZE"), f"SETXATTR: {result}")
        types = [int.from_bytes(m[12:16], "big") for m in s.raw[sent:]]
        want(MSG in types and NOMSG not in types, "the type was sent again")
        want(s.accepted == connection + 1, "the connection was not kept")
        # On the next connection, the client must try the type again.
        conn.disconnect()


# The client must not send a second CONNPROP to a server that does not know properties.
@case("spoken", "a server that knows no properties", mount=False)       # Covers: V2-ERR-10
def no_properties(s):
    def first(conn):
        s.speak(conn)
        conn.plain(error2(s.xid(), INVAL_HTYPE))
    begins(s, first)
    s.works()
    s.conns[0].plain(connprop(0x901, prop(RBSIZ, 8192), flags=0))
    want(s.do(do_write, DATA[:65536], "none") == 65536, "WRITE")
    s.works()
    want(len(s.hellos) == 1 and not s.backward, f"{len(s.hellos)} CONNPROPs, {len(s.backward)} answers")
    s.kept()


@case("spoken", "errors to nobody")         # Covers: V2-ERR-27 V2-CRD-08
def stray(s):
    op, call = s.small()
    for code in range(12):
        call.conn.plain(error2(call.xid + 1, code, 1, 1))
        call.conn.plain(prefix(call.xid, ERROR, flags=0) + words(code, 1, 1))
    s.quiet()
    want(not op.ready(), "one was believed")
    want(not s.backward, "one was answered")
    call.respond()
    s.reads(100, op=op)
    s.kept()


@case("spoken", "the same error again and again")           # Covers: V2-ERR-15 V2-ERR-21 V2-ERR-22 G-23
def stubborn(s):
    op, calls = refused(s, 65536, (WRITE_CHUNKS, 0), (WRITE_CHUNKS, 0))
    want(calls[0].writes and not calls[1].writes and calls[1].reply, "no Reply chunk instead of the Write chunk")
    want(s.finish(op) == "EIO", "the READ does not end")
    op, calls = refused(s, 65536, (REPLY_RESOURCE, 65600), (REPLY_RESOURCE, 65600))
    want(s.finish(op) == "EIO" and calls[1].reply, "the READ does not end")
    # The client tries each remedy once, and then gives up.
    op, calls = refused(s, 65536, (WRITE_CHUNKS, 0), (REPLY_RESOURCE, 65600))
    want(s.finish(op) == "EIO", "the READ does not end")
    want(s.counted("client_resends") == 3, f"{s.counted('client_resends')} were sent again")
    s.works()
    s.kept()


@case("spoken", "errors that heal")         # Covers: V2-ERR-12 V2-ERR-15 G-23
def healed(s):
    op, calls = refused(s, 65536, (WRITE_CHUNKS, 0))
    # Before the client sends a Call in another form, it must invalidate the handles of the earlier forms.
    call = s.next(READ3)
    want(call.xid == calls[0].xid, "another XID")
    handles = call.handles() & calls[0].handles()
    want(not handles, f"handles {handles} were not invalidated")
    call.respond()
    s.reads(65536, op=op)
    # From this error, the client learns a limit for inline Replies, which it must use from now on.
    op, calls = refused(s, 3000, (REPLY_RESOURCE, 3100))
    want(not calls[0].writes and not calls[0].reply, "a short READ with a chunk")
    s.reads(3000, op=op)
    op = s.user(do_read, 3000)
    call = s.next(READ3)
    want(call.writes, "the limit was forgotten")
    call.respond()
    s.reads(3000, op=op)
    op = s.user(do_write, DATA[:65536], "heal", True)
    call = s.next(WRITE3)
    call.conn.plain(error2(call.xid, READ_CHUNKS, 0))
    second = s.next(WRITE3)
    want(second.xid == call.xid and second.reads[0][0] == 0, "no Position Zero chunk")
    second.respond()
    want(s.finish(op) == 65536, "WRITE")
    s.works()
    s.kept()


# From the error, the client learns a lower limit for inline Replies. It must still have Receives of the size that it
# has announced.
@case("spoken", "an error that asks for one byte, and then large Replies")      # Covers: V2-PRP-10 V2-PRP-24
def one_byte(s):
    size = s.announced()
    exactly(s, size)
    op, calls = refused(s, 3000, (REPLY_RESOURCE, 1))
    want(not calls[0].writes and not calls[0].reply, "a short READ with a chunk")
    want(s.finish(op) in (3000, "EIO"), f"READ returns {op.get()}")
    for count in (5, 5, 1):
        exactly(s, size, count)
    # Use up all Receives that were posted before.
    s.pour(s.conns[0], [connprop(0x4000)] * 300, s.conns[0].plain)
    for count in (5, 1):
        exactly(s, size, count)
    s.works()
    s.kept()


# Covers: MEM-21
@case("spoken", "invalidating with what is no Reply", "xprt_rdma_bad_invalidation", only=NOT_SIW)
def invalidating(s):
    odd = (("a CONNPROP", connprop(0x900)), ("a request of properties", connprop(0x901, flags=0)),
           ("an error to nobody", error2(0x902, SYSTEM)),
           ("a backward Call", upwards(header(0x903) + callback_null(0x903), False)))
    for i, (what, message) in enumerate(odd):
        op = s.user(do_read, 65536)
        call = s.next(READ3)
        want(call.writes, "a long READ without a chunk")
        call.conn.plain(message, call.writes[0][0].handle)
        want(s.verbs.until(lambda conn=call.conn: conn.lost, 20), f"{what}: the connection stays")
        # The READ is sent again on the next connection.
        s.reads(65536, op=op)
        want(s.counted("client_bad_invalidations") == i + 1, f"{what}: not counted")
        want(s.accepted == i + 2, f"{what}: {s.accepted} connections")
        s.works()


# Covers: V2-HDR-12 V2-HDR-15
@case("spoken", "messages of version 1 with the XID of an RPC")
def version_1(s):
    op, call = s.small()
    body = call.forward()
    odd = (header(call.xid) + callback_null(call.xid), header(call.xid) + body, header(call.xid, NOMSG),
           header(call.xid, reply=[Segment(1, 8, 4096)]) + callback_null(call.xid), header(call.xid, 5) + body)
    for message in odd:
        call.conn.plain(message)
    s.quiet()
    want(not op.ready(), "one was taken for a Reply")
    want(not s.backward, "one was answered")
    want(s.counted("client_bad_messages") == len(odd), f"{s.counted('client_bad_messages')} of {len(odd)} are counted")
    call.respond(reply=body)
    s.reads(100, op=op)
    s.works()
    s.kept()


@case("spoken", "40 errors in a window of one", mount=False)        # Covers: V2-CRD-03
def credits_back(s):
    s.credit = 1
    s.mount(SMALL)
    for i in range(40):
        op, call = s.small()
        call.conn.plain(error2(call.xid, (SYSTEM, BAD_XDR, 77)[i % 3], credit=(0, 1, 0xffffffff)[i % 3]))
        s.fails(op)
        s.reads(100)
    # The 40 errors have neither lost a credit nor added one.
    op = s.user(do_write, DATA[:65536], "window")
    s.gather(1, WRITE3)[0].respond()
    want(s.finish(op) == 65536, "WRITE")
    s.works()
    s.kept()


# The server takes credits back, and grants no more than the RPCs have that were given up. Their Replies may never come,
# so the client must make a new connection.
@case("spoken", "a grant of no more than is owed", mount=False)     # Covers: V2-CRD-03 V1-CRD-07 G-39
def all_is_owed(s):
    s.credit = 3
    s.mount("vers=3,noac,hard")
    s.works()
    conn = [kill(s, "ls", MNT + "/dir").conn for _ in range(2)][0]
    want(s.verbs.until(lambda: owed() == 2), f"{owed()} credits are owed, not 2")
    conn.plain(connprop(0x77, credit=2))
    op = s.user(do_stat, MNT + "/file")
    want(s.serve(op.ready, 30) and op.get() == len(DATA), "GETATTR waits for a credit for ever")
    s.works()


@case("spoken", "errors while the window is full", mount=False)     # Covers: V2-CRD-02 V2-CRD-03
def window(s):
    s.credit = 1
    s.mount(SMALL)
    op = s.user(do_read, 2000)
    other = s.user(do_stat, MNT + "/dir")
    call = s.next(READ3)
    call.conn.plain(connprop(0x77, flags=0))
    call.conn.plain(connprop(0x78, flags=0))
    call.conn.plain(error2(call.xid, REPLY_RESOURCE, 2000, credit=0xffffffff))
    s.listen(0.5)
    want(len(s.calls) == 1, "the error opened the window, or returned no credit")
    s.reads(2000, op=op)
    want(isinstance(s.finish(other), int), "GETATTR")
    s.kept()


# --- callbacks ----------------------------------------------------------------

def back_channel(s):
    """The length of the longest callback that the client accepts, from its last CREATE_SESSION"""
    for m in reversed(s.raw):
        if m[12:20] == words(MSG, 0) and m[24:36] == bytes(12):
            rpc = m[36:]
            prog, nfs, operation = struct.unpack_from(">3I", rpc, 12)
            found = compound(SimpleNamespace(rpc=rpc, prog=prog, nfs=nfs, operation=operation), 43)  # CREATE_SESSION
            if found:
                r = found[1]
                r.skip(16 + 24)             # client ID, sequence, flags; sizes of the fore channel
                r.skip(4 * r.word() + 4)
                return r.word()
    raise Failure("no CREATE_SESSION")


def callback_long(call, xid, number, length):
    """A callback of @length bytes with the sequence number @number. It is filled with operations of 16 bytes,
    so its answer is long, too."""
    args = words(11) + sequence(call)[0] + words(number, 0, 0, 0, 0)
    rest = length - len(rpc_call(xid, CALLBACK, 1, 1, bytes(16) + args, AUTH_ROOT))
    longer = rest % 16 // 4
    # Fill the callback with CB_RECALL_ANY operations that recall nothing. Each has 16 bytes, or 20
    # if its bit map has two words.
    count = 1 + longer + (rest - 20 * longer) // 16
    args += words(8, 0, 2, 0, 0) * longer + words(8, 0, 1, 0) * (count - 1 - longer)
    message = rpc_call(xid, CALLBACK, 1, 1, words(0, 1, 0, count) + args, AUTH_ROOT)
    want(len(message) == length, f"a callback of {len(message)} bytes, not {length}: mend this case")
    return message


def called_back(s, xid, number, length):
    """Send a callback_long() to the client. Returns the client's answer."""
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)
    s.backward.clear()
    call.conn.send(header(xid) + callback_long(call, xid, number, length))
    want(s.verbs.until(lambda: s.step() or s.backward), f"a callback of {length} bytes is not answered")
    call.respond()
    want(isinstance(s.finish(op), int), "GETATTR")
    return s.backward[0]


# Covers: V2-BC-10 V2-INL-07
@case("callbacks", "callbacks as long as either can receive", "xprt_rdma_bc_reply: status=-90", mount=False)
def callback_sizes(s):
    # Both ends announce an RBSIZ of 4096 bytes. A callback's transport header takes 36 of them.
    s.mount(V41)
    longest = back_channel(s)
    want(longest == 4096 - 36, f"callbacks of {longest} bytes")
    answer = called_back(s, 0xd00, 1, longest)
    want(answer[12:16] == words(MSG) and answer[28:36] == words(0xd00, 1) and answer[-8:] == words(8, 0),
         f"the answer {answer.hex()}")
    needed = len(answer) - 28
    want(1024 < needed < 4096, f"an answer of {needed} bytes")
    # On the next connection the client keeps its session, but the server announces Receives that are smaller
    # than the answer.
    s.first = lambda conn: s.welcome(conn, (prop(RBSIZ, 1024),))
    s.conns[0].disconnect()
    s.do(do_stat, MNT + "/dir")
    want(len(s.hellos) == 2, "no second connection")
    s.longest = 0
    called_back(s, 0xd01, 2, longest)
    want(s.errors(0xd01) == [words(REPLY_RESOURCE, needed)], f"{s.errors(0xd01)}, not {needed} bytes")
    want(isinstance(s.do(do_stat, MNT + "/dir"), int), "GETATTR")
    want(s.longest <= 1024, f"{s.longest} bytes were sent at once")
    s.umount()
    # In a new session, callbacks and their answers are limited by the smaller of both ends' sizes.
    for ours, theirs in ((1024, 4096), (4096, 1024), (2048, 2048)):
        put(INLINE, theirs)
        begins(s, lambda conn, ours=ours: s.welcome(conn, (prop(RBSIZ, ours),)), V41)
        want(back_channel(s) == min(ours, theirs) - 36, f"callbacks of {back_channel(s)} bytes for {ours} and {theirs}")
        s.umount()


# Covers: V2-BC-08
@case("callbacks", "a callback that fits a Receive, but not the memory for a callback", "xprt_rdma_bc_refuse",
      mount=False)
def callback_too_long(s):
    put(INLINE, 16384)
    s.mount(V41)
    called_back(s, 0xd10, 1, 5000)
    want(s.errors(0xd10) == [words(SYSTEM)], f"{s.errors(0xd10)}")
    s.counts("client_bad_messages", 1)
    s.works()
    s.kept()


if __name__ == "__main__":
    main(Server2 if sys.argv[1] in ("nego", "spoken") else AsLarge)
