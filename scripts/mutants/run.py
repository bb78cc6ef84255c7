#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make mutants: check that the unit tests notice changes of the code.

usage: run.py [--quick | --changed REV] [--jobs N] [FILE...]
       run.py --tests

A mutant is the code of the pure rooms, net/wire and net/core, with one change, such as another
operator, a constant larger by one, a missing statement, or a condition that is always true. With
each mutant, all unit tests of these rooms are run in user space. If they pass, they are run again
with ASan and UBSan. If they pass again, the mutant has survived: a test is missing, or the change
makes no difference. A mutant does not count if its object code is the same as without the change,
or as that of another survivor.

equivalent.list has the changes that make no difference, with the reasons. This script prints each survivor that is not
in the list, and each entry of the list that a test notices, or that is no mutant any more. The last line has the sums.
The status is 1 if a survivor or an entry was printed. It is also 1 if the tests fail without any change, because the
results would then mean nothing.

FILE: only these sources. --changed: only lines that differ from that commit. --quick, for make check: a sample of the
mutants in the lines that the last commits have changed, and of those in each file; the sample depends on the commit.
--tests prints the names of the unit tests that are used.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).resolve().parent / "equivalent.list"
CC = ["gcc", "-std=gnu11", f"-I{TOP}/scripts/mutants/include", f"-I{TOP}/scripts/fuzz/include",
      f"-I{TOP}/include", f"-I{TOP}/kunit", f"-I{TOP}/net/wire"]
# "plain" catches most mutants. Those that survive are tried again with "checked".
FLAGS = {"plain": ["-O0"], "checked": ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]}
# Tests of other rooms, and tests that need the kernel
NOT_PURE = {"rpcrdma_buf_kunit.c", "rpcrdma_conn_kunit.c", "rpcrdma_counters_kunit.c", "rpcrdma_gather_kunit.c",
            "rpcrdma_keepalive_kunit.c", "rpcrdma_msg_kunit.c",
            "rpcrdma_sq_kunit.c", "svc_rdma_budget_kunit.c", "svc_rdma_group_kunit.c", "svc_rdma_inside_kunit.c", "svc_rdma_read_kunit.c", "svc_rdma_stock_kunit.c",
            "xprt_rdma_foreign_kunit.c", "xprt_rdma_reply_kunit.c", "xprt_rdma_transport_kunit.c"}
# Limit of processor time for all tests with a "plain" mutant. Without a change in the source, the
# tests need a thirtieth of this. Other runs of the tests have ten times this limit.
CPU_SECONDS = 1
# --quick: number of commits, number of mutants in the lines that they changed, and number of mutants in each file
COMMITS, OF_CHANGED, OF_EACH = 5, 40, 5

SWAPS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
         "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<<": [">>"],
         ">>": ["<<"], "++": ["--"], "--": ["++"], "+=": ["-=", "="], "-=": ["+=", "="], "|=": ["&=", "="],
         "&=": ["|="], "&": ["|"], "|": ["&"], "true": ["false"], "false": ["true"], "min": ["max"], "max": ["min"]}
TOKEN = re.compile(r"->|\+\+|--|<<=?|>>=?|[<>=!]=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^<>!~=]|\b0x[0-9a-fA-F]+u?\b|\b\d+u?\b"
                   r"|\b(?:true|false|min|max)\b|\bif \(|[\w]+|\S")


def blank(text):
    """The text, with comments, strings and preprocessor lines replaced by blanks"""
    keep = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^#(?:\\\n|[^\n])*", re.S | re.M)
    return keep.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def bodies(code):
    """Yield where the body of each function begins and ends: braces in the first column, unless they follow a '='."""
    for m in re.finditer(r"^\{\n.*?^\}", code, re.S | re.M):
        yield m.start() + 1, m.end() - 1


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if not depth:
            return i
    return len(code)


