# SPDX-License-Identifier: GPL-2.0
"""An NFS server over RDMA that breaks rules, to test our client.

usage: hostile_server.py SET [part of a name]

It is a proxy of an honest server (proxy.py), unless a case sends its own answers. After each case, a mount of
an honest server on the same host must work.

Cases for both versions are written with messages of version 1. hostile_server_v2.py runs them again, and
translates the messages to version 2.

Prints "ok NAME" or "not ok NAME: reason" for each case of the set. The status is 1 if one failed. Needs
peer.py's library and a server on ADDRESS that exports /export.
"""
import contextlib
import functools
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
import traceback

import events
import sets
from peer import (AUTH_ROOT, DONE, ERR_CHUNK, ERR_VERS, MSG, MSGP, NOMSG, READ, READ_CHUNKS, UNLIMITED, WRITE,
                  Failure, Reader, Segment, error, fault, fill, header, only_own_memory, private, put,
                  rpc_call, rpc_reply, want, words)
from proxy import (DATA, EXPORT, HONEST, INLINE, MNT, NFS, NFSACL, OTHER_EVENTS, READ3, READDIR, READDIRPLUS, SHARED,
                   SMALL, V41, WRITE3, Server, do_honest, do_list, do_read, do_stat, do_symlink, do_write,
                   transport_infos, transports)
from sets import BOTH, NOT_SIW

CALLBACK = 0x40000000
case = functools.partial(sets.case, vers=(1,))


# --- replies ------------------------------------------------------------------

@case("replies", "an honest proxy")
def honest(s):
    s.works()
    s.reads(1 << 20)
    want(s.do(do_write, DATA[:300001], "new") == 300001, "WRITE")
    with open(EXPORT + "/new", "rb") as f:
        want(f.read() == DATA[:300001], "what was written is not what the server has")
    want(s.do(do_list) == 300, "READDIR")
    want(s.do(do_symlink, "x" * 900, os.urandom(4).hex()) == "x" * 900, "SYMLINK")
    s.kept()


@case("replies", "a Reply twice", "xprt_rdma_unknown_xid", vers=BOTH)           # Covers: V1-ERR-19
def twice(s):
    for _ in range(50):
        op = s.user(do_read, 8192)
        call = s.next(READ3)
        body, writes = call.reduce(call.forward())
        call.send(body, writes=writes)
        call.send(body, writes=writes)
        s.reads(8192, op=op)
    s.counts("client_unknown_xids", 50, "second Replies are not counted")
    s.kept()


@case("replies", "Replies nobody waits for", vers=BOTH)        # Covers: V1-ERR-19
def unknown(s):
    op, call = s.small()
    s.pour(call.conn, [header(xid, credit=1) + rpc_reply(xid)
                       for xid in (call.xid ^ i << 8 for i in range(1, 401))])
    call.respond()
    s.reads(100, op=op)
    s.counts("client_unknown_xids", 400)
    s.works()
    s.kept()


# Covers: V1-ERR-14 V1-CRD-25 BC-18
@case("replies", "short messages", "xprt_rdma_discard", mount=False)
def short(s):
    s.credit = 1
    s.mount(SMALL)
    s.works()
    op, call = s.small()
    reply = header(call.xid, credit=0xffffffff) + rpc_reply(call.xid)
    s.pour(call.conn, [reply[:length] for length in range(1, 28)])
    s.pour(call.conn, [error(call.xid, credit=0xffffffff)[:length] for length in range(1, 20)])
    s.quiet()
    s.counts("client_bad_messages", 46)
    want(not op.ready(), "a short message ends an RPC")
    call.respond()
    s.reads(100, op=op)
    # If the client had used the credit words of these messages, it would now send many Calls at
    # once. It may send only one.
    op = s.user(do_write, DATA[:65536], "window")
    s.gather(1, WRITE3)[0].respond()
    want(s.finish(op) == 65536, "WRITE")
    s.kept()


@case("replies", "wrong versions")          # Covers: V1-ERR-10
def versions(s):
    for vers in (0, 2, 3, 0xffffffff):
        op, call = s.small()
        call.send(call.forward(), vers=vers)
        s.fails(op, call.xid)
    want(s.counted("client_bad_messages") == 4, "not all are counted")
    s.works()
    s.kept()


@case("replies", "RDMA_MSGP, RDMA_DONE, unknown types")     # Covers: V1-DEP-02 V1-DEP-05 V1-ERR-17 EXP-32
def types(s):
    op, call = s.small()
    s.pour(call.conn, [words(call.xid, 1, 1, DONE)] * 1000)
    call.conn.send(words(call.xid, 1, 32, MSGP, 64, 256, 0, 0, 0) + call.forward())
    s.reads(100, op=op)
    for proc in (5, 0x7fffffff, 0xffffffff):
        op, call = s.small()
        call.send(call.forward(), proc)
        s.fails(op, call.xid)
    want(s.counted("client_bad_replies") == 3, "not all are counted")
    s.works()
    s.kept()


# Covers: V1-ERR-12 V1-ERR-13 V1-ERR-18 V1-ERR-23
@case("replies", "errors of all kinds", "xprt_rdma_error_reply")
def errors(s):
    messages = (error(0), error(0, ERR_VERS, rest=words(1, 1)), error(0, ERR_VERS, rest=words(2, 9)),
                error(0, ERR_VERS, vers=2, rest=words(1, 1)), error(0, 0), error(0, 3), error(0, 0xffffffff),
                error(0, ERR_VERS), error(0, ERR_CHUNK, rest=bytes(100)))
    for message in messages:
        op, call = s.small()
        call.conn.send(words(call.xid) + message[4:])
        s.fails(op, call.xid)
        call.conn.send(words(call.xid) + message[4:])
    # This RPC has a chunk. Before the RPC ends, the client must end the server's access to the
    # memory of the chunk.
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    call.conn.send(error(call.xid))
    s.fails(op, call.xid)
    want(s.counted("client_error_replies") + s.counted("client_bad_replies") >= len(messages), "not all are counted")
    s.works()
    want(not s.backward, "an error was answered")
    s.kept()


# Covers: V1-ERR-10 V1-RPL-09 V1-DEP-06 V1-ERR-01 EXP-29
@case("replies", "malformed headers", "xprt_rdma_bad_reply", vers=BOTH)
def malformed(s):
    one = [Segment(1, 8, 4096)]

    def variants(xid, reply):
        yield words(xid, 1, 32, MSG, 2, 0, 0) + reply
        yield words(xid, 1, 32, MSG, 0, 2, 0) + reply
        yield words(xid, 1, 32, MSG, 0, 0, 2) + reply
        yield words(xid, 1, 32, MSG, 0, 0, 0xffffffff) + reply
        yield words(xid, 1, 32, MSG, 0, 1, 0xffffffff) + reply
        yield words(xid, 1, 32, MSG, 0, 1, 0x10000001, 0, 0) + reply
        yield words(xid, 1, 32, MSG, 0, 0, 1, 0xffffffff) + reply
        yield words(xid, 1, 32, MSG, 1, 0, 1)
        yield header(xid, reads=[(0, one[0])]) + reply
        yield header(xid, reads=[(4, one[0])]) + reply
        yield header(xid, writes=[one]) + reply
        yield header(xid, writes=[[Segment(1, 0xffffffff, 0), Segment(1, 2, 0)]]) + reply
        yield header(xid, writes=[one] * 17) + reply
        yield header(xid, reply=one) + reply
        yield header(xid, reply=[Segment(1, 0, 0)]) + reply
        yield header(xid)
        yield header(xid) + reply[:4]
        yield header(xid) + words(xid + 1) + reply[4:]
        yield header(xid, NOMSG)
        yield header(xid, NOMSG) + reply
        yield header(xid, NOMSG, reply=[]) + reply
        yield header(xid, NOMSG, reply=one)
        yield header(xid, NOMSG, reads=[(0, one[0])])

    count = len(list(variants(0, bytes(64))))
    for i in range(count):
        op, call = s.small()
        call.conn.send(list(variants(call.xid, call.forward()))[i])
        try:
            s.fails(op, call.xid)
        except Failure as e:
            raise Failure(f"variant {i}: {e}") from None
    want(s.counted("client_bad_replies") == count, "not all are counted")
    s.works()
    s.kept()


