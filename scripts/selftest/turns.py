# SPDX-License-Identifier: GPL-2.0
"""usage: turns.py FILE

Print what make test-all runs and no turn of make test does. FILE has the output of "scripts/test --plan" for each turn
(0 to 7), for the choice f and for --all, each line with the turn, an f or the word all in front."""
import collections
import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../tests/analysers")
import expect       # noqa: E402, the module in another folder

# The groups that are not in the choice f: on 7.3-dma and on other processors they would be the only ones, p2p on 6.12, too,
# and soak has a command of its own.
NOT_FIXED = {"dma", "dma-swiotlb", "dma-iommu", "mixed", "p2p", "soak"}


def names(kernel, provider, group, pattern, every):
    """The cases of a group; a group on the host is one case. @every: no header excludes cases."""
    os.environ["ALL"] = "y" if every or pattern else ""
    if expect.headers(expect.group_text(group), "Guests") == ["none"]:
        return {group}
    found = expect.chosen(kernel, provider, group) + (list(expect.unit_tests()) if group == "kunit" else [])
    alternatives = re.sub(r"^@\((.*)\)$", r"\1", pattern or "*").split("|")
    return {name for name in found if any(fnmatch.fnmatchcase(name, one) for one in alternatives)}


def main():
    ran, wanted, groups, parts = collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set), set()
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            turn, item, *settings = line.split()
            kernel, provider, joined = item.split("/")
            pattern = next((word[6:] for word in settings if word.startswith("cases=")), "")
            for group in (part.partition(":")[0] for part in joined.split("+")):
                groups[turn].add(group)
                into = wanted if turn == "all" else ran
                if turn != "f":
                    into[group] |= names(kernel, provider, group, pattern, turn == "all")
                    into["kernels"].add(kernel)
                    into[f"{kernel}/{provider}/{group}"] |= names(kernel, provider, group, pattern, False)
                    if pattern and not re.search(r"arm64|ppc64el|s390x", kernel):
                        parts.add(f"{kernel}/{provider}/{group}")
    bad = [f"in no turn: {key}: {name}" for key in wanted if "/" not in key for name in sorted(wanted[key] - ran[key])]
    bad += [f"in no turn: of {key}: {name}" for key in parts for name in sorted(names(*key.split("/"), "", False) - ran[key])]
    known = {os.path.basename(path)[:-3] for path in expect.glob.glob(f"{expect.TESTS}/groups/*.sh")}
    bad += [f"not in the choice f: {group}" for group in sorted(known - groups["f"] - NOT_FIXED)]
    bad += [f"in no turn: {group}" for group in sorted(known - set(ran) - {"soak"})]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad) or not wanted


sys.exit(main())
