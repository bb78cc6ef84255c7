# SPDX-License-Identifier: GPL-2.0
"""The NFS server over RDMA that cases of hostile_server.py use. Unless a case interferes, it passes every Call on
to the real server over TCP, and does the RDMA Reads and Writes for the chunks of the Call. Worker processes use
the mount: this process cannot, because it is the server of that mount.
"""
import collections
import contextlib
import ctypes
import errno
import glob
import mmap
import os
import random
import re
import select
import socket
import time

from peer import (CALL, ERROR, MSG, NOMSG, PATIENCE, SILENCE, Conn, Failure, Message, Reader, Verbs, counters, fill,
                  header, private, want, words)

ADDRESS, PORT, OURS, NFSD = "10.9.0.1", 20050, 20049, 2049
PLAIN = "vers=3,noac,soft,timeo=300,retrans=2"
SMALL = "vers=3,noac,soft,timeo=600,wsize=4096,rsize=4096"         # many Calls at once
V41 = "vers=4.1,noac,soft,timeo=300,retrans=2"
V42 = V41.replace("4.1", "4.2")
EXPORT, MNT, HONEST = "/export/hostile", "/mnt/hostile", "/mnt/honest"
INLINE = 4096
NFS, NFSACL, READ3, WRITE3, READDIR, READDIRPLUS = 100003, 100227, 6, 7, 16, 17
DATA = random.Random(1).randbytes(1 << 20)

# Events that may explain a lost connection, see explain()
EVENTS = ("rpcrdma_cm_event", "rpcrdma_conn_lost", "rpcrdma_post_err", "rpcrdma_peer_dead", "rpcrdma_recv_err",
          "xprt_rdma_close", "xprt_rdma_connect", "xprt_rdma_timeout", "xprt_rdma_send_err",
          "xprt_rdma_error_reply")
OTHER_EVENTS = ("sunrpc/xprt_disconnect_force", "nfs4/nfs4_bind_conn_to_session", "nfs4/nfs4_create_session",
                "nfs4/nfs4_state_mgr")

# --- functions of workers --------------------------------------------------------

# The workers' direct I/O uses this memory, which they share with this process.
SHARED = mmap.mmap(-1, 2 << 20)
LIBC = ctypes.CDLL(None, use_errno=True)


def do_mount(port, where, options, export=EXPORT):
    vers4 = "vers=4" in options
    data = f"addr={ADDRESS},port={port},proto=rdma,{options}"
    if vers4:
        data += f",clientaddr={ADDRESS}"
    else:
        data += f",nolock,mountproto=tcp,mountvers=3,mountaddr={ADDRESS}"
    source = f"{ADDRESS}:{'/hostile' if vers4 else export}"
    if LIBC.mount(source.encode(), where.encode(), b"nfs4" if vers4 else b"nfs", 0, data.encode()):
        raise OSError(ctypes.get_errno(), "mount")


def do_umount(where):
    if LIBC.umount2(where.encode(), 0):
        raise OSError(ctypes.get_errno(), "umount")


def do_stat(where):
    return os.stat(where).st_size


def do_read(size, offset=0, at=0, where=MNT + "/file"):
    """Read into SHARED at offset @at. First, the memory for the data and 4096 bytes behind it are filled with 0x55."""
    SHARED[at:at + size + 4096] = b"\x55" * (size + 4096)
    fd = os.open(where, os.O_RDONLY | os.O_DIRECT)
    try:
        return os.preadv(fd, [memoryview(SHARED)[at:at + size]], offset)
    finally:
        os.close(fd)


def do_write(data, name, direct=False):
    fd = os.open(f"{MNT}/{name}", os.O_WRONLY | os.O_CREAT | (os.O_DIRECT if direct else 0), 0o666)
    try:
        if direct:
            SHARED[:len(data)] = data
            data = memoryview(SHARED)[:len(data)]
        count = os.write(fd, data)
        os.fsync(fd)
        return count
    finally:
        os.close(fd)


def do_list(where=MNT + "/dir"):
    return len(os.listdir(where))


def do_symlink(target, name):
    os.symlink(target, f"{MNT}/{name}")
    return os.readlink(f"{MNT}/{name}")


def do_honest():
    """Mount the honest server, use the mount, and unmount."""
    do_mount(OURS, HONEST, "vers=3,noac,soft,timeo=300,nosharecache")
    try:
        with open(HONEST + "/file", "rb") as f:
            return f.read() == DATA
    finally:
        do_umount(HONEST)


def do_setxattr(size):
    """Set and get an extended attribute. A long value makes a long Call, because it is not DDP-eligible."""
    os.setxattr(MNT + "/file", "user.hostile", b"x" * size)
    return len(os.getxattr(MNT + "/file", "user.hostile"))


