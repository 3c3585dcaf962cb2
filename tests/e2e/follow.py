#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace capture --follow, of a file: what is kept is what the rule names, worked out here from the packets and
the whole trace; and what the trace says of it.

  follow.py BBTRACE SAMPLES"""
import collections
import functools
import glob
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

BBTRACE, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
SHOP = SAMPLES / "shop.pcap.xz"
LB, APP1, APP2, REDIS, POSTGRES, AUTH = ("10.77.0." + end for end in ("20", "31", "32", "41", "42", "43"))
SYN, RST, ACK = 2, 4, 16


def run(*arguments, status=0):
    done = subprocess.run([BBTRACE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == status, (arguments, done)
    return done.stdout.decode(), done.stderr.decode()


def capture(*arguments, **more):
    return run("capture", "-r", SHOP, *arguments, **more)


@functools.cache
def packets():
    """(time in ns, source, port, target, port, flags, bytes) of TCP over IPv4 over Ethernet."""
    found = []
    data = lzma.open(SHOP).read()
    unit = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[struct.unpack("<I", data[:4])[0]]
    at = 24
    while at < len(data):
        seconds, fraction, captured, _ = struct.unpack("<IIII", data[at:at + 16])
        frame = data[at + 16:at + 16 + captured]
        at += 16 + captured
        if frame[12:14] != b"\x08\0" or frame[23] != 6:
            continue
        ip, head = frame[14:], (frame[14] & 15) * 4
        tcp = ip[head:]
        length = struct.unpack(">H", ip[2:4])[0] - head - (tcp[12] >> 4) * 4
        ends = [".".join(map(str, ip[place:place + 4])) for place in (12, 16)]
        ports = struct.unpack(">HH", tcp[:4])
        found.append((seconds * 10 ** 9 + fraction * unit, ends[0], ports[0], ends[1], ports[1], tcp[13], length))
    return found


def lines(text):
    """(time in ns, that of the call it belongs to, connection, words without the id, which counts what else was seen)"""
    found, calls = [], {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        words = line.split()
        seconds, _, fraction = words[0].partition(".")
        conn = next(word[5:] for word in words if word.startswith("conn="))
        time_ns = int(seconds) * 10 ** 9 + int(fraction.ljust(9, "0"))
        if words[1] == "CALL_SENT":
            calls[words[4]] = time_ns
        found.append((time_ns, calls.get(words[4], time_ns), conn, tuple(words[:4] + words[5:])))
    return found


def judge(whole, kept):
    """The messages that come when they are on a connection from when it was kept on. A return whose call came before
    does not know what was asked."""
    for time_ns, call_ns, conn, words in whole:
        since = kept.get(conn, 1 << 63)
        if time_ns >= since:
            yield words if call_ns >= since else tuple(word for word in words if not word.startswith("op="))


def rule(entrance, port, hops, others=()):
    """When a connection was first kept: text of the connection -> ns; and who was followed since when."""
    hop, clients, kept, since = {entrance: 0}, {}, {}, {}
    for time_ns, source, from_port, target, to_port, flags, length in packets():
        conn = "-".join(sorted((f"{source}:{from_port}", f"{target}:{to_port}"),
                               key=lambda end: (tuple(map(int, end.split(":")[0].split("."))), int(end.split(":")[1]))))
        if flags & (SYN | ACK) == SYN:
            clients[conn] = source
        client = clients.get(conn, source if from_port > to_port else target)
        server, to = (target, to_port) if client == source else (source, from_port)
        of_entrance = server == entrance and port in (0, to)
        if not (client in hop or of_entrance or hop.get(server, 0) >= 1):
            continue
        kept.setdefault(conn, time_ns)
        if client in hop and (length or flags & (SYN | RST) == SYN) and hop[client] + 1 < hops and server not in others:
            if server not in hop:
                since[server] = time_ns
            hop[server] = min(hop.get(server, hops), hop[client] + 1)
    return kept, since


def check_rule(whole):
    for entrance, port, hops in ((LB, 80, 8), (LB, 80, 1), (LB, 80, 2), (LB, 0, 8), (APP1, 8000, 8), (APP1, 8000, 1),
                                 (APP2, 8000, 2), (REDIS, 6379, 8), (REDIS, 6380, 8), (AUTH, 0, 3)):
        kept, since = rule(entrance, port, hops)
        expected = collections.Counter(judge(whole, kept))
        word = f"{entrance}:{port}" if port else entrance
        texts = {capture("--follow", word, "--hops", hops, "--threads", threads)[0] for threads in (1, 2, 5)}
        assert len(texts) == 1, (word, hops)
        text = texts.pop()
        found = collections.Counter(line[-1] for line in lines(text))
        assert found == expected, (word, hops, list((found - expected).items())[:5], list((expected - found).items())[:5])
        notes = [line for line in text.splitlines() if line.startswith("# note followed ")]
        assert notes[0] == f"# note followed {word} from the beginning", notes
        assert [line.split()[3] for line in notes[1:]] == sorted(since, key=since.get), (notes, since)
        print(f"--follow {word} --hops {hops}: {sum(found.values())} of {len(whole)} messages, {len(since)} hosts joined")


def check_cases_differ(whole):
    """Or the samples would show nothing."""
    counts = [len(list(judge(whole, kept))) for kept, _ in (
        rule(LB, 80, 8), rule(LB, 80, 1), rule(APP1, 8000, 8), rule(APP1, 8000, 1), rule(REDIS, 6380, 8))]
    assert len(whole) > counts[0] > counts[2] and counts[2] > counts[3] > 0 and counts[0] > counts[1] > 0, counts
    assert counts[4] == 0, counts


def check_others(whole):
    kept, _ = rule(APP1, 8000, 8, others=(REDIS,))
    for word in (REDIS, REDIS + ":6379", ":6379"):
        text = capture("--follow", APP1 + ":8000", "--follow-not", word)[0]
        assert len(lines(text)) == len(list(judge(whole, kept))), word
        assert REDIS + " (hop" not in text, word
    assert capture("--follow", APP1 + ":8000", "--follow-not", REDIS + ":1")[0] == capture("--follow", APP1 + ":8000")[0]


def check_filter():
    """Both must hold."""
    text = capture("--follow", APP1 + ":8000", "--hops", 1, "port", 6379)[0]
    ends = {tuple(sorted(line[2:4])) for *_, line in lines(text)}
    assert ends == {(APP1, REDIS)}, ends


def check_words():
    summary = capture("--follow", LB + ":80")[1]
    assert re.search(r" 6  hosts followed\n", summary), summary
    assert re.search(r" 478  packets .*\(not_followed\)", summary), summary
    assert "# counter not_followed 478" in capture("-q", "--follow", LB + ":80")[0]
    assert "no packet of" not in summary, summary
    text, summary = capture("--follow", "10.77.99.9:80", "--follow", "10.77.99.8")
    assert not list(lines(text)), text
    for unmet in ("10.77.99.9:80", "10.77.99.8"):
        assert f"warning: no packet of {unmet} was seen" in summary, summary
    for words in (["--hops", 3], ["--follow-not", ":53"], ["--follow", "lb"], ["--follow", "10.0.0.1:0"],
                  ["--follow", ":80"], ["--follow", LB, "--hops", 0], ["--follow", LB, "--hops", 65],
                  ["--follow", LB, "--follow-not", "x"]):
        err = capture(*words, status=2)[1]
        assert "--follow" in err or "--hops" in err, err


def notes_of(trace):
    return [line for line in run("info", trace)[0].splitlines() if line.startswith("followed ")]


def check_traces(folder):
    """Notes go into a .bbt, into each file of a series, and into snapshots."""
    capture("-q", "--follow", LB + ":80", "-w", f"{folder}/t.bbt")
    whole = notes_of(f"{folder}/t.bbt")
    assert len(whole) == 6, whole
    assert re.fullmatch(rf"followed {APP1} \(hop 1, called by {LB} at port 8000\) since 2026-11-20 08:51:29\.892 UTC",
                        whole[1]), whole
    capture("-q", "--follow", LB + ":80", "--rotate-time", "1s", "-w", f"{folder}/s.bbt")
    series = [notes_of(name) for name in sorted(glob.glob(f"{folder}/s_*.bbt"))]
    assert len(series) > 2 and series[-1] == whole and series[0][0] == whole[0], series
    assert all(one == whole[:len(one)] for one in series), series
    capture("-q", "--follow", LB + ":80", "--flight-recorder", "1M", "-w", f"{folder}/fr", "--snap-after", "100ms",
            "--trigger", "latency(GET /item/*) p50 > 0ms over 1s")
    snapshots = [notes_of(name) for name in glob.glob(f"{folder}/fr/snap-*.bbt")]
    assert snapshots and all(one and one == whole[:len(one)] for one in snapshots), snapshots
    (pathlib.Path(folder) / "key").write_bytes(bytes(range(32)))
    text = capture("-q", "--follow", LB + ":80", "--anonymize", "--key", f"{folder}/key")[0]
    assert "# note followed" not in text and "10.77." not in text, text[:500]


def check_many(folder):
    """More hosts than notes: the others share one."""
    with open(f"{folder}/many.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for i in range(4200):
            tcp = struct.pack(">HHIIBBHHH", 40000, 8125, 1000 * i, 0, 5 << 4, SYN, 1000, 0, 0)
            ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 40, i, 0, 64, 6, 0, 10, 0, 0, 1, 10, 1, i >> 8, i & 255)
            file.write(struct.pack("<IIII", 1700000000 + i, 0, 40, 40) + ip + tcp)
    text, err = run("capture", "-r", f"{folder}/many.pcap", "--follow", "10.0.0.1")
    notes = [line for line in text.splitlines() if line.startswith("# note")]
    assert len(notes) == 49 and notes[47].startswith("# note followed 10.1.0.46 (hop 1"), notes
    assert notes[48].startswith("# note followed 4048 more hosts: 10.1.0.47 (hop 1), ") and notes[48].endswith(", ..."), notes[48]
    assert err.count("warning: more than 4096 hosts would have to be followed") == 1, err
    assert "# counter follow_limit 105\n" in text, text[-500:]


def main():
    whole = lines(capture()[0])
    check_cases_differ(whole)
    check_rule(whole)
    check_others(whole)
    check_filter()
    check_words()
    with tempfile.TemporaryDirectory() as folder:
        check_traces(folder)
        check_many(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
