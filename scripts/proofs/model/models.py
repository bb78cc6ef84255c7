#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the models of this folder with Spin, and check that Spin finds each fault of models.list.

usage: models.py [-v] [name ...]

A name is that of a model or of a fault; without names, all are checked. -v also prints what is as it should be, with
the number of states. If Spin finds something in a model, the steps that lead to it are printed.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


def entries():
    """(name of the fault or "", name of the model, options, text of the model) of each entry of models.list"""
    for block in re.split(r"\n(?=check |fault )", "\n" + re.sub(r"^#.*\n", "", read("models.list"), flags=re.M))[1:]:
        head, *lines = block.split("\n")
        kind, *words = head.split()
        fault = words.pop(0) if kind == "fault" else ""
        text = read(words[0] + ".pml")
        if fault:
            old, new = ("".join(line[1:] + "\n" for line in lines if line[:1] == sign) for sign in "-+")
            if not old or text.count(old) != 1:
                sys.exit(f"models.list: {fault}: its lines occur {text.count(old)} times")
            text = text.replace(old, new)
        yield fault, words[0], words[1:], text


def search(text, options, where, how=("-O2", "-DCOLLAPSE")):
    """(what Spin finds in a model, or ""; the number of states). A claim (ltl) is about endless runs, in which no
    process is passed over for ever; without a claim, assertions and processes that are stuck are looked for."""
    with open(os.path.join(where, "model"), "w", encoding="utf-8") as f:
        f.write(text)
    claim = "\nltl " in text
    for command in (["spin", "-a", *options, "model"],
                    ["gcc", *how, "-w", "-DVECTORSZ=512", *([] if claim else ["-DSAFETY"]), "-o", "pan", "pan.c"],
                    ["./pan", "-m1000000", *(["-a", "-f"] if claim else [])]):
        done = subprocess.run(command, cwd=where, text=True, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    found = re.search(r"^pan:1: (.*) \(at depth", done.stdout, re.M)
    # A search that was not completed has found something, or is worth nothing.
    if f"errors: {1 if found else 0}\n" not in done.stdout or ("not completed" in done.stdout) != bool(found) \
            or "too small" in done.stdout:
        sys.exit(done.stdout)
    return found[1] if found else "", re.search(r"(\S+) states, stored", done.stdout)[1]


def main():
    names, seen, rc = [a for a in sys.argv[1:] if a != "-v"], 0, 0
    with tempfile.TemporaryDirectory() as where:
        for fault, model, options, text in entries():
            if names and model not in names and fault not in names:
                continue
            seen += 1
            found, states = search(text, options, where, ("-O0", "-DCOLLAPSE") if fault else ("-O2", "-DCOLLAPSE"))
            line = f"{fault or model} ({' '.join([model, *options])}): {found or 'nothing found'}, {states} states"
            if bool(found) == bool(fault):
                print("ok", line) if "-v" in sys.argv else None
                continue
            rc = 1
            print("not ok", line, flush=True)
            if found:
                # The shortest way is found by searching breadth first, which is not possible with a claim.
                "\nltl " in text or search(text, options, where, ("-O2", "-DBFS"))
                subprocess.run(["spin", "-t", "-p", "-g", "-l", *options, "model"], cwd=where, check=False)
    sys.exit(rc or not seen)


main()
