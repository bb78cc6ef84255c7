#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Is there a trace event that no test looks at?

usage: check-events.py

A test looks at an event if its name stands in one of the files of scripts/tests. Prints each event
that none of them names and UNSEEN does not excuse; the status is 1 if there is any.
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
    return wrong


if __name__ == "__main__":
    sys.exit(main())
