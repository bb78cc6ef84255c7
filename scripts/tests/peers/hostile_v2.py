# SPDX-License-Identifier: GPL-2.0
"""Test clients that use version 2 with our server, and break its rules.

usage: hostile_v2.py SET [part of a name]

Sets with the name v2-... are in this file. The others are those of hostile_calls.py and hostile_client.py, in
version 2. caller.py runs the cases.
"""
import collections
import contextlib
import ctypes
import glob
import os
import subprocess
import sys
import time

from caller import (DATA, NFS, NULL, PLAIN, READ3, READDIRPLUS, SETATTR3, WRITE3, Client, main, needs_knobs,
                    not_on_6_1, results, root_handle, values)
from hostile_calls import leave
from hostile_client import (PUTROOTFH, Session, answer_of, compound, delegation, fresh_names, op_lookup, op_read,
                            read_args, readdir_args, recall, write_args)
from peer import (AREA, AUTH_ROOT, BAD_XDR, BRS, CONNPROP, ERROR, INVAL_HTYPE, MSG, NOMSG, RBSIZ, READ_CHUNKS,
                  REPLY_RESOURCE, SEGMENTS, SYSTEM, UNLIMITED, VERS, WRITE_CHUNKS, WRITE_RESOURCE, Message, Reader,
                  counters, fault, header, opaque, private, put, rpc_call, rpc_reply, slow, want, words)
from rtx import RTX
from sets import case

# Number of words that follow the error code in an error of this kind
ERROR_DATA = {READ_CHUNKS: 1, WRITE_CHUNKS: 1, SEGMENTS: 1, WRITE_RESOURCE: 2, REPLY_RESOURCE: 1}
ICE = "/ice"            # a file system that is exported, and that can be frozen
KNOBS = "/sys/kernel/debug/rpcrdma/server_"
SETTING = "/sys/module/rpcrdma/parameters/server_version"


def connections():
    """The values of the server's connections in debugfs"""
    for path in glob.glob("/sys/kernel/debug/rpcrdma/server/*"):
        try:
            yield values(path)
        except OSError:
            pass  # a connection of an earlier case may have just gone


def prefix(xid, htype, credit=32, flags=0, vers=2):
    return words(xid, vers, credit, htype, flags)


def header2(xid, proc=MSG, credit=32, flags=0, inv=0, **lists):
    return prefix(xid, proc, credit, flags) + words(inv) + header(xid, **lists)[16:]


def prop(which, data, length=None):
    return words(which, len(data) if length is None else length) + data + bytes(-len(data) % 4)


def connprop(xid, *props, flags=0, count=None):
    return prefix(xid, CONNPROP, flags=flags) + words(len(props) if count is None else count) + b"".join(props)


