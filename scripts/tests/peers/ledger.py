#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: ledger.py FILE SECONDS [check]

Processes that share an SQLite database. Each moves amounts between accounts in transactions, and writes each move to a
journal. At random moments, processes are killed in the middle of a transaction and replaced. In the end, and with
"check" at once, SQLite must find its file intact, no amount may be lost, and the balances must equal what the journal
says. Prints the number of moves.
"""
import os
import random
import signal
import sqlite3
import sys
import time

ACCOUNTS, START, WORKERS = 500, 1000, 4


def connect(path):
    db = sqlite3.connect(path, timeout=120, isolation_level=None)
    db.execute("PRAGMA synchronous=FULL")
    return db


def work(path, who):
    rng = random.Random(os.getpid())
    db = connect(path)
    while True:
        a, b = rng.sample(range(ACCOUNTS), 2)
        amount = rng.randrange(100)
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE account SET balance = balance - ? WHERE id = ?", (amount, a))
        db.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, b))
        db.execute("INSERT INTO move (who, source, target, amount, note) VALUES (?, ?, ?, ?, ?)",
                   (who, a, b, amount, "x" * rng.randrange(2000)))
        db.execute("COMMIT")


def spawn(path, who):
    pid = os.fork()
    if pid == 0:
        try:
            work(path, who)
        except BaseException as error:  # pylint: disable=broad-except
            print(f"process {who}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    return pid


def run(path, seconds):
    db = connect(path)
    db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)")
    db.execute("CREATE TABLE move (id INTEGER PRIMARY KEY, who INTEGER, source INTEGER, target INTEGER, amount INTEGER,"
               " note TEXT)")
    db.execute("CREATE INDEX by_source ON move (source)")
    db.executemany("INSERT INTO account VALUES (?, ?)", ((i, START) for i in range(ACCOUNTS)))
    db.close()
    # A connection must not be shared by processes.
    workers = [spawn(path, who) for who in range(WORKERS)]
    end, killed = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(random.uniform(1, 4))
        for pid in workers:
            if os.waitpid(pid, os.WNOHANG)[0]:
                sys.exit("a process has ended by itself")
        who = killed % WORKERS
        os.kill(workers[who], signal.SIGKILL)
        os.waitpid(workers[who], 0)
        workers[who] = spawn(path, who)
        killed += 1
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return killed


def check(path):
    db = connect(path)
    (verdict,) = db.execute("PRAGMA integrity_check").fetchone()
    if verdict != "ok":
        sys.exit(f"integrity_check: {verdict}")
    balance = dict(db.execute("SELECT id, balance FROM account"))
    if len(balance) != ACCOUNTS or sum(balance.values()) != ACCOUNTS * START:
        sys.exit(f"{len(balance)} accounts have {sum(balance.values())}")
    moves = 0
    for source, target, amount in db.execute("SELECT source, target, amount FROM move"):
        balance[source] += amount
        balance[target] -= amount
        moves += 1
    if set(balance.values()) != {START}:
        sys.exit("the balances are not what the journal says")
    return moves


if len(sys.argv) == 3:
    print(f"{run(sys.argv[1], float(sys.argv[2]))} processes were killed")
print(f"{check(sys.argv[1])} moves")
