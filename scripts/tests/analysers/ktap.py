#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: ktap.py FILE...

Print KUnit's results from debugfs as "case" lines, one for each test case. (A parameterised case counts once,
and its failed parameters are the reason.)"""
import re
import sys

LINE = re.compile(r"^( *)(not ok|ok) \d+ -? ?(\S+)\s*(?:# (SKIP)?\s*(.*))?$")

for name in sys.argv[1:]:
    suite = name.rsplit("/", 1)[-1]
    params, planned, seen = [], 0, 0
    for line in open(name, errors="replace"):
        plan = re.match(r"^    1\.\.(\d+)", line)
        if plan:
            planned = int(plan.group(1))
        m = LINE.match(line.rstrip())
        if not m:
            continue
        indent, word, test, skip, why = m.groups()
        if len(indent) > 4:
            if word == "not ok":
                params.append(line.strip().split(" ", 3)[-1])
        elif len(indent) == 4:
            seen += 1
            word = "skip" if skip else word
            reason = (why or "") if skip else "; ".join(params[:3]) if word == "not ok" else ""
            print(f"case {word} kunit/{suite}.{test} 0 {reason}".rstrip())
            params = []
    if seen != planned or not seen:
        print(f"case not ok kunit/{suite} 0 {seen} results of {planned} planned")