class Message2:
    """A received message of version 2, which must be valid"""

    def __init__(self, data):
        r = Reader(data)
        self.data = data
        self.xid, self.vers, self.credit, self.proc = r.word(), r.word(), r.word(), r.word()
        self.flags, self.error, self.props, self.code = r.word(), None, {}, None
        self.body, self.inv = b"", 0
        if self.proc == ERROR:
            self.error = tuple(r.word() for _ in range((len(data) - r.at) // 4))
            if len(data) == 28 and self.error[0] in (1, 2):
                self.error = (VERS,) + self.error       # layout of version 1: the code is in place of the flags
            self.code = self.error[0] if self.error else None
        elif self.proc == CONNPROP:
            for _ in range(r.word()):
                which = r.word()
                self.props[which] = r.opaque()
        else:
            self.inv = r.word()
            old = Message(words(self.xid, 1, 0, self.proc) + data[r.at:])
            self.writes, self.reply, self.body = old.writes, old.reply, old.body

    def is_call(self):
        return self.proc == MSG and not self.flags


class Client2(Client):
    """A client of version 2. @size: size of its Receives, which is announced if it is less than 4096. @hello:
    more properties to announce; if it is None, no CONNPROP is sent"""

    vers, least, most_reads = 2, 36, 15
    parse = Message2

    def __init__(self, verbs, data=PLAIN, count=64, size=65536, hello=(), **kwargs):
        super().__init__(verbs, data, count, size, **kwargs)
        if hello is not None:
            small = () if size >= 4096 else (prop(RBSIZ, words(size)),)
            answer = self.exchange(connprop(self.xid(), *small, *hello))
            want(answer and answer.proc == CONNPROP, "CONNPROP is not answered by one")

    def prefix(self, xid, proc=MSG, credit=8):
        return prefix(xid, proc, credit) + words(0)

    def header(self, xid, proc=MSG, credit=32, **lists):
        return header2(xid, proc, credit, **lists)

    def response(self, xid, credit=32):
        return self.header(xid, credit=credit, flags=1)

    def error(self, xid, code=BAD_XDR, credit=32, rest=b""):
        return prefix(xid, ERROR, credit, flags=1) + words(code) + rest

    def is_error(self, answer, code, *args):
        """@args: the arguments of the error, if they are known"""
        return bool(answer) and answer.proc == ERROR and answer.error[:1 + len(args)] == (code,) + args and \
            len(answer.data) == 24 + 4 * ERROR_DATA.get(code, 0)

    def receive(self, patience=20):
        answer = super().receive(patience)
        want(not answer or answer.flags == 1 and not answer.inv and (answer.vers == 2 or answer.code == VERS),
             f"flags, handle or version: {answer and answer.data[:48].hex()}")
        return answer


def refused(answer, code, *args, xid=None, vers=2):
    want(answer, "no answer")
    want(answer.proc == ERROR and answer.error == (code,) + args, f"not {(code,) + args}: {answer.data.hex()}")
    want(answer.vers == vers and answer.flags == 1, f"version or flags: {answer.data.hex()}")
    want(xid is None or answer.xid == xid, "an error for something else")
    want(len(answer.data) == (28 if code == VERS else 24 + 4 * len(args)), "length")


@contextlib.contextmanager
def regions(verbs, count):
    """Register @count more regions for chunks. The value is a list of their handles."""
    found = [ctypes.c_void_p() for _ in range(count)]
    handles = [verbs.lib.peer_register(verbs.base + AREA, 1 << 16, 3, ctypes.byref(region)) for region in found]
    want(all(handles), "no region")
    try:
        yield handles
    finally:
        for region in found:
            verbs.lib.peer_unregister(region)


def connect(b, *hello, **kwargs):
    c = Client2(b.verbs, hello=hello, **kwargs)
    b.clients.append(c)
    return c


def unheard(b, **kwargs):
    """A new client that has sent no CONNPROP"""
    c = Client2(b.verbs, hello=None, **kwargs)
    b.clients.append(c)
    return c


def size(value):
    return prop(RBSIZ, words(value))


# --- versions -----------------------------------------------------------------

# Covers: V2-NEG-05 V2-NEG-13 V2-NEG-14 V2-NEG-15 V2-HDR-04 V2-ERR-04 V2-EXT-11 V2-NEG-17
@case("v2-messages", "versions: 1 and 2 beside each other, 3, and changes of mind", "svc_rdma_settled: vers=2",
      "svc_rdma_settled: vers=1")
def versions(b):
    b.fresh().works()
    c = connect(b)
    c.works()
    b.client.works()
    for vers, rest in ((1, b""), (3, b"\xbd" * 100), (0, bytes(60)), (0xffffffff, bytes(40))):
        xid = c.xid()
        refused(c.exchange(words(xid, vers, 1, 0) + (rest or words(0, 0, 0) + rpc_call(xid, NFS, 3, NULL))),
                VERS, 2, 2, xid=xid, vers=vers)
        c.works()
    old = b.connect()
    answer = Message2(old.exchange(words(7, 3, 1, 0) + bytes(40)).data)
    refused(answer, VERS, 1, 2, xid=7, vers=3)
    old.works()
    refused(Message2(old.exchange(connprop(8)).data), VERS, 1, 1, xid=8)
    old.works()


@case("v2-messages", "version 2 without a CONNPROP")      # Covers: V2-PRP-20 V2-INL-01 V2-NEG-13
def unannounced(b):
    c = unheard(b, size=4096)
    c.works()
    want(len(c.nfs(READ3, read_args(b.file, 3000)).data) > 3000, "no short Reply")
    answer = c.nfs(READ3, read_args(b.file, 8000))
    want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "more than 4096 bytes")
    c.works()


# --- properties ---------------------------------------------------------------

# Covers: V2-TYP-11 V2-PRP-16 V2-PRP-21 V2-CRD-04 V2-TYP-10
@case("v2-messages", "CONNPROP is answered by one", "svc_rdma_connprop: rbsiz=16384 brs=1 .*applied=1")
def properties(b):
    c = unheard(b)
    answer = c.exchange(connprop(0x1234, size(16384), prop(BRS, words(1))))
    want(answer.xid == 0x1234 and answer.vers == 2 and answer.flags == 1 and answer.credit >= 1, "prefix")
    # hostile_rtx.py checks the property of the round-trip extension.
    props = {k: v for k, v in answer.props.items() if k != RTX}
    want(props == {RBSIZ: words(16384), BRS: words(1)}, f"properties: {answer.props}")
    want(not c.invalidated and len(answer.data) <= 1024, "invalidation, or too long")
    shown = list(connections())
    told = {"version": "2", "inline_send": "16384", "inline_recv": "16384", "rbsiz": "16384", "brs": "1",
            "our_brs": "1", "peer_spoke": "1"}
    want(any(told.items() <= s.items() for s in shown), f"not shown: {shown}")
    c.works()


# Covers: V2-PRP-05 V2-PRP-06 V2-PRP-07 V2-PRP-08 V2-PRP-09 V2-PRP-14 V2-ERR-06 V2-ERR-07
@case("v2-messages", "bad properties, of which none is applied", "svc_rdma_error: BAD_XDR")
def bad_properties(b):
    c = unheard(b)
    good = size(1024)
    bad = [(good, prop(BRS, words(9))), (good, prop(BRS, words(3))), (good, size(1)), (size(0),), (size(512),),
           (size(1023),), (good, good), (prop(BRS, b""), prop(BRS, words(1))), (good, prop(0x7777, b"", 0xffffffff)),
           (good, prop(0x7777, bytes(8), 9)), (prop(RBSIZ, words(4096), 0xfffffffc),)]
    bad += [(good, prop(BRS, bytes(n))) for n in (1, 2, 3, 5, 8, 400)]
    bad += [(prop(BRS, words(0)), prop(RBSIZ, b"\x10" * n)) for n in (1, 2, 3, 5, 6, 7, 8)]
    before = counters()["server_errors"]
    for props in bad:
        xid = c.xid()
        refused(c.exchange(connprop(xid, *props)), BAD_XDR, xid=xid)
    for message in (connprop(1, good, count=2), connprop(1, good, count=0), connprop(1, good, count=0xffffffff),
                    connprop(1, good)[:-1], connprop(1, good) + words(0)):
        refused(c.exchange(message), BAD_XDR, xid=1)
    want(counters()["server_errors"] == before + len(bad) + 5, "not all are counted")
    # The defaults still apply: 4096 bytes
    want(len(c.nfs(READ3, read_args(b.file, 3000)).data) > 3000, "a bad property was applied")


# Covers: V2-PRP-04 V2-PRP-03 V2-EXT-02 V2-PRP-23
@case("v2-messages", "unknown properties are skipped, empty ones mean the default")
def unknown_properties(b):
    c = connect(b, prop(0x7777, b"\xbd" * 5), prop(BRS, b""), prop(0, b""), size(8192), prop(0xffffffff, bytes(33)))
    want(len(c.nfs(READ3, read_args(b.file, 7000)).data) > 7000, "RBSIZ is not applied")
    c = connect(b, prop(RBSIZ, b""))
    want(c.nfs(READ3, read_args(b.file, 7000)).proc == ERROR, "more than 4096 bytes")


# Covers: V2-TYP-12 V2-PRP-20
@case("v2-messages", "only the first CONNPROP is applied", "svc_rdma_connprop: rbsiz=65536 .*applied=0")
def second(b):
    c = connect(b, size(1024))
    for xid, value in ((9, 65536), (9, 4096), (0, 4096)):
        answer = c.exchange(connprop(xid, size(value)))
        want(answer and answer.proc == CONNPROP and answer.xid == xid and answer.flags == 1, "no answer")
    answer = c.nfs(READ3, read_args(b.file, 3000))
    want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "a later RBSIZ is applied")
    c.works()


