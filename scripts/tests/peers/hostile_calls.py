# SPDX-License-Identifier: GPL-2.0
"""An NFS client over RDMA that sends odd and malformed messages to our server. Almost all of them are NULL
Calls, so that only the transport decides whether to accept them.

usage: hostile_calls.py SET [part of a name]
"""
import itertools
import os
import subprocess
import sys
import time

from caller import ADDRESS, NFS, NULL, PLAIN, PORT, READ3, Client, counts, main, operations
from peer import (AUTH_NONE, AUTH_ROOT, BAD_XDR, CALL, DONE, ERROR, ERR_VERS, INVAL_HTYPE, MSG, MSGP, NOMSG, READ,
                  SEGMENTS, WRITE, WRITE_CHUNKS, Conn, Segment, Verbs, counters, error, get, header, iwarp,
                  only_own_memory, opaque, rpc_call, rpc_reply, want, words)
from sets import case

NULL_LENGTH = 40
# A segment that is never accessed
NOWHERE = Segment(1, 8, 4096)


def null(xid):
    return rpc_call(xid, NFS, 3, NULL)


def replied(c, message, xid, what):
    """The message must be answered with an inline Reply to NULL."""
    answer = c.exchange(message)
    want(answer and answer.credit, f"{what}: no answer")
    want(answer.data == c.response(xid, answer.credit) + rpc_reply(xid), f"{what}: {answer.data.hex()}")


def refused(c, message, xid, what, code, *args):
    """The message must be answered with ERR_CHUNK, or with the corresponding error of version 2."""
    answer = c.exchange(message)
    want(c.is_error(answer, code, *args) and answer.xid == xid and answer.vers == c.vers and answer.credit,
         f"{what}: {answer and answer.data.hex()}")


def all_refused(b, messages):
    """All messages must be refused. messages(c, xid) yields (description of the fault, message), followed by
    the expected error of version 2 and its values, unless this error is BAD_XDR."""
    c = b.fresh()
    before = counters()
    count = len(list(messages(c, 0)))
    for i in range(count):
        xid = c.xid()
        what, message, *error2 = next(itertools.islice(messages(c, xid), i, None))
        refused(c, message, xid, what, *(error2 or [BAD_XDR]))
    counts(c.verbs, before, "server_bad_headers", count)
    c.works()


# --- messages -----------------------------------------------------------------

# Covers: V1-ERR-14 V1-ERR-16 V1-CRD-25 V1-ERR-27
@case("messages", "messages under 28 bytes are dropped", "svc_rdma_discarded: SHORT", vers=(1,))
def short(b):
    c = b.fresh()
    before = counters()
    c.spend(*(header(c.xid())[:length] for length in range(28)))
    want(c.silent(), "one is answered")
    counts(c.verbs, before, "server_dropped", 28)
    c.works()


# Covers: V1-ERR-03 V1-ERR-04 V1-ERR-05 V1-ERR-07 EXP-27 EXP-28
@case("messages", "other versions", "svc_rdma_refused: VERS", "svc_rdma_error: VERS", vers=(1,))
def versions(b):
    c = b.fresh()
    for vers in (0, 2, 3, 0xffffffff):
        xid = c.xid()
        answer = c.exchange(header(xid, vers=vers) + null(xid))
        want(answer and answer.credit, f"{vers}: no answer")
        want(answer.data == words(xid, vers, answer.credit, ERROR, ERR_VERS, 1, 1), f"{vers}: {answer.data.hex()}")


# Covers: V1-DEP-02 V1-DEP-05 V1-ERR-09 V1-ERR-23 V1-ERR-01 EXP-32
@case("messages", "all message types", "svc_rdma_discarded: DONE", "svc_rdma_discarded: ERROR",
      "svc_rdma_refused: PROC", vers=(1,))
def types(b):
    c = b.fresh()
    before = counters()
    c.spend(*[header(c.xid(), DONE)] * 50, error(c.xid(), rest=words(0, 0)))
    # Also send errors with other version numbers. A Call first settles the connection's version.
    # Otherwise the server would parse the error with number 2 as a message of version 2.
    c.works()
    for vers in (0, 2, 3, 0xffffffff):
        c.spend(error(c.xid(), vers=vers, code=ERR_VERS, rest=words(1, 1)), error(c.xid(), vers=vers))
    want(c.silent(), "one is answered")
    counts(c.verbs, before, "server_dropped", 59)
    xid = c.xid()
    replied(c, words(xid, 1, 8, MSGP, 64, 256, 0, 0, 0) + null(xid), xid, "RDMA_MSGP")
    for proc in (5, 0x7fffffff, 0xffffffff):
        xid = c.xid()
        refused(c, header(xid, proc) + null(xid), xid, f"type {proc}", INVAL_HTYPE)


