# SPDX-License-Identifier: GPL-2.0
"""An NFS client over RDMA with which hostile_client.py, hostile_calls.py and others send hostile messages, and
the code that runs their cases. main() prints "ok NAME" or "not ok NAME: reason" for each case of a set, and for
an honest mount of the server at the end (with $ALL, and on 7.3 with siw, also after each case). Needs peer.py's
library and a server on ADDRESS that exports /export.
"""
import collections
import os
import random
import select
import signal
import socket
import sys
import time
import traceback

import events
import proxy
from peer import (AREA, AUTH_ROOT, ERR_CHUNK, ERROR, MSG, Conn, Failure, Message, Reader, Segment, Verbs,
                  counters, error, header, opaque, private, put, rpc_call, want, words)
from sets import chosen

ADDRESS, PORT = "10.9.0.1", 20049
EXPORT = "/export/client"
NFS, NULL, SETATTR3, LOOKUP, READ3, WRITE3, READDIRPLUS = 100003, 0, 2, 3, 6, 7, 17
DATA = random.Random(2).randbytes(1 << 18)
PLAIN = private(remote_inv=False)


def tcp_call(port, prog, vers, proc, args):
    """Make one Call over TCP. Returns the results."""
    with socket.create_connection((ADDRESS, port)) as sock:
        rpc = rpc_call(1, prog, vers, proc, args, AUTH_ROOT)
        sock.sendall(words(0x80000000 | len(rpc)) + rpc)
        with sock.makefile("rb") as f:
            return f.read(int.from_bytes(f.read(4), "big") & 0x7fffffff)[24:]


def root_handle(export=EXPORT):
    port = int.from_bytes(tcp_call(111, 100000, 2, 3, words(100005, 3, 6, 0)), "big")
    r = Reader(tcp_call(port, 100005, 3, 1, opaque(export.encode())))
    want(r.word() == 0, "mountd refuses")
    return r.opaque()


def operations(name):
    """Numbers of NFSv3 Calls of each kind that nfsd has executed"""
    with open("/proc/net/rpc/nfsd", encoding="ascii") as f:
        for line in f:
            if line.startswith(name + " "):
                return [int(n) for n in line.split()[2:]]
    raise Failure("no statistics")


def counts(verbs, before, name, count, reason="not all are counted"):
    """The counter must grow by exactly @count after @before. Call this when everything has been sent; the server
    may not have read all of it yet. An additional count that comes more than a tenth of a second later is not
    noticed, unless the case has waited for the answer to a Call that was sent last: see Client.silent()."""
    verbs.until(lambda: counters()[name] >= before[name] + count)
    verbs.until(lambda: False, 0.1)
    found = counters()[name] - before[name]
    want(found == count, f"{reason}: {name} {found}, not {count}")