# --- prefix and types ---------------------------------------------------------

# Covers: V2-TYP-15 V2-TYP-16 V2-EXT-01 V2-HDR-05 V2-ERR-09 V2-EXT-09
@case("v2-messages", "types 2, 3, 6 and others there are not", "svc_rdma_error: INVAL_HTYPE")
def types(b):
    c = connect(b)
    for first in (False, True):
        for htype in (2, 3, 6, 7, 0x80000000, 0xdeadbeef, 0xffffffff):
            xid = c.xid()
            refused(c.exchange(prefix(xid, htype) + bytes(40)), INVAL_HTYPE, xid=xid)
            want(c.exchange(prefix(xid, htype)).error == (INVAL_HTYPE,), "a prefix only")
        if not first:
            c = unheard(b)
    c.works()


@case("v2-messages", "unknown flags mean nothing")        # Covers: V2-HDR-14 V2-EXT-03
def flags(b):
    c = connect(b)
    want(results(c.nfs(NULL, b"", flags=0xfffffffe)).at == 24, "NULL")


# Covers: V2-HDR-13 V2-HDR-08 V2-HDR-12 V2-BC-05 V2-ERR-27 V2-TYP-13 V2-ERR-03 V1-ERR-23
@case("v2-messages", "F_RESPONSE and msg_type disagree; answers to nothing")
def directions(b):
    c = connect(b)
    xid = c.xid()
    refused(c.exchange(header2(xid) + rpc_reply(xid)), BAD_XDR, xid=xid)
    for message in (header2(xid, flags=1) + rpc_call(xid, NFS, 3, NULL), header2(xid, flags=1) + rpc_reply(xid),
                    prefix(xid, ERROR) + words(2), prefix(xid, ERROR, flags=1) + words(2),
                    prefix(xid, ERROR, flags=1) + words(7, 1), prefix(xid, ERROR, flags=1) + words(77),
                    connprop(xid, size(1024), flags=1), connprop(xid, size(1), flags=1),
                    prefix(xid, 77, flags=1), words(xid, 2, 1, ERROR, 1, 1, 1), words(xid, 1, 1, ERROR, 2),
                    words(xid, 3, 1, ERROR, 0, 7), words(xid, 3, 1, ERROR, 2)):
        c.conn.send(message)
        want(c.silent(), f"{message.hex()} is answered")
        c.works()


# Covers: V2-HDR-16 V2-HDR-01
@case("v2-messages", "every length of a header")
def lengths(b):
    c = connect(b)
    xid = c.xid()
    call = header2(xid) + rpc_call(xid, NFS, 3, NULL)
    for length in range(1, 20):
        # This message occupies a Receive until the server has dropped it. The Call that silent()
        # sends needs another one. A new client is granted two credits, so there are enough Receives.
        c.conn.send(call[:length])
        want(c.silent(), "a message without a prefix is answered")
    c.works()
    for length in range(20, 44):
        refused(c.exchange(call[:length]), BAD_XDR, xid=xid)
    refused(c.exchange(connprop(xid)[:20]), BAD_XDR, xid=xid)
    c.works()