# Covers: BC-25
@case("messages", "Replies to callbacks that never were", "svc_rdma_bc_drop: status=-2", "svc_rdma_discarded: BC_REPLY")
def replies(b):
    c = b.fresh()
    before = counters()
    for size in (0, 4, 900, 4000):
        xid = c.xid()
        c.spend(c.response(xid, 0xffffffff) + rpc_reply(xid, bytes(size)))
    want(c.silent(), "one is answered")
    counts(c.verbs, before, "server_bc_dropped", 4)


# Covers: V1-ERR-01 V1-ERR-02 V1-ERR-06 V1-ERR-15 V1-ERR-27 V1-HDR-05 V1-CHK-14 V1-CHK-15 V1-FRM-10 V1-PZC-10 MEM-13
# Covers: EXP-28 EXP-29
@case("messages", "lists that make no sense", "svc_rdma_refused: LIST", "svc_rdma_refused: XID")
def lists(b):
    def messages(c, xid):
        call = null(xid)
        for i in range(3):
            yield f"presence word 2 in list {i}", c.prefix(xid) + words(*(2 * (i == n) for n in range(3))) + call
        yield "0xffffffff segments", c.prefix(xid) + words(0, 1, 0xffffffff) + bytes(24) + call
        yield "65 segments", c.header(xid, writes=[[NOWHERE] * 65]) + call, SEGMENTS, 64
        yield "65 segments of a Reply chunk", c.header(xid, reply=[NOWHERE] * 65) + call, SEGMENTS, 64
        yield "17 Write chunks", c.header(xid, writes=[[NOWHERE]] * 17) + call, WRITE_CHUNKS, 16
        whole = c.header(xid, reads=[(40, NOWHERE)] * 2, writes=[[NOWHERE] * 2, [NOWHERE]], reply=[NOWHERE] * 2)
        for length in range(c.least, len(whole)):
            yield f"a header that ends after {length} of {len(whole)} bytes", whole[:length]
        yield "another XID in the message", c.header(xid) + null(xid + 1)
        yield "RDMA_MSG without a message", c.header(xid)
        yield "RDMA_NOMSG without a chunk", c.header(xid, NOMSG)
        yield "RDMA_NOMSG with a message", c.header(xid, NOMSG) + call
        yield "RDMA_MSG with a Position Zero chunk", c.header(xid, reads=[(0, c.segment(0, 40))]) + call

    all_refused(b, messages)


# Covers: V1-RDC-03 V1-RDC-17 V1-RDC-18 V1-PZC-11 V1-PZC-12 V1-ERR-28 MEM-13
# Only the message with a Position Zero chunk of 1 GiB has 52 bytes (60 in version 2) and is too long.
@case("messages", "Read chunks that make no sense", "svc_rdma_refused: POSITION",
      "svc_rdma_refused: len=(52|60) LENGTH")
def read_chunks(b):
    def messages(c, xid):
        end = NULL_LENGTH
        some, rest = c.segment(0, 40), c.segment(0, 0xfffffff0)
        for what, reads in (("a position that is not aligned", [(end + 2, some)]),
                            ("a position past the end", [(end + 4, some)]),
                            ("Read chunks that overlap", [(end, some), (end + 20, some)]),
                            ("a Read chunk of 4 GiB", [(end, rest)]),
                            ("a Read chunk whose length overflows", [(end, rest), (end, rest)]),
                            ("15 chunks of 4 GiB", [(end, rest)] + [(end + 4 * i, rest) for i in range(15)])):
            yield what, c.header(xid, reads=reads) + null(xid)
        yield "a Position Zero chunk of 1 GiB", c.header(xid, NOMSG, reads=[(0, c.segment(0, 1 << 30))])
        for what, rpc in (("another XID in a Position Zero chunk", null(xid + 7)),
                          ("a Reply in a Position Zero chunk", rpc_reply(xid, bytes(16))),
                          ("a Position Zero chunk of 4 bytes", words(xid))):
            yield what, c.header(xid, NOMSG, reads=[(0, c.put(0, rpc))])

    all_refused(b, messages)


# --- chunks -------------------------------------------------------------------

# Covers: V1-PZC-04 V1-PZC-08 V1-RDC-15 V1-RDC-19 V1-CHK-09 EXP-04
@case("chunks", "Position Zero chunks of all shapes")
def long_calls(b):
    c = b.fresh()
    for lengths in ([40], [1, 10, 0, 29], [2] * 20, [0, 40, 0], [39, 1]):
        xid = c.xid()
        c.put(0, null(xid))
        reads, at = [], 0
        for length in lengths:
            reads.append((0, c.segment(at, length)))
            at += length
        replied(c, c.header(xid, NOMSG, reads=reads), xid, f"segments of {lengths}")


