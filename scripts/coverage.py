#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find the evidence for each requirement: a test that names it, or a reason why there is none.

usage: coverage.py [--verify | --list | --conformance [GROUP]]

Tests in kunit and scripts/{tests,fuzz} name requirements in "Covers:" comments. Requirements that
no test here can check are in scripts/coverage.reasons, as "ID  reason". A requirement that only
repeats others is there as "ID = ID ID ...". The requirements are in scripts/coverage.ids, their
groups in scripts/coverage.groups, and decisions (G-nn, T-nn) in Documentation/decisions.rst. Rules
of the round-trip extension are also in Documentation/rtx.rst, which is its specification.

Prints a line for each group, and the requirements without evidence; --list adds the evidence of each
requirement. --conformance prints all groups as reStructuredText, or only one (V1-RDC, or the number of a requirement
in it): what is implemented, and where; what tests it; and the requirements themselves. --verify prints only errors:
names that do not exist, requirements with both a test and a reason, requirements without either in groups that must
be complete, and citations that a reader cannot look up.
"""
import collections
import os
import re
import sys
import textwrap

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REASONS, IDS, ABOUT = "scripts/coverage.reasons", "scripts/coverage.ids", "scripts/coverage.groups"
DECISIONS, EXTENSION = "Documentation/decisions.rst", "Documentation/rtx.rst"
ID = re.compile(r"\b(?:V1-[A-Z]{3}|V2-[A-Z]{2,3}|MEM|ULB|RPB|BC|RTX|EXP|G|T)-\d+\b")
# IDs that code may cite: decisions, and the rules in rtx.rst, which are numbered from RTX-31 on
CITABLE = re.compile(r"[GT]-|RTX-(?!0|[12]\d$|30$)")
# Groups in which each requirement must have evidence
COMPLETE = ("V1-", "V2-", "MEM-", "ULB-", "RPB-", "BC-", "RTX-", "EXP-", "G-")

Requirement = collections.namedtuple("Requirement", "level role source text")


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8", errors="replace") as f:
        return f.read()


def requirements():
    """{ID: Requirement}: coverage.ids, and the decisions"""
    known = {}
    for no, line in enumerate(read(IDS).splitlines(), 1):
        if line and not line.startswith("#"):
            fields = [part.strip() for part in line.split(" | ", 4)]
            if len(fields) != 5 or not ID.fullmatch(fields[0]) or fields[0] in known:
                sys.exit(f"{IDS}:{no}: not a requirement, or a second time: {line}")
            known[fields[0]] = Requirement(*fields[1:])
    for key, title in re.findall(r"(?m)^\*\*([GT]-\d\d)\. ([^*]*)\*\*", read(DECISIONS)):
        known[key] = Requirement("", "", "", title.replace("\n", " ").rstrip("."))
    return known


def names():
    """{ID: "MUST" or an empty string}"""
    return {key: "MUST" if r.level.startswith("MUST") else "" for key, r in requirements().items()}


def ranges(found):
    """1 2 3 7 -> 1-3 7"""
    runs = []
    for n in sorted(found):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(f"{a}-{b}" if a != b else str(a) for a, b in runs)


COMMENT = re.compile(r"\s*(#|//|/?\*|$)")
TEST = re.compile(r"""[\w ]*case_[\w-]+\(\)|\s*(@\w|def |class |static |const |void |struct |\w+\(\) *\{|TARGET)|\s+\S""")
adrift = []


def stands_at_a_test(rest):
    """Does the comment belong to a function, to a table of cases, or to something inside one?"""
    for line in rest:
        if not COMMENT.match(line):
            return bool(TEST.match(line))
    return False


def tests():
    """{ID: tests that name it}. "Covers:" comments that belong to no test are added to adrift."""
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
    """({ID: reason}, {ID: other IDs with the same meaning}, lines that are neither)"""
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


def citations(known):
    """Citations that a reader cannot look up. Code cites published documents, decisions and rules of rtx.rst.
    Only tests and documents name other requirements.
    """
    wrong = []
    loose = re.compile(r"\b(?:V1|V2)-[A-Z]{2,3}\b|\b[Rr]equirements? (?:section )?[A-Z]\b|\bB\.\d")
    for top in ("net", "include", "kunit", "scripts", "Documentation", "README"):
        code = top in ("net", "include")
        for path in files(top):
            for no, line in enumerate(read(path).splitlines(), 1):
                where = f"{path}:{no}"
                for key in ID.findall(line):
                    if code and not CITABLE.match(key):
                        wrong.append(f"{where}: {key}: in code, cite the document's section, or a decision")
                    elif key not in known:
                        wrong.append(f"{where}: there is no requirement or decision {key}")
                    line = line.replace(key, "")
                if code and loose.search(line):
                    wrong.append(f"{where}: {loose.search(line).group()}: what is not in the repository cannot be cited")
    return wrong


def extension(known):
    """Differences between the rules in the specification of the extension and in coverage.ids"""
    said = {key: (level, role) for key, level, role in
            re.findall(r"\*\*(RTX-\d+)\*\* \(([^,)]*), ([^)]*)\)\.", read(EXTENSION))}
    here = {key: (r.level, r.role) for key, r in known.items() if key.startswith("RTX-") and CITABLE.match(key)}
    return [f"{EXTENSION} and {IDS} differ: {key}" for key in sorted({*said, *here}) if said.get(key) != here.get(key)]


def files(top):
    """The paths of the text files in a folder of the repository, or of a single file. The folder
    selftest is left out, because its tests use requirements and files that do not exist."""
    if os.path.isfile(os.path.join(TOP, top)):
        yield top
    for base, folders, found in os.walk(os.path.join(TOP, top)):
        folders[:] = [f for f in folders if f not in ("__pycache__", "corpus", "selftest")]
        for name in sorted(found):
            path = os.path.relpath(os.path.join(base, name), TOP)
            if name.endswith((".c", ".h", ".py", ".sh", ".rst", ".list", ".ids", ".reasons", ".groups")):
                yield path


def about():
    """{group: (title, documents, description, implemented parts)}, and errors in coverage.groups"""
    groups, wrong = {}, []
    for part in re.sub(r"(?m)^#.*\n", "", read(ABOUT)).strip().split("\n\n"):
        m = re.fullmatch(r"(\S+) (.*)\nfrom (.*)\n((?:.|\n)*)\nhere ((?:.|\n)*)", part)
        if not m:
            sys.exit(f"{ABOUT}: not a group: {part}")
        groups[m.group(1)] = m.groups()[1:]
        wrong += [f"{ABOUT}: {m.group(1)}: there is no {name}"
                  for name in re.findall(r"``((?:net|include)/[^`]*)``", m.group(5))
                  if not os.path.exists(os.path.join(TOP, name))]
    return groups, wrong


def literal(text):
    """Escape a text for reStructuredText."""
    return re.sub(r"([*`|\\]|_(?=\W|$))", r"\\\1", text)


def wrapped(text, width, **how):
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, **how)


def table(rows, widths):
    """A simple table whose last column is as wide as the page allows"""
    rows = list(rows)
    widths = [max([w, *(len(word) for row in rows for word in wrapped(row[n], w))]) for n, w in enumerate(widths)]
    border = "  ".join("=" * w for w in widths)
    yield border
    for row in rows:
        cells = [wrapped(cell, w) or [""] for cell, w in zip(row, widths)]
        for n in range(max(map(len, cells))):
            yield "  ".join((c[n] if n < len(c) else "").ljust(w) for c, w in zip(cells, widths)).rstrip()
    yield border


def heading(text, line):
    return [text, line * len(text), ""]


def conformance(known, found, excused, same, only):
    """The page of all groups, or of one, in reStructuredText"""
    wanted = {only, only.rsplit("-", 1)[0]}
    groups = {group: text for group, text in about()[0].items() if not only or group in wanted}
    out = []
    for group, (title, documents, what, here) in groups.items():
        keys = [k for k in known if k.rsplit("-", 1)[0] == group]
        number = {k: k.rsplit("-", 1)[1] for k in keys}
        by_file = collections.defaultdict(set)
        for k in keys:
            for place in found.get(k, ()):
                by_file[os.path.basename(place.split(":")[0])].add(int(number[k]))
        out += ["", *heading(f"{group}: {title}", "=")]
        out += [*wrapped(f"{what} From {documents}.".replace("\n", " "), 88), ""]
        out += [*wrapped(f"*Implemented:* {here}".replace("\n", " "), 88), ""]
        out += wrapped("*Tested by:* " + ("; ".join(f"{name} ({ranges(n)})" for name, n in sorted(by_file.items())) or
                                          "nothing") + ".", 88)
        out += [""]
        without = [(f"{number[k]}:", "as " + " ".join(same[k]) if k in same else excused[k]) for k in keys
                   if k in same or k in excused]
        if without:
            out += ["*Without a test of its own:*", ""]
            for no, why in without:
                out += wrapped(f"- {no} {literal(why)}", 88, subsequent_indent="  ")
            out += [""]
        out += [*table([(k, known[k].level, literal(known[k].source), literal(known[k].text)) for k in keys],
                       (9, 10, 22, 53)), ""]
    if only and not wanted & {"G", "T"}:
        return "\n".join(line.rstrip() for line in out[1:]) or sys.exit(f"there is no group {only}")
    out += ["", *heading("G: Decisions", "="), *wrapped("Questions that the documents leave open, or answer in "
                                                         "different ways; decisions.rst has our answers and the reasons. "
                                                         "Decisions T-nn are about the round-trip extension, and the tests of "
                                                         "the group RTX cover them.", 88), ""]
    keys = sorted(k for k in known if k[:2] in ("G-", "T-"))

    def shown(k):
        if k in same:
            return "as " + " ".join(same[k])
        return excused.get(k) or ", ".join(sorted({os.path.basename(p.split(":")[0]) for p in found.get(k, ())})) or "-"
    out += table([(k, literal(known[k].text), literal(shown(k))) for k in keys], (4, 42, 52))
    return "\n".join(line.rstrip() for line in out[1:])


def main():
    verify, listing = "--verify" in sys.argv, "--list" in sys.argv
    known = requirements()
    found = tests()
    excused, same, wrong = reasons()
    if "--conformance" in sys.argv:
        print(conformance(known, found, excused, same, "".join(sys.argv[2:])))
        return
    wrong += adrift + citations(known) + extension(known)
    groups_known, wrong_groups = about()
    wrong += wrong_groups
    for group in sorted({k.rsplit("-", 1)[0] for k in known} ^ ({*groups_known} | {"G", "T"})):
        if group != "T":
            wrong.append(f"{ABOUT} and {IDS} do not have the same groups: {group}")

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
        """Does the requirement have no evidence, although it is in a group that must be complete? A requirement that
        only repeats others has their evidence."""
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
        missing = [k + ("!" if known[k].level.startswith("MUST") else "") for k in keys if status(k) == "missing"]
        if missing:
            print("  missing: " + " ".join(missing))
    print(f"{sums['tested']} tested, {sums['excused']} excused, {sums['missing']} missing of {len(known)}"
          " (! marks a MUST)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