class Client:
    """A client of version 1. Subclasses for other versions override methods."""
    serial = int(os.environ.get("FIRST_XID", "0x2000"), 0)
    vers = 1
    least = 28              # length of a header without chunks in bytes
    most_reads = 16         # maximum number of Read chunks that the server accepts
    parse = Message

    def __init__(self, verbs, data=PLAIN, count=64, size=4096, depth=16):
        self.verbs = verbs
        index = verbs.lib.peer_connect(ADDRESS.encode(), str(PORT).encode(), count, size, depth, data, len(data))
        want(index >= 0, "cannot connect")
        self.conn = Conn(verbs, index)
        verbs.until(lambda: self.conn.up or self.conn.lost)
        want(self.conn.up, "no connection")
        # If data arrive while the accepting end is still in the handshake, siw processes them only when more
        # data arrive. So give the server time to finish the handshake.
        time.sleep(0.2)
        self.credit = 8
        self.callbacks = collections.deque()
        self.invalidated = None

    # memory for chunks

    def segment(self, at, length):
        return Segment(self.verbs.handle, length, self.verbs.base + AREA + at)

    def put(self, at, data):
        self.verbs.arena[AREA + at:AREA + at + len(data)] = data
        return self.segment(at, len(data))

    def get(self, at, length):
        return self.verbs.arena[AREA + at:AREA + at + length]

    def wipe(self):
        self.put(0, b"\xee" * (1 << 20))

    # Headers, and other methods that differ between versions. prefix() makes the part of a header
    # before the chunk lists.

    def prefix(self, xid, proc=MSG, credit=8):
        return words(xid, 1, credit, proc)

    def header(self, xid, proc=MSG, credit=32, **lists):
        return header(xid, proc, credit, **lists)

    def response(self, xid, credit=32):
        """The header of a Reply to a callback"""
        return self.header(xid, credit=credit)

    def error(self, xid, code=ERR_CHUNK, credit=32, rest=b""):
        return error(xid, code, credit, rest=rest)

    def is_error(self, answer, code, *args):
        """Does @answer refuse a message for this reason? In version 1 the reason is not in the error."""
        return bool(answer) and answer.proc == ERROR and answer.code == ERR_CHUNK and len(answer.data) == 20

    def rejects(self, answer, code, *args):
        """Is @answer an RDMA error that refuses a message for this reason, or an RPC-level error?"""
        return self.is_error(answer, code, *args) or (answer.proc == MSG and answer.body[20:24] != words(0))

    # Calls

    def xid(self):
        Client.serial += 1
        return Client.serial

    def exchange(self, message, patience=20):
        self.conn.send(message)
        return self.receive(patience)

    def spend(self, *messages):
        """Send messages that the server drops, one after another. Such a message takes no credit, but it
        occupies a Receive until a thread has dropped it. So wait after each message until it is
        dropped."""
        def dropped():
            now = counters()
            return now["server_dropped"] + now["server_bc_dropped"]
        for message in messages:
            before = dropped()
            self.conn.send(message)
            self.verbs.until(lambda n=before: dropped() > n or self.conn.lost)
            want(not self.conn.lost, f"{message.hex()} ends the connection")

    def receive(self, patience=20):
        """The next message that is not a callback. Callbacks are kept for callback()."""
        while True:
            found = self.conn.receive(patience)
            if not found:
                return None
            self.invalidated = found[1]
            message = self.parse(found[0])
            if not message.is_call():
                return message
            self.callbacks.append(message)

    def callback(self, patience=20):
        """The next callback, or None"""
        if not self.callbacks:
            want(not self.receive(0.05), "an answer to nothing")
        if not self.callbacks and patience:
            self.verbs.until(lambda: self.conn.inbox or self.conn.lost, patience)
            return self.callback(0)
        return self.callbacks.popleft() if self.callbacks else None

    def nfs(self, proc, args, inline=None, vers=3, xid=None, **lists):
        """Make a Call. @inline: the bytes that are sent inline; by default, all of the message."""
        xid = xid or self.xid()
        rpc = rpc_call(xid, NFS, vers, proc, args, AUTH_ROOT)
        answer = self.exchange(self.header(xid, credit=self.credit, **lists) + (rpc if inline is None else inline(rpc)))
        want(answer, "no answer")
        want(answer.xid == xid, "an answer to something else")
        return answer

    def lookup(self, directory, name):
        r = results(self.nfs(LOOKUP, opaque(directory) + opaque(name.encode())))
        want(r.word() == 0, f"no {name}")
        return r.opaque()

    def silent(self):
        """Check that no message sent before is answered. The server handles the messages of a connection one
        after the other, and refuses bad ones at once. So any answer to them would come before the answer to the
        Call that is sent now."""
        xid = self.xid()
        answer = self.exchange(self.header(xid, credit=self.credit) + rpc_call(xid, NFS, 3, NULL, b"", AUTH_ROOT))
        want(answer, "a Call behind what is not to be answered is not answered either")
        return answer.xid == xid and results(answer).at == 24

    def works(self):
        want(results(self.nfs(NULL, b"")).at == 24, "NULL")


def results(answer):
    """The results in an RDMA_MSG, after a check of the RPC status"""
    want(answer.proc == MSG, f"an answer of type {answer.proc}, code {answer.code}")
    r = Reader(answer.body, 20)
    want(r.word() == 0, f"RPC error: {answer.body[:24].hex()}")
    return r


class Bench:
    """The objects that all cases use. @kind: class of the clients"""

    def __init__(self, verbs, kind=Client):
        self.verbs, self.kind = verbs, kind
        self.root = root_handle()
        self.clients = []
        self.client = self.connect()
        for name in ("file", "target"):
            setattr(self, name, self.client.lookup(self.root, name))
        self.directory = self.client.lookup(self.root, "dir")

    def connect(self, *args, **kwargs):
        client = self.kind(self.verbs, *args, **kwargs)
        self.clients.append(client)
        return client

    def fresh(self):
        """The usual connection, or a new one if a case has ended it"""
        if self.client.conn.lost or self.client.conn.closed:
            self.client.conn.close()
            self.client = self.connect()
        self.client.wipe()
        with open(EXPORT + "/target", "wb"):
            pass
        return self.client

    def target_is(self, data, reason):
        with open(EXPORT + "/target", "rb") as f:
            found = f.read()
        want(found == data, f"{reason}: {len(found)} bytes, not {len(data)}, or other ones")


class LeftOut(Exception):
    """The server lacks something that the case needs."""


def not_on_6_1(why):
    """Called by cases that the kernel of Debian 12 cannot run"""
    if os.environ["KERNEL"] == "debian-6.1":
        raise LeftOut(why)


