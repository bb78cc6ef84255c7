#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test scripts/wireshark/rpcrdma2.lua: let tshark decode messages that are made here.

usage: dissect.py DIRECTORY

The messages are those of version 2 in kunit/vectors.h and kunit/vectors_rtx.h, whole and truncated, and
malformed ones from tables. Most messages are packets of their own (link type 147); some are in captures of
RoCE and iWARP. The class Want, an independent decoder, computes the expected fields. Prints a "case" line for
each group of messages.
"""
import os
import re
import struct
import subprocess
import sys

import decoder

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
XID = 0x11223344
F = "rpcrdma2."
FIELDS = ["xid", "vers", "credit", "htype", "flags", "flags.response", "inv_handle", "position", "handle", "length",
          "offset", "segments", "reads_count", "writes_count", "reply_count", "props_count", "prop.which", "prop.length",
          "prop.data", "prop.rbsiz", "prop.brs", "err", "err.v1_layout", "err.vers_low", "err.vers_high",
          "err.max_chunks", "err.max_segments", "err.chunk_index", "err.length_needed", "rtx.count", "rtx.stream",
          "rtx.number", "rtx.offset", "rtx.here", "rtx.data", "rtx.replies", "rtx.results", "rtx.items_count",
          "rtx.item.position", "rtx.item.length", "prop.rtx.flags", "prop.rtx.call_max", "prop.rtx.reply_max",
          "prop.rtx.msg_max", "prop.rtx.head", "prop.rtx.seg", "prop.rtx.nsegs"]
RTX_MSG, RTX_NEXT = 0x80525401, 0x80525402
RTX_FIXED = ("count", "stream", "here", "data", "replies", "results", "items_count")
RTX_WORDS = ("flags", "call_max", "reply_max", "msg_max", "head", "seg", "nsegs")
# Full lengths of transmissions of which vectors_rtx.h has only the beginning
RTX_BYTES = {"rtx_write_8k": 9216, "rtx_write_64k_1": 29696, "rtx_write_64k_2": 29696, "rtx_write_64k_3": 9216,
             "rtx_long_1": 29696, "rtx_long_2": 29696, "rtx_long_3": 29696, "rtx_long_4": 11084, "rtx_reply_1": 16384,
             "rtx_reply_2": 13716, "rtx_read_reply": 9216, "rtx_two_items": 13312, "rtx_mixed": 9216}
# Vectors in which a transmission completes a Call that the dissector can show
RTX_CALLS = ("rtx_write_8k", "rtx_write_64k_3", "rtx_long_4", "rtx_readdir", "rtx_read_call")
ERROR = 0x00800000		# expert severity "error"
HEX = {"prop.rtx.flags", "xid", "flags", "inv_handle", "handle", "offset"}
ERR_ARGS = {1: ("vers_low", "vers_high"), 4: ("max_chunks",), 5: ("max_chunks",), 6: ("max_segments",),
            7: ("chunk_index", "length_needed"), 8: ("length_needed",)}


def words(*w):
    return struct.pack(f">{len(w)}I", *w)


def vectors():
    text = "".join(open(os.path.join(TOP, "kunit", name), encoding="utf-8").read()
                   for name in ("vectors.h", "vectors_rtx.h"))
    return {name: words(*(int(w, 0) for w in re.findall(r"W\((\w+)\)", body)))
            for name, body in re.findall(r"vec_(\w+)\[\] = \{([^}]*)\}", text)}


# --------------------------------------------------------------- the expected fields
class Want:
    """The fields of a valid message, in the order of the message."""

    def __init__(self, message):
        self.w = struct.unpack(f">{len(message) // 4}I", message[:len(message) // 4 * 4])
        self.at = 0
        self.fields = {}
        self.rpc = False
        self.message()

    def put(self, name, value):
        self.fields.setdefault(name, []).append(value)

    def word(self, name=None):
        value = self.w[self.at]
        self.at += 1
        if name:
            self.put(name, value)
        return value

    def segment(self):
        for name in ("handle", "length"):
            self.word(name)
        self.put("offset", self.word() << 32 | self.word())

    def array(self):
        for _ in range(self.word("segments")):
            self.segment()

    def lists(self):
        self.word("inv_handle")
        n = 0
        while self.word():
            self.word("position")
            self.segment()
            n += 1
        self.put("reads_count", n)
        n = 0
        while self.word():
            self.array()
            n += 1
        self.put("writes_count", n)
        n = self.word()
        if n:
            self.array()
        self.put("reply_count", n)

    def message(self):
        for name in ("xid", "vers", "credit", "htype"):
            self.word(name)
        htype = self.w[3]
        if htype == 4 and len(self.w) == 7 and self.w[4] == 1 and self.w[5] not in (4, 5, 6, 8):
            self.put("err.v1_layout", 1)
        else:
            self.put("flags.response", self.word("flags") & 1)
        if htype in (0, 1):
            self.lists()
            self.rpc = self.at < len(self.w)
        elif htype == RTX_MSG:
            for name in RTX_FIXED:
                n = self.word("rtx." + name)
            for _ in range(n):
                self.word("rtx.item.position")
                self.word("rtx.item.length")
            self.lists()
        elif htype == RTX_NEXT:
            for name in ("number", "offset", "here", "data"):
                self.word("rtx." + name)
        elif htype == 4:
            for name in ERR_ARGS.get(self.word("err"), ()):
                self.word("err." + name)
        elif htype == 5:
            for _ in range(self.word("props_count")):
                which, length = self.word("prop.which"), self.word("prop.length")
                for name in ["prop.rtx." + w for w in RTX_WORDS] if which == RTX_MSG else [
                        {1: "prop.rbsiz", 2: "prop.brs"}[which]] if length else []:
                    self.word(name)

    def text(self, name):
        wide = 16 if name == "offset" else 8
        return ",".join(f"0x{v:0{wide}x}" if name in HEX else str(v) for v in self.fields.get(name, []))


# ------------------------------------------------------------------------- captures
def pcap(path, link, packets):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, link))
        for i, packet in enumerate(packets):
            out.write(struct.pack("<IIII", i, 0, len(packet), len(packet)) + packet)


def ip(proto, payload, reverse):
    ends = bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2])
    src, dst = ends if reverse else ends[::-1]
    return (bytes(12) + b"\x08\x00" +
            struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, proto, 0) + src + dst + payload)


def roce(messages, mtu):
    """RoCE packets: Sends of a reliable connection, divided into packets of @mtu bytes"""
    for psn, (message, reverse) in enumerate(messages):
        parts = [message[i:i + mtu] for i in range(0, len(message), mtu)]
        for i, part in enumerate(parts):
            opcode = 4 if len(parts) == 1 else 0 if i == 0 else 2 if i == len(parts) - 1 else 1
            pad = -len(part) % 4
            bth = struct.pack(">BBHII", opcode, pad << 4, 0xffff, 0x11 + reverse, psn * 8 + i)
            data = bth + part + bytes(pad) + bytes(4)
            yield ip(17, struct.pack(">HHHH", 0xc000, 4791, 8 + len(data), 0) + data, reverse)


def iwarp(messages, mulpdu):
    """TCP packets of iWARP: the MPA startup, and then Sends, divided into DDP segments of @mulpdu bytes"""
    seq = [1, 1]

    def tcp(data, reverse):
        ports = (20049, 40000) if reverse else (40000, 20049)
        head = struct.pack(">HHIIBBHHH", *ports, seq[reverse], seq[not reverse], 0x50, 0x18, 0xffff, 0, 0)
        seq[reverse] += len(data)
        return ip(6, head + data, reverse)

    yield tcp(b"MPA ID Req Frame" + struct.pack(">BBH", 0, 1, 0), 0)
    yield tcp(b"MPA ID Rep Frame" + struct.pack(">BBH", 0, 1, 0), 1)
    msn = [0, 0]
    for message, reverse in messages:
        msn[reverse] += 1
        for mo in range(0, len(message), mulpdu):
            part = message[mo:mo + mulpdu]
            last = mo + mulpdu >= len(message)
            ddp = struct.pack(">BBIIII", 0x41 if last else 0x01, 0x43, 0, 0, msn[reverse], mo) + part
            fpdu = struct.pack(">H", len(ddp)) + ddp
            yield tcp(fpdu + bytes(-len(fpdu) % 4) + bytes(4), reverse)


# --------------------------------------------------------------------------- tshark
def tshark(path, *more):
    cmd = [*decoder.TSHARK, "-2", "-n", *decoder.WITH_LUA, "-r", path, *more,
           "-o", 'uat:user_dlts:"User 0 (DLT=147)","rpcrdma2","0","","0",""']
    run = subprocess.run(cmd, check=True, capture_output=True, text=True)
    errors = [x for x in run.stderr.splitlines() if "dangerous" not in x]
    if errors:
        raise SystemExit("tshark: " + errors[0])
    return run.stdout.splitlines()


def decode(path, display=None):
    """Yield for each packet: the fields and the expert severity, our expert marks, the protocols, and whether it is
    malformed."""
    names = [F + n for n in FIELDS] + ["_ws.expert.severity", "_ws.expert.message", "frame.protocols", "_ws.lua.text",
                                       "_ws.malformed"]
    args = ["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"] + [x for n in names for x in ("-e", n)]
    for line in tshark(path, *args, *(["-Y", display] if display else [])):
        cols = (line.split("\t") + [""] * len(names))[:len(names)]
        got = {n: c.replace("|", ",") for n, c in zip(FIELDS, cols)}
        marks = [m for m in cols[-4].split("|") if m]
        if cols[-2]:
            marks.append("Lua error: " + cols[-2])
        got["severity"] = cols[-5]
        yield got, marks, cols[-3], cols[-1]


def decoded(path, link, packets, expected, display=None):
    """Make a capture, and decode it. Returns ([what is wrong], [what decode() yields for each message])."""
    pcap(path, link, packets)
    seen = list(decode(path, display))
    return [f"{len(seen)} messages of {expected}"] * (len(seen) != expected), seen


def verdict(name, bad):
    for line in bad:
        print(f"{name}: {line}", file=sys.stderr)
    print(f"case {'not ok' if bad else 'ok'} {name} 0 {'; '.join(bad[:2])}".rstrip())


def differences(name, message, got):
    want = Want(message)
    return [f"{name}: {n} is {got[n]!r}, not {want.text(n)!r}" for n in FIELDS
            if got[n].replace("True", "1").replace("False", "0") != want.text(n)]


# ------------------------------------------------------------------------ malformed
CALL = (XID, 0)
MANY = "More chunks or segments than Linux accepts (16 in a list, of these 15 positions but 0; 64 in a chunk)"
BEYOND = "Position is inside another chunk or past the message's end"


def call(*reads):
    """A Call with these segments, (position, length), in the Read list. 8 bytes of RPC message are inline,
    unless a segment has position 0."""
    nomsg = any(position == 0 for position, _ in reads)
    items = [w for position, length in reads for w in (1, position, 7, length, 0, 0)]
    return words(XID, 2, 1, int(nomsg), 0, 0, *items, 0, 0, 0, *(() if nomsg else CALL))


MALFORMED = [
    # name, message, the mark that it must get; None if a receiver accepts it
    ("version 3", words(XID, 3, 1, 0, 0), "Version is not 2"),
    ("type 2", words(XID, 2, 1, 2, 0), "Unknown header type"),
    ("type 0xffffffff", words(XID, 2, 1, 0xffffffff, 1), "Unknown header type"),
    ("no credits", words(XID, 2, 0, 0, 0, 0, 0, 0, 0, *CALL), "No credits"),
    ("unknown flags", words(XID, 2, 1, 0, 0xfffffffe, 0, 0, 0, 0, *CALL), "Unknown flags"),
    ("presence word 2", words(XID, 2, 1, 0, 0, 0, 2, 0, 0, *CALL), "Presence word is neither 0 nor 1"),
    ("segment count too high", words(XID, 2, 1, 0, 0, 0, 0, 1, 0xffffffff, *CALL), "Count leads out of the message"),
    ("position not aligned", words(XID, 2, 1, 0, 0, 0, 1, 6, 7, 40, 0, 0, 0, 0, 0, *CALL),
     "Position is not a multiple of 4"),
    ("lengths overflow", words(XID, 2, 1, 0, 0, 0, 0, 1, 2, 7, 0xffffffff, 0, 0, 7, 1, 0, 0, 0, 0, *CALL),
     "Segment lengths overflow 32 bits"),
    ("MSG with a Position Zero chunk", words(XID, 2, 1, 0, 0, 0, 1, 0, 7, 40, 0, 0, 0, 0, 0, *CALL),
     "Header type and chunks do not go together"),
    ("NOMSG without chunks", words(XID, 2, 1, 1, 0, 0, 0, 0, 0), "Header type and chunks do not go together"),
    ("NOMSG Reply without a Reply chunk", words(XID, 2, 1, 1, 1, 0, 0, 0, 0),
     "Header type and chunks do not go together"),
    ("Reply with a Read chunk", words(XID, 2, 1, 0, 1, 0, 1, 8, 7, 40, 0, 0, 0, 0, 0, XID, 1),
     "Header type and chunks do not go together"),
    ("bytes behind NOMSG", words(XID, 2, 1, 1, 0, 0, 1, 0, 7, 40, 0, 0, 0, 0, 0, 9),
     "Bytes behind a message that ends here"),
    ("two XIDs", words(XID, 2, 1, 0, 0, 0, 0, 0, 0, XID + 1, 0), "XID of the RPC message is another one"),
    ("Reply without F_RESPONSE", words(XID, 2, 1, 0, 0, 0, 0, 0, 0, XID, 1),
     "F_RESPONSE and direction of the RPC message disagree"),
    ("Call with F_RESPONSE", words(XID, 2, 1, 0, 1, 0, 0, 0, 0, XID, 0),
     "F_RESPONSE and direction of the RPC message disagree"),
    ("MSG without RPC message", words(XID, 2, 1, 0, 0, 0, 0, 0, 0), "No RPC message"),
    ("RPC message cut short", words(XID, 2, 1, 0, 0, 0, 0, 0, 0, *CALL, 2, 100003, 3, 1, 1, 200, 0, 0),
     "RPC message ends too early"),
    ("stray handle", words(XID, 2, 1, 0, 0, 7, 0, 0, 0, *CALL), "Handle to invalidate is in no segment of a Call"),
    ("handle in a Reply", words(XID, 2, 1, 0, 1, 7, 0, 0, 0, XID, 1), "Handle to invalidate in a Reply"),
    ("17 Write chunks", words(XID, 2, 1, 0, 0, 0, 0, *(1, 0) * 17, 0, 0, *CALL), MANY),
    ("16 Write chunks", words(XID, 2, 1, 0, 0, 0, 0, *(1, 0) * 16, 0, 0, *CALL), None),
    ("16 positions", call(*((8 + 4 * i, 4) for i in range(16))), MANY),
    ("15 positions", call(*((8 + 4 * i, 4) for i in range(15))), None),
    ("15 positions and 0", call((0, 40), *((40 + 4 * i, 4) for i in range(15))), None),
    ("16 positions and 0", call((0, 40), *((40 + 4 * i, 4) for i in range(16))), MANY),
    ("65 Read segments at a position", call(*[(8, 4)] * 65), MANY),
    ("64 Read segments at a position", call(*[(8, 4)] * 64), None),
    ("65 segments in a Write chunk", words(XID, 2, 1, 0, 0, 0, 0, 1, 65, *(7, 4, 0, 0) * 65, 0, 0, *CALL), MANY),
    ("65 segments in a Reply chunk", words(XID, 2, 1, 0, 0, 0, 0, 0, 1, 65, *(7, 4, 0, 0) * 65, *CALL), MANY),
    ("position past the message", call((12, 40)), BEYOND),
    ("position past the Position Zero chunk", call((0, 40), (44, 4)), BEYOND),
    ("position at the end", call((8, 5), (16, 4)), None),
    ("position where a chunk before it allows", call((16, 4), (8, 5)), None),
    ("position inside a chunk", call((8, 9), (16, 4)), BEYOND),
    ("position inside the roundup", call((4, 5), (8, 4)), BEYOND),
    ("error without F_RESPONSE", words(XID, 2, 1, 4, 0, 2), "RDMA2_ERROR without F_RESPONSE"),
    ("unknown error code", words(XID, 2, 1, 4, 1, 77), "Unknown error code"),
    ("bytes behind an error", words(XID, 2, 1, 4, 1, 2, 0, 0), "Bytes behind a message that ends here"),
    ("code that may be a version", words(XID, 2, 1, 4, 1, 8, 9),
     "By its length also an ERR_VERS in the layout of version 1"),
    ("property count too high", words(XID, 2, 1, 5, 0, 0xffffffff, 1, 4, 8192), "Count leads out of the message"),
    ("property leads out", words(XID, 2, 1, 5, 0, 1, 0x7777, 0xffffffff, 1), "Count leads out of the message"),
    ("property twice", words(XID, 2, 1, 5, 0, 2, 1, 4, 8192, 1, 0), "Property is there twice"),
    ("RBSIZ too small", words(XID, 2, 1, 5, 0, 1, 1, 4, 1023), "Property value is not valid"),
    ("RBSIZ of 3 bytes", words(XID, 2, 1, 5, 0, 1, 1, 3, 0x20000000), "Property value is not valid"),
    ("BRS of 8 bytes", words(XID, 2, 1, 5, 0, 1, 2, 8, 0, 1), "Property value is not valid"),
    ("BRS out of range", words(XID, 2, 1, 5, 0, 1, 2, 4, 3), "Property value is not valid"),
    ("unknown property", words(XID, 2, 1, 5, 0, 1, 0x7777, 5, 1, 1), "Unknown property"),
    ("bytes behind properties", words(XID, 2, 1, 5, 0, 0, 0), "Bytes behind a message that ends here"),
]


# --------------------------------------------------- malformed, round-trip extension
def rtx(*fixed, items=(), lists=(0, 0, 0, 0), stream=CALL, flags=0, more=0):
    """An RTX_MSG. @fixed: count, stream, here, data, replies, results; @more: number of zero bytes to append"""
    flat = [w for item in items for w in item]
    return words(XID, 2, 1, RTX_MSG, flags, *fixed, len(items), *flat, *lists, *stream) + bytes(more)


def rtx_next(*fixed, xid=XID, flags=0, more=0):
    """An RTX_NEXT. @fixed: number, offset, here, data; @more: number of zero bytes to append"""
    return words(xid, 2, 1, RTX_NEXT, flags, *fixed) + bytes(more)


NOT_THERE = "Item is empty, or not where the message can have it"
NOT_DUE = "Not the transmission of its group that is due"
ENDS = "Header and stream do not end where data or transmission tells"
HERE = "Stream is too short, or more than there is"
FIRST = rtx(3, 16, 8, 0, 1, 0)
SECOND = rtx_next(1, 8, 4, 0, more=4)
PROPS = words(XID, 2, 1, 5, 1, 2, 1, 4, 29696, RTX_MSG, 28, 1, 64, 16, 1052672, 256, 512, 2)


def prop_rtx(rbsiz, *w):
    return words(XID, 2, 1, 5, 0, 2, RTX_MSG, 28, *w, 1, 4, rbsiz)


MALFORMED_RTX = [
    # name, messages, the mark that the last one must get; None if a receiver accepts it
    ("one transmission", [rtx(1, 8, 8, 0, 1, 0)], None),
    ("no transmissions", [rtx(0, 8, 8, 0, 1, 0)], "Not 1 to 256 transmissions"),
    ("257 transmissions", [rtx(257, 8, 8, 0, 1, 0)], "Not 1 to 256 transmissions"),
    ("4 bytes here", [rtx(2, 8, 4, 0, 1, 0, stream=(XID,))], HERE),
    ("more here than there is", [rtx(1, 8, 12, 0, 1, 0, more=4)], HERE),
    ("only one, and not all", [rtx(1, 12, 8, 0, 1, 0)], HERE),
    ("no whole word", [rtx(2, 12, 9, 0, 1, 0, more=1)],
     "Piece of the stream that is not the last one is no multiple of 4"),
    ("stream past the end", [rtx(1, 12, 12, 0, 1, 0)], ENDS),
    ("bytes behind the stream", [rtx(1, 8, 8, 0, 1, 0, more=4)], ENDS),
    ("data in the stream", [rtx(1, 8, 8, 68, 1, 0, more=99)], ENDS),
    ("data at the end", [rtx(1, 8, 8, 72, 1, 0)], ENDS),
    ("nobody waits", [rtx(1, 8, 8, 0, 0, 0)], "No Receive waits for the Reply"),
    ("17 items", [rtx(1, 8, 8, 0, 1, 0, items=[(8, 4)] * 17)], "More than 16 items"),
    ("item not aligned", [rtx(1, 8, 8, 300, 1, 0, items=[(9, 4)], more=999)], NOT_THERE),
    ("item past the end", [rtx(1, 8, 8, 300, 1, 0, items=[(12, 4)], more=999)], NOT_THERE),
    ("item of nothing", [rtx(1, 8, 8, 300, 1, 0, items=[(8, 0)], more=999)], NOT_THERE),
    ("overlapping items", [rtx(1, 8, 8, 300, 1, 0, items=[(8, 5), (12, 4)], more=999)], NOT_THERE),
    ("item inside a chunk", [rtx(1, 8, 8, 300, 1, 0, items=[(12, 4)], more=999,
                                 lists=(0, 1, 8, 7, 8, 0, 0, 0, 0, 0))], NOT_THERE),
    ("Position Zero chunk", [rtx(1, 8, 8, 0, 1, 0, lists=(0, 1, 0, 7, 40, 0, 0, 0, 0, 0))],
     "Header type and chunks do not go together"),
    ("two XIDs", [rtx(1, 8, 8, 0, 1, 0, stream=(XID + 1, 0))], "XID of the RPC message is another one"),
    ("Reply without F_RESPONSE", [rtx(1, 8, 8, 0, 1, 0, stream=(XID, 1))],
     "F_RESPONSE and direction of the RPC message disagree"),
    ("a stray", [SECOND], "Belongs to no group"),
    ("a gap", [FIRST, rtx_next(2, 8, 4, 0, more=4)], NOT_DUE),
    ("the second twice", [FIRST, SECOND, SECOND], NOT_DUE),
    ("another offset", [FIRST, rtx_next(1, 12, 4, 0, more=4)], NOT_DUE),
    ("stream beyond the end", [FIRST, rtx_next(1, 8, 12, 0, more=12)], NOT_DUE),
    ("a last one that is not all", [rtx(2, 16, 8, 0, 1, 0), rtx_next(1, 8, 4, 0, more=4)], NOT_DUE),
    ("a second of another XID", [FIRST, rtx_next(1, 8, 4, 0, xid=XID + 1, more=4)], "Belongs to no group"),
    ("a second of a Reply", [FIRST, rtx_next(1, 8, 4, 0, flags=1, more=4)], "Belongs to no group"),
    ("a second of nothing", [FIRST, rtx_next(1, 8, 0, 0)], "Neither stream nor data"),
    ("a message in between", [FIRST, words(XID, 2, 1, 4, 1, 2)], "Ends a group that is not complete"),
    ("a group in between", [FIRST, FIRST], "Ends a group that is not complete"),
    ("what comes behind that", [FIRST, words(XID, 2, 1, 4, 1, 2), SECOND], "Belongs to no group"),
    ("all three", [FIRST, SECOND, rtx_next(2, 12, 4, 0, more=4)], None),
    ("data in the second", [rtx(2, 8, 8, 0, 1, 0, items=[(8, 8)]), rtx_next(1, 8, 0, 100, more=72)], None),
    ("data that is too short", [rtx(2, 8, 8, 0, 1, 0, items=[(8, 9)]), rtx_next(1, 8, 0, 100, more=72)],
     "Data of the group is not what its items say"),
    ("data that no item has", [rtx(2, 8, 8, 0, 1, 0), rtx_next(1, 8, 0, 100, more=72)],
     "Data of the group is not what its items say"),
    ("a pad of something", [rtx(1, 8, 8, 88, 1, 0, items=[(8, 4)], stream=(*CALL, 0, 8, 9))], "Pad is not zero"),
    ("targets past the end", [prop_rtx(1279, 0, 1, 0, 1024, 256, 512, 2)], "Property value is not valid"),
    ("targets up to the end", [prop_rtx(1280, 0, 1, 0, 1024, 256, 512, 2)], None),
    ("a segment of 768", [prop_rtx(4096, 0, 1, 0, 1024, 256, 768, 2)], "Property value is not valid"),
    ("a head of 252", [prop_rtx(4096, 0, 1, 0, 1024, 252, 512, 2)], "Property value is not valid"),
    ("257 in a Call", [prop_rtx(4096, 0, 257, 0, 1024, 0, 0, 0)], "Property value is not valid"),
    ("Calls of 1023 bytes", [prop_rtx(4096, 0, 1, 0, 1023, 0, 0, 0)], "Property value is not valid"),
    ("a head without targets", [prop_rtx(4096, 0, 1, 0, 1024, 256, 0, 0)], "Property value is not valid"),
]
# Cases whose expected marks depend on the targets (see rtx.rst) that the receiver has announced
# (PROPS)
KNOWN_RTX = [
    ("data elsewhere", [rtx(1, 8, 8, 260, 1, 0, items=[(8, 8)], more=188)],
     "Data is not where the receiver's targets are"),
    ("data behind the targets", [rtx(1, 8, 8, 256, 1, 0, items=[(8, 1025)], more=256 - 80 + 1025)],
     "Data goes on behind the receiver's targets"),
    # RoCE pads the packet to a multiple of four bytes; this pad must not be taken for data.
    ("an odd item", [rtx(1, 8, 8, 256, 1, 0, items=[(8, 5)], more=256 - 80 + 5)], None),
    ("an odd item with a byte more", [rtx(1, 8, 8, 256, 1, 0, items=[(8, 5)], more=256 - 80 + 6)],
     "Data of the group is not what its items say"),
    ("two items", [rtx(1, 8, 8, 256, 1, 0, items=[(8, 5), (16, 4)], more=256 - 88 + 516)], None),
    ("two items that are too short", [rtx(1, 8, 8, 256, 1, 0, items=[(8, 5), (16, 4)], more=256 - 88 + 512)],
     "Data of the group is not what its items say"),
    ("half a segment in front of more", [rtx(3, 8, 8, 256, 1, 0, items=[(8, 800)], more=256 - 80 + 500),
                                         rtx_next(1, 8, 0, 256, more=220 + 300)], NOT_DUE),
]


def marks_cases(out, name, cases, link=147, packets=list, before=0):
    """Check the marks of all @cases in one capture. A message before each case ends the group that the case
    before it may have left open. packets() makes the packets of the messages, and @before other ones before them."""
    between = words(XID, 2, 1, 4, 1, 2)
    messages = [m for _, ms, _ in cases for m in [between, *ms]]
    with open(decoder.LUA, encoding="utf-8") as f:
        refused = re.findall(r'^bad\("\w+", "(.*)"\)', f.read(), re.M)
    bad, seen = decoded(os.path.join(out, name + ".pcap"), link, packets(messages), before + len(messages), F + "xid")
    at = before
    for what, ms, mark in cases:
        at += 1 + len(ms)
        got, marks, _, _ = seen[at - 1]
        if any("Lua" in m for _, ms, _, _ in seen[at - 1 - len(ms):at] for m in ms):
            bad.append(f"{what}: a Lua error")
        if marks[:1] != [mark] * bool(mark):
            bad.append(f"{what}: marked {marks}")
        elif mark and (int(got["severity"].split("|")[0], 0) == ERROR) != (mark in refused):
            bad.append(f"{what}: severity {got['severity']}")
    verdict("dissect-" + name, bad)


def rtx_main(out, vecs):
    """Check the transmissions in vectors_rtx.h, whole and truncated, and the malformed ones."""
    whole = {n: v + bytes(max(0, RTX_BYTES.get(n, 0) - len(v))) for n, v in vecs.items()}
    path = os.path.join(out, "rtx.pcap")

    # Covers: RTX-45 RTX-46
    bad, seen = decoded(path, 147, whole.values(), len(whole))
    for (name, message), (got, marks, protocols, malformed) in zip(whole.items(), seen):
        bad += differences(name, message, got)
        # Some vectors have zeros instead of arguments, so the RPC message may seem to end too early
        if [m for m in marks if "RPC message ends" not in m] or malformed:
            bad.append(f"{name}: marked {marks or malformed}")
        if name in RTX_CALLS and ":rpc" not in protocols:
            bad.append(f"{name}: no RPC in {protocols}")
    verdict("dissect-rtx-fields", bad)

    cuts = [(n, i) for n, v in vecs.items() for i in range(16, min(len(v), 4 * Want(v).at))]
    bad, seen = decoded(path, 147, [vecs[n][:i] for n, i in cuts], len(cuts))
    for (name, i), (_, marks, _, _) in zip(cuts, seen):
        if any("Lua" in m for m in marks):
            bad.append(f"{name} of {i} bytes: {marks}")
        elif not any(m in ("Message ends within the header", "Count leads out of the message", ENDS) for m in marks):
            bad.append(f"{name} of {i} bytes: marked {marks}")
    verdict("dissect-rtx-truncated", bad)

    # Covers: RTX-33 RTX-45 RTX-46 RTX-48 RTX-52 RTX-54 RTX-57 RTX-59
    marks_cases(out, "rtx-malformed", MALFORMED_RTX)
    marks_cases(out, "rtx-known", KNOWN_RTX, 1,
                lambda messages: list(roce([(PROPS, 1), *((m, 0) for m in messages)], 4096)), 1)


def header_len(message):
    """The smallest valid length of this message: its header and, if it has an RPC message, the XID and
    msg_type of the RPC message."""
    want = Want(message)
    return 4 * want.at + (8 if want.rpc else 0)


def main():
    out = sys.argv[1]
    path = os.path.join(out, "messages.pcap")
    vecs = {n: v for n, v in vectors().items() if n.startswith("v2_") or "err_vers" in n}
    if len(vecs) != 16:
        raise SystemExit(f"{len(vecs)} vectors, not 16")

    # Covers: V2-HDR-01 V2-HDR-05 V2-CHK-01 V2-PRP-01 V2-PRP-03 V2-TYP-01 V2-TYP-02 V2-ERR-30
    bad, seen = decoded(path, 147, vecs.values(), len(vecs))
    for (name, message), (got, marks, protocols, malformed) in zip(vecs.items(), seen):
        bad += differences(name, message, got)
        may = ["By its length also an ERR_VERS in the layout of version 1"]
        ours = [m for m in marks if m not in may]
        if ours or malformed:
            bad.append(f"{name}: marked {ours or malformed}")
        if Want(message).rpc and name != "v2_msg_reply" and ":rpc" not in protocols:
            bad.append(f"{name}: no RPC in {protocols}")
    verdict("dissect-fields", bad)

    # Covers: V2-HDR-16
    cuts = [(n, i) for n, v in vecs.items() for i in range(1, len(v))]
    bad, seen = decoded(path, 147, [vecs[n][:i] for n, i in cuts], len(cuts))
    for (name, i), (got, marks, protocols, malformed) in zip(cuts, seen):
        # A truncated message is valid if it still has header_len() bytes. An error that was cut to
        # 28 bytes is also valid, because an ERR_VERS in the layout of version 1 has this length.
        good = i >= header_len(vecs[name]) or (i == 28 and got["htype"] == "4")
        if any("Lua" in m for m in marks):
            bad.append(f"{name} of {i} bytes: {marks}")
        elif good == ("Message ends within the header" in marks or "No RPC message" in marks
                      or "Count leads out of the message" in marks or "Version is not 2" in marks):
            bad.append(f"{name} of {i} bytes: marked {marks}")
    verdict("dissect-truncated", bad)

    # Covers: V2-HDR-13 V2-HDR-14 V2-PRP-05 V2-PRP-06 V2-PRP-07 V2-PRP-08 V2-TYP-06 V2-TYP-15 V2-TYP-17
    marks_cases(out, "malformed", [(name, [message], mark) for name, message, mark in MALFORMED])

    # Put the messages into captures of RoCE and iWARP: first each message in one packet, and then
    # at most 32 bytes of a message in each packet. Our dissector must ignore the message of version
    # 1, which comes last. The capture "iwarp-parts" does not have that message: with it, tshark's
    # own dissector would fail on all messages.
    order = ["v2_connprop", "v2_connprop_server", "v2_msg_inv", "v2_msg_reply", "v2_nomsg_call"]
    order += [n for n in vecs if n not in order and n != "v2_err_vers" and n != "v1_err_vers_v3"]
    reverse = {"v2_connprop": 0, "v2_msg_inv": 0, "v2_nomsg_call": 0}
    messages = [(vecs[n], reverse.get(n, 1)) for n in order]
    mixed = messages + [(vectors()["v1_short_call"], 0)]
    for name, packets in (("roce", roce(mixed, 4096)), ("roce-parts", roce(mixed, 32)),
                          ("iwarp", iwarp(mixed, 4096)), ("iwarp-parts", iwarp(messages, 32))):
        bad, seen = decoded(os.path.join(out, name + ".pcap"), 1, packets, len(order), F + "xid")
        for n, (got, marks, _, _) in zip(order, seen):
            bad += differences(n, vecs[n], got)
            bad += [f"{n}: {m}" for m in marks if "Lua" in m]
        verdict("dissect-" + name, bad)
    rtx_main(out, {n: v for n, v in vectors().items() if n.startswith("rtx_")})


main()
