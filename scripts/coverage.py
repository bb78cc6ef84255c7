#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What evidence there is for each requirement: a test that names it, or a stated reason.

usage: coverage.py [--verify | --list | --ids] [REQUIREMENTS.md]

Tests name requirements in "Covers:" comments, in kunit and scripts/{tests,fuzz}. What no test here
can show is in scripts/coverage.reasons, as "ID  reason"; a requirement that only says again
what others say, as "ID = ID ID ...". The requirements are those of $RPCRDMA_REQUIREMENTS, or
of shared/spec/requirements.md beside the repository; without these, only their names are known,
from scripts/coverage.ids, which has to agree with them and which --ids prints.

Prints a line for each group, and what is missing; --list adds each ID's evidence. --verify
prints only what is wrong: names that do not exist, requirements both tested and excused,
missing ones in the groups that are complete, and lists that disagree.
"""
import collections
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REASONS, IDS = "scripts/coverage.reasons", "scripts/coverage.ids"
ID = re.compile(r"\b(?:V1-[A-Z]{3}|V2-[A-Z]{2,3}|MEM|ULB|RPB|BC|RTX|EXP|G)-\d+\b")
# Groups in which nothing may be missing any longer
COMPLETE = ("V1-", "V2-", "MEM-", "ULB-", "RPB-", "BC-", "EXP-", "G-")


def requirements(path):
    """{ID: level}: the tables of section A, and the headings of section D."""
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r"\| (" + ID.pattern + r") \| ([^|]*)\|", line) or re.match(r"\*\*(G-\d+)( )", line)
                if m:
                    known[m.group(1)] = m.group(2).strip()
    return known


def numbers(text):
    """1-3 7 -> 1 2 3 7"""
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def ranges(found):
    """1 2 3 7 -> 1-3 7"""
    runs = []
    for n in sorted(found):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(f"{a}-{b}" if a != b else str(a) for a, b in runs)


def names():
    """{ID: MUST or nothing}, from scripts/coverage.ids"""
    known = {}
    with open(os.path.join(TOP, IDS), encoding="utf-8") as f:
        for line in f:
            m = re.fullmatch(r"([A-Z0-9-]+) ([\d -]+?)(?: must: ([\d -]+))?\n", line)
            if m:
                musts = set(numbers(m.group(3) or ""))
                known.update({f"{m.group(1)}-{n:02}": "MUST" if n in musts else "" for n in numbers(m.group(2))})
            elif line.strip() and not line.startswith("#"):
                sys.exit(f"{IDS}: not a group with its numbers: {line}")
    return known


def print_names(known):
    print("# SPDX-License-Identifier: GPL-2.0\n"
          "# The requirements by number, made by scripts/coverage.py --ids: a group's, and which of them are\n"
          "# a MUST or MUST NOT.")
    for group in dict.fromkeys(key.rsplit("-", 1)[0] for key in known):
        mine = {int(k.rsplit("-", 1)[1]): level for k, level in known.items() if k.rsplit("-", 1)[0] == group}
        musts = ranges(n for n, level in mine.items() if level.startswith("MUST"))
        print(f"{group} {ranges(mine)}" + (f" must: {musts}" if musts else ""))


COMMENT = re.compile(r"\s*(#|//|/?\*|$)")
TEST = re.compile(r"""[\w ]*case_[\w-]+\(\)|\s*(@\w|def |class |static |const |void |struct |\w+\(\) *\{|TARGET)|\s+\S""")
adrift = []


def stands_at_a_test(rest):
    """Does the comment belong to a function, a table of one, or what stands in one?"""
    for line in rest:
        if not COMMENT.match(line):
            return bool(TEST.match(line))
    return False


def tests():
    """{ID: places of tests that name it}; what stands at no test is added to adrift."""
    found = collections.defaultdict(list)
    for folder in ("scripts/tests", "scripts/fuzz", "kunit"):
        for base, _, names in os.walk(os.path.join(TOP, folder)):
            for name in sorted(names):
                if name.endswith((".pyc", ".ko", ".o")):
                    continue
                path = os.path.join(base, name)
                with open(path, encoding="utf-8", errors="replace") as f:
                    lines = f.read().splitlines()
                    for no, line in enumerate(lines, 1):
                        if "Covers:" in line:
                            if not stands_at_a_test(lines[no:]):
                                adrift.append(f"{os.path.relpath(path, TOP)}:{no}: \"Covers:\", and no test follows")
                                continue
                            for key in ID.findall(line.split("Covers:", 1)[1]):
                                found[key].append(f"{os.path.relpath(path, TOP)}:{no}")
    return found


def reasons():
    """({ID: reason}, {ID: IDs that say the same}, lines that are neither)"""
    excused, same, odd = {}, {}, []
    with open(os.path.join(TOP, REASONS), encoding="utf-8") as f:
        for no, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            m = re.fullmatch(r"(" + ID.pattern + r")(?: =((?: +" + ID.pattern + r")+)|  +(\S.*))", line)
            if not m or m.group(1) in excused or m.group(1) in same:
                odd.append(f"{REASONS}:{no}: not an ID with its reason, or a second time")
            elif m.group(2):
                same[m.group(1)] = m.group(2).split()
            else:
                excused[m.group(1)] = m.group(3)
    return excused, same, odd


def main():
    paths = [a for a in sys.argv[1:] if not a.startswith("-")]
    verify, listing = "--verify" in sys.argv, "--list" in sys.argv
    known = requirements(paths[0] if paths else os.environ.get(
        "RPCRDMA_REQUIREMENTS", os.path.join(TOP, "../shared/spec/requirements.md")))
    if "--ids" in sys.argv:
        return print_names(known)
    found = tests()
    excused, same, wrong = reasons()
    wrong += adrift
    listed = names()
    if known and listed != {k: "MUST" if level.startswith("MUST") else "" for k, level in known.items()}:
        wrong.append(f"{IDS} is not what the requirements say: make it again with --ids")
    known = known or listed

    named = set(found) | set(excused) | set(same) | {k for ids in same.values() for k in ids}
    for key in sorted(named - set(known)):
        wrong.append(f"{found[key][0] if key in found else REASONS}: there is no requirement {key}")
    for key in sorted(set(found) & (set(excused) | set(same))):
        wrong.append(f"{REASONS}: {key} has a test ({found[key][0]}): remove its line")

    def status(key):
        if key in same:
            parts = {status(k) for k in same[key]}
            return "missing" if "missing" in parts else "tested" if "tested" in parts else "excused"
        return "tested" if key in found else "excused" if key in excused else "missing"

    def evidence(key):
        if key in same:
            return "= " + " ".join(same[key])
        return excused.get(key) or ", ".join(sorted({p.split(":")[0] for p in found[key]})) or "-"

    def lacking(key):
        """Missing, in a group in which nothing may be. What only says again what others say waits for those."""
        return status(key) == "missing" and (any(lacking(k) for k in same[key]) if key in same else
                                             key.startswith(COMPLETE))

    groups = collections.defaultdict(list)
    for key in known:
        groups[key.rsplit("-", 1)[0]].append(key)
    wrong += [f"{key} has neither a test nor a reason" for key in known if lacking(key)]
    for line in wrong:
        print(line)
    if verify:
        sys.exit(1 if wrong else 0)

    sums = collections.Counter()
    for group, keys in groups.items():
        count = collections.Counter(status(k) for k in keys)
        sums += count
        print(f"{group}: {count['tested']} tested, {count['excused']} excused, {count['missing']} missing")
        for k in keys if listing else ():
            print(f"  {k}  {evidence(k)}")
        missing = [k + ("!" if known[k].startswith("MUST") else "") for k in keys if status(k) == "missing"]
        if missing:
            print("  missing: " + " ".join(missing))
    print(f"{sums['tested']} tested, {sums['excused']} excused, {sums['missing']} missing of {len(known)}"
          " (! marks a MUST)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
