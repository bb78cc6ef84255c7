# SPDX-License-Identifier: GPL-2.0
"""Run tshark's decoders on a capture: its own for version 1, and ours for version 2 (scripts/wireshark). They
share no code with the module. This file also prints the results of the programs that check a capture.
"""
import os
import re
import subprocess

LUA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../wireshark/rpcrdma2.lua")
WITH_LUA = ("-X", "lua_script:" + LUA)
# tcp.try_heuristic_first: a port of the client may be one that tshark takes for another protocol's.
TSHARK = ["tshark", "-o", "tcp.try_heuristic_first:TRUE"]
# From version 4.4 on, tshark runs no Lua script as root. So run it as another user, who may read all files.
if os.geteuid() == 0:
    TSHARK = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_override",
              "--ambient-caps=+dac_override", *TSHARK]
EXPERT_ERROR = 0x00800000


def tshark(capture, display, *more):
    # Two passes (-2): with only one, tshark calls each Reply to READ malformed if its data were moved by RDMA.
    cmd = [*TSHARK, "-2", "-n", "-r", capture, "-Y", display, *more]
    return subprocess.run(cmd, check=True, capture_output=True, text=True).stdout


def fields(capture, display, names, *more):
    """Returns a dictionary of fields for each frame that passes the filter @display. All occurrences of a field are in
    one string, separated by commas."""
    out = tshark(capture, display, *more, "-T", "fields", "-E", "occurrence=a", *[x for f in names for x in ("-e", f)])
    return [dict(zip(names, line.split("\t") + [""] * len(names))) for line in out.splitlines()]


def numbers(text):
    """The values of a field. From version 4.2 on, tshark prints words for those of a boolean field."""
    return [{"True": 1, "False": 0}[t] if t in ("True", "False") else int(t, 0) for t in text.split(",") if t]


def number(text):
    return numbers(text)[0] if text else 0


def is_error(line):
    """Does tshark find an error? (From "_ws.expert.severity"; warnings do not matter.)"""
    return any(s >= EXPERT_ERROR for s in numbers(line["_ws.expert.severity"]))


def complaints():
    """Returns the texts of all complaints that our dissector can make about a message."""
    with open(LUA, encoding="utf-8") as f:
        return re.findall(r'^(?:bad|odd)\("\w+", "(.*)"\)', f.read(), re.M)


def verdict(name, good, reason=""):
    print(f"case {'ok' if good else 'not ok'} {name} 0 {'' if good else reason}".rstrip())