def places(code, start, end):
    """Yield (from, to, replacement, name of the change) for each change that can be made in a function."""
    last = ""
    for m in TOKEN.finditer(code, start, end):
        t, a, b = m[0], m.start(), m.end()
        # After a value, the characters * & - + are operators with two operands. Elsewhere they are
        # operators with one operand, or part of a type.
        binary = re.match(r"[\w)\]]", last[-1:]) and last not in ("return", "struct", "const", "sizeof")
        if t in SWAPS and (binary or t not in ("*", "&", "-", "+")):
            for other in SWAPS[t]:
                yield a, b, other, other
        elif t == "!" and not binary:
            yield a, b, "", "(gone)"
        elif re.match(r"\d|0x", t):
            value = int(t.rstrip("ul"), 0)
            more = str(value + 1) + "u" * t.endswith("u")
            yield a, b, more, more
        elif t == "if (":
            stop = closing(code, b - 1)
            yield b, stop, f"1 || ({code[b:stop]})", "always"
            yield b, stop, f"0 && ({code[b:stop]})", "never"
        last = t
    # Statements: from the end of the previous statement to the semicolon
    for m in re.finditer(r"(?<=[;{}:)\n])\s*([^;{}]*;)", code[start:end]):
        a, b = start + m.start(1), start + m.end(1)
        text = code[a:b]
        # Keep an else, or an if or while with its condition, and remove the statement that it
        # controls. Leave a for alone.
        head = re.match(r"(?:(?:else\s+)?(?:if|while|for)\s*\(|else\b)", text)
        if text.startswith("for"):
            continue
        if head:
            a = closing(code, a + text.index("(")) + 1 if "(" in head[0] else a + 4
        if code[a:b].strip(" \t\n;"):
            yield a, b, ";", "(gone)"


class Function(namedtuple("Function", "at head name start end")):
    """A function of a file: its beginning, its declaration, its name, and the beginning and end of its body"""

    @property
    def call(self):
        """A statement that calls a copy of the function, %s, with the same arguments, and returns"""
        args = [re.search(r"(\w+)\W*$", arg)[1] for arg in self.head[self.head.index("(") + 1:].split(",")]
        call = f"(%s)({', '.join(args)})".replace("(void)", "()")
        return f"{{ {call}; return; }}" if re.search(rf"\bvoid\s+{self.name}\b", self.head) else f"return {call};"


def functions(code):
    for start, end in bodies(code):
        head = code[max(code.rfind(c, 0, start - 1) for c in ";}") + 1:start - 1]
        yield Function(start - 1 - len(head.lstrip()), " ".join(head.split()), re.search(r"(\w+)\s*\(", head)[1], start, end)


# Position and name of a change, and the text that replaces text[start:end]
Mutant = namedtuple("Mutant", "file line name function start end new")


def mutants(name):
    """All mutants of a file. The name of a mutant is its line, with the broken text in brackets."""
    text = (TOP / name).read_text()
    code = blank(text)
    times = Counter()
    for function in functions(code):
        for a, b, new, called in places(code, function.start, function.end):
            shown = (f"{text[text.rindex(chr(10), 0, a) + 1:a]}[{text[a:b]} -> {called}]"
                     f"{text[b:text.index(chr(10), b)]}")
            shown = f"{name} {function.name}: {' '.join(shown.split())}"
            times[shown] += 1
            if times[shown] > 1:
                shown += f" ({times[shown]})"
            yield Mutant(name, text.count("\n", 0, a) + 1, shown, function, a, b, new)


def all_in_one(text, wanted):
    """Returns a source with all these mutants, and {line: number of the mutant to which this line belongs}.

    Each mutant has a copy of its function, with the change. The original function calls the copy if
    kunit_mutant is the number of the mutant.
    """
    out, lines, at = ["extern int kunit_mutant;"], {}, 0
    for function in sorted({m.function for m in wanted}, key=lambda f: f.start):
        mine = [(n, m) for n, m in enumerate(wanted) if m.function == function]
        declared = {n: re.sub(rf"\b{function.name}\b", f"{function.name}__{n}", function.head, count=1) for n, _ in mine}
        declared = {n: d if d.startswith("static ") else f"static {d}" for n, d in declared.items()}
        out.append(text[at:function.at])
        out += [f"{d};" for d in declared.values()]
        out.append(text[function.at:function.start])
        out.append("switch (kunit_mutant) {")
        out += [f"case {n}: {function.call % f'{function.name}__{n}'}" for n in declared]
        out += ["}", text[function.start:function.end] + "}"]
        for n, m in mine:
            first = "\n".join(out).count("\n") + 2
            out.append(f"{declared[n]} {{ {text[function.start:m.start]}{m.new}{text[m.end:function.end]} }}")
            for line in range(first, first + out[-1].count("\n") + 1):
                lines[line] = n
        at = function.end + 1
    out.append(text[at:])
    return "\n".join(out), lines


