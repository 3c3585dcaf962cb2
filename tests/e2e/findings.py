#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bbpaths blame, tail and compare on whole traces with planted causes: they name them.

  findings.py BBTRACE BBPATHS SAMPLES"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from shop_trace import ShopTrace

BBTRACE, BBPATHS, SAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


class SlowAuth(ShopTrace):
    bbtrace, samples = BBTRACE, SAMPLES

    def blame(self, *options):
        return json.loads(run(BBPATHS, "blame", "-q", "-f", "json", *options, self.shop))

    def test_blame_names_auth_when_app2_calls(self):
        found = self.blame()
        self.assertEqual(found["nodes"][0]["node"], "auth")
        worst = found["contexts"][0]
        self.assertEqual((worst["node"], worst["callers"]), ("auth", ["client", "lb", "app2"]))
        self.assertGreater(worst["share"], 0.85)
        self.assertGreater(worst["self_s"]["p50"], 0.050)
        hint = found["depends_on_caller"][0]
        self.assertEqual((hint["node"], hint["slow_callers"], hint["fast_callers"]), ("auth", ["app2"], ["app1"]))
        self.assertAlmostEqual(hint["slow_self_s"] - hint["fast_self_s"], 0.050, delta=0.002)

    def test_blame_charges_each_nanosecond_once(self):
        for options in ((), ("--latency", "last-byte"), ("--no-labels",), ("--through", "auth")):
            found = self.blame(*options)
            for table in ("nodes", "contexts"):
                charged = sum(round(1e9 * row[key]) for row in found[table]
                              for key in ("critical_total_s", "wire_total_s"))
                self.assertEqual(charged, round(1e9 * found["latency_total_s"]), (options, table))

    def test_blame_says_so(self):
        text = run(BBPATHS, "blame", "-q", "--top", "3", self.shop)
        self.assertRegex(text, r"auth GET is \d+ times slower when called from app2 \(50\.\d ms, \d+ calls\) than "
                               r"from app1 \(\d+ us, \d+ calls\): ")
        self.assertRegex(text, r"(?m)^ .* auth GET  <-  client -> lb -> app2$")
        self.assertIn("--top all", text)
        self.assertNotIn("--top all", run(BBPATHS, "blame", "-q", "--top", "all", self.shop))

    def test_what_was_chosen_is_told(self):
        words = ("-q", "--root", "client", "--slower-than", "20ms", self.shop)
        for command in ((), ("blame",), ("tail",)):
            text, found = (run(BBPATHS, *command, "-f", form, *words) for form in ("text", "json"))
            chosen = re.search(r"\nChosen by --root='?client'? --slower-than='?20ms'?: (\d+) of ([\d,]+) requests\n", text)
            self.assertTrue(chosen, text)
            told = json.loads(found)["chosen"]
            self.assertEqual((f"{told['instances']:,}", f"{told['of']:,}"), chosen.groups())
            self.assertNotIn("all latency", text)

    def test_why_there_is_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t"
            for line, why in (("", "the trace has no messages"), ("1 MSG_SENT a b -", "the trace has no calls"),
                              ("1 CALL_SENT a b 1", "no call of the trace has a return")):
                trace.write_text(f"# bbtrace text 1\n{line}\n".replace("\n\n", "\n"))
                told = json.loads(run(BBPATHS, "-q", "--errors", "-f", "json", trace))["chosen"]
                self.assertEqual((told["instances"], told["of"]), (0, 0)) # counted: none
                for command in "blame", "tail":
                    self.assertIn(f"\nNo requests: {why}", run(BBPATHS, command, "-q", trace))
        self.assertIn("\nNo requests: no request meets all conditions\n", run(BBPATHS, "blame", "-q", "--slower-than", "1h", self.shop))

    def test_tail_names_it_too(self):
        found = json.loads(run(BBPATHS, "tail", "-q", "-f", "json", self.shop))
        item = next(g for g in found["compared"] if (g["client"], g["op"]) == ("client", "GET /item/*"))
        cause = item["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["callers"]), ("extra_call", "app2", ["client", "lb"]))
        self.assertEqual((cause["mostly"]["what"], cause["mostly"]["node"]), ("own_work", "auth"))
        self.assertGreater(cause["share"], 0.9)

    def test_same_bytes_every_time(self):
        for command in ("blame", "tail"):
            for form in ("text", "json"):
                words = (BBPATHS, command, "-q", "--format", form, self.shop)
                self.assertEqual(run(*words), run(*words))


class CacheMiss(unittest.TestCase):
    """2,000 requests, one at a time; every hundredth misses the cache and asks db, which fails each second
    time."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name) / "cache.txt"
        lines = ["# bbtrace text 1"]
        for number in range(2000):
            steps = [(0, "CALL_SENT client front f"), (300, "CALL_SENT front cache c", "op=GET"),
                     (500 + number % 7, "RET_SENT cache front c")]
            if number % 100 == 99:
                status = "status=error" if number % 200 == 199 else "status=ok"
                steps += [(800, "CALL_SENT front db d", "op=SELECT"), (30800, "RET_SENT db front d", status),
                          (31000, "RET_SENT front client f")]
            else:
                steps.append((900 + number % 11, "RET_SENT front client f"))
            for after_us, what, *more in steps:
                time_us = number * 50000 + after_us
                lines.append(" ".join([f"{time_us // 10**6}.{time_us % 10**6:06}", f"{what}{number}", *more]))
        cls.trace.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_tail_names_the_call(self):
        found = json.loads(run(BBPATHS, "tail", "-q", "-f", "json", self.trace))
        self.assertEqual(len(found["compared"]), 1)
        group = found["compared"][0]
        self.assertEqual((group["requests"], group["slow"]), (2000, 20))
        cause = group["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["op"]), ("extra_call", "db", "SELECT"))
        self.assertEqual(cause["present"], {"slow": 1, "others": 0})
        # What makes less than a hundredth is not told.
        self.assertAlmostEqual(sum(c["excess_s"] for c in group["causes"]),
                               group["mean_latency_s"]["slow"] - group["mean_latency_s"]["others"], delta=1e-3)
        self.assertEqual([e["node"] for e in group["errors"]], ["db"])
        self.assertEqual(group["errors"][0]["present"], {"slow": 0.5, "others": 0})
        self.assertEqual({s["instance"] % 100 for s in group["slowest"]}, {0})
        self.assertEqual(group["patterns"], [{"pattern": group["patterns"][0]["pattern"],
                                              "present": {"slow": 1, "others": 0}}])
        pattern = json.loads(run(BBPATHS, "-q", "-f", "json", self.trace))["patterns"][group["patterns"][0]["pattern"] - 1]
        self.assertEqual([c["node"] for c in pattern["root"]["calls"][0]["calls"]], ["cache", "db"])

    def test_quantile(self):
        found = json.loads(run(BBPATHS, "tail", "-q", "-f", "json", "--quantile", "0.9", self.trace))
        group = found["compared"][0]
        self.assertEqual(group["slow"], 200)
        self.assertAlmostEqual(group["causes"][0]["present"]["slow"], 0.1)


def give_up(lines):
    """The lines of a trace in which nobody sees what APP answers WEB after more than 100 ms, and WEB answers then."""
    begun = {}
    for line in lines:
        at, what, *rest = line.split()
        late = False
        if what.startswith("CALL"):
            begun[tuple(rest[:3])] = float(at)
        elif what.startswith("RET"):
            call_at = begun[(rest[1], rest[0], rest[2])]
            late = float(at) - call_at > 0.1
        if late and rest[0] == "APP":
            continue
        if late and rest[0] == "WEB":
            line = " ".join((f"{call_at + 0.104:.9f}", what, *rest)) + "\n"
        yield line


class Waits(unittest.TestCase):
    """What a request waits for a worker or a connection is how much longer it takes than where there is no limit."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name) / "busy.bbt"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def blame(self, *generate):
        run(BBTRACE, "generate", "-q", *generate, "-G", "15s", "-w", self.trace)
        return json.loads(run(BBPATHS, "blame", "-q", "-f", "json", self.trace))

    def check(self, key, limit, scenario, *settings):
        """limit: of the workers or the pool, which have the name of the scenario."""
        free = self.blame(scenario, *settings, "-D", f"{scenario}=1000")
        self.assertNotIn(key, free)
        found = self.blame(scenario, *settings)
        busy, wait = found["latency_total_s"], found[key][0]
        self.assertEqual(wait["at_once"], limit)
        needed = free["latency_total_s"] / free["requests"] * found["requests"]
        self.assertAlmostEqual(wait["waited_total_s"] / busy, 1 - needed / busy, delta=0.07)
        share = 100 * wait["waited_total_s"] / busy
        text = run(BBPATHS, "-q", "-f", "text", "-n", "1", self.trace)
        queued = int(re.search(r"app .*  queued (\d+) %\n", text).group(1))
        self.assertAlmostEqual(queued, share, delta=1)
        self.assertEqual(len(re.findall("  queued ", text)), 1)
        self.assertIn("queued ", run(BBPATHS, "-q", "-f", "dot", "-n", "1", self.trace))
        stacks = dict(line.rsplit(" ", 1) for line in run(BBPATHS, "-q", "-f", "folded", self.trace).splitlines())
        above = sum(int(ns) for stack, ns in stacks.items() if stack.endswith("(queued)"))
        self.assertAlmostEqual(above / 1e9, wait["waited_total_s"], delta=0.02 * busy)
        self.assertIn("· waited for its turn, or for a connection of a pool.", run(BBPATHS, "show", "-q", "p1", self.trace))

    def test_workers(self):
        self.check("waited_for_turn", 4, "workers", "-D", "rate=100/s")

    def test_lines_by_connection(self):
        settings = ("-D", "workers=2", "-D", "lines=2", "--connections", "pool")
        found = self.blame("workers", *settings)["waited_for_turn"]
        self.assertEqual([(wait["node"], wait["at_once"], wait["groups"]) for wait in found], [("app", 2, 2)])
        black = json.loads(run(BBPATHS, "blame", "-q", "-f", "json", "--no-connections", self.trace))
        self.assertNotIn("waited_for_turn", black)

    def test_a_pool(self):
        self.check("waited_for_pool", 2, "pool")


class Timeouts(unittest.TestCase):
    """One call in ten gets no return, and is made again after 100 ms: the caller works no longer for that."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = pathlib.Path(cls.folder.name) / "retries.bbt"
        run(BBTRACE, "generate", "-q", "retries", "-G", "20s", "-w", cls.trace)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_blame_tells_waits_from_work(self):
        found = json.loads(run(BBPATHS, "blame", "-q", "-f", "json", self.trace))
        waits = [row for row in found["contexts"] if row.get("unanswered")]
        self.assertEqual([(row["node"], row["callers"]) for row in waits], [("PRICE", ["CLIENT", "WEB"])])
        self.assertAlmostEqual(waits[0]["self_s"]["p50"], 0.1, delta=0.001)
        work = next(row for row in found["contexts"] if row["node"] == "WEB")
        self.assertLess(work["self_s"]["p99"], 0.05)  # it had been more than 0.2
        self.assertIn("PRICE (no return)  <-  CLIENT -> WEB\n", run(BBPATHS, "blame", "-q", self.trace))

    def test_tail_names_the_call(self):
        cause = json.loads(run(BBPATHS, "tail", "-q", "-f", "json", self.trace))["compared"][0]["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["unanswered"]), ("extra_call", "PRICE", True))
        self.assertGreater(cause["share"], 0.9)
        self.assertIn("extra call: WEB -> PRICE (no return)\n", run(BBPATHS, "tail", "-q", self.trace))

    def test_patterns_have_it(self):
        second = json.loads(run(BBPATHS, "-q", "-f", "json", self.trace))["patterns"][1]
        calls = second["root"]["calls"][0]["calls"]
        self.assertEqual([(call["node"], call.get("unanswered", False)) for call in calls],
                         [("PRICE", True), ("PRICE", False), ("STOCK", False)])
        text = run(BBPATHS, "-q", "-f", "text", self.trace)
        self.assertRegex(text, r"PRICE .*  no return\n")
        self.assertIn("In patterns, without return in time: 49 calls whose callers went on without one\n", text)
        self.assertNotIn("In no pattern", text)
        self.assertRegex(run(BBPATHS, "show", "-q", "p2", self.trace), r"PRICE .*  no return")

    def test_what_was_given_up_is_charged_to_what_was_slow(self):
        """WEB closes its connection to APP after 100 ms, which waits for DB."""
        folder = self.trace.parent
        folder.joinpath("slow.scn").write_text(
            "duration 60s\nservice WEB { after 2ms~30% -> APP }\nservice APP { after 2ms~30% -> DB }\n"
            "service DB { after 5ms + exp 20ms reply }\ntracelet page { rate 300/s\n CLIENT -> WEB }\n")
        whole, trace = folder / "whole.bbt", folder / "slow.bbt"
        run(BBTRACE, "generate", "-q", folder / "slow.scn", "-w", whole)
        folder.joinpath("slow.txt").write_text("".join(give_up(run(BBTRACE, "cat", whole).splitlines(keepends=True))))
        run(BBTRACE, "import", "-q", "--from", "text", "-w", trace, folder / "slow.txt")
        score = json.loads(run(BBPATHS, "score", "-q", "-f", "json", trace))
        self.assertGreater(score["unanswered"]["share"], 0.95)
        self.assertGreater(score["beneath"]["right"], 0.95 * score["unanswered"]["of"])
        patterns = json.loads(run(BBPATHS, "-q", "-f", "json", trace))["patterns"]
        given_up = next(p for p in patterns if any(call.get("unanswered") for call in p["root"]["calls"][0]["calls"]))
        app = given_up["root"]["calls"][0]["calls"][0]
        self.assertEqual((app["node"], [call["node"] for call in app["calls"]]), ("APP", ["DB"]))
        self.assertGreater(app["calls"][0]["critical_total_s"], 0.9 * given_up["total_latency_s"])
        self.assertGreater(app["calls"][0]["latency_s"]["min"], 0.09)

    def test_what_returns_after_it_was_given_up(self):
        """As before, but APP's answer to the connection that WEB has closed is seen."""
        folder = self.trace.parent
        folder.joinpath("late.scn").write_text(
            "duration 60s\nservice WEB { after 2ms~30% -> APP timeout 100ms }\nservice APP { after 2ms~30% -> DB }\n"
            "service DB { after 5ms + exp 20ms reply }\ntracelet page { rate 100/s\n CLIENT -> WEB }\n")
        trace = folder / "late.bbt"
        run(BBTRACE, "generate", "-q", folder / "late.scn", "-w", trace)
        score = json.loads(run(BBPATHS, "score", "-q", "-f", "json", trace))["unanswered"]
        self.assertGreater(score["of"], 40)
        self.assertGreaterEqual(score["right"], score["of"] - 1)
        text = run(BBPATHS, "-q", "-f", "text", trace)
        self.assertIn(f"In patterns, without return in time: {score['of']} calls whose callers went on without one\n", text)
        self.assertEqual(json.loads(run(BBPATHS, "-q", "-f", "json", trace))["trace"]["late"], score["of"])
        nodes = {node["node"]: node["share"] for node in json.loads(run(BBPATHS, "blame", "-q", "-f", "json", trace))["nodes"]}
        self.assertGreater(nodes["DB"], 0.75)
        self.assertLess(nodes["WEB"], 0.12)

    def test_what_is_cut_by_the_end_is_not_waited_for(self):
        """At the end of a capture calls are open, as are those that they were made for."""
        trace = self.trace.with_name("shop.bbt")
        run(BBTRACE, "capture", "-q", "-r", SAMPLES / "shop-slowauth.pcap.xz", "--names", SAMPLES / "shop.hosts", "-w", trace)
        self.assertIn("In no pattern: 20 calls without return, 0 returns without call\n"
                      "  without return: 7 client -> lb, 7 lb -> app2, 6 app2 -> auth\n", run(BBPATHS, "-q", "-f", "text", trace))


class Changed(ShopTrace):
    """The healthy shop and the one whose auth is slow when app2 asks."""
    bbtrace, samples = BBTRACE, SAMPLES

    def setUp(self):
        self.healthy = self.path("healthy.bbt")
        if not pathlib.Path(self.healthy).exists():
            run(BBTRACE, "capture", "-q", "-r", SAMPLES / "shop.pcap.xz", "--names", SAMPLES / "shop.hosts", "-w", self.healthy)

    def compare(self, *words):
        return json.loads(run(BBPATHS, "compare", "-q", "-f", "json", *words))

    def test_auth_is_named_and_nothing_else(self):
        found = self.compare(self.healthy, self.shop)
        sure = [root for root in found["compared"] if root["sure"]]
        self.assertEqual({root["op"] for root in sure}, {"GET /item/*", "POST /order/*", "GET /report/*"})
        for root in sure:
            cause = root["causes"][0]
            self.assertEqual((cause["what"], cause["node"], cause["callers"]), ("own_work", "auth", ["lb", "app2"]))
            self.assertGreater(cause["excess_s"], 0.95 * root["excess_s"])
            self.assertAlmostEqual(root["excess_s"], 0.050 * cause["present"]["after"], delta=0.003)
            before, after = root["before"]["mean_latency_s"], root["after"]["mean_latency_s"]
            self.assertAlmostEqual(after - before, root["excess_s"], delta=2e-9)
        backwards = self.compare(self.shop, self.healthy)
        self.assertTrue(all(root["excess_s"] < 0 for root in backwards["compared"] if root["sure"]))

    def test_a_trace_does_not_differ_from_itself(self):
        found = self.compare(self.shop, self.shop)
        self.assertGreaterEqual(len(found["compared"]), 3)
        for root in found["compared"]:
            self.assertEqual((root["excess_s"], root["sure"], root["causes"], root["errors"]), (0, False, [], []))
        self.assertIn("as long as before", run(BBPATHS, "compare", "-q", self.shop, self.shop))

    def test_the_same_on_any_number_of_threads(self):
        texts = {run(BBPATHS, "compare", "-q", "--threads", n, self.healthy, self.shop) for n in (1, 2, 5)}
        self.assertEqual(len(texts), 1)

    def test_one_trace_before_and_after(self):
        """A cache that is no longer there after 40 s: blame says since when, and compare --at what."""
        drawn, lines, at, changed = random.Random(3), [], 0.0, 1700000040
        for i in range(4000):
            at += drawn.expovariate(60)
            asked, missed, web, db = at + 0.002, at > 40, 3 * i + 1, 3 * i + 3
            back = asked + drawn.gammavariate(4, 0.001)
            lines += [(at, f"CALL_SENT client web {web}"), (asked, f"CALL_SENT web cache {web + 1}"),
                      (back, f"RET_SENT cache web {web + 1}")]
            if missed:
                again, back = back + 0.0005, back + 0.0005 + drawn.gammavariate(4, 0.002)
                lines += [(again, f"CALL_SENT web db {db}"), (back, f"RET_SENT db web {db}")]
            lines.append((back + 0.001, f"RET_SENT web client {web}"))
        trace = self.path("changed.txt")
        pathlib.Path(trace).write_text("# bbtrace text 1\n" + "".join(f"{1700000000 + t:.9f} {what}\n" for t, what in sorted(lines)))
        change, = json.loads(run(BBPATHS, "blame", "-q", "-f", "json", trace))["changed"]
        self.assertEqual(change["node"], "web")
        self.assertLess(abs(change["at"] - changed), 2)
        self.assertGreater(change["after"]["mean_latency_s"], change["before"]["mean_latency_s"] + 0.006)
        said = re.search(r"  web: \S+ ms until (.* UTC), \S+ ms from then on", run(BBPATHS, "blame", "-q", trace)).group(1)
        text = run(BBPATHS, "compare", "-q", "--at", said, trace)
        self.assertIn(f"changed.txt from {said} on against before\n", text)
        self.assertIn("extra call: web -> db\n", text)
        found = self.compare("--at", changed, trace)
        self.assertEqual(found["at"], changed)
        done = subprocess.run([BBPATHS, "compare", "-q", "--at", "1", trace], capture_output=True, text=True, check=True)
        self.assertIn("warning: all requests begin at or after that time: they are of 2023-", done.stderr)
        self.assertEqual(found["before"]["requests"] + found["after"]["requests"], 4000)
        cause = found["compared"][0]["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["present"]), ("extra_call", "db", {"before": 0, "after": 1}))
        self.assertEqual(json.loads(run(BBPATHS, "blame", "-q", "-f", "json", self.healthy))["changed"], [])

    def test_what_was_chosen_is_told_of_both(self):
        text = run(BBPATHS, "compare", "-q", "--through", "auth", self.healthy, self.shop)
        self.assertEqual(len(re.findall(r"(?m)^Chosen by --through=auth: [\d,]+ of [\d,]+ requests$", text)), 2)

    def test_a_query_for_each_item_is_found(self):
        """A list that was asked for at once, and then item by item."""
        scene = ("duration 40s\nservice WEB {\n after 2ms~20% -> DB \"LIST\"\n MORE after 1ms reply\n}\n"
                 "service DB { after 3ms~20% reply }\ntracelet page { rate 20/s\n CLIENT -> WEB }\n")
        traces = []
        for name, more in (("at-once", ""), ("each", "after 1ms~20% -> DB \"ITEM\"\n " * 5)):
            file, trace = self.path(f"{name}.scn"), self.path(f"{name}.bbt")
            pathlib.Path(file).write_text(scene.replace("MORE", more))
            run(BBTRACE, "generate", "-q", file, "-w", trace)
            traces.append(trace)
        cause = self.compare(*traces)["compared"][0]["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["op"]), ("extra_call", "DB", "ITEM"))
        self.assertAlmostEqual(cause["excess_s"], 0.020, delta=0.002)
        self.assertEqual(cause["calls"]["after"], 5)
        cause = self.compare(*reversed(traces))["compared"][0]["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["op"]), ("missing_call", "DB", "ITEM"))


class Replicas(unittest.TestCase):
    """client -> lb -> one of three apps, by lot -> db: one request at a time, so there is nothing to choose."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = pathlib.Path(self.folder.name, name)
        if text:
            path.write_text(text)
        return path

    def trace(self, name, db=0.003, slow=0.0, apps=("app1", "app2", "app3")):
        """slow: what the last of the apps works longer; db: what is waited for the database."""
        drawn, lines, at = random.Random(name), [], 1700000000.0
        for i in range(600):
            app, lb = drawn.choice(apps), 3 * i + 1
            times = [at]
            for mean in (0.001, 0.005 + slow * (app == apps[-1]), db, 0.001, 0.001):
                times.append(times[-1] + drawn.gammavariate(9, mean / 9))
            words = (f"CALL_SENT client lb {lb} op=GET", f"CALL_SENT lb {app} {lb + 1} op=GET", f"CALL_SENT {app} db {lb + 2} op=SELECT",
                     f"RET_SENT db {app} {lb + 2} status=200", f"RET_SENT {app} lb {lb + 1} status=200", f"RET_SENT lb client {lb} status=200")
            lines += [f"{t:.9f} {what}\n" for t, what in zip(times, words)]
            at = times[-1] + drawn.expovariate(20)
        return self.path(name, "# bbtrace text 1\n" + "".join(lines))

    def renamed(self, trace):
        alias = self.path("alias", "app: app1 app2 app3\n")
        run(BBTRACE, "merge", "-q", "--alias", alias, "-w", trace.with_suffix(".bbt"), trace)
        return trace.with_suffix(".bbt")

    def test_as_if_they_had_one_name(self):
        roles = self.path("roles", "app app1 app2 app3\n")
        before, after = self.trace("before.txt"), self.trace("after.txt", db=0.006, slow=0.040)
        merged, other = ("--merge-replicas", "--roles", roles), [self.renamed(trace) for trace in (before, after)]
        for command, options in (("blame", ()), ("tail", ()), ("tail", ("--quantile", "0.5", "--any-client"))):
            words = (BBPATHS, command, "-q", "-f", "json", *options)
            found, wanted = json.loads(run(*words, *merged, after)), json.loads(run(*words, other[1]))
            found.pop("depends_on_replica", None)
            self.assertEqual(found, wanted)
            self.assertIn('"app"', json.dumps(found))
        words = (BBPATHS, "compare", "-q", "-f", "json")
        found, wanted = json.loads(run(*words, *merged, before, after)), json.loads(run(*words, *other))
        for side in ("before", "after"):
            self.assertNotEqual(found[side].pop("trace"), wanted[side].pop("trace"))
        self.assertEqual(found, wanted)
        cause = found["compared"][0]["causes"][0]
        self.assertEqual((cause["what"], cause["node"], cause["callers"]), ("gap", "db", ["lb", "app"]))

    def test_a_slow_one_is_named(self):
        trace, roles = self.trace("slow.txt", slow=0.040), self.path("roles", "app app?\n")
        merged = ("--merge-replicas", "--roles", roles)
        found = json.loads(run(BBPATHS, "blame", "-q", "-f", "json", *merged, trace))
        hint, = found["depends_on_replica"]
        self.assertEqual((hint["node"], hint["op"], hint["slow_replica"]), ("app", "GET", "app3"))
        self.assertAlmostEqual(hint["slow_self_s"] - hint["fast_self_s"], 0.040, delta=0.004)
        self.assertEqual(found["nodes"][0]["node"], "app")
        text = run(BBPATHS, "blame", "-q", *merged, trace)
        self.assertRegex(text, r"\nIt depends on the replica\n  app GET is \d\.\d times slower on app3 \(")
        self.assertNotIn("replica", run(BBPATHS, "blame", "-q", "--roles", roles, trace))
        patterns = json.loads(run(BBPATHS, "-q", "-f", "json", *merged, trace))["patterns"]
        app = patterns[0]["root"]["calls"][0]["calls"][0]
        means = {replica["node"]: replica["mean_latency_s"] for replica in app["replicas"]}
        self.assertGreater(means["app3"], means["app1"] + 0.036)
        self.assertAlmostEqual(sum(replica["count"] * replica["mean_latency_s"] for replica in app["replicas"]),
                               app["count"] * app["latency_s"]["mean"], delta=1e-6)

    def test_roles_that_are_found_are_those_of_both_traces(self):
        before, after = self.trace("before.txt"), self.trace("after.txt", db=0.006, slow=0.040)
        words = (BBPATHS, "compare", "-f", "json", "--merge-replicas")
        done = subprocess.run([*words, before, after], capture_output=True, text=True)
        self.assertNotIn("warning", done.stderr)
        found = json.loads(done.stdout)["compared"][0]
        self.assertEqual([(cause["what"], cause["node"], cause["callers"]) for cause in found["causes"]],
                         [("gap", "db", ["lb", "app{1,2,3}"]), ("own_work", "db", ["lb", "app{1,2,3}"])])

    def test_replicas_of_other_names_are_told(self):
        before, after = self.trace("before.txt"), self.trace("after.txt", apps=("app7", "app8", "app9"))
        words = (BBPATHS, "compare", "--merge-replicas", before, after)
        said = subprocess.run(words, capture_output=True, text=True).stderr
        self.assertIn("no node is of the role app{1,2,3}, which is one of the trace before: name the replicas of both in a file", said)
        roles = self.path("roles", "app app*\n")
        done = subprocess.run([*words, "--roles", roles], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("as long as before", done.stdout)
        self.assertNotIn("call: ", done.stdout)


class Refusals(unittest.TestCase):
    def test_wrong_usage(self):
        for words, said in ((("blame",), "which trace?"), (("tail", "a", "b"), "one trace at a time"),
                            (("blame", "-f", "svg", "a"), "--format takes: text, json"),
                            (("tail", "-f", "svg", "a"), "--format takes: text, json"),
                            (("blame", "--top", "0", "a"), "--top takes a number or 'all', not '0'"),
                            (("tail", "--top", "x", "a"), "--top takes a number or 'all', not 'x'"),
                            (("compare", "a"), "which two traces?"), (("compare", "a", "b", "c"), "which two traces?"), (("compare", "-", "-"), "not both"),
                            (("compare", "--at", "noon", "a"), "--at takes a time"), (("compare", "--at", "5", "a", "b"), "--at parts one trace"),
                            (("compare", "-f", "svg", "a", "b"), "--format takes: text, json"),
                            (("compare", "--merge-replicas", "--roles", "none", "a", "b"), "--merge-replicas needs --roles=auto or a file"),
                            (("tail", "--quantile", "1", "a"), "--quantile goes from 0.5 to below 1"),
                            (("tail", "--quantile", "0.4", "a"), "--quantile goes from 0.5 to below 1")):
            done = subprocess.run([BBPATHS, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)

    def test_no_such_trace(self):
        for command in ("blame", "tail"):
            done = subprocess.run([BBPATHS, command, "/nowhere/at/all"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("/nowhere/at/all", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
