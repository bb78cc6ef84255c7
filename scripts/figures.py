#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print figures about the size of the module, and find what has become larger than it may be.

usage: figures.py [--long] [TOP]

Prints a table of figures: what each is now, its bound, and its goal. The status is 1 if a figure exceeds its bound, a
function has too many lines or parameters, a line too many columns, or the table of locks in locking.rst differs from
the source. A bound is what was reached last: a commit that makes a figure smaller lowers the bound, until the goal
is reached. Do not raise a bound.

A code line is a line that is not blank when comments are removed. The lines of a function are those between its
braces. A setting is a module parameter or a sysctl. A private word is an entry of the section Glossary in
architecture.rst. How many files a READ enters is a figure, too, but needs a guest: see tests/analysers/walk.py.

Behind the table, there is a line for each room (folder of net/): its files, code lines and lines, and its longest file.
The folders of include/ count as rooms. The probes, include/compat/*.c, are not counted: they are no part of the module.
--long also names the ten longest functions.
"""
import os
import re
import sys

ROOMS = ("wire", "core", "verbs", "client", "server", "module")
# Conditional compilation, except include guards
CONDITION = re.compile(r"^#\s*if(?!ndef RPCRDMA_\w+_H$| !defined\(RPCRDMA_TRACE_)", re.M)
MOST_LINES, MOST_PARAMETERS, MOST_COLUMNS = 80, 6, 100

# For each figure: the bound, and the goal
BOUNDS = {
    "code lines": (16339, 16500),
    ".c files": (58, 62),
    "invariants": (24, 24),
    "locks": (14, 14),
    "settings": (28, 28),
    "counters": (80, 80),
    "private words": (25, 25),
    "function: median": (14, 14),
    "function: 90 %": (32, 32),
    "function: longest": (MOST_LINES, MOST_LINES),
    "parameters": (MOST_PARAMETERS, MOST_PARAMETERS),
    "#if": (13, 14),
}
PARAMETER = re.compile(r"^(?:module_param(?:_named|_cb)?|rpcrdma_param_range)\(", re.M)
SYSCTL = re.compile(r"\.procname\s*=\s*\"|\bRPCRDMA_SYSCTL\w*\(\"")
LOCK = re.compile(r"^(?:static )?DEFINE_(?:RAW_)?(?:SPINLOCK|MUTEX|RWLOCK)\((\w+)\)|"
                  r"^(?:static |\t+)(?:(?:raw_)?spinlock_t|rwlock_t|struct mutex|struct rw_semaphore)\s+(\w+)", re.M)


def bare(text):
    """The text, with comments, strings and preprocessor lines replaced by blanks"""
    keep = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^#(?:\\\n|[^\n])*", re.S | re.M)
    return keep.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def parameters(head):
    """The number of parameters. An annotation behind them (__must_hold(lock)) is ignored."""
    head = re.sub(r"(\s+__\w+\([^()]*\))+$", "", head)
    inner = re.search(r"\(((?:[^()]|\([^()]*\))*)\)\s*$", head)[1]
    inner = re.sub(r"\([^()]*\)", "", inner).strip()
    return 0 if inner in ("", "void") else inner.count(",") + 1


def functions(text):
    """(name, lines, parameters) of each function; a function has its opening brace in the first column"""
    code = bare(text)
    for m in re.finditer(r"^\{\n(.*?)^\}", code, re.S | re.M):
        head = code[max(code.rfind(c, 0, m.start()) for c in ";}") + 1:m.start()]
        name = re.search(r"(\w+)\s*\(", head)
        if name:
            yield name[1], m[1].count("\n"), parameters(head.rstrip())


def code_lines(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return sum(1 for line in text.split("\n") if line.strip())


def section(text, title):
    """The text of a section of a document; empty if there is none"""
    found = re.search(rf"^{title}\n([=-])\1*\n(.*?)(?=^[^\n]+\n([=-])\3{{2,}}\n|\Z)", text, re.M | re.S)
    return found[2] if found else ""


def rows(text):
    """The first column of the first table with a head; a row without a first column continues the row above it"""
    found, borders, width = [], 0, 0
    for line in text.split("\n"):
        if re.fullmatch(r"=+(  =+)+", line):
            width, borders = line.index(" "), borders + 1
            if borders == 3:
                return found
            found = []
        elif line[:1].strip():
            found.append(line[:width].strip())
    return []


def locks(source, page):
    """The rows of the table of locks, and how they differ from the locks in the source"""
    told = {name for row in rows(section(page, "Locks")) for name in row.split()}
    here = {re.sub("^(?:svc_|xprt_)?rdma_|^rpcrdma_", "", a or b) for a, b in LOCK.findall(source)}
    return told, [f"no row in locking.rst: {name}" for name in sorted(here - told)] + [
        f"locking.rst has a row for a lock that is gone: {name}" for name in sorted(told - here)]


class Room:
    """The files of a folder: their @sizes, @text together, @functions, and @wide lines"""
    def __init__(self, top, name):
        self.name, self.sizes, self.text, self.functions, self.wide = name, {}, "", [], []
        for base, _, files in os.walk(os.path.join(top, name)):
            for file in sorted(f for f in files if f.endswith(".h" if name == "include/compat" else (".c", ".h"))):
                path = os.path.join(base, file)
                text, shown = read(path), os.path.relpath(path, top)
                self.sizes[file] = text.count("\n")
                self.text += text
                self.functions += [(lines, params, f"{shown} {func}") for func, lines, params in functions(text)]
                self.wide += [f"{shown}:{no}" for no, line in enumerate(text.split("\n"), 1)
                              if len(line.expandtabs(8)) > MOST_COLUMNS and '"' not in line]

    def __str__(self):
        longest = max(self.sizes, key=self.sizes.get)
        return (f"{self.name:16} {len(self.sizes):2} files {code_lines(self.text):5} code lines of "
                f"{sum(self.sizes.values()):5}   longest {self.sizes[longest]:4} {longest}")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    args = [a for a in sys.argv[1:] if a != "--long"]
    top = args[0] if args else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    folders = sorted(os.listdir(os.path.join(top, "net")), key=lambda r: (ROOMS.index(r) if r in ROOMS else len(ROOMS), r))
    rooms = [Room(top, name) for name in [f"net/{r}" for r in folders] + ["include/rpcrdma", "include/compat"]]
    rooms = [room for room in rooms if room.sizes]
    source = "".join(room.text for room in rooms)
    module = "".join(room.text for room in rooms if room.name.startswith("net/"))
    page = read(os.path.join(top, "Documentation/locking.rst"))
    told, wrong = locks(source, page)
    found = sorted(f for room in rooms if room.name != "include/compat" for f in room.functions)
    figures = {
        "code lines": code_lines(source),
        ".c files": sum(name.endswith(".c") for room in rooms for name in room.sizes),
        "invariants": len(re.findall(r"^\*\*I\d+\. ", page, re.M)),
        "locks": len(told),
        "settings": len(PARAMETER.findall(module)) + len(SYSCTL.findall(module)),
        "counters": len(re.findall(r"^\tX\(", read(os.path.join(top, "include/rpcrdma/counters.h")), re.M)),
        "private words": len(rows(section(read(os.path.join(top, "Documentation/architecture.rst")), "Glossary"))),
        "function: median": found[len(found) // 2][0],
        "function: 90 %": found[len(found) * 9 // 10][0],
        "function: longest": found[-1][0],
        "parameters": max(params for _, params, _ in found),
        "#if": len(CONDITION.findall(source)),
    }
    print(f"{'figure':17} {'now':>6} {'bound':>6} {'goal':>6}")
    for name, value in figures.items():
        print(f"{name:17} {value:6} {BOUNDS[name][0]:6} {BOUNDS[name][1]:6}")
    print(*rooms, sep="\n")
    if "--long" in sys.argv:
        print(*(f"{lines:3} {name}" for lines, _, name in reversed(found[-10:])), sep="\n")
    wrong += [f"{name}: {value}, and the bound is {BOUNDS[name][0]}" for name, value in figures.items() if value > BOUNDS[name][0]]
    wrong += [f"too many lines: {name}: {lines}" for lines, _, name in found if lines > MOST_LINES]
    wrong += [f"too many parameters: {name}: {params}" for _, params, name in found if params > MOST_PARAMETERS]
    wrong += [f"too many columns: {name}" for room in rooms for name in room.wide]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