def read_equivalent():
    """Read the list of mutants that make no difference. Returns their names, and the errors in the list."""
    names, wrong = [], []
    blocks = re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", EQUIVALENT.read_text(), flags=re.M).strip("\n"))
    for name, *why in (block.split("\n") for block in blocks if block):
        if name in names:
            wrong.append(f"twice in {EQUIVALENT.name}: {name}")
        if not why or not all(re.match(r"\s+\S", line) for line in why):
            wrong.append(f"no reason in {EQUIVALENT.name}: {name}")
        names.append(name)
    return names, wrong


def compile_to(out, source, *flags):
    """Compile a source. Returns the lines that have errors."""
    # If a mutant removes a return statement, the value of the function is undefined, so the mutant means nothing.
    # -Werror=return-type refuses it.
    done = subprocess.run([*CC, "-Werror=return-type", *flags, "-x", "c", "-", "-c", "-o", out], input=source,
                          capture_output=True, text=True, cwd=TOP / "net", check=False)
    wrong = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}
    if done.returncode and not wrong:
        sys.exit(done.stderr)
    return wrong


def passes(program, number=-1, seconds=CPU_SECONDS):
    # Limit the processor time and not the elapsed time, because other programs may run at the same time. (dash
    # takes only one limit in each ulimit command.)
    return subprocess.run(["sh", "-c", f'ulimit -c 0; ulimit -t {seconds}; exec "$0" "$@"', program, str(number)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={"ASAN_OPTIONS": "detect_leaks=0"}, check=False).returncode == 0


class Trial:
    """A program of all unit tests, with one of the sources replaced"""

    def __init__(self, work, pool, pure):
        self.work, self.pool = work, pool
        self.sources = [*(TOP / f for f in pure), *tests(), TOP / "scripts/mutants/kunit.c"]
        self.build("plain")
        self.checked = False

    def build(self, kind):
        """Build a program of all sources without changes"""
        flags = FLAGS[kind]
        list(self.pool.map(lambda f: subprocess.run(
            [*CC, "-w", *flags, "-c", f, "-o", self.object(f, kind)], check=True), self.sources))
        self.link(kind, None, [], self.work / kind)
        if not passes(self.work / kind, seconds=10 * CPU_SECONDS):
            subprocess.run([self.work / kind], check=False)
            sys.exit("the unit tests fail as they are")

    def object(self, source, kind):
        return self.work / f"{source.name}.{kind}.o"

    def link(self, kind, replaced, objs, out):
        others = [self.object(f, kind) for f in self.sources if f != replaced]
        subprocess.run([*CC, *FLAGS[kind], *others, *objs, "-o", out], check=True)

    def survives_checks(self, path, source):
        obj, program = self.work / "checked.o", self.work / "checked.mutant"
        compile_to(obj, source, *FLAGS["checked"])
        self.link("checked", path, [obj], program)
        return passes(program, seconds=10 * CPU_SECONDS)

    def judge(self, name, wanted):
        """Yield (mutant, survived) for each mutant that compiles. survived is None if the object code is the same as
        without the change. A mutant with the object code of another survivor is left out."""
        path = TOP / name
        text = path.read_text()
        obj, program = self.work / "mutants.o", self.work / "mutants"
        while wanted:
            source, lines = all_in_one(text, wanted)
            bad = compile_to(obj, source, *FLAGS["plain"])
            if not bad:
                break
            # Leave out the mutants that do not compile
            bad = {lines.get(line) for line in bad}
            if None in bad:
                sys.exit(f"{name}: the mutants do not compile, and it is not clear why")
            wanted = [m for n, m in enumerate(wanted) if n not in bad]
        if not wanted:
            return
        self.link("plain", path, [obj], program)
        if not passes(program):
            sys.exit(f"{name}: the unit tests fail with all mutants there, and none in use")
        passed = list(self.pool.map(lambda n: passes(program, n), range(len(wanted))))
        seen = {self.code(text): None}
        for mutant, survived in zip(wanted, passed):
            if survived:
                source = text[:mutant.start] + mutant.new + text[mutant.end:]
                code = self.code(source)
                if code in seen:
                    if seen[code] is None:
                        yield mutant, None
                    continue
                seen[code] = mutant
                if not self.checked:
                    self.build("checked")
                    self.checked = True
                survived = self.survives_checks(path, source)
            yield mutant, survived

    def code(self, source):
        """The object code of a source, to recognise changes that make no difference"""
        obj = self.work / "code.o"
        compile_to(obj, source, "-O2")
        return hashlib.sha256(obj.read_bytes()).digest()


def changed_lines(rev, name):
    diff = subprocess.run(["git", "diff", "-U0", rev, "--", name], cwd=TOP, check=True, capture_output=True, text=True)
    lines = set()
    for m in re.finditer(r"^@@ .*\+(\d+)(?:,(\d+))? @@", diff.stdout, re.M):
        lines.update(range(int(m[1]), int(m[1]) + int(m[2] or 1)))
    return lines


def git(*args):
    out = subprocess.run(["git", *args], cwd=TOP, capture_output=True, text=True, check=False)
    return out.stdout.strip() if out.returncode == 0 else ""


def sample(found):
    """Returns the mutants that --quick tries. The choice depends on the commit, so the next commit tries others."""
    commit = git("rev-parse", "HEAD")
    base = git("rev-parse", "--verify", "-q", f"HEAD~{COMMITS}")
    chosen, changed = [], []
    for name, all_of_them in found.items():
        all_of_them = sorted(all_of_them, key=lambda m: hashlib.sha256((commit + m.name).encode()).digest())
        lines = changed_lines(base, name) if base else set()
        changed += [m for m in all_of_them if m.line in lines]
        chosen += all_of_them[:OF_EACH]
    changed.sort(key=lambda m: hashlib.sha256((commit + m.name).encode()).digest())
    return {m.name for m in chosen + changed[:OF_CHANGED]}


def tests():
    return [f for f in sorted((TOP / "kunit").glob("*_kunit.c")) if f.name not in NOT_PURE]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--changed", metavar="REV")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def choose(args, found, equivalent):
    """The mutants to try, by file. Those in equivalent.list come first, so that another mutant with the same object code
    does not count as a survivor."""
    if args.quick:
        names = sample(found)
    elif args.changed:
        names = {m.name for name, ms in found.items() for m in ms if m.line in changed_lines(args.changed, name)}
    else:
        names = {m.name for ms in found.values() for m in ms}
    return {name: [m for m in ms if m.name in equivalent] +
                  [m for m in ms if m.name in names and m.name not in equivalent] for name, ms in found.items()}


def main():
    args = arguments()
    if args.tests:
        print(*(f.relative_to(TOP) for f in tests()), sep="\n")
        return 0
    pure = subprocess.run([sys.executable, TOP / "scripts/check-looking.py", "--pure"], cwd=TOP, check=True,
                          capture_output=True, text=True).stdout.split()
    found = {str(Path(f).resolve().relative_to(TOP)) if args.files else f: [] for f in args.files or pure}
    for name, ms in found.items():
        ms.extend(mutants(name))
    equivalent, wrong = read_equivalent()
    there = {m.name for ms in found.values() for m in ms}
    wrong += [f"in {EQUIVALENT.name}, but there is no such mutant: {n}" for n in equivalent
              if (n.split()[0] in found or n.split()[0] not in pure) and n not in there]
    if wrong:
        sys.exit("\n".join(wrong))
    sums = Counter()
    with tempfile.TemporaryDirectory() as d, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        trial = Trial(Path(d), pool, pure)
        for name, wanted in choose(args, found, equivalent).items():
            counts = Counter()
            for mutant, survived in trial.judge(name, wanted):
                listed = mutant.name in equivalent
                if survived is None:
                    continue
                counts["equivalent" if listed else "survived" if survived else "caught"] += 1
                if listed and not survived:
                    wrong.append(f"in {EQUIVALENT.name}, but caught: {mutant.name}")
                elif survived and not listed:
                    print(f"survived, line {mutant.line}: {mutant.name}", flush=True)
            if not args.quick:
                print(f"{name}: {counts['caught']} of {counts['caught'] + counts['survived']} caught", flush=True)
            sums += counts
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{sums['caught'] + sums['survived']} mutants, {sums['caught']} caught, {sums['survived']} survived; "
          f"{sums['equivalent']} make no difference")
    return 1 if wrong or sums["survived"] else 0


sys.exit(main())