# Covers: V1-ERR-10 V1-ERR-01 EXP-29
@case("replies", "a header that is cut off", "xprt_rdma_bad_reply")
def cut_off(s):
    lists = {"writes": [[Segment(1, 8, 4096), Segment(2, 8, 8192)], [Segment(3, 4, 0)]], "reply": [Segment(4, 4, 0)] * 2}
    whole = header(0, **lists)
    for length in range(28, len(whole)):
        op, call = s.small()
        call.conn.send(header(call.xid, **lists)[:length])
        try:
            s.fails(op, call.xid)
        except Failure as e:
            raise Failure(f"{length} of {len(whole)} bytes: {e}") from None
    s.counts("client_bad_replies", len(whole) - 28)
    s.works()
    s.kept()


# Send more Replies than the client has Receives, and faster than it posts them again. The connection may be lost.
@case("replies", "a flood of Replies", vers=BOTH)          # Covers: V1-ERR-19
def deluge(s):
    op, call = s.small()
    conn = call.conn
    for i in range(2000):
        if conn.closed or conn.lost:
            break
        conn.send(header(call.xid ^ (i + 1) << 8, credit=1) + rpc_reply(call.xid ^ (i + 1) << 8))
    s.serve(lambda: conn.closed, 2)
    s.log(f"deluge: {s.counted('client_unknown_xids')} of {i + 1} have come, lost: {conn.closed}")
    if not conn.closed:
        call.respond()
    s.reads(100, op=op)
    s.works()


@case("replies", "random headers", vers=BOTH)          # Covers: MEM-05 V1-ERR-01 EXP-29
def fuzz(s):
    rng = random.Random(20049)
    for i in range(40):
        op = s.user(do_read, 8192)
        call = s.next(READ3)
        body, writes = call.reduce(call.forward())
        good = s.encode(header(call.xid, writes=writes, credit=32))
        bad = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 8))):
            bad[rng.randrange(4, len(bad))] = rng.choice((0, 1, 0xff, rng.randrange(256)))
        call.conn.plain(bytes(bad[:rng.choice((len(bad), len(bad), rng.randrange(len(bad)))) ]) + body)
        s.pour(call.conn, [rng.randbytes(rng.randrange(1, 300)) for _ in range(10)], call.conn.plain)
        call.conn.plain(good + body)
        result = s.finish(op)
        want(result == "EIO" or isinstance(result, int), f"READ {i} returns {result}")
        if isinstance(result, int):
            want(SHARED[:result] == DATA[:result], f"READ {i} brings wrong data")
        want(SHARED[8192:12288] == b"\x55" * 4096, f"READ {i} writes behind its buffer")
    s.works()
    s.kept()


# --- memory -------------------------------------------------------------------

def read_variants(s, size, make, outcome):
    """Do a READ of @size bytes. make(call, reply body, its Write list) sends the answer."""
    op = s.user(do_read, size)
    call = s.next(READ3)
    want(len(call.writes) == 1 and sum(x.length for x in call.writes[0]) == s.room(size),
         f"the Call offers {call.writes}")
    body, writes = call.reduce(call.forward())
    make(call, body, writes)
    outcome(op, call)


# Covers: V1-WRC-13 V2-CHK-02
@case("memory", "returned Write lists that are not what was offered", vers=BOTH)
def returned(s):
    def lie(change):
        def make(call, body, writes):
            call.send(body, writes=change(writes))
        read_variants(s, 8192, make, lambda op, call: s.fails(op, call.xid))

    lie(lambda w: [[w[0][0]._replace(length=8193)]])
    lie(lambda w: [[w[0][0]._replace(length=0xffffffff)]])
    lie(lambda w: [w[0] + [w[0][0]._replace(length=0)]])
    lie(lambda w: w + w)
    lie(lambda w: w + [[]])
    lie(lambda w: [w[0] * 2])
    want(s.counted("client_bad_replies") == 6, "not all are counted")
    # The client does not use handles and offsets of a returned chunk (G-35).
    read_variants(s, 8192, lambda call, body, w: call.send(body, writes=[[Segment(1, 8192, 2)]]),
                  lambda op, call: s.reads(8192, op=op))
    s.works()
    s.kept()


@case("memory", "less in the chunk than in the result", vers=BOTH)     # Covers: V1-WRC-13 ULB-18
def cheat(s):
    def outcome(op, _):
        result = s.finish(op)
        want(result == "EIO" or (isinstance(result, int) and result <= 8192 and SHARED[:result] == DATA[:result]),
             f"READ returns {result} and data that was not sent")
    read_variants(s, 8192, lambda call, body, w: call.send(body, writes=[fill(w[0], 5000)]), outcome)
    read_variants(s, 8192, lambda call, body, w: call.send(body, writes=[fill(w[0], 0)]),
                  lambda op, call: s.finish(op))
    s.works()


# Covers: V1-UNU-04 EXP-18 EXP-17 V2-CHK-02
@case("memory", "Write lists after a READ that failed", vers=BOTH)
def unused(s):
    denied = words(13, 0)
    for form in (lambda w: [fill(w[0], 0)], lambda w: w, lambda w: [[]], lambda w: []):
        op = s.user(do_read, 8192)
        call = s.next(READ3)
        call.send(rpc_reply(call.xid, denied), writes=form(call.writes))
        s.fails(op, call.xid, "EACCES")
    want(s.counted("client_bad_replies") == 0, "a form was refused")
    s.works()
    s.kept()


@case("memory", "junk in a chunk that is then not used", vers=BOTH)    # Covers: V1-UNU-03 ULB-18 EXP-19
def junk(s):
    op = s.user(do_read, 3000 + 1096)
    call = s.next(READ3)
    reply = bytearray(call.forward())
    at, length = call.item(reply)
    call.push(call.writes[0], b"\xbd" * length)
    # Send the result inline instead, shortened so that it fits
    reply[at - 12:at] = words(3000, 0, 3000)
    call.send(bytes(reply[:at + 3000]), writes=[fill(call.writes[0], 0)])
    result = s.finish(op)
    want(result == 4096 and SHARED[:4096] == DATA[:4096], f"READ returns {result}, or junk")
    s.kept()


@case("memory", "roundup in a Write chunk, or none", vers=BOTH)        # Covers: V1-WPD-07 EXP-15 V2-CHK-17
def roundup(s):
    for size in (5001, 5002, 8191):
        for pad in (b"", b"\xff" * (-size % 4)):
            op = s.user(do_read, size)
            call = s.next(READ3)
            room = sum(x.length for x in call.writes[0])
            want(room == s.room(size), f"room for {room} bytes in a READ of {size}")
            body, writes = call.reduce(call.forward(), pad)
            call.send(body, writes=writes)
            s.reads(size, op=op)
    s.kept()


# The client estimates how long the part before the data is. First the verifier is longer than in earlier Replies.
# Then this part is longer than the memory that the client has for it.
@case("memory", "a head that is longer than expected", vers=BOTH)      # Covers: ULB-18
def long_head(s):
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    body, writes = call.reduce(call.forward())
    call.send(body[:12] + words(2, 64) + bytes(64) + body[20:], writes=writes)
    s.reads(8192, op=op)
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    body, writes = call.reduce(call.forward())
    call.send(body + bytes(3000), writes=writes)
    s.fails(op, call.xid)
    want(s.counted("client_bad_replies") == 1, "it is not counted")
    s.works()
    s.kept()


@case("memory", "a Write after the Reply", "xprt_rdma_fence", vers=BOTH)  # Covers: MEM-03 V1-RDC-12
def late_write(s):
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    target, conn = call.writes[0][0], call.conn
    call.respond()
    s.reads(8192, op=op)
    want(conn.refused(target, WRITE, 8192), "memory can be written after the Reply")
    s.holds(8192)
    s.works()
    s.replaced()


# Covers: MEM-03 V1-CRD-21
@case("memory", "a Write after the Reply that invalidated", only=NOT_SIW, vers=BOTH)
def late_write_invalidated(s):
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    target, conn = call.writes[0][0], call.conn
    body, writes = call.reduce(call.forward())
    call.send(body, writes=writes, invalidate=target.handle)
    s.reads(8192, op=op)
    want(s.counted("client_mrs_remote_inv") == 1, "the invalidation was not seen")
    want(conn.refused(target, WRITE, 8192), "memory can be written after the Reply")
    s.holds(8192)
    s.works()


# The in-tree server invalidates without announcing it, too. Covers: V1-CRD-33
@case("memory", "a server that invalidates and has not said so", mount=False, only=NOT_SIW)
def unannounced(s):
    s.private = private(remote_inv=False)
    s.mount()
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    body, writes = call.reduce(call.forward())
    call.send(body, writes=writes, invalidate=call.writes[0][0].handle)
    s.reads(8192, op=op)
    want(s.counted("client_mrs_remote_inv") == 1, "the invalidation was not seen")
    s.works()
    s.kept()