# AUTH_SYS with the machine name (position 40) and the number of group IDs and these IDs (position 56) in chunks. The
# Call is accepted only if the server assembles it correctly.
# Covers: V1-RDC-10 V1-RDC-11 V1-RDC-16 V1-RDC-19 V1-HDR-19 EXP-03
@case("chunks", "chunks inside the credential")
def credential(b):
    c = b.fresh()
    c.put(200, b"abcde\xff\xff\xff")
    groups = (56, c.put(301, words(2, 7, 8)))
    whole = [(40, c.segment(200, 5))]
    split = [(40, c.segment(200, 2)), (40, c.segment(202, 0)), (40, c.segment(202, 3))]
    for what, reads in (("two chunks", whole + [groups]), ("with roundup", [(40, c.segment(200, 8)), groups]),
                        ("three segments", split + [groups]), ("in reverse order", [groups] + whole)):
        xid = c.xid()
        rpc = words(xid, CALL, 2, NFS, 3, NULL, 1, 36) + words(99, 5, 1, 2) + AUTH_NONE
        replied(c, c.header(xid, reads=reads) + rpc, xid, what)


@case("chunks", "Read chunks of many sizes and segments")       # Covers: V1-CHK-15 ULB-19 V1-RDC-16
def sizes(b):
    c = b.fresh()
    end = NULL_LENGTH
    shapes = [[(end, c.segment(13, 7 ** i))] for i in range(7)]
    shapes.append([(end, c.segment(i * 100 + 3, 64)) for i in range(64)])
    shapes.append([(end + i * 64, c.segment(i * 100 + 3, 64)) for i in range(c.most_reads)])
    for i, reads in enumerate(shapes):
        xid = c.xid()
        replied(c, c.header(xid, reads=reads) + null(xid), xid, f"shape {i}")


# Covers: V1-FRM-07 V1-RPL-02 V1-RPL-11 V1-ERR-11 V1-UNU-01 V1-WRC-15 V1-WRC-17
@case("chunks", "Reply chunks, and Write chunks that stay unused")
def results_of_null(b):
    c = b.fresh()
    if c.vers == 1:
        long_null(c)
    xid = c.xid()
    chunks = [[c.segment(0, 100), c.segment(100, 200)], []]
    # Version 2 uses a Reply chunk only for a Reply that does not fit a Receive.
    reply = [c.segment(20480, 20)] if c.vers == 2 else None
    answer = c.exchange(c.header(xid, writes=chunks, reply=reply) + null(xid))
    want(answer and answer.proc == MSG and answer.body == rpc_reply(xid), "no Reply")
    want(answer.writes == [[s._replace(length=0) for s in chunks[0]], []], f"returned {answer.writes}")
    want(answer.reply == (reply and [reply[0]._replace(length=0)]), f"returned {answer.reply}")
    want(c.get(20480, 20) == b"\xee" * 20, "a Reply chunk was written that is returned unused")


def long_null(c):
    xid = c.xid()
    c.put(0, null(xid))
    chunk = [c.segment(4096, 5), c.segment(8192, 11), c.segment(12288, 4000)]
    answer = c.exchange(header(xid, NOMSG, reads=[(0, c.segment(0, NULL_LENGTH))], reply=chunk))
    want(answer and answer.proc == NOMSG and len(answer.data) == 80, "no long Reply")
    want([s.length for s in answer.reply] == [5, 11, 8], f"returned {answer.reply}")
    found = c.get(4096, 6) + c.get(8192, 12) + c.get(12288, 9)
    reply = rpc_reply(xid)
    want(found == reply[:5] + b"\xee" + reply[5:16] + b"\xee" + reply[16:] + b"\xee", "wrong bytes in the Reply chunk")

    xid = c.xid()
    refused(c, header(xid, reply=[c.segment(20480, 20)]) + null(xid), xid, "a Reply chunk that is too small", BAD_XDR)
    want(c.get(20500, 1) == b"\xee", "it was written past its end")
    c.wipe()


# --- endings ------------------------------------------------------------------

