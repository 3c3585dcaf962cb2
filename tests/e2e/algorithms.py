#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which options go with which algorithm, and that all outputs of bbpaths take convolution. How right
it is, is not asked here.

  algorithms.py BBPATHS"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

BBPATHS = sys.argv[1]
NOWHERE = "/nowhere/at/all"
CONVOLUTION = ("--algo=convolution",)
FIGURE6 = ("--algo=convolution", "--explain=paper", "--quantum=10ms")


def run(*command, status=0, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=200)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def refused(*words):
    """The sentence that says what is wrong with a command line; the trace does not even exist."""
    _, err = run(BBPATHS, *words, NOWHERE, status=2)
    return err.splitlines()[0]


def chain_text(requests, delay_s=0.05, returns=False):
    """x -> a -> b every second, with a delay at a that is the same but for a few ms; free messages, or
    calls with returns."""
    lines = ["# bbtrace text 1"]
    for i in range(requests):
        start = 1000 + i + 0.3 * (i * 7 % 10) / 10
        sent = start + delay_s + 0.001 * (i * 3 % 5)
        kind = "CALL" if returns else "MSG"
        lines.append(f"{start:.6f} {kind}_SENT x a id{2 * i}")
        lines.append(f"{sent:.6f} {kind}_SENT a b id{2 * i + 1}")
        if returns:
            lines.append(f"{sent + 0.02:.6f} RET_SENT b a id{2 * i + 1}")
            lines.append(f"{sent + 0.03:.6f} RET_SENT a x id{2 * i}")
    return "\n".join(sorted(lines)) + "\n"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.path("t.trace", chain_text(300))

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def lines(self, path):
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