@case("memory", "a Read after the Reply", vers=BOTH)   # Covers: MEM-03 V1-RDC-12
def late_read(s):
    op = s.user(do_write, DATA[:16384], "late", True)
    call = s.next(WRITE3)
    source, conn = call.reads[0][1], call.conn
    call.respond()
    want(s.finish(op) == 16384, "WRITE")
    want(conn.refused(source, READ), "memory can be read after the Reply")
    s.works()


@case("memory", "a Write after an error", vers=BOTH)   # Covers: V1-ERR-12 MEM-03
def late_write_error(s):
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    call.conn.send(error(call.xid))
    s.fails(op)
    want(call.conn.refused(call.writes[0][0], WRITE, 8192), "memory can be written after the error")
    want(SHARED[:12288] == b"\x55" * 12288, "memory was written")
    s.works()


def outside(s, operation, start, segment_of, what, move):
    """Make one forbidden access, which breaks the connection. The client must then work on another
    connection."""
    op = s.user(*start)
    call = s.next(operation)
    segment = segment_of(call)
    want(call.conn.refused(move(segment), what), f"access {what} to {move(segment)} is possible")
    result = s.finish(op)
    want(isinstance(result, int), f"the system call returns {result} after reconnecting")
    s.replaced()


def write_target(call):
    return call.writes[0][0]


def read_source(call):
    return call.reads[0][1]


@case("memory", "a Write behind the segment", vers=BOTH)       # Covers: MEM-12
def behind(s):
    outside(s, READ3, (do_read, 5000), write_target, WRITE, lambda x: x._replace(offset=x.offset + x.length))
    s.holds(5000)
    s.works()


@case("memory", "a Write before the segment", vers=BOTH)       # Covers: MEM-12
def before(s):
    outside(s, READ3, (do_read, 8192), write_target, WRITE, lambda x: x._replace(offset=x.offset - 1))
    s.works()


# Covers: MEM-11
@case("memory", "a Read of a Write chunk", "7.3/rxe/rpcrdma_qp_event: access", only=NOT_SIW, vers=BOTH)
def read_of_write(s):
    outside(s, READ3, (do_read, 8192), write_target, READ, lambda x: x)
    s.works()


@case("memory", "a Write to a Read chunk", vers=BOTH)          # Covers: MEM-11
def write_of_read(s):
    outside(s, WRITE3, (do_write, DATA[:16384], "source", True), read_source, WRITE, lambda x: x)
    with open(EXPORT + "/source", "rb") as f:
        want(f.read() == DATA[:16384], "other data was written")
    s.works()


@case("memory", "a Read behind the segment", vers=BOTH)        # Covers: MEM-12
def read_behind(s):
    outside(s, WRITE3, (do_write, DATA[:16384], "source", True), read_source, READ,
            lambda x: x._replace(offset=x.offset + x.length))
    s.works()


@case("memory", "a handle that is none of the client's", vers=BOTH)        # Covers: MEM-05
def foreign(s):
    outside(s, READ3, (do_read, 8192), write_target, WRITE, lambda x: x._replace(handle=x.handle ^ 0x5500))
    s.works()


# Try all regions of the client except those of the RPC, one after the other. Each attempt ends the connection.
# Covers: MEM-05
@case("memory", "all other regions of the client", vers=BOTH)
def all_others(s):
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    handles = only_own_memory()
    want(call.handles() <= set(handles), f"the regions of the RPC are not among those shown: {handles}")
    count = len(set(handles) - call.handles())
    want(count, "the client has no other region")
    call.respond()
    s.reads(8192, op=op)
    for i in range(count):
        op = s.user(do_read, 8192)
        call = s.next(READ3)
        others = sorted(set(only_own_memory()) - call.handles())
        if i >= len(others):
            call.respond()
            s.reads(8192, op=op)
            break
        target = call.writes[0][0]._replace(handle=others[i])
        want(call.conn.refused(target, (WRITE, READ)[i & 1]), f"region {i} of {len(others)} is open: {target}")
        want(SHARED[:12288] == b"\x55" * 12288, f"memory was written by way of region {i}")
        s.reads(8192, op=op)
    s.log(f"{i + 1} regions")
    s.works()


@case("memory", "a handle on another connection", mount=False, vers=BOTH)      # Covers: MEM-07
def other_connection(s):
    s.mount("vers=3,noac,soft,timeo=300,retrans=2,nconnect=2")
    for _ in range(10):
        if len(s.conns) < 2:
            s.do(do_stat, MNT + "/file")
    want(len(s.conns) == 2, "there is one connection")
    op = s.user(do_read, 8192)
    call = s.next(READ3)
    other = [c for c in s.conns if c is not call.conn][0]
    want(other.refused(call.writes[0][0], WRITE), "a handle works on another connection")
    want(SHARED[:8192] == b"\x55" * 8192, "memory was written")
    call.respond()
    s.reads(8192, op=op)


# Covers: MEM-21 V2-CHK-11
@case("memory", "invalidating the handle of another RPC", "xprt_rdma_bad_invalidation", only=NOT_SIW, vers=BOTH)
def other_handle(s):
    first = s.user(do_read, 8192)
    a = s.next(READ3)
    second = s.user(do_read, 8192, 8192, 1 << 20)
    b = s.next(READ3)
    body, writes = a.reduce(a.forward())
    a.send(body, writes=writes, invalidate=b.writes[0][0].handle)
    s.reads(8192, op=first)
    want(s.finish(second) == 8192 and SHARED[1 << 20:(1 << 20) + 8192] == DATA[8192:16384], "the other READ")
    # With two processors, rxe of 6.12 has a fault: a message that arrives while the queue pair is
    # being closed also completes every Receive that is left. The client then counts an unknown XID
    # and a bad invalidation for each of these. 7.3 does not have this fault.
    want(s.counted("client_bad_invalidations") == 1 + s.counted("client_unknown_xids"), "it is not counted")
    s.replaced()
    s.works()


@case("memory", "invalidating a handle nobody has", vers=BOTH)     # Covers: MEM-21
def no_handle(s):
    op, call = s.small()
    call.send(call.forward(), invalidate=0x123456)
    s.reads(100, op=op)
    s.works()


