# SPDX-License-Identifier: GPL-2.0
"""Clients that do not let our server's Sends complete: a single client, and 64 clients, the most that sunrpc allows
before they have used a file handle. With siw they do not read from the TCP connection. With other providers they have
no Receives, and ask for endless RNR retries. Such clients must not slow down an honest mount, or make the server use
much memory. The server must end such a connection after a while, whatever else arrives on it.

usage: hostile_siege.py SET [part of a name]; hostile_siege.py watch SECONDS
With SIEGE_VERSION=2 they use version 2.
"""
import contextlib
import glob
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import time

import proxy
from caller import (ADDRESS, CONNECTIONS, EXPORT, NFS, NULL, PLAIN, PORT, Client, main, values)
from hostile_client import nfsd_threads
from hostile_v2 import SETTING, Client2
from peer import (ARENA, PAGE, PARAMETERS, SEND, Conn, Segment, counters, get, put, rpc_call, settings, want,
                  words)
from sets import case

PROVIDER = os.environ.get("PROVIDER")
PROGRESS = PARAMETERS + "progress_timeout"      # seconds in which the oldest posted work must complete
TCP_BUFFERS = "/proc/sys/net/ipv4/tcp_wmem"
MANY = 64
SLOW = 1.0              # seconds that a GETATTR or READ may take while all these clients are connected
WATCH = 20              # seconds for which an honest mount is watched
MARGIN = 5              # seconds that are allowed beyond a time limit
# The simulated adapter has a copy of all memory that it may use.
COPIES = 2 if PROVIDER == "hca" else 1
# Bytes of the server's memory that each of many such clients may cost, and a quarter of what a single one may cost
PINNED = COPIES * 4 << 20
# The same for Calls with Read chunks of clients that have not used a file handle yet: for one client, or for each
# four of many
UNKNOWN = COPIES * 8 << 20
SLOTS = 8 + 3           # send queue slots that a client may hold; 3 are for nfsd threads that are about to take a slot
REQUESTS = "/proc/sys/sunrpc/svc_rdma/max_requests"
FEW = 32                # value for max_requests, with which the server's send queue is short
CHUNK = 256 << 10
MPA_KEY = b"MPA ID Req Frame"


def progress():
    """The server's time limit for posted work in seconds; 20 if the module does not have this parameter"""
    return int(get(PROGRESS)) if os.path.exists(PROGRESS) else 20


@contextlib.contextmanager
def threads(count):
    nfsd_threads(count)
    try:
        yield
    finally:
        nfsd_threads(4)


@contextlib.contextmanager
def short_queues():
    """Let TCP connections buffer only a little unread data, and make send queues short."""
    was = get(TCP_BUFFERS), get(REQUESTS)
    put(TCP_BUFFERS, "4096 4096 4096")
    put(REQUESTS, FEW)
    try:
        yield
    finally:
        put(TCP_BUFFERS, was[0])
        put(REQUESTS, was[1])


def available():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable"))


class Besieger:
    """A client that accepts no Replies. @port is in the name of the server's debugfs file for it. @most: maximum number
    of its Calls that the server has not handled."""
    # @most is only 2, because the server has few Receives for a client that has not shown a file
    # handle, and siw ends a connection if a message finds no Receive.
    port, most = None, 2

    def __init__(self, b):
        self.b, self.sent = b, 0
        self.connect()
        want(b.verbs.until(lambda: self.shown() or self.gone), "no connection")
        time.sleep(0.01)

    def shown(self):
        """Returns the values that the server shows in debugfs for this connection, or {} if it has ended."""
        for path in glob.glob(f"{CONNECTIONS}/*:{self.port}-*"):
            with contextlib.suppress(OSError):
                return values(path)
        return {}

    @property
    def lost(self):
        return not self.shown()

    def null(self, **lists):
        rpc = rpc_call(0x5000, NFS, 3, NULL)
        # Pass None as self, which header() does not use in either version.
        return self.b.kind.header(None, 0x5000, credit=64,
                                  **{n: [(len(rpc), s) for s in v] for n, v in lists.items()}) + rpc

    def call(self, message=None):
        self.send(message or self.null())
        self.sent += 1

    def is_stuck(self):
        """Has the server posted a Send or an RDMA Read that has not completed?"""
        shown = self.shown()
        return bool(shown) and int(shown["send_queue_free"]) < int(shown["send_queue"])

    def stick(self, hold=1.0):
        """Send Calls one by one, until the Send of a Reply has not completed for @hold seconds, or until the
        connection is lost."""
        for _ in range(400):
            self.call()
            self.b.verbs.until(lambda: self.handled() >= self.sent, 2)
            if not self.b.verbs.until(lambda: not self.is_stuck(), hold) or self.lost:
                return
        want(False, "400 Replies have gone somewhere")

    def handled(self):
        """Number of messages of this client that the server has handled. A message that it has not handled yet
        holds a Receive."""
        shown = self.shown()
        return sum(int(shown[name]) for name in ("sent", "refused", "dropped")) if shown else self.sent

    def press(self):
        """Send Calls for up to a second, but stop when the server does not handle them: @most of them may wait."""
        end = time.monotonic() + 1
        while time.monotonic() < end and (room := self.most - self.sent + self.handled()) > 0:
            for _ in range(room):
                self.call()
            self.b.verbs.until(lambda: self.handled() >= self.sent, 0.05)


