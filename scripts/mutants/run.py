#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""make mutants: would the unit tests notice?

usage: run.py [--changed REV] [--jobs N] [FILE...]

Breaks the wire and pure rooms in one place at a time (a comparison the other way round, a
constant one larger, a statement left out, a condition that always or never holds), builds each
such mutant with all unit tests for user space, with ASan and UBSan, and runs them. A mutant
that passes has survived: a test is missing there, or the change makes no difference. Those
whose code comes out the same, or the same as another's, are not counted.

FILE: only these sources; --changed: only lines that differ from that commit.
Each survivor is printed; the last line has the sums. The status is 1 if the tests fail
without any change, for then they tell nothing.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CC = ["gcc", "-std=gnu11", "-w", f"-I{TOP}/scripts/mutants/include", f"-I{TOP}/scripts/fuzz/include",
      f"-I{TOP}/include", f"-I{TOP}/kunit", f"-I{TOP}/net"]
CHECKED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# In the kernel, and about more than pure rooms
NOT_PURE = {"rpcrdma_counters_kunit.c", "xprt_rdma_reply_kunit.c", "xprt_rdma_transport_kunit.c"}
SECONDS = 20

SWAPS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
         "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<<": [">>"],
         ">>": ["<<"], "++": ["--"], "--": ["++"], "+=": ["-=", "="], "-=": ["+=", "="], "|=": ["&=", "="],
         "&=": ["|="], "&": ["|"], "|": ["&"], "true": ["false"], "false": ["true"], "min": ["max"], "max": ["min"]}
TOKEN = re.compile(r"->|\+\+|--|<<=?|>>=?|[<>=!]=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^<>!~=]|\b0x[0-9a-fA-F]+u?\b|\b\d+u?\b"
                   r"|\b(?:true|false|min|max)\b|\bif \(|[\w]+|\S")


def blank(text):
    """The text with comments, strings and preprocessor lines made of blanks."""
    keep = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^#(?:\\\n|[^\n])*", re.S | re.M)
    return keep.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def bodies(code):
    """Where functions begin and end: braces in the first column, after no '='."""
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
    """Yield (from, to, replacement) for all that can be broken in a function."""
    last = ""
    for m in TOKEN.finditer(code, start, end):
        t, a, b = m[0], m.start(), m.end()
        # * and & are operators, not types, where a value came before; likewise + and -
        binary = re.match(r"[\w)\]]", last[-1:]) and last not in ("return", "struct", "const", "sizeof")
        if t in SWAPS and (binary or t not in ("*", "&", "-", "+")):
            for other in SWAPS[t]:
                yield a, b, other
        elif t == "!" and not binary:
            yield a, b, ""
        elif re.match(r"\d|0x", t):
            value = int(t.rstrip("u"), 0)
            yield a, b, str(value + 1) + "u" * t.endswith("u")
        elif t == "if (":
            stop = closing(code, b - 1)
            yield b, stop, f"1 || ({code[b:stop]})"
            yield b, stop, f"0 && ({code[b:stop]})"
        last = t
    # Statements: from the end of the last one to the semicolon
    for m in re.finditer(r"(?<=[;{}:)\n])\s*([^;{}]*;)", code[start:end]):
        a, b = start + m.start(1), start + m.end(1)
        text = code[a:b]
        # An else or a header with parentheses stays, what it governs goes
        head = re.match(r"(?:(?:else\s+)?(?:if|while|for)\s*\(|else\b)", text)
        if text.startswith("for"):
            continue
        if head:
            a = closing(code, a + text.index("(")) + 1 if "(" in head[0] else a + 4
        if code[a:b].strip(" \t\n;"):
            yield a, b, ";"


def mutants(path, lines):
    text = path.read_text()
    code = blank(text)
    for start, end in bodies(code):
        for a, b, new in places(code, start, end):
            line = text.count("\n", 0, a) + 1
            if lines is None or line in lines:
                yield line, text[a:b], new, text[:a] + new + text[b:]


