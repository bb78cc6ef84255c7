# SPDX-License-Identifier: GPL-2.0
"""An NFS client over RDMA for our server. It uses chunks in ways in which our client never uses them, and
breaks rules. hostile_calls.py does this with NULL Calls.

usage: hostile_client.py SET [part of a name]
"""
import contextlib
import errno
import glob
import os
import random
import re
import struct
import sys
import time

from caller import (ADDRESS, CONNECTIONS, DATA, EXPORT, LOOKUP, NFS, NULL, PLAIN, PORT, READ3, READDIRPLUS, WRITE3,
                    counts, main, not_on_6_1, operations, results, values)
from peer import (AUTH_ROOT, BAD_XDR, ERROR, INVAL_HTYPE, MSG, NOMSG, REPLY_RESOURCE, WRITE_RESOURCE, Conn,
                  Failure, Reader, counters, header, iwarp, opaque, private, put, rpc_call, slow, want,
                  words)
from sets import case


# --- Read chunks --------------------------------------------------------------

def write_args(b, length, count=None):
    """Arguments of a WRITE, up to its data"""
    return opaque(b.target) + struct.pack(">QIII", 0, length if count is None else count, 2, length)


def write(b, c, data, cuts, form="chunk", tail=b"", reply=None):
    """WRITE @data, divided at @cuts into segments at scattered addresses, which are not aligned."""
    pieces = [data[i:j] for i, j in zip([0] + cuts, cuts + [len(data)])]
    pieces[-1] += tail
    args = write_args(b, len(data))
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, WRITE3, args, AUTH_ROOT)
    at, reads = 200001, []
    for piece in pieces:
        reads.append((len(rpc), c.put(at, piece)))
        at += len(piece) + 13
    if form == "chunk":
        return c.exchange(c.header(xid, reads=reads, reply=reply) + rpc)
    # The rest of the Call is in a Position Zero chunk of two segments.
    parts = [(0, c.put(3, rpc[:50])), (0, c.put(101, rpc[50:]))]
    return c.exchange(c.header(xid, NOMSG, reads=parts + reads, reply=reply))


@case("reads", "WRITEs of uneven segments")     # Covers: V1-RDC-05 V1-CHK-09 V1-RDC-15 EXP-03 V1-HDR-19 V1-RDC-13
def segments(b):
    c = b.fresh()
    rng = random.Random(3)
    for count in (1, 2, 3, 16, 40):
        data = DATA[count:count + 50001]
        cuts = sorted(rng.sample(range(1, len(data)), count - 1))
        want(results(write(b, c, data, cuts)).word() == 0, f"WRITE of {count} segments")
        b.target_is(data, f"{count} segments")


@case("reads", "a WRITE of 5 bytes without roundup and with it")        # Covers: V1-RDC-10 V1-RDC-11
def roundup(b):
    c = b.fresh()
    for tail in (b"", b"\xff\xff\xff", b"\0\0\0"):
        want(results(write(b, c, b"hello", [], tail=tail)).word() == 0, "WRITE")
        b.target_is(b"hello", f"roundup {tail}")


@case("reads", "a WRITE whose data and rest are in chunks")     # Covers: V1-PZC-06 V1-PZC-13 EXP-11 ULB-19 V1-FRM-07
def long_write(b):
    c = b.fresh()
    for size, cuts in ((5000, []), (5001, [1, 77, 4097]), (8192, list(range(512, 8192, 512)))):
        want(results(write(b, c, DATA[:size], cuts, "long")).word() == 0, "WRITE")
        b.target_is(DATA[:size], f"{size} bytes")
    c = b.fresh()
    answer = write(b, c, DATA[:7001], [9], "long", reply=[c.segment(500000, 4000)])
    if c.vers == 2:     # in version 2 the server does not use the chunk, because the Reply fits a Receive
        want(results(answer).word() == 0 and not answer.reply[0].length, "no short Reply")
    else:
        want(answer.proc == NOMSG and answer.reply[0].length, "no long Reply")
        want(c.get(500024, 4) == words(0), "the Reply says that the WRITE failed")
    b.target_is(DATA[:7001], "long Call and Reply")


@case("reads", "a whole WRITE in a Position Zero chunk")        # Covers: V1-PZC-08 EXP-04 V1-PZC-04 V1-RPL-02
def position_zero(b):
    c = b.fresh()
    data = DATA[:60000]
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, WRITE3, write_args(b, len(data)) + data, AUTH_ROOT)
    c.put(0, rpc)
    reads = [(0, c.segment(i, min(4096, len(rpc) - i))) for i in range(0, len(rpc), 4096)]
    want(results(c.exchange(c.header(xid, NOMSG, reads=reads))).word() == 0, "WRITE")
    b.target_is(data, "Position Zero chunk")


