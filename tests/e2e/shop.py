# SPDX-License-Identifier: Apache-2.0
"""The truth about captures of the shop (data/samples/README.md), read from the packets' payload by
other means than bbtrace's: each request carries its id at every hop. Nothing of capture/ is used."""
import collections
import lzma
import re
import struct

RID = re.compile(rb"\b(r[0-9A-Za-z]+-[0-9]+-[0-9]{6}|warm[0-9]+)\b")
SERVER_PORTS = {80, 8000, 11211, 6379, 5432}

Hop = collections.namedtuple("Hop", "time_ns source target rid")


def frames(path):
    """(time_ns, bytes) of each frame of a pcap with nanosecond stamps, Ethernet."""
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
        data = file.read()
    magic = struct.unpack_from("<I", data)[0]
    assert magic == 0xA1B23C4D, hex(magic)
    at = 24
    while at + 16 <= len(data):
        seconds, nanos, captured, _ = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + nanos, data[at + 16 : at + 16 + captured]
        at += 16 + captured


def hops(path):
    """The tagged requests, one entry a hop, in order of time; frames seen again are left out."""
    seen = set()
    found = []
    for time_ns, frame in frames(path):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip_length = (frame[14] & 15) * 4
        total = struct.unpack_from(">H", frame, 16)[0]
        tcp = 14 + ip_length
        source_port, target_port, seq = struct.unpack_from(">HHI", frame, tcp)
        payload = frame[tcp + (frame[tcp + 12] >> 4) * 4 : 14 + total]
        if target_port not in SERVER_PORTS or not payload:
            continue
        rid = RID.search(payload)
        key = (frame[26:34], source_port, target_port, seq)
        if not rid or key in seen:
            continue
        seen.add(key)
        source = ".".join(map(str, frame[26:30]))
        target = ".".join(map(str, frame[30:34]))
        found.append(Hop(time_ns, source, target, rid.group(1).decode()))
    found.sort()
    return found


def requests(path):
    """rid -> its hops, of the requests that were seen to enter at the client."""
    by_rid = collections.defaultdict(list)
    for hop in hops(path):
        by_rid[hop.rid].append(hop)
    return {rid: group for rid, group in by_rid.items() if group[0].source.endswith(".10")}


def parent_of(hop, group):
    """The hop that caused this one: the client's request is the root, the balancer's is its child, and
    everything else is called by the application server."""
    return next((other for other in group if other.target == hop.source), None)
