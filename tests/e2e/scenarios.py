#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthetic traces as a user makes them: every scenario that is shipped, settings and limits from the
command line, wrong clocks, losses.

  scenarios.py BBTRACE SCENARIOS"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

BBTRACE, SCENARIOS = sys.argv[1:3]
NAMES = sorted(name[:-4] for name in os.listdir(SCENARIOS) if name.endswith(".scn"))
FREE = {"batching", "bursts", "feedback", "forwarding-loss", "heavy-tail", "null-streams", "pipeline", "pubsub"}
PAIR = """duration 2s
tracelet t { rate 10/s regular; A -> B { after 20ms reply } }
"""


def run(*command, data=None, status=0):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=120)
    assert done.returncode == status, (command, done.returncode, done.stderr.decode())
    return done.stdout, done.stderr.decode()


def messages(text):
    """(nanoseconds, operation, sender, receiver, id, {key: value}) of each line."""
    found = []
    for line in text.decode().splitlines():
        if not line.startswith("#"):
            time, operation, sender, receiver, name, *keys = line.split()
            seconds, fraction = time.split(".")
            found.append((int(seconds) * 10**9 + int(fraction.ljust(9, "0")), operation, sender, receiver,
                          name, dict(key.split("=", 1) for key in keys)))
    return found


def generate(*arguments, **more):
    return messages(run(BBTRACE, "generate", "-q", *arguments, **more)[0])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path


class Shipped(Files):
    def test_all_are_listed_with_a_title(self):
        self.assertIn("--list takes no scenario", run(BBTRACE, "generate", "--list", "foo", status=2)[1])
        out, err = run(BBTRACE, "generate", "--list")
        rows = [line.split(None, 1) for line in out.decode().splitlines()]
        self.assertEqual([row[0] for row in rows], NAMES)
        self.assertTrue(all(len(row) == 2 and len(row[1]) > 20 for row in rows), rows)
        self.assertEqual(err, "")

    def test_all_make_whole_traces(self):
        for name in NAMES:
            with self.subTest(scenario=name):
                trace = self.path("t.bbt")
                _, err = run(BBTRACE, "generate", name, "-c", "3000", "-w", trace)
                self.assertRegex(err, r"^bbtrace: 3,\d\d\d messages in \d+\.\d+ s\n$")
                self.check_truth(name, messages(run(BBTRACE, "cat", trace)[0]))

    def check_truth(self, name, rows):
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        begun = {}
        for time, operation, sender, receiver, identifier, keys in rows:
            parent = begun.get(keys["parent"])
            if operation == "RET_SENT":
                call = begun[identifier]
                self.assertEqual(receiver, call["sender"])
                self.assertGreaterEqual(time, call["time"])
                self.assertEqual((keys["path"], keys["parent"]), (call["path"], call["parent"]))
                if name != "forwarded-returns":
                    self.assertEqual(sender, call["receiver"])
                continue
            self.assertEqual(int(identifier), len(begun) + 1)
            if keys["parent"] == "-":
                self.assertNotIn(keys["path"], {other["path"] for other in begun.values()})
            else:
                self.assertEqual(parent["path"], keys["path"])
                self.assertEqual(parent["receiver"], sender)
                self.assertGreaterEqual(time, parent["time"])
            begun[identifier] = {"time": time, "sender": sender, "receiver": receiver, **keys}
        operations = {row[1] for row in rows}
        self.assertEqual(operations, {"MSG_SENT"} if name in FREE else {"CALL_SENT", "RET_SENT"})

    def test_the_same_seed_gives_the_same_bytes(self):
        once = run(BBTRACE, "generate", "webshop", "-c", "5000")[0]
        self.assertEqual(run(BBTRACE, "generate", "webshop", "-c", "5000", "--seed", "1")[0], once)
        self.assertNotEqual(run(BBTRACE, "generate", "webshop", "-c", "5000", "--seed", "2")[0], once)

    def test_the_added_delay_is_in_one_place(self):
        """From AUTH's return to the call of the application server, 250 ms in WS2, 50 in WS1."""
        waits = {"WS1": [], "WS2": []}
        returned = {}
        for time, operation, sender, receiver, _, keys in generate("multitier-added-delay", "-c", "20000"):
            if operation == "RET_SENT" and sender == "AUTH":
                returned[keys["path"]] = time
            if operation == "CALL_SENT" and receiver.startswith("AP"):
                waits[sender].append(time - returned[keys["path"]])
        for node, wanted in (("WS1", 50e6), ("WS2", 250e6)):
            self.assertGreater(len(waits[node]), 500)
            self.assertAlmostEqual(sum(waits[node]) / len(waits[node]) / wanted, 1, delta=0.02)


