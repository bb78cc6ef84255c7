#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make mutants-guests: check that tests in guests notice changes of the code.

usage: guests.py [--check | --list | --control] [--stale] [NAME...]

A mutant is the module with one rule broken. guests.list has the mutants, mostly of the rooms (folders of net/)
that need a device or sunrpc. For each of them, this program builds the module, and runs the cases that should
notice the mutant, as make test would:

    noticed   a case has failed, or the kernel has complained, or the guest has died
    SURVIVED  all cases have passed: a test is missing, or the changed code is not needed
    BROKEN    the mutant does not compile, or none of the cases has run

This program prints one line for each mutant, with the first case that failed and the reason. The last line has the
sums. The status is 0 if all mutants were noticed. Other output is in rpcrdma-mutants/guests-out below $TMPDIR, beside
the copy of the tree in which all mutants are built.

NAME: only these mutants; may be shell patterns. --stale: only mutants that have not been noticed, among them those that
were never run, and mutants whose verdict is older than the present text of the mutant or of a function that it
changes. --list: print these mutants, and run nothing. --control: run the same cases with nothing broken, and all cases
of a guest in one run. If a case fails, the verdicts mean nothing.

Each verdict is written to guests.results at once. --check runs no mutants, but checks that
    - all code to be changed occurs exactly once, and all files, cases and requirements exist
    - each MUST that only guests test has a mutant, or a line in guests.list that says why it has none
    - each mutant has the verdict "noticed" in guests.results, or has never been run
    - the numbers of stale verdicts, and of mutants that were never run, are within the bounds in guests.results
