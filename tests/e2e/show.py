#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bbpaths shows of one pattern or instance, which instances options choose, patterns of replicas,
and forwarded returns.

  show.py BBTRACE BBPATHS SAMPLES"""
import decimal
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BBTRACE, BBPATHS, SAMPLES = sys.argv[1:4]
TEXT = """# bbtrace text 1
10.000 CALL_SENT a b id1 op=GET%20/x conn=a:1-b:2 off=100
10.010 CALL_SENT b c id2 op=SELECT
10.030 RET_SENT c b id2 op=SELECT
10.040 RET_SENT b a id1 op=GET%20/x status=500 conn=a:1-b:2 off=7
20.000 CALL_SENT a b id1 op=GET%20/x
20.010 CALL_SENT b c id%20%F0%9F%98%80 op=SELECT
20.020 RET_SENT c b id%20%F0%9F%98%80 op=SELECT
20.090 RET_SENT b a id1 op=GET%20/x status=200
30.000 CALL_SENT d c id9 op=VACUUM
30.001 RET_SENT c d id9 op=VACUUM
40.000 CALL_SENT a b lost op=GET%20/x
"""


def run(*command, data=None, status=0, locale="C.UTF-8"):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=200, env={**os.environ, "LC_ALL": locale})
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.path("t.trace", TEXT)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def show(self, what, *options, **named):
        return run(BBPATHS, "show", what, self.trace, "--assign=paper", *options, **named)


class Show(Case):
    def test_instance(self):
        out, err = self.show("i1")
        self.assertEqual(err, "")
        lines = out.splitlines()
        self.assertEqual(lines[0], "Instance i1: a -> b, 1970-01-01 00:00:10.000 UTC, 40.0 ms")
        self.assertEqual(lines[1], "Pattern p1: 2 instances, mean 65.0 ms, p50 40.0 ms, p90 90.0 ms")
        self.assertRegex(out, r"\n\* b GET /x +0 s +40\.0 ms +20\.0 ms +█+░+█+ +500! +id1\n")
        self.assertRegex(out, r"\n\* └─ c SELECT +10\.0 ms +20\.0 ms +20\.0 ms +█+ +id2\n")
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_pattern_by_rank(self):
        out, _ = self.show("1")
        self.assertEqual(out, self.show("p1")[0])
        self.assertIn("Pattern p1: a -> b, 2 instances, mean 65.0 ms", out)
        self.assertIn("fastest i1 (40.0 ms), median i1 (40.0 ms), slowest i2 (90.0 ms)", out)
        self.assertRegex(out, r"\nb GET /x +0 s +65\.0 ms")
        self.assertIn("1 error", out)
        out, _ = self.show("2")
        self.assertIn("d -> c, 1 instance", out)

    def test_ranks_follow_the_options(self):
        self.assertIn("d -> c", self.show("2")[0])
        self.assertIn("d -> c", self.show("1", "--through", "d")[0])
        _, err = self.show("2", "--min-count", "2", status=1)
        self.assertIn("ranks go from 1 to 1", err)

    def test_instance_numbers_are_those_of_the_instances(self):
        lines = self.path("i.jsonl")
        run(BBPATHS, "--assign=paper", "--instances", lines, "-o", self.path("p.json"), self.trace)
        with open(lines, encoding="utf-8") as file:
            for line in map(json.loads, file):
                out, _ = self.show(f"i{line['instance']}")
                pattern = f"Pattern p{line['pattern']}:" if line["pattern"] else "Of no pattern"
                self.assertIn(pattern, out)
                for call in line["calls"]:
                    self.assertRegex(out, rf"\b{call['to']}\b")

    def test_number_stays_when_others_are_left_out(self):
        self.assertIn("Instance i3: d -> c", self.show("i3", "--root", "d")[0])
        _, err = self.show("i1", "--root", "d", status=1)
        self.assertIn("there is no instance i1: there are 1, of the instances that the options choose", err)

    def test_call_by_id(self):
        out, _ = self.show("id=id2")
        self.assertIn("Instance i1: ", out)
        self.assertNotIn("also in", out)
        out, _ = self.show("id=id1")
        self.assertIn("Instance i1: ", out)
        self.assertIn("Calls with this id are also in i2\n", out)
        self.assertIn("Instance i2: ", self.show("id=id%20%F0%9F%98%80")[0])

    def test_call_without_return(self):
        out, _ = self.show("id=lost")
        self.assertIn("Of no pattern: the first call has no return", out)
        self.assertIn("no return", out)

    def test_frames(self):
        out, _ = self.show("i1", "--frames")
        self.assertIn("0.000 ms  call    a -> b  conn=a:1-b:2 off=100\n", out)
        self.assertIn("40.000 ms  return  b -> a  conn=a:1-b:2 off=7\n", out)
        self.assertIn("and 2 of which the trace does not say where", out)
        self.show("1", "--frames", status=2)
        run(BBPATHS, "show", "i1", "-", "--frames", data=TEXT.encode(), status=2)

    def test_frames_of_what_was_given_up(self):
        lines = ("1.00 CALL_SENT u a 1 conn=u-a off=1\n1.01 CALL_SENT a b 2 conn=a-b off=2\n"
                 "1.05 MSG_SENT u a 1 status=closed conn=u-a off=3\n"
                 "1.06 RET_SENT b a 2 status=unread conn=a-b off=4\n")
        trace = self.path("given_up.txt", "# bbtrace text 1\n" + lines)
        out, _ = run(BBPATHS, "show", "i1", trace, "--frames")
        self.assertIn("50.000 ms  close   u -> a  conn=u-a off=3\n", out)
        self.assertIn("60.000 ms  return  b -> a  conn=a-b off=4\n", out)
        self.assertNotIn("does not say where", out)

    def test_ascii_where_the_locale_is(self):
        out, _ = self.show("i2", locale="C")
        self.assertTrue(out.isascii())
        self.assertIn("%F0%9F%98%80", out)
        self.assertIn("`- c", out)

    def test_standard_input(self):
        out, _ = run(BBPATHS, "show", "i1", "-", "--assign=paper", data=TEXT.encode())
        self.assertEqual(out, self.show("i1")[0])

    def test_errors(self):
        for what in ("", "x", "0", "p0", "i", "i0", "i1x", "1.5", "-1", "id=", "id=%2", "id=-", "pattern"):
            _, err = run(BBPATHS, "show", "--", what, self.trace, status=2)
            self.assertIn("--help", err, what)
        for what, words in (("9", "ranks go from 1 to 2"), ("i99", "there are 4"), ("id=zz", "no call has the id=zz"),
                            ("18446744073709551616", "ranks go")):
            out, err = self.show(what, status=1)
            self.assertEqual(out, "")
            self.assertIn(words, err)
        self.assertIn("no patterns", self.show("1", "--errors", "--op", "VACUUM", status=1)[1])
        run(BBPATHS, "show", "1", status=2)
        run(BBPATHS, "show", "1", self.trace, "x", status=2)
        run(BBPATHS, "show", "1", "/nowhere", status=1)

    def test_arguments_the_other_way_round(self):
        for what in ("1", "i1", "id=id1"):
            _, err = run(BBPATHS, "show", self.trace, what, status=2)
            self.assertIn(f"what to show comes before the trace: bbpaths show {what} {self.trace}\n", err)
        self.assertIn("/no/t.bbt' is no pattern", run(BBPATHS, "show", "/no/t.bbt", self.trace, status=2)[1])
        self.assertIn("bbpaths show i1 /no/t.bbt", run(BBPATHS, "show", "/no/t.bbt", "i1", status=2)[1])

    def test_same_bytes(self):
        self.assertEqual(self.show("1"), self.show("1"))


class Selection(Case):
    def patterns(self, *options):
        out, err = run(BBPATHS, "--assign=paper", "-f", "json", *options, self.trace)
        return [(p["count"], p["root"]["node"]) for p in json.loads(out)["patterns"]], err

    def test_conditions(self):
        both = [(2, "a"), (1, "d")]
        for options, expected in (((), both), (("--root", "d"), [(1, "d")]), (("--root", "c"), [(1, "d")]),
                                  (("--through", "c"), both), (("--through", "a"), [(2, "a")]),
                                  (("--op", "SEL*"), [(2, "a")]), (("--op", "V?CUUM"), [(1, "d")]),
                                  (("--op", "SEL*", "--op", "V?CUUM"), both),
                                  (("--op", "V?CUUM", "--op", "GET *", "--errors"), [(1, "a")]),
                                  (("--slower-than", "40ms"), [(1, "a")]), (("--errors",), [(1, "a")]),
                                  (("--from", "20"), [(1, "a"), (1, "d")]), (("--to", "20"), [(1, "a")]),
                                  (("--from", "15", "--to", "25", "--root", "a"), [(1, "a")])):
            found, err = self.patterns(*options)
            self.assertEqual((found, err), (expected, ""), options)

    def test_unknown_names_are_told(self):
        found, err = self.patterns("--root", "B")
        self.assertEqual(found, [])
        self.assertIn("no node matches 'B': near that are b, a, c", err)
        self.assertIn("bbpaths: warning: no operation matches 'GTE *'", self.patterns("--op", "GTE *")[1])
        found, err = self.patterns("--op", "GTE *", "--op", "SEL*")
        self.assertEqual(found, [(2, "a")])
        self.assertIn("no operation matches 'GTE *'; ", err)

    def test_times_without_paths_are_told(self):
        told = ("no path begins in the time asked for: those of the trace begin from 1970-01-01 00:00:10.000 UTC to "
                "1970-01-01 00:00:40.000 UTC\n")
        for options in (("--from", "2027-01-01"), ("--to", "9"), ("--from", "11", "--to", "12")):
            for command in ((), ("blame",), ("blame", "-f", "json"), ("tail",)):
                self.assertIn(told, run(BBPATHS, *command, "--assign=paper", *options, self.trace)[1])
        self.assertEqual(self.patterns("--from", "25", "--root", "a")[1], "")

    def test_what_takes_one_value_counts_as_given_last(self):
        self.assertEqual(self.patterns("--from", "15", "--from", "20", "--to", "15", "--to", "25"), ([(1, "a")], ""))
        self.assertEqual(self.patterns("--slower-than", "1h", "--slower-than", "40ms", "--min-count", "5",
                                       "--min-count", "1"), ([(1, "a")], ""))


class Scenario(Case):
    def generate(self, name, *options):
        path = self.path(f"{name}.bbt")
        run(BBTRACE, "generate", "-q", "-w", path, *options, name)
        return path

    def patterns(self, trace, *options):
        out, _ = run(BBPATHS, "--assign=paper", "-f", "json", *options, trace)
        return json.loads(out)["patterns"]


class Quantiles(Scenario):
    def test_they_are_those_of_the_instances(self):
        trace, lines = self.generate("multitier", "-G", "120s"), self.path("i.jsonl")
        out, _ = run(BBPATHS, "-f", "json", "--instances", lines, trace)
        latencies = {}
        with open(lines, encoding="utf-8") as file:
            for instance in (json.loads(line, parse_float=decimal.Decimal) for line in file):
                if instance["pattern"]:
                    root = instance["calls"][0]
                    latencies.setdefault(instance["pattern"], []).append(
                        (int(10**9 * (root["return"] - root["call"])), instance["instance"]))
        for pattern in json.loads(out)["patterns"][:5]:
            ordered = sorted(latencies[pattern["rank"]])
            for name, q in (("p50", 50), ("p90", 90), ("p99", 99)):
                exact = ordered[-(-q * len(ordered) // 100) - 1][0]
                self.assertEqual(round(1e9 * pattern["root"]["calls"][0]["latency_s"][name]), exact, (pattern["rank"], name))
            out, _ = run(BBPATHS, "show", str(pattern["rank"]), trace)
            median = ordered[(len(ordered) + 1) // 2 - 1][1]
            self.assertIn(f", median i{median} (", out)


class Replicas(Scenario):
    def test_patterns_fold(self):
        # Three tiers of eight, at a rate at which there is little to choose from.
        trace = self.generate("replicas", "-D", "rate=2/s", "-G", "2000s")
        many = self.patterns(trace)
        self.assertGreater(len(many), 500)
        few = self.patterns(trace, "--merge-replicas")
        self.assertLessEqual(len(few), 6)
        self.assertGreater(few[0]["count"] + few[1]["count"], 0.98 * sum(p["count"] for p in many))
        web = few[0]["root"]["calls"][0]
        self.assertEqual(web["node"], "WEB{1..8}")
        self.assertEqual(sorted(r["node"] for r in web["replicas"]), [f"WEB{i}" for i in range(1, 9)])
        self.assertEqual(sum(r["count"] for r in web["replicas"]), few[0]["count"])
        app = web["calls"][0]
        self.assertEqual(app["node"], "APP{1..8}")
        self.assertEqual(app["replicas"][0]["node"], "APP8")  # which gets three times as much
        self.assertEqual(app["calls"][0]["node"], "DB{1..8}")
        self.assertNotIn("replicas", few[0]["root"])
        # The same, window after window.
        windows = self.patterns(trace, "--merge-replicas", "--window", "600s", "--step", "500s")
        for one, other in zip(windows[:2], few[:2]):
            self.assertAlmostEqual(one["count"], other["count"], delta=0.01 * other["count"])

    def test_roles_of_a_file(self):
        trace = self.generate("replicas", "-D", "rate=2/s", "-G", "200s")
        roles = self.path("roles", "web WEB*\napp APP?\nstore DB1 DB2\n")
        few = self.patterns(trace, "--merge-replicas", "--roles", roles)
        self.assertEqual({p["root"]["calls"][0]["node"] for p in few}, {"web"})
        stores = {c["node"] for p in few for w in p["root"]["calls"] for a in w["calls"] for c in a["calls"]}
        self.assertEqual(stores, {"store"} | {f"DB{i}" for i in range(3, 9)})
        self.assertEqual(self.patterns(trace, "--roles", roles), self.patterns(trace))
        _, err = run(BBPATHS, "--merge-replicas", "--roles", self.path("bad", "web\n"), trace, status=1)
        self.assertIn("bad:1: the role has no nodes", err)
        run(BBPATHS, "--merge-replicas", "--roles", "/nowhere", trace, status=1)
        run(BBPATHS, "--merge-replicas", "--roles", "none", trace, status=2)

    def test_what_all_requests_use_is_not_merged(self):
        trace = self.generate("multitier", "-G", "200s")
        nodes = set(re.findall(r'"node": "([^"]*)"', json.dumps(self.patterns(trace, "--merge-replicas"))))
        self.assertIn("WS{1,2}", nodes)
        self.assertIn("AP{1,2}", nodes)
        self.assertLessEqual({"AUTH", "DB1", "DB2"}, nodes)


class Forwarding(Scenario):
    def test_returns_of_another_node_end_the_call(self):
        for options in ((), ("--no-ids",)):
            trace = self.generate("forwarded-returns", "-D", "rate=2/s", "-G", "500s", *options)
            out, _ = run(BBPATHS, "--assign=paper", "-f", "text", trace)
            joined = re.search(r"([\d,]+) returns from another node than was called \(forwarded\)", out)
            self.assertTrue(joined, out)
            self.assertGreater(int(joined[1].replace(",", "")), 400)
            self.assertIn(" 0 % unmatched", out)
            best = self.patterns(trace)[0]["root"]["calls"][0]
            self.assertEqual((best["node"], [c["node"] for c in best["calls"]]), ("B", ["AUTH", "C"]))

    def test_nothing_is_told_where_nothing_was_forwarded(self):
        self.assertNotIn("forwarded", run(BBPATHS, "-f", "text", self.trace)[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
