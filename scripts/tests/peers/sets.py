# SPDX-License-Identifier: GPL-2.0
"""The sets of cases of the programs hostile_*.py. A run of a set prints a line for each of its cases: ok, not ok, or
"left out NAME: reason". analysers/expect.py looks for these lines."""
import collections
import os

PROVIDERS = ("siw", "rxe", "hca")
# User space cannot post a Send With Invalidate on siw, and siw does not check whether a region allows remote reading.
NOT_SIW = ("rxe", "hca")
BOTH = (1, 2)
SETS = collections.defaultdict(list)


class Case(collections.namedtuple("Case", "name function traced vers only knobs mount")):
    """@traced: events that the case must cause, see Trace.missing(); with "v1/" or "v2/" before it, an event is expected
    in that version only. @vers: versions of the protocol in which the case runs. @only: the only providers with which
    it can test our module. @knobs: it uses the knobs of net/verbs/fail.c or lets allocations fail. Debian's kernels
    support neither. @mount: a case of a server begins with a mount."""

    def left_out(self, kernel, provider, version):
        """Why such a run does not try the case, or None"""
        if version not in self.vers:
            return "only in version 2" if version == 1 else "only in version 1"
        if provider not in self.only:
            return f"only with {' and '.join(self.only)}"
        if self.knobs and kernel.startswith("debian"):
            return "no CONFIG_FAULT_INJECTION"
        return None


def case(which, name, *traced, vers=BOTH, only=PROVIDERS, knobs=False, mount=True):
    """Mark a function as a case of the set @which."""
    if not set(vers) <= {*BOTH} or not set(only) <= {*PROVIDERS}:
        raise ValueError(f"{name}: in version {vers}, with {only}")

    def add(function):
        SETS[which].append(Case(name, function, traced, vers, only, knobs, mount))
        return function
    return add


def chosen(which, part, version):
    """The cases of a set that have @part in their name, except those that this run leaves out"""
    for one in SETS[which]:
        if part in one.name:
            reason = one.left_out(os.environ["KERNEL"], os.environ["PROVIDER"], version)
            if reason:
                print(f"left out {one.name}: {reason}", flush=True)
            else:
                yield one