def worker(function, args):
    try:
        return function(*args)
    except OSError as e:
        return f"E{errno.errorcode.get(e.errno, e.errno)[1:]}"


# --- the client ---------------------------------------------------------------

def transports():
    """The client's transports to this server in debugfs: (text of the file, the same as a dictionary)"""
    for path in glob.glob("/sys/kernel/debug/rpcrdma/client/*"):
        try:
            with open(path, encoding="ascii") as f:
                text = f.read()
        except OSError:
            continue    # a transport of an earlier case may have just gone
        shown = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
        if shown.get("peer", "").endswith(f":{PORT}"):
            yield text, shown


def transport_infos():
    """Yield the text in sunrpc's debugfs for each of the client's transports to this server."""
    for path in glob.glob("/sys/kernel/debug/sunrpc/rpc_xprt/*/info"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as f:
            info = f.read()
            if re.search(rf"port:\s+{PORT}\b", info):
                yield info


# --- the server ---------------------------------------------------------------

class Upstream:
    """A connection to the real server."""

    def __init__(self):
        self.sock = socket.create_connection((ADDRESS, NFSD))
        self.records, self.buffer = collections.deque(), b""

    def send(self, rpc):
        self.sock.sendall(words(0x80000000 | len(rpc)) + rpc)

    def fill(self, patience):
        if not select.select([self.sock], [], [], patience)[0]:
            return False
        data = self.sock.recv(1 << 20)
        want(data, "the real server has closed its connection")
        self.buffer += data
        while len(self.buffer) >= 4:
            length = int.from_bytes(self.buffer[:4], "big") & 0x7fffffff
            if len(self.buffer) < 4 + length:
                break
            self.records.append(self.buffer[4:4 + length])
            self.buffer = self.buffer[4 + length:]
        return True

    def exchange(self, rpc):
        self.send(rpc)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for record in list(self.records):
                if record[:4] == rpc[:4] and record[7] == 1:
                    self.records.remove(record)
                    return record
            self.fill(1)
        raise Failure("the real server does not answer")

    def calls(self):
        """Callbacks of the real server."""
        while self.fill(0):
            pass
        found = [r for r in self.records if r[7] == CALL]
        for r in found:
            self.records.remove(r)
        return found


class Call(Message):
    def __init__(self, server, conn, data):
        super().__init__(data)
        self.server, self.conn = server, conn
        self.rpc = self.body
        # The Read chunk contains the whole message, or one data item
        at = self.reads[0][0] if self.reads else 0
        for _, segment in self.reads:
            piece = conn.read(segment)
            want(piece is not None, "a Read chunk cannot be read")
            self.rpc = self.rpc[:at] + piece + self.rpc[at:]
            at += len(piece)
        self.rpc = self.rpc[:at] + bytes(-at % 4) + self.rpc[at:]
        r = Reader(self.rpc, 12)
        self.prog, self.nfs, self.operation = r.word(), r.word(), r.word()

    def forward(self):
        return self.server.upstream(self.conn).exchange(self.rpc)

    def item(self, reply):
        """Offset and length of the data in a Reply to READ"""
        if self.prog != NFS or self.nfs != 3 or self.operation != READ3:
            return None
        r = Reader(reply, 16)
        r.opaque()
        if r.word() or r.word():
            return None
        if r.word():
            r.skip(84)
        r.skip(8)
        length = r.word()
        return r.at, length

    def push(self, segments, data):
        """RDMA Write @data to @segments. Returns the segments for the Reply."""
        left = data
        for s in segments:
            piece, left = left[:s.length], left[s.length:]
            if piece and not self.conn.write(s, piece):
                self.server.log("an RDMA Write failed")
        return fill(segments, len(data))

    def reduce(self, reply, pad=b""):
        """Write the item of @reply to its Write chunk, if there is one. Returns the rest of the Reply, and the
        Write list."""
        item = self.item(reply) if self.writes else None
        if not item:
            return reply, [fill(c, 0) for c in self.writes]
        at, length = item
        chunk = self.push(self.writes[0], reply[at:at + length] + pad)
        return reply[:at] + reply[at + length + -length % 4:], [chunk]

    def send(self, body, proc=MSG, invalidate=None, **lists):
        lists.setdefault("credit", self.server.credit)
        self.conn.send(header(self.xid, proc, **lists) + body, invalidate)

    def respond(self, reply=None, **lists):
        """Answer honestly, in the form that fits."""
        if self.conn.closed:
            return
        body, writes = self.reduce(self.forward() if reply is None else reply)
        head = header(0, writes=writes, reply=self.reply and fill(self.reply, 0))
        if len(head) + len(body) <= INLINE and not (self.reply and len(head) + len(body) > 1024):
            self.send(body, writes=writes, reply=self.reply and fill(self.reply, 0), **lists)
        else:
            want(self.reply, "no Reply chunk for a large Reply")
            self.send(b"", NOMSG, writes=writes, reply=self.push(self.reply, body), **lists)

    def handles(self):
        return {s.handle for s in [s for _, s in self.reads] + sum(self.writes, []) + (self.reply or [])}


class Server:
    version = 1

    def __init__(self, pool, trace):
        self.pool, self.trace, self.verbs = pool, trace, Verbs()
        want(self.verbs.lib.peer_listen(str(PORT).encode()) >= 0, "cannot listen")
        self.conns, self.upstreams = [], {}
        self.reset()

    def reset(self):
        self.recvs, self.size, self.private, self.credit = 300, INLINE, private(), 32
        self.connecting = None          # function that handles a connection request; None: accept it
        self.calls, self.accepted = collections.deque(), 0
        self.seen, self.longest = collections.Counter(), 0
        self.backward = collections.deque()     # Replies to callbacks, and errors from the client
        self.passed, self.ops = set(), []
        self.failed = collections.deque()       # XIDs of Calls that have failed
        self.before, self.mounted, self.depth = counters(), False, None
        self.sent = self.verbs.sends

    def leave(self):
        """There are no more cases: restore the settings."""

    def log(self, text):
        print("#", text, flush=True)

    # methods that differ in version 2

    @staticmethod
    def encode(message):
        """@message of version 1 as bytes on the wire"""
        return message

    def errors(self, xid):
        """Errors that the client has sent for the Call @xid: codes with their arguments"""
        return [m[16:] for m in self.backward if m[:4] == words(xid) and m[12:16] == words(ERROR)]

    @staticmethod
    def room(size):
        """Size of the Write chunk for a READ of @size bytes"""
        return size + -size % 4

    def grants_late(self):
        """Grant no credits before the first Reply."""

    def upstream(self, conn):
        if conn not in self.upstreams:
            self.upstreams[conn] = Upstream()
        return self.upstreams[conn]

    def drop(self, conn):
        conn.close()
        if conn in self.conns:
            self.conns.remove(conn)
        if conn in self.upstreams:
            self.upstreams.pop(conn).sock.close()

    def accept(self, index):
        conn = Conn(self.verbs, index)
        conn.plain = conn.send          # conn.send() may translate messages to version 2
        self.accepted += 1
        if self.verbs.lib.peer_accept(index, self.recvs, self.size, 16, self.private, len(self.private)):
            self.log("accepting failed")
            conn.close()
            return None
        self.conns.append(conn)
        return conn

    def step(self, patience=0.005):
        """Handle an event, if there is one. Calls are added to self.calls."""
        self.verbs.pump(patience)
        while self.verbs.requests:
            index, self.depth, _ = self.verbs.requests.popleft()
            if not self.connecting or not self.connecting(index):
                self.accept(index)
        for conn in list(self.conns):
            while conn.inbox:
                self.receive(conn, *conn.inbox.popleft())
            if conn.lost:
                self.drop(conn)
            elif conn in self.upstreams:
                for call in self.upstreams[conn].calls():
                    self.passed.add(call[:4])
                    conn.send(words(int.from_bytes(call[:4], "big"), 1, 16, MSG, 0, 0, 0) + call)

    def receive(self, conn, data, _):
        self.longest = max(self.longest, len(data))
        if data[12:16] == words(ERROR) or (data[12:28] == words(MSG, 0, 0, 0) and data[32:36] == words(1)):
            if data[:4] in self.passed and data[12:16] == words(MSG):
                self.passed.remove(data[:4])
                self.upstream(conn).send(data[28:])
            else:
                self.backward.append(data)
            return
        try:
            call = Call(self, conn, data)
        except Failure as e:
            self.log(f"a Call was not read: {e}")
            return
        self.seen[call.xid] += 1
        self.calls.append(call)

    def serve(self, condition, patience=40):
        """Serve honestly until condition() is true."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            self.step()
            while self.calls and not condition():
                self.calls.popleft().respond()
        return True

    def pour(self, conn, messages, send=None):
        """Send messages that are no Replies to Calls, four at a time, so that the client has Receives for
        them."""
        before = self.counted("client_receives")
        for i, message in enumerate(messages, 1):
            (send or conn.send)(message)
            if i % 4 == 0:
                want(self.verbs.until(lambda n=before + i: self.counted("client_receives") >= n or conn.lost),
                     f"the client does not get {message[:64].hex()}")

    def idle(self, seconds=SILENCE):
        self.serve(lambda: False, seconds)

    def listen(self, seconds):
        """Send no answers for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()

    def quiet(self):
        """Wait until the client has reacted to all messages. Call this before checking that something has
        not happened. The function waits until the client has received all messages (some may be lost with
        a connection), and then for SILENCE, so that the client has processor time to react."""
        sent = self.verbs.sends - self.sent
        self.verbs.until(lambda: self.step() or self.counted("client_receives") >= sent, 5)
        self.listen(SILENCE)

    def next(self, operation=None, patience=40):
        """Serve honestly until a wanted Call comes, and return it. @operation is the number of an operation,
        several numbers, or a function that says whether a Call is wanted."""
        if isinstance(operation, int):
            operation = (operation,)
        wanted = operation if callable(operation) else lambda call: operation is None or call.operation in operation
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.step()
            while self.calls:
                call = self.calls.popleft()
                if not call.conn.closed and wanted(call):
                    return call
                call.respond()
        raise Failure(f"no Call {operation} comes")

    def gather(self, count, operation=None):
        """Wait for @count wanted Calls (see next()), without answering them. Check that no more Calls come."""
        calls, end = [], time.monotonic() + 40
        while len(calls) < count:
            want(time.monotonic() < end, f"only {len(calls)} Calls come, not {count}")
            calls.append(self.next(operation))
        self.quiet()
        more = list(self.calls)
        want(not more, f"{len(calls) + len(more)} Calls at once, {count} were granted, on "
                       f"{len({id(call.conn) for call in calls + more})} connections, "
                       f"{len({call.xid for call in calls + more})} XIDs")
        return calls

    # workers

    def user(self, function, *args):
        self.ops.append(self.pool.apply_async(worker, (function, args)))
        return self.ops[-1]

    def small(self):
        """Begin a READ that needs no chunk. Returns (system call, Call)."""
        op = self.user(do_read, 100)
        return op, self.next(READ3)

    def finish(self, op, patience=60):
        want(self.serve(op.ready, patience), "the system call does not return")
        return op.get()

    def do(self, function, *args):
        return self.finish(self.user(function, *args))

    def mount(self, options=PLAIN):
        result = self.do(do_mount, PORT, MNT, options + ",nosharecache")
        want(result is None, f"no mount: {result}")
        self.mounted = True
        self.before, self.sent = counters(), self.verbs.sends

    def umount(self):
        if self.mounted:
            self.mounted = False
            result = self.do(do_umount, MNT)
            want(result is None, f"no umount: {result}")
            want(self.serve(lambda: not self.conns, 20), "a connection stays after umount")

    def counted(self, name):
        return counters()[name] - self.before[name]

    def counts(self, name, count, reason="not all are counted"):
        """The counter must grow by exactly @count. Call this when everything has been sent; the client may not
        have read all of it yet."""
        self.serve(lambda: self.counted(name) >= count, PATIENCE)
        self.idle(0.1)
        want(self.counted(name) == count, f"{reason}: {name} {self.counted(name)}, not {count}")

    def explain(self):
        """Print what may explain the loss of a connection."""
        for name, value in sorted(counters().items()):
            if value != self.before[name]:
                self.log(f"{name} {self.before[name]} -> {value}")
        for text, _ in transports():
            self.log(text.strip().replace("\n", ", "))
        for line in self.trace.story(*EVENTS)[-100:]:
            self.log(line)

    # results

    def works(self):
        self.calm()
        want(self.do(do_stat, MNT + "/file") == len(DATA), "an honest GETATTR fails")
        self.reads(8192)

    def reads(self, size, offset=0, op=None):
        """Do this READ, or wait for @op. It must return the right data, and nothing after them."""
        result = self.finish(op) if op else self.do(do_read, size, offset)
        want(result == size, f"READ returns {result}")
        self.holds(size, offset)

    def holds(self, size, offset=0):
        want(SHARED[:size] == DATA[offset:offset + size], "READ brings wrong data")
        want(SHARED[size:size + 4096] == b"\x55" * 4096, "READ writes behind its buffer")

    def fails(self, op, xid=None, error_name="EIO"):
        """The system call must fail, and the Call @xid must not be sent again: see calm()."""
        result = self.finish(op)
        want(result == error_name, f"the system call returns {result}, not {error_name}")
        if xid:
            self.failed.append(xid)

    def calm(self):
        """Wait a little, and check that no Call that has failed was sent again."""
        if self.failed:
            self.idle(0.2)
        while self.failed:
            xid = self.failed.popleft()
            want(self.seen[xid] == 1, f"Call {xid:#x} was sent again, {len(self.failed)} failures before the last")

    @staticmethod
    def forgotten():
        """Has the client no transport to this server any more?"""
        return not any(transport_infos())

    def kept(self):
        if self.accepted != 1:
            self.explain()
        want(self.accepted == 1, f"the connection was not kept: {self.accepted} were accepted")

    def replaced(self):
        want(self.accepted > 1, "the connection was not replaced")
