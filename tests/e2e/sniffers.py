#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One sniffer at each host, whose clocks were made wrong, against a mirror of everything: clocks that
are found again, and how many requests come out entirely right of the merged trace and of the mirror's.

  sniffers.py BBTRACE BBPATHS CAPTURE        a capture of the shop, taken apart by host

The lab (tests/lab/clocks) uses the same on real sniffers. Skipped (77) where the capture is not there."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shop  # noqa: E402

SECOND = 10**9
SKEWS_S = (0, 0.01, 1, 10)
DRIFT_PPM = 100
WITHIN_S, WITHIN_PPM, WITHIN_POINTS = 20e-6, 1.0, 0.5  # what must be reached, from 60 s of traffic
CHANCE_POINTS = 0.3  # that a single run may be off besides: the search is one of many, which differ by 0.15

# Of all sniffers but the first: the largest distances from the truth, the largest that the program said
# they could be; percents of requests that are entirely right; messages.
Row = collections.namedtuple("Row", "skew_s off_s drift_ppm said_s covered right mirror messages merged")


def nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * SECOND + int((fraction + "0" * 9)[:9])


class Programs:
    def __init__(self, bbtrace, bbpaths):
        self.bbtrace, self.bbpaths = bbtrace, bbpaths

    @staticmethod
    def run(*command):
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def trace(self, *words):
        return self.run(self.bbtrace, *words)

    def lines(self, trace):
        return [line for line in self.trace("cat", trace).splitlines() if not line.startswith("#")]

    def calls(self, trace):
        """{(time_ns, from, to): (conn, off)} of the calls of a trace."""
        found = {}
        for line in self.lines(trace):
            time, operation, sender, receiver, _, *rest = line.split()
            keys = dict(word.split("=", 1) for word in rest)
            if operation == "CALL_SENT" and "conn" in keys:
                found[nanoseconds(time), sender, receiver] = keys["conn"], keys["off"]
        return found

    def trees(self, trace):
        """The inferred trees, as {call: call that caused it}; calls are known by (conn, off)."""
        known, trees = self.calls(trace), []
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as instances:
            self.run(self.bbpaths, "--algo", "nesting", "--format", "json", "--instances", instances.name, trace)
            for line in open(instances.name, encoding="utf-8"):
                calls = json.loads(line, parse_float=str)["calls"]
                key = {c["id"]: known.get((nanoseconds(c["call"]), c["from"], c["to"])) for c in calls}
                trees.append({key[c["id"]]: key.get(c["parent"]) for c in calls})
        return trees


def percent_right(truth, trees):
    """truth: trees as of Programs.trees. Of how many is there the same?"""
    by_root = {next((c for c, parent in tree.items() if parent is None), None): tree for tree in trees}
    roots = [next(c for c, parent in tree.items() if parent is None) for tree in truth]
    return 100 * sum(by_root.get(root) == tree for root, tree in zip(roots, truth)) / len(truth)


def first_time(programs, trace):
    return nanoseconds(programs.lines(trace)[0].split()[0])


def set_clock(programs, trace, out, offset_s, drift_ppm):
    """A sniffer's clock is that of all stamps of its trace: of all nodes."""
    nodes = sorted({node for line in programs.lines(trace) for node in line.split()[2:4]})
    clock = f"{round(offset_s * 1e9)}ns{drift_ppm:+.3f}ppm"
    programs.trace("skew", "-q", "-w", out, *[f"--node={node}={clock}" for node in nodes], trace)


def clock_table(text):
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [tuple(map(float, row[1:])) for row in rows]


def pick_clocks(count, skew_s, chance):
    """The first one is right; of the others two are off by the whole skew."""
    offsets = [0, skew_s, -skew_s] + [chance.uniform(-skew_s, skew_s) for _ in range(count)]
    return [(0, 0)] + [(offset, chance.uniform(-DRIFT_PPM, DRIFT_PPM) if skew_s else 0)
                       for offset in offsets[1:count]]


def try_skew(programs, folder, sniffers, skew_s, truth, mirror, chance):
    """sniffers: traces of one clock. mirror: percent that is right of its trace, and its messages."""
    clocks = pick_clocks(len(sniffers), skew_s, chance)
    skewed = [os.path.join(folder, f"skewed-{os.path.basename(trace)}") for trace in sniffers]
    for trace, out, clock in zip(sniffers, skewed, clocks):
        set_clock(programs, trace, out, *clock)
    found = clock_table(programs.trace("clocks", *skewed))
    merged = os.path.join(folder, "merged.bbt")
    programs.trace("merge", "-q", "-w", merged, *skewed)
    start = first_time(programs, sniffers[0])
    off, drift, covered = [], [], True
    for trace, clock, (offset_s, drift_ppm, said_s) in zip(sniffers[1:], clocks[1:], found[1:]):
        since_s = (start - first_time(programs, trace)) / SECOND
        off.append(abs(offset_s - clock[0] - clock[1] * 1e-6 * since_s))
        drift.append(abs(drift_ppm - clock[1]))
        covered &= off[-1] <= said_s
    return Row(skew_s, max(off), max(drift), max(row[2] for row in found), covered,
               percent_right(truth, programs.trees(merged)), *mirror, len(programs.lines(merged)))