# After an RDMA Read has failed, the server must release the memory region of the Read. (Only with iWARP
# does a Read have one, and the kernel would warn about a region that is still in use.) A page that
# stayed mapped would not be noticed (dma.rst).
# Covers: V1-ERR-28 MEM-05 MEM-23
@case("endings", "handles that cannot be read or written", "rxe/svc_rdma_read_err", "rxe/svc_rdma_send_err")
def handles(b):
    def read(xid):
        return rpc_call(xid, NFS, 3, READ3, opaque(b.file) + words(0, 0, 100), AUTH_ROOT)

    bad = b.client.segment(0, 100)._replace(handle=b.verbs.handle ^ 0x5500)
    # In version 2, the Reply to NULL is never written to a Reply chunk, so leave out the last of these.
    for proc, rpc, lists in ((NULL, null, {"reads": [(NULL_LENGTH, bad)]}), (READ3, read, {"writes": [[bad]]}),
                             (NULL, null, {"reply": [bad]}))[:4 - b.client.vers]:
        c = b.connect(b"")
        c.works()
        xid = c.xid()
        before = operations("proc3")[proc]
        want(not c.exchange(c.header(xid, **lists) + rpc(xid)) and c.conn.lost, f"{lists}: the connection stays")
        want(operations("proc3")[proc] == before + ("reads" not in lists), f"{lists}: executed, or not")
        b.fresh().works()


# In these tests, the server has regions only with iWARP, where an RDMA Read needs one.
# Covers: MEM-05
@case("endings", "all regions of the server")
def regions(b):
    # The server allocates regions when it first needs them.
    c = b.fresh()
    xid = c.xid()
    replied(c, c.header(xid, reads=[(NULL_LENGTH, c.segment(0, 8192))]) + null(xid), xid, "a Read chunk")
    handles = only_own_memory()
    want(handles or not iwarp(), "the server shows no region")
    # Each attempt ends a connection.
    for i, handle in enumerate(handles[:32]):
        c = b.connect(b"")
        c.works()
        for what in (WRITE, READ):
            want(c.conn.refused(c.segment(0, 8)._replace(handle=handle), what, 8), f"region {i} is open: {handle:#x}")
        c.conn.close()
    b.fresh().works()


def accepted(b, reads):
    """Does the server accept a client that serves @reads RDMA Reads at a time?"""
    index = b.verbs.lib.peer_connect(ADDRESS.encode(), str(PORT).encode(), 8, 4096, reads, PLAIN, len(PLAIN))
    want(index >= 0, "no attempt")
    conn = Conn(b.verbs, index)
    want(b.verbs.until(lambda: conn.lost or conn.up), "neither accepted nor refused")
    up = conn.up
    conn.close()
    return up


@case("endings", "a client that serves no RDMA Reads", "svc_rdma_accept_err", vers=(1,))       # Covers: V1-CRD-32
def no_reads(b):
    before = counters()
    want(not accepted(b, reads=0), "it was not refused")
    counts(b.verbs, before, "server_accept_errors", 1, "it was not refused by us")


@case("endings", "leaving with Calls under way, and without a word", "svc_rdma_lost", "svc_rdma_free")
def leaving(b):
    b.fresh().works()
    before = counters()
    for turn in range(1, 31):
        rc = subprocess.run([sys.executable, "-S", sys.argv[0], "leave"], check=False).returncode
        want(rc in (LEFT, ANSWERED, ENDED), f"status {rc}")
        want(b.verbs.until(lambda n=turn: counters()["server_disconnects"] >= before["server_disconnects"] + n, 30),
             "the server does not notice")
        if rc == LEFT:
            print(f"# with Calls under way in turn {turn}")
            return
    want(False, "it could not be brought about: in 30 turns, the server had answered all Calls when it had begun with one")


LEFT, ANSWERED, ENDED = 7, 8, 9


def leave(kind=Client):
    """Exit without closing the connection when the server has begun with one of 12 Calls, and before it has
    answered all of them. The server may have fewer Receives at first. If it is slow to post them again, siw ends the
    connection."""
    c = kind(Verbs())
    # nfsd's largest payload may be less than 900000 bytes. By default it depends on the memory of
    # the server.
    size = min(900000, int(get("/proc/fs/nfsd/max_block_size")))
    before = counters()["server_calls_read_chunk"]
    for _ in range(12):
        xid = c.xid()
        c.conn.send(c.header(xid, reads=[(NULL_LENGTH, c.segment(0, size))]) + null(xid))
    # Do not sleep in this loop: the server would answer all Calls in the meantime.
    end = time.monotonic() + 5
    while counters()["server_calls_read_chunk"] == before:
        if time.monotonic() > end:
            os._exit(ENDED)
    while c.verbs.pump():
        pass
    os._exit(LEFT if len(c.conn.inbox) < 12 else ANSWERED)


if __name__ == "__main__":
    if sys.argv[1] == "leave":
        leave()
    sys.exit(main())
