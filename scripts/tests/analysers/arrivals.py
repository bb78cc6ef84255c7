#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count duplicated and reordered packets where they arrive.

usage: arrivals.py DEVICE SOURCE SECONDS

Prints "PACKETS TWICE LATE": the number of IPv4 packets from SOURCE in that time, how many of them had
arrived before, and how many arrived after a packet that was sent later. The sender numbers all
packets (identification in the IP header), and a retransmission gets a new number. So if the same
number arrives twice, the network has duplicated a packet.
"""
import socket
import struct
import sys
import time

ETH_P_IP = 0x0800
HEADERS = 96


def main():
    device, source, seconds = sys.argv[1], socket.inet_aton(sys.argv[2]), float(sys.argv[3])
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    s.bind((device, ETH_P_IP))
    s.settimeout(0.2)
    packets = twice = late = 0
    seen, last = set(), {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            packet, where = s.recvfrom(HEADERS)
        except TimeoutError:
            continue
        if packet[12:16] != source or where[2] == socket.PACKET_OUTGOING:
            continue
        packets += 1
        if packet in seen:
            twice += 1
            continue
        seen.add(packet)
        number, flow = struct.unpack_from(">H", packet, 4)[0], (packet[9], packet[20:24])
        ahead = (number - last.get(flow, number)) & 0xffff
        if ahead & 0x8000:
            late += 1
        else:
            last[flow] = number
    print(packets, twice, late)


main()
