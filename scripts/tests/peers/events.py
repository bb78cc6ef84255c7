# SPDX-License-Identifier: GPL-2.0
"""The module's trace events, as tests look at them: "with Trace() as t: ...; t.want(NAME)".

They go to a ring buffer of their own, so that nothing else is among them and nobody else's tracing
is disturbed. As a program it tells of events that no test looks at, for make check.
"""
import contextlib
import glob
import os
import re
import sys
import time

from peer import put

TRACING = "/sys/kernel/tracing"
BUFFER = 4096           # KB a processor: some ten thousands of events


class Trace:
    """All events of the group rpcrdma, and @also of others, as in "sunrpc/xprt_disconnect_force"."""

    def __init__(self, also=(), instance="hostile"):
        self.at = f"{TRACING}/instances/{instance}"
        self.also = also
        self.open = False

    def start(self):
        os.makedirs(self.at, exist_ok=True)
        put(self.at + "/buffer_size_kb", BUFFER)
        put(self.at + "/events/rpcrdma/enable", 1)
        self.open = True
        self.mark()
        return self

    def stop(self):
        """The module can be unloaded only when no buffer has its events."""
        if self.open:
            self.open = False
            put(self.at + "/events/enable", 0)
            os.rmdir(self.at)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    def mark(self):
        """What has been so far does not count any more."""
        for event in self.also:
            with contextlib.suppress(OSError):          # Its module may come later
                put(f"{self.at}/events/{event}/enable", 1)
        put(self.at + "/trace", "")

    def lines(self, name=None):
        """{event: what its lines say}, or the list of one event"""
        found = {}
        with open(self.at + "/trace", encoding="utf-8", errors="replace") as f:
            for line in f:
                m = re.match(r".*?: ((?:rpcrdma|xprt_rdma|svc_rdma)_\w+): (.*)", line)
                if m:
                    found.setdefault(m.group(1), []).append(m.group(2))
        return found if name is None else found.get(name, [])

    def story(self, *names):
        """The lines of these events, and of those of other groups, in their order"""
        names += tuple(event.split("/")[1] for event in self.also)
        with open(self.at + "/trace", encoding="utf-8", errors="replace") as f:
            return [line.rstrip() for line in f if re.search(rf": (?:{'|'.join(names)}): ", line)]

    def seen(self, name, text=""):
        """Lines of the event in which @text, a regular expression, is found"""
        return [line for line in self.lines(name) if re.search(text, line)]

    def counts(self):
        return " ".join(f"{name}:{len(found)}" for name, found in sorted(self.lines().items()))

    def missing(self, *names, patience=5):
        """Which of these events do not come? Each is a name, or "name: regular expression"; with
        "rxe/" or "7.3/" before it, it comes with that provider or kernel only."""
        end = time.monotonic() + patience
        here = (os.environ["PROVIDER"], os.environ["KERNEL"])
        wanted = [n.partition("/") if "/" in n.split(":")[0] else ("", "", n) for n in names]
        names = [name for where, _, name in wanted if not where or where in here]
        while True:
            found = self.lines()
            left = []
            for name in names:
                event, _, text = name.partition(": ")
                if not any(re.search(text, line) for line in found.get(event, ())):
                    left.append(name)
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)


def defined(top):
    """Names of all events in the headers"""
    found, prefix = set(), {}
    for path in glob.glob(f"{top}/include/rpcrdma/trace_*.h"):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        # Macros that give a name its prefix
        prefix = {m.group(1): m.group(2) for m in re.finditer(
            r"#define (DEFINE_\w+)\(name\)[\s\\]+DEFINE_EVENT\(\w+,\s*(\w*?)(?:##)?name,", text)}
        found.update(re.findall(r"^TRACE_EVENT\((\w+),", text, re.M))
        found.update(re.findall(r"^DEFINE_EVENT\(\w+,\s*(\w+),", text, re.M))
        found.update(prefix[macro] + name for macro, name in
                     re.findall(r"^(DEFINE_\w+)\((\w+)\);", text, re.M))
    return found


# What no guest brings about
UNSEEN = {
    "xprt_rdma_no_tls": "NFS refuses the mount option itself; the KUnit suite xprt_rdma_transport does what leads to it",
}


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    text = ""
    for path in glob.glob(f"{top}/scripts/tests/**", recursive=True):
        if path.endswith((".sh", ".py")) and not path.endswith("events.py"):
            with open(path, encoding="utf-8") as f:
                text += f.read()
    wrong = 0
    for name in sorted(defined(top)):
        if bool(re.search(rf"\b{name}\b", text)) == (name in UNSEEN):
            print(f"{name}: " + ("a test looks at it" if name in UNSEEN else "no test looks at it, see events.py"))
            wrong = 1
    for name in sorted(set(UNSEEN) - defined(top)):
        print(f"{name}: no such event")
        wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
