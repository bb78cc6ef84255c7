#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find the commands in the documents, so that a test can run them.

usage: documents.py --write DIRECTORY   write each block with commands as a bash script NNN.sh, in the order of the
                                        documents. Its first line names the document and the line.
       documents.py --check             fail if an entry of documents.list fits no line (make check does this)
       documents.py --print             print each line of the documents, and what is done with it

A block is a literal block of README and of the documents for administrators, or the display of a manual page. Each of
its lines is a command that is run, unless tests/documents.list says otherwise. So a command that is added to a document
is run, or fails.
"""
import fnmatch
import os
import re
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(os.path.dirname(TESTS))
DOCUMENTS = ["README", "Documentation/quickstart.rst", "Documentation/admin.rst", "Documentation/distros.rst", "Documentation/rpcrdma.4",
             "Documentation/rpcrdma-check.8", "Documentation/rpcrdma-stats.8"]
HOWS = ("no", "as", "first", "then", "file")


def text(path):
    with open(f"{TOP}/{path}", encoding="utf-8") as f:
        return f.read().splitlines()


def rst_blocks(lines):
    """[(number of its first line, [line])] of the literal blocks"""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.rstrip().endswith("::") or line.lstrip().startswith(".. "):
            continue
        indent = len(line) - len(line.lstrip())
        while at < len(lines) and not lines[at].strip():
            at += 1
        first, block = at + 1, []
        while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > indent):
            block.append(lines[at])
            at += 1
        yield first, block


def mdoc_blocks(lines):
    first = None
    for number, line in enumerate(lines, 1):
        if line.startswith(".Bd -literal"):
            first, block = number + 1, []
        elif line == ".Ed" and first:
            yield first, [re.sub(r"^# ", "", part.replace("\\e", "\\")) for part in block]
            first = None
        elif first:
            block.append(line)


def joined(block):
    """The lines of a block. A line that ends with a backslash, or within quotes, continues in the next
    one."""
    whole = ""
    for line in block:
        whole += ("\n" if whole else "") + (line if whole else line.strip())
        if whole.endswith("\\") or (whole.count("'") % 2 and not re.search(r"[a-z]'[a-z]", whole)):
            continue
        if whole.strip():
            yield whole
        whole = ""
    if whole.strip():
        yield whole


def entries():
    """[document, pattern, how, what] of documents.list"""
    with open(f"{TESTS}/documents.list", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#") and line.strip():
                # A command may contain a pipe.
                entry = re.fullmatch(rf"(\S+) \| (.+?) \| ({'|'.join(HOWS)}): (.+)", line.strip())
                if not entry:
                    sys.exit(f"documents.list: not an entry: {line.strip()}")
                yield list(entry.groups())


def fits(entry, document, line):
    # In a pattern, [ has no special meaning, because many commands contain it.
    return fnmatch.fnmatchcase(os.path.basename(document), entry[0]) and \
        fnmatch.fnmatchcase(line.split("\n")[0], entry[1].replace("[", "[[]"))


def checked(line):
    """The line, with a check that ends the script if the line fails. Despite "set -e", bash continues
    if the first part of "a && b" fails."""
    return line + "\n[ $? = 0 ]" if "&&" in line else line


def script(document, block, rules, used):
    """The lines of the script for a block, and what was done with each line of the document"""
    made, done = [], []
    for line in joined(block):
        mine = [rule for rule in rules if fits(rule, document, line)]
        used.update(id(rule) for rule in mine)
        how = {rule[2]: rule[3] for rule in mine}
        if "no" in how and "as" in how:
            sys.exit(f"documents.list: two entries fit: {line}")
        if "first" in how:
            made.append(checked(how["first"]))
        if "file" in how:
            made.append(f"printf '%s\\n' {quoted(line)} >>{how['file']}")
        elif "as" in how:
            made.append(checked(how["as"]))
        elif "no" not in how:
            made.append(checked(line))
        if "then" in how:
            made.append(checked(how["then"]))
        done.append((line, ", ".join(f"{h}: {w}" for h, w in how.items()) or "run"))
    return made, done


def quoted(line):
    return "'" + line.replace("'", "'\\''") + "'"


def main():
    rules, used, number = list(entries()), set(), 0
    for document in DOCUMENTS:
        find = rst_blocks if not re.search(r"\.[1-9]$", document) else mdoc_blocks
        for first, block in find(text(document)):
            made, done = script(document, block, rules, used)
            if sys.argv[1] == "--print":
                for line, what in done:
                    print(f"{document}:{first}: {line}\n\t{what}")
            if sys.argv[1] != "--write" or not made:
                continue
            number += 1
            with open(f"{sys.argv[2]}/{number:03}.sh", "w", encoding="utf-8") as f:
                f.write(f"# {document}:{first}\n" + "\n".join(made) + "\n")
    unused = [rule for rule in rules if id(rule) not in used]
    for rule in unused:
        print(f"documents.list: no line of {rule[0]} is {rule[1]}")
    if unused or (sys.argv[1] == "--write" and number < 20):
        sys.exit(1)


if len(sys.argv) < 2 or sys.argv[1] not in ("--write", "--check", "--print"):
    sys.exit(__doc__)
main()