# Covers: V2-TYP-06 V2-TYP-17 V2-CHK-02 V2-HDR-17
@case("v2-messages", "chunks and types that do not go together")
def forms(b):
    c = connect(b)
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, NULL)
    part = c.put(0, rpc)
    before = counters()
    for message in (header2(xid, reads=[(0, part)]) + rpc, header2(xid, proc=NOMSG), header2(xid, proc=NOMSG) + rpc,
                    header2(xid, proc=NOMSG, reads=[(0, part)]) + rpc, header2(xid) + rpc_call(xid + 1, NFS, 3, NULL),
                    header2(xid, reads=[(6, part)]) + rpc, header2(xid, reads=[(4000, part)]) + rpc,
                    header2(xid)[:24] + words(2, 0, 0) + rpc):
        refused(c.exchange(message), BAD_XDR, xid=xid)
    want(counters()["server_rdma_read_wrs"] == before["server_rdma_read_wrs"], "something is read")
    want(results(c.exchange(header2(xid, proc=NOMSG, reads=[(0, part)]))).at == 24, "a Call in a chunk")


# --- errors with data ---------------------------------------------------------

def many(c, reads=0, writes=0, segs=1, reply=0):
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, NULL)
    s = c.segment(0, 4)
    lists = {"reads": [(len(rpc) + 4 * i, s) for i in range(reads) for _ in range(segs)],
             "writes": [[s] * segs] * writes, "reply": [s] * reply if reply else None}
    return xid, c.exchange(header2(xid, **lists) + rpc)


# Covers: V2-ERR-11 V2-ERR-14 V2-ERR-16 V2-ERR-28 V2-CHK-02 V2-ERR-01
@case("v2-errors", "more chunks and segments than are taken", "svc_rdma_error: READ_CHUNKS",
      "svc_rdma_error: WRITE_CHUNKS", "svc_rdma_error: SEGMENTS", "svc_rdma_error: REPLY_RESOURCE")
def limits(b):
    needs_knobs()
    c = connect(b)
    before = counters()
    for lists, code, most in (({"reads": 16}, READ_CHUNKS, 15), ({"writes": 17}, WRITE_CHUNKS, 16),
                              ({"reads": 1, "segs": 65}, SEGMENTS, 64), ({"writes": 1, "segs": 65}, SEGMENTS, 64),
                              ({"reply": 65}, SEGMENTS, 64)):
        xid, answer = many(c, **lists)
        refused(answer, code, most, xid=xid)
    try:
        for knob, value, lists, code, most in (("max_reads", 0, {"reads": 1}, READ_CHUNKS, 0),
                                               ("max_reads", 1, {"reads": 2}, READ_CHUNKS, 1),
                                               ("max_writes", 1, {"writes": 2}, WRITE_CHUNKS, 1),
                                               ("max_writes", 0, {"writes": 2}, REPLY_RESOURCE, 8),
                                               ("max_segs", 1, {"reply": 2}, SEGMENTS, 1)):
            put(KNOBS + knob, value)
            xid, answer = many(c, **lists)
            refused(answer, code, most, xid=xid)
            put(KNOBS + knob, UNLIMITED)
        c.works()
    finally:
        for knob in ("max_reads", "max_writes", "max_segs"):
            put(KNOBS + knob, UNLIMITED)
    after = counters()
    want(after["server_rdma_read_wrs"] == before["server_rdma_read_wrs"], "something is read")
    want(after["server_errors"] == before["server_errors"] + 10, "not all errors are counted")


# Covers: V2-ERR-18 V2-ERR-20 V2-ERR-29 V2-PRP-13 V2-CHK-17 V2-CHK-14
@case("v2-errors", "results that do not fit", "svc_rdma_error: WRITE_RESOURCE")
def too_large(b):
    c = connect(b, size(1024))
    for offered, needed in ((3999, 4000), (1, 4096), (4, 100000)):
        chunk = c.segment(0, offered)
        refused(c.nfs(READ3, read_args(b.file, needed), inv=chunk.handle, writes=[[chunk]]), WRITE_RESOURCE, 1, needed)
        want(not c.invalidated, "an error invalidates a handle")
        answer = c.nfs(READ3, read_args(b.file, needed), writes=[[c.segment(0, needed)]])
        results(answer)
        want(c.get(0, needed) == DATA[:needed], "the data")
    for offer in (None, 8):
        reply = None if offer is None else [c.segment(0, offer)]
        answer = c.nfs(READDIRPLUS, readdir_args(b, 4000), reply=reply)
        want(answer.proc == ERROR and answer.error[0] == REPLY_RESOURCE, "no error")
        needed = answer.error[1]
        refused(c.nfs(READDIRPLUS, readdir_args(b, 4000), reply=[c.segment(0, needed - 1)]), REPLY_RESOURCE, needed)
        answer = c.nfs(READDIRPLUS, readdir_args(b, 4000), reply=[c.segment(0, needed)])
        want(answer.proc == NOMSG and answer.reply[0].length == needed, "what was said to be needed is not")
    c.works()


