# SPDX-License-Identifier: GPL-2.0
"""A RoCE capture in the terms of RPC-over-RDMA: connections, messages, and the accesses to memory between them.
tshark decodes the packets. The transport header is decoded in this file, because tshark's fields do not show
which segment is in which chunk.
"""
import collections
import struct

import groups
from decoder import fields, number

CLIENT = "10.9.0.2"
MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
CALL, REPLY = 0, 1
ERR_VERS = 1
CM_REQ, CM_REP = 0x10, 0x13
SEND_FIRST, SEND_LAST, SEND_ONLY, WRITE_FIRST, WRITE_LAST, WRITE_ONLY = 0, 2, 4, 6, 8, 10
READ_REQUEST, READ_FIRST, READ_ONLY, ACK, SEND_LAST_INV, SEND_ONLY_INV, UD_SEND = 12, 13, 16, 17, 22, 23, 100
SENDS = (0, 1, 2, 4, 22, 23)
WRITES = (6, 7, 8, 10)
READS = (13, 14, 15, 16)
BTH_LEN, ICRC_LEN = 12, 4
# Sizes of the headers between the BTH and the payload: RETH, AETH, IETH
EXTRA = {6: 16, 10: 16, 12: 16, 13: 4, 15: 4, 16: 4, 17: 4, 22: 4, 23: 4}

FIELDS = ["frame.number", "ip.src", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn",
          "infiniband.bth.padcnt", "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen",
          "infiniband.aeth.syndrome.opcode", "infiniband.mad.attributeid", "infiniband.cm.req.localqpn",
          "infiniband.cm.rep.localqpn", "infiniband.cm.req.responderres", "infiniband.cm.req.rnrretrcount",
          "infiniband.cm.rep.rnrretrcount", "infiniband.cm.req.pppmtu", "infiniband.cm.req.ip_cm.private",
          "infiniband.cm.rep.private", "udp.payload"]

Segment = collections.namedtuple("Segment", "handle length offset")


