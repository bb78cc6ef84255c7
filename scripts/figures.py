#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print figures about the size of the module.

usage: figures.py [--long] [TOP]

Prints the lines of functions (median, 90th percentile, maximum), the maximum number of parameters, the number of
#if lines, and for each room (folder of net/) the number of files and lines, and its longest file. include/rpcrdma/
counts as a room. The lines of a function are those between its braces. --long also names the ten longest functions.

The status is 1 if a figure exceeds a limit of contributing.rst: 60 lines in a function, 6 parameters, 100 columns.
(A string that is printed is not broken, so its line may be longer.)
"""
import os
import re
import sys

ROOMS = ("wire", "core", "verbs", "client", "server", "module")
# Conditional compilation, except include guards
CONDITION = re.compile(r"^#\s*if(?!ndef RPCRDMA_\w+_H$| !defined\(RPCRDMA_TRACE_)", re.M)
MOST_LINES, MOST_PARAMETERS, MOST_COLUMNS = 60, 6, 100


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


def main():
    args = [a for a in sys.argv[1:] if a != "--long"]
    top = args[0] if args else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found, rooms, wide, ifs = [], [], [], 0
    folders = sorted(os.listdir(os.path.join(top, "net")), key=lambda r: (ROOMS.index(r) if r in ROOMS else len(ROOMS), r))
    for room in [f"net/{r}" for r in folders] + ["include/rpcrdma"]:
        sizes = {}
        for name in sorted(os.listdir(os.path.join(top, room))):
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(top, room, name), encoding="utf-8") as f:
                text = f.read()
            sizes[name] = text.count("\n")
            found += [(lines, params, f"{room}/{name} {func}") for func, lines, params in functions(text)]
            wide += [f"{room}/{name}:{no}" for no, line in enumerate(text.split("\n"), 1)
                     if len(line.expandtabs(8)) > MOST_COLUMNS and '"' not in line]
            ifs += len(CONDITION.findall(text))
        if not sizes:
            continue
        longest = max(sizes, key=sizes.get)
        rooms.append(f"{room:16} {len(sizes):2} files {sum(sizes.values()):5} lines   longest {sizes[longest]:3} {longest}")
    found.sort()
    many = [f"{name}: {params}" for _, params, name in found if params > MOST_PARAMETERS]
    long = [f"{name}: {lines}" for lines, _, name in found if lines > MOST_LINES]
    print(f"functions        {len(found)}: {found[len(found) // 2][0]} lines in the median, "
          f"{found[len(found) * 9 // 10][0]} at the 90th percentile, {found[-1][0]} at most")
    print(f"parameters       {max(params for _, params, _ in found)} at most")
    print(f"#if              {ifs}, guards of headers left out")
    print(*rooms, sep="\n")
    if "--long" in sys.argv:
        print(*(f"{lines:3} {name}" for lines, _, name in reversed(found[-10:])), sep="\n")
    for what, names in (("lines", long), ("parameters", many), ("columns", wide)):
        for name in names:
            print(f"too many {what}: {name}")
    sys.exit(1 if long or many or wide else 0)


main()
