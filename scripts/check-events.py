#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find trace events that no test checks, and functions that a test names but that do not exist.

usage: check-events.py

A test checks an event if its name is in a file of scripts/tests. This script prints each event whose name is
in none of them, unless UNSEEN has it. If a test makes a function fail, or makes its allocations fail, it names
the function as ^name$. This script prints each such name that is not a function in net/. The status is 1 if
anything was printed.
"""
import glob
import os
import re
import sys


def defined(top):
    """Names of all events in the headers"""
    found, prefix = set(), {}
    for path in glob.glob(f"{top}/net/*/trace.h"):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        # Macros that add a prefix to a name
        prefix = {m.group(1): m.group(2) for m in re.finditer(
            r"#define (DEFINE_\w+)\(name\)[\s\\]+DEFINE_EVENT\(\w+,\s*(\w*?)(?:##)?name,", text)}
        found.update(re.findall(r"^TRACE_EVENT\((\w+),", text, re.M))
        found.update(re.findall(r"^DEFINE_EVENT(?:_PRINT)?\(\w+,\s*(\w+),", text, re.M))
        found.update(prefix[macro] + name for macro, name in
                     re.findall(r"^(DEFINE_\w+)\((\w+)\);", text, re.M))
    return found


def functions(top):
    """Names of all functions that are defined in net/"""
    found = set()
    for path in glob.glob(f"{top}/net/*/*.c"):
        with open(path, encoding="utf-8") as f:
            found.update(re.findall(r"^(?:[a-z][\w *]*[ *])?(\w+)\(", f.read(), re.M))
    return found


# Events that no guest can cause
UNSEEN = {
    "xprt_rdma_no_tls": "NFS refuses the mount option itself; the KUnit suite xprt_rdma_transport does what leads to it",
}


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    text = ""
    for path in glob.glob(f"{top}/scripts/tests/**", recursive=True):
        if path.endswith((".sh", ".py")):
            with open(path, encoding="utf-8") as f:
                text += f.read()
    wrong = 0
    for name in sorted(defined(top)):
        if bool(re.search(rf"\b{name}\b", text)) == (name in UNSEEN):
            print(f"{name}: " + ("a test looks at it" if name in UNSEEN else "no test looks at it, see check-events.py"))
            wrong = 1
    for name in sorted(set(UNSEEN) - defined(top)):
        print(f"{name}: no such event")
        wrong = 1
    wanted = set(re.findall(r"\^((?:xprt_rdma|svc_rdma|rpcrdma)_\w+)\$", text))
    for name in sorted(wanted - functions(top)):
        print(f"{name}: a test looks for this function, and net/ has none of this name")
        wrong = 1
    if not wanted:
        print("no test looks for a function: check-events.py does not find them")
        wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
