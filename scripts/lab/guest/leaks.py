#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: leaks.py BASE SIZE [BASE SIZE ...] <kmemleak

Print the objects that our module allocated, wherever it was; 1 if there are any.
"""
import re
import sys

places = [(int(base, 16), int(size)) for base, size in zip(sys.argv[1::2], sys.argv[2::2])]
objects = re.split(r"(?m)^(?=unreferenced object)", sys.stdin.read())[1:]
ours = 0
for text in objects:
    trace = text[text.find("backtrace"):]
    # .text may be the middle of what the module occupies.
    near = any(abs(int(a, 16) - base) < size for base, size in places
               for a in re.findall(r"\b(?:0x)?([0-9a-f]{8,16})\b", trace))
    if near or re.search(r"\[rpcrdma|\b_*(rpcrdma|xprt_rdma|svc_rdma|frwr)_", trace):
        print(text)
        ours += 1
print(f"{len(objects)} unreferenced objects, {ours} of the module")
sys.exit(1 if ours else 0)
