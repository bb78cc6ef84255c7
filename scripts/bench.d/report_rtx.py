#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report_rtx.py DIRECTORY [--page]

Read the results of the guests of make bench TABLE=rtx, and print them as tables in reStructuredText:
the costs and savings of the round-trip extension with each number of rtx_pages, compared with
version 2 without the extension, version 1, and the in-tree module; and which goals are met. With
--page, print the few tables that performance.rst has.
"""
import statistics
import sys
from pathlib import Path

from report import COUNTERS, MODULES, NAMED, Run, number, point_name, ratio, size_name, table

WRITES = [8192, 16384, 32768, 65536, 131072, 262144, 524288, 1 << 20]
READDIR = ("readdir", 20)
# Goals: the maximum cost of an operation, as a fraction of its cost with the in-tree module
GOALS = [(("write", 16384), 0.85), (("write", 32768), 0.85), (("write", 65536), 0.92), (READDIR, 0.85)]
# Length of the longest item that the client sends in a group if the round trip is 10 us (T-40;
# net/core/plan.c). WRITEs up to this size are checked against the goal "sent at 10 us".
NEAR = {"v2p0": 16384, "v2p4": 86016, "v2p8": 131072}
COUNTED = ("client_send", "client_reg_mr", "client_doorbells", "server_rdma_read", "server_doorbells",
           "svc_rdma_recvfrom", "svc_recv", "ib_cq_poll_work", "switches", "kmallocs", "kmallocs_module",
           "pages", "pages_nfsd")
FAR = 20000  # us
FEW = 0.02  # events per operation that are tolerated, because some belong to none of the operations


def points():
    return [("getattr", 0), *(("write", size) for size in WRITES), READDIR]


def cost_table(provider, runs):
    *ours, intree = runs
    rows = []
    for key in points():
        key = (*key, 1)
        if not all(key in r.costs for r in runs):
            continue
        rows.append([point_name(*key), *(number(r.cost(key) / 1000) for r in runs),
                     *(ratio(r.cost(key), intree.cost(key)) for r in ours),
                     f"{max(r.spread(key) for r in runs):.1f}%"])
    table(f"{provider}: thousands of instructions per operation, with every WRITE in Sends if the server\n"
          "accepts that, and the ratio to the in-tree module",
          ["operation", *(NAMED[r.module] for r in runs), *("ratio " + (r.module[2:] or r.module) for r in ours), "spread"], rows)


def count_table(provider, runs):
    sizes = [s for s in WRITES if all(r.per_op("write", s, "svc_process") for r in runs)]
    rows = []
    for counter, name in COUNTERS:
        if name not in COUNTED:
            continue
        row = [counter]
        for size in sizes:
            values = [r.per_op("write", size, name) for r in runs]
            digits = 0 if max(v or 0 for v in values) >= 10 else 1
            row.append("/".join(number(v, digits) for v in values))
        rows.append(row)
    if sizes:
        table(f"{provider}: counts per WRITE: {' / '.join(NAMED[r.module] for r in runs)}",
              ["per operation", *(size_name(s) for s in sizes)], rows)


def saved_table(provider, by):
    """Instructions that Sends save compared with RDMA Read, as T-40 and net/core/plan.c use them"""
    without, rows = by.get("v2n"), []
    if not without:
        return
    for size in WRITES:
        row, key = [f"WRITE {size_name(size)}"], ("write", size, 1)
        for run in by.values():
            if run.module in NEAR:
                n, read = run.per_op("write", size, "client_send"), run.per_op("write", size, "server_rdma_read")
                sends = n and not read and n > 0.9
                saved = (without.cost(key) - run.cost(key)) / 1000 if key in run.costs and key in without.costs else None
                row += [number(n, 0) if sends else "by Read", number(saved)]
        rows.append(row)
    table(f"{provider}: number of Sends for each WRITE, and thousands of instructions that they save compared\n"
          "with version 2 without the extension",
          ["operation", *(w for r in by.values() if r.module in NEAR for w in (NAMED[r.module], "saved"))], rows)


def way(run, key, rtt):
    values = run.ways.get((*key, rtt))
    return statistics.median(values) if values else None


def round_trips(run, key):
    far, near = way(run, key, FAR), way(run, key, 0)
    return (far - near) / FAR / 1000 if far and near else None


def way_tables(provider, runs):
    if not any(r.ways for r in runs):
        return
    rows = [[point_name(*key), *(number(round_trips(r, key), 2) for r in runs)] for key in points()]
    table(f"{provider}: round trips of an operation (RTT {FAR // 1000} ms by netem), as the client chooses",
          ["operation", *(NAMED[r.module] for r in runs)], rows)
    for rtt in (0, 200):
        rows = [[point_name(*key), *(number(way(r, key, rtt) and way(r, key, rtt) / 1000) for r in runs)]
                for key in points()]
        table(f"{provider}: microseconds of an operation with {rtt} us of netem, as the client chooses",
              ["operation", *(NAMED[r.module] for r in runs)], rows)
    rows = [[NAMED[r.module], *(f"{r.choices[rtt][0]}, {r.choices[rtt][1]}" if rtt in r.choices else "-"
                                for rtt in (0, 200, FAR))] for r in runs if r.module in NEAR]
    table(f"{provider}: estimate of the round trip in us, and the largest WRITE by Sends",
          ["module", "netem 0", "200 us", f"{FAR} us"], rows)


def beside_table(provider, runs):
    rows = []
    for size in (65536, 1 << 20):
        if all(size in r.beside for r in runs):
            for i, what in enumerate(("median", "longest")):
                pick = statistics.median if i == 0 else max
                rows.append([f"WRITE {size_name(size)}, {what}",
                             *(number(pick(v[i] for v in r.beside[size]) / 1000) for r in runs)])
    if rows:
        table(f"{provider}: microseconds of a GETATTR while one process writes on the same connection",
              ["beside", *(NAMED[r.module] for r in runs)], rows)


def memory_table(provider, runs):
    rows = []
    for r in runs:
        rest, busy = r.kb_per_connection("server"), r.kb_per_connection("busy")
        if rest:
            credits = max(r.receives[1::2], default=None)
            receives = max(r.receives[::2], default=None)
            rows.append([NAMED[r.module], *(number(v) for v in rest),
                         number(busy and busy[0], 0), number(receives and receives / 1024, 0), number(credits, 0)])
    if rows:
        table(f"{provider}: kilobytes of the server's memory for each of 64 connections at rest (of it slab and\n"
              "vmalloc), and for each of 2 connections after many WRITEs at a time (busy)",
              ["module", "at rest", "slab", "vmalloc", "busy", "its Receives", "credits"], rows)


def goals(by, run):
    """Yield (goal, value, met)."""
    intree, without = by["intree"], by.get("v2n")
    for key, limit in GOALS:
        cost, other = run.cost((*key, 1)), intree.cost((*key, 1))
        if cost and other:
            yield f"{point_name(*key)} <= {limit:.2f} of in-tree", f"{cost / other:.3f}", cost / other <= limit
    for key in points():
        key = (*key, 1)
        if key[0] == "write" and key[1] <= NEAR[run.module] and without and key in run.costs and key in without.costs:
            found = run.cost(key) / without.cost(key)
            yield f"{point_name(*key)}, sent at 10 us, <= 1.01 of without", f"{found:.3f}", found <= 1.01
    for size in WRITES:
        trips = round_trips(run, ("write", size))
        if trips is not None and size <= run.choices.get(FAR, (0, 0))[1]:
            yield f"round trips, WRITE {size_name(size)} <= 1.1", f"{trips:.2f}", trips <= 1.1
    for size in WRITES:
        if run.module == "v2p0" or run.per_op("write", size, "server_rdma_read") != 0:
            continue
        for what, name, limit in (("doorbells", "client_doorbells", 1), ("registrations", "client_reg_mr", 0),
                                  ("pages allocated by nfsd", "pages_nfsd", 0)):
            found = run.per_op("write", size, name)
            if found is not None:
                yield f"{what}, WRITE {size_name(size)} placed <= {limit}", f"{found:.2f}", found <= limit + FEW


def page(found):
    """The tables of performance.rst; found is {provider: runs, that of the in-tree module last}"""
    found = {p: [r for r in runs if r.module not in ("v1", "v2")] for p, runs in found.items()}
    rows = [[point_name(*key, 1), *(ratio(r.cost((*key, 1)), runs[-1].cost((*key, 1)))
                                    for runs in found.values() for r in runs[:-1])]
            for key in points() if key[1] not in (262144, 524288)]
    table("Instructions per operation, with every WRITE in Sends if the server accepts that: the ratio to the\n"
          "in-tree module", ["operation", *(f"{p}: {NAMED[r.module]}" for p, runs in found.items() for r in runs[:-1])], rows)
    rows = []
    for provider, runs in found.items():
        for r in runs:
            rest, busy = r.kb_per_connection("server"), r.kb_per_connection("busy")
            if rest and r.module != "v2n":
                rows.append([f"{provider}: {NAMED[r.module]}", number(rest[0]), number(busy and busy[0], 0),
                             number(max(r.receives[1::2], default=None), 0)])
    table("Kilobytes of the server's memory for each of 64 connections at rest, and for each of 2 connections after\n"
          "many WRITEs at a time (busy)", ["", "at rest", "busy", "credits"], rows)


def main():
    top, shown = Path(sys.argv[1]), {}
    for provider in [p for p in ("siw", "rxe") if any(top.glob(f"{p}-*"))]:
        runs = [r for r in (Run(top, provider, m) for m in MODULES) if r.costs or r.memory or r.beside]
        by = {r.module: r for r in runs}
        if "intree" not in by or len(runs) < 2:
            print(f"{provider}: a guest found nothing\n")
            continue
        if "--page" in sys.argv:
            shown[provider] = runs
            continue
        title = f"Extension on {provider}, Linux {by['intree'].kernel or ''}".strip(", ")
        print(f"{title}\n{'-' * len(title)}\n")
        cost_table(provider, runs)
        saved_table(provider, by)
        count_table(provider, runs)
        way_tables(provider, runs)
        beside_table(provider, runs)
        memory_table(provider, runs)
        for run in runs:
            found = list(goals(by, run)) if run.module in NEAR else []
            if found:
                table(f"{provider}: goals, {NAMED[run.module]}", ["goal", "found", "met"],
                      [[g, v, "yes" if met else "NO"] for g, v, met in found])
    if shown:
        page(shown)


main()
