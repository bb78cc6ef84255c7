#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Unpack or write scripts/fuzz/corpus, the inputs of the fuzzer that are kept in the repository.

usage: corpus.py --unpack CORPUS OUTPUT TARGET...
       corpus.py --unpack-some CORPUS OUTPUT TARGET...
       corpus.py --pack INPUTS CORPUS TARGET

CORPUS has a file TARGET.hex for each target. It begins with two comment lines: the licence and the number of
inputs. Each other line is an input in hexadecimal digits, the shorter ones first. --unpack makes a directory
OUTPUT/TARGET for each target, with a file for each input. It is an error if a file is damaged, belongs to no
target, or is missing for a target; with --unpack-some, a target without a file has no inputs. --pack does the
reverse for one target: it packs the files in the directory INPUTS, except those named vec_*, which seeds.py makes.
"""
import hashlib
import re
import sys
from pathlib import Path

HEAD = "# SPDX-License-Identifier: GPL-2.0\n# {} inputs\n"


def read(path):
    """The inputs in a file. Raises ValueError if the file is damaged."""
    text = path.read_text(encoding="ascii", errors="replace")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for n, line in enumerate(lines):
        if not re.fullmatch(r"(?:[0-9a-f]{2})+", line):
            raise ValueError(f"input {n + 1} is not a line of hexadecimal bytes")
    inputs = [bytes.fromhex(line) for line in lines]
    if not inputs:
        raise ValueError("no inputs")
    if text != write(inputs):
        raise ValueError("not as it was written: inputs are missing, out of order or there twice, or the head is another")
    return inputs


def write(inputs):
    lines = sorted({i.hex() for i in inputs}, key=lambda line: (len(line), line))
    return HEAD.format(len(lines)) + "".join(line + "\n" for line in lines)


def unpack(corpus, out, targets, some):
    wrong = [f"{path}: there is no such target" for path in sorted(corpus.glob("*"))
             if path.suffix != ".hex" or path.stem not in targets]
    for target in targets:
        path = corpus / f"{target}.hex"
        try:
            inputs = [] if some and not path.exists() else read(path)
        except (OSError, ValueError) as e:
            wrong.append(f"{path}: {e.strerror if isinstance(e, OSError) else e}")
            continue
        (out / target).mkdir(parents=True, exist_ok=True)
        for data in inputs:
            (out / target / hashlib.sha1(data).hexdigest()).write_bytes(data)
    sys.exit("\n".join(wrong) if wrong else 0)


def pack(inputs, corpus, target):
    data = [f.read_bytes() for f in inputs.iterdir() if not f.name.startswith("vec_")]
    corpus.mkdir(exist_ok=True)
    (corpus / f"{target}.hex").write_text(write(d for d in data if d), encoding="ascii")


def main():
    match sys.argv[1:]:
        case ["--unpack" | "--unpack-some" as how, corpus, out, *targets] if targets:
            unpack(Path(corpus), Path(out), targets, how == "--unpack-some")
        case ["--pack", inputs, corpus, target]:
            pack(Path(inputs), Path(corpus), target)
        case _:
            sys.exit(__doc__)


main()