"""
import argparse
import contextlib
import fcntl
import fnmatch
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "scripts/tests/analysers")]
import coverage             # noqa: E402, the module in the parent folder
import expect               # noqa: E402

LIST = TOP / "scripts/mutants/guests.list"
RESULTS = TOP / "scripts/mutants/guests.results"
TESTS = TOP / "scripts/tests"
GROUPS, ANALYSERS = TESTS / "groups", TESTS / "analysers"
WORK = Path(tempfile.gettempdir()) / "rpcrdma-mutants"
# The tree is always copied to the same path, and only files that differ are written, so that make
# compiles only what depends on them.
TREE, OUT = WORK / "tree", WORK / "guests-out"
GUESTS = {"7.3 siw", "7.3 rxe", "7.3-dma siw", "7.3-dma rxe", "6.12 siw", "6.12 rxe", "debian rxe"}
VERDICT = re.compile(r"(ok|not ok|skip) [^/]*/[^/]*/(\S+) \(\d+ s\) *(.*)")


@dataclass
class Mutant:
    """@guest: (kernel, provider, group); @what: see WHAT in guests.list; @change: for each place (file, code to be
    replaced, new code)"""
    name: str
    breaks: list = field(default_factory=list)
    guest: tuple = ()
    cases: list = field(default_factory=list)
    what: str = ""
    change: list = field(default_factory=list)

    @property
    def captured(self):
        """Must an analyser notice the mutant in the capture, after the run?"""
        return bool(self.what) and header(self.guest[2], "Capture") == "yes"


# --- the list -----------------------------------------------------------------

def mutants():
    """([mutant], {requirement: why no mutant can break it})"""
    found, without = [], {}
    for no, line in enumerate(LIST.read_text().splitlines(), 1):
        text = line.strip()
        if line.startswith(" " * 8):
            found[-1].change[-1] += "\n" + line[8:]
        elif line.startswith(" ") and not found[-1].guest:
            where, _, found[-1].what = text.partition(": ")
            *guest, cases = where.split()
            found[-1].guest, found[-1].cases = tuple(guest), cases.split("|")
        elif line.startswith(" "):
            found[-1].change.append(text)
        elif head := re.fullmatch(r"([a-z0-9-]+): (.+)", text):
            found.append(Mutant(head[1], head[2].split()))
        elif head := re.fullmatch(rf"without ({coverage.ID.pattern}) +(\S.*)", text):
            without[head[1]] = head[head.lastindex]
        elif text and text[0] != "#":
            sys.exit(f"{LIST}:{no}: what is this? {line}")
    for m in found:
        parts = [re.fullmatch(r"(\S+): (.*?)\s=>(?:\s(.*))?", text, re.S) for text in m.change]
        if not all(parts):
            sys.exit(f"{LIST}: {m.name}: a change has no =>")
        m.change = [(part[1], part[2], part[3] or "") for part in parts]
    return found, without


def spots(text, old):
    """The places of the C code @old in a text, whatever the layout"""
    tokens = re.findall(r"\w+|[^\w\s]", old)
    whole = [rf"\b{token}\b" if re.match(r"\w", token) else re.escape(token) for token in tokens]
    return list(re.finditer(r"\s*".join(whole), text))


def changed(text, old, new):
    """The text with @new in place of @old"""
    spot = spots(text, old)[0]
    new = re.sub(r"^\.\.\.\s", lambda _: spot[0] + "\n", new)
    new = re.sub(r"\s\.\.\.$", lambda _: "\n" + spot[0], new)
    return text[:spot.start()] + new + text[spot.end():]


def header(group, name):
    m = re.search(rf"^# {name}: (.*)", (GROUPS / f"{group}.sh").read_text(), re.M)
    return m and m[1]


def complaints(m, known):
    """Errors in this entry of the list"""
    if not m.breaks or len(m.guest) != 3 or not m.change:
        yield "incomplete"
        return
    yield from (f"there is no requirement {key}" for key in m.breaks if key not in known)
    for file, old, new in m.change:
        if not (TOP / file).is_file():
            yield f"there is no {file}"
        elif not old or old == new:
            yield f"{file}: nothing is changed"
        elif len(found := spots((TOP / file).read_text(), old)) != 1:
            yield f"{file}: {len(found)} times there: {' '.join(old.split())}"
    kernel, provider, group = m.guest
    if f"{kernel} {provider}" not in GUESTS:
        yield f"there is no {provider} on {kernel}"
    if not (GROUPS / f"{group}.sh").is_file():
        yield f"there is no group {group}"
        return
    defined = re.findall(r"^case_([a-z0-9-]+)\(\)", (GROUPS / f"{group}.sh").read_text(), re.M)
    for case in m.cases:
        if not fnmatch.filter(defined, case):
            yield f"{group} has no case {case}"
        elif not fnmatch.filter(expect.chosen(*m.guest), case):
            yield f"with {provider}, {group} runs {case} only in make test-all"
    if m.captured:
        rule = re.fullmatch(r"wire2?-(?:rules|form)-(.*)|wire2?-(decode)", m.what)
        if not rule or not re.search(rf'["-]{re.escape(rule[1] or rule[2])}"', (ANALYSERS / "wire.py").read_text()):
            yield f"wire.py has no {m.what}"
    elif m.what and not any(m.what in name for case in m.cases for name in expect.tried(group, case, kernel, provider)):
        yield f"with {provider}, {'|'.join(m.cases)} tries no {m.what!r}"


def check(found):
    known = coverage.names()
    wrong = [f"{m.name}: {text}" for m in found for text in complaints(m, known)]
    wrong += [f"{name} is there {n} times" for name, n in Counter(m.name for m in found).items() if n > 1]
    for text in wrong:
        print(f"scripts/mutants/guests.list: {text}")
    return not wrong


def check_musts(found, without):
    """Requirements that only guests test, and that no mutant breaks"""
    tests = coverage.tests()
    broken = {key for m in found for key in m.breaks}
    by_guests = {key for key, level in coverage.names().items() if level == "MUST" and key in tests and
                 not any(place.startswith("kunit/") for place in tests[key])}
    wrong = [f"{key} is a MUST that no unit test covers and no mutant breaks"
             for key in sorted(by_guests - broken - set(without))]
    wrong += [f"{key} needs no \"without\": a mutant breaks it" for key in without if key in broken]
    wrong += [f"{key} needs no \"without\": it is no MUST that only guests cover"
              for key in without if key not in by_guests | broken]
    for text in wrong:
        print(f"scripts/mutants/guests.list: {text}")
    return not wrong


# --- results --------------------------------------------------------------------

def functions(text):
    """(first, last) line of each function. In kernel style, a "{" alone in the first column begins a
    function."""
    said = text.splitlines()
    for no, line in enumerate(said):
        if line != "{":
            continue
        first, last = no, no
        while first and said[first - 1] and not re.match(r"[}#]|.*\*/$", said[first - 1]):
            first -= 1
        while last < len(said) - 1 and not said[last].startswith("}"):
            last += 1
        yield first, last


def changed_functions(file, old):
    """The text of the functions that contain the code @old; nothing if it is in no function"""
    text = (TOP / file).read_text()
    spot = spots(text, old)[0]
    first, last = text.count("\n", 0, spot.start()), text.count("\n", 0, spot.end())
    said = text.splitlines()
    return ["\n".join(said[a:b + 1]) for a, b in functions(text) if a <= last and b >= first]


def fingerprint(m):
    """The text that a verdict depends on: the mutant, and the functions that it changes, without comments and
    layout"""
    parts = [*m.guest, *m.cases, m.what]
    for file, old, new in m.change:
        parts += [old, new, *changed_functions(file, old)]
    bare = [" ".join(re.sub(r"/\*.*?\*/", " ", part, flags=re.S).split()) for part in parts]
    return hashlib.sha256("\n".join(bare).encode()).hexdigest()[:12]


class Results:
    """The file guests.results. A line is NAME not-run, or NAME VERDICT FINGERPRINT KERNEL PROVIDER CASE: WHY."""
    HEAD = """\