def needs_knobs():
    """Called by cases that inject faults (net/verbs/fail.c)"""
    if os.environ["KERNEL"].startswith("debian"):
        raise LeftOut("no CONFIG_FAULT_INJECTION")


# --- running ------------------------------------------------------------------

HONEST = 60             # seconds
CONNECTIONS = "/sys/kernel/debug/rpcrdma/server"


def values(path):
    """The values in the debugfs file of a connection"""
    with open(path, encoding="ascii") as f:
        return dict(line.rstrip().split(" ", 1) for line in f)


def do_honest():
    """Mount the server with the kernel's client, use the mount, and unmount. A misbehaving client must not
    prevent that."""
    os.makedirs(proxy.HONEST, exist_ok=True)
    proxy.do_mount(PORT, proxy.HONEST, "vers=3,noac,soft,timeo=300,nosharecache", EXPORT)
    try:
        want(proxy.do_stat(proxy.HONEST + "/file") == len(DATA), "an honest client sees another file")
    finally:
        proxy.do_umount(proxy.HONEST)


def honest():
    """Try an honest mount. Returns its error, or None. The mount is made in a process of its own, because it
    may hang. That process does not use the RDMA resources that it inherits."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        said = "fine"
        try:
            do_honest()
        except Exception as e:
            said = f"{type(e).__name__}: {e}"
        finally:
            os.write(theirs, said.encode())
            os._exit(0)
    os.close(theirs)
    said = f"nothing for {HONEST} s"
    if select.select([ours], [], [], HONEST)[0]:
        said = os.read(ours, 4096).decode() or "nothing at all"
        os.waitpid(pid, 0)
    else:
        os.kill(pid, signal.SIGKILL)            # do not wait for the process: it may never end
    os.close(ours)
    if said == "fine":
        return None
    proxy.LIBC.umount2(proxy.HONEST.encode(), 2)        # MNT_DETACH
    return f"an honest mount fails: {said}"


def left_over(b):
    """How many connections the server has besides b.client's, after other connections have had time to end"""
    usual = not (b.client.conn.lost or b.client.conn.closed)
    b.verbs.until(lambda: len(os.listdir(CONNECTIONS)) <= usual, HONEST)
    return len(os.listdir(CONNECTIONS)) - usual


def run(b, trace, function, traced):
    """The error of a case, or None"""
    trace.mark()
    try:
        function(b)
        b.fresh().works()
        missing = trace.missing(*traced)
        want(not missing, f"no event {', '.join(missing)}, but {trace.counts()}")
    except LeftOut:
        raise
    except Failure as e:
        return str(e)
    except Exception:           # an error in the case, or an unexpected event
        return traceback.format_exc().replace("\n", " / ")
    return None


def main(kind=Client):
    with events.Trace() as trace:
        return main_traced(trace, kind)


def main_traced(trace, kind):
    os.makedirs(EXPORT + "/dir", exist_ok=True)
    os.chmod(EXPORT, 0o777)
    for name, data in (("file", DATA), ("target", b"")):
        with open(f"{EXPORT}/{name}", "wb") as f:
            f.write(data)
        os.chmod(f"{EXPORT}/{name}", 0o666)
    for i in range(100):
        with open(f"{EXPORT}/dir/{i:040}", "wb"):
            pass
    b = Bench(Verbs(), kind)
    b.trace = trace
    good = True
    ran = left_out = 0
    for case in chosen(sys.argv[1], "".join(sys.argv[2:3]), kind.vers):
        name = case.name
        ran += 1
        t0 = time.monotonic()
        put("/dev/kmsg", f"lab: {name}")
        try:
            reason = run(b, trace, case.function, case.traced)
        except LeftOut as e:
            print(f"left out {name}: {e}", flush=True)
            left_out += 1
            continue
        # An honest mount after each case takes long. Without $ALL, it is made only on 7.3 with siw.
        if os.environ.get("ALL") or os.environ["KERNEL"] == "7.3" and os.environ["PROVIDER"] == "siw":
            reason = reason or honest()
        for client in b.clients:
            if client is not b.client:
                client.conn.close()
        b.clients = [b.client]
        if (count := left_over(b)) > 0:
            reason = reason or f"{count} connections are left"
        print(f"not ok {name}: {reason}" if reason else f"ok {name}", flush=True)
        print(f"# {time.monotonic() - t0:.1f} s, {trace.counts()}", flush=True)
        good = good and not reason
        if reason:
            b.client.conn.close()
    reason = honest()
    print(f"not ok at the end: {reason}" if reason else "ok an honest mount at the end", flush=True)
    if good and not reason and left_out and ran == left_out:
        return 3
    return 0 if good and ran and not reason else 1
