#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a capture of iWARP traffic between our client and our server with tshark's decoders (decoder.py). The
rules for all messages are checked with RoCE captures, see wire.py.

usage: iwarp.py CAPTURE

Prints a "case" line for each result: wire-decode and wire-form-... for version 1, wire2-... for version 2, and
wire-all-decoded for both.
"""
import sys

from decoder import WITH_LUA, complaints, fields, is_error, number, numbers, verdict
from roce import CALL, CONNPROP, MSG, NOMSG, REPLY

SENDS = (3, 4, 5, 6)			# with and without invalidation, solicited or not
NFS_CALLBACK = 0x40000000
SERVER_PORT = 20049
# The field in which a decoder shows the message type
TYPE = {"rpcordma": "rpcordma.msg_type", "rpcrdma2": "rpcrdma2.htype"}
# The field in which a decoder shows the length of a segment
LENGTH = {"rpcordma": "rpcordma.rdma_length", "rpcrdma2": "rpcrdma2.length"}


class Frame:
    """A frame of the capture, as a decoder shows it. A frame may have several messages."""

    def __init__(self, prefix, line):
        self.number = line["frame.number"]
        self.marks = line["_ws.malformed"] or line.get("_ws.lua.text")
        self.severe = is_error(line)
        self.expert = line["_ws.expert.message"]
        self.callback = NFS_CALLBACK in numbers(line["rpc.program"])
        self.xids = numbers(line[prefix + ".xid"])
        self.types = numbers(line[TYPE[prefix]])
        self.direction = numbers(line["rpc.msgtyp"])
        self.reads, self.writes, self.reply = (numbers(line[f"{prefix}.{n}_count"]) for n in
                                               ("reads", "writes", "reply"))
        self.lengths = numbers(line[LENGTH[prefix]])
        if prefix == "rpcrdma2":
            # The header says whether a message is a Reply. A Call from the server's port, or a Reply to this
            # port, belongs to a callback.
            self.direction = [REPLY if text in ("1", "True") else CALL
                              for text in line["rpcrdma2.flags.response"].split(",")]
            self.callback = all((way == CALL) == (number(line["tcp.srcport"]) == SERVER_PORT) for way in self.direction)

    def is_false_mark(self):
        """May tshark have marked this frame by mistake? On iWARP, tshark's decoder puts the data of a READ back
        into the Reply without roundup, and then looks for the end of the result in the wrong place."""
        return REPLY in self.direction and 1 in self.writes and any(n % 4 for n in self.lengths)

    def form(self):
        """(type, direction, Read segments?, Write chunks?, Reply chunk?); None if the frame has several
        messages"""
        # If a Call has Read segments, tshark decodes its RPC message only in the frame in which the last of its data
        # arrives. So the frame with the header shows no direction.
        direction = self.direction or [CALL] * any(self.reads)
        if len(self.xids) != 1 or len(direction) != 1:
            return None
        return (self.types[0], direction[0], *(any(n) for n in (self.reads, self.writes, self.reply)))


def frames(capture, prefix, names, *more):
    names = ["frame.number", "rpc.program", "_ws.malformed", "_ws.expert.message", "_ws.expert.severity",
             "rpc.msgtyp", prefix + ".xid", TYPE[prefix], LENGTH[prefix],
             *(f"{prefix}.{n}_count" for n in ("reads", "writes", "reply")), *names]
    return [Frame(prefix, line) for line in fields(capture, prefix, names, *more)]


def decode(name, found, bad):
    verdict(name, found and not bad, f"{len(found)} frames, {len(bad)} bad, first {bad[:1]}")


def judge_forms(which, found):
    """Check that the necessary forms occur among these frames. Only frames with one message are used."""
    forms = {f.form() for f in found if not f.callback}
    for name, form in (("inline-call", (MSG, CALL, False, False, False)),
                       ("inline-reply", (MSG, REPLY, False, False, False)),
                       ("read-chunk", (MSG, CALL, True, False, False)),
                       ("write-chunk", (MSG, CALL, False, True, False)),
                       ("reply-chunk", (MSG, CALL, False, False, True)),
                       ("reply-chunk-used", (NOMSG, REPLY, False, False, True)),
                       ("position-zero", (NOMSG, CALL, True, False, False))):
        verdict(f"{which}-form-{name}", form in forms, f"none among {sorted(f for f in forms if f)}")
    for name, way in (("backchannel-call", CALL), ("backchannel-reply", REPLY)):
        verdict(f"{which}-form-{name}", any(f.callback and way in f.direction for f in found), "no such message")
    for name, used in (("write-chunk-used", True), ("write-chunk-unused", False)):
        verdict(f"{which}-form-{name}", any(f.form() == (MSG, REPLY, False, True, False) and any(f.lengths) == used
                                            for f in found), "no such message")


def main():
    capture = sys.argv[1]
    one = frames(capture, "rpcordma", [])
    two = frames(capture, "rpcrdma2", ["_ws.lua.text", "rpcrdma2.flags.response", "tcp.srcport"], *WITH_LUA)
    # A Send that is longer than a packet has several DDP segments. The last one is marked.
    sends = sum(op in SENDS and last
                for line in fields(capture, "iwarp_ddp_rdmap", ["iwarp_rdma.opcode", "iwarp_ddp.last_flag"])
                for op, last in zip(numbers(line["iwarp_rdma.opcode"]), numbers(line["iwarp_ddp.last_flag"]),
                                    strict=True))
    decoded = sum(len(f.xids) for f in one + two)
    # tshark ignores Sends that it does not recognise as RPC-over-RDMA.
    verdict("wire-all-decoded", sends and sends == decoded, f"{sends} Sends, and {decoded} messages")

    # Covers: V1-HDR-02 V1-HDR-07 V1-HDR-08 V1-HDR-10 V1-HDR-16 V1-HDR-20 V1-HDR-24 EXP-08
    decode("wire-decode", one, [f"{f.number}: {f.marks or f.expert}" for f in one
                                if (f.marks or f.severe) and not f.is_false_mark()])
    marks = complaints()
    # Covers: V2-HDR-01 V2-CHK-01 V2-TYP-01 V2-PRP-01
    decode("wire2-decode", two, [f"{f.number}: {f.marks or f.expert}" for f in two
                                 if f.marks or f.severe or any(m in f.expert for m in marks)])

    judge_forms("wire", one)
    judge_forms("wire2", two)
    # In version 2, a Reply that fits is inline, even if a Reply chunk was offered.
    verdict("wire2-form-reply-chunk-unused", any(f.form() == (MSG, REPLY, False, False, True) and not any(f.lengths)
                                                 for f in two), "no such message")
    verdict("wire2-form-properties", sum(CONNPROP in f.types for f in two) >= 2, "no properties were exchanged")


main()
