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

# What tshark would not look for at these ports. And where it waits for all of a body, of which bytes
# are missing or out of order, before it tells of the message.
IN_ORDER, NO_BODY = ["-o", "tcp.reassemble_out_of_order:TRUE"], ["-o", "http.desegment_body:FALSE"]
OPTIONS = {
    "ndpi/soap.pcap": [*IN_ORDER, *NO_BODY],
    "zeek/http/concurrent-range-requests.pcap": IN_ORDER,
    "zeek/http/content-range-gap-skip.pcap": NO_BODY,
    "zeek/http/entity_gap.pcap": NO_BODY,
    "zeek/http/http-single-conn-22.pcap": ["-d", "tcp.port==22,http"],
    "zeek/redis/django-cloud.pcapng": ["-d", "tcp.port==10625,resp"],
}

# pgsql.type of what ends in a ReadyForQuery or is a message of its own (CALLS.md): a simple query, a
# Sync, the startup message, Terminate, CancelRequest, SSLRequest.
PGSQL_REQUESTS = {"Simple query", "Sync", "Startup message", "Termination", "SSL request", "Cancel request"}

# Their answer is a single byte, which tshark does not tell.
ENCRYPTION = {"SSLRequest", "GSSENCRequest"}

# What a Redis server sends by itself.
REDIS_UNASKED = {"MESSAGE", "PMESSAGE", "SMESSAGE", "MONITOR", "RDB"}

GENEVE, GRE, GTP, VXLAN = (f"inside of {tunnel}, which comes with a later issue"
                           for tunnel in ("Geneve", "GRE", "GTP-U", "VXLAN"))
RETRY = "a retry of a question that is still open is the same call; tshark counts packets"
NFLOG = "frames of link type NFLOG are not read; the program says so"
# (file, "protocol requests" or "protocol replies"): (ours, tshark's, why)
EXPLAINED = {
    ("ndpi/dns_fragmented.pcap", "dns requests"): (21, 22, RETRY),
    ("suricata/bug-5633-gre-02.pcap", "dns requests"): (0, 4, GRE + "; two of them are quoted by ICMP"),
    ("suricata/dns-over-http2-limit.pcap", "dns requests"):
        (0, 1, "130 KB of the letter A as the body of a request of HTTP/2, which comes with a later issue"),
    ("suricata/pgsql-5000-query-results.pcap", "postgresql replies"):
        (3, 2, "a login that the client breaks off when asked for a password: answered, yet never ready"),
    ("zeek/http/methods.pcap", "http requests"):
        (49, 27, "all 49 were answered by HTTP, most with 400; tshark misses those without a blank after the method"),
    ("zeek/ipv6-fragmented-dns.pcap", "dns requests"): (2, 3, RETRY),
    ("zeek/mixed-vlan-mpls.pcap", "http requests"):
        (1, 2, "the other is HTTP/0.9, without a version or a header: a call by turn-taking"),
    ("zeek/nflog-http.pcap", "http requests"): (0, 1, NFLOG),
    ("zeek/nflog-http.pcap", "http replies"): (0, 1, NFLOG),
    ("zeek/postgresql/psql-login-no-sslrequest.pcap", "postgresql replies"):
        (2, 1, "a login that the client breaks off when asked for a password: answered, yet never ready"),
    ("zeek/redis/attr.pcap", "redis requests"):
        (1, 2, "of two made-up commands (FAKE, FAKE2) only one is followed by what certainly is RESP"),
    ("zeek/tunnels/geneve-many-options.pcap", "http requests"): (0, 1, GENEVE),
    ("zeek/tunnels/geneve-many-options.pcap", "http replies"): (0, 1, GENEVE),
    ("zeek/tunnels/geneve-vxlan-dns-truncated.pcap", "dns requests"): (0, 1, GENEVE),
    ("zeek/tunnels/geneve-vxlan-dns-truncated.pcap", "dns replies"): (0, 1, GENEVE),
    ("zeek/tunnels/gre-aruba.pcap", "http requests"): (0, 52, GRE),
    ("zeek/tunnels/gre-over-udp-4754.pcap", "http requests"): (0, 1, GRE),
    ("zeek/tunnels/gre-over-udp-4754.pcap", "http replies"): (0, 1, GRE),
    ("zeek/tunnels/gre-over-udp-4754.pcap", "dns requests"): (0, 2, GRE),
    ("zeek/tunnels/gre-over-udp-4754.pcap", "dns replies"): (0, 2, GRE),
    ("zeek/tunnels/gre-pptp.pcap", "dns requests"): (0, 1, GRE),
    ("zeek/tunnels/gre-pptp.pcap", "dns replies"): (0, 1, GRE),
    ("zeek/tunnels/gre-sample.pcap", "dns requests"): (0, 4, GRE + "; two of them are quoted by ICMP"),
    ("zeek/tunnels/gtp1_gn_normal_incl_fragmentation.pcap", "http requests"): (0, 1, GTP),
    ("zeek/tunnels/gtp2_different_udp_port.pcap", "http requests"): (0, 2, GTP),
    ("zeek/tunnels/gtp2_different_udp_port.pcap", "http replies"): (0, 2, GTP),
    ("zeek/tunnels/gtp7_ipv6.pcap", "dns requests"): (0, 1, GTP),
    ("zeek/tunnels/vxlan-encapsulated-http.pcap", "http requests"): (0, 1, VXLAN),
    ("zeek/tunnels/vxlan-encapsulated-http.pcap", "http replies"): (0, 1, VXLAN),
    ("zeek/tunnels/vxlan-triple-v2.pcap", "dns requests"): (0, 1, VXLAN),
}


def theirs(folder, name):
    """Counts in one pass: tshark takes its time to start."""
    command = ["tshark", "-n", "-r", os.path.join(folder, name), *OPTIONS.get(name, []), "-Y",
                "http || dns || mdns || llmnr || pgsql || resp",
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
        if fields.get("op") in ENCRYPTION and words[1] == "RET_SENT":
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