# SPDX-License-Identifier: GPL-2.0
# Written by guests.py: the verdict for each mutant, a checksum of the text that it was found for (the
# mutant and the functions that it changes), the kernel, the provider, and what noticed the mutant.
# A bound is the largest number of mutants that may be stale (their verdict was found for an older
# text) or not-run (they have never been run):
"""

    def __init__(self):
        self.read()

    def read(self):
        self.bounds, self.lines = {"stale": 0, "not-run": 0}, {}
        for line in RESULTS.read_text().splitlines():
            name, _, rest = line.partition(" ")
            if name == "bound":
                word, n = rest.split()
                self.bounds[word] = int(n)
            elif name and name[0] != "#":
                self.lines[name] = rest.strip()

    def word(self, m):
        """The verdict: noticed, SURVIVED, BROKEN, not-run, or none"""
        return self.lines.get(m.name, "none").split()[0]

    def is_stale(self, m):
        """Has the text that the verdict depends on changed since the verdict?"""
        return self.word(m) not in ("none", "not-run") and self.lines[m.name].split()[1] != fingerprint(m)

    def is_due(self, m):
        return self.word(m) != "noticed" or self.is_stale(m)

    def record(self, found, m, word, said):
        """Write a verdict. Remove names that are no longer mutants. Reduce the bound of "not-run" if fewer
        mutants have never been run."""
        self.read()             # another process may have written to it meanwhile
        said = " ".join(said.split())[:160]
        self.lines[m.name] = f"{word} {fingerprint(m)} {m.guest[0]} {m.guest[1]} {said}"
        names = {other.name for other in found}
        self.lines = {name: rest for name, rest in self.lines.items() if name in names}
        unknown = sum(self.word(other) == "not-run" for other in found)
        self.bounds["not-run"] = min(self.bounds["not-run"], unknown)
        text = self.HEAD + "".join(f"bound {what} {n}\n" for what, n in sorted(self.bounds.items()))
        text += "".join(f"{name} {rest}\n" for name, rest in sorted(self.lines.items()))
        new = RESULTS.with_suffix(".new")
        new.write_text(text)
        new.replace(RESULTS)

    def check(self, found):
        """Does each mutant have the verdict "noticed" or "not-run", and are no more "not-run" or stale than the
        bounds allow?"""
        names = {m.name for m in found}
        wrong = [f"{name}: there is no such mutant" for name in self.lines if name not in names]
        for m in found:
            if self.word(m) == "none":
                wrong.append(f"{m.name} has no verdict: run guests.py {m.name}")
            elif self.word(m) not in ("noticed", "not-run"):
                wrong.append(f"{m.name}: {self.lines[m.name]}")
        for what, some in (("not-run", [m.name for m in found if self.word(m) == "not-run"]),
                           ("stale", [m.name for m in found if self.is_stale(m)])):
            if len(some) > self.bounds[what]:
                wrong.append(f"{len(some)} are {what}, more than {self.bounds[what]}: {' '.join(some)}")
            elif some:
                print(f"scripts/mutants/guests.results: {len(some)} are {what}, of {self.bounds[what]} that may be"
                      + (f": {' '.join(some)}" if what == "stale" else ""))
        for text in wrong:
            print(f"scripts/mutants/guests.results: {text}")
        return not wrong


# --- running --------------------------------------------------------------------

def make_tree(m=None):
    """Copy the work tree to TREE, and apply the change of @m to the copy."""
    TREE.mkdir(parents=True, exist_ok=True)
    # Do not copy times: if a mutant's file gets its old content back, it must be newer than its object, to be
    # compiled again.
    subprocess.run(["rsync", "-rlp", "--checksum", "--delete", "--exclude=.git", f"{TOP}/", f"{TREE}/"], check=True)
    for file, old, new in m.change if m else []:
        path = TREE / file
        path.write_text(changed(path.read_text(), old, new))


def need_packages():
    script = ('. scripts/lab/host.sh; need_packages "${PKG_GUEST[@]}" "${PKG_WIRE[@]}" "${PKG_BUILD[@]}" '
              '"${PKG_KRB5[@]}"')
    subprocess.run(["bash", "-c", script], cwd=TOP, check=True)


def build(kernel, log):
    """Build the module in TREE. Returns the reason if this fails, or None."""
    script = '. scripts/lab/kmod.sh; module_ready "$0"'
    with open(log, "wb") as f:
        if subprocess.run(["bash", "-c", script, kernel], cwd=TREE, stdout=f, stderr=f, check=False).returncode == 0:
            return None
    said = log.read_text(errors="replace").splitlines()
    return next((line for line in said if "error:" in line), said[-1] if said else "no module")


def run(name, guest, cases, part="", enough=lambda verdicts: False):
    """Run these cases. Returns their verdicts: [(word, case, reason)]. Ends early if @enough(verdicts) is true."""
    out = OUT / name
    shutil.rmtree(out, ignore_errors=True)
    env = {**os.environ, "T": f"*/*/@({'|'.join(cases)})", "OUT": str(out), "LEAKS": "", "GUEST_CPUS": "1",
           "PART": part, "ALL": ""}
    verdicts = []
    with open(OUT / f"{name}.log", "ab") as log, \
            subprocess.Popen(["scripts/tests/run-group.sh", *guest], cwd=TREE, env=env, stdout=subprocess.PIPE,
                             stderr=log, start_new_session=True) as process:
        try:
            for line in process.stdout:
                log.write(line)
                found = VERDICT.match(line.decode(errors="replace"))
                if found:
                    verdicts.append((found[1], found[2], found[3].split(" [log:")[0]))
                if enough(verdicts):
                    break
        finally:
            # The run has a session of its own, so this kills all its processes.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return verdicts


def is_named(name, cases):
    """A part of a case is named case/part, and has a verdict of its own."""
    return any(fnmatch.fnmatchcase(name.partition("/")[0], case) for case in cases)


def begun(name, cases):
    """Do the consoles of the guests show that one of the cases has begun?"""
    consoles = [p.read_text(errors="replace") for p in (OUT / name).glob("*/*.console")]
    return any(is_named(case, cases) for text in consoles for case in re.findall(r"lab: begin case (\S+)", text))


def judge(m):
    """Try a mutant. Returns (verdict, explanation)."""
    kernel = m.guest[0]
    make_tree(m)
    reason = build(kernel, OUT / f"{m.name}.log")
    if reason:
        return "BROKEN", f"it does not build: {reason}"
    named = [*m.cases, m.what] if m.captured else m.cases

    def failed(verdicts):
        bad = [(case, why) for word, case, why in verdicts if word == "not ok" and is_named(case, named)]
        # Prefer the verdict about the capture, which tells more than that of the case.
        return sorted(bad, key=lambda v: v[0] != m.what)[:1]

    verdicts = run(m.name, m.guest, m.cases, "" if m.captured else m.what,
                   lambda verdicts: not m.captured and failed(verdicts))
    dead = [(case, why) for word, case, why in verdicts if word == "not ok" and re.search("-(guest|console)-", case)]
    for case, why in failed(verdicts) or (dead if begun(m.name, m.cases) else []):
        return "noticed", f"{case}: {why}"
    passed = {case for word, case, _ in verdicts if word == "ok"}
    if any(is_named(case, [m.what] if m.captured else named) for case in passed):
        return "SURVIVED", f"{' '.join(sorted(c for c in passed if is_named(c, named)))} passed"
    why = [why for word, case, why in verdicts if word == "skip" and is_named(case, named)] + [why for _, why in dead]
    return "BROKEN", ": ".join(["no case has run", *why[:1]])


def control(found):
    """Do all cases pass with nothing broken?"""
    make_tree()
    good = True
    for guest in dict.fromkeys(m.guest for m in found):
        mine = [m for m in found if m.guest == guest]
        cases = sorted({case for m in mine for case in m.cases})
        wanted = cases + sorted({m.what for m in mine if m.captured})
        name = "control-" + "-".join(guest)
        reason = build(guest[0], OUT / f"{name}.log")
        verdicts = [] if reason else run(name, guest, cases)
        for pattern in wanted:
            ran = [(word, why) for word, case, why in verdicts if is_named(case, [pattern])]
            why = next((f"{word} {why}" for word, why in ran if word != "ok"), "" if ran else "it has not run")
            print(f"{'not ok' if why else 'ok'} {' '.join(guest)} {pattern} {reason or why}".rstrip(), flush=True)
            good = good and not why
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--stale", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    everything, without = mutants()
    results, found = Results(), everything
    if not check(found):
        sys.exit(1)
    if args.check:
        good = [check_musts(found, without), results.check(found)]
        sys.exit(not all(good))
    if args.names:
        found = [m for m in found if is_named(m.name, args.names)]
        if not found:
            sys.exit("there is no such mutant")
    if args.stale:
        found = [m for m in found if results.is_due(m)]
    if args.list:
        for m in found:
            print(f"{m.name}  {' '.join(m.breaks)}  {'/'.join(m.guest)}/{'|'.join(m.cases)}{m.what and ': '}{m.what}")
        return
    # The environment may contain these variables, which are meant for other runs.
    for name in ("MODULE", "CHECKERS", "RESULTS", "GUEST_CMDLINE"):
        os.environ.pop(name, None)
    OUT.mkdir(parents=True, exist_ok=True)
    # On SIGTERM, the guests are ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with open(WORK / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"{WORK} is in use: set TMPDIR for a second run")
        need_packages()
        if args.control:
            sys.exit(not control(found))
        sums = Counter()
        for m in found:
            t0 = time.monotonic()
            word, said = judge(m)
            sums[word] += 1
            results.record(everything, m, word, said)
            print(f"{word:8}  {m.name}  {time.monotonic() - t0:.0f} s  {said[:160]}", flush=True)
    print(f"{sums['noticed']} noticed, {sums['SURVIVED']} survived, {sums['BROKEN']} broken")
    sys.exit(sums["noticed"] != len(found))


if __name__ == "__main__":
    main()
