#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report.py DIRECTORY [--page]

Read the results of the guests of make bench, and print them as tables in reStructuredText: the cost of each
operation with our module, in version 2 and version 1 of the protocol, and with the in-tree module; the events
in each operation; and which goals are met. With --page, print the few tables that performance.rst has.
"""
import statistics
import sys
from collections import defaultdict
from pathlib import Path

NAMED = {"v2": "ours, v2", "v2p0": "no pages", "v2p2": "2 pages", "v2p4": "4 pages", "v2p8": "8 pages",
         "v2n": "without", "v1": "ours, v1", "tcp": "TCP", "intree": "in-tree"}
MODULES = tuple(NAMED)
TOLERANCE = 0.02  # by which a count may exceed its limit, as a fraction of the limit
NONE = 0.001  # fewer events than this in an operation count as none
RTT = 20e6  # ns; twice the delay in measure.sh


class Run:
    """Results of one module on one provider, in one version of the protocol."""

    def __init__(self, top, provider, module):
        self.module = module
        self.costs, self.counts, self.wires, self.memory = defaultdict(list), {}, {}, {}
        self.beside, self.ways, self.choices, self.receives = defaultdict(list), defaultdict(list), {}, []
        self.raw = {}           # counts: (how many, in how many operations)
        self.kernel = self.accepts = None
        self.whole = 0
        for kind in ("alone", "pair"):
            path = top / f"{provider}-{module}-{kind}" / "result"
            for line in path.read_text().splitlines() if path.exists() else ():
                self.line(*line.split())

    def line(self, what, *words):
        if what == "cost":
            op, size, procs, instr, _ = words
            self.costs[op, int(size), int(procs)].append(float(instr))
        elif what == "count":
            op, size, procs, name, value, n = words
            self.raw[op, int(size), int(procs), name] = int(value), int(n)
            self.counts[op, int(size), int(procs), name] = int(value) / int(n)
        elif what == "wire":
            op, size, instr, idle = words
            self.wires[op, int(size)] = float(instr) + float(idle)
        elif what == "memory" and words[0] == "accepts":
            self.accepts = int(words[1])
        elif what == "memory":
            self.memory[words[0]] = [int(w) for w in words[1:]]
        elif what == "beside":
            self.beside[int(words[0])].append((float(words[1]), float(words[2])))
        elif what == "way":
            op, size, rtt, instr, idle = words
            self.ways[op, int(size), int(rtt)].append(float(instr) + float(idle))
        elif what == "choice" and len(words) == 3:
            self.choices[int(words[0])] = int(words[1]), int(words[2])
        elif what == "busy":
            self.memory["busy"] = [int(w) for w in words]
        elif what == "receives":
            self.receives = [int(w) for w in words[1:]]
        elif what == "kernel":
            self.kernel = words[0]
        elif what == "end":
            self.whole += 1

    def cost(self, key):
        return statistics.median(self.costs[key]) if key in self.costs else None

    def spread(self, key):
        values = sorted(self.costs[key])
        return 100 * (values[-1] - values[0]) / statistics.median(values)

    def per_op(self, op, size, name, procs=1):
        count = self.counts.get((op, size, procs, name))
        if name == "ib_cq_poll_work" and count is not None:
            # Our module handles completions of Sends in a work function of its own. Add its runs.
            count += self.counts.get((op, size, procs, "rpcrdma_send_cq_work"), 0)
        return count

    def round_trips(self, key):
        plain = self.cost((*key, 1))
        return (self.wires[key] - plain) / RTT if key in self.wires and plain else None

    def kb_per_connection(self, side):
        if side not in self.memory:
            return None
        n, free, slab, vmalloc, free2, slab2, vmalloc2 = self.memory[side]
        return [(free - free2) / n, (slab2 - slab) / n, (vmalloc2 - vmalloc) / n]


def size_name(size):
    if not size:
        return ""
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


NAMES = {"getattr": "GETATTR", "first": "GETATTR, first 500", "read": "READ", "write": "WRITE", "bread": "READ buffered",
         "bwrite": "WRITE buffered", "readdir": "READDIR of 1000",
         "getattr3": "GETATTR of NFSv3", "read3": "READ of NFSv3", "write3": "WRITE of NFSv3"}


def point_name(op, size, procs=1):
    name = "READDIR of 20" if (op, size) == ("readdir", 20) else f"{NAMES[op]} {size_name(size)}".strip()
    return name + (f", {procs} processes" if procs > 1 else "")


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(a, b, digits=2):
    return "-" if a is None or not b else f"{a / b:.{digits}f}"


def table(title, head, rows):
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    rule = "  ".join("=" * w for w in widths)
    print(f"{title}:\n\n{rule}")
    for i, row in enumerate([head, *rows]):
        cells = [c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
        if i == 0:
            print(rule)
    print(f"{rule}\n")


def cost_table(provider, ours, intree):
    rows = []
    for key in intree.costs:
        if key[0] == "spin" or not all(key in r.costs for r in ours):
            continue
        b = intree.cost(key)
        rows.append([point_name(*key), *(number(r.cost(key) / 1000) for r in (*ours, intree)),
                     *(ratio(r.cost(key), b) for r in ours), f"{max(r.spread(key) for r in (*ours, intree)):.1f}%"])
    what = "client, server and NFS" if provider == "hca" else "client, server, NFS and provider\n"
    table(f"{provider}: thousands of instructions per operation ({what} "
          "together), median of the rounds, and the ratio to the in-tree module; spread is\n"
          "(largest - smallest) / median of the rounds, for the module where that is largest",
          ["operation", *(NAMED[r.module] for r in (*ours, intree)), *("ratio " + r.module for r in ours), "spread"],
          rows)


COUNTED = [("getattr", 0), ("read", 4096), ("write", 4096), ("read", 65536), ("write", 65536),
           ("read", 1 << 20), ("write", 1 << 20), ("bread", 1 << 20), ("bwrite", 1 << 20), ("readdir", 0)]
COUNTED_TOO = [("read", 8192), ("write", 8192), ("read", 16384), ("write", 16384), ("read", 524288),
               ("write", 524288), ("bread", 4096), ("bwrite", 4096), ("bread", 65536), ("bwrite", 65536)]
COUNTED_MANY = [("getattr", 0), ("read", 4096), ("write", 4096), ("read", 65536), ("write", 65536)]
COUNTERS = [
    ("RPCs", "svc_process"),
    ("client: Sends", "client_send"), ("client: registrations", "client_reg_mr"),
    ("client: local invalidations", "client_local_inv"), ("client: doorbells", "client_doorbells"),
    ("client: SGEs", "client_sges"), ("client: signaled", "client_signaled"),
    ("client: send completions", "client_send_completions"),
    ("client: Receive doorbells", "client_recv_doorbells"),
    ("server: RDMA Reads", "server_rdma_read"), ("server: RDMA Writes", "server_rdma_write"),
    ("server: registrations", "server_reg_mr"), ("server: local invalidations", "server_local_inv"),
    ("server: Sends", "server_send"), ("server: Sends, invalidating", "server_send_inv"),
    ("server: doorbells", "server_doorbells"), ("server: SGEs", "server_sges"),
    ("server: send completions", "server_send_completions"),
    ("server: Receive doorbells", "server_recv_doorbells"),
    ("server: nfsd dispatches", "svc_rdma_recvfrom"), ("server: nfsd wake-ups", "svc_recv"),
    ("CQ work runs", "ib_cq_poll_work"), ("kworker runs", "works"),
    ("context switches", "switches"), ("allocations of objects", "kmallocs"),
    ("  of these, by the module", "kmallocs_module"), ("pages allocated", "pages"),
    ("  of these, by nfsd", "pages_nfsd"),
    ("interrupts", "interrupts"), ("DMA mappings", "mappings"),
]


def count_table(provider, ours, intree, points, title="counts per operation", procs=1, counters=None):
    runs = (*ours, intree)
    rows = []
    for counter, name in counters or COUNTERS:
        if not any(key[3] == name for r in runs for key in r.counts):
            continue
        row = [counter.strip()] if counters else [counter]
        for op, size in points:
            values = [r.per_op(op, size, name, procs) for r in runs]
            most = max(v or 0 for v in values)
            digits = 0 if most >= 100 else 1 if most >= 10 else 2
            row.append("/".join(number(v, digits) for v in values) if most else "0")
        rows.append(row)
    head = [{"bread": "READ b.", "bwrite": "WRITE b."}.get(op, NAMES[op].split()[0]) + " " + size_name(size)
            for op, size in points]
    table(f"{provider}: {title}: {' / '.join(NAMED[r.module] for r in runs)} (b. = buffered)",
          ["per operation", *(h.strip() for h in head)], rows)


def wire_table(provider, ours, intree):
    runs = (*ours, intree)
    rows = [[point_name(*key), *(number(r.round_trips(key), 2) for r in runs)] for key in intree.wires]
    table(f"{provider}: round trips of an operation (RTT {RTT / 1e6:.0f} ms by netem)",
          ["operation", *(NAMED[r.module] for r in runs)], rows)


def memory_table(provider, ours, intree):
    runs = (*ours, intree)
    rows = []
    for side in ("server", "client"):
        values = [r.kb_per_connection(side) for r in runs]
        if not all(values):
            continue
        for i, part in enumerate(("", ", of it slab", ", of it vmalloc")):
            rows.append([side + part, *(number(v[i]) for v in values),
                         *(ratio(v[i], values[-1][i]) for v in values[:-1])])
    if rows:
        table(f"{provider}: kilobytes of memory for one of 64 idle connections, provider included",
              ["side", *(NAMED[r.module] for r in runs), *("ratio " + r.module for r in ours)], rows)


def goals(provider, ours, intree, tcp=None):
    """Yield (goal, value, met)."""
    def worst(title, keys, limit, than=intree):
        found = [(ours.cost(k) / than.cost(k), k) for k in keys if k in ours.costs and k in than.costs]
        if found:
            value, key = max(found)
            over = sum(v > limit for v, _ in found)
            yield (f"{title} <= {limit:.2f}", f"worst {value:.2f} ({point_name(*key)}), {over} of {len(found)} over",
                   value <= limit)

    def at_most(title, value, limit):
        if value is not None:
            # The guest also counts a few events just before and after the measured operations. So a
            # limit of 0 is met if there are at most NONE events per operation.
            met = value <= limit * (1 + TOLERANCE) if limit else value <= NONE
            yield f"{title} <= {limit:g}", f"{value:.3f}", met

    def batched(title, counted, size):
        # Few operations are counted, and a batch that began before the first of them may end among
        # them. So the number of batches that is allowed is rounded up.
        if counted:
            count, n = counted
            yield f"{title} <= 1 in {size}", f"{count} in {n}", count <= -(-n // size)

    points = [k for k in ours.costs if k[0] != "spin"]
    if provider == "hca":
        plain = [(op, size, 1) for op in ("read", "write") for size in (4096, 8192)]
        yield from worst("every ratio", points, 0.95)
        yield from worst("GETATTR", [k for k in points if k[0] in ("getattr", "getattr3")], 0.80)
        yield from worst("first 500 GETATTRs of a connection", [k for k in points if k[0] == "first"], 0.92)
        yield from worst("READ and WRITE of 4K to 8K", plain, 0.70)
        yield from worst("READ of 64K and 1M", [("read", 65536, 1), ("read", 1 << 20, 1)], 0.60)
        if tcp:
            yield from worst("from 4K on, less than TCP:", [k for k in points if k[1] >= 4096], 1.00, tcp)
        return
    yield from worst("every ratio", points, 1.00)
    small = [k for k in points if k[0] in ("read", "write", "bread", "bwrite") and 0 < k[1] <= 16384]
    yield from worst("READ and WRITE to 16K", small, 0.90)
    if provider == "siw":
        yield from worst("READ 1M", [("read", 1 << 20, 1)], 0.70)
    if ours.module.startswith("v2"):
        if provider == "siw":
            yield from worst("READ and WRITE of 4K to 8K", [k for k in small if k[1] <= 8192], 0.80)
        for size in (4096, 8192, 12288):
            yield from at_most(f"round trips, WRITE {size_name(size)}", ours.round_trips(("write", size)), 1.1)
    for op in ("read", "write"):
        yield from at_most(f"registrations, {NAMES[op]} 1M", ours.per_op(op, 1 << 20, "client_reg_mr"), 1)
        yield from at_most(f"local invalidations, {NAMES[op]} 1M", ours.per_op(op, 1 << 20, "client_local_inv"), 0)
    yield from at_most("RDMA Writes, READ 1M", ours.per_op("read", 1 << 20, "server_rdma_write"), 9)
    yield from at_most("RDMA Reads, WRITE 1M", ours.per_op("write", 1 << 20, "server_rdma_read"), 9)
    for op, size, limit in (("getattr", 0, 1), ("read", 4096, 1), ("read", 1 << 20, 1),
                            ("write", 4096, 2), ("write", 1 << 20, 2)):
        yield from at_most(f"nfsd dispatches, {point_name(op, size)}",
                           ours.per_op(op, size, "svc_rdma_recvfrom"), limit)
    for op, size in COUNTED:
        if op != "readdir":
            yield from batched(f"signaled work requests of the client, {point_name(op, size)}",
                               ours.raw.get((op, size, 1, "client_signaled")), 16)
    a, b = ours.kb_per_connection("server"), intree.kb_per_connection("server")
    if a and b:
        yield "server memory of an idle connection, ratio <= 0.10", f"{a[0] / b[0]:.2f}", a[0] <= 0.10 * b[0]


PAGE_POINTS = [("getattr", 0), ("read", 4096), ("write", 4096), ("read", 65536), ("write", 65536),
               ("read", 1 << 20), ("write", 1 << 20)]
PAGE_COUNTERS = ("client_reg_mr", "client_send_completions", "server_rdma_read", "server_rdma_write",
                 "server_send_completions", "svc_recv", "switches", "client_doorbells", "server_doorbells", "interrupts",
                 "mappings")
PAGE_SIZES = {"getattr": (0,), "first": (0,), "read": (4096, 65536, 1 << 20), "write": (4096, 65536, 1 << 20),
              "bread": (4096, 65536, 1 << 20), "bwrite": (4096, 65536, 1 << 20), "readdir": (0,)}


def rdma(runs):
    return [r for r in runs if r.module != "tcp"]


def tcp_of(runs):
    return next((r for r in runs if r.module == "tcp"), None)


def page(found):
    """The tables of performance.rst; found is {provider: (runs of our module, run of the in-tree module)}"""
    first = next(iter(found.values()))
    ours = [r.module for r in rdma(first[0])]
    keys = [k for k in first[1].costs if k[1] in PAGE_SIZES.get(k[0], ()) and (k[1] <= 4096 or k[2] == 1)]
    rows = [[point_name(*key), *(cell for runs, intree in found.values() for cell in (
        number(intree.cost(key) and intree.cost(key) / 1000), *(ratio(r.cost(key), intree.cost(key)) for r in runs)))]
        for key in keys if all(key in r.costs for runs, intree in found.values() for r in (*runs, intree))]
    table("Thousands of instructions per operation of the in-tree module (client, server, NFS, and provider unless it is\n"
          f"hca), and the ratios of ours, {' and '.join(ours)}, and of NFS over TCP",
          ["operation", *(w for p, (runs, _) in found.items() for w in (p, *(r.module for r in runs)))], rows)
    for provider, (runs, intree) in found.items():
        if provider == "hca":
            count_table(provider, rdma(runs), intree, PAGE_POINTS,
                        counters=[c for c in COUNTERS if c[1] in PAGE_COUNTERS])
    rows = []
    for side in ("server", "client"):
        for provider, (runs, intree) in found.items():
            values = [r.kb_per_connection(side) for r in (*runs, intree)]
            if all(values):
                rows.append([f"{provider}, {side}", *(number(v[0]) for v in values),
                             *(ratio(v[0], values[-1][0]) for v in values[:-1])])
    if rows:
        table("Kilobytes of memory for one of 64 idle connections, provider included",
              ["", *(NAMED[m] for m in ours), "in-tree", *("ratio " + m for m in ours)], rows)
    missed = [[f"{provider}, {run.module}", goal, value] for provider, (runs, intree) in found.items() for run in rdma(runs)
              for goal, value, met in goals(provider, run, intree, tcp_of(runs)) if not met]
    table("Goals that are missed", ["", "goal", "found"], missed or [["none", "", ""]])


def main():
    top = Path(sys.argv[1])
    providers = [p for p in ("siw", "rxe", "hca") if any(top.glob(f"{p}-*"))]
    shown = {}
    for provider in providers:
        *ours, intree = [Run(top, provider, m) for m in MODULES]
        ours = [r for r in ours if r.costs]
        if not ours or not intree.costs:
            print(f"{provider}: a guest found nothing\n")
            continue
        if "--page" in sys.argv:
            shown[provider] = ours, intree
            continue
        title = f"{provider}, Linux {intree.kernel}"
        print(f"{title}\n{'-' * len(title)}\n")
        cost_table(provider, ours, intree)
        tcp, ours = tcp_of(ours), rdma(ours)
        count_table(provider, ours, intree, COUNTED)
        count_table(provider, ours, intree, COUNTED_TOO, "counts per operation, more sizes")
        count_table(provider, ours, intree, COUNTED_MANY, "counts per operation, with 16 processes", 16)
        # rxe delivers packets to its own address without a network, and hca has none
        if provider == "siw":
            wire_table(provider, ours, intree)
        memory_table(provider, ours, intree)
        for run in ours:
            table(f"{provider}: goals, {'version ' if len(run.module) == 2 else ''}{run.module[1:]}", ["goal", "found", "met"],
                  [[g, v, "yes" if met else "NO"] for g, v, met in goals(provider, run, intree, tcp)])
    if shown:
        page(shown)


if __name__ == "__main__":
    main()
