#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find what a kernel complains about in a console log.

usage: scan-console.py FILE [CASE]

Prints one line for each report, "<case>\\t<line>", where <case> is the test case that
was running ("-" outside of all); or, with a case, the first line reported during it. With
INTREE in the environment, it is the console of a guest with the in-tree module.
With TOLERATED in the environment, it prints those reports instead that are passed over because they are
somebody else's, and after which lockdep is off. Status 0 unless the file cannot be read: the caller
decides by the output.
"""
import os
import re
import sys

REPORT = re.compile(
    r"BUG: |WARNING: |KASAN|KCSAN|KMSAN|UBSAN|KFENCE"
    # slub: "BUG kmalloc-64 (Not tainted): Right Redzone overwritten"
    r"|\bBUG \S+ \(.*\): |\bFIX \S+: |kernel BUG at"
    r"|INFO: trying to register non-static key|INFO: Slab 0x|INFO: Object 0x"
    r"|unregister_netdevice: waiting|nobody cared|Bad (rss-counter|swap|page map)|double fault"
    r"|kmemleak: (Cannot|Failed|Unable)"
    r"|turning off the locking correctness validator|MAX_LOCK\w+ too low"
    r"|possible circular locking|possible recursive locking|inconsistent lock state"
    r"|suspicious RCU usage|possible irq lock inversion|lock held when returning"
    r"|bad unlock balance|held lock freed|invalid wait context"
    r"|sleeping function called|scheduling while atomic"
    r"|INFO: task .* blocked|rcu.*(detected|self-detected)( expedited)? stall|rcu.*kthread starved|soft lockup|hard LOCKUP|workqueue lockup"
    r"|Oops|general protection|Kernel panic|Unable to handle kernel"
    r"|DMA-API: (?!preallocated|debugging enabled)|refcount_t: |ODEBUG: |list_(add|del) corruption"
    r"|unreferenced object 0x|Bad page state|stack-protector|kernel stack overflow"
    r"|out of memory: Killed|Out of memory"
)
# Not complaints about anything we do.
FINE = re.compile(
    r"^(<\d+>)?(\[[ .\d]+\](\[ *[TC]\d+\])? )?lab: |KASAN_SHADOW|kasan: KernelAddressSanitizer initialized|debugging might impact"
    r"|kmemleak: Automatic memory scanning|Speculative|Spectre|MDS CPU bug|x86/cpu"
    r"|KMSAN is a debugging tool|Starting KernelMemorySanitizer"
    r"|\| WARNING: |rcu:\s+RCU|CONFIG_KCSAN_STRICT"
    # rxe's own: a packet that came twice, for a work request that is done. (6.12 has the word "at"
    # before the file, 7.3 behind it.)
    r"|WARNING: .*drivers/infiniband/sw/rxe/rxe_comp\.c:\d+ (at )?rxe_completer\b"
    # Having queued a packet, it looks at a queue pair that only the packet kept.
    r"|KASAN: slab-use-after-free in rxe_sched_task|WARNING: .*rxe/rxe_task\.c:\d+ (at )?rxe_sched_task\b"
)
RXE = re.compile(r"in rxe_sched_task\b")
# KCSAN finds races all over the kernel. Those are ours that a function of ours is in, or has called
# what is; the in-tree module's have the same names.
RACE = re.compile(r"KCSAN: .* in ")
ACCESS = re.compile(r"\b(read|write|read-write)\b.* to 0x\S+ of .* by (task|interrupt)")
# siw takes its sockets' callback lock with softirqs enabled. TCP takes that below another one when a
# listener is closed that has a connection in its queue.
ORDER = re.compile(r"WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order")
# What the in-tree module does wrong is its own trouble. (7.3: frwr_unmap_sync() waits for a region
# that has been freed, when its connections are broken.)
INTREE = os.environ.get("INTREE")
TOLERATED = os.environ.get("TOLERATED")
THEIRS = re.compile(r"(BUG: KASAN|WARNING): ")
END = re.compile(r"={20}|end trace|^\[[ .\d]+\] Allocated by|lab: ")
OURS = re.compile(r"\[rpcrdma\]" if not INTREE else "(?!)")
MARK = re.compile(r"lab: (begin|end) case (\S+)")
CUT = re.compile(r"(end trace|cut here)")


def is_ours(report):
    """Of the lines from a race's first one on: is a function of ours among the upper two of an access?"""
    near = 0
    for line in report:
        if "=" * 20 in line:
            return False
        near = 2 if ACCESS.search(line) else near - 1
        if near in (0, 1) and OURS.search(line):
            return True
    return False


def is_siws(report):
    """Is it about the callback lock of siw's sockets, and nothing of ours?"""
    text = "\n".join(report)
    text = text[:text.find("locks held by")]
    return "is trying to acquire" in text and "(clock-AF_INET" in text and "[siw]" in text and "[rpcrdma]" not in text


def is_theirs(report):
    """Is a function of the in-tree module on the stack?"""
    for line in report:
        if END.search(line):
            return False
        if "[rpcrdma]" in line:
            return True
    return False


def tolerated(line, report):
    """Somebody else's, and after it lockdep is off"""
    return (ORDER.search(line) and is_siws(report[:119]) or RXE.search(line) and "KASAN" in line or
            INTREE and THEIRS.search(line) and is_theirs(report))


def reports(src):
    """(the case that was running, the line) of each report"""
    case = "-"
    for i, line in enumerate(src):
        mark = MARK.search(line)
        if mark:
            line = line[:mark.start()]
        rest = src[i + 1:i + 120]
        if REPORT.search(line) and not (RACE.search(line) and not OURS.search(line) and not is_ours(rest[:59])):
            if tolerated(line, rest[:119 if ORDER.search(line) else 79]):
                if TOLERATED:
                    yield case, line
            elif not FINE.search(line) and not TOLERATED:
                yield case, line
        if mark:
            case = mark.group(2) if mark.group(1) == "begin" else "-"


def main():
    with open(sys.argv[1], errors="replace", encoding="utf-8") as f:
        src = f.read().splitlines()
    only = sys.argv[2] if len(sys.argv) > 2 else None
    for case, line in reports(src):
        if only is None:
            print(f"{case}\t{line.strip()[:200]}")
        elif case == only:
            print(line.strip()[:160])
            return


main()