class Deaf(Besieger):
    """A client without Receives, which asks for endless RNR retries. The client's own queue pair retries for ever,
    too."""
    silent, receives = 0, 0
    # This client may send more Calls than the server has Receives: its queue pair sends a Call
    # again until there is a Receive.
    most = 200
    made = itertools.count(1)

    def connect(self):
        verbs = self.b.verbs
        self.page = ARENA - next(Deaf.made) % 1024 * PAGE - PAGE
        verbs.lib.peer_manner(7, 1, self.silent)
        index = verbs.lib.peer_connect(ADDRESS.encode(), str(PORT).encode(), self.receives, 4096, 16, PLAIN, len(PLAIN))
        verbs.lib.peer_manner(0, 0, 0)
        want(index >= 0, "cannot connect")
        self.conn = Conn(verbs, index)
        self.port = verbs.lib.peer_port(index)
        verbs.until(lambda: self.conn.up or self.conn.lost)
        want(self.conn.up, "no connection")

    @property
    def gone(self):
        return self.conn.lost

    def send(self, message):
        # Each client has a page of its own, from which its queue pair sends. Each message
        # overwrites the earlier ones, even if the queue pair has yet to send them again.
        self.b.verbs.arena[self.page:self.page + len(message)] = message
        self.conn.post(SEND, self.page, len(message))

    def chunk(self):
        return Segment(self.b.verbs.handle, CHUNK, self.b.verbs.base + (4 << 20))

    def close(self):
        self.conn.close()


class Stopped(Besieger):
    """A client with its own implementation of MPA, without markers and CRC. It never reads after the handshake."""

    def connect(self):
        sock = self.sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # siw listens only on its interface.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"ve0")
        sock.settimeout(10)
        sock.connect((ADDRESS, PORT))
        self.port, self.msn = sock.getsockname()[1], 0
        # Enhanced connection setup: IRD and ORD (RFC 6581)
        data = struct.pack(">HH", 16, 16) + PLAIN
        sock.sendall(MPA_KEY + struct.pack(">BBH", 0x10, 2, len(data)) + data)
        answer = b""
        while len(answer) < 20:
            try:
                more = sock.recv(20 - len(answer))
            except TimeoutError:
                more = b""
            want(more, "the server accepts nobody any more")
            answer += more
        want(answer.startswith(b"MPA ID Rep Frame") and not answer[16] & 0x60, f"MPA: {answer.hex()}")
        left = int.from_bytes(answer[18:20], "big")
        while left:
            left -= len(sock.recv(left))
        self.gone = False

    def send(self, message):
        self.msn += 1
        # DDP: last segment, version 1. RDMAP: version 1, Send. Then no handle, queue 0, MSN, and offset 0.
        ulpdu = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, self.msn, 0) + message
        fpdu = struct.pack(">H", len(ulpdu)) + ulpdu
        with contextlib.suppress(OSError):
            self.sock.sendall(fpdu + bytes(-len(fpdu) % 4) + bytes(4))

    def chunk(self):
        return Segment(0x1234, CHUNK, 0)

    def close(self):
        self.sock.close()


KIND = Stopped if PROVIDER == "siw" else Deaf
# The trace event that must come when the server ends a connection whose Sends do not complete. With rxe it does
# not come: rxe's own timer ends the connection earlier, although the client has asked for endless retries.
NO_PROGRESS = () if PROVIDER == "rxe" else ("rpcrdma_no_progress",)