def kill(s, *command):
    """Start @command, and kill it when its Call has come. Returns the Call."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    call = s.next((READ3, READDIR, READDIRPLUS))
    process.send_signal(signal.SIGKILL)
    want(s.verbs.until(lambda: process.poll() is not None), f"{command[0]} cannot be killed")
    return call


# Covers: MEM-04
@case("memory", "a killed reader, and a late answer", "xprt_rdma_given_up", mount=False, vers=BOTH)
def killed(s):
    s.mount("vers=3,noac,hard")
    # If a process that lists a directory is killed, its RPC ends. Before the client frees the
    # memory of the RPC, it must end the server's access to this memory.
    call = kill(s, "ls", MNT + "/dir")
    want(call.reply, "READDIR offers no Reply chunk")
    # The access is not longer than the segment. Otherwise it might be refused only because of its
    # length.
    target = max(call.reply, key=lambda x: x.length)
    want(call.conn.refused(target, WRITE, min(target.length, 4096)), "the memory of a killed RPC can be written")
    s.works()
    # The RPC of a direct READ continues after its process was killed, and keeps its pages.
    call = kill(s, "dd", f"if={MNT}/file", "of=/dev/null", "bs=64k", "count=1", "iflag=direct")
    s.listen(0.3)
    call.respond()
    s.works()
    # Answer an RPC that has ended.
    with open(EXPORT + "/dir/new", "wb"):
        pass
    os.remove(EXPORT + "/dir/new")
    call = kill(s, "ls", MNT + "/dir")
    call.conn.send(header(call.xid, NOMSG, reply=call.reply))
    s.counts("client_unknown_xids", 1, "an answer to nobody")
    s.works()


def owed():
    return int(next(transports())[1]["credits_owed"])


# Covers: V1-CRD-06 V1-CRD-07 V1-ERR-19 MEM-21
@case("memory", "two killed readers, and one of the answers twice", mount=False, vers=BOTH)
def killed_twice(s):
    s.mount("vers=3,noac,hard")
    calls = [kill(s, "ls", MNT + "/dir") for _ in range(2)]
    want(s.verbs.until(lambda: owed() == 2), f"{owed()} credits are owed, not 2")
    for _ in range(2):
        calls[0].conn.send(header(calls[0].xid, NOMSG, reply=calls[0].reply))
    s.counts("client_unknown_xids", 2)
    s.counts("client_late_replies", 1, "a second answer repays as well")
    want(owed() == 1, f"{owed()} credits are owed, not 1")
    s.works()
    s.kept()
    calls[1].conn.send(header(calls[1].xid, NOMSG, reply=calls[1].reply))
    s.counts("client_late_replies", 2, "the other answer does not repay")
    want(owed() == 0, f"{owed()} credits are owed")
    s.kept()


CWND_WAIT = 1 << 10


def waits_for_credit():
    """Does a task of our mount wait for a credit?"""
    return any(int(re.search(r"state: +(\w+)", info).group(1), 0) & CWND_WAIT for info in transport_infos())


# The only credit belongs to an RPC that was given up. Another task waits for the credit. No RPC is
# in flight whose end would wake the task, so the late Reply must wake it. The late Reply comes
# before the RPC has released its memory: the knob client_hold_fence delays the release.
# Covers: V1-CRD-06 V1-CRD-07
@case("memory", "the last credit comes back late, and before its RPC has gone", mount=False, vers=BOTH, knobs=True)
def killed_last(s):
    s.credit = 1
    s.mount("vers=3,noac,hard")
    s.works()
    process = subprocess.Popen(("ls", MNT + "/dir"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    call = s.next((READDIR, READDIRPLUS))
    want(call.reply, "READDIR offers no Reply chunk")
    op = s.user(do_stat, MNT + "/file")
    want(s.verbs.until(waits_for_credit), "nobody waits for a credit")
    fault("client_hold_fence", -1)
    try:
        process.send_signal(signal.SIGKILL)
        want(s.verbs.until(lambda: owed() == 1), f"{owed()} credits are owed, not 1")
        call.conn.send(header(call.xid, NOMSG, reply=call.reply))
        s.counts("client_late_replies", 1)
    finally:
        fault("client_hold_fence", 0)
    want(s.serve(lambda: process.poll() is not None), "ls cannot be killed")
    want(s.serve(op.ready, 60), "who waited for a credit is never woken")
    want(op.get() == len(DATA), f"GETATTR returns {op.get()}")
    s.works()
    s.kept()


# One credit belongs to an RPC that was given up, and the other one to an RPC that the server has
# not answered yet. The late Reply to the RPC that was given up must wake the task that waits for a
# credit.
# Covers: V1-CRD-06 V1-CRD-07
@case("memory", "a credit comes back late, and somebody waits for it", mount=False, vers=BOTH)
def killed_beside(s):
    s.credit = 2
    s.mount("vers=3,noac,hard")
    s.works()
    slow = s.user(do_read, 8192)
    held = s.next(READ3)
    call = kill(s, "ls", MNT + "/dir")
    want(s.verbs.until(lambda: owed() == 1), f"{owed()} credits are owed, not 1")
    op = s.user(do_stat, MNT + "/file")
    want(s.verbs.until(waits_for_credit), "nobody waits for a credit")
    call.conn.send(header(call.xid, NOMSG, reply=call.reply, credit=2))
    s.counts("client_late_replies", 1)
    want(s.serve(op.ready, 10), "who waited for a credit is not woken")
    want(op.get() == len(DATA), f"GETATTR returns {op.get()}")
    held.respond()
    s.reads(8192, op=slow)
    s.works()
    s.kept()


# A connection's programs share its credits. With the only credit in use by NFS, NFSACL waits for it.
# Covers: ULB-15
@case("memory", "one credit for two programs", mount=False, vers=BOTH)
def programs(s):
    s.credit = 1
    s.mount("vers=3,acregmin=600,hard")
    s.do(do_stat, MNT + "/file")
    slow = s.user(do_read, 8192)
    held = s.next(READ3)
    acl = subprocess.Popen(("getfacl", "-p", MNT + "/file"), stdout=subprocess.DEVNULL)
    want(s.verbs.until(waits_for_credit), "nobody waits for a credit")
    held.respond()
    call = s.next()
    want((call.prog, call.operation) == (NFSACL, 1), f"program {call.prog}, procedure {call.operation} has waited")
    call.respond()
    s.reads(8192, op=slow)
    want(s.serve(lambda: acl.poll() is not None) and not acl.returncode, "getfacl")
    s.kept()


# RPCs that were given up keep their Receives, because their Replies may still come. If no Receive is left, and
# there is no memory for more, the client must make a new connection, which has Receives again.
# Covers: V1-CRD-09
@case("memory", "all Receives belong to RPCs that were given up, and there is no memory for more", mount=False, vers=BOTH,
      knobs=True)
def all_owed(s):
    s.mount("vers=3,noac,hard")
    s.works()
    with starving("^xprt_rdma_send_request$"):
        calls = [kill(s, "ls", MNT + "/dir")]
        while calls[-1].conn is calls[0].conn and len(calls) < 32:
            calls.append(kill(s, "ls", MNT + "/dir"))
        s.log(f"the connection is replaced for Call {len(calls)}")
    want(calls[-1].conn is not calls[0].conn, "there was memory enough")
    # Without memory, the client's connection manager may not have told this server that the old
    # connection has ended.
    if calls[0].conn in s.conns:
        s.drop(calls[0].conn)
    s.works()


QUEUE, REGION = "/sys/kernel/debug/rpcrdma/device_max_qp_wr", "/sys/kernel/debug/rpcrdma/device_max_mr_pages"


def short_of_room(s, options):
    """Make a connection whose send queue has 128 entries. A WRITE of 32768 bytes takes 17 of them."""
    put(QUEUE, 128)
    put(REGION, 1)
    try:
        s.mount(options + ",wsize=32768")
    finally:
        put(QUEUE, UNLIMITED)
        put(REGION, UNLIMITED)


def waits():
    """How often has a Call found no room in the send queue? While one waits, it tries again four times a second."""
    with open("/proc/self/mountstats", encoding="ascii") as f:
        return sum(int(line.split()[27]) for line in f if line.startswith("\txprt:\trdma"))   # empty_sends


def writes_too_much(s, name):
    """Start a write of 32 WRITE Calls, which are more than the send queue has room for, and answer none of
    them. Returns the operation and the first Call."""
    op = s.user(do_write, DATA, name, True)
    first = s.next(lambda call: call.reads)
    sent = -1
    while sent != len(s.calls):     # entries become free, and take further Calls, until all Sends have completed
        sent, tried = len(s.calls), waits()
        want(s.verbs.until(lambda: s.step() or waits() > tried + 1, 30), "no Call waits for room")
    return op, first


# A task is killed while its Call waits for room in the send queue. This Call must never be sent, and must not
# keep a credit.
# Covers: MEM-04 V1-CRD-06
@case("memory", "killed while its Call waits for room", "xprt_rdma_no_sends", mount=False, vers=BOTH, knobs=True)
def killed_waiting(s):
    s.credit = 64       # more than the number of WRITEs
    short_of_room(s, "vers=3,hard")
    s.works()
    op, first = writes_too_much(s, "waiting")
    queued = len(s.calls)
    process = subprocess.Popen(("ls", MNT + "/dir"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    s.quiet()
    process.send_signal(signal.SIGKILL)
    want(s.verbs.until(lambda: s.step() or process.poll() is not None), "ls cannot be killed")
    want(len(s.calls) == queued, "the server is told of it")
    want(owed() == 0, f"{owed()} credits are owed")
    first.respond()
    want(s.finish(op) == len(DATA), "WRITE")
    with open(EXPORT + "/waiting", "rb") as f:
        want(f.read() == DATA, "other data was written")
    s.works()
    s.kept()


# Covers: V1-RPL-14 V1-RPL-08 V1-RPL-09 V1-RPL-02 V1-RPL-03 V2-CHK-02
@case("memory", "Reply chunks that are not what was offered", vers=BOTH)
def reply_chunks(s):
    def ask():
        # The client does not read a directory again if it has not changed.
        with open(EXPORT + "/dir/new", "wb"):
            pass
        os.remove(EXPORT + "/dir/new")
        op = s.user(do_list)
        return op, s.next((READDIR, READDIRPLUS))

    op, call = ask()
    want(call.reply, "READDIR offers no Reply chunk")
    # The last argument of a READDIR is the maximum number of bytes that the result may have.
    room, most = sum(x.length for x in call.reply), int.from_bytes(call.rpc[-4:], "big")
    want(room >= most, f"room for {room} bytes, and READDIR asks for {most}")
    body = call.forward()
    want(len(body) > INLINE, "the directory is too small")
    call.send(b"", NOMSG, reply=call.push(call.reply, body))
    want(s.finish(op) == 300, "READDIR")
    lies = (lambda c, n: (NOMSG, [c[0]._replace(length=c[0].length + 1)] + c[1:], b""),
            lambda c, n: (NOMSG, [c[0]._replace(length=0xffffffff)] + c[1:], b""),
            lambda c, n: (NOMSG, fill(c, n) + [Segment(1, 0, 0)], b""),
            lambda c, n: (NOMSG, fill(c, 0), b""),
            lambda c, n: (NOMSG, None, b""),
            lambda c, n: (MSG, fill(c, n), body[:1000]))
    for i, lie in enumerate(lies):
        op, call = ask()
        body = call.forward()
        call.push(call.reply, body)
        proc, chunk, inline = lie(call.reply, len(body))
        call.send(inline and words(call.xid) + inline[4:], proc, reply=chunk)
        try:
            s.fails(op, call.xid)
        except Failure as e:
            raise Failure(f"lie {i}: {e}") from None
    want(s.counted("client_bad_replies") == len(lies), "not all are counted")
    # A small Reply may still be inline.
    op, call = ask()
    call.send(rpc_reply(call.xid, words(13, 0)), reply=fill(call.reply, 0))
    s.fails(op, call.xid, "EACCES")
    want(s.do(do_list) == 300, "READDIR")
    s.kept()


# --- credits ------------------------------------------------------------------

@case("credits", "a grant of 0", mount=False, vers=BOTH)           # Covers: V1-CRD-22 V2-CRD-06
def zero(s):
    s.credit = 0
    s.mount(SMALL)
    s.works()
    op = s.user(do_write, DATA[:65536], "zero")
    for _ in range(3):
        s.gather(1, WRITE3)[0].respond()
    want(s.finish(op) == 65536, "WRITE")
    s.kept()


def most_credits(s, call):
    """The largest number of credits that the client ever asks for. In version 1, it is in each Call. In version 2, a Call
    has the number that the client could use at that time, and the CONNPROP has the largest one."""
    return int.from_bytes(s.hellos[0][8:12], "big") if hasattr(s, "hellos") else call.credit


@case("credits", "a grant of 2^32-1", mount=False, vers=BOTH)      # Covers: V1-CRD-22 V1-CRD-06 V2-CRD-02
def huge(s):
    s.credit = 0xffffffff
    s.mount(SMALL)
    op = s.user(do_write, DATA, "huge")
    first = s.next(WRITE3)
    asked = most_credits(s, first)
    want(1 < asked < s.recvs and first.credit <= asked, f"{first.credit} credits are asked for, {asked} at most")
    for call in [first] + s.gather(asked - 1, WRITE3):
        call.respond()
    want(s.finish(op) == len(DATA), "WRITE")
    s.kept()


# Covers: V1-CRD-05 V1-CRD-06 V2-CRD-02
@case("credits", "a grant that falls and rises", mount=False, vers=BOTH)
def moving(s):
    s.credit = 4
    s.mount(SMALL)
    op = s.user(do_write, DATA[:65536 * 4], "moving")
    calls = s.gather(4, WRITE3)
    s.credit = 2
    for call in calls:
        call.respond()
    calls = s.gather(2, WRITE3)
    s.credit = 7
    for call in calls:
        call.respond()
    calls = s.gather(7, WRITE3)
    s.credit = 32
    for call in calls:
        call.respond()
    want(s.finish(op) == 65536 * 4, "WRITE")
    s.kept()


# Covers: V1-CRD-11 V1-CRD-23 V1-CRD-10 V2-CRD-10
@case("credits", "one Call until the first Reply", mount=False, vers=BOTH)
def first(s):
    s.grants_late()
    s.mount(SMALL)
    op = s.user(do_write, DATA[:65536 * 2], "first")
    for call in s.gather(32, WRITE3)[:1]:
        call.conn.disconnect()
    call = s.gather(1, WRITE3)[0]
    s.replaced()
    # An error ends its Call, but the client must not use its credit word.
    call.conn.send(error(call.xid, credit=32))
    call = s.gather(1, WRITE3)[0]
    # Nor must it use the credit word of an error that belongs to no Call.
    call.conn.send(error(call.xid ^ 0xffff00, credit=32))
    s.quiet()
    want(not s.calls, "an error opens the window")
    call.respond()
    s.finish(op)
    s.works()


@case("credits", "errors with wild credits", mount=False, vers=BOTH)       # Covers: BC-34 V1-CRD-25 V2-CRD-08
def wild(s):
    s.credit = 2
    s.mount(SMALL)
    s.works()
    op, call = s.small()
    other = s.user(do_read, 100, 0, 1 << 18)
    calls = [call, s.next(READ3)]
    # Both credits are in use, and no task waits for one. If the client used the credits of the following errors, the
    # GETATTR that is made after them would be sent.
    s.pour(call.conn, [error(0x77770000 + i, credit=0xffffffff) for i in range(20)])
    want(s.verbs.until(lambda: s.counted("client_unknown_xids") >= 20), "not all are counted")
    late = s.user(do_stat, MNT + "/file")
    s.quiet()
    want(not s.calls, "an error about nothing opens the window")
    for call in calls:
        call.respond()
    s.reads(100, op=op)
    want(s.finish(other) == 100, "the other READ")
    want(s.finish(late) == len(DATA), "the GETATTR that had to wait")
    op = s.user(do_write, DATA[:65536 * 4], "wild")
    for call in s.gather(2, WRITE3):
        call.respond()
    want(s.finish(op) == 65536 * 4, "WRITE")
    s.kept()


def small_peer(s, data):
    """A server with a Receive size of 1024 bytes, and with @data as private data."""
    s.private, s.size, s.accepted = data, 1024, 0
    s.mount()
    s.works()
    want(s.do(do_write, DATA[:3000], "small") == 3000, "WRITE")
    want(s.do(do_symlink, "y" * 1000, os.urandom(4).hex()) == "y" * 1000, "SYMLINK")
    want(s.do(do_list) == 300, "READDIR")
    want(s.longest <= 1024, f"a Send of {s.longest} bytes")
    s.kept()
    s.umount()


# Covers: V1-CRD-12 V1-CRD-14 V1-CRD-15 V1-HDR-17 EXP-22
@case("credits", "a server without private data", mount=False)
def silent(s):
    small_peer(s, b"")


@case("credits", "private data that is garbage, short, of another version", mount=False)   # Covers: V1-CRD-19
def garbage(s):
    for data in (b"\xbd" * 8, private()[:7], b"\xf6\xab\x0e\x18\x02\x01\x7f\x7f"):
        small_peer(s, data)


@case("credits", "a server that takes 1024 bytes and sends 4096", mount=False)      # Covers: V1-CRD-17
def asymmetric(s):
    small_peer(s, private(recv=1024))


@case("credits", "a server that boasts", mount=False)       # Covers: V1-CRD-17 V1-CRD-19
def boasts(s):
    s.private = private(256 << 10, 256 << 10)
    s.mount()
    s.works()
    want(s.do(do_write, DATA[:100000], "boasts") == 100000, "WRITE")
    want(s.longest <= INLINE, f"a Send of {s.longest} bytes")


INLINE_READ = "/proc/sys/sunrpc/rdma_max_inline_read"


# The Reply fits into one packet, because rxe of 6.12 could receive the second packet of a longer Reply without a
# Receive.
# Covers: V1-CRD-14 BC-10
@case("credits", "an answer longer than the client's Receives", "rpcrdma_recv_err", "xprt_rdma_close", mount=False)
def too_long(s):
    put(INLINE_READ, 1024)
    try:
        s.mount()
    finally:
        put(INLINE_READ, 4096)
    op, call = s.small()
    call.conn.send(header(call.xid) + call.forward() + bytes(2000))
    s.reads(100, op=op)
    s.replaced()
    s.works()


# Covers: BC-10 V1-ERR-25
@case("credits", "a server without Receives", "rxe/xprt_rdma_send_err", mount=False, vers=BOTH)
def no_receives(s):
    s.recvs = 40
    s.mount("vers=3,noac,soft,timeo=50,retrans=3")
    s.verbs.lib.peer_keep(s.conns[0].index, 1)
    s.recvs = 300
    for _ in range(60):
        want(s.do(do_stat, MNT + "/file") == len(DATA), "GETATTR")
        if s.accepted > 1:
            break
    s.replaced()
    s.works()


# --- connections --------------------------------------------------------------

@case("connections", "RDMA Reads are offered")      # Covers: V1-CRD-32
def offered(s):
    want(s.depth >= 1, f"a connection that lets {s.depth} things be read at once")


# Covers: V1-CRD-24 V1-CRD-28 V2-CRD-09
@case("connections", "never an answer", "xprt_rdma_timeout", mount=False, vers=BOTH)
def never(s):
    s.mount("vers=3,noac,soft,timeo=20,retrans=5")
    op, call = s.small()
    conn = call.conn
    s.listen(1)
    want(s.seen[call.xid] == 1, "the Call was sent again at once")
    want(s.verbs.until(lambda: s.step() or s.calls, 30), "the Call is not sent again")
    want(s.calls[0].xid == call.xid and s.calls[0].conn is not conn, "not on a new connection")
    s.reads(100, op=op)
    s.works()


@case("connections", "a soft mount, and never an answer", mount=False, vers=BOTH)   # Covers: V1-CRD-24
def never_soft(s):
    s.mount("vers=3,noac,soft,timeo=10,retrans=1")
    op = s.user(do_read, 8192)
    end = time.monotonic() + 40
    while not op.ready():
        want(time.monotonic() < end, "the system call does not return")
        s.step()
        while s.calls and s.calls[0].operation != READ3:
            s.calls.popleft().respond()
        s.calls.clear()
    want(op.get() in ("EIO", "ETIMEDOUT"), f"READ returns {op.get()}")
    s.umount()
    s.mount()
    s.works()


@case("connections", "dropped at each Call", vers=BOTH)        # Covers: V1-ERR-25 V1-CRD-23
def dropped(s):
    op = s.user(do_read, 65536)
    for _ in range(2):      # after the second, the client waits before it connects
        s.next(READ3).conn.disconnect()
    s.reads(65536, op=op)
    s.replaced()
    op = s.user(do_write, DATA[:65536], "dropped")
    for _ in range(2):
        s.next(WRITE3).conn.disconnect()
    want(s.finish(op) == 65536, "WRITE")
    with open(EXPORT + "/dropped", "rb") as f:
        want(f.read() == DATA[:65536], "other data was written")
    s.works()


# The server accepts connections and negotiates the version, but disconnects at the first Call. The
# client reconnects at once, and then 5, 10 and 20 seconds after the previous attempt, until a Reply
# has ended an RPC (xprt_rdma_useful()).
@case("connections", "dropped at the first Call, again and again", mount=False, vers=BOTH)     # Covers: V1-ERR-25
def never_useful(s):
    s.mount("vers=3,noac,hard")
    s.works()
    op = s.user(do_read, 65536)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        s.step()
        while s.calls:
            s.calls.popleft().conn.disconnect()
    s.log(f"{s.accepted - 1} reconnects in 30 s")
    want(3 <= s.accepted - 1 <= 4, f"{s.accepted - 1} reconnects in 30 s, not 3")
    s.reads(65536, op=op)
    # Replies on the last connection have ended RPCs, so the client reconnects at once.
    before = time.monotonic()
    s.conns[0].disconnect()
    s.works()
    want(time.monotonic() - before < 4, "after a useful conversation it waits before it connects again")


# If the first answer breaks the connection, the connection does not count as useful
# (xprt_rdma_useful()), and the client waits before it reconnects. (In version 1, the second Call
# that this case needs comes only after a useful answer.)
# Covers: V1-ERR-25
@case("connections", "answers that break the connection, again and again", mount=False, only=NOT_SIW, vers=(2,))
def answers_that_break(s):
    s.mount("vers=3,noac,hard")
    s.works()
    # The answer to one READ invalidates the handle of another READ, which breaks the connection. The READ that was
    # answered may have ended; the others are sent again. All READs come before the first break: an open() on a later
    # connection would send Calls, whose answers would make that connection useful.
    ops = [s.user(do_read, 8192, 8192 * i, i << 16) for i in range(5)]
    held, gaps, end = [], [], time.monotonic() + 120
    while len(gaps) < 3:
        want(time.monotonic() < end, f"{len(held)} READs come again after {len(gaps)} breaks")
        s.step()
        while s.calls:
            call = s.calls.popleft()
            if call.operation == READ3:
                held.append(call)
            else:
                call.respond()
        held = [call for call in held if not call.conn.closed]
        if len(held) >= (2 if gaps else len(ops)):
            a, b = held.pop(0), held.pop(0)
            body, writes = a.reduce(a.forward())
            before, t0 = s.accepted, time.monotonic()
            a.send(body, writes=writes, invalidate=b.writes[0][0].handle)
            want(s.verbs.until(lambda: s.step() or s.accepted > before, 60), "no new connection")
            gaps.append(time.monotonic() - t0)
    s.log(f"new connections after {', '.join(f'{gap:.1f}' for gap in gaps)} s")
    for i, op in enumerate(ops):
        want(s.finish(op) == 8192, f"READ {i}")
        want(SHARED[i << 16:(i << 16) + 8192] == DATA[8192 * i:8192 * (i + 1)], f"READ {i} brings wrong data")
    s.works()
    want(min(gaps[1:]) > 2, "it does not wait before it connects again")


@case("connections", "dropped under a Reply", vers=BOTH)       # Covers: V1-ERR-25 MEM-03
def dropped_reply(s):
    for _ in range(5):
        op = s.user(do_read, 65536)
        call = s.next(READ3)
        call.respond()
        call.conn.disconnect()
        s.reads(65536, op=op)
    s.works()


@case("connections", "accepted and dropped at once", vers=BOTH)     # Covers: V1-ERR-25
def door(s):
    turns = [0]

    def slam(index):
        turns[0] += 1
        if turns[0] > 2:
            return False
        conn = s.accept(index)
        s.verbs.until(lambda: conn.up or conn.lost)
        conn.disconnect()
        return True

    s.connecting = slam
    s.conns[0].disconnect()
    s.works()
    want(turns[0] > 2, "it was not tried again")


def refuses(s, count):
    """Refuse the next @count connections. Returns a list with one element: the number of connections that have come."""
    turns = [0]

    def refuse(index):
        turns[0] += 1
        if turns[0] > count:
            return False
        s.verbs.lib.peer_reject(index)
        return True

    s.connecting = refuse
    return turns


@case("connections", "refused, then accepted", "xprt_rdma_connect: status=-", vers=BOTH)   # Covers: V1-ERR-25
def refused(s):
    turns = refuses(s, 2)
    s.conns[0].disconnect()
    s.works()
    want(turns[0] == 3, f"{turns[0]} attempts")


@case("connections", "a request that is never answered", vers=BOTH) # Covers: V1-ERR-25
def unanswered(s):
    turns = []
    s.connecting = lambda index: turns.append(index) or len(turns) == 1
    s.conns[0].disconnect()
    s.works()
    want(len(turns) > 1, "it was not tried again")
    s.verbs.lib.peer_close(turns[0])


# --- callbacks ----------------------------------------------------------------

def callback_null(xid):
    return rpc_call(xid, CALLBACK, 1, 0)


def compound(call, operation):
    """For a COMPOUND of version 4.1 or 4.2 that begins with this operation: (number of operations, Reader of its
    arguments). Otherwise None."""
    if (call.prog, call.nfs, call.operation) != (NFS, 4, 1):
        return None
    r = Reader(call.rpc, 24)
    for _ in range(2):          # credential and verifier
        r.skip(4)
        r.opaque()
    r.opaque()
    minor, count, first = r.word(), r.word(), r.word()
    return (count, r) if minor in (1, 2) and first == operation else None


def sequence(call):
    """For a COMPOUND that begins with SEQUENCE: (session, number, slot, next operation or None). Otherwise None."""
    found = compound(call, 53)
    if not found:
        return None
    count, r = found
    session = call.rpc[r.at:r.at + 16]
    r.skip(16)
    number, slot = r.word(), r.word()
    r.skip(8)
    return session, number, slot, r.word() if count > 1 else None


def of_user(call):
    """Is @call a COMPOUND of version 4.1 or 4.2 for a file (SEQUENCE, PUTFH)? At any time, the client also
    sends other COMPOUNDs to keep its session. Cases must not answer these with errors: after an error to
    BIND_CONN_TO_SESSION, for example, the client closes the connection."""
    found = sequence(call)
    return bool(found) and found[3] == 22


def callback_waiting(call, xid, number):
    """A callback with the sequence number @number that refers to @call. If @call has no answer yet, the
    client's only callback thread waits for the answer for half a second."""
    session, of_call, slot, _ = sequence(call)
    refers = words(1) + session + words(1, of_call, slot)
    args = words(0, 1, 0, 1, 11) + session + words(number, 0, 0, 0) + refers
    return rpc_call(xid, CALLBACK, 1, 1, args, AUTH_ROOT)


