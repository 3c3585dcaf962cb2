#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of several observers merged into what one observer of everything sees.

  merge.py BBTRACE SHARED [Captures | Merge]   SHARED is the folder of data outside of the project, that
                                               Captures reads; it may be absent"""
import collections
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BBTRACE, SHARED = sys.argv[1], pathlib.Path(sys.argv[2])
MULTITIER = SHARED / "multitier"
HOSTS = ("10", "20", "31", "32", "41", "42", "43")
TWINS = ("multitier-c8", "multitier-c8-slowauth-app2")  # these were also recorded with every frame twice
RUNS = (*TWINS, "multitier-c8-sat")
HEAD = "# bbtrace text 1\n"
NETWORK_NS = 40000

Done = collections.namedtuple("Done", "status out err")


def run(*command):
    done = subprocess.run([BBTRACE, *map(str, command)], capture_output=True, text=True, check=False,
                          timeout=60)
    return Done(done.returncode, done.stdout, done.stderr)


def good(*command):
    done = run(*command)
    assert done.status == 0, (command, done.err)
    return done


def nanoseconds(text):
    seconds, _, part = text.partition(".")
    return int(seconds) * 10**9 + int((part + "0" * 9)[:9])


def seconds(time_ns):
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def trimmed(time_ns):
    """As a trace has it: six decimals, or nine."""
    text = seconds(time_ns)
    return text[:-3] if text.endswith("000") else text


def lines(trace):
    return [line for line in good("cat", trace).out.splitlines() if not line.startswith("#")]


def split(line):
    """Time, the other fields, keys."""
    words = line.split()
    return nanoseconds(words[0]), words[1:5], dict(word.split("=", 1) for word in words[5:])


def call_numbers(trace, but=("obs", "recv")):
    """Messages without observers and arrivals. Ids become the number of their call."""
    numbers, result = {}, []
    for line in lines(trace):
        time_ns, (operation, sender, receiver, name), keys = split(line)
        if name != "-":
            name = numbers.setdefault(name, len(numbers))
        kept = tuple(sorted((k, v) for k, v in keys.items() if k not in but))
        result.append((time_ns, operation, sender, receiver, name, kept))
    return result


def without_ids(messages):
    return sorted(m[:4] + m[5:] for m in messages)


def pairs_of(messages):
    """Calls with their returns, without ids."""
    calls = collections.defaultdict(list)
    for message in messages:
        calls[message[4]].append(message[:4] + message[5:])
    calls.pop("-", None)
    return sorted(map(tuple, calls.values()))


def dns_packet(client, port, number, name, answer):
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0\0\1\0\1"
    records = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4" if answer else b""
    data = struct.pack(">6H", number, 0x8180 if answer else 0x0100, 1, bool(answer), 0, 0) + question + records
    ends = [(f"10.0.1.{client}", port), ("10.0.0.2", 53)]
    (source, source_port), (target, target_port) = reversed(ends) if answer else ends
    return (b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" +
            struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(data), 1, 0, 64, 17, 0, socket.inet_aton(source),
                        socket.inet_aton(target)) +
            struct.pack(">4H", source_port, target_port, 8 + len(data), 0) + data)


class Queries:
    """Of five clients to a name server, passing two observers: a near the clients, b 200 us and more behind it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.sent = []  # time at the sender, time at the receiver, packet, whether it is an answer
        for client in range(1, 6):
            time_s, fixed = 1000.0, 5353 + client
            for number in range(1, 301):
                time_s += self.random.expovariate(200)
                port = fixed if client % 2 else self.random.randrange(20000, 60000)
                what = (client, port, number * 7919 % 65536 if client % 2 else number,
                        self.random.choice(("alpha", "beta", "gamma")) + ".svc.local")
                self.send(time_s, what, False)
                self.send(self.sent[-1][1] + 0.0006 + self.random.expovariate(1000), what, True)

    def send(self, time_s, what, answer):
        self.sent.append((time_s, time_s + 0.0002 + self.random.expovariate(20000), dns_packet(*what, answer), answer))

    def write(self, path, observer, lost, clock, snap=65535):
        """Returns which it saw. clock: offset in seconds, drift in ppm."""
        seen = {}
        for i, (sent, got, packet, answer) in enumerate(self.sent):
            if self.random.random() >= lost:
                time_s = got if bool(observer) != answer else sent
                seen[i] = time_s + clock[0] + (time_s - 1000) * clock[1] * 1e-6
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, snap, 1))
            for i in sorted(seen, key=seen.get):
                packet, ns = self.sent[i][2], round(seen[i] * 1e9)
                file.write(struct.pack("<4I", ns // 10**9, ns % 10**9, min(snap, len(packet)), len(packet)))
                file.write(packet[:snap])
        return set(seen)


class Merging(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def write(self, name, text):
        path = self.at / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + "".join(f"{line}\n" for line in text), encoding="utf-8")
        return path

    def same(self, found, wanted):
        """As assertEqual, but quick where long lists differ."""
        for one, other in zip(found, wanted):
            self.assertEqual(one, other)
        self.assertEqual(len(found), len(wanted))


class Captures(Merging):
    @classmethod
    def setUpClass(cls):
        if not MULTITIER.exists():
            raise unittest.SkipTest(f"{MULTITIER} is not there: it lies outside of the project")

    def capture(self, name, file, *words):
        if not file.exists():
            self.skipTest(f"{file} is not there: it lies outside of the project")
        path = self.at / f"{name}.bbt"
        good("capture", "-q", "-r", file, "-w", path, *words)
        return path

    def same_calls(self, merged, single):
        merged, single = call_numbers(merged), call_numbers(single)
        self.same(without_ids(merged), without_ids(single))
        self.same(pairs_of(merged), pairs_of(single))

    def test_a_capture_and_its_twin_with_every_frame_twice(self):
        for name in TWINS:
            with self.subTest(name):
                once = self.capture("once", MULTITIER / f"{name}.pcap.xz")
                twice = self.capture("twice", MULTITIER / f"{name}-span2.pcap.xz")
                done = good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", once, twice)
                self.same_calls(self.at / "all.bbt", once)
                self.assertRegex(done.err, r"once and twice: [\d,]+ messages seen by both")
                good("merge", "-w", self.at / "all.bbt", once, twice)
                self.assertEqual(len(lines(self.at / "all.bbt")), len(lines(once)))
                good("merge", "-w", self.at / "all.bbt", twice)
                self.assertEqual(self.without_times(self.at / "all.bbt"), self.without_times(once))

    def without_times(self, trace):
        return sorted((m[1:4], [k for k in m[5] if k[0] != "end"]) for m in call_numbers(trace))

    def test_captures_of_each_host(self):
        for name in RUNS:
            with self.subTest(name):
                file = MULTITIER / f"{name}.pcap.xz"
                whole = self.capture("whole", file)
                each = [self.capture(f"host{host}", file, f"host 10.77.0.{host}") for host in HOSTS]
                good("merge", "-w", self.at / "all.bbt", *each)
                self.same_calls(self.at / "all.bbt", whole)
                self.assertTrue(all("recv" in split(line)[2] for line in lines(self.at / "all.bbt")))

    def test_captures_of_each_host_with_wrong_clocks(self):
        file = MULTITIER / "multitier-c8-slowauth-app2.pcap.xz"
        whole = self.capture("whole", file)
        clocks = {}
        random.seed(7)
        each = []
        for host in HOSTS:
            trace = self.capture(f"host{host}", file, f"host 10.77.0.{host}")
            clocks[host] = (0, 0) if not each else (random.randint(-10**10, 10**10), random.uniform(-5e-5, 5e-5))
            each.append(self.write(f"skewed/host{host}.txt", self.shift(lines(trace), *clocks[host])))
        done = good("merge", "-w", self.at / "all.bbt", *each)
        messages = [split(line) for line in lines(self.at / "all.bbt")]
        self.assertEqual(len(messages), len(lines(whole)))
        right = {(m[2]["conn"], m[2]["off"], m[1][0]): m[0] for m in map(split, lines(whole)) if "conn" in m[2]}
        worst = max(abs(m[0] - right[m[2]["conn"], m[2]["off"], m[1][0]]) for m in messages if "conn" in m[2])
        self.assertLess(worst, 20000)
        for host in HOSTS[1:]:
            said = re.search(rf"clock of host{host}: ([+-][\d.]+) s, ([+-][\d.]+) ppm", done.err)
            self.assertAlmostEqual(float(said[1]), clocks[host][0] / 1e9, delta=0.003)
            self.assertAlmostEqual(float(said[2]), clocks[host][1] * 1e6, delta=1)

    @staticmethod
    def shift(text, offset_ns, drift):
        start = split(text[0])[0]

        def move(match):
            time_ns = nanoseconds(match[2])
            return match[1] + seconds(time_ns + offset_ns + round((time_ns - start) * drift))

        return [re.sub(r"(^| end=)([\d.]+)", move, line) for line in text]


class Merge(Merging):
    # ---- generated traces ---------------------------------------------------------------------------

    def split_by_host(self, text, loss=0.0, seed=1):
        """What the hosts' own observers see. Returns paths, and by place of the line who lost it."""
        random.seed(seed)
        seen, lost = collections.defaultdict(list), []
        for line in text:
            time_ns, (operation, sender, receiver, name), _ = split(line)
            rest = " ".join(line.split()[5:])
            gone = [random.random() < loss for _ in range(2)]
            lost.append(gone)
            for node, at, drop in ((sender, time_ns, gone[0]), (receiver, time_ns + NETWORK_NS, gone[1])):
                if not drop:
                    seen[node].append((at, f"{seconds(at)} {operation} {sender} {receiver} {name} {rest}"))
        return [self.write(f"{node}.txt", [line for _, line in sorted(seen[node])])
                for node in sorted(seen)], lost

    def generated(self, *options):
        good("generate", "-q", "-s", "3", "-G", "30s", *options, "-w", self.at / "g.bbt", "multitier")
        return lines(self.at / "g.bbt")

    def expect(self, text, lost, merged):
        wanted = []
        for line, (no_sender, no_receiver) in zip(text, lost):
            time_ns, words, keys = split(line)
            if no_sender and no_receiver:
                continue
            if not no_sender and not no_receiver:
                keys["recv"] = trimmed(time_ns + NETWORK_NS)
            wanted.append((time_ns + NETWORK_NS * no_sender, words, sorted(keys.items())))
        found = [(time_ns, words, sorted((k, v) for k, v in keys.items() if k != "obs"))
                 for time_ns, words, keys in map(split, lines(merged))]
        self.same(sorted(map(repr, found)), sorted(map(repr, wanted)))
        self.same([m[0] for m in found], sorted(m[0] for m in found))

    def test_a_generated_trace_in_parts_of_its_hosts(self):
        text = self.generated()
        paths, lost = self.split_by_host(text)
        good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths)
        self.expect(text, lost, self.at / "all.bbt")

    def test_losses_at_each_side(self):
        text = self.generated()
        paths, lost = self.split_by_host(text, loss=0.1)
        done = good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths)
        self.expect(text, lost, self.at / "all.bbt")
        info = good("info", self.at / "all.bbt").out
        both = sum(not any(gone) for gone in lost)
        self.assertRegex(info, rf"\b{both:,} +messages seen by more than one observer")
        self.assertRegex(done.err, rf"\b{both:,}  messages seen by more than one observer")
        self.assertRegex(good("cat", self.at / "all.bbt").out, r"merge_pair\.\w+\.\w+\.only_first")

    def test_without_ids_order_joins(self):
        text = self.generated("--no-ids", "--no-truth")
        paths, lost = self.split_by_host(text, loss=0.02)
        good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths)
        count = len(lines(self.at / "all.bbt"))
        wanted = sum(not all(gone) for gone in lost)
        self.assertLess(abs(count - wanted), 0.005 * wanted)

    # ---- many files ---------------------------------------------------------------------------------

    def many(self, count=1000):
        """Small files, each a second or so of one of ten observers, all overlapping in threes."""
        paths = []
        (self.at / "many").mkdir()
        for i in range(count):
            start = 10**18 + (i // 10) * 10**9
            text = [f"{seconds(start + k * 29 * 10**6 + i)} MSG_SENT a{i % 10} b{i % 7} m{i}_{k}"
                    for k in range(100)]
            paths.append(self.write(f"many/f{i:04d}.txt", text))
        return paths

    def test_a_thousand_files(self):
        paths = self.many()
        good("merge", "-q", "--clocks=as-is", "-w", self.at / "all.bbt", *paths)
        found = [split(line) for line in lines(self.at / "all.bbt")]
        self.assertEqual(len(found), 100000)
        self.same([m[0] for m in found], sorted(m[0] for m in found))
        self.assertEqual(len({m[1][3] for m in found}), 100000)
        self.assertTrue(all(int(m[2]["obs"][1:]) == int(m[1][3][1:].split("_")[0]) for m in found))

    def test_one_corrupt_file_among_many(self):
        good("generate", "-q", "-G", "600s", "-w", self.at / "g.bbt", "multitier")
        paths = self.many(100)
        whole = len(lines(self.at / "g.bbt"))
        data = bytearray((self.at / "g.bbt").read_bytes())
        data[len(data) // 2] ^= 1
        (self.at / "bad.bbt").write_bytes(data)
        done = good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths[:50], self.at / "bad.bbt",
                    *paths[50:])
        warnings = [line for line in done.err.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, done.err)
        self.assertIn(str(self.at / "bad.bbt"), warnings[0])
        count = len(lines(self.at / "all.bbt"))
        self.assertLess(count, 10000 + whole)
        self.assertGreaterEqual(count, 10000 + whole - 8192)

    def test_a_file_that_is_no_trace(self):
        paths = self.many(20)
        (self.at / "no.bbt").write_bytes(b"\0\1\2")
        done = run("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths, self.at / "no.bbt",
                   "/nowhere/at/all")
        self.assertEqual(done.status, 1)
        self.assertIn("no.bbt: neither a .bbt nor a text trace", done.err)
        self.assertIn("/nowhere/at/all", done.err)
        self.assertEqual(len(lines(self.at / "all.bbt")), 2000)

    def test_killed_and_run_again(self):
        paths = self.many(300)
        once, again = self.at / "once.bbt", self.at / "again.bbt"
        good("merge", "-q", "--clocks=as-is", "-w", once, *paths)
        for number in (signal.SIGKILL, signal.SIGTERM):
            with subprocess.Popen([BBTRACE, "merge", "--clocks=as-is", "-w", again, *paths],
                                  stderr=subprocess.DEVNULL) as child:
                time.sleep(0.02)
                child.send_signal(number)
                self.assertNotEqual(child.wait(60), 2)
            good("merge", "-q", "--clocks=as-is", "-w", again, *paths)
            self.assertEqual(once.read_bytes(), again.read_bytes())

    # ---- clocks, names, refusals ----------------------------------------------------------------------

    def test_standard_input(self):
        path = self.write("a.txt", ["1.0 CALL_SENT a b id1"])
        command = [BBTRACE, "merge", "--clocks=as-is", "-w", self.at / "all.bbt", "-", path]
        done = subprocess.run(command, input=HEAD + "1.1 CALL_SENT a b id1\n", text=True, check=False,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        time_ns, _, keys = split(lines(self.at / "all.bbt")[0])
        self.assertEqual((time_ns, nanoseconds(keys["recv"])), (10**9, 1100000000))

    def test_no_two_way_traffic_is_said(self):
        a = self.write("a.txt", [f"{i}.0 MSG_SENT x y m{i}" for i in range(1, 50)])
        b = self.write("b.txt", [f"{i}.1 MSG_SENT x y m{i}" for i in range(1, 50)])
        c = self.write("c.txt", [f"{i}.1 MSG_SENT u v n{i}" for i in range(1, 50)])
        done = good("merge", "-q", "-w", self.at / "all.bbt", a, b, c)
        self.assertIn("the clock of b cannot be known: all messages seen by it and by a go one way "
                      "between their nodes, and nothing tells whom they passed first", done.err)
        self.assertIn("the clock of c cannot be known: it has no message that can be recognised", done.err)

    def test_a_clock_that_is_not_known_makes_no_times(self):
        a = self.write("a.txt", [f"{i}.0 MSG_SENT {'xz'[i % 2]} {'yw'[i % 2]} m{i}" for i in range(1, 50)])
        b = self.write("b.txt", [f"{i}.5 MSG_SENT {'xz'[i % 2]} {'yw'[i % 2]} m{i}" for i in range(1, 50)])
        good("merge", "-q", "-w", self.at / "all.bbt", a, b)
        merged = lines(self.at / "all.bbt")
        self.assertEqual(len(merged), 49)
        self.assertFalse([line for line in merged if " recv=" in line])

    def test_two_at_one_point(self):
        calls = [(i * 10**7, f"id{i}") for i in range(1, 400)]
        paths = [self.write(name, [line for t, n in calls for line in
                                   (f"{seconds(t + shift)} CALL_SENT x y {n}",
                                    f"{seconds(t + shift + 2 * 10**6)} RET_SENT y x {n}")])
                 for name, shift in (("a.txt", 0), ("b.txt", 5 * 10**8))]
        done = good("merge", "-w", self.at / "all.bbt", *paths)
        self.assertIn("clock of b: +0.500000 s", done.err)
        self.assertNotIn("it steps", done.err)
        merged = [split(line) for line in lines(self.at / "all.bbt")]
        self.assertEqual(len(merged), 2 * len(calls))
        self.assertTrue(all(abs(nanoseconds(keys["recv"]) - time_ns) <= 1000 for time_ns, _, keys in merged))

    def test_datagrams_of_which_both_lost_some(self):
        for seed, lost, snap in ((1, (0, 0.02), 65535), (2, (0.1, 0.2), 65535), (3, (0.02, 0.02), 106)):
            with self.subTest(seed):
                queries = Queries(seed)
                clock = (queries.random.uniform(-100, 100), queries.random.uniform(-50, 50))
                seen = [queries.write(self.at / f"{k}.pcap", k, lost[k], clock if k else (0, 0), snap if k else 65535)
                        for k in (0, 1)]
                for k in (0, 1):
                    good("capture", "-q", "-r", self.at / f"{k}.pcap", "-w", self.at / f"{k}.bbt")
                done = good("merge", "-w", self.at / "all.bbt", self.at / "0.bbt", self.at / "1.bbt")
                offset, drift = map(float, re.search(r"clock of 1: (\S+) s, (\S+) ppm", done.err).groups())
                self.assertAlmostEqual(drift, clock[1], delta=20)
                self.assertAlmostEqual(offset, clock[0], delta=0.001)
                merged = [split(line) for line in lines(self.at / "all.bbt")]
                both = [m for m in merged if "recv" in m[2]]
                self.assertEqual(len(merged), len(seen[0] | seen[1]))
                self.assertEqual(len(both), len(seen[0] & seen[1]))
                for time_ns, _, keys in both:
                    self.assertTrue(10**5 < nanoseconds(keys["recv"]) - time_ns < 10**6)
                # A call and its return have one id, where both were seen by either.
                pairs = sum(len({i, i + 1} & seen[0]) == 2 or len({i, i + 1} & seen[1]) == 2
                            for i in range(0, len(queries.sent), 2))
                found = sum(len(pair) == 2 for pair in pairs_of(call_numbers(self.at / "all.bbt")))
                self.assertGreaterEqual(found, pairs)

    def test_report_leaves_times_alone(self):
        calls = [(i * 10**9, f"id{i}") for i in range(1, 40)]
        a = self.write("a.txt", [line for t, n in calls for line in
                                 (f"{seconds(t)} CALL_SENT x y {n}", f"{seconds(t + 2 * 10**6)} RET_SENT y x {n}")])
        b = self.write("b.txt", [line for t, n in calls for line in
                                 (f"{seconds(t + 250500000)} CALL_SENT x y {n}",
                                  f"{seconds(t + 251500000)} RET_SENT y x {n}")])
        done = good("merge", "--clocks=report", "-w", self.at / "all.bbt", a, b)
        self.assertRegex(done.err, r"clock of b: \+0\.2500\d\d s")
        self.assertEqual(nanoseconds(split(lines(self.at / "all.bbt")[0])[2]["recv"]), 10**9 + 250500000)
        self.assertNotIn("or a --window", done.err)
        self.assertIn("100 % of the calls had a return that preceded them, or their arrival", done.err)
        done = good("merge", "-q", "--clocks=report", "--window=200ms", "-w", self.at / "all.bbt", a, b)
        self.assertRegex(done.err, r"warning: the clocks are up to 0\.2500\d\d s apart, and sightings further apart than "
                                   r"the window of 0\.200000 s are not joined: give --clocks=correct, or a --window")
        self.assertEqual(len(lines(self.at / "all.bbt")), 4 * len(calls))
        done = good("merge", "--window=200ms", "-w", self.at / "all.bbt", a, b)
        self.assertNotIn("window", done.err)
        good("merge", "-w", self.at / "all.bbt", a, b)
        first, second = (split(line) for line in lines(self.at / "all.bbt")[:2])
        self.assertAlmostEqual(nanoseconds(first[2]["recv"]) - first[0], 500000, delta=1000)
        self.assertAlmostEqual(nanoseconds(second[2]["recv"]) - second[0], 500000, delta=1000)

    def test_clocks_that_are_known_too_badly_are_told(self):
        """Calls of 0.1 ms, by clocks that nothing tells better than to half a millisecond."""
        chance = random.Random(5)
        calls = [(i * 10**7, f"id{i}") for i in range(1, 400)]
        a, b = (self.write(name, [line for t, n in calls for line in
                                  (f"{seconds(t + chance.randrange(late))} CALL_SENT x y {n}",
                                   f"{seconds(t + 10**5 + chance.randrange(late))} RET_SENT y x {n}")])
                for name, late in (("a.txt", 1), ("b.txt", 10**6)))
        wanted = (r"\d[\d.]* % of the calls had a return that preceded them, or their arrival, and clocks are known to within [\d.]+ [mu]s: .*; "
                  r"bbpaths --skew-window=\d+us allows for it")
        done = good("merge", "-w", self.at / "all.bbt", a, b)
        self.assertRegex(done.err, "warning: " + wanted)
        told = good("info", self.at / "all.bbt").out
        self.assertRegex(told, wanted)
        self.assertIn("nanoseconds that times of two observers may be wrong against each other", told)
        self.assertIn("\nPoor: clocks are not known well enough", told)
        good("merge", "-w", self.at / "all.bbt", a)
        self.assertIn("\nGood: ", good("info", self.at / "all.bbt").out)

    def test_what_the_window_keeps_apart_is_told(self):
        """Of a clock that only messages with 5 s in between say something of."""
        calls = [(10**9 * i, f"id{i}") for i in range(1, 150)]
        a = self.write("a.txt", sorted(line for t, n in calls for line in
                                       (f"{seconds(t)} CALL_SENT x y {n}", f"{seconds(t + 6 * 10**9)} RET_SENT y x {n}")))
        b = self.write("b.txt", sorted(line for t, n in calls for line in
                                       (f"{seconds(t + 4 * 10**9)} CALL_SENT x y {n}",
                                        f"{seconds(t + 5 * 10**9)} RET_SENT y x {n}")))
        done = good("merge", "-w", self.at / "all.bbt", a, b)
        self.assertRegex(done.err, r"warning: a and b have 298 messages in common, or more, of which 0 were joined: their "
                                   r"clocks are known to within 2\.5\d+ s, .*: give a --window that is longer than that")
        done = good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", a, b)
        self.assertRegex(done.err, r"warning: a and b saw 149 and 149 messages between the same nodes at the same time, of "
                                   r"which none was joined: .* give --clocks=correct, or a --window that is longer")
        self.assertIn("\n149 messages of one observer may be the same as those of another, and were not joined",
                      good("info", self.at / "all.bbt").out)
        for clocks in "correct", "as-is":
            done = good("merge", "--window=7s", f"--clocks={clocks}", "-w", self.at / "all.bbt", a, b)
            self.assertNotIn("warning", done.err)
            self.assertIn("\nGood: counts", good("info", self.at / "all.bbt").out)

    def test_clocks_that_are_not_corrected(self):
        """Messages stand twice where they are further apart than the window, else returns precede the arrival of their
        calls: the trace knows, and info says so."""
        calls = [line for i in range(1, 150) for line in (f"{i}.2 CALL_SENT x y id{i}", f"{i}.4 RET_SENT y x id{i}")]
        a, b = self.write("a.txt", calls), self.write("b.txt", calls)
        good("skew", "-q", "-n", "x=3s", "-n", "y=3s", "-w", self.at / "c.bbt", b)
        for clocks, apart in ("as-is", "Good only if observers did not see the same"), ("report", "Poor: messages stand twice"):
            for window, wanted in (("1s", apart), ("5s", "Poor: clocks are not known")):
                good("merge", "-q", "--clocks", clocks, "--window", window, "-w", self.at / "all.bbt", a, self.at / "c.bbt")
                self.assertIn("\n" + wanted, good("info", self.at / "all.bbt").out)

    def set_back(self, step_s, by_own_clock=False):
        """Calls of 20 s as a and b saw them, who are 0.2 ms apart; b's clock is set back after 5 s."""
        def by_b(time_ns):
            return time_ns - (step_s * 10**9 if time_ns >= 1005 * 10**9 else 0)
        seen = {"a": [], "b": []}
        for i in range(2000):
            sent = 1000 * 10**9 + i * 10**7
            got, answered = sent + 200000, sent + 4 * 10**6
            place = "conn=1.1.1.1:5-2.2.2.2:80 off="
            for observer, call, back in (("a", sent, answered + 200000), ("b", by_b(got), by_b(answered))):
                seen[observer] += [(call, f"{seconds(call)} CALL_SENT web db {i} {place}{i * 100}"),
                                   (back, f"{seconds(back)} RET_SENT db web {i} {place}{i * 300}")]
        if by_own_clock:
            seen["b"].sort(key=lambda line: line[0])
        return seen

    def merge_set_back(self, *paths, options=()):
        done = good("merge", *options, "-w", self.at / "all.bbt", *paths)
        told = good("info", self.at / "all.bbt").out
        return int(re.search(r"\ncalls +([\d,]+)", told)[1].replace(",", "")), done.err, told

    def test_a_clock_that_is_set_back(self):
        """By more than it had shown before: nothing is ambiguous. By less: the order of messages in its trace tells which
        of the times that it shows twice is meant, and so does that of files."""
        for step_s in 2, 5, 16, 30:
            for by_own_clock in (False, True) if step_s == 30 else (False,):
                seen = self.set_back(step_s, by_own_clock)
                a, b = (self.write(f"{name}.txt", [line for _, line in seen[name]]) for name in "ab")
                calls, said, told = self.merge_set_back(a, b)
                self.assertEqual(calls, 2000)
                self.assertNotIn("warning", said)
                self.assertIn("\nGood: ", told)
                text = lines(self.at / "all.bbt")
                for i, line in enumerate(text):
                    time_ns, _, rest = split(line)
                    self.assertAlmostEqual(time_ns, 1000 * 10**9 + i // 2 * 10**7 + i % 2 * 4 * 10**6, delta=1000)
                    self.assertAlmostEqual(nanoseconds(rest["recv"]) - time_ns, 200000, delta=1000)
                told = good("clocks", a, b).out
                self.assertRegex(told, rf"# b steps by -{step_s}\.0000\d+ at 1004\.99\d+ of its own clock")
                # Of a and b, it is the first one's clock that all times are by.
                calls, said, told = self.merge_set_back(b, a)
                self.assertEqual(calls, 2000)
                if step_s < 20:
                    self.assertRegex(said, "warning: the clock of b, by which all others are corrected, stepped back")
                    self.assertRegex(told, "\nUsable: .*\n(.*\n)*.*stepped back 1 time: .*another observer first")
            (self.at / "b").mkdir(exist_ok=True)
            series = [self.write(f"b/{n}.txt", [line for _, line in part])
                      for n, part in enumerate((seen["b"][:1000], seen["b"][1000:]))]
            self.assertEqual(self.merge_set_back(a, *series, options=["--observers=folder"])[0], 2000)

    def check_times(self, of):
        """Of the merged trace: the calls `of` (by number), and no other, at the time of a's clock."""
        wanted = sorted(1000 * 10**9 + i * 10**7 + answer for i in of for answer in (0, 4 * 10**6))
        found = sorted(split(line)[0] for line in lines(self.at / "all.bbt"))
        self.assertEqual(len(found), len(wanted))
        for time_ns, wanted_ns in zip(found, wanted):
            self.assertAlmostEqual(time_ns, wanted_ns, delta=1_000_000)

    def test_a_step_back_beside_what_only_one_saw(self):
        """The other observer ends early, or begins late; a pause at the step; files that are cut behind it."""
        seen = self.set_back(5)
        a, b = ([line for _, line in seen[name]] for name in "ab")
        def write(name, part):
            (self.at / name).parent.mkdir(exist_ok=True)
            return self.write(name, part)
        self.merge_set_back(write("a.txt", a[:1600]), write("b.txt", b))
        self.check_times(range(2000))
        self.merge_set_back(write("a.txt", a), write("b.txt", b[:1000] + b[1600:]))
        self.check_times(range(2000))
        files = [write(f"b/{n}.txt", part) for n, part in enumerate((b[:1600], b[1600:]))]
        self.merge_set_back(write("a.txt", a), *files, options=["--observers=folder"])
        self.check_times(range(2000))
        seen = self.set_back(16)
        a, b = ([line for _, line in seen[name]] for name in "ab")
        self.merge_set_back(write("a.txt", a[600:]), write("b.txt", b))
        self.check_times(range(2000))

    def test_what_was_not_known_is_known_now(self):
        """An earlier merge knew no clock of b; merged anew with what tells it, nothing is unknown."""
        seen = self.set_back(0)
        a, b = (self.write(f"{name}.txt", [line for _, line in seen[name]]) for name in "ab")
        other = self.write("c.txt", [line.replace("1.1.1.1:5", "9.9.9.9:9").replace("web db", "x y") for _, line in seen["b"]])
        good("merge", "-w", self.at / "first.bbt", a, other)
        self.assertIn("clock of 1 observer", good("info", self.at / "first.bbt").out)
        good("merge", "-w", self.at / "again.bbt", self.at / "first.bbt")
        self.assertNotIn("2 observers", good("info", self.at / "again.bbt").out)

    def test_times_shown_twice_that_nothing_tells_apart(self):
        """In order of the clock that was set back: what stands twice is said, and told of the trace."""
        for step_s, wanted in (2, "Usable: .* messages stand twice"), (5, "Poor: messages stand twice"):
            seen = self.set_back(step_s, by_own_clock=True)
            a, b = (self.write(f"{name}.txt", [line for _, line in seen[name]]) for name in "ab")
            _, said, told = self.merge_set_back(a, b)
            twice = int(re.search(r"\nmessages +([\d,]+)", told)[1].replace(",", "")) - 4000
            self.assertGreater(twice, 0)
            self.assertRegex(said, f"warning: {twice:,} messages that a and b both saw stand twice, .* a clock stepped back")
            self.assertRegex(told, f"\n{wanted}(.*\n)*{twice:,} messages .* were seen by two observers and not joined")

    def test_unknown_clocks_are_told_of_the_trace(self):
        seen = self.set_back(0)
        a = self.write("a.txt", [line for _, line in seen["a"]])
        late = self.write("late.txt", [f"{seconds(time + 3600 * 10**9)} {' '.join(line.split()[1:5])}"
                                       for time, line in seen["b"]])
        _, said, told = self.merge_set_back(a, late)
        self.assertIn("warning: the clock of late cannot be known", said)
        self.assertRegex(told, r"\nUsable: (.*\n)*The clock of 1 observer could not be known")

    def test_clocks_as_coarse_as_calls_are_told(self):
        for error_ns, wanted in (4199999, "Good: "), (4200000, "Usable: counts hold, but not delays"):
            calls = [line for _, line in self.set_back(0)["a"]]
            told = good("info", self.write("a.txt", [f"# counter merge_clock_error_ns {error_ns}", *calls])).out
            self.assertRegex(told, rf"\n{wanted}.*\n.*Clocks are known to within 4\.20 ms")

    def test_names(self):
        hosts = self.at / "hosts"
        hosts.write_text("10.0.0.1 web1\n10.0.0.2 web2\n10.1.0.0/16 office\n", encoding="utf-8")
        rules = self.at / "rules"
        rules.write_text("web: web*\nbalancer: 192.168.0.0/16 vip\n", encoding="utf-8")
        a = self.write("a.txt", ["1.0 MSG_SENT 10.1.2.3 192.168.0.9 -", "2.0 MSG_SENT vip 10.0.0.1 -",
                                 "3.0 MSG_SENT 10.0.0.2 other -"])
        good("merge", "-q", "-w", self.at / "all.bbt", "--names", hosts, "--alias", rules, a)
        self.assertEqual([tuple(split(line)[1][1:3]) for line in lines(self.at / "all.bbt")],
                         [("office", "balancer"), ("balancer", "web"), ("web", "other")])

    def test_places_join_whatever_names_are(self):
        """One knows the hosts by name, the other by address: both sort the other way round."""
        places = [(i, f"conn=10.0.0.1:5-10.0.0.2:80 off={5000 * i}") for i in range(1, 50)]
        paths = [self.write(name, [line for i, place in places for line in
                                   (f"{i}.1 CALL_SENT {client} {server} {i} {place}",
                                    f"{i}.2 RET_SENT {server} {client} {i} {place}")])
                 for name, client, server in (("a.txt", "web", "db"), ("b.txt", "10.0.0.1", "10.0.0.2"))]
        done = good("merge", "-w", self.at / "all.bbt", *paths)
        self.assertIn("98  sightings joined by their place in a connection", done.err)
        merged = [split(line) for line in lines(self.at / "all.bbt")]
        self.assertEqual(len(merged), 98)
        self.assertTrue(all(nanoseconds(keys["recv"]) == time_ns for time_ns, _, keys in merged))

    def test_hints_that_are_not_shown_are_counted(self):
        paths = [self.write(f"{name}.txt", [f"{i}.{k} CALL_SENT {name}{k} s {i} conn=c{k} off={5000 * i}"
                                            for i in range(1, 9) for k in range(7)]) for name in "ab"]
        done = good("merge", "--clocks=as-is", "-w", self.at / "all.bbt", *paths)
        self.assertEqual(done.err.count("hint: '"), 5)
        self.assertIn("and 2 more pairs of names that seem to be of one host", done.err)

    # ---- names of Kubernetes, translated connections ---------------------------------------------------

    def kubernetes(self):
        """A pod of a deployment with two addresses, its service, one that is over, something else."""
        def entry(kind, name, **rest):
            metadata = {"name": name, "namespace": "shop", **rest.pop("metadata", {})}
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **rest}

        owned = {"labels": {"pod-template-hash": "5d8f"},
                 "ownerReferences": [{"kind": "ReplicaSet", "name": "cart-5d8f", "controller": True}]}
        items = [entry("Pod", "cart-5d8f-x2", metadata=owned,
                       status={"podIP": "10.1.0.5", "podIPs": [{"ip": "10.1.0.5"}, {"ip": "fd00::5"}]}),
                 entry("Service", "cart", spec={"clusterIPs": ["10.96.0.7"]}),
                 entry("Pod", "once", status={"phase": "Succeeded", "podIP": "10.1.0.5"}),
                 entry("Secret", "s")]
        path = self.at / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=4), encoding="utf-8")
        return path

    def test_names_of_kubernetes(self):
        a = self.write("a.txt", ["1.0 MSG_SENT 10.1.0.5 10.96.0.7 -", "2.0 MSG_SENT fd00::5 10.96.0.7:80 -",
                                 "3.0 MSG_SENT x 10.1.0.6 -"])
        names, out = self.kubernetes(), self.at / "all.bbt"
        for by, pod in (("instance", "shop/cart-5d8f-x2"), ("service", "shop/cart")):
            done = good("merge", "--names", names, "--names-by", by, "-w", out, a)
            self.assertEqual([tuple(split(line)[1][1:3]) for line in lines(out)],
                             [(pod, "shop/cart"), (pod, "shop/cart:80"), ("x", "10.1.0.6")])
            self.assertIn(f"{names}: 3 names; entries that name no address: 2", done.err)

    def translated(self, clock_ns=0):
        """Calls of two clients through a balancer's address to two servers, seen at both sides of it; and
        a connection past it. Returns the paths, and of each call its ends and times at both sides."""
        random.seed(5)
        sides, calls = ([], []), []
        for number in range(40):
            client, server = f"10.0.0.{1 + number % 2}", f"10.9.0.{7 + number % 2}"
            conns = [f"{client}:{40000 + number}-192.0.2.1:80", f"10.9.0.1:{50000 + number}-{server}:8080"]
            ends = [(client, "192.0.2.1"), ("10.9.0.1", server)]
            positions = [random.randrange(2**22, 2**32 - 2**16) for _ in range(2)]
            start = 10**18 + number * 3 * 10**7
            for call in range(3):
                begin = start + call * 10**7
                times = [(begin, begin + 40000), (begin + 2 * 10**6, begin + 2 * 10**6 - 40000)]
                calls.append((client, server, *times))
                for kind, (at_client, at_server), position, turn in zip(("CALL", "RET"), times, positions, (1, -1)):
                    for side, time_ns in enumerate((at_client, at_server + clock_ns)):
                        sender, receiver = ends[side][::turn]
                        sides[side].append((time_ns, f"{seconds(time_ns)} {kind}_SENT {sender} {receiver} "
                                            f"{3 * number + call + 1 + 500 * side} end={seconds(time_ns)} "
                                            f"bytes=90 conn={conns[side]} off={position} proto=http"))
                positions = [position + random.randrange(50, 500) for position in positions]
        past = random.randrange(2**22, 2**31)
        for i in range(5):
            sides[0].append((10**18 + i, f"{seconds(10**18 + i)} MSG_SENT 10.0.0.1 10.0.0.2 - conn=p-q off={past + i}"))
        return [self.write(f"{name}.txt", [line for _, line in sorted(side)])
                for name, side in zip(("outside", "inside"), sides)], calls

    def test_a_balancer_is_hinted_at(self):
        (outside, inside), calls = self.translated()
        done = good("merge", "-w", self.at / "all.bbt", outside, inside)
        self.assertEqual(len(lines(self.at / "all.bbt")), 4 * len(calls) + 5)
        self.assertRegex(done.err, r"hint: 20 connections of '10\.0\.0\.1' with '192\.0\.2\.1' \(seen by outside\) are "
                         r"the same as of '10\.9\.0\.1' with '10\.9\.0\.7' \(seen by inside\), by their sequence "
                         r"numbers \(expected by accident: \de-\d\d\); --nat=join makes one message of both")
        self.assertEqual(len(re.findall(r"hint: \d+ connections", done.err)), 2)
        self.assertNotIn("hint", good("merge", "--nat=off", "-w", self.at / "all.bbt", outside, inside).err)

    def test_a_balancer_is_joined(self):
        """Also where nothing else tells how far the clocks are apart."""
        for clock_ns in (0, 7 * 10**9):
            (outside, inside), calls = self.translated(clock_ns)
            done = good("merge", "--nat=join", "-w", self.at / "all.bbt", outside, inside)
            self.assertIn("20 connections of '10.0.0.2' with '192.0.2.1'", done.err)
            self.assertNotIn("hint: 20", done.err)
            found = [split(line) for line in lines(self.at / "all.bbt")]
            found = [message for message in found if message[2]["conn"] != "p-q"]
            wanted = sorted([(call[0], "CALL_SENT", client, server, call[1]) for client, server, call, _ in calls] +
                            [(reply[1], "RET_SENT", server, client, reply[0]) for client, server, _, reply in calls])
            self.assertEqual(len(found), len(wanted))
            for (time_ns, words, keys), (sent, operation, sender, receiver, arrived) in zip(found, wanted):
                self.assertEqual(words[:3], [operation, sender, receiver])
                self.assertLess(abs(time_ns - sent), 1000 if clock_ns else 1)
                self.assertLess(abs(nanoseconds(keys["recv"]) - arrived), 1000 if clock_ns else 1)
            self.assertIn("connections joined with one that was translated", good("info", self.at / "all.bbt").out)

    def test_one_observer_of_both_sides(self):
        (outside, inside), calls = self.translated()
        both = self.write("both.txt", sorted(lines(outside) + lines(inside), key=lambda line: split(line)[0]))
        done = good("merge", "--nat=join", "-w", self.at / "all.bbt", both)
        self.assertEqual(len(lines(self.at / "all.bbt")), 4 * len(calls) + 5)
        self.assertIn("one observer saw 20 of them on both sides: these stay two", done.err)

    def test_a_side_that_nothing_tells_is_said(self):
        """The clock of one side shows full seconds only."""
        (outside, inside), _ = self.translated()
        coarse = [re.sub(r"^(\d+)\.\d+", r"\1.0", line) for line in lines(inside)]
        sure = good("merge", "-q", "--nat=join", "-w", self.at / "sure.bbt", outside, inside).err
        done = good("merge", "-q", "--nat=join", "-w", self.at / "all.bbt", outside, self.write("coarse.txt", coarse))
        self.assertRegex(done.err, r"warning: connections of '10\.[09]\.0\.\d' with .* within the noise of their times")
        self.assertNotIn("noise", sure)
        self.assertRegex(good("info", self.at / "all.bbt").out, r"40 +of these, pairs whose names may be of the wrong side")

    def talk(self, clock_ns=0, observer="", conn="x-y"):
        """Calls of a to b as seen by a, or (turned) at b, 100 us later."""
        at_ns = clock_ns + (observer == "b") * 10**5
        back_ns = clock_ns - (observer == "b") * 10**5
        name = f" obs={observer}" if observer else ""
        return [line for i in range(1, 401) for line in (
            f"{seconds(10**18 + i * 10**7 + at_ns)} CALL_SENT a b {i} conn={conn} off={2000000 + i * 100}{name}",
            f"{seconds(10**18 + i * 10**7 + 2 * 10**6 + back_ns)} RET_SENT b a {i} conn={conn} off={2000000 + i * 90}{name}")]

    def verdict(self, trace):
        told = good("info", trace).out
        return int(re.search(r"^calls +([\d,]+)", told, re.M)[1].replace(",", "")), told

    def test_snapshots_that_overlap(self):
        """Of one observer: what two of them hold is one message, and its clock is known."""
        seen = self.talk()
        (self.at / "a").mkdir()
        paths = [self.write("a/snap1.txt", seen[:500]), self.write("a/snap2.txt", seen[300:]),
                 self.write("b/x.txt", self.talk(7 * 10**9, "b"))]
        done = good("merge", "--observers=folder", "-w", self.at / "all.bbt", *paths)
        self.assertNotIn("warning", done.err)
        self.assertIn("clock of b: +7.000000 s", done.err)
        self.assertRegex(done.err, r"\b200  sightings that an observer told in another trace, too")
        calls, told = self.verdict(self.at / "all.bbt")
        self.assertEqual(calls, 400)
        self.assertIn("\nGood: ", told)

    def test_merged_traces_with_an_observer_in_common(self):
        a, b, c = (self.write(f"{name}.txt", text) for name, text in (
            ("a", self.talk(0, "a") + self.talk(10**6, "a", "x-z")), ("b", self.talk(0, "b")),
            ("c", self.talk(10**6, "b", "x-z"))))
        good("merge", "-q", "-w", self.at / "east.bbt", a, b)
        good("merge", "-q", "-w", self.at / "west.bbt", a, c)
        good("merge", "-q", "-w", self.at / "one.bbt", a, b, c)
        for paths in (("east.bbt", "west.bbt"), ("one.bbt", "a.txt"), ("a.txt", "east.bbt", "c.txt")):
            good("merge", "-q", "-w", self.at / "all.bbt", *(self.at / path for path in paths))
            self.assertEqual(self.verdict(self.at / "all.bbt")[0], 800, paths)

    def test_an_observer_by_two_clocks_is_told(self):
        """A merged trace, with one of those that it was made of, which has another clock."""
        a, b = self.write("a.txt", self.talk(0, "a")), self.write("b.txt", self.talk(3600 * 10**9, "b"))
        one, done = self.at / "one.bbt", good("merge", "-q", "-w", self.at / "one.bbt", a, b)
        self.assertEqual(done.err, "")
        done = good("merge", "-q", "-w", self.at / "all.bbt", one, b)
        self.assertRegex(done.err, r"warning: about \d+ messages of b stand twice: \S+one\.bbt and \S+b\.txt have "
                         r"them 3600\.000\d+ s apart")
        told = self.verdict(self.at / "all.bbt")[1]
        self.assertIn("\nPoor: messages stand twice, ", told)
        self.assertRegex(told, r"About \d+ messages or more stand twice, by two clocks of one observer")

    def test_folders_as_observers(self):
        paths = [self.write(f"{host}/{i}.txt", [f"{i}.{part} MSG_SENT x y m{i}"])
                 for i in range(1, 4) for host, part in (("h1", "0"), ("h2", "2"))]
        good("merge", "-q", "--clocks=as-is", "--observers=folder", "-w", self.at / "all.bbt", *paths)
        found = [split(line) for line in lines(self.at / "all.bbt")]
        self.assertEqual([(m[2]["obs"], "recv" in m[2]) for m in found], [("h1", True)] * 3)

    def test_refusals(self):
        a = self.write("a.txt", ["1.0 MSG_SENT x y -"])
        bad = self.at / "bad.rules"
        bad.write_text("x y z\n", encoding="utf-8")
        out = self.at / "all.bbt"
        for status, words, options in (
                (2, "where to?", [a]), (2, "which traces?", ["-w", out]),
                (2, "would overwrite", ["-w", a, a]), (2, "would overwrite", ["-w", bad, "--alias", bad, a]),
                (2, "give --clocks=as-is", ["-w", out, "-"]), (2, "only once", ["-w", out, "-", "-"]),
                (2, "--window takes", ["-w", out, "--window=x", a]),
                (2, "--window takes", ["-w", out, "--window=2h", a]),
                (2, "--nat is hint, join or off, not 'x'", ["-w", out, "--nat=x", a]),
                (2, "--names-by is instance or service, not 'x'", ["-w", out, "--names-by=x", a]),
                (2, "--nat=join reads", ["-w", out, "--nat=join", "--clocks=as-is", "-"]),
                (1, f"{bad}, line 1: \"x\" is no IP address", ["-w", out, "--names", bad, a]),
                (1, f"{bad}:1: ", ["-w", out, "--alias", bad, a]),
                (1, "/nowhere", ["-w", out, "--names", "/nowhere", a]),
                (1, "/nowhere/out", ["-w", "/nowhere/out", a])):
            done = run("merge", *options)
            self.assertEqual(done.status, status, (options, done.err))
            self.assertIn(words, done.err)
        self.assertEqual(a.read_text(encoding="utf-8"), HEAD + "1.0 MSG_SENT x y -\n")

    def test_a_pipe_is_read_once(self):
        pipe = self.at / "pipe"
        os.mkfifo(pipe)
        done = run("merge", "-w", self.at / "all.bbt", pipe)
        self.assertEqual(done.status, 1)
        self.assertIn("--clocks=as-is", done.err)
        done = run("merge", "--clocks=as-is", "--nat=join", "-w", self.at / "all.bbt", pipe)
        self.assertEqual(done.status, 1)
        self.assertIn("--nat=join", done.err)


if __name__ == "__main__":
    ran = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    only_skips = ran.testsRun == 0 and ran.skipped
    sys.exit(1 if not ran.wasSuccessful() else 77 if only_skips else 0)