# Covers: V2-ERR-18
@case("v2-errors", "the first of several Write chunks that is too small", "svc_rdma_error: WRITE_RESOURCE")
def which_chunk(b):
    c = connect(b)
    sizes = (600, 5000, 333)
    call = compound(PUTROOTFH, op_lookup("client"), op_lookup("file"),
                    *(op_read(n, 1000 * i) for i, n in enumerate(sizes)))
    for offered, first in (((600, 4999, 333), 2), ((600, 4999, 332), 2), ((600, 5000, 332), 3), ((600, 5000, 0), 3),
                           ((599, 4999, 332), 1), ((1000, 1, 1), 2)):
        c.wipe()
        chunks = [[c.segment(10000 * i, n)] for i, n in enumerate(offered)]
        refused(c.nfs(1, call, vers=4, writes=chunks), WRITE_RESOURCE, first, sizes[first - 1])
        for i, n in enumerate(offered):
            want(c.get(10000 * i + n, 100) == b"\xee" * 100, f"{offered}: memory behind chunk {i + 1} is written")
    answer = c.nfs(1, call, vers=4, writes=[[c.segment(10000 * i, n)] for i, n in enumerate(sizes)])
    want(results(answer).word() == 0 and [s.length for chunk in answer.writes for s in chunk] == list(sizes),
         f"returned {answer.writes}")


@case("v2-errors", "something is short", "svc_rdma_error: SYSTEM")      # Covers: V2-ERR-23
def system(b):
    needs_knobs()
    c = connect(b)
    fault("server_fail", 2)
    for _ in range(2):
        refused(c.nfs(NULL, b""), SYSTEM)
    c.works()
    b.fresh().works()


# --- flow control -------------------------------------------------------------

