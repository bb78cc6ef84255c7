# SPDX-License-Identifier: GPL-2.0
"""Code that the test programs in this directory share, clients and servers: connections (with peer.c),
transport headers, RPC and a little NFS. This file does not decide what is right; the cases do.

Needs the shared library made from peer.c, at $PEER_LIB.
"""
import collections
import contextlib
import ctypes
import json
import mmap
import os
import struct
import subprocess
import time

MSG, NOMSG, MSGP, DONE, ERROR = range(5)
ERR_VERS, ERR_CHUNK = 1, 2
# Of version 2: a header type, the errors, the properties
CONNPROP = 5
VERS, BAD_XDR, INVAL_HTYPE, READ_CHUNKS, WRITE_CHUNKS, SEGMENTS, WRITE_RESOURCE, REPLY_RESOURCE, SYSTEM = range(1, 10)
RBSIZ, BRS = 1, 2
REQUEST, UP, RECEIVED, FINISHED, LOST = range(1, 6)
SEND, SEND_INV, WRITE, READ = range(4)
PARAMETERS = "/sys/module/rpcrdma/parameters/"
UNLIMITED = 0xffffffff  # value of a limit of net/verbs/fail.c that has no effect
PATIENCE = 20           # seconds to wait for an expected event
SILENCE = 0.5           # seconds in which an unwanted event would occur, after the other end has received its cause
PAGE = 4096
AREA = 3 << 20          # first bytes of the arena, for messages to be sent: more than a full window of messages
ARENA = 16 << 20

Segment = collections.namedtuple("Segment", "handle length offset")