def answered(s, xid, count=1):
    """Check that the client has sent @count good answers to CB_NULL."""
    found = [m for m in s.backward if m[:4] == words(xid)]
    want(len(found) == count, f"{len(found)} answers to a callback")
    for m in found:
        want(m[12:16] == words(MSG) and m[28:36] == words(xid, 1) and m[-4:] == words(0), "a callback was refused")
        want(m[8:12] != words(0), "a backward grant of 0")


# Covers: BC-01 BC-02 BC-15 V2-BC-03 V2-BC-05
@case("callbacks", "callbacks work, and know nothing of Calls", "xprt_rdma_bc_call", "xprt_rdma_bc_reply: status=0",
      mount=False, vers=BOTH)
def callbacks(s):
    s.mount(V41)
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)
    for _ in range(20):
        call.conn.send(header(call.xid, credit=1) + callback_null(call.xid))
        s.listen(0.02)
    want(s.verbs.until(lambda: s.step() or len(s.backward) >= 20, 20), f"{len(s.backward)} of 20 are answered")
    answered(s, call.xid, 20)
    want(not op.ready(), "a callback ended an RPC")
    want(s.counted("client_bc_calls") >= 20, "callbacks are not counted")
    call.respond()
    want(isinstance(s.finish(op), int), "GETATTR")
    s.kept()


