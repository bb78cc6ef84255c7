#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: leaks.py PLACES <kmemleak

Print the leaked objects that our module allocated, at any address where it was loaded. Status 1 if
there are any.
Each line of PLACES has the jiffies, and the addresses that the module's first and last function had
at that time (written by module_place() in lib.sh). After the module was unloaded, a backtrace has
only the addresses of its functions. The time of an object is compared as well, because another
module may have been at these addresses before.
"""
import re
import sys

LAST = 4096             # maximum size of the last function in bytes
SLACK = 1000            # maximum number of jiffies between loading the module and reading the addresses


def places(lines):
    """(from when, until when, first address, last address) of each place, in order"""
    found = []
    for line in lines:
        now, first, last = line.split()
        where = int(first, 16), int(last, 16) + LAST
        if found and found[-1][1] == where:
            continue
        found.append((int(now) - SLACK, where))
    ends = [begin for begin, _ in found[1:]] + [sys.maxsize]
    return [(begin, end, *where) for (begin, where), end in zip(found, ends)]


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        known = places(f)
    objects = re.split(r"(?m)^(?=unreferenced object)", sys.stdin.read())[1:]
    ours = 0
    for text in objects:
        trace = text[text.find("backtrace"):]
        when = int(re.search(r"jiffies (\d+)", text).group(1))
        addresses = [int(a, 16) for a in re.findall(r"\b(?:0x)?([0-9a-f]{8,16})\b", trace)]
        if re.search(r"\[rpcrdma|\b_*(rpcrdma|xprt_rdma|svc_rdma|frwr)_", trace) or any(
                begin <= when < end and first <= a < last for begin, end, first, last in known for a in addresses):
            print(text)
            ours += 1
    print(f"{len(objects)} unreferenced objects, {ours} of the module")
    return 1 if ours else 0


if __name__ == "__main__":
    sys.exit(main())
