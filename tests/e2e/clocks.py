#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbtrace clocks finds the clocks of sniffers, one at each host, that were made wrong here.

  clocks.py BBTRACE SCENARIOS

A generated trace is taken apart: each message becomes a sighting at its sender's host and, a delay later,
one at its receiver's, each stamped by that host's clock and known by connection and offset."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BBTRACE, SCENARIOS = sys.argv[1], sys.argv[2]
SECOND = 10**9
ACCURACY_S, ACCURACY_PPM = 20e-6, 1.0  # the project's targets, from 60 s of traffic


def run(*command, status=0):
    done = subprocess.run([BBTRACE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=300)
    assert done.returncode == status, (command, done.returncode, done.stderr)
    return done.stdout, done.stderr


def nanoseconds(text):
    sign = -1 if text.startswith("-") else 1
    seconds, _, part = text.lstrip("-").partition(".")
    return sign * (int(seconds) * SECOND + int((part + "0" * 9)[:9]))


def seconds(ns):
    return f"{ns // SECOND}.{ns % SECOND:09d}"


class Clock:
    def __init__(self, offset_s=0.0, drift_ppm=0.0, step=None):
        self.offset_s, self.drift_ppm, self.step = offset_s, drift_ppm, step  # step: (after s, by s)

    def stamp(self, time, start):
        since = time - start
        stepped = self.step[1] if self.step and since >= self.step[0] * SECOND else 0
        return time + round((self.offset_s + stepped) * SECOND + since * self.drift_ppm * 1e-6)


class World:
    """Sightings of a generated trace, by host."""

    def __init__(self, folder, seed, scenario="webshop", duration="60s"):
        self.folder, self.random = folder, random.Random(seed)
        text, _ = run("generate", scenario, "--seed", str(seed), "--duration", duration, "--no-truth")
        self.lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
        self.start = nanoseconds(self.lines[0][0])
        nodes = sorted({node for line in self.lines for node in line[2:4]})
        # The busiest first: it is the reference.
        self.nodes = sorted(nodes, key=lambda node: -sum(node in line[2:4] for line in self.lines))

    def delay(self):
        return 50_000 + round(self.random.expovariate(1 / 200_000))

    def sightings(self):
        """(time at the sender's host, time at the receiver's, operation, sender, receiver, position)"""
        offsets = {}
        for time, operation, sender, receiver, *_ in self.lines:
            conn = "-".join(sorted((f"{sender}:1", f"{receiver}:2")))
            offset = offsets.get((sender, receiver), 7)
            offsets[sender, receiver] = offset + 100
            time = nanoseconds(time)
            yield time, time + self.delay(), operation, sender, receiver, f"conn={conn} off={offset}"

    def write(self, clocks, lost=0.0, obs=False):
        """One file a host that has a clock; returns their paths in the order of clocks."""
        lines = {node: [] for node in clocks}
        for number, (sent, got, operation, sender, receiver, position) in enumerate(self.sightings()):
            for node, time in ((sender, sent), (receiver, got)):
                if node in clocks and self.random.random() >= lost:
                    stamp = clocks[node].stamp(time, self.start)
                    # The id is what a capture would count, and must not be believed.
                    ident = len(lines[node]) if number % 3 else 1
                    lines[node].append((stamp, f"{seconds(stamp)} {operation} {sender} {receiver} {ident} "
                                               f"{position}" + (f" obs=at-{node}" if obs else "")))
        paths = []
        for node in clocks:
            paths.append(os.path.join(self.folder, f"{node}.txt"))
            with open(paths[-1], "w", encoding="utf-8") as out:
                out.write("# bbtrace text 1\n")
                out.writelines(line + "\n" for _, line in sorted(lines[node]))
        return paths


def table(text):
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {row[0]: row[1:] for row in rows}


class Clocks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def random_clocks(self, world, chosen):
        return {node: Clock(world.random.uniform(-10, 10), world.random.uniform(-100, 100)) if i else Clock()
                for i, node in enumerate(chosen)}

    def check(self, row, clock, within_s=ACCURACY_S):
        offset, drift, uncertainty = map(float, row)
        self.assertAlmostEqual(offset, clock.offset_s, delta=within_s)
        self.assertAlmostEqual(drift, clock.drift_ppm, delta=ACCURACY_PPM)
        self.assertLessEqual(abs(offset - clock.offset_s), uncertainty)
        self.assertLess(uncertainty, 1e-3)

    def test_sniffers_at_hosts(self):
        world = World(self.folder, 1)
        clocks = self.random_clocks(world, world.nodes)
        text, said = run("clocks", *world.write(clocks))
        self.assertTrue(text.startswith("# bbtrace clocks: name offset_s drift_ppm uncertainty_s\n"))
        rows = table(text)
        self.assertEqual(list(rows), list(clocks))
        self.assertEqual(rows[world.nodes[0]], ["0.000000000", "0.0000", "0.000000000"])
        for node, clock in clocks.items():
            # Along chains errors add up; rare hosts have less to go by.
            self.check(rows[node], clock, within_s=3 * ACCURACY_S)
        busy = world.nodes[1]
        self.check(rows[busy], clocks[busy])
        self.assertEqual(said, "")
        again, _ = run("clocks", *[os.path.join(self.folder, f"{node}.txt") for node in clocks])
        self.assertEqual(again, text)

    def test_losses_and_observers_by_name(self):
        world = World(self.folder, 2)
        clocks = self.random_clocks(world, world.nodes[:3])
        text, _ = run("clocks", *world.write(clocks, lost=0.2, obs=True))
        rows = table(text)
        self.assertEqual(list(rows), [f"at-{node}" for node in clocks])
        for node, clock in clocks.items():
            self.check(rows[f"at-{node}"], clock, within_s=2 * ACCURACY_S)

    def test_a_step(self):
        world = World(self.folder, 3)
        clocks = {world.nodes[0]: Clock(), world.nodes[1]: Clock(1, 20, step=(25, 0.128))}
        text, _ = run("clocks", *world.write(clocks))
        self.check(table(text)[world.nodes[1]], clocks[world.nodes[1]], within_s=2 * ACCURACY_S)
        steps = [line.split() for line in text.splitlines() if " steps by " in line]
        self.assertEqual(len(steps), 1)
        self.assertEqual(steps[0][1], world.nodes[1])
        self.assertAlmostEqual(float(steps[0][4]), 0.128, delta=1e-4)
        at = clocks[world.nodes[1]].stamp(world.start + 25 * SECOND, world.start)
        self.assertLess(abs(nanoseconds(steps[0][6]) - at), 0.2 * SECOND)

    def test_small_samples(self):
        world = World(self.folder, 4)
        clocks = self.random_clocks(world, world.nodes[:2])
        text, _ = run("clocks", "--samples", "3000", *world.write(clocks))
        self.check(table(text)[world.nodes[1]], clocks[world.nodes[1]], within_s=4 * ACCURACY_S)

    def test_one_way_cannot_be_known(self):
        world = World(self.folder, 5, duration="10s")
        here, there = world.nodes[0], world.nodes[1]
        paths = world.write({here: Clock(), there: Clock(2)})
        for path in paths:
            with open(path, encoding="utf-8") as lines:
                kept = [line for line in lines if f" {there} {here} " not in line]
            with open(path, "w", encoding="utf-8") as out:
                out.writelines(kept)
        text, said = run("clocks", *paths)
        self.assertEqual(table(text)[there], ["-", "-", "-"])
        self.assertIn("cannot be known", said)
        self.assertIn("cannot know", text)

    def test_one_point(self):
        world = World(self.folder, 8, duration="10s")
        path, = world.write({world.nodes[0]: Clock()})
        copies = {"same.txt": 0, "late.txt": SECOND // 2}
        for name, shift in copies.items():
            with open(path, encoding="utf-8") as lines, open(os.path.join(self.folder, name), "w",
                                                             encoding="utf-8") as out:
                for line in lines:
                    time, _, rest = line.partition(" ")
                    out.write(line if line.startswith("#") else f"{seconds(nanoseconds(time) + shift)} {rest}")
        text, said = run("clocks", path, *[os.path.join(self.folder, name) for name in copies])
        self.assertEqual(said, "")
        self.assertEqual(table(text), {world.nodes[0]: ["0.000000000", "0.0000", "0.000000000"],
                                       "same": ["0.000000000", "0.0000", "0.000000001"],
                                       "late": ["0.500000000", "0.0000", "0.000000001"]})
        self.assertNotIn(" steps by ", text)
        self.assertNotIn("cannot know", text)

    def test_nobody_knows_whom_they_passed_first(self):
        paths = [os.path.join(self.folder, name) for name in ("x.txt", "y.txt")]
        for number, path in enumerate(paths):
            with open(path, "w", encoding="utf-8") as out:
                out.write("# bbtrace text 1\n")
                out.writelines(f"{i}.{number} MSG_SENT {'ac'[i % 2]} {'bd'[i % 2]} m{i}\n" for i in range(1, 99))
        text, said = run("clocks", *paths)
        self.assertIn("cannot be known", said)
        self.assertIn("# y: cannot know: only messages one way in common with x, and nothing tells whom they "
                      "passed first\n", text)
        found = json.loads(run("clocks", "--format", "json", *paths)[0])
        self.assertEqual([o["state"] for o in found["observers"]], ["reference", "unordered"])

    def test_ids_of_captures_join_nothing(self):
        lines = [f"{1000000000 + i / 100:.9f} {'RET' if i % 2 else 'CALL'}_SENT {'ba'[i % 2 - 1]} {'ab'[i % 2 - 1]} {i} "
                 f"end={1000000000 + i / 100:.9f} bytes=9 proto=dns" for i in range(1, 200)]
        paths = [os.path.join(self.folder, name) for name in ("x.txt", "y.txt")]
        for path in paths:
            with open(path, "w", encoding="utf-8") as out:
                out.write("# bbtrace text 1\n" + "\n".join(lines) + "\n")
        text, _ = run("clocks", *paths)
        self.assertEqual(table(text), {"x": ["0.000000000", "0.0000", "0.000000000"], "y": ["-", "-", "-"]})

    def test_nodes_of_a_skewed_trace(self):
        world = World(self.folder, 6)
        first, second = world.nodes[0], world.nodes[1]
        whole = os.path.join(self.folder, "whole.txt")
        with open(whole, "w", encoding="utf-8") as out:
            out.write("# bbtrace text 1\n")
            for i, (sent, got, operation, sender, receiver, _) in enumerate(world.sightings()):
                out.write(f"{seconds(sent)} {operation} {sender} {receiver} {i} recv={seconds(got)}\n")
        skewed = os.path.join(self.folder, "skewed.bbt")
        run("skew", "--node", f"{first}=0", "--node", f"{second}=30ms-20ppm", "-w", skewed, "-q", whole)
        rows = table(run("clocks", "--per-node", skewed)[0])
        off = float(rows[second][0]) - float(rows[first][0])
        drift = float(rows[second][1]) - float(rows[first][1])
        self.assertAlmostEqual(off, 0.030, delta=3 * ACCURACY_S)
        self.assertAlmostEqual(drift, -20, delta=ACCURACY_PPM)

    def test_formats(self):
        world = World(self.folder, 7, duration="10s")
        clocks = self.random_clocks(world, world.nodes[:3])
        paths = world.write(clocks)
        rows = table(run("clocks", *paths)[0])
        found = json.loads(run("clocks", "--format", "json", *paths)[0])
        self.assertEqual([o["name"] for o in found["observers"]], list(clocks))
        self.assertEqual([o["state"] for o in found["observers"]], ["reference", "known", "known"])
        for observer in found["observers"]:
            self.assertAlmostEqual(observer["offset_s"], float(rows[observer["name"]][0]), delta=1e-9)
        self.assertTrue(all(pair["a_first"] + pair["b_first"] + pair["left_out"] + pair["unknown_direction"]
                            == pair["messages"] for pair in found["pairs"]))
        plot = os.path.join(self.folder, "plot.svg")
        out, _ = run("clocks", "-o", plot, *paths)
        self.assertEqual(out, "")
        root = xml.etree.ElementTree.parse(plot).getroot()
        titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text") if e.get("class") == "title"]
        self.assertEqual(len(titles), 2)

    def test_a_file_stays_where_not_all_can_be_read(self):
        world = World(self.folder, 6)
        paths = world.write(self.random_clocks(world, world.nodes[:2]))
        out = os.path.join(self.folder, "out")
        run("clocks", "-o", out, *paths)
        with open(out, encoding="utf-8") as file:
            before = file.read()
        self.assertEqual(before, run("clocks", *paths)[0])
        _, said = run("clocks", "-o", out, paths[0], "/nowhere/x", status=1)
        self.assertIn("/nowhere/x", said)
        self.assertIn(f"{out}: not written, since not all traces could be read", said)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        # To standard output goes what can be told.
        self.assertIn(world.nodes[0], run("clocks", paths[0], "/nowhere/x", status=1)[0])

    def test_refusals(self):
        path = os.path.join(self.folder, "a.txt")
        with open(path, "w", encoding="utf-8") as out:
            out.write("# bbtrace text 1\n")
        self.assertEqual(table(run("clocks", path)[0]), {})
        self.assertIn("which traces", run("clocks", status=2)[1])
        self.assertIn("c.png' names no format: give --format (text, json, svg)",
                      run("clocks", "-o", "/tmp/c.png", path, status=2)[1])
        self.assertIn("--format", run("clocks", "--format", "png", path, status=2)[1])
        svg = os.path.join(self.folder, "c.SVG")
        run("clocks", "-o", svg, path)
        with open(svg, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())
        self.assertIn("--samples", run("clocks", "--samples", "1", path, status=2)[1])
        self.assertIn("overwrite", run("clocks", "-o", path, path, status=2)[1])
        text, said = run("clocks", path, os.path.join(self.folder, "none.txt"), status=1)
        self.assertIn("none.txt", said)
        self.assertTrue(text.startswith("# bbtrace clocks"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