class Generate(Files):
    def test_settings_lengths_and_leaving_out(self):
        rows = generate("multitier", "-D", "load=rate 50/s", "-D", "deviation=0%", "-G", "10s")
        self.assertAlmostEqual(len({row[5]["path"] for row in rows}), 500, delta=80)
        self.assertLess(rows[-1][0] - 10**18, 12 * 10**9)
        self.assertTrue(all("path" not in row[5] for row in generate("pipeline", "-c", "50", "--no-truth")))
        without = generate("multitier", "-c", "100", "--no-ids")
        self.assertEqual({row[4] for row in without}, {"-"})
        self.assertEqual(without[1][5]["parent"], "#1")

    def test_a_scenario_from_a_file_and_from_standard_input(self):
        path = self.path("pair.scn", PAIR)
        from_file = run(BBTRACE, "generate", path)[0]
        self.assertEqual(len(messages(from_file)), 2 * 19)
        self.assertEqual(run(BBTRACE, "generate", "-", data=PAIR.encode())[0], from_file)

    def test_errors_name_line_and_remedy(self):
        _, err = run(BBTRACE, "generate", self.path("bad.scn", PAIR + "go"), status=1)
        self.assertRegex(err, r"error: .*bad\.scn:3: expected a statement")
        _, err = run(BBTRACE, "generate", "-", data=b"@", status=1)
        self.assertRegex(err, "error: standard input:1: '@'")
        _, err = run(BBTRACE, "generate", "no-such", status=1)
        self.assertIn("--list", err)
        _, err = run(BBTRACE, "generate", "/nowhere.scn", status=1)
        self.assertIn("/nowhere.scn", err)
        _, err = run(BBTRACE, "generate", "multitier", "-c", "10", "-w", "/nowhere/x.bbt", status=1)
        self.assertIn("/nowhere/x.bbt", err)
        path = self.path("huge.scn", "#" * ((1 << 20) + 1))
        self.assertIn("more than 1 MiB", run(BBTRACE, "generate", path, status=1)[1])

    def test_wrong_usage(self):
        path = self.path("pair.scn", PAIR)
        for arguments, words in (([], "which scenario"), (["a", "b"], "one scenario"),
                                 (["multitier", "-D", "speed=5"], "what is: clients, think, load"),
                                 (["multitier", "-D", "speed"], "NAME=VALUE"),
                                 (["multitier", "-G", "fast"], "--duration takes a time"),
                                 (["multitier", "-c", "-5"], "--messages takes"),
                                 (["multitier", "--connections=some"], "none, pool, held or threads, not 'some'"),
                                 ([path, "-w", path], "would overwrite")):
            out, err = run(BBTRACE, "generate", *arguments, status=2)
            self.assertEqual(out, b"")
            self.assertIn(words, err)


class Skew(Files):
    def test_clocks_move_what_their_nodes_stamp(self):
        trace = self.path("t.bbt")
        run(BBTRACE, "generate", "-", "-w", trace, data=("network 1ms\n" + PAIR).encode())
        before = messages(run(BBTRACE, "cat", trace)[0])
        out, err = run(BBTRACE, "skew", "--node", "B=-3ms+100ppm", trace)
        after = {(row[1], row[4]): row for row in messages(out)}
        self.assertIn("B: -0.003000 s, +100.000 ppm", err)
        for time, operation, _, _, identifier, keys in before:
            row = after[operation, identifier]
            arrival, moved = (int(float(k["recv"]) * 1e6) for k in (keys, row[5]))
            drift = (time - before[0][0]) // 10_000
            if operation == "CALL_SENT":
                self.assertEqual(row[0], time)
                self.assertAlmostEqual(moved - arrival, -3000 + drift / 1000, delta=3)
            else:
                self.assertAlmostEqual(row[0] - time, -3_000_000 + drift, delta=2)
                self.assertEqual(moved, arrival)

    def test_the_result_is_in_order_of_time(self):
        trace = self.path("t.bbt")
        run(BBTRACE, "generate", "multitier", "-c", "2000", "-w", trace)
        out, err = run(BBTRACE, "skew", "--random", "100ms", "--drift", "50", trace)
        times = [row[0] for row in messages(out)]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(re.findall(r"^bbtrace: \w+: [+-]0\.\d+ s, ", err, re.M)), 10)
        self.assertEqual(run(BBTRACE, "skew", "-q", "--random", "100ms", "--drift", "50", trace), (out, ""))
        self.assertNotEqual(run(BBTRACE, "skew", "-q", "--random", "100ms", "-s", "2", trace)[0], out)

    def test_warnings_and_wrong_usage(self):
        trace = self.path("t.bbt")
        run(BBTRACE, "generate", "-", "-w", trace, data=PAIR.encode())
        self.assertIn("no node 'C'", run(BBTRACE, "skew", "-n", "C=1ms", trace)[1])
        early = self.path("early.txt", "# bbtrace text 1\n10.0 MSG_SENT A B -\n")
        out, err = run(BBTRACE, "skew", "-n", "A=-11s", early)
        self.assertIn("1 time set to 1970", err)
        self.assertEqual(messages(out)[0][0], 0)
        for arguments, words in ((["-n", "B=1ms"], "which trace"), ([trace], "which clocks"),
                                 (["-n", "B", trace], "not 'B'"), (["-n", "B=5", trace], "not 'B=5'"),
                                 (["-n", "B=5ms+xppm", trace], "not 'B=5ms+xppm'"),
                                 (["--random", "9", trace], "--random takes"),
                                 (["--drift", "-9", trace], "--drift takes"),
                                 (["-n", "B=5ms", "-w", trace, trace], "would overwrite")):
            self.assertIn(words, run(BBTRACE, "skew", *arguments, status=2)[1])
        self.assertIn("/nowhere", run(BBTRACE, "skew", "-n", "B=1ms", "/nowhere", status=1)[1])


