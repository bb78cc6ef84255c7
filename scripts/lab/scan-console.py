#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find complaints of a kernel in a console log.

usage: scan-console.py FILE [CASE]

Prints one line for each report, "<case>\\t<line>", where <case> is the test case that was running ("-" if there was
none). With a case, it prints only the first line that was reported during that case. INTREE in the environment means
that the console is of a guest with the in-tree module. With TOLERATED in the environment, it prints only reports
that it otherwise leaves out: those that code outside our module causes, and that may turn lockdep
off.
The status is 0 unless the file cannot be read. The output tells the caller whether there are reports.
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
    r"|hca_sim: (report|iw_cm has|self test failed)|DMA-API: (?!preallocated|debugging (en|dis)abled)|refcount_t: |ODEBUG: |list_(add|del) corruption"
    r"|unreferenced object 0x|Bad page state|stack-protector|kernel stack overflow"
    r"|out of memory: Killed|Out of memory"
    # What was lost may have been a report.
    r"|printk messages dropped"
)
# Lines that look like reports, but report no fault of our module
FINE = re.compile(
    r"^(<\d+>)?(\[[ .\d]+\](\[ *[TC]\d+\])? )?lab: |KASAN_SHADOW|kasan: KernelAddressSanitizer initialized|debugging might impact"
    # While a test lets allocations fail, kmemleak may have no memory to note which part of an object has pointers. It then
    # searches the whole object.
    r"|kmemleak: Cannot allocate a scan area, scanning the full object"
    r"|kmemleak: Automatic memory scanning|Speculative|Spectre|MDS CPU bug|x86/cpu"
    r"|KMSAN is a debugging tool|Starting KernelMemorySanitizer"
    r"|\| WARNING: |rcu:\s+RCU|CONFIG_KCSAN_STRICT"
    # A fault of rxe: a packet came twice for a completed work request. (The word "at" is before the file in 6.12,
    # and after it in 7.3.)
    r"|WARNING: .*drivers/infiniband/sw/rxe/rxe_comp\.c:\d+ (at )?rxe_completer\b"
    # A fault of Debian's rxe: after queueing a packet, it uses a queue pair that only the packet kept alive. The kernels with
    # KASAN have rxe.patch, so the same in a report of KASAN has another reason.
    r"|WARNING: .*rxe/rxe_task\.c:\d+ (at )?rxe_sched_task\b"
)
# KCSAN finds races all over the kernel. A race counts only if one of our functions accesses the data, or calls the
# function that accesses them. The in-tree module is also called [rpcrdma], so with INTREE no race counts.
RACE = re.compile(r"KCSAN: .* in ")
ACCESS = re.compile(r"\b(read|write|read-write)\b.* to 0x\S+ of .* by (task|interrupt)")
# siw takes the callback lock of its sockets with softirqs enabled. If a listener is closed with a connection in its
# queue, TCP takes this lock while it holds another one, and lockdep reports that order.
ORDER = re.compile(r"WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order")
# With INTREE, KASAN reports and warnings do not count if a function of the in-tree module is on the
# stack. (For example, in 7.3, if connections of that module break, frwr_unmap_sync() waits for a
# region that has been freed.)
INTREE = os.environ.get("INTREE")
TOLERATED = os.environ.get("TOLERATED")
THEIRS = re.compile(r"(BUG: KASAN|WARNING): ")
END = re.compile(r"={20}|end trace|^\[[ .\d]+\] Allocated by|lab: ")
OURS = re.compile(r"\[rpcrdma\]" if not INTREE else "(?!)")
MARK = re.compile(r"lab: (begin|end) case (\S+)")
CUT = re.compile(r"(end trace|cut here)")


def is_ours(report):
    """@report: the lines after the first line of a report about a race. Is one of the two innermost functions of an
    access ours?"""
    near = 0
    for line in report:
        if "=" * 20 in line:
            return False
        near = 2 if ACCESS.search(line) else near - 1
        if near in (0, 1) and OURS.search(line):
            return True
    return False


def is_siws(report):
    """Is the report about the callback lock of siw's sockets, without a function of ours?"""
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
    """Is this a report that code outside our module causes, and that may turn lockdep off?"""
    return ORDER.search(line) and is_siws(report[:119]) or INTREE and THEIRS.search(line) and is_theirs(report)


def reports(src):
    """(case that was running, line) of each report"""
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
