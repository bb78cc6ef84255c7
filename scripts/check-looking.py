#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the law of looking: a room uses only lower rooms, and a file uses only lower files of its room.

usage: check-looking.py [TOP] prints each breach as file:line; status 1 if there is any
       check-looking.py --floors [TOP]    prints the files of each room, floor by floor
       check-looking.py --draw [TOP]      prints the picture of Documentation/architecture.rst
       check-looking.py --redraw [TOP]    updates that picture
       check-looking.py --pure [TOP]      lists the sources of the pure rooms, wire and core

net/wire <- net/core <- net/verbs <- (rpc) <- {net/client | net/server} <- net/module

The room of a source is its folder in net/. The room of a header in include/rpcrdma is in the table ROOMS. A file
includes headers and names functions only of its own room and of lower rooms. A file that is in no room is a breach,
too.

Inside a room, calls between files determine the floor of each file. A file that calls no other file is on floor 0.
Any other file is above all files that it calls, so calls must not form a circle. A call is the name of a function
and a parenthesis. A function that is passed by name, in a table or as a completion handler, is not a call: in this
way lower files call higher ones.

Only #include lines and names in code count, not comments and strings.
"""
import difflib
import os
import re
import sys
from collections import namedtuple
from functools import cached_property

Room = namedtuple("Room", "name level headers about")
# The rooms from the bottom to the top. "headers" are the headers in include/rpcrdma, without ".h", that belong to
# a room.
ROOMS = [
    Room("wire", 0, r"wire|rtx|vers", "XDR of both versions"),
    Room("core", 1, r"chunk|props|credit|plan|size|retry|group|layout|budget|paths",
         "chunks, plans, sizes, properties, credits, paths: arithmetic"),
    Room("verbs", 2, r"conn|buf|recv|msg|gather|sq|send|send_cq|cid|keepalive|counters|debugfs|param|fail|trace_str|lines",
         "device, connection, Sends, Receives: RDMA, no RPC"),
    # This room has one header and no .c files. The header uses sunrpc, and both client and server include it.
    Room("rpc", 3, r"xmit", ""),
    Room("client", 4, r"", "an rpc_xprt"),
    Room("server", 4, r"", "an svc_xprt"),
    Room("module", 5, r"", "load, sysctl, trace"),
]
FOLDERS = "|".join(room.name for room in ROOMS)
PICTURE = "Documentation/architecture.rst"
# Width of the picture, and of a column if rooms are side by side
WIDTH, COLUMN = 76, 38

PURE_HEADERS = re.compile(r"rdma/|trace/|linux/(printk|tracepoint|spinlock\w*|mutex|rwsem|rwlock\w*|seqlock|semaphore|"
                          r"percpu-rwsem|rcupdate|wait|completion)\.h|linux/sunrpc/(?!xdr\.h|msg_prot\.h)")
PURE_NAMES = re.compile(r"\b(printk\w*|pr_(?:emerg|alert|crit|err|warn|notice|info|debug)\w*|dprintk|dev_(?:err|warn|info|dbg)|"
                        r"trace_(?:rpcrdma|xprt_rdma|svc_rdma)_\w+|(?:raw_)?spin_(?:un)?lock\w*|mutex_(?:un)?lock\w*|"
                        r"(?:read|write)_(?:un)?lock\w*|rcu_read_(?:un)?lock|down_(?:read|write)|"
                        r"struct (?:rpc_xprt|svc_xprt|rpc_rqst|svc_rqst|ib_\w+|rdma_cm_id)|ib_\w+\()")
VERBS_NAMES = re.compile(r"\bstruct (?:rpc_xprt|svc_xprt|rpc_rqst|svc_rqst|rpc_task)\b")
VERBS_HEADERS = re.compile(r"linux/sunrpc/(?!addr\.h|xdr\.h|msg_prot\.h|rpc_rdma\.h)")
# Code of client or server that distinguishes versions: a comparison with a version, or a call of
# one version's codec by name. Only the files in VERSIONED may contain such code: those that
# negotiate the version, and recvfrom.c of the server, because each version has its own decoder of
# Calls, with its own flags and limits. Other files use vers.h. The codec of the round-trip
# extension does not count, because its use depends on what the peer has announced.
VERSION = re.compile(r"(?:[!=]=|[<>]=?)\s*RPCRDMA_VERS_\d|RPCRDMA_VERS_\d\s*(?:[!=]=|[<>])|\bcase RPCRDMA_VERS_\d|"
                     r"\b(?:xr|sx|sc|hd)_vers\)?\s*(?:[!=]=|[<>]=?)\s*\d|\bswitch \([^;{]*_vers\b|"
                     r"\brpcrdma[12]_(?:en|de)code_(?!rtx_|group\b)\w+")
VERSIONED = re.compile(r"net/(?:client|server)/negotiate\.c|net/server/recvfrom\.c")
# Names that client and server must not use, because a received message may consist of several Receives. They read
# messages with the functions of msg.h.
RECV_NAMES = re.compile(r"\brv_\w+|\bstruct rpcrdma_recv\b|\brpcrdma_recv_(?:put|drop)\b|\brpcrdma_msg_first\b|"
                        r"\bmi_(?!(?:list|next|verdict|invalidated|inv_rkey)\b)\w+")
INTREE = re.compile(r"linux/sunrpc/(svc_rdma\w*|rdma_rn)\.h|trace/events/rpcrdma\.h")


# Functions and variables that a source defines for others. In kernel style, each definition begins at the left
# margin.
FUNCTION = re.compile(r"^(?!(?:static|extern|typedef)\b)[A-Za-z_][\w\s*]*?\b(\w+)\([^;{}]*\)\s*\n\{", re.M)
VARIABLE = re.compile(r"^(?!(?:static|extern|typedef)\b|(?:struct|enum|union) \w+;)[A-Za-z_][\w *]*?\b(\w+)(?:\[[^\]]*\])*"
                      r"\s*[=;]|^DEFINE_(?:PER_CPU|MUTEX|SPINLOCK)\((?:[^,()]*,\s*)?(\w+)\)", re.M)
# Inline functions and macros of a header
INLINE = re.compile(r"^static (?:__always_)?inline\b[^;{}()]*?\b(\w+)\([^;{}]*\)\s*\n(\{[\s\S]*?^\})|"
                    r"^#define (\w+)\([^)]*\)((?:.*\\\n)*.*)", re.M)
CALL = re.compile(r"\b(\w+)\s*\(")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def room_of(path):
    """Return the room of a file. @path begins at the top of the tree, or is the name in an #include."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    for room in ROOMS:
        if folder == f"net/{room.name}" or (folder in ("rpcrdma", "include/rpcrdma") and
                                            re.fullmatch(room.headers, name)):
            return room
    return None


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


