#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: expect.py KERNEL PROVIDER GROUP[+GROUP...]

Print the cases that a run of these groups must report, one a line, with the names that the guest
uses. The names come from the groups' files and from the suites in kunit/, and from expect.list if
other programs report the cases. ALL and LONG in the environment have the same meaning as in cases_of()
of cases.sh. A case with a "?" before its name may be reported or not. A guest does not use this program: it asks
bash which cases it has, see cases_of() in cases.sh.

       expect.py --check: find cases in the groups' files that this program does not find
       expect.py --untried DIRECTORY GROUP[+GROUP...]: after a run in that directory, print which cases of the programs
       hostile_*.py were not tried, though a case of the groups that has passed runs their set. A line is CASE NAME REASON,
       separated by tabs; without a reason, nothing was said of it.
"""
import fnmatch
import glob
import os
import re
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASE = re.compile(r"^case_([a-z0-9-]*)\(\)", re.M)
HOSTILE = re.compile(r'^@case\("([^"]+)", "([^"]+)"', re.M)


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def group_text(group):
    return text(f"{TESTS}/groups/{group}.sh")


def headers(source, name):
    return re.findall(rf"^# {name}: (.*)$", source, re.M)


def words(source, name):
    return " ".join(headers(source, name)).split()


def chosen(kernel, provider, group):
    """The cases that a run of @group includes"""
    source = group_text(group)
    names = CASE.findall(source)
    if os.environ.get("ALL") or os.environ.get("LONG"):
        return names
    for line in headers(source, "Cases"):
        where, *only = line.split()
        if where == f"{kernel}/{provider}":
            return [n for n in names if n in only]
    less = words(source, "Long") + (words(source, "Slow") if kernel != "7.3" else [])
    return [n for n in names if n not in less]


def unit_sources():
    """The text of each file with unit tests, with the headers of kunit/ that it includes"""
    for path in sorted(glob.glob(f"{TESTS}/../../kunit/*_kunit.c")):
        yield re.sub(r'(?m)^#include "(\w+\.h)"$', lambda m: text(f"{os.path.dirname(path)}/{m.group(1)}"), text(path))


def unit_tests():
    """suite.test for each test case in kunit/"""
    for source in unit_sources():
        suites = re.findall(r'struct kunit_suite \w+ = \{(.*?)\n\};', source, re.S)
        for suite in suites:
            name = re.search(r'\.name = "?(\w+)"?,', suite).group(1)
            macro = re.search(rf'#define {name}\s+"(\w+)"', source)
            name = macro.group(1) if macro else name
            table = re.search(r"\.test_cases = (\w+)", suite).group(1)
            body = re.search(rf"struct kunit_case {table}\[\] = \{{(.*?)\n\}};", source, re.S).group(1)
            for test in re.findall(r"KUNIT_CASE\w*\(\s*(\w+)", body):
                yield f"kunit/{name}.{test}"


def listed(kernel, provider, group):
    for line in text(f"{TESTS}/expect.list").splitlines():
        if line and not line.startswith("#"):
            where, name = line.split()
            if any(fnmatch.fnmatchcase(f"{kernel}/{provider}/{group}", one) for one in where.split("|")):
                yield from sorted({name.replace("{,2}", digit) for digit in ("", "2")})


def expected(kernel, provider, groups):
    found, source = [], ""
    for group in groups:
        source = group_text(group)
        if headers(source, "Guests") != ["none"]:
            found += chosen(kernel, provider, group)
        if group == "kunit":
            found += unit_tests()
        found += listed(kernel, provider, group)
    if groups == ["kunit"]:
        # If the group kunit has a guest of its own, it usually unloads the module. Then it does not
        # report these cases.
        found += ["?clean", "?leaks"]
    elif headers(source, "Guests") != ["none"]:
        found += ["clean", "leaks"]
    return found


def sets_run(group, case="[a-z0-9-]+"):
    """(program, set) of each hostile_<program>.py that this case of the group runs, or any case"""
    bodies = re.findall(rf"^case_{case}\(\) \{{(.*\}}|\n[\s\S]*?\n\}})$", group_text(group), re.M)
    return re.findall(r"\bhostile (\w+) ([a-z0-9-]+)", "\n".join(bodies))


def files_of(program):
    """hostile_<program>.py, and the programs of which it has the sets, too"""
    names = [f"hostile_{program}"]
    for name in names:
        names += {*re.findall(r"^(?:from|import) (hostile_\w+)", text(f"{TESTS}/peers/{name}.py"), re.M)} - {*names}
    return names


def written(program, which):
    """The names in the text of a set"""
    return [name for file in files_of(program) for of, name in HOSTILE.findall(text(f"{TESTS}/peers/{file}.py")) if of == which]


def registered():
    """{name of a program's file: {set: its cases}}, as Python has them"""
    sys.path.insert(0, f"{TESTS}/peers")
    sys.dont_write_bytecode = True
    import sets         # pylint: disable=import-outside-toplevel
    found = {}
    for path in sorted(glob.glob(f"{TESTS}/peers/hostile_*.py")):
        __import__(os.path.basename(path)[:-3])
    for which, cases in sets.SETS.items():
        for one in cases:
            found.setdefault(one.function.__module__, {}).setdefault(which, []).append(one)
    return found


def tried(group, case, kernel, provider):
    """The names of the cases that hostile_*.py tries in a case of the group"""
    known = registered()
    return [one.name for program, which in sets_run(group, case) for file in files_of(program)
            for one in known.get(file, {}).get(which, []) if not one.left_out(kernel, provider, version_of(program))]


def version_of(program):
    return 2 if re.search("v2|rtx", program) else 1


def untried(directory, groups):
    for path in glob.glob(f"{directory}/*.verdict"):
        for case in re.findall(r"^case ok (\S+)", text(path), re.M):
            runs = [run for group in groups for run in sets_run(group, case)]
            log = text(f"{path[:-8].replace(directory, directory + '/log')}/{case}.log") if runs else ""
            for name in [name for run in runs for name in written(*run)]:
                said = re.search(rf"^(ok|not ok|left out) {re.escape(name)}(?:: (.*))?$", log, re.M)
                if not said or said[1] == "left out":
                    print(case, name, said[2] if said else "", sep="\t")


def check_hostile():
    """Each @case of hostile_*.py is seen in the text, and some group tries it."""
    files = {os.path.basename(path)[:-3]: text(path) for path in glob.glob(f"{TESTS}/peers/hostile_*.py")}
    runs = {run for path in glob.glob(f"{TESTS}/groups/*.sh") for run in sets_run(os.path.basename(path)[:-3])}
    for file, cases in registered().items():
        seen = HOSTILE.findall(files[file])
        if len(seen) != len(re.findall(r"@case\b|\bcase\(", files[file])):
            yield f"{file}.py: a @case with other text than its set and its name"
        names = [(which, one.name) for which in cases for one in cases[which]]
        yield from (f"{file}.py: {name!r} of {which} is not both in the text and in the set"
                    for which, name in {*seen} ^ {*names} | {name for name in seen if seen.count(name) > 1})
        for which, one in [(which, one) for which in cases for one in cases[which]]:
            if not any(of == which and file in files_of(program) and not one.left_out("7.3", provider, version_of(program))
                       for program, of in runs for provider in ("siw", "rxe", "hca")):
                yield f"{file}.py: no group tries {one.name!r} of {which}"


def check_skips():
    """Each entry of skips.list fits a case, and a test can give its reason."""
    said = "".join(text(path) for path in glob.glob(f"{TESTS}/**/*.sh", recursive=True) + glob.glob(f"{TESTS}/peers/*.py") +
                   [f"{TESTS}/../lab/guest/lib.sh"])
    names = {"clean", "leaks"}
    for path in glob.glob(f"{TESTS}/groups/*.sh"):
        names |= {*CASE.findall(text(path))}
    names |= {f"{group}-{role}-{name}" for group in ("peers", "faults-pair") for role in ("client", "server") for name in names}
    for line in text(f"{TESTS}/skips.list").splitlines():
        where, _, reason = line.partition("  ")
        pattern = where.split("/", 3)[-1].replace("*", ".*").replace("@(", "(")
        if line and line[0] != "#" and (not reason or reason not in said or
                                        not any(re.fullmatch(pattern, name) for name in names)):
            yield f"skips.list: no such case or reason: {line}"


def check():
    """Report text that looks like a case, but that CASE does not match: its name has characters other than
    lower-case letters, digits and hyphens, or it is defined in another way. Report headers that name no case,
    groups that scripts/test does not run, and tests of kunit/ that are in no suite."""
    bad = []
    lists = re.findall(r"\bGROUPS_ALL=\(([^)]*)\)", text(f"{TESTS}/../test"))
    run = {group.partition(":")[0] for group in re.split(r"[\s+]+", " ".join(lists))}
    for path in sorted(glob.glob(f"{TESTS}/groups/*.sh")):
        source, name = text(path), os.path.basename(path)
        seen = CASE.findall(source)
        for m in re.finditer(r"^\s*(?:function\s+)?case_(\S+?)\s*(?:\(\s*\)|\{)", source, re.M):
            if m.group(1) not in seen:
                bad.append(f"{name}: case_{m.group(1)} is not seen as a case")
        bad += [f"{name}: case {n} twice" for n in set(seen) if seen.count(n) > 1]
        known = set(seen)
        for header in ("Long", "Slow"):
            bad += [f"{name}: {header}: there is no case {n}" for n in words(source, header) if n not in known]
        for line in headers(source, "Cases"):
            bad += [f"{name}: Cases: there is no case {n}" for n in line.split()[1:] if n not in known]
        if not headers(source, "Guests"):
            bad.append(f"{name}: not a group, it has no header Guests")
        elif not seen and headers(source, "Guests") != ["none"]:
            bad.append(f"{name}: a group without a case")
        if name[:-3] not in run:
            bad.append(f"{name}: not in GROUPS_ALL of scripts/test")
    bad += [*check_hostile(), *check_skips()]
    tests = list(unit_tests())
    total = sum(len(re.findall(r"^\s*KUNIT_CASE\w*\(", source, re.M)) for source in unit_sources())
    if len(tests) != total or not tests:
        bad.append(f"kunit: {len(tests)} tests seen in suites, {total} written")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if sys.argv[1] == "--untried":
        sys.exit(untried(sys.argv[2], sys.argv[3].split("+")))
    print("\n".join(expected(sys.argv[1], sys.argv[2], sys.argv[3].split("+"))))
