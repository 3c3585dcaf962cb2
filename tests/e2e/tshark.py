#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of HTTP, DNS, PostgreSQL and Redis found by bbtrace against those found by tshark, file by
file. Every difference must stand in EXPLAINED with both counts and its reason.

  tshark.py BBTRACE FOLDER [--all]        skipped (77) without tshark or without the captures"""
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys

FIELDS = ["tcp.dstport", "tcp.srcport", "http.request.method", "dns.flags.response", "pgsql.type",
          "resp.array.length", "resp.string"]

# pgsql.type of what ends in a ReadyForQuery or is a message of its own (CALLS.md): a simple query, a
# Sync, the startup message, Terminate, CancelRequest, SSLRequest.
PGSQL_REQUESTS = {"Simple query", "Sync", "Startup message", "Termination", "SSL request", "Cancel request"}

# (file, protocol): (ours, tshark's, why)
EXPLAINED = {}


def theirs(path):
    """Requests per protocol, in one pass: tshark takes its time to start."""
    command = ["tshark", "-n", "-r", path, "-Y", "http.request || dns || pgsql || resp", "-T", "fields",
               "-E", "occurrence=a", "-E", "aggregator=|", "-E", "separator=/t"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    counts = collections.Counter()
    for line in out.decode(errors="replace").splitlines():
        target, source, methods, responses, pgsql, arrays, strings = (
            [value for value in column.split("|") if value] for column in line.split("\t"))
        counts["http"] += len(methods)
        counts["dns"] += responses.count("0") + responses.count("False")
        counts["postgresql"] += sum(kind in PGSQL_REQUESTS for kind in pgsql)
        if target and source and int(target[-1]) < int(source[-1]):  # sent to the server
            counts["redis"] += len(arrays) or len(strings)
    return counts


def ours(bbtrace, path):
    out = subprocess.run([bbtrace, "capture", "-q", "-r", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace")
    counts = collections.Counter()
    for line in out.splitlines():
        fields = line.split()
        if line.startswith("#") or fields[1] == "RET_SENT":
            continue
        proto = next((f[6:] for f in fields[5:] if f.startswith("proto=")), "")
        counts[proto] += 1
    return counts


def compare(bbtrace, folder, name):
    path = os.path.join(folder, name)
    mine, other = ours(bbtrace, path), theirs(path)
    return {p: (mine[p], other[p]) for p in ("http", "dns", "postgresql", "redis")}


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
            for protocol, (mine, other) in counts.items():
                known = EXPLAINED.get((name, protocol))
                if known and known[:2] == (mine, other):
                    explained += 1
                elif mine != other:
                    bad += 1
                    print(f"{name}: {protocol}: ours {mine}, tshark {other}")
                elif mine:
                    same += 1
                if known and "--all" in sys.argv:
                    print(f"{name}: {protocol}: ours {mine}, tshark {other}: {known[2]}")
    print(f"{same} counts are equal, {explained} differ for a known reason, {bad} for none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