class Source:
    """A source file: @includes is a list of (line, name), and @text is the file without comments and strings."""
    def __init__(self, top, path):
        def blank(m):
            s = m.group(0)
            return re.sub(r"[^\n]", " ", s) if s[0] in "/" else '""'
        text = open(os.path.join(top, path), encoding="utf-8").read()
        include = re.compile(r"^\s*#\s*include\s+[<\"]([^>\"]+)[>\"]", re.M)
        self.path, self.room = path, room_of(path)
        self.includes = [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in include.finditer(text)]
        self.text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)

    def found(self, pattern):
        """(line, name) of each match; the name is the only group that matched, or the whole match"""
        for m in pattern.finditer(self.text):
            name = m.group(0) if not pattern.groups else next(g for g in m.groups() if g)
            yield self.text.count("\n", 0, m.start()) + 1, name


class Tree:
    """All sources, and the calls between them"""
    def __init__(self, top):
        self.top = top
        self.sources = [Source(top, path) for path in sorted(self.paths())]

    def paths(self):
        for folder in ("net", "include/rpcrdma"):
            for path, _, entries in os.walk(os.path.join(self.top, folder)):
                for entry in entries:
                    if entry.endswith((".c", ".h")):
                        yield os.path.relpath(os.path.join(path, entry), self.top)

    def files(self, room):
        return [src for src in self.sources if src.path.endswith(".c") and src.room == room]

    @cached_property
    def functions(self):
        """name: the source that defines it"""
        return {name: src for room in ROOMS for src in self.files(room) for _, name in src.found(FUNCTION)}

    @cached_property
    def names(self):
        """name: the source that defines the function or variable"""
        found = {name: src for room in ROOMS for src in self.files(room) for _, name in src.found(VARIABLE)}
        return found | self.functions

    @cached_property
    def inlines(self):
        """name: the functions that an inline function or a macro of a header calls"""
        direct = {}
        for src in self.sources:
            if src.path.endswith(".h"):
                for name, body, macro, expanded in (m.groups() for m in INLINE.finditer(src.text)):
                    direct[name or macro] = set(CALL.findall(body or expanded)) - {name, macro}
        # An inline stub with the name of a function does not count. It is used if the function's source is not built.
        direct = {name: calls for name, calls in direct.items() if name not in self.functions}

        def reach(name, seen):
            for called in direct.get(name, set()) - seen:
                seen.add(called)
                reach(called, seen)
            return seen
        return {name: {called for called in reach(name, set()) if called in self.functions} for name in direct}

    @cached_property
    def calls(self):
        """source: {other source of the same room: (line, function) of a call}"""
        graph = {src: {} for room in ROOMS for src in self.files(room)}
        for src, others in graph.items():
            for no, name in src.found(CALL):
                for called in sorted({name} | self.inlines.get(name, set())):
                    other = self.functions.get(called)
                    if other and other is not src and other.room == src.room:
                        others.setdefault(other, (no, called))
        return graph

    def circle(self, start):
        """The shortest path of calls from a source back to itself: [(source, line, function)], or nothing"""
        ways = [[(start, no, name, other)] for other, (no, name) in self.calls[start].items()]
        seen = set()
        for way in ways:        # the list grows in this loop
            last = way[-1][3]
            if last is start:
                return way
            if last not in seen:
                seen.add(last)
                ways += [way + [(last, no, name, other)] for other, (no, name) in self.calls[last].items()]
        return []

    def circles(self):
        """The shortest circles. If several share a file, only one of them is returned."""
        told = set()
        for way in sorted(filter(None, map(self.circle, self.calls)), key=len):
            files = {step[0] for step in way}
            if not files & told:
                yield way
            told |= files

    def floors(self, room):
        """The floors of a room, from the top to the bottom: [[names of files, without suffix]]. The
        calls in the room must form no circle."""
        files = self.files(room)
        floor = {src: 0 for src in files}
        for _ in files:
            for src in files:
                floor[src] = max((floor[other] + 1 for other in self.calls[src]), default=0)
        return [sorted(stem(src.path) for src in files if floor[src] == n)
                for n in range(max(floor.values(), default=-1), -1, -1)]