class Siege:
    """@count clients of class KIND. If the server ends the connection of a client, another client connects
    instead."""

    def __init__(self, b, count):
        self.b, self.count = b, count
        self.besiegers = [KIND(b) for _ in range(count)]
        self.least, self.stuck, self.back = available(), 0, 0

    def look(self):
        self.least = min(self.least, available())
        self.b.verbs.until(lambda: False, 0.05)

    def step(self):
        for i, one in enumerate(self.besiegers):
            self.b.verbs.pump(0)
            shown = one.shown()
            if shown:
                one.press()
                self.stuck = max(self.stuck, int(shown["send_queue"]) - int(shown["send_queue_free"]))
            else:
                one.close()
                with contextlib.suppress(Exception):        # the server may refuse it at the moment
                    self.besiegers[i] = KIND(self.b)
                    self.back += 1
        self.look()

    def begin(self, patience=40):
        """Let the clients send until the server handles no more of their messages, and at least one Send is
        stuck. The server may disconnect some clients in the meantime, which then connect again."""
        end = time.monotonic() + patience
        before = -1
        while time.monotonic() < end:
            self.step()
            self.b.verbs.until(lambda: False, 0.2)
            now = sum(one.handled() for one in self.besiegers)
            if now == before and self.stuck:
                break
            before = now
        want(self.stuck, "no Send is stuck")

    def end(self):
        for one in self.besiegers:
            one.close()


# --- an honest mount beside them ----------------------------------------------

def watch(seconds):
    """Do GETATTRs and READs in turn for @seconds. Prints the longest time, the number of bytes, and the number
    of turns."""
    moved, turns, began = 0, 0, time.monotonic()
    end = began + seconds
    # open() waits for an answer of the server, so its time counts, too.
    fd = os.open(proxy.HONEST + "/file", os.O_RDONLY | os.O_DIRECT)
    longest = time.monotonic() - began
    while (t0 := time.monotonic()) < end:
        os.stat(proxy.HONEST + "/file")
        t1 = time.monotonic()
        moved += os.preadv(fd, [memoryview(proxy.SHARED)[:1 << 16]], turns % 4 << 16)
        longest = max(longest, t1 - t0, time.monotonic() - t1)
        turns += 1
    print(json.dumps([longest, moved, turns]))


@contextlib.contextmanager
def honest_mount():
    os.makedirs(proxy.HONEST, exist_ok=True)
    proxy.do_mount(PORT, proxy.HONEST, "vers=3,noac,soft,timeo=600,nosharecache", EXPORT)
    try:
        yield
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["umount", proxy.HONEST], timeout=60, check=False)
        proxy.LIBC.umount2(proxy.HONEST.encode(), 2)        # MNT_DETACH, if it is still there


def watched(step):
    """Run watch() on an honest mount, and call step() repeatedly in the meantime. Returns (longest time,
    bytes)."""
    with subprocess.Popen([sys.executable, "-S", sys.argv[0], "watch", str(WATCH)], text=True,
                          stdout=subprocess.PIPE) as p:
        end = time.monotonic() + WATCH + 30
        while p.poll() is None and time.monotonic() < end:
            step()
        if p.poll() is None:
            p.kill()
            want(False, "an honest mount has been stuck for 30 s")
        out = p.stdout.read()
    want(p.returncode == 0 and out, "an honest mount fails")
    longest, moved, turns = json.loads(out)
    print(f"# {turns} GETATTRs and READs, the longest {longest:.2f} s, {moved >> 10} KB")
    return longest, moved


def besieged(b, count):
    with honest_mount(), short_queues():
        siege = Siege(b, count)
        try:
            _, free = watched(siege.look)
            before = siege.least = available()
            siege.begin()
            longest, moved = watched(siege.step)
            print(f"# {before - siege.least >> 10} KB of memory, up to {siege.stuck} slots held, "
                  f"{siege.back} connections made anew")
        finally:
            siege.end()
        if 2 * moved <= free:
            # Perhaps the host was busier in the second half.
            free = min(free, watched(siege.look)[1])
    want(longest < SLOW, f"a GETATTR or READ took {longest:.2f} s beside {count}")
    want(2 * moved > free, f"{moved >> 10} KB were read beside {count}, {free >> 10} KB beside idle ones")
    want(before - siege.least < PINNED * max(count, 4), f"they cost {before - siege.least >> 10} KB")
    want(siege.stuck <= SLOTS, f"one of them holds {siege.stuck} slots")


@case("siege", "one that takes no Replies, and a server of one thread")     # Covers: V1-CRD-26
def one_deaf(b):
    with threads(1):
        besieged(b, 1)


@case("siege", "64 that take no Replies")       # Covers: V1-CRD-26
def many_deaf(b):
    besieged(b, MANY)


