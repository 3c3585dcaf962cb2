#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The clock of the host is set while a capture runs: back by an hour, forward by a day, to 1970, again and again.
Nothing is lost, nothing hangs, triggers do not storm; of files, of the recorder and of the status.

  clock_set.py BBTRACE SAMPLES SET_CLOCK      SET_CLOCK is built of set_clock.c. Live is skipped where there is
                                              no namespace"""
import collections
import glob
import json
import lzma
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import live
import namespace
import recorder
from recorder import HEAD, SECOND

BBTRACE, SAMPLES, SET_CLOCK = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
HOUR, DAY = 3600, 86400
YEAR = 365 * DAY
EARLY, LATE = "1970", "2106"  # the first and the last seconds that a pcap can tell
STEPS = (0, -HOUR, DAY, EARLY, 0, -HOUR, 0, LATE, -HOUR, YEAR, -1.5, 0)
MESSAGES = 12210
UNTIL_S = 60


def stepped(data):
    """The same packets in the same order; with each part of them the clock is another one."""
    parts = list(recorder.records(data))
    first, size, out = parts[0][0], len(parts) // len(STEPS) + 1, [data[:HEAD]]
    for number, (time_ns, frame) in enumerate(parts):
        step = STEPS[number // size]
        if step == EARLY:
            time_ns -= first - 10 * SECOND
        elif step == LATE:
            time_ns += (2**32 - 20) * SECOND - first
        else:
            time_ns += int(step * SECOND)
        out.append(recorder.record(time_ns, frame))
    return b"".join(out)


def facts(lines):
    """What messages are, whenever they were."""
    return collections.Counter(re.sub(r"^\S+ | (end|off|conn)=\S+", " ", line) for line in lines)


def number_of(path):
    return int(re.search(r"_(\d+)\.bbt$", path)[1])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def series(self, name):
        """In the order in which they were made."""
        return sorted(glob.glob(self.path(f"{name}_*.bbt")), key=number_of)

    def lines(self, *traces):
        found = []
        for trace in traces:
            done = recorder.run(BBTRACE, "cat", trace)
            self.assertNotIn("warning", done.stderr)
            found += [line for line in done.stdout.splitlines() if not line.startswith("#")]
        return found


class OfPipes(Case):
    @classmethod
    def setUpClass(cls):
        with lzma.open(f"{SAMPLES}/shop-slowauth.pcap.xz") as file:
            data = file.read()
        done = subprocess.run([BBTRACE, "capture", "-q", "-r", "-"], input=data, stdout=subprocess.PIPE, check=True)
        cls.expected = facts(line for line in done.stdout.decode().splitlines() if not line.startswith("#"))
        cls.data = stepped(data)

    def capture(self, *options):
        done = subprocess.run([BBTRACE, "capture", "-r", "-", *options], input=self.data, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=UNTIL_S)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, 0, err)
        self.assertEqual(err.count("warning"), err.count(" time stamps step back by "), err)
        self.assertEqual(err.count("warning"), 3, err)
        return err

    def test_a_file_has_all_messages(self):
        for number, options in enumerate(((), ("--flush", "100ms"), ("--flush", "1ms", "--threads", "3"))):
            trace = self.path(f"{number}.bbt")
            self.capture("-w", trace, *options)
            self.assertEqual(facts(self.lines(trace)), self.expected)
            self.assertEqual(sum(self.expected.values()), MESSAGES)

    def test_files_of_a_series_have_all_messages(self):
        for name, options in (("a", ("--rotate-time", "1s")), ("b", ("--rotate-time", "1h", "--flush", "50ms")),
                              ("c", ("--rotate-time", "10min", "--rotate-size", "8K", "--threads", "4"))):
            with self.subTest(options=options):
                err = self.capture("-w", self.path(f"{name}.bbt"), *options)
                files = self.series(name)
                self.assertIn(f"{len(files)} files, 0 of them deleted", err)
                self.assertEqual([number_of(file) for file in files], list(range(1, len(files) + 1)))
                self.assertTrue(3 < len(files) < 100, files)
                self.assertEqual(facts(self.lines(*files)), self.expected)

    def test_a_ring_of_files_keeps_those_made_last(self):
        self.capture("-w", self.path("all.bbt"), "--flush", "20ms", "--rotate-size", "8K")
        everything = self.lines(*self.series("all"))
        err = self.capture("-w", self.path("r.bbt"), "--flush", "20ms", "--rotate-size", "8K", "--ring", "4")
        files = self.series("r")
        self.assertEqual(len(files), 4, err)
        kept = self.lines(*files)
        self.assertTrue(kept)
        self.assertEqual(sorted(kept), sorted(everything[-len(kept):]))

    def record(self, *options):
        err = self.capture("-w", self.path("fr"), "--flight-recorder", "8M", *options)
        self.assertIn(f"{MESSAGES:,} messages recorded", err)
        return err, recorder.snapshots(self.path("fr"))

    def test_the_recorder_has_all_messages(self):
        self.record()
        self.assertEqual(facts(self.lines(self.path("fr/ring.bbr"))), self.expected)

    def test_triggers_do_not_storm(self):
        """One snapshot a trigger for each time that the clock was set, at most; each is whole."""
        triggers = ("silent(10.77.0.32) > 5s", "open(*) > 1min", "errors(*) > 90% over 10s",
                    "latency(10.77.0.32) mean > 40ms over 1s")
        options = [word for trigger in triggers for word in ("--trigger", trigger)]
        for pause, after in (("0", "1s"), ("10min", "5s"), ("1h", "10min")):
            with self.subTest(pause=pause):
                err, found = self.record(*options, "--snap-pause", pause, "--snap-after", after, "--snap-keep", "1000")
                self.assertRegex(err, r"\d+  times that the clock was set back: triggers began anew")
                taken, suppressed = map(int, re.search(r"(\d+) snapshots? taken, (\d+) suppressed", err).groups())
                self.assertTrue(0 < taken <= len(STEPS) * len(triggers), err)
                self.assertLess(suppressed, 1000, err)
                for snapshot in found:
                    self.assertLessEqual(facts(self.lines(snapshot)), self.expected)
                for path in glob.glob(self.path("fr/*")):
                    os.unlink(path)

    def test_a_trigger_works_after_the_clock_was_set_back(self):
        """What comes about in the last part, when the clock is as at the start again, is noticed."""
        err, found = self.record("--trigger", "latency(10.77.0.32) mean > 40ms over 100ms", "--snap-pause", "0",
                                 "--snap-after", "100ms")
        self.assertGreater(len(found), 1, err)

    def test_sums_of_the_status(self):
        stats = self.path("s.jsonl")
        self.capture("-w", "/dev/null", "--stats", stats)
        with open(stats, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(sum(line["messages"] for line in lines), MESSAGES)
        self.assertTrue(1 < len(lines) < 10 * len(STEPS), len(lines))
        for line in lines:
            self.assertGreaterEqual(line["seconds"], 0)


class Live(Case):
    """With a clock that can be set."""

    def setUp(self):
        if not INSIDE:
            self.skipTest("the kernel gives no user and network namespace")
        super().setUp()
        self.clock = self.path("clock")
        self.asked = self.at = self.back = 0
        self.set(0)

    def set(self, seconds):
        self.back += seconds < self.at
        self.at = seconds
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "w+b") as file:
            file.write(struct.pack("=q", int(seconds * SECOND)))

    def start(self, *options, adapter=0):
        environment = dict(os.environ, LD_PRELOAD=SET_CLOCK, BB_CLOCK=self.clock, BB_ADAPTER=str(adapter))
        job = namespace.start(BBTRACE, "capture", "-i", "lo", *options, env=environment)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.kill)
        return job

    def ask(self, count=20):
        live.ask(count)
        self.asked += count
        time.sleep(0.4)  # until the kernel has handed them over

    def go_through(self):
        self.ask()
        for step in (-HOUR, DAY, -20 * YEAR, 0, -5, -HOUR, 0):
            self.set(step)
            self.ask()

    def finish(self, job):
        err = namespace.finish(job, signal.SIGINT)
        self.assertNotIn("CRITICAL", err)
        self.assertIn(f"{self.asked} calls, {self.asked} returns", err)
        self.assertRegex(err, rf" {self.back}  [^\n]*\(clock_set_back\)")
        self.assertEqual(err.count("its time stamps stepped back by"), min(self.back, 3), err)
        return err

    def test_files(self):
        stats = self.path("s.jsonl")
        job = self.start("-w", self.path("t.bbt"), "--rotate-time", "1s", "--flush", "100ms", "--stats", stats,
                         "tcp", "port", "8080")
        began = time.monotonic()
        self.go_through()
        self.set(-20 * YEAR)
        self.ask(600)  # more than are taken for late ones
        self.finish(job)
        files = self.series("t")
        self.assertTrue(2 < len(files) < 20, files)  # with the first: a day ahead, and 20 years back
        self.assertEqual(len(self.lines(*files)), 2 * self.asked)
        years = [int(re.search(r"_(\d{4})", os.path.basename(file))[1]) for file in files]
        self.assertTrue(years[-1] < years[0] - 18, files)
        with open(stats, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(sum(line["calls"] for line in lines), self.asked)
        took = time.monotonic() - began
        self.assertTrue(took / 3 < len(lines) < took + 3, (took, len(lines)))  # by a clock that nobody sets

    def test_files_by_the_clock_of_the_adapter(self):
        """Hours ahead of that of the host, or behind: files end by the clock that stamps are of."""
        for name, adapter in (("even", 0), ("behind", -5 * HOUR), ("ahead", 5 * HOUR)):
            with self.subTest(name):
                self.asked = 0
                job = self.start("-w", self.path(f"{name}.bbt"), "--rotate-time", "4s", "--flush", "50ms",
                                 "tcp", "port", "8080", adapter=adapter)
                time.sleep((2.5 - time.time()) % 4)  # the middle of a file and its end
                self.ask()
                self.ask()
                self.assertEqual(len(self.series(name)), 1)
                recorder.wait_for(lambda: not self.unfinished(name))  # though nothing comes any more
                self.assertTrue(time.time() % 4 < 2, time.time())
                self.ask()
                err = namespace.finish(job, signal.SIGINT)
                self.assertIn(f"{self.asked} calls, {self.asked} returns", err)
                files = self.series(name)
                self.assertEqual(len(files), 2)
                self.assertEqual(len(self.lines(*files)), 2 * self.asked)

    def unfinished(self, name):
        told = [recorder.run(BBTRACE, "info", path) for path in self.series(name)]
        return any("no end mark" in each.stdout + each.stderr for each in told)

    def test_recorder(self):
        place = self.path("fr")
        job = self.start("-w", place, "--flight-recorder", "4M", "--snap-after", "200ms", "--trigger",
                         "silent(127.0.0.1) > 5s", "--trigger", "open(*) > 2s", "tcp", "port", "8080")
        self.ask()
        self.set(-HOUR)
        self.ask()
        path = recorder.run(BBTRACE, "snap", place).stdout.strip()
        self.assertEqual(len(self.lines(path)), 2 * self.asked)
        job.send_signal(signal.SIGUSR2)
        time.sleep(0.05)
        self.set(-2 * HOUR)  # while that one waits for its time
        self.ask()
        recorder.wait_for(lambda: any("SIGUSR2" in name for name in recorder.snapshots(place)))
        self.go_through()
        recorder.wait_for(lambda: len(self.lines(recorder.run(BBTRACE, "snap", place).stdout.strip())) == 2 * self.asked)
        err = self.finish(job)
        self.assertEqual(len(self.lines(f"{place}/ring.bbr")), 2 * self.asked)
        self.assertLessEqual(len([name for name in recorder.snapshots(place) if "silent" in name or "open" in name]),
                             2 * 9, err)


INSIDE = sys.argv[-1] == "inside"


def main():
    if INSIDE:
        namespace.set_up("lo")
        live.serve()
    elif subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return subprocess.run(["unshare", "-rn", sys.executable, *sys.argv, "inside"], check=False).returncode
    program = unittest.main(argv=sys.argv[:1], exit=False)
    for _, reason in program.result.skipped:
        print(f"skipped: {reason}")
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