def looks(src):
    """Breaches in the #include lines of a file"""
    room = src.room
    for no, inc in src.includes:
        if "/" not in inc or inc.startswith("../"):
            inc = os.path.normpath(f"{os.path.dirname(src.path)}/{inc}")
        if re.match(rf"(include/)?rpcrdma/|net/({FOLDERS})/", inc):
            other = room_of(inc)
            if not other:
                yield no, f"{inc} is in no room"
            elif other.level > room.level:
                yield no, f"{room.name} looks up at {other.name} ({inc})"
            elif other.level == room.level and other != room:
                yield no, f"{room.name} looks at {other.name} ({inc})"
            continue
        if INTREE.match(inc):
            yield no, f"{inc} describes the in-tree module"
        if room.level <= 1 and PURE_HEADERS.match(inc):
            yield no, f"a pure room includes {inc}"
        if room.name == "verbs" and VERBS_HEADERS.match(inc):
            yield no, f"a verbs room includes {inc}"


def names(src, tree):
    """Breaches in the names that a file uses"""
    room = src.room
    for no, name in src.found(WORD):
        other = tree.names.get(name)
        if other and other.room != room and other.room.level >= room.level:
            yield no, f"{room.name} names {name} of {other.path}"
    if room.name != "wire":
        for no, name in src.found(re.compile(r"\b__be(?:16|32|64)\b")):
            yield no, f"{name} in {room.name}: wire order belongs to wire files"
    if room.name in ("client", "server") and not VERSIONED.match(src.path):
        for no, name in src.found(VERSION):
            yield no, f"{name} in {room.name}: ask vers.h what the versions do differently"
    if room.level <= 1:
        for no, name in src.found(PURE_NAMES):
            yield no, f"a pure room uses {name}"
    if room.name == "verbs":
        for no, name in src.found(VERBS_NAMES):
            yield no, f"a verbs room uses {name}"
    if room.name in ("client", "server"):
        for no, name in src.found(RECV_NAMES):
            yield no, f"{room.name} looks into a Receive ({name}): use msg.h"