# Messages that arrive show that the client is alive, but not that it accepts Replies.
# Covers: V1-CRD-26
@case("siege", "one that takes no Replies, and sends a runt again and again", *NO_PROGRESS)
def runts(b):
    with short_queues(), settings(keepalive_time=3, keepalive_timeout=3):
        one = KIND(b)
        try:
            one.stick()
            limit = progress() + MARGIN
            t0 = last = time.monotonic()
            while not one.lost and time.monotonic() < t0 + limit:
                if time.monotonic() > last + 2:
                    last = time.monotonic()
                    one.call(words(1, b.kind.vers))
                b.verbs.until(lambda: one.lost, 0.2)
            want(one.lost, f"the connection stays, {limit} s after its Sends got stuck: {one.shown()}")
            print(f"# lost after {time.monotonic() - t0:.1f} s")
        finally:
            one.close()


# The keepalive does not probe this client for two minutes. The server must still check that the
# Sends to this client complete.
# Covers: V1-CRD-26
@case("siege", "one that takes no Replies, of a server that hardly probes", *NO_PROGRESS)
def unprobed(b):
    with short_queues(), settings(keepalive_time=120, progress_timeout=5):
        one = KIND(b)
        try:
            one.stick()
            want(b.verbs.until(lambda: one.lost, 5 + MARGIN), f"the connection stays: {one.shown()}")
        finally:
            one.close()


def pulls(b, count):
    """Make Calls with Read chunks from clients that have stopped accepting Replies. The RDMA Reads wait behind stuck
    Sends, and the server must not allocate much memory for them."""
    with short_queues(), settings(keepalive_time=0):
        before = least = available()
        reads = counters()["server_rdma_read_wrs"]
        siege, stuck = [], 0
        try:
            for _ in range(count):
                one = KIND(b)
                siege.append(one)
                one.stick(1.0 if count == 1 else 0.2)
                stuck += one.is_stuck()
                for _ in range(8):
                    one.call(one.null(reads=[one.chunk()] * b.kind.most_reads))
                least = min(least, available())
            end = time.monotonic() + 8
            while time.monotonic() < end:
                least = min(least, available())
                b.verbs.until(lambda: False, 0.1)
            reads = counters()["server_rdma_read_wrs"] - reads
        finally:
            for one in siege:
                one.close()
    want(stuck > count // 2, f"only {stuck} of {count} were stuck")
    print(f"# {before - least >> 10} KB for {count} connections, {reads} RDMA Reads")
    want(before - least < UNKNOWN * max(count // 4, 1),
         f"{count} cost {before - least >> 10} KB")


@case("siege-pull", "Read chunks behind a Reply that is stuck")
def pull(b):
    pulls(b, 1)


@case("siege-pull", "Read chunks behind a Reply that is stuck, of 64")
def pull_many(b):
    pulls(b, MANY)


# Only with siw: there, this client implements MPA itself, and never answers RDMA Reads. With rxe, the kernel
# would answer them.
# Covers: V1-CRD-26
@case("siege-pull", "RDMA Reads that are never answered", "rpcrdma_no_progress", only=("siw",))
def unanswered(b):
    reads = counters()["server_rdma_read_wrs"]
    with threads(1), settings(keepalive_time=0, progress_timeout=5):
        one = KIND(b)
        try:
            one.call(one.null(reads=[one.chunk()]))
            want(b.verbs.until(lambda: counters()["server_rdma_read_wrs"] > reads), "no RDMA Read is posted")
            b.fresh().works()
            want(not one.lost, "it was lost before anybody had waited for it")
            want(b.verbs.until(lambda: one.lost, 5 + MARGIN), f"the connection stays: {one.shown()}")
        finally:
            one.close()


class Mute(Deaf):
    silent, receives = 1, 4


# The server may serve the client before the RTU of the connection manager comes. So the keepalive must also
# work without an RTU.
@case("siege-rtu", "a client that sends no RTU, and goes without a word")
def no_rtu(b):
    with settings(keepalive_time=2, keepalive_timeout=2):
        one = Mute(b)
        try:
            one.call()
            want(one.conn.receive(), "its Call is not answered")
            want(b.verbs.until(lambda: not one.is_stuck()), "its Reply is not acknowledged")
            want(b.verbs.lib.peer_die(one.conn.index) == 0, "its queue pair is alive")
            t0 = time.monotonic()
            want(b.verbs.until(lambda: one.lost, 2 + 2 + 1 + MARGIN),
                 f"it is not noticed in {time.monotonic() - t0:.0f} s")
            print(f"# noticed after {time.monotonic() - t0:.1f} s")
        finally:
            one.close()


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch(int(sys.argv[2]))
        sys.exit(0)
    put(SETTING, os.environ.get("SIEGE_VERSION", "1"))
    try:
        sys.exit(main(Client2 if os.environ.get("SIEGE_VERSION") == "2" else Client))
    finally:
        put(SETTING, 1)