# The kernel's NFS client uses at most 1 MB, even if nfsd allows more.
@case("reads", "a WRITE of all that nfsd takes, and a READ")    # Covers: V1-RDC-18
def largest(b):
    c = b.fresh()
    size = int(get("/proc/fs/nfsd/max_block_size"))
    data = random.Random(4).randbytes(size)
    for cuts in ([], list(range(4097, size, size // 20))):
        want(results(write(b, c, data, cuts)).word() == 0, f"WRITE of {len(cuts) + 1} segments")
        b.target_is(data, f"{size} bytes in {len(cuts) + 1} segments")
        data = data[::-1]
    data = data[::-1]
    for lengths in ([size], [size // 8] * 8):
        chunk = [c.segment((6 << 20) + i * lengths[0], length) for i, length in enumerate(lengths)]
        answer = c.nfs(READ3, read_args(b.target, size), writes=[chunk])
        want(answer.writes == [chunk], f"returned {answer.writes}")
        want(c.get(6 << 20, size) == data, f"READ to {len(chunk)} segments: wrong data")
        c.put(6 << 20, bytes(size))
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, WRITE3, write_args(b, 2 * size), AUTH_ROOT)
    want(c.is_error(c.exchange(c.header(xid, reads=[(len(rpc), c.segment(0, 2 * size))]) + rpc), BAD_XDR),
         "twice as much is taken")
    b.target_is(data, "what was refused")
    print(f"{size} bytes each")


@case("reads", "a count that is not the chunk's")       # Covers: V1-CHK-05 ULB-17
def count(b):
    c = b.fresh()
    for claimed, given in ((100, 50), (100, 0), (200000, 8), (0xffffffff, 100), (100, 200)):
        with open(EXPORT + "/target", "wb"):
            pass
        xid = c.xid()
        rpc = rpc_call(xid, NFS, 3, WRITE3, write_args(b, claimed), AUTH_ROOT)
        answer = c.exchange(c.header(xid, reads=[(len(rpc), c.put(0, DATA[:given]))]) + rpc)
        want(answer, f"{claimed} with {given}: no answer")
        if given >= claimed and not c.rejects(answer, BAD_XDR):
            b.target_is(DATA[:claimed], f"{claimed} with {given}")
        else:
            want(c.rejects(answer, BAD_XDR), f"{claimed} with {given}: executed")
            b.target_is(b"", f"{claimed} with {given}")
    c.works()


# Covers: V1-RDC-23 V1-ERR-26 V1-ERR-28
@case("reads", "a handle that cannot be read: nothing is executed", "rxe/svc_rdma_read_err", "svc_rdma_lost")
def revoked(b):
    # The server signals only the last RDMA Read of a Call. The others have a completion only if
    # they fail. This Call has two RDMA Reads. Let first the one fail, and then the other.
    for bad_one in (0, 1):
        c = b.fresh()
        before, counted = operations("proc3")[WRITE3], counters()
        xid = c.xid()
        rpc = rpc_call(xid, NFS, 3, WRITE3, write_args(b, 8192), AUTH_ROOT)
        halves = [c.put(0, DATA[:4096]), c.segment(8192, 4096)]
        halves[bad_one] = halves[bad_one]._replace(handle=c.verbs.handle ^ 0x5500)
        want(not c.exchange(c.header(xid, reads=[(len(rpc), half) for half in halves]) + rpc), "an answer")
        want(c.conn.lost, "the connection stays")
        want(operations("proc3")[WRITE3] == before, "the WRITE was executed")
        b.target_is(b"", "a WRITE that cannot be read")
        if not iwarp():         # with iWARP, the client's adapter closes the connection
            counts(c.verbs, counted, "server_read_errors", 1, f"bad segment {bad_one}: it is not known why")


@case("reads", "a client that serves one RDMA Read at a time", "svc_rdma_accept: ord=1 ")      # Covers: V1-RDC-21
def one_read(b):
    b.fresh()
    c = b.connect(depth=1)
    data = DATA[:48000]
    want(results(write(b, c, data, list(range(3000, 48000, 3000)))).word() == 0, "WRITE")
    b.target_is(data, "16 segments")


@case("reads", "chunks where no item is")       # Covers: ULB-17 V1-RDC-16
def ineligible(b):
    c = b.fresh()
    xid = c.xid()
    args = opaque(b.root) + opaque(b"file")
    rpc = rpc_call(xid, NFS, 3, LOOKUP, args, AUTH_ROOT)
    start = len(rpc) - len(args) + 4
    room = len(b.root) + -len(b.root) % 4
    c.put(0, rpc[start:start + room])
    c.put(999, b"file")
    answer = c.exchange(c.header(xid, reads=[(start, c.segment(0, room)), (start + room + 4, c.segment(999, 4))]) +
                        rpc[:start] + rpc[start + room:start + room + 4])
    want(answer, "no answer")
    if not c.rejects(answer, BAD_XDR):
        r = results(answer)
        want(r.word() == 0 and r.opaque() == b.file, "the Call was put together wrongly")
    c.works()


@case("reads", "malformed Calls reach nobody")      # Covers: V1-ERR-26 V1-ERR-02
def reach_nobody(b):
    c = b.fresh()
    before = operations("proc3")
    rng = random.Random(4)
    one = c.segment(0, 100)
    for i in range(60):
        xid = c.xid()
        rpc = rpc_call(xid, NFS, 3, NULL, b"", AUTH_ROOT)
        head, *error = ((c.prefix(xid) + words(2 + rng.randrange(9), 0, 0), BAD_XDR),
                        (c.prefix(xid, 6 + rng.randrange(9)) + words(0, 0, 0), INVAL_HTYPE),
                        (c.prefix(xid) + words(0, 1, 65 + rng.randrange(1 << 30)), BAD_XDR),
                        (c.header(xid, reads=[(3, one)]), BAD_XDR), (c.header(xid, NOMSG, reads=[(8, one)]), BAD_XDR),
                        (c.header(xid + 1 if i & 8 else xid, MSG) + words(7), BAD_XDR))[i % 6]
        answer = c.exchange(head + rpc)
        want(c.is_error(answer, *error), f"message {i} is not refused: {answer and answer.data.hex()}")
    want(operations("proc3") == before, "one was executed")
    c.works()


# --- Write chunks -------------------------------------------------------------

def read_args(handle, length, offset=0):
    return opaque(handle) + struct.pack(">QI", offset, length)


@case("writes", "a READ to segments of 100, 5000 and 3000 bytes")       # Covers: V1-WRC-05 V1-WRC-10 V1-HDR-19
def scattered(b):
    c = b.fresh()
    chunk = [c.segment(1, 100), c.segment(20003, 5000), c.segment(40005, 3000)]
    answer = c.nfs(READ3, read_args(b.file, 6000), writes=[chunk])
    # No wait is necessary: RDMA Writes arrive before the Reply that follows them.
    found = c.get(1, 100) + c.get(20003, 5000) + c.get(40005, 900)
    want(found == DATA[:6000], "wrong data")
    want([s.length for s in answer.writes[0]] == [100, 5000, 900], f"returned: {answer.writes}")
    want(c.get(0, 1) + c.get(101, 1) + c.get(20002, 1) + c.get(25003, 1) + c.get(40905, 200) == b"\xee" * 204,
         "bytes around it are written")
    want(results(answer).word() == 0 and len(answer.body) < 200, "the data is in the stream as well")


@case("writes", "READs of odd length")      # Covers: V1-WPD-01 EXP-14 V1-WRC-19
def odd(b):
    c = b.fresh()
    for length in (1, 2, 3, 5, 4097):
        c.wipe()
        answer = c.nfs(READ3, read_args(b.file, length), writes=[[c.segment(64, 8192)]])
        want(answer.writes[0][0].length == length, f"{length}: returned {answer.writes}")
        want(c.get(64, length) == DATA[:length] and c.get(64 + length, 100) == b"\xee" * 100,
             f"{length}: wrong data, or roundup is written")
    # At the end of the file, the result is shorter
    c.wipe()
    answer = c.nfs(READ3, read_args(b.file, 8192, len(DATA) - 1000), writes=[[c.segment(64, 8192)]])
    want(answer.writes[0][0].length == 1000 and c.get(64, 1001) == DATA[-1000:] + b"\xee", f"returned {answer.writes}")


@case("writes", "a chunk too small for the READ")       # Covers: V1-WRC-16 V1-ERR-06
def too_small(b):
    c = b.fresh()
    answer = c.nfs(READ3, read_args(b.file, 8192), writes=[[c.segment(64, 100), c.segment(1000, 4000)]])
    want(c.rejects(answer, WRITE_RESOURCE, 1, 8192), "it was answered")
    want(c.get(5000, 8192) == b"\xee" * 8192, "memory behind it is written")
    c.works()


@case("writes", "a chunk of no segments, and none at all")      # Covers: V1-WRC-17 V1-WRC-12
def no_segments(b):
    c = b.fresh()
    for writes in ([[]], []):
        answer = c.nfs(READ3, read_args(b.file, 1000), writes=writes)
        want(answer.writes == writes, f"returned {answer.writes}")
        want(results(answer).word() == 0 and answer.body[-1000:] == DATA[:1000], "the data is not in the stream")


@case("writes", "a READ that fails leaves its chunk unused")        # Covers: V1-UNU-01 V1-UNU-02 ULB-09 EXP-17
def unused(b):
    c = b.fresh()
    chunk = [c.segment(64, 100), c.segment(1000, 4000)]
    bad = bytes(reversed(b.file))
    for handle in (b.directory, bad):
        answer = c.nfs(READ3, read_args(handle, 4000), writes=[chunk])
        want(results(answer).word() != 0, "READ succeeds")
        want(answer.writes == [[s._replace(length=0) for s in chunk]], f"returned {answer.writes}")


# Covers: V1-RPL-04 ULB-19
@case("writes", "a Write chunk, and a Reply chunk for the little that is left")
def both(b):
    c = b.fresh()
    answer = c.nfs(READ3, read_args(b.file, 8192), writes=[[c.segment(64, 8192)]], reply=[c.segment(20000, 4000)])
    want(c.get(64, 8193) == DATA[:8192] + b"\xee", "wrong data")
    want(answer.writes[0][0].length == 8192, f"returned {answer.writes}")
    if c.vers == 2:
        # In version 2, only a Reply that does not fit a Receive is written to the Reply chunk.
        want(answer.proc == MSG and answer.reply[0].length == 0, f"returned {answer.reply}")
        want(c.get(20000, 4000) == b"\xee" * 4000, "a Reply chunk was written that is returned unused")
        return
    # The Reply consists of the RPC header, status, attributes, count, end of file, and the length of the data.
    want(answer.proc == NOMSG and not answer.body and answer.reply[0].length == 24 + 4 + 88 + 8 + 4,
         f"returned {answer.reply}")
    want(c.get(20000, 8) + c.get(20024, 4) == words(answer.xid, 1, 0), "no Reply")
    want(c.get(20128, 4000) == b"\xee" * 4000, "memory behind it is written")


def readdir_args(b, size=32768):
    return opaque(b.directory) + bytes(16) + words(size, size)


# Covers: V1-RPL-11 V1-ERR-11
@case("writes", "READDIR and too small a Reply chunk", "svc_rdma_error: REPLY_RESOURCE")
def small_reply(b):
    c = b.fresh()
    answer = c.nfs(READDIRPLUS, readdir_args(b), reply=[c.segment(64, 100)])
    want(c.is_error(answer, REPLY_RESOURCE), "no error")
    want(c.get(164, 8192) == b"\xee" * 8192, "memory behind it is written")
    answer = c.nfs(READDIRPLUS, readdir_args(b), reply=[c.segment(64, 101), c.segment(1001, 40000)])
    want(answer.proc == NOMSG and answer.reply[0].length == 101 and answer.reply[1].length > 4096, "no long Reply")


@case("writes", "READDIR without a Reply chunk")        # Covers: V1-RPL-12 V1-ERR-24 EXP-24
def no_reply_chunk(b):
    c = b.fresh()
    want(c.is_error(c.nfs(READDIRPLUS, readdir_args(b)), REPLY_RESOURCE), "no error")
    c.works()
    # The next Reply is longer than this client's Receives (1024 bytes, the default inline threshold
    # of version 1), but shorter than the longest Send of our server.
    small = b.connect(b"", size=1024)
    want(c.is_error(small.nfs(READDIRPLUS, readdir_args(b, 2000)), REPLY_RESOURCE), "1024 bytes: no error")
    small.works()


@case("writes", "all combinations of lists")        # Covers: V1-FRM-08 V1-FRM-07
def combinations(b):
    c = b.fresh()
    for i in range(16):
        c.wipe()
        xid = c.xid()
        rpc = rpc_call(xid, NFS, 3, READ3, read_args(b.file, 777), AUTH_ROOT)
        cut = len(rpc) - 12             # after the handle: at the offset of the READ, which is followed by the count
        proc, body, reads = MSG, rpc, []
        if i & 1:
            reads, body = [(cut, c.put(5, rpc[cut:]))], rpc[:cut]
        if i & 2:
            reads.insert(0, (0, c.put(101, body)))
            proc, body = NOMSG, b""
        answer = c.exchange(c.header(xid, proc, reads=reads, writes=[[c.segment(10000, 800)]] if i & 4 else [],
                                     reply=[c.segment(20000, 3000)] if i & 8 else None) + body)
        want(answer and answer.proc in (MSG, NOMSG), f"combination {i}: no Reply")
        stream = answer.body if answer.proc == MSG else c.get(20000, answer.reply[0].length)
        want(stream[:4] == words(xid) and stream[24:28] == words(0), f"combination {i}: {stream[:28].hex()}")
        data = c.get(10000, answer.writes[0][0].length) if i & 4 else stream[-780:-3]
        want(data == DATA[:777], f"combination {i}: wrong data")


@case("writes", "several handles are not invalidated, and none without leave", vers=(1,))      # Covers: V1-CRD-21
def invalidation(b):
    b.fresh()
    before = counters()["server_sends_inv"]
    quiet = b.connect(PLAIN)
    quiet.nfs(READ3, read_args(b.file, 4096), writes=[[quiet.segment(64, 8192)]])
    eager = b.connect(private())
    one = eager.segment(64, 4096)
    other = one._replace(handle=one.handle + 1, length=0, offset=0)
    eager.nfs(READ3, read_args(b.file, 4096), writes=[[one, other]])
    eager.works()
    want(counters()["server_sends_inv"] == before, "a handle was invalidated")


# COMPOUNDs of NFSv4.0

def compound(*operations):
    return words(0, 0, len(operations)) + b"".join(operations)


def op_lookup(name):
    return words(15) + opaque(name.encode())


def op_read(length, offset=0):
    return words(25) + bytes(16) + struct.pack(">QI", offset, length)


def op_readdir(size):
    """The operation READDIR, for names only"""
    return words(26) + bytes(16) + words(size, size, 0)


PUTROOTFH = words(24)


# Covers: V1-RPL-10
@case("writes", "a Write chunk, and a Reply chunk for all that is left")
def both_used(b):
    c = b.fresh()
    call = compound(PUTROOTFH, op_lookup("client"), op_lookup("file"), op_read(8000),
                    PUTROOTFH, op_lookup("client"), op_lookup("dir"), op_readdir(32768))
    writes = [[c.segment(64, 100), c.segment(1000, 10000)]]
    answer = c.nfs(1, call, vers=4, writes=writes, reply=[c.segment(20000, 500), c.segment(30000, 60000)])
    if os.environ["KERNEL"] == "debian-6.1":
        # nfsd of 6.1 computes a wrong length, which the module must notice.
        want(answer.proc == ERROR, f"more than the Reply is sent: {answer.proc}, {len(answer.body)} bytes")
        return
    want(answer.proc == NOMSG and not answer.body, f"it is not in the Reply chunk: {answer.proc}, {answer.body.hex()}")
    # All data must be in the Write chunk, and nowhere else.
    want([s.length for s in answer.writes[0]] == [100, 7900], f"returned {answer.writes}")
    want(c.get(64, 101) + c.get(1000, 7901) == DATA[:100] + b"\xee" + DATA[100:8000] + b"\xee", "wrong data")
    want(answer.reply[0].length == 500 and answer.reply[1].length > 4096, f"returned {answer.reply}")
    stream = c.get(20000, 500) + c.get(30000, answer.reply[1].length)
    want(c.get(20500, 1) + c.get(30000 + answer.reply[1].length, 4) == b"\xee" * 5, "bytes behind are written")
    want(stream[:8] == words(answer.xid, 1) and DATA[:64] not in stream, "no Reply, or the data is in it as well")
    # The Reply chunk must have the rest: 8 results. The fourth result, of READ, has the length of
    # the data, but not the data.
    r = Reader(stream, 24)
    want((r.word(), r.opaque(), r.word()) == (0, b"", 8), f"COMPOUND: {stream[:64].hex()}")
    for want_op in (24, 15, 15, 25, 24, 15, 15, 26):
        want((r.word(), r.word()) == (want_op, 0), f"operation {want_op}: {stream[:r.at].hex()}")
        if want_op == 25:
            r.word()
            want(r.word() == 8000, "READ is short")
    r.skip(8)
    names = set()
    while r.word():
        r.skip(8)
        names.add(r.opaque())
        want(not any(r.word() for _ in range(r.word())) and r.opaque() == b"", "attributes, which nobody asked for")
    want(r.word() == 1 and r.at == len(stream), "not to the end of the directory, or something is behind it")
    want(names == {f"{i:040}".encode() for i in range(100)}, f"{len(names)} names")


# Three READs have up to four Write chunks. Each chunk is longer than the data, and the rest of it must not change. (A
# READLINK between READs cannot be tested, because nfsd gives a wrong position for its result.)
# Covers: V1-WRC-04 V1-WRC-12 V1-WRC-15 ULB-08 EXP-19
@case("writes", "several READs in a COMPOUND")
def several(b):
    c = b.fresh()
    sizes = (101, 600, 333)
    call = compound(PUTROOTFH, op_lookup("client"), op_lookup("file"),
                    *(op_read(n, 1000 * i) for i, n in enumerate(sizes)))
    for count in range(5):
        c.wipe()
        places = [10000 * (i + 1) for i in range(count)]
        chunks = [[c.segment(at, 50), c.segment(at + 50, 4000)] for at in places]
        r = results(c.nfs(1, call, vers=4, writes=chunks))
        want(r.word() == 0, "COMPOUND fails")
        # Skip the tag, the number of results, and three results without contents.
        r.skip(8 + 3 * 8)
        for i, n in enumerate(sizes):
            want((r.word(), r.word()) == (25, 0), f"READ {i} fails")
            r.word()
            want(r.word() == n, f"READ {i} is short")
            if i >= count:
                # With these lengths, nfsd returns wrong data for the second and third READ, even
                # over TCP (see each_its_own()). So only the data of the first are compared.
                want(i or r.data[r.at:r.at + n] == DATA[:n], "wrong data in the stream")
                r.skip(n + -n % 4)
        want(r.at == len(r.data), f"{count} chunks: the stream is not what the chunks leave")
        for i, at in enumerate(places):
            n = sizes[i] if i < len(sizes) else 0
            want(i or c.get(at, n) == DATA[:n], f"{count} chunks: wrong data")
            want(c.get(at + n, 100) == b"\xee" * 100, f"{count} chunks: bytes behind are written")


# nfsd puts the data of a second or third READ in the right place of the Reply only if these data
# begin at the start of a page. In the result of each READ, 16 bytes precede the data, so the first
# two lengths are 16 less than a multiple of 4096. The chunks are not in the order of their
# addresses.
# Covers: ULB-07
@case("writes", "each READ of a COMPOUND into its own chunk")
def each_its_own(b):
    c = b.fresh()
    sizes, places, ats = (4080, 8176, 333), (70000, 10000, 40000), (1000, 50000, 20001)
    call = compound(PUTROOTFH, op_lookup("client"), op_lookup("file"), *map(op_read, sizes, ats))
    for count in range(4):
        c.wipe()
        chunks = [[c.segment(at, 50), c.segment(at + 50, 15000)] for at in places[:count]]
        answer = c.nfs(1, call, vers=4, writes=chunks, reply=[c.segment(100000, 60000)])
        stream = answer.body if answer.proc == MSG else c.get(100000, answer.reply[0].length)
        r = Reader(stream, 24)
        want(r.word() == 0, "COMPOUND fails")
        r.skip(8 + 3 * 8)
        for i, (n, at) in enumerate(zip(sizes, ats)):
            want((r.word(), r.word()) == (25, 0), f"{count} chunks: READ {i} fails")
            r.word()
            want(r.word() == n, f"READ {i} is short")
            if i < count:
                want(c.get(places[i], n) == DATA[at:at + n], f"{count} chunks: the data of READ {i} is not in chunk {i}")
                want(c.get(places[i] + n, 100) == b"\xee" * 100, f"{count} chunks: bytes behind are written")
            else:
                want(stream[r.at:r.at + n] == DATA[at:at + n], f"{count} chunks: the data of READ {i} is not in the stream")
                r.skip(n + -n % 4)
        want(r.at == len(stream), f"{count} chunks: the stream is not what the chunks leave")


# --- callbacks ----------------------------------------------------------------

CALLBACK = 0x40000000


def v41(c, *operations):
    """Make a COMPOUND of version 4.1. Returns a reader that is at the result of the first operation."""
    return v41_results(c.nfs(1, words(0, 1, len(operations)) + b"".join(operations), vers=4))


def v41_results(answer):
    r = results(answer)
    want(r.word() == 0, f"COMPOUND fails: {answer.body.hex()}")
    r.skip(8 + 8)
    return r


class Session:
    """A client of version 4.1 with a session on this connection, and with a backchannel if @back. If @later, the
    session is not made yet: it is made with the operation self.creation, whose results are passed to
    created()."""

    def __init__(self, c, later=False, back=True):
        self.c, self.number = c, 0
        # callback_state() finds the client by this name, so it must be unique.
        self.owner = os.urandom(8).hex()
        r = v41(c, words(42) + os.urandom(8) + opaque(self.owner.encode()) + words(0, 0, 0))
        self.client = r.data[r.at:r.at + 8]
        r.skip(8)
        channel = words(0, 4000, 4000, 1000, 8, 8, 0)
        flags = 2 if back else 0
        self.creation = words(43) + self.client + words(r.word(), flags) + channel + channel + words(CALLBACK, 1, 0)
        if not later:
            self.created(v41(c, self.creation))

    def created(self, r):
        self.session = r.data[r.at:r.at + 16]
        self.compound(words(58, 0))

    def sequence(self):
        """The SEQUENCE with which every COMPOUND of the session begins"""
        self.number += 1
        return words(53) + self.session + words(self.number, 0, 0, 0)

    def compound(self, *operations):
        return v41(self.c, self.sequence(), *operations)

    def ends(self):
        """Destroy the session. nfsd gives up its callbacks."""
        v41(self.c, words(44) + self.session)

    def moves(self, c):
        """Bind the session to this connection, in both directions."""
        self.c = c
        self.binds(c, 7)

    def binds(self, c, direction):
        """Bind the session to this connection as well. @direction: 1 for Calls, 2 for callbacks"""
        v41(c, words(41) + self.session + words(direction, 0))

    def callback_state(self):
        """The state of the backchannel to this client, as nfsd shows it, or None"""
        for path in glob.glob("/proc/fs/nfsd/clients/*/info"):
            with contextlib.suppress(OSError):      # a client may have just gone
                with open(path, encoding="ascii", errors="replace") as f:
                    text = f.read()
                if self.owner in text:
                    return re.search(r"callback state: (\S+)", text)[1]
        return None

    def opens(self, name):
        """Open a new file of that name for reading. Returns whether a delegation is granted."""
        with open(f"{EXPORT}/{name}", "xb") as f:
            f.write(self.client)
        r = self.compound(PUTROOTFH, op_lookup("client"), words(18, 0, 0x101, 0) + self.client +
                          opaque(self.owner.encode()) + words(0, 0) + opaque(name.encode()))
        r.skip(36 + 8 + 8 + 8 + 16 + 20 + 4)    # up to the attributes of OPEN
        r.skip(4 * r.word())
        return r.word() in (1, 2)


# If the Reply has no room after a result for the status of the next operation, nfsd removes the
# result from the Reply. Then the Write chunk for that result must stay unused.
@case("writes", "a Reply that is cut off behind a READ")        # Covers: V1-UNU-01
def cut(b):
    session = Session(b.connect())
    for length in (100, 100000):
        call = (session.sequence(), PUTROOTFH, op_lookup("client"), op_lookup("file"), op_read(length),
                words(9, 1, 0x10))
        c = session.c
        c.wipe()
        answer = c.nfs(1, words(0, 1, len(call)) + b"".join(call), vers=4, writes=[[c.segment(0, 200000)]])
        r = results(answer)
        status = r.word()
        if length == 100:
            want(status == 0 and c.get(0, 100) == DATA[:100], "the READ that fits")
        else:
            want(status == 10066, f"the COMPOUND ends with {status}, not NFS4ERR_REP_TOO_BIG")
            want(answer.writes[0][0].length == 0, "the chunk is used")


def delegation(c, name):
    """A client with a session on this connection and a delegation of a file. The server calls back when somebody
    opens the file for writing."""
    return holds(Session(c), name)


def holds(session, name):
    """Get a delegation for this client."""
    c = session.c
    want(c.verbs.until(lambda: session.callback_state() == "UP"),
         f"the way back to the client is {session.callback_state()}")
    end = time.monotonic() + 90
    while not session.opens(name):
        # nfsd grants no delegation when it has just started. For up to a minute after a recall, it
        # grants none for a file whose handle has the same hash as that of the recalled file. The
        # next try uses another file.
        want(time.monotonic() < end and session.callback_state() == "UP",
             f"no delegation of {name} is granted in {session.number} opens, callbacks {session.callback_state()}")
        os.rename(f"{EXPORT}/{name}", f"{EXPORT}/none{os.urandom(4).hex()}")
        time.sleep(0.5)
    return session


def delegations(c, count):
    """Returns the names of new files, for each of which another NFS client on the connection has a delegation"""
    names = fresh_names(count)
    for name in names:
        delegation(c, name)
    return names


def recall(*names):
    """Open these files for writing, without waiting until the delegations are returned."""
    for name in names:
        try:
            os.close(os.open(f"{EXPORT}/{name}", os.O_WRONLY | os.O_NONBLOCK))
        except BlockingIOError:
            continue
        raise Failure(f"no delegation of {name} was granted")


def fresh_names(count):
    """Names of files whose delegations were never recalled"""
    return [f"deleg{os.urandom(4).hex()}" for _ in range(count)]


def sequence_of(message):
    """The arguments of a callback's CB_SEQUENCE: session, sequence number, slot, highest slot"""
    r = Reader(message.body, 40)
    r.opaque()
    r.skip(12)
    want(r.word() == 11, "no CB_SEQUENCE")
    session = r.data[r.at:r.at + 16]
    r.skip(16)
    return session, r.word(), r.word(), r.word()


def answer_of(c, message, credit, extra=b""):
    """A valid answer to CB_COMPOUND with CB_SEQUENCE and CB_RECALL"""
    session, sequence, slot, highest = sequence_of(message)
    return (c.response(message.xid, credit) + words(message.xid, 1, 0, 0, 0, 0) + words(0, 0, 2) +
            words(11, 0) + session + words(sequence, slot, highest, highest) + words(4, 0) + extra)


# Covers: BC-05 BC-08 BC-02 V2-CRD-06 V2-CRD-07
@case("callbacks", "one callback until the first grant, and then as granted", "svc_rdma_bc_call: status=[1-9]",
      "svc_rdma_bc_reply: status=[1-9]")
def granted(b):
    c = b.connect()
    names = delegations(c, 6)
    recall(*names)
    first = c.callback()
    want(first, "no callback")
    want(not c.callback(1), "a second one before the first grant")
    c.works()
    # A grant of 0 counts as 1.
    c.conn.send(answer_of(c, first, 0))
    second = c.callback()
    want(second, "a grant of 0 stops the callbacks")
    want(not c.callback(1), "more than 1 was granted")
    c.conn.send(answer_of(c, second, 2))
    found = [c.callback(), c.callback()]
    want(all(found), "fewer than granted")
    want(not c.callback(1), "more than 2 were granted")
    for message in found:
        c.conn.send(answer_of(c, message, 16))
    found = [c.callback(), c.callback()]
    want(all(found), "the last callbacks do not come")
    # Now there are Receives for several answers. So the grant alone limits callbacks.
    for message in found:
        c.conn.send(answer_of(c, message, 1))
    c.works()
    names = delegations(c, 2)
    recall(*names)
    first = c.callback()
    want(first, "a grant that is smaller than before stops the callbacks")
    want(not c.callback(1), "more than 1 was granted, after 16")
    c.conn.send(answer_of(c, first, 16))
    second = c.callback()
    want(second, "the last callback does not come")
    c.conn.send(answer_of(c, second, 16))
    c.works()


# Covers: BC-25 BC-26 BC-12 BC-34 BC-18
@case("callbacks", "wrong, long, short answers to a callback, and errors", "svc_rdma_bc_drop: status=-90",
      "svc_rdma_bc_drop: status=-2$")
def answers(b):
    c = b.connect()
    before = counters()
    names = fresh_names(3)
    delegation(c, names[0])
    delegation(c, names[1])
    recall(*names[:2])
    message = c.callback()
    want(message, "no callback")
    c.works()
    # The other callback waits for a credit. None of the following messages may grant a credit, whatever its
    # credit word is.
    good = answer_of(c, message, 16)
    c.spend(c.response(message.xid + 1, 0xffffffff) + words(message.xid + 1) + good[c.least + 4:])
    c.spend(c.error(message.xid + 1, credit=0xffffffff))
    if c.vers == 1:
        c.spend(*(good[:length] for length in range(1, c.least)))
    # If a message had granted a credit, another thread of the server would soon send the other callback.
    want(c.silent() and not c.callback(1), "one is answered, or grants something")
    want(c.verbs.until(lambda: counters()["server_bc_dropped"] > before["server_bc_dropped"]),
         "dropped Replies are not counted")
    # A Reply that is too long ends the callback.
    c.spend(answer_of(c, message, 1, bytes(3800)))
    other = c.callback()
    want(other, "a callback that has ended keeps its credit")
    # An error also ends the callback, whatever the error's code is. In version 2, so does a
    # malformed message with the callback's XID and F_RESPONSE, unless its type is CONNPROP.
    before = counters()
    if c.vers == 1:
        c.conn.send(c.error(other.xid, credit=0xffffffff))
        counts(c.verbs, before, "server_bc_dropped", 1, "the callback waits on")
        c.spend(c.error(other.xid, 9))
    else:
        c.spend(*(answer_of(c, other, 16)[:length] for length in range(1, c.least)))
        c.spend(c.error(other.xid, credit=0xffffffff), c.error(other.xid, 9))
    want(c.silent(), "one is answered")
    before = counters()
    c.conn.send(good)
    counts(c.verbs, before, "server_bc_dropped", 1, "a good one behind them is taken")
    c.works()
    c = b.connect()
    delegation(c, names[2])
    recall(names[2])
    message = c.callback()
    want(message, "no more callbacks")
    good = answer_of(c, message, 16)
    before = counters()
    c.conn.send(good)
    c.conn.send(good)
    counts(c.verbs, before, "server_bc_dropped", 1, "the second of two is taken")
    counts(c.verbs, before, "server_bc_replies", 1, "none of two is taken, or both")
    want(not c.conn.lost, "the connection is lost")


# nfsd gives up a callback after 15 s and tries again. The client does not know this and may still answer, so
# the credit must stay in use. (This case takes long and does not depend on the version, so it runs
# only for version 1.)
# Covers: BC-05 BC-12
@case("callbacks", "callbacks that are given up keep their credits", "svc_rdma_bc_given_up",
      "svc_rdma_bc_drop: status=-110", "svc_rdma_bc_stuck", vers=(1,))
def given_up(b):
    not_on_6_1("nfsd of 6.1 does not send a callback again")
    c = b.connect()
    names = delegations(c, 5)
    recall(names[0])
    c.conn.send(answer_of(c, c.callback(), 2))
    before = counters()
    recall(names[1])
    late = c.callback()
    want(late and not c.callback(8), "no callback, or two")
    recall(names[2])
    other = c.callback()
    want(other and not c.callback(10), "a third one, though two have no answer")
    counts(c.verbs, before, "server_bc_given_up", 1, "it was not given up")
    for message in late, other:
        c.conn.send(answer_of(c, message, 2))
    again = c.callback()
    want(again, "the late answer returns no credit")
    counts(c.verbs, before, "server_bc_dropped", 1, "it is not counted")
    c.conn.send(answer_of(c, again, 2))
    c.works()
    # Both credits are free again. When callbacks that were given up hold both, the server must close the
    # connection.
    recall(*names[3:])
    want(c.callback() and c.callback(), "a credit is missing")
    want(c.verbs.until(lambda: c.conn.lost, 30), "the connection stays")
    want(not c.callback(0.5), "a callback without a credit")


# When there are credits for callbacks that have waited for one, they get Receives, too, before any other callback is
# answered. Each has a backchannel of its own.
@case("callbacks", "callbacks that wait for a credit and a Receive")       # Covers: BC-08
def waiting_for_both(b):
    c = b.connect()
    names = delegations(c, 16)
    before = counters()
    recall(names[0])
    first = c.callback()
    recall(*names[1:])
    c.conn.send(answer_of(c, first, 16))
    callbacks = [c.callback() for _ in names[1:]]
    want(all(callbacks), "too few callbacks")
    counts(c.verbs, before, "server_bc_given_up", 0, "some waited for the answers to others")
    for message in callbacks:
        c.conn.send(answer_of(c, message, 16))
    counts(c.verbs, before, "server_bc_replies", len(names), "not all answers are taken")
    c.works()


# The server must always have Receives for the Replies to all callbacks in flight, whatever else arrives.
@case("callbacks", "the whole window, and Replies to callbacks, all at once")       # Covers: BC-08 V1-CRD-08
def window_and_replies(b):
    c = b.connect(count=400)
    names = delegations(c, 8)
    before = counters()
    recall(names[0])
    c.conn.send(answer_of(c, c.callback(), 16))
    # There are credits, but one Receive.
    recall(*names[1:])
    callbacks = [c.callback() for _ in names[1:]]
    want(all(callbacks), "too few callbacks")
    counts(c.verbs, before, "server_bc_given_up", 0, "some waited for the answers to others")
    c.credit = 400
    granted = 0
    while granted < (grant := c.nfs(NULL, b"").credit):
        granted = grant
        waiting = {c.xid() for _ in range(granted)}
        for xid in waiting:
            c.conn.send(c.header(xid, credit=400) + rpc_call(xid, NFS, 3, NULL))
        while waiting:
            answer = c.receive()
            want(answer and not waiting.discard(answer.xid), "no answer")
    # Each of these Calls holds its Receive until its RDMA Reads are done.
    waiting = {c.xid() for _ in range(granted)}
    for xid in waiting:
        rpc = rpc_call(xid, NFS, 3, NULL)
        c.conn.send(c.header(xid, credit=400, reads=[(len(rpc), c.segment(0, 50000))]) + rpc)
    before = counters()
    for message in callbacks:
        c.conn.send(answer_of(c, message, 16))
    while waiting:
        answer = c.receive()
        want(answer and not waiting.discard(answer.xid), f"{len(waiting)} of {granted} are not answered")
    counts(c.verbs, before, "server_bc_replies", len(callbacks), "not all answers to callbacks are taken")
    want(not c.conn.lost, "the connection is lost")


MAX_REQ_SIZE = "/proc/sys/sunrpc/svc_rdma/max_req_size"


def get(path):
    with open(path, encoding="ascii") as f:
        return int(f.read())


def module_users():
    return get("/sys/module/rpcrdma/refcnt")


# Each NFS client needs a backchannel of its own. nfsd makes the two backchannels one after the
# other, or at the same time if posting the Receives for them takes a while. (If both clients shared
# one backchannel, sunrpc's lists would be corrupted, or the transport would never be freed.)
@case("callbacks", "two NFS clients on one connection")
def two_clients(b):
    b.fresh()
    before = module_users()
    for _ in range(10):
        two_on(b.connect())
    with large_callbacks():
        for _ in range(10):
            two_on(b.connect())
    all_leave(b, before)


@contextlib.contextmanager
def large_callbacks():
    """Large Receives, so that making a backchannel takes a while"""
    was = get(MAX_REQ_SIZE)
    try:
        put(MAX_REQ_SIZE, 65536)
        yield
    finally:
        put(MAX_REQ_SIZE, was)


def all_leave(b, before):
    want(b.verbs.until(lambda: module_users() <= before, 30),
         f"{module_users() - before} users of the module more than before: a transport is left")


# If the connection and its backchannel held references to each other, neither would ever be freed.
@case("callbacks", "clients that leave while the way back to them is being made")       # Covers: BC-12
def leave_early(b):
    b.fresh()
    before = module_users()
    with large_callbacks():
        for delay in range(24):
            c = b.connect()
            session = Session(c, later=True)
            xid = c.xid()
            c.conn.send(c.header(xid, credit=8) + rpc_call(xid, NFS, 4, 1, words(0, 1, 1) + session.creation, AUTH_ROOT))
            c.verbs.pump(delay * 0.004)
            c.conn.close()
    all_leave(b, before)


def two_on(c):
    """Make two NFS clients on this connection. Both must get a backchannel."""
    sessions = [Session(c, later=True) for _ in range(2)]
    waiting = {c.xid(): session for session in sessions}
    for xid, session in waiting.items():
        c.conn.send(c.header(xid, credit=8) + rpc_call(xid, NFS, 4, 1, words(0, 1, 1) + session.creation, AUTH_ROOT))
    answers = [c.receive() for _ in waiting]
    want(all(answers), "no session")
    for answer in answers:
        waiting[answer.xid].created(v41_results(answer))
    for session in sessions:
        want(c.verbs.until(lambda s=session: s.callback_state() in ("UP", "DOWN"), 30), "no state of callbacks")
        want(session.callback_state() == "UP", "the way back to a client is down")
    c.conn.close()


# Two NFS clients use one connection, and so share its credits for callbacks. One client destroys its session
# without answering a callback. That callback keeps its credit until the late answer comes.
# Covers: BC-05 BC-12
@case("callbacks", "two NFS clients on one connection, one of which goes", "svc_rdma_bc_given_up",
      "svc_rdma_bc_drop: status=-110")
def one_goes(b):
    b.fresh()
    users = module_users()
    c = b.connect()
    names = fresh_names(5)
    goes, stays = delegation(c, names[0]), delegation(c, names[1])
    holds(goes, names[2])
    holds(stays, names[3])
    holds(stays, names[4])
    recall(names[0])
    first = c.callback()
    want(first, "no callback")
    c.conn.send(answer_of(c, first, 2))
    before = counters()
    recall(names[2])
    late = c.callback()
    want(late and sequence_of(late)[0] == goes.session, "no callback, or for the other one")
    goes.ends()
    counts(c.verbs, before, "server_bc_given_up", 1, "the callback of the one that has gone is not given up")
    recall(names[1])
    second = c.callback()
    want(second and sequence_of(second)[0] == stays.session, "no callback for the one that stays")
    recall(names[3])
    want(not c.callback(1), "a third callback, though two have no answer")
    # This answer comes too late for its callback, but returns the credit. A callback to the other
    # client then uses it.
    c.conn.send(answer_of(c, late, 2))
    third = c.callback()
    want(third and sequence_of(third)[0] == stays.session, "the late answer returns no credit")
    for message in second, third:
        c.conn.send(answer_of(c, message, 2))
    recall(names[4])
    want(c.callback(), "no callback any more")
    c.works()
    # The objects of the client that left are freed by kfree_rcu(). Linux 6.12 waits about five seconds, and 7.3
    # until enough objects of this size are to be freed. Close the connection after that, so that KASAN would
    # report an access to these objects.
    for _ in range(20):
        two_on(b.connect())
    time.sleep(6)
    c.conn.close()
    all_leave(b, users)


# There is one credit for callbacks. If the backchannels of two NFS clients wait for it, the one that has waited longer
# gets it.
@case("callbacks", "two NFS clients get credits in turn")     # Covers: BC-05 BC-12
def in_turn(b):
    c = b.connect()
    busy_names, quiet_name = fresh_names(4), fresh_names(1)[0]
    busy, quiet = delegation(c, busy_names[0]), delegation(c, quiet_name)
    for name in busy_names[1:]:
        holds(busy, name)
    recall(*busy_names)
    message = c.callback()
    want(message and sequence_of(message)[0] == busy.session, "no callback")
    recall(quiet_name)
    want(not c.callback(1), "two callbacks with one credit")
    found = []
    while message:
        found.append(sequence_of(message)[0])
        c.conn.send(answer_of(c, message, 1))
        message = c.callback(3)
    want(len(found) == 5, f"{len(found)} of 5 callbacks")
    # The busy client's backchannel was first in the queue, so one more of its callbacks may go first. For the next one,
    # it has to wait behind the quiet client's backchannel.
    want(quiet.session in found[:3], "it comes after those that have asked later")
    c.works()


SWITCHES = "/sys/kernel/sunrpc/xprt-switches/"


def adds(switch):
    try:
        with open(switch + "/add_xprt", "w", encoding="ascii") as f:
            f.write("1")
    except OSError as e:
        want(e.errno == errno.EINVAL, f"it fails with {e}")
    else:
        raise Failure("a second way back was made")


# In newer kernels, sysfs can add a transport to the switch of an RPC client. For the RPC client of a backchannel this
# must fail, because a backchannel transport cannot be made without the client's connection.
@case("callbacks", "a transport added to a way back's switch")     # Covers: BC-11
def added(b):
    c = b.connect()
    before = os.listdir(SWITCHES)
    session = Session(c)
    want(c.verbs.until(lambda: session.callback_state() == "UP"), "there is no way back")
    fresh = [SWITCHES + name for name in os.listdir(SWITCHES) if name not in before]
    want(fresh, "it has no switch of its own")
    for switch in fresh:
        if os.path.exists(switch + "/add_xprt"):
            adds(switch)
    name = fresh_names(1)[0]
    holds(session, name)
    recall(name)
    message = c.callback()
    want(message, "no callback any more")
    c.conn.send(answer_of(c, message, 1))
    c.works()


@case("callbacks", "a connection for Calls and one for callbacks")     # Covers: BC-32
def one_way_each(b):
    calls, back = b.connect(), b.connect()
    session = Session(calls, back=False)
    session.binds(back, 2)
    names = fresh_names(3)
    for name in names:
        holds(session, name)
    for name in names:
        recall(name)
        message = back.callback()
        want(message, "no callback")
        back.conn.send(answer_of(back, message, 8))
        calls.works()
    want(not calls.callback(0.5), "a callback on the connection that is for Calls")
    session.compound(PUTROOTFH)
    calls.conn.close()
    # A connection for callbacks may still be used for Calls without a session.
    back.works()


@case("callbacks", "a client that leaves at each callback")     # Covers: BC-12
def leaves(b):
    before = counters()["server_bc_calls"]
    for name in fresh_names(8):
        c = b.connect()
        delegation(c, name)
        recall(name)
        want(c.callback(), "no callback")
        c.conn.close()
        b.client.works()
    b.connect().works()
    sent = counters()["server_bc_calls"] - before
    print(f"# {sent} callbacks to 8 clients that left")
    want(8 <= sent <= 16, f"{sent} callbacks were sent to 8 clients that left at the first")


@case("callbacks", "a client that leaves at a callback and comes back, again and again")  # Covers: BC-11 BC-27
def comes_back(b):
    before, name, came = counters()["server_bc_calls"], fresh_names(1)[0], 0
    c = b.connect()
    session = delegation(c, name)
    recall(name)
    want(c.callback(), "no callback")
    for _ in range(8):
        c.conn.close()
        c.verbs.pump(0.5)
        away = counters()["server_bc_calls"]
        c.verbs.pump(1.5)
        want(counters()["server_bc_calls"] == away, "it is called although it is not there")
        c = b.connect()
        session.moves(c)
        came += bool(c.callback(3))
    tried = b.trace.seen("rpcrdma_cm_event", "address resolved")
    want(not tried, f"the server connects: {tried}")
    sent = counters()["server_bc_calls"] - before
    print(f"# {sent} callbacks to a client that came back 8 times, {came} times to another one")
    want(came < 8, "it is called as often as it comes back")


# --- flow control -------------------------------------------------------------

@case("flow", "a first Call of 1024 bytes", vers=(1,))     # Covers: V1-CRD-12 V1-CRD-14
def first(b):
    c = b.connect(b"", size=1024)
    xid = c.xid()
    rpc = rpc_call(xid, NFS, 3, NULL)
    answer = c.exchange(header(xid) + rpc + bytes(1024 - 28 - len(rpc)))
    want(answer and results(answer).at == 24, "NULL")


@case("flow", "requests for 0, 1 and 2^32-1 credits")       # Covers: V1-CRD-02 V1-CRD-22 V2-CRD-02 V2-CRD-06
def requests(b):
    c = b.fresh()
    for credit in (0, 1, 0xffffffff, 3, 8):
        c.credit = credit
        answer = c.nfs(NULL, b"")
        want(results(answer).at == 24, f"NULL that asks for {credit}")
        want(1 <= answer.credit <= 4096, f"{answer.credit} granted for {credit}")
    c.credit = 8


def posted(name):
    """The number of Receives that the server has posted for the connection with this name in debugfs"""
    return int(values(f"{CONNECTIONS}/{name}")["receives_posted"])


# The server answers so quickly that a whole window would pass even with too few Receives. So their number is checked,
# too.
@case("flow", "the whole window at once, again and again")      # Covers: V1-CRD-08 V1-CRD-09 EXP-26 V1-CRD-27
def window(b):
    others = set(os.listdir(CONNECTIONS))
    c = b.connect(count=400)
    c.credit = 400
    results(c.nfs(READ3, read_args(b.file, 1)))
    # The server makes the file before it takes a Call.
    name, = set(os.listdir(CONNECTIONS)) - others
    many_credits(c)
    granted = first = c.nfs(NULL, b"").credit
    for _ in range(6):
        want(16 <= granted <= 400, f"{granted} granted")
        waiting = set()
        for _ in range(granted):
            xid = c.xid()
            waiting.add(xid)
            c.conn.send(c.header(xid, credit=400) + rpc_call(xid, NFS, 3, NULL))
        while waiting:
            answer = c.receive()
            want(answer, f"{len(waiting)} of {granted} are not answered")
            waiting.remove(answer.xid)
        granted = answer.credit
        want(c.verbs.until(lambda n=granted: posted(name) >= n),
             f"{granted} credits are granted, but {posted(name)} Receives are posted")
    want(granted >= first, "the grant has fallen")


@case("flow", "one Call too many, and many")        # Covers: V1-CRD-13
def overrun(b):
    for extra in (1, 300):
        c = b.connect(count=500)
        granted = c.nfs(NULL, b"").credit
        seen = counters()["server_receives"] + granted + extra
        for _ in range(granted + extra):
            xid = c.xid()
            c.conn.send(c.header(xid) + rpc_call(xid, NFS, 3, NULL))
        want(c.verbs.until(lambda c=c, n=seen: c.conn.lost or counters()["server_receives"] >= n),
             "they are neither taken nor the connection lost")
        c.conn.close()
        b.connect().works()


def nfsd_threads(count):
    with open("/proc/fs/nfsd/threads", "w", encoding="ascii") as f:
        f.write(str(count))


def many_credits(c, least=16):
    """Use all credits until the server has granted at least this many."""
    granted = c.nfs(NULL, b"").credit
    for _ in range(20):
        if granted >= least:
            return
        used = granted
        with slow("nfsd"):
            for _ in range(used):
                xid = c.xid()
                c.conn.send(c.header(xid) + rpc_call(xid, NFS, 3, NULL))
        for _ in range(used):
            granted = c.receive().credit
    raise Failure(f"only {granted} credits after 20 full windows")


# Each credit costs memory, and anybody can connect and send NULL Calls. So the server grants more credits only to a
# client that has used a file handle of an export.
@case("flow", "a client that has not shown a handle")
def stranger(b):
    not_on_6_1("nfsd of 6.1 does not tell which client it knows")
    c = b.connect(count=64)
    granted = [c.nfs(NULL, b"").credit for _ in range(400)]
    # Nor does it get more if it uses all that it has.
    for _ in range(100):
        for xid in [c.xid() for _ in range(granted[0])]:
            c.conn.send(c.header(xid) + rpc_call(xid, NFS, 3, NULL))
        answers = [c.receive() for _ in range(granted[0])]
        want(all(answers), "no answer")
        granted += [answer.credit for answer in answers]
    want(max(granted) == granted[0], f"{granted[0]} credits became {max(granted)} for who is not known")
    results(c.nfs(READ3, read_args(b.file, 1)))
    many_credits(c)


# An nfsd thread builds the next Reply while the device still reads the previous one from memory. Both Replies
# must be right.
@case("flow", "long Replies one behind the other")      # Covers: V1-WRC-10
def long_replies(b):
    c = b.fresh()
    args = readdir_args(b)
    c.nfs(READDIRPLUS, args, reply=[c.segment(0, 1 << 16)])
    good = c.get(4, 1 << 14)
    nfsd_threads(1)
    try:
        many_credits(c)
        for turn in range(10):
            c.wipe()
            waiting = {c.xid(): i << 16 for i in range(16)}
            for xid, at in waiting.items():
                c.conn.send(c.header(xid, credit=16, reply=[c.segment(at, 1 << 16)]) +
                            rpc_call(xid, NFS, 3, READDIRPLUS, args, AUTH_ROOT))
            for _ in range(len(waiting)):
                answer = c.receive()
                want(answer, f"turn {turn}: no answer")
                at = waiting.pop(answer.xid)
                want(c.get(at, 4) == words(answer.xid), f"turn {turn}: a Reply begins with another XID")
                want(c.get(at + 4, 1 << 14) == good, f"turn {turn}: a Reply has changed")
    finally:
        nfsd_threads(4)


# nfsd puts pages of the page cache into the Reply to a READ. The thread must not build its next Reply in these
# pages, because that would change the file.
@case("flow", "a READ, and a READDIR by the same thread")      # Covers: MEM-05
def read_and_list(b):
    c = b.fresh()
    nfsd_threads(1)
    try:
        for at in (0, 4096, 8192):
            for _ in range(2):
                answer = c.nfs(READ3, read_args(b.file, 2000, at))
                want(DATA[at:at + 2000] in answer.body, f"wrong data at {at}")
                c.nfs(READDIRPLUS, readdir_args(b), reply=[c.segment(0, 1 << 16)])
    finally:
        nfsd_threads(4)


# Each segment needs an RDMA Write, so 24 READs with 64 segments each need many more slots than the send queue of any
# adapter has.
@case("flow", "more RDMA Writes than the send queue holds", "rpcrdma_sq_wait")
def long_queue(b):
    not_on_6_1("rxe of 6.1 executes a work request before it takes the next one")
    c = b.fresh()
    waits = counters()["server_sq_waits"]
    nfsd_threads(24)
    try:
        many_credits(c, 24)
        # On a busy machine, the server may finish each Call before the next one arrives, so that no
        # Call has to wait for the send queue. Try again then.
        for turn in range(40):
            if turn >= 5 and counters()["server_sq_waits"] > waits:
                break
            c.wipe()
            waiting = {}
            for i in range(24):
                chunk = [c.segment((i << 16) + (j << 10), 1 << 10) for j in range(64)]
                xid = c.xid()
                waiting[xid] = i
                c.conn.send(c.header(xid, credit=24, writes=[chunk]) +
                            rpc_call(xid, NFS, 3, READ3, read_args(b.file, 1 << 16, i << 13), AUTH_ROOT))
            while waiting:
                answer = c.receive(60)
                want(answer, f"{len(waiting)} READs are not answered")
                want(results(answer).word() == 0, "READ")
                i = waiting.pop(answer.xid)
                want(c.get(i << 16, 1 << 16) == DATA[i << 13:(i << 13) + (1 << 16)], f"wrong data in READ {i}")
    finally:
        nfsd_threads(4)
    waits = counters()["server_sq_waits"] - waits
    want(waits, "none had to wait for the send queue")
    print(f"# {waits} waited for the send queue")


# With iWARP, each RDMA Read needs one of the connection's regions, of which there are at most 80,
# and the send queue has room for the three work requests of each region. So with iWARP, Calls wait
# for regions, and with rxe they wait for the send queue. Adapters of the RoCE kind that may also
# need regions (mlx5) have a send queue with room for all of these RDMA Reads.
@case("flow", "more RDMA Reads than the server has regions for, or room", "rxe/rpcrdma_sq_wait")
def long_reads(b):
    not_on_6_1("rxe of 6.1 executes a work request before it takes the next one")
    c = b.fresh()
    kind = "server_pull_waits" if iwarp() else "server_sq_waits"
    must = iwarp() or os.environ["PROVIDER"] == "rxe"
    waits = counters()[kind]
    nfsd_threads(16)
    try:
        many_credits(c)
        for turn in range(40):
            if turn >= 5 and (counters()[kind] > waits or not must):
                break
            waiting = {c.xid() for _ in range(16)}
            for xid in waiting:
                rpc = rpc_call(xid, NFS, 3, NULL)
                reads = [(len(rpc), c.segment(4096 * j, 16384)) for j in range(16)]
                c.conn.send(c.header(xid, credit=16, reads=reads) + rpc)
            while waiting:
                answer = c.receive(60)
                want(answer and not waiting.discard(answer.xid), f"{len(waiting)} Calls are not answered")
    finally:
        nfsd_threads(4)
    waits = counters()[kind] - waits
    want(waits or not must, "none had to wait")
    print(f"# {waits} waited")
    c.works()


@case("flow", "private data that is garbage, short, of another version")        # Covers: V1-CRD-19 V1-CRD-17
def garbage(b):
    good = private(65536, 65536)
    odd = (b"\xbd" * 8, good[:7], b"\xf6\xab\x0e\x18\x02\0\x3f\x3f", private(recv=1024))
    # Version 2 uses the client's properties, whatever the private data say.
    for data in odd + (good,) * (b.client.vers == 2):
        c = b.connect(data, size=1024)
        c.works()
        want(c.is_error(c.nfs(READDIRPLUS, readdir_args(b, 2000)), REPLY_RESOURCE),
             f"{data.hex()}: more than 1024 bytes are sent")
        c.works()
        c.conn.close()


@case("flow", "a client without Receives")      # Covers: V1-CRD-26
def no_receives(b):
    c = b.connect()
    c.verbs.lib.peer_keep(c.conn.index, 1)
    for _ in range(80):
        xid = c.xid()
        c.conn.send(c.header(xid) + rpc_call(xid, NFS, 3, NULL))
        c.verbs.pump(0.01)
    want(c.verbs.until(lambda: c.conn.lost, 20), "the connection stays")
    b.connect().works()


@case("flow", "1000 RDMA_DONE and RDMA_ERROR")      # Covers: V1-DEP-05 V1-ERR-09 V1-ERR-23 BC-26
def dropped(b):
    def seen():
        return counters()["server_dropped"] + counters()["server_bc_dropped"]
    c = b.fresh()
    done = words(0x77, 1, 0xffffffff, 3) if c.vers == 1 else c.error(0x77, 9, 0xffffffff)
    before = seen()
    for i in range(0, 1000, 4):
        for message in (done, c.error(0x77, credit=0xffffffff)) * 2:
            c.conn.send(message)
        # Each message occupies a Receive until a thread has dropped it, so send only a few at once.
        want(c.verbs.until(lambda n=i: seen() >= before + n + 4), "not all are dropped")
    want(seen() == before + 1000, "more are dropped")
    want(c.silent(), "one is answered")
    c.works()


@case("flow", "200 connections opened and dropped, 30 that never send")
def door(b):
    b.fresh().works()
    before = counters()
    idle = [b.connect(count=1) for _ in range(30)]
    b.client.works()
    for i in range(200):
        index = b.verbs.lib.peer_connect(ADDRESS.encode(), str(PORT).encode(), 1, 1024, 4, PLAIN, 8)
        want(index >= 0, f"connection {i}")
        conn = Conn(b.verbs, index)
        if i % 4:               # one in four is dropped before it is up
            b.verbs.until(lambda conn=conn: conn.up or conn.lost)
            want(conn.up, f"connection {i} is refused")
        conn.close()
    b.client.works()
    for c in idle:
        c.works()
        c.conn.close()
    want(b.verbs.until(lambda: counters()["server_disconnects"] - before["server_disconnects"] >= 180, 30),
         "the server does not notice")
    b.connect().works()


if __name__ == "__main__":
    sys.exit(main())