# --- the picture ----------------------------------------------------------------------

def column(tree, room, width):
    """Draw a room: its description, and its floors, one below the other."""
    lines = [f"net/{room.name}".ljust(12) + room.about]
    for floor in tree.floors(room):
        line = "   "
        for name in floor:
            if line.strip() and len(line) + 1 + len(name) > width - 2:
                lines.append(line)
                line = "     "
            line += " " + name
        lines.append(line)
    return lines


def draw(tree):
    """Draw all rooms that have a folder, the top first, each with its floors."""
    drawn = []
    for level in sorted({room.level for room in ROOMS}, reverse=True):
        rooms = [room for room in ROOMS if room.level == level and tree.files(room)]
        if not rooms:
            continue
        columns = [column(tree, room, COLUMN if len(rooms) > 1 else WIDTH) for room in rooms]
        if drawn:
            drawn.append("")
        for n in range(max(map(len, columns))):
            drawn.append("".join((lines[n] if n < len(lines) else "").ljust(COLUMN) for lines in columns).rstrip())
    return "".join(f"    {line}\n" if line else "\n" for line in drawn)


def picture(top):
    """(text, begin, end): the document, and the position of the picture in it"""
    try:
        text = open(os.path.join(top, PICTURE), encoding="utf-8").read()
    except FileNotFoundError:
        return "", 0, 0
    m = re.search(r"^\.\. check-looking\.py --draw\n\n::\n\n((?:    .*\n|\n(?=    ))*)", text, re.M)
    return (text, *m.span(1)) if m else (text, 0, 0)


def compare(top, tree):
    """Differences between the document and the tree"""
    text, begin, end = picture(top)
    if not end:
        yield 1, "there is no picture, behind \".. check-looking.py --draw\""
        return
    there, drawn = text[begin:end].splitlines(), draw(tree).splitlines()
    for m in difflib.SequenceMatcher(None, there, drawn, False).get_opcodes():
        if m[0] != "equal":
            yield (text.count("\n", 0, begin) + 1 + m[1],
                   f"not the tree, which has \"{' / '.join(line.strip() for line in drawn[m[3]:m[4]])}\" here: "
                   "scripts/check-looking.py --redraw")


def redraw(top, tree):
    text, begin, end = picture(top)
    if not end:
        sys.exit(f"{PICTURE}: there is no picture")
    with open(os.path.join(top, PICTURE), "w", encoding="utf-8") as f:
        f.write(text[:begin] + draw(tree) + text[end:])


def check(top, tree):
    """Print all breaches. Returns their number."""
    found = []
    for src in tree.sources:
        if src.room:
            found += [(src.path, no, what) for no, what in (*looks(src), *names(src, tree))]
        else:
            found.append((src.path, 1, f"{src.path} is in no room (see ROOMS in check-looking.py)"))
    circles = [(way[0][0].path, way[0][1], "a circle of calls: " +
                " ".join(f"{stem(src.path)}.c -> {name}() in" for src, _, name, _ in way) + f" {stem(way[0][0].path)}.c")
               for way in tree.circles()]
    found += circles
    if not circles:
        found += [(PICTURE, no, what) for no, what in compare(top, tree)]
    for path, no, what in sorted(found):
        print(f"{path}:{no}: {what}")
    if not tree.sources:
        print("no source files found")
    return len(found) or not tree.sources


def main():
    args = sys.argv[1:]
    option = args.pop(0) if args and args[0].startswith("--") else ""
    top = args[0] if args else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    tree = Tree(top)
    if option == "--pure":
        print("\n".join(sorted(src.path for room in ROOMS if room.level <= 1 for src in tree.files(room))))
        return
    if option not in ("", "--floors", "--draw", "--redraw"):
        sys.exit(__doc__)
    if option and any(tree.circles()):
        sys.exit("calls go round in a circle: no floors")
    if option == "--floors":
        for room in reversed(ROOMS):
            for n, floor in enumerate(tree.floors(room)):
                print(f"net/{room.name} {len(tree.floors(room)) - 1 - n}: {' '.join(floor)}")
    elif option == "--draw":
        print(draw(tree), end="")
    elif option == "--redraw":
        redraw(top, tree)
    else:
        sys.exit(1 if check(top, tree) else 0)


main()
