#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the first inputs of the fuzzer: the messages of the unit tests, a file for each.

usage: seeds.py OUTPUT_DIRECTORY FILE...

A FILE is C with arrays named vec_*, as in kunit/vectors.h. Behind each message are the choices that a target
reads there (FUZZ_CHOICES in fuzz.h), all zero.
"""
import os
import re
import sys

CHOICES = bytes(16)


def main():
    out, files = sys.argv[1], sys.argv[2:]
    os.makedirs(out, exist_ok=True)
    count = 0
    for path in files:
        with open(path, encoding="utf-8") as f:
            for name, body in re.findall(r"\b(vec_\w+)\[\] = \{([^}]*)\}", f.read()):
                with open(os.path.join(out, name), "wb") as seed:
                    seed.write(b"".join(int(w, 0).to_bytes(4, "big") for w in re.findall(r"W\((\w+)\)", body)) + CHOICES)
                count += 1
    sys.exit(0 if count else f"no messages in {' '.join(files)}")


main()
