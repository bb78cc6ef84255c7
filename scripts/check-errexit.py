#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find commands that rely on "set -e" where it is off.

Bash ignores errexit in everything that a condition calls, functions and subshells included. Conditions are the
commands after if, while, until and "!", and those before "&&" and "||". This script lists the commands in such
places that may fail without notice: those that are not the last of their function, and have no "||". To correct
this, add "|| return" or "|| die" to the command, or remove the condition. A "!" command never ends a script,
wherever it is.

usage: check-errexit.py [file...]    (default: lab/guest/lib.sh, tests/*.sh and tests/groups/*.sh)
"""
import glob
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = f"{TOP}/scripts/tests"
# A group's file uses functions of these files.
SHARED = [f"{TOP}/scripts/lab/guest/lib.sh", f"{TESTS}/cases.sh", f"{TESTS}/broken.sh", f"{TESTS}/groups/wire.sh"]
# Commands that this script does not report: they hardly ever fail, they leave the function, or
# their failure does not matter, because they only wait, print, or clean up
SURE = set(": true echo printf local declare shift set trap return exit break continue exec kill wait read unset "
           "nap sleep note sort tail cat rm sync date eval mapfile basename".split())


# Results of known(). Each entry also keeps its tree in memory. If the tree were freed, another one
# could get the same id().
KNOWN = {}


def known(function, tree):
    key = (function, id(tree))
    if key not in KNOWN:
        KNOWN[key] = list(function(tree)), tree
    return KNOWN[key][0]


def parsed(path, trees={}):
    if path not in trees:
        trees[path] = parse(open(path).read())
    return trees[path]


def parse(text):
    done = subprocess.run(["shfmt", "--to-json", "-ln", "bash"], input=text, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"check-errexit.py: shfmt: {done.stderr}")
    return json.loads(done.stdout, object_hook=without_places)


def without_places(node):
    """Keep only the line where a node begins, and drop all other positions."""
    if "Offset" in node:
        return node.get("Line", 0)
    return {k: v for k, v in node.items() if not isinstance(v, int) or k in ("Pos", "Op", "Negated", "Background")}


def first_op(text):
    return parse(text)["Stmts"][0]["Cmd"]["Op"]


AND, OR = first_op("a && b"), first_op("a || b")


def literal(word):
    parts = word.get("Parts", [])
    return parts[0]["Value"] if len(parts) == 1 and parts[0]["Type"] == "Lit" else None


def is_arguments(word):
    """Is the word "$@", or does it contain it?"""
    return any(n.get("Type") == "ParamExp" and n["Param"]["Value"] == "@" for n in nodes(word))


def is_return(stmt):
    """Is the statement "return" without a number? Such a return passes on the status of the command before it."""
    args = (stmt.get("Cmd") or {}).get("Args") or [{}]
    return len(args) == 1 and literal(args[0]) == "return"


def nodes(tree):
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from nodes(value)


def calls(tree):
    return known(find_calls, tree)


def find_calls(tree):
    return (n for n in nodes(tree) if n.get("Type") == "CallExpr" and n.get("Args"))


def conditions(tree):
    return known(find_conditions, tree)


def find_conditions(tree):
    """Statements whose status decides a condition"""
    for n in nodes(tree):
        kind = n.get("Type")
        if kind in ("IfClause", "WhileClause"):
            yield from n.get("Cond", [])
        elif kind == "BinaryCmd" and n["Op"] in (AND, OR):
            yield n["X"]
        elif n.get("Negated"):
            yield {"Cmd": n["Cmd"]}


class Scripts:
    def __init__(self, paths):
        self.functions, self.places = {}, {}
        for path in paths:
            tree = parsed(path)
            self.trees = tree
            for n in nodes(tree):
                if n.get("Type") == "FuncDecl":
                    self.functions[n["Name"]["Value"]] = n["Body"]
                    self.places[n["Name"]["Value"]] = path
        # Functions that run their arguments in a condition
        self.wrappers = set()
        for _ in range(4):
            self.wrappers |= {name for name, body in self.functions.items()
                              if any(self.runs_arguments(c) for c in conditions(body))}
        self.dies = set()
        for _ in range(6):
            self.dies |= {name for name, body in self.functions.items() if not self.open(body, True)}

    def runs_arguments(self, tree):
        for call in calls(tree):
            args = call["Args"]
            if is_arguments(args[0]) or (literal(args[0]) in self.functions and any(map(is_arguments, args[1:]))):
                return True
        return False

    def named(self, tree):
        return {w for call in calls(tree) for w in map(literal, call["Args"]) if w in self.functions}

    def suppressed(self):
        """{function that runs in a condition: the function that calls it}"""
        found = {}
        roots = [(None, self.trees)] + list(self.functions.items())
        for name, body in roots:
            for c in conditions(body):
                for f in self.named(c):
                    found.setdefault(f, name)
            for call in calls(body):
                if literal(call["Args"][0]) in self.wrappers:
                    for w in map(literal, call["Args"][1:]):
                        if w in self.functions:
                            found.setdefault(w, f"{literal(call['Args'][0])} in {name}")
        while True:
            more = {f: name for name in found for f in self.named(self.functions[name]) if f not in found}
            if not more:
                return found
            found.update(more)

    def may_fail(self, stmt):
        cmd = stmt.get("Cmd")
        if stmt.get("Background") or cmd is None:
            return False
        kind = cmd["Type"]
        if kind == "CallExpr":
            if not cmd.get("Args"):
                return any(n.get("Type") == "CmdSubst" and any(map(self.may_fail, n.get("Stmts", [])))
                           for n in nodes(cmd.get("Assigns")))
            name = literal(cmd["Args"][0])
            return not (name in SURE or name in self.dies or name in ("die", "skip"))
        if kind == "DeclClause" or kind == "LetClause" or kind == "FuncDecl":
            return False
        if kind == "BinaryCmd":
            if cmd["Op"] == OR:
                return False
            return self.may_fail(cmd["Y"])
        return kind in ("TestClause", "ArithmCmd", "Subshell", "TimeClause")

    def open(self, stmt, last_counts=False):
        """Statements that may fail without notice. The status of the last statement is that of the
        function, so this statement is left out unless @last_counts."""
        found = []

        def walk(stmts, last):
            for i, s in enumerate(stmts):
                at_end = last and i == len(stmts) - 1 and not last_counts
                cmd = s.get("Cmd") or {}
                kind = cmd.get("Type")
                if kind == "Block":
                    walk(cmd["Stmts"], last and i == len(stmts) - 1)
                elif kind == "IfClause":
                    branch = cmd
                    while branch:
                        walk(branch.get("Then", []), last and i == len(stmts) - 1)
                        branch = branch.get("Else")
                elif kind in ("ForClause", "WhileClause"):
                    walk(cmd.get("Do", []), False)
                elif kind == "CaseClause":
                    for item in cmd.get("Items", []):
                        walk(item.get("Stmts", []), last and i == len(stmts) - 1)
                elif i + 1 < len(stmts) and is_return(stmts[i + 1]):
                    pass
                elif not at_end and (self.may_fail(s) or s.get("Negated")):
                    found.append(s)

        walk([stmt], True)
        return found

    def idle_settings(self):
        """Find (set -e; ...) || ..., where set -e has no effect."""
        for c in conditions(self.trees):
            for n in nodes(c):
                for call in calls(n.get("Stmts", []) if n.get("Type") == "Subshell" else []):
                    if [*map(literal, call["Args"][:1])] == ["set"] and "e" in (literal(call["Args"][1]) or ""):
                        yield n

    def idle_negations(self):
        for name, body in self.functions.items():
            for n in self.open(body):
                if n.get("Negated"):
                    yield name, n


def line(stmt):
    return stmt.get("Pos", stmt.get("Cmd", {}).get("Pos", 0))


def text_of(path, stmt):
    return open(path).read().splitlines()[line(stmt) - 1].strip()


def main():
    paths = sys.argv[1:] or [SHARED[0], *sorted(glob.glob(f"{TESTS}/*.sh") + glob.glob(f"{TESTS}/groups/*.sh"))]
    said = set()
    for path in paths:
        shared = [] if open(path).read().startswith("#!") else [p for p in SHARED if p != path]
        scripts = Scripts(shared + [path])
        for name, who in sorted(scripts.suppressed().items()):
            for stmt in scripts.open(scripts.functions[name]):
                at = scripts.places[name]
                said.add((at, line(stmt), f"{name}(), called in a condition by {who or 'the file'}, goes on if this fails: "
                          f"{text_of(at, stmt)}"))
        for stmt in scripts.idle_settings():
            said.add((path, line(stmt), f"\"set -e\" has no effect here: {text_of(path, stmt)}"))
        for name, stmt in scripts.idle_negations():
            at = scripts.places[name]
            said.add((at, line(stmt), f"\"!\" has no effect here: {text_of(at, stmt)}"))
    seen = set()
    for path, number, text in sorted(said):
        if (path, number) not in seen:
            seen.add((path, number))
            print(f"{os.path.relpath(path, TOP)}:{number}: {text}")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
