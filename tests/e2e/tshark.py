#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests and replies that bbtrace finds, and packets of TCP and UDP (inside of tunnels too), against
those that tshark finds, file by file. Every difference must stand in TABLE (file, what, ours, tshark's,
why: separated by tabs), and every line of TABLE must still be true.

  tshark.py BBTRACE FOLDER TABLE [--lines]   skipped (77) without tshark or without the captures;
                                             --lines: what lacks in TABLE as lines for it, but for the why"""
import collections
import concurrent.futures
import os
import shutil
import sys

import captured
import tshark_counts

# Their answer is a single byte, which tshark does not tell.
ENCRYPTION = {"SSLRequest", "GSSENCRequest"}

# What a Redis server sends by itself.
REDIS_UNASKED = {"MESSAGE", "PMESSAGE", "SMESSAGE", "MONITOR", "RDB"}

# What tshark has no simple count of: replies of Redis and of MySQL.
PROTOCOLS = ("afsrx ajp amqp cassandra dcerpc diameter dns fastcgi giop http http2 kafka ldap memcached mongodb mqtt ntp "
             "oncrpc postgresql radius rmi sip smb2 smtp snmp thrift tls websocket").split()
KINDS = [*(f"{protocol} {what}" for protocol in PROTOCOLS for what in ("requests", "replies")),
         "redis requests", "mysql requests", "websocket messages", "tcp packets", "udp packets"]


def kind_of(message):
    """As tshark_counts counts it; None for what that leaves out."""
    protocol, what, label = message.get("proto", ""), message["what"], message.get("op", "")
    if protocol == "grpc":
        protocol = "http2"
    if protocol == "tls" and not label:  # records after the handshake, and handshakes without a name
        return None
    if protocol == "mysql" and label == "login":  # tshark counts commands
        return None
    if protocol == "redis" and what == "MSG" and label in REDIS_UNASKED or label in ENCRYPTION and what == "RET":
        return None
    if protocol == "websocket" and what == "MSG":
        return "websocket messages" if label in ("text", "binary") else None
    # A free message with a status is a reply: those of multicast DNS, a mail server's banner.
    if what == "MSG" and protocol not in ("http", "dns", "postgresql", "redis", "smtp"):
        return None
    return f"{protocol} {'replies' if what == 'RET' or what == 'MSG' and 'status' in message else 'requests'}"


def ours(bbtrace, path):
    messages, counters = captured.read(captured.run(bbtrace, path))
    counts = collections.Counter(kind_of(message) for message in messages)
    for transport in ("tcp", "udp"):
        counts[f"{transport} packets"] = counters.get(f"{transport}_packets", 0)
    return counts


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            name, kind, mine, other, why = line.rstrip("\n").split("\t")
            assert why and (name, kind) not in table, f"{path}:{number}: no reason, or a second line of the same"
            table[name, kind] = int(mine), int(other), why
    return table


def main():
    bbtrace, folder, path = sys.argv[1:4]
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed (apt-get install tshark)")
        return 77
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there")
        return 77
    table, names = read_table(path), captured.files(folder)
    bad = [f"{name}: {path} has it, {folder} has not" for name in sorted({name for name, _ in table} - set(names))]
    lines, same, explained = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        both = pool.map(lambda name: (ours(bbtrace, os.path.join(folder, name)), tshark_counts.count(folder, name)), names)
        for name, (mine, other) in zip(names, both):
            for kind in KINDS:
                counts, known = (mine[kind], other[kind]), table.get((name, kind))
                if known and known[:2] == counts and counts[0] != counts[1]:
                    explained += 1
                elif known or counts[0] != counts[1]:
                    bad.append(f"{name}: {kind}: ours {counts[0]}, tshark {counts[1]}")
                    lines.append("\t".join((name, kind, *map(str, counts), known[2] if known else "")))
                elif counts[0]:
                    same += 1
    for line in lines if "--lines" in sys.argv else bad:
        print(line)
    print(f"{same} counts are equal, {explained} differ for a known reason, {len(bad)} for none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
