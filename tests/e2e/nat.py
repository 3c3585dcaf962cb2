# SPDX-License-Identifier: Apache-2.0
"""A capture on both sides of NATs gives what a capture without them gives.

Usage: nat.py BBTRACE SAMPLES

Connections of the shop (SAMPLES) go through boxes that write other addresses and ports, by destination, source, both,
twice in a row, with IPv6 between; clamp the MSS, write another identification, and take up to some ms. The capture has
every packet on each side. The trace must be that of the shop, which has no boxes, for any number of threads; with
--nat=hint and off it has every call as often as there are sides."""
import ipaddress
import lzma
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

BBTRACE, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
ETHERNET = 14
MICROSECOND = 1000
SERVERS = 80, 5432, 6379, 8000, 11211


class Packet:
    """A frame of Ethernet, IPv4 and TCP, taken apart."""

    def __init__(self, time_ns, frame):
        self.time_ns = time_ns
        size = (frame[ETHERNET] & 15) * 4
        total = struct.unpack_from(">H", frame, ETHERNET + 2)[0]
        self.head = frame[ETHERNET:ETHERNET + size]
        self.tcp = frame[ETHERNET + size:ETHERNET + total]
        self.ends = [(ipaddress.ip_address(self.head[12 + 4 * i:16 + 4 * i]),
                      struct.unpack_from(">H", self.tcp, 2 * i)[0]) for i in range(2)]

    def frame(self, ends, mss_less, identification):
        """The same between other ends."""
        tcp = struct.pack(">HH", ends[0][1], ends[1][1]) + clamp(self.tcp, mss_less)[4:]
        if ends[0][0].version == 6:
            head = struct.pack(">IHBB", 6 << 28, len(tcp), 6, 60)
            return bytes(12) + b"\x86\xdd" + head + ends[0][0].packed + ends[1][0].packed + tcp
        head = self.head[:4] + struct.pack(">H", identification) + self.head[6:12]
        return bytes(12) + b"\x08\x00" + head + ends[0][0].packed + ends[1][0].packed + tcp


def clamp(tcp, less):
    """Makes the MSS smaller where there is one; it is the first option of Linux."""
    if not tcp[13] & 2 or tcp[20:22] != b"\2\4":
        return tcp
    return tcp[:22] + struct.pack(">H", struct.unpack_from(">H", tcp, 22)[0] - less) + tcp[24:]


def read(path, slower=1):
    """Its packets, in so many times the time."""
    data = lzma.open(path).read()
    assert data[:4] == b"\x4d\x3c\xb2\xa1", "nanoseconds, little-endian"
    at, found = 24, []
    while at < len(data):
        seconds, rest, size, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + size]
        at += 16 + size
        if frame[12:14] == b"\x08\x00" and frame[ETHERNET + 9] == 6:
            time_ns = seconds * 10**9 + rest
            first_ns = found[0].time_ns if found else time_ns
            found.append(Packet(first_ns + (time_ns - first_ns) * slower, frame))
    return found


