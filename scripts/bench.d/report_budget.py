#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report_budget.py DIRECTORY

Read the results of make bench TABLE=budget, and print tables in reStructuredText: which tasks work for an operation,
how often each of them gets the processor, and how many instructions it executes, with our module and with the in-tree
module. A worker counts separately for each set of work items that it executes before it gives up the processor. An
interrupt counts for the task that it interrupts. For our module, another table shows the tasks in the order in which they
execute, if most operations have the same order. The costs of marks and of events are subtracted.
"""
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
from report import number, point_name, ratio, table      # noqa: E402

EVENT = re.compile(r"\s(\d+): (sched_switch|workqueue_execute_start|tracing_mark_write): (.*)$")
SWITCH = re.compile(r"next_comm=(.*) next_pid=")
WORK = re.compile(r"function (\S+)")


def task_name(comm):
    """The name of a task, without the numbers of its processor and of the worker"""
    return "kworker" if comm.startswith("kworker") else comm.split("/")[0]


class Stretch:
    """The time from an event at which a task begins to execute to the next such event"""

    def __init__(self, task, begin):
        self.task, self.begin, self.end, self.events, self.works = task, begin, None, 1, []

    def label(self):
        return self.task + (": " + ", ".join(f"``{w}``" for w in self.works) if self.works else "")


def operations(path):
    """A list of stretches for each operation. It begins with the stretch of the caller behind a mark."""
    found, current = [], None
    for line in path.read_text(errors="replace").splitlines():
        m = EVENT.search(line)
        if not m:
            continue
        at, name, rest = int(m[1]), m[2], m[3]
        if name == "workqueue_execute_start":
            if current:
                current.events += 1
                current.works.append(WORK.search(rest)[1])
            continue
        if current:
            current.end = at
        if name == "tracing_mark_write":
            current = Stretch("load", at)
            found.append([current])
        else:
            current = Stretch(task_name(SWITCH.search(rest)[1]), at)
            if found:
                found[-1].append(current)
    return found[:-1]


class Budget:
    """What one module needs for one operation. The costs are means of instructions for an operation."""

    def __init__(self, path, alone, marked, traced):
        self.ops = operations(path)
        if not self.ops:
            sys.exit(f"{path}: no operation is complete")
        count = len(self.ops)
        self.mark = marked - alone
        self.event = (traced - marked) / (sum(s.events for op in self.ops for s in op) / count)
        self.times, self.costs = defaultdict(float), defaultdict(float)
        for op in self.ops:
            for i, s in enumerate(op):
                # The stretch behind the mark is the other part of the last one, so it is no hand-over.
                self.times[s.label()] += bool(i) / count
                self.costs[s.label()] += self.cost(op, i) / count

    def cost(self, op, i):
        return op[i].end - op[i].begin - self.event * op[i].events - (self.mark if i == 0 else 0)

    def order(self):
        """The most common order of tasks: a list of labels, and the operations that have it"""
        common, _ = Counter(tuple(s.label() for s in op) for op in self.ops).most_common(1)[0]
        return common, [op for op in self.ops if tuple(s.label() for s in op) == common]


def both_table(title, ours, intree):
    labels = sorted(ours.costs | intree.costs, key=lambda n: -max(ours.costs.get(n, 0), intree.costs.get(n, 0)))
    rows = [[n, *(number(b.times.get(n, 0), 2) for b in (ours, intree)),
             *(number(b.costs.get(n, 0) / 1000) for b in (ours, intree))] for n in labels]
    sums = [[sum(x.values()) for x in (ours.times, intree.times)], [sum(x.values()) for x in (ours.costs, intree.costs)]]
    rows.append(["all", *(number(n, 2) for n in sums[0]), *(number(n / 1000) for n in sums[1])])
    rows.append(["ratio", ratio(*sums[0]), "", ratio(*sums[1]), ""])
    table(f"{title}: who executes how often, and thousands of instructions", ["", "ours", "in-tree", "ours", "in-tree"], rows)


def order_table(title, budget):
    common, same = budget.order()
    if 2 * len(same) < len(budget.ops):
        return
    rows = [[label, number(sum(budget.cost(op, i) for op in same) / len(same) / 1000, 2)] for i, label in enumerate(common)]
    table(f"{title}, ours: the order in {len(same)} of {len(budget.ops)} operations, and thousands of instructions",
          ["", "instructions"], rows)


def read(path):
    """{(operation, size): Budget} and the kernel, of the run of one module"""
    found, kernel = {}, None
    for line in path.read_text().splitlines():
        what, *words = line.split()
        if what == "kernel":
            kernel = words[0]
        elif what == "budget":
            op, size, *costs = words
            found[op, int(size)] = Budget(path.parent / f"events.{op}.{size}", *map(float, costs))
    if "end" not in path.read_text().split():
        sys.exit(f"{path}: not complete")
    return found, kernel


def main():
    top = Path(sys.argv[1])
    for provider in sorted({p.name.split("-")[0] for p in top.glob("*-alone")}):
        (ours, kernel), (intree, _) = (read(top / f"{provider}-{m}-alone" / "result") for m in ("v2", "intree"))
        title = f"{provider}, Linux {kernel}"
        print(title, "-" * len(title), "", sep="\n")
        for key, budget in ours.items():
            both_table(f"{provider}: {point_name(*key)}", budget, intree[key])
            order_table(f"{provider}: {point_name(*key)}", budget)


if __name__ == "__main__":
    main()
