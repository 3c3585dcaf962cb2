#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The score of convolution against one that is computed here from the trace and the instances.

  chains.py BBTRACE BBPATHS SCENARIOS
  chains.py --report BBTRACE BBPATHS TRACE [OPTION ...]    one line: how right bbpaths is"""
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
import unittest

TIERS = {"any": (1, 0), "3": (3, 0), "10": (10, 0), "0.5%": (1, 0.005), "1%": (1, 0.01)}

Message = collections.namedtuple("Message", "time arrived kind sender receiver id parent")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=300)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def nanoseconds(text):
    seconds, _, part = text.partition(".")
    return int(seconds) * 10**9 + int((part + "0" * 9)[:9])


def read_trace(text):
    messages = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        time, operation, sender, receiver, number, *rest = line.split()
        keys = dict(key.split("=", 1) for key in rest)
        assert not operation.endswith("_RECV"), "one sighting a message"
        messages.append(Message(nanoseconds(time), nanoseconds(keys.get("recv", time)), operation[0], sender,
                                receiver, number, keys["parent"]))
    return messages


# ---- the truth ----------------------------------------------------------------------------------


def stands_under(call, number, calls):
    while call is not None and call.id != number:
        call = calls.get(call.parent)
    return call is not None


def work_of(message, entered, calls, by_receiver):
    """Number of the call or free message whose work a message belongs to. A call that was handed on is
    answered by the node that it came to in the end."""
    if message.kind != "R":
        return entered.get(message.parent)
    if calls[message.id].receiver == message.sender:
        return entered.get(message.id)
    path = (c for c in by_receiver[message.sender] if stands_under(c, message.id, calls))
    return entered.get(next(path).id)


def true_causes(messages):
    """By number of a message that of the one which caused it, or None. Ids are unique."""
    calls = {m.id: m for m in messages if m.kind != "R"}
    by_receiver = collections.defaultdict(list)
    for call in calls.values():
        by_receiver[call.receiver].append(call)
    entered, last, causes = {}, {}, [None] * len(messages)
    events = [(m.time, 2 * k, k) for k, m in enumerate(messages)]
    events += [(m.arrived, 2 * k + 1, k) for k, m in enumerate(messages)]
    for _, order, k in sorted(events):
        message = messages[k]
        if order % 2 == 0:
            if message.parent != "-" or message.kind == "R":
                causes[k] = last.get(work_of(message, entered, calls, by_receiver))
        elif message.kind == "R":
            if calls[message.id].parent != "-":
                last[entered.get(calls[message.id].parent)] = k
        else:
            entered[message.id] = k
            last[k] = k
    return causes


def number_of(text):
    """Times are exact nanoseconds, all else is a fraction."""
    return nanoseconds(text) if len(text) > 12 else float(text)


# ---- what was found -----------------------------------------------------------------------------


def found_causes(messages, instances):
    """Causes, and confidences, by number of the message."""
    numbers = collections.defaultdict(collections.deque)
    for k, m in enumerate(messages):
        numbers[m.time, m.sender, m.receiver, m.id].append(k)
    causes, sure = [None] * len(messages), [None] * len(messages)
    for instance in instances:
        places = {}
        for call in instance["calls"]:
            key = (call["call"], call["from"], call["to"], call["id"].split("~")[0])
            k = places[call["id"]] = numbers[key].popleft()
            causes[k] = None if call["parent"] is None else places[call["parent"]]
            sure[k] = call["confidence"]
    return causes, sure


# ---- figures ------------------------------------------------------------------------------------


def chains_of(messages, causes):
    """The chain of edges from the root to each message, as a number; equal chains have equal ones."""
    chains = [None] * len(messages)
    for k in range(len(messages)):
        way = []
        while k is not None and chains[k] is None:
            way.append(k)
            k = causes[k]
        for k in reversed(way):
            above = () if causes[k] is None else chains[causes[k]]
            chains[k] = sys.intern(f"{above or ''}{messages[k].sender}>{messages[k].receiver};")
    return chains


def pairs_of(messages, causes):
    return collections.Counter((messages[c].sender, messages[c].receiver, messages[k].receiver)
                               for k, c in enumerate(causes) if c is not None)


def fidelity(found, real, roots):
    result = {}
    for name, (count, share) in TIERS.items():
        least = max(count, share * roots)
        often = [key for key, number in found.items() if number >= least]
        true = [key for key, number in real.items() if number >= least]
        result[name] = (len(often), sum(real.get(key, 0) > 0 for key in often), len(true),
                        sum(2 * found.get(key, 0) >= least for key in true))
    return result


def excess(found, real):
    return (sum(max(0, number - real.get(key, 0)) for key, number in found.items()), sum(found.values()))


def delays_of(messages, causes):
    result = collections.defaultdict(list)
    for k, c in enumerate(causes):
        if c is not None:
            pair = messages[c].sender, messages[c].receiver, messages[k].receiver
            result[pair].append(messages[k].time - messages[c].arrived)
    return result


def pattern_chains(patterns):
    """Complete paths by chain, as the patterns count them."""
    result = collections.Counter()
    for pattern in patterns:
        if pattern.get("derived"):
            continue
        chain, node, calls = "", pattern["root"]["node"], pattern["root"]["calls"]
        while calls:
            chain += f"{node}>{calls[0]['node']};"
            node, calls = calls[0]["node"], calls[0]["calls"]
        result[chain] += pattern["count"]
    return result


def evaluate(messages, instances, patterns):
    real = true_causes(messages)
    found, sure = found_causes(messages, instances)
    real_chain, found_chain = chains_of(messages, real), chains_of(messages, found)
    roots = real.count(None)
    ends = set(range(len(messages))) - set(real)
    real_vertices, found_vertices = collections.Counter(real_chain), collections.Counter(found_chain)
    real_paths = collections.Counter(real_chain[k] for k in ends)
    found_paths = pattern_chains(patterns)
    deep = [{c: n for c, n in v.items() if c.count(">") > 1} for v in (found_vertices, real_vertices)]
    right = [a == b for a, b in zip(found, real)]
    return {
        "messages": len(messages),
        "true_roots": roots,
        "caused": (sum(r for r, c in zip(right, real) if c is not None), len(messages) - roots),
        "roots": (sum(r for r, c in zip(right, real) if c is None), roots),
        "found_causes": (sum(r for r, c in zip(right, found) if c is not None),
                         len(messages) - found.count(None)),
        "by_pair": fidelity(pairs_of(messages, found), pairs_of(messages, real), roots),
        "by_vertex": fidelity(found_vertices, real_vertices, roots),
        "by_deep_vertex": fidelity(*deep, roots),
        "by_path": fidelity(found_paths, real_paths, roots),
        "deep_vertices": excess(*deep),
        "paths": excess(found_paths, real_paths),
        "pairs": (pairs_of(messages, found), pairs_of(messages, real)),
        "delays": (delays_of(messages, found), delays_of(messages, real)),
        "sure": (sum(s for s in sure if s is not None), sum(r for r, s in zip(right, sure) if s is not None)),
        "stated": sum(s is not None for s in sure),
    }


class Chains(unittest.TestCase):
    """Every figure that both have is the same."""
    maxDiff = None

    def compare(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            trace, lines = os.path.join(folder, "t.txt"), os.path.join(folder, "i.jsonl")
            with open(trace, "w", encoding="utf-8") as file:
                file.write(text)
            options = ["-q", "--algo=convolution", *options, trace]
            score = json.loads(run(BBPATHS, "score", "--format=json", *options))
            patterns = json.loads(run(BBPATHS, "--format=json", f"--instances={lines}", *options))["patterns"]
            with open(lines, encoding="utf-8") as file:
                instances = [json.loads(line, parse_float=number_of) for line in file]
        mine = evaluate(read_trace(text), instances, patterns)
        self.check(mine, score)
        return score

    def check(self, mine, score):
        for key in ("messages", "true_roots"):
            self.assertEqual(mine[key], score[key])
        for key in ("caused", "roots", "found_causes"):
            self.assertEqual(mine[key], (score["causes"][key]["right"], score["causes"][key]["of"]), key)
        for key in ("by_pair", "by_vertex", "by_deep_vertex", "by_path"):
            theirs = {tier: (f["found"], f["found_right"], f["true"], f["true_found"])
                      for tier, f in score[key].items()}
            self.assertEqual(mine[key], theirs, key)
        for key in ("deep_vertices", "paths"):
            theirs = score["counted_too_often"][key]
            self.assertEqual(mine[key], (theirs["too_many"], theirs["found"]), key)
        self.check_pairs(mine, score["pairs"])
        self.check_confidence(mine, score["confidence"])

    def check_pairs(self, mine, pairs):
        theirs = {(p["from"], p["via"], p["to"]): p for p in pairs}
        self.assertEqual(len(theirs), len(pairs))
        self.assertEqual({**mine["pairs"][0]}, {k: p["found"] for k, p in theirs.items() if p["found"]})
        self.assertEqual({**mine["pairs"][1]}, {k: p["true"] for k, p in theirs.items() if p["true"]})
        for number, key in enumerate(("p50_s", "true_p50_s")):
            for pair, delays in mine["delays"][number].items():
                median = statistics.median_low(delays) / 1e9
                self.assertAlmostEqual(theirs[pair][key], median, delta=0.011 * abs(median) + 1e-9)
        for pair, delays in mine["delays"][1].items():
            self.assertAlmostEqual(theirs[pair]["true_mean_s"], statistics.fmean(delays) / 1e9, delta=1e-6)

    def check_confidence(self, mine, theirs):
        bins = [b for b in theirs["bins"] if b["count"]]
        self.assertEqual(theirs["stated"], mine["stated"])
        self.assertAlmostEqual(sum(b["count"] * b["stated"] for b in bins), mine["sure"][0],
                               delta=1e-4 * mine["messages"])
        self.assertAlmostEqual(sum(b["count"] * b["right"] for b in bins), mine["sure"][1],
                               delta=1e-4 * mine["messages"])

    def scenario(self, name, *options):
        return run(BBTRACE, "generate", "-q", "-s", "5", *options, os.path.join(SCENARIOS, name + ".scn"))

    def test_calls_and_returns(self):
        score = self.compare(self.scenario("multitier", "-G", "40s"))
        self.assertGreater(score["causes"]["caused"]["of"], 1000)

    def test_parallel_calls(self):
        self.compare(self.scenario("microservices", "-G", "30s"))

    def test_forwarded_calls(self):
        self.compare(self.scenario("forwarded-returns", "-G", "30s"))

    def test_asynchronous_calls(self):
        self.compare(self.scenario("async", "-G", "20s"))

    def test_fan_out(self):
        self.compare(self.scenario("pubsub", "-G", "30s"))

    def test_feedback(self):
        self.compare(self.scenario("feedback", "-G", "30s"))

    def test_both_times(self):
        with open(os.path.join(SCENARIOS, "pipeline.scn"), encoding="utf-8") as file:
            scenario = file.read() + "\nnetwork 3ms~20%\n"
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write(scenario)
            file.flush()
            text = run(BBTRACE, "generate", "-q", "-G", "30s", file.name)
        self.assertIn("recv=", text)
        self.compare(text)

    def test_windows(self):
        self.compare(self.scenario("pipeline", "-G", "60s"), "--window=20s", "--step=10s")

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.txt")
            with open(trace, "w", encoding="utf-8") as file:
                file.write("# bbtrace text 1\n1.0 MSG_SENT a b -\n2.0 MSG_SENT b c -\n")
            for status, words, options in (
                    (1, "none of its 2 messages has an id and says by parent=", ["--algo=convolution"]),
                    (2, "--root is for --algo=convolution", ["--root=a"])):
                done = subprocess.run([BBPATHS, "score", "-q", *options, trace], capture_output=True,
                                      text=True, check=False, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (status, ""))
                self.assertIn(words, done.stderr)

    def test_a_root_begins_paths_and_all_messages_are_scored(self):
        text = self.scenario("pipeline", "-G", "30s")
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.txt")
            with open(trace, "w", encoding="utf-8") as file:
                file.write(text)
            score = json.loads(run(BBPATHS, "score", "-q", "--algo=convolution", "--root=SOURCE",
                                   "--format=json", trace))
        self.assertEqual(score["messages"], text.count("MSG_SENT"))
        self.assertEqual(score["causes"]["roots"]["share"], 1)

    def test_figure_6_has_no_causes(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.txt")
            with open(trace, "w", encoding="utf-8") as file:
                file.write(self.scenario("pipeline", "-G", "60s", "-D", "rate=2/s"))
            options = ["-q", "--algo=convolution", "--explain=paper", "--quantum=10ms",
                       "--max-delay=500ms", trace]
            score = json.loads(run(BBPATHS, "score", "--format=json", *options))
            patterns = json.loads(run(BBPATHS, "--format=json", *options))["patterns"]
        self.assertIsNone(score["causes"])
        self.assertEqual(score["by_path"]["1%"]["recall"], 1)
        whole = pattern_chains(patterns)
        real = next(p for p in score["paths"] if p["true"] > 0)
        self.assertEqual(real["found"], max(whole.values()))
        for pair in score["pairs"]:
            self.assertAlmostEqual(pair["stated_mean_s"], pair["true_mean_s"], delta=0.01)
            self.assertIsNone(pair["p50_s"])


def report(trace, *options):
    score = json.loads(run(BBPATHS, "score", "-q", "--algo=convolution", "--format=json", *options, trace))
    show = lambda share: " - " if share is None else f"{share:.3f}"
    parts = [f"{os.path.basename(trace):28} {score['messages']:8}"]
    if score["causes"]:
        parts.append(f"msg {show(score['causes']['caused']['share'])}"
                     f" roots {show(score['causes']['found_roots']['share'])}")
    for name in ("pair", "vertex", "path"):
        for tier in ("0.5%", "1%"):
            one = score["by_" + name][tier]
            parts.append(f"{name} {tier} {show(one['precision'])}/{show(one['recall'])}")
    parts.append(f"excess {show(score['counted_too_often']['deep_vertices']['share'])}")
    parts.append(f"delay {show(score['delay_error']['stated_mean']['largest'])}")
    print("  ".join(parts))


if __name__ == "__main__":
    if sys.argv[1] == "--report":
        BBTRACE, BBPATHS = sys.argv[2:4]
        report(*sys.argv[4:])
    else:
        BBTRACE, BBPATHS, SCENARIOS = sys.argv[1:4]
        unittest.main(argv=sys.argv[:1])
