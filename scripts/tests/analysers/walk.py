#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Show which functions of the module execute one READ, and in which files they are.

usage: walk.py FILE [FILES REENTRIES]

FILE is a file of at least 64 KB on a mount of this machine from itself, of version 1 for the figures of
contributing.rst. The kernel needs the tracer function_graph. The program READs 64 KB several times with O_DIRECT,
traces the functions of rpcrdma.ko, and prints the shortest trace: for each task a stage, with the functions in the
order in which they were entered, indented under their callers. "+" marks a re-entry: the function before it, in the
same stage, is in another file, and the stage has been in this file before. The last line has the number of different
.c files, and that of re-entries. The status is 1 if there are more than FILES or REENTRIES.

A static function that the compiler has put into its caller is not traced. Both are in the same file, so this hides no
file, and almost no re-entry.
"""
import glob
import mmap
import os
import re
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(TOP, "scripts"))
from figures import functions  # noqa: E402 (a program in another folder)

TRACING = "/sys/kernel/tracing"
SIZE, WARM, TRIES = 65536, 20, 8
OPTIONS = ("funcgraph-proc", "nofuncgraph-cpu", "nofuncgraph-duration", "nofuncgraph-overhead")
ENTRY = re.compile(r"^ *(\S+-\d+) +\| ( *)([\w.]+)(?: \[rpcrdma\])?\(\)(?:;| \{)", re.M)


def put(name, value):
    with open(os.path.join(TRACING, name), "w", encoding="ascii") as f:
        f.write(value)


def traces(path):
    """Trace some READs, and yield the text of each trace"""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    page = mmap.mmap(-1, SIZE)
    put("tracing_on", "0")
    put("set_ftrace_filter", ":mod:rpcrdma")
    put("current_tracer", "function_graph")
    try:
        for option in OPTIONS:
            put("trace_options", option)
        for n in range(WARM + TRIES):
            put("trace", "")
            put("tracing_on", "1" if n >= WARM else "0")
            if os.preadv(file, [page], 0) != SIZE:
                sys.exit(f"{path}: a short READ")
            time.sleep(0.05)
            put("tracing_on", "0")
            if n >= WARM:
                with open(os.path.join(TRACING, "trace"), encoding="ascii") as f:
                    yield f.read()
    finally:
        put("current_tracer", "nop")
        put("set_ftrace_filter", "")


def sources():
    """{function: file}. Another definition, in a header, is for kernels without an option."""
    found = {}
    for pattern in ("include/*/*.h", "include/compat/*/*/*.h", "net/*/*.h", "net/*/*.c"):
        for path in glob.glob(os.path.join(TOP, pattern)):
            with open(path, encoding="utf-8") as f:
                found.update((name, os.path.relpath(path, TOP)) for name, _, _ in functions(f.read()))
    return found


def entries(trace, where):
    """[(task, depth, function, file)]"""
    found = []
    for task, indent, name in ENTRY.findall(trace):
        name = name.split(".")[0]
        found.append((task, len(indent) // 2, name, where.get(name, "?")))
    return found


def main():
    where = sources()
    walk = min((entries(trace, where) for trace in traces(sys.argv[1])), key=len)
    files, inside, again, last, stage = set(), set(), 0, None, None
    for task, depth, name, file in walk:
        if task != stage:
            print(f"[{task}]")
            stage, inside, last = task, set(), None
        back = file in inside and last[1] != file
        if (depth, file, name) != last:
            print(f"{'+' if back else ' '} {file.removeprefix('net/'):22} {'  ' * depth}{name}")
        again += back
        inside.add(file)
        last = depth, file, name
        if file.endswith(".c"):
            files.add(file)
    unknown = sorted({name for _, _, name, file in walk if file == "?"})
    if unknown or not walk:
        sys.exit(f"in no file of the source: {' '.join(unknown) or 'an empty trace'}")
    print(f"a READ enters {len(files)} .c files, with {again} re-entries")
    if len(sys.argv) > 2 and (len(files) > int(sys.argv[2]) or again > int(sys.argv[3])):
        sys.exit(f"more than {sys.argv[2]} files or {sys.argv[3]} re-entries")


main()
