#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace doctor: a good capture is called healthy; each sickness of mirrors, made from it, is found,
and nothing else is.

  doctor.py BBTRACE SAMPLE.pcap.xz"""
import json
import lzma
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

BBTRACE, SAMPLE = sys.argv[1], sys.argv[2]
LB, APP = bytes([10, 77, 0, 20]), bytes([10, 77, 0, 31])
ETHERNET, PRIVATE = 1, 147
MS = 1000000


class Frame:
    """Ethernet. time in ns; wire: its length before anybody cut it; interface: of pcapng."""

    def __init__(self, time, data, wire=None, interface=0):
        self.time, self.data, self.wire, self.interface = time, data, wire or len(data), interface

    def is_tcp(self):
        return self.data[12:14] == b"\x08\x00" and self.data[23] == 6

    def source(self):
        return self.data[26:30]

    def is_from_server(self):
        return struct.unpack(">H", self.data[34:36])[0] < 20000

    def with_data(self, data):
        return Frame(self.time, data, None, self.interface)

    def later(self, ns):
        return Frame(self.time + ns, self.data, self.wire, self.interface)


# ---- files --------------------------------------------------------------------------------------


def read_sample():
    with lzma.open(SAMPLE) as file:
        data = file.read()
    magic, = struct.unpack("<I", data[:4])
    unit = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[magic]
    frames, at = [], 24
    while at < len(data):
        seconds, fraction, captured, wire = struct.unpack("<IIII", data[at:at + 16])
        frames.append(Frame(seconds * 10**9 + fraction * unit, data[at + 16:at + 16 + captured], wire))
        at += 16 + captured
    return frames


def pcap(frames, link=ETHERNET):
    parts = [struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, link)]
    for frame in frames:
        parts += [struct.pack("<IIII", frame.time // 10**9, frame.time % 10**9, len(frame.data), frame.wire), frame.data]
    return b"".join(parts)


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(frames, dropped=0):
    parts = [block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))]
    nanoseconds = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    parts += [block(1, struct.pack("<HHI", ETHERNET, 0, 0) + nanoseconds)] * (1 + max(f.interface for f in frames))
    for frame in frames:
        head = struct.pack("<IIIII", frame.interface, frame.time >> 32, frame.time & 0xffffffff, len(frame.data), frame.wire)
        parts.append(block(6, head + frame.data))
    if dropped:  # interface statistics, isb_osdrop
        parts.append(block(5, struct.pack("<III", 0, 0, 0) + struct.pack("<HHQHH", 7, 8, dropped, 0, 0)))
    return b"".join(parts)


def doctor(content, *options, text=False):
    """(status, what was said)"""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(content)
        file.flush()
        done = subprocess.run([BBTRACE, "doctor", "-r", file.name, *([] if text else ["--json"]), *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    out = done.stdout.decode()
    return done.returncode, out if text else json.loads(out)


# ---- sums ---------------------------------------------------------------------------------------


def sum_of(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def pseudo_of(frame, length):
    return frame[26:34] + struct.pack(">BBH", 0, 6, length)


def mend(frame, partial=False):
    """A frame of IPv4 (without options) and TCP with lengths and checksums that are right; partial: that
    of TCP as a card is to complete it."""
    head, tcp = bytearray(frame[14:34]), bytearray(frame[34:])
    struct.pack_into(">H", head, 2, 20 + len(tcp))
    struct.pack_into(">H", head, 10, 0)
    struct.pack_into(">H", head, 10, 0xffff ^ sum_of(bytes(head)))
    struct.pack_into(">H", tcp, 16, 0)
    pseudo = pseudo_of(frame[:14] + head, len(tcp))
    struct.pack_into(">H", tcp, 16, sum_of(pseudo) if partial else 0xffff ^ sum_of(pseudo + bytes(tcp)))
    return frame[:14] + bytes(head) + bytes(tcp)


# ---- sicknesses ---------------------------------------------------------------------------------


def tag(frame, vlan):
    return frame.with_data(frame.data[:12] + struct.pack(">HH", 0x8100, vlan) + frame.data[12:])


def tunnel(frame):
    """In GRE, between two routers."""
    inner = frame.data[14:]
    head = struct.pack(">BBHHHBBH", 0x45, 0, 24 + len(inner), 1, 0, 64, 47, 0) + bytes([192, 0, 2, 1, 192, 0, 2, 2])
    return frame.with_data(frame.data[:14] + head + struct.pack(">HH", 0, 0x0800) + inner)


def damage(frame):
    return frame.with_data(frame.data[:50] + bytes([frame.data[50] ^ 0x5a]) + frame.data[51:])


def first_fragment(frame):
    """The second one is lost; the first one keeps the TCP header and what follows to 48 bytes."""
    data = bytearray(frame.data[:34 + 48])
    struct.pack_into(">H", data, 16, len(data) - 14)
    struct.pack_into(">H", data, 20, 0x2000)
    return frame.with_data(bytes(data))


def shuffle(frames, rand, span):
    out = list(frames)
    for at in range(0, len(out), span):
        part = out[at:at + span]
        rand.shuffle(part)
        out[at:at + span] = part
    return out


def bulk(segments, merged):
    """A download in full segments, acknowledged one by two; or as a card that merges shows it."""
    client, server = bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2])
    time, ident, frames = 10**18 + 12345, 0, []

    def send(down, seq, ack, flags, data=b"", option=b""):
        nonlocal time, ident
        time, ident = time + 54321, ident + 1
        ports = (80, 40000) if down else (40000, 80)
        ends = server + client if down else client + server
        head = struct.pack(">BBHHHBBH", 0x45, 0, 0, ident, 0x4000, 64, 6, 0) + ends
        tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, (20 + len(option)) * 4, flags, 500, 0, 0) + option
        frames.append(Frame(time, mend(b"\2" * 12 + b"\x08\x00" + head + tcp + data)))

    mss = struct.pack(">BBH", 2, 4, 1460)
    send(False, 99, 0, 2, option=mss)
    send(True, 499, 100, 18, option=mss)
    send(False, 100, 500, 16)
    send(False, 100, 500, 24, b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (segments * 1460 - 44)
    reply = (reply + b"x" * segments * 1460)[:segments * 1460]
    for at in range(0, len(reply), 1460 * merged):
        send(True, 500 + at, 131, 16, reply[at:at + 1460 * merged])
        if at // 1460 // merged % 2:
            send(False, 131, 500 + min(len(reply), at + 1460 * merged), 16)
    return frames


# ---- tests --------------------------------------------------------------------------------------


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.frames = read_sample()
        cls.tcp = [frame for frame in cls.frames if frame.is_tcp()]

    def setUp(self):
        self.rand = random.Random(7)

    def check(self, content, verdict, *names, **figures):
        """Exactly these findings; figures: name=(part at least, part at most)."""
        status, said = doctor(content)
        self.assertEqual(status, 0)
        self.assertEqual([finding["name"] for finding in said["findings"]], list(names), said)
        self.assertEqual(said["verdict"], verdict)
        for name, (low, high) in figures.items():
            part = next(finding["part"] for finding in said["findings"] if finding["name"] == name)
            self.assertTrue(low <= part <= high, (name, part))
        self.assertEqual(doctor(content, "--strict")[0], 0 if verdict == "healthy" else 1)
        return said

    def test_healthy(self):
        said = self.check(pcap(self.frames), "healthy")
        self.assertEqual((said["frames"], said["conversations"], said["both_directions"]), (len(self.frames), 64, 64))
        self.assertGreater(said["calls"], 4000)
        status, text = doctor(pcap(self.frames), text=True)
        self.assertEqual((status, text.count("\n")), (0, 1), text)
        self.assertRegex(text, r"the mirror is healthy: 9,325 frames in 3\.42 s: 64 conversations, 64 of them with both")
        self.check(pcap(bulk(300, 1)), "healthy")

    def test_healthy_when_joined_in_the_middle(self):
        self.check(pcap(self.frames[3000:]), "healthy")
        self.check(pcap(self.frames[:3000]), "healthy")

    def test_same_input_same_output(self):
        sick = pcap([frame for frame in self.frames if self.rand.random() > 0.02])
        said = [doctor(sick, *options, text=True) for options in ((), (), ("--json",), ("--json",))]
        self.assertEqual([text.partition(":")[2] for _, text in said[:1]], [text.partition(":")[2] for _, text in said[1:2]])
        self.assertEqual(*({key: value for key, value in json.loads(text).items() if key != "input"} for _, text in said[2:]))

    def test_half_a_mirror(self):
        for server in (False, True):
            half = [frame for frame in self.tcp if frame.is_from_server() == server]
            said = self.check(pcap(half), "sick", "one_way")
            self.assertEqual(said["findings"][0]["part"], said["findings"][0]["whole"])
            self.assertGreater(said["findings"][0]["whole"], 25)  # the others are too short to tell
            self.assertEqual(said["both_directions"], 0)
            self.assertEqual(said["findings"][0]["sure"], "certain")

    def test_one_port_of_which_one_direction_is_missing(self):
        said = self.check(pcap([f for f in self.frames if not (f.is_tcp() and f.source() == LB)]), "sick", "one_way")
        self.assertEqual(said["findings"][0]["where"][0]["place"], "nothing from 10.77.0.20")

    def test_doubled(self):
        twice = sorted((f for frame in self.frames for f in (frame, frame.later(20000))), key=lambda f: f.time)
        self.check(pcap(twice), "usable", "doubled", doubled=(len(self.tcp) - 5, len(self.tcp)))

    def test_cut(self):
        def cut(size):
            return pcap([Frame(f.time, f.data[:size], f.wire) for f in self.frames])

        said = self.check(cut(96), "sick", "snaplen")
        self.assertEqual(said["findings"][0]["detail"], "at 96 bytes")
        self.check(cut(250), "usable", "snaplen")
        self.check(cut(1514), "healthy")

    def test_mirror_that_truncates(self):
        self.check(pcap([Frame(f.time, f.data[:96]) for f in self.frames]), "sick", "truncated")

    def test_giants(self):
        self.check(pcap(bulk(300, 4)), "usable", "giants", giants=(75, 75))

    def test_damage(self):
        sick = [damage(f) if f.is_tcp() and self.rand.random() < 0.01 else f for f in self.frames]
        self.check(pcap(sick), "usable", "damaged", damaged=(50, 150))
        sick = [damage(f) if f.is_tcp() and self.rand.random() < 0.1 else f for f in self.frames]
        self.check(pcap(sick), "sick", "damaged")

    def test_checksums_left_to_the_card(self):
        def leave(frame):
            return frame.with_data(mend(frame.data, True)) if frame.is_tcp() and frame.source() == APP else frame

        said = self.check(pcap([leave(frame) for frame in self.frames]), "healthy", "checksum_offload")
        self.assertEqual([place["place"] for place in said["findings"][0]["where"]], ["from 10.77.0.31"])

    def test_rewritten_addresses(self):
        def rewrite(data):
            return data[:26] + data[26:34].replace(APP, bytes([10, 200, 9, 8])) + data[34:]

        self.check(pcap([f.with_data(rewrite(f.data)) if f.is_tcp() else f for f in self.frames]), "usable",
                   "rewritten")

    def test_clock_set_back(self):
        middle = len(self.frames) // 2
        said = self.check(pcap(self.frames[:middle] + [f.later(-1500 * MS) for f in self.frames[middle:]]), "sick", "clock_back")
        self.assertEqual((said["findings"][0]["part"], said["findings"][0]["detail"]), (1, "by up to 1.50 s"))

    def test_coarse_stamps(self):
        for step, verdict in ((1000, None), (MS, "usable"), (10 * MS, "sick"), (15625000, "sick")):
            sick = pcap([f.later(-(f.time % step)) for f in self.frames])
            self.check(sick, verdict or "healthy", *(["coarse_stamps"] if verdict else []))

    def test_batched_stamps(self):
        batched = [f.later(self.frames[i // 8 * 8].time - f.time) for i, f in enumerate(self.frames)]
        self.check(pcap(batched), "usable", "batched_stamps")

    def test_disorder(self):
        self.check(pcap(shuffle(self.frames, self.rand, 12)), "usable", "late_frames")

    def test_interfaces_out_of_step(self):
        for by in (-5 * MS, 5 * MS):
            legs = [Frame(f.time + by, f.data, f.wire, 1) if f.is_tcp() and f.is_from_server() else f for f in self.frames]
            self.check(pcapng(legs), "usable", "interface_disorder")
            batched = sorted(legs, key=lambda f: (f.time // (200 * MS), f.interface))
            self.check(pcapng(batched), "usable", "interface_clocks")
        legs = [Frame(f.time, f.data, f.wire, int(f.is_tcp() and f.is_from_server())) for f in self.frames]
        self.check(pcapng(legs), "healthy")
        batched = sorted(legs, key=lambda f: (f.time // (200 * MS), f.interface))  # as dumpcap writes them
        self.check(pcapng(batched), "healthy")
        batched = sorted(legs, key=lambda f: (f.time // (1000 * MS), f.interface))  # more than the source waits for
        self.check(pcapng(batched), "usable", "interface_disorder")

    def test_vlans(self):
        self.check(pcap([tag(f, 12) for f in self.frames]), "healthy")
        self.check(pcap([tag(f, 12) if f.is_tcp() and f.is_from_server() else f for f in self.frames]), "usable", "vlan_one_way")
        self.check(pcap([tag(f, 12 + f.is_from_server()) for f in self.tcp]), "usable", "vlan_mixed")

    def test_tunnels(self):
        self.check(pcap([tunnel(f) for f in self.tcp]), "healthy")
        self.check(pcap([tunnel(f) if f.is_from_server() else f for f in self.tcp]), "usable", "tunnel_one_way")

    def test_loss_before_us(self):
        size = sum(len(f.data) - 66 for f in self.tcp)
        for share, verdict in ((0.02, "sick"), (0.001, "usable")):
            kept = [f for f in self.frames if self.rand.random() >= share]
            lost = size - sum(len(f.data) - 66 for f in kept if f.is_tcp())
            said = self.check(pcap(kept), verdict, "unseen", unseen=(lost * 0.9, lost * 1.1 + 100))
            self.assertEqual(said["findings"][0]["sure"], "certain")

    def test_drops_of_the_kernel(self):
        self.check(pcapng(self.frames, dropped=3), "usable", "kernel_drops", kernel_drops=(3, 3))
        self.check(pcapng(self.frames, dropped=300), "sick", "kernel_drops")
        self.check(pcapng(self.frames), "healthy")

    def test_fragments_without_the_others(self):
        torn = [first_fragment(f) if f.is_tcp() and len(f.data) > 300 and self.rand.random() < 0.2 else f for f in self.frames]
        said = self.check(pcap(torn), "sick", "unseen", "fragments")
        self.assertGreater(said["findings"][1]["part"], 10)

    def test_no_mirror(self):
        asked = [f for f in self.frames if f.data[0] & 1] or [f.with_data(b"\xff" * 6 + f.data[6:]) for f in self.frames
                                                             if f.data[12:14] == b"\x08\x06"]
        self.assertTrue(asked)
        self.check(pcap(asked), "sick", "no_mirror")

    def test_nothing_to_read(self):
        self.check(pcap([]), "sick", "silent")
        self.check(pcap(self.frames, PRIVATE), "sick", "link_type")
        self.check(pcap([f.with_data(f.data[:12] + b"\x88\xb5" + f.data[14:]) for f in self.tcp]), "sick", "no_ip")
        self.check(pcap([f.with_data(f.data[:23] + b"\x32" + f.data[24:]) for f in self.tcp]), "sick", "no_transport")

    def test_options(self):
        good = pcap(self.frames)
        self.assertLess(doctor(good, "-G", "1")[1]["duration_s"], 2)
        self.assertEqual(doctor(good, "-G", "0")[1]["frames"], len(self.frames))
        _, said = doctor(good, "tcp", "port", "11211")
        self.assertEqual((said["verdict"], said["frames"] > 1000, said["frames"] < len(self.tcp)), ("healthy", True, True))
        for arguments, status in ((["-r", "/nowhere"], 1), (["-r", SAMPLE, "-i", "lo"], 2), ([], 2), (["-r", SAMPLE, "-G", "-5"], 2),
                                  (["-r", SAMPLE, "not a filter"], 2), ([SAMPLE], 2), (["-r", os.devnull], 1)):
            done = subprocess.run([BBTRACE, "doctor", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stdout), (status, b""), (arguments, done))
            self.assertTrue(done.stderr)

    def test_quiet(self):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(pcap(self.frames)[:-7])  # breaks off
            file.flush()
            for quiet, words in (([], 1), (["-q"], 0)):
                done = subprocess.run([BBTRACE, "doctor", "-r", file.name, *quiet], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, check=True)
                self.assertEqual(done.stderr.count(b"warning: "), words, done)
                self.assertIn(b"the mirror is healthy: 9,324 frames", done.stdout)

    def test_every_finding_tells_what_to_do(self):
        _, text = doctor(pcap([f for f in self.tcp if f.is_from_server()]), text=True)
        self.assertRegex(text, r"(?m)^sick: half a mirror: .* \[one_way\]$")
        for word in ("figure   52 of 52 conversations \\(100 %\\); certain", "where    nothing from 10.77.0.32 \\(19\\)", "means ", "remedy "):
            self.assertRegex(text, f"(?m)^  {word}")
        self.assertLessEqual(max(map(len, text.splitlines()[1:])), 100)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