# With $ALL, 100000 messages are sent, which takes long. Without it, 5000 are sent.
@case("v2-flow", "an error gives its credit back, however many there are")  # Covers: V2-CRD-01 V2-CRD-03 V2-CRD-06
def credits(b):
    c = connect(b, count=300)
    c.credit = 128
    window = c.nfs(NULL, b"").credit
    xid, count = c.xid(), 100000 if os.environ.get("ALL") else 5000
    # Calls that are refused before or after their RPC header is read, and messages that are not Calls
    odd = (c.header(xid) + rpc_call(xid + 1, NFS, 3, NULL), prefix(xid, 6), connprop(xid, size(1)),
           c.header(xid, reads=[(4000, c.segment(0, 4))]) + rpc_call(xid, NFS, 3, NULL))
    sent, found = 0, collections.Counter()
    for got in range(count):
        while sent < min(got + window, count):
            c.conn.send(odd[sent % 4])
            sent += 1
        answer = c.receive()
        want(answer, f"error {got} of {count} does not come, of {sent - got} under way")
        want(answer.credit >= window, f"{answer.credit} granted in error {got}, after {window}")
        found[answer.error] += 1
    want(found == {(BAD_XDR,): count // 4 * 3, (INVAL_HTYPE,): count // 4}, f"answers: {found}")
    want(c.silent(), "more answers than messages")
    # All credits can still be used.
    waiting = {c.xid() for _ in range(window)}
    for xid in waiting:
        c.conn.send(c.header(xid, credit=128) + rpc_call(xid, NFS, 3, NULL))
    while waiting:
        answer = c.receive()
        want(answer and not waiting.discard(answer.xid), f"{len(waiting)} of {window} Calls are not answered")
    c.works()


# Covers: V2-CRD-05 V2-CRD-02
@case("v2-flow", "CONNPROPs in a full window, again and again", "svc_rdma_credits")
def window(b):
    c = connect(b, count=400)
    c.credit = 2
    # Use a valid file handle. Otherwise the client would get no more credits than at the beginning
    # (except on 6.1, whose nfsd does not tell which clients have used a handle).
    want(len(c.nfs(READ3, read_args(b.file, 100)).data) > 100, "READ")
    granted = first = c.nfs(NULL, b"").credit
    for _ in range(8):
        want(1 < granted <= 400, f"{granted} granted")
        waiting = set()
        with slow("nfsd"):
            for i in range(granted + 2):
                xid = c.xid()
                waiting.add(xid)
                if i < granted:
                    c.conn.send(header2(xid, credit=granted + 8) + rpc_call(xid, NFS, 3, NULL))
                else:
                    c.conn.send(connprop(xid, size(16384)))
        while waiting:
            answer = c.receive()
            want(answer, f"{len(waiting)} of {granted} are not answered")
            waiting.remove(answer.xid)
            if answer.proc == MSG:
                granted = answer.credit
    want(granted > first, "the grant does not grow")


@contextlib.contextmanager
def frozen():
    """While ICE is frozen, a process that writes to it waits."""
    subprocess.run(["fsfreeze", "-f", ICE], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", ICE], check=True)


def setattr_args(handle):
    """Set the access time to the server's time."""
    return opaque(handle) + words(0, 0, 0, 0, 1, 0, 0)


def shown(rbsiz):
    """The debugfs values of the client with this RBSIZ, while it is connected"""
    return next((s for s in connections() if s["rbsiz"] == str(rbsiz) and s["state"] == "up"), {})


def at_rest(c, rbsiz):
    """The debugfs values of client @c, which announced this RBSIZ, when the server holds no message of this
    client any more"""
    found = {}

    def is_at_rest():
        found.update(shown(rbsiz))
        return found.get("receives_held") == "0"
    want(c.verbs.until(is_at_rest), f"not all Receives are given back: {found}")
    return found


def open_window(c, rbsiz):
    """Use all credits until the grant no longer rises. Returns the number of credits."""
    end = time.monotonic() + 60
    while (s := at_rest(c, rbsiz))["credits_granted"] != s["credits_max"]:
        want(time.monotonic() < end, f"only {s['credits_granted']} of {s['credits_max']} are granted")
        waiting = {c.xid() for _ in range(int(s["credits_granted"]))}
        for xid in waiting:
            c.conn.send(c.header(xid, credit=c.credit) + rpc_call(xid, NFS, 3, NULL))
        while waiting:
            answer = c.receive()
            want(answer and not waiting.discard(answer.xid), f"{len(waiting)} Calls are not answered")
    return int(s["credits_max"])


def called_often(c, count):
    """Make the server send @count callbacks, and return them. None of them is answered yet."""
    names = fresh_names(count + 1)
    for name in names:
        delegation(c, name)
    recall(*names)
    first = c.callback()
    want(first, "no callback")
    c.conn.send(answer_of(c, first, count))
    found = [c.callback() for _ in range(count)]
    want(all(found), f"fewer than {count} callbacks")
    return found


def fewest(c, rbsiz):
    """The smallest number of Receives that the server ever has posted for this client. Receives are posted
    again in batches, so their number goes up and down. Make Calls until the number is the smallest again."""
    def posted():
        c.works()
        return int(at_rest(c, rbsiz)["receives_posted"])
    least = min(posted() for _ in range(20))
    want(any(posted() == least for _ in range(20)), f"{least} Receives are posted once only")
    return least


# The client sends all messages that it may send, without a pause, while as few Receives are posted
# as possible. No Receive is posted again until all messages have arrived, because the server's
# threads wait for a frozen file system. If a Receive were missing, the connection would end: the
# server's RNR retry count of 0 tells the client's device not to retry, and iWARP has no such
# retries.
# Covers: V2-CRD-05 V2-CRD-07 V2-CRD-02 BC-08
@case("v2-flow", "a full window of Calls, one of callbacks, and two CONNPROPs at once")
def all_at_once(b):
    rbsiz = 12288
    c = connect(b, size(rbsiz), count=400)
    c.credit = 400
    call = setattr_args(c.lookup(root_handle(ICE), "data"))
    granted = open_window(c, rbsiz)
    callbacks = called_often(c, 16)
    before = counters()
    posted = fewest(c, rbsiz)
    waiting = {c.xid(): MSG for _ in range(granted)}
    messages = [c.header(xid, credit=400) + rpc_call(xid, NFS, 3, SETATTR3, call, AUTH_ROOT) for xid in waiting]
    messages += [answer_of(c, message, 16) for message in callbacks]
    for _ in range(2):
        xid = c.xid()
        waiting[xid] = CONNPROP
        messages.append(connprop(xid, size(rbsiz)))
    print(f"# {len(messages)} messages for {posted} Receives")
    with frozen():
        for message in messages:
            c.conn.send(message)
        c.verbs.until(lambda: c.conn.lost or shown(rbsiz).get("receives_held") == str(len(messages)))
        want(not c.conn.lost, f"{len(messages)} messages, but {posted} Receives: the connection is lost")
        held = shown(rbsiz).get("receives_held")
        want(held == str(len(messages)), f"of {len(messages)} messages, {held} wait")
    while waiting:
        answer = c.receive()
        want(answer, f"{len(waiting)} are not answered")
        kind = waiting.pop(answer.xid)
        want(answer.proc == kind, f"answered with type {answer.proc}, not {kind}")
        if kind == MSG:
            want(results(answer).word() == 0, "SETATTR")

    # nfsd may have given up some of the callbacks. Their late answers are dropped.
    def ended():
        after = counters()
        return sum(after[name] - before[name] for name in ("server_bc_replies", "server_bc_dropped")) >= 16
    want(c.verbs.until(ended), "answers to callbacks are not taken")
    c.works()


# Messages beyond the credits use the Receives that are there for batches, until no Receive is left. A client that has
# just connected has 2 credits. One that has used a file handle gets more. Its Calls wait for a frozen file system, so
# that no Receive is posted again. The server may not end this connection, because all its threads wait. The client knows
# by its failed Sends that no Receive was left.
@case("v2-flow", "a flood")       # Covers: V2-CRD-12
def flood(b):
    rbsiz = 12288
    floods(connect(b, count=500), lambda xid: connprop(xid, size(4096)))
    c = connect(b, size(rbsiz), count=500)
    c.credit = 400
    call = setattr_args(c.lookup(root_handle(ICE), "data"))
    open_window(c, rbsiz)
    with frozen():
        floods(c, lambda xid: c.header(xid, credit=400) + rpc_call(xid, NFS, 3, SETATTR3, call, AUTH_ROOT))
    connect(b).works()


def floods(c, message):
    seen = counters()["server_receives"] + 400
    sends = [c.conn.send(message(i)) for i in range(400)]
    want(c.verbs.until(lambda: c.conn.lost or any(map(c.conn.finished.get, sends)) or
                       counters()["server_receives"] >= seen), "it is neither taken nor the connection lost")
    c.conn.close()


# --- sizes --------------------------------------------------------------------

# Covers: V2-PRP-10 V2-INL-03 V2-INL-05
@case("v2-flow", "WRITEs inline, up to the last byte of what was announced")
def inline(b):
    c = connect(b)
    room = 16384 - 36
    before = counters()
    for length in (1, 4096, 8192, 12000):
        b.fresh()
        args = write_args(b, length) + DATA[:length] + bytes(-length % 4)
        want(results(c.nfs(WRITE3, args)).word() == 0, "WRITE")
        b.target_is(DATA[:length], f"WRITE of {length}")
    want(counters()["server_calls_inline"] >= before["server_calls_inline"] + 4 and
         counters()["server_rdma_read_wrs"] == before["server_rdma_read_wrs"], "not inline")
    b.fresh()
    length = room - len(rpc_call(0, NFS, 3, WRITE3, write_args(b, 0), AUTH_ROOT))
    length -= length % 4
    want(results(c.nfs(WRITE3, write_args(b, length) + DATA[:length])).word() == 0, "WRITE")
    b.target_is(DATA[:length], "the largest WRITE")


@case("v2-flow", "4096 bytes for a server that announces 1024")      # Covers: V2-INL-04 V2-PRP-22
def least(b):
    put("/sys/module/rpcrdma/parameters/v2_max_req_size", 1024)
    try:
        c = unheard(b)
        answer = c.exchange(connprop(c.xid()))
        want(answer.props[RBSIZ] == words(1024), f"it announces {answer.props}")
        for _ in range(20):
            xid = c.xid()
            message = header2(xid) + rpc_call(xid, NFS, 3, NULL)
            want(results(c.exchange(message + bytes(4096 - len(message)))).at == 24, "NULL")
    finally:
        put("/sys/module/rpcrdma/parameters/v2_max_req_size", 16384)


# Covers: V2-INL-02 V2-PRP-13 V2-PRP-14 V2-PRP-24
@case("v2-flow", "Replies of the size the client announced, and not larger")
def announced(b):
    for value in (1024, 4096, 16384, 65536, 0xffffffff):
        c = connect(b, size(value))
        most = min(value, 65536)
        fits, exceeds = most - 256, most
        answer = c.nfs(READ3, read_args(b.file, fits), reply=[c.segment(0, 65536)])
        want(answer.proc == MSG and answer.reply[0].length == 0, f"{value}: not short though it fits")
        want(answer.body.endswith(DATA[:fits]), f"{value}: the data")
        refused_one = c.nfs(READ3, read_args(b.file, exceeds))
        want(refused_one.proc == ERROR and refused_one.error[0] == REPLY_RESOURCE, f"{value}: too large a Reply")
        answer = c.nfs(READ3, read_args(b.file, exceeds), reply=[c.segment(0, 131072)])
        want(answer.proc == NOMSG, f"{value}: not in the Reply chunk")
        c.works()


# In version 1, the R bit of the private data and the number of handles decide whether the server
# invalidates. In version 2, the server invalidates the handle in rdma_inv_handle if one of the
# Call's segments has this handle.
# Covers: V2-CHK-06 V2-CHK-13 V2-CHK-16
@case("v2-flow", "no handle to invalidate, and one that is in no segment", "svc_rdma_stray_handle: handle=0xdeadbeef")
def handles(b):
    before = counters()
    for data in (PLAIN, private(), b""):
        c = connect(b, data=data)
        for inv in (0, 0xdeadbeef):
            answer = c.nfs(READ3, read_args(b.file, 4000), inv=inv, writes=[[c.segment(0, 4000)]])
            results(answer)
            want(not c.invalidated, f"{c.invalidated:#x} is invalidated")
        c.conn.close()
    after = counters()
    want(after["server_sends_inv"] == before["server_sends_inv"], "sent with invalidation")


# The server invalidates the handle that the client offers, and no other one, whatever the private data are. Some
# providers cannot invalidate memory that was registered in user space; with rxe, the Reply is then lost. So the
# case looks at the server's trace.
# Covers: V2-CHK-07 V2-CHK-16
@case("v2-flow", "one of several handles to invalidate", "svc_rdma_reply: .* inv=0x0*[1-9a-f]")
def one_handle(b):
    before = counters()["server_sends_inv"]
    for data, which in ((PLAIN, 0), (PLAIN, 1), (PLAIN, 2), (b"", 1), (private(), 2)):
        c = connect(b, data=data)
        c.wipe()
        with regions(b.verbs, 3) as handles:
            chunk = [c.segment(10000 * i, 1000)._replace(handle=h) for i, h in enumerate(handles)]
            xid = c.xid()
            c.conn.send(header2(xid, inv=handles[which], writes=[chunk]) +
                        rpc_call(xid, NFS, 3, READ3, read_args(b.file, 2500), AUTH_ROOT))
            want(b.verbs.until(lambda x=xid: b.trace.seen("svc_rdma_reply", f"xid=0x{x:08x} ")), "no Reply")
            seen = b.trace.seen("svc_rdma_reply", f"xid=0x{xid:08x} ")
            want(len(seen) == 1 and f" inv=0x{handles[which]:08x} " in seen[0], f"not {handles[which]:#x}: {seen}")
            want(b.verbs.until(lambda c=c: c.get(0, 1000) + c.get(10000, 1000) + c.get(20000, 500) == DATA[:2500]),
                 "wrong data")
            c.conn.close()
    want(counters()["server_sends_inv"] == before + 5, "not counted")


# --- callbacks ----------------------------------------------------------------

def called(b, *hello):
    """Connect a client with these properties, and make the server send it a callback. Returns (client,
    callback)."""
    c = connect(b, *hello)
    name = fresh_names(1)[0]
    delegation(c, name)
    recall(name)
    message = c.callback()
    want(message, "no callback")
    want(message.vers == 2 and message.flags == 0 and message.inv == 0, f"prefix: {message.data[:24].hex()}")
    want(message.data[24:36] == bytes(12), "a callback with chunks")
    return c, message


def grown(before, name, count=1):
    return lambda: counters()[name] >= before[name] + count


# Covers: V2-BC-01 V2-BC-03 V2-BC-06 V2-HDR-07 V2-CRD-07 V2-PRP-15
@case("v2-callbacks", "a callback and its answer")
def callback(b):
    for hello in ((), (size(16384),), (size(1024), prop(BRS, words(1))), (prop(BRS, words(2)),)):
        before = counters()
        c, message = called(b, *hello)
        # A Call of the client may have the same XID as the callback.
        want(results(c.nfs(NULL, b"", xid=message.xid)).at == 24, "NULL")
        c.conn.send(answer_of(c, message, 16))
        want(b.verbs.until(grown(before, "server_bc_replies")), "its answer is not taken")
        c.works()


# Covers: V2-BC-09 V2-ERR-08 V2-ERR-10 V2-ERR-24 V2-ERR-25 V2-ERR-26 V2-HDR-13 V2-HDR-12
@case("v2-callbacks", "errors and bad answers end it, and nothing else", "svc_rdma_bc_error",
      "svc_rdma_bc_drop: status=-2$")
def callback_errors(b):
    not_on_6_1("nfsd of 6.1 does not send a callback again")
    for bad in (words(2), words(3), words(9), words(4, 0), words(77), words(4), None):
        c, message = called(b, size(16384))
        before = counters()
        c.conn.send(prefix(message.xid + 1, ERROR, flags=1) + words(2))
        c.conn.send(prefix(message.xid, ERROR) + words(2))
        if bad:
            c.conn.send(prefix(message.xid, ERROR, flags=1) + bad)
        else:
            c.conn.send(header2(message.xid, flags=1) + rpc_call(message.xid, NFS, 3, NULL))
        want(c.silent(), "it is answered")
        c.works()
        dropped = counters()["server_bc_dropped"]
        c.conn.send(answer_of(c, message, 16))
        want(b.verbs.until(lambda n=dropped: counters()["server_bc_dropped"] > n), "somebody waits for it still")
        want(counters()["server_bc_replies"] - before["server_bc_replies"] <= 1, "more than one is taken")
        # nfsd sends the callback again. Errors and dropped answers grant nothing, so there is only one credit
        # for callbacks, which must be free again.
        again = c.callback()
        want(again, "its credit is not free again")
        c.conn.send(answer_of(c, again, 16))
        c.works()


# Covers: V2-ERR-02 V2-BC-09
@case("v2-callbacks", "an error grants nothing", "svc_rdma_bc_error")
def ungranted(b):
    c = connect(b, size(16384))
    names = fresh_names(3)
    for name in names:
        delegation(c, name)
    recall(*names)
    message = c.callback()
    want(message and not c.callback(1), "no callback, or two before the first grant")
    c.conn.send(prefix(message.xid, ERROR, credit=0xffffffff, flags=1) + words(2))
    message = c.callback()
    want(message and not c.callback(1), "no callback, or two after an error")
    while message:
        c.conn.send(answer_of(c, message, 1))
        message = c.callback()
    c.works()


# Covers: V2-BC-02 V2-PRP-17 V2-PRP-15
@case("v2-callbacks", "a client that takes none", "svc_rdma_bc_unwanted")
def no_callbacks(b):
    c = connect(b, prop(BRS, words(0)))
    session = Session(c)
    # nfsd then knows that there is no backchannel. It must grant no delegation, because it could
    # not recall the delegation.
    want(b.verbs.until(lambda: session.callback_state() == "DOWN"), f"callbacks are {session.callback_state()}")
    for name in fresh_names(2):
        want(not session.opens(name), "there is a delegation to be called back")
    want(not c.callback(1), "it is called")
    c.works()


if __name__ == "__main__":
    if sys.argv[1] == "leave":
        leave(Client2)
    put(SETTING, 2)
    try:
        # Sets that also exist for version 1 use clients of version 2.
        status = main(Client if sys.argv[1].startswith("v2-") else Client2)
    finally:
        put(SETTING, 1)
    sys.exit(status)