def compare(programs, folder, sniffers, mirror, truth, chance):
    """A row for each skew. truth: trees as of Programs.trees."""
    right = percent_right(truth, programs.trees(mirror)), len(programs.lines(mirror))
    return [try_skew(programs, folder, sniffers, skew_s, truth, right, chance) for skew_s in SKEWS_S]


def faults(row, within_ppm=WITHIN_PPM):
    return [what for what, bad in (
        (f"offsets more than {WITHIN_S * 1e6:.0f} us off", row.off_s > WITHIN_S),
        (f"drifts more than {within_ppm} ppm off", row.drift_ppm > within_ppm),
        ("more off than it said", not row.covered),
        (f"more than {WITHIN_POINTS + CHANCE_POINTS} points worse than the mirror",
         row.mirror - row.right > WITHIN_POINTS + CHANCE_POINTS),
    ) if bad]


def print_table(rows, within_ppm=WITHIN_PPM):
    """Returns whether all is as it must be."""
    print(f"{'skew':>6}  {'offset off':>10}  {'said':>9}  {'drift off':>10}  {'merged right':>12}"
          f"  {'mirror right':>12}  {'messages':>9}  {'mirror':>9}")
    for row in rows:
        print(f"{row.skew_s:4g} s  {row.off_s * 1e6:7.2f} us  {row.said_s * 1e6:6.1f} us  {row.drift_ppm:6.3f} ppm"
              f"  {row.right:10.2f} %  {row.mirror:10.2f} %  {row.merged:9d}  {row.messages:9d}"
              + "".join(f"  FAILED: {fault}" for fault in faults(row, within_ppm)))
    behind = sum(row.mirror - row.right for row in rows) / len(rows)
    print(f"requests entirely right: {behind:.2f} points less than of the mirror, in the mean"
          + (f"  FAILED: more than {WITHIN_POINTS}" if behind > WITHIN_POINTS else ""))
    return behind <= WITHIN_POINTS and not any(faults(row, within_ppm) for row in rows)


# ---- a recorded capture, taken apart ---------------------------------------------------------------


# From the host to the mirror, and back: the least, and the mean of what comes on top. Servers of the shop
# answer within 20 us, as the mirror saw it: much longer ways cannot have been there.
LINK_NS, QUEUE_NS = 2_000, 1_500


def seconds(time_ns):
    return f"{time_ns // SECOND}.{time_ns % SECOND:09d}"


def stand_at(programs, host, trace, out, chance):
    """The trace as a sniffer at the host would have made it: before the mirror, or after it."""
    moved = []
    for line in programs.lines(trace):
        way = -1 if line.split()[2] == host else 1
        by = way * (LINK_NS + round(chance.expovariate(1 / QUEUE_NS)))
        line = re.sub(r"(^| end=)([\d.]+)", lambda m: m[1] + seconds(nanoseconds(m[2]) + by), line)
        moved.append((nanoseconds(line.split()[0]), line))
    with open(out, "w", encoding="utf-8") as text:
        text.write("# bbtrace text 1\n")
        text.writelines(f"{line}\n" for _, line in sorted(moved))


def sniffers_of(programs, folder, capture, hosts, chance):
    for host in hosts:
        seen, out = os.path.join(folder, "seen.bbt"), os.path.join(folder, f"at-{host}.txt")
        programs.trace("capture", "-q", "-r", capture, "-w", seen, f"host {host}")
        stand_at(programs, host, seen, out, chance)
        yield out


def true_trees(programs, trace, capture):
    known = programs.calls(trace)
    trees = []
    for group in shop.requests(capture).values():
        key = {hop: known.get((hop.time_ns, hop.source, hop.target)) for hop in group}
        trees.append({key[hop]: key.get(shop.parent_of(hop, group)) for hop in group})
    return trees


def main():
    bbtrace, bbpaths, capture = sys.argv[1:]
    programs = Programs(bbtrace, bbpaths)
    if not os.path.exists(capture):
        print(f"skipped: {capture} is not there")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        mirror = os.path.join(folder, "mirror.bbt")
        programs.trace("capture", "-q", "-r", capture, "-w", mirror)
        hosts = sorted({node for line in programs.lines(mirror) for node in line.split()[2:4]})
        chance = random.Random(1)
        sniffers = list(sniffers_of(programs, folder, capture, hosts, chance))
        span_s = float(re.search(r"span +([\d.]+) s", programs.trace("info", mirror))[1])
        truth = true_trees(programs, mirror, capture)
        rows = compare(programs, folder, sniffers, mirror, truth, chance)
    # What a minute tells to within 1 ppm, less time tells to within more.
    return 0 if print_table(rows, max(WITHIN_PPM, WITHIN_PPM * 60 / span_s)) else 1


if __name__ == "__main__":
    sys.exit(main())
