#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report_locks.py DIRECTORY NET SOURCE [--page]

Read the results of make bench CPUS=N, and print tables in reStructuredText: how often an RPC takes each lock of the
transport, how often the lock comes from another processor, and how often it is contended, with our module and with the
in-tree module. NET has the sources of our module, SOURCE those of the kernel. A lock belongs to the folder whose code
initialises it. With --page, print only the table that performance.rst has.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
from report import NAMED, number, point_name, ratio, table      # noqa: E402

# Rows of the summary between the rows "transport" and "others", with folders of the kernel. A row
# counts the locks that the code in its folders initialises.
ROOMS = {"sunrpc": ["net/sunrpc"], "NFS and nfsd": ["fs/nfs", "fs/nfsd", "fs/nfs_common", "fs/lockd"],
         "RDMA core and provider": ["drivers/infiniband"]}
TRANSPORT = "transport"
GOAL = 0.001        # contentions of a lock of the transport per RPC, with 16 processes on 4 connections
INIT = re.compile(r"\b(?:spin_lock_init|mutex_init|rwlock_init|init_rwsem|init_waitqueue_head)\(([^;]*?)\);"
                  r"|\bDEFINE_(?:SPINLOCK|MUTEX|RWLOCK)\((\w+)\)"
                  r"|\blockdep_set_class\([^;]*,\s*(&\w+)\);")


def names(*folders):
    """Names of the lock classes that the code in these folders has, as lockdep makes them from the source"""
    found = set()
    for folder in folders:
        for path in Path(folder).rglob("*.[ch]"):
            for m in INIT.finditer(path.read_text(errors="replace")):
                found.add(re.sub(r"\s+", "", m[1] or m[2] or m[3]))
    return found


class Locks:
    """Results of one module on one provider. The key of a point is (connections, operation, size)."""

    def __init__(self, path, rooms):
        self.locks, self.sched, self.kernel = defaultdict(lambda: [0, 0, 0]), {}, None
        self.rooms = rooms
        for line in path.read_text().splitlines():
            what, *words = line.split(" ", 8)
            if what == "lock":
                n, op, size, count, *values, name = words
                # Remove what the kernel adds to the name: #2 if another class has the same name, /1
                # for a subclass, and -R or -W, which distinguish the lines of readers and writers.
                name = re.sub(r"(#\d+)?(/\d+)?(-[RW])?$", "", name)
                point = self.locks[(int(n), op, int(size)), name]
                for i, v in enumerate(values):
                    point[i] += int(v) / int(count)
            elif what == "sched":
                n, op, size, count, *values = " ".join(words).split()
                self.sched[int(n), op, int(size)] = [int(v) / int(count) for v in values]
            elif what == "kernel":
                self.kernel = words[0]

    def room(self, name):
        return next((r for r, known in self.rooms.items() if name in known), "others")

    def of_room(self, point, room):
        """[contended, from another processor, taken] per operation, of all locks of a room"""
        found = [v for (p, name), v in self.locks.items() if p == point and self.room(name) == room]
        return [sum(v[i] for v in found) for i in range(3)]

    def of_transport(self, point):
        return {name: v for (p, name), v in self.locks.items() if p == point and self.room(name) == TRANSPORT}


def lock_number(value):
    return number(value, 4 if value < 0.01 else 2)


def summary(provider, runs, connections):
    rows = []
    for point in [p for p in runs[0].sched if p[0] == connections]:
        for room in (TRANSPORT, *ROOMS, "others"):
            values = [r.of_room(point, room) for r in runs]
            rows.append([point_name(*point[1:]), room,
                         *("/".join(number(v[i], 3 if not i else 2) for v in values) for i in (2, 1, 0))])
    table(f"{provider}, {connections} connection{'s' * (connections > 1)}, 16 processes: locks per operation: "
          f"{' / '.join(NAMED[m] for m in MODULES)}",
          ["operation", "locks of", "taken", "from another CPU", "contended"], rows)