class Words:
    """Reads 32-bit big-endian words one by one."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, n=1):
        values = struct.unpack_from(f">{n}I", self.data, self.at)
        self.at += 4 * n
        return values[0] if n == 1 else values

    def opaque(self):
        length = self.take()
        value = self.data[self.at:self.at + length]
        self.at += (length + 3) & ~3
        return value

    def segment(self):
        handle, length, high, low = self.take(4)
        return Segment(handle, length, high << 32 | low)

    def array(self):
        return [self.segment() for _ in range(self.take())]


class Access:
    """An RDMA Read or Write: the request, and the data on the wire."""

    def __init__(self, frame, kind, by_client, segment):
        self.frame, self.kind, self.by_client, self.segment = frame, kind, by_client, segment
        self.data, self.last = b"", frame


class Message:
    """A Send: the transport header, and the bytes after it."""

    def __init__(self, conn, frame, from_client, data, invalidates):
        self.conn, self.frame, self.from_client = conn, frame, from_client
        self.size, self.invalidates = len(data), invalidates
        self.data = data
        self.reads, self.writes, self.reply = [], [], None
        self.call = None		# in a Reply: its Call
        self.flags, self.inv_handle = None, 0	# in version 2
        w = Words(data)
        self.xid, self.version, self.credits, self.type = w.take(4)
        if self.version == 2:
            self.flags = w.take()
        if self.type in (ERROR, CONNPROP, groups.RTX_NEXT):
            self.body = data[w.at:]
            return
        if self.type == groups.RTX_MSG:
            groups.begin(self, w)
        if self.version == 2:
            self.inv_handle = w.take()
        while w.take():
            self.reads.append((w.take(), w.segment()))
        while w.take():
            self.writes.append(w.array())
        if w.take():
            self.reply = w.array()
        self.body = data[w.at:]

    def __str__(self):
        return f"frame {self.frame}"

    @property
    def is_call(self):
        if self.version == 2:
            return not self.flags & 1
        if self.type == NOMSG:
            return self.from_client
        return self.type == MSG and self.word(4) == CALL

    @property
    def forward(self):
        return self.is_call == self.from_client

    @property
    def chunks(self):
        return self.writes + ([self.reply] if self.reply is not None else [])

    @property
    def segments(self):
        return [s for _, s in self.reads] + [s for c in self.chunks for s in c]

    @property
    def properties(self):
        """{number: first word of the value} for each property of a CONNPROP"""
        w, found = Words(self.body), {}
        for _ in range(w.take()):
            which = w.take()
            found[which] = Words(w.opaque()).take()
        return found

    def word(self, at):
        return struct.unpack_from(">I", self.body, at)[0] if 0 <= at <= len(self.body) - 4 else None

    def arguments(self):
        """(program, version, procedure, words of its arguments) of an inline Call"""
        w = Words(self.body, 12)
        program, version, procedure = w.take(3)
        for _ in range(2):
            w.take()
            w.opaque()
        return program, version, procedure, w

    def results(self):
        """Words of the results of an inline Reply, or None if the Call was not executed"""
        w = Words(self.body, 12)
        w.take()
        w.opaque()
        return None if w.take() else w

    def compound(self):
        """(minor version, first operation, words after it) of an inline NFSv4 Call, or None"""
        program, version, procedure, w = self.arguments()
        if (program, version, procedure) != (100003, 4, 1):
            return None
        w.opaque()
        minor, count = w.take(2)
        return (minor, w.take(), w) if count else None


class Connection:
    def __init__(self, req, rep):
        self.client_qp, self.server_qp = number(req["infiniband.cm.req.localqpn"]), number(rep["infiniband.cm.rep.localqpn"])
        self.req, self.rep = req, rep
        self.mtu = 128 << number(req["infiniband.cm.req.pppmtu"])
        self.asked = bytes.fromhex(req["infiniband.cm.req.ip_cm.private"])
        self.answered = bytes.fromhex(rep["infiniband.cm.rep.private"])
        self.events, self.reads, self.naks = [], [], []
        self.hello = []			# the client's first message of version 2 and its refusal, see find_hello()
        self.repeated = []		# frames that a device sent again
        self.expected = {}		# next PSN, by direction
        self.partial = {}		# message or RDMA Write that is being assembled, by direction

    @property
    def messages(self):
        return [e for e in self.events if isinstance(e, Message)]

    @property
    def version(self):
        """The version of the connection: that of its first message, or 1 if a server of version 1 has refused
        the first message of version 2; 0 if there are no messages."""
        return 1 if self.hello else self.messages[0].version if self.messages else 0

    def find_hello(self):
        """Remove the first message of version 2 and its refusal from the messages, if they are valid. The refusal
        is an ERR_VERS in the layout of version 1, with the same XID and version, and with the range "1 to 1"."""
        first = self.messages[:2]
        if len(first) < 2 or (first[0].version, first[0].type, first[0].is_call) != (2, CONNPROP, True):
            return
        asked, answer = first
        refusal = struct.pack(">7I", asked.xid, 2, answer.credits, ERROR, ERR_VERS, 1, 1)
        if asked.from_client and not answer.from_client and answer.data == refusal:
            self.hello = first
            self.events = [e for e in self.events if e not in first]

    def is_repeated(self, side, psn, packets):
        """Was the packet sent again after a timeout? If so, its content was seen before. @packets: number of
        PSNs that it takes"""
        expected = self.expected.get(side, psn)
        if (psn - expected) & 0x800000:
            return True
        self.expected[side] = (psn + packets) & 0xffffff
        return False

    def packet(self, p, opcode, from_client):
        payload = bytes.fromhex(p["udp.payload"])
        end = len(payload) - ICRC_LEN - number(p["infiniband.bth.padcnt"])
        data = payload[BTH_LEN + EXTRA.get(opcode, 0):end]
        frame, psn = int(p["frame.number"]), number(p["infiniband.bth.psn"])
        segment = Segment(number(p["infiniband.reth.r_key"]), number(p["infiniband.reth.dmalen"]),
                          number(p["infiniband.reth.va"]))
        if opcode == ACK:
            if number(p["infiniband.aeth.syndrome.opcode"]):
                self.naks.append((frame, number(p["infiniband.aeth.syndrome.opcode"])))
            return
        if opcode in READS:
            if not self.is_repeated(("response", from_client), psn, 1):
                self.response(opcode, frame, data)
            return
        packets = -(-segment.length // self.mtu) if opcode == READ_REQUEST else 1
        if self.is_repeated(from_client, psn, max(packets, 1)):
            self.repeated.append(frame)
            return
        if opcode == READ_REQUEST:
            access = Access(frame, "read", from_client, segment)
            self.events.append(access)
            self.reads.append(access)
        elif opcode in WRITES:
            if opcode in (WRITE_FIRST, WRITE_ONLY):
                self.partial[from_client] = Access(frame, "write", from_client, segment)
                self.events.append(self.partial[from_client])
            self.partial[from_client].data += data
            self.partial[from_client].last = frame
        elif opcode in SENDS:
            self.send(opcode, frame, from_client, payload, data)

    def response(self, opcode, frame, data):
        if opcode in (READ_FIRST, READ_ONLY):
            self.partial["response"] = self.reads.pop(0)
        self.partial["response"].data += data
        self.partial["response"].last = frame

    def send(self, opcode, frame, from_client, payload, data):
        if opcode in (SEND_ONLY, SEND_ONLY_INV, SEND_FIRST):
            self.partial["send", from_client] = b""
        self.partial["send", from_client] += data
        if opcode in (SEND_ONLY, SEND_LAST, SEND_ONLY_INV, SEND_LAST_INV):
            inv = struct.unpack_from(">I", payload, BTH_LEN)[0] if opcode in (SEND_LAST_INV, SEND_ONLY_INV) else None
            self.events.append(Message(self, frame, from_client, self.partial["send", from_client], inv))


def pair_up(conn):
    """Find the Call of each Reply, if there is one."""
    waiting = {}
    for m in conn.messages:
        key = (m.from_client if m.is_call else not m.from_client, m.xid)
        if m.is_call:
            waiting[key] = m
        else:
            m.call = waiting.get(key)


def connections(capture):
    """Returns the connections whose beginning was captured, all connect requests, and the frames of packets that
    belong to none of these connections."""
    conns, owner, requests, stray = [], {}, [], []
    for p in fields(capture, "infiniband", FIELDS):
        opcode, from_client = number(p["infiniband.bth.opcode"]), p["ip.src"] == CLIENT
        attribute = number(p["infiniband.mad.attributeid"])
        if opcode == UD_SEND:
            if attribute == CM_REQ:
                requests.append(p)
            if attribute == CM_REP and requests:
                conn = Connection(requests[-1], p)
                # If the answer (CM REP) was sent again, it does not begin another connection.
                known = owner.get((True, conn.server_qp))
                if not known or known.req is not conn.req:
                    conns.append(conn)
                    owner[True, conn.server_qp] = owner[False, conn.client_qp] = conn
            continue
        conn = owner.get((from_client, number(p["infiniband.bth.destqp"])))
        if conn:
            conn.packet(p, opcode, from_client)
        else:
            stray.append(p["frame.number"])
    for conn in conns:
        conn.find_hello()
        groups.put_together(conn)
        pair_up(conn)
    return conns, requests, stray
