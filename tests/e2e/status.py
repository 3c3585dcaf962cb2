#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The status of a capture: what --stats writes, of files and live, and what SIGUSR1 says.

  status.py BBTRACE SAMPLES      what needs an interface is skipped where there is no namespace"""
import fcntl
import json
import lzma
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import live
import namespace

BBTRACE, SAMPLES = sys.argv[1], sys.argv[2]
SHOP = f"{SAMPLES}/shop.pcap.xz"
SUMMARY = re.compile(r"([\d,]+) packets in [\d.]+ s: ([\d,]+) calls, ([\d,]+) returns")


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == status, (command, done.returncode, done.stderr)
    return done.stderr.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def json_lines(path):
    text = read(path).decode()
    assert text == "" or text.endswith("\n"), text[-200:]
    return [json.loads(line) for line in text.splitlines()]


def seconds(pcap):
    """A capture in pieces of about a second, cut behind each half; the first one with its head."""
    pieces, begin, at = [], 0, 24
    stamps = struct.Struct("<IIII")
    first = stamps.unpack_from(pcap, at)
    while at < len(pcap):
        second, part, size, _ = stamps.unpack_from(pcap, at)
        since = second - first[0] + (part - first[1]) / 1e9  # its stamps are nanoseconds
        if since > 0.5 + len(pieces):
            pieces.append(pcap[begin:at])
            begin = at
        at += 16 + size
    return pieces + [pcap[begin:]]


def summary(words):
    return [int(number.replace(",", "")) for number in SUMMARY.search(words).groups()]


# ---- a parser of OpenMetrics 1.0, as far as we write it -----------------------------------------

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (-?[0-9]+(?:\.[0-9]+)?)$")
SUFFIXES = {"counter": ["_total"], "gauge": [""], "summary": ["_sum", "_count"]}


def parse_labels(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match[1] not in labels, text[at:]
        labels[match[1]] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), match[2])
        at = match.end()
    return labels


class Metrics:
    """families: name -> type; samples: (name, labels) -> value. Anything amiss is an assertion."""

    def __init__(self, data):
        self.families, self.samples = {}, {}
        self.now, self.helped = None, set()
        lines = data.decode().split("\n")
        assert lines[-2:] == ["# EOF", ""], lines[-3:]
        for line in lines[:-2]:
            self.head(line) if line.startswith("#") else self.sample(line)

    def head(self, line):
        word, name, text = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)", line).groups()
        if word == "TYPE":
            assert name not in self.families and text in SUFFIXES, line
            self.families[name] = text
            self.now = name
        elif word == "UNIT":
            assert name.endswith("_" + text), line
        else:
            assert name not in self.helped and not re.search(r'\\(?![\\n"])', text), line
            self.helped.add(name)
        assert name == self.now, line  # families do not mix

    def sample(self, line):
        match = SAMPLE.match(line)
        assert match, line
        name, value = match[1], float(match[3]) if "." in match[3] else int(match[3])
        assert name in [self.now + end for end in SUFFIXES[self.families[self.now]]], line
        assert self.families[self.now] == "gauge" or value >= 0
        key = (name, tuple(sorted(parse_labels(match[2] or "").items())))
        assert key not in self.samples, line
        self.samples[key] = value

    def value(self, name, **labels):
        return self.samples[(name, tuple(sorted(labels.items())))]

    def sum(self, name):
        return sum(value for (each, _), value in self.samples.items() if each == name)


# ---- what both must say -------------------------------------------------------------------------


def check_sums(test, words, lines, metrics):
    packets, calls, returns = summary(words)
    for key, wanted in ("packets", packets), ("calls", calls), ("returns", returns):
        test.assertEqual(sum(line[key] for line in lines), wanted)
    test.assertEqual(sum(line["messages"] for line in lines), calls + returns)
    for key in "calls", "returns", "errors":
        for line in lines:
            of_edges = sum(edge[key] for edge in line["edges"]) + line["other"][key]
            test.assertEqual(of_edges, line[key])
        of_edges = metrics.sum(f"bbtrace_edge_{key}_total") + metrics.sum(f"bbtrace_other_edge_{key}_total")
        test.assertEqual(of_edges, sum(line[key] for line in lines))
    for key, wanted in ("frames", packets), ("calls", calls), ("returns", returns):
        test.assertEqual(lines[-1]["totals"][key], wanted)
        test.assertEqual(metrics.value(f"bbtrace_{key}_total"), wanted)
    test.assertIn(("bbtrace_shed_flows_seconds_total", ()), metrics.samples)
    test.assertEqual([name for name, _ in metrics.samples if "_ms_" in name], [])


class OfFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def capture(self, name, *options, source=SHOP, status=0):
        return run(BBTRACE, "capture", "-r", source, "-w", "/dev/null", "--stats", self.path(name), *options,
                   status=status)

    def test_sums_are_those_of_the_summary(self):
        words = self.capture("a.jsonl")
        lines = json_lines(self.path("a.jsonl"))
        check_sums(self, words, lines, Metrics(read(self.path("a.prom"))))
        self.assertEqual(len(lines), 4)  # 3.4 s
        for line in lines[:-1]:
            self.assertTrue(1 <= line["seconds"] < 1.5, line["seconds"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.jsonl", "a.prom"])

    def test_latencies_are_those_of_the_trace(self):
        self.capture("a.jsonl")
        text = subprocess.run([BBTRACE, "capture", "-q", "-r", SHOP], stdout=subprocess.PIPE, check=True).stdout
        opened, spent, most = {}, {}, {}
        for line in text.decode().splitlines():
            if line.startswith("#"):
                continue
            stamp, kind, sender, receiver, call = line.split()[:5]
            time_ns = int(stamp.replace(".", "").ljust(19, "0")[:19])
            if kind == "CALL_SENT":
                opened[sender, receiver, call] = time_ns
            elif (receiver, sender, call) in opened:
                took = time_ns - opened.pop((receiver, sender, call))
                spent.setdefault((receiver, sender), []).append(took)
        metrics = Metrics(read(self.path("a.prom")))
        sums = {(dict(labels)["caller"], dict(labels)["callee"]): value for (name, labels), value
                in metrics.samples.items() if name == "bbtrace_edge_latency_seconds_sum"}
        counts = {(dict(labels)["caller"], dict(labels)["callee"]): value for (name, labels), value
                  in metrics.samples.items() if name == "bbtrace_edge_latency_seconds_count"}
        self.assertEqual({edge: len(took) for edge, took in spent.items()}, counts)
        for edge, took in spent.items():
            self.assertAlmostEqual(sum(took) / 1e9, sums[edge], places=6)
            for line in json_lines(self.path("a.jsonl")):
                for each in line["edges"]:
                    if (each["caller"], each["callee"]) == edge:
                        most[edge] = max(most.get(edge, 0), each["max_latency"] or 0)
            self.assertAlmostEqual(max(took) / 1e9, most[edge], places=8)

    def test_the_same_for_any_number_of_threads_and_each_time(self):
        for number in 1, 3, 8:
            self.capture(f"{number}.jsonl", "--threads", str(number))
            self.assertEqual(read(self.path(f"{number}.jsonl")), read(self.path("1.jsonl")))
            self.assertEqual(read(self.path(f"{number}.prom")), read(self.path("1.prom")))

    def test_lines_are_appended_and_the_other_file_is_replaced(self):
        self.capture("a")
        lines, metrics = read(self.path("a")), read(self.path("a.prom"))
        self.capture("a")
        self.assertEqual(read(self.path("a")), lines + lines)
        self.assertEqual(read(self.path("a.prom")), metrics)

    def test_of_nothing_there_is_a_line_too(self):
        self.capture("a.json", "tcp port 1")
        (line,) = json_lines(self.path("a.json"))
        self.assertEqual((line["time"], line["packets"], line["edges"]), (None, 0, []))
        self.assertEqual(Metrics(read(self.path("a.prom"))).value("bbtrace_frames_total"), 0)

    def test_hostile_names_are_escaped(self):
        names = self.path("names")
        with open(names, "wb") as file:
            file.write(b'10.77.0.20 a"}\\b%\n10.77.0.31 c\xff\n10.77.0.32 c\xfe\n10.77.0.41 c%FF\\\n10.77.0.42 \\n"\n')
        words = self.capture("a.jsonl", "--names", names)
        metrics = Metrics(read(self.path("a.prom")))  # no series comes twice
        check_sums(self, words, json_lines(self.path("a.jsonl")), metrics)
        callees = {dict(labels)["callee"] for name, labels in metrics.samples if name == "bbtrace_edge_calls_total"}
        for wanted in 'a"}\\b%25', "c%FF", "c%FE", "c%25FF\\", '\\n"':
            self.assertIn(wanted, callees)

    def test_files_that_would_be_destroyed_are_refused(self):
        out = self.path("out.prom")
        for stats in self.path("out.jsonl"), out:
            words = run(BBTRACE, "capture", "-r", SHOP, "-w", out, "--stats", stats, status=2)
            self.assertIn("--stats would change", words)
        self.assertFalse(os.path.exists(out))
        self.assertIn("takes the name of a file", run(BBTRACE, "capture", "-r", SHOP, "--stats", "-", status=2))
        self.assertIn("cannot open", self.capture("none/a.jsonl", status=1))

    def test_a_pipe_whose_reader_goes_away_costs_its_lines_only(self):
        pipe = self.path("s.jsonl")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        job, feed = self.feed("--stats", pipe)
        with lzma.open(SHOP) as file:
            parts = seconds(file.read())
        feed.write(b"".join(parts[:2]))
        feed.flush()
        first, before = self.await_line(reader), read(self.path("s.prom"))
        os.close(reader)
        feed.write(parts[2])
        feed.flush()
        end = time.monotonic() + 20
        while read(self.path("s.prom")) == before:  # until another second is over
            self.assertIsNone(job.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # another comes
        feed.write(b"".join(parts[3:]))
        feed.close()
        words = job.stderr.read().decode()
        self.assertEqual(job.wait(60), 0, words)
        last = b"".join(iter(lambda: os.read(reader, 1 << 16), b""))
        os.close(reader)
        lines = [json.loads(line) for line in (first + last).splitlines()]
        self.assertGreater(len(lines), 1)
        self.assertRegex(words, r"warning: .*nobody reads this pipe")
        lost = int(re.search(r"warning: .*: (\d+) lines? of statistics had no reader", words)[1])
        total = len(json_lines(self.whole()))
        self.assertEqual(lost + len(lines), total)
        self.assertEqual(summary(words)[1], 4423)

    def test_a_pipe_without_reader_is_not_waited_for(self):
        os.mkfifo(self.path("s.jsonl"))
        words = self.capture("s.jsonl")
        self.assertRegex(words, r"\d lines of statistics had no reader")
        self.assertEqual(Metrics(read(self.path("s.prom"))).value("bbtrace_calls_total"), 4423)

    def feed(self, *options):
        job = subprocess.Popen([BBTRACE, "capture", "-r", "-", "-w", "/dev/null", "--threads", "1", *options], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        for end in job.stdin.close, job.stderr.close:
            self.addCleanup(end)
        return job, job.stdin

    def await_line(self, reader):
        found, end = b"", time.monotonic() + 20
        while not found.endswith(b"\n"):
            self.assertLess(time.monotonic(), end)
            try:
                found += os.read(reader, 1 << 16)
            except BlockingIOError:
                pass
            time.sleep(0.01)
        return found

    def whole(self):
        self.capture("whole.jsonl")
        return self.path("whole.jsonl")

    def test_a_full_disk_costs_statistics_only(self):
        words = run(BBTRACE, "capture", "-r", SHOP, "-w", self.path("t.bbt"), "--stats", self.full(), status=1)
        self.assertIn("No space left", words)
        self.assertIn("4 lines or files of statistics were not written", words)
        run(BBTRACE, "info", self.path("t.bbt"))
        self.assertEqual(summary(words)[1], 4423)

    def full(self):
        os.symlink("/dev/full", self.path("full.jsonl"))
        return self.path("full.jsonl")


class Live(unittest.TestCase):
    def setUp(self):
        if not INSIDE:
            self.skipTest("the kernel gives no user and network namespace")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *options):
        job = namespace.start(BBTRACE, "capture", "-i", "lo", "-w", "/dev/null", *options, "tcp", "port", "8080")
        self.addCleanup(job.stderr.close)
        return job

    def test_lines_come_each_second(self):
        stats = f"{self.folder}/a.jsonl"
        job = self.start("--stats", stats)
        for _ in range(3):
            live.ask(20)
            time.sleep(1.3)  # the first is there after a second
            Metrics(read(f"{self.folder}/a.prom"))  # whole at any time
        words = namespace.finish(job, signal.SIGINT)
        lines = json_lines(stats)
        check_sums(self, words, lines, Metrics(read(f"{self.folder}/a.prom")))
        self.assertEqual(sum(line["calls"] for line in lines), 60)
        self.assertGreaterEqual(len(lines), 4)
        for line in lines[:-1]:
            self.assertTrue(0.9 < line["seconds"] < 2, line)
            self.assertGreater(line["memory_bytes"], 1 << 20)
        self.assertLess(abs(lines[0]["time"] - time.time()), 60)

    def test_signals_are_answered_in_words(self):
        job = self.start()
        live.ask(10)
        time.sleep(1.5)
        job.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        words = namespace.finish(job, signal.SIGTERM)
        self.assertRegex(words, r"status: .*lo: [\d,]+ packets/s, [\d,]+ messages/s, [\d,]+ calls/s over ")
        self.assertRegex(words, r"status: \d+ packets, 10 calls, 10 returns, 0 free messages so far; 0 dropped")
        self.assertRegex(words, r"status: \d+ connections remembered, \d+ bytes held, \d+ MiB of memory")
        self.assertIn("10 calls, 10 returns", words.replace("so far", ""))

    def test_signals_are_answered_while_packets_trickle(self):
        """So that it is never idle, and never come to its next thousand."""
        job = self.start()
        job.send_signal(signal.SIGUSR1)
        os.set_blocking(job.stderr.fileno(), False)
        for _ in range(20):
            live.ask(1)
            time.sleep(0.04)
        said = job.stderr.read()
        os.set_blocking(job.stderr.fileno(), True)
        namespace.finish(job, signal.SIGINT)
        self.assertIn(b"status: ", said or b"")

    def test_a_terminal_shows_a_screen(self):
        for rows, columns, wanted in (24, 80, True), (24, 100, True), (5, 30, False):
            text = self.on_terminal(rows, columns)
            self.assertRegex(text, r"interface lo: \d+ dropped, ")
            if columns >= 80:
                self.assertRegex(text, r"0 gaps, [\d.]+ packets/s, [\d.]+ calls/s, \d+ connections?, ")
            self.assertEqual(re.search(r"calls/s  mean .*127\.0\.0\.1 -> 127\.0\.0\.1 \(http\)", text) is not None, wanted)
            if not wanted:
                self.assertNotIn("\033[1A", text)
            for line in re.split(r"\r|\n|\033\[J", re.sub(r"\033\[\dA", "\r", text)):
                if " dropped, " in line:
                    self.assertLess(len(line), columns)

    def on_terminal(self, rows, columns):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        job = subprocess.Popen([BBTRACE, "capture", "-i", "lo", "-w", "/dev/null", "tcp", "port", "8080"], stderr=theirs,
                               env={**os.environ, "TERM": "xterm"})
        time.sleep(0.8)
        for _ in range(4):
            live.ask(10)
            time.sleep(0.4)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(timeout=60), 0)
        os.close(theirs)
        os.set_blocking(ours, False)
        text = b""
        try:
            while True:
                text += os.read(ours, 65536)
        except OSError:
            pass
        os.close(ours)
        return text.decode()


INSIDE = sys.argv[-1] == "inside"

if __name__ == "__main__":
    if not INSIDE and subprocess.run(["unshare", "-rn", "true"], check=False).returncode == 0:
        sys.exit(subprocess.run(["unshare", "-rn", sys.executable, *sys.argv, "inside"], check=False).returncode)
    if INSIDE:
        namespace.set_up("lo")
        live.serve()
    unittest.main(argv=sys.argv[:1])