# Covers: BC-23 BC-30
@case("callbacks", "a Call to a client without callbacks", "xprt_rdma_bc_drop", vers=BOTH)
def no_service(s):
    op, call = s.small()
    call.conn.send(header(call.xid) + callback_null(call.xid))
    call.conn.send(header(call.xid, reads=[(40, Segment(1, 8, 0))]) + callback_null(call.xid))
    s.quiet()
    # In version 2, a Call with chunks is refused with an error, even if there is no callback service.
    s.counts("client_bc_dropped", 2 if s.version == 1 else 1)
    want(not op.ready(), "a Call was taken for a Reply")
    want(len(s.backward) == s.version - 1 and s.errors(call.xid) == [words(READ_CHUNKS, 0)] * (s.version - 1),
         f"answered with {list(s.backward)}")
    call.respond()
    s.reads(100, op=op)
    s.kept()


# Covers: BC-24 V1-ERR-15
# Covers: V2-BC-07 V2-BC-08 V2-BC-11
@case("callbacks", "callbacks with chunks or another XID", "v1/xprt_rdma_bc_refuse", "v2/xprt_rdma_refuse",
      mount=False, vers=BOTH)
def chunked(s):
    s.mount(V41)
    conn, one = s.conns[0], [Segment(1, 8, 4096)]
    # (message, the error expected in version 2). The error is READ_CHUNKS or BAD_XDR; the latter
    # has the same number as ERR_CHUNK. In version 1, ERR_CHUNK is expected for each message.
    bad = ((header(0x501, reads=[(40, one[0])]) + callback_null(0x501), words(READ_CHUNKS, 0)),
           (header(0x502, writes=[one]) + callback_null(0x502), words(ERR_CHUNK)),
           (header(0x503, reply=one) + callback_null(0x503), words(ERR_CHUNK)),
           (header(0x504, reads=[(0, one[0])]) + callback_null(0x504), words(ERR_CHUNK)),
           (header(0x505) + callback_null(0x506), words(ERR_CHUNK)))
    for message, _ in bad:
        conn.send(message)
        s.idle(0.1)
    s.serve(lambda: len(s.backward) >= 5, 20)
    s.counts("client_bad_messages", 5)
    for i, (_, error2) in enumerate(bad):
        expected = words(ERR_CHUNK) if s.version == 1 else error2
        want(s.errors(0x501 + i) == [expected], f"Call {i}: {s.errors(0x501 + i)}")
    conn.send(header(0x600) + callback_null(0x600))
    want(s.serve(lambda: s.counted("client_bc_replies") and any(m[:4] == words(0x600) for m in s.backward), 20),
         "callbacks have stopped")
    s.kept()