class Refusals(unittest.TestCase):
    def test_words(self):
        self.assertIn("--algo takes: nesting, convolution", refused("--algo=x"))
        self.assertIn("--explain takes: messages, paper", refused(*CONVOLUTION, "--explain=x"))
        self.assertIn("--explain is for --algo=convolution", refused("--explain=messages"))

    def test_options_of_nesting(self):
        for option in ("--assign=paper", "--no-labels", "--no-connections", "--roles=auto", "--merge-replicas", "--latency=last-byte",
                       "--overlap-penalty=1", "--same-penalty=1", "--any-penalty=1", "--bin-floor=1ms",
                       "--smoothing=1"):
            for algorithm in (CONVOLUTION, FIGURE6):
                name = option.split("=", maxsplit=1)[0]
                self.assertIn(f"{name} is for --algo=nesting", refused(*algorithm, option))

    def test_options_of_joint(self):
        self.assertIn("--no-connections needs --assign=joint", refused("--assign=paper", "--no-connections"))

    def test_numbers_as_they_are_by_default(self):
        self.assertIn("need --assign=paper", refused("--assign=joint", "--overlap-penalty=2"))
        self.assertIn("--smoothing is for --algo=nesting", refused(*CONVOLUTION, "--smoothing=0"))
        for option in ("--rare=30", "--spike=4", "--valley=3", "--tolerance=1", "--max-depth=32", "--max-vertices=100000"):
            self.assertIn(option.split("=", maxsplit=1)[0], refused(option))

    def test_options_of_convolution(self):
        for option in ("--quantum=1ms", "--max-delay=1s", "--verbose"):
            name = option.split("=", maxsplit=1)[0]
            self.assertIn(f"{name} is for --algo=convolution", refused(option))

    def test_options_of_explained_messages(self):
        for option in ("--rare=2", "--keep-derived"):
            name = option.split("=", maxsplit=1)[0]
            self.assertIn(f"{name} is for --explain=messages", refused(*FIGURE6, option))
            self.assertIn(name, refused(option))

    def test_options_of_figure_6(self):
        for option in ("--spike=5", "--valley=2", "--tolerance=2", "--all-roots", "--max-depth=3",
                       "--max-vertices=9"):
            for algorithm in (CONVOLUTION, ()):
                name = option.split("=", maxsplit=1)[0]
                self.assertIn(f"{name} is for --algo=convolution --explain=paper", refused(*algorithm, option))

    def test_figure_6_has_no_instances(self):
        for option in ("--window=1s", "--through=a", "--op=x", "--slower-than=1s", "--errors", "--from=1", "--to=2",
                       "--skew-window=1ms", "--threads=2"):
            name = option.split("=", maxsplit=1)[0]
            self.assertIn(f"{name} is not for --explain=paper", refused(*FIGURE6, option))
        for option in ("--instances", "--phases"):
            self.assertIn(f"leave {option} out", refused(*FIGURE6, option, "/dev/null"))
        self.assertIn("no instances to show", refused("show", *FIGURE6, "p1"))

    def test_figure_6_needs_a_quantum(self):
        self.assertIn("--quantum=10ms", refused(*CONVOLUTION, "--explain=paper"))

    def test_values(self):
        for options, words in (((*CONVOLUTION, "--quantum=0"), "--quantum '0' is no duration above 0"),
                               ((*CONVOLUTION, "--quantum=x"), "--quantum 'x'"),
                               ((*CONVOLUTION, "--max-delay=-1s"), "--max-delay '-1s'"),
                               ((*CONVOLUTION, "--quantum=1s", "--max-delay=1ms"), "cannot be shorter"),
                               ((*CONVOLUTION, "--rare=0"), "--rare takes"),
                               ((*CONVOLUTION, "--skew-window=x"), "--skew-window 'x'"),
                               ((*CONVOLUTION, "--threads=-1"), "--threads takes"),
                               ((*CONVOLUTION, "--step=1s"), "--step needs --window"),
                               (("--root=",), "--root '' has an empty name"),
                               (("--root=a", "--root=,b"), "--root 'a,,b' has an empty name"),
                               (("--through=a,",), "--through 'a,' has an empty name"),
                               ((*FIGURE6, "--max-delay=x"), "--max-delay 'x'"),
                               ((*FIGURE6, "--valley=5"), "--spike and --valley"),
                               ((*FIGURE6, "--spike=nan"), "--spike and --valley"),
                               ((*FIGURE6, "--tolerance=-1"), "--tolerance goes from 0"),
                               ((*FIGURE6, "--max-depth=513"), "--max-depth from 1 to 512"),
                               ((*FIGURE6, "--max-vertices=0"), "--max-vertices from 1"),
                               (("--min-share=1.5",), "--min-share '1.5'"),
                               (("--min-share=",), "--min-share ''"),
                               (("--min-share=-1%",), "--min-share '-1%'")):
            self.assertIn(words, refused(*options))

    def test_who_waits_needs_calls(self):
        for command in ("blame", "tail"):
            for algorithm in (CONVOLUTION, FIGURE6):
                self.assertIn("use --algo=nesting", refused(command, *algorithm))
        self.assertIn("--frames is for --algo=nesting", refused("show", *CONVOLUTION, "--frames", "i1"))

    def test_what_is_right_is_not_refused(self):
        for options in ((*CONVOLUTION, "--quantum=1ms", "--max-delay=1ms", "--rare=30", "--keep-derived",
                         "--skew-window=1ms", "--threads=2", "--root=a", "--window=10s", "--step=5s", "--verbose"),
                        (*FIGURE6, "--spike=5", "--valley=0", "--tolerance=0", "--all-roots", "--max-depth=512",
                         "--max-vertices=1", "--max-delay=1s", "--root=a", "--verbose"),
                        ("--min-share=0.5%",), ("--min-share=1",)):
            _, err = run(BBPATHS, *options, NOWHERE, status=1)
            self.assertIn(NOWHERE, err)