def private(send=4096, recv=4096, remote_inv=True):
    """RFC 8797 private data"""
    return struct.pack(">I4B", 0xf6ab0e18, 1, int(remote_inv), send // 1024 - 1, recv // 1024 - 1)


class Failure(Exception):
    """A result is not what the case requires."""


def want(condition, reason):
    if not condition:
        raise Failure(reason)


def get(path):
    with open(path, encoding="ascii") as f:
        return f.read().strip()


def put(path, value):
    """Write a setting."""
    with open(path, "w", encoding="ascii") as f:
        f.write(str(value))


def fault(name, times):
    """Let the module fail so many times in this way (net/verbs/fail.c); -1: always, 0: not any more."""
    for setting, value in (("verbose", 0), ("times", times), ("probability", 100)):
        put(f"/sys/kernel/debug/rpcrdma/{name}/{setting}", value)


@contextlib.contextmanager
def settings(**values):
    """Change parameters of the module that exist, and restore them at the end."""
    was = {name: get(PARAMETERS + name) for name in values if os.path.exists(PARAMETERS + name)}
    try:
        for name in was:
            put(PARAMETERS + name, values[name])
        yield
    finally:
        for name, value in was.items():
            put(PARAMETERS + name, value)


@contextlib.contextmanager
def slow(name):
    """Slow down the kernel threads of that name: they get only processor time that no process wants. Otherwise
    they would handle each message as soon as it comes, and would never have many messages to handle at once."""
    threads = [int(pid) for pid in subprocess.run(["pgrep", "-x", name], text=True, stdout=subprocess.PIPE,
                                                  check=False).stdout.split()]
    want(threads, f"no thread {name}")
    for pid in threads:
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for p in busy:
            p.kill()
            p.wait()
        for pid in threads:
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


@contextlib.contextmanager
def undisturbed():
    """Let only this process run on the processor, apart from interrupts. So kernel threads run only when the
    block has ended, and find all its events at once. This needs a guest with one processor."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def iwarp():
    """Is the adapter of the iWARP kind, and not of the RoCE kind?"""
    return "RNIC" in get("/sys/class/infiniband/lab0/node_type")


def resources(kind):
    """The objects of that kind ("pd", "mr") that belong to the kernel, and not to the library, as dictionaries from
    rdma(8)"""
    text = subprocess.run(["rdma", "-dd", "-j", "resource", "show", kind], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    return [found for found in json.loads(text) if "pid" not in found and "rpcrdma_kpeer" not in found["comm"]]


def only_own_memory():
    """Check that the module's protection domain has no handle for all memory (unsafe_global_rkey). Returns the
    handles of the kernel's memory regions."""
    domains, regions = resources("pd"), resources("mr")
    want(any("rpcrdma" in d["comm"] for d in domains), f"our protection domain is not shown: {domains}")
    want(not any("unsafe_global_rkey" in d for d in domains), f"all memory is open: {domains}")
    return [int(str(r["rkey"]), 16) for r in regions]


class Event(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("conn", ctypes.c_int), ("status", ctypes.c_int),
                ("length", ctypes.c_int), ("invalidated", ctypes.c_uint32), ("depth", ctypes.c_uint32),
                ("id", ctypes.c_uint64), ("data", ctypes.c_uint8 * 65536)]


class Verbs:
    """The library and its arena. The first AREA bytes of the arena are a ring for messages to be sent. The rest
    is for a server's RDMA Reads and Writes, one at a time, or for a client's chunks."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["PEER_LIB"], use_errno=True)
        self.lib.peer_post.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p,
                                       ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint32]
        self.lib.peer_init.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.lib.peer_init.restype = ctypes.c_uint32
        self.lib.peer_register.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                           ctypes.POINTER(ctypes.c_void_p)]
        self.lib.peer_register.restype = ctypes.c_uint32
        self.lib.peer_unregister.argtypes = [ctypes.c_void_p]
        self.arena = mmap.mmap(-1, ARENA)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.arena))
        self.handle = self.lib.peer_init(self.base, ARENA)
        want(self.handle, "no RDMA device for user space")
        self.event = Event()
        self.conns = {}
        self.requests = collections.deque()     # (connection index, depth and data of its Event)
        self.at = 0
        self.ids = 1 << 20
        self.sends = 0

    def pump(self, patience=0):
        """Handle at most one event. Returns False if there was none."""
        e = self.event
        if not self.lib.peer_wait(ctypes.byref(e), int(patience * 1000)):
            return False
        data = ctypes.string_at(ctypes.addressof(e) + Event.data.offset, e.length) if e.kind in (
            REQUEST, UP, RECEIVED) else b""
        if e.kind == REQUEST:
            self.requests.append((e.conn, e.depth, data))
            return True
        conn = self.conns.get(e.conn)
        if not conn:
            return True
        if e.kind == UP:
            conn.up, conn.private = True, data
        elif e.kind == RECEIVED:
            conn.heard(data, e.invalidated)
        elif e.kind == FINISHED:
            conn.finished[e.id] = e.status
        elif e.kind == LOST:
            conn.lost = True
        return True

    def until(self, condition, patience=PATIENCE):
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            self.pump(0.005)
        return True


class Conn:
    def __init__(self, verbs, index):
        self.verbs, self.index = verbs, index
        self.up = self.lost = self.closed = False
        self.private = b""
        self.inbox = collections.deque()        # (message, invalidated handle)
        self.xids = set()                       # XIDs of all messages that were sent, as bytes
        self.finished = {}
        verbs.conns[index] = self

    def close(self):
        if not self.closed:
            self.closed = True
            del self.verbs.conns[self.index]
            self.verbs.lib.peer_close(self.index)

    def disconnect(self):
        self.verbs.lib.peer_disconnect(self.index)

    def post(self, what, where, length, segment=Segment(0, 0, 0)):
        v = self.verbs
        v.ids += 1
        if self.closed:
            self.finished[v.ids] = -1
            return v.ids
        rc = v.lib.peer_post(self.index, what, v.ids, v.base + where, length, segment.offset, segment.handle)
        if rc:
            self.finished[v.ids] = -1
        elif what in (SEND, SEND_INV):
            v.sends += 1
        return v.ids

    def send(self, message, invalidate=None):
        v = self.verbs
        where = v.at
        self.xids.add(message[:4])
        # siw sends wrong bytes of a short message that crosses a page boundary.
        if where % PAGE + len(message) > PAGE:
            where += -where % PAGE
        if where + len(message) > AREA:
            where = 0
        v.at = where + len(message)
        v.arena[where:v.at] = message
        return self.post(SEND if invalidate is None else SEND_INV, where, len(message),
                         Segment(invalidate or 0, 0, 0))

    def result(self, work, patience=PATIENCE):
        """Did this work request succeed? None if it has not completed, because the connection was lost or the
        time is over."""
        self.verbs.until(lambda: work in self.finished or self.lost, patience)
        status = self.finished.pop(work, None)
        return None if status is None else status == 0

    def write(self, segment, data):
        where = AREA
        self.verbs.arena[where:where + len(data)] = data
        return self.result(self.post(WRITE, where, len(data), segment))

    def read(self, segment, length=None):
        where = AREA
        length = segment.length if length is None else length
        if not length:
            return b""
        if not self.result(self.post(READ, where, length, segment)):
            return None
        return self.verbs.arena[where:where + length]

    def refused(self, segment, what, length=1):
        """Try this access. Is it refused? With some providers, only the end of the connection shows that."""
        if what == WRITE:
            done = self.write(segment, b"\xbd" * length)
        else:
            done = self.read(segment, length)
            if done is not None:
                return False
        if done is False or self.lost:
            return True
        return self.verbs.until(lambda: self.lost, 3)

    def heard(self, message, invalidated):
        # The message type is at the same place in both versions.        Covers: V2-TYP-18
        want(message[12:16] != words(ERROR) or message[:4] in self.xids, f"an error to nothing: {message.hex()}")
        self.inbox.append((message, invalidated))

    def receive(self, patience=PATIENCE):
        """The next message, or None."""
        self.verbs.until(lambda: self.inbox or self.lost, patience)
        return self.inbox.popleft() if self.inbox else None


# --- transport headers --------------------------------------------------------

def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def pack_segments(segments):
    return b"".join(struct.pack(">IIQ", *s) for s in segments)


def header(xid, proc=MSG, credit=32, vers=1, reads=(), writes=(), reply=None):
    """The transport header of a message that is no error. @reads is a list of (position, Segment), @writes is a list
    of lists of Segments, and @reply is a list of Segments or None."""
    out = [words(xid, vers, credit, proc)]
    for position, segment in reads:
        out.append(words(1, position) + pack_segments([segment]))
    out.append(words(0))
    for chunk in writes:
        out.append(words(1, len(chunk)) + pack_segments(chunk))
    out.append(words(0))
    if reply is None:
        out.append(words(0))
    else:
        out.append(words(1, len(reply)) + pack_segments(reply))
    return b"".join(out)


def error(xid, code=ERR_CHUNK, credit=32, vers=1, rest=b""):
    return words(xid, vers, credit, ERROR, code) + rest


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def word(self):
        self.at += 4
        want(self.at <= len(self.data), "a message is too short")
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def skip(self, count):
        self.at += count

    def opaque(self):
        length = self.word()
        data = self.data[self.at:self.at + length]
        self.at += length + -length % 4
        return data

    def segments(self, count):
        found = []
        for _ in range(count):
            found.append(Segment(*struct.unpack_from(">IIQ", self.data, self.at)))
            self.at += 16
        return found


class Message:
    """A received message whose lists are parsed. It must be valid."""

    def __init__(self, data):
        r = Reader(data)
        self.data = data
        self.xid, self.vers, self.credit, self.proc = r.word(), r.word(), r.word(), r.word()
        self.reads, self.writes, self.reply, self.code = [], [], None, None
        if self.proc == ERROR:
            self.code = r.word()
        else:
            while r.word():
                position = r.word()
                self.reads.append((position, r.segments(1)[0]))
            while r.word():
                self.writes.append(r.segments(r.word()))
            if r.word():
                self.reply = r.segments(r.word())
        self.body = data[r.at:]

    def is_call(self):
        return self.proc == MSG and self.body[4:8] == words(CALL)


def fill(segments, length):
    """@segments with the lengths that a Reply returns if @length bytes were written to them"""
    found = []
    for s in segments:
        found.append(s._replace(length=min(length, s.length)))
        length -= found[-1].length
    return found


# --- RPC ----------------------------------------------------------------------

CALL, REPLY = 0, 1
AUTH_NONE = words(0, 0)
AUTH_ROOT = words(1, 20, 0, 0, 0, 0, 0)         # AUTH_SYS: stamp, no machine name, uid, gid, no groups


def rpc_call(xid, prog, vers, proc, args=b"", cred=AUTH_NONE):
    return words(xid, CALL, 2, prog, vers, proc) + cred + AUTH_NONE + args


def rpc_reply(xid, results=b""):
    return words(xid, REPLY, 0, 0, 0, 0) + results


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


def counters():
    with open("/sys/kernel/debug/rpcrdma/counters", encoding="ascii") as f:
        return {n: int(v) for n, v in (line.split() for line in f)}


# --- many messages ---------------------------------------------------------------------------

class StormMessage(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_uint32)]


class StormTally(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("code", ctypes.c_uint32), ("count", ctypes.c_uint32)]


def storm(conn, messages, rounds, answered, ahead):
    """Send @messages @rounds times. Each round must get @answered answers, and at most @ahead rounds are in progress at
    a time. Returns {(message type, code of an error): how many have come}. See peer_storm()."""
    v = conn.verbs
    array, where = (StormMessage * len(messages))(), AREA
    for i, message in enumerate(messages):
        if where % PAGE + len(message) > PAGE:
            where += -where % PAGE
        v.arena[where:where + len(message)] = message
        array[i] = StormMessage(v.base + where, len(message))
        where += len(message)
    tallies = (StormTally * 8)()
    got = v.lib.peer_storm(conn.index, array, len(messages), answered, rounds, ahead, tallies, 8)
    want(got == rounds * answered, f"{got} answers, not {rounds * answered}")
    return {(t.type, t.code): t.count for t in tallies if t.count}