class Drop(Files):
    def setUp(self):
        super().setUp()
        self.trace = self.path("t.bbt")
        run(BBTRACE, "generate", "multitier", "-c", "20000", "-w", self.trace)

    def test_losses_by_chance_are_said_and_counted(self):
        out = self.path("out.bbt")
        _, err = run(BBTRACE, "drop", "--rate", "5%", "-w", out, self.trace)
        dropped = int(re.search(r"([\d,]+) of 20,\d+ messages dropped \([45]\.\d+ %\)", err)[1].replace(",", ""))
        self.assertAlmostEqual(dropped, 1000, delta=120)
        self.assertIn(f"{dropped}  messages that bbtrace drop left out  (!)",
                      run(BBTRACE, "info", out)[0].decode().replace(",", ""))
        before, after = (set(run(BBTRACE, "cat", path)[0].splitlines()) for path in (self.trace, out))
        self.assertEqual(len(before - after), dropped)
        self.assertEqual(after - before, {b"# counter messages_dropped %d" % dropped})
        self.assertEqual(run(BBTRACE, "drop", "-q", "--rate", "0.05", self.trace)[0],
                         run(BBTRACE, "cat", out)[0])

    def test_bursts_lose_the_share_asked_for(self):
        out, err = run(BBTRACE, "drop", "--rate", "2%", "--burst", self.trace)
        self.assertRegex(err, r"messages dropped \((1\.9|2\.0)\d+ %\)")
        peak = re.search(r"queue of 64 at a peak rate of ([\d.]+) messages/s", err)[1]
        again, err = run(BBTRACE, "drop", "--peak", peak, self.trace)
        self.assertAlmostEqual(len(again), len(out), delta=len(out) / 200)
        self.assertRegex(err, r"\n.* of them by a queue of 64")
        kept = {row[4] + row[1] for row in messages(out)}
        lost = [row[4] + row[1] not in kept for row in messages(run(BBTRACE, "cat", self.trace)[0])]
        pairs = sum(a and b for a, b in zip(lost, lost[1:]))
        self.assertGreater(pairs / sum(lost), 0.2)  # 0.02 if each were lost by itself

    def test_bursts_that_a_queue_cannot_lose(self):
        few = b"# bbtrace text 1\n" + b"".join(b"%d.0 MSG_SENT a b -\n" % i for i in range(80))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "few.txt")
            with open(path, "wb") as file:
                file.write(few)
            said = run(BBTRACE, "drop", "--rate", "30%", "--burst", path, status=1)[1]
            self.assertIn("--burst cannot lose 30.000 % of 80 messages: with a queue of 64 it is 20.000 % at most", said)
            self.assertEqual(len(messages(run(BBTRACE, "drop", "--rate", "20%", "--burst", path)[0])), 64)
            self.assertEqual(len(messages(run(BBTRACE, "drop", "--rate", "30%", "--burst", "--queue", "8", path)[0])), 56)

    def test_only_of_one_node(self):
        out, _ = run(BBTRACE, "drop", "--rate", "1", "--node", "AUTH", self.trace)
        self.assertFalse(any("AUTH" in row[2:4] for row in messages(out)))
        self.assertGreater(len(messages(out)), 10000)

    def test_wrong_usage(self):
        for arguments, words in ((["--rate", "5%"], "which trace"), ([self.trace], "which losses"),
                                 (["--rate", "5x", self.trace], "--rate takes"),
                                 (["--rate", "101%", self.trace], "--rate takes"),
                                 (["--peak", "-1", self.trace], "--peak takes"),
                                 (["--rate", "1%", "--queue", "0", self.trace], "--queue takes"),
                                 (["--burst", self.trace, "--peak", "5"], "--burst finds"),
                                 (["--burst", "--rate", "5%", "-"], "reads the trace twice"),
                                 (["--rate", "5%", "-w", self.trace, self.trace], "would overwrite")):
            self.assertIn(words, run(BBTRACE, "drop", *arguments, status=2)[1])
        self.assertIn("/nowhere", run(BBTRACE, "drop", "--rate", "1%", "/nowhere", status=1)[1])

    def test_what_was_read_is_written(self):
        text = b"# bbtrace text 1\n1.0 MSG_SENT a b -\nrubbish\n2.0 MSG_SENT a b -\n"
        for command in (["drop", "--rate", "0%"], ["skew", "-q", "-n", "a=1s"]):
            path = self.path("bad.txt", text.decode())
            out, err = run(BBTRACE, *command, path, status=1)
            self.assertIn("bad.txt:3", err)
            self.assertEqual(len(messages(out)), 1)
            out, err = run(BBTRACE, *command, "--skip-bad-lines", path)
            self.assertIn("1 malformed", err)
            self.assertEqual(len(messages(out)), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