def each_lock(provider, module, run, connections):
    points = [p for p in run.sched if p[0] == connections]
    names_of = sorted({n for p in points for n, v in run.of_transport(p).items() if v[2] >= 0.01})
    rows = [[f"``{n}``", *("/".join(lock_number(x) for x in reversed(run.of_transport(p).get(n, [0, 0, 0])))
                           for p in points)] for n in names_of]
    if rows:
        table(f"{provider}, {connections} connections: locks of the transport, {NAMED[module]}: taken / from another "
              "CPU / contended, per operation", ["lock", *(point_name(*p[1:]) for p in points)], rows)


def scheduling(provider, runs):
    rows = []
    for point in runs[0].sched:
        values = [r.sched[point] for r in runs]
        remote = [v[0] - v[1] for v in values]
        rows.append([str(point[0]), point_name(*point[1:]),
                     "/".join(number(v[0], 2) for v in values), "/".join(number(v, 2) for v in remote),
                     "/".join(number(v[2], 2) for v in values), "/".join(number(v[3], 2) for v in values),
                     ratio(values[0][2], values[-1][2])])
    table(f"{provider}: scheduling, per operation: {' / '.join(NAMED[m] for m in MODULES)}",
          ["connections", "operation", "wake-ups", "on another CPU", "switches", "IPIs", "ratio"], rows)


def goals(provider, run):
    rows = []
    for point in [p for p in run.sched if p[0] == 4]:
        worst = max(((v[0], n) for n, v in run.of_transport(point).items()), default=(0, "none"))
        rows.append([point_name(*point[1:]), f"``{worst[1]}``", f"{worst[0]:.4f}", "yes" if worst[0] <= GOAL else "NO"])
    table(f"{provider}, 4 connections, 16 processes: most contended lock of our module (goal: at most {GOAL} per RPC)",
          ["operation", "lock", "contended", "met"], rows)


def page(found):
    """The table of performance.rst; found is {provider: runs}"""
    rows = []
    for provider, runs in found.items():
        for point in [p for p in runs[0].sched if p[0] == 4]:
            values = [r.of_room(point, TRANSPORT) for r in runs]
            worst = max(((v[0], n) for n, v in runs[0].of_transport(point).items()), default=(0, "none"))
            rows.append([f"{provider}: {point_name(*point[1:])}",
                         *("/".join(number(v[i], 4 if not i else 2) for v in values) for i in (2, 1, 0)),
                         f"``{worst[1]}``", number(worst[0], 4),
                         "/".join(number(r.sched[point][2], 2) for r in runs)])
    table("Locks of the transport and context switches per operation, with 4 connections and 16 processes: "
          f"{' / '.join(NAMED[m] for m in MODULES)};\nand our lock that is contended most",
          ["operation", "taken", "from another CPU", "contended", "most contended", "", "switches"], rows)


MODULES = ("v2", "intree")


def main():
    top, net, source = (Path(a) for a in sys.argv[1:4])
    shown = {}
    of_kernel = {room: names(*(source / f for f in folders)) for room, folders in ROOMS.items()}
    transport = {"v2": names(net), "intree": names(source / "net/sunrpc/xprtrdma")}
    for provider in ("siw", "rxe"):
        paths = [top / f"{provider}-{m}-alone" / "result" for m in MODULES]
        if not all(p.exists() for p in paths):
            if any(top.glob(f"{provider}-*")):
                print(f"{provider}: both {' and '.join(MODULES)} have to be measured\n")
            continue
        runs = [Locks(p, {TRANSPORT: transport[m], **of_kernel}) for m, p in zip(MODULES, paths)]
        if "--page" in sys.argv:
            shown[provider] = runs
            continue
        title = f"{provider}, Linux {runs[0].kernel}"
        print(f"{title}\n{'-' * len(title)}\n")
        for connections in (1, 4, 16):
            summary(provider, runs, connections)
        for m, run in zip(MODULES, runs):
            each_lock(provider, m, run, 4)
        scheduling(provider, runs)
        goals(provider, runs[0])
    if shown:
        page(shown)


if __name__ == "__main__":
    main()
