#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make what follows from the list of counters: the descriptions in rpcrdma-stats, and the Grafana dashboard.

usage: counters.py --redraw    write both
       counters.py --check     fail if one of them is not up to date, or if the picture of the dashboard shows counters or
                               panels that do not exist (make check does this)

The names are those of include/rpcrdma/counters.h. Their descriptions, and the sections that become the rows of the
dashboard, are those of Documentation/admin.rst (Counters). So nothing has to be written twice.
"""
import json
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDE = f"{TOP}/Documentation/admin.rst"
LIST = f"{TOP}/include/rpcrdma/counters.h"
STATS = f"{TOP}/scripts/package/rpcrdma-stats"
DASHBOARD = f"{TOP}/Documentation/grafana.json"
PICTURE = f"{TOP}/Documentation/grafana.svg"
BEGIN, END = "# --- made by counters.py ---\n", "# --- end of what counters.py made ---\n"


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def names():
    return re.findall(r"^\tX\((\w+)\)", text(LIST), re.M)


def sections():
    """[(title, {counter: description})], as in the guide"""
    part = re.search(r"^Counters\n=+\n(.*?)^How to read them\n-+\n", text(GUIDE), re.M | re.S).group(1)
    found, last = [], None
    lines = part.splitlines()
    for line, below in zip(lines, lines[1:] + [""]):
        if re.fullmatch(r"-{4,}", below):
            found.append((line, {}))
            continue
        row = re.match(r"([a-z]\w*) {2,}(\S.*)$", line)
        if row:
            last = row.group(1)
            found[-1][1][last] = row.group(2)
        elif last and re.match(r" {10,}\S", line):
            found[-1][1][last] += " " + line.strip()
        else:
            last = None
    return found


def descriptions():
    rows = {name: words for _, table in sections() for name, words in table.items()}
    # A link to a section of the guide
    rows = {name: re.sub(r"see (\w+)_(?!\w)", r"see \1 in admin.rst", words) for name, words in rows.items()}
    return "".join(f"{name} {rows[name]}\n" for name in names())


def stats():
    before, rest = text(STATS).split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}descriptions() {{\n\tcat <<'END'\n{descriptions()}END\n}}\n{END}{after}"


def metric(name):
    """The name of a counter in Prometheus. rpcrdma-stats makes the same name."""
    return f"rpcrdma_{name}_total"


def rate(name):
    return f'rate({metric(name)}{{instance=~"$instance"}}[$__rate_interval])'


def panel(number, title, unit, queries, at, kind="timeseries"):
    """One panel, a half of the page wide. @queries: [(expression, legend)]"""
    return {
        "id": number, "type": kind, "title": title,
        "gridPos": {"h": 8, "w": 12, "x": 12 * (at % 2), "y": 8 * (at // 2)},
        "datasource": {"type": "prometheus", "uid": "$datasource"},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": f"{chr(65 + i // 26)}{chr(65 + i % 26)}", "expr": expr, "legendFormat": legend}
                    for i, (expr, legend) in enumerate(queries)],
    }


def panels():
    """[(title, unit, [(expression, legend)], [metrics that the panel shows])]"""
    made = [
        ("Connections", "short",
         [('rpcrdma_connections{instance=~"$instance"}', "{{instance}} {{side}} {{state}} v{{version}}")],
         ["rpcrdma_connections"]),
        ("Memory of Receives", "bytes",
         [('rpcrdma_receives_bytes{instance=~"$instance"}', "{{instance}} {{side}}")], ["rpcrdma_receives_bytes"]),
        ("Client: credits", "short",
         [(f'rpcrdma_client_credits_{what}{{instance=~"$instance"}}', f"{{{{instance}}}} {what}")
          for what in ("granted", "in_flight")],
         ["rpcrdma_client_credits_granted", "rpcrdma_client_credits_in_flight"]),
        ("Server: credits", "short",
         [('rpcrdma_server_credits_granted{instance=~"$instance"}', "{{instance}} granted")],
         ["rpcrdma_server_credits_granted"]),
    ]
    for title, table in sections():
        for unit, chosen in (("Bps", [n for n in table if n.endswith("_bytes")]),
                             ("ops", [n for n in table if not n.endswith("_bytes")])):
            if chosen:
                made.append((title + (": bytes" if unit == "Bps" else ""), unit,
                             [(rate(n), "{{instance}} " + n) for n in chosen], [metric(n) for n in chosen]))
    return made


def dashboard():
    def variable(name, kind, query):
        return {"name": name, "label": name, "type": kind, "query": query, "refresh": 2, "includeAll": kind == "query",
                "multi": kind == "query"}
    instances = variable("instance", "query", "label_values(rpcrdma_loaded, instance)")
    instances["datasource"] = {"type": "prometheus", "uid": "$datasource"}
    return json.dumps({
        "title": "RPC over RDMA", "uid": "rpcrdma", "schemaVersion": 39, "tags": ["nfs", "rdma"], "editable": True,
        "refresh": "30s", "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [variable("datasource", "datasource", "prometheus"), instances]},
        "panels": [panel(i + 1, title, unit, queries, i) for i, (title, unit, queries, _) in enumerate(panels())],
    }, indent=1) + "\n"


def drawn():
    """The titles and the counters in the picture of the dashboard"""
    picture = text(PICTURE)
    return set(re.findall(r'font-weight="bold">([^<]*)<', picture)) | set(re.findall(r">([a-z]+(?:_[a-z]+)+)<", picture))


def main():
    described = {name for _, table in sections() for name in table}
    if set(names()) != described:
        sys.exit(f"counters.py: only in {os.path.basename(LIST)} or only in admin.rst: "
                 f"{' '.join(sorted(set(names()) ^ described))}")
    made = {STATS: stats(), DASHBOARD: dashboard()}
    for path, want in made.items():
        if sys.argv[1:] == ["--redraw"]:
            with open(path, "w", encoding="utf-8") as f:
                f.write(want)
        elif not os.path.exists(path) or text(path) != want:
            sys.exit(f"{os.path.relpath(path, TOP)} is not up to date: scripts/package/counters.py --redraw")
    gone = drawn() - {title for title, *_ in panels()} - {
        re.sub(r"^rpcrdma_|_total$", "", metric) for *_, metrics in panels() for metric in metrics}
    if gone:
        sys.exit(f"grafana.svg shows what no longer exists: {', '.join(sorted(gone))} (draw it again: picture.py)")


if __name__ == "__main__":
    if sys.argv[1:] not in (["--redraw"], ["--check"]):
        sys.exit(__doc__)
    main()