# Covers: V1-ERR-09 V1-ERR-23 BC-18 BC-34
@case("callbacks", "short, broken and erroneous callbacks", mount=False)
def bad_callbacks(s):
    s.mount(V41)
    conn = s.conns[0]
    good = header(0x700) + callback_null(0x700)
    s.pour(conn, [good[:length] for length in range(1, 36, 3)])
    s.pour(conn, [error(0x700, code, credit=0xffffffff, rest=words(1, 1))
                  for code in (ERR_CHUNK, ERR_VERS, 0, 77)])
    s.idle()
    want(not s.backward, "one was answered")
    # RPC-level errors: sunrpc answers these Calls.
    conn.send(header(0x701) + rpc_call(0x701, 99, 1, 0))
    conn.send(header(0x702) + rpc_call(0x702, CALLBACK, 1, 7))
    conn.send(header(0x703) + rpc_call(0x703, CALLBACK, 1, 1, b"\xff" * 200))
    want(s.serve(lambda: len(s.backward) >= 3, 20), f"{len(s.backward)} of 3 are answered")
    want(isinstance(s.do(do_stat, MNT + "/dir"), int), "GETATTR")
    s.kept()


# Covers: BC-07 BC-02 V2-BC-11 V2-CRD-07
@case("callbacks", "all callbacks at once while the window is full", mount=False, vers=BOTH)
def burst(s):
    s.credit = 1
    s.mount(V41)
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)
    # Count the posted Receives before the first callback, because later some of them may be in use.
    recvs = [int(shown["receives_posted"]) for _, shown in transports()]
    want(len(recvs) == 1 and recvs[0] >= 16 + 1, f"{recvs} Receives for 16 callbacks and a Reply")
    # A Call that waits for a credit must not delay answers to callbacks.
    other = s.user(do_stat, MNT + "/file")
    s.quiet()
    for i in range(16):
        call.conn.send(header(0x800 + i, credit=16) + callback_null(0x800 + i))
    want(s.verbs.until(lambda: s.step() or len(s.backward) >= 16, 30), f"{len(s.backward)} of 16 are answered")
    for i in range(16):
        answered(s, 0x800 + i)
    # The credit words of callbacks must not provide a credit for the Call that waits.
    s.quiet()
    want(not s.calls, "callbacks open the forward window")
    call.respond()
    want(isinstance(s.finish(op), int), "GETATTR")
    want(s.finish(other) == len(DATA), "the GETATTR that had to wait")
    s.kept()


# The send queue is full of Calls, and the server answers none of them before it has the answers to its
# callbacks. So the client must have reserved room in the send queue for answers to callbacks.
# Covers: BC-02 V2-BC-08
@case("callbacks", "a callback while Calls wait for room", "xprt_rdma_no_sends", mount=False, vers=BOTH, knobs=True)
def no_room(s):
    short_of_room(s, V41)
    op, first = writes_too_much(s, "no_room")
    held = len(s.calls)
    for i in range(16):
        s.conns[0].send(header(0xb00 + i) + callback_null(0xb00 + i))
    want(s.verbs.until(lambda: s.step() or len(s.backward) >= 16, 20), f"{len(s.backward)} of 16 are answered")
    for i in range(16):
        answered(s, 0xb00 + i)
    want(len(s.calls) == held and not op.ready(), "it was not for the callbacks that it waited")
    before = waits()
    want(s.verbs.until(lambda: s.step() or waits() > before), "no Call waits any more")
    first.respond()
    want(s.finish(op) == len(DATA), "WRITE")
    with open(EXPORT + "/no_room", "rb") as f:
        want(f.read() == DATA, "other data was written")
    s.kept()


