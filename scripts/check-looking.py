#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The law of looking: a room looks only down.

usage: check-looking.py [TOP]
       check-looking.py --pure      lists the sources of the wire and pure rooms

net/wire <- net/core <- net/verbs <- {net/client | net/server} <- net/module

The room of a source is its folder; that of a header in include/rpcrdma is in the table below.
Read from #include lines and from names used in code (comments and strings left out).
Prints each breach as file:line; status 1 if there is any. The table of rooms is complete
on purpose: a file that is in no room is a breach too.
"""
import os
import re
import sys

# The rooms, bottom first: name, level, which headers (stems) of include/rpcrdma belong to it.
ROOMS = [
    ("wire", 0, r"wire"),
    ("core", 1, r"chunk|props|credit|plan|size|negotiate|retry"),
    ("verbs", 2, r"device|conn|buf|keepalive|counters|debugfs|param|trace_verbs"),
    ("rpc", 3, r"xmit"),
    ("client", 4, r"xprt_rdma|trace_xprt"),
    ("server", 4, r"svc_rdma(_array)?|trace_svc"),
    ("module", 5, r""),
]

PURE_HEADERS = re.compile(r"rdma/|trace/|linux/(printk|tracepoint|spinlock\w*|mutex|rwsem|rwlock\w*|seqlock|semaphore|"
                          r"percpu-rwsem|rcupdate|wait|completion)\.h|linux/sunrpc/(?!xdr\.h|msg_prot\.h)")
PURE_NAMES = re.compile(r"\b(printk\w*|pr_(?:emerg|alert|crit|err|warn|notice|info|debug)\w*|dprintk|dev_(?:err|warn|info|dbg)|"
                        r"trace_(?:rpcrdma|xprt_rdma|svc_rdma)_\w+|(?:raw_)?spin_(?:un)?lock\w*|mutex_(?:un)?lock\w*|"
                        r"(?:read|write)_(?:un)?lock\w*|rcu_read_(?:un)?lock|down_(?:read|write)|"
                        r"struct (?:rpc_xprt|svc_xprt|rpc_rqst|svc_rqst|ib_\w+|rdma_cm_id)|ib_\w+\()")
VERBS_NAMES = re.compile(r"\bstruct (?:rpc_xprt|svc_xprt|rpc_rqst|svc_rqst|rpc_task)\b")
VERBS_HEADERS = re.compile(r"linux/sunrpc/(?!addr\.h|xdr\.h|msg_prot\.h|rpc_rdma\.h)")
INTREE = re.compile(r"linux/sunrpc/(svc_rdma\w*|rdma_rn)\.h|trace/events/rpcrdma\.h")


def room_of(path):
    """Of a file, by its path from the top of the tree, or of what an #include names"""
    folder, stem = os.path.split(os.path.splitext(path)[0])
    for name, level, pattern in ROOMS:
        if folder == f"net/{name}" or (folder in ("rpcrdma", "include/rpcrdma") and re.fullmatch(pattern, stem)):
            return name, level
    return None


def code_lines(text):
    """The text without comments and strings, line by line."""
    def blank(m):
        s = m.group(0)
        return re.sub(r"[^\n]", " ", s) if s[0] in "/" else '""'
    include = re.compile(r"^\s*#\s*include\s+[<\"]([^>\"]+)[>\"]", re.M)
    includes = [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in include.finditer(text)]
    bare = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)
    return includes, bare.split("\n")


def breaches(top, path):
    room = room_of(path)
    if not room:
        yield 1, f"{path} is in no room (see ROOMS in check-looking.py)"
        return
    name, level = room
    includes, lines = code_lines(open(os.path.join(top, path), encoding="utf-8").read())
    for no, inc in includes:
        if "/" not in inc:
            inc = f"{os.path.dirname(path)}/{inc}"
        if re.match(r"(include/)?rpcrdma/|net/(wire|core|verbs|client|server|module)/", inc):
            other = room_of(inc)
            if not other:
                yield no, f"{inc} is in no room"
            elif other[1] > level:
                yield no, f"{name} looks up at {other[0]} ({inc})"
            elif other[1] == level and other[0] != name:
                yield no, f"{name} looks at {other[0]} ({inc})"
            continue
        if INTREE.match(inc):
            yield no, f"{inc} describes the in-tree module"
        if level <= 1 and PURE_HEADERS.match(inc):
            yield no, f"a pure room includes {inc}"
        if name == "verbs" and VERBS_HEADERS.match(inc):
            yield no, f"a verbs room includes {inc}"
    for no, line in enumerate(lines, 1):
        if name != "wire" and re.search(r"\b__be(16|32|64)\b", line):
            yield no, f"__be in {name}: wire order belongs to wire files"
        if level <= 1:
            for m in PURE_NAMES.finditer(line):
                yield no, f"a pure room uses {m.group(0)}"
        if name == "verbs":
            for m in VERBS_NAMES.finditer(line):
                yield no, f"a verbs room uses {m.group(0)}"


def sources(top):
    for folder in ("net", "include/rpcrdma"):
        for path, _, entries in os.walk(os.path.join(top, folder)):
            for entry in entries:
                if entry.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(path, entry), top)


def pure_sources(top):
    for path in sorted(sources(top)):
        if path.endswith(".c") and (room_of(path) or ("", 9))[1] <= 1:
            print(path)


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    if sys.argv[1:] == ["--pure"]:
        return pure_sources(top)
    top = sys.argv[1] if len(sys.argv) > 1 else top
    count = files = 0
    for path in sorted(sources(top)):
        files += 1
        for no, what in breaches(top, path):
            print(f"{path}:{no}: {what}")
            count += 1
    if not files:
        print("no source files found")
        count = 1
    sys.exit(1 if count else 0)


main()
