#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a capture of traffic between our client and our server. Connections of version 1 and of version 2 are
checked separately. If a connection begins with version 2, and the server answers that it only has version 1,
then the connection is of version 1, and its first two messages (Connection.hello) are left out.

usage: wire.py CAPTURE

Prints a "case" line for each rule that all traffic must obey, and for each form of message that must occur:
wire-... for version 1, wire2-... for version 2. If nothing in the capture could have broken a rule, its case
fails, because the rule was not tested. The case "decode" fails if tshark finds errors: with its own decoder
for version 1, and with ours for version 2.
"""
import sys

import groups
import roce
from decoder import WITH_LUA, complaints, fields, is_error, number, verdict
from roce import CALL, CONNPROP, ERROR, MSG, NOMSG, REPLY, Access, Words

NFS, NFSACL, COMPOUND = 100003, 100227, 1
AUTH_SYS = 1
V3_READLINK, V3_READ, V3_WRITE, V3_SYMLINK = 5, 6, 7, 10
OP_BIND_CONN, OP_CREATE_SESSION = 41, 43
OP_CREATE, OP_READ, OP_WRITE, OP_GETATTR, NF4LNK = 6, 25, 38, 9, 5
RNR_NAK = 1
PRIVATE_LEN = 8
BACKWARD_CREDITS = 16			# requested by our server, granted by our client
HDR_MIN = {1: 28, 2: 36}
INLINE_FIRST = 1024			# maximum length of the first message of version 2
RBSIZ = 1

conns = []				# the connections of the version that is being checked
version = 1


def wire():
    return "wire" if version == 1 else "wire2"


def rule(name, checks):
    """Report a rule. @checks: (kept, where) for each event that could break the rule"""
    checks = list(checks)
    broken = [where for kept, where in checks if not kept]
    verdict(f"{wire()}-rules-{name}", checks and not broken,
            f"broken {len(broken)} times of {len(checks)}, first by {broken[0]}" if broken else "nothing to judge by")


def form(name, match):
    verdict(f"{wire()}-form-{name}", any(match(m) for m in messages()), "no such message in the capture")


def messages():
    return [m for c in conns for m in c.messages]


def calls():
    return [m for m in messages() if m.type not in (ERROR, CONNPROP) and m.is_call and m.forward]


def replies():
    return [m for m in messages() if m.type not in (ERROR, CONNPROP) and not m.is_call and m.forward]


def backward():
    return [m for m in messages() if m.type == MSG and not m.forward]


def total(segments):
    return sum(s.length for s in segments)


# --- an independent decoder --------------------------------------------------

def decode(capture):
    mine = {str(m.frame) for m in messages()}
    lines = [p for p in fields(capture, "rpcordma", ["frame.number", "_ws.malformed", "_ws.expert.message",
                                                          "_ws.expert.severity"]) if p["frame.number"] in mine]
    # Leave out frames that a device sent again: tshark takes a repeated Reply for another Reply without data.
    repeated = {str(frame) for c in conns for frame in c.repeated}
    bad = [f"frame {p['frame.number']}: {p['_ws.malformed'] or p['_ws.expert.message']}" for p in lines
           if p["frame.number"] not in repeated and
           (p["_ws.malformed"] or is_error(p))]
    # tshark ignores Sends that it does not recognise as RPC-over-RDMA.
    missed = sorted(mine - {p["frame.number"] for p in lines})
    bad += refusals(capture)
    # Covers: V1-HDR-02 V1-HDR-07 V1-HDR-08 V1-HDR-10 V1-HDR-16 V1-HDR-20 V1-HDR-24 EXP-08
    verdict("wire-decode", lines and not missed and not bad,
            f"{len(lines)} messages, {len(missed)} Sends not decoded, {len(bad)} bad: " + "; ".join((missed + bad)[:2]))


def refusals(capture):
    """Check the first messages of version 2 on connections of version 1, and the ERR_VERS that answer them.
    tshark's decoder ignores these messages, because their version is 2, so our decoder reads them. Yields
    errors."""
    names = ["_ws.malformed", "_ws.lua.text", "rpcrdma2.xid", "rpcrdma2.htype", "rpcrdma2.err", "rpcrdma2.err.v1_layout",
             "rpcrdma2.err.vers_low", "rpcrdma2.err.vers_high"]
    two = [m for c in conns for m in c.hello]
    lines = {p["frame.number"]: p for p in
             fields(capture, "rpcrdma2", ["frame.number", *names], *WITH_LUA)} if two else {}
    for m in two:
        p = lines.get(str(m.frame))
        found = p and [p[n] for n in names]
        want = ["", "", f"0x{m.xid:08x}", str(m.type), "1", "1", "1", "1"]
        if m.type == CONNPROP:
            want[4:] = [""] * 4
        if not p or [f.replace("True", "1") for f in found] != want:
            yield f"{m}: {found}, not {want}"


def transmissions(m):
    """All transmissions of @m, or @m itself"""
    return [p.m for p in m.parts] if m.type == groups.RTX_MSG else [m]


def decode2(capture):
    """Check that our dissector shows the right header fields of each message, and has no complaints."""
    ours = ["xid", "vers", "credit", "htype", "flags", "inv_handle"]
    marks = complaints()
    lines = {p["frame.number"]: p for p in
             fields(capture, "rpcrdma2", ["frame.number", "_ws.malformed", "_ws.expert.message", "_ws.lua.text",
                                               *("rpcrdma2." + n for n in ours)], *WITH_LUA)}
    checks = []
    for m in (t for m in messages() for t in transmissions(m)):
        p = lines.get(str(m.frame))
        want = [m.xid, 2, m.credits, m.type, m.flags, m.inv_handle]
        checks.append((p and not p["_ws.malformed"] and not p["_ws.lua.text"] and
                       not any(mark in p["_ws.expert.message"] for mark in marks) and
                       [number(p["rpcrdma2." + n]) for n in ours] == want,
                       f"{m}: {p and list(p.values())}, not {want}"))
    bad = [where for good, where in checks if not good]
    # Covers: V2-HDR-01 V2-CHK-01 V2-TYP-01 V2-PRP-01
    verdict("wire2-decode", checks and not bad, f"{len(bad)} of {len(checks)} messages: {bad[:1]}")


# --- connections --------------------------------------------------------------

def private_sizes(private):
    """(Send size, Receive size) in bytes, from RFC 8797 private data"""
    return (private[6] + 1) * 1024, (private[7] + 1) * 1024


def receive_size(conn, from_client):
    """Returns the RBSIZ that the client, or the server, announced in version 2, or the default."""
    props = next((m.properties for m in conn.messages if m.type == CONNPROP and m.from_client == from_client), {})
    return props.get(RBSIZ, 4096)


def thresholds(conn):
    """Returns the maximum length of a Send of the client, and of the server."""
    if conn.version == 2:
        return receive_size(conn, False), receive_size(conn, True)
    client, server = private_sizes(conn.asked), private_sizes(conn.answered)
    return min(client[0], server[1]), min(server[0], client[1])


def connecting(requests, stray):
    # Covers: RPB-08
    rule("client-connects", ((p["ip.src"] == roce.CLIENT, f"frame {p['frame.number']}") for p in requests))
    verdict("wire-rules-all-connections", not stray, f"frames {stray[:3]} belong to no connection")

    def private():
        for c in conns:
            for data in (c.asked, c.answered):
                yield data[:6].hex() == "f6ab0e180101" and not any(data[PRIVATE_LEN:]), data.hex()
    # Covers: V1-CRD-19 V1-CRD-31
    rule("private-data", private())
    # Covers: V1-CRD-32
    rule("reads-offered", ((number(c.req["infiniband.cm.req.responderres"]) >= 1, "a connect request")
                           for c in conns))
    # Covers: V1-CRD-08 V1-CRD-09 V1-CRD-10 V1-CRD-26 BC-07 BC-08 BC-10 EXP-26
    rule("never-unready", ((not c.naks and not number(c.req["infiniband.cm.req.rnrretrcount"]) and
                            not number(c.rep["infiniband.cm.rep.rnrretrcount"]),
                            f"NAKs {c.naks[:3]}, or retries asked for") for c in conns))


# --- header -------------------------------------------------------------------

def headers():
    # Covers: V1-HDR-17 V1-CRD-16 V1-CRD-20 EXP-20 V2-INL-03 V2-INL-05 V2-PRP-11
    rule("thresholds", ((m.size <= thresholds(m.conn)[not m.from_client], m) for m in messages()))
    # Covers: V1-HDR-03 BC-33 V2-HDR-03
    rule("version", ((m.version == version, m) for m in messages()))
    # Covers: V1-HDR-06 V1-DEP-01 V1-DEP-04 EXP-32
    rule("types", ((m.type in (MSG, NOMSG, ERROR) + (CONNPROP, groups.RTX_MSG) * (version == 2), m)
                    for m in messages()))
    # Covers: V1-ERR-08
    rule("errors", ((m.type != ERROR, m) for m in messages()))
    # Covers: V1-HDR-04
    rule("xid", ((m.word(0) == m.xid, m) for m in messages() if m.type == MSG))
    # Covers: V1-HDR-25
    rule("reads", ((not m.reads, m) for m in replies()))
    # Covers: V1-FRM-09 V1-RPL-07 EXP-10 V2-TYP-04 V2-TYP-05
    rule("one-place", ((not m.body if m.type == NOMSG else not total(m.reply or []), m)
                       for m in messages() if m.type == NOMSG or (m.reply and not m.is_call)))
    # On a connection, each Call is sent once, and answered at most once. The rules about credits below rely on this.
    # Covers: V1-HDR-16 V1-CRD-24 BC-19
    rule("one-send", ((len({(m.xid, m.from_client, m.is_call) for m in c.messages}) == len(c.messages),
                       "a connection") for c in conns))
    rule("answers", ((m.call is not None, m) for m in messages() if not m.is_call))


# --- credits -------------------------------------------------------------------

def credits():
    # Covers: V1-CRD-04 BC-03
    rule("credits", ((m.credits > 0, m) for m in messages()))
    # In version 1, the client always requests the same number of credits on a connection. The server's
    # grant seldom falls: the server reviews it at most once in 10 seconds (review_time). That few Calls
    # are in progress at one moment is no reason to reduce it. So two falls must be at least four
    # Replies apart.
    # Covers: V1-CRD-01 V1-CRD-03 V1-CRD-29 EXP-25 V2-CRD-02
    def steady(given):
        falls = [i for i in range(1, len(given)) if given[i] < given[i - 1]]
        return all(after - before >= 4 for before, after in zip(falls, falls[1:]))
    rule("credits-steady", ((steady(given) and len(set(asked)) <= 1, "a connection") for given, asked in (
        ([m.credits for m in replies() if m.conn is c], [m.credits for m in calls() if m.conn is c and version == 1]) for c in conns)))
    # Covers: BC-04
    rule("backward-credits", ((m.credits == BACKWARD_CREDITS, m) for m in backward()))

    def window(forward):
        for c in conns:
            grant, asked, out = 1, 1, {}
            for m in c.messages:
                if m.type == ERROR or m.forward != forward or m.type == CONNPROP and m not in c.messages[:2]:
                    continue
                if m.is_call:
                    out[m.xid] = groups.cost(m)
                    asked = m.credits
                    yield sum(out.values()) <= min(grant, asked), m
                else:
                    out.pop(m.xid, None)
                    grant = m.credits
    # Before the first Reply, the Calls in flight on a connection take at most one credit.
    # Afterwards, whenever the client sends a Call, they take no more credits than the last Reply
    # has granted, and no more than the client has requested. (In version 2 the first two messages
    # with properties also count, as a Call and its Reply.)
    # Covers: V1-CRD-06 V1-CRD-07 V1-CRD-11 V1-CRD-23 V2-CRD-01 V2-CRD-04 V2-CRD-10 RTX-74
    rule("window", window(True))
    # Covers: BC-05
    rule("backward-window", window(False))


def most_outstanding(conn):
    out, most = set(), 0
    for m in conn.messages:
        if m.type != ERROR and m.forward:
            (out.add if m.is_call else out.discard)(m.xid)
            most = max(most, len(out))
    return most


# --- chunks of Calls --------------------------------------------------------------

def positions(m):
    return sorted({p for p, _ in m.reads})


def chunk(m, position):
    return [s for p, s in m.reads if p == position]


def is_eligible_argument(m, at):
    """Is the item at position @at of the Call DDP-eligible?"""
    program, version, procedure, _ = m.arguments()
    if (program, version) == (NFS, 3):
        return procedure in (V3_WRITE, V3_SYMLINK)
    return m.word(at - 36) == OP_WRITE or (m.word(at - 8), m.word(at - 12)) == (NF4LNK, OP_CREATE)


def read_arguments(m):
    """Maximum number of bytes that a READ asks for; None if the Call is not a READ"""
    program, version, procedure, _ = m.arguments()
    end = len(m.body)
    if (program, version, procedure) == (NFS, 3, V3_READ) or \
       ((program, version) == (NFS, 4) and m.word(end - 32) == OP_READ):
        return m.word(end - 4)
    return None


def goes_on(m, at):
    if m.word(at - 12) == OP_CREATE:
        return b"/" not in m.body[at + 4:at + 4 + m.word(at)] and 0 < m.word(at) < 256
    return len(m.body) == at or m.word(at) == OP_GETATTR


def call_chunks():
    reduced = [(m, p) for m in calls() for p in positions(m) if p]
    # Covers: V1-RDC-01 V1-RDC-02 V1-RDC-03 V1-CHK-10 V1-RDC-06 V1-PZC-03 EXP-07
    rule("positions", ((p % 4 == 0 and p <= len(m.body) and m.reads == sorted(m.reads, key=lambda r: r[0]), m)
                       for m, p in reduced))
    # Covers: V1-RDC-22 V1-PZC-07 V1-PZC-09 V1-PZC-01 ULB-23 EXP-09 V2-TYP-04 V2-TYP-05
    rule("one-read-chunk", ((positions(m) == [0] if m.type == NOMSG else len(positions(m)) == 1 and positions(m)[0], m)
                            for m in calls() if m.reads))
    # The count stays in the stream, and is the chunk's length without roundup.
    # Covers: V1-CHK-02 V1-CHK-03 V1-CHK-05 V1-RDC-09 MEM-12 EXP-06
    rule("count-stays", ((m.word(p - 4) == total(chunk(m, p)), m) for m, p in reduced))
    # Covers: V1-CHK-01 V1-PZC-07 ULB-04 ULB-05
    rule("arguments-eligible", ((is_eligible_argument(m, p), m) for m, p in reduced))
    # The stream has no roundup at the position of a chunk. What is at this position is the end of the Call, the
    # next operation, or the name of a symlink.
    # Covers: V1-CHK-11 V1-RDC-08 EXP-13
    rule("argument-roundup", ((goes_on(m, p), m) for m, p in reduced if total(chunk(m, p)) % 4))
    # A Call that would fit inline has no Read chunk. (Calls that also have a Write chunk or a Reply
    # chunk are left out.)
    # Covers: V1-CHK-13 V1-FRM-03 V1-FRM-12
    rule("small-inline", ((HDR_MIN[version] + len(m.body) + (total(s for _, s in m.reads) + 3 & ~3) > thresholds(m.conn)[0], m)
                          for m in calls() if m.reads and not m.chunks))
    # A READ whose data do not fit inline has a Write chunk.
    # Covers: V1-WRC-18
    rule("long-results-in-chunks", ((m.writes or wanted <= thresholds(m.conn)[1], m) for m in calls()
                                    if m.type == MSG and (wanted := read_arguments(m)) is not None))
    # Covers: V1-CHK-01 ULB-04 ULB-05 ULB-24
    rule("results-eligible", ((read_arguments(m) is not None, m) for m in calls() if m.writes and m.type == MSG))
    # In version 2, a Write chunk has exactly the length that the READ asks for. In version 1, if
    # this length needs roundup, the chunk has one more segment, in other memory, for the roundup. (The previous
    # rule reports a Write chunk of a Call that is no READ.)
    # Covers: V1-WRC-01 V1-WPD-04 V1-WPD-05 MEM-12 EXP-16 V2-CHK-17
    rule("room-for-result", (room_for_result(m) for m in calls()
                             if m.writes and m.type == MSG and read_arguments(m) is not None))
    # Covers: ULB-01 ULB-12
    rule("acl-unreduced", ((not m.writes and not any(positions(m)), m) for m in calls()
                           if m.type == MSG and m.arguments()[0] == NFSACL))
    # Covers: ULB-11
    rule("programs", ((m.arguments()[0] in (NFS, NFSACL), m) for m in calls() if m.type == MSG))
    # Covers: V1-RPL-03
    rule("lists-short", ((len(m.writes) + (m.reply is not None) <= 1, m) for m in calls() if m.chunks))


def room_for_result(m):
    want, segments = read_arguments(m), m.writes[0]
    if version == 2:
        return len(m.writes) == 1 and total(segments) == want, m
    data = segments[:-1] if want % 4 else segments
    pad = total(segments) - total(data)
    return (len(m.writes) == 1 and total(data) == want and pad == -want % 4 and
            (not pad or segments[-1].handle not in [s.handle for s in data])), m


def reply_in_its_place(m):
    """Is a Reply to a Call with a Reply chunk in the right place? In version 1, it is in the chunk. In version
    2, it is inline if it fits, and the chunk is returned with zero lengths."""
    if version == 2 and m.type == MSG:
        return not total(m.reply)
    return (m.type == NOMSG and total(m.reply) > 0 and
            (version == 1 or HDR_MIN[2] + 4 + 16 * len(m.reply) + total(m.reply) > thresholds(m.conn)[1]))


# --- the server's RDMA ---------------------------------------------------------------

def covers(outer, inner):
    return (outer.handle == inner.handle and outer.offset <= inner.offset and
            inner.offset + inner.length <= outer.offset + outer.length)


def accesses(conn):
    """Yield (access, Calls in flight at that time), in order."""
    out = {}
    for e in conn.events:
        if isinstance(e, Access):
            yield e, list(out.values())
        elif e.type != ERROR and e.forward:
            if e.is_call:
                out[e.xid] = e
            else:
                out.pop(e.xid, None)


def find_offer(access, outstanding):
    for m in outstanding:
        offered = [s for _, s in m.reads] if access.kind == "read" else [s for c in m.chunks for s in c]
        if any(covers(s, access.segment) for s in offered):
            return m
    return None


def memory():
    # A keepalive probe of either side is an RDMA Write of 0 bytes, which accesses no memory. Leave
    # probes out of the rules about offered memory.
    probes = [a for c in conns for a, _ in accesses(c) if not a.segment.length]
    if probes:
        rule("probes-name-nothing", ((not a.segment.handle and not a.segment.offset, f"frame {a.frame}")
                                     for a in probes))
    found = [(a, find_offer(a, out)) for c in conns for a, out in accesses(c) if a.segment.length]
    # Covers: V1-HDR-26 V1-DEP-06 BC-29
    rule("server-acts", ((not a.by_client, f"frame {a.frame}") for a, _ in found))
    # Covers: V1-FRM-13 V1-HDR-19 V1-WRC-10
    rule("only-what-is-offered", ((m is not None, f"frame {a.frame}") for a, m in found))

    done = {}
    for a, m in found:
        done.setdefault(m, []).append(a)
    answered = [(m, done.get(m.call, [])) for m in replies() if m.call and (m.call.reads or m.call.chunks)]
    # Covers: V1-RDC-13 V1-WRC-10
    rule("data-before-reply", ((all(a.last < m.frame for a in acts), m) for m, acts in answered if acts))

    def pulled(m, acts):
        return b"".join(a.data for a in acts if a.kind == "read")
    rule("all-of-it-read", ((len(pulled(m, acts)) == total(s for _, s in m.call.reads), m)
                            for m, acts in answered if m.call.reads))
    # Covers: V1-PZC-01 V1-PZC-02 V1-FRM-05 V1-HDR-04
    rule("long-call", ((pulled(m, acts)[:8] == m.xid.to_bytes(4, "big") + bytes(4) and
                        len(pulled(m, acts)) % 4 == 0, m)
                       for m, acts in answered if m.call.type == NOMSG and m.call.reads))

    def written(acts, segment):
        return sum(a.segment.length for a in acts if a.kind == "write" and covers(segment, a.segment))
    # The server writes exactly as many bytes as the Reply says, without roundup.
    # Covers: V1-WPD-01 V1-WRC-16 V1-WRC-19 EXP-14
    rule("written-as-told", ((all(written(acts, s) == b.length for c, d in zip(m.call.chunks, m.chunks)
                                  for s, b in zip(c, d)), m) for m, acts in answered if m.call.chunks))
    # A Reply in a Reply chunk begins with its XID and with the word that marks it as a Reply, and
    # consists of whole words.
    # Covers: V1-RPL-05 V1-HDR-04 V1-WPD-08
    rule("long-reply", ((first_write(acts) == m.xid.to_bytes(4, "big") + (1).to_bytes(4, "big") and
                         total(m.reply) % 4 == 0, m)
                        for m, acts in answered if m.type == NOMSG))


def first_write(acts):
    return next((a.data[:8] for a in acts if a.kind == "write"), b"")


def reply_chunks():
    used = [m for m in replies() if m.call and m.call.chunks]
    # Covers: V1-WRC-06 V1-WRC-07 V1-WRC-08 V1-RPL-06 EXP-17
    rule("lists-returned", ((len(m.writes) == len(m.call.writes) and (m.reply is None) == (m.call.reply is None) and
                             [[(s.handle, s.offset) for s in c] for c in m.chunks] ==
                             [[(s.handle, s.offset) for s in c] for c in m.call.chunks], m) for m in used))
    # Covers: V1-WRC-05
    rule("filled-in-order", ((filled_in_order(c, d), m) for m in used for c, d in zip(m.call.chunks, m.chunks)))
    # Covers: V1-RPL-04 V1-RPL-05 V1-FRM-06
    rule("reply-chunk-used", ((reply_in_its_place(m), m) for m in used if m.call.reply))
    # Covers: V1-RPL-13
    rule("reply-chunk-offered", ((bool(m.call and m.call.reply), m) for m in replies() if m.type == NOMSG))
    # If the data are in a Write chunk, the Reply ends with the count, which is the chunk's length. Neither data
    # nor roundup follow.
    # Covers: V1-WRC-03 V1-CHK-03 V1-CHK-05 V1-WPD-02 V1-WPD-03 EXP-13
    rule("result-moved", ((m.word(len(m.body) - 4) == total(m.writes[0]), m) for m in used
                          if m.writes and total(m.writes[0])))


def filled_in_order(offered, returned):
    left = total(returned)
    for s, b in zip(offered, returned):
        if b.length != min(left, s.length):
            return False
        left -= b.length
    return True


# --- handles ---------------------------------------------------------------------

def handles():
    """Check handles. The upper 24 bits of a handle identify its memory region; the lower 8 bits must change
    with each use."""
    checks = []
    for c in conns:
        out, last = {}, {}
        for m in c.messages:
            if m.type == ERROR or not m.forward:
                continue
            if not m.is_call:
                out.pop(m.xid, None)
                continue
            mine = {s.handle for s in m.segments}
            busy = {h >> 8 for other in out.values() for h in other}
            checks += [(h >> 8 not in busy and last.get(h >> 8) != h, m) for h in mine]
            last.update({h >> 8: h for h in mine})
            out[m.xid] = mine
    # Covers: V1-RDC-12 MEM-02 MEM-08 MEM-09 V2-CHK-05
    rule("handles-fresh", checks)
    # A connection uses its few regions repeatedly, instead of allocating more.
    # Covers: MEM-22
    rule("handles-few", ((len({h >> 8 for m in c.messages for s in m.segments for h in [s.handle]}) <=
                          4 * max(most_outstanding(c), 1), "a connection") for c in conns))


def invalidations():
    def due(m):
        if version == 2:
            return m.call and m.call.inv_handle or None
        distinct = {s.handle for s in m.call.segments} if m.call else set()
        return distinct.pop() if len(distinct) == 1 else None
    # Covers: V1-CRD-21 V2-CHK-06 V2-CHK-07
    rule("invalidated", ((m.invalidates == due(m), m) for m in replies()))
    rule("invalidated-calls", ((m.invalidates is None, m) for m in messages() if m.is_call or not m.forward))


# --- backward ----------------------------------------------------------------------

def backwards():
    # Covers: BC-19 BC-20 BC-21 BC-29 BC-33
    rule("backward", ((m.type == MSG and not m.reads and not m.chunks, m)
                      for m in messages() if m.type != ERROR and m.is_call is not None and not m.forward))
    ready, checks, limits = {}, [], []
    for m in messages():
        if m.type == MSG and m.is_call and m.forward:
            op = m.compound()
            if op and op[1] in (OP_CREATE_SESSION, OP_BIND_CONN):
                ready[m.conn] = True
            if op and op[1] == OP_CREATE_SESSION:
                limits.append((back_channel_size(op[2]) == min(thresholds(m.conn)) - HDR_MIN[version], m))
        elif m.type == MSG and m.is_call:
            checks.append((m.conn in ready, m))
    # Covers: BC-14 BC-31 V2-BC-04
    rule("backward-when-ready", checks)
    # Covers: BC-16 BC-17
    rule("backward-size", limits)
    answered = {m.call for m in messages() if m.call}
    # Covers: BC-15
    rule("backward-answered", ((m in answered, m) for m in backward() if m.is_call))


def back_channel_size(w):
    """ca_maxrequestsize of the back channel, from the arguments of CREATE_SESSION"""
    w.take(4)                           # client ID, sequence, flags
    w.take(6)                           # fore channel
    for _ in range(w.take()):
        w.take()
    return w.take(2)[1]


# --- unused bytes ----------------------------------------------------------------------

def pad_is_zero(m, w):
    """@w is at an opaque item. Does this item end the message, and is its roundup zero? None if
    it has no roundup."""
    length = len(w.opaque())
    return w.at == len(m.body) and not any(m.body[w.at - (-length % 4):]) if length % 4 else None


def roundups(w, opaques):
    """For each of the next @opaques opaque items that has roundup: is the roundup zero?"""
    for _ in range(opaques):
        length = len(w.opaque())
        if length % 4:
            yield not any(w.data[w.at - (-length % 4):w.at])


def credential_pads(m):
    """For an inline Call: [is the roundup of the machine name zero?]; empty if there is no machine name or no
    roundup"""
    w = Words(m.body, 24)
    flavor, credential = w.take(), Words(w.opaque())
    if flavor != AUTH_SYS:
        return []
    credential.take()
    return list(roundups(credential, 1))


# Arguments of NFSv3 Calls, by procedure: (number of opaque items, number of words after them)
V3_ARGUMENTS = {1: (1, 0), 3: (2, 0), 4: (1, 1), 5: (1, 0), 12: (2, 0), 13: (2, 0), 18: (1, 0), 19: (1, 0), 20: (1, 0)}
V3_GETATTR = 1


def call_pads():
    """Check the roundup of credentials, handles and names, and that a Call ends with its arguments."""
    pads, ends = [], []
    for m in calls():
        if m.type != MSG or m.reads:
            continue
        checks = credential_pads(m)
        program, vers, procedure, w = m.arguments()
        if (program, vers) == (NFS, 3) and procedure in V3_ARGUMENTS:
            opaques, more = V3_ARGUMENTS[procedure]
            checks += roundups(w, opaques)
            ends.append((w.at + 4 * more == len(m.body), m))
        pads += [(good, m) for good in checks]
    return pads, ends


def pads_of_calls():
    pads, ends = call_pads()
    for m in replies():
        if m.type == MSG and m.call and m.call.type == MSG and not m.call.reads and \
                m.call.arguments()[:3] == (NFS, 3, V3_GETATTR) and (w := m.results()):
            if not w.take():
                w.take(21)
            ends.append((w.at == len(m.body), m))
    # Covers: MEM-20
    rule("call-pads-are-zero", pads)
    # No bytes follow the end of the RPC message. (If some did, they could be old bytes of the
    # buffer.)
    # Covers: MEM-20
    rule("nothing-behind", ends)


def reply_words(m):
    """The words of an inline Reply to READ or READLINK from its data on, or None"""
    if m.type != MSG or any(total(c) for c in m.chunks) or not m.call or m.call.type != MSG:
        return None
    called = m.call.arguments()[:3]
    if called not in ((NFS, 3, V3_READLINK), (NFS, 3, V3_READ)):
        return None
    w = m.results()
    if not w or w.take():
        return None
    if w.take():
        w.take(21)                      # attributes
    if called[2] == V3_READ:
        w.take(2)                       # count, end of file
    return w


def pads():
    checks = []
    for m in calls():
        if m.type != MSG or m.reads or m.arguments()[:3] != (NFS, 3, V3_WRITE):
            continue
        w = m.arguments()[3]
        w.opaque()
        w.take(4)
        checks.append((pad_is_zero(m, w), m))
    # Covers: MEM-20
    rule("pads-are-zero", (c for c in checks if c[0] is not None))
    pads_of_calls()
    # Only the traffic of version 2 has inline results with roundup. In version 1, the client offers
    # a chunk for these results, and the server must use the chunk.
    if version == 2:
        answers = [(pad_is_zero(m, w), m) for m in replies() if (w := reply_words(m))]
        # Covers: MEM-20
        rule("reply-pads-are-zero", (c for c in answers if c[0] is not None))
    rule("whole-words", ((len(m.body) % 4 == 0, m) for m in messages()))


# --- forms that must occur ---------------------------------------------------------------

def forms():
    def plain(m):
        return m.type == MSG and not m.reads and not m.chunks
    # Covers: V1-FRM-01
    form("inline-call", lambda m: plain(m) and m.forward and m.is_call)
    form("inline-reply", lambda m: plain(m) and m.forward and not m.is_call)
    # Covers: V1-FRM-02
    form("read-chunk", lambda m: m.type == MSG and m.reads)
    form("read-chunk-odd", lambda m: m.type == MSG and total(s for _, s in m.reads) % 4)
    # Covers: V1-WRC-03
    form("write-chunk", lambda m: m.type == MSG and m.is_call and m.writes)
    if version == 1:
        form("write-chunk-padded", lambda m: m.type == MSG and m.is_call and m.writes and len(m.writes[0]) > 1)
    else:
        form("reply-chunk-unused", lambda m: m.type == MSG and not m.is_call and m.reply)
        if groups.used(conns):
            form("group-call", lambda m: m.type == groups.RTX_MSG and m.is_call and m.count > 1)
            form("group-reply", lambda m: m.type == groups.RTX_MSG and not m.is_call and m.count > 1)
            # Covers: RTX-52
            form("placed-call", lambda m: m.type == groups.RTX_MSG and m.items)
    form("write-chunk-used", lambda m: m.type == MSG and not m.is_call and m.writes and total(m.writes[0]))
    # Covers: V1-UNU-01 V1-UNU-02 V1-WRC-09 ULB-09
    form("write-chunk-unused", lambda m: m.type == MSG and not m.is_call and m.writes and not total(m.writes[0]) and
         m.writes[0])
    # Covers: V1-FRM-06 V1-RPL-05 ULB-06
    form("reply-chunk-used", lambda m: m.type == NOMSG and not m.is_call and m.reply)
    # Covers: V1-FRM-05 V1-PZC-01
    form("position-zero", lambda m: m.type == NOMSG and m.is_call and m.reads)
    # Covers: BC-19 BC-20
    form("backchannel-call", lambda m: plain(m) and not m.forward and m.is_call)
    form("backchannel-reply", lambda m: plain(m) and not m.forward and not m.is_call)


def fallback():
    """Check that a server of version 1 has refused a first message of version 2, and that the connection went
    on. (The rules "version" and "errors" check that all further messages are of version 1.)"""
    # Covers: V1-ERR-03 V1-ERR-04 V1-ERR-05 V2-ERR-04 V2-NEG-07 V2-NEG-08 V2-NEG-12
    verdict("wire-form-err-vers", any(c.hello and any(m.call for m in c.messages) for c in conns),
            "no version 2 was refused, or nothing came of it")
    # Covers: V2-NEG-01 V2-INL-06
    rule("refused-politely", ((c.hello[0].size <= INLINE_FIRST and all(m.credits for m in c.hello), c.hello[0])
                              for c in conns if c.hello))


def full_window():
    # Covers: V1-CRD-06
    verdict("wire-form-full-window", any(most_outstanding(c) >= min(m.credits for m in replies() if m.conn is c)
                                         for c in conns if c.messages), "no connection used up its credits")


# --- version 2 ---------------------------------------------------------------------------

def first_messages():
    """The first messages are the client's properties and the server's answer, with nothing between."""
    for c in conns:
        kinds = [(m.type, m.from_client, m.is_call) for m in c.messages[:2]]
        yield (kinds == [(CONNPROP, True, True), (CONNPROP, False, False)][:len(kinds)] and
               c.messages[0].size <= INLINE_FIRST), c.messages[0]


def only_2():
    # Covers: V2-NEG-01 V2-NEG-02 V2-NEG-04 V2-INL-06 V2-PRP-20 V2-PRP-21 V2-TYP-09 V2-TYP-11
    rule("first-messages", first_messages())
    # Covers: V2-HDR-06
    rule("flags", ((m.flags in (0, 1), m) for m in messages()))
    # Covers: V2-HDR-07 V2-HDR-08 V2-BC-01 V2-BC-03
    rule("response", ((m.word(4) == (REPLY if m.flags else CALL), m) for m in messages() if m.type == MSG))
    # If a Call has chunks, it names one of its handles, which the server may invalidate.
    # Covers: V2-CHK-03 V2-CHK-04
    rule("handle-offered", ((m.inv_handle in {s.handle for s in m.segments} if m.segments else not m.inv_handle, m)
                            for m in calls()))
    if groups.used(conns):
        groups.judge(conns, rule, lambda m: thresholds(m.conn)[not m.from_client])
    rule("handle-in-replies", ((not m.inv_handle, m) for m in messages() if not m.is_call))


def main():
    global version
    capture = sys.argv[1]
    found, requests, stray = roce.connections(capture)
    both = (headers, credits, call_chunks, memory, reply_chunks, handles, invalidations, backwards, pads, forms)
    conns.extend(found)
    connecting(requests, stray)
    for version, more in ((1, (lambda: decode(capture), full_window, fallback)), (2, (lambda: decode2(capture), only_2))):
        conns[:] = [c for c in found if c.version == version]
        print(f"version {version}: {len(conns)} connections, {len(messages())} messages", file=sys.stderr)
        for judge in more + both:
            judge()


main()
