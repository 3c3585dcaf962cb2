#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests and replies of HTTP, DNS, PostgreSQL and Redis found by bbtrace against those found by
tshark, file by file. Every difference must stand in EXPLAINED with both counts and its reason, and
every line of EXPLAINED must still be true.

  tshark.py BBTRACE FOLDER [--all]        skipped (77) without tshark or without the captures"""
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys

FIELDS = ["tcp.dstport", "tcp.srcport", "http.request.method", "http.response.code", "dns.flags.response",
          "pgsql.type", "resp.array.length", "resp.fragment"]

# What tshark would not look for at these ports.
DECODE_AS = {
    "zeek/http/http-single-conn-22.pcap": ["-d", "tcp.port==22,http"],
    "zeek/redis/django-cloud.pcapng": ["-d", "tcp.port==10625,resp"],
}

# pgsql.type of what ends in a ReadyForQuery or is a message of its own (CALLS.md): a simple query, a
# Sync, the startup message, Terminate, CancelRequest, SSLRequest.
PGSQL_REQUESTS = {"Simple query", "Sync", "Startup message", "Termination", "SSL request", "Cancel request"}

# What a Redis server sends by itself.
REDIS_UNASKED = {"MESSAGE", "PMESSAGE", "SMESSAGE", "MONITOR", "RDB"}

# (file, "protocol requests" or "protocol replies"): (ours, tshark's, why)
EXPLAINED = {}


def theirs(folder, name):
    """Counts in one pass: tshark takes its time to start."""
    command = ["tshark", "-n", "-r", os.path.join(folder, name), *DECODE_AS.get(name, []),
               "-o", "tcp.reassemble_out_of_order:TRUE", "-Y", "http || dns || mdns || llmnr || pgsql || resp",
               "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|", "-E", "separator=/t"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    counts = collections.Counter()
    for line in out.decode(errors="replace").splitlines():
        target, source, methods, codes, responses, pgsql, arrays, fragments = (
            [value for value in column.split("|") if value] for column in line.split("\t"))
        counts["http requests"] += len(methods)
        counts["http replies"] += sum(code[0] != "1" or code == "101" for code in codes)
        counts["dns requests"] += responses.count("0") + responses.count("False")
        counts["dns replies"] += responses.count("1") + responses.count("True")
        counts["postgresql requests"] += sum(kind in PGSQL_REQUESTS for kind in pgsql)
        counts["postgresql replies"] += pgsql.count("Ready for query")
        if target and source and int(target[-1]) < int(source[-1]):  # sent to the server
            counts["redis requests"] += len(arrays) + len(fragments)  # fragments: inline commands
    return counts


def ours(bbtrace, path):
    out = subprocess.run([bbtrace, "capture", "-q", "-r", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
    counts = collections.Counter()
    for line in out.splitlines():
        words = line.split()
        if line.startswith("#"):
            continue
        fields = dict(word.split("=", 1) for word in words[5:])
        proto = fields.get("proto", "")
        if proto == "redis" and words[1] == "MSG_SENT" and fields.get("op") in REDIS_UNASKED:
            continue
        # A free message with a status is a reply: those of multicast DNS.
        is_reply = words[1] == "RET_SENT" or (words[1] == "MSG_SENT" and "status" in fields)
        counts[f"{proto} {'replies' if is_reply else 'requests'}"] += 1
    return counts


def compare(bbtrace, folder, name):
    mine, other = ours(bbtrace, os.path.join(folder, name)), theirs(folder, name)
    kinds = ["http requests", "http replies", "dns requests", "dns replies", "postgresql requests",
             "postgresql replies", "redis requests"]
    return {kind: (mine[kind], other[kind]) for kind in kinds}


def main():
    bbtrace, folder = sys.argv[1:3]
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed (apt-get install tshark)")
        return 77
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there")
        return 77
    names = sorted(os.path.relpath(os.path.join(root, f), folder)
                   for root, _, files in os.walk(folder) for f in files if not f.endswith(".tsv"))
    bad = same = explained = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, counts in zip(names, pool.map(lambda n: compare(bbtrace, folder, n), names)):
            for kind, (mine, other) in counts.items():
                known = EXPLAINED.get((name, kind))
                if known and known[:2] == (mine, other):
                    explained += 1
                elif known or mine != other:
                    bad += 1
                    print(f"{name}: {kind}: ours {mine}, tshark {other}")
                elif mine:
                    same += 1
                if known and "--all" in sys.argv:
                    print(f"{name}: {kind}: ours {mine}, tshark {other}: {known[2]}")
    print(f"{same} counts are equal, {explained} differ for a known reason, {bad} for none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