class Outputs(Case):
    def test_patterns_instances_and_phases(self):
        out, err = run(BBPATHS, "-q", *CONVOLUTION, "-f", "json", "--instances", self.path("i"), "--phases",
                       self.path("p"), self.trace)
        self.assertEqual(err, "")
        found = json.loads(out)
        self.assertEqual(found["algorithm"], "convolution")
        self.assertEqual(found["trace"]["messages"], 600)
        first = found["patterns"][0]
        self.assertEqual((first["root"]["node"], first["root"]["calls"][0]["node"]), ("x", "a"))
        instances = self.lines(self.path("i"))
        calls = [call for instance in instances for call in instance["calls"]]
        self.assertEqual(len(calls), 600)
        self.assertTrue(all(call["return"] is None for call in calls))
        self.assertEqual([i["instance"] for i in instances], list(range(1, len(instances) + 1)))
        phases = self.lines(self.path("p"))
        self.assertEqual([phase["instances"] for phase in phases], [len(instances)])

    def test_windows_publish_every_message_once(self):
        run(BBPATHS, "-q", *CONVOLUTION, "--window=60s", "-o", self.path("p.json"), "--instances", self.path("i"),
            self.trace)
        instances = self.lines(self.path("i"))
        ids = sorted(call["id"] for instance in instances for call in instance["calls"])
        self.assertEqual(ids, sorted(f"id{i}" for i in range(600)))
        self.assertEqual([i["instance"] for i in instances], list(range(1, len(instances) + 1)))
        with open(self.path("p.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["trace"]["messages"], 600)

    def test_calls_and_returns_are_messages(self):
        trace = self.path("calls.trace", chain_text(300, returns=True))
        run(BBPATHS, "-q", *CONVOLUTION, "-o", self.path("p.json"), "--instances", self.path("i"), trace)
        calls = [call for instance in self.lines(self.path("i")) for call in instance["calls"]]
        self.assertEqual(len(calls), 1200)
        self.assertEqual(sum((call["from"], call["to"]) == ("a", "x") for call in calls), 300)

    def test_selection(self):
        for options in (("--root=x",), ("--through=b",), ("--from=1100",), ("--to=1100",), ("--slower-than=10ms",)):
            run(BBPATHS, "-q", *CONVOLUTION, *options, "-o", self.path("p.json"), "--instances", self.path("i"),
                self.trace)
            some = self.lines(self.path("i"))
            for instance in some:
                first, nodes = instance["calls"][0], {c[end] for c in instance["calls"] for end in ("from", "to")}
                took = max(call["call"] for call in instance["calls"]) - first["call"]
                self.assertTrue({"--root=x": "x" in (first["from"], first["to"]), "--through=b": "b" in nodes,
                                 "--from=1100": first["call"] >= 1100, "--to=1100": first["call"] < 1100,
                                 "--slower-than=10ms": took > 0.01}[options[0]], (options, instance))
            self.assertTrue(some or options[0] == "--slower-than=10ms", options)
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--root=nobody", self.trace)
        self.assertIn("bbpaths: warning: no node matches 'nobody': nodes are a, b, x\n", err)

    def test_roots_are_patterns(self):
        """No message of a root has a cause; given twice and with a comma is the same."""
        whole = self.instances(*CONVOLUTION)
        self.assertEqual({instance[0] for instance in whole}, {("x", "a")})
        cut = self.instances(*CONVOLUTION, "--root=?")
        self.assertEqual((len(cut), {len(instance) for instance in cut}), (600, {1}))
        self.assertEqual(self.instances(*CONVOLUTION, "--root=x,a"), cut)
        self.assertEqual(self.instances(*CONVOLUTION, "--root=x", "--root", "a"), cut)
        self.assertEqual(self.instances(*CONVOLUTION, "--root=x,b"), whole)
        self.assertEqual(self.instances(*CONVOLUTION, "--through=B,b*"),
                         [instance for instance in whole if ("a", "b") in instance])
        for command in ((), ("score",)):
            _, err = run(BBPATHS, *command, "-q", *CONVOLUTION, "--root=z*,x,q?", self.scored())
            self.assertIn("no node matches 'z*': nodes are a, b, x\n", err)
            self.assertIn("no node matches 'q?': nodes are a, b, x\n", err)
            self.assertNotIn("'x'", err)

    def instances(self, *options):
        run(BBPATHS, "-q", *options, "-o", "/dev/null", "-f", "json", "--instances", self.path("i"), self.trace)
        return [[(call["from"], call["to"]) for call in line["calls"]] for line in self.lines(self.path("i"))]

    def scored(self):
        """The trace with its truth."""
        text = re.sub(r" a b id(\d+)", lambda hop: f"{hop[0]} parent=id{int(hop[1]) - 1}", chain_text(300))
        return self.path("scored.trace", re.sub(r"( x a id\d+)", r"\1 parent=-", text))

    def test_show(self):
        out, err = run(BBPATHS, "show", *CONVOLUTION, "i1", self.trace)
        self.assertEqual(err, "")
        self.assertRegex(out, r"^Instance i1: x -> a, 1970-01-01 00:16:40.000 UTC, ")
        self.assertNotIn("no return", out)
        self.assertIn("start: when the message was sent", out)
        out, _ = run(BBPATHS, "show", *CONVOLUTION, "p1", self.trace)
        self.assertRegex(out, r"^Pattern p1: x -> a, [\d,]+ paths, mean ")
        self.assertNotIn("waited", out)
        self.assertIn("Instance i1: ", run(BBPATHS, "show", *CONVOLUTION, "id=id0", self.trace)[0])
        _, err = run(BBPATHS, "show", *CONVOLUTION, "id=zz", self.trace, status=1)
        self.assertIn("no message has the id=zz", err)

    def test_show_single_messages(self):
        """Nobody knows how long they take; a call and its return have one id."""
        trace = self.path("calls.trace", chain_text(100, returns=True))
        out, _ = run(BBPATHS, "show", *CONVOLUTION, "--root=?", "id=id0", trace)
        self.assertIn("\nPattern p", out)
        self.assertIn(": 100 paths\n", out)
        self.assertRegex(out, r"\nMessages with this id are also in i\d+\n")

    def test_show_derived(self):
        """What comes back correlates with what was sent; it is the last in rank."""
        trace = self.path("calls.trace", chain_text(300, returns=True))
        out, _ = run(BBPATHS, "-q", *CONVOLUTION, "--keep-derived", "-f", "json", trace)
        found = json.loads(out)["patterns"]
        derived = [pattern["rank"] for pattern in found if pattern.get("derived")]
        self.assertTrue(derived)
        self.assertEqual(derived, list(range(len(found) - len(derived) + 1, len(found) + 1)))
        out, _ = run(BBPATHS, "show", *CONVOLUTION, "--keep-derived", str(derived[0]), trace)
        self.assertRegex(out, r"^Pattern p\d+: \w -> \w, [\d,]+ messages, derived: other paths explain it\n")

    def test_verbose(self):
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--verbose", "--quantum=1ms", "--max-delay=2s",
                     "--threads=1", self.trace)
        self.assertRegex(err, r"quantum 1\.00 ms \(given\), longest delay 2\.00 s \(given\); 1 window, \d+\.\d\d s\n")
        # x -> a => a -> b; counted when looked at, and again as it is likely
        self.assertIn("1 pair of streams, 1 link found, 0 derived, 1 kept; correlograms: 2 counted, 0 by FFTs\n", err)
        self.assertRegex(err, r"scale \d\.\d\d s, pairs \d\.\d\d s, explaining \d\.\d\d s, causes \d\.\d\d s, "
                              r"paths \d\.\d\d s; 1 thread\n")
        _, err = run(BBPATHS, "-q", *FIGURE6, "--verbose", self.trace)
        self.assertRegex(err, r"[\d,]+ vertices, [\d,]+ FFTs; [\d.]+ s, of which [\d.]+ s in FFTs\n")

    def test_verbose_of_dense_traffic(self):
        """FFTs make its correlograms: 900 messages a second come to B from three nodes, and it passes every
        second one on."""
        text = ["# bbtrace text 1"]
        for i in range(18000):
            at = 1000 + 20 * (i * 7919 % 18000) / 18000 + i % 17 * 0.0001
            text.append(f"{at:.6f} MSG_SENT {'ACD'[i % 3]} B -")
            if i % 2:
                text.append(f"{at + 0.02 + i % 7 * 0.0005:.6f} MSG_SENT B E -")
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--verbose", "--quantum=1ms", "--max-delay=2s",
                     self.path("dense.trace", "\n".join(text) + "\n"))
        self.assertRegex(err, r"3 pairs of streams, \d links? found, .* correlograms: 0 counted, [3-6] by FFTs\n")

    def test_a_trace_without_messages(self):
        empty = self.path("empty.trace", "# bbtrace text 1\n")
        for algorithm in (CONVOLUTION, FIGURE6):
            out, _ = run(BBPATHS, "-q", *algorithm, "-f", "json", empty)
            self.assertEqual(json.loads(out)["patterns"], [])
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--verbose", empty)
        self.assertTrue(err)

    def test_late_messages_are_told(self):
        text = chain_text(100).splitlines()
        late = self.path("late.trace", "\n".join(text + text[1:3]) + "\n")
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--window=10s", late)
        self.assertIn("2 messages came when the window they belong to was over", err)


