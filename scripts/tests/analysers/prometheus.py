#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check what rpcrdma-stats has printed.

usage: prometheus.py DIRECTORY VERSION CLIENTS SERVERS
The directory has N.before, N.prom, N.json and N.after for N = 1, 2, ...: the counters in debugfs, the two forms of
rpcrdma-stats, and the counters again. CLIENTS and SERVERS are the numbers of connections at the end.
"""
import json
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(\{{(?:{NAME}="(?:[^"\\\n]|\\[\\"n])*"(?:,|(?=\}})))*\}})? (\d+)$')


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def counters(path):
    return {name: int(value) for name, value in (line.split() for line in text(path).splitlines())}


def metrics(path):
    """{name with labels: value}. The format is that of Prometheus' documentation (Exposition formats), with its rules for
    names: the lines of a metric are together, after its HELP and TYPE, and only counters end in _total."""
    samples, kinds, helped, current = {}, {}, set(), None
    source = text(path)
    assert source.endswith("\n"), f"{path}: the last line has no end"
    for line in source.splitlines():
        comment = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line)
        if comment:
            what, name, rest = comment.groups()
            if what == "HELP":
                assert name not in helped, f"{path}: HELP twice: {line}"
                assert not re.search(r"\\(?![\\n])", rest), f"{path}: a lone backslash: {line}"
                helped.add(name)
            else:
                assert name == current and name not in kinds and rest in ("counter", "gauge"), f"{path}: {line}"
                kinds[name] = rest
            current = name
            continue
        sample = SAMPLE.match(line)
        assert sample, f"{path}: no line of Prometheus: {line}"
        name, labels, value = sample.groups()
        assert name == current and name in kinds, f"{path}: not below its TYPE: {line}"
        assert (kinds[name] == "counter") == name.endswith("_total"), f"{path}: a {kinds[name]} of this name: {line}"
        key = name + (labels or "")
        assert key not in samples, f"{path}: twice: {line}"
        samples[key] = int(value)
    assert set(kinds) == helped, f"{path}: HELP or TYPE alone: {set(kinds) ^ helped}"
    return samples


def compare(where, values, before, after):
    assert set(values) == set(before), f"{where}: {set(values) ^ set(before)}"
    for name, value in values.items():
        assert before[name] <= value <= after[name], f"{where}: {name} is {value}, not {before[name]} to {after[name]}"


def main():
    where, version, clients, servers = sys.argv[1:]
    number, moved, last = 1, 0, {}
    while True:
        path = f"{where}/{number}"
        try:
            before = counters(f"{path}.before")
        except FileNotFoundError:
            break
        after = counters(f"{path}.after")
        samples = metrics(f"{path}.prom")
        seen = json.loads(text(f"{path}.json"))
        totals = {re.sub(r"^rpcrdma_|_total$", "", name): value for name, value in samples.items()
                  if name.endswith("_total")}
        compare(f"{path}.prom", totals, before, after)
        compare(f"{path}.json", seen["counters"], before, after)
        moved += sum(1 for name in before if before[name] != last.get(name, before[name]))
        last = before
        number += 1
    assert number > 10 and moved > 100, f"{number - 1} readings, in which {moved} values have changed: too few"

    assert samples["rpcrdma_loaded"] == 1 and seen["loaded"] is True
    assert samples[f'rpcrdma_info{{version="{version}"}}'] == 1 and seen["version"] == version, "another version"
    for side, want in (("client", int(clients)), ("server", int(servers))):
        shown = [c for c in seen["connections"] if c["side"] == side]
        assert len(shown) == want, f"{len(shown)} connections of the {side} in JSON, not {want}"
        counted = sum(v for k, v in samples.items() if k.startswith(f'rpcrdma_connections{{side="{side}",state="up"'))
        assert counted == want, f"{counted} connections of the {side} that are up, not {want}"
        pinned = sum(c["receives_bytes"] for c in shown)
        assert samples[f'rpcrdma_receives_bytes{{side="{side}"}}'] == pinned > 0, f"not {pinned} bytes"
        assert all(c["version"] == 2 and c["state"] == "up" and c["name"].startswith(c["peer"]) for c in shown), shown
    print(f"{number - 1} readings, {len(samples)} values each, {moved} changes")


main()
