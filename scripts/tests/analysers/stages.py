#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the bpftrace programs of a document, without bpftrace.

usage: stages.py DOCUMENT EVENTS TRACE
EVENTS is the directory "events" of tracefs, and TRACE is a trace of the module's events. A program measures the time
from one tracepoint to the next with the same key. Each tracepoint must exist, with the fields that the program names,
and in the trace most keys must pass through each stage.
"""
import re
import sys


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def programs():
    for program in re.findall(r"^ +bpftrace -e '(.*?)'$", text(sys.argv[1]), re.M | re.S):
        assert program.count("{") == program.count("}") and program.count("(") == program.count(")"), program
        clauses = re.findall(r"tracepoint:(\w+):(\w+)\s*(?:/(.*?)/\s*)?\{(.*?)\}", program, re.S)
        assert len(clauses) == program.count("tracepoint:"), program
        yield clauses


def fields(group, event):
    """{field: printed name}. The trace shows xid as xid=, queue as cq.id=, and number as cid=."""
    form = text(f"{sys.argv[2]}/{group}/{event}/format")
    names = re.findall(r"^\tfield:.*?(\w+)(?:\[\d*\])?;", form, re.M)
    return {name: {"queue": "cq.id", "number": "cid"}.get(name, name) for name in names}


def key(line, names):
    return tuple(re.search(rf"\b{re.escape(name)}=(\S+)", line).group(1) for name in names)


def stages(clauses):
    """[(map that begins, map or None that ends, event, fields of the key)]"""
    for group, event, condition, body in clauses:
        known = fields(group, event)
        used = re.findall(r"args->(\w+)", body + (condition or ""))
        assert used and set(used) <= set(known), f"{event} has no field {set(used) - set(known)}"
        begins = re.search(r"(@\w+)\[([^]]*)\] = nsecs", body)
        ends = re.fullmatch(r"(@\w+)\[([^]]*)\]", condition) if condition else None
        if ends:
            measured = re.search(r"(@\w+) = hist\(\(nsecs - (@\w+)\[([^]]*)\]\) / 1000\)", body)
            assert measured and measured.group(2, 3) == ends.groups(), f"{event} does not measure {condition}"
            assert f"delete({condition});" in body, f"{event} does not delete {condition}"
        assert begins or ends, f"{event} does nothing"
        names = [known[name] for name in re.findall(r"args->(\w+)", (begins or ends).group(2))]
        yield (begins and begins.group(1), ends and ends.group(1), event, names)


def main():
    lines = re.findall(r"^.*?: (\w+): (.*)$", text(sys.argv[3]), re.M)
    count = 0
    for clauses in programs():
        count += 1
        chain = list(stages(clauses))
        waiting, passed = {}, {}
        for event, rest in lines:
            for begins, ends, name, names in chain:
                if event != name:
                    continue
                k = key(rest, names)
                if ends:
                    if k not in waiting.get(ends, set()):
                        continue
                    waiting[ends].discard(k)
                    passed[name] = passed.get(name, 0) + 1
                if begins:
                    waiting.setdefault(begins, set()).add(k)
        for begins, ends, name, _ in chain:
            if ends:
                print(f"{ends} to {name}: {passed.get(name, 0)} measured, {len(waiting.get(ends, ()))} left")
                assert passed.get(name, 0) >= 8, f"{name} is never behind {ends}"
                assert passed[name] > 4 * len(waiting[ends]), f"{name} is often not behind {ends}"
    shown = len(re.findall(r"^ +bpftrace -e ", text(sys.argv[1]), re.M))
    assert count == shown >= 4, f"{count} programs of {shown}"


main()