def compile_to(out, source, *flags):
    return subprocess.run([*CC, *flags, "-x", "c", "-", "-o", out], input=source.encode(), stderr=subprocess.DEVNULL,
                          cwd=TOP / "net", check=False).returncode == 0


def code_of(source, out):
    """What a source becomes, to tell changes that are none; None if it is no C."""
    if not compile_to(out, source, "-O2", "-S"):
        return None
    text = re.sub(rb"^\s*\.(file|ident|loc).*", b"", Path(out).read_bytes(), flags=re.M)
    return hashlib.sha256(text).digest()


def passes(program):
    try:
        return subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS,
                              env={"ASAN_OPTIONS": "detect_leaks=0"}, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def judge(work, n, source, others):
    """One mutant: 'caught', 'survived', or None if it cannot be built."""
    obj, program = work / f"m{n}.o", work / f"m{n}"
    try:
        if not compile_to(obj, source, *CHECKED, "-c"):
            return None
        subprocess.run([*CC, *CHECKED, obj, *others, "-o", program], check=True)
        return "survived" if passes(program) else "caught"
    finally:
        obj.unlink(missing_ok=True)
        program.unlink(missing_ok=True)


def changed_lines(rev, path):
    diff = subprocess.run(["git", "diff", "-U0", rev, "--", path], cwd=TOP, check=True, capture_output=True, text=True)
    lines = set()
    for m in re.finditer(r"^@@ .*\+(\d+)(?:,(\d+))? @@", diff.stdout, re.M):
        lines.update(range(int(m[1]), int(m[1]) + int(m[2] or 1)))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--changed", metavar="REV")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    pure = subprocess.run([sys.executable, TOP / "scripts/check-looking.py", "--pure"], cwd=TOP, check=True,
                          capture_output=True, text=True).stdout.split()
    wanted = [str(Path(f).resolve().relative_to(TOP)) for f in args.files] or pure
    sums = Counter()
    with tempfile.TemporaryDirectory() as d, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = Path(d)
        tests = [f for f in sorted((TOP / "kunit").glob("*.c")) if f.name not in NOT_PURE]
        sources = [*(TOP / f for f in pure), *tests, TOP / "scripts/mutants/kunit.c"]
        objects = {f: work / (f.name + ".o") for f in sources}
        built = pool.map(lambda f: subprocess.run([*CC, *CHECKED, "-c", f, "-o", objects[f]], check=True), sources)
        list(built)
        subprocess.run([*CC, *CHECKED, *objects.values(), "-o", work / "whole"], check=True)
        if not passes(work / "whole"):
            subprocess.run([work / "whole"], check=False)
            sys.exit("the unit tests fail as they are")
        for name in wanted:
            path = TOP / name
            others = [o for f, o in objects.items() if f != path]
            seen = {code_of(path.read_text(), work / "original.s")}
            found = Counter()
            jobs = []
            lines = changed_lines(args.changed, path) if args.changed else None
            all_of_them = list(mutants(path, lines))
            codes = pool.map(lambda m, n: code_of(m[3], work / f"c{n}.s"), all_of_them, range(len(all_of_them)))
            for (line, old, new, source), code in zip(all_of_them, codes):
                if code is None or code in seen:
                    continue
                seen.add(code)
                jobs.append((line, old, new, pool.submit(judge, work, len(jobs), source, others)))
            for line, old, new, job in jobs:
                verdict = job.result()
                found[verdict] += 1
                if verdict == "survived":
                    old, new = (" ".join(s.split()) for s in (old, new))
                    print(f"survived {name}:{line}: {old}  ->  {new or '(nothing)'}", flush=True)
            print(f"{name}: {found['caught']} of {found['caught'] + found['survived']} caught", flush=True)
            sums += found
    print(f"{sums['caught'] + sums['survived']} mutants, {sums['caught']} caught, {sums['survived']} survived")


main()