class Figure6(Case):
    def test_patterns(self):
        out, err = run(BBPATHS, "-q", *FIGURE6, "-f", "json", self.trace)
        self.assertEqual(err, "")
        first = json.loads(out)["patterns"][0]
        hop = first["root"]["calls"][0]
        self.assertEqual((first["root"]["node"], hop["node"], hop["calls"][0]["node"]), ("x", "a", "b"))
        self.assertEqual(hop["calls"][0]["delays_s"][0]["delay"], 0.05)

    def test_roots(self):
        trace = self.path("calls.trace", chain_text(100, returns=True))
        _, err = run(BBPATHS, "-q", *FIGURE6, trace)
        self.assertIn("bbpaths: warning: every node that sends is also sent to, so no path begins anywhere: name where by --root, or give --all-roots", err)
        for option in ("--root=x", "--all-roots"):
            out, err = run(BBPATHS, "-q", *FIGURE6, option, "--max-depth=4", "-f", "json", trace)
            self.assertNotIn("begins", err)
            self.assertTrue(json.loads(out)["patterns"])
        _, err = run(BBPATHS, "-q", *FIGURE6, "--root=b\n", trace)
        self.assertIn("no node matches 'b%0A': near that is b\n", err)
        for root in ("b,x*", "?"):
            out, _ = run(BBPATHS, "-q", *FIGURE6, "--root", root, "--max-depth=4", "-f", "json", trace)
            firsts = {(p["root"]["node"], p["root"]["calls"][0]["node"]) for p in json.loads(out)["patterns"]}
            self.assertIn(("x", "a"), firsts)
            self.assertIn(("b", "a"), firsts)
            self.assertEqual(("a", "b") in firsts, root == "?")
        _, err = run(BBPATHS, "-q", *FIGURE6, "--root=b", self.trace)
        self.assertIn("what --root names receives messages, but sends none", err)

    def test_where_nothing_correlates(self):
        random.seed(7)
        times = sorted((1000 + random.random() * 120, *ends) for _ in range(400) for ends in (("x", "a"), ("a", "b")))
        trace = self.path("alone", "# bbtrace text 1\n" + "".join(f"{at:.6f} MSG_SENT {a} {b} -\n" for at, a, b in times))
        out, err = run(BBPATHS, "-q", *CONVOLUTION, "-f", "json", trace)
        self.assertIn("bbpaths: warning: nothing correlates", err)
        found = json.loads(out)
        self.assertEqual(found["trace"]["unrelated"], 400)
        for pattern in found["patterns"]:
            sure = 1 if pattern["root"]["node"] == "x" else None  # a client's messages have no cause
            self.assertEqual([pattern[key] for key in ("count", "wrong_share", "total_latency_s", "mean_latency_s")],
                             [400, None if sure is None else 0, None, None])
            self.assertEqual(pattern["root"]["calls"][0]["confidence"], sure)
        for form in "text", "dot":
            out = run(BBPATHS, "-q", *CONVOLUTION, "-f", form, trace)[0]
            self.assertIn("400 messages with which nothing correlates that their senders got: each begins a path, "
                          "rightly or not", out)

    def test_a_scale_that_shows_nothing(self):
        at, lines = 1000, []
        for _ in range(600):
            at += random.Random(len(lines)).random() * 0.2
            lines += [(at, "a", "b"), (at + 0.02, "b", "c")]
        trace = self.path("scales", "# bbtrace text 1\n" +
                          "".join(f"{at:.6f} MSG_SENT {a} {b} -\n" for at, a, b in sorted(lines)))
        for given in "--quantum=1ns", "--max-delay=1ms":
            out, err = run(BBPATHS, "-q", *CONVOLUTION, given, "-f", "json", trace)
            self.assertRegex(err, "warning: nothing correlates, .* \\(given\\)")
            self.assertEqual(json.loads(out)["trace"]["unrelated"], 600)
        _, err = run(BBPATHS, "-q", *CONVOLUTION, "--quantum=10s", trace)
        self.assertRegex(err, "warning: (nothing correlates|the quantum is longer than the longest delay), ")
        self.assertEqual(run(BBPATHS, "-q", *CONVOLUTION, trace)[1], "")

    def test_limits_are_told(self):
        _, err = run(BBPATHS, "-q", *FIGURE6, "--max-depth=1", self.trace)
        self.assertRegex(err, r"warning: [\d,]+ paths? not followed further: --max-depth is 1")
        _, err = run(BBPATHS, "-q", *FIGURE6, "--max-vertices=1", self.trace)
        self.assertRegex(err, r"warning: [\d,]+ vertices were not made or not followed: --max-vertices is 1,")

    def test_signals_that_do_not_fit(self):
        _, err = run(BBPATHS, "-q", *FIGURE6, "--quantum=1ns", self.trace, status=1)
        self.assertRegex(err, re.escape(self.trace) + r".*quantum")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