def write(path, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
        for time_ns, frame in sorted(frames, key=lambda each: each[0]):
            out.write(struct.pack("<IIII", *divmod(time_ns, 10**9), len(frame), len(frame)) + frame)


def end(address, port):
    return ipaddress.ip_address(address), port


def legs_of(client, server):
    """The sides of a connection, the client's first; the first has the client's own address, the last the server's."""
    host, port = client
    outside = end(f"198.51.100.{host.packed[3]}", port ^ 1)
    if server[1] == 80:  # both, then both again
        return [(client, end("192.0.2.9", 443)), (end("10.66.0.1", port ^ 2), end("10.66.0.9", 30443)), (outside, server)]
    if server[1] == 11211:  # the source
        return [(client, server), (outside, server)]
    if server[1] == 6379:  # the destination
        return [(client, end("192.0.2.41", 6380)), (client, server)]
    if server[1] == 8000:  # both, with IPv6 between
        middle = end("2001:db8::1", port ^ 4), end("2001:db8:64::%x" % server[0].packed[3], 80)
        return [(client, end("192.0.2.80", server[0].packed[3])), middle, (outside, server)]
    return [(client, server)]


def translate(packets, most_us, draw, legs_at=legs_of):
    """Every packet on every side. The last has the times of the shop."""
    frames = []
    for packet in packets:
        back = packet.ends[0][1] in SERVERS
        sides = legs_at(*packet.ends[::-1] if back else packet.ends)
        time_ns = packet.time_ns
        for number, side in reversed(list(enumerate(sides))):
            frames.append((time_ns, packet.frame(side[::-1] if back else side, 40 * number, draw.randrange(65536))))
            time_ns += (1 if back else -1) * draw.randint(1, most_us * MICROSECOND)
    return frames


def capture(path, *options):
    done = subprocess.run([BBTRACE, "capture", "-r", path, *options], capture_output=True, check=True)
    return done.stdout.decode(), done.stderr.decode()


def messages(trace):
    return [line for line in trace.splitlines() if not line.startswith("#")]


def calls(trace):
    return sum(" CALL_SENT " in line for line in messages(trace))


def network(path):
    """What TCP told, of each edge."""
    with tempfile.NamedTemporaryFile(suffix=".bbt") as trace:
        subprocess.run([BBTRACE, "capture", "-q", "-r", path, "-w", trace.name], check=True)
        told = subprocess.run([BBTRACE, "info", trace.name], capture_output=True, check=True).stdout.decode()
    return told[told.index("\nnetwork"):].split("\n\n")[0]


class Nat(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.shop = f"{self.folder.name}/shop.pcap"
        self.doubled = f"{self.folder.name}/doubled.pcap"

    def double(self, most_us):
        """Boxes that take up to so long. Between a client and the mirror they took no time, so that there has to be
        more of it between a packet and its answer: all is so much slower."""
        self.packets = read(SAMPLES / "shop.pcap.xz", 10 * most_us)
        write(self.shop, translate(self.packets, 1, random.Random(1), lambda client, server: [(client, server)]))
        write(self.doubled, translate(self.packets, most_us, random.Random(most_us)))

    def test_joined(self):
        for most_us in (1, 20, 5000):
            self.double(most_us)
            expected = messages(capture(self.shop)[0])
            self.assertGreater(len(expected), 1000)
            for threads in ("1", "2", "5"):
                found, said = capture(self.doubled, f"--threads={threads}")
                self.assertTrue(messages(found) == expected, f"up to {most_us} us, {threads} threads")
                self.assertIn("192.0.2.41:6380 is 10.77.0.41:6379 behind a NAT: ", said)
                self.assertRegex(said, r"[\d,]+ connections seen on both sides of a NAT joined to one: [\d,]+ packets left out")
            self.assertIn("# note 192.0.2.9:443 is 10.66.0.9:30443 behind a NAT: ", found.replace("%20", " "))
            if most_us == 1:  # else flows without data are silent for so long that they are ended, when others begin
                self.assertEqual(network(self.doubled), network(self.shop))

    def test_not_joined(self):
        self.double(100)
        once = calls(capture(self.shop)[0])
        hint, said = capture(self.doubled, "--nat=hint")
        self.assertGreater(calls(hint), 1.5 * once)
        self.assertIn("hint: 192.0.2.41:6380 is 10.77.0.41:6379 behind a NAT: ", said)
        self.assertIn("hint: --nat=join counts what was seen twice once", said)
        off, said = capture(self.doubled, "--nat=off")
        self.assertTrue(messages(off) == messages(hint))
        self.assertNotIn("NAT", said)

    def test_counters(self):
        self.double(100)
        said = capture(self.doubled, "-v")[1]
        value = {name: int(number.replace(",", "")) for number, name in
                 re.findall(r"^(?:bbtrace: )?\s*([\d,]+)  .*\((\w+)\)$", said, re.M)}
        first = [packet for packet in self.packets if packet.tcp[13] & 18 == 2]
        through = [packet for packet in first if len(legs_of(*packet.ends)) > 1]
        self.assertEqual(value["nat_joined"], len(through))
        alone = capture(self.shop, "-v")[1]
        again = re.search(r"([\d,]+)  TCP segments sent again", alone)
        self.assertEqual(value.get("tcp_retransmitted", 0), int(again[1].replace(",", "")) if again else 0)
        opened = {frozenset(packet.ends) for packet in first}
        sides = sum(len(legs_of(*(packet.ends[::-1] if packet.ends[0][1] in SERVERS else packet.ends))) - 1
                    for packet in self.packets if frozenset(packet.ends) in opened)
        more = sum(len(legs_of(*packet.ends)) - 1 for packet in first)
        self.assertEqual(value["nat_packets"], sides - more)  # all but the SYNs

    def test_anonymized(self):
        self.double(100)
        found = capture(self.doubled, "--anonymize", "--labels=off")[0]
        self.assertNotIn("192.0.2", found)
        self.assertEqual(len(messages(found)), len(messages(capture(self.doubled)[0])))
        self.assertGreater(len(messages(found)), 1000)

    def test_series(self):
        """Each file of a series knows what was found before its end, not the last one alone."""
        self.double(1)
        path = f"{self.folder.name}/series.bbt"
        subprocess.run([BBTRACE, "capture", "-q", "-r", self.doubled, "-w", path, "--rotate-time=10s"], check=True)
        files = sorted(pathlib.Path(self.folder.name).glob("series_*.bbt"))
        self.assertGreater(len(files), 2)
        told = [subprocess.run([BBTRACE, "info", file], capture_output=True, check=True).stdout.decode() for file in files]
        for each in told:
            self.assertIn("behind a NAT: seen twice, counted once", each)

    def test_snapshots(self):
        """A snapshot of a flight recorder knows what was found before it; without names it does not tell."""
        self.double(1)
        for name, options, expected in (("plain", [], True), ("hidden", ["--anonymize"], False)):
            folder = pathlib.Path(self.folder.name) / name
            subprocess.run([BBTRACE, "capture", "-q", "-r", self.doubled, "-w", folder, "--flight-recorder", "4M",
                            "--trigger", "latency(*) max > 1us over 2s", *options], check=True)
            told = [subprocess.run([BBTRACE, "info", file], capture_output=True, check=True).stdout.decode()
                    for file in sorted(folder.glob("snap-*.bbt"))]
            self.assertGreater(len(told), 0)
            for each in told:
                self.assertEqual("192.0.2.41:6380 is 10.77.0.41:6379 behind a NAT: seen twice, counted once" in each,
                                 expected, each)
                self.assertEqual("behind a NAT:" in each, expected)

    def test_usage(self):
        self.double(1)
        done = subprocess.run([BBTRACE, "capture", "-r", self.shop, "--nat=yes"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--nat is join, hint or off, not 'yes'", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
