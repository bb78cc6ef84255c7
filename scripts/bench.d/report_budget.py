#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report_budget.py DIRECTORY

Read the results of make bench TABLE=budget, and print tables in reStructuredText: which tasks and work
items run for an operation, how often, and how many instructions they execute, with our module and with the in-tree
module. An interrupt counts for the task that it interrupts. For our module, another table shows the tasks in the order in which they
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
CALLER = "load"
ADAPTER = "hca_sim"    # The task of the simulated adapter. A real adapter does this work itself.
RARE = 0.05         # Tasks that run less often than this in each operation are not shown by name.


def task_name(comm):
    """The name of a task, without the numbers of its processor and of the worker"""
    return "kworker" if comm.startswith("kworker") else comm.split("/")[0]


class Piece:
    """The time in which a task executes one work item, or anything else, without giving up the processor"""

    def __init__(self, label, begin, switch):
        self.label, self.begin, self.end, self.events, self.switch = label, begin, None, 1, switch


def operations(path):
    """A list of pieces for each operation that is complete. Each list begins with the piece of the
    caller behind the mark."""
    found, current = [], None
    for line in path.read_text(errors="replace").splitlines():
        m = EVENT.search(line)
        if not m:
            continue
        at, name, rest = int(m[1]), m[2], m[3]
        if name == "workqueue_execute_start" and current and current.label == "kworker":
            # The worker has done nothing else since it got the processor.
            current.label = f"``{WORK.search(rest)[1]}``"
            current.events += 1
            continue
        if current:
            current.end = at
        if name == "tracing_mark_write":
            current = Piece(CALLER, at, False)
            found.append([current])
        else:
            switch = name == "sched_switch"
            current = Piece(task_name(SWITCH.search(rest)[1]) if switch else f"``{WORK.search(rest)[1]}``", at, switch)
            if found:
                found[-1].append(current)
    return found[:-1]


class Budget:
    """What one module needs for one operation. All numbers are means for an operation."""

    def __init__(self, path, alone, marked, traced):
        self.ops = operations(path)
        if not self.ops:
            sys.exit(f"{path}: no operation is complete")
        count = len(self.ops)
        self.mark = marked - alone
        self.event = (traced - marked) / (sum(p.events for op in self.ops for p in op) / count)
        self.switches = sum(p.switch for op in self.ops for p in op) / count
        self.times, self.costs = defaultdict(float), defaultdict(float)
        for op in self.ops:
            for i, p in enumerate(op):
                # The first piece continues the last one of the previous operation, so it is not
                # another run.
                self.times[p.label] += bool(i) / count
                self.costs[p.label] += self.cost(op, i) / count

    def cost(self, op, i):
        return op[i].end - op[i].begin - self.event * op[i].events - (self.mark if i == 0 else 0)

    def order(self):
        """The most common order: a list of labels, and the operations that have it"""
        common, _ = Counter(tuple(p.label for p in op) for op in self.ops).most_common(1)[0]
        return common, [op for op in self.ops if tuple(p.label for p in op) == common]

    def rest(self, labels):
        """Times and costs of everything that is not in labels"""
        return [sum(v for n, v in x.items() if n not in labels) for x in (self.times, self.costs)]


def both_table(title, ours, intree):
    runs = (ours, intree)
    labels = [n for n in ours.times | intree.times if max(b.times.get(n, 0) for b in runs) >= RARE]
    labels.sort(key=lambda n: -max(b.costs.get(n, 0) for b in runs))
    rows = [[n, *(number(b.times.get(n, 0), 2) for b in runs), *(number(b.costs.get(n, 0) / 1000) for b in runs)]
            for n in labels]
    rest = [b.rest(labels) for b in runs]
    rows.append(["others", *(number(r[0], 2) for r in rest), *(number(r[1] / 1000) for r in rest)])
    sums = [sum(b.costs.values()) - b.costs.get(ADAPTER, 0) for b in runs]
    rows.append([f"all but {ADAPTER}" if ADAPTER in labels else "instructions", "", "", *(number(n / 1000) for n in sums)])
    rows.append(["context switches", *(number(b.switches, 2) for b in runs), "", ""])
    table(f"{title}: how often a task or a work item runs, and thousands of instructions (context switches: "
          f"{ratio(ours.switches, intree.switches)} of in-tree)", ["", "ours", "in-tree", "ours", "in-tree"], rows)


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
