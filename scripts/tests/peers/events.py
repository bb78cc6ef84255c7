# SPDX-License-Identifier: GPL-2.0
"""The module's trace events, for tests: "with Trace() as t: ...; t.missing(NAME)".

The events go to a ring buffer of their own. So this buffer has no other events, and other users of tracing are
not disturbed.
"""
import contextlib
import os
import re
import time

from peer import put

TRACING = "/sys/kernel/tracing"
BUFFER = 4096           # KB for each processor, enough for tens of thousands of events


class Trace:
    """Traces all events of the group rpcrdma, and also those in @also, for instance
    "sunrpc/xprt_disconnect_force"."""

    def __init__(self, also=(), instance="hostile"):
        self.at = f"{TRACING}/instances/{instance}"
        self.also = also
        self.open = False

    def start(self):
        os.makedirs(self.at, exist_ok=True)
        put(self.at + "/buffer_size_kb", BUFFER)
        put(self.at + "/trace_clock", "mono")           # orders events of several processors
        put(self.at + "/events/rpcrdma/enable", 1)
        self.open = True
        self.mark()
        return self

    def stop(self):
        """Stop tracing. The module can be unloaded only if no buffer has its events."""
        if self.open:
            self.open = False
            put(self.at + "/events/enable", 0)
            os.rmdir(self.at)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    def mark(self):
        """Forget all events so far, and enable those in @also."""
        for event in self.also:
            with contextlib.suppress(OSError):          # Its module may be loaded later
                put(f"{self.at}/events/{event}/enable", 1)
        put(self.at + "/trace", "")

    def lines(self, name=None):
        """{event: texts of its lines}, or the list for one event"""
        found = {}
        with open(self.at + "/trace", encoding="utf-8", errors="replace") as f:
            for line in f:
                m = re.match(r".*?: ((?:rpcrdma|xprt_rdma|svc_rdma)_\w+): (.*)", line)
                if m:
                    found.setdefault(m.group(1), []).append(m.group(2))
        return found if name is None else found.get(name, [])

    def story(self, *names):
        """The lines of these events, and of those in @also, in order"""
        names += tuple(event.split("/")[1] for event in self.also)
        with open(self.at + "/trace", encoding="utf-8", errors="replace") as f:
            return [line.rstrip() for line in f if re.search(rf": (?:{'|'.join(names)}): ", line)]

    def seen(self, name, text=""):
        """Lines of the event in which the regular expression @text is found"""
        return [line for line in self.lines(name) if re.search(text, line)]

    def counts(self):
        return " ".join(f"{name}:{len(found)}" for name, found in sorted(self.lines().items()))

    def missing(self, *names, patience=5):
        """Which of these events have not come? Each is a name, or "name: regular expression". With "rxe/", "7.3/"
        or both before it, the event is only expected with that provider and kernel."""
        end = time.monotonic() + patience
        here = {os.environ["PROVIDER"], os.environ["KERNEL"]}
        wanted = [(n.partition(":")[0].split("/"), n.partition(":")[2]) for n in names]
        names = [where[-1] + ":" + text for where, text in wanted if here.issuperset(where[:-1])]
        while True:
            found = self.lines()
            left = []
            for name in names:
                event, _, text = name.partition(":")
                if not any(re.search(text.lstrip(), line) for line in found.get(event, ())):
                    left.append(name)
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)