@contextlib.contextmanager
def starving(pattern):
    """Let each allocation fail that has a matching function among its callers. See starve in broken.sh, which needs
    variables of the group's shell in the environment."""
    want(os.path.isdir("/sys/kernel/debug/failslab"), "this kernel has no CONFIG_FAILSLAB")
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = f'. "{tests}/../lab/guest/lib.sh"; . "{tests}/cases.sh"; . "{tests}/broken.sh"; starve 100 "{pattern}"'
    subprocess.run(["bash", "-euc", command], check=True, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        for what in ("failslab", "fail_page_alloc"):
            put(f"/sys/kernel/debug/{what}/probability", 0)


# A Call waits for memory, and is the first in sunrpc's queue of messages to send. The server answers no Call
# before it has the answers to its callbacks, so these answers must not wait behind that Call.
# Covers: BC-02 V2-BC-08
@case("callbacks", "a callback while a Call has no memory", mount=False, vers=BOTH, knobs=True)
def no_regions(s):
    put(REGION, 1)
    try:
        s.mount(V41 + ",wsize=32768")
    finally:
        put(REGION, UNLIMITED)
    with starving("^xprt_rdma_frwr_map$"):
        op = s.user(do_write, DATA, "no_regions", True)
        first = s.next(lambda call: call.reads)
        s.quiet()
        held = len(s.calls) + 1
        s.log(f"{held} WRITEs have regions")
        want(held < 32, "there were regions for all")
        for i in range(16):
            s.conns[0].send(header(0xe00 + i) + callback_null(0xe00 + i))
        want(s.verbs.until(lambda: s.step() or len(s.backward) >= 16, 20), f"{len(s.backward)} of 16 are answered")
        want(len(s.calls) + 1 == held and not op.ready(), "no Call had to wait")
    for i in range(16):
        answered(s, 0xe00 + i)
    first.respond()
    want(s.finish(op) == len(DATA), "WRITE")
    with open(EXPORT + "/no_regions", "rb") as f:
        want(f.read() == DATA, "other data was written")
    s.kept()


# A callback needs no memory. It waits until one of the slots that the client already has is free.
# Covers: BC-07 BC-02
@case("callbacks", "callbacks without memory", mount=False, vers=BOTH, knobs=True)
def no_memory(s):
    s.mount(V41)
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)
    with starving("^xprt_rdma_bc_receive$"):
        # Each callback keeps the client's only thread busy for half a second.
        for i in range(8):
            call.conn.send(header(0xd00 + i) + callback_waiting(call, 0xd00 + i, i + 1))
        want(s.verbs.until(lambda: s.step() or len(s.backward) >= 8 or call.conn.lost, 30),
             f"{len(s.backward)} of 8 are answered")
    want(not call.conn.closed and not call.conn.lost, "the connection is dropped for a callback")
    want(sorted(m[:4] for m in s.backward) == [words(0xd00 + i) for i in range(8)], "other answers")
    call.respond()
    want(isinstance(s.finish(op), int), "GETATTR")
    s.kept()


# The connection ends while callbacks wait for a slot. Each of the 8 callbacks is answered or counted as dropped.
# Covers: BC-07
@case("callbacks", "callbacks that wait when the connection ends", "xprt_rdma_bc_drop", mount=False, vers=BOTH)
def lost_waiting(s):
    s.mount(V41)
    conn = s.conns[0]
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)
    before = s.counted("client_bc_calls")
    for i in range(8):
        conn.send(header(0xd00 + i) + callback_waiting(call, 0xd00 + i, i + 1))
    want(s.verbs.until(lambda: s.counted("client_bc_calls") >= before + 8), "they do not come")
    s.drop(conn)
    want(isinstance(s.finish(op), int), "the GETATTR that had no answer")

    def ended():
        return s.counted("client_bc_dropped") + s.counted("client_bc_replies")
    s.serve(lambda: ended() >= 8)
    want(ended() == 8, f"{ended()} of 8 callbacks are counted")


# Covers: BC-06 BC-09 V2-BC-11
@case("callbacks", "callbacks beyond the grant", "xprt_rdma_bc_overrun", mount=False, vers=BOTH)
def flood(s):
    s.mount(V41)
    conn = s.conns[0]
    op = s.user(do_stat, MNT + "/dir")
    call = s.next(of_user)

    def taken():
        return s.counted("client_bc_calls") + s.counted("client_bc_dropped")

    for i in range(400):
        if s.counted("client_bc_dropped"):
            break
        conn.send(header(0x900 + i) + callback_waiting(call, 0x900 + i, i + 1))
        # Wait until the callbacks that were sent so far are taken, so that a lack of Receives does
        # not end the connection.
        if i % 8 == 7:
            want(s.verbs.until(lambda n=i: taken() > n or conn.lost), f"{taken()} of {i + 1} callbacks are taken")
    s.log(f"flood: {taken()} callbacks, {s.counted('client_bc_dropped')} dropped")
    want(s.counted("client_bc_dropped"), "a flood of callbacks is put up with")
    want(s.serve(lambda: conn.closed, 20), "the connection stays")
    want(isinstance(s.finish(op), int), "the GETATTR that had no answer")
    want(isinstance(s.do(do_stat, MNT + "/dir"), int), "GETATTR")
    # The new connection must have all Receives again.
    recvs = [int(shown["receives_posted"]) for _, shown in transports()]
    want(len(recvs) == 1 and recvs[0] >= 16 + 1, f"{recvs} Receives on the new connection")
    s.backward.clear()
    for i in range(16):
        s.conns[-1].send(header(0xf00 + i, credit=16) + callback_null(0xf00 + i))
    want(s.serve(lambda: len(s.backward) >= 16, 30), f"{len(s.backward)} of 16 are answered on the new connection")
    for i in range(16):
        answered(s, 0xf00 + i)


@case("callbacks", "an error to a Call of a session", mount=False, vers=BOTH)      # Covers: ULB-20 V1-ERR-12
def session(s):
    s.mount(V41)
    for _ in range(3):
        op = s.user(do_stat, MNT + "/dir")
        call = s.next(of_user)
        call.conn.send(error(call.xid))
        result = s.finish(op)
        want(result == "EIO" or isinstance(result, int), f"stat returns {result}")
        want(s.seen[call.xid] == 1, "the Call was sent again")
        time.sleep(0.1)
    want(isinstance(s.do(do_stat, MNT + "/dir"), int), "the session is gone")
    s.kept()


# The session has more slots than the server grants credits. An RPC gets its slot, and then waits for a credit.
# Covers: ULB-20
@case("callbacks", "one credit for a session of several slots", mount=False, vers=BOTH)
def slots(s):
    s.credit = 1
    s.mount(V41)
    ops = [s.user(do_stat, MNT + "/dir")]
    held = s.next(of_user)
    ops.append(s.user(do_stat, MNT + "/file"))
    want(s.verbs.until(waits_for_credit), "nobody waits for a credit")
    want(not s.calls, "two Calls with one credit")
    held.respond()
    call = s.next(of_user)
    want(sequence(call)[1:3] != sequence(held)[1:3], "both have the same slot and number")
    call.respond()
    for op in ops:
        want(isinstance(s.finish(op), int), "stat")
    s.kept()


# --- running ------------------------------------------------------------------

def run(s, name, function, traced, mount):
    reason = None
    put("/dev/kmsg", f"lab: {name}")
    try:
        s.trace.mark()
        s.reset()
        if mount:
            s.mount()
        function(s)
        s.calm()
        missing = s.trace.missing(*(t.removeprefix(f"v{s.version}/") for t in traced
                                    if not t.startswith(f"v{3 - s.version}/")))
        want(not missing, f"no event {', '.join(missing)}, but {s.trace.counts()}")
    except Failure as e:
        reason = str(e)
    except Exception:           # an error in the case, or an unexpected event
        reason = traceback.format_exc().replace("\n", " / ")
    try:
        s.connecting = None
        want(s.serve(lambda: all(op.ready() for op in s.ops), 60), "a system call does not return")
        s.umount()
        op = s.user(do_honest)
        want(s.serve(op.ready, 60) and op.get() is True, f"an honest mount fails: {op.ready() and op.get()}")
        # A client that still reconnects would look like a connection of the next case.
        s.serve(s.forgotten, 30)
    except Failure as e:
        reason = f"{reason or ''} afterwards: {e}"
    for conn in list(s.conns):
        s.drop(conn)
    print(f"not ok {name}: {reason}" if reason else f"ok {name}", flush=True)
    return not reason


def main(make=Server):
    for where in (EXPORT, EXPORT + "/dir", MNT, HONEST):
        os.makedirs(where, exist_ok=True)
    os.chmod(EXPORT, 0o777)
    with open(EXPORT + "/file", "wb") as f:
        f.write(DATA)
    for i in range(300):
        with open(f"{EXPORT}/dir/{i:040}", "wb"):
            pass
    pool = multiprocessing.get_context("fork").Pool(6)
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    results = []
    with events.Trace(also=OTHER_EVENTS) as trace:
        s = make(pool, trace)
        for one in sets.chosen(sys.argv[1], pattern, s.version):
            t0 = time.monotonic()
            results.append(run(s, one.name, one.function, one.traced, one.mount))
            s.log(f"{time.monotonic() - t0:.1f} s, {trace.counts()}")
        s.leave()
    sys.stdout.flush()
    # If a case failed, workers may hang in a system call.
    os._exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
